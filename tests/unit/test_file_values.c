// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/ckks/file.h"
#include "core/ops/ops.h"
#include "tests/unit/file_fixture.h"

// N = 16: base of 60 bits, three depth primes of 40, one special prime of 60.
#define CHAIN                                                                               \
  "\"base\":[\"1152921504606845473\"],\"groups\":[[\"1099511627297\"],[\"1099511626049\"]," \
  "[\"1099511625409\"]],\"special\":[\"1152921504606844513\"],\"digits\":4,\"secret\":\"ternary\",\"sigma\":\"3.2\","
#define RING "{\"log_n\":4,\"word\":64," CHAIN "\"scale\":\"2^40\"}"
#define OTHER "{\"log_n\":4,\"word\":64," CHAIN "\"scale\":\"2^41\"}"
#define NARROW                                                                                       \
  "{\"log_n\":4,\"word\":32,\"base\":[\"2147483489\"],\"groups\":[[\"2147483137\"]],\"special\":[]," \
  "\"digits\":1,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^20\"}"

static hx_params_t *params;

static int enter(void **state) {
  (void)state;
  fixture_enter();
  return hx_params_parse(hx_str(RING), NULL, HX_PARAMS_INSECURE, &params, NULL) == HX_STATUS_OK ? 0 : -1;
}

static int leave(void **state) {
  (void)state;
  fixture_remove(fixture_folder);
  hx_params_release(params);
  return access(fixture_folder, F_OK) == 0 ? -1 : 0;
}

#define CIPHERTEXT(batch_, components_)                              \
  "!ckks.ciphertext<batch = [" batch_ "], components = " components_ \
  ", depth = 1, scale = \"2^40*q3^-1\", primes = "                   \
  "[0, 1, 2], basis = Q, domain = ntt, repr = standard, slots = 8>"
#define PLAINTEXT                                                                                         \
  "!ckks.plaintext<batch = [], components = 1, depth = 0, scale = \"3*2^38\", primes = [0, 1, 2, 3, 4], " \
  "basis = QP, domain = ntt, repr = standard, slots = 4>"

// A value with residues from a fixed sequence.
static hx_value_t *make_value(const hx_params_t *set, const char *text, uint64_t state, bool secret) {
  hx_type_t type;
  hx_value_t *value = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_type_parse(hx_str(text), hx_params_ring(set), &type, report) != HX_STATUS_OK)
    fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
  assert_int_equal(hx_value_create(set, &type, secret, &value), HX_STATUS_OK);
  const hx_layout_t *layout = &value->tensor->layout;
  uint32_t ids[HX_PRIMES_MAX];
  (void)hx_primes_list(&type.primes, ids);
  for (uint64_t item = 0; item < hx_layout_items(layout); ++item) {
    for (uint32_t c = 0; c < layout->components; ++c) {
      for (uint32_t l = 0; l < layout->limbs; ++l) {
        void *row = hx_tensor_row(value->tensor, item, 0, c, l);
        for (uint32_t i = 0; i < 16; ++i) {
          const uint64_t residue = fixture_random(&state) * 65537 % hx_params_prime(set, ids[l]);
          if (layout->dtype == HX_U64) {
            ((uint64_t *)row)[i] = residue;
          } else {
            ((uint32_t *)row)[i] = (uint32_t)residue;
          }
        }
      }
    }
  }
  if (value->type.kind == HX_TYPE_CIPHERTEXT) memset(value->key_id, 0x5a, sizeof value->key_id);
  value->count = 3;
  value->is_complex = true;
  return value;
}

static void save(const char *path, hx_value_t *value, const char *name) {
  const hx_named_value_t named = {.name = name, .value = value};
  hx_report_t *report = hx_report_create();
  if (hx_values_save(&named, 1, false, path, report) != HX_STATUS_OK) fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
}

