// SPDX-License-Identifier: Apache-2.0
// select-by-cost - keeps an operation whole, or marks it for lowering, asks for the implementation that was measured to
// be the fastest (of transforms too, in a lowered program), and decides for chains that the target fuses (fusion.def)
// whether they become one region. The table of measurements is the target's (compile --tune); where it has no row for
// an operation nothing is chosen, and the record says so. In: a verified program, state inferred; a table. Keeps:
// results bit for bit: whole and lowered forms agree, and so do implementations, and regions and their operations.
// Choices are hard requests: heliox.implementation, heliox.lower for `lower`, heliox.region and heliox.apart for
// `fuse`. Operations that ask for an implementation already, or belong to a region, stay as they are.
#include <string.h>

#include "core/passes/costs.h"
#include "core/passes/fuse.h"

#define GAIN 0.97  // a form has to be this much faster: least of several runs still vary by a percent or two

typedef struct hx_selection {
  hx_program_t *program;
  const hx_pass_env_t *env;
  hx_text_t shape;
  const hx_ir_op_t *func;  // around the operation
  int64_t region;          // the next one
  bool changed;
} hx_selection_t;

static hx_status_t set(hx_selection_t *selection, hx_ir_op_t *op, const char *name, const hx_attribute_t *value) {
  const hx_attribute_t *before = hx_attrs_find(op->attrs, name);
  if (before != NULL && before->kind == value->kind && before->integer == value->integer &&
      hx_str_equal(before->text, value->text))
    return HX_STATUS_OK;
  selection->changed = true;
  return hx_ir_set_attr(selection->program, op, name, value);
}

// The fastest of the rows "implementation NAME" of an operation and shape, or NULL.
static const char *fastest(const hx_costs_t *costs, const char *operation, const char *shape, double *out) {
  static const char prefix[] = "implementation ";
  const char *best = NULL;
  for (size_t i = 0; i < costs->count; ++i) {
    const hx_cost_t *row = &costs->rows[i];
    if (strncmp(row->candidate, prefix, sizeof prefix - 1) != 0 || strcmp(row->operation, operation) != 0) continue;
    if (costs->device == NULL || strcmp(row->device, costs->device) != 0 || strcmp(row->digest, costs->digest) != 0)
      continue;
    if (strcmp(row->shape, shape) != 0 || (best != NULL && row->nanoseconds >= *out)) continue;
    best = row->candidate + sizeof prefix - 1;
    *out = row->nanoseconds;
  }
  return best;
}

static hx_status_t choose(hx_selection_t *selection, hx_ir_op_t *op) {
  const hx_costs_t *costs = selection->env->costs;
  const char *name = op->info->name, *shape = selection->shape.data;
  const double whole = hx_costs_find(costs, name, shape, "whole"),
               lowered = hx_costs_find(costs, name, shape, "lowered");
  double single = 0;
  const char *implementation = fastest(costs, name, shape, &single);
  const bool is_primitive = op->info->tier == HX_TIER_PRIMITIVE;
  if (is_primitive) {  // nothing to lower
    if (implementation == NULL) return HX_STATUS_OK;
  } else if (whole > 0 && lowered > 0) {
    const bool is_lowered = lowered < GAIN * whole;
    hx_decide(selection->env, op, is_lowered ? "lowered" : "whole", "whole, lowered",
              "measured: whole %.1f us, lowered %.1f us", whole * 1e-3, lowered * 1e-3);
    const hx_attribute_t unit = {.kind = HX_ATTRIBUTE_UNIT};
    if (is_lowered) return set(selection, op, "heliox.lower", &unit);
  } else {
    hx_decide(selection->env, op, "as it is", "whole, lowered", "not measured on this device: %s",
              whole > 0 ? "no lowered form in the table" : "no row in the table");
  }
  if (implementation == NULL) return HX_STATUS_OK;
  hx_decide(selection->env, op, implementation, "implementations in the table", "measured: %.1f us, the least",
            single * 1e-3);
  const hx_attribute_t request = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(implementation)};
  return set(selection, op, "heliox.implementation", &request);
}

// Chains first: what is fused is neither lowered nor asked for by implementation.
static hx_status_t choose_region(hx_selection_t *selection, hx_ir_op_t *op) {
  const hx_pass_env_t *env = selection->env;
  hx_ir_op_t *ops[HX_FUSED_MAX];
  const char *kind = NULL;
  const size_t count = hx_fusion_match(env, selection->func, op, ops, &kind);
  if (count == 0) return HX_STATUS_OK;
  const hx_status_t status = hx_fusion_shape(kind, ops, count, env->ring, &selection->shape);
  if (status != HX_STATUS_OK) return status == HX_STATUS_INVALID ? HX_STATUS_OK : status;
  const double fused = hx_costs_find(env->costs, "fusion.region", selection->shape.data, "fused"),
               apart = hx_costs_find(env->costs, "fusion.region", selection->shape.data, "apart");
  if (fused <= 0 || apart <= 0) {
    hx_decide(env, op, "as it is", "one region, apart", "not measured on this device: no row in the table");
    return HX_STATUS_OK;
  }
  const bool is_fused = fused < apart;
  hx_decide(env, op, is_fused ? "one region" : "apart", "one region, apart", "measured: fused %.1f us, apart %.1f us",
            fused * 1e-3, apart * 1e-3);
  const hx_attribute_t number = {.kind = HX_ATTRIBUTE_INTEGER, .integer = selection->region},
                       unit = {.kind = HX_ATTRIBUTE_UNIT};
  // Apart: the first one alone, since a shorter chain that begins at the second has measurements of its own.
  if (!is_fused) return set(selection, op, HX_APART_ATTR, &unit);
  selection->region += 1;
  for (size_t i = 0; i < count; ++i) HX_TRY(set(selection, ops[i], HX_REGION_ATTR, &number));
  return HX_STATUS_OK;
}

static hx_status_t visit(hx_ir_op_t *op, void *argument) {
  hx_selection_t *selection = argument;
  if (op->info->id == HX_OP_FUNC) selection->func = op;
  if (selection->func != NULL && op->result_count > 0) HX_TRY(choose_region(selection, op));
  if (hx_attrs_find(op->attrs, HX_REGION_ATTR) != NULL) return HX_STATUS_OK;
  const bool is_choice = op->info->tier == HX_TIER_WHOLE || op->info->tier == HX_TIER_DERIVED ||
                         op->info->id == HX_OP_NTT_FORWARD || op->info->id == HX_OP_NTT_INVERSE;
  if (!is_choice || (op->info->flags & HX_OP_FLAG_VIEW) != 0) return HX_STATUS_OK;
  if (hx_attrs_find(op->attrs, "heliox.implementation") != NULL) return HX_STATUS_OK;
  const hx_status_t status = hx_cost_shape(op, selection->env->ring, &selection->shape);
  return status == HX_STATUS_OK ? choose(selection, op) : status == HX_STATUS_INVALID ? HX_STATUS_OK : status;
}

hx_status_t hx_pass_select_by_cost(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  *out_changed = false;
  if (env->costs == NULL) {
    hx_decide(env, NULL, "nothing", "whole, lowered", "no table of measurements is given; compile --tune makes one");
    return HX_STATUS_OK;
  }
  hx_selection_t selection = {.program = program, .env = env, .region = hx_fusion_next_region(program)};
  hx_text_init(&selection.shape);
  const hx_status_t status = hx_ir_walk(program->module, visit, &selection);
  hx_text_deinit(&selection.shape);
  *out_changed = selection.changed;
  return status;
}
