// SPDX-License-Identifier: Apache-2.0
// Parameter sets for tests: the sets S, M, L of the cases from the field, and small rings. Include after cmocka.h.
#ifndef HELIOX_TESTS_UNIT_CASE_SETS_H
#define HELIOX_TESTS_UNIT_CASE_SETS_H

#include <stdio.h>

#include "core/base/text.h"
#include "core/ckks/params.h"
#include "core/ckks/primes.h"

// The next prime below the last one of the same size; `last` has one place a size.
static inline uint64_t case_set_prime(uint32_t bits, uint32_t log_n, uint64_t last[64]) {
  last[bits] = hx_prime_below(last[bits] != 0 ? last[bits] : (uint64_t)1 << bits, log_n);
  assert_true(last[bits] != 0);
  return last[bits];
}

// Base prime, one depth prime of `depth_bits` each, special primes; largest primes first. Small rings are admitted.
static inline hx_params_t *case_set_make(uint32_t log_n, uint32_t base_bits, uint32_t depth_bits, uint32_t depths,
                                         uint32_t special_bits, uint32_t specials, uint32_t digits, const char *scale) {
  uint64_t last[64] = {0};
  hx_text_t text;
  hx_text_init(&text);
  hx_text_printf(&text, "{\"log_n\":%u,\"word\":64,\"base\":[\"%llu\"],\"groups\":[", log_n,
                 (unsigned long long)case_set_prime(base_bits, log_n, last));
  for (uint32_t i = 0; i < depths; ++i)
    hx_text_printf(&text, "%s[\"%llu\"]", i == 0 ? "" : ",",
                   (unsigned long long)case_set_prime(depth_bits, log_n, last));
  hx_text_puts(&text, "],\"special\":[");
  for (uint32_t i = 0; i < specials; ++i)
    hx_text_printf(&text, "%s\"%llu\"", i == 0 ? "" : ",",
                   (unsigned long long)case_set_prime(special_bits, log_n, last));
  hx_text_printf(&text, "],\"digits\":%u,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"%s\"}", digits, scale);
  assert_false(text.failed);
  hx_params_t *params = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_params_parse(hx_str(text.data), "set", HX_PARAMS_INSECURE, &params, report) != HX_STATUS_OK)
    fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
  hx_text_deinit(&text);
  return params;
}

static inline hx_params_t *case_set_s(void) { return case_set_make(13, 60, 40, 2, 60, 1, 3, "2^40"); }
static inline hx_params_t *case_set_m(void) { return case_set_make(14, 60, 40, 7, 60, 1, 8, "2^40"); }
static inline hx_params_t *case_set_l(void) { return case_set_make(15, 60, 50, 11, 60, 2, 6, "2^50"); }

// Fails unless the report's only fault has this code and its text contains each of the words (NULL ends them).
static inline void assert_fault(const hx_report_t *report, hx_code_t code, const char *const *words) {
  assert_int_equal(hx_report_count(report), 1);
  const hx_fault_t *fault = hx_report_get(report, 0);
  assert_string_equal(hx_code_info(fault->code)->word, hx_code_info(code)->word);
  for (; *words != NULL; ++words)
    if (strstr(fault->text, *words) == NULL) fail_msg("\"%s\" is not in \"%s\"", *words, fault->text);
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
