// SPDX-License-Identifier: Apache-2.0
// The driver's graph of a recorded list. The list is given to a stream that captures, piece by piece; before a piece
// the stream is told what the piece waits for, so that independent pieces become branches. Within a piece, and from a
// piece to the next of its lane where it waits for that one alone, a launch may begin while the one before it ends.
#include <stdlib.h>
#include <string.h>

#include "graph_list.h"
#include "heliox/support/error.h"

enum { MODE_RELAXED = 2, STATUS_ACTIVE = 1, SET_DEPENDENCIES = 1, INVALID_VALUE = 1 };

#define SCRATCH_MAX ((uint64_t)256 << 20)  // for all lanes of a graph

// ---- capture

static int32_t issue(const hx_graph *graph, const hx_cuda_entry_t *entry, bool overlaps, void *stream) {
  const hx_cuda_driver_t *driver = graph->device->driver;
  const hx_cuda_place_t *places = graph->places + entry->first_place;
  if (entry->kind == HX_CUDA_COPY) {
    return driver->cuMemcpyAsync(places[0].address, places[1].address, entry->bytes, stream);
  }
  if (entry->kind == HX_CUDA_FILL) {
    return driver->cuMemsetD8Async(places[0].address, entry->value, entry->bytes, stream);
  }
  hx_cuda_args_t args = entry->args;
  void *arguments[] = {&args};
  const hx_cuda_launch_t launch = {.grid = {entry->blocks, 1, 1},
                                   .block = {entry->threads, 1, 1},
                                   .shared = entry->shared,
                                   .stream = stream,
                                   .attributes = &hx_cuda_overlap,
                                   .attribute_count = overlaps && graph->device->arch >= 90 ? 1 : 0};
  return driver->cuLaunchKernelEx(&launch, entry->function, arguments, NULL);
}

// The node that the stream has captured last, which must be one.
static int32_t last_node(const hx_graph *graph, void *stream, const void **out) {
  const void **nodes = NULL;
  size_t count = 0;
  int32_t status = 0;
  const int32_t result = graph->device->driver->cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, &count);
  if (result != 0 || status != STATUS_ACTIVE || count != 1) {
    return result != 0 ? result : INVALID_VALUE;
  }
  *out = nodes[0];
  return 0;
}

static const hx_cuda_entry_t *end_of(const hx_graph *graph, uint32_t piece) {
  const hx_cuda_piece_t *p = &graph->pieces[piece];
  return &graph->entries[p->first_entry + p->entry_count - 1];
}

// Tells the stream what a piece waits for, unless that is the piece before it, for which the stream waits by itself.
static int32_t set_dependencies(const hx_graph *graph, uint32_t piece, const void *const *ends, void *stream) {
  const hx_cuda_turn_t *turn = &graph->turns[piece];
  const void *nodes[HX_CUDA_LANES_MAX];
  if (piece == 0 || (turn->after_count == 1 && turn->after[0] == piece - 1)) {
    return 0;
  }
  for (uint32_t i = 0; i < turn->after_count; i++) {
    nodes[i] = ends[turn->after[i]];
  }
  return graph->device->driver->cuStreamUpdateCaptureDependencies(stream, nodes, turn->after_count, SET_DEPENDENCIES);
}

static int32_t issue_piece(hx_graph *graph, uint32_t piece, const void **ends, bool keep, void *stream) {
  const hx_cuda_turn_t *turn = &graph->turns[piece];
  const hx_cuda_piece_t *p = &graph->pieces[piece];
  bool overlaps = turn->after_count == 1 && graph->turns[turn->after[0]].lane == turn->lane &&
                  end_of(graph, turn->after[0])->kind == HX_CUDA_LAUNCH;
  int32_t result = set_dependencies(graph, piece, ends, stream);
  for (uint32_t i = 0; i < p->entry_count && result == 0; i++) {
    hx_cuda_entry_t *entry = &graph->entries[p->first_entry + i];
    result = issue(graph, entry, overlaps, stream);
    result = result != 0 ? result : last_node(graph, stream, &ends[piece]);
    entry->node = result == 0 && keep ? ends[piece] : entry->node;
    overlaps = entry->kind == HX_CUDA_LAUNCH;
  }
  return result;
}

