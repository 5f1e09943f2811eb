// SPDX-License-Identifier: Apache-2.0
#include "switch.h"

#include <string.h>

#include "heliox/support/accept.h"

int32_t hx_opencl_switch_begin(hxs_build *build, uint64_t items, uint32_t active, hx_opencl_switch_t *out) {
  const hxs_ring *ring = build->ring;
  *out = (hx_opencl_switch_t){.items = (uint32_t)items,
                              .active = active,
                              .extended = active + ring->p_count,
                              .digits = (active + ring->digit_run - 1) / ring->digit_run,
                              .run = ring->digit_run < active ? ring->digit_run : active};
  if (ring->p_count == 0) {
    return hxs_refuse(build, HX_INVALID, "the ring has no special primes P, so it has no switching keys");
  }
  HXS_TRY(hxs_keep_or_fail(build, out->extended, sizeof *out->ids, &out->ids));
  for (uint32_t i = 0; i < out->extended; i++) {
    out->ids[i] = i < active ? i : ring->q_count + i - active;
  }
  HXS_TRY(hxs_keep_or_fail(build, out->digits, sizeof *out->raise, &out->raise));
  for (uint32_t j = 0; j < out->digits; j++) {
    const uint32_t left = active - j * ring->digit_run;
    HXS_TRY(hxs_base_raise(build, j * ring->digit_run, left < ring->digit_run ? left : ring->digit_run, out->ids,
                           out->extended, &out->raise[j]));
  }
  HXS_TRY(hxs_base_lower(build, true, out->ids, active, &out->lower));
  HXS_TRY(hx_opencl_rows_scratch(build, items * active, &out->y));
  HXS_TRY(hx_opencl_rows_scratch(build, items * out->digits * out->extended, &out->raised));
  return hx_opencl_rows_scratch(build, 2 * items * out->extended, &out->acc);
}

int32_t hx_opencl_switch_key(const hxs_build *build, const hx_opencl_switch_t *s, const hxs_view *key) {
  uint32_t *limbs = NULL;
  return hxs_accept_key(build, key->index, s->digits, s->extended, s->ids, &limbs);
}

// y: every active row out of ntt domain, times its digit's constant, centred.
static int32_t add_digits(const hxs_build *build, const hx_opencl_switch_t *s, const hx_opencl_rows_t *x) {
  const hx_opencl_rows_t *y = &s->y;
  uint64_t *factor = NULL, *add = NULL;
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *factor, &factor));
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *add, &add));
  for (uint32_t i = 0; i < y->count; i++) {
    const uint32_t limb = i % s->active, run = build->ring->digit_run;
    const hxs_affine *map = &s->raise[limb / run].stage[limb % run].map;
    y->ids[i] = s->ids[limb];
    factor[i] = map->weights[0];
    add[i] = map->start;
  }
  return hx_opencl_steps_backward(build, y, x, factor, add);
}

static int32_t add_raised(const hxs_build *build, hx_opencl_switch_t *s, bool once) {
  const hx_opencl_rows_t *y = &s->y, *raised = &s->raised;
  const uint32_t run = s->run, polynomials = s->items * s->digits, rows = s->digits * s->extended;
  hx_opencl_rows_t stage, moved;
  hx_opencl_target_t *plan = NULL;
  uint64_t *weights = NULL;
  uint32_t *indices = NULL, count = 0;
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *plan, &plan));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)rows * run, sizeof *weights, &weights));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)polynomials * (run + s->extended), sizeof *indices, &indices));
  for (uint32_t i = 0; i < polynomials * run; i++) {  // a short digit repeats its first row, with weight 0
    const uint32_t digit = i / run % s->digits, at = i % run < s->raise[digit].stage_count ? i % run : 0;
    indices[i] = i / run / s->digits * s->active + digit * build->ring->digit_run + at;
  }
  HXS_TRY(hx_opencl_rows_pick(build, y, polynomials * run, indices, &stage));
  for (uint32_t at = 0; at < rows; at++) {
    const hxs_target *target = &s->raise[at / s->extended].targets[at % s->extended];
    const bool own = target->kind == HXS_TARGET_COPY;
    plan[at] = (hx_opencl_target_t){.prime = target->prime,
                                    .kind = own ? HX_OPENCL_TARGET_SKIP : HX_OPENCL_TARGET_CONVERT,
                                    .start = own ? 0 : target->map.start};
    if (!own) {
      memcpy(weights + (size_t)at * run, target->map.weights, target->map.count * sizeof *weights);
    }
  }
  for (uint32_t i = 0; i < raised->count; i++) {
    raised->ids[i] = plan[i % rows].prime;
    if (plan[i % rows].kind != HX_OPENCL_TARGET_SKIP) {
      indices[count++] = i;
    }
  }
  HXS_TRY(hx_opencl_step_convert(build, raised, &stage, NULL, polynomials, run, s->extended, s->digits, plan, weights));
  HXS_TRY(hx_opencl_rows_pick(build, raised, count, indices, &moved));
  s->last_pass = once && hx_opencl_takes_real(build, s->ids, s->extended);
  return s->last_pass ? hx_opencl_steps_columns(build, &moved, &moved)
                      : hx_opencl_steps_forward(build, &moved, &moved, NULL);
}

