// SPDX-License-Identifier: Apache-2.0
// Operations with switching keys by what they mean: results are decrypted with big integers and compared with
// polynomials.
//
// Bound of key switching noise. Each raised digit is below run * D / 2 in size, D its product, and P >= D; an error has
// n terms of at most E. So the digits bring n * E * run / 2 each, and the rounding of mod_down |P| / 2 * (1 + n).
#include "tests/kernels/test_reference_call.h"

static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6};
static const uint32_t extended[] = {0, 1, 2, 3, 5, 6};         // Q_1 and P
static const uint32_t sizes[] = {50, 44, 45, 46, 43, 50, 51};  // five of Q, two of P

enum {
  N = 16,
  Q = 5,
  P = 2,
  RUN = 2,
  DIGITS = 3,
  ACTIVE = 4,
  ERROR = 3,
  NOISE = DIGITS * N * ERROR * RUN / 2 + P * (1 + N)
};

typedef struct {
  test_ring t;
  uint64_t seed;
  int64_t secret[N], other[N];
  tensor c;  // three components on Q_1, ntt domain
} fixture;

// A small polynomial on a prime, ntt domain.
static void small_row(const fixture *f, uint32_t id, const int64_t *small, uint64_t *out) {
  hx_ref_row_center_lift_signed(f->t.ring, id, small, out);
  hx_ref_ntt_forward(f->t.ring, id, out);
}

static void fixture_make(fixture *f) {
  ring_make(&f->t, 4, 64, sizes, Q, P, RUN);
  f->seed = 50;
  for (int i = 0; i < N; ++i) {
    f->secret[i] = (int64_t)(random_word(&f->seed) % 3) - 1;
    f->other[i] = (int64_t)(random_word(&f->seed) % 3) - 1;
  }
  tensor_make(&f->c, &f->t, 3, ACTIVE, all, HX_NTT);
  tensor_fill(&f->c, &f->t, &f->seed);
}

static void fixture_free(fixture *f) {
  tensor_free(&f->c);
  ring_free(&f->t);
}

static void square(const int64_t *a, int64_t *out) {
  memset(out, 0, N * sizeof *out);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) out[(i + j) % N] += i + j < N ? a[i] * a[j] : -a[i] * a[j];
}

static void sigma(const int64_t *a, uint64_t element, int64_t *out) {
  for (uint64_t i = 0; i < N; ++i) {
    const uint64_t e = i * element % (2 * N);
    out[e % N] = e < N ? a[i] : -a[i];
  }
}

// (b_j, a_j), b_j = -a_j * target + e_j + g_j * source, g_j = P on the digit's own rows.
static void make_key(fixture *f, tensor *key, const int64_t *source, const int64_t *target) {
  const test_ring *t = &f->t;
  tensor_shape(key, t, 0, NULL, DIGITS, 2, Q + P, all, HX_NTT);
  tensor_fill(key, t, &f->seed);
  for (uint32_t j = 0; j < DIGITS; ++j) {
    int64_t error[N];
    for (int i = 0; i < N; ++i) error[i] = (int64_t)(random_word(&f->seed) % (2 * ERROR + 1)) - ERROR;
    for (uint32_t id = 0; id < Q + P; ++id) {
      const uint64_t q = t->primes[id], special = id / RUN == j && id < Q ? mul_by(t->primes[5], t->primes[6], q) : 0;
      uint64_t e[N], from[N], to[N];
      small_row(f, id, error, e);
      small_row(f, id, source, from);
      small_row(f, id, target, to);
      const uint64_t *a = key_row(key, j, 1, id);
      uint64_t *b = key_row(key, j, 0, id);
      for (int i = 0; i < N; ++i)
        b[i] = (uint64_t)(((u128)e[i] + mul_by(special, from[i], q) + q - mul_by(a[i], to[i], q)) % q);
    }
  }
}

