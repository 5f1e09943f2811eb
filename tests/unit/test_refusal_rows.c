// SPDX-License-Identifier: Apache-2.0
// Rows of docs/plugin-refusals.md that are about one plugin and its loader.
#include "core/backend/self_test.h"
#include "tests/unit/plugin_fixture.h"

#define CPU HELIOX_BUILD_DIR "/lib/heliox/plugins/cpu.json"

static hx_loaded_plugin_t *load_one(const char *path) {
  hx_plugins_t *plugins = discover_in(path, NULL);
  hx_loaded_plugin_t *loaded = NULL;
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_plugin_load(plugins, 0, &loaded, report);
  if (status != HX_STATUS_OK) print_error("%s\n", hx_report_get(report, 0)->text);
  assert_int_equal(status, HX_STATUS_OK);
  hx_report_release(report);
  hx_plugins_release(plugins);
  return loaded;
}

static const hx_impl *find_impl(const hx_loaded_plugin_t *plugin, const char *op) {
  for (uint32_t i = 0; i < plugin->table.impl_count; ++i) {
    if (strcmp(plugin->table.impls[i]->op, op) == 0) return plugin->table.impls[i];
  }
  fail_msg("no %s", op);
  return NULL;
}

// A call that the older caller cut short is answered, and the next one is served.
static void row_03_short_call_arguments_are_an_answer(void **state) {
  (void)state;
  hx_loaded_plugin_t *plugin = load_one(CPU);
  hx_opened_device_t *device = NULL;
  hx_device_tables_t *tables = NULL;
  hx_self_test_choice_t choice;
  hx_self_test_ring_t ring;
  hx_queue *queue = NULL;
  hx_prepared *prepared = NULL;
  hx_storage_t *memory = NULL;
  int32_t alias = -1;
  assert_int_equal(hx_device_open(plugin, 0, &device, NULL), HX_STATUS_OK);
  assert_true(hx_self_test_choose(hx_loaded_plugin_operation(plugin, "rns.add", "cpu"), 64, &choice));
  hx_self_test_ring(&choice, &ring);
  assert_int_equal(hx_device_tables_acquire(device, &ring.ring, &tables, NULL), HX_STATUS_OK);
  assert_int_equal(hx_device_queue(device, &queue, NULL), HX_STATUS_OK);
  const uint64_t bytes = (uint64_t)8 << choice.log_n;
  assert_int_equal(hx_device_alloc(device, HX_SPACE_DEVICE, 3 * bytes, false, &memory, NULL), HX_STATUS_OK);
  memset(memory->address, 0, 3 * bytes);
  hx_tensor_desc values[3];
  for (int i = 0; i < 3; ++i) {
    values[i] = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                                 .dtype = HX_U64,
                                 .log_n = choice.log_n,
                                 .components = 1,
                                 .limbs = 1,
                                 .domain = HX_NTT,
                                 .basis = HX_BASIS_Q,
                                 .repr = HX_STANDARD,
                                 .component_stride = bytes / 8,
                                 .limb_stride = bytes / 8,
                                 .prime_ids = ring.ids};
  }
  static const uint32_t operands[2] = {0, 1}, results[1] = {2};
  const hx_op op = {.struct_size = HX_END_OF(hx_op, resources),
                    .signature = 1,
                    .operand_count = 2,
                    .result_count = 1,
                    .name = "rns.add",
                    .operands = operands,
                    .results = results};
  hx_region region = {.struct_size = HX_END_OF(hx_region, op_count),
                      .value_count = 3,
                      .op_count = 1,
                      .input_count = 2,
                      .output_count = 1,
                      .ring = &ring.ring,
                      .tables = tables->handle,
                      .values = values,
                      .ops = &op,
                      .inputs = operands,
                      .outputs = results};
  const hx_impl *add = find_impl(plugin, "rns.add");
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  hx_error error = hx_error_make();
  assert_int_equal(add->prepare(device->handle, &region, &plan, &prepared, &error), HX_ARGS_SIZE);
  assert_null(prepared);
  region.struct_size = HX_END_OF(hx_region, variant);
  assert_int_equal(add->prepare(device->handle, &region, &plan, &prepared, &error), HX_OK);
  const hx_span inputs[2] = {{memory->buffer, 0}, {memory->buffer, bytes}}, outputs[1] = {{memory->buffer, 2 * bytes}};
  hx_call call = {.struct_size = HX_END_OF(hx_call, inputs), .queue = queue, .inputs = inputs, .outputs = outputs};
  const int32_t result = add->execute(prepared, &call, &error);
  assert_int_equal(result, HX_ARGS_SIZE);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_plugin_status(plugin, result, &error, "execute", report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_ARGS_SIZE);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "hx_call has"));
  hx_report_release(report);
  call.struct_size = HX_END_OF(hx_call, outputs);
  assert_int_equal(add->execute(prepared, &call, &error), HX_OK);
  assert_int_equal(device->queue.sync(queue, &error), HX_OK);
  add->destroy(prepared);
  hx_storage_release(memory);
  device->queue.destroy(queue);
  hx_device_tables_release(tables);
  hx_device_release(device);
  hx_loaded_plugin_release(plugin);
}

