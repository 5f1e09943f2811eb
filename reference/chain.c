// SPDX-License-Identifier: Apache-2.0
#include "reference/chain.h"

int32_t hx_ref_check_active(const hx_ref_call *call, hx_ref_place place, hx_ref_shape *out) {
  HX_REF_TRY(hx_ref_shape_of(call, place, out));
  out->repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, place, out));
  // Ids ascend, so the last one tells whether any is left out.
  const uint32_t last = out->ids[out->id_count - 1];
  if (last != out->id_count - 1 || last >= call->ring->q_count)
    return hx_ref_refuse(call, HX_INVALID, "%s %u has %u rows up to prime %u; must be on Q's first primes, of %u",
                         place.side, place.index, out->id_count, last, call->ring->q_count);
  return HX_OK;
}

uint32_t hx_ref_extended_ids(const hx_ref_ring *ring, uint32_t active, uint32_t *out) {
  for (uint32_t i = 0; i < active; ++i) out[i] = i;
  for (uint32_t i = 0; i < ring->p_count; ++i) out[active + i] = ring->q_count + i;
  return active + ring->p_count;
}

// Digit j is the ids j * run .. min((j + 1) * run, q_count) - 1, so those with a prime below `active` come first.
uint32_t hx_ref_digit_count(const hx_ref_ring *ring, uint32_t active) {
  return active / ring->digit_run + (active % ring->digit_run != 0);
}

static uint32_t least(uint64_t a, uint32_t b) { return a < b ? (uint32_t)a : b; }

void hx_ref_raise_digit(const hx_ref_ring *ring, uint32_t digit, uint32_t active, const hx_ref_rows *rows) {
  const uint32_t first = digit * ring->digit_run;
  const uint32_t last = least((uint64_t)first + ring->digit_run, active);
  const hx_ref_rows own = {last - first, rows->prime_ids + first, rows->rows + first};
  const hx_ref_rows before = {first, rows->prime_ids, rows->rows};
  const hx_ref_rows after = {rows->count - last, rows->prime_ids + last, rows->rows + last};
  hx_ref_convert(ring, &own, &before, HX_REF_NEAREST);
  hx_ref_convert(ring, &own, &after, HX_REF_NEAREST);
}
