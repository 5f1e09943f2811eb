// SPDX-License-Identifier: Apache-2.0
// The cuda plugin's codec: the host's numbers everywhere, encoding and decoding on a device (skipped where there is
// none).
#include <math.h>

#include "code.h"
#include "device.h"
#include "kernelcheck.h"

enum { LOG_N = 12, N = 1 << LOG_N, LIMBS = 3, ITEMS = 2 };

// ------------------------------------------------------------------ without a device

// Squares of roots are roots of the level above: root(level + 1, 2b)^2 = root(level, b), and the neighbour is i times
// it.
static void roots_are_powers_of_each_other(void **state) {
  (void)state;
  static const long double pi = 3.14159265358979323846264338327950288L;
  for (uint32_t log_n = 3; log_n <= 17; log_n += 7) {
    hx_cuda_complex_t *roots = malloc(sizeof *roots << (log_n - 1));
    assert_non_null(roots);
    hx_cuda_code_roots(log_n, roots);
    for (uint32_t level = 0; level + 1 < log_n; level++) {
      for (uint32_t b = 0; b < 1u << level; b++) {
        const hx_cuda_complex_t r = roots[(1u << level) + b];
        const uint32_t reversed = level == 0 ? 0 : reverse_bits(b, level);
        const long double angle = pi * (1 + 4 * (long double)reversed) / (long double)(4u << level);
        assert_true(fabsl((long double)r.re.hi + r.re.lo - cosl(angle)) < 0x1p-60L);
        assert_true(fabsl((long double)r.im.hi + r.im.lo - sinl(angle)) < 0x1p-60L);
        const hx_cuda_complex_t norm = complex_multiply(r, complex_conjugate(r));
        assert_true(fabs((norm.re.hi - 1) + norm.re.lo) < 0x1p-98 && fabs(norm.im.hi) < 0x1p-98);
        if (level + 2 < log_n) {
          const hx_cuda_complex_t next = roots[(2u << level) + 2 * b];
          const hx_cuda_complex_t off = complex_subtract(complex_multiply(next, next), r);
          assert_true(fabs(off.re.hi) < 0x1p-98 && fabs(off.im.hi) < 0x1p-98);
        }
      }
    }
    free(roots);
  }
}

static void scale_is_a_product_of_powers(void **state) {
  (void)state;
  const uint64_t primes[] = {1125899906842597u, 1099511627689u, 65537u};
  const int32_t up[] = {1, 0, 2}, down[] = {-1, 1, 0};
  const hx_ring ring = {.q_count = 2, .p_count = 1, .primes = primes};
  hx_encoding e = {.ring = &ring, .scale_mantissa = 3, .scale_exponent = 40};
  int32_t exponent = 0;
  hx_cuda_dd_t scale = hx_cuda_code_scale(&e, false, &exponent);
  assert_true(scale.hi == 0.75 && scale.lo == 0 && exponent == 42);
  e.prime_powers = up;
  scale = hx_cuda_code_scale(&e, false, &exponent);
  const long double wanted = 3 * 0x1p40L * (long double)primes[0] * 65537 * 65537;
  assert_true(fabsl(ldexpl((long double)scale.hi + scale.lo, exponent) / wanted - 1) < 0x1p-60L);
  e.prime_powers = down;
  const hx_cuda_dd_t a = hx_cuda_code_scale(&e, false, &exponent);
  int32_t back = 0;
  const hx_cuda_dd_t b = hx_cuda_code_scale(&e, true, &back), one = dd_multiply(a, b);
  assert_true(fabs(ldexp((one.hi - ldexp(1, -exponent - back)) + one.lo, exponent + back)) < 0x1p-98);
}

