// SPDX-License-Identifier: Apache-2.0
// Programs on a device that is far from the host: fused regions, recorded runs, late failures, progress, cancelling.
// The cpu plugin's bits are the measure.
#include <unistd.h>

#include "heliox/group.h"
#include "heliox/trace.h"
#include "tests/unit/link_fixture.h"

#define FAR HELIOX_BUILD_DIR "/tests/fixtures/far"

typedef struct far_bench {
  bench_t far, cpu;
} far_bench_t;

static hx_backend_t *open_backend(const char *path, const char *name, hx_report_t *report) {
  const hx_plugins_options_t options = {.path = path, .only_path = true};
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  must(hx_plugins_discover(&options, &plugins, report), report);
  must(hx_backend_create(plugins, name, &backend, report), report);
  hx_plugins_release(plugins);
  return backend;
}

static int open_both(void **state) {
  far_bench_t *both = calloc(1, sizeof *both);
  if (!bench_open_cpu(&both->cpu, LINK_RING)) return 1;
  both->far = (bench_t){.params = both->cpu.params, .keys = both->cpu.keys, .report = hx_report_create()};
  both->far.backend = open_backend(FAR, "far", both->far.report);
  *state = both;
  return 0;
}

static int close_both(void **state) {
  far_bench_t *both = *state;
  hx_backend_release(both->far.backend);
  hx_report_release(both->far.report);
  bench_close(&both->cpu);
  free(both);
  return 0;
}

static hx_executable_t *link_with(const bench_t *bench, const char *text, const char *pipeline) {
  hx_compilation_t *compilation = link_compile(bench, text);
  hx_executable_t *executable = NULL;
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  must(hx_link(compilation, bench->backend, pipeline, &executable, bench->report), bench->report);
  hx_compilation_release(compilation);
  return executable;
}

// Runs on values of the host: there and back as a caller does it.
static hx_value_t *run_on(const bench_t *bench, hx_executable_t *executable, const hx_value_t *x, const hx_value_t *y,
                          const hx_run_options_t *options) {
  hx_value_t *inputs[2], *output = NULL, *result = NULL;
  must(hx_value_to_device(x, bench->backend, &inputs[0], bench->report), bench->report);
  must(hx_value_to_device(y, bench->backend, &inputs[1], bench->report), bench->report);
  must(hx_run_with(executable, (const hx_value_t *const *)inputs, &output, options, bench->report), bench->report);
  must(hx_value_to_host(output, &result, bench->report), bench->report);
  hx_value_release(output);
  hx_value_release(inputs[0]);
  hx_value_release(inputs[1]);
  return result;
}

static void must_equal(const hx_value_t *a, const hx_value_t *b) { assert_true(hx_value_equal(a, b)); }

// ((x + y) * y + x) - y on residues: four operations element by element, the last but one also leaves the region.
#define ELEMENTS(mark_)                                                                                       \
  MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT0,                                                          \
         "%a = \"rns.add\"(%x, %y) " mark_ ": (" CT0 ", " CT0 ") -> " CT0 "\n%b = \"rns.sub\"(%a, %y) " mark_ \
         ": (" CT0 ", " CT0 ") -> " CT0 "\n%c = \"rns.neg\"(%b) " mark_ ": (" CT0 ") -> " CT0                 \
         "\n%d = \"rns.add\"(%c, %y) " mark_ ": (" CT0 ", " CT0 ") -> " CT0 "\n\"func.return\"(%d) : (" CT0 ") -> ()")

