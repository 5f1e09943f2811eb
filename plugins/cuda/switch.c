// SPDX-License-Identifier: Apache-2.0
#include "switch.h"

#include <string.h>

#include "heliox/support/accept.h"

static uint64_t prime_of(const hxs_build *build, uint32_t id) { return hx_cuda_modulus_of(build, id)->q; }
static uint64_t half_of(const hxs_build *build, uint32_t id) { return (hx_cuda_modulus_of(build, id)->q - 1) / 2; }

int32_t hx_cuda_switch_begin(hxs_build *build, uint64_t items, uint32_t active, hx_cuda_switch_t *out) {
  const hxs_ring *t = build->ring;
  *out = (hx_cuda_switch_t){.items = (uint32_t)items,
                            .active = active,
                            .extended = active + t->p_count,
                            .digits = (active + t->digit_run - 1) / t->digit_run,
                            .element = 1};
  if (t->p_count == 0) {
    return hxs_refuse(build, HX_INVALID, "the ring has no special primes P, so it has no switching keys");
  }
  HXS_TRY(hxs_keep_or_fail(build, out->extended, sizeof *out->ids, &out->ids));
  for (uint32_t i = 0; i < out->extended; i++) {
    out->ids[i] = i < active ? i : t->q_count + i - active;
  }
  return HX_OK;
}

int32_t hx_cuda_switch_key(hxs_build *build, hx_cuda_switch_t *s, uint32_t operand) {
  HXS_TRY(hxs_accept_key(build, operand, s->digits, s->extended, s->ids, &s->key_limbs));
  s->key = &build->prepared->operands[operand];
  return HX_OK;
}

// Rows of scratch memory that all switches of the operation share: steps run in order.
static int32_t scratch_once(const hxs_build *build, uint32_t count, hx_cuda_rows_t *rows) {
  return rows->count == count ? HX_OK : hx_cuda_rows_scratch(build, count, rows);
}

// Ids first .. first + count - 1 of a digit or of P, but one, multiplied mod a prime.
static uint64_t product_but(const hxs_build *build, const uint32_t *ids, uint32_t count, uint32_t but,
                            const hxs_modulus *m) {
  uint64_t product = 1;
  for (uint32_t i = 0; i < count; i++) {
    if (i != but) {
      product = hxs_mul_mod(m, product, prime_of(build, ids[i]) % m->q);
    }
  }
  return product;
}

uint64_t hx_cuda_switch_special(const hxs_build *build, const hx_cuda_switch_t *s, uint32_t row) {
  const uint32_t count = build->ring->p_count;
  return product_but(build, s->ids + s->active, count, count, hx_cuda_modulus_of(build, s->ids[row]));
}

static uint32_t digit_size(const hxs_build *build, const hx_cuda_switch_t *s, uint32_t digit) {
  const uint32_t run = build->ring->digit_run, left = s->active - digit * run;
  return left < run ? left : run;
}

// y: every active row out of ntt domain, times its digit's constant, centred.
static int32_t add_digits(hxs_build *build, hx_cuda_switch_t *s) {
  hx_cuda_rows_t *y = &s->y;
  const uint32_t run = build->ring->digit_run;
  uint64_t *factor = NULL, *add = NULL;
  HXS_TRY(scratch_once(build, s->items * s->active, y));
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *factor, &factor));
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *add, &add));
  for (uint32_t i = 0; i < y->count; i++) {
    const uint32_t limb = i % s->active, digit = limb / run, first = digit * run;
    const hxs_modulus *m = hx_cuda_modulus_of(build, s->ids[limb]);
    y->ids[i] = s->ids[limb];
    const uint64_t rest = product_but(build, s->ids + first, digit_size(build, s, digit), limb - first, m);
    factor[i] = hxs_inverse_mod(m, rest);
    add[i] = half_of(build, s->ids[limb]);
  }
  return hx_cuda_steps_backward(build, y, &s->x, factor, add);
}

