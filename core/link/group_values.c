// SPDX-License-Identifier: Apache-2.0
// Values across ranks. The combine region of a sum is rns.add, prepared by the plugin that computes and handed to the
// one that has the group as a callable. Device memory is staged through pinned memory.
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"
#include "core/link/group.h"
#include "core/link/region.h"

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a value of a group");
}

// ------------------------------------------------------------------ what is sent

// A dense copy of the value in host memory, and agreement on what it is.
static hx_status_t prepare_payload(hx_group_t *group, const char *call, uint32_t root, const hx_value_t *value,
                                   hx_value_t **out, hx_report_t *report) {
  hx_text_t facts;
  hx_text_init(&facts);
  hx_text_printf(&facts, "%s %u %s ", call, root, hx_params_digest_hex(value->params));
  (void)hx_type_print(&value->type, &facts);
  hx_text_printf(&facts, " %llu %d ", (unsigned long long)value->count, value->is_complex);
  for (size_t i = 0; i < sizeof value->key_id; ++i) hx_text_printf(&facts, "%02x", value->key_id[i]);
  hx_status_t status = facts.failed ? no_memory(report)
                                    : hx_group_compare(group, facts.data, facts.size, HX_CODE_RANK_MISMATCH,
                                                       "compare the values of all ranks", report);
  hx_text_deinit(&facts);
  if (status == HX_STATUS_OK) status = hx_value_to_dense_host(value, out, report);
  // What the other ranks know of their values' noise does not travel.
  if (status == HX_STATUS_OK && group->size > 1) (*out)->noise = (hx_noise_t){0};
  return status;
}

static void *payload_of(const hx_value_t *value, uint64_t *out_bytes) {
  const hx_tensor_t *tensor = value->tensor;
  *out_bytes = hx_layout_elements(&tensor->layout) * hx_dtype_bytes(tensor->layout.dtype);
  return (unsigned char *)tensor->storage->address + tensor->offset;
}

static bool is_sendable(const hx_value_t *value) {
  return value != NULL && (value->type.kind == HX_TYPE_CIPHERTEXT || value->type.kind == HX_TYPE_PLAINTEXT);
}

static hx_status_t check_call(const hx_group_t *group, const hx_value_t *value, const void *out, const char *call,
                              hx_report_t *report) {
  if (group == NULL || !is_sendable(value) || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: an argument is NULL, or no ciphertext or plaintext",
                          call);
  if (value->secret)
    return hx_report_fail(report, HX_CODE_CAPABILITY, "%s: a secret value is not sent to other processes", call);
  return HX_STATUS_OK;
}

static hx_status_t broadcast(hx_group_t *group, uint32_t root, const hx_value_t *value, hx_value_t **out,
                             hx_report_t *report) {
  if (root >= group->size)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_group_broadcast: there are %u ranks, no rank %u",
                          group->size, root);
  hx_value_t *copy = NULL;
  HX_TRY(prepare_payload(group, "broadcast", root, value, &copy, report));
  uint64_t bytes = 0;
  void *payload = payload_of(copy, &bytes);
  hx_error error = hx_error_make();
  const int32_t result = group->plugin->table.collectives->broadcast(group->handle, root, payload, bytes, &error);
  const hx_status_t status = hx_group_status(group, result, &error, HX_CODE_RANK_MISMATCH, "broadcast", report);
  group->volume.sent += group->rank == root ? bytes : 0;
  group->volume.received += group->rank == root ? 0 : bytes;
  if (status == HX_STATUS_OK) {
    hx_tensor_touch(copy->tensor);
    *out = copy;
  } else {
    hx_value_release(copy);
  }
  return status;
}

static hx_status_t all_gather(hx_group_t *group, const hx_value_t *value, hx_value_t **outs, hx_report_t *report) {
  hx_value_t *copy = NULL;
  HX_TRY(prepare_payload(group, "all_gather", 0, value, &copy, report));
  uint64_t bytes = 0;
  const void *mine = payload_of(copy, &bytes);
  unsigned char *all = bytes > SIZE_MAX / group->size ? NULL : hx_alloc((size_t)bytes * group->size);
  uint64_t *sizes = hx_alloc(group->size * sizeof *sizes);
  hx_status_t status = all == NULL || sizes == NULL ? no_memory(report) : HX_STATUS_OK;
  for (uint32_t r = 0; sizes != NULL && r < group->size; ++r) sizes[r] = bytes;
  hx_error error = hx_error_make();
  if (status == HX_STATUS_OK) {
    const int32_t result = group->plugin->table.collectives->all_gather(group->handle, mine, all, sizes, &error);
    status = hx_group_status(group, result, &error, HX_CODE_RANK_MISMATCH, "all_gather", report);
    group->volume.sent += bytes;
    group->volume.received += bytes * (group->size - 1);
  }
  for (uint32_t r = 0; r < group->size; ++r) outs[r] = NULL;
  for (uint32_t r = 0; r < group->size && status == HX_STATUS_OK; ++r) {
    status = hx_value_to_dense_host(copy, &outs[r], report);
    if (status == HX_STATUS_OK) memcpy(payload_of(outs[r], &bytes), all + (size_t)bytes * r, (size_t)bytes);
  }
  for (uint32_t r = 0; r < group->size && status != HX_STATUS_OK; ++r) {
    hx_value_release(outs[r]);
    outs[r] = NULL;
  }
  hx_free(all);
  hx_free(sizes);
  hx_value_release(copy);
  return status;
}

