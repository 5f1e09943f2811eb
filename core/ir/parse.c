// SPDX-License-Identifier: Apache-2.0
// Operations, regions and whole texts of MLIR's generic form.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/ir/parser.h"

#define REGIONS_MAX 4  // of one operation; no operation of the catalogue has more than two

hx_status_t hx_parser_fail_at(hx_parser_t *parser, uint32_t line, uint32_t column, hx_code_t code, const char *format,
                              ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  const hx_status_t status = hx_report_fail_at(parser->report, code, parser->program->source, line, column, "%s", text);
  if (parser->first == HX_STATUS_OK) parser->first = status;
  return status;
}

hx_status_t hx_parser_fail(hx_parser_t *parser, const hx_token_t *at, hx_code_t code, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  return hx_parser_fail_at(parser, at->line, at->column, code, "%s", text);
}

hx_status_t hx_parser_expected(hx_parser_t *parser, const char *what) {
  const hx_token_t *token = &parser->token;
  static const char *const before[] = {
      [HX_TOKEN_STRING] = "\"", [HX_TOKEN_VALUE] = "%", [HX_TOKEN_LABEL] = "^",  [HX_TOKEN_SYMBOL] = "@",
      [HX_TOKEN_TYPE] = "!",    [HX_TOKEN_HASH] = "#",  [HX_TOKEN_ARROW] = "->", [HX_TOKEN_PUNCTUATION] = ""};
  if (token->kind == HX_TOKEN_ERROR && strcmp(parser->lexer.message, "unexpected character") == 0)
    return hx_parser_fail(parser, token, HX_CODE_SYNTAX, "expected %s, found byte 0x%02x", what,
                          (unsigned char)*parser->lexer.at);
  if (token->kind == HX_TOKEN_ERROR) return hx_parser_fail(parser, token, HX_CODE_SYNTAX, "%s", parser->lexer.message);
  if (token->kind == HX_TOKEN_END)
    return hx_parser_fail(parser, token, HX_CODE_SYNTAX, "expected %s, found the end of the text", what);
  const char mark[2] = {token->punctuation, '\0'};
  const char *sign = before[token->kind] == NULL ? "" : before[token->kind];
  return hx_parser_fail(parser, token, HX_CODE_SYNTAX, "expected %s, found '%s%s%.*s%s'", what, sign, mark,
                        (int)(token->text.size < 60 ? token->text.size : 60), token->text.data,
                        token->kind == HX_TOKEN_STRING ? "\"" : "");
}

void hx_parser_next(hx_parser_t *parser) { hx_lexer_next(&parser->lexer, &parser->token); }

bool hx_parser_is(const hx_parser_t *parser, char punctuation) {
  return parser->token.kind == HX_TOKEN_PUNCTUATION && parser->token.punctuation == punctuation;
}

bool hx_parser_is_word(const hx_parser_t *parser, const char *word) {
  return parser->token.kind == HX_TOKEN_WORD && hx_str_equal(parser->token.text, hx_str(word));
}

bool hx_parser_accept(hx_parser_t *parser, char punctuation) {
  if (!hx_parser_is(parser, punctuation)) return false;
  hx_parser_next(parser);
  return true;
}

hx_status_t hx_parser_expect(hx_parser_t *parser, char punctuation, const char *what) {
  return hx_parser_accept(parser, punctuation) ? HX_STATUS_OK : hx_parser_expected(parser, what);
}

hx_status_t hx_parser_descend(hx_parser_t *parser, const hx_token_t *at) {
  if (++parser->nesting > parser->deepest) parser->deepest = parser->nesting;
  if (parser->nesting <= HX_IR_NESTING_MAX) return HX_STATUS_OK;
  return hx_parser_fail(parser, at, HX_CODE_LIMIT, "attributes nest deeper than %d", HX_IR_NESTING_MAX);
}

// One operation while it is read: where its parts lie on the parser's stacks.
typedef struct hx_statement {
  hx_token_t name;
  const hx_op_info_t *info;
  size_t first_result, result_count;  // names of results, on parser->operands; number is the count of a pack
  size_t first_operand, operand_count;
  size_t first_named;
  hx_ir_region_t *regions[REGIONS_MAX];
  size_t region_count;
  hx_signature_t signature;
} hx_statement_t;

// Stands for the row of an operation that the catalogue lacks; such a program is refused in the end.
static const hx_op_info_t unknown_info = {.id = HX_OP_UNKNOWN, .name = "unknown"};

