// SPDX-License-Identifier: Apache-2.0
// Lowered programs give the bits of the operations that they stand for, with primitives and views alone.
#include "ir_interpret.h"
// The header above brings CMocka.
#include "case_sets.h"
#include "core/passes/passes.h"

// Groups of two primes, an uneven digit, two special primes.
static hx_params_t *grouped_set(void) {
  uint64_t last[64] = {0};
  uint64_t q[6], p[2];
  for (int i = 0; i < 6; ++i) q[i] = case_set_prime(28, 4, last);
  for (int i = 0; i < 2; ++i) p[i] = case_set_prime(30, 4, last);
  char json[1024];
  snprintf(
      json, sizeof json,
      "{\"log_n\":4,\"word\":64,\"base\":[\"%llu\",\"%llu\"],\"groups\":[[\"%llu\",\"%llu\"],[\"%llu\"],[\"%llu\"]],"
      "\"special\":[\"%llu\",\"%llu\"],\"digits\":3,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^20\"}",
      (unsigned long long)q[0], (unsigned long long)q[1], (unsigned long long)q[2], (unsigned long long)q[3],
      (unsigned long long)q[4], (unsigned long long)q[5], (unsigned long long)p[0], (unsigned long long)p[1]);
  hx_params_t *params = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_params_parse(hx_str(json), "set", HX_PARAMS_INSECURE, &params, report) != HX_STATUS_OK)
    fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
  return params;
}

typedef struct lower_case {
  const char *body, *values, *types;
} lower_case_t;

#define C "!ckks.ciphertext<>"
#define P "!ckks.plaintext<>"
#define T "!rns.tensor<>"
#define ONE(line_, type_) \
  { "%r = " line_ " -> " type_ "\n", "%r", type_ }

