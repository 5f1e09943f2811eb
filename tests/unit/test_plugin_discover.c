// SPDX-License-Identifier: Apache-2.0
// Search path, order, duplicates, disabling, privilege.
#include "tests/unit/plugin_fixture.h"

static const hx_plugin_record_t *record_of(const hx_plugins_t *plugins, const char *file) {
  for (size_t i = 0; i < hx_plugins_count(plugins); ++i) {
    const hx_plugin_record_t *record = hx_plugins_get(plugins, i);
    const char *slash = strrchr(record->manifest, '/');
    if (strcmp(slash + 1, file) == 0) return record;
  }
  fail_msg("no record of %s", file);
  return NULL;
}

static bool has_fault(const hx_report_t *report, hx_code_t code, const char *piece) {
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    if (fault->code == code && strstr(fault->text, piece) != NULL) return true;
  }
  return false;
}

static void empty_directory_has_no_candidates(void **state) {
  place_t *place = *state;
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = discover_in(place->directory, report);
  const char *const *places;
  assert_int_equal(hx_plugins_count(plugins), 0);
  assert_int_equal(hx_report_count(report), 0);
  assert_null(hx_plugins_get(plugins, 0));
  assert_null(hx_plugins_find(plugins, "cpu"));
  assert_int_equal(hx_plugins_search_path(plugins, &places), 1);
  assert_string_equal(places[0], place->directory);
  hx_loaded_plugin_t *loaded;
  assert_int_equal(hx_plugin_load(plugins, 0, &loaded, report), HX_STATUS_INVALID);
  hx_plugins_release(plugins);
  hx_report_release(report);
}

static void search_path_warns_of_each_bad_entry(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  mkdir(in_place(place, "second"), 0700);
  write_bytes(in_place(place, "readme.txt"), "x", 1, 0644);
  char path[512];
  snprintf(path, sizeof path, "/nonexistent:%s/readme.txt::%s/second:%s/good.json:%s/absent.json", place->directory,
           place->directory, place->directory, place->directory);
  assert_int_equal(setenv("HELIOX_PLUGIN_PATH", path, 1), 0);
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = NULL;
  const hx_plugins_options_t options = {.only_path = true};
  // An empty element must not stand for the working directory.
  char before[4096];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(place->directory), 0);
  assert_int_equal(hx_plugins_discover(&options, &plugins, report), HX_STATUS_OK);
  assert_int_equal(chdir(before), 0);
  assert_int_equal(hx_plugins_count(plugins), 1);
  assert_int_equal(hx_report_count(report), 3);
  assert_true(has_fault(report, HX_CODE_SEARCH_PATH, "names /nonexistent: No such file"));
  assert_true(has_fault(report, HX_CODE_SEARCH_PATH, "readme.txt, which is neither a directory nor a .json file"));
  assert_true(has_fault(report, HX_CODE_SEARCH_PATH, "absent.json: No such file"));
  assert_string_equal(hx_report_get(report, 0)->source, "HELIOX_PLUGIN_PATH");
  const char *const *places;
  assert_int_equal(hx_plugins_search_path(plugins, &places), 5);
  hx_plugins_release(plugins);
  hx_report_release(report);
  unsetenv("HELIOX_PLUGIN_PATH");
}

static void search_goes_through_the_standard_places_in_order(void **state) {
  place_t *place = *state;
  static const char *const variables[] = {"XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"};
  for (size_t i = 0; i < HX_COUNT_OF(variables); ++i) {
    char name[32];
    snprintf(name, sizeof name, "d%zu", i);
    assert_int_equal(setenv(variables[i], in_place(place, name), 1), 0);
  }
  assert_int_equal(setenv("HELIOX_PLUGIN_PATH", place->directory, 1), 0);
  hx_plugins_t *plugins = NULL;
  assert_int_equal(hx_plugins_discover(NULL, &plugins, NULL), HX_STATUS_OK);
  const char *const *places;
  assert_int_equal(hx_plugins_search_path(plugins, &places), 6);
  assert_string_equal(places[0], place->directory);
  for (size_t i = 0; i < HX_COUNT_OF(variables); ++i) {
    char expected[256];
    snprintf(expected, sizeof expected, "%s/d%zu/heliox/plugins.d", place->directory, i);
    assert_string_equal(places[i + 1], expected);
  }
  // The installation: this program has the library inside and lies in BUILD/bin.
  assert_non_null(strstr(places[5], "/lib/heliox/plugins"));
  hx_plugins_release(plugins);
  const hx_plugins_options_t options = {.ignore_environment = true};
  assert_int_equal(hx_plugins_discover(&options, &plugins, NULL), HX_STATUS_OK);
  assert_int_equal(hx_plugins_search_path(plugins, &places), 4);
  assert_string_equal(places[0], "/etc/xdg/heliox/plugins.d");
  hx_plugins_release(plugins);
  for (size_t i = 0; i < HX_COUNT_OF(variables); ++i) unsetenv(variables[i]);
  unsetenv("HELIOX_PLUGIN_PATH");
}

