// SPDX-License-Identifier: Apache-2.0
// The built plugin as a host opens it: entry point, table, manifest, device, memory and queue.
#include <dlfcn.h>
#include <jansson.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "heliox/plugin_layout.h"
#include "kernelcheck.h"
#include "prepare.h"
#include "run.h"

typedef int32_t query_fn(const hx_host *, hx_plugin *);

static query_fn *open_plugin(void **out_library) {
  *out_library = dlopen(HELIOX_BUILD_DIR "/lib/heliox/plugins/heliox_cpu.so", RTLD_NOW | RTLD_LOCAL);
  if (*out_library == NULL) {
    fail_msg("%s", dlerror());
  }
  query_fn *query = NULL;
  void *symbol = dlsym(*out_library, "heliox_plugin_query");
  assert_non_null(symbol);
  memcpy(&query, &symbol, sizeof query);
  return query;
}

static void query_fills_the_table_that_the_manifest_declares(void **state) {
  (void)state;
  void *library = NULL;
  query_fn *query = open_plugin(&library);
  hx_plugin plugin = {.struct_size = sizeof plugin};
  assert_int_equal(query(kc_host(), &plugin), HX_OK);
  assert_int_equal(plugin.struct_size, HX_END_OF(hx_plugin, shutdown));
  assert_int_equal(plugin.abi_major, HX_ABI_MAJOR);
  static const uint8_t hash[] = HX_LAYOUT_HASH;
  assert_memory_equal(plugin.layout_hash, hash, sizeof hash);
  assert_non_null(plugin.device);
  assert_non_null(plugin.memory);
  assert_non_null(plugin.queue);
  assert_null(plugin.materializer);
  json_t *manifest = json_load_file(HELIOX_SOURCE_DIR "/plugins/cpu/cpu.json", 0, NULL);
  assert_non_null(manifest);
  assert_string_equal(plugin.id, json_string_value(json_object_get(manifest, "id")));
  assert_string_equal(plugin.version, json_string_value(json_object_get(manifest, "version")));
  assert_int_equal(plugin.impl_count, json_array_size(json_object_get(manifest, "operations")));
  json_decref(manifest);
  plugin.shutdown();
  dlclose(library);
}

static void query_refuses_tables_and_hosts_that_do_not_fit(void **state) {
  (void)state;
  void *library = NULL;
  query_fn *query = open_plugin(&library);
  hx_plugin plugin = {.struct_size = HX_END_OF(hx_plugin, impls) - 1};
  hx_host host = *kc_host();
  assert_int_equal(query(&host, &plugin), HX_ARGS_SIZE);
  assert_int_equal(query(NULL, &plugin), HX_ARGS_SIZE);
  plugin.struct_size = sizeof plugin;
  host.abi_major = HX_ABI_MAJOR + 1;
  assert_int_equal(query(&host, &plugin), HX_UNSUPPORTED);
  host = *kc_host();
  host.minor_min = host.minor_max = HX_ABI_MINOR + 1;
  assert_int_equal(query(&host, &plugin), HX_UNSUPPORTED);
  host = *kc_host();
  host.struct_size = HX_END_OF(hx_host, self);  // a host without services
  plugin.struct_size = HX_END_OF(hx_plugin, impls);
  plugin.device = NULL;
  assert_int_equal(query(&host, &plugin), HX_OK);
  assert_int_equal(plugin.struct_size, HX_END_OF(hx_plugin, impls));
  assert_null(plugin.device);
  struct {
    hx_plugin plugin;
    uint64_t beyond;
  } longer = {{.struct_size = sizeof longer}, 7};
  assert_int_equal(query(&host, &longer.plugin), HX_OK);
  assert_int_equal(longer.plugin.struct_size, HX_END_OF(hx_plugin, shutdown));
  assert_int_equal(longer.beyond, 7);
  dlclose(library);
}

// One row of the manifest as the table has it.
static json_t *row_json(uint32_t i) {
  const uint32_t domains = hx_cpu_plugin.rows[i].domains;
  json_t *names = json_array();
  if ((domains >> HX_COEFFICIENT & 1) != 0) {
    json_array_append_new(names, json_string("coefficient"));
  }
  if ((domains >> HX_NTT & 1) != 0) {
    json_array_append_new(names, json_string("ntt"));
  }
  json_t *dtypes = json_pack("[s,s]", "u64", "u32");
  if (hx_cpu_plugin.rows[i].others != 0) {
    json_array_append_new(dtypes, json_string(hx_cpu_plugin.rows[i].others == HX_I64 ? "i64" : "u8"));
  }
  return json_pack("{s:s, s:i, s:s, s:o, s:[i,i], s:[i,i], s:b, s:o, s:s}", "type", hx_cpu_impls[i]->op, "signature",
                   (int)hx_cpu_impls[i]->signature, "implementation", hx_cpu_impls[i]->name, "dtypes", dtypes, "log_n",
                   (int)HXS_LOG_N_MIN, (int)HXS_LOG_N_MAX, "prime_bits", 5, 61, "in_place",
                   (int)hx_cpu_plugin.rows[i].in_place, "domains", names, "exactness", "bit_exact");
}

