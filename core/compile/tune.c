// SPDX-License-Identifier: Apache-2.0
// Measuring the candidates of every distinct operation of a program: each is linked as a program of its own to the
// backend and run on random residues, which exact arithmetic takes as long for as for any others.
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/compile/random.h"
#include "core/passes/costs.h"
#include "core/passes/fuse.h"
#include "core/passes/target.h"

#define SECONDS_DEFAULT 0.05
#define RUNS_MIN 9
#define RUNS_MAX 1000
#define TRIALS_MAX 8

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
  hx_pass_env_t env;       // of the target, for chains
  const hx_ir_op_t *func;  // around the operation
  bool only_transforms;    // of what lowering makes
  hx_status_t status;
} hx_tuner_t;

// ------------------------------------------------------------------ operations as a program

// Operations in a row, one or a chain in which each reads the result of the one before it first.
typedef struct hx_piece {
  hx_ir_op_t *ops[HX_FUSED_MAX];
  size_t count;
} hx_piece_t;

static size_t data_operands(const hx_ir_op_t *op) {
  size_t count = 0;
  while (count < op->operand_count && op->operands[count]->type->kind != HX_TYPE_KEY) ++count;
  return count;
}

// One operation again; operands[0] to [count - 1] are its operands. *out: it.
static hx_status_t add_again(hx_program_t *program, const hx_ir_op_t *op, hx_ir_block_t *block,
                             hx_ir_value_t *const *operands, size_t operand_count, const hx_ring *ring,
                             hx_report_t *report, hx_ir_op_t **out) {
  hx_named_attr_t items[HX_OP_ATTRS_MAX];
  size_t count = 0;
  for (size_t i = 0; i < op->attrs.count && count < HX_OP_ATTRS_MAX; ++i) {
    // What the program asks for is one candidate among others here.
    const hx_str_t name = op->attrs.items[i].name;
    if (name.size < 7 || memcmp(name.data, "heliox.", 7) != 0) items[count++] = op->attrs.items[i];
  }
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(program, items, count, &attrs));
  return hx_ir_build(program, block, NULL, op->info->id, operands, operand_count, attrs, op->result_count, ring, report,
                     out);
}

static hx_status_t fill_main(hx_program_t *program, const hx_piece_t *piece, hx_ir_block_t *block, const hx_ring *ring,
                             hx_report_t *report) {
  hx_ir_op_t *made = NULL, *last;
  size_t argument = 0;
  for (size_t i = 0; i < piece->count; ++i) {
    const hx_ir_op_t *op = piece->ops[i];
    const size_t count = data_operands(op), linked = made == NULL ? 0 : 1;
    hx_ir_value_t **operands = hx_zalloc(count + 1, sizeof(hx_ir_value_t *));
    if (operands == NULL) return HX_STATUS_OUT_OF_MEMORY;
    if (made != NULL) operands[0] = made->results[0];
    for (size_t k = linked; k < count; ++k) operands[k] = block->arguments[argument++];
    const hx_status_t status = add_again(program, op, block, operands, count, ring, report, &made);
    hx_free(operands);
    if (status != HX_STATUS_OK) return status;
  }
  if (made == NULL) return HX_STATUS_OK;  // a piece without operations returns nothing
  HX_TRY(hx_ir_create(program, HX_OP_RETURN, made->results, made->result_count, NULL, 0, (hx_attrs_t){0}, 0, &last));
  hx_ir_insert(block, NULL, last);
  return HX_STATUS_OK;
}

// An input for each operand that is no key and comes from outside the piece; keys are added by linking.
static hx_status_t add_inputs(hx_program_t *program, const hx_piece_t *piece, hx_ir_block_t *block) {
  for (size_t i = 0; i < piece->count; ++i) {
    const size_t count = data_operands(piece->ops[i]);
    for (size_t k = i == 0 ? 0 : 1; k < count; ++k) {
      hx_ir_value_t *argument;
      HX_TRY(hx_ir_add_argument(program, block, piece->ops[i]->operands[k]->type, &argument));
    }
  }
  return HX_STATUS_OK;
}

