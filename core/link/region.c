// SPDX-License-Identifier: Apache-2.0
#include "core/link/region.h"

#include <string.h>

#include "core/ckks/transition.h"
#include "core/ckks/value.h"

// ------------------------------------------------------------------ tensors

static hx_status_t copy_words(hx_arena_t *arena, const uint64_t *from, size_t count, const uint64_t **out) {
  uint64_t *words = hx_arena_alloc(arena, count * sizeof *words);
  if (words == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (count > 0) memcpy(words, from, count * sizeof *words);
  *out = words;
  return HX_STATUS_OK;
}

// State of a descriptor: words that are no residues have none.
static void set_state(hx_tensor_desc *desc, const hx_type_t *type) {
  if (type->kind == HX_TYPE_SEED || desc->dtype == HX_I64) return;
  if (type->kind == HX_TYPE_KEY) {
    desc->domain = HX_NTT;
    desc->basis = HX_BASIS_QP;
    desc->repr = HX_STANDARD;
    return;
  }
  desc->domain = type->domain;
  desc->basis = type->basis;
  desc->repr = type->repr;
}

static hx_status_t fill_desc(hx_arena_t *arena, const hx_region_value_t *value, hx_tensor_desc *desc) {
  const hx_layout_t *layout = value->layout;
  *desc = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                           .dtype = layout->dtype,
                           .log_n = layout->log_n,
                           .batch_rank = layout->batch_rank,
                           .digits = layout->digits,
                           .components = layout->components,
                           .limbs = layout->limbs,
                           .flags = (value->secret ? HX_SECRET : 0u) | (value->immutable ? HX_IMMUTABLE : 0u),
                           .digit_stride = layout->digit_stride,
                           .component_stride = layout->component_stride,
                           .limb_stride = layout->limb_stride};
  set_state(desc, value->type);
  HX_TRY(copy_words(arena, layout->batch_shape, layout->batch_rank, &desc->batch_shape));
  HX_TRY(copy_words(arena, layout->batch_strides, layout->batch_rank, &desc->batch_strides));
  if (layout->dtype == HX_U64 || layout->dtype == HX_U32) {
    uint32_t ids[HX_PRIMES_MAX];
    const uint32_t count = hx_primes_list(value->primes, ids);
    uint32_t *kept = hx_arena_alloc(arena, count * sizeof *kept);
    if (kept == NULL) return HX_STATUS_OUT_OF_MEMORY;
    if (count > 0) memcpy(kept, ids, count * sizeof *kept);
    desc->prime_ids = kept;
  }
  if (!layout->has_rows) return HX_STATUS_OK;
  uint32_t *rows = hx_arena_alloc(arena, layout->limbs * sizeof *rows);
  if (rows == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (uint32_t l = 0; l < layout->limbs; ++l) rows[l] = layout->rows[l];
  desc->rows = rows;
  return HX_STATUS_OK;
}

const hx_tensor_desc *hx_region_desc(hx_arena_t *arena, const hx_region_value_t *value) {
  hx_tensor_desc *desc = hx_arena_alloc(arena, sizeof *desc);
  return desc != NULL && fill_desc(arena, value, desc) == HX_STATUS_OK ? desc : NULL;
}

// Element by element over components: an operand of one component serves all of them.
static bool repeats_components(hx_op_id_t id) {
  return id == HX_OP_RNS_ADD || id == HX_OP_RNS_SUB || id == HX_OP_RNS_MUL || id == HX_OP_RNS_MUL_ADD ||
         id == HX_OP_RNS_MUL_MONTGOMERY;
}

// Batch shape that operands without one take: that of the first operand that has one.
static const hx_layout_t *batched_operand(const hx_region_call_t *call) {
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    if (call->operands[i].layout->batch_rank > 0) return call->operands[i].layout;
  }
  return NULL;
}

