// SPDX-License-Identifier: Apache-2.0
// Values are integers congruent to residues, q < 2^50; the size of each, in units of q, is known here:
//
// - A value that is read: 1.
// - A sum: that of its operands, kept at 4 or less by reducing operands first (real_reduce gives a half).
// - A product x w, |x| <= B q, |w| <= W q, B W <= 2: the quotient is below 2^51, so it is rounded to an integer, and
// errs by
//   1/2 and by B W q 2^-52 <= B W / 4 from the rounded x w and 1/q. What is left is an integer of at most (1/2 + B W /
//   4) q
//   <= q. x w - l - c q, where l <= 2^47 is what rounding x w lost, is one below 2^53, so real_mul is exact.
// - A product with a constant: the same, W = 1/2.
//
// A value of at most 4q < 2^52 is stored as its residue.
#include "generate_text.h"

#define SUM_MAX 4.0
#define PRODUCT_MAX 2.0
#define REDUCED 0.5009765625  // a half, and what rounding the quotient adds

// The name of a value as it is by now: each reduction makes another one.
void hx_cuda_put_name(hx_cuda_maker_t *m, uint32_t value) {
  hx_cuda_put(&m->text, m->reduced[value] == 0 ? "v%u" : "v%u_%u", value, m->reduced[value]);
}

static void reduce(hx_cuda_maker_t *m, uint32_t value) {
  hx_cuda_put(&m->text, "  const double v%u_%u = real_reduce(", value, m->reduced[value] + 1);
  hx_cuda_put_name(m, value);
  hx_cuda_put(&m->text, ", q, inverse);\n");
  m->reduced[value]++;
  m->size[value] = REDUCED;
}

static void reduce_larger(hx_cuda_maker_t *m, uint32_t a, uint32_t b) { reduce(m, m->size[a] >= m->size[b] ? a : b); }

// Reduces factors until their product is one that real_mul takes; the product's size.
static double bring_factors(hx_cuda_maker_t *m, uint32_t a, uint32_t b) {
  while (m->size[a] * m->size[b] > PRODUCT_MAX) {
    reduce_larger(m, a, b);
  }
  return REDUCED + m->size[a] * m->size[b] / 4;
}

static double bring_factor(hx_cuda_maker_t *m, uint32_t a) {
  if (m->size[a] > SUM_MAX) {
    reduce(m, a);
  }
  return REDUCED + m->size[a] / 8;
}

static void put_product(hx_cuda_maker_t *m, uint32_t a, uint32_t b) {
  hx_cuda_put(&m->text, "real_mul(");
  hx_cuda_put_name(m, a);
  hx_cuda_put(&m->text, ", ");
  hx_cuda_put_name(m, b);
  hx_cuda_put(&m->text, ", q, inverse)");
}

// Begins the line of a value; a sum's first operand follows where only component 0 takes part.
static void begin(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  hx_cuda_put(&m->text, "  const double v%u = ", value);
  if (e->first_only) {
    hx_cuda_put(&m->text, "!first ? ");
    hx_cuda_put_name(m, e->operands[0]);
    hx_cuda_put(&m->text, " : ");
  }
}

static void put_real_dot(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t terms = e->operand_count / 2;
  double size = 0;
  hx_cuda_put(&m->text, "  double s%u = 0;\n", value);
  for (uint32_t t = 0; t < terms; t++) {
    const uint32_t a = e->operands[t], b = e->operands[terms + t];
    const double product = bring_factors(m, a, b);
    if (size + product > SUM_MAX) {
      hx_cuda_put(&m->text, "  s%u = real_reduce(s%u, q, inverse);\n", value, value);
      size = REDUCED;
    }
    hx_cuda_put(&m->text, "  s%u += ", value);
    put_product(m, a, b);
    hx_cuda_put(&m->text, ";\n");
    size += product;
  }
  hx_cuda_put(&m->text, "  const double v%u = s%u;\n", value, value);
  m->size[value] = size;
}

static void put_real_sum(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t a = e->operands[0], b = e->operands[1];
  while (m->size[a] + m->size[b] > SUM_MAX) {
    reduce_larger(m, a, b);
  }
  begin(m, e, value);
  hx_cuda_put_name(m, a);
  hx_cuda_put(&m->text, e->kind == HX_CUDA_ELEMENT_ADD ? " + " : " - ");
  hx_cuda_put_name(m, b);
  hx_cuda_put(&m->text, ";\n");
  m->size[value] = m->size[a] + m->size[b];
}

static void put_real_mul_add(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t c = e->operands[0], a = e->operands[1], b = e->operands[2];
  const double product = bring_factors(m, a, b);
  if (m->size[c] + product > SUM_MAX) {
    reduce(m, c);
  }
  begin(m, e, value);
  hx_cuda_put_name(m, c);
  hx_cuda_put(&m->text, " + ");
  put_product(m, a, b);
  hx_cuda_put(&m->text, ";\n");
  m->size[value] = m->size[c] + product;
}

// A value times a constant; `first` is the text before it.
static void put_real_scale(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t a = e->operands[0];
  if (e->kind == HX_CUDA_ELEMENT_SCALE) {
    m->size[value] = bring_factor(m, a);
    begin(m, e, value);
    hx_cuda_put(&m->text, "real_mul(");
    hx_cuda_put_name(m, a);
  } else {
    const double product = bring_factors(m, a, e->operands[1]);
    m->size[value] = REDUCED + product / 8;
    begin(m, e, value);
    hx_cuda_put(&m->text, "real_mul(");
    put_product(m, a, e->operands[1]);
  }
  hx_cuda_put(&m->text, ", region_real(");
  hx_cuda_put_constant(m, e, 0);
  hx_cuda_put(&m->text, "), q, inverse);\n");
}

void hx_cuda_put_real(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t a = e->operands[0];
  switch (e->kind) {
    case HX_CUDA_ELEMENT_ADD:
    case HX_CUDA_ELEMENT_SUB:
      put_real_sum(m, e, value);
      break;
    case HX_CUDA_ELEMENT_NEG:
      begin(m, e, value);
      hx_cuda_put(&m->text, "-");
      hx_cuda_put_name(m, a);
      hx_cuda_put(&m->text, ";\n");
      m->size[value] = m->size[a];
      break;
    case HX_CUDA_ELEMENT_MUL:
      m->size[value] = bring_factors(m, a, e->operands[1]);
      begin(m, e, value);
      put_product(m, a, e->operands[1]);
      hx_cuda_put(&m->text, ";\n");
      break;
    case HX_CUDA_ELEMENT_MUL_ADD:
      put_real_mul_add(m, e, value);
      break;
    case HX_CUDA_ELEMENT_OFFSET:
      if (m->size[a] + REDUCED > SUM_MAX) {
        reduce(m, a);
      }
      begin(m, e, value);
      hx_cuda_put_name(m, a);
      hx_cuda_put(&m->text, " + region_real(");
      hx_cuda_put_constant(m, e, 0);
      hx_cuda_put(&m->text, ");\n");
      m->size[value] = m->size[a] + REDUCED;
      break;
    case HX_CUDA_ELEMENT_DOT:
      put_real_dot(m, e, value);
      break;
    default:
      put_real_scale(m, e, value);
      break;
  }
}