// Loads; on refusal a fault with this code and these words is wanted. NULL code text: success is wanted.
static void expect_refused(const char *path, hx_code_t code, const char *word) {
  hx_named_value_t *values = NULL;
  size_t count = 0;
  hx_report_t *report = hx_report_create();
  if (hx_values_load(path, params, &values, &count, report) == HX_STATUS_OK) fail_msg("accepted, %s wanted", word);
  assert_null(values);
  assert_int_equal(count, 0);
  assert_int_equal(hx_report_count(report), 1);
  const hx_fault_t *fault = hx_report_get(report, 0);
  if (fault->code != code || strstr(fault->text, word) == NULL) {
    fail_msg("%s with \"%s\" wanted: %s: %s", hx_code_info(code)->word, word, hx_code_info(fault->code)->word,
             fault->text);
  }
  assert_string_equal(fault->source, path);
  hx_report_release(report);
}

// ------------------------------------------------------------------ parameters

static void params_file_gives_back_the_set(void **state) {
  (void)state;
  const char *path = fixture_path("params.hx");
  hx_params_t *preset = NULL, *back = NULL;
  assert_int_equal(hx_params_preset("n12-d1-s30", &preset, NULL), HX_STATUS_OK);
  assert_int_equal(hx_params_save(preset, path, NULL), HX_STATUS_OK);
  assert_int_equal(hx_params_load(path, 0, &back, NULL), HX_STATUS_OK);
  assert_true(hx_params_same(preset, back));
  assert_string_equal(hx_params_name(back), "n12-d1-s30");
  hx_file_kind_t kind;
  assert_int_equal(hx_file_kind(path, &kind, NULL), HX_STATUS_OK);
  assert_int_equal(kind, HX_FILE_PARAMS);
  hx_params_release(back);
  hx_params_release(preset);
  assert_int_equal(fixture_count(fixture_folder), 1);
}

static void params_file_carries_the_insecure_flag(void **state) {
  (void)state;
  const char *path = fixture_path("params.hx");
  hx_params_t *back = NULL;
  assert_int_equal(hx_params_save(params, path, NULL), HX_STATUS_OK);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_params_load(path, 0, &back, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_INSECURE);
  assert_string_equal(hx_report_get(report, 0)->source, path);
  assert_int_equal(hx_params_load(path, HX_PARAMS_INSECURE, &back, NULL), HX_STATUS_OK);
  assert_true(hx_params_is_insecure(back));
  hx_params_release(back);
  back = NULL;
  fixture_edit(path, "\"insecure\":\"1\"", "\"insecure\":\"0\"");
  hx_report_clear(report);
  assert_int_equal(hx_params_load(path, HX_PARAMS_INSECURE, &back, report), HX_STATUS_CORRUPT);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "insecure"));
  assert_null(back);
  hx_report_release(report);
}

static void params_file_refuses_what_disagrees(void **state) {
  (void)state;
  const char *path = fixture_path("params.hx");
  static const struct {
    const char *from, *to;
    hx_code_t code;
  } edits[] = {
      {"2^30", "2^29", HX_CODE_PARAMS_DIGEST},
      {"\"name\":\"n12-d1-s30\"", "\"name\":\"n13-d3-s40\"", HX_CODE_FILE_FORMAT},
      {"\"name\":\"n12-d1-s30\"", "\"game\":\"n12-d1-s30\"", HX_CODE_NONE},
      {"\"name\":\"n12-d1-s30\"", "\"name\":\"my-own-set\"", HX_CODE_NONE},
      {"\"parameters\"", "\"parametres\"", HX_CODE_FILE_FORMAT},
      {"\\\"special\\\"", "\\\"spesial\\\"", HX_CODE_PARAMS},
      {"\"kind\":\"params\"", "\"kind\":\"secret\"", HX_CODE_FILE_FORMAT},
      {"\"kind\":\"params\"", "\"kind\":\"bundle\"", HX_CODE_FILE_KIND},
      {"\"kind\":\"params\"", "\"kind\":\"parsma\"", HX_CODE_FILE_KIND},
      {"\"insecure\":\"0\"", "\"insecure\":\"2\"", HX_CODE_FILE_FORMAT},
      {"\"key_id\":\"\"", "\"kez_id\":\"\"", HX_CODE_FILE_FORMAT},
  };
  hx_params_t *preset = NULL;
  assert_int_equal(hx_params_preset("n12-d1-s30", &preset, NULL), HX_STATUS_OK);
  for (size_t i = 0; i < HX_COUNT_OF(edits); ++i) {
    char to[64];
    snprintf(to, sizeof to, "%s", edits[i].to);
    if (strlen(edits[i].from) != strlen(to)) {
      // "my-own-set" has the length of a preset's name.
      fail_msg("%s and %s differ in length", edits[i].from, to);
    }
    assert_int_equal(hx_params_save(preset, path, NULL), HX_STATUS_OK);
    fixture_edit(path, edits[i].from, to);
    hx_params_t *back = NULL;
    hx_report_t *report = hx_report_create();
    const hx_status_t status = hx_params_load(path, 0, &back, report);
    if (edits[i].code == HX_CODE_NONE) {
      assert_int_equal(status, HX_STATUS_OK);
      hx_params_release(back);
    } else {
      assert_int_not_equal(status, HX_STATUS_OK);
      if (hx_report_get(report, 0)->code != edits[i].code)
        fail_msg("%s: %s", edits[i].to, hx_report_get(report, 0)->text);
    }
    hx_report_release(report);
  }
  hx_params_release(preset);
}

