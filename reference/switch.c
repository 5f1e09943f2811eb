// SPDX-License-Identifier: Apache-2.0
#include "reference/switch.h"

#include <string.h>

uint64_t hx_ref_workspace_rows(const hx_ref_ring *ring, uint32_t active, int with_total) {
  const uint64_t extended = (uint64_t)active + ring->p_count;
  return active + (with_total ? 5 : 3) * extended + 2;
}

void hx_ref_workspace_init(const hx_ref_call *call, uint32_t active, int with_total, hx_ref_workspace *w) {
  w->active = active;
  w->extended = hx_ref_extended_ids(call->ring, active, w->ids);
  uint64_t at = 0;
  hx_ref_scratch(call, at, active, w->x);
  hx_ref_scratch(call, at += active, w->extended, w->raised);
  hx_ref_scratch(call, at += w->extended, 2, w->row);
  at += 2;
  for (uint32_t c = 0; c < 2; ++c, at += w->extended) hx_ref_scratch(call, at, w->extended, w->acc[c]);
  for (uint32_t c = 0; with_total && c < 2; ++c, at += w->extended) hx_ref_scratch(call, at, w->extended, w->total[c]);
}

int32_t hx_ref_check_switch_key(const hx_ref_call *call, uint32_t operand, uint32_t active) {
  if (call->ring->p_count == 0)
    return hx_ref_refuse(call, HX_INVALID, "the ring has no special primes P, so it has no switching keys");
  uint32_t ids[HX_REF_PRIMES_MAX];
  const uint32_t count = hx_ref_extended_ids(call->ring, active, ids);
  return hx_ref_check_key(call, hx_ref_operand(call, operand), hx_ref_digit_count(call->ring, active), count, ids);
}

int32_t hx_ref_check_switched(hx_ref_call *call, uint32_t components, hx_ref_shape *shape) {
  HX_REF_TRY(hx_ref_check_active(call, hx_ref_operand(call, 0), shape));
  shape->components = components;
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 0), shape));
  hx_ref_shape switched = *shape;
  switched.components = 2;
  HX_REF_TRY(hx_ref_attr_domain(call, &switched.domain));
  for (uint32_t i = 0; i < call->op->result_count; ++i)
    HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, i), &switched));
  return hx_ref_check_batch(call);
}

void hx_ref_key_sum(const hx_ref_call *call, hx_ref_place c, uint64_t item, uint32_t component, hx_ref_place key,
                    hx_ref_workspace *w) {
  const hx_ref_ring *ring = call->ring;
  const size_t bytes = ring->n * sizeof *call->scratch;
  const hx_ref_rows x = {w->active, w->ids, w->x}, raised = {w->extended, w->ids, w->raised};
  hx_ref_load_coefficients(call, c, item, component, &x);
  for (uint32_t i = 0; i < w->extended; ++i) {
    memset(w->acc[0][i], 0, bytes);
    memset(w->acc[1][i], 0, bytes);
  }
  for (uint32_t j = 0; j < hx_ref_digit_count(ring, w->active); ++j) {
    for (uint32_t i = 0; i < w->active; ++i) memcpy(w->raised[i], w->x[i], bytes);
    hx_ref_raise_digit(ring, j, w->active, &raised);
    for (uint32_t i = 0; i < w->extended; ++i) {
      hx_ref_ntt_forward(ring, w->ids[i], w->raised[i]);
      for (uint32_t k = 0; k < 2; ++k) {
        hx_ref_load_key(call, key, j, k, w->ids[i], w->row[0]);
        hx_ref_row_mul_add(ring, w->ids[i], w->acc[k][i], w->raised[i], w->row[0], w->acc[k][i]);
      }
    }
  }
}

void hx_ref_leave_special(const hx_ref_call *call, const hx_ref_workspace *w, uint64_t *const *rows) {
  for (uint32_t i = 0; i < w->extended; ++i) hx_ref_ntt_inverse(call->ring, w->ids[i], rows[i]);
  const hx_ref_rows keep = {w->active, w->ids, rows};
  const hx_ref_rows drop = {w->extended - w->active, w->ids + w->active, rows + w->active};
  hx_ref_mod_down(call->ring, &keep, &drop, HX_REF_NEAREST);
}

void hx_ref_switch_component(const hx_ref_call *call, hx_ref_place c, uint64_t item, uint32_t component,
                             hx_ref_place key, hx_ref_workspace *w) {
  hx_ref_key_sum(call, c, item, component, key, w);
  for (uint32_t k = 0; k < 2; ++k) hx_ref_leave_special(call, w, w->acc[k]);
}

void hx_ref_add_component(const hx_ref_call *call, hx_ref_place c, uint64_t item, uint32_t component,
                          hx_ref_workspace *w) {
  const hx_ref_rows x = {w->active, w->ids, w->x};
  hx_ref_load_coefficients(call, c, item, component, &x);
  for (uint32_t i = 0; i < w->active; ++i)
    hx_ref_row_add(call->ring, w->ids[i], w->acc[component][i], w->x[i], w->acc[component][i]);
}
