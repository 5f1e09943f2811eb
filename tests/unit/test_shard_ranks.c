// SPDX-License-Identifier: Apache-2.0
// Programs spread over ranks give the bits of one process: the demo and a 128 x 128 product by baby and giant steps, by
// rows, terms and items, for numbers of ranks that divide the work and others.
#include "bsgs.h"
#include "core/ckks/primes.h"
#include "ranks_fixture.h"

#define BATCH 3

static const uint32_t sizes[] = {1, 2, 3, 4, 5};
static const char *const kinds[] = {"limbs", "terms", "batch"};

// ------------------------------------------------------------------ programs

// The demo's parameters in a ring of N = 1024: the same primes and depth.
static char *small_ring(void) {
  hx_params_t *preset = NULL;
  must(hx_params_preset("n14-d7-s40", &preset, NULL), NULL);
  const hx_ring *ring = hx_params_ring(preset);
  hx_text_t text;
  hx_text_init(&text);
  hx_text_printf(&text, "{\"log_n\":10,\"word\":64,\"base\":[\"%llu\"],\"groups\":[",
                 (unsigned long long)ring->primes[0]);
  for (uint32_t i = 1; i < ring->q_count; ++i)
    hx_text_printf(&text, "%s[\"%llu\"]", i == 1 ? "" : ",", (unsigned long long)ring->primes[i]);
  hx_text_puts(&text, "],\"special\":[");
  for (uint32_t i = 0; i < ring->p_count; ++i)
    hx_text_printf(&text, "%s\"%llu\"", i == 0 ? "" : ",", (unsigned long long)ring->primes[ring->q_count + i]);
  hx_text_puts(&text, "],\"digits\":4,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}");
  hx_params_release(preset);
  char *json = hx_text_take(&text);
  assert_non_null(json);
  return json;
}

// Every occurrence of a piece becomes another one.
static char *replaced(char *text, const char *from, const char *to) {
  hx_text_t out;
  hx_text_init(&out);
  for (const char *at = text, *next; at != NULL; at = next) {
    next = strstr(at, from);
    hx_text_append(&out, (hx_str_t){.data = at, .size = next == NULL ? strlen(at) : (size_t)(next - at)});
    if (next == NULL) break;
    hx_text_puts(&out, to);
    next += strlen(from);
  }
  hx_free(text);
  char *taken = hx_text_take(&out);
  assert_non_null(taken);
  return taken;
}

#define BATCH_OF "!ckks.ciphertext<batch = [3]"

// The demo's program as it is shipped, for the small ring: 512 slots, blocks of 16.
static char *demo_text(bool has_batch) {
  FILE *file = fopen(HELIOX_SOURCE_DIR "/examples/wdbc.mlir", "rb");
  assert_non_null(file);
  char *text = hx_zalloc(1, 65536);
  assert_non_null(text);
  assert_true(fread(text, 1, 65535, file) > 1000);
  fclose(file);
  text = replaced(text, "slots = 8192", "slots = 512");
  static const char *const steps[][2] = {{"step = 4096", "step = 256 "},
                                         {"step = 2048", "step = 128 "},
                                         {"step = 1024", "step = 64 "},
                                         {"step = 512", "step = 32 "},
                                         {"step = 256 :", "step = 256 :"}};
  for (size_t i = 0; i < HX_COUNT_OF(steps); ++i) text = replaced(text, steps[i][0], steps[i][1]);
  text = replaced(text, "heliox.params = \"n14-d7-s40\"", "heliox.note = \"small\"");
  return has_batch ? replaced(text, "!ckks.ciphertext<batch = []", BATCH_OF) : text;
}

typedef struct suite {
  bench_t bench;
  bool is_demo;
  bsgs_t shape;
} suite_t;

static hx_value_t *make_input(const suite_t *suite, bool has_batch) {
  const size_t items = has_batch ? BATCH : 1;
  double *values = calloc(items * SLOTS, sizeof *values);
  fill_values(values, items * SLOTS, 11);
  for (size_t i = 0; i < items * SLOTS; ++i) values[i] *= 0.25;
  hx_value_t *plaintext = NULL, *ciphertext = NULL;
  if (has_batch) {
    must(hx_encode_batch(suite->bench.params, values, BATCH, SLOTS, false, NULL, &plaintext, suite->bench.report),
         suite->bench.report);
  } else {
    must(hx_encode(suite->bench.params, values, SLOTS, false, NULL, &plaintext, suite->bench.report),
         suite->bench.report);
  }
  must(hx_encrypt(suite->bench.keys, plaintext, false, &ciphertext, suite->bench.report), suite->bench.report);
  hx_value_release(plaintext);
  free(values);
  return ciphertext;
}