// ------------------------------------------------------------------ values

static void values_file_gives_back_equal_values(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  static const char *const types[] = {CIPHERTEXT("", "2"), CIPHERTEXT("", "3"), CIPHERTEXT("2, 3", "2"), PLAINTEXT};
  for (size_t i = 0; i < HX_COUNT_OF(types); ++i) {
    hx_value_t *value = make_value(params, types[i], i, false), *back = NULL;
    save(path, value, "x");
    assert_int_equal(hx_value_load(path, NULL, params, &back, NULL), HX_STATUS_OK);
    assert_true(hx_value_equal(value, back));
    assert_int_equal(hx_value_count(back), 3);
    assert_true(hx_value_is_complex(back));
    assert_false(hx_value_is_secret(back));
    hx_file_kind_t kind;
    assert_int_equal(hx_file_kind(path, &kind, NULL), HX_STATUS_OK);
    assert_int_equal(kind, i == 3 ? HX_FILE_PLAINTEXT : HX_FILE_CIPHERTEXT);
    hx_value_release(back);
    hx_value_release(value);
  }
  assert_int_equal(fixture_count(fixture_folder), 1);
}

static void values_file_holds_several_by_name(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  hx_value_t *a = make_value(params, CIPHERTEXT("", "2"), 1, false),
             *b = make_value(params, CIPHERTEXT("4", "2"), 2, false);
  const hx_named_value_t named[] = {{"score", a}, {"h\xc3\xb6he \"x\"", b}};
  assert_int_equal(hx_values_save(named, 2, false, path, NULL), HX_STATUS_OK);
  hx_named_value_t *values = NULL;
  size_t count = 0;
  assert_int_equal(hx_values_load(path, params, &values, &count, NULL), HX_STATUS_OK);
  assert_int_equal(count, 2);
  assert_string_equal(values[0].name, "score");
  assert_string_equal(values[1].name, named[1].name);
  assert_true(hx_value_equal(values[0].value, a));
  assert_true(hx_value_equal(values[1].value, b));
  hx_values_free(values, count);
  hx_values_free(NULL, 0);
  hx_value_t *one = NULL;
  assert_int_equal(hx_value_load(path, "score", params, &one, NULL), HX_STATUS_OK);
  assert_true(hx_value_equal(one, a));
  hx_value_release(one);
  one = NULL;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_value_load(path, NULL, params, &one, report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_INPUT);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "score, h\xc3\xb6he"));
  assert_int_equal(hx_value_load(path, "y", params, &one, report), HX_STATUS_INVALID);
  assert_null(one);
  hx_report_release(report);
  hx_value_release(a);
  hx_value_release(b);
}

