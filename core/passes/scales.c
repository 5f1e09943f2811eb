// SPDX-License-Identifier: Apache-2.0
#include "core/passes/scales.h"

#include <math.h>
#include <string.h>

#define FACTOR_BITS_MIN 16  // a product with 1 at a scale below 2^16 would lose more than it mends

bool hx_scales_knows(const hx_type_t *type) {
  const uint32_t needed = HX_KNOWN_DEPTH | HX_KNOWN_SCALE;
  return (type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT) && (type->known & needed) == needed;
}

hx_status_t hx_scales_init(hx_scales_t *scales, const hx_program_t *program, const hx_pass_env_t *env) {
  *scales = (hx_scales_t){0};
  if (env->ring == NULL)
    return hx_report_fail(env->report, HX_CODE_PARAMS, "pass %s: scales depend on the parameters, and none are given",
                          env->pass == NULL ? "" : env->pass);
  const hx_str_t text = hx_pass_option(env, "waterline");
  if (text.data != NULL) {
    HX_TRY(hx_scale_parse(text, env->ring, &scales->waterline, env->report));
    scales->bits = hx_scale_log2(&scales->waterline, env->ring);
    return HX_STATUS_OK;
  }
  const hx_ir_op_t *entry = hx_program_find(program, "main");
  const hx_ir_block_t *block = entry == NULL ? NULL : hx_func_block(entry);
  for (size_t i = 0; block != NULL && i < block->argument_count; ++i) {
    const hx_type_t *type = block->arguments[i]->type;
    if (type->kind != HX_TYPE_CIPHERTEXT || (type->known & HX_KNOWN_SCALE) == 0) continue;
    hx_scale_copy(&scales->waterline, &type->scale);
    scales->bits = hx_scale_log2(&scales->waterline, env->ring);
    return HX_STATUS_OK;
  }
  return hx_report_fail(env->report, HX_CODE_TYPE,
                        "pass %s: no ciphertext input has a scale to take as waterline; write it into the type of an "
                        "input, or give waterline=SCALE",
                        env->pass == NULL ? "" : env->pass);
}

// ------------------------------------------------------------------ scales

// Primes that a rescale from this depth drops: first id and count.
static uint32_t group_at(const hx_ring *ring, uint32_t depth, uint32_t *out_count) {
  const hx_primes_t before = hx_ring_active(ring, depth), after = hx_ring_active(ring, depth + 1);
  *out_count = hx_primes_count(&before) - hx_primes_count(&after);
  return hx_primes_count(&after);
}

static double group_bits(const hx_ring *ring, uint32_t depth) {
  uint32_t count;
  const uint32_t first = group_at(ring, depth, &count);
  double bits = 0;
  for (uint32_t i = 0; i < count; ++i) bits += log2((double)ring->primes[first + i]);
  return bits;
}

// scale times the primes of a group to a power.
static bool times_group(hx_scale_t *scale, const hx_ring *ring, uint32_t depth, int32_t power) {
  uint32_t count;
  const uint32_t first = group_at(ring, depth, &count);
  for (uint32_t i = 0; i < count; ++i) {
    if (hx_scale_multiply_prime(scale, first + i, power, NULL) != HX_STATUS_OK) return false;
  }
  return true;
}

bool hx_scales_at(const hx_scales_t *scales, const hx_ring *ring, uint32_t depth, hx_scale_t *out) {
  hx_scale_copy(out, &scales->waterline);
  for (uint32_t d = 0; d < depth; ++d) {
    hx_scale_t square;
    if (hx_scale_multiply(out, out, &square, NULL) != HX_STATUS_OK || !times_group(&square, ring, d, -1)) return false;
    hx_scale_copy(out, &square);
  }
  return true;
}

// a / b, where the odd parts are equal or b has none.
static bool divide(const hx_scale_t *a, const hx_scale_t *b, hx_scale_t *out) {
  hx_scale_t inverse;
  hx_scale_copy(out, a);
  hx_scale_set_one(&inverse);
  const hx_scale_t one = inverse;
  if (memcmp(b->m, one.m, sizeof one.m) != 0) {
    if (memcmp(a->m, b->m, sizeof a->m) != 0) return false;
    memcpy(out->m, one.m, sizeof one.m);
  }
  inverse.e = -b->e;
  if (hx_scale_multiply(out, &inverse, out, NULL) != HX_STATUS_OK) return false;
  for (uint32_t i = 0; i < b->term_count; ++i) {
    if (hx_scale_multiply_prime(out, b->terms[i].id, -b->terms[i].exponent, NULL) != HX_STATUS_OK) return false;
  }
  return true;
}

// ------------------------------------------------------------------ operations

static bool is_product(const hx_ir_op_t *op) {
  switch (op->info->id) {
    case HX_OP_CKKS_MUL:
    case HX_OP_CKKS_SQUARE:
    case HX_OP_CKKS_MUL_PLAIN:
    case HX_OP_CKKS_MUL_SCALAR:
    case HX_OP_CKKS_WEIGHTED_SUM:
    case HX_OP_CKKS_ROTATE_WEIGHTED_SUM:
    case HX_OP_CKKS_RELINEARIZE:
      return true;
    default:
      return false;
  }
}

