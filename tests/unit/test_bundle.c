// SPDX-License-Identifier: Apache-2.0
// Bundles: what is written comes back, memory that is shared stays shared, hostile bytes are refused.
#include <jansson.h>
#include <sodium.h>
#include <unistd.h>

#include "core/compile/bundle.h"
#include "tests/unit/link_fixture.h"

#define PROGRAM                                                                                                      \
  MODULE("%x: " CT0, CT0, CT,                                                                                        \
         "%a = \"material.ref\"() {symbol = @a} : () -> " PT0 "\n%b = \"material.ref\"() {symbol = @b} : () -> " PT0 \
         "\n%k = \"material.ref\"() {symbol = @relin} : () -> !ckks.key<kind = relin>\n"                             \
         "%p = \"ckks.mul_plain\"(%x, %a) : (" CT0 ", " PT0 ") -> " CT "\n%q = \"ckks.mul_plain\"(%x, %b) : (" CT0   \
         ", " PT0 ") -> " CT "\n%s = \"ckks.add\"(%p, %q) : (" CT ", " CT ") -> " CT                                 \
         "\n%m = \"ckks.square\"(%s) : (" CT ") -> " CT "\n%r = \"ckks.relinearize\"(%m, %k) : (" CT                 \
         ", !ckks.key<kind = relin>) -> " CT "\n\"func.return\"(%r) : (" CT ") -> ()")

typedef struct scene {
  bench_t bench;
  hx_compilation_t *compilation;
  hx_value_t *batch, *a, *b;
  char path[64];
} scene_t;

// Two items of one batch: views of one memory.
static int setup(void **state) {
  scene_t *scene = calloc(1, sizeof *scene);
  bench_open(&scene->bench, FAKE_ALL);
  double values[2 * SLOTS];
  fill_values(values, 2 * SLOTS, 3);
  must(hx_encode_batch(scene->bench.params, values, 2, SLOTS, false, NULL, &scene->batch, scene->bench.report),
       scene->bench.report);
  must(hx_value_select(scene->batch, 0, 0, &scene->a, scene->bench.report), scene->bench.report);
  must(hx_value_select(scene->batch, 0, 1, &scene->b, scene->bench.report), scene->bench.report);
  scene->compilation = link_compile(&scene->bench, PROGRAM);
  must(hx_compilation_bind_material(scene->compilation, "a", scene->a, scene->bench.report), scene->bench.report);
  must(hx_compilation_bind_material(scene->compilation, "b", scene->b, scene->bench.report), scene->bench.report);
  snprintf(scene->path, sizeof scene->path, "/tmp/heliox-bundle-%d", (int)getpid());
  *state = scene;
  return 0;
}

static int teardown(void **state) {
  scene_t *scene = *state;
  hx_compilation_release(scene->compilation);
  hx_value_release(scene->batch);
  hx_value_release(scene->a);
  hx_value_release(scene->b);
  bench_close(&scene->bench);
  unlink(scene->path);
  free(scene);
  return 0;
}

static void save(const scene_t *scene, const hx_bundle_options_t *options) {
  must(hx_bundle_save(scene->compilation, options, scene->path, scene->bench.report), scene->bench.report);
}

static hx_compilation_t *load(const scene_t *scene) {
  hx_compilation_t *compilation = NULL;
  must(hx_bundle_load(scene->path, scene->bench.params, &compilation, scene->bench.report), scene->bench.report);
  return compilation;
}

static hx_value_t *run(const scene_t *scene, hx_compilation_t *compilation, const hx_value_t *x) {
  must(hx_compilation_bind_keys(compilation, scene->bench.keys, scene->bench.report), scene->bench.report);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, scene->bench.backend, NULL, &executable, scene->bench.report), scene->bench.report);
  const hx_value_t *inputs[] = {x};
  hx_value_t *outputs[] = {NULL};
  must(hx_run(executable, inputs, outputs, scene->bench.report), scene->bench.report);
  hx_executable_release(executable);
  return outputs[0];
}

static void bundle_gives_the_same_computation(void **state) {
  scene_t *scene = *state;
  const hx_bundle_options_t options = {.pipeline = "dve,cse"};
  save(scene, &options);
  hx_compilation_t *loaded = load(scene);
  char *written = NULL, *read = NULL;
  must(hx_program_print(hx_compilation_program(scene->compilation), 0, &written, scene->bench.report),
       scene->bench.report);
  must(hx_program_print(hx_compilation_program(loaded), 0, &read, scene->bench.report), scene->bench.report);
  assert_string_equal(written, read);
  hx_text_free(written);
  hx_text_free(read);
  hx_value_t *x = encrypt_seed(&scene->bench, 1);
  hx_value_t *expected = run(scene, scene->compilation, x), *found = run(scene, loaded, x);
  assert_true(hx_value_equal(expected, found));
  hx_value_release(expected);
  hx_value_release(found);
  hx_value_release(x);
  hx_compilation_release(loaded);
}

