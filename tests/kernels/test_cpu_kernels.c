// SPDX-License-Identifier: Apache-2.0
// The cpu plugin's row kernels and reductions against plain 128-bit arithmetic, at the ends of the ranges that their
// headers state; transforms against the schoolbook product.
#include "kernelcheck.h"
#include "prepare.h"

#include "heliox/support/number.h"
#include "kernels/variants.h"
#include "tables.h"

#define ROW 64u

// Values of option cpu-mask that name each variant, with what it needs beside.
static const char *const variants[] = {"portable", "portable,avx2", "portable,avx512dq", "portable,avx512ifma", ""};

static uint64_t next(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// Primes of a size: the largest and the smallest of those bits.
static uint64_t prime_of(uint32_t bits, bool largest) {
  uint64_t q = largest ? ((uint64_t)1 << bits) - 1 : ((uint64_t)1 << (bits - 1)) + 1;
  while (!hxs_is_prime(q)) {
    q = largest ? q - 2 : q + 2;
  }
  return q;
}

static uint64_t edge(uint64_t *state, uint64_t limit) {
  const uint64_t r = next(state), choices[5] = {0, 1, limit - 1, limit / 2, r % limit};
  return choices[(r >> 50) % 5];
}

static void expect(uint64_t found, hxs_u128 expected, const char *what, const hxs_modulus *m) {
  if (found != expected) {
    fail_msg("%s mod %llu: %llu, expected %llu", what, (unsigned long long)m->q, (unsigned long long)found,
             (unsigned long long)expected);
  }
}

static void check_reductions(const hxs_modulus *m, uint64_t *state, uint32_t word) {
  const uint64_t q = m->q, top = word == 64 ? UINT64_MAX : UINT32_MAX;
  for (int i = 0; i < 400; i++) {
    const uint64_t a = edge(state, q), b = edge(state, q), c = edge(state, q),
                   x = i < 4 ? top - (uint64_t)i : next(state) & top;
    expect(hxs_mod_once(a + b, q), ((hxs_u128)a + b) % q, "once", m);
    expect(hxs_mod_mul_add(a, b, c, m, word), ((hxs_u128)a * b + c) % q, "mul_add", m);
    const hxs_factor factor = hxs_factor_of(m, a);
    const uint64_t lazy = hxs_mod_shoup_lazy(x, factor, q, word), reduced = hxs_mod_word_lazy(x, m, word);
    assert_true(lazy < 2 * q && reduced < 2 * q);
    expect(lazy % q, (hxs_u128)a * x % q, "shoup", m);
    expect(reduced % q, x % q, "word", m);
    const uint64_t high = i < 4 ? top : next(state) & top;
    expect(hxs_mod_wide(high, x, m, word), (((hxs_u128)high << word) + x) % q, "wide", m);
    const uint64_t redc = hxs_mod_redc_lazy(a, x, m, word);
    assert_true(redc < 2 * q);
    expect(hxs_to_montgomery(m, redc % q), (((hxs_u128)a << word) + x) % q, "redc", m);
  }
}

static void reductions_are_exact_for_every_prime_size(void **state) {
  (void)state;
  uint64_t random = 1;
  for (uint32_t bits = 5; bits <= 61; bits++) {
    for (int largest = 0; largest < 2; largest++) {
      hxs_modulus m;
      hxs_modulus_init(&m, prime_of(bits, largest), 64);
      check_reductions(&m, &random, 64);
      if (bits <= 31) {
        hxs_modulus_init(&m, prime_of(bits, largest), 32);
        check_reductions(&m, &random, 32);
      }
    }
  }
}

// A row of one value, or of edges up to a limit.
static void fill(void *row, uint32_t word, uint64_t *state, uint64_t limit, bool top) {
  for (size_t i = 0; i < ROW; i++) {
    hxs_row_store(row, i, top ? limit - 1 : edge(state, limit), word);
  }
}

static void check_dot(const hx_cpu_kernels_t *k, const hxs_modulus *m, uint32_t word, uint64_t *state, bool top) {
  uint64_t rows[HX_CPU_DOT_MAX(64) * 2 + 1][ROW], out[ROW];
  const void *a[HX_CPU_DOT_MAX(64)], *b[HX_CPU_DOT_MAX(64)];
  const uint32_t most = HX_CPU_DOT_MAX(word);
  for (uint32_t i = 0; i < 2 * most + 1; i++) {
    fill(rows[i], word, state, m->q, top);
  }
  for (uint32_t i = 0; i < most; i++) {
    a[i] = rows[2 * i];
    b[i] = rows[2 * i + 1];
  }
  for (uint32_t count = 1; count <= most; count += count < 4 ? 1 : 20) {
    for (uint32_t with = 0; with < 2; with++) {
      k->pointwise->dot(out, with ? rows[2 * most] : NULL, a, b, count, m, ROW);
      for (size_t i = 0; i < ROW; i++) {
        hxs_u128 sum = with ? hxs_row_load(rows[2 * most], i, word) : 0;
        for (uint32_t t = 0; t < count; t++) {
          sum = (sum + (hxs_u128)hxs_row_load(a[t], i, word) * hxs_row_load(b[t], i, word)) % m->q;
        }
        expect(hxs_row_load(out, i, word), sum, "dot", m);
      }
    }
  }
}

// Inputs as large as the residues that the variant is for, weights just below q.
static void check_combine(const hx_cpu_kernels_t *k, const hxs_modulus *m, uint32_t word, uint64_t *state, bool top) {
  enum { MOST = 40 };
  uint64_t rows[MOST][ROW], out[ROW], weights[MOST];
  const void *in[MOST];
  const bool narrow = word == 64 && k->convert != &hx_cpu_convert_portable64 && m->bits <= 50;
  const uint64_t limit = (uint64_t)1 << (word == 32 ? 31 : narrow ? 50 : 61);
  for (uint32_t i = 0; i < MOST; i++) {
    fill(rows[i], word, state, limit, top);
    in[i] = rows[i];
    weights[i] = top ? m->q - 1 : edge(state, m->q);
  }
  for (uint32_t count = 1; count <= MOST; count++) {
    const hxs_affine map = {.count = count, .start = m->q - 1, .weights = weights};
    hxs_u128 expected[ROW];
    for (size_t i = 0; i < ROW; i++) {
      expected[i] = map.start;
      for (uint32_t t = 0; t < count; t++) {
        expected[i] = (expected[i] + (hxs_u128)hxs_row_load(in[t], i, word) * weights[t]) % m->q;
      }
    }
    k->convert->combine_lazy(out, in, &map, m, ROW);
    for (size_t i = 0; i < ROW; i++) {
      const uint64_t x = hxs_row_load(out, i, word);
      assert_true(x < 2 * m->q);
      expect(hxs_to_montgomery(m, x % m->q), expected[i], "combine_lazy", m);
    }
    k->convert->combine(out, in, &map, m, ROW);
    for (size_t i = 0; i < ROW; i++) {
      assert_true(hxs_row_load(out, i, word) < m->q);
      expect(hxs_to_montgomery(m, hxs_row_load(out, i, word)), expected[i], "combine", m);
    }
  }
}

static void sums_are_exact_at_their_limits(void **state) {
  (void)state;
  uint64_t random = 2;
  static const uint32_t sizes[] = {5, 20, 30, 31, 45, 50, 60, 61};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (uint32_t word = 64; word >= 32; word -= 32) {
      if (word == 32 && sizes[i] > 31) {
        continue;
      }
      hxs_modulus m;
      hx_cpu_kernels_t kernels;
      hxs_modulus_init(&m, prime_of(sizes[i], true), word);
      for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
        if (hx_cpu_kernels_select(variants[v], NULL, word, m.bits, &kernels, NULL) != HX_OK) {
          continue;  // of another processor
        }
        for (int top = 0; top < 2; top++) {
          check_dot(&kernels, &m, word, &random, top);
          check_combine(&kernels, &m, word, &random, top);
        }
      }
    }
  }
}