// Arguments: x, y two components in ntt domain; k in coefficients; t, tk three components; p, pk plaintexts; u, w
// plaintexts on Q and P; z with another slot count.
static const lower_case_t cases[] = {
    ONE("\"ckks.add\"(%x, %y) : (!x, !x)", C),
    ONE("\"ckks.add\"(%k, %k) : (!k, !k)", C),
    ONE("\"ckks.sub\"(%t, %t) : (!t, !t)", C),
    ONE("\"ckks.neg\"(%x) : (!x)", C),
    ONE("\"ckks.add_plain\"(%x, %p) : (!x, !p)", C),
    ONE("\"ckks.sub_plain\"(%t, %p) : (!t, !p)", C),
    ONE("\"ckks.mul_plain\"(%t, %p) : (!t, !p)", C),
    ONE("\"ckks.add_scalar\"(%x) {value = 1.25 : f64} : (!x)", C),
    ONE("\"ckks.add_scalar\"(%t) {value = [-0.5, 2.25]} : (!t)", C),
    ONE("\"ckks.mul_scalar\"(%x) {value = -3.75 : f64, scale = \"2^10\"} : (!x)", C),
    ONE("\"ckks.mul_scalar\"(%x) {value = [0.0, -1.0], scale = \"3*2^9\"} : (!x)", C),
    ONE("\"ckks.mul_integer\"(%k) {integer = -12345678901234 : i64} : (!k)", C),
    ONE("\"ckks.mul_integer\"(%x) {integer = 7 : i64} : (!x)", C),
    ONE("\"ckks.mul\"(%x, %y) : (!x, !x)", C),
    ONE("\"ckks.mul\"(%x, %x) : (!x, !x)", C),
    ONE("\"ckks.square\"(%x) : (!x)", C),
    ONE("\"ckks.relinearize\"(%t) : (!t)", C),
    ONE("\"ckks.relinearize\"(%t) {output_domain = \"coefficient\"} : (!t)", C),
    ONE("\"ckks.relinearize\"(%tk) : (!tk)", C),
    ONE("\"ckks.relinearize\"(%tk) {output_domain = \"coefficient\"} : (!tk)", C),
    ONE("\"ckks.rescale\"(%x) : (!x)", C),
    ONE("\"ckks.rescale\"(%t) {output_domain = \"coefficient\"} : (!t)", C),
    ONE("\"ckks.rescale\"(%k) : (!k)", C),
    ONE("\"ckks.rescale\"(%k) {output_domain = \"coefficient\"} : (!k)", C),
    ONE("\"ckks.to_ntt\"(%k) : (!k)", C),
    ONE("\"ckks.from_ntt\"(%x) : (!x)", C),
    ONE("\"ckks.to_ntt\"(%pk) : (!pk)", P),
    ONE("\"ckks.from_ntt\"(%p) : (!p)", P),
    ONE("\"ckks.rotate\"(%x) {step = 3 : i64} : (!x)", C),
    ONE("\"ckks.rotate\"(%x) {step = -1 : i64, output_domain = \"coefficient\"} : (!x)", C),
    ONE("\"ckks.rotate\"(%k) {step = 1 : i64} : (!k)", C),
    ONE("\"ckks.rotate\"(%z) {step = 5 : i64} : (!z)", C),
    ONE("\"ckks.conjugate\"(%x) : (!x)", C),
    ONE("\"ckks.conjugate\"(%k) {output_domain = \"coefficient\"} : (!k)", C),
    {"%s = \"material.ref\"() {symbol = @other} : () -> !ckks.key<kind = switch>\n%r = \"ckks.key_switch\"(%x, %s) : "
     "(!x, !ckks.key<kind = switch>) -> " C "\n",
     "%r", C},
    {"%r:5 = \"ckks.rotate_many\"(%x) {steps = [2, 0, -6, 1, 8]} : (!x) -> (" C ", " C ", " C ", " C ", " C ")\n",
     "%r#0, %r#1, %r#2, %r#3, %r#4", C ", " C ", " C ", " C ", " C},
    {"%r:2 = \"ckks.rotate_many\"(%k) {steps = [1, 0], output_domain = \"coefficient\"} : (!k) -> (" C ", " C ")\n",
     "%r#0, %r#1", C ", " C},
    {"%r:2 = \"ckks.rotate_many\"(%x) {steps = [0, 0]} : (!x) -> (" C ", " C ")\n", "%r#0, %r#1", C ", " C},
    ONE("\"ckks.rotate_sum\"(%x, %y, %x) {steps = [1, 0, 2]} : (!x, !x, !x)", C),
    ONE("\"ckks.rotate_sum\"(%k, %k) {steps = [1, 1]} : (!k, !k)", C),
    ONE("\"ckks.rotate_sum\"(%x) {steps = [0]} : (!x)", C),
    {"%r:2 = \"ckks.rotate_weighted_sum\"(%x, %u, %w, %u, %w, %u, %w, %w, %u) {steps = [1, 0, 3, 1], groups = 2 : i64} "
     ": (!x, !w, !w, !w, !w, !w, !w, !w, !w) -> (" C ", " C ")\n",
     "%r#0, %r#1", C ", " C},
    ONE("\"ckks.rotate_weighted_sum\"(%k, %u) {steps = [2]} : (!k, !w)", C),
    ONE("\"ckks.rotate_weighted_sum\"(%x, %u, %w) {steps = [0, 8]} : (!x, !w, !w)", C),
    {"%r:2 = \"ckks.weighted_sum\"(%x, %y, %p, %p, %p, %p) {groups = 2 : i64} : (!x, !x, !p, !p, !p, !p) -> (" C ", " C
     ")\n",
     "%r#0, %r#1", C ", " C},
    ONE("\"ckks.prepare_plain\"(%pk) {for = \"add\"} : (!pk)", P),
    ONE("\"ckks.prepare_plain\"(%p) {for = \"mul\"} : (!p)", P),
    ONE("\"ckks.prepare_plain\"(%pk) {for = \"weighted\"} : (!pk)", P),
    ONE("\"ckks.prepare_plain\"(%p) {for = \"weighted\"} : (!p)", P),
    ONE("\"ckks.reinterpret_scale\"(%x) {scale = \"2^30\"} : (!x)", C),
    ONE("\"rns.mod_up\"(%x) {digit = 0 : i64} : (!x)", T),
    ONE("\"rns.mod_down\"(%u) {rounding = \"nearest\"} : (!w)", T),
    ONE("\"rns.mod_down\"(%u) {rounding = \"truncating\", drop = \"P\"} : (!w)", T),
    ONE("\"rns.rescale\"(%x) {rounding = \"truncating\", count = 1 : i64} : (!x)", T),
    ONE("\"rns.to_montgomery\"(%x) : (!x)", T),
    {"%m = \"rns.to_montgomery\"(%x) : (!x) -> " T "\n%n = \"rns.mul_montgomery\"(%m, %m) : (" T ", " T ") -> " T
     "\n%r = \"rns.from_montgomery\"(%n) : (" T ") -> " T "\n",
     "%n, %r", T ", " T},
    ONE("\"rns.mixed_radix\"(%k) : (!k)", T),
    ONE("\"rns.extend_exact\"(%k) {ids = [0, 5, 6, 7]} : (!k)", T),
    {"%a:2 = \"rns.weighted_sum\"(%x, %y, %p, %p, %p, %p) {groups = 2 : i64} : (!x, !x, !p, !p, !p, !p) -> (" T ", " T
     ")\n",
     "%a#0, %a#1", T ", " T},
    {"%s = \"material.ref\"() {symbol = @relin} : () -> !ckks.key<kind = relin>\n%d = \"rns.mod_up\"(%p) {digit = 0 : "
     "i64} : (!p) -> " T "\n%e = \"rns.key_product\"(%d, %s) {digit = 0 : i64} : (" T ", !ckks.key<kind = relin>) -> " T
     "\n%r = \"rns.key_product\"(%d, %s, %e) {digit = 0 : i64} : (" T ", !ckks.key<kind = relin>, " T ") -> " T "\n",
     "%r", T},
};

