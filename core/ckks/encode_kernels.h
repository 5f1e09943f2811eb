// SPDX-License-Identifier: Apache-2.0
// The loops of encoding, decoding and sampling, compiled once for each instruction set. All of them do the same
// IEEE operations in the same order, so all give the same bits; a fused multiply-add is used only where its result is
// the exact error of a product, which Dekker's splitting gives too.
#ifndef HELIOX_CORE_CKKS_ENCODE_KERNELS_H
#define HELIOX_CORE_CKKS_ENCODE_KERNELS_H

#include "core/ckks/fft.h"

typedef struct hx_encode_kernels {
  const char *name;
  // hx_fft_* of core/ckks/fft.h. Levels are made.
  void (*evaluate_double)(uint32_t log_slots, hx_fft_vector_t values);
  void (*interpolate_double)(uint32_t log_slots, hx_fft_vector_t values);
  void (*evaluate)(uint32_t log_slots, hx_fft_vector_t values);
  void (*interpolate)(uint32_t log_slots, hx_fft_vector_t values);
  // out[k] = nearest integer to (c[k] + low[k]) * scale * factor, ties to even; factor is a power of two and the result
  // below 2^61.
  void (*round)(const double *c, const double *low, size_t count, hx_dd_t scale, double factor, int64_t *out);
  // words[k * gap] as hi + lo times 2^-62, exactly: |words| < 2^62.
  void (*widen)(const int64_t *words, size_t count, size_t gap, double *hi, double *lo);
  // (hi + lo) * scale, rounded to doubles, in place: hi becomes the double nearest to it (lo is left undefined).
  void (*scale)(double *hi, const double *lo, size_t count, hx_dd_t scale);
  // out[k] = words[k] mod q, |words| < 2^62, 2^11 < q < 2^61; as 64-bit or 32-bit words.
  void (*reduce)(const int64_t *words, size_t count, uint64_t q, uint64_t *out);
  void (*reduce32)(const int64_t *words, size_t count, uint64_t q, uint32_t *out);
  // All bits in which two rows differ; bytes is a multiple of 8.
  uint64_t (*differ)(const void *a, const void *b, size_t bytes);
  // Of uniform words: floor(3 w / 2^64) - 1; and the cut Gaussian of core/ckks/sampling.c, whose table has `entries`.
  void (*ternary)(const uint64_t *words, size_t count, int8_t *out);
  void (*gaussian)(const uint64_t *words, size_t count, const uint64_t *cumulative, uint32_t entries, int8_t *out);
} hx_encode_kernels_t;

// For this processor; chosen once.
const hx_encode_kernels_t *hx_encode_kernels(void);
// All that this processor runs, the portable ones first; returns their number, at most 3.
size_t hx_encode_kernels_list(const hx_encode_kernels_t *out[3]);

extern const hx_encode_kernels_t hx_encode_kernels_portable;
#ifdef HELIOX_X86
extern const hx_encode_kernels_t hx_encode_kernels_avx2, hx_encode_kernels_avx512;
#endif

#endif
