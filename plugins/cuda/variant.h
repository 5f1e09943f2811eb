// SPDX-License-Identifier: Apache-2.0
// Variants of transforms (variants.def) and the choice among them (choices.def).
#ifndef HX_CUDA_VARIANT_H
#define HX_CUDA_VARIANT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum hx_cuda_variant_id {
#define VARIANT(id_, name_, radix_, path_) HX_CUDA_VARIANT_##id_,
#include "variants.def"
  HX_CUDA_VARIANT_COUNT
} hx_cuda_variant_id_t;

typedef struct hx_cuda_variant {
  const char *name;
  uint32_t radix;  // log of the points of a pass; 0: grouped
  bool real;
  bool tensor;  // real, with conversions on the tensor cores
  bool word;    // 32-bit words in 32-bit arithmetic
} hx_cuda_variant_t;

// By name; NULL: none.
const hx_cuda_variant_t *hx_cuda_variant_find(const char *name);
// The default of a device of capability `arch` for rows of 2^log_n words of `word` bits.
const hx_cuda_variant_t *hx_cuda_variant_choose(uint32_t arch, uint32_t word, uint32_t log_n);
// "integer, real, ...": for messages.
const char *hx_cuda_variant_names(void);

#endif
