// SPDX-License-Identifier: Apache-2.0
// Integers: all values are residues, or below 2q where an operation is lazy; arithmetic is that of the plain kernels.
//
// Doubles (q < 2^50): values are integers congruent to residues, and the size of each, in units of q, is known here:
//   read            1
//   sum             of its operands, kept at 4 or less by reducing operands first (real_reduce gives a half)
//   product x w     |x| <= B q, |w| <= W q, B W <= 2: the quotient is below 2^51, so it is rounded to an integer, and
//   it
//                   errs by 1/2 and by B W q 2^-52 <= B W / 4 from the rounded x w and 1/q. What is left is an integer
//                   of at most (1/2 + B W / 4) q <= q. x w - l - c q, where l <= 2^47 is what rounding x w lost, is one
//                   below 2^53, so real_mul is exact.
//   times constant  the same with W = 1/2
// A value below 4q < 2^52 is stored as its residue.
#include "generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX (HX_CUDA_REGION_PLACES_MAX + HX_CUDA_REGION_ELEMENTS_MAX)
#define SUM_MAX 4.0
#define PRODUCT_MAX 2.0
#define REDUCED 0.5009765625  // a half, and what rounding the quotient adds
#define DOT_FOLD 32u          // products below 2^122 that a double word sums before its high word is folded

typedef struct text {
  char *data;
  size_t bytes, room;
  bool failed;
} text_t;

typedef struct maker {
  const hx_cuda_body_t *body;
  text_t text;
  double size[VALUES_MAX];       // real path: in units of q
  uint32_t reduced[VALUES_MAX];  // real path: how often, which is a part of the name
} maker_t;

static void put(text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text_t *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0 || text->failed) {
    text->failed = true;
  } else if (text->bytes + (size_t)length + 1 > text->room) {
    const size_t room = 2 * (text->room + (size_t)length + 1024);
    char *larger = realloc(text->data, room);
    text->failed = larger == NULL;
    text->data = larger != NULL ? larger : text->data;
    text->room = larger != NULL ? room : text->room;
  }
  if (!text->failed) {
    vsnprintf(text->data + text->bytes, text->room - text->bytes, format, again);
    text->bytes += (size_t)length;
  }
  va_end(again);
}

// ---- the body

static bool is_product(hx_cuda_element_kind_t kind) {
  return kind == HX_CUDA_ELEMENT_MUL || kind == HX_CUDA_ELEMENT_MUL_ADD || kind == HX_CUDA_ELEMENT_MUL_SCALE ||
         kind == HX_CUDA_ELEMENT_SCALE || kind == HX_CUDA_ELEMENT_DOT;
}

bool hx_cuda_body_takes_real(const hx_cuda_body_t *body) {
  for (uint32_t i = 0; i < body->element_count; i++) {
    if (body->elements[i].lazy || body->elements[i].kind == HX_CUDA_ELEMENT_REDUCE) {
      return false;
    }
  }
  return true;
}

bool hx_cuda_body_has_products(const hx_cuda_body_t *body) {
  for (uint32_t i = 0; i < body->element_count; i++) {
    if (is_product(body->elements[i].kind)) {
      return true;
    }
  }
  return false;
}

uint32_t hx_cuda_body_constant(const hx_cuda_body_t *body, uint32_t index) {
  return HX_CUDA_REGION_OFFSETS + body->load_count + body->store_count + index * HX_CUDA_REGION_CONSTANT;
}

uint32_t hx_cuda_body_record(const hx_cuda_body_t *body, uint32_t constants) {
  return hx_cuda_body_constant(body, constants);
}

static bool counts_fit(const hx_cuda_element_t *element) {
  static const uint32_t counts[] = {
      [HX_CUDA_ELEMENT_ADD] = 2,       [HX_CUDA_ELEMENT_SUB] = 2,   [HX_CUDA_ELEMENT_NEG] = 1,
      [HX_CUDA_ELEMENT_REDUCE] = 1,    [HX_CUDA_ELEMENT_MUL] = 2,   [HX_CUDA_ELEMENT_MUL_ADD] = 3,
      [HX_CUDA_ELEMENT_MUL_SCALE] = 2, [HX_CUDA_ELEMENT_SCALE] = 1, [HX_CUDA_ELEMENT_OFFSET] = 1};
  if (element->kind == HX_CUDA_ELEMENT_DOT) {
    return element->operand_count > 0 && element->operand_count % 2 == 0 &&
           element->operand_count <= HX_CUDA_REGION_OPERANDS_MAX;
  }
  return element->kind < HX_CUDA_ELEMENT_DOT && element->operand_count == counts[element->kind];
}

