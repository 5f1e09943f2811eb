// SPDX-License-Identifier: Apache-2.0
#ifndef HELIOX_CORE_CKKS_PARAMS_H
#define HELIOX_CORE_CKKS_PARAMS_H

#include "core/ops/ops.h"
#include "heliox/params.h"
#include "reference/reference.h"

// The flat description that crosses the ABI; lives as long as the parameters.
const hx_ring *hx_params_ring(const hx_params_t *params);
const hx_scale_t *hx_params_default_scale(const hx_params_t *params);
// Tables of the reference arithmetic, for work on secrets and expansion of seeds: 16 * N bytes a prime. Made on first
// use by any thread, kept until the parameters go.
hx_status_t hx_params_reference(const hx_params_t *params, const hx_ref_ring **out, hx_report_t *report);
// Hamming weight of the secret; 0: uniform ternary.
uint32_t hx_params_secret_weight(const hx_params_t *params);
// A copy for a capturing engine: the same set and digest, under which key generation is refused.
hx_status_t hx_params_copy_capturing(const hx_params_t *params, hx_params_t **out, hx_report_t *report);
// Refused (unsupported): such a copy. `what` names the function.
hx_status_t hx_params_want_live(const hx_params_t *params, const char *what, hx_report_t *report);
bool hx_params_same(const hx_params_t *a, const hx_params_t *b);  // equal digests

#endif
