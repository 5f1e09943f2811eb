// SPDX-License-Identifier: Apache-2.0
// B61: libraries without the entry point, or of another ABI, are refused from their file, before anything of them runs.
// (A table that is too short where the note was right: test_plugin_load.c, "short".)
#include "tests/unit/plugin_fixture.h"

static void b61_libraries_without_the_entry_point_are_refused_statically(void **state) {
  place_t *place = *state;
  copy_library(place, "other_name", "other_name");
  complete_as(place, "other_name", "fixture");
  assert_refused(place, "other_name", HX_GATE_ELF, HX_CODE_EXPORTS,
                 "does not export heliox_plugin_query; it exports other_plugin_query");
  copy_library(place, "nothing", "nothing");
  complete_as(place, "nothing", "fixture");
  assert_refused(place, "nothing", HX_GATE_ELF, HX_CODE_EXPORTS, "does not export heliox_plugin_query");
}

static void b61_libraries_of_another_abi_are_refused_statically(void **state) {
  place_t *place = *state;
  static const char *const names[] = {"abi_newer", "abi_minor"}, *const ranges[] = {"2.3-2.9", "1.900-1.999"};
  for (size_t i = 0; i < 2; ++i) {
    copy_library(place, names[i], names[i]);
    complete_as(place, names[i], "fixture");
    char text[64];
    snprintf(text, sizeof text, "plugin speaks %s", ranges[i]);
    assert_refused(place, names[i], HX_GATE_NEGOTIATE, HX_CODE_ABI_RANGE, text);
  }
  copy_library(place, "no_note", "no_note");
  describe_by_hand(place, "no_note");
  assert_refused(place, "no_note", HX_GATE_NOTE, HX_CODE_NOTE, "is missing");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(b61_libraries_without_the_entry_point_are_refused_statically, make_place,
                                      remove_place),
      cmocka_unit_test_setup_teardown(b61_libraries_of_another_abi_are_refused_statically, make_place, remove_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
