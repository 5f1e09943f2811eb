// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/ckks/params.h"
#include "core/ckks/primes.h"

#define B43_HALF_RING "36028797018652673"  // prime, 1 mod 2N only up to N = 8192

// ------------------------------------------------------------------ help

// A parameter text with one prime in the base and whatever else is given.
static char *make_text(int log_n, int word, const char *base, const char *groups, const char *special, int digits) {
  hx_text_t text;
  hx_text_init(&text);
  hx_text_printf(&text,
                 "{\"log_n\":%d,\"word\":%d,\"base\":[%s],\"groups\":[%s],\"special\":[%s],\"digits\":%d,"
                 "\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^20\"}",
                 log_n, word, base, groups, special, digits);
  return hx_text_take(&text);
}

// Parses; on refusal the report's faults must hold one with this code and these words.
static void expect_refused(const char *json, uint32_t flags, hx_code_t code, const char *word1, const char *word2) {
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  const hx_status_t status = hx_params_parse(hx_str(json), "p.json", flags, &params, report);
  if (status == HX_STATUS_OK) fail_msg("accepted: %s", json);
  assert_null(params);
  bool found = false;
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    if (fault->code == code && strstr(fault->text, word1) != NULL && strstr(fault->text, word2) != NULL) {
      assert_string_equal(fault->source, "p.json");
      found = true;
    }
  }
  if (!found) {
    for (size_t i = 0; i < hx_report_count(report); ++i) {
      print_message("%s: %s\n", hx_code_info(hx_report_get(report, i)->code)->word, hx_report_get(report, i)->text);
    }
    fail_msg("no %s fault with \"%s\" and \"%s\" for %s", hx_code_info(code)->word, word1, word2, json);
  }
  hx_report_release(report);
}

static hx_params_t *expect_accepted(const char *json, uint32_t flags) {
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  const hx_status_t status = hx_params_parse(hx_str(json), "p.json", flags, &params, report);
  if (status != HX_STATUS_OK) fail_msg("refused: %s: %s", json, hx_report_get(report, 0)->text);
  hx_report_release(report);
  return params;
}

static void refuse_chain(int log_n, int word, const char *base, const char *groups, hx_code_t code, const char *word1,
                         const char *word2) {
  char *text = make_text(log_n, word, base, groups, "", 1);
  expect_refused(text, HX_PARAMS_INSECURE, code, word1, word2);
  hx_free(text);
}

// Decimal strings of `count` primes of `bits` bits or less, descending, comma-separated; *bound moves down.
static void append_primes(hx_text_t *out, uint64_t *bound, uint32_t log_n, int count, const char *open,
                          const char *close) {
  for (int i = 0; i < count; ++i) {
    *bound = hx_prime_below(*bound, log_n);
    hx_text_printf(out, "%s%s\"%llu\"%s", out->size == 0 ? "" : ",", open, (unsigned long long)*bound, close);
  }
}

// A set with QP of exactly `bits` bits: primes of 60 bits or so, one that makes up the rest.
static char *make_sized(uint32_t log_n, uint32_t bits) {
  hx_text_t base;
  hx_text_init(&base);
  uint64_t bound = (uint64_t)1 << 60;
  hx_product_t product;
  hx_product_set_one(&product);
  while (bits - hx_product_bits(&product) > 60 + 50) {
    append_primes(&base, &bound, log_n, 1, "", "");
    hx_product_multiply(&product, bound);
  }
  // Two primes share the rest. A product of primes just below powers of two lies just below one too.
  const uint32_t rest = bits - hx_product_bits(&product);
  const uint64_t first = hx_prime_below((uint64_t)1 << (rest / 2 - 2), log_n);
  hx_product_multiply(&product, first);
  const uint64_t second = hx_prime_below((uint64_t)1 << (bits - hx_product_bits(&product)), log_n);
  hx_product_multiply(&product, second);
  assert_int_equal(hx_product_bits(&product), bits);
  assert_true(second != first);
  hx_text_printf(&base, "%s\"%llu\",\"%llu\"", base.size == 0 ? "" : ",", (unsigned long long)first,
                 (unsigned long long)second);
  assert_false(base.failed);
  char *text = make_text((int)log_n, 64, base.data, "", "", 1);
  hx_text_deinit(&base);
  return text;
}

// ------------------------------------------------------------------ presets

