// SPDX-License-Identifier: Apache-2.0
// What `check --shard` predicts of a program over ranks, and what it refuses.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>
#include <jansson.h>

#include "tests/e2e/command.h"

static char root[] = "/tmp/heliox-check-shard.XXXXXX";
static command_t last;

static int set_up(void **state) {
  (void)state;
  return mkdtemp(root) == NULL ? 1 : 0;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

static json_t *check(const char *arguments) {
  char line[1024];
  snprintf(line, sizeof line, "$H check %s/examples/%s --json", HELIOX_SOURCE_DIR, arguments);
  command_run(&last, root, "LC_ALL=C", line);
  if (last.exit_code != 0) fail_msg("%s: exit %d: %s", line, last.exit_code, last.errors);
  json_t *json = json_loads(last.output, 0, NULL);
  assert_non_null(json);
  return json;
}

static double number(const json_t *row, const char *key) { return json_number_value(json_object_get(row, key)); }

static void batch_is_halved_by_two_ranks(void **state) {
  (void)state;
  json_t *json = check("wdbc-batch.mlir --shard batch --ranks 1,2,3 --network 8");
  const json_t *shard = json_object_get(json, "shard"), *rows = json_object_get(shard, "scaling"),
               *moves = json_object_get(shard, "collectives");
  assert_string_equal(json_string_value(json_object_get(shard, "kind")), "batch");
  assert_int_equal(json_array_size(rows), 3);
  assert_true(number(json_array_get(rows, 0), "share") == 1);
  assert_true(number(json_array_get(rows, 1), "share") == 0.5);
  assert_true(number(json_array_get(rows, 2), "share") == 0.5);  // two, one and one
  // Two items of two components and four rows of 2^14 words.
  assert_true(number(json_array_get(rows, 1), "received") == 2.0 * 2 * 4 * 16384 * 8);
  assert_true(fabs(number(json_array_get(rows, 1), "network_seconds") - 2.0 * 2 * 4 * 16384 * 8 / 1e9) < 1e-9);
  assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "seconds")));  // nothing was measured
  assert_int_equal(json_array_size(moves), 0);  // of one rank, the first number asked for
  json_decref(json);
}

static void rows_are_spread_and_listed_move_by_move(void **state) {
  (void)state;
  json_t *json = check("wdbc.mlir --shard limbs --ranks 4");
  const json_t *shard = json_object_get(json, "shard"), *row = json_array_get(json_object_get(shard, "scaling"), 0),
               *moves = json_object_get(shard, "collectives"), *move;
  double taken = 0;
  size_t i;
  json_array_foreach(moves, i, move) {
    assert_string_equal(json_string_value(json_object_get(move, "operation")), "distributed.gather_limbs");
    taken += number(move, "received");
  }
  assert_true(number(row, "calls") == (double)json_array_size(moves));
  assert_true(number(row, "share") > 0.25 && number(row, "share") < 0.5);
  assert_true(taken > 0 && taken <= number(row, "received"));
  json_decref(json);
}

static void text_has_a_line_for_each_number_of_ranks(void **state) {
  (void)state;
  command_run(&last, root, "LC_ALL=C", "$H check " HELIOX_SOURCE_DIR "/examples/wdbc-batch.mlir --shard batch");
  command_expect(&last, 0, "ranks        64");
  command_expect(&last, 0, "ranks      1000");
  command_expect(&last, 0, "moves     distributed.all_gather");
}

static void wrong_requests_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *arguments, *text;
  } rows[] = {{"--shard slots", "there is no sharding by 'slots'"},
              {"--ranks 3", "go with --shard"},
              {"--shard limbs --ranks 0", "--ranks '0' is no list"},
              {"--shard limbs --ranks 2,,3", "--ranks '2,,3' is no list"},
              {"--shard limbs --ranks 65537", "--ranks '65537' is no list"},
              {"--shard limbs --network fast", "--network 'fast' is no number"},
              {"--shard limbs --network -1", "--network '-1' is no number"}};
  char line[1024];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    snprintf(line, sizeof line, "$H check %s/examples/wdbc.mlir %s", HELIOX_SOURCE_DIR, rows[i].arguments);
    command_run(&last, root, "LC_ALL=C", line);
    command_expect(&last, 2, rows[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batch_is_halved_by_two_ranks),
      cmocka_unit_test(rows_are_spread_and_listed_move_by_move),
      cmocka_unit_test(text_has_a_line_for_each_number_of_ranks),
      cmocka_unit_test(wrong_requests_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