static void region_gives_the_bits_of_its_operations(void **state) {
  far_bench_t *both = *state;
  hx_value_t *x = encrypt_seed(&both->far, 1), *y = encrypt_seed(&both->far, 2);
  hx_executable_t *fused = link_with(&both->far, ELEMENTS(""), NULL), *apart = link_with(&both->far, ELEMENTS(""), ""),
                  *cpu = link_with(&both->cpu, ELEMENTS(""), NULL);
  hx_run_stats_t stats;
  hx_executable_stats(fused, &stats);
  assert_int_equal(stats.calls, 1);
  assert_int_equal(stats.slab_bytes, 0);  // nothing of it leaves the region
  hx_executable_stats(apart, &stats);
  assert_int_equal(stats.calls, 4);
  assert_non_null(strstr(hx_executable_manifest(fused), "\"implementation\": \"far/far\""));
  assert_non_null(strstr(hx_executable_manifest(fused), "\"fusion.region\""));
  assert_null(strstr(hx_executable_manifest(apart), "\"regions\""));
  assert_non_null(strstr(hx_executable_source(fused), "fusion_region"));
  hx_value_t *results[] = {run_on(&both->far, fused, x, y, NULL), run_on(&both->far, apart, x, y, NULL),
                           run_on(&both->cpu, cpu, x, y, NULL)};
  must_equal(results[0], results[1]);
  must_equal(results[0], results[2]);
  for (size_t i = 0; i < 3; ++i) hx_value_release(results[i]);
  hx_executable_release(fused);
  hx_executable_release(apart);
  hx_executable_release(cpu);
  hx_value_release(x);
  hx_value_release(y);
}

// A whole CKKS computation: what lowering makes of it is fused where it can be.
#define PRODUCT                                                                                                      \
  MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT,                                                                  \
         "%p = \"ckks.mul\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT "\n%r = \"ckks.relinearize\"(%p) : (" CT ") -> " CT \
         "\n%s = \"ckks.rescale\"(%r) : (" CT ") -> " CT "\n%t = \"ckks.rotate\"(%s) {step = 1 : i64} : (" CT        \
         ") -> " CT "\n%u = \"ckks.add\"(%s, %t) : (" CT ", " CT ") -> " CT "\n\"func.return\"(%u) : (" CT ") -> ()")

static void lowered_program_gives_the_bits_of_the_cpu(void **state) {
  far_bench_t *both = *state;
  hx_value_t *x = encrypt_seed(&both->far, 3), *y = encrypt_seed(&both->far, 4);
  hx_executable_t *far = link_with(&both->far, PRODUCT, NULL), *cpu = link_with(&both->cpu, PRODUCT, NULL);
  assert_non_null(strstr(hx_executable_manifest(far), "\"regions\""));
  hx_value_t *a = run_on(&both->far, far, x, y, NULL), *b = run_on(&both->cpu, cpu, x, y, NULL);
  must_equal(a, b);
  hx_value_release(a);
  hx_value_release(b);
  hx_executable_release(far);
  hx_executable_release(cpu);
  hx_value_release(x);
  hx_value_release(y);
}

// Marked by hand, with an operation that the plugin does not fuse: it runs operation by operation, and says why.
static void region_that_a_plugin_declines_runs_apart(void **state) {
  far_bench_t *both = *state;
  static const char text[] =
      MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT0,
             "%a = \"rns.add\"(%x, %y) {heliox.region = 0 : i64} : (" CT0 ", " CT0 ") -> " CT0
             "\n%b = \"rns.automorphism\"(%a) {element = 5 : i64, heliox.region = 0 : i64} : (" CT0 ") -> " CT0
             "\n\"func.return\"(%b) : (" CT0 ") -> ()");
  hx_value_t *x = encrypt_seed(&both->far, 5), *y = encrypt_seed(&both->far, 6);
  hx_executable_t *far = link_with(&both->far, text, ""), *cpu = link_with(&both->cpu, text, "");
  hx_run_stats_t stats;
  hx_executable_stats(far, &stats);
  assert_int_equal(stats.calls, 2);
  assert_non_null(strstr(hx_executable_manifest(far),
                         "\"not_fused\": \"rns.automorphism is not fused: element-wise operations are\""));
  assert_non_null(strstr(hx_executable_manifest(cpu), "\"not_fused\""));
  hx_value_t *a = run_on(&both->far, far, x, y, NULL), *b = run_on(&both->cpu, cpu, x, y, NULL);
  must_equal(a, b);
  hx_value_release(a);
  hx_value_release(b);
  hx_executable_release(far);
  hx_executable_release(cpu);
  hx_value_release(x);
  hx_value_release(y);
}