static hx_compilation_t *compile(const suite_t *suite, bool has_batch) {
  const bench_t *bench = &suite->bench;
  double values[SLOTS];
  hx_compilation_t *compilation;
  if (suite->is_demo) {
    char *text = demo_text(has_batch);
    compilation = link_compile(bench, text);
    hx_free(text);
    fill_values(values, SLOTS, 3);
    must(hx_compilation_encode_material(compilation, "weights", values, SLOTS, false, bench->report), bench->report);
  } else {
    hx_text_t text;
    bsgs_text(&suite->shape, &text);
    char *taken = hx_text_take(&text);
    if (has_batch) taken = replaced(taken, "!ckks.ciphertext<batch = []", BATCH_OF);
    compilation = link_compile(bench, taken);
    hx_free(taken);
    for (uint32_t g = 0; g < suite->shape.giant; ++g) {
      for (uint32_t b = 0; b < suite->shape.baby; ++b) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "d%u_%u", g, b);
        fill_values(values, SLOTS, 100 + g * suite->shape.baby + b);
        must(hx_compilation_encode_material(compilation, symbol, values, SLOTS, false, bench->report), bench->report);
      }
    }
  }
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  return compilation;
}

static suite_t *open_suite(bool is_demo) {
  suite_t *suite = calloc(1, sizeof *suite);
  suite->is_demo = is_demo;
  suite->shape = (bsgs_t){.baby = 16, .giant = 8, .slots = SLOTS, .limbs = 5, .scale = "2^40"};
  char *json = is_demo ? small_ring() : NULL;
  if (!ranks_open(&suite->bench, is_demo ? json : LINK_RING)) skip();
  hx_free(json);
  int64_t steps[32] = {256, 128, 64, 32, 16};
  const size_t count = is_demo ? 5 : bsgs_steps(&suite->shape, steps);
  const hx_keygen_options_t options = {.parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = count};
  hx_keys_release(suite->bench.keys);
  must(hx_keys_generate(suite->bench.params, &options, &suite->bench.keys, suite->bench.report), suite->bench.report);
  return suite;
}

static void close_suite(suite_t *suite) {
  bench_close(&suite->bench);
  free(suite);
}

static hx_value_t *run_alone(const suite_t *suite, bool has_batch, const char *pipeline, const hx_value_t *input) {
  hx_compilation_t *compilation = compile(suite, has_batch);
  hx_executable_t *executable = NULL;
  hx_value_t *output = NULL;
  if (pipeline != NULL) must(hx_compilation_transform(compilation, pipeline, suite->bench.report), suite->bench.report);
  must(hx_link(compilation, suite->bench.backend, NULL, &executable, suite->bench.report), suite->bench.report);
  must(hx_run(executable, &input, &output, suite->bench.report), suite->bench.report);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  return output;
}

// All ranks end with the bits of one process; they move what was predicted.
static void must_match(const suite_t *suite, const ranks_job_t *job, bool has_batch, uint32_t size,
                       const hx_value_t *expected) {
  ranks_rank_t ranks[RANKS_MAX];
  hx_compilation_t *compilations[RANKS_MAX] = {NULL};
  for (uint32_t r = 0; r < size; ++r) compilations[r] = compile(suite, has_batch);
  ranks_run(job, compilations, size, ranks);
  for (uint32_t r = 0; r < size; ++r) {
    if (ranks[r].status != HX_STATUS_OK) print_message("%s over %u ranks, rank %u:\n", job->spec.kind, size, r);
    must(ranks[r].status, ranks[r].report);
    if (!hx_value_equal(ranks[r].outputs[0], expected))
      fail_msg("%s over %u ranks: rank %u has other bits", job->spec.kind, size, ranks[r].rank);
    assert_int_equal(ranks[r].volume.sent, ranks[r].sent);
    assert_int_equal(ranks[r].volume.received, ranks[r].received);
  }
  ranks_release(ranks, size);
}

static void match_kinds(bool is_demo, bool has_batch) {
  suite_t *suite = open_suite(is_demo);
  hx_value_t *input = make_input(suite, has_batch), *expected = run_alone(suite, has_batch, NULL, input);
  for (size_t k = 0; k < HX_COUNT_OF(kinds); ++k) {
    for (size_t s = 0; s < HX_COUNT_OF(sizes); ++s) {
      const ranks_job_t job = {.bench = &suite->bench, .spec = {.kind = kinds[k]}, .inputs = {input}};
      must_match(suite, &job, has_batch, sizes[s], expected);
    }
  }
  hx_value_release(expected);
  hx_value_release(input);
  close_suite(suite);
}

