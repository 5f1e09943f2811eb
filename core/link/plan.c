// SPDX-License-Identifier: Apache-2.0
// The memory plan: which results are computed in place, how long each root lives, where it lies in the slab.
// A root takes part from the first step that writes it to the last that touches it, both included; two roots share
// bytes only where one ends before the other begins. Steps run in order on one queue, so that is enough; around a loop
// lives are prolonged to the whole of it.
//
// Where the device records runs, it does independent steps at once. Then memory is used again only by steps that need
// all those that used it before, as long as the intermediates do not take too much of the device by that.
#include <stdlib.h>

#include "core/link/kin.h"

#define APART_BYTES_MAX ((uint64_t)512 << 20)  // of intermediates that keep apart; and at most a part of the device's
#define APART_PART 16

#define SLAB_BYTES_MAX ((uint64_t)1 << 56)  // far beyond any machine; keeps sums of offsets from wrapping

uint32_t hx_root_of(const hx_executable_t *exe, uint32_t root) {
  while (exe->roots[root].kind == HX_ROOT_SLAB && exe->roots[root].is_merged) root = exe->roots[root].index;
  return root;
}

// ------------------------------------------------------------------ lifetimes

// The innermost loop around two places; HX_NONE: none.
static uint32_t common_loop(const hx_executable_t *exe, uint32_t a, uint32_t b) {
  while (a != b) {
    const uint32_t depth_a = a == HX_NONE ? 0 : exe->loops[a].depth + 1;
    const uint32_t depth_b = b == HX_NONE ? 0 : exe->loops[b].depth + 1;
    if (depth_a >= depth_b) a = exe->loops[a].parent;
    if (depth_b >= depth_a) b = exe->loops[b].parent;
  }
  return a;
}

static void find_home(hx_executable_t *exe, uint32_t slot, const hx_step_t *step) {
  hx_root_t *root = &exe->roots[hx_root_of(exe, exe->slots[slot].root)];
  root->loop = root->is_used ? common_loop(exe, root->loop, step->loop) : step->loop;
  if (!root->is_used) root->first = root->last = HX_NONE;
  root->is_used = true;
}

// A step in a loop that the root is needed around counts as the whole loop: what is written before a loop, or in its
// last turn, must outlive every turn. The end of a loop is the step behind it, so that nothing dies in a turn by
// chance of order.
static void touch(hx_executable_t *exe, uint32_t slot, uint32_t s) {
  hx_root_t *root = &exe->roots[hx_root_of(exe, exe->slots[slot].root)];
  uint32_t first = s, last = s;
  for (uint32_t loop = exe->steps.items[s].loop; loop != root->loop; loop = exe->loops[loop].parent) {
    first = exe->loops[loop].first;
    last = exe->loops[loop].end;
  }
  if (root->first == HX_NONE || first < root->first) root->first = first;
  if (root->last == HX_NONE || last > root->last) root->last = last;
}

static void find_lifetimes(hx_executable_t *exe) {
  for (size_t r = 0; r < exe->root_count; ++r) exe->roots[r].is_used = false;
  for (int round = 0; round < 2; ++round) {
    for (uint32_t s = 0; s < exe->steps.count; ++s) {
      const hx_step_t *step = &exe->steps.items[s];
      for (uint32_t i = 0; i < step->operand_count + step->result_count; ++i) {
        const uint32_t slot = i < step->operand_count ? step->operands[i] : step->results[i - step->operand_count];
        if (round == 0) find_home(exe, slot, step);
        if (round == 1) touch(exe, slot, s);
      }
    }
  }
}

// ------------------------------------------------------------------ in place

