// SPDX-License-Identifier: Apache-2.0
#include "core/passes/keys.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/ckks/transition.h"

static hx_status_t add(hx_key_needs_t *needs, hx_key_need_t need) {
  HX_TRY(hx_grow(&needs->items, &needs->capacity, needs->count + 1, sizeof *needs->items));
  needs->items[needs->count++] = need;
  return HX_STATUS_OK;
}

// Slots of the first operand, to which steps refer.
static hx_status_t find_slots(const hx_program_t *program, const hx_ir_op_t *op, const hx_ring *ring, uint32_t *out,
                              hx_report_t *report) {
  const hx_type_t *type = op->operand_count == 0 ? NULL : op->operands[0]->type;
  if (ring == NULL)
    return hx_report_fail_at(report, HX_CODE_TYPE, program->source, op->line, op->column,
                             "%s: its keys depend on the parameters, and none are given", op->info->name);
  if (type == NULL || (type->known & HX_KNOWN_SLOTS) == 0 || type->slots == 0)
    return hx_report_fail_at(
        report, HX_CODE_TYPE, program->source, op->line, op->column,
        "%s: the slots of its operand are not known, so its keys are not either; write them into the type of the input",
        op->info->name);
  *out = type->slots;
  return HX_STATUS_OK;
}

static hx_status_t add_rotation(hx_key_needs_t *needs, const hx_ring *ring, uint32_t slots, uint32_t step) {
  return add(needs, (hx_key_need_t){
                        .kind = HX_KEY_GALOIS, .element = hx_galois_element(ring->log_n, slots, step), .step = step});
}

static hx_status_t add_step(const hx_program_t *program, const hx_ir_op_t *op, const hx_ring *ring,
                            hx_key_needs_t *needs, hx_report_t *report) {
  uint32_t slots = 0;
  int64_t step = 0;
  HX_TRY(find_slots(program, op, ring, &slots, report));
  if (!hx_attrs_get_i64(op->attrs, "step", &step)) return HX_STATUS_INVALID;  // refused by the verifier
  const uint32_t reduced = hx_rotation_reduce(step, slots);
  return reduced == 0 ? HX_STATUS_OK : add_rotation(needs, ring, slots, reduced);
}

static hx_status_t add_steps(const hx_program_t *program, const hx_ir_op_t *op, const hx_ring *ring,
                             hx_key_needs_t *needs, hx_report_t *report) {
  uint32_t slots = 0;
  const hx_attribute_t *list = NULL;
  size_t count = 0;
  HX_TRY(find_slots(program, op, ring, &slots, report));
  if (!hx_attrs_get_list(op->attrs, "steps", &list, &count)) return HX_STATUS_INVALID;  // refused by the verifier
  uint32_t *steps = hx_zalloc(count + 1, sizeof *steps);
  if (steps == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const size_t needed = hx_rotation_steps(list, count, slots, steps);
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < needed && status == HX_STATUS_OK; ++i) status = add_rotation(needs, ring, slots, steps[i]);
  hx_free(steps);
  return status;
}

hx_status_t hx_op_key_needs(const hx_program_t *program, const hx_ir_op_t *op, const hx_ring *ring,
                            hx_key_needs_t *needs, hx_report_t *report) {
  switch (op->info->id) {
    case HX_OP_CKKS_RELINEARIZE:
      return add(needs, (hx_key_need_t){.kind = HX_KEY_RELIN});
    case HX_OP_CKKS_CONJUGATE:
      return add(needs, (hx_key_need_t){.kind = HX_KEY_CONJ});
    case HX_OP_CKKS_ROTATE:
      return add_step(program, op, ring, needs, report);
    case HX_OP_CKKS_ROTATE_MANY:
    case HX_OP_CKKS_ROTATE_WEIGHTED_SUM:
    case HX_OP_CKKS_ROTATE_SUM:
      return add_steps(program, op, ring, needs, report);
    default:
      return HX_STATUS_OK;
  }
}

size_t hx_op_first_key(const hx_ir_op_t *op) {
  size_t first = op->operand_count;
  while (first > 0 && op->operands[first - 1]->type->kind == HX_TYPE_KEY) --first;
  return first;
}

// The step that gives a Galois element, or 0: 5 has order N/2 modulo 2N.
static uint32_t step_of(const hx_ring *ring, uint64_t element) {
  const uint64_t mask = ((uint64_t)2 << ring->log_n) - 1;
  uint64_t power = 1;
  for (uint32_t step = 0; step < (uint32_t)1 << (ring->log_n - 1); ++step) {
    if (power == element) return step;
    power = (power * 5) & mask;
  }
  return 0;
}

bool hx_key_need_of_type(const hx_type_t *type, const hx_ring *ring, hx_key_need_t *out) {
  if (type->kind != HX_TYPE_KEY) return false;
  *out = (hx_key_need_t){.kind = type->key_kind, .element = type->element};
  if (out->kind == HX_KEY_GALOIS) out->step = step_of(ring, out->element);
  if (out->kind == HX_KEY_GALOIS && out->element == ((uint64_t)2 << ring->log_n) - 1)
    *out = (hx_key_need_t){.kind = HX_KEY_CONJ};
  return out->kind == HX_KEY_RELIN || out->kind == HX_KEY_GALOIS || out->kind == HX_KEY_CONJ;
}

void hx_key_need_symbol(const hx_key_need_t *need, char out_symbol[HX_NAME_MAX]) {
  if (need->kind == HX_KEY_GALOIS) {
    (void)snprintf(out_symbol, HX_NAME_MAX, "galois_%" PRIu64, need->element);
  } else {
    (void)snprintf(out_symbol, HX_NAME_MAX, "%s", need->kind == HX_KEY_RELIN ? "relin" : "conj");
  }
}

void hx_key_need_type(const hx_key_need_t *need, hx_type_t *out) {
  hx_type_init(out, HX_TYPE_KEY);
  out->key_kind = need->kind;
  out->element = need->kind == HX_KEY_GALOIS ? need->element : 0;
}
