// SPDX-License-Identifier: Apache-2.0
#include "kernelcheck.h"

#include "heliox/support/number.h"

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif

#define GUARD 64u  // bytes before and after a tensor
#define FILL 0xa5  // of guards and gaps

// ------------------------------------------------------------------ host

const char *kc_cpu_mask;
int32_t kc_cancel_after = -1;

static const char *host_option(void *self, const char *name) {
  (void)self;
  return strcmp(name, "cpu-mask") == 0 ? kc_cpu_mask : NULL;
}

static uint32_t host_threads(void *self) {
  (void)self;
  return 2;
}

static int32_t host_cancelled(void *self) {
  (void)self;
  if (kc_cancel_after < 0) {
    return 0;
  }
  return __atomic_fetch_sub(&kc_cancel_after, 1, __ATOMIC_RELAXED) <= 0;
}

const hx_host *kc_host(void) {
  static const hx_host host = {.struct_size = HX_END_OF(hx_host, run_region),
                               .abi_major = HX_ABI_MAJOR,
                               .minor_max = HX_ABI_MINOR,
                               .option = host_option,
                               .threads = host_threads,
                               .cancelled = host_cancelled};
  return &host;
}

// ------------------------------------------------------------------ rings

uint64_t kc_next(kc_t *kc) {  // splitmix64
  uint64_t z = kc->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static bool taken(const kc_t *kc, uint32_t count, uint64_t q) {
  for (uint32_t i = 0; i < count; i++) {
    if (kc->primes[i] == q) {
      return true;
    }
  }
  return false;
}

static uint64_t find_prime(const kc_t *kc, uint32_t id, uint32_t bits, uint32_t log_n) {
  const uint64_t step = (uint64_t)2 << log_n, low = (uint64_t)1 << (bits - 1), high = low * 2;
  const bool smallest = id % 2 == 1;
  for (uint64_t q = smallest ? low / step * step + 1 : (high - 1) / step * step + 1; q > step && q < high;
       q = smallest ? q + step : q - step) {
    if (q > low && hxs_is_prime(q) && !taken(kc, id, q)) {
      return q;
    }
  }
  fail_msg("no prime of %u bits for log_n %u", bits, log_n);
  return 0;
}

static uint64_t find_psi(uint64_t q, uint32_t log_n) {
  hxs_modulus m;
  hxs_modulus_init(&m, q, 64);
  return hxs_root_of_unity(&m, log_n);
}

void kc_open(kc_t *kc, uint32_t log_n, uint32_t word, uint32_t q_count, uint32_t p_count, uint32_t digit_run,
             const uint32_t *bits) {
  uint32_t ones[KC_PRIMES_MAX];
  for (uint32_t id = 0; id < q_count; id++) {
    ones[id] = 1;
  }
  kc_open_groups(kc, log_n, word, q_count, p_count, digit_run, bits, ones, q_count);
}

void kc_open_groups(kc_t *kc, uint32_t log_n, uint32_t word, uint32_t q_count, uint32_t p_count, uint32_t digit_run,
                    const uint32_t *bits, const uint32_t *groups, uint32_t group_count) {
  memset(kc, 0, sizeof *kc);
  kc->random = 1 + log_n;
  for (uint32_t id = 0; id < q_count + p_count; id++) {
    kc->primes[id] = find_prime(kc, id, bits[id], log_n);
    kc->psi[id] = find_psi(kc->primes[id], log_n);
  }
  memcpy(kc->groups, groups, group_count * sizeof *groups);
  kc->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                       .log_n = log_n,
                       .word = word,
                       .q_count = q_count,
                       .p_count = p_count,
                       .digit_run = digit_run,
                       .group_count = group_count,
                       .primes = kc->primes,
                       .psi = kc->psi,
                       .group_sizes = kc->groups};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  hxs_host_set(kc_host(), "cpu");
  assert_int_equal(hx_cpu_device_ops.open(0, &kc->device, &error), HX_OK);
  assert_int_equal(hx_cpu_queue_ops.create(kc->device, &kc->queue, &error), HX_OK);
  if (hx_cpu_device_ops.tables_create(kc->device, &kc->ring, &kc->tables, &error) != HX_OK) {
    fail_msg("tables: %s", error.message);
  }
  if (hx_ref_ring_create(&kc->ring, &kc->reference, &error) != HX_OK) {
    fail_msg("reference: %s", error.message);
  }
}

void kc_clear(kc_t *kc) {
  while (kc->tensor_count > 0) {
    free(kc->tensors[--kc->tensor_count].base);
  }
}

