// SPDX-License-Identifier: Apache-2.0
// Marked regions: calls that stand one behind the other and carry one number in heliox.region are prepared as one. Its
// plugin may decline (HX_UNSUPPORTED): then they stay calls of their own. Values that only the region reads get no
// memory in the slab; where they lie, if anywhere, is the plugin's scratch.
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"
#include "core/link/region.h"
#include "core/plugin/gates.h"

#define PARTS_MAX 64    // operations of a region
#define VALUES_MAX 256  // of a region

// One region in the making.
typedef struct hx_fusion {
  hx_linker_t *linker;
  hx_arena_t *arena;           // for the call
  size_t first, count;         // steps
  const uint32_t *touches;     // by root: how often any step touches it
  uint32_t slots[VALUES_MAX];  // by value id
  bool is_result[VALUES_MAX];
  uint32_t value_count;
  uint32_t inputs[VALUES_MAX], outputs[VALUES_MAX];  // value ids
  uint32_t input_count, output_count;
  hx_region_part_t parts[PARTS_MAX];
  const char *reason;  // why it is not fused; NULL so far
} hx_fusion_t;

const char *hx_step_name(const hx_step_t *step) { return step->fused != NULL ? "fusion.region" : step->op->info->name; }

static const hx_attribute_t *mark_of(const hx_step_t *step) {
  if (step->kind != HX_STEP_CALL) return NULL;
  const hx_attribute_t *mark = hx_attrs_find(step->op->attrs, "heliox.region");
  return mark != NULL && mark->kind == HX_ATTRIBUTE_INTEGER ? mark : NULL;
}

static bool refuse(hx_fusion_t *fusion, const char *reason) {
  if (fusion->reason == NULL) fusion->reason = reason;
  return false;
}

// ------------------------------------------------------------------ values

// The id of a slot that an operation reads. A view of what the region itself makes has no id: it is another place.
static bool read_id(hx_fusion_t *fusion, uint32_t slot, uint32_t *out) {
  const hx_executable_t *exe = fusion->linker->exe;
  for (uint32_t v = 0; v < fusion->value_count; ++v) {
    if (fusion->slots[v] == slot) {
      *out = v;
      return true;
    }
    if (fusion->is_result[v] && exe->slots[fusion->slots[v]].root == exe->slots[slot].root)
      return refuse(fusion, "an operation reads a part of what another one makes");
  }
  if (fusion->value_count == VALUES_MAX) return refuse(fusion, "it has too many values");
  *out = fusion->value_count++;
  fusion->slots[*out] = slot;
  fusion->is_result[*out] = false;
  fusion->inputs[fusion->input_count++] = *out;
  return true;
}

static bool write_id(hx_fusion_t *fusion, uint32_t slot, uint32_t *out) {
  if (fusion->value_count == VALUES_MAX) return refuse(fusion, "it has too many values");
  *out = fusion->value_count++;
  fusion->slots[*out] = slot;
  fusion->is_result[*out] = true;
  return true;
}

// Only operations of the region touch the value's memory.
static bool is_inner(const hx_fusion_t *fusion, uint32_t value) {
  const hx_executable_t *exe = fusion->linker->exe;
  const uint32_t root = exe->slots[fusion->slots[value]].root;
  uint32_t own = 0;
  for (size_t s = fusion->first; s < fusion->first + fusion->count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    for (uint32_t i = 0; i < step->operand_count; ++i) own += exe->slots[step->operands[i]].root == root;
    for (uint32_t i = 0; i < step->result_count; ++i) own += exe->slots[step->results[i]].root == root;
  }
  return exe->roots[root].kind == HX_ROOT_SLAB && exe->roots[root].is_whole && own == fusion->touches[root];
}

