// SPDX-License-Identifier: Apache-2.0
// Rotations: sigma_g((c0, 0) + keyswitch_g(c1)), g = 5^step; conjugation, g = 2n - 1; and sums of them over Q_d and P.
#include <string.h>

#include "reference/routines.h"
#include "reference/switch.h"

// Steps and their keys.

// The step among n / 2 slots; a power of two, so the mask takes negative steps too.
static uint64_t step_of(const hx_ref_call *call, uint32_t t) {
  return (uint64_t)call->steps[t] & (call->ring->n / 2 - 1);
}

static uint64_t element_of(const hx_ref_ring *ring, int64_t step) {
  uint64_t element = 1;
  for (uint64_t i = (uint64_t)step & (ring->n / 2 - 1); i != 0; --i)
    element = element * 5 & (2 * (uint64_t)ring->n - 1);
  return element;
}

// Whether a key belongs to step t: not 0, and not there before.
static int32_t brings_key(const hx_ref_call *call, uint32_t t) {
  for (uint32_t i = 0; i < t; ++i)
    if (step_of(call, i) == step_of(call, t)) return 0;
  return step_of(call, t) != 0;
}

// The place among the keys of the key of step t, which is not 0.
static uint32_t key_of(const hx_ref_call *call, uint32_t t) {
  uint32_t key = 0;
  for (uint32_t i = 0; step_of(call, i) != step_of(call, t); ++i) key += (uint32_t)brings_key(call, i);
  return key;
}

// The keys that follow the first `others` operands: one for each distinct step that is not 0.
static int32_t check_keys(const hx_ref_call *call, uint64_t others, uint32_t active) {
  uint32_t keys = 0;
  for (uint32_t t = 0; t < call->step_count; ++t) keys += (uint32_t)brings_key(call, t);
  if (call->op->operand_count != others + keys)
    return hx_ref_refuse(call, HX_INVALID, "%u operands, must be %llu; the last %u are keys, one a distinct step but 0",
                         call->op->operand_count, (unsigned long long)(others + keys), keys);
  for (uint32_t k = 0; k < keys; ++k) HX_REF_TRY(hx_ref_check_switch_key(call, (uint32_t)others + k, active));
  return HX_OK;
}

// ckks.rotate, ckks.conjugate, ckks.rotate_many.

// Rows sigma_g in place, through a spare row; coefficients or ntt domain.
static void apply_sigma(const hx_ref_call *call, const hx_ref_workspace *w, uint32_t count, uint64_t element,
                        uint32_t domain, uint64_t *const *rows) {
  for (uint32_t i = 0; i < count; ++i) {
    memcpy(w->row[0], rows[i], call->ring->n * sizeof *w->row[0]);
    if (domain == HX_NTT)
      hx_ref_row_automorphism_ntt(call->ring, element, w->row[0], rows[i]);
    else
      hx_ref_row_automorphism(call->ring, w->ids[i], element, w->row[0], rows[i]);
  }
}

// Element 1 is a copy and takes no key: `key` is not read then.
static void rotate(const hx_ref_call *call, uint64_t item, uint64_t element, uint32_t key, hx_ref_place out) {
  const hx_ref_place a = hx_ref_operand(call, 0);
  hx_ref_workspace w;
  hx_ref_workspace_init(call, a.desc->limbs, 0, &w);
  if (element == 1) {
    for (uint32_t c = 0; c < 2; ++c) {
      const hx_ref_rows rows = {w.active, w.ids, w.acc[c]};
      hx_ref_load_coefficients(call, a, item, c, &rows);
    }
  } else {
    hx_ref_switch_component(call, a, item, 1, hx_ref_operand(call, key), &w);
    hx_ref_add_component(call, a, item, 0, &w);
    for (uint32_t c = 0; c < 2; ++c) apply_sigma(call, &w, w.active, element, HX_COEFFICIENT, w.acc[c]);
  }
  for (uint32_t c = 0; c < 2; ++c) hx_ref_store_coefficients(call, out, item, c, w.acc[c]);
}

