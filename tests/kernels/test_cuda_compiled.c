// SPDX-License-Identifier: Apache-2.0
// Compiled regions of the cuda plugin: what they share, what is refused, graphs. Runs as test_cuda_regions does.
#include "graph.h"
#include "prepare.h"
#include "regioncheck.h"

static const uint32_t narrow[] = {50, 40, 49, 50};

// x + y, then times z: on values of one component, all alike.
typedef struct pair {
  kc_t kc;
  hx_tensor_desc values[5];
  uint32_t ids[5], row_ids[LIMBS];
  hx_op ops[2];
  hx_region region;
  uint64_t bytes;
} pair_t;

// The one pair, as of no test: a test that is skipped gives nothing back.
static pair_t *cleared(void) {
  static pair_t pair;
  memset(&pair, 0, sizeof pair);
  return &pair;
}

static void describe(pair_t *p) {
  static const uint32_t operands[] = {0, 1, 3, 2};
  const uint64_t n = (uint64_t)1 << p->kc.ring.log_n;
  p->bytes = LIMBS * n * 8;
  for (uint32_t i = 0; i < 5; i++) {
    p->ids[i] = i;
    p->values[i] = kc_residues(&p->kc, 1, LIMBS, LIMBS, p->row_ids);
  }
  for (uint32_t i = 0; i < LIMBS; i++) p->row_ids[i] = i;
  for (uint32_t i = 0; i < 2; i++) {
    p->ops[i] = kc_call(i == 0 ? "rns.add" : "rns.mul", operands + 2 * i, 2, p->ids + 3 + i);
  }
  p->region = kc_region(&p->kc, p->values, p->ids, 5, 3, p->ops, 2);
}

static int32_t prepare(pair_t *p, hx_prepared **out, hx_error *error) {
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  *error = (hx_error){.struct_size = HX_END_OF(hx_error, message)};
  return hx_cuda_prepare(p->kc.device, &p->region, &plan, out, error);
}

static uint32_t loaded(const hx_device *device) {
  uint32_t count = 0;
  for (const hx_cuda_program_t *at = device->programs.first; at != NULL; at = at->next) count++;
  return count;
}

static void regions_of_the_same_operations_share_a_kernel(void **state) {
  (void)state;
  pair_t *p = cleared();
  hx_prepared *prepared[3];
  hx_error error;
  open_ring(&p->kc, 4, 64, narrow, "real");
  describe(p);
  for (uint32_t i = 0; i < 3; i++) {
    if (i == 1) p->values[0].limb_stride = 32;  // another layout
    p->region.variant = i == 2 ? "integer" : "real";
    if (prepare(p, &prepared[i], &error) != HX_OK) fail_msg("%s", error.message);
    assert_int_equal(loaded(p->kc.device), i < 2 ? 1 : 2);
  }
  assert_int_equal(p->kc.device->programs.first->next->users, 2);
  for (uint32_t i = 0; i < 3; i++) kc_destroy(prepared[i]);
  assert_int_equal(loaded(p->kc.device), 2);  // for the next ones
  assert_int_equal(p->kc.device->programs.first->users, 0);
  kc_close(&p->kc);
}

static void regions_that_lack_lists_are_refused(void **state) {
  (void)state;
  pair_t *p = cleared();
  hx_prepared *prepared = NULL;
  hx_error error;
  open_ring(&p->kc, 4, 64, narrow, NULL);
  describe(p);
  const hx_region whole = p->region;
  static const uint32_t beyond[] = {0, 1, 9}, twice[] = {3, 3}, inner[] = {1};
  for (uint32_t i = 0; i < 6; i++) {
    p->region = whole;
    if (i == 0) p->region.inputs = NULL;
    if (i == 1) p->region.outputs = NULL;
    if (i == 2) p->region.inputs = beyond;
    if (i == 3) p->region.outputs = inner;  // an input
    if (i == 4) p->region.input_count = 2;  // z is nobody's
    if (i == 5) p->ops[1].results = twice;  // made before
    if (i == 1) p->region.output_count = 0;
    int32_t alias = -1;
    hx_plan plan = {
        .struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = p->region.output_count, .may_alias = &alias};
    error = (hx_error){.struct_size = HX_END_OF(hx_error, message)};
    if (hx_cuda_prepare(p->kc.device, &p->region, &plan, &prepared, &error) != HX_INVALID) {
      fail_msg("case %u: %s", i, error.message);
    }
    assert_null(prepared);
  }
  kc_close(&p->kc);
}

