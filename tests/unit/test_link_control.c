// SPDX-License-Identifier: Apache-2.0
// Structured control flow: the same bits as the program written out, places without needless copies, bounds.
#include "tests/unit/link_fixture.h"

static int setup(void **state) {
  bench_t *bench = calloc(1, sizeof *bench);
  bench_open(bench, FAKE_ALL);
  *state = bench;
  return 0;
}

static int teardown(void **state) {
  bench_t *bench = *state;
  bench_close(bench);
  free(bench);
  return 0;
}

static hx_value_t *number(const bench_t *bench, const char *type, int64_t value) {
  hx_value_t *made = NULL;
  must(hx_value_integer(bench->params, type, value, &made, bench->report), bench->report);
  return made;
}

// Runs a program text on inputs (borrowed).
static void run_text(const bench_t *bench, const char *text, const hx_value_t *const *inputs, hx_value_t **outputs) {
  hx_executable_t *executable = link_text(bench, text);
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  hx_executable_release(executable);
}

#define INDEX_CONSTANTS                                              \
  "%zero = \"arith.constant\"() {value = 0 : index} : () -> index\n" \
  "%one = \"arith.constant\"() {value = 1 : index} : () -> index\n"

// acc = acc + x, n times, from y.
#define SUM_LOOP                                                                                                 \
  MODULE("%x: " CT0 ", %y: " CT0 ", %n: index", CT0 ", " CT0 ", index", CT,                                      \
         INDEX_CONSTANTS "%r = \"scf.for\"(%zero, %n, %one, %y) ({\n^entry(%i: index, %a: " CT                   \
                         "):\n%b = \"ckks.add\"(%a, %x) : (" CT ", " CT0 ") -> " CT "\n\"scf.yield\"(%b) : (" CT \
                         ") -> ()\n}) : (index, index, index, " CT0 ") -> " CT "\n\"func.return\"(%r) : (" CT    \
                         ") -> ()")

static void loop_gives_the_bits_of_its_turns_written_out(void **state) {
  bench_t *bench = *state;
  double values[SLOTS], found[SLOTS], expected[SLOTS];
  fill_values(values, SLOTS, 3);
  hx_value_t *x = encrypt_values(bench, bench->keys, values, SLOTS),
             *y = encrypt_values(bench, bench->keys, values, SLOTS);
  hx_executable_t *executable = link_text(bench, SUM_LOOP);
  hx_engine_t *engine = NULL;
  must(hx_engine_create(bench->params, bench->keys, bench->backend, &engine, bench->report), bench->report);
  hx_value_t *expected_value = hx_value_retain(y);
  for (int64_t n = 0; n < 5; ++n) {
    hx_value_t *count = number(bench, "index", n);
    const hx_value_t *inputs[] = {x, y, count};
    hx_value_t *outputs[1] = {NULL};
    must(hx_run(executable, inputs, outputs, bench->report), bench->report);
    assert_true(hx_value_equal(outputs[0], expected_value));
    decrypt_values(bench, outputs[0], found);
    for (size_t i = 0; i < SLOTS; ++i) expected[i] = values[i] * (double)(n + 1);
    must_be_near(found, expected, SLOTS, 1e-5);
    hx_value_release(outputs[0]);
    hx_value_release(count);
    hx_value_t *next = NULL;
    must(hx_engine_add(engine, expected_value, x, &next, bench->report), bench->report);
    hx_value_release(expected_value);
    expected_value = next;
  }
  hx_value_release(expected_value);
  hx_engine_release(engine);
  hx_executable_release(executable);
  hx_value_release(x);
  hx_value_release(y);
}

static size_t count_copies(const hx_executable_t *executable) {
  size_t count = 0;
  for (size_t s = 0; s < executable->steps.count; ++s)
    count += executable->steps.items[s].kind == HX_STEP_COPY && !executable->steps.items[s].is_elided;
  return count;
}