static void values_file_keeps_32_bit_words(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  hx_params_t *narrow = NULL;
  assert_int_equal(hx_params_parse(hx_str(NARROW), NULL, HX_PARAMS_INSECURE, &narrow, NULL), HX_STATUS_OK);
  hx_value_t *value = make_value(
      narrow,
      "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^20\", primes = [0, 1], basis = Q, "
      "domain = ntt, repr = standard, slots = 8>",
      7, false);
  save(path, value, "value");
  hx_value_t *back = NULL;
  assert_int_equal(hx_value_load(path, "value", narrow, &back, NULL), HX_STATUS_OK);
  assert_true(hx_value_equal(value, back));
  assert_int_equal(hx_value_bytes(back), 2 * 2 * 16 * 4);
  hx_value_release(back);
  hx_value_release(value);
  hx_params_release(narrow);
}

static void values_file_writes_views_densely(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  hx_value_t *batch = make_value(params, CIPHERTEXT("4", "3"), 5, false), *back = NULL, *item = NULL;
  // Items 1 and 3, first two components: strides that are not dense.
  hx_type_t type;
  assert_int_equal(hx_type_parse(hx_str(CIPHERTEXT("2", "2")), hx_params_ring(params), &type, NULL), HX_STATUS_OK);
  hx_layout_t layout = batch->tensor->layout;
  layout.components = 2;
  layout.batch_shape[0] = 2;
  layout.batch_strides[0] *= 2;
  hx_tensor_t *view = NULL;
  assert_int_equal(hx_tensor_view(batch->tensor, batch->tensor->layout.batch_strides[0] * 8, &layout, &view, NULL),
                   HX_STATUS_OK);
  assert_int_equal(hx_value_wrap(params, &type, view, false, &item, NULL), HX_STATUS_OK);
  hx_tensor_release(view);
  save(path, item, "x");
  assert_int_equal(hx_value_load(path, NULL, params, &back, NULL), HX_STATUS_OK);
  assert_true(hx_layout_is_dense(&back->tensor->layout));
  assert_true(hx_value_equal(item, back));
  assert_memory_equal(hx_tensor_row(back->tensor, 1, 0, 1, 2), hx_tensor_row(batch->tensor, 3, 0, 1, 2), 128);
  hx_value_release(back);
  hx_value_release(item);
  hx_value_release(batch);
}

// A container as encryption under a secret could write it: the second component is a seed.
static void write_compressed(const char *path, const hx_value_t *value, const uint8_t seed[32], bool with_component) {
  hx_text_t type;
  hx_text_init(&type);
  assert_int_equal(hx_type_print(&value->type, &type), HX_STATUS_OK);
  hx_artifact_writer_t writer;
  hx_artifact_writer_init(&writer, HX_FILE_CIPHERTEXT, params, value->key_id);
  hx_artifact_writer_metadata(&writer, "x", ".type", type.data);
  hx_artifact_writer_metadata(&writer, "x", ".count", "3");
  hx_artifact_writer_metadata(&writer, "x", ".values", "complex");
  const hx_artifact_rows_t rows = {.tensor = value->tensor, .components = with_component ? 2 : 1};
  hx_artifact_writer_rows(&writer, "x", "", &rows, false);
  hx_artifact_writer_bytes(&writer, "x", ".seed", seed, 32);
  assert_int_equal(hx_artifact_writer_save(&writer, path, 0666, NULL), HX_STATUS_OK);
  hx_artifact_writer_deinit(&writer);
  hx_text_deinit(&type);
}

static void values_file_expands_seeds(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  hx_value_t *value = make_value(params, CIPHERTEXT("2", "2"), 5, false), *back = NULL;
  uint8_t seed[32] = {1, 2, 3};
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  for (uint32_t item = 0; item < 2; ++item) {
    for (uint32_t limb = 0; limb < 3; ++limb)
      hx_ref_row_expand_uniform(ring, limb, seed, item, hx_tensor_row(value->tensor, item, 0, 1, limb));
  }
  write_compressed(path, value, seed, false);
  assert_int_equal(hx_value_load(path, NULL, params, &back, NULL), HX_STATUS_OK);
  assert_true(hx_value_equal(value, back));
  hx_value_release(back);
  // Both halves and a seed: refused.
  write_compressed(path, value, seed, true);
  expect_refused(path, HX_CODE_FILE_FORMAT, "dtype or shape");
  hx_value_release(value);
  // Three components, or no ntt domain: a seed makes no sense.
  value = make_value(params, CIPHERTEXT("", "3"), 5, false);
  write_compressed(path, value, seed, false);
  expect_refused(path, HX_CODE_FILE_FORMAT, "seed stands for");
  hx_value_release(value);
}

