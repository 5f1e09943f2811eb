// SPDX-License-Identifier: Apache-2.0
// Allocation of the core. One process-wide allocator with a counter and a test hook, instead of an allocator
// argument everywhere: tests count allocations and fail the n-th one through it (docs/decisions).
#ifndef HELIOX_CORE_BASE_MEMORY_H
#define HELIOX_CORE_BASE_MEMORY_H

#include "heliox/base.h"

// NULL when exhausted (or when the test hook says so). Size 0 gives a valid pointer.
void *hx_alloc(size_t size);
void *hx_zalloc(size_t count, size_t size);  // zeroed; checks count * size
void *hx_realloc(void *pointer, size_t size);
void hx_free(void *pointer);
char *hx_strdup(const char *text);
// 64-byte aligned, for tensors; freed by hx_aligned_free, or by hx_aligned_give with the same size, which keeps large
// blocks for the next ones (spare.h).
void *hx_aligned_alloc(size_t size);
void hx_aligned_free(void *pointer);
void hx_aligned_give(void *pointer, size_t size);
// Overwrites secret memory; never optimised away.
void hx_wipe(void *pointer, size_t size);

// Successful allocations since the start of the process.
uint64_t hx_alloc_count(void);
// Tests: the n-th allocation from now (1 is the next) fails, once; 0 switches the hook off. One thread.
void hx_alloc_fail_at(uint64_t n);

// Many small objects freed together. Memory from an arena is zeroed and 16-byte aligned.
typedef struct hx_arena {
  struct hx_arena_block *blocks;
  size_t used;
} hx_arena_t;
void hx_arena_init(hx_arena_t *arena);
void hx_arena_deinit(hx_arena_t *arena);
void *hx_arena_alloc(hx_arena_t *arena, size_t size);
// Copies text and adds a NUL; data == NULL on exhaustion.
hx_str_t hx_arena_str(hx_arena_t *arena, hx_str_t text);

// Growing array helper: ensures room for `count` elements of `size` bytes. Doubles capacity.
hx_status_t hx_grow(void *array_pointer, size_t *capacity, size_t count, size_t size);

#define HX_TRY(expression_)                              \
  do {                                                   \
    const hx_status_t try_status_ = (expression_);       \
    if (try_status_ != HX_STATUS_OK) return try_status_; \
  } while (0)

#define HX_COUNT_OF(array_) (sizeof(array_) / sizeof *(array_))

#endif
