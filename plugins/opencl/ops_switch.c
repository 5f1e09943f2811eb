// SPDX-License-Identifier: Apache-2.0
// Whole operations with a switching key, and rescale, ntt domain to ntt domain; chains of them prepared as one.
//
//   y       = the digits' coefficients, times (D_j/d)^-1 and centred      one inverse transform
//   raised  = their conversion to all other primes, in ntt domain         conversion, forward transform
//   acc     = sum over digits of raised (or own) rows times the key       one kernel
//   result  = acc / P, nearest, plus what is added                        inverse of P's rows, conversion, forward
#include <string.h>

#include "base.h"
#include "ops.h"

typedef struct switching {
  uint32_t items, active, extended, digits, run;
  uint32_t *ids;  // [extended]: Q_d, P
  const hxs_view *key;
  hxs_base *raise;       // [digits]
  hx_opencl_rows_t x;    // [items][active]: the polynomial that is switched
  hx_opencl_rows_t add;  // [items][2][active]: what is added; HX_OPENCL_NO_ROW: nothing
  hx_opencl_rows_t out;  // [items][2][active]
  uint32_t element;      // Galois element of the result, 1: none
} switching_t;

// Reads `key` as a switching key for polynomials on the first `active` primes; the rows are to be filled in.
static int32_t begin(hxs_build *build, const hxs_view *key, uint64_t items, uint32_t active, switching_t *out) {
  const hxs_ring *ring = build->ring;
  *out = (switching_t){.items = (uint32_t)items,
                       .active = active,
                       .extended = active + ring->p_count,
                       .digits = (active + ring->digit_run - 1) / ring->digit_run,
                       .run = ring->digit_run < active ? ring->digit_run : active,
                       .key = key,
                       .element = 1};
  if (ring->p_count == 0) {
    return hxs_refuse(build, HX_INVALID, "the ring has no special primes P, so it has no switching keys");
  }
  if (!hxs_view_is_residue(key) || key->batch_rank != 0 || key->components != 2 || key->domain != HX_NTT ||
      key->repr != HX_STANDARD || key->digits < out->digits) {
    return hxs_refuse(build, HX_INVALID,
                      "operand %u has dtype %u, %u batch axes, %u components and %u digits; a key here has residues "
                      "in ntt domain, no batch, 2 components and at least %u digits",
                      key->index, key->dtype, key->batch_rank, key->components, key->digits, out->digits);
  }
  HXS_TRY(hxs_keep_or_fail(build, out->extended, sizeof *out->ids, &out->ids));
  for (uint32_t i = 0; i < out->extended; i++) {
    out->ids[i] = i < active ? i : ring->q_count + i - active;
    if (hxs_view_limb_of(key, out->ids[i]) == HX_NONE) {
      return hxs_refuse(build, HX_INVALID, "operand %u is a key without a row of prime %u", key->index, out->ids[i]);
    }
  }
  HXS_TRY(hxs_keep_or_fail(build, out->digits, sizeof *out->raise, &out->raise));
  for (uint32_t j = 0; j < out->digits; j++) {
    const uint32_t left = active - j * ring->digit_run;
    HXS_TRY(hxs_base_raise(build, j * ring->digit_run, left < ring->digit_run ? left : ring->digit_run, out->ids,
                           out->extended, &out->raise[j]));
  }
  return HX_OK;
}

// y: every active row out of ntt domain, times its digit's constant, centred.
static int32_t add_digits(const hxs_build *build, const switching_t *s, hx_opencl_rows_t *y) {
  uint64_t *factor = NULL, *add = NULL;
  HXS_TRY(hx_opencl_rows_scratch(build, (uint64_t)s->items * s->active, y));
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *factor, &factor));
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *add, &add));
  for (uint32_t i = 0; i < y->count; i++) {
    const uint32_t limb = i % s->active, run = build->ring->digit_run;
    const hxs_affine *map = &s->raise[limb / run].stage[limb % run].map;
    y->ids[i] = s->ids[limb];
    factor[i] = map->weights[0];
    add[i] = map->start;
  }
  return hx_opencl_steps_backward(build, y, &s->x, factor, add);
}

// raised: [items][digits][extended]; a digit's own rows are not written.
static int32_t add_raised(const hxs_build *build, const switching_t *s, const hx_opencl_rows_t *y,
                          hx_opencl_rows_t *raised) {
  const uint32_t run = s->run, polynomials = s->items * s->digits, rows = s->digits * s->extended;
  hx_opencl_rows_t stage, moved;
  hx_opencl_target_t *plan = NULL;
  uint64_t *weights = NULL;
  uint32_t *indices = NULL, count = 0;
  HXS_TRY(hx_opencl_rows_scratch(build, (uint64_t)polynomials * s->extended, raised));
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
  return hx_opencl_steps_forward(build, &moved, &moved, NULL);
}

