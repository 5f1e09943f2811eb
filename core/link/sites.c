// SPDX-License-Identifier: Apache-2.0
// Where operations run: the attribute heliox.device names a device of the backend. A program without it runs on the
// first one, and then an operation that only another device has is a fault. What an operation computes lies where it
// runs; only memory.transfer moves a value, and every operand has to lie where its operation runs.
#include <string.h>

#include "core/link/executable.h"
#include "core/passes/passes.h"

static hx_status_t see_placed(hx_ir_op_t *op, void *argument) {
  bool *is_placed = argument;
  if (op->info->id == HX_OP_MEMORY_TRANSFER || hx_attrs_find(op->attrs, HX_DEVICE_ATTR) != NULL) *is_placed = true;
  return HX_STATUS_OK;
}

hx_status_t hx_link_find_placed(hx_linker_t *linker) {
  linker->is_placed = false;
  return hx_ir_walk(linker->exe->program->module, see_placed, &linker->is_placed);
}

static void fail_unknown(hx_linker_t *linker, const hx_ir_op_t *op, hx_str_t name) {
  const hx_executable_t *exe = linker->exe;
  hx_text_t known;
  hx_text_init(&known);
  for (uint32_t i = 0; i < exe->site_count; ++i)
    hx_text_printf(&known, "%s%s", i == 0 ? "" : ", ", exe->sites[i].device->name);
  hx_link_fail(linker, op, HX_CODE_BACKEND, "heliox.device is \"%.*s\"; the backend has %s",
               (int)(name.size < 64 ? name.size : 64), name.data, known.failed ? "others" : known.data);
  hx_text_deinit(&known);
}

uint32_t hx_link_site(hx_linker_t *linker, const hx_ir_op_t *op) {
  hx_str_t name;
  if (!linker->is_placed || op == NULL || !hx_attrs_get_text(op->attrs, HX_DEVICE_ATTR, &name)) return 0;
  const uint32_t site = hx_backend_device_of(linker->exe->backend, name);
  return site == HX_NONE ? 0 : site;  // told by hx_link_check_sites
}

const hx_opened_device_t *hx_link_placed_on(hx_linker_t *linker, const hx_ir_op_t *op) {
  return linker->is_placed ? linker->exe->sites[hx_link_site(linker, op)].device : NULL;
}

uint32_t hx_link_site_of(hx_linker_t *linker, const hx_ir_value_t *value) {
  return hx_link_site(linker, value->op != NULL ? value->op : value->block->region->op);
}

static hx_status_t check_name(hx_ir_op_t *op, void *argument) {
  hx_linker_t *linker = argument;
  hx_str_t name;
  if (hx_attrs_get_text(op->attrs, HX_DEVICE_ATTR, &name) &&
      hx_backend_device_of(linker->exe->backend, name) == HX_NONE)
    fail_unknown(linker, op, name);
  return HX_STATUS_OK;
}

hx_status_t hx_link_check_sites(hx_linker_t *linker) {
  return linker->is_placed ? hx_ir_walk(linker->exe->program->module, check_name, linker) : HX_STATUS_OK;
}

bool hx_link_check_site(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t slot, uint32_t site) {
  const hx_executable_t *exe = linker->exe;
  const uint32_t there = hx_slot_site(exe, slot);
  if (there == site) return true;
  hx_link_fail(linker, op, HX_CODE_DEVICE_MIX,
               "%s lies on %s, and it is wanted on %s: put a memory.transfer between them, as the pass place does",
               exe->slots[slot].name, exe->sites[there].device->name, exe->sites[site].device->name);
  return false;
}

hx_status_t hx_link_open_sites(hx_linker_t *linker) {
  hx_executable_t *exe = linker->exe;
  exe->sites[0].is_used = true;
  for (size_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    if (step->kind == HX_STEP_CALL) exe->sites[step->site].is_used = true;
  }
  // Roots are where steps read and write: a value that is transferred and comes back untouched has no call there.
  for (size_t r = 0; r < exe->root_count; ++r) exe->sites[exe->roots[r].site].is_used = true;
  for (uint32_t i = 0; i < exe->site_count; ++i) {
    hx_site_t *site = &exe->sites[i];
    if (!site->is_used) continue;
    exe->is_spread = exe->is_spread || i > 0;
    HX_TRY(hx_link_count(linker, hx_device_tables_acquire(site->device, linker->ring, &site->tables, linker->report)));
  }
  return HX_STATUS_OK;
}
