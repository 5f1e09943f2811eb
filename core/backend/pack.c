// SPDX-License-Identifier: Apache-2.0
// Packed forms of materials, shared by all executables that use the same bytes in the same way.
#include <stdio.h>
#include <string.h>

#include "core/backend/device.h"

static bool is_form_of(const hx_packed_form_t *form, const hx_tables *tables, const char *kind,
                       const hx_tensor_t *tensor, uint64_t generation) {
  return form->storage_id == tensor->storage->id && form->generation == generation && form->offset == tensor->offset &&
         form->tables == tables && strcmp(form->kind, kind) == 0 && hx_layout_equal(&form->layout, &tensor->layout);
}

static hx_status_t fill_form(hx_packed_form_t *form, hx_device_tables_t *tables, const hx_tensor_t *tensor,
                             const hx_tensor_desc *desc, hx_report_t *report) {
  hx_opened_device_t *device = tables->device;
  char what[HX_NAME_MAX + 32];
  snprintf(what, sizeof what, "a material for %s", form->kind);
  hx_buffer *buffer;
  HX_TRY(hx_device_buffer(device, tensor->storage, what, &buffer, report));
  hx_queue *queue;
  HX_TRY(hx_device_queue(device, &queue, report));
  hx_error error = hx_error_make();
  const hx_span span = {.buffer = buffer, .offset = tensor->offset};
  int32_t result =
      device->materializer.pack(device->handle, tables->handle, form->kind, desc, span, queue, &form->handle, &error);
  if (result == HX_OK) {
    result = device->queue.sync(queue, &error);
    if (result != HX_OK && device->materializer.release != NULL) device->materializer.release(form->handle);
  }
  device->queue.destroy(queue);
  snprintf(what, sizeof what, "pack %s", form->kind);
  return hx_plugin_status(device->plugin, result, &error, what, report);
}

static hx_status_t make_form(hx_device_tables_t *tables, const char *kind, const hx_tensor_t *tensor,
                             uint64_t generation, const hx_tensor_desc *desc, hx_packed_form_t **out,
                             hx_report_t *report) {
  hx_opened_device_t *device = tables->device;
  if (device->materializer.pack == NULL || strlen(kind) >= HX_NAME_MAX) {
    return hx_report_fail(report, HX_CODE_RESOURCE, "plugin %s declares the resource %s but has no materializer for it",
                          device->plugin->record->name, kind);
  }
  hx_packed_form_t *form = hx_zalloc(1, sizeof *form);
  if (form == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to pack a material");
  form->storage_id = tensor->storage->id;
  form->generation = generation;
  form->offset = tensor->offset;
  form->tables = tables->handle;
  form->layout = tensor->layout;
  memcpy(form->kind, kind, strlen(kind) + 1);
  const hx_status_t status = fill_form(form, tables, tensor, desc, report);
  if (status != HX_STATUS_OK) {
    hx_free(form);
    return status;
  }
  form->device = hx_device_retain(device);
  form->next = device->packed;
  device->packed = form;
  *out = form;
  return HX_STATUS_OK;
}

hx_status_t hx_device_pack(hx_opened_device_t *device, hx_device_tables_t *tables, const char *kind,
                           const hx_tensor_t *tensor, const hx_tensor_desc *desc, hx_packed_form_t **out,
                           hx_report_t *report) {
  const uint64_t generation = hx_tensor_generation(tensor);
  pthread_mutex_lock(&device->lock);
  hx_packed_form_t *form = device->packed;
  while (form != NULL && !is_form_of(form, tables->handle, kind, tensor, generation)) form = form->next;
  const hx_status_t status =
      form != NULL ? HX_STATUS_OK : make_form(tables, kind, tensor, generation, desc, &form, report);
  if (status == HX_STATUS_OK) {
    form->refs += 1;
    *out = form;
  }
  pthread_mutex_unlock(&device->lock);
  return status;
}

hx_packed_form_t *hx_packed_form_retain(hx_packed_form_t *form) {
  pthread_mutex_lock(&form->device->lock);
  form->refs += 1;
  pthread_mutex_unlock(&form->device->lock);
  return form;
}

void hx_packed_form_release(hx_packed_form_t *form) {
  if (form == NULL) return;
  hx_opened_device_t *device = form->device;
  pthread_mutex_lock(&device->lock);
  const bool last = --form->refs == 0;
  if (last) {
    hx_packed_form_t **place = &device->packed;
    while (*place != form) place = &(*place)->next;
    *place = form->next;
  }
  pthread_mutex_unlock(&device->lock);
  if (!last) return;
  if (device->materializer.release != NULL) device->materializer.release(form->handle);
  hx_free(form);
  hx_device_release(device);
}