// Whether result `r` may take over the memory of the operand that the plugin named: it dies here, nothing else in the
// call lies in it, and both cover all of it in the same way.
static bool takes_over(const hx_executable_t *exe, const hx_kin_t *kin, uint32_t s, uint32_t r) {
  const hx_step_t *step = &exe->steps.items[s];
  const int32_t candidate = step->may_alias[r];
  if (candidate < 0) return false;
  const hx_slot_t *from = &exe->slots[step->operands[candidate]], *to = &exe->slots[step->results[r]];
  const uint32_t from_root = hx_root_of(exe, from->root);
  const hx_root_t *source = &exe->roots[from_root], *target = &exe->roots[to->root];
  if (source->kind != HX_ROOT_SLAB || target->kind != HX_ROOT_SLAB || !target->is_whole || target->is_merged)
    return false;
  if (source->site != target->site) return false;
  if (source->last != s || target->first != s || source->bytes != target->bytes) return false;
  if (from->offset != 0 || to->offset != 0) return false;
  if (from_root == to->root || !hx_layout_equal(from->layout, to->layout)) return false;
  if (kin != NULL && !hx_kin_is_last(kin, from_root, s)) return false;
  for (uint32_t i = 0; i < step->operand_count; ++i) {
    if (i != (uint32_t)candidate && hx_root_of(exe, exe->slots[step->operands[i]].root) == from_root) return false;
  }
  for (uint32_t i = 0; i < r; ++i) {
    if (hx_root_of(exe, exe->slots[step->results[i]].root) == from_root) return false;
  }
  return true;
}

static void merge_in_place(hx_executable_t *exe, hx_kin_t *kin) {
  for (uint32_t s = 0; s < exe->steps.count; ++s) {
    hx_step_t *step = &exe->steps.items[s];
    for (uint32_t r = 0; r < step->result_count; ++r) {
      if (!takes_over(exe, kin, s, r)) continue;
      const uint32_t taken = exe->slots[step->results[r]].root;
      hx_root_t *target = &exe->roots[taken];
      const uint32_t source = hx_root_of(exe, exe->slots[step->operands[step->may_alias[r]]].root);
      target->is_merged = true;
      target->index = source;
      exe->roots[source].last = target->last;
      step->in_place[r] = step->may_alias[r];
      step->is_elided = step->kind == HX_STEP_COPY;
      if (kin != NULL) hx_kin_merge(kin, source, taken, false);
    }
  }
}

// Whether step `s`, where a value that is copied to `target` at once is first written, may write there: the target is
// no operand, or the only one of its memory and the one that the plugin named.
static bool writes_into(const hx_executable_t *exe, const hx_step_t *step, uint32_t source, uint32_t target,
                        int32_t *out_operand) {
  *out_operand = -1;
  for (uint32_t i = 0; i < step->operand_count; ++i) {
    if (hx_root_of(exe, exe->slots[step->operands[i]].root) != target) continue;
    if (*out_operand >= 0 || step->kind != HX_STEP_CALL) return false;
    *out_operand = (int32_t)i;
  }
  uint32_t result = HX_NONE;
  for (uint32_t i = 0; i < step->result_count; ++i) {
    const uint32_t root = hx_root_of(exe, exe->slots[step->results[i]].root);
    if (root == target || (root == source && result != HX_NONE)) return false;
    if (root == source) result = i;
  }
  if (result == HX_NONE) return false;
  if (*out_operand < 0) return true;
  const hx_slot_t *from = &exe->slots[step->operands[*out_operand]], *to = &exe->slots[step->results[result]];
  return step->may_alias[result] == *out_operand && step->in_place[result] < 0 && from->offset == 0 &&
         to->offset == 0 && hx_layout_equal(from->layout, to->layout);
}

static bool is_touched(const hx_executable_t *exe, uint32_t root, uint32_t first, uint32_t end) {
  for (uint32_t s = first; s < end; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    for (uint32_t i = 0; i < step->operand_count; ++i) {
      if (hx_root_of(exe, exe->slots[step->operands[i]].root) == root) return true;
    }
    for (uint32_t i = 0; i < step->result_count; ++i) {
      if (hx_root_of(exe, exe->slots[step->results[i]].root) == root) return true;
    }
  }
  return false;
}

