// SPDX-License-Identifier: Apache-2.0
// Inference of the ntt and rns dialects and of structure, row by row.
#include "infer_fixture.h"

#define T(batch_, components_, primes_, basis_, domain_, repr_)                                     \
  "!rns.tensor<dtype = u64, batch = [" batch_ "], components = " components_ ", primes = [" primes_ \
  "], basis = " basis_ ", domain = " domain_ ", repr = " repr_ ">"
#define Q0 "0, 1, 2, 3, 4, 5"
#define QP0 "0, 1, 2, 3, 4, 5, 6, 7"
#define N1 T("", "1", Q0, "Q", "ntt", "standard")
#define N2 T("", "2", Q0, "Q", "ntt", "standard")
#define N3 T("", "3", Q0, "Q", "ntt", "standard")
#define C1 T("", "1", Q0, "Q", "coefficient", "standard")
#define C2 T("", "2", Q0, "Q", "coefficient", "standard")
#define L2 T("", "2", Q0, "Q", "ntt", "lazy")
#define M2 T("", "2", Q0, "Q", "ntt", "montgomery")
#define B2 T("4", "2", Q0, "Q", "ntt", "standard")
#define R1 T("", "1", QP0, "QP", "ntt", "standard")
#define R2 T("", "2", QP0, "QP", "ntt", "standard")
#define P1 T("", "1", "6, 7", "P", "ntt", "standard")
#define ONE T("", "1", "0", "Q", "coefficient", "standard")
#define SIGNED "!rns.tensor<dtype = i64, batch = [], components = 1>"
#define CT0                                                                                 \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^50\", primes = [" Q0 \
  "], basis = Q, domain = ntt, "                                                            \
  "repr = standard, slots = 8>"
#define RESIDUES "residues = [1, 2, 3, 4, 5, 6]"
#define GOOD HX_CODE_NONE, NULL, NULL

