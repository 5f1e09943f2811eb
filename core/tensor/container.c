// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/container.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/tensor/container_internal.h"
#include "core/tensor/sha256.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data are little-endian and read in place");

#define WATCH_STEP ((uint64_t)4 << 20)
#define CHUNK (256 * 1024)  // bytes read and hashed at a time, so that they are hashed from the cache

hx_status_t hx_container_fail(const hx_container_t *container, hx_report_t *report, hx_code_t code, const char *format,
                              ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  return hx_report_add(report, &(hx_fault_t){.code = code, .source = container->source, .text = text});
}

static hx_status_t fail_system(const hx_container_t *container, hx_report_t *report, int error) {
  return hx_container_fail(container, report, HX_CODE_IO, "cannot read: %s", strerror(error));
}

static hx_status_t fail_memory(const hx_container_t *container, hx_report_t *report) {
  return hx_container_fail(container, report, HX_CODE_OUT_OF_MEMORY, "no memory to read the file");
}

void hx_container_close(hx_container_t *container) {
  if (container == NULL) return;
  if (container->fd >= 0) close(container->fd);
  if (container->own != NULL) hx_wipe(container->own, (size_t)container->size);
  hx_free(container->own);
  hx_free(container->header);
  hx_free(container->tensors);
  json_decref(container->root);
  hx_free(container->source);
  hx_free(container);
}

// ------------------------------------------------------------------ bytes

