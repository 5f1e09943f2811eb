// SPDX-License-Identifier: Apache-2.0
// add, sub, neg, with and without plaintexts, and reduce: one row a task.
#include <string.h>

#include "ops.h"
#include "run.h"

typedef enum kind { ADD, SUB, NEG, REDUCE } kind_t;

typedef struct linear {
  kind_t kind;
  uint64_t scale;   // modulus is scale * q: 2 for lazy residues
  bool first_only;  // the second operand meets the first component alone, the others are copied
} linear_t;

static void linear_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const linear_t *plan = p->plan;
  const hxs_view *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hxs_modulus *m = &hx_cpu_prime_of(run, out->ids[at.limb])->m;
  void *to = hx_cpu_result_row(run, out, at.item, at.component, at.limb);
  const void *a = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, at.limb);
  if (plan->first_only && at.component > 0) {
    if (to != a) {
      memcpy(to, a, hx_cpu_row_bytes(p));
    }
    return;
  }
  const void *b =
      p->operand_count > 1 ? hx_cpu_operand_row(run, &p->operands[1], at.item, at.component, at.limb) : NULL;
  switch (plan->kind) {
    case ADD:
      run->kernels->pointwise->add(to, a, b, plan->scale * m->q, p->n);
      break;
    case SUB:
      run->kernels->pointwise->sub(to, a, b, plan->scale * m->q, p->n);
      break;
    case NEG:
      run->kernels->pointwise->neg(to, a, plan->scale * m->q, p->n);
      break;
    case REDUCE:
      run->kernels->pointwise->reduce(to, a, m, p->n);
      break;
  }
}

static int32_t build_linear(hxs_build *build, kind_t kind, bool plain) {
  hxs_prepared *p = build->prepared;
  linear_t *plan = NULL;
  HXS_TRY(kind == REDUCE ? hxs_accept_reduce(build)
                         : hxs_accept_linear(build, kind == ADD || kind == SUB ? 2 : 1, plain));
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  const hxs_view *out = &p->results[0];
  *plan = (linear_t){.kind = kind, .scale = out->repr == HX_LAZY ? 2 : 1, .first_only = plain};
  p->plan = plan;
  hx_cpu_set_rows(build, linear_row, p->n);
  p->cost = out->items * out->components * out->limbs * p->n;
  return HX_OK;
}

int32_t hx_cpu_build_add(hxs_build *build) { return build_linear(build, ADD, false); }
int32_t hx_cpu_build_sub(hxs_build *build) { return build_linear(build, SUB, false); }
int32_t hx_cpu_build_neg(hxs_build *build) { return build_linear(build, NEG, false); }
int32_t hx_cpu_build_reduce(hxs_build *build) { return build_linear(build, REDUCE, false); }
int32_t hx_cpu_build_add_plain(hxs_build *build) { return build_linear(build, ADD, true); }
int32_t hx_cpu_build_sub_plain(hxs_build *build) { return build_linear(build, SUB, true); }
