// SPDX-License-Identifier: Apache-2.0
// Constants: one a row, or two, for the first and the second half of a row in ntt domain. Also the changes to and from
// Montgomery form, which are products with 2^w and 2^-w.
#include <string.h>

#include "ops.h"
#include "run.h"

typedef struct scalar {
  uint32_t parts;              // constants a row: the row is cut into so many equal parts
  bool adds;                   // else multiplies
  bool first_only;             // other components are copied
  hx_cpu_factor_t *constants;  // [limbs][parts]
} scalar_t;

static void scalar_row(const hx_cpu_run_t *run, uint64_t index) {
  const hx_prepared *p = run->prepared;
  const scalar_t *plan = p->plan;
  const hx_cpu_view_t *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hx_cpu_modulus_t *m = &hx_cpu_prime_of(run, out->ids[at.limb])->m;
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
    hx_cpu_factor_t c = plan->constants[at.limb * plan->parts + part];
    if (plan->adds) {
      p->kernels.pointwise->add_scalar(to + part * bytes, a + part * bytes, c.value, m->q, n);
    } else {
      p->kernels.pointwise->mul_scalar(to + part * bytes, a + part * bytes, c, m, n);
    }
  }
}

static int32_t run_scalar(hx_cpu_run_t *run) {
  const hx_cpu_view_t *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n * 2, scalar_row);
}

// All but the constants: operand and result alike but for their representation.
static int32_t build_scalar(hx_cpu_build_t *build, uint32_t parts, bool adds, uint32_t from, uint32_t to,
                            scalar_t **out_plan) {
  hx_prepared *p = build->prepared;
  HX_CPU_TRY(hx_cpu_expect_counts(build, 1, 1, 1, 1));
  hx_cpu_view_t *a = &p->operands[0], *out = &p->results[0];
  HX_CPU_TRY(hx_cpu_expect_residues(build, out));
  HX_CPU_TRY(hx_cpu_expect_residues(build, a));
  HX_CPU_TRY(hx_cpu_expect_repr(build, a, from));
  HX_CPU_TRY(hx_cpu_expect_repr(build, out, to));
  a->repr = to;
  HX_CPU_TRY(hx_cpu_expect_like(build, a, out));
  scalar_t *plan = NULL;
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, 1, sizeof *plan, &plan));
  *plan = (scalar_t){.parts = parts, .adds = adds};
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, (size_t)out->limbs * parts, sizeof *plan->constants, &plan->constants));
  p->plan = plan;
  p->run = run_scalar;
  p->cost = out->items * out->components * out->limbs * p->n * 2;
  hx_cpu_allow_alias(build, 0, 0);
  *out_plan = plan;
  return HX_OK;
}

static const hx_cpu_modulus_t *row_modulus(const hx_cpu_build_t *build, uint32_t limb) {
  return &build->tables->primes[build->prepared->results[0].ids[limb]].m;
}

// From attribute `residues`.
static int32_t build_given(hx_cpu_build_t *build, uint32_t parts, bool adds, bool first_only) {
  scalar_t *plan = NULL;
  const uint64_t *residues = NULL;
  HX_CPU_TRY(build_scalar(build, parts, adds, HX_STANDARD, HX_STANDARD, &plan));
  const hx_cpu_view_t *out = &build->prepared->results[0];
  HX_CPU_TRY(hx_cpu_attr_residues(build, parts, out, &residues));
  for (uint32_t i = 0; i < out->limbs * parts; i++) {
    plan->constants[i] = hx_cpu_factor_of(row_modulus(build, i / parts), residues[i]);
  }
  plan->first_only = first_only;
  return HX_OK;
}

int32_t hx_cpu_build_mul_scalar(hx_cpu_build_t *build) { return build_given(build, 1, false, false); }
int32_t hx_cpu_build_add_scalar(hx_cpu_build_t *build) { return build_given(build, 1, true, false); }
int32_t hx_cpu_build_ckks_mul_scalar(hx_cpu_build_t *build) { return build_given(build, 2, false, false); }
int32_t hx_cpu_build_ckks_add_scalar(hx_cpu_build_t *build) { return build_given(build, 2, true, true); }

int32_t hx_cpu_build_mul_integer(hx_cpu_build_t *build) {
  scalar_t *plan = NULL;
  int64_t integer = 0;
  HX_CPU_TRY(build_scalar(build, 1, false, HX_STANDARD, HX_STANDARD, &plan));
  HX_CPU_TRY(hx_cpu_attr_i64(build, "integer", INT64_MIN, INT64_MAX, &integer));
  uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hx_cpu_modulus_t *m = row_modulus(build, limb);
    uint64_t residue = integer < 0 ? hx_cpu_neg_mod(m, size % m->q) : size % m->q;
    plan->constants[limb] = hx_cpu_factor_of(m, residue);
  }
  return HX_OK;
}

int32_t hx_cpu_build_to_montgomery(hx_cpu_build_t *build) {
  scalar_t *plan = NULL;
  HX_CPU_TRY(build_scalar(build, 1, false, HX_STANDARD, HX_MONTGOMERY, &plan));
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hx_cpu_modulus_t *m = row_modulus(build, limb);
    plan->constants[limb] = hx_cpu_factor_of(m, m->radix);
  }
  return HX_OK;
}

int32_t hx_cpu_build_from_montgomery(hx_cpu_build_t *build) {
  scalar_t *plan = NULL;
  HX_CPU_TRY(build_scalar(build, 1, false, HX_MONTGOMERY, HX_STANDARD, &plan));
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hx_cpu_modulus_t *m = row_modulus(build, limb);
    plan->constants[limb] = hx_cpu_factor_of(m, hx_cpu_inverse_mod(m, m->radix));
  }
  return HX_OK;
}