int32_t hx_opencl_switch_raise(const hxs_build *build, hx_opencl_switch_t *s, const hx_opencl_rows_t *x, bool once) {
  HXS_TRY(add_digits(build, s, x));
  return add_raised(build, s, once);
}

int32_t hx_opencl_switch_products(const hxs_build *build, const hx_opencl_switch_t *s, const hx_opencl_rows_t *x,
                                  const hxs_view *key) {
  const hx_opencl_rows_t *acc = &s->acc;
  const uint32_t rows = s->items * s->extended,
                 log = s->last_pass ? build->prepared->log_n - 11 : hx_opencl_log_groups(build, 4);
  hx_opencl_rows_t own, values, keys;
  uint32_t *table = NULL, *indices = NULL, *primes = NULL;
  hx_opencl_step_t *step = NULL;
  HXS_TRY(hx_opencl_rows_begin(build, key, 2 * (uint64_t)rows * s->digits, &keys));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *table, &table));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *primes, &primes));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)rows * s->digits, sizeof *indices, &indices));
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t row = r % s->extended;
    table[r] = row < s->active ? row / build->ring->digit_run : HX_NONE;
    indices[r] = r / s->extended * s->active + (row < s->active ? row : 0);
    primes[r] = acc->ids[2 * r] = acc->ids[2 * r + 1] = s->ids[row];
  }
  HXS_TRY(hx_opencl_rows_pick(build, x, rows, indices, &own));
  for (uint32_t i = 0; i < rows * s->digits; i++) {
    const uint32_t r = i / s->digits, digit = i % s->digits, row = r % s->extended;
    const uint32_t limb = hxs_view_limb_of(key, s->ids[row]);
    indices[i] = (r / s->extended * s->digits + digit) * s->extended + row;
    for (uint32_t c = 0; c < 2; c++) {
      keys.offsets[2 * i + c] = digit * key->digit_stride + hx_opencl_row_offset(key, 0, c, limb);
    }
  }
  HXS_TRY(hx_opencl_rows_pick(build, &s->raised, rows * s->digits, indices, &values));
  HXS_TRY(hx_opencl_step_add(build, s->last_pass ? HX_OPENCL_KERNEL_REAL_KEY_ROWS : HX_OPENCL_KERNEL_KEY,
                             (uint64_t)rows << log, &step));
  step->args.x = log;
  step->args.count = s->digits;
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_OUT, acc));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_A, &own));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_B, &values));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_C, &keys));
  HXS_TRY(hx_opencl_step_extra(build, step, table, rows * sizeof *table));
  return hx_opencl_step_primes(build, step, primes, rows);
}

int32_t hx_opencl_switch_pick(const hxs_build *build, const hx_opencl_switch_t *s, const hx_opencl_rows_t *acc,
                              uint32_t first_row, uint32_t rows, uint32_t components, hx_opencl_rows_t *out) {
  const uint32_t count = s->items * components * rows;
  uint32_t *indices = NULL;
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *indices, &indices));
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t row = first_row + i % rows, component = i / rows % components, item = i / rows / components;
    indices[i] = (item * s->extended + row) * 2 + component;
  }
  HXS_TRY(hx_opencl_rows_pick(build, acc, count, indices, out));
  for (uint32_t i = 0; i < count; i++) {
    out->ids[i] = s->ids[first_row + i % rows];
  }
  return HX_OK;
}

