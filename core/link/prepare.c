// SPDX-License-Identifier: Apache-2.0
// The implementation of every call, its prepared region, and the resources that it wants.
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"
#include "core/link/region.h"

#define OPERANDS_MAX 65536  // of one operation

// ------------------------------------------------------------------ resolution

static hx_str_t wish_for(const hx_linker_t *linker, const char *operation) {
  hx_str_t general = {0};
  for (size_t i = 0; i < linker->wish_count; ++i) {
    const hx_link_wish_t *wish = &linker->wishes[i];
    if (wish->operation == NULL) {
      general = hx_str(wish->implementation);
    } else if (strcmp(wish->operation, operation) == 0) {
      return hx_str(wish->implementation);
    }
  }
  return general;
}

static hx_status_t resolve_call(hx_linker_t *linker, hx_step_t *step, const hx_type_t **types) {
  const hx_ir_op_t *op = step->op;
  hx_executable_t *exe = linker->exe;
  hx_invocation_t call = {.op = op->info,
                          .operands = types,
                          .operand_count = step->operand_count,
                          .results = types + step->operand_count,
                          .result_count = step->result_count,
                          .ring = linker->ring,
                          .device = hx_link_placed_on(linker, op)};
  for (uint32_t i = 0; i < step->operand_count; ++i) {
    types[i] = op->operands[i]->type;
    if (step->operands[i] != HX_NONE) call.secret = call.secret || exe->slots[step->operands[i]].secret;
  }
  for (uint32_t i = 0; i < step->result_count; ++i) types[step->operand_count + i] = op->results[i]->type;
  hx_request_t request = {.caller = wish_for(linker, op->info->name),
                          .source = exe->program->source,
                          .line = op->line,
                          .column = op->column};
  (void)hx_attrs_get_text(op->attrs, "heliox.implementation", &request.program);
  const hx_status_t status = hx_backend_resolve(exe->backend, &call, &request, &step->resolution, linker->report);
  if (status != HX_STATUS_OK) return hx_link_count(linker, status);
  if (step->resolution.implementation->device != exe->sites[step->site].device) {
    hx_link_fail(
        linker, op, HX_CODE_DEVICE_MIX,
        "%s runs on %s, the operation's values lie on %s: leave one out of the backend, or place the program's "
        "operations (pass place)",
        step->resolution.implementation->qualified, step->resolution.implementation->device->name,
        exe->sites[step->site].device->name);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_link_resolve(hx_linker_t *linker) {
  size_t room = 0;
  for (size_t i = 0; i < linker->exe->steps.count; ++i) {
    const hx_step_t *step = &linker->exe->steps.items[i];
    const size_t wanted = (size_t)step->operand_count + step->result_count;
    room = wanted > room ? wanted : room;
  }
  const hx_type_t **types = hx_zalloc(room, sizeof *types);
  if (types == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < linker->exe->steps.count && status == HX_STATUS_OK; ++i) {
    hx_step_t *step = &linker->exe->steps.items[i];
    if (step->kind == HX_STEP_CALL) status = resolve_call(linker, step, types);
  }
  hx_free(types);
  return status;
}

// ------------------------------------------------------------------ resources

// Operands that a row of the catalogue stands for: those before the ANY row stand alone, the ANY row takes the rest.
static void operands_of_row(const hx_op_info_t *info, uint32_t operand_count, const char *name, uint32_t *out_first,
                            uint32_t *out_end) {
  *out_first = *out_end = 0;
  for (uint32_t i = 0; i < HX_OP_OPERANDS_MAX && info->operands[i].name != NULL; ++i) {
    if (strcmp(info->operands[i].name, name) != 0 || i >= operand_count) continue;
    *out_first = i;
    *out_end = info->operands[i].form == HX_FORM_ANY ? operand_count : i + 1;
  }
}

static bool fits_kind(const char *kind, const hx_type_t *type) {
  if (strcmp(kind, "packed-key") == 0) return type->kind == HX_TYPE_KEY;
  if (strcmp(kind, "packed-plain") == 0) return type->kind == HX_TYPE_PLAINTEXT || type->kind == HX_TYPE_TENSOR;
  return true;
}

static hx_status_t add_handle(hx_linker_t *linker, const hx_step_t *step, const char *kind, hx_step_resource_t *out) {
  const hx_named_resource_t *found = hx_backend_resource_of_kind(linker->exe->backend, kind);
  if (found == NULL) {
    hx_link_fail(linker, step->op, HX_CODE_RESOURCE,
                 "%s wants a live handle of kind %s; the backend has none, or several",
                 step->resolution.implementation->qualified, kind);
    return HX_STATUS_OK;
  }
  *out = (hx_step_resource_t){.kind = kind, .operand = HX_NONE, .name = found->name, .handle = found->handle};
  return HX_STATUS_OK;
}

static hx_status_t count_resources(hx_linker_t *linker, hx_step_t *step) {
  const hx_manifest_operation_t *limits = step->resolution.implementation->limits;
  const size_t declared = limits == NULL ? 0 : limits->resource_count;
  const size_t room = declared * ((size_t)step->operand_count + 1);
  step->resources = hx_arena_alloc(&linker->exe->arena, room * sizeof *step->resources);
  if (step->resources == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t r = 0; r < declared; ++r) {
    const hx_manifest_resource_t *resource = &limits->resources[r];
    if (resource->operand == NULL) {
      HX_TRY(add_handle(linker, step, resource->kind, &step->resources[step->resource_count]));
      step->resource_count += 1;
      continue;
    }
    uint32_t first, end;
    operands_of_row(step->op->info, step->operand_count, resource->operand, &first, &end);
    for (uint32_t i = first; i < end; ++i) {
      if (!fits_kind(resource->kind, step->op->operands[i]->type)) continue;
      step->resources[step->resource_count++] = (hx_step_resource_t){.kind = resource->kind, .operand = i};
    }
  }
  linker->exe->resource_count += step->resource_count;
  return HX_STATUS_OK;
}

hx_region_value_t hx_region_value(const hx_executable_t *exe, uint32_t index) {
  const hx_slot_t *slot = &exe->slots[index];
  const hx_root_t *root = &exe->roots[slot->root];
  return (hx_region_value_t){.type = slot->type,
                             .layout = slot->layout,
                             .primes = &slot->primes,
                             .secret = slot->secret,
                             .immutable = root->kind == HX_ROOT_MATERIAL && exe->materials[root->index].is_key};
}

hx_status_t hx_step_pack(hx_executable_t *exe, const hx_step_t *step, hx_step_resource_t *resource,
                         hx_report_t *report) {
  const hx_slot_t *slot = &exe->slots[step->operands[resource->operand]];
  const hx_root_t *root = &exe->roots[slot->root];
  if (root->kind != HX_ROOT_MATERIAL) {
    return hx_report_fail_at(report, HX_CODE_RESOURCE, exe->program->source, step->op->line, step->op->column,
                             "%s: %s wants operand %s as %s, but it is computed and not bound", step->op->info->name,
                             step->resolution.implementation->qualified, slot->name, resource->kind);
  }
  const hx_bound_material_t *material = &exe->materials[root->index];
  const hx_site_t *site = &exe->sites[step->site];
  hx_arena_t arena;
  hx_arena_init(&arena);
  const hx_region_value_t value = hx_region_value(exe, step->operands[resource->operand]);
  const hx_tensor_desc *desc = hx_region_desc(&arena, &value);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (desc != NULL) {
    const hx_tensor_t tensor = {.storage = material->storage, .offset = slot->offset, .layout = *slot->layout};
    const uint64_t generation = hx_tensor_generation(material->tensor);
    status = hx_device_pack(site->device, site->tables, resource->kind, &tensor, desc, &resource->form, report);
    if (status == HX_STATUS_OK) resource->generation = generation;
  }
  hx_arena_deinit(&arena);
  return status;
}

// ------------------------------------------------------------------ regions

static hx_status_t check_plan(hx_linker_t *linker, const hx_step_t *step) {
  for (uint32_t i = 0; i < step->result_count; ++i) {
    if (step->may_alias[i] >= -1 && step->may_alias[i] < (int32_t)step->operand_count) continue;
    hx_link_fail(linker, step->op, HX_CODE_PLUGIN_CALL,
                 "%s lets result %u share the memory of operand %d; there are %u",
                 step->resolution.implementation->qualified, i, step->may_alias[i], step->operand_count);
  }
  return HX_STATUS_OK;
}

static hx_status_t call_prepare(hx_linker_t *linker, hx_step_t *step, const hx_region *region) {
  hx_executable_t *exe = linker->exe;
  const hx_implementation_t *implementation = step->resolution.implementation;
  hx_plan plan = {
      .struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = step->result_count, .may_alias = step->may_alias};
  hx_error error = hx_error_make();
  const int32_t result =
      implementation->record->prepare(exe->sites[step->site].device->handle, region, &plan, &step->prepared, &error);
  if (result != HX_OK) {
    char what[160];
    snprintf(what, sizeof what, "prepare %s (line %u)", step->op->info->name, step->op->line);
    step->prepared = NULL;
    return hx_link_count(linker, hx_implementation_status(implementation, result, &error, what, linker->report));
  }
  step->scratch_host = plan.scratch_host;
  step->scratch_device = plan.scratch_device;
  return check_plan(linker, step);
}

static hx_status_t prepare_with(hx_linker_t *linker, hx_step_t *step, hx_arena_t *arena) {
  hx_executable_t *exe = linker->exe;
  hx_region_value_t *values =
      hx_arena_alloc(arena, ((size_t)step->operand_count + step->result_count) * sizeof *values);
  hx_resource *resources = hx_arena_alloc(arena, step->resource_count * sizeof *resources);
  if (values == NULL || resources == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < step->operand_count; ++i) values[i] = hx_region_value(exe, step->operands[i]);
  for (uint32_t i = 0; i < step->result_count; ++i) {
    values[step->operand_count + i] = hx_region_value(exe, step->results[i]);
  }
  for (uint32_t i = 0; i < step->resource_count; ++i) {
    resources[i] = (hx_resource){.struct_size = HX_END_OF(hx_resource, kind),
                                 .source = step->resources[i].operand,
                                 .kind = step->resources[i].kind};
  }
  const hx_region_call_t call = {.op = step->op->info,
                                 .attrs = step->op->attrs,
                                 .operands = values,
                                 .results = values + step->operand_count,
                                 .operand_count = step->operand_count,
                                 .result_count = step->result_count,
                                 .resources = resources,
                                 .resource_count = step->resource_count,
                                 .ring = linker->ring,
                                 .tables = exe->sites[step->site].tables->handle,
                                 .variant = step->resolution.variant[0] == '\0' ? NULL : step->resolution.variant};
  const hx_region *region;
  const hx_status_t status = hx_region_build(arena, &call, &region, linker->report);
  if (status != HX_STATUS_OK) return hx_link_count(linker, status);
  return call_prepare(linker, step, region);
}

static hx_status_t prepare_call(hx_linker_t *linker, hx_step_t *step) {
  hx_arena_t arena;
  hx_arena_init(&arena);
  const hx_status_t status = prepare_with(linker, step, &arena);
  hx_arena_deinit(&arena);
  return status;
}

static hx_status_t pack_call(hx_linker_t *linker, hx_step_t *step) {
  for (uint32_t i = 0; i < step->resource_count; ++i) {
    if (step->resources[i].operand == HX_NONE) continue;
    HX_TRY(hx_link_count(linker, hx_step_pack(linker->exe, step, &step->resources[i], linker->report)));
  }
  return HX_STATUS_OK;
}

// Calls that were resolved: those that were not are faults already.
static hx_status_t find_resources(hx_linker_t *linker, hx_step_t *step) {
  if (step->operand_count > OPERANDS_MAX || step->result_count > OPERANDS_MAX) {
    hx_link_fail(linker, step->op, HX_CODE_LIMIT, "%u operands and %u results; at most %d of each cross to a plugin",
                 step->operand_count, step->result_count, OPERANDS_MAX);
    return HX_STATUS_OK;
  }
  return step->resolution.implementation == NULL ? HX_STATUS_OK : count_resources(linker, step);
}

static hx_status_t for_each_call(hx_linker_t *linker, hx_status_t (*visit)(hx_linker_t *linker, hx_step_t *step)) {
  for (size_t i = 0; i < linker->exe->steps.count; ++i) {
    hx_step_t *step = &linker->exe->steps.items[i];
    if (step->kind == HX_STEP_CALL && step->fused == NULL) HX_TRY(visit(linker, step));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_link_resources(hx_linker_t *linker) { return for_each_call(linker, find_resources); }

hx_status_t hx_link_materialise(hx_linker_t *linker) {
  HX_TRY(hx_link_bind_materials(linker));
  if (linker->fault_count > 0) return HX_STATUS_OK;
  HX_TRY(hx_link_fuse(linker));  // a region packs nothing
  return for_each_call(linker, pack_call);
}

hx_status_t hx_link_prepare(hx_linker_t *linker) { return for_each_call(linker, prepare_call); }
