// SPDX-License-Identifier: Apache-2.0
#include "reference/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int32_t hx_ref_fail(hx_error *error, int32_t code, const char *format, ...) {
  if (error == NULL) return code;
  error->code = code;
  error->op = HX_NONE;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return code;
}

void hx_ref_scratch_release(void *memory, size_t bytes) {
  // Writes through a volatile pointer are observable, so they stay although the memory is freed next.
  volatile uint8_t *byte = memory;
  for (size_t i = 0; memory != NULL && i < bytes; ++i) byte[i] = 0;
  free(memory);
}