// c0 + c1 * s (+ c2 * s^2), coefficients.
static void decrypt(const fixture *f, const tensor *c, const int64_t *secret, uint64_t out[][N]) {
  const test_ring *t = &f->t;
  for (uint32_t l = 0; l < c->desc.limbs; ++l) {
    const uint64_t q = t->primes[l];
    uint64_t s[N];
    small_row(f, l, secret, s);
    memset(out[l], 0, sizeof out[l]);
    for (uint32_t k = c->desc.components; k-- > 0;) {
      uint64_t part[N];
      memcpy(part, tensor_row(c, 0, k, l), sizeof part);
      if (c->desc.domain == HX_COEFFICIENT) hx_ref_ntt_forward(t->ring, l, part);
      for (int i = 0; i < N; ++i) out[l][i] = (mul_by(out[l][i], s[i], q) + part[i]) % q;
    }
    hx_ref_ntt_inverse(t->ring, l, out[l]);
  }
}

// a - b, centred, is at most `bound` on every coefficient of the first `limbs` rows, one and the same integer on all.
static void assert_close(const fixture *f, uint64_t a[][N], uint64_t b[][N], uint32_t limbs, int64_t bound) {
  for (int i = 0; i < N; ++i) {
    int64_t first = 0;
    for (uint32_t l = 0; l < limbs; ++l) {
      const uint64_t q = f->t.primes[l], d = (a[l][i] + q - b[l][i]) % q;
      const int64_t centred = d > q / 2 ? (int64_t)d - (int64_t)q : (int64_t)d;
      if (l == 0) first = centred;
      if (centred != first || centred > bound || centred < -bound)
        fail_msg("coefficient %d row %u: %lld, bound %lld", i, l, (long long)centred, (long long)bound);
    }
  }
}

static void move(const fixture *f, uint64_t rows[][N], uint32_t limbs, uint64_t element) {
  for (uint32_t l = 0; l < limbs; ++l) {
    uint64_t moved[N];
    for (uint64_t i = 0; i < N; ++i) {
      const uint64_t e = i * element % (2 * N);
      moved[e % N] = e < N || rows[l][i] == 0 ? rows[l][i] : f->t.primes[l] - rows[l][i];
    }
    memcpy(rows[l], moved, sizeof moved);
  }
}

// Runs with the operand in both domains and the result in both: the same value. values[0] is in ntt domain, the last is
// the result.
static void run_all_domains(const fixture *f, const char *name, uint32_t operands, tensor **values, size_t attr_count,
                            const hx_attr *attrs) {
  const test_ring *t = &f->t;
  tensor *const a = values[0], *const out = values[operands];
  tensor coefficients, other;
  hx_attr more[4];
  for (size_t i = 0; i < attr_count; ++i) more[i] = attrs[i];
  more[attr_count] = ATTR_TEXT("output_domain", "coefficient");
  tensor_make(&coefficients, t, a->desc.components, a->desc.limbs, a->ids, HX_COEFFICIENT);
  tensor_make(&other, t, 2, out->desc.limbs, out->ids, HX_COEFFICIENT);
  run(t, "ckks.from_ntt", 1, 1, VALUES(a, &coefficients), NO_ATTRS);
  run(t, name, operands, 1, values, attr_count, attrs);
  values[0] = &coefficients;
  values[operands] = &other;
  run(t, name, operands, 1, values, attr_count + 1, more);
  refuse(t, HX_INVALID, "result 0 is in coefficient domain, must be in ntt domain", name, operands, 1, values,
         attr_count, attrs);
  tensor back;
  tensor_make(&back, t, 2, out->desc.limbs, out->ids, HX_NTT);
  run(t, "ckks.to_ntt", 1, 1, VALUES(&other, &back), NO_ATTRS);
  assert_rows_equal(back.memory, out->memory, back.words);
  values[0] = a;
  values[operands] = out;
  tensor_free(&coefficients);
  tensor_free(&other);
  tensor_free(&back);
}

