// SPDX-License-Identifier: Apache-2.0
// Reading bundles: the header alone, or all of it. Everything that the file says is checked before it is used.
#include <string.h>

#include "core/compile/bundle.h"
#include "core/plugin/json.h"

// ------------------------------------------------------------------ header

struct hx_bundle {
  hx_artifact_t artifact;
  hx_arena_t arena;
  json_t *views;
  hx_bundle_material_t *materials;
  hx_bundle_info_t info;
};

static hx_status_t fail(const hx_artifact_t *artifact, hx_report_t *report, const char *what, const char *name) {
  return hx_container_fail(artifact->container, report, HX_CODE_FILE_FORMAT, "%s%s%.100s%s", what,
                           name == NULL ? "" : " \"", name == NULL ? "" : name, name == NULL ? "" : "\"");
}

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to read a bundle");
}

// A metadata key that every bundle has.
static hx_status_t get_text(const hx_artifact_t *artifact, const char *key, const char **out, hx_report_t *report) {
  *out = hx_container_metadata(artifact->container, key);
  return *out != NULL ? HX_STATUS_OK : fail(artifact, report, "a bundle's header lacks the metadata key", key);
}

static hx_status_t parse_json(const hx_artifact_t *artifact, const char *key, json_t **out, hx_report_t *report) {
  const char *text;
  HX_TRY(get_text(artifact, key, &text, report));
  hx_json_error_t error;
  const hx_status_t status = hx_json_parse(hx_str(text), out, &error);
  if (status == HX_STATUS_OUT_OF_MEMORY) return no_memory(report);
  if (status == HX_STATUS_OK) return HX_STATUS_OK;
  return hx_container_fail(artifact->container, report, HX_CODE_FILE_FORMAT, "metadata key %s, column %u: %s", key,
                           error.column, error.text);
}

static hx_status_t find_program(const hx_artifact_t *artifact, size_t *out_index, hx_report_t *report) {
  *out_index = hx_container_find(artifact->container, HX_FILE_PROGRAM);
  if (*out_index == SIZE_MAX) return fail(artifact, report, "a bundle lacks the tensor", HX_FILE_PROGRAM);
  const hx_container_tensor_t *tensor = hx_container_get(artifact->container, *out_index);
  if (tensor->dtype != HX_U8 || tensor->rank != 1 || tensor->bytes > HX_BUNDLE_PROGRAM_MAX)
    return fail(artifact, report, "the program of a bundle is no U8 [count] of at most 64 MiB", NULL);
  return HX_STATUS_OK;
}

// "SYMBOL.WHAT"; NULL where it is missing or memory is exhausted.
static const char *metadata_of(const hx_artifact_t *artifact, const char *symbol, const char *what) {
  hx_text_t key;
  hx_text_init(&key);
  hx_text_printf(&key, "%s.%s", symbol, what);
  const char *text = key.failed ? NULL : hx_container_metadata(artifact->container, key.data);
  hx_text_deinit(&key);
  return text;
}

static const char *type_of(const hx_artifact_t *artifact, const char *symbol) {
  return metadata_of(artifact, symbol, "type");
}

static const char *view_base(json_t *view) {
  json_t *of = json_is_object(view) ? json_object_get(view, "of") : NULL;
  return json_is_string(of) ? json_string_value(of) : NULL;
}

static hx_status_t list_materials(hx_bundle_t *bundle, hx_report_t *report) {
  const hx_artifact_t *artifact = &bundle->artifact;
  const size_t stored = hx_container_count(artifact->container), views = json_object_size(bundle->views);
  bundle->materials = hx_arena_alloc(&bundle->arena, (stored + views) * sizeof *bundle->materials);
  if (bundle->materials == NULL) return no_memory(report);
  size_t count = 0;
  for (size_t i = 0; i < stored; ++i) {
    const hx_container_tensor_t *tensor = hx_container_get(artifact->container, i);
    if (strcmp(tensor->name, HX_FILE_PROGRAM) == 0) continue;
    const char *type = type_of(artifact, tensor->name);
    if (type == NULL) return fail(artifact, report, "a type is missing for the material", tensor->name);
    bundle->materials[count++] = (hx_bundle_material_t){.symbol = tensor->name, .type = type, .bytes = tensor->bytes};
  }
  const char *symbol;
  json_t *view;
  json_object_foreach(bundle->views, symbol, view) {
    const char *type = type_of(artifact, symbol), *of = view_base(view);
    if (type == NULL || of == NULL) return fail(artifact, report, "a type or base is missing for the view", symbol);
    bundle->materials[count++] = (hx_bundle_material_t){.symbol = symbol, .type = type, .of = of};
  }
  bundle->info.materials = bundle->materials;
  bundle->info.material_count = count;
  return HX_STATUS_OK;
}