// ------------------------------------------------------------------ reductions

// The prepared addition and its memory on the compute device: the sum moves between two places.
typedef struct hx_combine {
  hx_callable callable;  // execute: combine_run; prepared: this object
  hx_opened_device_t *device;
  const hx_implementation_t *add;
  hx_prepared *prepared;
  hx_device_tables_t *tables;
  hx_queue *queue;
  hx_storage_t *sums[2], *operand, *staging, *scratch_host, *scratch_device;
  int current;  // of sums
  uint64_t bytes;
} hx_combine_t;

static void combine_deinit(hx_combine_t *combine) {
  if (combine->prepared != NULL) combine->add->record->destroy(combine->prepared);
  if (combine->queue != NULL) combine->device->queue.destroy(combine->queue);
  hx_device_tables_release(combine->tables);
  hx_storage_t *const storages[] = {combine->sums[0], combine->sums[1],      combine->operand,
                                    combine->staging, combine->scratch_host, combine->scratch_device};
  for (size_t i = 0; i < HX_COUNT_OF(storages); ++i) hx_storage_release(storages[i]);
}

// What the collective plugin runs: the payload in pinned memory is added to the sum.
static int32_t combine_run(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  hx_combine_t *combine = (hx_combine_t *)(void *)prepared;
  (void)call;  // the host's own, as it was handed out
  const hx_span incoming = {.buffer = combine->staging->buffer}, operand = {.buffer = combine->operand->buffer};
  const hx_span inputs[2] = {{.buffer = combine->sums[combine->current]->buffer}, operand};
  const hx_span outputs[1] = {{.buffer = combine->sums[1 - combine->current]->buffer}};
  const hx_call add = {
      .struct_size = HX_END_OF(hx_call, outputs),
      .queue = combine->queue,
      .scratch_host = {.buffer = combine->scratch_host == NULL ? NULL : combine->scratch_host->buffer},
      .scratch_device = {.buffer = combine->scratch_device == NULL ? NULL : combine->scratch_device->buffer},
      .inputs = inputs,
      .outputs = outputs};
  int32_t result = combine->device->queue.copy(combine->queue, operand, incoming, combine->bytes, error);
  if (result == HX_OK) result = combine->add->record->execute(combine->prepared, &add, error);
  if (result == HX_OK) result = combine->device->queue.sync(combine->queue, error);
  if (result == HX_OK) combine->current = 1 - combine->current;
  return result;
}

// rns.add on two tensors of the value's shape, resolved as a program's would be.
static hx_status_t prepare_add(hx_group_t *group, const hx_value_t *value, hx_combine_t *combine, hx_plan *plan,
                               hx_report_t *report) {
  const hx_ring *ring = hx_params_ring(value->params);
  const hx_type_t *const types[3] = {&value->type, &value->type, &value->type};
  const hx_invocation_t invocation = {.op = hx_op_info(HX_OP_RNS_ADD),
                                      .operands = types,
                                      .operand_count = 2,
                                      .results = types + 2,
                                      .result_count = 1,
                                      .ring = ring};
  hx_resolution_t resolution;
  HX_TRY(hx_backend_resolve(group->backend, &invocation, &(hx_request_t){0}, &resolution, report));
  combine->add = resolution.implementation;
  HX_TRY(hx_device_tables_acquire(combine->device, ring, &combine->tables, report));
  const hx_region_value_t tensor = {
      .type = &value->type, .layout = &value->tensor->layout, .primes = &value->type.primes};
  const hx_region_value_t operands[2] = {tensor, tensor};
  const hx_region_call_t call = {.op = invocation.op,
                                 .operands = operands,
                                 .results = &tensor,
                                 .operand_count = 2,
                                 .result_count = 1,
                                 .ring = ring,
                                 .tables = combine->tables->handle};
  hx_arena_t arena;
  hx_arena_init(&arena);
  const hx_region *region = NULL;
  hx_status_t status = hx_region_build(&arena, &call, &region, report);
  hx_error error = hx_error_make();
  if (status == HX_STATUS_OK) {
    const int32_t result =
        combine->add->record->prepare(combine->device->handle, region, plan, &combine->prepared, &error);
    if (result != HX_OK) combine->prepared = NULL;
    status = hx_implementation_status(combine->add, result, &error, "prepare the sum of all ranks", report);
  }
  hx_arena_deinit(&arena);
  return status;
}