static const call_row_t pointwise[] = {
    {"ntt.forward", {C2}, NULL, {N2}, GOOD},
    {"ntt.inverse", {N2}, NULL, {C2}, GOOD},
    {"ntt.inverse", {CT0}, NULL, {C2}, GOOD},  // a ciphertext is a tensor with more state
    {"rns.add", {N2, N2}, NULL, {N2}, GOOD},
    {"rns.add", {L2, L2}, NULL, {L2}, GOOD},
    {"rns.add", {C1, C2}, NULL, {C2}, GOOD},
    {"rns.add", {CT0, N1}, NULL, {N2}, GOOD},
    {"rns.sub", {B2, N2}, NULL, {B2}, GOOD},
    {"rns.sub", {N1, B2}, NULL, {B2}, GOOD},
    {"rns.neg", {L2}, NULL, {L2}, GOOD},
    {"rns.mul", {N1, N2}, NULL, {N2}, GOOD},
    {"rns.mul", {R2, R1}, NULL, {R2}, GOOD},
    {"rns.mul_add", {N2, N2, N1}, NULL, {N2}, GOOD},
    {"rns.mul_add", {B2, N2, N1}, NULL, {B2}, GOOD},
    {"rns.mul_scalar", {N2}, RESIDUES, {N2}, GOOD},
    {"rns.add_scalar", {C2}, RESIDUES, {C2}, GOOD},
    {"rns.reduce", {L2}, NULL, {N2}, GOOD},
    {"rns.reduce", {N2}, NULL, {N2}, GOOD},
    {"rns.to_montgomery", {N2}, NULL, {M2}, GOOD},
    {"rns.from_montgomery", {M2}, NULL, {N2}, GOOD},
    {"rns.mul_montgomery", {M2, M2}, NULL, {M2}, GOOD},
    {"rns.automorphism", {N2}, "element = 31", {N2}, GOOD},
    {"rns.automorphism", {C2}, "element = 3", {C2}, GOOD},
    {"rns.sum", {B2}, "axis = 0", {N2}, GOOD},
    {"rns.weighted_sum", {N2, N2, N1, N1, N1, N1}, "groups = 2", {N2, N2}, GOOD},
    {"rns.weighted_sum", {N2, B2, N1, N1}, "groups = 1", {B2}, GOOD},
    {"rns.mixed_radix", {C1}, NULL, {C1}, GOOD},
    {"rns.select_components", {N3}, "first = 1, count = 2", {N2}, GOOD},
    {"rns.select_components", {L2}, "first = 0, count = 2", {L2}, GOOD},
    {"rns.pack_components", {N1, N2}, NULL, {N3}, GOOD},
    {"rns.pack_components", {N1}, NULL, {N1}, GOOD},
    {"rns.reinterpret", {N2}, "repr = \"montgomery\"", {M2}, GOOD},
    {"rns.reinterpret", {M2}, "repr = \"standard\"", {N2}, GOOD},
    {"rns.select_batch", {B2}, "axis = 0, start = 3", {N2}, GOOD},
    {"rns.select_batch", {B2}, "axis = 0, start = 0, items = 4", {B2}, GOOD},
    {"rns.select_batch",
     {T("3, 5", "1", "0", "Q", "ntt", "standard")},
     "axis = 1, start = 4, items = 1",
     {T("3, 1", "1", "0", "Q", "ntt", "standard")},
     GOOD},
    {"memory.transfer", {N2}, "space = \"device\"", {N2}, GOOD},
    {"memory.transfer", {C2}, "space = \"host\"", {C2}, GOOD},
    // Bad ones.
    {"memory.transfer", {N2}, "space = \"pinned\"", {NULL}, HX_CODE_ATTRIBUTE, "attribute space is \"pinned\"", NULL},
    {"ntt.forward",
     {N2},
     NULL,
     {NULL},
     HX_CODE_DOMAIN,
     "operand a is in domain ntt, it needs coefficient",
     "ntt.inverse"},
    {"ntt.forward",
     {T("", "1", "0", "Q", "coefficient", "lazy")},
     NULL,
     {NULL},
     HX_CODE_DOMAIN,
     "in representation lazy, it needs standard",
     "reduce"},
    {"ntt.forward", {SIGNED}, NULL, {NULL}, HX_CODE_TYPE, "dtype i64, it needs u64", NULL},
    {"rns.add", {N2, L2}, NULL, {NULL}, HX_CODE_DOMAIN, "operand b in representation lazy", "reduce"},
    {"rns.add", {M2, M2}, NULL, {NULL}, HX_CODE_DOMAIN, "operand a is in representation montgomery", "from_montgomery"},
    {"rns.add",
     {N2, C2},
     NULL,
     {NULL},
     HX_CODE_DOMAIN,
     "operand a is in domain ntt, operand b in domain coefficient",
     NULL},
    {"rns.add", {N2, N3}, NULL, {NULL}, HX_CODE_COMPONENTS, "operand a has components 2, operand b components 3", NULL},
    {"rns.add",
     {B2, T("5", "2", Q0, "Q", "ntt", "standard")},
     NULL,
     {NULL},
     HX_CODE_SHAPE,
     "operand a has batch [4], operand b batch [5]",
     NULL},
    {"rns.add",
     {N1, T("", "1", "0, 1", "Q", "ntt", "standard")},
     NULL,
     {NULL},
     HX_CODE_PRIMES,
     "operand b on primes [0, 1]",
     NULL},
    {"rns.add", {N1, P1}, NULL, {NULL}, HX_CODE_PRIMES, "operand a lies on basis Q, operand b on basis P", NULL},
    {"rns.mul", {L2, L2}, NULL, {NULL}, HX_CODE_DOMAIN, "lazy, it needs standard", NULL},
    {"rns.mul_add", {N2, N2, L2}, NULL, {NULL}, HX_CODE_DOMAIN, "operand b", NULL},
    {"rns.mul_scalar", {N2}, "residues = [1, 2]", {NULL}, HX_CODE_ATTRIBUTE, "2 words, its 6 rows need 6", NULL},
    {"rns.mul_scalar", {N2}, "residues = [1, 2, 3, 4, 5, 1125899906840833]", {NULL}, HX_CODE_ATTRIBUTE, "q5", NULL},
    {"rns.mul_scalar",
     {N2},
     "residues = [-1, 2, 3, 4, 5, 6]",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "18446744073709551615 for q0",
     NULL},
    {"rns.reduce", {M2}, NULL, {NULL}, HX_CODE_DOMAIN, "montgomery", NULL},
    {"rns.to_montgomery", {M2}, NULL, {NULL}, HX_CODE_DOMAIN, "it needs standard", NULL},
    {"rns.mul_montgomery", {N2, N2}, NULL, {NULL}, HX_CODE_DOMAIN, "standard, it needs montgomery", NULL},
    {"rns.mul_montgomery", {M2, N2}, NULL, {NULL}, HX_CODE_DOMAIN, "operand b in representation standard", NULL},
    {"rns.automorphism", {N2}, "element = 2", {NULL}, HX_CODE_ATTRIBUTE, "odd and below 2N", NULL},
    {"rns.automorphism", {N2}, "element = 33", {NULL}, HX_CODE_ATTRIBUTE, "odd and below 2N", NULL},
    {"rns.sum", {B2}, "axis = 1", {NULL}, HX_CODE_ATTRIBUTE, "1 batch axes", NULL},
    {"rns.weighted_sum", {N2, N2, N1}, "groups = 1", {NULL}, HX_CODE_OPERANDS, "3 operands", NULL},
    {"rns.weighted_sum",
     {N2, N2, N1, N2},
     "groups = 1",
     {NULL},
     HX_CODE_COMPONENTS,
     "operand terms[3] has 2 components, it needs 1",
     NULL},
    {"rns.weighted_sum", {N2, N3, N1, N1}, "groups = 1", {NULL}, HX_CODE_COMPONENTS, "terms[1] components 3", NULL},
    {"rns.mixed_radix", {N1}, NULL, {NULL}, HX_CODE_DOMAIN, "it needs coefficient", NULL},
    {"rns.select_components", {N2}, "first = 1, count = 2", {NULL}, HX_CODE_ATTRIBUTE, "components 1 to 2", NULL},
    {"rns.pack_components",
     {T("", "65535", "0", "Q", "ntt", "standard"), T("", "1", "0", "Q", "ntt", "standard")},
     NULL,
     {NULL},
     HX_CODE_COMPONENTS,
     "65536 components",
     NULL},
    {"rns.pack_components", {N1, C1}, NULL, {NULL}, HX_CODE_DOMAIN, "parts[1] in domain coefficient", NULL},
    {"rns.pack_components", {NULL}, NULL, {NULL}, HX_CODE_OPERANDS, "at least 1 operand", NULL},
    {"rns.reinterpret",
     {N2},
     "repr = \"odd\"",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "has to be standard, lazy or montgomery",
     NULL},
    {"rns.select_batch", {B2}, "axis = 1, start = 0", {NULL}, HX_CODE_ATTRIBUTE, "1 batch axes", NULL},
    {"rns.select_batch", {B2}, "axis = 0, start = 4", {NULL}, HX_CODE_ATTRIBUTE, "axis 0 has 4", NULL},
    {"rns.select_batch", {B2}, "axis = 0, start = -1", {NULL}, HX_CODE_ATTRIBUTE, "axis 0 has 4", NULL},
    {"rns.select_batch", {B2}, "axis = 0, start = 1, items = 4", {NULL}, HX_CODE_ATTRIBUTE, "4 items from 1 on", NULL},
    {"rns.select_batch", {B2}, "axis = 0, start = 1, items = 0", {NULL}, HX_CODE_ATTRIBUTE, "0 items from 1 on", NULL},
};

