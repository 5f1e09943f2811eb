// SPDX-License-Identifier: Apache-2.0
// A watched run: every result of a call, copied to the host as soon as the call is over.
#include "core/link/executable.h"

// Enqueues the copy of a result's rows, dense, and waits: for the call too.
static hx_status_t fetch(hx_executable_t *exe, hx_instance_t *instance, uint32_t slot, const hx_layout_t *dense,
                         hx_storage_t *to, hx_report_t *report) {
  hx_error error = hx_error_make();
  const uint32_t site = hx_slot_site(exe, slot);
  const hx_opened_device_t *device = exe->sites[site].device;
  int32_t result = hx_copy_rows(device, instance->sites[site].queue, dense, (hx_span){.buffer = to->buffer},
                                exe->slots[slot].layout, hx_instance_span(exe, instance, slot), &error);
  if (result == HX_OK) result = device->queue.sync(instance->sites[site].queue, &error);
  return hx_plugin_status(device->plugin, result, &error, "watch a call", report);
}

static hx_status_t show(hx_executable_t *exe, hx_instance_t *instance, uint32_t index, hx_watched_t *watched,
                        const hx_watcher_t *watcher, hx_report_t *report) {
  const hx_slot_t *slot = &exe->slots[index];
  hx_opened_device_t *device = exe->sites[hx_slot_site(exe, index)].device;
  hx_layout_t dense = *slot->layout;
  uint32_t ids[HX_PRIMES_MAX];
  hx_storage_t *copy = NULL;
  dense.has_rows = false;
  const uint64_t bytes = hx_layout_pack(&dense) * hx_dtype_bytes(dense.dtype);
  watched->value = slot->name;
  watched->secret = slot->secret;
  watched->layout = &dense;
  if (dense.dtype == HX_U64 || dense.dtype == HX_U32) {
    hx_primes_list(&slot->primes, ids);
    watched->prime_ids = ids;
  }
  hx_status_t status = HX_STATUS_OK;
  if (!slot->secret && !watched->inner) {
    status = hx_device_alloc(device, HX_SPACE_PINNED, bytes, false, &copy, report);
    if (status == HX_STATUS_OK) status = fetch(exe, instance, index, &dense, copy, report);
    if (status == HX_STATUS_OK)
      watched->data = copy->address != NULL ? copy->address : device->memory.address(copy->buffer);
    if (status == HX_STATUS_OK && watched->data == NULL)
      status = hx_report_fail(report, HX_CODE_INTERNAL, "%s gives pinned memory without an address", device->name);
  }
  if (status == HX_STATUS_OK) watcher->watch(watcher->argument, watched);
  // What this call owned goes with it.
  watched->layout = NULL;
  watched->prime_ids = NULL;
  watched->data = NULL;
  hx_storage_release(copy);
  return status;
}

static bool is_result(const hx_step_t *call, uint32_t slot) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    if (call->results[i] == slot) return true;
  }
  return false;
}

// The results of one operation, which is the call or a part of it.
static hx_status_t show_results(hx_executable_t *exe, hx_instance_t *instance, const hx_step_t *call,
                                const hx_ir_op_t *op, const uint32_t *results, uint32_t count, size_t number,
                                const hx_watcher_t *watcher, hx_report_t *report) {
  for (uint32_t i = 0; i < count; ++i) {
    hx_watched_t watched = {.call = number,
                            .operation = op->info->name,
                            .implementation = call->resolution.implementation->qualified,
                            .inner = !is_result(call, results[i]),
                            .result = i,
                            .line = op->line,
                            .column = op->column};
    HX_TRY(show(exe, instance, results[i], &watched, watcher, report));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_watch_step(hx_executable_t *exe, hx_instance_t *instance, size_t step, size_t number,
                          const hx_watcher_t *watcher, hx_report_t *report) {
  const hx_step_t *call = &exe->steps.items[step];
  const hx_fused_t *fused = call->fused;
  if (fused == NULL)
    return show_results(exe, instance, call, call->op, call->results, call->result_count, number, watcher, report);
  for (uint32_t i = 0; i < fused->count; ++i)
    HX_TRY(show_results(exe, instance, call, fused->ops[i], fused->results[i], fused->result_counts[i], number, watcher,
                        report));
  return HX_STATUS_OK;
}
