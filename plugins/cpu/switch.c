// SPDX-License-Identifier: Apache-2.0
// Running operations with a switching key. See switch.h.
//
// Work rows of a lane: raised digits, `group` of them, or all of each row of a batch; two rows of sums, where the
// digits come in several groups; for each row of a batch a row of values for each component; one of what is added for
// each component; then, for sums of several terms, the terms' rows under their automorphisms. Both components go tile
// by tile together: so the raised digits are read once.
//
// Conversions of many inputs read far more than they write. There a lane takes its rows in batches: a part of the
// inputs goes to all rows of the batch before the next part, so the inputs come from beyond L2 once a batch.
#include "switch.h"

#include <string.h>

// Coefficients that all halves of keys meet before the next ones: with its operands a tile stays in L1.
#define TILE 1024u
// Coefficients of inputs that all rows of a batch are converted from before the next ones: they stay in L2.
#define PART 4096u

typedef struct row_task {
  const hx_cpu_run_t *run;
  const hx_cpu_switch_t *s;
  const hx_cpu_prime_t *prime;
  uint64_t lane;
  uint32_t slot;                       // in its batch
  uint32_t row;                        // of the extended basis
  uint32_t first, count;               // digits that are raised now
  const void *raised[HXS_PRIMES_MAX];  // [count]
} row_task_t;

static const hx_cpu_switch_t *plan_of(const hx_cpu_run_t *run) { return run->prepared->plan; }

// ---- where rows lie

static void *digit_row(const hx_cpu_run_t *run, uint32_t source, uint32_t limb) {
  return hx_cpu_scratch_row(run, source * plan_of(run)->active + limb);
}

static uint32_t dropped_rows(const hx_cpu_switch_t *s) { return s->extended - s->kept; }

// Place `at` of a component's dropped rows: P's in order, then the last of Q, the one before it, ...
static void *low_row(const hx_cpu_run_t *run, uint32_t result, uint32_t c, uint32_t at) {
  const hx_cpu_switch_t *s = plan_of(run);
  return hx_cpu_scratch_row(run, s->source_count * s->active + (2 * result + c) * dropped_rows(s) + at);
}

static uint32_t place_of(const hx_cpu_switch_t *s, uint32_t row) {
  return row >= s->active ? row - s->active : s->specials + s->active - 1 - row;
}

static void *work_row(const row_task_t *task, uint32_t row) {
  const hx_cpu_switch_t *s = task->s;
  const uint64_t before = (uint64_t)s->source_count * s->active + 2 * (uint64_t)s->result_count * dropped_rows(s);
  return hx_cpu_scratch_row(task->run, before + task->lane * s->lane_rows + row);
}

static void *sum_row(const row_task_t *task, uint32_t c) { return work_row(task, task->s->raised_rows + c); }
static void *value_row(const row_task_t *task, uint32_t c) {
  return work_row(task, task->s->raised_rows + 2 + 2 * task->slot + c);
}
static void *spare_row(const row_task_t *task, uint32_t c) {
  return work_row(task, task->s->raised_rows + 2 + 2 * task->s->batch + c);
}
static void *turned_row(const row_task_t *task, uint32_t t, uint32_t c) {
  return work_row(task, task->s->raised_rows + 4 + 2 * task->s->batch + 2 * t + c);
}
// Where digit `first + i` of a group is raised to.
static void *raised_row(const row_task_t *task, uint32_t first, uint32_t i) {
  return work_row(task, task->s->batch > 1 ? task->slot * task->s->digits + first + i : i);
}

static const void *operand_row(const hx_cpu_run_t *run, uint32_t operand, uint32_t c, uint32_t limb) {
  return hx_cpu_operand_row(run, &run->prepared->operands[operand], run->first_item, c, limb);
}

static size_t bytes_of(const hx_cpu_run_t *run, size_t coefficients) {
  return coefficients * (run->prepared->ring->word / 8);
}

static size_t tile_of(const hxs_prepared *p) { return p->n < TILE ? p->n : TILE; }

// ---- values

