// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#undef hx_cpu_fail  // defined here; see error.h on the analyzer

int32_t hx_cpu_fail(hx_error *error, int32_t code, const char *format, ...) {
  if (error == NULL) {
    return code;
  }
  if (error->struct_size >= HX_END_OF(hx_error, code)) {
    error->code = code;
  }
  if (error->struct_size >= HX_END_OF(hx_error, op)) {
    error->op = HX_NONE;
  }
  if (error->struct_size >= HX_END_OF(hx_error, message)) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return code;
}