static hx_status_t push_operand(hx_parser_t *parser, uint32_t number) {
  const hx_token_t *token = &parser->token;
  HX_TRY(hx_grow(&parser->operands, &parser->operand_capacity, parser->operand_count + 1, sizeof *parser->operands));
  parser->operands[parser->operand_count++] =
      (hx_operand_ref_t){.name = token->text, .number = number, .line = token->line, .column = token->column};
  hx_parser_next(parser);
  return HX_STATUS_OK;
}

// `%a, %b:2 =`, if it is there.
static hx_status_t parse_results(hx_parser_t *parser, hx_statement_t *statement) {
  statement->first_result = parser->operand_count;
  if (parser->token.kind != HX_TOKEN_VALUE) return HX_STATUS_OK;
  do {
    if (parser->token.kind != HX_TOKEN_VALUE || parser->token.number != HX_NONE)
      return hx_parser_expected(parser, "the name of a result");
    HX_TRY(push_operand(parser, 1));
    if (!hx_parser_accept(parser, ':')) continue;
    uint64_t count = 0;
    const hx_str_t digits = parser->token.text;
    if (parser->token.kind != HX_TOKEN_INTEGER || digits.size > 9)
      return hx_parser_expected(parser, "the number of results");
    for (size_t i = 0; i < digits.size; ++i) {
      if (digits.data[i] < '0' || digits.data[i] > '9') return hx_parser_expected(parser, "the number of results");
      count = 10 * count + (uint64_t)(digits.data[i] - '0');  // below 10^9
    }
    if (count == 0) return hx_parser_expected(parser, "a number of results above 0");
    parser->operands[parser->operand_count - 1].number = (uint32_t)count;
    hx_parser_next(parser);
  } while (hx_parser_accept(parser, ','));
  statement->result_count = parser->operand_count - statement->first_result;
  return hx_parser_expect(parser, '=', "'=' after the results");
}

static hx_status_t parse_name(hx_parser_t *parser, hx_statement_t *statement) {
  const hx_token_t *token = &parser->token;
  const int shown = (int)(token->text.size < 60 ? token->text.size : 60);
  if (token->kind == HX_TOKEN_WORD)
    return hx_parser_fail(
        parser, token, HX_CODE_CUSTOM_FORM,
        "%.*s is in MLIR's custom form; only the generic form is read: print it with --mlir-print-op-generic", shown,
        token->text.data);
  if (token->kind != HX_TOKEN_STRING) return hx_parser_expected(parser, "an operation");
  statement->name = *token;
  const hx_op_id_t id = hx_op_find(token->text);
  statement->info = id == HX_OP_UNKNOWN ? &unknown_info : hx_op_info(id);
  if (id == HX_OP_UNKNOWN) {
    (void)hx_parser_fail(parser, token, HX_CODE_UNKNOWN_OPERATION,
                         "%.*s is not in the catalogue of operations (heliox ops lists them)", shown, token->text.data);
  }
  if (++parser->op_count > HX_IR_OPS_MAX)
    return hx_parser_fail(parser, token, HX_CODE_LIMIT, "more than %zu operations", HX_IR_OPS_MAX);
  hx_parser_next(parser);
  return HX_STATUS_OK;
}

static hx_status_t parse_operands(hx_parser_t *parser, hx_statement_t *statement) {
  statement->first_operand = parser->operand_count;
  HX_TRY(hx_parser_expect(parser, '(', "'(' and operands after the operation's name"));
  if (!hx_parser_accept(parser, ')')) {
    do {
      if (parser->token.kind != HX_TOKEN_VALUE) return hx_parser_expected(parser, "an operand (%name) or ')'");
      HX_TRY(push_operand(parser, parser->token.number));
    } while (hx_parser_accept(parser, ','));
    HX_TRY(hx_parser_expect(parser, ')', "',' or ')' after an operand"));
  }
  statement->operand_count = parser->operand_count - statement->first_operand;
  if (hx_parser_is(parser, '['))
    return hx_parser_fail(parser, &parser->token, HX_CODE_UNSUPPORTED,
                          "successor blocks are not read: control flow is written with scf.if, scf.for and scf.while");
  return HX_STATUS_OK;
}

static hx_status_t parse_op(hx_parser_t *parser, hx_ir_block_t *block);

