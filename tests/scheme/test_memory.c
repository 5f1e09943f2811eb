// SPDX-License-Identifier: Apache-2.0
// Ten thousand operations leave memory where it was. Under a leak checker this test also shows that nothing stays
// behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

#include "tests/scheme/scheme.h"

// ------------------------------------------------------------------ what is held at once
// All allocations of this process, the plugin's too, come through here: bytes in use and the most since a mark.

#ifndef HELIOX_SANITIZED
static _Atomic(int64_t) live, most;

static void count(int64_t bytes) {
  const int64_t now = atomic_fetch_add(&live, bytes) + bytes;
  int64_t peak = atomic_load(&most);
  while (now > peak && !atomic_compare_exchange_weak(&most, &peak, now)) {
  }
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *pointer);

static void *counted(void *pointer) {
  if (pointer != NULL) count((int64_t)malloc_usable_size(pointer));
  return pointer;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }
void *calloc(size_t items, size_t size) { return counted(__libc_calloc(items, size)); }
void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
int posix_memalign(void **out, size_t alignment, size_t size) {
  *out = counted(__libc_memalign(alignment, size));
  return *out == NULL ? ENOMEM : 0;
}
void free(void *pointer) {
  if (pointer != NULL) count(-(int64_t)malloc_usable_size(pointer));
  __libc_free(pointer);
}
void *realloc(void *pointer, size_t size) {
  if (pointer != NULL) count(-(int64_t)malloc_usable_size(pointer));
  return counted(__libc_realloc(pointer, size));
}

static int64_t mark(void) {
  const int64_t now = atomic_load(&live);
  atomic_store(&most, now);
  return now;
}

// Bytes above the mark that were in use at once.
static int64_t above(int64_t start) { return atomic_load(&most) - start; }
#else
static int64_t mark(void) { return 0; }
static int64_t above(int64_t start) { return start; }
#endif

// Lists, types and the like.
#define SMALL_BYTES ((int64_t)256 << 10)

// What an operation holds beside its operands: the result, and rows of scratch. A linked call keeps its slab from one
// run to the next, so that a second run allocates the result alone.
static void check_held(const char *what, int64_t held, uint64_t result, uint64_t scratch) {
  if (held > (int64_t)(result + scratch) + SMALL_BYTES)
    fail_msg("%s held %" PRId64 " bytes beside its operands: a result of %" PRIu64 " and at most %" PRIu64
             " of scratch",
             what, held, result, scratch);
}

static void operations_hold_result_and_one_slab(void **state) {
  (void)state;
  scheme_t s;
  uint64_t seed = 3;
  static const int64_t steps[] = {1};
  scheme_open_preset(&s, "n13-d3-s40", steps, 1);
  scheme_number_t *z = scheme_message(&seed, s.slots);
  hx_value_t *plain = scheme_encode(&s, z, s.slots, 0, NULL);
  const uint64_t row = (uint64_t)16384 * 4, key_rows = 5;  // N words; rows of Q and P
  for (int round = 0; round < 3; ++round) {
    hx_value_t *a = NULL, *b = NULL, *product = NULL, *rotated = NULL;
    int64_t start = mark();
    SCHEME_OK(&s, hx_encrypt(s.keys, plain, false, &a, s.report));
    // The draws (three of N bytes) and rows of one prime at a time; the first call makes tables of 16 N bytes a prime.
    check_held("encrypt", above(start), hx_value_bytes(a), round == 0 ? 40 * row : 16 * row);
    SCHEME_OK(&s, hx_encrypt(s.keys, plain, false, &b, s.report));
    start = mark();
    SCHEME_OK(&s, hx_engine_mul(s.engine, a, b, &product, s.report));
    check_held("mul", above(start), hx_value_bytes(product), round == 0 ? 8 * row : 0);
    start = mark();
    SCHEME_OK(&s, hx_engine_rotate(s.engine, a, 1, &rotated, s.report));
    // The first time: the slab (digits on Q and P, two accumulators), tables of the automorphism, the key as packed.
    const uint64_t slab = (hx_params_digits(s.params) + 4) * key_rows * row + 2 * hx_params_key_bytes(s.params);
    check_held("rotate", above(start), hx_value_bytes(rotated), round == 0 ? slab : 0);
    hx_value_t *const all[] = {a, b, product, rotated};
    for (size_t i = 0; i < 4; ++i) hx_value_release(all[i]);
  }
  hx_value_release(plain);
  free(z);
  scheme_close(&s);
}

// A set of keys comes into memory once: what its tensors take, and a little.
static void key_sets_load_without_a_second_copy(void **state) {
  (void)state;
  const char *directory = HELIOX_BUILD_DIR "/memory-keys";
  static const int64_t steps[] = {1, 2, 3, 4, 5, 6, 7, 8};
  scheme_t s;
  scheme_open_preset(&s, "n13-d3-s40", steps, 8);
  SCHEME_OK(&s, hx_keys_save(s.keys, directory, HX_KEYS_EVALUATION, true, s.report));
  hx_keys_t *keys = NULL;
  const int64_t start = mark();
  SCHEME_OK(&s, hx_keys_load(directory, HX_KEYS_EVALUATION, &keys, s.report));
  check_held("a key set of ten keys", above(start), 10 * hx_params_key_bytes(s.params), (uint64_t)1 << 20);
  hx_keys_release(keys);
  scheme_close(&s);
}

typedef struct watched {
  uint64_t done, total;
  int calls, cancel_at;
} watched_t;

static void note_progress(void *argument, uint64_t done, uint64_t total) {
  watched_t *watched = argument;
  assert_true(done >= watched->done && done <= total);
  *watched = (watched_t){.done = done, .total = total, .calls = watched->calls + 1, .cancel_at = watched->cancel_at};
}