static hx_status_t make_program(const hx_piece_t *piece, const hx_ring *ring, hx_program_t **out, hx_report_t *report) {
  hx_program_t *program = NULL;
  HX_TRY(hx_program_create(piece->ops[0]->info->name, &program));
  const hx_named_attr_t name = {.name = hx_str("sym_name"),
                                .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("main")}};
  const hx_named_attr_t items[] = {{.name = hx_str("function_type"), .value = {.kind = HX_ATTRIBUTE_TYPE}}, name};
  hx_attrs_t attrs;
  hx_ir_op_t *func = NULL;
  hx_status_t status = hx_program_attrs(program, items, 2, &attrs);
  if (status == HX_STATUS_OK) status = hx_ir_create(program, HX_OP_FUNC, NULL, 0, NULL, 0, attrs, 1, &func);
  if (status == HX_STATUS_OK) {
    hx_ir_insert(program->module->regions[0]->block, NULL, func);
    status = add_inputs(program, piece, hx_func_block(func));
  }
  if (status == HX_STATUS_OK) status = fill_main(program, piece, hx_func_block(func), ring, report);
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

// One candidate, linked and warm.
typedef struct hx_trial {
  char name[2 * HX_NAME_MAX + 16];
  hx_executable_t *executable;
  hx_value_t **inputs, **outputs;
  size_t input_count, output_count;
  double least;  // seconds
} hx_trial_t;

static void end_trial(hx_trial_t *trial) {
  for (size_t i = 0; trial->inputs != NULL && i < trial->input_count; ++i) hx_value_release(trial->inputs[i]);
  for (size_t i = 0; trial->outputs != NULL && i < trial->output_count; ++i) hx_value_release(trial->outputs[i]);
  hx_free(trial->inputs);
  hx_free(trial->outputs);
  hx_executable_release(trial->executable);
}

static hx_status_t run_trial(hx_trial_t *trial, hx_report_t *report) {
  return hx_run(trial->executable, (const hx_value_t *const *)trial->inputs, trial->outputs, report);
}

// The first run takes memory and packs keys; results are written into its outputs from then on.
static hx_status_t warm_up(hx_tuner_t *tuner, hx_trial_t *trial, hx_report_t *report) {
  const hx_port_t *ports = NULL, *results = NULL;
  trial->input_count = hx_executable_inputs(trial->executable, &ports);
  trial->output_count = hx_executable_outputs(trial->executable, &results);
  trial->inputs = hx_zalloc(trial->input_count + 1, sizeof *trial->inputs);
  trial->outputs = hx_zalloc(trial->output_count + 1, sizeof *trial->outputs);
  if (trial->inputs == NULL || trial->outputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < trial->input_count; ++i) {
    hx_value_t *host = NULL;
    hx_status_t status = hx_value_make_random(tuner->compilation, hx_executable_input_type(trial->executable, i),
                                              ports[i].name, &tuner->random, &host, report);
    if (status == HX_STATUS_OK) status = hx_value_to_device(host, tuner->backend, &trial->inputs[i], report);
    hx_value_release(host);
    if (status != HX_STATUS_OK) return status;
  }
  return run_trial(trial, report);
}

// Links a candidate where the table has no row of it yet; leaves trials[*count] empty otherwise.
static hx_status_t start_trial(hx_tuner_t *tuner, const hx_program_t *program, const char *operation, const char *name,
                               const hx_link_options_t *options, hx_report_t *report, hx_trial_t *trials,
                               size_t *count) {
  if (*count == TRIALS_MAX || hx_costs_find(tuner->costs, operation, tuner->shape.data, name) > 0) return HX_STATUS_OK;
  hx_trial_t *trial = &trials[*count];
  *trial = (hx_trial_t){0};
  (void)snprintf(trial->name, sizeof trial->name, "%s", name);
  hx_link_source_t source = hx_compilation_source(tuner->compilation);
  source.program = program;
  hx_status_t status = hx_link_program(&source, tuner->backend, options, &trial->executable, report);
  if (status == HX_STATUS_OK) status = warm_up(tuner, trial, report);
  if (status == HX_STATUS_OK) {
    *count += 1;
  } else {
    end_trial(trial);
  }
  return status;
}

