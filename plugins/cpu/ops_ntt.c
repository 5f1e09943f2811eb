// SPDX-License-Identifier: Apache-2.0
// ntt.forward, ntt.inverse, ckks.to_ntt, ckks.from_ntt: one row a task.
#include <string.h>

#include "ops.h"
#include "run.h"

static void forward_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_view *a = &run->prepared->operands[0], *out = &run->prepared->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, out->ids[at.limb]);
  run->kernels->ntt->forward(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                             hx_cpu_operand_row(run, a, at.item, at.component, at.limb), &prime->m, &prime->twiddles,
                             run->prepared->log_n);
}

static void inverse_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_view *a = &run->prepared->operands[0], *out = &run->prepared->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, out->ids[at.limb]);
  run->kernels->ntt->inverse(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                             hx_cpu_operand_row(run, a, at.item, at.component, at.limb), &prime->m, &prime->twiddles,
                             run->prepared->log_n);
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
  HXS_TRY(hxs_accept_transform(build, from, to));
  build->prepared->cost = rows_of(&build->prepared->results[0]) * build->prepared->n * build->prepared->log_n;
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

// ---- ckks: from either domain

static void copy_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_view *a = &run->prepared->operands[0], *out = &run->prepared->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  void *to = hx_cpu_result_row(run, out, at.item, at.component, at.limb);
  const void *from = hx_cpu_operand_row(run, a, at.item, at.component, at.limb);
  if (to != from) {
    memcpy(to, from, hx_cpu_row_bytes(run->prepared));
  }
}

static int32_t run_copy(hx_cpu_run_t *run) {
  return hx_cpu_for(run, rows_of(&run->prepared->results[0]), run->prepared->n, copy_row);
}

static int32_t build_to(hxs_build *build, uint32_t to) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  const uint32_t from = build->prepared->operands[0].domain;
  hx_cpu_set_run(build, from == to ? run_copy : to == HX_NTT ? run_forward : run_inverse);
  return build_ntt(build, from, to);
}

int32_t hx_cpu_build_to_ntt(hxs_build *build) { return build_to(build, HX_NTT); }
int32_t hx_cpu_build_from_ntt(hxs_build *build) { return build_to(build, HX_COEFFICIENT); }
