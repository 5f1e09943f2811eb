// SPDX-License-Identifier: Apache-2.0
// The cuda plugin's graph role: recorded, launched again, moved to other memory. Runs on a device, and without one over
// a driver that runs the kernels on the host (fixtures/cuda).
#include "device.h"
#include "graph.h"
#include "kernelcheck.h"
#include "prepare.h"

#define LIMBS 4u

static const uint32_t bits[] = {50, 40, 40, 50, 50};

typedef struct fixture {
  kc_t kc;
  uint64_t bytes;
  hx_buffer *pinned, *memory[4];  // 0, 1: operands; 2, 3: results
  hx_tensor_desc desc;
  uint32_t ids[LIMBS];
  hx_prepared *prepared;
  hx_span scratch;
} fixture_t;

// Copies to or from device memory `which`, at once.
static void copy(fixture_t *f, uint32_t which, bool to_device) {
  hx_error error = kc_error();
  const hx_span host = {f->pinned, 0}, device = {f->memory[which], 0};
  kc_must(hx_cuda_queue_ops.copy(f->kc.queue, to_device ? device : host, to_device ? host : device, f->bytes, &error),
          &error);
  kc_must(hx_cuda_queue_ops.sync(f->kc.queue, &error), &error);
}

static void put(fixture_t *f, uint32_t which, uint64_t value) {
  uint64_t *words = hx_cuda_memory_ops.address(f->pinned);
  for (uint64_t i = 0; i < f->bytes / 8; i++) {
    words[i] = value + i % 1000;
  }
  copy(f, which, true);
}

// The first word and one in the last row are value and value + place.
static void expect(fixture_t *f, uint32_t which, uint64_t (*expected)(uint64_t), const char *what) {
  copy(f, which, false);
  const uint64_t *words = hx_cuda_memory_ops.address(f->pinned);
  for (uint64_t i = 0; i < f->bytes / 8; i += 977) {
    if (words[i] != expected(i)) {
      fail_msg("%s: word %llu is %llu, must be %llu", what, (unsigned long long)i, (unsigned long long)words[i],
               (unsigned long long)expected(i));
    }
  }
}

static void open_fixture(fixture_t *f) {
  hx_error error = kc_error();
  *f = (fixture_t){.bytes = (uint64_t)LIMBS * 4096 * 8, .ids = {0, 1, 2, 3}};
  kc_open(&f->kc, 12, 64, 4, 1, 2, bits);
  kc_must(hx_cuda_memory_ops.alloc(f->kc.device, HX_SPACE_PINNED, f->bytes, &f->pinned, &error), &error);
  for (uint32_t i = 0; i < 4; i++) {
    kc_must(hx_cuda_memory_ops.alloc(f->kc.device, HX_SPACE_DEVICE, f->bytes, &f->memory[i], &error), &error);
  }
  f->desc = kc_residues(&f->kc, 1, LIMBS, LIMBS, f->ids);
  const hx_tensor_desc values[] = {f->desc, f->desc, f->desc};
  const uint32_t places[] = {0, 1, 2};
  const hx_op op = kc_call("rns.add", places, 2, places + 2);
  const hx_region region = kc_region(&f->kc, values, places, 3, 2, &op, 1);
  int32_t alias[] = {-1};
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = alias};
  kc_must(hx_cuda_prepare(f->kc.device, &region, &plan, &f->prepared, &error), &error);
  assert_int_equal(plan.scratch_device, 0);
}

static void close_fixture(fixture_t *f) {
  hxs_destroy(f->prepared);
  hx_cuda_memory_ops.free(f->pinned);
  for (uint32_t i = 0; i < 4; i++) {
    hx_cuda_memory_ops.free(f->memory[i]);
  }
  kc_close(&f->kc);
}

