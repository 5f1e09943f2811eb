// SPDX-License-Identifier: Apache-2.0
// The build functions, one for each row of impls.def.
#ifndef HX_CPU_OPS_H
#define HX_CPU_OPS_H

#include "prepare.h"

#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) hxs_build_fn build_;
#include "impls.def"

// The size of the depth group that the last rows of a ciphertext are.
int32_t hx_cpu_last_group(const hxs_build *build, const hxs_view *a, uint32_t *out_count);
// Attribute output_domain, "ntt" where it is absent, is the domain of a result.
int32_t hx_cpu_expect_output(const hxs_build *build, const hxs_view *out);

#endif
