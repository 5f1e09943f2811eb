// SPDX-License-Identifier: Apache-2.0
// One program on two devices of a backend: the cpu plugin, and the fixture whose memory is far from the host. The cpu's
// own bits are the measure, whatever runs where.
#include "heliox/passes.h"
#include "heliox/trace.h"
#include "pass_programs.h"

#define PATH HELIOX_BUILD_DIR "/tests/fixtures/far:" HELIOX_BUILD_DIR "/lib/heliox/plugins"

typedef struct sites {
  bench_t bench;  // its backend is the cpu's
  hx_backend_t *backends[2];
  hx_value_t *inputs[2], *weights[4];
} sites_t;

static int open_sites(void **state) {
  static const char *const lists[] = {"cpu,far", "far,cpu"};
  sites_t *sites = calloc(1, sizeof *sites);
  double values[SLOTS];
  if (sites == NULL || !bench_open_cpu(&sites->bench, LINK_RING)) return 1;
  hx_report_t *report = sites->bench.report;
  hx_plugins_t *plugins = NULL;
  const hx_plugins_options_t options = {.path = PATH, .only_path = true};
  must(hx_plugins_discover(&options, &plugins, report), report);
  for (size_t i = 0; i < 2; ++i) must(hx_backend_create(plugins, lists[i], &sites->backends[i], report), report);
  hx_plugins_release(plugins);
  for (uint32_t i = 0; i < 2; ++i) sites->inputs[i] = encrypt_seed(&sites->bench, 101 + i);
  for (uint32_t i = 0; i < 4; ++i) {
    fill_values(values, SLOTS, 121 + i);
    sites->weights[i] = encode_values(&sites->bench, values, SLOTS, false);
  }
  *state = sites;
  return 0;
}

static int close_sites(void **state) {
  sites_t *sites = *state;
  if (sites == NULL) return 0;  // the set-up failed
  for (size_t i = 0; i < 2; ++i) {
    hx_value_release(sites->inputs[i]);
    hx_backend_release(sites->backends[i]);
  }
  for (size_t i = 0; i < 4; ++i) hx_value_release(sites->weights[i]);
  bench_close(&sites->bench);
  free(sites);
  return 0;
}

static hx_compilation_t *compile(sites_t *sites, const char *text) {
  bench_t *bench = &sites->bench;
  hx_compilation_t *compilation = link_compile(bench, text);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  const hx_port_t *ports;
  const size_t count = hx_compilation_materials(compilation, &ports);
  for (size_t k = 0; k < count; ++k) {
    if (ports[k].name[0] != 'w') continue;
    must(
        hx_compilation_bind_material(compilation, ports[k].name, sites->weights[ports[k].name[1] - '0'], bench->report),
        bench->report);
  }
  return compilation;
}

static hx_executable_t *link_on(sites_t *sites, const char *text, const hx_backend_t *backend, const char *pipeline) {
  hx_report_t *report = sites->bench.report;
  hx_compilation_t *compilation = compile(sites, text);
  hx_executable_t *executable = NULL;
  const hx_link_source_t source = hx_compilation_source(compilation);
  const hx_link_options_t options = {.pipeline = pipeline, .place_materials = true};
  const hx_status_t status = hx_link_program(&source, backend, &options, &executable, report);
  if (status != HX_STATUS_OK) print_message("%s\n%s\n", pipeline, text);
  must(status, report);
  hx_compilation_release(compilation);
  return executable;
}

// Inputs and outputs lie on the backend's first device; results come back to the host.
static void run_on(sites_t *sites, hx_executable_t *executable, const hx_backend_t *backend, hx_value_t *results[2]) {
  hx_report_t *report = sites->bench.report;
  const hx_port_t *ports;
  const size_t count = hx_executable_outputs(executable, &ports);
  hx_value_t *inputs[2], *outputs[2] = {NULL};
  for (size_t i = 0; i < 2; ++i) must(hx_value_to_device(sites->inputs[i], backend, &inputs[i], report), report);
  must(hx_run(executable, (const hx_value_t *const *)inputs, outputs, report), report);
  for (size_t i = 0; i < count; ++i) {
    must(hx_value_to_host(outputs[i], &results[i], report), report);
    hx_value_release(outputs[i]);
  }
  for (size_t i = 0; i < 2; ++i) hx_value_release(inputs[i]);
}

