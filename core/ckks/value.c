// SPDX-License-Identifier: Apache-2.0
// Values: a tensor with its state. The state never changes after creation.
#include "core/ckks/value.h"

#include <stdio.h>
#include <string.h>

#include "core/base/text.h"

void hx_type_layout(const hx_type_t *type, const hx_ring *ring, hx_layout_t *out) {
  if (type->kind == HX_TYPE_SEED) {
    *out = (hx_layout_t){.dtype = HX_U8, .log_n = 5, .components = 1, .limbs = 1};  // 32 bytes
    (void)hx_layout_pack(out);
    return;
  }
  if (type->kind == HX_TYPE_INTEGER || type->kind == HX_TYPE_INDEX || type->kind == HX_TYPE_F64) {
    *out = (hx_layout_t){.dtype = type->kind == HX_TYPE_F64 ? HX_F64 : HX_I64, .components = 1, .limbs = 1};
    (void)hx_layout_pack(out);
    return;
  }
  *out = (hx_layout_t){.dtype = type->kind == HX_TYPE_TENSOR ? type->dtype
                                : ring->word == 32           ? HX_U32
                                                             : HX_U64,
                       .log_n = ring->log_n,
                       .batch_rank = type->batch_rank,
                       .components = type->kind == HX_TYPE_PLAINTEXT ? 1 : type->components,
                       .limbs = hx_primes_count(&type->primes)};
  if (out->dtype == HX_I64 && out->limbs == 0) out->limbs = 1;  // signed words belong to no prime
  memcpy(out->batch_shape, type->batch_shape, type->batch_rank * sizeof type->batch_shape[0]);
  (void)hx_layout_pack(out);  // an overflow leaves the strides 0, and hx_tensor_create refuses the shape
}

