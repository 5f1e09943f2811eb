// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/host_table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/plugin/file.h"
#include "core/plugin/gates.h"
#include "core/plugin/host.h"

#define LINE_MAX_BYTES 2048
#define WORKERS_MAX 256

// ---- options

// Values are handed out until the end of the process, so a replaced one is kept.
typedef struct option {
  struct option *next;
  const char *name, *value;  // value NULL: unset
} option_t;

static pthread_mutex_t option_lock = PTHREAD_MUTEX_INITIALIZER;
static option_t *options;  // newest first

static const struct {
  const char *name, *variable;
} from_environment[] = {{"cpu-mask", "HELIOX_CPU_MASK"},         {"opencl-memory", "HELIOX_OPENCL_MEMORY"},
                        {"opencl-queue", "HELIOX_OPENCL_QUEUE"}, {"opencl-path", "HELIOX_OPENCL_PATH"},
                        {"opencl-cache", "HELIOX_OPENCL_CACHE"}, {"cuda-cache", "HELIOX_CUDA_CACHE"},
                        {"cuda-nvrtc", "HELIOX_CUDA_NVRTC"}};

static option_t *find_option(const char *name) {
  option_t *option = options;
  while (option != NULL && strcmp(option->name, name) != 0) option = option->next;
  return option;
}

static option_t *add_option(const char *name, const char *value) {
  option_t *option = hx_zalloc(1, sizeof *option);
  char *name_copy = hx_strdup(name), *value_copy = value == NULL ? NULL : hx_strdup(value);
  if (option == NULL || name_copy == NULL || (value != NULL && value_copy == NULL)) {
    hx_free(option);
    hx_free(name_copy);
    hx_free(value_copy);
    return NULL;
  }
  *option = (option_t){.next = options, .name = name_copy, .value = value_copy};
  options = option;
  return option;
}

static bool is_equal(const option_t *option, const char *name, const char *value) {
  if (strcmp(option->name, name) != 0) return false;
  return option->value == NULL || value == NULL ? option->value == value : strcmp(option->value, value) == 0;
}

// A value that was set before comes to the front: what plugins were told stays where it is, and setting the same few
// values again and again does not grow the list.
static bool set_again(const char *name, const char *value) {
  for (option_t **place = &options; *place != NULL; place = &(*place)->next) {
    option_t *option = *place;
    if (!is_equal(option, name, value)) continue;
    *place = option->next;
    option->next = options;
    options = option;
    return true;
  }
  return false;
}

hx_status_t hx_plugin_option_set(const char *name, const char *value) {
  pthread_mutex_lock(&option_lock);
  const bool done = set_again(name, value) || add_option(name, value) != NULL;
  pthread_mutex_unlock(&option_lock);
  return done ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
}

// The first question takes the value from the environment; nobody else reads it.
static const char *ask_option(void *self, const char *name) {
  const struct hx_plugin_host *host = self;
  if (name == NULL) return NULL;
  // A plugin that is mapped from a copy of its bytes cannot find the files beside its library by itself.
  if (strcmp(name, "plugin-directory") == 0) return host->directory;
  pthread_mutex_lock(&option_lock);
  const option_t *option = find_option(name);
  for (size_t i = 0; option == NULL && i < HX_COUNT_OF(from_environment); ++i) {
    if (strcmp(from_environment[i].name, name) != 0 || hx_process_privileged()) continue;
    option = add_option(name, getenv(from_environment[i].variable));
  }
  const char *value = option == NULL ? NULL : option->value;
  pthread_mutex_unlock(&option_lock);
  return value;
}

// ---- logging, threads, cancelling

static void write_log(void *self, int32_t level, const char *area, const char *text) {
  const struct hx_plugin_host *host = self;
  if (level < HX_LOG_ERROR || level > HX_LOG_DEBUG || !hx_log_enabled(level, "plugin")) return;
  hx_text_t line;
  hx_text_init(&line);
  if (area != NULL && *area != '\0') {
    hx_text_clean(&line, (hx_str_t){area, strnlen(area, 64)}, 64);
    hx_text_puts(&line, ": ");
  }
  if (text != NULL) hx_text_clean(&line, (hx_str_t){text, strnlen(text, LINE_MAX_BYTES)}, LINE_MAX_BYTES);
  if (!line.failed && line.size > 0) hx_log(level, "plugin", "%s: %s", host->area, line.data);
  hx_text_deinit(&line);
}

static uint32_t share_threads(void *self) {
  (void)self;
  return hx_threads_get();
}

// The plugin as a whole, or the call that this thread is in.
static int32_t is_cancelled(void *self) {
  const struct hx_plugin_host *host = self;
  return atomic_load(&host->cancelled) || hx_call_watch_cancelled(hx_call_watch_get()) ? 1 : 0;
}

