// SPDX-License-Identifier: Apache-2.0
// Queues of runs. A queue's thread takes one item after the other: runs, points that it passes, points that it waits
// for. Devices with queues of their own work while this thread waits for them, so that several queues overlap.
#include "heliox/queue.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/link/executable.h"

struct hx_point {
  atomic_uint refs;
  pthread_mutex_t lock;
  pthread_cond_t passed_now;
  bool is_passed;
};

typedef enum hx_item_kind { HX_ITEM_RUN, HX_ITEM_PASS, HX_ITEM_WAIT } hx_item_kind_t;

typedef struct hx_item {
  struct hx_item *next;
  hx_item_kind_t kind;
  hx_event_t *event;            // retained
  hx_executable_t *executable;  // retained
  const hx_value_t *const *given;
  const hx_value_t **inputs;  // what was given, retained once the run begins
  hx_value_t **outputs;
  hx_run_options_t options;
} hx_item_t;

struct hx_queue_of_runs {
  pthread_t thread;
  pthread_mutex_t lock;  // all below
  pthread_cond_t changed;
  hx_item_t *first, *last;  // waiting
  bool is_busy, is_stopping;
  bool is_poisoned;      // a run failed, and nobody has reset the queue
  hx_status_t failed;    // told by the next sync; OK: nothing to tell
  hx_report_t *failure;  // its faults, or NULL
  atomic_bool cancelled;
};

// ------------------------------------------------------------------ points

static hx_event_t *event_create(void) {
  hx_event_t *event = hx_zalloc(1, sizeof *event);
  if (event == NULL) return NULL;
  atomic_init(&event->refs, 1);
  pthread_mutex_init(&event->lock, NULL);
  pthread_cond_init(&event->passed_now, NULL);
  return event;
}

void hx_event_release(hx_event_t *event) {
  if (event == NULL || atomic_fetch_sub(&event->refs, 1) != 1) return;
  pthread_cond_destroy(&event->passed_now);
  pthread_mutex_destroy(&event->lock);
  hx_free(event);
}

static hx_event_t *event_retain(hx_event_t *event) {
  atomic_fetch_add(&event->refs, 1);
  return event;
}

static void event_pass(hx_event_t *event) {
  pthread_mutex_lock(&event->lock);
  event->is_passed = true;
  pthread_cond_broadcast(&event->passed_now);
  pthread_mutex_unlock(&event->lock);
}

bool hx_event_is_passed(hx_event_t *event) {
  pthread_mutex_lock(&event->lock);
  const bool passed = event->is_passed;
  pthread_mutex_unlock(&event->lock);
  return passed;
}

void hx_event_wait(hx_event_t *event) {
  pthread_mutex_lock(&event->lock);
  while (!event->is_passed) pthread_cond_wait(&event->passed_now, &event->lock);
  pthread_mutex_unlock(&event->lock);
}

// ------------------------------------------------------------------ items

static void free_item(hx_item_t *item) {
  for (size_t i = 0; item->inputs != NULL && i < item->executable->input_count; ++i)
    hx_value_release((hx_value_t *)(uintptr_t)item->inputs[i]);
  hx_free((void *)item->inputs);
  hx_executable_release(item->executable);
  hx_event_release(item->event);
  hx_free(item);
}

// What stops a run of the queue: the caller's wish, or the queue's.
typedef struct hx_stop {
  hx_queue_t *queue;
  const hx_run_options_t *options;
} hx_stop_t;

static bool should_stop(void *argument) {
  const hx_stop_t *stop = argument;
  if (atomic_load(&stop->queue->cancelled)) return true;
  return stop->options->cancelled != NULL && stop->options->cancelled(stop->options->argument);
}

static void pass_progress(void *argument, uint64_t done, uint64_t total) {
  const hx_stop_t *stop = argument;
  if (stop->options->progress != NULL) stop->options->progress(stop->options->argument, done, total);
}

