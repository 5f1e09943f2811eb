// SPDX-License-Identifier: Apache-2.0
// memory.transfer between two devices of a backend, in a run. A backend holds one device of each plugin, so the two are
// different plugins' and the value goes through host memory, each half by its own plugin. The queue that gave the value
// is waited for, and the copy is over when the step is: neither device has to know of the other's queue. Where the host
// addresses a device's memory that half is no copy at all; where it does not, the instance has staging memory for the
// largest value. Nothing is allocated here.
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"

// A value as the host sees it.
typedef struct hx_seen {
  unsigned char *address;
  const hx_layout_t *layout;
} hx_seen_t;

static unsigned char *address_of(const hx_opened_device_t *device, hx_span span) {
  unsigned char *start = device->memory.address == NULL ? NULL : device->memory.address(span.buffer);
  return start == NULL ? NULL : start + span.offset;
}

static unsigned char *staging_address(const hx_opened_device_t *device, const hx_storage_t *staging) {
  return staging->address != NULL ? staging->address : address_of(device, (hx_span){.buffer = staging->buffer});
}

static uint64_t row_of(const hx_layout_t *layout, uint32_t limb) {
  return (layout->has_rows ? layout->rows[limb] : limb) * layout->limb_stride;
}

// Row by row: strides may differ, shapes do not.
static void copy_seen(const hx_seen_t *to, const hx_seen_t *from) {
  const uint32_t size = hx_dtype_bytes(to->layout->dtype);
  const size_t bytes = (size_t)size << to->layout->log_n;
  const uint64_t items = hx_layout_items(to->layout);
  for (uint64_t item = 0; item < items; ++item) {
    for (uint32_t c = 0; c < to->layout->components; ++c) {
      for (uint32_t l = 0; l < to->layout->limbs; ++l) {
        const uint64_t target = hx_layout_item_offset(to->layout, item) + c * to->layout->component_stride;
        const uint64_t source = hx_layout_item_offset(from->layout, item) + c * from->layout->component_stride;
        memcpy(to->address + (target + row_of(to->layout, l)) * size,
               from->address + (source + row_of(from->layout, l)) * size, bytes);
      }
    }
  }
}

static hx_status_t fail(const hx_running_t *run, size_t index, const hx_site_t *site, int32_t result,
                        const hx_error *error) {
  const hx_step_t *step = &run->exe->steps.items[index];
  char what[192];
  snprintf(what, sizeof what, "step %zu, transfer %s (line %u)", index, run->exe->slots[step->operands[0]].name,
           step->op->line);
  return hx_plugin_status(site->device->plugin, result, error, what, run->report);
}

static hx_status_t fail_address(const hx_running_t *run, const hx_site_t *site) {
  return hx_report_fail(run->report, HX_CODE_PLUGIN_CALL, "%s works on host memory and gives no address of it",
                        site->device->name);
}

// The value where the host reads it; all work of its queue is done then.
static hx_status_t see_source(hx_running_t *run, size_t index, hx_seen_t *out) {
  const hx_executable_t *exe = run->exe;
  const hx_step_t *step = &exe->steps.items[index];
  const uint32_t slot = step->operands[0];
  const hx_site_t *site = &exe->sites[hx_slot_site(exe, slot)];
  const hx_instance_site_t *own = &run->instance->sites[hx_slot_site(exe, slot)];
  const hx_span span = run->instance->calls[index].inputs[0];
  hx_error error = hx_error_make();
  int32_t result = HX_OK;
  *out = (hx_seen_t){.layout = exe->slots[slot].layout};
  if (own->staging != NULL) {
    out->layout = exe->slots[step->results[0]].layout;  // dense
    result = hx_copy_rows(site->device, own->queue, out->layout, (hx_span){.buffer = own->staging->buffer},
                          exe->slots[slot].layout, span, &error);
  }
  if (result == HX_OK) result = site->device->queue.sync(own->queue, &error);
  if (result != HX_OK) return fail(run, index, site, result, &error);
  out->address = own->staging != NULL ? staging_address(site->device, own->staging) : address_of(site->device, span);
  return out->address == NULL ? fail_address(run, site) : HX_STATUS_OK;
}

hx_status_t hx_run_transfer(hx_running_t *run, size_t index) {
  const hx_executable_t *exe = run->exe;
  const hx_step_t *step = &exe->steps.items[index];
  const uint32_t slot = step->results[0];
  const hx_site_t *site = &exe->sites[hx_slot_site(exe, slot)];
  const hx_instance_site_t *own = &run->instance->sites[hx_slot_site(exe, slot)];
  const hx_span span = run->instance->calls[index].outputs[0];
  hx_seen_t from, to = {.layout = exe->slots[slot].layout};
  HX_TRY(see_source(run, index, &from));
  hx_error error = hx_error_make();
  // Whatever still reads the place, or the staging memory, comes first.
  int32_t result = site->device->queue.sync(own->queue, &error);
  if (result != HX_OK) return fail(run, index, site, result, &error);
  to.address = own->staging != NULL ? staging_address(site->device, own->staging) : address_of(site->device, span);
  if (to.address == NULL) return fail_address(run, site);
  copy_seen(&to, &from);
  if (own->staging == NULL) return HX_STATUS_OK;
  result = hx_copy_rows(site->device, own->queue, to.layout, span, to.layout, (hx_span){.buffer = own->staging->buffer},
                        &error);
  if (result == HX_OK) result = site->device->queue.sync(own->queue, &error);
  return result == HX_OK ? HX_STATUS_OK : fail(run, index, site, result, &error);
}
