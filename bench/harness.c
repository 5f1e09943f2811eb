// SPDX-License-Identifier: Apache-2.0
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "heliox/support/number.h"
#include "kernels/variants.h"
#include "tables.h"

#define ROWS 10u   // operands of a check
#define GUARD 16u  // words before and after what is written
#define MARK 0xa5a5a5a5a5a5a5a5u
#define PRIMES_MAX 4u
#define INPUTS 9u  // of sums: beyond what is reduced once in all variants

typedef enum pattern { ZERO, TOP, LIMIT, MIXED, RANDOM, PATTERNS } pattern_t;

typedef struct harness {
  hx_device *device;
  hx_tables *tables;
  hx_cpu_kernels_t kernels, portable;
  uint32_t log_n;
  size_t n;
  uint64_t state;
  uint64_t *rows[ROWS], *out, *expected;
  const char *variant;
  char *message;
} harness_t;

static uint64_t next(harness_t *h) {
  h->state ^= h->state << 13;
  h->state ^= h->state >> 7;
  h->state ^= h->state << 17;
  return h->state;
}

// Words below `limit`: the residues of a prime, its lazy ones, or what else a kernel takes. limit 0: any words.
static void fill(harness_t *h, uint64_t *row, uint64_t limit, uint64_t q, pattern_t pattern) {
  for (size_t i = 0; i < h->n; i++) {
    const uint64_t r = next(h);
    const uint64_t random = limit == 0 ? r : r % limit;
    row[i] = pattern == ZERO    ? 0
             : pattern == TOP   ? q - 1
             : pattern == LIMIT ? limit - 1
             : pattern == MIXED ? (r % 3 == 0   ? 0
                                   : r % 3 == 1 ? limit - 1
                                                : random)
                                : random;
  }
}

static void fill_all(harness_t *h, uint64_t limit, uint64_t q, pattern_t pattern) {
  for (uint32_t i = 0; i < ROWS; i++) {
    fill(h, h->rows[i], limit, q, pattern);
  }
}

static uint64_t *guarded(const harness_t *h) {
  for (size_t i = 0; i < GUARD; i++) {
    h->out[i] = h->out[GUARD + h->n + i] = MARK;
  }
  return h->out + GUARD;
}

static bool agrees(const harness_t *h, const char *what, const hxs_modulus *m, pattern_t pattern) {
  static const char *const names[] = {"zeros", "q - 1", "the largest words", "ends", "random words"};
  for (size_t i = 0; i < GUARD; i++) {
    if (h->out[i] != MARK || h->out[GUARD + h->n + i] != MARK) {
      snprintf(h->message, BENCH_MESSAGE, "%s, %s of 2^%u words mod %llu: writes beyond the row", h->variant, what,
               h->log_n, (unsigned long long)m->q);
      return false;
    }
  }
  for (size_t i = 0; i < h->n; i++) {
    if (h->out[GUARD + i] != h->expected[i]) {
      snprintf(h->message, BENCH_MESSAGE, "%s, %s of %s, 2^%u words mod %llu: word %zu is %llu, must be %llu",
               h->variant, what, names[pattern], h->log_n, (unsigned long long)m->q, i,
               (unsigned long long)h->out[GUARD + i], (unsigned long long)h->expected[i]);
      return false;
    }
  }
  return true;
}

// Transforms, to another row and in place.
static bool check_ntt(harness_t *h, const hx_cpu_prime_t *prime, pattern_t pattern) {
  const hxs_modulus *m = &prime->m;
  bool good = true;
  fill(h, h->rows[0], 2 * m->q, m->q, pattern);
  for (int direction = 0; good && direction < 2; direction++) {
    for (int place = 0; good && place < 2; place++) {
      uint64_t *to = guarded(h);
      const uint64_t *from = place == 0 ? h->rows[0] : memcpy(to, h->rows[0], h->n * sizeof *to);
      const hx_cpu_ntt_t *k = h->kernels.ntt, *p = h->portable.ntt;
      (direction == 0 ? k->forward : k->inverse)(to, from, m, &prime->twiddles, h->log_n);
      (direction == 0 ? p->forward : p->inverse)(h->expected, h->rows[0], m, &prime->twiddles, h->log_n);
      good = agrees(h, direction == 0 ? "ntt.forward" : "ntt.inverse", m, pattern);
    }
  }
  return good;
}