static void pointwise_operations_follow_the_rules(void **state) {
  (void)state;
  run_rows(pointwise, HX_COUNT_OF(pointwise), &ring_a);
}

static const call_row_t rows_changed[] = {
    {"rns.center_lift", {ONE}, "ids = [1, 2, 6]", {T("", "1", "1, 2, 6", "QP", "coefficient", "standard")}, GOOD},
    {"rns.extend_exact", {C2}, "ids = [6, 7]", {T("", "2", "6, 7", "P", "coefficient", "standard")}, GOOD},
    {"rns.mod_up", {N1}, "digit = 0", {R1}, GOOD},
    {"rns.mod_up", {C1}, "digit = 2", {T("", "1", QP0, "QP", "coefficient", "standard")}, GOOD},
    {"rns.mod_up",
     {T("", "1", "0, 1, 2", "Q", "ntt", "standard")},
     "digit = 1",
     {T("", "1", "0, 1, 2, 6, 7", "QP", "ntt", "standard")},
     GOOD},
    {"rns.mod_down", {R2}, "rounding = \"nearest\"", {N2}, GOOD},
    {"rns.mod_down", {R2}, "rounding = \"nearest\", drop = \"P\"", {N2}, GOOD},
    {"rns.mod_down",
     {N2},
     "rounding = \"truncating\", drop = [4, 5]",
     {T("", "2", "0, 1, 2, 3", "Q", "ntt", "standard")},
     GOOD},
    {"rns.mod_down",
     {T("", "1", "0, 1, 6", "QP", "ntt", "standard")},
     "rounding = \"nearest\", drop = [6]",
     {T("", "1", "0, 1", "Q", "ntt", "standard")},
     GOOD},
    {"rns.rescale",
     {N2},
     "rounding = \"nearest\", count = 1",
     {T("", "2", "0, 1, 2, 3, 4", "Q", "ntt", "standard")},
     GOOD},
    {"rns.rescale",
     {C2},
     "rounding = \"truncating\", count = 5",
     {T("", "2", "0", "Q", "coefficient", "standard")},
     GOOD},
    {"rns.select_limbs", {R1}, "ids = [0, 7]", {T("", "1", "0, 7", "QP", "ntt", "standard")}, GOOD},
    {"rns.select_limbs", {L2}, "ids = [5]", {T("", "2", "5", "Q", "ntt", "lazy")}, GOOD},
    {"rns.concat_limbs", {N1, P1}, NULL, {R1}, GOOD},
    {"rns.concat_limbs", {P1, N1}, NULL, {R1}, GOOD},
    {"rns.concat_limbs", {M2}, NULL, {M2}, GOOD},
    {"rns.expand_uniform",
     {"tensor<32xui8>"},
     "index = 3, ids = [0, 6]",
     {T("", "1", "0, 6", "QP", "ntt", "standard")},
     GOOD},
    {"rns.key_product", {R1, "!ckks.key<kind = relin>"}, "digit = 2", {R2}, GOOD},
    {"rns.key_product", {R1, "!ckks.key<kind = galois, element = 5>", R2}, "digit = 0", {R2}, GOOD},
    {"rns.key_slice", {"!ckks.key<kind = conj>"}, "digit = 2, ids = [0, 1, 2, 3, 4, 5, 6, 7]", {R2}, GOOD},
    {"core.constant",
     {NULL},
     "ids = [0, 5], residues = [1, 2, 3, 4]",
     {T("", "1", "0, 5", "Q", "ntt", "standard")},
     GOOD},
    // Bad ones.
    {"rns.center_lift", {C1}, "ids = [6]", {NULL}, HX_CODE_PRIMES, "6 rows, it needs one", "select_limbs"},
    {"rns.center_lift",
     {T("", "1", "0", "Q", "ntt", "standard")},
     "ids = [6]",
     {NULL},
     HX_CODE_DOMAIN,
     "it needs coefficient",
     NULL},
    {"rns.center_lift", {ONE}, "ids = [8]", {NULL}, HX_CODE_ATTRIBUTE, "prime ids 0 to 7", NULL},
    {"rns.extend_exact", {SIGNED}, "ids = [6]", {NULL}, HX_CODE_TYPE, "dtype i64", NULL},
    {"rns.mod_up", {R1}, "digit = 0", {NULL}, HX_CODE_PRIMES, "basis QP, it needs Q", NULL},
    {"rns.mod_up",
     {T("", "1", "0, 1, 2", "Q", "ntt", "standard")},
     "digit = 2",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "digits 0 to 1",
     NULL},
    {"rns.mod_up",
     {T("", "1", "0, 2", "Q", "ntt", "standard")},
     "digit = 0",
     {NULL},
     HX_CODE_PRIMES,
     "without gaps",
     NULL},
    {"rns.mod_down", {N2}, "rounding = \"nearest\"", {NULL}, HX_CODE_PRIMES, "all of P", "attribute drop"},
    {"rns.mod_down", {P1}, "rounding = \"nearest\"", {NULL}, HX_CODE_PRIMES, "no prime would be left", NULL},
    {"rns.mod_down",
     {N2},
     "rounding = \"nearest\", drop = [6]",
     {NULL},
     HX_CODE_PRIMES,
     "lacks some of the primes",
     NULL},
    {"rns.rescale",
     {N2},
     "rounding = \"nearest\", count = 6",
     {NULL},
     HX_CODE_NO_DEPTH,
     "6 rows are to be dropped of 6",
     NULL},
    {"rns.select_limbs", {N2}, "ids = [6]", {NULL}, HX_CODE_PRIMES, "attribute ids", NULL},
    {"rns.concat_limbs", {N1, N1}, NULL, {NULL}, HX_CODE_PRIMES, "operand parts[1] has a row for prime id 0", NULL},
    {"rns.concat_limbs",
     {N1, T("", "2", "6", "P", "ntt", "standard")},
     NULL,
     {NULL},
     HX_CODE_COMPONENTS,
     "parts[1]",
     NULL},
    {"rns.concat_limbs", {NULL}, NULL, {NULL}, HX_CODE_OPERANDS, "at least 1 operand", NULL},
    {"rns.expand_uniform",
     {"tensor<32xui8>"},
     "index = 0, ids = [9]",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "attribute ids",
     NULL},
    {"rns.expand_uniform",
     {"tensor<32xf64>"},
     "index = 0, ids = [0]",
     {NULL},
     HX_CODE_OPERANDS,
     "has to be a seed, not a message",
     NULL},
    {"rns.key_product",
     {R1, "!ckks.key<kind = public>"},
     "digit = 0",
     {NULL},
     HX_CODE_OPERANDS,
     "it needs a switching key",
     NULL},
    {"rns.key_product",
     {R2, "!ckks.key<kind = relin>"},
     "digit = 0",
     {NULL},
     HX_CODE_COMPONENTS,
     "2 components, it needs 1",
     NULL},
    {"rns.key_product",
     {R1, "!ckks.key<kind = relin>", R1},
     "digit = 0",
     {NULL},
     HX_CODE_COMPONENTS,
     "operand acc has 1 component, it needs 2",
     NULL},
    {"rns.key_product",
     {R1, "!ckks.key<kind = relin>"},
     "digit = 3",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "no row of that digit",
     NULL},
    {"rns.key_product",
     {T("", "1", QP0, "QP", "coefficient", "standard"), "!ckks.key<kind = relin>"},
     "digit = 0",
     {NULL},
     HX_CODE_DOMAIN,
     "it needs ntt",
     NULL},
    {"core.constant",
     {NULL},
     "ids = [0, 5], residues = [1, 2, 3]",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "3 words, its 2 rows need 4",
     NULL},
    {"core.constant", {NULL}, "ids = [5], residues = [1, 1125899906840833]", {NULL}, HX_CODE_ATTRIBUTE, "q5", NULL},
    {"rns.key_slice",
     {"!ckks.key<kind = conj>"},
     "digit = 3, ids = [0]",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "have 3 digits",
     NULL},
    {"rns.key_slice",
     {"!ckks.key<kind = public>"},
     "digit = 0, ids = [0]",
     {NULL},
     HX_CODE_OPERANDS,
     "it needs a switching key",
     NULL},
    {"rns.key_slice",
     {"!ckks.key<kind = relin>"},
     "digit = 0, ids = [8]",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "attribute ids",
     NULL},
};