// A value that dies where control flow copies it to its place is computed in that place, if nothing looks at the place
// between: from the step that first writes the value to the copy. Inside a loop the place is looked at before that step
// only, where it still has what the last turn left.
static void merge_copy(hx_executable_t *exe, hx_kin_t *kin, uint32_t s) {
  hx_step_t *copy = &exe->steps.items[s];
  const hx_slot_t *from = &exe->slots[copy->operands[0]], *to = &exe->slots[copy->results[0]];
  const uint32_t source_index = hx_root_of(exe, from->root), target_index = hx_root_of(exe, to->root);
  hx_root_t *source = &exe->roots[source_index], *target = &exe->roots[target_index];
  if (source_index == target_index || source->kind != HX_ROOT_SLAB || target->kind != HX_ROOT_SLAB) return;
  if (source->site != target->site) return;
  if (!source->is_whole || source->last != s || source->bytes != target->bytes) return;
  if (from->offset != 0 || to->offset != 0 || !hx_layout_equal(from->layout, to->layout)) return;
  hx_step_t *producer = &exe->steps.items[source->first];
  int32_t operand;
  if (!writes_into(exe, producer, source_index, target_index, &operand)) return;
  if (is_touched(exe, target_index, source->first + 1, s)) return;
  for (uint32_t i = 0; operand >= 0 && i < producer->result_count; ++i) {
    if (hx_root_of(exe, exe->slots[producer->results[i]].root) == source_index) producer->in_place[i] = operand;
  }
  if (source->first < target->first) target->first = source->first;
  source->is_merged = true;
  source->index = target_index;
  copy->in_place[0] = 0;
  copy->is_elided = true;
  if (kin != NULL) hx_kin_merge(kin, target_index, source_index, true);
}

static void merge_copies(hx_executable_t *exe, hx_kin_t *kin) {
  for (uint32_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    if (step->kind == HX_STEP_COPY && !step->is_elided && step->may_alias[0] == 0) merge_copy(exe, kin, s);
  }
}

// ------------------------------------------------------------------ places

// Whether two roots may have memory in common; `later` begins later in the order of steps.
static bool may_share(const hx_executable_t *exe, const hx_kin_t *kin, uint32_t earlier, uint32_t later) {
  const hx_root_t *a = &exe->roots[earlier], *b = &exe->roots[later];
  if (a->site != b->site) return true;
  return a->last < b->first && (kin == NULL || hx_kin_follows(kin, earlier, later));
}

