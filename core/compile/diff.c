// SPDX-License-Identifier: Apache-2.0
// Two backends side by side: both are linked to the same calls and run at once, each in a thread, and the results of
// every call are compared before either goes on. So nothing is kept but the two results at hand.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/compile/random.h"

struct hx_diff {
  hx_difference_t difference;
  char operation[64], value[HX_NAME_MAX], implementation[2][128];
};

typedef struct meeting {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  const hx_watched_t *waiting[2];  // what each side shows
  bool left[2];                    // the side has ended its run
  uint64_t round;                  // comparisons so far
  bool stop;                       // a difference, or a failure: both end
  bool unlike;                     // the two made different calls
  const hx_ring *ring;
  uint64_t tolerance;
  hx_diff_t *diff;
} meeting_t;

typedef struct side {
  meeting_t *meeting;
  int index;
  hx_executable_t *executable;
  const hx_value_t *const *inputs;
  hx_value_t **outputs;
  hx_report_t *report;
  hx_status_t status;
} side_t;

// ------------------------------------------------------------------ comparing

static uint64_t word_at(const hx_watched_t *watched, uint64_t at) {
  switch (hx_dtype_bytes(watched->layout->dtype)) {
    case 8:
      return ((const uint64_t *)watched->data)[at];
    case 4:
      return ((const uint32_t *)watched->data)[at];
    default:
      return ((const uint8_t *)watched->data)[at];
  }
}

static uint64_t prime_of(const meeting_t *meeting, const hx_watched_t *watched, uint64_t at) {
  if (watched->prime_ids == NULL) return 0;
  const uint64_t row = at >> watched->layout->log_n;
  return meeting->ring->primes[watched->prime_ids[row % watched->layout->limbs]];
}

static bool is_near(uint64_t a, uint64_t b, uint64_t prime, uint64_t tolerance) {
  const uint64_t distance = a > b ? a - b : b - a;
  return distance <= tolerance || (prime > distance && prime - distance <= tolerance);
}

// Words lie dense: [*batch][digit][component][limb][n].
static void note_place(meeting_t *meeting, const hx_watched_t *a, const hx_watched_t *b, uint64_t at) {
  hx_diff_t *diff = meeting->diff;
  hx_difference_t *found = &diff->difference;
  const hx_layout_t *layout = a->layout;
  const uint32_t digits = layout->digits > 0 ? layout->digits : 1;
  uint64_t row = at >> layout->log_n;
  found->differs = true;
  found->call = a->call;
  found->line = a->line;
  found->column = a->column;
  found->index = at & (((uint64_t)1 << layout->log_n) - 1);
  found->limb = (uint32_t)(row % layout->limbs);
  found->component = (uint32_t)(row / layout->limbs % layout->components);
  found->digit = (uint32_t)(row / layout->limbs / layout->components % digits);
  found->item = row / layout->limbs / layout->components / digits;
  found->prime = prime_of(meeting, a, at);
  found->prime_id = a->prime_ids != NULL ? a->prime_ids[found->limb] : 0;
  found->a = word_at(a, at);
  found->b = word_at(b, at);
  snprintf(diff->operation, sizeof diff->operation, "%s", a->operation);
  snprintf(diff->value, sizeof diff->value, "%s", a->value == NULL ? "" : a->value);
  snprintf(diff->implementation[0], sizeof diff->implementation[0], "%s", a->implementation);
  snprintf(diff->implementation[1], sizeof diff->implementation[1], "%s", b->implementation);
}

static void compare(meeting_t *meeting) {
  const hx_watched_t *a = meeting->waiting[0], *b = meeting->waiting[1];
  hx_difference_t *found = &meeting->diff->difference;
  if (strcmp(a->operation, b->operation) != 0 || a->call != b->call || a->result != b->result ||
      !hx_layout_same_shape(a->layout, b->layout)) {
    meeting->unlike = meeting->stop = true;
    return;
  }
  found->calls = a->call + 1;
  if (a->secret || b->secret) {
    ++found->secrets;
    return;
  }
  if (a->inner || b->inner) return;  // no data: what the region gives is compared
  const uint64_t count = hx_layout_elements(a->layout);
  found->values += count;
  if (memcmp(a->data, b->data, count * hx_dtype_bytes(a->layout->dtype)) == 0) return;
  for (uint64_t at = 0; at < count; ++at) {
    if (is_near(word_at(a, at), word_at(b, at), prime_of(meeting, a, at), meeting->tolerance)) continue;
    note_place(meeting, a, b, at);
    meeting->stop = true;
    return;
  }
}

// The second one to come compares; the first waits for it.
static void meet(void *argument, const hx_watched_t *watched) {
  side_t *side = argument;
  meeting_t *meeting = side->meeting;
  const int other = 1 - side->index;
  pthread_mutex_lock(&meeting->lock);
  const uint64_t round = meeting->round;
  meeting->waiting[side->index] = watched;
  if (meeting->waiting[other] != NULL && !meeting->stop) {
    compare(meeting);
    meeting->waiting[0] = meeting->waiting[1] = NULL;
    ++meeting->round;
    pthread_cond_broadcast(&meeting->moved);
  }
  while (meeting->round == round && !meeting->stop && !meeting->left[other])
    pthread_cond_wait(&meeting->moved, &meeting->lock);
  if (meeting->round == round && !meeting->stop) meeting->unlike = meeting->stop = true;  // the other made fewer calls
  meeting->waiting[side->index] = NULL;
  pthread_mutex_unlock(&meeting->lock);
}

