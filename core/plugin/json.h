// SPDX-License-Identifier: Apache-2.0
// Strict JSON for files that strangers write: one bounded pass over the bytes before a tree is built.
#ifndef HELIOX_CORE_PLUGIN_JSON_H
#define HELIOX_CORE_PLUGIN_JSON_H

#include <jansson.h>

#include "core/base/text.h"

#define HX_JSON_BYTES_MAX (256 * 1024)
#define HX_JSON_DEPTH_MAX 16
#define HX_JSON_STRING_MAX 4096   // bytes between the quotes, as written
#define HX_JSON_ITEMS_MAX 1024    // of one array or object
#define HX_JSON_VALUES_MAX 20480  // in all, an object counting as three, so that a tree stays below 4 MiB

typedef struct hx_json_error {
  uint32_t line, column;  // 1-based, bytes
  char text[200];
} hx_json_error_t;

// Parses one object: UTF-8 without byte order mark, no duplicate keys, no NUL, no number out of range, nothing after
// it. `text` need not end in NUL. On success the caller owns *out (json_decref). HX_STATUS_INVALID fills *error;
// HX_STATUS_OUT_OF_MEMORY.
hx_status_t hx_json_parse(hx_str_t text, json_t **out, hx_json_error_t *error);

// Adds one step to a JSON pointer, escaped.
void hx_json_pointer_key(hx_text_t *pointer, const char *key);
void hx_json_pointer_index(hx_text_t *pointer, size_t index);

#endif
