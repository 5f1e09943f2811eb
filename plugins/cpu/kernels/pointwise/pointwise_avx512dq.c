// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels with AVX-512 DQ. See pointwise_lanes.h.
#include "kernels/lanes_avx512.h"
#include "kernels/pointwise/pointwise_lanes.h"

const hx_cpu_pointwise_t hx_cpu_pointwise_avx512dq = {.add = add,
                                                      .sub = sub,
                                                      .neg = neg,
                                                      .add_scalar = add_scalar,
                                                      .reduce = reduce,
                                                      .mul = mul,
                                                      .mul_add = mul_add,
                                                      .mul_montgomery = mul_montgomery,
                                                      .mul_scalar = mul_scalar,
                                                      .mul_scalar_add = mul_scalar_add,
                                                      .dot = dot};
