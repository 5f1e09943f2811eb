// SPDX-License-Identifier: Apache-2.0
#include "core/ir/lexer.h"

#include <string.h>

#include "heliox/plugin.h"

enum { START = 1, MORE = 2, SUFFIX = 4, DIGIT = 8, HEX = 16, SYMBOL = 32 };

// START begins a bare word, MORE continues one, SUFFIX continues a name after % or ^, SYMBOL one after @.
static uint32_t class_of(char c) {
  if (c >= '0' && c <= '9') return MORE | SUFFIX | DIGIT | HEX | SYMBOL;
  if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) return START | MORE | SUFFIX | HEX | SYMBOL;
  if ((c >= 'g' && c <= 'z') || (c >= 'G' && c <= 'Z') || c == '_') return START | MORE | SUFFIX | SYMBOL;
  if (c == '$' || c == '.') return MORE | SUFFIX | SYMBOL;
  return c == '-' ? SUFFIX : 0;
}

void hx_lexer_init(hx_lexer_t *lexer, hx_str_t text) {
  *lexer = (hx_lexer_t){.at = text.data, .end = text.data + text.size, .line_start = text.data, .line = 1};
}

static bool is_at(const hx_lexer_t *lexer, uint32_t class) {
  return lexer->at < lexer->end && (class_of(*lexer->at) & class) != 0;
}

static void take(hx_lexer_t *lexer, uint32_t class) {
  while (is_at(lexer, class)) ++lexer->at;
}

static void start_line(hx_lexer_t *lexer) {
  ++lexer->line;
  lexer->line_start = lexer->at + 1;
}

