// SPDX-License-Identifier: Apache-2.0
// What the cpu plugin refuses when it prepares or runs, and what it says; cancel, concurrency, late failures.
#include <pthread.h>

#include "device.h"
#include "kernelcheck.h"
#include "prepare.h"
#include "run.h"

static const uint32_t small_bits[] = {45, 40, 40, 40, 40, 45, 45};

static void open_small(kc_t *kc, uint32_t log_n) { kc_open(kc, log_n, 64, 5, 2, 2, small_bits); }

static kc_tensor_t *value(kc_t *kc, uint32_t components, uint32_t limbs, uint32_t domain) {
  const kc_shape_t shape = {.components = components, .limbs = limbs, .domain = domain, .repr = HX_STANDARD};
  return kc_tensor(kc, &shape, KC_RANDOM);
}

static void refuses(kc_t *kc, const char *name, const hx_attr *attrs, uint32_t attr_count, kc_tensor_t *const *operands,
                    uint32_t operand_count, kc_tensor_t *result, int32_t code, const char *part) {
  const kc_op_t op = {name, attrs, attr_count, operands, operand_count, &result, 1};
  kc_refuses(kc, &op, code, part);
}

static void prepare_refuses_operands_that_do_not_fit(void **state) {
  (void)state;
  kc_t kc;
  open_small(&kc, 4);
  kc_tensor_t *a = value(&kc, 2, 3, HX_NTT), *fewer = value(&kc, 2, 2, HX_NTT), *one = value(&kc, 1, 3, HX_NTT);
  kc_tensor_t *coefficients = value(&kc, 2, 3, HX_COEFFICIENT), *out = value(&kc, 2, 3, HX_NTT);
  refuses(&kc, "rns.add", NULL, 0, (kc_tensor_t *const[]){a, fewer}, 2, out, HX_INVALID,
          "operand 1 has limbs 2, must be 3");
  refuses(&kc, "rns.add", NULL, 0, (kc_tensor_t *const[]){a, one}, 2, out, HX_INVALID,
          "operand 1 has components 1, must be 2");
  refuses(&kc, "rns.add", NULL, 0, (kc_tensor_t *const[]){a, coefficients}, 2, out, HX_INVALID,
          "operand 1 is in coefficient domain, must be in ntt domain");
  refuses(&kc, "rns.add", NULL, 0, &a, 1, out, HX_INVALID, "1 operands are given");
  refuses(&kc, "ntt.forward", NULL, 0, &a, 1, out, HX_INVALID, "operand 0 is in ntt domain");
  refuses(&kc, "ckks.mul", NULL, 0, (kc_tensor_t *const[]){a, a}, 2, out, HX_INVALID,
          "result 0 has components 2, must be 3");
  refuses(&kc, "ckks.mul_plain", NULL, 0, (kc_tensor_t *const[]){coefficients, one}, 2, coefficients, HX_INVALID,
          "coefficient domain");
  a->desc.repr = HX_LAZY;
  refuses(&kc, "rns.mul", NULL, 0, (kc_tensor_t *const[]){a, out}, 2, out, HX_INVALID,
          "operand 0 is lazy, must be standard");
  a->desc.repr = HX_STANDARD;
  a->ids[2] = 7;
  refuses(&kc, "rns.neg", NULL, 0, &a, 1, out, HX_INVALID, "a row of prime 7, the ring has primes 0 to 6");
  a->ids[2] = 1;
  refuses(&kc, "rns.neg", NULL, 0, &a, 1, out, HX_INVALID, "prime 1 after prime 1");
  a->ids[2] = 2;
  a->desc.dtype = HX_U32;
  refuses(&kc, "rns.neg", NULL, 0, &a, 1, out, HX_INVALID, "operand 0 has dtype 2");
  a->desc.dtype = HX_U64;
  out->desc.limb_stride = 0;
  refuses(&kc, "rns.neg", NULL, 0, &a, 1, out, HX_INVALID, "written twice");
  out->desc.limb_stride = 16;
  out->desc.batch_rank = 1;
  out->shape[0] = 0;
  refuses(&kc, "rns.neg", NULL, 0, &a, 1, out, HX_INVALID, "0 items on batch axis 0");
  kc_close(&kc);
}