static hx_status_t add_part(hx_fusion_t *fusion, const hx_step_t *step, hx_region_part_t *part, bool *out_fits) {
  const hx_executable_t *exe = fusion->linker->exe;
  const uint32_t total = step->operand_count + step->result_count;
  hx_region_value_t *values = hx_arena_alloc(fusion->arena, total * sizeof *values);
  uint32_t *ids = hx_arena_alloc(fusion->arena, total * sizeof *ids);
  if (values == NULL || ids == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < step->operand_count && *out_fits; ++i) {
    values[i] = hx_region_value(exe, step->operands[i]);
    *out_fits = read_id(fusion, step->operands[i], &ids[i]);
  }
  for (uint32_t i = step->operand_count; i < total && *out_fits; ++i) {
    values[i] = hx_region_value(exe, step->results[i - step->operand_count]);
    *out_fits = write_id(fusion, step->results[i - step->operand_count], &ids[i]);
  }
  *part = (hx_region_part_t){.call = {.op = step->op->info,
                                      .attrs = step->op->attrs,
                                      .operands = values,
                                      .results = values + step->operand_count,
                                      .operand_count = step->operand_count,
                                      .result_count = step->result_count,
                                      .ring = fusion->linker->ring},
                             .operand_ids = ids,
                             .result_ids = ids + step->operand_count};
  return HX_STATUS_OK;
}

