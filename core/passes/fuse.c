// SPDX-License-Identifier: Apache-2.0
// fuse - marks operations that stand one behind the other and that the target prepares as one region: all of a region
// get the attribute heliox.region with the same number. In: a verified program, lowered to what the target has. Keeps:
// everything but the marks; the linker prepares a marked region as one call where its plugin takes it, with equal bits,
// and operation by operation where it does not. References and constants between them do not part a region.
#include "core/passes/fuse.h"

#include <string.h>

#include "core/passes/costs.h"

typedef struct hx_fuser {
  hx_program_t *program;
  const hx_pass_env_t *env;
  const hx_ir_op_t *func;  // around the block
  int64_t regions;         // marked so far
  bool changed;
} hx_fuser_t;

static const struct {
  const char *kind;
  const char *places[3];
} chains[] = {
#define FUSION(kind_, ...) {kind_, {__VA_ARGS__}},
#include "core/passes/fusion.def"
};

static bool is_silent(const hx_ir_op_t *op) {
  const hx_op_id_t id = op->info->id;
  return id == HX_OP_MATERIAL_REF || id == HX_OP_RESOURCE_REF || id == HX_OP_CORE_CONSTANT;
}

static hx_ir_op_t *next_loud(const hx_ir_op_t *op) {
  hx_ir_op_t *next = op->next;
  while (next != NULL && is_silent(next)) next = next->next;
  return next;
}

static bool is_free(const hx_ir_op_t *op) {
  return hx_attrs_find(op->attrs, HX_REGION_ATTR) == NULL && hx_attrs_find(op->attrs, HX_APART_ATTR) == NULL &&
         hx_attrs_find(op->attrs, "heliox.implementation") == NULL;
}

static bool takes(const hx_fuser_t *fuser, const char *kind, const hx_ir_op_t *op) {
  return is_free(op) && fuser->env->fuses(fuser->env->fuses_argument, kind, op);
}

static hx_status_t mark(hx_fuser_t *fuser, const char *kind, hx_ir_op_t *const *ops, size_t count) {
  const hx_attribute_t value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = fuser->regions++};
  for (size_t i = 0; i < count; ++i) HX_TRY(hx_ir_set_attr(fuser->program, ops[i], HX_REGION_ATTR, &value));
  fuser->changed = true;
  hx_decide(fuser->env, ops[0], kind, "one call an operation, one call in all", "%zu operations that the target fuses",
            count);
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ chains

// Whether `name` is one of "a|b|c".
static bool is_one_of(const char *places, const char *name) {
  const size_t size = strlen(name);
  for (const char *at = places; at != NULL; at = strchr(at, '|')) {
    if (*at == '|') ++at;
    if (strncmp(at, name, size) == 0 && (at[size] == '\0' || at[size] == '|')) return true;
  }
  return false;
}

static size_t match_chain(const hx_fuser_t *fuser, size_t chain, hx_ir_op_t *first, hx_ir_op_t **ops) {
  size_t count = 0;
  hx_ir_op_t *op = first;
  for (; count < 3 && chains[chain].places[count] != NULL; op = next_loud(op)) {
    if (op == NULL || !is_one_of(chains[chain].places[count], op->info->name) || !takes(fuser, chains[chain].kind, op))
      return 0;
    if (count > 0) {
      const hx_ir_value_t *link = ops[count - 1]->results[0];
      const size_t uses = hx_ir_count_uses((hx_ir_op_t *)(uintptr_t)fuser->func, link);
      if (op->operands[0] != link || uses != 1) return 0;
    }
    ops[count++] = op;
  }
  return count;
}

// ------------------------------------------------------------------ element by element

// The kind of region that an operation may be in; NULL: none.
static const char *element_kind(const hx_ir_op_t *op) {
  static const struct {
    hx_op_id_t id;
    const char *kind;
  } elements[] = {
#define ELEMENT(id_, kind_) {HX_OP_##id_, kind_},
#include "core/passes/elements.def"
  };
  for (size_t i = 0; op->result_count == 1 && i < HX_COUNT_OF(elements); ++i) {
    if (elements[i].id == op->info->id) return elements[i].kind;
  }
  return NULL;
}

