// SPDX-License-Identifier: Apache-2.0
// Programs of one rank, made from a program of one process: shared by the files of `shard`.
//
// Two kinds spread values: every rank holds a part of a value, rows or items of a batch. An operation that works part
// by part is done on parts; what needs all of a value gathers it, and is then done on every rank alike. Which
// operations do which is read from the program alone, never from the rank, so that all ranks meet in the same
// collectives.
#ifndef HELIOX_CORE_PASSES_SHARD_H
#define HELIOX_CORE_PASSES_SHARD_H

#include "core/ops/parts.h"
#include "core/passes/passes.h"

// What stands for a value of the program.
typedef struct hx_shard_value {
  hx_ir_value_t *whole;  // on every rank alike; NULL until somebody asks for it
  hx_ir_value_t *part;   // this rank's; NULL where it has none
  bool is_spread;        // parts exist on some ranks
} hx_shard_value_t;

typedef struct hx_shard hx_shard_t;

// What a kind decides. All decisions but the part's own shape are the same on every rank.
typedef struct hx_shard_rules {
  const char *kind;
  // Whether values of this type are spread where a whole value is there already.
  bool (*spreads)(const hx_shard_t *shard, const hx_type_t *type);
  // This rank's part of a whole value, made in front of `before`; NULL: it has none.
  hx_ir_value_t *(*slice)(hx_shard_t *shard, hx_ir_op_t *before, hx_ir_value_t *whole);
  // All parts of a spread value, made in front of `before`: one collective.
  hx_ir_value_t *(*gather)(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *part);
  // Rewrites shard->op, whose operands are looked up with hx_shard_whole and hx_shard_part, and defines its results.
  // Returns NULL, or why it is left to every rank; nothing has been built then.
  const char *(*rewrite)(hx_shard_t *shard);
} hx_shard_rules_t;

struct hx_shard {
  hx_program_t *program;
  const hx_pass_env_t *env;
  const hx_shard_rules_t *rules;
  uint32_t rank, size;
  hx_ir_op_t *func;
  hx_ir_value_t *group;      // handle at the top of the function
  hx_ir_op_t *op;            // that is rewritten
  hx_shard_value_t *values;  // by id, of the values that the program had
  size_t value_count;
  hx_ir_op_t **dead;  // operations that others stand for; removed at the end of the function
  size_t dead_count, dead_capacity;
  size_t spread_ops, replicated_ops, collectives;
  hx_status_t status;  // of the first failure
};

// Options of the pass.
typedef struct hx_shard_options {
  hx_str_t kind;  // limbs, terms, batch
  uint32_t rank, size;
  hx_str_t group;
} hx_shard_options_t;

// ------------------------------------------------------------------ building

// An operation in front of `before`, at the place of shard->op in the source, with one result of this type; type NULL:
// inferred. NULL after a failure, and where an operand is NULL.
hx_ir_value_t *hx_shard_build(hx_shard_t *shard, hx_ir_op_t *before, hx_op_id_t id, hx_ir_value_t *const *operands,
                              size_t operand_count, const hx_named_attr_t *items, size_t item_count,
                              const hx_type_t *type);
// A collective: the group's handle is put in front of `value`, which may be NULL where this rank brings nothing.
hx_ir_value_t *hx_shard_collective(hx_shard_t *shard, hx_ir_op_t *before, hx_op_id_t id, hx_ir_value_t *value,
                                   const hx_named_attr_t *items, size_t item_count, const hx_type_t *type);
// A rank's rows of a set, and the type of a tensor of a value's shape on some rows.
hx_primes_t hx_shard_own_rows(const hx_shard_t *shard, const hx_primes_t *all, uint32_t rank);
void hx_shard_rows_type(const hx_shard_t *shard, const hx_type_t *type, const hx_primes_t *rows, hx_type_t *out);
// Rows of all ranks on every rank, as a value of this type. `part`: this rank's; NULL: it has none.
hx_ir_value_t *hx_shard_gather_rows(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *part);
// The sum of the parts of all ranks that contribute (by rank), on every rank. `part`: this rank's, NULL where it does
// not contribute. By one reduction, or, where that moves less, by rows: the owner of a row adds those of all
// contributors, and the sums are gathered (shard_sum.c).
hx_ir_value_t *hx_shard_sum(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *part,
                            const bool *contributes);