static void manifest_declares_exactly_the_registered_rows(void **state) {
  (void)state;
  json_t *manifest = json_load_file(HELIOX_SOURCE_DIR "/plugins/cpu/cpu.json", JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(manifest);
  const json_t *rows = json_object_get(manifest, "operations");
  assert_int_equal(json_array_size(rows), hx_cpu_plugin.row_count);
  for (uint32_t i = 0; i < hx_cpu_plugin.row_count; i++) {
    json_t *expected = row_json(i);
    assert_non_null(expected);
    if (!json_equal(expected, json_array_get(rows, i))) {
      char *text = json_dumps(expected, 0);
      fail_msg("row %u of cpu.json must be %s", i, text);
    }
    json_decref(expected);
  }
  json_decref(manifest);
}

static void device_is_one_and_says_what_it_is(void **state) {
  (void)state;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  hx_device_info info = {.struct_size = sizeof info};
  hx_device *device = NULL;
  assert_int_equal(hx_cpu_device_ops.count(&error), 1);
  assert_int_equal(hx_cpu_device_ops.info(0, &info, &error), HX_OK);
  assert_true(info.name[0] != 0 && info.compute_units > 0 && info.memory_bytes > 0 && info.int64_ok == 1);
  assert_int_equal(info.alignment, 64);
  assert_int_equal(hx_cpu_device_ops.info(1, &info, &error), HX_INVALID);
  assert_int_equal(hx_cpu_device_ops.open(1, &device, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "device 1 does not exist"));
  info.struct_size = 4;
  assert_int_equal(hx_cpu_device_ops.info(0, &info, &error), HX_ARGS_SIZE);
}

static void memory_and_queue_copy_fill_and_refuse(void **state) {
  (void)state;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  hx_device *device = NULL;
  hx_queue *queue = NULL;
  hx_event *event = NULL;
  hx_buffer *a = NULL, *b = NULL, *none = NULL;
  uint64_t words[4] = {1, 2, 3, 4};
  assert_int_equal(hx_cpu_device_ops.open(0, &device, &error), HX_OK);
  assert_int_equal(hx_cpu_queue_ops.create(device, &queue, &error), HX_OK);
  assert_int_equal(hx_cpu_memory_ops.alloc(device, HX_SPACE_PINNED, 100, &a, &error), HX_OK);
  assert_int_equal((uintptr_t)hx_cpu_memory_ops.address(a) % 64, 0);
  assert_int_equal(hx_cpu_memory_ops.alloc(device, 9, 100, &none, &error), HX_INVALID);
  assert_int_equal(hx_cpu_memory_ops.alloc(device, HX_SPACE_HOST, 0, &none, &error), HX_INVALID);
  assert_int_equal(hx_cpu_memory_ops.alloc(device, HX_SPACE_HOST, UINT64_MAX, &none, &error), HX_OUT_OF_MEMORY);
  assert_int_equal(hx_cpu_memory_ops.import_host(device, words, sizeof words, &b, &error), HX_OK);
  assert_ptr_equal(hx_cpu_memory_ops.address(b), words);
  assert_int_equal(hx_cpu_memory_ops.import_host(device, (char *)words + 4, 8, &none, &error), HX_UNSUPPORTED);
  assert_int_equal(hx_cpu_queue_ops.copy(queue, (hx_span){a, 64}, (hx_span){b, 0}, 32, &error), HX_OK);
  assert_memory_equal((char *)hx_cpu_memory_ops.address(a) + 64, words, 32);
  assert_int_equal(hx_cpu_queue_ops.copy(queue, (hx_span){a, 96}, (hx_span){b, 0}, 8, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "8 bytes at offset 96, its buffer has 100"));
  assert_int_equal(hx_cpu_queue_ops.fill(queue, (hx_span){b, 8}, 0xff, 8, &error), HX_OK);
  assert_true(words[0] == 1 && words[1] == UINT64_MAX && words[2] == 3);
  assert_int_equal(hx_cpu_queue_ops.fill(queue, (hx_span){b, 40}, 0, 1, &error), HX_INVALID);
  assert_int_equal(hx_cpu_queue_ops.record(queue, &event, &error), HX_OK);
  assert_int_equal(hx_cpu_queue_ops.wait(queue, event, &error), HX_OK);
  assert_int_equal(hx_cpu_queue_ops.wait(queue, NULL, &error), HX_INVALID);
  hx_cpu_queue_ops.event_destroy(event);
  assert_int_equal(hx_cpu_queue_ops.sync(queue, &error), HX_OK);
  hx_cpu_memory_ops.free(a);
  hx_cpu_memory_ops.free(b);
  hx_cpu_queue_ops.destroy(queue);
  hx_cpu_device_ops.close(device);
}

// A child of a process that has worker threads works on, alone.
static void execute_works_in_a_forked_child(void **state) {
  (void)state;
  kc_t kc;
  static const uint32_t bits[] = {50, 50, 50, 50};
  kc_open(&kc, 12, 64, 4, 0, 1, bits);
  const kc_shape_t shape = {.components = 2, .limbs = 4, .domain = HX_COEFFICIENT, .repr = HX_STANDARD};
  kc_tensor_t *a = kc_tensor(&kc, &shape, KC_RANDOM), *out = kc_tensor(&kc, &shape, KC_RANDOM);
  out->desc.domain = HX_NTT;
  const kc_op_t op = {"ntt.forward", NULL, 0, &a, 1, &out, 1};
  assert_true(kc_check(&kc, &op));
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    hx_prepared *prepared = NULL;
    uint64_t scratch = 0;
    hx_error error;
    alarm(20);
    const bool good = kc_prepare(&kc, &op, &prepared, &scratch, NULL, &error) == HX_OK &&
                      kc_execute(&kc, &op, prepared, scratch, -1, &error) == HX_OK;
    _exit(good ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  kc_close(&kc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(query_fills_the_table_that_the_manifest_declares),
      cmocka_unit_test(query_refuses_tables_and_hosts_that_do_not_fit),
      cmocka_unit_test(manifest_declares_exactly_the_registered_rows),
      cmocka_unit_test(device_is_one_and_says_what_it_is),
      cmocka_unit_test(memory_and_queue_copy_fill_and_refuse),
      cmocka_unit_test(execute_works_in_a_forked_child),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
