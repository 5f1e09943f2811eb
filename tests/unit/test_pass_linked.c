// SPDX-License-Identifier: Apache-2.0
// One program on a plugin with whole operations and on one with primitives alone: equal bits, batches and keys
// included.
#include "tests/unit/link_fixture.h"

#define BATCH                                                                                                        \
  "!ckks.ciphertext<batch = [5], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3, 4], basis = Q, " \
  "domain = ntt, repr = standard, slots = 512>"
#define PROGRAM(body_)                                                        \
  MODULE("%x: " CT0 ", %b: " BATCH ", %p: " PT0, CT0 ", " BATCH ", " PT0, CT, \
         body_ "\n\"func.return\"(%r) : (" CT ") -> ()")

static const char *const programs[] = {
    // Products, key switching and rotations of a batch, then its sum.
    PROGRAM("%1 = \"ckks.mul\"(%b, %x) : (" BATCH ", " CT0 ") -> " CT "\n%2 = \"ckks.relinearize\"(%1) : (" CT
            ") -> " CT "\n%3 = \"ckks.rescale\"(%2) : (" CT ") -> " CT
            "\n%4:3 = \"ckks.rotate_many\"(%3) {steps = [1, 0, 5]} : (" CT ") -> (" CT ", " CT ", " CT
            ")\n%5 = \"ckks.add\"(%4#0, %4#2) : (" CT ", " CT ") -> " CT "\n%6 = \"ckks.sub\"(%5, %4#1) : (" CT ", " CT
            ") -> " CT "\n%r = \"ckks.sum\"(%6) {axis = 0 : i64} : (" CT ") -> " CT),
    // Plaintexts on Q and P, two groups.
    PROGRAM("%w = \"ckks.prepare_plain\"(%p) {for = \"weighted\"} : (" PT0 ") -> " PT
            "\n%1:2 = \"ckks.rotate_weighted_sum\"(%x, %w, %w, %w, %w) {steps = [1, 0], groups = 2 : i64} : (" CT0
            ", " PT ", " PT ", " PT ", " PT ") -> (" CT ", " CT
            ")\n%2 = \"ckks.rotate_sum\"(%1#0, %1#1, %1#0) {steps = [2, 0, -1]} : (" CT ", " CT ", " CT ") -> " CT
            "\n%r = \"ckks.rescale\"(%2) {output_domain = \"coefficient\"} : (" CT ") -> " CT),
    // Keys below depth 0, where their rows do not lie side by side.
    PROGRAM("%1 = \"ckks.level_drop\"(%x) {depth = 2 : i64} : (" CT0 ") -> " CT
            "\n%2 = \"ckks.rotate\"(%1) {step = 1 : i64} : (" CT ") -> " CT
            "\n%3 = \"ckks.conjugate\"(%2) {output_domain = \"coefficient\"} : (" CT ") -> " CT
            "\n%4 = \"ckks.to_ntt\"(%3) : (" CT ") -> " CT
            "\n%5 = \"ckks.mul_scalar\"(%4) {value = [0.5, -1.25], scale = \"2^20\"} : (" CT ") -> " CT
            "\n%6 = \"ckks.add_scalar\"(%5) {value = 3.0 : f64} : (" CT ") -> " CT "\n%7 = \"ckks.square\"(%6) : (" CT
            ") -> " CT "\n%8 = \"ckks.relinearize\"(%7) : (" CT ") -> " CT
            "\n%9 = \"ckks.mul_integer\"(%8) {integer = -3 : i64} : (" CT ") -> " CT "\n%r = \"ckks.neg\"(%9) : (" CT
            ") -> " CT),
    // Sums of products by groups.
    PROGRAM("%1:2 = \"ckks.weighted_sum\"(%x, %x, %p, %p, %p, %p) {groups = 2 : i64} : (" CT0 ", " CT0 ", " PT0 ", " PT0
            ", " PT0 ", " PT0 ") -> (" CT ", " CT ")\n%2 = \"ckks.add\"(%1#0, %1#1) : (" CT ", " CT ") -> " CT
            "\n%3 = \"ckks.mul_plain\"(%2, %p) : (" CT ", " PT0 ") -> " CT
            "\n%r = \"ckks.reinterpret_scale\"(%3) {scale = \"2^40\"} : (" CT ") -> " CT),
};

// A batch of residues at random, as good as any ciphertext for exact arithmetic.
static hx_value_t *random_batch(const bench_t *bench) {
  hx_type_t type;
  assert_int_equal(hx_type_parse(hx_str(BATCH), NULL, &type, NULL), HX_STATUS_OK);
  hx_value_t *value = NULL;
  must(hx_value_create(bench->params, &type, false, &value), bench->report);
  memcpy(value->key_id, hx_keys_id(bench->keys), sizeof value->key_id);
  uint64_t state = 7;
  for (uint64_t item = 0; item < 5; ++item) {
    for (uint32_t row = 0; row < 10; ++row) {
      uint64_t *words = hx_tensor_row(value->tensor, item, 0, row / 5, row % 5);
      for (uint32_t i = 0; i < 1024; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        words[i] = (state ^ (state >> 31)) % hx_params_prime(bench->params, row % 5);
      }
    }
  }
  return value;
}

static hx_value_t *run_on(bench_t *bench, hx_backend_t *backend, const char *text, const hx_value_t *const *inputs,
                          size_t *out_calls) {
  hx_backend_t *own = bench->backend;
  bench->backend = backend;
  hx_executable_t *executable = link_text(bench, text);
  bench->backend = own;
  hx_value_t *outputs[] = {NULL};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  *out_calls = executable->call_count;
  hx_executable_release(executable);
  return outputs[0];
}

static void lowered_programs_equal_whole_ones_when_linked(void **state) {
  (void)state;
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  fake_plugin_t *small = fake_plugin_create("beta");
  fake_plugin_add_tiers(small, "ref", FAKE_PRIMITIVES);
  hx_backend_t *primitives = fake_backend(small);
  double values[SLOTS];
  fill_values(values, SLOTS, 3);
  hx_value_t *x = encrypt_seed(&bench, 1), *b = random_batch(&bench), *p = encode_values(&bench, values, SLOTS, false);
  const hx_value_t *inputs[] = {x, b, p};
  for (size_t i = 0; i < HX_COUNT_OF(programs); ++i) {
    size_t whole_calls, primitive_calls;
    hx_value_t *whole = run_on(&bench, bench.backend, programs[i], inputs, &whole_calls);
    hx_value_t *lowered = run_on(&bench, primitives, programs[i], inputs, &primitive_calls);
    if (!hx_value_equal(whole, lowered)) fail_msg("program %zu differs", i);
    assert_true(primitive_calls > whole_calls);
    hx_value_release(whole);
    hx_value_release(lowered);
  }
  hx_value_release(x);
  hx_value_release(b);
  hx_value_release(p);
  hx_backend_release(primitives);
  bench_close(&bench);
  fake_plugin_destroy(small);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lowered_programs_equal_whole_ones_when_linked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
