// SPDX-License-Identifier: Apache-2.0
// Whole operations with a switching key: relinearize, key_switch, rotate, conjugate.
//
// One row of the extended basis is a task: a few digits at a time are converted to its prime, transformed, and their
// products with both halves of the key are summed with one reduction. So a raised digit never leaves its core's cache.
// Only P's rows leave ntt domain in the division by P. What is added (c0, and c1 where a third component was switched)
// and the automorphism come last, on the same row.
#include <string.h>

#include "base.h"
#include "host.h"

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
  hx_cpu_base_t *raise;       // [digits]; targets by extended row, kind COPY on the digit's own
  hx_cpu_base_t lower;        // division by P
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
  const hx_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const uint32_t run_length = p->tables->digit_run, limb = (uint32_t)row;
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, limb);
  void *y = digit_row(run, limb);
  const void *x = source_row(run, s->component, limb);
  if (p->operands[0].domain == HX_NTT) {
    p->kernels.ntt->inverse(y, x, &prime->m, &prime->twiddles, p->log_n);
    x = y;
  }
  p->kernels.convert->combine(y, &x, &s->raise[limb / run_length].stage[limb % run_length].map, &prime->m, p->n);
}

// Digit j on an extended row, in ntt domain: in a work row, or where it lies already.
static const void *raise_digit(const hx_cpu_run_t *run, uint64_t lane, uint32_t j, uint32_t work, uint32_t row) {
  const hx_prepared *p = run->prepared;
  const hx_cpu_base_t *raise = &plan_of(run)->raise[j];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, plan_of(run)->ids[row]);
  void *out = work_row(run, lane, work);
  if (raise->targets[row].kind == HX_CPU_TARGET_COPY) {
    const void *x = source_row(run, plan_of(run)->component, row);
    if (p->operands[0].domain == HX_NTT) {
      return x;
    }
    p->kernels.ntt->forward(out, x, &prime->m, &prime->twiddles, p->log_n);
    return out;
  }
  const void *inputs[HX_CPU_PRIMES_MAX];
  for (uint32_t i = 0; i < raise->stage_count; i++) {
    inputs[i] = digit_row(run, raise->stage[i].prime);
  }
  p->kernels.convert->combine_lazy(out, inputs, &raise->targets[row].map, &prime->m, p->n);
  p->kernels.ntt->forward(out, out, &prime->m, &prime->twiddles, p->log_n);
  return out;
}

