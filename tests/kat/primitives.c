// SPDX-License-Identifier: Apache-2.0
// roots, ntt, pointwise, bases, automorphism, seed.
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/ckks/primes.h"
#include "tests/kat/kat.h"

#define TENSOR "!rns.tensor<>"

static size_t log2_of(uint32_t n) {
  size_t log_n = 0;
  while ((1U << log_n) < n) ++log_n;
  return log_n;
}

static uint64_t *row_of(const json_t *item, const char *key, uint32_t n, uint32_t word) {
  uint64_t *row = malloc(n * sizeof *row);
  if (row == NULL || !kat_row(kat_text(item, key), word, row, n)) abort();
  return row;
}

void kat_roots(kat_t *kat, json_t *cases) {
  size_t i;
  json_t *item;
  json_array_foreach(cases, i, item) {
    const uint64_t psi = hx_prime_psi(kat_u64(item, "q"), (uint32_t)log2_of(kat_u32(item, "N")));
    kat_check(kat, psi == kat_u64(item, "psi"), "case %zu: psi of %s for N=%u is %llu, expected %s", i,
              kat_text(item, "q"), kat_u32(item, "N"), (unsigned long long)psi, kat_text(item, "psi"));
  }
}

// One row in, one row out: compares with the row of the case named `expected`.
typedef struct {
  const char *op, *attributes;
  const char *operands[3];  // keys of the case
  uint32_t domain, repr;    // of the operands
  const char *expected;
} row_case_t;

static void run_row_case(kat_t *kat, const hx_params_t *params, size_t number, const json_t *item,
                         const row_case_t *rule) {
  const uint32_t n = kat_u32(item, "N"), word = kat_u32(item, "word"), id = 0;
  hx_value_t *inputs[3] = {NULL}, *out = NULL;
  size_t count = 0;
  for (; count < 3 && rule->operands[count] != NULL; ++count) {
    uint64_t *row = row_of(item, rule->operands[count], n, word);
    inputs[count] = kat_tensor(params, &id, 1, 1, rule->domain, rule->repr, row);
    free(row);
  }
  hx_report_t *report = hx_report_create();
  char name[128];
  snprintf(name, sizeof name, "case %zu %s", number, rule->expected);
  if (kat_call(kat, params, rule->op, rule->attributes, TENSOR, inputs, count, &out, report) == HX_STATUS_OK) {
    uint64_t *want = row_of(item, rule->expected, n, word), *have = malloc(n * sizeof *have);
    if (have == NULL) abort();
    kat_read_row(out, 0, 0, have);
    kat_check(kat, memcmp(have, want, n * sizeof *have) == 0, "%s: residues differ (%s, N=%u, q=%s)", name, rule->op, n,
              kat_text(item, "q"));
    free(want);
    free(have);
  } else {
    kat_count_fault(kat, name, report);
  }
  hx_value_release(out);
  for (size_t k = 0; k < count; ++k) hx_value_release(inputs[k]);
  hx_report_release(report);
}

// Parameters of one prime, made again only where the case's differ.
typedef struct {
  hx_params_t *params;
  uint32_t n, word;
  uint64_t q;
} one_prime_t;

static hx_params_t *one_prime(kat_t *kat, one_prime_t *cache, const json_t *item) {
  const uint32_t n = kat_u32(item, "N"), word = kat_u32(item, "word");
  const uint64_t q = kat_u64(item, "q");
  if (cache->params == NULL || cache->n != n || cache->word != word || cache->q != q) {
    hx_params_release(cache->params);
    *cache = (one_prime_t){.params = kat_params_of(kat, n, word, &q, 1, 1), .n = n, .word = word, .q = q};
  }
  return cache->params;
}

