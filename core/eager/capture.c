// SPDX-License-Identifier: Apache-2.0
// Recording: every engine call becomes an operation of a program; values with data become materials.
#include "core/eager/capture.h"

#include <stdio.h>
#include <string.h>

#define MATERIALS_MAX 65536  // of one capture

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to capture a function");
}

// Any failure of making IR that has no fault of its own is want of memory.
static hx_status_t made(hx_status_t status, hx_report_t *report) {
  return status == HX_STATUS_OUT_OF_MEMORY ? no_memory(report) : status;
}

// func.func @main without arguments; its type follows when the capture ends.
static hx_status_t add_main(hx_capture_t *capture) {
  const hx_named_attr_t items[] = {
      {.name = hx_str("function_type"), .value = {.kind = HX_ATTRIBUTE_TYPE}},
      {.name = hx_str("sym_name"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("main")}}};
  hx_attrs_t attrs;
  hx_ir_op_t *func;
  HX_TRY(hx_program_attrs(capture->program, items, HX_COUNT_OF(items), &attrs));
  HX_TRY(hx_ir_create(capture->program, HX_OP_FUNC, NULL, 0, NULL, 0, attrs, 1, &func));
  hx_ir_insert(capture->program->module->regions[0]->block, NULL, func);
  capture->block = hx_func_block(func);
  return HX_STATUS_OK;
}

hx_status_t hx_capture_create(const hx_params_t *params, hx_capture_t **out, hx_report_t *report) {
  hx_capture_t *capture = hx_zalloc(1, sizeof *capture);
  if (capture == NULL) return no_memory(report);
  atomic_init(&capture->refs, 1);
  (void)pthread_mutex_init(&capture->engine.rows_lock, NULL);
  capture->engine.capture = capture;
  hx_status_t status = hx_params_copy_capturing(params, &capture->engine.params, report);
  if (status == HX_STATUS_OK) status = made(hx_program_create("captured function", &capture->program), report);
  if (status == HX_STATUS_OK) status = made(add_main(capture), report);
  if (status != HX_STATUS_OK) {
    hx_capture_release(capture);
    return status;
  }
  *out = capture;
  return HX_STATUS_OK;
}

void hx_capture_release(hx_capture_t *capture) {
  if (capture == NULL || atomic_fetch_sub_explicit(&capture->refs, 1, memory_order_acq_rel) != 1) return;
  for (size_t i = 0; i < capture->binding_count; ++i) hx_value_release(capture->bindings[i].value);
  for (size_t i = 0; i < capture->switch_count; ++i)
    hx_switch_release((hx_switch_t *)(uintptr_t)capture->switches[i].key);
  hx_free(capture->bindings);
  hx_free((void *)capture->references);
  hx_free(capture->switches);
  hx_free((void *)capture->switch_references);
  hx_program_release(capture->program);
  hx_rows_deinit(&capture->engine.rows);
  (void)pthread_mutex_destroy(&capture->engine.rows_lock);
  hx_params_release(capture->engine.params);
  hx_free(capture);
}

// ------------------------------------------------------------------ values

static void release_owner(void *owner) { hx_capture_release(owner); }

hx_status_t hx_capture_wrap(hx_capture_t *capture, hx_ir_value_t *ir_value, uint64_t count, bool is_complex,
                            hx_value_t **out, hx_report_t *report) {
  const hx_symbol_t symbol = {.owner = capture, .ir_value = ir_value, .release = release_owner};
  HX_TRY(hx_value_check_type(capture->engine.params, ir_value->type, report));
  hx_value_t *value = NULL;
  if (hx_value_create_symbol(capture->engine.params, ir_value->type, symbol, &value) != HX_STATUS_OK)
    return no_memory(report);
  atomic_fetch_add_explicit(&capture->refs, 1, memory_order_relaxed);
  value->count = count;
  value->is_complex = is_complex;
  *out = value;
  return HX_STATUS_OK;
}

hx_status_t hx_capture_argument(hx_capture_t *capture, const hx_type_t *type, hx_value_t **out, hx_report_t *report) {
  hx_ir_value_t *argument;
  HX_TRY(made(hx_ir_add_argument(capture->program, capture->block, type, &argument), report));
  return hx_capture_wrap(capture, argument, type->slots, false, out, report);
}