static void row_changing_operations_follow_the_rules(void **state) {
  (void)state;
  run_rows(rows_changed, HX_COUNT_OF(rows_changed), &ring_a);
  // Signed words have no rows of their own.
  const call_row_t lift = {
      "rns.center_lift", {SIGNED}, "ids = [0, 1]", {T("", "1", "0, 1", "Q", "coefficient", "standard")}, GOOD};
  run_row(&lift, &ring_a);
}

static const call_row_t open[] = {
    // Without parameters a basis follows from the operand's where it can.
    {"rns.mod_up", {"!rns.tensor<>"}, "digit = 3", {"!rns.tensor<basis = QP, repr = standard>"}, GOOD},
    {"rns.mod_down",
     {"!rns.tensor<primes = [0, 1, 2], basis = QP>"},
     "rounding = \"nearest\"",
     {"!rns.tensor<basis = Q, repr = standard>"},
     GOOD},
    {"rns.mod_down",
     {"!rns.tensor<primes = [0, 1, 2], basis = QP>"},
     "rounding = \"nearest\", drop = [2]",
     {"!rns.tensor<primes = [0, 1], repr = standard>"},
     GOOD},
    {"rns.mod_down",
     {"!rns.tensor<primes = [0, 1, 2], basis = Q>"},
     "rounding = \"nearest\", drop = [2]",
     {"!rns.tensor<primes = [0, 1], basis = Q, repr = standard>"},
     GOOD},
    {"rns.rescale",
     {"!rns.tensor<basis = Q>"},
     "rounding = \"nearest\", count = 2",
     {"!rns.tensor<basis = Q, repr = standard>"},
     GOOD},
    {"rns.concat_limbs",
     {"!rns.tensor<primes = [0], basis = Q>", "!rns.tensor<primes = [3], basis = P>"},
     NULL,
     {"!rns.tensor<primes = [0, 3], basis = QP>"},
     GOOD},
    {"rns.concat_limbs", {"!rns.tensor<primes = [0]>", "!rns.tensor<>"}, NULL, {"!rns.tensor<>"}, GOOD},
    {"rns.pack_components", {"!rns.tensor<components = 1>", "!rns.tensor<>"}, NULL, {"!rns.tensor<>"}, GOOD},
    {"rns.add", {"!rns.tensor<components = 1>", "!rns.tensor<>"}, NULL, {"!rns.tensor<>"}, GOOD},
    {"rns.add", {"!rns.tensor<>", "!rns.tensor<components = 2>"}, NULL, {"!rns.tensor<components = 2>"}, GOOD},
    {"rns.mul_scalar", {"!rns.tensor<>"}, "residues = [-1]", {"!rns.tensor<repr = standard>"}, GOOD},
    {"rns.center_lift",
     {"!rns.tensor<>"},
     "ids = [200]",
     {"!rns.tensor<primes = [200], domain = coefficient, repr = standard>"},
     GOOD},
};