void kat_ntt(kat_t *kat, json_t *cases) {
  static const row_case_t rules[] = {{"ntt.forward", "", {"coefficient"}, HX_COEFFICIENT, HX_STANDARD, "ntt"},
                                     {"ntt.inverse", "", {"ntt"}, HX_NTT, HX_STANDARD, "coefficient"}};
  one_prime_t cache = {0};
  size_t i;
  json_t *item;
  json_array_foreach(cases, i, item) {
    const hx_params_t *params = one_prime(kat, &cache, item);
    for (size_t r = 0; params != NULL && r < HX_COUNT_OF(rules); ++r) run_row_case(kat, params, i, item, &rules[r]);
  }
  hx_params_release(cache.params);
}

static void pointwise_sum(kat_t *kat, const hx_params_t *params, size_t number, const json_t *item) {
  // weighted_sum = a*b + b*c: values a, b with weights b, c.
  static const row_case_t rule = {"rns.weighted_sum", "groups = 1 : i64", {"a", "b", NULL}, HX_NTT,
                                  HX_STANDARD,        "weighted_sum"};
  static const char *const keys[] = {"a", "b", "b", "c"};
  const uint32_t n = kat_u32(item, "N"), word = kat_u32(item, "word"), id = 0;
  hx_value_t *inputs[4], *out = NULL;
  for (size_t k = 0; k < 4; ++k) {
    uint64_t *row = row_of(item, keys[k], n, word);
    inputs[k] = kat_tensor(params, &id, 1, 1, HX_NTT, HX_STANDARD, row);
    free(row);
  }
  hx_report_t *report = hx_report_create();
  char name[64];
  snprintf(name, sizeof name, "case %zu weighted_sum", number);
  if (kat_call(kat, params, rule.op, rule.attributes, TENSOR, inputs, 4, &out, report) == HX_STATUS_OK) {
    uint64_t *want = row_of(item, rule.expected, n, word), *have = malloc(n * sizeof *have);
    if (have == NULL) abort();
    kat_read_row(out, 0, 0, have);
    kat_check(kat, memcmp(have, want, n * sizeof *have) == 0, "%s: residues differ", name);
    free(want);
    free(have);
  } else {
    kat_count_fault(kat, name, report);
  }
  hx_value_release(out);
  for (size_t k = 0; k < 4; ++k) hx_value_release(inputs[k]);
  hx_report_release(report);
}

// center_lift of a to the prime `target`, and of signed words to q: the result is row 1 (target) or row 0.
static void pointwise_lift(kat_t *kat, size_t number, const json_t *item) {
  const uint32_t n = kat_u32(item, "N"), word = kat_u32(item, "word"), id = 0;
  const uint64_t primes[2] = {kat_u64(item, "q"), kat_u64(item, "target")};
  const bool same = primes[0] == primes[1];  // lifting to the own prime changes nothing
  hx_params_t *params = kat_params_of(kat, n, word, primes, same ? 1 : 2, 1);
  if (params == NULL) return;
  uint64_t *a = row_of(item, "a", n, word), *want = row_of(item, "center_lift", n, word),
           *have = malloc(n * sizeof *have);
  if (have == NULL) abort();
  hx_value_t *in = kat_tensor(params, &id, 1, 1, HX_COEFFICIENT, HX_STANDARD, a), *out = NULL;
  hx_report_t *report = hx_report_create();
  char name[64];
  snprintf(name, sizeof name, "case %zu center_lift", number);
  if (kat_call(kat, params, "rns.center_lift", same ? "ids = [0]" : "ids = [1]", TENSOR, &in, 1, &out, report) ==
      HX_STATUS_OK) {
    kat_read_row(out, 0, 0, have);
    kat_check(kat, memcmp(have, want, n * sizeof *have) == 0, "%s: residues differ", name);
  } else {
    kat_count_fault(kat, name, report);
  }
  hx_value_release(out);
  out = NULL;
  hx_report_clear(report);
  // Signed words: an i64 tensor; of word 32, words of 32 bits, sign-extended.
  hx_type_t type;
  hx_type_init(&type, HX_TYPE_TENSOR);
  type.known = HX_KNOWN_DTYPE | HX_KNOWN_BATCH | HX_KNOWN_COMPONENTS;
  type.dtype = HX_I64;
  type.components = 1;
  hx_value_release(in);
  in = NULL;
  snprintf(name, sizeof name, "case %zu center_lift_signed", number);
  if (hx_value_create(params, &type, false, &in) != HX_STATUS_OK) {
    kat_check(kat, false, "%s: a signed tensor cannot be made", name);
  } else {
    int64_t *words = hx_tensor_row(in->tensor, 0, 0, 0, 0);
    const json_t *list = json_object_get(item, "signed");
    for (uint32_t k = 0; k < n; ++k) words[k] = strtoll(json_string_value(json_array_get(list, k)), NULL, 10);
    if (kat_call(kat, params, "rns.center_lift", "ids = [0]", TENSOR, &in, 1, &out, report) == HX_STATUS_OK) {
      free(want);
      want = row_of(item, "center_lift_signed", n, word);
      kat_read_row(out, 0, 0, have);
      kat_check(kat, memcmp(have, want, n * sizeof *have) == 0, "%s: residues differ", name);
    } else {
      kat_count_fault(kat, name, report);
    }
  }
  hx_value_release(in);
  hx_value_release(out);
  hx_report_release(report);
  hx_params_release(params);
  free(a);
  free(want);
  free(have);
}

