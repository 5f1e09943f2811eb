// SPDX-License-Identifier: Apache-2.0
// Rotations of one value by many steps, and sums of rotations: digits are raised once for all steps of a value, sums
// are made over Q and P and divided by P once.
#include "heliox/support/switched.h"
#include "ops.h"
#include "switch.h"

// Begins the switches of a ring with P where a term has a key; without any, P's rows are not needed.
static int32_t begin(hxs_build *build, const hxs_rotation *terms, uint32_t count, hx_opencl_switch_t *s) {
  const hxs_view *out = &build->prepared->results[0];
  HXS_TRY(hx_opencl_switch_begin(build, out->items, out->limbs, s));
  for (uint32_t t = 0; t < count; t++) {
    if (terms[t].key != HX_NONE) {
      HXS_TRY(hx_opencl_switch_key(build, s, &build->prepared->operands[terms[t].key]));
    }
  }
  return HX_OK;
}

int32_t hx_opencl_build_rotate_many(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *a = &p->operands[0];
  const int64_t *steps = NULL;
  uint32_t count = 0, keyed = 0;
  hxs_rotation *terms = NULL;
  hx_opencl_switch_t s;
  hx_opencl_rows_t x, add, from, to;
  HXS_TRY(hxs_accept_steps(build, &steps, &count));
  HXS_TRY(hxs_accept_switched(build, 1, 2, count));
  HXS_TRY(hxs_accept_rotations(build, 1, steps, count, &terms));
  for (uint32_t t = 0; t < count; t++) {
    keyed += terms[t].key != HX_NONE ? 1 : 0;
  }
  if (keyed > 0) {
    HXS_TRY(begin(build, terms, count, &s));
    HXS_TRY(hx_opencl_rows_components(build, a, 1, 1, false, &x));
    HXS_TRY(hx_opencl_rows_components(build, a, 0, 2, false, &add));
    for (uint32_t i = 0; i < add.count; i++) {
      if (i / a->limbs % 2 == 1) {
        add.offsets[i] = HX_OPENCL_NO_ROW;
      }
    }
    HXS_TRY(hx_opencl_switch_raise(build, &s, &x, keyed == 1));
  }
  for (uint32_t t = 0; t < count; t++) {
    HXS_TRY(hx_opencl_rows_of(build, &p->results[t], &to));
    if (terms[t].key == HX_NONE) {
      HXS_TRY(hx_opencl_rows_of(build, a, &from));
      HXS_TRY(hx_opencl_step_pointwise(build, HX_OPENCL_DO_COPY, &to, &from, NULL, NULL, NULL, false));
    } else {
      HXS_TRY(hx_opencl_switch_products(build, &s, &x, &p->operands[terms[t].key]));
      HXS_TRY(hx_opencl_switch_lower(build, &s, &s.acc, &add, terms[t].element, &to));
    }
  }
  return HX_OK;
}

// ------------------------------------------------------------------ sums over Q and P

// What sums work on, beside the switch: rows as acc's.
typedef struct summing {
  hx_opencl_switch_t s;
  hx_opencl_rows_t turned;   // a term under its automorphism
  hx_opencl_rows_t *total;   // [results]
  hx_opencl_factor_t *lift;  // [acc's rows on Q][2]: P
} summing_t;

static int32_t begin_sums(hxs_build *build, const hxs_rotation *terms, uint32_t count, uint32_t results,
                          summing_t *out) {
  HXS_TRY(begin(build, terms, count, &out->s));
  const hx_opencl_switch_t *s = &out->s;
  const uint64_t rows = s->acc.count;
  hx_opencl_factor_t *zeros = NULL;
  HXS_TRY(hx_opencl_rows_scratch(build, rows, &out->turned));
  HXS_TRY(hxs_keep_or_fail(build, results, sizeof *out->total, &out->total));
  HXS_TRY(hxs_keep_or_fail(build, rows, 2 * sizeof *zeros, &zeros));
  HXS_TRY(hxs_keep_or_fail(build, 2 * (size_t)s->items * s->active, 2 * sizeof *out->lift, &out->lift));
  for (uint32_t i = 0; i < rows; i++) {
    s->acc.ids[i] = out->turned.ids[i] = s->ids[i / 2 % s->extended];
  }
  for (uint32_t g = 0; g < results; g++) {
    HXS_TRY(hx_opencl_rows_scratch(build, rows, &out->total[g]));
    for (uint32_t i = 0; i < rows; i++) {
      out->total[g].ids[i] = s->acc.ids[i];
    }
    // Times 0: whatever scratch memory holds becomes 0.
    HXS_TRY(
        hx_opencl_step_pointwise(build, HX_OPENCL_DO_SCALE, &out->total[g], &out->total[g], NULL, NULL, zeros, false));
  }
  for (uint32_t i = 0; i < 2 * s->items * s->active; i++) {
    const hxs_modulus *m = hx_opencl_modulus(build, s->ids[i % s->active]);
    uint64_t product = 1;
    for (uint32_t k = s->active; k < s->extended; k++) {
      product = hxs_mul_mod(m, product, hx_opencl_modulus(build, s->ids[k])->q % m->q);
    }
    out->lift[2 * i] = out->lift[2 * i + 1] = hx_opencl_factor_of(m, product);
  }
  return HX_OK;
}

