// SPDX-License-Identifier: Apache-2.0
// Tensors with guards around them, filled with patterns at the edges of their state.
#include <stdlib.h>
#include <string.h>

#include "sdk/conformance/suite.h"

#define FILL_BYTE 0xa5  // of guards and gaps

static uint32_t word_bytes(uint32_t dtype) { return dtype == HX_U32 ? 4 : dtype == HX_U8 ? 1 : 8; }

// Sets the strides; the extent in elements.
static uint64_t arrange(tensor_t *t, const shape_t *shape) {
  hx_tensor_desc *desc = &t->desc;
  const uint64_t gap = shape->arrangement == GAPS ? 8 : 0;
  uint64_t extent = ((uint64_t)1 << desc->log_n) + gap;
  if (shape->arrangement == SWAPPED) {
    desc->component_stride = extent;
    desc->limb_stride = extent * desc->components;
  } else {
    desc->limb_stride = extent;
    desc->component_stride = extent * desc->limbs + gap;
  }
  extent = (extent * desc->limbs + gap) * desc->components;
  if (desc->digits > 0) {
    desc->digit_stride = extent + gap;
    extent = desc->digit_stride * desc->digits;
  }
  for (uint32_t axis = desc->batch_rank; axis-- > 0;) {
    t->batch[axis] = shape->batch[axis];
    t->strides[axis] = shape->arrangement == REPEAT ? 0 : extent + gap;
    if (shape->arrangement != REPEAT) extent = t->strides[axis] * t->batch[axis];
  }
  return extent;
}

static uint64_t pick(suite_t *suite, pattern_t pattern, uint64_t limit) {
  switch (pattern) {
    case FILL_ZERO:
      return 0;
    case FILL_ONE:
      return 1;
    case FILL_TOP:
      return limit - 1;
    case FILL_RANDOM:
      return suite_random(suite) % limit;
    default: {
      const uint64_t r = suite_random(suite), near[6] = {0, 1, limit - 1, limit / 2, limit / 2 + 1, r % limit};
      return near[(r >> 40) % 6];
    }
  }
}

static void fill_row(suite_t *suite, const ring_t *ring, const tensor_t *t, pattern_t pattern, void *row,
                     uint32_t limb) {
  static const int64_t edges[5] = {0, -1, INT64_MIN, INT64_MAX, 1};
  const uint64_t n = (uint64_t)1 << t->desc.log_n;
  for (uint64_t i = 0; i < n; ++i) {
    if (t->desc.dtype == HX_U8) {
      ((uint8_t *)row)[i] = (uint8_t)suite_random(suite);
    } else if (t->desc.dtype == HX_I64) {
      ((int64_t *)row)[i] = pattern == FILL_RANDOM ? (int64_t)suite_random(suite) : edges[(i + (uint64_t)pattern) % 5];
    } else {
      const uint64_t q = ring->primes[t->ids[limb]];
      const uint64_t value = pick(suite, pattern, t->desc.repr == HX_LAZY ? 2 * q : q);
      if (t->desc.dtype == HX_U32) {
        ((uint32_t *)row)[i] = (uint32_t)value;
      } else {
        ((uint64_t *)row)[i] = value;
      }
    }
  }
}

void *tensor_row(const tensor_t *t, uint64_t item, uint32_t digit, uint32_t component, uint32_t limb) {
  uint64_t at = digit * t->desc.digit_stride + component * t->desc.component_stride + limb * t->desc.limb_stride;
  for (uint32_t axis = t->desc.batch_rank; axis-- > 0; item /= t->batch[axis])
    at += item % t->batch[axis] * t->strides[axis];
  return t->base + t->offset + at * word_bytes(t->desc.dtype);
}

static void fill(suite_t *suite, const ring_t *ring, const tensor_t *t, pattern_t pattern) {
  const uint32_t digits = t->desc.digits > 0 ? t->desc.digits : 1;
  uint64_t items = 1;
  for (uint32_t axis = 0; axis < t->desc.batch_rank; ++axis) items *= t->batch[axis];
  for (uint64_t item = 0; item < items; ++item) {
    for (uint32_t row = 0; row < digits * t->desc.components * t->desc.limbs; ++row) {
      const uint32_t limb = row % t->desc.limbs, component = row / t->desc.limbs % t->desc.components;
      fill_row(suite, ring, t, pattern, tensor_row(t, item, row / t->desc.limbs / t->desc.components, component, limb),
               limb);
    }
  }
}

tensor_t *suite_tensor(suite_t *suite, const ring_t *ring, const shape_t *shape, pattern_t pattern) {
  if (suite->tensor_count == TENSORS_MAX) abort();  // a case of the suite itself asks for too many
  tensor_t *t = &suite->tensors[suite->tensor_count++];
  memset(t, 0, sizeof *t);
  const uint64_t guard = suite->info.alignment > 64 ? suite->info.alignment : 64;
  t->desc = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                             .dtype = shape->dtype != 0       ? shape->dtype
                                      : ring->ring.word == 64 ? HX_U64
                                                              : HX_U32,
                             .log_n = shape->log_n != 0 ? shape->log_n : ring->ring.log_n,
                             .batch_rank = shape->batch_rank,
                             .digits = shape->digits,
                             .components = shape->components,
                             .limbs = shape->limbs,
                             .domain = shape->domain,
                             .repr = shape->repr,
                             .batch_shape = t->batch,
                             .batch_strides = t->strides};
  if (shape->dtype == 0) {
    for (uint32_t limb = 0; limb < shape->limbs; ++limb) t->ids[limb] = shape->ids != NULL ? shape->ids[limb] : limb;
    t->desc.prime_ids = t->ids;
    t->desc.basis = t->ids[0] >= ring->ring.q_count                 ? HX_BASIS_P
                    : t->ids[shape->limbs - 1] < ring->ring.q_count ? HX_BASIS_Q
                                                                    : HX_BASIS_QP;
  }
  t->offset = guard;
  t->bytes = 2 * guard + (arrange(t, shape) * word_bytes(t->desc.dtype) + 63) / 64 * 64;
  t->base = suite_alloc(t->bytes);
  memset(t->base, FILL_BYTE, t->bytes);
  fill(suite, ring, t, pattern);
  return t;
}

void suite_drop_tensors(suite_t *suite) {
  while (suite->tensor_count > 0) free(suite->tensors[--suite->tensor_count].base);
}
