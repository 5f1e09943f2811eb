// SPDX-License-Identifier: Apache-2.0
// The inside of the mpi plugin that needs no launcher: the shim and what is refused as one, who of a group is still
// there.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "lifeline.h"
#include "loader.h"

static hx_error new_error(void) { return (hx_error){.struct_size = HX_END_OF(hx_error, message), .op = HX_NONE}; }

// ------------------------------------------------------------------ the shim

static const char *said;

static void say(char text[512]) { snprintf(text, 512, "%s", said); }

static void libraries_of_another_flavour_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *library;
    int32_t code;
  } rows[] = {{"Open MPI v4.1.4, package: Debian OpenMPI", HX_OK},
              {"Open MPI v4.0.0", HX_OK},
              {"Open MPI v5.0.2, package: x", HX_UNAVAILABLE},
              {"Open MPI v41.0.0", HX_UNAVAILABLE},
              {"Open MPI v4", HX_UNAVAILABLE},
              {"Open MPI v", HX_UNAVAILABLE},
              {"MPICH Version: 4.1.4", HX_UNAVAILABLE},
              {"", HX_UNAVAILABLE}};
  hx_mpi_shim shim = {.version = HX_MPI_SHIM_VERSION, .major = 4, .minor = 1, .flavour = "Open MPI", .library = say};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    hx_error error = new_error();
    said = rows[i].library;
    if (hx_mpi_shim_check(&shim, &error) != rows[i].code) fail_msg("'%s': %s", said, error.message);
    if (rows[i].code != HX_OK) assert_non_null(strstr(error.message, "this build is for Open MPI 4.1"));
  }
  hx_error error = new_error();
  shim.version += 1;
  said = rows[0].library;
  assert_int_equal(hx_mpi_shim_check(&shim, &error), HX_INTERNAL);
}

static void bytes_that_are_no_shim_are_refused(void **state) {
  (void)state;
  const hx_mpi_shim *shim = NULL;
  hx_error error = new_error();
  assert_int_equal(hx_mpi_shim_load((const unsigned char *)"", 0, &shim, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "install libopenmpi-dev"));
  static const unsigned char text[] = "this is no library";
  assert_int_equal(hx_mpi_shim_load(text, sizeof text, &shim, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "no MPI library"));
  assert_null(shim);
}

static void shim_of_this_build_opens_or_says_why(void **state) {
  (void)state;
  const hx_mpi_shim *shim = NULL;
  hx_error error = new_error();
  const int32_t code = hx_mpi_shim_open(&shim, &error);
  assert_int_equal(code, hx_mpi_shim_open(&shim, NULL));
  if (code == HX_OK) {
    assert_non_null(shim);
    assert_string_equal(shim->flavour, "Open MPI");
  } else {
    assert_int_equal(code, HX_UNAVAILABLE);
    assert_true(strlen(error.message) > 20);
  }
}

// ------------------------------------------------------------------ who is there

typedef enum { ENDS, LEAVES, STAYS } fate_t;

// Another rank as a process of its own: it meets rank 0 and does what it is told once a byte comes.
static pid_t start_rank(const hx_lifeline_call *call, uint32_t rank, uint32_t size, fate_t fate, int go) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child > 0) return child;
  hx_lifeline *line = NULL;
  hx_error error = new_error();
  char byte;
  if (hx_lifeline_connect(call, rank, size, 5000, &line, &error) != HX_OK) _exit(9);
  while (read(go, &byte, 1) < 0) continue;
  if (fate == ENDS) _exit(0);
  if (fate == LEAVES) {
    hx_lifeline_close(line);
    _exit(0);
  }
  // Stays until rank 0 says who is gone.
  for (int i = 0; i < 1000 && hx_lifeline_lost(line) == HX_NONE; ++i) usleep(10000);
  const uint32_t lost = hx_lifeline_lost(line);
  hx_lifeline_close(line);
  _exit(lost == HX_NONE ? 8 : (int)lost);
}

