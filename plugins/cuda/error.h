// SPDX-License-Identifier: Apache-2.0
// Failures: a code for the host and one sentence for a person.
#ifndef HX_CUDA_ERROR_H
#define HX_CUDA_ERROR_H

#include "heliox/plugin.h"

// Writes code and text into the caller's error (NULL is fine; only fields within its struct_size are written) and
// returns the code.
int32_t hx_cuda_fail(hx_error *error, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define HX_CUDA_TRY(call_)                    \
  do {                                        \
    int32_t try_code_ = (call_);              \
    if (try_code_ != HX_OK) return try_code_; \
  } while (0)

#endif
