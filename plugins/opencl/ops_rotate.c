// SPDX-License-Identifier: Apache-2.0
// Rotations of one value by many steps, and sums of rotations: digits are raised once for all steps of a value, sums
// are made over Q and P and divided by P once.
#include "ops.h"
#include "switch.h"

typedef struct term {
  uint32_t element;     // 1: a step of 0
  const hxs_view *key;  // NULL: none
} term_t;

// Terms of attribute `steps`. Keys follow the first `others` operands, one for each distinct step but 0, in the order
// of first use.
static int32_t read_terms(const hxs_build *build, uint32_t others, const int64_t *steps, uint32_t count, term_t **out) {
  const hxs_prepared *p = build->prepared;
  uint32_t keys = 0;
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof **out, out));
  for (uint32_t t = 0; t < count; t++) {
    term_t *term = &(*out)[t];
    term->element = hxs_rotation_element(p->log_n, steps[t]);
    for (uint32_t i = 0; i < t && term->key == NULL && term->element != 1; i++) {
      term->key = (*out)[i].element == term->element ? (*out)[i].key : NULL;
    }
    if (term->element != 1 && term->key == NULL) {
      if (others + keys >= p->operand_count) {
        return hxs_refuse(build, HX_INVALID, "%u operands, but step %lld wants a key in operand %u", p->operand_count,
                          (long long)steps[t], others + keys);
      }
      term->key = &p->operands[others + keys++];
    }
  }
  if (p->operand_count != others + keys) {
    return hxs_refuse(build, HX_INVALID, "%u operands, must be %u; the last %u are keys, one a distinct step but 0",
                      p->operand_count, others + keys, keys);
  }
  return HX_OK;
}

static int32_t read_steps(const hxs_build *build, const int64_t **out_steps, uint32_t *out_count) {
  const hx_attr *attr = hxs_attr_find(build, "steps");
  if (attr == NULL || attr->kind != HX_ATTR_I64 || attr->count == 0 || attr->data == NULL) {
    return hxs_refuse(build, HX_INVALID, "attribute steps must be a list of one or more integers");
  }
  *out_steps = attr->data;
  *out_count = attr->count;
  return HX_OK;
}

// The first `sources` operands are ciphertexts on the first primes of Q, the results are alike.
static int32_t check_values(const hxs_build *build, uint32_t sources, uint32_t results) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_counts(build, sources, UINT32_MAX, results, results));
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_components(build, out, 2));
  HXS_TRY(hxs_expect_domain(build, out, HX_NTT));
  HXS_TRY(hxs_expect_leading(build, out));
  for (uint32_t i = 0; i < sources; i++) {
    HXS_TRY(hxs_expect_like(build, &p->operands[i], out));
  }
  for (uint32_t i = 1; i < results; i++) {
    HXS_TRY(hxs_expect_like(build, &p->results[i], out));
  }
  return HX_OK;
}

// Begins the switches of a ring with P where a term has a key; without any, P's rows are not needed.
static int32_t begin(hxs_build *build, const term_t *terms, uint32_t count, hx_opencl_switch_t *s) {
  const hxs_view *out = &build->prepared->results[0];
  HXS_TRY(hx_opencl_switch_begin(build, out->items, out->limbs, s));
  for (uint32_t t = 0; t < count; t++) {
    if (terms[t].key != NULL) {
      HXS_TRY(hx_opencl_switch_key(build, s, terms[t].key));
    }
  }
  return HX_OK;
}

