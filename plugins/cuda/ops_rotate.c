// SPDX-License-Identifier: Apache-2.0
// Rotations of one value by many steps, and sums of rotations: digits are raised once for all steps of a value, sums
// are made over Q and P by one kernel for many terms, and divided by P once.
#include <string.h>

#include "heliox/support/switched.h"
#include "switch.h"

// Rows of component 1 of an operand: what is switched.
static int32_t source_rows(const hxs_build *build, const hxs_view *a, hx_cuda_switch_t *s) {
  HXS_TRY(hx_cuda_rows_begin(build, a, (uint32_t)(a->items * a->limbs), &s->x));
  for (uint32_t i = 0; i < s->x.count; i++) {
    s->x.offsets[i] = hx_cuda_row_offset(a, i / a->limbs, 1, i % a->limbs);
    s->x.ids[i] = a->ids[i % a->limbs];
  }
  return HX_OK;
}

// What is added to the result: component 0, or nothing.
static int32_t added_rows(const hxs_build *build, const hxs_view *a, bool first, hx_cuda_switch_t *s) {
  hx_cuda_rows_t *add = &s->add.rows[0];
  s->add.count = 1;
  HXS_TRY(hx_cuda_rows_begin(build, a, (uint32_t)(a->items * 2 * a->limbs), add));
  for (uint32_t i = 0; i < add->count; i++) {
    const bool there = first && i / a->limbs % 2 == 0;
    add->offsets[i] = there ? hx_cuda_row_offset(a, i / a->limbs / 2, 0, i % a->limbs) : HX_CUDA_NO_ROW;
    add->ids[i] = a->ids[i % a->limbs];
  }
  return HX_OK;
}

static bool has_key(const hxs_rotation *terms, uint32_t count) {
  for (uint32_t t = 0; t < count; t++) {
    if (terms[t].key != HX_NONE) {
      return true;
    }
  }
  return false;
}

#define PARTS_BYTES_MAX ((uint64_t)96 << 20)  // of scratch memory that rotations have apart

// Whether each rotation may have scratch memory of its own: sums over Q and P, the rows that go, and what becomes of
// them; two polynomials an item.
static bool may_part(const hxs_build *build, const hx_cuda_switch_t *s, uint32_t count) {
  const uint64_t rows = (uint64_t)2 * s->items * (s->extended + build->ring->p_count + s->active);
  return rows * count * build->prepared->n * (build->ring->word / 8) <= PARTS_BYTES_MAX;
}

static int32_t add_rotation(hxs_build *build, hx_cuda_switch_t *s, const hxs_rotation *term, uint32_t result,
                            bool apart) {
  hx_prepared *own = hx_cuda_whole(build);
  hx_cuda_part_t part = {own->step_count, result, build->prepared->scratch_bytes, 0};
  if (apart) {
    s->acc = s->gone = s->taken = (hx_cuda_rows_t){.count = 0};
  }
  HXS_TRY(hx_cuda_switch_key(build, s, term->key));
  s->element = term->element;
  HXS_TRY(hx_cuda_rows_of(build, &build->prepared->results[result], &s->out));
  HXS_TRY(hx_cuda_switch_products(build, s));
  HXS_TRY(hx_cuda_switch_lower(build, s));
  if (apart) {
    part.scratch_end = build->prepared->scratch_bytes;
    own->parts[own->part_count++] = part;
  }
  return HX_OK;
}

