// SPDX-License-Identifier: Apache-2.0
// Programs built by calls: one function @main, operation after operation, types inferred as they come.
#include "core/circuits/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/ckks/encode.h"
#include "core/compile/compilation.h"

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a program");
}

static hx_ir_value_t *value_of(const hx_node_t *node) { return (hx_ir_value_t *)(uintptr_t)node; }

static const hx_ir_block_t *home_of(const hx_ir_value_t *value) {
  return value->op != NULL ? value->op->block : value->block;
}

// ------------------------------------------------------------------ creation

static hx_status_t set_module_params(hx_builder_t *builder) {
  const char *name = hx_params_name(builder->params);
  const hx_attribute_t text = {.kind = HX_ATTRIBUTE_TEXT,
                               .text = hx_str(name[0] != '\0' ? name : hx_params_digest_hex(builder->params))};
  return hx_ir_set_attr(builder->program, builder->program->module, "heliox.params", &text);
}

static hx_status_t add_main(hx_builder_t *builder) {
  HX_TRY(hx_program_create("builder", &builder->program));
  HX_TRY(set_module_params(builder));
  const hx_named_attr_t name = {.name = hx_str("sym_name"),
                                .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("main")}};
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(builder->program, &name, 1, &attrs));
  HX_TRY(hx_ir_create(builder->program, HX_OP_FUNC, NULL, 0, NULL, 0, attrs, 1, &builder->func));
  hx_ir_insert(builder->program->module->regions[0]->block, NULL, builder->func);
  builder->block = hx_func_block(builder->func);
  return HX_STATUS_OK;
}

