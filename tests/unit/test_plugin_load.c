// SPDX-License-Identifier: Apache-2.0
// Libraries that get as far as being mapped.
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include "core/backend/backend.h"
#include "tests/unit/plugin_fixture.h"

static hx_loaded_plugin_t *load_first(hx_plugins_t *plugins) {
  hx_loaded_plugin_t *loaded = NULL;
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_plugin_load(plugins, 0, &loaded, report);
  if (status != HX_STATUS_OK) print_error("%s\n", hx_report_get(report, 0)->text);
  assert_int_equal(status, HX_STATUS_OK);
  hx_report_release(report);
  return loaded;
}

static hx_plugins_t *install_good(place_t *place) {
  install(place, "good", "good");
  return discover_in(place->directory, NULL);
}

// One rns.add over two limbs through prepare and execute, in memory of the plugin.
static void run_add(const hx_loaded_plugin_t *plugin) {
  enum { LOG_N = 3, N = 1 << LOG_N, LIMBS = 2 };
  static const uint64_t primes[LIMBS] = {1152921504606830593u, 97u}, psi[LIMBS] = {1, 1};
  static const uint32_t groups[1] = {2}, ids[LIMBS] = {0, 1};
  const hx_ring ring = {.struct_size = HX_END_OF(hx_ring, digest),
                        .log_n = LOG_N,
                        .word = 64,
                        .q_count = LIMBS,
                        .digit_run = 1,
                        .group_count = 1,
                        .primes = primes,
                        .psi = psi,
                        .group_sizes = groups};
  hx_tensor_desc values[3];
  for (int i = 0; i < 3; ++i) {
    values[i] = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                                 .dtype = HX_U64,
                                 .log_n = LOG_N,
                                 .components = 1,
                                 .limbs = LIMBS,
                                 .domain = HX_NTT,
                                 .basis = HX_BASIS_Q,
                                 .repr = HX_STANDARD,
                                 .component_stride = N * LIMBS,
                                 .limb_stride = N,
                                 .prime_ids = ids};
  }
  static const uint32_t operands[2] = {0, 1}, results[1] = {2};
  const hx_op op = {.struct_size = HX_END_OF(hx_op, resources),
                    .signature = 1,
                    .operand_count = 2,
                    .result_count = 1,
                    .name = "rns.add",
                    .operands = operands,
                    .results = results};
  const hx_region region = {.struct_size = HX_END_OF(hx_region, variant),
                            .value_count = 3,
                            .op_count = 1,
                            .input_count = 2,
                            .output_count = 1,
                            .ring = &ring,
                            .values = values,
                            .ops = &op,
                            .inputs = operands,
                            .outputs = results};
  const hx_plugin *table = &plugin->table;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  hx_device *device;
  hx_queue *queue;
  hx_buffer *buffer;
  hx_prepared *prepared;
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  assert_int_equal(table->device->open(0, &device, &error), HX_OK);
  assert_int_equal(table->queue->create(device, &queue, &error), HX_OK);
  assert_int_equal(table->memory->alloc(device, HX_SPACE_HOST, 3 * LIMBS * N * 8, &buffer, &error), HX_OK);
  uint64_t *words = table->memory->address(buffer);
  for (uint64_t i = 0; i < LIMBS * N; ++i) {
    const uint64_t q = primes[i / N];
    words[i] = q - 1 - i % N;
    words[LIMBS * N + i] = i % N + i % 2;
  }
  assert_int_equal(table->impls[0]->prepare(device, &region, &plan, &prepared, &error), HX_OK);
  const hx_span inputs[2] = {{buffer, 0}, {buffer, LIMBS * N * 8}}, outputs[1] = {{buffer, 2 * LIMBS * N * 8}};
  const hx_call call = {
      .struct_size = HX_END_OF(hx_call, outputs), .queue = queue, .inputs = inputs, .outputs = outputs};
  assert_int_equal(table->impls[0]->execute(prepared, &call, &error), HX_OK);
  assert_int_equal(table->queue->sync(queue, &error), HX_OK);
  for (uint64_t i = 0; i < LIMBS * N; ++i)
    assert_int_equal(words[2 * LIMBS * N + i], i % 2 == 0 ? primes[i / N] - 1 : 0);
  table->impls[0]->destroy(prepared);
  table->memory->free(buffer);
  table->queue->destroy(queue);
  table->device->close(device);
}

