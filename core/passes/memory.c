// SPDX-License-Identifier: Apache-2.0
#include "core/passes/memory.h"

#include "core/passes/passes.h"

uint64_t hx_type_bytes(const hx_type_t *type, const hx_ring *ring) {
  if (ring == NULL || !hx_type_is_complete(type)) return 0;
  if (type->kind != HX_TYPE_CIPHERTEXT && type->kind != HX_TYPE_PLAINTEXT && type->kind != HX_TYPE_TENSOR) return 0;
  uint64_t bytes = (uint64_t)type->components * hx_primes_count(&type->primes) * ((uint64_t)ring->word / 8)
                   << ring->log_n;
  for (uint32_t i = 0; i < type->batch_rank; ++i) bytes *= type->batch_shape[i];  // checked by the type's rules
  return bytes;
}

static hx_str_t device_of(const hx_ir_op_t *op) {
  hx_str_t device = {.data = "", .size = 0};
  (void)hx_attrs_get_text(op->attrs, HX_DEVICE_ATTR, &device);
  return device;
}

// An operation that gives its operand as it lies; a transfer does where the value is there already.
static bool is_view(const hx_ir_op_t *op) {
  if ((op->info->flags & HX_OP_FLAG_VIEW) == 0 || op->operand_count != 1) return false;
  const hx_ir_value_t *from = op->operands[0];
  return op->info->id != HX_OP_MEMORY_TRANSFER ||
         hx_str_equal(device_of(op), device_of(from->op != NULL ? from->op : from->block->region->op));
}

typedef struct hx_liveness {
  const hx_str_t *device;  // whose memory counts; NULL: all
  const hx_ring *ring;
  uint64_t *bytes;  // by value id: 0 where the value has no memory of its own here
  uint32_t *roots;  // by value id: whose memory it is
  uint32_t *last;   // by value id: operation after which it is not needed
  hx_ir_value_t **by_id;
  size_t value_count, op_count;
  hx_memory_need_t *out;
} hx_liveness_t;

static hx_status_t note_values(hx_ir_op_t *op, void *argument) {
  hx_liveness_t *liveness = argument;
  const bool is_reference = op->info->tier == HX_TIER_HOST && op->operand_count == 0;
  const bool views = is_view(op);
  const bool counts = liveness->device == NULL || hx_str_equal(*liveness->device, device_of(op));
  for (size_t i = 0; i < op->result_count; ++i) {
    const uint32_t id = op->results[i]->id;
    liveness->by_id[id] = op->results[i];
    liveness->roots[id] = views ? liveness->roots[op->operands[0]->id] : id;
    liveness->bytes[id] = is_reference || views || !counts ? 0 : hx_type_bytes(op->results[i]->type, liveness->ring);
    liveness->last[id] = op->id;
  }
  for (size_t r = 0; r < op->region_count; ++r) {
    const hx_ir_block_t *block = op->regions[r]->block;
    // Arguments of loops take the place of what is carried; those of functions are inputs.
    for (size_t i = 0; i < block->argument_count; ++i) {
      liveness->by_id[block->arguments[i]->id] = block->arguments[i];
      liveness->roots[block->arguments[i]->id] = block->arguments[i]->id;
    }
  }
  return HX_STATUS_OK;
}

// The last operation of the value's own block that reads it, or holds one that does.
static hx_status_t note_uses(hx_ir_op_t *op, void *argument) {
  hx_liveness_t *liveness = argument;
  for (size_t i = 0; i < op->operand_count; ++i) {
    const uint32_t root = liveness->roots[op->operands[i]->id];
    const hx_ir_value_t *value = liveness->by_id[root];
    const hx_ir_op_t *inside = value == NULL ? NULL : hx_ir_ancestor_in(op, hx_ir_home(value));
    if (inside != NULL && inside->id > liveness->last[root]) liveness->last[root] = inside->id;
    if (op->info->id == HX_OP_RETURN) liveness->bytes[root] = 0;  // an output
  }
  return HX_STATUS_OK;
}

// The largest of the values of a block that live behind an operation.
static const hx_ir_value_t *largest(const hx_liveness_t *liveness, const hx_ir_op_t *at) {
  const hx_ir_value_t *top = NULL;
  for (const hx_ir_op_t *op = at->block->first; op != NULL; op = op->next) {
    for (size_t i = 0; i < op->result_count; ++i) {
      const uint32_t id = op->results[i]->id;
      if (liveness->bytes[id] == 0 || liveness->last[id] < at->id || op->id > at->id) continue;
      if (top == NULL || liveness->bytes[id] > liveness->bytes[top->id]) top = op->results[i];
    }
  }
  return top;
}

