// SPDX-License-Identifier: Apache-2.0
// The memory plan: which results are computed in place, how long each root lives, where it lies in the slab.
// A root takes part from the first step that writes it to the last that touches it, both included; two roots share
// bytes only where one ends before the other begins. Steps run in order on one queue, so that is enough.
#include "core/link/executable.h"

#define SLAB_BYTES_MAX ((uint64_t)1 << 56)  // far beyond any machine; keeps sums of offsets from wrapping

uint32_t hx_root_of(const hx_executable_t *exe, uint32_t root) {
  while (exe->roots[root].kind == HX_ROOT_SLAB && exe->roots[root].is_merged) root = exe->roots[root].index;
  return root;
}

static void touch(hx_executable_t *exe, uint32_t slot, uint32_t step) {
  hx_root_t *root = &exe->roots[hx_root_of(exe, exe->slots[slot].root)];
  if (!root->is_used) root->first = step;
  root->is_used = true;
  root->last = step;
}

static void find_lifetimes(hx_executable_t *exe) {
  for (size_t r = 0; r < exe->root_count; ++r) exe->roots[r].is_used = false;
  for (uint32_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    for (uint32_t i = 0; i < step->operand_count; ++i) touch(exe, step->operands[i], s);
    for (uint32_t i = 0; i < step->result_count; ++i) touch(exe, step->results[i], s);
  }
}

// Whether result `r` may take over the memory of the operand that the plugin named: it dies here, nothing else in the
// call lies in it, and both cover all of it in the same way.
static bool takes_over(const hx_executable_t *exe, const hx_step_t *step, uint32_t s, uint32_t r) {
  const int32_t candidate = step->may_alias[r];
  if (candidate < 0) return false;
  const hx_slot_t *from = &exe->slots[step->operands[candidate]], *to = &exe->slots[step->results[r]];
  const uint32_t from_root = hx_root_of(exe, from->root);
  const hx_root_t *source = &exe->roots[from_root], *target = &exe->roots[to->root];
  if (source->kind != HX_ROOT_SLAB || target->kind != HX_ROOT_SLAB || !target->is_whole || target->is_merged)
    return false;
  if (source->last != s || source->bytes != target->bytes || from->offset != 0 || to->offset != 0) return false;
  if (from_root == to->root || !hx_layout_equal(from->layout, to->layout)) return false;
  for (uint32_t i = 0; i < step->operand_count; ++i) {
    if (i != (uint32_t)candidate && hx_root_of(exe, exe->slots[step->operands[i]].root) == from_root) return false;
  }
  for (uint32_t i = 0; i < r; ++i) {
    if (hx_root_of(exe, exe->slots[step->results[i]].root) == from_root) return false;
  }
  return true;
}

static void merge_in_place(hx_executable_t *exe) {
  for (uint32_t s = 0; s < exe->steps.count; ++s) {
    hx_step_t *step = &exe->steps.items[s];
    if (step->kind != HX_STEP_CALL) continue;
    for (uint32_t r = 0; r < step->result_count; ++r) {
      if (!takes_over(exe, step, s, r)) continue;
      hx_root_t *target = &exe->roots[exe->slots[step->results[r]].root];
      const uint32_t source = hx_root_of(exe, exe->slots[step->operands[step->may_alias[r]]].root);
      target->is_merged = true;
      target->index = source;
      exe->roots[source].last = target->last;
      step->in_place[r] = step->may_alias[r];
    }
  }
}

// ------------------------------------------------------------------ places

// Lowest place where a root fits beside those that live at the same time. `placed` holds roots ordered by offset.
static uint64_t lowest_place(const hx_executable_t *exe, const uint32_t *placed, size_t count, const hx_root_t *root,
                             uint64_t alignment) {
  uint64_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    const hx_root_t *other = &exe->roots[placed[i]];
    if (other->last < root->first || other->first > root->last) continue;
    if (other->offset >= place + root->bytes) break;  // the gap before it is large enough
    const uint64_t end = (other->offset + other->bytes + alignment - 1) & ~(alignment - 1);
    place = end > place ? end : place;
  }
  return place;
}

static void insert_placed(const hx_executable_t *exe, uint32_t *placed, size_t count, uint32_t root) {
  size_t at = count;
  while (at > 0 && exe->roots[placed[at - 1]].offset > exe->roots[root].offset) {
    placed[at] = placed[at - 1];
    at -= 1;
  }
  placed[at] = root;
}

// Roots whose life is over are dropped from the list as the scan passes them.
static size_t drop_ended(const hx_executable_t *exe, uint32_t *placed, size_t count, uint32_t now) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (exe->roots[placed[i]].last >= now) placed[kept++] = placed[i];
  }
  return kept;
}

// Roots in the order in which they are first written: their steps are visited in order.
static hx_status_t place_roots(hx_linker_t *linker) {
  hx_executable_t *exe = linker->exe;
  uint32_t *placed = hx_zalloc(exe->root_count, sizeof *placed);
  bool *is_placed = hx_zalloc(exe->root_count, sizeof *is_placed);
  size_t count = 0;
  if (placed == NULL || is_placed == NULL) {
    hx_free(placed);
    hx_free(is_placed);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  for (uint32_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    count = drop_ended(exe, placed, count, s);
    for (uint32_t i = 0; i < step->result_count; ++i) {
      const uint32_t index = hx_root_of(exe, exe->slots[step->results[i]].root);
      hx_root_t *root = &exe->roots[index];
      if (root->kind != HX_ROOT_SLAB || is_placed[index]) continue;
      root->offset = lowest_place(exe, placed, count, root, exe->device->alignment);
      insert_placed(exe, placed, count++, index);
      is_placed[index] = true;
      if (root->offset + root->bytes > exe->slab_bytes) exe->slab_bytes = root->offset + root->bytes;
      exe->unshared_bytes += root->bytes;
    }
    if (exe->slab_bytes > SLAB_BYTES_MAX) {
      hx_link_fail(linker, step->op, HX_CODE_LIMIT, "the intermediates need more than %llu bytes",
                   (unsigned long long)SLAB_BYTES_MAX);
      break;
    }
  }
  hx_free(placed);
  hx_free(is_placed);
  return HX_STATUS_OK;
}

hx_status_t hx_link_plan(hx_linker_t *linker) {
  hx_executable_t *exe = linker->exe;
  find_lifetimes(exe);
  merge_in_place(exe);
  HX_TRY(place_roots(linker));
  const uint64_t alignment = exe->device->alignment;
  exe->slab_bytes = (exe->slab_bytes + alignment - 1) & ~(alignment - 1);
  for (size_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    if (step->scratch_host > exe->scratch_host) exe->scratch_host = step->scratch_host;
    if (step->scratch_device > exe->scratch_device) exe->scratch_device = step->scratch_device;
  }
  for (size_t i = 0; i < exe->slot_count; ++i) {
    if (exe->slots[i].secret) exe->has_secrets = true;
  }
  return HX_STATUS_OK;
}
