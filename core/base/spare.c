// SPDX-License-Identifier: Apache-2.0
#include "core/base/spare.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Under AddressSanitizer a kept block is out of bounds for everybody, as a freed one is.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(SANITIZED)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address_, size_) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(address_, size_) ((void)0)
#endif

// What kept blocks may hold: a part of the machine's memory, and no more than a few results of the largest rings.
#define MEMORY_SHARE 32u
#define BYTES_MAX ((uint64_t)512 << 20)
#define COUNT_MAX 32u

typedef struct block {
  void *address;
  size_t size;
} block_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block_t blocks[COUNT_MAX];  // the oldest first
static size_t block_count, kept_bytes;

// Asked for once, with the lock held: the system looks it up anew each time.
static size_t limit(void) {
  static size_t most;
  static bool is_known;
  if (is_known) return most;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const uint64_t share = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / MEMORY_SHARE : 0;
  most = (size_t)(share < BYTES_MAX ? share : BYTES_MAX);
  is_known = true;
  return most;
}

// Takes a block out of the list; the lock is held.
static void *take_out(size_t at) {
  void *address = blocks[at].address;
  ASAN_UNPOISON_MEMORY_REGION(address, blocks[at].size);
  kept_bytes -= blocks[at].size;
  --block_count;
  memmove(&blocks[at], &blocks[at + 1], (block_count - at) * sizeof blocks[0]);
  return address;
}

// Nobody waits here: who finds the lock taken, or left taken by a fork for good, goes to malloc.
void *hx_spare_take(size_t size) {
  void *address = NULL;
  if (pthread_mutex_trylock(&lock) != 0) return NULL;
  for (size_t i = block_count; i-- > 0 && address == NULL;) {
    if (blocks[i].size == size) address = take_out(i);  // the newest: its lines may still be in a cache
  }
  (void)pthread_mutex_unlock(&lock);
  return address;
}

void hx_spare_keep(void *address, size_t size) {
  void *dropped[COUNT_MAX + 1];
  size_t count = 0;
  if (pthread_mutex_trylock(&lock) != 0) {
    free(address);
    return;
  }
  const size_t most = limit();
  if (size > most) {
    dropped[count++] = address;
  } else {
    while (block_count == COUNT_MAX || kept_bytes > most - size) dropped[count++] = take_out(0);
    ASAN_POISON_MEMORY_REGION(address, size);
    blocks[block_count++] = (block_t){address, size};
    kept_bytes += size;
  }
  (void)pthread_mutex_unlock(&lock);
  while (count > 0) free(dropped[--count]);
}

size_t hx_spare_bytes(void) {
  (void)pthread_mutex_lock(&lock);
  const size_t bytes = kept_bytes;
  (void)pthread_mutex_unlock(&lock);
  return bytes;
}

bool hx_spare_clear(void) {
  if (pthread_mutex_trylock(&lock) != 0) return false;
  const bool any = block_count > 0;
  while (block_count > 0) free(take_out(0));
  (void)pthread_mutex_unlock(&lock);
  return any;
}