int32_t hx_ref_check_rotate(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_check_switched(call, 2, &shape));
  call->scratch_rows = hx_ref_workspace_rows(call->ring, shape.id_count, 0);
  if (call->routine->variant == HX_REF_CONJUGATE) {
    call->element = 2 * (uint64_t)call->ring->n - 1;
    return hx_ref_check_switch_key(call, 1, shape.id_count);
  }
  HX_REF_TRY(hx_ref_attr_i64(call, "step", INT64_MIN, INT64_MAX, &call->integer));
  call->steps = &call->integer;
  call->step_count = 1;
  call->element = element_of(call->ring, call->integer);
  return check_keys(call, 1, shape.id_count);
}

void hx_ref_run_rotate(const hx_ref_call *call, uint64_t item) {
  rotate(call, item, call->element, 1, hx_ref_result(call, 0));
}

int32_t hx_ref_check_rotate_many(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_check_switched(call, 2, &shape));
  call->scratch_rows = hx_ref_workspace_rows(call->ring, shape.id_count, 0);
  HX_REF_TRY(hx_ref_attr_steps(call));
  if (call->op->result_count != call->step_count)
    return hx_ref_refuse(call, HX_INVALID, "%u results for %u steps", call->op->result_count, call->step_count);
  return check_keys(call, 1, shape.id_count);
}

void hx_ref_run_rotate_many(const hx_ref_call *call, uint64_t item) {
  for (uint32_t t = 0; t < call->step_count; ++t)
    rotate(call, item, element_of(call->ring, call->steps[t]), 1 + key_of(call, t), hx_ref_result(call, t));
}

// Sums over Q_d and P, one mod_down.

// acc[component] += P * component, ntt domain; P times anything is 0 on P's rows.
static void add_raised(const hx_ref_call *call, hx_ref_place c, uint64_t item, uint32_t component,
                       hx_ref_workspace *w) {
  const hx_ref_ring *ring = call->ring;
  for (uint32_t i = 0; i < w->active; ++i) {
    const hx_ref_prime *p = prime_of(ring, i);
    uint64_t special = 1;
    for (uint32_t k = w->active; k < w->extended; ++k)
      special = mod_mul(special, mod_reduce(prime_of(ring, w->ids[k])->q, p), p);
    hx_ref_load(call, c, item, component, i, w->row[0]);
    if (c.desc->domain == HX_COEFFICIENT) hx_ref_ntt_forward(ring, i, w->row[0]);
    hx_ref_row_mul_scalar(ring, i, w->row[0], special, w->row[0]);
    hx_ref_row_add(ring, i, w->acc[component][i], w->row[0], w->acc[component][i]);
  }
}

// acc = term t: sigma(keysum(c1) + P * (c0, 0)), or P * (c0, c1) for step 0. first_key: operand of the first key.
static void rotated_term(const hx_ref_call *call, hx_ref_place c, uint64_t item, uint32_t t, uint32_t first_key,
                         hx_ref_workspace *w) {
  if (step_of(call, t) == 0) {
    for (uint32_t k = 0; k < 2; ++k) {
      for (uint32_t i = 0; i < w->extended; ++i) memset(w->acc[k][i], 0, call->ring->n * sizeof *w->acc[k][i]);
      add_raised(call, c, item, k, w);
    }
    return;
  }
  hx_ref_key_sum(call, c, item, 1, hx_ref_operand(call, first_key + key_of(call, t)), w);
  add_raised(call, c, item, 0, w);
  const uint64_t element = element_of(call->ring, call->steps[t]);
  for (uint32_t k = 0; k < 2; ++k) apply_sigma(call, w, w->extended, element, HX_NTT, w->acc[k]);
}

static void clear_total(const hx_ref_call *call, hx_ref_workspace *w) {
  for (uint32_t k = 0; k < 2; ++k)
    for (uint32_t i = 0; i < w->extended; ++i) memset(w->total[k][i], 0, call->ring->n * sizeof *w->total[k][i]);
}

