// SPDX-License-Identifier: Apache-2.0
// Programs of one rank: collectives as steps, over ranks that a fixture simulates. Every other rank brings what this
// one brings, so the results are known. The cpu plugin's bits are the measure.
#include "heliox/group.h"
#include "tests/unit/link_fixture.h"

#define FAR HELIOX_BUILD_DIR "/tests/fixtures/far"
#define GROUP "!resource.handle<kind = \"process-group\">"
#define WORLD "%g = \"resource.ref\"() {symbol = @world, kind = \"process-group\"} : () -> " GROUP "\n"
#define ONE(body_) MODULE("%x: " CT0, CT0, CT0, WORLD body_ "\"func.return\"(%r) : (" CT0 ") -> ()")

typedef struct group_bench {
  bench_t far, cpu;
  hx_group_t *group;
  hx_backend_t *grouped;  // the far backend with @world
} group_bench_t;

static int open_bench(void **state) {
  group_bench_t *both = calloc(1, sizeof *both);
  if (!bench_open_cpu(&both->cpu, LINK_RING)) return 1;
  both->far = (bench_t){.params = both->cpu.params, .keys = both->cpu.keys, .report = hx_report_create()};
  const hx_plugins_options_t options = {.path = FAR, .only_path = true};
  hx_plugins_t *plugins = NULL;
  hx_report_t *report = both->far.report;
  must(hx_plugins_discover(&options, &plugins, report), report);
  must(hx_backend_create(plugins, "far", &both->far.backend, report), report);
  hx_plugins_release(plugins);
  assert_int_equal(hx_plugin_option_set("far-ranks", "3"), HX_STATUS_OK);
  must(hx_group_open(both->far.backend, "world", 0, &both->group, report), report);
  must(hx_backend_with_group(both->far.backend, "world", both->group, &both->grouped, report), report);
  *state = both;
  return 0;
}

static int close_bench(void **state) {
  group_bench_t *both = *state;
  hx_backend_release(both->grouped);
  hx_group_release(both->group);
  assert_int_equal(hx_plugin_option_set("far-ranks", NULL), HX_STATUS_OK);
  hx_backend_release(both->far.backend);
  hx_report_release(both->far.report);
  bench_close(&both->cpu);
  free(both);
  return 0;
}

static hx_status_t link_on(const bench_t *bench, const hx_backend_t *backend, const char *text, hx_executable_t **out) {
  hx_compilation_t *compilation = link_compile(bench, text);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  const hx_status_t status = hx_link(compilation, backend, NULL, out, bench->report);
  hx_compilation_release(compilation);
  return status;
}

static hx_value_t *run_once(const bench_t *bench, hx_executable_t *executable, const hx_value_t *x) {
  hx_value_t *input = NULL, *output = NULL, *result = NULL;
  must(hx_value_to_device(x, bench->backend, &input, bench->report), bench->report);
  must(hx_run(executable, (const hx_value_t *const *)&input, &output, bench->report), bench->report);
  must(hx_value_to_host(output, &result, bench->report), bench->report);
  hx_value_release(output);
  hx_value_release(input);
  return result;
}

static void must_give(const group_bench_t *both, const char *collective, const char *alone) {
  hx_value_t *x = encrypt_seed(&both->far, 5);
  hx_executable_t *spread = NULL, *one = NULL;
  must(link_on(&both->far, both->grouped, collective, &spread), both->far.report);
  must(link_on(&both->cpu, both->cpu.backend, alone, &one), both->cpu.report);
  hx_value_t *expected = run_once(&both->cpu, one, x);
  for (int round = 0; round < 2; ++round) {  // a second run finds everything as the first one did
    hx_value_t *found = run_once(&both->far, spread, x);
    assert_true(hx_value_equal(found, expected));
    assert_int_equal(found->count, expected->count);
    hx_value_release(found);
  }
  hx_value_release(expected);
  hx_executable_release(one);
  hx_executable_release(spread);
  hx_value_release(x);
}

#define ADD(a_, b_, to_) to_ " = \"rns.add\"(" a_ ", " b_ ") : (" CT0 ", " CT0 ") -> " CT0 "\n"
#define ALONE(body_) MODULE("%x: " CT0, CT0, CT0, body_ "\"func.return\"(%r) : (" CT0 ") -> ()")

