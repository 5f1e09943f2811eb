// SPDX-License-Identifier: Apache-2.0
// Two values to a common depth and scale, exactly: one is multiplied by 1 at the missing scale and rescaled, the other
// drops levels. Of the ways that lose nothing worth speaking of (a constant 1 at scale f is right to 1/(2f), f at least
// 2^20) the one that ends at the shallowest depth is taken, then the one with fewest rescales.
#include <stdio.h>

#include "core/base/memory.h"
#include "core/circuits/target.h"

#define FACTOR_LOG2_MIN 20.0

// How one operand is brought to the other's scale at a depth.
typedef struct hx_match_way {
  bool second;        // it is operand b that is multiplied
  uint32_t depth;     // where both end
  uint32_t rescales;  // after the product
  hx_scale_t factor;  // the constant's scale
} hx_match_way_t;

// `from` at depth `depth - rescales`, times factor, over the groups dropped: the scale `to`.
static bool find_factor(const hx_ring *ring, const hx_type_t *from, const hx_scale_t *to, uint32_t depth,
                        uint32_t rescales, hx_scale_t *out) {
  hx_scale_t before;
  hx_scale_copy(&before, to);
  for (uint32_t k = 0; k < rescales; ++k) {
    if (hx_scale_before_rescale(&before, ring, depth - 1 - k, &before, NULL) != HX_STATUS_OK) return false;
  }
  return hx_scale_ratio(&before, &from->scale, out, NULL) == HX_STATUS_OK &&
         hx_scale_log2(out, ring) >= FACTOR_LOG2_MIN;
}

static bool try_depth(const hx_ring *ring, const hx_type_t *a, const hx_type_t *b, uint32_t depth,
                      hx_match_way_t *out) {
  for (uint32_t rescales = 0; rescales <= depth; ++rescales) {
    // The shallower operand first: it has the room.
    for (int turn = 0; turn < 2; ++turn) {
      const bool second = (turn == 1) != (b->depth < a->depth);
      const hx_type_t *from = second ? b : a, *to = second ? a : b;
      if (depth - rescales < from->depth) continue;
      if (!find_factor(ring, from, &to->scale, depth, rescales, &out->factor)) continue;
      out->second = second;
      out->depth = depth;
      out->rescales = rescales;
      return true;
    }
  }
  return false;
}

static hx_status_t refuse(const hx_target_t *target, const hx_type_t *a, const hx_type_t *b, hx_report_t *report) {
  const hx_ring *ring = hx_params_ring(target->params);
  char texts[2][HX_SCALE_TEXT_MAX];
  hx_scale_print(&a->scale, texts[0]);
  hx_scale_print(&b->scale, texts[1]);
  const double log2_a = hx_scale_log2(&a->scale, ring), log2_b = hx_scale_log2(&b->scale, ring);
  char text[2600];
  snprintf(text, sizeof text,
           "match: no common scale of operand a at depth %u with scale %.1000s (2^%.6f) and operand b at depth %u with "
           "scale %.1000s (2^%.6f), a ratio of 2^%.3g, can be reached down to depth %u, the last",
           a->depth, texts[0], log2_a, b->depth, texts[1], log2_b, log2_a - log2_b, hx_ring_max_depth(ring));
  return hx_report_add(
      report,
      &(hx_fault_t){.code = HX_CODE_SCALE_MISMATCH,
                    .text = text,
                    .hint = "Leave a depth for it, encode one operand at the other's scale, or declare them equal "
                            "with reinterpret_scale where the ratio may count as error."});
}

static hx_status_t check_kind(const hx_target_t *target, const hx_node_t *node, const char *what, hx_report_t *report) {
  const hx_type_t *type = hx_node_type(target, node);
  if (type->kind == HX_TYPE_CIPHERTEXT && type->domain == HX_NTT && type->repr == HX_STANDARD) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_TYPE, "match: operand %s has to be a ciphertext in ntt domain", what);
}

// One at the factor, times the operand; then the rescales.
static hx_status_t multiply(const hx_target_t *target, hx_node_t *node, const hx_match_way_t *way, hx_node_t **out,
                            hx_report_t *report) {
  hx_node_t *dropped = NULL, *value = NULL;
  HX_TRY(hx_emit_at_depth(target, node, way->depth - way->rescales, &dropped, report));
  hx_status_t status = hx_emit_mul_scalar(target, dropped, 1.0, &way->factor, &value, report);
  target->table->release(dropped);
  for (uint32_t k = 0; k < way->rescales && status == HX_STATUS_OK; ++k) {
    hx_node_t *next = NULL;
    status = hx_emit_unary(target, HX_OP_CKKS_RESCALE, value, &next, report);
    if (status == HX_STATUS_OK) hx_emit_replace(target, &value, next);
  }
  if (status != HX_STATUS_OK) {
    target->table->release(value);
    return status;
  }
  *out = value;
  return HX_STATUS_OK;
}

hx_status_t hx_emit_match(const hx_target_t *target, hx_node_t *a, hx_node_t *b, hx_node_t **out_a, hx_node_t **out_b,
                          hx_report_t *report) {
  HX_TRY(check_kind(target, a, "a", report));
  HX_TRY(check_kind(target, b, "b", report));
  const hx_type_t *type_a = hx_node_type(target, a), *type_b = hx_node_type(target, b);
  if (type_a->slots != type_b->slots)
    return hx_report_fail(report, HX_CODE_SLOTS_MISMATCH, "match: operand a is packed with %u slots, operand b with %u",
                          type_a->slots, type_b->slots);
  const hx_ring *ring = hx_params_ring(target->params);
  const uint32_t deeper = type_a->depth > type_b->depth ? type_a->depth : type_b->depth;
  hx_match_way_t way = {.depth = deeper};
  const bool equal = hx_scale_equal(&type_a->scale, &type_b->scale);
  bool found = equal;
  for (; !found && way.depth <= hx_ring_max_depth(ring); way.depth += !found)
    found = try_depth(ring, type_a, type_b, way.depth, &way);
  if (!found) return refuse(target, type_a, type_b, report);
  hx_node_t *results[2] = {NULL, NULL}, *const operands[2] = {a, b};
  hx_status_t status = HX_STATUS_OK;
  for (int i = 0; i < 2 && status == HX_STATUS_OK; ++i) {
    const bool multiplied = !equal && way.second == (i == 1);
    status = multiplied ? multiply(target, operands[i], &way, &results[i], report)
                        : hx_emit_at_depth(target, operands[i], way.depth, &results[i], report);
  }
  if (status != HX_STATUS_OK) {
    for (int i = 0; i < 2; ++i) target->table->release(results[i]);
    return status;
  }
  *out_a = results[0];
  *out_b = results[1];
  return HX_STATUS_OK;
}