static void execute(fixture_t *f, uint32_t a, uint32_t b, uint32_t result) {
  hx_error error = kc_error();
  const hx_span spans[] = {{f->memory[a], 0}, {f->memory[b], 0}, {f->memory[result], 0}};
  const hx_call call = {
      .struct_size = HX_END_OF(hx_call, outputs), .queue = f->kc.queue, .inputs = spans, .outputs = spans + 2};
  kc_must(hx_cuda_execute(f->prepared, &call, &error), &error);
}

static uint64_t sum_of_first(uint64_t i) { return 2000 + 2 * (i % 1000); }
static uint64_t sum_of_second(uint64_t i) { return 5000 + 2 * (i % 1000); }
static uint64_t filled(uint64_t i) {
  (void)i;
  return 0x0707070707070707u;
}

// What is recorded is not done; each launch does it, with what the memory then holds.
static void recorded_work_is_done_by_launches_alone(void **state) {
  (void)state;
  fixture_t f;
  hx_error error = kc_error();
  hx_graph *graph = NULL;
  open_fixture(&f);
  put(&f, 0, 1000);
  put(&f, 1, 1000);
  put(&f, 2, 7);
  kc_must(hx_cuda_graph_ops.capture_begin(f.kc.queue, &error), &error);
  execute(&f, 0, 1, 2);
  kc_must(hx_cuda_queue_ops.copy(f.kc.queue, (hx_span){f.memory[3], 0}, (hx_span){f.memory[2], 0}, f.bytes, &error),
          &error);
  kc_must(hx_cuda_graph_ops.capture_end(f.kc.queue, &graph, &error), &error);
  copy(&f, 2, false);
  assert_int_equal(((uint64_t *)hx_cuda_memory_ops.address(f.pinned))[0], 7);
  kc_must(hx_cuda_graph_ops.launch(graph, f.kc.queue, &error), &error);
  expect(&f, 2, sum_of_first, "the recorded sum");
  expect(&f, 3, sum_of_first, "its recorded copy");
  put(&f, 1, 4000);
  kc_must(hx_cuda_graph_ops.launch(graph, f.kc.queue, &error), &error);
  expect(&f, 3, sum_of_second, "the second launch");
  hx_cuda_graph_ops.destroy(graph);
  close_fixture(&f);
}

// Operands of a launch change places, then a copy's target moves too; all ranges at once.
static void moved_spans_are_followed_by_the_next_launch(void **state) {
  (void)state;
  fixture_t f;
  hx_error error = kc_error();
  hx_graph *graph = NULL;
  open_fixture(&f);
  put(&f, 0, 1000);
  put(&f, 1, 4000);
  kc_must(hx_cuda_graph_ops.capture_begin(f.kc.queue, &error), &error);
  execute(&f, 0, 0, 2);
  kc_must(hx_cuda_graph_ops.capture_end(f.kc.queue, &graph, &error), &error);
  kc_must(hx_cuda_graph_ops.launch(graph, f.kc.queue, &error), &error);
  expect(&f, 2, sum_of_first, "before anything moves");
  const hx_span from[] = {{f.memory[0], 0}, {f.memory[2], 0}}, to[] = {{f.memory[2], 0}, {f.memory[3], 0}};
  const uint64_t bytes[] = {f.bytes, f.bytes}, more[] = {f.bytes + 1, f.bytes};
  put(&f, 2, 1000);
  put(&f, 3, 3);
  kc_must(hx_cuda_graph_ops.update(graph, 2, from, to, bytes, &error), &error);
  kc_must(hx_cuda_graph_ops.launch(graph, f.kc.queue, &error), &error);
  expect(&f, 3, sum_of_first, "after both moved");
  assert_int_equal(hx_cuda_graph_ops.update(graph, 2, from, to, more, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "what a span moves to"));
  hx_cuda_graph_ops.destroy(graph);
  // A copy and a fill: the list is recorded anew.
  kc_must(hx_cuda_graph_ops.capture_begin(f.kc.queue, &error), &error);
  kc_must(hx_cuda_queue_ops.fill(f.kc.queue, (hx_span){f.memory[0], 0}, 7, f.bytes, &error), &error);
  kc_must(hx_cuda_queue_ops.copy(f.kc.queue, (hx_span){f.memory[2], 0}, (hx_span){f.memory[0], 0}, f.bytes, &error),
          &error);
  kc_must(hx_cuda_graph_ops.capture_end(f.kc.queue, &graph, &error), &error);
  const hx_span target = {f.memory[2], 0}, other = {f.memory[1], 0};
  kc_must(hx_cuda_graph_ops.update(graph, 1, &target, &other, bytes, &error), &error);
  kc_must(hx_cuda_graph_ops.launch(graph, f.kc.queue, &error), &error);
  expect(&f, 1, filled, "a copy that moved");
  hx_cuda_graph_ops.destroy(graph);
  close_fixture(&f);
}

