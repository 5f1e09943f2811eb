// SPDX-License-Identifier: Apache-2.0
// The opencl plugin's roles on the device that is here, with the host's memory and, by option, with memory of its own,
// with queues in order and out of order; what goes wrong there is made to by replacing functions of OpenCL.
#include <unistd.h>

#include "openclcheck.h"
#include "tables.h"

// ------------------------------------------------------------------ memory and queues

static void fill_words(hx_buffer *buffer, uint64_t bytes) {
  uint64_t *words = hx_opencl_memory_ops.address(buffer);
  for (uint64_t i = 0; i < bytes / 8; i++) {
    words[i] = i * i % 1000003;
  }
}

// A transform through buffers of one space; the result, from malloc.
static uint64_t *transformed(hx_device *device, uint32_t log_n, hx_queue *queue) {
  oc_transform_t t;
  hx_buffer *host = NULL;
  hx_error error = oc_error();
  oc_transform_open(device, log_n, HX_SPACE_DEVICE, &t);
  assert_int_equal(hx_opencl_memory_ops.alloc(device, HX_SPACE_PINNED, t.bytes, &host, &error), HX_OK);
  fill_words(host, t.bytes);
  const hx_span from = {host, 0}, operand = {t.buffers[0], 0}, result = {t.buffers[1], 0};
  assert_int_equal(hx_opencl_queue_ops.copy(queue, operand, from, t.bytes, &error), HX_OK);
  assert_int_equal(oc_transform_run(&t, queue, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.copy(queue, from, result, t.bytes, &error), HX_OK);
  if (hx_opencl_queue_ops.sync(queue, &error) != HX_OK) {
    fail_msg("sync: %s", error.message);
  }
  uint64_t *out = malloc(t.bytes);
  assert_non_null(out);
  memcpy(out, hx_opencl_memory_ops.address(host), t.bytes);
  hx_opencl_memory_ops.free(host);
  oc_transform_close(&t);
  return out;
}

static uint64_t *transformed_with(const char *memory, const char *order, uint32_t log_n) {
  hx_device *device = NULL;
  hx_queue *queue = NULL;
  hx_error error = oc_error();
  oc_host.memory = memory;
  oc_host.queue = order;
  const int32_t code = hx_opencl_device_ops.open(0, &device, &error);
  if (code == HX_UNSUPPORTED) {
    return NULL;  // the device has no such queues
  }
  assert_int_equal(code, HX_OK);
  assert_true(memory == NULL || !device->shared);
  assert_int_equal(hx_opencl_queue_ops.create(device, &queue, &error), HX_OK);
  uint64_t *out = transformed(device, log_n, queue);
  hx_opencl_queue_ops.destroy(queue);
  hx_opencl_device_ops.close(device);
  return out;
}

static void results_are_the_same_in_every_memory_and_order(void **state) {
  (void)state;
  static const uint32_t log_n = 13;
  oc_require_device();
  uint64_t *expected = transformed_with(NULL, NULL, log_n);
  static const char *const memories[] = {NULL, "device"}, *const orders[] = {"in-order", "out-of-order"};
  for (uint32_t i = 0; i < 4; i++) {
    uint64_t *found = transformed_with(memories[i / 2], orders[i % 2], log_n);
    if (found != NULL) {
      assert_memory_equal(found, expected, 3 * sizeof *found << log_n);
    }
    free(found);
  }
  free(expected);
}

static void copy_and_fill(hx_device *device, uint32_t first, uint32_t second) {
  hx_buffer *a = NULL, *b = NULL;
  hx_queue *queue = NULL;
  hx_event *event = NULL;
  hx_error error = oc_error();
  uint8_t bytes[128];
  hx_buffer *out = NULL;
  assert_int_equal(hx_opencl_queue_ops.create(device, &queue, &error), HX_OK);
  assert_int_equal(hx_opencl_memory_ops.alloc(device, first, 128, &a, &error), HX_OK);
  assert_int_equal(hx_opencl_memory_ops.alloc(device, second, 128, &b, &error), HX_OK);
  assert_int_equal(hx_opencl_memory_ops.alloc(device, HX_SPACE_HOST, 128, &out, &error), HX_OK);
  const hx_span a0 = {a, 0}, a64 = {a, 64}, b0 = {b, 0}, whole = {out, 0};
  assert_int_equal(hx_opencl_queue_ops.fill(queue, a0, 0x11, 128, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.fill(queue, a64, 0x22, 64, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.copy(queue, b0, a0, 128, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.record(queue, &event, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.wait(queue, event, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.fill(queue, a0, 0x33, 128, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.copy(queue, a64, b0, 32, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.copy(queue, whole, a0, 128, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.sync(queue, &error), HX_OK);
  memcpy(bytes, hx_opencl_memory_ops.address(out), sizeof bytes);
  for (uint32_t i = 0; i < 128; i++) {
    const uint8_t expected = i >= 64 && i < 96 ? 0x11 : 0x33;
    if (bytes[i] != expected) {
      fail_msg("spaces %u and %u, memory %s, queue %s, byte %u: expected %#x, found %#x", first, second,
               oc_host.memory != NULL ? oc_host.memory : "as it comes",
               oc_host.queue != NULL ? oc_host.queue : "in-order", i, expected, bytes[i]);
    }
  }
  hx_opencl_queue_ops.event_destroy(event);
  hx_opencl_queue_ops.destroy(queue);
  hx_opencl_memory_ops.free(a);
  hx_opencl_memory_ops.free(b);
  hx_opencl_memory_ops.free(out);
}

static void copies_and_fills_are_in_order_between_all_spaces(void **state) {
  (void)state;
  oc_require_device();
  for (uint32_t i = 0; i < 4; i++) {
    hx_device *device = NULL;
    hx_error error = oc_error();
    oc_host.memory = i / 2 == 0 ? NULL : "device";
    oc_host.queue = i % 2 == 0 ? NULL : "out-of-order";
    if (hx_opencl_device_ops.open(0, &device, &error) == HX_UNSUPPORTED) {
      continue;
    }
    for (uint32_t first = HX_SPACE_DEVICE; first <= HX_SPACE_HOST; first++) {
      for (uint32_t second = HX_SPACE_DEVICE; second <= HX_SPACE_HOST; second++) {
        copy_and_fill(device, first, second);
      }
    }
    hx_opencl_device_ops.close(device);
  }
}

static void memory_and_queue_refuse(void **state) {
  (void)state;
  hx_device *device = oc_open();
  hx_error error = oc_error();
  hx_buffer *buffer = NULL, *none = NULL;
  hx_queue *queue = NULL;
  unsigned char byte[2];
  assert_int_equal(hx_opencl_queue_ops.create(device, &queue, &error), HX_OK);
  assert_int_equal(hx_opencl_memory_ops.alloc(device, HX_SPACE_DEVICE, 128, &buffer, &error), HX_OK);
  assert_int_equal(hx_opencl_memory_ops.alloc(device, 9, 128, &none, &error), HX_INVALID);
  assert_int_equal(hx_opencl_memory_ops.alloc(device, HX_SPACE_DEVICE, 0, &none, &error), HX_INVALID);
  assert_int_equal(hx_opencl_memory_ops.import_host(device, byte + 1, 1, &none, &error), HX_UNSUPPORTED);
  assert_int_equal(hx_opencl_memory_ops.import_host(device, NULL, 1, &none, &error), HX_INVALID);
  const hx_span at = {buffer, 64}, start = {buffer, 0}, nothing = {NULL, 0};
  assert_int_equal(hx_opencl_queue_ops.copy(queue, at, start, 65, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "65 bytes at offset 64, its buffer has 128"));
  assert_int_equal(hx_opencl_queue_ops.copy(queue, at, nothing, 1, &error), HX_INVALID);
  assert_int_equal(hx_opencl_queue_ops.copy(queue, (hx_span){buffer, 8}, start, 64, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "overlapping"));
  assert_int_equal(hx_opencl_queue_ops.wait(queue, NULL, &error), HX_INVALID);
  assert_null(none);
  hx_opencl_queue_ops.destroy(queue);
  hx_opencl_memory_ops.free(buffer);
  hx_opencl_device_ops.close(device);
}

static void operands_in_host_memory_are_refused_by_a_device_with_its_own(void **state) {
  (void)state;
  oc_require_device();
  hx_device *device = NULL;
  hx_queue *queue = NULL;
  hx_error error = oc_error();
  oc_transform_t t;
  oc_host.memory = "device";
  assert_int_equal(hx_opencl_device_ops.open(0, &device, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.create(device, &queue, &error), HX_OK);
  oc_transform_open(device, 4, HX_SPACE_HOST, &t);
  assert_int_equal(oc_transform_run(&t, queue, &error), HX_INVALID);
  assert_non_null(strstr(error.message, "operand 0 is host memory"));
  oc_transform_close(&t);
  hx_opencl_queue_ops.destroy(queue);
  hx_opencl_device_ops.close(device);
}

static void cancelled_host_runs_nothing(void **state) {
  (void)state;
  hx_device *device = oc_open();
  hx_queue *queue = NULL;
  hx_error error = oc_error();
  oc_transform_t t;
  assert_int_equal(hx_opencl_queue_ops.create(device, &queue, &error), HX_OK);
  oc_transform_open(device, 5, HX_SPACE_DEVICE, &t);
  oc_host.cancelled = 1;
  assert_int_equal(oc_transform_run(&t, queue, &error), HX_CANCELLED);
  oc_host.cancelled = 0;
  assert_int_equal(oc_transform_run(&t, queue, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.sync(queue, &error), HX_OK);
  oc_transform_close(&t);
  hx_opencl_queue_ops.destroy(queue);
  hx_opencl_device_ops.close(device);
}

// ------------------------------------------------------------------ failures

static int32_t finish_result;
static int32_t (*real_finish)(void *queue);

// The work is done all the same: its buffers are freed afterwards.
static int32_t failing_finish(void *queue) {
  real_finish(queue);
  return finish_result;
}

static void *failing_buffer(void *context, uint64_t flags, size_t bytes, void *host, int32_t *result) {
  (void)context, (void)flags, (void)bytes, (void)host;
  *result = HX_OPENCL_MEM_OBJECT_ALLOCATION_FAILURE;
  return NULL;
}

static int32_t failing_launch(void *queue, void *kernel, uint32_t dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, uint32_t wait_count, void *const *wait,
                              void **event) {
  (void)queue, (void)kernel, (void)dimensions, (void)offset, (void)global, (void)local, (void)wait_count, (void)wait;
  (void)event;
  return HX_OPENCL_OUT_OF_HOST_MEMORY;
}

static void out_of_memory_leaves_the_device_usable(void **state) {
  (void)state;
  hx_device *device = oc_open();
  hx_error error = oc_error();
  hx_buffer *none = NULL;
  assert_int_equal(hx_opencl_memory_ops.alloc(device, HX_SPACE_DEVICE, (uint64_t)1 << 46, &none, &error),
                   HX_OUT_OF_MEMORY);
  assert_non_null(strstr(error.message, "70368744177664 bytes asked for"));
  hx_opencl_cl_t table = *device->cl;
  const hx_opencl_cl_t *real = device->cl;
  table.clCreateBuffer = failing_buffer;
  device->cl = &table;
  assert_int_equal(hx_opencl_memory_ops.alloc(device, HX_SPACE_DEVICE, 4096, &none, &error), HX_OUT_OF_MEMORY);
  assert_non_null(strstr(error.message, "CL_MEM_OBJECT_ALLOCATION_FAILURE"));
  device->cl = real;
  assert_null(none);
  assert_int_equal(hx_opencl_memory_ops.alloc(device, HX_SPACE_DEVICE, 4096, &none, &error), HX_OK);
  hx_opencl_memory_ops.free(none);
  hx_opencl_device_ops.close(device);
}

static void failed_launch_poisons_the_queue_until_reset(void **state) {
  (void)state;
  hx_device *device = oc_open();
  hx_queue *queue = NULL;
  hx_error error = oc_error();
  oc_transform_t t;
  assert_int_equal(hx_opencl_queue_ops.create(device, &queue, &error), HX_OK);
  oc_transform_open(device, 5, HX_SPACE_DEVICE, &t);
  const hx_opencl_cl_t *real = device->cl;
  hx_opencl_cl_t table = *real;
  table.clEnqueueNDRangeKernel = failing_launch;
  device->cl = &table;
  assert_int_equal(oc_transform_run(&t, queue, &error), HX_OUT_OF_MEMORY);
  assert_non_null(strstr(error.message, "ntt.forward: CL_OUT_OF_HOST_MEMORY (-6)"));
  device->cl = real;
  assert_int_equal(oc_transform_run(&t, queue, &error), HX_OUT_OF_MEMORY);
  assert_non_null(strstr(error.message, "until it is reset"));
  assert_int_equal(hx_opencl_queue_ops.sync(queue, &error), HX_OUT_OF_MEMORY);
  assert_int_equal(error.op, 0);
  assert_int_equal(hx_opencl_queue_ops.reset(queue, &error), HX_OK);
  assert_int_equal(oc_transform_run(&t, queue, &error), HX_OK);
  assert_int_equal(hx_opencl_queue_ops.sync(queue, &error), HX_OK);
  oc_transform_close(&t);
  hx_opencl_queue_ops.destroy(queue);
  hx_opencl_device_ops.close(device);
}

// A fault of a kernel surfaces at the next wait: the queue says so, and the device takes no more work; opened again it
// does.
static void lost_device_says_so_and_opens_again(void **state) {
  (void)state;
  hx_device *device = oc_open();
  hx_queue *queue = NULL, *other = NULL;
  hx_buffer *none = NULL;
  hx_error error = oc_error();
  oc_transform_t t;
  assert_int_equal(hx_opencl_queue_ops.create(device, &queue, &error), HX_OK);
  oc_transform_open(device, 5, HX_SPACE_DEVICE, &t);
  const hx_opencl_cl_t *real = device->cl;
  hx_opencl_cl_t table = *real;
  table.clFinish = failing_finish;
  real_finish = real->clFinish;
  finish_result = HX_OPENCL_OUT_OF_RESOURCES;
  assert_int_equal(oc_transform_run(&t, queue, &error), HX_OK);
  device->cl = &table;
  assert_int_equal(hx_opencl_queue_ops.sync(queue, &error), HX_DEVICE_LOST);
  device->cl = real;
  assert_non_null(strstr(error.message, "CL_OUT_OF_RESOURCES (-5)"));
  assert_non_null(strstr(error.message, "in one of 1 operations, the last ntt.forward"));
  assert_int_equal(error.op, 0);
  assert_int_equal(hx_opencl_queue_ops.reset(queue, &error), HX_OK);
  assert_int_equal(oc_transform_run(&t, queue, &error), HX_DEVICE_LOST);
  assert_int_equal(hx_opencl_queue_ops.create(device, &other, &error), HX_DEVICE_LOST);
  assert_int_equal(hx_opencl_memory_ops.alloc(device, HX_SPACE_DEVICE, 64, &none, &error), HX_DEVICE_LOST);
  assert_non_null(strstr(error.message, "until it is opened again"));
  oc_transform_close(&t);
  hx_opencl_queue_ops.destroy(queue);
  hx_opencl_device_ops.close(device);
  hx_opencl_device_ops.close(oc_open());
}

static void compiler_that_refuses_is_an_error_with_its_log(void **state) {
  (void)state;
  oc_require_device();
  hx_device *device = NULL;
  hx_error error = oc_error();
  oc_host.cache = "off";
  hx_opencl_source_instead = "kernel void hx_rows(global ulong *out) { out[0] = no_such_name; }\n";
  assert_int_equal(hx_opencl_device_ops.open(0, &device, &error), HX_UNAVAILABLE);
  hx_opencl_source_instead = NULL;
  assert_null(device);
  assert_non_null(strstr(error.message, "refuses the kernels"));
  assert_non_null(strstr(error.message, "no_such_name"));
  assert_non_null(strstr(oc_host.log, "no_such_name"));  // the whole log went to the host
  hx_opencl_device_ops.close(oc_open());
}

static void ring_that_is_too_large_is_refused(void **state) {
  (void)state;
  hx_device *device = oc_open();
  hx_tables *tables = NULL;
  hx_error error = oc_error();
  oc_ring_t ring;
  oc_ring(10, &ring);
  ring.ring.log_n = 18;
  assert_int_equal(hx_opencl_device_ops.tables_create(device, &ring.ring, &tables, &error), HX_UNSUPPORTED);
  assert_non_null(strstr(error.message, "log_n is 18; opencl has 3 to 17"));
  assert_null(tables);
  hx_opencl_device_ops.close(device);
}

// ------------------------------------------------------------------ rounds

static uint64_t resident_kib(void) {
  unsigned long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%lu %lu", &size, &resident), 2);
  fclose(file);
  return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

#if defined(__SANITIZE_ADDRESS__)  // which keeps freed memory, so figures mean nothing, and is slow
#define ROUNDS 40
#define GROWTH_KIB (1024 * 1024)
#else
#define ROUNDS 1000
#define GROWTH_KIB (16 * 1024)
#endif

// Open, run, close; drivers keep something of the first rounds, the plugin nothing of any.
static void thousand_rounds_leave_no_memory(void **state) {
  (void)state;
  uint64_t before = 0;
  for (int round = 0; round < ROUNDS; round++) {
    hx_device *device = oc_open();
    hx_queue *queue = NULL;
    hx_error error = oc_error();
    oc_transform_t t;
    assert_int_equal(hx_opencl_queue_ops.create(device, &queue, &error), HX_OK);
    oc_transform_open(device, 5, HX_SPACE_DEVICE, &t);
    assert_int_equal(oc_transform_run(&t, queue, &error), HX_OK);
    assert_int_equal(hx_opencl_queue_ops.sync(queue, &error), HX_OK);
    oc_transform_close(&t);
    hx_opencl_queue_ops.destroy(queue);
    hx_opencl_device_ops.close(device);
    before = round == ROUNDS / 5 ? resident_kib() : before;
  }
  const uint64_t after = resident_kib();
  print_message("resident after %d rounds %llu KiB, after %d %llu KiB\n", ROUNDS / 5, (unsigned long long)before,
                ROUNDS, (unsigned long long)after);
  assert_true(after < before + GROWTH_KIB);
}

// An argument is a filter of cases.
int main(int argc, char **argv) {
  if (argc > 1) {
    cmocka_set_test_filter(argv[1]);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_the_same_in_every_memory_and_order),
      cmocka_unit_test(copies_and_fills_are_in_order_between_all_spaces),
      cmocka_unit_test(memory_and_queue_refuse),
      cmocka_unit_test(operands_in_host_memory_are_refused_by_a_device_with_its_own),
      cmocka_unit_test(cancelled_host_runs_nothing),
      cmocka_unit_test(out_of_memory_leaves_the_device_usable),
      cmocka_unit_test(failed_launch_poisons_the_queue_until_reset),
      cmocka_unit_test(lost_device_says_so_and_opens_again),
      cmocka_unit_test(compiler_that_refuses_is_an_error_with_its_log),
      cmocka_unit_test(ring_that_is_too_large_is_refused),
      cmocka_unit_test(thousand_rounds_leave_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
