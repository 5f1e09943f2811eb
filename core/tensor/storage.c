// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "core/tensor/tensor.h"

static atomic_uint_fast64_t next_id = 1;

hx_storage_t *hx_storage_wrap(void *address, uint64_t bytes, const void *device, hx_buffer *buffer,
                              void (*release)(hx_storage_t *), void *context, bool secret) {
  hx_storage_t *storage = hx_zalloc(1, sizeof *storage);
  if (storage == NULL) return NULL;
  atomic_init(&storage->refs, 1);
  storage->id = atomic_fetch_add(&next_id, 1);
  storage->bytes = bytes;
  storage->address = address;
  storage->device = device;
  storage->buffer = buffer;
  storage->release = release;
  storage->context = context;
  storage->secret = secret;
  atomic_init(&storage->generation, 1);
  atomic_init(&storage->links, NULL);
  return storage;
}

static void release_host(hx_storage_t *storage) { hx_aligned_give(storage->address, (size_t)storage->bytes); }

hx_storage_t *hx_storage_create_unset(uint64_t bytes, bool secret) {
  if (bytes > SIZE_MAX) return NULL;
  void *address = hx_aligned_alloc((size_t)bytes);
  if (address == NULL) return NULL;
  hx_storage_t *storage = hx_storage_wrap(address, bytes, NULL, NULL, release_host, NULL, secret);
  if (storage == NULL) hx_aligned_free(address);
  return storage;
}

hx_storage_t *hx_storage_create(uint64_t bytes, bool secret) {
  hx_storage_t *storage = hx_storage_create_unset(bytes, secret);
  if (storage != NULL) memset(storage->address, 0, (size_t)bytes);
  return storage;
}

hx_storage_t *hx_storage_retain(hx_storage_t *storage) {
  atomic_fetch_add_explicit(&storage->refs, 1, memory_order_relaxed);
  return storage;
}

void hx_storage_release(hx_storage_t *storage) {
  if (storage == NULL || atomic_fetch_sub_explicit(&storage->refs, 1, memory_order_acq_rel) != 1) return;
  for (hx_storage_link_t *link = atomic_load(&storage->links); link != NULL;) {
    hx_storage_link_t *next = link->next;
    link->release(link->device, link->buffer);
    hx_free(link);
    link = next;
  }
  if (storage->secret && storage->address != NULL) hx_wipe(storage->address, (size_t)storage->bytes);
  if (storage->release != NULL) storage->release(storage);
  hx_free(storage);
}

void hx_storage_touch(hx_storage_t *storage) { atomic_fetch_add(&storage->generation, 1); }