static void presets_follow_their_table(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint32_t log_n, q, p, digits, log2_q, log2_p, limit, largest_digit;
    double key_mib, ciphertext_mib;
    const char *scale;
  } table[] = {
      {"n12-d1-s30", 12, 2, 1, 2, 69, 39, 109, 39, 0.375, 0.125, "2^30"},
      {"n13-d3-s40", 13, 4, 1, 4, 168, 48, 218, 48, 2.5, 0.5, "2^40"},
      {"n14-d6-s40", 14, 7, 2, 4, 290, 100, 438, 90, 9, 1.75, "2^40"},
      {"n14-d7-s40", 14, 8, 2, 4, 330, 100, 438, 90, 10, 2, "2^40"},
      {"n15-d14-s49", 15, 15, 2, 8, 736, 100, 881, 99, 68, 7.5, "2^49"},
      {"n15-d15-s40", 15, 16, 4, 4, 650, 200, 881, 170, 40, 8, "2^40"},
      {"n16-d23-s40", 16, 24, 5, 4, 970, 250, 1747, 250, 116, 24, "2^40"},
      {"n16-d27-s49", 16, 28, 7, 4, 1373, 350, 1747, 344, 140, 28, "2^49"},
  };
  assert_int_equal(hx_params_preset_count(), HX_COUNT_OF(table));
  for (size_t i = 0; i < HX_COUNT_OF(table); ++i) {
    assert_string_equal(hx_params_preset_name(i), table[i].name);
    assert_true(strlen(hx_params_preset_purpose(i)) > 10);
    hx_report_t *report = hx_report_create();
    hx_params_t *params = NULL;
    if (hx_params_preset(table[i].name, &params, report) != HX_STATUS_OK)
      fail_msg("%s", hx_report_get(report, 0)->text);
    assert_int_equal(hx_report_count(report), 0);
    assert_string_equal(hx_params_name(params), table[i].name);
    assert_int_equal(hx_params_log_n(params), table[i].log_n);
    assert_int_equal(hx_params_word(params), 64);
    assert_int_equal(hx_params_q_count(params), table[i].q);
    assert_int_equal(hx_params_p_count(params), table[i].p);
    assert_int_equal(hx_params_group_count(params), table[i].q);
    assert_int_equal(hx_params_max_depth(params), table[i].q - 1);
    assert_int_equal(hx_params_digits_asked(params), table[i].digits);
    assert_int_equal(hx_params_digits(params), table[i].digits);
    assert_int_equal((uint32_t)lround(hx_params_log2_q(params)), table[i].log2_q);
    assert_int_equal((uint32_t)lround(hx_params_log2_p(params)), table[i].log2_p);
    assert_int_equal(hx_params_security_limit(params), table[i].limit);
    assert_true(hx_params_log2_q(params) + hx_params_log2_p(params) < table[i].limit);
    assert_true(fabs((double)hx_params_key_bytes(params) / 1048576 - table[i].key_mib) < 1e-9);
    assert_true(fabs((double)hx_params_ciphertext_bytes(params) / 1048576 - table[i].ciphertext_mib) < 1e-9);
    assert_string_equal(hx_params_scale(params), table[i].scale);
    assert_string_equal(hx_params_secret(params), "ternary");
    assert_false(hx_params_is_insecure(params));
    const hx_ring *ring = hx_params_ring(params);
    double largest = 0;
    for (uint32_t first = 0; first < ring->q_count; first += ring->digit_run) {
      double bits = 0;
      for (uint32_t id = first; id < first + ring->digit_run && id < ring->q_count; ++id)
        bits += log2((double)ring->primes[id]);
      largest = fmax(largest, bits);
    }
    assert_int_equal((uint32_t)lround(largest), table[i].largest_digit);
    hx_params_release(params);
    hx_report_release(report);
  }
}

