// SPDX-License-Identifier: Apache-2.0
// A backend inside the test: one device over host memory whose implementations run the scalar reference, and a plugin
// table for it. Knobs make it slow to import, late to fail, or short of operations.
#ifndef HELIOX_TESTS_FAKE_PLUGIN_H
#define HELIOX_TESTS_FAKE_PLUGIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "core/backend/backend.h"
#include "reference/reference.h"

#define FAKE_IMPLS_MAX 128

struct hx_device {
  int unused;
};

struct hx_buffer {
  unsigned char *address;
  uint64_t bytes;  // owned
  bool owned, hidden;
};

struct hx_queue {
  uint32_t executes;  // since the last sync
  uint32_t late;      // execute whose failure surfaces at sync; HX_NONE: none
  bool poisoned;
};

struct hx_tables {
  hx_ref_ring *ring;
};

struct hx_packed {
  uint64_t first_word;
};

struct hx_prepared {
  hx_region region;
  hx_op op;
  hx_arena_t arena;
  const hx_ref_ring *ring;
};

// Counters and knobs, one set a process: tests of one program run one after the other.
static struct fake {
  struct hx_device device;
  bool no_import, in_place;
  bool hides_addresses;    // device memory that the host cannot reach
  bool hides_pinned;       // against the contract: pinned memory without an address
  int32_t execute_result;  // of execute number fail_at
  uint32_t fail_at;        // HX_NONE: never
  uint32_t late_at;        // execute whose failure surfaces at sync; HX_NONE: none
  int32_t prepare_result;  // HX_OK, or what every prepare returns
  uint64_t scratch_device;
  atomic_uint buffers, tables_made, tables_alive, prepared_alive, queues, packs, packed_alive, executes, device_closes;
  atomic_ullong bytes, peak_bytes;  // of owned buffers, since the last fake_reset_peak
  char last_variant[64];
} fake;

static int32_t fake_fail(hx_error *error, int32_t code, const char *text) {
  error->code = code;
  snprintf(error->message, sizeof error->message, "%s", text);
  return code;
}

// ------------------------------------------------------------------ device, memory, queue

static inline uint32_t fake_count(hx_error *error) {
  (void)error;
  return 1;
}

static inline int32_t fake_info(uint32_t index, hx_device_info *info, hx_error *error) {
  if (index != 0) return fake_fail(error, HX_UNAVAILABLE, "there is one device");
  info->alignment = 64;
  snprintf(info->name, sizeof info->name, "the host itself");
  return HX_OK;
}

static inline int32_t fake_open(uint32_t index, hx_device **out, hx_error *error) {
  if (index != 0) return fake_fail(error, HX_UNAVAILABLE, "there is one device");
  *out = &fake.device;
  return HX_OK;
}

static inline void fake_close(hx_device *device) {
  assert_ptr_equal(device, &fake.device);
  fake.device_closes += 1;
}

static inline int32_t fake_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error) {
  (void)device;
  hx_tables *tables = calloc(1, sizeof *tables);
  const int32_t result = hx_ref_ring_create(ring, &tables->ring, error);
  if (result != HX_OK) {
    free(tables);
    return result;
  }
  fake.tables_made += 1;
  fake.tables_alive += 1;
  *out = tables;
  return HX_OK;
}

static inline void fake_tables_destroy(hx_tables *tables) {
  hx_ref_ring_destroy(tables->ring);
  free(tables);
  fake.tables_alive -= 1;
}

static inline int32_t fake_alloc(hx_device *device, uint32_t space, uint64_t bytes, hx_buffer **out, hx_error *error) {
  (void)device;
  if (bytes > (uint64_t)1 << 32) return fake_fail(error, HX_OUT_OF_MEMORY, "more than 4 GiB");
  hx_buffer *buffer = calloc(1, sizeof *buffer);
  buffer->address = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
  memset(buffer->address, 0xa5, (size_t)bytes);
  buffer->owned = true;
  buffer->bytes = bytes;
  fake.bytes += bytes;
  if (fake.bytes > fake.peak_bytes) fake.peak_bytes = fake.bytes;
  buffer->hidden =
      (fake.hides_addresses && space == HX_SPACE_DEVICE) || (fake.hides_pinned && space == HX_SPACE_PINNED);
  fake.buffers += 1;
  *out = buffer;
  return HX_OK;
}

