// SPDX-License-Identifier: Apache-2.0
// ntt.forward, ntt.inverse: one row a task.
#include "ops.h"
#include "run.h"

static void forward_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_view *a = &run->prepared->operands[0], *out = &run->prepared->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, out->ids[at.limb]);
  run->kernels->ntt->forward(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                                      hx_cpu_operand_row(run, a, at.item, at.component, at.limb), &prime->m,
                                      &prime->twiddles, run->prepared->log_n);
}

static void inverse_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_view *a = &run->prepared->operands[0], *out = &run->prepared->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, out->ids[at.limb]);
  run->kernels->ntt->inverse(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                                      hx_cpu_operand_row(run, a, at.item, at.component, at.limb), &prime->m,
                                      &prime->twiddles, run->prepared->log_n);
}

static uint64_t rows_of(const hxs_view *view) { return view->items * view->components * view->limbs; }

static int32_t run_forward(hx_cpu_run_t *run) {
  const hxs_prepared *p = run->prepared;
  return hx_cpu_for(run, rows_of(&p->results[0]), p->n * p->log_n, forward_row);
}

static int32_t run_inverse(hx_cpu_run_t *run) {
  const hxs_prepared *p = run->prepared;
  return hx_cpu_for(run, rows_of(&p->results[0]), p->n * p->log_n, inverse_row);
}

static int32_t build_ntt(hxs_build *build, uint32_t from, uint32_t to) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &p->operands[0], *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, a));
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_domain(build, a, from));
  HXS_TRY(hxs_expect_domain(build, out, to));
  HXS_TRY(hxs_expect_repr(build, a, HX_STANDARD));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_batch(build, a, out));
  HXS_TRY(hxs_expect_components(build, a, out->components));
  HXS_TRY(hxs_expect_ids(build, a, out->limbs, out->ids));
  hxs_allow_alias(build, 0, 0);
  p->cost = rows_of(out) * p->n * p->log_n;
  return HX_OK;
}

int32_t hx_cpu_build_ntt_forward(hxs_build *build) {
  hx_cpu_set_run(build, run_forward);
  return build_ntt(build, HX_COEFFICIENT, HX_NTT);
}

int32_t hx_cpu_build_ntt_inverse(hxs_build *build) {
  hx_cpu_set_run(build, run_inverse);
  return build_ntt(build, HX_NTT, HX_COEFFICIENT);
}