static void turn_computes_in_the_place_of_what_it_carries(void **state) {
  bench_t *bench = *state;
  fake.in_place = true;
  hx_executable_t *executable = link_text(bench, SUM_LOOP);
  // In: the input, which stays as it is, and out: the output, which is the caller's.
  assert_int_equal(count_copies(executable), 2);
  assert_int_equal(executable->slab_bytes, (uint64_t)2 * 5 * 1024 * 8);
  hx_executable_release(executable);
  fake.in_place = false;
  executable = link_text(bench, SUM_LOOP);
  assert_int_equal(count_copies(executable), 3);
  assert_int_equal(executable->slab_bytes, (uint64_t)2 * 2 * 5 * 1024 * 8);
  hx_executable_release(executable);
}

static void carried_values_change_places_at_once(void **state) {
  bench_t *bench = *state;
  // Three values go round in each turn; a number is carried with them.
  static const char text[] = MODULE(
      "%x: " CT0 ", %y: " CT0 ", %z: " CT0 ", %n: index", CT0 ", " CT0 ", " CT0 ", index", CT ", " CT ", " CT ", index",
      INDEX_CONSTANTS
      "%r:5 = \"scf.for\"(%zero, %n, %one, %x, %y, %z, %zero, %one) ({\n^entry(%i: index, %a: " CT ", %b: " CT
      ", %c: " CT
      ", %p: index, %q: index):\n%f = \"arith.addi\"(%p, %q) : (index, index) -> index\n\"scf.yield\"(%b, %c, %a, %q, "
      "%f) : (" CT ", " CT ", " CT ", index, index) -> ()\n}) : (index, index, index, " CT0 ", " CT0 ", " CT0
      ", index, index) -> (" CT ", " CT ", " CT ", index, index)\n\"func.return\"(%r#0, %r#1, %r#2, %r#3) : (" CT
      ", " CT ", " CT ", index) -> ()");
  hx_executable_t *executable = link_text(bench, text);
  hx_value_t *values[3];
  for (uint32_t i = 0; i < 3; ++i) values[i] = encrypt_seed(bench, i + 1);
  static const int64_t fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13};
  for (int64_t n = 0; n < 8; ++n) {
    hx_value_t *count = number(bench, "index", n);
    const hx_value_t *inputs[] = {values[0], values[1], values[2], count};
    hx_value_t *outputs[4] = {NULL};
    must(hx_run(executable, inputs, outputs, bench->report), bench->report);
    for (int64_t i = 0; i < 3; ++i) assert_true(hx_value_equal(outputs[i], values[(i + n) % 3]));
    assert_int_equal(hx_value_get_integer(outputs[3]), fibonacci[n]);
    assert_int_equal(hx_value_kind(outputs[3]), HX_VALUE_NUMBER);
    for (size_t i = 0; i < 4; ++i) hx_value_release(outputs[i]);
    hx_value_release(count);
  }
  for (uint32_t i = 0; i < 3; ++i) hx_value_release(values[i]);
  hx_executable_release(executable);
}

// Doubles x as long as i < n. The condition computes a value that only the body reads, and the result is what was
// passed on before it.
#define WHILE_LOOP                                                                                                    \
  MODULE("%x: " CT0 ", %n: i64", CT0 ", i64", CT ", i64",                                                             \
         "%zero = \"arith.constant\"() {value = 0 : i64} : () -> i64\n"                                               \
         "%one = \"arith.constant\"() {value = 1 : i64} : () -> i64\n"                                                \
         "%r:3 = \"scf.while\"(%x, %zero) ({\n^entry(%a: " CT ", %i: i64):\n%d = \"ckks.add\"(%a, %a) : (" CT ", " CT \
         ") -> " CT                                                                                                   \
         "\n%c = \"arith.cmpi\"(%i, %n) {predicate = 2 : i64} : (i64, i64) -> i1\n"                                   \
         "\"scf.condition\"(%c, %a, %d, %i) : (i1, " CT ", " CT ", i64) -> ()\n}, {\n^entry(%b: " CT ", %e: " CT      \
         ", %j: i64):\n%k = \"arith.addi\"(%j, %one) : (i64, i64) -> i64\n\"scf.yield\"(%e, %k) : (" CT               \
         ", i64) -> ()\n}) : (" CT0 ", i64) -> (" CT ", " CT ", i64)\n\"func.return\"(%r#0, %r#2) : (" CT             \
         ", i64) -> ()")

