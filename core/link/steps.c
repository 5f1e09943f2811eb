// SPDX-License-Identifier: Apache-2.0
// The steps of linking, each a pass over a cloned program and copies of the bindings. A caller may leave some out, put
// its own between them, or take its own order; what a step needs from others is checked.
#include <string.h>

#include "core/link/executable.h"
#include "core/passes/passes.h"

enum {
  TENSORS = 1,
  OPERATIONS = 2,
  RESOURCES = 4,
  MATERIALS = 8,
  LINKED = 16,
};

// Passes, then every value's number, secrecy and register.
static hx_status_t resolve_tensors(hx_linker_t *linker) {
  HX_TRY(hx_link_run_passes(linker));
  hx_ir_op_t *func = hx_program_find(linker->exe->program, "main");  // there: looked for by the passes
  linker->block = hx_func_block(func);
  HX_TRY(hx_link_make_tables(linker, func));
  return hx_link_spread_secrets(linker);
}

// Memory and steps of every operation, one implementation for each: the dispatch table.
static hx_status_t resolve_operations(hx_linker_t *linker) {
  HX_TRY(hx_link_check_sites(linker));
  if (linker->fault_count > 0 && linker->is_placed) return HX_STATUS_OK;  // what is not placed would be told twice
  HX_TRY(hx_link_place_results(linker));
  HX_TRY(hx_link_slots(linker));
  HX_TRY(hx_link_resolve(linker));
  return hx_link_inherit(linker);
}

static hx_status_t materialise(hx_linker_t *linker) {
  HX_TRY(hx_link_open_sites(linker));
  return linker->fault_count > 0 ? HX_STATUS_OK : hx_link_materialise(linker);
}

static hx_status_t finish(hx_linker_t *linker) {
  HX_TRY(hx_link_exchanges(linker));
  HX_TRY(hx_link_prepare(linker));
  return linker->fault_count > 0 ? HX_STATUS_OK : hx_link_plan(linker);
}

#define STEPS 5

static const hx_link_pass_t passes[STEPS] = {
    {.name = "resolve-tensors",
     .doc = "Facts of all tensors: passes, state, keys, lowering of what the backend lacks."},
    {.name = "resolve-operations", .doc = "Memory and exactly one implementation for every operation."},
    {.name = "initialise-resources", .doc = "Live handles that implementations want, and what they pack."},
    {.name = "materialise", .doc = "Tables of the ring, materials on the device, packed forms."},
    {.name = "link", .doc = "Every region prepared, the memory planned: the executable."}};

static const struct {
  hx_status_t (*run)(hx_linker_t *linker);
  uint32_t gives, needs;
  bool collects;  // runs although there are faults, and in a check
} steps[STEPS] = {{resolve_tensors, TENSORS, 0, true},
                  {resolve_operations, OPERATIONS, TENSORS, true},
                  {hx_link_resources, RESOURCES, OPERATIONS, true},
                  {materialise, MATERIALS, RESOURCES, false},
                  {finish, LINKED, MATERIALS, false}};

size_t hx_link_standard_passes(const hx_link_pass_t **out_passes) {
  *out_passes = passes;
  return STEPS;
}

static size_t find_step(const char *name) {
  size_t i = 0;
  while (i < STEPS && strcmp(passes[i].name, name) != 0) ++i;
  return i;
}

