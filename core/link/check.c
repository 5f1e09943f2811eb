// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a run against what was linked, before anything happens. Every mismatch is reported.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"

typedef struct checker {
  const hx_executable_t *exe;
  hx_report_t *report;
  hx_status_t first;
  uint8_t key_id[16];
  const char *key_owner;  // who carries key_id; NULL while nobody does
} checker_t;

static void note(checker_t *checker, hx_status_t status) {
  if (checker->first == HX_STATUS_OK) checker->first = status;
}

static hx_code_t code_of_part(const char *part) {
  static const struct {
    const char *part;
    hx_code_t code;
  } codes[] = {{"scale", HX_CODE_SCALE_MISMATCH},  {"depth", HX_CODE_DEPTH_MISMATCH}, {"slots", HX_CODE_SLOTS_MISMATCH},
               {"components", HX_CODE_COMPONENTS}, {"domain", HX_CODE_DOMAIN},        {"repr", HX_CODE_DOMAIN},
               {"primes", HX_CODE_PRIMES},         {"basis", HX_CODE_PRIMES},         {"batch", HX_CODE_SHAPE}};
  for (size_t i = 0; i < HX_COUNT_OF(codes); ++i) {
    if (strcmp(codes[i].part, part) == 0) return codes[i].code;
  }
  return HX_CODE_TYPE;
}

// Parts are checked in this order: the cause before what follows from it.
static hx_status_t fail_type(const checker_t *checker, const char *role, const char *name, const hx_type_t *expected,
                             const hx_type_t *found, const char *part) {
  hx_text_t want, have;
  hx_text_init(&want);
  hx_text_init(&have);
  (void)hx_type_print(expected, &want);
  (void)hx_type_print(found, &have);
  if (expected->depth != found->depth) part = "depth";
  char text[256];
  snprintf(text, sizeof text, "%s %s has another %s than the program was linked for", role, name, part);
  const hx_fault_t fault = {.code = code_of_part(part),
                            .source = checker->exe->program->source,
                            .text = text,
                            .expected = want.failed ? NULL : want.data,
                            .found = have.failed ? NULL : have.data};
  const hx_status_t status = hx_report_add(checker->report, &fault);
  hx_text_deinit(&want);
  hx_text_deinit(&have);
  return status;
}

static void check_state(checker_t *checker, const char *role, const char *name, const hx_type_t *expected,
                        const hx_value_t *value) {
  const char *part = "type";
  if (!hx_params_same(value->params, checker->exe->params)) {
    note(checker, hx_report_fail(checker->report, HX_CODE_PARAMS_DIGEST,
                                 "%s %s belongs to parameters %.16s..., the program to %.16s...", role, name,
                                 hx_params_digest_hex(value->params), hx_params_digest_hex(checker->exe->params)));
  } else if (value->type.kind != expected->kind) {
    note(checker, hx_report_fail(checker->report, HX_CODE_TYPE, "%s %s is a %s, the program wants a %s", role, name,
                                 hx_type_kind_name(value->type.kind), hx_type_kind_name(expected->kind)));
  } else if (!hx_type_agrees(expected, &value->type, &part)) {
    note(checker, fail_type(checker, role, name, expected, &value->type, part));
  }
}

static void check_key_id(checker_t *checker, const char *name, const uint8_t id[16]) {
  static const uint8_t none[16];
  if (memcmp(id, none, sizeof none) == 0) return;
  if (checker->key_owner == NULL) {
    memcpy(checker->key_id, id, sizeof checker->key_id);
    checker->key_owner = name;
  } else if (memcmp(checker->key_id, id, sizeof checker->key_id) != 0) {
    char found[33], expected[33];
    for (size_t i = 0; i < 16; ++i) {
      snprintf(found + 2 * i, 3, "%02x", id[i]);
      snprintf(expected + 2 * i, 3, "%02x", checker->key_id[i]);
    }
    note(checker, hx_report_fail(checker->report, HX_CODE_KEY_ID, "%s carries key id %s, %s carries %s: another secret",
                                 name, found, checker->key_owner, expected));
  }
}

// In a program that switches between secrets: inputs of one class agree with each other and with what is known of it.
static void check_classes(checker_t *checker, const hx_value_t *const *inputs) {
  const hx_executable_t *exe = checker->exe;
  for (uint32_t c = 0; c < exe->secret_count; ++c) {
    checker->key_owner = exe->secrets[c].is_known ? exe->secrets[c].owner : NULL;
    memcpy(checker->key_id, exe->secrets[c].id, sizeof checker->key_id);
    for (size_t i = 0; i < exe->input_count; ++i) {
      if (exe->input_secrets[i] == c && inputs[i] != NULL)
        check_key_id(checker, exe->inputs[i].name, inputs[i]->key_id);
    }
  }
}

