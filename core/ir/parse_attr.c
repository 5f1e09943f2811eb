// SPDX-License-Identifier: Apache-2.0
// Attributes and locations.
#include <string.h>

#include "core/ir/number.h"
#include "core/ir/parser.h"

// Aliases in lists of aliases could stand for far more than the text holds, so what they stand for is counted.
static hx_status_t count_items(hx_parser_t *parser, size_t weight) {
  parser->item_weight += weight;  // each below HX_IR_ITEMS_MAX + 2^26: no overflow
  if (parser->item_weight <= HX_IR_ITEMS_MAX) return HX_STATUS_OK;
  return hx_parser_fail(parser, &parser->token, HX_CODE_LIMIT,
                        "more than %zu attribute values (64 bytes of a string count as one)", HX_IR_ITEMS_MAX);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// One escape after its backslash: the byte, or -1. Adds what it read to *at.
static int escape(hx_str_t raw, size_t *at) {
  const char c = *at < raw.size ? raw.data[*at] : '\0';
  if (*at + 1 < raw.size && hex_digit(c) >= 0 && hex_digit(raw.data[*at + 1]) >= 0) {
    const int byte = 16 * hex_digit(c) + hex_digit(raw.data[*at + 1]);
    *at += 2;
    return byte;
  }
  ++*at;
  return c == '"' || c == '\\' ? c : c == 'n' ? '\n' : c == 't' ? '\t' : -1;
}

hx_status_t hx_parser_unescape(hx_parser_t *parser, const hx_token_t *at, hx_str_t raw, hx_str_t *out) {
  char *text = hx_arena_alloc(&parser->program->arena, raw.size + 1);
  if (text == NULL) return HX_STATUS_OUT_OF_MEMORY;
  size_t size = 0;
  for (size_t i = 0; i < raw.size;) {
    if (raw.data[i] != '\\') {
      text[size++] = raw.data[i++];
      continue;
    }
    ++i;
    const int byte = escape(raw, &i);
    if (byte < 0)
      return hx_parser_fail(
          parser, at, HX_CODE_SYNTAX,
          "unknown escape in a string; \\\" \\\\ \\n \\t and \\XX (two hexadecimal digits) are known");
    if (byte == 0) return hx_parser_fail(parser, at, HX_CODE_SYNTAX, "NUL byte in a string");
    text[size++] = (char)byte;
  }
  *out = (hx_str_t){.data = text, .size = size};
  return HX_STATUS_OK;
}

// Magnitude of an integer token: decimal or 0x; false above 2^64 - 1.
static bool magnitude(hx_str_t text, bool *out_negative, bool *out_hex, uint64_t *out) {
  size_t i = 0;
  *out_negative = text.size > 0 && text.data[0] == '-';
  if (*out_negative) i = 1;
  *out_hex = text.size > i + 2 && text.data[i + 1] == 'x';
  const uint64_t base = *out_hex ? 16 : 10;
  uint64_t value = 0;
  for (i += *out_hex ? 2 : 0; i < text.size; ++i) {
    const uint64_t digit = (uint64_t)hex_digit(text.data[i]);
    if (value > (UINT64_MAX - digit) / base) return false;
    value = base * value + digit;
  }
  *out = value;
  return true;
}

// Puts an integer of a type into an attribute: bits beyond the width are a fault, signless ones are sign-extended as
// MLIR prints them; i1 is a bool.
static bool store_integer(bool negative, uint64_t value, const hx_type_t *type, hx_attribute_t *out) {
  const uint32_t bits = type != NULL && type->kind == HX_TYPE_INTEGER ? type->bits : 64;
  const bool is_index = type != NULL && type->kind == HX_TYPE_INDEX;
  const hx_signedness_t sign = type != NULL && type->kind == HX_TYPE_INTEGER ? type->signedness
                               : is_index                                    ? HX_SIGNED
                                                                             : HX_SIGNLESS;
  if (bits == 0 || bits > 64) return false;
  const uint64_t half = (uint64_t)1 << (bits - 1);  // 2^(bits-1)
  const uint64_t largest = sign == HX_SIGNED ? half - 1 : half + (half - 1);
  if (negative ? value != 0 && (sign == HX_UNSIGNED || value > half) : value > largest) return false;
  uint64_t word = negative ? 0 - value : value;
  if (sign == HX_SIGNLESS && bits < 64 && (word & half) != 0) word |= ~(half + (half - 1));
  out->kind = bits == 1 && sign == HX_SIGNLESS ? HX_ATTRIBUTE_BOOL : HX_ATTRIBUTE_INTEGER;
  out->boolean = out->kind == HX_ATTRIBUTE_BOOL && word != 0;
  out->integer = out->kind == HX_ATTRIBUTE_BOOL ? 0 : (int64_t)word;
  const bool is_i64 = bits == 64 && sign == HX_SIGNLESS && !is_index;
  out->type = out->kind == HX_ATTRIBUTE_BOOL || is_i64 ? NULL : type;
  return true;
}

static hx_status_t store_float(hx_parser_t *parser, const hx_token_t *number, const hx_type_t *type,
                               hx_attribute_t *out) {
  out->kind = HX_ATTRIBUTE_FLOAT;
  const int shown = (int)(number->text.size < 60 ? number->text.size : 60);
  if (type != NULL && type->kind != HX_TYPE_F64)
    return hx_parser_fail(parser, number, HX_CODE_ATTRIBUTE,
                          "%.*s is no number of the type given; numbers with a point are f64", shown,
                          number->text.data);
  if (number->kind == HX_TOKEN_FLOAT) {
    if (hx_number_parse(number->text, &out->number)) return HX_STATUS_OK;
    return hx_parser_fail(parser, number, HX_CODE_ATTRIBUTE,
                          "%.*s is beyond the range of f64, or has more than 1080 digits", shown, number->text.data);
  }
  bool negative, hex;
  uint64_t bits = 0;
  if (!magnitude(number->text, &negative, &hex, &bits) || !hex || negative)
    return hx_parser_fail(parser, number, HX_CODE_ATTRIBUTE,
                          "%.*s is no f64: write it with a point, or its 64 bits in hexadecimal", shown,
                          number->text.data);
  memcpy(&out->number, &bits, sizeof bits);
  return HX_STATUS_OK;
}

static hx_status_t parse_number(hx_parser_t *parser, hx_attribute_t *out) {
  const hx_token_t number = parser->token;
  hx_parser_next(parser);
  const hx_type_t *type = NULL;
  if (hx_parser_accept(parser, ':')) HX_TRY(hx_parse_type(parser, &type));
  if (number.kind == HX_TOKEN_FLOAT || (type != NULL && type->kind == HX_TYPE_F64))
    return store_float(parser, &number, type, out);
  if (type != NULL && type->kind != HX_TYPE_INTEGER && type->kind != HX_TYPE_INDEX)
    return hx_parser_fail(parser, &number, HX_CODE_ATTRIBUTE, "a number attribute has an integer type, index or f64");
  bool negative, hex;
  uint64_t value = 0;
  if (magnitude(number.text, &negative, &hex, &value) && store_integer(negative, value, type, out)) return HX_STATUS_OK;
  return hx_parser_fail(parser, &number, HX_CODE_ATTRIBUTE, "%.*s does not fit its type%s",
                        (int)(number.text.size < 60 ? number.text.size : 60), number.text.data,
                        type == NULL ? " (i64)" : "");
}

static hx_status_t parse_symbol(hx_parser_t *parser, hx_attribute_t *out) {
  const hx_token_t token = parser->token;
  out->kind = HX_ATTRIBUTE_SYMBOL;
  if (token.text.data[0] == '"') {
    const hx_str_t quoted = {.data = token.text.data + 1, .size = token.text.size - 2};
    if (quoted.size == 0) return hx_parser_fail(parser, &token, HX_CODE_SYNTAX, "the symbol has no name");
    HX_TRY(hx_parser_unescape(parser, &token, quoted, &out->text));
  } else {
    out->text = hx_arena_str(&parser->program->arena, token.text);
    if (out->text.data == NULL) return HX_STATUS_OUT_OF_MEMORY;
  }
  hx_parser_next(parser);
  if (hx_parser_is(parser, ':'))
    return hx_parser_fail(parser, &token, HX_CODE_UNSUPPORTED,
                          "nested symbols (@a::@b) are not read; all functions are in one module");
  return HX_STATUS_OK;
}

static hx_status_t parse_list(hx_parser_t *parser, hx_attribute_t *out) {
  HX_TRY(hx_parser_descend(parser, &parser->token));
  hx_parser_next(parser);
  const size_t first = parser->item_count;
  if (!hx_parser_accept(parser, ']')) {
    do {
      hx_attribute_t item = {0};
      HX_TRY(hx_parse_attribute(parser, &item));
      HX_TRY(hx_grow(&parser->items, &parser->item_capacity, parser->item_count + 1, sizeof item));
      parser->items[parser->item_count++] = item;
    } while (hx_parser_accept(parser, ','));
    HX_TRY(hx_parser_expect(parser, ']', "',' or ']' in a list"));
  }
  --parser->nesting;
  const size_t count = parser->item_count - first;
  hx_attribute_t *list = hx_arena_alloc(&parser->program->arena, count * sizeof *list);
  if (list == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (count > 0) memcpy(list, parser->items + first, count * sizeof *list);
  parser->item_count = first;
  *out = (hx_attribute_t){.kind = HX_ATTRIBUTE_LIST, .list = list, .count = count};
  return HX_STATUS_OK;
}

static hx_status_t parse_entry(hx_parser_t *parser) {
  hx_named_attr_t entry = {.value = {.kind = HX_ATTRIBUTE_UNIT}};
  const hx_token_t name = parser->token;
  if (name.kind == HX_TOKEN_STRING) {
    HX_TRY(hx_parser_unescape(parser, &name, name.text, &entry.name));
  } else if (name.kind == HX_TOKEN_WORD && name.text.data[name.text.size - 1] != '>') {
    entry.name = hx_arena_str(&parser->program->arena, name.text);
    if (entry.name.data == NULL) return HX_STATUS_OUT_OF_MEMORY;
  } else {
    return hx_parser_expected(parser, "the name of an attribute");
  }
  if (entry.name.size == 0) return hx_parser_fail(parser, &name, HX_CODE_SYNTAX, "the attribute has no name");
  hx_parser_next(parser);
  if (hx_parser_accept(parser, '=')) HX_TRY(hx_parse_attribute(parser, &entry.value));
  HX_TRY(hx_grow(&parser->named, &parser->named_capacity, parser->named_count + 1, sizeof entry));
  parser->named[parser->named_count++] = entry;
  return HX_STATUS_OK;
}

hx_status_t hx_parse_dict(hx_parser_t *parser) {
  HX_TRY(hx_parser_descend(parser, &parser->token));
  HX_TRY(hx_parser_expect(parser, '{', "'{' and attributes"));
  if (!hx_parser_accept(parser, '}')) {
    do {
      HX_TRY(parse_entry(parser));
    } while (hx_parser_accept(parser, ','));
    HX_TRY(hx_parser_expect(parser, '}', "',' or '}' in a list of attributes"));
  }
  --parser->nesting;
  return HX_STATUS_OK;
}

hx_status_t hx_parser_take_named(hx_parser_t *parser, size_t first, const hx_token_t *at, hx_attrs_t *out) {
  const size_t count = parser->named_count - first;
  hx_named_attr_t *items = hx_arena_alloc(&parser->program->arena, count * sizeof *items);
  if (items == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (count > 0) memcpy(items, parser->named + first, count * sizeof *items);
  parser->named_count = first;
  *out = (hx_attrs_t){.items = items, .count = count};
  if (hx_attrs_sort(items, count)) return HX_STATUS_OK;
  for (size_t i = 1; i < count; ++i) {
    if (!hx_str_equal(items[i - 1].name, items[i].name)) continue;
    return hx_parser_fail(parser, at, HX_CODE_ATTRIBUTE, "attribute %.*s is given twice",
                          (int)(items[i].name.size < 100 ? items[i].name.size : 100), items[i].name.data);
  }
  return HX_STATUS_OK;
}

// Kinds of MLIR that no operation of the catalogue has.
static bool is_foreign(hx_str_t name) {
  static const char *const names[] = {"dense",      "dense_resource", "sparse", "opaque",  "affine_map",
                                      "affine_set", "array",          "loc",    "strided", "distinct"};
  for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
    if (hx_str_equal(name, hx_str(names[i]))) return true;
  }
  return false;
}

static hx_status_t parse_word(hx_parser_t *parser, hx_attribute_t *out) {
  const bool is_true = hx_parser_is_word(parser, "true");
  if (is_true || hx_parser_is_word(parser, "false")) {
    *out = (hx_attribute_t){.kind = HX_ATTRIBUTE_BOOL, .boolean = is_true};
    hx_parser_next(parser);
    return HX_STATUS_OK;
  }
  if (hx_parser_is_word(parser, "unit")) {
    *out = (hx_attribute_t){.kind = HX_ATTRIBUTE_UNIT};
    hx_parser_next(parser);
    return HX_STATUS_OK;
  }
  hx_str_t name = parser->token.text;
  for (name.size = 0; name.size < parser->token.text.size && name.data[name.size] != '<';) ++name.size;
  if (is_foreign(name))
    return hx_parser_fail(parser, &parser->token, HX_CODE_UNSUPPORTED,
                          "attributes of kind %.*s are not read; known are numbers, strings, symbols, types, lists, "
                          "dictionaries, true, false and unit",
                          (int)name.size, name.data);
  out->kind = HX_ATTRIBUTE_TYPE;
  return hx_parse_type(parser, &out->type);
}

static hx_status_t parse_function_type(hx_parser_t *parser, hx_attribute_t *out) {
  hx_signature_t signature;
  HX_TRY(hx_parse_signature(parser, &signature));
  const size_t count = signature.input_count + signature.result_count;
  const hx_type_t **types = hx_arena_alloc(&parser->program->arena, count * sizeof *types);
  if (types == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < count; ++i) types[i] = parser->types[signature.first + i];
  parser->type_count = signature.first;
  *out = (hx_attribute_t){.kind = HX_ATTRIBUTE_TYPE,
                          .types = types,
                          .input_count = signature.input_count,
                          .result_count = signature.result_count};
  return HX_STATUS_OK;
}

static hx_status_t parse_hash(hx_parser_t *parser, hx_attribute_t *out) {
  const hx_str_t name = parser->token.text;
  const int shown = (int)(name.size < 100 ? name.size : 100);
  if (memchr(name.data, '.', name.size) != NULL || memchr(name.data, '<', name.size) != NULL)
    return hx_parser_fail(parser, &parser->token, HX_CODE_UNSUPPORTED,
                          "attribute #%.*s of a dialect is not read; Heliox' dialects have none", shown, name.data);
  const uint32_t id = hx_names_find(&parser->attribute_aliases, name);
  if (id == HX_NONE)
    return hx_parser_fail(parser, &parser->token, HX_CODE_SYNTAX,
                          "attribute alias #%.*s is not defined; aliases stand before their first use", shown,
                          name.data);
  *out = parser->alias_attributes[id].value;
  HX_TRY(count_items(parser, parser->alias_attributes[id].weight));
  const uint32_t depth = parser->nesting + parser->alias_attributes[id].depth;
  if (depth > HX_IR_NESTING_MAX)
    return hx_parser_fail(parser, &parser->token, HX_CODE_LIMIT, "attributes nest %u deep here, at most %d are read",
                          depth, HX_IR_NESTING_MAX);
  if (depth > parser->deepest) parser->deepest = depth;
  hx_parser_next(parser);
  return HX_STATUS_OK;
}

hx_status_t hx_parse_attribute(hx_parser_t *parser, hx_attribute_t *out) {
  HX_TRY(count_items(parser, 1 + parser->token.text.size / 64));
  switch (parser->token.kind) {
    case HX_TOKEN_INTEGER:
    case HX_TOKEN_FLOAT:
      return parse_number(parser, out);
    case HX_TOKEN_STRING:
      out->kind = HX_ATTRIBUTE_TEXT;
      HX_TRY(hx_parser_unescape(parser, &parser->token, parser->token.text, &out->text));
      hx_parser_next(parser);
      return HX_STATUS_OK;
    case HX_TOKEN_SYMBOL:
      return parse_symbol(parser, out);
    case HX_TOKEN_WORD:
      return parse_word(parser, out);
    case HX_TOKEN_TYPE:
      out->kind = HX_ATTRIBUTE_TYPE;
      return hx_parse_type(parser, &out->type);
    case HX_TOKEN_HASH:
      return parse_hash(parser, out);
    default:
      break;
  }
  if (hx_parser_is(parser, '(')) return parse_function_type(parser, out);
  if (hx_parser_is(parser, '[')) return parse_list(parser, out);
  if (!hx_parser_is(parser, '{')) return hx_parser_expected(parser, "an attribute value");
  const hx_token_t at = parser->token;
  const size_t first = parser->named_count;
  HX_TRY(hx_parse_dict(parser));
  hx_attrs_t dict;
  HX_TRY(hx_parser_take_named(parser, first, &at, &dict));
  *out = (hx_attribute_t){.kind = HX_ATTRIBUTE_DICT, .dict = dict.items, .count = dict.count};
  return HX_STATUS_OK;
}

// From '(' to behind the matching ')'.
static hx_status_t skip_parentheses(hx_parser_t *parser) {
  HX_TRY(hx_parser_expect(parser, '(', "'(' of a location"));
  for (size_t depth = 1; depth > 0; hx_parser_next(parser)) {
    if (parser->token.kind == HX_TOKEN_END || parser->token.kind == HX_TOKEN_ERROR)
      return hx_parser_expected(parser, "')' of a location");
    if (hx_parser_is(parser, '(')) ++depth;
    if (hx_parser_is(parser, ')')) --depth;
  }
  return HX_STATUS_OK;
}

hx_status_t hx_parse_location(hx_parser_t *parser) {
  if (!hx_parser_is_word(parser, "loc")) return HX_STATUS_OK;
  hx_parser_next(parser);
  return skip_parentheses(parser);
}

hx_status_t hx_parse_attribute_alias(hx_parser_t *parser) {
  const hx_token_t name = parser->token;
  hx_parser_next(parser);
  HX_TRY(hx_parser_expect(parser, '=', "'=' after the alias name"));
  if (hx_parser_is_word(parser, "loc")) return hx_parse_location(parser);
  hx_alias_t alias = {0};
  const size_t before = parser->item_weight;
  parser->deepest = 0;
  HX_TRY(hx_parse_attribute(parser, &alias.value));
  alias.weight = parser->item_weight - before;
  alias.depth = parser->deepest;
  const int shown = (int)(name.text.size < 100 ? name.text.size : 100);
  if (hx_names_find(&parser->attribute_aliases, name.text) != HX_NONE)
    return hx_parser_fail(parser, &name, HX_CODE_SYNTAX, "attribute alias #%.*s is defined twice", shown,
                          name.text.data);
  uint32_t id;
  HX_TRY(hx_names_add(&parser->attribute_aliases, name.text, &id));
  HX_TRY(hx_grow(&parser->alias_attributes, &parser->alias_attribute_capacity, parser->attribute_aliases.count,
                 sizeof alias));
  parser->alias_attributes[id] = alias;
  return HX_STATUS_OK;
}
