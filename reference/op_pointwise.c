// SPDX-License-Identifier: Apache-2.0
// rns operations that work element by element.
#include "reference/routines.h"

// The operand's shape, for an operation whose operands and results are all alike and standard.
static int32_t check_alike(hx_ref_call *call, uint32_t repr) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  if (repr != 0) shape.repr = repr;
  for (uint32_t i = 0; i < call->op->operand_count; ++i)
    HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, i), &shape));
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 3;
  return hx_ref_check_batch(call);
}

// rns.add, rns.sub, rns.neg: standard or lazy.

int32_t hx_ref_check_linear(hx_ref_call *call) {
  HX_REF_TRY(check_alike(call, 0));
  const uint32_t repr = hx_ref_operand(call, 0).desc->repr;
  if (repr == HX_MONTGOMERY)
    return hx_ref_refuse(call, HX_INVALID, "operand 0 is montgomery, must be standard or lazy");
  return HX_OK;
}

void hx_ref_run_linear(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  const hx_ref_ring *ring = call->ring;
  const int lazy = a.desc->repr == HX_LAZY;
  const uint32_t variant = call->routine->variant;
  uint64_t *rows[2];
  hx_ref_scratch(call, 0, 2, rows);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      const uint32_t id = a.desc->prime_ids[l];
      hx_ref_load(call, a, item, c, l, rows[0]);
      if (variant != HX_REF_NEG) hx_ref_load(call, hx_ref_operand(call, 1), item, c, l, rows[1]);
      if (variant == HX_REF_ADD)
        (lazy ? hx_ref_row_add_lazy : hx_ref_row_add)(ring, id, rows[0], rows[1], rows[0]);
      else if (variant == HX_REF_SUB)
        (lazy ? hx_ref_row_sub_lazy : hx_ref_row_sub)(ring, id, rows[0], rows[1], rows[0]);
      else
        (lazy ? hx_ref_row_neg_lazy : hx_ref_row_neg)(ring, id, rows[0], rows[0]);
      hx_ref_store(call, out, item, c, l, rows[0]);
    }
}

// rns.mul, rns.mul_add: a factor of one component serves all.

int32_t hx_ref_check_product(hx_ref_call *call) {
  const uint32_t factors = call->op->operand_count - 2;  // the place of the first factor; before it the accumulator
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_result(call, 0), &shape));
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  uint32_t most = 1;
  for (uint32_t i = factors; i < factors + 2; ++i)
    if (hx_ref_operand(call, i).desc->components > most) most = hx_ref_operand(call, i).desc->components;
  for (uint32_t i = 0; i < call->op->operand_count; ++i) {
    hx_ref_shape wanted = shape;
    // A product has the components of its larger factor.
    if (i >= factors) wanted.components = hx_ref_operand(call, i).desc->components == 1 ? 1 : shape.components;
    HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, i), &wanted));
  }
  if (most != shape.components)
    return hx_ref_refuse(call, HX_INVALID, "result 0 has components %u, must be %u", shape.components, most);
  call->scratch_rows = 3;
  return hx_ref_check_batch(call);
}

void hx_ref_run_product(const hx_ref_call *call, uint64_t item) {
  const uint32_t factors = call->op->operand_count - 2;
  const hx_ref_place a = hx_ref_operand(call, factors), b = hx_ref_operand(call, factors + 1);
  const hx_ref_place out = hx_ref_result(call, 0);
  uint64_t *rows[3];
  hx_ref_scratch(call, 0, 3, rows);
  for (uint32_t c = 0; c < out.desc->components; ++c)
    for (uint32_t l = 0; l < out.desc->limbs; ++l) {
      const uint32_t id = out.desc->prime_ids[l];
      hx_ref_load(call, a, item, a.desc->components == 1 ? 0 : c, l, rows[0]);
      hx_ref_load(call, b, item, b.desc->components == 1 ? 0 : c, l, rows[1]);
      if (call->routine->variant == HX_REF_MUL_ADD) {
        hx_ref_load(call, hx_ref_operand(call, 0), item, c, l, rows[2]);
        hx_ref_row_mul_add(call->ring, id, rows[2], rows[0], rows[1], rows[0]);
      } else {
        hx_ref_row_mul(call->ring, id, rows[0], rows[1], rows[0]);
      }
      hx_ref_store(call, out, item, c, l, rows[0]);
    }
}

// rns.mul_scalar, rns.add_scalar.

int32_t hx_ref_check_scalar(hx_ref_call *call) {
  HX_REF_TRY(check_alike(call, HX_STANDARD));
  const hx_tensor_desc *a = hx_ref_operand(call, 0).desc;
  return hx_ref_attr_residues(call, 1, a->limbs, a->prime_ids);
}

void hx_ref_run_scalar(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      const uint32_t id = a.desc->prime_ids[l];
      uint64_t *row = call->scratch;
      hx_ref_load(call, a, item, c, l, row);
      if (call->routine->variant == HX_REF_MUL)
        hx_ref_row_mul_scalar(call->ring, id, row, call->residues[l], row);
      else
        hx_ref_row_add_scalar(call->ring, id, row, call->residues[l], row);
      hx_ref_store(call, out, item, c, l, row);
    }
}

// rns.reduce.

int32_t hx_ref_check_reduce(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  if (shape.repr == HX_MONTGOMERY)
    return hx_ref_refuse(call, HX_INVALID, "operand 0 is montgomery, must be lazy or standard");
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 1;
  return hx_ref_check_batch(call);
}

void hx_ref_run_reduce(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      hx_ref_load(call, a, item, c, l, call->scratch);
      hx_ref_row_reduce(call->ring, a.desc->prime_ids[l], call->scratch, call->scratch);
      hx_ref_store(call, out, item, c, l, call->scratch);
    }
}

// rns.to_montgomery, from_montgomery, mul_montgomery.

int32_t hx_ref_check_montgomery(hx_ref_call *call) {
  const uint32_t variant = call->routine->variant;
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.repr = variant == HX_REF_TO_MONTGOMERY ? HX_STANDARD : HX_MONTGOMERY;
  for (uint32_t i = 0; i < call->op->operand_count; ++i)
    HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, i), &shape));
  shape.repr = variant == HX_REF_FROM_MONTGOMERY ? HX_STANDARD : HX_MONTGOMERY;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 2;
  return hx_ref_check_batch(call);
}

void hx_ref_run_montgomery(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  uint64_t *rows[2];
  hx_ref_scratch(call, 0, 2, rows);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      const uint32_t id = a.desc->prime_ids[l];
      hx_ref_load(call, a, item, c, l, rows[0]);
      if (call->routine->variant == HX_REF_MUL_MONTGOMERY) {
        hx_ref_load(call, hx_ref_operand(call, 1), item, c, l, rows[1]);
        hx_ref_row_mul_montgomery(call->ring, id, rows[0], rows[1], rows[0]);
      } else if (call->routine->variant == HX_REF_TO_MONTGOMERY) {
        hx_ref_row_to_montgomery(call->ring, id, rows[0], rows[0]);
      } else {
        hx_ref_row_from_montgomery(call->ring, id, rows[0], rows[0]);
      }
      hx_ref_store(call, out, item, c, l, rows[0]);
    }
}
