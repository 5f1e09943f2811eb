// SPDX-License-Identifier: Apache-2.0
// All values are residues, or below 2q where an operation is lazy; arithmetic is that of the plain kernels. In 32 bits
// (q < 2^31) sums of residues are below 2^32, products below 2^62; three of them and a residue below 2^64.
#include "generate_text.h"

#define NARROW_FOLD 3u  // products that a word sums beside a residue
#define DOT_FOLD 32u    // products below 2^122 that a double word sums before its high word is folded

static void put_integer_dot(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t terms = e->operand_count / 2;
  hx_cuda_put(&m->text, "  hx_cuda_wide_t s%u = {0, 0};\n", value);
  for (uint32_t t = 0; t < terms; t++) {
    hx_cuda_put(&m->text, "  wide_mul_add(&s%u, v%u, v%u);\n", value, e->operands[t], e->operands[terms + t]);
    if (t % DOT_FOLD == DOT_FOLD - 1) {
      hx_cuda_put(&m->text, "  s%u.high = mod_word(s%u.high, p->ratio, q);\n", value, value);
    }
  }
  hx_cuda_put(&m->text, "  const uint64_t v%u = mod_wide(s%u, p);\n", value, value);
}

static void put_narrow_dot(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t terms = e->operand_count / 2;
  hx_cuda_put(&m->text, "  uint64_t s%u = 0;\n", value);
  for (uint32_t t = 0; t < terms; t++) {
    hx_cuda_put(&m->text, "  s%u += (uint64_t)v%u * v%u;\n", value, e->operands[t], e->operands[terms + t]);
    if (t % NARROW_FOLD == NARROW_FOLD - 1) {
      hx_cuda_put(&m->text, "  s%u = word_mod(s%u, q, p->ratio);\n", value, value);
    }
  }
  hx_cuda_put(&m->text, "  const uint32_t v%u = word_mod(s%u, q, p->ratio);\n", value, value);
}

// What is multiplied: a product of two values reduced, or with a value added; without one, a value.
static void put_factor(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t *v = e->operands;
  const bool narrow = m->body->narrow;
  if (e->kind == HX_CUDA_ELEMENT_SCALE) {
    hx_cuda_put(&m->text, "v%u", v[0]);
  } else if (e->kind == HX_CUDA_ELEMENT_MUL_ADD) {
    if (narrow) {
      hx_cuda_put(&m->text, "word_mod((uint64_t)v%u * v%u + v%u, q, p->ratio)", v[1], v[2], v[0]);
    } else {
      hx_cuda_put(&m->text, "mod_product(s%u, p)", value);
    }
  } else {
    hx_cuda_put(&m->text, narrow ? "word_mod((uint64_t)v%u * v%u, q, p->ratio)" : "mod_mul(v%u, v%u, p)", v[0], v[1]);
  }
}

static void put_scaled(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const bool narrow = m->body->narrow;
  hx_cuda_put(&m->text, narrow ? "word_once(word_shoup(" : "mod_once(mod_shoup(");
  put_factor(m, e, value);
  hx_cuda_put(&m->text, narrow ? ", (uint32_t)" : ", ");
  hx_cuda_put_constant(m, e, 0);
  hx_cuda_put(&m->text, narrow ? ", (uint32_t)(" : ", ");
  hx_cuda_put_constant(m, e, 1);
  hx_cuda_put(&m->text, narrow ? " >> 32), q), q)" : ", q), q)");
}

void hx_cuda_put_integer(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  hx_cuda_text_t *text = &m->text;
  const uint32_t *v = e->operands;
  const bool narrow = m->body->narrow;
  const char *modulus = e->lazy ? "p->two_q" : "q", *once = narrow ? "word_once" : "mod_once";
  if (e->kind == HX_CUDA_ELEMENT_DOT) {
    if (narrow) {
      put_narrow_dot(m, e, value);
    } else {
      put_integer_dot(m, e, value);
    }
    return;
  }
  if (e->kind == HX_CUDA_ELEMENT_MUL_ADD && !narrow) {
    hx_cuda_put(text, "  hx_cuda_wide_t s%u = {0, v%u};\n  wide_mul_add(&s%u, v%u, v%u);\n", value, v[0], value, v[1],
                v[2]);
  }
  hx_cuda_put(text, "  const %s v%u = ", narrow ? "uint32_t" : "uint64_t", value);
  if (e->first_only) {
    hx_cuda_put(text, "!first ? v%u : ", v[0]);
  }
  switch (e->kind) {
    case HX_CUDA_ELEMENT_ADD:
      hx_cuda_put(text, "%s(v%u + v%u, %s)", once, v[0], v[1], modulus);
      break;
    case HX_CUDA_ELEMENT_SUB:
      hx_cuda_put(text, "%s(v%u + %s - v%u, %s)", once, v[0], modulus, v[1], modulus);
      break;
    case HX_CUDA_ELEMENT_NEG:
      hx_cuda_put(text, "%s(%s - v%u, %s)", once, modulus, v[0], modulus);
      break;
    case HX_CUDA_ELEMENT_REDUCE:
      hx_cuda_put(text, narrow ? "word_mod(v%u, q, p->ratio)" : "mod_once(mod_word(v%u, p->ratio, q), q)", v[0]);
      break;
    case HX_CUDA_ELEMENT_OFFSET:
      hx_cuda_put(text, "%s(v%u + %s", once, v[0], narrow ? "(uint32_t)" : "");
      hx_cuda_put_constant(m, e, 0);
      hx_cuda_put(text, ", q)");
      break;
    case HX_CUDA_ELEMENT_SCALE:
    case HX_CUDA_ELEMENT_MUL_SCALE:
      put_scaled(m, e, value);
      break;
    default:  // MUL, MUL_ADD
      put_factor(m, e, value);
      break;
  }
  hx_cuda_put(text, ";\n");
}