static bool should_stop(void *argument) {
  meeting_t *meeting = ((side_t *)argument)->meeting;
  pthread_mutex_lock(&meeting->lock);
  const bool stop = meeting->stop;
  pthread_mutex_unlock(&meeting->lock);
  return stop;
}

static void *run_side(void *argument) {
  side_t *side = argument;
  meeting_t *meeting = side->meeting;
  const hx_run_options_t options = {.cancelled = should_stop, .argument = side};
  const hx_watcher_t watcher = {.watch = meet, .argument = side};
  side->status = hx_run_watched(side->executable, side->inputs, side->outputs, &options, &watcher, side->report);
  pthread_mutex_lock(&meeting->lock);
  meeting->left[side->index] = true;
  if (side->status != HX_STATUS_OK) meeting->stop = true;
  pthread_cond_broadcast(&meeting->moved);
  pthread_mutex_unlock(&meeting->lock);
  return NULL;
}

// ------------------------------------------------------------------ inputs and materials left out

typedef struct job {
  const hx_compilation_t *compilation;
  hx_link_source_t source;
  hx_binding_t *bindings;  // the compilation's, then random ones, which are owned here
  size_t own_first, binding_count;
  hx_executable_t *executables[2];
  const hx_value_t **inputs;              // as given, or drawn here
  hx_value_t **own_inputs, **outputs[2];  // NULL entries: given by the caller
  hx_value_t **placed[2];                 // the inputs where each side's device can read them
  size_t input_count, output_count;
  uint64_t random;
} job_t;

static bool is_bound(const hx_compilation_t *compilation, const char *symbol) {
  for (size_t i = 0; i < compilation->binding_count; ++i) {
    if (strcmp(compilation->bindings[i].symbol, symbol) == 0) return true;
  }
  return false;
}

static hx_status_t bind_materials(job_t *job, hx_report_t *report) {
  const hx_compilation_t *c = job->compilation;
  job->bindings = hx_zalloc(c->binding_count + c->port_count + 1, sizeof *job->bindings);
  if (job->bindings == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (c->binding_count > 0) memcpy(job->bindings, c->bindings, c->binding_count * sizeof *job->bindings);
  job->own_first = job->binding_count = c->binding_count;
  for (size_t i = 0; i < c->port_count; ++i) {
    const char *symbol = c->ports[i].name;
    const hx_ir_op_t *op = hx_compilation_find(c, hx_str(symbol));
    const hx_type_t *type = op == NULL ? NULL : op->results[0]->type;
    if (type == NULL || (type->kind != HX_TYPE_CIPHERTEXT && type->kind != HX_TYPE_PLAINTEXT) || is_bound(c, symbol))
      continue;
    hx_binding_t *binding = &job->bindings[job->binding_count];
    HX_TRY(hx_value_make_random(c, type, symbol, &job->random, &binding->value, report));
    binding->symbol = symbol;
    ++job->binding_count;
  }
  job->source.bindings = job->bindings;
  job->source.binding_count = job->binding_count;
  return HX_STATUS_OK;
}

static hx_status_t take_inputs(job_t *job, const hx_value_t *const *inputs, hx_report_t *report) {
  const hx_port_t *ports = NULL;
  job->input_count = hx_executable_inputs(job->executables[0], &ports);
  job->inputs = hx_zalloc(job->input_count + 1, sizeof *job->inputs);
  job->own_inputs = hx_zalloc(job->input_count + 1, sizeof *job->own_inputs);
  const hx_port_t *results = NULL;
  job->output_count = hx_executable_outputs(job->executables[0], &results);
  if (job->inputs == NULL || job->own_inputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (int side = 0; side < 2; ++side) {
    job->outputs[side] = hx_zalloc(job->output_count + 1, sizeof *job->outputs[side]);
    job->placed[side] = hx_zalloc(job->input_count + 1, sizeof *job->placed[side]);
    if (job->outputs[side] == NULL || job->placed[side] == NULL) return HX_STATUS_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < job->input_count; ++i) {
    if (inputs != NULL) job->inputs[i] = inputs[i];
    if (job->inputs[i] != NULL) continue;
    HX_TRY(hx_value_make_random(job->compilation, hx_executable_input_type(job->executables[0], i), ports[i].name,
                                &job->random, &job->own_inputs[i], report));
    job->inputs[i] = job->own_inputs[i];
  }
  return HX_STATUS_OK;
}

// To the memory of the device that computes, where that is not the host's: a run itself never transfers.
static hx_status_t place_inputs(job_t *job, const hx_backend_t *const backends[2], hx_report_t *report) {
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < job->input_count; ++i)
      HX_TRY(hx_value_to_device(job->inputs[i], backends[side], &job->placed[side][i], report));
  }
  return HX_STATUS_OK;
}