static hx_status_t read_header(hx_bundle_t *bundle, hx_report_t *report) {
  hx_artifact_t *artifact = &bundle->artifact;
  json_t *needs = NULL;
  size_t program;
  HX_TRY(hx_artifact_expect(artifact, HX_FILE_BUNDLE, report));
  HX_TRY(get_text(artifact, "pipeline", &bundle->info.pipeline, report));
  HX_TRY(get_text(artifact, "requires", &bundle->info.requires_text, report));
  HX_TRY(parse_json(artifact, "requires", &needs, report));
  json_decref(needs);
  HX_TRY(parse_json(artifact, "views", &bundle->views, report));
  HX_TRY(find_program(artifact, &program, report));
  bundle->info.program_bytes = hx_container_get(artifact->container, program)->bytes;
  bundle->info.params_digest = artifact->params_digest;
  bundle->info.insecure = artifact->insecure;
  return list_materials(bundle, report);
}

hx_status_t hx_bundle_inspect(const char *path, hx_bundle_t **out, hx_report_t *report) {
  if (path == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_bundle_inspect: an argument is NULL");
  hx_bundle_t *bundle = hx_zalloc(1, sizeof *bundle);
  if (bundle == NULL) return no_memory(report);
  hx_arena_init(&bundle->arena);
  hx_status_t status = hx_artifact_open(path, &bundle->artifact, report);
  if (status == HX_STATUS_OK) status = read_header(bundle, report);
  if (status != HX_STATUS_OK) {
    hx_bundle_release(bundle);
    return status;
  }
  *out = bundle;
  return HX_STATUS_OK;
}

void hx_bundle_release(hx_bundle_t *bundle) {
  if (bundle == NULL) return;
  json_decref(bundle->views);
  hx_arena_deinit(&bundle->arena);
  hx_artifact_close(&bundle->artifact);
  hx_free(bundle);
}

void hx_bundle_info(const hx_bundle_t *bundle, hx_bundle_info_t *out) { *out = bundle->info; }

// ------------------------------------------------------------------ views

// A list of `count` positive numbers; false otherwise.
static bool read_numbers(json_t *list, size_t count, uint64_t *out) {
  if (!json_is_array(list) || json_array_size(list) != count) return false;
  for (size_t i = 0; i < count; ++i) {
    json_t *number = json_array_get(list, i);
    if (!json_is_integer(number) || json_integer_value(number) < 0) return false;
    out[i] = (uint64_t)json_integer_value(number);
  }
  return true;
}

// Shape and strides of a view of a type: the shape is the type's, each stride is given.
static bool read_layout(json_t *view, const hx_type_t *type, const hx_ring *ring, hx_layout_t *out) {
  hx_type_layout(type, ring, out);
  uint64_t shape[HX_BATCH_RANK_MAX + 3] = {0}, strides[HX_BATCH_RANK_MAX + 3] = {0};
  const uint32_t rank = out->batch_rank;
  if (!read_numbers(json_object_get(view, "shape"), rank + 3, shape) ||
      !read_numbers(json_object_get(view, "strides"), rank + 3, strides))
    return false;
  for (uint32_t a = 0; a < rank; ++a) {
    if (shape[a] != out->batch_shape[a]) return false;
    out->batch_strides[a] = strides[a];
  }
  out->component_stride = strides[rank];
  out->limb_stride = strides[rank + 1];
  for (uint32_t a = 0; a < rank + 2; ++a) {
    if (strides[a] > (uint64_t)1 << 40) return false;  // far beyond any file; keeps extents from wrapping
  }
  return shape[rank] == out->components && shape[rank + 1] == out->limbs &&
         shape[rank + 2] == (uint64_t)1 << out->log_n && strides[rank + 2] == 1;
}

static const hx_value_t *find_value(const hx_named_value_t *values, size_t count, const char *name) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(values[i].name, name) == 0) return values[i].value;
  }
  return NULL;
}

