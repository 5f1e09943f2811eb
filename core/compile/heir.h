// SPDX-License-Identifier: Apache-2.0
// Reading the generic form of another compiler's dialects as text: names, balanced pieces, aliases. Shared by
// heir_text.c (reading) and heir.c (operations).
#ifndef HELIOX_CORE_COMPILE_HEIR_H
#define HELIOX_CORE_COMPILE_HEIR_H

#include "core/ir/ir.h"
#include "heliox/import.h"

#define HX_HEIR_TEXT_MAX ((size_t)16 << 20)
#define HX_HEIR_OPS_MAX ((size_t)1 << 20)
#define HX_HEIR_OPERANDS_MAX 64
#define HX_HEIR_NESTING_MAX 64

// Position in a text. `failed` after the first syntax fault, which is in the report.
typedef struct hx_heir_reader {
  const char *text, *end, *at;
  const char *source;
  uint32_t line;
  const char *line_start;
  hx_report_t *report;
  bool failed;
  hx_arena_t *arena;
  hx_names_t aliases;  // with their ! or #
  hx_str_t *alias_texts;
  size_t alias_capacity;
} hx_heir_reader_t;

void hx_heir_skip(hx_heir_reader_t *reader);  // blanks and comments
bool hx_heir_is(hx_heir_reader_t *reader, const char *piece);
// Takes a piece if it is next.
bool hx_heir_accept(hx_heir_reader_t *reader, const char *piece);
void hx_heir_expect(hx_heir_reader_t *reader, const char *piece, const char *where);
// [A-Za-z0-9_$.-]+ ; empty where there is none.
hx_str_t hx_heir_word(hx_heir_reader_t *reader);
// "..." without the quotes; escapes stay as they are.
hx_str_t hx_heir_string(hx_heir_reader_t *reader);
// Up to one of `stops` at nesting 0 of (), [], <>, {} and outside strings; trimmed.
hx_str_t hx_heir_balanced(hx_heir_reader_t *reader, const char *stops);
void hx_heir_fail(hx_heir_reader_t *reader, hx_code_t code, const char *format, ...) HX_PRINTF(3, 4);
uint32_t hx_heir_column(const hx_heir_reader_t *reader);
// `!name = ...` and `#name = ...` at the start of a line; remembered.
bool hx_heir_alias(hx_heir_reader_t *reader);
// A piece with all aliases replaced, in the arena; bounded. data NULL where it grows beyond the bound.
hx_str_t hx_heir_expand(hx_heir_reader_t *reader, hx_str_t piece);

// Behind `key` and "=" in a piece: an integer. False where it is not there.
bool hx_heir_integer(hx_str_t piece, const char *key, int64_t *out);
// The text of attribute `key` of a dictionary piece ("{...}" or "<{...}>" without its braces).
hx_str_t hx_heir_attribute(hx_str_t dictionary, const char *key);
// Numbers of dense<...> : tensor<...>; splats are repeated. Freed by hx_free; false with a fault otherwise.
bool hx_heir_dense(hx_heir_reader_t *reader, hx_str_t piece, double **out, size_t *out_count);

#endif