static hx_status_t run_item(hx_queue_t *queue, hx_item_t *item, hx_report_t *report) {
  for (size_t i = 0; i < item->executable->input_count; ++i) {
    if (item->given[i] != NULL) item->inputs[i] = hx_value_retain(item->given[i]);
  }
  hx_stop_t stop = {.queue = queue, .options = &item->options};
  hx_run_options_t options = item->options;
  options.cancelled = should_stop;
  options.progress = pass_progress;
  options.argument = &stop;
  return hx_run_with(item->executable, item->inputs, item->outputs, &options, report);
}

// The first failure is kept until it is told.
static void note_end(hx_queue_t *queue, hx_status_t status, hx_report_t *report) {
  pthread_mutex_lock(&queue->lock);
  const bool is_first = status != HX_STATUS_OK && !queue->is_poisoned;
  if (is_first) {
    queue->is_poisoned = true;
    queue->failed = status;
    hx_report_release(queue->failure);
    queue->failure = report;
  }
  pthread_mutex_unlock(&queue->lock);
  if (!is_first) hx_report_release(report);
}

static void carry_out(hx_queue_t *queue, hx_item_t *item) {
  if (item->kind == HX_ITEM_WAIT) hx_event_wait(item->event);
  if (item->kind == HX_ITEM_RUN) {
    pthread_mutex_lock(&queue->lock);
    const bool skip = queue->is_poisoned;
    pthread_mutex_unlock(&queue->lock);
    hx_report_t *report = skip ? NULL : hx_report_create();
    hx_status_t status = skip || report != NULL ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
    if (!skip && status == HX_STATUS_OK)
      status = atomic_load(&queue->cancelled)
                   ? hx_report_fail(report, HX_CODE_CANCELLED, "the queue was cancelled before this run began")
                   : run_item(queue, item, report);
    if (!skip) note_end(queue, status, report);
  }
  if (item->kind == HX_ITEM_PASS) event_pass(item->event);
  free_item(item);
}

static void *work(void *argument) {
  hx_queue_t *queue = argument;
  pthread_mutex_lock(&queue->lock);
  while (queue->first != NULL || !queue->is_stopping) {
    hx_item_t *item = queue->first;
    if (item == NULL) {
      pthread_cond_wait(&queue->changed, &queue->lock);
      continue;
    }
    queue->first = item->next;
    if (queue->first == NULL) queue->last = NULL;
    queue->is_busy = true;
    pthread_mutex_unlock(&queue->lock);
    carry_out(queue, item);
    pthread_mutex_lock(&queue->lock);
    queue->is_busy = false;
    pthread_cond_broadcast(&queue->changed);
  }
  pthread_mutex_unlock(&queue->lock);
  return NULL;
}

static void push(hx_queue_t *queue, hx_item_t *item) {
  pthread_mutex_lock(&queue->lock);
  if (queue->last == NULL) {
    queue->first = item;
  } else {
    queue->last->next = item;
  }
  queue->last = item;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
}

// ------------------------------------------------------------------ queues

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a queue of runs");
}

hx_status_t hx_queue_create(hx_queue_t **out, hx_report_t *report) {
  if (out == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_queue_create: out is NULL");
  hx_queue_t *queue = hx_zalloc(1, sizeof *queue);
  if (queue == NULL) return no_memory(report);
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->changed, NULL);
  atomic_init(&queue->cancelled, false);
  queue->failed = HX_STATUS_OK;
  if (pthread_create(&queue->thread, NULL, work, queue) == 0) {
    *out = queue;
    return HX_STATUS_OK;
  }
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->lock);
  hx_free(queue);
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no thread for a queue of runs");
}

void hx_queue_release(hx_queue_t *queue) {
  if (queue == NULL) return;
  pthread_mutex_lock(&queue->lock);
  queue->is_stopping = true;
  pthread_cond_broadcast(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  pthread_join(queue->thread, NULL);
  hx_report_release(queue->failure);
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->lock);
  hx_free(queue);
}

