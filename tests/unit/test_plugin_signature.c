// SPDX-License-Identifier: Apache-2.0
// Signatures of manifests, and the keys that are trusted.
#include "core/plugin/signature_file.h"
#include "tests/unit/plugin_fixture.h"

// A signed plugin "good", its key pair "vendor", and an empty trust directory "trust".
static void prepare(place_t *place) {
  install(place, "good", "good");
  assert_int_equal(hx_signing_key_create(in_place(place, "vendor.key"), in_place(place, "vendor.pub"), NULL),
                   HX_STATUS_OK);
  assert_int_equal(hx_manifest_sign(in_place(place, "good.json"), in_place(place, "vendor.key"), NULL), HX_STATUS_OK);
  assert_int_equal(mkdir(in_place(place, "trust"), 0755), 0);
}

static void trust_vendor(place_t *place) {
  size_t size;
  char *bytes = read_bytes(in_place(place, "vendor.pub"), &size);
  write_bytes(in_place(place, "trust/vendor.pub"), bytes, size, 0644);
  hx_free(bytes);
}

static hx_plugins_t *discover_signed(place_t *place, hx_signatures_t policy, hx_report_t *report) {
  hx_plugins_t *plugins = NULL;
  const hx_plugins_options_t options = {.path = in_place(place, "good.json"),
                                        .only_path = true,
                                        .ignore_environment = true,
                                        .signatures = policy,
                                        .trust = in_place(place, "trust")};
  assert_int_equal(hx_plugins_discover(&options, &plugins, report), HX_STATUS_OK);
  assert_int_equal(hx_plugins_count(plugins), 1);
  return plugins;
}

// Refused where required, a warning where asked for, nothing where off.
static void assert_unsigned(place_t *place, const char *piece) {
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = discover_signed(place, HX_SIGNATURES_REQUIRE, report);
  const hx_plugin_record_t *record = hx_plugins_get(plugins, 0);
  if (strstr(record->text, piece) == NULL) print_error("%s\n", record->text);
  assert_int_equal(record->state, HX_PLUGIN_REFUSED);
  assert_int_equal(record->gate, HX_GATE_DIGEST);
  assert_int_equal(record->code, HX_CODE_SIGNATURE);
  assert_non_null(strstr(record->text, piece));
  hx_plugins_release(plugins);
  hx_report_clear(report);
  plugins = discover_signed(place, HX_SIGNATURES_WARN, report);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  bool warned = false;
  for (size_t i = 0; i < hx_report_count(report); ++i)
    warned |= hx_report_get(report, i)->code == HX_CODE_SIGNATURE && strstr(hx_report_get(report, i)->text, piece);
  assert_true(warned);
  hx_plugins_release(plugins);
  hx_report_clear(report);
  plugins = discover_signed(place, HX_SIGNATURES_OFF, report);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  assert_int_equal(hx_report_count(report), 0);
  hx_plugins_release(plugins);
  hx_report_release(report);
}

static void assert_remark(place_t *place, hx_signatures_t policy, const char *piece) {
  const hx_plugins_options_t options = {
      .ignore_environment = true, .signatures = policy, .trust = in_place(place, "trust")};
  hx_plugin_check_t *check = NULL;
  assert_int_equal(hx_plugin_check_with(in_place(place, "good.json"), &options, &check, NULL), HX_STATUS_OK);
  const hx_gate_result_t *results;
  const size_t count = hx_plugin_check_results(check, &results);
  bool said = false;
  for (size_t i = 0; i < count; ++i) {
    assert_int_equal(results[i].code, HX_CODE_NONE);
    said |= results[i].gate == HX_GATE_DIGEST && strstr(results[i].text, piece) != NULL;
  }
  assert_true(said);
  hx_plugin_check_release(check);
}

static void signature_of_a_trusted_key_passes(void **state) {
  place_t *place = *state;
  prepare(place);
  trust_vendor(place);
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = discover_signed(place, HX_SIGNATURES_REQUIRE, report);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  assert_int_equal(hx_report_count(report), 0);
  hx_plugins_release(plugins);
  hx_report_release(report);
  assert_remark(place, HX_SIGNATURES_REQUIRE, "signed by ");
  assert_remark(place, HX_SIGNATURES_OFF, "vendor.pub");
}

static void signature_of_an_unknown_key_is_refused(void **state) {
  place_t *place = *state;
  prepare(place);
  assert_unsigned(place, "is by a key that is not trusted here");
}

static void absent_signature_is_refused(void **state) {
  place_t *place = *state;
  prepare(place);
  trust_vendor(place);
  unlink(in_place(place, "good.json.sig"));
  assert_unsigned(place, "is absent");
  assert_remark(place, HX_SIGNATURES_OFF, "(signatures are not asked for)");
}

