// SPDX-License-Identifier: Apache-2.0
// Sums of terms over Q and P: each term's products under its automorphism, and their sums. See switch_row.h.
#include <string.h>

#include "switch_row.h"

// Term t on the task's row: sigma(sum + P * (c0, 0)), or P * (c0, c1) for a step of 0.
static void term_pair(hx_cpu_switch_row_t *task, const hx_cpu_switch_term_t *term, void *const *out) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_kernels_t *kernels = task->run->kernels;
  const hx_cpu_switch_t *s = task->s;
  const hxs_modulus *m = &task->prime->m;
  const bool on_q = task->row < s->active;
  if (term->key == HX_NONE) {
    for (uint32_t c = 0; c < 2; c++) {
      if (on_q) {
        kernels->pointwise->mul_scalar(out[c], hx_cpu_switch_rest(task, term, c), s->lift[task->row], m, p->n);
      } else {
        memset(out[c], 0, hx_cpu_row_bytes(p));
      }
    }
    return;
  }
  const char *rest = on_q ? hx_cpu_switch_rest(task, term, 0) : NULL;
  char *const value[2] = {term->element == 1 ? out[0] : hx_cpu_switch_value(task, 0, 0),
                          term->element == 1 ? out[1] : hx_cpu_switch_value(task, 0, 1)};
  for (size_t at = 0; at < p->n; at += hx_cpu_switch_tile(p)) {
    const size_t offset = hx_cpu_switch_bytes(task->run, at);
    hx_cpu_switch_ready(task, term, at);
    hx_cpu_switch_key_tile(task, term, 0, at, value[0] + offset);
    hx_cpu_switch_key_tile(task, term, 1, at, value[1] + offset);
    if (on_q) {
      kernels->pointwise->mul_scalar_add(value[0] + offset, value[0] + offset, rest + offset, s->lift[task->row], m,
                                         hx_cpu_switch_tile(p));
    }
  }
  for (uint32_t c = 0; c < 2 && term->element != 1; c++) {
    kernels->permute->gather(out[c], value[c], term->index, p->n);
  }
}

void hx_cpu_switch_terms(hx_cpu_switch_row_t *task) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_switch_t *s = task->s;
  uint32_t raised = HX_NONE;
  for (uint32_t t = 0; t < s->term_count; t++) {
    const hx_cpu_switch_term_t *term = &s->terms[t];
    if (term->key != HX_NONE && term->source != raised) {
      hx_cpu_switch_raise(task, term);
      raised = term->source;
    }
    const bool adds = s->weights == HX_NONE && t > 0;
    void *const out[2] = {hx_cpu_switch_turned(task, adds ? 1 : t, 0), hx_cpu_switch_turned(task, adds ? 1 : t, 1)};
    term_pair(task, term, out);
    for (uint32_t c = 0; c < 2 && adds; c++) {
      void *total = hx_cpu_switch_turned(task, 0, c);
      task->run->kernels->pointwise->add(total, total, out[c], task->prime->m.q, p->n);
    }
  }
}

const void *hx_cpu_switch_total_tile(const hx_cpu_switch_row_t *task, uint32_t g, uint32_t c, size_t at, void *room) {
  const hxs_prepared *p = task->run->prepared;
  const hx_cpu_switch_t *s = task->s;
  const size_t offset = hx_cpu_switch_bytes(task->run, at);
  if (s->weights == HX_NONE) {
    return (const char *)hx_cpu_switch_turned(task, 0, c) + offset;
  }
  const uint32_t most = HX_CPU_DOT_MAX(p->ring->word);
  const void *values[HX_CPU_DOT_MAX(64)], *weights[HX_CPU_DOT_MAX(64)];
  for (uint32_t done = 0; done < s->term_count; done += most) {
    const uint32_t left = s->term_count - done, count = left < most ? left : most;
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t t = done + i, weight = s->weights + g * s->term_count + t;
      values[i] = (const char *)hx_cpu_switch_turned(task, t, c) + offset;
      weights[i] = (const char *)hx_cpu_switch_operand(task->run, weight, 0, task->row) + offset;
    }
    task->run->kernels->pointwise->dot(room, done == 0 ? NULL : room, values, weights, count, &task->prime->m,
                                       hx_cpu_switch_tile(p));
  }
  return room;
}
