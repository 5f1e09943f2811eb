// SPDX-License-Identifier: Apache-2.0
// Constants: one a row, or two, for the first and the second half of a row in ntt domain. Also the changes to and from
// Montgomery form, which are products with 2^w and 2^-w.
#include "ops.h"
#include "step.h"

// Constants of the halves stand for every row of the launch; with first_only that is the rows of component 0, items
// outermost.
static int32_t add_scalar(hxs_build *build, const hxs_constants *constants, bool adds, bool first_only) {
  const hxs_view *out = &build->prepared->results[0];
  const uint64_t rows = out->items * (first_only ? 1 : out->components) * out->limbs;
  hx_cuda_factor_t *halves = NULL;
  HXS_TRY(hxs_keep_or_fail(build, rows, 2 * sizeof *halves, &halves));
  for (uint64_t i = 0; i < 2 * rows; i++) {
    const uint64_t limb = i / 2 % out->limbs, part = constants->parts == 2 ? i % 2 : 0;
    halves[i] = hx_cuda_factor_of(hx_cuda_modulus_of(build, out->ids[limb]),
                                  constants->residues[limb * constants->parts + part]);
  }
  return hx_cuda_step_components(build, adds ? HX_CUDA_DO_OFFSET : HX_CUDA_DO_SCALE, first_only, halves, false);
}

// From attribute `residues`.
static int32_t build_given(hxs_build *build, uint32_t parts, bool adds, bool first_only) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_scalar(build, parts, &constants));
  return add_scalar(build, &constants, adds, first_only);
}

int32_t hx_cuda_build_mul_scalar(hxs_build *build) { return build_given(build, 1, false, false); }
int32_t hx_cuda_build_add_scalar(hxs_build *build) { return build_given(build, 1, true, false); }
int32_t hx_cuda_build_ckks_mul_scalar(hxs_build *build) { return build_given(build, 2, false, false); }
int32_t hx_cuda_build_ckks_add_scalar(hxs_build *build) { return build_given(build, 2, true, true); }

int32_t hx_cuda_build_mul_integer(hxs_build *build) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_integer(build, &constants));
  return add_scalar(build, &constants, false, false);
}

static int32_t build_montgomery(hxs_build *build, bool into) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_montgomery(build, into, &constants));
  return add_scalar(build, &constants, false, false);
}

int32_t hx_cuda_build_to_montgomery(hxs_build *build) { return build_montgomery(build, true); }
int32_t hx_cuda_build_from_montgomery(hxs_build *build) { return build_montgomery(build, false); }