static void relative_standard_places_are_ignored(void **state) {
  (void)state;
  assert_int_equal(setenv("XDG_DATA_DIRS", "relative:/abs/dir", 1), 0);
  hx_plugins_t *plugins = NULL;
  assert_int_equal(hx_plugins_discover(NULL, &plugins, NULL), HX_STATUS_OK);
  const char *const *places;
  const size_t count = hx_plugins_search_path(plugins, &places);
  for (size_t i = 0; i < count; ++i) assert_int_equal(places[i][0], '/');
  hx_plugins_release(plugins);
  unsetenv("XDG_DATA_DIRS");
}

static void candidates_are_sorted_by_priority_and_name(void **state) {
  place_t *place = *state;
  install(place, "good", "b");
  install(place, "second", "a");
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  assert_int_equal(hx_plugins_count(plugins), 2);
  assert_string_equal(hx_plugins_get(plugins, 0)->id, "org.heliox.second");
  assert_string_equal(hx_plugins_get(plugins, 1)->id, "org.heliox.fixture");
  assert_ptr_equal(hx_plugins_find(plugins, "second"), hx_plugins_get(plugins, 0));
  assert_ptr_equal(hx_plugins_find(plugins, "org.heliox.fixture"), hx_plugins_get(plugins, 1));
  assert_null(hx_plugins_find(plugins, "third"));
  const hx_plugin_operation_t *operations;
  assert_int_equal(hx_plugins_operations(plugins, 0, &operations), 1);
  assert_string_equal(operations[0].type, "rns.add");
  assert_non_null(strstr(hx_plugins_manifest(plugins, 0), "org.heliox.second"));
  assert_string_equal(hx_plugins_manifest(plugins, 7), "");
  hx_plugins_release(plugins);
  json_t *root = read_json(place, "b");
  json_object_set_new(root, "priority", json_integer(5));
  write_json(place, "b", root);
  json_decref(root);
  plugins = discover_in(place->directory, NULL);
  assert_string_equal(hx_plugins_get(plugins, 0)->id, "org.heliox.fixture");
  assert_int_equal(hx_plugins_get(plugins, 0)->priority, 5);
  hx_plugins_release(plugins);
}

static void one_bad_plugin_does_not_stop_the_next(void **state) {
  place_t *place = *state;
  write_bytes(in_place(place, "a.json"), "{", 1, 0644);
  mkdir(in_place(place, "b.json"), 0755);
  install(place, "good", "c");
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  assert_int_equal(hx_plugins_count(plugins), 3);
  assert_int_equal(record_of(plugins, "a.json")->code, HX_CODE_MANIFEST_PARSE);
  assert_int_equal(record_of(plugins, "b.json")->code, HX_CODE_FILE_PERMISSIONS);
  assert_int_equal(record_of(plugins, "c.json")->state, HX_PLUGIN_USABLE);
  for (size_t i = 0; i < 3; ++i) {  // no field is ever NULL
    const hx_plugin_record_t *record = hx_plugins_get(plugins, i);
    assert_true(record->id != NULL && record->name != NULL && record->version != NULL && record->vendor != NULL);
    assert_true(record->library != NULL && record->text != NULL && record->expected != NULL && record->hint != NULL);
  }
  hx_plugins_release(plugins);
}

