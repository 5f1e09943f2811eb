// SPDX-License-Identifier: Apache-2.0
// Operations that move values between bases. Each component by itself, in coefficients, whatever the domain.
#include "reference/routines.h"

// rns.center_lift.

int32_t hx_ref_check_center_lift(hx_ref_call *call) {
  const hx_ref_place a = hx_ref_operand(call, 0);
  HX_REF_TRY(hx_ref_attr_ids(call, "ids"));
  if (a.desc->dtype == HX_I64) {
    if (a.desc->log_n != call->ring->log_n || a.desc->limbs != 1 || a.desc->components == 0 || a.desc->digits != 0)
      return hx_ref_refuse(call, HX_INVALID,
                           "operand 0 has log_n %u and %u rows, must have %u and one row of signed words",
                           a.desc->log_n, a.desc->limbs, call->ring->log_n);
  } else {
    hx_ref_shape shape;
    HX_REF_TRY(hx_ref_shape_of(call, a, &shape));
    if (shape.id_count != 1)
      return hx_ref_refuse(call, HX_INVALID, "operand 0 has %u rows, must have 1", shape.id_count);
    const hx_ref_shape wanted = {0, HX_COEFFICIENT, HX_STANDARD, 0, NULL};
    HX_REF_TRY(hx_ref_check_residues(call, a, &wanted));
  }
  const hx_ref_shape lifted = {a.desc->components, HX_COEFFICIENT, HX_STANDARD, call->id_count, call->ids};
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &lifted));
  call->scratch_rows = 2;
  return hx_ref_check_batch(call);
}

// The signed row as a row of words: the same bits.
static void lift_signed(const hx_ref_call *call, uint32_t prime_id, const uint64_t *words, uint64_t *out) {
  for (uint32_t i = 0; i < call->ring->n; ++i)
    out[i] = mod_reduce_signed((int64_t)words[i], prime_of(call->ring, prime_id));
}

void hx_ref_run_center_lift(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  uint64_t *rows[2];
  hx_ref_scratch(call, 0, 2, rows);
  for (uint32_t c = 0; c < a.desc->components; ++c) {
    hx_ref_load(call, a, item, c, 0, rows[0]);
    for (uint32_t l = 0; l < call->id_count; ++l) {
      if (a.desc->dtype == HX_I64)
        lift_signed(call, call->ids[l], rows[0], rows[1]);
      else
        hx_ref_row_center_lift(call->ring, a.desc->prime_ids[0], rows[0], call->ids[l], rows[1]);
      hx_ref_store(call, out, item, c, l, rows[1]);
    }
  }
}

// rns.mod_up.

int32_t hx_ref_check_mod_up(hx_ref_call *call) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  const hx_ref_ring *ring = call->ring;
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_check_active(call, a, &shape));
  int64_t digit = 0;
  HX_REF_TRY(hx_ref_attr_i64(call, "digit", 0, (int64_t)hx_ref_digit_count(ring, shape.id_count) - 1, &digit));
  call->number = (uint32_t)digit;
  call->id_count = hx_ref_extended_ids(ring, shape.id_count, call->ids);
  const hx_ref_shape raised = {shape.components, shape.domain, HX_STANDARD, call->id_count, call->ids};
  HX_REF_TRY(hx_ref_check_residues(call, out, &raised));
  call->scratch_rows = call->id_count;
  return hx_ref_check_batch(call);
}

void hx_ref_run_mod_up(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  uint64_t *rows[HX_REF_PRIMES_MAX];
  hx_ref_scratch(call, 0, call->id_count, rows);
  const hx_ref_rows whole = {call->id_count, call->ids, rows};
  for (uint32_t c = 0; c < a.desc->components; ++c) {
    const hx_ref_rows active = {a.desc->limbs, call->ids, rows};  // Q's rows come first
    hx_ref_load_coefficients(call, a, item, c, &active);
    hx_ref_raise_digit(call->ring, call->number, a.desc->limbs, &whole);
    hx_ref_store_coefficients(call, out, item, c, rows);
  }
}

// rns.mod_down, rns.rescale.

// call->ids: the rows to drop, from the attribute or P.
static int32_t read_drop(hx_ref_call *call, const hx_ref_shape *shape) {
  const hx_attr *attr = hx_ref_attr(call, "drop");
  if (attr == NULL || attr->kind == HX_ATTR_TEXT) {
    if (attr != NULL && !hx_ref_attr_is_text(attr, "P"))
      return hx_ref_refuse(call, HX_INVALID, "attribute drop is \"%.*s\", must be P or a list of prime ids",
                           (int)(attr->count < 32 ? attr->count : 32), (const char *)attr->data);
    call->id_count = call->ring->p_count;
    for (uint32_t i = 0; i < call->id_count; ++i) call->ids[i] = call->ring->q_count + i;
    if (call->id_count == 0) return hx_ref_refuse(call, HX_INVALID, "the ring has no special primes P to drop");
  } else {
    HX_REF_TRY(hx_ref_attr_ids(call, "drop"));
  }
  for (uint32_t i = 0; i < call->id_count; ++i)
    if (hx_ref_limb_of(hx_ref_operand(call, 0).desc, call->ids[i]) == HX_NONE)
      return hx_ref_refuse(call, HX_INVALID, "operand 0 has no row of prime %u, which is to be dropped", call->ids[i]);
  if (call->id_count >= shape->id_count)
    return hx_ref_refuse(call, HX_INVALID, "all %u rows of operand 0 would be dropped", shape->id_count);
  return HX_OK;
}

