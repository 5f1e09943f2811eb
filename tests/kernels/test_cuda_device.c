// SPDX-License-Identifier: Apache-2.0
// The cuda plugin's device, memory and queue roles on a device; skipped where there is none.
#include <unistd.h>

#include "device.h"
#include "graph.h"
#include "kernelcheck.h"
#include "prepare.h"

static const uint32_t bits[] = {50, 40, 40, 50};

static uint64_t free_bytes(const hx_device *device) {
  size_t available = 0, total = 0;
  hx_error error = kc_error();
  assert_int_equal(hx_cuda_enter((hx_device *)device, &error), HX_OK);
  assert_int_equal(device->driver->cuMemGetInfo(&available, &total), 0);
  hx_cuda_leave((hx_device *)device);
  return available;
}

static void device_says_what_it_is(void **state) {
  (void)state;
  kc_t kc;
  hx_error error = kc_error();
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
  hx_error error = kc_error();
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
  hx_error error = kc_error();
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

// Two devices of the plugin, a queue and a buffer on each, host memory for both.
typedef struct pair {
  kc_t kc;  // device 0
  hx_device *other;
  hx_queue *queues[2];
  hx_buffer *host, *memory[2];
  uint64_t bytes;
} pair_t;

static void open_pair(pair_t *p, uint64_t bytes) {
  hx_error error = kc_error();
  *p = (pair_t){.bytes = bytes};
  kc_open(&p->kc, 12, 64, 3, 1, 2, bits);
  const uint32_t count = hx_cuda_device_ops.count(&error);
  if (count < 2) {
    print_message("cuda finds %u device; copies between devices need two\n", count);
    kc_close(&p->kc);
    skip();
  }
  p->queues[0] = p->kc.queue;
  assert_int_equal(hx_cuda_device_ops.open(1, &p->other, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.create(p->other, &p->queues[1], &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(p->kc.device, HX_SPACE_PINNED, 2 * bytes, &p->host, &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(p->kc.device, HX_SPACE_DEVICE, bytes, &p->memory[0], &error), HX_OK);
  assert_int_equal(hx_cuda_memory_ops.alloc(p->other, HX_SPACE_DEVICE, bytes, &p->memory[1], &error), HX_OK);
  uint8_t *words = hx_cuda_memory_ops.address(p->host);
  for (uint64_t i = 0; i < bytes; i++) {
    words[i] = (uint8_t)(i * 2654435761u >> 13);
    words[bytes + i] = 0;
  }
}

static void close_pair(pair_t *p) {
  hx_cuda_queue_ops.destroy(p->queues[1]);
  for (int i = 0; i < 2; i++) {
    hx_cuda_memory_ops.free(p->memory[i]);
  }
  hx_cuda_memory_ops.free(p->host);
  hx_cuda_device_ops.close(p->other);
  kc_close(&p->kc);
}

static void copy_on(hx_queue *queue, hx_buffer *to, uint64_t offset, hx_buffer *from, uint64_t bytes) {
  hx_error error = kc_error();
  if (hx_cuda_queue_ops.copy(queue, (hx_span){to, offset}, (hx_span){from, 0}, bytes, &error) != HX_OK) {
    fail_msg("%s", error.message);
  }
}

// What `second` is given from now on begins after what `first` was given.
static void follow(hx_queue *first, hx_queue *second) {
  hx_error error = kc_error();
  hx_event *event = NULL;
  assert_int_equal(hx_cuda_queue_ops.record(first, &event, &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.wait(second, event, &error), HX_OK);
  hx_cuda_queue_ops.event_destroy(event);
}

// From one device's memory to another's on either's queue, each waiting for the other one's event.
static void devices_copy_between_each_other(void **state) {
  (void)state;
  enum { BYTES = 1 << 20 };
  pair_t p;
  hx_error error = kc_error();
  open_pair(&p, BYTES);
  for (uint32_t i = 0; i < 2; i++) {
    hx_device_info info = {.struct_size = sizeof info};
    assert_int_equal(hx_cuda_device_ops.info(i, &info, &error), HX_OK);
    assert_true((info.peers >> i & 1) == 0 && (info.peers_linked & ~info.peers) == 0);
    print_message("peers of device %u: %llx, linked %llx\n", i, (unsigned long long)info.peers,
                  (unsigned long long)info.peers_linked);
  }
  const uint8_t *words = hx_cuda_memory_ops.address(p.host);
  for (uint32_t first = 0; first < 2; first++) {  // the queue that copies across
    copy_on(p.queues[0], p.memory[0], 0, p.host, BYTES);
    follow(p.queues[0], p.queues[1]);
    copy_on(p.queues[first], p.memory[1], 0, p.memory[0], BYTES);
    follow(p.queues[first], p.queues[1 - first]);
    // There and back: what the first device has is overwritten in between.
    assert_int_equal(hx_cuda_queue_ops.fill(p.queues[0], (hx_span){p.memory[0], 0}, 0xee, BYTES, &error), HX_OK);
    follow(p.queues[0], p.queues[1]);
    copy_on(p.queues[1], p.memory[0], 0, p.memory[1], BYTES);
    follow(p.queues[1], p.queues[0]);
    copy_on(p.queues[0], p.host, BYTES, p.memory[0], BYTES);
    assert_int_equal(hx_cuda_queue_ops.sync(p.queues[0], &error), HX_OK);
    assert_int_equal(hx_cuda_queue_ops.sync(p.queues[1], &error), HX_OK);
    assert_memory_equal(words, words + BYTES, BYTES);
    memset((uint8_t *)hx_cuda_memory_ops.address(p.host) + BYTES, 0, BYTES);
  }
  close_pair(&p);
}

// A hundred turns across, which no wait of the host orders.
static void events_order_the_queues_of_two_devices(void **state) {
  (void)state;
  enum { BYTES = 4096 };
  pair_t p;
  hx_error error = kc_error();
  open_pair(&p, BYTES);
  for (uint32_t turn = 0; turn < 100; turn++) {
    const uint32_t to = turn % 2;
    assert_int_equal(
        hx_cuda_queue_ops.fill(p.queues[1 - to], (hx_span){p.memory[1 - to], turn}, (uint8_t)(turn + 1), 1, &error),
        HX_OK);
    follow(p.queues[1 - to], p.queues[to]);
    copy_on(p.queues[to], p.memory[to], 0, p.memory[1 - to], BYTES);
    follow(p.queues[to], p.queues[1 - to]);
  }
  copy_on(p.queues[1], p.host, 0, p.memory[1], BYTES);
  assert_int_equal(hx_cuda_queue_ops.sync(p.queues[1], &error), HX_OK);
  const uint8_t *words = hx_cuda_memory_ops.address(p.host);
  for (uint32_t turn = 0; turn < 100; turn++) {
    assert_int_equal(words[turn], turn + 1);
  }
  close_pair(&p);
}

static void copies_between_devices_are_refused_where_they_cannot_be(void **state) {
  (void)state;
  enum { BYTES = 4096 };
  pair_t p;
  hx_error error = kc_error();
  hx_graph *graph = NULL;
  open_pair(&p, BYTES);
  const hx_span host = {p.host, 0}, here = {p.memory[0], 0}, there = {p.memory[1], 0};
  assert_int_equal(hx_cuda_queue_ops.copy(p.queues[1], here, host, BYTES, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "neither end is memory of the queue's device"));
  assert_int_equal(hx_cuda_queue_ops.copy(p.queues[0], there, here, BYTES + 1, &error), HX_INVALID);
  assert_int_equal(hx_cuda_graph_ops.capture_begin(p.queues[0], &error), HX_OK);
  assert_int_equal(hx_cuda_queue_ops.copy(p.queues[0], there, here, BYTES, &error), HX_UNSUPPORTED);
  assert_non_null(strstr(error.message, "copies between devices are not recorded"));
  assert_int_equal(hx_cuda_graph_ops.capture_end(p.queues[0], &graph, &error), HX_OK);
  hx_cuda_graph_ops.destroy(graph);
  close_pair(&p);
}

// An image of another digest is refused when the device is opened; with the right one it opens again.
static void wrong_image_is_refused(void **state) {
  (void)state;
  kc_t kc;
  hx_error error = kc_error();
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
      cmocka_unit_test(events_order_the_queues_of_two_devices),
      cmocka_unit_test(copies_between_devices_are_refused_where_they_cannot_be),
      cmocka_unit_test(wrong_image_is_refused),
      cmocka_unit_test(rounds_and_runs_leave_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
