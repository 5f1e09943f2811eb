// SPDX-License-Identifier: Apache-2.0
// Known answers that a device gives before its first use.
#include <dirent.h>

#include "core/backend/self_test.h"

#include "tests/unit/fake_plugin.h"
#include "tests/unit/plugin_fixture.h"

static int make_cached_place(void **state) {
  if (make_place(state) != 0) return -1;
  setenv("XDG_CACHE_HOME", ((place_t *)*state)->directory, 1);
  hx_self_test_forget();
  fake_reset_knobs();
  return 0;
}

static int remove_cached_place(void **state) {
  unsetenv("XDG_CACHE_HOME");
  hx_self_test_forget();
  hx_plugin_option_set("fixture", NULL);
  return remove_place(state);
}

static hx_opened_device_t *open_fake(fake_plugin_t *plugin) {
  hx_opened_device_t *device = NULL;
  assert_int_equal(hx_device_open(&plugin->loaded, 0, &device, NULL), HX_STATUS_OK);
  return device;
}

static void device_that_computes_rightly_passes(void **state) {
  (void)state;
  fake_plugin_t *plugin = fake_plugin_create("right");
  fake_plugin_add_tiers(plugin, "right", FAKE_ALL);
  fake.scratch_device = 4096;
  hx_opened_device_t *device = open_fake(plugin);
  hx_self_test_result_t result;
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_device_self_test(device, false, &result, report);
  if (status != HX_STATUS_OK) print_error("%s\n", hx_report_get(report, 0)->text);
  assert_int_equal(status, HX_STATUS_OK);
  assert_int_equal(result.tested, 11);
  assert_int_equal(result.tested + result.skipped, plugin->loaded.table.impl_count);
  assert_false(result.cached);
  assert_int_equal(fake.tables_alive, 0);
  assert_int_equal(fake.prepared_alive, 0);
  hx_report_release(report);
  hx_device_release(device);
  assert_int_equal(fake.buffers, 0);
  fake_plugin_destroy(plugin);
}

static void rows_are_tested_within_their_ranges(void **state) {
  (void)state;
  fake_plugin_t *plugin = fake_plugin_create("narrow");
  hx_manifest_operation_t *row = fake_plugin_add(plugin, "rns.mul", "narrow");
  row->log_n_min = 12;
  row->log_n_max = 13;
  row->prime_bits_min = 30;
  row->prime_bits_max = 30;
  row->dtypes = 1u << HX_U32;
  fake_plugin_add(plugin, "rns.add", "few")->prime_bits_max = 20;  // no such primes
  fake_plugin_add(plugin, "rns.sub", "other")->bit_exact = false;  // promises less
  fake_plugin_add(plugin, "rns.mul_add", "large")->prime_bits_min = 55;
  hx_opened_device_t *device = open_fake(plugin);
  hx_self_test_result_t result;
  assert_int_equal(hx_device_self_test(device, false, &result, NULL), HX_STATUS_OK);
  assert_int_equal(result.tested, 2);
  assert_int_equal(result.skipped, 2);
  hx_self_test_choice_t choice;
  assert_true(hx_self_test_choose(row, 32, &choice));
  assert_int_equal(choice.log_n, 12);
  assert_int_equal(choice.primes[3], 0);
  hx_device_release(device);
  fake_plugin_destroy(plugin);
}

static void failing_calls_are_refused(void **state) {
  (void)state;
  fake_plugin_t *plugin = fake_plugin_create("broken");
  fake_plugin_add(plugin, "rns.mul", "broken");
  hx_opened_device_t *device = open_fake(plugin);
  hx_self_test_result_t result;
  hx_report_t *report = hx_report_create();
  fake.prepare_result = HX_INTERNAL;
  assert_int_equal(hx_device_self_test(device, false, &result, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_SELF_TEST);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "prepare"));
  fake.prepare_result = HX_UNSUPPORTED;  // legal
  assert_int_equal(hx_device_self_test(device, false, &result, report), HX_STATUS_OK);
  assert_int_equal(result.tested, 0);
  fake_reset_knobs();
  hx_report_clear(report);
  hx_self_test_forget();
  fake.execute_result = HX_DEVICE_LOST;
  fake.fail_at = 0;
  assert_int_equal(hx_device_self_test(device, true, &result, report), HX_STATUS_REFUSED);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "execute"));
  fake_reset_knobs();
  hx_report_release(report);
  hx_device_release(device);
  fake_plugin_destroy(plugin);
}

// The one file of the cache.
static void cache_file(place_t *place, char path[512]) {
  char directory[256];
  snprintf(directory, sizeof directory, "%s", in_place(place, "heliox/self-test"));
  DIR *listing = opendir(directory);
  assert_non_null(listing);
  path[0] = '\0';
  for (struct dirent *item = readdir(listing); item != NULL; item = readdir(listing)) {
    if (item->d_name[0] != '.') snprintf(path, 512, "%s/%.200s", directory, item->d_name);
  }
  closedir(listing);
  assert_true(path[0] != '\0');
}

static bool is_cached(hx_opened_device_t *device) {
  hx_self_test_result_t result;
  assert_int_equal(hx_device_self_test(device, false, &result, NULL), HX_STATUS_OK);
  return result.cached;
}

