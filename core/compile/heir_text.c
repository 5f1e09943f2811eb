// SPDX-License-Identifier: Apache-2.0
#include "core/compile/heir.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPANDED_MAX ((size_t)64 << 10)  // of one type or attribute
#define DENSE_MAX ((size_t)1 << 20)      // numbers of one constant

uint32_t hx_heir_column(const hx_heir_reader_t *reader) { return (uint32_t)(reader->at - reader->line_start) + 1; }

void hx_heir_fail(hx_heir_reader_t *reader, hx_code_t code, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (size < 0) text[0] = '\0';
  if (!reader->failed)
    (void)hx_report_fail_at(reader->report, code, reader->source, reader->line, hx_heir_column(reader), "%s", text);
  reader->failed = true;
}

static void step(hx_heir_reader_t *reader) {
  if (*reader->at++ != '\n') return;
  reader->line += 1;
  reader->line_start = reader->at;
}

void hx_heir_skip(hx_heir_reader_t *reader) {
  while (reader->at < reader->end) {
    if (isspace((unsigned char)*reader->at)) {
      step(reader);
    } else if (reader->at + 1 < reader->end && reader->at[0] == '/' && reader->at[1] == '/') {
      while (reader->at < reader->end && *reader->at != '\n') ++reader->at;
    } else {
      return;
    }
  }
}

bool hx_heir_is(hx_heir_reader_t *reader, const char *piece) {
  hx_heir_skip(reader);
  const size_t size = strlen(piece);
  return (size_t)(reader->end - reader->at) >= size && memcmp(reader->at, piece, size) == 0;
}

bool hx_heir_accept(hx_heir_reader_t *reader, const char *piece) {
  if (reader->failed || !hx_heir_is(reader, piece)) return false;
  reader->at += strlen(piece);
  return true;
}

void hx_heir_expect(hx_heir_reader_t *reader, const char *piece, const char *where) {
  if (reader->failed || hx_heir_accept(reader, piece)) return;
  const size_t left = (size_t)(reader->end - reader->at);
  if (left == 0) {
    hx_heir_fail(reader, HX_CODE_SYNTAX, "expected '%s' %s, found the end of the text", piece, where);
  } else {
    hx_heir_fail(reader, HX_CODE_SYNTAX,
                 "expected '%s' %s, found '%.*s'; only the generic form is read "
                 "(--mlir-print-op-generic)",
                 piece, where, (int)(left < 12 ? left : 12), reader->at);
  }
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '-'; }

hx_str_t hx_heir_word(hx_heir_reader_t *reader) {
  hx_heir_skip(reader);
  const char *start = reader->at;
  while (reader->at < reader->end && is_word(*reader->at) &&
         !(reader->at[0] == '-' && reader->at + 1 < reader->end && reader->at[1] == '>')) {
    ++reader->at;
  }
  return (hx_str_t){.data = start, .size = (size_t)(reader->at - start)};
}

hx_str_t hx_heir_string(hx_heir_reader_t *reader) {
  hx_heir_expect(reader, "\"", "in front of a name");
  const char *start = reader->at;
  while (!reader->failed && reader->at < reader->end && *reader->at != '"') {
    if (*reader->at == '\\' && reader->at + 1 < reader->end) step(reader);
    step(reader);
  }
  const hx_str_t text = {.data = start, .size = (size_t)(reader->at - start)};
  hx_heir_expect(reader, "\"", "behind a name");
  return text;
}

static hx_str_t trim(hx_str_t text) {
  while (text.size > 0 && isspace((unsigned char)text.data[0])) {
    ++text.data;
    --text.size;
  }
  while (text.size > 0 && isspace((unsigned char)text.data[text.size - 1])) --text.size;
  return text;
}

// Moves behind a string literal, quotes included.
static void skip_string(hx_heir_reader_t *reader) {
  step(reader);
  while (reader->at < reader->end && *reader->at != '"') {
    if (*reader->at == '\\' && reader->at + 1 < reader->end) step(reader);
    step(reader);
  }
  if (reader->at < reader->end) step(reader);
}

