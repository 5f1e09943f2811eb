// SPDX-License-Identifier: Apache-2.0
// Codec role. A call is prepared, launched and forgotten: what it needs on the device is freed in the queue's own
// order, so nothing is waited for. Coefficients are within 1 of the host's: both round numbers whose error is far below
// 1/2.
#include "code.h"
#include "device.h"
#include "heliox/support/error.h"
#include "step.h"

#include <stdlib.h>

#define POWER_MAX 2000  // beyond it every number is 0 or infinite

static int32_t check_encoding(const hx_encoding *e, hx_error *error) {
  HXS_NEED(hx_encoding, plaintext, e);
  HXS_NEED(hx_ring, digest, e->ring);
  HXS_NEED(hx_tensor_desc, rows, e->plaintext);
  if (e->tables == NULL || e->scale_mantissa == 0 || e->complex_values > 1) {
    return hxs_fail(error, HX_INVALID, "%s",
                    e->tables == NULL        ? "the encoding has no tables"
                    : e->scale_mantissa == 0 ? "the scale of the encoding is 0"
                                             : "complex_values of the encoding must be 0 or 1");
  }
  if (e->slots == 0 || (e->slots & (e->slots - 1)) != 0 || e->slots > (1u << e->ring->log_n) / 2) {
    return hxs_fail(error, HX_INVALID, "%u slots; a power of two up to %u is needed", e->slots,
                    (1u << e->ring->log_n) / 2);
  }
  return HX_OK;
}

static int32_t make_code(const hx_encoding *e, bool inverse, hx_cuda_code_t *out) {
  int32_t exponent = 0, spread = 0;
  const hx_cuda_dd_t scale = hx_cuda_code_scale(e, inverse, &exponent);
  while (e->slots >> spread > 1) {
    spread++;
  }
  exponent -= inverse ? 0 : spread;  // the transform to coefficients leaves a factor of the slots
  exponent = exponent > POWER_MAX ? POWER_MAX : exponent < -POWER_MAX ? -POWER_MAX : exponent;
  *out = (hx_cuda_code_t){scale.hi, scale.lo, {ldexp(1, exponent / 2), ldexp(1, exponent - exponent / 2)}};
  return HX_OK;
}

// The roots of the ring, made at first use and kept with its tables.
static int32_t find_roots(hx_tables *tables, uint64_t *out, hx_error *error) {
  const uint32_t log_n = tables->ring.log_n;
  const size_t bytes = ((size_t)1 << (log_n - 1)) * sizeof(hx_cuda_complex_t);
  int32_t code = HX_OK;
  pthread_mutex_lock(&tables->lock);
  if (tables->roots == 0) {
    hx_cuda_complex_t *roots = malloc(bytes);
    uint64_t address = 0;
    code = roots != NULL ? hx_cuda_device_alloc(tables->device, bytes, &address, error)
                         : hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for %zu bytes of roots", bytes);
    if (code == HX_OK) {
      hx_cuda_code_roots(log_n, roots);
      code = hx_cuda_device_upload(tables->device, address, roots, bytes, error);
    }
    if (code == HX_OK) {
      tables->roots = address;
    } else if (address != 0) {
      hx_cuda_device_free(tables->device, address);
    }
    free(roots);
  }
  *out = tables->roots;
  pthread_mutex_unlock(&tables->lock);
  return code;
}

static int32_t prepare_call(hx_device *device, const hx_encoding *e, bool encodes, hx_prepared **out,
                            uint64_t *out_scratch, hx_error *error) {
  hx_cuda_code_t code;
  HXS_TRY(make_code(e, !encodes, &code));
  const uint64_t doubles = (uint64_t)e->slots * (e->complex_values != 0 ? 2 : 1);
  uint64_t items = 1;
  for (uint32_t i = 0; i < e->plaintext->batch_rank && e->plaintext->batch_shape != NULL; i++) {
    items *= e->plaintext->batch_shape[i];
  }
  uint32_t log = 0;
  while ((uint64_t)1 << log < doubles) {
    log++;
  }
  const hx_tensor_desc numbers = {.struct_size = HX_END_OF(hx_tensor_desc, rows),
                                  .dtype = HX_F64,
                                  .log_n = log,
                                  .batch_rank = 1,
                                  .components = 1,
                                  .limbs = 1,
                                  .batch_shape = &items,
                                  .batch_strides = &doubles,
                                  .component_stride = doubles,
                                  .limb_stride = doubles};
  hx_tensor_desc values[2] = {numbers, *e->plaintext};
  values[1].struct_size = HX_END_OF(hx_tensor_desc, rows);
  const uint32_t number_id = 0, plaintext_id = 1;
  const int64_t slots = e->slots, pairs = e->complex_values;
  const hx_attr attrs[] = {{HX_END_OF(hx_attr, data), HX_ATTR_I64, 1, 0, "slots", &slots},
                           {HX_END_OF(hx_attr, data), HX_ATTR_I64, 1, 0, "complex", &pairs},
                           {HX_END_OF(hx_attr, data), HX_ATTR_F64, 4, 0, "scale", &code}};
  const hx_op op = {.struct_size = HX_END_OF(hx_op, resources),
                    .signature = 1,
                    .attr_count = 3,
                    .operand_count = 1,
                    .result_count = 1,
                    .name = encodes ? "codec.encode" : "codec.decode",
                    .attrs = attrs,
                    .operands = encodes ? &number_id : &plaintext_id,
                    .results = encodes ? &plaintext_id : &number_id};
  const hx_region region = {.struct_size = HX_END_OF(hx_region, variant),
                            .value_count = 2,
                            .op_count = 1,
                            .input_count = 1,
                            .output_count = 1,
                            .ring = e->ring,
                            .tables = e->tables,
                            .values = values,
                            .ops = &op,
                            .inputs = op.operands,
                            .outputs = op.results};
  int32_t alias = -1;
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = 1, .may_alias = &alias};
  HXS_TRY(hxs_prepare(&hx_cuda_code_plugin, device, &region, &plan, out, error));
  *out_scratch = plan.scratch_device;
  return HX_OK;
}

