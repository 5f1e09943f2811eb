// SPDX-License-Identifier: Apache-2.0
// Types as data: copying, comparing, merging. Every operation on state goes through the table of parts.
#include "core/ops/type.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/ops/parts.h"

// How a part is stored.
typedef enum storage { IN_WORD, IN_BATCH, IN_SCALE, IN_PRIMES } storage_t;

typedef struct part_info {
  const char *name;
  uint32_t bit;
  storage_t storage;
  size_t offset;  // IN_WORD: of the uint32_t field
} part_info_t;

static const part_info_t part_infos[HX_PART_COUNT] = {
    [HX_PART_DTYPE] = {"dtype", HX_KNOWN_DTYPE, IN_WORD, offsetof(hx_type_t, dtype)},
    [HX_PART_BATCH] = {"batch", HX_KNOWN_BATCH, IN_BATCH, 0},
    [HX_PART_COMPONENTS] = {"components", HX_KNOWN_COMPONENTS, IN_WORD, offsetof(hx_type_t, components)},
    [HX_PART_DEPTH] = {"depth", HX_KNOWN_DEPTH, IN_WORD, offsetof(hx_type_t, depth)},
    [HX_PART_SCALE] = {"scale", HX_KNOWN_SCALE, IN_SCALE, 0},
    [HX_PART_PRIMES] = {"primes", HX_KNOWN_PRIMES, IN_PRIMES, 0},
    [HX_PART_BASIS] = {"basis", HX_KNOWN_BASIS, IN_WORD, offsetof(hx_type_t, basis)},
    [HX_PART_DOMAIN] = {"domain", HX_KNOWN_DOMAIN, IN_WORD, offsetof(hx_type_t, domain)},
    [HX_PART_REPR] = {"repr", HX_KNOWN_REPR, IN_WORD, offsetof(hx_type_t, repr)},
    [HX_PART_SLOTS] = {"slots", HX_KNOWN_SLOTS, IN_WORD, offsetof(hx_type_t, slots)},
};

const char *hx_part_name(hx_part_t part) { return part_infos[part].name; }
uint32_t hx_part_bit(hx_part_t part) { return part_infos[part].bit; }

uint32_t hx_type_parts(hx_type_kind_t kind) {
  if (kind == HX_TYPE_CIPHERTEXT || kind == HX_TYPE_PLAINTEXT) return HX_KNOWN_CIPHERTEXT;
  return kind == HX_TYPE_TENSOR ? (uint32_t)HX_KNOWN_TENSOR : 0;
}

static uint32_t *word_of(hx_type_t *type, hx_part_t part) {
  return (uint32_t *)(void *)((char *)type + part_infos[part].offset);
}

uint32_t hx_type_get_word(const hx_type_t *type, hx_part_t part) {
  uint32_t value;
  memcpy(&value, (const char *)type + part_infos[part].offset, sizeof value);
  return value;
}

void hx_type_set_word(hx_type_t *type, hx_part_t part, uint32_t value) {
  *word_of(type, part) = value;
  type->known |= hx_part_bit(part);
}

void hx_type_set_primes(hx_type_t *type, const hx_primes_t *primes) {
  type->primes = *primes;
  type->known |= HX_KNOWN_PRIMES;
}

void hx_type_set_scale(hx_type_t *type, const hx_scale_t *scale) {
  hx_scale_copy(&type->scale, scale);
  type->known |= HX_KNOWN_SCALE;
}

void hx_type_set_batch(hx_type_t *type, uint32_t rank, const uint64_t *shape) {
  uint64_t copy[HX_BATCH_RANK_MAX] = {0};
  for (uint32_t i = 0; i < rank; ++i) copy[i] = shape[i];
  memcpy(type->batch_shape, copy, sizeof copy);
  type->batch_rank = rank;
  type->known |= HX_KNOWN_BATCH;
}