void kc_close(kc_t *kc) {
  kc_clear(kc);
  hx_ref_ring_destroy(kc->reference);
  hx_cpu_device_ops.tables_destroy(kc->tables);
  hx_cpu_queue_ops.destroy(kc->queue);
  hx_cpu_device_ops.close(kc->device);
}

// ------------------------------------------------------------------ tensors

static uint32_t word_bytes(uint32_t dtype) { return dtype == HX_U32 ? 4 : dtype == HX_U8 ? 1 : 8; }

// Sets the strides and returns the extent in elements.
static uint64_t lay_out(kc_tensor_t *t, const kc_shape_t *shape) {
  hx_tensor_desc *d = &t->desc;
  const uint64_t n = (uint64_t)1 << d->log_n, gap = shape->layout == KC_GAPS ? 8 : 0;
  uint64_t extent = n + gap;
  if (shape->layout == KC_SWAPPED) {
    d->component_stride = extent;
    d->limb_stride = extent * d->components;
  } else {
    d->limb_stride = extent;
    d->component_stride = extent * d->limbs + gap;
  }
  extent = (extent * d->limbs + gap) * d->components;
  if (d->digits > 0) {
    d->digit_stride = extent + gap;
    extent = d->digit_stride * d->digits;
  }
  for (uint32_t axis = d->batch_rank; axis-- > 0;) {
    t->shape[axis] = shape->batch[axis];
    t->strides[axis] = shape->layout == KC_REPEAT ? 0 : extent + gap;
    extent = shape->layout == KC_REPEAT ? extent : t->strides[axis] * t->shape[axis];
  }
  return extent;
}

static uint64_t pick(kc_t *kc, kc_pattern_t pattern, uint64_t limit) {
  switch (pattern) {
    case KC_ZERO:
      return 0;
    case KC_ONE:
      return 1 % limit;
    case KC_TOP:
      return limit - 1;
    case KC_RANDOM:
      return kc_next(kc) % limit;
    default: {
      const uint64_t r = kc_next(kc), near[6] = {0, 1, limit - 1, limit / 2, limit / 2 + 1, r % limit};
      return near[(r >> 40) % 6];
    }
  }
}

static void fill_row(kc_t *kc, const kc_tensor_t *t, kc_pattern_t pattern, void *row, uint32_t limb) {
  const uint64_t n = (uint64_t)1 << t->desc.log_n;
  for (uint64_t i = 0; i < n; i++) {
    if (t->desc.dtype == HX_U8) {
      ((uint8_t *)row)[i] = (uint8_t)kc_next(kc);
    } else if (t->desc.dtype == HX_I64) {
      const int64_t edges[5] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)kc_next(kc)};
      ((int64_t *)row)[i] = pattern == KC_RANDOM ? edges[4] : edges[(i + (uint64_t)pattern) % 5];
    } else {
      const uint64_t q = kc->primes[t->ids[limb]];
      const uint64_t value = pick(kc, pattern, t->desc.repr == HX_LAZY ? 2 * q : q);
      if (t->desc.dtype == HX_U32) {
        ((uint32_t *)row)[i] = (uint32_t)value;
      } else {
        ((uint64_t *)row)[i] = value;
      }
    }
  }
}

static uint64_t items_of(const kc_tensor_t *t) {
  uint64_t items = 1;
  for (uint32_t axis = 0; axis < t->desc.batch_rank; axis++) {
    items *= t->shape[axis];
  }
  return items;
}

void *kc_row(const kc_tensor_t *t, uint64_t item, uint32_t digit, uint32_t component, uint32_t limb) {
  uint64_t at = digit * t->desc.digit_stride + component * t->desc.component_stride +
                (t->desc.rows != NULL ? t->desc.rows[limb] : limb) * t->desc.limb_stride;
  for (uint32_t axis = t->desc.batch_rank; axis-- > 0;) {
    at += item % t->shape[axis] * t->strides[axis];
    item /= t->shape[axis];
  }
  return t->base + t->offset + at * word_bytes(t->desc.dtype);
}

