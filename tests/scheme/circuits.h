// SPDX-License-Identifier: Apache-2.0
// A ring for tests of circuits: N = 1024, nine depths of 40 bits, in fours to a digit.
#ifndef HELIOX_TESTS_SCHEME_CIRCUITS_H
#define HELIOX_TESTS_SCHEME_CIRCUITS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/compile/compilation.h"
#include "heliox/circuits.h"
#include "tests/scheme/scheme.h"

#define CIRCUIT_RING                                                                                                 \
  "{\"log_n\":10,\"word\":64,\"base\":[\"36028797018972161\"],\"groups\":[[\"1099511590913\"],[\"1099511549953\"],[" \
  "\"1099511525377\"],[\"1099511492609\"],[\"1099511480321\"],[\"1099511795713\"],[\"1099511799809\"],["             \
  "\"1099511836673\"],[\"1099511390209\"]],\"special\":[\"1152921504605810689\",\"1152921504605822977\","            \
  "\"1152921504605847553\"],\"digits\":4,"                                                                           \
  "\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}"

static inline void circuits_open(scheme_t *s, const int64_t *steps, size_t count) {
  hx_params_t *params = NULL;
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_params_parse(hx_str(CIRCUIT_RING), "circuits", HX_PARAMS_INSECURE, &params, report);
  if (status != HX_STATUS_OK) fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
  scheme_open(s, params, steps, count);
}

// Real numbers encrypted in all slots; fewer are filled with zeros.
static inline hx_value_t *circuits_encrypt(const scheme_t *s, const double *x, size_t count,
                                           const hx_encode_options_t *options) {
  hx_value_t *plain = NULL, *out = NULL;
  SCHEME_OK(s, hx_encode(s->params, x, count, false, options, &plain, s->report));
  SCHEME_OK(s, hx_encrypt(s->keys, plain, false, &out, s->report));
  hx_value_release(plain);
  return out;
}

// Some fault has this code and this piece of text; the report is cleared.
static inline void circuits_refused(const scheme_t *s, hx_status_t status, hx_code_t code, const char *piece) {
  assert_int_not_equal(status, HX_STATUS_OK);
  for (size_t i = 0; i < hx_report_count(s->report); ++i) {
    const hx_fault_t *fault = hx_report_get(s->report, i);
    if (fault->code != code || strstr(fault->text, piece) == NULL) continue;
    hx_report_clear(s->report);
    return;
  }
  scheme_fail(s, piece);
}

#endif