// `^name(%a: type, ...):` in front of a block. Names become visible in the scope that is open.
static hx_status_t parse_label(hx_parser_t *parser, hx_ir_block_t *block) {
  const size_t first = parser->operand_count;
  const size_t first_type = parser->type_count;
  hx_parser_next(parser);
  if (hx_parser_accept(parser, '(') && !hx_parser_accept(parser, ')')) {
    do {
      if (parser->token.kind != HX_TOKEN_VALUE || parser->token.number != HX_NONE)
        return hx_parser_expected(parser, "an argument (%name: type)");
      HX_TRY(push_operand(parser, HX_NONE));
      HX_TRY(hx_parser_expect(parser, ':', "':' and the argument's type"));
      const hx_type_t *type = NULL;
      HX_TRY(hx_parse_type(parser, &type));
      HX_TRY(hx_grow(&parser->types, &parser->type_capacity, parser->type_count + 1, sizeof(hx_type_t *)));
      parser->types[parser->type_count++] = type;
      HX_TRY(hx_parse_location(parser));
    } while (hx_parser_accept(parser, ','));
    HX_TRY(hx_parser_expect(parser, ')', "',' or ')' after an argument"));
  }
  HX_TRY(hx_parser_expect(parser, ':', "':' after the block's label"));
  const size_t count = parser->operand_count - first;
  block->arguments = hx_arena_alloc(&parser->program->arena, count * sizeof(hx_ir_value_t *));
  hx_ir_value_t *values = hx_arena_alloc(&parser->program->arena, count * sizeof *values);
  if (block->arguments == NULL || values == NULL) return HX_STATUS_OUT_OF_MEMORY;
  block->argument_count = count;
  for (size_t i = 0; i < count; ++i) {
    values[i] = (hx_ir_value_t){.type = parser->types[first_type + i], .block = block, .index = (uint32_t)i};
    block->arguments[i] = &values[i];
    const hx_operand_ref_t *name = &parser->operands[first + i];
    HX_TRY(hx_scope_define(parser, name->name, name->line, name->column, &block->arguments[i], 1));
  }
  parser->operand_count = first;
  parser->type_count = first_type;
  return HX_STATUS_OK;
}

static hx_status_t parse_region(hx_parser_t *parser, bool isolated, hx_ir_region_t **out) {
  const hx_token_t brace = parser->token;
  HX_TRY(hx_parser_expect(parser, '{', "'{' of a region"));
  if (++parser->region_nesting > HX_IR_NESTING_MAX)
    return hx_parser_fail(parser, &brace, HX_CODE_LIMIT, "regions nest deeper than %d", HX_IR_NESTING_MAX);
  HX_TRY(hx_ir_create_region(parser->program, NULL, out));
  hx_scope_mark_t mark;
  hx_scope_enter(&parser->scope, isolated, &mark);
  if (parser->token.kind == HX_TOKEN_LABEL) HX_TRY(parse_label(parser, (*out)->block));
  while (!hx_parser_is(parser, '}')) {
    if (parser->token.kind == HX_TOKEN_LABEL)
      return hx_parser_fail(parser, &parser->token, HX_CODE_UNSUPPORTED,
                            "a region has one block; control flow is written with scf.if, scf.for and scf.while");
    if (parser->token.kind == HX_TOKEN_END) return hx_parser_expected(parser, "an operation or '}'");
    HX_TRY(parse_op(parser, (*out)->block));
  }
  hx_parser_next(parser);
  --parser->region_nesting;
  return hx_scope_leave(parser, &mark);
}

// `({...}, {...})`, if it is there.
static hx_status_t parse_regions(hx_parser_t *parser, hx_statement_t *statement) {
  if (!hx_parser_accept(parser, '(')) return HX_STATUS_OK;
  do {
    if (statement->region_count == REGIONS_MAX)
      return hx_parser_fail(parser, &parser->token, HX_CODE_OPERANDS, "more than %d regions; no operation has so many",
                            REGIONS_MAX);
    HX_TRY(parse_region(parser, hx_ir_is_isolated(statement->info), &statement->regions[statement->region_count++]));
  } while (hx_parser_accept(parser, ','));
  return hx_parser_expect(parser, ')', "',' or ')' after a region");
}

// Properties, attributes, regions, attributes, in the order of any MLIR version.
static hx_status_t parse_middle(hx_parser_t *parser, hx_statement_t *statement) {
  statement->first_named = parser->named_count;
  if (hx_parser_accept(parser, '<')) {
    HX_TRY(hx_parse_dict(parser));
    HX_TRY(hx_parser_expect(parser, '>', "'>' after the properties"));
  }
  if (hx_parser_is(parser, '{')) HX_TRY(hx_parse_dict(parser));
  HX_TRY(parse_regions(parser, statement));
  if (hx_parser_is(parser, '{')) HX_TRY(hx_parse_dict(parser));
  return HX_STATUS_OK;
}

