// SPDX-License-Identifier: Apache-2.0
// Every operation of the cuda plugin against the reference, on a device (skipped where there is none): rings of both
// words, sizes 2^3 to 2^16, primes of 20 to 61 bits, edge and random residues, dense, gapped, swapped and repeating
// layouts, batches, in place where allowed.
#include "cudacheck.h"

typedef struct sweep {
  kc_t *kc;
  kc_pattern_t pattern;
  kc_layout_t in, out;
  uint32_t batch_rank;  // 0, or 2: a batch of 2 x 2
} sweep_t;

static bool checked[128], aliased[128];

static uint32_t row_of(const char *name) {
  for (uint32_t i = 0; i < hx_cuda_plugin.row_count; i++) {
    if (strcmp(hx_cuda_impls[i]->op, name) == 0) {
      return i;
    }
  }
  fail_msg("%s is not registered", name);
  return 0;
}

static void check(const sweep_t *s, const char *name, const hx_attr *attrs, uint32_t attr_count,
                  kc_tensor_t *const *operands, uint32_t operand_count, kc_tensor_t *const *results,
                  uint32_t result_count) {
  const kc_op_t op = {name, attrs, attr_count, operands, operand_count, results, result_count};
  const uint32_t row = row_of(name);
  checked[row] = true;
  aliased[row] |= kc_check(s->kc, &op);
}

static kc_shape_t shape_of(const sweep_t *s, kc_layout_t layout, uint32_t components, uint32_t limbs,
                           const uint32_t *ids, uint32_t domain) {
  return (kc_shape_t){.components = components,
                      .limbs = limbs,
                      .ids = ids,
                      .domain = domain,
                      .repr = HX_STANDARD,
                      .batch_rank = s->batch_rank,
                      .batch = {2, 2},
                      .layout = layout};
}

static kc_tensor_t *operand(const sweep_t *s, uint32_t components, uint32_t limbs, const uint32_t *ids,
                            uint32_t domain) {
  const kc_shape_t shape = shape_of(s, s->in, components, limbs, ids, domain);
  return kc_tensor(s->kc, &shape, s->pattern);
}

static kc_tensor_t *result(const sweep_t *s, uint32_t components, uint32_t limbs, const uint32_t *ids,
                           uint32_t domain) {
  const kc_shape_t shape = shape_of(s, s->out, components, limbs, ids, domain);
  return kc_tensor(s->kc, &shape, KC_RANDOM);
}

static void set_repr(kc_tensor_t *t, uint32_t repr) { t->desc.repr = repr; }

static uint32_t prime_count(const sweep_t *s) { return s->kc->ring.q_count + s->kc->ring.p_count; }

// ------------------------------------------------------------------ rows on their own

static void case_ntt(const sweep_t *s) {
  const uint32_t limbs = prime_count(s);
  kc_tensor_t *a = operand(s, 1, limbs, NULL, HX_COEFFICIENT), *b = operand(s, 1, limbs, NULL, HX_NTT);
  kc_tensor_t *out = result(s, 1, limbs, NULL, HX_NTT), *back = result(s, 1, limbs, NULL, HX_COEFFICIENT);
  check(s, "ntt.forward", NULL, 0, &a, 1, &out, 1);
  check(s, "ntt.inverse", NULL, 0, &b, 1, &back, 1);
}

static void case_linear(const sweep_t *s) {
  static const char *const names[] = {"rns.add", "rns.sub", "rns.neg", "ckks.add", "ckks.sub", "ckks.neg"};
  for (uint32_t lazy = 0; lazy < 2; lazy++) {
    kc_shape_t shape = shape_of(s, s->in, 2, 3, NULL, HX_NTT);
    shape.repr = lazy ? HX_LAZY : HX_STANDARD;
    kc_tensor_t *operands[] = {kc_tensor(s->kc, &shape, s->pattern), kc_tensor(s->kc, &shape, KC_EDGES)};
    shape.layout = s->out;
    kc_tensor_t *out = kc_tensor(s->kc, &shape, KC_RANDOM);
    for (uint32_t i = 0; i < (lazy ? 3u : 6u); i++) {
      check(s, names[i], NULL, 0, operands, i % 3 == 2 ? 1 : 2, &out, 1);
    }
  }
}