// A graph of the list, captured on a stream of its own. keep: entries remember their nodes.
static int32_t capture(hx_graph *graph, bool keep, void **out, hx_error *error) {
  const hx_cuda_driver_t *driver = graph->device->driver;
  void *stream = NULL;
  const char *what = "cuStreamCreate";
  const void **ends = calloc(graph->piece_count + 1u, sizeof *ends);
  if (ends == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a graph of %u calls", graph->piece_count);
  }
  *out = NULL;
  int32_t result = driver->cuStreamCreate(&stream, 1);
  if (result == 0) {
    what = "cuStreamBeginCapture";
    result = driver->cuStreamBeginCapture(stream, MODE_RELAXED);
  }
  if (result == 0) {
    what = "a recorded launch";
    for (uint32_t i = 0; i < graph->piece_count && result == 0; i++) {
      result = issue_piece(graph, i, ends, keep, stream);
    }
    const int32_t ended = driver->cuStreamEndCapture(stream, out);
    result = result != 0 ? result : ended;
  }
  if (result != 0 && *out != NULL) {
    driver->cuGraphDestroy(*out);
    *out = NULL;
  }
  if (stream != NULL) {
    driver->cuStreamDestroy(stream);
  }
  free(ends);
  return result == 0 ? HX_OK : hx_cuda_device_fail(graph->device, what, result, error);
}

// ---- building

// Every lane's scratch memory; what the calls were given is for one lane alone.
static void set_scratch(hx_graph *graph) {
  for (uint32_t piece = 0; piece < graph->piece_count; piece++) {
    const hx_cuda_piece_t *p = &graph->pieces[piece];
    for (uint32_t e = p->first_entry; e < p->first_entry + p->entry_count; e++) {
      hx_cuda_entry_t *entry = &graph->entries[e];
      uint64_t *words = (uint64_t *)(void *)&entry->args;
      for (uint32_t k = 0; k < entry->place_count; k++) {
        hx_cuda_place_t *place = &graph->places[entry->first_place + k];
        if (place->is_scratch) {
          const uint64_t address = graph->scratch + graph->turns[piece].scratch * graph->lane_bytes;
          words[place->field] += address - place->address;
          *place = (hx_cuda_place_t){NULL, 0, address, place->field, true};
        }
      }
    }
  }
}

static int32_t order(hx_graph *graph, uint32_t lanes, hx_cuda_turn_t *out, hx_error *error) {
  graph->lanes = hx_cuda_order(graph->works, graph->piece_count, graph->ranges, lanes, out);
  return graph->lanes > 0 ? HX_OK
                          : hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a graph of %u calls", graph->piece_count);
}

// As many lanes as scratch memory may be had for; where the device has none left, one.
static int32_t choose_lanes(hx_graph *graph, hx_error *error) {
  uint32_t lanes = HX_CUDA_LANES_MAX;
  for (uint32_t i = 0; i < graph->piece_count; i++) {
    const uint64_t bytes = graph->pieces[i].scratch_bytes;
    graph->lane_bytes = bytes > graph->lane_bytes ? bytes : graph->lane_bytes;
  }
  graph->lane_bytes = (graph->lane_bytes + HX_CUDA_ALIGNMENT - 1) / HX_CUDA_ALIGNMENT * HX_CUDA_ALIGNMENT;
  if (graph->lane_bytes > SCRATCH_MAX / lanes) {
    lanes = (uint32_t)(SCRATCH_MAX / graph->lane_bytes);
  }
  HXS_TRY(order(graph, lanes, graph->turns, error));
  if (graph->lanes == 1 || graph->lane_bytes == 0) {
    return HX_OK;
  }
  const int32_t code = hx_cuda_device_alloc(graph->device, graph->lanes * graph->lane_bytes, &graph->scratch, error);
  if (code == HX_OUT_OF_MEMORY) {
    graph->scratch = 0;
    return order(graph, 1, graph->turns, error);
  }
  if (code == HX_OK) {
    set_scratch(graph);
  }
  return code;
}

