// SPDX-License-Identifier: Apache-2.0
// Multiplications of rows: what the parts of a program weigh against each other.
#include "core/ckks/transition.h"
#include "core/ops/parts.h"
#include "core/passes/work.h"

// The rows that an operation works on.
typedef struct hx_rows {
  double q, p, digits;  // rows of Q_d, rows of P, digits that hold rows
  double transform;     // of one row
} hx_rows_t;

static double conversion(double from, double to) { return from + from * to; }

// A polynomial into its digits, raised and transformed. Digits are of q / digits rows in the middle.
static double raise(const hx_rows_t *rows) {
  const double own = rows->q / rows->digits, all = rows->q + rows->p;
  return rows->q * rows->transform + rows->digits * (conversion(own, all - own) + all * rows->transform);
}

// Sums of digits times both halves of a key.
static double multiply_key(const hx_rows_t *rows) { return 2 * rows->digits * (rows->q + rows->p); }

// Two components divided by P: P's rows leave ntt domain.
static double divide(const hx_rows_t *rows) {
  return 2 * (rows->p * rows->transform + conversion(rows->p, rows->q) + rows->q * (rows->transform + 1));
}

static double items_of(const hx_type_t *type) {
  double items = 1;
  for (uint32_t i = 0; i < type->batch_rank; ++i) items *= (double)type->batch_shape[i];
  return items;
}

static double all_rows(const hx_type_t *type) {
  return items_of(type) * (double)type->components * (double)hx_primes_count(&type->primes);
}

static const hx_type_t *state_of(const hx_ir_value_t *value) {
  return hx_type_parts(value->type->kind) != 0 && hx_type_is_complete(value->type) ? value->type : NULL;
}

// Key switches and what goes with them: decompositions, sums with keys, divisions.
static double switches(const hx_ir_op_t *op, const hx_work_t *work, const hx_ring *ring, double transform) {
  const hx_type_t *type = state_of(op->operands[0]);
  if (type == NULL || type->kind != HX_TYPE_CIPHERTEXT) return 0;
  const hx_rows_t rows = {.q = (double)hx_primes_count(&type->primes),
                          .p = (double)ring->p_count,
                          .digits = (double)hx_ring_digit_count(ring, type->depth),
                          .transform = transform};
  double products = 0;
  if (op->info->id == HX_OP_CKKS_ROTATE_WEIGHTED_SUM)  // every term of every group, over Q and P
    products = 2 * (rows.q + rows.p) * (double)(op->result_count * work->switches);
  return items_of(type) * (work->mod_ups * raise(&rows) + work->switches * multiply_key(&rows) +
                           work->mod_downs * divide(&rows) + products);
}

// Division by some of the rows, in coefficients.
static double moves(const hx_ir_op_t *op) {
  const hx_type_t *from = state_of(op->operands[0]), *to = state_of(op->results[0]);
  if (from == NULL || to == NULL) return 0;
  const double before = (double)hx_primes_count(&from->primes), after = (double)hx_primes_count(&to->primes),
               each = items_of(to) * (double)to->components;
  // A rescale drops one row after the other: the k-th of them meets before - k rows.
  return op->info->id == HX_OP_RNS_MOD_DOWN ? each * (conversion(before - after, after) + after)
                                            : each * (before - after) * (before + after);
}

double hx_op_row_products(const hx_ir_op_t *op, const hx_ring *ring) {
  const double transform = 0.5 * (double)ring->log_n;
  const hx_work_t work = hx_op_work(op);
  if (op->info->tier == HX_TIER_HOST || op->info->tier == HX_TIER_STRUCTURE || op->result_count == 0) return 0;
  if ((op->info->flags & HX_OP_FLAG_VIEW) != 0 || op->operand_count == 0) return 0;
  const hx_type_t *result = state_of(op->results[0]);
  if (result == NULL) return 0;
  switch (op->info->id) {
    case HX_OP_NTT_FORWARD:
    case HX_OP_NTT_INVERSE:
    case HX_OP_CKKS_TO_NTT:
    case HX_OP_CKKS_FROM_NTT:
      return all_rows(result) * transform;
    case HX_OP_RNS_MOD_UP: {
      int64_t digit = 0;
      (void)hx_attrs_get_i64(op->attrs, "digit", &digit);  // required: verified
      const hx_type_t *operand = state_of(op->operands[0]);
      if (operand == NULL) return 0;
      const hx_primes_t own_rows = hx_ring_digit(ring, (uint32_t)digit, &operand->primes);
      const double own = (double)hx_primes_count(&own_rows), all = (double)hx_primes_count(&result->primes);
      return items_of(result) * (double)result->components * conversion(own, all - own);
    }
    case HX_OP_RNS_MOD_DOWN:
    case HX_OP_RNS_RESCALE:
      return moves(op);
    case HX_OP_CKKS_RESCALE:  // the dropped rows leave ntt domain, their conversion is transformed
      return 2 * all_rows(result) * transform;
    case HX_OP_CKKS_WEIGHTED_SUM:
    case HX_OP_RNS_WEIGHTED_SUM: {
      const size_t terms = op->operand_count / (op->result_count + 1);
      return (double)terms * (double)op->result_count * all_rows(result);
    }
    default:
      return all_rows(result) + (work.switches > 0 ? switches(op, &work, ring, transform) : 0);
  }
}
