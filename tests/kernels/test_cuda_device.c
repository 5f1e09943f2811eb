// SPDX-License-Identifier: Apache-2.0
// The cuda plugin's device, memory and queue roles on a device; skipped where there is none.
#include <unistd.h>

#include "device.h"
#include "kernelcheck.h"
#include "prepare.h"

static const uint32_t bits[] = {50, 40, 40, 50};

static hx_error fresh(void) { return (hx_error){.struct_size = HX_END_OF(hx_error, message)}; }

static uint64_t free_bytes(const hx_device *device) {
  size_t available = 0, total = 0;
  hx_error error = fresh();
  assert_int_equal(hx_cuda_enter((hx_device *)device, &error), HX_OK);
  assert_int_equal(device->driver->cuMemGetInfo(&available, &total), 0);
  hx_cuda_leave((hx_device *)device);
  return available;
}

static void device_says_what_it_is(void **state) {
  (void)state;
  kc_t kc;
  hx_error error = fresh();
  hx_device_info info = {.struct_size = sizeof info};
  hx_device *device = NULL;
  kc_open(&kc, 12, 64, 3, 1, 2, bits);
  assert_int_equal(hx_cuda_device_ops.info(0, &info, &error), HX_OK);
  assert_true(info.name[0] != 0 && info.uuid[0] != 0 && info.compute_units > 0 && info.memory_bytes > 0);
  assert_int_equal(strncmp(info.driver, "CUDA ", 5), 0);
  const uint32_t count = hx_cuda_device_ops.count(&error);
  assert_int_equal(hx_cuda_device_ops.info(count, &info, &error), HX_INVALID);
  assert_int_equal(hx_cuda_device_ops.open(count, &device, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "does not exist"));
  kc_close(&kc);
}

