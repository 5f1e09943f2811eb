// SPDX-License-Identifier: Apache-2.0
// schedule - puts the operations of each block into an order in which fewer bytes live at once: of those that could be
// next, the one that leaves the least behind. The new order is taken only where its peak is lower.
// In: a verified program; types that are complete count with their bytes, others with none. Keeps: results bit for bit,
// every operand before its use, the order of operations with an effect and of structured ones; terminators stay last.
// Legal because pure operations depend on their operands alone. Views share the memory of what they look at.
#include <string.h>

#include "core/passes/memory.h"
#include "core/passes/passes.h"

#define BLOCK_MAX 16384  // operations of a block: choosing takes time proportional to those that are ready
#define READY_MAX 512    // of them are looked at, in the order of the program

// A value of the block: bytes until its last reader is over.
typedef struct hx_held {
  uint64_t bytes;
  uint32_t readers;  // operations of the block still to come
  bool is_kept;      // lives beyond the block, or came from outside
} hx_held_t;

typedef struct hx_scheduler {
  const hx_ring *ring;
  hx_ir_op_t **ops;
  size_t count;
  uint32_t *waits;  // by operation: operands of the block, and the operation with an effect before it, not yet there
  hx_held_t *held;  // by value id
  uint32_t *roots;  // by value id: the value whose memory it is
  size_t value_count;
  hx_ir_op_t **order;  // what has been chosen
} hx_scheduler_t;

static bool is_fixed(const hx_ir_op_t *op) {
  return op->info->effect != HX_EFFECT_PURE || op->region_count > 0 || op->info->id == HX_OP_CALL ||
         (op->info->flags & HX_OP_FLAG_TERMINATOR) != 0;
}

// Distinct values of the block that an operation reads, those inside its regions included.
typedef struct hx_reading {
  hx_scheduler_t *scheduler;
  void (*note)(hx_scheduler_t *scheduler, uint32_t root, void *argument);
  void *argument;
} hx_reading_t;

static hx_status_t read_op(hx_ir_op_t *op, void *argument) {
  const hx_reading_t *reading = argument;
  for (size_t i = 0; i < op->operand_count; ++i) {
    bool is_new = true;
    for (size_t k = 0; k < i && is_new; ++k) is_new = op->operands[k] != op->operands[i];
    if (is_new) reading->note(reading->scheduler, reading->scheduler->roots[op->operands[i]->id], reading->argument);
  }
  return HX_STATUS_OK;
}

static void add_reader(hx_scheduler_t *scheduler, uint32_t root, void *argument) {
  (void)argument;
  ++scheduler->held[root].readers;
}

static void end_reader(hx_scheduler_t *scheduler, uint32_t root, void *argument) {
  uint64_t *live = argument;
  hx_held_t *held = &scheduler->held[root];
  if (--held->readers == 0 && !held->is_kept) *live -= held->bytes;
}

static void count_end(hx_scheduler_t *scheduler, uint32_t root, void *argument) {
  uint64_t *freed = argument;
  if (scheduler->held[root].readers == 1 && !scheduler->held[root].is_kept) *freed += scheduler->held[root].bytes;
}

static void read(hx_scheduler_t *scheduler, hx_ir_op_t *op,
                 void (*note)(hx_scheduler_t *scheduler, uint32_t root, void *argument), void *argument) {
  hx_reading_t reading = {.scheduler = scheduler, .note = note, .argument = argument};
  (void)hx_ir_walk(op, read_op, &reading);
}

static uint64_t result_bytes(const hx_scheduler_t *scheduler, const hx_ir_op_t *op) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < op->result_count; ++i) {
    const uint32_t id = op->results[i]->id;
    if (scheduler->roots[id] == id) bytes += scheduler->held[id].bytes;
  }
  return bytes;
}

static void reset(hx_scheduler_t *scheduler) {
  for (size_t i = 0; i < scheduler->value_count; ++i) scheduler->held[i].readers = 0;
  for (size_t i = 0; i < scheduler->count; ++i) read(scheduler, scheduler->ops[i], add_reader, NULL);
}

// Greatest sum of bytes that live at once, in an order.
static uint64_t peak_of(hx_scheduler_t *scheduler, hx_ir_op_t *const *order) {
  uint64_t live = 0, peak = 0;
  reset(scheduler);
  for (size_t i = 0; i < scheduler->count; ++i) {
    live += result_bytes(scheduler, order[i]);
    if (live > peak) peak = live;
    read(scheduler, order[i], end_reader, &live);
    for (size_t r = 0; r < order[i]->result_count; ++r) {
      const hx_held_t *held = &scheduler->held[order[i]->results[r]->id];
      if (held->readers == 0 && !held->is_kept &&
          scheduler->roots[order[i]->results[r]->id] == order[i]->results[r]->id)
        live -= held->bytes;  // nobody reads it
    }
  }
  return peak;
}

// ------------------------------------------------------------------ choosing

