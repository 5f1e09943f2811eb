// SPDX-License-Identifier: Apache-2.0
// Rows on a plugin: one prepared region an operation and prime, made when first used and kept.
#include <stdio.h>
#include <string.h>

#include "core/backend/backend.h"
#include "core/ckks/rows_internal.h"

// What the catalogue calls them. domain 0: either, taken as ntt.
static const struct {
  hx_op_id_t op;
  uint32_t domain_from, domain_to;
} kinds[HX_ROW_KIND_COUNT] = {
    [HX_ROW_FORWARD] = {HX_OP_NTT_FORWARD, HX_COEFFICIENT, HX_NTT},
    [HX_ROW_INVERSE] = {HX_OP_NTT_INVERSE, HX_NTT, HX_COEFFICIENT},
    [HX_ROW_ADD] = {HX_OP_RNS_ADD, HX_NTT, HX_NTT},
    [HX_ROW_SUB] = {HX_OP_RNS_SUB, HX_NTT, HX_NTT},
    [HX_ROW_MUL] = {HX_OP_RNS_MUL, HX_NTT, HX_NTT},
    [HX_ROW_MUL_ADD] = {HX_OP_RNS_MUL_ADD, HX_NTT, HX_NTT},
    [HX_ROW_MUL_SCALAR] = {HX_OP_RNS_MUL_SCALAR, HX_NTT, HX_NTT},
    [HX_ROW_LIFT] = {HX_OP_RNS_CENTER_LIFT, HX_COEFFICIENT, HX_COEFFICIENT},
};

typedef struct entry {
  struct entry *next;
  uint64_t scalar;
  uint32_t from;
  const hx_impl *record;  // NULL: not to be had, reference/ does it
  hx_prepared *prepared;
  hx_plan plan;
  int32_t may_alias;
} entry_t;

struct hx_row_plugin {
  hx_backend_t *backend;  // retained
  const hx_ring *ring;    // of the parameters, which the rows retain
  hx_opened_device_t *device;
  hx_device_tables_t *tables;
  pthread_mutex_t lock;                                          // of additions to entries
  _Atomic(entry_t *) entries[HX_ROW_KIND_COUNT][HX_PRIMES_MAX];  // lists; only ever prepended to
};

