// SPDX-License-Identifier: Apache-2.0
// Where a circuit goes: the engine, which runs each step at once, or a builder, which writes it into a program. The
// circuits are written once over this table.
#ifndef HELIOX_CORE_CIRCUITS_TARGET_H
#define HELIOX_CORE_CIRCUITS_TARGET_H

#include "core/ckks/params.h"
#include "core/ops/ops.h"
#include "heliox/circuits.h"

// One operation. Attributes by ascending name; keys are found by whoever runs it.
typedef struct hx_step {
  hx_op_id_t id;
  const hx_named_attr_t *attrs;
  size_t attr_count;
  hx_node_t *const *operands;
  size_t operand_count;
  size_t result_count;
} hx_step_t;

// Numbers of a plaintext: `count` doubles or pairs, which fill the slots of its type from the first one on, or one
// period of them, a power of two.
typedef struct hx_numbers {
  const double *values;
  size_t count;
  bool is_complex;
  uint32_t period;  // 0: all slots
} hx_numbers_t;

typedef struct hx_target hx_target_t;

// A node is a value of the target's own kind, one reference; its type is complete.
typedef struct hx_target_table {
  // results: room for step->result_count; untouched on failure.
  hx_status_t (*run)(const hx_target_t *target, const hx_step_t *step, hx_node_t **results, hx_report_t *report);
  // A plaintext of this type (on Q, or on Q and P).
  hx_status_t (*plain)(const hx_target_t *target, const hx_numbers_t *numbers, const hx_type_t *type, hx_node_t **out,
                       hx_report_t *report);
  const hx_type_t *(*type)(const hx_node_t *node);
  hx_node_t *(*retain)(hx_node_t *node);
  void (*release)(hx_node_t *node);  // NULL is fine
} hx_target_table_t;

struct hx_target {
  const hx_target_table_t *table;
  const hx_params_t *params;
  void *owner;  // engine or builder
};

static inline const hx_type_t *hx_node_type(const hx_target_t *target, const hx_node_t *node) {
  return target->table->type(node);
}

// The functions below make one new node. Operands stay the caller's.
hx_status_t hx_emit_unary(const hx_target_t *target, hx_op_id_t id, hx_node_t *a, hx_node_t **out, hx_report_t *report);
hx_status_t hx_emit_binary(const hx_target_t *target, hx_op_id_t id, hx_node_t *a, hx_node_t *b, hx_node_t **out,
                           hx_report_t *report);
// At a depth, which is the operand's or deeper.
hx_status_t hx_emit_at_depth(const hx_target_t *target, hx_node_t *a, uint32_t depth, hx_node_t **out,
                             hx_report_t *report);
hx_status_t hx_emit_add_scalar(const hx_target_t *target, hx_node_t *a, double value, hx_node_t **out,
                               hx_report_t *report);
hx_status_t hx_emit_mul_scalar(const hx_target_t *target, hx_node_t *a, double value, const hx_scale_t *scale,
                               hx_node_t **out, hx_report_t *report);
hx_status_t hx_emit_integer(const hx_target_t *target, hx_op_id_t id, hx_node_t *a, const char *name, int64_t value,
                            hx_node_t **out, hx_report_t *report);
hx_status_t hx_emit_reinterpret(const hx_target_t *target, hx_node_t *a, const hx_scale_t *scale, hx_node_t **out,
                                hx_report_t *report);

// *node becomes `next`, its own reference goes. For chains: HX_TRY(make(&next)); hx_emit_replace(target, &node, next).
void hx_emit_replace(const hx_target_t *target, hx_node_t **node, hx_node_t *next);
// *sum becomes *sum + term, or term where it is NULL. Takes the term's reference, on failure too.
hx_status_t hx_emit_accumulate(const hx_target_t *target, hx_node_t **sum, hx_node_t *term, hx_report_t *report);

// Refuses what is not one ciphertext of two components in ntt domain with a known state.
hx_status_t hx_emit_check_operand(const hx_target_t *target, const hx_node_t *node, const char *what,
                                  hx_report_t *report);
// Depths that the operand has left, at least `needed`, else no-depth.
hx_status_t hx_emit_check_depth(const hx_target_t *target, const hx_node_t *node, uint32_t needed, const char *what,
                                hx_report_t *report);

// Two ciphertexts at one depth with one scale (match.c).
hx_status_t hx_emit_match(const hx_target_t *target, hx_node_t *a, hx_node_t *b, hx_node_t **out_a, hx_node_t **out_b,
                          hx_report_t *report);

// ------------------------------------------------------------------ scales
// out = a / b. Refused (scale-range) where b's odd factor does not divide a's.
hx_status_t hx_scale_ratio(const hx_scale_t *a, const hx_scale_t *b, hx_scale_t *out, hx_report_t *report);
// scale times the primes that a rescale from `depth` divides by. depth is below the deepest.
hx_status_t hx_scale_before_rescale(const hx_scale_t *scale, const hx_ring *ring, uint32_t depth, hx_scale_t *out,
                                    hx_report_t *report);

#endif
