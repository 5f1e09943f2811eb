// SPDX-License-Identifier: Apache-2.0
// What a result inherits: secrecy; and (CLI.md) the largest count of the inputs that it depends on, unless heliox.count
// says otherwise, and complex values where an input or a constant is complex.
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

// What one value has, another has too. True if that was new.
static bool hand_on(const heritage_t *heritage, uint32_t from, uint32_t to) {
  bool changed = false;
  for (size_t w = 0; w < heritage->words; ++w) {
    const uint64_t have = heritage->inputs[to * heritage->words + w];
    const uint64_t both = have | heritage->inputs[from * heritage->words + w];
    heritage->inputs[to * heritage->words + w] = both;
    changed = changed || both != have;
  }
  if (heritage->counts[from] > heritage->counts[to]) {
    heritage->counts[to] = heritage->counts[from];
    changed = true;
  }
  if (heritage->complex_value[from] && !heritage->complex_value[to]) heritage->complex_value[to] = changed = true;
  return changed;
}

typedef struct heirs {
  const heritage_t *heritage;
  const hx_linker_t *linker;
  bool changed;
} heirs_t;

static hx_status_t hand_through(hx_ir_value_t *from, hx_ir_value_t *to, void *argument) {
  heirs_t *heirs = argument;
  if (hand_on(heirs->heritage, from->id, to->id)) heirs->changed = true;
  return HX_STATUS_OK;
}

static void take_material(const heirs_t *heirs, const hx_ir_op_t *op) {
  const uint32_t result = op->results[0]->id, slot = heirs->linker->slot_of[result];
  if (slot == HX_NONE) return;
  const hx_executable_t *exe = heirs->linker->exe;
  const hx_bound_material_t *material = &exe->materials[exe->roots[exe->slots[slot].root].index];
  heirs->heritage->counts[result] = material->count;
  heirs->heritage->complex_value[result] = material->is_complex;
}

static hx_status_t inherit(hx_ir_op_t *op, void *argument) {
  heirs_t *heirs = argument;
  if (op->info->id == HX_OP_FUNC) return HX_STATUS_OK;
  if (op->region_count > 0) return hx_ir_flows(op, hand_through, heirs);
  if (op->info->id == HX_OP_MATERIAL_REF) take_material(heirs, op);
  for (size_t r = 0; r < op->result_count; ++r) {
    const uint32_t result = op->results[r]->id;
    if (uses_complex_constant(op)) heirs->heritage->complex_value[result] = true;
    for (size_t i = 0; i < op->operand_count; ++i) {
      if (hand_on(heirs->heritage, op->operands[i]->id, result)) heirs->changed = true;
    }
  }
  return HX_STATUS_OK;
}

// Round and round until loops give nothing new: sets only grow, so it ends. Only loops need a second round.
static void spread(const heritage_t *heritage, const hx_linker_t *linker, hx_ir_op_t *func) {
  heirs_t heirs = {.heritage = heritage, .linker = linker};
  do {
    heirs.changed = false;
    (void)hx_ir_walk_post(func, inherit, &heirs);  // what a region gives is known when its owner is asked
  } while (heirs.changed && linker->exe->loop_count > 0);
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
    hx_ir_op_t *func = hx_program_find(linker->exe->program, "main");
    for (size_t i = 0; i < linker->block->argument_count; ++i) {
      const uint32_t value = linker->block->arguments[i]->id;
      heritage.inputs[value * heritage.words + i / 64] |= (uint64_t)1 << (i % 64);
    }
    spread(&heritage, linker, func);
    status = fill_rules(linker, &heritage, func);
  }
  hx_free(heritage.inputs);
  hx_free(heritage.counts);
  hx_free(heritage.complex_value);
  return status;
}

// ------------------------------------------------------------------ secrecy

typedef struct secrets {
  bool *is_secret;
  bool changed, loops;
} secrets_t;

static hx_status_t tell(hx_ir_value_t *from, hx_ir_value_t *to, void *argument) {
  secrets_t *secrets = argument;
  if (!secrets->is_secret[from->id] || secrets->is_secret[to->id]) return HX_STATUS_OK;
  secrets->is_secret[to->id] = secrets->changed = true;
  return HX_STATUS_OK;
}

static hx_status_t tell_results(hx_ir_op_t *op, void *argument) {
  secrets_t *secrets = argument;
  if (op->info->id == HX_OP_FUNC) return HX_STATUS_OK;
  if (op->region_count > 0) {
    secrets->loops = secrets->loops || op->info->id != HX_OP_SCF_IF;
    return hx_ir_flows(op, tell, secrets);
  }
  for (size_t i = 0; i < op->operand_count; ++i) {
    for (size_t r = 0; r < op->result_count; ++r) HX_TRY(tell(op->operands[i], op->results[r], secrets));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_link_spread_secrets(hx_linker_t *linker) {
  hx_executable_t *exe = linker->exe;
  secrets_t secrets = {.is_secret = linker->is_secret};
  for (size_t i = 0; i < exe->input_count; ++i)
    secrets.is_secret[linker->block->arguments[i]->id] = exe->secret_inputs[i];
  do {
    secrets.changed = false;
    HX_TRY(hx_ir_walk_post(hx_program_find(exe->program, "main"), tell_results, &secrets));
  } while (secrets.changed && secrets.loops);
  return HX_STATUS_OK;
}
