// SPDX-License-Identifier: Apache-2.0
// The transition table of the ckks dialect, row by row: good calls with their result states, bad ones with code and
// text.
#include "ckks_states.h"
#include "infer_fixture.h"

static const call_row_t arithmetic[] = {
    {"ckks.add", {CT0, CT0}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.add", {CT0_THREE, CT0_THREE}, NULL, {CT0_THREE}, HX_CODE_NONE, NULL, NULL},
    {"ckks.sub", {CT0_COEFFICIENT, CT0_COEFFICIENT}, NULL, {CT0_COEFFICIENT}, HX_CODE_NONE, NULL, NULL},
    {"ckks.neg", {CT0_THREE}, NULL, {CT0_THREE}, HX_CODE_NONE, NULL, NULL},
    {"ckks.add_plain", {CT0, PT0}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.sub_plain", {CT0, PT0}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.mul_plain", {CT0, PT0}, NULL, {CT0_SQUARE}, HX_CODE_NONE, NULL, NULL},
    {"ckks.add_scalar", {CT0}, "value = [1.0, -2.0]", {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.mul_scalar", {CT0}, "value = 0.5, scale = \"2^50\"", {CT0_SQUARE}, HX_CODE_NONE, NULL, NULL},
    {"ckks.mul_integer", {CT1}, "integer = -3", {CT1}, HX_CODE_NONE, NULL, NULL},
    {"ckks.mul", {CT0, CT0}, NULL, {CT0_THREE}, HX_CODE_NONE, NULL, NULL},
    {"ckks.mul",
     {CT1, CT1},
     NULL,
     {"!ckks.ciphertext" STATE("3", "1", "2^200*q5^-2", Q1, "ntt")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.square", {CT0}, NULL, {CT0_THREE}, HX_CODE_NONE, NULL, NULL},
    {"ckks.square", {CT5}, NULL, {"!ckks.ciphertext" STATE("3", "5", "2^100", "0", "ntt")}, HX_CODE_NONE, NULL, NULL},
    {"ckks.weighted_sum",
     {CT0, CT0, PT0, PT0, PT0_LARGE, PT0_LARGE},
     "groups = 2",
     {CT0_SQUARE, "!ckks.ciphertext" STATE("2", "0", "2^110", Q0, "ntt")},
     HX_CODE_NONE,
     NULL,
     NULL},
    // Bad ones.
    {"ckks.add",
     {CT0, CT0_SQUARE},
     NULL,
     {NULL},
     HX_CODE_SCALE_MISMATCH,
     "operand a has scale 2^50 (2^50.000000), operand b 2^100 (2^100.000000), a ratio of 2^-50",
     "rescale the operand with the larger scale"},
    {"ckks.add",
     {"!ckks.ciphertext" STATE("2", "1", "2^50", Q1, "ntt"), CT1},
     NULL,
     {NULL},
     HX_CODE_SCALE_MISMATCH,
     "operand b 2^100*q5^-1 (2^50.000000)",
     "reinterpret_scale"},
    {"ckks.add",
     {CT0, CT1},
     NULL,
     {NULL},
     HX_CODE_DEPTH_MISMATCH,
     "operand a is at depth 0, operand b at depth 1",
     "level_drop operand a to depth 1"},
    {"ckks.mul",
     {CT1, CT0},
     NULL,
     {NULL},
     HX_CODE_DEPTH_MISMATCH,
     "operand a is at depth 1",
     "level_drop operand b to depth 1"},
    {"ckks.add",
     {CT0_SQUARE, CT0_THREE},
     NULL,
     {NULL},
     HX_CODE_COMPONENTS,
     "operand b components 3",
     "relinearize operand b first"},
    {"ckks.mul",
     {CT0_THREE, CT0},
     NULL,
     {NULL},
     HX_CODE_COMPONENTS,
     "operand a has 3 components, it needs 2",
     "relinearize it first"},
    {"ckks.mul",
     {CT0, CT0_THREE},
     NULL,
     {NULL},
     HX_CODE_COMPONENTS,
     "operand b has 3 components",
     "relinearize it first"},
    {"ckks.square", {CT0_THREE}, NULL, {NULL}, HX_CODE_COMPONENTS, "operand a", "relinearize it first"},
    {"ckks.add", {CT0, CT0_COEFFICIENT}, NULL, {NULL}, HX_CODE_DOMAIN, "operand b in domain coefficient", "to_ntt"},
    {"ckks.mul",
     {CT0_COEFFICIENT, CT0_COEFFICIENT},
     NULL,
     {NULL},
     HX_CODE_DOMAIN,
     "operand a is in domain coefficient, it needs ntt",
     "to_ntt"},
    {"ckks.mul_plain",
     {CT0, PT0_COEFFICIENT},
     NULL,
     {NULL},
     HX_CODE_DOMAIN,
     "operand p is in domain coefficient",
     NULL},
    {"ckks.mul_plain",
     {CT0, PQ0},
     NULL,
     {NULL},
     HX_CODE_PRIMES,
     "operand p lies on basis QP, it needs Q",
     "prepare_plain"},
    {"ckks.mul_plain", {CT0, PT1}, NULL, {NULL}, HX_CODE_DEPTH_MISMATCH, "operand p at depth 1", NULL},
    {"ckks.add_plain", {CT0, PT0_LARGE}, NULL, {NULL}, HX_CODE_SCALE_MISMATCH, "operand p 2^60", NULL},
    {"ckks.add_scalar", {CT0_COEFFICIENT}, "value = 1.0", {NULL}, HX_CODE_DOMAIN, "operand a", NULL},
    {"ckks.add",
     {CT0, "!ckks.ciphertext<slots = 4>"},
     NULL,
     {NULL},
     HX_CODE_SLOTS_MISMATCH,
     "operand a is packed with slots 8, operand b packed with slots 4",
     "encode both"},
    {"ckks.neg",
     {"!ckks.ciphertext<repr = lazy>"},
     NULL,
     {NULL},
     HX_CODE_DOMAIN,
     "operand a is in representation lazy, it needs standard",
     "reduce"},
    {"ckks.mul_scalar",
     {"!ckks.ciphertext<scale = \"170141183460469231731687303715884105729*2^0\">"},
     "value = 1.0, scale = \"3138550867693340381917894711603833208051177722232017256453*2^0\"",
     {NULL},
     HX_CODE_SCALE_RANGE,
     "2^256",
     NULL},
    {"ckks.mul_scalar",
     {CT0},
     "value = 1.0, scale = \"2^40*q9^1\"",
     {NULL},
     HX_CODE_SCALE_RANGE,
     "attribute scale",
     NULL},
    {"ckks.weighted_sum",
     {CT0, CT0, PT0, PT0_LARGE},
     "groups = 1",
     {NULL},
     HX_CODE_SCALE_MISMATCH,
     "operand terms[3] has scale 2^110",
     "encode that plaintext"},
    {"ckks.weighted_sum", {CT0, CT0, PT0}, "groups = 1", {NULL}, HX_CODE_OPERANDS, "3 operands", NULL},
    {"ckks.weighted_sum",
     {CT0, PT0, PT0, PT0},
     "groups = 1",
     {NULL},
     HX_CODE_OPERANDS,
     "operand terms[1] has to be a ciphertext",
     NULL},
    {"ckks.weighted_sum",
     {CT0, PT0, PT0},
     "groups = 2",
     {NULL},
     HX_CODE_OPERANDS,
     "it has 2 results (one a group), not 1",
     NULL},
    {"ckks.weighted_sum",
     {CT0, CT1, PT0, PT0},
     "groups = 1",
     {NULL},
     HX_CODE_DEPTH_MISMATCH,
     "operand terms[1] at depth 1",
     NULL},
};

static void arithmetic_follows_the_table(void **state) {
  (void)state;
  run_rows(arithmetic, HX_COUNT_OF(arithmetic), &ring_a);
}

static const call_row_t edges[] = {
    {"ckks.encode", {"tensor<8xf64>"}, "scale = \"2^50\"", {PT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.encode",
     {"tensor<3xcomplex<f64>>"},
     "scale = \"2^50\", depth = 1, slots = 8",
     {PT1},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.encrypt", {PT0}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.encrypt", {PT0_COEFFICIENT, "!ckks.key<kind = public>"}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.decrypt",
     {CT0_THREE, "!ckks.key<kind = secret>"},
     NULL,
     {"!ckks.plaintext" STATE("1", "0", "2^100", Q0, "ntt")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.prepare_plain", {PT0_COEFFICIENT}, "for = \"mul\"", {PT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.prepare_plain", {PT0}, "for = \"weighted\"", {PQ0}, HX_CODE_NONE, NULL, NULL},
    // Bad ones.
    {"ckks.encode",
     {"tensor<9xf64>"},
     "scale = \"2^50\"",
     {NULL},
     HX_CODE_LENGTH,
     "9 values, but there are 8 slots",
     NULL},
    {"ckks.encode",
     {"tensor<5xf64>"},
     "scale = \"2^50\", slots = 4",
     {NULL},
     HX_CODE_LENGTH,
     "5 values, but there are 4 slots",
     NULL},
    {"ckks.encode",
     {"tensor<2xf64>"},
     "scale = \"2^50\", slots = 6",
     {NULL},
     HX_CODE_SLOTS,
     "power of two up to 8",
     NULL},
    {"ckks.encode", {"tensor<2xf64>"}, "scale = \"2^50\", slots = 16", {NULL}, HX_CODE_SLOTS, "slots is 16", NULL},
    {"ckks.encode", {"tensor<2xf64>"}, "scale = \"2^50\", depth = 6", {NULL}, HX_CODE_NO_DEPTH, "depths 0 to 5", NULL},
    {"ckks.decode", {PQ0}, NULL, {NULL}, HX_CODE_PRIMES, "operand a lies on basis QP", NULL},
    {"ckks.encrypt", {PQ0}, NULL, {NULL}, HX_CODE_PRIMES, "operand a", NULL},
    {"ckks.encrypt", {PT0, RELIN}, NULL, {NULL}, HX_CODE_OPERANDS, "it needs the public or secret key", NULL},
    {"ckks.decrypt",
     {CT0, "!ckks.key<kind = public>"},
     NULL,
     {NULL},
     HX_CODE_OPERANDS,
     "it needs the secret key",
     NULL},
    {"ckks.prepare_plain", {PQ0}, "for = \"weighted\"", {NULL}, HX_CODE_PRIMES, "basis QP, it needs Q", NULL},
};

static void edges_follow_the_table(void **state) {
  (void)state;
  run_rows(edges, HX_COUNT_OF(edges), &ring_a);
  const call_row_t decode = {"ckks.decode", {PT0}, NULL, {"tensor<8xcomplex<f64>>"}, HX_CODE_NONE, NULL, NULL};
  run_row(&decode, &ring_a);
  // A program may take fewer values, and real parts alone; not more values than slots.
  static const char *const written_texts[] = {"tensor<3xf64>", "tensor<8xf64>", "tensor<1xcomplex<f64>>",
                                              "tensor<?xf64>", "tensor<9xf64>"};
  for (size_t i = 0; i < HX_COUNT_OF(written_texts); ++i) {
    const hx_type_t operand = type_of(PT0, NULL), type = type_of(written_texts[i], NULL),
                    eight = type_of("tensor<8xf64>", NULL);
    const hx_type_t *written[] = {&type};
    outcome_t outcome;
    infer_types(&decode, &ring_a, &operand, 1, written, 1, &outcome);
    assert_int_equal(outcome.code, i == 4 ? HX_CODE_LENGTH : HX_CODE_NONE);
    if (i < 4) assert_true(hx_type_equal(&outcome.results[0], i == 3 ? &eight : &type));
  }
}

static const call_row_t open[] = {
    // Without parameters: what depends on the chain stays unknown, what is known is checked.
    {"ckks.rescale",
     {"!ckks.ciphertext<depth = 0, scale = \"2^80\", primes = [0, 1, 2]>"},
     NULL,
     {"!ckks.ciphertext<depth = 1, basis = Q, domain = ntt, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.rescale",
     {"!ckks.ciphertext<>"},
     NULL,
     {"!ckks.ciphertext<basis = Q, domain = ntt, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.mul",
     {"!ckks.ciphertext<scale = \"2^40\">", "!ckks.ciphertext<scale = \"2^40*q5^-1\", depth = 3>"},
     NULL,
     {"!ckks.ciphertext<components = 3, depth = 3, scale = \"2^80*q5^-1\", basis = Q, domain = ntt, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.add",
     {"!ckks.ciphertext<>", "!ckks.ciphertext<scale = \"2^40\", slots = 8, batch = [3]>"},
     NULL,
     {"!ckks.ciphertext<scale = \"2^40\", slots = 8, batch = [3], basis = Q, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.add",
     {"!ckks.ciphertext<>", "!ckks.ciphertext<batch = []>"},
     NULL,
     {"!ckks.ciphertext<basis = Q, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.level_drop",
     {"!ckks.ciphertext<depth = 1, primes = [0, 1]>"},
     "depth = 200",
     {"!ckks.ciphertext<depth = 200, basis = Q, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.encode",
     {"tensor<?xf64>"},
     "scale = \"2^40*q77^-1\"",
     {"!ckks.plaintext<batch = [], components = 1, depth = 0, scale = \"2^40*q77^-1\", basis = Q, domain = ntt, repr = "
      "standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.rotate_many",
     {"!ckks.ciphertext<>", "!ckks.key", "!ckks.key<kind = galois, element = 3>"},
     "steps = [1, 2, 3]",
     {"!ckks.ciphertext<components = 2, basis = Q, domain = ntt, repr = standard>",
      "!ckks.ciphertext<components = 2, basis = Q, domain = ntt, repr = standard>",
      "!ckks.ciphertext<components = 2, basis = Q, domain = ntt, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.add",
     {"!ckks.ciphertext<scale = \"2^40\">", "!ckks.ciphertext<scale = \"2^40*q3^1\">"},
     NULL,
     {NULL},
     HX_CODE_SCALE_MISMATCH,
     "operand a has scale 2^40, operand b 2^40*q3^1",
     NULL},
    {"ckks.add",
     {"!ckks.ciphertext<primes = [0, 1]>", "!ckks.ciphertext<primes = [0, 1, 2]>"},
     NULL,
     {NULL},
     HX_CODE_PRIMES,
     "operand a lies on primes [0, 1], operand b on primes [0, 1, 2]",
     NULL},
    {"ckks.rotate_many",
     {"!ckks.ciphertext<>", "!ckks.key", "!ckks.key"},
     "steps = [1]",
     {NULL},
     HX_CODE_OPERANDS,
     "2 keys",
     NULL},
};

static void open_types_stay_open_without_parameters(void **state) {
  (void)state;
  for (size_t i = 0; i < HX_COUNT_OF(open); ++i) run_row(&open[i], NULL);
}

static void written_types_are_merged_or_refused(void **state) {
  (void)state;
  const call_row_t row = {"ckks.rescale", {CT0_SQUARE}, NULL, {NULL}, HX_CODE_NONE, NULL, NULL};
  static const struct {
    const char *written;
    hx_code_t code;
    const char *fault;
  } rows[] = {
      {"!ckks.ciphertext<>", HX_CODE_NONE, NULL},
      {"!ckks.ciphertext<depth = 1>", HX_CODE_NONE, NULL},
      {CT1, HX_CODE_NONE, NULL},
      {"!ckks.ciphertext<depth = 2>", HX_CODE_TYPE, "result 0 has depth 1, but is written 2"},
      {"!ckks.ciphertext<scale = \"2^50\">", HX_CODE_TYPE,
       "result 0 has scale \"2^100*q5^-1\", but is written \"2^50\""},
      {"!ckks.ciphertext<primes = [0]>", HX_CODE_TYPE, "result 0 has primes [0, 1, 2, 3, 4], but is written [0]"},
      {"!ckks.plaintext<>", HX_CODE_OPERANDS, "result 0 has to be a ciphertext, not a plaintext"},
  };
  const hx_type_t operand = type_of(CT0_SQUARE, NULL), expected = type_of(CT1, NULL);
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    const hx_type_t type = type_of(rows[i].written, NULL);
    const hx_type_t *written[] = {&type};
    outcome_t outcome;
    infer_types(&row, &ring_a, &operand, 1, written, 1, &outcome);
    assert_int_equal(outcome.code, rows[i].code);
    if (rows[i].fault != NULL && strstr(outcome.text, rows[i].fault) == NULL) fail_msg("%s", outcome.text);
    if (rows[i].fault == NULL) assert_true(hx_type_equal(&outcome.results[0], &expected));
  }
  // Unknown parts come from the text, and have to fit the parameters.
  const hx_type_t open_operand = type_of("!ckks.ciphertext<>", NULL);
  const hx_type_t good = type_of(CT1, NULL), bad = type_of("!ckks.ciphertext<depth = 9>", NULL);
  const hx_type_t *written[] = {&good};
  outcome_t outcome;
  infer_types(&row, NULL, &open_operand, 1, written, 1, &outcome);
  assert_true(outcome.status == HX_STATUS_OK && hx_type_equal(&outcome.results[0], &good));
  written[0] = &bad;
  infer_types(&row, &ring_a, &open_operand, 1, written, 1, &outcome);
  assert_int_equal(outcome.code, HX_CODE_NO_DEPTH);
}

// A chain of products at every depth has the exact scales that hand calculation gives, and each fault leaves no
// allocation.
static void chain_of_squares_reaches_the_last_depth(void **state) {
  (void)state;
  hx_type_t value = type_of(CT0, NULL);
  static const char *const scales[] = {"2^100*q5^-1", "2^200*q4^-1*q5^-2", "2^400*q3^-1*q4^-2*q5^-4",
                                       "2^800*q2^-1*q3^-2*q4^-4*q5^-8", "2^1600*q1^-1*q2^-2*q3^-4*q4^-8*q5^-16"};
  static const char *const ops[] = {"ckks.square", "ckks.relinearize", "ckks.rescale"};
  for (size_t depth = 0; depth < 6; ++depth) {
    for (size_t i = 0; i < HX_COUNT_OF(ops); ++i) {
      const call_row_t row = {ops[i], {NULL}, NULL, {NULL}, HX_CODE_NONE, NULL, NULL};
      outcome_t outcome;
      infer_types(&row, &ring_a, &value, 1, NULL, 1, &outcome);
      if (depth == 5 && i == 2) {
        assert_int_equal(outcome.code, HX_CODE_NO_DEPTH);
        return;
      }
      assert_int_equal(outcome.status, HX_STATUS_OK);
      hx_type_copy(&value, &outcome.results[0]);
      assert_true(hx_type_is_complete(&value));
    }
    char text[HX_SCALE_TEXT_MAX];
    hx_scale_print(&value.scale, text);
    assert_string_equal(text, scales[depth]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arithmetic_follows_the_table),
      cmocka_unit_test(edges_follow_the_table),
      cmocka_unit_test(open_types_stay_open_without_parameters),
      cmocka_unit_test(written_types_are_merged_or_refused),
      cmocka_unit_test(chain_of_squares_reaches_the_last_depth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
