// SPDX-License-Identifier: Apache-2.0
// Opening and closing devices, their queues, and the tables of each ring.
#include "core/backend/device.h"

#include <stdio.h>
#include <string.h>

hx_error hx_error_make(void) { return (hx_error){.struct_size = HX_END_OF(hx_error, message), .op = HX_NONE}; }

// Copies as much of a role table as the plugin filled; the rest stays NULL. struct_size counts the copied bytes.
static void copy_role(void *to, size_t room, const void *from) {
  if (from == NULL) return;
  uint32_t size;
  memcpy(&size, from, sizeof size);
  memcpy(to, from, size < room ? size : room);
}

static bool has_roles(const hx_opened_device_t *device) {
  return device->device.open != NULL && device->device.close != NULL && device->memory.alloc != NULL &&
         device->memory.free != NULL && device->queue.create != NULL && device->queue.destroy != NULL &&
         device->queue.copy != NULL && device->queue.sync != NULL;
}

static hx_status_t open_handle(hx_opened_device_t *device, hx_report_t *report) {
  hx_error error = hx_error_make();
  char what[HX_NAME_MAX + 16];
  snprintf(what, sizeof what, "open %s", device->name);
  device->info.struct_size = HX_END_OF(hx_device_info, peers_linked);
  if (device->device.info != NULL) {
    const int32_t known = device->device.info(device->index, &device->info, &error);
    if (known != HX_OK) return hx_plugin_status(device->plugin, known, &error, what, report);
  }
  const uint64_t stated = device->info.alignment;
  if ((stated & (stated - 1)) != 0) {
    return hx_report_fail(report, HX_CODE_PLUGIN_CALL, "%s states an alignment of %llu bytes, which is no power of two",
                          device->name, (unsigned long long)stated);
  }
  device->alignment = stated < 64 ? 64 : stated;
  if (device->index < 64) device->info.peers &= ~((uint64_t)1 << device->index);
  device->info.peers_linked &= device->info.peers;
  return hx_plugin_status(device->plugin, device->device.open(device->index, &device->handle, &error), &error, what,
                          report);
}

static void deinit(hx_opened_device_t *device) {
  if (device->service != NULL) device->queue.destroy(device->service);
  if (device->handle != NULL) device->device.close(device->handle);
  pthread_mutex_destroy(&device->lock);
  pthread_mutex_destroy(&device->service_lock);
  hx_loaded_plugin_release(device->plugin);
  hx_free(device);
}

hx_status_t hx_device_open(hx_loaded_plugin_t *plugin, uint32_t index, hx_opened_device_t **out, hx_report_t *report) {
  hx_opened_device_t *device = hx_zalloc(1, sizeof *device);
  if (device == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to open a device");
  atomic_init(&device->refs, 1);
  atomic_init(&device->imports, 0);
  pthread_mutex_init(&device->lock, NULL);
  pthread_mutex_init(&device->service_lock, NULL);
  device->plugin = hx_loaded_plugin_retain(plugin);
  device->index = index;
  snprintf(device->name, sizeof device->name, "%.*s:%u", HX_NAME_MAX - 16, plugin->record->name, index);
  copy_role(&device->device, sizeof device->device, plugin->table.device);
  copy_role(&device->memory, sizeof device->memory, plugin->table.memory);
  copy_role(&device->queue, sizeof device->queue, plugin->table.queue);
  copy_role(&device->materializer, sizeof device->materializer, plugin->table.materializer);
  copy_role(&device->codec, sizeof device->codec, plugin->table.codec);
  hx_status_t status;
  if (has_roles(device)) {
    status = open_handle(device, report);
  } else {
    status = hx_report_fail(report, HX_CODE_UNSUPPORTED,
                            "plugin %s cannot compute: its device, memory and queue roles are not complete",
                            plugin->record->name);
  }
  if (status != HX_STATUS_OK) {
    deinit(device);
    return status;
  }
  *out = device;
  return HX_STATUS_OK;
}

hx_opened_device_t *hx_device_retain(hx_opened_device_t *device) {
  atomic_fetch_add_explicit(&device->refs, 1, memory_order_relaxed);
  return device;
}

void hx_device_release(hx_opened_device_t *device) {
  if (device == NULL || atomic_fetch_sub_explicit(&device->refs, 1, memory_order_acq_rel) != 1) return;
  deinit(device);
}

hx_status_t hx_device_queue(hx_opened_device_t *device, hx_queue **out, hx_report_t *report) {
  hx_error error = hx_error_make();
  return hx_plugin_status(device->plugin, device->queue.create(device->handle, out, &error), &error, "create a queue",
                          report);
}

// ------------------------------------------------------------------ tables

static hx_device_tables_t *find_tables(const hx_opened_device_t *device, const hx_ring *ring) {
  hx_device_tables_t *tables = device->tables;
  while (tables != NULL && memcmp(tables->digest, ring->digest, sizeof tables->digest) != 0) tables = tables->next;
  return tables;
}

// Under the lock: one thread makes them, others wait and share.
static hx_status_t make_tables(hx_opened_device_t *device, const hx_ring *ring, hx_device_tables_t **out,
                               hx_report_t *report) {
  hx_device_tables_t *tables = hx_zalloc(1, sizeof *tables);
  if (tables == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for the tables of a ring");
  memcpy(tables->digest, ring->digest, sizeof tables->digest);
  if (device->device.tables_create != NULL) {
    hx_error error = hx_error_make();
    const int32_t result = device->device.tables_create(device->handle, ring, &tables->handle, &error);
    if (result != HX_OK) {
      hx_free(tables);
      return hx_plugin_status(device->plugin, result, &error, "make the tables of a ring", report);
    }
  }
  tables->device = hx_device_retain(device);
  tables->next = device->tables;
  device->tables = tables;
  *out = tables;
  return HX_STATUS_OK;
}

hx_status_t hx_device_tables_acquire(hx_opened_device_t *device, const hx_ring *ring, hx_device_tables_t **out,
                                     hx_report_t *report) {
  pthread_mutex_lock(&device->lock);
  hx_device_tables_t *tables = find_tables(device, ring);
  const hx_status_t status = tables != NULL ? HX_STATUS_OK : make_tables(device, ring, &tables, report);
  if (tables != NULL) {
    tables->refs += 1;
    *out = tables;
  }
  pthread_mutex_unlock(&device->lock);
  return status;
}

void hx_device_tables_release(hx_device_tables_t *tables) {
  if (tables == NULL) return;
  hx_opened_device_t *device = tables->device;
  pthread_mutex_lock(&device->lock);
  const bool last = --tables->refs == 0;
  if (last) {
    hx_device_tables_t **place = &device->tables;
    while (*place != tables) place = &(*place)->next;
    *place = tables->next;
  }
  pthread_mutex_unlock(&device->lock);
  if (!last) return;
  if (tables->handle != NULL && device->device.tables_destroy != NULL) device->device.tables_destroy(tables->handle);
  hx_free(tables);
  hx_device_release(device);
}
