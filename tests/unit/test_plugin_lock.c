// SPDX-License-Identifier: Apache-2.0
// Lockfiles: written, compared, and what a locked search refuses.
#include "core/plugin/lock.h"
#include "tests/unit/plugin_fixture.h"

static hx_plugins_t *discover_locked(place_t *place, const char *lock, hx_report_t *report) {
  hx_plugins_t *plugins = NULL;
  const hx_plugins_options_t options = {
      .path = place->directory, .only_path = true, .ignore_environment = true, .lock = in_place(place, lock)};
  assert_int_equal(hx_plugins_discover(&options, &plugins, report), HX_STATUS_OK);
  return plugins;
}

static void write_lock(place_t *place, const char *name) {
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  assert_int_equal(hx_plugins_lock(plugins, in_place(place, name), NULL), HX_STATUS_OK);
  hx_plugins_release(plugins);
}

static void assert_same_bytes(place_t *place, const char *a, const char *b) {
  size_t left_size, right_size;
  char *left = read_bytes(in_place(place, a), &left_size), *right = read_bytes(in_place(place, b), &right_size);
  assert_int_equal(left_size, right_size);
  assert_memory_equal(left, right, left_size);
  hx_free(left);
  hx_free(right);
}

// Number of faults; the first one's text holds the piece.
static size_t verify(place_t *place, const char *lock, const char *piece) {
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_plugins_verify(plugins, in_place(place, lock), report);
  const size_t count = hx_report_count(report);
  assert_int_equal(status == HX_STATUS_OK, count == 0);
  if (piece != NULL) {
    assert_int_equal(status, HX_STATUS_REFUSED);
    assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_LOCK);
    if (strstr(hx_report_get(report, 0)->text, piece) == NULL) print_error("%s\n", hx_report_get(report, 0)->text);
    assert_non_null(strstr(hx_report_get(report, 0)->text, piece));
    assert_non_null(strstr(hx_report_get(report, 0)->hint, "heliox plugins lock"));
  }
  hx_report_release(report);
  hx_plugins_release(plugins);
  return count;
}

static void row_29_lockfile_written_twice_is_the_same(void **state) {
  place_t *place = *state;
  install(place, "second", "a");
  install(place, "good", "b");
  write_lock(place, "one.lock");
  write_lock(place, "two.lock");
  write_lock(place, "two.lock");  // replaces
  assert_same_bytes(place, "one.lock", "two.lock");
  assert_int_equal(verify(place, "one.lock", NULL), 0);
  hx_lock_t *lock = NULL;
  assert_int_equal(hx_lock_read(in_place(place, "one.lock"), &lock, NULL), HX_STATUS_OK);
  assert_int_equal(lock->count, 2);
  assert_true(strcmp(lock->entries[0].id, lock->entries[1].id) < 0);
  assert_non_null(hx_lock_find(lock, "org.heliox.fixture"));
  assert_null(hx_lock_find(lock, "org.heliox.absent"));
  hx_lock_release(lock);
  hx_plugins_t *plugins = discover_locked(place, "one.lock", NULL);
  assert_non_null(hx_plugins_find(plugins, "fixture"));
  hx_plugins_release(plugins);
}

static const hx_plugin_record_t *record_of(const hx_plugins_t *plugins, const char *id) {
  for (size_t i = 0; i < hx_plugins_count(plugins); ++i) {
    if (strcmp(hx_plugins_get(plugins, i)->id, id) == 0) return hx_plugins_get(plugins, i);
  }
  fail_msg("no record of %s", id);
  return NULL;
}

static void row_29_plugin_missing_from_the_lockfile_is_refused(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  write_lock(place, "lock");
  install(place, "second", "second");
  assert_int_equal(verify(place, "lock", "+ org.heliox.second"), 1);
  hx_plugins_t *plugins = discover_locked(place, "lock", NULL);
  const hx_plugin_record_t *record = record_of(plugins, "org.heliox.second");
  assert_int_equal(record->state, HX_PLUGIN_REFUSED);
  assert_int_equal(record->gate, HX_GATE_DIGEST);
  assert_int_equal(record->code, HX_CODE_LOCK);
  assert_non_null(strstr(record->text, "not in the lockfile"));
  assert_int_equal(record_of(plugins, "org.heliox.fixture")->state, HX_PLUGIN_USABLE);
  hx_plugins_release(plugins);
}

