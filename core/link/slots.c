// SPDX-License-Identifier: Apache-2.0
// Memory of every value: inputs, materials, results, views. Results that are returned or packed are placed where they
// are wanted before any slot is made, so that most need no copy.
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"

#define ELEMENTS_MAX ((uint64_t)1 << 45)  // of one value: sums of sizes stay far below 2^64

hx_status_t hx_link_layout(const hx_type_t *type, const hx_ring *ring, hx_layout_t *out) {
  hx_type_layout(type, ring, out);
  const uint64_t elements = hx_layout_elements(out);
  return elements == 0 || elements > ELEMENTS_MAX ? HX_STATUS_INVALID : HX_STATUS_OK;
}

hx_status_t hx_link_add_root(hx_linker_t *linker, hx_root_t root, uint32_t *out) {
  hx_executable_t *exe = linker->exe;
  HX_TRY(hx_grow(&exe->roots, &exe->root_capacity, exe->root_count + 1, sizeof *exe->roots));
  exe->roots[exe->root_count] = root;
  *out = (uint32_t)exe->root_count++;
  return HX_STATUS_OK;
}

hx_status_t hx_link_add_slot(hx_linker_t *linker, const hx_slot_t *slot, uint32_t *out) {
  hx_executable_t *exe = linker->exe;
  HX_TRY(hx_grow(&exe->slots, &exe->slot_capacity, exe->slot_count + 1, sizeof *exe->slots));
  exe->slots[exe->slot_count] = *slot;
  *out = (uint32_t)exe->slot_count++;
  return HX_STATUS_OK;
}

const hx_layout_t *hx_link_keep_layout(hx_linker_t *linker, const hx_layout_t *layout) {
  hx_executable_t *exe = linker->exe;
  for (size_t i = exe->layout_count; i-- > 0;) {
    if (hx_layout_equal(exe->layouts[i], layout)) return exe->layouts[i];
  }
  if (hx_grow(&exe->layouts, &exe->layout_capacity, exe->layout_count + 1, sizeof *exe->layouts) != HX_STATUS_OK) {
    return NULL;
  }
  hx_layout_t *kept = hx_arena_alloc(&exe->arena, sizeof *kept);
  if (kept == NULL) return NULL;
  *kept = *layout;
  exe->layouts[exe->layout_count++] = kept;
  return kept;
}

hx_status_t hx_link_add_draft(hx_linker_t *linker, const hx_draft_t *draft, uint32_t *out) {
  hx_slot_t slot = draft->slot;
  slot.layout = hx_link_keep_layout(linker, &draft->layout);
  return slot.layout == NULL ? HX_STATUS_OUT_OF_MEMORY : hx_link_add_slot(linker, &slot, out);
}

hx_draft_t hx_link_draft_of(const hx_linker_t *linker, uint32_t slot) {
  const hx_slot_t *from = &linker->exe->slots[slot];
  return (hx_draft_t){.slot = *from, .layout = *from->layout};
}

hx_status_t hx_link_add_step(hx_linker_t *linker, hx_step_kind_t kind, const hx_ir_op_t *op, uint32_t operand_count,
                             uint32_t result_count, hx_step_t **out) {
  hx_step_list_t *steps = &linker->exe->steps;
  HX_TRY(hx_grow(&steps->items, &steps->capacity, steps->count + 1, sizeof *steps->items));
  hx_arena_t *arena = &linker->exe->arena;
  hx_step_t *step = &steps->items[steps->count];
  *step = (hx_step_t){
      .kind = kind, .loop = linker->loop, .op = op, .operand_count = operand_count, .result_count = result_count};
  if (kind == HX_STEP_CALL) {
    step->work = hx_op_work(op);
    step->site = hx_link_site(linker, op);
  }
  step->operands = hx_arena_alloc(arena, operand_count * sizeof *step->operands);
  step->results = hx_arena_alloc(arena, result_count * sizeof *step->results);
  step->may_alias = hx_arena_alloc(arena, result_count * sizeof *step->may_alias);
  step->in_place = hx_arena_alloc(arena, result_count * sizeof *step->in_place);
  if (step->operands == NULL || step->results == NULL || step->may_alias == NULL || step->in_place == NULL) {
    return HX_STATUS_OUT_OF_MEMORY;
  }
  for (uint32_t i = 0; i < result_count; ++i) step->may_alias[i] = step->in_place[i] = -1;
  steps->count += 1;
  linker->exe->span_count += operand_count + result_count;
  *out = step;
  return HX_STATUS_OK;
}

