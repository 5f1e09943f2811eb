// SPDX-License-Identifier: Apache-2.0
// Transforms, automorphism, and rows made of nothing but attributes or a seed.
#include "reference/routines.h"

// ntt.forward, ntt.inverse.

static int32_t check_ntt(hx_ref_call *call, uint32_t from, uint32_t to) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.repr = HX_STANDARD;
  shape.domain = from;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), &shape));
  shape.domain = to;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 1;
  return hx_ref_check_batch(call);
}

static void run_ntt(const hx_ref_call *call, uint64_t item,
                    void (*transform)(const hx_ref_ring *ring, uint32_t prime_id, uint64_t *row)) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      hx_ref_load(call, a, item, c, l, call->scratch);
      transform(call->ring, a.desc->prime_ids[l], call->scratch);
      hx_ref_store(call, out, item, c, l, call->scratch);
    }
}

int32_t hx_ref_check_forward(hx_ref_call *call) { return check_ntt(call, HX_COEFFICIENT, HX_NTT); }

void hx_ref_run_forward(const hx_ref_call *call, uint64_t item) { run_ntt(call, item, hx_ref_ntt_forward); }

int32_t hx_ref_check_inverse(hx_ref_call *call) { return check_ntt(call, HX_NTT, HX_COEFFICIENT); }

void hx_ref_run_inverse(const hx_ref_call *call, uint64_t item) { run_ntt(call, item, hx_ref_ntt_inverse); }

// ckks.to_ntt, ckks.from_ntt: from either domain.

int32_t hx_ref_check_to_domain(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), &shape));
  shape.domain = call->routine->variant;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = shape.id_count;
  return hx_ref_check_batch(call);
}

void hx_ref_run_to_domain(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  uint64_t *rows[HX_REF_PRIMES_MAX];
  hx_ref_scratch(call, 0, a.desc->limbs, rows);
  const hx_ref_rows whole = {a.desc->limbs, a.desc->prime_ids, rows};
  for (uint32_t c = 0; c < a.desc->components; ++c) {
    hx_ref_load_coefficients(call, a, item, c, &whole);
    hx_ref_store_coefficients(call, out, item, c, rows);
  }
}

// rns.automorphism.

int32_t hx_ref_check_automorphism(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), &shape));
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  int64_t element = 0;
  HX_REF_TRY(hx_ref_attr_i64(call, "element", 1, 2 * (int64_t)call->ring->n - 1, &element));
  if (element % 2 == 0)
    return hx_ref_refuse(call, HX_INVALID, "attribute element is %lld, must be odd", (long long)element);
  call->element = (uint64_t)element;
  call->scratch_rows = 2;
  return hx_ref_check_batch(call);
}

void hx_ref_run_automorphism(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  uint64_t *rows[2];
  hx_ref_scratch(call, 0, 2, rows);
  for (uint32_t c = 0; c < a.desc->components; ++c)
    for (uint32_t l = 0; l < a.desc->limbs; ++l) {
      hx_ref_load(call, a, item, c, l, rows[0]);
      if (a.desc->domain == HX_NTT)
        hx_ref_row_automorphism_ntt(call->ring, call->element, rows[0], rows[1]);
      else
        hx_ref_row_automorphism(call->ring, a.desc->prime_ids[l], call->element, rows[0], rows[1]);
      hx_ref_store(call, out, item, c, l, rows[1]);
    }
}

// rns.expand_uniform: 32 bytes, log_n 5, to one polynomial.

int32_t hx_ref_check_expand_uniform(hx_ref_call *call) {
  const hx_ref_place seed = hx_ref_operand(call, 0);
  if (seed.desc->dtype != HX_U8 || seed.desc->log_n != 5 || seed.desc->components > 1 || seed.desc->limbs > 1 ||
      seed.desc->digits != 0)
    return hx_ref_refuse(call, HX_INVALID, "operand 0 is no seed: dtype %u, log_n %u; a seed is 2^5 words of dtype %u",
                         seed.desc->dtype, seed.desc->log_n, HX_U8);
  int64_t index = 0;
  HX_REF_TRY(hx_ref_attr_i64(call, "index", 0, UINT32_MAX, &index));
  call->number = (uint32_t)index;
  HX_REF_TRY(hx_ref_attr_ids(call, "ids"));
  const hx_ref_shape shape = {1, HX_NTT, HX_STANDARD, call->id_count, call->ids};
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  HX_REF_TRY(hx_ref_check_batch(call));
  if (call->items != 1 && seed.desc->batch_rank == 0)
    return hx_ref_refuse(call, HX_INVALID, "%llu results of one seed would be equal", (unsigned long long)call->items);
  call->scratch_rows = 1;
  return HX_OK;
}

void hx_ref_run_expand_uniform(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place seed = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  for (uint32_t l = 0; l < call->id_count; ++l) {
    hx_ref_row_expand_uniform(call->ring, call->ids[l], hx_ref_item(seed, item), call->number, call->scratch);
    hx_ref_store(call, out, item, 0, l, call->scratch);
  }
}

// core.constant: one value on each half of a row.

int32_t hx_ref_check_constant(hx_ref_call *call) {
  HX_REF_TRY(hx_ref_attr_ids(call, "ids"));
  HX_REF_TRY(hx_ref_attr_residues(call, 2, call->id_count, call->ids));
  const hx_ref_shape shape = {1, HX_NTT, HX_STANDARD, call->id_count, call->ids};
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 1;
  return hx_ref_check_batch(call);
}

void hx_ref_run_constant(const hx_ref_call *call, uint64_t item) {
  const uint32_t n = call->ring->n;
  for (uint32_t l = 0; l < call->id_count; ++l) {
    for (uint32_t i = 0; i < n; ++i) call->scratch[i] = call->residues[2 * l + 2 * i / n];
    hx_ref_store(call, hx_ref_result(call, 0), item, 0, l, call->scratch);
  }
}
