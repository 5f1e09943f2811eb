// SPDX-License-Identifier: Apache-2.0
// Types: aliases, the spellings of several MLIR versions, signatures. The types themselves are read by
// hx_type_parse; each text is read once.
#include <string.h>

#include "core/ir/parser.h"

static hx_status_t read_type(hx_parser_t *parser, hx_str_t text, const hx_type_t **out) {
  hx_type_t type;
  const hx_place_t place = {
      .source = parser->program->source, .line = parser->token.line, .column = parser->token.column};
  const hx_status_t status = hx_type_parse_at(text, NULL, place, &type, parser->report);
  if (status != HX_STATUS_OK) {
    if (parser->first == HX_STATUS_OK) parser->first = status;
    return status;
  }
  *out = hx_program_type(parser->program, &type);
  if (*out == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (hx_program_type_count(parser->program) <= HX_IR_TYPES_MAX) return HX_STATUS_OK;
  return hx_parser_fail(parser, &parser->token, HX_CODE_LIMIT, "more than %zu different types", HX_IR_TYPES_MAX);
}

// text lives as long as the parser's text or the program's arena.
static hx_status_t cached_type(hx_parser_t *parser, hx_str_t text, const hx_type_t **out) {
  uint32_t id = hx_names_find(&parser->type_texts, text);
  if (id == HX_NONE) {
    const hx_type_t *type = NULL;
    HX_TRY(read_type(parser, text, &type));
    HX_TRY(hx_names_add(&parser->type_texts, text, &id));
    HX_TRY(hx_grow(&parser->text_types, &parser->text_type_capacity, parser->type_texts.count, sizeof(hx_type_t *)));
    parser->text_types[id] = type;
  }
  *out = parser->text_types[id];
  return HX_STATUS_OK;
}

// !ckks<"ciphertext<...>"> and !ckks<ciphertext<...>> mean !ckks.ciphertext<...>.
static hx_status_t dialect_type(hx_parser_t *parser, hx_str_t text, size_t dialect_size, const hx_type_t **out) {
  hx_str_t body = {.data = text.data + dialect_size + 1, .size = text.size - dialect_size - 2};
  if (body.size >= 2 && body.data[0] == '"' && body.data[body.size - 1] == '"') {
    const hx_str_t quoted = {.data = body.data + 1, .size = body.size - 2};
    HX_TRY(hx_parser_unescape(parser, &parser->token, quoted, &body));
  }
  char *whole = hx_arena_alloc(&parser->program->arena, dialect_size + body.size + 3);
  if (whole == NULL) return HX_STATUS_OUT_OF_MEMORY;
  whole[0] = '!';
  memcpy(whole + 1, text.data, dialect_size);
  whole[dialect_size + 1] = '.';
  if (body.size > 0) memcpy(whole + dialect_size + 2, body.data, body.size);
  return cached_type(parser, (hx_str_t){.data = whole, .size = dialect_size + body.size + 2}, out);
}

static hx_status_t aliased_type(hx_parser_t *parser, hx_str_t name, const hx_type_t **out) {
  const uint32_t id = hx_names_find(&parser->type_aliases, name);
  if (id == HX_NONE)
    return hx_parser_fail(
        parser, &parser->token, HX_CODE_TYPE,
        "type alias !%.*s is not defined; aliases stand before their first use, a dialect type has a dot",
        (int)(name.size < 100 ? name.size : 100), name.data);
  *out = parser->alias_types[id];
  return HX_STATUS_OK;
}

hx_status_t hx_parse_type(hx_parser_t *parser, const hx_type_t **out) {
  const hx_str_t text = parser->token.text;
  if (parser->token.kind == HX_TOKEN_WORD) {
    HX_TRY(cached_type(parser, text, out));
  } else if (parser->token.kind == HX_TOKEN_TYPE) {
    size_t name_size = 0;
    while (name_size < text.size && text.data[name_size] != '.' && text.data[name_size] != '<') ++name_size;
    if (name_size == text.size) {
      HX_TRY(aliased_type(parser, text, out));
    } else if (text.data[name_size] == '.') {
      // The sign stands right before the token's text.
      HX_TRY(cached_type(parser, (hx_str_t){.data = text.data - 1, .size = text.size + 1}, out));
    } else {
      HX_TRY(dialect_type(parser, text, name_size, out));
    }
  } else {
    return hx_parser_expected(parser, "a type");
  }
  hx_parser_next(parser);
  return HX_STATUS_OK;
}

static hx_status_t push_type(hx_parser_t *parser) {
  const hx_type_t *type = NULL;
  HX_TRY(hx_parse_type(parser, &type));
  HX_TRY(hx_grow(&parser->types, &parser->type_capacity, parser->type_count + 1, sizeof(hx_type_t *)));
  parser->types[parser->type_count++] = type;
  return HX_STATUS_OK;
}

// The list after its opening parenthesis, closing one included.
static hx_status_t type_list(hx_parser_t *parser, size_t *out_count) {
  const size_t first = parser->type_count;
  if (!hx_parser_accept(parser, ')')) {
    do {
      HX_TRY(push_type(parser));
    } while (hx_parser_accept(parser, ','));
    HX_TRY(hx_parser_expect(parser, ')', "',' or ')' in a list of types"));
  }
  *out_count = parser->type_count - first;
  return HX_STATUS_OK;
}

hx_status_t hx_parse_signature(hx_parser_t *parser, hx_signature_t *out) {
  out->first = parser->type_count;
  HX_TRY(hx_parser_expect(parser, '(', "'(' and the operands' types"));
  HX_TRY(type_list(parser, &out->input_count));
  if (parser->token.kind != HX_TOKEN_ARROW) return hx_parser_expected(parser, "'->' and the results' types");
  hx_parser_next(parser);
  if (hx_parser_accept(parser, '(')) return type_list(parser, &out->result_count);
  out->result_count = 1;
  return push_type(parser);
}

hx_status_t hx_parse_type_alias(hx_parser_t *parser) {
  const hx_token_t name = parser->token;
  for (size_t i = 0; i < name.text.size; ++i) {
    if (name.text.data[i] == '.' || name.text.data[i] == '<')
      return hx_parser_expected(parser, "an operation or a plain alias name");
  }
  hx_parser_next(parser);
  HX_TRY(hx_parser_expect(parser, '=', "'=' after the alias name"));
  if (hx_parser_is_word(parser, "type")) hx_parser_next(parser);  // MLIR up to 14 writes it
  const hx_type_t *type = NULL;
  HX_TRY(hx_parse_type(parser, &type));
  if (hx_names_find(&parser->type_aliases, name.text) != HX_NONE)
    return hx_parser_fail(parser, &name, HX_CODE_SYNTAX, "type alias !%.*s is defined twice",
                          (int)(name.text.size < 100 ? name.text.size : 100), name.text.data);
  uint32_t id;
  HX_TRY(hx_names_add(&parser->type_aliases, name.text, &id));
  HX_TRY(hx_grow(&parser->alias_types, &parser->alias_type_capacity, parser->type_aliases.count, sizeof(hx_type_t *)));
  parser->alias_types[id] = type;
  return HX_STATUS_OK;
}
