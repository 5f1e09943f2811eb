// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"

enum { MODE_RELAXED = 2, STATUS_ACTIVE = 1 };

typedef enum kind { LAUNCH, COPY, FILL } kind_t;

// Something recorded. A launch has any number of places; a copy two, to and from; a fill one.
typedef struct entry {
  kind_t kind;
  bool moved;
  uint8_t value;
  const void *node;  // of the driver's graph: a launch's
  void *function;
  uint32_t blocks, threads, shared, cluster;
  bool overlaps;
  hx_cuda_args_t args;
  uint64_t bytes;
  uint32_t first_place, place_count;
} entry_t;

struct hx_graph {
  hx_device *device;
  void *graph, *executable;
  entry_t *entries;
  hx_cuda_place_t *places;
  uint32_t entry_count, entry_room, place_count, place_room;
  uint32_t executes;
  const char *last_name;
};

// ---- the list

static int32_t grow(void *items_pointer, uint32_t *room, uint32_t wanted, size_t each, hx_error *error) {
  void *items = NULL;
  memcpy(&items, items_pointer, sizeof items);
  if (wanted <= *room) {
    return HX_OK;
  }
  const uint32_t larger = wanted > UINT32_MAX / 2 ? UINT32_MAX : wanted * 2;
  void *more = realloc(items, larger * each);
  if (more == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory to record %u launches and copies", wanted);
  }
  memcpy(items_pointer, &more, sizeof more);
  *room = larger;
  return HX_OK;
}

static int32_t add_entry(hx_graph *graph, const entry_t *entry, const hx_cuda_place_t *places, uint32_t count,
                         hx_error *error) {
  HXS_TRY(grow(&graph->entries, &graph->entry_room, graph->entry_count + 1, sizeof *graph->entries, error));
  HXS_TRY(grow(&graph->places, &graph->place_room, graph->place_count + count, sizeof *graph->places, error));
  entry_t *kept = &graph->entries[graph->entry_count++];
  *kept = *entry;
  kept->first_place = graph->place_count;
  kept->place_count = count;
  if (count > 0) {
    memcpy(graph->places + graph->place_count, places, count * sizeof *places);
  }
  graph->place_count += count;
  return HX_OK;
}

int32_t hx_cuda_graph_note_launch(hx_queue *queue, const hx_cuda_launch_t *launch, void *function,
                                  const hx_cuda_args_t *args, const hx_cuda_place_t *places, uint32_t place_count,
                                  hx_error *error) {
  const void **nodes = NULL;
  size_t count = 0;
  int32_t status = 0;
  uint64_t id = 0;
  void *graph = NULL;
  const int32_t result =
      queue->device->driver->cuStreamGetCaptureInfo(queue->stream, &status, &id, &graph, &nodes, &count);
  if (result != 0 || status != STATUS_ACTIVE || count != 1) {
    return result != 0 ? hx_cuda_device_fail(queue->device, "cuStreamGetCaptureInfo", result, error)
                       : hxs_fail(error, HX_INTERNAL, "a recorded launch has %zu nodes, must have 1", count);
  }
  const entry_t entry = {.kind = LAUNCH,
                         .node = nodes[0],
                         .function = function,
                         .blocks = launch->grid[0],
                         .threads = launch->block[0],
                         .shared = launch->shared,
                         .cluster = hx_cuda_launch_cluster(launch),
                         .overlaps = hx_cuda_launch_overlaps(launch),
                         .args = *args};
  return add_entry(queue->recording, &entry, places, place_count, error);
}

static hx_cuda_place_t place_of(hx_span span) {
  return (hx_cuda_place_t){span.buffer, span.offset, span.buffer->address + span.offset, 0};
}

int32_t hx_cuda_graph_note_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  const hx_cuda_place_t places[] = {place_of(to), place_of(from)};
  return add_entry(queue->recording, &(entry_t){.kind = COPY, .bytes = bytes}, places, 2, error);
}

int32_t hx_cuda_graph_note_fill(hx_queue *queue, hx_span to, uint8_t value, uint64_t bytes, hx_error *error) {
  const hx_cuda_place_t place = place_of(to);
  return add_entry(queue->recording, &(entry_t){.kind = FILL, .value = value, .bytes = bytes}, &place, 1, error);
}

void hx_cuda_graph_note_execute(hx_queue *queue, const char *name) {
  queue->recording->executes++;
  queue->recording->last_name = name;
}

// ---- recording

static void destroy(hx_graph *graph) {
  const hx_cuda_driver_t *driver = graph->device->driver;
  if (graph->executable != NULL) {
    driver->cuGraphExecDestroy(graph->executable);
  }
  if (graph->graph != NULL) {
    driver->cuGraphDestroy(graph->graph);
  }
  free(graph->entries);
  free(graph->places);
  free(graph);
}

static void graph_destroy(hx_graph *graph) {
  if (graph == NULL) {
    return;
  }
  hx_device *device = graph->device;
  if (hx_cuda_enter(device, NULL) == HX_OK) {
    destroy(graph);
    hx_cuda_leave(device);
  } else {  // the device is lost, and with it the driver's part
    free(graph->entries);
    free(graph->places);
    free(graph);
  }
}

