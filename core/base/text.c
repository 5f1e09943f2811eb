// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <stdio.h>
#include <string.h>

void hx_text_init(hx_text_t *text) { *text = (hx_text_t){0}; }

void hx_text_deinit(hx_text_t *text) {
  hx_free(text->data);
  *text = (hx_text_t){0};
}

void hx_text_clear(hx_text_t *text) {
  text->size = 0;
  text->failed = false;
  if (text->data != NULL) text->data[0] = '\0';
}

// Room for `more` bytes and a NUL.
static bool reserve(hx_text_t *text, size_t more) {
  if (text->failed || more > SIZE_MAX / 2 - text->size ||
      hx_grow(&text->data, &text->capacity, text->size + more + 1, 1) != HX_STATUS_OK) {
    text->failed = true;
    return false;
  }
  return true;
}

void hx_text_append(hx_text_t *text, hx_str_t piece) {
  if (!reserve(text, piece.size)) return;
  if (piece.size > 0) memcpy(text->data + text->size, piece.data, piece.size);
  text->size += piece.size;
  text->data[text->size] = '\0';
}

void hx_text_puts(hx_text_t *text, const char *piece) { hx_text_append(text, hx_str(piece)); }

void hx_text_printf(hx_text_t *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int size = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (size < 0) {
    text->failed = true;
  } else if (reserve(text, (size_t)size)) {
    vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
    text->size += (size_t)size;
  }
  va_end(again);
}

void hx_text_json(hx_text_t *text, hx_str_t piece) {
  hx_text_puts(text, "\"");
  for (size_t i = 0; i < piece.size; ++i) {
    const unsigned char c = (unsigned char)piece.data[i];
    switch (c) {
      case '"':
        hx_text_puts(text, "\\\"");
        break;
      case '\\':
        hx_text_puts(text, "\\\\");
        break;
      case '\n':
        hx_text_puts(text, "\\n");
        break;
      case '\t':
        hx_text_puts(text, "\\t");
        break;
      default:
        if (c < 0x20 || c == 0x7f) {
          hx_text_printf(text, "\\u%04x", c);
        } else {
          hx_text_append(text, (hx_str_t){.data = piece.data + i, .size = 1});
        }
    }
  }
  hx_text_puts(text, "\"");
}

char *hx_text_take(hx_text_t *text) {
  if (!reserve(text, 0)) {
    hx_text_deinit(text);
    return NULL;
  }
  text->data[text->size] = '\0';
  char *data = text->data;
  *text = (hx_text_t){0};
  return data;
}