static void expect_shadowed(const hx_plugins_t *plugins, const char *file, const char *winner, const char *rule) {
  const hx_plugin_record_t *record = record_of(plugins, file);
  assert_int_equal(record->state, HX_PLUGIN_SHADOWED);
  assert_int_equal(record->code, HX_CODE_SHADOWED);
  if (strstr(record->text, winner) == NULL || strstr(record->text, rule) == NULL) fail_msg("%s", record->text);
}

static void row_23_same_plugin_twice_is_loaded_once(void **state) {
  place_t *place = *state;
  install(place, "good", "a");
  char path[512];
  snprintf(path, sizeof path, "%s:%s/", place->directory, place->directory);  // the same directory, with a slash
  hx_plugins_t *plugins = discover_in(path, NULL);
  assert_int_equal(hx_plugins_count(plugins), 2);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  assert_int_equal(hx_plugins_get(plugins, 1)->state, HX_PLUGIN_SHADOWED);
  assert_non_null(strstr(hx_plugins_get(plugins, 1)->text, "the same manifest file"));
  hx_plugins_release(plugins);
  assert_int_equal(link(in_place(place, "a.json"), in_place(place, "b.json")), 0);  // a hard link
  json_t *root = read_json(place, "a");
  json_object_set_new(root, "id", json_string("org.heliox.fixture"));
  write_json(place, "c", root);  // a second manifest of one library
  json_decref(root);
  copy_library(place, "good", "d");  // and of a copy of it
  complete_as(place, "d", "fixture");
  plugins = discover_in(place->directory, NULL);
  assert_int_equal(hx_plugins_count(plugins), 4);
  assert_int_equal(record_of(plugins, "a.json")->state, HX_PLUGIN_USABLE);
  expect_shadowed(plugins, "b.json", "/a.json", "the same manifest file");
  expect_shadowed(plugins, "c.json", "/a.json", "the same library bytes");
  expect_shadowed(plugins, "d.json", "/a.json", "the same library bytes");
  hx_plugins_release(plugins);
}

static void change(place_t *place, const char *as, const char *key, json_t *value) {
  json_t *root = read_json(place, as);
  json_object_set_new(root, key, value);
  write_json(place, as, root);
  json_decref(root);
}

static void row_34_same_name_and_same_id_shadow_the_later_one(void **state) {
  place_t *place = *state;
  install(place, "good", "a");
  install(place, "second", "b");
  change(place, "b", "name", json_string("fixture"));
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  expect_shadowed(plugins, "b.json", "org.heliox.fixture", "the same short name, found first");
  hx_plugins_release(plugins);
  // Another build of one id: other bytes behind the end of what is loaded.
  size_t size;
  char *bytes = read_bytes(in_place(place, "a.so"), &size);
  bytes = hx_realloc(bytes, size + 1);
  bytes[size] = 0;
  write_bytes(in_place(place, "b.so"), bytes, size + 1, 0755);
  hx_free(bytes);
  complete_as(place, "b", "fixture");
  plugins = discover_in(place->directory, NULL);
  expect_shadowed(plugins, "b.json", "/a.json", "the same id, found first");
  hx_plugins_release(plugins);
  chmod(in_place(place, "a.so"), 0777);  // a refused one leaves room
  plugins = discover_in(place->directory, NULL);
  assert_int_equal(record_of(plugins, "a.json")->state, HX_PLUGIN_REFUSED);
  assert_int_equal(record_of(plugins, "b.json")->state, HX_PLUGIN_USABLE);
  hx_plugins_release(plugins);
}

static void replaced_ids_are_shadowed_in_any_order(void **state) {
  place_t *place = *state;
  install(place, "good", "a");
  install(place, "second", "b");
  change(place, "b", "replaces", json_pack("[s]", "org.heliox.fixture"));
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  expect_shadowed(plugins, "a.json", "org.heliox.second", "its manifest replaces this id");
  assert_int_equal(record_of(plugins, "b.json")->state, HX_PLUGIN_USABLE);
  hx_plugins_release(plugins);
}

