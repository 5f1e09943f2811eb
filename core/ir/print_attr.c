// SPDX-License-Identifier: Apache-2.0
// Attributes and names as text.
#include <string.h>

#include "core/ir/number.h"
#include "core/ir/print.h"

const char *hx_ir_type_text(const hx_type_t *type, hx_text_t *text) {
  hx_text_clear(text);
  if (hx_type_print_short(type, text) != HX_STATUS_OK || text->failed || text->data == NULL) return "?";
  return text->data;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_plain(hx_str_t name, const char *more) {
  if (name.size == 0 || !is_letter(name.data[0])) return false;
  for (size_t i = 1; i < name.size; ++i) {
    const char c = name.data[i];
    if (!is_letter(c) && !(c >= '0' && c <= '9') && (c == '\0' || strchr(more, c) == NULL)) return false;
  }
  return true;
}

static void print_quoted(hx_text_t *out, hx_str_t text) {
  hx_text_puts(out, "\"");
  size_t start = 0;
  for (size_t i = 0; i < text.size; ++i) {
    const unsigned char c = (unsigned char)text.data[i];
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') continue;
    hx_text_append(out, (hx_str_t){.data = text.data + start, .size = i - start});
    if (c == '\\') {
      hx_text_puts(out, "\\\\");
    } else {
      hx_text_printf(out, "\\%02X", c);
    }
    start = i + 1;
  }
  hx_text_append(out, (hx_str_t){.data = text.data + start, .size = text.size - start});
  hx_text_puts(out, "\"");
}

void hx_print_types(hx_printer_t *printer, const hx_type_t *const *types, size_t count) {
  hx_text_puts(printer->out, "(");
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) hx_text_puts(printer->out, ", ");
    hx_print_type(printer, types[i]);
  }
  hx_text_puts(printer->out, ")");
}

static void print_integer(hx_printer_t *printer, const hx_attribute_t *attribute, bool nested) {
  const hx_type_t *type = attribute->type;
  if (type != NULL && type->kind == HX_TYPE_INTEGER && type->signedness == HX_UNSIGNED) {
    hx_text_printf(printer->out, "%llu", (unsigned long long)(uint64_t)attribute->integer);
  } else {
    hx_text_printf(printer->out, "%lld", (long long)attribute->integer);
  }
  if (type != NULL) {
    hx_text_puts(printer->out, " : ");
    hx_print_type(printer, type);
  } else if (!nested) {
    hx_text_puts(printer->out, " : i64");
  }
}

static void print_float(hx_printer_t *printer, const hx_attribute_t *attribute, bool nested) {
  char text[HX_NUMBER_TEXT_MAX];
  hx_number_print(attribute->number, text);
  hx_text_puts(printer->out, text);
  // Hexadecimal bits are an integer without their type.
  if (!nested || strncmp(text, "0x", 2) == 0) hx_text_puts(printer->out, " : f64");
}

static void print_type_attribute(hx_printer_t *printer, const hx_attribute_t *attribute) {
  if (attribute->type != NULL) {
    hx_print_type(printer, attribute->type);
    return;
  }
  hx_print_types(printer, attribute->types, attribute->input_count);
  hx_text_puts(printer->out, " -> ");
  const hx_type_t *const *results = attribute->types + attribute->input_count;
  if (attribute->result_count == 1) {
    hx_print_type(printer, results[0]);
  } else {
    hx_print_types(printer, results, attribute->result_count);
  }
}

void hx_print_attribute(hx_printer_t *printer, const hx_attribute_t *attribute, bool nested) {
  hx_text_t *out = printer->out;
  switch (attribute->kind) {
    case HX_ATTRIBUTE_UNIT:
      hx_text_puts(out, "unit");
      break;
    case HX_ATTRIBUTE_BOOL:
      hx_text_puts(out, attribute->boolean ? "true" : "false");
      break;
    case HX_ATTRIBUTE_INTEGER:
      print_integer(printer, attribute, nested);
      break;
    case HX_ATTRIBUTE_FLOAT:
      print_float(printer, attribute, nested);
      break;
    case HX_ATTRIBUTE_TEXT:
      print_quoted(out, attribute->text);
      break;
    case HX_ATTRIBUTE_SYMBOL:
      hx_text_puts(out, "@");
      if (is_plain(attribute->text, "$.")) {
        hx_text_append(out, attribute->text);
      } else {
        print_quoted(out, attribute->text);
      }
      break;
    case HX_ATTRIBUTE_TYPE:
      print_type_attribute(printer, attribute);
      break;
    case HX_ATTRIBUTE_LIST:
      hx_text_puts(out, "[");
      for (size_t i = 0; i < attribute->count; ++i) {
        if (i > 0) hx_text_puts(out, ", ");
        hx_print_attribute(printer, &attribute->list[i], true);
      }
      hx_text_puts(out, "]");
      break;
    case HX_ATTRIBUTE_DICT:
      hx_print_attrs(printer, (hx_attrs_t){.items = attribute->dict, .count = attribute->count});
      break;
  }
}

void hx_print_named(hx_printer_t *printer, const hx_named_attr_t *item) {
  if (is_plain(item->name, "$.")) {
    hx_text_append(printer->out, item->name);
  } else {
    print_quoted(printer->out, item->name);
  }
  if (item->value.kind == HX_ATTRIBUTE_UNIT) return;
  hx_text_puts(printer->out, " = ");
  hx_print_attribute(printer, &item->value, false);
}

void hx_print_attrs(hx_printer_t *printer, hx_attrs_t attrs) {
  hx_text_puts(printer->out, "{");
  for (size_t i = 0; i < attrs.count; ++i) {
    if (i > 0) hx_text_puts(printer->out, ", ");
    hx_print_named(printer, &attrs.items[i]);
  }
  hx_text_puts(printer->out, "}");
}