static void check_input(checker_t *checker, size_t index, const hx_value_t *value) {
  const hx_executable_t *exe = checker->exe;
  const char *name = exe->inputs[index].name;
  if (value == NULL) {
    note(checker, hx_report_fail(checker->report, HX_CODE_INPUT, "input %s is missing", name));
    return;
  }
  const hx_status_t data = hx_value_want_data(value, "hx_run computes", checker->report);
  if (data != HX_STATUS_OK) {
    note(checker, data);
    return;
  }
  check_state(checker, "input", name, exe->input_types[index], value);
  if (exe->input_numbers[index] != HX_NONE && value->tensor->storage->address == NULL)
    note(checker, hx_report_fail(checker->report, HX_CODE_DEVICE_MIX, "input %s is a number in device memory", name));
  if (exe->secrets == NULL) check_key_id(checker, name, value->key_id);
  if (value->secret && !exe->secret_inputs[index]) {
    note(checker, hx_report_fail(checker->report, HX_CODE_CAPABILITY,
                                 "input %s is secret, but the program was linked for a public value there: write "
                                 "heliox.secret = true into its arg_attrs",
                                 name));
  }
}

static bool is_owned_alone(const hx_value_t *value) {
  return atomic_load(&value->refs) == 1 && atomic_load(&value->tensor->refs) == 1 &&
         atomic_load(&value->tensor->storage->refs) == 1;
}

static void check_output(checker_t *checker, size_t index, hx_value_t *const *outputs) {
  const hx_executable_t *exe = checker->exe;
  const hx_value_t *value = outputs[index];
  const char *name = exe->outputs[index].name;
  check_state(checker, "output", name, exe->output_types[index], value);
  bool alone = is_owned_alone(value);
  for (size_t i = 0; i < index; ++i) alone = alone && outputs[i] != value;
  if (!alone) {
    note(checker,
         hx_report_fail(checker->report, HX_CODE_INVALID_ARGUMENT,
                        "output %s is in use elsewhere: a value to write into must be owned by nobody else", name));
  }
  if (!hx_layout_is_dense(&value->tensor->layout) || value->tensor->offset % exe->device->alignment != 0) {
    note(checker,
         hx_report_fail(checker->report, HX_CODE_SHAPE, "output %s is a view: its rows must lie side by side", name));
  }
  if (exe->output_rules[index].secret && !value->secret) {
    note(checker,
         hx_report_fail(checker->report, HX_CODE_SECRET, "output %s is secret, the value given for it is not", name));
  }
}

// The one call reads and writes the same places.
static bool lies_alike(const hx_executable_t *exe, size_t input, const hx_tensor_t *from, const hx_tensor_t *to) {
  return from->offset == to->offset && hx_layout_equal(&from->layout, &to->layout) &&
         hx_layout_equal(&from->layout, &exe->input_layouts[input]) && from->offset % exe->device->alignment == 0;
}

bool hx_executable_may_replace(const hx_executable_t *exe, size_t input, size_t output) {
  if (exe->steps.count != 1 || exe->output_count != 1 || output != 0 || exe->steps.items[0].kind != HX_STEP_CALL)
    return false;
  const hx_step_t *step = &exe->steps.items[0];
  if (step->result_count != 1 || step->may_alias[0] < 0) return false;
  // No other operand may be the same input: only this one may be read where the result is written.
  for (uint32_t i = 0; i < step->operand_count; ++i) {
    const hx_root_t *root = &exe->roots[hx_root_of(exe, exe->slots[step->operands[i]].root)];
    const bool is_input = root->kind == HX_ROOT_INPUT && root->index == input;
    if (is_input != (i == (uint32_t)step->may_alias[0])) return false;
  }
  return true;
}

hx_status_t hx_run_check(const hx_executable_t *exe, const hx_value_t *const *inputs, hx_value_t *const *outputs,
                         uint8_t out_key_id[16], hx_report_t *report) {
  checker_t checker = {.exe = exe, .report = report, .first = HX_STATUS_OK};
  if (exe->secrets != NULL) {
    check_classes(&checker, inputs);
  } else if (exe->has_keys) {
    check_key_id(&checker, "the bound key set", exe->key_id);
  }
  for (size_t i = 0; i < exe->material_count; ++i) {
    const hx_bound_material_t *material = &exe->materials[i];
    if (exe->secrets == NULL) check_key_id(&checker, material->symbol, material->key_id);
    if (material->placed != NULL && hx_tensor_generation(material->tensor) != material->generation) {
      note(&checker,
           hx_report_fail(report, HX_CODE_MATERIAL, "material @%s changed after it was placed on %s: link again",
                          material->symbol, exe->sites[material->site].device->name));
    }
  }
  for (size_t i = 0; i < exe->input_count; ++i) check_input(&checker, i, inputs[i]);
  for (size_t i = 0; i < exe->output_count; ++i) {
    if (outputs[i] == NULL) continue;
    for (size_t k = 0; k < exe->input_count; ++k) {
      if (inputs[k] == NULL || inputs[k]->tensor->storage != outputs[i]->tensor->storage) continue;
      if (hx_executable_may_replace(exe, k, i) && lies_alike(exe, k, inputs[k]->tensor, outputs[i]->tensor)) continue;
      note(&checker, hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "output %s lies in the memory of input %s",
                                    exe->outputs[i].name, exe->inputs[k].name));
    }
    check_output(&checker, i, outputs);
  }
  memcpy(out_key_id, checker.key_id, sizeof checker.key_id);
  return checker.first;
}