// Copies of the value itself are no rotations: they come first.
int32_t hx_cuda_build_rotate_many(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  const int64_t *steps = NULL;
  uint32_t count = 0;
  hxs_rotation *terms = NULL;
  hx_cuda_switch_t s = {.items = 0};
  hx_cuda_rows_t from, to;
  bool apart = false;
  HXS_TRY(hxs_accept_steps(build, &steps, &count));
  HXS_TRY(hxs_accept_switched(build, 1, 2, count));
  HXS_TRY(hxs_accept_rotations(build, 1, steps, count, &terms));
  const hxs_view *a = &p->operands[0];
  if (has_key(terms, count)) {
    HXS_TRY(hx_cuda_switch_begin(build, a->items, a->limbs, &s));
    s.whole = true;
    HXS_TRY(source_rows(build, a, &s));
    HXS_TRY(added_rows(build, a, true, &s));
    HXS_TRY(hx_cuda_switch_raise(build, &s));
    apart = may_part(build, &s, count);
  }
  for (uint32_t t = 0; t < count; t++) {
    if (terms[t].key == HX_NONE) {
      HXS_TRY(hx_cuda_rows_of(build, &p->results[t], &to));
      HXS_TRY(hx_cuda_rows_of(build, a, &from));
      HXS_TRY(hx_cuda_step_pointwise(build, HX_CUDA_DO_COPY, &to, &from, NULL, NULL, NULL, false));
    }
  }
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *hx_cuda_whole(build)->parts, &hx_cuda_whole(build)->parts));
  for (uint32_t t = 0; t < count; t++) {
    if (terms[t].key != HX_NONE) {
      HXS_TRY(add_rotation(build, &s, &terms[t], t, apart));
    }
  }
  return HX_OK;
}

// ---- sums over Q and P

// Terms of one launch: values of one source, under `terms`, times weights of operands first_weight on (HX_NONE: none).
typedef struct turns {
  const hxs_view *source;
  const hxs_rotation *terms;
  uint32_t count, first_weight;
  bool more;  // added to what `out` holds
} turns_t;

static int32_t begin_sums(hxs_build *build, const hxs_rotation *terms, uint32_t count, hx_cuda_switch_t *s) {
  const hxs_view *out = &build->prepared->results[0];
  HXS_TRY(hx_cuda_switch_begin(build, out->items, out->limbs, s));
  s->whole = true;
  for (uint32_t t = 0; t < count; t++) {
    if (terms[t].key != HX_NONE) {
      HXS_TRY(hx_cuda_switch_key(build, s, terms[t].key));
    }
  }
  return added_rows(build, &build->prepared->operands[0], false, s);
}

// Rows as acc's.
static int32_t sum_rows(const hxs_build *build, const hx_cuda_switch_t *s, hx_cuda_rows_t *out) {
  HXS_TRY(hx_cuda_rows_scratch(build, 2 * s->items * s->extended, out));
  for (uint32_t i = 0; i < out->count; i++) {
    out->ids[i] = s->ids[i / 2 % s->extended];
  }
  return HX_OK;
}

// Places A, B and C: the source's rows, by launch row; P's rows are never read.
static int32_t add_places(hxs_build *build, hx_cuda_step_t *step, hx_cuda_switch_t *s, const turns_t *turns) {
  const uint32_t rows = s->items * s->extended;
  hx_cuda_rows_t own, values, first;
  HXS_TRY(source_rows(build, turns->source, s));
  HXS_TRY(hx_cuda_rows_begin(build, turns->source, rows, &first));
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t row = r % s->extended;
    first.offsets[r] = hx_cuda_row_offset(turns->source, r / s->extended, 0, row < s->active ? row : 0);
  }
  if (has_key(turns->terms, turns->count)) {
    HXS_TRY(hx_cuda_switch_digit_rows(build, s, &own, &values));
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, &values));
  } else {
    own = first;
    HXS_TRY(hx_cuda_rows_begin(build, turns->source, rows, &own));
    for (uint32_t r = 0; r < rows; r++) {
      const uint32_t row = r % s->extended;
      own.offsets[r] = s->x.offsets[r / s->extended * s->active + (row < s->active ? row : 0)];
    }
  }
  HXS_TRY(hx_cuda_switch_even(build, &own));
  HXS_TRY(hx_cuda_switch_even(build, &first));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &own));
  return hx_cuda_step_rows(build, step, HX_CUDA_C, &first);
}

static int32_t add_factors(hxs_build *build, hx_cuda_step_t *step, hx_cuda_switch_t *s, const turns_t *turns) {
  const hxs_prepared *p = build->prepared;
  for (uint32_t t = 0; t < turns->count; t++) {
    hx_cuda_rows_t rows;
    if (turns->terms[t].key != HX_NONE) {
      HXS_TRY(hx_cuda_switch_key(build, s, turns->terms[t].key));
      HXS_TRY(hx_cuda_switch_key_rows(build, s, &rows));
      HXS_TRY(hx_cuda_step_more(build, step, t, &rows));
    }
    if (turns->first_weight != HX_NONE) {
      const hxs_view *weight = &p->operands[turns->first_weight + t];
      HXS_TRY(hx_cuda_rows_begin(build, weight, s->items * s->extended, &rows));
      for (uint32_t r = 0; r < rows.count; r++) {
        rows.offsets[r] = hx_cuda_row_offset(weight, r / s->extended, 0, r % s->extended);
      }
      HXS_TRY(hx_cuda_switch_even(build, &rows));
      HXS_TRY(hx_cuda_step_more(build, step, HX_CUDA_DOT_MAX + t, &rows));
    }
  }
  return HX_OK;
}

