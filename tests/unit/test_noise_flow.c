// SPDX-License-Identifier: Apache-2.0
// The estimator through control flow: loops turn by turn, branches as a bound on both, bounds that the program writes.
#include "core/passes/noise.h"
#include "core/passes/passes.h"
#include "tests/unit/link_fixture.h"

static hx_params_t *params;

// Sigma of the worst slots of result 0 behind a pipeline; NAN where it is not known. *visited: results that were shown.
static void count_visit(void *context, const hx_ir_op_t *op, size_t result, const hx_noise_t *noise) {
  (void)op;
  (void)result;
  (void)noise;
  ++*(size_t *)context;
}

static double sigma_of(const char *text, const char *pipeline, size_t *visited) {
  hx_report_t *report = hx_report_create();
  hx_program_t *program = link_parse(text);
  hx_noise_t noises[2];
  size_t count = 0;
  const hx_pass_env_t env = {.ring = hx_params_ring(params), .report = report};
  const hx_noise_plan_t plan = {.params = params, .visit = count_visit, .context = &count};
  must(hx_pipeline_run(program, pipeline, &env), report);
  must(hx_program_infer(program, env.ring, report), report);
  must(hx_program_predict_noise(program, &plan, noises, report), report);
  const hx_ir_op_t *last = hx_func_return(hx_program_find(program, "main"));
  const double sigma =
      noises[0].known ? hx_noise_worst_sigma(&noises[0], last->operands[0]->type, env.ring) : (double)NAN;
  if (visited != NULL) *visited = count;
  hx_program_release(program);
  hx_report_release(report);
  return sigma;
}

#define NUMBERS                                                                                                      \
  "%l = \"arith.constant\"() {value = 0 : index} : () -> index\n%u = \"arith.constant\"() {value = 3 : index} : () " \
  "-> "                                                                                                              \
  "index\n%s = \"arith.constant\"() {value = 1 : index} : () -> index\n"
#define TURN                                                                                                 \
  "%n = \"ckks.rotate\"(%c) {step = 1 : i64} : (" CT ") -> " CT "\n%a = \"ckks.add\"(%n, %c) : (" CT ", " CT \
  ") -> " CT "\n\"scf.yield\"(%a) : (" CT ") -> ()\n"
#define LOOP(upper_, attributes_)                                                                                   \
  MODULE("%x: " CT0 ", %k: index", CT0 ", index", CT,                                                               \
         NUMBERS "%r = \"scf.for\"(%l, " upper_ ", %s, %x) ({\n^b(%i: index, %c: " CT "):\n" TURN "}) " attributes_ \
                 ": (index, index, index, " CT0 ") -> " CT "\n\"func.return\"(%r) : (" CT ") -> ()")
#define WHILE(attributes_)                                                                                             \
  MODULE("%x: " CT0 ", %k: index", CT0 ", index", CT,                                                                  \
         NUMBERS "%r, %m = \"scf.while\"(%x, %l) ({\n^b(%p: " CT                                                       \
                 ", %q: index):\n%t = \"arith.cmpi\"(%q, %k) {predicate = "                                            \
                 "6 : i64} : (index, index) -> i1\n\"scf.condition\"(%t, %p, %q) : (i1, " CT                           \
                 ", index) -> ()\n}, {\n^d(%c: " CT                                                                    \
                 ", %j: index):\n%w = \"arith.addi\"(%j, %s) : (index, index) -> "                                     \
                 "index\n%n = \"ckks.rotate\"(%c) {step = 1 : i64} : (" CT ") -> " CT                                  \
                 "\n%a = \"ckks.add\"(%n, %c) : (" CT ", " CT ") -> " CT "\n\"scf.yield\"(%a, %w) : (" CT              \
                 ", index) -> ()\n}) " attributes_ ": (" CT0 ", index) -> (" CT ", index)\n\"func.return\"(%r) : (" CT \
                 ") -> ()")

static void loop_of_constant_bounds_is_its_turns(void **state) {
  (void)state;
  size_t shown = 0;
  const double loop = sigma_of(LOOP("%u", ""), "infer-state", &shown),
               straight = sigma_of(LOOP("%u", ""), "infer-state,unroll,dve", NULL);
  assert_true(isfinite(loop) && loop > 0);
  assert_true(fabs(loop / straight - 1) < 1e-9);
  assert_int_equal(shown, 6);  // three numbers, the last turn's rotation and sum, the loop's result
}

static void loop_with_written_turns_is_bounded_by_all_of_them(void **state) {
  (void)state;
  const double exact = sigma_of(LOOP("%u", ""), "infer-state", NULL);
  const double bound = sigma_of(LOOP("%k", "{heliox.turns = 3 : i64} "), "infer-state", NULL);
  assert_true(bound >= exact * 0.999 && bound <= exact * 4);
  assert_true(isnan(sigma_of(LOOP("%k", ""), "infer-state", NULL)));
  assert_true(isnan(sigma_of(LOOP("%k", "{heliox.turns = 1000000 : i64} "), "infer-state", NULL)));
}

static void while_with_written_turns_is_bounded(void **state) {
  (void)state;
  const double exact = sigma_of(LOOP("%u", ""), "infer-state", NULL);
  const double bound = sigma_of(WHILE("{heliox.turns = 3 : i64} "), "infer-state", NULL);
  assert_true(bound >= exact * 0.999 && bound <= exact * 4);
  assert_true(isnan(sigma_of(WHILE(""), "infer-state", NULL)));
}

