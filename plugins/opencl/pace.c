// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "pace.h"

#include <stdio.h>
#include <time.h>

#include "heliox/support/error.h"
#include "heliox/support/host.h"
#include "ops.h"
#include "selftest.h"
#include "tables.h"

#define ROWS_EACH 4u  // rows of 2^12 points a compute unit
#define ROUNDS 3u

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ntt.forward of one limb with a batch axis. What the operand holds does not matter.
typedef struct region {
  hx_opencl_check_t check;  // the self-test's, for its ring
  hx_tensor_desc values[2];
  uint64_t batch, stride;
  uint32_t limb;
} region_t;

static int32_t make_region(region_t *r, const hx_device *device, hx_error *error) {
  HXS_TRY(hx_opencl_check_make(hx_opencl_pace_check, 64, &r->check, error));
  r->batch = (uint64_t)ROWS_EACH * (device->facts.units > 0 ? device->facts.units : 1);
  r->stride = (uint64_t)1 << r->check.ring.log_n;
  r->limb = 0;
  for (uint32_t i = 0; i < 2; i++) {
    hx_tensor_desc *value = &r->values[i];
    *value = r->check.values[i];
    value->batch_rank = 1;
    value->batch_shape = &r->batch;
    value->batch_strides = &r->stride;
    value->limbs = 1;
    value->prime_ids = &r->limb;
    value->component_stride = r->stride;
    value->digit_stride = r->stride;
  }
  r->check.region.values = r->values;
  return HX_OK;
}

static int32_t time_runs(hx_prepared *prepared, const hx_call *call, double *out_best, hx_error *error) {
  *out_best = 1e9;
  for (uint32_t i = 0; i <= ROUNDS; i++) {
    const double begin = seconds_now();
    HXS_TRY(hx_opencl_execute(prepared, call, error));
    HXS_TRY(hx_opencl_queue_ops.sync(call->queue, error));
    const double taken = seconds_now() - begin;
    *out_best = i > 0 && taken < *out_best ? taken : *out_best;  // the first one warms up
  }
  return HX_OK;
}

static int32_t time_path(hx_device *device, region_t *r, const char *variant, const hx_call *call, double *out_best,
                         hx_error *error) {
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  hx_prepared *prepared = NULL;
  r->check.region.variant = variant;
  HXS_TRY(hx_opencl_prepare(device, &r->check.region, &plan, &prepared, error));
  const int32_t code = time_runs(prepared, call, out_best, error);
  hxs_destroy(prepared);
  return code;
}

static int32_t time_both(hx_device *device, region_t *r, hx_buffer *memory, hx_queue *queue, double best[2],
                         hx_error *error) {
  const hx_span spans[2] = {{memory, 0}, {memory, 0}};
  const hx_call call = {
      .struct_size = HX_END_OF(hx_call, outputs), .queue = queue, .inputs = spans, .outputs = spans + 1};
  HXS_TRY(hx_opencl_queue_ops.fill(queue, spans[0], 0, r->batch * r->stride * sizeof(uint64_t), error));
  HXS_TRY(time_path(device, r, "integer", &call, &best[0], error));
  return time_path(device, r, "real", &call, &best[1], error);
}

static int32_t measure(hx_device *device, bool *out_real, hx_error *error) {
  region_t r = {0};
  hx_queue *queue = NULL;
  hx_tables *tables = NULL;
  hx_buffer *memory = NULL;
  double best[2] = {0, 0};
  int32_t code = make_region(&r, device, error);
  code = code == HX_OK ? hx_opencl_tables_make(device, &r.check.ring, &tables, error) : code;
  r.check.region.tables = tables;
  code = code == HX_OK ? hx_opencl_queue_ops.create(device, &queue, error) : code;
  code = code == HX_OK ? hx_opencl_memory_ops.alloc(device, HX_SPACE_DEVICE, r.batch * r.stride * sizeof(uint64_t),
                                                    &memory, error)
                       : code;
  code = code == HX_OK ? time_both(device, &r, memory, queue, best, error) : code;
  hx_opencl_memory_ops.free(memory);
  hx_opencl_queue_ops.destroy(queue);
  hx_opencl_tables_destroy(tables);
  hx_opencl_check_release(&r.check);
  if (code == HX_OK) {
    char text[160];
    *out_real = best[1] < best[0];
    snprintf(text, sizeof text, "%.40s: %llu transforms of 2^12 points take %.0f us on integers, %.0f us in doubles",
             device->facts.name, (unsigned long long)r.batch, 1e6 * best[0], 1e6 * best[1]);
    hxs_host_log(HX_LOG_INFO, text);
  }
  return code;
}

// ------------------------------------------------------------------ once for a device and process

#define KNOWN_MAX 16u

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  void *platform, *device;
  bool real;
} known[KNOWN_MAX];
static uint32_t known_count;

int32_t hx_opencl_pace_measure(hx_device *device, bool *out_real, hx_error *error) {
  int32_t code = HX_OK;
  uint32_t i = 0;
  pthread_mutex_lock(&known_lock);
  while (i < known_count && (known[i].platform != device->facts.platform || known[i].device != device->facts.device)) {
    i++;
  }
  if (i < known_count) {
    *out_real = known[i].real;
  } else {
    code = measure(device, out_real, error);
    if (code == HX_OK && known_count < KNOWN_MAX) {
      known[known_count].platform = device->facts.platform;
      known[known_count].device = device->facts.device;
      known[known_count++].real = *out_real;
    }
  }
  pthread_mutex_unlock(&known_lock);
  return code;
}
