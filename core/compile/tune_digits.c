// SPDX-License-Identifier: Apache-2.0
// Digits of key switching where they are free: a program that names no parameter set runs under any with the same Q, so
// the number of digits, and with it the special primes, is a choice. Whole programs are measured, since digits trade
// transforms against key bytes and the count of rotations decides. Sets take turns of their own, one after the other:
// keys of all of them would not fit into memory together.
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/compile/random.h"
#include "core/ops/parts.h"
#include "core/passes/costs.h"
#include "core/tensor/sha256.h"

#define SECONDS_DEFAULT 0.5
#define RUNS_MIN 5
#define RUNS_MAX 1000
#define SETS_MAX 12

typedef struct hx_digit_tuner {
  const hx_compilation_t *compilation;
  const hx_backend_t *backend;
  const hx_tune_options_t *options;
  hx_costs_t *costs;
  hx_report_t *report;
  const char *device, *digest;
  hx_text_t shape;
  uint64_t random;
} hx_digit_tuner_t;

// One set: what runs under it.
typedef struct hx_digit_trial {
  hx_params_t *params;
  hx_keys_t *keys;
  hx_compilation_t *compilation;
  hx_executable_t *executable;
  hx_value_t **inputs, **outputs;
  size_t input_count, output_count;
} hx_digit_trial_t;

static void end_trial(hx_digit_trial_t *trial) {
  for (size_t i = 0; trial->inputs != NULL && i < trial->input_count; ++i) hx_value_release(trial->inputs[i]);
  for (size_t i = 0; trial->outputs != NULL && i < trial->output_count; ++i) hx_value_release(trial->outputs[i]);
  hx_free(trial->inputs);
  hx_free(trial->outputs);
  hx_executable_release(trial->executable);
  hx_compilation_release(trial->compilation);
  hx_keys_release(trial->keys);
  hx_params_release(trial->params);
}

// Random residues under the set's parameters, of the type of the reference or, where that is open, of what is bound.
static hx_status_t bind_materials(hx_digit_tuner_t *tuner, hx_digit_trial_t *trial) {
  const hx_port_t *ports;
  const size_t count = hx_compilation_materials(trial->compilation, &ports);
  for (size_t i = 0; i < count; ++i) {
    const hx_ir_op_t *op = hx_compilation_find(trial->compilation, hx_str(ports[i].name));
    const hx_type_t *type = op == NULL ? NULL : op->results[0]->type;
    if (type == NULL || type->kind == HX_TYPE_KEY) continue;
    for (size_t b = 0; !hx_type_is_complete(type) && b < tuner->compilation->binding_count; ++b) {
      if (strcmp(tuner->compilation->bindings[b].symbol, ports[i].name) == 0)
        type = &tuner->compilation->bindings[b].value->type;
    }
    hx_value_t *value = NULL;
    HX_TRY(hx_value_make_random(trial->compilation, type, ports[i].name, &tuner->random, &value, tuner->report));
    const hx_status_t status = hx_compilation_bind_material(trial->compilation, ports[i].name, value, tuner->report);
    hx_value_release(value);
    if (status != HX_STATUS_OK) return status;
  }
  return HX_STATUS_OK;
}

static hx_status_t draw_keys(hx_digit_tuner_t *tuner, hx_digit_trial_t *trial) {
  hx_needs_t *needs = NULL;
  HX_TRY(hx_program_needs(trial->compilation->program, trial->params, &needs, tuner->report));
  const hx_program_needs_t *need = hx_needs_get(needs);
  const hx_keygen_options_t options = {
      .parts = need->parts, .rotations = need->steps, .rotation_count = need->element_count, .slots = need->slots};
  hx_status_t status = hx_keys_generate(trial->params, &options, &trial->keys, tuner->report);
  hx_needs_release(needs);
  if (status == HX_STATUS_OK) status = hx_compilation_bind_keys(trial->compilation, trial->keys, tuner->report);
  return status;
}

static hx_status_t start_trial(hx_digit_tuner_t *tuner, hx_digit_trial_t *trial) {
  HX_TRY(hx_compilation_create(tuner->compilation->program, trial->params, &trial->compilation, tuner->report));
  HX_TRY(draw_keys(tuner, trial));
  HX_TRY(bind_materials(tuner, trial));
  HX_TRY(hx_link(trial->compilation, tuner->backend, NULL, &trial->executable, tuner->report));
  const hx_port_t *ports, *results;
  trial->input_count = hx_executable_inputs(trial->executable, &ports);
  trial->output_count = hx_executable_outputs(trial->executable, &results);
  trial->inputs = hx_zalloc(trial->input_count + 1, sizeof(hx_value_t *));
  trial->outputs = hx_zalloc(trial->output_count + 1, sizeof(hx_value_t *));
  if (trial->inputs == NULL || trial->outputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < trial->input_count; ++i) {
    hx_value_t *host = NULL;
    hx_status_t status = hx_value_make_random(trial->compilation, hx_executable_input_type(trial->executable, i),
                                              ports[i].name, &tuner->random, &host, tuner->report);
    if (status == HX_STATUS_OK) status = hx_value_to_device(host, tuner->backend, &trial->inputs[i], tuner->report);
    hx_value_release(host);
    if (status != HX_STATUS_OK) return status;
  }
  return HX_STATUS_OK;
}

