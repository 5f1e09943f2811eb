// SPDX-License-Identifier: Apache-2.0
// Measuring the candidates of every distinct operation of a program: each is linked as a program of its own to the
// backend and run on random residues, which exact arithmetic takes as long for as for any others.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/compile/random.h"
#include "core/passes/costs.h"
#include "core/passes/passes.h"

#define SECONDS_DEFAULT 0.05
#define RUNS_MIN 3
#define RUNS_MAX 1000

typedef struct hx_tuner {
  const hx_compilation_t *compilation;
  const hx_backend_t *backend;
  const hx_tune_options_t *options;
  hx_costs_t *costs;
  hx_report_t *report;
  const hx_ring *ring;
  const char *device, *digest;
  double seconds;
  uint64_t random;
  hx_text_t shape;
  hx_status_t status;
} hx_tuner_t;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ------------------------------------------------------------------ one operation as a program

static hx_status_t fill_main(hx_program_t *program, const hx_ir_op_t *op, hx_ir_block_t *block, size_t operand_count,
                             const hx_ring *ring, hx_report_t *report) {
  hx_named_attr_t items[HX_OP_ATTRS_MAX];
  size_t count = 0;
  for (size_t i = 0; i < op->attrs.count && count < HX_OP_ATTRS_MAX; ++i) {
    // What the program asks for is one candidate among others here.
    const hx_str_t name = op->attrs.items[i].name;
    if (name.size < 7 || memcmp(name.data, "heliox.", 7) != 0) items[count++] = op->attrs.items[i];
  }
  hx_attrs_t attrs;
  hx_ir_op_t *single, *last;
  HX_TRY(hx_program_attrs(program, items, count, &attrs));
  HX_TRY(hx_ir_build(program, block, NULL, op->info->id, block->arguments, operand_count, attrs, op->result_count, ring,
                     report, &single));
  HX_TRY(
      hx_ir_create(program, HX_OP_RETURN, single->results, single->result_count, NULL, 0, (hx_attrs_t){0}, 0, &last));
  hx_ir_insert(block, NULL, last);
  return HX_STATUS_OK;
}

// Operands that are no keys are inputs; keys are added by linking.
static hx_status_t make_program(const hx_ir_op_t *op, const hx_ring *ring, hx_program_t **out, hx_report_t *report) {
  hx_program_t *program = NULL;
  HX_TRY(hx_program_create(op->info->name, &program));
  const hx_named_attr_t name = {.name = hx_str("sym_name"),
                                .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("main")}};
  const hx_named_attr_t items[] = {{.name = hx_str("function_type"), .value = {.kind = HX_ATTRIBUTE_TYPE}}, name};
  hx_attrs_t attrs;
  hx_ir_op_t *func = NULL;
  hx_status_t status = hx_program_attrs(program, items, 2, &attrs);
  if (status == HX_STATUS_OK) status = hx_ir_create(program, HX_OP_FUNC, NULL, 0, NULL, 0, attrs, 1, &func);
  size_t count = 0;
  if (status == HX_STATUS_OK) {
    hx_ir_insert(program->module->regions[0]->block, NULL, func);
    for (; count < op->operand_count && op->operands[count]->type->kind != HX_TYPE_KEY && status == HX_STATUS_OK;
         ++count) {
      hx_ir_value_t *argument;
      status = hx_ir_add_argument(program, hx_func_block(func), op->operands[count]->type, &argument);
    }
  }
  if (status == HX_STATUS_OK) status = fill_main(program, op, hx_func_block(func), count, ring, report);
  if (status == HX_STATUS_OK) status = hx_func_refresh_type(program, func);
  if (status == HX_STATUS_OK) status = hx_program_refresh(program, report);
  if (status == HX_STATUS_OK) {
    *out = program;
  } else {
    hx_program_release(program);
  }
  return status;
}

// ------------------------------------------------------------------ measuring