hx_str_t hx_heir_balanced(hx_heir_reader_t *reader, const char *stops) {
  hx_heir_skip(reader);
  const char *start = reader->at;
  size_t depth = 0;
  while (!reader->failed && reader->at < reader->end) {
    const char c = *reader->at;
    const bool is_arrow = c == '-' && reader->at + 1 < reader->end && reader->at[1] == '>';
    if (depth == 0 && strchr(stops, c) != NULL && !is_arrow) break;
    if (is_arrow) {
      reader->at += 2;
      continue;
    }
    if (c == '"') {
      skip_string(reader);
      continue;
    }
    if (strchr("([{<", c) != NULL && ++depth > HX_HEIR_NESTING_MAX)
      hx_heir_fail(reader, HX_CODE_LIMIT, "brackets nest deeper than %d", HX_HEIR_NESTING_MAX);
    if (strchr(")]}>", c) != NULL && depth-- == 0) hx_heir_fail(reader, HX_CODE_SYNTAX, "'%c' closes nothing", c);
    step(reader);
  }
  if (depth > 0) hx_heir_fail(reader, HX_CODE_SYNTAX, "a bracket is not closed");
  return trim((hx_str_t){.data = start, .size = (size_t)(reader->at - start)});
}

// ------------------------------------------------------------------ aliases

bool hx_heir_alias(hx_heir_reader_t *reader) {
  hx_heir_skip(reader);
  if (reader->failed || reader->at == reader->end || (*reader->at != '!' && *reader->at != '#')) return false;
  const char *start = reader->at++;
  (void)hx_heir_word(reader);
  const hx_str_t name = {.data = start, .size = (size_t)(reader->at - start)};
  hx_heir_expect(reader, "=", "in an alias");
  // An alias ends where the next one or an operation begins: at a line break outside brackets.
  const hx_str_t text = hx_heir_balanced(reader, "\n");
  uint32_t id = HX_NONE;
  if (reader->failed) return true;
  if (hx_names_find(&reader->aliases, name) != HX_NONE) {
    hx_heir_fail(reader, HX_CODE_SYMBOL_NAME, "alias %.*s is defined twice", (int)name.size, name.data);
  } else if (hx_names_add(&reader->aliases, name, &id) != HX_STATUS_OK ||
             hx_grow(&reader->alias_texts, &reader->alias_capacity, id + (size_t)1, sizeof(hx_str_t)) != HX_STATUS_OK) {
    hx_heir_fail(reader, HX_CODE_OUT_OF_MEMORY, "no memory for an alias");
  } else {
    reader->alias_texts[id] = text;
  }
  return true;
}

static void expand_into(const hx_heir_reader_t *reader, hx_str_t piece, uint32_t depth, hx_text_t *out) {
  for (size_t i = 0; i < piece.size && out->size <= EXPANDED_MAX;) {
    const char c = piece.data[i];
    size_t end = i + 1;
    if (c == '!' || c == '#') {
      while (end < piece.size && is_word(piece.data[end])) ++end;
      const hx_str_t name = {.data = piece.data + i, .size = end - i};
      const uint32_t id = hx_names_find(&reader->aliases, name);
      if (id != HX_NONE && depth < 16) {
        expand_into(reader, reader->alias_texts[id], depth + 1, out);
        i = end;
        continue;
      }
    }
    hx_text_append(out, (hx_str_t){.data = piece.data + i, .size = end - i});
    i = end;
  }
}

