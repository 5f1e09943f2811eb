// SPDX-License-Identifier: Apache-2.0
#include "core/base/memory.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/spare.h"

#define ALIGNMENT 64
#define LARGE_PAGE ((size_t)2 << 20)  // of x86-64, and of arm64 with small pages of 4 KiB
#define ARENA_BLOCK (64 * 1024)
#define ARENA_ALIGNMENT 16

static atomic_uint_fast64_t alloc_count;
static atomic_uint_fast64_t fail_countdown;  // 0: hook off

static bool may_alloc(void) {
  if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) != 0 && atomic_fetch_sub(&fail_countdown, 1) == 1) {
    return false;
  }
  atomic_fetch_add_explicit(&alloc_count, 1, memory_order_relaxed);
  return true;
}

void *hx_alloc(size_t size) { return may_alloc() ? malloc(size == 0 ? 1 : size) : NULL; }

void *hx_zalloc(size_t count, size_t size) {
  if (!may_alloc()) return NULL;
  return count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);  // calloc checks the product
}

void *hx_realloc(void *pointer, size_t size) { return may_alloc() ? realloc(pointer, size == 0 ? 1 : size) : NULL; }

void hx_free(void *pointer) { free(pointer); }

char *hx_strdup(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = hx_alloc(size);
  return copy == NULL ? NULL : memcpy(copy, text, size);
}

static bool is_large(size_t size) { return size >= 2 * LARGE_PAGE; }

// Bytes of a block: whole large pages, so that sizes that are nearly alike are alike.
static size_t whole(size_t size) {
  const size_t unit = is_large(size) ? LARGE_PAGE : ALIGNMENT;
  return size == 0 ? unit : (size + unit - 1) / unit * unit;
}

// Polynomials and keys are read from end to end: in large pages that costs fewer faults and look-ups.
void *hx_aligned_alloc(size_t size) {
  if (size > SIZE_MAX - LARGE_PAGE || !may_alloc()) return NULL;
  const size_t bytes = whole(size);
  void *memory = is_large(size) ? hx_spare_take(bytes) : NULL;
  if (memory != NULL) return memory;
  const size_t alignment = is_large(size) ? LARGE_PAGE : ALIGNMENT;
  // What is kept may be what is missing.
  if (posix_memalign(&memory, alignment, bytes) != 0 &&
      (!hx_spare_clear() || posix_memalign(&memory, alignment, bytes) != 0))
    return NULL;
  if (is_large(size)) (void)madvise(memory, bytes, MADV_HUGEPAGE);  // advice: without it the pages are small
  return memory;
}

void hx_aligned_free(void *pointer) { free(pointer); }

void hx_aligned_give(void *pointer, size_t size) {
  if (pointer != NULL && is_large(size)) {
    hx_spare_keep(pointer, whole(size));
  } else {
    free(pointer);
  }
}

void hx_wipe(void *pointer, size_t size) {
  if (pointer != NULL) sodium_memzero(pointer, size);
}

uint64_t hx_alloc_count(void) { return atomic_load_explicit(&alloc_count, memory_order_relaxed); }

void hx_alloc_fail_at(uint64_t n) { atomic_store(&fail_countdown, n); }

// ------------------------------------------------------------------ arena

typedef struct hx_arena_block {
  struct hx_arena_block *next;
  size_t size, used;
  _Alignas(ARENA_ALIGNMENT) unsigned char bytes[];
} hx_arena_block_t;

void hx_arena_init(hx_arena_t *arena) { *arena = (hx_arena_t){0}; }

void hx_arena_deinit(hx_arena_t *arena) {
  for (hx_arena_block_t *block = arena->blocks; block != NULL;) {
    hx_arena_block_t *next = block->next;
    hx_free(block);
    block = next;
  }
  *arena = (hx_arena_t){0};
}

void *hx_arena_alloc(hx_arena_t *arena, size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  const size_t whole = size == 0 ? ARENA_ALIGNMENT : (size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
  hx_arena_block_t *block = arena->blocks;
  if (block == NULL || block->size - block->used < whole) {
    const size_t room = whole > ARENA_BLOCK / 4 ? whole : ARENA_BLOCK;
    hx_arena_block_t *fresh = hx_alloc(sizeof *fresh + room);
    if (fresh == NULL) return NULL;
    fresh->size = room;
    fresh->used = 0;
    // A large object gets a block of its own behind the current one, which keeps its room.
    if (block != NULL && room == whole) {
      fresh->next = block->next;
      block->next = fresh;
    } else {
      fresh->next = block;
      arena->blocks = fresh;
    }
    block = fresh;
  }
  void *result = block->bytes + block->used;
  block->used += whole;
  arena->used += whole;
  return memset(result, 0, whole);
}

hx_str_t hx_arena_str(hx_arena_t *arena, hx_str_t text) {
  char *copy = text.size == SIZE_MAX ? NULL : hx_arena_alloc(arena, text.size + 1);
  if (copy == NULL) return (hx_str_t){0};
  if (text.size > 0) memcpy(copy, text.data, text.size);
  copy[text.size] = '\0';
  return (hx_str_t){.data = copy, .size = text.size};
}

hx_status_t hx_grow(void *array_pointer, size_t *capacity, size_t count, size_t size) {
  if (count <= *capacity) return HX_STATUS_OK;
  size_t wanted = *capacity < 8 ? 8 : *capacity;
  while (wanted < count) {
    if (wanted > SIZE_MAX / 2) return HX_STATUS_OUT_OF_MEMORY;
    wanted *= 2;
  }
  if (wanted > SIZE_MAX / size) return HX_STATUS_OUT_OF_MEMORY;
  void *array;
  memcpy(&array, array_pointer, sizeof array);
  array = hx_realloc(array, wanted * size);
  if (array == NULL) return HX_STATUS_OUT_OF_MEMORY;
  memcpy(array_pointer, &array, sizeof array);
  *capacity = wanted;
  return HX_STATUS_OK;
}