static void while_gives_what_its_condition_passed_on(void **state) {
  bench_t *bench = *state;
  for (int in_place = 0; in_place < 2; ++in_place) {
    fake.in_place = in_place == 1;
    hx_executable_t *executable = link_text(bench, WHILE_LOOP);
    double values[SLOTS], found[SLOTS], expected[SLOTS];
    fill_values(values, SLOTS, 3);
    hx_value_t *x = encrypt_values(bench, bench->keys, values, SLOTS);
    for (int64_t n = -1; n < 4; ++n) {
      hx_value_t *count = number(bench, "i64", n);
      const hx_value_t *inputs[] = {x, count};
      hx_value_t *outputs[2] = {NULL, NULL};
      must(hx_run(executable, inputs, outputs, bench->report), bench->report);
      decrypt_values(bench, outputs[0], found);
      for (size_t i = 0; i < SLOTS; ++i) expected[i] = values[i] * (double)(1 << (n < 0 ? 0 : n));
      must_be_near(found, expected, SLOTS, 1e-5);
      assert_int_equal(hx_value_get_integer(outputs[1]), n < 0 ? 0 : n);
      hx_value_release(outputs[0]);
      hx_value_release(outputs[1]);
      hx_value_release(count);
    }
    hx_value_release(x);
    hx_executable_release(executable);
  }
}

// if (flag) x + y, else { x - y in a loop of n turns }, in a loop of m turns; then one of two outer values.
#define NESTED                                                                                                         \
  MODULE("%x: " CT0 ", %y: " CT0 ", %flag: i1, %n: index, %m: index", CT0 ", " CT0 ", i1, index, index", CT ", " CT,   \
         INDEX_CONSTANTS                                                                                               \
         "%t = \"ckks.neg\"(%y) : (" CT0 ") -> " CT                                                                    \
         "\n%r = \"scf.for\"(%zero, %m, %one, %x) ({\n^entry(%i: index, %a: " CT                                       \
         "):\n%s = \"scf.if\"(%flag) ({\n%u = \"ckks.add\"(%a, %y) : (" CT ", " CT0 ") -> " CT                         \
         "\n\"scf.yield\"(%u) : (" CT                                                                                  \
         ") -> ()\n}, {\n%v = \"scf.for\"(%zero, %n, %one, %a) ({\n^entry(%j: index, %b: " CT                          \
         "):\n%w = \"ckks.add\"(%b, %t) : (" CT ", " CT ") -> " CT "\n\"scf.yield\"(%w) : (" CT                        \
         ") -> ()\n}) : (index, index, index, " CT ") -> " CT "\n\"scf.yield\"(%v) : (" CT ") -> ()\n}) : (i1) -> " CT \
         "\n\"scf.yield\"(%s) : (" CT ") -> ()\n}) : (index, index, index, " CT0 ") -> " CT                            \
         "\n%p = \"scf.if\"(%flag) ({\n\"scf.yield\"(%t) : (" CT ") -> ()\n}, {\n\"scf.yield\"(%r) : (" CT             \
         ") -> ()\n}) : (i1) -> " CT "\n\"func.return\"(%r, %p) : (" CT ", " CT ") -> ()")

static void branches_and_loops_nest(void **state) {
  bench_t *bench = *state;
  double x_values[SLOTS], y_values[SLOTS], found[SLOTS], expected[SLOTS];
  fill_values(x_values, SLOTS, 4);
  fill_values(y_values, SLOTS, 5);
  hx_value_t *x = encrypt_values(bench, bench->keys, x_values, SLOTS),
             *y = encrypt_values(bench, bench->keys, y_values, SLOTS);
  for (int in_place = 0; in_place < 2; ++in_place) {
    fake.in_place = in_place == 1;
    hx_executable_t *executable = link_text(bench, NESTED);
    for (int64_t flag = 0; flag < 2; ++flag) {
      for (int64_t n = 0; n < 3; ++n) {
        hx_value_t *numbers[] = {number(bench, "i1", flag), number(bench, "index", n), number(bench, "index", 2)};
        const hx_value_t *inputs[] = {x, y, numbers[0], numbers[1], numbers[2]};
        hx_value_t *outputs[2] = {NULL, NULL};
        must(hx_run(executable, inputs, outputs, bench->report), bench->report);
        decrypt_values(bench, outputs[0], found);
        for (size_t i = 0; i < SLOTS; ++i) expected[i] = x_values[i] + y_values[i] * (flag ? 2 : -2 * (double)n);
        must_be_near(found, expected, SLOTS, 1e-5);
        decrypt_values(bench, outputs[1], found);
        for (size_t i = 0; flag && i < SLOTS; ++i) expected[i] = -y_values[i];
        must_be_near(found, expected, SLOTS, 1e-5);
        for (size_t i = 0; i < 3; ++i) hx_value_release(numbers[i]);
        hx_value_release(outputs[0]);
        hx_value_release(outputs[1]);
      }
    }
    hx_executable_release(executable);
  }
  hx_value_release(x);
  hx_value_release(y);
}

