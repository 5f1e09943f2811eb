// SPDX-License-Identifier: Apache-2.0
// Memory is a list of ranges with their last writer and, for each lane, the last reader since. Every piece of work has
// a clock: for each lane, how many pieces of it are over when the work begins. A piece is done before the work where
// the clock has reached its place in its lane.
#include "graph_order.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX
#define SCRATCH_PLACES ((uint64_t)1 << 63)  // behind all addresses
#define SCRATCH_STRIDE ((uint64_t)1 << 48)

typedef struct record {
  uint64_t first, end;
  uint32_t writer, readers[HX_CUDA_LANES_MAX];
} record_t;

typedef struct clock {
  uint32_t over[HX_CUDA_LANES_MAX];
} clock_table_t;

typedef struct order {
  const hx_cuda_range_t *ranges;
  hx_cuda_turn_t *turns;
  clock_table_t *clocks;  // of each piece, itself counted
  record_t *records;
  uint32_t record_count, record_room;
  uint32_t lanes, used;
  uint32_t length[HX_CUDA_LANES_MAX], last[HX_CUDA_LANES_MAX];
} order_t;

static void wait_for(const order_t *o, uint32_t piece, uint32_t after[HX_CUDA_LANES_MAX]) {
  if (piece == NOBODY) return;
  const uint32_t lane = o->turns[piece].lane;
  if (after[lane] == NOBODY || after[lane] < piece) {
    after[lane] = piece;
  }
}

// A range where it lies: scratch memory of each lane where no address is.
static hx_cuda_range_t place_of(const hx_cuda_range_t *range, uint32_t scratch) {
  const uint64_t start = range->is_scratch ? SCRATCH_PLACES + scratch * SCRATCH_STRIDE : 0;
  return (hx_cuda_range_t){start + range->first, start + range->end, range->is_written, range->is_scratch};
}

// The latest piece of each lane that the work has to wait for, by its ranges in scratch memory or the others.
static void find_conflicts(const order_t *o, const hx_cuda_work_t *work, bool in_scratch, uint32_t scratch,
                           uint32_t after[HX_CUDA_LANES_MAX]) {
  for (uint32_t i = 0; i < work->range_count; i++) {
    if (o->ranges[work->first_range + i].is_scratch != in_scratch) continue;
    const hx_cuda_range_t range = place_of(&o->ranges[work->first_range + i], scratch);
    for (uint32_t r = 0; r < o->record_count && range.first < range.end; r++) {
      const record_t *record = &o->records[r];
      if (record->end <= range.first || range.end <= record->first) continue;
      wait_for(o, record->writer, after);
      for (uint32_t lane = 0; range.is_written && lane < o->used; lane++) {
        wait_for(o, record->readers[lane], after);
      }
    }
  }
}

static void advance(clock_table_t *clock, const clock_table_t *other) {
  for (uint32_t lane = 0; lane < HX_CUDA_LANES_MAX; lane++) {
    clock->over[lane] = clock->over[lane] < other->over[lane] ? other->over[lane] : clock->over[lane];
  }
}

// A lane whose last piece is over, the latest of those; else a new one; else the one that was left longest ago.
static uint32_t choose_lane(const order_t *o, const clock_table_t *clock) {
  uint32_t over = NOBODY, oldest = 0;
  for (uint32_t lane = 0; lane < o->used; lane++) {
    if (clock->over[lane] >= o->length[lane] && (over == NOBODY || o->last[lane] > o->last[over])) {
      over = lane;
    }
    oldest = o->last[lane] < o->last[oldest] ? lane : oldest;
  }
  return over != NOBODY ? over : o->used < o->lanes ? o->used : oldest;
}

// Whether another piece that the work waits for has waited for this one.
static bool is_implied(const order_t *o, const uint32_t after[HX_CUDA_LANES_MAX], uint32_t lane) {
  for (uint32_t other = 0; other < o->used; other++) {
    if (other != lane && after[other] != NOBODY &&
        o->clocks[after[other]].over[lane] >= o->clocks[after[lane]].over[lane]) {
      return true;
    }
  }
  return false;
}

static void advance_all(const order_t *o, clock_table_t *clock, const uint32_t after[HX_CUDA_LANES_MAX]) {
  for (uint32_t lane = 0; lane < o->used; lane++) {
    if (after[lane] != NOBODY) {
      advance(clock, &o->clocks[after[lane]]);
    }
  }
}