#define CHECK(what_, call_)                             \
  do {                                                  \
    const hx_cpu_pointwise_t *k = h->kernels.pointwise; \
    uint64_t *to = guarded(h);                          \
    call_;                                              \
    k = h->portable.pointwise;                          \
    to = h->expected;                                   \
    call_;                                              \
    if (!agrees(h, what_, m, pattern)) {                \
      return false;                                     \
    }                                                   \
  } while (0)

static bool check_pointwise(harness_t *h, const hxs_modulus *m, pattern_t pattern) {
  uint64_t *const *r = h->rows;
  const hxs_factor c = hxs_factor_of(m, pattern == RANDOM ? next(h) % m->q : m->q - 1);
  const void *a[INPUTS], *b[INPUTS];
  fill_all(h, m->q, m->q, pattern);
  for (uint32_t i = 0; i < INPUTS; i++) {
    a[i] = r[i];
    b[i] = r[INPUTS - i];
  }
  CHECK("add", k->add(to, r[0], r[1], m->q, h->n));
  CHECK("sub", k->sub(to, r[0], r[1], m->q, h->n));
  CHECK("neg", k->neg(to, r[0], m->q, h->n));
  CHECK("add_scalar", k->add_scalar(to, r[0], c.value, m->q, h->n));
  CHECK("mul", k->mul(to, r[0], r[1], m, h->n));
  CHECK("mul_add", k->mul_add(to, r[2], r[0], r[1], m, h->n));
  CHECK("mul_montgomery", k->mul_montgomery(to, r[0], r[1], m, h->n));
  CHECK("dot", k->dot(to, NULL, a, b, INPUTS, m, h->n));
  CHECK("dot with a sum before", k->dot(to, r[3], a, b, 2, m, h->n));
  fill(h, r[0], 2 * m->q, m->q, pattern);
  CHECK("mul_scalar_add", k->mul_scalar_add(to, r[1], r[0], c, m, h->n));
  fill(h, r[1], 2 * m->q, m->q, pattern);
  CHECK("add, lazy", k->add(to, r[0], r[1], 2 * m->q, h->n));
  CHECK("sub, lazy", k->sub(to, r[0], r[1], 2 * m->q, h->n));
  fill(h, r[0], 0, m->q, pattern);
  CHECK("reduce", k->reduce(to, r[0], m, h->n));
  CHECK("mul_scalar", k->mul_scalar(to, r[0], c, m, h->n));
  return true;
}

// Inputs of a conversion below 2^bits, and weights: the largest ones, or random ones.
static void fill_inputs(harness_t *h, const hxs_modulus *m, uint32_t bits, pattern_t pattern, const void **in,
                        uint64_t *weights) {
  fill_all(h, (uint64_t)1 << bits, m->q, pattern);
  for (uint32_t i = 0; i < INPUTS; i++) {
    in[i] = h->rows[i];
    weights[i] = pattern == RANDOM ? next(h) % m->q : m->q - 1;
  }
}

// Sums of one, of few and of many inputs.
static bool check_convert(harness_t *h, const hxs_modulus *m, uint32_t bits, pattern_t pattern) {
  const void *in[INPUTS];
  uint64_t weights[INPUTS];
  fill_inputs(h, m, bits, pattern, in, weights);
  for (uint32_t count = 1; count <= INPUTS; count++) {
    const hxs_affine map = {.count = count, .start = weights[0], .weights = weights};
    h->kernels.convert->combine(guarded(h), in, &map, m, h->n);
    h->portable.convert->combine(h->expected, in, &map, m, h->n);
    if (!agrees(h, "combine", m, pattern)) {
      return false;
    }
    // Lazy results may differ by q: only what they stand for is the same.
    uint64_t *to = guarded(h);
    h->kernels.convert->combine_lazy(to, in, &map, m, h->n);
    for (size_t i = 0; i < h->n; i++) {
      to[i] = to[i] < 2 * m->q ? hxs_mod_once(to[i], m->q) : to[i];
    }
    if (!agrees(h, "combine_lazy", m, pattern)) {
      return false;
    }
  }
  fill(h, h->rows[0], 0, m->q, pattern);
  h->kernels.convert->lift_signed(guarded(h), (const int64_t *)h->rows[0], m, h->n);
  h->portable.convert->lift_signed(h->expected, (const int64_t *)h->rows[0], m, h->n);
  return agrees(h, "lift_signed", m, pattern);
}

