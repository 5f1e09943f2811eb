// SPDX-License-Identifier: Apache-2.0
// Batches at the command line: files of several vectors are encrypted into one value and come back vector by vector.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "cli/message.h"
#include "tests/e2e/command.h"

static char root[] = "/tmp/heliox-batch.XXXXXX";
static command_t last;

static void run(const char *line) {
  command_run(&last, root, "LC_ALL=C", line);
  if (last.exit_code != 0) fail_msg("%s: exit %d: %s", line, last.exit_code, last.errors);
}

static int set_up(void **state) {
  (void)state;
  if (mkdtemp(root) == NULL) return 1;
  command_write(root, "real.csv", "1,2,3\n-4,5.5,6\n");
  command_write(root, "complex.json", "[[[1, -2], 3, 0], [4, 5, [0, 6]]]");
  run("$H keygen --params n12-d1-s30 -o keys -q");
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

static void check_file(const char *name, bool is_complex, const double *want) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", root, name);
  cli_message_t message = {0};
  assert_int_equal(cli_message_read(path, &message, NULL), HX_STATUS_OK);
  assert_int_equal(message.items, 2);
  assert_int_equal(message.count, 3);
  assert_int_equal(message.is_complex, is_complex);
  for (size_t i = 0; i < (is_complex ? 12u : 6u); ++i) assert_true(fabs(message.values[i] - want[i]) < 1e-3);
  cli_message_free(&message);
}

static void batches_come_back_vector_by_vector(void **state) {
  (void)state;
  static const double real[] = {1, 2, 3, -4, 5.5, 6};
  static const double both[] = {1, -2, 3, 0, 0, 0, 4, 0, 5, 0, 0, 6};
  run("$H encrypt --keys keys -i real.csv -o r.hx -q && $H encrypt --keys keys -i complex.json -o c.hx --symmetric -q");
  run("$H decrypt --keys keys -i r.hx -o r.csv -q && $H decrypt --keys keys -i r.hx -o r.npy -q && "
      "$H decrypt --keys keys -i r.hx -o r.json -q && $H decrypt --keys keys -i c.hx -o c.csv -q");
  check_file("r.csv", false, real);
  check_file("r.npy", false, real);
  check_file("r.json", false, real);
  check_file("c.csv", true, both);
  run("$H encrypt --keys keys -i r.npy -o again.hx -q && $H decrypt --keys keys -i again.hx -o again.json -q");
  check_file("again.json", false, real);
}

static void ragged_batches_are_refused(void **state) {
  (void)state;
  command_write(root, "ragged.csv", "1,2\n3\n");
  command_run(&last, root, "LC_ALL=C", "$H encrypt --keys keys -i ragged.csv -o none.hx -q");
  assert_int_not_equal(last.exit_code, 0);
  assert_non_null(strstr(last.errors, "[text-format]"));
  command_run(&last, root, "LC_ALL=C", "ls none.hx");
  assert_int_not_equal(last.exit_code, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches_come_back_vector_by_vector),
      cmocka_unit_test(ragged_batches_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
