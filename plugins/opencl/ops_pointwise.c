// SPDX-License-Identifier: Apache-2.0
// Operations on rows on their own: sums, products, constants, Montgomery form. All are steps of one kernel.
#include "ops.h"
#include "step.h"

// Rows of all operands, and one step; with first_only components beside the first are copied, and `halves` has the
// first component's rows alone.
static int32_t add_rows(hxs_build *build, uint32_t op, bool first_only, const hx_opencl_factor_t *halves, bool lazy) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *out = &p->results[0];
  for (uint32_t rest = 0; rest < (first_only && out->components > 1 ? 2u : 1u); rest++) {
    const uint32_t count = !first_only ? out->components : rest == 0 ? 1 : out->components - 1;
    hx_opencl_rows_t rows[4];
    const hx_opencl_rows_t *at[4] = {&rows[0]};
    HXS_TRY(hx_opencl_rows_components(build, out, rest, count, false, &rows[0]));
    for (uint32_t i = 0; i < p->operand_count && i < (rest == 0 ? 3u : 1u); i++) {
      HXS_TRY(hx_opencl_rows_components(build, &p->operands[i], rest, count, false, &rows[i + 1]));
      at[i + 1] = &rows[i + 1];
    }
    HXS_TRY(hx_opencl_step_pointwise(build, rest == 0 ? op : HX_OPENCL_DO_COPY, at[0], at[1], at[2], at[3],
                                     rest == 0 ? halves : NULL, lazy));
  }
  return HX_OK;
}

// ------------------------------------------------------------------ add, sub, neg, reduce

static int32_t build_linear(hxs_build *build, uint32_t op, bool plain) {
  const uint32_t operands = op == HX_OPENCL_DO_ADD || op == HX_OPENCL_DO_SUB ? 2 : 1;
  HXS_TRY(op == HX_OPENCL_DO_REDUCE ? hxs_accept_reduce(build) : hxs_accept_linear(build, operands, plain));
  return add_rows(build, op, plain, NULL, build->prepared->results[0].repr == HX_LAZY);
}

int32_t hx_opencl_build_add(hxs_build *build) { return build_linear(build, HX_OPENCL_DO_ADD, false); }
int32_t hx_opencl_build_sub(hxs_build *build) { return build_linear(build, HX_OPENCL_DO_SUB, false); }
int32_t hx_opencl_build_neg(hxs_build *build) { return build_linear(build, HX_OPENCL_DO_NEG, false); }
int32_t hx_opencl_build_reduce(hxs_build *build) { return build_linear(build, HX_OPENCL_DO_REDUCE, false); }
int32_t hx_opencl_build_add_plain(hxs_build *build) { return build_linear(build, HX_OPENCL_DO_ADD, true); }
int32_t hx_opencl_build_sub_plain(hxs_build *build) { return build_linear(build, HX_OPENCL_DO_SUB, true); }

// ------------------------------------------------------------------ products

int32_t hx_opencl_build_mul(hxs_build *build) {
  HXS_TRY(hxs_accept_product(build, 2, HX_STANDARD, false));
  return add_rows(build, HX_OPENCL_DO_MUL, false, NULL, false);
}

int32_t hx_opencl_build_mul_plain(hxs_build *build) {
  HXS_TRY(hxs_accept_product(build, 2, HX_STANDARD, true));
  return add_rows(build, HX_OPENCL_DO_MUL, false, NULL, false);
}

// acc, a, b: the kernel takes acc last.
int32_t hx_opencl_build_mul_add(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  hx_opencl_rows_t out, rows[3];
  HXS_TRY(hxs_accept_product(build, 3, HX_STANDARD, false));
  HXS_TRY(hx_opencl_rows_of(build, &p->results[0], &out));
  for (uint32_t i = 0; i < 3; i++) {
    HXS_TRY(hx_opencl_rows_of(build, &p->operands[i], &rows[i]));
  }
  return hx_opencl_step_pointwise(build, HX_OPENCL_DO_MUL_ADD, &out, &rows[1], &rows[2], &rows[0], NULL, false);
}