void hx_scales_rescale(hx_mender_t *mender, hx_ir_op_t *op, const hx_scales_t *scales) {
  const hx_ring *ring = mender->rewriter.env->ring;
  if (!is_product(op)) return;
  for (size_t r = 0; r < op->result_count; ++r) {
    hx_ir_value_t *value = op->results[r];
    const hx_ir_op_t *user = hx_rewriter_sole_user(&mender->rewriter, value);
    if (hx_rewriter_uses(&mender->rewriter, value) == 0 || !hx_scales_knows(value->type)) continue;
    // A relinearize comes first: two components are cheaper to rescale than three.
    if (user != NULL && (user->info->id == HX_OP_CKKS_RESCALE || user->info->id == HX_OP_CKKS_RELINEARIZE)) continue;
    const uint32_t depth = value->type->depth;
    if (depth >= hx_ring_max_depth(ring)) continue;
    const double bits = hx_scale_log2(&value->type->scale, ring), left = bits - group_bits(ring, depth);
    if (left < scales->bits - 0.5) continue;
    hx_decide(mender->rewriter.env, op, "rescale", "scale as it is, rescale",
              "a scale of %.2f bits at depth %u leaves %.2f, not below the waterline of %.2f", bits, depth, left,
              scales->bits);
    (void)hx_mend_interpose(mender, op, r, HX_OP_CKKS_RESCALE, NULL, 0);
  }
}

hx_ir_value_t *hx_scales_drop(hx_mender_t *mender, hx_ir_op_t *before, hx_ir_value_t *value, uint32_t depth) {
  if ((value->type->known & HX_KNOWN_DEPTH) == 0 || value->type->depth >= depth) return value;
  const hx_named_attr_t item = {.name = hx_str("depth"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = depth}};
  const hx_ir_op_t *op =
      hx_rewriter_build(&mender->rewriter, before, before, HX_OP_CKKS_LEVEL_DROP, &value, 1, &item, 1, 1);
  return op == NULL ? NULL : op->results[0];
}

// value * 1 at `factor`, rescaled.
static hx_ir_value_t *multiply_by_one(hx_mender_t *mender, hx_ir_op_t *before, hx_ir_value_t *value,
                                      const hx_scale_t *factor) {
  char *text = hx_arena_alloc(&mender->rewriter.program->arena, HX_SCALE_TEXT_MAX);
  if (text == NULL) {
    mender->rewriter.status = HX_STATUS_OUT_OF_MEMORY;
    return NULL;
  }
  (void)hx_scale_print(factor, text);
  const hx_named_attr_t items[] = {
      {.name = hx_str("scale"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(text)}},
      {.name = hx_str("value"), .value = {.kind = HX_ATTRIBUTE_FLOAT, .number = 1}}};
  const hx_ir_op_t *product =
      hx_rewriter_build(&mender->rewriter, before, before, HX_OP_CKKS_MUL_SCALAR, &value, 1, items, 2, 1);
  if (product == NULL) return NULL;
  const hx_ir_op_t *rescale =
      hx_rewriter_build(&mender->rewriter, before, before, HX_OP_CKKS_RESCALE, product->results, 1, NULL, 0, 1);
  return rescale == NULL ? NULL : rescale->results[0];
}

hx_ir_value_t *hx_scales_align(hx_mender_t *mender, hx_ir_op_t *before, hx_ir_value_t *value, uint32_t depth,
                               const hx_scale_t *scale) {
  const hx_ring *ring = mender->rewriter.env->ring;
  const hx_type_t *type = value->type;
  if (!hx_scales_knows(type) || type->depth > depth || depth > hx_ring_max_depth(ring)) return NULL;
  if (hx_scale_equal(&type->scale, scale)) return hx_scales_drop(mender, before, value, depth);
  if (type->depth == depth || type->kind != HX_TYPE_CIPHERTEXT || type->domain != HX_NTT) return NULL;
  hx_scale_t wanted, factor;
  hx_scale_copy(&wanted, scale);
  if (!times_group(&wanted, ring, depth - 1, 1) || !divide(&wanted, &type->scale, &factor)) return NULL;
  const double bits = hx_scale_log2(&factor, ring);
  if (bits < FACTOR_BITS_MIN) return NULL;
  hx_decide(mender->rewriter.env, before, "product with 1 and rescale", "level_drop, product with 1 and rescale",
            "a value at depth %u is brought to depth %u and the other operand's scale exactly: factor of %.2f bits",
            type->depth, depth, bits);
  hx_ir_value_t *dropped = hx_scales_drop(mender, before, value, depth - 1);
  return dropped == NULL ? NULL : multiply_by_one(mender, before, dropped, &factor);
}
