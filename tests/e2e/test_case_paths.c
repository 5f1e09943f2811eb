// SPDX-License-Identifier: Apache-2.0
// B59: a mistake in the search path is told, the empty element is nothing, and no other backend steps in.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/e2e/command.h"

static char directory[64];
static command_t command;

static void run(const char *environment, const char *line) { command_run(&command, directory, environment, line); }

static void expect(const char *where, const char *text) {
  if (strstr(where, text) == NULL) fail_msg("\"%s\" is not in \"%s\"", text, where);
}

static void b59_bad_entries_of_the_path_are_named(void **state) {
  (void)state;
  run("HELIOX_PLUGIN_PATH=/nonexistent-plugins", "$H plugins list");
  expect(command.errors, "/nonexistent-plugins");
  expect(command.errors, "search-path");
  command_write(directory, "notes.txt", "no manifest\n");
  run("HELIOX_PLUGIN_PATH=notes.txt", "$H plugins list");
  expect(command.errors, "notes.txt");
}

// An empty element is not the working directory: a manifest that lies there is not found.
static void b59_the_empty_element_is_not_the_working_directory(void **state) {
  (void)state;
  command_write(directory, "stray.json", "{\"schema\": 1}\n");
  run("HELIOX_PLUGIN_PATH=/usr::/usr", "$H plugins list");
  if (strstr(command.output, "stray") != NULL || strstr(command.errors, "stray") != NULL)
    fail_msg("the working directory was searched: %s%s", command.output, command.errors);
  run("HELIOX_PLUGIN_PATH=.", "$H plugins list");  // named, it is
  if (strstr(command.output, "stray") == NULL && strstr(command.errors, "stray") == NULL)
    fail_msg("%s%s", command.output, command.errors);
}

static void a_program_that_is_not_here_is_found_among_those_installed(void **state) {
  (void)state;
  run("LC_ALL=C", "$H check examples/wdbc.mlir");
  assert_int_equal(command.exit_code, 3);
  expect(command.errors, "examples/wdbc.mlir: there is no such file here, but /");
  run("LC_ALL=C", "$H check examples/none.mlir");
  expect(command.errors, "examples/none.mlir: the program cannot be opened: No such file or directory");
}

static void b59_an_absent_backend_ends_the_run(void **state) {
  (void)state;
  run("HELIOX_PLUGIN_PATH=/nonexistent-plugins",
      "$H keygen --params n13-d3-s40 -o keys -q && printf '1\\n2\\n' >x.csv && $H encrypt --keys keys -i x.csv -o x.hx "
      "-q");
  assert_int_equal(command.exit_code, 0);
  command_write(directory, "twice.mlir",
                "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: !ckks.ciphertext<>):\n"
                "%y = \"ckks.add\"(%x, %x) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>\n"
                "\"func.return\"(%y) : (!ckks.ciphertext<>) -> ()\n"
                "}) {sym_name = \"main\", function_type = (!ckks.ciphertext<>) -> !ckks.ciphertext<>} : () -> ()\n"
                "}) {heliox.version = 1 : i64} : () -> ()\n");
  run("HELIOX_PLUGIN_PATH=/nonexistent-plugins",
      "$H run twice.mlir --keys keys --backend vanished -i arg0=x.hx -o result0=y.hx");
  assert_int_equal(command.exit_code, 1);
  expect(command.errors, "plugin vanished is not installed; searched: ");
  expect(command.errors, HELIOX_BUILD_DIR "/lib/heliox/plugins");
  assert_false(command_has_file(directory, "y.hx"));
}

int main(void) {
  snprintf(directory, sizeof directory, "/tmp/heliox-paths-XXXXXX");
  if (mkdtemp(directory) == NULL) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(b59_bad_entries_of_the_path_are_named),
      cmocka_unit_test(b59_the_empty_element_is_not_the_working_directory),
      cmocka_unit_test(a_program_that_is_not_here_is_found_among_those_installed),
      cmocka_unit_test(b59_an_absent_backend_ends_the_run),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return command_remove(directory) == 0 ? failed : 1;
}