static void header_is_read_alone(void **state) {
  scene_t *scene = *state;
  const hx_bundle_options_t options = {.pipeline = "dve,cse"};
  save(scene, &options);
  hx_bundle_t *bundle = NULL;
  must(hx_bundle_inspect(scene->path, &bundle, scene->bench.report), scene->bench.report);
  hx_bundle_info_t info;
  hx_bundle_info(bundle, &info);
  assert_string_equal(info.pipeline, "dve,cse");
  assert_string_equal(info.params_digest, hx_params_digest_hex(scene->bench.params));
  assert_true(info.insecure);
  assert_int_equal(info.material_count, 2);
  assert_non_null(strstr(info.materials[0].type, "!ckks.plaintext<"));
  json_t *needs = json_loads(info.requires_text, 0, NULL);
  assert_non_null(needs);
  assert_true(json_is_true(json_object_get(json_object_get(needs, "keys"), "relin")));
  assert_int_equal(json_array_size(json_object_get(needs, "materials")), 0);
  assert_int_equal(json_integer_value(json_object_get(json_object_get(needs, "operations"), "ckks.mul_plain")), 1);
  assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(needs, "inputs"), 0), "role")),
                      "ciphertext");
  json_decref(needs);
  hx_bundle_release(bundle);
}

static void values_of_one_memory_stay_so(void **state) {
  scene_t *scene = *state;
  // a, and a again under another name: one is stored.
  must(hx_compilation_bind_material(scene->compilation, "b", scene->a, scene->bench.report), scene->bench.report);
  save(scene, NULL);
  hx_bundle_t *bundle = NULL;
  hx_bundle_info_t info;
  must(hx_bundle_inspect(scene->path, &bundle, scene->bench.report), scene->bench.report);
  hx_bundle_info(bundle, &info);
  assert_int_equal(info.material_count, 2);
  assert_string_equal(info.materials[1].of, "a");
  assert_int_equal(info.materials[1].bytes, 0);
  hx_bundle_release(bundle);
  hx_compilation_t *loaded = load(scene);
  assert_int_equal(loaded->binding_count, 2);
  assert_ptr_equal(loaded->bindings[0].value->tensor->storage, loaded->bindings[1].value->tensor->storage);
  assert_true(hx_value_equal(loaded->bindings[1].value, scene->a));
  hx_compilation_release(loaded);
}