// A value of zeros, made in front of `before`: what a rank adds to a sum of which it has no term. Where the type has a
// batch, `like` is a value with the same batch, or with one more axis in front of it.
hx_ir_value_t *hx_shard_zero(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *like);
// An input or material with the batch of a type, or with one more axis in front of it; NULL: there is none.
hx_ir_value_t *hx_shard_find_like(const hx_shard_t *shard, const hx_type_t *type);
// Attributes of lists and numbers; lists lie in the program's arena.
hx_named_attr_t hx_shard_list(hx_shard_t *shard, const char *name, const int64_t *numbers, size_t count);
hx_named_attr_t hx_shard_ids(hx_shard_t *shard, const char *name, const hx_primes_t *primes);
hx_named_attr_t hx_shard_number(const char *name, int64_t number);
// The first failure is kept.
void hx_shard_fail(hx_shard_t *shard, hx_status_t status);
// A fault at shard->op that names it.
void hx_shard_refuse(hx_shard_t *shard, hx_code_t code, const char *format, ...) HX_PRINTF(3, 4);

// ------------------------------------------------------------------ values of the program

hx_shard_value_t *hx_shard_value(const hx_shard_t *shard, const hx_ir_value_t *value);
bool hx_shard_is_spread(const hx_shard_t *shard, const hx_ir_value_t *value);
// All of a value on every rank: gathered where its parts are defined, once.
hx_ir_value_t *hx_shard_whole(hx_shard_t *shard, hx_ir_value_t *value);
// This rank's part of a spread value; NULL where it has none.
hx_ir_value_t *hx_shard_part(const hx_shard_t *shard, const hx_ir_value_t *value);
// A result of shard->op is spread and this is the rank's part (or NULL), or it is the same on all ranks.
void hx_shard_define_part(hx_shard_t *shard, const hx_ir_value_t *value, hx_ir_value_t *part);
void hx_shard_define_whole(hx_shard_t *shard, const hx_ir_value_t *value, hx_ir_value_t *whole, hx_ir_op_t *before);

// ------------------------------------------------------------------ kinds

extern const hx_shard_rules_t hx_shard_limbs_rules, hx_shard_batch_rules;
// Rewrites every function by rules.
hx_status_t hx_shard_spread(hx_program_t *program, const hx_pass_env_t *env, const hx_shard_options_t *options,
                            const hx_shard_rules_t *rules, bool *out_changed);
hx_status_t hx_shard_terms(hx_program_t *program, const hx_pass_env_t *env, const hx_shard_options_t *options,
                           bool *out_changed);
// The group's handle at the top of a function: the reference that it has, or a new one.
hx_status_t hx_shard_find_group(hx_program_t *program, hx_ir_op_t *func, hx_str_t symbol, hx_ir_value_t **out);

// Rank that a row belongs to: rows of Q go round from rank 0 up, rows of P from the last rank down, so that at any
// depth no rank has two rows more than another.
static inline uint32_t hx_shard_row_owner(uint32_t id, uint32_t q_count, uint32_t size) {
  return id < q_count ? id % size : size - 1 - (id - q_count) % size;
}
// Items that a rank has of `count`, and the first of them: consecutive, no rank has two more than another.
static inline uint64_t hx_shard_share(uint64_t count, uint32_t rank, uint32_t size, uint64_t *out_first) {
  const uint64_t each = count / size, more = count % size;
  *out_first = rank * each + (rank < more ? rank : more);
  return each + (rank < more ? 1 : 0);
}

#endif
