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
static int32_t build_scalar(hxs_build *build, uint32_t parts, bool adds, uint32_t from, uint32_t to,
                            scalar_t **out_plan) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &p->operands[0], *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_residues(build, a));
  HXS_TRY(hxs_expect_repr(build, a, from));
  HXS_TRY(hxs_expect_repr(build, out, to));
  a->repr = to;
  HXS_TRY(hxs_expect_like(build, a, out));
  scalar_t *plan = NULL;
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  *plan = (scalar_t){.parts = parts, .adds = adds};
  HXS_TRY(hxs_keep_or_fail(build, (size_t)out->limbs * parts, sizeof *plan->constants, &plan->constants));
  hxs_allow_alias(build, 0, 0);
  *out_plan = plan;
  return HX_OK;
}

static const hxs_modulus *row_modulus(const hxs_build *build, uint32_t limb) {
  return hx_cuda_modulus_of(build, build->prepared->results[0].ids[limb]);
}

// The step, once the constants are there. Constants of the halves stand for every row of the launch; with first_only
// that is the rows of component 0, items outermost.
static int32_t add_scalar(hxs_build *build, const scalar_t *plan) {
  const hxs_view *out = &build->prepared->results[0];
  const uint64_t rows = out->items * (plan->first_only ? 1 : out->components) * out->limbs;
  hx_cuda_factor_t *halves = NULL;
  HXS_TRY(hxs_keep_or_fail(build, rows, 2 * sizeof *halves, &halves));
  for (uint64_t i = 0; i < 2 * rows; i++) {
    const uint64_t limb = i / 2 % out->limbs;
    halves[i] = plan->constants[limb * plan->parts + (plan->parts == 2 ? i % 2 : 0)];
  }
  return hx_cuda_step_components(build, plan->adds ? HX_CUDA_DO_OFFSET : HX_CUDA_DO_SCALE, plan->first_only, halves,
                                 false);
}

// From attribute `residues`.
static int32_t build_given(hxs_build *build, uint32_t parts, bool adds, bool first_only) {
  scalar_t *plan = NULL;
  const uint64_t *residues = NULL;
  HXS_TRY(build_scalar(build, parts, adds, HX_STANDARD, HX_STANDARD, &plan));
  const hxs_view *out = &build->prepared->results[0];
  HXS_TRY(hxs_attr_residues(build, parts, out, &residues));
  for (uint32_t i = 0; i < out->limbs * parts; i++) {
    plan->constants[i] = hx_cuda_factor_of(row_modulus(build, i / parts), residues[i]);
  }
  plan->first_only = first_only;
  return add_scalar(build, plan);
}

int32_t hx_cuda_build_mul_scalar(hxs_build *build) { return build_given(build, 1, false, false); }
int32_t hx_cuda_build_add_scalar(hxs_build *build) { return build_given(build, 1, true, false); }
int32_t hx_cuda_build_ckks_mul_scalar(hxs_build *build) { return build_given(build, 2, false, false); }
int32_t hx_cuda_build_ckks_add_scalar(hxs_build *build) { return build_given(build, 2, true, true); }

int32_t hx_cuda_build_mul_integer(hxs_build *build) {
  scalar_t *plan = NULL;
  int64_t integer = 0;
  HXS_TRY(build_scalar(build, 1, false, HX_STANDARD, HX_STANDARD, &plan));
  HXS_TRY(hxs_attr_i64(build, "integer", INT64_MIN, INT64_MAX, &integer));
  uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hxs_modulus *m = row_modulus(build, limb);
    uint64_t residue = integer < 0 ? hxs_neg_mod(m, size % m->q) : size % m->q;
    plan->constants[limb] = hx_cuda_factor_of(m, residue);
  }
  return add_scalar(build, plan);
}

int32_t hx_cuda_build_to_montgomery(hxs_build *build) {
  scalar_t *plan = NULL;
  HXS_TRY(build_scalar(build, 1, false, HX_STANDARD, HX_MONTGOMERY, &plan));
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hxs_modulus *m = row_modulus(build, limb);
    plan->constants[limb] = hx_cuda_factor_of(m, hxs_pow_mod(m, 2, build->ring->word));
  }
  return add_scalar(build, plan);
}

int32_t hx_cuda_build_from_montgomery(hxs_build *build) {
  scalar_t *plan = NULL;
  HXS_TRY(build_scalar(build, 1, false, HX_MONTGOMERY, HX_STANDARD, &plan));
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hxs_modulus *m = row_modulus(build, limb);
    plan->constants[limb] = hx_cuda_factor_of(m, hxs_inverse_mod(m, hxs_pow_mod(m, 2, build->ring->word)));
  }
  return add_scalar(build, plan);
}
