// SPDX-License-Identifier: Apache-2.0
// Memory that is not to be had: every allocation that the plugin's own code makes in a call is refused once, one after
// the other. The calls have to say HX_OUT_OF_MEMORY, or do without, and work again afterwards.
//
// The C library lets a program put its own malloc before the library's. Ours refuses by whose code calls it: what the
// host, drivers and run-time libraries ask for is always given, for they end the process where it is not.
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/conformance/suite.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CANNOT_REFUSE
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define CANNOT_REFUSE
#endif

#define ALLOCATIONS_MAX 200  // of one call

#ifndef CANNOT_REFUSE
// Refuses allocation number `left`, counted down, of code between the addresses; of this thread.
static _Thread_local uint32_t left;
static _Thread_local bool refused;
static uintptr_t code_start, code_end;

// Seen by the libraries of the process.
#pragma GCC visibility push(default)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size);

static bool is_refused(const void *caller) {
  const uintptr_t address = (uintptr_t)caller;
  if (left == 0 || address < code_start || address >= code_end || --left > 0) return false;
  refused = true;
  errno = ENOMEM;
  return true;
}

#define CALLER __builtin_return_address(0)
void *malloc(size_t size) { return is_refused(CALLER) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return is_refused(CALLER) ? NULL : __libc_calloc(count, size); }
void *realloc(void *pointer, size_t size) { return is_refused(CALLER) ? NULL : __libc_realloc(pointer, size); }
void *memalign(size_t alignment, size_t size) { return is_refused(CALLER) ? NULL : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) {
  return is_refused(CALLER) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **out, size_t alignment, size_t size) {
  if (is_refused(CALLER)) return ENOMEM;
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}

#pragma GCC visibility pop

static int find_code(struct dl_phdr_info *info, size_t size, void *argument) {
  const uintptr_t wanted = *(const uintptr_t *)argument;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD || wanted < start || wanted >= start + segment->p_memsz) continue;
    code_start = start;
    code_end = start + segment->p_memsz;
    return 1;
  }
  return 0;
}

// ------------------------------------------------------------------ calls

typedef struct attempt {
  suite_t *suite;
  const call_t *call;
  region_t *region;
  const hx_ring *ring;
} attempt_t;

// Makes something, and lets go of it where that worked.
typedef int32_t (*attempt_fn)(const attempt_t *attempt, bool *out_kept_nothing, hx_error *error);

static int32_t try_prepare(const attempt_t *a, bool *out_kept_nothing, hx_error *error) {
  running_t running;
  const int32_t code = call_prepare(a->suite, a->call, a->region, &running, error);
  *out_kept_nothing = code == HX_OK || running.prepared == NULL;
  if (code == HX_OK) call_destroy(a->suite, a->call, &running);
  return code;
}

static int32_t try_queue(const attempt_t *a, bool *out_kept_nothing, hx_error *error) {
  hx_queue *queue = NULL;
  const int32_t code = a->suite->table->queue->create(a->suite->device, &queue, error);
  *out_kept_nothing = code == HX_OK || queue == NULL;
  if (code == HX_OK) a->suite->table->queue->destroy(queue);
  return code;
}

static int32_t try_tables(const attempt_t *a, bool *out_kept_nothing, hx_error *error) {
  const hx_device_ops *ops = a->suite->table->device;
  hx_tables *tables = NULL;
  *out_kept_nothing = true;
  if (ops->tables_create == NULL) return HX_OK;
  const int32_t code = ops->tables_create(a->suite->device, a->ring, &tables, error);
  *out_kept_nothing = code == HX_OK || tables == NULL;
  if (code == HX_OK) ops->tables_destroy(tables);
  return code;
}

static int32_t try_memory(const attempt_t *a, bool *out_kept_nothing, hx_error *error) {
  hx_buffer *buffer = NULL;
  const int32_t code = a->suite->table->memory->alloc(a->suite->device, HX_SPACE_DEVICE, 4096, &buffer, error);
  *out_kept_nothing = code == HX_OK || buffer == NULL;
  if (code == HX_OK) a->suite->table->memory->free(buffer);
  return code;
}

static void refuse_each(const attempt_t *attempt, const char *what, attempt_fn make, uint32_t *out_refused) {
  suite_t *suite = attempt->suite;
  uint32_t number = 1;
  for (; number <= ALLOCATIONS_MAX; ++number) {
    hx_error error = error_init();
    bool kept_nothing = true;
    refused = false;
    left = number;
    const int32_t code = make(attempt, &kept_nothing, &error);
    left = 0;
    if (!refused) break;  // it makes fewer
    if (!case_expect(suite, code == HX_OK || code == HX_OUT_OF_MEMORY, "%s without allocation %u: %s: %s", what, number,
                     result_word(code), error.message) ||
        !case_expect(suite, kept_nothing, "%s without allocation %u fails and gives something", what, number) ||
        !case_expect(suite, code == HX_OK || error.message[0] != '\0',
                     "%s without allocation %u fails and does not say why", what, number))
      return;
  }
  *out_refused += number - 1;
  hx_error error = error_init();
  bool kept_nothing = true;
  const int32_t code = make(attempt, &kept_nothing, &error);
  case_expect(suite, code == HX_OK, "%s after %u refused allocations: %s: %s", what, number - 1, result_word(code),
              error.message);
}

static bool visit_scarcity(suite_t *suite, const call_t *call) {
  uintptr_t inside = 0;
  memcpy(&inside, &call->impl->prepare, sizeof inside);
  code_start = code_end = 0;
  (void)dl_iterate_phdr(find_code, &inside);
  if (!case_expect(suite, code_end > code_start, "the plugin's code is not found among what is loaded")) return false;
  attempt_t attempt = {.suite = suite, .call = call, .region = region_create(call)};
  attempt.ring = region_get(attempt.region)->ring;
  static const struct {
    const char *what;
    attempt_fn make;
  } rows[] = {{"prepare", try_prepare},
              {"queue.create", try_queue},
              {"memory.alloc", try_memory},
              {"tables_create", try_tables}};
  uint32_t count = 0;
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) refuse_each(&attempt, rows[i].what, rows[i].make, &count);
  region_release(attempt.region);
  (void)call_check(suite, call);  // and all is as it was
  if (count == 0 && !case_failed(suite)) case_skip(suite, "the plugin's own code allocates nothing in these calls");
  return false;
}
#else
static bool visit_scarcity(suite_t *suite, const call_t *call) {
  (void)call;
  case_skip(suite, "this build of the suite cannot refuse allocations");
  return false;
}
#endif

void run_scarcity(suite_t *suite) {
  case_begin(suite, "life", "every allocation of the plugin's refused once");
  with_some_call(suite, 8, visit_scarcity);
  case_end(suite);
}
