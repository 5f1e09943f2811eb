// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding by the codec of the engine's device: asked for by name, never instead of the library's own.
#include <math.h>
#include <string.h>

#include "core/backend/codec.h"
#include "core/ckks/encode.h"
#include "core/eager/engine.h"
#include "core/link/executable.h"

static hx_opened_device_t *device_of(const hx_engine_t *engine) {
  return engine->backend == NULL || engine->backend->device_count == 0 ? NULL : engine->backend->devices[0];
}

void hx_engine_codec(const hx_engine_t *engine, hx_codec_t *out) {
  const hx_opened_device_t *device = engine == NULL ? NULL : device_of(engine);
  *out = (hx_codec_t){.promise = HX_CODEC_NONE};
  if (device == NULL || device->codec.encode == NULL || device->codec.decode == NULL) return;
  const bool exact = device->codec.exactness == HX_BIT_EXACT;
  out->promise = exact ? HX_CODEC_EXACT : HX_CODEC_WITHIN;
  // A bound that no double holds is no promise worth a number.
  out->bound = exact                                 ? 0.0
               : device->codec.tolerance_log2 < 1023 ? ldexp(1.0, (int)device->codec.tolerance_log2)
                                                     : INFINITY;
}

// The device, if its codec promises as much as the caller wants and may see what is secret.
static hx_status_t find_device(const hx_engine_t *engine, hx_codec_promise_t least, bool secret, const char *what,
                               hx_opened_device_t **out, hx_codec_t *codec, hx_report_t *report) {
  if (engine == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: the engine is NULL", what);
  if (least != HX_CODEC_EXACT && least != HX_CODEC_WITHIN)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "%s: say what is wanted of the codec, HX_CODEC_EXACT or HX_CODEC_WITHIN", what);
  if (engine->capture != NULL)
    return hx_report_fail(report, HX_CODE_UNSUPPORTED,
                          "%s runs on a device, so it is not recorded: call it before a function is captured", what);
  hx_opened_device_t *device = device_of(engine);
  hx_engine_codec(engine, codec);
  if (codec->promise == HX_CODEC_NONE)
    return hx_report_fail(report, HX_CODE_UNSUPPORTED,
                          "%s has no codec: use hx_engine_encode and hx_engine_decode, and move the plaintext with "
                          "hx_value_to_device",
                          device == NULL ? "the backend" : device->name);
  if (least == HX_CODEC_EXACT && codec->promise != HX_CODEC_EXACT)
    return hx_report_fail(report, HX_CODE_UNSUPPORTED,
                          "the codec of %s promises coefficients within %g of exact ones, not equal bits: take "
                          "HX_CODEC_WITHIN, or hx_engine_encode",
                          device->name, codec->bound);
  if (secret && !device->plugin->handles_secrets)
    return hx_report_fail(report, HX_CODE_CAPABILITY,
                          "%s: the message is secret, and plugin %s does not declare secrets; use hx_engine_encode or "
                          "hx_engine_decode",
                          what, device->plugin->record->name);
  *out = device;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ encoding

// One message as the codec wants it: every slot given. *out_mean: of the magnitudes of its slots, from above.
static void spread(const double *values, size_t count, size_t width, uint32_t period, uint32_t slots, double *to,
                   double *out_mean) {
  double sum = 0.0;
  for (uint32_t j = 0; j < slots; ++j) {
    const uint32_t from = j % period;  // a period is a power of two
    for (size_t k = 0; k < width; ++k) {
      to[j * width + k] = from < count ? values[from * width + k] : 0.0;
      sum += fabs(to[j * width + k]);
    }
  }
  *out_mean = sum / slots;
}

typedef struct messages {
  const double *values;
  size_t items, count;  // items at least 1
  bool complex_values;
  uint32_t period;
} messages_t;

static hx_status_t check_item(const hx_engine_t *engine, const hx_type_t *type, const messages_t *m, size_t item,
                              double *numbers, hx_report_t *report) {
  const size_t width = m->complex_values ? 2 : 1;
  const double *values = m->values + item * m->count * width;
  double mean = 0.0;
  HX_TRY(hx_encode_check_finite(values, m->count, m->complex_values, report));
  spread(values, m->count, width, m->period, type->slots, numbers + item * type->slots * width, &mean);
  if (hx_encode_is_small(engine->params, type, mean)) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_VALUE,
                        "the slots' mean magnitude is %g: at scale 2^%.2f coefficients may pass (Q_d - 1) / 2 at depth "
                        "%u, which the device does not look for; give smaller values or a smaller scale, or use "
                        "hx_engine_encode, which looks at each",
                        mean, hx_scale_log2(&type->scale, hx_params_ring(engine->params)), type->depth);
}