static void job_deinit(job_t *job) {
  for (size_t i = job->own_first; job->bindings != NULL && i < job->binding_count; ++i)
    hx_value_release(job->bindings[i].value);
  hx_free(job->bindings);
  for (size_t i = 0; job->own_inputs != NULL && i < job->input_count; ++i) hx_value_release(job->own_inputs[i]);
  hx_free((void *)job->inputs);
  hx_free(job->own_inputs);
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; job->outputs[side] != NULL && i < job->output_count; ++i)
      hx_value_release(job->outputs[side][i]);
    hx_free(job->outputs[side]);
    for (size_t i = 0; job->placed[side] != NULL && i < job->input_count; ++i) hx_value_release(job->placed[side][i]);
    hx_free(job->placed[side]);
    hx_executable_release(job->executables[side]);
  }
}

// ------------------------------------------------------------------ running

static hx_status_t link_both(job_t *job, const hx_backend_t *a, const hx_backend_t *b, const hx_diff_options_t *options,
                             hx_report_t *report) {
  const hx_backend_t *const backends[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    const hx_link_options_t link = {
        .pipeline = options->pipeline, .place_materials = true, .other = backends[1 - i], .lower_all = options->deep};
    HX_TRY(hx_link_program(&job->source, backends[i], &link, &job->executables[i], report));
  }
  return HX_STATUS_OK;
}

static hx_status_t run_both(job_t *job, meeting_t *meeting, hx_report_t *report) {
  side_t sides[2];
  pthread_t thread;
  hx_report_t *second = hx_report_create();
  if (second == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (int i = 0; i < 2; ++i) {
    sides[i] = (side_t){.meeting = meeting,
                        .index = i,
                        .executable = job->executables[i],
                        .inputs = (const hx_value_t *const *)job->placed[i],
                        .outputs = job->outputs[i],
                        .report = i == 0 ? report : second};
  }
  if (pthread_create(&thread, NULL, run_side, &sides[1]) != 0) {
    hx_report_release(second);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no thread for the second backend");
  }
  run_side(&sides[0]);
  pthread_join(thread, NULL);
  hx_status_t status = HX_STATUS_OK;
  if (meeting->diff->difference.differs) {
    hx_report_clear(report);  // that the runs were stopped is no fault
  } else if (meeting->unlike) {
    status = hx_report_fail(report, HX_CODE_INTERNAL, "the two backends were linked to different calls");
  } else if (sides[1].status != HX_STATUS_OK && sides[1].status != HX_STATUS_CANCELLED) {
    hx_report_clear(report);
    for (size_t i = 0; i < hx_report_count(second); ++i) hx_report_add(report, hx_report_get(second, i));
    status = sides[1].status;
  } else {
    status = sides[0].status;
  }
  hx_report_release(second);
  return status;
}

static hx_status_t compare_backends(job_t *job, const hx_backend_t *a, const hx_backend_t *b,
                                    const hx_diff_options_t *options, const hx_value_t *const *inputs, hx_diff_t *diff,
                                    hx_report_t *report) {
  HX_TRY(bind_materials(job, report));
  HX_TRY(link_both(job, a, b, options, report));
  HX_TRY(take_inputs(job, inputs, report));
  HX_TRY(place_inputs(job, (const hx_backend_t *const[]){a, b}, report));
  meeting_t meeting = {.ring = hx_params_ring(job->compilation->params), .tolerance = options->tolerance, .diff = diff};
  pthread_mutex_init(&meeting.lock, NULL);
  pthread_cond_init(&meeting.moved, NULL);
  const hx_status_t status = run_both(job, &meeting, report);
  pthread_cond_destroy(&meeting.moved);
  pthread_mutex_destroy(&meeting.lock);
  return status;
}

hx_status_t hx_diff(const hx_compilation_t *compilation, const hx_backend_t *a, const hx_backend_t *b,
                    const hx_diff_options_t *options, const hx_value_t *const *inputs, hx_diff_t **out,
                    hx_report_t *report) {
  static const hx_diff_options_t defaults;
  if (compilation == NULL || a == NULL || b == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_diff: an argument is NULL");
  hx_diff_t *diff = hx_zalloc(1, sizeof *diff);
  if (diff == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a comparison");
  diff->difference.operation = diff->operation;
  diff->difference.value = diff->value;
  diff->difference.implementation_a = diff->implementation[0];
  diff->difference.implementation_b = diff->implementation[1];
  job_t job = {.compilation = compilation, .source = hx_compilation_source(compilation), .random = 2026};
  const hx_status_t status = compare_backends(&job, a, b, options == NULL ? &defaults : options, inputs, diff, report);
  job_deinit(&job);
  if (status != HX_STATUS_OK) {
    hx_diff_release(diff);
    return status;
  }
  *out = diff;
  return HX_STATUS_OK;
}

const hx_difference_t *hx_diff_get(const hx_diff_t *diff) { return &diff->difference; }
void hx_diff_release(hx_diff_t *diff) { hx_free(diff); }