// acc: [items][extended][2].
static int32_t add_products(const hxs_build *build, const switching_t *s, const hx_opencl_rows_t *raised,
                            hx_opencl_rows_t *acc) {
  const uint32_t rows = s->items * s->extended, log = hx_opencl_log_groups(build, 4);
  hx_opencl_rows_t own, values, keys;
  uint32_t *table = NULL, *indices = NULL, *primes = NULL;
  hx_opencl_step_t *step = NULL;
  HXS_TRY(hx_opencl_rows_scratch(build, 2 * (uint64_t)rows, acc));
  HXS_TRY(hx_opencl_rows_begin(build, s->key, 2 * (uint64_t)rows * s->digits, &keys));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *table, &table));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *primes, &primes));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)rows * s->digits, sizeof *indices, &indices));
  for (uint32_t r = 0; r < rows; r++) {
    const uint32_t row = r % s->extended;
    table[r] = row < s->active ? row / build->ring->digit_run : HX_NONE;
    indices[r] = r / s->extended * s->active + (row < s->active ? row : 0);
    primes[r] = acc->ids[2 * r] = acc->ids[2 * r + 1] = s->ids[row];
  }
  HXS_TRY(hx_opencl_rows_pick(build, &s->x, rows, indices, &own));
  for (uint32_t i = 0; i < rows * s->digits; i++) {
    const uint32_t r = i / s->digits, digit = i % s->digits, row = r % s->extended;
    const uint32_t limb = hxs_view_limb_of(s->key, s->ids[row]);
    indices[i] = (r / s->extended * s->digits + digit) * s->extended + row;
    for (uint32_t c = 0; c < 2; c++) {
      keys.offsets[2 * i + c] = digit * s->key->digit_stride + hx_opencl_row_offset(s->key, 0, c, limb);
    }
  }
  HXS_TRY(hx_opencl_rows_pick(build, raised, rows * s->digits, indices, &values));
  HXS_TRY(hx_opencl_step_add(build, HX_OPENCL_KERNEL_KEY, (uint64_t)rows << log, &step));
  step->args.x = log;
  step->args.count = s->digits;
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_OUT, acc));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_A, &own));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_B, &values));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_C, &keys));
  HXS_TRY(hx_opencl_step_extra(build, step, table, rows * sizeof *table));
  return hx_opencl_step_primes(build, step, primes, rows);
}

static int32_t add_steps(hxs_build *build, const switching_t *s) {
  hx_opencl_rows_t y, raised, acc, special, kept;
  hxs_base lower = {0};
  uint32_t *indices = NULL;
  const uint32_t polynomials = 2 * s->items;
  HXS_TRY(add_digits(build, s, &y));
  HXS_TRY(add_raised(build, s, &y, &raised));
  HXS_TRY(add_products(build, s, &raised, &acc));
  HXS_TRY(hxs_base_lower(build, true, s->ids, s->active, &lower));
  HXS_TRY(hxs_keep_or_fail(build, acc.count, sizeof *indices, &indices));
  for (uint32_t part = 0; part < 2; part++) {  // kept rows of Q_d, then P's
    const uint32_t first = part == 0 ? 0 : s->active, each = part == 0 ? s->active : s->extended - s->active;
    for (uint32_t i = 0; i < polynomials * each; i++) {
      const uint32_t polynomial = i / each;
      indices[i] = (polynomial / 2 * s->extended + first + i % each) * 2 + polynomial % 2;
    }
    HXS_TRY(hx_opencl_rows_pick(build, &acc, polynomials * each, indices, part == 0 ? &kept : &special));
  }
  return hx_opencl_base_divide(build, &lower, polynomials, &special, &kept, &s->add, s->element, &s->out);
}

// Switches component `switched` of operand 0 and adds the first `added` components.
static int32_t build_switch(hxs_build *build, uint32_t switched, uint32_t added, uint32_t element) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *a = &p->operands[0], *out = &p->results[0];
  switching_t s;
  HXS_TRY(begin(build, &p->operands[1], out->items, out->limbs, &s));
  s.element = element;
  HXS_TRY(hx_opencl_rows_components(build, a, switched, 1, false, &s.x));
  HXS_TRY(hx_opencl_rows_components(build, a, 0, 2, false, &s.add));
  for (uint32_t i = 0; i < s.add.count; i++) {
    if (i / out->limbs % 2 >= added) {
      s.add.offsets[i] = HX_OPENCL_NO_ROW;
    }
  }
  HXS_TRY(hx_opencl_rows_of(build, out, &s.out));
  return add_steps(build, &s);
}