hx_status_t hx_link_add_copy(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t from, uint32_t to) {
  hx_step_t *step;
  const uint32_t site = hx_slot_site(linker->exe, to);
  if (!hx_link_check_site(linker, op, from, site)) return HX_STATUS_OK;
  HX_TRY(hx_link_add_step(linker, HX_STEP_COPY, op, 1, 1, &step));
  step->site = site;
  step->operands[0] = from;
  step->results[0] = to;
  return HX_STATUS_OK;
}

const char *hx_link_value_name(hx_linker_t *linker, const hx_ir_value_t *value) {
  char text[HX_NAME_MAX];
  if (value->name.size > 0) {
    snprintf(text, sizeof text, "%%%.*s", (int)(value->name.size < 60 ? value->name.size : 60), value->name.data);
  } else {
    snprintf(text, sizeof text, "%%%u", value->id);
  }
  const char *name = hx_arena_str(&linker->exe->arena, hx_str(text)).data;
  return name == NULL ? "" : name;
}

bool hx_link_has_memory(const hx_type_t *type) {
  return type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT || type->kind == HX_TYPE_TENSOR ||
         type->kind == HX_TYPE_SEED;
}

static bool is_dispatched(const hx_ir_op_t *op) {
  const hx_op_tier_t tier = op->info->tier;
  return (tier == HX_TIER_PRIMITIVE || tier == HX_TIER_DERIVED || tier == HX_TIER_WHOLE) && !hx_link_is_view(op);
}

// ------------------------------------------------------------------ placement of results

// A dense layout of a value, or a fault.
static hx_status_t dense_layout(hx_linker_t *linker, const hx_ir_value_t *value, const hx_layout_t **out) {
  hx_layout_t layout;
  if (hx_link_layout(value->type, linker->ring, &layout) != HX_STATUS_OK) {
    return hx_link_fail(linker, value->op, HX_CODE_LIMIT, "%s does not fit into memory",
                        hx_link_value_name(linker, value));
  }
  *out = hx_link_keep_layout(linker, &layout);
  return *out == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

// A dense root of its own for a value, where it has no place yet.
static hx_status_t ensure_place(hx_linker_t *linker, const hx_ir_value_t *value, bool is_whole) {
  hx_placement_t *place = &linker->placements[value->id];
  if (place->is_set) return HX_STATUS_OK;
  HX_TRY(dense_layout(linker, value, &place->layout));
  const uint64_t bytes = hx_layout_elements(place->layout) * hx_dtype_bytes(place->layout->dtype);
  const hx_root_t root = {
      .kind = HX_ROOT_SLAB, .site = hx_link_site_of(linker, value), .bytes = bytes, .is_whole = is_whole};
  HX_TRY(hx_link_add_root(linker, root, &place->root));
  place->is_set = true;
  return HX_STATUS_OK;
}

// A value whose producer stands in `block` and can be told where to write.
static bool is_placeable(const hx_linker_t *linker, const hx_ir_value_t *value, const hx_ir_block_t *block) {
  if (value->op == NULL || value->op->block != block || linker->placements[value->id].is_set) return false;
  if (!hx_type_is_complete(value->type) || !hx_link_has_memory(value->type)) return false;
  const hx_op_id_t id = value->op->info->id;
  return id == HX_OP_RNS_CONCAT_LIMBS || id == HX_OP_RNS_PACK_COMPONENTS || id == HX_OP_MEMORY_TRANSFER ||
         is_dispatched(value->op);
}

// Place of a part inside a packed value. has_rows where its rows do not lie side by side.
static hx_draft_t place_of_part(const hx_ir_op_t *op, size_t index, const hx_placement_t *whole) {
  hx_draft_t part = {.slot = {.root = whole->root, .offset = whole->offset}, .layout = *whole->layout};
  const uint32_t size = hx_dtype_bytes(whole->layout->dtype);
  const hx_type_t *type = op->operands[index]->type;
  if (op->info->id == HX_OP_RNS_PACK_COMPONENTS) {
    uint32_t first = 0;
    for (size_t i = 0; i < index; ++i) first += op->operands[i]->type->components;
    part.slot.offset += first * whole->layout->component_stride * size;
    part.layout.components = type->components;
    return part;
  }
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&op->results[0]->type->primes, ids);
  uint16_t rows[HX_PRIMES_MAX];
  uint32_t limbs = 0;
  for (uint32_t row = 0; row < count; ++row) {
    if (hx_primes_has(&type->primes, ids[row])) rows[limbs++] = (uint16_t)row;
  }
  part.layout.limbs = limbs;
  part.layout.has_rows = limbs > 0 && rows[limbs - 1] - rows[0] != (int)limbs - 1;
  if (part.layout.has_rows) {
    memcpy(part.layout.rows, rows, limbs * sizeof *rows);
  } else if (limbs > 0) {
    part.slot.offset += rows[0] * whole->layout->limb_stride * size;
  }
  return part;
}