// `!name = type`, with what the arguments below have in common.
static size_t add_alias(char *text, const char *name, const char *kind, const char *batch, uint32_t depth,
                        const char *more) {
  return (size_t)sprintf(text, "!%s = !ckks.%s<batch = %s, depth = %u, scale = \"2^20\", repr = standard, %s>\n", name,
                         kind, batch, depth, more);
}

static char *case_text(const lower_case_t *test, uint32_t depth, const char *batch) {
  char *text = malloc(16384), *at = text;
  at += add_alias(at, "x", "ciphertext", batch, depth, "components = 2, domain = ntt, slots = 8");
  at += add_alias(at, "k", "ciphertext", batch, depth, "components = 2, domain = coefficient, slots = 8");
  at += add_alias(at, "t", "ciphertext", batch, depth, "components = 3, domain = ntt, slots = 8");
  at += add_alias(at, "tk", "ciphertext", batch, depth, "components = 3, domain = coefficient, slots = 8");
  at += add_alias(at, "z", "ciphertext", batch, depth, "components = 2, domain = ntt, slots = 4");
  at += add_alias(at, "p", "plaintext", "[]", depth, "basis = Q, domain = ntt, slots = 8");
  at += add_alias(at, "pk", "plaintext", batch, depth, "basis = Q, domain = coefficient, slots = 8");
  at += add_alias(at, "w", "plaintext", "[]", depth, "basis = QP, domain = ntt, slots = 8");
  at += sprintf(at,
                "\"func.func\"() ({\n^entry(%%x: !x, %%y: !x, %%k: !k, %%t: !t, %%tk: !tk, %%z: !z, %%p: !p, %%pk: "
                "!pk, %%u: !w, %%w: !w):\n%s"
                "\"func.return\"(%s) : (%s) -> ()\n}) {sym_name = \"main\", function_type = (!x, !x, !k, !t, !tk, !z, "
                "!p, !pk, !w, !w) -> (%s)} : () -> ()\n",
                test->body, test->values, test->types, test->types);
  assert_true(at - text < 16384);
  return text;
}

static void run_pipeline(hx_program_t *program, const char *pipeline, const hx_pass_env_t *outer) {
  hx_pass_env_t env = *outer;
  env.report = hx_report_create();
  const hx_status_t status = hx_pipeline_run(program, pipeline, &env);
  print_faults(env.report);
  if (status != HX_STATUS_OK) {
    char *text = print_good(program, 0);
    fprintf(stderr, "%s: %s\n", pipeline, text);
    hx_text_free(text);
  }
  assert_int_equal(status, HX_STATUS_OK);
  hx_report_release(env.report);
}

