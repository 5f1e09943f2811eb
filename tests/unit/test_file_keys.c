// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/log.h"
#include "core/ckks/keyfile.h"
#include "tests/unit/file_fixture.h"

// N = 16: base of 60 bits, three depth primes of 40, one special prime of 60.
#define CHAIN                                                                               \
  "\"base\":[\"1152921504606845473\"],\"groups\":[[\"1099511627297\"],[\"1099511626049\"]," \
  "[\"1099511625409\"]],\"special\":[\"1152921504606844513\"],\"digits\":4,\"sigma\":\"3.2\","
#define RING "{\"log_n\":4,\"word\":64," CHAIN "\"secret\":\"ternary\",\"scale\":\"2^40\"}"
#define OTHER "{\"log_n\":4,\"word\":64," CHAIN "\"secret\":\"ternary\",\"scale\":\"2^41\"}"
#define SPARSE "{\"log_n\":4,\"word\":64," CHAIN "\"secret\":\"ternary:5\",\"scale\":\"2^40\"}"
#define EVERYTHING (HX_KEYS_PUBLIC | HX_KEYS_RELIN | HX_KEYS_GALOIS | HX_KEYS_CONJ)

static char directory[128];
static char warning[256];

static void catch_warning(void *argument, int level, const char *area, const char *text) {
  (void)argument;
  if (level == HX_LOG_WARNING && strcmp(area, "keys") == 0) snprintf(warning, sizeof warning, "%s", text);
}

static int enter(void **state) {
  (void)state;
  fixture_enter();
  snprintf(directory, sizeof directory, "%s/keys", fixture_folder);
  warning[0] = '\0';
  hx_log_set_sink(catch_warning, NULL);
  return 0;
}

static int leave(void **state) {
  (void)state;
  hx_log_set_sink(NULL, NULL);
  fixture_remove(directory);
  fixture_remove(fixture_folder);
  return access(fixture_folder, F_OK) == 0 ? -1 : 0;
}

static hx_keys_t *make_keys(const char *json, uint32_t parts) {
  static const int64_t steps[] = {1, -2, 4};
  hx_params_t *params = NULL;
  hx_keys_t *keys = NULL;
  assert_int_equal(hx_params_parse(hx_str(json), NULL, HX_PARAMS_INSECURE, &params, NULL), HX_STATUS_OK);
  const hx_keygen_options_t options = {.parts = parts, .rotations = steps, .rotation_count = 3};
  hx_report_t *report = hx_report_create();
  if (hx_keys_generate(params, &options, &keys, report) != HX_STATUS_OK) fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
  hx_params_release(params);
  return keys;
}

static void save(const hx_keys_t *keys, uint32_t parts, bool overwrite) {
  hx_report_t *report = hx_report_create();
  if (hx_keys_save(keys, directory, parts, overwrite, report) != HX_STATUS_OK)
    fail_msg("%s", hx_report_get(report, 0)->text);
  assert_int_equal(hx_report_count(report), 0);
  hx_report_release(report);
}

static hx_keys_t *load(uint32_t parts) {
  hx_keys_t *keys = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_keys_load(directory, parts, &keys, report) != HX_STATUS_OK) fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
  return keys;
}

static void expect_refused(uint32_t parts, hx_code_t code, const char *file, const char *word) {
  hx_keys_t *keys = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_keys_load(directory, parts, &keys, report) == HX_STATUS_OK) fail_msg("accepted, \"%s\" wanted", word);
  assert_null(keys);
  assert_int_equal(hx_report_count(report), 1);
  const hx_fault_t *fault = hx_report_get(report, 0);
  if (fault->code != code || strstr(fault->text, word) == NULL || strstr(fault->source, file) == NULL) {
    fail_msg("%s with \"%s\" wanted: %s: %s: %s", hx_code_info(code)->word, word, fault->source,
             hx_code_info(fault->code)->word, fault->text);
  }
  hx_report_release(report);
}

static bool same_tensor(const hx_tensor_t *a, const hx_tensor_t *b) {
  assert_true(hx_layout_same_shape(&a->layout, &b->layout));
  assert_true(hx_layout_is_dense(&a->layout) && hx_layout_is_dense(&b->layout));
  const size_t bytes = (size_t)hx_layout_elements(&a->layout) * hx_dtype_bytes(a->layout.dtype);
  return memcmp(hx_tensor_row(a, 0, 0, 0, 0), hx_tensor_row(b, 0, 0, 0, 0), bytes) == 0;
}