hx_str_t hx_heir_expand(hx_heir_reader_t *reader, hx_str_t piece) {
  hx_text_t text;
  hx_text_init(&text);
  expand_into(reader, piece, 0, &text);
  hx_str_t expanded = {0};
  if (text.failed) {
    hx_heir_fail(reader, HX_CODE_OUT_OF_MEMORY, "no memory for a type");
  } else if (text.size > EXPANDED_MAX) {
    hx_heir_fail(reader, HX_CODE_LIMIT, "a type takes more than %zu bytes with its aliases", EXPANDED_MAX);
  } else {
    expanded = hx_arena_str(reader->arena, (hx_str_t){.data = text.data == NULL ? "" : text.data, .size = text.size});
    if (expanded.data == NULL) hx_heir_fail(reader, HX_CODE_OUT_OF_MEMORY, "no memory for a type");
  }
  hx_text_deinit(&text);
  return expanded;
}

// ------------------------------------------------------------------ looking into pieces

// Place behind `key` as a whole word, or the size.
static size_t behind_key(hx_str_t piece, const char *key) {
  const size_t size = strlen(key);
  for (size_t i = 0; i + size <= piece.size; ++i) {
    if (memcmp(piece.data + i, key, size) != 0) continue;
    if (i > 0 && is_word(piece.data[i - 1])) continue;
    if (i + size < piece.size && is_word(piece.data[i + size])) continue;
    return i + size;
  }
  return piece.size;
}

static bool read_integer(hx_str_t piece, int64_t *out) {
  char digits[32];
  size_t count = 0;
  piece = trim(piece);
  while (count < piece.size && count + 1 < sizeof digits &&
         (isdigit((unsigned char)piece.data[count]) || (count == 0 && piece.data[0] == '-'))) {
    digits[count] = piece.data[count];
    ++count;
  }
  digits[count] = '\0';
  if (count == 0 || (count == 1 && digits[0] == '-')) return false;
  errno = 0;
  *out = strtoll(digits, NULL, 10);
  return errno == 0;
}

bool hx_heir_integer(hx_str_t piece, const char *key, int64_t *out) {
  size_t at = behind_key(piece, key);
  while (at < piece.size && isspace((unsigned char)piece.data[at])) ++at;
  if (at >= piece.size || piece.data[at] != '=') return false;
  return read_integer((hx_str_t){.data = piece.data + at + 1, .size = piece.size - at - 1}, out);
}

hx_str_t hx_heir_attribute(hx_str_t dictionary, const char *key) {
  if (dictionary.size == 0) return (hx_str_t){0};
  size_t depth = 0, start = 0;
  const size_t size = strlen(key);
  for (size_t i = 0; i <= dictionary.size; ++i) {
    const char c = i == dictionary.size ? ',' : dictionary.data[i];
    if (c != '\0' && strchr("([{<", c) != NULL) ++depth;
    if (c != '\0' && strchr(")]}>", c) != NULL && depth > 0 && !(c == '>' && i > 0 && dictionary.data[i - 1] == '-'))
      --depth;
    if (c != ',' || depth > 0) continue;
    hx_str_t item = trim((hx_str_t){.data = dictionary.data + start, .size = i - start});
    start = i + 1;
    if (item.size < size || memcmp(item.data, key, size) != 0 || (item.size > size && is_word(item.data[size])))
      continue;
    const char *equals = memchr(item.data, '=', item.size);
    if (equals == NULL) return (hx_str_t){.data = item.data, .size = 0};
    return trim((hx_str_t){.data = equals + 1, .size = item.size - (size_t)(equals + 1 - item.data)});
  }
  return (hx_str_t){0};
}

// ------------------------------------------------------------------ constants