int32_t hx_opencl_switch_lower(const hxs_build *build, const hx_opencl_switch_t *s, const hx_opencl_rows_t *acc,
                               const hx_opencl_rows_t *add, uint32_t element, const hx_opencl_rows_t *out) {
  hx_opencl_rows_t special, kept;
  HXS_TRY(hx_opencl_switch_pick(build, s, acc, s->active, s->extended - s->active, 2, &special));
  HXS_TRY(hx_opencl_switch_pick(build, s, acc, 0, s->active, 2, &kept));
  return hx_opencl_base_divide(build, &s->lower, 2 * s->items, &special, &kept, add, element, out);
}

// ------------------------------------------------------------------ division by P and by the last active row in one

// What the end of a switch with a rescale works on: polynomials are [items][2]. G is the dropped prime; P^-1, weights
// and offsets of the division by P are the plan's, s->lower.
typedef struct ending {
  const hx_opencl_switch_t *s;
  uint32_t polynomials, special, kept;  // rows of P; rows of Q that stay
  const hxs_modulus *dropped;           // G
  uint64_t half;                        // (G - 1) / 2
  hx_opencl_rows_t gone;                // [polynomials][special + 1], coefficients: P's rows y, then G's
} ending_t;

static uint32_t acc_index(const ending_t *e, uint32_t polynomial, uint32_t row) {
  return (polynomial / 2 * e->s->extended + row) * 2 + polynomial % 2;
}

// G's row becomes acc * P^-1 + add, in ntt domain, in place; then it leaves it together with P's rows, which are times
// (P/p)^-1 and centred.
static int32_t add_gone(const hxs_build *build, ending_t *e, const hx_opencl_rows_t *add) {
  const hx_opencl_switch_t *s = e->s;
  const uint32_t each = e->special + 1, count = e->polynomials * each;
  hx_opencl_rows_t row, plus, from;
  hx_opencl_factor_t *scale = NULL;
  uint64_t *factor = NULL, *offset = NULL;
  uint32_t *indices = NULL, *plus_at = NULL;
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials, 2 * sizeof *scale, &scale));
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *factor, &factor));
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *offset, &offset));
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *indices, &indices));
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials, sizeof *plus_at, &plus_at));
  for (uint32_t i = 0; i < e->polynomials; i++) {
    scale[2 * i] = scale[2 * i + 1] = hx_opencl_factor_of(e->dropped, s->lower.targets[e->kept].scale);
    indices[i] = acc_index(e, i, e->kept);
    plus_at[i] = i * s->active + e->kept;
  }
  HXS_TRY(hx_opencl_rows_pick(build, &s->acc, e->polynomials, indices, &row));
  HXS_TRY(hx_opencl_rows_pick(build, add, e->polynomials, plus_at, &plus));
  HXS_TRY(hx_opencl_step_pointwise(build, HX_OPENCL_DO_SCALE_ADD, &row, &row, &plus, NULL, scale, false));
  HXS_TRY(hx_opencl_rows_scratch(build, count, &e->gone));
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t at = i % each, from_row = at < e->special ? s->active + at : e->kept;
    indices[i] = acc_index(e, i / each, from_row);
    e->gone.ids[i] = s->ids[from_row];
    factor[i] = at < e->special ? s->lower.stage[at].map.weights[0] : 1;
    offset[i] = at < e->special ? s->lower.stage[at].map.start : 0;
  }
  HXS_TRY(hx_opencl_rows_pick(build, &s->acc, count, indices, &from));
  return hx_opencl_steps_backward(build, &e->gone, &from, factor, offset);
}

// G's row minus the conversion of P's rows times P^-1, centred by its offset; in place.
static int32_t add_dropped(const hxs_build *build, const ending_t *e) {
  const hxs_affine *map = &e->s->lower.targets[e->kept].map;
  const uint32_t each = e->special + 1;
  const hx_opencl_target_t target = {.prime = e->s->ids[e->kept],
                                     .kind = HX_OPENCL_TARGET_DIVIDE,
                                     .start = hxs_add_mod(e->dropped, map->start, e->half),
                                     .factor = 1};
  uint32_t *special = NULL, *dropped = NULL;
  hx_opencl_rows_t y, x;
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials * e->special, sizeof *special, &special));
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials, sizeof *dropped, &dropped));
  for (uint32_t i = 0; i < e->polynomials; i++) {
    for (uint32_t p = 0; p < e->special; p++) {
      special[i * e->special + p] = i * each + p;
    }
    dropped[i] = i * each + e->special;
  }
  HXS_TRY(hx_opencl_rows_pick(build, &e->gone, e->polynomials * e->special, special, &y));
  HXS_TRY(hx_opencl_rows_pick(build, &e->gone, e->polynomials, dropped, &x));
  return hx_opencl_step_convert(build, &x, &y, &x, e->polynomials, e->special, 1, 1, &target, map->weights);
}

