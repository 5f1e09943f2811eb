// SPDX-License-Identifier: Apache-2.0
// Circuits as steps of a program.
#include "core/circuits/builder.h"
#include "core/circuits/interval.h"
#include "core/circuits/matrix.h"

hx_status_t hx_builder_polynomial(hx_builder_t *builder, hx_node_t *x, const hx_polynomial_t *polynomial,
                                  hx_node_t **out, hx_report_t *report) {
  hx_target_t target;
  HX_TRY(hx_builder_target(builder, "hx_builder_polynomial", &target, report));
  if (out == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_polynomial: out is NULL");
  return hx_emit_polynomial(&target, x, polynomial, out, report);
}

typedef struct source {
  const hx_target_t *target;
  const hx_matrix_t *matrix;
  double *numbers;  // [width] of one diagonal
} source_t;

static hx_status_t weight(void *argument, uint32_t g, uint32_t b, const hx_type_t *type, hx_node_t **out,
                          hx_report_t *report) {
  const source_t *source = argument;
  hx_matrix_diagonal(source->matrix, g, b, source->numbers);
  const hx_numbers_t numbers = {.values = source->numbers,
                                .count = source->matrix->width,
                                .is_complex = source->matrix->options.is_complex,
                                .period = source->matrix->width};
  return source->target->table->plain(source->target, &numbers, type, out, report);
}

hx_status_t hx_builder_matrix_vector(hx_builder_t *builder, const hx_matrix_t *matrix, hx_node_t *x, const char *scale,
                                     hx_matrix_form_t form, hx_node_t **out, hx_report_t *report) {
  hx_target_t target;
  HX_TRY(hx_builder_target(builder, "hx_builder_matrix_vector", &target, report));
  if (matrix == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_matrix_vector: matrix or out is NULL");
  if (form != HX_MATRIX_PLAIN && form != HX_MATRIX_MERGED)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "hx_builder_matrix_vector: form is %d, neither plain nor merged", (int)form);
  if (form == HX_MATRIX_MERGED && hx_params_p_count(target.params) == 0)
    return hx_report_fail(report, HX_CODE_PARAMS,
                          "hx_builder_matrix_vector: the merged form sums on P, and these parameters have no special "
                          "primes; use the plain form");
  source_t source = {.target = &target, .matrix = matrix};
  source.numbers = hx_alloc(2 * (size_t)matrix->width * sizeof *source.numbers);
  if (source.numbers == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a matrix product");
  const hx_status_t status =
      hx_emit_matrix(&target, matrix, x, scale, form == HX_MATRIX_MERGED, weight, &source, out, report);
  hx_free(source.numbers);
  return status;
}

hx_status_t hx_builder_match(hx_builder_t *builder, hx_node_t *a, hx_node_t *b, hx_node_t **out_a, hx_node_t **out_b,
                             hx_report_t *report) {
  hx_target_t target;
  HX_TRY(hx_builder_target(builder, "hx_builder_match", &target, report));
  if (a == NULL || b == NULL || out_a == NULL || out_b == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_match: an argument is NULL");
  return hx_emit_match(&target, a, b, out_a, out_b, report);
}
