// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding as steps, behind the codec role (codec.c).
#ifndef HX_CUDA_CODE_H
#define HX_CUDA_CODE_H

#include "kernels/dd.h"
#include "prepare.h"

// "codec.encode": doubles to a plaintext; "codec.decode": back. Attributes: slots, complex (i64), scale (f64, the four
// numbers of hx_cuda_code_t).
extern const hxs_plugin hx_cuda_code_plugin;

// A scale, mantissa * 2^exponent times primes to their powers, as factor * 2^*out_exponent, 1/2 <= |factor| < 1; error
// below 2^-98 of it for fewer than 64 factors. With `inverse` one over it.
hx_cuda_dd_t hx_cuda_code_scale(const hx_encoding *encoding, bool inverse, int32_t *out_exponent);
// Roots of the transform for up to n / 2 slots, [n / 2]: node (1 << level) + block; error below 2^-100.
void hx_cuda_code_roots(uint32_t log_n, hx_cuda_complex_t *out);
// Sets, before the steps of such an object run, what is not known at prepare.
void hx_cuda_code_patch(hx_prepared *prepared, uint64_t roots, uint64_t flag);

#endif
