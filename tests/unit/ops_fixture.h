// SPDX-License-Identifier: Apache-2.0
// Rings, reports and calls for the tests of scales, types and inference.
#ifndef HELIOX_TESTS_OPS_FIXTURE_H
#define HELIOX_TESTS_OPS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "core/base/text.h"
#include "core/ops/ops.h"
#include "core/ops/parts.h"

// N = 16, a base prime and five depth groups of one prime, two special primes, digits of two primes.
static const uint64_t ring_a_primes[] = {0xffffffffffffa21, 0x3fffffffffea1, 0x3fffffffffe41,  0x3fffffffffb21,
                                         0x3fffffffff941,   0x3fffffffff901, 0x7fffffffffff81, 0x7ffffffffffe01};
static const uint32_t ring_a_groups[] = {1, 1, 1, 1, 1, 1};
static const hx_ring ring_a = {.struct_size = sizeof(hx_ring),
                               .log_n = 4,
                               .word = 64,
                               .q_count = 6,
                               .p_count = 2,
                               .digit_run = 2,
                               .group_count = 6,
                               .primes = ring_a_primes,
                               .group_sizes = ring_a_groups};

// N = 64, base and three depth groups of two primes, four special primes, digits of four primes.
static const uint64_t ring_b_primes[] = {0x3fffffffff901, 0x3fffffffff581, 0x3fffffffe81,   0x7ffffffff01,
                                         0x3ffffffed01,   0x7ffffffef01,   0x3ffffffe801,   0x7ffffffe781,
                                         0x3ffffffffec81, 0x3ffffffffc001, 0x3ffffffffbb01, 0x3ffffffffb201};
static const uint32_t ring_b_groups[] = {2, 2, 2, 2};
static const hx_ring ring_b = {.struct_size = sizeof(hx_ring),
                               .log_n = 6,
                               .word = 64,
                               .q_count = 8,
                               .p_count = 4,
                               .digit_run = 4,
                               .group_count = 4,
                               .primes = ring_b_primes,
                               .group_sizes = ring_b_groups};

static inline hx_type_t type_of(const char *text, const hx_ring *ring) {
  hx_type_t type;
  hx_report_t *report = hx_report_create();
  if (hx_type_parse(hx_str(text), ring, &type, report) != HX_STATUS_OK) {
    fail_msg("%s: %s", text, hx_report_get(report, 0)->text);
  }
  hx_report_release(report);
  return type;
}

// Text of a type, freed by hx_free.
static inline char *text_of(const hx_type_t *type) {
  hx_text_t text;
  hx_text_init(&text);
  assert_int_equal(hx_type_print(type, &text), HX_STATUS_OK);
  return hx_text_take(&text);
}

static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

#endif
