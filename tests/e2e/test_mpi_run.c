// SPDX-License-Identifier: Apache-2.0
// `heliox run` over ranks: mpirun starts the same command line several times. The demo's program, by each kind of
// sharding, gives the file of one process; bytes moved are those that `check --shard` predicts; ranks that fail leave
// no output.
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/mpirun.h"

#define INPUTS                                                                          \
  "demo/server/program.mlir --keys demo/server/keys -i x=demo/server/x.hx --materials " \
  "weights=demo/server/weights.csv"

// A directory with the files of the demo, its result by one process among them.
static int make_demo(void **state) {
  char *directory = strdup("/tmp/heliox-mpi-run-XXXXXX");
  *state = directory;
  if (mkdtemp(directory) == NULL) return 1;
  command_t *command = calloc(1, sizeof *command);
  command_run(command, directory, "HELIOX_NUM_THREADS=1", "$H demo --keep demo -q");
  const int code = command->exit_code;
  free(command);
  return code;
}

static int remove_directory(void **state) {
  const int code = command_remove(*state);
  free(*state);
  return code;
}

static void results_have_the_bytes_of_one_process(void **state) {
  need_mpi();
  static const char *const kinds[] = {"limbs", "terms", "batch"};
  command_t *command = calloc(1, sizeof *command);
  for (unsigned size = 2; size <= 4; ++size) {
    for (size_t k = 0; k < 3; ++k) {
      run(command, *state,
          MPIRUN " -n %u $H run " INPUTS " -o score=s%u%s.hx --shard %s && cmp s%u%s.hx demo/server/score.hx", size,
          size, kinds[k], kinds[k], size, kinds[k]);
      if (command->exit_code != 0) fail_msg("%u ranks by %s: %s%s", size, kinds[k], command->errors, command->output);
      // Rank 0 alone speaks.
      const char *first = strstr(command->output, "score: ");
      assert_non_null(first);
      assert_null(strstr(first + 1, "score: "));
    }
  }
  free(command);
}

// The 142 samples twice: a batch that two ranks share. Each item has the score of the demo.
static void batch_is_shared_and_comes_back_whole(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  run(command, *state,
      "paste -d, demo/client/samples.csv demo/client/samples.csv demo/client/samples.csv demo/client/samples.csv | "
      "awk -F, '{for (i = 1; i <= 4; ++i) c[i] = c[i] (NR > 1 ? \",\" : \"\") $i} END {for (i = 1; i <= 4; ++i) print "
      "c[i]}' > four.csv && $H encrypt --keys demo/client/keys -i four.csv -o four.hx -q && "
      "$H run " HELIOX_BUILD_DIR
      "/share/heliox/examples/wdbc-batch.mlir --keys demo/server/keys -i x=four.hx --materials "
      "weights=demo/server/weights.csv -o score=one.hx -q");
  command_expect(command, 0, "");
  for (unsigned size = 2; size <= 3; ++size) {
    run(command, *state,
        MPIRUN " -n %u $H run " HELIOX_BUILD_DIR
               "/share/heliox/examples/wdbc-batch.mlir --keys demo/server/keys -i x=four.hx --materials "
               "weights=demo/server/weights.csv -o score=several.hx --shard batch && cmp one.hx several.hx",
        size);
    if (command->exit_code != 0) fail_msg("%u ranks: %s%s", size, command->errors, command->output);
  }
  free(command);
}

static double sum_of(const json_t *moves, const char *key) {
  double sum = 0;
  size_t i;
  json_t *move;
  json_array_foreach((json_t *)(uintptr_t)moves, i, move) {
    sum += (double)json_integer_value(json_object_get(move, key)) *
           (double)json_integer_value(json_object_get(move, "times"));
  }
  return sum;
}

// "payload sent N bytes, received M bytes" of the plugin's line that has most: the group of the world.
static void read_plugin(const char *text, double *out_sent, double *out_received) {
  *out_sent = *out_received = 0;
  for (const char *at = text;
       (at = strstr(at, "heliox[0/3]: info [plugin] org.heliox.mpi: mpi: rank 0 of 3: payload sent ")) != NULL; ++at) {
    unsigned long long sent = 0, received = 0;
    const char *numbers = strstr(at, "payload sent ");
    if (sscanf(numbers, "payload sent %llu bytes, received %llu bytes", &sent, &received) != 2) continue;
    if ((double)received > *out_received) {
      *out_sent = (double)sent;
      *out_received = (double)received;
    }
  }
}

