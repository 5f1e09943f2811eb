// SPDX-License-Identifier: Apache-2.0
// The worked examples in C, as a person runs them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/command.h"

static char root[] = "/tmp/heliox-examples-test.XXXXXX";
static command_t last;

static int set_up(void **state) {
  (void)state;
  return mkdtemp(root) == NULL;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

#define DATA HELIOX_SOURCE_DIR "/examples/data/"

static void digits_are_recognised_as_well_as_in_the_clear(void **state) {
  (void)state;
  command_run(&last, root, "HELIOX_PLUGIN_PATH='" HELIOX_BUILD_DIR "/lib/heliox/plugins'",
              "\"$(dirname \"$H\")/digits\" 12 '" DATA "digits.csv' '" DATA "digits-model.csv'");
  if (last.exit_code != 0) fail_msg("%s%s", last.errors, last.output);
  int keys = 0, images = 0, right = 0, plain = 0;
  assert_int_equal(sscanf(last.output, "%d rotation keys, %d encrypted images\nright: %d encrypted, %d in the clear",
                          &keys, &images, &right, &plain),
                   4);
  assert_int_equal(images, 12);
  assert_true(plain >= 11);
  assert_true(right * 100 >= plain * 95);
}

static void digits_say_what_is_wrong_with_their_files(void **state) {
  (void)state;
  command_write(root, "short.csv", "1,2,3\n");
  command_run(&last, root, "LC_ALL=C", "\"$(dirname \"$H\")/digits\" 1 short.csv '" DATA "digits-model.csv'");
  assert_int_equal(last.exit_code, 1);
  assert_non_null(strstr(last.errors, "short.csv is not the expected table"));
  command_run(&last, root, "LC_ALL=C", "\"$(dirname \"$H\")/digits\" 1 '" DATA "digits.csv' short.csv");
  assert_int_equal(last.exit_code, 1);
  assert_non_null(strstr(last.errors, "short.csv has 1 numbers, the network"));
}

// The same network from the same data.
static void training_writes_the_model_of_the_repository(void **state) {
  (void)state;
  command_run(&last, root, "LC_ALL=C",
              "\"$(dirname \"$H\")/train_digits\" '" DATA
              "digits.csv' model.csv && \"$(dirname \"$H\")/digits\" 0 '" DATA "digits.csv' model.csv");
  if (last.exit_code != 0) fail_msg("%s%s", last.errors, last.output);
  assert_true(command_has_file(root, "model.csv"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(digits_are_recognised_as_well_as_in_the_clear),
      cmocka_unit_test(digits_say_what_is_wrong_with_their_files),
      cmocka_unit_test(training_writes_the_model_of_the_repository),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
