// SPDX-License-Identifier: Apache-2.0
// One run: check, bind the memory of inputs and outputs, enqueue every step, wait, and leave nothing half done.
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/link/executable.h"
#include "core/link/trace.h"

// ------------------------------------------------------------------ binding

// An input whose rows do not lie as they were prepared for is copied into memory that the instance keeps.
static hx_status_t stage_input(hx_running_t *run, size_t index, hx_span from) {
  hx_executable_t *exe = run->exe;
  hx_instance_t *instance = run->instance;
  const hx_layout_t *to_layout = &exe->input_layouts[index];
  const uint64_t bytes = hx_layout_extent(to_layout) * hx_dtype_bytes(to_layout->dtype);
  if (instance->staging[index] == NULL) {
    HX_TRY(hx_device_alloc(exe->device, HX_SPACE_DEVICE, bytes, exe->secret_inputs[index], &instance->staging[index],
                           run->report));
  }
  const hx_span to = {.buffer = instance->staging[index]->buffer};
  hx_error error = hx_error_make();
  const int32_t result = hx_copy_rows(exe->device, instance->sites[0].queue, to_layout, to,
                                      &run->inputs[index]->tensor->layout, from, &error);
  for (size_t r = 0; r < exe->root_count; ++r) {
    if (exe->roots[r].kind == HX_ROOT_INPUT && exe->roots[r].index == index) instance->roots[r] = to;
  }
  return hx_plugin_status(exe->device->plugin, result, &error, "copy an input", run->report);
}

static hx_status_t bind_input(hx_running_t *run, size_t root) {
  const hx_executable_t *exe = run->exe;
  const size_t index = exe->roots[root].index;
  const hx_tensor_t *tensor = run->inputs[index]->tensor;
  char what[HX_NAME_MAX + 16];
  snprintf(what, sizeof what, "input %.*s", HX_NAME_MAX, exe->inputs[index].name);
  hx_span span = {.offset = tensor->offset};
  HX_TRY(hx_device_buffer(exe->device, tensor->storage, what, &span.buffer, run->report));
  run->instance->roots[root] = span;
  const bool as_prepared = hx_layout_equal(&tensor->layout, &exe->input_layouts[index]);
  return as_prepared && span.offset % exe->device->alignment == 0 ? HX_STATUS_OK : stage_input(run, index, span);
}

// Memory for a result that the caller did not bring: host memory where the device works on it, else the device's own.
// It is not cleared: a run that succeeds has written all of it, and one that fails hands nothing out.
static hx_status_t create_output(hx_running_t *run, size_t index) {
  hx_executable_t *exe = run->exe;
  const hx_type_t *type = exe->output_types[index];
  const bool secret = exe->output_rules[index].secret;
  if (hx_device_imports(exe->device) || exe->output_numbers[index] != HX_NONE) {
    const bool number = exe->output_numbers[index] != HX_NONE;
    const hx_status_t status =
        (number ? hx_value_create : hx_value_create_unset)(exe->params, type, secret, &run->instance->results[index]);
    return status != HX_STATUS_OUT_OF_MEMORY ? status
                                             : hx_report_fail(run->report, HX_CODE_OUT_OF_MEMORY,
                                                              "no memory for output %s", exe->outputs[index].name);
  }
  return hx_value_create_on(exe->device, exe->params, type, secret, &run->instance->results[index], run->report);
}

static hx_status_t bind_output(hx_running_t *run, size_t root) {
  hx_executable_t *exe = run->exe;
  const size_t index = exe->roots[root].index;
  run->instance->results[index] = run->outputs[index];
  if (run->outputs[index] == NULL) HX_TRY(create_output(run, index));
  if (exe->output_numbers[index] != HX_NONE) return HX_STATUS_OK;  // written from its register at the end
  const hx_tensor_t *tensor = run->instance->results[index]->tensor;
  char what[HX_NAME_MAX + 16];
  snprintf(what, sizeof what, "output %.*s", HX_NAME_MAX, exe->outputs[index].name);
  hx_span *span = &run->instance->roots[root];
  span->offset = tensor->offset;
  return hx_device_buffer(exe->device, tensor->storage, what, &span->buffer, run->report);
}