static void load_runs_one_operation(void **state) {
  hx_plugins_t *plugins = install_good(*state);
  hx_loaded_plugin_t *loaded = load_first(plugins);
  hx_plugins_release(plugins);  // the loaded plugin keeps what it needs
  assert_string_equal(loaded->record->id, "org.heliox.fixture");
  assert_int_equal(strlen(loaded->digest), 64);
  assert_true(loaded->handles_secrets);
  const hx_manifest_operation_t *row = hx_loaded_plugin_operation(loaded, "rns.add", "fixture");
  assert_non_null(row);
  assert_int_equal(row->dtypes, 1u << HX_U64);
  assert_int_equal(row->log_n_max, 17);
  assert_null(hx_loaded_plugin_operation(loaded, "rns.add", "other"));
  run_add(loaded);
  hx_loaded_plugin_release(loaded);
}

static void load_runs_the_sdk_build(void **state) {
  (void)state;
  hx_plugins_t *plugins = discover_in(FIXTURES "installed", NULL);
  assert_int_equal(hx_plugins_count(plugins), 1);
  hx_loaded_plugin_t *loaded = load_first(plugins);
  run_add(loaded);
  hx_loaded_plugin_release(loaded);
  hx_plugins_release(plugins);
}

// Built against the headers of an older minor as they were, stating 1.0 to that: the known answers of a device's first
// use included.
static void load_older(place_t *place, const char *fixture, uint32_t minor) {
  char text[8];
  snprintf(text, sizeof text, "1.%u", minor);
  install(place, fixture, "good");
  json_t *root = read_json(place, "good"), *abi = json_object_get(root, "abi");
  assert_string_equal(json_string_value(json_object_get(abi, "max")), text);
  assert_int_equal(json_object_size(json_object_get(abi, "layouts")), minor + 1);
  json_decref(root);
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  hx_loaded_plugin_t *loaded = load_first(plugins);
  assert_int_equal(loaded->table.minor_max, minor);
  assert_null(loaded->table.graph);
  assert_null(loaded->table.codec);
  assert_null(loaded->table.collectives);
  run_add(loaded);
  hx_loaded_plugin_release(loaded);
  hx_backend_t *backend = NULL;
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_backend_create(plugins, "fixture", &backend, report);
  if (status != HX_STATUS_OK) print_error("%s\n", hx_report_get(report, 0)->text);
  assert_int_equal(status, HX_STATUS_OK);
  assert_true(backend->devices[0]->info.peers == 0);  // a field that it does not know
  hx_backend_release(backend);
  hx_report_release(report);
  hx_plugins_release(plugins);
}

static void load_runs_a_plugin_of_1_0(void **state) { load_older(*state, "abi_1_0", 0); }
static void load_runs_a_plugin_of_1_1(void **state) { load_older(*state, "abi_1_1", 1); }

static int count_mapped(struct dl_phdr_info *library, size_t size, void *argument) {
  (void)size;
  if (strncmp(library->dlpi_name, "/proc/self/fd/", 14) == 0) ++*(int *)argument;
  return 0;
}

static int mapped(void) {
  int count = 0;
  dl_iterate_phdr(count_mapped, &count);
  return count;
}

static int open_descriptors(void) {
  int count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}

