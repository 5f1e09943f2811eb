// SPDX-License-Identifier: Apache-2.0
// Types of program values, with CKKS state. Any part of a value's state may be unknown ("?").
#ifndef HELIOX_CORE_OPS_TYPE_H
#define HELIOX_CORE_OPS_TYPE_H

#include "core/ops/scale.h"

typedef enum hx_type_kind {
  HX_TYPE_NONE,
  HX_TYPE_CIPHERTEXT,  // !ckks.ciphertext<...>
  HX_TYPE_PLAINTEXT,   // !ckks.plaintext<...>
  HX_TYPE_TENSOR,      // !rns.tensor<...>
  HX_TYPE_KEY,         // !ckks.key<kind = relin>
  HX_TYPE_MESSAGE,     // tensor<8192xf64>, tensor<8192xcomplex<f64>>
  HX_TYPE_SEED,        // tensor<32xui8>
  HX_TYPE_INTEGER,     // i64, si32, ui8, i1
  HX_TYPE_INDEX,
  HX_TYPE_F64,
  HX_TYPE_HANDLE,  // !resource.handle<kind = "process-group">
  HX_TYPE_KIND_COUNT
} hx_type_kind_t;

typedef enum hx_key_kind {
  HX_KEY_NONE,
  HX_KEY_RELIN,
  HX_KEY_GALOIS,
  HX_KEY_CONJ,
  HX_KEY_SWITCH,
  HX_KEY_PUBLIC,
  HX_KEY_SECRET
} hx_key_kind_t;
typedef enum hx_signedness { HX_SIGNLESS, HX_SIGNED, HX_UNSIGNED } hx_signedness_t;

// Parts of a type that may be unknown; a bit set means known.
enum {
  HX_KNOWN_BATCH = 1,
  HX_KNOWN_COMPONENTS = 2,
  HX_KNOWN_DEPTH = 4,
  HX_KNOWN_SCALE = 8,
  HX_KNOWN_PRIMES = 16,
  HX_KNOWN_BASIS = 32,
  HX_KNOWN_DOMAIN = 64,
  HX_KNOWN_REPR = 128,
  HX_KNOWN_SLOTS = 256,
  HX_KNOWN_DTYPE = 512,
  HX_KNOWN_CIPHERTEXT = HX_KNOWN_BATCH | HX_KNOWN_COMPONENTS | HX_KNOWN_DEPTH | HX_KNOWN_SCALE | HX_KNOWN_PRIMES |
                        HX_KNOWN_BASIS | HX_KNOWN_DOMAIN | HX_KNOWN_REPR | HX_KNOWN_SLOTS,
  HX_KNOWN_TENSOR = HX_KNOWN_BATCH | HX_KNOWN_COMPONENTS | HX_KNOWN_PRIMES | HX_KNOWN_BASIS | HX_KNOWN_DOMAIN |
                    HX_KNOWN_REPR | HX_KNOWN_DTYPE
};

// A set of prime ids; rows of every value stand in ascending id order.
typedef struct hx_primes {
  uint64_t bits[HX_PRIMES_MAX / 64];
} hx_primes_t;

static inline bool hx_primes_has(const hx_primes_t *set, uint32_t id) {
  return id < HX_PRIMES_MAX && ((set->bits[id / 64] >> (id % 64)) & 1) != 0;
}
static inline void hx_primes_add(hx_primes_t *set, uint32_t id) { set->bits[id / 64] |= (uint64_t)1 << (id % 64); }
uint32_t hx_primes_count(const hx_primes_t *set);
bool hx_primes_equal(const hx_primes_t *a, const hx_primes_t *b);
// ids ascending; returns the count. out has room for HX_PRIMES_MAX.
uint32_t hx_primes_list(const hx_primes_t *set, uint32_t *out_ids);
// Ids first .. first+count-1.
hx_primes_t hx_primes_range(uint32_t first, uint32_t count);

// Plain data, compared by hx_type_equal. Fields not used by the kind, or not known, are zero.
// basis, domain, repr and dtype hold the constants of heliox/plugin.h (HX_BASIS_Q, HX_NTT, HX_STANDARD, HX_U64).
typedef struct hx_type {
  hx_type_kind_t kind;
  uint32_t known;  // HX_KNOWN_ bits; kinds without state: 0
  uint32_t dtype;  // TENSOR
  uint32_t basis, domain, repr;
  uint32_t batch_rank;
  uint64_t batch_shape[HX_BATCH_RANK_MAX];
  uint32_t components;
  uint32_t depth;
  uint32_t slots;
  hx_primes_t primes;
  hx_scale_t scale;
  hx_key_kind_t key_kind;
  uint64_t element;  // galois key
  uint64_t count;    // MESSAGE: values
  bool is_complex;   // MESSAGE
  uint32_t bits;     // INTEGER
  hx_signedness_t signedness;
  char name[HX_NAME_MAX];  // HANDLE: its kind
} hx_type_t;

// All parts unknown.
void hx_type_init(hx_type_t *type, hx_type_kind_t kind);
void hx_type_copy(hx_type_t *to, const hx_type_t *from);
bool hx_type_equal(const hx_type_t *a, const hx_type_t *b);
// True if every known part of `written` equals that part of `inferred` (unknown in inferred fits anything).
// On false, out_part names the first part that differs ("scale").
bool hx_type_agrees(const hx_type_t *written, const hx_type_t *inferred, const char **out_part);
// Fills unknown parts of `type` from `from` (same kind).
void hx_type_merge(hx_type_t *type, const hx_type_t *from);
// True if no part that the kind has is unknown.
bool hx_type_is_complete(const hx_type_t *type);

// What a kind is called in messages: "ciphertext", "plaintext", "tensor", "key", ...
const char *hx_type_kind_name(hx_type_kind_t kind);

// Fills unknown parts that follow from known ones: a ciphertext's basis is Q, a plaintext has one component; under a
// ring (may be NULL) depth and basis give the primes, primes give basis and depth.
void hx_type_derive(hx_type_t *type, const hx_ring *ring);
// Checks known parts against each other and, where a ring is given, against it: counts, depth, slots, prime ids, basis,
// word, canonical scale. The first rule broken is a fault at `place` (type, scale-range, no-depth, slots, primes).
hx_status_t hx_type_verify(const hx_type_t *type, const hx_ring *ring, hx_place_t place, hx_report_t *report);

// Text form (DESIGN.md section 4), canonical key order, every key, `?` for unknown parts.
// Appends to a growing text buffer; see core/base/text.h. HX_STATUS_INVALID: HX_TYPE_NONE.
struct hx_text;
hx_status_t hx_type_print(const hx_type_t *type, struct hx_text *out);
// The same with unknown keys left out: `!ckks.ciphertext<depth = 1>`, or `!ckks.ciphertext<>` if nothing is known.
hx_status_t hx_type_print_short(const hx_type_t *type, struct hx_text *out);
// Parses one whole type from text: keys in any order, each at most once; `?` or an absent key is unknown. Ends with
// hx_type_verify. Faults have line and column in the text. Aliases are resolved by the IR parser before this.
hx_status_t hx_type_parse(hx_str_t text, const hx_ring *ring, hx_type_t *out, hx_report_t *report);
// The same for a piece of a larger text.
hx_status_t hx_type_parse_at(hx_str_t text, const hx_ring *ring, hx_place_t place, hx_type_t *out, hx_report_t *report);

#endif