// How many values of which kind the view had.
static bool read_message(const hx_artifact_t *artifact, const char *symbol, hx_value_t *value) {
  const char *count = metadata_of(artifact, symbol, "count"), *values = metadata_of(artifact, symbol, "values");
  if (count == NULL || values == NULL || count[0] == '\0' || strlen(count) > 10) return false;
  for (; *count != '\0'; ++count) {
    if (*count < '0' || *count > '9') return false;
    value->count = value->count * 10 + (uint64_t)(*count - '0');
  }
  value->is_complex = strcmp(values, "complex") == 0;
  return value->count <= value->type.slots && (value->is_complex || strcmp(values, "real") == 0);
}

static hx_status_t make_view(const hx_artifact_t *artifact, const hx_params_t *params, const char *symbol, json_t *view,
                             const hx_named_value_t *values, size_t count, hx_value_t **out, hx_report_t *report) {
  const char *of = view_base(view), *text = type_of(artifact, symbol);
  const hx_value_t *base = of == NULL ? NULL : find_value(values, count, of);
  json_t *offset = json_object_get(view, "offset");
  if (base == NULL || text == NULL || !json_is_integer(offset) || json_integer_value(offset) < 0)
    return fail(artifact, report, "base, offset or type is wrong of the view", symbol);
  hx_type_t type;
  hx_layout_t layout;
  const hx_ring *ring = hx_params_ring(params);
  if (hx_type_parse(hx_str(text), ring, &type, NULL) != HX_STATUS_OK ||
      hx_value_check_type(params, &type, NULL) != HX_STATUS_OK || !read_layout(view, &type, ring, &layout))
    return fail(artifact, report, "type, shape or strides are wrong of the view", symbol);
  const uint64_t start = (uint64_t)json_integer_value(offset);
  const uint32_t size = hx_dtype_bytes(layout.dtype);
  if (start % size != 0 || start > base->tensor->storage->bytes)
    return fail(artifact, report, "the offset is wrong of the view", symbol);
  hx_tensor_t *tensor = NULL;
  if (hx_tensor_view(base->tensor, base->tensor->offset + start, &layout, &tensor, NULL) != HX_STATUS_OK)
    return fail(artifact, report, "beyond its base reaches the view", symbol);
  const hx_status_t status = hx_value_wrap(params, &type, tensor, false, out, report);
  hx_tensor_release(tensor);
  HX_TRY(status);
  memcpy((*out)->key_id, base->key_id, sizeof base->key_id);
  // Its primes may be others than its base's.
  if (read_message(artifact, symbol, *out) && hx_value_check_residues(*out, NULL) == HX_STATUS_OK) return HX_STATUS_OK;
  hx_value_release(*out);
  *out = NULL;
  return fail(artifact, report, "count, kind of values or residues are wrong of the view", symbol);
}

static hx_status_t bind_views(const hx_artifact_t *artifact, hx_compilation_t *compilation,
                              const hx_named_value_t *values, size_t count, hx_report_t *report) {
  json_t *views = NULL, *view;
  const char *symbol;
  HX_TRY(parse_json(artifact, "views", &views, report));
  hx_status_t status = HX_STATUS_OK;
  json_object_foreach(views, symbol, view) {
    hx_value_t *value = NULL;
    status = make_view(artifact, compilation->params, symbol, view, values, count, &value, report);
    if (status == HX_STATUS_OK) status = hx_compilation_bind_material(compilation, symbol, value, report);
    hx_value_release(value);
    if (status != HX_STATUS_OK) break;
  }
  json_decref(views);
  return status;
}

// ------------------------------------------------------------------ the whole file

