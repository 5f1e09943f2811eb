// SPDX-License-Identifier: Apache-2.0
#include "kernelcheck.h"

#include "heliox/support/number.h"

// ------------------------------------------------------------------ rings

uint64_t kc_next(kc_t *kc) {  // splitmix64
  uint64_t z = kc->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static bool taken(const kc_t *kc, uint32_t count, uint64_t q) {
  for (uint32_t i = 0; i < count; i++) {
    if (kc->primes[i] == q) {
      return true;
    }
  }
  return false;
}

static uint64_t find_prime(const kc_t *kc, uint32_t id, uint32_t bits, uint32_t log_n) {
  const uint64_t step = (uint64_t)2 << log_n, low = (uint64_t)1 << (bits - 1), high = low * 2;
  const bool smallest = id % 2 == 1;
  for (uint64_t q = smallest ? low / step * step + 1 : (high - 1) / step * step + 1; q > step && q < high;
       q = smallest ? q + step : q - step) {
    if (q > low && hxs_is_prime(q) && !taken(kc, id, q)) {
      return q;
    }
  }
  fail_msg("no prime of %u bits for log_n %u", bits, log_n);
  return 0;
}

static uint64_t find_psi(uint64_t q, uint32_t log_n) {
  hxs_modulus m;
  hxs_modulus_init(&m, q, 64);
  return hxs_root_of_unity(&m, log_n);
}

void kc_open(kc_t *kc, uint32_t log_n, uint32_t word, uint32_t q_count, uint32_t p_count, uint32_t digit_run,
             const uint32_t *bits) {
  uint32_t ones[KC_PRIMES_MAX];
  for (uint32_t id = 0; id < q_count; id++) {
    ones[id] = 1;
  }
  kc_open_groups(kc, log_n, word, q_count, p_count, digit_run, bits, ones, q_count);
}

// Whether the device's memory has addresses of the host's.
static bool is_direct(const kc_t *kc) {
  hx_buffer *buffer = NULL;
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const hx_memory_ops *memory = kc_plugin()->memory;
  if (memory->alloc(kc->device, HX_SPACE_DEVICE, 64, &buffer, &error) != HX_OK) {
    fail_msg("device memory: %s", error.message);
  }
  const bool direct = memory->import_host != NULL && memory->address != NULL && memory->address(buffer) != NULL;
  memory->free(buffer);
  return direct;
}

static void open_device(kc_t *kc) {
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const hx_plugin *plugin = kc_plugin();
  if (plugin->device->count(&error) == 0) {
    print_message("no device: %s\n", error.message);
    skip();
  }
  if (plugin->device->open(0, &kc->device, &error) != HX_OK) {
    fail_msg("device: %s", error.message);
  }
  if (plugin->queue->create(kc->device, &kc->queue, &error) != HX_OK) {
    fail_msg("queue: %s", error.message);
  }
  kc->direct = is_direct(kc);
}

void kc_open_groups(kc_t *kc, uint32_t log_n, uint32_t word, uint32_t q_count, uint32_t p_count, uint32_t digit_run,
                    const uint32_t *bits, const uint32_t *groups, uint32_t group_count) {
  memset(kc, 0, sizeof *kc);
  kc->random = 1 + log_n;
  for (uint32_t id = 0; id < q_count + p_count; id++) {
    kc->primes[id] = find_prime(kc, id, bits[id], log_n);
    kc->psi[id] = find_psi(kc->primes[id], log_n);
  }
  memcpy(kc->groups, groups, group_count * sizeof *groups);
  kc->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                       .log_n = log_n,
                       .word = word,
                       .q_count = q_count,
                       .p_count = p_count,
                       .digit_run = digit_run,
                       .group_count = group_count,
                       .primes = kc->primes,
                       .psi = kc->psi,
                       .group_sizes = kc->groups};
  open_device(kc);
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  if (kc_plugin()->device->tables_create(kc->device, &kc->ring, &kc->tables, &error) != HX_OK) {
    fail_msg("tables: %s", error.message);
  }
  if (hx_ref_ring_create(&kc->ring, &kc->reference, &error) != HX_OK) {
    fail_msg("reference: %s", error.message);
  }
}

void kc_clear(kc_t *kc) {
  while (kc->tensor_count > 0) {
    free(kc->tensors[--kc->tensor_count].base);
  }
}

void kc_close(kc_t *kc) {
  kc_clear(kc);
  hx_ref_ring_destroy(kc->reference);
  if (kc->pinned != NULL) {
    kc_plugin()->memory->free(kc->pinned);
    kc->pinned = NULL;
    kc->pinned_bytes = 0;
  }
  kc_plugin()->device->tables_destroy(kc->tables);
  kc_plugin()->queue->destroy(kc->queue);
  kc_plugin()->device->close(kc->device);
}

// ------------------------------------------------------------------ tensors

static uint32_t word_bytes(uint32_t dtype) { return dtype == HX_U32 ? 4 : dtype == HX_U8 ? 1 : 8; }

// Sets the strides and returns the extent in elements.
static uint64_t lay_out(kc_tensor_t *t, const kc_shape_t *shape) {
  hx_tensor_desc *d = &t->desc;
  const uint64_t n = (uint64_t)1 << d->log_n, gap = shape->layout == KC_GAPS ? 8 : 0;
  uint64_t extent = n + gap;
  if (shape->layout == KC_SWAPPED) {
    d->component_stride = extent;
    d->limb_stride = extent * d->components;
  } else {
    d->limb_stride = extent;
    d->component_stride = extent * d->limbs + gap;
  }
  extent = (extent * d->limbs + gap) * d->components;
  if (d->digits > 0) {
    d->digit_stride = extent + gap;
    extent = d->digit_stride * d->digits;
  }
  for (uint32_t axis = d->batch_rank; axis-- > 0;) {
    t->shape[axis] = shape->batch[axis];
    t->strides[axis] = shape->layout == KC_REPEAT ? 0 : extent + gap;
    extent = shape->layout == KC_REPEAT ? extent : t->strides[axis] * t->shape[axis];
  }
  return extent;
}

