// SPDX-License-Identifier: Apache-2.0
// Batches: values stacked into one, and views of items. No arithmetic.
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/ckks/value.h"

uint32_t hx_value_batch(const hx_value_t *value, uint64_t *out_shape) {
  const hx_type_t *type = &value->type;
  for (uint32_t a = 0; out_shape != NULL && a < type->batch_rank; ++a) out_shape[a] = type->batch_shape[a];
  return type->batch_rank;
}

// ------------------------------------------------------------------ stack

static hx_code_t code_of_part(const char *part) {
  static const struct {
    const char *part;
    hx_code_t code;
  } codes[] = {{"scale", HX_CODE_SCALE_MISMATCH},  {"depth", HX_CODE_DEPTH_MISMATCH}, {"slots", HX_CODE_SLOTS_MISMATCH},
               {"components", HX_CODE_COMPONENTS}, {"domain", HX_CODE_DOMAIN},        {"repr", HX_CODE_DOMAIN},
               {"primes", HX_CODE_PRIMES},         {"basis", HX_CODE_PRIMES},         {"batch", HX_CODE_SHAPE}};
  for (size_t i = 0; i < HX_COUNT_OF(codes); ++i) {
    if (strcmp(codes[i].part, part) == 0) return codes[i].code;
  }
  return HX_CODE_TYPE;
}

static hx_status_t fail_part(size_t index, const hx_value_t *first, const hx_value_t *value, const char *part,
                             hx_report_t *report) {
  hx_text_t expected, found;
  hx_text_init(&expected);
  hx_text_init(&found);
  (void)hx_type_print(&first->type, &expected);
  (void)hx_type_print(&value->type, &found);
  char text[160];
  snprintf(text, sizeof text, "value %zu of the stack has another %s than value 0", index, part);
  const hx_fault_t fault = {.code = code_of_part(part),
                            .text = text,
                            .expected = expected.failed ? NULL : expected.data,
                            .found = found.failed ? NULL : found.data,
                            .hint = "items of one batch have one state; bring them to it first"};
  const hx_status_t status = hx_report_add(report, &fault);
  hx_text_deinit(&expected);
  hx_text_deinit(&found);
  return status;
}

static hx_status_t check_alike(size_t index, const hx_value_t *first, const hx_value_t *value, hx_report_t *report) {
  if (value == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "value %zu of the stack is NULL", index);
  HX_TRY(hx_value_want_data(value, "hx_value_stack is no operation", report));
  if (value->tensor->storage->device != NULL)
    return hx_report_fail(report, HX_CODE_DEVICE_MIX,
                          "value %zu of the stack lies in device memory; bring it to the host first", index);
  if (!hx_params_same(first->params, value->params))
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "value %zu of the stack belongs to parameters %.16s..., value 0 to %.16s...", index,
                          hx_params_digest_hex(value->params), hx_params_digest_hex(first->params));
  if (memcmp(first->key_id, value->key_id, sizeof first->key_id) != 0)
    return hx_report_fail(report, HX_CODE_KEY_ID, "value %zu of the stack belongs to another secret than value 0",
                          index);
  const char *part = "kind";
  if (first->type.kind != value->type.kind || !hx_type_agrees(&first->type, &value->type, &part)) {
    if (first->type.depth != value->type.depth) part = "depth";  // the cause before what follows from it
    return fail_part(index, first, value, part, report);
  }
  return HX_STATUS_OK;
}

static void copy_item(const hx_tensor_t *from, hx_tensor_t *to, uint64_t first_item) {
  const hx_layout_t *layout = &from->layout;
  const size_t bytes = ((size_t)1 << layout->log_n) * hx_dtype_bytes(layout->dtype);
  const uint64_t items = hx_layout_items(layout);
  for (uint64_t item = 0; item < items; ++item)
    for (uint32_t c = 0; c < layout->components; ++c)
      for (uint32_t l = 0; l < layout->limbs; ++l)
        memcpy(hx_tensor_row(to, first_item + item, 0, c, l), hx_tensor_row(from, item, 0, c, l), bytes);
}

