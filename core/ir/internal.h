// SPDX-License-Identifier: Apache-2.0
// What the files of core/ir share among themselves.
#ifndef HELIOX_CORE_IR_INTERNAL_H
#define HELIOX_CORE_IR_INTERNAL_H

#include "core/ir/ir.h"
#include "core/ir/table.h"

#define HX_IR_TEXT_MAX ((size_t)64 << 20)   // bytes of a program's text
#define HX_IR_NESTING_MAX 64                // regions in regions, attributes in attributes, calls in calls
#define HX_IR_OPS_MAX ((size_t)4 << 20)     // operations of a program
#define HX_IR_ITEMS_MAX ((size_t)4 << 20)   // attribute values of a text, what aliases stand for included
#define HX_IR_TYPES_MAX ((size_t)64 << 10)  // distinct types of a text: each takes 2.4 KiB, so 160 MiB in all
#define HX_IR_VERSION 1                     // heliox.version that this build reads and writes

struct hx_type_table *hx_type_table_create(void);
void hx_type_table_release(struct hx_type_table *table);
// Distinct types so far.
size_t hx_program_type_count(const hx_program_t *program);
// Copies all that an attribute points to into the program's arena.
hx_status_t hx_attribute_adopt(hx_program_t *program, hx_attribute_t *attribute);
// Sorts by name; false if two items have one name.
bool hx_attrs_sort(hx_named_attr_t *items, size_t count);
// A region with one empty block, not yet in op->regions.
hx_status_t hx_ir_create_region(hx_program_t *program, hx_ir_op_t *op, hx_ir_region_t **out);
// hx_program_verify; undefined_is_told: values without a definition have been reported already.
hx_status_t hx_ir_verify(const hx_program_t *program, bool undefined_is_told, hx_report_t *report);
// True if the two can be types of one value: one kind, and no part known to be different in both.
bool hx_ir_types_agree(const hx_type_t *a, const hx_type_t *b, const char **out_part);
// Text of a type for a message, kept in `text` (cleared first); "?" where memory ran out.
const char *hx_ir_type_text(const hx_type_t *type, hx_text_t *text);

#endif
