// SPDX-License-Identifier: Apache-2.0
// Wrong input at the command line: each case gives its code, exit status 1 or 3, and no partial output.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/command.h"

static char root[] = "/tmp/heliox-wrong.XXXXXX";
static command_t last;

// A program at n12-d1-s30 with one input x and one output y: a body from %x to %y, and the type of %y.
#define X_TYPE                                                                                                      \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^30\", primes = [0, 1], basis = Q, domain = " \
  "ntt, repr = standard, slots = 2048>"
#define PROGRAM(body_, result_)                                                                                      \
  "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " X_TYPE "):\n" body_ "\n\"func.return\"(%y) : (" result_ \
  ") -> ()\n}) {sym_name = \"main\", function_type = (" X_TYPE ") -> (" result_                                      \
  "), arg_attrs = [{heliox.name = \"x\", heliox.role = "                                                             \
  "\"ciphertext\"}], res_attrs = [{heliox.name = \"y\", heliox.role = \"ciphertext\"}]} : () -> ()\n}) "             \
  "{heliox.version = 1 : i64, "                                                                                      \
  "heliox.params = \"n12-d1-s30\"} : () -> ()\n"
#define CT "!ckks.ciphertext<>"

static void run(const char *line) { command_run(&last, root, "LC_ALL=C", line); }

static void expect(int exit_code, const char *code, const char *part) {
  char tag[64];
  snprintf(tag, sizeof tag, "[%s]", code);
  if (last.exit_code != exit_code || strstr(last.errors, tag) == NULL || strstr(last.errors, part) == NULL) {
    fail_msg("expected exit %d, %s and '%s'; found exit %d and: %s%s", exit_code, tag, part, last.exit_code,
             last.errors, last.output);
  }
  static command_t listing;
  command_run(&listing, root, "LC_ALL=C", "ls -A | grep -E '^out' || true");
  assert_string_equal(listing.output, "");  // neither an output nor a temporary file was left
}

