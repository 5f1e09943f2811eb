// SPDX-License-Identifier: Apache-2.0
// The security table of CKKS.md: largest log2(QP) for 128-bit classical security with a uniform ternary secret and
// sigma 3.2.
#ifndef HELIOX_CORE_CKKS_SECURITY_H
#define HELIOX_CORE_CKKS_SECURITY_H

#include <stdint.h>

#define HX_SECURITY_LOG_N_MIN 10
#define HX_SECURITY_LOG_N_MAX 17

// QP must be below 2^limit; 0 for a ring that is not in the table.
uint32_t hx_security_limit(uint32_t log_n);

#endif