static void open_tensors_stay_open_without_parameters(void **state) {
  (void)state;
  for (size_t i = 0; i < HX_COUNT_OF(open); ++i) run_row(&open[i], NULL);
}

// Lowered programs compute on ciphertexts and write ciphertexts: what a tensor has is inferred, the rest is as written.
static void tensor_results_may_be_written_as_ciphertexts(void **state) {
  (void)state;
  const call_row_t add = {"rns.add", {NULL}, NULL, {NULL}, GOOD};
  const hx_type_t operands[] = {type_of(CT0, NULL), type_of(CT0, NULL)};
  static const struct {
    const char *written;
    hx_code_t code;
  } rows[] = {
      {CT0, HX_CODE_NONE},
      {"!ckks.ciphertext<depth = 0, scale = \"2^77\", slots = 8>", HX_CODE_NONE},
      {"!ckks.ciphertext<depth = 1>", HX_CODE_TYPE},  // the rows say depth 0
      {"!ckks.ciphertext<components = 3>", HX_CODE_TYPE},
      {"!ckks.plaintext<>", HX_CODE_TYPE},  // two components
      {"!ckks.key<kind = relin>", HX_CODE_OPERANDS},
      {N2, HX_CODE_NONE},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    const hx_type_t type = type_of(rows[i].written, NULL);
    const hx_type_t *written[] = {&type};
    outcome_t outcome;
    infer_types(&add, &ring_a, operands, 2, written, 1, &outcome);
    if (outcome.code != rows[i].code) fail_msg("%s: %s", rows[i].written, outcome.text);
    if (rows[i].code == HX_CODE_NONE) {
      assert_true(hx_type_is_complete(&outcome.results[0]));
      assert_int_equal(outcome.results[0].kind, type.kind);
    }
  }
}

