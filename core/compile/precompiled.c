// SPDX-License-Identifier: Apache-2.0
// From tables to an executable: operations are made one by one, then linked as they stand.
#include <string.h>

#include "core/compile/compilation.h"
#include "heliox/precompiled.h"

typedef struct maker {
  const hx_precompiled_t *tables;
  hx_program_t *program;
  const hx_type_t **types;  // [type_count] interned
  hx_ir_value_t **values;   // [value_count]
  hx_report_t *report;
} maker_t;

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to make a program");
}

static hx_status_t malformed(const maker_t *maker, const char *what) {
  return hx_report_fail(maker->report, HX_CODE_INVALID_ARGUMENT, "%s: the tables have %s", maker->tables->source, what);
}

static hx_status_t make_type(const maker_t *maker, const hx_precompiled_type_t *from, const hx_type_t **out) {
  hx_type_t type;
  if (from->kind >= HX_TYPE_KIND_COUNT || from->batch_rank > HX_BATCH_RANK_MAX || from->prime_count > HX_PRIMES_MAX ||
      from->scale_term_count > HX_PRIMES_MAX)
    return malformed(maker, "a type out of range");
  hx_type_init(&type, (hx_type_kind_t)from->kind);
  type.known = from->known;
  type.dtype = from->dtype;
  type.basis = from->basis;
  type.domain = from->domain;
  type.repr = from->repr;
  type.components = from->components;
  type.depth = from->depth;
  type.slots = from->slots;
  type.batch_rank = from->batch_rank;
  memcpy(type.batch_shape, from->batch_shape, from->batch_rank * sizeof type.batch_shape[0]);
  for (uint32_t i = 0; i < from->prime_count; ++i) {
    if (from->primes[i] >= HX_PRIMES_MAX) return malformed(maker, "a prime id out of range");
    hx_primes_add(&type.primes, from->primes[i]);
  }
  memcpy(type.scale.m, from->scale_m, sizeof type.scale.m);
  type.scale.e = from->scale_e;
  type.scale.term_count = from->scale_term_count;
  for (uint32_t i = 0; i < from->scale_term_count; ++i)
    type.scale.terms[i] =
        (hx_scale_term_t){.id = (uint32_t)from->scale_terms[2 * i], .exponent = (int32_t)from->scale_terms[2 * i + 1]};
  type.key_kind = (hx_key_kind_t)from->key_kind;
  type.element = from->element;
  type.count = from->count;
  type.is_complex = from->is_complex != 0;
  type.bits = from->bits;
  type.signedness = (hx_signedness_t)from->signedness;
  if (from->name != NULL) memcpy(type.name, from->name, strnlen(from->name, sizeof type.name - 1));
  *out = hx_program_type(maker->program, &type);
  return *out == NULL ? no_memory(maker->report) : HX_STATUS_OK;
}

// ------------------------------------------------------------------ attributes

static hx_status_t make_attribute(const maker_t *maker, const hx_precompiled_attr_t *from, hx_attribute_t *out);

static hx_status_t make_items(const maker_t *maker, const hx_precompiled_attr_t *from, hx_attribute_t *out) {
  hx_arena_t *arena = &maker->program->arena;
  hx_attribute_t *list = hx_arena_alloc(arena, (from->count + 1) * sizeof *list);
  hx_named_attr_t *dict = hx_arena_alloc(arena, (from->count + 1) * sizeof *dict);
  if (list == NULL || dict == NULL) return no_memory(maker->report);
  for (uint32_t i = 0; i < from->count; ++i) {
    HX_TRY(make_attribute(maker, &from->items[i], &list[i]));
    if (from->items[i].name != NULL) dict[i] = (hx_named_attr_t){.name = hx_str(from->items[i].name), .value = list[i]};
  }
  out->count = from->count;
  if (out->kind == HX_ATTRIBUTE_LIST) out->list = list;
  if (out->kind == HX_ATTRIBUTE_DICT) out->dict = dict;
  return HX_STATUS_OK;
}

