// SPDX-License-Identifier: Apache-2.0
// Constants: one a row, or two, for the first and the second half of a row in ntt domain. Also the changes to and from
// Montgomery form, which are products with 2^w and 2^-w.
#include "ops.h"
#include "step.h"

typedef struct scalar {
  uint32_t parts;               // constants a row: the row is cut into so many equal parts
  bool adds;                    // else multiplies
  bool first_only;              // other components are copied
  hx_cuda_factor_t *constants;  // [limbs][parts]
} scalar_t;

// All but the constants: operand and result alike but for their representation.
static int32_t build_scalar(hx_cuda_build_t *build, uint32_t parts, bool adds, uint32_t from, uint32_t to,
                            scalar_t **out_plan) {
  hx_prepared *p = build->prepared;
  HX_CUDA_TRY(hx_cuda_expect_counts(build, 1, 1, 1, 1));
  hx_cuda_view_t *a = &p->operands[0], *out = &p->results[0];
  HX_CUDA_TRY(hx_cuda_expect_residues(build, out));
  HX_CUDA_TRY(hx_cuda_expect_residues(build, a));
  HX_CUDA_TRY(hx_cuda_expect_repr(build, a, from));
  HX_CUDA_TRY(hx_cuda_expect_repr(build, out, to));
  a->repr = to;
  HX_CUDA_TRY(hx_cuda_expect_like(build, a, out));
  scalar_t *plan = NULL;
  HX_CUDA_TRY(hx_cuda_keep_or_fail(build, 1, sizeof *plan, &plan));
  *plan = (scalar_t){.parts = parts, .adds = adds};
  HX_CUDA_TRY(hx_cuda_keep_or_fail(build, (size_t)out->limbs * parts, sizeof *plan->constants, &plan->constants));
  hx_cuda_allow_alias(build, 0, 0);
  *out_plan = plan;
  return HX_OK;
}

static uint64_t row_modulus(const hx_cuda_build_t *build, uint32_t limb) {
  return build->tables->primes[build->prepared->results[0].ids[limb]].q;
}

// The step, once the constants are there. Constants of the halves stand for every row of the launch; with first_only
// that is the rows of component 0, items outermost.
static int32_t add_scalar(hx_cuda_build_t *build, const scalar_t *plan) {
  const hx_cuda_view_t *out = &build->prepared->results[0];
  const uint64_t rows = out->items * (plan->first_only ? 1 : out->components) * out->limbs;
  hx_cuda_factor_t *halves = NULL;
  HX_CUDA_TRY(hx_cuda_keep_or_fail(build, rows, 2 * sizeof *halves, &halves));
  for (uint64_t i = 0; i < 2 * rows; i++) {
    const uint64_t limb = i / 2 % out->limbs;
    halves[i] = plan->constants[limb * plan->parts + (plan->parts == 2 ? i % 2 : 0)];
  }
  return hx_cuda_step_components(build, plan->adds ? HX_CUDA_DO_OFFSET : HX_CUDA_DO_SCALE, plan->first_only, halves,
                                 false);
}

// From attribute `residues`.
static int32_t build_given(hx_cuda_build_t *build, uint32_t parts, bool adds, bool first_only) {
  scalar_t *plan = NULL;
  const uint64_t *residues = NULL;
  HX_CUDA_TRY(build_scalar(build, parts, adds, HX_STANDARD, HX_STANDARD, &plan));
  const hx_cuda_view_t *out = &build->prepared->results[0];
  HX_CUDA_TRY(hx_cuda_attr_residues(build, parts, out, &residues));
  for (uint32_t i = 0; i < out->limbs * parts; i++) {
    plan->constants[i] = hx_cuda_factor_of(row_modulus(build, i / parts), residues[i]);
  }
  plan->first_only = first_only;
  return add_scalar(build, plan);
}

int32_t hx_cuda_build_mul_scalar(hx_cuda_build_t *build) { return build_given(build, 1, false, false); }
int32_t hx_cuda_build_add_scalar(hx_cuda_build_t *build) { return build_given(build, 1, true, false); }
int32_t hx_cuda_build_ckks_mul_scalar(hx_cuda_build_t *build) { return build_given(build, 2, false, false); }
int32_t hx_cuda_build_ckks_add_scalar(hx_cuda_build_t *build) { return build_given(build, 2, true, true); }

int32_t hx_cuda_build_mul_integer(hx_cuda_build_t *build) {
  scalar_t *plan = NULL;
  int64_t integer = 0;
  HX_CUDA_TRY(build_scalar(build, 1, false, HX_STANDARD, HX_STANDARD, &plan));
  HX_CUDA_TRY(hx_cuda_attr_i64(build, "integer", INT64_MIN, INT64_MAX, &integer));
  uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const uint64_t q = row_modulus(build, limb);
    uint64_t residue = integer < 0 ? hx_cuda_neg_mod(q, size % q) : size % q;
    plan->constants[limb] = hx_cuda_factor_of(q, residue);
  }
  return add_scalar(build, plan);
}

int32_t hx_cuda_build_to_montgomery(hx_cuda_build_t *build) {
  scalar_t *plan = NULL;
  HX_CUDA_TRY(build_scalar(build, 1, false, HX_STANDARD, HX_MONTGOMERY, &plan));
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const uint64_t q = row_modulus(build, limb);
    plan->constants[limb] = hx_cuda_factor_of(q, hx_cuda_pow_mod(q, 2, build->tables->word));
  }
  return add_scalar(build, plan);
}

int32_t hx_cuda_build_from_montgomery(hx_cuda_build_t *build) {
  scalar_t *plan = NULL;
  HX_CUDA_TRY(build_scalar(build, 1, false, HX_MONTGOMERY, HX_STANDARD, &plan));
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const uint64_t q = row_modulus(build, limb);
    plan->constants[limb] = hx_cuda_factor_of(q, hx_cuda_inverse_mod(q, hx_cuda_pow_mod(q, 2, build->tables->word)));
  }
  return add_scalar(build, plan);
}