// Adds the products of `count` digits from `first` on with both halves of the key, tile by tile.
static void multiply_row(const hx_cpu_run_t *run, const void *const *raised, uint32_t first, uint32_t count,
                         uint32_t row) {
  const hx_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const hx_cpu_view_t *key = &p->operands[1];
  const hx_cpu_modulus_t *m = &hx_cpu_prime_of(run, s->ids[row])->m;
  const size_t tile = p->n < TILE ? p->n : TILE, word = p->tables->word / 8;
  const void *digits[HX_CPU_DOT_MAX(64)], *keys[HX_CPU_DOT_MAX(64)];
  for (size_t at = 0; at < p->n; at += tile) {
    for (uint32_t c = 0; c < 2; c++) {
      const char *half = hx_cpu_operand_row(run, key, 0, c, s->key_limbs[row]);
      char *out = (char *)sum_row(run, c, row) + at * word;
      for (uint32_t i = 0; i < count; i++) {
        digits[i] = (const char *)raised[i] + at * word;
        keys[i] = half + (first + i) * key->digit_stride * key->element_bytes + at * word;
      }
      p->kernels.pointwise->dot(out, first == 0 ? NULL : out, digits, keys, count, m, tile);
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
  const hx_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const uint32_t specials = s->lower.stage_count, i = (uint32_t)(at % specials);
  const hx_cpu_stage_row_t *stage = &s->lower.stage[i];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, stage->prime);
  void *y = sum_row(run, (uint32_t)(at / specials), s->active + i);
  const void *input = y;
  p->kernels.ntt->inverse(y, y, &prime->m, &prime->twiddles, p->log_n);
  p->kernels.convert->combine(y, &input, &stage->map, &prime->m, p->n);
}

// out = the row's quotient, with what is added, under the automorphism; work: two rows.
static void finish_row(const hx_cpu_run_t *run, uint32_t c, uint32_t row, void *const *work) {
  const hx_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const hx_cpu_view_t *result = &p->results[0];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, row);
  const hx_cpu_target_t *target = &s->lower.targets[row];
  const bool to_ntt = result->domain == HX_NTT;
  void *out = hx_cpu_result_row(run, result, run->first_item, c, row);
  void *value = s->element == 1 ? out : work[0];
  const void *inputs[HX_CPU_PRIMES_MAX];
  for (uint32_t i = 0; i < s->lower.stage_count; i++) {
    inputs[i] = sum_row(run, c, s->active + i);
  }
  p->kernels.convert->combine_lazy(value, inputs, &target->map, &prime->m, p->n);
  p->kernels.ntt->forward(value, value, &prime->m, &prime->twiddles, p->log_n);
  p->kernels.pointwise->mul_scalar_add(value, value, sum_row(run, c, row), target->scale, &prime->m, p->n);
  if (c < s->component) {  // components below the switched one stay, c1 of two does not
    const void *rest = source_row(run, c, row);
    if (p->operands[0].domain == HX_COEFFICIENT) {
      p->kernels.ntt->forward(work[1], rest, &prime->m, &prime->twiddles, p->log_n);
      rest = work[1];
    }
    p->kernels.pointwise->add(value, value, rest, prime->m.q, p->n);
  }
  if (!to_ntt) {
    p->kernels.ntt->inverse(value, value, &prime->m, &prime->twiddles, p->log_n);
  }
  if (s->element != 1 && to_ntt) {
    p->kernels.permute->gather(out, value, s->index, p->n);
  } else if (s->element != 1) {
    p->kernels.permute->substitute(out, value, s->element, prime->m.q, p->n);
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
  const hx_prepared *p = run->prepared;
  const switching_t *s = p->plan;
  const uint64_t transform = p->n * p->log_n, items = p->results[0].items;
  for (run->first_item = 0; run->first_item < items; run->first_item++) {
    HX_CPU_TRY(hx_cpu_for(run, s->active, transform, decompose_body));
    HX_CPU_TRY(hx_cpu_for(run, s->lanes, transform * s->digits * (s->extended / s->lanes), accumulate_body));
    HX_CPU_TRY(hx_cpu_for(run, 2 * (uint64_t)s->lower.stage_count, transform, leave_body));
    HX_CPU_TRY(hx_cpu_for(run, s->lanes, transform * 2 * (s->active / s->lanes), finish_body));
  }
  return HX_OK;
}

// A step of 0: the operand itself, in the result's domain.
static void copy_body(const hx_cpu_run_t *run, uint64_t index) {
  const hx_prepared *p = run->prepared;
  const hx_cpu_view_t *a = &p->operands[0], *result = &p->results[0];
  const hx_cpu_place_t at = hx_cpu_place_of(index, 2, result->limbs);
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, result->ids[at.limb]);
  void *out = hx_cpu_result_row(run, result, at.item, at.component, at.limb);
  const void *in = hx_cpu_operand_row(run, a, at.item, at.component, at.limb);
  if (a->domain == result->domain) {
    memcpy(out, in, hx_cpu_row_bytes(p));
  } else if (result->domain == HX_NTT) {
    p->kernels.ntt->forward(out, in, &prime->m, &prime->twiddles, p->log_n);
  } else {
    p->kernels.ntt->inverse(out, in, &prime->m, &prime->twiddles, p->log_n);
  }
}

static int32_t run_copy(hx_cpu_run_t *run) {
  const hx_cpu_view_t *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * 2 * out->limbs, run->prepared->n * run->prepared->log_n, copy_body);
}

// ---- preparing

// The result's domain, by the attribute: ntt where it is absent.
static int32_t expect_output_domain(const hx_cpu_build_t *build, const hx_cpu_view_t *out) {
  const hx_attr *attr = hx_cpu_attr_find(build, "output_domain");
  const bool coefficient = attr != NULL && hx_cpu_attr_is_text(attr, "coefficient");
  if (attr != NULL && !coefficient && !hx_cpu_attr_is_text(attr, "ntt")) {
    return hx_cpu_refuse(build, HX_INVALID, "attribute output_domain must be the text ntt or coefficient");
  }
  return hx_cpu_expect_domain(build, out, coefficient ? HX_COEFFICIENT : HX_NTT);
}

