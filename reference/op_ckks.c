// SPDX-License-Identifier: Apache-2.0
// Whole ckks operations that need no key. Scales and slots do not cross, so they play no part here.
#include "reference/routines.h"

// ckks.add, ckks.sub, ckks.neg: by component, either domain.

int32_t hx_ref_check_ckks_linear(hx_ref_call *call) {
  HX_REF_TRY(hx_ref_check_linear(call));
  if (hx_ref_operand(call, 0).desc->repr != HX_STANDARD)
    return hx_ref_refuse(call, HX_INVALID, "operand 0 is lazy, must be standard");
  return HX_OK;
}

void hx_ref_run_ckks_linear(const hx_ref_call *call, uint64_t item) { hx_ref_run_linear(call, item); }

// add_plain, sub_plain: first component; mul_plain: every one.

int32_t hx_ref_check_ckks_plain(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.repr = HX_STANDARD;
  if (call->routine->variant == HX_REF_MUL) shape.domain = HX_NTT;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), &shape));
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  shape.components = 1;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 1), &shape));
  call->scratch_rows = 2;
  return hx_ref_check_batch(call);
}

void hx_ref_run_ckks_plain(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  const uint32_t variant = call->routine->variant;
  uint64_t *rows[2];
  hx_ref_scratch(call, 0, 2, rows);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      const uint32_t id = a.desc->prime_ids[l];
      hx_ref_load(call, a, item, c, l, rows[0]);
      hx_ref_load(call, hx_ref_operand(call, 1), item, 0, l, rows[1]);
      if (variant == HX_REF_MUL)
        hx_ref_row_mul(call->ring, id, rows[0], rows[1], rows[0]);
      else if (c == 0)
        (variant == HX_REF_ADD ? hx_ref_row_add : hx_ref_row_sub)(call->ring, id, rows[0], rows[1], rows[0]);
      hx_ref_store(call, out, item, c, l, rows[0]);
    }
}

// add_scalar: first component; mul_scalar: every one
// Attribute residues: two words a row, the constant on the first and on the second half of the row in ntt domain.

int32_t hx_ref_check_ckks_scalar(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.repr = HX_STANDARD;
  shape.domain = HX_NTT;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), &shape));
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  HX_REF_TRY(hx_ref_attr_residues(call, 2, shape.id_count, shape.ids));
  call->scratch_rows = 2;
  return hx_ref_check_batch(call);
}

void hx_ref_run_ckks_scalar(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  const uint32_t n = call->ring->n;
  uint64_t *rows[2];
  hx_ref_scratch(call, 0, 2, rows);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      const uint32_t id = a.desc->prime_ids[l];
      hx_ref_load(call, a, item, c, l, rows[0]);
      for (uint32_t i = 0; i < n; ++i) rows[1][i] = call->residues[2 * l + 2 * i / n];
      if (call->routine->variant == HX_REF_MUL)
        hx_ref_row_mul(call->ring, id, rows[0], rows[1], rows[0]);
      else if (c == 0)
        hx_ref_row_add(call->ring, id, rows[0], rows[1], rows[0]);
      hx_ref_store(call, out, item, c, l, rows[0]);
    }
}

// ckks.mul_integer: either domain.

int32_t hx_ref_check_ckks_integer(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), &shape));
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  HX_REF_TRY(hx_ref_attr_i64(call, "integer", INT64_MIN, INT64_MAX, &call->integer));
  call->scratch_rows = 1;
  return hx_ref_check_batch(call);
}

void hx_ref_run_ckks_integer(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      const uint32_t id = a.desc->prime_ids[l];
      hx_ref_load(call, a, item, c, l, call->scratch);
      hx_ref_row_mul_scalar(call->ring, id, call->scratch, hx_ref_word_reduce_signed(call->ring, id, call->integer),
                            call->scratch);
      hx_ref_store(call, out, item, c, l, call->scratch);
    }
}

// ckks.mul, ckks.square: (a0 b0, a0 b1 + a1 b0, a1 b1).

int32_t hx_ref_check_ckks_multiply(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.components = 2;
  shape.domain = HX_NTT;
  shape.repr = HX_STANDARD;
  for (uint32_t i = 0; i < call->op->operand_count; ++i)
    HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, i), &shape));
  shape.components = 3;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 5;
  return hx_ref_check_batch(call);
}

void hx_ref_run_ckks_multiply(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  const hx_ref_place b = hx_ref_operand(call, call->op->operand_count - 1);
  uint64_t *rows[5];
  hx_ref_scratch(call, 0, 5, rows);
  for (uint32_t l = 0; l < a.desc->limbs; ++l) {
    const uint32_t id = a.desc->prime_ids[l];
    for (uint32_t c = 0; c < 2; ++c) {
      hx_ref_load(call, a, item, c, l, rows[c]);
      hx_ref_load(call, b, item, c, l, rows[2 + c]);
    }
    hx_ref_row_mul(call->ring, id, rows[0], rows[2], rows[4]);
    hx_ref_store(call, out, item, 0, l, rows[4]);
    hx_ref_row_mul(call->ring, id, rows[0], rows[3], rows[4]);
    hx_ref_row_mul_add(call->ring, id, rows[4], rows[1], rows[2], rows[4]);
    hx_ref_store(call, out, item, 1, l, rows[4]);
    hx_ref_row_mul(call->ring, id, rows[1], rows[3], rows[4]);
    hx_ref_store(call, out, item, 2, l, rows[4]);
  }
}

// ckks.rescale: the last depth group.

int32_t hx_ref_check_ckks_rescale(hx_ref_call *call) {
  const hx_ref_ring *ring = call->ring;
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_check_active(call, hx_ref_operand(call, 0), &shape));
  uint32_t group = 0, end = ring->group_sizes[0];  // ids below end belong to the groups up to `group`
  while (end < shape.id_count) end += ring->group_sizes[++group];
  if (end != shape.id_count)
    return hx_ref_refuse(call, HX_INVALID, "operand 0 has %u rows, which end within a depth group", shape.id_count);
  if (group == 0) return hx_ref_refuse(call, HX_INVALID, "operand 0 has only the base primes, no depth is left");
  call->number = ring->group_sizes[group];
  call->rounding = HX_REF_NEAREST;
  call->scratch_rows = shape.id_count;
  shape.id_count -= call->number;
  HX_REF_TRY(hx_ref_attr_domain(call, &shape.domain));
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  return hx_ref_check_batch(call);
}

void hx_ref_run_ckks_rescale(const hx_ref_call *call, uint64_t item) { hx_ref_run_rescale(call, item); }