// The builder's rules of the table: base the largest prime below 2^bits, special primes the largest that are not in Q.
static void presets_have_good_primes(void **state) {
  (void)state;
  for (size_t i = 0; i < hx_params_preset_count(); ++i) {
    hx_params_t *params = NULL;
    assert_int_equal(hx_params_preset(hx_params_preset_name(i), &params, NULL), HX_STATUS_OK);
    const uint32_t log_n = hx_params_log_n(params), nq = hx_params_q_count(params), np = hx_params_p_count(params);
    const hx_ring *ring = hx_params_ring(params);
    for (uint32_t id = 0; id < nq + np; ++id) {
      const uint64_t q = hx_params_prime(params, id);
      assert_int_equal(q, ring->primes[id]);
      assert_true(hx_prime_is(q) && q < (uint64_t)1 << 50 && q % ((uint64_t)2 << log_n) == 1);
      for (uint32_t other = 0; other < id; ++other) assert_true(hx_params_prime(params, other) != q);
      const uint64_t psi = ring->psi[id];
      assert_int_equal(hx_modular_power(psi, (uint64_t)1 << log_n, q), q - 1);
    }
    assert_int_equal(hx_params_prime(params, nq + np), 0);
    const uint64_t base = hx_params_prime(params, 0);
    const uint64_t top = (uint64_t)1 << (64 - __builtin_clzll(base));
    assert_int_equal(hx_prime_below(top, log_n), base);
    // Asking for the digits that it has gives the same special primes and so the same set.
    hx_params_t *again = NULL;
    assert_int_equal(hx_params_with_digits(params, hx_params_digits_asked(params), 0, &again, NULL), HX_STATUS_OK);
    assert_true(hx_params_same(params, again));
    assert_string_equal(hx_params_name(again), hx_params_name(params));
    hx_params_release(again);
    hx_params_release(params);
  }
}

// A chain of squarings stays near 2^s: S_0 = 2^s, S_(d+1) = S_d^2 / q, q from the last group on.
static void presets_keep_scales_near_the_default(void **state) {
  (void)state;
  for (size_t i = 0; i < hx_params_preset_count(); ++i) {
    hx_params_t *params = NULL;
    assert_int_equal(hx_params_preset(hx_params_preset_name(i), &params, NULL), HX_STATUS_OK);
    long double log2_scale = 0;  // against 2^s
    const uint32_t bits = (uint32_t)lround(hx_scale_log2(hx_params_default_scale(params), NULL));
    for (uint32_t id = hx_params_q_count(params); id-- > 1;) {
      log2_scale = 2 * log2_scale - log2l((long double)hx_params_prime(params, id) / ldexpl(1, (int)bits));
      assert_true(fabsl(log2_scale) < 1.0 / (1 << 10));
    }
    hx_params_release(params);
  }
}

static void preset_default_is_listed(void **state) {
  (void)state;
  assert_string_equal(hx_params_default_name(), "n14-d7-s40");
  assert_null(hx_params_preset_name(hx_params_preset_count()));
  assert_null(hx_params_preset_purpose(SIZE_MAX));
  hx_params_t *params = NULL;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_params_preset("n14", &params, report), HX_STATUS_NOT_FOUND);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "n16-d27-s49"));
  assert_int_equal(hx_params_preset(NULL, &params, NULL), HX_STATUS_NOT_FOUND);
  assert_null(params);
  hx_report_release(report);
}

// ------------------------------------------------------------------ canonical text and digest

static void params_parse_gives_back_canonical_text_and_digest(void **state) {
  (void)state;
  hx_params_t *preset = NULL, *parsed = NULL;
  assert_int_equal(hx_params_preset("n12-d1-s30", &preset, NULL), HX_STATUS_OK);
  const char *json = hx_params_json(preset);
  assert_string_equal(
      json,
      "{\"log_n\":12,\"word\":64,\"base\":[\"549755731969\"],\"groups\":[[\"1073750017\"]],"
      "\"special\":[\"549755486209\"],\"digits\":2,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^30\"}");
  assert_int_equal(strlen(hx_params_digest_hex(preset)), 64);
  parsed = expect_accepted(json, 0);
  assert_string_equal(hx_params_json(parsed), json);
  assert_true(hx_params_same(preset, parsed));
  assert_memory_equal(hx_params_digest(preset), hx_params_digest(parsed), 32);
  assert_memory_equal(hx_params_ring(parsed)->digest, hx_params_digest(parsed), 32);
  assert_string_equal(hx_params_name(parsed), "n12-d1-s30");
  hx_params_release(parsed);
  // Any order and blanks.
  parsed = expect_accepted(
      " {\"scale\" : \"2^30\",\n\"sigma\":\"3.2\", \"secret\":\"ternary\", \"digits\": 2, \"special\":[ "
      "\"549755486209\" ],"
      "\"groups\":[ [\"1073750017\"] ], \"base\":[\"549755731969\"], \"word\":64, \"log_n\":12}\n",
      0);
  assert_string_equal(hx_params_json(parsed), json);
  hx_params_release(parsed);
  hx_params_release(preset);
}

