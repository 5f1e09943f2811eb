// SPDX-License-Identifier: Apache-2.0
// Groups on a real MPI: 1 to 4 ranks on this machine, three in network namespaces of their own; ranks that end, differ
// or are late. heliox-ranks (tests/mpi/ranks.c) is one rank. Where MPI or namespaces are missing the tests say so and
// skip.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/mpirun.h"

#define BOUND_SECONDS 10.0  // within which a rank that has ended is named

static int make_directory(void **state) {
  char *directory = strdup("/tmp/heliox-mpi-XXXXXX");
  *state = directory;
  return mkdtemp(directory) == NULL ? 1 : 0;
}

static int remove_directory(void **state) {
  const int code = command_remove(*state);
  free(*state);
  return code;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// A line of stderr or stdout that begins with "rank R:" and has the piece.
static bool says(const command_t *command, uint32_t rank, const char *piece) {
  char start[16];
  const char *const texts[] = {command->errors, command->output};
  snprintf(start, sizeof start, "rank %u:", rank);
  for (size_t i = 0; i < 2; ++i) {
    for (const char *at = texts[i]; (at = strstr(at, start)) != NULL; ++at) {
      const char *end = strchr(at, '\n');
      char *found = strstr(at, piece);
      if (found != NULL && (end == NULL || found < end)) return true;
    }
  }
  return false;
}

static void must_say(const command_t *command, uint32_t rank, const char *piece) {
  if (!says(command, rank, piece))
    fail_msg("rank %u does not say '%s': %s%s", rank, piece, command->errors, command->output);
}

static void collectives_give_the_results_of_one_process(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  for (unsigned size = 1; size <= 4; ++size) {
    run(command, *state, MPIRUN " -n %u " RANKS " calls", size);
    char piece[32];
    snprintf(piece, sizeof piece, "of %u, sent", size);
    if (command->exit_code != 0) fail_msg("%u ranks: %s%s", size, command->errors, command->output);
    for (uint32_t r = 0; r < size; ++r) must_say(command, r, piece);
  }
  run(command, *state, RANKS " calls");  // without mpirun: a group of one
  command_expect(command, 0, "of 1, sent");
  free(command);
}

// With --enable-recovery the launcher does not end the others itself, so that what they say is theirs (and its exit
// status says nothing).
static void rank_that_ends_is_named_by_all_others(void **state) {
  need_mpi();
  static const char *const phases[] = {"agree", "compute", "payload", "end"};
  command_t *command = calloc(1, sizeof *command);
  for (size_t i = 0; i < sizeof phases / sizeof *phases; ++i) {
    for (uint32_t who = 0; who < 3; who += 2) {
      char piece[48];
      const double start = now();
      run(command, *state, MPIRUN " --enable-recovery -n 3 " RANKS " die %s %u", phases[i], who);
      const double seconds = now() - start;
      snprintf(piece, sizeof piece, "rank %u has ended", who);
      for (uint32_t r = 0; r < 3; ++r) {
        if (r != who) must_say(command, r, piece);
      }
      assert_null(strstr(command->output, "done"));
      if (seconds > BOUND_SECONDS) fail_msg("%s: it took %.1f s", phases[i], seconds);
    }
  }
  free(command);
}

// As mpirun does without options: it ends the job itself, and some rank has said why before.
static void launcher_ends_the_job_in_time(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  const double start = now();
  run(command, *state, MPIRUN " -n 3 " RANKS " die agree 1");
  assert_true(now() - start < BOUND_SECONDS);
  assert_int_not_equal(command->exit_code, 0);
  assert_null(strstr(command->output, "done"));
  free(command);
}

static void ranks_that_differ_are_refused_alike(void **state) {
  need_mpi();
  static const struct {
    const char *what, *piece;
  } rows[] = {{"call", "rank 0: all_reduce_add_ciphertext"},
              {"state", "slots = 512> 7"},
              {"parameters", "rank 1 differs from rank 0"},
              {"program", "rank 1: distributed.broadcast"}};
  command_t *command = calloc(1, sizeof *command);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    run(command, *state, MPIRUN " --enable-recovery -n 3 " RANKS " differ %s 1", rows[i].what);
    assert_null(strstr(command->output, "nothing was refused"));
    for (uint32_t r = 0; r < 3; ++r) {
      must_say(command, r, "rank-mismatch");
      must_say(command, r, rows[i].piece);
    }
  }
  free(command);
}

