// SPDX-License-Identifier: Apache-2.0
// What the cases share: the values of a message given outright, and skipping with the reason printed.
#ifndef HELIOX_TESTS_CASES_CASES_H
#define HELIOX_TESTS_CASES_CASES_H

#include "tests/scheme/scheme.h"

// Prints which part of a case is skipped and why, and skips the test.
#define CASE_SKIP(reason_)              \
  do {                                  \
    printf("skipped: %s\n", (reason_)); \
    skip();                             \
  } while (0)

// A message of `slots` slots: the values given, repeated.
static inline scheme_number_t *case_message(const scheme_number_t *values, size_t count, size_t slots) {
  scheme_number_t *z = scheme_numbers(slots);
  for (size_t i = 0; i < slots; ++i) z[i] = values[i % count];
  return z;
}

static inline hx_value_t *case_encrypt(const scheme_t *s, const scheme_number_t *values, size_t count, uint32_t slots) {
  scheme_number_t *z = case_message(values, count, slots);
  hx_value_t *value = scheme_encrypt(s, z, slots, 0, NULL);
  free(z);
  return value;
}

// Every slot i of a value within `bound` of want[i % count].
static inline void case_check(const scheme_t *s, const char *what, const hx_value_t *value, const scheme_number_t *want,
                              size_t count, double bound) {
  scheme_number_t *have = scheme_decrypt(s, value);
  for (size_t i = 0; i < value->type.slots; ++i) {
    const double off = cabs(have[i] - want[i % count]);
    if (!(off <= bound)) fail_msg("%s: slot %zu is off by 2^%.2f, allowed 2^%.2f", what, i, log2(off), log2(bound));
  }
  free(have);
}

// The one fault in the report, which is cleared.
static inline void case_fault(const scheme_t *s, hx_code_t code, const char *const *words) {
  assert_fault(s->report, code, words);
  hx_report_clear(s->report);
}

#define NUMBERS(...) ((const scheme_number_t[]){__VA_ARGS__})

#endif