static bool is_whole(const hx_cuda_body_t *body) {
  if ((body->word != 64 && body->word != 32) || body->pairs == 0 || body->pairs > 4 ||
      (!body->integer && !body->real) || body->load_count == 0 || body->store_count == 0 || body->element_count == 0 ||
      body->element_count > HX_CUDA_REGION_ELEMENTS_MAX || body->load_count > HX_CUDA_REGION_PLACES_MAX ||
      body->store_count > HX_CUDA_REGION_PLACES_MAX - body->load_count ||
      (body->real && !hx_cuda_body_takes_real(body))) {
    return false;
  }
  for (uint32_t k = 0; k < body->element_count; k++) {
    if (!counts_fit(&body->elements[k]) || body->elements[k].constant > HX_CUDA_REGION_ELEMENTS_MAX) {
      return false;
    }
    for (uint32_t i = 0; i < body->elements[k].operand_count; i++) {
      if (body->elements[k].operands[i] >= body->load_count + k) {
        return false;
      }
    }
  }
  for (uint32_t i = 0; i < body->store_count; i++) {
    if (body->stores[i] >= body->load_count + body->element_count) {
      return false;
    }
  }
  return true;
}

// "record[40]", or "record[40 + 2 * half]" where the halves of a row have constants of their own.
static void put_constant(maker_t *m, const hx_cuda_element_t *e, uint32_t word) {
  const uint32_t at = hx_cuda_body_constant(m->body, e->constant) + word;
  put(&m->text, e->halves ? "record[%u + 2 * half]" : "record[%u]", at);
}

// ---- integers

static void put_integer_dot(maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t terms = e->operand_count / 2;
  put(&m->text, "  hx_cuda_wide_t s%u = {0, 0};\n", value);
  for (uint32_t t = 0; t < terms; t++) {
    put(&m->text, "  wide_mul_add(&s%u, v%u, v%u);\n", value, e->operands[t], e->operands[terms + t]);
    if (t % DOT_FOLD == DOT_FOLD - 1) {
      put(&m->text, "  s%u.high = mod_word(s%u.high, p->ratio, q);\n", value, value);
    }
  }
  put(&m->text, "  const uint64_t v%u = mod_wide(s%u, p);\n", value, value);
}

static void put_integer(maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  text_t *text = &m->text;
  const uint32_t *v = e->operands;
  const char *modulus = e->lazy ? "p->two_q" : "q";
  const char *guard = e->first_only ? "!first ? v" : "";
  if (e->kind == HX_CUDA_ELEMENT_DOT) {
    put_integer_dot(m, e, value);
    return;
  }
  if (e->kind == HX_CUDA_ELEMENT_MUL_ADD) {
    put(text, "  hx_cuda_wide_t s%u = {0, v%u};\n  wide_mul_add(&s%u, v%u, v%u);\n", value, v[0], value, v[1], v[2]);
  }
  put(text, "  const uint64_t v%u = ", value);
  if (e->first_only) {
    put(text, "%s%u : ", guard, v[0]);
  }
  switch (e->kind) {
    case HX_CUDA_ELEMENT_ADD:
      put(text, "mod_once(v%u + v%u, %s)", v[0], v[1], modulus);
      break;
    case HX_CUDA_ELEMENT_SUB:
      put(text, "mod_once(v%u + %s - v%u, %s)", v[0], modulus, v[1], modulus);
      break;
    case HX_CUDA_ELEMENT_NEG:
      put(text, "mod_once(%s - v%u, %s)", modulus, v[0], modulus);
      break;
    case HX_CUDA_ELEMENT_REDUCE:
      put(text, "mod_once(mod_word(v%u, p->ratio, q), q)", v[0]);
      break;
    case HX_CUDA_ELEMENT_MUL:
      put(text, "mod_mul(v%u, v%u, p)", v[0], v[1]);
      break;
    case HX_CUDA_ELEMENT_MUL_ADD:
      put(text, "mod_product(s%u, p)", value);
      break;
    case HX_CUDA_ELEMENT_OFFSET:
      put(text, "mod_once(v%u + ", v[0]);
      put_constant(m, e, 0);
      put(text, ", q)");
      break;
    default:  // SCALE, MUL_SCALE
      put(text, e->kind == HX_CUDA_ELEMENT_SCALE ? "mod_once(mod_shoup(v%u, " : "mod_once(mod_shoup(mod_mul(v%u, ",
          v[0]);
      if (e->kind == HX_CUDA_ELEMENT_MUL_SCALE) {
        put(text, "v%u, p), ", v[1]);
      }
      put_constant(m, e, 0);
      put(text, ", ");
      put_constant(m, e, 1);
      put(text, ", q), q)");
      break;
  }
  put(text, ";\n");
}

