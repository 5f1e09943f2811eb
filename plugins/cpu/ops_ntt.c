// SPDX-License-Identifier: Apache-2.0
// ntt.forward, ntt.inverse: one row a task.
#include "ops.h"
#include "run.h"

static void forward_row(const hx_cpu_run_t *run, uint64_t index) {
  const hx_cpu_view_t *a = &run->prepared->operands[0], *out = &run->prepared->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, out->ids[at.limb]);
  run->prepared->kernels.ntt->forward(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                                      hx_cpu_operand_row(run, a, at.item, at.component, at.limb), &prime->m,
                                      &prime->twiddles, run->prepared->log_n);
}

static void inverse_row(const hx_cpu_run_t *run, uint64_t index) {
  const hx_cpu_view_t *a = &run->prepared->operands[0], *out = &run->prepared->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, out->ids[at.limb]);
  run->prepared->kernels.ntt->inverse(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                                      hx_cpu_operand_row(run, a, at.item, at.component, at.limb), &prime->m,
                                      &prime->twiddles, run->prepared->log_n);
}

static uint64_t rows_of(const hx_cpu_view_t *view) { return view->items * view->components * view->limbs; }

static int32_t run_forward(hx_cpu_run_t *run) {
  const hx_prepared *p = run->prepared;
  return hx_cpu_for(run, rows_of(&p->results[0]), p->n * p->log_n, forward_row);
}

static int32_t run_inverse(hx_cpu_run_t *run) {
  const hx_prepared *p = run->prepared;
  return hx_cpu_for(run, rows_of(&p->results[0]), p->n * p->log_n, inverse_row);
}

static int32_t build_ntt(hx_cpu_build_t *build, uint32_t from, uint32_t to) {
  hx_prepared *p = build->prepared;
  HX_CPU_TRY(hx_cpu_expect_counts(build, 1, 1, 1, 1));
  hx_cpu_view_t *a = &p->operands[0], *out = &p->results[0];
  HX_CPU_TRY(hx_cpu_expect_residues(build, a));
  HX_CPU_TRY(hx_cpu_expect_residues(build, out));
  HX_CPU_TRY(hx_cpu_expect_domain(build, a, from));
  HX_CPU_TRY(hx_cpu_expect_domain(build, out, to));
  HX_CPU_TRY(hx_cpu_expect_repr(build, a, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_repr(build, out, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_batch(build, a, out));
  HX_CPU_TRY(hx_cpu_expect_components(build, a, out->components));
  HX_CPU_TRY(hx_cpu_expect_ids(build, a, out->limbs, out->ids));
  hx_cpu_allow_alias(build, 0, 0);
  p->cost = rows_of(out) * p->n * p->log_n;
  return HX_OK;
}

int32_t hx_cpu_build_ntt_forward(hx_cpu_build_t *build) {
  build->prepared->run = run_forward;
  return build_ntt(build, HX_COEFFICIENT, HX_NTT);
}

int32_t hx_cpu_build_ntt_inverse(hx_cpu_build_t *build) {
  build->prepared->run = run_inverse;
  return build_ntt(build, HX_NTT, HX_COEFFICIENT);
}
