// SPDX-License-Identifier: Apache-2.0
// Decomposing values, raising digits to a row, and their products with keys. See switch_row.h.
//
// Conversions of many inputs read far more than they write. There a lane takes its rows in batches: a part of the
// inputs goes to all rows of the batch before the next part, so the inputs come from beyond L2 once a batch.
#include "switch_row.h"

// ---- values

// Component c of a source on `count` coefficients from `at` on, in its own domain: in place, or, where factors are
// multiplied, in `room`.
static const void *source_part(const hx_cpu_run_t *run, uint32_t operand, uint32_t c, uint32_t limb, size_t at,
                               size_t count, void *room) {
  const hx_cpu_switch_t *s = hx_cpu_switch_of(run);
  const size_t offset = hx_cpu_switch_bytes(run, at);
  if (s->factors == 0) {
    return (const char *)hx_cpu_switch_operand(run, operand, c, limb) + offset;
  }
  const hxs_modulus *m = &hx_cpu_prime_of(run, limb)->m;
  const void *left[2], *right[2];
  for (uint32_t i = 0; i < 2; i++) {
    left[i] = (const char *)hx_cpu_switch_operand(run, 0, i, limb) + offset;
    right[1 - i] = (const char *)hx_cpu_switch_operand(run, s->factors - 1, i, limb) + offset;
  }
  if (c == 1) {
    run->kernels->pointwise->dot(room, NULL, left, right, 2, m, count);
  } else {
    run->kernels->pointwise->mul(room, left[c / 2], right[1 - c / 2], m, count);
  }
  return room;
}

void hx_cpu_switch_decompose(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hx_cpu_switch_t *s = p->plan;
  const uint32_t source = (uint32_t)(index / s->active), limb = (uint32_t)(index % s->active);
  const uint32_t run_length = p->ring->digit_run;
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, limb);
  void *y = hx_cpu_switch_digit(run, source, limb);
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

const void *hx_cpu_switch_rest(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t c) {
  const hxs_prepared *p = task->run->prepared;
  if (task->s->factors != 0) {
    return NULL;
  }
  const void *x = hx_cpu_switch_operand(task->run, term->source, c, task->row);
  if (p->operands[term->source].domain == HX_NTT) {
    return x;
  }
  void *out = hx_cpu_switch_spare(task, c);
  task->run->kernels->ntt->forward(out, x, &task->prime->m, &task->prime->twiddles, p->log_n);
  return out;
}

const void *hx_cpu_switch_rest_tile(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t c,
                                    const void *row, size_t at, void *room) {
  if (row != NULL) {
    return (const char *)row + hx_cpu_switch_bytes(task->run, at);
  }
  return source_part(task->run, term->source, c, task->row, at, hx_cpu_switch_tile(task->run->prepared), room);
}

void hx_cpu_switch_leave(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, void *out, void *value) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_prime_t *prime = task->prime;
  task->run->kernels->ntt->inverse(value, value, &prime->m, &prime->twiddles, p->log_n);
  if (term->element != 1) {
    task->run->kernels->permute->substitute(out, value, term->element, prime->m.q, p->n);
  }
}

// ---- digits

// Where digit `j` is raised to.
static void *raised_row(const hx_cpu_switch_row_t *task, uint32_t j) {
  return hx_cpu_switch_work(task, task->s->batch > 1 ? task->slot * task->s->digits + j : j % task->s->group);
}

static bool is_converted(const hx_cpu_switch_row_t *task, uint32_t j) {
  return task->s->raise[j].targets[task->row].kind != HXS_TARGET_COPY;
}

static void begin_digit(const hx_cpu_switch_row_t *task, uint32_t source, uint32_t j, uint32_t part, uint32_t parts) {
  const hx_cpu_run_t *run = task->run;
  const hxs_base *raise = &task->s->raise[j];
  const void *inputs[HXS_PRIMES_MAX];
  for (uint32_t i = 0; i < raise->stage_count; i++) {
    inputs[i] = hx_cpu_switch_digit(run, source, raise->stage[i].prime);
  }
  run->kernels->raise->begin(raised_row(task, j), inputs, &raise->targets[task->row].map, &task->prime->m,
                             &task->prime->twiddles, run->prepared->log_n, part, parts);
}

void hx_cpu_switch_begin_digits(const hx_cpu_switch_row_t *tasks, uint32_t count) {
  const hx_cpu_switch_t *s = tasks[0].s;
  const uint32_t parts = hx_cpu_switch_parts(tasks[0].run->prepared);
  for (uint32_t j = 0; j < s->digits; j++) {
    for (uint32_t part = 0; part < parts; part++) {
      for (uint32_t t = 0; t < count; t++) {
        if (is_converted(&tasks[t], j)) {
          begin_digit(&tasks[t], 0, j, part, parts);
        }
      }
    }
  }
}