// Both backends, the program placed as the pipeline says, against the cpu alone.
static void must_agree(sites_t *sites, const char *text, const char *pipeline, size_t outputs) {
  hx_value_t *expected[2], *found[2];
  char *at_home = strdup(text);
  assert_non_null(at_home);
  for (char *far = at_home; (far = strstr(far, "\"far\"")) != NULL; ++far) memcpy(far, "\"cpu\"", 5);
  hx_executable_t *alone = link_on(sites, at_home, sites->bench.backend, "");
  free(at_home);
  run_on(sites, alone, sites->bench.backend, expected);
  for (size_t b = 0; b < 2; ++b) {
    hx_executable_t *spread = link_on(sites, text, sites->backends[b], pipeline);
    for (int round = 0; round < 2; ++round) {  // the second one finds an instance that was used
      run_on(sites, spread, sites->backends[b], found);
      for (size_t i = 0; i < outputs; ++i) {
        if (!hx_value_equal(expected[i], found[i]))
          fail_msg("backend %zu, result %zu differs behind %s:\n%s", b, i, pipeline, text);
        hx_value_release(found[i]);
      }
    }
    hx_executable_release(spread);
  }
  for (size_t i = 0; i < outputs; ++i) hx_value_release(expected[i]);
  hx_executable_release(alone);
}

#define SUM(first_, second_)                                                                                     \
  MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT0,                                                             \
         "%a = \"rns.add\"(%x, %y) " first_ ": (" CT0 ", " CT0 ") -> " CT0 "\n%b = \"rns.sub\"(%a, %y) " second_ \
         ": (" CT0 ", " CT0 ") -> " CT0 "\n\"func.return\"(%b) : (" CT0 ") -> ()")
#define TRANSFER(attributes_)                        \
  MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT0, \
         "%a = \"memory.transfer\"(%x) " attributes_ " : (" CT0 ") -> " CT0 "\n\"func.return\"(%a) : (" CT0 ") -> ()")

#define PRODUCT                                                                                                      \
  MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT,                                                                  \
         "%p = \"ckks.mul\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT "\n%r = \"ckks.relinearize\"(%p) : (" CT ") -> " CT \
         "\n%s = \"ckks.rescale\"(%r) : (" CT ") -> " CT "\n%t = \"ckks.rotate\"(%s) {step = 1 : i64} : (" CT        \
         ") -> " CT "\n%u = \"ckks.add\"(%s, %t) : (" CT ", " CT ") -> " CT "\n\"func.return\"(%u) : (" CT ") -> ()")

static void parts_on_two_devices_give_equal_bits(void **state) {
  static const char *const pipelines[] = {
      "place{ckks.mul=far,ckks.relinearize=cpu,ckks.rescale=cpu,ckks.rotate=cpu,ckks.add=cpu}",
      "place{ckks.mul=cpu,ckks.relinearize=far,ckks.rescale=cpu,ckks.rotate=far,ckks.add=cpu}",
      "place{ckks.mul=far:0,ckks.relinearize=far:0,ckks.rescale=far:0,ckks.rotate=far:0,ckks.add=cpu:0}",
      "resolve-keys,place{ckks.rescale=far,ckks.mul=cpu}"};
  for (size_t i = 0; i < HX_COUNT_OF(pipelines); ++i) must_agree(*state, PRODUCT, pipelines[i], 1);
}

