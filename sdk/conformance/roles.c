// SPDX-License-Identifier: Apache-2.0
// Memory and queue by themselves.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/conformance/suite.h"

enum { BYTES = 8192 };

static void check_space(suite_t *suite, uint32_t space, const char *name) {
  const hx_memory_ops *ops = suite->table->memory;
  hx_buffer *buffer = NULL;
  hx_error error = error_init();
  case_begin(suite, "memory", "%s", name);
  const int32_t code = ops->alloc(suite->device, space, BYTES, &buffer, &error);
  if (code == HX_UNSUPPORTED && space == HX_SPACE_HOST) {
    case_skip(suite, "not supported: %s", error.message);
  } else if (case_expect(suite, code == HX_OK, "alloc of %d bytes: %s: %s", BYTES, result_word(code), error.message)) {
    uint8_t *address = ops->address(buffer);
    if (space != HX_SPACE_DEVICE) case_expect(suite, address != NULL, "memory of the host has no address");
    if (address != NULL) {
      memset(address, 0x77, BYTES);
      case_expect(suite, address[BYTES - 1] == 0x77, "the last byte does not hold what was written");
    }
    ops->free(buffer);
  }
  case_end(suite);
}

static void check_exhaustion(suite_t *suite) {
  static const uint64_t sizes[] = {UINT64_C(1) << 60, UINT64_MAX, UINT64_MAX - 63};
  const hx_memory_ops *ops = suite->table->memory;
  case_begin(suite, "memory", "more than there is");
  for (size_t i = 0; i < HX_COUNT_OF(sizes); ++i) {
    hx_buffer *buffer = NULL;
    hx_error error = error_init();
    const int32_t code = ops->alloc(suite->device, HX_SPACE_DEVICE, sizes[i], &buffer, &error);
    case_expect(suite, code != HX_OK, "alloc of %llu bytes returned HX_OK", (unsigned long long)sizes[i]);
    case_expect(suite, code == HX_OK || error.message[0] != '\0', "alloc of %llu bytes fails and does not say why",
                (unsigned long long)sizes[i]);
    case_expect(suite, code == HX_OK || buffer == NULL, "alloc of %llu bytes fails and gives a buffer",
                (unsigned long long)sizes[i]);
  }
  hx_buffer *buffer = NULL;
  hx_error error = error_init();
  case_expect(suite, ops->alloc(suite->device, HX_SPACE_DEVICE, BYTES, &buffer, &error) == HX_OK,
              "after that %d bytes are not to be had either", BYTES);
  if (buffer != NULL) ops->free(buffer);
  case_end(suite);
}

static void check_import(suite_t *suite) {
  const hx_memory_ops *ops = suite->table->memory;
  case_begin(suite, "memory", "import_host");
  uint8_t *memory = suite_alloc(BYTES);
  memset(memory, 0x31, BYTES);
  hx_buffer *buffer = NULL;
  hx_error error = error_init();
  const int32_t code =
      ops->import_host == NULL ? HX_UNSUPPORTED : ops->import_host(suite->device, memory, BYTES, &buffer, &error);
  if (code == HX_UNSUPPORTED) {
    case_skip(suite, "not supported: the host copies");
  } else if (case_expect(suite, code == HX_OK, "%s: %s", result_word(code), error.message)) {
    const int32_t filled = suite->table->queue->fill(suite->queue, (hx_span){buffer, 64}, 0x32, BYTES - 64, &error);
    const int32_t done = suite->table->queue->sync(suite->queue, &error);
    case_expect(suite, filled == HX_OK && done == HX_OK, "fill: %s", error.message);
    case_expect(suite, memory[63] == 0x31 && memory[64] == 0x32 && memory[BYTES - 1] == 0x32,
                "the caller's memory does not hold what was written through the buffer");
    ops->free(buffer);
    case_expect(suite, memory[0] == 0x31, "freeing the buffer touched the caller's memory");
  }
  free(memory);
  case_end(suite);
}