// `turned` on Q, or also on P: what term t of source a is before its weight; *out_rows says how many rows it has. A
// step of 0 is P times the value.
static int32_t add_term(const hxs_build *build, const summing_t *sum, const hxs_rotation *term, const hxs_view *a,
                        const hx_opencl_rows_t *x, uint32_t *out_rows) {
  const hx_opencl_switch_t *s = &sum->s;
  const bool plain = term->key == HX_NONE;
  const uint32_t components = plain ? 2 : 1;
  const hx_opencl_rows_t *onto = plain ? &sum->turned : &s->acc;
  hx_opencl_rows_t from, to;
  *out_rows = plain ? s->active : s->extended;
  if (!plain) {
    HXS_TRY(hx_opencl_switch_products(build, s, x, &build->prepared->operands[term->key]));
  }
  HXS_TRY(hx_opencl_rows_components(build, a, 0, components, false, &from));
  HXS_TRY(hx_opencl_switch_pick(build, s, onto, 0, s->active, components, &to));
  HXS_TRY(hx_opencl_step_pointwise(build, plain ? HX_OPENCL_DO_SCALE : HX_OPENCL_DO_SCALE_ADD, &to, &from,
                                   plain ? NULL : &to, NULL, sum->lift, false));
  return plain ? HX_OK : hx_opencl_step_permute(build, HX_NTT, term->element, &sum->turned, &s->acc);
}

// total += turned [times a weight's rows], on the first `rows` rows.
static int32_t add_to_total(const hxs_build *build, const summing_t *sum, const hx_opencl_rows_t *total, uint32_t rows,
                            const hxs_view *weight) {
  const hx_opencl_switch_t *s = &sum->s;
  hx_opencl_rows_t turned, onto, factor;
  HXS_TRY(hx_opencl_switch_pick(build, s, &sum->turned, 0, rows, 2, &turned));
  HXS_TRY(hx_opencl_switch_pick(build, s, total, 0, rows, 2, &onto));
  if (weight == NULL) {
    return hx_opencl_step_pointwise(build, HX_OPENCL_DO_ADD, &onto, &turned, &onto, NULL, NULL, false);
  }
  HXS_TRY(hx_opencl_rows_begin(build, weight, turned.count, &factor));
  for (uint32_t i = 0; i < factor.count; i++) {
    factor.offsets[i] = hx_opencl_row_offset(weight, i / rows / 2, 0, i % rows);
    factor.ids[i] = turned.ids[i];
  }
  return hx_opencl_step_pointwise(build, HX_OPENCL_DO_MUL_ADD, &onto, &turned, &factor, &onto, NULL, false);
}

static int32_t end_sums(const hxs_build *build, const summing_t *sum, uint32_t results) {
  for (uint32_t g = 0; g < results; g++) {
    hx_opencl_rows_t out;
    HXS_TRY(hx_opencl_rows_of(build, &build->prepared->results[g], &out));
    HXS_TRY(hx_opencl_switch_lower(build, &sum->s, &sum->total[g], NULL, 1, &out));
  }
  return HX_OK;
}

int32_t hx_opencl_build_rotate_sum(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  const int64_t *steps = NULL;
  uint32_t count = 0, rows = 0;
  hxs_rotation *terms = NULL;
  summing_t sum;
  hx_opencl_rows_t x;
  HXS_TRY(hxs_accept_steps(build, &steps, &count));
  HXS_TRY(hxs_accept_switched(build, count, 2, 1));
  HXS_TRY(hxs_accept_rotations(build, count, steps, count, &terms));
  HXS_TRY(begin_sums(build, terms, count, 1, &sum));
  for (uint32_t t = 0; t < count; t++) {
    HXS_TRY(hx_opencl_rows_components(build, &p->operands[t], 1, 1, false, &x));
    if (terms[t].key != HX_NONE) {
      HXS_TRY(hx_opencl_switch_raise(build, &sum.s, &x, false));
    }
    HXS_TRY(add_term(build, &sum, &terms[t], &p->operands[t], &x, &rows));
    HXS_TRY(add_to_total(build, &sum, &sum.total[0], rows, NULL));
  }
  return end_sums(build, &sum, 1);
}

// Operands: the value, then for each result a weight a step, then keys.
int32_t hx_opencl_build_rotate_weighted_sum(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  const int64_t *steps = NULL;
  uint32_t count = 0, rows = 0, results = 0, others = 0;
  hxs_rotation *terms = NULL;
  summing_t sum;
  hx_opencl_rows_t x;
  HXS_TRY(hxs_accept_steps(build, &steps, &count));
  HXS_TRY(hxs_accept_groups(build, count, &results, &others));
  HXS_TRY(hxs_accept_switched(build, 1, 2, results));
  HXS_TRY(hxs_accept_rotations(build, others, steps, count, &terms));
  HXS_TRY(begin_sums(build, terms, count, results, &sum));
  HXS_TRY(hxs_accept_weights(build, 1, others, sum.s.extended, sum.s.ids));
  HXS_TRY(hx_opencl_rows_components(build, &p->operands[0], 1, 1, false, &x));
  HXS_TRY(hx_opencl_switch_raise(build, &sum.s, &x, false));
  for (uint32_t t = 0; t < count; t++) {
    HXS_TRY(add_term(build, &sum, &terms[t], &p->operands[0], &x, &rows));
    for (uint32_t g = 0; g < results; g++) {
      HXS_TRY(add_to_total(build, &sum, &sum.total[g], rows, &p->operands[1 + g * count + t]));
    }
  }
  return end_sums(build, &sum, results);
}
