// SPDX-License-Identifier: Apache-2.0
// Failures: a code for the host and one sentence for a person.
#ifndef HX_CPU_ERROR_H
#define HX_CPU_ERROR_H

#include "heliox/plugin.h"

// Writes code and text into the caller's error (NULL is fine; only fields within its struct_size are written) and
// returns the code.
int32_t hx_cpu_fail(hx_error *error, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__
// The code of a failure is never HX_OK. The analyzer sees one file at a time, so it is told.
static inline int32_t hx_cpu_failed(int32_t code) {
  if (code == HX_OK) __builtin_unreachable();
  return code;
}
#define hx_cpu_fail(...) hx_cpu_failed(hx_cpu_fail(__VA_ARGS__))
#endif

#define HX_CPU_TRY(call_)                     \
  do {                                        \
    int32_t try_code_ = (call_);              \
    if (try_code_ != HX_OK) return try_code_; \
  } while (0)

#endif
