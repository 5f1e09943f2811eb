// SPDX-License-Identifier: Apache-2.0
// The product over a target: single rotations, or baby and giant steps merged.
#include <string.h>

#include "core/base/memory.h"
#include "core/circuits/matrix.h"

typedef struct product {
  const hx_target_t *target;
  const hx_matrix_t *matrix;
  hx_type_t weight_type;
  hx_matrix_weight_fn weight;
  void *argument;
  hx_report_t *report;
} product_t;

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a matrix product");
}

static void release_all(const hx_target_t *target, hx_node_t **nodes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (nodes[i] != NULL) target->table->release(nodes[i]);
  hx_free((void *)nodes);
}

// A step by 0 is the value itself.
static hx_status_t rotate(const hx_target_t *target, hx_node_t *a, uint32_t step, hx_node_t **out,
                          hx_report_t *report) {
  if (step == 0) {
    *out = target->table->retain(a);
    return HX_STATUS_OK;
  }
  return hx_emit_integer(target, HX_OP_CKKS_ROTATE, a, "step", step, out, report);
}

// ------------------------------------------------------------------ single steps

// One group: the sum of its diagonals times the rotations, turned by the giant step.
static hx_status_t add_group(const product_t *p, uint32_t g, hx_node_t *const *rotated, hx_node_t **sum) {
  const hx_target_t *target = p->target;
  hx_node_t *inner = NULL;
  hx_status_t status = HX_STATUS_OK;
  for (uint32_t b = 0; b < p->matrix->baby_count && status == HX_STATUS_OK; ++b) {
    if (!hx_matrix_has(p->matrix, g, b)) continue;
    hx_node_t *weight = NULL, *term = NULL;
    status = p->weight(p->argument, g, b, &p->weight_type, &weight, p->report);
    if (status != HX_STATUS_OK) break;
    status = hx_emit_binary(target, HX_OP_CKKS_MUL_PLAIN, rotated[b], weight, &term, p->report);
    target->table->release(weight);
    if (status == HX_STATUS_OK) status = hx_emit_accumulate(target, &inner, term, p->report);
  }
  hx_node_t *turned = NULL;
  if (status == HX_STATUS_OK) status = rotate(target, inner, p->matrix->giants[g], &turned, p->report);
  if (inner != NULL) target->table->release(inner);
  return status == HX_STATUS_OK ? hx_emit_accumulate(target, sum, turned, p->report) : status;
}

static hx_status_t emit_plain(const product_t *p, hx_node_t *x, hx_node_t **sum) {
  const uint32_t babies = p->matrix->baby_count;
  hx_node_t **rotated = hx_zalloc(babies, sizeof *rotated);
  if (rotated == NULL) return no_memory(p->report);
  hx_status_t status = HX_STATUS_OK;
  for (uint32_t b = 0; b < babies && status == HX_STATUS_OK; ++b)
    status = rotate(p->target, x, p->matrix->babies[b], &rotated[b], p->report);
  for (uint32_t g = 0; g < p->matrix->giant_count && status == HX_STATUS_OK; ++g)
    status = add_group(p, g, rotated, sum);
  release_all(p->target, rotated, babies);
  return status;
}

// ------------------------------------------------------------------ merged steps

static hx_attribute_t list_of(const uint32_t *steps, uint32_t count, hx_attribute_t *room) {
  for (uint32_t i = 0; i < count; ++i)
    room[i] = (hx_attribute_t){.kind = HX_ATTRIBUTE_INTEGER, .integer = (int64_t)steps[i]};
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_LIST, .list = room, .count = count};
}

// x and all weights, group by group, then the sums of the groups.
static hx_status_t weighted_sums(const product_t *p, hx_node_t *x, hx_node_t **operands, hx_attribute_t *room,
                                 hx_node_t **groups) {
  const uint32_t babies = p->matrix->baby_count, giants = p->matrix->giant_count;
  operands[0] = p->target->table->retain(x);
  for (uint32_t g = 0; g < giants; ++g)
    for (uint32_t b = 0; b < babies; ++b)
      HX_TRY(p->weight(p->argument, g, b, &p->weight_type, &operands[1 + (size_t)g * babies + b], p->report));
  const hx_named_attr_t attrs[] = {
      {.name = hx_str("groups"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = (int64_t)giants}},
      {.name = hx_str("steps"), .value = list_of(p->matrix->babies, babies, room)}};
  const hx_step_t step = {.id = HX_OP_CKKS_ROTATE_WEIGHTED_SUM,
                          .attrs = attrs,
                          .attr_count = HX_COUNT_OF(attrs),
                          .operands = operands,
                          .operand_count = 1 + (size_t)giants * babies,
                          .result_count = giants};
  return p->target->table->run(p->target, &step, groups, p->report);
}

