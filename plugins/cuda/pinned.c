// SPDX-License-Identifier: Apache-2.0
#include "pinned.h"

#include <string.h>

#define SMALLEST_LOG 12u

void hx_cuda_pinned_init(hx_cuda_pinned_t *pinned) {
  memset(pinned, 0, sizeof *pinned);
  pthread_mutex_init(&pinned->lock, NULL);
}

// HX_CUDA_PINNED_CLASSES: larger than any.
static uint32_t kind_of(uint64_t bytes) {
  uint32_t kind = 0;
  while (kind < HX_CUDA_PINNED_CLASSES && bytes > (uint64_t)1 << (SMALLEST_LOG + kind)) {
    kind++;
  }
  return kind;
}

static void *take_kept(hx_cuda_pinned_t *pinned, uint32_t kind) {
  pthread_mutex_lock(&pinned->lock);
  void *block = pinned->first[kind];
  if (block != NULL) {
    memcpy(&pinned->first[kind], block, sizeof(void *));
    pinned->kept -= (uint64_t)1 << (SMALLEST_LOG + kind);
  }
  pthread_mutex_unlock(&pinned->lock);
  return block;
}

static void free_kept(hx_cuda_pinned_t *pinned, const hx_cuda_driver_t *driver) {
  for (uint32_t kind = 0; kind < HX_CUDA_PINNED_CLASSES; kind++) {
    for (void *block = take_kept(pinned, kind); block != NULL; block = take_kept(pinned, kind)) {
      driver->cuMemFreeHost(block);
    }
  }
}

void *hx_cuda_pinned_take(hx_cuda_pinned_t *pinned, const hx_cuda_driver_t *driver, uint64_t bytes,
                          int32_t *out_result) {
  const uint32_t portable = 1, kind = kind_of(bytes);
  void *block = kind < HX_CUDA_PINNED_CLASSES ? take_kept(pinned, kind) : NULL;
  *out_result = 0;
  if (block != NULL) {
    return block;
  }
  const uint64_t whole = kind < HX_CUDA_PINNED_CLASSES ? (uint64_t)1 << (SMALLEST_LOG + kind) : bytes;
  *out_result = driver->cuMemHostAlloc(&block, whole, portable);
  if (*out_result != 0) {  // once more without what is kept
    free_kept(pinned, driver);
    *out_result = driver->cuMemHostAlloc(&block, whole, portable);
  }
  return *out_result == 0 ? block : NULL;
}

void hx_cuda_pinned_give(hx_cuda_pinned_t *pinned, const hx_cuda_driver_t *driver, void *block, uint64_t bytes) {
  const uint32_t kind = kind_of(bytes);
  bool keeps = false;
  if (kind < HX_CUDA_PINNED_CLASSES) {
    const uint64_t whole = (uint64_t)1 << (SMALLEST_LOG + kind);
    pthread_mutex_lock(&pinned->lock);
    keeps = pinned->kept + whole <= HX_CUDA_PINNED_KEPT;
    if (keeps) {
      memcpy(block, &pinned->first[kind], sizeof(void *));
      pinned->first[kind] = block;
      pinned->kept += whole;
    }
    pthread_mutex_unlock(&pinned->lock);
  }
  if (!keeps) {
    driver->cuMemFreeHost(block);
  }
}

void hx_cuda_pinned_clear(hx_cuda_pinned_t *pinned, const hx_cuda_driver_t *driver) {
  free_kept(pinned, driver);
  pthread_mutex_destroy(&pinned->lock);
}