// Component c of a source on `count` coefficients from `at` on, in its own domain: in place, or, where factors are
// multiplied, in `room`.
static const void *source_part(const hx_cpu_run_t *run, uint32_t operand, uint32_t c, uint32_t limb, size_t at,
                               size_t count, void *room) {
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = p->plan;
  const size_t offset = bytes_of(run, at);
  if (s->factors == 0) {
    return (const char *)operand_row(run, operand, c, limb) + offset;
  }
  const hxs_modulus *m = &hx_cpu_prime_of(run, limb)->m;
  const void *left[2], *right[2];
  for (uint32_t i = 0; i < 2; i++) {
    left[i] = (const char *)operand_row(run, 0, i, limb) + offset;
    right[1 - i] = (const char *)operand_row(run, s->factors - 1, i, limb) + offset;
  }
  if (c == 1) {
    run->kernels->pointwise->dot(room, NULL, left, right, 2, m, count);
  } else {
    run->kernels->pointwise->mul(room, left[c / 2], right[1 - c / 2], m, count);
  }
  return room;
}

// The y of one active row of one source.
static void decompose_body(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = p->plan;
  const uint32_t source = (uint32_t)(index / s->active), limb = (uint32_t)(index % s->active);
  const uint32_t run_length = p->ring->digit_run;
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, limb);
  void *y = digit_row(run, source, limb);
  if (s->source_count > 1 && s->terms[source].key == HX_NONE) {
    return;
  }
  const void *x = source_part(run, source, s->component, limb, 0, p->n, y);
  if (p->operands[source].domain == HX_NTT) {
    run->kernels->ntt->inverse(y, x, &prime->m, &prime->twiddles, p->log_n);
    x = y;
  }
  run->kernels->convert->combine(y, &x, &s->raise[limb / run_length].stage[limb % run_length].map, &prime->m, p->n);
}

// Digit j of a source on the task's row, in ntt domain: in a work row, or where it lies already.
static const void *raise_digit(const row_task_t *task, const hx_cpu_switch_term_t *term, uint32_t j, void *out) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const hxs_base *raise = &task->s->raise[j];
  const hx_cpu_prime_t *prime = task->prime;
  if (raise->targets[task->row].kind == HXS_TARGET_COPY) {
    const void *x = source_part(run, term->source, task->s->component, task->row, 0, p->n, out);
    if (p->operands[term->source].domain == HX_NTT) {
      return x;
    }
    run->kernels->ntt->forward(out, x, &prime->m, &prime->twiddles, p->log_n);
    return out;
  }
  if (task->s->batch == 1) {
    const void *inputs[HXS_PRIMES_MAX];
    for (uint32_t i = 0; i < raise->stage_count; i++) {
      inputs[i] = digit_row(run, term->source, raise->stage[i].prime);
    }
    run->kernels->convert->combine_lazy(out, inputs, &raise->targets[task->row].map, &prime->m, p->n);
  }
  run->kernels->ntt->forward(out, out, &prime->m, &prime->twiddles, p->log_n);
  return out;
}

// out = acc (NULL: 0) + the products of the raised digits with half c of a term's key, on a tile.
static void multiply_tile(const row_task_t *task, const hx_cpu_switch_term_t *term, uint32_t c, size_t at,
                          const void *acc, void *out) {
  const hxs_prepared *p = task->run->prepared;
  const hxs_view *key = &p->operands[term->key];
  const uint32_t most = HX_CPU_DOT_MAX(p->ring->word);
  const size_t offset = bytes_of(task->run, at);
  const char *half = hx_cpu_operand_row(task->run, key, 0, c, term->key_limbs[task->row]);
  const void *digits[HX_CPU_DOT_MAX(64)], *keys[HX_CPU_DOT_MAX(64)];
  for (uint32_t done = 0; done < task->count; done += most) {
    const uint32_t left = task->count - done, count = left < most ? left : most;
    for (uint32_t i = 0; i < count; i++) {
      digits[i] = (const char *)task->raised[done + i] + offset;
      keys[i] = half + (task->first + done + i) * key->digit_stride * key->element_bytes + offset;
    }
    task->run->kernels->pointwise->dot(out, acc, digits, keys, count, &task->prime->m, tile_of(p));
    acc = out;
  }
}