static void params_parse_refuses_bad_text(void **state) {
  (void)state;
  static const struct {
    const char *json;
    hx_code_t code;
    const char *words;
  } bad[] = {
      {"", HX_CODE_SYNTAX, "no JSON"},
      {"{", HX_CODE_SYNTAX, "no JSON"},
      {"[]", HX_CODE_PARAMS, "no object"},
      {"{} x", HX_CODE_SYNTAX, "no JSON"},
      {"{\"log_n\":12,\"log_n\":12}", HX_CODE_SYNTAX, "duplicate"},
      {"{\"log_n\":12}", HX_CODE_PARAMS, "\"word\" is missing"},
      {"{\"n\":4096}", HX_CODE_PARAMS, "unknown key \"n\""},
  };
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) expect_refused(bad[i].json, 0, bad[i].code, bad[i].words, "");
  const char *good =
      "{\"log_n\":12,\"word\":64,\"base\":[\"549755731969\"],\"groups\":[[\"1073750017\"]],"
      "\"special\":[\"549755486209\"],\"digits\":2,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^30\"}";
  static const struct {
    const char *from, *to;
    hx_code_t code;
    const char *words;
  } edits[] = {
      {"12", "12.5", HX_CODE_PARAMS, "power of two"},
      {"12", "\"12\"", HX_CODE_PARAMS, "log_n is no whole number"},
      {"12", "-1", HX_CODE_PARAMS, "log_n = -1"},
      {"12", "2", HX_CODE_PARAMS, "2^10 <= N <= 2^17"},
      {"12", "18", HX_CODE_PARAMS, "2^10 <= N <= 2^17"},
      {"12", "4294967308", HX_CODE_PARAMS, "out of range"},
      {"64", "16", HX_CODE_PARAMS, "word = 16"},
      {"\"digits\":2", "\"digits\":0", HX_CODE_PARAMS, "digits = 0"},
      {"\"digits\":2", "\"digits\":257", HX_CODE_PARAMS, "digits = 257"},
      {"\"549755731969\"", "549755731969", HX_CODE_PARAMS, "decimal strings"},
      {"549755731969", "0549755731969", HX_CODE_PARAMS, "leading zeros"},
      {"549755731969", "+549755731969", HX_CODE_PARAMS, "no decimal"},
      {"549755731969", "", HX_CODE_PARAMS, "no decimal"},
      {"549755731969", "18446744073709551616", HX_CODE_PARAMS, "below 2^64"},
      {"[\"549755731969\"]", "[]", HX_CODE_PARAMS, "base is empty"},
      {"[\"549755731969\"]", "7", HX_CODE_PARAMS, "base is no list"},
      {"[[\"1073750017\"]]", "[[]]", HX_CODE_PARAMS, "groups[0] is empty"},
      {"[[\"1073750017\"]]", "[\"1073750017\"]", HX_CODE_PARAMS, "groups[0] is no list"},
      {"[[\"1073750017\"]]", "{}", HX_CODE_PARAMS, "groups is no list"},
      {"ternary", "binary", HX_CODE_PARAMS, "ternary:h"},
      {"ternary", "ternary:0", HX_CODE_PARAMS, "ternary:h"},
      {"ternary", "ternary:4097", HX_CODE_PARAMS, "4096"},
      {"3.2", "3.19", HX_CODE_PARAMS, "sigma"},
      {"\"3.2\"", "3.2", HX_CODE_PARAMS, "sigma is no text"},
      {"2^30", "2^030", HX_CODE_SYNTAX, ""},
      {"2^30", "2*2^29", HX_CODE_SCALE_RANGE, ""},
      {"\"scale\"", "\"scales\"", HX_CODE_PARAMS, "unknown key \"scales\""},
  };
  for (size_t i = 0; i < HX_COUNT_OF(edits); ++i) {
    const char *at = strstr(good, edits[i].from);
    assert_non_null(at);
    hx_text_t text;
    hx_text_init(&text);
    hx_text_append(&text, (hx_str_t){.data = good, .size = (size_t)(at - good)});
    hx_text_puts(&text, edits[i].to);
    hx_text_puts(&text, at + strlen(edits[i].from));
    if (edits[i].code == HX_CODE_SYNTAX || edits[i].code == HX_CODE_SCALE_RANGE) {
      hx_params_t *params = NULL;
      assert_int_equal(hx_params_parse(hx_str(text.data), "p.json", HX_PARAMS_INSECURE, &params, NULL),
                       HX_STATUS_INVALID);
    } else {
      expect_refused(text.data, HX_PARAMS_INSECURE, edits[i].code, edits[i].words, "");
    }
    hx_text_deinit(&text);
  }
}