// At most HX_CUDA_DOT_MAX terms; raised are those of their source.
static int32_t add_turns(hxs_build *build, hx_cuda_switch_t *s, const turns_t *turns, const hx_cuda_rows_t *out) {
  const uint32_t rows = s->items * s->extended;
  const bool real = hx_cuda_takes_real(build, s->ids, s->extended);
  const uint32_t log = hx_cuda_log_blocks(build, 256);
  const size_t bytes = sizeof(hx_cuda_turns_t) + rows * sizeof(hx_cuda_turn_row_t);
  uint8_t *extra = NULL;
  uint32_t *primes = NULL;
  hx_cuda_turns_t head = {{0}};
  HXS_TRY(hxs_keep_or_fail(build, 1, bytes, &extra));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *primes, &primes));
  for (uint32_t t = 0; t < turns->count; t++) {
    head.element[t] = turns->terms[t].element;
  }
  memcpy(extra, &head, sizeof head);
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t row = r % s->extended;
    hx_cuda_turn_row_t facts = {.digit = UINT64_MAX};
    if (row < s->active) {
      facts.digit = row / build->ring->digit_run;
      facts.lift = hx_cuda_factor_of(hx_cuda_modulus_of(build, s->ids[row]), hx_cuda_switch_special(build, s, row));
    }
    memcpy(extra + sizeof head + r * sizeof facts, &facts, sizeof facts);
    primes[r] = s->ids[row];
  }
  hx_cuda_step_t *step =
      hx_cuda_step_add(build, real ? HX_CUDA_KERNEL_TURN_REAL : HX_CUDA_KERNEL_TURN, (uint64_t)rows << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.y = s->digits;
  step->args.count = turns->count;
  step->args.op = (turns->more ? 1u : 0u) | (turns->first_weight != HX_NONE ? 2u : 0u);
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(add_places(build, step, s, turns));
  HXS_TRY(add_factors(build, step, s, turns));
  HXS_TRY(hx_cuda_step_extra(build, step, extra, bytes));
  return hx_cuda_step_primes(build, step, primes, rows);
}

static int32_t add_lowered(hxs_build *build, hx_cuda_switch_t *s, const hx_cuda_rows_t *total, uint32_t result) {
  s->acc = *total;
  HXS_TRY(hx_cuda_rows_of(build, &build->prepared->results[result], &s->out));
  return hx_cuda_switch_lower(build, s);
}

int32_t hx_cuda_build_rotate_sum(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  const int64_t *steps = NULL;
  uint32_t count = 0;
  hxs_rotation *terms = NULL;
  hx_cuda_switch_t s;
  hx_cuda_rows_t total;
  HXS_TRY(hxs_accept_steps(build, &steps, &count));
  HXS_TRY(hxs_accept_switched(build, count, 2, 1));
  HXS_TRY(hxs_accept_rotations(build, count, steps, count, &terms));
  HXS_TRY(begin_sums(build, terms, count, &s));
  HXS_TRY(sum_rows(build, &s, &total));
  for (uint32_t t = 0; t < count; t++) {
    const turns_t turns = {&p->operands[t], &terms[t], 1, HX_NONE, t > 0};
    if (terms[t].key != HX_NONE) {
      HXS_TRY(source_rows(build, turns.source, &s));
      HXS_TRY(hx_cuda_switch_raise(build, &s));
    }
    HXS_TRY(add_turns(build, &s, &turns, &total));
  }
  return add_lowered(build, &s, &total, 0);
}

// ---- weighted sums

#define TERMS_MAX ((uint32_t)HX_CUDA_DOT_MAX)

