// SPDX-License-Identifier: Apache-2.0
// The SDK's support library on its own: numbers against 128-bit arithmetic, orders by their definitions, errors, gates.
// What it reads of regions is tested through the plugins (tests/kernels).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "heliox/plugin_layout.h"
#include "heliox/plugin_support.h"

static hx_error fresh(void) { return (hx_error){.struct_size = HX_END_OF(hx_error, message)}; }

// The largest primes of some sizes for each word.
static uint64_t prime_of(uint32_t bits) {
  uint64_t q = ((uint64_t)1 << bits) - 1;
  while (!hxs_is_prime(q)) q -= 2;
  return q;
}

static void constants_are_exact_for_both_words(void **state) {
  (void)state;
  static const uint32_t sizes[] = {3, 5, 17, 20, 31, 45, 50, 60, 61};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    for (uint32_t word = sizes[i] <= 31 ? 32 : 64; word <= 64; word += 32) {
      const uint64_t q = prime_of(sizes[i]), values[] = {1, 2, q / 2, q - 2, q - 1};
      hxs_modulus m;
      hxs_modulus_init(&m, q, word);
      assert_int_equal(m.bits, sizes[i]);
      for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        const uint64_t c = values[k];
        assert_int_equal(hxs_factor_of(&m, c).quotient, (uint64_t)(((hxs_u128)c << word) / q));
        assert_int_equal(hxs_to_montgomery(&m, c), (uint64_t)(((hxs_u128)c << word) % q));
        assert_int_equal(hxs_mul_mod(&m, c, hxs_inverse_mod(&m, c)), 1);
        assert_int_equal(hxs_mul_mod(&m, c, q - 1), hxs_neg_mod(&m, c));
        assert_int_equal(hxs_add_mod(&m, c, hxs_neg_mod(&m, c)), 0);
        assert_int_equal(hxs_pow_mod(&m, c, q - 1), 1);
      }
      assert_int_equal(hxs_neg_mod(&m, 0), 0);
    }
  }
}

static void primes_are_told_from_strong_pseudoprimes(void **state) {
  (void)state;
  static const uint64_t primes[] = {2, 3, 37, 41, 65537, 2305843009213693951u, 18446744073709551557u};
  static const uint64_t others[] = {0, 1, 4, 2047, 3215031751u, 3825123056546413051u, 18446744073709551615u};
  for (size_t i = 0; i < sizeof primes / sizeof *primes; ++i) assert_true(hxs_is_prime(primes[i]));
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) assert_false(hxs_is_prime(others[i]));
}

// Of all x with x^N = -1 the least, found by trying each.
static void root_of_unity_is_the_smallest(void **state) {
  (void)state;
  static const struct {
    uint64_t q;
    uint32_t log_n;
  } rings[] = {{97, 3}, {97, 4}, {257, 7}, {12289, 10}};
  for (size_t i = 0; i < sizeof rings / sizeof *rings; ++i) {
    hxs_modulus m;
    uint64_t x = 2;
    hxs_modulus_init(&m, rings[i].q, 64);
    while (hxs_pow_mod(&m, x, (uint64_t)1 << rings[i].log_n) != rings[i].q - 1) ++x;
    assert_int_equal(hxs_root_of_unity(&m, rings[i].log_n), x);
  }
}

static void put(void *self, uint32_t i, uint64_t power) { ((uint64_t *)self)[i] += power; }

static void powers_stand_in_bit_reversed_order(void **state) {
  (void)state;
  uint64_t powers[16] = {0};
  hxs_modulus m;
  hxs_modulus_init(&m, 97, 32);
  hxs_powers(&m, 5, 4, put, powers);
  for (uint32_t i = 0; i < 16; ++i) {
    assert_int_equal(powers[hxs_bit_reverse(i, 4)], hxs_pow_mod(&m, 5, i));
    assert_int_equal(hxs_bit_reverse(hxs_bit_reverse(i, 4), 4), i);
  }
  assert_int_equal(hxs_bit_reverse(1, 32), 0x80000000u);
  assert_int_equal(hxs_bit_reverse(5, 0), 0);
}

static void odd_inverse_is_one_mod_every_power_of_two(void **state) {
  (void)state;
  static const uint64_t odd[] = {1, 3, 5, 131071, 0x123456789abcdefu, UINT64_MAX};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i) {
    assert_int_equal(odd[i] * hxs_odd_inverse(odd[i]), 1);
    assert_int_equal((uint32_t)odd[i] * (uint32_t)hxs_odd_inverse(odd[i]), 1);
  }
}

// The value at psi^(2 brv(i) + 1) comes from psi^(g (2 brv(i) + 1)); of a rotation and the one back nothing is left.
static void automorphisms_permute_by_their_definition(void **state) {
  (void)state;
  enum { LOG_N = 5, N = 1 << LOG_N };
  const int64_t steps[] = {0, 1, -1, 7, 15, 16, INT64_MIN, INT64_MAX};
  uint32_t there[N], back[N];
  for (size_t s = 0; s < sizeof steps / sizeof *steps; ++s) {
    const uint32_t g = hxs_rotation_element(LOG_N, steps[s]);
    const uint32_t inverse = hxs_rotation_element(LOG_N, steps[s] == INT64_MIN ? steps[s] : -steps[s]);
    assert_int_equal(g * inverse % (2 * N), 1);
    hxs_automorphism_index(LOG_N, g, there);
    hxs_automorphism_index(LOG_N, inverse, back);
    for (uint32_t i = 0; i < N; ++i) {
      const uint32_t odd = g * (2 * hxs_bit_reverse(i, LOG_N) + 1) % (2 * N);
      assert_int_equal(there[i], hxs_bit_reverse(odd / 2, LOG_N));
      assert_int_equal(there[back[i]], i);
    }
  }
}

