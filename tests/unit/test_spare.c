// SPDX-License-Identifier: Apache-2.0
// Freed large blocks that are kept for the next ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// CMocka wants the headers above first.
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/spare.h"
#include "core/tensor/tensor.h"

#define MIB ((size_t)1 << 20)

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1  // as gcc does
#endif
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

static int clear(void **state) {
  (void)state;
  hx_spare_clear();
  return 0;
}

static void spare_returns_block_of_same_size(void **state) {
  (void)state;
  void *block = hx_aligned_alloc(9 * MIB);
  assert_non_null(block);
  hx_aligned_give(block, 9 * MIB);
  assert_int_equal(hx_spare_bytes(), 10 * MIB);  // whole large pages
  assert_null(hx_spare_take(9 * MIB));
  assert_null(hx_spare_take(12 * MIB));
  assert_ptr_equal(hx_aligned_alloc(10 * MIB), block);
  assert_int_equal(hx_spare_bytes(), 0);
  assert_null(hx_spare_take(10 * MIB));
  hx_aligned_free(block);
}

static void spare_leaves_small_blocks_to_the_allocator(void **state) {
  (void)state;
  void *block = hx_aligned_alloc(4 * MIB - 1);
  assert_non_null(block);
  hx_aligned_give(block, 4 * MIB - 1);
  assert_int_equal(hx_spare_bytes(), 0);
  hx_aligned_give(NULL, 8 * MIB);
  assert_int_equal(hx_spare_bytes(), 0);
}

static void spare_drops_the_oldest_where_the_list_is_full(void **state) {
  (void)state;
  void *first = malloc(1), *last = NULL;
  assert_non_null(first);
  hx_spare_keep(first, 1);
  for (size_t size = 2; size <= 33; size++) {
    last = malloc(size);
    assert_non_null(last);
    hx_spare_keep(last, size);
  }
  assert_null(hx_spare_take(1));
  assert_ptr_equal(hx_spare_take(33), last);
  free(last);
}

static void spare_drops_what_exceeds_its_memory(void **state) {
  (void)state;
  void *small = malloc(8), *large = malloc(8);  // sizes are the caller's word
  assert_non_null(small);
  assert_non_null(large);
  hx_spare_keep(small, 8);
  hx_spare_keep(large, (size_t)1 << 62);
  assert_int_equal(hx_spare_bytes(), 8);
  assert_null(hx_spare_take((size_t)1 << 62));
}

static void storage_gives_wiped_memory_back_where_secret(void **state) {
  (void)state;
  const size_t bytes = 4 * MIB;
  hx_storage_t *storage = hx_storage_create_unset(bytes, true);
  assert_non_null(storage);
  unsigned char *address = storage->address;
  memset(address, 0x5a, bytes);
  hx_storage_release(storage);
  unsigned char *kept = hx_spare_take(bytes);
  assert_ptr_equal(kept, address);
  for (size_t i = 0; i < bytes; i++) {
    assert_int_equal(kept[i], 0);
  }
  free(kept);
}

// In a process that may have little more memory than it has.
static void kept_memory_is_given_up_where_memory_is_short(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip();
#endif
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    void *kept = hx_aligned_alloc(40 * MIB);
    hx_aligned_give(kept, 40 * MIB);
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) _exit(2);
    fclose(file);
    const rlim_t now = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    const struct rlimit limit = {now + 8 * MIB, now + 8 * MIB};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(3);
    void *other = hx_aligned_alloc(20 * MIB);  // fits only where the 40 go
    _exit(other == NULL ? 1 : 0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static char failure;  // its address tells of one

static void *take_and_give(void *argument) {
  for (int i = 0; i < 200; ++i) {
    unsigned char *block = hx_aligned_alloc(4 * MIB + (size_t)(i % 3) * MIB);
    if (block == NULL) return argument;
    block[0] = block[4 * MIB - 1] = (unsigned char)i;
    if (block[0] != (unsigned char)i) return argument;
    hx_aligned_give(block, 4 * MIB + (size_t)(i % 3) * MIB);
  }
  return NULL;
}

static void threads_share_what_is_kept(void **state) {
  (void)state;
  pthread_t threads[4];
  for (size_t i = 0; i < 4; ++i) assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &failure), 0);
  for (size_t i = 0; i < 4; ++i) {
    void *failed = NULL;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(spare_returns_block_of_same_size, clear, clear),
      cmocka_unit_test_setup_teardown(spare_leaves_small_blocks_to_the_allocator, clear, clear),
      cmocka_unit_test_setup_teardown(spare_drops_the_oldest_where_the_list_is_full, clear, clear),
      cmocka_unit_test_setup_teardown(spare_drops_what_exceeds_its_memory, clear, clear),
      cmocka_unit_test_setup_teardown(storage_gives_wiped_memory_back_where_secret, clear, clear),
      cmocka_unit_test_setup_teardown(kept_memory_is_given_up_where_memory_is_short, clear, clear),
      cmocka_unit_test_setup_teardown(threads_share_what_is_kept, clear, clear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