static const char *file(const char *name) {
  static char path[2][200];
  static unsigned turn;
  char *out = path[turn++ % 2];
  snprintf(out, sizeof path[0], "%s/%s", directory, name);
  return out;
}

// ------------------------------------------------------------------ round trip

static void keys_directory_gives_back_every_part(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, EVERYTHING);
  assert_int_equal(keys->parts, HX_KEYS_ALL);
  save(keys, HX_KEYS_ALL, false);
  assert_int_equal(fixture_count(directory), 6);
  hx_keys_t *back = load(HX_KEYS_ALL);
  assert_int_equal(back->parts, HX_KEYS_ALL);
  assert_true(hx_params_same(back->params, keys->params));
  assert_true(hx_params_is_insecure(back->params));
  assert_memory_equal(back->id, keys->id, 16);
  assert_memory_equal(back->secret, keys->secret, 16);
  assert_true(same_tensor(back->public_key, keys->public_key));
  assert_memory_equal(back->public_seed, keys->public_seed, 32);
  assert_true(same_tensor(back->relin->tensor, keys->relin->tensor));
  assert_int_equal(back->relin->kind, HX_KEY_RELIN);
  assert_true(same_tensor(back->conj->tensor, keys->conj->tensor));
  assert_int_equal(back->conj->kind, HX_KEY_CONJ);
  assert_int_equal(back->conj->element, 31);
  assert_memory_equal(back->conj->seed, keys->conj->seed, 32);
  assert_int_equal(back->galois_count, 3);
  for (size_t i = 0; i < 3; ++i) {
    assert_int_equal(back->galois[i].element, keys->galois[i].element);
    assert_int_equal(back->galois[i].kind, HX_KEY_GALOIS);
    assert_true(same_tensor(back->galois[i].tensor, keys->galois[i].tensor));
  }
  hx_keys_release(back);
  hx_keys_release(keys);
}

static void keys_load_takes_only_the_parts_asked_for(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, EVERYTHING);
  save(keys, HX_KEYS_ALL, false);
  hx_keys_t *back = load(HX_KEYS_RELIN);
  assert_int_equal(back->parts, HX_KEYS_RELIN);
  assert_null(back->secret);
  assert_null(back->public_key);
  hx_keys_release(back);
  // A server's directory has no secret.
  assert_int_equal(unlink(file("secret.hx")), 0);
  back = load(HX_KEYS_ALL);
  assert_int_equal(back->parts, HX_KEYS_PUBLIC | HX_KEYS_EVALUATION);
  assert_memory_equal(back->id, keys->id, 16);
  hx_keys_release(back);
  back = load(0);
  assert_int_equal(back->parts, 0);
  hx_keys_release(back);
  hx_keys_release(keys);
}

static void keys_file_stores_a_seed_or_the_whole_half(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, EVERYTHING);
  save(keys, HX_KEYS_ALL, false);
  struct stat with_seed, whole;
  assert_int_equal(stat(file("relin.hx"), &with_seed), 0);
  memset(keys->relin->seed, 0, 32);
  save(keys, HX_KEYS_ALL, true);
  assert_int_equal(stat(file("relin.hx"), &whole), 0);
  assert_true(whole.st_size > with_seed.st_size + 2000);
  hx_keys_t *back = load(HX_KEYS_RELIN);
  assert_true(same_tensor(back->relin->tensor, keys->relin->tensor));
  hx_keys_release(back);
  hx_keys_release(keys);
}

static void keys_of_a_preset_come_back(void **state) {
  (void)state;
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_preset("n12-d1-s30", &params, NULL), HX_STATUS_OK);
  hx_keys_t *keys = make_keys(hx_params_json(params), HX_KEYS_PUBLIC | HX_KEYS_RELIN);
  save(keys, HX_KEYS_ALL, false);
  hx_keys_t *back = load(HX_KEYS_ALL);
  assert_string_equal(hx_params_name(back->params), "n12-d1-s30");
  assert_memory_equal(back->secret, keys->secret, 4096);
  assert_true(same_tensor(back->public_key, keys->public_key));
  assert_true(same_tensor(back->relin->tensor, keys->relin->tensor));
  hx_keys_release(back);
  hx_keys_release(keys);
  hx_params_release(params);
}

// ------------------------------------------------------------------ the secret's file

