// SPDX-License-Identifier: Apache-2.0
// Preparing operations with a switching key: checks and constants. See switch.h.
#include <stdlib.h>
#include <string.h>

#include "heliox/support/host.h"
#include "heliox/support/switched.h"
#include "switch.h"

// Bytes of raised digits that are multiplied together: half of a cache of 2 MiB, the rest is the key's and the sums'.
#define GROUP_BYTES ((size_t)1 << 20)
// Inputs of a conversion from which on rows go in batches: a raised row travels three times more then.
#define BATCH_INPUTS 4u

static const hxs_modulus *modulus(const hxs_build *build, uint32_t id) { return &build->ring->moduli[id]; }

// ---- checks

int32_t hx_cpu_switch_source(const hxs_build *build, hxs_view *a, uint32_t components, uint32_t active,
                             const hxs_view *shape) {
  HXS_TRY(hxs_expect_residues(build, a));
  HXS_TRY(hxs_expect_repr(build, a, HX_STANDARD));
  HXS_TRY(hxs_expect_components(build, a, components));
  HXS_TRY(hxs_expect_batch(build, a, shape));
  HXS_TRY(hxs_expect_leading(build, a));
  if (a->limbs != active) {
    return hxs_refuse(build, HX_INVALID, "%s %u has %u limbs, must be %u", a->side, a->index, a->limbs, active);
  }
  return HX_OK;
}

int32_t hx_cpu_switch_begin(const hxs_build *build, uint32_t active, uint32_t drops, uint32_t term_count,
                            hx_cpu_switch_t **out) {
  const hxs_ring *t = build->ring;
  hx_cpu_switch_t *s = NULL;
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *s, &s));
  *s = (hx_cpu_switch_t){.active = active,
                         .kept = active - drops,
                         .specials = t->p_count,
                         .extended = active + t->p_count,
                         .digits = (active + t->digit_run - 1) / t->digit_run,
                         .source_count = 1,
                         .term_count = term_count,
                         .result_count = build->prepared->result_count,
                         .weights = HX_NONE};
  HXS_TRY(hxs_keep_or_fail(build, s->extended, sizeof *s->ids, &s->ids));
  HXS_TRY(hxs_keep_or_fail(build, term_count, sizeof *s->terms, &s->terms));
  for (uint32_t row = 0; row < s->extended; row++) {
    s->ids[row] = row < active ? row : t->q_count + row - active;
  }
  *out = s;
  return HX_OK;
}

static int32_t build_turn(const hxs_build *build, uint32_t element, hx_cpu_turn_t *turn) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_keep_or_fail(build, p->n / 8, sizeof *turn->groups, &turn->groups));
  uint32_t *places = malloc(p->n * sizeof *places);
  if (places == NULL) {
    return hxs_refuse(build, HX_OUT_OF_MEMORY, "no memory for %zu places of an automorphism", p->n);
  }
  const uint32_t back = (uint32_t)hxs_odd_inverse(element) & (uint32_t)(2 * p->n - 1);
  hxs_automorphism_index(p->log_n, back, places);
  hx_cpu_turn_fill(turn, places, p->n);
  free(places);
  return HX_OK;
}

int32_t hx_cpu_switch_term(const hxs_build *build, hx_cpu_switch_t *s, uint32_t t, uint32_t key, uint32_t element) {
  hx_cpu_switch_term_t *term = &s->terms[t];
  term->source = s->source_count > 1 ? t : 0;
  term->key = key;
  term->element = element;
  if (element != 1 && s->sums) {
    HXS_TRY(hxs_keep_or_fail(build, build->prepared->n, sizeof *term->index, &term->index));
    hxs_automorphism_index(build->prepared->log_n, element, term->index);
  } else if (element != 1 && build->prepared->results[t].domain == HX_NTT) {
    HXS_TRY(build_turn(build, element, &term->turn));
  }
  return key == HX_NONE ? HX_OK : hxs_accept_key(build, key, s->digits, s->extended, s->ids, &term->key_limbs);
}

// ---- steps

int32_t hx_cpu_switch_steps(const hxs_build *build, uint32_t others, hx_cpu_switch_t *s, const int64_t *steps) {
  hxs_rotation *rotations = NULL;
  HXS_TRY(hxs_accept_rotations(build, others, steps, s->term_count, &rotations));
  for (uint32_t t = 0; t < s->term_count; t++) {
    HXS_TRY(hx_cpu_switch_term(build, s, t, rotations[t].key, rotations[t].element));
  }
  return HX_OK;
}

