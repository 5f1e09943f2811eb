// SPDX-License-Identifier: Apache-2.0
// Cases of operations, run over rings, patterns and layouts through the harness of kernelcheck.h.
//
// A case that the plugin does not have is passed over: an operation that it does not register, or a domain that its
// manifest does not declare. The last test asks that every registered operation had a case.
#ifndef HX_OPCHECK_H
#define HX_OPCHECK_H

#include "kernelcheck.h"

typedef struct oc_sweep {
  kc_t *kc;
  kc_pattern_t pattern;
  kc_layout_t in, out;
  uint32_t batch_rank;  // 0, or 2: a batch of 2 x 2
} oc_sweep_t;

#define CASE(name_) void oc_case_##name_(const oc_sweep_t *s);
#include "opcases.def"

// Every case, its tensors freed before the next.
void oc_run_all(const oc_sweep_t *sweep);
// Whether operation `row` of the plugin's table was compared, and whether it worked in place.
bool oc_was_checked(uint32_t row);
bool oc_was_aliased(uint32_t row);

// ---- for cases

void oc_check(const oc_sweep_t *s, const char *name, const hx_attr *attrs, uint32_t attr_count,
              kc_tensor_t *const *operands, uint32_t operand_count, kc_tensor_t *const *results, uint32_t result_count);
// A chain as one region, where the plugin has fused regions.
void oc_check_chain(const oc_sweep_t *s, const kc_op_t *ops, uint32_t count);
kc_shape_t oc_shape(const oc_sweep_t *s, kc_layout_t layout, uint32_t components, uint32_t limbs, const uint32_t *ids,
                    uint32_t domain);
// Of the sweep's layouts; an operand has the sweep's pattern.
kc_tensor_t *oc_operand(const oc_sweep_t *s, uint32_t components, uint32_t limbs, const uint32_t *ids, uint32_t domain);
kc_tensor_t *oc_result(const oc_sweep_t *s, uint32_t components, uint32_t limbs, const uint32_t *ids, uint32_t domain);
uint32_t oc_primes(const oc_sweep_t *s);

#endif
