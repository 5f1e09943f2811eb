// SPDX-License-Identifier: Apache-2.0
// State of the parser, shared by its files: parse.c (operations), parse_attr.c, parse_type.c, scope.c (names).
//
// Functions return a status. A syntax error stops the parse and is passed up; other faults (an undefined name, a
// type that does not fit) are added to the report, remembered in `first`, and parsing goes on.
#ifndef HELIOX_CORE_IR_PARSER_H
#define HELIOX_CORE_IR_PARSER_H

#include "core/ir/internal.h"
#include "core/ir/lexer.h"

// One definition of a name: one value, or several as in %a:2.
typedef struct hx_definition {
  uint32_t name, shadowed;  // ids of the name and of the definition that it hides, or HX_NONE
  hx_ir_value_t **values;
  uint32_t count;
  uint32_t line, column;
} hx_definition_t;

// A use before any definition. The value becomes the definition's where one follows.
typedef struct hx_forward {
  uint32_t name, index, next;  // next: earlier forward use of the same name, or HX_NONE
  hx_ir_value_t *value;
  uint32_t line, column;
  bool defined;
} hx_forward_t;

typedef struct hx_scope {
  hx_names_t names;
  hx_str_t *copies;       // [names.count] in the program's arena, made when first needed
  uint32_t *top;          // [names.count] newest visible definition, or HX_NONE
  uint32_t *top_forward;  // [names.count] newest forward use, or HX_NONE
  size_t copy_capacity, top_capacity, top_forward_capacity;
  hx_definition_t *definitions;  // a stack
  size_t definition_count, definition_capacity;
  hx_forward_t *forwards;  // a stack
  size_t forward_count, forward_capacity;
  size_t definition_floor, forward_floor;  // those below belong to a region outside an isolated one
} hx_scope_t;

// Where a region began; kept by the caller between enter and leave.
typedef struct hx_scope_mark {
  size_t definition_count, forward_count, definition_floor, forward_floor;
  bool isolated;
} hx_scope_mark_t;

// What an attribute alias stands for, how many values that is, and how deep they nest.
typedef struct hx_alias {
  hx_attribute_t value;
  size_t weight;
  uint32_t depth;
} hx_alias_t;

// An operand as written.
typedef struct hx_operand_ref {
  hx_str_t name;
  uint32_t number;  // of %name#number, or HX_NONE
  uint32_t line, column;
} hx_operand_ref_t;

typedef struct hx_parser {
  hx_lexer_t lexer;
  hx_token_t token;  // the current one
  hx_program_t *program;
  hx_report_t *report;
  hx_status_t first;  // status of the first fault
  uint32_t region_nesting;
  uint32_t nesting, deepest;  // of attributes; deepest: largest nesting since an alias definition began
  size_t op_count, item_weight;
  hx_scope_t scope;
  hx_names_t type_texts;  // a text is parsed once
  const hx_type_t **text_types;
  size_t text_type_capacity;
  hx_names_t type_aliases, attribute_aliases;
  const hx_type_t **alias_types;
  hx_alias_t *alias_attributes;
  size_t alias_type_capacity, alias_attribute_capacity;
  // Stacks of what is being read; who pushes pops.
  hx_named_attr_t *named;
  hx_attribute_t *items;
  const hx_type_t **types;
  hx_operand_ref_t *operands;
  size_t named_count, item_count, type_count, operand_count;
  size_t named_capacity, item_capacity, type_capacity, operand_capacity;
} hx_parser_t;

// A signature on the stack `types`: inputs from `first` on, then results.
typedef struct hx_signature {
  size_t first, input_count, result_count;
} hx_signature_t;

// Frees what reading has gathered; the scope and the lexer are initialised by who reads.
void hx_parser_deinit(hx_parser_t *parser);
// Adds a fault at a token and remembers its status.
hx_status_t hx_parser_fail(hx_parser_t *parser, const hx_token_t *at, hx_code_t code, const char *format, ...)
    HX_PRINTF(4, 5);
// Adds a fault at a place.
hx_status_t hx_parser_fail_at(hx_parser_t *parser, uint32_t line, uint32_t column, hx_code_t code, const char *format,
                              ...) HX_PRINTF(5, 6);
// "expected WHAT, found TOKEN" at the current token.
hx_status_t hx_parser_expected(hx_parser_t *parser, const char *what);
void hx_parser_next(hx_parser_t *parser);
bool hx_parser_is(const hx_parser_t *parser, char punctuation);
bool hx_parser_is_word(const hx_parser_t *parser, const char *word);
// Takes the punctuation if it is the current token.
bool hx_parser_accept(hx_parser_t *parser, char punctuation);
// Takes the punctuation, or fails with hx_parser_expected(what).
hx_status_t hx_parser_expect(hx_parser_t *parser, char punctuation, const char *what);
// Goes one level deeper; refused beyond HX_IR_NESTING_MAX. Undone by `--parser->nesting`.
hx_status_t hx_parser_descend(hx_parser_t *parser, const hx_token_t *at);

hx_status_t hx_parse_type(hx_parser_t *parser, const hx_type_t **out);
// (T, T) -> T or (T, T) -> (T, T); pushes onto parser->types.
hx_status_t hx_parse_signature(hx_parser_t *parser, hx_signature_t *out);
// `!name = type`.
hx_status_t hx_parse_type_alias(hx_parser_t *parser);

hx_status_t hx_parse_attribute(hx_parser_t *parser, hx_attribute_t *out);
// { name = value, ... }; pushes onto parser->named.
hx_status_t hx_parse_dict(hx_parser_t *parser);
// Pops what lies above `first` into the program's arena, sorted. A name given twice is a fault at `at`.
hx_status_t hx_parser_take_named(hx_parser_t *parser, size_t first, const hx_token_t *at, hx_attrs_t *out);
// `#name = attribute`.
hx_status_t hx_parse_attribute_alias(hx_parser_t *parser);
// `loc(...)`, if it is there.
hx_status_t hx_parse_location(hx_parser_t *parser);
// Decodes escapes into the program's arena.
hx_status_t hx_parser_unescape(hx_parser_t *parser, const hx_token_t *at, hx_str_t raw, hx_str_t *out);

void hx_scope_init(hx_scope_t *scope);
void hx_scope_deinit(hx_scope_t *scope);
void hx_scope_enter(hx_scope_t *scope, bool isolated, hx_scope_mark_t *out);
// Names defined since enter vanish; forward uses that an isolated region leaves undefined become faults.
hx_status_t hx_scope_leave(hx_parser_t *parser, const hx_scope_mark_t *mark);
// The value of an operand; a forward value of the given type where the name is not defined yet.
hx_status_t hx_scope_use(hx_parser_t *parser, const hx_operand_ref_t *operand, const hx_type_t *type,
                         hx_ir_value_t **out);
// Gives `count` values a name. Entries of `values` are replaced by forward values where those exist already.
hx_status_t hx_scope_define(hx_parser_t *parser, hx_str_t name, uint32_t line, uint32_t column, hx_ir_value_t **values,
                            size_t count);

#endif
