// SPDX-License-Identifier: Apache-2.0
// Attributes from a text of their own: "{step = 3 : i64}".
#include "core/ir/parser.h"

static hx_status_t parse(hx_parser_t *parser, hx_attrs_t *out) {
  hx_parser_next(parser);
  const hx_token_t start = parser->token;
  const size_t first = parser->named_count;
  if (!hx_parser_is(parser, '{')) return hx_parser_expected(parser, "attributes in braces");
  HX_TRY(hx_parse_dict(parser));
  HX_TRY(hx_parser_take_named(parser, first, &start, out));
  if (parser->token.kind != HX_TOKEN_END) return hx_parser_expected(parser, "the end of the attributes");
  return parser->first;
}

hx_status_t hx_program_parse_attrs(hx_program_t *program, hx_str_t text, hx_attrs_t *out, hx_report_t *report) {
  if (text.size > HX_IR_TEXT_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "the attributes have %zu bytes; at most %zu are read", text.size,
                          HX_IR_TEXT_MAX);
  hx_parser_t parser = {.program = program, .report = report};
  hx_scope_init(&parser.scope);
  hx_lexer_init(&parser.lexer, text);
  const hx_status_t status = parse(&parser, out);
  hx_parser_deinit(&parser);
  return status;
}