static void prepare_refuses_attributes_that_do_not_fit(void **state) {
  (void)state;
  kc_t kc;
  open_small(&kc, 4);
  kc_tensor_t *a = value(&kc, 1, 4, HX_NTT), *out = value(&kc, 1, 6, HX_NTT), *less = value(&kc, 1, 3, HX_NTT);
  out->ids[4] = 5;
  out->ids[5] = 6;
  const int64_t two = 2, five = 5, even = 4, ids[] = {0, 9}, none = 0;
  const uint64_t residues[] = {0, 0, 0, kc.primes[3]};
  hx_attr attr = kc_i64("digit", &two, 1);
  refuses(&kc, "rns.mod_up", NULL, 0, &a, 1, out, HX_INVALID, "attribute digit is missing");
  refuses(&kc, "rns.mod_up", &attr, 1, &a, 1, out, HX_INVALID, "attribute digit is 2, must be from 0 to 1");
  attr = kc_text("digit", "0");
  refuses(&kc, "rns.mod_up", &attr, 1, &a, 1, out, HX_INVALID, "attribute digit is 1 values of kind text");
  attr = kc_u64("residues", residues, 4);
  refuses(&kc, "rns.add_scalar", &attr, 1, &a, 1, a, HX_INVALID, "must be below its prime");
  attr = kc_u64("residues", residues, 3);
  refuses(&kc, "rns.mul_scalar", &attr, 1, &a, 1, a, HX_INVALID, "3 words, must have 4");
  attr = kc_i64("element", &even, 1);
  refuses(&kc, "rns.automorphism", &attr, 1, &a, 1, a, HX_INVALID, "element is 4, must be odd");
  attr = kc_i64("ids", ids, 2);
  refuses(&kc, "rns.select_limbs", &attr, 1, &a, 1, less, HX_INVALID, "names prime 9, the ring has primes 0 to 6");
  hx_attr pair[] = {kc_text("rounding", "up"), kc_i64("count", &five, 1)};
  refuses(&kc, "rns.rescale", pair, 2, &a, 1, less, HX_INVALID, "rounding is \"up\"");
  pair[0] = kc_text("rounding", "nearest");
  refuses(&kc, "rns.rescale", pair, 2, &a, 1, less, HX_INVALID, "count is 5, must be from 1 to 3");
  refuses(&kc, "rns.mod_down", pair, 1, &a, 1, a, HX_INVALID, "at least one must be dropped");
  pair[1] = kc_i64("drop", &five, 1);
  refuses(&kc, "rns.mod_down", pair, 2, &a, 1, less, HX_INVALID, "1 rows are to be dropped, operand 0 has 0 of them");
  attr = kc_i64("groups", &none, 1);
  refuses(&kc, "rns.weighted_sum", &attr, 1, (kc_tensor_t *const[]){a, a}, 2, a, HX_INVALID, "groups is 0");
  kc_close(&kc);
}

// Refusals of the plugin's own, which the reference does not have.
static void expect_code(kc_t *kc, const kc_op_t *op, int32_t code, const char *part) {
  hx_prepared *prepared = NULL;
  uint64_t scratch = 0;
  hx_error error;
  assert_int_equal(kc_prepare(kc, op, &prepared, &scratch, NULL, &error), code);
  assert_null(prepared);
  if (strstr(error.message, part) == NULL) {
    fail_msg("message '%s' lacks '%s'", error.message, part);
  }
}

