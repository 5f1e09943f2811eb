// SPDX-License-Identifier: Apache-2.0
// Linking, from a clone of the program to an executable: passes, slots, implementations, plan, description.
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"
#include "core/passes/passes.h"

#define FRONT_STEPS "inline{only=main},infer-state"
#define BACK_STEPS "resolve-keys,lower{only=missing},infer-state"
#define LOWERED_STEPS "cse,reuse-transforms,dve"  // of the default pipeline: what lowering shares only now

hx_status_t hx_link_count(hx_linker_t *linker, hx_status_t status) {
  if (status == HX_STATUS_OK) return HX_STATUS_OK;
  if (linker->fault_count++ == 0) linker->first_status = status;
  return status == HX_STATUS_OUT_OF_MEMORY ? status : HX_STATUS_OK;
}

hx_status_t hx_link_fail(hx_linker_t *linker, const hx_ir_op_t *op, hx_code_t code, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (size < 0) text[0] = '\0';
  const hx_status_t status = op == NULL ? hx_report_fail(linker->report, code, "%s", text)
                                        : hx_report_fail_at(linker->report, code, linker->exe->program->source,
                                                            op->line, op->column, "%s: %s", op->info->name, text);
  hx_link_count(linker, status);
  return status;
}

// ------------------------------------------------------------------ life of an executable

hx_executable_t *hx_executable_retain(const hx_executable_t *executable) {
  hx_executable_t *owner = (hx_executable_t *)(uintptr_t)executable;  // the count alone changes
  atomic_fetch_add_explicit(&owner->refs, 1, memory_order_relaxed);
  return owner;
}

static void free_step(hx_step_t *step) {
  if (step->prepared != NULL) step->resolution.implementation->record->destroy(step->prepared);
  for (uint32_t i = 0; i < step->resource_count; ++i) hx_packed_form_release(step->resources[i].form);
  hx_exchange_free(step->exchange);
}

static void free_executable(hx_executable_t *exe) {
  while (exe->pool != NULL) {
    hx_instance_t *instance = exe->pool;
    exe->pool = instance->next;
    hx_instance_destroy(exe, instance);
  }
  for (size_t i = 0; i < exe->steps.count; ++i) free_step(&exe->steps.items[i]);
  for (size_t i = 0; i < HX_COUNT_OF(exe->exchange_memory); ++i) hx_storage_release(exe->exchange_memory[i]);
  hx_prepared_free(exe);
  for (size_t i = 0; i < exe->material_count; ++i) {
    hx_tensor_release(exe->materials[i].tensor);
    hx_placed_release(exe->materials[i].placed);
  }
  for (uint32_t i = 0; i < exe->site_count; ++i) hx_device_tables_release(exe->sites[i].tables);
  hx_free(exe->steps.items);
  hx_free(exe->slots);
  hx_free(exe->loops);
  hx_free((void *)exe->layouts);
  hx_free(exe->roots);
  hx_free(exe->materials);
  hx_free(exe->manifest);
  hx_free(exe->host_source);
  hx_program_release(exe->program);
  hx_keys_release(exe->keys);
  hx_free(exe->secrets);
  hx_free(exe->input_secrets);
  hx_free(exe->output_secrets);
  hx_params_release(exe->params);
  hx_backend_release(exe->backend);
  pthread_mutex_destroy(&exe->lock);
  hx_arena_deinit(&exe->arena);
  hx_free(exe);
}

void hx_executable_release(hx_executable_t *executable) {
  if (executable == NULL || atomic_fetch_sub_explicit(&executable->refs, 1, memory_order_acq_rel) != 1) return;
  free_executable(executable);
}

size_t hx_executable_inputs(const hx_executable_t *executable, const hx_port_t **out_ports) {
  *out_ports = executable->inputs;
  return executable->input_count;
}

size_t hx_executable_outputs(const hx_executable_t *executable, const hx_port_t **out_ports) {
  *out_ports = executable->outputs;
  return executable->output_count;
}

const hx_type_t *hx_executable_input_type(const hx_executable_t *executable, size_t index) {
  return executable->input_types[index];
}

// A text that is written when first asked for and kept; "" where memory is exhausted.
static const char *text_of(const hx_executable_t *executable, char **text, char *(*write)(const hx_executable_t *)) {
  hx_executable_t *exe = (hx_executable_t *)(uintptr_t)executable;  // the lock and the text change
  pthread_mutex_lock(&exe->lock);
  if (*text == NULL) *text = write(executable);
  const char *written = *text;
  pthread_mutex_unlock(&exe->lock);
  return written == NULL ? "" : written;
}

const char *hx_executable_manifest(const hx_executable_t *executable) {
  hx_executable_t *exe = (hx_executable_t *)(uintptr_t)executable;
  return text_of(executable, &exe->manifest, hx_executable_describe);
}

