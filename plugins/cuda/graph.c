// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "graph_list.h"
#include "heliox/support/error.h"

// ---- recording

static void graph_destroy(hx_graph *graph) {
  if (graph == NULL) {
    return;
  }
  hx_device *device = graph->device;
  if (hx_cuda_enter(device, NULL) == HX_OK) {
    hx_cuda_graph_free(graph);
    hx_cuda_leave(device);
  } else {  // the device is lost, and with it the driver's part
    hx_cuda_graph_forget(graph);
  }
}

void hx_cuda_graph_abandon(hx_queue *queue) {
  if (queue->recording != NULL) {
    hx_cuda_graph_forget(queue->recording);
    queue->recording = NULL;
  }
}

static int32_t capture_begin(hx_queue *queue, hx_error *error) {
  HXS_TRY(hx_cuda_queue_enter(queue, error));
  int32_t code = HX_OK;
  hx_graph *graph = NULL;
  if (queue->recording != NULL) {
    code = hxs_fail(error, HX_INVALID, "capture_begin: the queue is recording already");
  } else if ((graph = calloc(1, sizeof *graph)) == NULL) {
    code = hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a graph");
  } else {
    graph->device = queue->device;
    queue->recording = graph;
  }
  hx_cuda_queue_leave(queue);
  return code;
}

static int32_t capture_end(hx_queue *queue, hx_graph **out, hx_error *error) {
  HXS_TRY(hx_cuda_queue_hold(queue, error));
  hx_graph *graph = queue->recording;
  int32_t code = HX_OK;
  if (out == NULL || graph == NULL) {
    code = hxs_fail(error, HX_INVALID, "capture_end: %s",
                    out == NULL ? "the result is missing" : "the queue is not recording");
  } else if ((code = hxs_gate_failure(&queue->gate, error)) != HX_OK) {
    // A launch failed while it was recorded: there is nothing to launch again, and the queue is as it was.
    hx_cuda_graph_abandon(queue);
    hxs_gate_reset(&queue->gate);
  } else {
    queue->recording = NULL;
    code = hx_cuda_graph_build(graph, error);
    if (code == HX_OK) {
      *out = graph;
    } else {
      hx_cuda_graph_free(graph);
    }
  }
  hx_cuda_queue_leave(queue);
  return code;
}

static int32_t graph_launch(hx_graph *graph, hx_queue *queue, hx_error *error) {
  if (graph == NULL || queue == NULL || queue->device != graph->device) {
    return hxs_fail(error, HX_INVALID, "launch: the graph or the queue is missing, or the queue is of another device");
  }
  HXS_TRY(hx_cuda_queue_enter(queue, error));
  int32_t code = HX_OK;
  if (queue->recording != NULL) {
    code = hxs_fail(error, HX_INVALID, "launch: the queue is recording");
  } else {
    const int32_t result = graph->device->driver->cuGraphLaunch(graph->executable, queue->stream);
    code = result == 0 ? HX_OK : hx_cuda_device_fail(graph->device, "cuGraphLaunch", result, error);
    queue->follows_launch = false;
    queue->gate.calls += graph->executes;
    queue->last_name = graph->last_name != NULL ? graph->last_name : queue->last_name;
    if (code != HX_OK) {
      hxs_gate_poison(&queue->gate, code, "a recorded run could not be launched");
    }
  }
  hx_cuda_queue_leave(queue);
  return code;
}

// ---- updates

bool hx_cuda_place_move(hx_cuda_place_t *place, uint32_t count, const hx_span *from, const hx_span *to,
                        const uint64_t *bytes) {
  for (uint32_t i = 0; i < count; i++) {
    if (place->buffer == from[i].buffer && place->offset >= from[i].offset &&
        place->offset - from[i].offset < bytes[i]) {
      place->offset = to[i].offset + (place->offset - from[i].offset);
      place->buffer = to[i].buffer;
      const uint64_t address = to[i].buffer->address + place->offset, before = place->address;
      place->address = address;
      return address != before;
    }
  }
  return false;
}

