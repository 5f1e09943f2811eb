// SPDX-License-Identifier: Apache-2.0
// Whole operations with a switching key: relinearize, key_switch, rotate, conjugate, rotate_many, the two sums of
// rotations; and multiply, relinearize, rescale as one.
#include <string.h>

#include "heliox/support/switched.h"
#include "switch.h"

// A ciphertext with `components`, and the results of two on its rows.
static int32_t expect_switched(const hxs_build *build, uint32_t components, uint32_t results) {
  const hxs_prepared *p = build->prepared;
  hxs_view *a = &p->operands[0], *out = &p->results[0];
  HXS_TRY(hxs_expect_counts(build, 1, UINT32_MAX, results, results));
  HXS_TRY(hx_cpu_switch_source(build, a, components, a->limbs, out));
  for (uint32_t i = 0; i < results; i++) {
    hxs_view *result = &p->results[i];
    HXS_TRY(hxs_expect_residues(build, result));
    HXS_TRY(hxs_expect_repr(build, result, HX_STANDARD));
    HXS_TRY(hxs_expect_components(build, result, 2));
    HXS_TRY(hxs_expect_batch(build, result, out));
    HXS_TRY(hxs_expect_ids(build, result, a->limbs, a->ids));
    HXS_TRY(hxs_accept_output(build, result));
  }
  return HX_OK;
}

// One value, one key in operand 1, one result.
static int32_t build_single(hxs_build *build, uint32_t component, uint32_t element) {
  hx_cpu_switch_t *s = NULL;
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(expect_switched(build, component + 1, 1));
  HXS_TRY(hx_cpu_switch_begin(build, build->prepared->operands[0].limbs, 0, 1, &s));
  s->component = component;
  HXS_TRY(hx_cpu_switch_term(build, s, 0, 1, element));
  return hx_cpu_switch_end(build, s);
}

int32_t hx_cpu_build_relinearize(hxs_build *build) { return build_single(build, 2, 1); }
int32_t hx_cpu_build_key_switch(hxs_build *build) { return build_single(build, 1, 1); }
int32_t hx_cpu_build_conjugate(hxs_build *build) {
  return build_single(build, 1, 2 * (uint32_t)build->prepared->n - 1);
}

// ---- rotations

static void copy_row(const hx_cpu_run_t *run, uint64_t index) {
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
  return hx_cpu_for(run, out->items * 2 * out->limbs, run->prepared->n * run->prepared->log_n, copy_row);
}

// A step of 0 is the operand itself, in the result's domain; a ring without P has that too.
int32_t hx_cpu_build_rotate(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t step = 0;
  HXS_TRY(hxs_attr_i64(build, "step", INT64_MIN, INT64_MAX, &step));
  const uint32_t element = hxs_rotation_element(p->log_n, step);
  if (element != 1) {
    return build_single(build, 1, element);
  }
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(expect_switched(build, 2, 1));
  hx_cpu_set_run(build, run_copy);
  p->cost = p->results[0].items * 2 * p->results[0].limbs * p->n * p->log_n;
  return HX_OK;
}

int32_t hx_cpu_build_rotate_many(hxs_build *build) {
  hx_cpu_switch_t *s = NULL;
  const int64_t *steps = NULL;
  uint32_t count = 0;
  HXS_TRY(hxs_accept_steps(build, &steps, &count));
  HXS_TRY(expect_switched(build, 2, count));
  HXS_TRY(hx_cpu_switch_begin(build, build->prepared->operands[0].limbs, 0, count, &s));
  s->component = 1;
  HXS_TRY(hx_cpu_switch_steps(build, 1, s, steps));
  return hx_cpu_switch_end(build, s);
}

// ---- sums over Q and P

int32_t hx_cpu_build_rotate_sum(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  hx_cpu_switch_t *s = NULL;
  const int64_t *steps = NULL;
  uint32_t count = 0;
  HXS_TRY(hxs_accept_steps(build, &steps, &count));
  HXS_TRY(hxs_expect_counts(build, count, UINT32_MAX, 1, 1));
  HXS_TRY(expect_switched(build, 2, 1));
  for (uint32_t t = 1; t < count; t++) {
    HXS_TRY(hx_cpu_switch_source(build, &p->operands[t], 2, p->operands[0].limbs, &p->results[0]));
    HXS_TRY(hxs_expect_domain(build, &p->operands[t], p->operands[0].domain));
  }
  HXS_TRY(hx_cpu_switch_begin(build, p->operands[0].limbs, 0, count, &s));
  s->component = 1;
  s->sums = true;
  s->source_count = count;
  HXS_TRY(hx_cpu_switch_steps(build, count, s, steps));
  return hx_cpu_switch_end(build, s);
}

int32_t hx_cpu_build_rotate_weighted_sum(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  hx_cpu_switch_t *s = NULL;
  const int64_t *steps = NULL;
  uint32_t count = 0, groups = 0, others = 0;
  HXS_TRY(hxs_accept_steps(build, &steps, &count));
  HXS_TRY(hxs_accept_groups(build, count, &groups, &others));
  HXS_TRY(expect_switched(build, 2, groups));
  HXS_TRY(hx_cpu_switch_begin(build, p->operands[0].limbs, 0, count, &s));
  s->component = 1;
  s->sums = true;
  s->weights = 1;
  HXS_TRY(hxs_accept_weights(build, 1, others, s->extended, s->ids));
  HXS_TRY(hx_cpu_switch_steps(build, others, s, steps));
  return hx_cpu_switch_end(build, s);
}

// ---- [multiply,] relinearize and rescale as one: equal bits with one transform for each kept row. Operands: two
// factors or a value of three components, and the key.
int32_t hx_cpu_build_fused(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  hx_cpu_switch_t *s = NULL;
  uint32_t drops = 0;
  HXS_TRY(hxs_expect_counts(build, 2, 3, 1, 1));
  hxs_view *a = &p->operands[0], *out = &p->results[0];
  const uint32_t factors = p->operand_count - 1, components = factors == 1 ? 3 : 2;
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_components(build, out, 2));
  for (uint32_t i = 0; i < factors; i++) {
    HXS_TRY(hx_cpu_switch_source(build, &p->operands[i], components, a->limbs, out));
  }
  HXS_TRY(hxs_accept_last_group(build, a, &drops));
  HXS_TRY(hxs_expect_ids(build, out, a->limbs - drops, a->ids));
  HXS_TRY(hx_cpu_switch_begin(build, a->limbs, drops, 1, &s));
  s->component = 2;
  s->factors = factors == 2 ? 2 : 0;
  HXS_TRY(hx_cpu_switch_term(build, s, 0, factors, 1));
  return hx_cpu_switch_end(build, s);
}