static void load_shares_one_mapping(void **state) {
  place_t *place = *state;
  hx_plugins_t *plugins = install_good(place), *again = discover_in(place->directory, NULL);
  hx_loaded_plugin_t *first = load_first(plugins), *second = load_first(again);
  const int before = mapped();
  assert_ptr_equal(first, second);  // same bytes, same manifest
  json_t *root = read_json(place, "good");
  json_object_set_new(root, "priority", json_integer(3));
  json_object_set_new(root, "secrets", json_pack("{s:b, s:b}", "handles_secrets", 0, "constant_time", 0));
  write_json(place, "other", root);
  json_decref(root);
  hx_plugins_t *other = discover_in(in_place(place, "other.json"), NULL);
  hx_loaded_plugin_t *third = load_first(other);
  assert_ptr_not_equal(first, third);
  assert_false(third->handles_secrets);
  assert_true(first->handles_secrets);
  assert_ptr_equal(first->host, third->host);
  assert_int_equal(mapped(), before);
  unsetenv("HELIOX_FIXTURE_SHUTDOWNS");
  hx_loaded_plugin_release(first);
  hx_loaded_plugin_release(second);
  assert_null(getenv("HELIOX_FIXTURE_SHUTDOWNS"));  // third still uses the library
  run_add(third);
  hx_loaded_plugin_release(third);
  assert_non_null(getenv("HELIOX_FIXTURE_SHUTDOWNS"));
  assert_int_equal(mapped(), before);  // the mapping stays
  hx_plugins_release(plugins);
  hx_plugins_release(again);
  hx_plugins_release(other);
}

// What no gate sees before: the dynamic linker has no room for its threads' memory.
static void load_tells_why_the_linker_refused(void **state) {
  place_t *place = *state;
  install(place, "static_tls", "good");
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  hx_loaded_plugin_t *loaded = NULL;
  const int before = mapped();
  assert_int_equal(hx_plugin_load(plugins, 0, &loaded, NULL), HX_STATUS_REFUSED);
  assert_null(loaded);
  const hx_plugin_record_t *record = hx_plugins_get(plugins, 0);
  assert_int_equal(record->code, HX_CODE_OPEN);
  assert_int_equal(record->gate, HX_GATE_OPEN);
  assert_non_null(strstr(record->text, "cannot be opened: "));
  assert_non_null(strstr(record->found, "TLS"));
  hx_plugins_release(plugins);
  assert_int_equal(mapped(), before);
}

typedef struct wrong {
  const char *mode;
  hx_gate_t gate;
  hx_code_t code;
  const char *piece;
} wrong_t;

static const wrong_t wrongs[] = {
    {"short", HX_GATE_TABLE, HX_CODE_TABLE_SHORT, "before hx_plugin.reserved"},
    {"short-device", HX_GATE_TABLE, HX_CODE_TABLE_SHORT, "before hx_device_ops.close"},
    {"short-impl", HX_GATE_TABLE, HX_CODE_TABLE_SHORT, "before hx_impl.execute"},
    {"null-id", HX_GATE_TABLE, HX_CODE_NULL_ENTRY, "hx_plugin.id"},
    {"null-open", HX_GATE_TABLE, HX_CODE_NULL_ENTRY, "hx_device_ops.open"},
    {"null-execute", HX_GATE_TABLE, HX_CODE_NULL_ENTRY, "hx_impl.execute"},
    {"null-impls", HX_GATE_TABLE, HX_CODE_NULL_ENTRY, "hx_plugin.impls"},
    {"major-0", HX_GATE_TABLE, HX_CODE_ABI_FIELD, "0.0-0.2"},
    {"major-max", HX_GATE_TABLE, HX_CODE_ABI_FIELD, "4294967295"},
    {"major-2", HX_GATE_TABLE, HX_CODE_ABI_RANGE, "2.0-2.2"},
    {"layout", HX_GATE_TABLE, HX_CODE_LAYOUT_HASH, "layout_hash"},
    {"reserved", HX_GATE_TABLE, HX_CODE_ABI_FIELD, "hx_plugin.reserved is 9"},
    {"other-id", HX_GATE_TABLE, HX_CODE_NOTE, "org.heliox.other"},
    {"bad-name", HX_GATE_TABLE, HX_CODE_REGISTRATION, "no name"},
    {"extra", HX_GATE_TABLE, HX_CODE_REGISTRATION, "only the library registers rns.sub/1/fixture"},
    {"fewer", HX_GATE_TABLE, HX_CODE_REGISTRATION, "only the manifest declares rns.add/1/fixture"},
    {"twice", HX_GATE_TABLE, HX_CODE_REGISTRATION, "rns.add/1/fixture twice"},
    {"fails", HX_GATE_INIT, HX_CODE_INIT, "returned 9 (internal)"},
    {"unknown-result", HX_GATE_INIT, HX_CODE_INIT, "returned 77 (an unknown code)"},
};