static inline int32_t fake_import(hx_device *device, void *address, uint64_t bytes, hx_buffer **out, hx_error *error) {
  (void)device, (void)bytes;
  if (fake.no_import) return fake_fail(error, HX_UNSUPPORTED, "memory of its own only");
  hx_buffer *buffer = calloc(1, sizeof *buffer);
  buffer->address = address;
  fake.buffers += 1;
  *out = buffer;
  return HX_OK;
}

static inline void *fake_address(hx_buffer *buffer) { return buffer->hidden ? NULL : buffer->address; }

static inline void fake_free(hx_buffer *buffer) {
  if (buffer->owned) {
    fake.bytes -= buffer->bytes;
    free(buffer->address);
  }
  free(buffer);
  fake.buffers -= 1;
}

static inline int32_t fake_queue_create(hx_device *device, hx_queue **out, hx_error *error) {
  (void)device, (void)error;
  hx_queue *queue = calloc(1, sizeof *queue);
  queue->late = HX_NONE;
  fake.queues += 1;
  *out = queue;
  return HX_OK;
}

static inline void fake_queue_destroy(hx_queue *queue) {
  free(queue);
  fake.queues -= 1;
}

static inline int32_t fake_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  (void)queue, (void)error;
  memmove(to.buffer->address + to.offset, from.buffer->address + from.offset, (size_t)bytes);
  return HX_OK;
}

static inline int32_t fake_fill(hx_queue *queue, hx_span span, uint8_t value, uint64_t bytes, hx_error *error) {
  (void)queue, (void)error;
  memset(span.buffer->address + span.offset, value, (size_t)bytes);
  return HX_OK;
}

static inline int32_t fake_sync(hx_queue *queue, hx_error *error) {
  const uint32_t late = queue->late;
  queue->executes = 0;
  queue->late = HX_NONE;
  if (late == HX_NONE) return HX_OK;
  error->op = late;
  return fake_fail(error, HX_INTERNAL, "it failed after all");
}

static inline int32_t fake_reset(hx_queue *queue, hx_error *error) {
  (void)error;
  queue->late = HX_NONE;
  return HX_OK;
}

static inline int32_t fake_pack(hx_device *device, hx_tables *tables, const char *kind, const hx_tensor_desc *desc,
                                hx_span span, hx_queue *queue, hx_packed **out, hx_error *error) {
  (void)device, (void)tables, (void)kind, (void)desc, (void)queue, (void)error;
  hx_packed *packed = calloc(1, sizeof *packed);
  memcpy(&packed->first_word, span.buffer->address + span.offset, sizeof packed->first_word);
  fake.packs += 1;
  fake.packed_alive += 1;
  *out = packed;
  return HX_OK;
}

static inline void fake_pack_release(hx_packed *packed) {
  free(packed);
  fake.packed_alive -= 1;
}

// ------------------------------------------------------------------ implementations

static inline const void *fake_keep(hx_arena_t *arena, const void *from, size_t bytes) {
  void *copy = hx_arena_alloc(arena, bytes);
  assert_non_null(copy);
  if (bytes > 0) memcpy(copy, from, bytes);
  return copy;
}

static inline void fake_keep_values(hx_prepared *prepared, const hx_region *region) {
  hx_arena_t *arena = &prepared->arena;
  hx_tensor_desc *values = hx_arena_alloc(arena, region->value_count * sizeof *values);
  for (uint32_t v = 0; v < region->value_count; ++v) {
    values[v] = region->values[v];
    const hx_tensor_desc *from = &region->values[v];
    values[v].batch_shape = fake_keep(arena, from->batch_shape, from->batch_rank * sizeof(uint64_t));
    values[v].batch_strides = fake_keep(arena, from->batch_strides, from->batch_rank * sizeof(uint64_t));
    if (from->prime_ids != NULL)
      values[v].prime_ids = fake_keep(arena, from->prime_ids, from->limbs * sizeof(uint32_t));
    if (from->rows != NULL) values[v].rows = fake_keep(arena, from->rows, from->limbs * sizeof(uint32_t));
  }
  prepared->region.values = values;
}

static inline void fake_keep_op(hx_prepared *prepared, const hx_op *op) {
  static const size_t sizes[] = {0, 8, 8, 8, 1};
  hx_arena_t *arena = &prepared->arena;
  prepared->op = *op;
  prepared->op.name = fake_keep(arena, op->name, strlen(op->name) + 1);
  hx_attr *attrs = hx_arena_alloc(arena, op->attr_count * sizeof *attrs);
  for (uint32_t a = 0; a < op->attr_count; ++a) {
    attrs[a] = op->attrs[a];
    attrs[a].name = fake_keep(arena, op->attrs[a].name, strlen(op->attrs[a].name) + 1);
    const size_t end = op->attrs[a].kind == HX_ATTR_TEXT;  // its NUL
    attrs[a].data = fake_keep(arena, op->attrs[a].data, op->attrs[a].count * sizes[op->attrs[a].kind] + end);
  }
  prepared->op.attrs = attrs;
  prepared->op.operands = fake_keep(arena, op->operands, op->operand_count * sizeof(uint32_t));
  prepared->op.results = fake_keep(arena, op->results, op->result_count * sizeof(uint32_t));
}