// Launches with scratch memory that the stream gives and takes back.
static int32_t launch(hx_queue *queue, hx_prepared *prepared, uint64_t scratch_bytes, const hx_call *call,
                      uint64_t roots, hx_error *error) {
  const hx_cuda_driver_t *driver = queue->device->driver;
  uint64_t scratch = 0;
  int32_t code = queue->recording == NULL
                     ? hx_cuda_queue_flag(queue, error)
                     : hxs_fail(error, HX_UNSUPPORTED, "codec: encoding and decoding are not recorded");
  if (code == HX_OK) {
    const int32_t result = driver->cuMemAllocAsync(&scratch, scratch_bytes, queue->stream);
    code = result == 0 ? HX_OK : hx_cuda_device_fail(queue->device, "codec: cuMemAllocAsync", result, error);
  }
  if (code == HX_OK) {
    queue->last_name = prepared->base.name;
    queue->follows_launch = false;  // an allocation is between
    hx_cuda_code_patch(prepared, roots, (uint64_t)(uintptr_t)queue->flag);
    code = hx_cuda_steps_run(prepared, call, scratch, error);
    driver->cuMemFreeAsync(scratch, queue->stream);
    queue->follows_launch = false;
    if (code != HX_OK) {
      hxs_gate_poison(&queue->gate, code, "a kernel of the codec could not be launched");
    }
  }
  driver->cuMemFreeAsync(prepared->constants, queue->stream);
  prepared->constants = 0;
  return code;
}

static int32_t check_span(void *self, const hxs_view *view, hx_span span, const char *what, hx_error *error) {
  uint64_t address = 0;
  return hx_cuda_span_address(self, span, view->bytes, view->element_bytes, false, what, &address, error);
}

static int32_t run(hx_queue *queue, const hx_encoding *e, hx_span values, hx_span plaintext, bool encodes,
                   hx_error *error) {
  if (queue == NULL) {
    return hxs_fail(error, HX_INVALID, "the queue is missing");
  }
  HXS_TRY(check_encoding(e, error));
  hx_device *device = queue->device;
  hx_prepared *prepared = NULL;
  uint64_t scratch_bytes = 0, roots = 0;
  HXS_TRY(prepare_call(device, e, encodes, &prepared, &scratch_bytes, error));
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs),
                        .queue = queue,
                        .inputs = encodes ? &values : &plaintext,
                        .outputs = encodes ? &plaintext : &values};
  int32_t code = hxs_call_spans(&prepared->base, &call, check_span, device, error);
  code = code != HX_OK ? code : find_roots(e->tables, &roots, error);
  code = code != HX_OK ? code : hx_cuda_queue_enter(queue, error);
  if (code == HX_OK) {
    code = launch(queue, prepared, scratch_bytes, &call, roots, error);
    hx_cuda_queue_leave(queue);
  }
  hxs_destroy(prepared);
  return code;
}

static int32_t codec_encode(hx_queue *queue, const hx_encoding *e, hx_span values, hx_span plaintext, hx_error *error) {
  return run(queue, e, values, plaintext, true, error);
}

static int32_t codec_decode(hx_queue *queue, const hx_encoding *e, hx_span plaintext, hx_span values, hx_error *error) {
  return run(queue, e, values, plaintext, false, error);
}

const hx_codec_ops hx_cuda_codec_ops = {.struct_size = HX_END_OF(hx_codec_ops, decode),
                                        .exactness = HX_TOLERANCE,
                                        .tolerance_log2 = 0,
                                        .encode = codec_encode,
                                        .decode = codec_decode};
