// SPDX-License-Identifier: Apache-2.0
// Transforms of u64 rows of primes from 2^50 on that are 1 mod 2^12, with AVX-512 DQ and 52-bit products. See
// ntt_lanes.h.
#include "kernels/ifma.h"
#include "kernels/lanes_avx512.h"

#define LANES_52
#include "kernels/ntt/ntt_lanes.h"

const hx_cpu_ntt_t hx_cpu_ntt_large_avx512ifma = {.forward = forward, .inverse = inverse};
