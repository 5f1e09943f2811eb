// SPDX-License-Identifier: Apache-2.0
// Whole operations with a switching key: relinearize, key_switch, rotate, conjugate.
//
// One row of the extended basis is a task: a few digits at a time are converted to its prime, transformed, and their
// products with both halves of the key are summed with one reduction. So a raised digit never leaves its core's cache.
// Only P's rows leave ntt domain in the division by P. What is added (c0, and c1 where a third component was switched)
// and the automorphism come last, on the same row.
#include <string.h>

#include "base.h"
#include "heliox/support/host.h"

// Rows of one item lie in scratch memory in this order: the digits y of Q's rows, the accumulators of both components
// over Q and P, then for each lane its raised digits, of which two serve as work rows in the end.
typedef struct switching {
  uint32_t active, extended, digits;
  uint32_t component;  // of the operand: the one that is switched
  uint32_t element;    // of the automorphism; 1: none
  uint32_t *index;     // [n] of the automorphism in ntt domain
  uint32_t lanes;      // tasks of a loop, each with its own work rows
  uint32_t lane_rows;
  uint32_t group;             // digits that are multiplied together
  uint32_t *ids, *key_limbs;  // [extended]
  hxs_base *raise;            // [digits]; targets by extended row, kind COPY on the digit's own
  hxs_base lower;             // division by P
} switching_t;

// Bytes of raised digits that are multiplied together: half of a cache of 2 MiB, the rest is the key's and the sums'.
#define GROUP_BYTES ((size_t)1 << 20)
// Coefficients that both halves of the key meet before the next ones.
#define TILE 1024u

static const switching_t *plan_of(const hx_cpu_run_t *run) { return run->prepared->plan; }

static void *digit_row(const hx_cpu_run_t *run, uint32_t row) { return hx_cpu_scratch_row(run, row); }

static void *sum_row(const hx_cpu_run_t *run, uint32_t component, uint32_t row) {
  const switching_t *s = plan_of(run);
  return hx_cpu_scratch_row(run, s->active + component * s->extended + row);
}

static void *work_row(const hx_cpu_run_t *run, uint64_t lane, uint32_t row) {
  const switching_t *s = plan_of(run);
  return hx_cpu_scratch_row(run, s->active + 2 * s->extended + lane * s->lane_rows + row);
}

static const void *source_row(const hx_cpu_run_t *run, uint32_t component, uint32_t limb) {
  return hx_cpu_operand_row(run, &run->prepared->operands[0], run->first_item, component, limb);
}

// y of one row of Q.
static void decompose_body(const hx_cpu_run_t *run, uint64_t row) {
  const hxs_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const uint32_t run_length = p->ring->digit_run, limb = (uint32_t)row;
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, limb);
  void *y = digit_row(run, limb);
  const void *x = source_row(run, s->component, limb);
  if (p->operands[0].domain == HX_NTT) {
    run->kernels->ntt->inverse(y, x, &prime->m, &prime->twiddles, p->log_n);
    x = y;
  }
  run->kernels->convert->combine(y, &x, &s->raise[limb / run_length].stage[limb % run_length].map, &prime->m, p->n);
}

// Digit j on an extended row, in ntt domain: in a work row, or where it lies already.
static const void *raise_digit(const hx_cpu_run_t *run, uint64_t lane, uint32_t j, uint32_t work, uint32_t row) {
  const hxs_prepared *p = run->prepared;
  const hxs_base *raise = &plan_of(run)->raise[j];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, plan_of(run)->ids[row]);
  void *out = work_row(run, lane, work);
  if (raise->targets[row].kind == HXS_TARGET_COPY) {
    const void *x = source_row(run, plan_of(run)->component, row);
    if (p->operands[0].domain == HX_NTT) {
      return x;
    }
    run->kernels->ntt->forward(out, x, &prime->m, &prime->twiddles, p->log_n);
    return out;
  }
  const void *inputs[HXS_PRIMES_MAX];
  for (uint32_t i = 0; i < raise->stage_count; i++) {
    inputs[i] = digit_row(run, raise->stage[i].prime);
  }
  run->kernels->convert->combine_lazy(out, inputs, &raise->targets[row].map, &prime->m, p->n);
  run->kernels->ntt->forward(out, out, &prime->m, &prime->twiddles, p->log_n);
  return out;
}