static void load_refuses_wrong_tables(void **state) {
  place_t *place = *state;
  install(place, "second", "second");
  for (size_t i = 0; i < HX_COUNT_OF(wrongs); ++i) {
    const int mapped_before = mapped(), descriptors_before = open_descriptors();
    hx_plugins_t *plugins = discover_in(place->directory, NULL);
    hx_loaded_plugin_t *loaded = NULL;
    hx_report_t *report = hx_report_create();
    assert_int_equal(hx_plugin_option_set("fixture", wrongs[i].mode), HX_STATUS_OK);
    const hx_status_t status = hx_plugin_load(plugins, 0, &loaded, report);
    const hx_plugin_record_t *record = hx_plugins_get(plugins, 0);
    if (record->code != wrongs[i].code || strstr(record->text, wrongs[i].piece) == NULL)
      print_error("%s: %s: %s\n", wrongs[i].mode, hx_code_info(record->code)->word, record->text);
    assert_int_equal(status, hx_code_info(wrongs[i].code)->status);
    assert_null(loaded);
    assert_int_equal(record->state, HX_PLUGIN_REFUSED);
    assert_int_equal(record->gate, wrongs[i].gate);
    assert_int_equal(record->code, wrongs[i].code);
    assert_non_null(strstr(record->text, wrongs[i].piece));
    assert_int_equal(hx_report_get(report, 0)->code, wrongs[i].code);
    hx_report_release(report);
    hx_plugins_release(plugins);
    assert_int_equal(mapped(), mapped_before);
    assert_int_equal(open_descriptors(), descriptors_before);
  }
  hx_plugin_option_set("fixture", NULL);
}

static void row_02_load_accepts_longer_and_shorter_tables(void **state) {
  place_t *place = *state;
  static const char *const modes[] = {"long", "prefix", "no-import", "no-roles"};
  install(place, "second", "second");
  for (size_t i = 0; i < HX_COUNT_OF(modes); ++i) {
    hx_plugins_t *plugins = discover_in(place->directory, NULL);
    hx_plugin_option_set("fixture", modes[i]);
    hx_loaded_plugin_t *loaded = load_first(plugins);
    if (strcmp(modes[i], "prefix") == 0) {  // what was not written is absent
      assert_null(loaded->table.materializer);
      assert_null(loaded->table.shutdown);
      assert_null(loaded->table.device->tables_create);
    }
    if (strcmp(modes[i], "no-import") == 0) assert_null(loaded->table.memory->import_host);
    if (strcmp(modes[i], "no-roles") == 0) {
      assert_null(loaded->table.device);
    } else {
      run_add(loaded);
    }
    hx_loaded_plugin_release(loaded);
    hx_plugins_release(plugins);
  }
  hx_plugin_option_set("fixture", NULL);
}

static void row_21_load_calls_absent_devices_unavailable(void **state) {
  place_t *place = *state;
  static const char *const modes[] = {"no-device", "unavailable", "alignment"};
  static const char *const pieces[] = {"the driver 9.1 is needed, found 8.0\\x01", "returned 4 (unavailable)",
                                       "alignment of 48"};
  install(place, "second", "second");
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  for (size_t i = 0; i < HX_COUNT_OF(modes); ++i) {
    hx_loaded_plugin_t *loaded = NULL;
    hx_plugin_option_set("fixture", modes[i]);
    assert_int_equal(hx_plugin_load(plugins, 0, &loaded, NULL), HX_STATUS_UNAVAILABLE);
    const hx_plugin_record_t *record = hx_plugins_get(plugins, 0);
    assert_int_equal(record->state, HX_PLUGIN_UNAVAILABLE);
    assert_int_equal(record->gate, HX_GATE_PROBE);
    assert_int_equal(record->code, HX_CODE_DEVICE);
    assert_non_null(strstr(record->text, pieces[i]));
  }
  hx_plugin_option_set("fixture", NULL);
  hx_loaded_plugin_t *loaded = load_first(plugins);  // the device has come
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  hx_loaded_plugin_release(loaded);
  hx_plugins_release(plugins);
}

