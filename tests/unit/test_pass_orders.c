// SPDX-License-Identifier: Apache-2.0
// Random programs through random orders of passes: 200 orders a run. Passes that claim equal bits are held to them.
#include "core/passes/noise.h"
#include "core/passes/passes.h"
#include "heliox/passes.h"
#include "pass_programs.h"

#define ORDERS 200
#define ORDERS_A_PROGRAM 5
#define ROUNDING_ORDERS 200

typedef struct orders {
  bench_t bench;
  hx_value_t *inputs[2], *weights[4];
} orders_t;

static void open_orders(orders_t *orders) {
  double values[SLOTS];
  for (uint32_t i = 0; i < 2; ++i) orders->inputs[i] = encrypt_seed(&orders->bench, 11 + i);
  for (uint32_t i = 0; i < 4; ++i) {
    fill_values(values, SLOTS, 21 + i);
    orders->weights[i] = encode_values(&orders->bench, values, SLOTS, false);
  }
}

static void close_orders(orders_t *orders) {
  for (size_t i = 0; i < 2; ++i) hx_value_release(orders->inputs[i]);
  for (size_t i = 0; i < 4; ++i) hx_value_release(orders->weights[i]);
  bench_close(&orders->bench);
}

// Sigmas of the worst slots of both results, as predicted for the program behind a pipeline.
static void predict(orders_t *orders, const hx_compilation_t *compilation, const char *pipeline, double sigmas[2]) {
  bench_t *bench = &orders->bench;
  hx_program_t *program = NULL;
  hx_noise_t noises[2];
  char whole[1200];
  const hx_ring *ring = hx_params_ring(bench->params);
  const hx_pass_env_t env = {.ring = ring, .report = bench->report};
  const hx_noise_plan_t plan = {.params = bench->params};
  snprintf(whole, sizeof whole, "infer-state%s%s", pipeline[0] == '\0' ? "" : ",", pipeline);
  must(hx_program_clone(compilation->program, &program), bench->report);
  must(hx_pipeline_run(program, whole, &env), bench->report);
  must(hx_program_infer(program, ring, bench->report), bench->report);
  must(hx_program_predict_noise(program, &plan, noises, bench->report), bench->report);
  for (size_t i = 0; i < 2; ++i) {
    const hx_ir_op_t *last = hx_func_return(hx_program_find(program, "main"));
    assert_true(noises[i].known);
    sigmas[i] = hx_noise_worst_sigma(&noises[i], last->operands[i]->type, ring);
  }
  hx_program_release(program);
}

// The results of a program behind a pipeline; sigmas may be NULL.
static void run_through(orders_t *orders, const char *text, const char *pipeline, hx_value_t *outputs[2],
                        double *sigmas) {
  bench_t *bench = &orders->bench;
  hx_compilation_t *compilation = link_compile(bench, text);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  const hx_port_t *ports;
  const size_t count = hx_compilation_materials(compilation, &ports);
  for (uint32_t i = 0; i < 4; ++i) {
    char symbol[8];
    snprintf(symbol, sizeof symbol, "w%u", i);
    bool is_used = false;
    for (size_t k = 0; k < count; ++k) is_used = is_used || strcmp(ports[k].name, symbol) == 0;
    if (is_used)
      must(hx_compilation_bind_material(compilation, symbol, orders->weights[i], bench->report), bench->report);
  }
  if (sigmas != NULL) predict(orders, compilation, pipeline, sigmas);
  hx_executable_t *executable = NULL;
  hx_status_t status = hx_link(compilation, bench->backend, pipeline, &executable, bench->report);
  if (status != HX_STATUS_OK) print_message("%s\n%s\n", pipeline, text);
  must(status, bench->report);
  outputs[0] = outputs[1] = NULL;
  must(hx_run(executable, (const hx_value_t *const *)orders->inputs, outputs, bench->report), bench->report);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
}

// What is drawn from: passes that take no options, by claim. Lowering needs its state and keys.
static void draw_pipeline(maker_t *maker, bool rounding, char *out, size_t size) {
  const hx_pass_info_t *passes;
  const size_t count = hx_pass_list(&passes);
  out[0] = '\0';
  for (uint32_t n = 2 + maker_draw(maker, 5); n > 0;) {
    const hx_pass_info_t *pass = &passes[maker_draw(maker, (uint32_t)count)];
    // A pass that rescales on its own changes the state of results: manage-scales and its kin have tests of their own.
    const bool changes_state = pass->claim == HX_CLAIM_ROUNDING && pass->role != HX_PASS_OPTIMISE;
    if (changes_state || (pass->claim == HX_CLAIM_ROUNDING && !rounding)) continue;
    if (strcmp(pass->name, "visualize") == 0) continue;  // it needs a file
    if (strcmp(pass->name, "shard") == 0) continue;      // it needs other ranks: tests of its own run them
    const bool is_lower = strcmp(pass->name, "lower") == 0;
    if (is_lower && rounding) continue;  // the estimator follows whole operations
    const size_t used = strlen(out);
    snprintf(out + used, size - used, "%s%s%s%s", used == 0 ? "" : ",", is_lower ? "infer-state,resolve-keys," : "",
             pass->name, is_lower ? ",infer-state" : "");
    --n;
  }
}