static hx_status_t bind(hx_running_t *run) {
  hx_executable_t *exe = run->exe;
  for (size_t i = 0; i < exe->output_count; ++i) run->instance->results[i] = NULL;
  for (size_t r = 0; r < exe->root_count; ++r) {
    if (exe->roots[r].kind == HX_ROOT_INPUT) HX_TRY(bind_input(run, r));
    if (exe->roots[r].kind == HX_ROOT_OUTPUT) HX_TRY(bind_output(run, r));
  }
  for (size_t i = 0; i < run->instance->open_count; ++i) {
    const hx_open_span_t *open = &run->instance->open[i];
    *open->span = hx_instance_span(exe, run->instance, open->slot);
  }
  hx_run_bind_numbers(run);
  return hx_instance_refresh(exe, run->instance, run->report);
}

// ------------------------------------------------------------------ endings

// The key id of an output: its class's, by what is known of it or by an input of it.
static const uint8_t *output_key_id(const hx_running_t *run, size_t index, const uint8_t key_id[16]) {
  const hx_executable_t *exe = run->exe;
  if (exe->secrets == NULL) return key_id;
  const uint32_t c = exe->output_secrets[index];
  if (exe->secrets[c].is_known) return exe->secrets[c].id;
  for (size_t i = 0; i < exe->input_count; ++i) {
    if (exe->input_secrets[i] == c) return run->inputs[i]->key_id;
  }
  return exe->secrets[c].id;  // zero: of no input and no key
}

static void finish_output(const hx_running_t *run, size_t index, const uint8_t key_id[16]) {
  const hx_output_rule_t *rule = &run->exe->output_rules[index];
  hx_value_t *value = run->instance->results[index];
  uint64_t count = rule->least_count;
  bool is_complex = rule->is_complex;
  for (size_t i = 0; i < run->exe->input_count; ++i) {
    if (((rule->inputs[i / 64] >> (i % 64)) & 1) == 0) continue;
    is_complex = is_complex || run->inputs[i]->is_complex;
    if (!rule->count_is_written && run->inputs[i]->count > count) count = run->inputs[i]->count;
  }
  if (run->exe->output_numbers[index] != HX_NONE)
    hx_value_set_word(value, run->instance->numbers[run->exe->output_numbers[index]]);
  value->count = count;
  value->is_complex = is_complex;
  if (value->type.kind == HX_TYPE_CIPHERTEXT) {
    memcpy(value->key_id, output_key_id(run, index, key_id), sizeof value->key_id);
  }
  hx_tensor_touch(value->tensor);
  run->outputs[index] = value;
}

static void clear_secrets(const hx_running_t *run) {
  hx_instance_t *instance = run->instance;
  if (!run->exe->has_secrets) return;
  for (uint32_t i = 0; i < run->exe->site_count; ++i) {
    hx_storage_t *const storages[] = {instance->sites[i].slab, instance->sites[i].scratch, instance->sites[i].staging};
    for (size_t k = 0; k < HX_COUNT_OF(storages); ++k) {
      if (storages[k] != NULL)
        (void)hx_device_clear(run->exe->sites[i].device, storages[k], 0, storages[k]->bytes, NULL);
    }
  }
  for (size_t i = 0; i < run->exe->input_count; ++i) {
    if (instance->staging[i] == NULL || !run->exe->secret_inputs[i]) continue;
    (void)hx_device_clear(run->exe->device, instance->staging[i], 0, instance->staging[i]->bytes, NULL);
  }
}

// Given outputs are zeroed, created ones disappear.
static void discard_outputs(const hx_running_t *run) {
  for (size_t i = 0; i < run->exe->output_count; ++i) {
    if (run->outputs[i] == NULL) {
      hx_value_release(run->instance->results[i]);
    } else {
      const hx_tensor_t *tensor = run->outputs[i]->tensor;
      const uint64_t bytes = hx_layout_extent(&tensor->layout) * hx_dtype_bytes(tensor->layout.dtype);
      (void)hx_device_clear(run->exe->device, tensor->storage, tensor->offset, bytes, NULL);
    }
    run->instance->results[i] = NULL;
  }
}

static void count_run(hx_executable_t *exe, const hx_running_t *run, double seconds) {
  pthread_mutex_lock(&exe->lock);
  exe->runs += 1;
  exe->seconds = seconds;
  exe->mod_ups = run->mod_ups;
  exe->mod_downs = run->mod_downs;
  exe->recordings += run->is_recorded;
  exe->replays += run->is_replayed;
  exe->updates += run->is_updated;
  pthread_mutex_unlock(&exe->lock);
}

