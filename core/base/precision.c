// SPDX-License-Identifier: Apache-2.0
#include "heliox/precision.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"

static hx_status_t check_finite(const char *what, const double *values, size_t count, hx_report_t *report) {
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(values[i]))
      return hx_report_fail(report, HX_CODE_VALUE,
                            "the numbers %s have %g at place %zu, which no error can be taken of", what, values[i], i);
  }
  return HX_STATUS_OK;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

// Sorts the errors.
static void summarize(double *errors, size_t count, hx_error_statistics_t *out) {
  *out = (hx_error_statistics_t){0};
  for (size_t i = 0; i < count; ++i) {
    out->mean += errors[i] / (double)count;
    if (errors[i] <= out->worst) continue;
    out->worst = errors[i];
    out->worst_index = i;
  }
  qsort(errors, count, sizeof *errors, by_size);
  out->median = count % 2 == 1 ? errors[count / 2] : 0.5 * (errors[count / 2 - 1] + errors[count / 2]);
}

hx_status_t hx_errors_measure(const double *have, size_t have_count, const double *want, size_t want_count,
                              bool complex_values, hx_error_report_t *out, hx_report_t *report) {
  if (have == NULL || want == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_errors_measure: an argument is NULL");
  if (have_count != want_count || have_count == 0)
    return hx_report_fail(report, HX_CODE_LENGTH,
                          "%zu numbers are compared with %zu; give as many of both, at least one", have_count,
                          want_count);
  const size_t width = complex_values ? 2 : 1, count = have_count;
  HX_TRY(check_finite("to be checked", have, count * width, report));
  HX_TRY(check_finite("to be reached", want, count * width, report));
  double *errors = hx_zalloc(count, sizeof *errors);
  if (errors == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for error statistics");
  *out = (hx_error_report_t){.count = count};
  for (size_t i = 0; i < count; ++i) errors[i] = fabs(have[i * width] - want[i * width]);
  summarize(errors, count, &out->real);
  for (size_t i = 0; i < count; ++i) errors[i] = complex_values ? fabs(have[2 * i + 1] - want[2 * i + 1]) : 0;
  summarize(errors, count, &out->imaginary);
  double squares = 0;
  for (size_t i = 0; i < count; ++i) {
    const double re = have[i * width] - want[i * width];
    const double im = complex_values ? have[2 * i + 1] - want[2 * i + 1] : 0;
    errors[i] = hypot(re, im);
    squares += re * re + im * im;
  }
  summarize(errors, count, &out->size);
  out->l2 = sqrt(squares);
  out->exact = out->size.worst == 0;
  hx_free(errors);
  return HX_STATUS_OK;
}
