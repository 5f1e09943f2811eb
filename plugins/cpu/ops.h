// SPDX-License-Identifier: Apache-2.0
// The build functions, one for each row of impls.def.
#ifndef HX_CPU_OPS_H
#define HX_CPU_OPS_H

#include "prepare.h"

#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) hx_cpu_build_fn build_;
#include "impls.def"

// out[i] = in[index[i]] is X -> X^element in ntt domain; element odd and below 2n. The index lives as long as the
// prepared object.
int32_t hx_cpu_automorphism_index(const hx_cpu_build_t *build, uint32_t element, uint32_t **out);

#endif
