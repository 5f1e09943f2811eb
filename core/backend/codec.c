// SPDX-License-Identifier: Apache-2.0
// The call of a codec: the encoding described, its numbers brought to the device and back.
#include "core/backend/codec.h"

// One call: the numbers on the device, and what the plugin is told.
typedef struct call {
  hx_opened_device_t *device;
  hx_device_tables_t *tables;
  hx_storage_t *numbers;
  uint64_t bytes;  // of the numbers
  hx_buffer *plaintext;
  hx_tensor_desc desc;
  hx_encoding encoding;
  uint32_t ids[HX_PRIMES_MAX];
  int32_t powers[HX_PRIMES_MAX];
} call_t;

static hx_status_t describe_scale(call_t *call, const hx_scale_t *scale, hx_report_t *report) {
  if ((scale->m[1] | scale->m[2] | scale->m[3]) != 0) {
    return hx_report_fail(report, HX_CODE_UNSUPPORTED,
                          "the codec of %s takes scales m * 2^e with m below 2^64; this one has a larger m",
                          call->device->name);
  }
  call->encoding.scale_mantissa = scale->m[0];
  call->encoding.scale_exponent = (int32_t)scale->e;
  for (uint32_t t = 0; t < scale->term_count; ++t) call->powers[scale->terms[t].id] = scale->terms[t].exponent;
  call->encoding.prime_powers = call->powers;
  return HX_STATUS_OK;
}

static void describe_plaintext(call_t *call, const hx_device_coding_t *coding) {
  const hx_layout_t *layout = coding->layout;
  (void)hx_primes_list(&coding->type->primes, call->ids);
  call->desc = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                                .dtype = layout->dtype,
                                .log_n = layout->log_n,
                                .batch_rank = layout->batch_rank,
                                .components = 1,
                                .limbs = layout->limbs,
                                .domain = coding->type->domain,
                                .basis = coding->type->basis,
                                .repr = coding->type->repr,
                                .flags = coding->secret ? HX_SECRET : 0,
                                .batch_shape = layout->batch_shape,
                                .batch_strides = layout->batch_strides,
                                .component_stride = layout->component_stride,
                                .limb_stride = layout->limb_stride,
                                .prime_ids = call->ids};
}

static void close_call(call_t *call) {
  if (call->numbers != NULL) hx_storage_release(call->numbers);
  hx_device_tables_release(call->tables);
}

static hx_status_t open_call(call_t *call, hx_opened_device_t *device, const hx_device_coding_t *coding,
                             hx_report_t *report) {
  *call = (call_t){.device = device};
  if (device->codec.encode == NULL || device->codec.decode == NULL) {
    return hx_report_fail(report, HX_CODE_UNSUPPORTED, "%s has no codec: its plugin does not encode or decode",
                          device->name);
  }
  HX_TRY(describe_scale(call, &coding->type->scale, report));
  describe_plaintext(call, coding);
  HX_TRY(hx_device_tables_acquire(device, coding->ring, &call->tables, report));
  call->encoding.struct_size = HX_END_OF(hx_encoding, plaintext);
  call->encoding.complex_values = coding->complex_values;
  call->encoding.slots = coding->type->slots;
  call->encoding.ring = coding->ring;
  call->encoding.tables = call->tables->handle;
  call->encoding.plaintext = &call->desc;
  call->bytes = hx_layout_items(coding->layout) * coding->type->slots * (coding->complex_values ? 16 : 8);
  hx_status_t status = hx_device_buffer(device, coding->plaintext, "the plaintext", &call->plaintext, report);
  if (status == HX_STATUS_OK)
    status = hx_device_alloc(device, HX_SPACE_DEVICE, call->bytes, coding->secret, &call->numbers, report);
  if (status != HX_STATUS_OK) close_call(call);
  return status;
}

hx_status_t hx_device_encode(hx_opened_device_t *device, const hx_device_coding_t *coding, const double *values,
                             hx_report_t *report) {
  call_t call;
  HX_TRY(open_call(&call, device, coding, report));
  hx_status_t status = hx_device_upload(device, call.numbers, 0, values, call.bytes, report);
  if (status == HX_STATUS_OK) status = hx_device_service_begin(device, report);
  if (status == HX_STATUS_OK) {
    hx_error error = hx_error_make();
    const int32_t result = device->codec.encode(device->service, &call.encoding, (hx_span){call.numbers->buffer, 0},
                                                (hx_span){call.plaintext, coding->offset}, &error);
    status = hx_device_service_end(device, result, &error, "encode", report);
    hx_storage_touch(coding->plaintext);
  }
  close_call(&call);
  return status;
}

hx_status_t hx_device_decode(hx_opened_device_t *device, const hx_device_coding_t *coding, double *out_values,
                             hx_report_t *report) {
  call_t call;
  HX_TRY(open_call(&call, device, coding, report));
  hx_status_t status = hx_device_service_begin(device, report);
  if (status == HX_STATUS_OK) {
    hx_error error = hx_error_make();
    const int32_t result =
        device->codec.decode(device->service, &call.encoding, (hx_span){call.plaintext, coding->offset},
                             (hx_span){call.numbers->buffer, 0}, &error);
    status = hx_device_service_end(device, result, &error, "decode", report);
  }
  if (status == HX_STATUS_OK) status = hx_device_download(device, out_values, call.numbers, 0, call.bytes, report);
  close_call(&call);
  return status;
}