static hx_status_t rotate_sum(const product_t *p, hx_node_t **groups, hx_attribute_t *room, hx_node_t **out) {
  const uint32_t giants = p->matrix->giant_count;
  if (giants == 1) return rotate(p->target, groups[0], p->matrix->giants[0], out, p->report);
  const hx_named_attr_t attrs[] = {{.name = hx_str("steps"), .value = list_of(p->matrix->giants, giants, room)}};
  const hx_step_t step = {.id = HX_OP_CKKS_ROTATE_SUM,
                          .attrs = attrs,
                          .attr_count = 1,
                          .operands = groups,
                          .operand_count = giants,
                          .result_count = 1};
  return p->target->table->run(p->target, &step, out, p->report);
}

static hx_status_t emit_merged(const product_t *p, hx_node_t *x, hx_node_t **sum) {
  const uint32_t babies = p->matrix->baby_count, giants = p->matrix->giant_count;
  const size_t operand_count = 1 + (size_t)giants * babies;
  hx_node_t **operands = hx_zalloc(operand_count, sizeof *operands);
  hx_node_t **groups = hx_zalloc(giants, sizeof *groups);
  hx_attribute_t *room = hx_zalloc(babies > giants ? babies : giants, sizeof *room);
  hx_status_t status = operands == NULL || groups == NULL || room == NULL ? no_memory(p->report) : HX_STATUS_OK;
  if (status == HX_STATUS_OK) status = weighted_sums(p, x, operands, room, groups);
  if (operands != NULL) release_all(p->target, operands, operand_count);
  if (status == HX_STATUS_OK) status = rotate_sum(p, groups, room, sum);
  if (groups != NULL) release_all(p->target, groups, giants);
  hx_free(room);
  return status;
}

// ------------------------------------------------------------------ the whole

// Weights whose product with x is at the scale asked for after the rescale.
static hx_status_t weight_state(const hx_target_t *target, const hx_matrix_t *matrix, const hx_type_t *x,
                                const char *scale, bool merged, hx_type_t *out, hx_report_t *report) {
  const hx_ring *ring = hx_params_ring(target->params);
  hx_scale_t wanted;
  hx_scale_copy(&wanted, &x->scale);
  if (scale != NULL) HX_TRY(hx_scale_parse(hx_str(scale), ring, &wanted, report));
  hx_type_copy(out, x);
  out->kind = HX_TYPE_PLAINTEXT;
  out->components = 1;
  out->batch_rank = 0;
  memset(out->batch_shape, 0, sizeof out->batch_shape);
  HX_TRY(hx_scale_before_rescale(&wanted, ring, x->depth, &out->scale, report));
  HX_TRY(hx_scale_ratio(&out->scale, &x->scale, &out->scale, report));
  if (merged) {
    const hx_primes_t special = hx_ring_special(ring);
    for (size_t i = 0; i < HX_COUNT_OF(special.bits); ++i) out->primes.bits[i] |= special.bits[i];
    out->basis = HX_BASIS_QP;
  }
  if (x->slots == matrix->options.slots) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_SLOTS_MISMATCH,
                        "the matrix is laid out for %u slots, the vector has %u; create the matrix for the vector's",
                        matrix->options.slots, x->slots);
}

// Adds the parts that stand `row_period` apart.
static hx_status_t fold(const product_t *p, hx_node_t **sum) {
  for (uint32_t step = p->matrix->row_period; step < p->matrix->width; step *= 2) {
    hx_node_t *turned = NULL;
    HX_TRY(rotate(p->target, *sum, step, &turned, p->report));
    HX_TRY(hx_emit_accumulate(p->target, sum, turned, p->report));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_emit_matrix(const hx_target_t *target, const hx_matrix_t *matrix, hx_node_t *x, const char *scale,
                           bool merged, hx_matrix_weight_fn weight, void *argument, hx_node_t **out,
                           hx_report_t *report) {
  HX_TRY(hx_emit_check_operand(target, x, "a matrix product", report));
  HX_TRY(hx_emit_check_depth(target, x, 1, "a matrix product", report));
  product_t p = {.target = target, .matrix = matrix, .weight = weight, .argument = argument, .report = report};
  HX_TRY(weight_state(target, matrix, hx_node_type(target, x), scale, merged, &p.weight_type, report));
  hx_node_t *sum = NULL, *next = NULL;
  hx_status_t status = merged ? emit_merged(&p, x, &sum) : emit_plain(&p, x, &sum);
  if (status == HX_STATUS_OK) status = hx_emit_unary(target, HX_OP_CKKS_RESCALE, sum, &next, report);
  if (status == HX_STATUS_OK) hx_emit_replace(target, &sum, next);
  if (status == HX_STATUS_OK) status = fold(&p, &sum);
  if (status == HX_STATUS_OK) {
    *out = sum;
  } else if (sum != NULL) {
    target->table->release(sum);
  }
  return status;
}
