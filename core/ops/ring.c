// SPDX-License-Identifier: Apache-2.0
// Rows of a ring, and types against a ring.
#include "core/base/memory.h"
#include "core/ops/ops.h"
#include "core/ops/parts.h"

uint32_t hx_ring_max_depth(const hx_ring *ring) { return ring->group_count == 0 ? 0 : ring->group_count - 1; }

hx_primes_t hx_ring_active(const hx_ring *ring, uint32_t depth) {
  if (depth > hx_ring_max_depth(ring)) return (hx_primes_t){0};
  uint32_t dropped = 0;
  for (uint32_t i = 0; i < depth; ++i) dropped += ring->group_sizes[ring->group_count - 1 - i];
  return hx_primes_range(0, ring->q_count - dropped);
}

hx_primes_t hx_ring_special(const hx_ring *ring) { return hx_primes_range(ring->q_count, ring->p_count); }

hx_primes_t hx_ring_digit(const hx_ring *ring, uint32_t digit, const hx_primes_t *active) {
  hx_primes_t set = {0};
  const uint64_t first = (uint64_t)digit * ring->digit_run;
  for (uint64_t id = first; id < first + ring->digit_run && id < ring->q_count; ++id) {
    if (hx_primes_has(active, (uint32_t)id)) hx_primes_add(&set, (uint32_t)id);
  }
  return set;
}

uint32_t hx_ring_digit_count(const hx_ring *ring, uint32_t depth) {
  const hx_primes_t active = hx_ring_active(ring, depth);
  const uint32_t count = hx_primes_count(&active);
  return ring->digit_run == 0 ? 0 : (count + ring->digit_run - 1) / ring->digit_run;
}

uint64_t hx_galois_element(uint32_t log_n, uint32_t slots, int64_t step) {
  const uint64_t mask = ((uint64_t)2 << log_n) - 1;  // mod 2N
  const int64_t rest = step % (int64_t)slots;
  uint64_t exponent = (uint64_t)(rest < 0 ? rest + (int64_t)slots : rest);
  uint64_t element = 1, power = 5;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) element = (element * power) & mask;
    power = (power * power) & mask;
  }
  return element;
}

uint32_t hx_ring_basis(const hx_ring *ring, const hx_primes_t *primes) {
  uint32_t basis = 0;
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(primes, ids);
  for (uint32_t i = 0; i < count; ++i) basis |= ids[i] < ring->q_count ? HX_BASIS_Q : HX_BASIS_P;
  return basis;  // the constants are bits: Q and P together are QP
}

static bool has_ckks_state(const hx_type_t *type) {
  return type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT;
}

// Rows of a ciphertext or plaintext at a depth, on Q or on Q and P.
static hx_primes_t rows_at(const hx_ring *ring, uint32_t depth, uint32_t basis) {
  hx_primes_t rows = hx_ring_active(ring, depth);
  if (basis != HX_BASIS_QP) return rows;
  const hx_primes_t special = hx_ring_special(ring);
  for (size_t i = 0; i < HX_COUNT_OF(rows.bits); ++i) rows.bits[i] |= special.bits[i];
  return rows;
}

// The depth whose rows these are, or a number above the ring's depths.
static uint32_t find_depth(const hx_ring *ring, const hx_primes_t *primes) {
  const uint32_t basis = hx_ring_basis(ring, primes);
  uint32_t depth = 0;
  for (; depth <= hx_ring_max_depth(ring); ++depth) {
    const hx_primes_t rows = rows_at(ring, depth, basis);
    if (hx_primes_equal(&rows, primes)) break;
  }
  return depth;
}

void hx_type_derive(hx_type_t *type, const hx_ring *ring) {
  if (type->kind == HX_TYPE_CIPHERTEXT && !hx_type_knows(type, HX_PART_BASIS)) {
    hx_type_set_word(type, HX_PART_BASIS, HX_BASIS_Q);
  }
  if (type->kind == HX_TYPE_PLAINTEXT && !hx_type_knows(type, HX_PART_COMPONENTS)) {
    hx_type_set_word(type, HX_PART_COMPONENTS, 1);
  }
  if (ring == NULL) return;
  if (hx_type_knows(type, HX_PART_PRIMES) && !hx_type_knows(type, HX_PART_BASIS)) {
    hx_type_set_word(type, HX_PART_BASIS, hx_ring_basis(ring, &type->primes));
  }
  if (!has_ckks_state(type)) return;
  if (hx_type_knows(type, HX_PART_PRIMES) && !hx_type_knows(type, HX_PART_DEPTH)) {
    const uint32_t depth = find_depth(ring, &type->primes);
    if (depth <= hx_ring_max_depth(ring)) hx_type_set_word(type, HX_PART_DEPTH, depth);
  }
  if (!hx_type_knows(type, HX_PART_PRIMES) && hx_type_knows(type, HX_PART_DEPTH) &&
      hx_type_knows(type, HX_PART_BASIS) && type->depth <= hx_ring_max_depth(ring)) {
    const hx_primes_t rows = rows_at(ring, type->depth, type->basis);
    hx_type_set_primes(type, &rows);
  }
}

// ------------------------------------------------------------------ verification

typedef struct check {
  const hx_type_t *type;
  const hx_ring *ring;
  hx_place_t place;
  hx_report_t *report;
} check_t;

#define REFUSE(check_, code_, ...)                                                                   \
  hx_report_fail_at((check_)->report, HX_CODE_##code_, (check_)->place.source, (check_)->place.line, \
                    (check_)->place.column, __VA_ARGS__)