// ------------------------------------------------------------------ tests

static void demo_keeps_its_bits_over_ranks(void **state) {
  (void)state;
  match_kinds(true, false);
}

static void demo_on_a_batch_keeps_its_bits_over_ranks(void **state) {
  (void)state;
  match_kinds(true, true);
}

static void product_keeps_its_bits_over_ranks(void **state) {
  (void)state;
  match_kinds(false, false);
}

static void product_on_a_batch_keeps_its_bits_over_ranks(void **state) {
  (void)state;
  match_kinds(false, true);
}

// Merged sums are spread over Q and P, and divided once.
static void merged_product_keeps_its_bits_over_ranks(void **state) {
  (void)state;
  suite_t *suite = open_suite(false);
  static const char merged[] = "merge-weighted-sums,prepare-plaintexts,dve,cse";
  hx_value_t *input = make_input(suite, false);
  char front[256];
  snprintf(front, sizeof front, "infer-state,%s", merged);
  hx_value_t *expected = run_alone(suite, false, front, input);
  for (size_t s = 0; s < HX_COUNT_OF(sizes); ++s) {
    for (size_t k = 0; k < 2; ++k) {
      const ranks_job_t job = {
          .bench = &suite->bench, .spec = {.kind = kinds[k], .pipeline = merged}, .inputs = {input}};
      must_match(suite, &job, false, sizes[s], expected);
    }
  }
  hx_value_release(expected);
  hx_value_release(input);
  close_suite(suite);
}

// Words of 32 bits, a base and a depth group of two primes each: several rows are dropped at once, digits are uneven.
static void narrow_words_keep_their_bits_over_ranks(void **state) {
  (void)state;
  static const char text[] =
      "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: T):\n"
      "%r = \"ckks.rotate\"(%x) {step = 1 : i64} : (T) -> " CT "\n%m = \"ckks.mul\"(%x, %r) : (T, " CT ") -> " CT
      "\n%l = \"ckks.relinearize\"(%m) : (" CT ") -> " CT "\n%s = \"ckks.rescale\"(%l) : (" CT ") -> " CT
      "\n%t = \"ckks.rotate\"(%s) {step = 2 : i64} : (" CT ") -> " CT "\n%a = \"ckks.add\"(%s, %t) : (" CT ", " CT
      ") -> " CT "\n%y = \"ckks.rescale\"(%a) : (" CT ") -> " CT "\n\"func.return\"(%y) : (" CT
      ") -> ()\n}) {sym_name = \"main\", function_type = (T) -> (" CT
      ")} : () -> ()\n}) {heliox.version = 1 : i64} : "
      "() -> ()\n";
  uint64_t primes[7], bound = (uint64_t)1 << 31;
  for (size_t i = 0; i < HX_COUNT_OF(primes); ++i) primes[i] = bound = hx_prime_below(bound, 10);
  char json[512];
  snprintf(json, sizeof json,
           "{\"log_n\":10,\"word\":32,\"base\":[\"%llu\",\"%llu\"],\"groups\":[[\"%llu\"],[\"%llu\",\"%llu\"]],"
           "\"special\":[\"%llu\",\"%llu\"],\"digits\":3,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}",
           (unsigned long long)primes[0], (unsigned long long)primes[1], (unsigned long long)primes[2],
           (unsigned long long)primes[3], (unsigned long long)primes[4], (unsigned long long)primes[5],
           (unsigned long long)primes[6]);
  bench_t bench;
  if (!ranks_open(&bench, json)) skip();
  hx_text_t made;
  hx_text_init(&made);
  hx_text_puts(&made, text);
  char *program = replaced(hx_text_take(&made), "T)", CT0 ")");
  program = replaced(program, "(T, ", "(" CT0 ", ");
  double values[SLOTS];
  fill_values(values, SLOTS, 4);
  hx_value_t *input = encrypt_values(&bench, bench.keys, values, SLOTS), *expected = NULL;
  hx_executable_t *alone = link_text(&bench, program);
  must(hx_run(alone, (const hx_value_t *const *)&input, &expected, bench.report), bench.report);
  hx_executable_release(alone);
  for (uint32_t size = 2; size <= 9; size += size < 5 ? 1 : 4) {
    for (size_t k = 0; k < 2; ++k) {
      const ranks_job_t job = {.bench = &bench, .spec = {.kind = kinds[k]}, .inputs = {input}};
      ranks_rank_t ranks[RANKS_MAX];
      hx_compilation_t *compilations[RANKS_MAX] = {NULL};
      for (uint32_t r = 0; r < size; ++r) {
        compilations[r] = link_compile(&bench, program);
        must(hx_compilation_bind_keys(compilations[r], bench.keys, bench.report), bench.report);
      }
      ranks_run(&job, compilations, size, ranks);
      for (uint32_t r = 0; r < size; ++r) {
        must(ranks[r].status, ranks[r].report);
        if (!hx_value_equal(ranks[r].outputs[0], expected)) fail_msg("%s over %u ranks has other bits", kinds[k], size);
      }
      ranks_release(ranks, size);
    }
  }
  hx_value_release(expected);
  hx_value_release(input);
  hx_free(program);
  bench_close(&bench);
}

