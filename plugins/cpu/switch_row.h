// SPDX-License-Identifier: Apache-2.0
// One row of the extended basis of an operation with a switching key: where its parts lie, and what is done to them.
// For switch*.c alone.
//
// Work rows of a lane: raised digits, `group` of them, or all of each row of a batch; two rows of sums, where the
// digits come in several groups; for each row of a batch a row of values for each component of as many results as go
// together; one of what is added for each component; then, for sums of several terms, the terms' rows under their
// automorphisms.
//
// A row goes through its last steps block by block (raise.h): a block of each raised digit is transformed to its end,
// while the key's words for it are asked for; then tiles of it meet both halves of keys, and what the dropped rows
// stand for is transformed and taken off, all from nearby caches.
#ifndef HX_CPU_SWITCH_ROW_H
#define HX_CPU_SWITCH_ROW_H

#include "switch.h"

// Coefficients that all halves of keys meet before the next ones: with its operands a tile stays in L1. A block has a
// whole number of them.
#define HX_CPU_SWITCH_TILE 1024u
// Coefficients of inputs that all rows of a batch are converted from before the next ones: they stay in L2.
#define HX_CPU_SWITCH_PART 4096u

// A thread on its way through an operation. A kept row's digits are raised without a look at the dropped rows, and so
// before all of these are there: threads that have one of them less begin a kept row more.
typedef struct hx_cpu_switch_lane {
  hx_cpu_run_t run;  // its own item
  hx_cpu_team_t *team;
  uint32_t thread;
  bool settled;  // the dropped rows are there
} hx_cpu_switch_lane_t;

typedef struct hx_cpu_switch_row {
  const hx_cpu_run_t *run;
  const hx_cpu_switch_t *s;
  const hx_cpu_prime_t *prime;
  hx_cpu_switch_lane_t *lane;
  uint32_t slot;                       // in its batch
  uint32_t row;                        // of the extended basis
  uint32_t first, count;               // digits that are raised now
  size_t ready;                        // coefficients that are transformed to their end
  const void *raised[HXS_PRIMES_MAX];  // [count]
} hx_cpu_switch_row_t;

// ---- where rows lie

static inline const hx_cpu_switch_t *hx_cpu_switch_of(const hx_cpu_run_t *run) { return run->prepared->plan; }

static inline void *hx_cpu_switch_digit(const hx_cpu_run_t *run, uint32_t source, uint32_t limb) {
  return hx_cpu_scratch_row(run, source * hx_cpu_switch_of(run)->active + limb);
}

static inline uint32_t hx_cpu_switch_dropped(const hx_cpu_switch_t *s) { return s->extended - s->kept; }

// Place `at` of a component's dropped rows: P's in order, then the last of Q, the one before it, ...
static inline void *hx_cpu_switch_low(const hx_cpu_run_t *run, uint32_t result, uint32_t c, uint32_t at) {
  const hx_cpu_switch_t *s = hx_cpu_switch_of(run);
  return hx_cpu_scratch_row(run, s->source_count * s->active + (2 * result + c) * hx_cpu_switch_dropped(s) + at);
}

static inline void *hx_cpu_switch_work(const hx_cpu_switch_row_t *task, uint32_t row) {
  const hx_cpu_switch_t *s = task->s;
  const uint64_t before =
      (uint64_t)s->source_count * s->active + 2 * (uint64_t)s->result_count * hx_cpu_switch_dropped(s);
  return hx_cpu_scratch_row(task->run, before + (uint64_t)task->lane->thread * s->lane_rows + row);
}

static inline void *hx_cpu_switch_sum(const hx_cpu_switch_row_t *task, uint32_t c) {
  return hx_cpu_switch_work(task, task->s->raised_rows + c);
}
static inline void *hx_cpu_switch_value(const hx_cpu_switch_row_t *task, uint32_t result, uint32_t c) {
  const uint32_t pair = task->slot * task->s->together + result % task->s->together;
  return hx_cpu_switch_work(task, task->s->raised_rows + 2 + 2 * pair + c);
}
static inline void *hx_cpu_switch_spare(const hx_cpu_switch_row_t *task, uint32_t c) {
  return hx_cpu_switch_work(task, task->s->raised_rows + 2 + 2 * task->s->batch * task->s->together + c);
}
static inline void *hx_cpu_switch_turned(const hx_cpu_switch_row_t *task, uint32_t t, uint32_t c) {
  return hx_cpu_switch_work(task, task->s->raised_rows + 4 + 2 * task->s->batch * task->s->together + 2 * t + c);
}