static hx_status_t gather(hx_fusion_t *fusion, bool *out_fits) {
  const hx_executable_t *exe = fusion->linker->exe;
  *out_fits = fusion->count <= PARTS_MAX || refuse(fusion, "it has too many operations");
  for (size_t i = 0; i < fusion->count && *out_fits; ++i)
    HX_TRY(add_part(fusion, &exe->steps.items[fusion->first + i], &fusion->parts[i], out_fits));
  for (uint32_t v = 0; v < fusion->value_count && *out_fits; ++v) {
    if (fusion->is_result[v] && !is_inner(fusion, v)) fusion->outputs[fusion->output_count++] = v;
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ the implementation

static bool is_secret(const hx_fusion_t *fusion) {
  for (uint32_t v = 0; v < fusion->value_count; ++v) {
    if (fusion->linker->exe->slots[fusion->slots[v]].secret) return true;
  }
  return false;
}

static const hx_site_t *site_of(const hx_fusion_t *fusion) {
  const hx_executable_t *exe = fusion->linker->exe;
  return &exe->sites[exe->steps.items[fusion->first].site];
}

// Any kind of region that the backend prepares: which of them this one is, its plugin sees by itself.
static const hx_implementation_t *choose(hx_fusion_t *fusion) {
  const hx_backend_t *backend = fusion->linker->exe->backend;
  const hx_implementation_t *found = NULL;
  for (size_t i = 0; i < backend->row_count; ++i) {
    const hx_implementation_t *row = &backend->rows[i];
    if (row->region_count == 0 || row->device != site_of(fusion)->device) continue;
    if (row->limits != NULL && (row->limits->explicit_only || row->limits->resource_count > 0)) continue;
    if (found != NULL) {
      refuse(fusion, "several implementations prepare regions");
      return NULL;
    }
    found = row;
  }
  if (found == NULL) {
    refuse(fusion, "no implementation of this backend prepares regions");
  } else if (!found->handles_secrets && is_secret(fusion)) {
    refuse(fusion, "a value is secret, and the plugin does not declare secrets");
    found = NULL;
  }
  return found;
}

// Prepares; a plugin that declines leaves *out_prepared NULL and the reason set.
static hx_status_t prepare(hx_fusion_t *fusion, const hx_implementation_t *row, hx_step_t *made) {
  hx_linker_t *linker = fusion->linker;
  hx_executable_t *exe = linker->exe;
  const hx_region_whole_t whole = {.parts = fusion->parts,
                                   .part_count = (uint32_t)fusion->count,
                                   .value_count = fusion->value_count,
                                   .inputs = fusion->inputs,
                                   .outputs = fusion->outputs,
                                   .input_count = fusion->input_count,
                                   .output_count = fusion->output_count,
                                   .ring = linker->ring,
                                   .tables = site_of(fusion)->tables->handle};
  const hx_region *region = NULL;
  HX_TRY(hx_region_fuse(fusion->arena, &whole, &region, linker->report));
  if (region == NULL) {
    refuse(fusion, "two operations see one value in different ways");
    return HX_STATUS_OK;
  }
  hx_plan plan = {
      .struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = fusion->output_count, .may_alias = made->may_alias};
  hx_error error = hx_error_make();
  const int32_t result = row->record->prepare(site_of(fusion)->device->handle, region, &plan, &made->prepared, &error);
  if (result == HX_OK) {
    made->scratch_host = plan.scratch_host;
    made->scratch_device = plan.scratch_device;
    return HX_STATUS_OK;
  }
  made->prepared = NULL;
  if (result != HX_UNSUPPORTED)
    return hx_implementation_status(row, result, &error, "prepare a region", linker->report);
  hx_text_t text;
  hx_text_init(&text);
  hx_text_clean(&text, (hx_str_t){error.message, strnlen(error.message, sizeof error.message)}, 240);
  const char *said = text.failed ? NULL : hx_arena_str(&exe->arena, hx_str(text.data == NULL ? "" : text.data)).data;
  hx_text_deinit(&text);
  refuse(fusion, said != NULL ? said : "its plugin does not take it");
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ steps

static hx_status_t note_region(hx_fusion_t *fusion, hx_fused_t **out) {
  hx_executable_t *exe = fusion->linker->exe;
  hx_fused_t *fused = hx_arena_alloc(&exe->arena, sizeof *fused);
  const hx_ir_op_t **ops = hx_arena_alloc(&exe->arena, fusion->count * sizeof *ops);
  const uint32_t **results = hx_arena_alloc(&exe->arena, fusion->count * sizeof *results);
  uint32_t *counts = hx_arena_alloc(&exe->arena, fusion->count * sizeof *counts);
  if (fused == NULL || ops == NULL || results == NULL || counts == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < fusion->count; ++i) {
    const hx_step_t *step = &exe->steps.items[fusion->first + i];
    ops[i] = step->op;
    results[i] = step->results;
    counts[i] = step->result_count;
  }
  *fused = (hx_fused_t){.next = exe->regions,
                        .implementation = "",
                        .reason = fusion->reason,
                        .ops = ops,
                        .results = results,
                        .result_counts = counts,
                        .count = (uint32_t)fusion->count};
  exe->regions = fused;
  *out = fused;
  return HX_STATUS_OK;
}

// Arrays of the one call that takes the place of the region's.
static hx_status_t make_step(const hx_fusion_t *fusion, hx_step_t *made) {
  hx_executable_t *exe = fusion->linker->exe;
  *made = exe->steps.items[fusion->first];
  made->op = exe->steps.items[fusion->first + fusion->count - 1].op;
  made->operand_count = fusion->input_count;
  made->result_count = fusion->output_count;
  made->operands = hx_arena_alloc(&exe->arena, fusion->input_count * sizeof *made->operands);
  made->results = hx_arena_alloc(&exe->arena, fusion->output_count * sizeof *made->results);
  made->may_alias = hx_arena_alloc(&exe->arena, fusion->output_count * sizeof *made->may_alias);
  made->in_place = hx_arena_alloc(&exe->arena, fusion->output_count * sizeof *made->in_place);
  if (made->operands == NULL || made->results == NULL || made->may_alias == NULL || made->in_place == NULL)
    return HX_STATUS_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < fusion->input_count; ++i) made->operands[i] = fusion->slots[fusion->inputs[i]];
  for (uint32_t i = 0; i < fusion->output_count; ++i) {
    made->results[i] = fusion->slots[fusion->outputs[i]];
    made->may_alias[i] = made->in_place[i] = -1;
  }
  for (size_t i = 1; i < fusion->count; ++i) {
    made->work.mod_ups += exe->steps.items[fusion->first + i].work.mod_ups;
    made->work.mod_downs += exe->steps.items[fusion->first + i].work.mod_downs;
  }
  return HX_STATUS_OK;
}

static void replace_steps(const hx_fusion_t *fusion, const hx_implementation_t *row, hx_step_t *made,
                          hx_fused_t *fused) {
  hx_executable_t *exe = fusion->linker->exe;
  fused->implementation = row->qualified;
  made->fused = fused;
  made->resolution = (hx_resolution_t){.implementation = row};
  for (size_t i = 0; i < fusion->count; ++i) {
    hx_step_t *step = &exe->steps.items[fusion->first + i];
    step->kind = HX_STEP_FUSED;
    step->operand_count = step->result_count = 0;
    step->work = (hx_work_t){0};
    exe->resource_count -= step->resource_count;  // nothing is packed yet
    step->resource_count = 0;
  }
  made->resource_count = 0;
  exe->steps.items[fusion->first] = *made;
  exe->call_count -= fusion->count - 1;
}

static hx_status_t fuse_run(hx_fusion_t *fusion) {
  bool fits = false;
  hx_step_t made = {0};
  hx_fused_t *fused = NULL;
  HX_TRY(gather(fusion, &fits));
  const hx_implementation_t *row = fits ? choose(fusion) : NULL;
  if (row != NULL) {
    HX_TRY(make_step(fusion, &made));
    const hx_status_t status = prepare(fusion, row, &made);
    if (status != HX_STATUS_OK) return hx_link_count(fusion->linker, status);
  }
  const hx_status_t noted = note_region(fusion, &fused);
  if (noted != HX_STATUS_OK) {
    if (made.prepared != NULL) row->record->destroy(made.prepared);
    return noted;
  }
  if (made.prepared != NULL) replace_steps(fusion, row, &made, fused);
  return HX_STATUS_OK;
}

// Counts of touches, by root.
static uint32_t *count_touches(const hx_executable_t *exe) {
  uint32_t *touches = hx_zalloc(exe->root_count, sizeof *touches);
  for (size_t s = 0; touches != NULL && s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    for (uint32_t i = 0; i < step->operand_count; ++i) touches[exe->slots[step->operands[i]].root] += 1;
    for (uint32_t i = 0; i < step->result_count; ++i) touches[exe->slots[step->results[i]].root] += 1;
  }
  return touches;
}

hx_status_t hx_link_fuse(hx_linker_t *linker) {
  hx_executable_t *exe = linker->exe;
  uint32_t *touches = NULL;
  hx_status_t status = HX_STATUS_OK;
  for (size_t s = 0; s < exe->steps.count && status == HX_STATUS_OK;) {
    const hx_attribute_t *mark = mark_of(&exe->steps.items[s]);
    size_t end = s + 1;
    while (mark != NULL && end < exe->steps.count) {
      const hx_attribute_t *next = mark_of(&exe->steps.items[end]);
      if (next == NULL || next->integer != mark->integer || exe->steps.items[end].loop != exe->steps.items[s].loop ||
          exe->steps.items[end].site != exe->steps.items[s].site)
        break;
      ++end;
    }
    if (end - s > 1) {
      if (touches == NULL && (touches = count_touches(exe)) == NULL) return HX_STATUS_OUT_OF_MEMORY;
      hx_arena_t arena;
      hx_arena_init(&arena);
      hx_fusion_t *fusion = hx_arena_alloc(&arena, sizeof *fusion);
      if (fusion != NULL)
        *fusion = (hx_fusion_t){.linker = linker, .arena = &arena, .first = s, .count = end - s, .touches = touches};
      status = fusion == NULL ? HX_STATUS_OUT_OF_MEMORY : fuse_run(fusion);
      hx_arena_deinit(&arena);
    }
    s = end;
  }
  hx_free(touches);
  return status;
}