// Ids of the operand that are not dropped.
static uint32_t kept_ids(const hx_ref_call *call, uint32_t *out) {
  const hx_tensor_desc *a = hx_ref_operand(call, 0).desc;
  uint32_t count = 0, next = 0;
  for (uint32_t l = 0; l < a->limbs; ++l) {
    if (next < call->id_count && call->ids[next] == a->prime_ids[l])
      ++next;
    else
      out[count++] = a->prime_ids[l];
  }
  return count;
}

int32_t hx_ref_check_mod_down(hx_ref_call *call) {
  const hx_ref_place a = hx_ref_operand(call, 0);
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, a, &shape));
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, a, &shape));
  HX_REF_TRY(hx_ref_attr_rounding(call));
  HX_REF_TRY(read_drop(call, &shape));
  uint32_t kept[HX_REF_PRIMES_MAX];
  call->scratch_rows = shape.id_count;
  shape.id_count = kept_ids(call, kept);
  shape.ids = kept;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  return hx_ref_check_batch(call);
}

void hx_ref_run_mod_down(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  uint64_t *rows[HX_REF_PRIMES_MAX];
  hx_ref_scratch(call, 0, a.desc->limbs, rows);
  const hx_ref_rows keep = {out.desc->limbs, out.desc->prime_ids, rows};
  const hx_ref_rows drop = {call->id_count, call->ids, rows + keep.count};
  for (uint32_t c = 0; c < a.desc->components; ++c) {
    hx_ref_load_coefficients(call, a, item, c, &keep);
    hx_ref_load_coefficients(call, a, item, c, &drop);
    hx_ref_mod_down(call->ring, &keep, &drop, call->rounding);
    hx_ref_store_coefficients(call, out, item, c, rows);
  }
}

int32_t hx_ref_check_rescale(hx_ref_call *call) {
  const hx_ref_place a = hx_ref_operand(call, 0);
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, a, &shape));
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, a, &shape));
  HX_REF_TRY(hx_ref_attr_rounding(call));
  int64_t count = 0;
  HX_REF_TRY(hx_ref_attr_i64(call, "count", 1, INT64_MAX, &count));
  if (count >= shape.id_count)
    return hx_ref_refuse(call, HX_INVALID, "count is %lld, operand 0 has %u rows and one must remain", (long long)count,
                         shape.id_count);
  call->number = (uint32_t)count;
  call->scratch_rows = shape.id_count;
  shape.id_count -= call->number;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  return hx_ref_check_batch(call);
}

void hx_ref_run_rescale(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  uint64_t *rows[HX_REF_PRIMES_MAX];
  hx_ref_scratch(call, 0, a.desc->limbs, rows);
  const hx_ref_rows whole = {a.desc->limbs, a.desc->prime_ids, rows};
  for (uint32_t c = 0; c < a.desc->components; ++c) {
    hx_ref_load_coefficients(call, a, item, c, &whole);
    hx_ref_rescale(call->ring, &whole, call->number, call->rounding);
    hx_ref_store_coefficients(call, out, item, c, rows);
  }
}

// rns.mixed_radix, rns.extend_exact.

int32_t hx_ref_check_mixed_radix(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.domain = HX_COEFFICIENT;
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), &shape));
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = shape.id_count;
  return hx_ref_check_batch(call);
}

void hx_ref_run_mixed_radix(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  uint64_t *rows[HX_REF_PRIMES_MAX];
  hx_ref_scratch(call, 0, a.desc->limbs, rows);
  const hx_ref_rows whole = {a.desc->limbs, a.desc->prime_ids, rows};
  for (uint32_t c = 0; c < a.desc->components; ++c) {
    hx_ref_load_coefficients(call, a, item, c, &whole);
    hx_ref_mixed_radix(call->ring, &whole);
    hx_ref_store_coefficients(call, out, item, c, rows);
  }
}

int32_t hx_ref_check_extend_exact(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, hx_ref_operand(call, 0), &shape));
  shape.domain = HX_COEFFICIENT;
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), &shape));
  HX_REF_TRY(hx_ref_attr_ids(call, "ids"));
  call->scratch_rows = (uint64_t)shape.id_count + 1;
  shape.id_count = call->id_count;
  shape.ids = call->ids;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  return hx_ref_check_batch(call);
}

void hx_ref_run_extend_exact(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  uint64_t *rows[HX_REF_PRIMES_MAX + 1];
  hx_ref_scratch(call, 0, a.desc->limbs + 1, rows);
  uint64_t *converted = rows[a.desc->limbs];
  const hx_ref_rows whole = {a.desc->limbs, a.desc->prime_ids, rows};
  for (uint32_t c = 0; c < a.desc->components; ++c) {
    hx_ref_load_coefficients(call, a, item, c, &whole);
    hx_ref_mixed_radix(call->ring, &whole);
    for (uint32_t l = 0; l < call->id_count; ++l) {
      hx_ref_mixed_radix_residue(call->ring, &whole, call->ids[l], converted);
      hx_ref_store(call, out, item, c, l, converted);
    }
  }
}
