// SPDX-License-Identifier: Apache-2.0
// Splitting, and the choice of how many small powers there are.
#include "core/circuits/polynomial.h"

#include <string.h>

#include "core/base/memory.h"

hx_poly_t hx_poly_of(const double *c, uint32_t count, bool is_chebyshev) {
  uint32_t degree = count - 1;
  while (degree > 0 && c[degree] == 0.0) --degree;
  return (hx_poly_t){.c = c, .degree = degree, .is_chebyshev = is_chebyshev};
}

bool hx_poly_is_leaf(const hx_poly_plan_t *plan, const hx_poly_t *p, uint32_t level) {
  return p->degree < (uint32_t)1 << plan->log_small && hx_log2_ceil(p->degree) <= level;
}

void hx_poly_split(const hx_poly_t *p, double *room, uint32_t *out_k, hx_poly_t *q, hx_poly_t *r) {
  const uint32_t k = hx_power_below(p->degree), high = p->degree - k;  // high < k
  double *rest = room, *quotient = room + k;
  memcpy(rest, p->c, k * sizeof *rest);
  memcpy(quotient, p->c + k, (high + 1) * sizeof *quotient);
  if (p->is_chebyshev) {  // 2 T_k T_j = T_(k+j) + T_(k-j)
    for (uint32_t j = 1; j <= high; ++j) {
      rest[k - j] -= p->c[k + j];
      quotient[j] *= 2.0;
    }
  }
  *out_k = k;
  *q = hx_poly_of(quotient, high + 1, p->is_chebyshev);
  *r = hx_poly_of(rest, k, p->is_chebyshev);
}

void hx_power_parts(uint32_t i, uint32_t *out_a, uint32_t *out_b) {
  const uint32_t a = hx_power_below(i - 1);  // half of a power of two, else the power of two below
  *out_a = a;
  *out_b = i - a;
}

// Counts products and constants, and marks the powers that they use.
static hx_status_t mark(hx_poly_plan_t *plan, const hx_poly_t *p, uint32_t level) {
  if (p->degree == 0) return HX_STATUS_OK;
  if (hx_poly_is_leaf(plan, p, level)) {
    for (uint32_t i = 1; i <= p->degree; ++i) {
      if (p->c[i] == 0.0) continue;
      plan->wanted[i] = true;
      ++plan->constants;
    }
    return HX_STATUS_OK;
  }
  double *room = hx_alloc((p->degree + 1) * sizeof *room);
  if (room == NULL) return HX_STATUS_OUT_OF_MEMORY;
  uint32_t k;
  hx_poly_t q, r;
  hx_poly_split(p, room, &k, &q, &r);
  plan->wanted[k] = true;
  hx_status_t status = HX_STATUS_OK;
  if (q.degree == 0) {
    ++plan->constants;
  } else {
    ++plan->products;
    status = mark(plan, &q, level - 1);  // q.degree < k <= 2^level, so level > 0
  }
  if (status == HX_STATUS_OK) status = mark(plan, &r, level);
  hx_free(room);
  return status;
}

// Adds what the marked powers are made of.
static void mark_parts(hx_poly_plan_t *plan, bool is_chebyshev) {
  for (uint32_t i = plan->degree; i > 1; --i) {
    if (!plan->wanted[i]) continue;
    uint32_t a, b;
    hx_power_parts(i, &a, &b);
    plan->wanted[a] = plan->wanted[b] = true;
    ++plan->products;
    if (is_chebyshev && a != b) {
      plan->wanted[a - b] = true;
      ++plan->constants;
    }
  }
}

static hx_status_t try_plan(const hx_poly_t *p, uint32_t log_small, hx_poly_plan_t *plan) {
  plan->log_small = log_small;
  plan->products = plan->constants = 0;
  memset(plan->wanted, 0, p->degree + 1);
  HX_TRY(mark(plan, p, plan->level));
  mark_parts(plan, p->is_chebyshev);
  return HX_STATUS_OK;
}

hx_status_t hx_poly_plan_init(const hx_poly_t *p, hx_poly_plan_t *out) {
  hx_poly_plan_t plan = {.degree = p->degree, .level = hx_log2_ceil(p->degree + 1) - 1};
  plan.wanted = hx_zalloc(p->degree + 1, sizeof *plan.wanted);
  if (plan.wanted == NULL) return HX_STATUS_OUT_OF_MEMORY;
  uint32_t best = 1, fewest = UINT32_MAX;
  hx_status_t status = HX_STATUS_OK;
  for (uint32_t log_small = 1; log_small <= plan.level + 1 && status == HX_STATUS_OK; ++log_small) {
    status = try_plan(p, log_small, &plan);
    if (status != HX_STATUS_OK || plan.products >= fewest) continue;
    fewest = plan.products;
    best = log_small;
  }
  if (status == HX_STATUS_OK) status = try_plan(p, best, &plan);
  if (status != HX_STATUS_OK) {
    hx_free(plan.wanted);
    return status;
  }
  *out = plan;
  return HX_STATUS_OK;
}

void hx_poly_plan_deinit(hx_poly_plan_t *plan) { hx_free(plan->wanted); }