static void raise_group(row_task_t *task, const hx_cpu_switch_term_t *term, uint32_t first) {
  const uint32_t left = task->s->digits - first;
  task->first = first;
  task->count = left < task->s->group ? left : task->s->group;
  for (uint32_t i = 0; i < task->count; i++) {
    task->raised[i] = raise_digit(task, term, first + i, raised_row(task, first, i));
  }
}

// Raises all digits of a term's source on the task's row. Of several groups all but the last are multiplied at once,
// into the rows of sums; key_tile does the last.
static void raise_row(row_task_t *task, const hx_cpu_switch_term_t *term) {
  const hxs_prepared *p = task->run->prepared;
  raise_group(task, term, 0);
  while (task->first + task->count < task->s->digits) {
    for (size_t at = 0; at < p->n; at += tile_of(p)) {
      for (uint32_t c = 0; c < 2; c++) {
        char *out = (char *)sum_row(task, c) + bytes_of(task->run, at);
        multiply_tile(task, term, c, at, task->first == 0 ? NULL : out, out);
      }
    }
    raise_group(task, term, task->first + task->count);
  }
}

// A tile of the sum over all digits, after raise_row.
static void key_tile(const row_task_t *task, const hx_cpu_switch_term_t *term, uint32_t c, size_t at, void *out) {
  const char *acc = task->first == 0 ? NULL : (const char *)sum_row(task, c) + bytes_of(task->run, at);
  multiply_tile(task, term, c, at, acc, out);
}

// The digits of a batch's rows, converted.
static void convert_batch(const row_task_t *tasks, uint32_t count) {
  const hx_cpu_run_t *run = tasks[0].run;
  const hx_cpu_switch_t *s = tasks[0].s;
  const size_t part = run->prepared->n < PART ? run->prepared->n : PART;
  for (uint32_t j = 0; j < s->digits; j++) {
    const hxs_base *raise = &s->raise[j];
    for (size_t at = 0; at < run->prepared->n; at += part) {
      const void *inputs[HXS_PRIMES_MAX];
      for (uint32_t i = 0; i < raise->stage_count; i++) {
        inputs[i] = (const char *)digit_row(run, 0, raise->stage[i].prime) + bytes_of(run, at);
      }
      for (uint32_t t = 0; t < count; t++) {
        const hxs_target *target = &raise->targets[tasks[t].row];
        if (target->kind != HXS_TARGET_COPY) {
          char *out = (char *)raised_row(&tasks[t], j, 0) + bytes_of(run, at);
          run->kernels->convert->combine_lazy(out, inputs, &target->map, &tasks[t].prime->m, part);
        }
      }
    }
  }
}

static row_task_t task_of(const hx_cpu_run_t *run, uint64_t lane, uint32_t row) {
  const hx_cpu_switch_t *s = plan_of(run);
  return (row_task_t){.run = run, .s = s, .prime = hx_cpu_prime_of(run, s->ids[row]), .lane = lane, .row = row};
}

// What is added to component c of a result: a row in ntt domain, with factors NULL (rest_tile makes it), and NULL
// where there is nothing.
static bool has_rest(const hx_cpu_switch_t *s, uint32_t c) { return c < s->component; }

static const void *rest_row(const row_task_t *task, const hx_cpu_switch_term_t *term, uint32_t c) {
  const hxs_prepared *p = task->run->prepared;
  if (task->s->factors != 0) {
    return NULL;
  }
  const void *x = operand_row(task->run, term->source, c, task->row);
  if (p->operands[term->source].domain == HX_NTT) {
    return x;
  }
  void *out = spare_row(task, c);
  task->run->kernels->ntt->forward(out, x, &task->prime->m, &task->prime->twiddles, p->log_n);
  return out;
}

static const void *rest_tile(const row_task_t *task, const hx_cpu_switch_term_t *term, uint32_t c, const void *row,
                             size_t at, void *room) {
  if (row != NULL) {
    return (const char *)row + bytes_of(task->run, at);
  }
  return source_part(task->run, term->source, c, task->row, at, tile_of(task->run->prepared), room);
}