static void programs_with_control_flow_run_on_two_devices(void **state) {
  static const char loop[] = MODULE(
      "%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT ", " CT,
      "%l = \"arith.constant\"() {value = 0 : index} : () -> index\n%u = \"arith.constant\"() {value = 3 : index} : () "
      "-> "
      "index\n%s = \"arith.constant\"() {value = 1 : index} : () -> index\n%r = \"scf.for\"(%l, %u, %s, %x) ({\n^b(%i: "
      "index, %c: " CT "):\n%n = \"ckks.neg\"(%c) : (" CT ") -> " CT "\n%a = \"ckks.add\"(%n, %y) : (" CT ", " CT0
      ") -> " CT "\n\"scf.yield\"(%a) : (" CT ") -> ()\n}) PLACED: (index, index, index, " CT0 ") -> " CT
      "\n%k = \"arith.constant\"() {value = true} : () -> i1\n%z = \"scf.if\"(%k) ({\n%m = \"ckks.sub\"(%r, %y) : (" CT
      ", " CT0 ") -> " CT "\n\"scf.yield\"(%m) : (" CT ") -> ()\n}, {\n\"scf.yield\"(%r) : (" CT
      ") -> ()\n}) : (i1) -> " CT "\n\"func.return\"(%z, %r) : (" CT ", " CT ") -> ()");
  static const char *const places[] = {"", "{heliox.device = \"far\"} ", "{heliox.device = \"cpu\"} "};
  static const char *const pipelines[] = {"place{ckks.neg=far}", "place{ckks.add=far,ckks.sub=far}",
                                          "place{scf.if=far,ckks.neg=far,ckks.add=far,ckks.sub=cpu}"};
  for (size_t p = 0; p < HX_COUNT_OF(places); ++p) {
    const char *mark = strstr(loop, "PLACED");
    char text[4096];
    snprintf(text, sizeof text, "%.*s%s%s", (int)(mark - loop), loop, places[p], mark + strlen("PLACED"));
    for (size_t i = 0; i < HX_COUNT_OF(pipelines); ++i) must_agree(*state, text, pipelines[i], 2);
  }
}

// Every operation of a random program anywhere, weights and keys wherever they are used.
static void random_programs_placed_at_random_keep_every_bit(void **state) {
  static const char *const names[] = {"ckks.add",       "ckks.sub",     "ckks.neg",       "ckks.rotate",
                                      "ckks.mul_plain", "ckks.rescale", "ckks.mul",       "ckks.relinearize",
                                      "scf.for",        "scf.if",       "ckks.level_drop"};
  maker_t maker = {.state = 77};
  for (uint32_t program = 0; program < 24; ++program) {
    hx_text_t text;
    char pipeline[1024] = "";
    maker_program(9000 + program, program % 2 == 1, &text);
    for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
      const size_t used = strlen(pipeline);
      snprintf(pipeline + used, sizeof pipeline - used, "%s%s=%s", used == 0 ? "place{" : ",", names[i],
               maker_draw(&maker, 2) == 0 ? "far" : "cpu");
    }
    strcat(pipeline, "}");
    must_agree(*state, text.data, pipeline, 2);
    hx_text_deinit(&text);
  }
}

static void executable_tells_what_each_device_needs(void **state) {
  sites_t *sites = *state;
  hx_executable_t *spread = link_on(sites, PRODUCT, sites->backends[0], "place{ckks.mul=far,ckks.rotate=far}");
  const char *manifest = hx_executable_manifest(spread);
  assert_non_null(strstr(manifest, "\"devices\""));
  assert_non_null(strstr(manifest, "\"staging_bytes\""));
  assert_non_null(strstr(manifest, "\"operation\": \"transfer\""));
  assert_non_null(strstr(manifest, "\"device\": \"far:0\""));
  assert_non_null(strstr(manifest, "\"recorded\": false"));
  assert_non_null(strstr(hx_executable_source(spread), "transfer(slab_1"));
  hx_run_stats_t stats;
  hx_executable_stats(spread, &stats);
  assert_true(stats.peak_bytes > stats.slab_bytes);  // the far device stages what it is given
  hx_executable_release(spread);
  hx_executable_t *alone = link_on(sites, PRODUCT, sites->bench.backend, "place");
  assert_null(strstr(hx_executable_manifest(alone), "\"devices\""));
  assert_null(strstr(hx_executable_manifest(alone), "transfer"));
  hx_executable_release(alone);
}

// A steady run allocates nothing, transfers included.
static void steady_run_on_two_devices_allocates_nothing(void **state) {
  sites_t *sites = *state;
  hx_report_t *report = sites->bench.report;
  hx_executable_t *spread = link_on(sites, PRODUCT, sites->backends[0], "place{ckks.mul=far,ckks.rotate=far}");
  hx_value_t *output = NULL;
  must(hx_run(spread, (const hx_value_t *const *)sites->inputs, &output, report), report);
  const uint64_t before = hx_alloc_count();
  must(hx_run(spread, (const hx_value_t *const *)sites->inputs, &output, report), report);
  assert_int_equal(hx_alloc_count(), before);
  hx_value_release(output);
  hx_executable_release(spread);
}