static inline const void *hx_cpu_switch_operand(const hx_cpu_run_t *run, uint32_t operand, uint32_t c, uint32_t limb) {
  return hx_cpu_operand_row(run, &run->prepared->operands[operand], run->first_item, c, limb);
}

static inline size_t hx_cpu_switch_bytes(const hx_cpu_run_t *run, size_t coefficients) {
  return coefficients * (run->prepared->ring->word / 8);
}

static inline size_t hx_cpu_switch_tile(const hxs_prepared *p) {
  return p->n < HX_CPU_SWITCH_TILE ? p->n : HX_CPU_SWITCH_TILE;
}

// Parts that a row is begun in where a batch shares its inputs.
static inline uint32_t hx_cpu_switch_parts(const hxs_prepared *p) {
  return p->n < HX_CPU_SWITCH_PART ? 1 : (uint32_t)(p->n / HX_CPU_SWITCH_PART);
}

static inline bool hx_cpu_switch_has_key(const hx_cpu_switch_t *s) {
  bool has = false;
  for (uint32_t t = 0; t < s->term_count; t++) {
    has |= s->terms[t].key != HX_NONE;
  }
  return has;
}

// ---- raising (switch_raise.c)

// The y of one active row of one source; index of a loop over both.
void hx_cpu_switch_decompose(const hx_cpu_run_t *run, uint64_t index);
// The digits of a batch's rows, begun.
void hx_cpu_switch_begin_digits(const hx_cpu_switch_row_t *tasks, uint32_t count);
// Begins all digits of a term's source on the task's row. Of several groups all but the last are multiplied at once,
// into the rows of sums; hx_cpu_switch_key_tile does the last.
void hx_cpu_switch_raise(hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term);
// Before the tile at `at`, where a block begins: transforms the block of the raised digits to its end, once for all
// terms. Tiles are gone through in order.
void hx_cpu_switch_ready(hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, size_t at);
// A tile of half c of the sum over all digits.
void hx_cpu_switch_key_tile(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t c, size_t at,
                            void *out);
// Words of the key that a block's products begin with, for half `c` of what is transformed besides digits.
hx_cpu_ahead_t hx_cpu_switch_ahead(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t c,
                                   size_t at);

// ---- what is added, and automorphisms (switch_raise.c)

static inline bool hx_cpu_switch_has_rest(const hx_cpu_switch_t *s, uint32_t c) { return c < s->component; }
// What is added to component c of a result: a row in ntt domain, with factors NULL (hx_cpu_switch_rest_tile makes it).
const void *hx_cpu_switch_rest(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t c);
// A tile of it: `row` is what the function above gave, `room` a tile.
const void *hx_cpu_switch_rest_tile(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t c,
                                    const void *row, size_t at, void *room);
// out = value out of ntt domain, under the term's automorphism; without one in place.
void hx_cpu_switch_leave(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, void *out, void *value);

// ---- sums of terms over Q and P (switch_sums.c)

// All terms of the task's row: each in its rows (weighted), or their sum in those of term 0.
void hx_cpu_switch_terms(hx_cpu_switch_row_t *task);
// A tile of component c of result g, in `room` or where it lies.
const void *hx_cpu_switch_total_tile(const hx_cpu_switch_row_t *task, uint32_t g, uint32_t c, size_t at, void *room);

// ---- the two kinds of rows

void hx_cpu_switch_dropped_rows(hx_cpu_switch_row_t *tasks, uint32_t count);
// A tile of Q's dropped rows, each from P's digits and those before it; index of a loop over components and tiles.
void hx_cpu_switch_chain(const hx_cpu_run_t *run, uint64_t index);
// The kept rows of a batch, whose digits are begun: result after result, so that a result's dropped rows come from
// beyond L2 once for all rows.
void hx_cpu_switch_kept_rows(hx_cpu_switch_row_t *tasks, uint32_t count);
// Waits, once an item, until the dropped rows are there, having done this thread's part of what follows on them.
void hx_cpu_switch_settle(hx_cpu_switch_lane_t *lane);

#endif
