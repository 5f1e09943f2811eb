// SPDX-License-Identifier: Apache-2.0
// The demo and the example of the README, as a person runs them.
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/command.h"

static char root[] = "/tmp/heliox-demo-test.XXXXXX";
static command_t last;

static int set_up(void **state) {
  (void)state;
  return mkdtemp(root) == NULL;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

static void demo_agrees_with_plain_computation_on_every_sample(void **state) {
  (void)state;
  command_run(&last, root, "LC_ALL=C", "$H demo --json --keep files");
  if (last.exit_code != 0) fail_msg("%s%s", last.errors, last.output);
  json_t *report = json_loads(last.output, 0, NULL);
  assert_non_null(report);
  const json_int_t samples = json_integer_value(json_object_get(report, "samples"));
  assert_true(samples >= 140);
  assert_int_equal(json_integer_value(json_object_get(report, "decided_alike")), samples);
  assert_true(json_number_value(json_object_get(report, "accuracy_polynomial")) >= 97);
  assert_true(json_number_value(json_object_get(report, "accuracy_sigmoid")) >= 97);
  assert_true(json_number_value(json_object_get(report, "largest_difference")) < 1e-4);
  assert_true(json_number_value(json_object_get(report, "largest_z")) <
              json_number_value(json_object_get(report, "range")));
  json_decref(report);
}

static void server_of_the_demo_holds_no_secret(void **state) {
  (void)state;
  assert_true(command_has_file(root, "files/client/keys/secret.hx"));
  command_run(&last, root, "LC_ALL=C", "find files/server -name '*secret*' -o -name '*public*'");
  assert_string_equal(last.output, "");
  // And it runs again from what it has alone.
  command_run(&last, root, "LC_ALL=C",
              "cd files/server && $H run program.mlir --keys keys -i x=x.hx -o score=again.hx --materials "
              "weights=weights.csv -q && cmp again.hx score.hx");
  if (last.exit_code != 0) fail_msg("%s%s", last.errors, last.output);
}

static void demo_leaves_nothing_behind(void **state) {
  (void)state;
  char environment[128];
  snprintf(environment, sizeof environment, "TMPDIR='%s'", root);
  command_run(&last, root, environment, "$H demo -q >/dev/null && ls -d heliox-demo.* 2>/dev/null | wc -l");
  assert_string_equal(last.output, "0\n");
}

static void example_of_the_readme_prints_its_numbers(void **state) {
  (void)state;
  command_run(&last, root, "LC_ALL=C", "\"$(dirname \"$H\")/quickstart\"");
  if (last.exit_code != 0) fail_msg("%s%s", last.errors, last.output);
  assert_string_equal(last.output, "1.5000\n2.0000\n21.0000\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(demo_agrees_with_plain_computation_on_every_sample),
      cmocka_unit_test(server_of_the_demo_holds_no_secret),
      cmocka_unit_test(demo_leaves_nothing_behind),
      cmocka_unit_test(example_of_the_readme_prints_its_numbers),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