// One target of a conversion from `ids`: weights (D/d) times `scale`, and what the centring offsets add taken off.
static void fill_target(const hxs_build *build, const uint32_t *ids, uint32_t count, uint32_t prime, uint64_t scale,
                        hx_cuda_target_t *target, uint64_t *weights) {
  const hxs_modulus *m = hx_cuda_modulus_of(build, prime);
  *target = (hx_cuda_target_t){.prime = prime, .kind = HX_CUDA_TARGET_CONVERT};
  for (uint32_t i = 0; i < count; i++) {
    weights[i] = hxs_mul_mod(m, product_but(build, ids, count, i, m), scale);
    const uint64_t offset = hxs_mul_mod(m, half_of(build, ids[i]) % m->q, weights[i]);
    target->start = hxs_add_mod(m, target->start, hxs_neg_mod(m, offset));
  }
}

// Whether the last kernel of the raised rows' transforms is left to the key kernel.
static bool leaves_rows(const hxs_build *build, const hx_cuda_switch_t *s) {
  return !s->whole && hx_cuda_takes_real(build, s->ids, s->extended);
}

// raised: [items][digits][extended]; a digit's own rows are not written. On the real path their transforms lack the
// last kernel, which is the key kernel's.
static int32_t add_raised(hxs_build *build, hx_cuda_switch_t *s) {
  const hx_cuda_rows_t *y = &s->y;
  hx_cuda_rows_t *raised = &s->raised;
  const uint32_t run = build->ring->digit_run, polynomials = s->items * s->digits, rows = s->digits * s->extended;
  hx_cuda_rows_t stage, moved;
  hx_cuda_target_t *plan = NULL;
  uint64_t *weights = NULL;
  uint32_t *indices = NULL, count = 0;
  HXS_TRY(scratch_once(build, polynomials * s->extended, raised));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *plan, &plan));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)rows * run, sizeof *weights, &weights));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)polynomials * (run + s->extended), sizeof *indices, &indices));
  for (uint32_t i = 0; i < polynomials * run; i++) {  // a short digit repeats its first row, with weight 0
    const uint32_t digit = i / run % s->digits, at = i % run < digit_size(build, s, digit) ? i % run : 0;
    indices[i] = i / run / s->digits * s->active + digit * run + at;
  }
  HXS_TRY(hx_cuda_rows_pick(build, y, polynomials * run, indices, &stage));
  for (uint32_t i = 0; i < polynomials * s->extended; i++) {
    const uint32_t digit = i / s->extended % s->digits, row = i % s->extended, plan_at = i % rows;
    const bool own = row < s->active && row / run == digit;
    raised->ids[i] = s->ids[row];
    if (!own) {
      indices[count++] = i;
    }
    if (i < rows && !own) {
      fill_target(build, s->ids + digit * run, digit_size(build, s, digit), s->ids[row], 1, &plan[plan_at],
                  weights + (size_t)plan_at * run);
    } else if (i < rows) {
      plan[plan_at] = (hx_cuda_target_t){.prime = s->ids[row], .kind = HX_CUDA_TARGET_SKIP};
    }
  }
  HXS_TRY(hx_cuda_step_convert(build, raised, &stage, NULL, polynomials, run, s->extended, s->digits, plan, weights));
  HXS_TRY(hx_cuda_rows_pick(build, raised, count, indices, &moved));
  return leaves_rows(build, s) ? hx_cuda_steps_columns(build, &moved, &moved)
                               : hx_cuda_steps_forward(build, &moved, &moved, NULL);
}

int32_t hx_cuda_switch_raise(hxs_build *build, hx_cuda_switch_t *s) {
  HXS_TRY(add_digits(build, s));
  return add_raised(build, s);
}

int32_t hx_cuda_switch_even(const hxs_build *build, const hx_cuda_rows_t *rows) {
  for (uint32_t i = 0; i < rows->count; i++) {
    if (rows->offsets[i] % 2 != 0) {
      return hxs_refuse(build, HX_UNSUPPORTED,
                        "a row lies %llu elements from its tensor's start; cuda takes even strides",
                        (unsigned long long)rows->offsets[i]);
    }
  }
  return HX_OK;
}