void hx_type_forget(hx_type_t *type, hx_part_t part) {
  switch (part_infos[part].storage) {
    case IN_WORD:
      *word_of(type, part) = 0;
      break;
    case IN_BATCH:
      hx_type_set_batch(type, 0, NULL);
      break;
    case IN_SCALE:
      memset(type->scale.m, 0, sizeof type->scale.m);
      type->scale.e = 0;
      type->scale.term_count = 0;
      break;
    case IN_PRIMES:
      type->primes = (hx_primes_t){0};
      break;
  }
  type->known &= ~hx_part_bit(part);
}

bool hx_part_equal(hx_part_t part, const hx_type_t *a, const hx_type_t *b) {
  switch (part_infos[part].storage) {
    case IN_BATCH:
      return a->batch_rank == b->batch_rank && memcmp(a->batch_shape, b->batch_shape, sizeof a->batch_shape) == 0;
    case IN_SCALE:
      return hx_scale_equal(&a->scale, &b->scale);
    case IN_PRIMES:
      return hx_primes_equal(&a->primes, &b->primes);
    case IN_WORD:
      break;
  }
  return hx_type_get_word(a, part) == hx_type_get_word(b, part);
}

void hx_part_copy(hx_part_t part, hx_type_t *to, const hx_type_t *from) {
  if (!hx_type_knows(from, part)) {
    hx_type_forget(to, part);
    return;
  }
  switch (part_infos[part].storage) {
    case IN_WORD:
      hx_type_set_word(to, part, hx_type_get_word(from, part));
      break;
    case IN_BATCH:
      hx_type_set_batch(to, from->batch_rank, from->batch_shape);
      break;
    case IN_SCALE:
      hx_type_set_scale(to, &from->scale);
      break;
    case IN_PRIMES:
      hx_type_set_primes(to, &from->primes);
      break;
  }
}

void hx_type_init(hx_type_t *type, hx_type_kind_t kind) {
  memset(type, 0, sizeof *type);
  type->kind = kind;
}

void hx_type_copy(hx_type_t *to, const hx_type_t *from) {
  if (to == from) return;
  // All but the unused tail of the scale's terms.
  const size_t scale = offsetof(hx_type_t, scale), behind = scale + sizeof from->scale;
  memcpy(to, from, scale);
  hx_scale_copy(&to->scale, &from->scale);
  memcpy((char *)to + behind, (const char *)from + behind, sizeof *to - behind);
}

// What distinguishes types of one kind apart from their state. 0, NONE and "" stand for unknown in keys, messages and
// handles.
typedef struct detail {
  const char *name;
  bool is_known[2];
  bool is_equal;
} detail_t;

static size_t compare_details(const hx_type_t *a, const hx_type_t *b, detail_t out[2]) {
  switch (a->kind) {
    case HX_TYPE_KEY:
      out[0] = (detail_t){"kind", {a->key_kind != HX_KEY_NONE, b->key_kind != HX_KEY_NONE}, a->key_kind == b->key_kind};
      out[1] = (detail_t){"element", {a->element != 0, b->element != 0}, a->element == b->element};
      return 2;
    case HX_TYPE_MESSAGE:
      out[0] = (detail_t){"number of values", {a->count != 0, b->count != 0}, a->count == b->count};
      out[1] = (detail_t){"element type", {true, true}, a->is_complex == b->is_complex};
      return 2;
    case HX_TYPE_INTEGER:
      out[0] = (detail_t){"width", {true, true}, a->bits == b->bits};
      out[1] = (detail_t){"signedness", {true, true}, a->signedness == b->signedness};
      return 2;
    case HX_TYPE_HANDLE:
      out[0] = (detail_t){"kind", {a->name[0] != '\0', b->name[0] != '\0'}, strcmp(a->name, b->name) == 0};
      return 1;
    default:
      return 0;
  }
}

bool hx_type_equal(const hx_type_t *a, const hx_type_t *b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->known != b->known) return false;
  detail_t details[2];
  const size_t count = compare_details(a, b, details);
  for (size_t i = 0; i < count; ++i) {
    if (!details[i].is_equal) return false;
  }
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    if (hx_type_knows(a, part) && !hx_part_equal(part, a, b)) return false;
  }
  return true;
}

