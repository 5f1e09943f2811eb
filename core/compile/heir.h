// SPDX-License-Identifier: Apache-2.0
// Reading the generic form of another compiler's dialects: heir_text.c (names, balanced pieces, aliases), heir_read.c
// (functions and operations as text), heir.c (what becomes of them).
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

// ------------------------------------------------------------------ the import

typedef struct hx_heir_value {
  hx_ir_value_t *value;  // NULL: a constant that nobody has encoded yet
  uint32_t constant;     // HX_NONE: none
} hx_heir_value_t;

struct hx_import {
  hx_program_t *program;
  hx_import_constant_t *constants;
  size_t constant_count, constant_capacity;
  hx_arena_t arena;
};

typedef struct hx_heir {
  hx_heir_reader_t reader;
  hx_import_t *import;
  hx_names_t names;  // of values of this function
  hx_heir_value_t *values;
  size_t value_capacity;
  hx_ir_block_t *block;
  hx_ir_op_t *found;  // the function that becomes @main
  size_t functions, ops;
  const char *entry;
  bool is_skipped;  // the function at hand is another one
  bool is_inside;   // a function's body is being read
} hx_heir_t;

// One operation as written.
typedef struct hx_heir_op {
  hx_str_t name, result, attributes, operands[HX_HEIR_OPERANDS_MAX], types;
  size_t operand_count;
  uint32_t line, column;
} hx_heir_op_t;

// A fault at an operation; nothing is read after the first.
void hx_heir_refuse(hx_heir_t *heir, const hx_heir_op_t *op, hx_code_t code, const char *format, ...) HX_PRINTF(4, 5);
// False, with a fault, for a status that is not OK: memory is exhausted.
bool hx_heir_must(hx_heir_t *heir, hx_status_t status);
// Scale, slots and, for ciphertexts, depth and components of an input. False with a fault for other types.
bool hx_heir_read_type(hx_heir_t *heir, hx_str_t written, hx_type_t *out);
void hx_heir_define(hx_heir_t *heir, const hx_heir_op_t *op, hx_str_t name, hx_heir_value_t value);
// One operation by the table of docs/heir.md.
void hx_heir_import_op(hx_heir_t *heir, const hx_heir_op_t *op);
// heir_read.c: the whole text.
void hx_heir_read_module(hx_heir_t *heir);

#endif
