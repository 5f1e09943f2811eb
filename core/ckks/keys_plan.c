// SPDX-License-Identifier: Apache-2.0
// Rotations that a key set lacks, composed of those that it has.
#include <string.h>

#include "core/ckks/keys.h"

// The steps, modulo slots, of the set's Galois keys, ascending. out has room for slots.
static size_t list_steps(const hx_keys_t *keys, uint32_t slots, uint32_t *out) {
  const uint64_t mask = ((uint64_t)2 << hx_params_log_n(keys->params)) - 1;
  uint64_t element = 1;
  size_t count = 0;
  for (uint32_t k = 0; k < slots; ++k, element = element * 5 & mask) {
    if (k > 0 && hx_keys_find(keys, HX_KEY_GALOIS, element) != NULL) out[count++] = k;
  }
  return count;
}

typedef struct hx_rotation_search {
  uint32_t *steps, *queue;
  uint32_t *by;  // the step by which a sum was reached; 0: not yet
} hx_rotation_search_t;

// Breadth first, so the first way to the target takes fewest rotations; among equals the smaller steps.
static bool search(const hx_rotation_search_t *s, size_t step_count, uint32_t slots, uint32_t target) {
  size_t head = 0, tail = 0;
  s->queue[tail++] = 0;
  while (head < tail) {
    const uint32_t at = s->queue[head++];
    for (size_t i = 0; i < step_count; ++i) {
      const uint32_t next = (at + s->steps[i]) & (slots - 1);
      if (next == 0 || s->by[next] != 0) continue;
      s->by[next] = s->steps[i];
      if (next == target) return true;
      s->queue[tail++] = next;
    }
  }
  return false;
}

hx_status_t hx_keys_rotation_plan(const hx_keys_t *keys, uint32_t slots, int64_t step, int64_t *out_steps, size_t room,
                                  size_t *out_count, hx_report_t *report) {
  if (keys == NULL || out_count == NULL || (out_steps == NULL && room > 0))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_keys_rotation_plan: an argument is NULL");
  const uint32_t most = (uint32_t)1 << (hx_params_log_n(keys->params) - 1);
  if (slots == 0 || slots > most || (slots & (slots - 1)) != 0)
    return hx_report_fail(report, HX_CODE_SLOTS, "%u slots: a power of two up to %u", slots, most);
  const int64_t rest = step % (int64_t)slots;
  const uint32_t target = (uint32_t)(rest < 0 ? rest + slots : rest);
  *out_count = 0;
  if (target == 0) return HX_STATUS_OK;
  uint32_t *block = hx_zalloc(3 * (size_t)slots, sizeof *block);
  if (block == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to plan a rotation");
  const hx_rotation_search_t s = {.steps = block, .queue = block + slots, .by = block + 2 * (size_t)slots};
  const size_t step_count = list_steps(keys, slots, s.steps);
  const bool found = search(&s, step_count, slots, target);
  // From the end backwards: the last rotation first, so the largest sums come first in the plan.
  for (uint32_t at = target; found && at != 0; at = (at + slots - s.by[at]) & (slots - 1)) {
    if (*out_count < room) out_steps[*out_count] = s.by[at];
    *out_count += 1;
  }
  hx_free(block);
  if (found) return HX_STATUS_OK;
  hx_text_t text;
  hx_text_init(&text);
  hx_keys_describe_steps(keys, slots, &text);
  const hx_status_t status = hx_report_fail(report, HX_CODE_MISSING_KEY,
                                            "a rotation by %lld of %u slots is no sum of the key set's rotations: %s",
                                            (long long)step, slots, text.data == NULL ? "none" : text.data);
  hx_text_deinit(&text);
  return status;
}
