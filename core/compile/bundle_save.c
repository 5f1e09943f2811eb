// SPDX-License-Identifier: Apache-2.0
// Writing bundles. Values of one storage: the widest dense one is stored, those that lie in it are entries of `views`.
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "core/compile/bundle.h"

// ------------------------------------------------------------------ requirements

typedef struct census {
  json_t *operations;  // name to signature
  json_t *galois, *switches, *missing;
  bool relin, conj;
  const hx_binding_t *stored;
  size_t stored_count;
  json_t *seen;  // symbols that were listed
} census_t;

static json_t *type_text(const hx_type_t *type) {
  hx_text_t text;
  hx_text_init(&text);
  json_t *json = hx_type_print(type, &text) == HX_STATUS_OK && !text.failed ? json_string(text.data) : NULL;
  hx_text_deinit(&text);
  return json;
}

static void count_key(census_t *census, const hx_type_t *type, const char *symbol) {
  if (type->key_kind == HX_KEY_RELIN) census->relin = true;
  if (type->key_kind == HX_KEY_CONJ) census->conj = true;
  if (type->key_kind == HX_KEY_GALOIS) json_array_append_new(census->galois, json_integer((json_int_t)type->element));
  if (type->key_kind == HX_KEY_SWITCH) json_array_append_new(census->switches, json_string(symbol));
}

static void count_material(census_t *census, const hx_ir_op_t *op) {
  const char *symbol = hx_attrs_find(op->attrs, "symbol")->text.data;  // required: verified; ends in NUL
  const hx_type_t *type = op->results[0]->type;
  if (json_object_get(census->seen, symbol) != NULL) return;
  json_object_set_new(census->seen, symbol, json_true());
  if (type->kind == HX_TYPE_KEY) {
    count_key(census, type, symbol);
    return;
  }
  for (size_t i = 0; i < census->stored_count; ++i) {
    if (strcmp(census->stored[i].symbol, symbol) == 0) return;
  }
  json_array_append_new(census->missing, json_pack("{s:s, s:o}", "symbol", symbol, "type", type_text(type)));
}

static hx_status_t count_op(hx_ir_op_t *op, void *argument) {
  census_t *census = argument;
  if (op->info->id == HX_OP_MATERIAL_REF) count_material(census, op);
  if (op->info->tier != HX_TIER_STRUCTURE && op->info->tier != HX_TIER_HOST)
    json_object_set_new(census->operations, op->info->name, json_integer(op->info->signature));
  return HX_STATUS_OK;
}

static json_t *ports_json(const hx_port_t *ports, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; ++i)
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s}", "name", ports[i].name, "role", ports[i].role, "type", ports[i].type));
  return list;
}

char *hx_bundle_requires(const hx_compilation_t *compilation, const hx_binding_t *stored, size_t stored_count) {
  census_t census = {.operations = json_object(),
                     .galois = json_array(),
                     .switches = json_array(),
                     .missing = json_array(),
                     .stored = stored,
                     .stored_count = stored_count,
                     .seen = json_object()};
  const hx_program_t *program = compilation->program;
  (void)hx_ir_walk(program->module, count_op, &census);
  json_t *keys = json_pack("{s:b, s:b, s:o, s:o}", "relin", census.relin, "conj", census.conj, "galois", census.galois,
                           "switch", census.switches);
  json_t *json = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "heliox", hx_version(), "params",
                           hx_params_name(compilation->params), "operations", census.operations, "keys", keys,
                           "materials", census.missing, "inputs", ports_json(program->inputs, program->input_count),
                           "outputs", ports_json(program->outputs, program->output_count));
  json_decref(census.seen);
  char *text = json == NULL ? NULL : json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
  json_decref(json);
  char *kept = text == NULL ? NULL : hx_strdup(text);
  free(text);  // jansson's own allocation
  return kept;
}

// ------------------------------------------------------------------ materials

typedef struct saver {
  const hx_compilation_t *compilation;
  hx_binding_t *chosen;  // borrowed values
  size_t count;
  uint8_t key_id[16];
  hx_report_t *report;
} saver_t;

