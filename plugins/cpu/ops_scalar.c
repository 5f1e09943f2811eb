// SPDX-License-Identifier: Apache-2.0
// Constants: one a row, or two, for the first and the second half of a row in ntt domain. Also the changes to and from
// Montgomery form, which are products with 2^w and 2^-w.
#include <string.h>

#include "ops.h"
#include "run.h"

typedef struct scalar {
  uint32_t parts;         // constants a row: the row is cut into so many equal parts
  bool adds;              // else multiplies
  bool first_only;        // other components are copied
  hxs_factor *constants;  // [limbs][parts]
} scalar_t;

static void scalar_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const scalar_t *plan = p->plan;
  const hxs_view *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hxs_modulus *m = &hx_cpu_prime_of(run, out->ids[at.limb])->m;
  char *to = hx_cpu_result_row(run, out, at.item, at.component, at.limb);
  const char *a = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, at.limb);
  if (plan->first_only && at.component > 0) {
    if (to != a) {
      memcpy(to, a, hx_cpu_row_bytes(p));
    }
    return;
  }
  const size_t n = p->n / plan->parts, bytes = hx_cpu_row_bytes(p) / plan->parts;
  for (uint32_t part = 0; part < plan->parts; part++) {
    hxs_factor c = plan->constants[at.limb * plan->parts + part];
    if (plan->adds) {
      run->kernels->pointwise->add_scalar(to + part * bytes, a + part * bytes, c.value, m->q, n);
    } else {
      run->kernels->pointwise->mul_scalar(to + part * bytes, a + part * bytes, c, m, n);
    }
  }
}

static int32_t run_scalar(hx_cpu_run_t *run) {
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n * 2, scalar_row);
}

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
  p->plan = plan;
  hx_cpu_set_run(build, run_scalar);
  p->cost = out->items * out->components * out->limbs * p->n * 2;
  hxs_allow_alias(build, 0, 0);
  *out_plan = plan;
  return HX_OK;
}

static const hxs_modulus *row_modulus(const hxs_build *build, uint32_t limb) {
  return &build->ring->moduli[build->prepared->results[0].ids[limb]];
}

// From attribute `residues`.
static int32_t build_given(hxs_build *build, uint32_t parts, bool adds, bool first_only) {
  scalar_t *plan = NULL;
  const uint64_t *residues = NULL;
  HXS_TRY(build_scalar(build, parts, adds, HX_STANDARD, HX_STANDARD, &plan));
  const hxs_view *out = &build->prepared->results[0];
  HXS_TRY(hxs_attr_residues(build, parts, out, &residues));
  for (uint32_t i = 0; i < out->limbs * parts; i++) {
    plan->constants[i] = hxs_factor_of(row_modulus(build, i / parts), residues[i]);
  }
  plan->first_only = first_only;
  return HX_OK;
}

int32_t hx_cpu_build_mul_scalar(hxs_build *build) { return build_given(build, 1, false, false); }
int32_t hx_cpu_build_add_scalar(hxs_build *build) { return build_given(build, 1, true, false); }
int32_t hx_cpu_build_ckks_mul_scalar(hxs_build *build) { return build_given(build, 2, false, false); }
int32_t hx_cpu_build_ckks_add_scalar(hxs_build *build) { return build_given(build, 2, true, true); }

int32_t hx_cpu_build_mul_integer(hxs_build *build) {
  scalar_t *plan = NULL;
  int64_t integer = 0;
  HXS_TRY(build_scalar(build, 1, false, HX_STANDARD, HX_STANDARD, &plan));
  HXS_TRY(hxs_attr_i64(build, "integer", INT64_MIN, INT64_MAX, &integer));
  uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hxs_modulus *m = row_modulus(build, limb);
    uint64_t residue = integer < 0 ? hxs_neg_mod(m, size % m->q) : size % m->q;
    plan->constants[limb] = hxs_factor_of(m, residue);
  }
  return HX_OK;
}

int32_t hx_cpu_build_to_montgomery(hxs_build *build) {
  scalar_t *plan = NULL;
  HXS_TRY(build_scalar(build, 1, false, HX_STANDARD, HX_MONTGOMERY, &plan));
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hxs_modulus *m = row_modulus(build, limb);
    plan->constants[limb] = hxs_factor_of(m, m->radix);
  }
  return HX_OK;
}

int32_t hx_cpu_build_from_montgomery(hxs_build *build) {
  scalar_t *plan = NULL;
  HXS_TRY(build_scalar(build, 1, false, HX_MONTGOMERY, HX_STANDARD, &plan));
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hxs_modulus *m = row_modulus(build, limb);
    plan->constants[limb] = hxs_factor_of(m, hxs_inverse_mod(m, m->radix));
  }
  return HX_OK;
}
