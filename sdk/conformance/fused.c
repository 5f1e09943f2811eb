// SPDX-License-Identifier: Apache-2.0
// Regions of several operations, for plugins that declare them: (a * b) + c as one call. A plugin may answer that it
// does not fuse these (HX_UNSUPPORTED); what it does prepare is compared bit for bit.
#include <stdlib.h>
#include <string.h>

#include "sdk/conformance/suite.h"

static const char *const kinds[] = {"rns.add", "rns.sub"};

typedef struct fused {
  hx_tensor_desc values[5];  // a, b, c, the product, the result
  void *data[5];
  hx_op ops[2];
  hx_region region;
} fused_t;

static const uint32_t operands[2][2] = {{0, 1}, {3, 2}}, results[2] = {3, 4}, inputs[3] = {0, 1, 2}, outputs[1] = {4};

static void describe(fused_t *f, const ring_t *ring, const char *second, tensor_t *const *tensors) {
  memset(f, 0, sizeof *f);
  for (size_t i = 0; i < 5; ++i) {
    f->values[i] = tensors[i]->desc;
    f->data[i] = tensors[i]->base + tensors[i]->offset;
  }
  for (size_t i = 0; i < 2; ++i) {
    f->ops[i] = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                        .signature = 1,
                        .operand_count = 2,
                        .result_count = 1,
                        .name = i == 0 ? "rns.mul" : second,
                        .operands = operands[i],
                        .results = &results[i]};
  }
  f->region = (hx_region){.struct_size = HX_END_OF(hx_region, variant),
                          .value_count = 5,
                          .op_count = 2,
                          .input_count = 3,
                          .output_count = 1,
                          .ring = &ring->ring,
                          .tables = ring->tables,
                          .values = f->values,
                          .ops = f->ops,
                          .inputs = inputs,
                          .outputs = outputs};
}

// Runs the prepared region on memory of the device: the plan's scratch, three inputs, one output.
static int32_t execute(suite_t *suite, const hx_impl *impl, hx_prepared *prepared, const hx_plan *plan,
                       tensor_t *const *tensors, uint8_t *found, hx_error *error) {
  const hx_memory_ops *ops = suite->table->memory;
  const uint64_t sizes[6] = {tensors[0]->bytes, tensors[1]->bytes,  tensors[2]->bytes,
                             tensors[4]->bytes, plan->scratch_host, plan->scratch_device};
  hx_span spans[6] = {{NULL, 0}};
  int32_t code = HX_OK;
  for (size_t i = 0; i < 6 && code == HX_OK; ++i) {
    if (sizes[i] == 0) continue;
    code = ops->alloc(suite->device, i == 4 ? HX_SPACE_PINNED : HX_SPACE_DEVICE, sizes[i], &spans[i].buffer, error);
    if (code != HX_OK || i > 3) continue;
    const tensor_t *t = tensors[i == 3 ? 4 : i];
    code = suite_move(suite, suite->queue, spans[i].buffer, t->base, t->bytes, true, error);
    spans[i].offset = t->offset;
  }
  if (code == HX_OK) {
    const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                          .queue = suite->queue,
                          .scratch_host = spans[4],
                          .scratch_device = spans[5],
                          .inputs = spans,
                          .outputs = &spans[3]};
    code = impl->execute(prepared, &call, error);
    if (code == HX_OK) code = suite->table->queue->sync(suite->queue, error);
    if (code == HX_OK) code = suite_move(suite, suite->queue, spans[3].buffer, found, tensors[4]->bytes, false, error);
  }
  for (size_t i = 0; i < 6; ++i) {
    if (spans[i].buffer != NULL) ops->free(spans[i].buffer);
  }
  return code;
}

static bool reference(suite_t *suite, const ring_t *ring, const fused_t *f) {
  hx_error error = error_init();
  for (size_t i = 0; i < 2; ++i) {
    if (hx_reference_execute(ring->reference, &f->ops[i], f->values, f->data, &error) != HX_OK)
      return case_fail(suite, "the reference refuses %s: %s", f->ops[i].name, error.message);
  }
  return true;
}

static void run_kind(suite_t *suite, const hx_impl *impl, const ring_t *ring, const char *second) {
  const shape_t shape = {.components = 2, .limbs = 3, .domain = HX_NTT, .repr = HX_STANDARD};
  tensor_t *tensors[5];
  for (size_t i = 0; i < 5; ++i) tensors[i] = suite_tensor(suite, ring, &shape, FILL_EDGES);
  fused_t f;
  describe(&f, ring, second, tensors);
  int32_t alias[1] = {-1};
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = alias};
  hx_prepared *prepared = NULL;
  hx_error error = error_init();
  int32_t code = impl->prepare(suite->device, &f.region, &plan, &prepared, &error);
  if (code == HX_UNSUPPORTED) {
    case_expect(suite, prepared == NULL, "UNSUPPORTED, and yet something was prepared");
    return;
  }
  if (!case_expect(suite, code == HX_OK, "prepare of rns.mul and %s: %s: %s", second, result_word(code), error.message))
    return;
  uint8_t *found = suite_alloc(tensors[4]->bytes);
  code = execute(suite, impl, prepared, &plan, tensors, found, &error);
  if (case_expect(suite, code == HX_OK, "execute: %s: %s", result_word(code), error.message) &&
      reference(suite, ring, &f)) {
    ++suite->results->operation_runs;
    case_expect(suite, memcmp(found, tensors[4]->base, tensors[4]->bytes) == 0,
                "rns.mul and %s as one region differ from the two by themselves", second);
  }
  free(found);
  impl->destroy(prepared);
}

void run_fused(suite_t *suite) {
  for (size_t i = 0; i < suite->loaded->operation_count; ++i) {
    const hx_manifest_operation_t *row = &suite->loaded->operations[i];
    const hx_impl *impl = find_impl(suite, row);
    if (strcmp(row->type, "fusion.region") != 0 || impl == NULL || !operation_wanted(suite, row)) continue;
    for (size_t k = 0; k < HX_COUNT_OF(kinds); ++k) {
      case_begin(suite, "fusion.region", "%s, rns.mul and %s", row->implementation, kinds[k]);
      const ring_t *ring =
          suite_ring(suite, row->log_n_min < 6 ? 6 : row->log_n_min, (row->dtypes >> HX_U64 & 1) != 0 ? 64 : 32,
                     row->prime_bits_min, row->prime_bits_max);
      if (ring != NULL) run_kind(suite, impl, ring, kinds[k]);
      case_end(suite);
    }
  }
}
