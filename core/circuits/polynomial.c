// SPDX-License-Identifier: Apache-2.0
// Evaluation with exact scales. The scale wanted of the result goes down the splitting: what is to have scale S after a
// rescale is summed at S times the primes that the rescale divides by; there, the constant in front of a power of scale
// s has scale S / s, and a factor of a power of scale s is wanted at S / s. So every sum adds equal scales.
#include "core/circuits/polynomial.h"

#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/circuits/interval.h"

typedef struct work {
  const hx_target_t *target;
  const hx_ring *ring;
  hx_poly_plan_t plan;
  bool is_chebyshev;
  uint32_t depth;      // of y
  hx_node_t **powers;  // [plan.degree + 1], y_i or NULL
  hx_report_t *report;
} work_t;

static const hx_scale_t *scale_of(const work_t *work, const hx_node_t *node) {
  return &hx_node_type(work->target, node)->scale;
}

static void release(const work_t *work, hx_node_t *node) {
  if (node != NULL) work->target->table->release(node);
}

// ------------------------------------------------------------------ sums at one level

// What is summed at one level before its rescale, all of one scale: terms of two components, products not yet
// relinearized, and a constant.
typedef struct sum {
  uint32_t depth;
  hx_scale_t scale;
  hx_node_t *terms, *products;
  double constant;
} sum_t;

static void sum_deinit(const work_t *work, sum_t *sum) {
  release(work, sum->terms);
  release(work, sum->products);
}

// Adds c * y_i.
static hx_status_t add_power(const work_t *work, sum_t *sum, uint32_t i, double c) {
  hx_node_t *power = NULL, *term = NULL;
  hx_scale_t scale;
  HX_TRY(hx_scale_ratio(&sum->scale, scale_of(work, work->powers[i]), &scale, work->report));
  HX_TRY(hx_emit_at_depth(work->target, work->powers[i], sum->depth, &power, work->report));
  const hx_status_t status = hx_emit_mul_scalar(work->target, power, c, &scale, &term, work->report);
  release(work, power);
  return status == HX_STATUS_OK ? hx_emit_accumulate(work->target, &sum->terms, term, work->report) : status;
}

// Adds a * b, both of two components; a may be b.
static hx_status_t add_product(const work_t *work, sum_t *sum, hx_node_t *a, hx_node_t *b) {
  hx_node_t *product = NULL;
  HX_TRY(a == b ? hx_emit_unary(work->target, HX_OP_CKKS_SQUARE, a, &product, work->report)
                : hx_emit_binary(work->target, HX_OP_CKKS_MUL, a, b, &product, work->report));
  return hx_emit_accumulate(work->target, &sum->products, product, work->report);
}

// The sum, relinearized once, its constant added, rescaled. Something was added.
static hx_status_t sum_finish(const work_t *work, sum_t *sum, hx_node_t **out) {
  hx_node_t *next = NULL;
  if (sum->products != NULL) {
    HX_TRY(hx_emit_unary(work->target, HX_OP_CKKS_RELINEARIZE, sum->products, &next, work->report));
    HX_TRY(hx_emit_accumulate(work->target, &sum->terms, next, work->report));
  }
  if (sum->constant != 0.0) {
    HX_TRY(hx_emit_add_scalar(work->target, sum->terms, sum->constant, &next, work->report));
    hx_emit_replace(work->target, &sum->terms, next);
  }
  return hx_emit_unary(work->target, HX_OP_CKKS_RESCALE, sum->terms, out, work->report);
}

// ------------------------------------------------------------------ powers

// y_i from y_a and y_b, deeper by one than y_a (a >= b, a is a power of two, so y_b is no deeper).
static hx_status_t make_power(const work_t *work, uint32_t i) {
  uint32_t a, b;
  hx_power_parts(i, &a, &b);
  hx_node_t *left = work->powers[a], *right = NULL, *next = NULL;
  sum_t sum = {.depth = hx_node_type(work->target, left)->depth};
  HX_TRY(hx_scale_multiply(scale_of(work, left), scale_of(work, work->powers[b]), &sum.scale, work->report));
  if (a == b) {
    HX_TRY(add_product(work, &sum, left, left));
  } else {
    HX_TRY(hx_emit_at_depth(work->target, work->powers[b], sum.depth, &right, work->report));
    const hx_status_t status = add_product(work, &sum, left, right);
    release(work, right);
    HX_TRY(status);
  }
  hx_status_t status = HX_STATUS_OK;
  if (work->is_chebyshev) {  // T_(a+b) = 2 T_a T_b - T_(a-b)
    status = hx_emit_integer(work->target, HX_OP_CKKS_MUL_INTEGER, sum.products, "integer", 2, &next, work->report);
    if (status == HX_STATUS_OK) hx_emit_replace(work->target, &sum.products, next);
    if (status == HX_STATUS_OK && a == b) sum.constant = -1.0;
    if (status == HX_STATUS_OK && a != b) status = add_power(work, &sum, a - b, -1.0);
  }
  if (status == HX_STATUS_OK) status = sum_finish(work, &sum, &work->powers[i]);
  sum_deinit(work, &sum);
  return status;
}