static void queue_that_records_refuses_what_is_not_recorded(void **state) {
  (void)state;
  fixture_t f;
  hx_error error = kc_error();
  hx_graph *graph = NULL;
  hx_event *event = NULL;
  open_fixture(&f);
  assert_int_equal(hx_cuda_graph_ops.capture_end(f.kc.queue, &graph, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "is not recording"));
  kc_must(hx_cuda_graph_ops.capture_begin(f.kc.queue, &error), &error);
  assert_int_equal(hx_cuda_graph_ops.capture_begin(f.kc.queue, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "recording already"));
  assert_int_equal(hx_cuda_queue_ops.sync(f.kc.queue, &error), HX_INVALID);
  assert_int_equal(hx_cuda_queue_ops.record(f.kc.queue, &event, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "execute, copy and fill are recorded"));
  kc_must(hx_cuda_queue_ops.reset(f.kc.queue, &error), &error);  // gives the recording up
  put(&f, 0, 1000);
  put(&f, 1, 1000);
  execute(&f, 0, 1, 2);
  kc_must(hx_cuda_queue_ops.sync(f.kc.queue, &error), &error);
  expect(&f, 2, sum_of_first, "after a recording that was given up");
  close_fixture(&f);
}

static void place_moves_within_its_range_alone(void **state) {
  (void)state;
  const hx_buffer a = {.address = 4096, .bytes = 4096}, b = {.address = 65536, .bytes = 4096};
  const hx_span from = {(hx_buffer *)(uintptr_t)&a, 256}, to = {(hx_buffer *)(uintptr_t)&b, 1024};
  const uint64_t bytes = 512;
  hx_cuda_place_t inside = {&a, 300, 4396, 0, false}, before = {&a, 255, 4351, 0, false},
                  behind = {&a, 768, 4864, 0, false};
  assert_true(hx_cuda_place_move(&inside, 1, &from, &to, &bytes));
  assert_true(inside.buffer == &b && inside.offset == 1068 && inside.address == 66604);
  assert_false(hx_cuda_place_move(&before, 1, &from, &to, &bytes));
  assert_false(hx_cuda_place_move(&behind, 1, &from, &to, &bytes));
  assert_false(hx_cuda_place_move(&inside, 1, &from, &to, &bytes));
  hx_cuda_place_t same = {&a, 256, 4352, 0, false};  // another span at the same address: nothing to be done
  const hx_buffer again = {.address = 4096, .bytes = 4096};
  const hx_span twin = {(hx_buffer *)(uintptr_t)&again, 256};
  assert_false(hx_cuda_place_move(&same, 1, &from, &twin, &bytes));
  assert_ptr_equal(same.buffer, &again);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(recorded_work_is_done_by_launches_alone),
                                     cmocka_unit_test(moved_spans_are_followed_by_the_next_launch),
                                     cmocka_unit_test(queue_that_records_refuses_what_is_not_recorded),
                                     cmocka_unit_test(place_moves_within_its_range_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
