// SPDX-License-Identifier: Apache-2.0
// place - gives operations their devices and puts the transfers between devices into the program. Options
// OPERATION=DEVICE place all operations of a name; an operation that says where it runs already (heliox.device) stays
// there; what nobody places runs at home, on the backend's first device. A value lies where it is computed; inputs and
// outputs of functions lie at home; values that structured operations carry and give lie where the structured operation
// is placed; a view lies where its first operand does. Where an operand lies elsewhere it is transferred, once for each
// device, behind its definition, so that no loop transfers what comes from outside; references and constants are
// repeated for the device instead, and then linking places them there. Keys go wherever they are used. In: a verified
// program, whole or lowered, with one function where parts of it are called. Keeps: results bit for bit, since devices
// agree and a transfer changes nothing. It runs last: what passes add behind it is at home, and linking refuses an
// operand that lies elsewhere.
#include <stdio.h>

#include "core/passes/pipeline.h"

typedef struct hx_copy {
  const char *device;  // texts of the program are interned by nobody: compared as text
  size_t size;
  hx_ir_value_t *value;
  uint32_t next;  // of the same value, or HX_NONE
} hx_copy_t;

typedef struct hx_placer {
  hx_program_t *program;
  const hx_pass_env_t *env;
  uint32_t *heads;  // [value_count] by value id: its first copy, or HX_NONE
  size_t value_count;
  hx_copy_t *copies;
  size_t count, capacity;
  hx_op_id_t id;  // of an option
  hx_str_t device;
  size_t placed;
  bool changed;
} hx_placer_t;

static hx_str_t device_of(const hx_ir_op_t *op) {
  hx_str_t device = {.data = "", .size = 0};
  (void)hx_attrs_get_text(op->attrs, HX_DEVICE_ATTR, &device);
  return device;
}

static hx_str_t where(const hx_ir_value_t *value) {
  return device_of(value->op != NULL ? value->op : value->block->region->op);
}

static bool has_memory(const hx_type_t *type) {
  return type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT || type->kind == HX_TYPE_TENSOR;
}

static hx_status_t set_device(hx_placer_t *placer, hx_ir_op_t *op, hx_str_t device) {
  const hx_attribute_t value = {.kind = HX_ATTRIBUTE_TEXT, .text = device};
  placer->changed = true;
  return hx_ir_set_attr(placer->program, op, HX_DEVICE_ATTR, &value);
}

// ------------------------------------------------------------------ options

static hx_status_t take_option(hx_ir_op_t *op, void *argument) {
  hx_placer_t *placer = argument;
  if (op->info->id != placer->id) return HX_STATUS_OK;
  if (hx_attrs_find(op->attrs, HX_DEVICE_ATTR) != NULL) return HX_STATUS_OK;  // the program says where
  ++placer->placed;
  return set_device(placer, op, placer->device);
}

static hx_status_t place_named(hx_placer_t *placer, hx_str_t option) {
  hx_str_t name = option;
  for (name.size = 0; name.size < option.size && option.data[name.size] != '=';) ++name.size;
  placer->id = hx_op_find(name);
  const bool is_fixed = placer->id == HX_OP_FUNC || placer->id == HX_OP_MODULE || placer->id == HX_OP_CALL;
  if (placer->id == HX_OP_UNKNOWN || is_fixed || name.size + 1 >= option.size) {
    return hx_report_fail(placer->env->report, HX_CODE_UNKNOWN_OPERATION,
                          "place: '%.*s' is no OPERATION=DEVICE of an operation that runs on a device",
                          (int)(option.size < 100 ? option.size : 100), option.data);
  }
  placer->device = (hx_str_t){.data = option.data + name.size + 1, .size = option.size - name.size - 1};
  placer->placed = 0;
  HX_TRY(hx_ir_walk(placer->program->module, take_option, placer));
  char chosen[HX_NAME_MAX];
  (void)snprintf(chosen, sizeof chosen, "%.*s", (int)placer->device.size, placer->device.data);
  hx_decide(placer->env, NULL, chosen, "the devices of the backend", "the caller places %zu operations %.*s",
            placer->placed, (int)name.size, name.data);
  return HX_STATUS_OK;
}