static void params_parse_names_line_and_column(void **state) {
  (void)state;
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_parse(hx_str("{\n  \"log_n\": 12,\n  oops\n}"), "p.json", 0, &params, report),
                   HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_SYNTAX);
  assert_int_equal(hx_report_get(report, 0)->line, 3);
  assert_true(hx_report_get(report, 0)->column > 0);
  hx_report_release(report);
}

static void params_parse_refuses_long_text(void **state) {
  (void)state;
  const size_t size = 64 * 1024 + 1;
  char *text = hx_alloc(size);
  assert_non_null(text);
  memset(text, ' ', size);
  hx_params_t *params = NULL;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_params_parse((hx_str_t){.data = text, .size = size}, "p", 0, &params, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_LIMIT);
  memset(text, '[', size);
  assert_int_equal(hx_params_parse((hx_str_t){.data = text, .size = size - 1}, "p", 0, &params, NULL),
                   HX_STATUS_INVALID);
  hx_free(text);
  hx_report_release(report);
}

static void params_parse_refuses_too_many_primes(void **state) {
  (void)state;
  hx_text_t base;
  hx_text_init(&base);
  uint64_t bound = (uint64_t)1 << 40;
  append_primes(&base, &bound, 4, 256, "", "");
  char *text = make_text(4, 64, base.data, "", "", 1);
  hx_params_release(expect_accepted(text, HX_PARAMS_INSECURE));
  hx_free(text);
  append_primes(&base, &bound, 4, 1, "", "");
  text = make_text(4, 64, base.data, "", "", 1);
  expect_refused(text, HX_PARAMS_INSECURE, HX_CODE_PARAMS, "more than 256 primes", "");
  hx_free(text);
  hx_text_deinit(&base);
  hx_text_init(&base);
  bound = (uint64_t)1 << 40;
  append_primes(&base, &bound, 4, 300, "[", "]");
  text = make_text(4, 64, "\"97\"", base.data, "", 1);
  expect_refused(text, HX_PARAMS_INSECURE, HX_CODE_PARAMS, "more than 256 primes", "");
  hx_free(text);
  hx_text_deinit(&base);
}

// ------------------------------------------------------------------ rules

static void b41_modulus_above_the_table_is_refused(void **state) {
  (void)state;
  static const struct {
    uint32_t log_n, bits;
    bool accepted;
    const char *limit;
  } rows[] = {{16, 2253, false, "2^1747"},
              {16, 1748, false, "2^1747"},
              {16, 1747, true, ""},
              {13, 219, false, "2^218"},
              {13, 218, true, ""}};
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    char *text = make_sized(rows[i].log_n, rows[i].bits);
    if (rows[i].accepted) {
      hx_params_t *params = expect_accepted(text, 0);
      assert_false(hx_params_is_insecure(params));
      hx_params_release(params);
    } else {
      char bits[32];
      snprintf(bits, sizeof bits, "%u bits", rows[i].bits);
      expect_refused(text, 0, HX_CODE_INSECURE, rows[i].limit, bits);
      hx_params_t *params = expect_accepted(text, HX_PARAMS_INSECURE);
      assert_true(hx_params_is_insecure(params));
      hx_params_release(params);
    }
    hx_free(text);
  }
  char *text = make_text(18, 64, "\"1152921504606584833\"", "", "", 1);
  expect_refused(text, 0, HX_CODE_PARAMS, "N = 2^18", "the security table ends at 2^17");
  expect_refused(text, HX_PARAMS_INSECURE, HX_CODE_PARAMS, "N = 2^18", "the security table ends at 2^17");
  hx_free(text);
}

