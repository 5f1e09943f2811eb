// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "tests/kat/kat.h"

__extension__ typedef unsigned __int128 u128;

uint64_t kat_u64(const json_t *object, const char *key) {
  const json_t *item = json_object_get(object, key);
  if (json_is_string(item)) return strtoull(json_string_value(item), NULL, 10);
  return (uint64_t)json_integer_value(item);
}

uint32_t kat_u32(const json_t *object, const char *key) { return (uint32_t)kat_u64(object, key); }

const char *kat_text(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text == NULL ? "" : text;
}

uint64_t kat_decimal_mod(const char *text, uint64_t q) {
  const bool negative = *text == '-';
  uint64_t value = 0;
  for (text += negative; *text >= '0' && *text <= '9'; ++text)
    value = (uint64_t)(((u128)value * 10 + (u128)(*text - '0')) % q);
  return negative && value != 0 ? q - value : value;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool kat_hex_bytes(const char *text, uint8_t *out, size_t size) {
  if (strlen(text) != 2 * size) return false;
  for (size_t i = 0; i < size; ++i) {
    const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

bool kat_row(const char *text, uint32_t word, uint64_t *out, size_t n) {
  const size_t digits = word / 4;
  if (strlen(text) != n * digits) return false;
  for (size_t i = 0; i < n; ++i) {
    uint64_t value = 0;
    for (size_t k = 0; k < digits; ++k) {
      const int digit = hex_digit(text[i * digits + k]);
      if (digit < 0) return false;
      value = value << 4 | (uint64_t)digit;
    }
    out[i] = value;
  }
  return true;
}
