// SPDX-License-Identifier: Apache-2.0
// Callables: life, matching, preparation, calls.
#include "core/compile/callable.h"

#include <string.h>

#include "core/eager/capture.h"

#define INPUTS_MAX 4096
#define INPUTS_ON_STACK 64  // so that usual calls allocate nothing

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a callable");
}

// ------------------------------------------------------------------ sources

hx_callable_source_t *hx_callable_source_retain(hx_callable_source_t *source) {
  atomic_fetch_add_explicit(&source->refs, 1, memory_order_relaxed);
  return source;
}

void hx_callable_source_release(hx_callable_source_t *source) {
  if (source == NULL || atomic_fetch_sub_explicit(&source->refs, 1, memory_order_acq_rel) != 1) return;
  for (size_t i = 0; i < source->binding_count; ++i) hx_value_release(source->bindings[i].value);
  for (size_t i = 0; i < source->switch_count; ++i)
    hx_switch_release((hx_switch_t *)(uintptr_t)source->switches[i].key);
  for (size_t i = 0; i < source->name_count; ++i) hx_value_release(source->names[i].value);
  hx_program_release(source->program);
  hx_params_release(source->params);
  hx_keys_release(source->keys);
  hx_arena_deinit(&source->arena);
  hx_free(source);
}

// NULL stays NULL; false where memory is exhausted.
static bool keep_text(hx_callable_source_t *source, const char *text, const char **out) {
  *out = text == NULL ? NULL : hx_arena_str(&source->arena, hx_str(text)).data;
  return text == NULL || *out != NULL;
}

static hx_status_t take_inputs(hx_callable_source_t *source, const hx_callable_spec_t *spec) {
  source->input_count = spec->input_count;
  source->output_count = spec->output_count;
  source->inputs = hx_arena_alloc(&source->arena, spec->input_count * sizeof *source->inputs);
  source->is_static = hx_arena_alloc(&source->arena, spec->input_count * sizeof *source->is_static);
  source->output_names = hx_arena_alloc(&source->arena, spec->output_count * sizeof *source->output_names);
  if (source->inputs == NULL || source->is_static == NULL || source->output_names == NULL)
    return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < spec->input_count; ++i) {
    const hx_input_spec_t *input = &spec->inputs[i];
    if (!keep_text(source, input->name, &source->inputs[i].name) ||
        !keep_text(source, input->role, &source->inputs[i].role) ||
        !keep_text(source, input->type, &source->inputs[i].type))
      return HX_STATUS_OUT_OF_MEMORY;
    source->is_static[i] = input->role != NULL && strcmp(input->role, "static") == 0;
  }
  for (size_t i = 0; i < spec->output_count; ++i) {
    const char *name = spec->output_names == NULL ? NULL : spec->output_names[i];
    if (!keep_text(source, name, &source->output_names[i])) return HX_STATUS_OUT_OF_MEMORY;
  }
  return HX_STATUS_OK;
}

// Materials are a function's names of data, or a program's bindings.
static hx_status_t take_materials(hx_callable_source_t *source, const hx_callable_spec_t *spec,
                                  const hx_compilation_t *compilation) {
  const size_t bound = compilation == NULL ? 0 : compilation->binding_count;
  const size_t switches = compilation == NULL ? 0 : compilation->switch_count;
  const size_t given = spec->material_count;
  source->names = hx_arena_alloc(&source->arena, given * sizeof *source->names);
  source->bindings = hx_arena_alloc(&source->arena, (given + bound) * sizeof *source->bindings);
  source->switches = hx_arena_alloc(&source->arena, switches * sizeof *source->switches);
  if (source->names == NULL || source->bindings == NULL || source->switches == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < bound; ++i) {
    const char *symbol;
    if (!keep_text(source, compilation->bindings[i].symbol, &symbol)) return HX_STATUS_OUT_OF_MEMORY;
    source->bindings[source->binding_count++] =
        (hx_binding_t){.symbol = symbol, .value = hx_value_retain(compilation->bindings[i].value)};
  }
  for (size_t i = 0; i < switches; ++i) {
    const char *symbol;
    if (!keep_text(source, compilation->switches[i].symbol, &symbol)) return HX_STATUS_OUT_OF_MEMORY;
    source->switches[source->switch_count++] =
        (hx_switch_binding_t){.symbol = symbol, .key = hx_switch_retain(compilation->switches[i].key)};
  }
  for (size_t i = 0; i < given; ++i) {
    const char *name;
    if (!keep_text(source, spec->materials[i].name, &name)) return HX_STATUS_OUT_OF_MEMORY;
    hx_value_t *value = hx_value_retain(spec->materials[i].value);
    if (spec->function != NULL) {
      source->names[source->name_count++] = (hx_named_value_t){.name = name, .value = value};
    } else {
      source->bindings[source->binding_count++] = (hx_binding_t){.symbol = name, .value = value};
    }
  }
  return HX_STATUS_OK;
}