static void case_reduce(const sweep_t *s) {
  kc_tensor_t *a = operand(s, 2, 3, NULL, HX_COEFFICIENT), *out = result(s, 2, 3, NULL, HX_COEFFICIENT);
  set_repr(a, HX_LAZY);
  const size_t word = s->kc->ring.word / 8;
  memset(kc_row(a, 0, 0, 0, 0), 0xff, word << s->kc->ring.log_n);  // the largest words there are
  check(s, "rns.reduce", NULL, 0, &a, 1, &out, 1);
}

static void case_products(const sweep_t *s) {
  kc_tensor_t *acc = operand(s, 2, 3, NULL, HX_NTT), *a = operand(s, 2, 3, NULL, HX_NTT);
  const kc_shape_t shape = shape_of(s, s->in, 2, 3, NULL, HX_NTT);
  kc_tensor_t *b = kc_tensor(s->kc, &shape, s->pattern == KC_TOP ? KC_TOP : KC_EDGES);
  kc_tensor_t *plain = operand(s, 1, 3, NULL, HX_NTT), *out = result(s, 2, 3, NULL, HX_NTT);
  kc_tensor_t *const three[] = {acc, a, b}, *const two[] = {a, b}, *const with_plain[] = {a, plain};
  check(s, "rns.mul", NULL, 0, two, 2, &out, 1);
  check(s, "rns.mul", NULL, 0, (kc_tensor_t *const[]){a, a}, 2, &out, 1);
  check(s, "rns.mul_add", NULL, 0, three, 3, &out, 1);
  check(s, "ckks.add_plain", NULL, 0, with_plain, 2, &out, 1);
  check(s, "ckks.sub_plain", NULL, 0, with_plain, 2, &out, 1);
  check(s, "ckks.mul_plain", NULL, 0, with_plain, 2, &out, 1);
  kc_tensor_t *tensor = result(s, 3, 3, NULL, HX_NTT);
  check(s, "ckks.mul", NULL, 0, two, 2, &tensor, 1);
  check(s, "ckks.square", NULL, 0, &b, 1, &tensor, 1);
}

static void case_montgomery(const sweep_t *s) {
  kc_tensor_t *a = operand(s, 2, 3, NULL, HX_NTT), *b = operand(s, 2, 3, NULL, HX_NTT);
  kc_tensor_t *out = result(s, 2, 3, NULL, HX_NTT);
  set_repr(out, HX_MONTGOMERY);
  check(s, "rns.to_montgomery", NULL, 0, &a, 1, &out, 1);
  set_repr(a, HX_MONTGOMERY);
  set_repr(b, HX_MONTGOMERY);
  check(s, "rns.mul_montgomery", NULL, 0, (kc_tensor_t *const[]){a, b}, 2, &out, 1);
  set_repr(out, HX_STANDARD);
  check(s, "rns.from_montgomery", NULL, 0, &a, 1, &out, 1);
}

static void case_scalars(const sweep_t *s) {
  kc_tensor_t *a = operand(s, 2, 3, NULL, HX_NTT), *out = result(s, 2, 3, NULL, HX_NTT);
  uint64_t residues[6];
  for (uint32_t i = 0; i < 6; i++) {
    const uint64_t q = s->kc->primes[i / 2];
    residues[i] = s->pattern == KC_TOP ? q - 1 : s->pattern == KC_ZERO ? 0 : kc_next(s->kc) % q;
  }
  const uint64_t rows[3] = {residues[0], residues[2], residues[4]};
  const hx_attr one = kc_u64("residues", rows, 3), two = kc_u64("residues", residues, 6);
  check(s, "rns.mul_scalar", &one, 1, &a, 1, &out, 1);
  check(s, "rns.add_scalar", &one, 1, &a, 1, &out, 1);
  check(s, "ckks.mul_scalar", &two, 1, &a, 1, &out, 1);
  check(s, "ckks.add_scalar", &two, 1, &a, 1, &out, 1);
  const int64_t integers[] = {0, 1, -1, -3, INT64_MIN, INT64_MAX};
  for (uint32_t i = 0; i < 6; i++) {
    const hx_attr integer = kc_i64("integer", &integers[i], 1);
    check(s, "ckks.mul_integer", &integer, 1, &a, 1, &out, 1);
  }
}

