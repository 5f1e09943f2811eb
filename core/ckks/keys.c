// SPDX-License-Identifier: Apache-2.0
// Key sets: lifetime, look-up, views at a depth.
#include "core/ckks/keys.h"

#include <string.h>

hx_keys_t *hx_keys_create(const hx_params_t *params, const uint8_t id[16]) {
  hx_keys_t *keys = hx_zalloc(1, sizeof *keys);
  if (keys == NULL) return NULL;
  atomic_init(&keys->refs, 1);
  keys->params = hx_params_retain(params);
  memcpy(keys->id, id, sizeof keys->id);
  return keys;
}

hx_keys_t *hx_keys_retain(const hx_keys_t *keys) {
  hx_keys_t *shared = (hx_keys_t *)(uintptr_t)keys;
  atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

static void release_switch_key(hx_switch_key_t *key) {
  if (key == NULL) return;
  hx_tensor_release(key->tensor);
  hx_free(key);
}

void hx_keys_release(hx_keys_t *keys) {
  if (keys == NULL || atomic_fetch_sub_explicit(&keys->refs, 1, memory_order_acq_rel) != 1) return;
  if (keys->secret != NULL) hx_wipe(keys->secret, (size_t)1 << hx_params_log_n(keys->params));
  hx_free(keys->secret);
  hx_tensor_release(keys->public_key);
  release_switch_key(keys->relin);
  release_switch_key(keys->conj);
  for (size_t i = 0; i < keys->galois_count; ++i) hx_tensor_release(keys->galois[i].tensor);
  hx_free(keys->galois);
  hx_params_release(keys->params);
  hx_free(keys);
}

const hx_params_t *hx_keys_params(const hx_keys_t *keys) { return keys->params; }
const uint8_t *hx_keys_id(const hx_keys_t *keys) { return keys->id; }
uint32_t hx_keys_parts(const hx_keys_t *keys) { return keys->parts; }

size_t hx_keys_galois_elements(const hx_keys_t *keys, uint64_t *out_elements, size_t room) {
  for (size_t i = 0; i < keys->galois_count && i < room; ++i) out_elements[i] = keys->galois[i].element;
  return keys->galois_count;
}

static const hx_switch_key_t *find_element(const hx_keys_t *keys, uint64_t element) {
  size_t low = 0, high = keys->galois_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (keys->galois[middle].element < element) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < keys->galois_count && keys->galois[low].element == element ? &keys->galois[low] : NULL;
}

const hx_switch_key_t *hx_keys_find(const hx_keys_t *keys, hx_key_kind_t kind, uint64_t element) {
  switch (kind) {
    case HX_KEY_RELIN:
      return keys->relin;
    case HX_KEY_CONJ:
      return keys->conj;
    case HX_KEY_GALOIS:
      if (element == ((uint64_t)2 << hx_params_log_n(keys->params)) - 1) return keys->conj;
      return find_element(keys, element);
    default:
      return NULL;
  }
}

enum { STEPS_SHOWN = 32 };

void hx_keys_describe_steps(const hx_keys_t *keys, uint32_t slots, hx_text_t *out) {
  if (keys->galois_count == 0) {
    hx_text_puts(out, "no steps");
    return;
  }
  // Powers of 5 are walked once; what they do not meet belongs to a wider packing.
  const uint64_t mask = ((uint64_t)2 << hx_params_log_n(keys->params)) - 1;
  uint64_t element = 1;
  size_t found = 0;
  for (uint32_t k = 0; k < slots; ++k, element = element * 5 & mask) {
    if (find_element(keys, element) == NULL) continue;
    // The shorter way round: 4095 of 4096 slots is -1.
    const int64_t step = k > slots / 2 ? (int64_t)k - slots : (int64_t)k;
    if (found < STEPS_SHOWN) hx_text_printf(out, found == 0 ? "steps %lld" : ", %lld", (long long)step);
    ++found;
  }
  if (found > STEPS_SHOWN) hx_text_printf(out, " and %zu more", found - STEPS_SHOWN);
  const size_t rest = keys->galois_count - found;
  if (found == 0) hx_text_printf(out, "no steps for %u slots", slots);
  if (rest > 0) hx_text_printf(out, " (and %zu for more slots)", rest);
}

hx_status_t hx_switch_key_at(const hx_switch_key_t *key, const hx_ring *ring, uint32_t depth, hx_tensor_t **out) {
  const hx_primes_t active = hx_ring_active(ring, depth);
  const uint32_t q_rows = hx_primes_count(&active);
  hx_layout_t layout = key->tensor->layout;
  layout.digits = hx_ring_digit_count(ring, depth);
  layout.limbs = q_rows + ring->p_count;
  layout.has_rows = true;
  for (uint32_t l = 0; l < q_rows; ++l) layout.rows[l] = (uint16_t)l;
  for (uint32_t l = 0; l < ring->p_count; ++l) layout.rows[q_rows + l] = (uint16_t)(ring->q_count + l);
  return hx_tensor_view(key->tensor, 0, &layout, out, NULL);
}