// All numbers, checked, in one block. Freed by the caller, who wipes it.
static hx_status_t gather(const hx_engine_t *engine, const hx_type_t *type, const messages_t *m, double *numbers,
                          bool is_batch, hx_report_t *report) {
  for (size_t i = 0; i < m->items; ++i) {
    hx_report_t *inner = is_batch ? hx_report_create() : NULL;
    const hx_status_t status = check_item(engine, type, m, i, numbers, is_batch ? inner : report);
    if (inner != NULL) hx_encode_tell_item(inner, i, report);
    hx_report_release(inner);
    HX_TRY(status);
  }
  return HX_STATUS_OK;
}

static hx_status_t create_plaintext(const hx_engine_t *engine, hx_opened_device_t *device, const hx_type_t *type,
                                    bool secret, hx_value_t **out, hx_report_t *report) {
  if (!hx_device_imports(device)) return hx_value_create_on(device, engine->params, type, secret, out, report);
  return hx_value_create_unset(engine->params, type, secret, out) == HX_STATUS_OK
             ? HX_STATUS_OK
             : hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a plaintext");
}

static hx_device_coding_t coding_of(const hx_value_t *plaintext, bool complex_values) {
  const hx_tensor_t *tensor = plaintext->tensor;
  return (hx_device_coding_t){.ring = hx_params_ring(plaintext->params),
                              .type = &plaintext->type,
                              .layout = &tensor->layout,
                              .plaintext = tensor->storage,
                              .offset = tensor->offset,
                              .complex_values = complex_values,
                              .secret = plaintext->secret};
}

static hx_status_t check_encode(const hx_engine_t *engine, const hx_encode_options_t *options, size_t items,
                                size_t count, hx_type_t *type, uint32_t *out_period, hx_report_t *report) {
  HX_TRY(hx_encode_type(engine->params, options, type, report));
  if (options->weighted)
    return hx_report_fail(report, HX_CODE_UNSUPPORTED,
                          "a codec encodes on primes of Q alone; make weights with hx_engine_prepare_plain");
  HX_TRY(hx_encode_check_period(options, type->slots, count, out_period, report));
  if (items == 0) return HX_STATUS_OK;
  type->batch_rank = 1;
  type->batch_shape[0] = items;
  const uint64_t bytes_each = (uint64_t)type->slots * 16;
  if (items > SIZE_MAX / 4 / bytes_each)
    return hx_report_fail(report, HX_CODE_LIMIT, "%zu messages do not fit into memory", items);
  return HX_STATUS_OK;
}

