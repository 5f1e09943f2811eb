// SPDX-License-Identifier: Apache-2.0
// Rows that stay: what the dropped rows stand for is converted, transformed and taken off the sums. See switch_row.h.
#include <string.h>

#include "switch_row.h"

// Where component c of a result is made: in a work row where an automorphism follows.
static void *made_row(const hx_cpu_switch_row_t *task, uint32_t result, uint32_t c) {
  const hx_cpu_run_t *run = task->run;
  const hx_cpu_switch_t *s = task->s;
  if (!s->sums && s->terms[result].element != 1) {
    return hx_cpu_switch_value(task, result, c);
  }
  return hx_cpu_result_row(run, &run->prepared->results[result], run->first_item, c, task->row);
}

// What the dropped rows stand for, begun: what a kept row's quotient begins with.
static void begin_value(const hx_cpu_switch_row_t *task, uint32_t result, uint32_t c, uint32_t part, uint32_t parts) {
  const hx_cpu_run_t *run = task->run;
  const void *inputs[HXS_PRIMES_MAX];
  for (uint32_t i = 0; i < hx_cpu_switch_dropped(task->s); i++) {
    inputs[i] = hx_cpu_switch_low(run, result, c, i);
  }
  run->kernels->raise->begin(made_row(task, result, c), inputs, &task->s->kept_map[task->row], &task->prime->m,
                             &task->prime->twiddles, run->prepared->log_n, part, parts);
}

// The same for component after component of all rows.
static void begin_values(const hx_cpu_switch_row_t *tasks, uint32_t count, uint32_t result) {
  const uint32_t parts = count > 1 ? hx_cpu_switch_parts(tasks[0].run->prepared) : 1;
  for (uint32_t c = 0; c < 2; c++) {
    for (uint32_t part = 0; part < parts; part++) {
      for (uint32_t t = 0; t < count; t++) {
        begin_value(&tasks[t], result, c, part, parts);
      }
    }
  }
}

// Where a block begins at `at`: transforms it to its end.
static void end_value(const hx_cpu_switch_row_t *task, char *value, size_t at, const hx_cpu_ahead_t *ahead) {
  const hxs_prepared *p = task->run->prepared;
  if (at % hx_cpu_raise_block(p->log_n) == 0) {
    task->run->kernels->raise->end(value, &task->prime->m, &task->prime->twiddles, p->log_n, at, ahead);
  }
}

// A tile of a result: the sum divided by what is dropped, with what is added (row: see hx_cpu_switch_rest).
static void finish_tile(const hx_cpu_switch_row_t *task, uint32_t result, uint32_t c, size_t at, char *value,
                        const void *rest) {
  const hx_cpu_kernels_t *kernels = task->run->kernels;
  const hx_cpu_switch_t *s = task->s;
  const hx_cpu_switch_term_t *term = &s->terms[s->sums ? 0 : result];
  const hxs_modulus *m = &task->prime->m;
  const size_t count = hx_cpu_switch_tile(task->run->prepared);
  _Alignas(64) uint64_t room[HX_CPU_SWITCH_TILE];
  char *tile = value + hx_cpu_switch_bytes(task->run, at);
  const void *total = room;
  if (s->sums) {
    total = hx_cpu_switch_total_tile(task, result, c, at, room);
  } else {
    hx_cpu_switch_key_tile(task, term, c, at, room);
  }
  kernels->pointwise->mul_scalar_add(tile, tile, total, s->kept_scale[task->row], m, count);
  if (s->sums || !hx_cpu_switch_has_rest(s, c)) {
    return;
  }
  const void *added = hx_cpu_switch_rest_tile(task, term, c, rest, at, room);
  if (s->kept == s->active) {
    kernels->pointwise->add(tile, tile, added, m->q, count);
  } else {
    kernels->pointwise->mul_scalar_add(tile, tile, added, s->rest_scale[task->row], m, count);
  }
}

// All results of sums on a kept row, begun: a tile of all terms' rows meets every result's weights before the next one.
static void finish_sums(const hx_cpu_switch_row_t *task) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const uint32_t rows = 2 * task->s->result_count;
  for (size_t at = 0; at < p->n; at += hx_cpu_switch_tile(p)) {
    for (uint32_t i = 0; i < rows; i++) {
      char *value = made_row(task, i / 2, i % 2);
      end_value(task, value, at, NULL);
      finish_tile(task, i / 2, i % 2, at, value, NULL);
    }
  }
}