int32_t hx_opencl_build_rotate_many(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *a = &p->operands[0];
  const int64_t *steps = NULL;
  uint32_t count = 0, keyed = 0;
  term_t *terms = NULL;
  hx_opencl_switch_t s;
  hx_opencl_rows_t x, add, from, to;
  HXS_TRY(read_steps(build, &steps, &count));
  HXS_TRY(check_values(build, 1, count));
  HXS_TRY(read_terms(build, 1, steps, count, &terms));
  for (uint32_t t = 0; t < count; t++) {
    keyed += terms[t].key != NULL ? 1 : 0;
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
    HXS_TRY(hx_opencl_switch_raise(build, &s, &x));
  }
  for (uint32_t t = 0; t < count; t++) {
    HXS_TRY(hx_opencl_rows_of(build, &p->results[t], &to));
    if (terms[t].key == NULL) {
      HXS_TRY(hx_opencl_rows_of(build, a, &from));
      HXS_TRY(hx_opencl_step_pointwise(build, HX_OPENCL_DO_COPY, &to, &from, NULL, NULL, NULL, false));
    } else {
      HXS_TRY(hx_opencl_switch_products(build, &s, &x, terms[t].key));
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

static int32_t begin_sums(hxs_build *build, const term_t *terms, uint32_t count, uint32_t results, summing_t *out) {
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
static int32_t add_term(const hxs_build *build, const summing_t *sum, const term_t *term, const hxs_view *a,
                        const hx_opencl_rows_t *x, uint32_t *out_rows) {
  const hx_opencl_switch_t *s = &sum->s;
  const uint32_t components = term->key == NULL ? 2 : 1;
  const hx_opencl_rows_t *onto = term->key == NULL ? &sum->turned : &s->acc;
  hx_opencl_rows_t from, to;
  *out_rows = term->key == NULL ? s->active : s->extended;
  if (term->key != NULL) {
    HXS_TRY(hx_opencl_switch_products(build, s, x, term->key));
  }
  HXS_TRY(hx_opencl_rows_components(build, a, 0, components, false, &from));
  HXS_TRY(hx_opencl_switch_pick(build, s, onto, 0, s->active, components, &to));
  HXS_TRY(hx_opencl_step_pointwise(build, term->key == NULL ? HX_OPENCL_DO_SCALE : HX_OPENCL_DO_SCALE_ADD, &to, &from,
                                   term->key == NULL ? NULL : &to, NULL, sum->lift, false));
  return term->key == NULL ? HX_OK : hx_opencl_step_permute(build, HX_NTT, term->element, &sum->turned, &s->acc);
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
  term_t *terms = NULL;
  summing_t sum;
  hx_opencl_rows_t x;
  HXS_TRY(read_steps(build, &steps, &count));
  HXS_TRY(check_values(build, count, 1));
  HXS_TRY(read_terms(build, count, steps, count, &terms));
  HXS_TRY(begin_sums(build, terms, count, 1, &sum));
  for (uint32_t t = 0; t < count; t++) {
    HXS_TRY(hx_opencl_rows_components(build, &p->operands[t], 1, 1, false, &x));
    if (terms[t].key != NULL) {
      HXS_TRY(hx_opencl_switch_raise(build, &sum.s, &x));
    }
    HXS_TRY(add_term(build, &sum, &terms[t], &p->operands[t], &x, &rows));
    HXS_TRY(add_to_total(build, &sum, &sum.total[0], rows, NULL));
  }
  return end_sums(build, &sum, 1);
}

// Weights have rows of Q_d and P in ntt domain and one component.
static int32_t check_weights(const hxs_build *build, const hx_opencl_switch_t *s, uint32_t first, uint32_t end) {
  hxs_prepared *p = build->prepared;
  for (uint32_t i = first; i < end; i++) {
    hxs_view *weight = &p->operands[i];
    HXS_TRY(hxs_expect_residues(build, weight));
    HXS_TRY(hxs_expect_repr(build, weight, HX_STANDARD));
    HXS_TRY(hxs_expect_domain(build, weight, HX_NTT));
    HXS_TRY(hxs_expect_components(build, weight, 1));
    HXS_TRY(hxs_expect_batch(build, weight, &p->results[0]));
    HXS_TRY(hxs_expect_ids(build, weight, s->extended, s->ids));
  }
  return HX_OK;
}

// Operands: the value, then for each result a weight a step, then keys.
int32_t hx_opencl_build_rotate_weighted_sum(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  const int64_t *steps = NULL;
  int64_t groups = 1;
  uint32_t count = 0, rows = 0;
  term_t *terms = NULL;
  summing_t sum;
  hx_opencl_rows_t x;
  HXS_TRY(read_steps(build, &steps, &count));
  if (hxs_attr_find(build, "groups") != NULL) {
    HXS_TRY(hxs_attr_i64(build, "groups", 1, (int64_t)p->operand_count, &groups));
  }
  const uint64_t others = 1 + (uint64_t)groups * count;
  if (p->operand_count < others) {
    return hxs_refuse(build, HX_INVALID, "%u operands; %lld groups of %u steps have %llu before their keys",
                      p->operand_count, (long long)groups, count, (unsigned long long)others);
  }
  const uint32_t results = (uint32_t)groups;
  HXS_TRY(check_values(build, 1, results));
  HXS_TRY(read_terms(build, (uint32_t)others, steps, count, &terms));
  HXS_TRY(begin_sums(build, terms, count, results, &sum));
  HXS_TRY(check_weights(build, &sum.s, 1, (uint32_t)others));
  HXS_TRY(hx_opencl_rows_components(build, &p->operands[0], 1, 1, false, &x));
  HXS_TRY(hx_opencl_switch_raise(build, &sum.s, &x));
  for (uint32_t t = 0; t < count; t++) {
    HXS_TRY(add_term(build, &sum, &terms[t], &p->operands[0], &x, &rows));
    for (uint32_t g = 0; g < results; g++) {
      HXS_TRY(add_to_total(build, &sum, &sum.total[g], rows, &p->operands[1 + g * count + t]));
    }
  }
  return end_sums(build, &sum, results);
}