// Adds the products of `count` digits from `first` on with both halves of the key, tile by tile.
static void multiply_row(const hx_cpu_run_t *run, const void *const *raised, uint32_t first, uint32_t count,
                         uint32_t row) {
  const hxs_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const hxs_view *key = &p->operands[1];
  const hxs_modulus *m = &hx_cpu_prime_of(run, s->ids[row])->m;
  const size_t tile = p->n < TILE ? p->n : TILE, word = p->ring->word / 8;
  const void *digits[HX_CPU_DOT_MAX(64)], *keys[HX_CPU_DOT_MAX(64)];
  for (size_t at = 0; at < p->n; at += tile) {
    for (uint32_t c = 0; c < 2; c++) {
      const char *half = hx_cpu_operand_row(run, key, 0, c, s->key_limbs[row]);
      char *out = (char *)sum_row(run, c, row) + at * word;
      for (uint32_t i = 0; i < count; i++) {
        digits[i] = (const char *)raised[i] + at * word;
        keys[i] = half + (first + i) * key->digit_stride * key->element_bytes + at * word;
      }
      run->kernels->pointwise->dot(out, first == 0 ? NULL : out, digits, keys, count, m, tile);
    }
  }
}

static void accumulate_body(const hx_cpu_run_t *run, uint64_t lane) {
  const switching_t *s = plan_of(run);
  const void *raised[HX_CPU_DOT_MAX(64)];
  for (uint32_t row = (uint32_t)lane; row < s->extended; row += s->lanes) {
    for (uint32_t first = 0; first < s->digits; first += s->group) {
      const uint32_t left = s->digits - first, count = left < s->group ? left : s->group;
      for (uint32_t i = 0; i < count; i++) {
        raised[i] = raise_digit(run, lane, first + i, i, row);
      }
      multiply_row(run, raised, first, count, row);
    }
  }
}

// The digits of one of P's rows, in place.
static void leave_body(const hx_cpu_run_t *run, uint64_t at) {
  const hxs_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const uint32_t specials = s->lower.stage_count, i = (uint32_t)(at % specials);
  const hxs_stage_row *stage = &s->lower.stage[i];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, stage->prime);
  void *y = sum_row(run, (uint32_t)(at / specials), s->active + i);
  const void *input = y;
  run->kernels->ntt->inverse(y, y, &prime->m, &prime->twiddles, p->log_n);
  run->kernels->convert->combine(y, &input, &stage->map, &prime->m, p->n);
}

// out = the row's quotient, with what is added, under the automorphism; work: two rows.
static void finish_row(const hx_cpu_run_t *run, uint32_t c, uint32_t row, void *const *work) {
  const hxs_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const hxs_view *result = &p->results[0];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, row);
  const hxs_target *target = &s->lower.targets[row];
  const bool to_ntt = result->domain == HX_NTT;
  void *out = hx_cpu_result_row(run, result, run->first_item, c, row);
  void *value = s->element == 1 ? out : work[0];
  const void *inputs[HXS_PRIMES_MAX];
  for (uint32_t i = 0; i < s->lower.stage_count; i++) {
    inputs[i] = sum_row(run, c, s->active + i);
  }
  run->kernels->convert->combine_lazy(value, inputs, &target->map, &prime->m, p->n);
  run->kernels->ntt->forward(value, value, &prime->m, &prime->twiddles, p->log_n);
  run->kernels->pointwise->mul_scalar_add(value, value, sum_row(run, c, row), hxs_factor_of(&prime->m, target->scale),
                                          &prime->m, p->n);
  if (c < s->component) {  // components below the switched one stay, c1 of two does not
    const void *rest = source_row(run, c, row);
    if (p->operands[0].domain == HX_COEFFICIENT) {
      run->kernels->ntt->forward(work[1], rest, &prime->m, &prime->twiddles, p->log_n);
      rest = work[1];
    }
    run->kernels->pointwise->add(value, value, rest, prime->m.q, p->n);
  }
  if (!to_ntt) {
    run->kernels->ntt->inverse(value, value, &prime->m, &prime->twiddles, p->log_n);
  }
  if (s->element != 1 && to_ntt) {
    run->kernels->permute->gather(out, value, s->index, p->n);
  } else if (s->element != 1) {
    run->kernels->permute->substitute(out, value, s->element, prime->m.q, p->n);
  }
}