static void operand_type_fault(hx_parser_t *parser, const hx_operand_ref_t *operand, const hx_type_t *known,
                               const hx_type_t *written) {
  hx_text_t a, b;
  hx_text_init(&a);
  hx_text_init(&b);
  (void)hx_parser_fail_at(parser, operand->line, operand->column, HX_CODE_TYPE,
                          "%%%.*s has type %s, but %s is written here",
                          (int)(operand->name.size < 100 ? operand->name.size : 100), operand->name.data,
                          hx_ir_type_text(known, &a), hx_ir_type_text(written, &b));
  hx_text_deinit(&a);
  hx_text_deinit(&b);
}

static hx_status_t resolve_operands(hx_parser_t *parser, const hx_statement_t *statement, hx_ir_op_t *op) {
  const size_t written = statement->signature.input_count;
  if (written != statement->operand_count) {
    (void)hx_parser_fail(parser, &statement->name, HX_CODE_OPERANDS, "%.*s has %zu operands, but %zu operand types",
                         (int)statement->name.text.size, statement->name.text.data, statement->operand_count, written);
  }
  const size_t count = written < statement->operand_count ? written : statement->operand_count;
  op->operands = hx_arena_alloc(&parser->program->arena, count * sizeof(hx_ir_value_t *));
  if (op->operands == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < count; ++i) {
    const hx_operand_ref_t *operand = &parser->operands[statement->first_operand + i];
    const hx_type_t *type = parser->types[statement->signature.first + i];
    HX_TRY(hx_scope_use(parser, operand, type, &op->operands[i]));
    if (op->operands[i]->type != type) operand_type_fault(parser, operand, op->operands[i]->type, type);
  }
  op->operand_count = count;
  return HX_STATUS_OK;
}

static hx_status_t make_results(hx_parser_t *parser, const hx_statement_t *statement, hx_ir_op_t *op) {
  const size_t count = statement->signature.result_count;
  op->results = hx_arena_alloc(&parser->program->arena, count * sizeof(hx_ir_value_t *));
  hx_ir_value_t *values = hx_arena_alloc(&parser->program->arena, count * sizeof *values);
  if (op->results == NULL || values == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < count; ++i) {
    values[i] =
        (hx_ir_value_t){.type = parser->types[statement->signature.first + statement->signature.input_count + i],
                        .op = op,
                        .index = (uint32_t)i};
    op->results[i] = &values[i];
  }
  op->result_count = count;
  return HX_STATUS_OK;
}

static hx_status_t name_results(hx_parser_t *parser, const hx_statement_t *statement, hx_ir_op_t *op) {
  uint64_t named = 0;
  for (size_t i = 0; i < statement->result_count; ++i) named += parser->operands[statement->first_result + i].number;
  if (named != op->result_count && statement->result_count > 0) {
    (void)hx_parser_fail(parser, &statement->name, HX_CODE_OPERANDS, "%.*s gives %zu results, but %llu are named",
                         (int)statement->name.text.size, statement->name.text.data, op->result_count,
                         (unsigned long long)named);
  }
  size_t at = 0;
  for (size_t i = 0; i < statement->result_count; ++i) {
    const hx_operand_ref_t *name = &parser->operands[statement->first_result + i];
    const size_t left = op->result_count - at;
    const size_t count = name->number < left ? name->number : left;
    if (count == 0) break;
    HX_TRY(hx_scope_define(parser, name->name, name->line, name->column, op->results + at, count));
    at += count;
  }
  return HX_STATUS_OK;
}

static hx_status_t finish_op(hx_parser_t *parser, const hx_statement_t *statement, hx_ir_block_t *block) {
  hx_arena_t *arena = &parser->program->arena;
  hx_ir_op_t *op = hx_arena_alloc(arena, sizeof *op);
  if (op == NULL) return HX_STATUS_OUT_OF_MEMORY;
  op->info = statement->info;
  op->line = statement->name.line;
  op->column = statement->name.column;
  op->regions = hx_arena_alloc(arena, statement->region_count * sizeof(hx_ir_region_t *));
  if (op->regions == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < statement->region_count; ++i) {
    op->regions[i] = statement->regions[i];
    op->regions[i]->op = op;
  }
  op->region_count = statement->region_count;
  HX_TRY(hx_parser_take_named(parser, statement->first_named, &statement->name, &op->attrs));
  HX_TRY(resolve_operands(parser, statement, op));
  HX_TRY(make_results(parser, statement, op));
  HX_TRY(name_results(parser, statement, op));
  hx_ir_insert(block, NULL, op);
  parser->operand_count = statement->first_result;
  parser->type_count = statement->signature.first;
  return HX_STATUS_OK;
}

