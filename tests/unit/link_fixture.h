// SPDX-License-Identifier: Apache-2.0
// Parameters, keys, values and programs for the tests of linking and of the engine.
#ifndef HELIOX_TESTS_LINK_FIXTURE_H
#define HELIOX_TESTS_LINK_FIXTURE_H

#include <math.h>

#include "core/compile/compilation.h"
#include "core/eager/engine.h"
#include "core/link/executable.h"
#include "tests/unit/fake_plugin.h"

// N = 1024: base of 55 bits, four depth primes of 40, two special primes of 56, digits of two primes.
#define LINK_RING                                                                                    \
  "{\"log_n\":10,\"word\":64,\"base\":[\"36028797018820609\"],\"groups\":[[\"1099511592961\"],"      \
  "[\"1099511590913\"],[\"1099511560193\"],[\"1099511556097\"]],\"special\":[\"72057594037897217\"," \
  "\"72057594037774337\"],\"digits\":3,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}"
#define SLOTS 512

#define CT0                                                                                                         \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3, 4], basis = Q, " \
  "domain = ntt, repr = standard, slots = 512>"
#define CT2                                                                                                   \
  "!ckks.ciphertext<batch = [], components = 2, depth = 2, scale = \"2^40\", primes = [0, 1, 2], basis = Q, " \
  "domain = ntt, repr = standard, slots = 512>"
#define PT0                                                                                                        \
  "!ckks.plaintext<batch = [], components = 1, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3, 4], basis = Q, " \
  "domain = ntt, repr = standard, slots = 512>"
#define CT "!ckks.ciphertext<>"
#define PT "!ckks.plaintext<>"

// A module around @main: types of the arguments, of the results, and the body.
#define MODULE(arguments_, inputs_, results_, body_)                             \
  "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(" arguments_ "):\n" body_ \
  "\n}) {sym_name = \"main\", function_type = (" inputs_ ") -> (" results_       \
  ")} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n"

static inline void show_faults(const hx_report_t *report) {
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    print_message("%s:%u:%u: %s: %s (expected %s, found %s)\n", fault->source, fault->line, fault->column,
                  hx_code_info(fault->code)->word, fault->text, fault->expected, fault->found);
  }
}

// Fails the test with the report where the status is not OK.
static inline void must(hx_status_t status, hx_report_t *report) {
  if (status == HX_STATUS_OK) return;
  show_faults(report);
  fail_msg("%s", hx_status_name(status));
}

// Some fault has this code and this piece of text; its line where line is not 0.
static inline void must_fault(const hx_report_t *report, hx_code_t code, uint32_t line, const char *piece) {
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    if (fault->code == code && (line == 0 || fault->line == line) && strstr(fault->text, piece) != NULL) return;
  }
  show_faults(report);
  fail_msg("no fault %s at line %u with \"%s\"", hx_code_info(code)->word, line, piece);
}

typedef struct bench {
  hx_params_t *params;
  hx_keys_t *keys;
  fake_plugin_t *plugin;
  hx_backend_t *backend;
  hx_report_t *report;
} bench_t;

static inline hx_params_t *link_params(const char *json) {
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  must(hx_params_parse(hx_str(json), "test", HX_PARAMS_INSECURE, &params, report), report);
  hx_report_release(report);
  return params;
}

static inline hx_keys_t *link_keys(const hx_params_t *params) {
  static const int64_t steps[] = {1, 2, 5, -1};
  const hx_keygen_options_t options = {.parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = HX_COUNT_OF(steps)};
  hx_report_t *report = hx_report_create();
  hx_keys_t *keys = NULL;
  must(hx_keys_generate(params, &options, &keys, report), report);
  hx_report_release(report);
  return keys;
}

static inline void bench_open(bench_t *bench, uint32_t tiers) {
  fake_reset_knobs();
  bench->report = hx_report_create();
  bench->params = link_params(LINK_RING);
  bench->keys = link_keys(bench->params);
  bench->plugin = fake_plugin_create("alpha");
  fake_plugin_add_tiers(bench->plugin, "ref", tiers);
  bench->backend = fake_backend(bench->plugin);
}