static hx_status_t make_attribute(const maker_t *maker, const hx_precompiled_attr_t *from, hx_attribute_t *out) {
  const uint32_t type_count = maker->tables->type_count, types = from->input_count + from->result_count;
  *out = (hx_attribute_t){.kind = (hx_attr_kind_t)from->kind,
                          .boolean = from->boolean != 0,
                          .integer = from->integer,
                          .number = from->number,
                          .text = hx_str(from->text),
                          .input_count = from->input_count,
                          .result_count = from->result_count};
  if (from->kind > HX_ATTRIBUTE_DICT || from->type > type_count) return malformed(maker, "an attribute out of range");
  if (from->type > 0) out->type = maker->types[from->type - 1];
  if (from->count > 0) HX_TRY(make_items(maker, from, out));
  if (types == 0) return HX_STATUS_OK;
  const hx_type_t **list = hx_arena_alloc(&maker->program->arena, types * sizeof *list);
  if (list == NULL) return no_memory(maker->report);
  for (uint32_t i = 0; i < types; ++i) {
    if (from->types[i] >= type_count) return malformed(maker, "an attribute's type out of range");
    list[i] = maker->types[from->types[i]];
  }
  out->types = list;
  return HX_STATUS_OK;
}

static hx_status_t make_attrs(const maker_t *maker, const hx_precompiled_op_t *from, hx_attrs_t *out) {
  hx_named_attr_t *items = hx_zalloc(from->attr_count + 1, sizeof *items);
  if (items == NULL) return no_memory(maker->report);
  hx_status_t status = HX_STATUS_OK;
  for (uint32_t i = 0; i < from->attr_count && status == HX_STATUS_OK; ++i) {
    items[i].name = hx_str(from->attrs[i].name);
    status = make_attribute(maker, &from->attrs[i], &items[i].value);
  }
  if (status == HX_STATUS_OK && hx_program_attrs(maker->program, items, from->attr_count, out) != HX_STATUS_OK)
    status = no_memory(maker->report);
  hx_free(items);
  return status;
}

// ------------------------------------------------------------------ operations

static hx_status_t name_value(const maker_t *maker, uint32_t index, hx_ir_value_t *value) {
  const char *name = maker->tables->value_names[index];
  maker->values[index] = value;
  if (name == NULL) return HX_STATUS_OK;
  value->name = hx_arena_str(&maker->program->arena, hx_str(name));
  return value->name.data == NULL ? no_memory(maker->report) : HX_STATUS_OK;
}

static hx_status_t check_values(const maker_t *maker, const uint32_t *values, uint32_t count, bool defined) {
  for (uint32_t i = 0; i < count; ++i) {
    if (values[i] >= maker->tables->value_count || (maker->values[values[i]] != NULL) != defined)
      return malformed(maker, "a value that is used before it is made, or made twice");
    if (maker->tables->value_types[values[i]] >= maker->tables->type_count)
      return malformed(maker, "a value's type out of range");
  }
  return HX_STATUS_OK;
}

static hx_status_t make_op(const maker_t *maker, const hx_precompiled_op_t *from, hx_ir_op_t **out);

static hx_status_t make_block(const maker_t *maker, const hx_precompiled_block_t *from, hx_ir_block_t *block) {
  HX_TRY(check_values(maker, from->arguments, from->argument_count, false));
  for (uint32_t i = 0; i < from->argument_count; ++i) {
    hx_ir_value_t *argument;
    const hx_type_t *type = maker->types[maker->tables->value_types[from->arguments[i]]];
    if (hx_ir_add_argument(maker->program, block, type, &argument) != HX_STATUS_OK) return no_memory(maker->report);
    HX_TRY(name_value(maker, from->arguments[i], argument));
  }
  for (uint32_t i = 0; i < from->op_count; ++i) {
    hx_ir_op_t *op;
    HX_TRY(make_op(maker, &from->ops[i], &op));
    hx_ir_insert(block, NULL, op);
  }
  return HX_STATUS_OK;
}

// The operation with its operands; results are added by hand, since types are interned already.
static hx_status_t create_op(const maker_t *maker, const hx_precompiled_op_t *from, hx_op_id_t id, hx_attrs_t attrs,
                             hx_ir_op_t **out) {
  hx_ir_value_t **operands = hx_zalloc(from->operand_count + 1, sizeof(hx_ir_value_t *));
  hx_type_t *types = hx_zalloc(from->result_count + 1, sizeof *types);
  hx_status_t status = operands == NULL || types == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  for (uint32_t i = 0; i < from->operand_count && status == HX_STATUS_OK; ++i)
    operands[i] = maker->values[from->operands[i]];
  for (uint32_t i = 0; i < from->result_count && status == HX_STATUS_OK; ++i)
    hx_type_copy(&types[i], maker->types[maker->tables->value_types[from->results[i]]]);
  if (status == HX_STATUS_OK)
    status = hx_ir_create(maker->program, id, operands, from->operand_count, types, from->result_count, attrs,
                          from->region_count, out);
  hx_free((void *)operands);
  hx_free(types);
  return status == HX_STATUS_OK ? status : no_memory(maker->report);
}