int32_t hx_cuda_switch_key_rows(const hxs_build *build, const hx_cuda_switch_t *s, hx_cuda_rows_t *out) {
  const uint32_t rows = s->items * s->extended;
  HXS_TRY(hx_cuda_rows_begin(build, s->key, 2 * rows * s->digits, out));
  for (uint32_t i = 0; i < out->count; i++) {
    const uint32_t digit = i / 2 % s->digits, row = i / 2 / s->digits % s->extended;
    out->offsets[i] = digit * s->key->digit_stride + hx_cuda_row_offset(s->key, 0, i % 2, s->key_limbs[row]);
  }
  return hx_cuda_switch_even(build, out);
}

int32_t hx_cuda_switch_digit_rows(hxs_build *build, const hx_cuda_switch_t *s, hx_cuda_rows_t *own,
                                  hx_cuda_rows_t *values) {
  const uint32_t rows = s->items * s->extended;
  uint32_t *indices = NULL;
  HXS_TRY(hxs_keep_or_fail(build, (size_t)rows * s->digits, sizeof *indices, &indices));
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t row = r % s->extended;
    indices[r] = r / s->extended * s->active + (row < s->active ? row : 0);
  }
  HXS_TRY(hx_cuda_rows_pick(build, &s->x, rows, indices, own));
  for (uint32_t i = 0; i < rows * s->digits; i++) {
    const uint32_t r = i / s->digits, digit = i % s->digits;
    indices[i] = (r / s->extended * s->digits + digit) * s->extended + r % s->extended;
  }
  HXS_TRY(hx_cuda_rows_pick(build, &s->raised, rows * s->digits, indices, values));
  return hx_cuda_switch_even(build, own);
}

int32_t hx_cuda_switch_products(hxs_build *build, hx_cuda_switch_t *s) {
  const uint32_t run = build->ring->digit_run, rows = s->items * s->extended;
  const bool with_rows = leaves_rows(build, s);
  const uint32_t log = hx_cuda_log_blocks(build, with_rows ? 2048 : 512);
  hx_cuda_rows_t *acc = &s->acc, own, values, keys;
  uint32_t *table = NULL, *primes = NULL;
  HXS_TRY(scratch_once(build, 2 * rows, acc));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *table, &table));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *primes, &primes));
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t row = r % s->extended;
    table[r] = row < s->active ? row / run : HX_NONE;
    primes[r] = acc->ids[2 * r] = acc->ids[2 * r + 1] = s->ids[row];
  }
  HXS_TRY(hx_cuda_switch_key_rows(build, s, &keys));
  HXS_TRY(hx_cuda_switch_digit_rows(build, s, &own, &values));
  hx_cuda_step_t *step =
      hx_cuda_step_add(build, with_rows ? HX_CUDA_KERNEL_KEY_ROWS : HX_CUDA_KERNEL_KEY, (uint64_t)rows << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->shared = with_rows ? 17408 : 0;
  step->args.x = log;
  step->args.count = s->digits;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, acc));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &own));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, &values));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_C, &keys));
  HXS_TRY(hx_cuda_step_extra(build, step, table, rows * sizeof *table));
  return hx_cuda_step_primes(build, step, primes, rows);
}

// What the end of a switch works on: polynomials are [items][2].
typedef struct ending {
  hx_cuda_switch_t *s;
  uint32_t polynomials, special, kept, dropped;  // rows of P; kept of Q_d; dropped with P: 0 or 1
  uint64_t *inverse;                             // [active]: P^-1
} ending_t;

static uint32_t acc_index(const ending_t *e, uint32_t polynomial, uint32_t row) {
  return (polynomial / 2 * e->s->extended + row) * 2 + polynomial % 2;
}