static void drop_driver_part(hx_graph *graph) {
  const hx_cuda_driver_t *driver = graph->device->driver;
  if (graph->executable != NULL) {
    driver->cuGraphExecDestroy(graph->executable);
  }
  if (graph->graph != NULL) {
    driver->cuGraphDestroy(graph->graph);
  }
  graph->executable = graph->graph = NULL;
}

static int32_t instantiate(hx_graph *graph, hx_error *error) {
  HXS_TRY(capture(graph, true, &graph->graph, error));
  const int32_t result = graph->device->driver->cuGraphInstantiateWithFlags(&graph->executable, graph->graph, 0);
  if (result != 0) {
    graph->executable = NULL;
    return hx_cuda_device_fail(graph->device, "cuGraphInstantiateWithFlags", result, error);
  }
  return HX_OK;
}

// A call may be nothing to do.
static void drop_empty(hx_graph *graph) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < graph->piece_count; i++) {
    if (graph->pieces[i].entry_count > 0) {
      graph->works[kept] = graph->works[i];
      graph->works[kept].shares -= graph->works[i].shares > 0 ? i - kept : 0;  // nothing lies between parts and theirs
      graph->pieces[kept++] = graph->pieces[i];
    }
  }
  graph->piece_count = kept;
}

int32_t hx_cuda_graph_build(hx_graph *graph, hx_error *error) {
  drop_empty(graph);
  graph->turns = calloc(graph->piece_count + 1u, sizeof *graph->turns);
  if (graph->turns == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a graph of %u calls", graph->piece_count);
  }
  HXS_TRY(choose_lanes(graph, error));
  return instantiate(graph, error);
}

int32_t hx_cuda_graph_build_in_line(hx_graph *graph, hx_error *error) {
  HXS_TRY(order(graph, 1, graph->turns, error));
  if (graph->scratch != 0) {
    set_scratch(graph);
  }
  drop_driver_part(graph);
  return instantiate(graph, error);
}

void hx_cuda_graph_free(hx_graph *graph) {
  drop_driver_part(graph);
  if (graph->scratch != 0) {
    hx_cuda_device_free(graph->device, graph->scratch);
  }
  hx_cuda_graph_forget(graph);
}

// ---- updates

int32_t hx_cuda_graph_set_launches(hx_graph *graph, hx_error *error) {
  for (uint32_t i = 0; i < graph->entry_count; i++) {
    hx_cuda_entry_t *entry = &graph->entries[i];
    if (!entry->moved || entry->kind != HX_CUDA_LAUNCH) continue;
    void *arguments[] = {&entry->args};
    const hx_cuda_node_t node = {.function = entry->function,
                                 .grid = {entry->blocks, 1, 1},
                                 .block = {entry->threads, 1, 1},
                                 .shared = entry->shared,
                                 .arguments = arguments};
    const int32_t result = graph->device->driver->cuGraphExecKernelNodeSetParams(graph->executable, entry->node, &node);
    if (result != 0) {
      return hx_cuda_device_fail(graph->device, "cuGraphExecKernelNodeSetParams", result, error);
    }
  }
  return HX_OK;
}

int32_t hx_cuda_graph_capture_again(hx_graph *graph, hx_error *error) {
  const hx_cuda_driver_t *driver = graph->device->driver;
  void *fresh = NULL;
  hx_cuda_update_t outcome = {0};
  HXS_TRY(capture(graph, false, &fresh, error));
  const int32_t result = driver->cuGraphExecUpdate(graph->executable, fresh, &outcome);
  driver->cuGraphDestroy(fresh);
  return result == 0 ? HX_OK : hx_cuda_device_fail(graph->device, "cuGraphExecUpdate", result, error);
}
