// SPDX-License-Identifier: Apache-2.0
// Sums over a batch axis and weighted sums, of the rns and the ckks dialect.
#include "reference/routines.h"

// rns.sum, ckks.sum.

int32_t hx_ref_check_sum(hx_ref_call *call) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, a, &shape));
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, a, &shape));
  HX_REF_TRY(hx_ref_check_residues(call, out, &shape));
  if (a.desc->batch_rank == 0) return hx_ref_refuse(call, HX_INVALID, "operand 0 has no batch axis to sum over");
  int64_t axis = 0;
  HX_REF_TRY(hx_ref_attr_i64(call, "axis", 0, (int64_t)a.desc->batch_rank - 1, &axis));
  if (out.desc->batch_rank != a.desc->batch_rank - 1)
    return hx_ref_refuse(call, HX_INVALID, "result 0 has batch axes %u, must be %u", out.desc->batch_rank,
                         a.desc->batch_rank - 1);
  call->items = 1;
  for (uint32_t i = 0; i < out.desc->batch_rank; ++i) {
    const uint64_t wanted = a.desc->batch_shape[i < axis ? i : i + 1];
    if (out.desc->batch_shape[i] != wanted)
      return hx_ref_refuse(call, HX_INVALID, "result 0 has %llu items on batch axis %u, must be %llu",
                           (unsigned long long)out.desc->batch_shape[i], i, (unsigned long long)wanted);
    call->items *= wanted;
  }
  call->number = (uint32_t)axis;
  call->scratch_rows = 2;
  return HX_OK;
}

void hx_ref_run_sum(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  // Items are counted with the last axis fastest: item = high * below + low, and the summed axis goes between them.
  const uint64_t terms = a.desc->batch_shape[call->number];
  uint64_t below = 1;
  for (uint32_t axis = call->number + 1; axis < a.desc->batch_rank; ++axis) below *= a.desc->batch_shape[axis];
  uint64_t *rows[2];
  hx_ref_scratch(call, 0, 2, rows);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      for (uint64_t t = 0; t < terms; ++t) {
        const uint64_t source = (item / below * terms + t) * below + item % below;
        hx_ref_load(call, a, source, c, l, rows[t != 0]);
        if (t != 0) hx_ref_row_add(call->ring, a.desc->prime_ids[l], rows[0], rows[1], rows[0]);
      }
      hx_ref_store(call, out, item, c, l, rows[0]);
    }
}

// rns.weighted_sum, ckks.weighted_sum.

int32_t hx_ref_check_weighted_sum(hx_ref_call *call) {
  int64_t groups = 0;
  HX_REF_TRY(hx_ref_attr_i64(call, "groups", 1, (int64_t)call->op->operand_count - 1, &groups));
  const uint32_t operands = call->op->operand_count, terms = operands / (uint32_t)(groups + 1);
  if (terms == 0 || operands % (uint32_t)(groups + 1) != 0)
    return hx_ref_refuse(call, HX_INVALID, "%u operands for %lld groups; T values and %lld * T weights are needed",
                         operands, (long long)groups, (long long)groups);
  if (call->op->result_count != groups)
    return hx_ref_refuse(call, HX_INVALID, "%u results for %lld groups", call->op->result_count, (long long)groups);
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.repr = HX_STANDARD;
  if (call->routine->variant == HX_REF_WHOLE) shape.domain = HX_NTT;
  for (uint32_t g = 0; g < call->op->result_count; ++g)
    HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, g), &shape));
  for (uint32_t i = 0; i < operands; ++i) {
    if (i == terms) shape.components = 1;
    HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, i), &shape));
  }
  call->group_count = (uint32_t)groups;
  call->scratch_rows = 3;
  return hx_ref_check_batch(call);
}

void hx_ref_run_weighted_sum(const hx_ref_call *call, uint64_t item) {
  const uint32_t terms = call->op->operand_count / (call->group_count + 1);
  uint64_t *rows[3];
  hx_ref_scratch(call, 0, 3, rows);
  for (uint32_t g = 0; g < call->group_count; ++g) {
    const hx_ref_place out = hx_ref_result(call, g);
    for (uint32_t c = 0; c < out.desc->components; ++c)
      for (uint32_t l = 0; l < out.desc->limbs; ++l) {
        for (uint32_t i = 0; i < call->ring->n; ++i) rows[0][i] = 0;
        for (uint32_t t = 0; t < terms; ++t) {
          hx_ref_load(call, hx_ref_operand(call, t), item, c, l, rows[1]);
          hx_ref_load(call, hx_ref_operand(call, terms * (g + 1) + t), item, 0, l, rows[2]);
          hx_ref_row_mul_add(call->ring, out.desc->prime_ids[l], rows[0], rows[1], rows[2], rows[0]);
        }
        hx_ref_store(call, out, item, c, l, rows[0]);
      }
  }
}
