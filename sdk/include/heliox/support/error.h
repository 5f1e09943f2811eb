// SPDX-License-Identifier: Apache-2.0
// Failures: a code for the host and one sentence for a person.
#ifndef HELIOX_SUPPORT_ERROR_H
#define HELIOX_SUPPORT_ERROR_H

#include "heliox/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// [A] Writes code and text into the caller's error (NULL is fine; only fields within its struct_size are written) and
// returns the code. Longer text is cut; `op` becomes HX_NONE.
int32_t hxs_fail(hx_error *error, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));

// The code that an error has, where its writer had no other way to return it; HX_INVALID where it has no room for one.
int32_t hxs_error_code(const hx_error *error);

#ifdef __clang_analyzer__
// The code of a failure is never HX_OK. The analyzer sees one file at a time, so it is told.
static inline int32_t hxs_failed(int32_t code) {
  if (code == HX_OK) __builtin_unreachable();
  return code;
}
#define hxs_fail(...) hxs_failed(hxs_fail(__VA_ARGS__))
#endif

// Returns the code of a call that is not HX_OK.
#define HXS_TRY(call_)                        \
  do {                                        \
    int32_t try_code_ = (call_);              \
    if (try_code_ != HX_OK) return try_code_; \
  } while (0)

// Returns HX_ARGS_SIZE where a struct of the host is missing or ends before its mandatory field; `error` is in scope.
#define HXS_NEED(type_, field_, value_)                                                                             \
  do {                                                                                                              \
    if ((value_) == NULL || (value_)->struct_size < HX_END_OF(type_, field_))                                       \
      return hxs_fail(error, HX_ARGS_SIZE, #type_ " has %u bytes, at least %u are needed",                          \
                      (value_) == NULL ? 0u : (unsigned)(value_)->struct_size, (unsigned)HX_END_OF(type_, field_)); \
  } while (0)

#ifdef __cplusplus
}
#endif

#endif
