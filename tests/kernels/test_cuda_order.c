// SPDX-License-Identifier: Apache-2.0
// What of a recorded run waits for what, and branches of its graph on a device (or over the driver that runs kernels on
// the host, which does independent nodes in an order of its own).
#include "device.h"
#include "graph_list.h"
#include "graph_order.h"
#include "kernelcheck.h"
#include "prepare.h"

#define LIMBS 4u
#define ROW 4096u
#define VALUES 6u

static const uint32_t bits[] = {50, 40, 40, 50, 50};

// ---- bookkeeping

// Value v lies at [100 v, 100 v + 100). A piece of work reads two values and writes one.
#define RANGE(first_, end_, is_written_) \
  (hx_cuda_range_t) { .first = (first_), .end = (end_), .is_written = (is_written_) }
#define READS(a_, b_, to_)                                                                \
  RANGE(100 * (a_), 100 * (a_) + 100, false), RANGE(100 * (b_), 100 * (b_) + 100, false), \
      RANGE(100 * (to_), 100 * (to_) + 100, true)
#define WORK(first_, count_) \
  (hx_cuda_work_t) { .first_range = (first_), .range_count = (count_) }

static bool waits(const hx_cuda_turn_t *turns, uint32_t piece, uint32_t other) {
  for (uint32_t i = 0; i < turns[piece].after_count; i++) {
    if (turns[piece].after[i] == other || waits(turns, turns[piece].after[i], other)) {
      return true;
    }
  }
  return false;
}

static void independent_work_has_lanes_of_its_own(void **state) {
  (void)state;
  // Two results of value 0, their sum, and a third result that nobody waits for.
  const hx_cuda_range_t ranges[] = {READS(0, 0, 1), READS(0, 0, 2), READS(1, 2, 3), READS(0, 0, 4)};
  const hx_cuda_work_t works[] = {WORK(0, 3), WORK(3, 3), WORK(6, 3), WORK(9, 3)};
  hx_cuda_turn_t turns[4];
  assert_int_equal(hx_cuda_order(works, 4, ranges, 8, turns), 3);
  assert_int_equal(turns[0].after_count, 0);
  assert_int_equal(turns[1].after_count, 0);
  assert_int_not_equal(turns[0].lane, turns[1].lane);
  assert_int_equal(turns[2].after_count, 2);
  assert_int_equal(turns[2].lane, turns[1].lane);  // of the later of the two
  assert_int_equal(turns[2].after[0], 1);          // its lane's first
  assert_int_equal(turns[3].after_count, 0);
  // Two lanes: what would have a third one takes turns on one that is left.
  assert_int_equal(hx_cuda_order(works, 4, ranges, 2, turns), 2);
  assert_int_equal(turns[3].after_count, 1);
  assert_int_equal(turns[3].after[0], 0);
  assert_int_equal(hx_cuda_order(works, 4, ranges, 1, turns), 1);
  for (uint32_t i = 0; i < 4; i++) {
    assert_int_equal(turns[i].after_count, i > 0);
    assert_int_equal(turns[i].lane, 0);
  }
}

static void work_waits_where_memory_is_written_again(void **state) {
  (void)state;
  // 1 is read, then written again; part of it is written; value 2 is written twice.
  const hx_cuda_range_t ranges[] = {READS(0, 0, 1),       READS(1, 1, 2),        READS(0, 0, 1),
                                    RANGE(0, 100, false), RANGE(150, 160, true), READS(0, 0, 2)};
  const hx_cuda_work_t works[] = {WORK(0, 3), WORK(3, 3), WORK(6, 3), WORK(9, 2), WORK(11, 3)};
  hx_cuda_turn_t turns[5];
  hx_cuda_order(works, 5, ranges, 8, turns);
  assert_true(waits(turns, 1, 0));            // reads what was written
  assert_true(waits(turns, 2, 1));            // writes what is read
  assert_int_equal(turns[2].after_count, 1);  // that the first was written is implied
  assert_true(waits(turns, 3, 2));
  assert_true(waits(turns, 4, 1));
  assert_false(waits(turns, 4, 2));
}