void kat_pointwise(kat_t *kat, json_t *cases) {
  static const row_case_t rules[] = {
      {"rns.add", "", {"a", "b"}, HX_NTT, HX_STANDARD, "add"},
      {"rns.sub", "", {"a", "b"}, HX_NTT, HX_STANDARD, "sub"},
      {"rns.neg", "", {"a"}, HX_NTT, HX_STANDARD, "neg"},
      {"rns.mul", "", {"a", "b"}, HX_NTT, HX_STANDARD, "mul"},
      {"rns.mul_add", "", {"c", "a", "b"}, HX_NTT, HX_STANDARD, "mul_add"},
      {"rns.add_scalar", NULL, {"a"}, HX_NTT, HX_STANDARD, "add_scalar"},
      {"rns.mul_scalar", NULL, {"a"}, HX_NTT, HX_STANDARD, "mul_scalar"},
      {"rns.add", "", {"lazy_a", "lazy_b"}, HX_NTT, HX_LAZY, "lazy_add"},
      {"rns.sub", "", {"lazy_a", "lazy_b"}, HX_NTT, HX_LAZY, "lazy_sub"},
      {"rns.neg", "", {"lazy_a"}, HX_NTT, HX_LAZY, "lazy_neg"},
      {"rns.reduce", "", {"lazy_b"}, HX_NTT, HX_LAZY, "reduce"},
      {"rns.to_montgomery", "", {"a"}, HX_NTT, HX_STANDARD, "to_montgomery"},
      {"rns.from_montgomery", "", {"a"}, HX_NTT, HX_MONTGOMERY, "from_montgomery"},
      {"rns.mul_montgomery", "", {"a", "b"}, HX_NTT, HX_MONTGOMERY, "mul_montgomery"},
  };
  size_t i;
  json_t *item;
  json_array_foreach(cases, i, item) {
    const uint64_t q = kat_u64(item, "q");
    hx_params_t *params = kat_params_of(kat, kat_u32(item, "N"), kat_u32(item, "word"), &q, 1, 1);
    if (params == NULL) continue;
    char residues[64];
    snprintf(residues, sizeof residues, "residues = [%s : ui64]", kat_text(item, "k"));
    for (size_t r = 0; r < HX_COUNT_OF(rules); ++r) {
      row_case_t rule = rules[r];
      if (rule.attributes == NULL) rule.attributes = residues;
      run_row_case(kat, params, i, item, &rule);
    }
    pointwise_sum(kat, params, i, item);
    pointwise_lift(kat, i, item);
    hx_params_release(params);
  }
}

// ------------------------------------------------------------------ bases

static uint32_t read_primes(const json_t *list, uint64_t *out) {
  uint32_t count = 0;
  for (; count < json_array_size(list); ++count)
    out[count] = strtoull(json_string_value(json_array_get(list, count)), NULL, 10);
  return count;
}