static hx_status_t take_program(hx_callable_source_t *source, const hx_program_t *program, hx_report_t *report) {
  source->program = hx_program_retain(program);
  source->input_count = program->input_count;
  source->output_count = program->output_count;
  if (hx_program_find(program, "main") != NULL) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_SYMBOL_NAME, "the program has no function @main");
}

static hx_status_t fill_source(hx_callable_source_t *source, const hx_callable_spec_t *spec, hx_report_t *report) {
  const hx_compilation_t *compilation = spec->compilation;
  const hx_keys_t *keys = spec->keys == NULL && compilation != NULL ? compilation->keys : spec->keys;
  const hx_params_t *params = compilation != NULL ? compilation->params : spec->params;
  source->function = spec->function;
  source->argument = spec->argument;
  source->choose_pipeline = spec->choose_pipeline;
  source->choose_argument = spec->choose_argument;
  source->params = params == NULL ? NULL : hx_params_retain(params);
  source->keys = keys == NULL ? NULL : hx_keys_retain(keys);
  if (!keep_text(source, spec->pipeline, &source->pipeline)) return no_memory(report);
  if (take_materials(source, spec, compilation) != HX_STATUS_OK) return no_memory(report);
  if (spec->function != NULL) return take_inputs(source, spec) == HX_STATUS_OK ? HX_STATUS_OK : no_memory(report);
  return take_program(source, compilation != NULL ? compilation->program : spec->program, report);
}

static hx_status_t check_spec(const hx_callable_spec_t *spec, hx_callable_t **out, hx_report_t *report) {
  if (spec == NULL || out == NULL || spec->backend == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_callable_create: an argument or the backend is NULL");
  const int sources = (spec->function != NULL) + (spec->program != NULL) + (spec->compilation != NULL);
  if (sources != 1)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "a callable has one source: a function, a program or a compilation; %d are given", sources);
  if (spec->function == NULL && (spec->inputs != NULL || spec->input_count > 0))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "a program has its own inputs: leave theirs out");
  if (spec->function != NULL && spec->params == NULL)
    return hx_report_fail(report, HX_CODE_PARAMS, "a function names no parameters: give a parameter set");
  if (spec->compilation != NULL && spec->params != NULL && !hx_params_same(spec->params, spec->compilation->params))
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST, "a compilation has its own parameters, others are given");
  if (spec->pipeline != NULL && spec->choose_pipeline != NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "a pipeline and a choice of pipelines are given");
  if (spec->input_count > INPUTS_MAX || spec->output_count > INPUTS_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "a callable has at most %d inputs and outputs", INPUTS_MAX);
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ life

static hx_callable_t *create(hx_callable_source_t *source, const hx_backend_t *backend, hx_on_miss_t on_miss) {
  hx_callable_t *callable = hx_zalloc(1, sizeof *callable);
  if (callable == NULL) return NULL;
  atomic_init(&callable->refs, 1);
  callable->source = hx_callable_source_retain(source);
  callable->backend = hx_backend_retain(backend);
  callable->on_miss = on_miss;
  pthread_mutex_init(&callable->prepare_lock, NULL);
  pthread_mutex_init(&callable->lock, NULL);
  return callable;
}