static void raise(const harness_t *h, const hx_cpu_raise_t *k, uint64_t *to, const void *const *in,
                  const hxs_affine *map, const hx_cpu_prime_t *prime, uint32_t parts) {
  const hx_cpu_ahead_t ahead = {{in[0], in[0]}};
  for (uint32_t part = parts; part-- > 0;) {
    k->begin(to, in, map, &prime->m, &prime->twiddles, h->log_n, part, parts);
  }
  for (size_t at = 0; at < h->n; at += hx_cpu_raise_block(h->log_n)) {
    k->end(to, &prime->m, &prime->twiddles, h->log_n, at, at == 0 ? &ahead : NULL);
  }
}

// Conversions with transforms: against the two, of one, of few and of many inputs, whole and in parts.
static bool check_raise(harness_t *h, const hx_cpu_prime_t *prime, uint32_t bits, pattern_t pattern) {
  const hxs_modulus *m = &prime->m;
  const void *in[INPUTS];
  uint64_t weights[INPUTS];
  fill_inputs(h, m, bits, pattern, in, weights);
  for (uint32_t count = 1; count <= INPUTS; count++) {
    const hxs_affine map = {.count = count, .start = weights[0], .weights = weights};
    h->portable.convert->combine_lazy(h->expected, in, &map, m, h->n);
    h->portable.ntt->forward(h->expected, h->expected, m, &prime->twiddles, h->log_n);
    raise(h, h->kernels.raise, guarded(h), in, &map, prime, 1);
    if (!agrees(h, "raise", m, pattern)) {
      return false;
    }
    raise(h, h->kernels.raise, guarded(h), in, &map, prime, h->n > 4096 ? (uint32_t)(h->n / 4096) : 1);
    if (!agrees(h, "raise in parts", m, pattern)) {
      return false;
    }
  }
  return true;
}

static bool check_permute(harness_t *h, const hxs_modulus *m) {
  const uint32_t n = (uint32_t)h->n, part = n < 16 ? n : n / 2,
                 elements[] = {1, 3, 5, 2 * n - 1, ((uint32_t)next(h) & (2 * n - 1)) | 1};
  uint32_t *index = (uint32_t *)h->rows[1];  // half a row each
  hx_cpu_turn_t turn = {.groups = index + n};
  fill(h, h->rows[0], m->q, m->q, RANDOM);
  for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
    hxs_automorphism_index(h->log_n, elements[i], index);
    h->portable.permute->gather(h->expected, h->rows[0], index, n);
    h->kernels.permute->gather(guarded(h), h->rows[0], index, n);
    if (!agrees(h, "gather", m, RANDOM)) {
      return false;
    }
    hxs_automorphism_index(h->log_n, (uint32_t)hxs_odd_inverse(elements[i]) & (2 * n - 1), index);
    hx_cpu_turn_fill(&turn, index, n);
    for (uint32_t off = 0; off < 2; off++) {  // also to where words are not whole lines
      uint64_t *to = guarded(h);
      for (uint32_t at = 0; at < n; at += part) {
        h->kernels.permute->scatter(to - off, h->rows[0] + at, &turn, at, part);
      }
      memmove(to, to - off, n * sizeof *to);
      to[-1] = MARK;
      if (!agrees(h, "scatter", m, RANDOM)) {
        return false;
      }
    }
  }
  return true;
}

static bool check_expand(harness_t *h, const hxs_modulus *m) {
  uint8_t seed[32];
  for (size_t i = 0; i < sizeof seed; i++) {
    seed[i] = (uint8_t)next(h);
  }
  h->kernels.expand->row(guarded(h), seed, 3, 7, m, h->n);
  h->portable.expand->row(h->expected, seed, 3, 7, m, h->n);
  return agrees(h, "expand", m, RANDOM);
}