static bool is_cancelled(void *argument) {
  const watched_t *watched = argument;
  return watched->cancel_at != 0 && watched->calls >= watched->cancel_at;
}

static void key_sets_tell_progress_and_can_be_cancelled(void **state) {
  (void)state;
  const char *directory = HELIOX_BUILD_DIR "/memory-keys-watched";
  static const int64_t steps[] = {1, 2, 3, 4, 5, 6, 7, 8};
  scheme_t s;
  scheme_open_preset(&s, "n13-d3-s40", steps, 8);
  SCHEME_OK(&s, hx_keys_save(s.keys, directory, HX_KEYS_EVALUATION, true, s.report));
  hx_keys_t *keys = NULL;
  watched_t watched = {0};
  const hx_load_options_t options = {.cancelled = is_cancelled, .progress = note_progress, .argument = &watched};
  SCHEME_OK(&s, hx_keys_load_with(directory, HX_KEYS_EVALUATION, &options, &keys, s.report));
  assert_true(watched.calls > 3 && watched.done == watched.total && watched.total > 5 * hx_params_key_bytes(s.params));
  hx_keys_release(keys);
  keys = NULL;
  watched = (watched_t){.cancel_at = 2};
  assert_int_equal(hx_keys_load_with(directory, HX_KEYS_EVALUATION, &options, &keys, s.report), HX_STATUS_CANCELLED);
  assert_fault(s.report, HX_CODE_CANCELLED, WORDS("cancelled at offset"));
  assert_null(keys);
  scheme_close(&s);
}

enum { WARM_ROUNDS = 100, ROUNDS = 1250, OPERATIONS = 8 };

// Bytes that this process has allocated and not freed. (Resident memory says less: it spreads while the allocator's
// arena is cut up, with nothing lost.) No other thread runs here.
static uint64_t bytes_in_use(void) {
  const struct mallinfo2 info = mallinfo2();
  return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
}

// What entries of the engine's cache may differ by: a few texts of other lengths.
#define SLACK_BYTES ((uint64_t)64 << 10)

// Sanitizers bring their own allocator, and their leak check.
static void check_growth(uint64_t before, uint64_t after) {
#ifdef HELIOX_SANITIZED
  (void)before;
  (void)after;
#else
  if (after > before + SLACK_BYTES) fail_msg("memory in use grew from %" PRIu64 " to %" PRIu64 " bytes", before, after);
#endif
}

static void run_round(const scheme_t *s, const hx_value_t *plain) {
  hx_engine_t *e = s->engine;
  hx_value_t *a = NULL, *b = NULL, *c = NULL, *d = NULL, *f = NULL, *g = NULL, *h = NULL, *clear = NULL;
  SCHEME_OK(s, hx_encrypt(s->keys, plain, false, &a, s->report));
  SCHEME_OK(s, hx_engine_mul(e, a, a, &b, s->report));
  SCHEME_OK(s, hx_engine_relinearize(e, b, &c, s->report));
  SCHEME_OK(s, hx_engine_rescale(e, c, &d, s->report));
  SCHEME_OK(s, hx_engine_rotate(e, d, 1, &f, s->report));
  SCHEME_OK(s, hx_engine_add(e, d, f, &g, s->report));
  SCHEME_OK(s, hx_engine_level_drop(e, g, 2, &h, s->report));
  SCHEME_OK(s, hx_decrypt(s->keys, h, &clear, s->report));
  hx_value_t *const all[OPERATIONS] = {a, b, c, d, f, g, h, clear};
  for (size_t i = 0; i < OPERATIONS; ++i) hx_value_release(all[i]);
}

static void ten_thousand_operations_do_not_grow(void **state) {
  (void)state;
  scheme_t s;
  uint64_t seed = 1;
  static const int64_t steps[] = {1};
  scheme_open(&s, case_set_make(10, 55, 40, 2, 56, 1, 3, "2^40"), steps, 1);
  scheme_number_t *z = scheme_message(&seed, s.slots);
  hx_value_t *plain = scheme_encode(&s, z, s.slots, 0, NULL);
  for (int i = 0; i < WARM_ROUNDS; ++i) run_round(&s, plain);
  const uint64_t before = bytes_in_use();
  for (int i = 0; i < ROUNDS; ++i) run_round(&s, plain);
  check_growth(before, bytes_in_use());
  hx_value_release(plain);
  free(z);
  scheme_close(&s);
}

// Calls of ever new shapes: the engine's cache is bounded.
static void calls_of_many_kinds_do_not_grow_without_bound(void **state) {
  (void)state;
  scheme_t s;
  uint64_t seed = 2;
  scheme_open(&s, case_set_make(10, 55, 40, 2, 56, 1, 3, "2^40"), NULL, 0);
  scheme_number_t *z = scheme_message(&seed, s.slots);
  hx_value_t *a = scheme_encrypt(&s, z, s.slots, 0, NULL);
  uint64_t middle = 0;
  for (int i = 0; i < 2000; ++i) {
    hx_value_t *r = NULL;
    SCHEME_OK(&s, hx_engine_mul_integer(s.engine, a, i, &r, s.report));
    hx_value_release(r);
    if (i == 1000) middle = bytes_in_use();
  }
  check_growth(middle, bytes_in_use());
  hx_value_release(a);
  free(z);
  scheme_close(&s);
}

int main(void) {
  hx_threads_set(1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operations_hold_result_and_one_slab),
      cmocka_unit_test(key_sets_load_without_a_second_copy),
      cmocka_unit_test(key_sets_tell_progress_and_can_be_cancelled),
      cmocka_unit_test(ten_thousand_operations_do_not_grow),
      cmocka_unit_test(calls_of_many_kinds_do_not_grow_without_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
