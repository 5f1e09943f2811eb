// SPDX-License-Identifier: Apache-2.0
// The predicted noise of values: where it begins, and what callers are told.
#include <math.h>
#include <string.h>

#include "core/ckks/noise.h"
#include "core/ckks/value.h"

// Mean and largest |z|^2, and an id: equal for equal messages.
typedef struct hx_message_facts {
  double power, peak;
  uint64_t id;
} hx_message_facts_t;

static hx_message_facts_t measure(const double *values, size_t count, bool is_complex, uint32_t slots) {
  hx_message_facts_t facts = {.id = hx_noise_mix(count, slots)};
  const size_t width = is_complex ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    double square = 0;
    for (size_t k = 0; k < width; ++k) {
      const double x = values[i * width + k];
      uint64_t bits;
      memcpy(&bits, &x, sizeof bits);
      facts.id = (facts.id ^ bits) * 0x100000001b3u;  // [FNV-1a], by words
      square += x * x;
    }
    facts.power += square;
    if (square > facts.peak) facts.peak = square;
  }
  facts.power /= slots;
  return facts;
}

void hx_value_note_messages(hx_value_t *plaintext, const double *values, size_t items, size_t count, bool is_complex,
                            uint32_t period, double magnitude, double bound) {
  const uint32_t slots = plaintext->type.slots;
  hx_message_facts_t facts = {0};
  if (plaintext->secret) {
    const double most = magnitude > 0 && isfinite(magnitude) ? magnitude : 1.0;
    facts = (hx_message_facts_t){.power = most * most, .peak = most * most, .id = plaintext->tensor->storage->id};
  }
  for (size_t i = 0; i < items && !plaintext->secret; ++i) {
    const hx_message_facts_t one = measure(values + i * count * (is_complex ? 2 : 1), count, is_complex, period);
    facts.power = fmax(facts.power, one.power);
    facts.peak = fmax(facts.peak, one.peak);
    facts.id = i == 0 ? one.id : hx_noise_mix(facts.id, one.id);
  }
  hx_noise_of_encoding(plaintext->params, slots, exp2(hx_value_scale_log2(plaintext)), facts.power, facts.peak,
                       hx_noise_mix(facts.id, slots), &plaintext->noise);
  if (bound > 0) hx_noise_add_white(&plaintext->noise, hx_noise_mix(facts.id, ~(uint64_t)slots), bound * bound);
}

void hx_value_note_message(hx_value_t *plaintext, const double *values, size_t count, bool is_complex, uint32_t period,
                           double magnitude) {
  hx_value_note_messages(plaintext, values, 1, count, is_complex, period, magnitude, 0.0);
}

uint64_t hx_value_noise_id(const hx_value_t *value) {
  const hx_layout_t *layout = &value->tensor->layout;
  const unsigned char *row = hx_tensor_row(value->tensor, 0, 0, layout->components - 1, 0);
  uint64_t words[4], id = layout->components;
  if (row == NULL) return hx_noise_mix(value->tensor->storage->id, 0);
  memcpy(words, row, sizeof words);  // N >= 8 words of at least 4 bytes
  for (size_t i = 0; i < HX_COUNT_OF(words); ++i) id = hx_noise_mix(id, words[i]);
  return id;
}

void hx_value_note_encryption(hx_value_t *ciphertext, const hx_value_t *plaintext, bool symmetric) {
  hx_noise_t message = plaintext->noise;
  if (!message.known)
    hx_noise_of_encoding(plaintext->params, plaintext->type.slots, exp2(hx_value_scale_log2(plaintext)), 1.0, 1.0,
                         plaintext->tensor->storage->id, &message);
  hx_noise_of_encryption(ciphertext->params, &message, symmetric, hx_value_noise_id(ciphertext), &ciphertext->noise);
  ciphertext->noise.private = plaintext->noise.known && !plaintext->secret;
  ciphertext->noise.items_alike = false;  // every item has randomness of its own
}

void hx_value_note_stack(hx_value_t *batch, const hx_value_t *const *values, size_t count) {
  hx_noise_t *out = &batch->noise;
  *out = values[0]->noise;
  for (size_t i = 1; i < count; ++i) {
    const hx_noise_t *noise = &values[i]->noise;
    if (!out->known || !noise->known) {
      *out = (hx_noise_t){0};
      return;
    }
    out->items_alike = out->items_alike || noise->items_alike;
    for (size_t k = 0; k < i && !out->items_alike; ++k)
      out->items_alike = hx_noise_share_parts(noise, &values[k]->noise);
    const bool louder = hx_noise_variance(noise) > hx_noise_variance(out);
    const double power = fmax(hx_noise_power(out), hx_noise_power(noise));
    const double peak = fmax(hx_noise_peak(out), hx_noise_peak(noise));
    const bool alike = out->items_alike, private = out->private || noise->private;
    const uint64_t id = hx_noise_mix(out->id, noise->id);
    if (louder) *out = *noise;
    out->items_alike = alike;
    out->private = private;
    out->id = id;
    hx_noise_set_message(out, id, power, peak);
  }
}

static double modulus_log2(const hx_value_t *value) {
  const hx_ring *ring = hx_params_ring(value->params);
  double sum = 0;
  for (uint32_t id = 0; id < ring->q_count; ++id) {
    if (hx_primes_has(&value->type.primes, id)) sum += log2((double)ring->primes[id]);
  }
  return sum;
}

void hx_value_noise(const hx_value_t *value, hx_value_noise_t *out) {
  if (out == NULL) return;
  *out = (hx_value_noise_t){0};
  if (value == NULL || !value->noise.known || hx_value_kind(value) == HX_VALUE_TENSOR) return;
  const hx_noise_t *noise = &value->noise;
  const double scale_log2 = hx_value_scale_log2(value), scale = exp2(scale_log2);
  const uint32_t slots = value->type.slots;
  out->known = true;
  out->rms = sqrt(hx_noise_variance(noise));
  out->slot_rms = hx_noise_slot_sigma(slots, scale, hx_noise_variance(noise));
  out->slot_sigma = hx_noise_slot_sigma(slots, scale, hx_noise_worst_variance(noise));
  out->precision = -log2(out->slot_sigma);
  out->magnitude = sqrt(hx_noise_peak(noise));
  out->headroom_bits = modulus_log2(value) - 1 - scale_log2 - log2(out->magnitude);
}