static void value_from_before_a_loop_outlives_its_turns(void **state) {
  bench_t *bench = *state;
  // %t is read early in the body and %u is made after it: their memory must not be shared, in any turn.
  static const char text[] = MODULE(
      "%x: " CT0 ", %n: index", CT0 ", index", CT,
      INDEX_CONSTANTS
      "%t = \"ckks.neg\"(%x) : (" CT0 ") -> " CT "\n%r = \"scf.for\"(%zero, %n, %one, %x) ({\n^entry(%i: index, %a: " CT
      "):\n%b = \"ckks.add\"(%a, %t) : (" CT ", " CT ") -> " CT "\n%c = \"ckks.add\"(%b, %b) : (" CT ", " CT ") -> " CT
      "\n%d = \"ckks.add\"(%c, %b) : (" CT ", " CT ") -> " CT "\n\"scf.yield\"(%d) : (" CT
      ") -> ()\n}) : (index, index, index, " CT0 ") -> " CT "\n\"func.return\"(%r) : (" CT ") -> ()");
  double values[SLOTS], found[SLOTS], expected[SLOTS];
  fill_values(values, SLOTS, 6);
  hx_value_t *x = encrypt_values(bench, bench->keys, values, SLOTS), *count = number(bench, "index", 3);
  for (int in_place = 0; in_place < 2; ++in_place) {
    fake.in_place = in_place == 1;
    const hx_value_t *inputs[] = {x, count};
    hx_value_t *outputs[1] = {NULL};
    run_text(bench, text, inputs, outputs);
    decrypt_values(bench, outputs[0], found);
    for (size_t i = 0; i < SLOTS; ++i) {
      expected[i] = values[i];
      for (int turn = 0; turn < 3; ++turn) expected[i] = 3 * (expected[i] - values[i]);
    }
    must_be_near(found, expected, SLOTS, 1e-4);
    hx_value_release(outputs[0]);
  }
  hx_value_release(x);
  hx_value_release(count);
}

static void functions_are_linked_and_executed(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%a: " CT ", %b: " CT "):\n%s = \"ckks.add\"(%a, %b) : (" CT
      ", " CT ") -> " CT "\n\"func.return\"(%s) : (" CT ") -> ()\n}) {sym_name = \"plus\", function_type = (" CT ", " CT
      ") -> " CT "} : () -> ()\n\"func.func\"() ({\n^entry(%x: " CT0 ", %y: " CT0
      "):\n%u = \"func.call\"(%x, %y) {callee = @plus} : (" CT0 ", " CT0 ") -> " CT
      "\n%d = \"ckks.level_drop\"(%u) {depth = 2 : i64} : (" CT ") -> " CT
      "\n%v = \"func.call\"(%d, %d) {callee = @plus} : (" CT ", " CT ") -> " CT "\n\"func.return\"(%v) : (" CT
      ") -> ()\n}) {sym_name = \"main\", function_type = (" CT0 ", " CT0 ") -> " CT
      "} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n";
  double x_values[SLOTS], y_values[SLOTS], found[SLOTS], expected[SLOTS];
  fill_values(x_values, SLOTS, 7);
  fill_values(y_values, SLOTS, 8);
  hx_value_t *x = encrypt_values(bench, bench->keys, x_values, SLOTS),
             *y = encrypt_values(bench, bench->keys, y_values, SLOTS);
  const hx_value_t *inputs[] = {x, y};
  hx_value_t *outputs[1] = {NULL};
  run_text(bench, text, inputs, outputs);
  assert_int_equal(hx_value_depth(outputs[0]), 2);
  decrypt_values(bench, outputs[0], found);
  for (size_t i = 0; i < SLOTS; ++i) expected[i] = 2 * (x_values[i] + y_values[i]);
  must_be_near(found, expected, SLOTS, 1e-5);
  hx_value_release(outputs[0]);
  hx_value_release(x);
  hx_value_release(y);
}

