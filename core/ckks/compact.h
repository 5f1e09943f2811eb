// SPDX-License-Identifier: Apache-2.0
#ifndef HELIOX_CORE_CKKS_COMPACT_H
#define HELIOX_CORE_CKKS_COMPACT_H

#include "core/ckks/value.h"

struct hx_compact {
  atomic_uint refs;
  hx_params_t *params;
  hx_type_t type;
  uint64_t count;
  bool is_complex;
  hx_noise_t noise;
  size_t gap;    // equal elements in a block, a power of two
  size_t bytes;  // of rows
  char *rows;    // [limbs][N / gap] in the residue word
};

#endif
