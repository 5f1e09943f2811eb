// SPDX-License-Identifier: Apache-2.0
// doctor: a machine that is fine, and each thing that may be wrong with one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/e2e/command.h"

static char directory[64];
static command_t command;

static int enter(void **state) {
  (void)state;
  snprintf(directory, sizeof directory, "/tmp/heliox-doctor.XXXXXX");
  return mkdtemp(directory) == NULL ? 1 : 0;
}

static int leave(void **state) {
  (void)state;
  return command_remove(directory);
}

// Runs a command line in a home of its own.
static void run(const char *line) {
  char environment[512];
  snprintf(environment, sizeof environment,
           "HOME='%s' XDG_CACHE_HOME='%s/cache' HELIOX_PLUGINS_DISABLE=opencl:cuda:mpi ASAN_OPTIONS=detect_leaks=0",
           directory, directory);
  command_run(&command, directory, environment, line);
}

static void doctor_finds_nothing_wrong_with_a_machine_that_works(void **state) {
  (void)state;
  run("$H doctor");
  command_expect(&command, 0, "nothing is wrong: 0 faults");
  command_expect(&command, 0, "org.heliox.cpu");
  command_expect(&command, 0, "device       ok       cpu:0: ");
  command_expect(&command, 0, "no lockfile");
  command_expect(&command, 0, "signatures of manifests: off");
  run("$H doctor --probe");
  command_expect(&command, 0, "operations give the known answers");
  run("$H doctor -q");
  assert_int_equal(command.exit_code, 0);
}

static void doctor_reports_as_json(void **state) {
  (void)state;
  run("$H doctor --json");
  assert_int_equal(command.exit_code, 0);
  json_error_t error;
  json_t *root = json_loads(command.output, 0, &error);
  assert_non_null(root);
  assert_true(json_is_true(json_object_get(root, "ok")));
  const json_t *findings = json_object_get(root, "findings");
  assert_true(json_array_size(findings) >= 10);
  size_t index;
  const json_t *finding;
  static const char *const areas[] = {"machine", "threads", "environment", "driver", "plugin",
                                      "device",  "policy",  "cache",       "data"};
  bool found[9] = {false};
  json_array_foreach(findings, index, finding) {
    const char *area = json_string_value(json_object_get(finding, "area"));
    const char *state_word = json_string_value(json_object_get(finding, "state"));
    assert_non_null(area);
    assert_non_null(state_word);
    assert_non_null(json_string_value(json_object_get(finding, "text")));
    // What is a warning or a fault says what to do.
    if (strcmp(state_word, "warning") == 0 || strcmp(state_word, "fault") == 0)
      assert_true(json_string_length(json_object_get(finding, "remedy")) > 0);
    for (size_t i = 0; i < 9; ++i) found[i] = found[i] || strcmp(area, areas[i]) == 0;
  }
  for (size_t i = 0; i < 9; ++i) {
    if (!found[i]) fail_msg("no finding about %s", areas[i]);
  }
  json_decref(root);
}

static void doctor_names_what_is_wrong_and_the_remedy(void **state) {
  (void)state;
  // Nothing to run on.
  run("HELIOX_PLUGINS_DISABLE='*' $H doctor");
  command_expect(&command, 1, "no usable plugin, so no program can run; searched: ");
  command_expect(&command, 1, "do: install one (package heliox-plugin-cpu)");
  command_expect(&command, 1, "something is wrong: 1 fault,");
  // A plugin that is refused does not hide the one that works, and is a fault.
  run("mkdir p && printf '{' > p/broken.json && HELIOX_PLUGIN_PATH=$PWD/p $H doctor");
  command_expect(&command, 1, "manifest-parse");
  command_expect(&command, 1, "cpu:0");
  run("HELIOX_PLUGIN_PATH=/nowhere $H doctor");
  command_expect(&command, 0, "warning  ");
  command_expect(&command, 0, "search-path");
  // A variable that nobody reads, and more threads than processors.
  run("HELIOX_NUM_THREAD=2 $H doctor");
  command_expect(&command, 0, "HELIOX_NUM_THREAD is no variable that Heliox reads");
  run("HELIOX_NUM_THREADS=1000 $H doctor");
  command_expect(&command, 0, "1000 threads on ");
  // Policies that cannot be met.
  run("$H doctor --signatures require");
  command_expect(&command, 1, "signatures are required, but there are no trusted keys");
  run("$H plugins lock -o lock && HELIOX_PLUGINS_DISABLE='opencl:cuda:mpi:cpu' HELIOX_LOCK=$PWD/lock $H doctor");
  command_expect(&command, 1, "lock");
  run("$H doctor --locked lock");
  command_expect(&command, 0, "the plugins are those of the lockfile lock");
  // Nowhere to remember anything.
  run("touch file && XDG_CACHE_HOME=$PWD/file $H doctor");
  command_expect(&command, 0, "do: set XDG_CACHE_HOME to a directory of your own");
  run("mkdir -p open/heliox && chmod 0777 open/heliox && XDG_CACHE_HOME=$PWD/open $H doctor");
  command_expect(&command, 0, "may be changed by others");
  run("ulimit -v 400000; ASAN_OPTIONS=detect_leaks=0 $H version >/dev/null 2>&1 && $H doctor || echo no limit under a "
      "sanitizer");
  assert_true(strstr(command.output, "ulimit -v") != NULL || strstr(command.output, "no limit") != NULL);
}

static void doctor_refuses_arguments(void **state) {
  (void)state;
  run("$H doctor everything");
  command_expect(&command, 2, "takes no argument");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(doctor_finds_nothing_wrong_with_a_machine_that_works, enter, leave),
      cmocka_unit_test_setup_teardown(doctor_reports_as_json, enter, leave),
      cmocka_unit_test_setup_teardown(doctor_names_what_is_wrong_and_the_remedy, enter, leave),
      cmocka_unit_test_setup_teardown(doctor_refuses_arguments, enter, leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
