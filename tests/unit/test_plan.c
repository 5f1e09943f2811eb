// SPDX-License-Identifier: Apache-2.0
// The plan of a program before any key exists: counts, keys, bytes, errors, and what is refused.
#include "heliox/plan.h"

#include "bsgs.h"
#include "core/passes/passes.h"
#include "tests/unit/link_fixture.h"

static hx_plan_t *plan_of(const bench_t *bench, const char *text, const char *pipeline) {
  hx_compilation_t *compilation = link_compile(bench, text);
  must(hx_compilation_transform(compilation, pipeline, bench->report), bench->report);
  hx_plan_t *plan = NULL;
  must(hx_plan_create(compilation, bench->backend, NULL, &plan, bench->report), bench->report);
  hx_compilation_release(compilation);
  return plan;
}

static void plan_counts_the_steps_of_a_matrix_product(void **state) {
  (void)state;
  static const bsgs_t shape = {.baby = 16, .giant = 8, .slots = SLOTS, .limbs = 5, .scale = "2^40"};
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  hx_text_t text;
  bsgs_text(&shape, &text);
  hx_plan_t *plain = plan_of(&bench, text.data, ""),
            *merged = plan_of(&bench, text.data, "infer-state,merge-weighted-sums,prepare-plaintexts,dve");
  const hx_plan_info_t *before = hx_plan_info(plain), *after = hx_plan_info(merged);
  assert_int_equal(before->key_switches, 22);
  assert_int_equal(before->mod_ups, 22);
  assert_int_equal(before->mod_downs, 22);
  assert_int_equal(after->key_switches, 22);
  assert_int_equal(after->mod_ups, 8);
  assert_int_equal(after->mod_downs, 9);
  assert_true(after->transforms < before->transforms);
  assert_true(before->counts_exact);
  // 22 rotations, no other key: digits of 3 of two rows each, on 7 primes, two halves.
  assert_int_equal(before->step_count, 22);
  assert_false(before->needs_relin);
  assert_int_equal(before->key_bytes, 22 * hx_params_key_bytes(bench.params));
  assert_int_equal(before->input_bytes, 2 * 5 * 8192);
  assert_int_equal(before->material_bytes, 128 * 5 * 8192);
  assert_int_equal(after->material_bytes, 128 * 7 * 8192);
  assert_true(before->peak_bytes >= 16 * 2 * 5 * 8192);  // 15 rotations and a sum live at once
  assert_true(10 * before->peak_bytes <= 7 * before->unshared_bytes);
  const hx_plan_value_t *outputs;
  assert_int_equal(hx_plan_outputs(plain, &outputs), 1);
  assert_string_equal(outputs[0].name, "y");
  assert_string_equal(outputs[0].scale, "2^80");
  assert_true(outputs[0].sigma > 0 && outputs[0].sigma < 1e-4);
  hx_plan_release(plain);
  hx_plan_release(merged);
  hx_text_deinit(&text);
  bench_close(&bench);
}

static void plan_counts_loops_by_their_turns(void **state) {
  (void)state;
  static const char text[] = MODULE(
      "%x: " CT0 ", %n: index", CT0 ", index", CT ", " CT,
      "%a = \"arith.constant\"() {value = 0 : index} : () -> index\n%b = \"arith.constant\"() {value = 7 : index} : "
      "() -> index\n%c = \"arith.constant\"() {value = 2 : index} : () -> index\n%r = \"scf.for\"(%a, %b, %c, %x) "
      "({\n^body(%i: index, %v: " CT "):\n%w = \"ckks.rotate\"(%v) {step = 1 : i64} : (" CT ") -> " CT
      "\n\"scf.yield\"(%w) : (" CT ") -> ()\n}) : (index, index, index, " CT0 ") -> " CT
      "\n%s = \"scf.for\"(%a, %n, %c, %r) ({\n^body(%i: index, %v: " CT
      "):\n%w = \"ckks.rotate\"(%v) {step = 2 : i64} : (" CT ") -> " CT "\n\"scf.yield\"(%w) : (" CT
      ") -> ()\n}) : (index, index, index, " CT ") -> " CT "\n\"func.return\"(%r, %s) : (" CT ", " CT ") -> ()");
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  hx_plan_t *plan = plan_of(&bench, text, "");
  const hx_plan_info_t *info = hx_plan_info(plan);
  assert_int_equal(info->key_switches, 4 + 1);  // turns 0, 2, 4, 6; the other loop counts once
  assert_false(info->counts_exact);
  hx_plan_release(plan);
  bench_close(&bench);
}

