// SPDX-License-Identifier: Apache-2.0
// The affine map of an interval, and Chebyshev interpolation on it.
#include "core/circuits/interval.h"

#include <math.h>
#include <string.h>

#include "core/base/memory.h"

hx_status_t hx_interval_check(double low, double high, hx_report_t *report) {
  if (low == 0.0 && high == 0.0) return HX_STATUS_OK;
  if (isfinite(low) && isfinite(high) && low < high && isfinite(high - low) && high - low >= 0x1p-1000)
    return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                        "[%g, %g] is no interval; give finite bounds, the lower one first", low, high);
}

static bool is_odd_one(const hx_scale_t *scale) {
  return scale->m[0] == 1 && (scale->m[1] | scale->m[2] | scale->m[3]) == 0;
}

// k where x is 2^-k, 0 <= k <= 62, so that x divides by an exact integer; else -1.
static int halvings(double x) {
  int exponent;
  if (frexp(x, &exponent) != 0.5 || exponent > 1 || exponent < -61) return -1;
  return 1 - exponent;
}

hx_interval_t hx_interval_of(double low, double high, const hx_scale_t *scale) {
  hx_interval_t interval = {.half = 1.0};
  if (low != 0.0 || high != 0.0) {
    interval.half = (high - low) / 2;
    interval.offset = (low / 2 + high / 2) / interval.half;
  }
  interval.depth = halvings(interval.half) < 0 || !is_odd_one(scale);
  return interval;
}

// The scale with its odd factor replaced by the power of two nearest to it; what the value is multiplied by in that.
static double round_odd(hx_scale_t *scale) {
  int bits = 0;
  double odd = 0.0;
  for (int i = 4; i-- > 0;) odd = ldexp(odd, 64) + (double)scale->m[i];
  double factor = frexp(odd, &bits);  // in [1/2, 1)
  if (factor < 0.7) {
    factor *= 2.0;
    --bits;
  }
  memset(scale->m, 0, sizeof scale->m);
  scale->m[0] = 1;
  scale->e += bits;
  return factor;
}

// The power of two nearest to what a rescale from `depth` divides by: a value of this scale keeps it when it is squared
// and rescaled.
static hx_status_t steady_scale(const hx_ring *ring, uint32_t depth, hx_scale_t *out, hx_report_t *report) {
  hx_scale_set_one(out);
  HX_TRY(hx_scale_before_rescale(out, ring, depth, out, report));
  const double bits = hx_scale_log2(out, ring);
  hx_scale_set_one(out);
  out->e = (int64_t)(bits + 0.5);
  return HX_STATUS_OK;
}

static hx_status_t divide(const hx_target_t *target, hx_node_t *x, const hx_interval_t *interval, hx_node_t **out,
                          hx_report_t *report) {
  const hx_type_t *type = hx_node_type(target, x);
  hx_scale_t scale, ratio;
  if (interval->depth == 0) {
    const int k = halvings(interval->half);
    if (k > 0) return hx_emit_integer(target, HX_OP_CKKS_MUL_INTEGER, x, "integer", (int64_t)1 << k, out, report);
    *out = target->table->retain(x);
    return HX_STATUS_OK;
  }
  const hx_ring *ring = hx_params_ring(target->params);
  hx_scale_copy(&scale, &type->scale);
  const double factor = round_odd(&scale);  // x stands for x * factor at this scale
  hx_node_t *near = NULL, *product = NULL;
  HX_TRY(steady_scale(ring, type->depth, &ratio, report));
  HX_TRY(hx_scale_before_rescale(&ratio, ring, type->depth, &ratio, report));
  HX_TRY(hx_scale_ratio(&ratio, &scale, &ratio, report));
  HX_TRY(hx_emit_reinterpret(target, x, &scale, &near, report));
  hx_status_t status = hx_emit_mul_scalar(target, near, 1.0 / (interval->half * factor), &ratio, &product, report);
  target->table->release(near);
  if (status == HX_STATUS_OK) {
    status = hx_emit_unary(target, HX_OP_CKKS_RESCALE, product, out, report);
    target->table->release(product);
  }
  return status;
}

hx_status_t hx_emit_interval(const hx_target_t *target, hx_node_t *x, const hx_interval_t *interval, hx_node_t **out,
                             hx_report_t *report) {
  hx_node_t *y = NULL, *next = NULL;
  HX_TRY(divide(target, x, interval, &y, report));
  if (interval->offset != 0.0) {
    const hx_status_t status = hx_emit_add_scalar(target, y, -interval->offset, &next, report);
    if (status != HX_STATUS_OK) {
      target->table->release(y);
      return status;
    }
    hx_emit_replace(target, &y, next);
  }
  *out = y;
  return HX_STATUS_OK;
}

// cos(pi * numerator / denominator), with exact symmetries: zeros, signs and mirrored values.
static double cosine(uint64_t numerator, uint64_t denominator) {
  static const double pi = 3.14159265358979323846;
  uint64_t x = numerator % (2 * denominator);
  if (x > denominator) x = 2 * denominator - x;  // cos is even
  if (2 * x == denominator) return 0.0;
  if (2 * x > denominator) return -cos(pi * (double)(denominator - x) / (double)denominator);
  return cos(pi * (double)x / (double)denominator);
}

hx_status_t hx_chebyshev_fit(double (*function)(double x, void *argument), void *argument, double low, double high,
                             uint32_t degree, double *coefficients, hx_report_t *report) {
  if (function == NULL || coefficients == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_chebyshev_fit: function or coefficients is NULL");
  if (degree >= HX_POLYNOMIAL_COUNT_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "degree %u; at most %d is taken", degree, HX_POLYNOMIAL_COUNT_MAX - 1);
  HX_TRY(hx_interval_check(low, high, report));
  if (low == high) low = -1.0, high = 1.0;
  const uint64_t count = (uint64_t)degree + 1;
  const double half = (high - low) / 2, middle = low / 2 + high / 2;
  double *values = hx_alloc(count * sizeof *values);
  if (values == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for %u coefficients", degree + 1);
  for (uint64_t k = 0; k < count; ++k) values[k] = function(middle + half * cosine(2 * k + 1, 2 * count), argument);
  for (uint64_t i = 0; i < count; ++i) {
    // Mirrored nodes together, so that their terms cancel exactly where the function is even or odd.
    double sum = 0.0;
    for (uint64_t k = 0; k < count / 2; ++k) {
      const double pair = i % 2 == 0 ? values[k] + values[count - 1 - k] : values[k] - values[count - 1 - k];
      sum += pair * cosine(i * (2 * k + 1), 2 * count);
    }
    if (count % 2 == 1 && i % 2 == 0) sum += values[count / 2] * cosine(i * count, 2 * count);
    coefficients[i] = sum * (i == 0 ? 1.0 : 2.0) / (double)count;
  }
  hx_free(values);
  double largest = 0.0;
  for (uint64_t i = 0; i < count; ++i) largest = fmax(largest, fabs(coefficients[i]));
  for (uint64_t i = 0; i < count; ++i)
    if (fabs(coefficients[i]) < largest * 0x1p-50) coefficients[i] = 0.0;  // rounding alone
  for (uint64_t i = 0; i < count; ++i)
    if (!isfinite(coefficients[i]))
      return hx_report_fail(report, HX_CODE_VALUE, "the function is not finite on all of [%g, %g]", low, high);
  return HX_STATUS_OK;
}
