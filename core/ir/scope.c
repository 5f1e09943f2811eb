// SPDX-License-Identifier: Apache-2.0
// Names of values while a text is read. A name is visible from its definition to the end of its region; a use before
// the definition gives a value that the definition takes over, so that the verifier can say what is wrong with it.
#include "core/ir/parser.h"

// Uses before definitions are mistakes; so many of them are followed, which bounds the searches below.
#define FORWARD_MAX 256

void hx_scope_init(hx_scope_t *scope) {
  *scope = (hx_scope_t){0};
  hx_names_init(&scope->names);
}

void hx_scope_deinit(hx_scope_t *scope) {
  hx_names_deinit(&scope->names);
  hx_free(scope->copies);
  hx_free(scope->top);
  hx_free(scope->top_forward);
  hx_free(scope->definitions);
  hx_free(scope->forwards);
}

static hx_status_t name_id(hx_scope_t *scope, hx_str_t name, uint32_t *out) {
  const size_t known = scope->names.count;
  HX_TRY(hx_names_add(&scope->names, name, out));
  if (*out < known) return HX_STATUS_OK;
  const size_t count = scope->names.count;
  HX_TRY(hx_grow(&scope->copies, &scope->copy_capacity, count, sizeof *scope->copies));
  HX_TRY(hx_grow(&scope->top, &scope->top_capacity, count, sizeof *scope->top));
  HX_TRY(hx_grow(&scope->top_forward, &scope->top_forward_capacity, count, sizeof *scope->top_forward));
  scope->copies[*out] = (hx_str_t){0};
  scope->top[*out] = scope->top_forward[*out] = HX_NONE;
  return HX_STATUS_OK;
}

// Names of digits alone are numbers that a printer gave; they are given anew when printed.
static bool is_number(hx_str_t name) {
  for (size_t i = 0; i < name.size; ++i) {
    if (name.data[i] < '0' || name.data[i] > '9') return false;
  }
  return true;
}