static void secret_file_is_its_owners_alone(void **state) {
  (void)state;
  const mode_t mask = umask(0);
  hx_keys_t *keys = make_keys(RING, HX_KEYS_PUBLIC);
  save(keys, HX_KEYS_ALL, false);
  umask(mask);
  struct stat facts;
  assert_int_equal(stat(file("secret.hx"), &facts), 0);
  assert_int_equal(facts.st_mode & 07777, 0600);
  assert_int_equal(stat(directory, &facts), 0);
  assert_int_equal(facts.st_mode & 07777, 0700);
  hx_keys_release(load(HX_KEYS_SECRET));
  assert_string_equal(warning, "");
  assert_int_equal(chmod(file("secret.hx"), 0644), 0);
  hx_keys_release(load(HX_KEYS_SECRET));
  assert_non_null(strstr(warning, "mode 0644"));
  hx_keys_release(keys);
}

static void keys_save_never_replaces_without_the_flag(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, HX_KEYS_PUBLIC), *other = make_keys(RING, HX_KEYS_PUBLIC);
  save(keys, HX_KEYS_ALL, false);
  size_t before_size, after_size;
  unsigned char *before = fixture_read(file("secret.hx"), &before_size);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_keys_save(other, directory, HX_KEYS_ALL, false, report), HX_STATUS_EXISTS);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_FILE_EXISTS);
  assert_non_null(strstr(hx_report_get(report, 0)->source, "secret.hx"));
  unsigned char *after = fixture_read(file("secret.hx"), &after_size);
  assert_int_equal(before_size, after_size);
  assert_memory_equal(before, after, before_size);
  assert_int_equal(fixture_count(directory), 3);
  // A part that is not there yet may join; its files still say one secret.
  hx_keys_release(keys);
  keys = load(HX_KEYS_ALL);
  assert_int_equal(unlink(file("public.hx")), 0);
  save(keys, HX_KEYS_PUBLIC, false);
  hx_keys_release(load(HX_KEYS_ALL));
  save(other, HX_KEYS_ALL, true);
  hx_keys_t *back = load(HX_KEYS_ALL);
  assert_memory_equal(back->id, other->id, 16);
  hx_keys_release(back);
  free(before);
  free(after);
  hx_report_release(report);
  hx_keys_release(keys);
  hx_keys_release(other);
}

static void keys_save_refuses_a_directory_of_other_parameters(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, 0), *other = make_keys(OTHER, HX_KEYS_PUBLIC);
  save(keys, HX_KEYS_ALL, false);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_keys_save(other, directory, HX_KEYS_PUBLIC, false, report), HX_STATUS_EXISTS);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "another parameter set"));
  assert_int_equal(fixture_count(directory), 2);
  hx_report_release(report);
  hx_keys_release(keys);
  hx_keys_release(other);
}

static void keys_save_leaves_no_directory_on_failure(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, EVERYTHING);
  for (uint64_t n = 1;; ++n) {
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_keys_save(keys, directory, HX_KEYS_ALL, false, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK) break;
    assert_int_equal(status, HX_STATUS_OUT_OF_MEMORY);
    assert_int_equal(fixture_count(fixture_folder), 0);
  }
  assert_int_equal(fixture_count(directory), 6);
  for (uint64_t n = 1;; ++n) {
    hx_keys_t *back = NULL;
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_keys_load(directory, HX_KEYS_ALL, &back, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK) {
      hx_keys_release(back);
      break;
    }
    assert_null(back);
  }
  assert_int_equal(hx_keys_save(keys, "/proc/heliox-keys", HX_KEYS_ALL, false, NULL), HX_STATUS_IO);
  assert_int_equal(hx_keys_save(keys, "", HX_KEYS_ALL, false, NULL), HX_STATUS_INVALID);
  hx_keys_release(keys);
}

static void secret_packs_and_unpacks(void **state) {
  (void)state;
  static const int8_t secret[6] = {-1, 0, 1, 1, -1, 0};
  static const uint8_t bytes[6] = {2, 0, 1, 1, 2, 0};
  uint8_t packed[6];
  int8_t back[6];
  hx_keyfile_pack_secret(secret, 6, packed);
  assert_memory_equal(packed, bytes, 6);
  assert_true(hx_keyfile_unpack_secret(packed, 6, 0, back));
  assert_memory_equal(back, secret, 6);
  assert_true(hx_keyfile_unpack_secret(packed, 6, 4, back));
  assert_false(hx_keyfile_unpack_secret(packed, 6, 3, back));
  for (unsigned bad = 3; bad < 256; ++bad) {
    packed[5] = (uint8_t)bad;
    assert_false(hx_keyfile_unpack_secret(packed, 6, 0, back));
  }
}

