// SPDX-License-Identifier: Apache-2.0
// Transforms of u64 rows with AVX2. See ntt_lanes.h.
#include "kernels/lanes_avx2.h"
#include "kernels/ntt/ntt_lanes.h"

static void forward_deep(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_ring_t *r) {
  lanes_forward_tree(out, in, log_n, r, true);
}
static void forward_tight(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_ring_t *r) {
  lanes_forward_tree(out, in, log_n, r, false);
}
static void inverse_deep(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_factor_t *last,
                         const lanes_ring_t *r) {
  lanes_inverse_tree(out, in, log_n, last, r, true);
}
static void inverse_tight(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_factor_t *last,
                          const lanes_ring_t *r) {
  lanes_inverse_tree(out, in, log_n, last, r, false);
}

static void forward(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  if (log_n < LANES_LOG_N_MIN) {
    hx_cpu_ntt_portable64.forward(out, in, m, t, log_n);
    return;
  }
  const lanes_ring_t r = lanes_ring(t->forward, t->forward_quotient, m->q);
  if (m->bits <= 60) {
    forward_deep(out, in, log_n, &r);
  } else {
    forward_tight(out, in, log_n, &r);
  }
}

static void inverse(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  if (log_n < LANES_LOG_N_MIN) {
    hx_cpu_ntt_portable64.inverse(out, in, m, t, log_n);
    return;
  }
  const lanes_ring_t r = lanes_ring(t->inverse, t->inverse_quotient, m->q);
  lanes_factor_t last[2];
  for (int i = 0; i < 2; i++) {
    last[i] = lanes_factor(lanes_splat(t->last[i].value), lanes_splat(t->last[i].quotient));
  }
  if (m->bits <= 60) {
    inverse_deep(out, in, log_n, last, &r);
  } else {
    inverse_tight(out, in, log_n, last, &r);
  }
}

const hx_cpu_ntt_t hx_cpu_ntt_avx2 = {.forward = forward, .inverse = inverse};