hx_status_t hx_builder_create(const hx_params_t *params, hx_builder_t **out, hx_report_t *report) {
  if (params == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_create: parameters or out is NULL");
  hx_builder_t *builder = hx_zalloc(1, sizeof *builder);
  if (builder == NULL) return no_memory(report);
  builder->params = hx_params_retain(params);
  if (add_main(builder) != HX_STATUS_OK) {
    hx_builder_release(builder);
    return no_memory(report);
  }
  *out = builder;
  return HX_STATUS_OK;
}

void hx_builder_release(hx_builder_t *builder) {
  if (builder == NULL) return;
  for (size_t i = 0; i < builder->input_count; ++i) hx_free(builder->inputs[i].name);
  for (size_t i = 0; i < builder->output_count; ++i) hx_free(builder->outputs[i].name);
  for (size_t i = 0; i < builder->weight_count; ++i) hx_free(builder->weights[i].values);
  hx_free(builder->inputs);
  hx_free(builder->outputs);
  hx_free(builder->weights);
  hx_program_release(builder->program);
  hx_params_release(builder->params);
  hx_free(builder);
}

// ------------------------------------------------------------------ steps

static hx_status_t check_open(const hx_builder_t *builder, const char *what, hx_report_t *report) {
  if (builder == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: the builder is NULL", what);
  if (builder->finished)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "%s: the builder has handed its program over; create another for more steps", what);
  return HX_STATUS_OK;
}

static hx_status_t state_of(const hx_builder_t *builder, hx_type_kind_t kind, const hx_node_options_t *options,
                            hx_type_t *out, hx_report_t *report) {
  static const hx_node_options_t defaults = {0};
  if (options == NULL) options = &defaults;
  const hx_ring *ring = hx_params_ring(builder->params);
  hx_scale_t scale;
  hx_scale_copy(&scale, hx_params_default_scale(builder->params));
  if (options->scale != NULL) HX_TRY(hx_scale_parse(hx_str(options->scale), ring, &scale, report));
  if (options->depth > hx_ring_max_depth(ring))
    return hx_report_fail(report, HX_CODE_NO_DEPTH, "depth is %u; these parameters have depths 0 to %u", options->depth,
                          hx_ring_max_depth(ring));
  hx_plaintext_type(builder->params, options->depth, options->slots != 0 ? options->slots : 1u << (ring->log_n - 1),
                    &scale, out);
  out->kind = kind;
  if (kind == HX_TYPE_CIPHERTEXT) out->components = 2;
  if (kind == HX_TYPE_PLAINTEXT && options->weighted) {
    const hx_primes_t special = hx_ring_special(ring);
    for (size_t i = 0; i < HX_COUNT_OF(special.bits); ++i) out->primes.bits[i] |= special.bits[i];
    out->basis = HX_BASIS_QP;
  }
  return hx_type_verify(out, ring, (hx_place_t){0}, report);
}

hx_status_t hx_builder_input(hx_builder_t *builder, const char *name, const hx_node_options_t *options, hx_node_t **out,
                             hx_report_t *report) {
  HX_TRY(check_open(builder, "hx_builder_input", report));
  if (name == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_input: name or out is NULL");
  for (size_t i = 0; i < builder->input_count; ++i)
    if (strcmp(builder->inputs[i].name, name) == 0)
      return hx_report_fail(report, HX_CODE_SYMBOL_NAME, "there is an input \"%.100s\" already; give another name",
                            name);
  hx_type_t type;
  HX_TRY(state_of(builder, HX_TYPE_CIPHERTEXT, options, &type, report));
  const hx_type_t *kept = hx_program_type(builder->program, &type);
  char *copy = hx_strdup(name);
  hx_ir_value_t *value = NULL;
  if (kept == NULL || copy == NULL ||
      hx_grow(&builder->inputs, &builder->input_capacity, builder->input_count + 1, sizeof *builder->inputs) !=
          HX_STATUS_OK ||
      hx_ir_add_argument(builder->program, builder->block, kept, &value) != HX_STATUS_OK) {
    hx_free(copy);
    return no_memory(report);
  }
  builder->inputs[builder->input_count++] = (hx_builder_port_t){.name = copy, .value = value};
  *out = (hx_node_t *)value;
  return HX_STATUS_OK;
}

static hx_status_t add_reference(hx_builder_t *builder, const hx_type_t *type, hx_ir_value_t **out) {
  char symbol[32];
  snprintf(symbol, sizeof symbol, "weight%zu", builder->weight_count);
  const hx_named_attr_t item = {.name = hx_str("symbol"),
                                .value = {.kind = HX_ATTRIBUTE_SYMBOL, .text = hx_str(symbol)}};
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(builder->program, &item, 1, &attrs));
  hx_ir_op_t *op;
  HX_TRY(hx_ir_create(builder->program, HX_OP_MATERIAL_REF, NULL, 0, type, 1, attrs, 0, &op));
  hx_ir_insert(builder->block, NULL, op);
  *out = op->results[0];
  return HX_STATUS_OK;
}

static hx_status_t add_plain(hx_builder_t *builder, const hx_numbers_t *numbers, const hx_type_t *type, hx_node_t **out,
                             hx_report_t *report) {
  const size_t bytes = numbers->count * (numbers->is_complex ? 2 : 1) * sizeof(double);
  double *copy = hx_alloc(bytes);
  hx_ir_value_t *value = NULL;
  if (copy == NULL ||
      hx_grow(&builder->weights, &builder->weight_capacity, builder->weight_count + 1, sizeof *builder->weights) !=
          HX_STATUS_OK ||
      add_reference(builder, type, &value) != HX_STATUS_OK) {
    hx_free(copy);
    return no_memory(report);
  }
  memcpy(copy, numbers->values, bytes);
  builder->weights[builder->weight_count++] = (hx_builder_weight_t){
      .values = copy, .count = numbers->count, .is_complex = numbers->is_complex, .period = numbers->period};
  *out = (hx_node_t *)value;
  return HX_STATUS_OK;
}

hx_status_t hx_builder_plain(hx_builder_t *builder, const double *values, size_t count, bool complex_values,
                             const hx_node_options_t *options, hx_node_t **out, hx_report_t *report) {
  HX_TRY(check_open(builder, "hx_builder_plain", report));
  if (values == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_plain: values or out is NULL");
  hx_type_t type;
  HX_TRY(state_of(builder, HX_TYPE_PLAINTEXT, options, &type, report));
  if (count == 0 || count > type.slots)
    return hx_report_fail(report, HX_CODE_LENGTH, "there are %zu values for %u slots; give 1 to %u", count, type.slots,
                          type.slots);
  for (size_t i = 0; i < count * (complex_values ? 2 : 1); ++i)
    if (!isfinite(values[i]))
      return hx_report_fail(report, HX_CODE_VALUE, "number %zu of a plaintext is not finite", i);
  const hx_numbers_t numbers = {.values = values, .count = count, .is_complex = complex_values};
  return add_plain(builder, &numbers, &type, out, report);
}

static hx_status_t add_op(hx_builder_t *builder, hx_op_id_t id, hx_attrs_t attrs, hx_node_t *const *operands,
                          size_t operand_count, hx_node_t **results, size_t result_count, hx_report_t *report) {
  const hx_op_info_t *info = hx_op_info(id);
  hx_ir_value_t **values = hx_zalloc(operand_count + 1, sizeof *values);
  if (values == NULL) return no_memory(report);
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < operand_count && status == HX_STATUS_OK; ++i) {
    values[i] = value_of(operands[i]);
    if (values[i] == NULL || home_of(values[i]) != builder->block)
      status = hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: operand %zu is NULL or another builder's",
                              info->name, i);
  }
  hx_ir_op_t *op = NULL;
  const size_t before = hx_report_count(report);
  if (status == HX_STATUS_OK)
    status = hx_ir_build(builder->program, builder->block, NULL, id, values, operand_count, attrs, result_count,
                         hx_params_ring(builder->params), report, &op);
  hx_free((void *)values);
  if (status == HX_STATUS_OUT_OF_MEMORY && hx_report_count(report) == before) return no_memory(report);
  if (status != HX_STATUS_OK) return status;
  for (size_t i = 0; i < result_count; ++i) results[i] = (hx_node_t *)op->results[i];
  return HX_STATUS_OK;
}