static void prepare_names_variants_and_attributes_that_exist(void **state) {
  (void)state;
  kc_t kc;
  open_small(&kc, 4);
  kc_tensor_t *a = value(&kc, 2, 3, HX_NTT), *out = value(&kc, 2, 3, HX_NTT);
  const int64_t one = 1;
  const hx_attr unknown = kc_i64("axis", &one, 1), own = kc_i64("heliox.note", &one, 1);
  kc_op_t op = {"rns.neg", &unknown, 1, &a, 1, &out, 1};
  expect_code(&kc, &op, HX_INVALID, "attribute axis is unknown");
  op.attrs = &own;
  assert_false(kc_check(&kc, &op) == false);
  op.attr_count = 0;
  kc.variant = "avx9";
  expect_code(&kc, &op, HX_UNSUPPORTED, "variant 'avx9' does not exist; there are: ");
  kc.variant = "portable";
  assert_true(kc_check(&kc, &op));
  kc.variant = NULL;
  op.name = "rns.divide";
  expect_code(&kc, &op, HX_UNSUPPORTED, "rns.divide is not an operation of cpu");
  kc_close(&kc);
  hx_device *device = NULL;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  kc_set_option("cpu-mask", "portable,avx9");
  assert_int_equal(hx_cpu_device_ops.open(0, &device, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "'avx9'"));
  kc_set_option("cpu-mask", "portable");
  assert_int_equal(hx_cpu_device_ops.open(0, &device, &error), HX_OK);
  hx_cpu_device_ops.close(device);
  kc_set_option("cpu-mask", NULL);
}

