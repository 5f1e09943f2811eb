// SPDX-License-Identifier: Apache-2.0
// Which kernels run: chosen once, when an operation is prepared.
#ifndef HX_CPU_KERNELS_VARIANTS_H
#define HX_CPU_KERNELS_VARIANTS_H

#include "heliox/plugin.h"
#include "kernels/convert/convert.h"
#include "kernels/expand/expand.h"
#include "kernels/ntt/ntt.h"
#include "kernels/permute/permute.h"
#include "kernels/pointwise/pointwise.h"
#include "kernels/raise/raise.h"

typedef struct hx_cpu_kernels {
  const hx_cpu_ntt_t *ntt;
  const hx_cpu_pointwise_t *pointwise;
  const hx_cpu_convert_t *convert;
  const hx_cpu_raise_t *raise;
  const hx_cpu_permute_t *permute;
  const hx_cpu_expand_t *expand;
} hx_cpu_kernels_t;

// HX_INVALID where the mask (a comma list, empty: all) names a variant that does not exist.
int32_t hx_cpu_mask_check(const char *mask, hx_error *error);
// The best usable variant of every family that the mask allows, for rows of `word` bits and primes of at most `bits`.
// pin (NULL: none) names one variant: families that have it use it, the others `portable`.
// HX_UNSUPPORTED where no family has the pinned name, or nothing usable remains; the message has what exists.
int32_t hx_cpu_kernels_select(const char *mask, const char *pin, uint32_t word, uint32_t bits, hx_cpu_kernels_t *out,
                              hx_error *error);

#endif
