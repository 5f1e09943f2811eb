// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/json.h"

#include <stdio.h>
#include <string.h>

// The scanner accepts exactly the JSON grammar within the limits; jansson then builds the tree and finds what needs
// decoded values: duplicate keys and numbers out of range.
typedef struct scanner {
  const unsigned char *data;
  size_t size, at;
  size_t values;
  hx_json_error_t *error;
} scanner_t;

static void place(const unsigned char *data, size_t at, hx_json_error_t *error) {
  uint32_t line = 1, column = 1;
  for (size_t i = 0; i < at; ++i) {
    ++column;
    if (data[i] == '\n') {
      ++line;
      column = 1;
    }
  }
  error->line = line;
  error->column = column;
}

HX_PRINTF(3, 4) static bool fail_at(scanner_t *scanner, size_t at, const char *format, ...) {
  place(scanner->data, at, scanner->error);
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(scanner->error->text, sizeof scanner->error->text, format, arguments) < 0) scanner->error->text[0] = 0;
  va_end(arguments);
  return false;
}

static int peek(const scanner_t *scanner) { return scanner->at < scanner->size ? scanner->data[scanner->at] : -1; }

static void skip_blank(scanner_t *scanner) {
  while (scanner->at < scanner->size && memchr(" \t\r\n", scanner->data[scanner->at], 4) != NULL) ++scanner->at;
}

// What stands at a place, for messages.
static const char *describe(int c, char room[16]) {
  if (c < 0) return "the end of the text";
  if (c >= 0x20 && c < 0x7f) {
    snprintf(room, 16, "'%c'", c);
  } else {
    snprintf(room, 16, "byte 0x%02x", (unsigned)c);
  }
  return room;
}

static bool unexpected(scanner_t *scanner, const char *wanted) {
  char room[16];
  return fail_at(scanner, scanner->at, "%s expected, found %s", wanted, describe(peek(scanner), room));
}

// Length of the well-formed UTF-8 sequence at `at` (RFC 3629: no overlong forms, no surrogates), or 0.
static size_t utf8_length(const unsigned char *data, size_t left) {
  const unsigned char c = data[0];
  if (c < 0x80) return 1;
  const size_t length = c >= 0xc2 && c <= 0xdf ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
  if (length == 0 || left < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((data[i] & 0xc0) != 0x80) return 0;
  }
  if ((c == 0xe0 && data[1] < 0xa0) || (c == 0xed && data[1] > 0x9f) || (c == 0xf0 && data[1] < 0x90) ||
      (c == 0xf4 && data[1] > 0x8f)) {
    return 0;
  }
  return length;
}

// Four hexadecimal digits after \u, or -1.
static int hex4(scanner_t *scanner) {
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = peek(scanner);
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
    ++scanner->at;
  }
  return value;
}

static bool scan_escape(scanner_t *scanner) {
  const size_t start = scanner->at++;
  const int c = peek(scanner);
  if (c > 0 && strchr("\"\\/bfnrt", c) != NULL) {
    ++scanner->at;
    return true;
  }
  if (c != 'u') return fail_at(scanner, start, "unknown escape in a string");
  ++scanner->at;
  const int unit = hex4(scanner);
  if (unit < 0) return fail_at(scanner, start, "\\u needs four hexadecimal digits");
  if (unit == 0) return fail_at(scanner, start, "NUL in a string");
  if (unit >= 0xdc00 && unit <= 0xdfff) return fail_at(scanner, start, "half a surrogate pair in a string");
  if (unit < 0xd800 || unit > 0xdbff) return true;
  if (peek(scanner) != '\\') return fail_at(scanner, start, "half a surrogate pair in a string");
  ++scanner->at;
  if (peek(scanner) != 'u') return fail_at(scanner, start, "half a surrogate pair in a string");
  ++scanner->at;
  const int low = hex4(scanner);
  if (low < 0xdc00 || low > 0xdfff) return fail_at(scanner, start, "half a surrogate pair in a string");
  return true;
}

static bool scan_string(scanner_t *scanner) {
  const size_t start = scanner->at++;
  for (;;) {
    if (scanner->at - start > HX_JSON_STRING_MAX + 1)
      return fail_at(scanner, start, "string of more than %d bytes", HX_JSON_STRING_MAX);
    const int c = peek(scanner);
    if (c < 0) return fail_at(scanner, start, "string without closing quote");
    if (c == '"') {
      ++scanner->at;
      return true;
    }
    if (c == 0) return fail_at(scanner, scanner->at, "NUL in a string");
    if (c < 0x20) return fail_at(scanner, scanner->at, "control byte 0x%02x in a string", (unsigned)c);
    if (c == '\\') {
      if (!scan_escape(scanner)) return false;
      continue;
    }
    const size_t length = utf8_length(scanner->data + scanner->at, scanner->size - scanner->at);
    if (length == 0) return fail_at(scanner, scanner->at, "byte 0x%02x is not UTF-8", (unsigned)c);
    scanner->at += length;
  }
}

static size_t scan_digits(scanner_t *scanner) {
  const size_t start = scanner->at;
  while (peek(scanner) >= '0' && peek(scanner) <= '9') ++scanner->at;
  return scanner->at - start;
}

