// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/prepare.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what the region says

// Element `index` of an array of structs that a newer host may have made longer: each says its own size, and all of
// them end in a pointer, so that sizes are multiples of its alignment.
static const void *element(const void *array, uint32_t struct_size, uint32_t index) {
  return (const char *)array + (size_t)((struct_size + 7u) & ~7u) * index;
}

const hx_op *hxs_region_op(const hx_region *region, uint32_t index) {
  return element(region->ops, region->ops->struct_size, index);
}

const hx_attr *hxs_op_attr(const hx_op *op, uint32_t index) {
  return element(op->attrs, op->attrs->struct_size, index);
}

static int32_t check_op(const hx_op *op, hx_error *error) {
  HXS_NEED(hx_op, resources, op);
  return op->name != NULL ? HX_OK : hxs_fail(error, HX_INVALID, "the region has an operation without a name");
}

int32_t hxs_region_check(const hxs_plugin *plugin, hx_device *device, const hx_region *region, const hx_plan *plan,
                         hx_error *error) {
  HXS_NEED(hx_region, variant, region);
  if (region->op_count == 0 || region->ops == NULL) {
    return hxs_fail(error, HX_INVALID, "the region has no operation");
  }
  for (uint32_t i = 0; i < region->op_count; i++) {
    HXS_TRY(check_op(hxs_region_op(region, i), error));
  }
  HXS_NEED(hx_ring, digest, region->ring);
  if (region->values == NULL || region->value_count == 0) {
    return hxs_fail(error, HX_INVALID, "%s: the region has no values", region->ops->name);
  }
  const hxs_ring *ring = region->tables != NULL ? plugin->ring_of(device, region->tables) : NULL;
  if (ring == NULL || !hxs_ring_fits(ring, region->ring)) {
    return hxs_fail(error, HX_INVALID, "%s: the region's tables are missing, or of another ring or device",
                    region->ops->name);
  }
  HXS_NEED(hx_plan, may_alias, plan);
  if (plan->alias_count != region->output_count || plan->may_alias == NULL) {
    return hxs_fail(error, HX_INVALID, "%s: hx_plan has room for %u aliases, the region has %u outputs",
                    region->ops->name, plan->may_alias == NULL ? 0 : plan->alias_count, region->output_count);
  }
  return HX_OK;
}

static const hxs_impl_row *find_row(const hxs_plugin *plugin, const hx_op *op, hx_error *error) {
  for (uint32_t i = 0; i < plugin->row_count; i++) {
    const hxs_impl_row *row = &plugin->rows[i];
    if (strcmp(row->op, op->name) == 0) {
      if (row->signature == op->signature) {
        return row;
      }
      hxs_fail(error, HX_UNSUPPORTED, "%s: signature %u is asked for, %s has %u", op->name, op->signature, plugin->name,
               row->signature);
      return NULL;
    }
  }
  hxs_fail(error, HX_UNSUPPORTED, "%.64s is not an operation of %s", op->name, plugin->name);
  return NULL;
}

// Whether the list ("digit ids ") has the word.
static bool list_has(const char *list, const char *word) {
  size_t length = strlen(word);
  for (; *list != 0; list += strcspn(list, " ") + 1) {
    if (strncmp(list, word, length) == 0 && list[length] == ' ') {
      return true;
    }
  }
  return false;
}

// Attributes of the host's own (heliox.*) are nothing to an implementation; any other must be known, since leaving it
// out could change the meaning.
static int32_t check_attributes(const hx_op *op, const hxs_impl_row *row, hx_error *error) {
  if (op->attr_count > 0 && op->attrs == NULL) {
    return hxs_fail(error, HX_INVALID, "%s: attributes are missing", op->name);
  }
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const hx_attr *attr = hxs_op_attr(op, i);
    HXS_NEED(hx_attr, data, attr);
    if (attr->name == NULL) {
      return hxs_fail(error, HX_INVALID, "%s: attribute %u has no name", op->name, i);
    }
    if (strncmp(attr->name, "heliox.", 7) != 0 && !list_has(row->attributes, attr->name)) {
      return hxs_fail(error, HX_INVALID, "%s: attribute %.64s is unknown; the operation has: %s", op->name, attr->name,
                      row->attributes[0] != 0 ? row->attributes : "none");
    }
  }
  return HX_OK;
}

static uint32_t position(const uint32_t *ids, uint32_t count, uint32_t id) {
  for (uint32_t i = 0; ids != NULL && i < count; i++) {
    if (ids[i] == id) {
      return i;
    }
  }
  return HX_NONE;
}

