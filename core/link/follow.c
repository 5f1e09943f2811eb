// SPDX-License-Identifier: Apache-2.0
// The steps of a run, in the order that control flow gives them. Numbers are computed on the host while calls are
// enqueued: nothing waits for the device.
#include <stdio.h>

#include "core/link/executable.h"
#include "core/link/trace.h"

// Registers of inputs; every other register is set before it is read.
void hx_run_bind_numbers(hx_running_t *run) {
  const hx_executable_t *exe = run->exe;
  for (size_t i = 0; i < exe->input_count; ++i) {
    if (exe->input_numbers[i] != HX_NONE) run->instance->numbers[exe->input_numbers[i]] = hx_value_word(run->inputs[i]);
  }
}

static hx_status_t fail_step(const hx_running_t *run, size_t index, int32_t result, const hx_error *error) {
  const hx_step_t *step = &run->exe->steps.items[index];
  char what[192];
  snprintf(what, sizeof what, "step %zu, %s (line %u)", index, hx_step_name(step), step->op->line);
  if (step->kind == HX_STEP_COPY)
    return hx_plugin_status(run->exe->sites[step->site].device->plugin, result, error, what, run->report);
  return hx_implementation_status(step->resolution.implementation, result, error, what, run->report);
}

static hx_status_t execute(hx_running_t *run, size_t index) {
  const hx_executable_t *exe = run->exe;
  const hx_step_t *step = &exe->steps.items[index];
  const hx_call *call = &run->instance->calls[index];
  hx_error *error = &run->error;
  int32_t result;
  if (step->kind == HX_STEP_COPY) {
    if (step->is_elided) return HX_STATUS_OK;
    result = hx_copy_rows(exe->sites[step->site].device, call->queue, exe->slots[step->results[0]].layout,
                          call->outputs[0], exe->slots[step->operands[0]].layout, call->inputs[0], error);
  } else {
    result = step->resolution.implementation->record->execute(step->prepared, call, error);
  }
  return result == HX_OK ? HX_STATUS_OK : fail_step(run, index, result, error);
}

static hx_status_t note_time(hx_running_t *run, size_t index, const char *implementation, uint64_t start) {
  const hx_step_t *step = &run->exe->steps.items[index];
  const hx_trace_event_t event = {
      .call = run->calls,
      .operation = step->op->info->name,
      .implementation = implementation,
      .value = step->result_count > 0 ? run->exe->slots[step->results[0]].name : "",
      .line = step->op->line,
      .start_ns = start,
      .duration_ns = hx_trace_now(run->trace) - start,
  };
  if (hx_trace_add(run->trace, &event) == HX_STATUS_OK) return HX_STATUS_OK;
  return hx_report_fail(run->report, HX_CODE_OUT_OF_MEMORY, "no memory for the trace of a run");
}

static hx_status_t transfer(hx_running_t *run, size_t index) {
  const uint64_t start = run->trace == NULL ? 0 : hx_trace_now(run->trace);
  HX_TRY(hx_run_transfer(run, index));
  return run->trace == NULL ? HX_STATUS_OK : note_time(run, index, "heliox", start);
}

// One call from its start until the device has done it.
static hx_status_t execute_timed(hx_running_t *run, size_t index) {
  const hx_step_t *step = &run->exe->steps.items[index];
  const uint64_t start = hx_trace_now(run->trace);
  HX_TRY(execute(run, index));
  hx_error error = hx_error_make();
  const int32_t result = run->exe->sites[step->site].device->queue.sync(run->instance->sites[step->site].queue, &error);
  if (result != HX_OK) return fail_step(run, index, result, &error);
  return note_time(run, index, step->resolution.implementation->qualified, start);
}

#define PROGRESS_PARTS 1024u  // of a step

void hx_run_progress(void *argument, uint64_t done, uint64_t total) {
  const hx_running_t *run = argument;
  if (run->options == NULL || run->options->progress == NULL) return;
  const uint64_t part = (uint64_t)((double)done / (double)total * PROGRESS_PARTS);
  run->options->progress(run->options->argument, (uint64_t)run->step * PROGRESS_PARTS + part,
                         (uint64_t)run->exe->steps.count * PROGRESS_PARTS);
}

