// SPDX-License-Identifier: Apache-2.0
// What the cases of operations share.
#include <string.h>

#include "sdk/conformance/suite.h"

shape_t sweep_shape(const sweep_t *sweep, arrangement_t arrangement, uint32_t components, uint32_t limbs,
                    const uint32_t *ids, uint32_t domain) {
  return (shape_t){.components = components,
                   .limbs = limbs,
                   .ids = ids,
                   .domain = domain,
                   .repr = HX_STANDARD,
                   .batch_rank = sweep->batch_rank,
                   .batch = {2, 3},
                   .arrangement = arrangement};
}

tensor_t *sweep_operand(sweep_t *sweep, uint32_t components, uint32_t limbs, const uint32_t *ids, uint32_t domain) {
  const shape_t shape = sweep_shape(sweep, sweep->in, components, limbs, ids, domain);
  return suite_tensor(sweep->suite, sweep->ring, &shape, sweep->pattern);
}

tensor_t *sweep_result(sweep_t *sweep, uint32_t components, uint32_t limbs, const uint32_t *ids, uint32_t domain) {
  const shape_t shape = sweep_shape(sweep, sweep->out, components, limbs, ids, domain);
  return suite_tensor(sweep->suite, sweep->ring, &shape, FILL_RANDOM);
}

void sweep_check(sweep_t *sweep, const hx_attr *attrs, uint32_t attr_count, tensor_t *const *operands,
                 uint32_t operand_count, tensor_t *const *results, uint32_t result_count) {
  const call_t call = {.impl = sweep->impl,
                       .row = sweep->row,
                       .ring = sweep->ring,
                       .op = sweep->row->type,
                       .attrs = attrs,
                       .attr_count = attr_count,
                       .operands = operands,
                       .operand_count = operand_count,
                       .results = results,
                       .result_count = result_count,
                       .growth = sweep->growth};
  if (sweep->first_only && sweep->visited) return;
  sweep->visited = true;
  sweep->aliased |= sweep->visit(sweep->suite, &call);
}

bool sweep_has_domain(const sweep_t *sweep, uint32_t domain) {
  return sweep->row->domains == 0 || (sweep->row->domains >> domain & 1) != 0;
}

const op_case_t *op_case_find(const char *op) {
  const struct {
    const op_case_t *cases;
    size_t count;
  } tables[] = {{cases_rns, cases_rns_count}, {cases_basis, cases_basis_count}, {cases_ckks, cases_ckks_count}};
  for (size_t t = 0; t < HX_COUNT_OF(tables); ++t) {
    for (size_t i = 0; i < tables[t].count; ++i) {
      if (strcmp(tables[t].cases[i].op, op) == 0) return &tables[t].cases[i];
    }
  }
  return NULL;
}
