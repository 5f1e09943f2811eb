// SPDX-License-Identifier: Apache-2.0
// Programs: SSA operations with regions of one block each. All memory of a program lies in its arena; types are
// interned, so equal types are equal pointers within one program. Passes edit clones through the functions below.
#ifndef HELIOX_CORE_IR_IR_H
#define HELIOX_CORE_IR_IR_H

#include <stdatomic.h>

#include "core/base/text.h"
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

// Interned type; NULL on exhaustion.
const hx_type_t *hx_program_type(hx_program_t *program, const hx_type_t *type);
// Deep copies into the arena, sorted by name. INVALID: two items of one name.
hx_status_t hx_program_attrs(hx_program_t *program, const hx_named_attr_t *items, size_t count, hx_attrs_t *out);
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
// Numbers all values of a function 0.. in order (value->id); returns the count.
size_t hx_ir_number(hx_ir_op_t *root);

// Full check: structure, SSA and dominance, rows of the catalogue, symbols, terminators. Adds every fault.
hx_status_t hx_program_verify(const hx_program_t *program, hx_report_t *report);
// Forward inference over all functions: checks written types against inferred ones and fills unknown parts.
// ring NULL: what depends on parameters stays unknown. All faults are added. The program has passed hx_program_verify.
hx_status_t hx_program_infer(hx_program_t *program, const hx_ring *ring, hx_report_t *report);
// Printing into a buffer; flags of heliox/program.h.
hx_status_t hx_ir_print(const hx_program_t *program, uint32_t flags, hx_text_t *out);

#endif