static void set_isa(place_t *place, const char *feature) {
  complete_as(place, "good", "fixture");
  json_t *root = read_json(place, "good");
  json_object_set_new(json_object_get(root, "target"), "isa", json_pack("[s]", feature));
  write_json(place, "good", root);
  json_decref(root);
}

static void row_13_processor_features_that_are_absent_or_unknown(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  set_isa(place, "mmx9");
  assert_refused(place, "good", HX_GATE_HOST_MATCH, HX_CODE_ISA, "\"mmx9\" is not known");
#if defined(__x86_64__)
  // Of two makers: no processor has both.
  __builtin_cpu_init();
  const char *absent = __builtin_cpu_supports("sse4a") ? "avx5124fmaps" : "sse4a";
  set_isa(place, absent);
  assert_refused(place, "good", HX_GATE_HOST_MATCH, HX_CODE_ISA, "which this processor lacks");
#endif
}

static void row_15_file_swapped_after_it_was_hashed_never_runs(void **state) {
  place_t *place = *state;
  install(place, "second", "other");
  copy_library(place, "good", "good");
  size_t size;
  char *bytes = read_bytes(in_place(place, "good.so"), &size);
  bytes[size - 1] ^= 3;  // a copy that no mapping of this process has
  write_bytes(in_place(place, "good.so"), bytes, size, 0755);
  hx_free(bytes);
  complete_as(place, "good", "fixture");
  hx_plugins_t *plugins = discover_in(in_place(place, "good.json"), NULL);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  unsetenv("HELIOX_FIXTURE_CONSTRUCTED");
  assert_int_equal(rename(in_place(place, "other.so"), in_place(place, "good.so")), 0);
  hx_loaded_plugin_t *loaded = NULL;
  assert_int_equal(hx_plugin_load(plugins, 0, &loaded, NULL), HX_STATUS_REFUSED);
  assert_int_equal(hx_plugins_get(plugins, 0)->gate, HX_GATE_DIGEST);
  assert_int_equal(hx_plugins_get(plugins, 0)->code, HX_CODE_DIGEST);
  assert_null(getenv("HELIOX_FIXTURE_CONSTRUCTED"));
  hx_plugins_release(plugins);
}

static void row_21_absent_device_is_unavailable_with_found_and_needed(void **state) {
  place_t *place = *state;
  install(place, "second", "second");
  hx_plugin_option_set("fixture", "no-device");
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  hx_report_t *report = hx_report_create();
  hx_backend_t *backend = NULL;
  assert_int_equal(hx_backend_create(plugins, "second", &backend, report), HX_STATUS_UNAVAILABLE);
  const hx_plugin_record_t *record = hx_plugins_get(plugins, 0);
  assert_int_equal(record->state, HX_PLUGIN_UNAVAILABLE);  // not broken
  assert_int_equal(record->gate, HX_GATE_PROBE);
  assert_int_equal(record->code, HX_CODE_DEVICE);
  assert_non_null(strstr(record->text, "the driver 9.1 is needed, found 8.0"));
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_DEVICE);
  assert_null(backend);
  hx_report_release(report);
  hx_plugins_release(plugins);
  hx_plugin_option_set("fixture", NULL);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, make_place, remove_place)

int main(void) {
  if (sodium_init() < 0) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(row_03_short_call_arguments_are_an_answer),
      CASE(row_13_processor_features_that_are_absent_or_unknown),
      CASE(row_15_file_swapped_after_it_was_hashed_never_runs),
      CASE(row_21_absent_device_is_unavailable_with_found_and_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
