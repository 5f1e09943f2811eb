// SPDX-License-Identifier: Apache-2.0
// The demo, its form on a batch and a 128 x 128 product over 2, 3 and 4 processes on a real MPI, the product in three
// network namespaces too, by rows, terms and items: the bits of one process on every rank, and the bytes that were
// predicted (heliox-bench-ranks ends with an error where bits differ, and prints both). Skipped where the build has no
// MPI.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "tests/e2e/mpirun.h"

static char root[] = "/tmp/heliox-ranks.XXXXXX";
static command_t last;

static int set_up(void **state) {
  (void)state;
  return mkdtemp(root) == NULL ? 1 : 0;
}

static int tear_down(void **state) {
  (void)state;
  return command_remove(root);
}

// Lines "gives B bytes (predicted B, +0.00 %), takes ...": one a kind.
static void must_move_as_predicted(unsigned ranks, const char *program) {
  unsigned lines = 0;
  for (const char *at = last.output; (at = strstr(at, "gives ")) != NULL; ++at) {
    unsigned long long sent, sent_predicted, received, received_predicted;
    double more, more_received;
    if (sscanf(at, "gives %llu bytes (predicted %llu, %lf %%), takes %llu (predicted %llu, %lf %%)", &sent,
               &sent_predicted, &more, &received, &received_predicted, &more_received) != 6)
      fail_msg("%s over %u ranks: %s", program, ranks, last.output);
    assert_true(sent == sent_predicted && received == received_predicted);
    ++lines;
  }
  if (lines != 3) fail_msg("%s over %u ranks: %s%s", program, ranks, last.output, last.errors);
}

static void programs_keep_their_bits(const char *program) {
  need_mpi();
  for (unsigned ranks = 2; ranks <= 4; ++ranks) {
    char line[1024];
    snprintf(line, sizeof line,
             "mkdir %s-%u && mpirun -n %u --oversubscribe %s/bin/heliox-bench-ranks %s-%u %s all 1 && rm -r %s-%u",
             program, ranks, ranks, HELIOX_BUILD_DIR, program, ranks, program, program, ranks);
    command_run(&last, root,
                "LC_ALL=C HELIOX_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 "
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                line);
    if (last.exit_code != 0)
      fail_msg("%s over %u ranks: exit %d: %s%s", program, ranks, last.exit_code, last.output, last.errors);
    must_move_as_predicted(ranks, program);
  }
}

static void demo_keeps_its_bits(void **state) {
  (void)state;
  programs_keep_their_bits("demo");
}

static void batch_keeps_its_bits(void **state) {
  (void)state;
  programs_keep_their_bits("batch");
}

static void product_keeps_its_bits(void **state) {
  (void)state;
  programs_keep_their_bits("product");
}

// The demo command as two ranks: by items its samples are in a batch that both share.
static void demo_shares_its_samples_in_a_batch(void **state) {
  (void)state;
  need_mpi();
  command_run(&last, root,
              "LC_ALL=C HELIOX_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 "
              "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
              "mpirun -n 2 --oversubscribe $H demo --shard batch --json");
  command_expect(&last, 0, "\"decided_alike\": 142");
  command_run(&last, root, "LC_ALL=C HELIOX_NUM_THREADS=1", "$H demo --shard batch");
  command_expect(&last, 0, "142, in a batch of 4 ciphertexts");
  command_expect(&last, 0, "142 of 142 (encrypted and plain)");
}

// Three ranks with addresses of their own.
static void product_keeps_its_bits_in_namespaces(void **state) {
  (void)state;
  need_mpi();
  command_run(&last, root, "LC_ALL=C HELIOX_NUM_THREADS=1 LIMIT=280",
              "mkdir spaces && " HELIOX_SOURCE_DIR "/tests/mpi/namespaces.sh " HELIOX_BUILD_DIR
              "/bin/heliox-bench-ranks $PWD/spaces product all 1");
  if (last.exit_code == 77) {
    print_message("%s", last.errors);
    skip();
  }
  if (last.exit_code != 0) fail_msg("exit %d: %s%s", last.exit_code, last.output, last.errors);
  must_move_as_predicted(3, "product in namespaces");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(demo_keeps_its_bits),
      cmocka_unit_test(batch_keeps_its_bits),
      cmocka_unit_test(product_keeps_its_bits),
      cmocka_unit_test(demo_shares_its_samples_in_a_batch),
      cmocka_unit_test(product_keeps_its_bits_in_namespaces),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