hx_status_t hx_engine_encode_device(hx_engine_t *engine, const double *values, size_t items, size_t count,
                                    bool complex_values, const hx_encode_options_t *options, hx_codec_promise_t least,
                                    hx_value_t **out, hx_report_t *report) {
  static const hx_encode_options_t defaults = {0};
  if (options == NULL) options = &defaults;
  hx_opened_device_t *device = NULL;
  hx_codec_t codec;
  HX_TRY(find_device(engine, least, options->secret, "hx_engine_encode_device", &device, &codec, report));
  if (values == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_engine_encode_device: an argument is NULL");
  hx_type_t type;
  messages_t m = {.values = values, .items = items == 0 ? 1 : items, .count = count, .complex_values = complex_values};
  HX_TRY(check_encode(engine, options, items, count, &type, &m.period, report));
  const size_t bytes = m.items * type.slots * (complex_values ? 2 : 1) * sizeof(double);
  double *numbers = hx_alloc(bytes);
  if (numbers == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for encoding");
  hx_value_t *value = NULL;
  hx_status_t status = gather(engine, &type, &m, numbers, items != 0, report);
  if (status == HX_STATUS_OK) status = create_plaintext(engine, device, &type, options->secret, &value, report);
  if (status == HX_STATUS_OK) {
    const hx_device_coding_t coding = coding_of(value, complex_values);
    status = hx_device_encode(device, &coding, numbers, report);
  }
  if (options->secret) hx_wipe(numbers, bytes);
  hx_free(numbers);
  if (status != HX_STATUS_OK) {
    hx_value_release(value);
    return status;
  }
  value->count = options->period != 0 ? type.slots : count;
  value->is_complex = complex_values;
  hx_value_note_messages(value, values, m.items, count, complex_values, m.period, options->magnitude, codec.bound);
  *out = value;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ decoding

static hx_status_t check_decode(const hx_engine_t *engine, const hx_opened_device_t *device,
                                const hx_value_t *plaintext, hx_report_t *report) {
  HX_TRY(hx_value_want_data(plaintext, "hx_engine_decode_device gives numbers to the host", report));
  HX_TRY(hx_decode_check_state(plaintext, report));
  if (!hx_params_same(plaintext->params, engine->params))
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "the plaintext's residues belong to parameters %.16s..., the engine to %.16s...",
                          hx_params_digest_hex(plaintext->params), hx_params_digest_hex(engine->params));
  if (plaintext->type.domain != HX_NTT)
    return hx_report_fail(report, HX_CODE_DOMAIN,
                          "the codec of %s reads plaintexts in ntt domain: convert it with hx_engine_to_ntt, or use "
                          "hx_engine_decode",
                          device->name);
  if (!hx_layout_is_dense(&plaintext->tensor->layout))
    return hx_report_fail(report, HX_CODE_SHAPE,
                          "the codec of %s reads dense plaintexts; this one is a view with gaps between its items",
                          device->name);
  return HX_STATUS_OK;
}

static hx_status_t refuse_numbers(double *numbers, size_t count, hx_report_t *report) {
  size_t index = 0;
  while (index < count - 1 && isfinite(numbers[index])) ++index;
  hx_wipe(numbers, count * sizeof *numbers);
  return hx_report_fail(report, HX_CODE_VALUE,
                        "number %zu is too large for a double: the message is wrong, or its scale", index);
}

hx_status_t hx_engine_decode_device(hx_engine_t *engine, const hx_value_t *plaintext, hx_codec_promise_t least,
                                    double *out_values, hx_report_t *report) {
  hx_opened_device_t *device = NULL;
  hx_codec_t codec;
  const bool secret = plaintext != NULL && plaintext->secret;
  HX_TRY(find_device(engine, least, secret, "hx_engine_decode_device", &device, &codec, report));
  if (plaintext == NULL || out_values == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_engine_decode_device: an argument is NULL");
  HX_TRY(check_decode(engine, device, plaintext, report));
  const size_t count = 2 * (size_t)plaintext->type.slots * (size_t)hx_layout_items(&plaintext->tensor->layout);
  const hx_device_coding_t coding = coding_of(plaintext, true);
  HX_TRY(hx_device_decode(device, &coding, out_values, report));
  double worst = 0.0;  // 0 * x is 0 for finite x, else NaN
  for (size_t i = 0; i < count; ++i) worst += 0.0 * out_values[i];
  return isnan(worst) ? refuse_numbers(out_values, count, report) : HX_STATUS_OK;
}
