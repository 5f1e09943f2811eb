// SPDX-License-Identifier: Apache-2.0
// A growing text buffer. After an allocation failure it stays failed; check once at the end.
#ifndef HELIOX_CORE_BASE_TEXT_H
#define HELIOX_CORE_BASE_TEXT_H

#include "core/base/memory.h"

typedef struct hx_text {
  char *data;  // NUL-terminated, or NULL while empty
  size_t size, capacity;
  bool failed;
} hx_text_t;

void hx_text_init(hx_text_t *text);
void hx_text_deinit(hx_text_t *text);
void hx_text_clear(hx_text_t *text);  // keeps the memory
void hx_text_append(hx_text_t *text, hx_str_t piece);
void hx_text_puts(hx_text_t *text, const char *piece);
void hx_text_printf(hx_text_t *text, const char *format, ...) HX_PRINTF(2, 3);
// Adds `"` + piece with JSON escapes + `"`.
void hx_text_json(hx_text_t *text, hx_str_t piece);
// Moves the buffer out (freed by hx_free) and empties the text; NULL if it had failed.
char *hx_text_take(hx_text_t *text);

#endif