static void b43_unsuitable_primes_and_degrees_are_refused(void **state) {
  (void)state;
  refuse_chain(14, 64, "\"" B43_HALF_RING "\"", "", HX_CODE_PARAMS, B43_HALF_RING, "1 mod 2N, N = 16384");
  char *text = make_text(13, 64, "\"" B43_HALF_RING "\"", "", "", 1);
  hx_params_release(expect_accepted(text, 0));
  hx_free(text);
  refuse_chain(13, 64, "\"1099511627777\"", "", HX_CODE_PARAMS, "1099511627777", "not prime");
  refuse_chain(13, 64, "\"" B43_HALF_RING "\"", "[\"" B43_HALF_RING "\"]", HX_CODE_PARAMS, B43_HALF_RING, "distinct");
  refuse_chain(13, 64, "\"4611686018425815041\"", "", HX_CODE_PARAMS, "4611686018425815041", "not below 2^61");
  refuse_chain(13, 32, "\"2148794369\"", "", HX_CODE_PARAMS, "2148794369", "not below 2^31");
  refuse_chain(13, 64, "\"2\"", "", HX_CODE_PARAMS, "prime 2 ", "1 mod 2N");
  refuse_chain(13, 64, "\"0\"", "", HX_CODE_PARAMS, "prime 0 ", "not prime");
  refuse_chain(18, 64, "\"1152921504606584833\"", "", HX_CODE_PARAMS, "log_n = 18", "2^10 <= N <= 2^17");
  // N = 6000 cannot be written: the degree is given by its logarithm.
  expect_refused("{\"log_n\":12.55}", 0, HX_CODE_PARAMS, "log_n is no whole number", "power of two");
}

static void params_parse_reports_each_bad_prime(void **state) {
  (void)state;
  char *text = make_text(13, 64, "\"15\"", "[\"4611686018425815041\"],[\"21\"]", "", 1);
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_parse(hx_str(text), "p", 0, &params, report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_count(report), 3);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "base prime 15 (id 0)"));
  assert_non_null(strstr(hx_report_get(report, 2)->text, "(id 2, depth group 2)"));
  hx_report_release(report);
  hx_free(text);
}

static void params_parse_refuses_rings_below_eight(void **state) {
  (void)state;
  refuse_chain(1, 64, "\"1152921504606584833\"", "", HX_CODE_PARAMS, "N = 2^1", "2^3 upward for tests");
  refuse_chain(2, 64, "\"1152921504606584833\"", "", HX_CODE_PARAMS, "N = 2^2", "2^3 upward for tests");
}

static void params_parse_takes_small_rings_only_with_the_flag(void **state) {
  (void)state;
  for (int log_n = 3; log_n <= 9; ++log_n) {
    char *text = make_text(log_n, 64, "\"97\"", "", "", 1);
    if (log_n > 4) {
      hx_free(text);
      text = make_text(log_n, 64, "\"1152921504606584833\"", "", "", 1);
    }
    expect_refused(text, 0, HX_CODE_INSECURE, "small test ring", "2^10");
    hx_params_t *params = expect_accepted(text, HX_PARAMS_INSECURE);
    assert_true(hx_params_is_insecure(params));
    assert_int_equal(hx_params_security_limit(params), 0);
    hx_params_release(params);
    hx_free(text);
  }
}

static void params_parse_takes_sparse_secrets_only_with_the_flag(void **state) {
  (void)state;
  const char *json =
      "{\"log_n\":12,\"word\":64,\"base\":[\"549755731969\"],\"groups\":[],\"special\":[],\"digits\":1,"
      "\"secret\":\"ternary:64\",\"sigma\":\"3.2\",\"scale\":\"2^30\"}";
  expect_refused(json, 0, HX_CODE_INSECURE, "ternary:64", "sparse");
  hx_params_t *params = expect_accepted(json, HX_PARAMS_INSECURE);
  assert_true(hx_params_is_insecure(params));
  assert_int_equal(hx_params_secret_weight(params), 64);
  assert_string_equal(hx_params_secret(params), "ternary:64");
  assert_string_equal(hx_params_json(params), json);
  assert_int_equal(hx_params_key_bytes(params), 0);
  hx_params_release(params);
}

static void params_parse_compares_special_primes_with_each_digit_exactly(void **state) {
  (void)state;
  // Digit of one 40-bit prime against special primes around half of it.
  const uint64_t q = hx_prime_below((uint64_t)1 << 40, 10);
  uint64_t p = q / 2 + 1;
  while (!(p % 2048 == 1 && hx_prime_is(p))) ++p;  // the first with 2p > q
  char base[32], special[32];
  snprintf(base, sizeof base, "\"%llu\"", (unsigned long long)q);
  snprintf(special, sizeof special, "\"%llu\"", (unsigned long long)p);
  char *text = make_text(10, 64, base, "", special, 1);
  hx_params_release(expect_accepted(text, HX_PARAMS_INSECURE));
  hx_free(text);
  p = hx_prime_below(q / 2 + 1, 10);
  assert_true(2 * p < q);
  snprintf(special, sizeof special, "\"%llu\"", (unsigned long long)p);
  text = make_text(10, 64, base, "", special, 1);
  expect_refused(text, HX_PARAMS_INSECURE, HX_CODE_SPECIAL_SIZE, "digit 0", "40.00 bits");
  expect_refused(text, HX_PARAMS_INSECURE, HX_CODE_SPECIAL_SIZE, "the special primes have 39.00", "2P");
  // Both rules at once: two faults.
  expect_refused(text, 0, HX_CODE_SPECIAL_SIZE, "digit 0", "");
  expect_refused(text, 0, HX_CODE_INSECURE, "2^27", "");
  hx_free(text);
}