// The first run takes memory and packs keys; the least of those after it counts.
static hx_status_t run_trial(const hx_digit_tuner_t *tuner, hx_digit_trial_t *trial, double *out_seconds) {
  const double wanted =
      tuner->options != NULL && tuner->options->seconds > 0 ? tuner->options->seconds : SECONDS_DEFAULT;
  double spent = 0;
  for (size_t run = 0; run <= RUNS_MAX && (run <= RUNS_MIN || spent < wanted); ++run) {
    const double start = hx_clock_seconds();
    HX_TRY(hx_run(trial->executable, (const hx_value_t *const *)trial->inputs, trial->outputs, tuner->report));
    const double seconds = hx_clock_seconds() - start;
    if (run == 0) continue;
    spent += seconds;
    if (run == 1 || seconds < *out_seconds) *out_seconds = seconds;
  }
  return HX_STATUS_OK;
}

static hx_status_t measure(hx_digit_tuner_t *tuner, hx_params_t *params, const char *candidate, double *out_ns) {
  hx_digit_trial_t trial = {.params = hx_params_retain(params)};
  double seconds = 0;
  hx_status_t status = start_trial(tuner, &trial);
  if (status == HX_STATUS_OK) status = run_trial(tuner, &trial, &seconds);
  end_trial(&trial);
  if (status != HX_STATUS_OK) return status;
  const hx_cost_t row = {.device = tuner->device,
                         .digest = tuner->digest,
                         .operation = HX_COST_PROGRAM,
                         .shape = tuner->shape.data,
                         .candidate = candidate,
                         .nanoseconds = seconds > 0 ? seconds * 1e9 : 1};
  *out_ns = row.nanoseconds;
  HX_TRY(hx_costs_set(tuner->costs, &row));
  if (tuner->options != NULL && tuner->options->measured != NULL)
    tuner->options->measured(tuner->options->argument, &row);
  return HX_STATUS_OK;
}

// The program and Q: what the digits are chosen for.
static hx_status_t write_shape(hx_digit_tuner_t *tuner) {
  const hx_ring *ring = hx_params_ring(tuner->compilation->params);
  char *text = NULL;
  HX_TRY(hx_program_print(tuner->compilation->program, 0, &text, tuner->report));
  hx_sha256_t hash;
  uint8_t digest[HX_SHA256_BYTES];
  hx_sha256_init(&hash);
  hx_sha256_update(&hash, text, strlen(text));
  hx_sha256_update(&hash, ring->primes, ring->q_count * sizeof ring->primes[0]);
  hx_sha256_final(&hash, digest);
  hx_text_free(text);
  hx_text_printf(&tuner->shape, "n%u w%u q%u program ", ring->log_n, ring->word, ring->q_count);
  for (size_t i = 0; i < 8; ++i) hx_text_printf(&tuner->shape, "%02x", digest[i]);
  return tuner->shape.failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

// Sets from one digit on, each count that comes out once; those that are not secure are left out.
static hx_status_t tune_sets(hx_digit_tuner_t *tuner, uint32_t *out_digits) {
  const hx_params_t *params = tuner->compilation->params;
  const uint32_t flags = hx_params_is_insecure(params) ? HX_PARAMS_INSECURE : 0;
  double best = 0;
  uint32_t tried = 0, last = 0;
  for (uint32_t digits = 1; digits <= hx_params_q_count(params) && tried < SETS_MAX; ++digits) {
    hx_params_t *set = NULL;
    if (hx_params_with_digits(params, digits, flags, &set, NULL) != HX_STATUS_OK) continue;
    char candidate[32];
    (void)snprintf(candidate, sizeof candidate, "digits %u", digits);
    double nanoseconds = hx_costs_find(tuner->costs, HX_COST_PROGRAM, tuner->shape.data, candidate);
    hx_status_t status = HX_STATUS_OK;
    const bool is_new = hx_params_digits(set) != last;
    last = hx_params_digits(set);
    if (is_new && nanoseconds <= 0) status = measure(tuner, set, candidate, &nanoseconds);
    hx_params_release(set);
    if (status != HX_STATUS_OK) return status;
    if (!is_new) continue;
    if (tried++ == 0 || nanoseconds < best) {
      best = nanoseconds;
      *out_digits = digits;
    }
  }
  if (tried > 0) return HX_STATUS_OK;
  return hx_report_fail(tuner->report, HX_CODE_PARAMS, "no number of digits makes a secure set of these primes");
}

hx_status_t hx_tune_digits(const hx_compilation_t *compilation, const hx_backend_t *backend,
                           const hx_tune_options_t *options, hx_costs_t *costs, uint32_t *out_digits,
                           hx_report_t *report) {
  if (compilation == NULL || backend == NULL || costs == NULL || out_digits == NULL || backend->device_count == 0)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "hx_tune_digits: an argument is NULL, or the backend has no device");
  const char *name = hx_program_params(compilation->program);
  if (name[0] != '\0')
    return hx_report_fail(report, HX_CODE_CONSTRAINT,
                          "the program names its parameters (%s), so the number of digits is no choice", name);
  hx_digit_tuner_t tuner = {.compilation = compilation,
                            .backend = backend,
                            .options = options,
                            .costs = costs,
                            .report = report,
                            .device = backend->devices[0]->name,
                            .digest = backend->plugins[0]->digest,
                            .random = 1};
  hx_text_init(&tuner.shape);
  hx_status_t status = hx_costs_use(costs, tuner.device, tuner.digest);
  if (status == HX_STATUS_OK) status = write_shape(&tuner);
  if (status == HX_STATUS_OK) status = tune_sets(&tuner, out_digits);
  hx_text_deinit(&tuner.shape);
  return status == HX_STATUS_OUT_OF_MEMORY ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to tune digits")
                                           : status;
}
