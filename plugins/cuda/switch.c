// SPDX-License-Identifier: Apache-2.0
#include "switch_end.h"

#include <string.h>

#include "heliox/support/accept.h"

static uint64_t prime_of(const hxs_build *build, uint32_t id) { return hx_cuda_modulus_of(build, id)->q; }

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
int32_t hx_cuda_switch_scratch(const hxs_build *build, uint32_t count, hx_cuda_rows_t *rows) {
  return rows->count == count ? HX_OK : hx_cuda_rows_scratch(build, count, rows);
}

// Ids first .. first + count - 1 of a digit or of P, but one, multiplied mod a prime.
uint64_t hx_cuda_switch_product_but(const hxs_build *build, const uint32_t *ids, uint32_t count, uint32_t but,
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
  return hx_cuda_switch_product_but(build, s->ids + s->active, count, count, hx_cuda_modulus_of(build, s->ids[row]));
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
  HXS_TRY(hx_cuda_switch_scratch(build, s->items * s->active, y));
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *factor, &factor));
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *add, &add));
  for (uint32_t i = 0; i < y->count; i++) {
    const uint32_t limb = i % s->active, digit = limb / run, first = digit * run;
    const hxs_modulus *m = hx_cuda_modulus_of(build, s->ids[limb]);
    y->ids[i] = s->ids[limb];
    const uint64_t rest =
        hx_cuda_switch_product_but(build, s->ids + first, digit_size(build, s, digit), limb - first, m);
    factor[i] = hxs_inverse_mod(m, rest);
    add[i] = hx_cuda_half_of(build, s->ids[limb]);
  }
  return s->x_of[0].count > 0 ? hx_cuda_steps_backward_product(build, y, &s->x_of[0], &s->x_of[1], &s->x, factor, add)
                              : hx_cuda_steps_backward(build, y, &s->x, factor, add);
}

// One target of a conversion from `ids`: weights (D/d) times `scale`, and what the centring offsets add taken off.
void hx_cuda_switch_target(const hxs_build *build, const uint32_t *ids, uint32_t count, uint32_t prime, uint64_t scale,
                           hx_cuda_target_t *target, uint64_t *weights) {
  const hxs_modulus *m = hx_cuda_modulus_of(build, prime);
  *target = (hx_cuda_target_t){.prime = prime, .kind = HX_CUDA_TARGET_CONVERT};
  for (uint32_t i = 0; i < count; i++) {
    weights[i] = hxs_mul_mod(m, hx_cuda_switch_product_but(build, ids, count, i, m), scale);
    const uint64_t offset = hxs_mul_mod(m, hx_cuda_half_of(build, ids[i]) % m->q, weights[i]);
    target->start = hxs_add_mod(m, target->start, hxs_neg_mod(m, offset));
  }
}

bool hx_cuda_switch_is_real(const hxs_build *build, const hx_cuda_switch_t *s) {
  return hx_cuda_takes_real(build, s->ids, s->extended);
}

// Whether the last kernel of the raised rows' transforms is left to the key kernel.
static bool leaves_rows(const hxs_build *build, const hx_cuda_switch_t *s) {
  return !s->whole && (hx_cuda_switch_is_real(build, s) || hx_cuda_takes_words(build));
}

