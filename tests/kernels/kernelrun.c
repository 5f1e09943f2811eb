// SPDX-License-Identifier: Apache-2.0
// Regions of one operation or a chain: prepared, run, compared.
#include "kernelcheck.h"

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif

// All implementations of a plugin may share their functions; an unknown operation is given to the first, to be refused.
static const hx_impl *impl_of(const char *name) {
  const kc_row_t *row = kc_row_of(name);
  return kc_plugin()->impls[row != NULL ? row->index : 0];
}

void kc_destroy(hx_prepared *prepared) { kc_plugin()->impls[0]->destroy(prepared); }

// ------------------------------------------------------------------ running

// Value ids: operands first, then results; an operand given twice has one id.
typedef struct region {
  hx_tensor_desc values[KC_TENSORS_MAX];
  void *data[KC_TENSORS_MAX];
  const kc_tensor_t *tensors[KC_TENSORS_MAX];
  uint32_t operands[KC_TENSORS_MAX], results[KC_TENSORS_MAX], inputs[KC_TENSORS_MAX], outputs[KC_TENSORS_MAX];
  uint32_t input_count, value_count;
  hx_op op;
  hx_region region;
} region_t;

static uint32_t add_value(region_t *r, const kc_tensor_t *t, bool result) {
  uint32_t id = 0;
  while (id < r->value_count && (result || r->tensors[id] != t)) {
    id++;
  }
  if (id == r->value_count) {
    r->tensors[id] = t;
    r->values[id] = t->desc;
    r->data[id] = t->base + t->offset;
    r->value_count++;
    if (!result) {
      r->inputs[r->input_count++] = id;
    }
  }
  return id;
}

static void make_region(const kc_t *kc, const kc_op_t *op, region_t *r) {
  memset(r, 0, sizeof *r);
  for (uint32_t i = 0; i < op->operand_count; i++) {
    r->operands[i] = add_value(r, op->operands[i], false);
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    r->results[i] = r->outputs[i] = add_value(r, op->results[i], true);
  }
  r->op = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                  .signature = 1,
                  .attr_count = op->attr_count,
                  .operand_count = op->operand_count,
                  .result_count = op->result_count,
                  .name = op->name,
                  .attrs = op->attrs,
                  .operands = r->operands,
                  .results = r->results};
  r->region = (hx_region){.struct_size = HX_END_OF(hx_region, variant),
                          .value_count = r->value_count,
                          .op_count = 1,
                          .input_count = r->input_count,
                          .output_count = op->result_count,
                          .ring = &kc->ring,
                          .tables = kc->tables,
                          .values = r->values,
                          .ops = &r->op,
                          .inputs = r->inputs,
                          .outputs = r->outputs,
                          .variant = kc->variant};
}

int32_t kc_prepare(kc_t *kc, const kc_op_t *op, hx_prepared **out, uint64_t *out_scratch, int32_t *out_alias,
                   hx_error *error) {
  region_t r;
  int32_t aliases[KC_TENSORS_MAX];
  make_region(kc, op, &r);
  memset(aliases, 0xff, sizeof aliases);
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = op->result_count, .may_alias = aliases};
  *error = (hx_error){.struct_size = HX_END_OF(hx_error, message)};
  const int32_t code = impl_of(op->name)->prepare(kc->device, &r.region, &plan, out, error);
  if (code == HX_OK) {
    *out_scratch = plan.scratch_device;
    assert_int_equal(plan.scratch_host, 0);
  }
  if (out_alias != NULL) {
    *out_alias = aliases[0];
  }
  for (uint32_t i = 1; i < op->result_count; i++) {
    assert_int_equal(aliases[i], -1);
  }
  return code;
}

// Copies between a tensor and device memory, through page-locked memory.
static void transfer(kc_t *kc, hx_buffer *buffer, uint8_t *base, uint64_t bytes, bool to_device) {
  const hx_memory_ops *memory = kc_plugin()->memory;
  const hx_queue_ops *queue = kc_plugin()->queue;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  if (bytes > kc->pinned_bytes) {  // drivers take long over page-locked memory: one piece serves all tensors
    if (kc->pinned != NULL) {
      memory->free(kc->pinned);
    }
    kc->pinned_bytes = 2 * bytes;
    if (memory->alloc(kc->device, HX_SPACE_PINNED, kc->pinned_bytes, &kc->pinned, &error) != HX_OK) {
      fail_msg("pinned memory: %s", error.message);
    }
  }
  hx_buffer *pinned = kc->pinned;
  const hx_span host = {pinned, 0}, device = {buffer, 0};
  if (to_device) {
    memcpy(memory->address(pinned), base, bytes);
  }
  const int32_t code = queue->copy(kc->queue, to_device ? device : host, to_device ? host : device, bytes, &error);
  if (code != HX_OK || queue->sync(kc->queue, &error) != HX_OK) {
    fail_msg("copy: %s", error.message);
  }
  if (!to_device) {
    memcpy(base, memory->address(pinned), bytes);
  }
}