static void case_automorphism(const sweep_t *s) {
  const int64_t n = (int64_t)1 << s->kc->ring.log_n, elements[] = {1, 5, 2 * n - 1, n + 1, 25 % (2 * n)};
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; domain++) {
    kc_tensor_t *a = operand(s, 2, 2, NULL, domain), *out = result(s, 2, 2, NULL, domain);
    for (uint32_t i = 0; i < 5; i++) {
      const hx_attr element = kc_i64("element", &elements[i], 1);
      check(s, "rns.automorphism", &element, 1, &a, 1, &out, 1);
    }
  }
}

// ------------------------------------------------------------------ sums and shapes

static void case_sums(const sweep_t *s) {
  for (int64_t axis = 0; axis < 2; axis++) {
    kc_shape_t shape = shape_of(s, s->in, 2, 3, NULL, HX_NTT);
    shape.batch_rank = 2;
    shape.batch[0] = 3;
    kc_tensor_t *a = kc_tensor(s->kc, &shape, s->pattern);
    shape.layout = s->out;
    shape.batch_rank = 1;
    shape.batch[0] = axis == 0 ? 2 : 3;
    kc_tensor_t *out = kc_tensor(s->kc, &shape, KC_RANDOM);
    const hx_attr attr = kc_i64("axis", &axis, 1);
    check(s, "rns.sum", &attr, 1, &a, 1, &out, 1);
  }
}

static void weighted_sum(const sweep_t *s, uint32_t terms, int64_t groups) {
  kc_tensor_t *operands[KC_TENSORS_MAX], *results[2];
  uint32_t count = 0;
  for (uint32_t t = 0; t < terms; t++) {
    operands[count++] = operand(s, 2, 2, NULL, HX_NTT);
  }
  for (uint32_t t = 0; t < terms * (uint32_t)groups; t++) {
    operands[count++] = operand(s, 1, 2, NULL, HX_NTT);
  }
  for (uint32_t g = 0; g < (uint32_t)groups; g++) {
    results[g] = result(s, 2, 2, NULL, HX_NTT);
  }
  const hx_attr attr = kc_i64("groups", &groups, 1);
  check(s, "rns.weighted_sum", &attr, 1, operands, count, results, (uint32_t)groups);
}

static void case_weighted_sum(const sweep_t *s) {
  weighted_sum(s, 1, 1);
  weighted_sum(s, 5, 2);
  if (s->kc->ring.log_n < 6) {  // beyond what one pass sums
    kc_clear(s->kc);
    weighted_sum(s, 67, 1);
  }
}

static void case_key_product(const sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count, np = s->kc->ring.p_count, n_all = nq + np;
  uint32_t ids[KC_PRIMES_MAX], rows[KC_PRIMES_MAX], count = 0;
  for (uint32_t i = 0; i < n_all; i++) {  // one depth down: the last of Q's primes is gone
    if (i != nq - 1) {
      rows[count] = i;
      ids[count++] = i;
    }
  }
  kc_shape_t shape = {
      .digits = 3, .components = 2, .limbs = n_all, .domain = HX_NTT, .repr = HX_STANDARD, .layout = s->in};
  if (shape.layout == KC_REPEAT) {
    shape.layout = KC_DENSE;
  }
  kc_tensor_t *key = kc_tensor(s->kc, &shape, KC_EDGES);
  kc_tensor_t *d = operand(s, 1, count, ids, HX_NTT), *acc = operand(s, 2, count, ids, HX_NTT);
  kc_tensor_t *out = result(s, 2, count, ids, HX_NTT);
  for (int64_t digit = 0; digit < 3; digit += 2) {
    const hx_attr attr = kc_i64("digit", &digit, 1);
    check(s, "rns.key_product", &attr, 1, (kc_tensor_t *const[]){d, key}, 2, &out, 1);
    check(s, "rns.key_product", &attr, 1, (kc_tensor_t *const[]){d, key, acc}, 3, &out, 1);
  }
  // The same key as the host's view of the rows at this depth.
  memcpy(key->ids, ids, sizeof ids);
  key->desc.limbs = count;
  key->desc.rows = rows;
  const int64_t digit = 1;
  const hx_attr attr = kc_i64("digit", &digit, 1);
  check(s, "rns.key_product", &attr, 1, (kc_tensor_t *const[]){d, key, acc}, 3, &out, 1);
}

