// SPDX-License-Identifier: Apache-2.0
// Which operations element by element the pass `fuse` marks as one region, by the kinds that a target prepares.
#include "core/passes/passes.h"
#include "ir_generate.h"

#define C "!ckks.ciphertext<depth = 0>"
#define P "!ckks.plaintext<depth = 0>"
#define CIPHERS "%a = \"ckks.add\"(%x, %y) : (" C ", " C ") -> " C "\n"

typedef struct target {
  const char *kinds[4];
} target_t;

static bool fuses(void *argument, const char *kind, const hx_ir_op_t *op) {
  const target_t *target = argument;
  assert_non_null(op);
  for (size_t i = 0; i < HX_COUNT_OF(target->kinds) && target->kinds[i] != NULL; ++i) {
    if (strcmp(target->kinds[i], kind) == 0) return true;
  }
  return false;
}

// The program behind `fuse`, and how many operations are marked.
static char *fuse(const char *text, target_t target, size_t *out_marked) {
  hx_program_t *program = parse_good(text);
  const hx_pass_env_t env = {.fuses = fuses, .fuses_argument = &target};
  assert_int_equal(hx_pipeline_run(program, "fuse", &env), HX_STATUS_OK);
  char *printed = print_good(program, 0);
  *out_marked = 0;
  for (const char *at = printed; (at = strstr(at, "heliox.region = ")) != NULL; ++at) ++*out_marked;
  hx_program_release(program);
  return printed;
}

static void expect_marked(const char *text, target_t target, size_t count) {
  size_t marked = 0;
  char *printed = fuse(text, target, &marked);
  if (marked != count) fail_msg("%zu operations are marked, expected %zu:\n%s", marked, count, printed);
  hx_text_free(printed);
}

// (x + y) p - q, three operations on ciphertexts and plaintexts.
static const char whole[] =
    MODULE("%x: " C ", %y: " C ", %p: " P ", %q: " P, C ", " C ", " P ", " P, C,
           CIPHERS "%b = \"ckks.mul_plain\"(%a, %p) : (" C ", " P ") -> " C "\n%c = \"ckks.sub_plain\"(%b, %q) : (" C
                   ", " P ") -> " C "\n\"func.return\"(%c) : (" C ") -> ()");

static void operations_are_marked_by_the_kinds_that_a_target_lists(void **state) {
  (void)state;
  expect_marked(whole, (target_t){{"element-wise-ckks"}}, 3);
  expect_marked(whole, (target_t){{"element-wise", "element-wise-ckks"}}, 3);
  expect_marked(whole, (target_t){{"element-wise"}}, 0);
  expect_marked(whole, (target_t){{"element-wise-sums"}}, 0);
  expect_marked(whole, (target_t){{NULL}}, 0);
}

static void kinds_mix_where_the_target_lists_each(void **state) {
  (void)state;
  static const char text[] =
      MODULE("%x: " C ", %y: " C ", %p: " P ", %q: " P, C ", " C ", " P ", " P, C,
             CIPHERS "%b = \"ckks.weighted_sum\"(%a, %y, %p, %q) {groups = 1 : i64} : (" C ", " C ", " P ", " P
                     ") -> " C "\n%c = \"rns.neg\"(%b) : (" C ") -> " C "\n\"func.return\"(%c) : (" C ") -> ()");
  expect_marked(text, (target_t){{"element-wise", "element-wise-ckks", "element-wise-sums"}}, 3);
  expect_marked(text, (target_t){{"element-wise-ckks", "element-wise-sums"}}, 2);
  expect_marked(text, (target_t){{"element-wise", "element-wise-sums"}}, 2);
  expect_marked(text, (target_t){{"element-wise", "element-wise-ckks"}}, 0);
}

// A chain that another operation parts, and one whose parts have nothing to do with each other.
static void regions_hold_operations_that_follow_and_need_each_other(void **state) {
  (void)state;
  static const char parted[] = MODULE(
      "%x: " C ", %y: " C, C ", " C, C,
      CIPHERS "%r = \"ckks.rotate\"(%a) {step = 1 : i64} : (" C ") -> " C "\n%b = \"ckks.add\"(%a, %r) : (" C ", " C
              ") -> " C "\n%c = \"ckks.neg\"(%b) : (" C ") -> " C "\n\"func.return\"(%c) : (" C ") -> ()");
  static const char apart[] =
      MODULE("%x: " C ", %y: " C, C ", " C, C,
             CIPHERS "%b = \"ckks.neg\"(%x) : (" C ") -> " C "\n\"func.return\"(%b) : (" C ") -> ()");
  size_t marked = 0;
  char *printed = fuse(parted, (target_t){{"element-wise-ckks"}}, &marked);
  assert_int_equal(marked, 2);
  assert_non_null(strstr(strstr(printed, "ckks.rotate"), "heliox.region = 0"));
  hx_text_free(printed);
  expect_marked(apart, (target_t){{"element-wise-ckks"}}, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operations_are_marked_by_the_kinds_that_a_target_lists),
      cmocka_unit_test(kinds_mix_where_the_target_lists_each),
      cmocka_unit_test(regions_hold_operations_that_follow_and_need_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
