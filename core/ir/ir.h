// SPDX-License-Identifier: Apache-2.0
// Programs: SSA operations with regions of one block each. All memory of a program lies in its arena; types are
// interned, so equal types are equal pointers within one program. Passes edit clones through the functions below.
#ifndef HELIOX_CORE_IR_IR_H
#define HELIOX_CORE_IR_IR_H

#include <stdatomic.h>

#include "core/base/text.h"
#include "core/ir/table.h"
#include "core/ops/ops.h"
#include "heliox/program.h"

typedef struct hx_ir_op hx_ir_op_t;
typedef struct hx_ir_block hx_ir_block_t;
typedef struct hx_ir_region hx_ir_region_t;

typedef struct hx_ir_value {
  const hx_type_t *type;  // interned
  hx_ir_op_t *op;         // defining operation; NULL for a block argument
  hx_ir_block_t *block;   // of the argument; NULL for a result
  uint32_t index;         // of the result or argument
  uint32_t id;            // scratch number for passes; meaningless between them
  hx_str_t name;          // without %, from the text; empty: numbered when printed
} hx_ir_value_t;

struct hx_ir_op {
  const hx_op_info_t *info;
  hx_ir_value_t **operands;
  size_t operand_count;
  hx_ir_value_t **results;
  size_t result_count;
  hx_attrs_t attrs;
  hx_ir_region_t **regions;
  size_t region_count;
  hx_ir_block_t *block;  // NULL for the module
  hx_ir_op_t *previous, *next;
  uint32_t line, column;  // in the source text; 0 where made by a pass
  uint32_t id;            // scratch number for passes; meaningless between them
};

struct hx_ir_block {
  hx_ir_region_t *region;
  hx_ir_value_t **arguments;
  size_t argument_count;
  hx_ir_op_t *first, *last;
};

struct hx_ir_region {
  hx_ir_op_t *op;  // owner
  hx_ir_block_t *block;
};

struct hx_program {
  atomic_uint refs;
  hx_arena_t arena;
  hx_ir_op_t *module;  // builtin.module
  char *source;        // name for faults
  struct hx_type_table *types;
  hx_port_t *inputs, *outputs;  // of @main, filled by hx_program_refresh
  size_t input_count, output_count;
};

// An empty module with heliox.version.
hx_status_t hx_program_create(const char *source, hx_program_t **out);
// A deep copy with its own arena. Names, places and attributes are kept.
hx_status_t hx_program_clone(const hx_program_t *program, hx_program_t **out);
// Recomputes ports after edits of @main's signature.
hx_status_t hx_program_refresh(hx_program_t *program, hx_report_t *report);
// func.func named @name, or NULL; its one block.
hx_ir_op_t *hx_program_find(const hx_program_t *program, const char *name);
hx_ir_block_t *hx_func_block(const hx_ir_op_t *func);
hx_ir_op_t *hx_func_return(const hx_ir_op_t *func);
// Makes function_type follow the block's arguments and the return's operands, after edits of either.
hx_status_t hx_func_refresh_type(hx_program_t *program, hx_ir_op_t *func);

// Interned type; NULL on exhaustion.
const hx_type_t *hx_program_type(hx_program_t *program, const hx_type_t *type);
// Deep copies into the arena, sorted by name. INVALID: two items of one name.
hx_status_t hx_program_attrs(hx_program_t *program, const hx_named_attr_t *items, size_t count, hx_attrs_t *out);
// The same from text: "{step = 3 : i64}". Faults have line and column in it.
hx_status_t hx_program_parse_attrs(hx_program_t *program, hx_str_t text, hx_attrs_t *out, hx_report_t *report);
// Sets or replaces one attribute of an operation.
hx_status_t hx_ir_set_attr(hx_program_t *program, hx_ir_op_t *op, const char *name, const hx_attribute_t *value);

// A detached operation with results of the given types (interned here). attrs is kept, not copied: it comes from
// hx_program_attrs or from an operation of the same program. regions: empty regions with one block each.
hx_status_t hx_ir_create(hx_program_t *program, hx_op_id_t id, hx_ir_value_t *const *operands, size_t operand_count,
                         const hx_type_t *result_types, size_t result_count, hx_attrs_t attrs, size_t region_count,
                         hx_ir_op_t **out);
// Creates with inferred result types and inserts before `before` (NULL: at the end of block). attrs as above. ring may
// be NULL. Not for operations whose result types are only written (material.ref, func.call): hx_ir_create takes them.
hx_status_t hx_ir_build(hx_program_t *program, hx_ir_block_t *block, hx_ir_op_t *before, hx_op_id_t id,
                        hx_ir_value_t *const *operands, size_t operand_count, hx_attrs_t attrs, size_t result_count,
                        const hx_ring *ring, hx_report_t *report, hx_ir_op_t **out);
void hx_ir_insert(hx_ir_block_t *block, hx_ir_op_t *before, hx_ir_op_t *op);
void hx_ir_remove(hx_ir_op_t *op);  // detaches; its results must have no uses left
hx_status_t hx_ir_add_argument(hx_program_t *program, hx_ir_block_t *block, const hx_type_t *type, hx_ir_value_t **out);
hx_status_t hx_ir_set_operands(hx_program_t *program, hx_ir_op_t *op, hx_ir_value_t *const *operands, size_t count);
void hx_ir_set_type(hx_program_t *program, hx_ir_value_t *value, const hx_type_t *interned);
// Replaces every use of `from` in the program by `to`.
void hx_ir_replace_uses(hx_program_t *program, hx_ir_value_t *from, hx_ir_value_t *to);