void hx_cuda_graph_abandon(hx_queue *queue) {
  hx_graph *graph = queue->recording;
  if (graph == NULL) {
    return;
  }
  queue->recording = NULL;
  if (queue->device->driver->cuStreamEndCapture(queue->stream, &graph->graph) != 0) {
    graph->graph = NULL;
  }
  destroy(graph);
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
    const int32_t result = queue->device->driver->cuStreamBeginCapture(queue->stream, MODE_RELAXED);
    code = result == 0 ? HX_OK : hx_cuda_device_fail(queue->device, "cuStreamBeginCapture", result, error);
  }
  if (code == HX_OK && graph != NULL) {
    graph->device = queue->device;
    queue->recording = graph;
  } else {
    free(graph);
  }
  hx_cuda_queue_leave(queue);
  return code;
}

static int32_t finish(hx_queue *queue, hx_graph *graph, hx_error *error) {
  const hx_cuda_driver_t *driver = queue->device->driver;
  int32_t result = driver->cuStreamEndCapture(queue->stream, &graph->graph);
  if (result != 0) {
    graph->graph = NULL;
    return hx_cuda_device_fail(queue->device, "cuStreamEndCapture", result, error);
  }
  result = driver->cuGraphInstantiateWithFlags(&graph->executable, graph->graph, 0);
  if (result != 0) {
    graph->executable = NULL;
    return hx_cuda_device_fail(queue->device, "cuGraphInstantiateWithFlags", result, error);
  }
  return HX_OK;
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
    code = finish(queue, graph, error);
    if (code == HX_OK) {
      *out = graph;
    } else {
      destroy(graph);
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

static int32_t set_launch(hx_graph *graph, entry_t *entry, hx_error *error) {
  void *arguments[] = {&entry->args};
  const hx_cuda_node_t node = {.function = entry->function,
                               .grid = {entry->blocks, 1, 1},
                               .block = {entry->threads, 1, 1},
                               .shared = entry->shared,
                               .arguments = arguments};
  const int32_t result = graph->device->driver->cuGraphExecKernelNodeSetParams(graph->executable, entry->node, &node);
  return result == 0 ? HX_OK : hx_cuda_device_fail(graph->device, "cuGraphExecKernelNodeSetParams", result, error);
}

static int32_t issue(const hx_graph *graph, const entry_t *entry, void *stream) {
  const hx_cuda_driver_t *driver = graph->device->driver;
  const hx_cuda_place_t *places = graph->places + entry->first_place;
  if (entry->kind == COPY) {
    return driver->cuMemcpyAsync(places[0].address, places[1].address, entry->bytes, stream);
  }
  if (entry->kind == FILL) {
    return driver->cuMemsetD8Async(places[0].address, entry->value, entry->bytes, stream);
  }
  hx_cuda_args_t args = entry->args;
  void *arguments[] = {&args};
  hx_cuda_launch_attribute_t attributes[HX_CUDA_ATTRIBUTES];
  const hx_cuda_launch_t launch = {
      .grid = {entry->blocks, 1, 1},
      .block = {entry->threads, 1, 1},
      .shared = entry->shared,
      .stream = stream,
      .attributes = attributes,
      .attribute_count = hx_cuda_launch_attributes(entry->overlaps, entry->cluster, attributes)};
  return driver->cuLaunchKernelEx(&launch, entry->function, arguments, NULL);
}

// Captures the list anew, on a stream of its own, and brings the executable graph up to date with it.
static int32_t capture_again(hx_graph *graph, hx_error *error) {
  const hx_cuda_driver_t *driver = graph->device->driver;
  void *stream = NULL, *fresh = NULL;
  hx_cuda_update_t outcome = {0};
  const char *what = "cuStreamCreate";
  int32_t result = driver->cuStreamCreate(&stream, 1);
  if (result == 0) {
    what = "cuStreamBeginCapture";
    result = driver->cuStreamBeginCapture(stream, MODE_RELAXED);
  }
  if (result == 0) {
    what = "recording anew";
    for (uint32_t i = 0; i < graph->entry_count && result == 0; i++) {
      result = issue(graph, &graph->entries[i], stream);
    }
    const int32_t ended = driver->cuStreamEndCapture(stream, &fresh);
    result = result != 0 ? result : ended;
  }
  if (result == 0) {
    what = "cuGraphExecUpdate";
    result = driver->cuGraphExecUpdate(graph->executable, fresh, &outcome);
  }
  if (fresh != NULL) {
    driver->cuGraphDestroy(fresh);
  }
  if (stream != NULL) {
    driver->cuStreamDestroy(stream);
  }
  return result == 0 ? HX_OK : hx_cuda_device_fail(graph->device, what, result, error);
}

// Marks what moves. True: launches alone, so that new arguments do.
static bool move_all(hx_graph *graph, uint32_t count, const hx_span *from, const hx_span *to, const uint64_t *bytes) {
  bool launches_alone = true;
  for (uint32_t i = 0; i < graph->entry_count; i++) {
    entry_t *entry = &graph->entries[i];
    for (uint32_t p = 0; p < entry->place_count; p++) {
      hx_cuda_place_t *place = &graph->places[entry->first_place + p];
      const uint64_t before = place->address;
      if (hx_cuda_place_move(place, count, from, to, bytes)) {
        entry->moved = true;
        launches_alone = launches_alone && entry->kind == LAUNCH;
        if (entry->kind == LAUNCH) {
          uint64_t *words = (uint64_t *)(void *)&entry->args;
          words[place->field] += place->address - before;
        }
      }
    }
  }
  return launches_alone;
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
  int32_t code = HX_OK;
  if (!move_all(graph, count, from, to, bytes)) {
    code = capture_again(graph, error);
  }
  for (uint32_t i = 0; i < graph->entry_count; i++) {
    entry_t *entry = &graph->entries[i];
    if (entry->moved && entry->kind == LAUNCH && code == HX_OK) {
      code = set_launch(graph, entry, error);
    }
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