static void tables_refuse_rings_that_break_the_contract(void **state) {
  (void)state;
  kc_t kc;
  open_small(&kc, 4);
  hx_tables *tables = NULL;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const struct {
    uint32_t id;
    uint64_t prime, psi;
    const char *part;
  } cases[] = {{1, kc.primes[0], kc.psi[0], "primes 0 and 1 are both"},
               {1, kc.primes[1] + 2, kc.psi[1], "not a prime that is 1 mod 32"},
               {1, kc.primes[1] + 32 * 3, kc.psi[1], "not a prime"},
               {1, ((uint64_t)1 << 61) + 1, 3, "must be below 2^61"},
               {1, kc.primes[1], kc.psi[1] + 1, "no primitive root of unity of order 32"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint64_t primes[KC_PRIMES_MAX], psi[KC_PRIMES_MAX];
    memcpy(primes, kc.primes, sizeof primes);
    memcpy(psi, kc.psi, sizeof psi);
    primes[cases[i].id] = cases[i].prime;
    psi[cases[i].id] = cases[i].psi;
    hx_ring ring = kc.ring;
    ring.primes = primes;
    ring.psi = psi;
    assert_int_equal(hx_cpu_device_ops.tables_create(kc.device, &ring, &tables, &error), HX_INVALID);
    if (strstr(error.message, cases[i].part) == NULL) {
      fail_msg("message '%s' lacks '%s'", error.message, cases[i].part);
    }
  }
  hx_ring ring = kc.ring;
  ring.log_n = 18;
  assert_int_equal(hx_cpu_device_ops.tables_create(kc.device, &ring, &tables, &error), HX_UNSUPPORTED);
  ring = kc.ring;
  ring.group_count--;
  assert_int_equal(hx_cpu_device_ops.tables_create(kc.device, &ring, &tables, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "the groups hold 4 primes, Q has 5"));
  ring = kc.ring;
  ring.struct_size = 16;
  assert_int_equal(hx_cpu_device_ops.tables_create(kc.device, &ring, &tables, &error), HX_ARGS_SIZE);
  assert_null(tables);
  kc_close(&kc);
}

// ------------------------------------------------------------------ running

static void execute_refuses_memory_that_does_not_hold_the_tensor(void **state) {
  (void)state;
  kc_t kc;
  open_small(&kc, 4);
  kc_tensor_t *a = value(&kc, 2, 3, HX_NTT), *out = value(&kc, 2, 3, HX_NTT);
  const kc_op_t op = {"rns.neg", NULL, 0, &a, 1, &out, 1};
  hx_prepared *prepared = NULL;
  uint64_t scratch = 0;
  hx_error error;
  assert_int_equal(kc_prepare(&kc, &op, &prepared, &scratch, NULL, &error), HX_OK);
  const uint64_t bytes = a->bytes;
  a->bytes = 64 + 6 * 16 * 8 - 1;
  assert_int_equal(kc_execute(&kc, &op, prepared, scratch, -1, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "operand 0 needs 768 bytes at offset 64, its buffer has 831"));
  a->bytes = bytes;
  a->offset = 66;
  assert_int_equal(kc_execute(&kc, &op, prepared, scratch, -1, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "not aligned"));
  a->offset = 64;
  hx_call call = {.struct_size = 8};
  assert_int_equal(hx_cpu_execute(prepared, &call, &error), HX_ARGS_SIZE);
  kc_destroy(prepared);
  kc_close(&kc);
}

static void execute_stops_when_cancelled_and_works_again_after(void **state) {
  (void)state;
  kc_t kc;
  open_small(&kc, 12);
  kc_tensor_t *a = value(&kc, 2, 5, HX_COEFFICIENT), *out = value(&kc, 2, 5, HX_NTT);
  const kc_op_t op = {"ntt.forward", NULL, 0, &a, 1, &out, 1};
  hx_prepared *prepared = NULL;
  uint64_t scratch = 0;
  hx_error error;
  assert_int_equal(kc_prepare(&kc, &op, &prepared, &scratch, NULL, &error), HX_OK);
  uint8_t *before = malloc(a->bytes);
  memcpy(before, a->base, a->bytes);
  kc_cancel_after = 3;
  assert_int_equal(kc_execute(&kc, &op, prepared, scratch, -1, &error), HX_CANCELLED);
  assert_memory_equal(before, a->base, a->bytes);
  kc_cancel_after = -1;
  assert_true(kc_check(&kc, &op));
  free(before);
  kc_destroy(prepared);
  kc_close(&kc);
}

static int32_t run_and_fail(hx_cpu_run_t *run) {
  (void)run;
  return HX_INTERNAL;
}

static void queue_keeps_a_failure_until_it_is_reset(void **state) {
  (void)state;
  kc_t kc;
  open_small(&kc, 4);
  kc_tensor_t *a = value(&kc, 2, 3, HX_NTT), *out = value(&kc, 2, 3, HX_NTT);
  const kc_op_t op = {"rns.neg", NULL, 0, &a, 1, &out, 1};
  hx_prepared *prepared = NULL;
  uint64_t scratch = 0;
  hx_error error;
  assert_int_equal(kc_prepare(&kc, &op, &prepared, &scratch, NULL, &error), HX_OK);
  assert_int_equal(kc_execute(&kc, &op, prepared, scratch, -1, &error), HX_OK);
  int32_t (*const run)(hx_cpu_run_t *) = prepared->run;
  prepared->run = run_and_fail;
  assert_int_equal(kc_execute(&kc, &op, prepared, scratch, -1, &error), HX_INTERNAL);
  prepared->run = run;
  assert_int_equal(kc_execute(&kc, &op, prepared, scratch, -1, &error), HX_INTERNAL);
  assert_int_equal(hx_cpu_queue_ops.sync(kc.queue, &error), HX_INTERNAL);
  assert_int_equal(error.op, 0);  // the harness has waited for the call before
  assert_int_equal(hx_cpu_queue_ops.reset(kc.queue, &error), HX_OK);
  assert_int_equal(hx_cpu_queue_ops.sync(kc.queue, &error), HX_OK);
  assert_int_equal(kc_execute(&kc, &op, prepared, scratch, -1, &error), HX_OK);
  kc_destroy(prepared);
  kc_close(&kc);
}

static void queue_is_busy_for_a_second_caller(void **state) {
  (void)state;
  kc_t kc;
  open_small(&kc, 4);
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  assert_int_equal(hxs_gate_enter(&kc.queue->gate, &error), HX_OK);
  assert_int_equal(hx_cpu_queue_ops.sync(kc.queue, &error), HX_BUSY);
  assert_int_equal(error.code, HX_BUSY);
  hxs_gate_leave(&kc.queue->gate);
  assert_int_equal(hx_cpu_queue_ops.sync(kc.queue, &error), HX_OK);
  kc_close(&kc);
}

// ------------------------------------------------------------------ one prepared operation, several threads

typedef struct shared {
  kc_t *kc;
  hx_prepared *prepared;
  hx_buffer *input;
  uint64_t scratch, output_bytes;
  const uint8_t *expected;
  int32_t failures;
} shared_t;

static void *run_shared(void *argument) {
  shared_t *s = argument;
  hx_queue *queue = NULL;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  hx_span in = {s->input, 64}, out = {NULL, 0}, scratch = {NULL, 0};
  int32_t bad =
      hx_cpu_queue_ops.create(s->kc->device, &queue, &error) != HX_OK ||
      hx_cpu_memory_ops.alloc(s->kc->device, HX_SPACE_DEVICE, s->output_bytes, &out.buffer, &error) != HX_OK ||
      hx_cpu_memory_ops.alloc(s->kc->device, HX_SPACE_DEVICE, s->scratch, &scratch.buffer, &error) != HX_OK;
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = queue,
                        .scratch_device = scratch,
                        .inputs = &in,
                        .outputs = &out};
  for (int i = 0; i < 20 && !bad; i++) {
    bad = hx_cpu_execute(s->prepared, &call, &error) != HX_OK ||
          memcmp(hx_cpu_memory_ops.address(out.buffer), s->expected, s->output_bytes) != 0;
  }
  hx_cpu_memory_ops.free(out.buffer);
  hx_cpu_memory_ops.free(scratch.buffer);
  hx_cpu_queue_ops.destroy(queue);
  __atomic_fetch_add(&s->failures, bad, __ATOMIC_RELAXED);
  return NULL;
}