static void finish_body(const hx_cpu_run_t *run, uint64_t lane) {
  const switching_t *s = plan_of(run);
  void *const work[2] = {work_row(run, lane, 0), work_row(run, lane, 1)};
  for (uint32_t at = (uint32_t)lane; at < 2 * s->active; at += s->lanes) {
    finish_row(run, at / s->active, at % s->active, work);
  }
}

static int32_t run_switch(hx_cpu_run_t *run) {
  const hxs_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const uint64_t transform = p->n * p->log_n, items = p->results[0].items;
  for (run->first_item = 0; run->first_item < items; run->first_item++) {
    HXS_TRY(hx_cpu_for(run, s->active, transform, decompose_body));
    HXS_TRY(hx_cpu_for(run, s->lanes, transform * s->digits * (s->extended / s->lanes), accumulate_body));
    HXS_TRY(hx_cpu_for(run, 2 * (uint64_t)s->lower.stage_count, transform, leave_body));
    HXS_TRY(hx_cpu_for(run, s->lanes, transform * 2 * (s->active / s->lanes), finish_body));
  }
  return HX_OK;
}

// A step of 0: the operand itself, in the result's domain.
static void copy_body(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_view *a = &p->operands[0], *result = &p->results[0];
  const hx_cpu_place_t at = hx_cpu_place_of(index, 2, result->limbs);
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, result->ids[at.limb]);
  void *out = hx_cpu_result_row(run, result, at.item, at.component, at.limb);
  const void *in = hx_cpu_operand_row(run, a, at.item, at.component, at.limb);
  if (a->domain == result->domain) {
    memcpy(out, in, hx_cpu_row_bytes(p));
  } else if (result->domain == HX_NTT) {
    run->kernels->ntt->forward(out, in, &prime->m, &prime->twiddles, p->log_n);
  } else {
    run->kernels->ntt->inverse(out, in, &prime->m, &prime->twiddles, p->log_n);
  }
}

static int32_t run_copy(hx_cpu_run_t *run) {
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * 2 * out->limbs, run->prepared->n * run->prepared->log_n, copy_body);
}

// ---- preparing

// The result's domain, by the attribute: ntt where it is absent.
static int32_t expect_output_domain(const hxs_build *build, const hxs_view *out) {
  const hx_attr *attr = hxs_attr_find(build, "output_domain");
  const bool coefficient = attr != NULL && hxs_attr_is_text(attr, "coefficient");
  if (attr != NULL && !coefficient && !hxs_attr_is_text(attr, "ntt")) {
    return hxs_refuse(build, HX_INVALID, "attribute output_domain must be the text ntt or coefficient");
  }
  return hxs_expect_domain(build, out, coefficient ? HX_COEFFICIENT : HX_NTT);
}

// A ciphertext on the first primes of Q with `components`, and the result of two.
static int32_t expect_switched(const hxs_build *build, uint32_t components, uint32_t keys) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 1 + keys, 1 + keys, 1, 1));
  hxs_view *a = &p->operands[0], *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, a));
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, a, HX_STANDARD));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_components(build, a, components));
  HXS_TRY(hxs_expect_components(build, out, 2));
  HXS_TRY(hxs_expect_batch(build, a, out));
  HXS_TRY(hxs_expect_ids(build, a, out->limbs, out->ids));
  HXS_TRY(hxs_expect_leading(build, a));
  return expect_output_domain(build, out);
}

static int32_t read_key(const hxs_build *build, switching_t *s) {
  const hxs_view *key = &build->prepared->operands[1];
  if (!hxs_view_is_residue(key) || key->batch_rank != 0) {
    return hxs_refuse(build, HX_INVALID, "operand 1 has dtype %u and %u batch axes; a key has residues and no batch",
                      key->dtype, key->batch_rank);
  }
  HXS_TRY(hxs_expect_components(build, key, 2));
  HXS_TRY(hxs_expect_repr(build, key, HX_STANDARD));
  HXS_TRY(hxs_expect_domain(build, key, HX_NTT));
  if (key->digits < s->digits) {
    return hxs_refuse(build, HX_INVALID, "operand 1 has %u digits, at least %u are needed", key->digits, s->digits);
  }
  for (uint32_t row = 0; row < s->extended; row++) {
    s->key_limbs[row] = hxs_view_limb_of(key, s->ids[row]);
    if (s->key_limbs[row] == HX_NONE) {
      return hxs_refuse(build, HX_INVALID, "operand 1 is a key without a row of prime %u", s->ids[row]);
    }
  }
  return HX_OK;
}

