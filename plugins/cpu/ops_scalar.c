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

static int32_t build_scalar(hxs_build *build, const hxs_constants *constants, bool adds, bool first_only) {
  hxs_prepared *p = build->prepared;
  const hxs_view *out = &p->results[0];
  const uint32_t parts = constants->parts;
  scalar_t *plan = NULL;
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  *plan = (scalar_t){.parts = parts, .adds = adds, .first_only = first_only};
  HXS_TRY(hxs_keep_or_fail(build, (size_t)out->limbs * parts, sizeof *plan->constants, &plan->constants));
  for (uint32_t i = 0; i < out->limbs * parts; i++) {
    plan->constants[i] = hxs_factor_of(&build->ring->moduli[out->ids[i / parts]], constants->residues[i]);
  }
  p->plan = plan;
  hx_cpu_set_rows(build, scalar_row, p->n * 2);
  p->cost = out->items * out->components * out->limbs * p->n * 2;
  return HX_OK;
}

// From attribute `residues`.
static int32_t build_given(hxs_build *build, uint32_t parts, bool adds, bool first_only) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_scalar(build, parts, &constants));
  return build_scalar(build, &constants, adds, first_only);
}

int32_t hx_cpu_build_mul_scalar(hxs_build *build) { return build_given(build, 1, false, false); }
int32_t hx_cpu_build_add_scalar(hxs_build *build) { return build_given(build, 1, true, false); }
int32_t hx_cpu_build_ckks_mul_scalar(hxs_build *build) { return build_given(build, 2, false, false); }
int32_t hx_cpu_build_ckks_add_scalar(hxs_build *build) { return build_given(build, 2, true, true); }

int32_t hx_cpu_build_mul_integer(hxs_build *build) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_integer(build, &constants));
  return build_scalar(build, &constants, false, false);
}

static int32_t build_montgomery(hxs_build *build, bool into) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_montgomery(build, into, &constants));
  return build_scalar(build, &constants, false, false);
}

int32_t hx_cpu_build_to_montgomery(hxs_build *build) { return build_montgomery(build, true); }
int32_t hx_cpu_build_from_montgomery(hxs_build *build) { return build_montgomery(build, false); }