static void nearest_and_residue_are_exact(void **state) {
  (void)state;
  hxs_modulus m;
  hx_cuda_prime_t p;
  hxs_modulus_init(&m, (UINT64_C(1) << 61) - 1, 64);
  hx_cuda_prime_init(&p, &m);
  static const struct {
    double hi, lo;
    int64_t high, low;  // high * 2^40 + low
  } rows[] = {{0, 0, 0, 0},
              {2.5, 0x1p-60, 0, 3},
              {2.5, -0x1p-60, 0, 2},
              {-7.75, 0, 0, -8},
              {0x1p90, -3.25, INT64_C(1) << 50, -3},
              {-0x1p95, 0.75, -(INT64_C(1) << 55), 1},
              {0x1p53, 0.5 + 0x1p-40, 1 << 13, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const uint64_t found = mod_integer(dd_nearest(dd_make(rows[i].hi, rows[i].lo)), &p);
    const uint64_t high = mod_signed(rows[i].high, &p), low = mod_signed(rows[i].low, &p);
    assert_int_equal(found, hxs_add_mod(&m, hxs_mul_mod(&m, high, UINT64_C(1) << 40), low));
  }
}

// ------------------------------------------------------------------ on a device

typedef struct bench {
  kc_t kc;
  hx_buffer *numbers, *plaintext;
  double *values;
  hx_tensor_desc desc;
  uint64_t shape, stride;
  hx_encoding encoding;
} bench_t;

static void open_bench(bench_t *b, uint32_t word, uint32_t slots, bool pairs, int32_t exponent) {
  static const uint32_t wide[] = {50, 40, 40, 50}, narrow[] = {30, 29, 28, 30}, ids[] = {0, 1, 2};
  hx_error error = kc_error();
  memset(b, 0, sizeof *b);
  kc_open(&b->kc, LOG_N, word, LIMBS, 1, 2, word == 64 ? wide : narrow);
  b->shape = ITEMS;
  b->stride = (uint64_t)N * LIMBS;
  b->desc = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                             .dtype = word == 64 ? HX_U64 : HX_U32,
                             .log_n = LOG_N,
                             .batch_rank = 1,
                             .components = 1,
                             .limbs = LIMBS,
                             .domain = HX_NTT,
                             .basis = HX_BASIS_Q,
                             .repr = HX_STANDARD,
                             .batch_shape = &b->shape,
                             .batch_strides = &b->stride,
                             .component_stride = b->stride,
                             .limb_stride = N,
                             .prime_ids = ids};
  b->encoding = (hx_encoding){.struct_size = HX_END_OF(hx_encoding, plaintext),
                              .complex_values = pairs,
                              .slots = slots,
                              .scale_exponent = exponent,
                              .scale_mantissa = 1,
                              .ring = &b->kc.ring,
                              .tables = b->kc.tables,
                              .plaintext = &b->desc};
  assert_int_equal(
      hx_cuda_memory_ops.alloc(b->kc.device, HX_SPACE_PINNED, ITEMS * 2 * (uint64_t)slots * 8, &b->numbers, &error),
      HX_OK);
  assert_int_equal(
      hx_cuda_memory_ops.alloc(b->kc.device, HX_SPACE_PINNED, ITEMS * b->stride * 8, &b->plaintext, &error), HX_OK);
  b->values = hx_cuda_memory_ops.address(b->numbers);
}

static void close_bench(bench_t *b) {
  hx_cuda_memory_ops.free(b->numbers);
  hx_cuda_memory_ops.free(b->plaintext);
  kc_close(&b->kc);
}

static int32_t code(bench_t *b, bool encodes, hx_error *error) {
  const hx_span numbers = {b->numbers, 0}, plaintext = {b->plaintext, 0};
  *error = kc_error();
  const int32_t result = encodes ? hx_cuda_codec_ops.encode(b->kc.queue, &b->encoding, numbers, plaintext, error)
                                 : hx_cuda_codec_ops.decode(b->kc.queue, &b->encoding, plaintext, numbers, error);
  return result != HX_OK ? result : hx_cuda_queue_ops.sync(b->kc.queue, error);
}

static void row_of(bench_t *b, uint32_t item, uint32_t limb, uint64_t *out) {
  const uint8_t *memory = hx_cuda_memory_ops.address(b->plaintext);
  const size_t at = item * b->stride + (size_t)limb * N;
  for (size_t i = 0; i < N; i++) {
    uint32_t narrow = 0;
    memcpy(&narrow, memory + (at + i) * 4, sizeof narrow);
    out[i] = narrow;
    if (b->desc.dtype == HX_U64) {
      memcpy(&out[i], memory + (at + i) * 8, sizeof *out);
    }
  }
  hx_ref_ntt_inverse(b->kc.reference, limb, out);
}

