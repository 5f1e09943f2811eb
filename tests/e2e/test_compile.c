// SPDX-License-Identifier: Apache-2.0
// compile, check and import at the command line: passes and what they chose, bisection, the plan report, HEIR.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/command.h"

static char root[] = "/tmp/heliox-compile.XXXXXX";
static command_t last;

#define X_TYPE                                                                                                      \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^30\", primes = [0, 1], basis = Q, domain = " \
  "ntt, repr = standard, slots = 2048>"
#define CT "!ckks.ciphertext<>"

// y = rot(x, 1) + rot(x, 2) + rot(-x, 3): sums of rotations that merge.
static const char program[] =
    "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " X_TYPE
    "):\n%a = \"ckks.rotate\"(%x) {step = 1 : i64} : (" X_TYPE ") -> " CT
    "\n%b = \"ckks.rotate\"(%x) {step = 2 : i64} : (" X_TYPE ") -> " CT "\n%n = \"ckks.neg\"(%x) : (" X_TYPE ") -> " CT
    "\n%c = \"ckks.rotate\"(%n) {step = 3 : i64} : (" CT ") -> " CT "\n%d = \"ckks.add\"(%a, %b) : (" CT ", " CT
    ") -> " CT "\n%y = \"ckks.add\"(%d, %c) : (" CT ", " CT ") -> " CT "\n\"func.return\"(%y) : (" CT
    ") -> ()\n}) {sym_name = \"main\", function_type = (" X_TYPE ") -> (" CT
    "), arg_attrs = [{heliox.name = \"x\"}], res_attrs = [{heliox.name = \"y\"}]} : () -> ()\n}) "
    "{heliox.version = 1 : i64, heliox.params = \"n12-d1-s30\"} : () -> ()\n";

static void run(const char *line) { command_run(&last, root, "LC_ALL=C", line); }

static void expect(int exit_code, const char *stream, const char *part) {
  if (last.exit_code != exit_code || strstr(stream, part) == NULL)
    fail_msg("expected exit %d and '%s'; found exit %d and: %s%s", exit_code, part, last.exit_code, last.errors,
             last.output);
}

static int set_up(void **state) {
  (void)state;
  if (mkdtemp(root) == NULL) return 1;
  command_write(root, "p.mlir", program);
  command_write(root, "x.csv", "1\n2\n3\n");
  run("$H keygen --for p.mlir -o keys -q && $H encrypt --keys keys -i x.csv -o x.hx -q");
  return last.exit_code;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

static void compile_lists_and_explains(void **state) {
  (void)state;
  run("$H compile --passes");
  expect(0, last.output, "merge-weighted-sums");
  expect(0, last.output, "other roundings");
  expect(0, last.output, "default: dve,cse,hoist-rotations");
  run("$H compile p.mlir --explain -o out.mlir");
  expect(0, last.errors,
         "hoist-rotations:4:6: ckks.rotate_many: one rotate_many [separate rotations, one rotate_many]");
  run("grep -c rotate_many out.mlir");
  expect(0, last.output, "1");
  run("$H compile p.mlir --pipeline infer-state,merge-weighted-sums --print-after all -o out.mlir");
  expect(0, last.errors, "// after merge-weighted-sums\n");
  expect(0, last.errors, "ckks.rotate_sum");
  run("$H compile p.mlir --pipeline dve,optimise -o never.mlir");
  expect(1, last.errors, "there is no pass 'optimise'");
  assert_false(command_has_file(root, "never.mlir"));
  run("$H compile");
  expect(2, last.errors, "needs a program");
}

static void compile_bisects(void **state) {
  (void)state;
  run("$H compile p.mlir --bisect --keys keys -i x=x.hx --pipeline dve,cse,infer-state,merge-weighted-sums,cse");
  expect(1, last.output, "pass 4, merge-weighted-sums: the bits of output y differ");
  run("$H compile p.mlir --bisect --keys keys -i x=x.hx --pipeline dve,cse,infer-state,merge-weighted-sums,cse "
      "--tolerance 1e-2");
  expect(0, last.output, "no pass of");
  run("$H compile p.mlir --bisect --keys keys --pipeline dve");
  expect(3, last.errors, "input 'x' is missing");
}

static void compile_tunes_and_check_tells_the_time(void **state) {
  (void)state;
  run("$H compile p.mlir --tune cpu --costs costs.json -q -o out.mlir");
  expect(0, last.errors, "");
  run("$H check p.mlir --costs costs.json");
  expect(0, last.output, "ms measured for 5 of 5 operations");
  expect(0, last.output, "keys      rotations 1, 2, 3");
  expect(0, last.output, "3 key switches (2 ModUp, 3 ModDown)");
  run("$H check p.mlir --json | grep -c '\"key_switches\": 3'");
  expect(0, last.output, "1");
}

static void import_reads_heir(void **state) {
  (void)state;
  run("$H import " HELIOX_SOURCE_DIR "/examples/heir/dot.mlir -o dot.mlir --constants numbers -q && ls numbers");
  expect(0, last.output, "constant0.json");
  run("$H check dot.mlir --params n13-d3-s40");
  expect(0, last.output, "keys      rotations 1, 2, 4");
  command_write(root, "custom.mlir", "module { }\n");
  run("$H import custom.mlir -o never.mlir");
  expect(3, last.errors, "generic form");
  assert_false(command_has_file(root, "never.mlir"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compile_lists_and_explains),
      cmocka_unit_test(compile_bisects),
      cmocka_unit_test(compile_tunes_and_check_tells_the_time),
      cmocka_unit_test(import_reads_heir),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