// Elements of tensor<AxBxT>; 0 where that is no static shape.
static size_t tensor_elements(hx_str_t piece, uint32_t *out_bits) {
  const size_t at = behind_key(piece, "tensor");
  size_t elements = 1, i = at;
  *out_bits = 0;
  if (at >= piece.size || piece.data[i++] != '<') return 0;
  while (i < piece.size && isdigit((unsigned char)piece.data[i])) {
    int64_t extent = 0;
    if (!read_integer((hx_str_t){.data = piece.data + i, .size = piece.size - i}, &extent) || extent <= 0 ||
        (uint64_t)extent > DENSE_MAX / elements) {
      return 0;
    }
    elements *= (size_t)extent;
    while (i < piece.size && isdigit((unsigned char)piece.data[i])) ++i;
    if (i >= piece.size || piece.data[i++] != 'x') return 0;
  }
  if (i + 3 <= piece.size && memcmp(piece.data + i, "f32", 3) == 0) *out_bits = 32;
  if (i + 3 <= piece.size && memcmp(piece.data + i, "f64", 3) == 0) *out_bits = 64;
  return elements;
}

// "0x..." little-endian words of f32 or f64.
static size_t read_hex(hx_str_t body, uint32_t bits, double *values, size_t count) {
  const size_t width = bits / 4;
  size_t found = 0;
  if (bits == 0) return 0;
  for (size_t i = 3; i + width < body.size && found < count; i += width, ++found) {
    unsigned char bytes[8] = {0};
    for (size_t b = 0; b < bits / 8; ++b) {
      const char pair[3] = {body.data[i + 2 * b], body.data[i + 2 * b + 1], '\0'};
      char *end = NULL;
      bytes[b] = (unsigned char)strtoul(pair, &end, 16);
      if (end != pair + 2) return 0;
    }
    float single;
    if (bits == 32) {
      memcpy(&single, bytes, sizeof single);
      values[found] = (double)single;
    } else {
      memcpy(&values[found], bytes, sizeof values[found]);
    }
  }
  return found;
}

static size_t read_list(hx_str_t body, double *values, size_t count) {
  size_t found = 0;
  for (size_t i = 0; i < body.size && found < count;) {
    if (strchr("[], \n\t", body.data[i]) != NULL) {
      ++i;
      continue;
    }
    char number[64];
    size_t size = 0;
    while (i < body.size && strchr("[], \n\t", body.data[i]) == NULL && size + 1 < sizeof number)
      number[size++] = body.data[i++];
    number[size] = '\0';
    char *end = NULL;
    values[found] = strcmp(number, "true") == 0 ? 1 : strcmp(number, "false") == 0 ? 0 : strtod(number, &end);
    if (end != NULL && *end != '\0') return 0;
    ++found;
  }
  return found;
}

bool hx_heir_dense(hx_heir_reader_t *reader, hx_str_t piece, double **out, size_t *out_count) {
  const size_t at = behind_key(piece, "dense");
  uint32_t bits = 0;
  const size_t count = tensor_elements(piece, &bits);
  const char *close = at < piece.size ? memchr(piece.data + at, '>', piece.size - at) : NULL;
  if (close == NULL || piece.data[at] != '<' || count == 0) {
    hx_heir_fail(reader, HX_CODE_UNSUPPORTED, "the constant is no dense<...> : tensor<...> of at most %zu numbers",
                 DENSE_MAX);
    return false;
  }
  double *values = hx_zalloc(count, sizeof *values);
  if (values == NULL) {
    hx_heir_fail(reader, HX_CODE_OUT_OF_MEMORY, "no memory for a constant");
    return false;
  }
  const hx_str_t body = {.data = piece.data + at + 1, .size = (size_t)(close - (piece.data + at + 1))};
  const bool is_hex = body.size > 3 && memcmp(body.data, "\"0x", 3) == 0;
  size_t found = is_hex ? read_hex(body, bits, values, count) : read_list(body, values, count);
  if (found == 1) {
    for (size_t i = 1; i < count; ++i) values[i] = values[0];
    found = count;
  }
  bool is_good = found == count;
  for (size_t i = 0; i < count && is_good; ++i) is_good = isfinite(values[i]);
  if (!is_good) {
    hx_heir_fail(reader, HX_CODE_TEXT_FORMAT, "the constant has %zu readable finite numbers, its type %zu", found,
                 count);
    hx_free(values);
    return false;
  }
  *out = values;
  *out_count = count;
  return true;
}
