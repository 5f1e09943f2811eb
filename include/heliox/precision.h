// SPDX-License-Identifier: Apache-2.0
/// @file
/// How far numbers are from what they should be.
#ifndef HELIOX_PRECISION_H
#define HELIOX_PRECISION_H

#include "heliox/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Sizes of errors. In bits: -log2; an error of 0 has infinitely many.
typedef struct hx_error_statistics {
  double worst;        ///< bits of the worst slot
  double mean;         ///< bits of the mean error
  double median;       ///< bits of the median error
  size_t worst_index;  ///< where it is
} hx_error_statistics_t;

/// How far two vectors are apart.
typedef struct hx_error_report {
  size_t count;                     ///< numbers compared
  bool exact;                       ///< every number is equal
  hx_error_statistics_t real;       ///< of real parts
  hx_error_statistics_t imaginary;  ///< of the parts' errors
  hx_error_statistics_t size;       ///< of |have - want|
  double l2;                        ///< root of the sum of |have - want|^2 over all
} hx_error_report_t;                ///< see hx_error_report

/// @param have, want [count] doubles, or pairs (re, im) where complex_values
/// @retval HX_STATUS_INVALID (length) no numbers; (value) one that is not finite: the text names index and value
HX_API HX_MUST_USE hx_status_t hx_errors_measure(const double *have, size_t have_count, const double *want,
                                                 size_t want_count, bool complex_values, hx_error_report_t *out,
                                                 hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
