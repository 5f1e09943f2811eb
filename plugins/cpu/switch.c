// SPDX-License-Identifier: Apache-2.0
// Running operations with a switching key: which rows go where in which order. See switch.h.
#include "switch.h"

#include "switch_row.h"

// Where threads meet: the digits are there; the dropped rows, as the sums have them; those of Q as divided; the item.
#define DIGITS HX_CPU_GATE_FIRST
#define DROPPED HX_CPU_GATE_SECOND
#define DIVIDED HX_CPU_GATE_THIRD
#define DONE HX_CPU_GATE_LAST

static hx_cpu_switch_row_t task_of(hx_cpu_switch_lane_t *lane, uint32_t row) {
  const hx_cpu_switch_t *s = hx_cpu_switch_of(&lane->run);
  return (hx_cpu_switch_row_t){
      .run = &lane->run, .s = s, .prime = hx_cpu_prime_of(&lane->run, s->ids[row]), .lane = lane, .row = row};
}

// A thread's rows from `row` to `end`, every one of so many as there are threads, batch by batch.
static void lane_rows(hx_cpu_switch_lane_t *lane, uint32_t row, uint32_t end,
                      void (*rows)(hx_cpu_switch_row_t *, uint32_t)) {
  const hx_cpu_switch_t *s = hx_cpu_switch_of(&lane->run);
  while (row < end && hx_cpu_team_goes_on(lane->team)) {
    hx_cpu_switch_row_t tasks[HX_CPU_SWITCH_BATCH];
    uint32_t count = 0;
    for (; row < end && count < s->batch; row += hx_cpu_team_threads(lane->team)) {
      tasks[count] = task_of(lane, row);
      tasks[count].slot = count;
      count++;
    }
    if (s->batch > 1 && hx_cpu_switch_has_key(s)) {
      hx_cpu_switch_begin_digits(tasks, count);
    }
    rows(tasks, count);
  }
}

void hx_cpu_switch_settle(hx_cpu_switch_lane_t *lane) {
  const hx_cpu_run_t *run = &lane->run;
  const hx_cpu_switch_t *s = hx_cpu_switch_of(run);
  if (lane->settled) {
    return;
  }
  hx_cpu_team_wait(lane->team, DROPPED, run->first_item);
  if (s->kept < s->active) {
    const uint64_t tiles = run->prepared->n / hx_cpu_switch_tile(run->prepared);
    hx_cpu_team_share(run, lane->team, lane->thread, 2 * tiles, hx_cpu_switch_chain);
    hx_cpu_team_arrive(lane->team, DIVIDED);
    hx_cpu_team_wait(lane->team, DIVIDED, run->first_item);
  }
  lane->settled = true;
}

static void item_body(hx_cpu_switch_lane_t *lane) {
  const hx_cpu_run_t *run = &lane->run;
  const hx_cpu_switch_t *s = hx_cpu_switch_of(run);
  const uint32_t threads = hx_cpu_team_threads(lane->team), dropped = hx_cpu_switch_dropped(s);
  if (hx_cpu_switch_has_key(s)) {
    hx_cpu_team_share(run, lane->team, lane->thread, (uint64_t)s->source_count * s->active, hx_cpu_switch_decompose);
  }
  hx_cpu_team_arrive(lane->team, DIGITS);
  hx_cpu_team_wait(lane->team, DIGITS, run->first_item);
  if (hx_cpu_switch_has_key(s) || s->sums) {
    lane_rows(lane, s->kept + lane->thread, s->extended, hx_cpu_switch_dropped_rows);
  }
  hx_cpu_team_arrive(lane->team, DROPPED);
  lane_rows(lane, (lane->thread + threads - dropped % threads) % threads, s->kept, hx_cpu_switch_kept_rows);
  hx_cpu_switch_settle(lane);  // a thread without such rows has its part of that too
  hx_cpu_team_arrive(lane->team, DONE);
  hx_cpu_team_wait(lane->team, DONE, run->first_item);
}

static void lane_body(const hx_cpu_run_t *run, hx_cpu_team_t *team, uint32_t thread) {
  hx_cpu_switch_lane_t lane = {.run = *run, .team = team, .thread = thread};
  const uint64_t items = run->prepared->results[0].items;
  for (lane.run.first_item = 0; lane.run.first_item < items; lane.run.first_item++) {
    lane.settled = false;
    item_body(&lane);
  }
}

int32_t hx_cpu_switch_run(hx_cpu_run_t *run) {
  const hx_cpu_switch_t *s = run->prepared->plan;
  return hx_cpu_together(run, s->lanes, run->prepared->cost, lane_body);
}
