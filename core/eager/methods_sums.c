// SPDX-License-Identifier: Apache-2.0
// Methods of several operands or results: sums, groups, hoisted rotations.
#include <string.h>

#include "core/eager/methods.h"

// Far above what any program needs, far below what would overflow.
#define TERMS_MAX ((size_t)1 << 20)

static hx_status_t check_counts(hx_op_id_t id, const void *values, const void *extra, size_t count, size_t groups,
                                hx_value_t *const *outs, hx_report_t *report) {
  const char *name = hx_op_info(id)->name;
  if (values == NULL || extra == NULL || outs == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: an array is NULL", name);
  if (count == 0 || groups == 0 || count > TERMS_MAX || groups > TERMS_MAX / count)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "%s: %zu terms in %zu groups; each is at least 1, and their product at most %zu", name, count,
                          groups, TERMS_MAX);
  return HX_STATUS_OK;
}

static hx_status_t no_memory(hx_op_id_t id, hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for %s", hx_op_info(id)->name);
}

// Steps as an attribute; elements has room for count.
static hx_attribute_t list_of(const int64_t *steps, size_t count, hx_attribute_t *elements) {
  for (size_t i = 0; i < count; ++i) elements[i] = hx_integer_attribute(steps[i]);
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_LIST, .list = elements, .count = count};
}

// first[0..first_count) then second[0..second_count).
static const hx_value_t **join(const hx_value_t *const *first, size_t first_count, const hx_value_t *const *second,
                               size_t second_count) {
  const hx_value_t **all = hx_zalloc(first_count + second_count, sizeof *all);
  if (all == NULL) return NULL;
  memcpy((void *)all, (const void *)first, first_count * sizeof *all);
  if (second_count > 0) memcpy((void *)(all + first_count), (const void *)second, second_count * sizeof *all);
  return all;
}

hx_status_t hx_engine_sum(hx_engine_t *engine, const hx_value_t *a, uint32_t axis, hx_value_t **out,
                          hx_report_t *report) {
  const hx_named_attr_t attrs[] = {{.name = hx_str("axis"), .value = hx_integer_attribute(axis)}};
  return hx_engine_unary(engine, HX_OP_CKKS_SUM, a, attrs, 1, out, report);
}

hx_status_t hx_engine_weighted_sum(hx_engine_t *engine, const hx_value_t *const *values, size_t count,
                                   const hx_value_t *const *weights, size_t groups, hx_value_t **outs,
                                   hx_report_t *report) {
  const hx_op_id_t id = HX_OP_CKKS_WEIGHTED_SUM;
  HX_TRY(check_counts(id, (const void *)values, (const void *)weights, count, groups, outs, report));
  const hx_value_t **operands = join(values, count, weights, groups * count);
  if (operands == NULL) return no_memory(id, report);
  const hx_named_attr_t attrs[] = {{.name = hx_str("groups"), .value = hx_integer_attribute((int64_t)groups)}};
  const hx_engine_call_t call = {.id = id,
                                 .attrs = attrs,
                                 .attr_count = 1,
                                 .operands = operands,
                                 .operand_count = count + groups * count,
                                 .result_count = groups};
  const hx_status_t status = hx_engine_run(engine, &call, outs, report);
  hx_free((void *)operands);
  return status;
}

hx_status_t hx_engine_rotate_many(hx_engine_t *engine, const hx_value_t *a, const int64_t *steps, size_t count,
                                  hx_value_t **outs, hx_report_t *report) {
  const hx_op_id_t id = HX_OP_CKKS_ROTATE_MANY;
  HX_TRY(check_counts(id, steps, steps, count, 1, outs, report));
  hx_attribute_t *elements = hx_zalloc(count, sizeof *elements);
  if (elements == NULL) return no_memory(id, report);
  const hx_named_attr_t attrs[] = {{.name = hx_str("steps"), .value = list_of(steps, count, elements)}};
  const hx_value_t *const operands[] = {a};
  const hx_engine_call_t call = {
      .id = id, .attrs = attrs, .attr_count = 1, .operands = operands, .operand_count = 1, .result_count = count};
  const hx_status_t status = hx_engine_run(engine, &call, outs, report);
  hx_free(elements);
  return status;
}

hx_status_t hx_engine_rotate_weighted_sum(hx_engine_t *engine, const hx_value_t *a, const int64_t *steps, size_t count,
                                          const hx_value_t *const *weights, size_t groups, hx_value_t **outs,
                                          hx_report_t *report) {
  const hx_op_id_t id = HX_OP_CKKS_ROTATE_WEIGHTED_SUM;
  HX_TRY(check_counts(id, steps, (const void *)weights, count, groups, outs, report));
  hx_attribute_t *elements = hx_zalloc(count, sizeof *elements);
  const hx_value_t **operands = join(&a, 1, weights, groups * count);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (elements != NULL && operands != NULL) {
    const hx_named_attr_t attrs[] = {{.name = hx_str("groups"), .value = hx_integer_attribute((int64_t)groups)},
                                     {.name = hx_str("steps"), .value = list_of(steps, count, elements)}};
    const hx_engine_call_t call = {.id = id,
                                   .attrs = attrs,
                                   .attr_count = 2,
                                   .operands = operands,
                                   .operand_count = 1 + groups * count,
                                   .result_count = groups};
    status = hx_engine_run(engine, &call, outs, report);
  } else {
    status = no_memory(id, report);
  }
  hx_free(elements);
  hx_free((void *)operands);
  return status;
}

hx_status_t hx_engine_rotate_sum(hx_engine_t *engine, const hx_value_t *const *values, const int64_t *steps,
                                 size_t count, hx_value_t **out, hx_report_t *report) {
  const hx_op_id_t id = HX_OP_CKKS_ROTATE_SUM;
  HX_TRY(check_counts(id, (const void *)values, steps, count, 1, out, report));
  hx_attribute_t *elements = hx_zalloc(count, sizeof *elements);
  if (elements == NULL) return no_memory(id, report);
  const hx_named_attr_t attrs[] = {{.name = hx_str("steps"), .value = list_of(steps, count, elements)}};
  const hx_engine_call_t call = {
      .id = id, .attrs = attrs, .attr_count = 1, .operands = values, .operand_count = count, .result_count = 1};
  const hx_status_t status = hx_engine_run(engine, &call, out, report);
  hx_free(elements);
  return status;
}

hx_status_t hx_engine_prepare_plain(hx_engine_t *engine, const hx_value_t *plaintext, hx_plain_purpose_t purpose,
                                    hx_value_t **out, hx_report_t *report) {
  static const char *const purposes[] = {"add", "mul", "weighted"};
  if ((size_t)purpose >= HX_COUNT_OF(purposes))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "ckks.prepare_plain: purpose %d is unknown", (int)purpose);
  const hx_named_attr_t attrs[] = {{.name = hx_str("for"), .value = hx_text_attribute(purposes[purpose])}};
  return hx_engine_unary(engine, HX_OP_CKKS_PREPARE_PLAIN, plaintext, attrs, 1, out, report);
}