// Operand 0 on the first primes of Q, with so many components; result 0 alike with two.
static int32_t check_switched(const hxs_build *build, uint32_t components) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_components(build, out, 2));
  hxs_view shape = *out;
  shape.components = components;
  HXS_TRY(hxs_expect_like(build, &p->operands[0], &shape));
  return hxs_expect_leading(build, &p->operands[0]);
}

int32_t hx_opencl_build_relinearize(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(check_switched(build, 3));
  return build_switch(build, 2, 2, 1);
}

int32_t hx_opencl_build_key_switch(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(check_switched(build, 2));
  return build_switch(build, 1, 1, 1);
}

int32_t hx_opencl_build_conjugate(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(check_switched(build, 2));
  return build_switch(build, 1, 1, (2u << build->prepared->log_n) - 1);
}

int32_t hx_opencl_build_rotate(hxs_build *build) {
  int64_t step = 0;
  HXS_TRY(hxs_attr_i64(build, "step", INT64_MIN, INT64_MAX, &step));
  const uint32_t element = hxs_rotation_element(build->prepared->log_n, step);
  const uint32_t operands = element == 1 ? 1 : 2;
  HXS_TRY(hxs_expect_counts(build, operands, operands, 1, 1));
  HXS_TRY(check_switched(build, 2));
  if (element == 1) {
    hx_opencl_rows_t to, from;
    HXS_TRY(hx_opencl_rows_of(build, &build->prepared->results[0], &to));
    HXS_TRY(hx_opencl_rows_of(build, &build->prepared->operands[0], &from));
    return hx_opencl_step_pointwise(build, HX_OPENCL_DO_COPY, &to, &from, NULL, NULL, NULL, false);
  }
  return build_switch(build, 1, 1, element);
}

// Rows of the last depth group of `rows` rows; 0 where they end within a group or are the base's.
static uint32_t last_group(const hxs_ring *ring, uint32_t rows) {
  uint32_t group = 0, end = ring->group_sizes[0];  // ids below end belong to the groups up to `group`
  while (end < rows && group + 1 < ring->group_count) {
    end += ring->group_sizes[++group];
  }
  return end == rows && group > 0 ? ring->group_sizes[group] : 0;
}

int32_t hx_opencl_build_ckks_rescale(hxs_build *build) {
  hxs_base *base = NULL;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->operands[0]));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->results[0]));
  const uint32_t rows = build->prepared->operands[0].limbs, group = last_group(build->ring, rows);
  if (group == 0) {
    return hxs_refuse(build, HX_INVALID, "operand 0 has %u rows, which end within a depth group or are the base's",
                      rows);
  }
  HXS_TRY(hxs_base_rescale_rows(build, group, true, &base));
  return hx_opencl_base_steps(build, base);
}

// ------------------------------------------------------------------ chains

// Result 0 has the rows of operand 0 but the last, which is a depth group of its own.
static int32_t check_fused(const hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  hxs_view *a = &p->operands[0];
  const hxs_view *out = &p->results[0];
  if (last_group(build->ring, a->limbs) != 1) {
    return hxs_refuse(build, HX_UNSUPPORTED, "the last depth group of %u rows is not one prime", a->limbs);
  }
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_components(build, out, 2));
  HXS_TRY(hxs_expect_ids(build, out, a->limbs - 1, a->ids));
  hxs_view shape = *out;
  shape.components = p->operand_count == 2 ? 3 : 2;
  shape.limbs = a->limbs;
  shape.ids = a->ids;
  for (uint32_t i = 0; i + 1 < p->operand_count; i++) {
    HXS_TRY(hxs_expect_like(build, &p->operands[i], &shape));
  }
  return hxs_expect_leading(build, a);
}