static void row_29_extra_entry_of_the_lockfile_is_named(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  install(place, "second", "second");
  write_lock(place, "lock");
  unlink(in_place(place, "second.json"));
  assert_int_equal(verify(place, "lock", "- org.heliox.second"), 1);
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = discover_locked(place, "lock", report);
  assert_int_equal(hx_report_count(report), 1);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_LOCK);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "org.heliox.second"));
  hx_plugins_release(plugins);
  hx_report_release(report);
}

static void row_29_changed_plugin_is_refused_with_a_diff(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  write_lock(place, "lock");
  json_t *root = read_json(place, "good");
  json_object_set_new(root, "version", json_string("1.2.3"));
  json_object_set_new(root, "priority", json_integer(7));
  write_json(place, "good", root);
  json_decref(root);
  assert_int_equal(verify(place, "lock", "~ org.heliox.fixture is not as locked"), 1);
  hx_plugins_t *plugins = discover_locked(place, "lock", NULL);
  const hx_plugin_record_t *record = hx_plugins_get(plugins, 0);
  assert_int_equal(record->code, HX_CODE_LOCK);
  assert_non_null(strstr(record->text, "manifest "));
  assert_null(strstr(record->text, "library "));
  assert_int_equal(strlen(record->expected), 64);
  assert_int_equal(strlen(record->found), 64);
  hx_plugins_release(plugins);
  // The full check says the same.
  const hx_plugins_options_t options = {.ignore_environment = true, .lock = in_place(place, "lock")};
  hx_plugin_check_t *check = NULL;
  assert_int_equal(hx_plugin_check_with(in_place(place, "good.json"), &options, &check, NULL), HX_STATUS_OK);
  const hx_gate_result_t *results;
  const size_t count = hx_plugin_check_results(check, &results);
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) found += results[i].gate == HX_GATE_DIGEST && results[i].code == HX_CODE_LOCK;
  assert_int_equal(found, 1);
  hx_plugin_check_release(check);
}

static void assert_lock_refused(const char *text, const char *piece) {
  hx_report_t *report = hx_report_create();
  hx_lock_t *lock = NULL;
  assert_int_equal(hx_lock_parse(hx_str(text), "x.lock", &lock, report), HX_STATUS_REFUSED);
  assert_null(lock);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_LOCK);
  if (strstr(hx_report_get(report, 0)->text, piece) == NULL) print_error("%s\n", hx_report_get(report, 0)->text);
  assert_non_null(strstr(hx_report_get(report, 0)->text, piece));
  hx_report_release(report);
}

#define D "0000000000000000000000000000000000000000000000000000000000000000"
#define ENTRY(id_) \
  "{\"id\":\"" id_ "\",\"version\":\"1.0.0\",\"library\":\"" D "\",\"manifest\":\"" D "\",\"operations\":\"" D "\"}"
#define FILE_OF(list_) "{\"lockfile_version\":1,\"plugins\":[" list_ "]}"

static void row_29_reordered_lockfile_is_refused(void **state) {
  (void)state;
  assert_lock_refused(FILE_OF(ENTRY("b.b") "," ENTRY("a.a")), "/plugins/1");
  assert_lock_refused(FILE_OF(ENTRY("a.a") "," ENTRY("a.a")), "ascend");
}

static void lockfile_is_strict(void **state) {
  (void)state;
  hx_lock_t *lock = NULL;
  assert_int_equal(hx_lock_parse(hx_str(FILE_OF(ENTRY("a.a") "," ENTRY("b.b"))), "x", &lock, NULL), HX_STATUS_OK);
  hx_lock_release(lock);
  assert_lock_refused("", "");
  assert_lock_refused("{}", "lockfile_version");
  assert_lock_refused("[]", "");
  assert_lock_refused("{\"lockfile_version\":2,\"plugins\":[]}", "lockfile_version");
  assert_lock_refused("{\"lockfile_version\":1,\"plugins\":[],\"more\":1}", "more");
  assert_lock_refused("{\"lockfile_version\":1,\"plugins\":[{}]}", "/plugins/0");
  assert_lock_refused("{\"lockfile_version\":1,\"lockfile_version\":1,\"plugins\":[]}", "");
  assert_lock_refused(FILE_OF(ENTRY("a.a")) " x", "");
}

