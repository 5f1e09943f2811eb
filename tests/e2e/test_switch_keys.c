// SPDX-License-Identifier: Apache-2.0
// From one secret to another by files alone, and a material that is a batch of vectors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/e2e/command.h"

static char directory[64];
static command_t command;

// A fresh ciphertext of n13-d3-s40.
#define VALUE                                                                                                    \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3], basis = Q, " \
  "domain = ntt, repr = standard, slots = 4096>"

static void run(const char *line) {
  command_run(&command, directory, "HELIOX_LOG=error", line);
  if (command.exit_code != 0) fail_msg("%s: exit %d: %s%s", line, command.exit_code, command.output, command.errors);
}

static void check_numbers(const char *name, const double *want, size_t count) {
  char path[256], text[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  command_slurp(path, text);
  const char *at = text;
  for (size_t i = 0; i < count; ++i) {
    char *end;
    const double have = strtod(at, &end);
    if (end == at || have < want[i] - 1e-5 || have > want[i] + 1e-5)
      fail_msg("%s: number %zu is not near %g: %s", name, i, want[i], text);
    at = end + strspn(end, ", \n");
  }
}

static void values_go_from_one_secret_to_another(void **state) {
  (void)state;
  run("$H keygen --params n13-d3-s40 -o alice -q && $H keygen --params n13-d3-s40 -o bob -q");
  run("printf '0.5\\n-0.25\\n' >x.csv && $H encrypt --keys alice -i x.csv -o x.hx -q");
  run("$H switchkey --from alice --to bob -o switch.hx");
  if (strstr(command.output, "from key id") == NULL) fail_msg("%s", command.output);
  command_write(directory, "hand.mlir",
                "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " VALUE
                "):\n"
                "%k = \"material.ref\"() {symbol = @hand} : () -> !ckks.key<kind = switch>\n"
                "%y = \"ckks.key_switch\"(%x, %k) : (" VALUE ", !ckks.key<kind = switch>) -> " VALUE
                "\n"
                "\"func.return\"(%y) : (" VALUE
                ") -> ()\n"
                "}) {sym_name = \"main\", function_type = (" VALUE ") -> " VALUE
                "} : () -> ()\n"
                "}) {heliox.version = 1 : i64} : () -> ()\n");
  run("mkdir server && cp bob/params.hx server/");  // no secret, no other key
  command_run(&command, directory, "HELIOX_LOG=error",
              "$H run hand.mlir --keys server -i arg0=x.hx -o result0=y.hx --materials hand=switch.hx");
  if (command.exit_code != 0) fail_msg("%s%s", command.output, command.errors);
  run("$H decrypt --keys bob -i y.hx -o y.csv");
  check_numbers("y.csv", (const double[]){0.5, -0.25}, 2);
  command_run(&command, directory, "HELIOX_LOG=error", "$H decrypt --keys alice -i y.hx -o z.csv");
  assert_int_not_equal(command.exit_code, 0);
  command_run(&command, directory, "HELIOX_LOG=error", "$H switchkey --from alice --to bob -o switch.hx");
  assert_int_not_equal(command.exit_code, 0);  // never replaced silently
  command_run(&command, directory, "HELIOX_LOG=error", "$H switchkey --from alice --to server -o other.hx");
  assert_int_not_equal(command.exit_code, 0);
  if (strstr(command.errors, "secret") == NULL) fail_msg("%s", command.errors);
}

int main(void) {
  snprintf(directory, sizeof directory, "/tmp/heliox-switch-XXXXXX");
  if (mkdtemp(directory) == NULL) return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_go_from_one_secret_to_another)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return command_remove(directory) == 0 ? failed : 1;
}
