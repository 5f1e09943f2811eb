// SPDX-License-Identifier: Apache-2.0
// Programs of the ckks dialect at random, from a seed, straight or with control flow: sums of weighted rotations,
// products, maintenance, loops and branches. All of them run under LINK_RING with rotations 1, 2, 5, -1.
#ifndef HELIOX_TESTS_UNIT_PASS_PROGRAMS_H
#define HELIOX_TESTS_UNIT_PASS_PROGRAMS_H

#include "tests/unit/link_fixture.h"

// State that additions have to share: depth, scale as 2^e times powers of the primes, and how large the message may be.
typedef struct maker_value {
  int number;
  int depth, exponent, powers[5];
  double size;
} maker_value_t;

typedef struct maker {
  uint64_t state;
  hx_text_t text;
  maker_value_t values[128];
  size_t count;
  int next;
} maker_t;

static inline uint32_t maker_draw(maker_t *maker, uint32_t below) {
  maker->state = maker->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((maker->state >> 33) % below);
}

static inline bool maker_alike(const maker_value_t *a, const maker_value_t *b) {
  return a->depth == b->depth && a->exponent == b->exponent && memcmp(a->powers, b->powers, sizeof a->powers) == 0;
}

static inline maker_value_t *maker_some(maker_t *maker) {
  const uint32_t recent = maker->count > 12 ? 12 : (uint32_t)maker->count;
  return &maker->values[maker->count - 1 - maker_draw(maker, recent)];
}

// A value alike to `a`, `a` itself at worst.
static inline maker_value_t *maker_partner(maker_t *maker, maker_value_t *a) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    maker_value_t *b = maker_some(maker);
    if (maker_alike(a, b)) return b;
  }
  return a;
}

static inline maker_value_t *maker_add(maker_t *maker, const maker_value_t *like) {
  maker_value_t *value = &maker->values[maker->count++];
  *value = *like;
  value->number = maker->next++;
  return value;
}

static inline maker_value_t maker_unary(maker_t *maker, const maker_value_t *a, const char *op, const char *attrs) {
  const maker_value_t from = *a;
  const maker_value_t *to = maker_add(maker, &from);
  hx_text_printf(&maker->text, "%%%d = \"ckks.%s\"(%%%d) %s : (" CT ") -> " CT "\n", to->number, op, from.number,
                 attrs);
  return *to;
}

static inline maker_value_t maker_binary(maker_t *maker, const maker_value_t *a, const maker_value_t *b,
                                         const char *op) {
  const maker_value_t left = *a, right = *b;
  maker_value_t *to = maker_add(maker, &left);
  to->size = left.size + right.size;
  hx_text_printf(&maker->text, "%%%d = \"ckks.%s\"(%%%d, %%%d) : (" CT ", " CT ") -> " CT "\n", to->number, op,
                 left.number, right.number);
  return *to;
}

static inline void maker_rescale(maker_t *maker, maker_value_t *value) {
  const int group = 4 - value->depth;
  *value = maker_unary(maker, value, "rescale", "");
  maker_value_t *kept = &maker->values[maker->count - 1];
  kept->depth += 1;
  kept->powers[group] -= 1;
  *value = *kept;
}

// A plaintext at the value's depth: @w<k> is at depth 0.
static inline int maker_plain(maker_t *maker, int depth) {
  const int number = maker->next++, dropped = maker->next++;
  hx_text_printf(&maker->text, "%%%d = \"material.ref\"() {symbol = @w%u} : () -> " PT0 "\n", number,
                 maker_draw(maker, 4));
  if (depth == 0) return number;
  hx_text_printf(&maker->text, "%%%d = \"ckks.level_drop\"(%%%d) {depth = %d : i64} : (" PT0 ") -> " PT "\n", dropped,
                 number, depth);
  return dropped;
}

static inline maker_value_t maker_weighted(maker_t *maker, const maker_value_t *a) {
  const maker_value_t from = *a;
  const int plain = maker_plain(maker, from.depth);
  maker_value_t *to = maker_add(maker, &from);
  to->exponent += 40;
  hx_text_printf(&maker->text, "%%%d = \"ckks.mul_plain\"(%%%d, %%%d) : (" CT ", %s) -> " CT "\n", to->number,
                 from.number, plain, from.depth == 0 ? PT0 : PT);
  return *to;
}