static const char *given_name(const hx_capture_t *capture, const hx_value_t *value) {
  for (size_t i = 0; i < capture->name_count; ++i) {
    if (capture->names[i].value == value) return capture->names[i].name;
  }
  return NULL;
}

static bool is_taken(const hx_capture_t *capture, const char *name) {
  for (size_t i = 0; i < capture->binding_count; ++i) {
    if (strcmp(capture->bindings[i].symbol, name) == 0) return true;
  }
  for (size_t i = 0; i < capture->switch_count; ++i) {
    if (strcmp(capture->switches[i].symbol, name) == 0) return true;
  }
  for (size_t i = 0; i < capture->name_count; ++i) {
    if (strcmp(capture->names[i].name, name) == 0) return true;
  }
  return false;
}

// %m = material.ref {symbol = @name} at the end of the block.
static hx_status_t add_reference(hx_capture_t *capture, const char *name, const hx_type_t *type, const char **out_name,
                                 hx_ir_value_t **out) {
  const hx_named_attr_t item = {.name = hx_str("symbol"), .value = {.kind = HX_ATTRIBUTE_SYMBOL, .text = hx_str(name)}};
  hx_attrs_t attrs;
  hx_ir_op_t *op;
  HX_TRY(hx_program_attrs(capture->program, &item, 1, &attrs));
  HX_TRY(hx_ir_create(capture->program, HX_OP_MATERIAL_REF, NULL, 0, type, 1, attrs, 0, &op));
  hx_ir_insert(capture->block, NULL, op);
  op->results[0]->name = attrs.items[0].value.text;
  *out_name = attrs.items[0].value.text.data;
  *out = op->results[0];
  return HX_STATUS_OK;
}

static hx_status_t new_name(const hx_capture_t *capture, const char *prefix, char out[HX_NAME_MAX],
                            hx_report_t *report) {
  for (size_t i = 0; i < MATERIALS_MAX; ++i) {
    snprintf(out, HX_NAME_MAX, "%s%zu", prefix, i);
    if (!is_taken(capture, out)) return HX_STATUS_OK;
  }
  return hx_report_fail(report, HX_CODE_LIMIT, "a captured function uses at most %d values of its own", MATERIALS_MAX);
}

static hx_status_t add_binding(hx_capture_t *capture, const hx_value_t *value, hx_ir_value_t **out) {
  char made_name[HX_NAME_MAX];
  const size_t count = capture->binding_count;
  const char *name = given_name(capture, value), *kept;
  HX_TRY(hx_grow(&capture->bindings, &capture->binding_capacity, count + 1, sizeof *capture->bindings));
  HX_TRY(hx_grow(&capture->references, &capture->reference_capacity, count + 1, sizeof(hx_ir_value_t *)));
  if (name == NULL) {
    HX_TRY(new_name(capture, "m", made_name, NULL));
    name = made_name;
  }
  HX_TRY(add_reference(capture, name, &value->type, &kept, out));
  capture->bindings[count] = (hx_binding_t){.symbol = kept, .value = hx_value_retain(value)};
  capture->references[count] = *out;
  capture->binding_count = count + 1;
  return HX_STATUS_OK;
}