static void row_15_load_never_runs_bytes_that_came_later(void **state) {
  place_t *place = *state;
  install(place, "abi_newer", "later");  // any other library
  install(place, "good", "good");
  hx_plugins_t *plugins = discover_in(in_place(place, "good.json"), NULL);
  hx_loaded_plugin_t *loaded = NULL;
  size_t size, good_size;
  char *other = read_bytes(in_place(place, "later.so"), &size);
  char *good = read_bytes(in_place(place, "good.so"), &good_size);
  good[good_size - 1] ^= 1;  // a copy that no mapping of this process has
  unlink(in_place(place, "good.so"));
  write_bytes(in_place(place, "good.so"), good, good_size, 0755);
  json_t *root = read_json(place, "good");
  json_decref(root);
  hx_plugins_release(plugins);
  complete_as(place, "good", "fixture");
  plugins = discover_in(in_place(place, "good.json"), NULL);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  unsetenv("HELIOX_FIXTURE_CONSTRUCTED");
  // Overwritten in place between the hash and the opening.
  const int descriptor = open(in_place(place, "good.so"), O_WRONLY | O_TRUNC);
  assert_int_equal(write(descriptor, other, size), (ssize_t)size);
  close(descriptor);
  assert_int_equal(hx_plugin_load(plugins, 0, &loaded, NULL), HX_STATUS_REFUSED);
  assert_int_equal(hx_plugins_get(plugins, 0)->code, HX_CODE_DIGEST);
  assert_null(getenv("HELIOX_FIXTURE_CONSTRUCTED"));
  hx_free(other);
  hx_free(good);
  hx_plugins_release(plugins);
}

static void row_15_load_keeps_bytes_that_are_overwritten_while_mapped(void **state) {
  place_t *place = *state;
  hx_plugins_t *plugins = install_good(place);
  hx_loaded_plugin_t *loaded = load_first(plugins);
  size_t size;
  char *bytes = read_bytes(in_place(place, "good.so"), &size);
  memset(bytes, 0xcc, size);
  const int descriptor = open(in_place(place, "good.so"), O_WRONLY);
  assert_int_equal(write(descriptor, bytes, size), (ssize_t)size);
  close(descriptor);
  hx_free(bytes);
  run_add(loaded);
  hx_loaded_plugin_release(loaded);
  hx_plugins_release(plugins);
}

static void row_24_load_refuses_conflicting_plugins(void **state) {
  place_t *place = *state;
  install(place, "good", "a");
  install(place, "second", "b");
  json_t *root = read_json(place, "b");
  json_object_set_new(root, "conflicts", json_pack("[s]", "org.heliox.fixture"));
  write_json(place, "b", root);
  json_decref(root);
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  hx_loaded_plugin_t *first = load_first(plugins), *second = NULL;
  assert_int_equal(hx_plugin_load(plugins, 1, &second, NULL), HX_STATUS_REFUSED);
  assert_int_equal(hx_plugins_get(plugins, 1)->code, HX_CODE_CONFLICT);
  assert_non_null(strstr(hx_plugins_get(plugins, 1)->text, "org.heliox.fixture"));
  hx_loaded_plugin_release(first);
  hx_plugins_release(plugins);
  plugins = discover_in(place->directory, NULL);  // either one alone is fine, in the other order too
  assert_int_equal(hx_plugin_load(plugins, 1, &second, NULL), HX_STATUS_OK);
  assert_int_equal(hx_plugin_load(plugins, 0, &first, NULL), HX_STATUS_REFUSED);
  hx_loaded_plugin_release(second);
  hx_plugins_release(plugins);
}

static void load_runs_a_plugin_in_cxx(void **state) {
  place_t *place = *state;
  install(place, "cxx", "cxx");
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  hx_loaded_plugin_t *loaded = load_first(plugins);
  run_add(loaded);
  hx_loaded_plugin_release(loaded);
  hx_plugins_release(plugins);
}

