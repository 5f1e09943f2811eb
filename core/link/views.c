// SPDX-License-Identifier: Apache-2.0
// Operations that select rows or components, or change state alone: slots over the operand's memory. Rows that do not
// lie side by side are copied together, since only keys may carry a list of rows.
#include <string.h>

#include "core/ckks/transition.h"
#include "core/link/executable.h"
#include "core/passes/passes.h"

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
static bool keep_rows(hx_draft_t *draft, const hx_primes_t *primes) {
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&draft->slot.primes, ids);
  hx_layout_t *layout = &draft->layout;
  uint16_t rows[HX_PRIMES_MAX];
  uint32_t limbs = 0;
  for (uint32_t l = 0; l < count; ++l) {
    if (hx_primes_has(primes, ids[l])) rows[limbs++] = layout->has_rows ? layout->rows[l] : (uint16_t)l;
  }
  if (limbs == 0 || limbs != hx_primes_count(primes)) return false;
  layout->limbs = limbs;
  layout->has_rows = false;
  for (uint32_t l = 1; l < limbs; ++l) {
    if (rows[l] != rows[0] + l) layout->has_rows = true;
  }
  memset(layout->rows, 0, sizeof layout->rows);
  if (layout->has_rows) {
    memcpy(layout->rows, rows, limbs * sizeof *rows);
  } else {
    draft->slot.offset += rows[0] * layout->limb_stride * hx_dtype_bytes(layout->dtype);
  }
  draft->slot.primes = *primes;
  return true;
}

// A dense copy of a view that a plugin could not be given as it lies.
static hx_status_t add_dense(hx_linker_t *linker, const hx_ir_op_t *op, const hx_draft_t *view) {
  uint32_t from;
  HX_TRY(hx_link_add_draft(linker, view, &from));
  const uint32_t site = hx_slot_site(linker->exe, from);
  hx_draft_t dense = *view;
  if (hx_link_layout(view->slot.type, linker->ring, &dense.layout) != HX_STATUS_OK) {
    hx_link_fail(linker, op, HX_CODE_LIMIT, "%s does not fit into memory", view->slot.name);
    return HX_STATUS_OK;
  }
  dense.slot.offset = 0;
  const uint64_t bytes = hx_layout_elements(&dense.layout) * hx_dtype_bytes(dense.layout.dtype);
  HX_TRY(hx_link_add_root(linker, (hx_root_t){.kind = HX_ROOT_SLAB, .site = site, .bytes = bytes, .is_whole = true},
                          &dense.slot.root));
  uint32_t *to = &linker->slot_of[op->results[0]->id];
  HX_TRY(hx_link_add_draft(linker, &dense, to));
  return hx_link_add_copy(linker, op, from, *to);
}

// Items of one batch axis; without a count one item, and the axis vanishes.
static void keep_items(hx_draft_t *draft, const hx_ir_op_t *op) {
  int64_t axis = 0, start = 0, items = 0;
  (void)hx_attrs_get_i64(op->attrs, "axis", &axis);  // required and in range: inference saw them
  (void)hx_attrs_get_i64(op->attrs, "start", &start);
  hx_layout_t *layout = &draft->layout;
  draft->slot.offset += (uint64_t)start * layout->batch_strides[axis] * hx_dtype_bytes(layout->dtype);
  if (hx_attrs_get_i64(op->attrs, "items", &items)) {
    layout->batch_shape[axis] = (uint64_t)items;
    return;
  }
  layout->batch_rank -= 1;
  for (uint32_t a = (uint32_t)axis; a < layout->batch_rank; ++a) {
    layout->batch_shape[a] = layout->batch_shape[a + 1];
    layout->batch_strides[a] = layout->batch_strides[a + 1];
  }
}

static void keep_components(hx_draft_t *draft, const hx_ir_op_t *op) {
  int64_t first = 0;
  (void)hx_attrs_get_i64(op->attrs, "first", &first);  // required and in range: inference saw it
  draft->slot.offset += (uint64_t)first * draft->layout.component_stride * hx_dtype_bytes(draft->layout.dtype);
  draft->layout.components = op->results[0]->type->components;
}

