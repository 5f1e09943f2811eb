// SPDX-License-Identifier: Apache-2.0
// The end of a key switch: acc is divided by P, and with `rescaled` by the last prime of Q too.
#include "switch_end.h"

static uint64_t prime_of(const hxs_build *build, uint32_t id) { return hx_cuda_modulus_of(build, id)->q; }

// The row that is dropped beside P's: acc * P^-1 plus what is added, in ntt domain, in place.
static int32_t add_group_row(hxs_build *build, const hx_cuda_ending_t *e) {
  const hx_cuda_switch_t *s = e->s;
  const uint32_t last = s->active - 1;
  const hxs_modulus *m = hx_cuda_modulus_of(build, s->ids[last]);
  hx_cuda_factor_t *halves = NULL;
  uint32_t *from = NULL, *plus = NULL;
  hx_cuda_rows_t row, add;
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials, 2 * sizeof *halves, &halves));
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials, sizeof *from, &from));
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials, sizeof *plus, &plus));
  for (uint32_t absent = 0; absent < 2; absent++) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->polynomials; i++) {
      halves[2 * i] = hx_cuda_factor_of(m, e->inverse[last]);
      if ((s->add.rows[0].offsets[i * s->active + last] == HX_CUDA_NO_ROW) == (absent == 1)) {
        from[count] = hx_cuda_switch_acc_index(e, i, last);
        plus[count++] = i * s->active + last;
      }
    }
    HXS_TRY(hx_cuda_rows_pick(build, &s->acc, count, from, &row));
    HXS_TRY(hx_cuda_rows_pick(build, &s->add.rows[0], count, plus, &add));
    for (uint32_t i = 0; i < count; i++) {
      halves[2 * i + 1] = halves[2 * i];
    }
    HXS_TRY(hx_cuda_step_pointwise(build, absent ? HX_CUDA_DO_SCALE : HX_CUDA_DO_SCALE_ADD, &row, &row,
                                   absent ? NULL : &add, NULL, halves, false));
  }
  return HX_OK;
}

// P's rows times (P/p)^-1 and centred; the group's row as it is.
static int32_t add_gone(hxs_build *build, const hx_cuda_ending_t *e) {
  hx_cuda_switch_t *s = e->s;
  const uint32_t each = e->special + e->dropped;
  uint64_t *factor = NULL, *add = NULL;
  uint32_t *indices = NULL;
  hx_cuda_rows_t from;
  HXS_TRY(hxs_keep_or_fail(build, s->gone.count, sizeof *factor, &factor));
  HXS_TRY(hxs_keep_or_fail(build, s->gone.count, sizeof *add, &add));
  HXS_TRY(hxs_keep_or_fail(build, s->gone.count, sizeof *indices, &indices));
  for (uint32_t i = 0; i < s->gone.count; i++) {
    const uint32_t at = i % each, row = at < e->special ? s->active + at : s->active - 1, id = s->ids[row];
    const hxs_modulus *m = hx_cuda_modulus_of(build, id);
    indices[i] = hx_cuda_switch_acc_index(e, i / each, row);
    factor[i] = at == e->special
                    ? 1
                    : hxs_inverse_mod(m, hx_cuda_switch_product_but(build, s->ids + s->active, e->special, at, m));
    add[i] = at == e->special ? 0 : hx_cuda_half_of(build, id);
  }
  if (s->begun) {
    return hx_cuda_steps_backward_columns(build, &s->gone, factor, add);
  }
  HXS_TRY(hx_cuda_rows_pick(build, &s->acc, s->gone.count, indices, &from));
  return hx_cuda_steps_backward(build, &s->gone, &from, factor, add);
}

