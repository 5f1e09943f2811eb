// SPDX-License-Identifier: Apache-2.0
// The graph role: what a queue is given between capture_begin and capture_end becomes a CUDA graph, launched as one.
// Beside the driver's graph stands a list of what was recorded, with the span behind every address: a launch whose
// spans move gets new arguments at its node; where a copy or a fill moves, the list is captured again and the
// executable graph is brought up to date with it.
#ifndef HX_CUDA_GRAPH_H
#define HX_CUDA_GRAPH_H

#include "device.h"
#include "kernels/args.h"

extern const hx_graph_ops hx_cuda_graph_ops;

// An address that something recorded holds: the span that it came from (with its offset) and what lies there.
typedef struct hx_cuda_place {
  const hx_buffer *buffer;  // told from others, never followed: it may be gone
  uint64_t offset, address;
  uint32_t field;  // of a launch's arguments, among their 64-bit words
} hx_cuda_place_t;

// ---- for the queue; its context is current. HX_OUT_OF_MEMORY, or the driver's failure.

// A launch that the driver has just recorded. places: the arguments' fields that hold addresses of spans.
int32_t hx_cuda_graph_note_launch(hx_queue *queue, const hx_cuda_launch_t *launch, void *function,
                                  const hx_cuda_args_t *args, const hx_cuda_place_t *places, uint32_t place_count,
                                  hx_error *error);
int32_t hx_cuda_graph_note_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error);
int32_t hx_cuda_graph_note_fill(hx_queue *queue, hx_span to, uint8_t value, uint64_t bytes, hx_error *error);
// An execute begins.
void hx_cuda_graph_note_execute(hx_queue *queue, const char *name);
// Gives up what the queue records, if anything.
void hx_cuda_graph_abandon(hx_queue *queue);

// Where a place lies after an update: true where it moves. Exact ranges; the first that fits.
bool hx_cuda_place_move(hx_cuda_place_t *place, uint32_t count, const hx_span *from, const hx_span *to,
                        const uint64_t *bytes);

#endif