static const call_row_t structure[] = {
    {"arith.constant", {NULL}, "value = 3", {"i64"}, GOOD},
    {"arith.constant", {NULL}, "value = 3.5", {"f64"}, GOOD},
    {"arith.addi", {"index", "index"}, NULL, {"index"}, GOOD},
    {"arith.muli", {"ui8", "ui8"}, NULL, {"ui8"}, GOOD},
    {"arith.cmpi", {"i64", "i64"}, "predicate = 2", {"i1"}, GOOD},
    {"scf.for", {"index", "index", "index", CT0, "i64"}, NULL, {CT0, "i64"}, GOOD},
    {"arith.addi", {"i64", "i32"}, NULL, {NULL}, HX_CODE_OPERANDS, "different integer types", NULL},
    {"arith.subi",
     {"f64", "f64"},
     NULL,
     {NULL},
     HX_CODE_OPERANDS,
     "operand a has to be an integer or index, not f64",
     NULL},
    {"arith.addi", {CT0, CT0}, NULL, {NULL}, HX_CODE_OPERANDS, "has to be a number, not a ciphertext", NULL},
    {"arith.cmpi", {"i64", "i64"}, "predicate = 10", {NULL}, HX_CODE_ATTRIBUTE, "outside [0, 9]", NULL},
    {"scf.for", {"index", "index", "index"}, NULL, {NULL}, HX_CODE_OPERANDS, "it has 0 results", NULL},
    {"scf.if", {"i1"}, NULL, {NULL}, HX_CODE_TYPE, "result 0 needs a written type", NULL},
    {"func.call", {NULL}, "callee = @f", {NULL}, HX_CODE_TYPE, "result 0 needs a written type", NULL},
    {"material.ref", {NULL}, "symbol = @w", {NULL}, HX_CODE_TYPE, "result 0 needs a written type", NULL},
};

