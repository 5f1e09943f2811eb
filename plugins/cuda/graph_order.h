// SPDX-License-Identifier: Apache-2.0
// What of a recorded run must wait for what: from the memory that each piece of work reads and writes. Work that needs
// nothing of other work is put on another lane; work of one lane is done in order, and each lane has scratch memory of
// its own. Bookkeeping alone: no device.
#ifndef HX_CUDA_GRAPH_ORDER_H
#define HX_CUDA_GRAPH_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define HX_CUDA_LANES_MAX 16u
#define HX_CUDA_ORDER_MAX 8192u  // pieces of work; what is longer is one lane

// Bytes [first, end) of device or page-locked memory.
typedef struct hx_cuda_range {
  uint64_t first, end;
  bool is_written;
  bool is_scratch;  // of the scratch memory that the piece is given: first and end count from its start
} hx_cuda_range_t;

// Ranges of one piece of work, among all.
typedef struct hx_cuda_work {
  uint32_t first_range, range_count;
  uint32_t shares;  // number, from 1, of the earlier piece whose scratch memory it uses; 0: its lane's
} hx_cuda_work_t;

// Its lane, and the work that it waits for itself: the last piece of its lane first where that is among them. What
// follows from these is left out.
typedef struct hx_cuda_turn {
  uint32_t lane, after_count;
  uint32_t scratch;  // the lane whose scratch memory it uses
  uint32_t after[HX_CUDA_LANES_MAX];
} hx_cuda_turn_t;

// The order of `count` pieces of work on at most `lanes` lanes; with one lane, or more work than HX_CUDA_ORDER_MAX,
// each waits for the one before it. Two pieces of which one writes what the other reads or writes keep their order.
// Returns the lanes that are used, 0: no memory.
uint32_t hx_cuda_order(const hx_cuda_work_t *works, uint32_t count, const hx_cuda_range_t *ranges, uint32_t lanes,
                       hx_cuda_turn_t *out);

#endif
