// SPDX-License-Identifier: Apache-2.0
// The container's JSON header, read strictly.
#include <stdlib.h>
#include <string.h>

#include "core/tensor/container_internal.h"
#include "core/tensor/tensor.h"

#define NAME_BYTES_MAX 255

static const struct {
  const char *name;
  uint32_t dtype;
} dtypes[] = {{"U8", HX_U8}, {"U32", HX_U32}, {"U64", HX_U64}, {"I64", HX_I64}, {"F64", HX_F64}};

const char *hx_container_dtype_name(uint32_t dtype) {
  for (size_t i = 0; i < HX_COUNT_OF(dtypes); ++i) {
    if (dtypes[i].dtype == dtype) return dtypes[i].name;
  }
  return NULL;
}

uint32_t hx_container_dtype_find(const char *name) {
  for (size_t i = 0; i < HX_COUNT_OF(dtypes); ++i) {
    if (strcmp(dtypes[i].name, name) == 0) return dtypes[i].dtype;
  }
  return 0;
}

uint64_t hx_container_tensor_bytes(const hx_container_tensor_t *tensor) {
  uint64_t bytes = hx_dtype_bytes(tensor->dtype);
  if (tensor->rank == 0 || tensor->rank > HX_CONTAINER_RANK_MAX) return 0;
  for (uint32_t a = 0; a < tensor->rank; ++a) {
    if (tensor->shape[a] == 0 || __builtin_mul_overflow(bytes, tensor->shape[a], &bytes)) return 0;
  }
  return bytes;
}

// ------------------------------------------------------------------ metadata

static hx_status_t check_metadata(hx_container_t *container, hx_report_t *report) {
  container->metadata = json_object_get(container->root, "__metadata__");
  if (!json_is_object(container->metadata)) {
    return hx_container_fail(container, report, HX_CODE_FILE_FORMAT,
                             "no Heliox container: the header at offset 8 has no __metadata__ object");
  }
  const char *key;
  json_t *value;
  json_object_foreach(container->metadata, key, value) {
    if (!json_is_string(value)) {
      return hx_container_fail(container, report, HX_CODE_FILE_FORMAT,
                               "metadata key \"%.100s\" in the header at offset 8 is no text", key);
    }
  }
  const char *format = hx_container_metadata(container, "format");
  if (format == NULL || strcmp(format, HX_CONTAINER_FORMAT) != 0) {
    return hx_container_fail(
        container, report, HX_CODE_FILE_FORMAT,
        "no Heliox container: metadata key format in the header at offset 8 is %s%.40s%s, not \"heliox\"",
        format == NULL ? "" : "\"", format == NULL ? "absent" : format, format == NULL ? "" : "\"");
  }
  const char *version = hx_container_metadata(container, "format_version");
  if (version == NULL || strcmp(version, HX_CONTAINER_VERSION) != 0) {
    return hx_container_fail(
        container, report, HX_CODE_FILE_VERSION,
        "format_version in the header at offset 8 is %s%.40s%s, this build reads \"" HX_CONTAINER_VERSION "\"",
        version == NULL ? "" : "\"", version == NULL ? "absent" : version, version == NULL ? "" : "\"");
  }
  return HX_STATUS_OK;
}