static uint32_t group_of(const hxs_prepared *p, uint32_t digits) {
  const size_t fit = GROUP_BYTES / hx_cpu_row_bytes(p);
  const uint32_t most = HX_CPU_DOT_MAX(p->ring->word), wanted = digits < most ? digits : most;
  return fit < 1 ? 1 : fit < wanted ? (uint32_t)fit : wanted;
}

static int32_t build_switch(hxs_build *build, uint32_t component, uint32_t element) {
  hxs_prepared *p = build->prepared;
  const hxs_ring *t = build->ring;
  switching_t *s = NULL;
  if (t->p_count == 0) {
    return hxs_refuse(build, HX_INVALID, "the ring has no special primes, so it has no switching keys");
  }
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *s, &s));
  s->active = p->operands[0].limbs;
  s->extended = s->active + t->p_count;
  s->digits = (s->active + t->digit_run - 1) / t->digit_run;
  s->component = component;
  s->element = element;
  HXS_TRY(hxs_keep_or_fail(build, s->extended, sizeof *s->ids, &s->ids));
  HXS_TRY(hxs_keep_or_fail(build, s->extended, sizeof *s->key_limbs, &s->key_limbs));
  HXS_TRY(hxs_keep_or_fail(build, s->digits, sizeof *s->raise, &s->raise));
  for (uint32_t row = 0; row < s->extended; row++) {
    s->ids[row] = row < s->active ? row : t->q_count + row - s->active;
  }
  HXS_TRY(read_key(build, s));
  for (uint32_t j = 0; j < s->digits; j++) {
    const uint32_t first = j * t->digit_run, left = s->active - first;
    HXS_TRY(hxs_base_raise(build, first, left < t->digit_run ? left : t->digit_run, s->ids, s->extended, &s->raise[j]));
    hxs_base_to_montgomery(t, &s->raise[j], false);
  }
  HXS_TRY(hxs_base_lower(build, true, s->ids, s->active, &s->lower));
  hxs_base_to_montgomery(t, &s->lower, false);
  if (element != 1 && p->results[0].domain == HX_NTT) {
    HXS_TRY(hxs_keep_or_fail(build, p->n, sizeof *s->index, &s->index));
    hxs_automorphism_index(p->log_n, element, s->index);
  }
  const uint32_t threads = hxs_host_threads();
  s->lanes = threads < s->extended ? threads : s->extended;
  s->group = group_of(p, s->digits);
  s->lane_rows = s->group > 2 ? s->group : 2;
  p->scratch_bytes = ((uint64_t)s->active + 2 * s->extended + (uint64_t)s->lanes * s->lane_rows) * hx_cpu_row_bytes(p);
  p->cost = p->results[0].items * p->n * p->log_n *
            ((uint64_t)s->active * 3 + 2 * t->p_count + (uint64_t)s->extended * s->digits);
  p->plan = s;
  hx_cpu_set_run(build, run_switch);
  return HX_OK;
}

int32_t hx_cpu_build_relinearize(hxs_build *build) {
  HXS_TRY(expect_switched(build, 3, 1));
  return build_switch(build, 2, 1);
}

int32_t hx_cpu_build_key_switch(hxs_build *build) {
  HXS_TRY(expect_switched(build, 2, 1));
  return build_switch(build, 1, 1);
}

int32_t hx_cpu_build_conjugate(hxs_build *build) {
  HXS_TRY(expect_switched(build, 2, 1));
  return build_switch(build, 1, 2 * (uint32_t)build->prepared->n - 1);
}

int32_t hx_cpu_build_rotate(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t step = 0;
  HXS_TRY(hxs_attr_i64(build, "step", INT64_MIN, INT64_MAX, &step));
  const uint32_t element = hxs_rotation_element(p->log_n, step);
  HXS_TRY(expect_switched(build, 2, element == 1 ? 0 : 1));
  if (element != 1) {
    return build_switch(build, 1, element);
  }
  hx_cpu_set_run(build, run_copy);
  p->cost = p->results[0].items * 2 * p->results[0].limbs * p->n * p->log_n;
  return HX_OK;
}