static bool scan_number(scanner_t *scanner) {
  const size_t start = scanner->at;
  if (peek(scanner) == '-') ++scanner->at;
  const bool zero = peek(scanner) == '0';
  const size_t whole = scan_digits(scanner);
  if (whole == 0 || (zero && whole > 1)) return fail_at(scanner, start, "malformed number");
  if (peek(scanner) == '.') {
    ++scanner->at;
    if (scan_digits(scanner) == 0) return fail_at(scanner, start, "malformed number");
  }
  if (peek(scanner) == 'e' || peek(scanner) == 'E') {
    ++scanner->at;
    if (peek(scanner) == '+' || peek(scanner) == '-') ++scanner->at;
    if (scan_digits(scanner) == 0) return fail_at(scanner, start, "malformed number");
  }
  if (scanner->at - start > 64) return fail_at(scanner, start, "number of more than 64 characters");
  return true;
}

static bool scan_word(scanner_t *scanner, const char *word) {
  const size_t size = strlen(word);
  if (scanner->size - scanner->at < size || memcmp(scanner->data + scanner->at, word, size) != 0)
    return unexpected(scanner, "a value");
  scanner->at += size;
  return true;
}

static bool scan_value(scanner_t *scanner, int depth);

static bool scan_container(scanner_t *scanner, int depth) {
  const bool object = peek(scanner) == '{';
  const char close = object ? '}' : ']';
  if (depth > HX_JSON_DEPTH_MAX) return fail_at(scanner, scanner->at, "more than %d levels deep", HX_JSON_DEPTH_MAX);
  ++scanner->at;
  skip_blank(scanner);
  if (peek(scanner) == close) {
    ++scanner->at;
    return true;
  }
  for (size_t count = 1;; ++count) {
    if (count > HX_JSON_ITEMS_MAX)
      return fail_at(scanner, scanner->at, "more than %d items in one %s", HX_JSON_ITEMS_MAX,
                     object ? "object" : "array");
    if (object) {
      if (peek(scanner) != '"') return unexpected(scanner, "a key in quotes");
      if (!scan_string(scanner)) return false;
      skip_blank(scanner);
      if (peek(scanner) != ':') return unexpected(scanner, "':'");
      ++scanner->at;
      skip_blank(scanner);
    }
    if (!scan_value(scanner, depth)) return false;
    skip_blank(scanner);
    if (peek(scanner) == close) {
      ++scanner->at;
      return true;
    }
    if (peek(scanner) != ',') return unexpected(scanner, object ? "',' or '}'" : "',' or ']'");
    ++scanner->at;
    skip_blank(scanner);
  }
}

// Recursion ends at HX_JSON_DEPTH_MAX.
static bool scan_value(scanner_t *scanner, int depth) {
  scanner->values += peek(scanner) == '{' ? 3 : 1;
  if (scanner->values > HX_JSON_VALUES_MAX)
    return fail_at(scanner, scanner->at, "more than %d values", HX_JSON_VALUES_MAX);
  switch (peek(scanner)) {
    case '{':
    case '[':
      return scan_container(scanner, depth + 1);
    case '"':
      return scan_string(scanner);
    case 't':
      return scan_word(scanner, "true");
    case 'f':
      return scan_word(scanner, "false");
    case 'n':
      return scan_word(scanner, "null");
    default:
      if (peek(scanner) == '-' || (peek(scanner) >= '0' && peek(scanner) <= '9')) return scan_number(scanner);
      return unexpected(scanner, "a value");
  }
}

static bool scan_text(scanner_t *scanner) {
  if (scanner->size > HX_JSON_BYTES_MAX)
    return fail_at(scanner, HX_JSON_BYTES_MAX, "more than %d bytes", HX_JSON_BYTES_MAX);
  if (scanner->size >= 3 && memcmp(scanner->data, "\xef\xbb\xbf", 3) == 0)
    return fail_at(scanner, 0, "byte order mark before the text");
  skip_blank(scanner);
  if (peek(scanner) < 0) return fail_at(scanner, scanner->at, "the text is empty");
  if (peek(scanner) != '{') return unexpected(scanner, "an object at the top level");
  if (!scan_value(scanner, 0)) return false;
  skip_blank(scanner);
  if (peek(scanner) >= 0) return unexpected(scanner, "nothing after the object");
  return true;
}

hx_status_t hx_json_parse(hx_str_t text, json_t **out, hx_json_error_t *error) {
  scanner_t scanner = {.data = (const unsigned char *)text.data, .size = text.size, .error = error};
  *error = (hx_json_error_t){.line = 1, .column = 1};
  if (!scan_text(&scanner)) return HX_STATUS_INVALID;
  json_error_t built;
  json_t *root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &built);
  if (root == NULL) {
    if (json_error_code(&built) == json_error_out_of_memory) return HX_STATUS_OUT_OF_MEMORY;
    error->line = built.line > 0 ? (uint32_t)built.line : 1;
    error->column = built.column > 0 ? (uint32_t)built.column : 1;
    snprintf(error->text, sizeof error->text, "%s", built.text);
    return HX_STATUS_INVALID;
  }
  *out = root;
  return HX_STATUS_OK;
}

void hx_json_pointer_key(hx_text_t *pointer, const char *key) {
  hx_text_puts(pointer, "/");
  for (; *key != '\0'; ++key) {
    if (*key == '~') {
      hx_text_puts(pointer, "~0");
    } else if (*key == '/') {
      hx_text_puts(pointer, "~1");
    } else {
      hx_text_append(pointer, (hx_str_t){.data = key, .size = 1});
    }
  }
}

void hx_json_pointer_index(hx_text_t *pointer, size_t index) { hx_text_printf(pointer, "/%zu", index); }