static hx_status_t lasting_name(hx_parser_t *parser, uint32_t id, hx_str_t *out) {
  hx_scope_t *scope = &parser->scope;
  *out = (hx_str_t){0};
  if (is_number(scope->names.names[id])) return HX_STATUS_OK;
  if (scope->copies[id].data == NULL) scope->copies[id] = hx_arena_str(&parser->program->arena, scope->names.names[id]);
  *out = scope->copies[id];
  return out->data == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

void hx_scope_enter(hx_scope_t *scope, bool isolated, hx_scope_mark_t *out) {
  *out = (hx_scope_mark_t){.definition_count = scope->definition_count,
                           .forward_count = scope->forward_count,
                           .definition_floor = scope->definition_floor,
                           .forward_floor = scope->forward_floor,
                           .isolated = isolated};
  if (!isolated) return;
  scope->definition_floor = scope->definition_count;
  scope->forward_floor = scope->forward_count;
}

static void name_fault(hx_parser_t *parser, const hx_forward_t *forward) {
  const hx_str_t name = parser->scope.names.names[forward->name];
  const int shown = (int)(name.size < 100 ? name.size : 100);
  if (forward->index == 0) {
    (void)hx_parser_fail_at(parser, forward->line, forward->column, HX_CODE_SSA, "value %%%.*s is not defined", shown,
                            name.data);
  } else {
    (void)hx_parser_fail_at(parser, forward->line, forward->column, HX_CODE_SSA, "value %%%.*s#%u is not defined",
                            shown, name.data, forward->index);
  }
}

hx_status_t hx_scope_leave(hx_parser_t *parser, const hx_scope_mark_t *mark) {
  hx_scope_t *scope = &parser->scope;
  while (scope->definition_count > mark->definition_count) {
    const hx_definition_t *definition = &scope->definitions[--scope->definition_count];
    scope->top[definition->name] = definition->shadowed;
  }
  scope->definition_floor = mark->definition_floor;
  if (!mark->isolated) return HX_STATUS_OK;
  for (size_t i = mark->forward_count; i < scope->forward_count; ++i) {
    if (!scope->forwards[i].defined) name_fault(parser, &scope->forwards[i]);
  }
  while (scope->forward_count > mark->forward_count) {
    const hx_forward_t *forward = &scope->forwards[--scope->forward_count];
    scope->top_forward[forward->name] = forward->next;
  }
  scope->forward_floor = mark->forward_floor;
  return HX_STATUS_OK;
}

// The forward value of a name and index in this isolated region, or NULL.
static hx_forward_t *find_forward(const hx_scope_t *scope, uint32_t name, uint32_t index) {
  for (uint32_t i = scope->top_forward[name]; i != HX_NONE && i >= scope->forward_floor; i = scope->forwards[i].next) {
    if (scope->forwards[i].index == index && !scope->forwards[i].defined) return &scope->forwards[i];
  }
  return NULL;
}

static hx_status_t use_forward(hx_parser_t *parser, const hx_operand_ref_t *operand, uint32_t name,
                               const hx_type_t *type, hx_ir_value_t **out) {
  hx_scope_t *scope = &parser->scope;
  const uint32_t index = operand->number == HX_NONE ? 0 : operand->number;
  const hx_forward_t *known = find_forward(scope, name, index);
  if (known != NULL) {
    *out = known->value;
    return HX_STATUS_OK;
  }
  if (scope->forward_count == FORWARD_MAX)
    return hx_parser_fail_at(parser, operand->line, operand->column, HX_CODE_LIMIT,
                             "more than %d values are used before their definition", FORWARD_MAX);
  HX_TRY(hx_grow(&scope->forwards, &scope->forward_capacity, scope->forward_count + 1, sizeof *scope->forwards));
  hx_ir_value_t *value = hx_arena_alloc(&parser->program->arena, sizeof *value);
  if (value == NULL) return HX_STATUS_OUT_OF_MEMORY;
  value->type = type;
  HX_TRY(lasting_name(parser, name, &value->name));
  scope->forwards[scope->forward_count] = (hx_forward_t){.name = name,
                                                         .index = index,
                                                         .next = scope->top_forward[name],
                                                         .value = value,
                                                         .line = operand->line,
                                                         .column = operand->column};
  scope->top_forward[name] = (uint32_t)scope->forward_count++;
  *out = value;
  return HX_STATUS_OK;
}

hx_status_t hx_scope_use(hx_parser_t *parser, const hx_operand_ref_t *operand, const hx_type_t *type,
                         hx_ir_value_t **out) {
  hx_scope_t *scope = &parser->scope;
  uint32_t name;
  HX_TRY(name_id(scope, operand->name, &name));
  const uint32_t top = scope->top[name];
  const int shown = (int)(operand->name.size < 100 ? operand->name.size : 100);
  if (top == HX_NONE || top < scope->definition_floor) {
    HX_TRY(use_forward(parser, operand, name, type, out));
  } else {
    const hx_definition_t *definition = &scope->definitions[top];
    const uint32_t index = operand->number == HX_NONE ? 0 : operand->number;
    if (index >= definition->count) {
      (void)hx_parser_fail_at(parser, operand->line, operand->column, HX_CODE_SSA,
                              "value %%%.*s#%u is used, but %%%.*s has %u values", shown, operand->name.data, index,
                              shown, operand->name.data, definition->count);
    }
    *out = definition->values[index < definition->count ? index : 0];
  }
  return HX_STATUS_OK;
}

// Puts the values of earlier uses in place of those just made.
static void take_over(hx_parser_t *parser, uint32_t id, uint32_t line, uint32_t column, hx_ir_value_t **values,
                      size_t count) {
  hx_scope_t *scope = &parser->scope;
  const hx_str_t name = scope->names.names[id];
  for (uint32_t i = scope->top_forward[id]; i != HX_NONE && i >= scope->forward_floor; i = scope->forwards[i].next) {
    hx_forward_t *forward = &scope->forwards[i];
    if (forward->defined || forward->index >= count) continue;
    forward->defined = true;
    if (forward->value->type != values[forward->index]->type) {
      (void)hx_parser_fail_at(parser, forward->line, forward->column, HX_CODE_TYPE,
                              "value %%%.*s is used with another type than it is defined with at %u:%u",
                              (int)(name.size < 100 ? name.size : 100), name.data, line, column);
    }
    *forward->value = *values[forward->index];
    values[forward->index] = forward->value;
  }
}

hx_status_t hx_scope_define(hx_parser_t *parser, hx_str_t name, uint32_t line, uint32_t column, hx_ir_value_t **values,
                            size_t count) {
  hx_scope_t *scope = &parser->scope;
  uint32_t id;
  HX_TRY(name_id(scope, name, &id));
  if (scope->definition_count >= HX_NONE - 1) return HX_STATUS_OUT_OF_MEMORY;
  const uint32_t top = scope->top[id];
  if (top != HX_NONE && top >= scope->definition_floor) {
    const hx_definition_t *earlier = &scope->definitions[top];
    (void)hx_parser_fail_at(parser, line, column, HX_CODE_SSA, "value %%%.*s is defined twice, first at %u:%u",
                            (int)(name.size < 100 ? name.size : 100), name.data, earlier->line, earlier->column);
  }
  hx_str_t lasting;
  HX_TRY(lasting_name(parser, id, &lasting));
  for (size_t i = 0; i < count; ++i) values[i]->name = lasting;
  take_over(parser, id, line, column, values, count);
  HX_TRY(hx_grow(&scope->definitions, &scope->definition_capacity, scope->definition_count + 1,
                 sizeof *scope->definitions));
  scope->definitions[scope->definition_count] = (hx_definition_t){
      .name = id, .shadowed = top, .values = values, .count = (uint32_t)count, .line = line, .column = column};
  scope->top[id] = (uint32_t)scope->definition_count++;
  return HX_STATUS_OK;
}