// Only the values' own header is needed before the parameters are known: a preset is named by the program, and the
// program is in the data. So a bundle without given parameters is read twice.
static hx_status_t read_program(hx_artifact_t *artifact, hx_program_t **out, hx_report_t *report) {
  size_t index;
  HX_TRY(find_program(artifact, &index, report));
  const uint64_t bytes = hx_container_get(artifact->container, index)->bytes;
  char *text = hx_alloc((size_t)bytes + 1);
  if (text == NULL) return no_memory(report);
  hx_container_place_at(artifact->container, index, text);
  hx_status_t status = hx_container_load(artifact->container, report);
  if (status == HX_STATUS_OK)
    status = hx_program_parse((hx_str_t){.data = text, .size = (size_t)bytes}, hx_container_source(artifact->container),
                              out, report);
  hx_free(text);
  return status;
}

static hx_status_t bind_values(const hx_artifact_t *artifact, hx_compilation_t *compilation,
                               const hx_named_value_t *values, size_t count, hx_report_t *report) {
  for (size_t i = 0; i < count; ++i)
    HX_TRY(hx_compilation_bind_material(compilation, values[i].name, values[i].value, report));
  return bind_views(artifact, compilation, values, count, report);
}

hx_status_t hx_bundle_read(hx_artifact_t *artifact, const hx_params_t *params, hx_compilation_t **out,
                           hx_report_t *report) {
  size_t index;
  HX_TRY(hx_artifact_expect(artifact, HX_FILE_BUNDLE, report));
  HX_TRY(hx_artifact_check_params(artifact, params, report));
  HX_TRY(find_program(artifact, &index, report));
  const uint64_t bytes = hx_container_get(artifact->container, index)->bytes;
  char *text = hx_alloc((size_t)bytes + 1);
  if (text == NULL) return no_memory(report);
  hx_container_place_at(artifact->container, index, text);
  hx_named_value_t *values = NULL;
  size_t count = 0;
  hx_program_t *program = NULL;
  hx_compilation_t *compilation = NULL;
  hx_status_t status = hx_values_read(artifact, params, &values, &count, report);
  if (status == HX_STATUS_OK)
    status = hx_program_parse((hx_str_t){.data = text, .size = (size_t)bytes}, hx_container_source(artifact->container),
                              &program, report);
  if (status == HX_STATUS_OK) status = hx_compilation_create(program, params, &compilation, report);
  if (status == HX_STATUS_OK) status = bind_values(artifact, compilation, values, count, report);
  hx_values_free(values, count);
  hx_program_release(program);
  hx_free(text);
  if (status != HX_STATUS_OK) {
    hx_compilation_release(compilation);
    return status;
  }
  *out = compilation;
  return HX_STATUS_OK;
}

// The preset that the program in the file names.
static hx_status_t find_params(const char *path, hx_params_t **out, hx_report_t *report) {
  hx_artifact_t artifact;
  hx_program_t *program = NULL;
  HX_TRY(hx_artifact_open(path, &artifact, report));
  hx_status_t status = hx_artifact_expect(&artifact, HX_FILE_BUNDLE, report);
  if (status == HX_STATUS_OK) status = read_program(&artifact, &program, report);
  hx_artifact_close(&artifact);
  if (status == HX_STATUS_OK && hx_program_params(program)[0] == '\0')
    status = hx_report_fail(report, HX_CODE_PARAMS,
                            "the program of %s names no parameters (heliox.params): give a parameter set", path);
  if (status == HX_STATUS_OK) status = hx_params_preset(hx_program_params(program), out, report);
  hx_program_release(program);
  return status;
}

hx_status_t hx_bundle_load(const char *path, const hx_params_t *params, hx_compilation_t **out, hx_report_t *report) {
  if (path == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_bundle_load: an argument is NULL");
  hx_params_t *found = NULL;
  if (params == NULL) HX_TRY(find_params(path, &found, report));
  hx_artifact_t artifact;
  hx_status_t status = hx_artifact_open(path, &artifact, report);
  if (status == HX_STATUS_OK) {
    status = hx_bundle_read(&artifact, params == NULL ? found : params, out, report);
    hx_artifact_close(&artifact);
  }
  hx_params_release(found);
  return status;
}