static bool check_prime(harness_t *h, const hx_cpu_prime_t *prime, uint32_t bits) {
  bool good = check_expand(h, &prime->m) && check_permute(h, &prime->m);
  for (int pattern = 0; good && pattern < PATTERNS; pattern++) {
    good = check_ntt(h, prime, (pattern_t)pattern) && check_pointwise(h, &prime->m, (pattern_t)pattern) &&
           check_convert(h, &prime->m, bits, (pattern_t)pattern) && check_raise(h, prime, bits, (pattern_t)pattern);
  }
  return good;
}

static bool open_rows(harness_t *h) {
  const size_t n = h->n * sizeof(uint64_t), wide = n + 2 * GUARD * sizeof(uint64_t);
  void *row = NULL;
  bool good = true;
  for (uint32_t i = 0; good && i < ROWS; i++) {
    good = posix_memalign(&row, HX_CPU_ALIGNMENT, n) == 0;
    h->rows[i] = good ? row : NULL;
  }
  good = good && posix_memalign(&row, HX_CPU_ALIGNMENT, n) == 0;
  h->expected = good ? row : NULL;
  good = good && posix_memalign(&row, HX_CPU_ALIGNMENT, wide) == 0;
  h->out = good ? row : NULL;
  return good;
}

// `count` primes: the largest below 2^bits that fit the ring, or as many as there are.
static uint32_t find_primes(uint32_t log_n, uint32_t bits, uint32_t count, uint64_t *primes, uint64_t *psi) {
  const uint64_t step = (uint64_t)2 << log_n;
  uint64_t q = (((uint64_t)1 << bits) - 2) / step * step + 1;
  uint32_t found = 0;
  for (; found < count && q > step && q >> (bits - 1) != 0; q -= step) {
    if (hxs_is_prime(q)) {
      hxs_modulus m;
      hxs_modulus_init(&m, q, 64);
      primes[found] = q;
      psi[found++] = hxs_root_of_unity(&m, log_n);
    }
  }
  return found;
}

static bool run(harness_t *h, uint32_t bits, uint32_t primes) {
  uint64_t q[PRIMES_MAX], psi[PRIMES_MAX];
  uint32_t groups[PRIMES_MAX] = {1, 1, 1, 1};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const uint32_t count = find_primes(h->log_n, bits, primes < PRIMES_MAX ? primes : PRIMES_MAX, q, psi);
  if (count == 0) {
    return true;  // the ring has none of this size
  }
  const hx_ring ring = {.struct_size = HX_END_OF(hx_ring, digest),
                        .log_n = h->log_n,
                        .word = 64,
                        .q_count = count,
                        .digit_run = 1,
                        .group_count = count,
                        .primes = q,
                        .psi = psi,
                        .group_sizes = groups};
  if (hx_cpu_kernels_select("portable", NULL, 64, bits, &h->portable, &error) != HX_OK ||
      hx_cpu_tables_create(h->device, &ring, &h->tables, &error) != HX_OK) {
    snprintf(h->message, BENCH_MESSAGE, "%.*s", BENCH_MESSAGE - 1, error.message);
    return false;
  }
  bool good = open_rows(h);
  if (!good) {
    snprintf(h->message, BENCH_MESSAGE, "no memory for rows of 2^%u words", h->log_n);
  }
  for (uint32_t i = 0; good && i < count; i++) {
    good = check_prime(h, &h->tables->primes[i], bits);
  }
  return good;
}

bool bench_check_variant(const char *variant, uint32_t log_n, uint32_t bits, uint32_t primes, bool *out_ran,
                         char message[BENCH_MESSAGE]) {
  harness_t h = {
      .log_n = log_n, .n = (size_t)1 << log_n, .state = 0x9e3779b97f4a7c15u, .variant = variant, .message = message};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  message[0] = 0;
  *out_ran = hx_cpu_kernels_select("", variant, 64, bits, &h.kernels, &error) == HX_OK;
  if (!*out_ran) {
    return true;
  }
  bool good = hx_cpu_device_ops.open(0, &h.device, &error) == HX_OK;
  if (!good) {
    snprintf(message, BENCH_MESSAGE, "%.*s", BENCH_MESSAGE - 1, error.message);
    return false;
  }
  good = run(&h, bits, primes);
  for (uint32_t i = 0; i < ROWS; i++) {
    free(h.rows[i]);
  }
  free(h.expected);
  free(h.out);
  hx_cpu_tables_destroy(h.tables);
  hx_cpu_device_ops.close(h.device);
  return good;
}