// raised: [items][digits][extended]; a digit's own rows are not written. On the paths of reals and of words their
// transforms lack the last kernel, which is the key kernel's.
static int32_t add_raised(hxs_build *build, hx_cuda_switch_t *s) {
  const hx_cuda_rows_t *y = &s->y;
  hx_cuda_rows_t *raised = &s->raised;
  const uint32_t run = build->ring->digit_run, polynomials = s->items * s->digits, rows = s->digits * s->extended;
  hx_cuda_rows_t stage, moved;
  hx_cuda_target_t *plan = NULL;
  uint64_t *weights = NULL;
  uint32_t *indices = NULL, count = 0;
  HXS_TRY(hx_cuda_switch_scratch(build, polynomials * s->extended, raised));
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
      hx_cuda_switch_target(build, s->ids + digit * run, digit_size(build, s, digit), s->ids[row], 1, &plan[plan_at],
                            weights + (size_t)plan_at * run);
    } else if (i < rows) {
      plan[plan_at] = (hx_cuda_target_t){.prime = s->ids[row], .kind = HX_CUDA_TARGET_SKIP};
    }
  }
  HXS_TRY(hx_cuda_rows_pick(build, raised, count, indices, &moved));
  const hx_cuda_raise_t raise = {.out = raised,
                                 .y = &stage,
                                 .polynomials = polynomials,
                                 .stages = run,
                                 .targets = s->extended,
                                 .plans = s->digits,
                                 .plan = plan,
                                 .weights = weights};
  if (hx_cuda_switch_is_real(build, s) && hx_cuda_can_raise(build, &raise)) {
    HXS_TRY(hx_cuda_step_raise(build, &raise));
    return s->whole ? hx_cuda_steps_rows(build, &moved) : HX_OK;
  }
  HXS_TRY(hx_cuda_step_convert(build, raised, &stage, NULL, polynomials, run, s->extended, s->digits, plan, weights));
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

uint32_t hx_cuda_switch_acc_index(const hx_cuda_ending_t *e, uint32_t polynomial, uint32_t row) {
  return (polynomial / 2 * e->s->extended + row) * 2 + polynomial % 2;
}

// Place in `gone` of a row of a polynomial, HX_NONE where it stays.
uint32_t hx_cuda_switch_gone_index(const hx_cuda_ending_t *e, uint32_t polynomial, uint32_t row) {
  const uint32_t each = e->special + e->dropped, active = e->s->active;
  if (row >= active) {
    return polynomial * each + row - active;
  }
  return e->dropped == 1 && row == active - 1 ? polynomial * each + e->special : HX_NONE;
}

int32_t hx_cuda_switch_begin_ending(hxs_build *build, hx_cuda_switch_t *s, hx_cuda_ending_t *e) {
  const uint32_t special = build->ring->p_count;
  *e = (hx_cuda_ending_t){.s = s,
                          .polynomials = 2 * s->items,
                          .special = special,
                          .kept = s->active - (s->rescaled ? 1 : 0),
                          .dropped = s->rescaled ? 1 : 0};
  HXS_TRY(hxs_keep_or_fail(build, s->active, sizeof *e->inverse, &e->inverse));
  for (uint32_t i = 0; i < s->active; i++) {
    const hxs_modulus *m = hx_cuda_modulus_of(build, s->ids[i]);
    e->inverse[i] = hxs_inverse_mod(m, hx_cuda_switch_special(build, s, i));
  }
  HXS_TRY(hx_cuda_switch_scratch(build, e->polynomials * (special + e->dropped), &s->gone));
  for (uint32_t i = 0; i < e->polynomials; i++) {
    for (uint32_t row = 0; row < s->extended; row++) {
      const uint32_t at = hx_cuda_switch_gone_index(e, i, row);
      if (at != HX_NONE) {
        s->gone.ids[at] = s->ids[row];
      }
    }
  }
  return HX_OK;
}

