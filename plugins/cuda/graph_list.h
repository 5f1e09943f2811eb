// SPDX-License-Identifier: Apache-2.0
// What was recorded, as a list: pieces of work (an execute, a copy, a fill), each with its launches and copies in order
// and with the memory that it touches. The driver's graph is built from it.
#ifndef HX_CUDA_GRAPH_LIST_H
#define HX_CUDA_GRAPH_LIST_H

#include "device.h"
#include "graph.h"
#include "graph_order.h"

typedef enum hx_cuda_kind { HX_CUDA_LAUNCH, HX_CUDA_COPY, HX_CUDA_FILL } hx_cuda_kind_t;

// Something recorded. A launch has any number of places; a copy two, to and from; a fill one.
typedef struct hx_cuda_entry {
  hx_cuda_kind_t kind;
  bool moved;
  uint8_t value;
  const void *node;  // of the driver's graph
  void *function;
  uint32_t blocks, threads, shared;
  hx_cuda_args_t args;
  uint64_t bytes;
  uint32_t first_place, place_count;
} hx_cuda_entry_t;

typedef struct hx_cuda_piece {
  uint32_t first_entry, entry_count;
  uint64_t scratch_bytes;
} hx_cuda_piece_t;

struct hx_graph {
  hx_device *device;
  void *graph, *executable;
  hx_cuda_entry_t *entries;
  hx_cuda_place_t *places;
  hx_cuda_piece_t *pieces;
  hx_cuda_work_t *works;     // [piece_count]
  hx_cuda_turn_t *turns;     // [piece_count], once all is recorded
  hx_cuda_range_t *ranges;   // of all pieces
  hx_cuda_place_t *origins;  // [range_count]: the spans of the ranges
  uint32_t entry_count, entry_room, place_count, place_room, piece_count, piece_room, work_room;
  uint32_t range_count, range_room, origin_room;
  uint32_t lanes;       // that the work is on
  uint64_t scratch;     // memory for scratch of each lane, 0: the calls' own
  uint64_t lane_bytes;  // of it
  uint32_t executes;
  uint32_t whole;  // number of the last execute's piece, from 1: its parts share its scratch memory
  const char *last_name;
};

// Frees the list and what the driver has of the graph; the device's context is current.
void hx_cuda_graph_free(hx_graph *graph);
// Frees the list alone, where the device is lost.
void hx_cuda_graph_forget(hx_graph *graph);

// Orders what was recorded, and makes the driver's executable graph of it.
int32_t hx_cuda_graph_build(hx_graph *graph, hx_error *error);
// Brings that up to date with the entries that are marked as moved.
int32_t hx_cuda_graph_set_launches(hx_graph *graph, hx_error *error);
int32_t hx_cuda_graph_capture_again(hx_graph *graph, hx_error *error);
// The same on one lane, in the order in which it was recorded.
int32_t hx_cuda_graph_build_in_line(hx_graph *graph, hx_error *error);

#endif