// Candidates take turns, so that what else the machine does meets all of them alike; the least time of each counts.
static hx_status_t measure(hx_tuner_t *tuner, const char *operation, hx_trial_t *trials, size_t count) {
  double spent = 0;
  for (size_t round = 0; round < RUNS_MAX && (round < RUNS_MIN || spent < tuner->seconds * (double)count); ++round) {
    for (size_t i = 0; i < count; ++i) {
      const double start = hx_clock_seconds();
      HX_TRY(run_trial(&trials[i], tuner->report));
      const double seconds = hx_clock_seconds() - start;
      spent += seconds;
      if (round == 0 || seconds < trials[i].least) trials[i].least = seconds;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const hx_cost_t row = {.device = tuner->device,
                           .digest = tuner->digest,
                           .operation = operation,
                           .shape = tuner->shape.data,
                           .candidate = trials[i].name,
                           .nanoseconds = trials[i].least > 0 ? trials[i].least * 1e9 : 1};
    HX_TRY(hx_costs_set(tuner->costs, &row));
    if (tuner->options != NULL && tuner->options->measured != NULL)
      tuner->options->measured(tuner->options->argument, &row);
  }
  return HX_STATUS_OK;
}

// Implementations, those that answer only to their names too, where there are several. One that does not cover the
// shape is no candidate.
static hx_status_t start_implementations(hx_tuner_t *tuner, const hx_program_t *program, const hx_ir_op_t *op,
                                         hx_trial_t *trials, size_t *count) {
  const hx_backend_t *backend = tuner->backend;
  size_t known = 0;
  for (size_t i = 0; i < backend->row_count; ++i) known += backend->rows[i].op == op->info->id ? 1 : 0;
  for (size_t i = 0; i < backend->row_count && known > 1; ++i) {
    const hx_implementation_t *row = &backend->rows[i];
    if (row->op != op->info->id) continue;
    char name[2 * HX_NAME_MAX + 16];
    (void)snprintf(name, sizeof name, "implementation %s", row->qualified);
    const hx_link_wish_t wish = {.operation = op->info->name, .implementation = row->qualified};
    const hx_link_options_t options = {.pipeline = "", .place_materials = true, .wishes = &wish, .wish_count = 1};
    hx_report_t *own = hx_report_create();
    const hx_status_t status = start_trial(tuner, program, op->info->name, name, &options, own, trials, count);
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

// A chain that the target prepares as one region: that, and its operations one by one.
static hx_status_t tune_chain(hx_tuner_t *tuner, hx_ir_op_t *op) {
  hx_piece_t piece = {0};
  const char *kind = NULL;
  piece.count = hx_fusion_match(&tuner->env, tuner->func, op, piece.ops, &kind);
  if (piece.count == 0) return HX_STATUS_OK;
  const hx_status_t shaped = hx_fusion_shape(kind, piece.ops, piece.count, tuner->ring, &tuner->shape);
  if (shaped != HX_STATUS_OK) return shaped == HX_STATUS_INVALID ? HX_STATUS_OK : shaped;
  const hx_link_options_t fused = {.pipeline = "fuse", .place_materials = true},
                          apart = {.pipeline = "", .place_materials = true};
  hx_program_t *program = NULL;
  HX_TRY(make_program(&piece, tuner->ring, &program, tuner->report));
  hx_trial_t trials[TRIALS_MAX];
  size_t count = 0;
  hx_status_t status = start_trial(tuner, program, "fusion.region", "fused", &fused, tuner->report, trials, &count);
  if (status == HX_STATUS_OK)
    status = start_trial(tuner, program, "fusion.region", "apart", &apart, tuner->report, trials, &count);
  if (status == HX_STATUS_OK && count > 0) status = measure(tuner, "fusion.region", trials, count);
  for (size_t i = 0; i < count; ++i) end_trial(&trials[i]);
  hx_program_release(program);
  return status;
}

// Transforms are primitives: there is nothing to lower, but plugins may have several ways of them.
static hx_status_t tune_transform(hx_tuner_t *tuner, hx_ir_op_t *op) {
  const hx_status_t shaped = hx_cost_shape(op, tuner->ring, &tuner->shape);
  if (shaped != HX_STATUS_OK) return shaped == HX_STATUS_INVALID ? HX_STATUS_OK : shaped;
  const hx_piece_t piece = {.ops = {op}, .count = 1};
  hx_program_t *program = NULL;
  hx_trial_t trials[TRIALS_MAX];
  size_t count = 0;
  HX_TRY(make_program(&piece, tuner->ring, &program, tuner->report));
  hx_status_t status = start_implementations(tuner, program, op, trials, &count);
  if (status == HX_STATUS_OK && count > 0) status = measure(tuner, op->info->name, trials, count);
  for (size_t i = 0; i < count; ++i) end_trial(&trials[i]);
  hx_program_release(program);
  return status;
}

static hx_status_t tune_op(hx_ir_op_t *op, void *argument) {
  hx_tuner_t *tuner = argument;
  if (op->info->id == HX_OP_FUNC) tuner->func = op;
  if (tuner->func != NULL && op->result_count > 0 && !tuner->only_transforms) HX_TRY(tune_chain(tuner, op));
  if (op->info->id == HX_OP_NTT_FORWARD || op->info->id == HX_OP_NTT_INVERSE) return tune_transform(tuner, op);
  if (tuner->only_transforms) return HX_STATUS_OK;
  const bool is_choice = (op->info->tier == HX_TIER_WHOLE || op->info->tier == HX_TIER_DERIVED) &&
                         (op->info->flags & HX_OP_FLAG_VIEW) == 0 && op->info->id != HX_OP_CKKS_KEY_SWITCH &&
                         op->info->id != HX_OP_RNS_KEY_PRODUCT;  // their keys are no key set's
  if (!is_choice) return HX_STATUS_OK;
  const hx_status_t shaped = hx_cost_shape(op, tuner->ring, &tuner->shape);
  if (shaped != HX_STATUS_OK) return shaped == HX_STATUS_INVALID ? HX_STATUS_OK : shaped;
  const hx_link_options_t whole = {.pipeline = "", .place_materials = true},
                          lowered = {.pipeline = "", .place_materials = true, .lower_all = true};
  hx_program_t *program = NULL;
  const hx_piece_t piece = {.ops = {op}, .count = 1};
  HX_TRY(make_program(&piece, tuner->ring, &program, tuner->report));
  hx_status_t status = HX_STATUS_OK;
  hx_trial_t trials[TRIALS_MAX];
  size_t count = 0;
  if (is_native(tuner, op))
    status = start_trial(tuner, program, op->info->name, "whole", &whole, tuner->report, trials, &count);
  if (status == HX_STATUS_OK)
    status = start_trial(tuner, program, op->info->name, "lowered", &lowered, tuner->report, trials, &count);
  if (status == HX_STATUS_OK) status = start_implementations(tuner, program, op, trials, &count);
  if (status == HX_STATUS_OK && count > 0) status = measure(tuner, op->info->name, trials, count);
  for (size_t i = 0; i < count; ++i) end_trial(&trials[i]);
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
  hx_pass_target_t target = {.backend = backend, .ring = tuner.ring};
  tuner.env =
      (hx_pass_env_t){.ring = tuner.ring, .fuses = hx_target_fuses, .fuses_argument = &target, .report = report};
  hx_program_t *clone = NULL;
  hx_text_init(&tuner.shape);
  hx_status_t status = hx_costs_use(costs, tuner.device, tuner.digest);
  if (status == HX_STATUS_OK) status = hx_program_clone(compilation->program, &clone);
  const hx_pass_env_t env = {.ring = tuner.ring, .report = report};
  if (status == HX_STATUS_OK) status = hx_pipeline_run(clone, "inline{only=main},infer-state", &env);
  if (status == HX_STATUS_OK) status = hx_ir_walk(clone->module, tune_op, &tuner);
  // What the default passes make of the program is what runs.
  if (status == HX_STATUS_OK) status = hx_pipeline_run(clone, hx_pipeline_default(), &env);
  if (status == HX_STATUS_OK) status = hx_ir_walk(clone->module, tune_op, &tuner);
  // What the device lacks is lowered when it is linked: of that the transforms.
  tuner.only_transforms = true;
  const hx_pass_env_t lowering = {
      .ring = tuner.ring, .is_native = hx_target_is_native, .native_argument = &target, .report = report};
  if (status == HX_STATUS_OK)
    status = hx_pipeline_run(clone, "resolve-keys,lower{only=missing},infer-state", &lowering);
  if (status == HX_STATUS_OK) status = hx_ir_walk(clone->module, tune_op, &tuner);
  hx_program_release(clone);
  hx_text_deinit(&tuner.shape);
  if (status == HX_STATUS_OUT_OF_MEMORY) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to tune");
  return status;
}
