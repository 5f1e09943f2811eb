// SPDX-License-Identifier: Apache-2.0
// The transition table of the ckks dialect, row by row: good calls with their result states, bad ones with code and
// text.
#include "core/ckks/transition.h"
#include "infer_fixture.h"

#define STATE(components_, depth_, scale_, primes_, domain_)                                                  \
  "<batch = [], components = " components_ ", depth = " depth_ ", scale = \"" scale_ "\", primes = [" primes_ \
  "], basis = Q, domain = " domain_ ", repr = standard, slots = 8>"
#define Q0 "0, 1, 2, 3, 4, 5"
#define Q1 "0, 1, 2, 3, 4"
#define Q2 "0, 1, 2, 3"
#define CT0 "!ckks.ciphertext" STATE("2", "0", "2^50", Q0, "ntt")
#define CT0_SQUARE "!ckks.ciphertext" STATE("2", "0", "2^100", Q0, "ntt")
#define CT0_THREE "!ckks.ciphertext" STATE("3", "0", "2^100", Q0, "ntt")
#define CT0_COEFFICIENT "!ckks.ciphertext" STATE("2", "0", "2^50", Q0, "coefficient")
#define CT1 "!ckks.ciphertext" STATE("2", "1", "2^100*q5^-1", Q1, "ntt")
#define CT5 "!ckks.ciphertext" STATE("2", "5", "2^50", "0", "ntt")
#define PT0 "!ckks.plaintext" STATE("1", "0", "2^50", Q0, "ntt")
#define PT0_LARGE "!ckks.plaintext" STATE("1", "0", "2^60", Q0, "ntt")
#define PT0_COEFFICIENT "!ckks.plaintext" STATE("1", "0", "2^50", Q0, "coefficient")
#define PT1 "!ckks.plaintext" STATE("1", "1", "2^50", Q1, "ntt")
#define PQ0                                                                                                            \
  "!ckks.plaintext<batch = [], components = 1, depth = 0, scale = \"2^50\", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis " \
  "= QP, domain "                                                                                                      \
  "= ntt, repr = standard, slots = 8>"
#define PQ0_LARGE                                                                                                      \
  "!ckks.plaintext<batch = [], components = 1, depth = 0, scale = \"2^60\", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis " \
  "= QP, domain "                                                                                                      \
  "= ntt, repr = standard, slots = 8>"
#define RELIN "!ckks.key<kind = relin>"
#define CONJ "!ckks.key<kind = conj>"
#define SWITCH "!ckks.key<kind = switch>"
#define GALOIS(element_) "!ckks.key<kind = galois, element = " element_ ">"

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