// Lowest place where a root fits beside those that it may not share with. `placed` holds roots ordered by offset.
static uint64_t lowest_place(const hx_executable_t *exe, const hx_kin_t *kin, const uint32_t *placed, size_t count,
                             uint32_t index) {
  const hx_root_t *root = &exe->roots[index];
  const uint64_t alignment = exe->alignment;
  uint64_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    const hx_root_t *other = &exe->roots[placed[i]];
    if (may_share(exe, kin, placed[i], index)) continue;
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

typedef struct arrival {
  uint32_t first, root;
} arrival_t;

static int by_first(const void *left, const void *right) {
  const arrival_t *a = left, *b = right;
  if (a->first != b->first) return a->first < b->first ? -1 : 1;
  return (a->root > b->root) - (a->root < b->root);
}

// Roots in the order in which their lives begin.
static hx_status_t place_roots(hx_linker_t *linker, const hx_kin_t *kin) {
  hx_executable_t *exe = linker->exe;
  uint32_t *placed = hx_zalloc(exe->root_count + 1, sizeof *placed);
  arrival_t *order = hx_zalloc(exe->root_count + 1, sizeof *order);
  size_t count = 0, alive = 0;
  if (placed == NULL || order == NULL) {
    hx_free(placed);
    hx_free(order);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  for (uint32_t r = 0; r < exe->root_count; ++r) {
    const hx_root_t *root = &exe->roots[r];
    if (root->kind == HX_ROOT_SLAB && root->is_used && !root->is_merged)
      order[count++] = (arrival_t){.first = root->first, .root = r};
  }
  qsort(order, count, sizeof *order, by_first);
  for (size_t i = 0; i < count; ++i) {
    hx_root_t *root = &exe->roots[order[i].root];
    if (kin == NULL) alive = drop_ended(exe, placed, alive, root->first);
    root->offset = lowest_place(exe, kin, placed, alive, order[i].root);
    insert_placed(exe, placed, alive++, order[i].root);
    uint64_t *slab = &exe->sites[root->site].slab_bytes;
    if (root->offset + root->bytes > *slab) *slab = root->offset + root->bytes;
    exe->unshared_bytes += root->bytes;
    if (*slab <= SLAB_BYTES_MAX) continue;
    hx_link_fail(linker, exe->steps.items[root->first].op, HX_CODE_LIMIT, "the intermediates need more than %llu bytes",
                 (unsigned long long)SLAB_BYTES_MAX);
    break;
  }
  hx_free(placed);
  hx_free(order);
  return HX_STATUS_OK;
}

// What each site needs, and all of them together.
static void sum_sites(hx_executable_t *exe) {
  for (size_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    hx_site_t *site = &exe->sites[step->site];
    if (step->scratch_host > site->scratch_host) site->scratch_host = step->scratch_host;
    if (step->scratch_device > site->scratch_device) site->scratch_device = step->scratch_device;
    if (step->kind != HX_STEP_TRANSFER) continue;
    const hx_layout_t *layout = exe->slots[step->results[0]].layout;
    const uint64_t bytes = hx_layout_elements(layout) * hx_dtype_bytes(layout->dtype);
    for (int end = 0; end < 2; ++end) {
      site = &exe->sites[hx_slot_site(exe, end == 0 ? step->operands[0] : step->results[0])];
      if (bytes > site->staging_bytes && !hx_device_imports(site->device)) site->staging_bytes = bytes;
    }
  }
  for (uint32_t i = 0; i < exe->site_count; ++i) {
    hx_site_t *site = &exe->sites[i];
    site->slab_bytes = (site->slab_bytes + exe->alignment - 1) & ~(exe->alignment - 1);
    exe->slab_bytes += site->slab_bytes;
    exe->scratch_host += site->scratch_host;
    exe->scratch_device += site->scratch_device;
    exe->staging_bytes += site->staging_bytes;
  }
}

// ------------------------------------------------------------------ the plan

static hx_status_t place_all(hx_linker_t *linker, hx_kin_t *kin) {
  find_lifetimes(linker->exe);
  merge_in_place(linker->exe, kin);
  merge_copies(linker->exe, kin);
  return place_roots(linker, kin);
}

// Gives up a plan: nothing is in place of anything, and no slab has a size.
static void forget_places(hx_executable_t *exe) {
  for (size_t r = 0; r < exe->root_count; ++r) exe->roots[r].is_merged = false;
  for (size_t s = 0; s < exe->steps.count; ++s) {
    hx_step_t *step = &exe->steps.items[s];
    step->is_elided = false;
    for (uint32_t i = 0; i < step->result_count; ++i) step->in_place[i] = -1;
  }
  for (uint32_t i = 0; i < exe->site_count; ++i) exe->sites[i].slab_bytes = 0;
  exe->unshared_bytes = 0;
}

// Independent steps with memory of their own, where runs are recorded and the device has room.
static hx_status_t place_apart(hx_linker_t *linker, bool *out_done) {
  hx_executable_t *exe = linker->exe;
  hx_kin_t *kin = NULL;
  if (hx_graph_obstacle(exe) != NULL || exe->steps.count > HX_KIN_STEPS_MAX) return HX_STATUS_OK;
  HX_TRY(hx_kin_create(exe, &kin));
  const hx_status_t status = place_all(linker, kin);
  hx_kin_release(kin);
  HX_TRY(status);
  const uint64_t memory = exe->device->info.memory_bytes;  // 0: not told
  *out_done =
      exe->sites[0].slab_bytes <= APART_BYTES_MAX && (memory == 0 || exe->sites[0].slab_bytes <= memory / APART_PART);
  if (!*out_done) forget_places(exe);
  return HX_STATUS_OK;
}

hx_status_t hx_link_plan(hx_linker_t *linker) {
  hx_executable_t *exe = linker->exe;
  exe->is_straight = true;
  for (size_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_kind_t kind = exe->steps.items[s].kind;
    if (kind != HX_STEP_CALL && kind != HX_STEP_COPY && kind != HX_STEP_FUSED) exe->is_straight = false;
  }
  bool done = false;
  HX_TRY(place_apart(linker, &done));
  if (!done) HX_TRY(place_all(linker, NULL));
  sum_sites(exe);
  for (size_t i = 0; i < exe->slot_count; ++i) {
    if (exe->slots[i].secret) exe->has_secrets = true;
  }
  return HX_STATUS_OK;
}