static void prepared_runs_on_several_queues_at_once(void **state) {
  (void)state;
  kc_t kc;
  open_small(&kc, 10);
  kc_tensor_t *a = value(&kc, 1, 7, HX_NTT), *out = value(&kc, 1, 5, HX_NTT);
  const hx_attr rounding = kc_text("rounding", "nearest");
  const kc_op_t op = {"rns.mod_down", &rounding, 1, &a, 1, &out, 1};
  shared_t shared = {.kc = &kc, .output_bytes = 5 * 1024 * 8};
  hx_error error;
  assert_int_equal(kc_prepare(&kc, &op, &shared.prepared, &shared.scratch, NULL, &error), HX_OK);
  assert_false(kc_check(&kc, &op));
  shared.expected = out->base + out->offset;
  assert_int_equal(hx_cpu_memory_ops.import_host(kc.device, a->base, a->bytes, &shared.input, &error), HX_OK);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, run_shared, &shared), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
  }
  assert_int_equal(shared.failures, 0);
  hx_cpu_memory_ops.free(shared.input);
  kc_destroy(shared.prepared);
  kc_close(&kc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prepare_refuses_operands_that_do_not_fit),
      cmocka_unit_test(prepare_refuses_attributes_that_do_not_fit),
      cmocka_unit_test(prepare_names_variants_and_attributes_that_exist),
      cmocka_unit_test(tables_refuse_rings_that_break_the_contract),
      cmocka_unit_test(execute_refuses_memory_that_does_not_hold_the_tensor),
      cmocka_unit_test(execute_stops_when_cancelled_and_works_again_after),
      cmocka_unit_test(queue_keeps_a_failure_until_it_is_reset),
      cmocka_unit_test(queue_is_busy_for_a_second_caller),
      cmocka_unit_test(prepared_runs_on_several_queues_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
