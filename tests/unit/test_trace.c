// SPDX-License-Identifier: Apache-2.0
// Traces and records of runs.
#include <jansson.h>
#include <unistd.h>

#include "heliox/trace.h"
#include "tests/unit/link_fixture.h"

#define SUM                                                                                                        \
  MODULE("%x: " CT0 ", %n: index", CT0 ", index", CT,                                                              \
         "%zero = \"arith.constant\"() {value = 0 : index} : () -> index\n"                                        \
         "%one = \"arith.constant\"() {value = 1 : index} : () -> index\n%y = \"ckks.neg\"(%x) : (" CT0 ") -> " CT \
         "\n%r = \"scf.for\"(%zero, %n, %one, %y) ({\n^entry(%i: index, %a: " CT                                   \
         "):\n%b = \"ckks.add\"(%a, %x) : (" CT ", " CT0 ") -> " CT "\n\"scf.yield\"(%b) : (" CT                   \
         ") -> ()\n}) : (index, index, index, " CT ") -> " CT "\n\"func.return\"(%r) : (" CT ") -> ()")

typedef struct scene {
  bench_t bench;
  hx_executable_t *executable;
  hx_value_t *x, *count;
  const hx_value_t *inputs[2];
  char path[64];
} scene_t;

static int setup(void **state) {
  scene_t *scene = calloc(1, sizeof *scene);
  bench_open(&scene->bench, FAKE_ALL);
  scene->executable = link_text(&scene->bench, SUM);
  scene->x = encrypt_seed(&scene->bench, 1);
  must(hx_value_integer(scene->bench.params, "index", 3, &scene->count, scene->bench.report), scene->bench.report);
  scene->inputs[0] = scene->x;
  scene->inputs[1] = scene->count;
  snprintf(scene->path, sizeof scene->path, "/tmp/heliox-trace-%d", (int)getpid());
  *state = scene;
  return 0;
}

static int teardown(void **state) {
  scene_t *scene = *state;
  hx_value_release(scene->x);
  hx_value_release(scene->count);
  hx_executable_release(scene->executable);
  bench_close(&scene->bench);
  unlink(scene->path);
  free(scene);
  return 0;
}

static hx_status_t run_scene(scene_t *scene, const hx_run_options_t *options) {
  hx_value_t *outputs[1] = {NULL};
  const hx_status_t status = hx_run_with(scene->executable, scene->inputs, outputs, options, scene->bench.report);
  assert_true((status == HX_STATUS_OK) == (outputs[0] != NULL));
  hx_value_release(outputs[0]);
  return status;
}

static void trace_has_an_event_for_every_call_of_every_turn(void **state) {
  scene_t *scene = *state;
  hx_trace_t *trace = NULL;
  must(hx_trace_create(&trace, scene->bench.report), scene->bench.report);
  const hx_run_options_t options = {.trace = trace};
  for (int i = 0; i < 2; ++i) must(run_scene(scene, &options), scene->bench.report);
  const hx_trace_event_t *events;
  assert_int_equal(hx_trace_events(trace, &events), 8);
  for (size_t i = 0; i < 8; ++i) {
    assert_int_equal(events[i].run, i / 4);
    assert_int_equal(events[i].call, i % 4);
    assert_string_equal(events[i].operation, i % 4 == 0 ? "ckks.neg" : "ckks.add");
    assert_string_equal(events[i].value, i % 4 == 0 ? "%y" : "%b");
    assert_string_equal(events[i].implementation, "alpha/ref");
    if (i > 0) assert_true(events[i].start_ns >= events[i - 1].start_ns + events[i - 1].duration_ns);
  }
  must(hx_trace_save(trace, scene->path, scene->bench.report), scene->bench.report);
  json_error_t error;
  json_t *json = json_load_file(scene->path, 0, &error);
  assert_non_null(json);
  // Three names: the process and two runs; then the calls.
  assert_int_equal(json_array_size(json_object_get(json, "traceEvents")), 3 + 8);
  const json_t *last = json_array_get(json_object_get(json, "traceEvents"), 10);
  assert_string_equal(json_string_value(json_object_get(last, "name")), "ckks.add");
  assert_string_equal(json_string_value(json_object_get(last, "ph")), "X");
  assert_true(json_is_number(json_object_get(last, "ts")) && json_is_number(json_object_get(last, "dur")));
  json_decref(json);
  assert_int_not_equal(hx_trace_save(trace, "/nowhere/at/all", scene->bench.report), HX_STATUS_OK);
  hx_trace_release(trace);
}

static void replay_of_the_same_run_agrees(void **state) {
  scene_t *scene = *state;
  hx_record_t *record = NULL, *loaded = NULL;
  must(hx_record_create(&record, scene->bench.report), scene->bench.report);
  const hx_run_options_t recorded = {.record = record};
  must(run_scene(scene, &recorded), scene->bench.report);
  assert_int_equal(hx_record_count(record), 4);
  must(run_scene(scene, &recorded), scene->bench.report);
  assert_int_equal(hx_record_count(record), 4);
  must(hx_record_save(record, scene->path, scene->bench.report), scene->bench.report);
  must(hx_record_load(scene->path, &loaded, scene->bench.report), scene->bench.report);
  assert_int_equal(hx_record_count(loaded), 4);
  const hx_run_options_t replayed = {.replay = loaded};
  must(run_scene(scene, &replayed), scene->bench.report);
  hx_record_release(record);
  hx_record_release(loaded);
}