static void orders_of_bit_exact_passes_keep_every_bit(void **state) {
  (void)state;
  orders_t orders;
  if (!bench_open_cpu(&orders.bench, LINK_RING)) skip();
  open_orders(&orders);
  maker_t maker = {.state = 2024};
  for (uint32_t program = 0; program < ORDERS / ORDERS_A_PROGRAM; ++program) {
    hx_text_t text;
    hx_value_t *plain[2], *passed[2];
    maker_program(program, program % 2 == 1, &text);
    run_through(&orders, text.data, "", plain, NULL);
    for (uint32_t order = 0; order < ORDERS_A_PROGRAM; ++order) {
      char pipeline[1024];
      draw_pipeline(&maker, false, pipeline, sizeof pipeline);
      run_through(&orders, text.data, pipeline, passed, NULL);
      for (size_t i = 0; i < 2; ++i) {
        if (!hx_value_equal(plain[i], passed[i]))
          fail_msg("program %u, result %zu differs behind %s:\n%s", program, i, pipeline, text.data);
        hx_value_release(passed[i]);
      }
    }
    for (size_t i = 0; i < 2; ++i) hx_value_release(plain[i]);
    hx_text_deinit(&text);
  }
  close_orders(&orders);
}

// Passes that round otherwise: both programs are within their predicted errors of the exact result, so their difference
// is within the two together. Straight programs and programs with control flow; the estimator follows both.
static void orders_of_rounding_passes_stay_within_the_estimate(void **state) {
  (void)state;
  orders_t orders;
  if (!bench_open_cpu(&orders.bench, LINK_RING)) skip();
  open_orders(&orders);
  maker_t maker = {.state = 4048};
  size_t other_bits = 0;
  for (uint32_t program = 0; program < ROUNDING_ORDERS / ORDERS_A_PROGRAM; ++program) {
    hx_text_t text;
    hx_value_t *plain[2], *passed[2];
    double before[2], after[2], left[SLOTS], right[SLOTS];
    maker_program(1000 + program, program % 2 == 1, &text);
    run_through(&orders, text.data, "", plain, before);
    for (uint32_t order = 0; order < ORDERS_A_PROGRAM; ++order) {
      char pipeline[1024], whole[1200];
      draw_pipeline(&maker, true, pipeline, sizeof pipeline);
      snprintf(whole, sizeof whole, "merge-weighted-sums,%s", pipeline);
      run_through(&orders, text.data, whole, passed, after);
      for (size_t i = 0; i < 2; ++i) {
        other_bits += hx_value_equal(plain[i], passed[i]) ? 0 : 1;
        decrypt_values(&orders.bench, plain[i], left);
        decrypt_values(&orders.bench, passed[i], right);
        for (size_t k = 0; k < SLOTS; ++k) {
          const double bound = 12 * (before[i] + after[i]) + 1e-13;
          if (fabs(left[k] - right[k]) > bound)
            fail_msg("program %u, result %zu, slot %zu: %g apart, %g predicted, behind %s:\n%s", program, i, k,
                     left[k] - right[k], bound, whole, text.data);
        }
        hx_value_release(passed[i]);
      }
    }
    for (size_t i = 0; i < 2; ++i) hx_value_release(plain[i]);
    hx_text_deinit(&text);
  }
  print_message("%zu of %d results have other bits\n", other_bits, 2 * ROUNDING_ORDERS);
  assert_true(other_bits > 10);  // else nothing was tried
  close_orders(&orders);
}

// pass(pass(x)) is pass(x), for every optimisation, in straight programs and in programs with control flow.
static void optimisations_change_nothing_the_second_time(void **state) {
  (void)state;
  hx_params_t *params = link_params(LINK_RING);
  const hx_pass_info_t *passes;
  const size_t count = hx_pass_list(&passes);
  hx_report_t *report = hx_report_create();
  const hx_pass_env_t env = {.ring = hx_params_ring(params), .report = report};
  for (uint32_t program = 0; program < 30; ++program) {
    hx_text_t text;
    maker_program(3000 + program, program % 2 == 1, &text);
    for (size_t i = 0; i < count; ++i) {
      if (passes[i].role != HX_PASS_OPTIMISE) continue;
      hx_program_t *parsed = link_parse(text.data);
      char *texts[2];
      must(hx_pipeline_run(parsed, "infer-state", &env), report);
      for (int round = 0; round < 2; ++round) {
        must(hx_pipeline_run(parsed, passes[i].name, &env), report);
        must(hx_program_print(parsed, 0, &texts[round], report), report);
      }
      if (strcmp(texts[0], texts[1]) != 0)
        fail_msg("program %u: %s changes it twice:\n%s\nthen\n%s", program, passes[i].name, texts[0], texts[1]);
      for (int round = 0; round < 2; ++round) hx_text_free(texts[round]);
      hx_program_release(parsed);
    }
    hx_text_deinit(&text);
  }
  hx_report_release(report);
  hx_params_release(params);
}

int main(void) {
  setenv("HELIOX_NUM_THREADS", "1", 1);  // rings are small: threads would only wait for one another
  const struct CMUnitTest tests[] = {cmocka_unit_test(optimisations_change_nothing_the_second_time),
                                     cmocka_unit_test(orders_of_bit_exact_passes_keep_every_bit),
                                     cmocka_unit_test(orders_of_rounding_passes_stay_within_the_estimate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