// A tensor as the device has it: borrowed, or a copy.
static hx_span lend(kc_t *kc, const kc_tensor_t *t) {
  const hx_memory_ops *memory = kc_plugin()->memory;
  hx_span span = {NULL, t->offset};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  if (kc->direct) {
    assert_int_equal(memory->import_host(kc->device, t->base, t->bytes, &span.buffer, &error), HX_OK);
    return span;
  }
  if (memory->alloc(kc->device, HX_SPACE_DEVICE, t->bytes, &span.buffer, &error) != HX_OK) {
    fail_msg("device memory: %s", error.message);
  }
  transfer(kc, span.buffer, t->base, t->bytes, true);
  return span;
}

static void take_back(kc_t *kc, hx_span span, const kc_tensor_t *t) {
  if (!kc->direct) {
    transfer(kc, span.buffer, t->base, t->bytes, false);
  }
  kc_plugin()->memory->free(span.buffer);
}

// Under valgrind's memcheck every run is also a check of constant time: operands count as undefined while the plugin
// works, so that a branch or an address that depends on them is reported. Seeds are public. Elsewhere this does
// nothing.
static void mark(const kc_tensor_t *t, bool secret) {
#ifdef VALGRIND_MAKE_MEM_UNDEFINED
  if (secret && t->desc.dtype != HX_U8) {
    VALGRIND_MAKE_MEM_UNDEFINED(t->base, t->bytes);
  } else {
    VALGRIND_MAKE_MEM_DEFINED(t->base, t->bytes);
  }
#else
  (void)t;
  (void)secret;
#endif
}

int32_t kc_execute(kc_t *kc, const kc_op_t *op, hx_prepared *prepared, uint64_t scratch, int32_t in_place,
                   hx_error *error) {
  const hx_plugin *plugin = kc_plugin();
  region_t r;
  make_region(kc, op, &r);
  hx_span inputs[KC_TENSORS_MAX], outputs[KC_TENSORS_MAX], memory = {NULL, 0};
  for (uint32_t i = 0; i < r.input_count; i++) {
    inputs[i] = lend(kc, r.tensors[r.inputs[i]]);
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    outputs[i] = i == 0 && in_place >= 0 ? inputs[in_place] : lend(kc, op->results[i]);
  }
  *error = (hx_error){.struct_size = HX_END_OF(hx_error, message)};
  if (scratch > 0) {
    assert_int_equal(plugin->memory->alloc(kc->device, HX_SPACE_DEVICE, scratch, &memory.buffer, error), HX_OK);
  }
  if (scratch > 0 && !kc->direct) {  // elsewhere memcheck and the sanitizers see what was never written
    assert_int_equal(plugin->queue->fill(kc->queue, memory, KC_FILL, scratch, error), HX_OK);
  }
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = kc->queue,
                        .scratch_device = memory,
                        .inputs = inputs,
                        .outputs = outputs};
  for (uint32_t i = 0; i < r.input_count; i++) {
    mark(r.tensors[r.inputs[i]], true);
  }
  int32_t code = impl_of(op->name)->execute(prepared, &call, error);
  if (code == HX_OK) {
    code = plugin->queue->sync(kc->queue, error);
  }
  for (uint32_t i = 0; i < r.value_count; i++) {
    mark(r.tensors[i], false);
  }
  plugin->memory->free(memory.buffer);
  for (uint32_t i = 0; i < r.input_count; i++) {
    take_back(kc, inputs[i], r.tensors[r.inputs[i]]);
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    if (i > 0 || in_place < 0) {
      take_back(kc, outputs[i], op->results[i]);
    }
  }
  return code;
}

static void *copy_of(const void *memory, uint64_t bytes) {
  void *copy = aligned_alloc(KC_GUARD, bytes);
  assert_non_null(copy);
  memcpy(copy, memory, bytes);
  return copy;
}

static void expect_bytes(const kc_t *kc, const kc_op_t *op, const char *what, uint32_t index, const kc_tensor_t *t,
                         const uint8_t *expected) {
  for (uint64_t i = 0; memcmp(t->base, expected, t->bytes) != 0 && i < t->bytes; i++) {
    if (t->base[i] != expected[i]) {
      fail_msg("%s (log_n %u, word %u): %s %u differs at byte %llu of %llu", op->name, kc->ring.log_n, kc->ring.word,
               what, index, (unsigned long long)i, (unsigned long long)t->bytes);
    }
  }
}

