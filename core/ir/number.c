// SPDX-License-Identifier: Apache-2.0
#include "core/ir/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t plain;
static pthread_once_t plain_once = PTHREAD_ONCE_INIT;

static void make_plain(void) { plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

bool hx_number_parse(hx_str_t text, double *out) {
  char copy[1088];  // more digits than the longest exact decimal of a double has (1074 and its exponent)
  if (text.size == 0 || text.size >= sizeof copy) return false;
  memcpy(copy, text.data, text.size);
  copy[text.size] = '\0';
  (void)pthread_once(&plain_once, make_plain);
  if (plain == (locale_t)0) return false;
  char *end;
  const double number = strtod_l(copy, &end, plain);
  if (end != copy + text.size || !isfinite(number)) return false;
  *out = number;
  return true;
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

void hx_number_print(double number, char text[HX_NUMBER_TEXT_MAX]) {
  (void)pthread_once(&plain_once, make_plain);
  if (isfinite(number) && plain != (locale_t)0) {
    const locale_t before = uselocale(plain);
    // 17 significant digits always read back.
    for (int digits = 6; digits <= 16; ++digits) {
      (void)snprintf(text, HX_NUMBER_TEXT_MAX, "%.*e", digits, number);
      if (same_bits(strtod_l(text, NULL, plain), number)) break;
    }
    (void)uselocale(before);
    return;
  }
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  (void)snprintf(text, HX_NUMBER_TEXT_MAX, "0x%016llX", (unsigned long long)bits);
}
