// SPDX-License-Identifier: Apache-2.0
// Transforms of u64 rows with 52-bit products (AVX-512 IFMA), q < 2^50; other rows go to other variants.
#include "kernels/ntt/ntt_ifma_forward.h"
#include "kernels/ntt/ntt_ifma_inverse.h"

static void forward_wide(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n,
                         const constants_t *restrict c) {
  forward_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, c, WIDE);
}
static void forward_seven(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n,
                          const constants_t *restrict c) {
  forward_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, c, SEVEN);
}
static void forward_tight(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n,
                          const constants_t *restrict c) {
  forward_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, c, TIGHT);
}

// What takes rows without 52-bit twiddles.
static const hx_cpu_ntt_t *other(const hx_cpu_twiddles_t *t) {
  return t->forward_tail != NULL ? &hx_cpu_ntt_large_avx512ifma : &hx_cpu_ntt_avx512dq;
}

static void forward(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  if (t->forward52 == NULL) {
    other(t)->forward(out, in, m, t, log_n);
    return;
  }
  const constants_t *c = constants_of(t->constants52);
  switch (depth_of(m->q)) {
    case WIDE:
      forward_wide(out, in, t->forward52, log_n, c);
      break;
    case EIGHT:
    case SEVEN:
      forward_seven(out, in, t->forward52, log_n, c);
      break;
    default:
      forward_tight(out, in, t->forward52, log_n, c);
      break;
  }
}
static void inverse_wide(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n,
                         const constants_t *restrict c) {
  inverse_tree(out, in, t, log_n, c, WIDE);
}
static void inverse_eight(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n,
                          const constants_t *restrict c) {
  inverse_tree(out, in, t, log_n, c, EIGHT);
}
static void inverse_seven(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n,
                          const constants_t *restrict c) {
  inverse_tree(out, in, t, log_n, c, SEVEN);
}
static void inverse_tight(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n,
                          const constants_t *restrict c) {
  inverse_tree(out, in, t, log_n, c, TIGHT);
}

static void inverse(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  if (t->inverse52 == NULL) {
    other(t)->inverse(out, in, m, t, log_n);
    return;
  }
  const constants_t *c = constants_of(t->constants52);
  switch (depth_of(m->q)) {
    case WIDE:
      inverse_wide(out, in, t->inverse52, log_n, c);
      break;
    case EIGHT:
      inverse_eight(out, in, t->inverse52, log_n, c);
      break;
    case SEVEN:
      inverse_seven(out, in, t->inverse52, log_n, c);
      break;
    default:
      inverse_tight(out, in, t->inverse52, log_n, c);
      break;
  }
}

const hx_cpu_ntt_t hx_cpu_ntt_avx512ifma = {.forward = forward, .inverse = inverse};