// Finds the sha256 entry's digits in the raw text: they stand there as they are, and nowhere else.
static hx_status_t locate_digits(hx_container_t *container, hx_report_t *report) {
  const char *digits = hx_container_metadata(container, "sha256");
  if (digits == NULL || strlen(digits) != HX_CONTAINER_DIGITS ||
      strspn(digits, "0123456789abcdef") != HX_CONTAINER_DIGITS) {
    return hx_container_fail(container, report, HX_CODE_FILE_FORMAT,
                             "metadata key sha256 in the header at offset 8 is not 64 lower-case hexadecimal digits");
  }
  memcpy(container->digits, digits, HX_CONTAINER_DIGITS + 1);
  uint64_t found = 0;
  for (uint64_t at = 0; at + HX_CONTAINER_DIGITS <= container->header_size; ++at) {
    if (memcmp(container->header + at, digits, HX_CONTAINER_DIGITS) != 0) continue;
    container->digits_at = at;
    ++found;
  }
  if (found != 1) {
    return hx_container_fail(
        container, report, HX_CODE_FILE_FORMAT,
        "the digits of metadata key sha256 stand %llu times in the header's text at offset 8, not once",
        (unsigned long long)found);
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ tensors

static hx_status_t fail_tensor(const hx_container_t *container, hx_report_t *report, const char *name,
                               const char *what) {
  return hx_container_fail(container, report, HX_CODE_FILE_FORMAT, "tensor \"%.100s\" in the header at offset 8: %s",
                           name, what);
}

static bool is_plain_name(const char *name) {
  const size_t size = strlen(name);
  if (size == 0 || size > NAME_BYTES_MAX) return false;
  for (size_t i = 0; i < size; ++i) {
    if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f) return false;
  }
  return true;
}

static bool read_whole(const json_t *value, uint64_t *out) {
  if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
  *out = (uint64_t)json_integer_value(value);
  return true;
}

static hx_status_t read_tensor(const hx_container_t *container, const char *name, const json_t *object,
                               hx_container_tensor_t *out, hx_report_t *report) {
  *out = (hx_container_tensor_t){.name = name};
  if (!is_plain_name(name))
    return fail_tensor(container, report, name, "the name is empty, too long or has control bytes");
  const json_t *dtype = json_object_get(object, "dtype"), *shape = json_object_get(object, "shape");
  const json_t *offsets = json_object_get(object, "data_offsets");
  if (!json_is_object(object) || json_object_size(object) != 3 || !json_is_string(dtype) || !json_is_array(shape) ||
      !json_is_array(offsets) || json_array_size(offsets) != 2) {
    return fail_tensor(container, report, name,
                       "it has dtype (text), shape (list) and data_offsets (two numbers), and nothing else");
  }
  out->dtype = hx_container_dtype_find(json_string_value(dtype));
  if (out->dtype == 0) return fail_tensor(container, report, name, "dtype is none of U8, U32, U64, I64, F64");
  const size_t rank = json_array_size(shape);
  if (rank == 0 || rank > HX_CONTAINER_RANK_MAX)
    return fail_tensor(container, report, name, "shape has no axis, or more than eight");
  out->rank = (uint32_t)rank;
  for (size_t a = 0; a < rank; ++a) {
    if (!read_whole(json_array_get(shape, a), &out->shape[a]))
      return fail_tensor(container, report, name, "shape is no list of whole numbers");
  }
  uint64_t end;
  if (!read_whole(json_array_get(offsets, 0), &out->offset) || !read_whole(json_array_get(offsets, 1), &end) ||
      end < out->offset) {
    return fail_tensor(container, report, name, "data_offsets are no ascending pair of whole numbers");
  }
  out->bytes = hx_container_tensor_bytes(out);
  if (out->bytes == 0) return fail_tensor(container, report, name, "shape has an empty axis or overflows");
  if (out->bytes != end - out->offset) {
    return hx_container_fail(
        container, report, HX_CODE_FILE_FORMAT,
        "tensor \"%.100s\" in the header at offset 8: dtype and shape make %llu bytes, data_offsets %llu", name,
        (unsigned long long)out->bytes, (unsigned long long)(end - out->offset));
  }
  return HX_STATUS_OK;
}

static int by_offset(const void *a, const void *b) {
  const hx_container_tensor_t *x = a, *y = b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static hx_status_t read_tensors(hx_container_t *container, hx_report_t *report) {
  const size_t count = json_object_size(container->root) - 1;  // without the metadata
  container->tensors = hx_zalloc(count, sizeof *container->tensors);
  if (container->tensors == NULL)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to read %s", container->source);
  const char *name;
  json_t *object;
  json_object_foreach(container->root, name, object) {
    if (object == container->metadata) continue;
    HX_TRY(read_tensor(container, name, object, &container->tensors[container->tensor_count], report));
    ++container->tensor_count;
  }
  if (count > 1) qsort(container->tensors, count, sizeof *container->tensors, by_offset);
  // Each begins where the one before ends: no hole, no overlap. Ends cannot wrap: they are below 2^63.
  uint64_t end = 0;
  for (size_t i = 0; i < count; ++i) {
    const hx_container_tensor_t *tensor = &container->tensors[i];
    if (tensor->offset != end) {
      return hx_container_fail(
          container, report, HX_CODE_FILE_FORMAT,
          "tensor \"%.100s\" begins at data offset %llu, the one before it ends at %llu: data have no holes "
          "and do not overlap",
          tensor->name, (unsigned long long)tensor->offset, (unsigned long long)end);
    }
    end += tensor->bytes;
  }
  const uint64_t start = 8 + container->header_size, found = container->size - start;
  if (end > found) {
    return hx_container_fail(container, report, HX_CODE_FILE_TRUNCATED,
                             "the data at offset %llu end after %llu bytes, the header's data_offsets reach to %llu",
                             (unsigned long long)start, (unsigned long long)found, (unsigned long long)end);
  }
  if (end < found) {
    return hx_container_fail(
        container, report, HX_CODE_FILE_FORMAT,
        "%llu bytes from offset %llu on belong to no tensor: the file was changed, or translated as text",
        (unsigned long long)(found - end), (unsigned long long)(start + end));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_container_parse_header(hx_container_t *container, hx_report_t *report) {
  json_error_t error = {0};
  const char *text = (const char *)container->header;
  container->root = json_loadb(text, (size_t)container->header_size, JSON_REJECT_DUPLICATES, &error);
  if (container->root == NULL) {
    if (json_error_code(&error) == json_error_out_of_memory) {
      return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to read %s", container->source);
    }
    return hx_container_fail(container, report, HX_CODE_FILE_FORMAT, "the header is no JSON at offset %lld: %s",
                             8LL + (error.position > 0 ? error.position : 0), error.text);
  }
  if (!json_is_object(container->root)) {
    return hx_container_fail(container, report, HX_CODE_FILE_FORMAT, "the header at offset 8 is no object { }");
  }
  HX_TRY(check_metadata(container, report));
  HX_TRY(locate_digits(container, report));
  return read_tensors(container, report);
}
