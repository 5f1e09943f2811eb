// SPDX-License-Identifier: Apache-2.0
#include "opcheck.h"

#define ROWS_MAX 128u

static bool checked[ROWS_MAX], aliased[ROWS_MAX];

// The domains of all residues of a call, as bits.
static uint32_t domains_of(kc_tensor_t *const *tensors, uint32_t count) {
  uint32_t domains = 0;
  for (uint32_t i = 0; i < count; i++) {
    domains |= tensors[i]->desc.domain != 0 ? 1u << tensors[i]->desc.domain : 0;
  }
  return domains;
}

void oc_check(const oc_sweep_t *s, const char *name, const hx_attr *attrs, uint32_t attr_count,
              kc_tensor_t *const *operands, uint32_t operand_count, kc_tensor_t *const *results,
              uint32_t result_count) {
  const kc_op_t op = {name, attrs, attr_count, operands, operand_count, results, result_count};
  const kc_row_t *row = kc_row_of(name);
  const uint32_t domains = domains_of(operands, operand_count) | domains_of(results, result_count);
  if (row == NULL || (domains & ~row->domains) != 0) {
    return;
  }
  assert_true(row->index < ROWS_MAX);
  checked[row->index] = true;
  aliased[row->index] |= kc_check(s->kc, &op);
}

void oc_check_chain(const oc_sweep_t *s, const kc_op_t *ops, uint32_t count) {
  const kc_row_t *row = kc_row_of("fusion.region");
  if (row != NULL) {
    checked[row->index] = true;
    kc_check_chain(s->kc, ops, count);
  }
}

bool oc_was_checked(uint32_t row) { return checked[row]; }
bool oc_was_aliased(uint32_t row) { return aliased[row]; }

kc_shape_t oc_shape(const oc_sweep_t *s, kc_layout_t layout, uint32_t components, uint32_t limbs, const uint32_t *ids,
                    uint32_t domain) {
  return (kc_shape_t){.components = components,
                      .limbs = limbs,
                      .ids = ids,
                      .domain = domain,
                      .repr = HX_STANDARD,
                      .batch_rank = s->batch_rank,
                      .batch = {2, 2},
                      .layout = layout};
}

kc_tensor_t *oc_operand(const oc_sweep_t *s, uint32_t components, uint32_t limbs, const uint32_t *ids,
                        uint32_t domain) {
  const kc_shape_t shape = oc_shape(s, s->in, components, limbs, ids, domain);
  return kc_tensor(s->kc, &shape, s->pattern);
}

kc_tensor_t *oc_result(const oc_sweep_t *s, uint32_t components, uint32_t limbs, const uint32_t *ids, uint32_t domain) {
  const kc_shape_t shape = oc_shape(s, s->out, components, limbs, ids, domain);
  return kc_tensor(s->kc, &shape, KC_RANDOM);
}

uint32_t oc_primes(const oc_sweep_t *s) { return s->kc->ring.q_count + s->kc->ring.p_count; }

void oc_run_all(const oc_sweep_t *sweep) {
  static void (*const cases[])(const oc_sweep_t *) = {
#define CASE(name_) oc_case_##name_,
#include "opcases.def"
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cases[i](sweep);
    kc_clear(sweep->kc);
  }
}
