// SPDX-License-Identifier: Apache-2.0
// Sequences of collectives: what a rank's program says of itself, ranks that do not meet, what is predicted of many
// ranks, the keys that one rank needs.
#include "bsgs.h"
#include "heliox/shard.h"
#include "tests/unit/link_fixture.h"

#define LINE(role_, peer_, what_) role_ " " peer_ " 3:5 " what_ "\n"
#define SUM LINE("all", "0", "distributed.all_reduce_add_ciphertext {} T")
#define GATHER LINE("all", "0", "distributed.gather_limbs {ids = [0]} T")

static hx_report_t *report;

static int open_report(void **state) {
  (void)state;
  report = hx_report_create();
  return report == NULL;
}

static int close_report(void **state) {
  (void)state;
  hx_report_release(report);
  return 0;
}

static void must_meet(const char *const *texts, size_t count) {
  hx_report_clear(report);
  must(hx_collectives_compare(texts, count, report), report);
}

static void must_not_meet(const char *const *texts, size_t count, const char *piece) {
  hx_report_clear(report);
  assert_int_equal(hx_collectives_compare(texts, count, report), HX_STATUS_REFUSED);
  must_fault(report, HX_CODE_RANK_MISMATCH, 0, piece);
}

static void equal_sequences_meet(void **state) {
  (void)state;
  must_meet((const char *const[]){"", "", ""}, 3);
  must_meet((const char *const[]){SUM GATHER, SUM GATHER}, 2);
  must_meet((const char *const[]){LINE("enter", "0", "scf.for 3 turns") SUM LINE("leave", "0", "scf.for "),
                                  LINE("enter", "0", "scf.for 3 turns") SUM LINE("leave", "0", "scf.for ")},
            2);
  // The place in the source is not compared.
  must_meet((const char *const[]){"all 0 3:5 a {}\n", "all 0 0:0 a {}\n"}, 2);
}

static void pairs_meet_in_any_order_of_ranks(void **state) {
  (void)state;
  must_meet((const char *const[]){LINE("send", "1", "distributed.send T") LINE("send", "2", "distributed.send U") SUM,
                                  LINE("receive", "0", "distributed.receive T") SUM,
                                  LINE("receive", "0", "distributed.receive U") SUM},
            3);
  // A ring of three, in which rank 2 receives first.
  must_meet(
      (const char *const[]){LINE("send", "1", "distributed.send T") LINE("receive", "2", "distributed.receive T"),
                            LINE("receive", "0", "distributed.receive T") LINE("send", "2", "distributed.send T"),
                            LINE("receive", "1", "distributed.receive T") LINE("send", "0", "distributed.send T")},
      3);
}

static void other_operations_are_named_with_rank_and_step(void **state) {
  (void)state;
  must_not_meet(
      (const char *const[]){SUM SUM, SUM GATHER}, 2,
      "rank 1 comes in step 2 to distributed.gather_limbs {ids = [0]} T at 3:5, where rank 0 comes in step 2 to "
      "distributed.all_reduce_add_ciphertext {} T at 3:5");
  must_not_meet((const char *const[]){SUM, SUM, SUM SUM}, 3, "rank 2 comes in step 2 to distributed.all_reduce");
  must_not_meet((const char *const[]){SUM, ""}, 2, "rank 1 comes in step 1 to its end, after 0 steps");
  must_not_meet((const char *const[]){LINE("enter", "0", "scf.for 3 turns"), LINE("enter", "0", "scf.for 4 turns")}, 2,
                "the beginning of scf.for 4 turns");
}

static void pairs_that_wait_for_each_other_are_refused(void **state) {
  (void)state;
  // Both send first: neither is received.
  must_not_meet(
      (const char *const[]){LINE("send", "1", "distributed.send T") LINE("receive", "1", "distributed.receive T"),
                            LINE("send", "0", "distributed.send T") LINE("receive", "0", "distributed.receive T")},
      2, "rank 0 comes in step 1 to distributed.send T to rank 1");
  must_not_meet(
      (const char *const[]){LINE("send", "1", "distributed.send T"), LINE("receive", "0", "distributed.receive U")}, 2,
      "distributed.receive U from rank 0");
  must_not_meet((const char *const[]){LINE("send", "1", "distributed.send T"), SUM}, 2, "rank 0 comes in step 1");
  must_not_meet((const char *const[]){LINE("send", "0", "distributed.send T"), ""}, 2, "waits for itself");
}