static void walk_block(hx_liveness_t *liveness, const hx_ir_block_t *block, uint64_t live, uint32_t *heads,
                       const uint32_t *nexts) {
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    for (size_t i = 0; i < op->result_count; ++i) live += liveness->bytes[op->results[i]->id];
    if (live > liveness->out->peak) {
      liveness->out->peak = live;
      liveness->out->at = op;
    }
    for (size_t r = 0; r < op->region_count; ++r) walk_block(liveness, op->regions[r]->block, live, heads, nexts);
    // What is read here for the last time.
    for (uint32_t id = heads[op->id]; id != HX_NONE; id = nexts[id]) live -= liveness->bytes[id];
  }
}

static hx_status_t measure(hx_liveness_t *liveness, const hx_ir_op_t *entry) {
  uint32_t *heads = hx_zalloc(liveness->op_count + 1, sizeof *heads);
  uint32_t *nexts = hx_zalloc(liveness->value_count + 1, sizeof *nexts);
  if (heads == NULL || nexts == NULL) {
    hx_free(heads);
    hx_free(nexts);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < liveness->op_count; ++i) heads[i] = HX_NONE;
  for (uint32_t id = 0; id < liveness->value_count; ++id) {
    if (liveness->by_id[id] == NULL || liveness->by_id[id]->op == NULL) continue;
    nexts[id] = heads[liveness->last[id]];
    heads[liveness->last[id]] = id;
    liveness->out->unshared += liveness->bytes[id];
  }
  walk_block(liveness, hx_func_block(entry), 0, heads, nexts);
  if (liveness->out->at != NULL) liveness->out->top = largest(liveness, liveness->out->at);
  hx_free(heads);
  hx_free(nexts);
  return HX_STATUS_OK;
}

static hx_status_t need_of(hx_program_t *program, const hx_ring *ring, const hx_str_t *device, hx_memory_need_t *out) {
  *out = (hx_memory_need_t){0};
  const hx_ir_op_t *entry = hx_program_find(program, "main");
  if (entry == NULL) return HX_STATUS_NOT_FOUND;
  hx_liveness_t liveness = {.device = device,
                            .ring = ring,
                            .value_count = hx_ir_number(program->module),
                            .op_count = hx_ir_number_ops(program->module),
                            .out = out};
  liveness.bytes = hx_zalloc(liveness.value_count + 1, sizeof *liveness.bytes);
  liveness.roots = hx_zalloc(liveness.value_count + 1, sizeof *liveness.roots);
  liveness.last = hx_zalloc(liveness.value_count + 1, sizeof *liveness.last);
  liveness.by_id = hx_zalloc(liveness.value_count + 1, sizeof(hx_ir_value_t *));
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (liveness.bytes != NULL && liveness.roots != NULL && liveness.last != NULL && liveness.by_id != NULL) {
    (void)hx_ir_walk(program->module, note_values, &liveness);
    (void)hx_ir_walk(program->module, note_uses, &liveness);
    status = measure(&liveness, entry);
  }
  hx_free(liveness.bytes);
  hx_free(liveness.roots);
  hx_free(liveness.last);
  hx_free((void *)liveness.by_id);
  return status;
}

hx_status_t hx_program_memory(hx_program_t *program, const hx_ring *ring, hx_memory_need_t *out) {
  return need_of(program, ring, NULL, out);
}

hx_status_t hx_program_memory_on(hx_program_t *program, const hx_ring *ring, hx_str_t device, hx_memory_need_t *out) {
  return need_of(program, ring, &device, out);
}

typedef struct hx_devices {
  hx_str_t *names;
  size_t count, room;
} hx_devices_t;

static hx_status_t note_device(hx_ir_op_t *op, void *argument) {
  hx_devices_t *devices = argument;
  const hx_str_t device = device_of(op);
  for (size_t i = 0; i < devices->count && i < devices->room; ++i) {
    if (hx_str_equal(devices->names[i], device)) return HX_STATUS_OK;
  }
  if (device.size == 0) return HX_STATUS_OK;
  if (devices->count < devices->room) devices->names[devices->count] = device;
  devices->count += 1;
  return HX_STATUS_OK;
}

size_t hx_program_devices(hx_program_t *program, hx_str_t *out, size_t room) {
  hx_devices_t devices = {.names = out, .room = room};
  (void)hx_ir_walk(program->module, note_device, &devices);
  return devices.count < room ? devices.count : room;
}