const char *hx_executable_source(const hx_executable_t *executable) {
  hx_executable_t *exe = (hx_executable_t *)(uintptr_t)executable;
  return text_of(executable, &exe->host_source, hx_executable_write_source);
}

static hx_executable_t *create_executable(const hx_link_source_t *source, const hx_backend_t *backend) {
  hx_executable_t *exe = hx_zalloc(1, sizeof *exe);
  if (exe == NULL) return NULL;
  atomic_init(&exe->refs, 1);
  hx_arena_init(&exe->arena);
  pthread_mutex_init(&exe->lock, NULL);
  exe->params = hx_params_retain(source->params);
  exe->keys = source->keys == NULL ? NULL : hx_keys_retain(source->keys);
  exe->backend = hx_backend_retain(backend);
  exe->device = backend->devices[0];
  exe->sites = hx_arena_alloc(&exe->arena, backend->device_count * sizeof *exe->sites);
  for (uint32_t i = 0; exe->sites != NULL && i < backend->device_count; ++i) {
    exe->sites[i] = (hx_site_t){.device = backend->devices[i]};
    if (backend->devices[i]->alignment > exe->alignment) exe->alignment = backend->devices[i]->alignment;
    exe->site_count = i + 1;
  }
  if (exe->sites == NULL) {
    free_executable(exe);
    return NULL;
  }
  if (source->keys != NULL) memcpy(exe->key_id, source->keys->id, sizeof exe->key_id);
  return exe;
}

// ------------------------------------------------------------------ passes

static bool is_asked_for(const hx_linker_t *linker, const hx_ir_op_t *op) {
  if (hx_attrs_find(op->attrs, "heliox.implementation") != NULL) return true;
  for (size_t i = 0; i < linker->wish_count; ++i) {
    const char *operation = linker->wishes[i].operation;
    if (operation != NULL && strcmp(operation, op->info->name) == 0) return true;
  }
  return false;
}

// Of another backend, whose devices are others.
static bool supports_anywhere(const hx_backend_t *other, hx_invocation_t call) {
  call.device = NULL;
  return hx_backend_supports(other, &call);
}

// What `lower` leaves alone: structure, views, operations asked for by implementation, and what the backend covers.
// Open types are left alone too: they are named as faults later.
static bool is_native(void *argument, const hx_ir_op_t *op) {
  hx_linker_t *linker = argument;
  const hx_op_tier_t tier = op->info->tier;
  if (tier == HX_TIER_STRUCTURE || tier == HX_TIER_HOST || hx_link_is_view(op) || is_asked_for(linker, op)) return true;
  const size_t count = op->operand_count + op->result_count;
  const hx_type_t **types = hx_zalloc(count, sizeof *types);
  if (types == NULL) {
    linker->is_exhausted = true;
    return true;
  }
  bool is_complete = true, secret = false;
  for (size_t i = 0; i < count; ++i) {
    const bool is_operand = i < op->operand_count;
    types[i] = is_operand ? op->operands[i]->type : op->results[i - op->operand_count]->type;
    is_complete = is_complete && hx_type_is_complete(types[i]);
  }
  for (size_t i = 0; i < linker->exe->input_count; ++i) secret = secret || linker->exe->secret_inputs[i];
  const hx_invocation_t call = {.op = op->info,
                                .operands = types,
                                .operand_count = op->operand_count,
                                .results = types + op->operand_count,
                                .result_count = op->result_count,
                                .ring = linker->ring,
                                .secret = secret,
                                .device = hx_link_placed_on(linker, op)};
  const hx_backend_t *other = linker->options->other;
  const bool native = !is_complete || (hx_backend_supports(linker->exe->backend, &call) &&
                                       (other == NULL || supports_anywhere(other, call)));
  hx_free((void *)types);
  return native;
}

// What `fuse` may put into a region: a kind that exactly one implementation prepares, operations that its declared
// ranges cover. Where two executables are compared call by call nothing is fused.
static bool fuses(void *argument, const char *kind, const hx_ir_op_t *op) {
  hx_linker_t *linker = argument;
  bool several = false;
  if (linker->options->other != NULL || linker->options->lower_all || is_asked_for(linker, op)) return false;
  const uint32_t site = hx_link_site(linker, op);
  const hx_implementation_t *row =
      hx_backend_fusion(linker->exe->backend, linker->exe->sites[site].device, kind, &several);
  hx_invocation_t call = {.op = op->info, .ring = linker->ring, .device = hx_link_placed_on(linker, op)};
  const hx_type_t *types[16];
  const size_t count = op->operand_count + op->result_count;
  if (row == NULL || count > HX_COUNT_OF(types)) return false;
  for (size_t i = 0; i < count; ++i) {
    types[i] = i < op->operand_count ? op->operands[i]->type : op->results[i - op->operand_count]->type;
    if (!hx_type_is_complete(types[i])) return false;
  }
  call.operands = types;
  call.operand_count = op->operand_count;
  call.results = types + op->operand_count;
  call.result_count = op->result_count;
  for (size_t i = 0; i < linker->exe->input_count; ++i) call.secret = call.secret || linker->exe->secret_inputs[i];
  return hx_implementation_covers(row, &call);
}