bool hx_run_cancelled(void *argument) {
  const hx_running_t *run = argument;
  return run->options != NULL && run->options->cancelled != NULL && run->options->cancelled(run->options->argument);
}

// What a caller is asked and shown between steps, where it wants that.
hx_status_t hx_run_attend(hx_running_t *run, size_t index) {
  const hx_run_options_t *options = run->options;
  run->step = index;
  hx_run_progress(run, 0, 1);
  if (options == NULL || options->cancelled == NULL || !options->cancelled(options->argument)) return HX_STATUS_OK;
  return hx_report_fail(run->report, HX_CODE_CANCELLED, "the run was cancelled before step %zu of %zu", index,
                        run->exe->steps.count);
}

// Steps [first, end). While counting nothing is enqueued: control flow is followed from the inputs' numbers.
static hx_status_t follow(hx_running_t *run, size_t first, size_t end);

static hx_status_t follow_for(hx_running_t *run, size_t index) {
  const hx_step_t *step = &run->exe->steps.items[index];
  const hx_control_code_t *code = step->control;
  int64_t *numbers = run->instance->numbers;
  const int64_t lower = numbers[code->lower], upper = numbers[code->upper], stride = numbers[code->step];
  uint64_t trips = 0;
  if (!hx_control_trips(lower, upper, stride, code->is_unsigned, &trips))
    return hx_report_fail_at(run->report, HX_CODE_INPUT, run->exe->program->source, step->op->line, step->op->column,
                             "scf.for: the step is %lld; it has to be positive", (long long)stride);
  if (trips > code->turns_max)
    return hx_report_fail_at(run->report, HX_CODE_LIMIT, run->exe->program->source, step->op->line, step->op->column,
                             "scf.for: it would run %llu times; a loop runs at most %llu times",
                             (unsigned long long)trips, (unsigned long long)code->turns_max);
  for (uint64_t trip = 0; trip < trips && !run->is_found; ++trip) {
    numbers[code->counter] = (int64_t)((uint64_t)lower + trip * (uint64_t)stride);  // below upper: no wrap
    HX_TRY(follow(run, index + 1, code->end));
  }
  return HX_STATUS_OK;
}

static hx_status_t follow_while(hx_running_t *run, size_t index) {
  const hx_step_t *step = &run->exe->steps.items[index];
  const hx_control_code_t *code = step->control;
  for (uint64_t trip = 0; !run->is_found; ++trip) {
    HX_TRY(follow(run, index + 1, code->middle));
    if (run->instance->numbers[code->condition] == 0) break;
    if (trip == code->turns_max)
      return hx_report_fail_at(run->report, HX_CODE_LIMIT, run->exe->program->source, step->op->line, step->op->column,
                               "scf.while: it has run %llu times, and a loop runs at most so often",
                               (unsigned long long)code->turns_max);
    HX_TRY(follow(run, code->middle, code->end));
  }
  return HX_STATUS_OK;
}

static hx_status_t follow_control(hx_running_t *run, size_t index) {
  const hx_step_t *step = &run->exe->steps.items[index];
  const hx_control_code_t *code = step->control;
  if (step->kind == HX_STEP_FOR) return follow_for(run, index);
  if (step->kind == HX_STEP_WHILE) return follow_while(run, index);
  const bool taken = run->instance->numbers[code->condition] != 0;
  return taken ? follow(run, index + 1, code->middle) : follow(run, code->middle, code->end);
}

static hx_status_t follow_call(hx_running_t *run, size_t index) {
  if (run->is_counting) {
    run->is_found = run->calls++ == run->wanted;
    run->found = index;
    return HX_STATUS_OK;
  }
  if (run->options != NULL) HX_TRY(hx_run_attend(run, index));
  HX_TRY(run->trace == NULL ? execute(run, index) : execute_timed(run, index));
  if (run->watcher != NULL)
    HX_TRY(hx_watch_step(run->exe, run->instance, index, run->calls, run->watcher, run->report));
  ++run->calls;
  const hx_work_t *work = &run->exe->steps.items[index].work;
  run->mod_ups += work->mod_ups;
  run->mod_downs += work->mod_downs;
  return HX_STATUS_OK;
}

