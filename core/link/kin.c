// SPDX-License-Identifier: Apache-2.0
// Sets of steps as bits, a row for each step or root.
#include "core/link/kin.h"

#include <string.h>

struct hx_kin {
  size_t row;          // words of a set
  uint64_t *needs;     // [steps]: what a step needs
  uint64_t *behind;    // [roots]: what the roots' readers need: its writers and what they need
  uint64_t *touching;  // [roots]: steps that read or write it
  uint64_t *common;    // [roots]: what all of its writers need; all ones while it has none
};

static uint64_t *row_of(const hx_kin_t *kin, uint64_t *sets, uint32_t index) { return sets + index * kin->row; }

static void add_bit(uint64_t *set, uint32_t step) { set[step / 64] |= (uint64_t)1 << step % 64; }

static void add_set(const hx_kin_t *kin, uint64_t *set, const uint64_t *other) {
  for (size_t i = 0; i < kin->row; ++i) set[i] |= other[i];
}

static void keep_set(const hx_kin_t *kin, uint64_t *set, const uint64_t *other) {
  for (size_t i = 0; i < kin->row; ++i) set[i] &= other[i];
}

static void find_needs(hx_kin_t *kin, const hx_executable_t *exe) {
  for (uint32_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    uint64_t *needs = row_of(kin, kin->needs, s);
    for (uint32_t i = 0; i < step->operand_count; ++i) {
      const uint32_t root = exe->slots[step->operands[i]].root;
      add_set(kin, needs, row_of(kin, kin->behind, root));
      add_bit(row_of(kin, kin->touching, root), s);
    }
    for (uint32_t i = 0; i < step->result_count; ++i) {
      const uint32_t root = exe->slots[step->results[i]].root;
      add_set(kin, row_of(kin, kin->behind, root), needs);
      add_bit(row_of(kin, kin->behind, root), s);
      add_bit(row_of(kin, kin->touching, root), s);
      keep_set(kin, row_of(kin, kin->common, root), needs);
    }
  }
}

hx_status_t hx_kin_create(const hx_executable_t *exe, hx_kin_t **out) {
  hx_kin_t *kin = hx_zalloc(1, sizeof *kin);
  if (kin == NULL) return HX_STATUS_OUT_OF_MEMORY;
  kin->row = exe->steps.count / 64 + 1;
  kin->needs = hx_zalloc(exe->steps.count * kin->row + 1, sizeof(uint64_t));
  kin->behind = hx_zalloc(exe->root_count * kin->row + 1, sizeof(uint64_t));
  kin->touching = hx_zalloc(exe->root_count * kin->row + 1, sizeof(uint64_t));
  kin->common = hx_zalloc(exe->root_count * kin->row + 1, sizeof(uint64_t));
  if (kin->needs == NULL || kin->behind == NULL || kin->touching == NULL || kin->common == NULL) {
    hx_kin_release(kin);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  memset(kin->common, 0xff, exe->root_count * kin->row * sizeof(uint64_t));
  find_needs(kin, exe);
  *out = kin;
  return HX_STATUS_OK;
}

void hx_kin_release(hx_kin_t *kin) {
  if (kin == NULL) return;
  hx_free(kin->needs);
  hx_free(kin->behind);
  hx_free(kin->touching);
  hx_free(kin->common);
  hx_free(kin);
}

bool hx_kin_follows(const hx_kin_t *kin, uint32_t before, uint32_t after) {
  const uint64_t *touching = row_of(kin, kin->touching, before), *common = row_of(kin, kin->common, after);
  for (size_t i = 0; i < kin->row; ++i) {
    if ((touching[i] & ~common[i]) != 0) return false;
  }
  return true;
}

bool hx_kin_is_last(const hx_kin_t *kin, uint32_t root, uint32_t step) {
  const uint64_t *touching = row_of(kin, kin->touching, root), *needs = row_of(kin, kin->needs, step);
  for (size_t i = 0; i < kin->row; ++i) {
    const uint64_t itself = i == step / 64 ? (uint64_t)1 << step % 64 : 0;
    if ((touching[i] & ~needs[i] & ~itself) != 0) return false;
  }
  return true;
}

void hx_kin_merge(hx_kin_t *kin, uint32_t into, uint32_t from, bool from_is_first) {
  add_set(kin, row_of(kin, kin->touching, into), row_of(kin, kin->touching, from));
  if (from_is_first) keep_set(kin, row_of(kin, kin->common, into), row_of(kin, kin->common, from));
}
