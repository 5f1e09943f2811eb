// SPDX-License-Identifier: Apache-2.0
// A matrix-vector product by baby steps and giant steps as a program: y = sum over g of rot(sum over b of
// diagonal(g,b) * rot(x, b), baby * g), diagonals as materials @d<g>_<b>, which are rotated by -baby * g beforehand.
// Plain: one rotation, product and addition a term.
#ifndef HELIOX_TESTS_UNIT_BSGS_H
#define HELIOX_TESTS_UNIT_BSGS_H

#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"

typedef struct bsgs {
  uint32_t baby, giant, slots, limbs;  // limbs: rows of Q at depth 0
  const char *scale;
} bsgs_t;

static inline void bsgs_type(const bsgs_t *shape, const char *kind, uint32_t components, hx_text_t *out) {
  hx_text_printf(out, "!ckks.%s<batch = [], components = %u, depth = 0, scale = \"%s\", primes = [", kind, components,
                 shape->scale);
  for (uint32_t i = 0; i < shape->limbs; ++i) hx_text_printf(out, "%s%u", i == 0 ? "" : ", ", i);
  hx_text_printf(out, "], basis = Q, domain = ntt, repr = standard, slots = %u>", shape->slots);
}

#define BSGS_CT "!ckks.ciphertext<>"

// Text of the program; freed by hx_text_deinit.
static inline void bsgs_text(const bsgs_t *shape, hx_text_t *out) {
  hx_text_t ct, pt;
  hx_text_init(&ct);
  hx_text_init(&pt);
  hx_text_init(out);
  bsgs_type(shape, "ciphertext", 2, &ct);
  bsgs_type(shape, "plaintext", 1, &pt);
  hx_text_printf(out, "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%%x: %s):\n", ct.data);
  for (uint32_t b = 1; b < shape->baby; ++b)
    hx_text_printf(out, "%%x%u = \"ckks.rotate\"(%%x) {step = %u : i64} : (%s) -> " BSGS_CT "\n", b, b, ct.data);
  for (uint32_t g = 0; g < shape->giant; ++g) {
    for (uint32_t b = 0; b < shape->baby; ++b) {
      hx_text_printf(out, "%%d%u_%u = \"material.ref\"() {symbol = @d%u_%u} : () -> %s\n", g, b, g, b, pt.data);
      hx_text_printf(out, "%%p%u_%u = \"ckks.mul_plain\"(%%x", g, b);
      if (b > 0) hx_text_printf(out, "%u", b);
      hx_text_printf(out, ", %%d%u_%u) : (%s, %s) -> " BSGS_CT "\n", g, b, b > 0 ? BSGS_CT : ct.data, pt.data);
      if (b == 0) continue;
      hx_text_printf(out, "%%s%u_%u = \"ckks.add\"(%%%c%u_%u, %%p%u_%u) : (" BSGS_CT ", " BSGS_CT ") -> " BSGS_CT "\n",
                     g, b, b == 1 ? 'p' : 's', g, b - 1, g, b);
    }
    if (g > 0)
      hx_text_printf(out, "%%r%u = \"ckks.rotate\"(%%s%u_%u) {step = %u : i64} : (" BSGS_CT ") -> " BSGS_CT "\n", g, g,
                     shape->baby - 1, shape->baby * g);
    if (g == 1)
      hx_text_printf(out, "%%y1 = \"ckks.add\"(%%s0_%u, %%r1) : (" BSGS_CT ", " BSGS_CT ") -> " BSGS_CT "\n",
                     shape->baby - 1);
    if (g > 1)
      hx_text_printf(out, "%%y%u = \"ckks.add\"(%%y%u, %%r%u) : (" BSGS_CT ", " BSGS_CT ") -> " BSGS_CT "\n", g, g - 1,
                     g);
  }
  hx_text_printf(out,
                 "\"func.return\"(%%y%u) : (" BSGS_CT
                 ") -> ()\n}) {sym_name = \"main\", function_type = (%s) -> (" BSGS_CT
                 "), arg_attrs = [{heliox.name = \"x\"}], res_attrs = [{heliox.name = \"y\"}]} : () -> ()\n}) "
                 "{heliox.version = 1 : i64} : () -> ()\n",
                 shape->giant - 1, ct.data);
  hx_text_deinit(&ct);
  hx_text_deinit(&pt);
}

// Steps that the program rotates by; returns their number (out has room for baby + giant).
static inline size_t bsgs_steps(const bsgs_t *shape, int64_t *out) {
  size_t count = 0;
  for (uint32_t b = 1; b < shape->baby; ++b) out[count++] = b;
  for (uint32_t g = 1; g < shape->giant; ++g) out[count++] = (int64_t)shape->baby * g;
  return count;
}

// The diagonal of term (g, b) of a matrix of n = baby * giant rows, repeated over the slots: slot i has
// M[i - baby * g mod n][i + b mod n], so that rotating by baby * g gives M[i][i + baby * g + b].
static inline void bsgs_diagonal(const bsgs_t *shape, const double *matrix, uint32_t g, uint32_t b, double *out) {
  const uint32_t n = shape->baby * shape->giant;
  for (uint32_t i = 0; i < shape->slots; ++i) {
    const uint32_t row = (i % n + n - (shape->baby * g) % n) % n;
    out[i] = matrix[row * n + (i % n + b) % n];
  }
}

#endif