static hx_status_t choose(saver_t *saver, const hx_bundle_options_t *options) {
  const hx_compilation_t *compilation = saver->compilation;
  const bool all = options == NULL || options->materials == NULL;
  const size_t wanted = all ? compilation->binding_count : options->material_count;
  saver->chosen = hx_zalloc(wanted + 1, sizeof *saver->chosen);
  if (saver->chosen == NULL) return hx_report_fail(saver->report, HX_CODE_OUT_OF_MEMORY, "no memory for a bundle");
  for (size_t i = 0; i < wanted; ++i) {
    const char *symbol = all ? compilation->bindings[i].symbol : options->materials[i];
    const hx_binding_t *found = NULL;
    for (size_t k = 0; k < compilation->binding_count && found == NULL; ++k) {
      if (strcmp(compilation->bindings[k].symbol, symbol) == 0) found = &compilation->bindings[k];
    }
    if (found == NULL)
      return hx_report_fail(saver->report, HX_CODE_MATERIAL, "@%.100s is not bound, so it cannot be stored", symbol);
    saver->chosen[saver->count++] = *found;
  }
  return HX_STATUS_OK;
}

static hx_status_t check_value(saver_t *saver, const hx_binding_t *binding) {
  static const uint8_t none[16];
  const hx_value_t *value = binding->value;
  if (value->secret)
    return hx_report_fail(saver->report, HX_CODE_SECRET, "material @%.100s is secret: bundles go to servers",
                          binding->symbol);
  if (value->tensor->storage->address == NULL)
    return hx_report_fail(saver->report, HX_CODE_DEVICE_MIX, "material @%.100s lies on a device: bring it to the host",
                          binding->symbol);
  if (strcmp(binding->symbol, HX_FILE_PROGRAM) == 0)
    return hx_report_fail(saver->report, HX_CODE_SYMBOL_NAME,
                          "a material is called @" HX_FILE_PROGRAM ", the name of the program's text in a bundle");
  if (memcmp(value->key_id, none, sizeof none) == 0) return HX_STATUS_OK;
  if (memcmp(saver->key_id, none, sizeof none) != 0 && memcmp(saver->key_id, value->key_id, sizeof none) != 0)
    return hx_report_fail(saver->report, HX_CODE_KEY_ID,
                          "materials were encrypted under different secrets: one is @%.100s", binding->symbol);
  memcpy(saver->key_id, value->key_id, sizeof saver->key_id);
  return HX_STATUS_OK;
}

static uint64_t end_of(const hx_tensor_t *tensor) {
  return tensor->offset + hx_layout_extent(&tensor->layout) * hx_dtype_bytes(tensor->layout.dtype);
}

// True if all of `inner` lies in `outer`, which is stored dense.
static bool lies_in(const hx_tensor_t *inner, const hx_tensor_t *outer) {
  return inner->storage == outer->storage && hx_layout_is_dense(&outer->layout) && !inner->layout.has_rows &&
         inner->layout.dtype == outer->layout.dtype && inner->offset >= outer->offset && end_of(inner) <= end_of(outer);
}

// The stored value that another one is a view of, or SIZE_MAX. Of equal ones the first is stored.
static size_t base_of(const saver_t *saver, size_t index) {
  const hx_tensor_t *own = saver->chosen[index].value->tensor;
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < saver->count; ++i) {
    const hx_tensor_t *other = saver->chosen[i].value->tensor;
    if (i == index || !lies_in(own, other)) continue;
    if (lies_in(other, own) && i > index) continue;
    if (best == SIZE_MAX || (lies_in(saver->chosen[best].value->tensor, other) &&
                             !(i > best && lies_in(other, saver->chosen[best].value->tensor))))
      best = i;
  }
  return best;
}

static json_t *view_json(const saver_t *saver, size_t index, size_t base) {
  const hx_tensor_t *tensor = saver->chosen[index].value->tensor;
  const hx_layout_t *layout = &tensor->layout;
  json_t *shape = json_array(), *strides = json_array();
  for (uint32_t a = 0; a < layout->batch_rank; ++a) {
    json_array_append_new(shape, json_integer((json_int_t)layout->batch_shape[a]));
    json_array_append_new(strides, json_integer((json_int_t)layout->batch_strides[a]));
  }
  const uint64_t rest[3][2] = {{layout->components, layout->component_stride},
                               {layout->limbs, layout->limb_stride},
                               {(uint64_t)1 << layout->log_n, 1}};
  for (size_t i = 0; i < 3; ++i) {
    json_array_append_new(shape, json_integer((json_int_t)rest[i][0]));
    json_array_append_new(strides, json_integer((json_int_t)rest[i][1]));
  }
  return json_pack("{s:s, s:I, s:o, s:o}", "of", saver->chosen[base].symbol, "offset",
                   (json_int_t)(tensor->offset - saver->chosen[base].value->tensor->offset), "shape", shape, "strides",
                   strides);
}

