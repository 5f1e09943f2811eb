// SPDX-License-Identifier: Apache-2.0
#include "number.h"

hx_cuda_factor_t hx_cuda_factor_of(const hxs_modulus *m, uint64_t c) {
  const hxs_factor factor = hxs_factor_of(m, c);
  return (hx_cuda_factor_t){factor.value, factor.quotient};
}

double hx_cuda_centred(uint64_t q, uint64_t c) { return c > q / 2 ? -(double)(q - c) : (double)c; }

void hx_cuda_prime_init(hx_cuda_prime_t *prime, const hxs_modulus *m) {
  *prime = (hx_cuda_prime_t){.q = m->q,
                             .two_q = m->two_q,
                             .ratio = m->ratio,
                             .barrett = m->barrett,
                             .radix = m->radix,
                             .radix_quotient = m->radix_quotient,
                             .inverse = m->inverse,
                             .bits = m->bits,
                             .tight = m->bits > 46,
                             .real_q = (double)m->q,
                             .real_inverse = 1.0 / (double)m->q};
}