// What one operation makes, another of the region reads as it is: no component or batch is repeated on the way.
static bool fits_region(const hx_ir_op_t *op, hx_ir_op_t *const *ops, size_t count, bool *out_linked) {
  const hx_type_t *result = op->results[0]->type;
  for (size_t i = 0; i < op->operand_count; ++i) {
    for (size_t k = 0; k < count; ++k) {
      if (op->operands[i] != ops[k]->results[0]) continue;
      const hx_type_t *type = op->operands[i]->type;
      if (type->components != result->components || type->batch_rank != result->batch_rank) return false;
      *out_linked = true;
    }
  }
  return true;
}

// Operations in a row; those after the first take the result of one before them.
static size_t match_elements(const hx_fuser_t *fuser, hx_ir_op_t *first, hx_ir_op_t **ops) {
  size_t count = 0;
  for (hx_ir_op_t *op = first; op != NULL && count < HX_FUSED_MAX; op = next_loud(op)) {
    bool linked = count == 0;
    const char *kind = element_kind(op);
    if (kind == NULL || !takes(fuser, kind, op) || !fits_region(op, ops, count, &linked) || !linked) break;
    ops[count++] = op;
  }
  return count;
}

// ------------------------------------------------------------------ blocks

size_t hx_fusion_match(const hx_pass_env_t *env, const hx_ir_op_t *func, hx_ir_op_t *first, hx_ir_op_t **ops,
                       const char **out_kind) {
  const hx_fuser_t fuser = {.env = env, .func = func};
  for (size_t c = 0; env->fuses != NULL && c < HX_COUNT_OF(chains); ++c) {
    const size_t count = match_chain(&fuser, c, first, ops);
    *out_kind = chains[c].kind;
    if (count > 1) return count;
  }
  return 0;
}

hx_status_t hx_fusion_shape(const char *kind, hx_ir_op_t *const *ops, size_t count, const hx_ring *ring,
                            hx_text_t *out) {
  hx_text_t one;
  hx_text_init(&one);
  hx_text_clear(out);
  hx_text_puts(out, kind);
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    status = hx_cost_shape(ops[i], ring, &one);
    if (status == HX_STATUS_OK) hx_text_printf(out, "%s%s %s", i == 0 ? ": " : "; ", ops[i]->info->name, one.data);
  }
  hx_text_deinit(&one);
  return status == HX_STATUS_OK && out->failed ? HX_STATUS_OUT_OF_MEMORY : status;
}

static hx_status_t fuse_at(hx_fuser_t *fuser, hx_ir_op_t *op) {
  hx_ir_op_t *ops[HX_FUSED_MAX];
  const char *kind = NULL;
  const size_t length = hx_fusion_match(fuser->env, fuser->func, op, ops, &kind);
  if (length > 1) return mark(fuser, kind, ops, length);
  const size_t count = match_elements(fuser, op, ops);
  return count > 1 ? mark(fuser, element_kind(op), ops, count) : HX_STATUS_OK;
}

static hx_status_t fuse_op(hx_ir_op_t *op, void *argument) {
  hx_fuser_t *fuser = argument;
  if (op->info->id == HX_OP_FUNC) fuser->func = op;
  return is_silent(op) || fuser->func == NULL || op->result_count == 0 ? HX_STATUS_OK : fuse_at(fuser, op);
}

// Numbers go on after those of regions that are marked already.
static hx_status_t find_last(hx_ir_op_t *op, void *argument) {
  int64_t *next = argument;
  const hx_attribute_t *mark_of = hx_attrs_find(op->attrs, HX_REGION_ATTR);
  if (mark_of != NULL && mark_of->kind == HX_ATTRIBUTE_INTEGER && mark_of->integer >= *next &&
      mark_of->integer < INT64_MAX)
    *next = mark_of->integer + 1;
  return HX_STATUS_OK;
}

int64_t hx_fusion_next_region(hx_program_t *program) {
  int64_t next = 0;
  (void)hx_ir_walk(program->module, find_last, &next);
  return next;
}

hx_status_t hx_pass_fuse(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_fuser_t fuser = {.program = program, .env = env};
  *out_changed = false;
  if (env->fuses == NULL) return HX_STATUS_OK;
  fuser.regions = hx_fusion_next_region(program);
  HX_TRY(hx_ir_walk(program->module, fuse_op, &fuser));
  *out_changed = fuser.changed;
  return HX_STATUS_OK;
}