static bool same_batch(const hx_type_t *type, const hx_layout_t *layout) {
  return type->batch_rank == layout->batch_rank &&
         memcmp(type->batch_shape, layout->batch_shape, type->batch_rank * sizeof type->batch_shape[0]) == 0;
}

// Tells the producer of a part to write into the whole, where it can.
static hx_status_t place_part(hx_linker_t *linker, const hx_ir_op_t *op, size_t index, const hx_placement_t *whole) {
  const hx_ir_value_t *operand = op->operands[index];
  if (!is_placeable(linker, operand, op->block) || !same_batch(operand->type, whole->layout)) return HX_STATUS_OK;
  if (hx_link_site_of(linker, operand) != linker->exe->roots[whole->root].site) return HX_STATUS_OK;
  const hx_draft_t part = place_of_part(op, index, whole);
  if (part.layout.has_rows || part.slot.offset % linker->exe->alignment != 0) return HX_STATUS_OK;
  const hx_layout_t *layout = hx_link_keep_layout(linker, &part.layout);
  if (layout == NULL) return HX_STATUS_OUT_OF_MEMORY;
  linker->placements[operand->id] =
      (hx_placement_t){.is_set = true, .root = part.slot.root, .offset = part.slot.offset, .layout = layout};
  return HX_STATUS_OK;
}

static hx_status_t place_parts(hx_linker_t *linker, const hx_ir_op_t *op) {
  const hx_ir_value_t *result = op->results[0];
  if (!hx_type_is_complete(result->type)) return HX_STATUS_OK;
  const hx_status_t status = ensure_place(linker, result, false);
  if (status != HX_STATUS_OK) return status == HX_STATUS_OUT_OF_MEMORY ? status : HX_STATUS_OK;
  for (size_t i = 0; i < op->operand_count; ++i) HX_TRY(place_part(linker, op, i, &linker->placements[result->id]));
  return HX_STATUS_OK;
}

static hx_status_t place_output(hx_linker_t *linker, const hx_ir_value_t *value, uint32_t index) {
  uint32_t root;
  HX_TRY(hx_link_add_root(linker, (hx_root_t){.kind = HX_ROOT_OUTPUT, .index = index}, &root));
  hx_placement_t *place = &linker->placements[value->id];
  hx_layout_t layout;
  if (!is_placeable(linker, value, linker->block) || hx_link_site_of(linker, value) != 0 ||
      hx_link_layout(value->type, linker->ring, &layout) != HX_STATUS_OK)
    return HX_STATUS_OK;
  place->layout = hx_link_keep_layout(linker, &layout);
  if (place->layout == NULL) return HX_STATUS_OUT_OF_MEMORY;
  place->root = root;
  place->is_set = true;
  return HX_STATUS_OK;
}

// Backwards, so that a packed value knows its own place before its parts ask.
static hx_status_t place_in_block(hx_linker_t *linker, const hx_ir_block_t *block) {
  for (const hx_ir_op_t *op = block->last; op != NULL; op = op->previous) {
    for (size_t i = 0; i < op->region_count; ++i) HX_TRY(place_in_block(linker, op->regions[i]->block));
    if (op->info->id == HX_OP_RNS_CONCAT_LIMBS || op->info->id == HX_OP_RNS_PACK_COMPONENTS) {
      HX_TRY(place_parts(linker, op));
    }
  }
  return HX_STATUS_OK;
}