// ---- constants

// Digits: the primes of their runs that are left. P's rows: what a division by all of P makes of them first.
static int32_t build_bases(const hxs_build *build, hx_cpu_switch_t *s) {
  const uint32_t run = build->ring->digit_run;
  hxs_base lower = {.transform = true};
  HXS_TRY(hxs_keep_or_fail(build, s->digits, sizeof *s->raise, &s->raise));
  for (uint32_t j = 0; j < s->digits; j++) {
    const uint32_t first = j * run, left = s->active - first;
    HXS_TRY(hxs_base_raise(build, first, left < run ? left : run, s->ids, s->extended, &s->raise[j]));
    hxs_base_to_montgomery(build->ring, &s->raise[j], false);
  }
  HXS_TRY(hxs_base_lower(build, true, s->ids, 0, &lower));
  hxs_base_to_montgomery(build->ring, &lower, false);
  HXS_TRY(hxs_keep_or_fail(build, s->specials, sizeof *s->special, &s->special));
  for (uint32_t i = 0; i < s->specials; i++) {
    s->special[i] = lower.stage[i].map;
  }
  return HX_OK;
}

// What P's digits y and those of the first `before` dropped rows of Q, d_0 the last one, are taken off by on a row mod
// q; and the row itself, times `own` (0: it is added in ntt domain). mod_down divides by P: y of p counts p^-1. Each
// step of the rescale divides by its d: so y of p counts p^-1 (d_0 d_1 ...)^-1 and y of d_s counts (d_s d_s+1 ...)^-1.
// Every y holds h = (d - 1) / 2 too much. Returns (d_0 d_1 ...)^-1.
static int32_t build_map(const hxs_build *build, const hx_cpu_switch_t *s, uint32_t prime, uint32_t before, bool own,
                         hxs_affine *out, uint64_t *out_group) {
  const hxs_modulus *m = modulus(build, prime);
  const uint32_t count = s->specials + before;
  uint64_t group = 1, start = 0, factors[HXS_PRIMES_MAX];
  for (uint32_t i = count; i-- > 0;) {
    const uint32_t id = i < s->specials ? s->ids[s->active + i] : s->active - 1 - (i - s->specials);
    const uint64_t inverse = hxs_inverse_mod(m, modulus(build, id)->q % m->q);
    factors[i] = hxs_mul_mod(m, group, inverse);
    group = i < s->specials ? group : factors[i];
    const uint64_t half = (modulus(build, id)->q - 1) / 2 % m->q;
    start = hxs_mod_once(start + hxs_mul_mod(m, half, factors[i]), m->q);
  }
  out->count = count + (own ? 1 : 0);
  HXS_TRY(hxs_keep_or_fail(build, out->count, sizeof *out->weights, &out->weights));
  for (uint32_t i = 0; i < count; i++) {
    out->weights[i] = hxs_to_montgomery(m, hxs_neg_mod(m, factors[i]));
  }
  if (own) {
    out->weights[count] = hxs_to_montgomery(m, group);
    start = hxs_mod_once(start + (m->q - 1) / 2, m->q);  // the row becomes such a y
  }
  out->start = hxs_to_montgomery(m, start);
  *out_group = group;
  return HX_OK;
}

// P mod a prime of Q.
static uint64_t special_product(const hxs_build *build, const hx_cpu_switch_t *s, uint32_t prime) {
  const hxs_modulus *m = modulus(build, prime);
  uint64_t product = 1;
  for (uint32_t i = 0; i < s->specials; i++) {
    product = hxs_mul_mod(m, product, modulus(build, s->ids[s->active + i])->q % m->q);
  }
  return product;
}

