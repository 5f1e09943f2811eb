// SPDX-License-Identifier: Apache-2.0
// What of the cuda plugin needs no device: the driver's table, errors, images and their digests, the manifest, fused
// regions, and the state without a driver.
#include <dlfcn.h>
#include <jansson.h>
#include <unistd.h>

#include "device.h"
#include "heliox/support/chain.h"
#include "heliox/support/sha256.h"
#include "image.h"
#include "kernelcheck.h"
#include "prepare.h"
#include "variant.h"

// ------------------------------------------------------------------ driver

static const char *missing;
static uint32_t asked;

static int32_t any_function(void) { return 0; }

static int32_t lookup(const char *name, void **out, int32_t version, uint64_t flags, uint32_t *status) {
  int32_t (*function)(void) = any_function;
  assert_int_equal(version, HX_CUDA_DRIVER_MIN);
  assert_int_equal(flags, 0);
  *status = 0;
  asked++;
  if (missing != NULL && strcmp(missing, name) == 0) {
    *out = NULL;
    return 0;
  }
  memcpy(out, &function, sizeof *out);
  return 0;
}

static void driver_table_is_filled_from_one_list(void **state) {
  (void)state;
  static const char *const names[] = {
#define SYMBOL(name_, parameters_) #name_,
#include "driver.def"
  };
  const uint32_t count = sizeof names / sizeof names[0];
  hx_cuda_driver_t table;
  hx_error error = kc_error();
  missing = NULL;
  asked = 0;
  assert_int_equal(hx_cuda_driver_fill(lookup, &table, &error), HX_OK);
  assert_int_equal(asked, count);
  assert_true(table.cuInit != NULL && table.cuGraphDestroy != NULL);
  for (uint32_t i = 0; i < count; i++) {
    missing = names[i];
    error = kc_error();
    assert_int_equal(hx_cuda_driver_fill(lookup, &table, &error), HX_UNAVAILABLE);
    assert_non_null(strstr(error.message, names[i]));
    assert_non_null(strstr(error.message, "12.0"));
  }
}