static void plan_names_the_value_behind_the_last_depth(void **state) {
  (void)state;
  static const char text[] =
      MODULE("%x: " CT0, CT0, CT,
             "%a = \"ckks.level_drop\"(%x) {depth = 4 : i64} : (" CT0 ") -> " CT "\n%deep = \"ckks.rescale\"(%a) : (" CT
             ") -> " CT "\n\"func.return\"(%deep) : (" CT ") -> ()");
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  hx_compilation_t *compilation = link_compile(&bench, text);
  hx_plan_t *plan = NULL;
  assert_int_not_equal(hx_plan_create(compilation, bench.backend, NULL, &plan, bench.report), HX_STATUS_OK);
  assert_null(plan);
  must_fault(bench.report, HX_CODE_NO_DEPTH, 5, "%deep");
  hx_compilation_release(compilation);
  bench_close(&bench);
}

// x and y transferred, their sum: three values on far; at home the sum that comes back and what is made of it.
static void plan_tells_what_each_device_needs(void **state) {
  (void)state;
  static const char text[] =
      MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT,
             "%a = \"ckks.add\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT "\n%b = \"ckks.neg\"(%a) : (" CT ") -> " CT
             "\n%c = \"ckks.sub\"(%b, %x) : (" CT ", " CT0 ") -> " CT "\n\"func.return\"(%c) : (" CT ") -> ()");
  const uint64_t one = 2 * 5 * 8192;
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  hx_plan_t *plain = plan_of(&bench, text, "infer-state"),
            *placed = plan_of(&bench, text, "infer-state,place{ckks.add=far}");
  const hx_plan_device_t *devices = NULL;
  assert_int_equal(hx_plan_devices(plain, &devices), 0);
  assert_int_equal(hx_plan_devices(placed, &devices), 2);
  assert_string_equal(devices[0].name, "home");
  assert_string_equal(devices[1].name, "far");
  assert_int_equal(devices[1].peak_bytes, 3 * one);
  assert_int_equal(devices[1].unshared_bytes, 3 * one);
  assert_int_equal(devices[0].unshared_bytes, 2 * one);  // what comes back, and its negative; %c is an output
  assert_int_equal(hx_plan_info(placed)->unshared_bytes, 5 * one);
  assert_int_equal(hx_plan_info(plain)->unshared_bytes, 2 * one);
  hx_plan_release(plain);
  hx_plan_release(placed);
  bench_close(&bench);
}

static void plan_refuses_what_does_not_fit_the_device(void **state) {
  (void)state;
  static const char text[] = MODULE("%x: " CT0, CT0, CT,
                                    "%big = \"ckks.neg\"(%x) : (" CT0 ") -> " CT "\n%r = \"ckks.neg\"(%big) : (" CT
                                    ") -> " CT "\n\"func.return\"(%r) : (" CT ") -> ()");
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  hx_compilation_t *compilation = link_compile(&bench, text);
  hx_opened_device_t *device = bench.backend->devices[0];
  const uint64_t had = device->info.memory_bytes;
  hx_plan_t *plan = NULL;
  device->info.memory_bytes = 200000;  // three ciphertexts of 81,920 bytes do not fit
  assert_int_not_equal(hx_plan_create(compilation, bench.backend, NULL, &plan, bench.report), HX_STATUS_OK);
  must_fault(bench.report, HX_CODE_LIMIT, 4, "%big");
  device->info.memory_bytes = 250000;
  must(hx_plan_create(compilation, bench.backend, NULL, &plan, bench.report), bench.report);
  device->info.memory_bytes = had;
  hx_plan_release(plan);
  hx_compilation_release(compilation);
  bench_close(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plan_counts_the_steps_of_a_matrix_product),  cmocka_unit_test(plan_counts_loops_by_their_turns),
      cmocka_unit_test(plan_names_the_value_behind_the_last_depth), cmocka_unit_test(plan_tells_what_each_device_needs),
      cmocka_unit_test(plan_refuses_what_does_not_fit_the_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