// The real kernel's constants; rows that go are written to their places among the others that go.
static int32_t fill_key_rows(hxs_build *build, hx_cuda_step_t *step, hx_cuda_switch_t *s) {
  const uint32_t rows = s->items * s->extended;
  const uint32_t run = build->ring->digit_run;
  hx_cuda_key_row_t *to = NULL;
  uint32_t *indices = NULL;
  hx_cuda_rows_t out;
  hx_cuda_addend_t add = {.count = s->rescaled ? s->add.count : 0};
  hx_cuda_ending_t e;
  HXS_TRY(hx_cuda_switch_begin_ending(build, s, &e));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *to, &to));
  HXS_TRY(hxs_keep_or_fail(build, 2 * (size_t)rows, sizeof *indices, &indices));
  HXS_TRY(hx_cuda_rows_begin(build, NULL, 2 * rows, &out));
  out.memory = HX_CUDA_SCRATCH;
  for (uint32_t i = 0; i < 2 * rows; i++) {
    const uint32_t r = i / 2, row = r % s->extended, polynomial = r / s->extended * 2 + i % 2;
    const uint32_t gone = hx_cuda_switch_gone_index(&e, polynomial, row);
    out.offsets[i] = gone == HX_NONE ? s->acc.offsets[2 * r + i % 2] : s->gone.offsets[gone];
    to[i / 2].own = row < s->active ? row / run : HX_NONE;
    to[i / 2].kind = gone == HX_NONE ? HX_CUDA_KEY_SUM : row < s->active ? HX_CUDA_KEY_DIVIDED : HX_CUDA_KEY_BACK;
    to[i / 2].scale = row < s->active ? e.inverse[row] : 0;
    indices[i] = polynomial * s->active + (row < s->active ? row : 0);
  }
  for (uint32_t i = 0; i < add.count; i++) {
    HXS_TRY(hx_cuda_rows_pick(build, &s->add.rows[i], 2 * rows, indices, &add.rows[i]));
  }
  s->begun = true;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &out));
  HXS_TRY(hx_cuda_step_addend(build, step, &add));
  return hx_cuda_step_extra(build, step, to, rows * sizeof *to);
}

// The integer kernels': results, and the digit that each row belongs to.
static int32_t fill_key_sums(hxs_build *build, hx_cuda_step_t *step, const hx_cuda_switch_t *s) {
  const uint32_t rows = s->items * s->extended;
  uint32_t *table = NULL;
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *table, &table));
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t row = r % s->extended;
    table[r] = row < s->active ? row / build->ring->digit_run : HX_NONE;
  }
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &s->acc));
  return hx_cuda_step_extra(build, step, table, rows * sizeof *table);
}

int32_t hx_cuda_switch_products(hxs_build *build, hx_cuda_switch_t *s) {
  static const struct {
    hx_cuda_kernel_t kernel;
    uint32_t block, shared;
  } kinds[] = {{HX_CUDA_KERNEL_KEY, 512, 0},
               {HX_CUDA_KERNEL_KEY_ROWS, 256 * HX_CUDA_KEY_CHUNKS, HX_CUDA_KEY_SHARED},
               {HX_CUDA_KERNEL_WORD_KEY_ROWS, 2048, HX_CUDA_WORD_KEY_SHARED}};
  const bool real = hx_cuda_switch_is_real(build, s);
  const uint32_t kind = !leaves_rows(build, s) ? 0 : real ? 1 : 2;
  const uint32_t log = hx_cuda_log_blocks(build, kinds[kind].block);
  hx_cuda_rows_t *acc = &s->acc, own, values, keys;
  const uint32_t rows = s->items * s->extended;
  uint32_t *primes = NULL;
  HXS_TRY(hx_cuda_switch_scratch(build, 2 * rows, acc));
  for (uint32_t i = 0; i < acc->count; i++) {
    acc->ids[i] = s->ids[i / 2 % s->extended];
  }
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *primes, &primes));
  for (uint32_t i = 0; i < rows; i++) {
    primes[i] = s->ids[i % s->extended];
  }
  HXS_TRY(hx_cuda_switch_key_rows(build, s, &keys));
  HXS_TRY(hx_cuda_switch_digit_rows(build, s, &own, &values));
  hx_cuda_step_t *step = hx_cuda_step_add(build, kinds[kind].kernel, (uint64_t)rows << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->shared = kinds[kind].shared;
  step->args.x = log;
  step->args.count = s->digits;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &own));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, &values));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_C, &keys));
  s->begun = false;
  HXS_TRY(kind == 1 ? fill_key_rows(build, step, s) : fill_key_sums(build, step, s));
  return hx_cuda_step_primes(build, step, primes, rows);
}

int32_t hx_cuda_switch_steps(hxs_build *build, hx_cuda_switch_t *s) {
  HXS_TRY(hx_cuda_switch_raise(build, s));
  HXS_TRY(hx_cuda_switch_products(build, s));
  return hx_cuda_switch_lower(build, s);
}