static int set_up(void **state) {
  (void)state;
  if (mkdtemp(root) == NULL) return 1;
  command_write(root, "rotate.mlir", PROGRAM("%y = \"ckks.rotate\"(%x) {step = 1 : i64} : (" X_TYPE ") -> " CT, CT));
  command_write(root, "double.mlir", PROGRAM("%y = \"ckks.add\"(%x, %x) : (" X_TYPE ", " X_TYPE ") -> " CT, CT));
  command_write(root, "numbers.csv", "1\n2\n3\n");
  run("$H keygen --for rotate.mlir -o keys -q && $H keygen --for rotate.mlir -o other -q && $H keygen --params "
      "n13-d3-s40 -o large -q && "
      "$H encrypt --keys keys -i numbers.csv -o x.hx -q && $H encrypt --keys large -i numbers.csv -o large.hx -q && "
      "$H encode --params n12-d1-s30 -i numbers.csv -o p.hx -q");
  if (last.exit_code != 0) fprintf(stderr, "%s", last.errors);
  return last.exit_code;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

static void good_input_runs_and_decrypts(void **state) {
  (void)state;
  run("$H run double.mlir --keys keys -i x=x.hx -o y=y.hx -q && $H decrypt --keys keys -i y.hx -o y.csv -q && cat "
      "y.csv && rm y.hx y.csv");
  if (last.exit_code != 0) fail_msg("%s", last.errors);
  assert_true(fabs(strtod(last.output, NULL) - 2) < 1e-3);
  run("$H run rotate.mlir --keys keys -i x=x.hx -o y=y.hx -q && $H decrypt --keys keys -i y.hx -o y.csv -q && cat "
      "y.csv && rm y.hx y.csv");
  if (last.exit_code != 0) fail_msg("%s", last.errors);
  assert_true(fabs(strtod(last.output, NULL) - 2) < 1e-2);
}

static void missing_key_is_named_with_the_steps_that_exist(void **state) {
  (void)state;
  command_write(root, "rotate7.mlir", PROGRAM("%y = \"ckks.rotate\"(%x) {step = 7 : i64} : (" X_TYPE ") -> " CT, CT));
  run("$H run rotate7.mlir --keys keys -i x=x.hx -o y=out.hx");
  expect(1, "missing-key", "7");
  run("$H encrypt --keys nothing -i numbers.csv -o out.hx");
  expect(3, "io", "nothing");
}

static void keys_of_another_secret_are_refused(void **state) {
  (void)state;
  run("$H run rotate.mlir --keys other -i x=x.hx -o y=out.hx");
  expect(1, "key-id", "");
  run("$H decrypt --keys other -i x.hx -o out.csv");
  expect(1, "key-id", "");
}

static void other_parameters_are_refused(void **state) {
  (void)state;
  run("$H run rotate.mlir --keys large -i x=x.hx -o y=out.hx");
  expect(3, "params-digest", "n12-d1-s30");
  run("$H decrypt --keys keys -i large.hx -o out.csv");
  expect(3, "params-digest", "large.hx");
}

static void unequal_scales_are_refused_with_both(void **state) {
  (void)state;
  command_write(root, "scales.mlir",
                PROGRAM("%s = \"ckks.mul_scalar\"(%x) {scale = \"2^3\", value = 2.000000e+00 : f64} : (" X_TYPE
                        ") -> " CT "\n%y = \"ckks.add\"(%x, %s) : (" X_TYPE ", " CT ") -> " CT,
                        CT));
  run("$H run scales.mlir --keys keys -i x=x.hx -o y=out.hx");
  expect(3, "scale-mismatch", "2^33");
}

static void no_depth_left_is_refused(void **state) {
  (void)state;
  command_write(
      root, "deep.mlir",
      PROGRAM("%a = \"ckks.rescale\"(%x) : (" X_TYPE ") -> " CT "\n%y = \"ckks.rescale\"(%a) : (" CT ") -> " CT, CT));
  run("$H run deep.mlir --keys keys -i x=x.hx -o y=out.hx");
  expect(3, "no-depth", "rescale");
}

static void too_many_values_and_nan_are_refused_with_numbers(void **state) {
  (void)state;
  run("seq 1 2049 >long.csv; $H encrypt --keys keys -i long.csv -o out.hx");
  expect(3, "length", "2049");
  command_write(root, "nan.csv", "1\nnan\n");
  run("$H encrypt --keys keys -i nan.csv -o out.hx");
  expect(3, "value", "1");
  command_write(root, "empty.csv", "");
  run("$H encrypt --keys keys -i empty.csv -o out.hx");
  expect(3, "length", "empty.csv");
  run("$H encrypt --keys keys -i numbers.csv --slots 3 -o out.hx");
  expect(3, "slots", "3");
}

// Cut in the middle, a changed byte near the end, one in the header, empty.
static const char *const damages[] = {
    "s=$(stat -c %s $F); head -c $((s / 2)) $F >damaged",
    "cp $F damaged; chmod u+w damaged; n=$(($(stat -c %s $F) - 3)); b=$(od -An -tu1 -j $n -N 1 damaged); printf "
    "\"\\\\$(printf %o $((b ^ 1)))\" | dd of=damaged bs=1 seek=$n "
    "conv=notrunc status=none",
    "cp $F damaged; chmod u+w damaged; printf '!' | dd of=damaged bs=1 seek=40 conv=notrunc status=none",
    ": >damaged",
};

static void damaged_files_of_each_kind_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *file, *place, *use;
  } kinds[] = {
      {"x.hx", "", "$H run double.mlir --keys keys -i x=damaged -o y=out.hx"},
      {"x.hx", "", "$H decrypt --keys keys -i damaged -o out.csv"},
      {"p.hx", "", "$H run double.mlir --keys keys -i x=damaged -o y=out.hx"},
      {"keys/params.hx", "bad/params.hx", "$H params show bad/params.hx"},
      {"keys/secret.hx", "bad/secret.hx", "$H decrypt --keys bad -i x.hx -o out.csv"},
      {"keys/public.hx", "bad/public.hx", "$H encrypt --keys bad -i numbers.csv -o out.hx"},
      {"keys/galois.hx", "bad/galois.hx", "$H run rotate.mlir --keys bad -i x=x.hx -o y=out.hx"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    for (size_t d = 0; d < sizeof damages / sizeof *damages; ++d) {
      char line[4096];
      snprintf(line, sizeof line, "F=%s; rm -rf bad damaged; cp -r keys bad; %s; %s%s; chmod 600 bad/*; %s",
               kinds[i].file, damages[d], kinds[i].place[0] == '\0' ? "true" : "cp -f damaged ", kinds[i].place,
               kinds[i].use);
      run(line);
      if (last.exit_code != 3)
        fail_msg("%s, damage %zu: exit %d: %s%s", kinds[i].use, d, last.exit_code, last.errors, last.output);
      if (strstr(last.errors, "error[file-") == NULL) fail_msg("%s, damage %zu: %s", kinds[i].use, d, last.errors);
      assert_false(command_has_file(root, "out.hx"));
      assert_false(command_has_file(root, "out.csv"));
    }
  }
}