// A tile of both rows of a result of one term, to their places.
static void finish_pair(const hx_cpu_switch_row_t *task, uint32_t result, size_t at, const void *const *rest) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_term_t *term = &task->s->terms[result];
  for (uint32_t c = 0; c < 2; c++) {
    char *value = made_row(task, result, c);
    finish_tile(task, result, c, at, value, rest[c]);
    if (term->turn.groups != NULL) {
      void *out = hx_cpu_result_row(run, &p->results[result], run->first_item, c, task->row);
      run->kernels->permute->scatter(out, value + hx_cpu_switch_bytes(run, at), &term->turn, at, hx_cpu_switch_tile(p));
    }
  }
}

// Results from `first` on that go together, those with a key, begun.
static void finish_results(hx_cpu_switch_row_t *task, uint32_t first, uint32_t end) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = task->s;
  const void *rest[2] = {NULL, NULL};
  for (uint32_t c = 0; c < 2 && hx_cpu_switch_has_rest(s, c); c++) {
    rest[c] = hx_cpu_switch_rest(task, &s->terms[first], c);
  }
  for (size_t at = 0; at < p->n; at += hx_cpu_switch_tile(p)) {
    for (uint32_t t = first; t < end; t++) {
      if (s->terms[t].key == HX_NONE) {
        continue;
      }
      for (uint32_t c = 0; c < 2; c++) {
        const hx_cpu_ahead_t ahead = hx_cpu_switch_ahead(task, &s->terms[t], c, at);
        end_value(task, made_row(task, t, c), at, &ahead);
      }
      hx_cpu_switch_ready(task, &s->terms[t], at);
      finish_pair(task, t, at, rest);
    }
  }
  for (uint32_t i = 2 * first; i < 2 * end; i++) {
    const hxs_view *view = &p->results[i / 2];
    if (view->domain != HX_NTT && s->terms[i / 2].key != HX_NONE) {
      hx_cpu_switch_leave(task, &s->terms[i / 2], hx_cpu_result_row(run, view, run->first_item, i % 2, task->row),
                          made_row(task, i / 2, i % 2));
    }
  }
}

// A step of 0 on its own: the value itself, in the result's domain.
static void copy_row(const hx_cpu_switch_row_t *task, uint32_t result, uint32_t c) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const hxs_view *a = &p->operands[task->s->terms[result].source], *view = &p->results[result];
  const hx_cpu_prime_t *prime = task->prime;
  void *out = hx_cpu_result_row(run, view, run->first_item, c, task->row);
  const void *in = hx_cpu_operand_row(run, a, run->first_item, c, task->row);
  if (a->domain == view->domain) {
    memcpy(out, in, hx_cpu_row_bytes(p));
  } else if (view->domain == HX_NTT) {
    run->kernels->ntt->forward(out, in, &prime->m, &prime->twiddles, p->log_n);
  } else {
    run->kernels->ntt->inverse(out, in, &prime->m, &prime->twiddles, p->log_n);
  }
}

static void copy_results(const hx_cpu_switch_row_t *task, uint32_t first, uint32_t end) {
  for (uint32_t t = first; t < end; t++) {
    for (uint32_t c = 0; c < 2 && task->s->terms[t].key == HX_NONE; c++) {
      copy_row(task, t, c);
    }
  }
}

// What needs no dropped rows comes before what does; in a batch digits are begun already, and the dropped rows' parts
// go to all rows first.
static void sum_rows(hx_cpu_switch_row_t *tasks, uint32_t count) {
  if (count == 1) {
    hx_cpu_switch_terms(&tasks[0]);
  }
  hx_cpu_switch_settle(tasks[0].lane);
  for (uint32_t result = 0; result < tasks[0].s->result_count; result++) {
    begin_values(tasks, count, result);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (count > 1) {
      hx_cpu_switch_terms(&tasks[i]);
    }
    finish_sums(&tasks[i]);
  }
}

void hx_cpu_switch_kept_rows(hx_cpu_switch_row_t *tasks, uint32_t count) {
  const hx_cpu_switch_t *s = tasks[0].s;
  if (s->sums) {
    sum_rows(tasks, count);
    return;
  }
  const bool has = hx_cpu_switch_has_key(s);
  if (count == 1 && has) {
    hx_cpu_switch_raise(&tasks[0], &s->terms[0]);
  }
  hx_cpu_switch_settle(tasks[0].lane);
  for (uint32_t first = 0; first < s->result_count; first += s->together) {
    const uint32_t left = s->result_count - first, end = first + (left < s->together ? left : s->together);
    for (uint32_t t = first; t < end; t++) {
      if (s->terms[t].key != HX_NONE) {
        begin_values(tasks, count, t);
      }
    }
    for (uint32_t i = 0; i < count; i++) {
      if (count > 1 && has && first == 0) {
        hx_cpu_switch_raise(&tasks[i], &s->terms[0]);
      }
      copy_results(&tasks[i], first, end);
      finish_results(&tasks[i], first, end);
    }
  }
}