static void bytes_are_those_that_were_predicted(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  run(command, *state, "$H check demo/server/program.mlir --shard limbs --ranks 3 --json");
  json_t *check = json_loads(command->output, 0, NULL);
  const json_t *moves = json_object_get(json_object_get(check, "shard"), "collectives");
  const double sent = sum_of(moves, "sent"), received = sum_of(moves, "received");
  assert_true(sent > 1e6 && received > 1e6);
  run(command, *state, "HELIOX_LOG=info " MPIRUN " -n 3 $H run " INPUTS " -o score=b.hx --shard limbs --json");
  command_expect(command, 0, "\"ranks\"");
  json_t *found = json_loads(command->output, 0, NULL);
  const json_t *ranks = json_object_get(found, "ranks");
  assert_int_equal(json_integer_value(json_object_get(ranks, "size")), 3);
  assert_true(fabs((double)json_integer_value(json_object_get(ranks, "sent")) - sent) < 0.05 * sent);
  assert_true(fabs((double)json_integer_value(json_object_get(ranks, "received")) - received) < 0.05 * received);
  double plugin_sent, plugin_received;
  read_plugin(command->errors, &plugin_sent, &plugin_received);
  if (fabs(plugin_sent - sent) > 0.05 * sent || fabs(plugin_received - received) > 0.05 * received)
    fail_msg("the plugin moved %.0f and %.0f bytes, predicted are %.0f and %.0f", plugin_sent, plugin_received, sent,
             received);
  json_decref(found);
  json_decref(check);
  free(command);
}

static void ranks_that_fail_are_told_and_leave_no_output(void **state) {
  need_mpi();
  static const struct {
    const char *what, *first, *others, *piece;
  } rows[] = {
      {"an input is missing on rank 1", "-i x=demo/server/x.hx --shard limbs", "-i x=absent.hx --shard limbs",
       "rank 1: absent.hx"},
      {"another kind on rank 1", "-i x=demo/server/x.hx --shard limbs", "-i x=demo/server/x.hx --shard terms",
       "rank 1"},
      {"other keys on rank 1", "-i x=demo/server/x.hx --shard limbs",
       "-i x=demo/server/x.hx --shard limbs --keys otherkeys", "parameters"},
  };
  command_t *command = calloc(1, sizeof *command);
  run(command, *state, "$H keygen --params n13-d3-s40 -o otherkeys -q 2>/dev/null || $H params list");
  if (!command_has_file(*state, "otherkeys")) {
    run(command, *state, "P=$($H params list | awk 'NR == 2 {print $1}'); $H keygen --params $P -o otherkeys -q");
    command_expect(command, 0, "");
  }
#define COMMON                                                                                              \
  "$H run demo/server/program.mlir --keys demo/server/keys --materials weights=demo/server/weights.csv -o " \
  "score=never.hx "
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    run(command, *state, MPIRUN " --enable-recovery -n 1 " COMMON "%s : -n 1 " COMMON "%s", rows[i].first,
        rows[i].others);
    if (command_has_file(*state, "never.hx") || strstr(command->errors, rows[i].piece) == NULL ||
        strstr(command->errors, "heliox[0/2]: error[") == NULL ||
        strstr(command->errors, "heliox[1/2]: error[") == NULL)
      fail_msg("%s: %s%s", rows[i].what, command->errors, command->output);
  }
  free(command);
}

// Rank 1 reads from a pipe, so that it is known where it is when it is killed: at its program's materials, before its
// keys; and at its input, when it has linked.
static void rank_that_is_killed_is_named_and_leaves_no_output(void **state) {
  need_mpi();
  static const struct {
    const char *phase, *input, *materials;
  } rows[] = {{"materials", "demo/server/x.hx", "pipe.csv"}, {"input", "pipe.hx", "demo/server/weights.csv"}};
  command_t *command = calloc(1, sizeof *command);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const char *pipe = i == 0 ? "pipe.csv" : "pipe.hx";
    // Opening the pipe for writing lasts until rank 1 opens it to read.
    run(command, *state,
        "export H; rm -f pipe.*; mkfifo %s; " MPIRUN " --enable-recovery -n 1 $H run " INPUTS
        " -o score=never.hx --shard limbs : -n 1 sh -c '$H run demo/server/program.mlir --keys demo/server/keys -i "
        "x=%s "
        "--materials weights=%s -o score=never.hx --shard limbs & P=$!; : > %s; kill -9 $P; date +%%s > killed; wait' "
        ": "
        "-n 1 $H run " INPUTS
        " -o score=never.hx --shard limbs; date +%%s > over; test $(($(cat over) - $(cat killed))) "
        "-le 10",
        pipe, rows[i].input, rows[i].materials, pipe);
    if (command->exit_code != 0) fail_msg("%s: more than 10 s: %s", rows[i].phase, command->errors);
    if (command_has_file(*state, "never.hx")) fail_msg("%s: there is an output", rows[i].phase);
    for (uint32_t r = 0; r < 3; r += 2) {
      char line[64];
      snprintf(line, sizeof line, "heliox[%u/3]: error[rank-missing]: rank %u:", r, r);
      const char *found = strstr(command->errors, line);
      if (found == NULL || strstr(found, "rank 1 has ended") == NULL)
        fail_msg("%s: rank %u does not name rank 1: %s", rows[i].phase, r, command->errors);
    }
  }
  free(command);
}