// The chain of a product, as the cpu plugin prepares it: the same bits as call by call.
static void chain_of_the_cpu_gives_the_bits_of_its_operations(void **state) {
  far_bench_t *both = *state;
  hx_value_t *x = encrypt_seed(&both->cpu, 7), *y = encrypt_seed(&both->cpu, 8);
  hx_executable_t *fused = link_with(&both->cpu, PRODUCT, NULL), *apart = link_with(&both->cpu, PRODUCT, "");
  assert_non_null(strstr(hx_executable_manifest(fused), "fusion.region"));
  hx_run_stats_t a, b;
  hx_executable_stats(fused, &a);
  hx_executable_stats(apart, &b);
  assert_true(a.calls + 2 == b.calls);
  hx_value_t *one = run_on(&both->cpu, fused, x, y, NULL), *other = run_on(&both->cpu, apart, x, y, NULL);
  must_equal(one, other);
  hx_value_release(one);
  hx_value_release(other);
  hx_executable_release(fused);
  hx_executable_release(apart);
  hx_value_release(x);
  hx_value_release(y);
}

// The graph is recorded in the first run; later ones have other inputs and outputs, then one value for both inputs.
static void recorded_run_follows_its_inputs_and_outputs(void **state) {
  far_bench_t *both = *state;
  hx_executable_t *far = link_with(&both->far, ELEMENTS(""), ""), *cpu = link_with(&both->cpu, ELEMENTS(""), "");
  assert_non_null(strstr(hx_executable_manifest(far), "\"recorded\": true"));
  assert_non_null(strstr(hx_executable_manifest(cpu), "\"recorded\": false"));
  assert_non_null(strstr(hx_executable_manifest(cpu), "\"not_recorded\": \"the plugin has no graph role\""));
  for (uint32_t round = 0; round < 6; ++round) {
    hx_value_t *x = encrypt_seed(&both->far, 10 + round), *y = encrypt_seed(&both->far, 20 + round);
    const hx_value_t *second = round == 2 || round == 4 ? x : y;
    hx_value_t *a = run_on(&both->far, far, x, second, NULL), *b = run_on(&both->cpu, cpu, x, second, NULL);
    must_equal(a, b);
    hx_value_release(a);
    hx_value_release(b);
    hx_value_release(x);
    hx_value_release(y);
  }
  hx_run_stats_t stats;
  hx_executable_stats(far, &stats);
  assert_int_equal(stats.runs, 6);
  assert_int_equal(stats.recordings + stats.replays, 6);
  assert_true(stats.recordings >= 1 && stats.updates <= stats.replays);
  hx_executable_stats(cpu, &stats);
  assert_int_equal(stats.recordings + stats.replays + stats.updates, 0);
  hx_executable_release(far);
  hx_executable_release(cpu);
}

// Asked to run call by call, it does so; the same bits, and the graph of other runs is not touched.
static void run_apart_is_not_recorded(void **state) {
  far_bench_t *both = *state;
  hx_executable_t *far = link_with(&both->far, ELEMENTS(""), "");
  hx_value_t *x = encrypt_seed(&both->far, 33), *y = encrypt_seed(&both->far, 34);
  const hx_run_options_t apart = {.apart = true};
  hx_value_t *a = run_on(&both->far, far, x, y, &apart);
  hx_run_stats_t stats;
  hx_executable_stats(far, &stats);
  assert_int_equal(stats.runs, 1);
  assert_int_equal(stats.recordings + stats.replays, 0);
  hx_value_t *b = run_on(&both->far, far, x, y, NULL);
  hx_executable_stats(far, &stats);
  assert_int_equal(stats.recordings, 1);
  must_equal(a, b);
  hx_value_release(a);
  hx_value_release(b);
  hx_value_release(x);
  hx_value_release(y);
  hx_executable_release(far);
}

