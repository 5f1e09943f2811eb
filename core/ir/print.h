// SPDX-License-Identifier: Apache-2.0
// State of the printer, shared by its files: print.c (operations), print_attr.c, print_name.c (names and types).
#ifndef HELIOX_CORE_IR_PRINT_H
#define HELIOX_CORE_IR_PRINT_H

#include "core/ir/internal.h"

// How a value is written.
typedef struct hx_label {
  hx_str_t name;  // without %; empty for the later members of a pack
  uint32_t type;  // id of the type's text
} hx_label_t;

typedef struct hx_printer {
  hx_text_t *out;
  uint32_t flags;
  hx_status_t status;      // first failure other than out's own
  hx_arena_t arena;        // of texts made here
  hx_pointers_t type_ids;  // interned type to the id of its text
  hx_names_t type_names;   // texts of types
  uint32_t *type_uses;     // [type_names.count]
  size_t use_capacity;
  uint32_t *aliases;  // [alias_count] number of a text's alias, or HX_NONE; made by hx_print_aliases
  size_t alias_count;
  hx_pointers_t pinned;  // with HX_PRINT_SHORT: values whose types are written in full
  hx_names_t names;      // texts of names in use
  uint32_t *taken;       // [names.count] 1 if the name is visible here
  uint32_t *suffix;      // [names.count] number of the last name made from it
  size_t taken_capacity, suffix_capacity;
  uint32_t *open;  // stack of ids of names taken
  size_t open_count, open_capacity;
  hx_pointers_t label_ids;  // value to its place in labels
  hx_label_t *labels;
  size_t label_count, label_capacity;
  uint64_t next_number;  // of values without a name, in one function
} hx_printer_t;

void hx_printer_init(hx_printer_t *printer, uint32_t flags, hx_text_t *out);
void hx_printer_deinit(hx_printer_t *printer);
// Remembers the first failure.
void hx_printer_check(hx_printer_t *printer, hx_status_t status);

// Id of an interned type's text; 0 after a failure.
uint32_t hx_printer_type_id(hx_printer_t *printer, const hx_type_t *type);
void hx_print_type(hx_printer_t *printer, const hx_type_t *type);
// The type of a value as it was defined: in full, or what inference does not give back.
void hx_print_value_type(hx_printer_t *printer, const hx_ir_value_t *value);
// `!t0 = ...` for each long type that is used twice or more.
void hx_print_aliases(hx_printer_t *printer);

// Gives values their names and prints those. Results: `%a, %b = ` or `%a:2 = `.
void hx_print_results(hx_printer_t *printer, const hx_ir_op_t *op);
void hx_print_argument(hx_printer_t *printer, const hx_ir_value_t *argument);
// A use: %a or %a#1.
void hx_print_use(hx_printer_t *printer, const hx_ir_value_t *value);
// Forgets the names taken since open_count was `mark`.
void hx_printer_close(hx_printer_t *printer, size_t mark);

// (T, T)
void hx_print_types(hx_printer_t *printer, const hx_type_t *const *types, size_t count);
// nested: an element of a list, where MLIR leaves i64 and f64 out.
void hx_print_attribute(hx_printer_t *printer, const hx_attribute_t *attribute, bool nested);
// a = 1 : i64
void hx_print_named(hx_printer_t *printer, const hx_named_attr_t *item);
// {a = 1 : i64, b}
void hx_print_attrs(hx_printer_t *printer, hx_attrs_t attrs);

#endif