hx_status_t hx_run_async(hx_queue_t *queue, hx_executable_t *executable, const hx_value_t *const *inputs,
                         hx_value_t **outputs, const hx_run_options_t *options, hx_report_t *report) {
  if (queue == NULL || executable == NULL || (inputs == NULL && executable->input_count > 0) ||
      (outputs == NULL && executable->output_count > 0))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_run_async: an argument is NULL");
  hx_item_t *item = hx_zalloc(1, sizeof *item);
  const hx_value_t **kept = hx_zalloc(executable->input_count, sizeof *kept);
  if (item == NULL || kept == NULL) {
    hx_free(item);
    hx_free((void *)kept);
    return no_memory(report);
  }
  *item = (hx_item_t){.kind = HX_ITEM_RUN,
                      .executable = hx_executable_retain(executable),
                      .given = inputs,
                      .inputs = kept,
                      .outputs = outputs};
  if (options != NULL) item->options = *options;
  push(queue, item);
  return HX_STATUS_OK;
}

static hx_status_t push_event(hx_queue_t *queue, hx_item_kind_t kind, hx_event_t *event, hx_report_t *report) {
  hx_item_t *item = hx_zalloc(1, sizeof *item);
  if (item == NULL) return no_memory(report);
  item->kind = kind;
  item->event = event_retain(event);
  push(queue, item);
  return HX_STATUS_OK;
}

hx_status_t hx_queue_record(hx_queue_t *queue, hx_event_t **out, hx_report_t *report) {
  if (queue == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_queue_record: an argument is NULL");
  hx_event_t *event = event_create();
  if (event == NULL) return no_memory(report);
  const hx_status_t status = push_event(queue, HX_ITEM_PASS, event, report);
  if (status == HX_STATUS_OK) {
    *out = event;
  } else {
    hx_event_release(event);
  }
  return status;
}

hx_status_t hx_queue_wait(hx_queue_t *queue, hx_event_t *event, hx_report_t *report) {
  if (queue == NULL || event == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_queue_wait: an argument is NULL");
  return push_event(queue, HX_ITEM_WAIT, event, report);
}

// Under the lock: nothing waits and nothing runs.
static void wait_idle(hx_queue_t *queue) {
  while (queue->first != NULL || queue->is_busy) pthread_cond_wait(&queue->changed, &queue->lock);
}

hx_status_t hx_queue_sync(hx_queue_t *queue, hx_report_t *report) {
  if (queue == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_queue_sync: the queue is NULL");
  pthread_mutex_lock(&queue->lock);
  wait_idle(queue);
  const hx_status_t status = queue->failed;
  hx_report_t *failure = queue->failure;
  queue->failed = HX_STATUS_OK;
  queue->failure = NULL;
  pthread_mutex_unlock(&queue->lock);
  for (size_t i = 0; i < hx_report_count(failure); ++i) (void)hx_report_add(report, hx_report_get(failure, i));
  hx_report_release(failure);
  if (status == HX_STATUS_OUT_OF_MEMORY && failure == NULL) return no_memory(report);
  return status;
}

void hx_queue_cancel(hx_queue_t *queue) {
  if (queue == NULL) return;
  pthread_mutex_lock(&queue->lock);
  if (queue->first != NULL || queue->is_busy) atomic_store(&queue->cancelled, true);
  pthread_mutex_unlock(&queue->lock);
}

void hx_queue_reset(hx_queue_t *queue) {
  if (queue == NULL) return;
  pthread_mutex_lock(&queue->lock);
  wait_idle(queue);
  queue->is_poisoned = false;
  queue->failed = HX_STATUS_OK;
  hx_report_release(queue->failure);
  queue->failure = NULL;
  atomic_store(&queue->cancelled, false);
  pthread_mutex_unlock(&queue->lock);
}