// ------------------------------------------------------------------ splitting

static hx_status_t evaluate(const work_t *work, const hx_poly_t *p, uint32_t level, const hx_scale_t *scale,
                            hx_node_t **out);

// Adds q * y_k, q of degree above 0 and evaluated at the sum's depth.
static hx_status_t add_factor(const work_t *work, sum_t *sum, const hx_poly_t *q, uint32_t level, uint32_t k) {
  hx_scale_t scale;
  HX_TRY(hx_scale_ratio(&sum->scale, scale_of(work, work->powers[k]), &scale, work->report));
  hx_node_t *factor = NULL, *power = NULL;
  HX_TRY(evaluate(work, q, level - 1, &scale, &factor));
  hx_status_t status = hx_emit_at_depth(work->target, work->powers[k], sum->depth, &power, work->report);
  if (status == HX_STATUS_OK) status = add_product(work, sum, factor, power);
  release(work, factor);
  release(work, power);
  return status;
}

// Adds p at a level. No sum starts here: q's does in evaluate.
static hx_status_t add_terms(const work_t *work, sum_t *sum, const hx_poly_t *p, uint32_t level) {
  if (p->degree == 0 || hx_poly_is_leaf(&work->plan, p, level)) {
    sum->constant += p->c[0];
    for (uint32_t i = 1; i <= p->degree; ++i)
      if (p->c[i] != 0.0) HX_TRY(add_power(work, sum, i, p->c[i]));
    return HX_STATUS_OK;
  }
  double *room = hx_alloc((p->degree + 1) * sizeof *room);
  if (room == NULL) return hx_report_fail(work->report, HX_CODE_OUT_OF_MEMORY, "no memory for a polynomial");
  uint32_t k;
  hx_poly_t q, r;
  hx_poly_split(p, room, &k, &q, &r);
  hx_status_t status = q.degree == 0 ? add_power(work, sum, k, q.c[0]) : add_factor(work, sum, &q, level, k);
  if (status == HX_STATUS_OK) status = add_terms(work, sum, &r, level);  // at most log2(degree) deep
  hx_free(room);
  return status;
}

// p of degree above 0, level + 1 depths below y, with this scale.
static hx_status_t evaluate(const work_t *work, const hx_poly_t *p, uint32_t level, const hx_scale_t *scale,
                            hx_node_t **out) {
  sum_t sum = {.depth = work->depth + level};
  HX_TRY(hx_scale_before_rescale(scale, work->ring, sum.depth, &sum.scale, work->report));
  hx_status_t status = add_terms(work, &sum, p, level);
  if (status == HX_STATUS_OK) status = sum_finish(work, &sum, out);
  sum_deinit(work, &sum);
  return status;
}

// ------------------------------------------------------------------ the whole

// A constant: 0 times x, at the scale asked for, plus the constant.
static hx_status_t constant(const hx_target_t *target, hx_node_t *x, double value, const hx_scale_t *scale,
                            hx_node_t **out, hx_report_t *report) {
  hx_scale_t ratio;
  HX_TRY(hx_scale_ratio(scale, &hx_node_type(target, x)->scale, &ratio, report));
  hx_node_t *zero = NULL;
  HX_TRY(hx_emit_mul_scalar(target, x, 0.0, &ratio, &zero, report));
  const hx_status_t status = hx_emit_add_scalar(target, zero, value, out, report);
  target->table->release(zero);
  return status;
}

static hx_status_t run(work_t *work, const hx_poly_t *p, hx_node_t *y, const hx_scale_t *scale, hx_node_t **out) {
  work->powers = hx_zalloc(p->degree + 1, sizeof *work->powers);
  if (work->powers == NULL) return hx_report_fail(work->report, HX_CODE_OUT_OF_MEMORY, "no memory for a polynomial");
  work->depth = hx_node_type(work->target, y)->depth;
  work->powers[1] = work->target->table->retain(y);
  hx_status_t status = HX_STATUS_OK;
  for (uint32_t i = 2; i <= p->degree && status == HX_STATUS_OK; ++i)
    if (work->plan.wanted[i]) status = make_power(work, i);
  if (status == HX_STATUS_OK) status = evaluate(work, p, work->plan.level, scale, out);
  for (uint32_t i = 1; i <= p->degree; ++i) release(work, work->powers[i]);
  hx_free((void *)work->powers);
  return status;
}

