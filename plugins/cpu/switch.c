// SPDX-License-Identifier: Apache-2.0
// Running operations with a switching key: which rows go where in which order. See switch.h.
#include "switch.h"

#include "switch_row.h"

static hx_cpu_switch_row_t task_of(const hx_cpu_run_t *run, uint64_t lane, uint32_t row) {
  const hx_cpu_switch_t *s = hx_cpu_switch_of(run);
  return (hx_cpu_switch_row_t){
      .run = run, .s = s, .prime = hx_cpu_prime_of(run, s->ids[row]), .lane = lane, .row = row};
}

// A lane's rows from `first` to `end`, every lanes-th one, batch by batch.
static void lane_rows(const hx_cpu_run_t *run, uint64_t lane, uint32_t first, uint32_t end,
                      void (*rows)(hx_cpu_switch_row_t *, uint32_t)) {
  const hx_cpu_switch_t *s = hx_cpu_switch_of(run);
  uint32_t row = first + (uint32_t)lane;
  while (row < end) {
    hx_cpu_switch_row_t tasks[HX_CPU_SWITCH_BATCH];
    uint32_t count = 0;
    for (; row < end && count < s->batch; row += s->lanes) {
      tasks[count] = task_of(run, lane, row);
      tasks[count].slot = count;
      count++;
    }
    if (s->batch > 1 && hx_cpu_switch_has_key(s)) {
      hx_cpu_switch_begin_digits(tasks, count);
    }
    rows(tasks, count);
  }
}

static void dropped_body(const hx_cpu_run_t *run, uint64_t lane) {
  const hx_cpu_switch_t *s = hx_cpu_switch_of(run);
  lane_rows(run, lane, s->kept, s->extended, hx_cpu_switch_dropped_rows);
}

static void kept_body(const hx_cpu_run_t *run, uint64_t lane) {
  lane_rows(run, lane, 0, hx_cpu_switch_of(run)->kept, hx_cpu_switch_kept_rows);
}

int32_t hx_cpu_switch_run(hx_cpu_run_t *run) {
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = p->plan;
  const uint32_t dropped = hx_cpu_switch_dropped(s);
  const uint64_t transform = p->n * p->log_n, items = p->results[0].items;
  const uint64_t row = transform * (s->digits + 2 * (uint64_t)s->result_count);
  for (run->first_item = 0; run->first_item < items; run->first_item++) {
    if (hx_cpu_switch_has_key(s)) {
      HXS_TRY(hx_cpu_for(run, (uint64_t)s->source_count * s->active, transform, hx_cpu_switch_decompose));
    }
    if (hx_cpu_switch_has_key(s) || s->sums) {
      HXS_TRY(hx_cpu_for(run, s->lanes, row * dropped / s->lanes, dropped_body));
    }
    if (s->kept < s->active) {
      const uint64_t steps = (uint64_t)dropped * (s->active - s->kept), tile = hx_cpu_switch_tile(p);
      HXS_TRY(hx_cpu_for(run, 2 * (p->n / tile), tile * steps, hx_cpu_switch_chain));
    }
    HXS_TRY(hx_cpu_for(run, s->lanes, row * s->kept / s->lanes, kept_body));
  }
  return HX_OK;
}