hx_status_t hx_callable_create(const hx_callable_spec_t *spec, hx_callable_t **out, hx_report_t *report) {
  HX_TRY(check_spec(spec, out, report));
  hx_callable_source_t *source = hx_zalloc(1, sizeof *source);
  if (source == NULL) return no_memory(report);
  atomic_init(&source->refs, 1);
  hx_arena_init(&source->arena);
  hx_status_t status = fill_source(source, spec, report);
  hx_callable_t *callable = status == HX_STATUS_OK ? create(source, spec->backend, spec->on_miss) : NULL;
  if (status == HX_STATUS_OK && callable == NULL) status = no_memory(report);
  hx_callable_source_release(source);
  if (status == HX_STATUS_OK) *out = callable;
  return status;
}

hx_callable_t *hx_callable_retain(const hx_callable_t *callable) {
  hx_callable_t *owner = (hx_callable_t *)(uintptr_t)callable;  // the count alone changes
  atomic_fetch_add_explicit(&owner->refs, 1, memory_order_relaxed);
  return owner;
}

void hx_callable_clear(hx_callable_t *callable) {
  pthread_mutex_lock(&callable->lock);
  hx_specialized_t *items = callable->items;
  const size_t count = callable->count;
  callable->items = NULL;
  callable->count = callable->capacity = 0;
  pthread_mutex_unlock(&callable->lock);
  for (size_t i = 0; i < count; ++i) {
    hx_executable_release(items[i].executable);
    hx_variant_release(items[i].variant);
  }
  hx_free(items);
}

void hx_callable_release(hx_callable_t *callable) {
  if (callable == NULL || atomic_fetch_sub_explicit(&callable->refs, 1, memory_order_acq_rel) != 1) return;
  hx_callable_clear(callable);
  hx_callable_source_release(callable->source);
  hx_backend_release(callable->backend);
  pthread_mutex_destroy(&callable->prepare_lock);
  pthread_mutex_destroy(&callable->lock);
  hx_free(callable);
}

size_t hx_callable_inputs(const hx_callable_t *callable) { return callable->source->input_count; }
size_t hx_callable_outputs(const hx_callable_t *callable) { return callable->source->output_count; }