// One value as input twice and in place of a moved one: x and y change places between runs.
static void recorded_run_survives_swapped_inputs(void **state) {
  far_bench_t *both = *state;
  hx_executable_t *far = link_with(&both->far, ELEMENTS(""), "");
  hx_value_t *host[2] = {encrypt_seed(&both->far, 31), encrypt_seed(&both->far, 32)}, *placed[2];
  for (size_t i = 0; i < 2; ++i)
    must(hx_value_to_device(host[i], both->far.backend, &placed[i], both->far.report), both->far.report);
  hx_value_t *results[4] = {NULL};
  for (size_t i = 0; i < 4; ++i) {
    const hx_value_t *const inputs[] = {placed[i % 2], placed[1 - i % 2]};
    must(hx_run(far, inputs, &results[i], both->far.report), both->far.report);
  }
  for (size_t i = 0; i < 4; ++i) {
    hx_value_t *back = NULL;
    must(hx_value_to_host(results[i], &back, both->far.report), both->far.report);
    hx_value_release(results[i]);
    results[i] = back;
  }
  must_equal(results[0], results[2]);
  must_equal(results[1], results[3]);
  assert_false(hx_value_equal(results[0], results[1]));
  for (size_t i = 0; i < 4; ++i) hx_value_release(results[i]);
  for (size_t i = 0; i < 2; ++i) {
    hx_value_release(placed[i]);
    hx_value_release(host[i]);
  }
  hx_executable_release(far);
}

static void late_failure_names_the_step(void **state) {
  far_bench_t *both = *state;
  hx_value_t *x = encrypt_seed(&both->far, 41), *y = encrypt_seed(&both->far, 42);
  for (int fused = 0; fused < 2; ++fused) {
    hx_executable_t *far = link_with(&both->far, ELEMENTS(""), fused ? NULL : "");
    hx_value_t *inputs[2], *output = NULL;
    must(hx_value_to_device(x, both->far.backend, &inputs[0], both->far.report), both->far.report);
    must(hx_value_to_device(y, both->far.backend, &inputs[1], both->far.report), both->far.report);
    assert_int_equal(hx_plugin_option_set("far-fail", fused ? "0" : "2"), HX_STATUS_OK);
    hx_report_clear(both->far.report);
    assert_int_equal(hx_run(far, (const hx_value_t *const *)inputs, &output, both->far.report), HX_STATUS_INTERNAL);
    assert_int_equal(hx_plugin_option_set("far-fail", NULL), HX_STATUS_OK);
    assert_null(output);
    must_fault(both->far.report, HX_CODE_PLUGIN_CALL, 0, fused ? "fusion.region" : "rns.neg");
    must_fault(both->far.report, HX_CODE_PLUGIN_CALL, 0, "the device failed, as it was asked to");
    hx_report_clear(both->far.report);
    must(hx_run(far, (const hx_value_t *const *)inputs, &output, both->far.report),
         both->far.report);  // as good as new
    hx_value_release(output);
    hx_value_release(inputs[0]);
    hx_value_release(inputs[1]);
    hx_executable_release(far);
  }
  hx_value_release(x);
  hx_value_release(y);
}

typedef struct watching {
  uint64_t done, total, calls, stop_at;
  bool falls;
} watching_t;

static void note_progress(void *argument, uint64_t done, uint64_t total) {
  watching_t *seen = argument;
  seen->falls = seen->falls || done < seen->done || done > total;
  seen->done = done;
  seen->total = total;
  seen->calls += 1;
}

static bool wants_to_stop(void *argument) {
  const watching_t *seen = argument;
  return seen->stop_at > 0 && seen->calls >= seen->stop_at;
}