// Primitives in their plainest form, references and views.
static hx_status_t want_primitive(hx_ir_op_t *op, void *argument) {
  (void)argument;
  const hx_op_tier_t tier = op->info->tier;
  const bool is_conversion =
      op->info->id == HX_OP_RNS_MOD_UP || op->info->id == HX_OP_RNS_MOD_DOWN || op->info->id == HX_OP_RNS_RESCALE;
  if (is_conversion && op->operands[0]->type->domain != HX_COEFFICIENT) fail_msg("%s in ntt domain", op->info->name);
  if (tier == HX_TIER_DERIVED || tier == HX_TIER_WHOLE) {
    if ((op->info->flags & HX_OP_FLAG_VIEW) == 0) fail_msg("%s was not lowered", op->info->name);
  }
  if (strncmp(op->info->name, "ckks.", 5) == 0) fail_msg("%s was not lowered", op->info->name);
  return HX_STATUS_OK;
}

static void expect_equal_bits(const char *text, const hx_ring *ring) {
  const hx_pass_env_t env = {.ring = ring};
  hx_program_t *program = parse_good(text), *lowered;
  run_pipeline(program, "infer-state,resolve-keys,infer-state", &env);
  assert_int_equal(hx_program_clone(program, &lowered), HX_STATUS_OK);
  run_pipeline(lowered, "lower", &env);
  assert_int_equal(hx_ir_walk(lowered->module, want_primitive, NULL), HX_STATUS_OK);
  char *once = print_good(lowered, 0);
  run_pipeline(lowered, "infer-state,lower", &env);  // types were right; nothing is left to do
  char *twice = print_good(lowered, 0);
  assert_string_equal(twice, once);
  assert_same_results(program, lowered, ring);
  run_pipeline(lowered, "cse,dve", &env);
  assert_same_results(program, lowered, ring);
  hx_text_free(once);
  hx_text_free(twice);
  hx_program_release(program);
  hx_program_release(lowered);
}

static bool fits_last_depth(const lower_case_t *test) { return strstr(test->body, ".rescale\"") == NULL; }

static void lowered_operations_give_equal_bits(void **state) {
  (void)state;
  hx_params_t *sets[] = {grouped_set(), case_set_make(4, 30, 25, 5, 30, 2, 3, "2^20")};
  for (size_t s = 0; s < HX_COUNT_OF(sets); ++s) {
    const hx_ring *ring = hx_params_ring(sets[s]);
    for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
      for (uint32_t depth = 0; depth <= hx_ring_max_depth(ring); ++depth) {
        if (depth == hx_ring_max_depth(ring) && !fits_last_depth(&cases[i])) continue;
        char *text = case_text(&cases[i], depth, depth == 1 ? "[3]" : "[]");
        expect_equal_bits(text, ring);
        free(text);
      }
    }
    hx_params_release(sets[s]);
  }
}

static void lowered_sums_over_a_batch_give_equal_bits(void **state) {
  (void)state;
  static const char *const batches[] = {"[1]", "[2]", "[7]", "[8]", "[2, 5]", "[3, 2, 2]"};
  hx_params_t *params = case_set_make(3, 30, 25, 1, 30, 1, 2, "2^20");
  for (size_t i = 0; i < HX_COUNT_OF(batches); ++i) {
    const int axes = batches[i][2] == ']' ? 1 : strlen(batches[i]) == 6 ? 2 : 3;
    for (int axis = 0; axis < axes; ++axis) {
      char text[4096];
      snprintf(text, sizeof text,
               "!x = !ckks.ciphertext<batch = %s, components = 2, depth = 0, scale = \"2^20\", domain = ntt, repr = "
               "standard, slots = 4>\n"
               "\"func.func\"() ({\n^entry(%%x: !x):\n%%r = \"ckks.sum\"(%%x) {axis = %d : i64} : (!x) -> " C
               "\n%%s = \"rns.sum\"(%%x) {axis = %d : i64} : (!x) -> " T "\n\"func.return\"(%%r, %%s) : (" C ", " T
               ") -> ()\n}) {sym_name = \"main\", function_type = (!x) -> (" C ", " T ")} : () -> ()\n",
               batches[i], axis, axis);
      expect_equal_bits(text, hx_params_ring(params));
    }
  }
  hx_params_release(params);
}

