// SPDX-License-Identifier: Apache-2.0
// The published schema as the loader enforces it, and what completion writes.
#include "tests/unit/plugin_fixture.h"

#include "core/plugin/manifest.h"
#include "core/plugin/schema.h"

static const char complete_text[] =
    "{\"manifest_version\": 1, \"id\": \"org.heliox.x\", \"name\": \"x\", \"version\": \"1.0.0\", \"library\": "
    "\"x.so\","
    "\"digest\": {\"sha256\": \"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\", \"size\": 9},"
    "\"abi\": {\"min\": \"1.0\", \"max\": \"1.0\", \"layouts\": {}},"
    "\"target\": {\"os\": \"linux\", \"arch\": \"x86_64\", \"libc\": \"glibc\"},"
    "\"operations\": [{\"type\": \"rns.add\", \"signature\": 1, \"implementation\": \"c\", \"dtypes\": [\"u64\"]},"
    "{\"type\": \"rns.mul\", \"signature\": 2, \"implementation\": \"c\", \"dtypes\": [\"u64\", \"u32\"],"
    " \"log_n\": [3, 16], \"prime_bits\": [20, 60], \"in_place\": true, \"domains\": [\"ntt\"], \"explicit_only\": "
    "true,"
    " \"exactness\": \"tolerance\", \"resources\": [{\"kind\": \"packed-key\", \"operand\": \"key\", \"packed_only\": "
    "true},"
    " {\"kind\": \"process-group\"}]}]}";

// The complete manifest, changed: {path of keys and numbers, new value as JSON or NULL to delete}.
static char *changed(const char *path, const char *value) {
  json_t *root = json_loads(complete_text, 0, NULL), *at = root;
  assert_non_null(root);
  char step[64];
  while (strchr(path, '/') != NULL) {
    const size_t size = strcspn(path, "/");
    snprintf(step, sizeof step, "%.*s", (int)size, path);
    at = json_is_array(at) ? json_array_get(at, (size_t)atoi(step)) : json_object_get(at, step);
    assert_non_null(at);
    path += size + 1;
  }
  if (value == NULL) {
    assert_int_equal(json_object_del(at, path), 0);
  } else {
    json_t *json = json_loads(value, JSON_DECODE_ANY, NULL);
    assert_non_null(json);
    assert_int_equal(
        json_is_array(at) ? json_array_set_new(at, (size_t)atoi(path), json) : json_object_set_new(at, path, json), 0);
  }
  char *text = json_dumps(root, 0);
  json_decref(root);
  return text;
}

typedef struct row {
  const char *path, *value, *piece;
} row_t;