// Unknown names, and steps before what they need, before anything runs.
static hx_status_t check_passes(const hx_linker_t *linker, const hx_link_pass_t *list, size_t count) {
  uint32_t done = 0;
  for (size_t i = 0; i < count; ++i) {
    if (list[i].name == NULL) return hx_report_fail(linker->report, HX_CODE_PASS, "step %zu of linking has no name", i);
    if (list[i].run != NULL) continue;
    const size_t step = find_step(list[i].name);
    if (step == STEPS)
      return hx_report_fail(linker->report, HX_CODE_PASS,
                            "linking has no step '%.100s'; it has resolve-tensors, resolve-operations, "
                            "initialise-resources, materialise, link",
                            list[i].name);
    if ((done & steps[step].needs) != steps[step].needs)
      return hx_report_fail(linker->report, HX_CODE_PASS, "step %s of linking comes after %s", list[i].name,
                            passes[step - 1].name);
    if ((done & steps[step].gives) != 0)
      return hx_report_fail(linker->report, HX_CODE_PASS, "step %s of linking stands there twice", list[i].name);
    done |= steps[step].gives;
  }
  if ((done & LINKED) != 0) return HX_STATUS_OK;
  return hx_report_fail(linker->report, HX_CODE_PASS,
                        "the steps of linking end without an executable: the last is link");
}

static hx_status_t run_step(hx_linker_t *linker, const hx_link_pass_t *pass) {
  const size_t step = pass->run == NULL ? find_step(pass->name) : STEPS;
  const bool collects = step < STEPS && steps[step].collects;
  if (!collects && (linker->fault_count > 0 || linker->options->check_only)) return HX_STATUS_OK;
  if (step < STEPS) {
    linker->done |= steps[step].gives;
    return steps[step].run(linker);
  }
  const hx_status_t status = pass->run((hx_linking_t *)linker, pass->argument, linker->report);
  return status == HX_STATUS_OK ? status : hx_link_count(linker, status);
}

hx_status_t hx_link_run_steps(hx_linker_t *linker) {
  const hx_link_pass_t *list = linker->options->passes;
  size_t count = linker->options->pass_count;
  if (list == NULL) count = hx_link_standard_passes(&list);
  HX_TRY(check_passes(linker, list, count));
  for (size_t i = 0; i < count; ++i) HX_TRY(run_step(linker, &list[i]));
  return linker->first_status;
}

// ------------------------------------------------------------------ what a caller's step sees and does

static hx_linker_t *linker_of(hx_linking_t *linking) { return (hx_linker_t *)linking; }

const hx_program_t *hx_linking_program(const hx_linking_t *linking) {
  return ((const hx_linker_t *)(const void *)linking)->exe->program;
}

hx_status_t hx_linking_transform(hx_linking_t *linking, const char *pipeline, hx_report_t *report) {
  hx_linker_t *linker = linker_of(linking);
  if (pipeline == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_linking_transform: the pipeline is NULL");
  if ((linker->done & TENSORS) != 0)
    return hx_report_fail(report, HX_CODE_PASS,
                          "passes change the program, so they run before resolve-tensors, which numbers its values");
  const hx_pass_env_t env = {.ring = linker->ring, .report = report};
  HX_TRY(hx_pipeline_run(linker->exe->program, pipeline, &env));
  return hx_program_refresh(linker->exe->program, report);
}

hx_status_t hx_linking_assign(hx_linking_t *linking, const char *operation, const char *implementation,
                              hx_report_t *report) {
  hx_linker_t *linker = linker_of(linking);
  if (operation == NULL || implementation == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_linking_assign: an argument is NULL");
  if ((linker->done & TENSORS) != 0)
    return hx_report_fail(report, HX_CODE_PASS, "implementations are asked for before resolve-tensors");
  hx_arena_t *arena = &linker->exe->arena;
  if (hx_grow(&linker->wishes, &linker->wish_capacity, linker->wish_count + 1, sizeof *linker->wishes) != HX_STATUS_OK)
    return HX_STATUS_OUT_OF_MEMORY;
  hx_link_wish_t *wish = &linker->wishes[linker->wish_count];
  wish->operation = hx_arena_str(arena, hx_str(operation)).data;
  wish->implementation = hx_arena_str(arena, hx_str(implementation)).data;
  if (wish->operation == NULL || wish->implementation == NULL) return HX_STATUS_OUT_OF_MEMORY;
  linker->wish_count += 1;
  return HX_STATUS_OK;
}