// Output 0 on its operand, which is restored afterwards: the memory must come out as the reference's result.
static void check_in_place(kc_t *kc, const kc_op_t *op, hx_prepared *prepared, uint64_t scratch, int32_t alias,
                           const uint8_t *expected) {
  region_t r;
  hx_error error;
  make_region(kc, op, &r);
  kc_tensor_t *on = NULL;
  for (uint32_t i = 0; i < op->operand_count; i++) {
    on = op->operands[i] == r.tensors[r.inputs[alias]] ? op->operands[i] : on;
  }
  assert_non_null(on);
  assert_int_equal(on->bytes, op->results[0]->bytes);
  uint8_t *before = copy_of(on->base, on->bytes);
  assert_int_equal(kc_execute(kc, op, prepared, scratch, alias, &error), HX_OK);
  expect_bytes(kc, op, "in place, result", 0, on, expected);
  memcpy(on->base, before, on->bytes);
  free(before);
}

static void run_reference(kc_t *kc, const kc_op_t *op, uint8_t **expected) {
  region_t r;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  make_region(kc, op, &r);
  for (uint32_t i = 0; i < op->result_count; i++) {
    expected[i] = copy_of(op->results[i]->base, op->results[i]->bytes);
    r.data[r.results[i]] = expected[i] + op->results[i]->offset;
  }
  if (hx_reference_execute(kc->reference, &r.op, r.values, r.data, &error) != HX_OK) {
    fail_msg("reference of %s: %s", op->name, error.message);
  }
}

bool kc_check(kc_t *kc, const kc_op_t *op) {
  uint8_t *expected[KC_TENSORS_MAX], *before[KC_TENSORS_MAX];
  hx_prepared *prepared = NULL;
  uint64_t scratch = 0;
  int32_t alias = -1;
  hx_error error;
  if (kc_prepare(kc, op, &prepared, &scratch, &alias, &error) != HX_OK) {
    fail_msg("%s: prepare: %s", op->name, error.message);
  }
  for (uint32_t i = 0; i < op->operand_count; i++) {
    before[i] = copy_of(op->operands[i]->base, op->operands[i]->bytes);
  }
  run_reference(kc, op, expected);
  if (kc_execute(kc, op, prepared, scratch, -1, &error) != HX_OK) {
    fail_msg("%s: execute: %s", op->name, error.message);
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    expect_bytes(kc, op, "result", i, op->results[i], expected[i]);
  }
  for (uint32_t i = 0; i < op->operand_count; i++) {
    expect_bytes(kc, op, "after the call, operand", i, op->operands[i], before[i]);
  }
  if (alias >= 0) {
    check_in_place(kc, op, prepared, scratch, alias, expected[0]);
  }
  for (uint32_t i = 0; i < op->operand_count; i++) {
    free(before[i]);
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    free(expected[i]);
  }
  kc_destroy(prepared);
  return alias >= 0;
}

void kc_refuses(kc_t *kc, const kc_op_t *op, int32_t code, const char *part) {
  region_t r;
  hx_prepared *prepared = NULL;
  uint64_t scratch = 0;
  int32_t alias = -1;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  make_region(kc, op, &r);
  assert_int_not_equal(hx_reference_execute(kc->reference, &r.op, r.values, r.data, &error), HX_OK);
  const int32_t found = kc_prepare(kc, op, &prepared, &scratch, &alias, &error);
  if (found != code || strstr(error.message, op->name) == NULL || strstr(error.message, part) == NULL) {
    fail_msg("%s: code %d, message '%s'; expected code %d and '%s'", op->name, found, error.message, code, part);
  }
  assert_null(prepared);
  assert_int_equal(alias, -1);
  assert_int_equal(error.code, code);
  assert_int_equal(error.op, 0);
}

// ------------------------------------------------------------------ regions of several operations

#define LINKS_MAX 64u

// The region of some operations: values in order of first use; inputs are those that no operation makes, outputs the
// results of the operations whose bits are set.
static void make_chain(const kc_t *kc, const kc_op_t *ops, uint32_t count, uint64_t leave, region_t *r, hx_op *out) {
  uint32_t at = 0, left = 0;
  memset(r, 0, sizeof *r);
  for (uint32_t i = 0; i < count; i++) {
    out[i] = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                     .signature = 1,
                     .attr_count = ops[i].attr_count,
                     .operand_count = ops[i].operand_count,
                     .result_count = 1,
                     .name = ops[i].name,
                     .attrs = ops[i].attrs,
                     .operands = r->operands + at,
                     .results = r->results + i};
    for (uint32_t k = 0; k < ops[i].operand_count; k++) {
      assert_true(at < KC_TENSORS_MAX);
      r->operands[at++] = add_value(r, ops[i].operands[k], false);
    }
    r->results[i] = add_value(r, ops[i].results[0], true);
    if ((leave >> i & 1) != 0) {
      r->outputs[left++] = r->results[i];
    }
  }
  r->region = (hx_region){.struct_size = HX_END_OF(hx_region, variant),
                          .value_count = r->value_count,
                          .op_count = count,
                          .input_count = r->input_count,
                          .output_count = left,
                          .ring = &kc->ring,
                          .tables = kc->tables,
                          .values = r->values,
                          .ops = out,
                          .inputs = r->inputs,
                          .outputs = r->outputs,
                          .variant = kc->variant};
}

