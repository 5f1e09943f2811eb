// SPDX-License-Identifier: Apache-2.0
// Random programs through random orders of passes: 200 orders a run. Passes that claim equal bits are held to them.
#include "heliox/passes.h"
#include "pass_programs.h"

#define ORDERS 200
#define ORDERS_A_PROGRAM 5

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

// The results of a program behind a pipeline.
static void run_through(orders_t *orders, const char *text, const char *pipeline, hx_value_t *outputs[2]) {
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
    const bool is_lower = strcmp(pass->name, "lower") == 0;
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
    run_through(&orders, text.data, "", plain);
    for (uint32_t order = 0; order < ORDERS_A_PROGRAM; ++order) {
      char pipeline[1024];
      draw_pipeline(&maker, false, pipeline, sizeof pipeline);
      run_through(&orders, text.data, pipeline, passed);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders_of_bit_exact_passes_keep_every_bit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