static void texts_of_other_versions_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "all",     "all 0 3:5 a", "perhaps 0 3:5 a\n",       "all x 3:5 a\n", "all 7 3:5 a\n",
      "all 0\n", "\n",          "all 99999999999 0:0 a\n", " 0 0:0 a\n"};
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i)
    must_not_meet((const char *const[]){SUM, bad[i]}, 2, "rank 1: step 1 is no step");
  hx_report_clear(report);
  assert_int_equal(hx_collectives_compare(NULL, 2, report), HX_STATUS_INVALID);
  assert_int_equal(hx_collectives_compare((const char *const[]){SUM}, 0, report), HX_STATUS_INVALID);
}

// ------------------------------------------------------------------ programs

static const bsgs_t shape = {.baby = 16, .giant = 8, .slots = SLOTS, .limbs = 5, .scale = "2^40"};

static hx_compilation_t *compile_product(hx_params_t *params) {
  hx_text_t text;
  hx_program_t *program = NULL;
  hx_compilation_t *compilation = NULL;
  bsgs_text(&shape, &text);
  must(hx_program_parse(hx_str(text.data), "p.mlir", &program, report), report);
  must(hx_compilation_create(program, params, &compilation, report), report);
  hx_program_release(program);
  hx_text_deinit(&text);
  return compilation;
}

static void every_rank_needs_the_keys_of_its_terms_alone(void **state) {
  (void)state;
  hx_report_clear(report);
  hx_params_t *params = link_params(LINK_RING);
  uint32_t giants = 0;
  for (uint32_t rank = 0; rank < 4; ++rank) {
    hx_compilation_t *compilation = compile_product(params);
    must(hx_compilation_shard(compilation, &(hx_shard_spec_t){.kind = "terms", .rank = rank, .size = 4}, NULL, report),
         report);
    hx_needs_t *needs = NULL;
    must(hx_program_needs(hx_compilation_program(compilation), params, &needs, report), report);
    const hx_program_needs_t *need = hx_needs_get(needs);
    assert_int_equal(need->parts, HX_KEYS_GALOIS);
    uint32_t own = 0, babies = 0;
    for (size_t i = 0; i < need->element_count; ++i) {
      own += need->steps[i] >= 16 ? 1 : 0;
      babies += need->steps[i] < 16 ? 1 : 0;
    }
    assert_int_equal(babies, 15);
    assert_true(own >= 1 && own <= 2);
    giants += own;
    hx_needs_release(needs);
    hx_compilation_release(compilation);
  }
  assert_int_equal(giants, 7);  // each giant step on one rank
  hx_params_release(params);
}

static void sequences_of_all_ranks_are_equal(void **state) {
  (void)state;
  static const char *const kinds[] = {"limbs", "terms", "batch"};
  hx_report_clear(report);
  hx_params_t *params = link_params(LINK_RING);
  for (size_t k = 0; k < HX_COUNT_OF(kinds); ++k) {
    hx_collectives_t *all[7] = {NULL};
    const char *texts[7];
    for (uint32_t rank = 0; rank < 7; ++rank) {
      hx_compilation_t *compilation = compile_product(params);
      const hx_shard_spec_t spec = {.kind = kinds[k], .rank = rank, .size = 7};
      must(hx_compilation_shard(compilation, &spec, NULL, report), report);
      must(hx_collectives_create(hx_compilation_program(compilation), params, NULL, rank, 7, &all[rank], report),
           report);
      texts[rank] = hx_collectives_text(all[rank]);
      if (rank > 0) assert_string_equal(texts[rank], texts[0]);
      hx_compilation_release(compilation);
    }
    must(hx_collectives_compare(texts, 7, report), report);
    for (uint32_t rank = 0; rank < 7; ++rank) hx_collectives_release(all[rank]);
  }
  hx_params_release(params);
}