static void params_digits_come_out_as_the_run_allows(void **state) {
  (void)state;
  hx_text_t groups;
  hx_text_init(&groups);
  uint64_t bound = (uint64_t)1 << 50;
  append_primes(&groups, &bound, 4, 4, "[", "]");
  char *text = make_text(4, 64, "\"97\"", groups.data, "", 4);  // five primes in four digits: runs of two, three digits
  hx_params_t *params = expect_accepted(text, HX_PARAMS_INSECURE);
  assert_int_equal(hx_params_digits_asked(params), 4);
  assert_int_equal(hx_params_digits(params), 3);
  assert_int_equal(hx_params_ring(params)->digit_run, 2);
  hx_params_release(params);
  hx_free(text);
  text = make_text(4, 64, "\"97\"", groups.data, "", 100);
  params = expect_accepted(text, HX_PARAMS_INSECURE);
  assert_int_equal(hx_params_digits(params), 5);
  hx_params_release(params);
  hx_free(text);
  hx_text_deinit(&groups);
}

static void params_groups_may_hold_several_primes(void **state) {
  (void)state;
  hx_text_t text;
  hx_text_init(&text);
  uint64_t primes[5], bound = (uint64_t)1 << 31;
  for (int i = 0; i < 5; ++i) primes[i] = bound = hx_prime_below(bound, 5);
  hx_text_printf(&text,
                 "{\"log_n\":5,\"word\":32,\"base\":[\"%llu\",\"%llu\"],\"groups\":[[\"%llu\",\"%llu\"],[\"%llu\"]],"
                 "\"special\":[],"
                 "\"digits\":2,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^51\"}",
                 (unsigned long long)primes[0], (unsigned long long)primes[1], (unsigned long long)primes[2],
                 (unsigned long long)primes[3], (unsigned long long)primes[4]);
  hx_params_t *params = expect_accepted(text.data, HX_PARAMS_INSECURE);
  assert_int_equal(hx_params_word(params), 32);
  assert_int_equal(hx_params_q_count(params), 5);
  assert_int_equal(hx_params_group_count(params), 3);
  assert_int_equal(hx_params_group_size(params, 0), 2);
  assert_int_equal(hx_params_group_size(params, 1), 2);
  assert_int_equal(hx_params_group_size(params, 2), 1);
  assert_int_equal(hx_params_group_size(params, 3), 0);
  assert_int_equal(hx_params_max_depth(params), 2);
  assert_string_equal(hx_params_json(params), text.data);
  assert_int_equal(hx_params_ciphertext_bytes(params), 2 * 5 * 32 * 4);
  hx_params_release(params);
  hx_text_deinit(&text);
}

static void params_with_digits_chooses_special_primes(void **state) {
  (void)state;
  hx_params_t *params = NULL, *three = NULL;
  assert_int_equal(hx_params_preset("n15-d14-s49", &params, NULL), HX_STATUS_OK);
  hx_report_t *report = hx_report_create();
  // 15 primes in 3 digits need P of 5x50: log QP 986, above the table.
  assert_int_equal(hx_params_with_digits(params, 3, 0, &three, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_INSECURE);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "2^881"));
  assert_int_equal(hx_params_with_digits(params, 3, HX_PARAMS_INSECURE, &three, NULL), HX_STATUS_OK);
  assert_int_equal(hx_params_p_count(three), 5);
  assert_int_equal(hx_params_q_count(three), 15);
  assert_int_equal((int)lround(hx_params_log2_q(three) + hx_params_log2_p(three)), 986);
  assert_int_equal(hx_params_digits(three), 3);
  assert_true(hx_params_is_insecure(three));
  assert_false(hx_params_same(params, three));
  assert_string_equal(hx_params_name(three), "");
  hx_params_release(three);
  assert_int_equal(hx_params_with_digits(params, 0, 0, &three, NULL), HX_STATUS_INVALID);
  assert_int_equal(hx_params_with_digits(params, 16, 0, &three, NULL), HX_STATUS_INVALID);
  hx_params_release(params);
  hx_report_release(report);
}