static void two_plugins_give_the_same_bits(void **state) {
  bench_t *bench = *state;
  hx_report_t *report = bench->report;
  const hx_plugins_options_t options = {.path = HELIOX_BUILD_DIR "/lib/heliox/plugins", .only_path = true};
  hx_plugins_t *plugins = NULL;
  hx_backend_t *cpu = NULL;
  must(hx_plugins_discover(&options, &plugins, report), report);
  if (hx_plugins_find(plugins, "cpu") == NULL) {
    hx_plugins_release(plugins);
    skip();
  }
  must(hx_backend_create(plugins, "cpu", &cpu, report), report);
  hx_plugins_release(plugins);
  // One compilation, linked to both: what a backend lacks is lowered for it alone.
  hx_compilation_t *compilation = link_compile(bench, NESTED);
  hx_value_t *x = encrypt_seed(bench, 4), *y = encrypt_seed(bench, 5);
  hx_value_t *numbers[] = {number(bench, "i1", 0), number(bench, "index", 2), number(bench, "index", 3)};
  const hx_value_t *inputs[] = {x, y, numbers[0], numbers[1], numbers[2]};
  const hx_backend_t *backends[] = {bench->backend, cpu};
  hx_value_t *outputs[2][2] = {{NULL, NULL}, {NULL, NULL}};
  for (size_t b = 0; b < 2; ++b) {
    hx_executable_t *executable = NULL;
    must(hx_link(compilation, backends[b], NULL, &executable, report), report);
    must(hx_run(executable, inputs, outputs[b], report), report);
    hx_executable_release(executable);
  }
  for (size_t i = 0; i < 2; ++i) {
    assert_true(hx_value_equal(outputs[0][i], outputs[1][i]));
    hx_value_release(outputs[0][i]);
    hx_value_release(outputs[1][i]);
  }
  for (size_t i = 0; i < 3; ++i) hx_value_release(numbers[i]);
  hx_value_release(x);
  hx_value_release(y);
  hx_compilation_release(compilation);
  hx_backend_release(cpu);
}

// ------------------------------------------------------------------ bounds

#define EMPTY_LOOP(lower_, upper_, step_)                                                                            \
  MODULE("%x: " CT0, CT0, CT0,                                                                                       \
         "%l = \"arith.constant\"() {value = " lower_ "} : () -> i64\n%u = \"arith.constant\"() {value = " upper_    \
         "} : () -> i64\n%s = \"arith.constant\"() {value = " step_                                                  \
         "} : () -> i64\n\"scf.for\"(%l, %u, %s) ({\n^entry(%i: i64):\n\"scf.yield\"() : () -> ()\n}) : (i64, i64, " \
         "i64) -> ()\n\"func.return\"(%x) : (" CT0 ") -> ()")

static void link_refuses(const bench_t *bench, const char *text, hx_code_t code, const char *piece) {
  hx_report_clear(bench->report);
  hx_compilation_t *compilation = link_compile(bench, text);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  hx_executable_t *executable = NULL;
  assert_int_not_equal(hx_link(compilation, bench->backend, "", &executable, bench->report), HX_STATUS_OK);
  assert_null(executable);
  must_fault(bench->report, code, 0, piece);
  hx_report_clear(bench->report);
  hx_compilation_release(compilation);
}

