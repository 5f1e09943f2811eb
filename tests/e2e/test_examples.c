// SPDX-License-Identifier: Apache-2.0
// The worked examples in C, as a person runs them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
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

// ------------------------------------------------------------------ the shorter ones

#define WITH_PLUGINS "HELIOX_PLUGIN_PATH='" HELIOX_BUILD_DIR "/lib/heliox/plugins'"
#define EXAMPLE(name_) "\"$(dirname \"$H\")/" name_ "\" "

static void expect_output(const char *command, const char *expected) {
  command_run(&last, root, WITH_PLUGINS, command);
  if (last.exit_code != 0) fail_msg("%s%s", last.errors, last.output);
  if (strstr(last.output, expected) == NULL) fail_msg("expected '%s', found '%s'", expected, last.output);
}

static void program_is_built_linked_and_run_again(void **state) {
  (void)state;
  expect_output(EXAMPLE("program"), "result -1.5000 1.2500 4.5000\n3 calls a run, 3 runs\n");
}

static void callable_gives_the_bits_of_the_eager_function(void **state) {
  (void)state;
  expect_output(EXAMPLE("callable"), "callable   4.0000 -1.2500 0.8125\n1 specialization");
  assert_non_null(strstr(last.output, "equal bits: yes"));
}

static void client_and_server_share_files_and_no_secret(void **state) {
  (void)state;
  expect_output(EXAMPLE("client_server") "keygen client server && " EXAMPLE(
                    "client_server") "encrypt client x.hx 1 2 -0.5 && " EXAMPLE("client_server") "serve server x.hx r.hx && " EXAMPLE("client_server") "decrypt client r.hx 3",
                "2.0000\n6.0000\n-0.2500\n");
  assert_true(command_has_file(root, "client/secret.hx"));
  assert_false(command_has_file(root, "server/secret.hx"));
  command_run(&last, root, WITH_PLUGINS, EXAMPLE("client_server") "decrypt server r.hx 3");
  assert_int_equal(last.exit_code, 1);
  assert_non_null(strstr(last.errors, "decryption needs the secret key"));
}

static void own_step_of_linking_sees_and_pins(void **state) {
  (void)state;
  expect_output(EXAMPLE("custom_pass") "'" HELIOX_SOURCE_DIR "/examples/wdbc.mlir'", "6 steps, 1 products, linked\n");
}

static void statistics_are_those_of_the_column(void **state) {
  (void)state;
  double mean[2], variance[2];
  expect_output(EXAMPLE("statistics") "'" DATA "wdbc.csv' 5", "569 numbers\n");
  assert_int_equal(
      sscanf(last.output, "569 numbers\nmean %lf encrypted, %lf in the clear\nvariance %lf encrypted, %lf in the clear",
             &mean[0], &mean[1], &variance[0], &variance[1]),
      4);
  assert_true(fabs(mean[0] - mean[1]) <= 1e-4 * fabs(mean[1]));
  assert_true(fabs(variance[0] - variance[1]) <= 1e-3 * fabs(variance[1]));
  command_write(root, "words.csv", "a,b\nc,d\n");
  command_run(&last, root, WITH_PLUGINS, EXAMPLE("statistics") "words.csv 1");
  assert_int_equal(last.exit_code, 1);
  assert_non_null(strstr(last.errors, "words.csv has no two numbers in column 1"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(program_is_built_linked_and_run_again),
      cmocka_unit_test(callable_gives_the_bits_of_the_eager_function),
      cmocka_unit_test(client_and_server_share_files_and_no_secret),
      cmocka_unit_test(own_step_of_linking_sees_and_pins),
      cmocka_unit_test(statistics_are_those_of_the_column),
      cmocka_unit_test(digits_are_recognised_as_well_as_in_the_clear),
      cmocka_unit_test(digits_say_what_is_wrong_with_their_files),
      cmocka_unit_test(training_writes_the_model_of_the_repository),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