// Results of these may take the memory of their first operand.
static inline bool fake_is_pointwise(const char *name) {
  static const char *const names[] = {"rns.add",          "rns.sub",        "rns.neg",       "rns.mul_scalar",
                                      "rns.add_scalar",   "ckks.add",       "ckks.sub",      "ckks.neg",
                                      "ckks.mul_integer", "ckks.mul_plain", "ckks.add_plain"};
  for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
    if (strcmp(names[i], name) == 0) return true;
  }
  return false;
}

static inline int32_t fake_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out,
                                   hx_error *error) {
  assert_ptr_equal(device, &fake.device);
  assert_int_equal(region->op_count, 1);
  assert_int_equal(plan->alias_count, region->output_count);
  if (fake.prepare_result != HX_OK) return fake_fail(error, fake.prepare_result, "not this one");
  hx_prepared *prepared = calloc(1, sizeof *prepared);
  hx_arena_init(&prepared->arena);
  prepared->region = *region;
  prepared->ring = region->tables->ring;
  fake_keep_values(prepared, region);
  fake_keep_op(prepared, &region->ops[0]);
  if (region->variant != NULL) snprintf(fake.last_variant, sizeof fake.last_variant, "%s", region->variant);
  if (fake.in_place && fake_is_pointwise(prepared->op.name)) plan->may_alias[0] = 0;
  plan->scratch_device = fake.scratch_device;
  fake.prepared_alive += 1;
  *out = prepared;
  return HX_OK;
}

static inline int32_t fake_execute(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  const uint32_t count = prepared->region.value_count;
  void *data[256];
  assert_true(count <= HX_COUNT_OF(data));
  for (uint32_t i = 0; i < count; ++i) {
    const bool is_input = i < prepared->op.operand_count;
    const hx_span span = is_input ? call->inputs[i] : call->outputs[i - prepared->op.operand_count];
    assert_int_equal(span.offset % 64, 0);
    data[i] = span.buffer->address + span.offset;
  }
  const uint32_t index = call->queue->executes++;
  fake.executes += 1;
  if (index == fake.fail_at) return fake_fail(error, fake.execute_result, "refused at run time");
  if (index == fake.late_at) call->queue->late = index;
  if (fake.scratch_device > 0) {
    memset(call->scratch_device.buffer->address + call->scratch_device.offset, 0x5a, (size_t)fake.scratch_device);
  }
  return hx_reference_execute(prepared->ring, &prepared->op, prepared->region.values, data, error);
}

static inline void fake_destroy(hx_prepared *prepared) {
  hx_arena_deinit(&prepared->arena);
  free(prepared);
  fake.prepared_alive -= 1;
}

// ------------------------------------------------------------------ plugin

static const hx_device_ops fake_device_ops = {.struct_size = HX_END_OF(hx_device_ops, tables_destroy),
                                              .count = fake_count,
                                              .info = fake_info,
                                              .open = fake_open,
                                              .close = fake_close,
                                              .tables_create = fake_tables_create,
                                              .tables_destroy = fake_tables_destroy};
static const hx_memory_ops fake_memory_ops = {.struct_size = HX_END_OF(hx_memory_ops, free),
                                              .alloc = fake_alloc,
                                              .import_host = fake_import,
                                              .address = fake_address,
                                              .free = fake_free};
static const hx_queue_ops fake_queue_ops = {.struct_size = HX_END_OF(hx_queue_ops, reset),
                                            .create = fake_queue_create,
                                            .destroy = fake_queue_destroy,
                                            .copy = fake_copy,
                                            .fill = fake_fill,
                                            .sync = fake_sync,
                                            .reset = fake_reset};
static const hx_materializer_ops fake_materializer_ops = {
    .struct_size = HX_END_OF(hx_materializer_ops, release), .pack = fake_pack, .release = fake_pack_release};

