// SPDX-License-Identifier: Apache-2.0
// Predicted noise of a compilation's outputs: from what is known of inputs and bound materials.
#include "core/passes/noise.h"

#include <string.h>

#include "core/compile/compilation.h"

static const hx_noise_t *find_material(void *context, hx_str_t symbol) {
  const hx_compilation_t *compilation = context;
  for (size_t i = 0; i < compilation->binding_count; ++i) {
    if (hx_str_equal(hx_str(compilation->bindings[i].symbol), symbol)) return &compilation->bindings[i].value->noise;
  }
  return NULL;
}

static hx_status_t predict(const hx_compilation_t *compilation, const hx_value_t *const *inputs, double magnitude,
                           hx_noise_t *out, hx_report_t *report) {
  hx_program_t *program = NULL;
  const hx_noise_t **noises = hx_zalloc(compilation->program->input_count + 1, sizeof *noises);
  hx_status_t status = noises == NULL ? HX_STATUS_OUT_OF_MEMORY : hx_program_clone(compilation->program, &program);
  if (status != HX_STATUS_OK) {
    hx_free((void *)noises);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to predict the noise of a program");
  }
  for (size_t i = 0; inputs != NULL && i < program->input_count; ++i)
    noises[i] = inputs[i] == NULL ? NULL : &inputs[i]->noise;
  const hx_noise_plan_t plan = {.params = compilation->params,
                                .magnitude = magnitude,
                                .inputs = noises,
                                .material = find_material,
                                .context = (void *)(uintptr_t)compilation};
  status = hx_program_infer(program, hx_params_ring(compilation->params), report);
  if (status == HX_STATUS_OK) status = hx_program_predict_noise(program, &plan, out, report);
  hx_program_release(program);
  hx_free((void *)noises);
  return status;
}

hx_status_t hx_compilation_note_noise(const hx_compilation_t *compilation, const hx_value_t *const *inputs,
                                      hx_value_t *const *outputs, hx_report_t *report) {
  if (compilation == NULL || inputs == NULL || outputs == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compilation_note_noise: an argument is NULL");
  const size_t count = compilation->program->output_count;
  hx_noise_t *noises = hx_zalloc(count + 1, sizeof *noises);
  if (noises == NULL)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to predict the noise of a program");
  const hx_status_t status = predict(compilation, inputs, 0, noises, report);
  for (size_t i = 0; status == HX_STATUS_OK && i < count; ++i) {
    if (outputs[i] != NULL) outputs[i]->noise = noises[i];
  }
  hx_free(noises);
  return status;
}
