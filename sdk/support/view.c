// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/view.h"

#include <string.h>

#include "heliox/support/error.h"

// Elements that a tensor may span: keeps every product of an offset below 2^63 bytes.
#define EXTENT_MAX ((uint64_t)1 << 56)

static uint32_t dtype_bytes(uint32_t dtype) {
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

#define WHO view->side, view->index

uint32_t hxs_view_limbs(const hxs_view *view, const hx_tensor_desc *desc, const char *op, hx_error *error) {
  if (desc->struct_size < HX_END_OF(hx_tensor_desc, rows)) {
    hxs_fail(error, HX_ARGS_SIZE, "%s: %s %u has a descriptor of %u bytes, at least %u are needed", op, WHO,
             desc->struct_size, HX_END_OF(hx_tensor_desc, rows));
    return 0;
  }
  if (desc->limbs == 0 || desc->limbs > HXS_PRIMES_MAX) {
    hxs_fail(error, HX_INVALID, "%s: %s %u has %u limbs, must have 1 to %u", op, WHO, desc->limbs, HXS_PRIMES_MAX);
    return 0;
  }
  return desc->limbs;
}

static int32_t read_shape(hxs_view *view, const hx_tensor_desc *desc, const hxs_ring *ring, const char *op,
                          hx_error *error) {
  view->element_bytes = dtype_bytes(desc->dtype);
  if (view->element_bytes == 0) {
    return hxs_fail(error, HX_INVALID, "%s: %s %u has the unknown dtype %u", op, WHO, desc->dtype);
  }
  if (desc->log_n > HXS_LOG_N_MAX || desc->components == 0) {
    return hxs_fail(error, HX_INVALID,
                    "%s: %s %u has log_n %u and %u components; log_n is at most %u, components at least 1", op, WHO,
                    desc->log_n, desc->components, HXS_LOG_N_MAX);
  }
  if (desc->batch_rank > HXS_BATCH_RANK_MAX) {
    return hxs_fail(error, HX_UNSUPPORTED, "%s: %s %u has %u batch axes, %s takes at most %u", op, WHO,
                    desc->batch_rank, ring->plugin, HXS_BATCH_RANK_MAX);
  }
  if (desc->batch_rank > 0 && (desc->batch_shape == NULL || desc->batch_strides == NULL)) {
    return hxs_fail(error, HX_INVALID, "%s: %s %u has batch axes without shape or strides", op, WHO);
  }
  if (desc->reserved != 0 || (desc->flags & ~(uint32_t)(HX_SECRET | HX_IMMUTABLE)) != 0) {
    return hxs_fail(error, HX_INVALID, "%s: %s %u has unknown flags %u or reserved %u, which must be 0", op, WHO,
                    desc->flags, desc->reserved);
  }
  view->dtype = desc->dtype;
  view->flags = desc->flags;
  view->log_n = desc->log_n;
  view->digits = desc->digits;
  view->components = desc->components;
  view->limbs = desc->limbs;
  view->digit_stride = desc->digit_stride;
  view->component_stride = desc->component_stride;
  view->batch_rank = desc->batch_rank;
  view->items = 1;
  for (uint32_t axis = 0; axis < desc->batch_rank; axis++) {
    view->batch_shape[axis] = desc->batch_shape[axis];
    view->batch_strides[axis] = desc->batch_strides[axis];
    if (desc->batch_shape[axis] == 0 || desc->batch_shape[axis] > EXTENT_MAX / view->items) {
      return hxs_fail(error, HX_INVALID, "%s: %s %u has %llu items on batch axis %u", op, WHO,
                      (unsigned long long)desc->batch_shape[axis], axis);
    }
    view->items *= desc->batch_shape[axis];
  }
  return HX_OK;
}

static int32_t read_rows(hxs_view *view, const hx_tensor_desc *desc, const hxs_ring *ring, const char *op,
                         hx_error *error) {
  const uint32_t dtype = ring->word == 64 ? HX_U64 : HX_U32, primes = hxs_ring_primes(ring);
  if (desc->dtype != dtype || desc->log_n != ring->log_n) {
    return hxs_fail(error, HX_INVALID, "%s: %s %u has dtype %u and log_n %u, the ring has dtype %u and log_n %u", op,
                    WHO, desc->dtype, desc->log_n, dtype, ring->log_n);
  }
  if (desc->prime_ids == NULL) {
    return hxs_fail(error, HX_INVALID, "%s: %s %u has residues without prime ids", op, WHO);
  }
  for (uint32_t limb = 0; limb < desc->limbs; limb++) {
    view->ids[limb] = desc->prime_ids[limb];
    if (view->ids[limb] >= primes) {
      return hxs_fail(error, HX_INVALID, "%s: %s %u has a row of prime %u, the ring has primes 0 to %u", op, WHO,
                      view->ids[limb], primes - 1);
    }
    if (limb > 0 && view->ids[limb] <= view->ids[limb - 1]) {
      return hxs_fail(error, HX_INVALID, "%s: %s %u has prime %u after prime %u; rows stand in ascending order", op,
                      WHO, view->ids[limb], view->ids[limb - 1]);
    }
  }
  if (desc->domain != HX_COEFFICIENT && desc->domain != HX_NTT) {
    return hxs_fail(error, HX_INVALID, "%s: %s %u has the unknown domain %u", op, WHO, desc->domain);
  }
  if (desc->repr < HX_STANDARD || desc->repr > HX_MONTGOMERY) {
    return hxs_fail(error, HX_INVALID, "%s: %s %u has the unknown representation %u", op, WHO, desc->repr);
  }
  view->domain = desc->domain;
  view->repr = desc->repr;
  return HX_OK;
}

typedef struct axis {
  uint64_t count, stride;
} axis_t;

// Axes of more than one place, innermost stride first. Limbs with a list of rows count as one axis up to the last row.
static uint32_t sorted_axes(const hxs_view *view, const hx_tensor_desc *desc, axis_t *out) {
  uint64_t rows = view->limbs;
  for (uint32_t limb = 0; desc->rows != NULL && limb < view->limbs; limb++) {
    rows = desc->rows[limb] + (uint64_t)1 > rows ? desc->rows[limb] + (uint64_t)1 : rows;
  }
  axis_t all[HXS_BATCH_RANK_MAX + 3];
  uint32_t count = 0, kept = 0;
  all[count++] = (axis_t){rows, desc->limb_stride};
  all[count++] = (axis_t){view->components, view->component_stride};
  all[count++] = (axis_t){view->digits, view->digit_stride};
  for (uint32_t axis = 0; axis < view->batch_rank; axis++) {
    all[count++] = (axis_t){view->batch_shape[axis], view->batch_strides[axis]};
  }
  for (uint32_t i = 0; i < count; i++) {
    if (all[i].count > 1) {
      uint32_t at = kept++;
      for (; at > 0 && out[at - 1].stride > all[i].stride; at--) {
        out[at] = out[at - 1];
      }
      out[at] = all[i];
    }
  }
  return kept;
}

// The extent, and for results that each axis steps over all that lies inside it.
static int32_t read_extent(hxs_view *view, const hx_tensor_desc *desc, const char *op, hx_error *error) {
  axis_t axes[HXS_BATCH_RANK_MAX + 3];
  uint32_t count = sorted_axes(view, desc, axes);
  hxs_u128 extent = (hxs_u128)1 << view->log_n;
  for (uint32_t i = 0; i < count; i++) {
    if (view->side[0] == 'r' && axes[i].stride < extent) {
      return hxs_fail(error, HX_INVALID,
                      "%s: %s %u has an axis of %llu places with stride %llu, so places would be written twice; the "
                      "stride must be at least %llu",
                      op, WHO, (unsigned long long)axes[i].count, (unsigned long long)axes[i].stride,
                      (unsigned long long)extent);
    }
    extent += (hxs_u128)(axes[i].count - 1) * axes[i].stride;
    if (extent > EXTENT_MAX) {
      return hxs_fail(error, HX_INVALID, "%s: %s %u has strides that reach beyond 2^56 elements", op, WHO);
    }
  }
  for (uint32_t limb = 0; limb < view->limbs; limb++) {
    view->limb_offsets[limb] = (desc->rows != NULL ? desc->rows[limb] : limb) * desc->limb_stride;
  }
  view->bytes = (uint64_t)extent * view->element_bytes;
  return HX_OK;
}

int32_t hxs_view_read(hxs_view *view, const hx_tensor_desc *desc, const hxs_ring *ring, const char *op,
                      hx_error *error) {
  HXS_TRY(read_shape(view, desc, ring, op, error));
  if (hxs_view_is_residue(view)) {
    HXS_TRY(read_rows(view, desc, ring, op, error));
  } else {
    view->ids = NULL;
  }
  return read_extent(view, desc, op, error);
}

uint32_t hxs_view_limb_of(const hxs_view *view, uint32_t id) {
  for (uint32_t limb = 0; limb < view->limbs; limb++) {
    if (view->ids[limb] == id) {
      return limb;
    }
  }
  return HX_NONE;
}

bool hxs_view_same_layout(const hxs_view *a, const hxs_view *b) {
  if (a->dtype != b->dtype || a->components != b->components || a->limbs != b->limbs ||
      a->batch_rank != b->batch_rank || (a->components > 1 && a->component_stride != b->component_stride)) {
    return false;
  }
  for (uint32_t axis = 0; axis < a->batch_rank; axis++) {
    if (a->batch_shape[axis] != b->batch_shape[axis] ||
        (a->batch_shape[axis] > 1 && a->batch_strides[axis] != b->batch_strides[axis])) {
      return false;
    }
  }
  return memcmp(a->limb_offsets, b->limb_offsets, a->limbs * sizeof *a->limb_offsets) == 0;
}

uint64_t hxs_view_item_offset(const hxs_view *view, uint64_t item) {
  uint64_t offset = 0;
  for (uint32_t axis = view->batch_rank; axis-- > 0;) {
    offset += item % view->batch_shape[axis] * view->batch_strides[axis];
    item /= view->batch_shape[axis];
  }
  return offset;
}
