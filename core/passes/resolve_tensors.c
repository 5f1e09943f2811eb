// SPDX-License-Identifier: Apache-2.0
// resolve-tensors - every value gets its tensor facts: references take what is open from the values that are bound to
// their symbols, state flows forward, and what still has no shape is refused, naming the value.
// In: a verified program. Keeps: everything but the types of values, which only become better known. A written fact
// that disagrees with what is bound is a fault at the reference.
#include "core/ops/parts.h"
#include "core/passes/passes.h"

// What the memory of a value depends on.
#define SHAPE_PARTS (HX_KNOWN_BATCH | HX_KNOWN_COMPONENTS | HX_KNOWN_PRIMES)

typedef struct hx_tensor_facts {
  hx_program_t *program;
  hx_pass_env_t *env;
  bool changed;
  hx_status_t first;
} hx_tensor_facts_t;

static hx_status_t fail(hx_tensor_facts_t *facts, hx_status_t status) {
  if (facts->first == HX_STATUS_OK) facts->first = status;
  return status == HX_STATUS_OUT_OF_MEMORY ? status : HX_STATUS_OK;
}

static hx_status_t take_bound(hx_ir_op_t *op, void *argument) {
  hx_tensor_facts_t *facts = argument;
  const hx_attribute_t *symbol = op->info->id == HX_OP_MATERIAL_REF ? hx_attrs_find(op->attrs, "symbol") : NULL;
  if (symbol == NULL || hx_attrs_find(op->attrs, "heliox.prepare") != NULL) return HX_STATUS_OK;
  const hx_type_t *bound = facts->env->find_material(facts->env->material_argument, symbol->text);
  hx_ir_value_t *value = op->results[0];
  if (bound == NULL) return HX_STATUS_OK;
  const char *part = "kind";
  if (bound->kind != value->type->kind || !hx_type_agrees(value->type, bound, &part)) {
    return fail(facts, hx_report_fail_at(facts->env->report, HX_CODE_MATERIAL, facts->program->source, op->line,
                                         op->column, "material.ref: what is bound to @%.*s has another %s than it says",
                                         (int)symbol->text.size, symbol->text.data, part));
  }
  hx_type_t merged;
  hx_type_copy(&merged, value->type);
  hx_type_merge(&merged, bound);
  const hx_type_t *interned = hx_program_type(facts->program, &merged);
  if (interned == NULL) return HX_STATUS_OUT_OF_MEMORY;
  facts->changed = facts->changed || interned != value->type;
  hx_ir_set_type(facts->program, value, interned);
  return HX_STATUS_OK;
}

static hx_status_t want_shape(hx_ir_op_t *op, void *argument) {
  hx_tensor_facts_t *facts = argument;
  for (size_t i = 0; i < op->result_count; ++i) {
    const hx_ir_value_t *value = op->results[i];
    const uint32_t missing = hx_type_parts(value->type->kind) & SHAPE_PARTS & ~value->type->known;
    if (missing == 0) continue;
    const char *what = (missing & HX_KNOWN_BATCH) != 0        ? "batch"
                       : (missing & HX_KNOWN_COMPONENTS) != 0 ? "components"
                                                              : "rows (primes, or depth under parameters)";
    HX_TRY(
        fail(facts, hx_report_fail_at(facts->env->report, HX_CODE_SHAPE, facts->program->source, op->line, op->column,
                                      "%s: the shape of result %zu%s%.*s is not known (open: %s); write it into the "
                                      "types of inputs, or bind the materials",
                                      op->info->name, i, value->name.size > 0 ? ", %" : "", (int)value->name.size,
                                      value->name.size > 0 ? value->name.data : "", what)));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_pass_resolve_tensors(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_tensor_facts_t facts = {.program = program, .env = env};
  bool inferred = false;
  if (env->find_material != NULL) HX_TRY(hx_ir_walk(program->module, take_bound, &facts));
  if (facts.first == HX_STATUS_OK) facts.first = hx_pass_infer_state(program, env, &inferred);
  if (facts.first == HX_STATUS_OK) HX_TRY(hx_ir_walk(program->module, want_shape, &facts));
  *out_changed = facts.changed || inferred;
  return facts.first;
}