static void loops_beyond_the_bound_are_refused_at_link(void **state) {
  bench_t *bench = *state;
  link_refuses(bench, EMPTY_LOOP("0 : i64", "1048577 : i64", "1 : i64"), HX_CODE_LIMIT,
               "it runs 1048577 times; a loop runs at most 1048576 times");
  link_refuses(bench, EMPTY_LOOP("-9223372036854775808 : i64", "9223372036854775807 : i64", "1 : i64"), HX_CODE_LIMIT,
               "it runs 18446744073709551615 times");
  link_refuses(bench, EMPTY_LOOP("0 : i64", "10 : i64", "0 : i64"), HX_CODE_INPUT,
               "the step is 0; it has to be positive");
  link_refuses(bench, EMPTY_LOOP("0 : i64", "10 : i64", "-1 : i64"), HX_CODE_INPUT, "the step is -1");
  hx_executable_t *executable = link_text(bench, EMPTY_LOOP("0 : i64", "1048576 : i64", "1 : i64"));
  hx_executable_release(executable);
}

static void run_refuses(const bench_t *bench, const char *text, const hx_value_t *const *inputs, hx_code_t code,
                        const char *piece) {
  hx_executable_t *executable = link_text(bench, text);
  hx_value_t *outputs[2] = {NULL, NULL};
  assert_int_not_equal(hx_run(executable, inputs, outputs, bench->report), HX_STATUS_OK);
  assert_null(outputs[0]);
  must_fault(bench->report, code, 0, piece);
  hx_report_clear(bench->report);
  hx_executable_release(executable);
}

static void loops_beyond_the_bound_stop_a_run(void **state) {
  bench_t *bench = *state;
  hx_value_t *x = encrypt_seed(bench, 1), *many = number(bench, "index", 1 << 21);
  const hx_value_t *counted[] = {x, x, many};
  run_refuses(bench, SUM_LOOP, counted, HX_CODE_LIMIT, "it would run 2097152 times; a loop runs at most 1048576 times");
  // Never ends: the condition is always true.
  static const char endless[] = MODULE(
      "%x: " CT0, CT0, CT0,
      "%t = \"arith.constant\"() {value = true} : () -> i1\n\"scf.while\"() ({\n\"scf.condition\"(%t) : (i1) -> ()\n}, "
      "{\n\"scf.yield\"() : () -> ()\n}) : () -> ()\n\"func.return\"(%x) : (" CT0 ") -> ()");
  const hx_value_t *one[] = {x};
  run_refuses(bench, endless, one, HX_CODE_LIMIT, "it has run 1048576 times");
  hx_value_release(x);
  hx_value_release(many);
}

static void inputs_of_another_kind_are_refused(void **state) {
  bench_t *bench = *state;
  hx_value_t *x = encrypt_seed(bench, 1), *narrow = number(bench, "i64", 3);
  const hx_value_t *wrong_type[] = {x, x, narrow}, *ciphertext[] = {x, x, x};
  run_refuses(bench, SUM_LOOP, wrong_type, HX_CODE_TYPE, "input arg2");
  run_refuses(bench, SUM_LOOP, ciphertext, HX_CODE_TYPE, "input arg2 is a ciphertext");
  hx_value_t *bad = NULL;
  assert_int_not_equal(hx_value_integer(bench->params, "i8", 128, &bad, bench->report), HX_STATUS_OK);
  must_fault(bench->report, HX_CODE_VALUE, 0, "128 is out of the range of i8");
  assert_int_not_equal(hx_value_integer(bench->params, "f64", 1, &bad, bench->report), HX_STATUS_OK);
  assert_null(bad);
  hx_report_clear(bench->report);
  hx_value_release(x);
  hx_value_release(narrow);
}

// ------------------------------------------------------------------ failures, allocations, texts

static void late_failures_are_told_at_the_step_of_that_turn(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, NESTED);
  hx_value_t *x = encrypt_seed(bench, 1), *flag = number(bench, "i1", 0), *two = number(bench, "index", 2);
  const hx_value_t *inputs[] = {x, x, flag, two, two};
  hx_value_t *outputs[2] = {NULL, NULL};
  fake.late_at = 4;  // neg, then two turns of two adds
  fake.executes = 0;
  assert_int_not_equal(hx_run(executable, inputs, outputs, bench->report), HX_STATUS_OK);
  must_fault(bench->report, HX_CODE_PLUGIN_CALL, 0, "ckks.add");
  fake.late_at = HX_NONE;
  hx_report_clear(bench->report);
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  hx_value_release(x);
  hx_value_release(flag);
  hx_value_release(two);
  hx_executable_release(executable);
}