hx_status_t hx_callable_with_backend(const hx_callable_t *callable, const hx_backend_t *backend, hx_callable_t **out,
                                     hx_report_t *report) {
  if (callable == NULL || backend == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_callable_with_backend: an argument is NULL");
  hx_callable_t *from = (hx_callable_t *)(uintptr_t)callable;  // its lock changes
  hx_callable_t *copy = create(callable->source, backend, callable->on_miss);
  if (copy == NULL) return no_memory(report);
  pthread_mutex_lock(&from->lock);
  hx_status_t status = hx_grow(&copy->items, &copy->capacity, from->count + 1, sizeof *copy->items);
  for (size_t i = 0; i < from->count && status == HX_STATUS_OK; ++i)
    copy->items[copy->count++] = (hx_specialized_t){.variant = hx_variant_retain(from->items[i].variant)};
  pthread_mutex_unlock(&from->lock);
  if (status != HX_STATUS_OK) {
    hx_callable_release(copy);
    return no_memory(report);
  }
  *out = copy;
  return HX_STATUS_OK;
}

size_t hx_callable_specializations(const hx_callable_t *callable) {
  hx_callable_t *owner = (hx_callable_t *)(uintptr_t)callable;  // its lock changes
  pthread_mutex_lock(&owner->lock);
  const size_t count = owner->count;
  pthread_mutex_unlock(&owner->lock);
  return count;
}

bool hx_callable_specialization(const hx_callable_t *callable, size_t index, hx_specialization_t *out) {
  hx_callable_t *owner = (hx_callable_t *)(uintptr_t)callable;  // its lock changes
  pthread_mutex_lock(&owner->lock);
  const bool found = index < owner->count;
  if (found) {
    const hx_specialized_t *item = &owner->items[index];
    *out = (hx_specialization_t){.signature = item->variant->text,
                                 .pipeline = item->variant->pipeline,
                                 .backend = owner->backend,
                                 .program = item->variant->compilation->program,
                                 .executable = item->executable};
  }
  pthread_mutex_unlock(&owner->lock);
  return found;
}

// ------------------------------------------------------------------ matching and preparation

// Place of the specialization that fits, or callable->count. Under the lock.
static size_t find_item(const hx_callable_t *callable, uint64_t hash, const hx_value_t *const *inputs) {
  size_t i = 0;
  while (i < callable->count && !hx_signature_fits(callable->items[i].variant->signature, hash, inputs)) ++i;
  return i;
}

static uint64_t hash_of(const hx_callable_t *callable, const hx_value_t *const *inputs) {
  return hx_signature_hash(inputs, callable->source->is_static, callable->source->input_count);
}

hx_executable_t *hx_callable_find(hx_callable_t *callable, const hx_value_t *const *inputs) {
  const uint64_t hash = hash_of(callable, inputs);
  pthread_mutex_lock(&callable->lock);
  const size_t i = find_item(callable, hash, inputs);
  hx_executable_t *executable = i == callable->count ? NULL : callable->items[i].executable;
  if (executable != NULL) executable = hx_executable_retain(executable);
  pthread_mutex_unlock(&callable->lock);
  return executable;
}

static hx_status_t check_inputs(const hx_callable_t *callable, const hx_value_t *const *inputs, hx_report_t *report) {
  if (callable == NULL || inputs == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "a callable, or its arguments, is NULL");
  const hx_callable_source_t *source = callable->source;
  for (size_t i = 0; i < source->input_count; ++i) {
    if (inputs[i] == NULL) return hx_report_fail(report, HX_CODE_INPUT, "argument %zu of a callable is missing", i);
    if (source->params != NULL && !hx_params_same(source->params, inputs[i]->params))
      return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                            "argument %zu belongs to parameters %.16s..., the callable to %.16s...", i,
                            hx_params_digest_hex(inputs[i]->params), hx_params_digest_hex(source->params));
    const bool is_number = hx_value_kind(inputs[i]) == HX_VALUE_NUMBER;
    if (source->is_static != NULL && source->is_static[i] != is_number)
      return hx_report_fail(report, HX_CODE_TYPE, "argument %zu is %s number, but its role is%s static", i,
                            is_number ? "a" : "no", source->is_static[i] ? "" : " not");
  }
  return HX_STATUS_OK;
}

// Puts an executable into its specialization, or a new one at the end.
static hx_status_t keep(hx_callable_t *callable, uint64_t hash, const hx_value_t *const *inputs, hx_variant_t *variant,
                        hx_executable_t *executable, hx_report_t *report) {
  pthread_mutex_lock(&callable->lock);
  const size_t i = find_item(callable, hash, inputs);  // cleared meanwhile: it is not there any more
  hx_status_t status = HX_STATUS_OK;
  if (i == callable->count) {
    status = hx_grow(&callable->items, &callable->capacity, i + 1, sizeof *callable->items);
    if (status == HX_STATUS_OK)
      callable->items[callable->count++] = (hx_specialized_t){.variant = hx_variant_retain(variant)};
  }
  if (status == HX_STATUS_OK) callable->items[i].executable = hx_executable_retain(executable);
  pthread_mutex_unlock(&callable->lock);
  return status == HX_STATUS_OK ? status : no_memory(report);
}

// Under prepare_lock. *out is retained.
static hx_status_t prepare(hx_callable_t *callable, const hx_value_t *const *inputs, hx_executable_t **out,
                           hx_report_t *report) {
  *out = hx_callable_find(callable, inputs);  // by another thread, while this one waited
  if (*out != NULL) return HX_STATUS_OK;
  const uint64_t hash = hash_of(callable, inputs);
  hx_variant_t *variant = NULL;
  pthread_mutex_lock(&callable->lock);
  const size_t i = find_item(callable, hash, inputs);
  if (i < callable->count) variant = hx_variant_retain(callable->items[i].variant);
  pthread_mutex_unlock(&callable->lock);
  hx_executable_t *executable = NULL;
  hx_status_t status = HX_STATUS_OK;
  if (variant == NULL) status = hx_variant_create(callable->source, callable->backend, inputs, &variant, report);
  if (status == HX_STATUS_OK) status = hx_variant_link(variant, callable->backend, &executable, report);
  if (status == HX_STATUS_OK) status = keep(callable, hash, inputs, variant, executable, report);
  hx_variant_release(variant);
  if (status != HX_STATUS_OK) {
    hx_executable_release(executable);
    return status;
  }
  *out = executable;
  return HX_STATUS_OK;
}

