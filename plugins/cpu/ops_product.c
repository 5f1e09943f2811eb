// SPDX-License-Identifier: Apache-2.0
// Products: mul, mul_add, mul_montgomery, mul_plain, and the product of two ciphertexts.
#include "ops.h"
#include "run.h"

static void mul_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_view *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  run->kernels->pointwise->mul(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                               hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, at.limb),
                               hx_cpu_operand_row(run, &p->operands[1], at.item, at.component, at.limb),
                               &hx_cpu_prime_of(run, out->ids[at.limb])->m, p->n);
}

static void mul_montgomery_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_view *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  run->kernels->pointwise->mul_montgomery(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                                          hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, at.limb),
                                          hx_cpu_operand_row(run, &p->operands[1], at.item, at.component, at.limb),
                                          &hx_cpu_prime_of(run, out->ids[at.limb])->m, p->n);
}

static void mul_add_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_view *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  run->kernels->pointwise->mul_add(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                                   hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, at.limb),
                                   hx_cpu_operand_row(run, &p->operands[1], at.item, at.component, at.limb),
                                   hx_cpu_operand_row(run, &p->operands[2], at.item, at.component, at.limb),
                                   &hx_cpu_prime_of(run, out->ids[at.limb])->m, p->n);
}

static int32_t build_product(hxs_build *build, uint32_t operands, uint32_t repr, bool plain) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_accept_product(build, operands, repr, plain));
  p->cost = p->results[0].items * p->results[0].components * p->results[0].limbs * p->n * 3;
  return HX_OK;
}

int32_t hx_cpu_build_mul(hxs_build *build) {
  hx_cpu_set_rows(build, mul_row, build->prepared->n * 3);
  return build_product(build, 2, HX_STANDARD, false);
}

int32_t hx_cpu_build_mul_plain(hxs_build *build) {
  hx_cpu_set_rows(build, mul_row, build->prepared->n * 3);
  return build_product(build, 2, HX_STANDARD, true);
}

int32_t hx_cpu_build_mul_add(hxs_build *build) {
  hx_cpu_set_rows(build, mul_add_row, build->prepared->n * 3);
  return build_product(build, 3, HX_STANDARD, false);
}

int32_t hx_cpu_build_mul_montgomery(hxs_build *build) {
  hx_cpu_set_rows(build, mul_montgomery_row, build->prepared->n * 3);
  return build_product(build, 2, HX_MONTGOMERY, false);
}

// Coefficients that meet all three products before the next ones: four operands' tiles fit in L1 and L2, whole rows of
// large rings do not.
#define TILE 1024u

// (a0 b0, a0 b1 + a1 b0, a1 b1) of one limb, tile by tile: so operands are read once. A square has b = a.
static void tensor_limb(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_view *out = &p->results[0], *a = &p->operands[0], *b = &p->operands[p->operand_count - 1];
  const uint32_t limb = (uint32_t)(index % out->limbs);
  const uint64_t item = index / out->limbs;
  const hxs_modulus *m = &hx_cpu_prime_of(run, out->ids[limb])->m;
  const size_t tile = p->n < TILE ? p->n : TILE, bytes = tile * out->element_bytes;
  const char *left[2], *right[2];
  char *to[3];
  for (uint32_t i = 0; i < 2; i++) {
    left[i] = hx_cpu_operand_row(run, a, item, i, limb);
    right[1 - i] = hx_cpu_operand_row(run, b, item, i, limb);
  }
  for (uint32_t c = 0; c < 3; c++) {
    to[c] = hx_cpu_result_row(run, out, item, c, limb);
  }
  for (size_t at = 0; at < p->n / tile * bytes; at += bytes) {
    const void *const x[2] = {left[0] + at, left[1] + at}, *const y[2] = {right[0] + at, right[1] + at};
    run->kernels->pointwise->mul(to[0] + at, x[0], y[1], m, tile);
    run->kernels->pointwise->dot(to[1] + at, NULL, x, y, 2, m, tile);
    run->kernels->pointwise->mul(to[2] + at, x[1], y[0], m, tile);
  }
}

static int32_t run_tensor(hx_cpu_run_t *run) {
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->limbs, run->prepared->n * 10, tensor_limb);
}

static int32_t build_tensor(hxs_build *build, uint32_t operands) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_accept_tensor(build, operands));
  hx_cpu_set_run(build, run_tensor);
  p->cost = p->results[0].items * p->results[0].limbs * p->n * 10;
  return HX_OK;
}

int32_t hx_cpu_build_ckks_mul(hxs_build *build) { return build_tensor(build, 2); }
int32_t hx_cpu_build_ckks_square(hxs_build *build) { return build_tensor(build, 1); }