static uint32_t wait_for(uint32_t (*ask)(const hx_lifeline *), const hx_lifeline *line, int ms) {
  for (int i = 0; i < ms / 10 && ask(line) == HX_NONE; ++i) usleep(10000);
  return ask(line);
}

static void rank_that_ends_is_told_to_all(void **state) {
  (void)state;
  hx_lifeline_call call = {0};
  hx_lifeline *line = NULL;
  hx_error error = new_error();
  int go[2];
  assert_int_equal(pipe(go), 0);
  assert_int_equal(hx_lifeline_listen(3, &line, &call, &error), HX_OK);
  assert_true(call.port > 0 && call.family[0] != 0);
  const pid_t ends = start_rank(&call, 2, 3, ENDS, go[0]), stays = start_rank(&call, 1, 3, STAYS, go[0]);
  if (hx_lifeline_accept(line, 5000, &error) != HX_OK) fail_msg("%s", error.message);
  assert_int_equal(hx_lifeline_lost(line), HX_NONE);
  assert_int_equal(write(go[1], "xx", 2), 2);
  assert_int_equal(wait_for(hx_lifeline_lost, line, 5000), 2);
  int status = 0;
  assert_int_equal(waitpid(ends, &status, 0), ends);
  assert_int_equal(waitpid(stays, &status, 0), stays);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 2);  // it has heard of rank 2
  hx_lifeline_close(line);
  close(go[0]);
  close(go[1]);
}

static void rank_that_leaves_is_not_lost(void **state) {
  (void)state;
  hx_lifeline_call call = {0};
  hx_lifeline *line = NULL;
  hx_error error = new_error();
  int go[2], status = 0;
  assert_int_equal(pipe(go), 0);
  assert_int_equal(hx_lifeline_listen(2, &line, &call, &error), HX_OK);
  const pid_t leaves = start_rank(&call, 1, 2, LEAVES, go[0]);
  if (hx_lifeline_accept(line, 5000, &error) != HX_OK) fail_msg("%s", error.message);
  assert_int_equal(write(go[1], "x", 1), 1);
  assert_int_equal(waitpid(leaves, &status, 0), leaves);
  assert_int_equal(hx_lifeline_left(line), HX_NONE);  // what it sent may still be on its way
  assert_int_equal(wait_for(hx_lifeline_left, line, 8000), 1);
  assert_int_equal(hx_lifeline_lost(line), HX_NONE);
  hx_lifeline_close(line);
  close(go[0]);
  close(go[1]);
}

static void strangers_and_missing_ranks_are_told(void **state) {
  (void)state;
  hx_lifeline_call call = {0};
  hx_lifeline *line = NULL;
  hx_error error = new_error();
  int status = 0;
  assert_int_equal(hx_lifeline_listen(3, &line, &call, &error), HX_OK);
  hx_lifeline_call other = call;
  other.secret[5] ^= 1;
  const pid_t stranger = fork();
  if (stranger == 0) {
    hx_lifeline *mine = NULL;
    hx_error own = new_error();
    _exit(hx_lifeline_connect(&other, 1, 3, 700, &mine, &own) == HX_UNAVAILABLE ? 0 : 1);
  }
  assert_int_equal(hx_lifeline_accept(line, 1500, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "rank 1, 2 within 1500 ms"));
  assert_int_equal(waitpid(stranger, &status, 0), stranger);
  assert_int_equal(status, 0);
  hx_lifeline_close(line);
  hx_lifeline_close(NULL);
  hx_lifeline *none = NULL;
  other = (hx_lifeline_call){.port = 1};
  assert_int_equal(hx_lifeline_connect(&other, 1, 2, 100, &none, &error), HX_UNAVAILABLE);
  assert_null(none);
  assert_int_equal(hx_lifeline_lost(NULL), HX_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(libraries_of_another_flavour_are_refused),
      cmocka_unit_test(bytes_that_are_no_shim_are_refused),
      cmocka_unit_test(shim_of_this_build_opens_or_says_why),
      cmocka_unit_test(rank_that_ends_is_told_to_all),
      cmocka_unit_test(rank_that_leaves_is_not_lost),
      cmocka_unit_test(strangers_and_missing_ranks_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