// Marks what moves. True: launches alone, so that new arguments do.
static bool move_entries(hx_graph *graph, uint32_t count, const hx_span *from, const hx_span *to,
                         const uint64_t *bytes) {
  bool launches_alone = true;
  for (uint32_t i = 0; i < graph->entry_count; i++) {
    hx_cuda_entry_t *entry = &graph->entries[i];
    for (uint32_t p = 0; p < entry->place_count; p++) {
      hx_cuda_place_t *place = &graph->places[entry->first_place + p];
      const uint64_t before = place->address;
      if (hx_cuda_place_move(place, count, from, to, bytes)) {
        entry->moved = true;
        launches_alone = launches_alone && entry->kind == HX_CUDA_LAUNCH;
        if (entry->kind == HX_CUDA_LAUNCH) {
          uint64_t *words = (uint64_t *)(void *)&entry->args;
          words[place->field] += place->address - before;
        }
      }
    }
  }
  return launches_alone;
}

// Whether memory that a span has moved to is touched by something that was not behind that span.
static bool move_ranges(hx_graph *graph, uint32_t count, const hx_span *from, const hx_span *to,
                        const uint64_t *bytes) {
  bool meets = false;
  for (uint32_t a = 0; a < count; a++) {
    for (uint32_t b = 0; b < a; b++) {
      const uint64_t x = to[a].buffer->address + to[a].offset, y = to[b].buffer->address + to[b].offset;
      meets = meets || (x < y + bytes[b] && y < x + bytes[a]);
    }
  }
  for (uint32_t r = 0; r < graph->range_count; r++) {
    hx_cuda_range_t *range = &graph->ranges[r];
    if (range->is_scratch) continue;
    if (hx_cuda_place_move(&graph->origins[r], count, from, to, bytes)) {
      const uint64_t length = range->end - range->first;
      range->first = graph->origins[r].address;
      range->end = range->first + length;
      continue;
    }
    for (uint32_t i = 0; i < count && !meets; i++) {
      const uint64_t first = to[i].buffer->address + to[i].offset;
      meets = first < range->end && range->first < first + bytes[i];
    }
  }
  return meets;
}

// Whether the order that the graph was built in is no longer one for the memory that its work touches.
static int32_t is_out_of_order(const hx_graph *graph, bool *out, hx_error *error) {
  hx_cuda_turn_t *turns = calloc(graph->piece_count + 1u, sizeof *turns);
  if (turns == NULL || hx_cuda_order(graph->works, graph->piece_count, graph->ranges, graph->lanes, turns) == 0) {
    free(turns);
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory to order a graph of %u calls", graph->piece_count);
  }
  *out = memcmp(turns, graph->turns, graph->piece_count * sizeof *turns) != 0;
  free(turns);
  return HX_OK;
}

static int32_t apply(hx_graph *graph, uint32_t count, const hx_span *from, const hx_span *to, const uint64_t *bytes,
                     hx_error *error) {
  bool in_line = false;
  const bool launches_alone = move_entries(graph, count, from, to, bytes);
  if (graph->lanes > 1 && move_ranges(graph, count, from, to, bytes)) {
    HXS_TRY(is_out_of_order(graph, &in_line, error));
  }
  if (in_line) {
    return hx_cuda_graph_build_in_line(graph, error);
  }
  if (!launches_alone) {
    HXS_TRY(hx_cuda_graph_capture_again(graph, error));
  }
  return hx_cuda_graph_set_launches(graph, error);
}

static int32_t graph_update(hx_graph *graph, uint32_t count, const hx_span *from, const hx_span *to,
                            const uint64_t *bytes, hx_error *error) {
  uint64_t address = 0;
  if (graph == NULL || (count > 0 && (from == NULL || to == NULL || bytes == NULL))) {
    return hxs_fail(error, HX_INVALID, "update: the graph or the spans are missing");
  }
  for (uint32_t i = 0; i < count; i++) {
    HXS_TRY(hx_cuda_span_address(graph->device, to[i], bytes[i], 2 * sizeof(uint32_t), false, "what a span moves to",
                                 &address, error));
  }
  HXS_TRY(hx_cuda_enter(graph->device, error));
  const int32_t code = apply(graph, count, from, to, bytes, error);
  for (uint32_t i = 0; i < graph->entry_count; i++) {
    hx_cuda_entry_t *entry = &graph->entries[i];
    entry->moved = entry->moved && code != HX_OK;  // what failed is tried again by the next update
  }
  hx_cuda_leave(graph->device);
  return code;
}

const hx_graph_ops hx_cuda_graph_ops = {.struct_size = HX_END_OF(hx_graph_ops, destroy),
                                        .capture_begin = capture_begin,
                                        .capture_end = capture_end,
                                        .launch = graph_launch,
                                        .update = graph_update,
                                        .destroy = graph_destroy};
