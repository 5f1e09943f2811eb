// SPDX-License-Identifier: Apache-2.0
#include "core/passes/prepared.h"

#include "core/ops/parts.h"

bool hx_material_is_prepared(const hx_ir_op_t *op, hx_str_t *out_purpose) {
  return op->info->id == HX_OP_MATERIAL_REF && hx_attrs_get_text(op->attrs, HX_PREPARE_ATTR, out_purpose);
}

void hx_material_bound_type(const hx_ir_op_t *op, hx_type_t *out) {
  static const hx_part_t kept[] = {HX_PART_BATCH, HX_PART_COMPONENTS, HX_PART_SCALE, HX_PART_SLOTS};
  const hx_type_t *type = op->results[0]->type;
  hx_str_t purpose;
  if (!hx_material_is_prepared(op, &purpose)) {
    hx_type_copy(out, type);
    return;
  }
  hx_type_init(out, HX_TYPE_PLAINTEXT);
  for (size_t i = 0; i < HX_COUNT_OF(kept); ++i) hx_part_copy(kept[i], out, type);
  hx_type_set_word(out, HX_PART_BASIS, HX_BASIS_Q);
}