static void disabled_plugins_are_named_or_matched(void **state) {
  place_t *place = *state;
  static const char *const lists[] = {"fixture", "org.heliox.fix*", "other, fixture", "f?xture"};
  install(place, "good", "a");
  install(place, "second", "b");
  const hx_plugins_options_t options = {.path = place->directory, .only_path = true};
  for (size_t i = 0; i < HX_COUNT_OF(lists); ++i) {
    hx_plugins_t *plugins = NULL;
    assert_int_equal(setenv("HELIOX_PLUGINS_DISABLE", lists[i], 1), 0);
    assert_int_equal(hx_plugins_discover(&options, &plugins, NULL), HX_STATUS_OK);
    assert_int_equal(record_of(plugins, "a.json")->state, HX_PLUGIN_DISABLED);
    assert_int_equal(record_of(plugins, "a.json")->code, HX_CODE_DISABLED);
    assert_int_equal(record_of(plugins, "b.json")->state, HX_PLUGIN_USABLE);
    assert_null(hx_plugins_find(plugins, "fixture"));
    hx_loaded_plugin_t *loaded = NULL;
    hx_report_t *report = hx_report_create();
    assert_int_equal(hx_plugin_load(plugins, 0, &loaded, report), HX_STATUS_REFUSED);
    assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_DISABLED);
    hx_report_release(report);
    hx_plugins_release(plugins);
  }
  unsetenv("HELIOX_PLUGINS_DISABLE");
}

static void row_25_privileged_processes_ignore_variables(void **state) {
  place_t *place = *state;
  install(place, "good", "a");
  setenv("HELIOX_PLUGIN_PATH", place->directory, 1);
  setenv("HELIOX_PLUGINS_DISABLE", "*", 1);
  setenv("XDG_DATA_HOME", place->directory, 1);
  hx_process_override_privileged(1);
  hx_plugins_t *plugins = NULL;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_plugins_discover(NULL, &plugins, report), HX_STATUS_OK);
  hx_process_override_privileged(-1);
  const char *const *places;
  const size_t count = hx_plugins_search_path(plugins, &places);
  for (size_t i = 0; i < count; ++i) assert_null(strstr(places[i], place->directory));
  assert_int_equal(count, 4);
  assert_true(has_fault(report, HX_CODE_PRIVILEGED, "HELIOX_PLUGIN_PATH is ignored"));
  assert_true(has_fault(report, HX_CODE_PRIVILEGED, "HELIOX_PLUGINS_DISABLE is ignored"));
  assert_true(has_fault(report, HX_CODE_PRIVILEGED, "XDG_DATA_HOME is ignored"));
  hx_plugins_release(plugins);
  hx_report_release(report);
  unsetenv("HELIOX_PLUGIN_PATH");
  unsetenv("HELIOX_PLUGINS_DISABLE");
  unsetenv("XDG_DATA_HOME");
}

static void unknown_operations_are_left_out_with_a_warning(void **state) {
  place_t *place = *state;
  install(place, "newer", "a");
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = discover_in(place->directory, report);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  assert_int_equal(hx_report_count(report), 1);
  assert_true(has_fault(report, HX_CODE_UNKNOWN_OPERATION, "operation rns.teleport of signature 1"));
  hx_loaded_plugin_t *loaded = NULL;
  assert_int_equal(hx_plugin_load(plugins, 0, &loaded, report), HX_STATUS_OK);
  assert_int_equal(loaded->operation_count, 1);
  assert_int_equal(loaded->table.impl_count, 2);
  assert_null(hx_loaded_plugin_operation(loaded, "rns.teleport", "fixture"));
  hx_loaded_plugin_release(loaded);
  hx_plugins_release(plugins);
  hx_report_release(report);
}

int main(void) {
  if (sodium_init() < 0) return 1;
#define CASE(name_) cmocka_unit_test_setup_teardown(name_, make_place, remove_place)
  const struct CMUnitTest tests[] = {
      CASE(empty_directory_has_no_candidates),
      CASE(search_path_warns_of_each_bad_entry),
      CASE(search_goes_through_the_standard_places_in_order),
      CASE(relative_standard_places_are_ignored),
      CASE(candidates_are_sorted_by_priority_and_name),
      CASE(one_bad_plugin_does_not_stop_the_next),
      CASE(row_23_same_plugin_twice_is_loaded_once),
      CASE(row_34_same_name_and_same_id_shadow_the_later_one),
      CASE(replaced_ids_are_shadowed_in_any_order),
      CASE(disabled_plugins_are_named_or_matched),
      CASE(row_25_privileged_processes_ignore_variables),
      CASE(unknown_operations_are_left_out_with_a_warning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