static int64_t growth_of(hx_scheduler_t *scheduler, hx_ir_op_t *op) {
  uint64_t freed = 0;
  read(scheduler, op, count_end, &freed);
  return (int64_t)(result_bytes(scheduler, op) - freed);
}

// Users of each operation of the block, as lists in one array.
typedef struct hx_users {
  uint32_t *first;  // [count + 1]
  uint32_t *users;
} hx_users_t;

typedef struct hx_edges {
  const hx_scheduler_t *scheduler;
  const hx_ir_block_t *block;
  const uint32_t *place;  // by operation id of this block
  uint32_t to;
  uint32_t *counts;  // per source: edges from it; filled or used as cursors
  uint32_t *users;   // NULL while counting
  uint32_t *waits;
} hx_edges_t;

static hx_status_t add_edges(hx_ir_op_t *op, void *argument) {
  hx_edges_t *edges = argument;
  for (size_t i = 0; i < op->operand_count; ++i) {
    const hx_ir_op_t *source = op->operands[i]->op;
    if (source == NULL || source->block != edges->block) continue;
    const uint32_t from = edges->place[source->id];
    if (from == edges->to) continue;  // cannot be: an operation does not read its own results
    if (edges->users == NULL) {
      ++edges->counts[from];
    } else {
      edges->users[edges->counts[from]++] = edges->to;
      ++edges->waits[edges->to];
    }
  }
  return HX_STATUS_OK;
}

// Fixed operations wait for one another.
static void add_fixed(hx_edges_t *edges, uint32_t from) {
  if (edges->users == NULL) {
    ++edges->counts[from];
  } else {
    edges->users[edges->counts[from]++] = edges->to;
    ++edges->waits[edges->to];
  }
}

static void visit_edges(hx_scheduler_t *scheduler, hx_edges_t *edges) {
  uint32_t last_fixed = HX_NONE;
  for (size_t i = 0; i < scheduler->count; ++i) {
    edges->to = (uint32_t)i;
    (void)hx_ir_walk(scheduler->ops[i], add_edges, edges);
    if (!is_fixed(scheduler->ops[i])) continue;
    if (last_fixed != HX_NONE) add_fixed(edges, last_fixed);
    last_fixed = (uint32_t)i;
  }
}