static void pass_is_remembered_and_a_damaged_cache_redone(void **state) {
  place_t *place = *state;
  char path[512];
  fake_plugin_t *plugin = fake_plugin_create("cached");
  fake_plugin_add(plugin, "rns.mul", "cached");
  hx_opened_device_t *device = open_fake(plugin);
  assert_false(is_cached(device));
  assert_true(is_cached(device));  // in the process
  hx_self_test_forget();
  assert_true(is_cached(device));  // on disk
  cache_file(place, path);
  struct stat facts;
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 07777u, 0600);
  hx_self_test_forget();
  write_bytes(path, "heliox self-test 1\n", 19, 0600);  // cut off
  assert_false(is_cached(device));
  hx_self_test_forget();
  assert_true(is_cached(device));  // written again
  hx_self_test_forget();
  chmod(path, 0666);  // anybody may have written it
  assert_false(is_cached(device));
  hx_self_test_forget();
  hx_process_override_privileged(1);
  assert_false(is_cached(device));  // the user's files do not count
  hx_process_override_privileged(-1);
  hx_self_test_forget();
  snprintf(plugin->loaded.digest, sizeof plugin->loaded.digest, "%064d", 8);
  assert_false(is_cached(device));  // other bytes
  hx_self_test_forget();
  snprintf(device->info.driver, sizeof device->info.driver, "other");
  assert_false(is_cached(device));
  hx_device_release(device);
  fake_plugin_destroy(plugin);
}

static void cache_that_cannot_be_written_is_no_error(void **state) {
  place_t *place = *state;
  write_bytes(in_place(place, "heliox"), "", 0, 0644);  // where the directory would be
  fake_plugin_t *plugin = fake_plugin_create("uncached");
  fake_plugin_add(plugin, "rns.mul", "uncached");
  hx_opened_device_t *device = open_fake(plugin);
  assert_false(is_cached(device));
  hx_self_test_forget();
  assert_false(is_cached(device));
  hx_device_release(device);
  fake_plugin_destroy(plugin);
}

static void plugin_that_computes_wrongly_is_refused(void **state) {
  place_t *place = *state;
  install(place, "good", "good");
  hx_plugin_option_set("fixture", "wrong");
  hx_plugins_t *plugins = discover_in(in_place(place, "good.json"), NULL);
  hx_report_t *report = hx_report_create();
  hx_backend_t *backend = NULL;
  assert_int_equal(hx_backend_create(plugins, "fixture", &backend, report), HX_STATUS_REFUSED);
  assert_null(backend);
  const hx_fault_t *fault = hx_report_get(report, 0);
  assert_int_equal(fault->code, HX_CODE_SELF_TEST);
  assert_non_null(strstr(fault->text, "fixture:0 computes rns.add by fixture wrongly"));
  assert_non_null(strstr(fault->text, "index 5"));
  assert_string_not_equal(fault->expected, fault->found);
  assert_true(strtoull(fault->expected, NULL, 10) == (strtoull(fault->found, NULL, 10) ^ 1));
  hx_report_clear(report);
  // On demand: the verdict of each device.
  const hx_plugins_options_t options = {.ignore_environment = true};
  hx_plugin_probe_t *probe = NULL;
  const hx_device_verdict_t *verdicts = NULL;
  assert_int_equal(hx_plugin_probe(in_place(place, "good.json"), &options, &probe, report), HX_STATUS_OK);
  assert_int_equal(hx_plugin_probe_devices(probe, &verdicts), 1);
  assert_int_equal(verdicts[0].code, HX_CODE_SELF_TEST);
  assert_non_null(strstr(verdicts[0].text, "index 5"));
  hx_plugin_probe_release(probe);
  // Nothing was remembered of it, and the right one is taken.
  hx_plugin_option_set("fixture", NULL);
  assert_int_equal(hx_backend_create(plugins, "fixture", &backend, report), HX_STATUS_OK);
  hx_backend_release(backend);
  assert_int_equal(hx_plugin_probe(in_place(place, "good.json"), &options, &probe, report), HX_STATUS_OK);
  hx_plugin_probe_devices(probe, &verdicts);
  assert_int_equal(verdicts[0].code, HX_CODE_NONE);
  assert_int_equal(verdicts[0].tested, 1);
  hx_plugin_probe_release(probe);
  hx_plugins_release(plugins);
  hx_report_release(report);
}

static void probe_of_a_refused_plugin_says_why(void **state) {
  place_t *place = *state;
  copy_library(place, "exports", "bad");
  describe_by_hand(place, "bad");
  hx_plugin_probe_t *probe = NULL;
  hx_report_t *report = hx_report_create();
  const hx_plugins_options_t options = {.ignore_environment = true};
  assert_int_equal(hx_plugin_probe(in_place(place, "bad.json"), &options, &probe, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_report_get(report, hx_report_count(report) - 1)->code, HX_CODE_EXPORTS);
  assert_null(probe);
  hx_report_clear(report);
  assert_int_not_equal(hx_plugin_probe(in_place(place, "absent.json"), &options, &probe, report), HX_STATUS_OK);
  hx_report_release(report);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, make_cached_place, remove_cached_place)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(device_that_computes_rightly_passes),
      CASE(rows_are_tested_within_their_ranges),
      CASE(failing_calls_are_refused),
      CASE(pass_is_remembered_and_a_damaged_cache_redone),
      CASE(cache_that_cannot_be_written_is_no_error),
      CASE(plugin_that_computes_wrongly_is_refused),
      CASE(probe_of_a_refused_plugin_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