static hx_status_t run_for(hx_tuner_t *tuner, hx_executable_t *executable, const hx_value_t *const *inputs,
                           size_t output_count, double *out_nanoseconds) {
  hx_value_t **outputs = hx_zalloc(output_count + 1, sizeof *outputs);
  if (outputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  // The first run takes memory and packs keys; results are written into its outputs from then on.
  hx_status_t status = hx_run(executable, inputs, outputs, tuner->report);
  double least = 0, spent = 0;
  for (size_t runs = 0; status == HX_STATUS_OK && runs < RUNS_MAX && (runs < RUNS_MIN || spent < tuner->seconds);
       ++runs) {
    const double start = now();
    status = hx_run(executable, inputs, outputs, tuner->report);
    const double seconds = now() - start;
    spent += seconds;
    if (runs == 0 || seconds < least) least = seconds;
  }
  for (size_t i = 0; i < output_count; ++i) hx_value_release(outputs[i]);
  hx_free(outputs);
  *out_nanoseconds = least > 0 ? least * 1e9 : 1;
  return status;
}

static hx_status_t measure_linked(hx_tuner_t *tuner, hx_executable_t *executable, double *out) {
  const hx_port_t *ports = NULL;
  const size_t input_count = hx_executable_inputs(executable, &ports);
  hx_value_t **inputs = hx_zalloc(input_count + 1, sizeof *inputs);
  if (inputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < input_count && status == HX_STATUS_OK; ++i) {
    hx_value_t *host = NULL;
    status = hx_value_make_random(tuner->compilation, hx_executable_input_type(executable, i), ports[i].name,
                                  &tuner->random, &host, tuner->report);
    if (status == HX_STATUS_OK) status = hx_value_to_device(host, tuner->backend, &inputs[i], tuner->report);
    hx_value_release(host);
  }
  const hx_port_t *results = NULL;
  const size_t output_count = hx_executable_outputs(executable, &results);
  if (status == HX_STATUS_OK) status = run_for(tuner, executable, (const hx_value_t *const *)inputs, output_count, out);
  for (size_t i = 0; i < input_count; ++i) hx_value_release(inputs[i]);
  hx_free(inputs);
  return status;
}

static hx_status_t measure(hx_tuner_t *tuner, const hx_program_t *program, const hx_ir_op_t *op, const char *candidate,
                           const hx_link_options_t *options) {
  if (hx_costs_find(tuner->costs, op->info->name, tuner->shape.data, candidate) > 0) return HX_STATUS_OK;
  hx_link_source_t source = hx_compilation_source(tuner->compilation);
  source.program = program;
  hx_executable_t *executable = NULL;
  HX_TRY(hx_link_program(&source, tuner->backend, options, &executable, tuner->report));
  hx_cost_t row = {.device = tuner->device,
                   .digest = tuner->digest,
                   .operation = op->info->name,
                   .shape = tuner->shape.data,
                   .candidate = candidate};
  hx_status_t status = measure_linked(tuner, executable, &row.nanoseconds);
  hx_executable_release(executable);
  if (status == HX_STATUS_OK) status = hx_costs_set(tuner->costs, &row);
  if (status == HX_STATUS_OK && tuner->options != NULL && tuner->options->measured != NULL)
    tuner->options->measured(tuner->options->argument, &row);
  return status;
}

// Implementations that answer without being named, where there are several.
static hx_status_t measure_implementations(hx_tuner_t *tuner, const hx_program_t *program, const hx_ir_op_t *op) {
  const hx_backend_t *backend = tuner->backend;
  size_t count = 0;
  for (size_t i = 0; i < backend->row_count; ++i) count += backend->rows[i].op == op->info->id ? 1 : 0;
  for (size_t i = 0; i < backend->row_count && count > 1; ++i) {
    const hx_implementation_t *row = &backend->rows[i];
    if (row->op != op->info->id) continue;
    char candidate[2 * HX_NAME_MAX + 16];
    (void)snprintf(candidate, sizeof candidate, "implementation %s", row->qualified);
    const hx_link_wish_t wish = {.operation = op->info->name, .implementation = row->qualified};
    const hx_link_options_t options = {.pipeline = "", .place_materials = true, .wishes = &wish, .wish_count = 1};
    hx_report_t *own = hx_report_create();
    hx_report_t *kept = tuner->report;
    tuner->report = own;
    // One that does not cover the shape is no candidate.
    const hx_status_t status = measure(tuner, program, op, candidate, &options);
    tuner->report = kept;
    hx_report_release(own);
    if (status == HX_STATUS_OUT_OF_MEMORY) return status;
  }
  return HX_STATUS_OK;
}

static bool is_native(const hx_tuner_t *tuner, const hx_ir_op_t *op) {
  const hx_type_t **types = hx_zalloc(op->operand_count + op->result_count + 1, sizeof *types);
  if (types == NULL) return false;
  for (size_t i = 0; i < op->operand_count; ++i) types[i] = op->operands[i]->type;
  for (size_t i = 0; i < op->result_count; ++i) types[op->operand_count + i] = op->results[i]->type;
  const hx_invocation_t call = {.op = op->info,
                                .operands = types,
                                .operand_count = op->operand_count,
                                .results = types + op->operand_count,
                                .result_count = op->result_count,
                                .ring = tuner->ring};
  const bool native = hx_backend_supports(tuner->backend, &call);
  hx_free((void *)types);
  return native;
}

static hx_status_t tune_op(hx_ir_op_t *op, void *argument) {
  hx_tuner_t *tuner = argument;
  const bool is_choice = (op->info->tier == HX_TIER_WHOLE || op->info->tier == HX_TIER_DERIVED) &&
                         (op->info->flags & HX_OP_FLAG_VIEW) == 0 && op->info->id != HX_OP_CKKS_KEY_SWITCH &&
                         op->info->id != HX_OP_RNS_KEY_PRODUCT;  // their keys are no key set's
  if (!is_choice) return HX_STATUS_OK;
  const hx_status_t shaped = hx_cost_shape(op, tuner->ring, &tuner->shape);
  if (shaped != HX_STATUS_OK) return shaped == HX_STATUS_INVALID ? HX_STATUS_OK : shaped;
  const hx_link_options_t whole = {.pipeline = "", .place_materials = true},
                          lowered = {.pipeline = "", .place_materials = true, .lower_all = true};
  hx_program_t *program = NULL;
  HX_TRY(make_program(op, tuner->ring, &program, tuner->report));
  hx_status_t status = HX_STATUS_OK;
  if (is_native(tuner, op)) status = measure(tuner, program, op, "whole", &whole);
  if (status == HX_STATUS_OK) status = measure(tuner, program, op, "lowered", &lowered);
  if (status == HX_STATUS_OK) status = measure_implementations(tuner, program, op);
  hx_program_release(program);
  return status;
}

hx_status_t hx_tune(const hx_compilation_t *compilation, const hx_backend_t *backend, const hx_tune_options_t *options,
                    hx_costs_t *costs, hx_report_t *report) {
  if (compilation == NULL || backend == NULL || costs == NULL || backend->device_count == 0)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "hx_tune: an argument is NULL, or the backend has no device");
  hx_tuner_t tuner = {.compilation = compilation,
                      .backend = backend,
                      .options = options,
                      .costs = costs,
                      .report = report,
                      .ring = hx_params_ring(compilation->params),
                      .device = backend->devices[0]->name,
                      .digest = backend->plugins[0]->digest,
                      .seconds = options != NULL && options->seconds > 0 ? options->seconds : SECONDS_DEFAULT,
                      .random = 1};
  hx_program_t *clone = NULL;
  hx_text_init(&tuner.shape);
  hx_status_t status = hx_costs_use(costs, tuner.device, tuner.digest);
  if (status == HX_STATUS_OK) status = hx_program_clone(compilation->program, &clone);
  const hx_pass_env_t env = {.ring = tuner.ring, .report = report};
  if (status == HX_STATUS_OK) status = hx_pipeline_run(clone, "inline{only=main},infer-state", &env);
  if (status == HX_STATUS_OK) status = hx_ir_walk(clone->module, tune_op, &tuner);
  hx_program_release(clone);
  hx_text_deinit(&tuner.shape);
  if (status == HX_STATUS_OUT_OF_MEMORY) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to tune");
  return status;
}
