// SPDX-License-Identifier: Apache-2.0
// explain: every code has a cause and a remedy; usage errors are told as all other faults are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "heliox/base.h"
#include "tests/e2e/command.h"

static char directory[64];
static command_t command;

static int enter(void **state) {
  (void)state;
  snprintf(directory, sizeof directory, "/tmp/heliox-explain.XXXXXX");
  return mkdtemp(directory) == NULL ? 1 : 0;
}

static int leave(void **state) {
  (void)state;
  return command_remove(directory);
}

static void run(const char *line) { command_run(&command, directory, "LC_ALL=C", line); }

static json_t *read_answer(void) {
  json_error_t error;
  json_t *root = json_loads(command.output, 0, &error);
  if (root == NULL) fail_msg("no JSON: %s", command.output);
  return root;
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  if (text == NULL) fail_msg("no text '%s'", key);
  return text;
}

static void explain_lists_every_code_with_cause_and_remedy(void **state) {
  (void)state;
  run("$H explain --json");
  assert_int_equal(command.exit_code, 0);
  json_t *root = read_answer();
  const json_t *codes = json_object_get(root, "codes");
  assert_int_equal(json_array_size(codes), HX_CODE_COUNT - 1);  // all but "ok"
  for (int code = HX_CODE_NONE + 1; code < HX_CODE_COUNT; ++code) {
    const hx_code_info_t *info = hx_code_info((hx_code_t)code);
    const json_t *row = json_array_get(codes, (size_t)code - 1);
    assert_string_equal(text_of(row, "code"), info->word);
    assert_true(strlen(text_of(row, "meaning")) > 10);
    assert_true(strlen(text_of(row, "remedy")) > 10);
    assert_string_not_equal(text_of(row, "meaning"), text_of(row, "remedy"));
  }
  json_decref(root);
}

static void explain_tells_each_code_in_words(void **state) {
  (void)state;
  for (int code = HX_CODE_NONE + 1; code < HX_CODE_COUNT; ++code) {
    const hx_code_info_t *info = hx_code_info((hx_code_t)code);
    char line[128];
    snprintf(line, sizeof line, "$H explain %s", info->word);
    run(line);
    command_expect(&command, 0, info->word);
    command_expect(&command, 0, info->meaning);
    command_expect(&command, 0, info->remedy);
  }
}

