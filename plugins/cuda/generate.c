// SPDX-License-Identifier: Apache-2.0
#include "generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate_text.h"

void hx_cuda_put(hx_cuda_text_t *text, const char *format, ...) {
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
    if (larger != NULL) {
      text->data = larger;
      text->room = room;
    } else {
      text->failed = true;
    }
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

bool hx_cuda_body_takes_narrow(const hx_cuda_body_t *body) {
  for (uint32_t i = 0; i < body->element_count; i++) {
    if (body->elements[i].lazy) {
      return false;
    }
  }
  return body->word == 32;
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
      (body->real && !hx_cuda_body_takes_real(body)) || (body->narrow && !hx_cuda_body_takes_narrow(body))) {
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
void hx_cuda_put_constant(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t word) {
  const uint32_t at = hx_cuda_body_constant(m->body, e->constant) + word;
  hx_cuda_put(&m->text, e->halves ? "record[%u + 2 * half]" : "record[%u]", at);
}

// ---- the source

static void put_values(hx_cuda_maker_t *m, bool real) {
  const hx_cuda_body_t *body = m->body;
  hx_cuda_text_t *text = &m->text;
  hx_cuda_put(text,
              "static __device__ __forceinline__ void %s_values(const uint64_t *record, bool first, uint32_t half,\n"
              "    const uint64_t (&x)[%u], uint64_t (&y)[%u]) {\n"
              "  const hx_cuda_prime_t *p = (const hx_cuda_prime_t *)record;\n",
              real ? "real" : "integer", body->load_count, body->store_count);
  hx_cuda_put(text, real           ? "  const double q = p->real_q, inverse = p->real_inverse;\n"
                    : body->narrow ? "  const uint32_t q = (uint32_t)p->q;\n"
                                   : "  const uint64_t q = p->q;\n");
  hx_cuda_put(text, "  (void)first, (void)half;\n");
  for (uint32_t i = 0; i < body->load_count; i++) {
    hx_cuda_put(text,
                real           ? "  const double v%u = real_load(x[%u]);\n"
                : body->narrow ? "  const uint32_t v%u = (uint32_t)x[%u];\n"
                               : "  const uint64_t v%u = x[%u];\n",
                i, i);
    m->size[i] = 1;
  }
  memset(m->reduced, 0, sizeof m->reduced);
  for (uint32_t k = 0; k < body->element_count; k++) {
    if (real) {
      hx_cuda_put_real(m, &body->elements[k], body->load_count + k);
    } else {
      hx_cuda_put_integer(m, &body->elements[k], body->load_count + k);
    }
  }
  for (uint32_t i = 0; i < body->store_count; i++) {
    hx_cuda_put(text, real ? "  y[%u] = real_store(" : "  y[%u] = ", i);
    if (real) {
      hx_cuda_put_name(m, body->stores[i]);
      hx_cuda_put(text, ", q, inverse);\n");
    } else {
      hx_cuda_put(text, "v%u;\n", body->stores[i]);
    }
  }
  hx_cuda_put(text, "}\n\n");
}

static void put_place(hx_cuda_text_t *text, const char *name, uint32_t index, uint32_t place) {
  const uint32_t half = HX_CUDA_REGION_PLACES_MAX / 2;
  hx_cuda_put(text, "  region_pair *const %s%u = region_row(args.%s[%u], record[%u]);\n", name, index,
              place < half ? "more" : "more_rows", place % half, HX_CUDA_REGION_OFFSETS + place);
}

static void put_call(hx_cuda_text_t *text, const hx_cuda_body_t *body, const char *half) {
  if (body->integer && body->real) {
    hx_cuda_put(text, "    if (reals) real_values(record, first, half, %s, %s_out);\n", half, half);
    hx_cuda_put(text, "    else integer_values(record, first, half, %s, %s_out);\n", half, half);
  } else {
    hx_cuda_put(text, "    %s_values(record, first, half, %s, %s_out);\n", body->real ? "real" : "integer", half, half);
  }
}

// Everything a thread reads is read before anything is computed, and all is computed before anything is written.
static void put_kernel(hx_cuda_text_t *text, const hx_cuda_body_t *body) {
  hx_cuda_put(
      text,
      "extern \"C\" __global__ void __launch_bounds__(REGION_THREADS) hx_region(const __grid_constant__ hx_cuda_args_t "
      "args) {\n"
      "  wait_for_previous();\n"
      "  const uint32_t row = blockIdx.x >> args.x, pairs = 1u << (args.log_n - 1);\n"
      "  const uint32_t begin = (blockIdx.x & ((1u << args.x) - 1)) * (REGION_THREADS * %u) + threadIdx.x;\n"
      "  const uint64_t *record = (const uint64_t *)args.extra + (uint64_t)row * args.count;\n"
      "  const bool first = record[%u] != 0;\n",
      body->pairs, HX_CUDA_REGION_FIRST);
  if (body->integer && body->real) {
    hx_cuda_put(text, "  const bool reals = ((const hx_cuda_prime_t *)record)->bits <= args.y;\n");
  }
  for (uint32_t i = 0; i < body->load_count; i++) {
    put_place(text, "from", i, i);
  }
  for (uint32_t i = 0; i < body->store_count; i++) {
    put_place(text, "to", i, body->load_count + i);
  }
  hx_cuda_put(text,
              "  region_pair in[%u][%u], out[%u][%u];\n"
              "#pragma unroll\n  for (uint32_t k = 0; k < %u; k++) {\n"
              "    const uint32_t i = begin + k * REGION_THREADS < pairs ? begin + k * REGION_THREADS : pairs - 1;\n",
              body->pairs, body->load_count, body->pairs, body->store_count, body->pairs);
  for (uint32_t i = 0; i < body->load_count; i++) {
    hx_cuda_put(text,
                body->first_only[i] ? "    in[k][%u] = first ? from%u[i] : region_pair{0, 0};\n"
                                    : "    in[k][%u] = from%u[i];\n",
                i, i);
  }
  hx_cuda_put(
      text,
      "  }\n#pragma unroll\n  for (uint32_t k = 0; k < %u; k++) {\n"
      "    const uint32_t half = begin + k * REGION_THREADS >= pairs / 2 ? 1 : 0;\n"
      "    uint64_t low[%u], high[%u], low_out[%u], high_out[%u];\n"
      "#pragma unroll\n    for (int j = 0; j < %u; j++) {\n      low[j] = in[k][j].x;\n      high[j] = in[k][j].y;\n   "
      " }\n",
      body->pairs, body->load_count, body->load_count, body->store_count, body->store_count, body->load_count);
  put_call(text, body, "low");
  put_call(text, body, "high");
  hx_cuda_put(
      text,
      "#pragma unroll\n    for (int j = 0; j < %u; j++) {\n      out[k][j].x = (region_word)low_out[j];\n"
      "      out[k][j].y = (region_word)high_out[j];\n    }\n  }\n"
      "#pragma unroll\n  for (uint32_t k = 0; k < %u; k++) {\n    const uint32_t i = begin + k * REGION_THREADS;\n"
      "    if (i < pairs) {\n",
      body->store_count, body->pairs);
  for (uint32_t i = 0; i < body->store_count; i++) {
    hx_cuda_put(text, "      to%u[i] = out[k][%u];\n", i, i);
  }
  hx_cuda_put(text, "    }\n  }\n}\n");
}

char *hx_cuda_generate(const hx_cuda_body_t *body) {
  hx_cuda_maker_t m = {.body = body};
  if (!is_whole(body)) {
    return NULL;
  }
  hx_cuda_put(&m.text, "#define REGION_WORD %u\n#include \"region.cuh\"\n\n", body->word);
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