hx_status_t hx_link_place_results(hx_linker_t *linker) {
  const hx_ir_op_t *last = linker->block->last;
  for (uint32_t i = 0; i < linker->exe->output_count; ++i) HX_TRY(place_output(linker, last->operands[i], i));
  return place_in_block(linker, linker->block);
}

// ------------------------------------------------------------------ slots in order

hx_status_t hx_link_add_result_slot(hx_linker_t *linker, const hx_ir_value_t *value) {
  HX_TRY(ensure_place(linker, value, true));
  const hx_placement_t *place = &linker->placements[value->id];
  const hx_slot_t slot = {.root = place->root,
                          .offset = place->offset,
                          .layout = place->layout,
                          .type = value->type,
                          .primes = value->type->primes,
                          .secret = linker->is_secret[value->id],
                          .name = hx_link_value_name(linker, value)};
  return hx_link_add_slot(linker, &slot, &linker->slot_of[value->id]);
}

hx_status_t hx_link_add_place(hx_linker_t *linker, const hx_ir_value_t *value, uint32_t *out_slot) {
  hx_slot_t slot = {.type = value->type,
                    .primes = value->type->primes,
                    .secret = linker->is_secret[value->id],
                    .name = hx_link_value_name(linker, value)};
  HX_TRY(dense_layout(linker, value, &slot.layout));
  const uint64_t bytes = hx_layout_elements(slot.layout) * hx_dtype_bytes(slot.layout->dtype);
  const uint32_t there = linker->slot_of[value->id];
  const uint32_t site = there == HX_NONE ? hx_link_site_of(linker, value) : hx_slot_site(linker->exe, there);
  HX_TRY(hx_link_add_root(linker, (hx_root_t){.kind = HX_ROOT_SLAB, .site = site, .bytes = bytes, .is_whole = true},
                          &slot.root));
  return hx_link_add_slot(linker, &slot, out_slot);
}

const char *hx_link_unknown_part(const hx_type_t *type) {
  static const struct {
    uint32_t bit;
    const char *name;
  } parts[] = {{HX_KNOWN_BATCH, "batch"},   {HX_KNOWN_COMPONENTS, "components"},
               {HX_KNOWN_DEPTH, "depth"},   {HX_KNOWN_SCALE, "scale"},
               {HX_KNOWN_PRIMES, "primes"}, {HX_KNOWN_BASIS, "basis"},
               {HX_KNOWN_DOMAIN, "domain"}, {HX_KNOWN_REPR, "repr"},
               {HX_KNOWN_SLOTS, "slots"},   {HX_KNOWN_DTYPE, "dtype"}};
  const uint32_t wanted = type->kind == HX_TYPE_TENSOR ? HX_KNOWN_TENSOR : HX_KNOWN_CIPHERTEXT;
  for (size_t i = 0; i < HX_COUNT_OF(parts); ++i) {
    if ((wanted & parts[i].bit) != 0 && (type->known & parts[i].bit) == 0) return parts[i].name;
  }
  return "type";
}

// Slots of all operands into the step; false where one has none (a fault is counted already).
static hx_status_t find_operands(hx_linker_t *linker, const hx_ir_op_t *op, hx_step_t *step, bool *out_found) {
  *out_found = true;
  for (uint32_t i = 0; i < step->operand_count; ++i) {
    const hx_ir_value_t *value = op->operands[i];
    if (value->type->kind == HX_TYPE_KEY) {
      HX_TRY(hx_link_key(linker, op, value, &step->operands[i]));
    } else {
      step->operands[i] = linker->slot_of[value->id];
    }
    if (step->operands[i] == HX_NONE || !hx_link_check_site(linker, op, step->operands[i], step->site))
      *out_found = false;
  }
  return HX_STATUS_OK;
}

static bool has_complete_types(hx_linker_t *linker, const hx_ir_op_t *op) {
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (!hx_type_is_complete(op->operands[i]->type)) return false;  // its producer is named already
  }
  for (size_t i = 0; i < op->result_count; ++i) {
    const hx_type_t *type = op->results[i]->type;
    if (hx_type_is_complete(type)) continue;
    hx_link_fail(linker, op, HX_CODE_TYPE, "the %s of result %s is not known", hx_link_unknown_part(type),
                 hx_link_value_name(linker, op->results[i]));
    return false;
  }
  return true;
}