static void replay_names_the_first_result_that_differs(void **state) {
  scene_t *scene = *state;
  hx_record_t *record = NULL;
  must(hx_record_create(&record, scene->bench.report), scene->bench.report);
  const hx_run_options_t recorded = {.record = record}, replayed = {.replay = record};
  must(run_scene(scene, &recorded), scene->bench.report);
  // Another ciphertext: the first call differs.
  hx_value_t *other = encrypt_seed(&scene->bench, 2);
  scene->inputs[0] = other;
  assert_int_equal(run_scene(scene, &replayed), hx_code_info(HX_CODE_DIFFERS)->status);
  must_fault(scene->bench.report, HX_CODE_DIFFERS, 0, "call 0, ckks.neg, gives another %y than the record");
  hx_report_clear(scene->bench.report);
  scene->inputs[0] = scene->x;
  // More and fewer turns.
  for (int64_t turns = 2; turns < 5; turns += 2) {
    hx_value_t *count = NULL;
    must(hx_value_integer(scene->bench.params, "index", turns, &count, scene->bench.report), scene->bench.report);
    scene->inputs[1] = count;
    assert_int_not_equal(run_scene(scene, &replayed), HX_STATUS_OK);
    must_fault(scene->bench.report, HX_CODE_DIFFERS, 0,
               turns == 2 ? "the run gave 3 results, the record has 4" : "but the record has 4 results");
    hx_report_clear(scene->bench.report);
    hx_value_release(count);
  }
  const hx_run_options_t both = {.record = record, .replay = record};
  assert_int_not_equal(run_scene(scene, &both), HX_STATUS_OK);
  hx_report_clear(scene->bench.report);
  hx_value_release(other);
  hx_record_release(record);
}

#define PARAMS "params 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// A device that breaks the contract is a fault of nobody who can mend it here.
static void recording_ends_where_pinned_memory_has_no_address(void **state) {
  scene_t *scene = *state;
  hx_record_t *record = NULL;
  must(hx_record_create(&record, scene->bench.report), scene->bench.report);
  const hx_run_options_t recorded = {.record = record};
  fake.hides_pinned = true;
  assert_int_equal(run_scene(scene, &recorded), HX_STATUS_INTERNAL);
  fake.hides_pinned = false;
  must_fault(scene->bench.report, HX_CODE_INTERNAL, 0, "gives pinned memory without an address");
  hx_record_release(record);
}

static void record_text_is_read_strictly(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hx_code_t code;
  } bad[] = {{"", HX_CODE_FILE_FORMAT},
             {"heliox-record 1", HX_CODE_FILE_FORMAT},
             {"heliox-record 3\n" PARAMS, HX_CODE_FILE_VERSION},
             {"heliox-record 1\nparams 01\n", HX_CODE_FILE_FORMAT},
             {"heliox-record 1\n" PARAMS "call 0 ckks.add %x\n", HX_CODE_FILE_FORMAT},
             {"heliox-record 1\n" PARAMS "call 0 ckks.add %x " DIGEST "0\n", HX_CODE_FILE_FORMAT},
             {"heliox-record 1\n" PARAMS "call -1 ckks.add %x " DIGEST "\n", HX_CODE_FILE_FORMAT},
             {"heliox-record 1\n" PARAMS "call 9999999999999999999 ckks.add %x " DIGEST "\n", HX_CODE_FILE_FORMAT},
             {"heliox-record 1\n" PARAMS "call 0 ckks.add %x " DIGEST, HX_CODE_FILE_FORMAT},
             {"heliox-record 1\n" PARAMS "call 0  %x " DIGEST "\n", HX_CODE_FILE_FORMAT},
             {"heliox-record 1\n" PARAMS "Call 0 ckks.add %x " DIGEST "\n", HX_CODE_FILE_FORMAT}};
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) {
    hx_report_t *report = hx_report_create();
    hx_record_t *record = NULL;
    assert_int_not_equal(hx_record_parse(hx_str(bad[i].text), "r", &record, report), HX_STATUS_OK);
    assert_null(record);
    must_fault(report, bad[i].code, 0, "");
    hx_report_release(report);
  }
  hx_record_t *record = NULL;
  assert_int_equal(
      hx_record_parse(hx_str("heliox-record 1\n" PARAMS "call 0 ckks.add %x " DIGEST "\ncall 7 ckks.neg %1 secret\n"),
                      "r", &record, NULL),
      HX_STATUS_OK);
  assert_int_equal(hx_record_count(record), 2);
  hx_record_release(record);
  assert_int_equal(hx_record_parse(hx_str("heliox-record 2\n" PARAMS "call 0 ckks.add %x inner\n"), "r", &record, NULL),
                   HX_STATUS_OK);
  assert_int_equal(hx_record_count(record), 1);
  hx_record_release(record);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(trace_has_an_event_for_every_call_of_every_turn, setup, teardown),
      cmocka_unit_test_setup_teardown(replay_of_the_same_run_agrees, setup, teardown),
      cmocka_unit_test_setup_teardown(replay_names_the_first_result_that_differs, setup, teardown),
      cmocka_unit_test_setup_teardown(recording_ends_where_pinned_memory_has_no_address, setup, teardown),
      cmocka_unit_test(record_text_is_read_strictly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