static hx_status_t take_options(hx_placer_t *placer) {
  hx_str_t option, rest = placer->env->options;
  for (bool more = rest.size > 0; more;) {
    if (!hx_pipeline_cut(rest, &option, &rest, &more)) return HX_STATUS_INTERNAL;  // checked before anything ran
    if (option.size > 0) HX_TRY(place_named(placer, option));
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ copies

static hx_ir_value_t *find_copy(const hx_placer_t *placer, const hx_ir_value_t *value, hx_str_t device) {
  for (uint32_t i = placer->heads[value->id]; i != HX_NONE; i = placer->copies[i].next) {
    const hx_copy_t *copy = &placer->copies[i];
    if (hx_str_equal((hx_str_t){.data = copy->device, .size = copy->size}, device)) return copy->value;
  }
  return NULL;
}

// A reference or constant once more, for the other device: nothing is transferred in a run.
static hx_status_t repeat(hx_placer_t *placer, hx_ir_value_t *value, hx_str_t device, hx_ir_op_t **out) {
  hx_ir_map_t map;
  hx_ir_map_init(&map);
  hx_status_t status = hx_ir_copy_op(placer->program, value->op, &map, out);
  hx_ir_map_deinit(&map);
  if (status == HX_STATUS_OK) status = set_device(placer, *out, device);
  if (status == HX_STATUS_OK) hx_ir_insert(value->op->block, value->op->next, *out);
  return status;
}

static hx_status_t transfer(hx_placer_t *placer, hx_ir_value_t *value, hx_str_t device, hx_ir_op_t **out) {
  hx_ir_block_t *block = value->op != NULL ? value->op->block : value->block;
  hx_ir_op_t *before = value->op != NULL ? value->op->next : block->first;
  const hx_named_attr_t items[] = {
      {.name = hx_str("space"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("device")}},
      {.name = hx_str(HX_DEVICE_ATTR), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = device}}};
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(placer->program, items, device.size > 0 ? 2 : 1, &attrs));
  HX_TRY(hx_ir_build(placer->program, block, before, HX_OP_MEMORY_TRANSFER, &value, 1, attrs, 1, placer->env->ring,
                     placer->env->report, out));
  if (value->op != NULL) {
    (*out)->line = value->op->line;
    (*out)->column = value->op->column;
  }
  hx_decide(placer->env, *out, "transfer", "transfer, an operand elsewhere", "%s%.*s is read on %.*s",
            value->name.size > 0 ? "%" : "a value without a name", (int)value->name.size,
            value->name.data == NULL ? "" : value->name.data, device.size > 0 ? (int)device.size : 4,
            device.size > 0 ? device.data : "home");
  return HX_STATUS_OK;
}

static hx_status_t copy_to(hx_placer_t *placer, hx_ir_value_t *value, hx_str_t device, hx_ir_value_t **out) {
  *out = find_copy(placer, value, device);
  if (*out != NULL) return HX_STATUS_OK;
  const bool is_outside =
      value->op != NULL && (value->op->info->id == HX_OP_MATERIAL_REF || value->op->info->id == HX_OP_CORE_CONSTANT);
  hx_ir_op_t *op = NULL;
  if (is_outside && where(value).size == 0) {
    HX_TRY(repeat(placer, value, device, &op));
  } else {
    HX_TRY(transfer(placer, value, device, &op));
  }
  placer->changed = true;
  *out = op->results[0];
  (*out)->id = HX_NONE;  // never asked for a copy of its own: it lies where it is read
  HX_TRY(hx_grow(&placer->copies, &placer->capacity, placer->count + 1, sizeof *placer->copies));
  placer->copies[placer->count] =
      (hx_copy_t){.device = device.data, .size = device.size, .value = *out, .next = placer->heads[value->id]};
  placer->heads[value->id] = (uint32_t)placer->count++;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ the walk

// Operands from `first` on, where they have memory, lie on the device.
static hx_status_t want(hx_placer_t *placer, hx_ir_op_t *op, size_t first, hx_str_t device) {
  for (size_t i = first; i < op->operand_count; ++i) {
    hx_ir_value_t *value = op->operands[i];
    if (!has_memory(value->type) || value->id == HX_NONE || hx_str_equal(where(value), device)) continue;
    HX_TRY(copy_to(placer, value, device, &op->operands[i]));
  }
  return HX_STATUS_OK;
}

static bool follows_operand(const hx_ir_op_t *op) {
  return (op->info->flags & HX_OP_FLAG_VIEW) != 0 && op->operand_count > 0 && has_memory(op->operands[0]->type) &&
         hx_attrs_find(op->attrs, HX_DEVICE_ATTR) == NULL;
}

static hx_status_t place_op(hx_ir_op_t *op, void *argument) {
  hx_placer_t *placer = argument;
  const hx_str_t home = {.data = "", .size = 0};
  if (op->info->id == HX_OP_MEMORY_TRANSFER || op->info->id == HX_OP_FUNC || op->info->id == HX_OP_MODULE)
    return HX_STATUS_OK;
  if (op->info->id == HX_OP_RETURN || op->info->id == HX_OP_CALL) return want(placer, op, 0, home);
  if ((op->info->flags & HX_OP_FLAG_TERMINATOR) != 0) return want(placer, op, 0, device_of(op->block->region->op));
  if (follows_operand(op) && where(op->operands[0]).size > 0) HX_TRY(set_device(placer, op, where(op->operands[0])));
  return want(placer, op, 0, device_of(op));
}

hx_status_t hx_pass_place(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_placer_t placer = {.program = program, .env = env, .value_count = hx_ir_number(program->module)};
  placer.heads = hx_alloc((placer.value_count + 1) * sizeof *placer.heads);
  hx_status_t status = placer.heads == NULL ? HX_STATUS_OUT_OF_MEMORY : take_options(&placer);
  for (size_t i = 0; placer.heads != NULL && i < placer.value_count; ++i) placer.heads[i] = HX_NONE;
  if (status == HX_STATUS_OK) status = hx_ir_walk(program->module, place_op, &placer);
  hx_free(placer.heads);
  hx_free(placer.copies);
  *out_changed = placer.changed;
  return status;
}