static void steady_runs_of_loops_allocate_nothing(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, NESTED);
  hx_value_t *x = encrypt_seed(bench, 1), *flag = number(bench, "i1", 0), *two = number(bench, "index", 2);
  const hx_value_t *inputs[] = {x, x, flag, two, two};
  hx_value_t *outputs[2] = {NULL, NULL};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  const uint64_t before = hx_alloc_count();
  for (int i = 0; i < 3; ++i) must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  assert_int_equal(hx_alloc_count() - before, 0);
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  hx_value_release(x);
  hx_value_release(flag);
  hx_value_release(two);
  hx_executable_release(executable);
}

static void source_reads_as_control_flow(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, NESTED);
  const char *source = hx_executable_source(executable);
  assert_non_null(strstr(source, "for (n["));
  assert_non_null(strstr(source, "    if (n["));
  assert_non_null(strstr(source, "} else {\n      "));
  const char *manifest = hx_executable_manifest(executable);
  assert_non_null(strstr(manifest, "\"operation\": \"scf.for\""));
  assert_non_null(strstr(manifest, "\"regions\""));
  hx_executable_release(executable);
}

static void numbers_wrap_and_compare_by_their_types(void **state) {
  (void)state;
  int64_t numbers[4] = {0, -1, 1, 0};
  const hx_number_code_t less = {.op = HX_OP_ARITH_CMPI, .a = 1, .b = 2, .to = 3, .bits = 8, .predicate = 2};
  assert_true(hx_number_execute(&less, numbers));
  assert_int_equal(numbers[3], -1);
  hx_number_code_t below = less;
  below.predicate = 6;  // 255 < 1
  assert_true(hx_number_execute(&below, numbers));
  assert_int_equal(numbers[3], 0);
  numbers[1] = 127;
  hx_number_code_t sum = {.op = HX_OP_ARITH_ADDI, .a = 1, .b = 2, .to = 3, .bits = 8};
  assert_true(hx_number_execute(&sum, numbers));
  assert_int_equal(numbers[3], -128);
  numbers[1] = 255;
  sum.is_unsigned = true;
  assert_true(hx_number_execute(&sum, numbers));
  assert_int_equal(numbers[3], 0);
  uint64_t trips = 0;
  assert_true(hx_control_trips(-2, 3, 2, false, &trips));
  assert_int_equal(trips, 3);
  assert_true(hx_control_trips(-2, 3, 2, true, &trips));
  assert_int_equal(trips, 0);
  assert_true(hx_control_trips(3, -2, 2, false, &trips));
  assert_int_equal(trips, 0);
  assert_false(hx_control_trips(0, 3, -2, false, &trips));
}

// 100 / n and what is left, the greater of n and 3, bits of n, by the ways of the arithmetic.
#define ARITH                                                                                                        \
  MODULE(                                                                                                            \
      "%n: si8, %i: index", "si8, index", "si8, si8, si8, si8, i16, si8",                                            \
      "%h = \"arith.constant\"() {value = 100 : si8} : () -> si8\n%t = \"arith.constant\"() {value = 3 : si8} : () " \
      "-> si8\n%q = \"arith.divsi\"(%h, %n) : (si8, si8) -> si8\n%r = \"arith.remsi\"(%h, %n) : (si8, si8) -> "      \
      "si8\n%c = \"arith.cmpi\"(%n, %t) {predicate = 4 : i64} : (si8, si8) -> i1\n%m = \"arith.select\"(%c, %n, "    \
      "%t) : (i1, si8, si8) -> si8\n%a = \"arith.andi\"(%n, %t) : (si8, si8) -> si8\n%x = \"arith.index_cast\"(%i) " \
      ": (index) -> i16\n%u = \"arith.divui\"(%h, %n) : (si8, si8) -> si8\n\"func.return\"(%q, %r, %m, %a, %x, "     \
      "%u) : (si8, si8, si8, si8, i16, si8) -> ()")