static hx_status_t add_call(hx_linker_t *linker, const hx_ir_op_t *op) {
  if (!has_complete_types(linker, op)) return HX_STATUS_OK;
  hx_step_t *step;
  HX_TRY(hx_link_add_step(linker, HX_STEP_CALL, op, (uint32_t)op->operand_count, (uint32_t)op->result_count, &step));
  const size_t index = linker->exe->steps.count - 1;
  bool found = false;
  HX_TRY(find_operands(linker, op, step, &found));
  for (size_t i = 0; i < op->result_count; ++i) {
    if (hx_link_add_result_slot(linker, op->results[i]) == HX_STATUS_OUT_OF_MEMORY) return HX_STATUS_OUT_OF_MEMORY;
    linker->exe->steps.items[index].results[i] = linker->slot_of[op->results[i]->id];
  }
  linker->exe->call_count += 1;
  return HX_STATUS_OK;
}

static hx_status_t add_packed(hx_linker_t *linker, const hx_ir_op_t *op) {
  if (!has_complete_types(linker, op)) return HX_STATUS_OK;
  const hx_ir_value_t *result = op->results[0];
  const hx_placement_t whole = linker->placements[result->id];
  for (size_t i = 0; i < op->operand_count; ++i) {
    const uint32_t from = linker->slot_of[op->operands[i]->id];
    if (from == HX_NONE) return HX_STATUS_OK;
    const hx_slot_t *slot = &linker->exe->slots[from];
    hx_draft_t part = place_of_part(op, i, &whole);
    const bool is_there = slot->root == part.slot.root && slot->offset == part.slot.offset;
    if (is_there && !part.layout.has_rows) continue;  // its producer wrote there
    part.slot = (hx_slot_t){.root = part.slot.root,
                            .offset = part.slot.offset,
                            .type = slot->type,
                            .primes = slot->primes,
                            .secret = slot->secret,
                            .name = slot->name};
    uint32_t to;
    HX_TRY(hx_link_add_draft(linker, &part, &to));
    HX_TRY(hx_link_add_copy(linker, op, from, to));
  }
  return hx_link_add_result_slot(linker, result);
}

static hx_status_t add_output(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t index) {
  const hx_ir_value_t *value = op->operands[index];
  hx_executable_t *exe = linker->exe;
  const uint32_t from = linker->slot_of[value->id];
  if (hx_link_is_number(value->type)) {
    exe->output_types[index] = value->type;
    exe->output_numbers[index] = hx_link_number(linker, value);
    return HX_STATUS_OK;
  }
  if (!hx_link_has_memory(value->type)) {
    hx_link_fail(linker, op, HX_CODE_UNSUPPORTED, "output %s is no ciphertext, plaintext, tensor or number",
                 exe->outputs[index].name);
    return HX_STATUS_OK;
  }
  if (!hx_type_is_complete(value->type)) {
    hx_link_fail(linker, op, HX_CODE_OUTPUT_STATE, "the %s of output %s is not known",
                 hx_link_unknown_part(value->type), exe->outputs[index].name);
    return HX_STATUS_OK;
  }
  exe->output_types[index] = value->type;
  if (from == HX_NONE) return HX_STATUS_OK;
  exe->output_rules[index].secret = exe->slots[from].secret;
  const hx_root_t *root = &exe->roots[exe->slots[from].root];
  if (root->kind == HX_ROOT_OUTPUT && root->index == index) return HX_STATUS_OK;
  hx_slot_t slot = exe->slots[from];
  slot.root = index;  // roots of outputs come first
  slot.offset = 0;
  const hx_status_t status = dense_layout(linker, value, &slot.layout);
  if (status != HX_STATUS_OK) return status == HX_STATUS_OUT_OF_MEMORY ? status : HX_STATUS_OK;
  uint32_t to;
  HX_TRY(hx_link_add_slot(linker, &slot, &to));
  return hx_link_add_copy(linker, op, from, to);
}