hx_status_t hx_capture_operand(hx_capture_t *capture, const hx_value_t *value, const char *what, hx_ir_value_t **out,
                               hx_report_t *report) {
  if (value->symbol.owner == capture) {
    *out = value->symbol.ir_value;
    return HX_STATUS_OK;
  }
  if (value->symbol.owner != NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: an operand is recorded by another capture", what);
  if (value->secret)
    return hx_report_fail(report, HX_CODE_SECRET, "%s: an operand is secret, and captured data goes into programs",
                          what);
  for (size_t i = 0; i < capture->binding_count; ++i) {
    if (capture->bindings[i].value != value) continue;
    *out = capture->references[i];
    return HX_STATUS_OK;
  }
  if (capture->binding_count == MATERIALS_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "a captured function uses at most %d values of its own",
                          MATERIALS_MAX);
  return made(add_binding(capture, value, out), report);
}

// ------------------------------------------------------------------ calls

hx_status_t hx_capture_switch(hx_capture_t *capture, const hx_switch_t *key, hx_ir_value_t **out, hx_report_t *report) {
  for (size_t i = 0; i < capture->switch_count; ++i) {
    if (capture->switches[i].key != key) continue;
    *out = capture->switch_references[i];
    return HX_STATUS_OK;
  }
  const size_t count = capture->switch_count;
  char name[HX_NAME_MAX];
  const char *kept;
  HX_TRY(new_name(capture, "switch", name, report));
  hx_type_t type;
  hx_type_init(&type, HX_TYPE_KEY);
  type.key_kind = HX_KEY_SWITCH;
  if (hx_grow(&capture->switches, &capture->switch_capacity, count + 1, sizeof *capture->switches) != HX_STATUS_OK ||
      hx_grow(&capture->switch_references, &capture->switch_reference_capacity, count + 1, sizeof(hx_ir_value_t *)) !=
          HX_STATUS_OK)
    return no_memory(report);
  HX_TRY(made(add_reference(capture, name, &type, &kept, out), report));
  capture->switches[count] = (hx_switch_binding_t){.symbol = kept, .key = hx_switch_retain(key)};
  capture->switch_references[count] = *out;
  capture->switch_count = count + 1;
  return HX_STATUS_OK;
}

static hx_status_t find_operands(hx_capture_t *capture, const hx_engine_call_t *call, hx_ir_value_t **operands,
                                 size_t *out_count, hx_report_t *report) {
  const char *name = hx_op_info(call->id)->name;
  for (size_t i = 0; i < call->operand_count; ++i)
    HX_TRY(hx_capture_operand(capture, call->operands[i], name, &operands[i], report));
  *out_count = call->operand_count;
  if (call->switch_key == NULL) return HX_STATUS_OK;
  *out_count += 1;
  return hx_capture_switch(capture, call->switch_key, &operands[call->operand_count], report);
}

static hx_status_t record(hx_capture_t *capture, const hx_engine_call_t *call, hx_ir_value_t *const *operands,
                          size_t operand_count, hx_value_t **outs, hx_report_t *report) {
  hx_attrs_t attrs;
  hx_ir_op_t *op;
  HX_TRY(made(hx_program_attrs(capture->program, call->attrs, call->attr_count, &attrs), report));
  HX_TRY(made(hx_ir_build(capture->program, capture->block, NULL, call->id, operands, operand_count, attrs,
                          call->result_count, hx_params_ring(capture->engine.params), report, &op),
              report));
  uint64_t count = 0;
  bool is_complex = false;
  for (size_t i = 0; i < call->operand_count; ++i) {
    if (call->operands[i]->count > count) count = call->operands[i]->count;
    is_complex = is_complex || call->operands[i]->is_complex;
  }
  for (size_t i = 0; i < call->result_count; ++i)
    HX_TRY(hx_capture_wrap(capture, op->results[i], count, is_complex, &outs[i], report));
  return HX_STATUS_OK;
}

hx_status_t hx_capture_call(hx_capture_t *capture, const hx_engine_call_t *call, hx_value_t **outs,
                            hx_report_t *report) {
  hx_ir_value_t **operands = hx_zalloc(call->operand_count + 1, sizeof(hx_ir_value_t *));
  hx_value_t **made_values = hx_zalloc(call->result_count, sizeof *made_values);
  size_t count = 0;
  hx_status_t status = operands == NULL || made_values == NULL ? no_memory(report) : HX_STATUS_OK;
  if (status == HX_STATUS_OK) status = find_operands(capture, call, operands, &count, report);
  if (status == HX_STATUS_OK) status = record(capture, call, operands, count, made_values, report);
  for (size_t i = 0; made_values != NULL && i < call->result_count; ++i) {
    if (status == HX_STATUS_OK) {
      outs[i] = made_values[i];
    } else {
      hx_value_release(made_values[i]);
    }
  }
  hx_free((void *)operands);
  hx_free((void *)made_values);
  return status;
}

hx_status_t hx_capture_of(const hx_value_t *const *values, size_t count, hx_capture_t **out, hx_report_t *report) {
  *out = NULL;
  for (size_t i = 0; i < count; ++i) {
    hx_capture_t *owner = values[i] == NULL ? NULL : values[i]->symbol.owner;
    if (owner == NULL || owner == *out) continue;
    if (*out != NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "values of two captures are mixed");
    *out = owner;
  }
  return HX_STATUS_OK;
}
