// SPDX-License-Identifier: Apache-2.0
// Random programs, straight and with loops and branches, over ranks: the bits of one process, whatever is spread.
#include "pass_programs.h"
#include "ranks_fixture.h"

#define PROGRAMS 18
#define BATCH 3

typedef struct inputs {
  bench_t bench;
  hx_value_t *single[2], *batch[2], *weights[4];
} inputs_t;

static void open_inputs(inputs_t *inputs) {
  static double values[BATCH * SLOTS];
  bench_t *bench = &inputs->bench;
  for (uint32_t i = 0; i < 2; ++i) {
    hx_value_t *plaintext = NULL;
    inputs->single[i] = encrypt_seed(bench, 11 + i);
    fill_values(values, BATCH * SLOTS, 31 + i);
    must(hx_encode_batch(bench->params, values, BATCH, SLOTS, false, NULL, &plaintext, bench->report), bench->report);
    must(hx_encrypt(bench->keys, plaintext, false, &inputs->batch[i], bench->report), bench->report);
    hx_value_release(plaintext);
  }
  for (uint32_t i = 0; i < 4; ++i) {
    fill_values(values, SLOTS, 21 + i);
    inputs->weights[i] = encode_values(bench, values, SLOTS, false);
  }
}

static void close_inputs(inputs_t *inputs) {
  for (size_t i = 0; i < 2; ++i) {
    hx_value_release(inputs->single[i]);
    hx_value_release(inputs->batch[i]);
  }
  for (size_t i = 0; i < 4; ++i) hx_value_release(inputs->weights[i]);
  bench_close(&inputs->bench);
}

// Types of inputs with a batch of three; the open types of everything else follow.
static char *with_batch(const char *text) {
  static const char from[] = "ciphertext<batch = []", to[] = "ciphertext<batch = [3]";
  hx_text_t out;
  hx_text_init(&out);
  for (const char *at = text, *next; at != NULL; at = next == NULL ? NULL : next + strlen(from)) {
    next = strstr(at, from);
    hx_text_append(&out, (hx_str_t){.data = at, .size = next == NULL ? strlen(at) : (size_t)(next - at)});
    if (next != NULL) hx_text_puts(&out, to);
  }
  char *taken = hx_text_take(&out);
  assert_non_null(taken);
  return taken;
}

static hx_compilation_t *compile(inputs_t *inputs, const char *text) {
  bench_t *bench = &inputs->bench;
  hx_compilation_t *compilation = link_compile(bench, text);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  const hx_port_t *ports;
  const size_t count = hx_compilation_materials(compilation, &ports);
  for (uint32_t i = 0; i < 4; ++i) {
    char symbol[8];
    bool is_used = false;
    snprintf(symbol, sizeof symbol, "w%u", i);
    for (size_t k = 0; k < count; ++k) is_used = is_used || strcmp(ports[k].name, symbol) == 0;
    if (is_used)
      must(hx_compilation_bind_material(compilation, symbol, inputs->weights[i], bench->report), bench->report);
  }
  return compilation;
}

static void run_alone(inputs_t *inputs, const char *text, const char *pipeline, const hx_value_t *const *values,
                      hx_value_t *outputs[2]) {
  bench_t *bench = &inputs->bench;
  char front[256];
  hx_executable_t *executable = NULL;
  hx_compilation_t *compilation = compile(inputs, text);
  snprintf(front, sizeof front, "infer-state%s%s", pipeline == NULL ? "" : ",", pipeline == NULL ? "" : pipeline);
  must(hx_compilation_transform(compilation, front, bench->report), bench->report);
  must(hx_link(compilation, bench->backend, NULL, &executable, bench->report), bench->report);
  outputs[0] = outputs[1] = NULL;
  must(hx_run(executable, values, outputs, bench->report), bench->report);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
}

// Programs whose sums, rows or items other ranks' numbers were moved by; counted, so that the test has tried something.
static size_t moving;

static void must_match(inputs_t *inputs, const char *text, const ranks_job_t *job, uint32_t size,
                       hx_value_t *const *expected) {
  ranks_rank_t ranks[RANKS_MAX];
  hx_compilation_t *compilations[RANKS_MAX] = {NULL};
  for (uint32_t r = 0; r < size; ++r) compilations[r] = compile(inputs, text);
  ranks_run(job, compilations, size, ranks);
  for (uint32_t r = 0; r < size; ++r) {
    if (ranks[r].status != HX_STATUS_OK) print_message("%s over %u ranks:\n%s\n", job->spec.kind, size, text);
    must(ranks[r].status, ranks[r].report);
    for (size_t i = 0; i < 2; ++i) {
      if (!hx_value_equal(ranks[r].outputs[i], expected[i]))
        fail_msg("%s over %u ranks: result %zu has other bits on rank %u:\n%s", job->spec.kind, size, i, ranks[r].rank,
                 text);
    }
    moving += ranks[r].volume.received > 0 ? 1 : 0;
  }
  ranks_release(ranks, size);
}

static void random_programs_keep_their_bits_over_ranks(void **state) {
  (void)state;
  static const char *const kinds[] = {"limbs", "terms", "batch"};
  static const char *const pipelines[] = {NULL, "merge-weighted-sums,prepare-plaintexts", "hoist-rotations,cse"};
  inputs_t inputs = {0};
  if (!ranks_open(&inputs.bench, LINK_RING)) skip();
  open_inputs(&inputs);
  for (uint32_t program = 0; program < PROGRAMS; ++program) {
    hx_text_t made;
    maker_program(500 + program, program % 2 == 1, &made);
    const bool has_batch = program % 3 == 2;
    char *text = has_batch ? with_batch(made.data) : hx_text_take(&made);
    hx_value_t *const *values = has_batch ? inputs.batch : inputs.single, *expected[2];
    const char *pipeline = pipelines[program % HX_COUNT_OF(pipelines)];
    run_alone(&inputs, text, pipeline, (const hx_value_t *const *)values, expected);
    for (size_t k = 0; k < HX_COUNT_OF(kinds); ++k) {
      const ranks_job_t job = {
          .bench = &inputs.bench, .spec = {.kind = kinds[k], .pipeline = pipeline}, .inputs = {values[0], values[1]}};
      must_match(&inputs, text, &job, 2 + (program + (uint32_t)k) % 4, expected);
    }
    for (size_t i = 0; i < 2; ++i) hx_value_release(expected[i]);
    if (has_batch) hx_text_deinit(&made);
    hx_free(text);
  }
  print_message("%zu of the ranks' runs took what others gave\n", moving);
  assert_true(moving > PROGRAMS);
  close_inputs(&inputs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_programs_keep_their_bits_over_ranks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