// Kernels of the widest operands: any words where the header says so.
static void check_rows(const hx_cpu_kernels_t *k, const hxs_modulus *m, uint64_t *state) {
  uint64_t a[ROW], b[ROW], c[ROW], lazy[ROW], out[6][ROW];
  fill(a, 64, state, m->q, false);
  fill(b, 64, state, m->q, false);
  fill(c, 64, state, UINT64_MAX, false);
  const hxs_factor factor = hxs_factor_of(m, b[0]);
  k->pointwise->mul(out[0], a, b, m, ROW);
  k->pointwise->mul_add(out[1], b, a, a, m, ROW);
  k->pointwise->reduce(out[2], c, m, ROW);
  k->pointwise->mul_scalar(out[3], c, factor, m, ROW);
  fill(lazy, 64, state, 2 * m->q, false);
  k->pointwise->mul_scalar_add(out[4], a, lazy, factor, m, ROW);
  k->pointwise->mul_montgomery(out[5], a, b, m, ROW);
  for (size_t i = 0; i < ROW; i++) {
    const hxs_u128 scaled = (hxs_u128)(c[i] % m->q) * b[0] % m->q;
    expect(out[0][i], (hxs_u128)a[i] * b[i] % m->q, "mul", m);
    expect(out[1][i], ((hxs_u128)a[i] * a[i] + b[i]) % m->q, "mul_add", m);
    expect(out[2][i], c[i] % m->q, "reduce", m);
    expect(out[3][i], scaled, "mul_scalar", m);
    expect(out[4][i], ((hxs_u128)(lazy[i] % m->q) * b[0] + a[i]) % m->q, "mul_scalar_add", m);
    expect(hxs_to_montgomery(m, out[5][i]), (hxs_u128)a[i] * b[i] % m->q, "mul_montgomery", m);
  }
}