// What is recorded on one device is what two devices compute, call by call; a trace has the transfers too.
static void records_and_traces_follow_both_devices(void **state) {
  sites_t *sites = *state;
  hx_report_t *report = sites->bench.report;
  static const char text[] = SUM("", ""), marked[] = SUM("{heliox.device = \"far\"} ", "");
  hx_record_t *digests = NULL;
  must(hx_record_create(&digests, report), report);
  hx_executable_t *alone = link_on(sites, text, sites->bench.backend, ""),
                  *spread = link_on(sites, marked, sites->backends[0], "place");
  hx_value_t *outputs[2] = {NULL, NULL};
  const hx_value_t *const *inputs = (const hx_value_t *const *)sites->inputs;
  const hx_run_options_t record = {.record = digests}, replay = {.replay = digests};
  must(hx_run_with(alone, inputs, &outputs[0], &record, report), report);
  must(hx_run_with(spread, inputs, &outputs[1], &replay, report), report);
  assert_true(hx_value_equal(outputs[0], outputs[1]));
  hx_trace_t *trace = NULL;
  must(hx_trace_create(&trace, report), report);
  const hx_run_options_t traced = {.trace = trace};
  must(hx_run_with(spread, inputs, &outputs[1], &traced, report), report);
  const hx_trace_event_t *events;
  const size_t count = hx_trace_events(trace, &events);
  size_t transfers = 0;
  for (size_t i = 0; i < count; ++i) transfers += strcmp(events[i].operation, "memory.transfer") == 0 ? 1 : 0;
  assert_int_equal(transfers, 3);  // x and y there, their sum back
  hx_trace_release(trace);
  for (size_t i = 0; i < 2; ++i) hx_value_release(outputs[i]);
  hx_executable_release(alone);
  hx_executable_release(spread);
  hx_record_release(digests);
}

// Materials that were placed are as they were then: a run whose material changed says so, prepared ones too.
static void changed_material_on_another_device_is_told(void **state) {
  sites_t *sites = *state;
  hx_report_t *report = sites->bench.report;
  static const char *const texts[] = {
      MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT,
             "%w = \"material.ref\"() {symbol = @w0} : () -> " PT0 "\n%a = \"ckks.mul_plain\"(%x, %w) : (" CT0 ", " PT0
             ") -> " CT "\n\"func.return\"(%a) : (" CT ") -> ()"),
      MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT,
             "%w = \"material.ref\"() {symbol = @w0, heliox.prepare = \"mul\"} : () -> " PT0
             "\n%a = \"ckks.mul_plain\"(%x, %w) : (" CT0 ", " PT0 ") -> " CT "\n\"func.return\"(%a) : (" CT ") -> ()")};
  for (size_t t = 0; t < 2; ++t) {
    must_agree(sites, texts[t], "place{ckks.mul_plain=far}", 1);
    hx_executable_t *spread = link_on(sites, texts[t], sites->backends[0], "place{ckks.mul_plain=far}");
    hx_value_t *output = NULL;
    must(hx_run(spread, (const hx_value_t *const *)sites->inputs, &output, report), report);
    hx_tensor_touch(sites->weights[0]->tensor);
    for (int round = 0; round < 2; ++round) {  // it stays so
      assert_int_not_equal(hx_run(spread, (const hx_value_t *const *)sites->inputs, &output, report), HX_STATUS_OK);
      must_fault(report, HX_CODE_MATERIAL, 0, "material @w0 changed after it was ");
      hx_report_clear(report);
    }
    hx_value_release(output);
    hx_executable_release(spread);
  }
}

