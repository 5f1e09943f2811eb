// SPDX-License-Identifier: Apache-2.0
// The engine as a target, and its circuits.
#include <string.h>

#include "core/circuits/interval.h"
#include "core/circuits/matrix.h"
#include "core/eager/engine.h"

static hx_value_t *value_of(const hx_node_t *node) { return (hx_value_t *)(uintptr_t)node; }
static hx_node_t *node_of(const hx_value_t *value) { return (hx_node_t *)(uintptr_t)value; }

static hx_status_t target_run(const hx_target_t *target, const hx_step_t *step, hx_node_t **results,
                              hx_report_t *report) {
  const hx_value_t **operands = hx_zalloc(step->operand_count, sizeof *operands);
  hx_value_t **outs = hx_zalloc(step->result_count, sizeof *outs);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (operands != NULL && outs != NULL) {
    for (size_t i = 0; i < step->operand_count; ++i) operands[i] = value_of(step->operands[i]);
    const hx_engine_call_t call = {.id = step->id,
                                   .attrs = step->attrs,
                                   .attr_count = step->attr_count,
                                   .operands = operands,
                                   .operand_count = step->operand_count,
                                   .result_count = step->result_count};
    status = hx_engine_run(target->owner, &call, outs, report);
    for (size_t i = 0; i < step->result_count && status == HX_STATUS_OK; ++i) results[i] = node_of(outs[i]);
  } else {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for %s", hx_op_info(step->id)->name);
  }
  hx_free((void *)operands);
  hx_free((void *)outs);
  return status;
}