// Two ranks add by one reduction, more of them by rows: a rank takes its rows of what each brings, then the others'.
static void steps_tell_what_they_move(void **state) {
  (void)state;
  hx_report_clear(report);
  hx_params_t *params = link_params(LINK_RING);
  const uint64_t row = 1024 * 8 * 2, ciphertext = 5 * row;  // of two components
  for (uint32_t size = 2; size <= 4; size += 2) {
    hx_compilation_t *compilation = compile_product(params);
    const hx_shard_spec_t spec = {.kind = "terms", .rank = 1, .size = size};
    hx_collectives_t *steps = NULL;
    must(hx_compilation_shard(compilation, &spec, NULL, report), report);
    must(hx_collectives_create(hx_compilation_program(compilation), params, NULL, 1, size, &steps, report), report);
    assert_int_equal(hx_collectives_count(steps), size == 2 ? 1 : size + 1);
    const hx_collective_t *first = hx_collectives_get(steps, 0),
                          *last = hx_collectives_get(steps, hx_collectives_count(steps) - 1);
    assert_true(first->role == HX_COLLECTIVE_ALL && first->times == 1 && first->is_exact);
    if (size == 2) {
      assert_string_equal(first->operation, "distributed.all_reduce_add_ciphertext");
      assert_int_equal(first->payload, ciphertext);
      assert_int_equal(first->sent, ciphertext);
      assert_int_equal(first->received, ciphertext);
    } else {  // rank 1 of 4 owns row 1 of five
      assert_string_equal(first->operation, "distributed.scatter_limbs");
      assert_int_equal(first->received, row);
      assert_int_equal(hx_collectives_get(steps, 1)->sent, ciphertext - row);
      assert_string_equal(last->operation, "distributed.gather_limbs");
      assert_int_equal(last->sent, row);
      assert_int_equal(last->received, ciphertext - row);
    }
    assert_null(hx_collectives_get(steps, hx_collectives_count(steps)));
    hx_collectives_release(steps);
    hx_compilation_release(compilation);
  }
  hx_params_release(params);
}

static void program_of_another_rank_is_refused(void **state) {
  (void)state;
  hx_report_clear(report);
  hx_params_t *params = link_params(LINK_RING);
  hx_compilation_t *compilation = compile_product(params);
  must(hx_compilation_shard(compilation, &(hx_shard_spec_t){.kind = "limbs", .rank = 1, .size = 3}, NULL, report),
       report);
  hx_collectives_t *collectives = NULL;
  const hx_program_t *program = hx_compilation_program(compilation);
  assert_int_equal(hx_collectives_create(program, params, NULL, 2, 3, &collectives, report), HX_STATUS_REFUSED);
  must_fault(report, HX_CODE_RANK_MISMATCH, 0, "attribute rank is 1, but this is rank 2 of 3");
  hx_report_clear(report);
  assert_int_equal(hx_collectives_create(program, params, NULL, 1, 2, &collectives, report), HX_STATUS_REFUSED);
  must_fault(report, HX_CODE_RANK_MISMATCH, 0, "there is no such rank");
  hx_report_clear(report);
  assert_int_equal(hx_collectives_create(program, params, NULL, 3, 3, &collectives, report), HX_STATUS_INVALID);
  assert_null(collectives);
  hx_report_clear(report);
  assert_int_equal(
      hx_compilation_shard(compilation, &(hx_shard_spec_t){.kind = "slots", .rank = 0, .size = 2}, NULL, report),
      HX_STATUS_INVALID);
  must_fault(report, HX_CODE_USAGE, 0, "there is no sharding by 'slots'");
  hx_compilation_release(compilation);
  hx_params_release(params);
}