hx_status_t hx_run_watched(hx_executable_t *executable, const hx_value_t *const *inputs, hx_value_t **outputs,
                           const hx_run_options_t *options, const hx_watcher_t *watcher, hx_report_t *report) {
  const double start = hx_clock_seconds();
  uint8_t key_id[16];
  HX_TRY(hx_run_check(executable, inputs, outputs, key_id, report));
  hx_running_t run = {.exe = executable,
                      .inputs = inputs,
                      .outputs = outputs,
                      .options = options,
                      .watcher = watcher,
                      .trace = options == NULL ? NULL : options->trace,
                      .report = report,
                      .error = hx_error_make()};
  HX_TRY(hx_instance_take(executable, &run.instance, report));
  if (run.trace != NULL) hx_trace_begin_run(run.trace);
  hx_status_t status = bind(&run);
  const hx_call_watch_t watch = {.cancelled = hx_run_cancelled, .progress = hx_run_progress, .argument = &run};
  const hx_call_watch_t *before = options == NULL ? NULL : hx_call_watch_set(&watch);
  if (status == HX_STATUS_OK) status = hx_run_steps(&run);
  const hx_status_t late = hx_run_wait(&run, status == HX_STATUS_OK);  // always: operands must outlive what is enqueued
  if (options != NULL) hx_call_watch_set(before);
  if (status == HX_STATUS_OK) status = late;
  if (status == HX_STATUS_OK && watcher != NULL && watcher->end != NULL) status = watcher->end(watcher->argument);
  clear_secrets(&run);
  if (status != HX_STATUS_OK) {
    discard_outputs(&run);
    hx_instance_destroy(executable, run.instance);  // its queue may be poisoned
    return status;
  }
  for (size_t i = 0; i < executable->output_count; ++i) finish_output(&run, i, key_id);
  hx_instance_give(executable, run.instance);
  count_run(executable, &run, hx_clock_seconds() - start);
  return HX_STATUS_OK;
}

// A run whose results are recorded or compared: the record watches it.
static hx_status_t run_recorded(hx_executable_t *executable, const hx_value_t *const *inputs, hx_value_t **outputs,
                                const hx_run_options_t *options, hx_report_t *report) {
  hx_recording_t recording = {
      .record = options->record, .replay = options->replay, .report = report, .source = executable->program->source};
  HX_TRY(hx_recording_begin(&recording, executable->params));
  const hx_watcher_t watcher = {.watch = hx_recording_watch, .end = hx_recording_end, .argument = &recording};
  const hx_status_t status = hx_run_watched(executable, inputs, outputs, options, &watcher, report);
  hx_recording_deinit(&recording);
  return status;
}

hx_status_t hx_run_with(hx_executable_t *executable, const hx_value_t *const *inputs, hx_value_t **outputs,
                        const hx_run_options_t *options, hx_report_t *report) {
  if (options != NULL && (options->record != NULL || options->replay != NULL))
    return run_recorded(executable, inputs, outputs, options, report);
  return hx_run_watched(executable, inputs, outputs, options, NULL, report);
}

hx_status_t hx_run(hx_executable_t *executable, const hx_value_t *const *inputs, hx_value_t **outputs,
                   hx_report_t *report) {
  return hx_run_with(executable, inputs, outputs, NULL, report);
}

void hx_executable_stats(const hx_executable_t *executable, hx_run_stats_t *out) {
  hx_executable_t *exe = (hx_executable_t *)(uintptr_t)executable;  // the lock changes
  pthread_mutex_lock(&exe->lock);
  *out = (hx_run_stats_t){.slab_bytes = exe->slab_bytes,
                          .peak_bytes = exe->slab_bytes + exe->scratch_device + exe->scratch_host + exe->staging_bytes,
                          .unshared_bytes = exe->unshared_bytes,
                          .calls = exe->call_count,
                          .runs = exe->runs,
                          .mod_ups = exe->mod_ups,
                          .mod_downs = exe->mod_downs,
                          .seconds = exe->seconds,
                          .recordings = exe->recordings,
                          .replays = exe->replays,
                          .updates = exe->updates};
  pthread_mutex_unlock(&exe->lock);
}