static void signature_of_other_bytes_is_refused(void **state) {
  place_t *place = *state;
  prepare(place);
  trust_vendor(place);
  json_t *root = read_json(place, "good");
  json_object_set_new(root, "priority", json_integer(9));
  write_json(place, "good", root);
  json_decref(root);
  assert_unsigned(place, "does not fit the manifest");
}

static void damaged_or_unsafe_signature_is_refused(void **state) {
  place_t *place = *state;
  prepare(place);
  trust_vendor(place);
  size_t size;
  char *bytes = read_bytes(in_place(place, "good.json.sig"), &size);
  write_bytes(in_place(place, "good.json.sig"), bytes, size, 0666);
  assert_unsigned(place, "writable by everybody");
  write_bytes(in_place(place, "good.json.sig"), bytes, size - 1, 0644);
  assert_unsigned(place, "128 hexadecimal digits");
  write_bytes(in_place(place, "good.json.sig"), "", 0, 0644);
  assert_unsigned(place, "does not begin with");
  hx_free(bytes);
}

static void unsafe_keys_are_left_out_with_a_warning(void **state) {
  place_t *place = *state;
  prepare(place);
  trust_vendor(place);
  write_bytes(in_place(place, "trust/other.pub"), "heliox-public-key 1\n", 20, 0644);
  chmod(in_place(place, "trust/vendor.pub"), 0664);
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = discover_signed(place, HX_SIGNATURES_REQUIRE, report);
  assert_int_equal(hx_plugins_get(plugins, 0)->code, HX_CODE_SIGNATURE);
  assert_int_equal(hx_report_count(report), 2);
  for (size_t i = 0; i < 2; ++i) assert_non_null(strstr(hx_report_get(report, i)->text, "is left out"));
  hx_plugins_release(plugins);
  hx_report_release(report);
}

static void user_keys_count_unless_privileged(void **state) {
  place_t *place = *state;
  prepare(place);
  assert_int_equal(mkdir(in_place(place, "heliox"), 0755), 0);
  assert_int_equal(rename(in_place(place, "trust"), in_place(place, "heliox/trust")), 0);
  size_t size;
  char *bytes = read_bytes(in_place(place, "vendor.pub"), &size);
  write_bytes(in_place(place, "heliox/trust/vendor.pub"), bytes, size, 0644);
  hx_free(bytes);
  char *config = getenv("XDG_CONFIG_HOME") == NULL ? NULL : strdup(getenv("XDG_CONFIG_HOME"));
  setenv("XDG_CONFIG_HOME", place->directory, 1);
  setenv("HELIOX_SIGNATURES", "require", 1);
  hx_plugins_options_t options = {.path = in_place(place, "good.json"), .only_path = true};
  hx_plugins_t *plugins = NULL;
  assert_int_equal(hx_plugins_discover(&options, &plugins, NULL), HX_STATUS_OK);
  assert_int_equal(hx_plugins_get(plugins, 0)->state, HX_PLUGIN_USABLE);
  hx_plugins_release(plugins);
  options.signatures = HX_SIGNATURES_REQUIRE;
  hx_process_override_privileged(1);
  assert_int_equal(hx_plugins_discover(&options, &plugins, NULL), HX_STATUS_OK);
  hx_process_override_privileged(-1);
  assert_int_equal(hx_plugins_get(plugins, 0)->code, HX_CODE_SIGNATURE);
  hx_plugins_release(plugins);
  setenv("HELIOX_SIGNATURES", "maybe", 1);
  options.signatures = HX_SIGNATURES_DEFAULT;
  assert_int_equal(hx_plugins_discover(&options, &plugins, NULL), HX_STATUS_INVALID);
  unsetenv("HELIOX_SIGNATURES");
  unsetenv("XDG_CONFIG_HOME");
  if (config != NULL) setenv("XDG_CONFIG_HOME", config, 1);
  free(config);
}

static void keys_are_secret_and_never_replaced(void **state) {
  place_t *place = *state;
  struct stat facts;
  prepare(place);
  assert_int_equal(stat(in_place(place, "vendor.key"), &facts), 0);
  assert_int_equal(facts.st_mode & 07777u, 0600);
  assert_int_equal(hx_signing_key_create(in_place(place, "vendor.key"), in_place(place, "vendor.pub"), NULL),
                   HX_STATUS_EXISTS);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_manifest_sign(in_place(place, "good.json"), in_place(place, "vendor.pub"), report),
                   HX_STATUS_CORRUPT);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "is no signing key"));
  hx_report_release(report);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, make_place, remove_place)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(signature_of_a_trusted_key_passes),
      CASE(signature_of_an_unknown_key_is_refused),
      CASE(absent_signature_is_refused),
      CASE(signature_of_other_bytes_is_refused),
      CASE(damaged_or_unsafe_signature_is_refused),
      CASE(unsafe_keys_are_left_out_with_a_warning),
      CASE(user_keys_count_unless_privileged),
      CASE(keys_are_secret_and_never_replaced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
