// SPDX-License-Identifier: Apache-2.0
// Page-locked memory of a device. Locking pages takes the driver about a millisecond, and freeing them waits for the
// device, so freed blocks are kept for the next ones of their size: powers of two from 4 KiB to 64 MiB, at most 256 MiB
// in all. Larger blocks are not kept.
#ifndef HX_CUDA_PINNED_H
#define HX_CUDA_PINNED_H

#include <pthread.h>

#include "driver.h"

#define HX_CUDA_PINNED_CLASSES 15u
#define HX_CUDA_PINNED_KEPT ((uint64_t)256 << 20)

typedef struct hx_cuda_pinned {
  pthread_mutex_t lock;
  void *first[HX_CUDA_PINNED_CLASSES];  // each block begins with the address of the next
  uint64_t kept;                        // bytes in the lists
} hx_cuda_pinned_t;

void hx_cuda_pinned_init(hx_cuda_pinned_t *pinned);
// [A] With a context of the device current. *out_result is what the driver says; not 0: no block. take and give of one
// block are told the same number of bytes.
void *hx_cuda_pinned_take(hx_cuda_pinned_t *pinned, const hx_cuda_driver_t *driver, uint64_t bytes,
                          int32_t *out_result);
void hx_cuda_pinned_give(hx_cuda_pinned_t *pinned, const hx_cuda_driver_t *driver, void *block, uint64_t bytes);
// Frees what is kept.
void hx_cuda_pinned_clear(hx_cuda_pinned_t *pinned, const hx_cuda_driver_t *driver);

#endif