// Calls visit on every operation below root and root itself, in order (parents before their regions). Stops at a status
// other than OK and returns it. The callback may remove the visited operation (its regions are not visited then) and
// insert before it.
hx_status_t hx_ir_walk(hx_ir_op_t *root, hx_status_t (*visit)(hx_ir_op_t *op, void *argument), void *argument);
// The same with regions before the operation that holds them. The callback may remove the visited operation, with all
// that is in it, and insert before it.
hx_status_t hx_ir_walk_post(hx_ir_op_t *root, hx_status_t (*visit)(hx_ir_op_t *op, void *argument), void *argument);
// Operations below root and root itself.
size_t hx_ir_count(const hx_ir_op_t *root);
// Numbers all values of a function 0.. in order (value->id); returns the count.
size_t hx_ir_number(hx_ir_op_t *root);
// Numbers all operations below root and root itself 0.. in order, parents before their regions (op->id); returns the
// count. In one block, a smaller number stands earlier.
size_t hx_ir_number_ops(hx_ir_op_t *root);

// ------------------------------------------------------------------ regions (edit.c)

// Values and what stands for them in a copy. A value that is not in it stands for itself.
typedef struct hx_ir_map {
  hx_pointers_t numbers;
  hx_ir_value_t **values;
  size_t count, capacity;
} hx_ir_map_t;
void hx_ir_map_init(hx_ir_map_t *map);
void hx_ir_map_deinit(hx_ir_map_t *map);
hx_status_t hx_ir_map_set(hx_ir_map_t *map, const hx_ir_value_t *from, hx_ir_value_t *to);
hx_ir_value_t *hx_ir_map_get(const hx_ir_map_t *map, hx_ir_value_t *value);

// A detached deep copy of an operation, regions included, within its own program. Operands go through the map; results
// and arguments of regions are added to it. Names and places in the text are kept.
hx_status_t hx_ir_copy_op(hx_program_t *program, const hx_ir_op_t *op, hx_ir_map_t *map, hx_ir_op_t **out);
// Copies `first` and the operations after it in its block, up to but not including `end` (NULL: all), in front of
// `before` (NULL: at the end of block).
hx_status_t hx_ir_copy_range(hx_program_t *program, const hx_ir_op_t *first, const hx_ir_op_t *end, hx_ir_map_t *map,
                             hx_ir_block_t *block, hx_ir_op_t *before);
// A detached copy of an operation of another program, regions included, with all that it needs. Operands are in the
// map. Places in the text are not kept.
hx_status_t hx_ir_import_op(hx_program_t *program, const hx_ir_op_t *op, hx_ir_map_t *map, hx_ir_op_t **out);
// Replaces every use below root (root included).
void hx_ir_replace_uses_in(hx_ir_op_t *root, hx_ir_value_t *from, hx_ir_value_t *to);
// Uses below root (root included).
size_t hx_ir_count_uses(hx_ir_op_t *root, const hx_ir_value_t *value);
// Block in which a value is defined: of its operation, or that it is an argument of.
hx_ir_block_t *hx_ir_home(const hx_ir_value_t *value);
// The operation of `block` that is `op` or holds it in its regions; NULL where there is none.
hx_ir_op_t *hx_ir_ancestor_in(const hx_ir_op_t *op, const hx_ir_block_t *block);
// True if `op` is `root` or lies in its regions.
bool hx_ir_is_inside(const hx_ir_op_t *op, const hx_ir_op_t *root);
// Dominance: true if operands of `op` may refer to the value. Operations are numbered (hx_ir_number_ops).
bool hx_ir_is_visible(const hx_ir_value_t *value, const hx_ir_op_t *op);
// True if operations of the block see no values from outside.
bool hx_ir_is_isolated(const hx_op_info_t *info);

// Calls visit for every pair through which a value flows into, out of or around the regions of scf.if, scf.for and
// scf.while: operand to argument, terminator's operand to argument or result, lower bound to counter. Nothing for other
// operations. Stops at a status other than OK and returns it. The operation has passed hx_program_verify.
hx_status_t hx_ir_flows(const hx_ir_op_t *op,
                        hx_status_t (*visit)(hx_ir_value_t *from, hx_ir_value_t *to, void *argument), void *argument);

// Full check: structure, SSA and dominance, rows of the catalogue, symbols, terminators. Adds every fault.
hx_status_t hx_program_verify(const hx_program_t *program, hx_report_t *report);
// Forward inference over all functions: checks written types against inferred ones and fills unknown parts.
// ring NULL: what depends on parameters stays unknown. All faults are added. The program has passed hx_program_verify.
hx_status_t hx_program_infer(hx_program_t *program, const hx_ring *ring, hx_report_t *report);
// Printing into a buffer; flags of heliox/program.h.
hx_status_t hx_ir_print(const hx_program_t *program, uint32_t flags, hx_text_t *out);

#endif
