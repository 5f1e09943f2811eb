// SPDX-License-Identifier: Apache-2.0
// Tensors in host memory and calls of hx_reference_execute, for the tests of whole operations.
#ifndef HELIOX_TESTS_KERNELS_TEST_REFERENCE_CALL_H
#define HELIOX_TESTS_KERNELS_TEST_REFERENCE_CALL_H

#include <stdio.h>

#include "tests/kernels/test_reference.h"

#define TENSOR_AXES_MAX 3
#define GUARD UINT64_C(0x5a5a5a5a5a5a5a5a)

typedef struct {
  hx_tensor_desc desc;
  uint64_t batch_shape[TENSOR_AXES_MAX], batch_strides[TENSOR_AXES_MAX];
  uint32_t ids[TEST_PRIMES_MAX];
  uint64_t words;  // of memory, before the guard
  uint64_t *memory;
} tensor;

// The words are filled with the guard pattern, and one more follows them; tensor_free checks that it is whole.
static inline void tensor_memory(tensor *x, uint64_t words) {
  x->words = words;
  x->memory = row_make(words + 1);
  for (uint64_t i = 0; i <= words; ++i) x->memory[i] = GUARD;
}

// Dense [rank axes][digits][components][limbs][n], 64-bit words.
static inline void tensor_shape(tensor *x, const test_ring *t, uint32_t rank, const uint64_t *shape, uint32_t digits,
                                uint32_t components, uint32_t limbs, const uint32_t *ids, uint32_t domain) {
  memset(x, 0, sizeof *x);
  memcpy(x->ids, ids, limbs * sizeof *ids);
  uint64_t stride = (uint64_t)t->n * limbs * components * (digits == 0 ? 1 : digits);
  for (uint32_t axis = rank; axis-- > 0; stride *= shape[axis]) {
    x->batch_shape[axis] = shape[axis];
    x->batch_strides[axis] = stride;
  }
  x->desc = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                             .dtype = HX_U64,
                             .log_n = t->desc.log_n,
                             .batch_rank = rank,
                             .digits = digits,
                             .components = components,
                             .limbs = limbs,
                             .domain = domain,
                             .basis = HX_BASIS_Q,
                             .repr = HX_STANDARD,
                             .batch_shape = x->batch_shape,
                             .batch_strides = x->batch_strides,
                             .digit_stride = (uint64_t)t->n * limbs * components,
                             .component_stride = (uint64_t)t->n * limbs,
                             .limb_stride = t->n,
                             .prime_ids = x->ids};
  tensor_memory(x, stride);
}

static inline void tensor_make(tensor *x, const test_ring *t, uint32_t components, uint32_t limbs, const uint32_t *ids,
                               uint32_t domain) {
  tensor_shape(x, t, 0, NULL, 0, components, limbs, ids, domain);
}

// Every residue at random, with edges.
static inline void tensor_fill(tensor *x, const test_ring *t, uint64_t *seed) {
  for (uint64_t row = 0; row < x->words / t->n; ++row)
    fill_edges(x->memory + row * t->n, t->n, t->primes[x->ids[row % x->desc.limbs]], seed);
}

static inline uint64_t *tensor_row(const tensor *x, uint64_t item, uint32_t component, uint32_t limb) {
  const uint64_t items = x->desc.batch_rank == 0 ? 0 : item * x->batch_strides[x->desc.batch_rank - 1];
  return x->memory + items + component * x->desc.component_stride + limb * x->desc.limb_stride;
}

static inline uint64_t *key_row(const tensor *x, uint32_t digit, uint32_t component, uint32_t limb) {
  return x->memory + digit * x->desc.digit_stride + component * x->desc.component_stride + limb * x->desc.limb_stride;
}

static inline void tensor_free(tensor *x) {
  assert_true(x->memory[x->words] == GUARD);
  free(x->memory);
}

#define ATTR_I64(name_, ...)                                                                                           \
  (hx_attr) {                                                                                                          \
    HX_END_OF(hx_attr, data), HX_ATTR_I64, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), 0, name_, (int64_t[]) { \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
  }
#define ATTR_U64(name_, count_, data_) \
  (hx_attr) { HX_END_OF(hx_attr, data), HX_ATTR_U64, count_, 0, name_, data_ }
#define ATTR_TEXT(name_, text_) \
  (hx_attr) { HX_END_OF(hx_attr, data), HX_ATTR_TEXT, (uint32_t)strlen(text_), 0, name_, text_ }
#define ATTRS(...) \
  (sizeof((hx_attr[]){__VA_ARGS__}) / sizeof(hx_attr)), (hx_attr[]) { __VA_ARGS__ }
#define NO_ATTRS 0, NULL
#define VALUES(...) \
  (tensor *[]) { __VA_ARGS__ }

#define CALL_VALUES_MAX 24

// values: the operands, then the results.
static inline int32_t call(const test_ring *t, hx_error *error, const char *name, uint32_t operands, uint32_t results,
                           tensor *const *values, size_t attr_count, const hx_attr *attrs) {
  hx_tensor_desc table[CALL_VALUES_MAX];
  void *data[CALL_VALUES_MAX];
  uint32_t ids[CALL_VALUES_MAX];
  assert_true(operands + results <= CALL_VALUES_MAX);
  for (uint32_t i = 0; i < operands + results; ++i) {
    table[i] = values[i]->desc;
    data[i] = values[i]->memory;
    ids[i] = i;
  }
  const hx_op op = {.struct_size = HX_END_OF(hx_op, resources),
                    .signature = 1,
                    .attr_count = (uint32_t)attr_count,
                    .operand_count = operands,
                    .result_count = results,
                    .name = name,
                    .attrs = attrs,
                    .operands = ids,
                    .results = ids + operands};
  return hx_reference_execute(t->ring, &op, table, data, error);
}

static inline void run(const test_ring *t, const char *name, uint32_t operands, uint32_t results, tensor *const *values,
                       size_t attr_count, const hx_attr *attrs) {
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  if (call(t, &error, name, operands, results, values, attr_count, attrs) != HX_OK) fail_msg("%s", error.message);
}

// The call is refused with this code, words of the message, and untouched results.
static inline void refuse(const test_ring *t, int32_t code, const char *words, const char *name, uint32_t operands,
                          uint32_t results, tensor *const *values, size_t attr_count, const hx_attr *attrs) {
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  uint64_t *before[CALL_VALUES_MAX];
  for (uint32_t i = 0; i < operands + results; ++i) {
    before[i] = row_make(values[i]->words + 1);
    memcpy(before[i], values[i]->memory, (values[i]->words + 1) * sizeof(uint64_t));
  }
  assert_int_equal(call(t, &error, name, operands, results, values, attr_count, attrs), code);
  assert_int_equal(error.code, code);
  if (strstr(error.message, words) == NULL || strncmp(error.message, name, strlen(name)) != 0)
    fail_msg("\"%s\" lacks \"%s\" or the operation", error.message, words);
  for (uint32_t i = 0; i < operands + results; ++i) {
    assert_rows_equal(values[i]->memory, before[i], values[i]->words + 1);
    free(before[i]);
  }
  assert_int_equal(call(t, NULL, name, operands, results, values, attr_count, attrs), code);
}

#endif