static void rows_are_exact_at_their_limits(void **state) {
  (void)state;
  uint64_t random = 3;
  for (uint32_t bits = 5; bits <= 61; bits++) {
    for (int pass = 0; pass < 40; pass++) {
      hxs_modulus m;
      hx_cpu_kernels_t kernels;
      hxs_modulus_init(&m, prime_of(bits, pass % 2 == 0), 64);
      if (hx_cpu_kernels_select(variants[pass / 8], NULL, 64, m.bits, &kernels, NULL) != HX_OK) {
        continue;  // of another processor
      }
      check_rows(&kernels, &m, &random);
    }
  }
}

// The transforms' own operation: a product of polynomials mod X^n + 1.
static void check_product(kc_t *kc, uint32_t id, const hx_cpu_kernels_t *k) {
  const uint32_t word = kc->ring.word, log_n = kc->ring.log_n;
  const size_t n = (size_t)1 << log_n;
  const hx_cpu_prime_t *p = &kc->tables->primes[id];
  const uint64_t q = p->m.q;
  uint64_t a[ROW], b[ROW], fa[ROW], fb[ROW];
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(a, i, kc_next(kc) % (2 * q), word);  // forward takes values below 2q
    hxs_row_store(b, i, 2 * q - 1, word);
  }
  k->ntt->forward(fa, a, &p->m, &p->twiddles, log_n);
  k->ntt->forward(fb, b, &p->m, &p->twiddles, log_n);
  for (size_t i = 0; i < n; i++) {
    assert_true(hxs_row_load(fa, i, word) < q && hxs_row_load(fb, i, word) < q);
    const uint64_t x = hxs_mul_mod(&p->m, hxs_row_load(fa, i, word), hxs_row_load(fb, i, word));
    hxs_row_store(fa, i, i % 2 == 0 ? x : x + q, word);  // inverse too
  }
  k->ntt->inverse(fa, fa, &p->m, &p->twiddles, log_n);
  for (size_t i = 0; i < n; i++) {
    hxs_u128 sum = 0;
    for (size_t j = 0; j < n; j++) {
      const uint64_t x = hxs_row_load(a, j, word) % q, y = hxs_row_load(b, (i + n - j) % n, word) % q;
      const hxs_u128 product = (hxs_u128)x * y % q;
      sum += j <= i ? product : q - product;
    }
    expect(hxs_row_load(fa, i, word), sum % q, "negacyclic product", &p->m);
  }
}

static void ntt_multiplies_polynomials_as_schoolbook(void **state) {
  (void)state;
  kc_t kc;
  for (uint32_t word = 64; word >= 32; word -= 32) {
    for (uint32_t log_n = 3; log_n <= 6; log_n++) {
      static const uint32_t bits64[] = {61, 61, 50, 20, 20}, bits32[] = {31, 31, 30, 20, 12};
      kc_open(&kc, log_n, word, 5, 0, 1, word == 64 ? bits64 : bits32);
      hx_cpu_kernels_t kernels;
      assert_int_equal(hx_cpu_kernels_select("", NULL, word, kc.tables->ring.bits, &kernels, NULL), HX_OK);
      for (uint32_t id = 0; id < 5; id++) {
        check_product(&kc, id, &kernels);
      }
      kc_close(&kc);
    }
  }
}

