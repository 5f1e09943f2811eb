// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "tests/kat/kat.h"

static void print_types(hx_text_t *text, hx_value_t *const *inputs, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) hx_text_puts(text, ", ");
    if (hx_type_print(&inputs[i]->type, text) != HX_STATUS_OK) abort();
  }
}

static void print_list(hx_text_t *text, const char *const *items, size_t count) {
  for (size_t i = 0; i < count; ++i) hx_text_printf(text, "%s%s", i == 0 ? "" : ", ", items[i]);
}

static hx_status_t parse(const char *body, hx_value_t *const *inputs, size_t input_count,
                         const char *const *result_types, size_t result_count, hx_program_t **out,
                         hx_report_t *report) {
  hx_text_t text;
  hx_text_init(&text);
  hx_text_puts(&text, "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(");
  for (size_t i = 0; i < input_count; ++i) {
    hx_text_printf(&text, "%s%%a%zu: ", i == 0 ? "" : ", ", i);
    if (hx_type_print(&inputs[i]->type, &text) != HX_STATUS_OK) abort();
  }
  hx_text_printf(&text, "):\n%s\n\"func.return\"(", body);
  for (size_t i = 0; i < result_count; ++i) hx_text_printf(&text, "%s%%r%zu", i == 0 ? "" : ", ", i);
  hx_text_puts(&text, ") : (");
  print_list(&text, result_types, result_count);
  hx_text_puts(&text, ") -> ()\n}) {sym_name = \"main\", function_type = (");
  print_types(&text, inputs, input_count);
  hx_text_puts(&text, ") -> (");
  print_list(&text, result_types, result_count);
  hx_text_puts(&text, ")} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n");
  if (text.failed) abort();
  const hx_status_t status = hx_program_parse((hx_str_t){.data = text.data, .size = text.size}, "case", out, report);
  if (status != HX_STATUS_OK && getenv("HELIOX_KAT_SHOW") != NULL) fprintf(stderr, "%s\n", text.data);
  hx_text_deinit(&text);
  return status;
}

hx_status_t kat_run(kat_t *kat, const hx_params_t *params, const hx_keys_t *keys, const char *body,
                    hx_value_t *const *inputs, size_t input_count, const char *const *result_types, size_t result_count,
                    hx_value_t **outputs, hx_report_t *report) {
  return kat_run_switching(kat, params, keys, NULL, body, inputs, input_count, result_types, result_count, outputs,
                           report);
}

hx_status_t kat_run_switching(kat_t *kat, const hx_params_t *params, const hx_keys_t *keys, const hx_switch_t *key,
                              const char *body, hx_value_t *const *inputs, size_t input_count,
                              const char *const *result_types, size_t result_count, hx_value_t **outputs,
                              hx_report_t *report) {
  hx_program_t *program = NULL;
  hx_executable_t *executable = NULL;
  for (size_t i = 0; i < result_count; ++i) outputs[i] = NULL;
  hx_status_t status = parse(body, inputs, input_count, result_types, result_count, &program, report);
  const hx_switch_binding_t binding = {.symbol = "switch", .key = key};
  const hx_link_source_t source = {
      .program = program, .params = params, .keys = keys, .switches = &binding, .switch_count = key != NULL};
  const hx_link_options_t options = {.place_materials = true};
  if (status == HX_STATUS_OK) status = hx_link_program(&source, kat->backend, &options, &executable, report);
  if (status == HX_STATUS_OK) status = hx_run(executable, (const hx_value_t *const *)inputs, outputs, report);
  hx_executable_release(executable);
  hx_program_release(program);
  return status;
}

hx_status_t kat_call(kat_t *kat, const hx_params_t *params, const char *op, const char *attributes, const char *result,
                     hx_value_t *const *inputs, size_t input_count, hx_value_t **out, hx_report_t *report) {
  hx_text_t body;
  hx_text_init(&body);
  hx_text_printf(&body, "%%r0 = \"%s\"(", op);
  for (size_t i = 0; i < input_count; ++i) hx_text_printf(&body, "%s%%a%zu", i == 0 ? "" : ", ", i);
  hx_text_puts(&body, ")");
  if (attributes[0] != '\0') hx_text_printf(&body, " {%s}", attributes);
  hx_text_puts(&body, " : (");
  print_types(&body, inputs, input_count);
  hx_text_printf(&body, ") -> %s", result);
  if (body.failed) abort();
  const hx_status_t status = kat_run(kat, params, NULL, body.data, inputs, input_count, &result, 1, out, report);
  hx_text_deinit(&body);
  return status;
}

void kat_count_fault(kat_t *kat, const char *name, const hx_report_t *report) {
  const hx_fault_t *fault = hx_report_get(report, 0);
  if (fault == NULL) {
    kat_check(kat, false, "%s: failed without a reason", name);
    return;
  }
  if (fault->code == HX_CODE_UNSUPPORTED || fault->code == HX_CODE_IMPLEMENTATION) {
    kat_skip(kat, fault->text);
    return;
  }
  kat_check(kat, false, "%s: %s: %s", name, hx_code_info(fault->code)->word, fault->text);
}