static void faults_in_programs_have_line_and_column(void **state) {
  (void)state;
  command_write(root, "syntax.mlir", "\"builtin.module\"() ({\n  \"func.func\"( ({\n}) : () -> ()\n");
  run("$H run syntax.mlir --keys keys -i x=x.hx -o y=out.hx");
  expect(3, "syntax", "syntax.mlir:2:");
  command_write(root, "unknown.mlir", PROGRAM("%y = \"ckks.cube\"(%x) : (" X_TYPE ") -> " CT, CT));
  run("$H run unknown.mlir --keys keys -i x=x.hx -o y=out.hx");
  expect(3, "unknown-operation", "ckks.cube");
  command_write(root, "types.mlir",
                PROGRAM("%y = \"ckks.add\"(%x, %x) : (" X_TYPE ", " X_TYPE ") -> !ckks.ciphertext<depth = 1>",
                        "!ckks.ciphertext<depth = 1>"));
  run("$H run types.mlir --keys keys -i x=x.hx -o y=out.hx");
  expect(3, "type", "depth");
  command_write(root, "custom.mlir", "module {\n  func.func @main() {\n    return\n  }\n}\n");
  run("$H check custom.mlir");
  expect(3, "custom-form", "--mlir-print-op-generic");
}

static void wrong_ports_are_named(void **state) {
  (void)state;
  run("$H run double.mlir --keys keys -o y=out.hx");
  expect(3, "input", "'x'");
  run("$H run double.mlir --keys keys -i z=x.hx -o y=out.hx");
  expect(3, "input", "'z'");
  run("$H run double.mlir --keys keys -i x=x.hx -o q=out.hx");
  expect(3, "input", "'q'");
  run("$H run double.mlir --keys keys -i x=keys/public.hx -o y=out.hx");
  expect(3, "file-kind", "public");
}

static void absent_plugins_are_an_error_that_lists_places(void **state) {
  (void)state;
  run("$H run double.mlir --keys keys --backend fpga -i x=x.hx -o y=out.hx");
  expect(1, "backend", "fpga");
  command_run(&last, root, "HELIOX_PLUGIN_PATH=/nonexistent/plugins", "$H plugins list");
  assert_int_equal(last.exit_code, 0);
  assert_non_null(strstr(last.errors, "/nonexistent/plugins"));
}

static void an_empty_plugin_directory_leaves_no_backend(void **state) {
  (void)state;
  // A copy of the program without its plugins, and a search path that holds none.
  command_run(&last, root,
              "HELIOX_PLUGIN_PATH=none XDG_DATA_DIRS=none XDG_CONFIG_DIRS=none XDG_DATA_HOME=none XDG_CONFIG_HOME=none",
              "mkdir -p none away/bin away/lib && cp \"$H\" away/bin/ && cp -P \"$(dirname "
              "\"$H\")\"/../lib/libheliox.so* away/lib/ && "
              "LD_LIBRARY_PATH=$PWD/away/lib away/bin/heliox run double.mlir --keys keys -i x=x.hx -o y=out.hx");
  expect(1, "backend", "cpu");
  assert_non_null(strstr(last.errors, "none"));  // every place searched is listed
  command_run(&last, root, "HELIOX_PLUGIN_PATH=none XDG_DATA_DIRS=none",
              "LD_LIBRARY_PATH=$PWD/away/lib away/bin/heliox plugins list");
  assert_int_equal(last.exit_code, 0);
  assert_non_null(strstr(last.output, "no plugin found"));
}

