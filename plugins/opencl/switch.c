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

static int32_t add_raised(const hxs_build *build, const hx_opencl_switch_t *s) {
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
  return hx_opencl_steps_forward(build, &moved, &moved, NULL);
}

int32_t hx_opencl_switch_raise(const hxs_build *build, const hx_opencl_switch_t *s, const hx_opencl_rows_t *x) {
  HXS_TRY(add_digits(build, s, x));
  return add_raised(build, s);
}

int32_t hx_opencl_switch_products(const hxs_build *build, const hx_opencl_switch_t *s, const hx_opencl_rows_t *x,
                                  const hxs_view *key) {
  const hx_opencl_rows_t *acc = &s->acc;
  const uint32_t rows = s->items * s->extended, log = hx_opencl_log_groups(build, 4);
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