static void reductions_combine_the_values_of_all_ranks(void **state) {
  const group_bench_t *both = *state;
  must_give(both, ONE("%r = \"distributed.all_reduce_add_ciphertext\"(%g, %x) : (" GROUP ", " CT0 ") -> " CT0 "\n"),
            ALONE(ADD("%x", "%x", "%a") ADD("%a", "%x", "%r")));
  // A region that is no sum: ((x - x) - x) from rank 0 up, around other work.
  must_give(both,
            ONE(ADD("%x", "%x", "%y") "%s = \"distributed.all_reduce\"(%g, %y) ({\n^body(%s0: " CT0 ", %v: " CT0
                                      "):\n%t = \"ckks.sub\"(%s0, %v) : (" CT0 ", " CT0 ") -> " CT0
                                      "\n\"distributed.yield\"(%t) : (" CT0 ") -> ()\n}) : (" GROUP ", " CT0 ") -> " CT0
                                      "\n" ADD("%s", "%x", "%r")),
            ALONE(ADD("%x", "%x", "%y") "%n = \"rns.neg\"(%y) : (" CT0 ") -> " CT0 "\n" ADD("%n", "%x", "%r")));
}

static void values_are_broadcast_and_numbers_known(void **state) {
  const group_bench_t *both = *state;
  must_give(both, ONE("%r = \"distributed.broadcast\"(%g, %x) {root = 2 : i64} : (" GROUP ", " CT0 ") -> " CT0 "\n"),
            ALONE("%z = \"rns.sub\"(%x, %x) : (" CT0 ", " CT0 ") -> " CT0 "\n" ADD("%z", "%x", "%r")));
  // x as often as there are ranks, then once for rank 0.
  must_give(both,
            ONE("%k = \"distributed.group_size\"(%g) : (" GROUP ") -> i64\n%me = \"distributed.rank\"(%g) : (" GROUP
                ") -> i64\n%one = \"arith.constant\"() {value = 1 : i64} : () -> i64\n"
                "%r = \"scf.for\"(%me, %k, %one, %x) ({\n^body(%i: i64, %c: " CT0
                "):\n" ADD("%c", "%x", "%t") "\"scf.yield\"(%t) : (" CT0 ") -> ()\n}) : (i64, i64, i64, " CT0
                                             ") -> " CT0 "\n"),
            ALONE(ADD("%x", "%x", "%a") ADD("%a", "%x", "%b") ADD("%b", "%x", "%r")));
}

static void volumes_are_counted(void **state) {
  const group_bench_t *both = *state;
  hx_group_volume_t before, after;
  hx_group_volume(both->group, &before);
  hx_value_t *x = encrypt_seed(&both->far, 6);
  hx_executable_t *spread = NULL;
  must(link_on(&both->far, both->grouped,
               ONE("%r = \"distributed.all_reduce_add_ciphertext\"(%g, %x) : (" GROUP ", " CT0 ") -> " CT0 "\n"),
               &spread),
       both->far.report);
  assert_non_null(strstr(hx_executable_manifest(spread), "\"distributed.all_reduce\""));
  assert_non_null(strstr(hx_executable_source(spread), "collective(\"distributed.all_reduce\""));
  hx_value_t *found = run_once(&both->far, spread, x);
  hx_group_volume(both->group, &after);
  const uint64_t bytes = (uint64_t)2 * 5 * 1024 * 8;
  assert_int_equal(after.sent - before.sent, bytes);
  assert_int_equal(after.received - before.received, 2 * bytes);
  assert_int_equal(after.calls - before.calls, 1);
  hx_value_release(found);
  hx_executable_release(spread);
  hx_value_release(x);
}

static void expect_refusal(const group_bench_t *both, const hx_backend_t *backend, const char *text, hx_code_t code,
                           const char *piece) {
  hx_executable_t *spread = NULL;
  hx_report_clear(both->far.report);
  assert_int_not_equal(link_on(&both->far, backend, text, &spread), HX_STATUS_OK);
  assert_null(spread);
  must_fault(both->far.report, code, 0, piece);
  hx_report_clear(both->far.report);
}

