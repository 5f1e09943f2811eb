// SPDX-License-Identifier: Apache-2.0
// Host services of 1.1: scratch memory, progress, texts of result codes; and who watches the calls of a thread.
#include <assert.h>
#include <string.h>

#include "core/base/log.h"
#include "core/plugin/host_table.h"

#define SCRATCH_ALIGN ((uintptr_t)64)

// ------------------------------------------------------------------ scratch

// The record lies right before the memory: a block holds slack for the alignment, then the record, then the bytes.
static void *memory_of(hx_scratch_t *scratch) { return (unsigned char *)scratch + SCRATCH_ALIGN; }
static_assert(sizeof(hx_scratch_t) <= SCRATCH_ALIGN, "the record fits before the memory");

void *hx_host_scratch_take(void *self, uint64_t bytes) {
  struct hx_plugin_host *host = self;
  if (bytes > SIZE_MAX - 2 * SCRATCH_ALIGN) return NULL;
  unsigned char *block = hx_alloc((size_t)bytes + 2 * SCRATCH_ALIGN);
  if (block == NULL) return NULL;
  hx_scratch_t *scratch = (hx_scratch_t *)(void *)(block + (SCRATCH_ALIGN - (uintptr_t)block % SCRATCH_ALIGN));
  *scratch = (hx_scratch_t){.bytes = bytes, .block = block};
  pthread_mutex_lock(&host->scratch_lock);
  scratch->next = host->scratch;
  host->scratch = scratch;
  pthread_mutex_unlock(&host->scratch_lock);
  return memory_of(scratch);
}

static void free_scratch(hx_scratch_t *scratch) {
  hx_wipe(memory_of(scratch), (size_t)scratch->bytes);
  hx_free(scratch->block);
}

// Memory that was not taken here, or is given back twice, is left alone: a plugin's mistake is no reason to crash.
void hx_host_scratch_give(void *self, void *memory) {
  struct hx_plugin_host *host = self;
  if (memory == NULL) return;
  pthread_mutex_lock(&host->scratch_lock);
  hx_scratch_t **link = &host->scratch;
  while (*link != NULL && memory_of(*link) != memory) link = &(*link)->next;
  hx_scratch_t *scratch = *link;
  if (scratch != NULL) *link = scratch->next;
  pthread_mutex_unlock(&host->scratch_lock);
  if (scratch != NULL) {
    free_scratch(scratch);
  } else {
    hx_log(HX_LOG_WARNING, "plugin", "%s gives back scratch memory that it does not hold: ignored", host->area);
  }
}

void hx_host_scratch_drain(struct hx_plugin_host *host) {
  uint64_t bytes = 0, pieces = 0;
  while (host->scratch != NULL) {
    hx_scratch_t *scratch = host->scratch;
    host->scratch = scratch->next;
    bytes += scratch->bytes;
    pieces += 1;
    free_scratch(scratch);
  }
  if (pieces == 0) return;
  hx_log(HX_LOG_WARNING, "plugin", "%s kept %llu pieces of scratch memory at shutdown, %llu bytes: freed", host->area,
         (unsigned long long)pieces, (unsigned long long)bytes);
}

// ------------------------------------------------------------------ watching the calls of a thread

static _Thread_local const hx_call_watch_t *watch;

const hx_call_watch_t *hx_call_watch_set(const hx_call_watch_t *next) {
  const hx_call_watch_t *before = watch;
  watch = next;
  return before;
}

bool hx_call_watch_cancelled(const hx_call_watch_t *one) {
  return one != NULL && one->cancelled != NULL && one->cancelled(one->argument);
}

const hx_call_watch_t *hx_call_watch_get(void) { return watch; }

void hx_host_progress(void *self, uint64_t done, uint64_t total) {
  (void)self;
  if (watch == NULL || watch->progress == NULL || total == 0) return;
  watch->progress(watch->argument, done < total ? done : total, total);
}

// ------------------------------------------------------------------ texts

const char *hx_host_code_text(void *self, int32_t code) {
  (void)self;
  static const char *const texts[] = {
      "done",           "the call breaks the contract", "not supported", "out of memory",
      "not available",  "in use by another caller",     "cancelled",     "the device is lost",
      "a short struct", "a fault of the plugin"};
  return code >= 0 && (size_t)code < HX_COUNT_OF(texts) ? texts[code] : "an unknown result";
}