// ------------------------------------------------------------------ refusals

static void values_load_refuses_other_parameters_and_kinds(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  hx_params_t *other = NULL;
  assert_int_equal(hx_params_parse(hx_str(OTHER), NULL, HX_PARAMS_INSECURE, &other, NULL), HX_STATUS_OK);
  hx_value_t *value = make_value(other, CIPHERTEXT("", "2"), 1, false);
  save(path, value, "x");
  hx_report_t *report = hx_report_create();
  hx_value_t *back = NULL;
  assert_int_equal(hx_value_load(path, NULL, params, &back, report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_PARAMS_DIGEST);
  assert_string_equal(hx_report_get(report, 0)->expected, hx_params_digest_hex(params));
  assert_string_equal(hx_report_get(report, 0)->found, hx_params_digest_hex(other));
  hx_report_release(report);
  hx_value_release(value);
  hx_params_release(other);
  assert_int_equal(hx_params_save(params, path, NULL), HX_STATUS_OK);
  expect_refused(path, HX_CODE_FILE_KIND, "kind params, and ciphertext");
}

static void values_load_refuses_bad_metadata(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  static const struct {
    const char *from, *to;
    hx_code_t code;
    const char *word;
  } edits[] = {
      {"\"format_version\":\"1\"", "\"format_version\":\"2\"", HX_CODE_FILE_VERSION, "\"2\", this build reads \"1\""},
      {"\"format\":\"heliox\"", "\"format\":\"helios\"", HX_CODE_FILE_FORMAT, "no Heliox container"},
      {"\"kind\":\"ciphertext\"", "\"kind\":\"ciphertexd\"", HX_CODE_FILE_KIND, "\"ciphertexd\"; this build reads"},
      {"\"kind\":", "\"kinb\":", HX_CODE_FILE_FORMAT, "kind in the header at offset 8 is absent"},
      {"\"key_id\":\"5a", "\"key_id\":\"5A", HX_CODE_FILE_FORMAT, "key_id"},
      {"\"insecure\":\"1\"", "\"insecure\":\"0\"", HX_CODE_FILE_FORMAT, "insecure"},
      {"\"x.type\"", "\"y.type\"", HX_CODE_FILE_FORMAT, "x.type is missing"},
      {"!ckks.ciphertext", "!ckks.ciphertexd", HX_CODE_FILE_FORMAT, "value \"x\", metadata key type"},
      {"components = 2", "components = 3", HX_CODE_FILE_FORMAT, "dtype or shape"},
      {"components = 2", "components = 9", HX_CODE_FILE_FORMAT, "metadata key type"},
      {"components = 2", "components = ?", HX_CODE_FILE_FORMAT, "metadata key type"},
      {"depth = 1", "depth = 2", HX_CODE_FILE_FORMAT, "metadata key type"},
      {"primes = [0, 1, 2]", "primes = [0, 1, 3]", HX_CODE_FILE_FORMAT, "metadata key type"},
      {"slots = 8", "slots = 7", HX_CODE_FILE_FORMAT, "metadata key type"},
      {"2^40*q3^-1", "2^40*q9^-1", HX_CODE_FILE_FORMAT, "metadata key type"},
      {"\"x.count\":\"3\"", "\"x.count\":\"9\"", HX_CODE_FILE_FORMAT, "more than the 8 slots"},
      {"\"x.count\":\"3\"", "\"x.count\":\"-\"", HX_CODE_FILE_FORMAT, "count"},
      {"\"x.count\":\"3\"", "\"y.count\":\"3\"", HX_CODE_FILE_FORMAT, "count"},
      {"\"x.values\":\"complex\"", "\"x.values\":\"complix\"", HX_CODE_FILE_FORMAT, "not real or complex"},
      {"\"shape\":[2,3,16]", "\"shape\":[3,2,16]", HX_CODE_FILE_FORMAT, "dtype or shape"},
      {"\"dtype\":\"U64\"", "\"dtype\":\"I64\"", HX_CODE_FILE_FORMAT, "dtype or shape"},
  };
  hx_value_t *value = make_value(params, CIPHERTEXT("", "2"), 1, false);
  for (size_t i = 0; i < HX_COUNT_OF(edits); ++i) {
    save(path, value, "x");
    fixture_edit(path, edits[i].from, edits[i].to);
    expect_refused(path, edits[i].code, edits[i].word);
  }
  // An unknown key is ignored.
  hx_artifact_writer_t writer;
  hx_artifact_writer_init(&writer, HX_FILE_PARAMS, params, NULL);
  hx_artifact_writer_metadata(&writer, "parameters", "", hx_params_json(params));
  hx_artifact_writer_metadata(&writer, "later", "", "something");
  assert_int_equal(hx_artifact_writer_save(&writer, path, 0666, NULL), HX_STATUS_OK);
  hx_artifact_writer_deinit(&writer);
  hx_params_t *back = NULL;
  assert_int_equal(hx_params_load(path, HX_PARAMS_INSECURE, &back, NULL), HX_STATUS_OK);
  hx_params_release(back);
  hx_value_release(value);
}

static void values_load_checks_residues(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  hx_value_t *value = make_value(params, CIPHERTEXT("", "2"), 1, false);
  ((uint64_t *)hx_tensor_row(value->tensor, 0, 0, 1, 1))[4] = hx_params_prime(params, 1);
  save(path, value, "x");
  expect_refused(path, HX_CODE_RESIDUE, "component 1, row 1 (prime id 1), index 4 holds 1099511627297");
  hx_value_release(value);
}

static void values_save_refuses_mixtures_and_bad_names(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  hx_value_t *a = make_value(params, CIPHERTEXT("", "2"), 1, false),
             *b = make_value(params, CIPHERTEXT("", "2"), 1, false);
  hx_value_t *plain = make_value(params, PLAINTEXT, 1, false), *secret = make_value(params, PLAINTEXT, 1, true);
  hx_report_t *report = hx_report_create();
  b->key_id[0] = 0;
  assert_int_equal(hx_values_save((hx_named_value_t[]){{"a", a}, {"b", b}}, 2, false, path, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_KEY_ID);
  assert_int_equal(hx_values_save((hx_named_value_t[]){{"a", a}, {"b", plain}}, 2, false, path, report),
                   HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(report, 1)->code, HX_CODE_FILE_KIND);
  assert_int_equal(hx_values_save((hx_named_value_t[]){{"a", a}, {"a", a}}, 2, false, path, report), HX_STATUS_INVALID);
  assert_int_equal(hx_values_save((hx_named_value_t[]){{"a", secret}}, 1, false, path, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_report_get(report, 3)->code, HX_CODE_SECRET);
  assert_int_equal(hx_values_save(NULL, 0, false, path, report), HX_STATUS_INVALID);
  static const char *const names[] = {"", "a\nb", "__metadata__", "x.seed", "\xff\xfe"};
  for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
    assert_int_equal(hx_values_save((hx_named_value_t[]){{names[i], a}}, 1, false, path, NULL), HX_STATUS_INVALID);
  }
  assert_int_equal(fixture_count(fixture_folder), 0);
  // A secret value, where it may be written, is its owner's alone.
  assert_int_equal(hx_values_save((hx_named_value_t[]){{"a", secret}}, 1, true, path, NULL), HX_STATUS_OK);
  struct stat facts;
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 07777, 0600);
  hx_report_release(report);
  hx_value_release(a);
  hx_value_release(b);
  hx_value_release(plain);
  hx_value_release(secret);
}

// ------------------------------------------------------------------ damage

static void b49_damaged_value_files_are_refused(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  static const char *const types[] = {CIPHERTEXT("", "2"), PLAINTEXT};
  for (size_t t = 0; t < HX_COUNT_OF(types); ++t) {
    hx_value_t *value = make_value(params, types[t], t, false);
    save(path, value, "x");
    size_t size;
    unsigned char *bytes = fixture_read(path, &size);
    const size_t cuts[] = {0, 1, 7, 8, 15, size / 2, size - 1};
    hx_named_value_t *values = NULL;
    size_t count = 0;
    for (size_t i = 0; i < HX_COUNT_OF(cuts); ++i) {
      fixture_write(path, bytes, cuts[i]);
      expect_refused(path, HX_CODE_FILE_TRUNCATED, "");
    }
    uint64_t random = 49;
    for (int i = 0; i < 1000; ++i) {
      const uint64_t bit = fixture_random(&random) % (8 * size);
      bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
      hx_artifact_t artifact;
      hx_status_t status = hx_artifact_open_memory(bytes, size, "m", &artifact, NULL);
      if (status == HX_STATUS_OK) {
        status = hx_values_read(&artifact, params, &values, &count, NULL);
        hx_artifact_close(&artifact);
      }
      assert_int_not_equal(status, HX_STATUS_OK);
      assert_null(values);
      bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
    // Size fields at the front.
    static const uint64_t boasts[] = {(uint64_t)1 << 31, UINT32_MAX, (uint64_t)1 << 60, UINT64_MAX};
    for (size_t i = 0; i < HX_COUNT_OF(boasts); ++i) {
      for (int b = 0; b < 8; ++b) bytes[b] = (unsigned char)(boasts[i] >> (8 * b));
      fixture_write(path, bytes, size);
      expect_refused(path, HX_CODE_FILE_FORMAT, "offset 0");
    }
    free(bytes);
    hx_value_release(value);
  }
}

static void b52_values_come_through_a_pipe(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  hx_value_t *value = make_value(params, CIPHERTEXT("2", "2"), 3, false), *back = NULL;
  save(path, value, "x");
  size_t size;
  unsigned char *bytes = fixture_read(path, &size);
  int ends[2];
  char name[40];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], bytes, size), (ssize_t)size);
  close(ends[1]);
  snprintf(name, sizeof name, "/proc/self/fd/%d", ends[0]);
  assert_int_equal(hx_value_load(name, NULL, params, &back, NULL), HX_STATUS_OK);
  assert_true(hx_value_equal(value, back));
  close(ends[0]);
  hx_value_release(back);
  hx_value_release(value);
  free(bytes);
}

