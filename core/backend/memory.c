// SPDX-License-Identifier: Apache-2.0
// Memory of devices: allocation, host memory used in place, synchronous transfers, placed copies.
#include <string.h>

#include "core/backend/device.h"

#define STAGING_BYTES ((uint64_t)16 << 20)  // of a transfer to memory that the host cannot address

// ------------------------------------------------------------------ service queue

hx_status_t hx_device_service_begin(hx_opened_device_t *device, hx_report_t *report) {
  pthread_mutex_lock(&device->service_lock);
  if (device->service != NULL) return HX_STATUS_OK;
  const hx_status_t status = hx_device_queue(device, &device->service, report);
  if (status != HX_STATUS_OK) pthread_mutex_unlock(&device->service_lock);
  return status;
}

hx_status_t hx_device_service_end(hx_opened_device_t *device, int32_t result, hx_error *error, const char *what,
                                  hx_report_t *report) {
  hx_error late = hx_error_make();
  const int32_t synced = device->queue.sync(device->service, &late);
  if (result == HX_OK && synced != HX_OK) {
    result = synced;
    *error = late;
  }
  hx_error ignored = hx_error_make();
  if (result != HX_OK && (device->queue.reset == NULL || device->queue.reset(device->service, &ignored) != HX_OK)) {
    device->queue.destroy(device->service);
    device->service = NULL;
  }
  pthread_mutex_unlock(&device->service_lock);
  return hx_plugin_status(device->plugin, result, error, what, report);
}

static void *address_of(const hx_opened_device_t *device, hx_buffer *buffer) {
  return device->memory.address == NULL ? NULL : device->memory.address(buffer);
}

// ------------------------------------------------------------------ allocation

// Device storage goes: secrets that the host cannot reach are overwritten on the device first.
static void release_storage(hx_storage_t *storage) {
  hx_opened_device_t *device = storage->context;
  if (storage->secret && storage->address == NULL && device->queue.fill != NULL &&
      hx_device_service_begin(device, NULL) == HX_STATUS_OK) {
    hx_error error = hx_error_make();
    const int32_t filled =
        device->queue.fill(device->service, (hx_span){.buffer = storage->buffer}, 0, storage->bytes, &error);
    (void)hx_device_service_end(device, filled, &error, "clear secret memory", NULL);
  }
  device->memory.free(storage->buffer);
  hx_device_release(device);
}