// Up to `size` bytes at `offset`; fewer only at the end of the file.
static hx_status_t read_at(const hx_container_t *container, uint64_t offset, void *to, size_t size, size_t *out_size,
                           hx_report_t *report) {
  size_t done = 0;
  if (container->fd < 0) {
    const uint64_t left = offset < container->size ? container->size - offset : 0;
    done = left < size ? (size_t)left : size;
    if (done > 0) memcpy(to, container->bytes + offset, done);
  }
  while (container->fd >= 0 && done < size) {
    const ssize_t got = pread(container->fd, (unsigned char *)to + done, size - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_system(container, report, errno);
    if (got == 0) break;
    done += (size_t)got;
  }
  *out_size = done;
  return HX_STATUS_OK;
}

// Twice the room; what was there is wiped, as it may be a secret key.
static hx_status_t grow_own(hx_container_t *container, size_t *capacity, hx_report_t *report) {
  const size_t wanted = *capacity == 0 ? CHUNK : *capacity * 2;
  unsigned char *larger = wanted < *capacity ? NULL : hx_alloc(wanted);
  if (larger == NULL) return fail_memory(container, report);
  if (container->own != NULL) {
    memcpy(larger, container->own, (size_t)container->size);
    hx_wipe(container->own, (size_t)container->size);
    hx_free(container->own);
  }
  container->own = larger;
  *capacity = wanted;
  return HX_STATUS_OK;
}

// All of a pipe. Memory follows the bytes that come, not what a header says.
static hx_status_t read_stream(hx_container_t *container, hx_report_t *report) {
  size_t capacity = 0;
  for (;;) {
    if (container->size == capacity) HX_TRY(grow_own(container, &capacity, report));
    const ssize_t got = read(container->fd, container->own + container->size, capacity - (size_t)container->size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_system(container, report, errno);
    if (got == 0) break;
    container->size += (uint64_t)got;
  }
  close(container->fd);
  container->fd = -1;
  container->bytes = container->own;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ opening

static bool is_text(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if ((bytes[i] < 0x20 && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t') || bytes[i] > 0x7e) return false;
  }
  return true;
}

static hx_status_t fail_length(const hx_container_t *container, const unsigned char prefix[8], hx_report_t *report) {
  char text[200];
  snprintf(text, sizeof text,
           "no Heliox container: the header's length at offset 0 is %llu, and it is between 2 and %d",
           (unsigned long long)container->header_size, HX_CONTAINER_HEADER_MAX);
  return hx_report_add(
      report, &(hx_fault_t){.code = HX_CODE_FILE_FORMAT,
                            .source = container->source,
                            .text = text,
                            .hint = is_text(prefix, 8) ? "The file is text: decode it if it was sent as base64."
                                                       : "Give a file written by Heliox, transferred in binary mode."});
}

static hx_status_t read_header(hx_container_t *container, hx_report_t *report) {
  unsigned char prefix[8];
  size_t got;
  HX_TRY(read_at(container, 0, prefix, sizeof prefix, &got, report));
  if (got < sizeof prefix) {
    return hx_container_fail(container, report, HX_CODE_FILE_TRUNCATED,
                             "the file ends after %zu bytes, inside the header's length (offset 0, 8 bytes)", got);
  }
  for (uint32_t i = 0; i < 8; ++i) container->header_size |= (uint64_t)prefix[i] << (8 * i);
  if (container->header_size < 2 || container->header_size > HX_CONTAINER_HEADER_MAX)
    return fail_length(container, prefix, report);
  if (container->header_size > container->size - 8) {
    return hx_container_fail(container, report, HX_CODE_FILE_TRUNCATED,
                             "the file ends after %llu bytes, inside the header (offset 8, %llu bytes)",
                             (unsigned long long)container->size, (unsigned long long)container->header_size);
  }
  if ((8 + container->header_size) % HX_CONTAINER_ALIGNMENT != 0) {
    return hx_container_fail(container, report, HX_CODE_FILE_FORMAT,
                             "no Heliox container: data would start at offset %llu, which is no multiple of %d",
                             (unsigned long long)(8 + container->header_size), HX_CONTAINER_ALIGNMENT);
  }
  container->header = hx_alloc((size_t)container->header_size);
  if (container->header == NULL) return fail_memory(container, report);
  HX_TRY(read_at(container, 8, container->header, (size_t)container->header_size, &got, report));
  if (got < container->header_size) {
    return hx_container_fail(container, report, HX_CODE_FILE_TRUNCATED,
                             "the file ended inside the header (offset 8) while it was read");
  }
  uint64_t end = container->header_size;
  while (end > 0 && container->header[end - 1] == ' ') --end;
  if (container->header[0] != '{' || end == 0 || container->header[end - 1] != '}') {
    return hx_container_fail(
        container, report, HX_CODE_FILE_FORMAT,
        "no Heliox container: the header at offset 8 does not begin with { and end with } and blanks");
  }
  return hx_container_parse_header(container, report);
}

static hx_status_t new_container(const char *source, hx_container_t **out, hx_report_t *report) {
  hx_container_t *container = hx_zalloc(1, sizeof *container);
  char *name = hx_strdup(source == NULL ? "" : source);
  if (container == NULL || name == NULL) {
    hx_free(container);
    hx_free(name);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to read %s", source == NULL ? "a file" : source);
  }
  container->source = name;
  container->fd = -1;
  *out = container;
  return HX_STATUS_OK;
}

static hx_status_t open_file(hx_container_t *container, const char *path, hx_report_t *report) {
  container->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  struct stat facts;
  if (container->fd < 0 || fstat(container->fd, &facts) != 0) return fail_system(container, report, errno);
  if (S_ISDIR(facts.st_mode)) return fail_system(container, report, EISDIR);
  if (!S_ISREG(facts.st_mode)) return read_stream(container, report);
  container->size = facts.st_size < 0 ? 0 : (uint64_t)facts.st_size;
  return HX_STATUS_OK;
}

hx_status_t hx_container_open(const char *path, hx_container_t **out, hx_report_t *report) {
  if (path == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "no path to read");
  hx_container_t *container = NULL;
  HX_TRY(new_container(path, &container, report));
  hx_status_t status = open_file(container, path, report);
  if (status == HX_STATUS_OK) status = read_header(container, report);
  if (status != HX_STATUS_OK) {
    hx_container_close(container);
    return status;
  }
  *out = container;
  return HX_STATUS_OK;
}

hx_status_t hx_container_open_memory(const void *bytes, size_t size, const char *source, hx_container_t **out,
                                     hx_report_t *report) {
  hx_container_t *container = NULL;
  HX_TRY(new_container(source, &container, report));
  container->bytes = bytes;
  container->size = size;
  const hx_status_t status = read_header(container, report);
  if (status != HX_STATUS_OK) {
    hx_container_close(container);
    return status;
  }
  *out = container;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ what is inside

void hx_container_watch(hx_container_t *container, bool (*watch)(void *context, uint64_t done), void *context) {
  container->watch = watch;
  container->watch_context = context;
}

uint64_t hx_container_size(const hx_container_t *container) { return container->size; }

const char *hx_container_source(const hx_container_t *container) { return container->source; }

const char *hx_container_metadata(const hx_container_t *container, const char *key) {
  return json_string_value(json_object_get(container->metadata, key));
}

size_t hx_container_count(const hx_container_t *container) { return container->tensor_count; }

const hx_container_tensor_t *hx_container_get(const hx_container_t *container, size_t index) {
  return index < container->tensor_count ? &container->tensors[index] : NULL;
}

size_t hx_container_find(const hx_container_t *container, const char *name) {
  for (size_t i = 0; i < container->tensor_count; ++i) {
    if (strcmp(container->tensors[i].name, name) == 0) return i;
  }
  return SIZE_MAX;
}

static void *whole(void *context, uint64_t index) {
  (void)index;
  return context;
}

void hx_container_place(hx_container_t *container, size_t index, const hx_container_runs_t *runs) {
  if (index < container->tensor_count) container->tensors[index].runs = *runs;
}

void hx_container_place_at(hx_container_t *container, size_t index, void *memory) {
  if (index >= container->tensor_count) return;
  container->tensors[index].runs =
      (hx_container_runs_t){.at = whole, .context = memory, .run_bytes = container->tensors[index].bytes};
}

// ------------------------------------------------------------------ loading

typedef struct hx_loader {
  hx_container_t *container;
  hx_sha256_t hash;
  unsigned char *scratch;  // CHUNK bytes for tensors without a place
  hx_report_t *report;
} hx_loader_t;

// Tells the watcher, if there is one, once every `step` bytes.
static hx_status_t tell(hx_container_t *container, uint64_t step, hx_report_t *report) {
  if (container->watch == NULL || container->position - container->watched < step) return HX_STATUS_OK;
  container->watched = container->position;
  if (container->watch(container->watch_context, container->position)) return HX_STATUS_OK;
  return hx_container_fail(container, report, HX_CODE_CANCELLED, "reading was cancelled at offset %llu",
                           (unsigned long long)container->position);
}

static hx_status_t load_run(hx_loader_t *loader, const char *name, unsigned char *to, uint64_t bytes) {
  hx_container_t *container = loader->container;
  while (bytes > 0) {
    const size_t part = bytes < CHUNK ? (size_t)bytes : CHUNK;
    unsigned char *target = to == NULL ? loader->scratch : to;
    size_t got = 0;
    HX_TRY(read_at(container, container->position, target, part, &got, loader->report));
    if (got < part) {
      return hx_container_fail(container, loader->report, HX_CODE_FILE_TRUNCATED,
                               "the file ended at offset %llu, inside tensor \"%.100s\", while it was read",
                               (unsigned long long)(container->position + got), name);
    }
    hx_sha256_update(&loader->hash, target, part);
    container->position += part;
    bytes -= part;
    if (to != NULL) to += part;
    HX_TRY(tell(container, WATCH_STEP, loader->report));
  }
  return HX_STATUS_OK;
}

static hx_status_t load_tensor(hx_loader_t *loader, const hx_container_tensor_t *tensor) {
  const hx_container_runs_t *runs = &tensor->runs;
  if (runs->at == NULL) {
    if (loader->scratch == NULL) loader->scratch = hx_alloc(CHUNK);
    if (loader->scratch == NULL) return fail_memory(loader->container, loader->report);
    return load_run(loader, tensor->name, NULL, tensor->bytes);
  }
  if (runs->run_bytes == 0 || tensor->bytes % runs->run_bytes != 0) {
    return hx_container_fail(loader->container, loader->report, HX_CODE_INVALID_ARGUMENT,
                             "tensor \"%.100s\" of %llu bytes is no whole number of runs of %llu", tensor->name,
                             (unsigned long long)tensor->bytes, (unsigned long long)runs->run_bytes);
  }
  for (uint64_t i = 0; i < tensor->bytes / runs->run_bytes; ++i) {
    HX_TRY(load_run(loader, tensor->name, runs->at(runs->context, i), runs->run_bytes));
  }
  return HX_STATUS_OK;
}

// The digest covers the header with the digits set to 0.
static void hash_header(hx_loader_t *loader) {
  static const char zeros[HX_CONTAINER_DIGITS + 1] = "0000000000000000000000000000000000000000000000000000000000000000";
  const hx_container_t *container = loader->container;
  unsigned char prefix[8];
  for (uint32_t i = 0; i < 8; ++i) prefix[i] = (unsigned char)(container->header_size >> (8 * i));
  const uint64_t after = container->digits_at + HX_CONTAINER_DIGITS;
  hx_sha256_update(&loader->hash, prefix, sizeof prefix);
  hx_sha256_update(&loader->hash, container->header, container->digits_at);
  hx_sha256_update(&loader->hash, zeros, HX_CONTAINER_DIGITS);
  hx_sha256_update(&loader->hash, container->header + after, container->header_size - after);
}

hx_status_t hx_container_load(hx_container_t *container, hx_report_t *report) {
  hx_loader_t loader = {.container = container, .report = report};
  hx_sha256_init(&loader.hash);
  hash_header(&loader);
  container->position = 8 + container->header_size;
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; status == HX_STATUS_OK && i < container->tensor_count; ++i)
    status = load_tensor(&loader, &container->tensors[i]);
  if (status == HX_STATUS_OK) status = tell(container, 0, report);
  if (loader.scratch != NULL) hx_wipe(loader.scratch, CHUNK);
  hx_free(loader.scratch);
  unsigned char digest[HX_SHA256_BYTES];
  char digits[2 * sizeof digest + 1];
  hx_sha256_final(&loader.hash, digest);
  if (status != HX_STATUS_OK) return status;
  sodium_bin2hex(digits, sizeof digits, digest, sizeof digest);
  if (strcmp(digits, container->digits) == 0) return HX_STATUS_OK;
  char text[200];
  snprintf(text, sizeof text,
           "the file's bytes have another SHA-256 than metadata key sha256 in the header at offset 8 says: the file is "
           "damaged");
  return hx_report_add(report, &(hx_fault_t){.code = HX_CODE_FILE_INTEGRITY,
                                             .source = container->source,
                                             .text = text,
                                             .expected = container->digits,
                                             .found = digits,
                                             .hint = "Transfer it again."});
}