static void programs_of_other_ranks_are_refused(void **state) {
  const group_bench_t *both = *state;
  const char *sum = ONE("%r = \"distributed.all_reduce_add_ciphertext\"(%g, %x) : (" GROUP ", " CT0 ") -> " CT0 "\n");
  expect_refusal(both, both->far.backend, sum, HX_CODE_RESOURCE, "no resource named world");
  expect_refusal(both, both->grouped,
                 ONE("%r = \"distributed.broadcast\"(%g, %x) {root = 3 : i64} : (" GROUP ", " CT0 ") -> " CT0 "\n"),
                 HX_CODE_RANK_MISMATCH, "rank 3, but the group has 3 ranks");
  expect_refusal(both, both->grouped,
                 ONE("%r = \"distributed.receive\"(%g) {from = 0 : i64} : (" GROUP ") -> " CT0 "\n"),
                 HX_CODE_RANK_MISMATCH, "does not send to itself");
  expect_refusal(both, both->grouped,
                 ONE("%r = \"distributed.broadcast\"(%g) {root = 0 : i64} : (" GROUP ") -> " CT0 "\n"),
                 HX_CODE_OPERANDS, "missing on rank 0");
  expect_refusal(both, both->grouped,
                 ONE("%r = \"distributed.gather_limbs\"(%g, %x) {ids = [0, 1, 2, 3, 4], owners = [1, 1, 1, 1, 1], rank "
                     "= 1 : i64} : (" GROUP ", " CT0 ") -> " CT0 "\n"),
                 HX_CODE_RANK_MISMATCH, "rank");
}

// What the other ranks do otherwise ends the run on this one, before anything is sent; the next run works.
static void ranks_that_differ_end_the_run(void **state) {
  const group_bench_t *both = *state;
  hx_value_t *x = encrypt_seed(&both->far, 7), *input = NULL, *output = NULL;
  hx_report_t *report = both->far.report;
  hx_executable_t *spread = NULL;
  must(link_on(&both->far, both->grouped,
               ONE("%r = \"distributed.all_reduce_add_ciphertext\"(%g, %x) : (" GROUP ", " CT0 ") -> " CT0 "\n"),
               &spread),
       report);
  must(hx_value_to_device(x, both->grouped, &input, report), report);
  static const struct {
    const char *option;
    hx_code_t code;
    const char *piece;
  } rows[] = {{"far-rank-differs", HX_CODE_RANK_MISMATCH, "rank 1 differs from rank 0"},
              {"far-rank-missing", HX_CODE_RANK_MISSING, "rank 1 did not come"}};
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    hx_group_volume_t before, after;
    hx_group_volume(both->group, &before);
    assert_int_equal(hx_plugin_option_set(rows[i].option, "1"), HX_STATUS_OK);
    assert_int_not_equal(hx_run(spread, (const hx_value_t *const *)&input, &output, report), HX_STATUS_OK);
    assert_null(output);
    must_fault(report, rows[i].code, 0, rows[i].piece);
    hx_report_clear(report);
    assert_int_equal(hx_plugin_option_set(rows[i].option, NULL), HX_STATUS_OK);
    hx_group_volume(both->group, &after);
    assert_int_equal(after.sent, before.sent);
  }
  must(hx_run(spread, (const hx_value_t *const *)&input, &output, report), report);
  hx_value_release(output);
  hx_value_release(input);
  hx_executable_release(spread);
  hx_value_release(x);
}

// How the other ranks fare: here all fare alike.
static void ranks_join_after_a_step(void **state) {
  const group_bench_t *both = *state;
  hx_report_t *report = both->far.report;
  hx_report_clear(report);
  must(hx_group_join(both->group, HX_STATUS_OK, report), report);
  const hx_status_t failed = hx_report_fail(report, HX_CODE_INPUT, "no such file");
  assert_int_equal(hx_group_join(both->group, failed, report), failed);
  assert_int_equal(hx_report_count(report), 1);
  hx_report_clear(report);
}