// A ciphertext on the first primes of Q with `components`, and the result of two.
static int32_t expect_switched(const hx_cpu_build_t *build, uint32_t components, uint32_t keys) {
  const hx_prepared *p = build->prepared;
  HX_CPU_TRY(hx_cpu_expect_counts(build, 1 + keys, 1 + keys, 1, 1));
  hx_cpu_view_t *a = &p->operands[0], *out = &p->results[0];
  HX_CPU_TRY(hx_cpu_expect_residues(build, a));
  HX_CPU_TRY(hx_cpu_expect_residues(build, out));
  HX_CPU_TRY(hx_cpu_expect_repr(build, a, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_repr(build, out, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_components(build, a, components));
  HX_CPU_TRY(hx_cpu_expect_components(build, out, 2));
  HX_CPU_TRY(hx_cpu_expect_batch(build, a, out));
  HX_CPU_TRY(hx_cpu_expect_ids(build, a, out->limbs, out->ids));
  for (uint32_t limb = 0; limb < a->limbs; limb++) {
    if (a->ids[limb] != limb || limb >= build->tables->q_count) {
      return hx_cpu_refuse(build, HX_INVALID,
                           "row %u of operand 0 is of prime %u; a ciphertext stands on the first primes of Q, in order",
                           limb, a->ids[limb]);
    }
  }
  return expect_output_domain(build, out);
}

static int32_t read_key(const hx_cpu_build_t *build, switching_t *s) {
  const hx_cpu_view_t *key = &build->prepared->operands[1];
  if (!hx_cpu_view_is_residue(key) || key->batch_rank != 0) {
    return hx_cpu_refuse(build, HX_INVALID, "operand 1 has dtype %u and %u batch axes; a key has residues and no batch",
                         key->dtype, key->batch_rank);
  }
  HX_CPU_TRY(hx_cpu_expect_components(build, key, 2));
  HX_CPU_TRY(hx_cpu_expect_repr(build, key, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_domain(build, key, HX_NTT));
  if (key->digits < s->digits) {
    return hx_cpu_refuse(build, HX_INVALID, "operand 1 has %u digits, at least %u are needed", key->digits, s->digits);
  }
  for (uint32_t row = 0; row < s->extended; row++) {
    s->key_limbs[row] = hx_cpu_view_limb_of(key, s->ids[row]);
    if (s->key_limbs[row] == HX_NONE) {
      return hx_cpu_refuse(build, HX_INVALID, "operand 1 is a key without a row of prime %u", s->ids[row]);
    }
  }
  return HX_OK;
}

// Digit j: the primes of its run that are left.
static int32_t build_raise(const hx_cpu_build_t *build, switching_t *s, uint32_t j) {
  const uint32_t first = j * build->tables->digit_run, left = s->active - first;
  hx_cpu_base_t *base = &s->raise[j];
  base->stage_count = left < build->tables->digit_run ? left : build->tables->digit_run;
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, base->stage_count, sizeof *base->stage, &base->stage));
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, s->extended, sizeof *base->targets, &base->targets));
  for (uint32_t i = 0; i < base->stage_count; i++) {
    base->stage[i].prime = base->stage[i].limb = first + i;
  }
  HX_CPU_TRY(hx_cpu_base_digits(build, base, true));
  for (uint32_t row = 0; row < s->extended; row++) {
    if (row >= first && row < first + base->stage_count) {
      base->targets[row].kind = HX_CPU_TARGET_COPY;
    } else {
      HX_CPU_TRY(hx_cpu_base_conversion(build, base, s->ids[row], &base->targets[row]));
    }
  }
  return HX_OK;
}

static int32_t build_lower(const hx_cpu_build_t *build, switching_t *s) {
  hx_cpu_base_t *base = &s->lower;
  base->transform = true;
  base->stage_count = build->tables->p_count;
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, base->stage_count, sizeof *base->stage, &base->stage));
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, s->active, sizeof *base->targets, &base->targets));
  for (uint32_t i = 0; i < base->stage_count; i++) {
    base->stage[i].prime = s->ids[s->active + i];
  }
  HX_CPU_TRY(hx_cpu_base_digits(build, base, true));
  for (uint32_t row = 0; row < s->active; row++) {
    HX_CPU_TRY(hx_cpu_base_quotient(build, base, row, true, &base->targets[row]));
  }
  return HX_OK;
}