// What holds under any ring.
static hx_status_t verify_alone(const check_t *check) {
  const hx_type_t *type = check->type;
  const bool is_ciphertext = type->kind == HX_TYPE_CIPHERTEXT;
  if (is_ciphertext && hx_type_knows(type, HX_PART_COMPONENTS) && (type->components < 2 || type->components > 3)) {
    return REFUSE(check, TYPE, "type: a ciphertext has 2 or 3 components, not %u", type->components);
  }
  if (type->kind == HX_TYPE_PLAINTEXT && hx_type_knows(type, HX_PART_COMPONENTS) && type->components != 1) {
    return REFUSE(check, TYPE, "type: a plaintext has 1 component, not %u", type->components);
  }
  if (has_ckks_state(type) && hx_type_knows(type, HX_PART_BASIS) && type->basis != HX_BASIS_Q &&
      (is_ciphertext || type->basis != HX_BASIS_QP)) {
    return REFUSE(check, TYPE, "type: a %s",
                  is_ciphertext ? "ciphertext lies on basis Q" : "plaintext lies on basis Q or QP");
  }
  if (hx_type_knows(type, HX_PART_SLOTS) && (type->slots & (type->slots - 1)) != 0) {
    return REFUSE(check, SLOTS, "type: slots are a power of two, not %u", type->slots);
  }
  return HX_STATUS_OK;
}

static hx_status_t verify_primes(const check_t *check) {
  const hx_type_t *type = check->type;
  const hx_ring *ring = check->ring;
  if (!hx_type_knows(type, HX_PART_PRIMES)) return HX_STATUS_OK;
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&type->primes, ids);
  if (count == 0 || ids[count - 1] >= ring->q_count + ring->p_count) {
    return REFUSE(check, PRIMES, "type: the parameters have the prime ids 0 to %u, the type has %u",
                  ring->q_count + ring->p_count - 1, count == 0 ? 0 : ids[count - 1]);
  }
  const uint32_t basis = hx_ring_basis(ring, &type->primes);
  size_t word_count = 0;
  const char *const *words = hx_part_words(HX_PART_BASIS, &word_count);
  if (hx_type_knows(type, HX_PART_BASIS) && type->basis != basis) {
    return REFUSE(check, PRIMES, "type: basis is written %s, but its primes lie on %s", words[type->basis],
                  words[basis]);
  }
  if (!has_ckks_state(type)) return HX_STATUS_OK;
  if (basis == HX_BASIS_P || (basis == HX_BASIS_QP && type->kind == HX_TYPE_CIPHERTEXT)) {
    return REFUSE(check, PRIMES, "type: a %s, but its primes lie on %s",
                  type->kind == HX_TYPE_CIPHERTEXT ? "ciphertext lies on Q" : "plaintext lies on Q or QP",
                  words[basis]);
  }
  const uint32_t depth = find_depth(ring, &type->primes);
  if (depth > hx_ring_max_depth(ring)) {
    return REFUSE(check, PRIMES, "type: %u primes up to id %u are the rows of no depth of the parameters", count,
                  ids[count - 1]);
  }
  if (hx_type_knows(type, HX_PART_DEPTH) && type->depth != depth) {
    return REFUSE(check, PRIMES, "type: depth is written %u, but its primes are those of depth %u", type->depth, depth);
  }
  return HX_STATUS_OK;
}

static hx_status_t verify_with_ring(const check_t *check) {
  const hx_type_t *type = check->type;
  const hx_ring *ring = check->ring;
  if (hx_type_knows(type, HX_PART_DEPTH) && type->depth > hx_ring_max_depth(ring)) {
    return REFUSE(check, NO_DEPTH, "type: depth %u, but the parameters have depths 0 to %u", type->depth,
                  hx_ring_max_depth(ring));
  }
  if (hx_type_knows(type, HX_PART_SLOTS) && type->slots > (1u << (ring->log_n - 1))) {
    return REFUSE(check, SLOTS, "type: %u slots, but the parameters have at most %u", type->slots,
                  1u << (ring->log_n - 1));
  }
  if (hx_type_knows(type, HX_PART_SCALE)) {
    const uint32_t foreign = hx_scale_find_foreign(&type->scale, ring);
    if (foreign >= ring->q_count && foreign < HX_PRIMES_MAX) {
      return REFUSE(check, SCALE_RANGE, "type: the scale has a power of q%u, but Q has the ids 0 to %u", foreign,
                    ring->q_count - 1);
    }
    if (foreign < ring->q_count) {
      return REFUSE(
          check, SCALE_RANGE,
          "type: the scale's odd factor is divisible by q%u = %llu, which has to be written as a power of q%u", foreign,
          (unsigned long long)ring->primes[foreign], foreign);
    }
  }
  const uint32_t other_word = ring->word == 32 ? HX_U64 : HX_U32;
  if (hx_type_knows(type, HX_PART_DTYPE) && type->dtype == other_word) {
    return REFUSE(check, TYPE, "type: dtype is u%u, but the parameters' residue word has %u bits", 96 - ring->word,
                  ring->word);
  }
  if (type->kind == HX_TYPE_KEY && type->element >> (ring->log_n + 1) != 0) {
    return REFUSE(check, TYPE, "type: Galois element %llu is not below 2N = %llu", (unsigned long long)type->element,
                  (unsigned long long)2 << ring->log_n);
  }
  return verify_primes(check);
}

hx_status_t hx_type_verify(const hx_type_t *type, const hx_ring *ring, hx_place_t place, hx_report_t *report) {
  const check_t check = {.type = type, .ring = ring, .place = place, .report = report};
  HX_TRY(verify_alone(&check));
  return ring == NULL ? HX_STATUS_OK : verify_with_ring(&check);
}