static void fail_writes_what_the_caller_has_room_for(void **state) {
  (void)state;
  char text[2 * sizeof((hx_error *)0)->message];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = '\0';
  hx_error error = fresh();
  assert_int_equal(hxs_fail(&error, HX_INVALID, "%s", text), HX_INVALID);
  assert_int_equal(strlen(error.message), sizeof error.message - 1);
  assert_int_equal(error.op, HX_NONE);
  assert_int_equal(hxs_error_code(&error), HX_INVALID);
  hx_error small = {.struct_size = HX_END_OF(hx_error, code), .op = 7, .message = "kept"};
  assert_int_equal(hxs_fail(&small, HX_BUSY, "lost"), HX_BUSY);
  assert_true(small.code == HX_BUSY && small.op == 7 && strcmp(small.message, "kept") == 0);
  assert_int_equal(hxs_fail(NULL, HX_UNSUPPORTED, "nobody"), HX_UNSUPPORTED);
  assert_int_equal(hxs_error_code(NULL), HX_INVALID);
}

static void gate_lets_one_in_and_keeps_the_first_failure(void **state) {
  (void)state;
  hxs_gate gate = {0};
  hx_error error = fresh();
  assert_int_equal(hxs_gate_enter(&gate, &error), HX_OK);
  assert_int_equal(hxs_gate_enter(&gate, &error), HX_BUSY);
  assert_int_equal(hxs_gate_hold(&gate, &error), HX_BUSY);
  gate.calls = 3;
  hxs_gate_poison(&gate, HX_DEVICE_LOST, "the device fell off");
  hxs_gate_poison(&gate, HX_INTERNAL, "later");
  hxs_gate_leave(&gate);
  assert_int_equal(hxs_gate_enter(&gate, &error), HX_DEVICE_LOST);
  assert_int_equal(error.op, 2);
  assert_non_null(strstr(error.message, "the device fell off; the queue takes no work until it is reset"));
  assert_int_equal(hxs_gate_hold(&gate, &error), HX_OK);  // sync and reset come in
  assert_int_equal(hxs_gate_report(&gate, &error), HX_DEVICE_LOST);
  assert_int_equal(gate.calls, 0);
  hxs_gate_reset(&gate);
  assert_int_equal(hxs_gate_report(&gate, &error), HX_OK);
  hxs_gate_leave(&gate);
  assert_int_equal(hxs_gate_enter(&gate, &error), HX_OK);
  hxs_gate_poison(&gate, HX_INTERNAL, "before any call");
  hxs_gate_leave(&gate);
  assert_int_equal(hxs_gate_enter(&gate, &error), HX_INTERNAL);
  assert_int_equal(error.op, HX_NONE);
}

static int32_t query_with(uint32_t minor_min, uint32_t minor_max, hx_plugin *out) {
  const hx_plugin own = {.struct_size = HX_END_OF(hx_plugin, shutdown), .id = "org.example", .impl_count = 5};
  const hx_host host = {.struct_size = HX_END_OF(hx_host, self),
                        .abi_major = HX_ABI_MAJOR,
                        .minor_min = minor_min,
                        .minor_max = minor_max};
  return hxs_query("example", &own, &host, out);
}

static void query_negotiates_and_writes_within_the_hosts_room(void **state) {
  (void)state;
  static const uint8_t hashes[][32] = HX_LAYOUT_HASHES;
  hx_plugin out = {.struct_size = HX_END_OF(hx_plugin, impls)};
  assert_int_equal(query_with(0, 0, &out), HX_OK);
  assert_memory_equal(out.layout_hash, hashes[0], 32);
  assert_int_equal(out.struct_size, HX_END_OF(hx_plugin, impls));
  assert_string_equal(out.id, "org.example");
  out.struct_size = sizeof out + 64;  // a newer host has room for more
  assert_int_equal(query_with(0, HX_ABI_MINOR + 3, &out), HX_OK);
  assert_memory_equal(out.layout_hash, hashes[HX_ABI_MINOR], 32);
  assert_int_equal(out.struct_size, HX_END_OF(hx_plugin, shutdown));
  assert_int_equal(query_with(HX_ABI_MINOR + 1, HX_ABI_MINOR + 3, &out), HX_UNSUPPORTED);
  out.struct_size = HX_END_OF(hx_plugin, impls) - 1;
  assert_int_equal(query_with(0, 0, &out), HX_ARGS_SIZE);
  hxs_host_clear();
  assert_null(hxs_host_option("anything"));
  assert_int_equal(hxs_host_threads(), 1);
  assert_false(hxs_host_cancelled());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants_are_exact_for_both_words),
      cmocka_unit_test(primes_are_told_from_strong_pseudoprimes),
      cmocka_unit_test(root_of_unity_is_the_smallest),
      cmocka_unit_test(powers_stand_in_bit_reversed_order),
      cmocka_unit_test(odd_inverse_is_one_mod_every_power_of_two),
      cmocka_unit_test(automorphisms_permute_by_their_definition),
      cmocka_unit_test(fail_writes_what_the_caller_has_room_for),
      cmocka_unit_test(gate_lets_one_in_and_keeps_the_first_failure),
      cmocka_unit_test(query_negotiates_and_writes_within_the_hosts_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