// total = [total +] sum of `count` turned values times a group's weights.
static int32_t add_weighted(hxs_build *build, const hx_cuda_switch_t *s, const hx_cuda_rows_t *turned, uint32_t count,
                            uint32_t first_weight, bool more, const hx_cuda_rows_t *total) {
  const uint32_t log = hx_cuda_log_blocks(build, 1024);
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_DOT, (uint64_t)total->count << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.op = more ? 1 : 0;
  step->args.count = count;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, total));
  for (uint32_t t = 0; t < count; t++) {
    const hxs_view *weight = &build->prepared->operands[first_weight + t];
    hx_cuda_rows_t rows;
    HXS_TRY(hx_cuda_rows_begin(build, weight, total->count, &rows));
    for (uint32_t i = 0; i < rows.count; i++) {
      rows.offsets[i] = hx_cuda_row_offset(weight, i / 2 / s->extended, 0, i / 2 % s->extended);
    }
    HXS_TRY(hx_cuda_step_more(build, step, t, &turned[t]));
    HXS_TRY(hx_cuda_step_more(build, step, TERMS_MAX + t, &rows));
  }
  return hx_cuda_step_primes(build, step, total->ids, total->count);
}

// Several groups: the values are turned once, in rows of their own, and meet each group's weights.
static int32_t add_groups(hxs_build *build, hx_cuda_switch_t *s, const hxs_rotation *terms, uint32_t count,
                          uint32_t groups, const hx_cuda_rows_t *total) {
  hx_cuda_rows_t turned[TERMS_MAX];
  for (uint32_t t = 0; t < TERMS_MAX && t < count; t++) {
    HXS_TRY(sum_rows(build, s, &turned[t]));
  }
  for (uint32_t first = 0; first < count; first += TERMS_MAX) {
    const uint32_t some = count - first < TERMS_MAX ? count - first : TERMS_MAX;
    for (uint32_t t = 0; t < some; t++) {
      const turns_t turns = {&build->prepared->operands[0], &terms[first + t], 1, HX_NONE, false};
      HXS_TRY(add_turns(build, s, &turns, &turned[t]));
    }
    for (uint32_t g = 0; g < groups; g++) {
      HXS_TRY(add_weighted(build, s, turned, some, 1 + g * count + first, first > 0, &total[g]));
    }
  }
  return HX_OK;
}

// Operands: the value, then for each result a weight a step, then keys.
int32_t hx_cuda_build_rotate_weighted_sum(hxs_build *build) {
  const hxs_view *a = &build->prepared->operands[0];
  const int64_t *steps = NULL;
  uint32_t count = 0, groups = 0, others = 0;
  hxs_rotation *terms = NULL;
  hx_cuda_switch_t s;
  hx_cuda_rows_t *total = NULL;
  HXS_TRY(hxs_accept_steps(build, &steps, &count));
  HXS_TRY(hxs_accept_groups(build, count, &groups, &others));
  HXS_TRY(hxs_accept_switched(build, 1, 2, groups));
  HXS_TRY(hxs_accept_rotations(build, others, steps, count, &terms));
  HXS_TRY(begin_sums(build, terms, count, &s));
  HXS_TRY(hxs_accept_weights(build, 1, others, s.extended, s.ids));
  HXS_TRY(hxs_keep_or_fail(build, groups, sizeof *total, &total));
  for (uint32_t g = 0; g < groups; g++) {
    HXS_TRY(sum_rows(build, &s, &total[g]));
  }
  if (has_key(terms, count)) {
    HXS_TRY(source_rows(build, a, &s));
    HXS_TRY(hx_cuda_switch_raise(build, &s));
  }
  if (groups > 1) {
    HXS_TRY(add_groups(build, &s, terms, count, groups, total));
  }
  for (uint32_t first = 0; groups == 1 && first < count; first += TERMS_MAX) {
    const turns_t turns = {a, terms + first, count - first < TERMS_MAX ? count - first : TERMS_MAX, 1 + first,
                           first > 0};
    HXS_TRY(add_turns(build, &s, &turns, &total[0]));
  }
  for (uint32_t g = 0; g < groups; g++) {
    HXS_TRY(add_lowered(build, &s, &total[g], g));
  }
  return HX_OK;
}
