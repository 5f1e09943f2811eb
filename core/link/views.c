// SPDX-License-Identifier: Apache-2.0
// Operations that select rows or components, or change state alone: slots over the operand's memory. Rows that do not
// lie side by side are copied together, since only keys may carry a list of rows.
#include <string.h>

#include "core/ckks/transition.h"
#include "core/link/executable.h"

bool hx_link_is_view(const hx_ir_op_t *op) {
  if ((op->info->flags & HX_OP_FLAG_VIEW) != 0) return true;
  if (op->info->id != HX_OP_CKKS_ROTATE) return false;
  // A rotation by 0 is a copy; where the domain changes too an implementation is asked.
  int64_t step = 1;
  const hx_type_t *from = op->operands[0]->type, *to = op->results[0]->type;
  return hx_attrs_get_i64(op->attrs, "step", &step) && (from->known & HX_KNOWN_SLOTS) != 0 &&
         hx_rotation_reduce(step, from->slots) == 0 && (from->known & to->known & HX_KNOWN_DOMAIN) != 0 &&
         from->domain == to->domain;
}

// Narrows a slot to the rows of `primes`; false where one of them is not there.
static bool keep_rows(hx_slot_t *slot, const hx_primes_t *primes) {
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&slot->primes, ids);
  uint16_t rows[HX_PRIMES_MAX];
  uint32_t limbs = 0;
  for (uint32_t l = 0; l < count; ++l) {
    if (hx_primes_has(primes, ids[l])) rows[limbs++] = slot->layout.has_rows ? slot->layout.rows[l] : (uint16_t)l;
  }
  if (limbs == 0 || limbs != hx_primes_count(primes)) return false;
  slot->layout.limbs = limbs;
  slot->layout.has_rows = false;
  for (uint32_t l = 1; l < limbs; ++l) {
    if (rows[l] != rows[0] + l) slot->layout.has_rows = true;
  }
  memset(slot->layout.rows, 0, sizeof slot->layout.rows);
  if (slot->layout.has_rows) {
    memcpy(slot->layout.rows, rows, limbs * sizeof *rows);
  } else {
    slot->offset += rows[0] * slot->layout.limb_stride * hx_dtype_bytes(slot->layout.dtype);
  }
  slot->primes = *primes;
  return true;
}

// A dense copy of a view that a plugin could not be given as it lies.
static hx_status_t add_dense(hx_linker_t *linker, const hx_ir_op_t *op, const hx_slot_t *view) {
  uint32_t from;
  HX_TRY(hx_link_add_slot(linker, view, &from));
  hx_slot_t dense = *view;
  if (hx_link_layout(view->type, linker->ring, &dense.layout) != HX_STATUS_OK) {
    hx_link_fail(linker, op, HX_CODE_LIMIT, "result %s does not fit into memory", view->name);
    return HX_STATUS_OK;
  }
  dense.offset = 0;
  const uint64_t bytes = hx_layout_elements(&dense.layout) * hx_dtype_bytes(dense.layout.dtype);
  HX_TRY(hx_link_add_root(linker, (hx_root_t){.kind = HX_ROOT_SLAB, .bytes = bytes, .is_whole = true}, &dense.root));
  HX_TRY(hx_link_add_slot(linker, &dense, &linker->slot_of[op->results[0]->id]));
  return hx_link_add_copy(linker, op, from, linker->slot_of[op->results[0]->id]);
}

// Attributes of views are required and in range: inference saw them.
static uint64_t integer_of(const hx_ir_op_t *op, const char *name) {
  int64_t value = 0;
  (void)hx_attrs_get_i64(op->attrs, name, &value);
  return (uint64_t)value;
}

// Narrows a slot to one digit of a key.
static void keep_digit(hx_slot_t *slot, uint64_t digit) {
  slot->offset += digit * slot->layout.digit_stride * hx_dtype_bytes(slot->layout.dtype);
  slot->layout.digits = 0;
  slot->layout.digit_stride = 0;
}

// Narrows a slot to some items of a batch axis; without attribute items the axis vanishes.
static void keep_items(hx_slot_t *slot, const hx_ir_op_t *op) {
  hx_layout_t *layout = &slot->layout;
  const uint64_t axis = integer_of(op, "axis");
  slot->offset += integer_of(op, "start") * layout->batch_strides[axis] * hx_dtype_bytes(layout->dtype);
  if (hx_attrs_find(op->attrs, "items") != NULL) {
    layout->batch_shape[axis] = integer_of(op, "items");
    return;
  }
  layout->batch_rank -= 1;
  for (uint64_t i = axis; i < layout->batch_rank; ++i) {
    layout->batch_shape[i] = layout->batch_shape[i + 1];
    layout->batch_strides[i] = layout->batch_strides[i + 1];
  }
  layout->batch_shape[layout->batch_rank] = layout->batch_strides[layout->batch_rank] = 0;
}

hx_status_t hx_link_view(hx_linker_t *linker, const hx_ir_op_t *op) {
  uint32_t from = linker->slot_of[op->operands[0]->id];
  if (op->info->id == HX_OP_RNS_KEY_SLICE) HX_TRY(hx_link_key(linker, op, op->operands[0], &from));
  if (from == HX_NONE) return HX_STATUS_OK;
  const hx_ir_value_t *result = op->results[0];
  hx_slot_t slot = linker->exe->slots[from];
  slot.type = result->type;
  slot.name = hx_link_value_name(linker, result);
  if (op->info->id == HX_OP_RNS_SELECT_COMPONENTS) {
    slot.offset += integer_of(op, "first") * slot.layout.component_stride * hx_dtype_bytes(slot.layout.dtype);
    slot.layout.components = result->type->components;
  }
  if (op->info->id == HX_OP_RNS_KEY_SLICE) keep_digit(&slot, integer_of(op, "digit"));
  if (op->info->id == HX_OP_RNS_SELECT_BATCH) keep_items(&slot, op);
  if (!keep_rows(&slot, &result->type->primes)) {
    hx_link_fail(linker, op, HX_CODE_PRIMES, "result %s has rows that its operand lacks", slot.name);
    return HX_STATUS_OK;
  }
  if (slot.layout.has_rows || slot.offset % linker->exe->device->alignment != 0) return add_dense(linker, op, &slot);
  return hx_link_add_slot(linker, &slot, &linker->slot_of[result->id]);
}
