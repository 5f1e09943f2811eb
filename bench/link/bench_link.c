// SPDX-License-Identifier: Apache-2.0
// heliox-bench-link: what Heliox costs around kernels, on the cpu plugin.
//   dispatch  1,000 ckks.add at N = 2^10, one limb: nanoseconds an operation outside kernels (bar: 60)
//   link      10,000 such operations (bar: 100 ms)
//   parse     10 MB of program text (bar: 1 s)
//   match     a callable's specialization among 16, of 8 arguments (bar: 1 us)
// Figures are minima over rounds, of the processor's time: the machine may be shared, and one thread does all of it.
// Kernels are timed by calling the prepared calls of the executable's own instance, in turn with whole runs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/compile/callable.h"
#include "core/link/executable.h"

#define CT                                                                                                       \
  "!ckks.ciphertext<batch = [], components = 2, depth = 4, scale = \"2^40\", primes = [0], basis = Q, domain = " \
  "ntt, repr = standard, slots = 512>"
#define RING                                                                                         \
  "{\"log_n\":10,\"word\":64,\"base\":[\"36028797018820609\"],\"groups\":[[\"1099511592961\"],"      \
  "[\"1099511590913\"],[\"1099511560193\"],[\"1099511556097\"]],\"special\":[\"72057594037897217\"," \
  "\"72057594037774337\"],\"digits\":3,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void must(hx_status_t status, const hx_report_t *report) {
  if (status == HX_STATUS_OK) return;
  for (size_t i = 0; i < hx_report_count(report); ++i) fprintf(stderr, "%s\n", hx_report_get(report, i)->text);
  fprintf(stderr, "bench: %s\n", hx_status_name(status));
  exit(1);
}

// A chain of additions; full types on every line where `full`.
static void write_chain(hx_text_t *out, size_t count, bool full) {
  const char *result = full ? CT : "!ckks.ciphertext<>";
  hx_text_puts(out, "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " CT ", %y: " CT "):\n");
  for (size_t i = 0; i < count; ++i) {
    if (i == 0) {
      hx_text_printf(out, "%%v0 = \"ckks.add\"(%%x, %%y) : (%s, %s) -> %s\n", CT, CT, result);
    } else {
      hx_text_printf(out, "%%v%zu = \"ckks.add\"(%%v%zu, %%y) : (%s, %s) -> %s\n", i, i - 1, result, CT, result);
    }
  }
  hx_text_printf(out, "\"func.return\"(%%v%zu) : (%s) -> ()\n", count - 1, result);
  hx_text_printf(out, "}) {sym_name = \"main\", function_type = (" CT ", " CT ") -> (%s)} : () -> ()\n", result);
  hx_text_puts(out, "}) {heliox.version = 1 : i64} : () -> ()\n");
}

static hx_program_t *parse_chain(size_t count, hx_report_t *report) {
  hx_text_t text;
  hx_text_init(&text);
  write_chain(&text, count, false);
  hx_program_t *program = NULL;
  must(hx_program_parse((hx_str_t){.data = text.data, .size = text.size}, "chain", &program, report), report);
  hx_text_deinit(&text);
  return program;
}

static hx_executable_t *link_chain(size_t count, const hx_params_t *params, const hx_backend_t *backend, double *out_ns,
                                   hx_report_t *report) {
  hx_program_t *program = parse_chain(count, report);
  hx_compilation_t *compilation = NULL;
  must(hx_compilation_create(program, params, &compilation, report), report);
  hx_program_release(program);
  hx_executable_t *executable = NULL;
  const double start = now();
  must(hx_link(compilation, backend, NULL, &executable, report), report);
  *out_ns = now() - start;
  hx_compilation_release(compilation);
  return executable;
}

static void bench_dispatch(const hx_params_t *params, const hx_backend_t *backend, int rounds, hx_report_t *report) {
  double unused;
  const size_t count = 1000;
  hx_executable_t *executable = link_chain(count, params, backend, &unused, report);
  hx_value_t *values[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i) must(hx_value_create(params, executable->input_types[i], false, &values[i]), report);
  const hx_value_t *inputs[] = {values[0], values[1]};
  hx_value_t *outputs[] = {NULL};
  must(hx_run(executable, inputs, outputs, report), report);
  double whole = 1e30, kernels = 1e30;
  for (int round = 0; round < rounds; ++round) {
    double start = now();
    must(hx_run(executable, inputs, outputs, report), report);
    const double run = now() - start;
    const hx_instance_t *instance = executable->pool;  // still bound to this run's memory
    hx_error error = hx_error_make();
    start = now();
    for (size_t s = 0; s < executable->steps.count; ++s) {
      const hx_step_t *step = &executable->steps.items[s];
      if (step->kind != HX_STEP_CALL) continue;
      if (step->resolution.implementation->record->execute(step->prepared, &instance->calls[s], &error) != HX_OK)
        exit(1);
    }
    const double alone = now() - start;
    whole = run < whole ? run : whole;
    kernels = alone < kernels ? alone : kernels;
  }
  printf("dispatch  %zu operations: run %.1f us, kernels %.1f us, outside %.1f ns an operation (bar 60)\n", count,
         whole / 1e3, kernels / 1e3, (whole - kernels) / (double)count);
  hx_value_release(outputs[0]);
  hx_value_release(values[0]);
  hx_value_release(values[1]);
  hx_executable_release(executable);
}