static void case_shapes(const sweep_t *s) {
  static const uint32_t low[] = {0, 3}, high[] = {1, 2, 5}, all[] = {0, 1, 2, 3, 5};
  const int64_t wanted[] = {1, 3, 5}, first = 1, count = 2;
  static const uint32_t kept[] = {1, 3, 5};
  kc_tensor_t *a = operand(s, 3, 2, low, HX_NTT), *b = operand(s, 3, 3, high, HX_NTT);
  kc_tensor_t *joined = result(s, 3, 5, all, HX_NTT);
  check(s, "rns.concat_limbs", NULL, 0, (kc_tensor_t *const[]){a, b}, 2, &joined, 1);
  kc_tensor_t *out = result(s, 3, 3, kept, HX_NTT), *from = operand(s, 3, 5, all, HX_NTT);
  const hx_attr ids = kc_i64("ids", wanted, 3);
  check(s, "rns.select_limbs", &ids, 1, &from, 1, &out, 1);
  kc_tensor_t *two = result(s, 2, 5, all, HX_NTT), *five = result(s, 5, 5, all, HX_NTT);
  const hx_attr range[] = {kc_i64("first", &first, 1), kc_i64("count", &count, 1)};
  check(s, "rns.select_components", range, 2, &from, 1, &two, 1);
  kc_tensor_t *pair = operand(s, 2, 5, all, HX_NTT);
  check(s, "rns.pack_components", NULL, 0, (kc_tensor_t *const[]){pair, from}, 2, &five, 1);
}

// ------------------------------------------------------------------ bases

static void case_mod_up(const sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count, np = s->kc->ring.p_count, run = s->kc->ring.digit_run;
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; domain++) {
    for (uint32_t active = nq; active >= 1; active -= nq > 2 ? 2 : 1) {
      uint32_t ids[KC_PRIMES_MAX];
      for (uint32_t i = 0; i < active + np; i++) {
        ids[i] = i < active ? i : nq + i - active;
      }
      kc_tensor_t *a = operand(s, 1, active, NULL, domain), *out = result(s, 1, active + np, ids, domain);
      for (int64_t digit = 0; digit * run < active; digit++) {
        const hx_attr attr = kc_i64("digit", &digit, 1);
        check(s, "rns.mod_up", &attr, 1, &a, 1, &out, 1);
      }
      if (active <= 2) {
        break;
      }
    }
  }
}

static void case_mod_down(const sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count, limbs = prime_count(s);
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; domain++) {
    kc_tensor_t *a = operand(s, 2, limbs, NULL, domain), *out = result(s, 2, nq, NULL, domain);
    for (uint32_t truncating = 0; truncating < 2; truncating++) {
      const hx_attr rounding = kc_text("rounding", truncating ? "truncating" : "nearest");
      check(s, "rns.mod_down", &rounding, 1, &a, 1, &out, 1);
      const hx_attr named[] = {rounding, kc_text("drop", "P")};
      check(s, "rns.mod_down", named, 2, &a, 1, &out, 1);
      const int64_t drop[] = {1, 3, (int64_t)limbs - 1};
      uint32_t kept[KC_PRIMES_MAX], count = 0;
      for (uint32_t i = 0; i < limbs - 1; i++) {
        if (i != 1 && i != 3) {
          kept[count++] = i;
        }
      }
      const hx_attr listed[] = {rounding, kc_i64("drop", drop, 3)};
      kc_tensor_t *rest = result(s, 2, count, kept, domain);
      check(s, "rns.mod_down", listed, 2, &a, 1, &rest, 1);
    }
  }
}

static void case_rescale(const sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count;
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; domain++) {
    kc_tensor_t *a = operand(s, 2, nq, NULL, domain);
    for (int64_t count = 1; count < (int64_t)nq; count++) {
      kc_tensor_t *out = result(s, 2, nq - (uint32_t)count, NULL, domain);
      for (uint32_t truncating = 0; truncating < 2; truncating++) {
        const hx_attr attrs[] = {kc_text("rounding", truncating ? "truncating" : "nearest"),
                                 kc_i64("count", &count, 1)};
        check(s, "rns.rescale", attrs, 2, &a, 1, &out, 1);
      }
    }
  }
}

