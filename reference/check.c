// SPDX-License-Identifier: Apache-2.0
// Checks of places: what the descriptors say against what an operation asks for.
#include <stdarg.h>
#include <stdio.h>

#include "reference/call.h"

int32_t hx_ref_refuse(const hx_ref_call *call, int32_t code, const char *format, ...) {
  char text[240];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return hx_ref_fail(call->error, code, "%s: %s", call->op->name, text);
}

static int32_t refuse_value(const hx_ref_call *call, hx_ref_place place, const char *what, uint64_t found,
                            uint64_t expected) {
  return hx_ref_refuse(call, HX_INVALID, "%s %u has %s %llu, must be %llu", place.side, place.index, what,
                       (unsigned long long)found, (unsigned long long)expected);
}

static const char *domain_name(uint32_t domain) {
  return domain == HX_NTT ? "ntt" : domain == HX_COEFFICIENT ? "coefficient" : "no domain";
}

static const char *repr_name(uint32_t repr) {
  static const char *const names[] = {"no representation", "standard", "lazy", "montgomery"};
  return names[repr <= HX_MONTGOMERY ? repr : 0];
}

// "0,1,2": as many as fit.
static void print_ids(uint32_t count, const uint32_t *ids, char text[48]) {
  int used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (used > 38) {
      snprintf(text + used, (size_t)(48 - used), ",...");
      return;
    }
    used += snprintf(text + used, (size_t)(48 - used), "%s%u", i == 0 ? "" : ",", ids[i]);
  }
}

static int32_t same_ids(const hx_tensor_desc *desc, uint32_t count, const uint32_t *ids) {
  if (desc->limbs != count) return 0;
  for (uint32_t limb = 0; limb < count; ++limb)
    if (desc->prime_ids[limb] != ids[limb]) return 0;
  return 1;
}

// An axis of more than one place with stride 0 would be written more than once.
static int32_t repeats(const hx_tensor_desc *desc) {
  for (uint32_t axis = 0; axis < desc->batch_rank; ++axis)
    if (desc->batch_shape[axis] > 1 && desc->batch_strides[axis] == 0) return 1;
  return (desc->components > 1 && desc->component_stride == 0) || (desc->limbs > 1 && desc->limb_stride == 0) ||
         (desc->digits > 1 && desc->digit_stride == 0);
}

int32_t hx_ref_check_place(const hx_ref_call *call, hx_ref_place place) {
  const hx_tensor_desc *desc = place.desc;
  if (desc->struct_size < HX_END_OF(hx_tensor_desc, rows))
    return refuse_value(call, place, "a descriptor of bytes", desc->struct_size, HX_END_OF(hx_tensor_desc, rows));
  const uint32_t bytes = hx_ref_dtype_bytes(desc->dtype);
  if (bytes == 0)
    return hx_ref_refuse(call, HX_INVALID, "%s %u has the unknown dtype %u", place.side, place.index, desc->dtype);
  if (place.memory == NULL) return hx_ref_refuse(call, HX_INVALID, "%s %u has no address", place.side, place.index);
  if ((uintptr_t)place.memory % bytes != 0)
    return hx_ref_refuse(call, HX_INVALID, "%s %u is not aligned to its words of %u bytes", place.side, place.index,
                         bytes);
  if (desc->batch_rank > HX_REF_BATCH_RANK_MAX)
    return hx_ref_refuse(call, HX_UNSUPPORTED, "%s %u has %u batch axes, at most %u are supported", place.side,
                         place.index, desc->batch_rank, HX_REF_BATCH_RANK_MAX);
  if (desc->batch_rank != 0 && (desc->batch_shape == NULL || desc->batch_strides == NULL))
    return hx_ref_refuse(call, HX_INVALID, "%s %u has batch axes without shape or strides", place.side, place.index);
  uint64_t items = 1;
  for (uint32_t axis = 0; axis < desc->batch_rank; ++axis)
    if (desc->batch_shape[axis] == 0 || __builtin_mul_overflow(items, desc->batch_shape[axis], &items))
      return hx_ref_refuse(call, HX_INVALID, "%s %u has %llu items on batch axis %u", place.side, place.index,
                           (unsigned long long)desc->batch_shape[axis], axis);
  if (place.side[0] == 'r' && repeats(desc))
    return hx_ref_refuse(call, HX_INVALID, "result %u has a stride of 0, so places would be written twice",
                         place.index);
  return HX_OK;
}