// A reference whose type is open takes what is missing from the value bound to it.
static hx_status_t merge_binding(hx_ir_op_t *op, void *argument) {
  const hx_linker_t *linker = argument;
  if (op->info->id != HX_OP_MATERIAL_REF) return HX_STATUS_OK;
  const hx_attribute_t *symbol = hx_attrs_find(op->attrs, "symbol");
  const hx_type_t *type = op->results[0]->type;
  for (size_t i = 0; symbol != NULL && i < linker->source->binding_count; ++i) {
    const hx_binding_t *binding = &linker->source->bindings[i];
    if (!hx_str_equal(hx_str(binding->symbol), symbol->text) || binding->value->type.kind != type->kind) continue;
    hx_type_t *merged = hx_zalloc(1, sizeof *merged);
    if (merged == NULL) return HX_STATUS_OUT_OF_MEMORY;
    hx_type_copy(merged, type);
    hx_type_merge(merged, &binding->value->type);
    const hx_type_t *interned = hx_program_type(linker->exe->program, merged);
    hx_free(merged);
    if (interned == NULL) return HX_STATUS_OUT_OF_MEMORY;
    hx_ir_set_type(linker->exe->program, op->results[0], interned);
  }
  return HX_STATUS_OK;
}

// Inputs marked by the caller, or by heliox.secret in arg_attrs. Passes keep the signature.
static hx_status_t find_secret_inputs(hx_linker_t *linker) {
  hx_executable_t *exe = linker->exe;
  const hx_ir_op_t *func = hx_program_find(exe->program, "main");
  if (func == NULL) return hx_report_fail(linker->report, HX_CODE_SYMBOL_NAME, "the program has no function @main");
  exe->input_count = exe->program->input_count;
  exe->secret_inputs = hx_arena_alloc(&exe->arena, exe->input_count * sizeof *exe->secret_inputs);
  if (exe->secret_inputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < exe->input_count; ++i) {
    const bool given = linker->options->secret_inputs != NULL && linker->options->secret_inputs[i];
    exe->secret_inputs[i] = given || hx_link_port_attr(func, "arg_attrs", i, "heliox.secret") != NULL;
  }
  return HX_STATUS_OK;
}

// Whether `lower` rewrote anything.
static void note_lowering(void *argument, const hx_pass_event_t *event) {
  if (event->is_over && event->changed && event->pass->role == HX_PASS_LOWER) *(bool *)argument = true;
}

hx_status_t hx_link_run_passes(hx_linker_t *linker) {
  hx_executable_t *exe = linker->exe;
  bool lowered = false;
  const hx_pass_env_t env = {.ring = linker->ring,
                             .is_native = is_native,
                             .native_argument = linker,
                             .fuses = fuses,
                             .fuses_argument = linker,
                             .watch = note_lowering,
                             .watch_argument = &lowered,
                             .report = linker->report};
  const char *pipeline = linker->options->pipeline == NULL ? hx_pipeline_default() : linker->options->pipeline;
  exe->pipeline = hx_arena_str(&exe->arena, hx_str(pipeline)).data;
  if (exe->pipeline == NULL) return HX_STATUS_OUT_OF_MEMORY;
  HX_TRY(find_secret_inputs(linker));
  if (linker->options->is_lowered) {
    HX_TRY(hx_link_find_placed(linker));
    return hx_program_refresh(exe->program, linker->report);
  }
  HX_TRY(hx_ir_walk(exe->program->module, merge_binding, linker));
  HX_TRY(hx_pipeline_run(exe->program, FRONT_STEPS, &env));
  HX_TRY(hx_link_find_placed(linker));
  HX_TRY(hx_link_secrets(linker));
  if (exe->pipeline[0] != '\0') HX_TRY(hx_pipeline_run(exe->program, exe->pipeline, &env));
  HX_TRY(hx_link_find_placed(linker));  // place may have run
  if (linker->options->lower_all) HX_TRY(hx_pipeline_run(exe->program, "infer-state,resolve-keys,lower", &env));
  // The default passes leave all types known that were.
  const bool given = linker->options->pipeline != NULL && exe->pipeline[0] != '\0';
  HX_TRY(hx_pipeline_run(exe->program, given ? FRONT_STEPS "," BACK_STEPS : BACK_STEPS, &env));
  if (linker->options->pipeline == NULL && lowered) HX_TRY(hx_pipeline_run(exe->program, LOWERED_STEPS, &env));
  HX_TRY(hx_link_check_ranks(linker));
  HX_TRY(hx_pipeline_run(exe->program, "lower-collectives", &env));
  if (linker->options->pipeline == NULL) HX_TRY(hx_pipeline_run(exe->program, "fuse", &env));
  if (linker->is_exhausted) return hx_report_fail(linker->report, HX_CODE_OUT_OF_MEMORY, "no memory to link");
  return hx_program_refresh(exe->program, linker->report);
}

