// SPDX-License-Identifier: Apache-2.0
#include "core/compile/random.h"

#include <string.h>

static uint64_t next_random(uint64_t *state) {  // splitmix64
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// Residues below their primes; the new value is dense.
static void fill_random(hx_value_t *value, const hx_ring *ring, uint64_t *state) {
  const hx_layout_t *layout = &value->tensor->layout;
  uint8_t *memory = (uint8_t *)value->tensor->storage->address + value->tensor->offset;
  const uint64_t count = hx_layout_elements(layout);
  uint32_t ids[HX_PRIMES_MAX] = {0};
  const bool residues = layout->dtype == HX_U64 || layout->dtype == HX_U32;
  if (residues) hx_primes_list(&value->type.primes, ids);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t word = next_random(state);
    const uint64_t q = residues ? ring->primes[ids[(i >> layout->log_n) % layout->limbs]] : 0;
    if (layout->dtype == HX_U32) {
      ((uint32_t *)(void *)memory)[i] = (uint32_t)(word % q);
    } else if (layout->dtype == HX_U64) {
      ((uint64_t *)(void *)memory)[i] = word % q;
    } else {
      memory[i] = (uint8_t)word;  // a seed
    }
  }
}

hx_status_t hx_value_make_random(const hx_compilation_t *compilation, const hx_type_t *type, const char *what,
                                 uint64_t *state, hx_value_t **out, hx_report_t *report) {
  if (!hx_type_is_complete(type) || hx_value_create(compilation->params, type, false, out) != HX_STATUS_OK)
    return hx_report_fail(report, HX_CODE_INPUT, "%s is left out, and no random value of its type can be made", what);
  if ((*out)->type.kind == HX_TYPE_CIPHERTEXT && compilation->keys != NULL)
    memcpy((*out)->key_id, compilation->keys->id, sizeof(*out)->key_id);
  fill_random(*out, hx_params_ring(compilation->params), state);
  return HX_STATUS_OK;
}