static void case_lifts(const sweep_t *s) {
  static const uint32_t source[] = {1, 2, 4}, target[] = {0, 1, 3, 5}, from[] = {2};
  const int64_t ids[] = {0, 1, 3, 5}, every[] = {0, 1, 2, 3, 4, 5};
  const hx_attr some = kc_i64("ids", ids, 4), all = kc_i64("ids", every, 6);
  kc_tensor_t *a = operand(s, 2, 3, source, HX_COEFFICIENT), *out = result(s, 2, 4, target, HX_COEFFICIENT);
  kc_tensor_t *digits = result(s, 2, 3, source, HX_COEFFICIENT), *wide = result(s, 2, 6, NULL, HX_COEFFICIENT);
  check(s, "rns.mixed_radix", NULL, 0, &a, 1, &digits, 1);
  check(s, "rns.extend_exact", &some, 1, &a, 1, &out, 1);
  check(s, "rns.extend_exact", &all, 1, &a, 1, &wide, 1);
  kc_tensor_t *limb = operand(s, 2, 1, from, HX_COEFFICIENT);
  check(s, "rns.center_lift", &some, 1, &limb, 1, &out, 1);
  check(s, "rns.center_lift", &all, 1, &limb, 1, &wide, 1);
  kc_shape_t words = shape_of(s, s->in, 2, 1, NULL, 0);
  words.dtype = HX_I64;
  words.repr = 0;
  kc_tensor_t *integers = kc_tensor(s->kc, &words, s->pattern);
  check(s, "rns.center_lift", &all, 1, &integers, 1, &wide, 1);
}

static void case_expand(const sweep_t *s) {
  const kc_shape_t bytes = {.dtype = HX_U8, .log_n = 5, .components = 1, .limbs = 1};
  const int64_t ids[] = {0, 1, 2, 4, 5}, indices[] = {0, 7, UINT32_MAX};
  static const uint32_t rows[] = {0, 1, 2, 4, 5};
  kc_tensor_t *seed = kc_tensor(s->kc, &bytes, KC_RANDOM);
  for (uint32_t i = 0; i < 3; i++) {
    kc_shape_t shape = shape_of(s, s->out, 1, 5, rows, HX_NTT);
    shape.batch_rank = 0;
    kc_tensor_t *out = kc_tensor(s->kc, &shape, KC_RANDOM);
    const hx_attr attrs[] = {kc_i64("index", &indices[i], 1), kc_i64("ids", ids, 5)};
    check(s, "rns.expand_uniform", attrs, 2, &seed, 1, &out, 1);
  }
}