static hx_status_t ensure(hx_callable_t *callable, const hx_value_t *const *inputs, hx_executable_t **out,
                          hx_report_t *report) {
  pthread_mutex_lock(&callable->prepare_lock);
  const hx_status_t status = prepare(callable, inputs, out, report);
  pthread_mutex_unlock(&callable->prepare_lock);
  return status;
}

hx_status_t hx_callable_prepare(hx_callable_t *callable, const hx_value_t *const *inputs, hx_report_t *report) {
  HX_TRY(check_inputs(callable, inputs, report));
  for (size_t i = 0; i < callable->source->input_count; ++i)
    HX_TRY(hx_value_want_data(inputs[i], "preparing a callable is no operation", report));
  hx_executable_t *executable = NULL;
  const hx_status_t status = ensure(callable, inputs, &executable, report);
  hx_executable_release(executable);
  return status;
}

// ------------------------------------------------------------------ calls

static hx_status_t fail_unprepared(const hx_callable_t *callable, const hx_value_t *const *inputs,
                                   hx_report_t *report) {
  hx_signature_t *signature = NULL;
  if (hx_signature_create(inputs, callable->source->is_static, callable->source->input_count, &signature) !=
      HX_STATUS_OK)
    return no_memory(report);
  hx_text_t text;
  hx_text_init(&text);
  hx_signature_print(signature, &text);
  const hx_status_t status =
      hx_report_fail(report, HX_CODE_UNPREPARED, "nothing is prepared for %s; %zu other specializations are there",
                     text.failed ? "these arguments" : text.data, hx_callable_specializations(callable));
  hx_text_deinit(&text);
  hx_signature_release(signature);
  return status;
}

// Static arguments are in the program already.
static hx_status_t run(const hx_callable_t *callable, hx_executable_t *executable, const hx_value_t *const *inputs,
                       hx_value_t **outputs, hx_report_t *report) {
  const hx_callable_source_t *source = callable->source;
  if (source->is_static == NULL) return hx_run(executable, inputs, outputs, report);
  const hx_value_t *few[INPUTS_ON_STACK] = {NULL};
  const hx_value_t **kept = few;
  if (source->input_count > INPUTS_ON_STACK) kept = hx_zalloc(source->input_count, sizeof *kept);
  if (kept == NULL) return no_memory(report);
  size_t count = 0;
  for (size_t i = 0; i < source->input_count; ++i) {
    if (!source->is_static[i]) kept[count++] = inputs[i];
  }
  const hx_status_t status = hx_run(executable, kept, outputs, report);
  if (kept != few) hx_free((void *)kept);
  return status;
}

hx_status_t hx_callable_call(hx_callable_t *callable, const hx_value_t *const *inputs, hx_value_t **outputs,
                             hx_report_t *report) {
  HX_TRY(check_inputs(callable, inputs, report));
  if (outputs == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_callable_call: outputs is NULL");
  hx_capture_t *capture = NULL;
  HX_TRY(hx_capture_of(inputs, callable->source->input_count, &capture, report));
  if (capture != NULL) return hx_callable_put_in_place(callable, capture, inputs, outputs, report);
  hx_executable_t *executable = hx_callable_find(callable, inputs);
  if (executable == NULL && callable->on_miss == HX_ON_MISS_ERROR) return fail_unprepared(callable, inputs, report);
  if (executable == NULL) HX_TRY(ensure(callable, inputs, &executable, report));
  const hx_status_t status = run(callable, executable, inputs, outputs, report);
  hx_executable_release(executable);
  return status;
}