static void structure_follows_its_operands(void **state) {
  (void)state;
  for (size_t i = 0; i < HX_COUNT_OF(structure); ++i) run_row(&structure[i], &ring_a);
}

static void references_are_as_written(void **state) {
  (void)state;
  static const struct {
    const char *op, *attrs, *written;
    hx_code_t code;
  } rows[] = {
      {"material.ref", "symbol = @w", "!ckks.plaintext<depth = 1>", HX_CODE_NONE},
      {"material.ref", "symbol = @relin", "!ckks.key<kind = relin>", HX_CODE_NONE},
      {"material.ref", "symbol = @w", "!ckks.plaintext<depth = 6>", HX_CODE_NO_DEPTH},
      {"material.ref", "symbol = @w", "!ckks.plaintext<slots = 16>", HX_CODE_SLOTS},
      {"resource.ref", "symbol = @g, kind = \"process-group\"", "!resource.handle<kind = \"process-group\">",
       HX_CODE_NONE},
      {"resource.ref", "symbol = @g, kind = \"process-group\"", "!resource.handle<>", HX_CODE_NONE},
      {"resource.ref", "symbol = @g, kind = \"process-group\"", "!resource.handle<kind = \"other\">", HX_CODE_TYPE},
      {"resource.ref", "symbol = @g, kind = \"0123456789012345678901234567890123456789012345678901234567890123\"",
       "!resource.handle<>", HX_CODE_ATTRIBUTE},
      {"resource.ref", "symbol = @g, kind = \"x\"", "i64", HX_CODE_OPERANDS},
      {"func.call", "callee = @f", "i64", HX_CODE_NONE},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    const call_row_t row = {rows[i].op, {NULL}, rows[i].attrs, {NULL}, GOOD};
    const hx_type_t type = type_of(rows[i].written, NULL);
    const hx_type_t *written[] = {&type};
    outcome_t outcome;
    infer_types(&row, &ring_a, NULL, 0, written, 1, &outcome);
    if (outcome.code != rows[i].code) fail_msg("row %zu: %s", i, outcome.text);
    if (outcome.status == HX_STATUS_OK)
      assert_true(hx_type_is_complete(&outcome.results[0]) || type.kind == HX_TYPE_PLAINTEXT);
  }
}