// Whole key switches at two depths, with the key as it is and as a view of the depth's rows.
static void case_switch(const sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count, np = s->kc->ring.p_count, all = nq + np, run = s->kc->ring.digit_run;
  kc_shape_t shape = {.digits = (nq + run - 1) / run,
                      .components = 2,
                      .limbs = all,
                      .domain = HX_NTT,
                      .repr = HX_STANDARD,
                      .layout = s->in == KC_REPEAT ? KC_DENSE : s->in};
  kc_tensor_t *key = kc_tensor(s->kc, &shape, KC_EDGES);
  for (uint32_t active = nq; active + 1 >= nq; active--) {
    kc_tensor_t *three = operand(s, 3, active, NULL, HX_NTT), *two = operand(s, 2, active, NULL, HX_NTT);
    kc_tensor_t *out = result(s, 2, active, NULL, HX_NTT), *less = result(s, 2, active - 1, NULL, HX_NTT);
    uint32_t rows[KC_PRIMES_MAX];
    for (uint32_t i = 0; i < active + np; i++) {
      rows[i] = key->ids[i] = i < active ? i : nq + i - active;
    }
    key->desc.limbs = active + np;
    key->desc.digits = (active + run - 1) / run;
    key->desc.rows = active < nq ? rows : NULL;
    check(s, "ckks.relinearize", NULL, 0, (kc_tensor_t *const[]){three, key}, 2, &out, 1);
    check(s, "ckks.key_switch", NULL, 0, (kc_tensor_t *const[]){two, key}, 2, &out, 1);
    check(s, "ckks.conjugate", NULL, 0, (kc_tensor_t *const[]){two, key}, 2, &out, 1);
    const int64_t steps[] = {1, -3, 0};
    for (uint32_t i = 0; i < 3; i++) {
      const hx_attr step = kc_i64("step", &steps[i], 1);
      check(s, "ckks.rotate", &step, 1, (kc_tensor_t *const[]){two, key}, i < 2 ? 2 : 1, &out, 1);
    }
    check(s, "ckks.rescale", NULL, 0, &two, 1, &less, 1);
    kc_tensor_t *other = operand(s, 2, active, NULL, HX_NTT), *product = result(s, 3, active, NULL, HX_NTT);
    const kc_op_t chain[] = {{"ckks.mul", NULL, 0, (kc_tensor_t *const[]){two, other}, 2, &product, 1},
                             {"ckks.relinearize", NULL, 0, (kc_tensor_t *const[]){product, key}, 2, &out, 1},
                             {"ckks.rescale", NULL, 0, &out, 1, &less, 1}};
    const kc_op_t square = {"ckks.square", NULL, 0, &two, 1, &product, 1};
    kc_check_chain(s->kc, chain, 3);
    kc_check_chain(s->kc, chain + 1, 2);
    kc_check_chain(s->kc, (const kc_op_t[]){square, chain[1], chain[2]}, 3);
    checked[row_of("fusion.region")] = true;
  }
}

static void run_all(kc_t *kc, kc_pattern_t pattern, kc_layout_t in, kc_layout_t out, uint32_t batch_rank) {
  static void (*const cases[])(const sweep_t *) = {
      case_ntt,          case_linear,  case_reduce,       case_products,    case_montgomery, case_scalars,
      case_automorphism, case_sums,    case_weighted_sum, case_key_product, case_shapes,     case_mod_up,
      case_mod_down,     case_rescale, case_lifts,        case_expand,      case_switch};
  const sweep_t sweep = {kc, pattern, in, out, batch_rank};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cases[i](&sweep);
    kc_clear(kc);
  }
}

// ------------------------------------------------------------------ rings

// Primes large and small: those that a small ring can have are replaced by the smallest size that a larger one has.
static void open_ring(kc_t *kc, uint32_t log_n, uint32_t word) {
  uint32_t bits64[] = {61, 60, 45, 31, 20, 61, 50}, bits32[] = {31, 30, 28, 24, 20, 31, 29};
  uint32_t *bits = word == 64 ? bits64 : bits32;
  for (uint32_t i = 0; i < 7; i++) {
    bits[i] = bits[i] < log_n + 8 ? log_n + 8 : bits[i];
  }
  kc_open(kc, log_n, word, 5, 2, 2, bits);
}

static void ops_match_reference_in_small_rings(void **state) {
  (void)state;
  static const kc_layout_t layouts[] = {KC_DENSE, KC_GAPS, KC_SWAPPED, KC_REPEAT};
  kc_t kc;
  for (uint32_t word = 64; word >= 32; word -= 32) {
    static const uint32_t sizes[] = {3, 4, 7};
    for (uint32_t size = 0; size < 3; size++) {
      open_ring(&kc, sizes[size], word);
      for (uint32_t pattern = 0; pattern < KC_PATTERN_COUNT; pattern++) {
        for (uint32_t i = 0; i < 4; i++) {
          const kc_layout_t out = i == 3 ? KC_GAPS : layouts[i];
          run_all(&kc, (kc_pattern_t)pattern, layouts[i], out, i == 0 ? 0 : 2);
        }
      }
      kc_close(&kc);
    }
  }
}

static void ops_match_reference_in_large_rings(void **state) {
  (void)state;
  kc_t kc;
  static const struct { uint32_t log_n, word; } rings[] = {{10, 64}, {13, 32}, {16, 64}};
  for (uint32_t i = 0; i < 3; i++) {
    open_ring(&kc, rings[i].log_n, rings[i].word);
    run_all(&kc, KC_EDGES, KC_DENSE, KC_DENSE, 0);
    kc_close(&kc);
  }
}