// out = value under the term's automorphism, both in ntt domain, or out of it.
static void turn_row(const row_task_t *task, const hx_cpu_switch_term_t *term, bool to_ntt, void *out, void *value) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_prime_t *prime = task->prime;
  if (!to_ntt) {
    task->run->kernels->ntt->inverse(value, value, &prime->m, &prime->twiddles, p->log_n);
  }
  if (term->element != 1 && to_ntt) {
    task->run->kernels->permute->gather(out, value, term->index, p->n);
  } else if (term->element != 1) {
    task->run->kernels->permute->substitute(out, value, term->element, prime->m.q, p->n);
  }
}

// ---- sums of terms over Q and P

// Term t on the task's row: sigma(sum + P * (c0, 0)), or P * (c0, c1) for a step of 0.
static void term_pair(const row_task_t *task, const hx_cpu_switch_term_t *term, void *const *out) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_kernels_t *kernels = task->run->kernels;
  const hx_cpu_switch_t *s = task->s;
  const hxs_modulus *m = &task->prime->m;
  const bool on_q = task->row < s->active;
  if (term->key == HX_NONE) {
    for (uint32_t c = 0; c < 2; c++) {
      if (on_q) {
        kernels->pointwise->mul_scalar(out[c], rest_row(task, term, c), s->lift[task->row], m, p->n);
      } else {
        memset(out[c], 0, hx_cpu_row_bytes(p));
      }
    }
    return;
  }
  const char *rest = on_q ? rest_row(task, term, 0) : NULL;
  char *const value[2] = {term->element == 1 ? out[0] : value_row(task, 0),
                          term->element == 1 ? out[1] : value_row(task, 1)};
  for (size_t at = 0; at < p->n; at += tile_of(p)) {
    const size_t offset = bytes_of(task->run, at);
    key_tile(task, term, 0, at, value[0] + offset);
    key_tile(task, term, 1, at, value[1] + offset);
    if (on_q) {
      kernels->pointwise->mul_scalar_add(value[0] + offset, value[0] + offset, rest + offset, s->lift[task->row], m,
                                         tile_of(p));
    }
  }
  turn_row(task, term, true, out[0], value[0]);
  turn_row(task, term, true, out[1], value[1]);
}

// All terms of the task's row: each in its rows (weighted), or their sum in those of term 0.
static void term_rows(row_task_t *task) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_switch_t *s = task->s;
  uint32_t raised = HX_NONE;
  for (uint32_t t = 0; t < s->term_count; t++) {
    const hx_cpu_switch_term_t *term = &s->terms[t];
    if (term->key != HX_NONE && term->source != raised) {
      raise_row(task, term);
      raised = term->source;
    }
    const bool adds = s->weights == HX_NONE && t > 0;
    void *const out[2] = {turned_row(task, adds ? 1 : t, 0), turned_row(task, adds ? 1 : t, 1)};
    term_pair(task, term, out);
    for (uint32_t c = 0; c < 2 && adds; c++) {
      void *total = turned_row(task, 0, c);
      task->run->kernels->pointwise->add(total, total, out[c], task->prime->m.q, p->n);
    }
  }
}

// A tile of component c of result g.
static const void *total_tile(const row_task_t *task, uint32_t g, uint32_t c, size_t at, void *room) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_switch_t *s = task->s;
  const size_t offset = bytes_of(task->run, at);
  if (s->weights == HX_NONE) {
    return (const char *)turned_row(task, 0, c) + offset;
  }
  const uint32_t most = HX_CPU_DOT_MAX(p->ring->word);
  const void *values[HX_CPU_DOT_MAX(64)], *weights[HX_CPU_DOT_MAX(64)];
  for (uint32_t done = 0; done < s->term_count; done += most) {
    const uint32_t left = s->term_count - done, count = left < most ? left : most;
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t t = done + i;
      values[i] = (const char *)turned_row(task, t, c) + offset;
      weights[i] = (const char *)operand_row(task->run, s->weights + g * s->term_count + t, 0, task->row) + offset;
    }
    task->run->kernels->pointwise->dot(room, done == 0 ? NULL : room, values, weights, count, &task->prime->m,
                                       tile_of(p));
  }
  return room;
}

// ---- rows that are dropped