// A recorded region follows its operands and its result to other memory.
static void recorded_region_follows_its_memory(void **state) {
  (void)state;
  pair_t *p = cleared();
  hx_prepared *prepared = NULL;
  hx_buffer *memory[8], *pinned = NULL;
  hx_graph *graph = NULL;
  hx_error error;
  open_ring(&p->kc, 6, 64, narrow, NULL);
  describe(p);
  if (prepare(p, &prepared, &error) != HX_OK) fail_msg("%s", error.message);
  hx_queue *queue = p->kc.queue;
  assert_int_equal(hx_cuda_memory_ops.alloc(p->kc.device, HX_SPACE_PINNED, p->bytes, &pinned, &error), HX_OK);
  uint64_t *content = hx_cuda_memory_ops.address(pinned);
  for (uint32_t i = 0; i < 8; i++) {
    assert_int_equal(hx_cuda_memory_ops.alloc(p->kc.device, HX_SPACE_DEVICE, p->bytes, &memory[i], &error), HX_OK);
    for (uint64_t k = 0; k < p->bytes / 8; k++) content[k] = 10 * i + k;
    assert_int_equal(hx_cuda_queue_ops.copy(queue, (hx_span){memory[i], 0}, (hx_span){pinned, 0}, p->bytes, &error),
                     HX_OK);
    assert_int_equal(hx_cuda_queue_ops.sync(queue, &error), HX_OK);
  }
  const hx_span spans[8] = {{memory[0], 0}, {memory[1], 0}, {memory[2], 0}, {memory[3], 0},
                            {memory[4], 0}, {memory[5], 0}, {memory[6], 0}, {memory[7], 0}};
  const hx_call call = {
      .struct_size = HX_END_OF(hx_call, outputs), .queue = queue, .inputs = spans, .outputs = spans + 3};
  const uint64_t bytes[] = {p->bytes, p->bytes, p->bytes, p->bytes};
  assert_int_equal(hx_cuda_graph_ops.capture_begin(queue, &error), HX_OK);
  assert_int_equal(hx_cuda_execute(prepared, &call, &error), HX_OK);
  assert_int_equal(hx_cuda_graph_ops.capture_end(queue, &graph, &error), HX_OK);
  for (uint32_t turn = 0; turn < 2; turn++) {
    if (turn == 1) assert_int_equal(hx_cuda_graph_ops.update(graph, 4, spans, spans + 4, bytes, &error), HX_OK);
    assert_int_equal(hx_cuda_graph_ops.launch(graph, queue, &error), HX_OK);
    assert_int_equal(hx_cuda_queue_ops.copy(queue, (hx_span){pinned, 0}, spans[4 * turn + 3], p->bytes, &error), HX_OK);
    assert_int_equal(hx_cuda_queue_ops.sync(queue, &error), HX_OK);
    for (uint64_t k = 0; k < p->bytes / 8; k++) {
      const uint64_t x = 40 * turn + k, y = 40 * turn + 10 + k, z = 40 * turn + 20 + k;
      assert_int_equal(content[k], (x + y) * z);
    }
  }
  hx_cuda_graph_ops.destroy(graph);
  kc_destroy(prepared);
  hx_cuda_memory_ops.free(pinned);
  for (uint32_t i = 0; i < 8; i++) hx_cuda_memory_ops.free(memory[i]);
  kc_close(&p->kc);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regions_of_the_same_operations_share_a_kernel),
      cmocka_unit_test(regions_that_lack_lists_are_refused),
      cmocka_unit_test(recorded_region_follows_its_memory),
  };
  if (argc > 1) {
    cmocka_set_test_filter(argv[1]);
  }
  return cmocka_run_group_tests(tests, region_set_up, region_tear_down);
}