// A tensor of some rows of a polynomial; row r of the result is the polynomial's row rows[r], under prime id ids[r].
static hx_value_t *tensor_of(const hx_params_t *params, const json_t *poly, const uint32_t *rows, const uint32_t *ids,
                             uint32_t count) {
  const size_t n = (size_t)1 << hx_params_log_n(params);
  uint64_t *data = malloc(count * n * sizeof *data);
  if (data == NULL) abort();
  const json_t *texts = json_object_get(poly, "rows");
  for (uint32_t r = 0; r < count; ++r) {
    if (!kat_row(json_string_value(json_array_get(texts, rows[r])), hx_params_word(params), data + r * n, n)) abort();
  }
  hx_value_t *value = kat_tensor(params, ids, count, 1, HX_COEFFICIENT, HX_STANDARD, data);
  free(data);
  return value;
}

// Rows of a value against rows of a polynomial.
static bool rows_equal(const hx_value_t *value, const uint32_t *limbs, const json_t *texts, uint32_t count) {
  const size_t n = (size_t)1 << value->tensor->layout.log_n;
  const uint32_t word = value->tensor->layout.dtype == HX_U32 ? 32 : 64;
  uint64_t *have = malloc(n * sizeof *have), *want = malloc(n * sizeof *want);
  if (have == NULL || want == NULL) abort();
  bool equal = json_array_size(texts) == count;
  for (uint32_t r = 0; r < count && equal; ++r) {
    kat_read_row(value, 0, limbs[r], have);
    equal = kat_row(json_string_value(json_array_get(texts, r)), word, want, n) &&
            memcmp(have, want, n * sizeof *have) == 0;
  }
  free(have);
  free(want);
  return equal;
}

static void identity(uint32_t *list, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) list[i] = first + i;
}

static void print_ids(hx_text_t *text, const char *name, uint32_t first, uint32_t count) {
  hx_text_printf(text, "%s = [", name);
  for (uint32_t i = 0; i < count; ++i) hx_text_printf(text, "%s%u", i == 0 ? "" : ", ", first + i);
  hx_text_puts(text, "]");
}

static void base_call(kat_t *kat, const hx_params_t *params, size_t number, const char *what, const char *op,
                      const char *attributes, hx_value_t *in, const json_t *expected, uint32_t first_limb,
                      uint32_t count) {
  hx_report_t *report = hx_report_create();
  hx_value_t *out = NULL;
  uint32_t limbs[HX_PRIMES_MAX];
  identity(limbs, first_limb, count);
  char name[96];
  snprintf(name, sizeof name, "case %zu %s", number, what);
  if (kat_call(kat, params, op, attributes, TENSOR, &in, 1, &out, report) == HX_STATUS_OK) {
    kat_check(kat, rows_equal(out, limbs, expected, count), "%s: residues differ", name);
  } else {
    kat_count_fault(kat, name, report);
  }
  hx_value_release(out);
  hx_report_release(report);
}

// fast_convert is mod_up of a digit: Q holds the source, then the target, then enough other primes for the digits to
// come out as long as the source.
static void base_mod_up(kat_t *kat, size_t number, const json_t *item, const uint64_t *target, uint32_t t,
                        const uint64_t *source, uint32_t s) {
  const uint32_t n = kat_u32(item, "N"), word = kat_u32(item, "word");
  const uint32_t digits = (t + 2 * s - 1) / s, whole = digits * s;
  uint64_t primes[HX_PRIMES_MAX];
  memcpy(primes, source, s * sizeof *source);
  memcpy(primes + s, target, t * sizeof *target);
  uint64_t below = word == 32 ? (uint64_t)1 << 29 : (uint64_t)1 << 59;
  for (uint32_t i = s + t; i < whole; ++i) {
    bool taken = true;
    while (taken) {
      below = hx_prime_below(below, (uint32_t)log2_of(n));
      taken = false;
      for (uint32_t k = 0; k < i; ++k) taken = taken || primes[k] == below;
    }
    primes[i] = below;
  }
  hx_params_t *params = kat_params_of(kat, n, word, primes, whole, digits);
  if (params == NULL) return;
  uint32_t rows[HX_PRIMES_MAX], ids[HX_PRIMES_MAX];
  identity(rows, t, s);  // the source stands after the target in the file
  identity(rows + s, 0, t);
  identity(ids, 0, whole);
  // Rows that are in no file are zero; they do not enter digit 0.
  const size_t degree = n;
  uint64_t *data = calloc(whole * degree, sizeof *data);
  if (data == NULL) abort();
  const json_t *texts = json_object_get(json_object_get(item, "x"), "rows");
  for (uint32_t r = 0; r < s + t; ++r) {
    if (!kat_row(json_string_value(json_array_get(texts, rows[r])), word, data + r * degree, degree)) abort();
  }
  hx_value_t *in = kat_tensor(params, ids, whole, 1, HX_COEFFICIENT, HX_STANDARD, data);
  free(data);
  base_call(kat, params, number, "fast_convert", "rns.mod_up", "digit = 0 : i64", in,
            json_object_get(json_object_get(item, "fast_convert"), "rows"), s, t);
  hx_value_release(in);
  hx_params_release(params);
}