// The group's row: r = x - c * P^-1, centred by its offset, where c is the conversion of P's rows. weights: [special +
// 1], the last that of x.
static int32_t plan_group_rest(hxs_build *build, const hx_cuda_ending_t *e, hx_cuda_target_t *target,
                               uint64_t **weights) {
  const hx_cuda_switch_t *s = e->s;
  const uint32_t id = s->ids[s->active - 1];
  const hxs_modulus *m = hx_cuda_modulus_of(build, id);
  HXS_TRY(hxs_keep_or_fail(build, e->special + 1, sizeof **weights, weights));
  hx_cuda_switch_target(build, s->ids + s->active, e->special, id, hxs_neg_mod(m, e->inverse[s->active - 1]), target,
                        *weights);
  target->start = hxs_add_mod(m, target->start, hx_cuda_half_of(build, id));
  (*weights)[e->special] = 1;
  return HX_OK;
}

// The same as a step of its own, in place.
static int32_t add_group_rest(hxs_build *build, const hx_cuda_ending_t *e, const hx_cuda_target_t *rest,
                              const uint64_t *weights) {
  const hx_cuda_switch_t *s = e->s;
  const uint32_t each = e->special + 1;
  uint32_t *special = NULL, *group = NULL;
  hx_cuda_target_t target = *rest;
  hx_cuda_rows_t y, x;
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials * e->special, sizeof *special, &special));
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials, sizeof *group, &group));
  target.kind = HX_CUDA_TARGET_DIVIDE;
  target.factor = 1;
  for (uint32_t i = 0; i < e->polynomials; i++) {
    for (uint32_t p = 0; p < e->special; p++) {
      special[i * e->special + p] = i * each + p;
    }
    group[i] = i * each + e->special;
  }
  HXS_TRY(hx_cuda_rows_pick(build, &s->gone, e->polynomials * e->special, special, &y));
  HXS_TRY(hx_cuda_rows_pick(build, &s->gone, e->polynomials, group, &x));
  return hx_cuda_step_convert(build, &x, &y, &x, e->polynomials, e->special, 1, 1, &target, weights);
}

// What is taken off every kept row: c * P^-1, and with a group (c * P^-1 + r) * G^-1; coefficients, or on the real path
// without the last kernel of their transforms.
static int32_t add_taken(hxs_build *build, const hx_cuda_ending_t *e) {
  hx_cuda_switch_t *s = e->s;
  hx_cuda_rows_t *taken = &s->taken;
  const uint32_t each = e->special + e->dropped;
  hx_cuda_target_t *plan = NULL, rest;
  uint64_t *weights = NULL, *rest_weights = NULL;
  HXS_TRY(hx_cuda_switch_scratch(build, e->polynomials * e->kept, taken));
  HXS_TRY(hxs_keep_or_fail(build, e->kept, sizeof *plan, &plan));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)e->kept * each, sizeof *weights, &weights));
  for (uint32_t i = 0; i < taken->count; i++) {
    taken->ids[i] = s->ids[i % e->kept];
  }
  for (uint32_t t = 0; t < e->kept; t++) {
    const hxs_modulus *m = hx_cuda_modulus_of(build, s->ids[t]);
    uint64_t scale = hxs_neg_mod(m, e->inverse[t]), group = 0;
    if (e->dropped > 0) {
      group = hxs_inverse_mod(m, prime_of(build, s->ids[s->active - 1]) % m->q);
      scale = hxs_mul_mod(m, scale, group);
    }
    hx_cuda_switch_target(build, s->ids + s->active, e->special, s->ids[t], scale, &plan[t],
                          weights + (size_t)t * each);
    if (e->dropped > 0) {
      const uint64_t offset = hxs_mul_mod(m, hx_cuda_half_of(build, s->ids[s->active - 1]) % m->q, group);
      weights[(size_t)t * each + e->special] = hxs_neg_mod(m, group);
      plan[t].start = hxs_add_mod(m, plan[t].start, offset);
    }
  }
  if (e->dropped > 0) {
    HXS_TRY(plan_group_rest(build, e, &rest, &rest_weights));
  }
  const hx_cuda_raise_t raise = {.out = taken,
                                 .y = &s->gone,
                                 .polynomials = e->polynomials,
                                 .stages = each,
                                 .targets = e->kept,
                                 .plans = 1,
                                 .plan = plan,
                                 .weights = weights,
                                 .rest = e->dropped > 0 ? &rest : NULL,
                                 .rest_weights = rest_weights};
  if (hx_cuda_switch_is_real(build, s) && hx_cuda_can_raise(build, &raise)) {
    return hx_cuda_step_raise(build, &raise);
  }
  if (e->dropped > 0) {
    HXS_TRY(add_group_rest(build, e, &rest, rest_weights));
  }
  HXS_TRY(hx_cuda_step_convert(build, taken, &s->gone, NULL, e->polynomials, each, e->kept, 1, plan, weights));
  return hx_cuda_switch_is_real(build, s) ? hx_cuda_steps_columns(build, taken, taken) : HX_OK;
}

