// SPDX-License-Identifier: Apache-2.0
// Operations with a switching key: keyswitch(x) = mod_down_nearest(sum_j mod_up_j(x) (.) key_j), two components.
#include "reference/routines.h"
#include "reference/switch.h"

// rns.key_product.

int32_t hx_ref_check_key_product(hx_ref_call *call) {
  const hx_ref_place d = hx_ref_operand(call, 0), key = hx_ref_operand(call, 1);
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_shape_of(call, d, &shape));
  shape.components = 1;
  shape.domain = HX_NTT;
  shape.repr = HX_STANDARD;
  HX_REF_TRY(hx_ref_check_residues(call, d, &shape));
  HX_REF_TRY(hx_ref_check_key(call, key, 1, shape.id_count, shape.ids));
  int64_t digit = 0;
  HX_REF_TRY(hx_ref_attr_i64(call, "digit", 0, (int64_t)key.desc->digits - 1, &digit));
  call->number = (uint32_t)digit;
  shape.components = 2;
  if (call->op->operand_count == 3) HX_REF_TRY(hx_ref_check_residues(call, hx_ref_operand(call, 2), &shape));
  HX_REF_TRY(hx_ref_check_residues(call, hx_ref_result(call, 0), &shape));
  call->scratch_rows = 3;
  return hx_ref_check_batch(call);
}

void hx_ref_run_key_product(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place d = hx_ref_operand(call, 0), key = hx_ref_operand(call, 1), out = hx_ref_result(call, 0);
  uint64_t *rows[3];
  hx_ref_scratch(call, 0, 3, rows);
  for (uint32_t l = 0; l < d.desc->limbs; ++l) {
    const uint32_t id = d.desc->prime_ids[l];
    hx_ref_load(call, d, item, 0, l, rows[0]);
    for (uint32_t c = 0; c < 2; ++c) {
      hx_ref_load_key(call, key, call->number, c, id, rows[1]);
      if (call->op->operand_count == 3) {
        hx_ref_load(call, hx_ref_operand(call, 2), item, c, l, rows[2]);
        hx_ref_row_mul_add(call->ring, id, rows[2], rows[0], rows[1], rows[2]);
      } else {
        hx_ref_row_mul(call->ring, id, rows[0], rows[1], rows[2]);
      }
      hx_ref_store(call, out, item, c, l, rows[2]);
    }
  }
}

// ckks.relinearize: (c0, c1) + keyswitch(c2).

static int32_t check_with_key(hx_ref_call *call, uint32_t components) {
  hx_ref_shape shape;
  HX_REF_TRY(hx_ref_check_switched(call, components, &shape));
  call->scratch_rows = hx_ref_workspace_rows(call->ring, shape.id_count, 0);
  return hx_ref_check_switch_key(call, 1, shape.id_count);
}

int32_t hx_ref_check_relinearize(hx_ref_call *call) { return check_with_key(call, 3); }

void hx_ref_run_relinearize(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  hx_ref_workspace w;
  hx_ref_workspace_init(call, a.desc->limbs, 0, &w);
  hx_ref_switch_component(call, a, item, 2, hx_ref_operand(call, 1), &w);
  hx_ref_add_component(call, a, item, 0, &w);
  hx_ref_add_component(call, a, item, 1, &w);
  for (uint32_t c = 0; c < 2; ++c) hx_ref_store_coefficients(call, out, item, c, w.acc[c]);
}

// ckks.key_switch: (c0, 0) + keyswitch(c1).

int32_t hx_ref_check_key_switch(hx_ref_call *call) { return check_with_key(call, 2); }

void hx_ref_run_key_switch(const hx_ref_call *call, uint64_t item) {
  const hx_ref_place a = hx_ref_operand(call, 0), out = hx_ref_result(call, 0);
  hx_ref_workspace w;
  hx_ref_workspace_init(call, a.desc->limbs, 0, &w);
  hx_ref_switch_component(call, a, item, 1, hx_ref_operand(call, 1), &w);
  hx_ref_add_component(call, a, item, 0, &w);
  for (uint32_t c = 0; c < 2; ++c) hx_ref_store_coefficients(call, out, item, c, w.acc[c]);
}