static void relinearize_keeps_the_message(void **state) {
  (void)state;
  fixture f;
  fixture_make(&f);
  int64_t s2[N];
  square(f.secret, s2);
  tensor key, out;
  make_key(&f, &key, s2, f.secret);
  tensor_make(&out, &f.t, 2, ACTIVE, all, HX_NTT);
  run_all_domains(&f, "ckks.relinearize", 2, VALUES(&f.c, &key, &out), NO_ATTRS);
  uint64_t before[ACTIVE][N], after[ACTIVE][N];
  decrypt(&f, &f.c, f.secret, before);
  decrypt(&f, &out, f.secret, after);
  assert_close(&f, after, before, ACTIVE, NOISE);
  refuse(&f.t, HX_INVALID, "1 operands, must be 2", "ckks.relinearize", 1, 1, VALUES(&f.c, &out), NO_ATTRS);
  refuse(&f.t, HX_INVALID, "operand 0 has components 2, must be 3", "ckks.relinearize", 2, 1, VALUES(&out, &key, &out),
         NO_ATTRS);
  key.desc.digits = 1;
  refuse(&f.t, HX_INVALID, "operand 1 has 1 digits, at least 2 are needed", "ckks.relinearize", 2, 1,
         VALUES(&f.c, &key, &out), NO_ATTRS);
  key.desc.digits = DIGITS;
  key.desc.domain = HX_COEFFICIENT;
  refuse(&f.t, HX_INVALID, "a key is standard in ntt domain", "ckks.relinearize", 2, 1, VALUES(&f.c, &key, &out),
         NO_ATTRS);
  tensor_free(&key);
  tensor_free(&out);
  fixture_free(&f);
}

static void key_switch_leads_to_the_other_secret(void **state) {
  (void)state;
  fixture f;
  fixture_make(&f);
  tensor key, c, out;
  make_key(&f, &key, f.secret, f.other);
  tensor_make(&c, &f.t, 2, ACTIVE, all, HX_NTT);
  tensor_make(&out, &f.t, 2, ACTIVE, all, HX_NTT);
  tensor_fill(&c, &f.t, &f.seed);
  run_all_domains(&f, "ckks.key_switch", 2, VALUES(&c, &key, &out), NO_ATTRS);
  uint64_t before[ACTIVE][N], after[ACTIVE][N];
  decrypt(&f, &c, f.secret, before);
  decrypt(&f, &out, f.other, after);
  assert_close(&f, after, before, ACTIVE, NOISE);
  tensor_free(&key);
  tensor_free(&c);
  tensor_free(&out);
  fixture_free(&f);
}

static uint64_t element_of(int64_t step) {
  uint64_t element = 1;
  for (int64_t i = ((step % (N / 2)) + N / 2) % (N / 2); i > 0; --i) element = element * 5 % (2 * N);
  return element;
}

static uint64_t inverse_element(uint64_t element) {
  for (uint64_t g = 1; g < 2 * N; g += 2)
    if (g * element % (2 * N) == 1) return g;
  return 0;
}

static void make_galois_key(fixture *f, tensor *key, uint64_t element) {
  int64_t target[N];
  sigma(f->secret, inverse_element(element), target);
  make_key(f, key, f->secret, target);
}

