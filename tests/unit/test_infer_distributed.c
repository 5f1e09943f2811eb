// SPDX-License-Identifier: Apache-2.0
// Inference of the distributed dialect: state of what ranks share, rows and items of the whole.
#include "infer_fixture.h"

#define GROUP "!resource.handle<kind = \"process-group\">"
#define CT(rest_) \
  "!ckks.ciphertext<batch = [2], components = 2, " rest_ "scale = \"2^30\", domain = ntt, repr = standard, slots = 8>"
#define TENSOR(batch_, primes_)                                                    \
  "!rns.tensor<dtype = u64, batch = " batch_ ", components = 2, primes = " primes_ \
  ", basis = Q, "                                                                  \
  "domain = ntt, repr = standard>"
#define SPREAD "ids = [0, 1, 2], owners = [0, 1, 0], rank = "

static const call_row_t good[] = {
    {"distributed.rank", {GROUP}, "", {"i64"}, HX_CODE_NONE, NULL, NULL},
    {"distributed.group_size", {GROUP}, "", {"i64"}, HX_CODE_NONE, NULL, NULL},
    {"distributed.broadcast",
     {GROUP, TENSOR("[]", "[0, 1]")},
     "root = 1",
     {TENSOR("[]", "[0, 1]")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"distributed.broadcast", {GROUP, CT("depth = 1, ")}, "root = 1", {CT("depth = 1, ")}, HX_CODE_NONE, NULL, NULL},
    {"distributed.all_reduce_add_ciphertext",
     {GROUP, CT("depth = 1, ")},
     "",
     {CT("depth = 1, ")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"distributed.scatter_limbs",
     {GROUP, TENSOR("[4]", "[0, 1, 2]")},
     "root = 0, " SPREAD "0",
     {TENSOR("[4]", "[0, 2]")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"distributed.scatter_limbs",
     {GROUP, TENSOR("[4]", "[0, 1, 2]")},
     "root = 0, " SPREAD "1",
     {TENSOR("[4]", "[1]")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"distributed.gather_limbs",
     {GROUP, TENSOR("[4]", "[0, 2]")},
     SPREAD "0",
     {TENSOR("[4]", "[0, 1, 2]")},
     HX_CODE_NONE,
     NULL,
     NULL},
    {"distributed.all_gather",
     {GROUP, TENSOR("[3, 2]", "[0]")},
     "counts = [2, 3, 0], rank = 1",
     {TENSOR("[5, 2]", "[0]")},
     HX_CODE_NONE,
     NULL,
     NULL},
};

static void values_of_a_group_keep_their_state(void **state) {
  (void)state;
  run_rows(good, HX_COUNT_OF(good), &ring_a);
}

static const call_row_t bad[] = {
    {"distributed.rank", {"i64"}, "", {NULL}, HX_CODE_OPERANDS, "operand group has to be a handle", NULL},
    {"distributed.rank",
     {"!resource.handle<kind = \"x-ring\">"},
     "",
     {NULL},
     HX_CODE_TYPE,
     "kind \"x-ring\"",
     "process-group"},
    {"distributed.broadcast", {GROUP}, "root = 1", {NULL}, HX_CODE_TYPE, "needs a written type", NULL},
    {"distributed.broadcast",
     {GROUP, TENSOR("[]", "[0]")},
     "root = 65536",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "outside [0, 65535]",
     NULL},
    {"distributed.receive", {GROUP}, "from = 1", {NULL}, HX_CODE_TYPE, "what is received", NULL},
    {"distributed.all_reduce_add_ciphertext",
     {GROUP, "!rns.tensor<dtype = u64, primes = [0], repr = lazy>"},
     "",
     {NULL},
     HX_CODE_DOMAIN,
     "standard",
     NULL},
    {"distributed.scatter_limbs",
     {GROUP},
     "root = 0, " SPREAD "0",
     {NULL},
     HX_CODE_OPERANDS,
     "missing on rank root",
     NULL},
    {"distributed.scatter_limbs",
     {GROUP, TENSOR("[4]", "[0, 1]")},
     "root = 0, " SPREAD "0",
     {NULL},
     HX_CODE_PRIMES,
     "it has 2 rows, 3 are meant",
     "ids, owners and rank"},
    {"distributed.scatter_limbs",
     {GROUP, TENSOR("[4]", "[0, 1, 2]")},
     "root = 0, " SPREAD "2",
     {NULL},
     HX_CODE_OPERANDS,
     "the rank has no rows",
     NULL},
    {"distributed.gather_limbs",
     {GROUP, TENSOR("[4]", "[0, 1]")},
     SPREAD "0",
     {NULL},
     HX_CODE_PRIMES,
     "the rank's rows",
     NULL},
    {"distributed.gather_limbs", {GROUP}, SPREAD "0", {NULL}, HX_CODE_OPERANDS, "the rank owns 2 rows", NULL},
    {"distributed.gather_limbs",
     {GROUP, TENSOR("[4]", "[0]")},
     SPREAD "2",
     {NULL},
     HX_CODE_OPERANDS,
     "the rank owns 0 rows",
     NULL},
    {"distributed.gather_limbs",
     {GROUP, TENSOR("[4]", "[0]")},
     "ids = [0, 1], owners = [0], rank = 0",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "1 ranks for the 2 rows",
     NULL},
    {"distributed.gather_limbs",
     {GROUP, TENSOR("[4]", "[0]")},
     "ids = [0, 1], owners = [0, -1], rank = 0",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "rank -1",
     NULL},
    {"distributed.gather_limbs",
     {GROUP, TENSOR("[4]", "[0]")},
     "ids = [0, 200], owners = [0, 1], rank = 0",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "reaches beyond",
     NULL},
    {"distributed.all_gather",
     {GROUP, TENSOR("[3]", "[0]")},
     "counts = [2, 2], rank = 1",
     {NULL},
     HX_CODE_SHAPE,
     "3 items along its first batch axis, attribute counts says 2",
     NULL},
    {"distributed.all_gather",
     {GROUP, TENSOR("[]", "[0]")},
     "counts = [1, 1], rank = 1",
     {NULL},
     HX_CODE_SHAPE,
     "0 items",
     "a batch"},
    {"distributed.all_gather",
     {GROUP, TENSOR("[3]", "[0]")},
     "counts = [3, 0], rank = 1",
     {NULL},
     HX_CODE_OPERANDS,
     "the rank has 0 items",
     NULL},
    {"distributed.all_gather",
     {GROUP, TENSOR("[3]", "[0]")},
     "counts = [3], rank = 1",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "for 1 ranks",
     NULL},
    {"distributed.all_gather",
     {GROUP, TENSOR("[3]", "[0]")},
     "counts = [4294967296, 3], rank = 1",
     {NULL},
     HX_CODE_ATTRIBUTE,
     "in all",
     NULL},
};

static void spreads_that_do_not_fit_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) run_row(&bad[i], &ring_a);
}

// What a rank does not bring is as written, on the rows that the attributes give.
static void absent_values_are_as_written(void **state) {
  (void)state;
  const hx_type_t group = type_of(GROUP, NULL);
  const hx_type_t whole = type_of(TENSOR("[4]", "[0, 1, 2]"), NULL), other = type_of(TENSOR("[4]", "[0]"), NULL);
  static const call_row_t rows[] = {{"distributed.gather_limbs", {NULL}, SPREAD "2", {NULL}, HX_CODE_NONE, NULL, NULL},
                                    {"distributed.broadcast", {NULL}, "root = 0", {NULL}, HX_CODE_NONE, NULL, NULL},
                                    {"distributed.receive", {NULL}, "from = 0", {NULL}, HX_CODE_NONE, NULL, NULL}};
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    const hx_type_t *written[] = {&whole};
    outcome_t outcome;
    infer_types(&rows[i], &ring_a, &group, 1, written, 1, &outcome);
    assert_int_equal(outcome.code, HX_CODE_NONE);
    assert_true(hx_type_equal(&outcome.results[0], &whole));
    written[0] = &other;
    infer_types(&rows[i], &ring_a, &group, 1, written, 1, &outcome);
    assert_int_equal(outcome.code, i == 0 ? HX_CODE_PRIMES : HX_CODE_NONE);
  }
  // A rank without rows has no result.
  outcome_t outcome;
  const call_row_t none = {
      "distributed.scatter_limbs", {NULL}, "root = 0, " SPREAD "2", {NULL}, HX_CODE_NONE, NULL, NULL};
  infer_types(&none, &ring_a, &group, 1, NULL, 0, &outcome);
  assert_int_equal(outcome.code, HX_CODE_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_of_a_group_keep_their_state),
      cmocka_unit_test(spreads_that_do_not_fit_are_refused),
      cmocka_unit_test(absent_values_are_as_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
