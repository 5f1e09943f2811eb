// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#undef hxs_fail  // defined here; see error.h on the analyzer

int32_t hxs_fail(hx_error *error, int32_t code, const char *format, ...) {
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

int32_t hxs_error_code(const hx_error *error) {
  const bool told = error != NULL && error->struct_size >= HX_END_OF(hx_error, code) && error->code != HX_OK;
  return told ? error->code : HX_INVALID;
}