// The sums on a dropped row; on one of Q also divided by P, with what is added: the value that a rescale divides.
static void low_single(const row_task_t *task, uint32_t t, char *const *out) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_kernels_t *kernels = task->run->kernels;
  const hx_cpu_switch_t *s = task->s;
  const hx_cpu_switch_term_t *term = &s->terms[t];
  const hxs_modulus *m = &task->prime->m;
  const bool on_q = task->row < s->active;
  const void *rest[2] = {NULL, NULL};
  for (uint32_t c = 0; c < 2 && on_q && has_rest(s, c); c++) {
    rest[c] = rest_row(task, term, c);
  }
  _Alignas(64) uint64_t room[TILE];
  for (size_t at = 0; at < p->n; at += tile_of(p)) {
    for (uint32_t c = 0; c < 2; c++) {
      char *tile = out[c] + bytes_of(task->run, at);
      key_tile(task, term, c, at, tile);
      if (on_q && has_rest(s, c)) {
        kernels->pointwise->mul_scalar_add(tile, rest_tile(task, term, c, rest[c], at, room), tile,
                                           s->dropped_scale[s->active - 1 - task->row], m, tile_of(p));
      } else if (on_q) {
        kernels->pointwise->mul_scalar(tile, tile, s->dropped_scale[s->active - 1 - task->row], m, tile_of(p));
      }
    }
  }
}

// All results of sums on a dropped row. A tile of all terms' rows meets every result's weights before the next one: the
// terms' rows are more than a cache holds, and a tile of them is not.
static void low_totals(const row_task_t *task) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = task->s;
  const uint32_t place = place_of(s, task->row);
  for (size_t at = 0; at < p->n; at += tile_of(p)) {
    for (uint32_t i = 0; i < 2 * s->result_count; i++) {
      char *tile = (char *)low_row(run, i / 2, i % 2, place) + bytes_of(run, at);
      const void *total = total_tile(task, i / 2, i % 2, at, tile);
      if (total != tile) {
        memcpy(tile, total, bytes_of(run, tile_of(p)));
      }
    }
  }
}

// Out of ntt domain; of P's rows the digit.
static void leave(const row_task_t *task, void *y) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_switch_t *s = task->s;
  const void *input = y;
  task->run->kernels->ntt->inverse(y, y, &task->prime->m, &task->prime->twiddles, p->log_n);
  if (task->row >= s->active) {
    task->run->kernels->convert->combine(y, &input, &s->special[task->row - s->active], &task->prime->m, p->n);
  }
}

static bool has_key(const hx_cpu_switch_t *s) {
  bool has = false;
  for (uint32_t t = 0; t < s->term_count; t++) {
    has |= s->terms[t].key != HX_NONE;
  }
  return has;
}

// A lane's rows from `first` to `end`, every lanes-th one, batch by batch: what they share, then each by itself.
static void lane_rows(const hx_cpu_run_t *run, uint64_t lane, uint32_t first, uint32_t end,
                      void (*share)(const row_task_t *, uint32_t), void (*each)(row_task_t *)) {
  const hx_cpu_switch_t *s = plan_of(run);
  uint32_t row = first + (uint32_t)lane;
  while (row < end) {
    row_task_t tasks[HX_CPU_SWITCH_BATCH];
    uint32_t count = 0;
    for (; row < end && count < s->batch; row += s->lanes) {
      tasks[count] = task_of(run, lane, row);
      tasks[count].slot = count;
      count++;
    }
    if (s->batch > 1 && has_key(s)) {
      convert_batch(tasks, count);
    }
    if (share != NULL) {
      share(tasks, count);
    }
    for (uint32_t t = 0; t < count; t++) {
      each(&tasks[t]);
    }
  }
}

static void low_task(row_task_t *task) {
  const hx_cpu_run_t *run = task->run;
  const hx_cpu_switch_t *s = task->s;
  if (s->sums) {
    term_rows(task);
    low_totals(task);
  } else {
    raise_row(task, &s->terms[0]);
  }
  for (uint32_t result = 0; result < s->result_count; result++) {
    const uint32_t place = place_of(s, task->row);
    char *const y[2] = {low_row(run, result, 0, place), low_row(run, result, 1, place)};
    if (!s->sums && s->terms[result].key == HX_NONE) {
      continue;
    }
    if (!s->sums) {
      low_single(task, result, y);
    }
    leave(task, y[0]);
    leave(task, y[1]);
  }
}