// ---- parallel-for

typedef struct loop {
  struct hx_plugin_host *host;
  atomic_ullong next;
  uint64_t count;
  void (*body)(void *, uint64_t);
  void *argument;
  const hx_call_watch_t *watch;  // of the thread that runs the loop: its workers ask for it
} loop_t;

static atomic_uint workers_busy;  // of all loops: nested ones do not multiply the budget

static void *run_loop(void *argument) {
  loop_t *loop = argument;
  const hx_call_watch_t *before = hx_call_watch_set(loop->watch);
  while (is_cancelled(loop->host) == 0) {
    const uint64_t index = atomic_fetch_add(&loop->next, 1);
    if (index >= loop->count) break;
    loop->body(loop->argument, index);
  }
  hx_call_watch_set(before);
  return NULL;
}

// Takes up to `wanted` workers from the process's budget, of which the caller is one.
static uint32_t take_workers(uint32_t wanted) {
  const uint32_t budget = hx_threads_get() - 1;
  uint32_t busy = atomic_load(&workers_busy), taken;
  do {
    const uint32_t free = busy < budget ? budget - busy : 0;
    taken = wanted < free ? wanted : free;
  } while (taken > 0 && !atomic_compare_exchange_weak(&workers_busy, &busy, busy + taken));
  return taken;
}

// Threads live for one loop: none is left over when a plugin is shut down, and a fork finds none.
static int32_t run_parallel(void *self, uint64_t count, void (*body)(void *, uint64_t), void *argument) {
  loop_t loop = {.host = self, .count = count, .body = body, .argument = argument, .watch = hx_call_watch_get()};
  pthread_t threads[WORKERS_MAX];
  uint32_t started = 0;
  if (body == NULL) return HX_INVALID;
  atomic_init(&loop.next, 0);
  const uint64_t more = count > 0 ? count - 1 : 0;
  const uint32_t taken = take_workers(more < WORKERS_MAX ? (uint32_t)more : WORKERS_MAX);
  // A thread that cannot be started leaves its share to the others.
  while (started < taken && pthread_create(&threads[started], NULL, run_loop, &loop) == 0) ++started;
  run_loop(&loop);
  for (uint32_t i = 0; i < started; ++i) pthread_join(threads[i], NULL);
  atomic_fetch_sub(&workers_busy, taken);
  return atomic_load(&loop.next) >= count ? HX_OK : HX_CANCELLED;
}

// ---- regions of other plugins

static int32_t run_region(void *self, hx_callable *callable, const hx_call *call, hx_error *error) {
  (void)self;
  if (callable == NULL || callable->execute == NULL || call == NULL) {
    if (error != NULL && error->struct_size >= HX_END_OF(hx_error, message)) {
      error->code = HX_INVALID;
      error->op = HX_NONE;
      snprintf(error->message, sizeof error->message, "run_region: no callable or no call");
    }
    return HX_INVALID;
  }
  if (call->struct_size < HX_END_OF(hx_call, outputs)) return HX_ARGS_SIZE;
  hx_call own = *call;
  own.struct_size = HX_END_OF(hx_call, outputs);
  own.scratch_host = callable->scratch_host;
  own.scratch_device = callable->scratch_device;
  return callable->execute(callable->prepared, &own, error);
}

static const hx_host functions = {.struct_size = HX_END_OF(hx_host, code_text),
                                  .abi_major = HX_ABI_MAJOR,
                                  .log = write_log,
                                  .option = ask_option,
                                  .threads = share_threads,
                                  .parallel_for = run_parallel,
                                  .cancelled = is_cancelled,
                                  .run_region = run_region,
                                  .scratch_take = hx_host_scratch_take,
                                  .scratch_give = hx_host_scratch_give,
                                  .progress = hx_host_progress,
                                  .code_text = hx_host_code_text};

struct hx_plugin_host *hx_plugin_host_create(const char *id, const char *library_path) {
  struct hx_plugin_host *host = hx_zalloc(1, sizeof *host);
  if (host == NULL) return NULL;
  host->directory = hx_strdup(library_path);
  if (host->directory == NULL) {
    hx_free(host);
    return NULL;
  }
  char *slash = strrchr(host->directory, '/');
  if (slash != NULL) *slash = '\0';
  host->table = functions;
  host->table.minor_min = hx_host_minor_min();
  host->table.minor_max = hx_host_minor_max();
  host->table.self = host;
  pthread_mutex_init(&host->scratch_lock, NULL);
  snprintf(host->area, sizeof host->area, "%s", id);
  return host;
}

void hx_plugin_host_release(struct hx_plugin_host *host) {
  if (host == NULL) return;
  hx_host_scratch_drain(host);
  pthread_mutex_destroy(&host->scratch_lock);
  hx_free(host->directory);
  hx_free(host);
}