bool hx_type_agrees(const hx_type_t *written, const hx_type_t *inferred, const char **out_part) {
  if (written->kind != inferred->kind) {
    *out_part = "type";
    return false;
  }
  detail_t details[2];
  const size_t count = compare_details(written, inferred, details);
  for (size_t i = 0; i < count; ++i) {
    if (!details[i].is_equal && details[i].is_known[0] && details[i].is_known[1]) {
      *out_part = details[i].name;
      return false;
    }
  }
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    if (hx_type_knows(written, part) && hx_type_knows(inferred, part) && !hx_part_equal(part, written, inferred)) {
      *out_part = hx_part_name(part);
      return false;
    }
  }
  return true;
}

void hx_type_merge(hx_type_t *type, const hx_type_t *from) {
  if (type == from || type->kind != from->kind) return;
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    if (!hx_type_knows(type, part) && hx_type_knows(from, part)) hx_part_copy(part, type, from);
  }
  if (type->key_kind == HX_KEY_NONE) type->key_kind = from->key_kind;
  if (type->element == 0 && type->key_kind == from->key_kind) type->element = from->element;
  if (type->count == 0) type->count = from->count;
  if (type->name[0] == '\0') memcpy(type->name, from->name, sizeof type->name);
}

bool hx_type_is_complete(const hx_type_t *type) {
  switch (type->kind) {
    case HX_TYPE_NONE:
      return false;
    case HX_TYPE_KEY:
      return type->key_kind != HX_KEY_NONE && (type->key_kind != HX_KEY_GALOIS || type->element != 0);
    case HX_TYPE_MESSAGE:
      return type->count != 0;
    case HX_TYPE_HANDLE:
      return type->name[0] != '\0';
    default:
      break;
  }
  uint32_t wanted = hx_type_parts(type->kind);
  if (type->kind == HX_TYPE_TENSOR && hx_type_knows(type, HX_PART_DTYPE) && type->dtype != HX_U64 &&
      type->dtype != HX_U32) {
    wanted = HX_KNOWN_DTYPE | HX_KNOWN_BATCH | HX_KNOWN_COMPONENTS;  // no residues: no primes, domain, representation
  }
  return (type->known & wanted) == wanted;
}

const char *hx_type_kind_name(hx_type_kind_t kind) {
  static const char *const names[HX_TYPE_KIND_COUNT] = {[HX_TYPE_NONE] = "nothing",
                                                        [HX_TYPE_CIPHERTEXT] = "ciphertext",
                                                        [HX_TYPE_PLAINTEXT] = "plaintext",
                                                        [HX_TYPE_TENSOR] = "tensor",
                                                        [HX_TYPE_KEY] = "key",
                                                        [HX_TYPE_MESSAGE] = "message",
                                                        [HX_TYPE_SEED] = "seed",
                                                        [HX_TYPE_INTEGER] = "integer",
                                                        [HX_TYPE_INDEX] = "index",
                                                        [HX_TYPE_F64] = "f64",
                                                        [HX_TYPE_HANDLE] = "handle"};
  return (unsigned)kind < HX_TYPE_KIND_COUNT ? names[kind] : "nothing";
}

// ------------------------------------------------------------------ sets of primes

uint32_t hx_primes_count(const hx_primes_t *set) {
  uint32_t count = 0;
  for (size_t i = 0; i < HX_COUNT_OF(set->bits); ++i) count += (uint32_t)__builtin_popcountll(set->bits[i]);
  return count;
}

bool hx_primes_equal(const hx_primes_t *a, const hx_primes_t *b) { return memcmp(a, b, sizeof *a) == 0; }

uint32_t hx_primes_list(const hx_primes_t *set, uint32_t *out_ids) {
  uint32_t count = 0;
  for (uint32_t word = 0; word < HX_COUNT_OF(set->bits); ++word) {
    for (uint64_t rest = set->bits[word]; rest != 0; rest &= rest - 1) {
      out_ids[count++] = word * 64 + (uint32_t)__builtin_ctzll(rest);
    }
  }
  return count;
}

hx_primes_t hx_primes_range(uint32_t first, uint32_t count) {
  hx_primes_t set = {0};
  for (uint32_t i = 0; i < count && first + i < HX_PRIMES_MAX; ++i) hx_primes_add(&set, first + i);
  return set;
}
