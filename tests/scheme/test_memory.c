// SPDX-License-Identifier: Apache-2.0
// Ten thousand operations leave memory where it was. Under a leak checker this test also shows that nothing stays
// behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <malloc.h>

#include "tests/scheme/scheme.h"

enum { WARM_ROUNDS = 100, ROUNDS = 1250, OPERATIONS = 8 };

// Bytes that this process has allocated and not freed. (Resident memory says less: it spreads while the allocator's
// arena is cut up, with nothing lost.) No other thread runs here.
static uint64_t bytes_in_use(void) {
  const struct mallinfo2 info = mallinfo2();
  return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
}

// What entries of the engine's cache may differ by: a few texts of other lengths.
#define SLACK_BYTES ((uint64_t)64 << 10)

// Sanitizers bring their own allocator, and their leak check.
static void check_growth(uint64_t before, uint64_t after) {
#ifdef HELIOX_SANITIZED
  (void)before;
  (void)after;
#else
  if (after > before + SLACK_BYTES) fail_msg("memory in use grew from %" PRIu64 " to %" PRIu64 " bytes", before, after);
#endif
}

static void run_round(const scheme_t *s, const hx_value_t *plain) {
  hx_engine_t *e = s->engine;
  hx_value_t *a = NULL, *b = NULL, *c = NULL, *d = NULL, *f = NULL, *g = NULL, *h = NULL, *clear = NULL;
  SCHEME_OK(s, hx_encrypt(s->keys, plain, false, &a, s->report));
  SCHEME_OK(s, hx_engine_mul(e, a, a, &b, s->report));
  SCHEME_OK(s, hx_engine_relinearize(e, b, &c, s->report));
  SCHEME_OK(s, hx_engine_rescale(e, c, &d, s->report));
  SCHEME_OK(s, hx_engine_rotate(e, d, 1, &f, s->report));
  SCHEME_OK(s, hx_engine_add(e, d, f, &g, s->report));
  SCHEME_OK(s, hx_engine_level_drop(e, g, 2, &h, s->report));
  SCHEME_OK(s, hx_decrypt(s->keys, h, &clear, s->report));
  hx_value_t *const all[OPERATIONS] = {a, b, c, d, f, g, h, clear};
  for (size_t i = 0; i < OPERATIONS; ++i) hx_value_release(all[i]);
}

static void ten_thousand_operations_do_not_grow(void **state) {
  (void)state;
  scheme_t s;
  uint64_t seed = 1;
  static const int64_t steps[] = {1};
  scheme_open(&s, case_set_make(10, 55, 40, 2, 56, 1, 3, "2^40"), steps, 1);
  scheme_number_t *z = scheme_message(&seed, s.slots);
  hx_value_t *plain = scheme_encode(&s, z, s.slots, 0, NULL);
  for (int i = 0; i < WARM_ROUNDS; ++i) run_round(&s, plain);
  const uint64_t before = bytes_in_use();
  for (int i = 0; i < ROUNDS; ++i) run_round(&s, plain);
  check_growth(before, bytes_in_use());
  hx_value_release(plain);
  free(z);
  scheme_close(&s);
}

// Calls of ever new shapes: the engine's cache is bounded.
static void calls_of_many_kinds_do_not_grow_without_bound(void **state) {
  (void)state;
  scheme_t s;
  uint64_t seed = 2;
  scheme_open(&s, case_set_make(10, 55, 40, 2, 56, 1, 3, "2^40"), NULL, 0);
  scheme_number_t *z = scheme_message(&seed, s.slots);
  hx_value_t *a = scheme_encrypt(&s, z, s.slots, 0, NULL);
  uint64_t middle = 0;
  for (int i = 0; i < 2000; ++i) {
    hx_value_t *r = NULL;
    SCHEME_OK(&s, hx_engine_mul_integer(s.engine, a, i, &r, s.report));
    hx_value_release(r);
    if (i == 1000) middle = bytes_in_use();
  }
  check_growth(middle, bytes_in_use());
  hx_value_release(a);
  free(z);
  scheme_close(&s);
}

int main(void) {
  hx_threads_set(1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ten_thousand_operations_do_not_grow),
      cmocka_unit_test(calls_of_many_kinds_do_not_grow_without_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