static int32_t build_division(const hxs_build *build, hx_cpu_switch_t *s) {
  const uint32_t drops = s->active - s->kept;
  uint64_t group = 1;
  HXS_TRY(hxs_keep_or_fail(build, drops, sizeof *s->dropped, &s->dropped));
  HXS_TRY(hxs_keep_or_fail(build, drops, sizeof *s->dropped_scale, &s->dropped_scale));
  HXS_TRY(hxs_keep_or_fail(build, s->kept, sizeof *s->kept_map, &s->kept_map));
  HXS_TRY(hxs_keep_or_fail(build, s->kept, sizeof *s->kept_scale, &s->kept_scale));
  HXS_TRY(hxs_keep_or_fail(build, s->kept, sizeof *s->rest_scale, &s->rest_scale));
  HXS_TRY(hxs_keep_or_fail(build, s->active, sizeof *s->lift, &s->lift));
  for (uint32_t at = 0; at < drops; at++) {
    const uint32_t prime = s->active - 1 - at;
    HXS_TRY(build_map(build, s, prime, at, true, &s->dropped[at], &group));
    const uint64_t inverse = hxs_inverse_mod(modulus(build, prime), special_product(build, s, prime));
    s->dropped_scale[at] = hxs_factor_of(modulus(build, prime), inverse);
  }
  for (uint32_t prime = 0; prime < s->active; prime++) {
    const hxs_modulus *m = modulus(build, prime);
    const uint64_t product = special_product(build, s, prime);
    s->lift[prime] = hxs_factor_of(m, product);
    if (prime < s->kept) {
      HXS_TRY(build_map(build, s, prime, drops, false, &s->kept_map[prime], &group));
      s->rest_scale[prime] = hxs_factor_of(m, group);
      s->kept_scale[prime] = hxs_factor_of(m, hxs_mul_mod(m, group, hxs_inverse_mod(m, product)));
    }
  }
  return HX_OK;
}

// Digits that are raised together: as many as fit, or all where several keys meet them.
static uint32_t group_of(const hxs_prepared *p, const hx_cpu_switch_t *s) {
  const size_t fit = GROUP_BYTES / hx_cpu_row_bytes(p);
  if (s->term_count > s->source_count || fit >= s->digits) {
    return s->digits;
  }
  return fit < 1 ? 1 : (uint32_t)fit;
}

// Rows that are converted together: where a conversion has so many inputs that reading them from beyond L2 for every
// row costs more than writing the raised digits of a batch there; or where every row meets the dropped rows of many
// results, and keys throw the digits out of L2 anyway. Digits of one source alone.
static uint32_t batch_of(const hxs_prepared *p, const hx_cpu_switch_t *s) {
  const bool far = s->active * hx_cpu_row_bytes(p) > GROUP_BYTES;
  const bool many = s->raise[0].stage_count >= BATCH_INPUTS || (s->result_count > 1 && !s->sums);
  return s->source_count == 1 && many && far ? HX_CPU_SWITCH_BATCH : 1;
}

// Results that meet a row's raised digits together: several where these come from beyond L2 for each of them.
static uint32_t together_of(const hx_cpu_switch_t *s) {
  const uint32_t most = s->result_count < HX_CPU_SWITCH_TOGETHER ? s->result_count : HX_CPU_SWITCH_TOGETHER;
  return s->batch == 1 || s->sums ? 1 : most;
}

int32_t hx_cpu_switch_end(hxs_build *build, hx_cpu_switch_t *s) {
  hxs_prepared *p = build->prepared;
  bool needs_special = s->sums;
  for (uint32_t t = 0; t < s->term_count; t++) {
    needs_special |= s->terms[t].key != HX_NONE;
  }
  if (needs_special && s->specials == 0) {
    return hxs_refuse(build, HX_INVALID, "the ring has no special primes, so it has no switching keys");
  }
  HXS_TRY(build_bases(build, s));
  HXS_TRY(build_division(build, s));
  const uint32_t threads = hxs_host_threads();
  s->lanes = threads < s->extended ? threads : s->extended;
  s->group = group_of(p, s);
  const uint64_t turned = !s->sums ? 0 : s->weights != HX_NONE ? 2 * (uint64_t)s->term_count : 4;
  s->batch = batch_of(p, s);
  s->raised_rows = s->batch > 1 ? s->batch * s->digits : s->group;
  s->together = together_of(s);
  s->lane_rows = s->raised_rows + 4 + 2 * s->batch * s->together + (uint32_t)turned;
  const uint64_t dropped = s->extended - s->kept, results = 2 * (uint64_t)s->result_count;
  p->scratch_bytes = (s->source_count * (uint64_t)s->active + results * dropped + (uint64_t)s->lanes * s->lane_rows) *
                     hx_cpu_scratch_stride(p);
  p->cost = p->results[0].items * p->n * p->log_n *
            ((uint64_t)s->source_count * (s->active + (uint64_t)s->extended * s->digits) + results * s->extended);
  p->plan = s;
  hx_cpu_set_run(build, hx_cpu_switch_run);
  return HX_OK;
}