// A manifest that lists the helper library with a digest and a soname.
static void describe_bundled(place_t *place, const char *file, const char *soname) {
  unsigned char hash[32];
  char hex[65];
  size_t size;
  char *bytes = read_bytes(in_place(place, file), &size);
  crypto_hash_sha256(hash, (unsigned char *)bytes, size);
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  hx_free(bytes);
  complete_as(place, "bundled", "fixture");
  json_t *root = read_json(place, "bundled");
  json_object_set_new(root, "bundled", json_pack("[{s:s, s:s, s:s}]", "file", file, "sha256", hex, "soname", soname));
  write_json(place, "bundled", root);
  json_decref(root);
}

static void row_35_load_opens_bundled_libraries_first(void **state) {
  place_t *place = *state;
  copy_library(place, "bundled", "bundled");
  copy_library(place, "libhelp", "libhelp");
  complete_as(place, "bundled", "fixture");
  assert_refused(place, "bundled", HX_GATE_ELF, HX_CODE_DEPENDENCY, "libhelp.so.1, which is neither");
  describe_bundled(place, "libhelp.so", "libother.so.1");
  assert_refused(place, "bundled", HX_GATE_ELF, HX_CODE_DEPENDENCY, "has soname libhelp.so.1, the manifest says");
  describe_bundled(place, "libhelp.so", "libhelp.so.1");
  size_t size;
  char *bytes = read_bytes(in_place(place, "libhelp.so"), &size);
  bytes[size - 1] ^= 1;
  write_bytes(in_place(place, "libhelp.so"), bytes, size, 0755);
  assert_refused(place, "bundled", HX_GATE_DIGEST, HX_CODE_DIGEST, "bundled libhelp.so has sha256");
  bytes[size - 1] ^= 1;
  write_bytes(in_place(place, "libhelp.so"), bytes, size, 0755);
  hx_free(bytes);
  hx_plugins_t *plugins = discover_in(in_place(place, "bundled.json"), NULL);
  hx_loaded_plugin_t *loaded = NULL;
  const int mapped_before = mapped(), descriptors_before = open_descriptors();
  hx_plugin_option_set("fixture", "short");  // refused by the table check: the helper leaves with it
  assert_int_equal(hx_plugin_load(plugins, 0, &loaded, NULL), HX_STATUS_REFUSED);
  assert_int_equal(mapped(), mapped_before);
  assert_int_equal(open_descriptors(), descriptors_before);
  hx_plugin_option_set("fixture", NULL);
  hx_plugins_release(plugins);
  plugins = discover_in(in_place(place, "bundled.json"), NULL);
  loaded = load_first(plugins);
  run_add(loaded);
  hx_loaded_plugin_release(loaded);
  hx_plugins_release(plugins);
  // Another library of that soname is in the process now: other bytes of it are refused.
  bytes = read_bytes(in_place(place, "libhelp.so"), &size);
  bytes = hx_realloc(bytes, size + 1);
  bytes[size] = 0;
  write_bytes(in_place(place, "libhelp.so"), bytes, size + 1, 0755);
  hx_free(bytes);
  bytes = read_bytes(in_place(place, "bundled.so"), &size);
  bytes = hx_realloc(bytes, size + 1);
  bytes[size] = 0;
  write_bytes(in_place(place, "bundled.so"), bytes, size + 1, 0755);
  hx_free(bytes);
  describe_bundled(place, "libhelp.so", "libhelp.so.1");
  plugins = discover_in(in_place(place, "bundled.json"), NULL);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  assert_int_equal(hx_plugin_load(plugins, 0, &loaded, NULL), HX_STATUS_REFUSED);
  assert_int_equal(hx_plugins_get(plugins, 0)->code, HX_CODE_CONFLICT);
  assert_non_null(strstr(hx_plugins_get(plugins, 0)->text, "libhelp.so.1"));
  hx_plugins_release(plugins);
}

static void *load_and_release(void *argument) {
  for (int round = 0; round < 25; ++round) {
    hx_plugins_t *plugins = discover_in(argument, NULL);
    hx_loaded_plugin_t *loaded = NULL;
    if (hx_plugin_load(plugins, 0, &loaded, NULL) != HX_STATUS_OK || loaded->table.impl_count != 1) return argument;
    hx_loaded_plugin_release(loaded);
    hx_plugins_release(plugins);
  }
  return NULL;
}

