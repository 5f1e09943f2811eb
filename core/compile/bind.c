// SPDX-License-Identifier: Apache-2.0
// Binding keys and values to the symbols of a compilation.
#include <stdio.h>
#include <string.h>

#include "core/compile/compilation.h"
#include "core/passes/prepared.h"

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to bind a material");
}

hx_status_t hx_compilation_bind_keys(hx_compilation_t *compilation, const hx_keys_t *keys, hx_report_t *report) {
  if (compilation == NULL || keys == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compilation_bind_keys: an argument is NULL");
  }
  if (!hx_params_same(keys->params, compilation->params)) {
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "the keys belong to parameters %.16s..., the program to %.16s...",
                          hx_params_digest_hex(keys->params), hx_params_digest_hex(compilation->params));
  }
  if (compilation->keys != NULL && memcmp(compilation->keys->id, keys->id, sizeof keys->id) != 0) {
    return hx_report_fail(report, HX_CODE_KEY_ID, "keys of another secret are bound already");
  }
  hx_keys_t *kept = hx_keys_retain(keys);
  hx_keys_release(compilation->keys);
  compilation->keys = kept;
  return HX_STATUS_OK;
}

static void list_symbols(const hx_compilation_t *compilation, hx_text_t *out) {
  const char *separator = "";
  for (size_t i = 0; i < compilation->port_count; ++i) {
    if (strcmp(compilation->ports[i].role, "key") == 0) continue;
    hx_text_printf(out, "%s@%s", separator, compilation->ports[i].name);
    separator = ", ";
  }
  if (separator[0] == '\0') hx_text_puts(out, "none");
}

// The type that a symbol's value must fit.
static hx_status_t find_type(const hx_compilation_t *compilation, const char *symbol, const hx_type_t **out,
                             hx_report_t *report) {
  const hx_ir_op_t *op = hx_compilation_find(compilation, hx_str(symbol));
  if (op == NULL) {
    hx_text_t names;
    hx_text_init(&names);
    list_symbols(compilation, &names);
    const hx_status_t status = hx_report_fail(report, HX_CODE_MATERIAL, "the program has no material @%s; it has: %s",
                                              symbol, names.failed ? "others" : names.data);
    hx_text_deinit(&names);
    return status;
  }
  *out = op->results[0]->type;
  if ((*out)->kind == HX_TYPE_CIPHERTEXT || (*out)->kind == HX_TYPE_PLAINTEXT) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_MATERIAL, "@%s is a key: bind the key set", symbol);
}

static hx_status_t fail_state(const char *symbol, const hx_type_t *wanted, const hx_type_t *given, const char *part,
                              hx_report_t *report) {
  hx_text_t expected, found;
  hx_text_init(&expected);
  hx_text_init(&found);
  (void)hx_type_print(wanted, &expected);
  (void)hx_type_print(given, &found);
  char text[256];
  snprintf(text, sizeof text, "the value for @%.100s has another %s than its reference", symbol, part);
  const hx_fault_t fault = {.code = HX_CODE_MATERIAL, .text = text, .expected = expected.data, .found = found.data};
  const hx_status_t status = hx_report_add(report, &fault);
  hx_text_deinit(&expected);
  hx_text_deinit(&found);
  return status;
}

static hx_status_t check_value(const hx_compilation_t *compilation, const char *symbol, const hx_value_t *value,
                               hx_report_t *report) {
  const hx_type_t *type;
  HX_TRY(find_type(compilation, symbol, &type, report));
  HX_TRY(hx_value_want_data(value, "binding a material keeps data", report));
  if (value->secret) {
    return hx_report_fail(report, HX_CODE_SECRET,
                          "the value for @%s is secret: materials go to the server and into bundles", symbol);
  }
  if (!hx_params_same(value->params, compilation->params)) {
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "the value for @%s belongs to parameters %.16s..., the program to %.16s...", symbol,
                          hx_params_digest_hex(value->params), hx_params_digest_hex(compilation->params));
  }
  // A reference that is prepared when it is bound takes what it is prepared from.
  hx_type_t wanted;
  hx_material_bound_type(hx_compilation_find(compilation, hx_str(symbol)), &wanted);
  type = &wanted;
  if (value->type.kind != type->kind) return fail_state(symbol, type, &value->type, "kind", report);
  const char *part = NULL;
  if (!hx_type_agrees(type, &value->type, &part)) return fail_state(symbol, type, &value->type, part, report);
  return HX_STATUS_OK;
}