static const call_row_t maintenance[] = {
    {"ckks.relinearize", {CT0_THREE}, NULL, {CT0_SQUARE}, HX_CODE_NONE, NULL, NULL},
    {"ckks.relinearize",
     {CT0_THREE, RELIN},
     "output_domain = \"coefficient\"",
     {"!ckks.ciphertext" STATE("2", "0", "2^100", Q0, "coefficient")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.rescale", {CT0_SQUARE}, NULL, {CT1}, HX_CODE_NONE, NULL, NULL},
    {"ckks.rescale",
     {"!ckks.ciphertext" STATE("2", "0", "2^100", Q0, "coefficient")},
     "output_domain = \"ntt\"",
     {CT1},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.rescale",
     {"!ckks.ciphertext" STATE("3", "1", "2^200*q5^-2", Q1, "ntt")},
     NULL,
     {"!ckks.ciphertext" STATE("3", "2", "2^200*q4^-1*q5^-2", Q2, "ntt")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.rescale",
     {"!ckks.ciphertext" STATE("2", "0", "2^50*q5^1", Q0, "ntt")},
     NULL,
     {"!ckks.ciphertext" STATE("2", "1", "2^50", Q1, "ntt")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.level_drop",
     {CT0},
     "depth = 2",
     {"!ckks.ciphertext" STATE("2", "2", "2^50", Q2, "ntt")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.level_drop", {PT0_COEFFICIENT}, "depth = 0", {PT0_COEFFICIENT}, HX_CODE_NONE, NULL, NULL},
    {"ckks.level_drop", {PT0}, "depth = 1", {PT1}, HX_CODE_NONE, NULL, NULL},
    {"ckks.level_drop",
     {CT0_THREE},
     "depth = 5",
     {"!ckks.ciphertext" STATE("3", "5", "2^100", "0", "ntt")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.reinterpret_scale",
     {CT1},
     "scale = \"2^50\"",
     {"!ckks.ciphertext" STATE("2", "1", "2^50", Q1, "ntt")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.reinterpret_scale", {PT0}, "scale = \"2^60\"", {PT0_LARGE}, HX_CODE_NONE, NULL, NULL},
    {"ckks.to_ntt", {CT0_COEFFICIENT}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.from_ntt", {PT0}, NULL, {PT0_COEFFICIENT}, HX_CODE_NONE, NULL, NULL},
    {"ckks.key_switch", {CT0, SWITCH}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.sum",
     {"!ckks.ciphertext<batch = [3, 7], depth = 1>"},
     "axis = 0",
     {"!ckks.ciphertext<batch = [7], depth = 1, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.sum",
     {"!ckks.ciphertext<batch = [3, 7], depth = 1>"},
     "axis = 1",
     {"!ckks.ciphertext<batch = [3], depth = 1, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    // Bad ones.
    {"ckks.relinearize", {CT0}, NULL, {NULL}, HX_CODE_COMPONENTS, "operand a has 2 components, it needs 3", NULL},
    {"ckks.relinearize",
     {CT0_THREE, CONJ},
     NULL,
     {NULL},
     HX_CODE_OPERANDS,
     "operand key is !ckks.key<kind = conj>, it needs the relinearization key",
     NULL},
    {"ckks.rescale", {CT5}, NULL, {NULL}, HX_CODE_NO_DEPTH, "operand a is at depth 5, the last of 5", "more depths"},
    {"ckks.rescale",
     {"!ckks.ciphertext" STATE("2", "0", "2^1*q5^-2147483647", Q0, "ntt")},
     NULL,
     {NULL},
     HX_CODE_SCALE_RANGE,
     "q5",
     NULL},
    {"ckks.level_drop",
     {CT1},
     "depth = 0",
     {NULL},
     HX_CODE_DEPTH_MISMATCH,
     "operand a is at depth 1, which is beyond attribute depth 0",
     "only grows"},
    {"ckks.level_drop", {CT1}, "depth = 6", {NULL}, HX_CODE_NO_DEPTH, "depths 0 to 5", NULL},
    {"ckks.to_ntt", {CT0}, NULL, {NULL}, HX_CODE_DOMAIN, "is in domain ntt, it needs coefficient", NULL},
    {"ckks.from_ntt", {CT0_COEFFICIENT}, NULL, {NULL}, HX_CODE_DOMAIN, "it needs ntt", NULL},
    {"ckks.key_switch", {CT0_THREE, SWITCH}, NULL, {NULL}, HX_CODE_COMPONENTS, "3 components", NULL},
    {"ckks.key_switch", {CT0, RELIN}, NULL, {NULL}, HX_CODE_OPERANDS, "operand key is !ckks.key<kind = relin>", NULL},
    {"ckks.sum", {CT0}, "axis = 0", {NULL}, HX_CODE_ATTRIBUTE, "0 batch axes", NULL},
    {"ckks.add",
     {"!ckks.ciphertext<batch = [3]>", "!ckks.ciphertext<batch = [4]>"},
     NULL,
     {NULL},
     HX_CODE_SHAPE,
     "operand a has batch [3], operand b batch [4]",
     NULL},
    {"ckks.neg", {"!ckks.ciphertext<depth = 6>"}, NULL, {NULL}, HX_CODE_NO_DEPTH, "operand a", NULL},
    {"ckks.neg", {"!ckks.ciphertext<slots = 16>"}, NULL, {NULL}, HX_CODE_SLOTS, "operand a", NULL},
    {"ckks.neg", {"!ckks.ciphertext<scale = \"1125899906842273*2^0\">"}, NULL, {NULL}, HX_CODE_SCALE_RANGE, "q1", NULL},
};

static void maintenance_follows_the_table(void **state) {
  (void)state;
  run_rows(maintenance, HX_COUNT_OF(maintenance), &ring_a);
}

static const call_row_t slots[] = {
    {"ckks.rotate", {CT0}, "step = 3", {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.rotate", {CT0, GALOIS("5")}, "step = -7", {CT0}, HX_CODE_NONE, NULL, NULL},  // 5^1 mod 32
    {"ckks.rotate", {CT0_COEFFICIENT}, "step = 8", {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.rotate",
     {CT1, GALOIS("25")},
     "step = 10, output_domain = \"coefficient\"",
     {"!ckks.ciphertext" STATE("2", "1", "2^100*q5^-1", Q1, "coefficient")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.rotate_many", {CT0}, "steps = [1, 0, 9]", {CT0, CT0, CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.rotate_many",
     {CT0, GALOIS("25"), GALOIS("5")},
     "steps = [2, 1, -6]",
     {CT0, CT0, CT0},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.conjugate", {CT0}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.conjugate", {CT0, CONJ}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.conjugate", {CT0, GALOIS("31")}, NULL, {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.rotate_weighted_sum", {CT0, PQ0, PQ0}, "steps = [0, 1]", {CT0_SQUARE}, HX_CODE_NONE, NULL, NULL},
    {"ckks.rotate_weighted_sum",
     {CT0, PQ0, PQ0, PQ0_LARGE, PQ0_LARGE, GALOIS("5")},
     "steps = [0, 1], groups = 2",
     {CT0_SQUARE, "!ckks.ciphertext" STATE("2", "0", "2^110", Q0, "ntt")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.rotate_sum", {CT0, CT0, CT0}, "steps = [1, 2, 0]", {CT0}, HX_CODE_NONE, NULL, NULL},
    {"ckks.rotate_sum", {CT1, CT1, GALOIS("25")}, "steps = [2, 2]", {CT1}, HX_CODE_NONE, NULL, NULL},
    // Bad ones.
    {"ckks.rotate", {CT0_THREE}, "step = 1", {NULL}, HX_CODE_COMPONENTS, "3 components", "relinearize it first"},
    {"ckks.rotate",
     {CT0, GALOIS("5")},
     "step = 2",
     {NULL},
     HX_CODE_OPERANDS,
     "element 5; step 2 with 8 slots needs element 25",
     NULL},
    {"ckks.rotate", {CT0, GALOIS("5")}, "step = 16", {NULL}, HX_CODE_OPERANDS, "0 modulo 8 slots", NULL},
    {"ckks.rotate", {CT0, CONJ}, "step = 2", {NULL}, HX_CODE_OPERANDS, "it needs a rotation key", NULL},
    {"ckks.rotate_many",
     {CT0},
     "steps = [1, 2]",
     {NULL},
     HX_CODE_OPERANDS,
     "it has 2 results (one a step), not 1",
     NULL},
    {"ckks.rotate_many",
     {CT0, GALOIS("5"), GALOIS("25")},
     "steps = [2]",
     {NULL},
     HX_CODE_OPERANDS,
     "2 keys; its steps need 1",
     NULL},
    {"ckks.rotate_many",
     {CT0, GALOIS("5")},
     "steps = [2]",
     {NULL},
     HX_CODE_OPERANDS,
     "operand keys[0] is the rotation key of element 5",
     NULL},
    {"ckks.conjugate", {CT0, RELIN}, NULL, {NULL}, HX_CODE_OPERANDS, "it needs the conjugation key", NULL},
    {"ckks.conjugate", {CT0, GALOIS("5")}, NULL, {NULL}, HX_CODE_OPERANDS, "conjugation needs element 31", NULL},
    {"ckks.rotate_weighted_sum", {CT0, PQ0}, "steps = [0, 1]", {NULL}, HX_CODE_OPERANDS, "it needs 2 plaintexts", NULL},
    {"ckks.rotate_weighted_sum",
     {CT0, PT0, PT0},
     "steps = [0, 1]",
     {NULL},
     HX_CODE_PRIMES,
     "operand weights_keys[0] lies on basis Q, it needs QP",
     "prepare_plain"},
    {"ckks.rotate_weighted_sum",
     {CT0, PQ0, PQ0_LARGE},
     "steps = [0, 1]",
     {NULL},
     HX_CODE_SCALE_MISMATCH,
     "operand weights_keys[1] 2^60",
     NULL},
    {"ckks.rotate_weighted_sum",
     {CT1, PQ0, PQ0},
     "steps = [0, 1]",
     {NULL},
     HX_CODE_DEPTH_MISMATCH,
     "weights_keys[0]",
     NULL},
    {"ckks.rotate_weighted_sum",
     {CT0, PQ0, GALOIS("5")},
     "steps = [0, 1]",
     {NULL},
     HX_CODE_OPERANDS,
     "operand weights_keys[1] has to be a plaintext",
     NULL},
    {"ckks.rotate_weighted_sum",
     {CT0, PQ0, PQ0},
     "steps = [1]",
     {NULL},
     HX_CODE_OPERANDS,
     "operand weights_keys[1] has to be a key",
     NULL},
    {"ckks.rotate_sum", {CT0, CT1}, "steps = [1, 2]", {NULL}, HX_CODE_DEPTH_MISMATCH, "terms_keys[1]", NULL},
    {"ckks.rotate_sum", {CT0, CT0_SQUARE}, "steps = [1, 2]", {NULL}, HX_CODE_SCALE_MISMATCH, "terms_keys[1]", NULL},
    {"ckks.rotate_sum",
     {CT0, CT0, CT0},
     "steps = [1, 2]",
     {NULL},
     HX_CODE_OPERANDS,
     "operand terms_keys[2] has to be a key",
     NULL},
    {"ckks.rotate_sum", {CT0}, "steps = [1, 2]", {NULL}, HX_CODE_OPERANDS, "it needs 2 ciphertexts", NULL},
};

static void slot_operations_follow_the_table(void **state) {
  (void)state;
  run_rows(slots, HX_COUNT_OF(slots), &ring_a);
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

static const call_row_t grouped[] = {
    // Groups of two primes: the scale loses both, the depth grows by one.
    {"ckks.rescale",
     {"!ckks.ciphertext<depth = 0, scale = \"2^170\", components = 2, slots = 32>"},
     NULL,
     {"!ckks.ciphertext<components = 2, depth = 1, scale = \"2^170*q6^-1*q7^-1\", domain = ntt, repr = standard, slots "
      "= 32>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.rescale",
     {"!ckks.ciphertext<depth = 2, scale = \"2^340*q4^-1*q5^-1*q6^-2*q7^-2\">"},
     NULL,
     {"!ckks.ciphertext<depth = 3, scale = \"2^340*q2^-1*q3^-1*q4^-1*q5^-1*q6^-2*q7^-2\", domain = ntt, repr = "
      "standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"ckks.rescale", {"!ckks.ciphertext<depth = 3>"}, NULL, {NULL}, HX_CODE_NO_DEPTH, "the last of 3", NULL},
    {"ckks.level_drop",
     {"!ckks.ciphertext<depth = 0>"},
     "depth = 2",
     {"!ckks.ciphertext<depth = 2, repr = standard>"},
     HX_CODE_NONE,
     NULL,
     NULL},
};

static void groups_of_two_primes_are_dropped_together(void **state) {
  (void)state;
  run_rows(grouped, HX_COUNT_OF(grouped), &ring_b);
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

static void rotation_steps_are_distinct_in_order_of_first_use(void **state) {
  (void)state;
  const int64_t steps[] = {9, 0, -1, 1, 7, INT64_MIN, 2, INT64_MAX};
  hx_attribute_t list[HX_COUNT_OF(steps)];
  for (size_t i = 0; i < HX_COUNT_OF(steps); ++i)
    list[i] = (hx_attribute_t){.kind = HX_ATTRIBUTE_INTEGER, .integer = steps[i]};
  uint32_t found[8] = {0};
  assert_int_equal(hx_rotation_steps(list, HX_COUNT_OF(steps), 8, found), 3);
  assert_int_equal(found[0], 1);
  assert_int_equal(found[1], 7);
  assert_int_equal(found[2], 2);
  assert_int_equal(hx_rotation_steps(list, HX_COUNT_OF(steps), 1, NULL), 0);
  assert_int_equal(hx_rotation_reduce(-3, 8), 5);
  assert_int_equal(hx_rotation_reduce(INT64_MIN, 65536), 0);
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
      cmocka_unit_test(maintenance_follows_the_table),
      cmocka_unit_test(slot_operations_follow_the_table),
      cmocka_unit_test(edges_follow_the_table),
      cmocka_unit_test(groups_of_two_primes_are_dropped_together),
      cmocka_unit_test(open_types_stay_open_without_parameters),
      cmocka_unit_test(written_types_are_merged_or_refused),
      cmocka_unit_test(rotation_steps_are_distinct_in_order_of_first_use),
      cmocka_unit_test(chain_of_squares_reaches_the_last_depth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
