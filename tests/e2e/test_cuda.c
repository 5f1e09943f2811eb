// SPDX-License-Identifier: Apache-2.0
// The command line on the cuda plugin over a driver and a compiler of the host (fixtures/cuda), beside the cpu plugin:
// a program with a chain of operations element by element gives a file equal to cpu's, compiled and not. Skipped where
// the plugin is not built.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/command.h"

#define FIXTURES HELIOX_BUILD_DIR "/tests/fixtures/cuda"
#define STATE "scale = \"2^40\", primes = [0, 1, 2, 3], basis = Q, domain = ntt, repr = standard, slots = 4096>"
#define A "!ckks.ciphertext<batch = [], components = 2, depth = 0, " STATE
#define P "!ckks.plaintext<batch = [], components = 1, depth = 0, " STATE
#define C "!ckks.ciphertext<depth = 0>"
#define D "!ckks.ciphertext<depth = 1>"

static char root[] = "/tmp/heliox-cuda.XXXXXX";
static command_t last;
static bool available;

static void run_in(const char *environment, const char *line) {
  char whole[2048];
  snprintf(whole, sizeof whole, "LC_ALL=C HELIOX_NUM_THREADS=2 XDG_CACHE_HOME='%s/cache' LD_LIBRARY_PATH='%s' %s", root,
           FIXTURES, environment);
  command_run(&last, root, whole, line);
}

static void expect(int exit_code, const char *part) { command_expect(&last, exit_code, part); }

#define COMPILER "HELIOX_CUDA_NVRTC='" FIXTURES "/libnvrtc.so' "

// ((-3 (x + y - p)) + y + 1/4) p, rescaled: six operations that can be one kernel.
static const char program[] =
    "cat >p.mlir <<'END'\n"
    "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " A ", %y: " A
    "):\n"
    "%p = \"material.ref\"() {symbol = @p} : () -> " P
    "\n"
    "%a = \"ckks.add\"(%x, %y) : (" A ", " A ") -> " C
    "\n"
    "%b = \"ckks.sub_plain\"(%a, %p) : (" C ", " P ") -> " C
    "\n"
    "%c = \"ckks.mul_integer\"(%b) {integer = -3 : i64} : (" C ") -> " C
    "\n"
    "%d = \"ckks.add\"(%c, %y) : (" C ", " A ") -> " C
    "\n"
    "%e = \"ckks.add_scalar\"(%d) {value = 2.5e-01 : f64} : (" C ") -> " C
    "\n"
    "%f = \"ckks.mul_plain\"(%e, %p) : (" C ", " P ") -> " C
    "\n"
    "%g = \"ckks.rescale\"(%f) : (" C ") -> " D
    "\n"
    "\"func.return\"(%g) : (" D ") -> ()\n}) {sym_name = \"main\", function_type = (" A ", " A ") -> " D
    ", "
    "arg_attrs = [{heliox.name = \"x\", heliox.role = \"ciphertext\"}, {heliox.name = \"y\", heliox.role = "
    "\"ciphertext\"}], "
    "res_attrs = [{heliox.name = \"r\", heliox.role = \"ciphertext\"}]} : () -> ()\n"
    "}) {heliox.version = 1 : i64, heliox.params = \"n13-d3-s40\"} : () -> ()\nEND\n"
    "printf '1.5\\n2\\n-3\\n' >x.csv && printf '0.5\\n1\\n2\\n' >y.csv && printf '0.75\\n-1\\n0.5\\n' >w.csv && "
    "$H keygen --for p.mlir -o keys -q && $H encrypt --keys keys -i x.csv -o x.hx -q && "
    "$H encrypt --keys keys -i y.csv -o y.hx -q";

#define RUN_LINE "$H run p.mlir --keys keys -i x=x.hx -i y=y.hx --materials p=w.csv -q --manifest m.json --backend "

static int set_up(void **state) {
  (void)state;
  if (mkdtemp(root) == NULL) return 1;
  available = access(FIXTURES "/libcuda.so.1", R_OK) == 0 && access(FIXTURES "/libnvrtc.so", R_OK) == 0;
  if (!available) {
    print_message("the cuda plugin is not built here\n");
    return 0;
  }
  run_in("", program);
  if (last.exit_code != 0) fprintf(stderr, "%s", last.errors);
  run_in("", RUN_LINE "cpu -o r=cpu.hx");
  if (last.exit_code != 0) fprintf(stderr, "%s", last.errors);
  return last.exit_code;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

static void devices_show_the_compiler(void **state) {
  (void)state;
  if (!available) skip();
  run_in(COMPILER, "$H devices");
  expect(0, "CUDA 13.0, NVRTC 13.99");
  run_in("HELIOX_CUDA_NVRTC=off", "$H devices");
  expect(0, "CUDA 13.0, no NVRTC");
}

static void region_is_compiled_once_and_equal_to_cpu(void **state) {
  (void)state;
  if (!available) skip();
  for (int i = 0; i < 2; ++i) {
    run_in(COMPILER, RUN_LINE "cuda -o r=cuda.hx && cmp cpu.hx cuda.hx && ls cache/heliox/cuda | wc -l");
    expect(0, "1\n");
  }
  run_in("", "cat m.json");
  expect(0, "\"ckks.mul_integer\"");
  expect(0, "\"operation\": \"fusion.region\"");
  run_in(COMPILER "HELIOX_CUDA_CACHE=off", RUN_LINE "cuda -o r=cuda.hx && cmp cpu.hx cuda.hx");
  expect(0, "");
}

static void region_that_is_not_compiled_runs_one_by_one(void **state) {
  (void)state;
  if (!available) skip();
  run_in("HELIOX_CUDA_NVRTC=off", RUN_LINE "cuda -o r=cuda.hx && cmp cpu.hx cuda.hx && cat m.json");
  expect(0, "\"not_fused\": \"no NVRTC: option cuda-nvrtc is off\"");
  run_in("HELIOX_CUDA_NVRTC=/nonexistent.so", RUN_LINE "cuda -o r=cuda.hx && cmp cpu.hx cuda.hx && cat m.json");
  expect(0, "\"not_fused\": \"no NVRTC: /nonexistent.so");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_show_the_compiler),
      cmocka_unit_test(region_is_compiled_once_and_equal_to_cpu),
      cmocka_unit_test(region_that_is_not_compiled_runs_one_by_one),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