// A call with two parts, which share what it left in scratch memory; then a call that takes that memory over.
static void parts_run_at_once_in_one_scratch_memory(void **state) {
  (void)state;
  hx_cuda_range_t ranges[] = {RANGE(0, 100, true),      RANGE(1000, 1100, false), RANGE(0, 40, false),
                              RANGE(40, 60, true),      RANGE(2000, 2100, true),  RANGE(0, 40, false),
                              RANGE(60, 80, true),      RANGE(3000, 3100, true),  RANGE(0, 100, true),
                              RANGE(2000, 2100, false), RANGE(4000, 4100, true)};
  const uint32_t in_scratch[] = {0, 2, 3, 5, 6, 8};
  for (uint32_t i = 0; i < 6; i++) ranges[in_scratch[i]].is_scratch = true;
  hx_cuda_work_t works[] = {WORK(0, 2), WORK(2, 3), WORK(5, 3), WORK(8, 3)};
  works[1].shares = works[2].shares = 1;
  hx_cuda_turn_t turns[4];
  assert_int_equal(hx_cuda_order(works, 4, ranges, 8, turns), 2);
  assert_true(waits(turns, 1, 0) && waits(turns, 2, 0));
  assert_int_not_equal(turns[1].lane, turns[2].lane);
  assert_false(waits(turns, 2, 1));
  assert_true(turns[1].scratch == turns[0].scratch && turns[2].scratch == turns[0].scratch);
  // On the first part's lane, whose scratch memory the second part works in on another.
  assert_int_equal(turns[3].lane, turns[1].lane);
  assert_int_equal(turns[3].scratch, turns[0].scratch);
  assert_true(waits(turns, 3, 1) && waits(turns, 3, 2));
}

// splitmix64
static uint64_t draw(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static bool conflict(const hx_cuda_range_t *a, const hx_cuda_range_t *b) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const bool empty = a[i].first == a[i].end || b[j].first == b[j].end;
      if (!empty && (a[i].is_written || b[j].is_written) && a[i].first < b[j].end && b[j].first < a[i].end) {
        return true;
      }
    }
  }
  return false;
}

// Ranges of any size: every pair that shares memory keeps its order, and so does every lane.
static void random_work_keeps_the_order_of_whatever_shares_memory(void **state) {
  (void)state;
  enum { COUNT = 40 };
  uint64_t random = 7;
  for (uint32_t round = 0; round < 200; round++) {
    hx_cuda_range_t ranges[3 * COUNT];
    hx_cuda_work_t works[COUNT];
    hx_cuda_turn_t turns[COUNT];
    for (uint32_t i = 0; i < 3 * COUNT; i++) {
      const uint64_t first = draw(&random) % 60, length = draw(&random) % 6;
      ranges[i] = RANGE(first, first + length, i % 3 == 2);
      works[i / 3] = WORK(i / 3 * 3, 3);
    }
    const uint32_t lanes = 1 + (uint32_t)(draw(&random) % HX_CUDA_LANES_MAX);
    const uint32_t used = hx_cuda_order(works, COUNT, ranges, lanes, turns);
    assert_in_range(used, 1, lanes);
    bool before[COUNT][COUNT] = {{false}};
    for (uint32_t i = 0; i < COUNT; i++) {
      assert_in_range(turns[i].lane, 0, used - 1);
      for (uint32_t k = 0; k < turns[i].after_count; k++) {
        const uint32_t other = turns[i].after[k];
        assert_true(other < i);
        before[i][other] = true;
        for (uint32_t j = 0; j < other; j++) {
          before[i][j] = before[i][j] || before[other][j];
        }
      }
      for (uint32_t j = 0; j < i; j++) {
        if (turns[i].lane == turns[j].lane || conflict(ranges + 3 * i, ranges + 3 * j)) {
          assert_true(before[i][j]);
        }
      }
    }
  }
}

static void long_work_is_one_lane(void **state) {
  (void)state;
  const uint32_t count = HX_CUDA_ORDER_MAX + 1;
  hx_cuda_work_t *works = calloc(count, sizeof *works);
  hx_cuda_turn_t *turns = calloc(count, sizeof *turns);
  assert_non_null(works);
  assert_non_null(turns);
  assert_int_equal(hx_cuda_order(works, count, NULL, 8, turns), 1);
  assert_int_equal(turns[count - 1].after[0], count - 2);
  assert_int_equal(hx_cuda_order(works, 0, NULL, 8, turns), 1);
  free(works);
  free(turns);
}

// ---- branches

typedef struct fixture {
  kc_t kc;
  uint64_t bytes;
  hx_buffer *pinned, *memory[VALUES], *scratch;
  uint32_t ids[LIMBS];
  hx_prepared *rescale;  // of two components: 4 limbs to 3, with scratch memory
} fixture_t;