static void must_refuse(sites_t *sites, const char *text, const char *pipeline, hx_code_t code, const char *piece) {
  hx_report_t *report = sites->bench.report;
  hx_compilation_t *compilation = compile(sites, text);
  hx_executable_t *executable = NULL;
  const hx_link_source_t source = hx_compilation_source(compilation);
  const hx_link_options_t options = {.pipeline = pipeline, .place_materials = true};
  hx_report_clear(report);
  assert_int_not_equal(hx_link_program(&source, sites->backends[0], &options, &executable, report), HX_STATUS_OK);
  assert_null(executable);
  must_fault(report, code, 0, piece);
  hx_report_clear(report);
  hx_compilation_release(compilation);
}

static void values_on_the_wrong_device_are_refused_by_name(void **state) {
  static const char far[] = SUM("{heliox.device = \"far\"} ", "{heliox.device = \"cpu\"} ");
  must_refuse(*state, far, "", HX_CODE_DEVICE_MIX, "rns.add: %x lies on cpu:0, and it is wanted on far:0");
  must_refuse(*state, far, "", HX_CODE_DEVICE_MIX, "%a lies on far:0");
  must_agree(*state, far, "place", 1);
  must_refuse(*state, TRANSFER("{space = \"device\", heliox.device = \"far\"}"), "", HX_CODE_DEVICE_MIX,
              "%a lies on far:0, and it is wanted on cpu:0");
  must_refuse(*state, TRANSFER("{space = \"host\", heliox.device = \"far\"}"), "place", HX_CODE_DEVICE_MIX,
              "far:0 has memory of its own");
  must_agree(*state, TRANSFER("{space = \"device\", heliox.device = \"far\"}"), "place", 1);
}

static void places_that_do_not_exist_are_refused(void **state) {
  must_refuse(*state, SUM("{heliox.device = \"moon\"} ", ""), "place", HX_CODE_BACKEND,
              "heliox.device is \"moon\"; the backend has cpu:0, far:0");
  must_refuse(*state, SUM("", ""), "", HX_CODE_AMBIGUOUS, "2 implementations fit");
  must_refuse(*state, SUM("", ""), "place{rns.nothing=far}", HX_CODE_UNKNOWN_OPERATION, "no OPERATION=DEVICE");
  must_refuse(*state, SUM("{heliox.implementation = \"cpu/cpu\", heliox.device = \"far\"} ", ""), "place",
              HX_CODE_IMPLEMENTATION, "the operation is placed on far:0");
}

static void linking_and_running_survive_every_failed_allocation(void **state) {
  sites_t *sites = *state;
  hx_compilation_t *compilation = compile(sites, PRODUCT);
  const hx_link_source_t source = hx_compilation_source(compilation);
  const hx_link_options_t options = {.pipeline = "place{ckks.mul=far}", .place_materials = true};
  bool complete = false;
  for (uint64_t n = 1; !complete && n < 1000000; n += 1 + n / 32) {
    hx_executable_t *executable = NULL;
    hx_value_t *output = NULL;
    hx_alloc_fail_at(n);
    hx_status_t status = hx_link_program(&source, sites->backends[0], &options, &executable, NULL);
    if (status == HX_STATUS_OK) status = hx_run(executable, (const hx_value_t *const *)sites->inputs, &output, NULL);
    hx_alloc_fail_at(0);
    complete = status == HX_STATUS_OK;
    if (!complete && status != HX_STATUS_OUT_OF_MEMORY)
      fail_msg("allocation %llu: %s", (unsigned long long)n, hx_status_name(status));
    hx_value_release(output);
    hx_executable_release(executable);
  }
  assert_true(complete);
  hx_compilation_release(compilation);
}

int main(void) {
  setenv("HELIOX_NUM_THREADS", "1", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_on_two_devices_give_equal_bits),
      cmocka_unit_test(programs_with_control_flow_run_on_two_devices),
      cmocka_unit_test(random_programs_placed_at_random_keep_every_bit),
      cmocka_unit_test(executable_tells_what_each_device_needs),
      cmocka_unit_test(steady_run_on_two_devices_allocates_nothing),
      cmocka_unit_test(records_and_traces_follow_both_devices),
      cmocka_unit_test(changed_material_on_another_device_is_told),
      cmocka_unit_test(values_on_the_wrong_device_are_refused_by_name),
      cmocka_unit_test(places_that_do_not_exist_are_refused),
      cmocka_unit_test(linking_and_running_survive_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, open_sites, close_sites);
}
