// SPDX-License-Identifier: Apache-2.0
// The parts of a type's state, one by one, in the order of the text form: what comparing, merging, printing, parsing
// and inference share.
#ifndef HELIOX_CORE_OPS_PARTS_H
#define HELIOX_CORE_OPS_PARTS_H

#include "core/base/text.h"
#include "core/ops/type.h"

typedef enum hx_part {
  HX_PART_DTYPE,
  HX_PART_BATCH,
  HX_PART_COMPONENTS,
  HX_PART_DEPTH,
  HX_PART_SCALE,
  HX_PART_PRIMES,
  HX_PART_BASIS,
  HX_PART_DOMAIN,
  HX_PART_REPR,
  HX_PART_SLOTS,
  HX_PART_COUNT
} hx_part_t;

#define HX_COMPONENTS_MAX 65535u
#define HX_BATCH_ITEMS_MAX ((uint64_t)1 << 32)  // of one value, all axes together
#define HX_SLOTS_MAX 65536u                     // N is at most 2^17

const char *hx_part_name(hx_part_t part);  // key in the text
uint32_t hx_part_bit(hx_part_t part);      // HX_KNOWN_
// HX_KNOWN_ bits of the parts that a kind has; 0 for kinds without state.
uint32_t hx_type_parts(hx_type_kind_t kind);
// Words of a part whose value is a constant of heliox/plugin.h ("ntt" for HX_NTT), indexed by it; NULL entries are no
// values. NULL for other parts.
const char *const *hx_part_words(hx_part_t part, size_t *out_count);

// Both must know the part.
bool hx_part_equal(hx_part_t part, const hx_type_t *a, const hx_type_t *b);
// Copies the part if `from` knows it, else makes it unknown.
void hx_part_copy(hx_part_t part, hx_type_t *to, const hx_type_t *from);
// The part's value as in the text form, or "?".
void hx_part_print(hx_part_t part, const hx_type_t *type, hx_text_t *out);

// Setters that keep unknown fields zero and set the known bit.
void hx_type_set_word(hx_type_t *type, hx_part_t part, uint32_t value);  // any part but batch, scale, primes
void hx_type_set_primes(hx_type_t *type, const hx_primes_t *primes);
void hx_type_set_scale(hx_type_t *type, const hx_scale_t *scale);
void hx_type_set_batch(hx_type_t *type, uint32_t rank, const uint64_t *shape);
void hx_type_forget(hx_type_t *type, hx_part_t part);
uint32_t hx_type_get_word(const hx_type_t *type, hx_part_t part);  // 0 where unknown
static inline bool hx_type_knows(const hx_type_t *type, hx_part_t part) {
  return (type->known & hx_part_bit(part)) != 0;
}

#endif