static void prepare_rescale(fixture_t *f) {
  hx_error error = kc_error();
  const hx_tensor_desc values[] = {kc_residues(&f->kc, 2, LIMBS, LIMBS, f->ids),
                                   kc_residues(&f->kc, 2, LIMBS - 1, LIMBS, f->ids)};
  const uint32_t places[] = {0, 1};
  const hx_op op = kc_call("ckks.rescale", places, 1, places + 1);
  const hx_region region = kc_region(&f->kc, values, places, 2, 1, &op, 1);
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  kc_must(hx_cuda_prepare(f->kc.device, &region, &plan, &f->rescale, &error), &error);
  assert_true(plan.scratch_device > 0);
  kc_must(hx_cuda_memory_ops.alloc(f->kc.device, HX_SPACE_DEVICE, plan.scratch_device, &f->scratch, &error), &error);
}

static void move(fixture_t *f, hx_buffer *to, hx_buffer *from) {
  hx_error error = kc_error();
  kc_must(hx_cuda_queue_ops.copy(f->kc.queue, (hx_span){to, 0}, (hx_span){from, 0}, f->bytes, &error), &error);
}

static void wait_for_all(fixture_t *f) {
  hx_error error = kc_error();
  kc_must(hx_cuda_queue_ops.sync(f->kc.queue, &error), &error);
}

// Residues of value `which`: any below every prime, another row each.
static void put(fixture_t *f, uint32_t which) {
  uint64_t *words = hx_cuda_memory_ops.address(f->pinned), random = which;
  for (uint64_t i = 0; i < f->bytes / 8; i++) {
    words[i] = draw(&random) >> 25;
  }
  move(f, f->memory[which], f->pinned);
  wait_for_all(f);
}

static uint64_t *get(fixture_t *f, uint32_t which) {
  move(f, f->pinned, f->memory[which]);
  wait_for_all(f);
  uint64_t *copy = malloc(f->bytes);
  assert_non_null(copy);
  memcpy(copy, hx_cuda_memory_ops.address(f->pinned), f->bytes);
  return copy;
}

static void open_fixture(fixture_t *f) {
  hx_error error = kc_error();
  *f = (fixture_t){.bytes = (uint64_t)2 * LIMBS * ROW * 8, .ids = {0, 1, 2, 3}};
  kc_open(&f->kc, 12, 64, 4, 1, 2, bits);
  kc_must(hx_cuda_memory_ops.alloc(f->kc.device, HX_SPACE_PINNED, f->bytes, &f->pinned, &error), &error);
  for (uint32_t i = 0; i < VALUES; i++) {
    kc_must(hx_cuda_memory_ops.alloc(f->kc.device, HX_SPACE_DEVICE, f->bytes, &f->memory[i], &error), &error);
    put(f, i);
  }
  prepare_rescale(f);
}

static void close_fixture(fixture_t *f) {
  hxs_destroy(f->rescale);
  hx_cuda_memory_ops.free(f->pinned);
  hx_cuda_memory_ops.free(f->scratch);
  for (uint32_t i = 0; i < VALUES; i++) {
    hx_cuda_memory_ops.free(f->memory[i]);
  }
  kc_close(&f->kc);
}

static void rescale(fixture_t *f, uint32_t from, uint32_t to) {
  hx_error error = kc_error();
  const hx_span spans[] = {{f->memory[from], 0}, {f->memory[to], 0}};
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = f->kc.queue,
                        .scratch_device = {f->scratch, 0},
                        .inputs = spans,
                        .outputs = spans + 1};
  kc_must(hx_cuda_execute(f->rescale, &call, &error), &error);
}

static void run_graph(fixture_t *f, hx_graph *graph) {
  hx_error error = kc_error();
  kc_must(hx_cuda_graph_ops.launch(graph, f->kc.queue, &error), &error);
  wait_for_all(f);
}

static void expect_same(fixture_t *f, uint32_t which, const uint64_t *expected, const char *what) {
  uint64_t *found = get(f, which);
  if (memcmp(found, expected, f->bytes) != 0) {
    fail_msg("%s differs", what);
  }
  free(found);
}