static void skip_blanks(hx_lexer_t *lexer) {
  for (; lexer->at < lexer->end; ++lexer->at) {
    const char c = *lexer->at;
    if (c == '\n') {
      start_line(lexer);
    } else if (c == '/' && lexer->end - lexer->at > 1 && lexer->at[1] == '/') {
      const char *line_end = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
      lexer->at = (line_end == NULL ? lexer->end : line_end) - 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

static void fail(hx_lexer_t *lexer, hx_token_t *token, const char *message) {
  lexer->message = message;
  token->kind = HX_TOKEN_ERROR;
}

// From the opening quote to behind the closing one. A string stays on its line.
static bool skip_string(hx_lexer_t *lexer) {
  for (++lexer->at; lexer->at < lexer->end && *lexer->at != '\n' && *lexer->at != '\0'; ++lexer->at) {
    if (*lexer->at == '"') {
      ++lexer->at;
      return true;
    }
    if (*lexer->at == '\\' && lexer->end - lexer->at > 1 && lexer->at[1] != '\n') ++lexer->at;
  }
  return false;
}

static char closing_of(char c) { return (char)(c == '<' ? '>' : c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : 0); }

// From the opening < to behind its >. Brackets inside must match; strings and arrows are skipped.
static bool skip_body(hx_lexer_t *lexer) {
  char open[64];
  size_t depth = 0;
  while (lexer->at < lexer->end && *lexer->at != '\0') {
    const char c = *lexer->at;
    if (c == '"') {
      if (!skip_string(lexer)) return false;
      continue;
    }
    if (c == '-' && lexer->end - lexer->at > 1 && lexer->at[1] == '>') ++lexer->at;
    if (c == '\n') start_line(lexer);
    if (closing_of(c) != 0) {
      if (depth == sizeof open) return false;
      open[depth++] = closing_of(c);
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (open[--depth] != c) return false;
    }
    ++lexer->at;
    if (depth == 0) return true;
  }
  return false;
}

static void lex_body(hx_lexer_t *lexer, hx_token_t *token, const char *start) {
  if (lexer->at < lexer->end && *lexer->at == '<' && !skip_body(lexer)) {
    fail(lexer, token, "the <...> after this name is not closed, or its brackets do not match or nest deeper than 64");
    return;
  }
  token->text = (hx_str_t){.data = start, .size = (size_t)(lexer->at - start)};
}

static void lex_number(hx_lexer_t *lexer, hx_token_t *token) {
  const char *start = lexer->at;
  token->kind = HX_TOKEN_INTEGER;
  if (*lexer->at == '-') ++lexer->at;
  if (lexer->end - lexer->at > 2 && lexer->at[0] == '0' && lexer->at[1] == 'x' && (class_of(lexer->at[2]) & HEX) != 0) {
    lexer->at += 2;
    take(lexer, HEX);
  } else {
    take(lexer, DIGIT);
    if (lexer->at < lexer->end && *lexer->at == '.') {
      token->kind = HX_TOKEN_FLOAT;
      ++lexer->at;
      take(lexer, DIGIT);
    }
    const char *mantissa_end = lexer->at;
    if (lexer->at < lexer->end && (*lexer->at == 'e' || *lexer->at == 'E')) {
      ++lexer->at;
      if (lexer->at < lexer->end && (*lexer->at == '+' || *lexer->at == '-')) ++lexer->at;
      if (is_at(lexer, DIGIT)) {
        token->kind = HX_TOKEN_FLOAT;
        take(lexer, DIGIT);
      } else {
        lexer->at = mantissa_end;
      }
    }
  }
  token->text = (hx_str_t){.data = start, .size = (size_t)(lexer->at - start)};
}

// %name, %name#3, ^name: letters, digits and $ . _ - follow the sign.
static void lex_name(hx_lexer_t *lexer, hx_token_t *token, hx_token_kind_t kind) {
  const char *start = ++lexer->at;
  take(lexer, SUFFIX);
  token->kind = kind;
  token->text = (hx_str_t){.data = start, .size = (size_t)(lexer->at - start)};
  token->number = HX_NONE;
  if (token->text.size == 0)
    fail(lexer, token, kind == HX_TOKEN_VALUE ? "a name must follow %" : "a name must follow ^");
  if (kind != HX_TOKEN_VALUE || lexer->at == lexer->end || *lexer->at != '#') return;
  ++lexer->at;
  uint64_t number = 0;
  if (!is_at(lexer, DIGIT)) fail(lexer, token, "a number must follow #");
  for (; is_at(lexer, DIGIT); ++lexer->at) {
    if (number < HX_NONE) number = 10 * number + (uint64_t)(*lexer->at - '0');
  }
  if (number >= HX_NONE) fail(lexer, token, "the number after # is too large");
  token->number = (uint32_t)number;
}

static void lex_symbol(hx_lexer_t *lexer, hx_token_t *token) {
  const char *start = ++lexer->at;
  token->kind = HX_TOKEN_SYMBOL;
  if (lexer->at < lexer->end && *lexer->at == '"') {
    if (!skip_string(lexer)) fail(lexer, token, "the string is not closed on its line");
  } else if (is_at(lexer, START)) {
    take(lexer, SYMBOL);
  } else {
    fail(lexer, token, "a name must follow @");
  }
  token->text = (hx_str_t){.data = start, .size = (size_t)(lexer->at - start)};
}

static void lex_string(hx_lexer_t *lexer, hx_token_t *token) {
  const char *start = lexer->at + 1;
  token->kind = HX_TOKEN_STRING;
  if (skip_string(lexer)) {
    token->text = (hx_str_t){.data = start, .size = (size_t)(lexer->at - 1 - start)};
  } else {
    fail(lexer, token, "the string is not closed on its line");
  }
}

static void lex_sigil(hx_lexer_t *lexer, hx_token_t *token, hx_token_kind_t kind) {
  const char *start = ++lexer->at;
  token->kind = kind;
  if (is_at(lexer, START)) {
    take(lexer, MORE);
    lex_body(lexer, token, start);
  } else {
    fail(lexer, token, kind == HX_TOKEN_TYPE ? "a type name must follow !" : "an attribute name must follow #");
  }
}

static void lex_rest(hx_lexer_t *lexer, hx_token_t *token) {
  const char c = *lexer->at;
  if (c == '-' && lexer->end - lexer->at > 1 && lexer->at[1] == '>') {
    lexer->at += 2;
    token->kind = HX_TOKEN_ARROW;
  } else if (c != '\0' && strchr("()[]{}<>,:=*+?", c) != NULL) {
    ++lexer->at;
    token->kind = HX_TOKEN_PUNCTUATION;
    token->punctuation = c;
  } else {
    fail(lexer, token, c == '\0' ? "NUL byte in the text" : "unexpected character");
  }
}

void hx_lexer_next(hx_lexer_t *lexer, hx_token_t *out) {
  skip_blanks(lexer);
  *out = (hx_token_t){.line = lexer->line, .column = (uint32_t)(lexer->at - lexer->line_start) + 1};
  if (lexer->at == lexer->end) return;
  const hx_lexer_t before = *lexer;
  const char *start = lexer->at;
  const char c = *start;
  const uint32_t class = class_of(c);
  if ((class & DIGIT) != 0 || (c == '-' && lexer->end - start > 1 && (class_of(start[1]) & DIGIT) != 0)) {
    lex_number(lexer, out);
  } else if ((class & START) != 0) {
    take(lexer, MORE);
    out->kind = HX_TOKEN_WORD;
    lex_body(lexer, out, start);
  } else if (c == '%') {
    lex_name(lexer, out, HX_TOKEN_VALUE);
  } else if (c == '^') {
    lex_name(lexer, out, HX_TOKEN_LABEL);
  } else if (c == '"') {
    lex_string(lexer, out);
  } else if (c == '@') {
    lex_symbol(lexer, out);
  } else if (c == '!') {
    lex_sigil(lexer, out, HX_TOKEN_TYPE);
  } else if (c == '#') {
    lex_sigil(lexer, out, HX_TOKEN_HASH);
  } else {
    lex_rest(lexer, out);
  }
  if (out->kind == HX_TOKEN_ERROR) {
    const char *message = lexer->message;
    *lexer = before;
    lexer->message = message;
  }
}
