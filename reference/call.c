// SPDX-License-Identifier: Apache-2.0
// Places: where rows lie, and how they are loaded and stored.
#include "reference/call.h"

static hx_ref_place place_of(const hx_ref_call *call, uint32_t value, const char *side, uint32_t index) {
  const hx_ref_place place = {&call->values[value], call->data[value], side, index};
  return place;
}

hx_ref_place hx_ref_operand(const hx_ref_call *call, uint32_t index) {
  return place_of(call, call->op->operands[index], "operand", index);
}

hx_ref_place hx_ref_result(const hx_ref_call *call, uint32_t index) {
  return place_of(call, call->op->results[index], "result", index);
}

uint32_t hx_ref_dtype_bytes(uint32_t dtype) {
  switch (dtype) {
    case HX_U64:
    case HX_I64:
    case HX_F64:
      return 8;
    case HX_U32:
      return 4;
    case HX_U8:
      return 1;
    default:
      return 0;
  }
}

void *hx_ref_item(hx_ref_place place, uint64_t item) {
  const hx_tensor_desc *desc = place.desc;
  uint64_t offset = 0;
  for (uint32_t axis = desc->batch_rank; axis-- > 0;) {
    offset += item % desc->batch_shape[axis] * desc->batch_strides[axis];
    item /= desc->batch_shape[axis];
  }
  return (uint8_t *)place.memory + offset * hx_ref_dtype_bytes(desc->dtype);
}

static void *row_address(hx_ref_place place, uint64_t item, uint32_t digit, uint32_t component, uint32_t limb) {
  const hx_tensor_desc *desc = place.desc;
  const uint64_t row = desc->rows != NULL ? desc->rows[limb] : limb;
  const uint64_t offset = digit * desc->digit_stride + component * desc->component_stride + row * desc->limb_stride;
  return (uint8_t *)hx_ref_item(place, item) + offset * hx_ref_dtype_bytes(desc->dtype);
}

void hx_ref_load(const hx_ref_call *call, hx_ref_place place, uint64_t item, uint32_t component, uint32_t limb,
                 uint64_t *row) {
  hx_ref_row_load(call->ring, place.desc->dtype, row_address(place, item, 0, component, limb), row);
}

void hx_ref_store(const hx_ref_call *call, hx_ref_place place, uint64_t item, uint32_t component, uint32_t limb,
                  const uint64_t *row) {
  hx_ref_row_store(call->ring, place.desc->dtype, row, row_address(place, item, 0, component, limb));
}

void hx_ref_load_key(const hx_ref_call *call, hx_ref_place key, uint32_t digit, uint32_t component, uint32_t prime_id,
                     uint64_t *row) {
  const uint32_t limb = hx_ref_limb_of(key.desc, prime_id);
  hx_ref_row_load(call->ring, key.desc->dtype, row_address(key, 0, digit, component, limb), row);
}

void hx_ref_load_coefficients(const hx_ref_call *call, hx_ref_place place, uint64_t item, uint32_t component,
                              const hx_ref_rows *rows) {
  for (uint32_t i = 0; i < rows->count; ++i) {
    const uint32_t id = rows->prime_ids[i];
    hx_ref_load(call, place, item, component, hx_ref_limb_of(place.desc, id), rows->rows[i]);
    if (place.desc->domain == HX_NTT) hx_ref_ntt_inverse(call->ring, id, rows->rows[i]);
  }
}

void hx_ref_store_coefficients(const hx_ref_call *call, hx_ref_place place, uint64_t item, uint32_t component,
                               uint64_t *const *rows) {
  for (uint32_t limb = 0; limb < place.desc->limbs; ++limb) {
    if (place.desc->domain == HX_NTT) hx_ref_ntt_forward(call->ring, place.desc->prime_ids[limb], rows[limb]);
    hx_ref_store(call, place, item, component, limb, rows[limb]);
  }
}

uint32_t hx_ref_limb_of(const hx_tensor_desc *desc, uint32_t prime_id) {
  for (uint32_t limb = 0; limb < desc->limbs; ++limb)
    if (desc->prime_ids[limb] == prime_id) return limb;
  return HX_NONE;
}

void hx_ref_scratch(const hx_ref_call *call, uint64_t first, uint32_t count, uint64_t **out_rows) {
  assert(first + count <= call->scratch_rows);
  for (uint32_t i = 0; i < count; ++i) out_rows[i] = call->scratch + (first + i) * call->ring->n;
}