kc_tensor_t *kc_tensor(kc_t *kc, const kc_shape_t *shape, kc_pattern_t pattern) {
  assert_true(kc->tensor_count < KC_TENSORS_MAX);
  kc_tensor_t *t = &kc->tensors[kc->tensor_count++];
  memset(t, 0, sizeof *t);
  const uint32_t residues = kc->ring.word == 64 ? HX_U64 : HX_U32;
  t->desc = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                             .dtype = shape->dtype != 0 ? shape->dtype : residues,
                             .log_n = shape->log_n != 0 ? shape->log_n : kc->ring.log_n,
                             .batch_rank = shape->batch_rank,
                             .digits = shape->digits,
                             .components = shape->components,
                             .limbs = shape->limbs,
                             .domain = shape->domain,
                             .basis = HX_BASIS_QP,
                             .repr = shape->repr,
                             .batch_shape = t->shape,
                             .batch_strides = t->strides};
  if (shape->dtype == 0) {
    for (uint32_t limb = 0; limb < shape->limbs; limb++) {
      t->ids[limb] = shape->ids != NULL ? shape->ids[limb] : limb;
    }
    t->desc.prime_ids = t->ids;
  }
  t->offset = GUARD;
  t->bytes = 2 * GUARD + (lay_out(t, shape) * word_bytes(t->desc.dtype) + GUARD - 1) / GUARD * GUARD;
  t->base = aligned_alloc(GUARD, t->bytes);
  assert_non_null(t->base);
  memset(t->base, FILL, t->bytes);
  const uint32_t digits = shape->digits > 0 ? shape->digits : 1;
  for (uint64_t item = 0; item < items_of(t); item++) {
    for (uint32_t row = 0; row < digits * shape->components * shape->limbs; row++) {
      const uint32_t limb = row % shape->limbs, component = row / shape->limbs % shape->components;
      fill_row(kc, t, pattern, kc_row(t, item, row / shape->limbs / shape->components, component, limb), limb);
    }
  }
  return t;
}

// ------------------------------------------------------------------ attributes

static hx_attr attribute(const char *name, uint32_t kind, const void *values, uint32_t count) {
  return (hx_attr){.struct_size = HX_END_OF(hx_attr, data), .kind = kind, .count = count, .name = name, .data = values};
}

hx_attr kc_i64(const char *name, const int64_t *values, uint32_t count) {
  return attribute(name, HX_ATTR_I64, values, count);
}
hx_attr kc_u64(const char *name, const uint64_t *values, uint32_t count) {
  return attribute(name, HX_ATTR_U64, values, count);
}
hx_attr kc_text(const char *name, const char *text) {
  return attribute(name, HX_ATTR_TEXT, text, (uint32_t)strlen(text));
}

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
  const int32_t code = hx_cpu_prepare(kc->device, &r.region, &plan, out, error);
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

static hx_span import(kc_t *kc, void *base, uint64_t bytes, uint64_t offset) {
  hx_span span = {NULL, offset};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  assert_int_equal(hx_cpu_memory_ops.import_host(kc->device, base, bytes, &span.buffer, &error), HX_OK);
  return span;
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
  region_t r;
  make_region(kc, op, &r);
  hx_span inputs[KC_TENSORS_MAX], outputs[KC_TENSORS_MAX], memory = {NULL, 0};
  for (uint32_t i = 0; i < r.input_count; i++) {
    const kc_tensor_t *t = r.tensors[r.inputs[i]];
    inputs[i] = import(kc, t->base, t->bytes, t->offset);
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    const kc_tensor_t *t = op->results[i];
    outputs[i] = i == 0 && in_place >= 0 ? inputs[in_place] : import(kc, t->base, t->bytes, t->offset);
  }
  *error = (hx_error){.struct_size = HX_END_OF(hx_error, message)};
  if (scratch > 0) {
    assert_int_equal(hx_cpu_memory_ops.alloc(kc->device, HX_SPACE_DEVICE, scratch, &memory.buffer, error), HX_OK);
  }
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = kc->queue,
                        .scratch_device = memory,
                        .inputs = inputs,
                        .outputs = outputs};
  for (uint32_t i = 0; i < r.input_count; i++) {
    mark(r.tensors[r.inputs[i]], true);
  }
  const int32_t code = hx_cpu_execute(prepared, &call, error);
  for (uint32_t i = 0; i < r.value_count; i++) {
    mark(r.tensors[i], false);
  }
  hx_cpu_memory_ops.free(memory.buffer);
  for (uint32_t i = 0; i < r.input_count; i++) {
    hx_cpu_memory_ops.free(inputs[i].buffer);
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    if (i > 0 || in_place < 0) {
      hx_cpu_memory_ops.free(outputs[i].buffer);
    }
  }
  return code;
}

static void *copy_of(const void *memory, uint64_t bytes) {
  void *copy = aligned_alloc(GUARD, bytes);
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
  hxs_destroy(prepared);
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