static void command_line_says_what_it_needs(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  run(command, *state, MPIRUN " -n 2 $H run " INPUTS " -o score=never.hx");
  assert_int_not_equal(command->exit_code, 0);
  assert_non_null(strstr(command->errors, "mpirun started 2 processes, which would all do the same"));
  run(command, *state, MPIRUN " -n 2 $H run " INPUTS " -o score=never.hx --shard digits");
  assert_int_not_equal(command->exit_code, 0);
  assert_non_null(strstr(command->errors, "limbs, terms or batch"));
  run(command, *state, "$H run " INPUTS " -o score=one.hx --shard limbs && cmp one.hx demo/server/score.hx");
  command_expect(command, 0, "");  // one rank, without mpirun
  run(command, *state, "$H run " INPUTS " -o score=never.hx --shard limbs --rank-timeout 0");
  assert_int_equal(command->exit_code, 2);
  assert_false(command_has_file(*state, "never.hx"));
  free(command);
}

static void demo_is_played_by_all_ranks(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  run(command, *state, "mkdir -p tmp && TMPDIR=$PWD/tmp " MPIRUN " -n 3 $H demo --shard limbs && ls tmp");
  command_expect(command, 0, "same decision           142 of 142");
  assert_null(strstr(command->output, "heliox-demo"));  // nothing is left
  run(command, *state, "TMPDIR=$PWD/tmp " MPIRUN " --enable-recovery -n 2 $H demo --shard digits");
  assert_non_null(strstr(command->errors, "limbs, terms or batch"));
  run(command, *state, "OMPI_COMM_WORLD_RANK=1 PMIX_NAMESPACE=nobody $H demo --shard limbs --rank-timeout 1");
  command_expect(command, 1, "rank 0 did not bring the server's files");
  free(command);
}

static void machines_of_their_own_give_the_same_bytes(void **state) {
  need_mpi();
  static const char *const kinds[] = {"limbs", "terms", "batch"};
  command_t *command = calloc(1, sizeof *command);
  for (size_t k = 0; k < 3; ++k) {
    run(command, *state, SPACES " $H run " INPUTS " -o score=n%s.hx --shard %s && cmp n%s.hx demo/server/score.hx",
        kinds[k], kinds[k], kinds[k]);
    if (command->exit_code == 77) {
      print_message("%s", command->errors);
      skip();
    }
    if (command->exit_code != 0) fail_msg("%s: %s%s", kinds[k], command->errors, command->output);
  }
  // A product of a 128x128 matrix, by all kinds; the program compares bits itself.
  run(command, *state,
      "mkdir product && RANKS_FOLDER=$PWD/product && LIMIT=600 " HELIOX_SOURCE_DIR
      "/tests/mpi/namespaces.sh " HELIOX_BUILD_DIR "/bin/heliox-bench-ranks $RANKS_FOLDER product all 1");
  if (command->exit_code != 0) fail_msg("product: %s%s", command->errors, command->output);
  assert_non_null(strstr(command->output, "ranks 3"));
  free(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_have_the_bytes_of_one_process),
      cmocka_unit_test(batch_is_shared_and_comes_back_whole),
      cmocka_unit_test(bytes_are_those_that_were_predicted),
      cmocka_unit_test(ranks_that_fail_are_told_and_leave_no_output),
      cmocka_unit_test(rank_that_is_killed_is_named_and_leaves_no_output),
      cmocka_unit_test(command_line_says_what_it_needs),
      cmocka_unit_test(demo_is_played_by_all_ranks),
      cmocka_unit_test(machines_of_their_own_give_the_same_bytes),
  };
  return cmocka_run_group_tests(tests, make_demo, remove_directory);
}
