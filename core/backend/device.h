// SPDX-License-Identifier: Apache-2.0
// Opened devices: handles, the tables of each ring, memory, transfers, and packed forms of materials.
// Everything here may be called from any thread.
#ifndef HELIOX_CORE_BACKEND_DEVICE_H
#define HELIOX_CORE_BACKEND_DEVICE_H

#include <pthread.h>

#include "core/plugin/plugin.h"
#include "core/tensor/tensor.h"

typedef struct hx_opened_device hx_opened_device_t;

// A plugin's tables of one ring on one device; they live until the last holder lets go.
typedef struct hx_device_tables {
  struct hx_device_tables *next;
  uint32_t refs;  // under the device's lock
  hx_opened_device_t *device;
  uint8_t digest[32];
  hx_tables *handle;  // NULL where the plugin needs none
} hx_device_tables_t;

// A copy of host memory on a device that cannot use host memory in place.
typedef struct hx_placed {
  struct hx_placed *next;
  uint32_t refs;  // under the device's lock
  hx_opened_device_t *device;
  uint64_t storage_id, generation;
  hx_storage_t *copy;  // same bytes at the same offsets
} hx_placed_t;

// A material in the plugin's own layout, shared by all that use the same bytes in the same way.
typedef struct hx_packed_form {
  struct hx_packed_form *next;
  uint32_t refs;  // under the device's lock
  hx_opened_device_t *device;
  uint64_t storage_id, generation, offset;
  hx_layout_t layout;
  const hx_tables *tables;
  char kind[HX_NAME_MAX];
  hx_packed *handle;
} hx_packed_form_t;

struct hx_opened_device {
  atomic_uint refs;
  hx_loaded_plugin_t *plugin;  // retained
  uint32_t index;
  char name[HX_NAME_MAX];  // "cpu:0"
  hx_device *handle;
  hx_device_info info;   // zero where the plugin tells nothing, or is older than a field; peers without its own bit
  uint64_t alignment;    // of span offsets, at least 64
  hx_device_ops device;  // copies of the plugin's role tables; functions beyond their struct_size are NULL
  hx_memory_ops memory;
  hx_queue_ops queue;
  hx_materializer_ops materializer;
  hx_codec_ops codec;
  atomic_int imports;    // 0: not known yet, 1: host memory is used in place, 2: it is not
  pthread_mutex_t lock;  // tables, placed, packed
  hx_device_tables_t *tables;
  hx_placed_t *placed;
  hx_packed_form_t *packed;
  pthread_mutex_t service_lock;  // service
  hx_queue *service;             // transfers, fills, packing; made on first use
};

// Opens one device of a plugin (retained). Refused (unsupported) where it lacks the device, memory or queue role.
hx_status_t hx_device_open(hx_loaded_plugin_t *plugin, uint32_t index, hx_opened_device_t **out, hx_report_t *report);
hx_opened_device_t *hx_device_retain(hx_opened_device_t *device);
void hx_device_release(hx_opened_device_t *device);  // the last one closes it

// The tables of a ring, made on first use and shared by digest.
hx_status_t hx_device_tables_acquire(hx_opened_device_t *device, const hx_ring *ring, hx_device_tables_t **out,
                                     hx_report_t *report);
void hx_device_tables_release(hx_device_tables_t *tables);

// A queue of the device; destroyed through device->queue.destroy.
hx_status_t hx_device_queue(hx_opened_device_t *device, hx_queue **out, hx_report_t *report);

// Work on the device's own queue, device->service, one caller at a time. begin locks it, making it on first use; on
// failure nothing is locked. end waits for the work, mends the queue after a failure, and unlocks; `result` is that of
// what was enqueued.
hx_status_t hx_device_service_begin(hx_opened_device_t *device, hx_report_t *report);
hx_status_t hx_device_service_end(hx_opened_device_t *device, int32_t result, hx_error *error, const char *what,
                                  hx_report_t *report);

// Uninitialised memory of a space (HX_SPACE_). Secret memory is cleared before it is freed, host-visible or not.
hx_status_t hx_device_alloc(hx_opened_device_t *device, uint32_t space, uint64_t bytes, bool secret, hx_storage_t **out,
                            hx_report_t *report);
// The device's buffer for a storage: its own, or host memory imported without a copy (kept with the storage). Refused
// (device-mix): memory of another device, or host memory that this device cannot use in place; `what` names the value.
hx_status_t hx_device_buffer(hx_opened_device_t *device, hx_storage_t *storage, const char *what, hx_buffer **out,
                             hx_report_t *report);
// True if host memory can be used in place. Found out by trying, once a device.
bool hx_device_imports(hx_opened_device_t *device);

// Synchronous copies between host memory and a storage of the device.
hx_status_t hx_device_upload(hx_opened_device_t *device, hx_storage_t *to, uint64_t to_offset, const void *from,
                             uint64_t bytes, hx_report_t *report);
hx_status_t hx_device_download(hx_opened_device_t *device, void *to, const hx_storage_t *from, uint64_t from_offset,
                               uint64_t bytes, hx_report_t *report);
// Zeroes a part of a storage of the device, or of imported host memory.
hx_status_t hx_device_clear(hx_opened_device_t *device, hx_storage_t *storage, uint64_t offset, uint64_t bytes,
                            hx_report_t *report);

// Host memory copied to the device as it is now, shared by all that ask for the same generation of it.
hx_status_t hx_device_place(hx_opened_device_t *device, const hx_storage_t *storage, hx_placed_t **out,
                            hx_report_t *report);
void hx_placed_release(hx_placed_t *placed);

// The packed form of a tensor that the device can read, made on first use and shared by (storage, generation, place,
// shape, kind, ring). desc is borrowed for the call.
hx_status_t hx_device_pack(hx_opened_device_t *device, hx_device_tables_t *tables, const char *kind,
                           const hx_tensor_t *tensor, const hx_tensor_desc *desc, hx_packed_form_t **out,
                           hx_report_t *report);
hx_packed_form_t *hx_packed_form_retain(hx_packed_form_t *form);
void hx_packed_form_release(hx_packed_form_t *form);

// An error record ready to be handed to a plugin.
hx_error hx_error_make(void);

#endif