// Within one fused call of four operations: told after each, stopped before the third.
static void progress_and_cancelling_reach_into_a_region(void **state) {
  far_bench_t *both = *state;
  hx_value_t *x = encrypt_seed(&both->far, 51), *y = encrypt_seed(&both->far, 52);
  assert_int_equal(hx_plugin_option_set("far-inline", "1"), HX_STATUS_OK);
  hx_executable_t *far = link_with(&both->far, ELEMENTS(""), NULL);
  watching_t seen = {0};
  hx_run_options_t options = {.progress = note_progress, .cancelled = wants_to_stop, .argument = &seen};
  hx_value_release(run_on(&both->far, far, x, y, &options));
  assert_true(seen.calls >= 4);
  assert_false(seen.falls);
  const uint64_t whole = seen.calls;
  seen = (watching_t){.stop_at = whole - 2};
  hx_value_t *inputs[2], *output = NULL;
  must(hx_value_to_device(x, both->far.backend, &inputs[0], both->far.report), both->far.report);
  must(hx_value_to_device(y, both->far.backend, &inputs[1], both->far.report), both->far.report);
  assert_int_equal(hx_run_with(far, (const hx_value_t *const *)inputs, &output, &options, both->far.report),
                   HX_STATUS_CANCELLED);
  assert_null(output);
  must_fault(both->far.report, HX_CODE_CANCELLED, 0, "cancelled before operation");
  hx_report_clear(both->far.report);
  must(hx_run(far, (const hx_value_t *const *)inputs, &output, both->far.report), both->far.report);
  assert_int_equal(hx_plugin_option_set("far-inline", NULL), HX_STATUS_OK);
  hx_value_release(output);
  hx_value_release(inputs[0]);
  hx_value_release(inputs[1]);
  hx_executable_release(far);
  hx_value_release(x);
  hx_value_release(y);
}