static void arithmetic_honours_width_and_sign(void **state) {
  bench_t *bench = *state;
  static const int64_t cases[][8] = {
      // n, i, 100 / n, rest, max(n, 3), n & 3, low 16 bits of i, 100 / (n as unsigned)
      {7, 5, 14, 2, 7, 3, 5, 14},
      {-7, 70000, -14, 2, 3, 1, 4464, 0},
      {-1, -1, -100, 0, 3, 3, -1, 0},
      {-128, 40000, 0, 100, 3, 0, -25536, 0},
  };
  hx_executable_t *executable = link_text(bench, ARITH);
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    hx_value_t *n = number(bench, "si8", cases[i][0]), *index = number(bench, "index", cases[i][1]);
    const hx_value_t *inputs[] = {n, index};
    hx_value_t *outputs[6] = {NULL};
    must(hx_run(executable, inputs, outputs, bench->report), bench->report);
    for (size_t k = 0; k < 6; ++k) {
      assert_int_equal(hx_value_get_integer(outputs[k]), cases[i][2 + k]);
      hx_value_release(outputs[k]);
    }
    hx_value_release(n);
    hx_value_release(index);
  }
  hx_value_t *zero = number(bench, "si8", 0), *index = number(bench, "index", 0);
  const hx_value_t *inputs[] = {zero, index};
  hx_value_t *outputs[6] = {NULL};
  assert_int_not_equal(hx_run(executable, inputs, outputs, bench->report), HX_STATUS_OK);
  must_fault(bench->report, HX_CODE_INPUT, 0, "arith.divsi: division by 0");
  assert_null(outputs[0]);
  hx_report_clear(bench->report);
  hx_value_release(zero);
  hx_value_release(index);
  hx_executable_release(executable);
}

static void linking_loops_fails_cleanly_for_want_of_memory(void **state) {
  bench_t *bench = *state;
  hx_compilation_t *compilation = link_compile(bench, NESTED);
  bool failed = false, linked = false;
  for (uint64_t n = 1; n < 2000 && !linked; n += 1 + n / 16) {
    hx_executable_t *executable = NULL;
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_link(compilation, bench->backend, "", &executable, NULL);
    hx_alloc_fail_at(0);
    failed = failed || status == HX_STATUS_OUT_OF_MEMORY;
    linked = status == HX_STATUS_OK;
    if (linked) hx_executable_release(executable);
  }
  assert_true(failed);
  hx_compilation_release(compilation);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(loop_gives_the_bits_of_its_turns_written_out, setup, teardown),
      cmocka_unit_test_setup_teardown(turn_computes_in_the_place_of_what_it_carries, setup, teardown),
      cmocka_unit_test_setup_teardown(carried_values_change_places_at_once, setup, teardown),
      cmocka_unit_test_setup_teardown(while_gives_what_its_condition_passed_on, setup, teardown),
      cmocka_unit_test_setup_teardown(branches_and_loops_nest, setup, teardown),
      cmocka_unit_test_setup_teardown(value_from_before_a_loop_outlives_its_turns, setup, teardown),
      cmocka_unit_test_setup_teardown(functions_are_linked_and_executed, setup, teardown),
      cmocka_unit_test_setup_teardown(two_plugins_give_the_same_bits, setup, teardown),
      cmocka_unit_test_setup_teardown(arithmetic_honours_width_and_sign, setup, teardown),
      cmocka_unit_test_setup_teardown(loops_beyond_the_bound_are_refused_at_link, setup, teardown),
      cmocka_unit_test_setup_teardown(loops_beyond_the_bound_stop_a_run, setup, teardown),
      cmocka_unit_test_setup_teardown(inputs_of_another_kind_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(late_failures_are_told_at_the_step_of_that_turn, setup, teardown),
      cmocka_unit_test_setup_teardown(steady_runs_of_loops_allocate_nothing, setup, teardown),
      cmocka_unit_test_setup_teardown(source_reads_as_control_flow, setup, teardown),
      cmocka_unit_test_setup_teardown(linking_loops_fails_cleanly_for_want_of_memory, setup, teardown),
      cmocka_unit_test(numbers_wrap_and_compare_by_their_types)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