static void low_body(const hx_cpu_run_t *run, uint64_t lane) {
  const hx_cpu_switch_t *s = plan_of(run);
  lane_rows(run, lane, s->kept, s->extended, NULL, low_task);
}

// A tile of Q's dropped rows, each from P's digits and those before it.
static void chain_body(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = p->plan;
  const size_t tiles = p->n / tile_of(p), offset = bytes_of(run, index % tiles * tile_of(p));
  const void *inputs[HXS_PRIMES_MAX];
  for (uint32_t i = 0; i < dropped_rows(s); i++) {
    char *y = (char *)low_row(run, 0, (uint32_t)(index / tiles), i) + offset;
    inputs[i] = y;
    if (i >= s->specials) {
      const uint32_t at = i - s->specials;
      run->kernels->convert->combine(y, inputs, &s->dropped[at], &hx_cpu_prime_of(run, s->active - 1 - at)->m,
                                     tile_of(p));
    }
  }
}

// ---- rows that stay

// Whether batches also share the conversion of the dropped rows: of one result, and so of one pair of rows each.
static bool begins_batch(const hx_cpu_switch_t *s) { return s->batch > 1 && s->result_count == 1; }

// Where component c of a result is made: in a work row where an automorphism follows.
static void *made_row(const row_task_t *task, uint32_t result, uint32_t c) {
  const hx_cpu_run_t *run = task->run;
  const hx_cpu_switch_t *s = task->s;
  if (!s->sums && s->terms[result].element != 1) {
    return value_row(task, c);
  }
  return hx_cpu_result_row(run, &run->prepared->results[result], run->first_item, c, task->row);
}

// The dropped rows converted to all rows of a batch.
static void begin_batch(const row_task_t *tasks, uint32_t count) {
  const hx_cpu_run_t *run = tasks[0].run;
  const hx_cpu_switch_t *s = tasks[0].s;
  const size_t part = run->prepared->n < PART ? run->prepared->n : PART;
  for (uint32_t c = 0; c < 2; c++) {
    for (size_t at = 0; at < run->prepared->n; at += part) {
      const void *inputs[HXS_PRIMES_MAX];
      for (uint32_t i = 0; i < dropped_rows(s); i++) {
        inputs[i] = (const char *)low_row(run, 0, c, i) + bytes_of(run, at);
      }
      for (uint32_t t = 0; t < count; t++) {
        char *out = (char *)made_row(&tasks[t], 0, c) + bytes_of(run, at);
        run->kernels->convert->combine_lazy(out, inputs, &s->kept_map[tasks[t].row], &tasks[t].prime->m, part);
      }
    }
  }
}

// What the dropped rows stand for, in ntt domain: what a kept row's quotient begins with. In a batch they are
// converted already.
static void begin_row(const row_task_t *task, uint32_t result, uint32_t c, void *value) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  if (!begins_batch(task->s)) {
    const void *inputs[HXS_PRIMES_MAX];
    for (uint32_t i = 0; i < dropped_rows(task->s); i++) {
      inputs[i] = low_row(run, result, c, i);
    }
    run->kernels->convert->combine_lazy(value, inputs, &task->s->kept_map[task->row], &task->prime->m, p->n);
  }
  run->kernels->ntt->forward(value, value, &task->prime->m, &task->prime->twiddles, p->log_n);
}

// A tile of a result: the sum divided by what is dropped, with what is added (row: see rest_row).
static void finish_tile(const row_task_t *task, uint32_t result, uint32_t c, size_t at, char *value, const void *rest) {
  const hx_cpu_kernels_t *kernels = task->run->kernels;
  const hx_cpu_switch_t *s = task->s;
  const hx_cpu_switch_term_t *term = &s->terms[s->sums ? 0 : result];
  const hxs_modulus *m = &task->prime->m;
  const size_t count = tile_of(task->run->prepared);
  _Alignas(64) uint64_t room[TILE];
  char *tile = value + bytes_of(task->run, at);
  const void *total = room;
  if (s->sums) {
    total = total_tile(task, result, c, at, room);
  } else {
    key_tile(task, term, c, at, room);
  }
  kernels->pointwise->mul_scalar_add(tile, tile, total, s->kept_scale[task->row], m, count);
  if (s->sums || !has_rest(s, c)) {
    return;
  }
  const void *added = rest_tile(task, term, c, rest, at, room);
  if (s->kept == s->active) {
    kernels->pointwise->add(tile, tile, added, m->q, count);
  } else {
    kernels->pointwise->mul_scalar_add(tile, tile, added, s->rest_scale[task->row], m, count);
  }
}

