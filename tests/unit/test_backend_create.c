// SPDX-License-Identifier: Apache-2.0
// Backends by name: lists, and what is said where a plugin cannot be used.
#include "tests/unit/fake_plugin.h"

static hx_status_t parse(const char *list, hx_backend_entry_t *entries, size_t *count, hx_report_t *report) {
  hx_report_clear(report);
  *count = 0;
  return hx_backend_parse_list(list, entries, count, report);
}

static void list_reads_names_and_indices(void **state) {
  (void)state;
  hx_backend_entry_t entries[HX_BACKEND_ENTRIES_MAX];
  hx_report_t *report = hx_report_create();
  size_t count;
  assert_int_equal(parse("cpu", entries, &count, report), HX_STATUS_OK);
  assert_int_equal(count, 1);
  assert_string_equal(entries[0].name, "cpu");
  assert_int_equal(entries[0].index, 0);
  assert_int_equal(parse("opencl:12,mpi", entries, &count, report), HX_STATUS_OK);
  assert_int_equal(count, 2);
  assert_string_equal(entries[0].name, "opencl");
  assert_int_equal(entries[0].index, 12);
  assert_string_equal(entries[1].name, "mpi");
  assert_string_equal(entries[0].device, "");
  assert_int_equal(parse("cpu,opencl:Tesla V100:2", entries, &count, report), HX_STATUS_OK);
  assert_string_equal(entries[1].name, "opencl");
  assert_string_equal(entries[1].device, "Tesla V100:2");
  hx_report_release(report);
}

static void list_refuses_what_it_cannot_mean(void **state) {
  (void)state;
  static const struct {
    const char *list, *piece;
  } rows[] = {{"", "name is missing"},
              {"cpu,", "name is missing"},
              {",cpu", "name is missing"},
              {":1", "name is missing"},
              {"cpu:", "1 to 4 digits"},
              {"cpu:12345", "1 to 4 digits"},
              {"cpu:-1", "digits only"},
              {"cpu:1x", "digits only"},
              {"cpu:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "at most 63 bytes here"},
              {"cpu,cpu:1", "named twice"},
              {"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "more than 16"},
              {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "at most 63 bytes"}};
  hx_backend_entry_t entries[HX_BACKEND_ENTRIES_MAX];
  hx_report_t *report = hx_report_create();
  size_t count;
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    assert_int_equal(parse(rows[i].list, entries, &count, report), HX_STATUS_INVALID);
    assert_int_equal(hx_report_count(report), 1);
    assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_INVALID_ARGUMENT);
    if (strstr(hx_report_get(report, 0)->text, rows[i].piece) == NULL) fail_msg("%s", hx_report_get(report, 0)->text);
  }
  hx_report_release(report);
}

static void create_says_where_it_looked(void **state) {
  (void)state;
  char directory[] = "/tmp/heliox-backend-XXXXXX";
  assert_non_null(mkdtemp(directory));
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  const hx_plugins_options_t options = {.path = directory, .only_path = true};
  assert_int_equal(hx_plugins_discover(&options, &plugins, report), HX_STATUS_OK);
  hx_report_clear(report);
  assert_int_equal(hx_backend_create(plugins, "cpu", &backend, report), HX_STATUS_NOT_FOUND);
  assert_null(backend);
  assert_int_equal(hx_report_count(report), 1);
  const hx_fault_t *fault = hx_report_get(report, 0);
  assert_int_equal(fault->code, HX_CODE_BACKEND);
  assert_non_null(strstr(fault->text, "plugin cpu is not installed; searched:"));
  assert_non_null(strstr(fault->text, directory));
  assert_int_equal(hx_backend_create(plugins, NULL, &backend, report), HX_STATUS_INVALID);
  hx_plugins_release(plugins);
  hx_report_release(report);
  remove(directory);
}

static void create_gives_the_record_of_a_refused_plugin(void **state) {
  (void)state;
  char directory[] = "/tmp/heliox-backend-XXXXXX", path[64];
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/broken.json", directory);
  FILE *file = fopen(path, "w");
  fputs("{\"manifest_version\": 1, \"id\": \"org.example.broken\", \"name\": \"broken\"}", file);
  fclose(file);
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  const hx_plugins_options_t options = {.path = directory, .only_path = true};
  assert_int_equal(hx_plugins_discover(&options, &plugins, report), HX_STATUS_OK);
  hx_report_clear(report);
  assert_int_equal(hx_backend_create(plugins, "broken", &backend, report), HX_STATUS_NOT_FOUND);
  const hx_fault_t *fault = hx_report_get(report, 0);
  assert_non_null(strstr(fault->text, "plugin broken is not usable"));
  assert_non_null(strstr(fault->found, "refused org.example.broken"));
  assert_non_null(strstr(fault->found, "manifest-schema"));
  hx_plugins_release(plugins);
  hx_report_release(report);
  remove(path);
  remove(directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(list_reads_names_and_indices), cmocka_unit_test(list_refuses_what_it_cannot_mean),
      cmocka_unit_test(create_says_where_it_looked), cmocka_unit_test(create_gives_the_record_of_a_refused_plugin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