static hx_status_t follow_collective(hx_running_t *run, size_t index) {
  if (run->options != NULL) HX_TRY(hx_run_attend(run, index));
  return hx_run_collective(run, index);
}

static hx_status_t fail_division(const hx_running_t *run, const hx_step_t *step) {
  return hx_report_fail_at(run->report, HX_CODE_INPUT, run->exe->program->source, step->op->line, step->op->column,
                           "%s: division by 0", step->op->info->name);
}

static hx_status_t follow(hx_running_t *run, size_t first, size_t end) {
  const hx_step_t *steps = run->exe->steps.items;
  for (size_t s = first; s < end && !run->is_found;) {
    const hx_step_t *step = &steps[s];
    switch (step->kind) {
      case HX_STEP_CALL:
        HX_TRY(follow_call(run, s++));
        break;
      case HX_STEP_COPY:
        if (!run->is_counting) HX_TRY(execute(run, s));
        ++s;
        break;
      case HX_STEP_TRANSFER:
        if (!run->is_counting) HX_TRY(transfer(run, s));
        ++s;
        break;
      case HX_STEP_NUMBER:
        if (!hx_number_execute(step->number, run->instance->numbers)) return fail_division(run, step);
        ++s;
        break;
      case HX_STEP_COLLECTIVE:
        if (!run->is_counting) HX_TRY(follow_collective(run, s));
        ++s;
        break;
      case HX_STEP_TEST:
      case HX_STEP_FUSED:
        ++s;
        break;
      default:
        HX_TRY(follow_control(run, s));
        s = step->control->end;
        break;
    }
  }
  return HX_STATUS_OK;
}

hx_status_t hx_run_enqueue(hx_running_t *run) { return follow(run, 0, run->exe->steps.count); }

hx_status_t hx_run_steps(hx_running_t *run) {
  bool done = false;
  if (hx_graph_serves(run)) HX_TRY(hx_graph_run(run, &done));
  return done ? HX_STATUS_OK : hx_run_enqueue(run);
}

// Every queue, whatever one of them says. They count from their own last wait, so that a number would not tell a step:
// the device is named.
static hx_status_t wait_spread(hx_running_t *run, bool report_late, int32_t result, hx_error *error) {
  const hx_site_t *failed = &run->exe->sites[0];
  for (uint32_t i = 1; i < run->exe->site_count; ++i) {
    const hx_site_t *site = &run->exe->sites[i];
    if (!site->is_used) continue;
    hx_error own = hx_error_make();
    const int32_t late = site->device->queue.sync(run->instance->sites[i].queue, &own);
    if (result != HX_OK || late == HX_OK) continue;
    result = late;
    *error = own;
    failed = site;
  }
  if (result == HX_OK || !report_late) return HX_STATUS_OK;
  char what[HX_NAME_MAX + 32];
  snprintf(what, sizeof what, "wait for the run on %s", failed->device->name);
  return hx_plugin_status(failed->device->plugin, result, error, what, run->report);
}

// Waits. A failure that surfaces only now counts the executes up to the one that failed, from those that have been
// waited for: which step that was is found by following the run once more. With a watcher the counting began anew at
// every call, the last one failed.
hx_status_t hx_run_wait(hx_running_t *run, bool report_late) {
  hx_error error = hx_error_make();
  const int32_t result = run->exe->device->queue.sync(run->instance->sites[0].queue, &error);
  if (run->exe->is_spread) return wait_spread(run, report_late, result, &error);
  if (result == HX_OK || !report_late) return HX_STATUS_OK;
  if (error.op != HX_NONE && error.op < run->calls - run->settled) {
    run->is_counting = true;
    run->wanted = run->settled + error.op;
    run->calls = 0;
    hx_run_bind_numbers(run);
    (void)follow(run, 0, run->exe->steps.count);
    if (run->is_found) return fail_step(run, run->found, result, &error);
  }
  return hx_plugin_status(run->exe->device->plugin, result, &error, "wait for the run", run->report);
}

hx_status_t hx_run_settle(hx_running_t *run) {
  HX_TRY(hx_run_wait(run, true));
  run->settled = run->calls;
  return HX_STATUS_OK;
}