hx_status_t hx_compilation_bind_switch(hx_compilation_t *compilation, const char *symbol, const hx_switch_t *key,
                                       hx_report_t *report) {
  if (compilation == NULL || symbol == NULL || key == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compilation_bind_switch: an argument is NULL");
  const hx_ir_op_t *op = hx_compilation_find(compilation, hx_str(symbol));
  const hx_type_t *type = op == NULL ? NULL : op->results[0]->type;
  if (type == NULL || type->kind != HX_TYPE_KEY || type->key_kind != HX_KEY_SWITCH)
    return hx_report_fail(report, HX_CODE_MATERIAL, "the program has no switching key @%s (kind = switch)", symbol);
  if (!hx_params_same(key->params, compilation->params))
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "the switching key for @%s belongs to parameters %.16s..., the program to %.16s...", symbol,
                          hx_params_digest_hex(key->params), hx_params_digest_hex(compilation->params));
  for (size_t i = 0; i < compilation->switch_count; ++i) {
    hx_switch_binding_t *binding = &compilation->switches[i];
    if (strcmp(binding->symbol, symbol) != 0) continue;
    hx_switch_t *kept = hx_switch_retain(key);
    hx_switch_release((hx_switch_t *)(uintptr_t)binding->key);
    binding->key = kept;
    return HX_STATUS_OK;
  }
  const size_t count = compilation->switch_count;
  char *name = hx_strdup(symbol);
  if (name == NULL || hx_grow(&compilation->switches, &compilation->switch_capacity, count + 1,
                              sizeof *compilation->switches) != HX_STATUS_OK) {
    hx_free(name);
    return no_memory(report);
  }
  compilation->switches[count] = (hx_switch_binding_t){.symbol = name, .key = hx_switch_retain(key)};
  compilation->switch_count = count + 1;
  return HX_STATUS_OK;
}

hx_status_t hx_compilation_bind_material(hx_compilation_t *compilation, const char *symbol, const hx_value_t *value,
                                         hx_report_t *report) {
  if (compilation == NULL || symbol == NULL || value == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compilation_bind_material: an argument is NULL");
  }
  HX_TRY(check_value(compilation, symbol, value, report));
  for (size_t i = 0; i < compilation->binding_count; ++i) {
    hx_binding_t *binding = &compilation->bindings[i];
    if (strcmp(binding->symbol, symbol) != 0) continue;
    hx_value_t *kept = hx_value_retain(value);
    hx_value_release(binding->value);
    binding->value = kept;
    return HX_STATUS_OK;
  }
  const size_t count = compilation->binding_count;
  char *name = hx_strdup(symbol);
  if (name == NULL || hx_grow(&compilation->bindings, &compilation->binding_capacity, count + 1,
                              sizeof *compilation->bindings) != HX_STATUS_OK) {
    hx_free(name);
    return no_memory(report);
  }
  compilation->bindings[count] = (hx_binding_t){.symbol = name, .value = hx_value_retain(value)};
  compilation->binding_count = count + 1;
  return HX_STATUS_OK;
}

hx_status_t hx_compilation_encode_material(hx_compilation_t *compilation, const char *symbol, const double *values,
                                           size_t count, bool complex_values, hx_report_t *report) {
  return hx_compilation_encode_materials(compilation, symbol, values, 0, count, complex_values, report);
}

hx_status_t hx_compilation_encode_materials(hx_compilation_t *compilation, const char *symbol, const double *values,
                                            size_t items, size_t count, bool complex_values, hx_report_t *report) {
  if (compilation == NULL || symbol == NULL || values == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compilation_encode_material: an argument is NULL");
  }
  const hx_type_t *type;
  HX_TRY(find_type(compilation, symbol, &type, report));
  const uint32_t needed = HX_KNOWN_SCALE | HX_KNOWN_DEPTH | HX_KNOWN_SLOTS;
  if (type->kind != HX_TYPE_PLAINTEXT || (type->known & needed) != needed) {
    return hx_report_fail(report, HX_CODE_MATERIAL,
                          "@%s cannot be encoded: its type is no plaintext with scale, depth and slots", symbol);
  }
  char *scale = hx_alloc(HX_SCALE_TEXT_MAX);
  if (scale == NULL) return no_memory(report);
  (void)hx_scale_print(&type->scale, scale);
  const hx_encode_options_t options = {.slots = type->slots,
                                       .depth = type->depth,
                                       .scale = scale,
                                       .weighted = (type->known & HX_KNOWN_BASIS) != 0 && type->basis == HX_BASIS_QP};
  hx_value_t *value = NULL;
  hx_status_t status =
      items == 0 ? hx_encode(compilation->params, values, count, complex_values, &options, &value, report)
                 : hx_encode_batch(compilation->params, values, items, count, complex_values, &options, &value, report);
  if (status == HX_STATUS_OK) status = hx_compilation_bind_material(compilation, symbol, value, report);
  hx_value_release(value);
  hx_free(scale);
  return status;
}