static hx_status_t add_value(hx_artifact_writer_t *writer, const hx_binding_t *binding, bool stored) {
  const hx_value_t *value = binding->value;
  hx_text_t type;
  hx_text_init(&type);
  const hx_status_t status = hx_type_print(&value->type, &type);
  if (status == HX_STATUS_OK && !type.failed) {
    char count[24];
    snprintf(count, sizeof count, "%llu", (unsigned long long)value->count);
    hx_artifact_writer_metadata(writer, binding->symbol, ".type", type.data);
    hx_artifact_writer_metadata(writer, binding->symbol, ".count", count);
    hx_artifact_writer_metadata(writer, binding->symbol, ".values", value->is_complex ? "complex" : "real");
    const hx_artifact_rows_t rows = {.tensor = value->tensor, .components = value->tensor->layout.components};
    if (stored) hx_artifact_writer_rows(writer, binding->symbol, "", &rows, false);
  }
  const bool failed = type.failed;
  hx_text_deinit(&type);
  return failed ? HX_STATUS_OUT_OF_MEMORY : status;
}

static hx_status_t add_materials(saver_t *saver, hx_artifact_writer_t *writer) {
  json_t *views = json_object();
  hx_status_t status = views == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  for (size_t i = 0; i < saver->count && status == HX_STATUS_OK; ++i) {
    const size_t base = base_of(saver, i);
    status = add_value(writer, &saver->chosen[i], base == SIZE_MAX);
    if (base != SIZE_MAX && json_object_set_new(views, saver->chosen[i].symbol, view_json(saver, i, base)) != 0)
      status = HX_STATUS_OUT_OF_MEMORY;
  }
  char *text = status == HX_STATUS_OK ? json_dumps(views, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
  json_decref(views);
  if (status == HX_STATUS_OK && text == NULL) status = HX_STATUS_OUT_OF_MEMORY;
  if (status == HX_STATUS_OK) hx_artifact_writer_metadata(writer, "views", "", text);
  free(text);  // jansson's own allocation
  return status;
}

static hx_status_t write_bundle(saver_t *saver, const hx_bundle_options_t *options, const char *path) {
  const hx_compilation_t *compilation = saver->compilation;
  char *program = NULL;
  HX_TRY(hx_program_print(compilation->program, 0, &program, saver->report));
  char *needs = hx_bundle_requires(compilation, saver->chosen, saver->count);
  hx_artifact_writer_t writer;
  hx_artifact_writer_init(&writer, HX_FILE_BUNDLE, compilation->params, saver->key_id);
  hx_artifact_writer_metadata(&writer, "pipeline", "",
                              options == NULL || options->pipeline == NULL ? "" : options->pipeline);
  hx_status_t status = needs == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  if (status == HX_STATUS_OK) {
    hx_artifact_writer_metadata(&writer, "requires", "", needs);
    hx_artifact_writer_bytes(&writer, HX_FILE_PROGRAM, "", program, strlen(program));
    status = add_materials(saver, &writer);
  }
  status = status == HX_STATUS_OUT_OF_MEMORY
               ? hx_report_fail(saver->report, HX_CODE_OUT_OF_MEMORY, "no memory to write a bundle")
               : hx_artifact_writer_save(&writer, path, 0666, saver->report);
  hx_artifact_writer_deinit(&writer);
  hx_free(needs);
  hx_text_free(program);
  return status;
}

hx_status_t hx_bundle_save(const hx_compilation_t *compilation, const hx_bundle_options_t *options, const char *path,
                           hx_report_t *report) {
  if (compilation == NULL || path == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_bundle_save: an argument is NULL");
  saver_t saver = {.compilation = compilation, .report = report};
  hx_status_t status = choose(&saver, options);
  for (size_t i = 0; i < saver.count && status == HX_STATUS_OK; ++i) status = check_value(&saver, &saver.chosen[i]);
  if (status == HX_STATUS_OK) status = write_bundle(&saver, options, path);
  hx_free(saver.chosen);
  return status;
}