// Word, ring degree and rows, as any tensor of residues has them.
static int32_t check_rows(const hx_ref_call *call, hx_ref_place place) {
  const hx_tensor_desc *desc = place.desc;
  const hx_ref_ring *ring = call->ring;
  const uint32_t dtype = ring->word == 64 ? HX_U64 : HX_U32;
  if (desc->dtype != dtype) return refuse_value(call, place, "dtype", desc->dtype, dtype);
  if (desc->log_n != ring->log_n) return refuse_value(call, place, "log_n", desc->log_n, ring->log_n);
  if (desc->components == 0 || desc->limbs == 0 || desc->prime_ids == NULL)
    return hx_ref_refuse(call, HX_INVALID, "%s %u has no component, no row or no prime ids", place.side, place.index);
  const uint32_t primes = ring->q_count + ring->p_count;
  for (uint32_t limb = 0; limb < desc->limbs; ++limb) {
    if (desc->prime_ids[limb] >= primes)
      return hx_ref_refuse(call, HX_INVALID, "%s %u has a row of prime %u, the ring has %u primes", place.side,
                           place.index, desc->prime_ids[limb], primes);
    if (limb != 0 && desc->prime_ids[limb] <= desc->prime_ids[limb - 1])
      return hx_ref_refuse(call, HX_INVALID, "%s %u has prime %u after prime %u; rows stand in ascending order",
                           place.side, place.index, desc->prime_ids[limb], desc->prime_ids[limb - 1]);
  }
  if (desc->domain != HX_COEFFICIENT && desc->domain != HX_NTT)
    return hx_ref_refuse(call, HX_INVALID, "%s %u has the unknown domain %u", place.side, place.index, desc->domain);
  if (desc->repr < HX_STANDARD || desc->repr > HX_MONTGOMERY)
    return hx_ref_refuse(call, HX_INVALID, "%s %u has the unknown representation %u", place.side, place.index,
                         desc->repr);
  return HX_OK;
}

int32_t hx_ref_check_residues(const hx_ref_call *call, hx_ref_place place, const hx_ref_shape *shape) {
  HX_REF_TRY(check_rows(call, place));
  const hx_tensor_desc *desc = place.desc;
  if (desc->digits != 0) return refuse_value(call, place, "digits", desc->digits, 0);
  if (shape->components != 0 && desc->components != shape->components)
    return refuse_value(call, place, "components", desc->components, shape->components);
  if (shape->domain != 0 && desc->domain != shape->domain)
    return hx_ref_refuse(call, HX_INVALID, "%s %u is in %s domain, must be in %s domain", place.side, place.index,
                         domain_name(desc->domain), domain_name(shape->domain));
  if (shape->repr != 0 && desc->repr != shape->repr)
    return hx_ref_refuse(call, HX_INVALID, "%s %u is %s, must be %s", place.side, place.index, repr_name(desc->repr),
                         repr_name(shape->repr));
  if (shape->ids != NULL && !same_ids(desc, shape->id_count, shape->ids)) {
    char found[48], expected[48];
    print_ids(desc->limbs, desc->prime_ids, found);
    print_ids(shape->id_count, shape->ids, expected);
    return hx_ref_refuse(call, HX_INVALID, "%s %u has the primes %s, must have %s", place.side, place.index, found,
                         expected);
  }
  return HX_OK;
}

int32_t hx_ref_check_batch(hx_ref_call *call) {
  const hx_tensor_desc *first = hx_ref_result(call, 0).desc;
  const uint32_t operands = call->op->operand_count;
  for (uint32_t i = 0; i < operands + call->op->result_count; ++i) {
    const hx_ref_place place = i < operands ? hx_ref_operand(call, i) : hx_ref_result(call, i - operands);
    if (i < operands && place.desc->batch_rank == 0) continue;
    if (place.desc->batch_rank != first->batch_rank)
      return refuse_value(call, place, "batch axes", place.desc->batch_rank, first->batch_rank);
    for (uint32_t axis = 0; axis < first->batch_rank; ++axis)
      if (place.desc->batch_shape[axis] != first->batch_shape[axis])
        return refuse_value(call, place, "batch items on an axis", place.desc->batch_shape[axis],
                            first->batch_shape[axis]);
  }
  call->items = 1;
  for (uint32_t axis = 0; axis < first->batch_rank; ++axis) call->items *= first->batch_shape[axis];
  return HX_OK;
}

int32_t hx_ref_check_key(const hx_ref_call *call, hx_ref_place key, uint32_t digits, uint32_t id_count,
                         const uint32_t *ids) {
  HX_REF_TRY(check_rows(call, key));
  const hx_tensor_desc *desc = key.desc;
  if (desc->batch_rank != 0) return refuse_value(call, key, "batch axes", desc->batch_rank, 0);
  if (desc->components != 2) return refuse_value(call, key, "components", desc->components, 2);
  if (desc->domain != HX_NTT || desc->repr != HX_STANDARD)
    return hx_ref_refuse(call, HX_INVALID, "%s %u is %s in %s domain; a key is standard in ntt domain", key.side,
                         key.index, repr_name(desc->repr), domain_name(desc->domain));
  if (desc->digits < digits)
    return hx_ref_refuse(call, HX_INVALID, "%s %u has %u digits, at least %u are needed", key.side, key.index,
                         desc->digits, digits);
  for (uint32_t i = 0; i < id_count; ++i)
    if (hx_ref_limb_of(desc, ids[i]) == HX_NONE)
      return hx_ref_refuse(call, HX_INVALID, "%s %u is a key without a row of prime %u", key.side, key.index, ids[i]);
  return HX_OK;
}

int32_t hx_ref_shape_of(const hx_ref_call *call, hx_ref_place place, hx_ref_shape *out) {
  const hx_ref_shape any = {0, 0, 0, 0, NULL};
  HX_REF_TRY(hx_ref_check_residues(call, place, &any));
  const hx_tensor_desc *desc = place.desc;
  const hx_ref_shape shape = {desc->components, desc->domain, desc->repr, desc->limbs, desc->prime_ids};
  *out = shape;
  return HX_OK;
}