static void constants_take_the_type_of_their_attribute(void **state) {
  (void)state;
  static const struct {
    const char *type;
    bool is_integer, good;
  } rows[] = {
      {"index", true, true}, {"ui8", true, true}, {"f64", false, true}, {"f64", true, false}, {"i64", false, false}};
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    const hx_type_t type = type_of(rows[i].type, NULL);
    const hx_named_attr_t value = {
        hx_str("value"), {.kind = rows[i].is_integer ? HX_ATTRIBUTE_INTEGER : HX_ATTRIBUTE_FLOAT, .type = &type}};
    hx_type_t result;
    hx_infer_t call = {.op = hx_op_info(HX_OP_ARITH_CONSTANT),
                       .attrs = {.items = &value, .count = 1},
                       .results = &result,
                       .result_count = 1};
    assert_int_equal(hx_op_infer(&call) == HX_STATUS_OK, rows[i].good);
    if (rows[i].good) assert_true(hx_type_equal(&result, &type));
  }
}

// Faults stay whole when memory runs out: the verdict is the same, nothing leaks.
static void faults_survive_exhaustion(void **state) {
  (void)state;
  const hx_type_t a = type_of(N2, NULL), b = type_of(C2, NULL);
  const hx_type_t *operands[] = {&a, &b};
  for (uint64_t n = 1; n < 40; ++n) {
    hx_type_t result;
    hx_report_t *report = hx_report_create();
    hx_infer_t call = {.op = hx_op_info(HX_OP_RNS_ADD),
                       .operands = operands,
                       .operand_count = 2,
                       .ring = &ring_a,
                       .results = &result,
                       .result_count = 1,
                       .report = report};
    hx_alloc_fail_at(n);
    assert_int_equal(hx_op_infer(&call), HX_STATUS_INVALID);
    hx_alloc_fail_at(0);
    assert_int_equal(result.kind, HX_TYPE_NONE);
    hx_report_release(report);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pointwise_operations_follow_the_rules),
      cmocka_unit_test(row_changing_operations_follow_the_rules),
      cmocka_unit_test(open_tensors_stay_open_without_parameters),
      cmocka_unit_test(tensor_results_may_be_written_as_ciphertexts),
      cmocka_unit_test(structure_follows_its_operands),
      cmocka_unit_test(references_are_as_written),
      cmocka_unit_test(constants_take_the_type_of_their_attribute),
      cmocka_unit_test(faults_survive_exhaustion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