static void usage_errors_name_what_was_found_and_what_helps(void **state) {
  (void)state;
  static const struct {
    const char *line, *text, *hint;
  } cases[] = {
      {"$H explain nonsense", "error[usage]: no code 'nonsense'", "hint:"},
      {"$H nonsense", "error[usage]: no command 'nonsense'", "'heliox --help' lists all"},
      {"$H plugins nonsense", "error[usage]: no command 'plugins nonsense'", "plugins list "},
      {"$H run --nonsense", "error[usage]: no option '--nonsense' of 'heliox run'", "'heliox run --help' lists"},
      {"$H run -Z", "error[usage]: no option '-Z' of 'heliox run'", "hint:"},
      {"$H run -i", "error[usage]: option '-i' needs a value", "hint:"},
      {"$H run --keys", "error[usage]: option '--keys' needs a value", "hint:"},
      {"$H version --json=yes", "error[usage]: option '--json' takes no value", "hint:"},
      {"$H run a b", "error[usage]: 'heliox run' takes PROGRAM|BUNDLE, found 2 arguments", "see 'heliox run --help'"},
      {"$H version extra", "error[usage]: 'heliox version' takes no argument, found 1 argument", "hint:"},
      {"$H encrypt -i x.csv -o x.hx", "error[usage]: 'heliox encrypt' needs --keys", "see 'heliox encrypt --help'"},
      {"$H version --threads many", "error[usage]: --threads takes a whole number below 1025, found 'many'", "hint:"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    run(cases[i].line);
    command_expect(&command, 2, cases[i].text);
    command_expect(&command, 2, cases[i].hint);
    assert_string_equal(command.output, "");
  }
  run("$H run --nonsense --json || $H --json nonsense");  // as JSON only where that was understood before
  assert_int_equal(command.exit_code, 2);
  run("$H version --json extra");
  assert_int_equal(command.exit_code, 2);
  json_t *root = read_answer();
  const json_t *fault = json_array_get(json_object_get(root, "faults"), 0);
  assert_string_equal(text_of(fault, "code"), "usage");
  assert_true(strlen(text_of(fault, "hint")) > 0);
  json_decref(root);
}

// What a fault itself does not say, its code does.
static void every_error_says_what_to_do(void **state) {
  (void)state;
  run("$H params show nowhere.hx");
  command_expect(&command, 3, "heliox: error[io]: ");
  command_expect(&command, 3, hx_code_info(HX_CODE_IO)->remedy);
  run("printf 'x' > bad.csv && $H precision bad.csv bad.csv");
  command_expect(&command, 3, "heliox: error[text-format]: bad.csv:1:1: ");
  // Without the SDK beside it.
  run("mkdir -p away/bin away/lib && cp \"$H\" away/bin/ && cp -P \"$(dirname \"$H\")\"/../lib/libheliox.so* away/lib/ "
      "&& "
      "LD_LIBRARY_PATH=$PWD/away/lib away/bin/heliox plugins new mine");
  command_expect(&command, 3, "the template plugin is not installed here");
  command_expect(&command, 3, "  hint:     install the SDK (package heliox-dev)");
  run("LD_LIBRARY_PATH=$PWD/away/lib away/bin/heliox plugins test cpu.json || true; "
      "touch cpu.json; LD_LIBRARY_PATH=$PWD/away/lib away/bin/heliox plugins test cpu.json");
  command_expect(&command, 3, "install it again as a whole");
  command_expect(&command, 3, "  hint:     ");
}

#define VALUE                                                                                                       \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^30\", primes = [0, 1], basis = Q, domain = " \
  "ntt, repr = standard, slots = 2048>"

static void results_that_differ_are_told_as_such(void **state) {
  (void)state;
  command_write(
      directory, "add.mlir",
      "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " VALUE "):\n%y = \"ckks.add\"(%x, %x) : (" VALUE
      ", " VALUE ") -> " VALUE "\n\"func.return\"(%y) : (" VALUE
      ") -> ()\n}) {sym_name = \"main\", function_type = (" VALUE ") -> (" VALUE
      "), arg_attrs = [{heliox.name = \"x\", heliox.role = \"ciphertext\"}], res_attrs = [{heliox.name = \"y\", "
      "heliox.role = \"ciphertext\"}]} : () -> ()\n}) {heliox.version = 1 : i64, heliox.params = "
      "\"n12-d1-s30\"} : () -> ()\n");
  run("printf '1\\n2\\n' > x.csv && $H keygen --params n12-d1-s30 -o k -q && $H encrypt --keys k -i x.csv -o x.hx -q "
      "&& "
      "$H encrypt --keys k -i x.csv -o y.hx -q && $H run add.mlir --keys k -i x=x.hx -o y=out.hx --record r.json -q");
  if (command.exit_code != 0) fail_msg("%s", command.errors);
  run("$H run add.mlir --keys k -i x=y.hx -o y=out2.hx --replay r.json");  // the same numbers, encrypted anew
  command_expect(&command, 1, "error[differs]: ");
  command_expect(&command, 1, "  hint:     ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(explain_lists_every_code_with_cause_and_remedy, enter, leave),
      cmocka_unit_test_setup_teardown(explain_tells_each_code_in_words, enter, leave),
      cmocka_unit_test_setup_teardown(usage_errors_name_what_was_found_and_what_helps, enter, leave),
      cmocka_unit_test_setup_teardown(every_error_says_what_to_do, enter, leave),
      cmocka_unit_test_setup_teardown(results_that_differ_are_told_as_such, enter, leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