static void base_case(kat_t *kat, size_t number, const json_t *item) {
  uint64_t primes[HX_PRIMES_MAX];
  const uint32_t n = kat_u32(item, "N"), word = kat_u32(item, "word");
  const uint32_t t = read_primes(json_object_get(item, "target"), primes),
                 s = read_primes(json_object_get(item, "source"), primes + t);
  base_mod_up(kat, number, item, primes, t, primes + t, s);
  hx_params_t *params = kat_params_of(kat, n, word, primes, t + s, t + s);
  if (params == NULL) return;
  uint32_t all[HX_PRIMES_MAX];
  identity(all, 0, t + s);
  const json_t *x = json_object_get(item, "x");
  hx_value_t *whole = tensor_of(params, x, all, all, t + s), *source = tensor_of(params, x, all + t, all + t, s);
  hx_text_t text;
  hx_text_init(&text);
  print_ids(&text, "ids", 0, t);
  base_call(kat, params, number, "extend_exact", "rns.extend_exact", text.data, source,
            json_object_get(json_object_get(item, "extend_exact"), "rows"), 0, t);
  base_call(kat, params, number, "mixed_radix", "rns.mixed_radix", "", source, json_object_get(item, "mixed_radix"), 0,
            s);
  static const char *const roundings[] = {"nearest", "truncating"};
  for (size_t r = 0; r < 2; ++r) {
    char key[64];
    hx_text_clear(&text);
    print_ids(&text, "drop", t, s);
    hx_text_printf(&text, ", rounding = \"%s\"", roundings[r]);
    snprintf(key, sizeof key, "mod_down_%s", roundings[r]);
    base_call(kat, params, number, key, "rns.mod_down", text.data, whole,
              json_object_get(json_object_get(item, key), "rows"), 0, t);
    snprintf(key, sizeof key, "rescale_%s", roundings[r]);
    for (uint32_t c = 1; c <= s; ++c) {
      hx_text_clear(&text);
      hx_text_printf(&text, "count = %u : i64, rounding = \"%s\"", c, roundings[r]);
      const json_t *expected = json_array_get(json_object_get(item, key), c - 1);
      base_call(kat, params, number, key, "rns.rescale", text.data, whole, json_object_get(expected, "rows"), 0,
                t + s - c);
    }
  }
  hx_text_deinit(&text);
  hx_value_release(whole);
  hx_value_release(source);
  hx_params_release(params);
}

void kat_bases(kat_t *kat, json_t *cases) {
  size_t i;
  json_t *item;
  json_array_foreach(cases, i, item) base_case(kat, i, item);
}

// ------------------------------------------------------------------ automorphism, seed

