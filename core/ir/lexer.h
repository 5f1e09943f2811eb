// SPDX-License-Identifier: Apache-2.0
// Tokens of MLIR's generic operation form. A type or attribute with a body in angle brackets is one token.
#ifndef HELIOX_CORE_IR_LEXER_H
#define HELIOX_CORE_IR_LEXER_H

#include "heliox/base.h"

typedef enum hx_token_kind {
  HX_TOKEN_END,
  HX_TOKEN_ERROR,    // hx_lexer_t.message says what
  HX_TOKEN_WORD,     // bare identifier, with its <body> where one follows directly: tensor<8xf64>
  HX_TOKEN_STRING,   // what stands between the quotes, escapes undecoded
  HX_TOKEN_INTEGER,  // -12, 0x1F
  HX_TOKEN_FLOAT,    // -1.5e-3
  HX_TOKEN_VALUE,    // %name; number is that of %name#number, or HX_NONE
  HX_TOKEN_LABEL,    // ^name
  HX_TOKEN_SYMBOL,   // @name or @"name": what stands after @, quotes included
  HX_TOKEN_TYPE,     // !name with its <body>, ! excluded
  HX_TOKEN_HASH,     // #name with its <body>, # excluded
  HX_TOKEN_ARROW,    // ->
  HX_TOKEN_PUNCTUATION
} hx_token_kind_t;

typedef struct hx_token {
  hx_token_kind_t kind;
  hx_str_t text;
  char punctuation;  // of HX_TOKEN_PUNCTUATION
  uint32_t number;   // of HX_TOKEN_VALUE
  uint32_t line, column;
} hx_token_t;

typedef struct hx_lexer {
  const char *at, *end;
  const char *line_start;
  uint32_t line;
  const char *message;  // of the last HX_TOKEN_ERROR; static
} hx_lexer_t;

void hx_lexer_init(hx_lexer_t *lexer, hx_str_t text);
// The next token; after the end or an error, the same again.
void hx_lexer_next(hx_lexer_t *lexer, hx_token_t *out);

#endif