static void values_files_survive_failed_allocations(void **state) {
  (void)state;
  const char *path = fixture_path("x.hx");
  hx_value_t *value = make_value(params, CIPHERTEXT("2", "2"), 3, false);
  const hx_named_value_t named = {.name = "x", .value = value};
  for (uint64_t n = 1;; ++n) {
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_values_save(&named, 1, false, path, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK) break;
    assert_int_equal(fixture_count(fixture_folder), 0);
  }
  for (uint64_t n = 1;; ++n) {
    hx_named_value_t *values = NULL;
    size_t count = 0;
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_values_load(path, params, &values, &count, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK) {
      assert_true(hx_value_equal(values[0].value, value));
      hx_values_free(values, count);
      break;
    }
    assert_null(values);
  }
  hx_value_release(value);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, enter, leave)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(params_file_gives_back_the_set),
      CASE(params_file_carries_the_insecure_flag),
      CASE(params_file_refuses_what_disagrees),
      CASE(values_file_gives_back_equal_values),
      CASE(values_file_holds_several_by_name),
      CASE(values_file_keeps_32_bit_words),
      CASE(values_file_writes_views_densely),
      CASE(values_file_expands_seeds),
      CASE(values_load_refuses_other_parameters_and_kinds),
      CASE(values_load_refuses_bad_metadata),
      CASE(values_load_checks_residues),
      CASE(values_save_refuses_mixtures_and_bad_names),
      CASE(b49_damaged_value_files_are_refused),
      CASE(b52_values_come_through_a_pipe),
      CASE(values_files_survive_failed_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
