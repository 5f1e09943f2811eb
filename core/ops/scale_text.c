// SPDX-License-Identifier: Apache-2.0
// The canonical text of a scale: [m*]2^e[*q<id>^<exponent>]...
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/ops/scale.h"

__extension__ typedef unsigned __int128 u128;

#define WORDS 4
#define DIGITS_MAX 78  // of a number below 2^256

typedef struct reader {
  hx_str_t text;
  size_t at;
  const hx_ring *ring;
  hx_place_t place;
  hx_report_t *report;
} reader_t;

static hx_status_t fault(const reader_t *reader, hx_code_t code, size_t at, const char *what) {
  const hx_place_t place = reader->place;
  return hx_report_fail_at(reader->report, code, place.source, place.line,
                           place.line == 0 ? 0 : place.column + (uint32_t)at, "scale: %s", what);
}

static char peek(const reader_t *reader) {
  return reader->at < reader->text.size ? reader->text.data[reader->at] : '\0';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits without leading zeros; out_count says how many.
static hx_status_t read_digits(reader_t *reader, const char *what, size_t *out_first, size_t *out_count) {
  const size_t first = reader->at;
  while (is_digit(peek(reader))) ++reader->at;
  const size_t count = reader->at - first;
  if (count == 0) return fault(reader, HX_CODE_SYNTAX, first, what);
  if (count > 1 && reader->text.data[first] == '0')
    return fault(reader, HX_CODE_SYNTAX, first, "a number starts with 0");
  *out_first = first;
  *out_count = count;
  return HX_STATUS_OK;
}

static hx_status_t read_exponent(reader_t *reader, int64_t *out) {
  if (peek(reader) != '^') return fault(reader, HX_CODE_SYNTAX, reader->at, "expected ^ and an exponent");
  ++reader->at;
  const size_t start = reader->at;
  const bool negative = peek(reader) == '-';
  if (negative) ++reader->at;
  size_t first = 0, count = 0;
  HX_TRY(read_digits(reader, "expected the digits of an exponent", &first, &count));
  if (count > 10) return fault(reader, HX_CODE_SCALE_RANGE, start, "an exponent is below 2^31 in magnitude");
  int64_t value = 0;
  for (size_t i = 0; i < count; ++i) value = 10 * value + (reader->text.data[first + i] - '0');  // below 10^10
  if (value > INT32_MAX) return fault(reader, HX_CODE_SCALE_RANGE, start, "an exponent is below 2^31 in magnitude");
  if (negative && value == 0) return fault(reader, HX_CODE_SYNTAX, start, "the exponent 0 has no sign");
  *out = negative ? -value : value;
  return HX_STATUS_OK;
}

// Decimal digits to words; false at 2^256 and above.
static bool read_words(const char *digits, size_t count, uint64_t m[WORDS]) {
  if (count > DIGITS_MAX) return false;
  for (size_t i = 0; i < count; ++i) {
    uint64_t carry = (uint64_t)(digits[i] - '0');
    for (int word = 0; word < WORDS; ++word) {
      const u128 part = (u128)m[word] * 10 + carry;
      m[word] = (uint64_t)part;
      carry = (uint64_t)(part >> 64);
    }
    if (carry != 0) return false;
  }
  return true;
}

// The leading "m*", if there is one. A lone "2" before ^ is the power of two.
static hx_status_t read_factor(reader_t *reader, hx_scale_t *scale) {
  size_t first = 0, count = 0;
  HX_TRY(read_digits(reader, "expected m*2^e or 2^e", &first, &count));
  if (peek(reader) == '^') {
    reader->at = first;
    return HX_STATUS_OK;
  }
  uint64_t m[WORDS] = {0};
  if (!read_words(reader->text.data + first, count, m)) {
    return fault(reader, HX_CODE_SCALE_RANGE, first, "the odd factor is 2^256 or more");
  }
  if (peek(reader) != '*')
    return fault(reader, HX_CODE_SYNTAX, reader->at,
                 "expected *2^e after the odd factor; the power of two is always written, as 2^0 too");
  ++reader->at;
  if ((m[0] & 1) == 0)
    return fault(reader, HX_CODE_SYNTAX, first, "the factor before 2^e is even; its twos belong to 2^e");
  if (m[0] == 1 && (m[1] | m[2] | m[3]) == 0) return fault(reader, HX_CODE_SYNTAX, first, "a factor 1 is left out");
  memcpy(scale->m, m, sizeof m);
  return HX_STATUS_OK;
}

static hx_status_t read_term(reader_t *reader, hx_scale_t *scale) {
  const size_t start = reader->at;
  if (peek(reader) != '*') return fault(reader, HX_CODE_SYNTAX, start, "expected * and a prime, or the end");
  ++reader->at;
  const size_t name = reader->at;
  if (peek(reader) != 'q') return fault(reader, HX_CODE_SYNTAX, name, "expected a prime as q and its id");
  ++reader->at;
  size_t first = 0, count = 0;
  HX_TRY(read_digits(reader, "expected the id of a prime", &first, &count));
  uint32_t id = HX_PRIMES_MAX;
  if (count <= 3) {
    id = 0;
    for (size_t i = 0; i < count; ++i) id = 10 * id + (uint32_t)(reader->text.data[first + i] - '0');
  }
  if (id >= HX_PRIMES_MAX) return fault(reader, HX_CODE_SCALE_RANGE, name, "a prime's id is below 256");
  if (reader->ring != NULL && id >= reader->ring->q_count) {
    char what[80];
    snprintf(what, sizeof what, "q%u is no prime of Q, whose ids are 0 to %u", id, reader->ring->q_count - 1);
    return fault(reader, HX_CODE_SCALE_RANGE, name, what);
  }
  if (scale->term_count > 0 && id <= scale->terms[scale->term_count - 1].id) {
    return fault(reader, HX_CODE_SYNTAX, name, "primes stand in ascending order of id, each once");
  }
  int64_t exponent = 0;
  HX_TRY(read_exponent(reader, &exponent));
  if (exponent == 0) return fault(reader, HX_CODE_SYNTAX, name, "a prime with exponent 0 is left out");
  // Ascending ids below HX_PRIMES_MAX: the array has room.
  scale->terms[scale->term_count++] = (hx_scale_term_t){.id = id, .exponent = (int32_t)exponent};
  return HX_STATUS_OK;
}

hx_status_t hx_scale_parse_at(hx_str_t text, const hx_ring *ring, hx_place_t place, hx_scale_t *out,
                              hx_report_t *report) {
  reader_t reader = {.text = text, .ring = ring, .place = place, .report = report};
  if (text.size >= HX_SCALE_TEXT_MAX)
    return fault(&reader, HX_CODE_SCALE_RANGE, 0, "the text is longer than any scale's");
  hx_scale_t scale;
  hx_scale_set_one(&scale);
  HX_TRY(read_factor(&reader, &scale));
  if (peek(&reader) != '2' || reader.at + 1 >= text.size || text.data[reader.at + 1] != '^') {
    return fault(&reader, HX_CODE_SYNTAX, reader.at, "expected the power of two as 2^e");
  }
  ++reader.at;
  HX_TRY(read_exponent(&reader, &scale.e));
  while (reader.at < text.size) HX_TRY(read_term(&reader, &scale));
  if (ring != NULL) {
    const uint32_t foreign = hx_scale_find_foreign(&scale, ring);
    if (foreign != HX_PRIMES_MAX) {
      char what[96];
      snprintf(what, sizeof what,
               "the odd factor is divisible by q%u = %llu, which has to be written as a power of q%u", foreign,
               (unsigned long long)ring->primes[foreign], foreign);
      return fault(&reader, HX_CODE_SYNTAX, 0, what);
    }
  }
  hx_scale_copy(out, &scale);
  return HX_STATUS_OK;
}

hx_status_t hx_scale_parse(hx_str_t text, const hx_ring *ring, hx_scale_t *out, hx_report_t *report) {
  return hx_scale_parse_at(text, ring, (hx_place_t){.source = NULL, .line = 1, .column = 1}, out, report);
}

// Writes m in decimal, nineteen digits at a time from the end.
static size_t print_words(const uint64_t m[WORDS], char *out) {
  uint64_t rest[WORDS];
  memcpy(rest, m, sizeof rest);
  char digits[100];  // five groups of nineteen digits hold 2^256
  size_t first = sizeof digits;
  while ((rest[0] | rest[1] | rest[2] | rest[3]) != 0) {
    const uint64_t group = 10000000000000000000u;
    uint64_t low = 0;
    for (int i = WORDS; i-- > 0;) {
      const u128 part = ((u128)low << 64) | rest[i];
      rest[i] = (uint64_t)(part / group);
      low = (uint64_t)(part % group);
    }
    for (int i = 0; i < 19; ++i) {
      digits[--first] = (char)('0' + low % 10);
      low /= 10;
    }
  }
  while (first < sizeof digits && digits[first] == '0') ++first;
  memcpy(out, digits + first, sizeof digits - first);
  return sizeof digits - first;
}

size_t hx_scale_print(const hx_scale_t *scale, char text[HX_SCALE_TEXT_MAX]) {
  // Longest: 78 digits and *, 2^-2147483647, and 256 times *q255^-2147483647 of 17 bytes: 4445 bytes.
  size_t size = 0;
  if (scale->m[0] != 1 || (scale->m[1] | scale->m[2] | scale->m[3]) != 0) {
    size = print_words(scale->m, text);
    text[size++] = '*';
  }
  size += (size_t)snprintf(text + size, HX_SCALE_TEXT_MAX - size, "2^%lld", (long long)scale->e);
  for (uint32_t i = 0; i < scale->term_count; ++i) {
    size += (size_t)snprintf(text + size, HX_SCALE_TEXT_MAX - size, "*q%u^%d", scale->terms[i].id,
                             scale->terms[i].exponent);
  }
  return size;
}