// A share falls with more ranks, as far as there are terms and rows; then it stays.
static void scaling_is_counted_on_the_programs_of_the_ranks(void **state) {
  (void)state;
  hx_report_clear(report);
  hx_params_t *params = link_params(LINK_RING);
  hx_compilation_t *compilation = compile_product(params);
  hx_scaling_t one, two, eight, many;
  const hx_shard_spec_t terms = {.kind = "terms"}, limbs = {.kind = "limbs"};
  must(hx_shard_predict(compilation, &terms, 1, &one, report), report);
  must(hx_shard_predict(compilation, &terms, 2, &two, report), report);
  must(hx_shard_predict(compilation, &terms, 8, &eight, report), report);
  must(hx_shard_predict(compilation, &terms, 1000, &many, report), report);
  assert_true(one.share == 1 && one.collectives == 0 && one.received == 0);
  assert_true(two.share < one.share && eight.share < two.share && many.share <= eight.share);
  assert_true(two.share >= 0.5 && eight.share >= 0.125);
  assert_int_equal(two.collectives, 1);
  const uint64_t ciphertext = (uint64_t)2 * 5 * 1024 * 8;
  assert_int_equal(two.received, ciphertext);
  assert_int_equal(two.total, 2 * ciphertext);
  assert_true(eight.received < 3 * ciphertext && many.received < 6 * ciphertext);  // by rows, not by all of each
  assert_true(eight.total < 8 * 3 * ciphertext);
  assert_true(two.key_bytes < one.key_bytes);
  must(hx_shard_predict(compilation, &limbs, 5, &two, report), report);
  must(hx_shard_predict(compilation, &limbs, 64, &many, report), report);
  assert_true(two.share < 0.6);
  assert_true(many.share <= two.share);
  assert_int_equal(many.collectives, two.collectives);
  hx_scaling_t none;
  assert_int_equal(hx_shard_predict(compilation, &limbs, 0, &none, report), HX_STATUS_INVALID);
  hx_compilation_release(compilation);
  hx_params_release(params);
}

// A failed allocation is told as such, wherever it falls; the compilation is what it was.
static void sharding_survives_failed_allocations(void **state) {
  (void)state;
  static const char *const kinds[] = {"limbs", "terms", "batch"};
  hx_report_clear(report);
  hx_params_t *params = link_params(LINK_RING);
  for (size_t k = 0; k < HX_COUNT_OF(kinds); ++k) {
    bool complete = false;
    for (uint64_t n = 1; !complete; n += 1 + n / 24) {
      hx_compilation_t *compilation = compile_product(params);
      hx_collectives_t *steps = NULL;
      const hx_shard_spec_t spec = {.kind = kinds[k],
                                    .rank = 1,
                                    .size = 3,
                                    .pipeline = n % 2 == 0 ? NULL : "merge-weighted-sums,prepare-plaintexts"};
      hx_alloc_fail_at(n);
      hx_status_t status = hx_compilation_shard(compilation, &spec, NULL, NULL);
      if (status == HX_STATUS_OK)
        status = hx_collectives_create(hx_compilation_program(compilation), params, NULL, 1, 3, &steps, NULL);
      if (status == HX_STATUS_OK) status = hx_collectives_compare((const char *const[]){"", ""}, 2, NULL);
      hx_alloc_fail_at(0);
      complete = status == HX_STATUS_OK;
      if (!complete && status != HX_STATUS_OUT_OF_MEMORY)
        fail_msg("%s, allocation %llu: %s", kinds[k], (unsigned long long)n, hx_status_name(status));
      hx_collectives_release(steps);
      hx_compilation_release(compilation);
    }
  }
  hx_params_release(params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_sequences_meet),
      cmocka_unit_test(pairs_meet_in_any_order_of_ranks),
      cmocka_unit_test(other_operations_are_named_with_rank_and_step),
      cmocka_unit_test(pairs_that_wait_for_each_other_are_refused),
      cmocka_unit_test(texts_of_other_versions_are_refused),
      cmocka_unit_test(every_rank_needs_the_keys_of_its_terms_alone),
      cmocka_unit_test(sequences_of_all_ranks_are_equal),
      cmocka_unit_test(steps_tell_what_they_move),
      cmocka_unit_test(program_of_another_rank_is_refused),
      cmocka_unit_test(scaling_is_counted_on_the_programs_of_the_ranks),
      cmocka_unit_test(sharding_survives_failed_allocations),
  };
  return cmocka_run_group_tests(tests, open_report, close_report);
}