static void results_of_the_driver_have_codes(void **state) {
  (void)state;
  static const struct {
    int32_t result, code;
    bool sticky;
  } rows[] = {{0, HX_OK, false},
              {1, HX_INTERNAL, false},
              {2, HX_OUT_OF_MEMORY, false},
              {100, HX_UNAVAILABLE, false},
              {209, HX_UNAVAILABLE, false},
              {700, HX_DEVICE_LOST, true},
              {702, HX_DEVICE_LOST, true},
              {719, HX_DEVICE_LOST, true},
              {214, HX_DEVICE_LOST, true},
              {803, HX_UNAVAILABLE, false},
              {999, HX_INTERNAL, false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    hx_error error = kc_error();
    assert_int_equal(hx_cuda_code_of(rows[i].result), rows[i].code);
    assert_int_equal(hx_cuda_is_sticky(rows[i].result), rows[i].sticky);
    assert_int_equal(hx_cuda_driver_fail(NULL, "cuSomething", rows[i].result, &error), rows[i].code);
    assert_non_null(strstr(error.message, "cuSomething: unknown CUDA error"));
  }
}

static void devices_without_a_driver_say_why(void **state) {
  (void)state;
  hx_error error = kc_error();
  hx_device_info info = {.struct_size = sizeof info};
  hx_device *device = NULL;
  if (hx_cuda_device_ops.count(&error) > 0) {
    skip();
  }
  assert_true(error.code == HX_UNAVAILABLE && error.message[0] != 0);
  error = kc_error();
  assert_int_equal(hx_cuda_device_ops.info(0, &info, &error), HX_UNAVAILABLE);
  error = kc_error();
  assert_int_equal(hx_cuda_device_ops.open(0, &device, &error), HX_UNAVAILABLE);
  assert_null(device);
  info.struct_size = 4;
  assert_int_equal(hx_cuda_device_ops.info(0, &info, &error), HX_ARGS_SIZE);
}

// ------------------------------------------------------------------ faults and page-locked memory

static int32_t push_result, host_result;
static uint32_t host_allocs, host_frees;

static int32_t fake_push(void *context) {
  (void)context;
  return push_result;
}

static int32_t fake_pop(void **context) {
  *context = NULL;
  return 0;
}

static int32_t fake_name(int32_t result, const char **name) {
  *name = result == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
  return 0;
}

static int32_t fake_host_alloc(void **address, size_t bytes, uint32_t flags) {
  assert_int_equal(flags, 1);
  if (host_result != 0) {
    host_result = host_frees == 0 ? host_result : 0;  // works again once something was freed
    return 2;
  }
  host_allocs++;
  *address = malloc(bytes);
  return *address != NULL ? 0 : 2;
}

static int32_t fake_host_free(void *address) {
  host_frees++;
  free(address);
  return 0;
}

static const hx_cuda_driver_t fake_driver = {.cuCtxPushCurrent = fake_push,
                                             .cuCtxPopCurrent = fake_pop,
                                             .cuGetErrorName = fake_name,
                                             .cuMemHostAlloc = fake_host_alloc,
                                             .cuMemFreeHost = fake_host_free};

// After a fault that the context does not outlive every call on the device says so, without asking the driver.
static void sticky_fault_marks_the_device_lost(void **state) {
  (void)state;
  hx_device device = {.driver = &fake_driver};
  hx_queue queue = {.device = &device};
  hx_buffer *none = NULL;
  hx_error error = kc_error();
  push_result = 0;
  assert_int_equal(hx_cuda_device_fail(&device, "cuMemcpyAsync", 1, &error), HX_INTERNAL);
  assert_int_equal(hx_cuda_enter(&device, &error), HX_OK);
  hx_cuda_leave(&device);
  assert_int_equal(hx_cuda_device_fail(&device, "rns.add", 700, &error), HX_DEVICE_LOST);
  assert_string_equal(error.message,
                      "rns.add: CUDA_ERROR_ILLEGAL_ADDRESS (700); the device is lost until the process ends");
  push_result = 1;
  error = kc_error();
  assert_int_equal(hx_cuda_enter(&device, &error), HX_DEVICE_LOST);
  assert_non_null(strstr(error.message, "an earlier operation: CUDA_ERROR_ILLEGAL_ADDRESS"));
  assert_int_equal(hx_cuda_memory_ops.alloc(&device, HX_SPACE_DEVICE, 64, &none, &error), HX_DEVICE_LOST);
  assert_int_equal(hx_cuda_memory_ops.alloc(&device, HX_SPACE_PINNED, 64, &none, &error), HX_DEVICE_LOST);
  assert_int_equal(hx_cuda_queue_ops.sync(&queue, &error), HX_DEVICE_LOST);
  assert_int_equal(hx_cuda_queue_ops.reset(&queue, &error), HX_DEVICE_LOST);
  assert_null(none);
}

static void page_locked_memory_is_kept_within_bounds(void **state) {
  (void)state;
  hx_cuda_pinned_t pinned;
  int32_t result = 0;
  host_allocs = host_frees = 0;
  host_result = 0;
  hx_cuda_pinned_init(&pinned);
  void *small = hx_cuda_pinned_take(&pinned, &fake_driver, 1, &result), *again = NULL, *large = NULL;
  assert_true(small != NULL && result == 0);
  hx_cuda_pinned_give(&pinned, &fake_driver, small, 1);
  again = hx_cuda_pinned_take(&pinned, &fake_driver, 4096, &result);
  assert_ptr_equal(again, small);  // of the same size
  large = hx_cuda_pinned_take(&pinned, &fake_driver, 4097, &result);
  assert_ptr_not_equal(large, small);
  hx_cuda_pinned_give(&pinned, &fake_driver, large, 4097);
  hx_cuda_pinned_give(&pinned, &fake_driver, again, 4096);
  assert_true(host_allocs == 2 && host_frees == 0 && pinned.kept == 4096 + 8192);
  large = hx_cuda_pinned_take(&pinned, &fake_driver, ((uint64_t)64 << 20) + 1, &result);
  hx_cuda_pinned_give(&pinned, &fake_driver, large, ((uint64_t)64 << 20) + 1);
  assert_int_equal(host_frees, 1);  // too large to be kept
  void *blocks[5];
  for (size_t i = 0; i < 5; i++) {
    blocks[i] = hx_cuda_pinned_take(&pinned, &fake_driver, (uint64_t)64 << 20, &result);
  }
  for (size_t i = 0; i < 5; i++) {
    hx_cuda_pinned_give(&pinned, &fake_driver, blocks[i], (uint64_t)64 << 20);
  }
  assert_true(pinned.kept <= HX_CUDA_PINNED_KEPT && host_frees > 1);
  host_result = 2;
  host_frees = 0;
  void *fresh_block = hx_cuda_pinned_take(&pinned, &fake_driver, (uint64_t)32 << 20, &result);
  assert_true(fresh_block == NULL && result == 2 && host_frees > 0 && pinned.kept == 0);
  fresh_block = hx_cuda_pinned_take(&pinned, &fake_driver, (uint64_t)32 << 20, &result);
  assert_true(fresh_block != NULL && result == 0);
  hx_cuda_pinned_give(&pinned, &fake_driver, fresh_block, (uint64_t)32 << 20);
  hx_cuda_pinned_clear(&pinned, &fake_driver);
  assert_int_equal(pinned.kept, 0);
}

// ------------------------------------------------------------------ images

static void digests_are_those_of_the_standard(void **state) {
  (void)state;
  static const struct {
    const char *text, *digest;
  } rows[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
              {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
              {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
              {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrs"
               "tnopqrstu",
               "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char digest[65];
    hxs_sha256_text(rows[i].text, strlen(rows[i].text), digest);
    assert_string_equal(digest, rows[i].digest);
  }
}

static void image_is_chosen_by_device_and_driver(void **state) {
  (void)state;
  static const hx_cuda_image_t images[] = {{80, false, 13000, "80", ""},   {86, false, 13000, "86", ""},
                                           {89, false, 13000, "89", ""},   {90, false, 13000, "90", ""},
                                           {120, false, 13000, "120", ""}, {80, true, 13000, "ptx", ""}};
  static const struct {
    uint32_t arch;
    int32_t driver;
    const char *file;
  } rows[] = {{80, 12000, "80"},   {86, 12000, "86"},  {87, 12000, "86"},   {89, 12000, "89"},   {90, 12000, "90"},
              {100, 13000, "ptx"}, {100, 12080, NULL}, {103, 13010, "ptx"}, {121, 12000, "120"}, {75, 13000, NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const hx_cuda_image_t *image = hx_cuda_image_choose(images, 6, rows[i].arch, rows[i].driver);
    if (rows[i].file == NULL) {
      assert_null(image);
    } else {
      assert_non_null(image);
      assert_string_equal(image->file, rows[i].file);
    }
  }
}

static void image_is_read_only_with_its_digest(void **state) {
  (void)state;
  char directory[] = "/tmp/heliox-cuda-XXXXXX", path[64], *bytes = NULL;
  hx_error error = kc_error();
  hx_cuda_image_t image = {90, false, 13000, "a.cubin",
                           "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"};
  assert_non_null(mkdtemp(directory));
  assert_int_equal(hx_cuda_image_read(&image, directory, &bytes, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "a.cubin cannot be read"));
  snprintf(path, sizeof path, "%s/a.cubin", directory);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite("abc", 1, 3, file), 3);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(hx_cuda_image_read(&image, directory, &bytes, &error), HX_OK);
  assert_string_equal(bytes, "abc");
  free(bytes);
  bytes = NULL;
  image.sha256[0] = 'c';
  assert_int_equal(hx_cuda_image_read(&image, directory, &bytes, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "has digest ba7816bf8f01cfea..., must have ca7816bf8f01cfea"));
  assert_null(bytes);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(directory), 0);
}

// ------------------------------------------------------------------ variants

static void variant_is_chosen_by_device_and_shape(void **state) {
  (void)state;
  static const struct {
    uint32_t arch, word, log_n;
    const char *name;
  } rows[] = {{90, 64, 16, "tensor"},   {90, 64, 12, "tensor"},  {90, 64, 11, "radix8"},  {80, 64, 15, "real"},
              {100, 64, 17, "real"},    {86, 64, 16, "integer"}, {89, 64, 14, "integer"}, {120, 64, 16, "integer"},
              {103, 64, 16, "integer"}, {90, 64, 3, "integer"},  {86, 32, 16, "word32"},  {120, 32, 3, "word32"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    assert_string_equal(hx_cuda_variant_choose(rows[i].arch, rows[i].word, rows[i].log_n)->name, rows[i].name);
  }
  assert_true(hx_cuda_variant_find("real")->real && hx_cuda_variant_find("real")->radix == 0);
  assert_true(hx_cuda_variant_find("tensor")->real && hx_cuda_variant_find("tensor")->tensor);
  assert_false(hx_cuda_variant_find("real")->tensor);
  assert_true(!hx_cuda_variant_find("radix8")->real && hx_cuda_variant_find("radix8")->radix == 3);
  assert_true(hx_cuda_variant_find("word32")->word && !hx_cuda_variant_find("word32")->real);
  assert_false(hx_cuda_variant_find("integer")->word);
  assert_null(hx_cuda_variant_find("radix32"));
  assert_string_equal(hx_cuda_variant_names(), "integer real tensor word32 radix2 radix4 radix8 radix16");
}

// ------------------------------------------------------------------ manifest

// Row i of the registered list; after those of the operations come the variants of ntt.forward and ntt.inverse.
static json_t *row_json(uint32_t i) {
  const uint32_t own = i < hx_cuda_plugin.row_count ? i : (i - hx_cuda_plugin.row_count) % 2;
  const hxs_impl_row *row = &hx_cuda_plugin.rows[own];
  const bool narrow = strcmp(hx_cuda_impls[i]->name, "cuda-word32") == 0;  // 32-bit words alone
  json_t *names = json_array(), *dtypes = narrow ? json_pack("[s]", "u32") : json_pack("[s,s]", "u64", "u32");
  if ((row->domains >> HX_COEFFICIENT & 1) != 0) {
    json_array_append_new(names, json_string("coefficient"));
  }
  if ((row->domains >> HX_NTT & 1) != 0) {
    json_array_append_new(names, json_string("ntt"));
  }
  if (row->others != 0) {
    json_array_append_new(dtypes, json_string(row->others == HX_I64 ? "i64" : "u8"));
  }
  json_t *out = json_pack("{s:s, s:i, s:s, s:o, s:[i,i], s:[i,i], s:b, s:o, s:s}", "type", hx_cuda_impls[i]->op,
                          "signature", (int)hx_cuda_impls[i]->signature, "implementation", hx_cuda_impls[i]->name,
                          "dtypes", dtypes, "log_n", (int)HXS_LOG_N_MIN, (int)HXS_LOG_N_MAX, "prime_bits", 5,
                          narrow ? 31 : 61, "in_place", (int)row->in_place, "domains", names, "exactness", "bit_exact");
  if (own != i) {
    json_object_set_new(out, "explicit_only", json_true());
  }
  return out;
}

static void manifest_declares_exactly_the_registered_rows(void **state) {
  (void)state;
  json_t *manifest = json_load_file(HELIOX_SOURCE_DIR "/plugins/cuda/cuda.json", JSON_REJECT_DUPLICATES, NULL);
  if (manifest == NULL && getenv("HELIOX_TEST_IMAGES") != NULL) {
    skip();  // run apart from the sources
  }
  assert_non_null(manifest);
  const json_t *rows = json_object_get(manifest, "operations");
  const uint32_t count = hx_cuda_plugin.row_count + 2 * HX_CUDA_VARIANT_COUNT;
  assert_int_equal(json_array_size(rows), count);
  for (uint32_t i = 0; i < count; i++) {
    json_t *expected = row_json(i);
    assert_non_null(expected);
    if (!json_equal(expected, json_array_get(rows, i))) {
      char *text = json_dumps(expected, 0);
      fail_msg("row %u of cuda.json must be %s", i, text);
    }
    json_decref(expected);
  }
  json_decref(manifest);
}

// The built manifest names every image with the digest that is compiled in; where the plugin is not built there is
// none.
static void manifest_names_the_images(void **state) {
  (void)state;
  json_t *manifest = json_load_file(HELIOX_BUILD_DIR "/lib/heliox/plugins/cuda.json", 0, NULL);
  if (manifest == NULL || hx_cuda_image_count == 0) {
    json_decref(manifest);
    skip();
  }
  const json_t *cubins = json_object_get(json_object_get(json_object_get(manifest, "requires"), "cuda"), "cubins");
  assert_int_equal(json_array_size(cubins), hx_cuda_image_count);
  for (uint32_t i = 0; i < hx_cuda_image_count; i++) {
    const json_t *row = json_array_get(cubins, i);
    hx_error error = kc_error();
    char *bytes = NULL;
    assert_string_equal(json_string_value(json_object_get(row, "file")), hx_cuda_images[i].file);
    assert_string_equal(json_string_value(json_object_get(row, "sha256")), hx_cuda_images[i].sha256);
    assert_int_equal(hx_cuda_image_read(&hx_cuda_images[i], HELIOX_BUILD_DIR "/lib/heliox/plugins", &bytes, &error),
                     HX_OK);
    free(bytes);
  }
  json_decref(manifest);
}

// ------------------------------------------------------------------ fused regions

// mul (0, 1) to 3, relinearize (3, 2) to 4, rescale 4 to 5.
typedef struct region {
  uint32_t ids[6], relinearized[2];
  hx_op ops[3];
  hx_region region;
} region_t;

static void make_region(region_t *r) {
  *r = (region_t){.ids = {0, 1, 2, 3, 4, 5}, .relinearized = {3, 2}};
  const hx_op op = {.struct_size = HX_END_OF(hx_op, resources), .signature = 1, .result_count = 1};
  r->ops[0] = r->ops[1] = r->ops[2] = op;
  r->ops[0].name = "ckks.mul", r->ops[0].operand_count = 2, r->ops[0].operands = r->ids, r->ops[0].results = r->ids + 3;
  r->ops[1].name = "ckks.relinearize", r->ops[1].operand_count = 2, r->ops[1].operands = r->relinearized;
  r->ops[1].results = r->ids + 4;
  r->ops[2].name = "ckks.rescale", r->ops[2].operand_count = 1, r->ops[2].operands = r->ids + 4;
  r->ops[2].results = r->ids + 5;
  r->region = (hx_region){.struct_size = HX_END_OF(hx_region, variant),
                          .value_count = 6,
                          .op_count = 3,
                          .input_count = 3,
                          .output_count = 1,
                          .ops = r->ops,
                          .inputs = r->ids,
                          .outputs = r->ids + 5};
}

static void chains_are_recognised_and_others_refused(void **state) {
  (void)state;
  region_t r;
  hxs_chain chain;
  hx_error error = kc_error();
  make_region(&r);
  assert_int_equal(hxs_chain_find(&r.region, "cuda", &chain, &error), HX_OK);
  assert_string_equal(chain.op.name, "fusion.region");
  assert_int_equal(chain.op.operand_count, 3);
  assert_true(chain.operands[0] == 0 && chain.operands[1] == 1 && chain.operands[2] == 2 && chain.results[0] == 5);
  r.ops[0].name = "ckks.square";
  r.ops[0].operand_count = 1;
  assert_int_equal(hxs_chain_find(&r.region, "cuda", &chain, &error), HX_OK);
  assert_true(chain.operands[0] == 0 && chain.operands[1] == 0);
  r.region.ops = r.ops + 1;
  r.region.op_count = 2;
  assert_int_equal(hxs_chain_find(&r.region, "cuda", &chain, &error), HX_OK);
  assert_true(chain.op.operand_count == 2 && chain.operands[0] == 3 && chain.operands[1] == 2);
  const uint32_t four = 4;
  for (uint32_t wrong = 0; wrong < 5; wrong++) {
    make_region(&r);
    r.ops[0].name = wrong == 0 ? "ckks.add" : r.ops[0].name;
    r.relinearized[0] = wrong == 1 ? 1 : r.relinearized[0];
    r.region.outputs = wrong == 2 ? &four : r.region.outputs;
    r.ops[2].resource_count = wrong == 3 ? 1 : 0;
    r.region.op_count = wrong == 4 ? 1 : 3;
    error = kc_error();
    assert_int_equal(hxs_chain_find(&r.region, "cuda", &chain, &error), HX_UNSUPPORTED);
    assert_non_null(strstr(error.message, "no chain that cuda prepares"));
  }
}

// ------------------------------------------------------------------ the library

static void library_answers_without_a_driver(void **state) {
  (void)state;
  typedef int32_t query_fn(const hx_host *, hx_plugin *);
  void *library = dlopen(HELIOX_BUILD_DIR "/lib/heliox/plugins/heliox_cuda.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    skip();  // not built here
  }
  query_fn *query = NULL;
  void *symbol = dlsym(library, "heliox_plugin_query");
  assert_non_null(symbol);
  memcpy(&query, &symbol, sizeof query);
  hx_plugin plugin = {.struct_size = sizeof plugin};
  assert_int_equal(query(kc_host(), &plugin), HX_OK);
  assert_int_equal(plugin.impl_count, hx_cuda_plugin.row_count + 2 * HX_CUDA_VARIANT_COUNT);
  assert_string_equal(plugin.id, "org.heliox.cuda");
  assert_true(plugin.device != NULL && plugin.memory != NULL && plugin.queue != NULL);
  plugin.shutdown();
  dlclose(library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(driver_table_is_filled_from_one_list),
      cmocka_unit_test(results_of_the_driver_have_codes),
      cmocka_unit_test(devices_without_a_driver_say_why),
      cmocka_unit_test(sticky_fault_marks_the_device_lost),
      cmocka_unit_test(page_locked_memory_is_kept_within_bounds),
      cmocka_unit_test(digests_are_those_of_the_standard),
      cmocka_unit_test(image_is_chosen_by_device_and_driver),
      cmocka_unit_test(image_is_read_only_with_its_digest),
      cmocka_unit_test(variant_is_chosen_by_device_and_shape),
      cmocka_unit_test(manifest_declares_exactly_the_registered_rows),
      cmocka_unit_test(manifest_names_the_images),
      cmocka_unit_test(chains_are_recognised_and_others_refused),
      cmocka_unit_test(library_answers_without_a_driver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
