// SPDX-License-Identifier: Apache-2.0
// The record of what passes chose.
#include <stdio.h>

#include "core/passes/passes.h"

#define DECISIONS_MAX 100000  // of one record: a program of millions of operations must not fill memory with remarks

struct hx_decisions {
  hx_arena_t arena;
  hx_decision_t *items;
  size_t count, capacity;
};

hx_decisions_t *hx_decisions_create(void) {
  hx_decisions_t *decisions = hx_zalloc(1, sizeof *decisions);
  if (decisions != NULL) hx_arena_init(&decisions->arena);
  return decisions;
}

void hx_decisions_release(hx_decisions_t *decisions) {
  if (decisions == NULL) return;
  hx_arena_deinit(&decisions->arena);
  hx_free(decisions->items);
  hx_free(decisions);
}

size_t hx_decisions_count(const hx_decisions_t *decisions) { return decisions == NULL ? 0 : decisions->count; }

const hx_decision_t *hx_decisions_get(const hx_decisions_t *decisions, size_t index) {
  return decisions == NULL || index >= decisions->count ? NULL : &decisions->items[index];
}

void hx_decide(const hx_pass_env_t *env, const hx_ir_op_t *op, const char *chosen, const char *among, const char *why,
               ...) {
  hx_decisions_t *decisions = env->decisions;
  if (decisions == NULL || decisions->count >= DECISIONS_MAX) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, why);
  const int size = vsnprintf(text, sizeof text, why, arguments);
  va_end(arguments);
  if (size < 0) return;
  if (hx_grow(&decisions->items, &decisions->capacity, decisions->count + 1, sizeof *decisions->items) != HX_STATUS_OK)
    return;
  hx_arena_t *arena = &decisions->arena;
  const hx_decision_t decision = {
      .pass = hx_arena_str(arena, hx_str(env->pass == NULL ? "" : env->pass)).data,
      .operation = op == NULL ? "" : op->info->name,
      .line = op == NULL ? 0 : op->line,
      .column = op == NULL ? 0 : op->column,
      .chosen = hx_arena_str(arena, hx_str(chosen)).data,
      .among = hx_arena_str(arena, hx_str(among)).data,
      .why = hx_arena_str(arena, hx_str(text)).data,
  };
  if (decision.pass == NULL || decision.chosen == NULL || decision.among == NULL || decision.why == NULL) return;
  decisions->items[decisions->count++] = decision;
}
