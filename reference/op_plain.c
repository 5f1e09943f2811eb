// SPDX-License-Identifier: Apache-2.0
// ckks.prepare_plain: ntt domain on Q_d; for weighted sums on Q_d and P, each coefficient taken centred mod Q_d.
#include "reference/routines.h"

int32_t hx_ref_check_prepare_plain(hx_ref_call *call) {
  const hx_ref_place a = hx_ref_operand(call, 0);
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_check_active(call, a, &shape));
  const hx_attr *purpose = hx_ref_attr(call, "for");
  if (purpose == NULL) return hx_ref_refuse(call, HX_INVALID, "attribute for is missing");
  const int weighted = hx_ref_attr_is_text(purpose, "weighted");
  if (!weighted && !hx_ref_attr_is_text(purpose, "add") && !hx_ref_attr_is_text(purpose, "mul"))
    return hx_ref_refuse(call, HX_INVALID, "attribute for is none of add, mul, weighted");
  call->id_count = hx_ref_extended_ids(call->ring, shape.id_count, call->ids);
  if (!weighted) call->id_count = shape.id_count;
  const hx_ref_shape prepared = {shape.components, HX_NTT, HX_STANDARD, call->id_count, call->ids};
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &prepared));
  call->scratch_rows = (uint64_t)call->id_count + shape.id_count;
  return hx_ref_check_batch(call);
}

// The centred representative of `active` on a prime of P, without comparing: with h = (D-1)/2, which is (d_i - 1)/2 mod
// d_i, the representative of x + h in [0, D) less h is x centred. digits: room for the mixed radix of x + h.
static void raise_centred(const hx_ref_call *call, const hx_ref_rows *active, const hx_ref_rows *digits,
                          const hx_ref_rows *special) {
  const hx_ref_ring *ring = call->ring;
  for (uint32_t i = 0; i < active->count; ++i)
    hx_ref_row_add_scalar(ring, active->prime_ids[i], active->rows[i],
                          (prime_of(ring, active->prime_ids[i])->q - 1) / 2, digits->rows[i]);
  hx_ref_mixed_radix(ring, digits);
  for (uint32_t j = 0; j < special->count; ++j) {
    const uint32_t id = special->prime_ids[j];
    const hx_ref_prime *t = prime_of(ring, id);
    uint64_t product = 1;
    for (uint32_t i = 0; i < active->count; ++i)
      product = mod_mul(product, mod_reduce(prime_of(ring, active->prime_ids[i])->q, t), t);
    // (D - 1) / 2 mod t; (t + 1) / 2 is the inverse of 2.
    const uint64_t half = mod_mul(mod_sub(product, 1, t->q), (t->q + 1) / 2, t);
    hx_ref_mixed_radix_residue(ring, digits, id, special->rows[j]);
    hx_ref_row_add_scalar(ring, id, special->rows[j], mod_neg(half, t->q), special->rows[j]);
  }
}

void hx_ref_run_prepare_plain(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  const uint32_t count = a.desc->limbs;
  uint64_t *rows[2 * HX_REF_PRIMES_MAX];
  hx_ref_scratch(call, 0, call->id_count + count, rows);
  const hx_ref_rows active = {count, call->ids, rows};
  const hx_ref_rows special = {call->id_count - count, call->ids + count, rows + count};
  const hx_ref_rows digits = {count, call->ids, rows + call->id_count};
  for (uint32_t c = 0; c < a.desc->components; ++c) {
    hx_ref_load_coefficients(call, a, item, c, &active);
    if (special.count != 0) raise_centred(call, &active, &digits, &special);
    hx_ref_store_coefficients(call, out, item, c, rows);
  }
}
