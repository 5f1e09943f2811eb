// SPDX-License-Identifier: Apache-2.0
// X -> X^element, in either domain; and uniform polynomials from a seed.
#include "ops.h"
#include "run.h"

typedef struct automorphism {
  uint32_t element;
  uint32_t *index;  // [n] in ntt domain, NULL in coefficient domain
} automorphism_t;

static void automorphism_row(const hx_cpu_run_t *run, uint64_t at_index) {
  const hx_prepared *p = run->prepared;
  const automorphism_t *plan = p->plan;
  const hx_cpu_view_t *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(at_index, out->components, out->limbs);
  void *to = hx_cpu_result_row(run, out, at.item, at.component, at.limb);
  const void *a = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, at.limb);
  if (plan->index != NULL) {
    p->kernels.permute->gather(to, a, plan->index, p->n);
  } else {
    p->kernels.permute->substitute(to, a, plan->element, hx_cpu_prime_of(run, out->ids[at.limb])->m.q, p->n);
  }
}

static int32_t run_automorphism(hx_cpu_run_t *run) {
  const hx_cpu_view_t *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n * 2, automorphism_row);
}

static uint32_t reverse(uint32_t i, uint32_t bits) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < bits; k++, i >>= 1) {
    result = result << 1 | (i & 1);
  }
  return result;
}

// out[i] = in[brv(((g * (2 brv(i) + 1)) mod 2N - 1) / 2)], filled for i = brv(k), k ascending: the odd numbers 2k + 1
// in turn. 2N divides 2^32, so products may wrap.
int32_t hx_cpu_automorphism_index(const hx_cpu_build_t *build, uint32_t element, uint32_t **out) {
  const hx_prepared *p = build->prepared;
  const uint32_t n = (uint32_t)p->n;
  uint32_t *index = NULL;
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, n, sizeof *index, &index));
  for (uint32_t k = 0; k < n; k++) {
    uint32_t odd = element * (2 * k + 1) & (2 * n - 1);
    index[reverse(k, p->log_n)] = reverse(odd / 2, p->log_n);
  }
  *out = index;
  return HX_OK;
}

int32_t hx_cpu_build_automorphism(hx_cpu_build_t *build) {
  hx_prepared *p = build->prepared;
  automorphism_t *plan = NULL;
  int64_t element = 0;
  HX_CPU_TRY(hx_cpu_expect_counts(build, 1, 1, 1, 1));
  hx_cpu_view_t *out = &p->results[0];
  HX_CPU_TRY(hx_cpu_expect_residues(build, out));
  HX_CPU_TRY(hx_cpu_expect_repr(build, out, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_like(build, &p->operands[0], out));
  HX_CPU_TRY(hx_cpu_attr_i64(build, "element", 1, ((int64_t)2 << p->log_n) - 1, &element));
  if (element % 2 == 0) {
    return hx_cpu_refuse(build, HX_INVALID, "attribute element is %lld, must be odd", (long long)element);
  }
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, 1, sizeof *plan, &plan));
  plan->element = (uint32_t)element;
  if (out->domain == HX_NTT) {
    HX_CPU_TRY(hx_cpu_automorphism_index(build, plan->element, &plan->index));
  }
  p->plan = plan;
  p->run = run_automorphism;
  p->cost = out->items * out->components * out->limbs * p->n * 2;
  return HX_OK;
}

// ---- expand_uniform

typedef struct expand {
  uint32_t index;
} expand_t;

static void expand_row(const hx_cpu_run_t *run, uint64_t at_index) {
  const hx_prepared *p = run->prepared;
  const hx_cpu_view_t *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(at_index, 1, out->limbs);
  const uint32_t id = out->ids[at.limb];
  p->kernels.expand->row(hx_cpu_result_row(run, out, at.item, 0, at.limb),
                         hx_cpu_operand_row(run, &p->operands[0], at.item, 0, 0), ((const expand_t *)p->plan)->index,
                         id, &hx_cpu_prime_of(run, id)->m, p->n);
}

static int32_t run_expand(hx_cpu_run_t *run) {
  const hx_cpu_view_t *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->limbs, run->prepared->n * 30, expand_row);
}

int32_t hx_cpu_build_expand_uniform(hx_cpu_build_t *build) {
  hx_prepared *p = build->prepared;
  expand_t *plan = NULL;
  const int64_t *ids = NULL;
  int64_t index = 0;
  uint32_t count = 0, listed[HX_CPU_PRIMES_MAX];
  HX_CPU_TRY(hx_cpu_expect_counts(build, 1, 1, 1, 1));
  hx_cpu_view_t *seed = &p->operands[0], *out = &p->results[0];
  if (seed->dtype != HX_U8 || seed->log_n != 5 || seed->limbs != 1 || seed->components != 1 || seed->digits != 0) {
    return hx_cpu_refuse(
        build, HX_INVALID,
        "operand 0 has dtype %u, log_n %u, %u limbs and %u components; a seed is 32 bytes: dtype %d, log_n 5, 1 and 1",
        seed->dtype, seed->log_n, seed->limbs, seed->components, HX_U8);
  }
  HX_CPU_TRY(hx_cpu_expect_residues(build, out));
  HX_CPU_TRY(hx_cpu_expect_components(build, out, 1));
  HX_CPU_TRY(hx_cpu_expect_repr(build, out, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_batch(build, seed, out));
  HX_CPU_TRY(hx_cpu_attr_i64(build, "index", 0, UINT32_MAX, &index));
  HX_CPU_TRY(hx_cpu_attr_ids(build, "ids", &ids, &count));
  for (uint32_t i = 0; i < count; i++) {
    listed[i] = (uint32_t)ids[i];
  }
  HX_CPU_TRY(hx_cpu_expect_ids(build, out, count, listed));
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, 1, sizeof *plan, &plan));
  plan->index = (uint32_t)index;
  p->plan = plan;
  p->run = run_expand;
  p->cost = out->items * out->limbs * p->n * 30;
  return HX_OK;
}
