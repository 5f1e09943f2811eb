// SPDX-License-Identifier: Apache-2.0
// Products: mul, mul_add, mul_montgomery, mul_plain, and the product of two ciphertexts.
#include "ops.h"
#include "step.h"

int32_t hx_cuda_build_mul(hxs_build *build) {
  HXS_TRY(hxs_accept_product(build, 2, HX_STANDARD, false));
  return hx_cuda_step_components(build, HX_CUDA_DO_MUL, false, NULL, false);
}

int32_t hx_cuda_build_mul_plain(hxs_build *build) {
  HXS_TRY(hxs_accept_product(build, 2, HX_STANDARD, true));
  return hx_cuda_step_components(build, HX_CUDA_DO_MUL, false, NULL, false);
}

// acc, a, b: the kernel takes acc last.
int32_t hx_cuda_build_mul_add(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  hx_cuda_rows_t out, rows[3];
  HXS_TRY(hxs_accept_product(build, 3, HX_STANDARD, false));
  HXS_TRY(hx_cuda_rows_of(build, &p->results[0], &out));
  for (uint32_t i = 0; i < 3; i++) {
    HXS_TRY(hx_cuda_rows_of(build, &p->operands[i], &rows[i]));
  }
  return hx_cuda_step_pointwise(build, HX_CUDA_DO_MUL_ADD, &out, &rows[1], &rows[2], &rows[0], NULL, false);
}

int32_t hx_cuda_montgomery_inverses(hxs_build *build, hxs_constants *out) {
  const hxs_view *result = &build->prepared->results[0];
  HXS_TRY(hxs_keep_or_fail(build, result->limbs, sizeof *out->residues, &out->residues));
  out->parts = 1;
  for (uint32_t limb = 0; limb < result->limbs; limb++) {
    const hxs_modulus *m = hx_cuda_modulus_of(build, result->ids[limb]);
    out->residues[limb] = hxs_inverse_mod(m, hxs_pow_mod(m, 2, build->ring->word));
  }
  return HX_OK;
}

// a * b * 2^-w: a product and the constant 2^-w of the ring's word.
int32_t hx_cuda_build_mul_montgomery(hxs_build *build) {
  hx_cuda_factor_t *halves = NULL;
  hxs_constants constants;
  HXS_TRY(hxs_accept_product(build, 2, HX_MONTGOMERY, false));
  const hxs_view *out = &build->prepared->results[0];
  const uint64_t rows = out->items * out->components * out->limbs;
  HXS_TRY(hxs_keep_or_fail(build, rows, 2 * sizeof *halves, &halves));
  HXS_TRY(hx_cuda_montgomery_inverses(build, &constants));
  for (uint64_t i = 0; i < rows; i++) {
    const uint64_t limb = i % out->limbs;
    halves[2 * i] = halves[2 * i + 1] =
        hx_cuda_factor_of(hx_cuda_modulus_of(build, out->ids[limb]), constants.residues[limb]);
  }
  return hx_cuda_step_components(build, HX_CUDA_DO_MUL_SCALE, false, halves, false);
}

// Rows of component c of all items, c outermost: what the tensor kernel takes.
int32_t hx_cuda_rows_by_component(hxs_build *build, const hxs_view *view, hx_cuda_rows_t *out) {
  HXS_TRY(hx_cuda_rows_begin(build, view, (uint32_t)(view->components * view->items * view->limbs), out));
  uint32_t at = 0;
  for (uint32_t component = 0; component < view->components; component++) {
    for (uint64_t item = 0; item < view->items; item++) {
      for (uint32_t limb = 0; limb < view->limbs; limb++, at++) {
        out->offsets[at] = hx_cuda_row_offset(view, item, component, limb);
        out->ids[at] = view->ids[limb];
      }
    }
  }
  return HX_OK;
}

int32_t hx_cuda_step_tensor(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                            const hx_cuda_rows_t *b) {
  const uint32_t log = hx_cuda_log_blocks(build, HX_CUDA_ROW_BYTES * 8 / build->ring->word), rows = a->count / 2;
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_TENSOR, (uint64_t)rows << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.count = rows;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, a));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, b));
  return hx_cuda_step_primes(build, step, a->ids, rows);
}

static int32_t build_tensor(hxs_build *build, uint32_t operands) {
  const hxs_prepared *p = build->prepared;
  hx_cuda_rows_t to, a, b;
  HXS_TRY(hxs_accept_tensor(build, operands));
  HXS_TRY(hx_cuda_rows_by_component(build, &p->results[0], &to));
  HXS_TRY(hx_cuda_rows_by_component(build, &p->operands[0], &a));
  HXS_TRY(hx_cuda_rows_by_component(build, &p->operands[operands - 1], &b));
  return hx_cuda_step_tensor(build, &to, &a, &b);
}

int32_t hx_cuda_build_ckks_mul(hxs_build *build) { return build_tensor(build, 2); }
int32_t hx_cuda_build_ckks_square(hxs_build *build) { return build_tensor(build, 1); }