// Collectives lowered to those of a plugin's table.
static void lowered_collectives_keep_bits(void **state) {
  (void)state;
  suite_t *suite = open_suite(false);
  hx_value_t *input = make_input(suite, false), *expected = run_alone(suite, false, NULL, input);
  for (size_t k = 0; k < 2; ++k) {
    const ranks_job_t job = {.bench = &suite->bench,
                             .spec = {.kind = kinds[k]},
                             .lowering = "infer-state,lower-collectives",
                             .inputs = {input}};
    must_match(suite, &job, false, 3, expected);
  }
  hx_value_release(expected);
  hx_value_release(input);
  close_suite(suite);
}

// One rank spreads by rows, the others by terms: every rank gets the same fault before anything is moved.
static void ranks_with_other_programs_are_refused_alike(void **state) {
  (void)state;
  suite_t *suite = open_suite(false);
  hx_value_t *input = make_input(suite, false);
  const ranks_job_t job = {
      .bench = &suite->bench, .spec = {.kind = "terms"}, .odd_rank = 1, .odd_kind = "limbs", .inputs = {input}};
  ranks_rank_t ranks[RANKS_MAX];
  hx_compilation_t *compilations[RANKS_MAX] = {NULL};
  for (uint32_t r = 0; r < 3; ++r) compilations[r] = compile(suite, false);
  ranks_run(&job, compilations, 3, ranks);
  for (uint32_t r = 0; r < 3; ++r) {
    assert_int_equal(ranks[r].status, HX_STATUS_REFUSED);
    assert_null(ranks[r].outputs[0]);
    must_fault(ranks[r].report, HX_CODE_RANK_MISMATCH, 0,
               "rank 1 comes in step 1 to distributed.gather_limbs {ids = [0, 1, 2, 3, 4]");
    must_fault(ranks[r].report, HX_CODE_RANK_MISMATCH, 0,
               "where rank 0 comes in step 1 to distributed.scatter_limbs {ids = [0, 1, 2, 3, 4], owners = [0, 1, 2, "
               "0, 1], root = 0");
    assert_string_equal(hx_report_get(ranks[r].report, 0)->text, hx_report_get(ranks[0].report, 0)->text);
    assert_int_equal(ranks[r].volume.sent, 0);
  }
  ranks_release(ranks, 3);
  hx_value_release(input);
  close_suite(suite);
}

// A program that is another rank's: all ranks are told by the one that has it.
static void program_of_another_rank_is_refused_by_all(void **state) {
  (void)state;
  suite_t *suite = open_suite(false);
  hx_value_t *input = make_input(suite, false);
  const ranks_job_t job = {
      .bench = &suite->bench, .spec = {.kind = "limbs"}, .odd_rank = 2, .is_shifted = true, .inputs = {input}};
  ranks_rank_t ranks[RANKS_MAX];
  hx_compilation_t *compilations[RANKS_MAX] = {NULL};
  for (uint32_t r = 0; r < 3; ++r) compilations[r] = compile(suite, false);
  ranks_run(&job, compilations, 3, ranks);
  for (uint32_t r = 0; r < 3; ++r) {
    assert_int_equal(ranks[r].status, HX_STATUS_REFUSED);
    must_fault(ranks[r].report, HX_CODE_RANK_MISMATCH, 0, "rank 2: distributed.gather_limbs: attribute rank is 0");
  }
  ranks_release(ranks, 3);
  hx_value_release(input);
  close_suite(suite);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(demo_keeps_its_bits_over_ranks),
      cmocka_unit_test(demo_on_a_batch_keeps_its_bits_over_ranks),
      cmocka_unit_test(product_keeps_its_bits_over_ranks),
      cmocka_unit_test(product_on_a_batch_keeps_its_bits_over_ranks),
      cmocka_unit_test(merged_product_keeps_its_bits_over_ranks),
      cmocka_unit_test(narrow_words_keep_their_bits_over_ranks),
      cmocka_unit_test(lowered_collectives_keep_bits),
      cmocka_unit_test(ranks_with_other_programs_are_refused_alike),
      cmocka_unit_test(program_of_another_rank_is_refused_by_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
