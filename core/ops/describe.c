// SPDX-License-Identifier: Apache-2.0
// The catalogue in words, for the public header.
#include "heliox/ops.h"

#include <pthread.h>
#include <stdio.h>

#include "core/ops/ops.h"

#define CATALOGUE_VERSION 3  // raised when a row is added or a signature changes
#define LINE_MAX_BYTES 192   // the longest line of the catalogue has 150; the tests look for cut ones

static char lines[HX_OP_COUNT][3][LINE_MAX_BYTES];
static hx_op_description_t descriptions[HX_OP_COUNT];
static pthread_once_t descriptions_once = PTHREAD_ONCE_INIT;

// Appends "name: kinds" and the mark of the form: ? for optional, * for any number.
static size_t add_item(char *line, size_t size, const char *name, const char *kinds, hx_op_form_t form) {
  static const char *const marks[] = {[HX_FORM_ONE] = "", [HX_FORM_OPT] = "?", [HX_FORM_ANY] = "*"};
  const int added =
      snprintf(line + size, LINE_MAX_BYTES - size, "%s%s: %s%s", size == 0 ? "" : ", ", name, kinds, marks[form]);
  const size_t end = size + (size_t)added;
  return end < LINE_MAX_BYTES ? end : LINE_MAX_BYTES - 1;
}

static const char *kinds_text(uint32_t accepts, char out[96]) {
  static const struct {
    uint32_t bit;
    const char *name;
  } kinds[] = {{HX_ACCEPT_CT, "ciphertext"}, {HX_ACCEPT_PT, "plaintext"},    {HX_ACCEPT_TENSOR, "tensor"},
               {HX_ACCEPT_KEY, "key"},       {HX_ACCEPT_MESSAGE, "message"}, {HX_ACCEPT_SEED, "seed"},
               {HX_ACCEPT_SCALAR, "number"}, {HX_ACCEPT_HANDLE, "handle"}};
  if (accepts == HX_ACCEPT_ANYTHING) return "any";
  size_t size = 0;
  out[0] = '\0';
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if ((accepts & kinds[i].bit) != 0)
      size += (size_t)snprintf(out + size, 96 - size, "%s%s", size == 0 ? "" : "|", kinds[i].name);
  }
  return out;
}

static const char *rule_text(hx_attr_rule_t rule) {
  static const char *const names[HX_RULE_COUNT] = {[HX_RULE_I64] = "i64",
                                                   [HX_RULE_I64_LIST] = "[i64]",
                                                   [HX_RULE_U64_LIST] = "[u64]",
                                                   [HX_RULE_NUMBER] = "number",
                                                   [HX_RULE_COMPLEX] = "f64 or [f64, f64]",
                                                   [HX_RULE_TEXT] = "text",
                                                   [HX_RULE_SYMBOL] = "@symbol",
                                                   [HX_RULE_TYPE] = "type",
                                                   [HX_RULE_DICTS] = "[{}]",
                                                   [HX_RULE_SCALE] = "scale",
                                                   [HX_RULE_DOMAIN] = "domain",
                                                   [HX_RULE_ROUNDING] = "rounding",
                                                   [HX_RULE_DROP] = "\"P\" or [id]",
                                                   [HX_RULE_PURPOSE] = "purpose"};
  return names[rule];
}

static void describe(const hx_op_info_t *op, char out[3][LINE_MAX_BYTES], hx_op_description_t *description) {
  char kinds[96];
  size_t size = 0;
  for (size_t i = 0; i < HX_OP_OPERANDS_MAX && op->operands[i].name != NULL; ++i) {
    size =
        add_item(out[0], size, op->operands[i].name, kinds_text(op->operands[i].accepts, kinds), op->operands[i].form);
  }
  size = 0;
  for (size_t i = 0; i < HX_OP_RESULTS_MAX && op->results[i].name != NULL; ++i) {
    size = add_item(out[1], size, op->results[i].name, kinds_text(op->results[i].accepts, kinds), op->results[i].form);
  }
  size = 0;
  for (size_t i = 0; i < HX_OP_ATTRS_MAX && op->attrs[i].name != NULL; ++i) {
    size = add_item(out[2], size, op->attrs[i].name, rule_text(op->attrs[i].rule),
                    op->attrs[i].required ? HX_FORM_ONE : HX_FORM_OPT);
  }
  *description = (hx_op_description_t){.name = op->name,
                                       .signature = op->signature,
                                       .tier = hx_op_tier_name(op->tier),
                                       .effect = hx_op_effect_name(op->effect),
                                       .operands = out[0],
                                       .results = out[1],
                                       .attributes = out[2],
                                       .doc = op->doc};
}

static void describe_all(void) {
  for (size_t i = 0; i < HX_OP_COUNT; ++i) describe(hx_op_info((hx_op_id_t)i), lines[i], &descriptions[i]);
}

size_t hx_ops_count(void) { return HX_OP_COUNT; }

const hx_op_description_t *hx_ops_get(size_t index) {
  if (index >= HX_OP_COUNT) return NULL;
  pthread_once(&descriptions_once, describe_all);
  return &descriptions[index];
}

uint32_t hx_ops_version(void) { return CATALOGUE_VERSION; }