static uint64_t pick(kc_t *kc, kc_pattern_t pattern, uint64_t limit) {
  switch (pattern) {
    case KC_ZERO:
      return 0;
    case KC_ONE:
      return 1 % limit;
    case KC_TOP:
      return limit - 1;
    case KC_RANDOM:
      return kc_next(kc) % limit;
    default: {
      const uint64_t r = kc_next(kc), near[6] = {0, 1, limit - 1, limit / 2, limit / 2 + 1, r % limit};
      return near[(r >> 40) % 6];
    }
  }
}

static void fill_row(kc_t *kc, const kc_tensor_t *t, kc_pattern_t pattern, void *row, uint32_t limb) {
  const uint64_t n = (uint64_t)1 << t->desc.log_n;
  for (uint64_t i = 0; i < n; i++) {
    if (t->desc.dtype == HX_U8) {
      ((uint8_t *)row)[i] = (uint8_t)kc_next(kc);
    } else if (t->desc.dtype == HX_I64) {
      const int64_t edges[5] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)kc_next(kc)};
      ((int64_t *)row)[i] = pattern == KC_RANDOM ? edges[4] : edges[(i + (uint64_t)pattern) % 5];
    } else {
      const uint64_t q = kc->primes[t->ids[limb]];
      const uint64_t value = pick(kc, pattern, t->desc.repr == HX_LAZY ? 2 * q : q);
      if (t->desc.dtype == HX_U32) {
        ((uint32_t *)row)[i] = (uint32_t)value;
      } else {
        ((uint64_t *)row)[i] = value;
      }
    }
  }
}

static uint64_t items_of(const kc_tensor_t *t) {
  uint64_t items = 1;
  for (uint32_t axis = 0; axis < t->desc.batch_rank; axis++) {
    items *= t->shape[axis];
  }
  return items;
}

void *kc_row(const kc_tensor_t *t, uint64_t item, uint32_t digit, uint32_t component, uint32_t limb) {
  uint64_t at = digit * t->desc.digit_stride + component * t->desc.component_stride +
                (t->desc.rows != NULL ? t->desc.rows[limb] : limb) * t->desc.limb_stride;
  for (uint32_t axis = t->desc.batch_rank; axis-- > 0;) {
    at += item % t->shape[axis] * t->strides[axis];
    item /= t->shape[axis];
  }
  return t->base + t->offset + at * word_bytes(t->desc.dtype);
}

kc_tensor_t *kc_tensor(kc_t *kc, const kc_shape_t *shape, kc_pattern_t pattern) {
  assert_true(kc->tensor_count < KC_TENSORS_MAX);
  kc_tensor_t *t = &kc->tensors[kc->tensor_count++];
  memset(t, 0, sizeof *t);
  const uint32_t residues = kc->ring.word == 64 ? HX_U64 : HX_U32;
  t->desc = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                             .dtype = shape->dtype != 0 ? shape->dtype : residues,
                             .log_n = shape->log_n != 0 ? shape->log_n : kc->ring.log_n,
                             .batch_rank = shape->batch_rank,
                             .digits = shape->digits,
                             .components = shape->components,
                             .limbs = shape->limbs,
                             .domain = shape->domain,
                             .basis = HX_BASIS_QP,
                             .repr = shape->repr,
                             .batch_shape = t->shape,
                             .batch_strides = t->strides};
  if (shape->dtype == 0) {
    for (uint32_t limb = 0; limb < shape->limbs; limb++) {
      t->ids[limb] = shape->ids != NULL ? shape->ids[limb] : limb;
    }
    t->desc.prime_ids = t->ids;
  }
  t->offset = KC_GUARD;
  t->bytes = 2 * KC_GUARD + (lay_out(t, shape) * word_bytes(t->desc.dtype) + KC_GUARD - 1) / KC_GUARD * KC_GUARD;
  t->base = aligned_alloc(KC_GUARD, t->bytes);
  assert_non_null(t->base);
  memset(t->base, KC_FILL, t->bytes);
  const uint32_t digits = shape->digits > 0 ? shape->digits : 1;
  for (uint64_t item = 0; item < items_of(t); item++) {
    for (uint32_t row = 0; row < digits * shape->components * shape->limbs; row++) {
      const uint32_t limb = row % shape->limbs, component = row / shape->limbs % shape->components;
      fill_row(kc, t, pattern, kc_row(t, item, row / shape->limbs / shape->components, component, limb), limb);
    }
  }
  return t;
}

// ------------------------------------------------------------------ attributes

static hx_attr attribute(const char *name, uint32_t kind, const void *values, uint32_t count) {
  return (hx_attr){.struct_size = HX_END_OF(hx_attr, data), .kind = kind, .count = count, .name = name, .data = values};
}

hx_attr kc_i64(const char *name, const int64_t *values, uint32_t count) {
  return attribute(name, HX_ATTR_I64, values, count);
}
hx_attr kc_u64(const char *name, const uint64_t *values, uint32_t count) {
  return attribute(name, HX_ATTR_U64, values, count);
}
hx_attr kc_text(const char *name, const char *text) {
  return attribute(name, HX_ATTR_TEXT, text, (uint32_t)strlen(text));
}