static const char *const maker_steps[] = {"{step = 1 : i64}", "{step = 2 : i64}", "{step = 5 : i64}",
                                          "{step = -1 : i64}", "{step = 0 : i64}"};

// sum of w * rot(x, k), perhaps two such sums of one value, rotated and added: the steps of a matrix product.
static inline void maker_matrix(maker_t *maker) {
  maker_value_t x = *maker_some(maker);
  if (x.exponent > 100 || x.size > 64) return;
  maker_value_t rotated[4] = {x}, total = {0};
  const uint32_t terms = 3 + maker_draw(maker, 2), groups = 1 + maker_draw(maker, 2);
  for (uint32_t t = 1; t < terms; ++t) rotated[t] = maker_unary(maker, &x, "rotate", maker_steps[t - 1]);
  for (uint32_t g = 0; g < groups; ++g) {
    maker_value_t sum = maker_weighted(maker, &rotated[0]);
    for (uint32_t t = 1; t < terms; ++t) {
      const maker_value_t term = maker_weighted(maker, &rotated[t]);
      sum = maker_binary(maker, &sum, &term, "add");
    }
    if (g == 0) {
      total = maker_draw(maker, 2) == 0 ? sum : maker_unary(maker, &sum, "rotate", "{step = 5 : i64}");
    } else {
      const maker_value_t turned = maker_unary(maker, &sum, "rotate", "{step = 2 : i64}");
      total = maker_binary(maker, &total, &turned, "add");
    }
  }
  if (total.depth < 3) maker_rescale(maker, &total);
}

static inline void maker_product(maker_t *maker) {
  maker_value_t a = *maker_some(maker), b = *maker_partner(maker, &a);
  if (a.exponent > 100 || a.depth > 2 || a.size * b.size > 4096) return;
  maker_value_t *product = maker_add(maker, &a);
  product->exponent += b.exponent;
  for (int i = 0; i < 5; ++i) product->powers[i] += b.powers[i];
  product->size = a.size * b.size;
  const maker_value_t wide = *product;
  --maker->count;  // three components: only relinearize reads it
  if (a.number == b.number && maker_draw(maker, 2) == 0) {
    hx_text_printf(&maker->text, "%%%d = \"ckks.square\"(%%%d) : (" CT ") -> " CT "\n", wide.number, a.number);
  } else {
    hx_text_printf(&maker->text, "%%%d = \"ckks.mul\"(%%%d, %%%d) : (" CT ", " CT ") -> " CT "\n", wide.number,
                   a.number, b.number);
  }
  maker_value_t narrow = maker_unary(maker, &wide, "relinearize", "");
  maker_rescale(maker, &narrow);
}

static inline void maker_simple(maker_t *maker) {
  maker_value_t a = *maker_some(maker), b = *maker_partner(maker, &a);
  char attrs[64];
  switch (maker_draw(maker, 9)) {
    case 0:
      maker_binary(maker, &a, &b, "add");
      break;
    case 1:
      maker_binary(maker, &a, &b, "sub");
      break;
    case 2:
      maker_unary(maker, &a, "neg", "");
      break;
    case 3: {
      const uint32_t factor = 1 + maker_draw(maker, 3);
      if (a.size * factor > 512) return;
      snprintf(attrs, sizeof attrs, "{integer = -%u : i64}", factor);
      maker_unary(maker, &a, "mul_integer", attrs);
      maker->values[maker->count - 1].size *= factor;
      break;
    }
    case 4:
      maker_unary(maker, &a, "conjugate", "");
      break;
    case 5:
      if (a.depth > 2) return;
      snprintf(attrs, sizeof attrs, "{depth = %d : i64}", a.depth + 1);
      maker_unary(maker, &a, "level_drop", attrs);
      maker->values[maker->count - 1].depth += 1;
      break;
    case 6: {
      const maker_value_t there = maker_unary(maker, &a, "from_ntt", "");
      --maker->count;
      maker_unary(maker, &there, "to_ntt", "");
      break;
    }
    case 7:
      maker_unary(maker, &a, "add_scalar", "{value = 0.5 : f64}");
      maker->values[maker->count - 1].size += 1;
      break;
    default:
      maker_unary(maker, &a, "rotate", maker_steps[maker_draw(maker, HX_COUNT_OF(maker_steps))]);
      break;
  }
}