// Three calls that share nothing but the scratch memory they were given, which is not theirs in a graph of branches.
static void independent_calls_do_not_share_scratch_memory(void **state) {
  (void)state;
  fixture_t f;
  hx_error error = kc_error();
  hx_graph *graph = NULL;
  open_fixture(&f);
  uint64_t *expected[3];
  for (uint32_t i = 0; i < 3; i++) {
    rescale(&f, i, 3 + i);
    expected[i] = get(&f, 3 + i);
    put(&f, 3 + i);
  }
  kc_must(hx_cuda_graph_ops.capture_begin(f.kc.queue, &error), &error);
  for (uint32_t i = 0; i < 3; i++) {
    rescale(&f, i, 3 + i);
  }
  kc_must(hx_cuda_graph_ops.capture_end(f.kc.queue, &graph, &error), &error);
  assert_int_equal(graph->lanes, 3);
  for (uint32_t round = 0; round < 20; round++) {
    run_graph(&f, graph);
    for (uint32_t i = 0; i < 3; i++) {
      expect_same(&f, 3 + i, expected[i], "a branch");
      if (round == 0) put(&f, 3 + i);
    }
  }
  hx_cuda_graph_ops.destroy(graph);
  for (uint32_t i = 0; i < 3; i++) {
    free(expected[i]);
  }
  close_fixture(&f);
}

// Branches are joined where their results meet: a copy of one call's result, in place of the other's.
static void calls_wait_for_what_they_read_on_other_branches(void **state) {
  (void)state;
  fixture_t f;
  hx_error error = kc_error();
  hx_graph *graph = NULL;
  open_fixture(&f);
  rescale(&f, 0, 2);
  uint64_t *first = get(&f, 2);
  rescale(&f, 1, 3);
  rescale(&f, 3, 4);
  uint64_t *second = get(&f, 4);
  for (uint32_t i = 2; i < 6; i++) put(&f, i);
  kc_must(hx_cuda_graph_ops.capture_begin(f.kc.queue, &error), &error);
  rescale(&f, 0, 2);
  rescale(&f, 1, 3);
  rescale(&f, 3, 4);
  move(&f, f.memory[5], f.memory[2]);
  move(&f, f.memory[2], f.memory[4]);  // after the copy before it has read
  kc_must(hx_cuda_graph_ops.capture_end(f.kc.queue, &graph, &error), &error);
  assert_true(graph->lanes > 1);
  for (uint32_t round = 0; round < 5; round++) {
    for (uint32_t i = 2; i < 6; i++) put(&f, i);  // rows that no call writes
    run_graph(&f, graph);
    expect_same(&f, 5, first, "what was read before it was written again");
    expect_same(&f, 2, second, "what was written last");
  }
  hx_cuda_graph_ops.destroy(graph);
  free(first);
  free(second);
  close_fixture(&f);
}

// Two copies on branches; then the target of the first becomes the source of the second.
static void spans_that_meet_after_an_update_are_done_in_order(void **state) {
  (void)state;
  fixture_t f;
  hx_error error = kc_error();
  hx_graph *graph = NULL;
  open_fixture(&f);
  kc_must(hx_cuda_graph_ops.capture_begin(f.kc.queue, &error), &error);
  move(&f, f.memory[2], f.memory[0]);
  move(&f, f.memory[3], f.memory[1]);
  rescale(&f, 0, 4);
  kc_must(hx_cuda_graph_ops.capture_end(f.kc.queue, &graph, &error), &error);
  assert_int_equal(graph->lanes, 3);
  run_graph(&f, graph);
  uint64_t *source = get(&f, 0), *other = get(&f, 1), *result = get(&f, 4);
  expect_same(&f, 2, source, "the first copy");
  expect_same(&f, 3, other, "the second copy");
  const hx_span from = {f.memory[2], 0}, to = {f.memory[1], 0};
  kc_must(hx_cuda_graph_ops.update(graph, 1, &from, &to, &f.bytes, &error), &error);
  assert_int_equal(graph->lanes, 1);
  put(&f, 4);
  run_graph(&f, graph);
  expect_same(&f, 3, source, "the second copy, of what the first one made");
  expect_same(&f, 4, result, "the call beside them");
  // Moved apart again, it stays in line and right.
  kc_must(hx_cuda_graph_ops.update(graph, 1, &to, &from, &f.bytes, &error), &error);
  run_graph(&f, graph);
  expect_same(&f, 2, source, "the first copy, moved back");
  hx_cuda_graph_ops.destroy(graph);
  free(source);
  free(other);
  free(result);
  close_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(independent_work_has_lanes_of_its_own),
                                     cmocka_unit_test(work_waits_where_memory_is_written_again),
                                     cmocka_unit_test(parts_run_at_once_in_one_scratch_memory),
                                     cmocka_unit_test(random_work_keeps_the_order_of_whatever_shares_memory),
                                     cmocka_unit_test(long_work_is_one_lane),
                                     cmocka_unit_test(independent_calls_do_not_share_scratch_memory),
                                     cmocka_unit_test(calls_wait_for_what_they_read_on_other_branches),
                                     cmocka_unit_test(spans_that_meet_after_an_update_are_done_in_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
