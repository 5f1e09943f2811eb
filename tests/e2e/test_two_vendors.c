// SPDX-License-Identifier: Apache-2.0
// Two plugins of different vendors on one machine, cpu and the template's primitive tier: each by its name gives the
// same file, byte for byte; both in one backend are ambiguous; a wrong one is named by diff. Nothing is rebuilt.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/command.h"

#define VENDORS HELIOX_BUILD_DIR "/tests/sdk/"

static const char *const environment =
    "LC_ALL=C HELIOX_NUM_THREADS=2 HELIOX_PLUGIN_PATH='" VENDORS "primitives:" VENDORS "flipped'";
static char root[] = "/tmp/heliox-vendors.XXXXXX";
static command_t last;

static void run(const char *line) { command_run(&last, root, environment, line); }

static void expect(int exit_code, const char *part) { command_expect(&last, exit_code, part); }

// The demo's own files: program, keys, encrypted samples, weights.
static int set_up(void **state) {
  (void)state;
  if (mkdtemp(root) == NULL) return 1;
  run("$H demo --keep files -q");
  if (last.exit_code != 0) fprintf(stderr, "%s", last.errors);
  return last.exit_code;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

#define RUN_LINE \
  "cd files/server && $H run program.mlir --keys keys -i x=x.hx --materials weights=weights.csv -q --backend "

static void vendors_give_equal_files(void **state) {
  (void)state;
  run(RUN_LINE "cpu -o score=../../cpu.hx");
  expect(0, "");
  run(RUN_LINE "primitives -o score=../../primitives.hx");
  expect(0, "");
  run("cmp cpu.hx primitives.hx && echo alike");
  expect(0, "alike");
  run(RUN_LINE "flipped -o score=../../flipped.hx");
  expect(0, "");
  run("cmp cpu.hx flipped.hx");
  expect(1, "differ");
}

#define X_TYPE                                                                                                      \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^30\", primes = [0, 1], basis = Q, domain = " \
  "ntt, repr = standard, slots = 2048>"

// One primitive operation, which both have; whole operations cpu alone has.
static const char twice[] =
    "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " X_TYPE "):\n%y = \"rns.add\"(%x, %x) : (" X_TYPE
    ", " X_TYPE ") -> " X_TYPE "\n\"func.return\"(%y) : (" X_TYPE
    ") -> ()\n}) {sym_name = \"main\", "
    "function_type = (" X_TYPE ") -> (" X_TYPE
    "), arg_attrs = [{heliox.name = \"x\", heliox.role = "
    "\"ciphertext\"}], res_attrs = [{heliox.name = \"y\", heliox.role = \"ciphertext\"}]} : () -> ()\n}) "
    "{heliox.version = 1 : i64, heliox.params = \"n12-d1-s30\"} : () -> ()\n";

static void vendors_are_ambiguous_together(void **state) {
  (void)state;
  command_write(root, "twice.mlir", twice);
  command_write(root, "numbers.csv", "1\n2\n");
  run("$H keygen --params n12-d1-s30 -o small -q && $H encrypt --keys small -i numbers.csv -o x.hx -q");
  expect(0, "");
  run("$H run twice.mlir --keys small -i x=x.hx -q --backend cpu,primitives -o y=both.hx");
  expect(1, "[ambiguous]");
  assert_non_null(strstr(last.errors, "cpu/cpu"));
  assert_non_null(strstr(last.errors, "primitives/primitives"));
  assert_false(command_has_file(root, "both.hx"));
}

static void diff_names_the_wrong_operation(void **state) {
  (void)state;
  run("$H diff files/server/program.mlir --backends cpu,primitives");
  expect(0, "equal: ");
  run("$H diff files/server/program.mlir --keys files/server/keys -i x=files/server/x.hx --backends cpu,flipped");
  expect(1, "rns.mul (%xw)");
  assert_non_null(strstr(last.output, "limb 1 "));
  assert_non_null(strstr(last.output, "index 5\n"));
  run("$H diff files/server/program.mlir --backends cpu,flipped --deep --json");
  expect(1, "\"operation\": \"rns.mul\"");
}

static void diff_refuses_bad_arguments(void **state) {
  (void)state;
  run("$H diff files/server/program.mlir --backends cpu");
  expect(2, "two backends");
  run("$H diff files/server/program.mlir --backends cpu,nobody");
  expect(1, "nobody");
  run("$H diff files/server/program.mlir --backends cpu,primitives -i y=files/server/x.hx");
  expect(3, "no input 'y'");
}

static void scaffold_refuses_bad_names(void **state) {
  (void)state;
  run("$H plugins new Wrong");
  expect(2, "no plugin name");
  run("$H plugins new right --id nodots");
  expect(2, "no plugin id");
  run("mkdir full && touch full/x && $H plugins new right --dir full");
  expect(3, "is not empty");
  run("$H plugins new right && grep -rl mydevice right | wc -l");
  expect(0, "0");
  run("$H plugins test nobody");
  expect(1, "no plugin 'nobody'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vendors_give_equal_files), cmocka_unit_test(vendors_are_ambiguous_together),
      cmocka_unit_test(diff_names_the_wrong_operation), cmocka_unit_test(diff_refuses_bad_arguments),
      cmocka_unit_test(scaffold_refuses_bad_names)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