static void bench_linking(const hx_params_t *params, const hx_backend_t *backend, int rounds, hx_report_t *report) {
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    double taken;
    hx_executable_release(link_chain(10000, params, backend, &taken, report));
    best = taken < best ? taken : best;
  }
  printf("link      10,000 operations: %.1f ms (bar 100)\n", best / 1e6);
}

static void bench_parsing(int rounds, hx_report_t *report) {
  hx_text_t text;
  hx_text_init(&text);
  size_t count = 1000;
  write_chain(&text, count, true);
  count = count * (size_t)10000000 / text.size;
  hx_text_clear(&text);
  write_chain(&text, count, true);
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    hx_program_t *program = NULL;
    const double start = now();
    must(hx_program_parse((hx_str_t){.data = text.data, .size = text.size}, "chain", &program, report), report);
    const double taken = now() - start;
    best = taken < best ? taken : best;
    hx_program_release(program);
  }
  printf("parse     %.1f MB, %zu operations: %.0f ms (bar 1000)\n", (double)text.size / 1e6, count, best / 1e6);
  hx_text_deinit(&text);
}

// One argument is added to the next; all 16 variants differ in a static number, so that hashes are all that helps.
static hx_status_t sum_of_eight(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs,
                                void *argument, hx_report_t *report) {
  (void)argument;
  hx_value_t *sum = hx_value_retain(inputs[0]);
  for (size_t i = 1; i < 7; ++i) {
    hx_value_t *next = NULL;
    const hx_status_t status = hx_engine_add(engine, sum, inputs[i], &next, report);
    hx_value_release(sum);
    if (status != HX_STATUS_OK) return status;
    sum = next;
  }
  outputs[0] = sum;
  return HX_STATUS_OK;
}

static void bench_matching(const hx_params_t *params, const hx_backend_t *backend, int rounds, hx_report_t *report) {
  const hx_input_spec_t inputs[8] = {[7] = {.role = "static"}};
  const hx_callable_spec_t spec = {.function = sum_of_eight,
                                   .params = params,
                                   .backend = backend,
                                   .inputs = inputs,
                                   .input_count = 8,
                                   .output_count = 1};
  hx_callable_t *callable = NULL;
  must(hx_callable_create(&spec, &callable, report), report);
  hx_type_t type;
  must(hx_type_parse(hx_str(CT), hx_params_ring(params), &type, report), report);
  const hx_value_t *arguments[8];
  hx_value_t *values[7], *numbers[16];
  for (size_t i = 0; i < 7; ++i) {
    must(hx_value_create(params, &type, false, &values[i]), report);
    arguments[i] = values[i];
  }
  for (int64_t i = 0; i < 16; ++i) {
    must(hx_value_integer(params, "i64", i, &numbers[i], report), report);
    arguments[7] = numbers[i];
    must(hx_callable_prepare(callable, arguments, report), report);
  }
  double best = 1e30;
  const int calls = 1000;
  for (int round = 0; round < rounds; ++round) {
    const double start = now();
    for (int i = 0; i < calls; ++i) {
      arguments[7] = numbers[i % 16];
      hx_executable_release(hx_callable_find(callable, arguments));
    }
    const double taken = (now() - start) / calls;
    best = taken < best ? taken : best;
  }
  printf("match     8 arguments, %zu variants: %.0f ns (bar 1000)\n", hx_callable_specializations(callable), best);
  for (size_t i = 0; i < 7; ++i) hx_value_release(values[i]);
  for (size_t i = 0; i < 16; ++i) hx_value_release(numbers[i]);
  hx_callable_release(callable);
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  must(hx_params_parse(hx_str(RING), "bench", HX_PARAMS_INSECURE, &params, report), report);
  const hx_plugins_options_t options = {.path = HELIOX_BUILD_DIR "/lib/heliox/plugins", .only_path = true};
  must(hx_plugins_discover(&options, &plugins, report), report);
  must(hx_backend_create(plugins, "cpu", &backend, report), report);
  hx_plugins_release(plugins);
  hx_threads_set(1);
  bench_dispatch(params, backend, 50 * rounds, report);
  bench_linking(params, backend, rounds, report);
  bench_parsing(rounds, report);
  bench_matching(params, backend, 20 * rounds, report);
  hx_backend_release(backend);
  hx_params_release(params);
  hx_report_release(report);
  return 0;
}