static void memory_and_queue_copy_fill_and_refuse(void **state) {
  (void)state;
  kc_t kc;
  hx_error error = fresh();
  hx_buffer *pinned = NULL, *memory = NULL, *none = NULL;
  hx_event *event = NULL;
  kc_open(&kc, 12, 64, 3, 1, 2, bits);
  assert_int_equal(hx_cuda_memory_ops.alloc(kc.device, HX_SPACE_PINNED, 128, &pinned, &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(kc.device, HX_SPACE_DEVICE, 128, &memory, &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(kc.device, 9, 128, &none, &error), HX_INVALID);
  assert_int_equal(hx_cuda_memory_ops.alloc(kc.device, HX_SPACE_DEVICE, 0, &none, &error), HX_INVALID);
  uint8_t *bytes = hx_cuda_memory_ops.address(pinned);
  assert_non_null(bytes);
  assert_null(hx_cuda_memory_ops.address(memory));
  for (uint8_t i = 0; i < 128; i++) {
    bytes[i] = i;
  }
  const hx_span host = {pinned, 0}, device = {memory, 0}, late = {memory, 64}, back = {pinned, 64};
  assert_int_equal(hx_cuda_queue_ops.copy(kc.queue, device, host, 64, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.fill(kc.queue, late, 0x5a, 64, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.record(kc.queue, &event, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.wait(kc.queue, event, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.copy(kc.queue, back, device, 64, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.copy(kc.queue, host, late, 64, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.sync(kc.queue, &error), HX_OK);
  for (uint8_t i = 0; i < 64; i++) {
    assert_true(bytes[i] == 0x5a && bytes[64 + i] == i);
  }
  assert_int_equal(hx_cuda_queue_ops.copy(kc.queue, late, host, 65, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "65 bytes at offset 64, its buffer has 128"));
  assert_int_equal(hx_cuda_queue_ops.wait(kc.queue, NULL, &error), HX_INVALID);
  hx_cuda_queue_ops.event_destroy(event);
  hx_cuda_memory_ops.free(pinned);
  hx_cuda_memory_ops.free(memory);
  kc_close(&kc);
}

static kc_op_t transform(kc_t *kc, kc_tensor_t **a, kc_tensor_t **out) {
  const kc_shape_t shape = {.components = 2, .limbs = 4, .domain = HX_COEFFICIENT, .repr = HX_STANDARD};
  *a = kc_tensor(kc, &shape, KC_RANDOM);
  *out = kc_tensor(kc, &shape, KC_RANDOM);
  (*out)->desc.domain = HX_NTT;
  return (kc_op_t){"ntt.forward", NULL, 0, a, 1, out, 1};
}

static void out_of_memory_leaves_the_device_usable(void **state) {
  (void)state;
  kc_t kc;
  hx_error error = fresh();
  hx_buffer *none = NULL;
  kc_tensor_t *a = NULL, *out = NULL;
  kc_open(&kc, 12, 64, 3, 1, 2, bits);
  assert_int_equal(hx_cuda_memory_ops.alloc(kc.device, HX_SPACE_DEVICE, (uint64_t)1 << 46, &none, &error),
                   HX_OUT_OF_MEMORY);
  assert_null(none);
  assert_non_null(strstr(error.message, "CUDA_ERROR_OUT_OF_MEMORY"));
  const kc_op_t op = transform(&kc, &a, &out);
  assert_true(kc_check(&kc, &op));
  kc_close(&kc);
}

static void operands_in_host_memory_are_refused(void **state) {
  (void)state;
  kc_t kc;
  hx_error error;
  kc_tensor_t *a = NULL, *out = NULL;
  hx_prepared *prepared = NULL;
  uint64_t scratch = 0;
  hx_span spans[2] = {{NULL, 0}, {NULL, 0}};
  kc_open(&kc, 12, 64, 3, 1, 2, bits);
  const kc_op_t op = transform(&kc, &a, &out);
  assert_int_equal(kc_prepare(&kc, &op, &prepared, &scratch, NULL, &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(kc.device, HX_SPACE_PINNED, a->bytes, &spans[0].buffer, &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(kc.device, HX_SPACE_DEVICE, a->bytes, &spans[1].buffer, &error), HX_OK);
  const hx_call call = {
      .struct_size = HX_END_OF(hx_call, outputs), .queue = kc.queue, .inputs = spans, .outputs = spans + 1};
  assert_int_equal(hx_cuda_execute(prepared, &call, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "operand 0 is host memory"));
  hx_cuda_memory_ops.free(spans[0].buffer);
  hx_cuda_memory_ops.free(spans[1].buffer);
  kc_destroy(prepared);
  kc_close(&kc);
}

// From one device's memory to another's on either's queue, the second waiting for the first one's event.
static void devices_copy_between_each_other(void **state) {
  (void)state;
  enum { BYTES = 1 << 20 };
  kc_t kc;
  hx_error error = fresh();
  hx_device *other = NULL;
  hx_queue *queue = NULL;
  hx_event *event = NULL;
  hx_buffer *host = NULL, *near = NULL, *far = NULL;
  hx_device_info info = {.struct_size = sizeof info};
  kc_open(&kc, 12, 64, 3, 1, 2, bits);
  if (hx_cuda_device_ops.count(&error) < 2) {
    print_message("one device\n");
    kc_close(&kc);
    skip();
  }
  assert_int_equal(hx_cuda_device_ops.info(0, &info, &error), HX_OK);
  assert_true((info.peers & 1) == 0 && (info.peers_linked & ~info.peers) == 0);
  print_message("peers of device 0: %llx, linked %llx\n", (unsigned long long)info.peers,
                (unsigned long long)info.peers_linked);
  assert_int_equal(hx_cuda_device_ops.open(1, &other, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.create(other, &queue, &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(kc.device, HX_SPACE_PINNED, 2 * BYTES, &host, &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(kc.device, HX_SPACE_DEVICE, BYTES, &near, &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(other, HX_SPACE_DEVICE, BYTES, &far, &error), HX_OK);
  uint8_t *words = hx_cuda_memory_ops.address(host);
  for (uint32_t i = 0; i < BYTES; i++) {
    words[i] = (uint8_t)(i * 2654435761u >> 13);
  }
  const hx_span from = {host, 0}, back = {host, BYTES}, here = {near, 0}, there = {far, 0};
  assert_int_equal(hx_cuda_queue_ops.copy(kc.queue, here, from, BYTES, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.copy(kc.queue, there, here, BYTES, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.record(kc.queue, &event, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.wait(queue, event, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.copy(queue, back, there, BYTES, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.sync(queue, &error), HX_OK);
  assert_memory_equal(words, words + BYTES, BYTES);
  assert_int_equal(hx_cuda_queue_ops.copy(queue, here, from, BYTES, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "neither end is memory of the queue's device"));
  hx_cuda_queue_ops.event_destroy(event);
  hx_cuda_queue_ops.destroy(queue);
  hx_cuda_memory_ops.free(far);
  hx_cuda_memory_ops.free(near);
  hx_cuda_memory_ops.free(host);
  hx_cuda_device_ops.close(other);
  kc_close(&kc);
}

// An image of another digest is refused when the device is opened; with the right one it opens again.
static void wrong_image_is_refused(void **state) {
  (void)state;
  kc_t kc;
  hx_error error = fresh();
  hx_device *device = NULL;
  kc_open(&kc, 12, 64, 3, 1, 2, bits);
  kc_set_option("cuda-images", "/nonexistent");
  assert_int_equal(hx_cuda_device_ops.open(0, &device, &error), HX_UNAVAILABLE);
  assert_non_null(strstr(error.message, "cannot be read"));
  kc_set_option("cuda-images", NULL);
  assert_int_equal(hx_cuda_device_ops.open(0, &device, &error), HX_OK);
  hx_cuda_device_ops.close(device);
  kc_close(&kc);
}

static void rounds_and_runs_leave_no_memory(void **state) {
  (void)state;
  kc_t kc;
  hx_error error;
  kc_tensor_t *a = NULL, *out = NULL;
  uint64_t before = 0, scratch = 0;
  for (int round = 0; round < 20; round++) {
    kc_open(&kc, 12, 64, 3, 1, 2, bits);
    const kc_op_t op = transform(&kc, &a, &out);
    assert_true(kc_check(&kc, &op));
    kc_close(&kc);
  }
  kc_open(&kc, 12, 64, 3, 1, 2, bits);
  const kc_op_t op = transform(&kc, &a, &out);
  for (int run = 0; run < 1000; run++) {
    hx_prepared *prepared = NULL;
    assert_int_equal(kc_prepare(&kc, &op, &prepared, &scratch, NULL, &error), HX_OK);
    assert_int_equal(kc_execute(&kc, &op, prepared, scratch, -1, &error), HX_OK);
    kc_destroy(prepared);
    before = run == 10 ? free_bytes(kc.device) : before;
  }
  assert_true(free_bytes(kc.device) >= before);
  kc_close(&kc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(device_says_what_it_is),
      cmocka_unit_test(memory_and_queue_copy_fill_and_refuse),
      cmocka_unit_test(out_of_memory_leaves_the_device_usable),
      cmocka_unit_test(operands_in_host_memory_are_refused),
      cmocka_unit_test(devices_copy_between_each_other),
      cmocka_unit_test(wrong_image_is_refused),
      cmocka_unit_test(rounds_and_runs_leave_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