hx_status_t hx_row_plugin_create(const hx_params_t *params, const hx_backend_t *backend, struct hx_row_plugin **out,
                                 hx_report_t *report) {
  *out = NULL;
  if (backend->device_count == 0 || !hx_device_imports(backend->devices[0])) return HX_STATUS_OK;
  struct hx_row_plugin *plugin = hx_zalloc(1, sizeof *plugin);
  if (plugin == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for arithmetic on a plugin");
  plugin->ring = hx_params_ring(params);
  plugin->device = backend->devices[0];
  const hx_status_t status = hx_device_tables_acquire(plugin->device, plugin->ring, &plugin->tables, report);
  if (status != HX_STATUS_OK) {
    hx_free(plugin);
    return status;
  }
  plugin->backend = hx_backend_retain(backend);
  (void)pthread_mutex_init(&plugin->lock, NULL);
  *out = plugin;
  return HX_STATUS_OK;
}

void hx_row_plugin_release(struct hx_row_plugin *plugin) {
  for (size_t kind = 0; kind < HX_ROW_KIND_COUNT; ++kind)
    for (size_t id = 0; id < HX_PRIMES_MAX; ++id) {
      entry_t *entry = atomic_load(&plugin->entries[kind][id]);
      while (entry != NULL) {
        entry_t *next = entry->next;
        if (entry->prepared != NULL) entry->record->destroy(entry->prepared);
        hx_free(entry);
        entry = next;
      }
    }
  (void)pthread_mutex_destroy(&plugin->lock);
  hx_device_tables_release(plugin->tables);
  hx_backend_release(plugin->backend);
  hx_free(plugin);
}

hx_status_t hx_row_plugin_open(struct hx_row_plugin *plugin, hx_row_session_t *session) {
  return hx_device_queue(plugin->device, &session->queue, NULL);
}

void hx_row_plugin_close(struct hx_row_plugin *plugin, hx_row_session_t *session) {
  if (session->queue != NULL) plugin->device->queue.destroy(session->queue);
  if (session->plugin_scratch != NULL) hx_storage_release(session->plugin_scratch);
}

// ------------------------------------------------------------------ preparation

static hx_type_t row_type(const struct hx_row_plugin *plugin, uint32_t id, uint32_t domain) {
  hx_type_t type;
  hx_type_init(&type, HX_TYPE_TENSOR);
  type.known = HX_KNOWN_TENSOR;
  type.dtype = plugin->ring->word == 64 ? HX_U64 : HX_U32;
  type.components = 1;
  hx_primes_add(&type.primes, id);
  type.basis = id < plugin->ring->q_count ? HX_BASIS_Q : HX_BASIS_P;
  type.domain = domain;
  type.repr = HX_STANDARD;
  return type;
}

static hx_type_t operand_type(const struct hx_row_plugin *plugin, const hx_row_call_t *call) {
  if (call->kind == HX_ROW_LIFT) return row_type(plugin, call->from, HX_COEFFICIENT);
  return row_type(plugin, call->id, kinds[call->kind].domain_from);
}

static hx_tensor_desc describe(const struct hx_row_plugin *plugin, const hx_type_t *type, const uint32_t *id) {
  const uint64_t n = (uint64_t)1 << plugin->ring->log_n;
  return (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                          .dtype = type->dtype,
                          .log_n = plugin->ring->log_n,
                          .components = 1,
                          .limbs = 1,
                          .domain = type->domain,
                          .basis = type->basis,
                          .repr = type->repr,
                          .flags = HX_SECRET,
                          .component_stride = n,
                          .limb_stride = n,
                          .prime_ids = id};
}

// Prepares the region of one operation; false where the implementation does not take it.
static bool prepare(const struct hx_row_plugin *plugin, const hx_row_call_t *call, const hx_type_t *from,
                    const hx_type_t *to, const hx_resolution_t *found, entry_t *entry) {
  const int64_t id = call->id;
  const uint32_t operand_ids[] = {0, 1, 2}, result = call->operand_count;
  const uint32_t from_id = call->kind == HX_ROW_LIFT ? call->from : call->id;
  hx_tensor_desc values[HX_ROW_OPERANDS_MAX + 1];
  for (uint32_t i = 0; i < call->operand_count; ++i) values[i] = describe(plugin, from, &from_id);
  values[result] = describe(plugin, to, &call->id);
  hx_attr attr = {.struct_size = HX_END_OF(hx_attr, data), .count = 1};
  const bool is_lift = call->kind == HX_ROW_LIFT;
  attr.kind = is_lift ? HX_ATTR_I64 : HX_ATTR_U64;
  attr.name = is_lift ? "ids" : "residues";
  attr.data = is_lift ? (const void *)&id : (const void *)&call->scalar;
  const hx_op op = {.struct_size = HX_END_OF(hx_op, resources),
                    .signature = found->implementation->record->signature,
                    .attr_count = is_lift || call->kind == HX_ROW_MUL_SCALAR,
                    .operand_count = call->operand_count,
                    .result_count = 1,
                    .name = hx_op_info(kinds[call->kind].op)->name,
                    .attrs = &attr,
                    .operands = operand_ids,
                    .results = &result};
  const hx_region region = {.struct_size = HX_END_OF(hx_region, variant),
                            .value_count = call->operand_count + 1,
                            .op_count = 1,
                            .input_count = call->operand_count,
                            .output_count = 1,
                            .ring = plugin->ring,
                            .tables = plugin->tables->handle,
                            .values = values,
                            .ops = &op,
                            .inputs = operand_ids,
                            .outputs = &result};
  hx_error error = hx_error_make();
  entry->record = found->implementation->record;
  entry->may_alias = -1;
  entry->plan = (hx_plan){.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &entry->may_alias};
  return entry->record->prepare(plugin->device->handle, &region, &entry->plan, &entry->prepared, &error) == HX_OK;
}

// A new entry at the head of its list, usable or not. NULL: out of memory. Under the lock.
static entry_t *add_entry(struct hx_row_plugin *plugin, const hx_row_call_t *call) {
  entry_t *entry = hx_zalloc(1, sizeof *entry);
  if (entry == NULL) return NULL;
  entry->scalar = call->scalar;
  entry->from = call->from;
  const hx_type_t from = operand_type(plugin, call), to = row_type(plugin, call->id, kinds[call->kind].domain_to);
  const hx_type_t *const operands[] = {&from, &from, &from}, *const results[] = {&to};
  const hx_invocation_t invocation = {.op = hx_op_info(kinds[call->kind].op),
                                      .operands = operands,
                                      .operand_count = call->operand_count,
                                      .results = results,
                                      .result_count = 1,
                                      .ring = plugin->ring,
                                      .secret = true};
  hx_resolution_t found;
  const bool usable =
      hx_backend_resolve(plugin->backend, &invocation, &(hx_request_t){0}, &found, NULL) == HX_STATUS_OK &&
      found.implementation->device == plugin->device && prepare(plugin, call, &from, &to, &found, entry);
  if (!usable) entry->record = NULL;
  entry->next = atomic_load(&plugin->entries[call->kind][call->id]);
  atomic_store_explicit(&plugin->entries[call->kind][call->id], entry, memory_order_release);
  return entry;
}

static entry_t *find_entry(struct hx_row_plugin *plugin, const hx_row_call_t *call) {
  entry_t *entry = atomic_load_explicit(&plugin->entries[call->kind][call->id], memory_order_acquire);
  while (entry != NULL && (entry->scalar != call->scalar || entry->from != call->from)) entry = entry->next;
  return entry;
}

static entry_t *entry_for(struct hx_row_plugin *plugin, const hx_row_call_t *call) {
  entry_t *entry = find_entry(plugin, call);
  if (entry != NULL) return entry;
  (void)pthread_mutex_lock(&plugin->lock);
  entry = find_entry(plugin, call);
  if (entry == NULL) entry = add_entry(plugin, call);
  (void)pthread_mutex_unlock(&plugin->lock);
  return entry;
}

// ------------------------------------------------------------------ execution

// Whether the result may lie where the call has it: on no operand, or on the one that the plan names, alone; and
// whether the rows lie as the device wants them, which those of the smallest rings do not.
static bool fits(const struct hx_row_plugin *plugin, const entry_t *entry, const hx_row_call_t *call) {
  if (call->out.offset % plugin->device->alignment != 0) return false;
  for (uint32_t i = 0; i < call->operand_count; ++i)
    if (call->operands[i].offset % plugin->device->alignment != 0) return false;
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    if (hx_row_address(call->operands[i]) == hx_row_address(call->out) && entry->may_alias != (int32_t)i) return false;
  }
  return true;
}