// What is taken off every kept row: (c * P^-1 + r) * G^-1 with c the conversion of P's rows, r the centred row of G.
static int32_t add_taken(const hxs_build *build, const ending_t *e, hx_opencl_rows_t *taken) {
  const hx_opencl_switch_t *s = e->s;
  const uint32_t each = e->special + 1;
  hx_opencl_target_t *plan = NULL;
  uint64_t *weights = NULL;
  HXS_TRY(hx_opencl_rows_scratch(build, e->polynomials * e->kept, taken));
  HXS_TRY(hxs_keep_or_fail(build, e->kept, sizeof *plan, &plan));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)e->kept * each, sizeof *weights, &weights));
  for (uint32_t i = 0; i < taken->count; i++) {
    taken->ids[i] = s->ids[i % e->kept];
  }
  for (uint32_t t = 0; t < e->kept; t++) {
    const hxs_modulus *m = hx_opencl_modulus(build, s->ids[t]);
    const hxs_affine *map = &s->lower.targets[t].map;
    const uint64_t inverse = hxs_inverse_mod(m, e->dropped->q % m->q);
    const uint64_t start = hxs_add_mod(m, map->start, e->half % m->q);
    plan[t] = (hx_opencl_target_t){
        .prime = s->ids[t], .kind = HX_OPENCL_TARGET_CONVERT, .start = hxs_mul_mod(m, start, inverse)};
    for (uint32_t p = 0; p < e->special; p++) {
      weights[(size_t)t * each + p] = hxs_mul_mod(m, map->weights[p], inverse);
    }
    weights[(size_t)t * each + e->special] = hxs_neg_mod(m, inverse);
  }
  return hx_opencl_step_convert(build, taken, &e->gone, NULL, e->polynomials, each, e->kept, 1, plan, weights);
}

int32_t hx_opencl_switch_lower_rescaled(const hxs_build *build, const hx_opencl_switch_t *s,
                                        const hx_opencl_rows_t *add, const hx_opencl_rows_t *out) {
  const hxs_modulus *dropped = hx_opencl_modulus(build, s->ids[s->active - 1]);
  ending_t e = {.s = s,
                .polynomials = 2 * s->items,
                .special = s->extended - s->active,
                .kept = s->active - 1,
                .dropped = dropped,
                .half = (dropped->q - 1) / 2};
  hx_opencl_rows_t taken, kept, plus;
  hx_opencl_factor_t *scale = NULL;
  uint32_t *from = NULL, *plus_at = NULL;
  HXS_TRY(add_gone(build, &e, add));
  HXS_TRY(add_dropped(build, &e));
  HXS_TRY(add_taken(build, &e, &taken));
  HXS_TRY(hxs_keep_or_fail(build, taken.count, 2 * sizeof *scale, &scale));
  HXS_TRY(hxs_keep_or_fail(build, taken.count, sizeof *from, &from));
  HXS_TRY(hxs_keep_or_fail(build, taken.count, sizeof *plus_at, &plus_at));
  for (uint32_t i = 0; i < taken.count; i++) {
    const uint32_t row = i % e.kept;
    const hxs_modulus *m = hx_opencl_modulus(build, s->ids[row]);
    const uint64_t inverse = hxs_inverse_mod(m, dropped->q % m->q);
    from[i] = acc_index(&e, i / e.kept, row);
    plus_at[i] = i / e.kept * s->active + row;
    scale[2 * i] = hx_opencl_factor_of(m, hxs_mul_mod(m, s->lower.targets[row].scale, inverse));
    scale[2 * i + 1] = hx_opencl_factor_of(m, inverse);
    out->ids[i] = s->ids[row];
  }
  HXS_TRY(hx_opencl_rows_pick(build, &s->acc, taken.count, from, &kept));
  HXS_TRY(hx_opencl_rows_pick(build, add, taken.count, plus_at, &plus));
  const hx_opencl_end_t end = {.b = &kept, .c = &plus, .middle = &taken, .scale = scale};
  return hx_opencl_steps_forward(build, out, &taken, &end);
}