// One operand or result: where it is among the region's inputs or outputs, and its descriptor.
static int32_t read_view(hxs_build *build, const hx_region *region, const hxs_impl_row *row, bool result,
                         uint32_t index) {
  hx_error *error = build->error;
  const hx_op *op = build->op;
  hxs_view *view = result ? &build->prepared->results[index] : &build->prepared->operands[index];
  uint32_t id = result ? op->results[index] : op->operands[index];
  view->side = result ? "result" : "operand";
  view->index = index;
  view->slot =
      result ? position(region->outputs, region->output_count, id) : position(region->inputs, region->input_count, id);
  if (id >= region->value_count || view->slot == HX_NONE) {
    return hxs_fail(error, HX_INVALID, "%s: %s %u is value %u, which is not among the region's %s", op->name,
                    view->side, index, id, result ? "outputs" : "inputs");
  }
  const hx_tensor_desc *desc = element(region->values, region->values->struct_size, id);
  uint32_t limbs = hxs_view_limbs(view, desc, op->name, error);
  if (limbs == 0) {
    return hxs_error_code(error);
  }
  HXS_TRY(hxs_keep_or_fail(build, limbs, sizeof *view->limb_offsets, &view->limb_offsets));
  HXS_TRY(hxs_keep_or_fail(build, limbs, sizeof *view->ids, &view->ids));
  HXS_TRY(hxs_view_read(view, desc, build->ring, op->name, error));
  if ((view->flags & HX_SECRET) != 0 && build->prepared->plugin->refuses_secrets) {
    return hxs_fail(error, HX_UNSUPPORTED, "%s: %s %u is secret; %s is not constant-time", op->name, view->side, index,
                    build->prepared->plugin->name);
  }
  if (view->domain != 0 && (row->domains >> view->domain & 1) == 0) {
    return hxs_fail(error, HX_INVALID, "%s: %s %u is in %s domain, which the operation does not take", op->name,
                    view->side, index, view->domain == HX_NTT ? "ntt" : "coefficient");
  }
  return HX_OK;
}

static int32_t read_views(hxs_build *build, const hx_region *region, const hxs_impl_row *row) {
  const hx_op *op = build->op;
  hxs_prepared *prepared = build->prepared;
  const uint32_t limit = 1u << 20;
  if ((op->operand_count > 0 && op->operands == NULL) || op->result_count == 0 || op->results == NULL ||
      op->operand_count > limit || op->result_count > limit) {
    return hxs_fail(build->error, HX_INVALID,
                    "%s: has %u operands and %u results; at least one result and at most %u of each are taken",
                    op->name, op->operand_count, op->result_count, limit);
  }
  if (op->resource_count != 0) {
    return hxs_fail(build->error, HX_UNSUPPORTED, "%s: %u resources are asked for; %s takes none", op->name,
                    op->resource_count, prepared->plugin->name);
  }
  prepared->operand_count = op->operand_count;
  prepared->result_count = op->result_count;
  HXS_TRY(hxs_keep_or_fail(build, op->operand_count + 1, sizeof(hxs_view), &prepared->operands));
  HXS_TRY(hxs_keep_or_fail(build, op->result_count, sizeof(hxs_view), &prepared->results));
  for (uint32_t i = 0; i < op->operand_count; i++) {
    HXS_TRY(read_view(build, region, row, false, i));
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    HXS_TRY(read_view(build, region, row, true, i));
    if (position(op->results, i, op->results[i]) != HX_NONE) {
      return hxs_fail(build->error, HX_INVALID, "%s: result %u is the same value as another result", op->name, i);
    }
  }
  return HX_OK;
}

// ---- prepared objects

struct hxs_block {
  struct hxs_block *next;
};

#define BLOCK_HEAD 64u  // keeps what follows 64-byte aligned

void *hxs_keep(hxs_prepared *prepared, size_t count, size_t size) {
  void *memory = NULL;
  if (size != 0 && count > (SIZE_MAX - BLOCK_HEAD) / size) {
    return NULL;
  }
  if (posix_memalign(&memory, BLOCK_HEAD, BLOCK_HEAD + count * size) != 0) {
    return NULL;
  }
  memset(memory, 0, BLOCK_HEAD + count * size);
  struct hxs_block *block = memory;
  block->next = prepared->blocks;
  prepared->blocks = block;
  return (char *)memory + BLOCK_HEAD;
}

int32_t hxs_keep_or_fail(const hxs_build *build, size_t count, size_t size, void *out_pointer) {
  void *memory = hxs_keep(build->prepared, count, size);
  if (memory == NULL) {
    return hxs_refuse(build, HX_OUT_OF_MEMORY, "no memory for %zu times %zu bytes", count, size);
  }
  memcpy(out_pointer, &memory, sizeof memory);
  return HX_OK;
}

int32_t hxs_refuse(const hxs_build *build, int32_t code, const char *format, ...) {
  char text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return hxs_fail(build->error, code, "%.64s: %s", build->op->name, text);
}

