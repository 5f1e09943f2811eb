// SPDX-License-Identifier: Apache-2.0
// X -> X^element, in either domain; and uniform polynomials from a seed.
#include "ops.h"
#include "run.h"

typedef struct automorphism {
  uint32_t element;
  uint32_t *index;  // [n] in ntt domain, NULL in coefficient domain
} automorphism_t;

static void automorphism_row(const hx_cpu_run_t *run, uint64_t at_index) {
  const hxs_prepared *p = run->prepared;
  const automorphism_t *plan = p->plan;
  const hxs_view *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(at_index, out->components, out->limbs);
  void *to = hx_cpu_result_row(run, out, at.item, at.component, at.limb);
  const void *a = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, at.limb);
  if (plan->index != NULL) {
    run->kernels->permute->gather(to, a, plan->index, p->n);
  } else {
    run->kernels->permute->substitute(to, a, plan->element, hx_cpu_prime_of(run, out->ids[at.limb])->m.q, p->n);
  }
}

static int32_t run_automorphism(hx_cpu_run_t *run) {
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n * 2, automorphism_row);
}

int32_t hx_cpu_build_automorphism(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  automorphism_t *plan = NULL;
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  HXS_TRY(hxs_accept_automorphism(build, &plan->element));
  const hxs_view *out = &p->results[0];
  if (out->domain == HX_NTT) {
    HXS_TRY(hxs_keep_or_fail(build, p->n, sizeof *plan->index, &plan->index));
    hxs_automorphism_index(p->log_n, plan->element, plan->index);
  }
  p->plan = plan;
  hx_cpu_set_run(build, run_automorphism);
  p->cost = out->items * out->components * out->limbs * p->n * 2;
  return HX_OK;
}

// ---- expand_uniform

typedef struct expand {
  uint32_t index;
} expand_t;

static void expand_row(const hx_cpu_run_t *run, uint64_t at_index) {
  const hxs_prepared *p = run->prepared;
  const hxs_view *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(at_index, 1, out->limbs);
  const uint32_t id = out->ids[at.limb];
  run->kernels->expand->row(hx_cpu_result_row(run, out, at.item, 0, at.limb),
                            hx_cpu_operand_row(run, &p->operands[0], at.item, 0, 0), ((const expand_t *)p->plan)->index,
                            id, &hx_cpu_prime_of(run, id)->m, p->n);
}

static int32_t run_expand(hx_cpu_run_t *run) {
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->limbs, run->prepared->n * 30, expand_row);
}

int32_t hx_cpu_build_expand_uniform(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  expand_t *plan = NULL;
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  HXS_TRY(hxs_accept_expand(build, &plan->index));
  p->plan = plan;
  hx_cpu_set_run(build, run_expand);
  p->cost = p->results[0].items * p->results[0].limbs * p->n * 30;
  return HX_OK;
}