// The row that is dropped beside P's: acc * P^-1 plus what is added, in ntt domain, in place.
static int32_t add_group_row(hxs_build *build, const ending_t *e) {
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
      if ((s->add.offsets[i * s->active + last] == HX_CUDA_NO_ROW) == (absent == 1)) {
        from[count] = acc_index(e, i, last);
        plus[count++] = i * s->active + last;
      }
    }
    HXS_TRY(hx_cuda_rows_pick(build, &s->acc, count, from, &row));
    HXS_TRY(hx_cuda_rows_pick(build, &s->add, count, plus, &add));
    for (uint32_t i = 0; i < count; i++) {
      halves[2 * i + 1] = halves[2 * i];
    }
    HXS_TRY(hx_cuda_step_pointwise(build, absent ? HX_CUDA_DO_SCALE : HX_CUDA_DO_SCALE_ADD, &row, &row,
                                   absent ? NULL : &add, NULL, halves, false));
  }
  return HX_OK;
}

// P's rows times (P/p)^-1 and centred; the group's row as it is.
static int32_t add_gone(hxs_build *build, const ending_t *e) {
  hx_cuda_switch_t *s = e->s;
  const uint32_t each = e->special + e->dropped;
  uint64_t *factor = NULL, *add = NULL;
  uint32_t *indices = NULL;
  hx_cuda_rows_t from;
  HXS_TRY(scratch_once(build, e->polynomials * each, &s->gone));
  HXS_TRY(hxs_keep_or_fail(build, s->gone.count, sizeof *factor, &factor));
  HXS_TRY(hxs_keep_or_fail(build, s->gone.count, sizeof *add, &add));
  HXS_TRY(hxs_keep_or_fail(build, s->gone.count, sizeof *indices, &indices));
  for (uint32_t i = 0; i < s->gone.count; i++) {
    const uint32_t at = i % each, row = at < e->special ? s->active + at : s->active - 1, id = s->ids[row];
    const hxs_modulus *m = hx_cuda_modulus_of(build, id);
    indices[i] = acc_index(e, i / each, row);
    s->gone.ids[i] = id;
    factor[i] = at == e->special ? 1 : hxs_inverse_mod(m, product_but(build, s->ids + s->active, e->special, at, m));
    add[i] = at == e->special ? 0 : half_of(build, id);
  }
  HXS_TRY(hx_cuda_rows_pick(build, &s->acc, s->gone.count, indices, &from));
  return hx_cuda_steps_backward(build, &s->gone, &from, factor, add);
}

// The group's row: r = x - c * P^-1, centred by its offset, where c is the conversion of P's rows; in place.
static int32_t add_group_rest(hxs_build *build, const ending_t *e) {
  const hx_cuda_switch_t *s = e->s;
  const uint32_t id = s->ids[s->active - 1], each = e->special + 1;
  const hxs_modulus *m = hx_cuda_modulus_of(build, id);
  uint64_t *weights = NULL;
  uint32_t *special = NULL, *group = NULL;
  hx_cuda_target_t target;
  hx_cuda_rows_t y, x;
  HXS_TRY(hxs_keep_or_fail(build, e->special, sizeof *weights, &weights));
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials * e->special, sizeof *special, &special));
  HXS_TRY(hxs_keep_or_fail(build, e->polynomials, sizeof *group, &group));
  fill_target(build, s->ids + s->active, e->special, id, hxs_neg_mod(m, e->inverse[s->active - 1]), &target, weights);
  target.kind = HX_CUDA_TARGET_DIVIDE;
  target.factor = 1;
  target.start = hxs_add_mod(m, target.start, half_of(build, id));
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

// What is taken off every kept row: c * P^-1, and with a group (c * P^-1 + r) * G^-1; coefficients.
static int32_t add_taken(hxs_build *build, const ending_t *e) {
  hx_cuda_switch_t *s = e->s;
  hx_cuda_rows_t *taken = &s->taken;
  const uint32_t each = e->special + e->dropped;
  hx_cuda_target_t *plan = NULL;
  uint64_t *weights = NULL;
  HXS_TRY(scratch_once(build, e->polynomials * e->kept, taken));
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
    fill_target(build, s->ids + s->active, e->special, s->ids[t], scale, &plan[t], weights + (size_t)t * each);
    if (e->dropped > 0) {
      const uint64_t offset = hxs_mul_mod(m, half_of(build, s->ids[s->active - 1]) % m->q, group);
      weights[(size_t)t * each + e->special] = hxs_neg_mod(m, group);
      plan[t].start = hxs_add_mod(m, plan[t].start, offset);
    }
  }
  return hx_cuda_step_convert(build, taken, &s->gone, NULL, e->polynomials, each, e->kept, 1, plan, weights);
}