// ------------------------------------------------------------------ linking

hx_status_t hx_link_make_tables(hx_linker_t *linker, hx_ir_op_t *func) {
  hx_executable_t *exe = linker->exe;
  hx_arena_t *arena = &exe->arena;
  linker->value_count = hx_ir_number(func);
  exe->inputs = exe->program->inputs;
  exe->outputs = exe->program->outputs;
  exe->input_count = exe->program->input_count;
  exe->output_count = exe->program->output_count;
  exe->input_types = hx_arena_alloc(arena, exe->input_count * sizeof *exe->input_types);
  exe->output_types = hx_arena_alloc(arena, exe->output_count * sizeof *exe->output_types);
  exe->input_layouts = hx_arena_alloc(arena, exe->input_count * sizeof *exe->input_layouts);
  exe->output_rules = hx_arena_alloc(arena, exe->output_count * sizeof *exe->output_rules);
  exe->input_numbers = hx_arena_alloc(arena, exe->input_count * sizeof *exe->input_numbers);
  exe->output_numbers = hx_arena_alloc(arena, exe->output_count * sizeof *exe->output_numbers);
  linker->number_of = hx_alloc(linker->value_count * sizeof *linker->number_of);
  linker->is_secret = hx_zalloc(linker->value_count, sizeof *linker->is_secret);
  linker->slot_of = hx_alloc(linker->value_count * sizeof *linker->slot_of);
  linker->material_of = hx_alloc(linker->value_count * sizeof *linker->material_of);
  linker->placements = hx_zalloc(linker->value_count, sizeof *linker->placements);
  if (exe->input_types == NULL || exe->output_types == NULL || exe->input_layouts == NULL ||
      exe->output_rules == NULL || exe->input_numbers == NULL || exe->output_numbers == NULL ||
      linker->number_of == NULL || linker->is_secret == NULL || linker->slot_of == NULL ||
      linker->material_of == NULL || linker->placements == NULL) {
    return HX_STATUS_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < linker->value_count; ++i)
    linker->slot_of[i] = linker->material_of[i] = linker->number_of[i] = HX_NONE;
  for (size_t i = 0; i < exe->input_count; ++i) exe->input_numbers[i] = HX_NONE;
  for (size_t i = 0; i < exe->output_count; ++i) exe->output_numbers[i] = HX_NONE;
  linker->loop = HX_NONE;
  exe->number_count = 1;  // register 0 is what an operation without a second operand reads
  return HX_STATUS_OK;
}

// The caller's requests, to which steps may add.
static hx_status_t take_wishes(hx_linker_t *linker) {
  const size_t count = linker->options->wish_count;
  HX_TRY(hx_grow(&linker->wishes, &linker->wish_capacity, count + 1, sizeof *linker->wishes));
  if (count > 0) memcpy(linker->wishes, linker->options->wishes, count * sizeof *linker->wishes);
  linker->wish_count = count;
  return HX_STATUS_OK;
}

hx_status_t hx_link_program(const hx_link_source_t *source, const hx_backend_t *backend,
                            const hx_link_options_t *options, hx_executable_t **out, hx_report_t *report) {
  hx_executable_t *exe = create_executable(source, backend);
  if (exe == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to link");
  hx_linker_t linker = {.exe = exe,
                        .source = source,
                        .options = options,
                        .ring = hx_params_ring(source->params),
                        .report = report,
                        .first_status = HX_STATUS_OK};
  const size_t before = hx_report_count(report);
  hx_status_t status = hx_program_clone(source->program, &exe->program);
  if (status == HX_STATUS_OK) status = take_wishes(&linker);
  if (status == HX_STATUS_OK) status = hx_link_run_steps(&linker);
  hx_free(linker.wishes);
  hx_free(linker.slot_of);
  hx_free(linker.number_of);
  hx_free(linker.is_secret);
  hx_free(linker.material_of);
  hx_free(linker.placements);
  if (status == HX_STATUS_OUT_OF_MEMORY && hx_report_count(report) == before) {
    hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to link");
  }
  if (status != HX_STATUS_OK || options->check_only) {
    free_executable(exe);
    return status;
  }
  *out = exe;
  return HX_STATUS_OK;
}