hx_status_t hx_builder_op(hx_builder_t *builder, const char *operation, hx_node_t *const *operands,
                          size_t operand_count, const char *attributes, hx_node_t **results, size_t result_count,
                          hx_report_t *report) {
  HX_TRY(check_open(builder, "hx_builder_op", report));
  if (operation == NULL || (operand_count > 0 && operands == NULL) || (result_count > 0 && results == NULL))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_op: operation or an array is NULL");
  const hx_op_id_t id = hx_op_find(hx_str(operation));
  if (id == HX_OP_UNKNOWN)
    return hx_report_fail(report, HX_CODE_UNKNOWN_OPERATION, "no operation is called \"%.100s\"", operation);
  if (hx_op_info(id)->tier == HX_TIER_STRUCTURE || id == HX_OP_MATERIAL_REF || id == HX_OP_RESOURCE_REF)
    return hx_report_fail(report, HX_CODE_UNKNOWN_OPERATION,
                          "%s is not built by hx_builder_op; use the builder's other calls, or write the program as "
                          "text",
                          operation);
  hx_attrs_t attrs = {0};
  if (attributes != NULL) HX_TRY(hx_program_parse_attrs(builder->program, hx_str(attributes), &attrs, report));
  return add_op(builder, id, attrs, operands, operand_count, results, result_count, report);
}

hx_status_t hx_builder_output(hx_builder_t *builder, const char *name, hx_node_t *node, hx_report_t *report) {
  HX_TRY(check_open(builder, "hx_builder_output", report));
  if (name == NULL || node == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_output: name or node is NULL");
  if (home_of(value_of(node)) != builder->block)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_output: the node is another builder's");
  for (size_t i = 0; i < builder->output_count; ++i)
    if (strcmp(builder->outputs[i].name, name) == 0)
      return hx_report_fail(report, HX_CODE_SYMBOL_NAME, "there is an output \"%.100s\" already; give another name",
                            name);
  char *copy = hx_strdup(name);
  if (copy == NULL || hx_grow(&builder->outputs, &builder->output_capacity, builder->output_count + 1,
                              sizeof *builder->outputs) != HX_STATUS_OK) {
    hx_free(copy);
    return no_memory(report);
  }
  builder->outputs[builder->output_count++] = (hx_builder_port_t){.name = copy, .value = value_of(node)};
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ as a target

static hx_status_t target_run(const hx_target_t *target, const hx_step_t *step, hx_node_t **results,
                              hx_report_t *report) {
  hx_builder_t *builder = target->owner;
  hx_attrs_t attrs;
  if (hx_program_attrs(builder->program, step->attrs, step->attr_count, &attrs) != HX_STATUS_OK)
    return no_memory(report);
  return add_op(builder, step->id, attrs, step->operands, step->operand_count, results, step->result_count, report);
}

static hx_status_t target_plain(const hx_target_t *target, const hx_numbers_t *numbers, const hx_type_t *type,
                                hx_node_t **out, hx_report_t *report) {
  return add_plain(target->owner, numbers, type, out, report);
}

static const hx_type_t *target_type(const hx_node_t *node) { return value_of(node)->type; }
static hx_node_t *target_retain(hx_node_t *node) { return node; }
static void target_release(hx_node_t *node) { (void)node; }

hx_status_t hx_builder_target(hx_builder_t *builder, const char *what, hx_target_t *out, hx_report_t *report) {
  static const hx_target_table_t table = {.run = target_run,
                                          .plain = target_plain,
                                          .type = target_type,
                                          .retain = target_retain,
                                          .release = target_release};
  HX_TRY(check_open(builder, what, report));
  *out = (hx_target_t){.table = &table, .params = builder->params, .owner = builder};
  return HX_STATUS_OK;
}