static hx_status_t fill_operand(hx_arena_t *arena, const hx_region_call_t *call, uint32_t index, hx_tensor_desc *desc) {
  const hx_region_value_t *value = &call->operands[index];
  HX_TRY(fill_desc(arena, value, desc));
  if (value->type->kind == HX_TYPE_KEY || value->type->kind == HX_TYPE_SEED) return HX_STATUS_OK;
  const hx_layout_t *batched = batched_operand(call);
  if (desc->batch_rank == 0 && batched != NULL) {
    uint64_t *strides = hx_arena_alloc(arena, batched->batch_rank * sizeof *strides);  // zeroed: repeats
    if (strides == NULL) return HX_STATUS_OUT_OF_MEMORY;
    HX_TRY(copy_words(arena, batched->batch_shape, batched->batch_rank, &desc->batch_shape));
    desc->batch_strides = strides;
    desc->batch_rank = batched->batch_rank;
  }
  if (repeats_components(call->op->id) && desc->components == 1 && call->results[0].layout->components > 1) {
    desc->components = call->results[0].layout->components;
    desc->component_stride = 0;
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ attributes

typedef struct builder {
  hx_arena_t *arena;
  const hx_region_call_t *call;
  hx_attr *attrs;  // [HX_OP_ATTRS_MAX + 1]
  uint32_t attr_count;
  hx_report_t *report;
} builder_t;

static void add_attr(builder_t *builder, const char *name, uint32_t kind, size_t count, const void *data) {
  builder->attrs[builder->attr_count++] = (hx_attr){.struct_size = HX_END_OF(hx_attr, data),
                                                    .kind = kind,
                                                    .count = (uint32_t)count,  // lists of a program are below 2^32
                                                    .name = name,
                                                    .data = data};
}

static bool is_step(const char *name) { return strcmp(name, "step") == 0 || strcmp(name, "steps") == 0; }

// One integer or a list of them as HX_ATTR_I64 or HX_ATTR_U64 (equal bits).
static hx_status_t add_integers(builder_t *builder, const char *name, uint32_t kind, const hx_attribute_t *value) {
  const size_t count = value->kind == HX_ATTRIBUTE_LIST ? value->count : 1;
  int64_t *words = hx_arena_alloc(builder->arena, count * sizeof *words);
  if (words == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const uint32_t slots = builder->call->operand_count > 0 ? builder->call->operands[0].type->slots : 0;
  for (size_t i = 0; i < count; ++i) {
    const int64_t word = value->kind == HX_ATTRIBUTE_LIST ? value->list[i].integer : value->integer;
    words[i] = is_step(name) && slots > 0 ? hx_rotation_reduce(word, slots) : word;
  }
  add_attr(builder, name, kind, count, words);
  return HX_STATUS_OK;
}

static hx_status_t add_text(builder_t *builder, const char *name, hx_str_t text) {
  const hx_str_t kept = hx_arena_str(builder->arena, text);
  if (kept.data == NULL) return HX_STATUS_OUT_OF_MEMORY;
  add_attr(builder, name, HX_ATTR_TEXT, kept.size, kept.data);
  return HX_STATUS_OK;
}

static hx_status_t add_plain_attr(builder_t *builder, const hx_op_attr_t *row, const hx_attribute_t *value) {
  switch (row->rule) {
    case HX_RULE_I64:
    case HX_RULE_I64_LIST:
      return add_integers(builder, row->name, HX_ATTR_I64, value);
    case HX_RULE_U64_LIST:
      return add_integers(builder, row->name, HX_ATTR_U64, value);
    case HX_RULE_DROP:
      return value->kind == HX_ATTRIBUTE_LIST ? add_integers(builder, row->name, HX_ATTR_I64, value)
                                              : add_text(builder, row->name, value->text);
    case HX_RULE_TEXT:
    case HX_RULE_DOMAIN:
    case HX_RULE_ROUNDING:
    case HX_RULE_PURPOSE:
      return add_text(builder, row->name, value->text);
    default:
      return HX_STATUS_OK;  // numbers, scales, symbols and types never cross
  }
}

// Two words a row: the constant on the first and on the second half of the row.
static hx_status_t add_constant(builder_t *builder) {
  const hx_region_call_t *call = builder->call;
  const hx_type_t *type = call->operands[0].type;
  double re = 0, im = 0;
  (void)hx_attrs_get_complex(call->attrs, "value", &re, &im);  // required by the catalogue: inference saw it
  hx_scale_t *scale = hx_arena_alloc(builder->arena, sizeof *scale);
  const size_t count = 2 * (size_t)hx_primes_count(&type->primes);
  uint64_t *residues = hx_arena_alloc(builder->arena, count * sizeof *residues);
  if (scale == NULL || residues == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_scale_copy(scale, &type->scale);
  hx_str_t text;
  if (hx_attrs_get_text(call->attrs, "scale", &text)) HX_TRY(hx_scale_parse(text, call->ring, scale, builder->report));
  HX_TRY(hx_constant_residues(call->ring, &type->primes, re, im, scale, residues, builder->report));
  add_attr(builder, "residues", HX_ATTR_U64, count, residues);
  return HX_STATUS_OK;
}

static hx_status_t add_attrs(builder_t *builder) {
  const hx_op_info_t *op = builder->call->op;
  const bool is_constant = op->id == HX_OP_CKKS_ADD_SCALAR || op->id == HX_OP_CKKS_MUL_SCALAR;
  if (is_constant) HX_TRY(add_constant(builder));
  for (size_t i = 0; i < HX_OP_ATTRS_MAX && op->attrs[i].name != NULL; ++i) {
    const hx_attribute_t *value = hx_attrs_find(builder->call->attrs, op->attrs[i].name);
    if (value == NULL || (is_constant && op->attrs[i].rule != HX_RULE_DOMAIN)) continue;
    HX_TRY(add_plain_attr(builder, &op->attrs[i], value));
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ regions

static uint32_t *count_up(hx_arena_t *arena, uint32_t first, uint32_t count) {
  uint32_t *ids = hx_arena_alloc(arena, count * sizeof *ids);
  for (uint32_t i = 0; ids != NULL && i < count; ++i) ids[i] = first + i;
  return ids;
}

static hx_status_t fill_values(hx_arena_t *arena, const hx_region_call_t *call, hx_tensor_desc *values) {
  for (uint32_t i = 0; i < call->operand_count; ++i) HX_TRY(fill_operand(arena, call, i, &values[i]));
  for (uint32_t i = 0; i < call->result_count; ++i) {
    HX_TRY(fill_desc(arena, &call->results[i], &values[call->operand_count + i]));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_region_build(hx_arena_t *arena, const hx_region_call_t *call, const hx_region **out,
                            hx_report_t *report) {
  const uint32_t value_count = call->operand_count + call->result_count;
  hx_region *region = hx_arena_alloc(arena, sizeof *region);
  hx_tensor_desc *values = hx_arena_alloc(arena, value_count * sizeof *values);
  hx_op *op = hx_arena_alloc(arena, sizeof *op);
  hx_resource *resources = hx_arena_alloc(arena, call->resource_count * sizeof *resources);
  const uint32_t *inputs = count_up(arena, 0, call->operand_count);
  const uint32_t *outputs = count_up(arena, call->operand_count, call->result_count);
  const uint32_t *resource_ids = count_up(arena, 0, call->resource_count);
  builder_t builder = {.arena = arena,
                       .call = call,
                       .report = report,
                       .attrs = hx_arena_alloc(arena, (HX_OP_ATTRS_MAX + 1) * sizeof(hx_attr))};
  if (region == NULL || values == NULL || op == NULL || resources == NULL || inputs == NULL || outputs == NULL ||
      resource_ids == NULL || builder.attrs == NULL) {
    return HX_STATUS_OUT_OF_MEMORY;
  }
  HX_TRY(fill_values(arena, call, values));
  HX_TRY(add_attrs(&builder));
  if (call->resource_count > 0) memcpy(resources, call->resources, call->resource_count * sizeof *resources);
  *op = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                .signature = call->op->signature,
                .attr_count = builder.attr_count,
                .operand_count = call->operand_count,
                .result_count = call->result_count,
                .resource_count = call->resource_count,
                .name = call->op->name,
                .attrs = builder.attrs,
                .operands = inputs,
                .results = outputs,
                .resources = resource_ids};
  *region = (hx_region){.struct_size = HX_END_OF(hx_region, op_callables),
                        .value_count = value_count,
                        .op_count = 1,
                        .resource_count = call->resource_count,
                        .input_count = call->operand_count,
                        .output_count = call->result_count,
                        .ring = call->ring,
                        .tables = call->tables,
                        .values = values,
                        .ops = op,
                        .resources = resources,
                        .inputs = inputs,
                        .outputs = outputs,
                        .variant = call->variant};
  *out = region;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ regions of several operations

static bool same_words(const uint64_t *a, const uint64_t *b, uint32_t count) {
  return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

// How two operations see one value.
static bool same_view(const hx_tensor_desc *a, const hx_tensor_desc *b) {
  return a->dtype == b->dtype && a->batch_rank == b->batch_rank && a->digits == b->digits &&
         a->components == b->components && a->limbs == b->limbs && a->digit_stride == b->digit_stride &&
         a->component_stride == b->component_stride && a->limb_stride == b->limb_stride &&
         same_words(a->batch_shape, b->batch_shape, a->batch_rank) &&
         same_words(a->batch_strides, b->batch_strides, a->batch_rank);
}

static hx_status_t fuse_part(hx_arena_t *arena, const hx_region_part_t *part, hx_tensor_desc *values, hx_op *op,
                             bool *out_fits, hx_report_t *report) {
  const hx_region_call_t *call = &part->call;
  builder_t builder = {.arena = arena,
                       .call = call,
                       .report = report,
                       .attrs = hx_arena_alloc(arena, (HX_OP_ATTRS_MAX + 1) * sizeof(hx_attr))};
  if (builder.attrs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    hx_tensor_desc seen;
    HX_TRY(fill_operand(arena, call, i, &seen));
    hx_tensor_desc *value = &values[part->operand_ids[i]];
    if (value->struct_size == 0) *value = seen;
    *out_fits = *out_fits && same_view(value, &seen);
  }
  for (uint32_t i = 0; i < call->result_count; ++i)
    HX_TRY(fill_desc(arena, &call->results[i], &values[part->result_ids[i]]));
  HX_TRY(add_attrs(&builder));
  *op = (hx_op){.struct_size = HX_END_OF(hx_op, resources),
                .signature = call->op->signature,
                .attr_count = builder.attr_count,
                .operand_count = call->operand_count,
                .result_count = call->result_count,
                .name = call->op->name,
                .attrs = builder.attrs,
                .operands = part->operand_ids,
                .results = part->result_ids};
  return HX_STATUS_OK;
}

hx_status_t hx_region_fuse(hx_arena_t *arena, const hx_region_whole_t *whole, const hx_region **out,
                           hx_report_t *report) {
  hx_region *region = hx_arena_alloc(arena, sizeof *region);
  hx_tensor_desc *values = hx_arena_alloc(arena, whole->value_count * sizeof *values);  // zeroed: not seen yet
  hx_op *ops = hx_arena_alloc(arena, whole->part_count * sizeof *ops);
  bool fits = true;
  *out = NULL;
  if (region == NULL || values == NULL || ops == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < whole->part_count && fits; ++i)
    HX_TRY(fuse_part(arena, &whole->parts[i], values, &ops[i], &fits, report));
  if (!fits) return HX_STATUS_OK;
  *region = (hx_region){.struct_size = HX_END_OF(hx_region, op_callables),
                        .value_count = whole->value_count,
                        .op_count = whole->part_count,
                        .input_count = whole->input_count,
                        .output_count = whole->output_count,
                        .ring = whole->ring,
                        .tables = whole->tables,
                        .values = values,
                        .ops = ops,
                        .inputs = whole->inputs,
                        .outputs = whole->outputs};
  *out = region;
  return HX_STATUS_OK;
}
