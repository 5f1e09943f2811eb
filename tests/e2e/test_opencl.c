// SPDX-License-Identifier: Apache-2.0
// The command line on the opencl plugin, beside the cpu plugin in one process: the demo, a file equal to cpu's, diff,
// and devices by name; with the host's memory and with memory of the device's own. Skipped where there is no device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/command.h"

static char root[] = "/tmp/heliox-opencl.XXXXXX";
static command_t last;
static bool available;

static void run_in(const char *environment, const char *line) {
  char whole[1024];
  snprintf(whole, sizeof whole, "LC_ALL=C HELIOX_NUM_THREADS=2 XDG_CACHE_HOME='%s/cache' %s", HELIOX_BUILD_DIR,
           environment);
  command_run(&last, root, whole, line);
}

static void run(const char *line) { run_in("", line); }

static void expect(int exit_code, const char *part) { command_expect(&last, exit_code, part); }

// The demo's own files: program, keys, encrypted samples, weights.
static int set_up(void **state) {
  (void)state;
  if (mkdtemp(root) == NULL) return 1;
  run("$H demo --keep files -q");
  if (last.exit_code != 0) {
    fprintf(stderr, "%s", last.errors);
    return 1;
  }
  run("$H devices");
  available = strstr(last.output, "opencl:0") != NULL;
  if (!available) print_message("no OpenCL device: %s\n", last.output);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

#define RUN_LINE \
  "cd files/server && $H run program.mlir --keys keys -i x=x.hx --materials weights=weights.csv -q --backend "

static void demo_runs_on_a_device(void **state) {
  (void)state;
  if (!available) skip();
  run("$H demo --backend opencl");
  expect(0, "same decision           142 of 142");
}

static void results_are_equal_files_in_every_memory(void **state) {
  (void)state;
  if (!available) skip();
  static const char *const settings[] = {"", "HELIOX_OPENCL_MEMORY=device", "HELIOX_OPENCL_QUEUE=out-of-order",
                                         "HELIOX_OPENCL_MEMORY=device HELIOX_OPENCL_QUEUE=out-of-order"};
  run(RUN_LINE "cpu -o score=../../cpu.hx");
  expect(0, "");
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; ++i) {
    run_in(settings[i], RUN_LINE "opencl -o score=../../opencl.hx && cmp ../../cpu.hx ../../opencl.hx");
    if (last.exit_code != 0 && strstr(last.errors, "has no such queues") == NULL) {
      fail_msg("with '%s': %s%s", settings[i], last.output, last.errors);
    }
  }
}

static void diff_finds_no_difference(void **state) {
  (void)state;
  if (!available) skip();
  run("cd files/server && $H diff program.mlir --backends cpu,opencl");
  expect(0, "equal: ");
  run("cd files/server && $H diff program.mlir --backends cpu,opencl --deep");
  expect(0, "equal: ");
}

static void device_is_chosen_by_a_part_of_its_name(void **state) {
  (void)state;
  if (!available) skip();
  run("name=$($H devices | sed -n 's/^opencl:0 *\\([^ (]*\\).*/\\1/p') && $H demo -q --backend \"opencl:$name\"");
  expect(0, "");
  run("$H demo -q --backend opencl:nosuchdevice");
  expect(3, "no device of opencl has \"nosuchdevice\" in its name; there are: opencl:0 ");
  run("$H demo -q --backend opencl:77");
  assert_int_not_equal(last.exit_code, 0);
  assert_non_null(strstr(last.errors, "device 77 does not exist; opencl finds"));
}

// Whatever is wrong with OpenCL, the cpu plugin works.
static void machine_without_a_platform_still_has_cpu(void **state) {
  (void)state;
  run_in("OCL_ICD_VENDORS=/nonexistent", "$H demo -q --backend opencl");
  if (strstr(last.errors, "opencl") == NULL || last.exit_code == 0) {
    fail_msg("expected a refusal, found exit %d and: %s%s", last.exit_code, last.errors, last.output);
  }
  run_in("OCL_ICD_VENDORS=/nonexistent", "$H demo -q --backend cpu");
  expect(0, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(demo_runs_on_a_device),
      cmocka_unit_test(results_are_equal_files_in_every_memory),
      cmocka_unit_test(diff_finds_no_difference),
      cmocka_unit_test(device_is_chosen_by_a_part_of_its_name),
      cmocka_unit_test(machine_without_a_platform_still_has_cpu),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
