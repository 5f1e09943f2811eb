// SPDX-License-Identifier: Apache-2.0
// insert-transforms - puts to_ntt, from_ntt (ckks) and ntt.forward, ntt.inverse (rns) where an operand has another
// domain than its operation takes: products and plaintext sums take ntt domain, conversions of single rows take
// coefficients, and operands that are added have one domain (ntt where they differ).
// In: a verified program. Keeps: the value that every operation computes: each is defined to be the same in both
// domains (CKKS.md), so this only says what was left out. A to_ntt of a value in ntt domain, or a from_ntt of
// coefficients, goes. Legal everywhere; what no domain is known of is left alone.
#include "core/passes/mend.h"

typedef enum hx_demand { HX_DEMAND_NONE, HX_DEMAND_NTT, HX_DEMAND_COEFFICIENT, HX_DEMAND_EQUAL } hx_demand_t;

static const struct {
  hx_op_id_t id;
  hx_demand_t demand;
  size_t first;  // operand from which it holds
} demands[] = {
    {HX_OP_CKKS_ADD, HX_DEMAND_EQUAL, 0},
    {HX_OP_CKKS_SUB, HX_DEMAND_EQUAL, 0},
    {HX_OP_CKKS_ROTATE_SUM, HX_DEMAND_EQUAL, 0},
    {HX_OP_CKKS_ADD_PLAIN, HX_DEMAND_NTT, 0},
    {HX_OP_CKKS_SUB_PLAIN, HX_DEMAND_NTT, 0},
    {HX_OP_CKKS_MUL_PLAIN, HX_DEMAND_NTT, 0},
    {HX_OP_CKKS_MUL, HX_DEMAND_NTT, 0},
    {HX_OP_CKKS_SQUARE, HX_DEMAND_NTT, 0},
    {HX_OP_CKKS_ADD_SCALAR, HX_DEMAND_NTT, 0},
    {HX_OP_CKKS_MUL_SCALAR, HX_DEMAND_NTT, 0},
    {HX_OP_CKKS_WEIGHTED_SUM, HX_DEMAND_NTT, 0},
    {HX_OP_CKKS_ROTATE_WEIGHTED_SUM, HX_DEMAND_NTT, 1},
    {HX_OP_RNS_ADD, HX_DEMAND_EQUAL, 0},
    {HX_OP_RNS_SUB, HX_DEMAND_EQUAL, 0},
    {HX_OP_RNS_MUL, HX_DEMAND_EQUAL, 0},
    {HX_OP_RNS_MUL_ADD, HX_DEMAND_EQUAL, 0},
    {HX_OP_RNS_CENTER_LIFT, HX_DEMAND_COEFFICIENT, 0},
    {HX_OP_RNS_MIXED_RADIX, HX_DEMAND_COEFFICIENT, 0},
    {HX_OP_RNS_EXTEND_EXACT, HX_DEMAND_COEFFICIENT, 0},
    {HX_OP_RNS_KEY_PRODUCT, HX_DEMAND_NTT, 0},
};

static bool has_domain(const hx_type_t *type) {
  const bool is_polynomial = type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT ||
                             (type->kind == HX_TYPE_TENSOR && type->dtype != HX_I64);
  return is_polynomial && (type->known & HX_KNOWN_DOMAIN) != 0;
}

static void bring(hx_mender_t *mender, hx_ir_op_t *op, size_t index, uint32_t domain) {
  const hx_type_t *type = op->operands[index]->type;
  if (!has_domain(type) || type->domain == domain) return;
  const bool is_tensor = type->kind == HX_TYPE_TENSOR;
  const hx_op_id_t id = domain == HX_NTT ? (is_tensor ? HX_OP_NTT_FORWARD : HX_OP_CKKS_TO_NTT)
                                         : (is_tensor ? HX_OP_NTT_INVERSE : HX_OP_CKKS_FROM_NTT);
  hx_decide(mender->rewriter.env, op, hx_op_info(id)->name, "ntt domain, coefficients",
            "operand %zu is in %s, the operation takes %s", index, domain == HX_NTT ? "coefficients" : "ntt domain",
            domain == HX_NTT ? "ntt domain" : "coefficients");
  hx_mend_operand(mender, op, index, id, NULL, 0);
}

// A conversion of what is there already.
static bool drop_conversion(hx_mender_t *mender, hx_ir_op_t *op) {
  const bool to_ntt = op->info->id == HX_OP_CKKS_TO_NTT || op->info->id == HX_OP_NTT_FORWARD;
  if (!to_ntt && op->info->id != HX_OP_CKKS_FROM_NTT && op->info->id != HX_OP_NTT_INVERSE) return false;
  const hx_type_t *type = op->operands[0]->type;
  if (!has_domain(type) || type->domain != (to_ntt ? HX_NTT : HX_COEFFICIENT)) return false;
  hx_rewriter_replace(&mender->rewriter, op->results[0], op->operands[0]);
  hx_rewriter_remove(&mender->rewriter, op);
  return true;
}

static void mend_domains(hx_mender_t *mender, hx_ir_op_t *op) {
  if (drop_conversion(mender, op)) return;
  for (size_t i = 0; i < HX_COUNT_OF(demands); ++i) {
    if (demands[i].id != op->info->id) continue;
    uint32_t domain = demands[i].demand == HX_DEMAND_NTT ? HX_NTT : HX_COEFFICIENT;
    if (demands[i].demand == HX_DEMAND_EQUAL) {
      for (size_t k = 0; k < op->operand_count; ++k) {
        if (has_domain(op->operands[k]->type) && op->operands[k]->type->domain == HX_NTT) domain = HX_NTT;
      }
    }
    for (size_t k = demands[i].first; k < op->operand_count; ++k) bring(mender, op, k, domain);
  }
}

static hx_ir_value_t *align(hx_mender_t *mender, hx_ir_op_t *before, hx_ir_value_t *value, const hx_type_t *wanted) {
  if (!has_domain(value->type) || !has_domain(wanted) || value->type->domain == wanted->domain) return value;
  const hx_ir_op_t *op =
      hx_rewriter_build(&mender->rewriter, before, before,
                        wanted->domain == HX_NTT ? HX_OP_CKKS_TO_NTT : HX_OP_CKKS_FROM_NTT, &value, 1, NULL, 0, 1);
  return op == NULL ? NULL : op->results[0];
}

hx_status_t hx_pass_insert_transforms(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  static const hx_mend_rules_t rules = {.before = mend_domains, .align = align};
  return hx_mend_program(program, env, &rules, NULL, out_changed);
}
