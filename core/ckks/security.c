// SPDX-License-Identifier: Apache-2.0
#include "core/ckks/security.h"

// HomomorphicEncryption.org standard, and its extension to N = 2^16 and 2^17.
static const uint32_t limits[HX_SECURITY_LOG_N_MAX - HX_SECURITY_LOG_N_MIN + 1] = {27,  54,  109,  218,
                                                                                   438, 881, 1747, 3523};

uint32_t hx_security_limit(uint32_t log_n) {
  return log_n < HX_SECURITY_LOG_N_MIN || log_n > HX_SECURITY_LOG_N_MAX ? 0 : limits[log_n - HX_SECURITY_LOG_N_MIN];
}