static void lowered_level_drops_keep_rows(void **state) {
  (void)state;
  hx_params_t *params = grouped_set();
  const lower_case_t test = {"%a = \"ckks.level_drop\"(%x) {depth = 2 : i64} : (!x) -> " C
                             "\n%b = \"ckks.level_drop\"(%w) {depth = 1 : i64} : (!w) -> " P "\n",
                             "%a, %b", C ", " P};
  char *text = case_text(&test, 0, "[2]");
  expect_equal_bits(text, hx_params_ring(params));
  free(text);
  hx_params_release(params);
}

// A target with some operations.
typedef struct target {
  const char *const *names;
  size_t count;
} target_t;

static bool has_operation(void *argument, const hx_ir_op_t *op) {
  const target_t *target = argument;
  if (op->info->tier == HX_TIER_STRUCTURE || op->info->tier == HX_TIER_HOST || (op->info->flags & HX_OP_FLAG_VIEW) != 0)
    return true;
  for (size_t i = 0; i < target->count; ++i) {
    if (strcmp(op->info->name, target->names[i]) == 0) return true;
  }
  return op->info->tier == HX_TIER_PRIMITIVE;
}

static size_t count_of(const hx_program_t *program, const char *name) {
  size_t count = 0;
  for (const hx_ir_op_t *op = hx_func_block(hx_program_find(program, "main"))->first; op != NULL; op = op->next)
    count += strcmp(op->info->name, name) == 0;
  return count;
}

static void only_missing_keeps_what_the_target_has(void **state) {
  (void)state;
  hx_params_t *params = grouped_set();
  const hx_ring *ring = hx_params_ring(params);
  const lower_case_t test = {"%a = \"ckks.rotate\"(%x) {step = 1 : i64} : (!x) -> " C
                             "\n%b = \"ckks.add\"(%a, %x) : (" C ", !x) -> " C
                             "\n%r = \"ckks.neg\"(%b) {heliox.implementation = \"special\"} : (" C ") -> " C "\n",
                             "%r", C};
  char *text = case_text(&test, 0, "[]");
  static const char *const names[] = {"ckks.add", "rns.key_product"};
  target_t target = {names, 2};
  hx_program_t *program = parse_good(text);
  const hx_pass_env_t env = {.ring = ring, .is_native = has_operation, .native_argument = &target};
  run_pipeline(program, "infer-state, resolve-keys, lower{only=missing}, infer-state", &env);
  assert_int_equal(count_of(program, "ckks.rotate"), 0);
  assert_int_equal(count_of(program, "ckks.add"), 1);
  assert_int_equal(count_of(program, "ckks.neg"), 1);  // asked for by name, so the linker will say
  assert_int_equal(count_of(program, "rns.key_product"), 3);
  assert_int_equal(count_of(program, "rns.mod_down"), 1);
  assert_int_equal(count_of(program, "ntt.inverse"), 1);  // mod_down stays in ntt domain
  const hx_pass_env_t none = {.ring = ring};
  hx_program_t *untouched = parse_good(text);
  run_pipeline(untouched, "infer-state,resolve-keys", &none);
  char *before = print_good(untouched, 0);
  run_pipeline(untouched, "lower{only=missing}", &none);  // without a target everything is native
  char *after = print_good(untouched, 0);
  assert_string_equal(after, before);
  hx_text_free(before);
  hx_text_free(after);
  free(text);
  hx_program_release(program);
  hx_program_release(untouched);
  hx_params_release(params);
}