static void sparse_secret_must_have_its_weight(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(SPARSE, 0);
  save(keys, HX_KEYS_ALL, false);
  hx_keys_release(load(HX_KEYS_ALL));
  for (size_t i = 0; i < 16; ++i) {
    if (keys->secret[i] == 0) {
      keys->secret[i] = 1;
      break;
    }
  }
  save(keys, HX_KEYS_ALL, true);
  expect_refused(HX_KEYS_SECRET, HX_CODE_FILE_FORMAT, "secret.hx", "nonzero");
  hx_keys_release(keys);
}

// ------------------------------------------------------------------ refusals

static void keys_load_refuses_parts_of_another_secret(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, EVERYTHING), *other = make_keys(RING, EVERYTHING);
  save(keys, HX_KEYS_ALL, false);
  save(other, HX_KEYS_GALOIS, true);
  expect_refused(HX_KEYS_ALL, HX_CODE_KEY_ID, "galois.hx", "another secret than those of secret.hx");
  hx_keys_release(load(HX_KEYS_RELIN | HX_KEYS_PUBLIC));
  hx_keys_release(keys);
  hx_keys_release(other);
}

static void keys_load_refuses_parts_of_other_parameters(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, EVERYTHING), *other = make_keys(OTHER, EVERYTHING);
  save(other, HX_KEYS_ALL, false);
  assert_int_equal(hx_params_save(keys->params, file("params.hx"), NULL), HX_STATUS_OK);
  expect_refused(HX_KEYS_RELIN, HX_CODE_PARAMS_DIGEST, "relin.hx", "another parameter set");
  hx_keys_release(keys);
  hx_keys_release(other);
}

static void keys_load_refuses_the_wrong_kind_and_missing_params(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, EVERYTHING);
  save(keys, HX_KEYS_ALL, false);
  assert_int_equal(rename(file("relin.hx"), file("conj.hx")), 0);
  expect_refused(HX_KEYS_CONJ, HX_CODE_FILE_KIND, "conj.hx", "kind relin, and conj");
  assert_int_equal(unlink(file("params.hx")), 0);
  expect_refused(HX_KEYS_ALL, HX_CODE_IO, "params.hx", "No such file");
  hx_keys_t *back = NULL;
  assert_int_equal(hx_keys_load("", HX_KEYS_ALL, &back, NULL), HX_STATUS_INVALID);
  hx_keys_release(keys);
}

static void keys_load_refuses_other_tensors(void **state) {
  (void)state;
  static const struct {
    const char *file, *from, *to, *word;
    uint32_t part;
  } edits[] = {
      {"relin.hx", "\"relin.b\"", "\"relin.c\"", "is missing", HX_KEYS_RELIN},
      {"relin.hx", "\"relin.seed\"", "\"relin.sead\"", "seed or an a", HX_KEYS_RELIN},
      {"relin.hx", "\"shape\":[4,5,16]", "\"shape\":[5,4,16]", "shape and dtype", HX_KEYS_RELIN},
      {"relin.hx", "\"dtype\":\"U64\"", "\"dtype\":\"F64\"", "shape and dtype", HX_KEYS_RELIN},
      {"conj.hx", "\"conj.b\"", "\"conk.b\"", "is missing", HX_KEYS_CONJ},
      {"public.hx", "\"shape\":[5,16]", "\"shape\":[80,1]", "shape and dtype", HX_KEYS_PUBLIC},
      {"galois.hx", "\"galois_5.b\"", "\"galois_4.b\"", "tensors", HX_KEYS_GALOIS},
      {"galois.hx", "\"galois_5.b\"", "\"galois_7.b\"", "seed or an a", HX_KEYS_GALOIS},
      {"secret.hx", "\"s\":{", "\"t\":{", "not the secret", HX_KEYS_SECRET},
  };
  hx_keys_t *keys = make_keys(RING, EVERYTHING);
  for (size_t i = 0; i < HX_COUNT_OF(edits); ++i) {
    save(keys, HX_KEYS_ALL, true);
    fixture_edit(file(edits[i].file), edits[i].from, edits[i].to);
    expect_refused(edits[i].part, HX_CODE_FILE_FORMAT, edits[i].file, edits[i].word);
  }
  hx_keys_release(keys);
}

