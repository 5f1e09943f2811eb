/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that give rows of other primes, or move elements: lifts, changes of basis, automorphism, uniform rows. */
#include <string.h>

#include "ops.h"

/* ------------------------------------------------------------------ rns.mod_up, mod_down, rescale, center_lift of a
 * row
 *
 * heliox/support/base.h: a stage makes rows y from the operand's coefficients, then each target makes a row of the
 * result from the y. The SDK computes every constant; here they are applied. */

static void load_coefficients(const job *j, uint32_t limb, const prime *p, uint64_t *row) {
  job_load(j, 0, limb, row);
  if (j->prepared->conversion->transform) ntt_inverse(j->tables, p, row);
}

static void run_target(const job *j, const hxs_target *target, uint64_t *const *y, uint64_t *out, uint64_t *x) {
  const prime *p = &j->tables->primes[target->prime];
  if (target->kind == HXS_TARGET_COPY) {
    job_load(j, 0, target->limb, out);
    return;
  }
  affine(j->tables, p, &target->map, y, out);
  if (j->prepared->conversion->transform) ntt_forward(j->tables, p, out);
  if (target->kind == HXS_TARGET_DIVIDE) {
    const hxs_factor scale = hxs_factor_of(&p->m, target->scale);
    job_load(j, 0, target->limb, x);
    for (uint32_t k = 0; k < j->tables->n; ++k) out[k] = mod_add(out[k], mod_mul_factor(x[k], scale, p->m.q), p->m.q);
  }
}

static void run_conversion(const job *j) {
  const hxs_base *base = j->prepared->conversion;
  uint64_t *y[HXS_PRIMES_MAX], *out = job_row(j, base->stage_count), *x = job_row(j, base->stage_count + 1);
  for (uint32_t s = 0; s < base->stage_count; ++s) {
    const hxs_stage_row *row = &base->stage[s];
    const prime *p = &j->tables->primes[row->prime];
    y[s] = job_row(j, s);
    load_coefficients(j, row->limb, p, y[s]);
    affine(j->tables, p, &row->map, base->chained ? y : y + s, y[s]);
  }
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    run_target(j, &base->targets[limb], y, out, x);
    job_store(j, limb, out);
  }
}

static int32_t build_conversion(hxs_build *b, int32_t (*plan)(hxs_build *b, hxs_base **out)) {
  hxs_base *base = NULL;
  HXS_TRY(plan(b, &base));
  runs(b, run_conversion, base->stage_count + 2)->conversion = base;
  return HX_OK;
}

int32_t build_mod_up(hxs_build *b) { return build_conversion(b, hxs_base_mod_up); }
int32_t build_mod_down(hxs_build *b) { return build_conversion(b, hxs_base_mod_down); }
int32_t build_rescale(hxs_build *b) { return build_conversion(b, hxs_base_rescale); }

/* ------------------------------------------------------------------ rns.center_lift: one row, or signed words */

static void run_lift_signed(const job *j) {
  uint64_t *in = job_row(j, 0), *out = job_row(j, 1);
  job_load(j, 0, 0, in);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    for (uint32_t k = 0; k < j->tables->n; ++k) {
      int64_t word;
      memcpy(&word, &in[k], sizeof word);
      out[k] = mod_signed(word, job_prime(j, limb)->m.q);
    }
    job_store(j, limb, out);
  }
}

int32_t build_center_lift(hxs_build *b) {
  if (b->prepared->operands[0].dtype != HX_I64) return build_conversion(b, hxs_base_lift_limb);
  HXS_TRY(hxs_accept_lift_words(b));
  runs(b, run_lift_signed, 2);
  return HX_OK;
}

/* ------------------------------------------------------------------ rns.automorphism */

static void run_automorphism(const job *j) {
  uint64_t *in = job_row(j, 0), *out = job_row(j, 1);
  const uint32_t *order = j->prepared->order;
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    job_load(j, 0, limb, in);
    if (order == NULL) {
      substitute(j->tables, job_prime(j, limb), j->prepared->number, in, out);
    } else {
      for (uint32_t k = 0; k < j->tables->n; ++k) out[k] = in[order[k]];
    }
    job_store(j, limb, out);
  }
}

int32_t build_automorphism(hxs_build *b) {
  uint32_t element = 0, *order = NULL;
  HXS_TRY(hxs_accept_automorphism(b, &element));
  if (b->prepared->results[0].domain == HX_NTT) {
    HXS_TRY(hxs_keep_or_fail(b, b->prepared->n, sizeof *order, &order));
    hxs_automorphism_index(b->ring->log_n, element, order);
  }
  hx_prepared *prepared = runs(b, run_automorphism, 2);
  prepared->number = element;
  prepared->order = order;
  return HX_OK;
}

/* ------------------------------------------------------------------ rns.expand_uniform: a seed to a polynomial */

static void run_expand_uniform(const job *j) {
  const hxs_view *out = &j->prepared->base.results[0];
  uint64_t *row = job_row(j, 0);
  for (uint32_t limb = 0; limb < out->limbs; ++limb) {
    expand_uniform(j->tables, out->ids[limb], job_bytes(j, 0), j->prepared->number, row);
    job_store(j, limb, row);
  }
}

int32_t build_expand_uniform(hxs_build *b) {
  uint32_t index = 0;
  HXS_TRY(hxs_accept_expand(b, &index));
  runs(b, run_expand_uniform, 1)->number = index;
  return HX_OK;
}
