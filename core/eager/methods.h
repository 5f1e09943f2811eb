// SPDX-License-Identifier: Apache-2.0
// What the files of methods share: attributes, and calls of one result.
#ifndef HELIOX_CORE_EAGER_METHODS_H
#define HELIOX_CORE_EAGER_METHODS_H

#include "core/eager/engine.h"

static inline hx_attribute_t hx_integer_attribute(int64_t value) {
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_INTEGER, .integer = value};
}

static inline hx_attribute_t hx_number_attribute(double value) {
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_FLOAT, .number = value};
}

static inline hx_attribute_t hx_text_attribute(const char *value) {
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(value)};
}

// A real constant is a number, a complex one a list of two.
static inline hx_attribute_t hx_constant_attribute(double re, double im, hx_attribute_t parts[2]) {
  if (im == 0) return hx_number_attribute(re);
  parts[0] = hx_number_attribute(re);
  parts[1] = hx_number_attribute(im);
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_LIST, .list = parts, .count = 2};
}

// One ciphertext or plaintext in, one out. Attributes by ascending name.
static inline hx_status_t hx_engine_unary(hx_engine_t *engine, hx_op_id_t id, const hx_value_t *a,
                                          const hx_named_attr_t *attrs, size_t attr_count, hx_value_t **out,
                                          hx_report_t *report) {
  const hx_value_t *const operands[] = {a};
  const hx_engine_call_t call = {
      .id = id, .attrs = attrs, .attr_count = attr_count, .operands = operands, .operand_count = 1, .result_count = 1};
  return hx_engine_run(engine, &call, out, report);
}

#endif
