// SPDX-License-Identifier: Apache-2.0
// Steps of conversions between bases (heliox/support/base.h): the stage makes rows y in scratch memory, targets make
// the result's rows from them.
#ifndef HX_OPENCL_BASE_H
#define HX_OPENCL_BASE_H

#include "heliox/support/base.h"
#include "step.h"

// Division by P or by dropped rows of polynomials in ntt domain, [polynomials][rows] each: x are the stage's rows, kept
// the operand's rows of the targets. Results: quotients plus add (NULL: nothing; a row may be HX_OPENCL_NO_ROW), under
// X -> X^element (1: none). The stage is not chained.
int32_t hx_opencl_base_divide(const hxs_build *build, const hxs_base *base, uint32_t polynomials,
                              const hx_opencl_rows_t *x, const hx_opencl_rows_t *kept, const hx_opencl_rows_t *add,
                              uint32_t element, const hx_opencl_rows_t *out);
// Stage and targets of polynomials, in ntt domain where the plan says so: x are the stage's rows, own the operand's
// rows of the targets, [polynomials][rows] each. Results must not lie on them.
int32_t hx_opencl_base_run(const hxs_build *build, const hxs_base *base, uint32_t polynomials,
                           const hx_opencl_rows_t *x, const hx_opencl_rows_t *own, const hx_opencl_rows_t *out);
// A whole operation: operand 0 to result 0.
int32_t hx_opencl_base_steps(const hxs_build *build, const hxs_base *base);

#endif