// A bench on the cpu plugin of this build; false where it was not built.
static inline bool bench_open_cpu(bench_t *bench, const char *json) {
  bench->plugin = NULL;
  bench->backend = NULL;
  bench->report = hx_report_create();
  const hx_plugins_options_t options = {.path = HELIOX_BUILD_DIR "/lib/heliox/plugins", .only_path = true};
  hx_plugins_t *plugins = NULL;
  must(hx_plugins_discover(&options, &plugins, bench->report), bench->report);
  const bool found = hx_plugins_find(plugins, "cpu") != NULL;
  if (found) must(hx_backend_create(plugins, "cpu", &bench->backend, bench->report), bench->report);
  hx_plugins_release(plugins);
  if (!found) {
    hx_report_release(bench->report);
    return false;
  }
  bench->params = link_params(json);
  bench->keys = link_keys(bench->params);
  return true;
}

static inline void bench_close(bench_t *bench) {
  hx_backend_release(bench->backend);
  hx_keys_release(bench->keys);
  hx_params_release(bench->params);
  hx_report_release(bench->report);
  if (bench->plugin == NULL) return;
  assert_int_equal(fake.prepared_alive, 0);
  assert_int_equal(fake.packed_alive, 0);
  assert_int_equal(fake.tables_alive, 0);
  assert_int_equal(fake.queues, 0);
  assert_int_equal(fake.buffers, 0);
  fake_plugin_destroy(bench->plugin);
}

static inline hx_program_t *link_parse(const char *text) {
  hx_report_t *report = hx_report_create();
  hx_program_t *program = NULL;
  must(hx_program_parse(hx_str(text), "p.mlir", &program, report), report);
  hx_report_release(report);
  return program;
}

static inline hx_compilation_t *link_compile(const bench_t *bench, const char *text) {
  hx_program_t *program = link_parse(text);
  hx_compilation_t *compilation = NULL;
  must(hx_compilation_create(program, bench->params, &compilation, bench->report), bench->report);
  hx_program_release(program);
  return compilation;
}

// Linked with the bench's keys and backend.
static inline hx_executable_t *link_text(const bench_t *bench, const char *text) {
  hx_compilation_t *compilation = link_compile(bench, text);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench->backend, "", &executable, bench->report), bench->report);
  hx_compilation_release(compilation);
  return executable;
}

// Values from a fixed sequence in [-1, 1].
static inline void fill_values(double *values, size_t count, uint32_t seed) {
  uint64_t x = seed * 2654435761u + 1;
  for (size_t i = 0; i < count; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    values[i] = (double)(int64_t)(x >> 11) / (double)((uint64_t)1 << 52) - 1;
  }
}

static inline hx_value_t *encode_values(const bench_t *bench, const double *values, size_t count, bool secret) {
  const hx_encode_options_t options = {.secret = secret};
  hx_value_t *plaintext = NULL;
  must(hx_encode(bench->params, values, count, false, &options, &plaintext, bench->report), bench->report);
  return plaintext;
}

static inline hx_value_t *encrypt_values(const bench_t *bench, const hx_keys_t *keys, const double *values,
                                         size_t count) {
  hx_value_t *plaintext = encode_values(bench, values, count, true), *ciphertext = NULL;
  must(hx_encrypt(keys, plaintext, false, &ciphertext, bench->report), bench->report);
  hx_value_release(plaintext);
  return ciphertext;
}

static inline hx_value_t *encrypt_seed(const bench_t *bench, uint32_t seed) {
  double values[SLOTS];
  fill_values(values, SLOTS, seed);
  return encrypt_values(bench, bench->keys, values, SLOTS);
}

// Real parts of all slots.
static inline void decrypt_values(const bench_t *bench, const hx_value_t *ciphertext, double *out) {
  hx_value_t *plaintext = NULL;
  must(hx_decrypt(bench->keys, ciphertext, &plaintext, bench->report), bench->report);
  double *pairs = calloc(2 * SLOTS, sizeof *pairs);
  must(hx_decode(plaintext, pairs, bench->report), bench->report);
  for (size_t i = 0; i < SLOTS; ++i) out[i] = pairs[2 * i];
  free(pairs);
  hx_value_release(plaintext);
}

static inline void must_be_near(const double *found, const double *expected, size_t count, double tolerance) {
  for (size_t i = 0; i < count; ++i) {
    if (fabs(found[i] - expected[i]) > tolerance) fail_msg("slot %zu: %.9f, expected %.9f", i, found[i], expected[i]);
  }
}

#endif