// Three ranks that bring the same: the sum is three times the value, by the compute plugin's own addition, and the cpu
// plugin's is the same. What goes wrong among ranks has codes of its own.
static void group_sums_through_the_compute_plugin(void **state) {
  far_bench_t *both = *state;
  static const char triple[] =
      MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT0,
             "%a = \"rns.add\"(%x, %x) : (" CT0 ", " CT0 ") -> " CT0 "\n%b = \"rns.add\"(%a, %x) : (" CT0 ", " CT0
             ") -> " CT0 "\n\"func.return\"(%b) : (" CT0 ") -> ()");
  hx_value_t *x = encrypt_seed(&both->far, 71);
  hx_executable_t *cpu = link_with(&both->cpu, triple, "");
  hx_value_t *expected = run_on(&both->cpu, cpu, x, x, NULL);
  hx_report_t *report = both->far.report;
  assert_int_equal(hx_plugin_option_set("far-ranks", "3"), HX_STATUS_OK);
  for (int pair = 0; pair < 2; ++pair) {  // far alone; cpu computes and far carries
    hx_backend_t *backend = pair == 0 ? hx_backend_retain(both->far.backend)
                                      : open_backend(FAR ":" HELIOX_BUILD_DIR "/lib/heliox/plugins", "cpu,far", report);
    hx_group_t *group = NULL;
    must(hx_group_open(backend, "world", 0, &group, report), report);
    assert_int_equal(hx_group_size(group), 3);
    assert_int_equal(hx_group_rank(group), 0);
    hx_value_t *sum = NULL, *sent = NULL, *all[3] = {NULL};
    if (pair == 0) {
      must(hx_group_all_reduce_add(group, x, &sum, report), report);
      must_equal(sum, expected);
    } else {  // two that add, and nobody chose
      assert_int_equal(hx_group_all_reduce_add(group, x, &sum, report), HX_STATUS_AMBIGUOUS);
      assert_null(sum);
      hx_report_clear(report);
    }
    must(hx_group_broadcast(group, 2, x, &sent, report), report);
    must_equal(sent, x);
    must(hx_group_all_gather(group, x, all, report), report);
    for (size_t r = 0; r < 3; ++r) {
      must_equal(all[r], x);
      hx_value_release(all[r]);
    }
    hx_value_release(sent);
    hx_value_release(sum);
    hx_group_release(group);
    hx_backend_release(backend);
  }
  hx_group_t *group = NULL;
  must(hx_group_open(both->far.backend, "world", 0, &group, report), report);
  hx_value_t *nothing = NULL;
  assert_int_equal(hx_plugin_option_set("far-rank-differs", "1"), HX_STATUS_OK);
  assert_int_equal(hx_group_all_reduce_add(group, x, &nothing, report), HX_STATUS_REFUSED);
  must_fault(report, HX_CODE_RANK_MISMATCH, 0, "rank 1 differs from rank 0");
  hx_report_clear(report);
  hx_group_t *refused = NULL;
  assert_int_equal(hx_group_open(both->far.backend, "world", 0, &refused, report), HX_STATUS_REFUSED);
  must_fault(report, HX_CODE_RANK_DIGEST, 0, "rank 1 differs");
  hx_report_clear(report);
  assert_int_equal(hx_plugin_option_set("far-rank-differs", NULL), HX_STATUS_OK);
  assert_int_equal(hx_plugin_option_set("far-rank-missing", "1"), HX_STATUS_OK);
  assert_int_equal(hx_group_broadcast(group, 0, x, &nothing, report), HX_STATUS_UNAVAILABLE);
  must_fault(report, HX_CODE_RANK_MISSING, 0, "rank 1 did not come");
  hx_report_clear(report);
  assert_int_equal(hx_plugin_option_set("far-rank-missing", NULL), HX_STATUS_OK);
  assert_int_equal(hx_group_open(both->cpu.backend, "world", 0, &refused, report), HX_STATUS_NOT_FOUND);
  assert_int_equal(hx_group_open(both->far.backend, "moon", 0, &refused, report), HX_STATUS_INTERNAL);
  hx_value_t *secret = encode_values(&both->far, (double[]){1, 2}, 2, true);
  assert_int_equal(hx_group_broadcast(group, 0, secret, &nothing, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_group_broadcast(group, 7, x, &nothing, report), HX_STATUS_INVALID);
  hx_report_clear(report);
  assert_null(nothing);
  hx_value_release(secret);
  hx_group_release(group);
  assert_int_equal(hx_plugin_option_set("far-ranks", NULL), HX_STATUS_OK);
  hx_value_release(expected);
  hx_executable_release(cpu);
  hx_value_release(x);
}

static void linking_and_running_survive_every_failed_allocation(void **state) {
  far_bench_t *both = *state;
  hx_value_t *x = encrypt_seed(&both->far, 61), *placed = NULL;
  must(hx_value_to_device(x, both->far.backend, &placed, both->far.report), both->far.report);
  hx_compilation_t *compilation = link_compile(&both->far, PRODUCT);
  must(hx_compilation_bind_keys(compilation, both->far.keys, both->far.report), both->far.report);
  bool complete = false;
  // Every allocation of the beginning, then steps that grow: the later ones are alike.
  for (uint64_t n = 1; !complete && n < 1000000; n += 1 + n / 64) {
    hx_executable_t *executable = NULL;
    hx_value_t *output = NULL;
    const hx_value_t *const inputs[] = {placed, placed};
    hx_alloc_fail_at(n);
    hx_status_t status = hx_link(compilation, both->far.backend, NULL, &executable, NULL);
    if (status == HX_STATUS_OK) status = hx_run(executable, inputs, &output, NULL);
    hx_alloc_fail_at(0);
    complete = status == HX_STATUS_OK;
    if (!complete && status != HX_STATUS_OUT_OF_MEMORY)
      fail_msg("allocation %llu: %s", (unsigned long long)n, hx_status_name(status));
    hx_value_release(output);
    hx_executable_release(executable);
  }
  assert_true(complete);
  hx_compilation_release(compilation);
  hx_value_release(placed);
  hx_value_release(x);
}