static int32_t build_tensor(hxs_build *build, uint32_t operands) {
  const hxs_prepared *p = build->prepared;
  hx_opencl_rows_t to, a, b;
  HXS_TRY(hxs_accept_tensor(build, operands));
  HXS_TRY(hx_opencl_rows_components(build, &p->results[0], 0, 3, true, &to));
  HXS_TRY(hx_opencl_rows_components(build, &p->operands[0], 0, 2, true, &a));
  HXS_TRY(hx_opencl_rows_components(build, &p->operands[operands - 1], 0, 2, true, &b));
  return hx_opencl_step_tensor(build, &to, &a, &b);
}

int32_t hx_opencl_build_ckks_mul(hxs_build *build) { return build_tensor(build, 2); }
int32_t hx_opencl_build_ckks_square(hxs_build *build) { return build_tensor(build, 1); }

// ------------------------------------------------------------------ constants

// Constants of both halves for each of `components` components' rows, from `parts` (1 or 2) residues a limb.
static int32_t make_halves(const hxs_build *build, const uint64_t *residues, uint32_t parts, uint32_t components,
                           hx_opencl_factor_t **out) {
  const hxs_view *view = &build->prepared->results[0];
  const uint64_t rows = view->items * components * view->limbs;
  HXS_TRY(hxs_keep_or_fail(build, rows, 2 * sizeof **out, out));
  for (uint64_t i = 0; i < 2 * rows; i++) {
    const uint64_t limb = i / 2 % view->limbs;
    (*out)[i] = hx_opencl_factor_of(hx_opencl_modulus(build, view->ids[limb]),
                                    residues[limb * parts + (parts == 2 ? i % 2 : 0)]);
  }
  return HX_OK;
}

static int32_t add_constants(hxs_build *build, uint32_t op, const hxs_constants *constants, bool first_only) {
  hx_opencl_factor_t *halves = NULL;
  HXS_TRY(make_halves(build, constants->residues, constants->parts,
                      first_only ? 1 : build->prepared->results[0].components, &halves));
  return add_rows(build, op, first_only, halves, false);
}

// From attribute `residues`.
static int32_t build_given(hxs_build *build, uint32_t op, uint32_t parts, bool first_only) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_scalar(build, parts, &constants));
  return add_constants(build, op, &constants, first_only);
}

int32_t hx_opencl_build_mul_scalar(hxs_build *build) { return build_given(build, HX_OPENCL_DO_SCALE, 1, false); }
int32_t hx_opencl_build_add_scalar(hxs_build *build) { return build_given(build, HX_OPENCL_DO_OFFSET, 1, false); }
int32_t hx_opencl_build_ckks_mul_scalar(hxs_build *build) { return build_given(build, HX_OPENCL_DO_SCALE, 2, false); }
int32_t hx_opencl_build_ckks_add_scalar(hxs_build *build) { return build_given(build, HX_OPENCL_DO_OFFSET, 2, true); }

int32_t hx_opencl_build_mul_integer(hxs_build *build) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_integer(build, &constants));
  return add_constants(build, HX_OPENCL_DO_SCALE, &constants, false);
}

static int32_t build_montgomery(hxs_build *build, bool into) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_montgomery(build, into, &constants));
  return add_constants(build, HX_OPENCL_DO_SCALE, &constants, false);
}

int32_t hx_opencl_build_to_montgomery(hxs_build *build) { return build_montgomery(build, true); }
int32_t hx_opencl_build_from_montgomery(hxs_build *build) { return build_montgomery(build, false); }

// a * b * 2^-w: a product and a constant of the ring's word.
int32_t hx_opencl_build_mul_montgomery(hxs_build *build) {
  const hxs_view *out = &build->prepared->results[0];
  uint64_t residues[HXS_PRIMES_MAX];
  HXS_TRY(hxs_accept_product(build, 2, HX_MONTGOMERY, false));
  for (uint32_t limb = 0; limb < out->limbs; limb++) {
    const hxs_modulus *m = hx_opencl_modulus(build, out->ids[limb]);
    residues[limb] = hxs_inverse_mod(m, hxs_pow_mod(m, 2, build->ring->word));
  }
  return add_constants(build, HX_OPENCL_DO_MUL_SCALE, &(hxs_constants){1, residues}, false);
}