static hx_status_t parse_op(hx_parser_t *parser, hx_ir_block_t *block) {
  hx_statement_t statement = {0};
  HX_TRY(parse_results(parser, &statement));
  HX_TRY(parse_name(parser, &statement));
  HX_TRY(parse_operands(parser, &statement));
  HX_TRY(parse_middle(parser, &statement));
  HX_TRY(hx_parser_expect(parser, ':', "attributes, regions, or ':' and the operation's type"));
  HX_TRY(hx_parse_signature(parser, &statement.signature));
  HX_TRY(hx_parse_location(parser));
  return finish_op(parser, &statement, block);
}

// The operations of the text stand in the module that the program was made with, until it turns out that one of them is
// a module itself.
static hx_status_t parse_text(hx_parser_t *parser) {
  hx_ir_block_t *block = parser->program->module->regions[0]->block;
  hx_scope_mark_t mark;
  hx_scope_enter(&parser->scope, true, &mark);
  hx_parser_next(parser);
  while (parser->token.kind != HX_TOKEN_END) {
    if (parser->token.kind == HX_TOKEN_TYPE) {
      HX_TRY(hx_parse_type_alias(parser));
    } else if (parser->token.kind == HX_TOKEN_HASH) {
      HX_TRY(hx_parse_attribute_alias(parser));
    } else {
      HX_TRY(parse_op(parser, block));
    }
  }
  HX_TRY(hx_scope_leave(parser, &mark));
  if (block->first == NULL) return hx_parser_expected(parser, "a program");
  if (block->first != block->last || block->first->info->id != HX_OP_MODULE) return HX_STATUS_OK;
  hx_ir_op_t *module = block->first;
  hx_ir_remove(module);
  parser->program->module = module;
  return HX_STATUS_OK;
}

void hx_parser_deinit(hx_parser_t *parser) {
  hx_scope_deinit(&parser->scope);
  hx_names_deinit(&parser->type_texts);
  hx_names_deinit(&parser->type_aliases);
  hx_names_deinit(&parser->attribute_aliases);
  hx_free(parser->text_types);
  hx_free(parser->alias_types);
  hx_free(parser->alias_attributes);
  hx_free(parser->named);
  hx_free(parser->items);
  hx_free(parser->types);
  hx_free(parser->operands);
}

static hx_status_t parse_into(hx_program_t *program, hx_str_t text, hx_report_t *report) {
  hx_parser_t parser = {.program = program, .report = report};
  hx_scope_init(&parser.scope);
  hx_lexer_init(&parser.lexer, text);
  hx_status_t status = parse_text(&parser);
  if (status == HX_STATUS_OK) {
    // Faults of both kinds are wanted at once, so the verifier runs even where names were already at fault.
    status = hx_ir_verify(program, true, report);
    if (parser.first != HX_STATUS_OK) status = parser.first;
  }
  if (status == HX_STATUS_OK) status = hx_program_refresh(program, report);
  hx_parser_deinit(&parser);
  return status;
}

hx_status_t hx_program_parse(hx_str_t text, const char *source, hx_program_t **out, hx_report_t *report) {
  if (text.size > HX_IR_TEXT_MAX)
    return hx_report_fail_at(report, HX_CODE_LIMIT, source, 0, 0, "the text has %zu bytes; at most %zu are read",
                             text.size, HX_IR_TEXT_MAX);
  hx_program_t *program = NULL;
  hx_status_t status = hx_program_create(source, &program);
  if (status == HX_STATUS_OK) status = parse_into(program, text, report);
  if (status == HX_STATUS_OUT_OF_MEMORY)
    (void)hx_report_fail_at(report, HX_CODE_OUT_OF_MEMORY, source, 0, 0, "memory is exhausted while reading %zu bytes",
                            text.size);
  if (status == HX_STATUS_OK) {
    *out = program;
  } else {
    hx_program_release(program);
  }
  return status;
}