// Records of a run that fuses and of one that does not, each replayed by the other, and by another backend.
static void record_of_fused_calls_is_replayed_by_calls_apart(void **state) {
  far_bench_t *both = *state;
  hx_value_t *x = encrypt_seed(&both->far, 1), *y = encrypt_seed(&both->far, 2), *z = encrypt_seed(&both->far, 3);
  hx_executable_t *executables[] = {link_with(&both->far, ELEMENTS(""), NULL), link_with(&both->far, ELEMENTS(""), ""),
                                    link_with(&both->cpu, ELEMENTS(""), "")};
  const bench_t *benches[] = {&both->far, &both->far, &both->cpu};
  hx_record_t *records[3] = {NULL};
  for (size_t i = 0; i < 3; ++i) {
    must(hx_record_create(&records[i], both->far.report), both->far.report);
    hx_value_release(run_on(benches[i], executables[i], x, y, &(hx_run_options_t){.record = records[i]}));
    assert_int_equal(hx_record_count(records[i]), hx_record_count(records[0]));
  }
  char path[] = "/tmp/heliox-record.XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  hx_record_t *loaded = NULL;
  must(hx_record_save(records[0], path, both->far.report), both->far.report);
  must(hx_record_load(path, &loaded, both->far.report), both->far.report);
  char text[4096];
  FILE *stream = fopen(path, "r");
  assert_non_null(stream);
  text[fread(text, 1, sizeof text - 1, stream)] = '\0';
  fclose(stream);
  assert_non_null(strstr(text, " inner\n"));
  assert_non_null(strstr(text, "heliox-record 2\n"));
  unlink(path);
  hx_record_release(records[0]);
  records[0] = loaded;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      hx_value_release(run_on(benches[k], executables[k], x, y, &(hx_run_options_t){.replay = records[i]}));
      hx_value_t *inputs[2], *output = NULL;
      must(hx_value_to_device(x, benches[k]->backend, &inputs[0], both->far.report), both->far.report);
      must(hx_value_to_device(z, benches[k]->backend, &inputs[1], both->far.report), both->far.report);
      assert_int_not_equal(hx_run_with(executables[k], (const hx_value_t *const *)inputs, &output,
                                       &(hx_run_options_t){.replay = records[i]}, both->far.report),
                           HX_STATUS_OK);
      must_fault(both->far.report, HX_CODE_DIFFERS, 0, "than the record (there: call");
      hx_report_clear(both->far.report);
      hx_value_release(inputs[0]);
      hx_value_release(inputs[1]);
    }
  }
  for (size_t i = 0; i < 3; ++i) {
    hx_record_release(records[i]);
    hx_executable_release(executables[i]);
  }
  hx_value_release(x);
  hx_value_release(y);
  hx_value_release(z);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(region_gives_the_bits_of_its_operations),
      cmocka_unit_test(lowered_program_gives_the_bits_of_the_cpu),
      cmocka_unit_test(region_that_a_plugin_declines_runs_apart),
      cmocka_unit_test(chain_of_the_cpu_gives_the_bits_of_its_operations),
      cmocka_unit_test(recorded_run_follows_its_inputs_and_outputs),
      cmocka_unit_test(run_apart_is_not_recorded),
      cmocka_unit_test(recorded_run_survives_swapped_inputs),
      cmocka_unit_test(late_failure_names_the_step),
      cmocka_unit_test(progress_and_cancelling_reach_into_a_region),
      cmocka_unit_test(record_of_fused_calls_is_replayed_by_calls_apart),
      cmocka_unit_test(group_sums_through_the_compute_plugin),
      cmocka_unit_test(linking_and_running_survive_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, open_both, close_both);
}
