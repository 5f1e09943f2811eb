// SPDX-License-Identifier: Apache-2.0
// Products: mul, mul_add, mul_montgomery, mul_plain, and the product of two ciphertexts.
#include "ops.h"
#include "step.h"

// Operands like the result; `plain`: the second has one component for all.
static int32_t check_product(hx_cuda_build_t *build, uint32_t operands, uint32_t repr, bool plain) {
  hx_prepared *p = build->prepared;
  HX_CUDA_TRY(hx_cuda_expect_counts(build, operands, operands, 1, 1));
  hx_cuda_view_t *out = &p->results[0];
  HX_CUDA_TRY(hx_cuda_expect_residues(build, out));
  HX_CUDA_TRY(hx_cuda_expect_repr(build, out, repr));
  for (uint32_t i = 0; i < operands; i++) {
    HX_CUDA_TRY(plain && i == 1 ? hx_cuda_expect_factor(build, &p->operands[i], out)
                                : hx_cuda_expect_like(build, &p->operands[i], out));
  }
  hx_cuda_allow_alias(build, 0, 0);
  return HX_OK;
}

int32_t hx_cuda_build_mul(hx_cuda_build_t *build) {
  HX_CUDA_TRY(check_product(build, 2, HX_STANDARD, false));
  return hx_cuda_step_components(build, HX_CUDA_DO_MUL, false, NULL, false);
}

int32_t hx_cuda_build_mul_plain(hx_cuda_build_t *build) {
  HX_CUDA_TRY(check_product(build, 2, HX_STANDARD, true));
  return hx_cuda_step_components(build, HX_CUDA_DO_MUL, false, NULL, false);
}

// acc, a, b: the kernel takes acc last.
int32_t hx_cuda_build_mul_add(hx_cuda_build_t *build) {
  const hx_prepared *p = build->prepared;
  hx_cuda_rows_t out, rows[3];
  HX_CUDA_TRY(check_product(build, 3, HX_STANDARD, false));
  HX_CUDA_TRY(hx_cuda_rows_of(build, &p->results[0], &out));
  for (uint32_t i = 0; i < 3; i++) {
    HX_CUDA_TRY(hx_cuda_rows_of(build, &p->operands[i], &rows[i]));
  }
  return hx_cuda_step_pointwise(build, HX_CUDA_DO_MUL_ADD, &out, &rows[1], &rows[2], &rows[0], NULL, false);
}

// a * b * 2^-w: a product and the constant 2^-w of the ring's word.
int32_t hx_cuda_build_mul_montgomery(hx_cuda_build_t *build) {
  hx_cuda_factor_t *halves = NULL;
  HX_CUDA_TRY(check_product(build, 2, HX_MONTGOMERY, false));
  const hx_cuda_view_t *out = &build->prepared->results[0];
  const uint64_t rows = out->items * out->components * out->limbs;
  HX_CUDA_TRY(hx_cuda_keep_or_fail(build, rows, 2 * sizeof *halves, &halves));
  for (uint64_t i = 0; i < rows; i++) {
    const uint64_t q = build->tables->primes[out->ids[i % out->limbs]].q;
    const uint64_t radix = hx_cuda_pow_mod(q, 2, build->tables->word);
    halves[2 * i] = halves[2 * i + 1] = hx_cuda_factor_of(q, hx_cuda_inverse_mod(q, radix));
  }
  return hx_cuda_step_components(build, HX_CUDA_DO_MUL_SCALE, false, halves, false);
}

// Rows of component c of all items, c outermost: what the tensor kernel takes.
int32_t hx_cuda_rows_by_component(hx_cuda_build_t *build, const hx_cuda_view_t *view, hx_cuda_rows_t *out) {
  HX_CUDA_TRY(hx_cuda_rows_begin(build, view, (uint32_t)(view->components * view->items * view->limbs), out));
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

int32_t hx_cuda_step_tensor(hx_cuda_build_t *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                            const hx_cuda_rows_t *b) {
  const uint32_t log = hx_cuda_log_blocks(build, 1024), rows = a->count / 2;
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_TENSOR, (uint64_t)rows << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.count = rows;
  HX_CUDA_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HX_CUDA_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, a));
  HX_CUDA_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, b));
  return hx_cuda_step_primes(build, step, a->ids, rows);
}

static int32_t build_tensor(hx_cuda_build_t *build, uint32_t operands) {
  hx_prepared *p = build->prepared;
  HX_CUDA_TRY(hx_cuda_expect_counts(build, operands, operands, 1, 1));
  hx_cuda_view_t *out = &p->results[0];
  HX_CUDA_TRY(hx_cuda_expect_residues(build, out));
  HX_CUDA_TRY(hx_cuda_expect_repr(build, out, HX_STANDARD));
  HX_CUDA_TRY(hx_cuda_expect_components(build, out, 3));
  hx_cuda_view_t shape = *out;
  shape.components = 2;
  for (uint32_t i = 0; i < operands; i++) {
    HX_CUDA_TRY(hx_cuda_expect_like(build, &p->operands[i], &shape));
  }
  hx_cuda_rows_t to, a, b;
  HX_CUDA_TRY(hx_cuda_rows_by_component(build, out, &to));
  HX_CUDA_TRY(hx_cuda_rows_by_component(build, &p->operands[0], &a));
  HX_CUDA_TRY(hx_cuda_rows_by_component(build, &p->operands[operands - 1], &b));
  return hx_cuda_step_tensor(build, &to, &a, &b);
}

int32_t hx_cuda_build_ckks_mul(hx_cuda_build_t *build) { return build_tensor(build, 2); }
int32_t hx_cuda_build_ckks_square(hx_cuda_build_t *build) { return build_tensor(build, 1); }