// out = ntt(taken) + acc * (P G)^-1 + add * G^-1, under the Galois element.
static int32_t add_results(hxs_build *build, const ending_t *e) {
  const hx_cuda_switch_t *s = e->s;
  const hx_cuda_rows_t *taken = &s->taken;
  hx_cuda_factor_t *scale = NULL;
  uint32_t *from = NULL, *plus = NULL;
  hx_cuda_rows_t acc, add, out = s->out;
  HXS_TRY(hxs_keep_or_fail(build, taken->count, 2 * sizeof *scale, &scale));
  HXS_TRY(hxs_keep_or_fail(build, taken->count, sizeof *from, &from));
  HXS_TRY(hxs_keep_or_fail(build, taken->count, sizeof *plus, &plus));
  for (uint32_t i = 0; i < taken->count; i++) {
    const uint32_t row = i % e->kept;
    const hxs_modulus *m = hx_cuda_modulus_of(build, s->ids[row]);
    const uint64_t group = e->dropped > 0 ? hxs_inverse_mod(m, prime_of(build, s->ids[s->active - 1]) % m->q) : 1;
    from[i] = acc_index(e, i / e->kept, row);
    plus[i] = i / e->kept * s->active + row;
    scale[2 * i] = hx_cuda_factor_of(m, hxs_mul_mod(m, e->inverse[row], group));
    scale[2 * i + 1] = hx_cuda_factor_of(m, group);
    out.ids[i] = s->ids[row];
  }
  HXS_TRY(hx_cuda_rows_pick(build, &s->acc, taken->count, from, &acc));
  HXS_TRY(hx_cuda_rows_pick(build, &s->add, taken->count, plus, &add));
  uint32_t inverse = s->element;  // mod 2^32, so mod 2n too; right in 3 bits, every step doubles them
  for (int i = 0; i < 4; i++) {
    inverse *= 2 - s->element * inverse;
  }
  const hx_cuda_end_t end = {.b = &acc,
                             .c = &add,
                             .middle = taken,
                             .scale = scale,
                             .element = s->element == 1 ? 0 : inverse & ((2u << build->prepared->log_n) - 1)};
  return hx_cuda_steps_forward(build, &out, taken, &end);
}

int32_t hx_cuda_switch_lower(hxs_build *build, hx_cuda_switch_t *s) {
  const uint32_t special = build->ring->p_count;
  ending_t e = {.s = s,
                .polynomials = 2 * s->items,
                .special = special,
                .kept = s->active - (s->rescaled ? 1 : 0),
                .dropped = s->rescaled ? 1 : 0};
  HXS_TRY(hxs_keep_or_fail(build, s->active, sizeof *e.inverse, &e.inverse));
  for (uint32_t i = 0; i < s->active; i++) {
    const hxs_modulus *m = hx_cuda_modulus_of(build, s->ids[i]);
    e.inverse[i] = hxs_inverse_mod(m, hx_cuda_switch_special(build, s, i));
  }
  if (s->rescaled) {
    HXS_TRY(add_group_row(build, &e));
  }
  HXS_TRY(add_gone(build, &e));
  if (s->rescaled) {
    HXS_TRY(add_group_rest(build, &e));
  }
  HXS_TRY(add_taken(build, &e));
  return add_results(build, &e);
}

int32_t hx_cuda_switch_steps(hxs_build *build, hx_cuda_switch_t *s) {
  HXS_TRY(hx_cuda_switch_raise(build, s));
  HXS_TRY(hx_cuda_switch_products(build, s));
  return hx_cuda_switch_lower(build, s);
}