static hx_status_t add_input(hx_linker_t *linker, uint32_t index) {
  hx_executable_t *exe = linker->exe;
  const hx_ir_value_t *value = linker->block->arguments[index];
  const char *name = exe->inputs[index].name;
  const hx_type_t *type = value->type;
  if (hx_link_is_number(type)) {
    if (exe->secret_inputs[index])
      hx_link_fail(linker, NULL, HX_CODE_SECRET, "input %s is a public number, but it is marked as secret", name);
    exe->input_types[index] = type;
    exe->input_numbers[index] = hx_link_number(linker, value);
    hx_type_layout(type, linker->ring, &exe->input_layouts[index]);
    return HX_STATUS_OK;
  }
  if (!hx_link_has_memory(type)) {
    hx_link_fail(linker, NULL, HX_CODE_UNSUPPORTED, "input %s is no ciphertext, plaintext, tensor or number", name);
    return HX_STATUS_OK;
  }
  if (!hx_type_is_complete(type)) {
    hx_link_fail(linker, NULL, HX_CODE_TYPE, "the %s of input %s is not known", hx_link_unknown_part(type), name);
    return HX_STATUS_OK;
  }
  exe->input_types[index] = type;
  hx_draft_t draft = {.slot = {.type = type, .primes = type->primes, .name = hx_link_value_name(linker, value)}};
  if (hx_link_layout(type, linker->ring, &draft.layout) != HX_STATUS_OK) {
    hx_link_fail(linker, NULL, HX_CODE_LIMIT, "input %s does not fit into memory", name);
    return HX_STATUS_OK;
  }
  const hx_layout_t *const *given = linker->options->input_layouts;
  if (given != NULL && given[index] != NULL) draft.layout = *given[index];
  draft.slot.secret = exe->secret_inputs[index];
  exe->input_layouts[index] = draft.layout;
  HX_TRY(hx_link_add_root(linker, (hx_root_t){.kind = HX_ROOT_INPUT, .index = index}, &draft.slot.root));
  return hx_link_add_draft(linker, &draft, &linker->slot_of[value->id]);
}

static hx_status_t add_op(hx_linker_t *linker, const hx_ir_op_t *op) {
  switch (op->info->id) {
    case HX_OP_MATERIAL_REF:
      return hx_link_material(linker, op);
    case HX_OP_RESOURCE_REF:
      return hx_link_resource(linker, op);
    case HX_OP_CORE_CONSTANT:
      return hx_link_constant(linker, op);
    case HX_OP_RNS_CONCAT_LIMBS:
    case HX_OP_RNS_PACK_COMPONENTS:
      return add_packed(linker, op);
    case HX_OP_SCF_IF:
    case HX_OP_SCF_FOR:
    case HX_OP_SCF_WHILE:
      return hx_link_control(linker, op);
    case HX_OP_DISTRIBUTED_RANK:
    case HX_OP_DISTRIBUTED_GROUP_SIZE:
      return hx_link_group_number(linker, op);
    default:
      break;
  }
  if (hx_link_is_arith(op->info->id)) return hx_link_arith(linker, op);
  if (hx_link_is_view(op)) return has_complete_types(linker, op) ? hx_link_view(linker, op) : HX_STATUS_OK;
  if (is_dispatched(op)) return add_call(linker, op);
  if (op->info->effect == HX_EFFECT_COLLECTIVE)
    return has_complete_types(linker, op) ? hx_link_collective(linker, op) : HX_STATUS_OK;
  if (op->info->tier == HX_TIER_HOST) {
    hx_link_fail(linker, op, HX_CODE_UNSUPPORTED,
                 "encoding and encryption are steps of who owns the data, before and behind a program: give it "
                 "ciphertexts and plaintexts as inputs or materials (heliox encrypt, hx_encode, hx_engine_encrypt)");
    return HX_STATUS_OK;
  }
  hx_link_fail(linker, op, HX_CODE_UNSUPPORTED, "program structure stands where an operation is executed");
  return HX_STATUS_OK;
}

hx_status_t hx_link_block(hx_linker_t *linker, const hx_ir_block_t *block) {
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    if ((op->info->flags & HX_OP_FLAG_TERMINATOR) == 0) HX_TRY(add_op(linker, op));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_link_slots(hx_linker_t *linker) {
  for (uint32_t i = 0; i < linker->exe->input_count; ++i) HX_TRY(add_input(linker, i));
  HX_TRY(hx_link_block(linker, linker->block));
  for (uint32_t i = 0; i < linker->exe->output_count; ++i) HX_TRY(add_output(linker, linker->block->last, i));
  return HX_STATUS_OK;
}