hx_status_t hx_value_stack(const hx_value_t *const *values, size_t count, hx_value_t **out, hx_report_t *report) {
  if (values == NULL || count == 0 || out == NULL || values[0] == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_value_stack: no values, or an argument is NULL");
  const hx_value_t *first = values[0];
  if (first->type.batch_rank == HX_BATCH_RANK_MAX)
    return hx_report_fail(report, HX_CODE_SHAPE, "the values have %u batch axes already, the most there can be",
                          HX_BATCH_RANK_MAX);
  bool secret = false;
  for (size_t i = 0; i < count; ++i) {
    HX_TRY(check_alike(i, first, values[i], report));
    secret = secret || values[i]->secret;
  }
  hx_type_t type;
  hx_type_copy(&type, &first->type);
  memmove(type.batch_shape + 1, type.batch_shape, type.batch_rank * sizeof type.batch_shape[0]);
  type.batch_shape[0] = count;
  type.batch_rank += 1;
  hx_value_t *value = NULL;
  if (hx_value_create(first->params, &type, secret, &value) != HX_STATUS_OK)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a batch of %zu values", count);
  const uint64_t items = hx_layout_items(&first->tensor->layout);
  for (size_t i = 0; i < count; ++i) {
    copy_item(values[i]->tensor, value->tensor, i * items);
    if (values[i]->count > value->count) value->count = values[i]->count;
    value->is_complex = value->is_complex || values[i]->is_complex;
  }
  memcpy(value->key_id, first->key_id, sizeof value->key_id);
  hx_value_note_stack(value, values, count);
  hx_tensor_touch(value->tensor);
  *out = value;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ views

static hx_status_t check_axis(const hx_value_t *value, uint32_t axis, hx_report_t *report) {
  if (value == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "the batch is NULL");
  HX_TRY(hx_value_want_data(value, "taking items of a batch is no operation", report));
  if (axis >= value->type.batch_rank)
    return hx_report_fail(report, HX_CODE_SHAPE, "batch axis %u does not exist: the value has %u", axis,
                          value->type.batch_rank);
  return HX_STATUS_OK;
}

// Shares memory from item `first` of the axis on; type and layout have their new shape already.
static hx_status_t view(const hx_value_t *value, uint32_t axis, uint64_t first, const hx_type_t *type,
                        const hx_layout_t *layout, hx_value_t **out, hx_report_t *report) {
  const hx_layout_t *whole = &value->tensor->layout;
  const uint64_t offset = value->tensor->offset + first * whole->batch_strides[axis] * hx_dtype_bytes(whole->dtype);
  hx_tensor_t *tensor = NULL;
  hx_value_t *made = NULL;
  HX_TRY(hx_tensor_view(value->tensor, offset, layout, &tensor, report));
  const hx_status_t status = hx_value_wrap(value->params, type, tensor, value->secret, &made, report);
  hx_tensor_release(tensor);
  if (status != HX_STATUS_OK) return status;
  memcpy(made->key_id, value->key_id, sizeof made->key_id);
  made->count = value->count;
  made->is_complex = value->is_complex;
  made->noise = value->noise;
  *out = made;
  return HX_STATUS_OK;
}

hx_status_t hx_value_select(const hx_value_t *value, uint32_t axis, uint64_t index, hx_value_t **out,
                            hx_report_t *report) {
  HX_TRY(check_axis(value, axis, report));
  if (index >= value->type.batch_shape[axis])
    return hx_report_fail(report, HX_CODE_SHAPE, "item %llu of batch axis %u does not exist: the axis has %llu",
                          (unsigned long long)index, axis, (unsigned long long)value->type.batch_shape[axis]);
  hx_type_t type;
  hx_type_copy(&type, &value->type);
  hx_layout_t layout = value->tensor->layout;
  const size_t rest = type.batch_rank - axis - 1;
  memmove(type.batch_shape + axis, type.batch_shape + axis + 1, rest * sizeof type.batch_shape[0]);
  memmove(layout.batch_shape + axis, layout.batch_shape + axis + 1, rest * sizeof layout.batch_shape[0]);
  memmove(layout.batch_strides + axis, layout.batch_strides + axis + 1, rest * sizeof layout.batch_strides[0]);
  type.batch_rank = layout.batch_rank -= 1;
  type.batch_shape[type.batch_rank] = 0;  // unused places are zero
  layout.batch_shape[type.batch_rank] = layout.batch_strides[type.batch_rank] = 0;
  return view(value, axis, index, &type, &layout, out, report);
}

hx_status_t hx_value_slice(const hx_value_t *value, uint32_t axis, uint64_t first, uint64_t count, hx_value_t **out,
                           hx_report_t *report) {
  HX_TRY(check_axis(value, axis, report));
  const uint64_t length = value->type.batch_shape[axis];
  if (count == 0 || first >= length || count > length - first)
    return hx_report_fail(report, HX_CODE_SHAPE, "%llu items from %llu on do not lie in batch axis %u of %llu",
                          (unsigned long long)count, (unsigned long long)first, axis, (unsigned long long)length);
  hx_type_t type;
  hx_type_copy(&type, &value->type);
  hx_layout_t layout = value->tensor->layout;
  type.batch_shape[axis] = layout.batch_shape[axis] = count;
  return view(value, axis, first, &type, &layout, out, report);
}

hx_status_t hx_value_unbind(const hx_value_t *value, hx_value_t **outs, hx_report_t *report) {
  HX_TRY(check_axis(value, 0, report));
  const uint64_t length = value->type.batch_shape[0];
  hx_value_t **items = hx_zalloc(length, sizeof *items);
  if (items == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to unbind a batch");
  hx_status_t status = HX_STATUS_OK;
  for (uint64_t i = 0; i < length && status == HX_STATUS_OK; ++i)
    status = hx_value_select(value, 0, i, &items[i], report);
  for (uint64_t i = 0; i < length; ++i) {
    if (status == HX_STATUS_OK) {
      outs[i] = items[i];
    } else {
      hx_value_release(items[i]);
    }
  }
  hx_free(items);
  return status;
}