static void keys_load_checks_residues(void **state) {
  (void)state;
  hx_keys_t *keys = make_keys(RING, EVERYTHING);
  ((uint64_t *)hx_tensor_row(keys->relin->tensor, 0, 2, 0, 3))[7] = hx_params_prime(keys->params, 3);
  save(keys, HX_KEYS_ALL, false);
  expect_refused(HX_KEYS_RELIN, HX_CODE_RESIDUE, "relin.hx", "digit 2, component 0, row 3 (prime id 3), index 7");
  hx_keys_release(keys);
}

static void b49_damaged_key_files_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint32_t part;
  } files[] = {{"secret.hx", HX_KEYS_SECRET}, {"public.hx", HX_KEYS_PUBLIC}, {"relin.hx", HX_KEYS_RELIN},
               {"galois.hx", HX_KEYS_GALOIS}, {"conj.hx", HX_KEYS_CONJ},     {"params.hx", 0}};
  hx_keys_t *keys = make_keys(RING, EVERYTHING);
  save(keys, HX_KEYS_ALL, false);
  for (size_t f = 0; f < HX_COUNT_OF(files); ++f) {
    size_t size;
    unsigned char *bytes = fixture_read(file(files[f].name), &size);
    const size_t cuts[] = {0, 1, 7, 8, 15, size / 2, size - 1};
    for (size_t i = 0; i < HX_COUNT_OF(cuts); ++i) {
      fixture_write(file(files[f].name), bytes, cuts[i]);
      expect_refused(files[f].part, HX_CODE_FILE_TRUNCATED, files[f].name, "");
    }
    uint64_t random = f;
    for (int i = 0; i < 200; ++i) {
      const uint64_t bit = fixture_random(&random) % (8 * size);
      bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
      fixture_write(file(files[f].name), bytes, size);
      bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
      hx_keys_t *back = NULL;
      assert_int_not_equal(hx_keys_load(directory, files[f].part, &back, NULL), HX_STATUS_OK);
      assert_null(back);
    }
    fixture_write(file(files[f].name), bytes, size);
    free(bytes);
  }
  hx_keys_release(load(HX_KEYS_ALL));
  hx_keys_release(keys);
}

static void keys_of_one_seed_are_refused(void **state) {
  (void)state;
  static const uint32_t ids[] = {0, 1, 2, 3, 4};
  hx_keys_t *keys = make_keys(RING, EVERYTHING);
  save(keys, HX_KEYS_ALL, false);
  hx_keys_release(load(HX_KEYS_ALL));
  memcpy(keys->galois[1].seed, keys->relin->seed, 32);
  hx_artifact_expand(keys->params, keys->galois[1].seed, ids, keys->galois[1].tensor);
  save(keys, HX_KEYS_GALOIS, true);
  char name[64];
  snprintf(name, sizeof name, "galois_%llu", (unsigned long long)keys->galois[1].element);
  expect_refused(HX_KEYS_ALL, HX_CODE_SEED_REUSE, "keys", name);
  // Without the other key there is nothing to compare.
  hx_keys_release(load(HX_KEYS_GALOIS));
  memcpy(keys->public_seed, keys->galois[0].seed, 32);
  hx_artifact_expand(keys->params, keys->public_seed, ids, keys->public_key);
  save(keys, HX_KEYS_PUBLIC, true);
  expect_refused(HX_KEYS_PUBLIC | HX_KEYS_GALOIS, HX_CODE_SEED_REUSE, "keys", "the public key");
  hx_keys_release(keys);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, enter, leave)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(keys_directory_gives_back_every_part),
      CASE(keys_load_takes_only_the_parts_asked_for),
      CASE(keys_file_stores_a_seed_or_the_whole_half),
      CASE(keys_of_a_preset_come_back),
      CASE(secret_file_is_its_owners_alone),
      CASE(keys_save_never_replaces_without_the_flag),
      CASE(keys_save_refuses_a_directory_of_other_parameters),
      CASE(keys_save_leaves_no_directory_on_failure),
      CASE(secret_packs_and_unpacks),
      CASE(sparse_secret_must_have_its_weight),
      CASE(keys_load_refuses_parts_of_another_secret),
      CASE(keys_load_refuses_parts_of_other_parameters),
      CASE(keys_load_refuses_the_wrong_kind_and_missing_params),
      CASE(keys_load_refuses_other_tensors),
      CASE(keys_load_checks_residues),
      CASE(keys_of_one_seed_are_refused),
      CASE(b49_damaged_key_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
