// SPDX-License-Identifier: Apache-2.0
// Rewriting one operation into others: shared by the files of `lower`. Emitters put an operation in front of the one
// that is rewritten and infer its result. After a failure they do nothing and return NULL; `status` has the first one.
#ifndef HELIOX_CORE_PASSES_LOWER_H
#define HELIOX_CORE_PASSES_LOWER_H

#include "core/passes/passes.h"

typedef struct hx_lowering {
  hx_program_t *program;
  const hx_ring *ring;
  hx_report_t *report;
  hx_ir_op_t *op;      // being rewritten; its operand and result types are complete
  hx_ir_op_t *first;   // first operation emitted for it
  hx_status_t status;  // of the first failure
  // Sums of rotations over Q and P are one rank's share: gives the sum of all ranks, over Q and P, of `raised` (two
  // components over Q and P), P * first on the first component and P * both (on Q). Any of them may be NULL. Where
  // `across` is NULL sums are complete.
  hx_ir_value_t *(*across)(struct hx_lowering *lowering, hx_ir_value_t *raised, hx_ir_value_t *first,
                           hx_ir_value_t *both);
  void *across_argument;
} hx_lowering_t;

hx_ir_value_t *hx_lower_emit(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *const *operands,
                             size_t operand_count, const hx_named_attr_t *items, size_t item_count);
hx_ir_value_t *hx_lower_unary(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *a);
hx_ir_value_t *hx_lower_binary(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *a, hx_ir_value_t *b);
// With one integer attribute.
hx_ir_value_t *hx_lower_with(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *a, const char *name, int64_t value);
// Components first .. first+count-1; the value itself where those are all.
hx_ir_value_t *hx_lower_components(hx_lowering_t *lowering, hx_ir_value_t *a, uint32_t first, uint32_t count);
// Some rows; the value itself where those are all.
hx_ir_value_t *hx_lower_limbs(hx_lowering_t *lowering, hx_ir_value_t *a, const hx_primes_t *primes);
// The value in a domain (HX_NTT, HX_COEFFICIENT); the value itself where it is there.
hx_ir_value_t *hx_lower_domain(hx_lowering_t *lowering, hx_ir_value_t *a, uint32_t domain);
hx_ir_value_t *hx_lower_pack(hx_lowering_t *lowering, hx_ir_value_t *first, hx_ir_value_t *rest);
// rns.mul_scalar or rns.add_scalar with one constant a row of the value.
hx_ir_value_t *hx_lower_rows(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *a, const uint64_t *residues);
// a * b added to acc; a * b where acc is NULL.
hx_ir_value_t *hx_lower_mul_add(hx_lowering_t *lowering, hx_ir_value_t *acc, hx_ir_value_t *a, hx_ir_value_t *b);
// a + b; the other where one is NULL.
hx_ir_value_t *hx_lower_sum(hx_lowering_t *lowering, hx_ir_value_t *a, hx_ir_value_t *b);

// A list of integers as an attribute; its memory belongs to the program's arena. UNIT kind after a failure.
hx_attribute_t hx_lower_list(hx_lowering_t *lowering, const uint64_t *numbers, size_t count);
hx_attribute_t hx_lower_ids(hx_lowering_t *lowering, const hx_primes_t *primes);

// Result `index` of the rewritten operation is this value from now on, with the result's own type. The value was
// emitted here and nothing else reads it; values from elsewhere are copied (a view, which the linker resolves).
void hx_lower_finish(hx_lowering_t *lowering, size_t index, hx_ir_value_t *value);
// A fault at the rewritten operation.
void hx_lower_fail(hx_lowering_t *lowering, hx_code_t code, const char *format, ...) HX_PRINTF(3, 4);

// ckks.rotate_sum or ckks.rotate_weighted_sum with `across`. has_terms false: the rank has none of its terms, and
// brings nothing to the sums.
void hx_lower_rotations(hx_lowering_t *lowering, bool has_terms);

// ckks.weighted_sum and rns.weighted_sum: a chain of products a group.
void hx_lower_weighted_sum(hx_lowering_t *lowering);

// One rule: how an operation is rewritten, and when (NULL: always).
typedef struct hx_lower_rule {
  hx_op_id_t id;
  void (*rewrite)(hx_lowering_t *lowering);
  bool (*applies)(const hx_ir_op_t *op);
} hx_lower_rule_t;

extern const hx_lower_rule_t hx_lower_ckks_rules[], hx_lower_key_rules[], hx_lower_rns_rules[];
extern const size_t hx_lower_ckks_rule_count, hx_lower_key_rule_count, hx_lower_rns_rule_count;

#endif