void kat_automorphism(kat_t *kat, json_t *cases) {
  one_prime_t cache = {0};
  size_t i;
  json_t *item;
  json_array_foreach(cases, i, item) {
    const hx_params_t *params = one_prime(kat, &cache, item);
    if (params == NULL) continue;
    char attributes[64];
    snprintf(attributes, sizeof attributes, "element = %u : i64", kat_u32(item, "element"));
    run_row_case(
        kat, params, i, item,
        &(row_case_t){"rns.automorphism", attributes, {"coefficient"}, HX_COEFFICIENT, HX_STANDARD, "coefficient_out"});
    run_row_case(kat, params, i, item,
                 &(row_case_t){"rns.automorphism", attributes, {"ntt"}, HX_NTT, HX_STANDARD, "ntt_out"});
  }
  hx_params_release(cache.params);
}

// The prime of the case gets its id in a ring whose other primes only fill the places before it.
static hx_params_t *seed_params(kat_t *kat, const json_t *item, uint32_t id) {
  const uint32_t n = kat_u32(item, "N"), word = kat_u32(item, "word");
  const uint64_t q = kat_u64(item, "q");
  uint64_t primes[HX_PRIMES_MAX], below = word == 32 ? (uint64_t)1 << 28 : (uint64_t)1 << 57;
  for (uint32_t i = 0; i < id; ++i) {
    do {
      below = hx_prime_below(below, (uint32_t)log2_of(n));
    } while (below == q);
    primes[i] = below;
  }
  primes[id] = q;
  return kat_params_of(kat, n, word, primes, id + 1, id + 1);
}

static hx_value_t *seed_value(const hx_params_t *params, const char *text) {
  hx_type_t type;
  hx_type_init(&type, HX_TYPE_SEED);
  hx_value_t *value = NULL;
  if (hx_value_create(params, &type, false, &value) != HX_STATUS_OK ||
      !kat_hex_bytes(text, hx_tensor_row(value->tensor, 0, 0, 0, 0), 32)) {
    hx_value_release(value);
    return NULL;
  }
  return value;
}

static bool seed_matches(const hx_value_t *out, const json_t *item) {
  const size_t n = (size_t)1 << out->tensor->layout.log_n;
  const uint32_t word = out->tensor->layout.dtype == HX_U32 ? 32 : 64;
  uint8_t digest[32], expected[32];
  crypto_hash_sha256(digest, hx_tensor_row(out->tensor, 0, 0, 0, 0), n * word / 8);
  if (!kat_hex_bytes(kat_text(item, "sha256"), expected, 32) || memcmp(digest, expected, 32) != 0) return false;
  uint64_t *row = malloc(n * sizeof *row);
  if (row == NULL) abort();
  kat_read_row(out, 0, 0, row);
  bool equal = true;
  for (size_t k = 0; k < 4; ++k) {
    equal = equal && row[k] == strtoull(json_string_value(json_array_get(json_object_get(item, "first"), k)), NULL, 10);
    equal = equal &&
            row[n - 4 + k] == strtoull(json_string_value(json_array_get(json_object_get(item, "last"), k)), NULL, 10);
  }
  free(row);
  return equal;
}

void kat_seed(kat_t *kat, json_t *cases) {
  size_t i;
  json_t *item;
  json_array_foreach(cases, i, item) {
    const uint32_t id = kat_u32(item, "prime_id");
    hx_params_t *params = seed_params(kat, item, id);
    if (params == NULL) continue;
    hx_value_t *in = seed_value(params, kat_text(item, "seed")), *out = NULL;
    hx_report_t *report = hx_report_create();
    char attributes[96], name[64];
    snprintf(attributes, sizeof attributes, "ids = [%u], index = %u : i64", id, kat_u32(item, "index"));
    snprintf(name, sizeof name, "case %zu", i);
    if (in == NULL) {
      kat_check(kat, false, "%s: a seed cannot be made", name);
    } else if (kat_call(kat, params, "rns.expand_uniform", attributes, TENSOR, &in, 1, &out, report) == HX_STATUS_OK) {
      kat_check(kat, seed_matches(out, item), "%s: residues differ", name);
    } else {
      kat_count_fault(kat, name, report);
    }
    hx_value_release(in);
    hx_value_release(out);
    hx_report_release(report);
    hx_params_release(params);
  }
}