static hx_status_t grow_scratch(struct hx_row_plugin *plugin, hx_row_session_t *session, uint64_t bytes) {
  if (session->plugin_scratch != NULL && session->plugin_scratch->bytes >= bytes) return HX_STATUS_OK;
  hx_row_wait(session);
  if (session->plugin_scratch != NULL) hx_storage_release(session->plugin_scratch);
  session->plugin_scratch = NULL;
  return hx_device_alloc(plugin->device, HX_SPACE_DEVICE, bytes, true, &session->plugin_scratch, NULL);
}

static hx_status_t span_of(struct hx_row_plugin *plugin, hx_row_t row, hx_span *out) {
  out->offset = row.offset;
  return hx_device_buffer(plugin->device, row.storage, "a row", &out->buffer, NULL);
}

static hx_status_t execute(struct hx_row_plugin *plugin, hx_row_session_t *session, const entry_t *entry,
                           const hx_row_call_t *call) {
  hx_span inputs[HX_ROW_OPERANDS_MAX], output;
  for (uint32_t i = 0; i < call->operand_count; ++i) HX_TRY(span_of(plugin, call->operands[i], &inputs[i]));
  HX_TRY(span_of(plugin, call->out, &output));
  hx_call run = {
      .struct_size = HX_END_OF(hx_call, outputs), .queue = session->queue, .inputs = inputs, .outputs = &output};
  if (entry->plan.scratch_device > 0) {
    HX_TRY(grow_scratch(plugin, session, entry->plan.scratch_device));
    run.scratch_device = (hx_span){session->plugin_scratch->buffer, 0};
  }
  hx_error error = hx_error_make();
  session->is_pending = true;
  return hx_plugin_status(plugin->device->plugin, entry->record->execute(entry->prepared, &run, &error), &error,
                          "arithmetic on rows", NULL);
}

bool hx_row_plugin_run(struct hx_row_plugin *plugin, hx_row_session_t *session, const hx_row_call_t *call) {
  const entry_t *entry = entry_for(plugin, call);
  if (entry == NULL) {
    session->status = HX_STATUS_OUT_OF_MEMORY;
    return true;
  }
  // Scratch of the host space is not offered here; nothing in the tree asks for it for rows.
  if (entry->record == NULL || entry->plan.scratch_host > 0 || !fits(plugin, entry, call)) return false;
  session->status = execute(plugin, session, entry, call);
  return true;
}

void hx_row_plugin_wait(struct hx_row_plugin *plugin, hx_row_session_t *session) {
  hx_error error = hx_error_make();
  const hx_status_t status = hx_plugin_status(
      plugin->device->plugin, plugin->device->queue.sync(session->queue, &error), &error, "arithmetic on rows", NULL);
  if (session->status == HX_STATUS_OK) session->status = status;
}