static void lockfile_that_others_may_change_is_refused(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  write_lock(place, "lock");
  chmod(in_place(place, "lock"), 0666);
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = NULL;
  const hx_plugins_options_t options = {
      .path = place->directory, .only_path = true, .ignore_environment = true, .lock = in_place(place, "lock")};
  assert_int_equal(hx_plugins_discover(&options, &plugins, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_FILE_PERMISSIONS);
  hx_report_clear(report);
  unlink(in_place(place, "lock"));
  assert_int_not_equal(hx_plugins_discover(&options, &plugins, report), HX_STATUS_OK);
  assert_true(hx_report_count(report) > 0);
  hx_report_release(report);
}

// A warning elsewhere, a refusal where a lockfile promises what runs.
static void row_11_group_writable_directory_is_refused_when_locked(void **state) {
  place_t *place = *state;
  char directory[128];
  install(place, "good", "good");
  write_lock(place, "lock");
  snprintf(directory, sizeof directory, "%s", in_place(place, "open"));
  assert_int_equal(mkdir(directory, 0755), 0);
  rename(in_place(place, "good.json"), in_place(place, "open/good.json"));
  rename(in_place(place, "good.so"), in_place(place, "open/good.so"));
  assert_int_equal(chmod(directory, 0775), 0);
  hx_plugins_options_t options = {.path = directory, .only_path = true, .ignore_environment = true};
  hx_plugins_t *plugins = NULL;
  assert_int_equal(hx_plugins_discover(&options, &plugins, NULL), HX_STATUS_OK);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  hx_plugins_release(plugins);
  options.lock = in_place(place, "lock");
  assert_int_equal(hx_plugins_discover(&options, &plugins, NULL), HX_STATUS_OK);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_REFUSED);
  assert_int_equal(hx_plugins_get(plugins, 0)->code, HX_CODE_FILE_PERMISSIONS);
  assert_non_null(strstr(hx_plugins_get(plugins, 0)->text, "group"));
  hx_plugins_release(plugins);
}

static void variable_locks_unless_privileged(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  write_bytes(in_place(place, "lock"), FILE_OF(""), strlen(FILE_OF("")), 0644);
  setenv("HELIOX_LOCK", in_place(place, "lock"), 1);
  const hx_plugins_options_t options = {.path = place->directory, .only_path = true};
  hx_plugins_t *plugins = NULL;
  assert_int_equal(hx_plugins_discover(&options, &plugins, NULL), HX_STATUS_OK);
  assert_int_equal(hx_plugins_get(plugins, 0)->code, HX_CODE_LOCK);
  hx_plugins_release(plugins);
  hx_report_t *report = hx_report_create();
  hx_process_override_privileged(1);
  assert_int_equal(hx_plugins_discover(&options, &plugins, report), HX_STATUS_OK);
  hx_process_override_privileged(-1);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  bool warned = false;
  for (size_t i = 0; i < hx_report_count(report); ++i)
    warned |= strstr(hx_report_get(report, i)->text, "HELIOX_LOCK is ignored") != NULL;
  assert_true(warned);
  hx_plugins_release(plugins);
  hx_report_release(report);
  unsetenv("HELIOX_LOCK");
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, make_place, remove_place)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(row_29_lockfile_written_twice_is_the_same),
      CASE(row_29_plugin_missing_from_the_lockfile_is_refused),
      CASE(row_29_extra_entry_of_the_lockfile_is_named),
      CASE(row_29_changed_plugin_is_refused_with_a_diff),
      CASE(row_29_reordered_lockfile_is_refused),
      CASE(lockfile_is_strict),
      CASE(lockfile_that_others_may_change_is_refused),
      CASE(row_11_group_writable_directory_is_refused_when_locked),
      CASE(variable_locks_unless_privileged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