static void params_with_digits_serves_chains_without_special_primes(void **state) {
  (void)state;
  hx_text_t base;
  hx_text_init(&base);
  uint64_t bound = (uint64_t)1 << 31;
  append_primes(&base, &bound, 5, 4, "", "");
  char *text = make_text(5, 32, base.data, "", "", 1);
  hx_params_t *params = expect_accepted(text, HX_PARAMS_INSECURE), *two = NULL;
  assert_int_equal(hx_params_with_digits(params, 2, 0, &two, NULL), HX_STATUS_REFUSED);
  assert_int_equal(hx_params_with_digits(params, 2, HX_PARAMS_INSECURE, &two, NULL), HX_STATUS_OK);
  // Two primes a digit, so two special primes: the largest below 2^31 that are not in Q.
  assert_int_equal(hx_params_p_count(two), 2);
  assert_int_equal(hx_params_prime(two, 4), hx_prime_below(bound, 5));
  assert_int_equal(hx_params_prime(two, 5), hx_prime_below(hx_params_prime(two, 4), 5));
  assert_int_equal(hx_params_key_bytes(two), 2 * 2 * 6 * 32 * 4);
  hx_params_release(two);
  hx_params_release(params);
  hx_free(text);
  hx_text_deinit(&base);
}

static void params_reference_is_made_once(void **state) {
  (void)state;
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_preset("n12-d1-s30", &params, NULL), HX_STATUS_OK);
  const hx_ref_ring *first = NULL, *second = NULL;
  assert_int_equal(hx_params_reference(params, &first, NULL), HX_STATUS_OK);
  assert_int_equal(hx_params_reference(params, &second, NULL), HX_STATUS_OK);
  assert_non_null(first);
  assert_ptr_equal(first, second);
  assert_int_equal(hx_ref_ring_degree(first), 4096);
  hx_params_t *same = hx_params_retain(params);
  hx_params_release(params);
  assert_int_equal(hx_ref_ring_prime(first, 0), hx_params_prime(same, 0));
  hx_params_release(same);
  hx_params_release(NULL);
}

static void params_creation_survives_failed_allocations(void **state) {
  (void)state;
  for (uint64_t n = 1;; ++n) {
    hx_params_t *params = NULL;
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_params_preset("n12-d1-s30", &params, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK && hx_params_name(params)[0] != '\0') {
      hx_params_release(params);
      assert_true(n > 3);
      break;
    }
    if (status == HX_STATUS_OK) {
      hx_params_release(params);
    } else {
      assert_int_equal(status, HX_STATUS_OUT_OF_MEMORY);
      assert_null(params);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(presets_follow_their_table),
      cmocka_unit_test(presets_have_good_primes),
      cmocka_unit_test(presets_keep_scales_near_the_default),
      cmocka_unit_test(preset_default_is_listed),
      cmocka_unit_test(params_parse_gives_back_canonical_text_and_digest),
      cmocka_unit_test(params_parse_refuses_bad_text),
      cmocka_unit_test(params_parse_names_line_and_column),
      cmocka_unit_test(params_parse_refuses_long_text),
      cmocka_unit_test(params_parse_refuses_too_many_primes),
      cmocka_unit_test(b41_modulus_above_the_table_is_refused),
      cmocka_unit_test(b43_unsuitable_primes_and_degrees_are_refused),
      cmocka_unit_test(params_parse_reports_each_bad_prime),
      cmocka_unit_test(params_parse_refuses_rings_below_eight),
      cmocka_unit_test(params_parse_takes_small_rings_only_with_the_flag),
      cmocka_unit_test(params_parse_takes_sparse_secrets_only_with_the_flag),
      cmocka_unit_test(params_parse_compares_special_primes_with_each_digit_exactly),
      cmocka_unit_test(params_digits_come_out_as_the_run_allows),
      cmocka_unit_test(params_groups_may_hold_several_primes),
      cmocka_unit_test(params_with_digits_chooses_special_primes),
      cmocka_unit_test(params_with_digits_serves_chains_without_special_primes),
      cmocka_unit_test(params_reference_is_made_once),
      cmocka_unit_test(params_creation_survives_failed_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