// The plugin's object begins with the library's.
static hxs_prepared *base_of(hx_prepared *prepared) { return (hxs_prepared *)(void *)prepared; }

void hxs_destroy(hx_prepared *prepared) {
  if (prepared == NULL) {
    return;
  }
  hxs_prepared *base = base_of(prepared);
  if (base->plugin->release != NULL) {
    base->plugin->release(prepared);
  }
  while (base->blocks != NULL) {
    struct hxs_block *block = base->blocks;
    base->blocks = block->next;
    free(block);
  }
  free(prepared);
}

static int32_t prepare_into(hxs_build *build, const hx_region *region) {
  hxs_prepared *prepared = build->prepared;
  const hxs_plugin *plugin = prepared->plugin;
  const hxs_impl_row *row = find_row(plugin, build->op, build->error);
  if (row == NULL) {
    return HX_UNSUPPORTED;
  }
  prepared->name = row->op;
  HXS_TRY(check_attributes(build->op, row, build->error));
  HXS_TRY(read_views(build, region, row));
  if (plugin->begin != NULL) {
    HXS_TRY(plugin->begin(build, region));
  }
  HXS_TRY(row->build(build));
  if (plugin->end != NULL) {
    HXS_TRY(plugin->end(build));
  }
  return HX_OK;
}

int32_t hxs_begin(const hxs_plugin *plugin, hx_device *device, const hx_region *region, const char *name,
                  hx_prepared **out, hx_error *error) {
  hx_prepared *object = calloc(1, plugin->prepared_bytes);
  if (object == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "%s: no memory to prepare", name);
  }
  hxs_prepared *prepared = base_of(object);
  prepared->plugin = plugin;
  prepared->device = device;
  prepared->tables = region->tables;
  prepared->ring = plugin->ring_of(device, region->tables);
  prepared->name = name;
  prepared->log_n = prepared->ring->log_n;
  prepared->n = (size_t)1 << prepared->log_n;
  *out = object;
  return HX_OK;
}

int32_t hxs_end(hx_prepared *object, int32_t code, hx_plan *plan, hx_prepared **out) {
  if (code == HX_OK) {
    plan->scratch_host = 0;
    plan->scratch_device = base_of(object)->scratch_bytes;
    if (plan->struct_size >= HX_END_OF(hx_plan, cost_ns)) {
      plan->cost_ns = base_of(object)->cost;
    }
    *out = object;
    return HX_OK;
  }
  hxs_destroy(object);
  for (uint32_t i = 0; i < plan->alias_count; i++) {
    plan->may_alias[i] = -1;
  }
  return code;
}

int32_t hxs_prepare_op(const hxs_plugin *plugin, hx_device *device, const hx_region *region, const hx_op *op,
                       hx_plan *plan, hx_prepared **out, hx_error *error) {
  hx_prepared *object = NULL;
  HXS_TRY(hxs_begin(plugin, device, region, op->name, &object, error));
  hxs_prepared *prepared = base_of(object);
  prepared->name = "an unknown operation";
  hxs_build build = {prepared, prepared->ring, op, plan, error};
  const int32_t code = prepare_into(&build, region);
  if (code != HX_OK && error != NULL && error->struct_size >= HX_END_OF(hx_error, op)) {
    error->op = 0;
  }
  return hxs_end(object, code, plan, out);
}

int32_t hxs_prepare(const hxs_plugin *plugin, hx_device *device, const hx_region *region, hx_plan *plan,
                    hx_prepared **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hxs_fail(error, HX_INVALID, "prepare: device or result is missing");
  }
  if (region != NULL && region->struct_size >= HX_END_OF(hx_region, variant) && region->op_count > 1) {
    return hxs_fail(error, HX_UNSUPPORTED, "the region has %u operations; %s prepares one at a time", region->op_count,
                    plugin->name);
  }
  HXS_TRY(hxs_region_check(plugin, device, region, plan, error));
  return hxs_prepare_op(plugin, device, region, region->ops, plan, out, error);
}

// ---- execute

int32_t hxs_call_spans(const hxs_prepared *prepared, const hx_call *call, hxs_span_fn *check, void *self,
                       hx_error *error) {
  char what[32];
  if ((prepared->operand_count > 0 && call->inputs == NULL) || call->outputs == NULL) {
    return hxs_fail(error, HX_INVALID, "the call has no inputs or no outputs");
  }
  for (uint32_t i = 0; i < prepared->operand_count + prepared->result_count; i++) {
    const bool result = i >= prepared->operand_count;
    const hxs_view *view = result ? &prepared->results[i - prepared->operand_count] : &prepared->operands[i];
    snprintf(what, sizeof what, "%s %u", view->side, view->index);
    HXS_TRY(check(self, view, result ? call->outputs[view->slot] : call->inputs[view->slot], what, error));
  }
  return HX_OK;
}