// Takes the tensor's reference.
static hx_status_t make(const hx_params_t *params, const hx_type_t *type, hx_tensor_t *tensor, bool secret,
                        hx_value_t **out) {
  hx_value_t *value = hx_zalloc(1, sizeof *value);
  if (value == NULL) {
    hx_tensor_release(tensor);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  atomic_init(&value->refs, 1);
  value->params = hx_params_retain(params);
  hx_type_copy(&value->type, type);
  value->tensor = tensor;
  value->secret = secret;
  *out = value;
  return HX_STATUS_OK;
}

static void forget_symbol(hx_storage_t *storage) { (void)storage; }

hx_status_t hx_value_create_symbol(const hx_params_t *params, const hx_type_t *type, hx_symbol_t symbol,
                                   hx_value_t **out) {
  HX_TRY(hx_value_check_type(params, type, NULL));
  hx_tensor_t *tensor = hx_zalloc(1, sizeof *tensor);
  if (tensor == NULL) return HX_STATUS_OUT_OF_MEMORY;
  atomic_init(&tensor->refs, 1);
  hx_type_layout(type, hx_params_ring(params), &tensor->layout);
  const uint64_t bytes = hx_layout_elements(&tensor->layout) * hx_dtype_bytes(tensor->layout.dtype);
  static const char nowhere;  // no device: nothing takes it for memory of its own
  tensor->storage = hx_storage_wrap(NULL, bytes, &nowhere, NULL, forget_symbol, NULL, false);
  if (tensor->storage == NULL) {
    hx_free(tensor);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  HX_TRY(make(params, type, tensor, false, out));
  (*out)->symbol = symbol;
  return HX_STATUS_OK;
}

hx_status_t hx_value_want_data(const hx_value_t *value, const char *what, hx_report_t *report) {
  if (value->symbol.owner == NULL) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_UNSUPPORTED,
                        "%s, so it is not recorded: while a function is captured its values have no data", what);
}

static hx_status_t create(const hx_params_t *params, const hx_type_t *type, bool secret,
                          hx_status_t (*tensor_create)(const hx_layout_t *, bool, hx_tensor_t **), hx_value_t **out) {
  HX_TRY(hx_value_check_type(params, type, NULL));
  hx_layout_t layout;
  hx_type_layout(type, hx_params_ring(params), &layout);
  hx_tensor_t *tensor = NULL;
  HX_TRY(tensor_create(&layout, secret, &tensor));
  return make(params, type, tensor, secret, out);
}

hx_status_t hx_value_create(const hx_params_t *params, const hx_type_t *type, bool secret, hx_value_t **out) {
  return create(params, type, secret, hx_tensor_create, out);
}

hx_status_t hx_value_create_unset(const hx_params_t *params, const hx_type_t *type, bool secret, hx_value_t **out) {
  return create(params, type, secret, hx_tensor_create_unset, out);
}

// "[2, 3]x[2 components, 4 limbs, 4096]"
static void describe_shape(const hx_layout_t *layout, char *text, size_t size) {
  size_t used = 0;
  for (uint32_t a = 0; a < layout->batch_rank && used < size; ++a) {
    used += (size_t)snprintf(text + used, size - used, "%llu x ", (unsigned long long)layout->batch_shape[a]);
  }
  if (used < size) {
    snprintf(text + used, size - used, "%u components x %u limbs x %llu, dtype %u", layout->components, layout->limbs,
             1ULL << layout->log_n, layout->dtype);
  }
}

hx_status_t hx_value_wrap(const hx_params_t *params, const hx_type_t *type, hx_tensor_t *tensor, bool secret,
                          hx_value_t **out, hx_report_t *report) {
  HX_TRY(hx_value_check_type(params, type, report));
  hx_layout_t layout;
  hx_type_layout(type, hx_params_ring(params), &layout);
  if (!hx_layout_same_shape(&layout, &tensor->layout) || tensor->layout.digits != 0) {
    char expected[160], found[160];
    describe_shape(&layout, expected, sizeof expected);
    describe_shape(&tensor->layout, found, sizeof found);
    return hx_report_fail(report, HX_CODE_SHAPE, "a value's tensor is %s, its type asks for %s", found, expected);
  }
  if (secret) tensor->storage->secret = true;  // wiped when it goes
  if (make(params, type, hx_tensor_retain(tensor), secret, out) != HX_STATUS_OK) {
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a value");
  }
  return HX_STATUS_OK;
}

hx_truth_t *hx_truth_retain(hx_truth_t *truth) {
  if (truth != NULL) atomic_fetch_add_explicit(&truth->refs, 1, memory_order_relaxed);
  return truth;
}

void hx_truth_release(hx_truth_t *truth) {
  if (truth == NULL || atomic_fetch_sub_explicit(&truth->refs, 1, memory_order_acq_rel) != 1) return;
  hx_wipe(truth->pairs, 2 * truth->slots * sizeof truth->pairs[0]);
  hx_free(truth);
}

hx_value_t *hx_value_retain(const hx_value_t *value) {
  hx_value_t *shared = (hx_value_t *)(uintptr_t)value;  // the count alone changes
  if (shared != NULL) atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void hx_value_release(hx_value_t *value) {
  if (value == NULL || atomic_fetch_sub_explicit(&value->refs, 1, memory_order_acq_rel) != 1) return;
  if (value->symbol.owner != NULL) value->symbol.release(value->symbol.owner);
  hx_tensor_release(value->tensor);  // its storage wipes secrets
  hx_truth_release(value->truth);
  hx_params_release(value->params);
  hx_free(value);
}

hx_value_kind_t hx_value_kind(const hx_value_t *value) {
  switch (value->type.kind) {
    case HX_TYPE_CIPHERTEXT:
      return HX_VALUE_CIPHERTEXT;
    case HX_TYPE_PLAINTEXT:
      return HX_VALUE_PLAINTEXT;
    case HX_TYPE_INTEGER:
    case HX_TYPE_INDEX:
    case HX_TYPE_F64:
      return HX_VALUE_NUMBER;
    default:
      return HX_VALUE_TENSOR;
  }
}

const hx_params_t *hx_value_params(const hx_value_t *value) { return value->params; }
const uint8_t *hx_value_key_id(const hx_value_t *value) { return value->key_id; }
uint32_t hx_value_depth(const hx_value_t *value) { return value->type.depth; }
uint32_t hx_value_components(const hx_value_t *value) { return value->tensor->layout.components; }
uint32_t hx_value_slots(const hx_value_t *value) { return value->type.slots; }
uint32_t hx_value_limbs(const hx_value_t *value) { return value->tensor->layout.limbs; }
uint64_t hx_value_count(const hx_value_t *value) { return value->count; }
bool hx_value_is_complex(const hx_value_t *value) { return value->is_complex; }
bool hx_value_is_secret(const hx_value_t *value) { return value->secret; }

double hx_value_scale_log2(const hx_value_t *value) {
  return hx_scale_log2(&value->type.scale, hx_params_ring(value->params));
}

uint64_t hx_value_bytes(const hx_value_t *value) {
  const hx_layout_t *layout = &value->tensor->layout;
  return hx_layout_elements(layout) * hx_dtype_bytes(layout->dtype);
}

size_t hx_value_type_text(const hx_value_t *value, char *text, size_t size) {
  hx_text_t out;
  hx_text_init(&out);
  size_t length = 0;
  if (hx_type_print(&value->type, &out) == HX_STATUS_OK && !out.failed && out.data != NULL) {
    length = out.size;
    if (size > 0) snprintf(text, size, "%s", out.data);
  } else if (size > 0) {
    text[0] = '\0';
  }
  hx_text_deinit(&out);
  return length;
}

static bool equal_rows(const hx_tensor_t *a, const hx_tensor_t *b) {
  const hx_layout_t *layout = &a->layout;
  const size_t bytes = ((size_t)1 << layout->log_n) * hx_dtype_bytes(layout->dtype);
  const uint64_t items = hx_layout_items(layout);
  for (uint64_t item = 0; item < items; ++item) {
    for (uint32_t component = 0; component < layout->components; ++component) {
      for (uint32_t limb = 0; limb < layout->limbs; ++limb) {
        const void *x = hx_tensor_row(a, item, 0, component, limb), *y = hx_tensor_row(b, item, 0, component, limb);
        if (x == NULL || y == NULL || memcmp(x, y, bytes) != 0) return false;
      }
    }
  }
  return true;
}

bool hx_value_equal(const hx_value_t *a, const hx_value_t *b) {
  if (a->symbol.owner != NULL || b->symbol.owner != NULL) return a == b;
  return hx_params_same(a->params, b->params) && memcmp(a->key_id, b->key_id, sizeof a->key_id) == 0 &&
         hx_type_equal(&a->type, &b->type) && hx_layout_same_shape(&a->tensor->layout, &b->tensor->layout) &&
         equal_rows(a->tensor, b->tensor);
}