static uint32_t group_of(const hx_prepared *p, uint32_t digits) {
  const size_t fit = GROUP_BYTES / hx_cpu_row_bytes(p);
  const uint32_t most = HX_CPU_DOT_MAX(p->tables->word), wanted = digits < most ? digits : most;
  return fit < 1 ? 1 : fit < wanted ? (uint32_t)fit : wanted;
}

static int32_t build_switch(hx_cpu_build_t *build, uint32_t component, uint32_t element) {
  hx_prepared *p = build->prepared;
  const hx_tables *t = build->tables;
  switching_t *s = NULL;
  if (t->p_count == 0) {
    return hx_cpu_refuse(build, HX_INVALID, "the ring has no special primes, so it has no switching keys");
  }
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, 1, sizeof *s, &s));
  s->active = p->operands[0].limbs;
  s->extended = s->active + t->p_count;
  s->digits = (s->active + t->digit_run - 1) / t->digit_run;
  s->component = component;
  s->element = element;
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, s->extended, sizeof *s->ids, &s->ids));
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, s->extended, sizeof *s->key_limbs, &s->key_limbs));
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, s->digits, sizeof *s->raise, &s->raise));
  for (uint32_t row = 0; row < s->extended; row++) {
    s->ids[row] = row < s->active ? row : t->q_count + row - s->active;
  }
  HX_CPU_TRY(read_key(build, s));
  for (uint32_t j = 0; j < s->digits; j++) {
    HX_CPU_TRY(build_raise(build, s, j));
  }
  HX_CPU_TRY(build_lower(build, s));
  if (element != 1 && p->results[0].domain == HX_NTT) {
    HX_CPU_TRY(hx_cpu_automorphism_index(build, element, &s->index));
  }
  const uint32_t threads = hx_cpu_host_threads();
  s->lanes = threads < s->extended ? threads : s->extended;
  s->group = group_of(p, s->digits);
  s->lane_rows = s->group > 2 ? s->group : 2;
  p->scratch_bytes = ((uint64_t)s->active + 2 * s->extended + (uint64_t)s->lanes * s->lane_rows) * hx_cpu_row_bytes(p);
  p->cost = p->results[0].items * p->n * p->log_n *
            ((uint64_t)s->active * 3 + 2 * t->p_count + (uint64_t)s->extended * s->digits);
  p->plan = s;
  p->run = run_switch;
  return HX_OK;
}

int32_t hx_cpu_build_relinearize(hx_cpu_build_t *build) {
  HX_CPU_TRY(expect_switched(build, 3, 1));
  return build_switch(build, 2, 1);
}

int32_t hx_cpu_build_key_switch(hx_cpu_build_t *build) {
  HX_CPU_TRY(expect_switched(build, 2, 1));
  return build_switch(build, 1, 1);
}

int32_t hx_cpu_build_conjugate(hx_cpu_build_t *build) {
  HX_CPU_TRY(expect_switched(build, 2, 1));
  return build_switch(build, 1, 2 * (uint32_t)build->prepared->n - 1);
}

// 5^step mod 2n, the step taken modulo the n/2 slots.
static uint32_t element_of(const hx_prepared *p, int64_t step) {
  uint32_t element = 1;
  for (uint64_t i = (uint64_t)step & (p->n / 2 - 1); i != 0; i--) {
    element = element * 5 & (2 * (uint32_t)p->n - 1);
  }
  return element;
}

int32_t hx_cpu_build_rotate(hx_cpu_build_t *build) {
  hx_prepared *p = build->prepared;
  int64_t step = 0;
  HX_CPU_TRY(hx_cpu_attr_i64(build, "step", INT64_MIN, INT64_MAX, &step));
  const uint32_t element = element_of(p, step);
  HX_CPU_TRY(expect_switched(build, 2, element == 1 ? 0 : 1));
  if (element != 1) {
    return build_switch(build, 1, element);
  }
  p->run = run_copy;
  p->cost = p->results[0].items * 2 * p->results[0].limbs * p->n * p->log_n;
  return HX_OK;
}