// Digit j of a source on the task's row: begun in a work row, or in ntt domain where it lies already.
static const void *raise_digit(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t j) {
  const hx_cpu_run_t *run = task->run;
  const hxs_prepared *p = run->prepared;
  const hx_cpu_prime_t *prime = task->prime;
  void *out = raised_row(task, j);
  if (!is_converted(task, j)) {
    const void *x = source_part(run, term->source, task->s->component, task->row, 0, p->n, out);
    if (p->operands[term->source].domain == HX_NTT) {
      return x;
    }
    run->kernels->ntt->forward(out, x, &prime->m, &prime->twiddles, p->log_n);
  } else if (task->s->batch == 1) {
    begin_digit(task, term->source, j, 0, 1);
  }
  return out;
}

static const char *key_row(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t j, uint32_t c,
                           size_t at) {
  const hxs_view *key = &task->run->prepared->operands[term->key];
  const char *half = hx_cpu_operand_row(task->run, key, 0, c, term->key_limbs[task->row]);
  return half + j * key->digit_stride * key->element_bytes + hx_cpu_switch_bytes(task->run, at);
}

void hx_cpu_switch_ready(hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, size_t at) {
  const hxs_prepared *p = task->run->prepared;
  const size_t block = hx_cpu_raise_block(p->log_n);
  if (at < task->ready) {
    return;
  }
  for (uint32_t i = 0; i < task->count; i++) {
    const uint32_t j = task->first + i;
    if (is_converted(task, j)) {
      const hx_cpu_ahead_t ahead = {{key_row(task, term, j, 0, at), key_row(task, term, j, 1, at)}};
      task->run->kernels->raise->end(raised_row(task, j), &task->prime->m, &task->prime->twiddles, p->log_n, at,
                                     &ahead);
    }
  }
  task->ready = at + block;
}

hx_cpu_ahead_t hx_cpu_switch_ahead(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t c,
                                   size_t at) {
  const hx_cpu_run_t *run = task->run;
  const size_t offset = hx_cpu_switch_bytes(run, at);
  for (uint32_t i = 0; i < task->count; i++) {
    // Of the digits that are transformed in this block the words are asked for there.
    if (at < task->ready ? i == c : c == 0 && !is_converted(task, task->first + i)) {
      const uint32_t j = task->first + i;
      return (hx_cpu_ahead_t){{key_row(task, term, j, 0, at), key_row(task, term, j, 1, at)}};
    }
  }
  if (task->s->factors > 0) {
    return (hx_cpu_ahead_t){{(const char *)hx_cpu_switch_operand(run, 0, 0, task->row) + offset,
                             (const char *)hx_cpu_switch_operand(run, task->s->factors - 1, 0, task->row) + offset}};
  }
  const char *rest = (const char *)hx_cpu_switch_operand(run, term->source, 0, task->row) + offset;
  return (hx_cpu_ahead_t){{rest, rest + hx_cpu_switch_bytes(run, hx_cpu_raise_block(run->prepared->log_n) / 2)}};
}

// out = acc (NULL: 0) + the products of the raised digits with half c of a term's key, on a tile.
static void multiply_tile(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t c, size_t at,
                          const void *acc, void *out) {
  const hxs_prepared *p = task->run->prepared;
  const uint32_t most = HX_CPU_DOT_MAX(p->ring->word);
  const size_t offset = hx_cpu_switch_bytes(task->run, at);
  const void *digits[HX_CPU_DOT_MAX(64)], *keys[HX_CPU_DOT_MAX(64)];
  for (uint32_t done = 0; done < task->count; done += most) {
    const uint32_t left = task->count - done, count = left < most ? left : most;
    for (uint32_t i = 0; i < count; i++) {
      digits[i] = (const char *)task->raised[done + i] + offset;
      keys[i] = key_row(task, term, task->first + done + i, c, at);
    }
    task->run->kernels->pointwise->dot(out, acc, digits, keys, count, &task->prime->m, hx_cpu_switch_tile(p));
    acc = out;
  }
}

static void raise_group(hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t first) {
  const uint32_t left = task->s->digits - first;
  task->first = first;
  task->count = left < task->s->group ? left : task->s->group;
  task->ready = 0;
  for (uint32_t i = 0; i < task->count; i++) {
    task->raised[i] = raise_digit(task, term, first + i);
  }
}

void hx_cpu_switch_raise(hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term) {
  const hxs_prepared *p = task->run->prepared;
  raise_group(task, term, 0);
  while (task->first + task->count < task->s->digits) {
    for (size_t at = 0; at < p->n; at += hx_cpu_switch_tile(p)) {
      hx_cpu_switch_ready(task, term, at);
      for (uint32_t c = 0; c < 2; c++) {
        char *out = (char *)hx_cpu_switch_sum(task, c) + hx_cpu_switch_bytes(task->run, at);
        multiply_tile(task, term, c, at, task->first == 0 ? NULL : out, out);
      }
    }
    raise_group(task, term, task->first + task->count);
  }
}

void hx_cpu_switch_key_tile(const hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, uint32_t c, size_t at,
                            void *out) {
  const char *acc =
      task->first == 0 ? NULL : (const char *)hx_cpu_switch_sum(task, c) + hx_cpu_switch_bytes(task->run, at);
  multiply_tile(task, term, c, at, acc, out);
}