static void store_total(const hx_ref_call *call, hx_ref_place out, uint64_t item, hx_ref_workspace *w) {
  for (uint32_t k = 0; k < 2; ++k) {
    hx_ref_leave_special(call, w, w->total[k]);
    hx_ref_store_coefficients(call, out, item, k, w->total[k]);
  }
}

int32_t hx_ref_check_rotate_sum(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_check_switched(call, 2, &shape));
  call->scratch_rows = hx_ref_workspace_rows(call->ring, shape.id_count, 1);
  HX_REF_TRY(hx_ref_attr_steps(call));
  HX_REF_TRY(check_keys(call, call->step_count, shape.id_count));
  for (uint32_t t = 0; t < call->step_count; ++t)
    HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, t), &shape));
  if (call->ring->p_count == 0) return hx_ref_refuse(call, HX_INVALID, "the ring has no special primes P");
  return HX_OK;
}

void hx_ref_run_rotate_sum(const hx_ref_call *call, uint64_t item) {
  hx_ref_workspace w;
  hx_ref_workspace_init(call, hx_ref_operand(call, 0).desc->limbs, 1, &w);
  clear_total(call, &w);
  for (uint32_t t = 0; t < call->step_count; ++t) {
    rotated_term(call, hx_ref_operand(call, t), item, t, call->step_count, &w);
    for (uint32_t k = 0; k < 2; ++k)
      for (uint32_t i = 0; i < w.extended; ++i)
        hx_ref_row_add(call->ring, w.ids[i], w.total[k][i], w.acc[k][i], w.total[k][i]);
  }
  store_total(call, hx_ref_result(call, 0), item, &w);
}

// Operands: the ciphertext, group by group one plaintext a step on Q_d and P, keys.
int32_t hx_ref_check_rotate_weighted_sum(hx_ref_call *call) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_check_switched(call, 2, &shape));
  call->scratch_rows = hx_ref_workspace_rows(call->ring, shape.id_count, 1);
  HX_REF_TRY(hx_ref_attr_steps(call));
  int64_t groups = 1;
  if (hx_ref_attr(call, "groups") != NULL) HX_REF_TRY(hx_ref_attr_i64(call, "groups", 1, UINT32_MAX, &groups));
  if (call->op->result_count != groups)
    return hx_ref_refuse(call, HX_INVALID, "%u results for %lld groups", call->op->result_count, (long long)groups);
  call->group_count = (uint32_t)groups;
  const uint64_t others = 1 + (uint64_t)groups * call->step_count;
  HX_REF_TRY(check_keys(call, others, shape.id_count));
  if (call->ring->p_count == 0) return hx_ref_refuse(call, HX_INVALID, "the ring has no special primes P");
  call->id_count = hx_ref_extended_ids(call->ring, shape.id_count, call->ids);
  const hx_ref_shape weight = {1, HX_NTT, HX_STANDARD, call->id_count, call->ids};
  for (uint32_t i = 1; i < others; ++i) HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, i), &weight));
  return HX_OK;
}

void hx_ref_run_rotate_weighted_sum(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0);
  const uint32_t first_key = 1 + call->group_count * call->step_count;
  hx_ref_workspace w;
  hx_ref_workspace_init(call, a.desc->limbs, 1, &w);
  for (uint32_t g = 0; g < call->group_count; ++g) {
    clear_total(call, &w);
    for (uint32_t t = 0; t < call->step_count; ++t) {
      rotated_term(call, a, item, t, first_key, &w);
      const hx_ref_place weight = hx_ref_operand(call, 1 + g * call->step_count + t);
      for (uint32_t i = 0; i < w.extended; ++i) {
        hx_ref_load(call, weight, item, 0, i, w.row[0]);
        for (uint32_t k = 0; k < 2; ++k)
          hx_ref_row_mul_add(call->ring, w.ids[i], w.total[k][i], w.acc[k][i], w.row[0], w.total[k][i]);
      }
    }
    store_total(call, hx_ref_result(call, g), item, &w);
  }
}