// ---- doubles

// The name of a value as it is by now: each reduction makes another one.
static void put_name(maker_t *m, uint32_t value) {
  put(&m->text, m->reduced[value] == 0 ? "v%u" : "v%u_%u", value, m->reduced[value]);
}

static void reduce(maker_t *m, uint32_t value) {
  put(&m->text, "  const double v%u_%u = real_reduce(", value, m->reduced[value] + 1);
  put_name(m, value);
  put(&m->text, ", q, inverse);\n");
  m->reduced[value]++;
  m->size[value] = REDUCED;
}

static void reduce_larger(maker_t *m, uint32_t a, uint32_t b) { reduce(m, m->size[a] >= m->size[b] ? a : b); }

// Reduces factors until their product is one that real_mul takes; the product's size.
static double bring_factors(maker_t *m, uint32_t a, uint32_t b) {
  while (m->size[a] * m->size[b] > PRODUCT_MAX) {
    reduce_larger(m, a, b);
  }
  return REDUCED + m->size[a] * m->size[b] / 4;
}

static double bring_factor(maker_t *m, uint32_t a) {
  if (m->size[a] > SUM_MAX) {
    reduce(m, a);
  }
  return REDUCED + m->size[a] / 8;
}

static void put_product(maker_t *m, uint32_t a, uint32_t b) {
  put(&m->text, "real_mul(");
  put_name(m, a);
  put(&m->text, ", ");
  put_name(m, b);
  put(&m->text, ", q, inverse)");
}

// Begins the line of a value; a sum's first operand follows where only component 0 takes part.
static void begin(maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  put(&m->text, "  const double v%u = ", value);
  if (e->first_only) {
    put(&m->text, "!first ? ");
    put_name(m, e->operands[0]);
    put(&m->text, " : ");
  }
}

static void put_real_dot(maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t terms = e->operand_count / 2;
  double size = 0;
  put(&m->text, "  double s%u = 0;\n", value);
  for (uint32_t t = 0; t < terms; t++) {
    const uint32_t a = e->operands[t], b = e->operands[terms + t];
    const double product = bring_factors(m, a, b);
    if (size + product > SUM_MAX) {
      put(&m->text, "  s%u = real_reduce(s%u, q, inverse);\n", value, value);
      size = REDUCED;
    }
    put(&m->text, "  s%u += ", value);
    put_product(m, a, b);
    put(&m->text, ";\n");
    size += product;
  }
  put(&m->text, "  const double v%u = s%u;\n", value, value);
  m->size[value] = size;
}

static void put_real_sum(maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t a = e->operands[0], b = e->operands[1];
  while (m->size[a] + m->size[b] > SUM_MAX) {
    reduce_larger(m, a, b);
  }
  begin(m, e, value);
  put_name(m, a);
  put(&m->text, e->kind == HX_CUDA_ELEMENT_ADD ? " + " : " - ");
  put_name(m, b);
  put(&m->text, ";\n");
  m->size[value] = m->size[a] + m->size[b];
}

static void put_real_mul_add(maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t c = e->operands[0], a = e->operands[1], b = e->operands[2];
  const double product = bring_factors(m, a, b);
  if (m->size[c] + product > SUM_MAX) {
    reduce(m, c);
  }
  begin(m, e, value);
  put_name(m, c);
  put(&m->text, " + ");
  put_product(m, a, b);
  put(&m->text, ";\n");
  m->size[value] = m->size[c] + product;
}

