// SPDX-License-Identifier: Apache-2.0
// Running: where rows lie, and the one loop that all operations share.
#ifndef HX_CPU_RUN_H
#define HX_CPU_RUN_H

#include "device.h"
#include "prepare.h"
#include "tables.h"

struct hx_cpu_run {
  const hxs_prepared *prepared;
  const hx_cpu_kernels_t *kernels;
  const hx_cpu_prime_t *primes;  // by id
  const hx_call *call;
  char *scratch;        // scratch_bytes of the prepared object
  uint64_t first_item;  // where an operation works through the batch in parts
  uint64_t item_count;
};

// Calls body(run, i) for i below count, by the plugin's share of threads where the work is worth it (count * cost
// element steps), each thread a consecutive part. The host's cancel flag is read before every call of long work;
// HX_CANCELLED: some were left out.
int32_t hx_cpu_for(const hx_cpu_run_t *run, uint64_t count, uint64_t cost,
                   void (*body)(const hx_cpu_run_t *, uint64_t));

// Threads that go through the steps of one operation together, each with its share of every step.
typedef struct hx_cpu_team hx_cpu_team_t;

// Where threads of a team meet, by what every one of them has done.
typedef enum hx_cpu_gate {
  HX_CPU_GATE_FIRST,
  HX_CPU_GATE_SECOND,
  HX_CPU_GATE_THIRD,
  HX_CPU_GATE_LAST,
  HX_CPU_GATES
} hx_cpu_gate_t;

// Calls body(run, team, thread) once on each thread of a team: of the plugin's share of them, at most `most`, and one
// alone where `work` element steps are not worth more. HX_CANCELLED as hx_cpu_for.
int32_t hx_cpu_together(const hx_cpu_run_t *run, uint64_t most, uint64_t work,
                        void (*body)(const hx_cpu_run_t *, hx_cpu_team_t *, uint32_t));
uint32_t hx_cpu_team_threads(const hx_cpu_team_t *team);
// Whether to go on: reads the host's cancel flag. Where not, a thread leaves its work out and still goes through the
// gates.
bool hx_cpu_team_goes_on(hx_cpu_team_t *team);
// A thread's part of a loop, consecutive calls of body.
void hx_cpu_team_share(const hx_cpu_run_t *run, hx_cpu_team_t *team, uint32_t thread, uint64_t count,
                       void (*body)(const hx_cpu_run_t *, uint64_t));
// Says that this thread has done what the gate stands for; and waits until all have, in round `round` (from 0; every
// thread goes through every gate once a round).
void hx_cpu_team_arrive(hx_cpu_team_t *team, hx_cpu_gate_t gate);
void hx_cpu_team_wait(hx_cpu_team_t *team, hx_cpu_gate_t gate, uint64_t round);

// Address of element 0 of a row. limb is the view's own.
const void *hx_cpu_operand_row(const hx_cpu_run_t *run, const hxs_view *view, uint64_t item, uint32_t component,
                               uint32_t limb);
void *hx_cpu_result_row(const hx_cpu_run_t *run, const hxs_view *view, uint64_t item, uint32_t component,
                        uint32_t limb);
// Row number `row` of the scratch memory.
void *hx_cpu_scratch_row(const hx_cpu_run_t *run, uint64_t row);

// Index of a loop over items, components and limbs, limbs innermost.
typedef struct hx_cpu_place {
  uint64_t item;
  uint32_t component, limb;
} hx_cpu_place_t;

static inline hx_cpu_place_t hx_cpu_place_of(uint64_t index, uint32_t components, uint32_t limbs) {
  hx_cpu_place_t place = {index / limbs / components, (uint32_t)(index / limbs % components),
                          (uint32_t)(index % limbs)};
  return place;
}

static inline const hx_cpu_prime_t *hx_cpu_prime_of(const hx_cpu_run_t *run, uint32_t id) { return &run->primes[id]; }

static inline size_t hx_cpu_row_bytes(const hxs_prepared *prepared) { return hxs_ring_row_bytes(prepared->ring); }

// Bytes from one row of scratch memory to the next. Rows a power of two apart have the same place of all of them in the
// same few sets of a cache, so long ones are set apart by two pages and an odd number of lines.
static inline size_t hx_cpu_scratch_stride(const hxs_prepared *prepared) {
  const size_t bytes = hx_cpu_row_bytes(prepared), apart = (size_t)2 * 4096 + 5 * 64;
  return bytes < ((size_t)1 << 16) ? bytes : bytes + apart;
}

#endif