static hx_status_t alloc_combine(hx_combine_t *combine, const hx_plan *plan, hx_report_t *report) {
  hx_opened_device_t *device = combine->device;
  HX_TRY(hx_device_queue(device, &combine->queue, report));
  for (int i = 0; i < 2; ++i)
    HX_TRY(hx_device_alloc(device, HX_SPACE_DEVICE, combine->bytes, false, &combine->sums[i], report));
  HX_TRY(hx_device_alloc(device, HX_SPACE_DEVICE, combine->bytes, false, &combine->operand, report));
  HX_TRY(hx_device_alloc(device, HX_SPACE_PINNED, combine->bytes, false, &combine->staging, report));
  if (combine->staging->address == NULL)
    return hx_report_fail(report, HX_CODE_PLUGIN_CALL, "%s gives pinned memory without an address", device->name);
  if (plan->scratch_host > 0)
    HX_TRY(hx_device_alloc(device, HX_SPACE_HOST, plan->scratch_host, false, &combine->scratch_host, report));
  if (plan->scratch_device > 0)
    HX_TRY(hx_device_alloc(device, HX_SPACE_DEVICE, plan->scratch_device, false, &combine->scratch_device, report));
  return hx_device_clear(device, combine->sums[0], 0, combine->bytes, report);
}

static hx_status_t reduce(hx_group_t *group, hx_combine_t *combine, hx_value_t *value, hx_report_t *report) {
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  void *payload = payload_of(value, &combine->bytes);
  combine->device = group->backend->devices[0];
  HX_TRY(prepare_add(group, value, combine, &plan, report));
  HX_TRY(alloc_combine(combine, &plan, report));
  combine->callable = (hx_callable){.execute = combine_run, .prepared = (hx_prepared *)(void *)combine};
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs), .queue = combine->queue};
  const hx_reduction reduction = {.struct_size = HX_END_OF(hx_reduction, bytes),
                                  .combine = &combine->callable,
                                  .call = &call,
                                  .mine = payload,
                                  .incoming = combine->staging->address,
                                  .bytes = combine->bytes};
  hx_error error = hx_error_make();
  const int32_t result = group->plugin->table.collectives->all_reduce(group->handle, &reduction, &error);
  HX_TRY(hx_group_status(group, result, &error, HX_CODE_RANK_MISMATCH, "all_reduce", report));
  group->volume.sent += combine->bytes;
  group->volume.received += combine->bytes * (group->size - 1);
  HX_TRY(hx_device_download(combine->device, payload, combine->sums[combine->current], 0, combine->bytes, report));
  hx_tensor_touch(value->tensor);
  return HX_STATUS_OK;
}

static hx_status_t all_reduce_add(hx_group_t *group, const hx_value_t *value, hx_value_t **out, hx_report_t *report) {
  hx_value_t *copy = NULL;
  HX_TRY(prepare_payload(group, "all_reduce_add_ciphertext", 0, value, &copy, report));
  hx_combine_t combine = {0};
  const hx_status_t status = reduce(group, &combine, copy, report);
  combine_deinit(&combine);
  if (status == HX_STATUS_OK) {
    *out = copy;
  } else {
    hx_value_release(copy);
  }
  return status;
}

// ------------------------------------------------------------------ calls

hx_status_t hx_group_broadcast(hx_group_t *group, uint32_t root, const hx_value_t *value, hx_value_t **out,
                               hx_report_t *report) {
  HX_TRY(check_call(group, value, out, "hx_group_broadcast", report));
  HX_TRY(hx_group_enter(group, report));
  const hx_status_t status = broadcast(group, root, value, out, report);
  hx_group_leave(group);
  return status;
}

hx_status_t hx_group_all_gather(hx_group_t *group, const hx_value_t *value, hx_value_t **outs, hx_report_t *report) {
  HX_TRY(check_call(group, value, outs, "hx_group_all_gather", report));
  HX_TRY(hx_group_enter(group, report));
  const hx_status_t status = all_gather(group, value, outs, report);
  hx_group_leave(group);
  return status;
}

hx_status_t hx_group_all_reduce_add(hx_group_t *group, const hx_value_t *value, hx_value_t **out, hx_report_t *report) {
  HX_TRY(check_call(group, value, out, "hx_group_all_reduce_add", report));
  HX_TRY(hx_group_enter(group, report));
  const hx_status_t status = all_reduce_add(group, value, out, report);
  hx_group_leave(group);
  return status;
}
