// SPDX-License-Identifier: Apache-2.0
// Runs as graphs of the device: what a run enqueues is recorded once for each instance, whose own memory never moves.
// Later runs tell the graph where their inputs and outputs lie and launch it. Control flow, traces and watched results
// need the steps one by one, so such runs are not recorded.
#include <string.h>

#include "core/link/executable.h"

typedef struct hx_recorded {
  hx_graph *graph;
  hx_span *roots;      // [root_count]: where they were when the graph was made or last brought up to date
  uint64_t *bytes;     // [root_count]: of inputs and outputs
  hx_span *from, *to;  // [root_count]: room for an update
  uint64_t *lengths;
  bool is_ambiguous;  // two roots share memory, so that a place does not say whose it is
} hx_recorded_t;

static bool is_open(const hx_root_t *root) { return root->kind == HX_ROOT_INPUT || root->kind == HX_ROOT_OUTPUT; }

const char *hx_graph_obstacle(const hx_executable_t *exe) {
  if (exe->device->plugin->table.graph == NULL) return "the plugin has no graph role";
  if (!exe->is_straight) return "the program has control flow, numbers that are computed or steps across devices";
  if (exe->is_spread) return "the program runs on several devices";
  return NULL;
}

bool hx_graph_serves(const hx_running_t *run) {
  return hx_graph_obstacle(run->exe) == NULL && !run->instance->refuses_graphs && run->watcher == NULL &&
         run->trace == NULL && (run->options == NULL || !run->options->apart);
}

void hx_graph_drop(const hx_executable_t *exe, hx_instance_t *instance) {
  hx_recorded_t *recorded = instance->recorded;
  if (recorded == NULL) return;
  if (recorded->graph != NULL) exe->device->plugin->table.graph->destroy(recorded->graph);
  hx_free(recorded->roots);
  hx_free(recorded->bytes);
  hx_free(recorded->from);
  hx_free(recorded->to);
  hx_free(recorded->lengths);
  hx_free(recorded);
  instance->recorded = NULL;
}

static hx_status_t create(hx_running_t *run) {
  const size_t count = run->exe->root_count;
  hx_recorded_t *recorded = hx_zalloc(1, sizeof *recorded);
  if (recorded == NULL) return hx_report_fail(run->report, HX_CODE_OUT_OF_MEMORY, "no memory to record a run");
  run->instance->recorded = recorded;
  recorded->roots = hx_zalloc(count, sizeof *recorded->roots);
  recorded->bytes = hx_zalloc(count, sizeof *recorded->bytes);
  recorded->from = hx_zalloc(count, sizeof *recorded->from);
  recorded->to = hx_zalloc(count, sizeof *recorded->to);
  recorded->lengths = hx_zalloc(count, sizeof *recorded->lengths);
  if (recorded->roots != NULL && recorded->bytes != NULL && recorded->from != NULL && recorded->to != NULL &&
      recorded->lengths != NULL)
    return HX_STATUS_OK;
  hx_graph_drop(run->exe, run->instance);
  return hx_report_fail(run->report, HX_CODE_OUT_OF_MEMORY, "no memory to record a run");
}

// Bytes from the start of a root that any slot lies in.
static void measure(const hx_executable_t *exe, hx_recorded_t *recorded) {
  for (size_t i = 0; i < exe->slot_count; ++i) {
    const hx_slot_t *slot = &exe->slots[i];
    if (!is_open(&exe->roots[slot->root])) continue;
    const uint64_t end = slot->offset + hx_layout_extent(slot->layout) * hx_dtype_bytes(slot->layout->dtype);
    if (end > recorded->bytes[slot->root]) recorded->bytes[slot->root] = end;
  }
}

static bool overlap(const hx_executable_t *exe, const hx_recorded_t *recorded, size_t a, size_t b) {
  const hx_span *x = &recorded->roots[a], *y = &recorded->roots[b];
  if (x->buffer == NULL || x->buffer != y->buffer) return false;
  if (!is_open(&exe->roots[b])) return true;  // a material, or the slab: its extent does not matter
  return x->offset < y->offset + recorded->bytes[b] && y->offset < x->offset + recorded->bytes[a];
}

static void note_places(const hx_running_t *run) {
  const hx_executable_t *exe = run->exe;
  hx_recorded_t *recorded = run->instance->recorded;
  memcpy(recorded->roots, run->instance->roots, exe->root_count * sizeof *recorded->roots);
  recorded->is_ambiguous = false;
  for (size_t a = 0; a < exe->root_count && !recorded->is_ambiguous; ++a) {
    if (!is_open(&exe->roots[a])) continue;
    for (size_t b = 0; b < exe->root_count && !recorded->is_ambiguous; ++b) {
      if (a != b) recorded->is_ambiguous = overlap(exe, recorded, a, b);
    }
  }
}