// A value times a constant; `first` is the text before it.
static void put_real_scale(maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t a = e->operands[0];
  if (e->kind == HX_CUDA_ELEMENT_SCALE) {
    m->size[value] = bring_factor(m, a);
    begin(m, e, value);
    put(&m->text, "real_mul(");
    put_name(m, a);
  } else {
    const double product = bring_factors(m, a, e->operands[1]);
    m->size[value] = REDUCED + product / 8;
    begin(m, e, value);
    put(&m->text, "real_mul(");
    put_product(m, a, e->operands[1]);
  }
  put(&m->text, ", region_real(");
  put_constant(m, e, 0);
  put(&m->text, "), q, inverse);\n");
}

static void put_real(maker_t *m, const hx_cuda_element_t *e, uint32_t value) {
  const uint32_t a = e->operands[0];
  switch (e->kind) {
    case HX_CUDA_ELEMENT_ADD:
    case HX_CUDA_ELEMENT_SUB:
      put_real_sum(m, e, value);
      break;
    case HX_CUDA_ELEMENT_NEG:
      begin(m, e, value);
      put(&m->text, "-");
      put_name(m, a);
      put(&m->text, ";\n");
      m->size[value] = m->size[a];
      break;
    case HX_CUDA_ELEMENT_MUL:
      m->size[value] = bring_factors(m, a, e->operands[1]);
      begin(m, e, value);
      put_product(m, a, e->operands[1]);
      put(&m->text, ";\n");
      break;
    case HX_CUDA_ELEMENT_MUL_ADD:
      put_real_mul_add(m, e, value);
      break;
    case HX_CUDA_ELEMENT_OFFSET:
      if (m->size[a] + REDUCED > SUM_MAX) {
        reduce(m, a);
      }
      begin(m, e, value);
      put_name(m, a);
      put(&m->text, " + region_real(");
      put_constant(m, e, 0);
      put(&m->text, ");\n");
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

// ---- the source

static void put_values(maker_t *m, bool real) {
  const hx_cuda_body_t *body = m->body;
  text_t *text = &m->text;
  put(text,
      "static __device__ __forceinline__ void %s_values(const uint64_t *record, bool first, uint32_t half,\n"
      "    const uint64_t (&x)[%u], uint64_t (&y)[%u]) {\n"
      "  const hx_cuda_prime_t *p = (const hx_cuda_prime_t *)record;\n",
      real ? "real" : "integer", body->load_count, body->store_count);
  put(text, real ? "  const double q = p->real_q, inverse = p->real_inverse;\n" : "  const uint64_t q = p->q;\n");
  put(text, "  (void)first, (void)half;\n");
  for (uint32_t i = 0; i < body->load_count; i++) {
    put(text, real ? "  const double v%u = real_load(x[%u]);\n" : "  const uint64_t v%u = x[%u];\n", i, i);
    m->size[i] = 1;
  }
  memset(m->reduced, 0, sizeof m->reduced);
  for (uint32_t k = 0; k < body->element_count; k++) {
    if (real) {
      put_real(m, &body->elements[k], body->load_count + k);
    } else {
      put_integer(m, &body->elements[k], body->load_count + k);
    }
  }
  for (uint32_t i = 0; i < body->store_count; i++) {
    put(text, real ? "  y[%u] = real_store(" : "  y[%u] = ", i);
    if (real) {
      put_name(m, body->stores[i]);
      put(text, ", q, inverse);\n");
    } else {
      put(text, "v%u;\n", body->stores[i]);
    }
  }
  put(text, "}\n\n");
}

static void put_place(text_t *text, const char *name, uint32_t index, uint32_t place) {
  const uint32_t half = HX_CUDA_REGION_PLACES_MAX / 2;
  put(text, "  region_pair *const %s%u = region_row(args.%s[%u], record[%u]);\n", name, index,
      place < half ? "more" : "more_rows", place % half, HX_CUDA_REGION_OFFSETS + place);
}

static void put_call(text_t *text, const hx_cuda_body_t *body, const char *half) {
  if (body->integer && body->real) {
    put(text, "    if (reals) real_values(record, first, half, %s, %s_out);\n", half, half);
    put(text, "    else integer_values(record, first, half, %s, %s_out);\n", half, half);
  } else {
    put(text, "    %s_values(record, first, half, %s, %s_out);\n", body->real ? "real" : "integer", half, half);
  }
}

// Everything a thread reads is read before anything is computed, and all is computed before anything is written.
static void put_kernel(text_t *text, const hx_cuda_body_t *body) {
  put(text,
      "extern \"C\" __global__ void __launch_bounds__(REGION_THREADS) hx_region(const __grid_constant__ hx_cuda_args_t "
      "args) {\n"
      "  wait_for_previous();\n"
      "  const uint32_t row = blockIdx.x >> args.x, pairs = 1u << (args.log_n - 1);\n"
      "  const uint32_t begin = (blockIdx.x & ((1u << args.x) - 1)) * (REGION_THREADS * %u) + threadIdx.x;\n"
      "  const uint64_t *record = (const uint64_t *)args.extra + (uint64_t)row * args.count;\n"
      "  const bool first = record[%u] != 0;\n",
      body->pairs, HX_CUDA_REGION_FIRST);
  if (body->integer && body->real) {
    put(text, "  const bool reals = ((const hx_cuda_prime_t *)record)->bits <= args.y;\n");
  }
  for (uint32_t i = 0; i < body->load_count; i++) {
    put_place(text, "from", i, i);
  }
  for (uint32_t i = 0; i < body->store_count; i++) {
    put_place(text, "to", i, body->load_count + i);
  }
  put(text,
      "  region_pair in[%u][%u], out[%u][%u];\n"
      "#pragma unroll\n  for (uint32_t k = 0; k < %u; k++) {\n"
      "    const uint32_t i = begin + k * REGION_THREADS < pairs ? begin + k * REGION_THREADS : pairs - 1;\n",
      body->pairs, body->load_count, body->pairs, body->store_count, body->pairs);
  for (uint32_t i = 0; i < body->load_count; i++) {
    put(text,
        body->first_only[i] ? "    in[k][%u] = first ? from%u[i] : region_pair{0, 0};\n"
                            : "    in[k][%u] = from%u[i];\n",
        i, i);
  }
  put(text,
      "  }\n#pragma unroll\n  for (uint32_t k = 0; k < %u; k++) {\n"
      "    const uint32_t half = begin + k * REGION_THREADS >= pairs / 2 ? 1 : 0;\n"
      "    uint64_t low[%u], high[%u], low_out[%u], high_out[%u];\n"
      "#pragma unroll\n    for (int j = 0; j < %u; j++) {\n      low[j] = in[k][j].x;\n      high[j] = in[k][j].y;\n   "
      " }\n",
      body->pairs, body->load_count, body->load_count, body->store_count, body->store_count, body->load_count);
  put_call(text, body, "low");
  put_call(text, body, "high");
  put(text,
      "#pragma unroll\n    for (int j = 0; j < %u; j++) {\n      out[k][j].x = (region_word)low_out[j];\n"
      "      out[k][j].y = (region_word)high_out[j];\n    }\n  }\n"
      "#pragma unroll\n  for (uint32_t k = 0; k < %u; k++) {\n    const uint32_t i = begin + k * REGION_THREADS;\n"
      "    if (i < pairs) {\n",
      body->store_count, body->pairs);
  for (uint32_t i = 0; i < body->store_count; i++) {
    put(text, "      to%u[i] = out[k][%u];\n", i, i);
  }
  put(text, "    }\n  }\n}\n");
}

char *hx_cuda_generate(const hx_cuda_body_t *body) {
  maker_t m = {.body = body};
  if (!is_whole(body)) {
    return NULL;
  }
  put(&m.text, "#define REGION_WORD %u\n#include \"region.cuh\"\n\n", body->word);
  if (body->integer) {
    put_values(&m, false);
  }
  if (body->real) {
    put_values(&m, true);
  }
  put_kernel(&m.text, body);
  if (m.text.failed) {
    free(m.text.data);
    return NULL;
  }
  return m.text.data;
}