static inline void maker_fill(maker_t *maker, uint32_t operations, int nesting);

// A branch on a public number, or a loop with one carried value; inside, values from outside are read too.
static inline void maker_region(maker_t *maker, int counter, int nesting) {
  const maker_value_t carried = *maker_some(maker);
  const size_t mark = maker->count;
  if (carried.size > 16) return;
  const bool is_loop = maker_draw(maker, 2) == 0;
  const int result = maker->next++, argument = maker->next++, condition = maker->next++;
  if (is_loop) {
    hx_text_printf(&maker->text, "%%%d = \"scf.for\"(%%k0, %%k3, %%k1, %%%d) ({\n^body(%%i%d: index, %%%d: " CT "):\n",
                   result, carried.number, result, argument);
    maker_value_t *value = maker_add(maker, &carried);
    value->number = argument;
  } else {
    hx_text_printf(&maker->text, "%%%d = \"arith.cmpi\"(%%%s%d, %%k1) {predicate = 2 : i64} : (index, index) -> i1\n",
                   condition, counter < 0 ? "k" : "i", counter < 0 ? 0 : counter);
    hx_text_printf(&maker->text, "%%%d = \"scf.if\"(%%%d) ({\n", result, condition);
  }
  for (int branch = 0; branch < (is_loop ? 1 : 2); ++branch) {
    if (branch == 1) hx_text_printf(&maker->text, "}, {\n");
    maker_fill(maker, 1 + maker_draw(maker, 3), nesting - 1);
    const maker_value_t *last = &maker->values[maker->count - 1];
    const maker_value_t *given = maker_alike(last, &carried) && last->size < 32 ? last : &carried;
    const int yielded = given == &carried && is_loop ? argument : given->number;
    hx_text_printf(&maker->text, "\"scf.yield\"(%%%d) : (" CT ") -> ()\n", yielded);
    maker->count = mark;
  }
  hx_text_printf(&maker->text, is_loop ? "}) : (index, index, index, " CT ") -> " CT "\n" : "}) : (i1) -> " CT "\n");
  maker_value_t *value = maker_add(maker, &carried);
  value->number = result;
  value->size = 64;
}

static inline void maker_fill(maker_t *maker, uint32_t operations, int nesting) {
  for (uint32_t i = 0; i < operations && maker->count < 100; ++i) {
    const uint32_t what = maker_draw(maker, 10);
    if (what < 3) {
      maker_matrix(maker);
    } else if (what == 3) {
      maker_product(maker);
    } else if (what == 4 && nesting > 0) {
      maker_region(maker, -1, nesting);
    } else {
      maker_simple(maker);
    }
  }
}

// Text of a program of two ciphertexts; freed by hx_text_deinit.
static inline void maker_program(uint64_t seed, bool control, hx_text_t *out) {
  maker_t maker = {.state = seed * 0x9e3779b97f4a7c15u + 7, .next = 2};
  hx_text_init(&maker.text);
  for (int i = 0; i < 2; ++i) {
    const maker_value_t input = {.exponent = 40, .size = 1};
    maker_add(&maker, &input);
  }
  hx_text_printf(
      &maker.text,
      "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%%0: " CT0 ", %%1: " CT0
      "):\n%%k0 = \"arith.constant\"() {value = 0 : index} : () -> index\n%%k1 = \"arith.constant\"() {value "
      "= 1 : index} : () -> index\n%%k3 = \"arith.constant\"() {value = 2 : index} : () -> index\n");
  // Values that everything else reads have an open type, so that operands are written alike.
  for (int i = 0; i < 2; ++i)
    hx_text_printf(&maker.text, "%%%d = \"ckks.neg\"(%%%d) : (" CT0 ") -> " CT "\n", 2 + i, i);
  maker_fill(&maker, 10 + maker_draw(&maker, 10), control ? 2 : 0);
  const maker_value_t *last = &maker.values[maker.count - 1];
  hx_text_printf(&maker.text,
                 "\"func.return\"(%%%d, %%%d) : (" CT ", " CT ") -> ()\n}) {sym_name = \"main\", function_type = (" CT0
                 ", " CT0 ") -> (" CT ", " CT ")} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n",
                 last->number, maker.values[maker_draw(&maker, (uint32_t)maker.count)].number);
  *out = maker.text;
}

#endif