static void a_plugin_of_another_abi_is_refused_by_name(void **state) {
  (void)state;
  command_run(&last, root, "HELIOX_PLUGIN_PATH=" HELIOX_BUILD_DIR "/tests/fixtures/installed_newer",
              "$H run double.mlir --keys keys --backend fixture -i x=x.hx -o y=out.hx");
  expect(1, "backend", "abi-range");
  command_run(&last, root, "LC_ALL=C",
              "$H plugins check " HELIOX_BUILD_DIR "/tests/fixtures/installed_newer/fixture_newer.json");
  assert_int_equal(last.exit_code, 1);
  assert_non_null(strstr(last.output, "abi-range"));
}

static void two_implementations_without_a_request_are_ambiguous(void **state) {
  (void)state;
  command_write(root, "turn.mlir", PROGRAM("%y = \"rns.add\"(%x, %x) : (" X_TYPE ", " X_TYPE ") -> " X_TYPE, X_TYPE));
  command_run(&last, root, "HELIOX_PLUGIN_PATH=" HELIOX_BUILD_DIR "/tests/fixtures/installed",
              "$H run turn.mlir --keys keys --backend cpu,fixture -i x=x.hx -o y=out.hx");
  expect(1, "ambiguous", "fixture");
}

static void secret_keys_are_never_replaced_silently(void **state) {
  (void)state;
  run("cp keys/secret.hx before; $H keygen --params n12-d1-s30 -o keys; e=$?; cmp keys/secret.hx before || exit 99; "
      "exit $e");
  expect(1, "file-exists", "secret.hx");
  struct stat facts;
  char path[4096];
  snprintf(path, sizeof path, "%s/keys/secret.hx", root);
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_mode & 0777, 0600);
}

static void usage_faults_exit_with_two(void **state) {
  (void)state;
  static const char *const lines[] = {"$H",
                                      "$H nonsense",
                                      "$H run",
                                      "$H encrypt",
                                      "$H run a b",
                                      "$H keygen --nonsense",
                                      "$H encrypt --keys keys -i numbers.txt -o out.hx",
                                      "$H explain no-such-code",
                                      "$H run double.mlir --keys keys -i x -o y=out.hx",
                                      "$H plugins nonsense"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
    run(lines[i]);
    if (last.exit_code != 2) fail_msg("%s: exit %d: %s", lines[i], last.exit_code, last.errors);
  }
}

static void reports_are_one_json_object(void **state) {
  (void)state;
  static const char *const commands[] = {"version",          "explain",  "explain digest", "plugins list",
                                         "plugins show cpu", "ops ckks", "params list",    "params show n14-d7-s40",
                                         "check double.mlir"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
    char line[256];
    snprintf(line, sizeof line,
             "$H %s --json >report.json && python3 -c 'import json; json.load(open(\"report.json\"))'", commands[i]);
    run(line);
    if (last.exit_code != 0) fail_msg("%s: %s", commands[i], last.errors);
  }
  run("$H run double.mlir --keys keys --json -o y=out.hx");
  assert_int_equal(last.exit_code, 3);
  assert_non_null(strstr(last.output, "\"code\": \"input\""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(good_input_runs_and_decrypts),
      cmocka_unit_test(missing_key_is_named_with_the_steps_that_exist),
      cmocka_unit_test(keys_of_another_secret_are_refused),
      cmocka_unit_test(other_parameters_are_refused),
      cmocka_unit_test(unequal_scales_are_refused_with_both),
      cmocka_unit_test(no_depth_left_is_refused),
      cmocka_unit_test(too_many_values_and_nan_are_refused_with_numbers),
      cmocka_unit_test(damaged_files_of_each_kind_are_refused),
      cmocka_unit_test(faults_in_programs_have_line_and_column),
      cmocka_unit_test(wrong_ports_are_named),
      cmocka_unit_test(absent_plugins_are_an_error_that_lists_places),
      cmocka_unit_test(an_empty_plugin_directory_leaves_no_backend),
      cmocka_unit_test(a_plugin_of_another_abi_is_refused_by_name),
      cmocka_unit_test(two_implementations_without_a_request_are_ambiguous),
      cmocka_unit_test(secret_keys_are_never_replaced_silently),
      cmocka_unit_test(usage_faults_exit_with_two),
      cmocka_unit_test(reports_are_one_json_object),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