static void parts_may_be_left_out(void **state) {
  scene_t *scene = *state;
  static const char *const chosen[] = {"b"}, *const unknown[] = {"c"};
  const hx_bundle_options_t one = {.materials = chosen, .material_count = 1};
  save(scene, &one);
  hx_bundle_t *bundle = NULL;
  hx_bundle_info_t info;
  must(hx_bundle_inspect(scene->path, &bundle, scene->bench.report), scene->bench.report);
  hx_bundle_info(bundle, &info);
  assert_int_equal(info.material_count, 1);
  assert_non_null(strstr(info.requires_text, "\"materials\":[{\"symbol\":\"a\""));
  hx_bundle_release(bundle);
  hx_compilation_t *loaded = load(scene);
  hx_executable_t *executable = NULL;
  must(hx_compilation_bind_keys(loaded, scene->bench.keys, scene->bench.report), scene->bench.report);
  assert_int_not_equal(hx_link(loaded, scene->bench.backend, NULL, &executable, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_MATERIAL, 0, "material @a is not bound");
  hx_report_clear(scene->bench.report);
  must(hx_compilation_bind_material(loaded, "a", scene->a, scene->bench.report), scene->bench.report);
  must(hx_link(loaded, scene->bench.backend, NULL, &executable, scene->bench.report), scene->bench.report);
  hx_executable_release(executable);
  hx_compilation_release(loaded);
  const hx_bundle_options_t none = {.materials = chosen, .material_count = 0};
  save(scene, &none);
  loaded = load(scene);
  assert_int_equal(loaded->binding_count, 0);
  hx_compilation_release(loaded);
  const hx_bundle_options_t missing = {.materials = unknown, .material_count = 1};
  assert_int_not_equal(hx_bundle_save(scene->compilation, &missing, scene->path, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_MATERIAL, 0, "@c is not bound");
  hx_report_clear(scene->bench.report);
}

static void secrets_and_other_parameters_are_refused(void **state) {
  scene_t *scene = *state;
  // Binding refuses secret values already; a bundle looks again.
  scene->compilation->bindings[0].value->secret = true;
  assert_int_not_equal(hx_bundle_save(scene->compilation, NULL, scene->path, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_SECRET, 0, "material @a is secret");
  assert_int_not_equal(access(scene->path, F_OK), 0);
  scene->compilation->bindings[0].value->secret = false;
  save(scene, NULL);
  hx_params_t *other = NULL;
  hx_compilation_t *loaded = NULL;
  must(hx_params_preset("n14-d7-s40", &other, scene->bench.report), scene->bench.report);
  assert_int_not_equal(hx_bundle_load(scene->path, other, &loaded, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_PARAMS_DIGEST, 0, "another parameter set");
  assert_int_not_equal(hx_bundle_load(scene->path, NULL, &loaded, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_PARAMS, 0, "names no parameters");
  assert_null(loaded);
  hx_params_release(other);
  hx_report_clear(scene->bench.report);
}

// ------------------------------------------------------------------ hostile bytes

static unsigned char *read_bytes(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *out_size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*out_size);
  assert_int_equal(fread(bytes, 1, *out_size, file), *out_size);
  fclose(file);
  return bytes;
}

// The digest made to fit again.
static void seal(unsigned char *bytes, size_t size) {
  char *place = NULL;
  for (size_t i = 8; place == NULL && i + 80 < size; ++i) {
    if (memcmp(bytes + i, "\"sha256\":\"", 10) == 0) place = (char *)bytes + i + 10;
  }
  assert_non_null(place);
  memset(place, '0', 64);
  unsigned char digest[32];
  char hex[65];
  crypto_hash_sha256(digest, bytes, size);
  sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
  memcpy(place, hex, 64);
}

static hx_status_t read_from(const scene_t *scene, const unsigned char *bytes, size_t size, hx_report_t *report) {
  hx_artifact_t artifact;
  hx_compilation_t *compilation = NULL;
  hx_status_t status = hx_artifact_open_memory(bytes, size, "bytes", &artifact, report);
  if (status != HX_STATUS_OK) return status;
  status = hx_bundle_read(&artifact, scene->bench.params, &compilation, report);
  assert_true((status == HX_STATUS_OK) == (compilation != NULL));
  hx_compilation_release(compilation);
  hx_artifact_close(&artifact);
  return status;
}

static void damaged_bundles_are_refused(void **state) {
  scene_t *scene = *state;
  must(hx_compilation_bind_material(scene->compilation, "b", scene->a, scene->bench.report), scene->bench.report);
  save(scene, NULL);
  size_t size;
  unsigned char *bytes = read_bytes(scene->path, &size), *copy = malloc(size);
  must(read_from(scene, bytes, size, scene->bench.report), scene->bench.report);
  // Same length, other sense; the digest fits again.
  static const struct {
    const char *from, *to;
  } edits[] = {{"\\\"offset\\\":0", "\\\"offset\\\":8"},
               {"\\\"of\\\":\\\"a\\\"", "\\\"of\\\":\\\"c\\\""},
               {"\"kind\":\"bundle\"", "\"kind\":\"bundlf\""},
               {"\\\"shape\\\":[1,5", "\\\"shape\\\":[1,6"},
               {"\"b.count\":\"512\"", "\"b.count\":\"999\""},
               {"builtin.module", "builtin.modulf"},
               {"\"views\":", "\"vievs\":"},
               {"\"requires\":\"{", "\"requires\":\"["}};
  for (size_t e = 0; e < HX_COUNT_OF(edits); ++e) {
    memcpy(copy, bytes, size);
    bool found = false;
    const size_t length = strlen(edits[e].from);
    for (size_t i = 0; i + length < size && !found; ++i) {
      if (memcmp(copy + i, edits[e].from, length) != 0) continue;
      memcpy(copy + i, edits[e].to, length);
      found = true;
    }
    if (!found) fail_msg("no %s in the file", edits[e].from);
    seal(copy, size);
    hx_report_t *report = hx_report_create();
    hx_status_t status = read_from(scene, copy, size, report);
    // What only the header says is looked at where it is shown.
    if (status == HX_STATUS_OK && strstr(edits[e].from, "requires") != NULL) {
      FILE *file = fopen(scene->path, "wb");
      assert_int_equal(fwrite(copy, 1, size, file), size);
      fclose(file);
      hx_bundle_t *bundle = NULL;
      status = hx_bundle_inspect(scene->path, &bundle, report);
    }
    if (status == HX_STATUS_OK) fail_msg("%s was accepted", edits[e].to);
    assert_true(hx_report_count(report) > 0);
    hx_report_release(report);
  }
  // Cut anywhere, it is refused.
  for (size_t cut = 0; cut < size; cut += 1 + size / 97)
    assert_int_not_equal(read_from(scene, bytes, cut, NULL), HX_STATUS_OK);
  bytes[size - 1] ^= 1;
  assert_int_not_equal(read_from(scene, bytes, size, NULL), HX_STATUS_OK);
  free(bytes);
  free(copy);
}

static void loading_fails_cleanly_for_want_of_memory(void **state) {
  scene_t *scene = *state;
  save(scene, NULL);
  bool failed = false, done = false;
  for (uint64_t n = 1; !done && n < 5000; n += 1 + n / 16) {
    hx_compilation_t *loaded = NULL;
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_bundle_load(scene->path, scene->bench.params, &loaded, NULL);
    hx_alloc_fail_at(0);
    failed = failed || status != HX_STATUS_OK;
    done = status == HX_STATUS_OK;
    assert_true(done == (loaded != NULL));
    hx_compilation_release(loaded);
  }
  assert_true(failed && done);
}

int main(void) {
#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)
  const struct CMUnitTest tests[] = {CASE(bundle_gives_the_same_computation),
                                     CASE(header_is_read_alone),
                                     CASE(values_of_one_memory_stay_so),
                                     CASE(parts_may_be_left_out),
                                     CASE(secrets_and_other_parameters_are_refused),
                                     CASE(damaged_bundles_are_refused),
                                     CASE(loading_fails_cleanly_for_want_of_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