// All results of sums on a kept row, tile by tile as in low_totals.
static void finish_sums(const row_task_t *task) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const uint32_t rows = 2 * task->s->result_count;
  for (uint32_t i = 0; i < rows; i++) {
    begin_row(task, i / 2, i % 2, hx_cpu_result_row(run, &p->results[i / 2], run->first_item, i % 2, task->row));
  }
  for (size_t at = 0; at < p->n; at += tile_of(p)) {
    for (uint32_t i = 0; i < rows; i++) {
      char *value = hx_cpu_result_row(run, &p->results[i / 2], run->first_item, i % 2, task->row);
      finish_tile(task, i / 2, i % 2, at, value, NULL);
    }
  }
}

// Both rows of a result of one term.
static void finish_pair(const row_task_t *task, uint32_t result) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = task->s;
  const hx_cpu_switch_term_t *term = &s->terms[result];
  const hxs_view *view = &p->results[result];
  void *out[2], *value[2];
  const void *rest[2] = {NULL, NULL};
  for (uint32_t c = 0; c < 2; c++) {
    out[c] = hx_cpu_result_row(run, view, run->first_item, c, task->row);
    value[c] = made_row(task, result, c);
    begin_row(task, result, c, value[c]);
    if (has_rest(s, c)) {
      rest[c] = rest_row(task, term, c);
    }
  }
  for (size_t at = 0; at < p->n; at += tile_of(p)) {
    finish_tile(task, result, 0, at, value[0], rest[0]);
    finish_tile(task, result, 1, at, value[1], rest[1]);
  }
  for (uint32_t c = 0; c < 2; c++) {
    turn_row(task, term, view->domain == HX_NTT, out[c], value[c]);
  }
}

// A step of 0 on its own: the value itself, in the result's domain.
static void copy_row(const row_task_t *task, uint32_t result, uint32_t c) {
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

static void finish_task(row_task_t *task) {
  const hx_cpu_switch_t *s = task->s;
  if (s->sums) {
    term_rows(task);
    finish_sums(task);
    return;
  }
  if (has_key(s)) {
    raise_row(task, &s->terms[0]);
  }
  for (uint32_t result = 0; result < s->result_count; result++) {
    if (s->terms[result].key == HX_NONE) {
      copy_row(task, result, 0);
      copy_row(task, result, 1);
    } else {
      finish_pair(task, result);
    }
  }
}

static void finish_body(const hx_cpu_run_t *run, uint64_t lane) {
  const hx_cpu_switch_t *s = plan_of(run);
  const bool converts = begins_batch(s) && (s->sums || s->terms[0].key != HX_NONE);
  lane_rows(run, lane, 0, s->kept, converts ? begin_batch : NULL, finish_task);
}

int32_t hx_cpu_switch_run(hx_cpu_run_t *run) {
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = p->plan;
  const uint64_t transform = p->n * p->log_n, items = p->results[0].items;
  const uint64_t row = transform * (s->digits + 2 * (uint64_t)s->result_count);
  for (run->first_item = 0; run->first_item < items; run->first_item++) {
    if (has_key(s)) {
      HXS_TRY(hx_cpu_for(run, (uint64_t)s->source_count * s->active, transform, decompose_body));
    }
    if (has_key(s) || s->sums) {
      HXS_TRY(hx_cpu_for(run, s->lanes, row * dropped_rows(s) / s->lanes, low_body));
    }
    if (s->kept < s->active) {
      const uint64_t steps = (uint64_t)dropped_rows(s) * (s->active - s->kept);
      HXS_TRY(hx_cpu_for(run, 2 * (p->n / tile_of(p)), tile_of(p) * steps, chain_body));
    }
    HXS_TRY(hx_cpu_for(run, s->lanes, row * s->kept / s->lanes, finish_body));
  }
  return HX_OK;
}