// The same plugin with one byte more: another build of it, as far as the ranks know.
static void other_plugins_are_refused_on_every_rank(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  const char *plugins = HELIOX_BUILD_DIR "/lib/heliox/plugins";
  run(command, *state,
      "mkdir other && chmod 755 other . && cp %s/heliox_cpu.so %s/heliox_mpi.so %s/mpi.json other && printf x >> "
      "other/heliox_cpu.so && " HELIOX_BUILD_DIR "/bin/heliox-manifest complete " HELIOX_SOURCE_DIR
      "/plugins/cpu/cpu.json other/heliox_cpu.so other/cpu.json",
      plugins, plugins, plugins);
  command_expect(command, 0, "");
  run(command, *state,
      MPIRUN " --enable-recovery -n 1 " RANKS " calls : -n 2 -x RANKS_PLUGINS=$PWD/other " RANKS " calls");
  assert_null(strstr(command->output, "sent"));
  for (uint32_t r = 0; r < 3; ++r) must_say(command, r, "rank 1, 2 differs from rank 0; rank 0: plugins ");
  assert_non_null(strstr(command->errors, "rank-digest"));
  free(command);
}

static void ranks_that_are_late_are_named(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  run(command, *state, MPIRUN " --enable-recovery -n 3 " RANKS " late 1 4000");
  must_say(command, 0, "rank 1 did not come within 1500 ms");
  must_say(command, 2, "rank 1 did not come within 1500 ms");
  run(command, *state, MPIRUN " --enable-recovery -n 2 " RANKS " late 0 4000");
  must_say(command, 1, "rank 0 did not come within 1500 ms");
  assert_null(strstr(command->output, "nobody was late"));
  free(command);
}

// Before MPI has begun nobody but the launcher knows who is missing.
static void rank_that_never_begins_holds_up_nobody(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  const double start = now();
  run(command, *state, MPIRUN " --enable-recovery -n 3 " RANKS " start 2000 1");
  assert_true(now() - start < BOUND_SECONDS);
  assert_non_null(strstr(command->errors, "MPI has not begun within 2000 ms"));
  assert_null(strstr(command->output, "all have begun"));
  free(command);
}

static void machines_with_addresses_of_their_own_work_together(void **state) {
  need_mpi();
  command_t *command = calloc(1, sizeof *command);
  run(command, *state, SPACES " " RANKS " calls");
  if (command->exit_code == 77) {
    print_message("%s", command->errors);
    skip();
  }
  if (command->exit_code != 0) fail_msg("%s%s", command->errors, command->output);
  for (uint32_t r = 0; r < 3; ++r) must_say(command, r, "of 3, sent");
  assert_null(strstr(command->errors, "deadlines alone"));  // every rank reached rank 0
  const double start = now();
  run(command, *state, "MPIRUN_FLAGS=--enable-recovery " SPACES " " RANKS " die payload 1");
  assert_true(now() - start < BOUND_SECONDS);
  must_say(command, 0, "rank 1 has ended");
  must_say(command, 2, "rank 1 has ended");
  free(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(collectives_give_the_results_of_one_process),
      cmocka_unit_test(rank_that_ends_is_named_by_all_others),
      cmocka_unit_test(launcher_ends_the_job_in_time),
      cmocka_unit_test(ranks_that_differ_are_refused_alike),
      cmocka_unit_test(other_plugins_are_refused_on_every_rank),
      cmocka_unit_test(ranks_that_are_late_are_named),
      cmocka_unit_test(rank_that_never_begins_holds_up_nobody),
      cmocka_unit_test(machines_with_addresses_of_their_own_work_together),
  };
  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
