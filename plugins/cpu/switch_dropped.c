// SPDX-License-Identifier: Apache-2.0
// Rows that are dropped: P's, and those of a depth group where a rescale is merged. See switch_row.h.
#include <string.h>

#include "switch_row.h"

// Place of a row among a component's dropped ones.
static uint32_t place_of(const hx_cpu_switch_t *s, uint32_t row) {
  return row >= s->active ? row - s->active : s->specials + s->active - 1 - row;
}

// A tile of a result's sums on a dropped row; on one of Q also divided by P, with what is added: the value that a
// rescale divides.
static void low_tile(const hx_cpu_switch_row_t *task, uint32_t t, size_t at, const void *const *rest) {
  const hx_cpu_kernels_t *kernels = task->run->kernels;
  const hx_cpu_switch_t *s = task->s;
  const hx_cpu_switch_term_t *term = &s->terms[t];
  const hxs_modulus *m = &task->prime->m;
  const size_t count = hx_cpu_switch_tile(task->run->prepared);
  const bool on_q = task->row < s->active;
  _Alignas(64) uint64_t room[HX_CPU_SWITCH_TILE];
  for (uint32_t c = 0; c < 2; c++) {
    char *tile =
        (char *)hx_cpu_switch_low(task->run, t, c, place_of(s, task->row)) + hx_cpu_switch_bytes(task->run, at);
    hx_cpu_switch_key_tile(task, term, c, at, tile);
    if (on_q && hx_cpu_switch_has_rest(s, c)) {
      kernels->pointwise->mul_scalar_add(tile, hx_cpu_switch_rest_tile(task, term, c, rest[c], at, room), tile,
                                         s->dropped_scale[s->active - 1 - task->row], m, count);
    } else if (on_q) {
      kernels->pointwise->mul_scalar(tile, tile, s->dropped_scale[s->active - 1 - task->row], m, count);
    }
  }
}

// Results from `first` on that go together, those with a key.
static void low_results(hx_cpu_switch_row_t *task, uint32_t first) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_switch_t *s = task->s;
  const uint32_t left = s->result_count - first, end = first + (left < s->together ? left : s->together);
  const void *rest[2] = {NULL, NULL};
  for (uint32_t c = 0; c < 2 && task->row < s->active && hx_cpu_switch_has_rest(s, c); c++) {
    rest[c] = hx_cpu_switch_rest(task, &s->terms[first], c);
  }
  for (size_t at = 0; at < p->n; at += hx_cpu_switch_tile(p)) {
    for (uint32_t t = first; t < end; t++) {
      if (s->terms[t].key != HX_NONE) {
        hx_cpu_switch_ready(task, &s->terms[t], at);
        low_tile(task, t, at, rest);
      }
    }
  }
}

// All results of sums on a dropped row. A tile of all terms' rows meets every result's weights before the next one: the
// terms' rows are more than a cache holds, and a tile of them is not.
static void low_totals(const hx_cpu_switch_row_t *task) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = task->s;
  const uint32_t place = place_of(s, task->row);
  for (size_t at = 0; at < p->n; at += hx_cpu_switch_tile(p)) {
    for (uint32_t i = 0; i < 2 * s->result_count; i++) {
      char *tile = (char *)hx_cpu_switch_low(run, i / 2, i % 2, place) + hx_cpu_switch_bytes(run, at);
      const void *total = hx_cpu_switch_total_tile(task, i / 2, i % 2, at, tile);
      if (total != tile) {
        memcpy(tile, total, hx_cpu_switch_bytes(run, hx_cpu_switch_tile(p)));
      }
    }
  }
}

// Out of ntt domain; of P's rows the digit.
static void leave(const hx_cpu_switch_row_t *task, void *y) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_switch_t *s = task->s;
  const void *input = y;
  task->run->kernels->ntt->inverse(y, y, &task->prime->m, &task->prime->twiddles, p->log_n);
  if (task->row >= s->active) {
    task->run->kernels->convert->combine(y, &input, &s->special[task->row - s->active], &task->prime->m, p->n);
  }
}

static void dropped_row(hx_cpu_switch_row_t *task) {
  const hx_cpu_run_t *run = task->run;
  const hx_cpu_switch_t *s = task->s;
  if (s->sums) {
    hx_cpu_switch_terms(task);
    low_totals(task);
  } else {
    hx_cpu_switch_raise(task, &s->terms[0]);
    for (uint32_t first = 0; first < s->result_count; first += s->together) {
      low_results(task, first);
    }
  }
  for (uint32_t i = 0; i < 2 * s->result_count; i++) {
    if (s->sums || s->terms[i / 2].key != HX_NONE) {
      leave(task, hx_cpu_switch_low(run, i / 2, i % 2, place_of(s, task->row)));
    }
  }
}

void hx_cpu_switch_dropped_rows(hx_cpu_switch_row_t *tasks, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    dropped_row(&tasks[i]);
  }
}

void hx_cpu_switch_chain(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = p->plan;
  const size_t tile = hx_cpu_switch_tile(p), tiles = p->n / tile;
  const size_t offset = hx_cpu_switch_bytes(run, index % tiles * tile);
  const void *inputs[HXS_PRIMES_MAX];
  for (uint32_t i = 0; i < hx_cpu_switch_dropped(s); i++) {
    char *y = (char *)hx_cpu_switch_low(run, 0, (uint32_t)(index / tiles), i) + offset;
    inputs[i] = y;
    if (i >= s->specials) {
      const uint32_t at = i - s->specials;
      run->kernels->convert->combine(y, inputs, &s->dropped[at], &hx_cpu_prime_of(run, s->active - 1 - at)->m, tile);
    }
  }
}