static hx_status_t target_plain(const hx_target_t *target, const hx_numbers_t *numbers, const hx_type_t *type,
                                hx_node_t **out, hx_report_t *report) {
  char *scale = hx_alloc(HX_SCALE_TEXT_MAX);
  if (scale == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a plaintext");
  (void)hx_scale_print(&type->scale, scale);
  const hx_encode_options_t options = {.slots = type->slots,
                                       .depth = type->depth,
                                       .scale = scale,
                                       .weighted = type->basis == HX_BASIS_QP,
                                       .period = numbers->period};
  hx_value_t *value = NULL;
  const hx_status_t status =
      hx_engine_encode(target->owner, numbers->values, numbers->count, numbers->is_complex, &options, &value, report);
  if (status == HX_STATUS_OK) *out = node_of(value);
  hx_free(scale);
  return status;
}

static const hx_type_t *target_type(const hx_node_t *node) { return &value_of(node)->type; }
static hx_node_t *target_retain(hx_node_t *node) { return node_of(hx_value_retain(value_of(node))); }
static void target_release(hx_node_t *node) { hx_value_release(value_of(node)); }

static hx_target_t target_of(hx_engine_t *engine) {
  static const hx_target_table_t table = {.run = target_run,
                                          .plain = target_plain,
                                          .type = target_type,
                                          .retain = target_retain,
                                          .release = target_release};
  return (hx_target_t){.table = &table, .params = engine->params, .owner = engine};
}

static hx_status_t check(const hx_engine_t *engine, const hx_value_t *x, hx_value_t *const *out, const char *what,
                         hx_report_t *report) {
  if (engine == NULL || x == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: engine, value or out is NULL", what);
  if (hx_params_same(x->params, engine->params)) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                        "%s: the value belongs to parameters %.16s..., the engine to "
                        "%.16s...",
                        what, hx_params_digest_hex(x->params), hx_params_digest_hex(engine->params));
}

hx_status_t hx_engine_polynomial(hx_engine_t *engine, const hx_value_t *x, const hx_polynomial_t *polynomial,
                                 hx_value_t **out, hx_report_t *report) {
  HX_TRY(check(engine, x, out, "hx_engine_polynomial", report));
  const hx_target_t target = target_of(engine);
  hx_node_t *result = NULL;
  HX_TRY(hx_emit_polynomial(&target, node_of(x), polynomial, &result, report));
  *out = value_of(result);
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ matrices

void hx_matrix_weights_release(hx_matrix_weights_t *weights) {
  if (weights == NULL || atomic_fetch_sub_explicit(&weights->refs, 1, memory_order_acq_rel) != 1) return;
  for (size_t i = 0; i < weights->count; ++i) {
    hx_value_release(weights->items[i].value);
    hx_compact_release(weights->items[i].compact);
  }
  hx_free((void *)weights);
}

typedef struct source {
  const hx_target_t *target;
  hx_matrix_t *matrix;
  double *numbers;               // [width] of one diagonal
  hx_matrix_weights_t *weights;  // of this product, or NULL before the first weight
} source_t;

static bool is_for(const hx_matrix_weights_t *weights, const hx_params_t *params, const hx_type_t *type) {
  return weights != NULL && weights->depth == type->depth && hx_scale_equal(&weights->scale, &type->scale) &&
         memcmp(weights->digest, hx_params_digest(params), sizeof weights->digest) == 0;
}

// The matrix's weights where they are for this state, else new ones.
static hx_status_t open_weights(source_t *source, const hx_type_t *type, hx_report_t *report) {
  hx_matrix_t *matrix = source->matrix;
  pthread_mutex_lock(&matrix->lock);
  if (is_for(matrix->weights, source->target->params, type)) {
    atomic_fetch_add_explicit(&matrix->weights->refs, 1, memory_order_relaxed);
    source->weights = matrix->weights;
  }
  pthread_mutex_unlock(&matrix->lock);
  if (source->weights != NULL) return HX_STATUS_OK;
  const size_t count = (size_t)matrix->giant_count * matrix->baby_count;
  hx_matrix_weights_t *weights = hx_zalloc(1, sizeof *weights + count * sizeof weights->items[0]);
  if (weights == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a matrix");
  atomic_init(&weights->refs, 1);
  memcpy(weights->digest, hx_params_digest(source->target->params), sizeof weights->digest);
  weights->depth = type->depth;
  hx_scale_copy(&weights->scale, &type->scale);
  weights->count = count;
  source->weights = weights;
  return HX_STATUS_OK;
}

static hx_status_t encode_weight(const source_t *source, uint32_t g, uint32_t b, const hx_type_t *type,
                                 hx_value_t **out, hx_report_t *report) {
  const hx_matrix_t *matrix = source->matrix;
  hx_matrix_diagonal(matrix, g, b, source->numbers);
  const hx_numbers_t numbers = {.values = source->numbers,
                                .count = matrix->width,
                                .is_complex = matrix->options.is_complex,
                                .period = matrix->width};
  hx_node_t *node = NULL;
  HX_TRY(source->target->table->plain(source->target, &numbers, type, &node, report));
  *out = value_of(node);
  return HX_STATUS_OK;
}

// Weights are filled in while they belong to this product alone; the matrix gets them when they are whole.
static hx_status_t weight(void *argument, uint32_t g, uint32_t b, const hx_type_t *type, hx_node_t **out,
                          hx_report_t *report) {
  source_t *source = argument;
  if (source->weights == NULL) HX_TRY(open_weights(source, type, report));
  const size_t index = (size_t)g * source->matrix->baby_count + b;
  hx_value_t **value = &source->weights->items[index].value, *expanded = NULL;
  hx_compact_t **compact = &source->weights->items[index].compact;
  if (!source->matrix->options.compact) {
    if (*value == NULL) HX_TRY(encode_weight(source, g, b, type, value, report));
    *out = node_of(hx_value_retain(*value));
    return HX_STATUS_OK;
  }
  if (*compact != NULL) {
    HX_TRY(hx_compact_expand(*compact, &expanded, report));
  } else {
    HX_TRY(encode_weight(source, g, b, type, &expanded, report));
    const hx_status_t status = hx_plaintext_compact(expanded, compact, report);
    if (status != HX_STATUS_OK) {
      hx_value_release(expanded);
      return status;
    }
  }
  *out = node_of(expanded);
  return HX_STATUS_OK;
}

static void keep_weights(source_t *source) {
  hx_matrix_t *matrix = source->matrix;
  pthread_mutex_lock(&matrix->lock);
  hx_matrix_weights_t *old = matrix->weights;
  matrix->weights = source->weights;
  pthread_mutex_unlock(&matrix->lock);
  hx_matrix_weights_release(old);
}

hx_status_t hx_engine_matrix_vector(hx_engine_t *engine, hx_matrix_t *matrix, const hx_value_t *x, const char *scale,
                                    hx_value_t **out, hx_report_t *report) {
  HX_TRY(check(engine, x, out, "hx_engine_matrix_vector", report));
  if (matrix == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_engine_matrix_vector: the matrix is NULL");
  const hx_target_t target = target_of(engine);
  source_t source = {.target = &target, .matrix = matrix};
  source.numbers = hx_alloc(2 * (size_t)matrix->width * sizeof *source.numbers);
  if (source.numbers == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a matrix product");
  // Without special primes there are no sums on P; a single diagonal needs none, and a compact matrix has one weight at
  // a time.
  const bool merged = hx_params_p_count(engine->params) > 0 && !matrix->options.compact &&
                      (matrix->baby_count > 1 || matrix->giant_count > 1);
  hx_node_t *result = NULL;
  const hx_status_t status =
      hx_emit_matrix(&target, matrix, node_of(x), scale, merged, weight, &source, &result, report);
  hx_free(source.numbers);
  if (status == HX_STATUS_OK) *out = value_of(result);
  if (status == HX_STATUS_OK && engine->capture == NULL) {
    keep_weights(&source);
  } else {  // weights made while a function is captured belong to the capture
    hx_matrix_weights_release(source.weights);
  }
  return status;
}

hx_status_t hx_engine_match(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out_a,
                            hx_value_t **out_b, hx_report_t *report) {
  if (engine == NULL || a == NULL || b == NULL || out_a == NULL || out_b == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_engine_match: an argument is NULL");
  const hx_target_t target = target_of(engine);
  hx_node_t *x = NULL, *y = NULL;
  HX_TRY(hx_emit_match(&target, node_of(a), node_of(b), &x, &y, report));
  *out_a = value_of(x);
  *out_b = value_of(y);
  return HX_STATUS_OK;
}