#define BRANCH(condition_, first_, second_)                                                                     \
  MODULE("%x: " CT0 ", %k: i1", CT0 ", i1", CT,                                                                 \
         condition_ "%r = \"scf.if\"(%t) ({\n" first_ "\"scf.yield\"(%a) : (" CT ") -> ()\n}, {\n" second_      \
                    "\"scf.yield\"(%b) : (" CT ") -> ()\n}) : (i1) -> " CT "\n%z = \"ckks.sub\"(%r, %x) : (" CT \
                    ", " CT0 ") -> " CT "\n\"func.return\"(%z) : (" CT ") -> ()")
#define SMALL "%a = \"ckks.neg\"(%x) : (" CT0 ") -> " CT "\n"
#define LARGE "%b = \"ckks.mul_integer\"(%x) {integer = 9 : i64} : (" CT0 ") -> " CT "\n"
#define OPEN                                                                                                          \
  "%f = \"arith.constant\"() {value = 1 : index} : () -> index\n%t = \"arith.cmpi\"(%f, %f) {predicate = 0 : i64} : " \
  "(index, index) -> i1\n"

static void branch_is_a_bound_on_both(void **state) {
  (void)state;
  const double first = sigma_of(BRANCH("%t = \"arith.constant\"() {value = true} : () -> i1\n", SMALL, LARGE),
                                "infer-state", NULL),
               second = sigma_of(BRANCH("%t = \"arith.constant\"() {value = false} : () -> i1\n", SMALL, LARGE),
                                 "infer-state", NULL);
  const double either = sigma_of(BRANCH(OPEN, SMALL, LARGE), "infer-state", NULL);
  assert_true(fabs(second / first - 4) < 0.5);  // 9x - x against -x - x
  assert_true(either >= first && either >= second && either <= 2 * second);
}

// Either of x and -x, less x: what is left may be twice the error, so nothing cancels.
static void branches_of_opposite_signs_never_cancel(void **state) {
  (void)state;
  const double either =
      sigma_of(BRANCH(OPEN, SMALL, "%b = \"ckks.add\"(%x, %x) : (" CT0 ", " CT0 ") -> " CT "\n"), "infer-state", NULL);
  const double least =
      sigma_of(BRANCH("%t = \"arith.constant\"() {value = true} : () -> i1\n", SMALL, LARGE), "infer-state", NULL);
  assert_true(either >= least);
}

// A program that says how often a loop runs is held to it.
static void written_turns_hold_at_link_and_in_a_run(void **state) {
  (void)state;
  bench_t bench;
  if (!bench_open_cpu(&bench, LINK_RING)) skip();
  hx_compilation_t *compilation = link_compile(&bench, LOOP("%u", "{heliox.turns = 2 : i64} "));
  hx_executable_t *executable = NULL;
  must(hx_compilation_bind_keys(compilation, bench.keys, bench.report), bench.report);
  assert_int_not_equal(hx_link(compilation, bench.backend, "", &executable, bench.report), HX_STATUS_OK);
  must_fault(bench.report, HX_CODE_LIMIT, 0, "it runs 3 times; by its heliox.turns at most 2 times");
  hx_report_clear(bench.report);
  hx_compilation_release(compilation);
  static const char *const texts[] = {LOOP("%k", "{heliox.turns = 2 : i64} "), WHILE("{heliox.turns = 2 : i64} ")};
  for (size_t t = 0; t < 2; ++t) {
    compilation = link_compile(&bench, texts[t]);
    must(hx_compilation_bind_keys(compilation, bench.keys, bench.report), bench.report);
    must(hx_link(compilation, bench.backend, "", &executable, bench.report), bench.report);
    hx_value_t *x = encrypt_seed(&bench, 5);
    for (int64_t turns = 2; turns <= 3; ++turns) {
      hx_value_t *number = NULL, *output = NULL;
      must(hx_value_integer(bench.params, "index", turns, &number, bench.report), bench.report);
      const hx_value_t *const inputs[] = {x, number};
      const hx_status_t status = hx_run(executable, inputs, &output, bench.report);
      if (turns == 2) must(status, bench.report);
      if (turns == 3) {
        assert_int_not_equal(status, HX_STATUS_OK);
        must_fault(bench.report, HX_CODE_LIMIT, 0, "2 times");
        hx_report_clear(bench.report);
      }
      hx_value_release(number);
      hx_value_release(output);
    }
    hx_value_release(x);
    hx_executable_release(executable);
    executable = NULL;
    hx_compilation_release(compilation);
  }
  bench_close(&bench);
}

static int open_params(void **state) {
  (void)state;
  params = link_params(LINK_RING);
  return 0;
}

static int close_params(void **state) {
  (void)state;
  hx_params_release(params);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loop_of_constant_bounds_is_its_turns),
                                     cmocka_unit_test(loop_with_written_turns_is_bounded_by_all_of_them),
                                     cmocka_unit_test(while_with_written_turns_is_bounded),
                                     cmocka_unit_test(branch_is_a_bound_on_both),
                                     cmocka_unit_test(branches_of_opposite_signs_never_cancel),
                                     cmocka_unit_test(written_turns_hold_at_link_and_in_a_run)};
  return cmocka_run_group_tests(tests, open_params, close_params);
}