static hx_status_t check(const hx_polynomial_t *polynomial, hx_report_t *report) {
  if (polynomial == NULL || polynomial->coefficients == NULL || polynomial->count == 0)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "the polynomial has no coefficients; give at least one");
  if (polynomial->count > HX_POLYNOMIAL_COUNT_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "the polynomial has %zu coefficients; at most %d are taken",
                          polynomial->count, HX_POLYNOMIAL_COUNT_MAX);
  if (polynomial->basis != HX_POLYNOMIAL_POWER && polynomial->basis != HX_POLYNOMIAL_CHEBYSHEV)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "the polynomial's basis is %d, neither power nor Chebyshev",
                          (int)polynomial->basis);
  for (size_t i = 0; i < polynomial->count; ++i)
    if (!isfinite(polynomial->coefficients[i]))
      return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "coefficient %zu of the polynomial is not finite", i);
  return hx_interval_check(polynomial->low, polynomial->high, report);
}

// Scale of the result: as asked for, else that of x.
static hx_status_t result_scale(const hx_params_t *params, const hx_polynomial_t *polynomial, const hx_scale_t *x,
                                hx_scale_t *out, hx_report_t *report) {
  hx_scale_copy(out, x);
  if (polynomial->scale == NULL) return HX_STATUS_OK;
  return hx_scale_parse(hx_str(polynomial->scale), hx_params_ring(params), out, report);
}

static hx_poly_t poly_of(const hx_polynomial_t *polynomial) {
  return hx_poly_of(polynomial->coefficients, (uint32_t)polynomial->count,
                    polynomial->basis == HX_POLYNOMIAL_CHEBYSHEV);
}

hx_status_t hx_emit_polynomial(const hx_target_t *target, hx_node_t *x, const hx_polynomial_t *polynomial,
                               hx_node_t **out, hx_report_t *report) {
  HX_TRY(check(polynomial, report));
  HX_TRY(hx_emit_check_operand(target, x, "polynomial evaluation", report));
  hx_scale_t scale;
  const hx_scale_t *of_x = &hx_node_type(target, x)->scale;
  HX_TRY(result_scale(target->params, polynomial, of_x, &scale, report));
  const hx_poly_t p = poly_of(polynomial);
  if (p.degree == 0) return constant(target, x, p.c[0], &scale, out, report);
  const hx_interval_t interval = hx_interval_of(polynomial->low, polynomial->high, of_x);
  work_t work = {
      .target = target, .ring = hx_params_ring(target->params), .is_chebyshev = p.is_chebyshev, .report = report};
  if (hx_poly_plan_init(&p, &work.plan) != HX_STATUS_OK)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a polynomial");
  hx_node_t *y = NULL;
  hx_status_t status =
      hx_emit_check_depth(target, x, work.plan.level + 1 + interval.depth, "polynomial evaluation", report);
  if (status == HX_STATUS_OK) status = hx_emit_interval(target, x, &interval, &y, report);
  if (status == HX_STATUS_OK) status = run(&work, &p, y, &scale, out);
  if (y != NULL) target->table->release(y);
  hx_poly_plan_deinit(&work.plan);
  return status;
}

hx_status_t hx_polynomial_cost(const hx_params_t *params, const hx_polynomial_t *polynomial, const char *scale,
                               hx_polynomial_cost_t *out, hx_report_t *report) {
  if (params == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_polynomial_cost: parameters or out is NULL");
  HX_TRY(check(polynomial, report));
  hx_scale_t of_x;
  hx_scale_copy(&of_x, hx_params_default_scale(params));
  if (scale != NULL) HX_TRY(hx_scale_parse(hx_str(scale), hx_params_ring(params), &of_x, report));
  const hx_poly_t p = poly_of(polynomial);
  *out = (hx_polynomial_cost_t){.degree = p.degree};
  if (p.degree == 0) return HX_STATUS_OK;
  hx_poly_plan_t plan;
  if (hx_poly_plan_init(&p, &plan) != HX_STATUS_OK)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a polynomial");
  const uint32_t mapping = hx_interval_of(polynomial->low, polynomial->high, &of_x).depth;
  out->depth = plan.level + 1 + mapping;
  out->products = plan.products;
  out->constants = plan.constants + mapping;
  hx_poly_plan_deinit(&plan);
  return HX_STATUS_OK;
}
