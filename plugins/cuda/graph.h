// SPDX-License-Identifier: Apache-2.0
// The graph role: what a queue is given between capture_begin and capture_end is put on a list, with the span behind
// every address and the memory that each call touches. At the end a CUDA graph is made of it, in which calls wait for
// those alone whose memory they share: the others run at once, each branch with scratch memory of its own. A launch
// whose spans move gets new arguments at its node; where a copy or a fill moves, the list is captured again and the
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
  uint32_t field;   // of a launch's arguments, among their 64-bit words
  bool is_scratch;  // of the call's scratch memory
} hx_cuda_place_t;

// ---- for the queue while it records: nothing goes to the driver. HX_OUT_OF_MEMORY.

// An execute begins, whose spans have been checked.
int32_t hx_cuda_graph_note_execute(hx_queue *queue, const hx_prepared *prepared, const hx_call *call, hx_error *error);
// Part `part` of that execute begins.
int32_t hx_cuda_graph_note_part(hx_queue *queue, const hx_prepared *prepared, const hx_call *call, uint32_t part,
                                hx_error *error);
// A launch of it. places: the arguments' fields that hold addresses of spans.
int32_t hx_cuda_graph_note_launch(hx_queue *queue, const hx_cuda_launch_t *launch, void *function,
                                  const hx_cuda_args_t *args, const hx_cuda_place_t *places, uint32_t place_count,
                                  hx_error *error);
int32_t hx_cuda_graph_note_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error);
int32_t hx_cuda_graph_note_fill(hx_queue *queue, hx_span to, uint8_t value, uint64_t bytes, hx_error *error);
// Gives up what the queue records, if anything.
void hx_cuda_graph_abandon(hx_queue *queue);

// Where a place lies after an update: true where it moves. Exact ranges; the first that fits.
bool hx_cuda_place_move(hx_cuda_place_t *place, uint32_t count, const hx_span *from, const hx_span *to,
                        const uint64_t *bytes);

#endif