// A plugin of the test: rows of its manifest are added one by one.
typedef struct fake_plugin {
  hx_loaded_plugin_t loaded;
  hx_plugin_record_t record;
  hx_impl impls[FAKE_IMPLS_MAX];
  const hx_impl *table[FAKE_IMPLS_MAX];
  hx_manifest_operation_t rows[FAKE_IMPLS_MAX];
} fake_plugin_t;

static inline fake_plugin_t *fake_plugin_create(const char *name) {
  fake_plugin_t *plugin = calloc(1, sizeof *plugin);
  plugin->record = (hx_plugin_record_t){.id = name,
                                        .name = name,
                                        .version = "1.0.0",
                                        .vendor = "tests",
                                        .description = "",
                                        .manifest = "",
                                        .library = "",
                                        .text = "",
                                        .expected = "",
                                        .found = "",
                                        .hint = ""};
  plugin->loaded.record = &plugin->record;
  atomic_init(&plugin->loaded.refs, 1);  // the test's own: it never falls to zero
  plugin->loaded.operations = plugin->rows;
  plugin->loaded.handles_secrets = true;
  snprintf(plugin->loaded.digest, sizeof plugin->loaded.digest, "%064d", 7);
  plugin->loaded.table = (hx_plugin){.struct_size = HX_END_OF(hx_plugin, shutdown),
                                     .abi_major = HX_ABI_MAJOR,
                                     .id = name,
                                     .version = "1.0.0",
                                     .impls = plugin->table,
                                     .device = &fake_device_ops,
                                     .memory = &fake_memory_ops,
                                     .queue = &fake_queue_ops,
                                     .materializer = &fake_materializer_ops};
  return plugin;
}

// Nobody holds the plugin any more.
static inline void fake_plugin_destroy(fake_plugin_t *plugin) {
  assert_int_equal(atomic_load(&plugin->loaded.refs), 1);
  free(plugin);
}

static inline hx_manifest_operation_t *fake_plugin_add(fake_plugin_t *plugin, const char *op, const char *name) {
  const uint32_t index = plugin->loaded.table.impl_count++;
  assert_true(index < FAKE_IMPLS_MAX);
  plugin->impls[index] = (hx_impl){.struct_size = HX_END_OF(hx_impl, destroy),
                                   .signature = 1,
                                   .name = name,
                                   .op = op,
                                   .prepare = fake_prepare,
                                   .execute = fake_execute,
                                   .destroy = fake_destroy};
  plugin->table[index] = &plugin->impls[index];
  plugin->rows[index] = (hx_manifest_operation_t){.type = op,
                                                  .implementation = name,
                                                  .signature = 1,
                                                  .dtypes = 1u << HX_U64 | 1u << HX_U32 | 1u << HX_I64,
                                                  .log_n_min = 3,
                                                  .log_n_max = 17,
                                                  .prime_bits_min = 2,
                                                  .prime_bits_max = 61,
                                                  .in_place = true,
                                                  .bit_exact = true};
  plugin->loaded.operation_count = index + 1;
  return &plugin->rows[index];
}

// All operations of some tiers that the reference knows and that are no views.
static inline void fake_plugin_add_tiers(fake_plugin_t *plugin, const char *name, uint32_t tiers) {
  for (int id = 0; id < HX_OP_COUNT; ++id) {
    const hx_op_info_t *info = hx_op_info((hx_op_id_t)id);
    if ((tiers & (1u << info->tier)) == 0 || (info->flags & HX_OP_FLAG_VIEW) != 0 || !hx_reference_has(info->name))
      continue;
    fake_plugin_add(plugin, info->name, name);
  }
}

#define FAKE_PRIMITIVES (1u << HX_TIER_PRIMITIVE)
#define FAKE_ALL (1u << HX_TIER_PRIMITIVE | 1u << HX_TIER_DERIVED | 1u << HX_TIER_WHOLE)

static inline void fake_reset_knobs(void) {
  fake.no_import = fake.in_place = fake.hides_addresses = false;
  fake.execute_result = fake.prepare_result = HX_OK;
  fake.fail_at = fake.late_at = HX_NONE;
  fake.scratch_device = 0;
}

static inline hx_backend_t *fake_backend(fake_plugin_t *plugin) {
  hx_loaded_plugin_t *plugins[] = {&plugin->loaded};
  const uint32_t indexes[] = {0};
  hx_backend_t *backend = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_backend_assemble(plugins, indexes, 1, &backend, report) != HX_STATUS_OK) {
    fail_msg("%s", hx_report_get(report, 0)->text);
  }
  hx_report_release(report);
  return backend;
}

#endif