static hx_status_t make_op(const maker_t *maker, const hx_precompiled_op_t *from, hx_ir_op_t **out) {
  const hx_op_id_t id = hx_op_find(hx_str(from->name));
  if (id == HX_OP_UNKNOWN)
    return hx_report_fail(maker->report, HX_CODE_UNKNOWN_OPERATION, "%s: there is no operation %.100s",
                          maker->tables->source, from->name);
  hx_attrs_t attrs;
  HX_TRY(check_values(maker, from->operands, from->operand_count, true));
  HX_TRY(check_values(maker, from->results, from->result_count, false));
  HX_TRY(make_attrs(maker, from, &attrs));
  HX_TRY(create_op(maker, from, id, attrs, out));
  (*out)->line = from->line;
  for (uint32_t i = 0; i < from->region_count; ++i)
    HX_TRY(make_block(maker, &from->regions[i], (*out)->regions[i]->block));
  for (uint32_t i = 0; i < from->result_count; ++i) HX_TRY(name_value(maker, from->results[i], (*out)->results[i]));
  return HX_STATUS_OK;
}

static hx_status_t make_program(maker_t *maker) {
  const hx_precompiled_t *tables = maker->tables;
  maker->types = hx_zalloc(tables->type_count + 1, sizeof *maker->types);
  maker->values = hx_zalloc(tables->value_count + 1, sizeof(hx_ir_value_t *));
  if (maker->types == NULL || maker->values == NULL) return no_memory(maker->report);
  for (uint32_t i = 0; i < tables->type_count; ++i) HX_TRY(make_type(maker, &tables->types[i], &maker->types[i]));
  HX_TRY(make_op(maker, &tables->module, &maker->program->module));
  HX_TRY(hx_program_verify(maker->program, maker->report));
  return hx_program_refresh(maker->program, maker->report);
}

// ------------------------------------------------------------------ linking

static hx_status_t check(const hx_precompiled_t *program, const hx_params_t *params, const hx_keys_t *keys,
                         hx_report_t *report) {
  if (strcmp(program->version, hx_version()) != 0)
    return hx_report_fail(report, HX_CODE_FILE_VERSION,
                          "%s was written by Heliox %s, this is %s: emit it again from its program", program->source,
                          program->version, hx_version());
  if (strcmp(program->params_digest, hx_params_digest_hex(params)) != 0)
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST, "%s belongs to parameters %.16s..., given are %.16s...",
                          program->source, program->params_digest, hx_params_digest_hex(params));
  if (keys != NULL && !hx_params_same(keys->params, params))
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "the keys belong to parameters %.16s..., the program to %.16s...",
                          hx_params_digest_hex(keys->params), hx_params_digest_hex(params));
  return HX_STATUS_OK;
}

static hx_status_t link_tables(maker_t *maker, const hx_params_t *params, const hx_backend_t *backend,
                               const hx_keys_t *keys, const hx_named_value_t *materials, size_t count,
                               hx_executable_t **out) {
  hx_binding_t *bindings = hx_zalloc(count + 1, sizeof *bindings);
  if (bindings == NULL) return no_memory(maker->report);
  for (size_t i = 0; i < count; ++i)
    bindings[i] = (hx_binding_t){.symbol = materials[i].name, .value = materials[i].value};
  const hx_link_source_t source = {
      .program = maker->program, .params = params, .keys = keys, .bindings = bindings, .binding_count = count};
  const hx_link_options_t options = {.pipeline = "", .place_materials = true, .is_lowered = true};
  const hx_status_t status = hx_link_program(&source, backend, &options, out, maker->report);
  hx_free(bindings);
  return status;
}

hx_status_t hx_precompiled_link(const hx_precompiled_t *program, const hx_params_t *params, const hx_backend_t *backend,
                                const hx_keys_t *keys, const hx_named_value_t *materials, size_t material_count,
                                hx_executable_t **out, hx_report_t *report) {
  if (program == NULL || params == NULL || backend == NULL || out == NULL || (material_count > 0 && materials == NULL))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_precompiled_link: an argument is NULL");
  HX_TRY(check(program, params, keys, report));
  maker_t maker = {.tables = program, .report = report};
  if (hx_program_create(program->source, &maker.program) != HX_STATUS_OK) return no_memory(report);
  hx_status_t status = make_program(&maker);
  if (status == HX_STATUS_OK) status = link_tables(&maker, params, backend, keys, materials, material_count, out);
  hx_free((void *)maker.types);
  hx_free((void *)maker.values);
  hx_program_release(maker.program);
  return status;
}