// Every allocation of linking and running fails once: nothing is lost, and the group serves the next run.
static void collectives_survive_every_failed_allocation(void **state) {
  const group_bench_t *both = *state;
  hx_value_t *x = encrypt_seed(&both->far, 8), *placed = NULL;
  must(hx_value_to_device(x, both->far.backend, &placed, both->far.report), both->far.report);
  hx_compilation_t *compilation = link_compile(
      &both->far, ONE("%r = \"distributed.all_reduce_add_ciphertext\"(%g, %x) : (" GROUP ", " CT0 ") -> " CT0 "\n"));
  bool complete = false;
  for (uint64_t n = 1; !complete && n < 1000000; n += 1 + n / 64) {
    hx_executable_t *executable = NULL;
    hx_value_t *output = NULL;
    hx_alloc_fail_at(n);
    hx_status_t status = hx_link(compilation, both->grouped, NULL, &executable, NULL);
    if (status == HX_STATUS_OK) status = hx_run(executable, (const hx_value_t *const *)&placed, &output, NULL);
    hx_alloc_fail_at(0);
    complete = status == HX_STATUS_OK;
    // What fails inside the plugin's call comes back through the plugin.
    if (!complete && status != HX_STATUS_OUT_OF_MEMORY && status != HX_STATUS_INTERNAL)
      fail_msg("allocation %llu: %s", (unsigned long long)n, hx_status_name(status));
    hx_value_release(output);
    hx_executable_release(executable);
  }
  assert_true(complete);
  hx_compilation_release(compilation);
  hx_value_release(placed);
  hx_value_release(x);
}

// A group of one reads the keys itself, and keeps those that are asked for.
static void keys_are_those_that_a_program_needs(void **state) {
  group_bench_t *both = *state;
  hx_report_t *report = both->far.report;
  char directory[] = "/tmp/heliox-group-keys-XXXXXX", line[128];
  assert_non_null(mkdtemp(directory));
  must(hx_keys_save(both->far.keys, directory, HX_KEYS_EVALUATION, true, report), report);
  assert_int_equal(hx_plugin_option_set("far-ranks", "1"), HX_STATUS_OK);
  hx_group_t *alone = NULL;
  hx_keys_t *keys = NULL;
  must(hx_group_open(both->far.backend, "world", 0, &alone, report), report);
  uint64_t elements[8];
  assert_true(hx_keys_galois_elements(both->far.keys, elements, 8) >= 3);
  const hx_program_needs_t needs = {
      .parts = HX_KEYS_RELIN | HX_KEYS_GALOIS, .elements = elements + 1, .element_count = 1};
  must(hx_group_load_keys(alone, directory, both->far.params, &needs, NULL, &keys, report), report);
  assert_int_equal(hx_keys_parts(keys), HX_KEYS_RELIN | HX_KEYS_GALOIS);
  assert_memory_equal(hx_keys_id(keys), hx_keys_id(both->far.keys), 16);
  uint64_t found[8];
  assert_int_equal(hx_keys_galois_elements(keys, found, 8), 1);
  assert_int_equal(found[0], elements[1]);
  const hx_switch_key_t *mine = hx_keys_find(keys, HX_KEY_GALOIS, found[0]);
  const hx_switch_key_t *theirs = hx_keys_find(both->far.keys, HX_KEY_GALOIS, found[0]);
  assert_memory_equal(hx_tensor_row(mine->tensor, 0, 1, 1, 2), hx_tensor_row(theirs->tensor, 0, 1, 1, 2), 1024 * 8);
  hx_keys_release(keys);
  keys = NULL;
  const hx_program_needs_t none = {0};
  must(hx_group_load_keys(alone, directory, both->far.params, &none, NULL, &keys, report), report);
  assert_int_equal(hx_keys_parts(keys), 0);
  hx_keys_release(keys);
  keys = NULL;
  assert_int_not_equal(hx_group_load_keys(alone, "/nowhere", both->far.params, &needs, NULL, &keys, report),
                       HX_STATUS_OK);
  assert_null(keys);
  hx_report_clear(report);
  hx_group_release(alone);
  assert_int_equal(hx_plugin_option_set("far-ranks", "3"), HX_STATUS_OK);
  snprintf(line, sizeof line, "rm -r %s", directory);
  assert_int_equal(system(line), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reductions_combine_the_values_of_all_ranks),
      cmocka_unit_test(values_are_broadcast_and_numbers_known),
      cmocka_unit_test(volumes_are_counted),
      cmocka_unit_test(programs_of_other_ranks_are_refused),
      cmocka_unit_test(ranks_that_differ_end_the_run),
      cmocka_unit_test(ranks_join_after_a_step),
      cmocka_unit_test(keys_are_those_that_a_program_needs),
      cmocka_unit_test(collectives_survive_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, open_bench, close_bench);
}