// A region, its operations, and what the plugin answers when asked to prepare it.
typedef struct links {
  region_t region;
  hx_op ops[LINKS_MAX];
  hx_prepared *prepared;
  uint64_t scratch;
  int32_t aliases[LINKS_MAX];
} links_t;

static int32_t prepare_links(kc_t *kc, const kc_op_t *ops, uint32_t count, uint64_t leave, links_t *l,
                             hx_error *error) {
  assert_true(count <= LINKS_MAX);
  memset(l, 0, sizeof *l);
  memset(l->aliases, 0xff, sizeof l->aliases);
  make_chain(kc, ops, count, leave, &l->region, l->ops);
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns),
                  .alias_count = l->region.region.output_count,
                  .may_alias = l->aliases};
  *error = (hx_error){.struct_size = HX_END_OF(hx_error, message)};
  const int32_t code = impl_of("fusion.region")->prepare(kc->device, &l->region.region, &plan, &l->prepared, error);
  l->scratch = plan.scratch_device;
  return code;
}

// The outputs' tensors, in order, and copies of them that the reference has written.
static uint32_t run_links_reference(kc_t *kc, links_t *l, const kc_op_t *ops, uint32_t count, uint64_t leave,
                                    kc_tensor_t **out, uint8_t **expected) {
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  uint32_t left = 0;
  for (uint32_t i = 0; i < count; i++) {
    if ((leave >> i & 1) != 0) {
      out[left] = ops[i].results[0];
      expected[left] = copy_of(out[left]->base, out[left]->bytes);
      l->region.data[l->region.results[i]] = expected[left] + out[left]->offset;
      left++;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    if (hx_reference_execute(kc->reference, &l->ops[i], l->region.values, l->region.data, &error) != HX_OK) {
      fail_msg("reference of %s: %s", ops[i].name, error.message);
    }
  }
  return left;
}

bool kc_check_region(kc_t *kc, const kc_op_t *ops, uint32_t count, uint64_t leave) {
  links_t *l = calloc(1, sizeof *l);
  kc_tensor_t *out[LINKS_MAX], *inputs[KC_TENSORS_MAX];
  uint8_t *expected[LINKS_MAX];
  hx_error error;
  assert_non_null(l);
  if (prepare_links(kc, ops, count, leave, l, &error) != HX_OK) {
    fail_msg("prepare of a region: %s", error.message);
  }
  const uint32_t left = run_links_reference(kc, l, ops, count, leave, out, expected);
  // The prepared region takes the outer operands in the order of its inputs, as one operation would.
  for (uint32_t i = 0; i < l->region.input_count; i++) {
    inputs[i] = &kc->tensors[l->region.tensors[l->region.inputs[i]] - kc->tensors];
  }
  const kc_op_t whole = {"fusion.region", NULL, 0, inputs, l->region.input_count, out, left};
  if (kc_execute(kc, &whole, l->prepared, l->scratch, -1, &error) != HX_OK) {
    fail_msg("execute of a region: %s", error.message);
  }
  for (uint32_t i = 0; i < left; i++) {
    expect_bytes(kc, &whole, "result", i, out[i], expected[i]);
  }
  const bool aliased = l->aliases[0] >= 0;
  if (aliased) {
    check_in_place(kc, &whole, l->prepared, l->scratch, l->aliases[0], expected[0]);
  }
  for (uint32_t i = 0; i < left; i++) {
    free(expected[i]);
  }
  kc_destroy(l->prepared);
  free(l);
  return aliased;
}

void kc_check_chain(kc_t *kc, const kc_op_t *ops, uint32_t count) {
  kc_check_region(kc, ops, count, (uint64_t)1 << (count - 1));
}

void kc_refuses_chain(kc_t *kc, const kc_op_t *ops, uint32_t count, int32_t code, const char *part) {
  links_t *l = calloc(1, sizeof *l);
  hx_error error;
  assert_non_null(l);
  const int32_t found = prepare_links(kc, ops, count, (uint64_t)1 << (count - 1), l, &error);
  if (found != code || strstr(error.message, part) == NULL) {
    fail_msg("code %d, message \"%s\"; expected code %d and \"%s\"", found, error.message, code, part);
  }
  assert_null(l->prepared);
  assert_int_equal(l->aliases[0], -1);
  free(l);
}