static hx_status_t make_users(hx_scheduler_t *scheduler, const hx_ir_block_t *block, const uint32_t *place,
                              hx_users_t *out) {
  const size_t count = scheduler->count;
  out->first = hx_zalloc(count + 2, sizeof *out->first);
  uint32_t *cursors = hx_zalloc(count + 1, sizeof *cursors);
  if (out->first == NULL || cursors == NULL) {
    hx_free(cursors);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  hx_edges_t edges = {.scheduler = scheduler, .block = block, .place = place, .counts = cursors};
  visit_edges(scheduler, &edges);
  for (size_t i = 0; i < count; ++i) {
    out->first[i + 1] = out->first[i] + cursors[i];
    cursors[i] = out->first[i];
  }
  out->users = hx_zalloc(out->first[count] + 1, sizeof *out->users);
  if (out->users != NULL) {
    edges.users = out->users;
    edges.waits = scheduler->waits;
    visit_edges(scheduler, &edges);
  }
  hx_free(cursors);
  return out->users == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

// The terminator is fixed and reads last: it is never ready before the rest where it waits for all fixed ones, so it is
// left out until everything else has gone.
static hx_status_t choose_order(hx_scheduler_t *scheduler, const hx_users_t *users) {
  uint32_t *ready = hx_zalloc(scheduler->count + 1, sizeof *ready);
  if (ready == NULL) return HX_STATUS_OUT_OF_MEMORY;
  size_t ready_count = 0, done = 0;
  reset(scheduler);
  for (uint32_t i = 0; i < scheduler->count; ++i) {
    if (scheduler->waits[i] == 0) ready[ready_count++] = i;
  }
  while (ready_count > 0) {
    size_t best = 0;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < ready_count && i < READY_MAX; ++i) {
      hx_ir_op_t *op = scheduler->ops[ready[i]];
      const bool is_last = (op->info->flags & HX_OP_FLAG_TERMINATOR) != 0;
      const int64_t growth = is_last ? INT64_MAX : growth_of(scheduler, op);
      if (growth >= least && i > 0) continue;
      least = growth;
      best = i;
    }
    const uint32_t chosen = ready[best];
    uint64_t ignored = UINT64_MAX;
    scheduler->order[done++] = scheduler->ops[chosen];
    read(scheduler, scheduler->ops[chosen], end_reader, &ignored);
    memmove(ready + best, ready + best + 1, (ready_count - best - 1) * sizeof *ready);
    --ready_count;
    for (uint32_t u = users->first[chosen]; u < users->first[chosen + 1]; ++u) {
      if (--scheduler->waits[users->users[u]] > 0) continue;
      // Kept in the order of the program, which decides between equals.
      size_t at = ready_count++;
      while (at > 0 && ready[at - 1] > users->users[u]) {
        ready[at] = ready[at - 1];
        --at;
      }
      ready[at] = users->users[u];
    }
  }
  hx_free(ready);
  return done == scheduler->count ? HX_STATUS_OK : HX_STATUS_INTERNAL;
}

// ------------------------------------------------------------------ blocks

static void describe_values(hx_scheduler_t *scheduler, const hx_ir_block_t *block) {
  for (size_t i = 0; i < scheduler->value_count; ++i) {
    scheduler->held[i] = (hx_held_t){.is_kept = true};
    scheduler->roots[i] = (uint32_t)i;
  }
  for (hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    const bool is_reference = op->info->tier == HX_TIER_HOST && op->operand_count == 0;
    for (size_t r = 0; r < op->result_count; ++r) {
      const uint32_t id = op->results[r]->id;
      scheduler->held[id] =
          (hx_held_t){.bytes = is_reference ? 0 : hx_type_bytes(op->results[r]->type, scheduler->ring)};
      if ((op->info->flags & HX_OP_FLAG_VIEW) != 0 && op->operand_count == 1)
        scheduler->roots[id] = scheduler->roots[op->operands[0]->id];
    }
  }
  // What the terminator reads lives on.
  for (size_t i = 0; block->last != NULL && i < block->last->operand_count; ++i)
    scheduler->held[scheduler->roots[block->last->operands[i]->id]].is_kept = true;
}

static void apply(const hx_scheduler_t *scheduler, hx_ir_block_t *block) {
  for (size_t i = 0; i < scheduler->count; ++i) hx_ir_remove(scheduler->order[i]);
  for (size_t i = 0; i < scheduler->count; ++i) hx_ir_insert(block, NULL, scheduler->order[i]);
}

static hx_status_t schedule_block(hx_scheduler_t *scheduler, const hx_pass_env_t *env, hx_ir_block_t *block,
                                  uint32_t *place, bool *changed) {
  scheduler->count = 0;
  for (hx_ir_op_t *op = block->first; op != NULL; op = op->next) ++scheduler->count;
  if (scheduler->count < 3 || scheduler->count > BLOCK_MAX) return HX_STATUS_OK;
  hx_users_t users = {0};
  scheduler->ops = hx_zalloc(scheduler->count, sizeof(hx_ir_op_t *));
  scheduler->order = hx_zalloc(scheduler->count, sizeof(hx_ir_op_t *));
  scheduler->waits = hx_zalloc(scheduler->count, sizeof *scheduler->waits);
  hx_status_t status = HX_STATUS_OK;
  if (scheduler->ops == NULL || scheduler->order == NULL || scheduler->waits == NULL) status = HX_STATUS_OUT_OF_MEMORY;
  if (status == HX_STATUS_OK) {
    uint32_t next = 0;
    for (hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
      place[op->id] = next;
      scheduler->ops[next++] = op;
    }
    describe_values(scheduler, block);
    status = make_users(scheduler, block, place, &users);
  }
  if (status == HX_STATUS_OK) status = choose_order(scheduler, &users);
  if (status == HX_STATUS_OK) {
    const uint64_t before = peak_of(scheduler, scheduler->ops), after = peak_of(scheduler, scheduler->order);
    if (after < before) {
      hx_decide(env, block->region->op, "another order", "the program's order, another order",
                "the values of the block take %llu bytes at their peak instead of %llu", (unsigned long long)after,
                (unsigned long long)before);
      apply(scheduler, block);
      *changed = true;
    }
  }
  hx_free(scheduler->ops);
  hx_free(scheduler->order);
  hx_free(scheduler->waits);
  hx_free(users.first);
  hx_free(users.users);
  return status;
}

static hx_status_t schedule_below(hx_scheduler_t *scheduler, const hx_pass_env_t *env, hx_ir_block_t *block,
                                  uint32_t *place, bool *changed) {
  for (hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    for (size_t i = 0; i < op->region_count; ++i)
      HX_TRY(schedule_below(scheduler, env, op->regions[i]->block, place, changed));
  }
  const hx_op_id_t owner = block->region->op->info->id;
  return owner == HX_OP_MODULE ? HX_STATUS_OK : schedule_block(scheduler, env, block, place, changed);
}

hx_status_t hx_pass_schedule(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_scheduler_t scheduler = {.ring = env->ring, .value_count = hx_ir_number(program->module)};
  uint32_t *place = hx_zalloc(hx_ir_number_ops(program->module) + 1, sizeof *place);
  scheduler.held = hx_zalloc(scheduler.value_count + 1, sizeof *scheduler.held);
  scheduler.roots = hx_zalloc(scheduler.value_count + 1, sizeof *scheduler.roots);
  *out_changed = false;
  hx_status_t status =
      place == NULL || scheduler.held == NULL || scheduler.roots == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  if (status == HX_STATUS_OK)
    status = schedule_below(&scheduler, env, program->module->regions[0]->block, place, out_changed);
  hx_free(place);
  hx_free(scheduler.held);
  hx_free(scheduler.roots);
  return status;
}