// Result row of launch row i: components of a row are neighbours, since they read the same rows of what is added.
static uint32_t result_index(const hx_cuda_ending_t *e, uint32_t i) {
  const uint32_t item = i / 2 / e->kept, row = i / 2 % e->kept;
  return (2 * item + i % 2) * e->kept + row;
}

// out = ntt(taken) + acc * (P G)^-1 + add * G^-1, under the Galois element.
static int32_t add_results(hxs_build *build, const hx_cuda_ending_t *e) {
  const hx_cuda_switch_t *s = e->s;
  const uint32_t count = s->taken.count;
  hx_cuda_factor_t *scale = NULL;
  uint32_t *from = NULL, *plus = NULL, *to = NULL;
  hx_cuda_rows_t acc, taken, out;
  hx_cuda_addend_t add = {.count = s->add.count};
  HXS_TRY(hxs_keep_or_fail(build, count, 2 * sizeof *scale, &scale));
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *from, &from));
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *plus, &plus));
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *to, &to));
  for (uint32_t i = 0; i < count; i++) {
    to[i] = result_index(e, i);
    const uint32_t row = to[i] % e->kept, polynomial = to[i] / e->kept;
    const hxs_modulus *m = hx_cuda_modulus_of(build, s->ids[row]);
    const uint64_t group = e->dropped > 0 ? hxs_inverse_mod(m, prime_of(build, s->ids[s->active - 1]) % m->q) : 1;
    from[i] = hx_cuda_switch_acc_index(e, polynomial, row);
    plus[i] = polynomial * s->active + row;
    scale[2 * i] = hx_cuda_factor_of(m, hxs_mul_mod(m, e->inverse[row], group));
    scale[2 * i + 1] = hx_cuda_factor_of(m, group);
  }
  HXS_TRY(hx_cuda_rows_pick(build, &s->acc, count, from, &acc));
  HXS_TRY(hx_cuda_rows_pick(build, &s->taken, count, to, &taken));
  HXS_TRY(hx_cuda_rows_pick(build, &s->out, count, to, &out));
  for (uint32_t i = 0; i < count; i++) {
    out.ids[i] = taken.ids[i];
  }
  for (uint32_t i = 0; i < add.count; i++) {
    HXS_TRY(hx_cuda_rows_pick(build, &s->add.rows[i], count, plus, &add.rows[i]));
  }
  const uint32_t inverse = (uint32_t)hxs_odd_inverse(s->element) & ((2u << build->prepared->log_n) - 1);
  const uint32_t element = s->element == 1 ? 0 : inverse;
  if (hx_cuda_switch_is_real(build, s)) {
    return hx_cuda_step_end(build, &out, &taken, &acc, scale, &add, element);
  }
  const hx_cuda_end_t end = {.b = &acc, .c = &add.rows[0], .middle = &taken, .scale = scale, .element = element};
  return hx_cuda_steps_forward(build, &out, &taken, &end);
}

int32_t hx_cuda_switch_lower(hxs_build *build, hx_cuda_switch_t *s) {
  hx_cuda_ending_t e;
  HXS_TRY(hx_cuda_switch_begin_ending(build, s, &e));
  if (s->rescaled && !s->begun) {
    HXS_TRY(add_group_row(build, &e));
  }
  HXS_TRY(add_gone(build, &e));
  HXS_TRY(add_taken(build, &e));
  return add_results(build, &e);
}