static void set_turn(order_t *o, uint32_t piece, const hx_cuda_work_t *work, uint32_t after[HX_CUDA_LANES_MAX]) {
  hx_cuda_turn_t *turn = &o->turns[piece];
  clock_table_t *clock = &o->clocks[piece];
  *clock = (clock_table_t){{0}};
  if (work->shares > 0) {  // where its scratch memory is does not depend on its lane
    find_conflicts(o, work, true, o->turns[work->shares - 1].scratch, after);
  }
  advance_all(o, clock, after);
  *turn = (hx_cuda_turn_t){.lane = choose_lane(o, clock)};
  turn->scratch = work->shares > 0 ? o->turns[work->shares - 1].scratch : turn->lane;
  find_conflicts(o, work, true, turn->scratch, after);
  if (turn->lane == o->used) {
    o->used++;
  } else {
    after[turn->lane] = o->last[turn->lane];
  }
  advance_all(o, clock, after);
  for (uint32_t i = 0; i < o->used; i++) {
    const uint32_t lane = i == 0 ? turn->lane : i <= turn->lane ? i - 1 : i;
    if (after[lane] != NOBODY && !is_implied(o, after, lane)) {
      turn->after[turn->after_count++] = after[lane];
    }
  }
  o->last[turn->lane] = piece;
  clock->over[turn->lane] = ++o->length[turn->lane];
}

static record_t *add_record(order_t *o, const hx_cuda_range_t *range) {
  if (o->record_count == o->record_room) {
    const uint32_t room = o->record_room == 0 ? 64 : 2 * o->record_room;
    record_t *more = realloc(o->records, room * sizeof *more);
    if (more == NULL) {
      return NULL;
    }
    o->records = more;
    o->record_room = room;
  }
  record_t *record = &o->records[o->record_count++];
  *record = (record_t){.first = range->first, .end = range->end, .writer = NOBODY};
  for (uint32_t lane = 0; lane < HX_CUDA_LANES_MAX; lane++) {
    record->readers[lane] = NOBODY;
  }
  return record;
}

static bool note_read(order_t *o, uint32_t piece, const hx_cuda_range_t *range) {
  record_t *record = NULL;
  for (uint32_t r = 0; r < o->record_count && record == NULL; r++) {
    if (o->records[r].first == range->first && o->records[r].end == range->end) {
      record = &o->records[r];
    }
  }
  record = record != NULL ? record : add_record(o, range);
  if (record != NULL) {
    record->readers[o->turns[piece].lane] = piece;
  }
  return record != NULL;
}

// What lies within the range is forgotten: whoever meets it from now on meets this writer, who has waited for the rest.
static bool note_write(order_t *o, uint32_t piece, const hx_cuda_range_t *range) {
  for (uint32_t r = 0; r < o->record_count;) {
    if (o->records[r].first >= range->first && o->records[r].end <= range->end) {
      o->records[r] = o->records[--o->record_count];
    } else {
      r++;
    }
  }
  record_t *record = add_record(o, range);
  if (record != NULL) {
    record->writer = piece;
  }
  return record != NULL;
}

static bool place(order_t *o, uint32_t piece, const hx_cuda_work_t *work) {
  uint32_t after[HX_CUDA_LANES_MAX];
  for (uint32_t lane = 0; lane < HX_CUDA_LANES_MAX; lane++) {
    after[lane] = NOBODY;
  }
  find_conflicts(o, work, false, 0, after);
  set_turn(o, piece, work, after);
  for (uint32_t written = 0; written < 2; written++) {
    for (uint32_t i = 0; i < work->range_count; i++) {
      const hx_cuda_range_t range = place_of(&o->ranges[work->first_range + i], o->turns[piece].scratch);
      if (range.is_written == (written == 1) && range.first < range.end &&
          !(written == 1 ? note_write(o, piece, &range) : note_read(o, piece, &range))) {
        return false;
      }
    }
  }
  return true;
}

uint32_t hx_cuda_order(const hx_cuda_work_t *works, uint32_t count, const hx_cuda_range_t *ranges, uint32_t lanes,
                       hx_cuda_turn_t *out) {
  if (lanes <= 1 || count > HX_CUDA_ORDER_MAX) {
    for (uint32_t i = 0; i < count; i++) {
      out[i] = (hx_cuda_turn_t){.after_count = i > 0 ? 1 : 0, .after = {i > 0 ? i - 1 : 0}};
    }
    return 1;
  }
  order_t o = {.ranges = ranges, .turns = out, .lanes = lanes < HX_CUDA_LANES_MAX ? lanes : HX_CUDA_LANES_MAX};
  o.clocks = malloc((count > 0 ? count : 1) * sizeof *o.clocks);
  bool complete = o.clocks != NULL;
  for (uint32_t i = 0; i < count && complete; i++) {
    complete = place(&o, i, &works[i]);
  }
  free(o.records);
  free(o.clocks);
  return !complete ? 0 : o.used > 0 ? o.used : 1;
}