// Host to device, device to device, and back, at offsets.
static void move_around(suite_t *suite, hx_buffer *const *b, uint64_t step) {
  const hx_queue_ops *q = suite->table->queue;
  uint8_t *from = suite->table->memory->address(b[0]), *to = suite->table->memory->address(b[3]);
  if (!case_expect(suite, from != NULL && to != NULL, "pinned memory has no address")) return;
  for (int i = 0; i < BYTES; ++i) from[i] = (uint8_t)(i * 7 + i / 256);
  memset(to, 0, BYTES);
  hx_error error = error_init();
  hx_event *event = NULL;
  const uint64_t bytes = BYTES - step;
  int32_t code = q->copy(suite->queue, (hx_span){b[1], 0}, (hx_span){b[0], step}, bytes, &error);
  if (code == HX_OK) code = q->record(suite->queue, &event, &error);
  if (code == HX_OK) code = q->wait(suite->queue, event, &error);
  if (code == HX_OK) code = q->copy(suite->queue, (hx_span){b[2], step}, (hx_span){b[1], 0}, bytes, &error);
  if (code == HX_OK) code = q->copy(suite->queue, (hx_span){b[3], 0}, (hx_span){b[2], step}, bytes, &error);
  if (code == HX_OK) code = q->fill(suite->queue, (hx_span){b[3], 0}, 0xee, 1, &error);
  if (code == HX_OK) code = q->sync(suite->queue, &error);
  if (event != NULL) q->event_destroy(event);
  if (!case_expect(suite, code == HX_OK, "%s: %s", result_word(code), error.message)) return;
  case_expect(suite, to[0] == 0xee && memcmp(to + 1, from + step + 1, bytes - 1) == 0,
              "the bytes do not arrive, in order");
}

static void check_queue(suite_t *suite) {
  static const uint32_t spaces[] = {HX_SPACE_PINNED, HX_SPACE_DEVICE, HX_SPACE_DEVICE, HX_SPACE_PINNED};
  const hx_memory_ops *ops = suite->table->memory;
  hx_buffer *buffers[4] = {NULL};
  hx_error error = error_init();
  case_begin(suite, "queue", "copy, fill, events, sync");
  bool made = true;
  for (size_t i = 0; i < 4; ++i) made &= ops->alloc(suite->device, spaces[i], BYTES, &buffers[i], &error) == HX_OK;
  const uint64_t step = suite->info.alignment > 64 ? suite->info.alignment : 64;
  if (case_expect(suite, made, "alloc: %s", error.message) && step < BYTES / 2) move_around(suite, buffers, step);
  for (size_t i = 0; i < 4; ++i) {
    if (buffers[i] != NULL) ops->free(buffers[i]);
  }
  case_end(suite);

  case_begin(suite, "queue", "reset");
  error = error_init();
  case_expect(suite, suite->table->queue->reset(suite->queue, &error) == HX_OK, "reset of a healthy queue: %s",
              error.message);
  case_expect(suite, suite->table->queue->sync(suite->queue, &error) == HX_OK, "sync after it: %s", error.message);
  case_end(suite);
}

static void check_device(suite_t *suite) {
  case_begin(suite, "device", "what it says of itself");
  const uint64_t alignment = suite->info.alignment;
  case_expect(suite, alignment > 0 && (alignment & (alignment - 1)) == 0, "the alignment is %llu, no power of two",
              (unsigned long long)alignment);
  case_expect(suite, suite->info.name[0] != '\0' && memchr(suite->info.name, 0, sizeof suite->info.name) != NULL,
              "it has no name");
  hx_error error = error_init();
  hx_device_info info = {.struct_size = HX_END_OF(hx_device_info, driver)};
  hx_device *device = NULL;
  case_expect(suite, suite->table->device->info(4000, &info, &error) != HX_OK, "device 4000 describes itself");
  case_expect(suite, suite->table->device->open(4000, &device, &error) != HX_OK, "device 4000 opens");
  case_end(suite);
}

void run_roles(suite_t *suite) {
  check_device(suite);
  check_space(suite, HX_SPACE_DEVICE, "device");
  check_space(suite, HX_SPACE_PINNED, "pinned");
  check_space(suite, HX_SPACE_HOST, "host");
  check_exhaustion(suite);
  check_import(suite);
  check_queue(suite);
}