static hx_status_t fail_graph(const hx_running_t *run, int32_t result, const hx_error *error, const char *what) {
  return hx_plugin_status(run->exe->device->plugin, result, error, what, run->report);
}

static hx_status_t record(hx_running_t *run, bool *out_recorded) {
  const hx_graph_ops *ops = run->exe->device->plugin->table.graph;
  hx_instance_t *instance = run->instance;
  hx_error error = hx_error_make();
  *out_recorded = false;
  int32_t result = ops->capture_begin(instance->sites[0].queue, &error);
  instance->refuses_graphs = result == HX_UNSUPPORTED;
  if (result == HX_UNSUPPORTED) return HX_STATUS_OK;
  if (result != HX_OK) return fail_graph(run, result, &error, "begin to record a run");
  hx_status_t status = create(run);
  if (status == HX_STATUS_OK) status = hx_run_enqueue(run);
  hx_graph *graph = NULL;
  error = hx_error_make();
  result = ops->capture_end(instance->sites[0].queue, &graph, &error);
  if (status == HX_STATUS_OK && result != HX_OK) status = fail_graph(run, result, &error, "record a run");
  if (status != HX_STATUS_OK) {
    if (result == HX_OK && graph != NULL) ops->destroy(graph);
    hx_graph_drop(run->exe, instance);
    return status;
  }
  instance->recorded->graph = graph;
  measure(run->exe, instance->recorded);
  note_places(run);
  *out_recorded = true;
  return HX_STATUS_OK;
}

// Inputs and outputs that lie elsewhere now.
static hx_status_t update(hx_running_t *run) {
  const hx_executable_t *exe = run->exe;
  hx_recorded_t *recorded = run->instance->recorded;
  uint32_t count = 0;
  for (size_t r = 0; r < exe->root_count; ++r) {
    const hx_span now = run->instance->roots[r], before = recorded->roots[r];
    if (recorded->bytes[r] == 0 || (now.buffer == before.buffer && now.offset == before.offset)) continue;
    recorded->from[count] = before;
    recorded->to[count] = now;
    recorded->lengths[count++] = recorded->bytes[r];
  }
  if (count == 0) return HX_STATUS_OK;
  hx_error error = hx_error_make();
  const int32_t result = exe->device->plugin->table.graph->update(recorded->graph, count, recorded->from, recorded->to,
                                                                  recorded->lengths, &error);
  if (result != HX_OK) return fail_graph(run, result, &error, "bring a recorded run up to date");
  run->is_updated = true;
  note_places(run);
  return HX_STATUS_OK;
}

static bool has_moved(const hx_running_t *run) {
  const hx_recorded_t *recorded = run->instance->recorded;
  for (size_t r = 0; r < run->exe->root_count; ++r) {
    const hx_span now = run->instance->roots[r], before = recorded->roots[r];
    if (recorded->bytes[r] > 0 && (now.buffer != before.buffer || now.offset != before.offset)) return true;
  }
  return false;
}

// What follow_call counts while it enqueues.
static void count_calls(hx_running_t *run) {
  run->calls = run->exe->call_count;
  run->mod_ups = run->mod_downs = 0;
  for (size_t s = 0; s < run->exe->steps.count; ++s) {
    run->mod_ups += run->exe->steps.items[s].work.mod_ups;
    run->mod_downs += run->exe->steps.items[s].work.mod_downs;
  }
}

hx_status_t hx_graph_run(hx_running_t *run, bool *out_done) {
  hx_instance_t *instance = run->instance;
  *out_done = false;
  if (run->options != NULL) HX_TRY(hx_run_attend(run, 0));
  if (instance->recorded != NULL && instance->recorded->is_ambiguous && has_moved(run))
    hx_graph_drop(run->exe, instance);
  if (instance->recorded == NULL) {
    bool recorded = false;
    HX_TRY(record(run, &recorded));
    if (!recorded) return HX_STATUS_OK;
    run->is_recorded = true;
  } else {
    run->is_replayed = true;
    HX_TRY(update(run));
  }
  count_calls(run);
  hx_error error = hx_error_make();
  const int32_t result =
      run->exe->device->plugin->table.graph->launch(instance->recorded->graph, instance->sites[0].queue, &error);
  if (result != HX_OK) return fail_graph(run, result, &error, "launch a recorded run");
  *out_done = true;
  return HX_STATUS_OK;
}
