// SPDX-License-Identifier: Apache-2.0
// What a result inherits (CLI.md): the largest count of the inputs that it depends on, unless heliox.count says
// otherwise, and complex values where an input or a constant is complex.
#include <string.h>

#include "core/link/executable.h"

const hx_attribute_t *hx_link_port_attr(const hx_ir_op_t *func, const char *list, size_t index, const char *name) {
  const hx_attribute_t *ports = hx_attrs_find(func->attrs, list);
  if (ports == NULL || ports->kind != HX_ATTRIBUTE_LIST || index >= ports->count) return NULL;
  const hx_attribute_t *port = &ports->list[index];
  if (port->kind != HX_ATTRIBUTE_DICT) return NULL;
  for (size_t i = 0; i < port->count; ++i) {
    if (hx_str_equal(port->dict[i].name, hx_str(name))) return &port->dict[i].value;
  }
  return NULL;
}

typedef struct heritage {
  uint64_t *inputs;     // [value_count][words], bit sets
  uint64_t *counts;     // [value_count], from materials
  bool *complex_value;  // [value_count]
  size_t words;
} heritage_t;

static bool uses_complex_constant(const hx_ir_op_t *op) {
  double re, im = 0;
  return (op->info->id == HX_OP_CKKS_ADD_SCALAR || op->info->id == HX_OP_CKKS_MUL_SCALAR) &&
         hx_attrs_get_complex(op->attrs, "value", &re, &im) && im != 0;
}

static void inherit(const heritage_t *heritage, const hx_ir_op_t *op, const hx_linker_t *linker, uint32_t result) {
  uint64_t *set = heritage->inputs + result * heritage->words;
  heritage->complex_value[result] = uses_complex_constant(op);
  for (size_t i = 0; i < op->operand_count; ++i) {
    const uint32_t operand = op->operands[i]->id;
    for (size_t w = 0; w < heritage->words; ++w) set[w] |= heritage->inputs[operand * heritage->words + w];
    if (heritage->counts[operand] > heritage->counts[result]) heritage->counts[result] = heritage->counts[operand];
    heritage->complex_value[result] = heritage->complex_value[result] || heritage->complex_value[operand];
  }
  const uint32_t slot = linker->slot_of[result];
  if (op->info->id != HX_OP_MATERIAL_REF || slot == HX_NONE) return;
  const hx_bound_material_t *material =
      &linker->exe->materials[linker->exe->roots[linker->exe->slots[slot].root].index];
  heritage->counts[result] = material->count;
  heritage->complex_value[result] = material->is_complex;
}

static hx_status_t fill_rules(const hx_linker_t *linker, const heritage_t *heritage, const hx_ir_op_t *func) {
  hx_executable_t *exe = linker->exe;
  for (size_t i = 0; i < exe->output_count; ++i) {
    hx_output_rule_t *rule = &exe->output_rules[i];
    const uint32_t value = linker->block->last->operands[i]->id;
    rule->inputs = hx_arena_alloc(&exe->arena, heritage->words * sizeof *rule->inputs);
    if (rule->inputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
    memcpy(rule->inputs, heritage->inputs + value * heritage->words, heritage->words * sizeof *rule->inputs);
    rule->is_complex = heritage->complex_value[value];
    bool depends = false;
    for (size_t w = 0; w < heritage->words; ++w) depends = depends || rule->inputs[w] != 0;
    rule->least_count = depends ? 0 : heritage->counts[value];
    const hx_attribute_t *written = hx_link_port_attr(func, "res_attrs", i, "heliox.count");
    if (written == NULL || written->kind != HX_ATTRIBUTE_INTEGER || written->integer < 1) continue;
    rule->least_count = (uint64_t)written->integer;
    rule->count_is_written = true;
  }
  return HX_STATUS_OK;
}

hx_status_t hx_link_inherit(hx_linker_t *linker) {
  heritage_t heritage = {.words = (linker->exe->input_count + 63) / 64};
  if (heritage.words == 0) heritage.words = 1;
  heritage.inputs = hx_zalloc(linker->value_count, heritage.words * sizeof *heritage.inputs);
  heritage.counts = hx_zalloc(linker->value_count, sizeof *heritage.counts);
  heritage.complex_value = hx_zalloc(linker->value_count, sizeof *heritage.complex_value);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (heritage.inputs != NULL && heritage.counts != NULL && heritage.complex_value != NULL) {
    for (size_t i = 0; i < linker->block->argument_count; ++i) {
      const uint32_t value = linker->block->arguments[i]->id;
      heritage.inputs[value * heritage.words + i / 64] |= (uint64_t)1 << (i % 64);
    }
    for (const hx_ir_op_t *op = linker->block->first; op != NULL; op = op->next) {
      for (size_t i = 0; i < op->result_count; ++i) inherit(&heritage, op, linker, op->results[i]->id);
    }
    status = fill_rules(linker, &heritage, hx_program_find(linker->exe->program, "main"));
  }
  hx_free(heritage.inputs);
  hx_free(heritage.counts);
  hx_free(heritage.complex_value);
  return status;
}