static void lower_goes_into_regions(void **state) {
  (void)state;
  hx_params_t *params = grouped_set();
  static const char text[] =
      "!x = !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^20\", domain = ntt, repr = standard, "
      "slots = 8>\n"
      "\"func.func\"() ({\n^entry(%x: !x, %i: index):\n%r = \"scf.for\"(%i, %i, %i, %x) ({\n^b(%k: index, %a: !x):\n"
      "%b = \"ckks.rotate\"(%a) {step = 1 : i64} : (!x) -> !x\n\"scf.yield\"(%b) : (!x) -> ()\n}) : (index, index, "
      "index, !x) -> !x\n"
      "\"func.return\"(%r) : (!x) -> ()\n}) {sym_name = \"main\", function_type = (!x, index) -> !x} : () -> ()\n";
  const hx_pass_env_t env = {.ring = hx_params_ring(params)};
  hx_program_t *program = parse_good(text);
  run_pipeline(program, "infer-state,resolve-keys,lower,infer-state", &env);
  assert_int_equal(hx_ir_walk(program->module, want_primitive, NULL), HX_STATUS_OK);
  char *printed = print_good(program, 0);
  free(through_mlir_opt(printed, ""));
  hx_program_t *again = parse_good(printed);
  hx_text_free(printed);
  hx_program_release(again);
  hx_program_release(program);
  hx_params_release(params);
}

static void expect_refusal(const lower_case_t *test, const char *pipeline, const hx_ring *ring, hx_code_t code,
                           const char *part) {
  char *text = case_text(test, 0, "[]");
  hx_program_t *program = parse_good(text);
  const hx_pass_env_t env = {.ring = ring, .report = hx_report_create()};
  assert_int_not_equal(hx_pipeline_run(program, pipeline, &env), HX_STATUS_OK);
  const hx_fault_t *fault = hx_report_get(env.report, 0);
  if (fault->code != code || strstr(fault->text, part) == NULL) print_faults(env.report);
  assert_int_equal(fault->code, code);
  assert_non_null(strstr(fault->text, part));
  hx_report_release(env.report);
  hx_program_release(program);
  free(text);
}

static void lower_refuses_what_it_cannot_know(void **state) {
  (void)state;
  hx_params_t *params = grouped_set();
  const hx_ring *ring = hx_params_ring(params);
  const lower_case_t add = ONE("\"ckks.add\"(%x, %y) : (!x, !x)", C),
                     turn = ONE("\"ckks.rotate\"(%x) {step = 1 : i64} : (!x)", C);
  const lower_case_t large = ONE("\"ckks.add_scalar\"(%x) {value = 1.0e300 : f64} : (!x)", C);
  expect_refusal(&add, "lower", NULL, HX_CODE_TYPE, "none are given");
  expect_refusal(&add, "lower", ring, HX_CODE_TYPE, "run infer-state before lower");
  expect_refusal(&turn, "infer-state,lower", ring, HX_CODE_MISSING_KEY, "run resolve-keys before lower");
  expect_refusal(&large, "infer-state,lower", ring, HX_CODE_VALUE, "ckks.add_scalar: the constant");
  hx_params_release(params);
}

static void lower_frees_everything_when_memory_runs_out(void **state) {
  (void)state;
  hx_params_t *params = grouped_set();
  size_t i = 0;
  while (strstr(cases[i].body, "rotate_weighted_sum") == NULL) ++i;
  const lower_case_t test = cases[i];
  char *text = case_text(&test, 1, "[]");
  const hx_pass_env_t env = {.ring = hx_params_ring(params)};
  hx_program_t *program = parse_good(text);
  run_pipeline(program, "infer-state,resolve-keys", &env);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  for (uint64_t n = 1; status == HX_STATUS_OUT_OF_MEMORY; n += 1 + n / 8) {
    hx_program_t *clone = NULL;
    assert_int_equal(hx_program_clone(program, &clone), HX_STATUS_OK);
    hx_alloc_fail_at(n);
    status = hx_pipeline_run(clone, "lower,cse,dve,infer-state", &env);
    hx_alloc_fail_at(0);
    hx_program_release(clone);
  }
  assert_int_equal(status, HX_STATUS_OK);
  free(text);
  hx_program_release(program);
  hx_params_release(params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lowered_operations_give_equal_bits),
      cmocka_unit_test(lowered_sums_over_a_batch_give_equal_bits),
      cmocka_unit_test(lowered_level_drops_keep_rows),
      cmocka_unit_test(only_missing_keeps_what_the_target_has),
      cmocka_unit_test(lower_goes_into_regions),
      cmocka_unit_test(lower_refuses_what_it_cannot_know),
      cmocka_unit_test(lower_frees_everything_when_memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
