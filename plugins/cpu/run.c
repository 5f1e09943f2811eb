// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "heliox/support/host.h"

// Element steps below which neither threads nor a look at the cancel flag pay.
#define LONG_WORK ((uint64_t)1 << 16)

// The process that first used worker threads. A forked child has none of them, and waiting for them would hang.
static atomic_llong team_process;

static bool owns_team(void) {
  long long none = 0, process = getpid();
  return atomic_compare_exchange_strong(&team_process, &none, process) || none == process;
}

static uint32_t team_size(uint64_t count, uint64_t work) {
  if (count < 2 || work < LONG_WORK) {
    return 1;
  }
  uint32_t threads = hxs_host_threads();
  if (threads > 1 && !owns_team()) {
    threads = 1;
  }
  return count < threads ? (uint32_t)count : threads;
}

int32_t hx_cpu_for(const hx_cpu_run_t *run, uint64_t count, uint64_t cost,
                   void (*body)(const hx_cpu_run_t *, uint64_t)) {
  const uint64_t work = count * cost;
  const bool polls = work >= LONG_WORK;
  const uint32_t threads = team_size(count, work);
  atomic_int stop = 0;
  (void)threads;  // where OpenMP is not there
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
  for (uint64_t i = 0; i < count; i++) {
    if (polls && atomic_load_explicit(&stop, memory_order_relaxed) == 0 && hxs_host_cancelled()) {
      atomic_store_explicit(&stop, 1, memory_order_relaxed);
    }
    if (atomic_load_explicit(&stop, memory_order_relaxed) == 0) {
      body(run, i);
    }
  }
  return atomic_load(&stop) == 0 ? HX_OK : HX_CANCELLED;
}

// ---- teams

// Looks at a gate before the processor is offered to others.
#define SPINS 20000u

struct hx_cpu_team {
  uint32_t threads;
  bool polls;
  atomic_int stop;
  atomic_ullong gates[HX_CPU_GATES];
};

int32_t hx_cpu_together(const hx_cpu_run_t *run, uint64_t most, uint64_t work,
                        void (*body)(const hx_cpu_run_t *, hx_cpu_team_t *, uint32_t)) {
  hx_cpu_team_t team = {.threads = team_size(most, work), .polls = work >= LONG_WORK};
#ifdef _OPENMP
#pragma omp parallel num_threads(team.threads) if (team.threads > 1)
  {
#pragma omp single
    team.threads = (uint32_t)omp_get_num_threads();  // may be fewer than were asked for
    body(run, &team, (uint32_t)omp_get_thread_num());
  }
#else
  team.threads = 1;
  body(run, &team, 0);
#endif
  return atomic_load(&team.stop) == 0 ? HX_OK : HX_CANCELLED;
}

uint32_t hx_cpu_team_threads(const hx_cpu_team_t *team) { return team->threads; }

bool hx_cpu_team_goes_on(hx_cpu_team_t *team) {
  if (atomic_load_explicit(&team->stop, memory_order_relaxed) != 0) {
    return false;
  }
  if (team->polls && hxs_host_cancelled()) {
    atomic_store_explicit(&team->stop, 1, memory_order_relaxed);
    return false;
  }
  return true;
}

void hx_cpu_team_share(const hx_cpu_run_t *run, hx_cpu_team_t *team, uint32_t thread, uint64_t count,
                       void (*body)(const hx_cpu_run_t *, uint64_t)) {
  const uint64_t end = count * (thread + 1) / team->threads;
  for (uint64_t i = count * thread / team->threads; i < end && hx_cpu_team_goes_on(team); i++) {
    body(run, i);
  }
}

void hx_cpu_team_arrive(hx_cpu_team_t *team, hx_cpu_gate_t gate) {
  atomic_fetch_add_explicit(&team->gates[gate], 1, memory_order_release);
}

void hx_cpu_team_wait(hx_cpu_team_t *team, hx_cpu_gate_t gate, uint64_t round) {
  const uint64_t all = (round + 1) * team->threads;
  for (uint32_t looks = 0; atomic_load_explicit(&team->gates[gate], memory_order_acquire) < all; looks++) {
    if (looks >= SPINS) {
      sched_yield();
      continue;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

// ---- rows

static uint64_t row_offset(const hxs_view *view, uint64_t item, uint32_t component, uint32_t limb) {
  uint64_t elements = hxs_view_item_offset(view, item) + component * view->component_stride + view->limb_offsets[limb];
  return elements * view->element_bytes;
}

const void *hx_cpu_operand_row(const hx_cpu_run_t *run, const hxs_view *view, uint64_t item, uint32_t component,
                               uint32_t limb) {
  hx_span span = run->call->inputs[view->slot];
  return (const char *)span.buffer->address + span.offset + row_offset(view, item, component, limb);
}

void *hx_cpu_result_row(const hx_cpu_run_t *run, const hxs_view *view, uint64_t item, uint32_t component,
                        uint32_t limb) {
  hx_span span = run->call->outputs[view->slot];
  return (char *)span.buffer->address + span.offset + row_offset(view, item, component, limb);
}

void *hx_cpu_scratch_row(const hx_cpu_run_t *run, uint64_t row) {
  return run->scratch + row * hx_cpu_scratch_stride(run->prepared);
}