hx_status_t hx_device_alloc(hx_opened_device_t *device, uint32_t space, uint64_t bytes, bool secret, hx_storage_t **out,
                            hx_report_t *report) {
  hx_error error = hx_error_make();
  hx_buffer *buffer = NULL;
  const int32_t result = device->memory.alloc(device->handle, space, bytes, &buffer, &error);
  if (result != HX_OK) return hx_plugin_status(device->plugin, result, &error, "allocate memory", report);
  hx_storage_t *storage = hx_storage_wrap(address_of(device, buffer), bytes, device, buffer, release_storage,
                                          hx_device_retain(device), secret);
  if (storage == NULL) {
    device->memory.free(buffer);
    hx_device_release(device);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a storage on %s", device->name);
  }
  *out = storage;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ import

static void release_link(const void *owner, hx_buffer *buffer) {
  hx_opened_device_t *device = (hx_opened_device_t *)(uintptr_t)owner;
  device->memory.free(buffer);
  hx_device_release(device);
}

static hx_buffer *find_link(hx_storage_t *storage, const hx_opened_device_t *device) {
  const hx_storage_link_t *link = atomic_load_explicit(&storage->links, memory_order_acquire);
  while (link != NULL && link->device != device) link = link->next;
  return link == NULL ? NULL : link->buffer;
}

// Links an imported buffer to its storage. Where another thread was faster, its buffer is taken and ours let go.
static hx_status_t add_link(hx_opened_device_t *device, hx_storage_t *storage, hx_buffer **buffer,
                            hx_report_t *report) {
  hx_storage_link_t *link = hx_alloc(sizeof *link);
  if (link == NULL) {
    device->memory.free(*buffer);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to import host memory to %s", device->name);
  }
  *link = (hx_storage_link_t){.device = device, .buffer = *buffer, .release = release_link};
  link->next = atomic_load_explicit(&storage->links, memory_order_acquire);
  do {
    hx_buffer *other = find_link(storage, device);
    if (other != NULL) {
      device->memory.free(*buffer);
      hx_free(link);
      *buffer = other;
      return HX_STATUS_OK;
    }
  } while (!atomic_compare_exchange_weak_explicit(&storage->links, &link->next, link, memory_order_acq_rel,
                                                  memory_order_acquire));
  hx_device_retain(device);  // the storage may outlive every backend
  return HX_STATUS_OK;
}

hx_status_t hx_device_buffer(hx_opened_device_t *device, hx_storage_t *storage, const char *what, hx_buffer **out,
                             hx_report_t *report) {
  if (storage->device == device) {
    *out = storage->buffer;
    return HX_STATUS_OK;
  }
  if (storage->device != NULL) {
    return hx_report_fail(report, HX_CODE_DEVICE_MIX, "%s lies on %s, the call runs on %s: transfer it first", what,
                          ((const hx_opened_device_t *)storage->device)->name, device->name);
  }
  *out = find_link(storage, device);
  if (*out != NULL) return HX_STATUS_OK;
  hx_error error = hx_error_make();
  const int32_t result =
      device->memory.import_host == NULL
          ? HX_UNSUPPORTED
          : device->memory.import_host(device->handle, storage->address, storage->bytes, out, &error);
  if (result == HX_UNSUPPORTED) {
    return hx_report_fail(report, HX_CODE_DEVICE_MIX,
                          "%s lies in host memory, which %s cannot use in place: transfer it first", what,
                          device->name);
  }
  if (result != HX_OK) return hx_plugin_status(device->plugin, result, &error, "import host memory", report);
  return add_link(device, storage, out, report);
}

bool hx_device_imports(hx_opened_device_t *device) {
  int known = atomic_load(&device->imports);
  if (known != 0) return known == 1;
  known = 2;
  hx_storage_t *probe = hx_storage_create(device->alignment, false);
  if (probe == NULL) return false;
  hx_error error = hx_error_make();
  hx_buffer *buffer = NULL;
  if (device->memory.import_host != NULL &&
      device->memory.import_host(device->handle, probe->address, probe->bytes, &buffer, &error) == HX_OK) {
    device->memory.free(buffer);
    known = 1;
  }
  hx_storage_release(probe);
  atomic_store(&device->imports, known);
  return known == 1;
}

// ------------------------------------------------------------------ transfers

// One staged piece: host -> staging -> device, or back.
static hx_status_t copy_piece(hx_opened_device_t *device, hx_span to, hx_span from, uint64_t bytes, const char *what,
                              hx_report_t *report) {
  HX_TRY(hx_device_service_begin(device, report));
  hx_error error = hx_error_make();
  const int32_t result = device->queue.copy(device->service, to, from, bytes, &error);
  return hx_device_service_end(device, result, &error, what, report);
}

static hx_status_t alloc_staging(hx_opened_device_t *device, uint64_t bytes, bool secret, hx_storage_t **out,
                                 hx_report_t *report) {
  const uint64_t size = bytes < STAGING_BYTES ? bytes : STAGING_BYTES;
  hx_storage_t *staging = NULL;
  if (hx_device_alloc(device, HX_SPACE_PINNED, size, secret, &staging, NULL) != HX_STATUS_OK) {
    HX_TRY(hx_device_alloc(device, HX_SPACE_HOST, size, secret, &staging, report));
  }
  if (staging != NULL && staging->address != NULL) {
    *out = staging;
    return HX_STATUS_OK;
  }
  hx_storage_release(staging);
  return hx_report_fail(report, HX_CODE_PLUGIN_CALL, "%s gives host memory without an address", device->name);
}

hx_status_t hx_device_upload(hx_opened_device_t *device, hx_storage_t *to, uint64_t to_offset, const void *from,
                             uint64_t bytes, hx_report_t *report) {
  if (to->address != NULL) {
    memcpy((unsigned char *)to->address + to_offset, from, (size_t)bytes);
    hx_storage_touch(to);
    return HX_STATUS_OK;
  }
  hx_storage_t *staging;
  HX_TRY(alloc_staging(device, bytes, to->secret, &staging, report));
  hx_status_t status = HX_STATUS_OK;
  for (uint64_t done = 0; done < bytes && status == HX_STATUS_OK;) {
    const uint64_t piece = bytes - done < staging->bytes ? bytes - done : staging->bytes;
    memcpy(staging->address, (const unsigned char *)from + done, (size_t)piece);
    status = copy_piece(device, (hx_span){.buffer = to->buffer, .offset = to_offset + done},
                        (hx_span){.buffer = staging->buffer}, piece, "upload", report);
    done += piece;
  }
  hx_storage_release(staging);
  hx_storage_touch(to);
  return status;
}

hx_status_t hx_device_download(hx_opened_device_t *device, void *to, const hx_storage_t *from, uint64_t from_offset,
                               uint64_t bytes, hx_report_t *report) {
  if (from->address != NULL) {
    memcpy(to, (const unsigned char *)from->address + from_offset, (size_t)bytes);
    return HX_STATUS_OK;
  }
  hx_storage_t *staging;
  HX_TRY(alloc_staging(device, bytes, from->secret, &staging, report));
  hx_status_t status = HX_STATUS_OK;
  for (uint64_t done = 0; done < bytes && status == HX_STATUS_OK;) {
    const uint64_t piece = bytes - done < staging->bytes ? bytes - done : staging->bytes;
    status = copy_piece(device, (hx_span){.buffer = staging->buffer},
                        (hx_span){.buffer = from->buffer, .offset = from_offset + done}, piece, "download", report);
    if (status == HX_STATUS_OK) memcpy((unsigned char *)to + done, staging->address, (size_t)piece);
    done += piece;
  }
  hx_storage_release(staging);
  return status;
}

hx_status_t hx_device_clear(hx_opened_device_t *device, hx_storage_t *storage, uint64_t offset, uint64_t bytes,
                            hx_report_t *report) {
  hx_storage_touch(storage);
  if (storage->address != NULL) {
    hx_wipe((unsigned char *)storage->address + offset, (size_t)bytes);
    return HX_STATUS_OK;
  }
  if (device->queue.fill == NULL) {
    return hx_report_fail(report, HX_CODE_UNSUPPORTED, "%s has no fill to clear memory with", device->name);
  }
  HX_TRY(hx_device_service_begin(device, report));
  hx_error error = hx_error_make();
  const hx_span span = {.buffer = storage->buffer, .offset = offset};
  const int32_t result = device->queue.fill(device->service, span, 0, bytes, &error);
  return hx_device_service_end(device, result, &error, "clear memory", report);
}

// ------------------------------------------------------------------ placed copies

static hx_placed_t *find_placed(const hx_opened_device_t *device, const hx_storage_t *storage, uint64_t generation) {
  hx_placed_t *placed = device->placed;
  while (placed != NULL && (placed->storage_id != storage->id || placed->generation != generation))
    placed = placed->next;
  return placed;
}

static hx_status_t make_placed(hx_opened_device_t *device, const hx_storage_t *storage, uint64_t generation,
                               hx_placed_t **out, hx_report_t *report) {
  hx_placed_t *placed = hx_zalloc(1, sizeof *placed);
  if (placed == NULL)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to place a value on %s", device->name);
  placed->storage_id = storage->id;
  placed->generation = generation;
  hx_status_t status = hx_device_alloc(device, HX_SPACE_DEVICE, storage->bytes, storage->secret, &placed->copy, report);
  if (status == HX_STATUS_OK) {
    status = hx_device_upload(device, placed->copy, 0, storage->address, storage->bytes, report);
    if (status != HX_STATUS_OK) hx_storage_release(placed->copy);
  }
  if (status != HX_STATUS_OK) {
    hx_free(placed);
    return status;
  }
  placed->device = hx_device_retain(device);
  *out = placed;
  return HX_STATUS_OK;
}

hx_status_t hx_device_place(hx_opened_device_t *device, const hx_storage_t *storage, hx_placed_t **out,
                            hx_report_t *report) {
  const uint64_t generation = atomic_load(&storage->generation);
  pthread_mutex_lock(&device->lock);
  hx_placed_t *placed = find_placed(device, storage, generation);
  hx_status_t status = HX_STATUS_OK;
  if (placed == NULL) {
    status = make_placed(device, storage, generation, &placed, report);
    if (status == HX_STATUS_OK) {
      placed->next = device->placed;
      device->placed = placed;
    }
  }
  if (status == HX_STATUS_OK) {
    placed->refs += 1;
    *out = placed;
  }
  pthread_mutex_unlock(&device->lock);
  return status;
}

void hx_placed_release(hx_placed_t *placed) {
  if (placed == NULL) return;
  hx_opened_device_t *device = placed->device;
  pthread_mutex_lock(&device->lock);
  const bool last = --placed->refs == 0;
  if (last) {
    hx_placed_t **place = &device->placed;
    while (*place != placed) place = &(*place)->next;
    *place = placed->next;
  }
  pthread_mutex_unlock(&device->lock);
  if (!last) return;
  hx_storage_release(placed->copy);
  hx_free(placed);
  hx_device_release(device);
}
