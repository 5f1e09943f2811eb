// SPDX-License-Identifier: Apache-2.0
// A device whose memory the host cannot address, by the command line alone: values and keys go there and back, files
// are those of the cpu plugin byte for byte, a missing device is named, and an interrupted run leaves no file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/command.h"

static const char *const environment =
    "LC_ALL=C HELIOX_NUM_THREADS=2 HELIOX_PLUGIN_PATH='" HELIOX_BUILD_DIR "/tests/fixtures/far'";
static char root[] = "/tmp/heliox-far.XXXXXX";
static command_t last;

static void run(const char *line) { command_run(&last, root, environment, line); }

static void expect(int exit_code, const char *part) { command_expect(&last, exit_code, part); }

static int set_up(void **state) {
  (void)state;
  if (mkdtemp(root) == NULL) return 1;
  run("$H demo --keep files --backend far");
  if (last.exit_code != 0) fprintf(stderr, "%s", last.errors);
  return last.exit_code;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

static void demo_runs_on_a_far_device(void **state) {
  (void)state;
  expect(0, "same decision           142 of 142 (encrypted and plain)");
}

static void run_gives_the_cpu_plugin_s_file(void **state) {
  (void)state;
  run("cd files/server && $H run program.mlir --keys keys -i x=x.hx --materials weights=weights.csv -q --backend cpu "
      "-o "
      "score=cpu.hx && cmp cpu.hx score.hx && echo alike");
  expect(0, "alike");
}

static void diff_places_inputs_where_each_side_reads_them(void **state) {
  (void)state;
  run("$H diff files/server/program.mlir --backends cpu,far");
  expect(0, "equal: ");
  run("$H diff files/server/program.mlir --backends far,cpu --deep");
  expect(0, "equal: ");
}

static void devices_lists_what_a_device_is(void **state) {
  (void)state;
  run("$H devices");
  expect(0,
         "far:0        far device (org.heliox.far, reference): 4.0 GiB, 1 compute units, alignment 256, memory of its "
         "own, graphs, codec");
  expect(0, "cpu:0");
  run("$H devices --json");
  expect(0, "\"uses_host_memory\": false");
  expect(0, "\"peers\": []");
  run("FAR_DEVICES=3 $H devices");
  expect(0, "graphs, codec, peers far:1 (linked) far:2\n");
  expect(0, "graphs, codec, peers far:0 far:1\n");
  run("FAR_DEVICES=2 $H devices --json | tr -d ' \\n'");
  expect(0, "\"peers\":[\"far:1\"],\"peers_linked\":[\"far:1\"]");
  command_run(&last, root, "HELIOX_PLUGIN_PATH=/nowhere HELIOX_PLUGINS_DISABLE='*'", "$H devices");
  expect(1, "no usable plugin has a device");
}

static void demo_names_the_cause_of_a_step_that_failed(void **state) {
  (void)state;
  command_run(&last, root, "HELIOX_PLUGINS_DISABLE=far", "$H demo --backend far");
  expect(1, "the server's step 'run': ");
  expect(1, "far");
}

// Adds the input to itself n times.
static const char loop[] =
    "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: CT, %n: index):\n"
    "%zero = \"arith.constant\"() {value = 0 : index} : () -> index\n"
    "%one = \"arith.constant\"() {value = 1 : index} : () -> index\n"
    "%r = \"scf.for\"(%zero, %n, %one, %x) ({\n^body(%i: index, %a: OPEN):\n"
    "%b = \"ckks.add\"(%a, %x) : (OPEN, CT) -> OPEN\n\"scf.yield\"(%b) : (OPEN) -> ()\n"
    "}) : (index, index, index, CT) -> OPEN\n\"func.return\"(%r) : (OPEN) -> ()\n"
    "}) {sym_name = \"main\", function_type = (CT, index) -> (OPEN), arg_attrs = [{heliox.name = \"x\", heliox.role = "
    "\"ciphertext\"}, {heliox.name = \"n\", heliox.role = \"static\"}], res_attrs = [{heliox.name = \"r\"}]} : () -> "
    "()\n"
    "}) {heliox.version = 1 : i64} : () -> ()\n";

static void interrupted_run_leaves_no_file(void **state) {
  (void)state;
  command_write(root, "loop.txt", loop);
  // The type of the demo's own input, from its program.
  run("T=$(sed -n 's/^.*(%x: *\\(!ckks.ciphertext<[^>]*>\\).*$/\\1/p' files/server/program.mlir | head -1); test -n "
      "\"$T\" && "
      "sed -e \"s/CT/$T/g\" -e 's/OPEN/!ckks.ciphertext<>/g' loop.txt > loop.mlir && "
      "$H run loop.mlir --keys files/server/keys -i x=files/server/x.hx -i n=2 -o r=short.hx --backend far -q && echo "
      "ran");
  expect(0, "ran");
  // Whether the signal comes before or while it runs: it ends by that signal, long before a million turns.
  run("$H run loop.mlir --keys files/server/keys -i x=files/server/x.hx -i n=1000000 -o r=long.hx --backend far -q & "
      "P=$!; sleep 2; kill -TERM $P; wait $P; echo ended $?");
  expect(0, "ended 143");
  assert_false(command_has_file(root, "long.hx"));
  run("ls | grep -c 'long.hx' ; true");
  expect(0, "0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(demo_runs_on_a_far_device),
      cmocka_unit_test(run_gives_the_cpu_plugin_s_file),
      cmocka_unit_test(diff_places_inputs_where_each_side_reads_them),
      cmocka_unit_test(devices_lists_what_a_device_is),
      cmocka_unit_test(demo_names_the_cause_of_a_step_that_failed),
      cmocka_unit_test(interrupted_run_leaves_no_file),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