// Primes of at most 50 bits alone: every conversion and key product on the real path, then all of it on integers.
static void ops_match_reference_on_both_paths(void **state) {
  (void)state;
  static const char *const variants[] = {"real", "integer"};
  static const uint32_t bits[] = {50, 50, 47, 46, 40, 50, 50};
  kc_t kc;
  for (uint32_t log_n = 12; log_n <= 14; log_n += 2) {
    for (uint32_t variant = 0; variant < 2; variant++) {
      kc_open(&kc, log_n, 64, 5, 2, 2, bits);
      kc.variant = variants[variant];
      for (uint32_t pattern = KC_TOP; pattern < KC_PATTERN_COUNT; pattern++) {
        run_all(&kc, (kc_pattern_t)pattern, KC_DENSE, KC_GAPS, 0);
      }
      kc_close(&kc);
    }
  }
}

static void ntt_matches_reference_at_every_size(void **state) {
  (void)state;
  kc_t kc;
  for (uint32_t log_n = 3; log_n <= 17; log_n++) {
    open_ring(&kc, log_n, 64);
    for (uint32_t pattern = KC_TOP; pattern <= KC_RANDOM; pattern++) {
      const sweep_t sweep = {&kc, (kc_pattern_t)pattern, KC_DENSE, KC_DENSE, 0};
      case_ntt(&sweep);
      kc_clear(&kc);
    }
    kc_close(&kc);
  }
}

// A digit of twelve primes and as many special ones: sums of more terms than one chunk of the accumulation.
static void bases_match_reference_with_many_primes(void **state) {
  (void)state;
  kc_t kc;
  for (uint32_t word = 64; word >= 32; word -= 32) {
    uint32_t bits[36];
    for (uint32_t i = 0; i < 36; i++) {
      bits[i] = word == 64 ? 61 : 31;
    }
    kc_open(&kc, 4, word, 24, 12, 12, bits);
    for (uint32_t pattern = KC_TOP; pattern < KC_PATTERN_COUNT; pattern++) {
      const sweep_t sweep = {&kc, (kc_pattern_t)pattern, KC_DENSE, KC_GAPS, 0};
      case_mod_up(&sweep);
      case_mod_down(&sweep);
      kc_clear(&kc);
      case_rescale(&sweep);
      case_lifts(&sweep);
      kc_clear(&kc);
      case_switch(&sweep);
      kc_clear(&kc);
      int64_t wanted[36];
      for (uint32_t i = 0; i < 36; i++) {
        wanted[i] = i;
      }
      kc_tensor_t *a = operand(&sweep, 1, 20, NULL, HX_COEFFICIENT), *out = result(&sweep, 1, 36, NULL, HX_COEFFICIENT);
      const hx_attr attr = kc_i64("ids", wanted, 36);
      check(&sweep, "rns.extend_exact", &attr, 1, &a, 1, &out, 1);
      kc_clear(&kc);
    }
    kc_close(&kc);
  }
}

static void every_registered_operation_was_compared(void **state) {
  (void)state;
  if (!checked[0]) {
    skip();
  }
  for (uint32_t i = 0; i < hx_cuda_plugin.row_count; i++) {
    if (!checked[i]) {
      fail_msg("%s has no case", hx_cuda_impls[i]->op);
    }
    if (aliased[i] != hx_cuda_plugin.rows[i].in_place) {
      fail_msg("%s: in_place is declared %d, found %d", hx_cuda_impls[i]->op, hx_cuda_plugin.rows[i].in_place,
               aliased[i]);
    }
  }
}

// An argument is a filter of cases.
int main(int argc, char **argv) {
  if (argc > 1) {
    cmocka_set_test_filter(argv[1]);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ops_match_reference_in_small_rings),
      cmocka_unit_test(ops_match_reference_in_large_rings),
      cmocka_unit_test(ops_match_reference_on_both_paths),
      cmocka_unit_test(ntt_matches_reference_at_every_size),
      cmocka_unit_test(bases_match_reference_with_many_primes),
      cmocka_unit_test(every_registered_operation_was_compared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