static void row_09_schema_refuses_with_the_pointer(void **state) {
  (void)state;
  static const row_t rows[] = {
      {"id", NULL, "(top) lacks the key \"id\""},
      {"operations", NULL, "(top) lacks the key \"operations\""},
      {"manifest_version", "2", "/manifest_version is 2, must be 1"},
      {"manifest_version", "\"1\"", "/manifest_version is \"1\", must be 1"},
      {"id", "7", "/id is integer, must be string"},
      {"id", "\"plain\"", "/id is \"plain\", must match"},
      {"id", "\"a.b\\u0007\"", "/id is \"a.b\\u0007\", must match"},
      {"name", "\"Upper\"", "/name is \"Upper\", must match"},
      {"version", "\"1.0\"", "/version is \"1.0\", must match"},
      {"vendro", "\"x\"", "/vendro is an unknown key"},
      {"digest/sha256", "\"00\"", "/digest/sha256 is \"00\", must match"},
      {"digest/size", "0", "/digest/size is 0, must be at least 1"},
      {"digest/size", "1.5", "/digest/size is number, must be integer"},
      {"digest/extra", "1", "/digest/extra is an unknown key"},
      {"abi/min", "1.0", "/abi/min is number, must be string"},
      {"abi/layouts", "{\"x\": \"0\"}", "/abi/layouts/x is an unknown key"},
      {"target/isa", "\"avx2\"", "/target/isa is string, must be array"},
      {"target/isa", "[1]", "/target/isa/0 is integer, must be string"},
      {"operations", "{}", "/operations is object, must be array"},
      {"operations/0", "[]", "/operations/0 is array, must be object"},
      {"operations/0/dtypes", "[]", "/operations/0/dtypes is 0 items, must be at least 1 items"},
      {"operations/0/dtypes", "[\"u16\"]", "/operations/0/dtypes/0 is \"u16\", must be one of"},
      {"operations/0/dtypes", "[\"u64\", \"u64\"]", "/operations/0/dtypes has equal items at 0 and 1"},
      {"operations/0/signature", "0", "/operations/0/signature is 0, must be at least 1"},
      {"operations/0/signature", "70000", "/operations/0/signature is 70000, must be at most 65535"},
      {"operations/0/type", "\"add\"", "/operations/0/type is \"add\", must match"},
      {"operations/0/implementation", "\"a b\"", "/operations/0/implementation is \"a b\", must match"},
      {"operations/1/log_n", "[3]", "/operations/1/log_n is 1 items, must be at least 2 items"},
      {"operations/1/log_n", "[9, 3]", "/operations/1/log_n starts at 9 and ends at 3"},
      {"operations/1/in_place", "1", "/operations/1/in_place is integer, must be boolean"},
      {"operations/1/exactness", "\"maybe\"", "/operations/1/exactness is \"maybe\", must be one of"},
      {"operations/1/resources/0/kind", "\"key\"", "/operations/1/resources/0/kind is \"key\", must match"},
      {"operations/1", "{\"type\": \"rns.add\", \"signature\": 3, \"implementation\": \"c\", \"dtypes\": [\"u64\"]}",
       "/operations/1 declares rns.add/c again, after /operations/0"},
      {"secrets", "{\"handles_secrets\": true}", "/secrets lacks the key \"constant_time\""},
      {"priority", "5000", "/priority is 5000, must be at most 1000"},
      {"conflicts", "[\"x\"]", "/conflicts/0 is \"x\", must match"},
      {"bundled", "[{\"file\": \"a\"}]", "/bundled/0 lacks the key \"sha256\""},
      {"runtime", "{\"threads\": \"many\"}", "/runtime/threads is \"many\", must be one of"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    char *text = changed(rows[i].path, rows[i].value);
    hx_gates_t gates;
    hx_gates_init(&gates);
    hx_manifest_t *manifest = hx_manifest_create(hx_str(text), &gates);
    const hx_gate_result_t *failure = hx_gates_first(&gates);
    assert_non_null(manifest);
    assert_false(manifest->valid);
    assert_non_null(failure);
    if (strncmp(failure->text, rows[i].piece, strlen(rows[i].piece)) != 0)
      fail_msg("row %zu: %s, not %s", i, failure->text, rows[i].piece);
    assert_int_equal(failure->code, HX_CODE_MANIFEST_SCHEMA);
    assert_int_equal(failure->gate, HX_GATE_SCHEMA);
    assert_true(failure->expected[0] != '\0' && failure->found[0] != '\0');
    hx_manifest_release(manifest);
    hx_gates_deinit(&gates);
    free(text);
  }
}

static void schema_accepts_own_keys_everywhere(void **state) {
  (void)state;
  static const char *const paths[] = {"x-anything", "digest/x-a", "operations/0/x-b", "target/x-c", "abi/x-d"};
  for (size_t i = 0; i < HX_COUNT_OF(paths); ++i) {
    char *text = changed(paths[i], "{\"free\": [1, null]}");
    hx_gates_t gates;
    hx_gates_init(&gates);
    hx_manifest_t *manifest = hx_manifest_create(hx_str(text), &gates);
    if (hx_gates_first(&gates) != NULL) fail_msg("%s", hx_gates_first(&gates)->text);
    assert_true(manifest->valid);
    hx_manifest_release(manifest);
    hx_gates_deinit(&gates);
    free(text);
  }
}

static void manifest_fills_the_model_and_defaults(void **state) {
  (void)state;
  hx_gates_t gates;
  hx_gates_init(&gates);
  hx_manifest_t *manifest = hx_manifest_create(hx_str(complete_text), &gates);
  assert_true(manifest->valid);
  assert_null(hx_gates_first(&gates));
  assert_string_equal(manifest->id, "org.heliox.x");
  assert_string_equal(manifest->vendor, "");
  assert_int_equal(manifest->size, 9);
  assert_int_equal(manifest->operation_count, 2);
  const hx_manifest_operation_t *plain = &manifest->operations[0], *full = &manifest->operations[1];
  assert_int_equal(plain->dtypes, 1u << HX_U64);
  assert_int_equal(plain->domains, 0);
  assert_int_equal(plain->log_n_min, 1);
  assert_int_equal(plain->log_n_max, 30);
  assert_int_equal(plain->prime_bits_max, 64);
  assert_true(plain->bit_exact);
  assert_int_equal(plain->resource_count, 0);
  assert_int_equal(full->dtypes, 1u << HX_U64 | 1u << HX_U32);
  assert_int_equal(full->domains, 1u << HX_NTT);
  assert_int_equal(full->log_n_min, 3);
  assert_int_equal(full->prime_bits_max, 60);
  assert_true(full->in_place && full->explicit_only && !full->bit_exact);
  assert_int_equal(full->resource_count, 2);
  assert_string_equal(full->resources[0].operand, "key");
  assert_true(full->resources[0].packed_only);
  assert_null(full->resources[1].operand);
  assert_false(manifest->handles_secrets);
  hx_manifest_release(manifest);
  hx_gates_deinit(&gates);
}

static void digest_of_operations_does_not_depend_on_order(void **state) {
  (void)state;
  const hx_manifest_operation_t rows[2] = {{.type = "rns.mul", .signature = 2, .implementation = "b"},
                                           {.type = "rns.add", .signature = 1, .implementation = "a"}};
  const hx_manifest_operation_t swapped[2] = {rows[1], rows[0]};
  static const char text[] = "rns.add/1/a\nrns.mul/2/b\n";
  char first[65], second[65], expected[65];
  unsigned char hash[32];
  crypto_hash_sha256(hash, (const unsigned char *)text, sizeof text - 1);
  sodium_bin2hex(expected, sizeof expected, hash, sizeof hash);
  assert_int_equal(hx_operations_digest(rows, 2, first), HX_STATUS_OK);
  assert_int_equal(hx_operations_digest(swapped, 2, second), HX_STATUS_OK);
  assert_string_equal(first, expected);
  assert_string_equal(second, expected);
}

// A keyword that nobody enforces must not slip into the published file.
static void schema_checker_refuses_unknown_keywords(void **state) {
  (void)state;
  json_t *schema = json_loads("{\"type\": \"object\", \"minProperties\": 1}", 0, NULL), *value = json_object();
  hx_schema_error_t error;
  assert_int_equal(hx_schema_check(schema, value, &error), HX_STATUS_INTERNAL);
  assert_non_null(strstr(error.text, "minProperties"));
  hx_text_deinit(&error.pointer);
  json_decref(schema);
  json_decref(value);
}

static void check_keywords(const json_t *schema, const char *where) {
  const char *key;
  json_t *child;
  hx_schema_error_t error;
  json_t *probe = json_null();
  // Any value meets the keyword check first; an unknown keyword is an internal fault. References are followed from the
  // top alone.
  if (hx_schema_check(schema, probe, &error) == HX_STATUS_INTERNAL && json_object_get(schema, "$ref") == NULL)
    fail_msg("%s: %s", where, error.text);
  hx_text_deinit(&error.pointer);
  static const char *const maps[] = {"properties", "patternProperties", "$defs"};
  for (size_t i = 0; i < HX_COUNT_OF(maps); ++i) {
    json_object_foreach(json_object_get(schema, maps[i]), key, child) check_keywords(child, key);
  }
  if (json_object_get(schema, "items") != NULL) check_keywords(json_object_get(schema, "items"), where);
}

static void schema_uses_only_what_is_enforced(void **state) {
  (void)state;
  size_t size;
  char *published = read_bytes(HELIOX_SOURCE_DIR "/manifests/schema/plugin-manifest.schema.json", &size);
  json_t *from_file = json_loadb(published, size, 0, NULL), *embedded = hx_manifest_schema();
  assert_true(json_equal(from_file, embedded));
  check_keywords(embedded, "top");
  json_decref(from_file);
  json_decref(embedded);
  hx_free(published);
}

static void completion_fills_what_the_library_says(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  json_t *root = read_json(place, "good");
  struct stat facts;
  assert_int_equal(stat(in_place(place, "good.json"), &facts), 0);
  assert_int_equal(facts.st_mode & 07777, 0644);
  assert_string_equal(json_string_value(json_object_get(root, "library")), "good.so");
  assert_string_equal(json_string_value(json_object_get(json_object_get(root, "target"), "os")), "linux");
  assert_string_equal(json_string_value(json_object_get(json_object_get(root, "abi"), "max")), HX_ABI_TEXT);
  // Doing it again, from its own result, gives the same bytes.
  size_t first_size, second_size;
  char *first = read_bytes(in_place(place, "good.json"), &first_size);
  assert_int_equal(hx_manifest_complete(in_place(place, "good.json"), in_place(place, "good.so"),
                                        in_place(place, "good.json"), NULL),
                   HX_STATUS_OK);
  char *second = read_bytes(in_place(place, "good.json"), &second_size);
  assert_int_equal(first_size, second_size);
  assert_memory_equal(first, second, first_size);
  hx_free(first);
  hx_free(second);
  json_decref(root);
}

static void expect_no_completion(place_t *place, const char *template, const char *library, hx_code_t code,
                                 const char *piece) {
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_manifest_complete(template, library, in_place(place, "out.json"), report);
  assert_int_equal(status, hx_code_info(code)->status);
  assert_int_equal(hx_report_get(report, 0)->code, code);
  if (strstr(hx_report_get(report, 0)->text, piece) == NULL) fail_msg("%s", hx_report_get(report, 0)->text);
  assert_int_not_equal(access(in_place(place, "out.json"), F_OK), 0);
  hx_report_release(report);
}

static void completion_refuses_what_it_cannot_describe(void **state) {
  place_t *place = *state;
  expect_no_completion(place, TEMPLATES "fixture.json", "/nonexistent.so", HX_CODE_IO,
                       "/nonexistent.so cannot be read");
  expect_no_completion(place, "/nonexistent.json", FIXTURES "good.so", HX_CODE_IO, "/nonexistent.json");
  expect_no_completion(place, TEMPLATES "fixture.json", TEMPLATES "plugin.c", HX_CODE_ELF_FORMAT, "has no ELF magic");
  expect_no_completion(place, TEMPLATES "fixture.json", FIXTURES "no_note.so", HX_CODE_NOTE, "is missing");
  expect_no_completion(place, TEMPLATES "second.json", FIXTURES "good.so", HX_CODE_NOTE,
                       "id is \"org.heliox.second\" in the manifest");
  expect_no_completion(place, TEMPLATES "plugin.c", FIXTURES "good.so", HX_CODE_MANIFEST_PARSE,
                       "object at the top level");
  write_bytes(in_place(place, "t.json"), "{\"id\": 3}", 9, 0644);
  expect_no_completion(place, in_place(place, "t.json"), FIXTURES "good.so", HX_CODE_MANIFEST_SCHEMA, "lacks the key");
}

int main(void) {
  if (sodium_init() < 0) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(row_09_schema_refuses_with_the_pointer),
      cmocka_unit_test(schema_accepts_own_keys_everywhere),
      cmocka_unit_test(manifest_fills_the_model_and_defaults),
      cmocka_unit_test(digest_of_operations_does_not_depend_on_order),
      cmocka_unit_test(schema_checker_refuses_unknown_keywords),
      cmocka_unit_test(schema_uses_only_what_is_enforced),
      cmocka_unit_test_setup_teardown(completion_fills_what_the_library_says, make_place, remove_place),
      cmocka_unit_test_setup_teardown(completion_refuses_what_it_cannot_describe, make_place, remove_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