static void rotations_apply_sigma_to_the_message(void **state) {
  (void)state;
  fixture f;
  fixture_make(&f);
  static const int64_t steps[] = {1, 3, -2, 9, 100};
  tensor c, out, key, many[6], keys[3];
  tensor_make(&c, &f.t, 2, ACTIVE, all, HX_NTT);
  tensor_make(&out, &f.t, 2, ACTIVE, all, HX_NTT);
  tensor_fill(&c, &f.t, &f.seed);
  uint64_t before[ACTIVE][N], after[ACTIVE][N];
  for (size_t k = 0; k <= COUNT_OF(steps); ++k) {
    const int conjugate = k == COUNT_OF(steps);
    const uint64_t element = conjugate ? 2 * N - 1 : element_of(steps[k]);
    make_galois_key(&f, &key, element);
    const hx_attr step = ATTR_I64("step", conjugate ? 0 : steps[k]);
    run_all_domains(&f, conjugate ? "ckks.conjugate" : "ckks.rotate", 2, VALUES(&c, &key, &out), !conjugate, &step);
    decrypt(&f, &c, f.secret, before);
    move(&f, before, ACTIVE, element);
    decrypt(&f, &out, f.secret, after);
    assert_close(&f, after, before, ACTIVE, NOISE);
    tensor_free(&key);
  }
  // A step of 0 is a copy without a key; several at once are each as it would be alone.
  run(&f.t, "ckks.rotate", 1, 1, VALUES(&c, &out), ATTRS(ATTR_I64("step", 8)));
  assert_rows_equal(out.memory, c.memory, c.words);
  for (uint32_t i = 0; i < 3; ++i) make_galois_key(&f, &keys[i], element_of(steps[i]));
  for (uint32_t i = 0; i < 6; ++i) tensor_make(&many[i], &f.t, 2, ACTIVE, all, HX_NTT);
  run(&f.t, "ckks.rotate_many", 4, 6,
      VALUES(&c, &keys[0], &keys[1], &keys[2], &many[0], &many[1], &many[2], &many[3], &many[4], &many[5]),
      ATTRS(ATTR_I64("steps", 0, 1, 3, 1, -2, 9)));
  static const uint32_t which[] = {0, 0, 1, 0, 2, 0};
  for (uint32_t i = 0; i < 6; ++i) {
    if (i == 0)
      memcpy(out.memory, c.memory, c.words * sizeof *c.memory);
    else
      run(&f.t, "ckks.rotate", 2, 1, VALUES(&c, &keys[which[i]], &out), ATTRS(ATTR_I64("step", steps[which[i]])));
    assert_rows_equal(many[i].memory, out.memory, out.words);
  }
  refuse(&f.t, HX_INVALID, "2 operands, must be 1", "ckks.rotate", 2, 1, VALUES(&c, &keys[0], &out),
         ATTRS(ATTR_I64("step", 0)));
  refuse(&f.t, HX_INVALID, "1 operands, must be 2", "ckks.rotate", 1, 1, VALUES(&c, &out), ATTRS(ATTR_I64("step", 1)));
  refuse(&f.t, HX_INVALID, "2 operands, must be 3", "ckks.rotate_many", 2, 2, VALUES(&c, &keys[0], &many[0], &many[1]),
         ATTRS(ATTR_I64("steps", 1, 3)));
  refuse(&f.t, HX_INVALID, "1 results for 2 steps", "ckks.rotate_many", 3, 1, VALUES(&c, &keys[0], &keys[1], &many[0]),
         ATTRS(ATTR_I64("steps", 1, 3)));
  for (uint32_t i = 0; i < 3; ++i) tensor_free(&keys[i]);
  for (uint32_t i = 0; i < 6; ++i) tensor_free(&many[i]);
  tensor_free(&c);
  tensor_free(&out);
  fixture_free(&f);
}

// weights: a small polynomial as a plaintext on Q_1 and P, ntt domain, made by prepare_plain.
static void make_weight(fixture *f, tensor *weight, int64_t small[N]) {
  tensor plain, signs;
  tensor_make(&signs, &f->t, 1, 1, all, 0);
  signs.desc.dtype = HX_I64;
  for (int i = 0; i < N; ++i) {
    small[i] = (int64_t)(random_word(&f->seed) % 9) - 4;
    signs.memory[i] = (uint64_t)small[i];
  }
  tensor_make(&plain, &f->t, 1, ACTIVE, all, HX_COEFFICIENT);
  run(&f->t, "rns.center_lift", 1, 1, VALUES(&signs, &plain), ATTRS(ATTR_I64("ids", 0, 1, 2, 3)));
  tensor_make(weight, &f->t, 1, ACTIVE + P, extended, HX_NTT);
  run(&f->t, "ckks.prepare_plain", 1, 1, VALUES(&plain, weight), ATTRS(ATTR_TEXT("for", "weighted")));
  for (uint32_t l = 0; l < ACTIVE + P; ++l) {
    uint64_t wanted[N];
    small_row(f, extended[l], small, wanted);
    assert_rows_equal(tensor_row(weight, 0, 0, l), wanted, N);
  }
  tensor_free(&plain);
  tensor_free(&signs);
}