// A[i] = a(psi^(2*brv(i)+1)), by Horner.
static void ntt_evaluates_at_odd_powers(void **state) {
  (void)state;
  kc_t kc;
  static const uint32_t bits[] = {61, 45};
  kc_open(&kc, 5, 64, 2, 0, 1, bits);
  const size_t n = 32;
  for (uint32_t id = 0; id < 2; id++) {
    const hx_cpu_prime_t *p = &kc.tables->primes[id];
    uint64_t a[32], out[32];
    for (size_t i = 0; i < n; i++) {
      a[i] = kc_next(&kc) % p->m.q;
    }
    hx_cpu_ntt_portable64.forward(out, a, &p->m, &p->twiddles, 5);
    for (uint32_t i = 0; i < n; i++) {
      uint32_t reversed = 0;
      for (uint32_t k = 0; k < 5; k++) {
        reversed |= (i >> k & 1) << (4 - k);
      }
      const uint64_t x = hxs_pow_mod(&p->m, kc.psi[id], 2 * reversed + 1);
      uint64_t value = 0;
      for (size_t k = n; k-- > 0;) {
        value = (hxs_mul_mod(&p->m, value, x) + a[k]) % p->m.q;
      }
      expect(out[i], value, "value", &p->m);
    }
  }
  kc_close(&kc);
}

// Rows of the kinds that reach the ends of a lazy transform's ranges, values below 2q.
static void fill_lazy(kc_t *kc, uint64_t *row, size_t n, uint64_t q, int kind) {
  for (size_t i = 0; i < n; i++) {
    const uint64_t r = kc_next(kc), ends[4] = {0, 2 * q - 1, q, q - 1};
    row[i] = kind == 0 ? 2 * q - 1 : kind == 1 ? r % (2 * q) : ends[r >> 62];
  }
}

static void check_transforms(kc_t *kc, const hx_cpu_ntt_t *kernels, uint32_t id) {
  const hx_cpu_prime_t *p = &kc->tables->primes[id];
  const uint32_t log_n = kc->ring.log_n;
  const size_t n = (size_t)1 << log_n, bytes = n * sizeof(uint64_t);
  uint64_t *rows = test_malloc(3 * bytes), *in = rows, *expected = rows + n, *found = rows + 2 * n;
  for (int kind = 0; kind < 3; kind++) {
    fill_lazy(kc, in, n, p->m.q, kind);
    hx_cpu_ntt_portable64.forward(expected, in, &p->m, &p->twiddles, log_n);
    kernels->forward(found, in, &p->m, &p->twiddles, log_n);
    assert_memory_equal(found, expected, bytes);
    memcpy(found, in, bytes);
    kernels->forward(found, found, &p->m, &p->twiddles, log_n);
    assert_memory_equal(found, expected, bytes);
    hx_cpu_ntt_portable64.inverse(expected, in, &p->m, &p->twiddles, log_n);
    kernels->inverse(found, in, &p->m, &p->twiddles, log_n);
    assert_memory_equal(found, expected, bytes);
    memcpy(found, in, bytes);
    kernels->inverse(found, found, &p->m, &p->twiddles, log_n);
    assert_memory_equal(found, expected, bytes);
  }
  test_free(rows);
}

// Every variant that this processor can run, on primes of both sides of every limit at which one changes its
// arithmetic.
static void ntt_variants_agree_with_portable(void **state) {
  (void)state;
  static const uint32_t bits[] = {30, 30, 46, 46, 47, 47, 49, 49, 50, 50, 51, 51, 60, 60, 61, 61};
  for (uint32_t log_n = 4; log_n <= 16; log_n++) {
    kc_t kc;
    const uint32_t primes = log_n < 7 ? 2 : 16;
    kc_open(&kc, log_n, 64, primes, 0, 1, log_n < 7 ? &bits[12] : bits);
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
      hx_cpu_kernels_t kernels;
      if (hx_cpu_kernels_select(variants[i], NULL, 64, 61, &kernels, NULL) != HX_OK) {
        continue;  // of another processor
      }
      for (uint32_t id = 0; id < primes; id++) {
        check_transforms(&kc, kernels.ntt, id);
      }
    }
    kc_close(&kc);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reductions_are_exact_for_every_prime_size),
      cmocka_unit_test(sums_are_exact_at_their_limits),
      cmocka_unit_test(rows_are_exact_at_their_limits),
      cmocka_unit_test(ntt_multiplies_polynomials_as_schoolbook),
      cmocka_unit_test(ntt_evaluates_at_odd_powers),
      cmocka_unit_test(ntt_variants_agree_with_portable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