// Equal values in all slots are one coefficient, known exactly; item 1 is i times as much where there are pairs.
static void equal_slots_are_one_coefficient(void **state) {
  (void)state;
  static uint64_t row[N];
  for (uint32_t word = 64; word >= 32; word -= 32) {
    for (uint32_t slots = 1; slots <= N / 2; slots *= slots < 16 ? 4 : 2) {
      bench_t b;
      hx_error error;
      const int32_t exponent = word == 64 ? 80 : 50;
      open_bench(&b, word, slots, true, exponent);
      for (uint32_t j = 0; j < 2 * slots; j++) {
        b.values[j] = j % 2 == 0 ? -1.5 : 0;
        b.values[2 * slots + j] = j % 2 == 0 ? 0 : 0.75;
      }
      assert_int_equal(code(&b, true, &error), HX_OK);
      for (uint32_t limb = 0; limb < LIMBS; limb++) {
        hxs_modulus m;
        hxs_modulus_init(&m, b.kc.primes[limb], 64);
        const uint64_t power = hxs_pow_mod(&m, 2, (uint64_t)exponent - 2);
        row_of(&b, 0, limb, row);
        for (uint32_t i = 0; i < N; i++) {
          assert_int_equal(row[i], i == 0 ? hxs_neg_mod(&m, hxs_mul_mod(&m, power, 6)) : 0);
        }
        row_of(&b, 1, limb, row);  // X^(N/2) is i in every slot
        for (uint32_t i = 0; i < N; i++) {
          assert_int_equal(row[i], i == N / 2 ? hxs_mul_mod(&m, power, 3) : 0);
        }
      }
      close_bench(&b);
    }
  }
}

static void random_slots_come_back(void **state) {
  (void)state;
  for (uint32_t pairs = 0; pairs < 2; pairs++) {
    bench_t b;
    hx_error error;
    static double kept[ITEMS * N];
    open_bench(&b, 64, N / 2, pairs != 0, 100);
    const uint32_t count = (uint32_t)ITEMS * N >> (1 - pairs);
    for (uint32_t i = 0; i < count; i++) {
      kept[i] = b.values[i] = (double)(int64_t)kc_next(&b.kc) * 0x1p-70;
    }
    b.encoding.scale_exponent = 85;
    assert_int_equal(code(&b, true, &error), HX_OK);
    memset(b.values, 0, count * sizeof *b.values);
    assert_int_equal(code(&b, false, &error), HX_OK);
    for (uint32_t i = 0; i < count; i++) {
      assert_true(fabs(b.values[i] - kept[i]) <= fabs(kept[i]) * 0x1p-52 + 0x1p-72);
    }
    close_bench(&b);
  }
}

static void numbers_that_do_not_fit_are_told_at_the_next_sync(void **state) {
  (void)state;
  static const double wrong[] = {NAN, INFINITY, 0x1p40};
  bench_t b;
  hx_error error;
  open_bench(&b, 64, 8, false, 60);
  for (uint32_t i = 0; i < 8 * ITEMS; i++) {
    b.values[i] = 1;
  }
  for (size_t w = 0; w < sizeof wrong / sizeof wrong[0]; w++) {
    b.values[3] = wrong[w];
    assert_int_equal(code(&b, true, &error), HX_INVALID);
    assert_non_null(strstr(error.message, "codec.encode"));
    assert_non_null(strstr(error.message, "2^96"));
    assert_int_equal(hx_cuda_queue_ops.reset(b.kc.queue, &error), HX_OK);
    b.values[3] = 1;
    assert_int_equal(code(&b, true, &error), HX_OK);
  }
  b.encoding.slots = 3;
  assert_int_equal(code(&b, true, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "3 slots; a power of two up to 2048"));
  b.encoding.slots = 8;
  b.encoding.scale_mantissa = 0;
  assert_int_equal(code(&b, false, &error), HX_INVALID);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(roots_are_powers_of_each_other),
      cmocka_unit_test(scale_is_a_product_of_powers),
      cmocka_unit_test(nearest_and_residue_are_exact),
      cmocka_unit_test(equal_slots_are_one_coefficient),
      cmocka_unit_test(random_slots_come_back),
      cmocka_unit_test(numbers_that_do_not_fit_are_told_at_the_next_sync),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