static void load_serves_several_threads(void **state) {
  place_t *place = *state;
  pthread_t threads[4];
  install(place, "good", "good");
  for (int i = 0; i < 4; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, load_and_release, place->directory), 0);
  for (int i = 0; i < 4; ++i) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
}

static void row_26_load_does_not_grow_over_many_rounds(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  install(place, "second", "second");
  int mapped_before = 0, descriptors_before = 0;
  for (int round = 0; round < 100; ++round) {
    hx_plugins_t *plugins = discover_in(place->directory, NULL);
    hx_loaded_plugin_t *loaded = NULL;
    hx_plugin_option_set("fixture", NULL);
    assert_int_equal(hx_plugin_load(plugins, 0, &loaded, NULL), HX_STATUS_OK);
    hx_loaded_plugin_release(loaded);
    hx_plugin_option_set("fixture", wrongs[(size_t)round % HX_COUNT_OF(wrongs)].mode);
    assert_int_not_equal(hx_plugin_load(plugins, 1, &loaded, NULL), HX_STATUS_OK);
    hx_plugins_release(plugins);
    if (round == 0) {
      mapped_before = mapped();
      descriptors_before = open_descriptors();
    }
  }
  assert_int_equal(mapped(), mapped_before);
  assert_int_equal(open_descriptors(), descriptors_before);
  hx_plugin_option_set("fixture", NULL);
}

static void load_survives_every_failed_allocation(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  for (uint64_t n = 1; n < 4000; ++n) {
    hx_plugins_t *plugins = NULL;
    hx_loaded_plugin_t *loaded = NULL;
    const hx_plugins_options_t options = {.path = place->directory, .only_path = true, .ignore_environment = true};
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_plugins_discover(&options, &plugins, NULL);
    const hx_status_t loading = status == HX_STATUS_OK ? hx_plugin_load(plugins, 0, &loaded, NULL) : status;
    hx_alloc_fail_at(0);
    const bool complete = loading == HX_STATUS_OK;
    hx_loaded_plugin_release(loaded);
    hx_plugins_release(plugins);
    if (complete) return;
    if (loading != HX_STATUS_OUT_OF_MEMORY) print_error("allocation %u: status %u\n", (unsigned)n, (unsigned)loading);
    assert_int_equal(loading, HX_STATUS_OUT_OF_MEMORY);
  }
  fail_msg("there is no end of allocations");
}

int main(void) {
  if (sodium_init() < 0) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(load_tells_why_the_linker_refused, make_place, remove_place),
      cmocka_unit_test_setup_teardown(load_refuses_wrong_tables, make_place, remove_place),
      cmocka_unit_test_setup_teardown(row_26_load_does_not_grow_over_many_rounds, make_place, remove_place),
      cmocka_unit_test_setup_teardown(load_runs_one_operation, make_place, remove_place),
      cmocka_unit_test(load_runs_the_sdk_build),
      cmocka_unit_test_setup_teardown(load_runs_a_plugin_of_1_0, make_place, remove_place),
      cmocka_unit_test_setup_teardown(load_runs_a_plugin_of_1_1, make_place, remove_place),
      cmocka_unit_test_setup_teardown(load_shares_one_mapping, make_place, remove_place),
      cmocka_unit_test_setup_teardown(row_02_load_accepts_longer_and_shorter_tables, make_place, remove_place),
      cmocka_unit_test_setup_teardown(row_21_load_calls_absent_devices_unavailable, make_place, remove_place),
      cmocka_unit_test_setup_teardown(row_15_load_never_runs_bytes_that_came_later, make_place, remove_place),
      cmocka_unit_test_setup_teardown(row_15_load_keeps_bytes_that_are_overwritten_while_mapped, make_place,
                                      remove_place),
      cmocka_unit_test_setup_teardown(load_runs_a_plugin_in_cxx, make_place, remove_place),
      cmocka_unit_test_setup_teardown(row_35_load_opens_bundled_libraries_first, make_place, remove_place),
      cmocka_unit_test_setup_teardown(load_serves_several_threads, make_place, remove_place),
      cmocka_unit_test_setup_teardown(row_24_load_refuses_conflicting_plugins, make_place, remove_place),
      cmocka_unit_test_setup_teardown(load_survives_every_failed_allocation, make_place, remove_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