// The operand as it lies; false where it has no memory (a fault is counted already).
static hx_status_t operand_draft(hx_linker_t *linker, const hx_ir_op_t *op, hx_draft_t *draft, bool *out_found) {
  const hx_ir_value_t *operand = op->operands[0];
  if (operand->type->kind == HX_TYPE_KEY) {
    int64_t digit = 0;
    (void)hx_attrs_get_i64(op->attrs, "digit", &digit);
    return hx_link_key_digit(linker, op, (uint32_t)digit, draft, out_found);
  }
  const uint32_t from = linker->slot_of[operand->id];
  *out_found = from != HX_NONE;
  if (*out_found) *draft = hx_link_draft_of(linker, from);
  return HX_STATUS_OK;
}

static bool is_key_memory(const hx_linker_t *linker, const hx_slot_t *slot) {
  const hx_root_t *root = &linker->exe->roots[slot->root];
  return root->kind == HX_ROOT_MATERIAL && linker->exe->materials[root->index].is_key;
}

// A value that changes sites gets a place on the other one; where it is there already, what follows reads it as it is.
static hx_status_t add_transfer(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t from, bool *out_moves) {
  const uint32_t site = hx_link_site(linker, op);
  hx_executable_t *exe = linker->exe;
  hx_str_t space = {0};
  (void)hx_attrs_get_text(op->attrs, "space", &space);
  if (hx_str_equal(space, hx_str("host")) && !hx_device_imports(exe->sites[site].device))
    hx_link_fail(linker, op, HX_CODE_DEVICE_MIX,
                 "%s has memory of its own, which the host does not address: leave space = "
                 "\"device\", or transfer to a device that works on host memory",
                 exe->sites[site].device->name);
  *out_moves = hx_slot_site(exe, from) != site;
  if (!*out_moves) return HX_STATUS_OK;
  uint32_t to;
  hx_step_t *step;
  HX_TRY(hx_link_add_result_slot(linker, op->results[0]));
  to = linker->slot_of[op->results[0]->id];
  HX_TRY(hx_link_add_step(linker, HX_STEP_TRANSFER, op, 1, 1, &step));
  step->operands[0] = from;
  step->results[0] = to;
  return HX_STATUS_OK;
}

hx_status_t hx_link_view(hx_linker_t *linker, const hx_ir_op_t *op) {
  const hx_ir_value_t *result = op->results[0];
  hx_draft_t draft;
  bool found = false;
  HX_TRY(operand_draft(linker, op, &draft, &found));
  if (!found) return HX_STATUS_OK;
  if (op->info->id == HX_OP_MEMORY_TRANSFER) {
    bool moves = false;
    HX_TRY(add_transfer(linker, op, linker->slot_of[op->operands[0]->id], &moves));
    if (moves) return HX_STATUS_OK;
  } else if (hx_attrs_find(op->attrs, HX_DEVICE_ATTR) != NULL && op->operands[0]->type->kind != HX_TYPE_KEY &&
             !hx_link_check_site(linker, op, linker->slot_of[op->operands[0]->id], hx_link_site(linker, op))) {
    return HX_STATUS_OK;
  }
  draft.slot.type = result->type;
  draft.slot.name = hx_link_value_name(linker, result);
  if (op->info->id == HX_OP_RNS_SELECT_COMPONENTS) keep_components(&draft, op);
  if (op->info->id == HX_OP_RNS_SELECT_BATCH) keep_items(&draft, op);
  hx_layout_t wanted;
  if (!keep_rows(&draft, &result->type->primes) ||
      hx_link_layout(result->type, linker->ring, &wanted) != HX_STATUS_OK ||
      !hx_layout_same_shape(&draft.layout, &wanted)) {
    hx_link_fail(linker, op, HX_CODE_SHAPE, "result %s is no part of its operand", draft.slot.name);
    return HX_STATUS_OK;
  }
  const bool as_it_lies = !draft.layout.has_rows || is_key_memory(linker, &draft.slot);
  if (!as_it_lies || draft.slot.offset % linker->exe->alignment != 0) return add_dense(linker, op, &draft);
  return hx_link_add_draft(linker, &draft, &linker->slot_of[result->id]);
}
