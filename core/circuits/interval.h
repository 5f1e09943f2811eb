// SPDX-License-Identifier: Apache-2.0
// From [low, high] to [-1, 1], and interpolation there.
#ifndef HELIOX_CORE_CIRCUITS_INTERVAL_H
#define HELIOX_CORE_CIRCUITS_INTERVAL_H

#include "core/circuits/target.h"

// y = x / half - middle / half.
typedef struct hx_interval {
  double half, offset;  // offset: middle / half
  uint32_t depth;       // consumed by the mapping: 0 or 1
} hx_interval_t;

// Refused (invalid-argument): bounds that are not finite or not ascending; both 0 stand for no mapping.
hx_status_t hx_interval_check(double low, double high, hx_report_t *report);
// For a value of this scale. Division by 2^-k is an exact integer and free. A wider interval takes a product with a
// constant: dividing by way of another scale would be free too, but the scales of powers would run away from it, twice
// as far with each squaring. The product also leaves behind an odd factor of the scale, which the powers of y could not
// divide by.
hx_interval_t hx_interval_of(double low, double high, const hx_scale_t *scale);
hx_status_t hx_emit_interval(const hx_target_t *target, hx_node_t *x, const hx_interval_t *interval, hx_node_t **out,
                             hx_report_t *report);

hx_status_t hx_emit_polynomial(const hx_target_t *target, hx_node_t *x, const hx_polynomial_t *polynomial,
                               hx_node_t **out, hx_report_t *report);

#endif