static void sums_of_rotations_decrypt_to_sums(void **state) {
  (void)state;
  fixture f;
  fixture_make(&f);
  static const int64_t steps[] = {1, 0, 3, 1};
  tensor c[4], keys[2], w[8], out[2];
  int64_t small[8][N];
  for (uint32_t i = 0; i < 4; ++i) {
    tensor_make(&c[i], &f.t, 2, ACTIVE, all, HX_NTT);
    tensor_fill(&c[i], &f.t, &f.seed);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    make_galois_key(&f, &keys[i], element_of(steps[2 * i]));
    tensor_make(&out[i], &f.t, 2, ACTIVE, all, HX_NTT);
  }
  for (uint32_t i = 0; i < 8; ++i) make_weight(&f, &w[i], small[i]);
  uint64_t sum[ACTIVE][N] = {{0}}, part[ACTIVE][N], after[ACTIVE][N];
  for (uint32_t i = 0; i < 4; ++i) {
    decrypt(&f, &c[i], f.secret, part);
    move(&f, part, ACTIVE, element_of(steps[i]));
    for (uint32_t l = 0; l < ACTIVE; ++l) hx_ref_row_add(f.t.ring, l, sum[l], part[l], sum[l]);
  }
  const hx_attr attrs[] = {ATTR_I64("steps", 1, 0, 3, 1), ATTR_I64("groups", 2)};
  run(&f.t, "ckks.rotate_sum", 6, 1, VALUES(&c[0], &c[1], &c[2], &c[3], &keys[0], &keys[1], &out[0]), 1, attrs);
  decrypt(&f, &out[0], f.secret, after);
  assert_close(&f, after, sum, ACTIVE, 4 * NOISE);
  run(&f.t, "ckks.rotate_weighted_sum", 11, 2,
      VALUES(&c[0], &w[0], &w[1], &w[2], &w[3], &w[4], &w[5], &w[6], &w[7], &keys[0], &keys[1], &out[0], &out[1]), 2,
      attrs);
  for (uint32_t g = 0; g < 2; ++g) {
    memset(sum, 0, sizeof sum);
    for (uint32_t i = 0; i < 4; ++i) {
      decrypt(&f, &c[0], f.secret, part);
      move(&f, part, ACTIVE, element_of(steps[i]));
      for (uint32_t l = 0; l < ACTIVE; ++l) {
        uint64_t weight[N];
        small_row(&f, l, small[4 * g + i], weight);
        hx_ref_ntt_forward(f.t.ring, l, part[l]);
        hx_ref_row_mul(f.t.ring, l, part[l], weight, part[l]);
        hx_ref_ntt_inverse(f.t.ring, l, part[l]);
        hx_ref_row_add(f.t.ring, l, sum[l], part[l], sum[l]);
      }
    }
    decrypt(&f, &out[g], f.secret, after);
    assert_close(&f, after, sum, ACTIVE, 4 * 4 * N * NOISE);  // weights of at most 4, n terms
  }
  refuse(&f.t, HX_INVALID, "5 operands, must be 6", "ckks.rotate_sum", 5, 1,
         VALUES(&c[0], &c[1], &c[2], &c[3], &keys[0], &out[0]), 1, attrs);
  refuse(&f.t, HX_INVALID, "1 results for 2 groups", "ckks.rotate_weighted_sum", 11, 1,
         VALUES(&c[0], &w[0], &w[1], &w[2], &w[3], &w[4], &w[5], &w[6], &w[7], &keys[0], &keys[1], &out[0]), 2, attrs);
  for (uint32_t i = 0; i < 4; ++i) tensor_free(&c[i]);
  for (uint32_t i = 0; i < 2; ++i) tensor_free(&keys[i]);
  for (uint32_t i = 0; i < 8; ++i) tensor_free(&w[i]);
  for (uint32_t i = 0; i < 2; ++i) tensor_free(&out[i]);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(relinearize_keeps_the_message),
      cmocka_unit_test(key_switch_leads_to_the_other_secret),
      cmocka_unit_test(rotations_apply_sigma_to_the_message),
      cmocka_unit_test(sums_of_rotations_decrypt_to_sums),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