// Rows [component][items][limbs] of the product in scratch memory, or of operand 0 where there is no product.
static int32_t three_rows(hxs_build *build, hx_opencl_rows_t *out) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *a = &p->operands[0];
  hx_opencl_rows_t first, second;
  if (p->operand_count == 2) {
    return hx_opencl_rows_components(build, a, 0, 3, true, out);
  }
  HXS_TRY(hx_opencl_rows_components(build, a, 0, 2, true, &first));
  HXS_TRY(hx_opencl_rows_components(build, &p->operands[1], 0, 2, true, &second));
  HXS_TRY(hx_opencl_rows_scratch(build, 3 * a->items * a->limbs, out));
  for (uint32_t i = 0; i < out->count; i++) {
    out->ids[i] = a->ids[i % a->limbs];
  }
  return hx_opencl_step_tensor(build, out, &first, &second);
}

// The plan of a division by the last of `count` primes, nearest: y = x + h, and of each kept row (x - (y - h)) / d.
static int32_t plan_rescale(const hxs_build *build, const uint32_t *ids, uint32_t count, hxs_base *out) {
  const hxs_modulus *last = hx_opencl_modulus(build, ids[count - 1]);
  const uint64_t half = (last->q - 1) / 2;
  uint64_t *weights = NULL;
  *out = (hxs_base){.transform = true, .stage_count = 1, .target_count = count - 1};
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *out->stage, &out->stage));
  HXS_TRY(hxs_keep_or_fail(build, out->target_count, sizeof *out->targets, &out->targets));
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *weights, &weights));
  weights[count - 1] = 1;
  out->stage[0] = (hxs_stage_row){.prime = ids[count - 1], .map = {1, half, &weights[count - 1]}};
  for (uint32_t t = 0; t < out->target_count; t++) {
    const hxs_modulus *m = hx_opencl_modulus(build, ids[t]);
    const uint64_t inverse = hxs_inverse_mod(m, last->q % m->q);
    weights[t] = hxs_neg_mod(m, inverse);
    out->targets[t] = (hxs_target){.kind = HXS_TARGET_DIVIDE,
                                   .prime = ids[t],
                                   .scale = inverse,
                                   .map = {1, hxs_mul_mod(m, half % m->q, inverse), &weights[t]}};
  }
  return HX_OK;
}

// Division of [items][2][active] rows by their last prime, nearest.
static int32_t add_rescale(hxs_build *build, const switching_t *s, const hx_opencl_rows_t *out) {
  const uint32_t kept = s->active - 1, polynomials = 2 * s->items;
  hxs_base base;
  hx_opencl_rows_t dropped, rest;
  uint32_t *indices = NULL;
  HXS_TRY(plan_rescale(build, s->ids, s->active, &base));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)polynomials * s->active, sizeof *indices, &indices));
  for (uint32_t i = 0; i < polynomials; i++) {
    indices[i] = i * s->active + kept;
  }
  HXS_TRY(hx_opencl_rows_pick(build, &s->out, polynomials, indices, &dropped));
  for (uint32_t i = 0; i < polynomials * kept; i++) {
    indices[i] = i / kept * s->active + i % kept;
  }
  HXS_TRY(hx_opencl_rows_pick(build, &s->out, polynomials * kept, indices, &rest));
  return hx_opencl_base_run(build, &base, polynomials, &dropped, &rest, out);
}

int32_t hx_opencl_build_fused(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 2, 3, 1, 1));
  HXS_TRY(check_fused(build));
  const hxs_view *a = &p->operands[0], *out = &p->results[0];
  const uint32_t rows = (uint32_t)(out->items * a->limbs);
  switching_t s;
  hx_opencl_rows_t three, last;
  uint32_t *indices = NULL;
  HXS_TRY(begin(build, &p->operands[p->operand_count - 1], out->items, a->limbs, &s));
  HXS_TRY(three_rows(build, &three));
  HXS_TRY(hxs_keep_or_fail(build, 2 * (size_t)rows, sizeof *indices, &indices));
  for (uint32_t i = 0; i < rows; i++) {
    indices[i] = 2 * rows + i;
  }
  HXS_TRY(hx_opencl_rows_pick(build, &three, rows, indices, &s.x));
  for (uint32_t i = 0; i < 2 * rows; i++) {  // [items][2][limbs] from [2][items][limbs]
    const uint32_t limb = i % a->limbs, component = i / a->limbs % 2, item = i / a->limbs / 2;
    indices[i] = component * rows + item * a->limbs + limb;
  }
  HXS_TRY(hx_opencl_rows_pick(build, &three, 2 * rows, indices, &s.add));
  HXS_TRY(hx_opencl_rows_scratch(build, 2 * (uint64_t)rows, &s.out));
  HXS_TRY(add_steps(build, &s));
  HXS_TRY(hx_opencl_rows_of(build, out, &last));
  return add_rescale(build, &s, &last);
}
