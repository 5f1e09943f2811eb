// SPDX-License-Identifier: Apache-2.0
// The plan of a program: state and predicted error of its values, keys, work, memory and time, before any key exists.
#include "heliox/plan.h"

#include <math.h>
#include <string.h>

#include "core/compile/compilation.h"
#include "core/passes/costs.h"
#include "core/passes/memory.h"
#include "core/passes/noise.h"
#include "core/passes/target.h"
#include "core/passes/work.h"

#define COUNT_MAX ((uint64_t)1 << 60)  // products of trips beyond it stay there

struct hx_plan {
  hx_arena_t arena;
  hx_plan_info_t info;
  hx_needs_t *needs;
  hx_plan_value_t *values, *outputs;
  size_t value_count, value_capacity, output_count;
  hx_plan_device_t *devices;
  size_t device_count;
};

#define DEVICES_MAX 16  // of a backend

typedef struct hx_planner {
  const hx_compilation_t *compilation;
  const hx_backend_t *backend;
  const hx_costs_t *costs;
  const hx_ring *ring;
  hx_report_t *report;
  hx_plan_t *plan;
  hx_text_t shape;
  hx_status_t status;  // of the first failure of a visit
} hx_planner_t;

void hx_plan_release(hx_plan_t *plan) {
  if (plan == NULL) return;
  hx_needs_release(plan->needs);
  hx_free(plan->values);
  hx_arena_deinit(&plan->arena);
  hx_free(plan);
}

const hx_plan_info_t *hx_plan_info(const hx_plan_t *plan) { return &plan->info; }

size_t hx_plan_values(const hx_plan_t *plan, const hx_plan_value_t **out_values) {
  *out_values = plan->values;
  return plan->value_count;
}

size_t hx_plan_devices(const hx_plan_t *plan, const hx_plan_device_t **out_devices) {
  *out_devices = plan->devices;
  return plan->device_count;
}

size_t hx_plan_outputs(const hx_plan_t *plan, const hx_plan_value_t **out_values) {
  *out_values = plan->outputs;
  return plan->output_count;
}

// ------------------------------------------------------------------ values

static bool describe(hx_planner_t *planner, const hx_ir_value_t *value, const hx_ir_op_t *op, const hx_noise_t *noise,
                     hx_plan_value_t *out) {
  const hx_type_t *type = value->type;
  char name[HX_NAME_MAX + 2] = "", *scale = hx_alloc(HX_SCALE_TEXT_MAX);
  if (scale == NULL) return false;
  (void)hx_scale_print(&type->scale, scale);
  if (value->name.size > 0 && value->name.size < HX_NAME_MAX) {
    name[0] = '%';
    memcpy(name + 1, value->name.data, value->name.size);
  }
  hx_arena_t *arena = &planner->plan->arena;
  *out = (hx_plan_value_t){.name = hx_arena_str(arena, hx_str(name)).data,
                           .operation = op == NULL ? "" : op->info->name,
                           .line = op == NULL ? 0 : op->line,
                           .column = op == NULL ? 0 : op->column,
                           .depth = type->depth,
                           .components = type->components,
                           .slots = type->slots,
                           .scale = hx_arena_str(arena, hx_str(scale)).data,
                           .scale_log2 = hx_scale_log2(&type->scale, planner->ring),
                           .sigma = noise->known ? hx_noise_worst_sigma(noise, type, planner->ring) : NAN};
  hx_free(scale);
  return out->name != NULL && out->scale != NULL;
}

static void visit_value(void *context, const hx_ir_op_t *op, size_t result, const hx_noise_t *noise) {
  hx_planner_t *planner = context;
  hx_plan_t *plan = planner->plan;
  const hx_ir_value_t *value = op->results[result];
  if (value->type->kind != HX_TYPE_CIPHERTEXT || !hx_type_is_complete(value->type)) return;
  if (planner->status != HX_STATUS_OK) return;
  planner->status = hx_grow(&plan->values, &plan->value_capacity, plan->value_count + 1, sizeof *plan->values);
  if (planner->status == HX_STATUS_OK && !describe(planner, value, op, noise, &plan->values[plan->value_count]))
    planner->status = HX_STATUS_OUT_OF_MEMORY;
  if (planner->status == HX_STATUS_OK) plan->value_count += 1;
}

static const hx_noise_t *find_material(void *context, hx_str_t symbol) {
  const hx_compilation_t *compilation = ((hx_planner_t *)context)->compilation;
  for (size_t i = 0; i < compilation->binding_count; ++i) {
    if (hx_str_equal(hx_str(compilation->bindings[i].symbol), symbol)) return &compilation->bindings[i].value->noise;
  }
  return NULL;
}

static hx_status_t plan_values(hx_planner_t *planner, hx_program_t *program) {
  hx_plan_t *plan = planner->plan;
  const hx_ir_op_t *last = hx_func_return(hx_program_find(program, "main"));
  plan->output_count = last->operand_count;
  plan->outputs = hx_arena_alloc(&plan->arena, plan->output_count * sizeof *plan->outputs);
  hx_noise_t *noises = hx_zalloc(plan->output_count + 1, sizeof *noises);
  hx_status_t status = plan->outputs == NULL || noises == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  const hx_noise_plan_t asked = {
      .params = planner->compilation->params, .material = find_material, .visit = visit_value, .context = planner};
  if (status == HX_STATUS_OK) status = hx_program_predict_noise(program, &asked, noises, planner->report);
  if (status == HX_STATUS_OK) status = planner->status;
  for (size_t i = 0; i < plan->output_count && status == HX_STATUS_OK; ++i) {
    const hx_ir_value_t *value = last->operands[i];
    if (!describe(planner, value, value->op, &noises[i], &plan->outputs[i])) status = HX_STATUS_OUT_OF_MEMORY;
    const hx_str_t name = hx_arena_str(&plan->arena, hx_str(program->outputs[i].name));
    if (name.data == NULL) status = HX_STATUS_OUT_OF_MEMORY;
    plan->outputs[i].name = name.data;
  }
  hx_free(noises);
  return status;
}

// ------------------------------------------------------------------ counts

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) || product > COUNT_MAX ? COUNT_MAX : product;
}

static uint64_t items_of(const hx_type_t *type) {
  uint64_t items = 1;
  for (uint32_t i = 0; i < type->batch_rank; ++i) items = times(items, type->batch_shape[i]);
  return items;
}

typedef struct hx_tally {
  uint64_t key_switches, mod_ups, mod_downs, transforms, operations, measured;
  double nanoseconds;
} hx_tally_t;

static void add(hx_tally_t *to, const hx_tally_t *from, uint64_t factor) {
  to->key_switches += times(from->key_switches, factor);
  to->mod_ups += times(from->mod_ups, factor);
  to->mod_downs += times(from->mod_downs, factor);
  to->transforms += times(from->transforms, factor);
  to->operations += times(from->operations, factor);
  to->measured += times(from->measured, factor);
  to->nanoseconds += from->nanoseconds * (double)factor;
}

static void tally_op(hx_planner_t *planner, const hx_ir_op_t *op, hx_tally_t *out) {
  const hx_work_t work = hx_op_work(op);
  const bool is_dispatched =
      op->info->tier != HX_TIER_STRUCTURE && op->info->tier != HX_TIER_HOST && (op->info->flags & HX_OP_FLAG_VIEW) == 0;
  const uint64_t items = op->operand_count > 0 ? items_of(op->operands[0]->type) : 1;
  out->operations += is_dispatched ? 1 : 0;
  out->mod_ups += times(work.mod_ups, items);
  out->mod_downs += times(work.mod_downs, items);
  out->key_switches += times(work.switches, items);
  if (op->info->id == HX_OP_NTT_FORWARD || op->info->id == HX_OP_NTT_INVERSE) {
    const hx_type_t *type = op->operands[0]->type;
    out->transforms += times(items, (uint64_t)type->components * hx_primes_count(&type->primes));
  }
  if (!is_dispatched || planner->costs == NULL) return;
  if (hx_cost_shape(op, planner->ring, &planner->shape) != HX_STATUS_OK) return;
  const double nanoseconds = hx_costs_find(planner->costs, op->info->name, planner->shape.data, "whole");
  if (nanoseconds <= 0) return;
  out->nanoseconds += nanoseconds;
  out->measured += 1;
}

static void tally_block(hx_planner_t *planner, const hx_ir_block_t *block, hx_tally_t *out) {
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    if (op->region_count == 0) {
      tally_op(planner, op, out);
      continue;
    }
    hx_tally_t parts[2] = {{0}};
    for (size_t i = 0; i < op->region_count && i < 2; ++i) tally_block(planner, op->regions[i]->block, &parts[i]);
    bool exact = true;
    if (op->info->id == HX_OP_SCF_IF) {
      add(out, &parts[parts[1].transforms > parts[0].transforms || parts[1].operations > parts[0].operations], 1);
      exact = false;
    } else {
      const uint64_t trips = hx_op_trips(op, &exact);
      for (size_t i = 0; i < 2; ++i) add(out, &parts[i], trips);
    }
    planner->plan->info.counts_exact = planner->plan->info.counts_exact && exact;
  }
}

static hx_tally_t tally(hx_planner_t *planner, const hx_program_t *program) {
  hx_tally_t out = {0};
  tally_block(planner, hx_func_block(hx_program_find(program, "main")), &out);
  return out;
}

// The program behind some passes, for one count.
static hx_status_t behind(hx_planner_t *planner, const hx_program_t *program, const char *pipeline,
                          hx_program_t **out) {
  hx_pass_target_t target = {.backend = planner->backend, .ring = planner->ring};
  const hx_pass_env_t env = {.ring = planner->ring,
                             .is_native = planner->backend == NULL ? NULL : hx_target_is_native,
                             .native_argument = &target,
                             .report = planner->report};
  HX_TRY(hx_program_clone(program, out));
  const hx_status_t status = hx_pipeline_run(*out, pipeline, &env);
  if (status == HX_STATUS_OK) return status;
  hx_program_release(*out);
  *out = NULL;
  return status;
}

// Peaks of the devices of a placed program.
static hx_status_t plan_devices(hx_planner_t *planner, hx_program_t *native) {
  hx_str_t names[DEVICES_MAX + 1] = {{.data = "", .size = 0}};
  const size_t count = hx_program_devices(native, names + 1, DEVICES_MAX);
  hx_plan_t *plan = planner->plan;
  if (count == 0) return HX_STATUS_OK;
  plan->devices = hx_arena_alloc(&plan->arena, (count + 1) * sizeof *plan->devices);
  if (plan->devices == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i <= count; ++i) {
    hx_memory_need_t need;
    HX_TRY(hx_program_memory_on(native, planner->ring, names[i], &need));
    const char *name = hx_arena_str(&plan->arena, i == 0 ? hx_str("home") : names[i]).data;
    if (name == NULL) return HX_STATUS_OUT_OF_MEMORY;
    plan->devices[i] = (hx_plan_device_t){.name = name, .peak_bytes = need.peak, .unshared_bytes = need.unshared};
  }
  plan->device_count = count + 1;
  return HX_STATUS_OK;
}

static hx_status_t plan_work(hx_planner_t *planner, const hx_program_t *program) {
  hx_plan_info_t *info = &planner->plan->info;
  hx_program_t *native = NULL, *primitive = NULL;
  hx_status_t status =
      behind(planner, program, "resolve-keys,lower{only=missing},infer-state,cse,reuse-transforms,dve", &native);
  if (status == HX_STATUS_OK)
    status = behind(planner, program, "resolve-keys,lower,infer-state,cse,reuse-transforms,dve", &primitive);
  if (status == HX_STATUS_OK) {
    const hx_tally_t whole = tally(planner, program), native_tally = tally(planner, native);
    info->key_switches = whole.key_switches;
    info->mod_ups = whole.mod_ups;
    info->mod_downs = whole.mod_downs;
    info->operations = native_tally.operations;
    info->measured = native_tally.measured;
    info->seconds = native_tally.nanoseconds * 1e-9;
    info->transforms = tally(planner, primitive).transforms;
  }
  hx_memory_need_t memory;
  if (status == HX_STATUS_OK) status = hx_program_memory(native, planner->ring, &memory);
  if (status == HX_STATUS_OK) status = plan_devices(planner, native);
  if (status == HX_STATUS_OK) {
    info->peak_bytes = memory.peak;
    info->unshared_bytes = memory.unshared;
    const uint64_t all = memory.peak + info->key_bytes + info->material_bytes + info->input_bytes + info->output_bytes;
    if (info->memory_bytes > 0 && all > info->memory_bytes) {
      const hx_ir_value_t *top = memory.top;
      status = hx_report_fail_at(
          planner->report, HX_CODE_LIMIT, program->source, memory.at == NULL ? 0 : memory.at->line,
          memory.at == NULL ? 0 : memory.at->column,
          "the program takes %.1f MiB and the device has %.1f: intermediates %.1f at their peak (the largest there is "
          "%s%.*s, %.1f), keys %.1f, materials %.1f, inputs and outputs %.1f; use smaller parameters or fewer values",
          (double)all / 1048576, (double)info->memory_bytes / 1048576, (double)memory.peak / 1048576,
          top != NULL && top->name.size > 0 ? "%" : "a value without a name", top == NULL ? 0 : (int)top->name.size,
          top == NULL || top->name.data == NULL ? "" : top->name.data,
          top == NULL ? 0.0 : (double)hx_type_bytes(top->type, planner->ring) / 1048576,
          (double)info->key_bytes / 1048576, (double)info->material_bytes / 1048576,
          (double)(info->input_bytes + info->output_bytes) / 1048576);
    }
  }
  hx_program_release(native);
  hx_program_release(primitive);
  return status;
}

// ------------------------------------------------------------------ keys and what comes from outside

static hx_status_t plan_keys(hx_planner_t *planner) {
  hx_plan_info_t *info = &planner->plan->info;
  HX_TRY(hx_program_needs(planner->compilation->program, planner->compilation->params, &planner->plan->needs,
                          planner->report));
  const hx_program_needs_t *need = hx_needs_get(planner->plan->needs);
  info->depth = need->depth;
  info->max_depth = hx_ring_max_depth(planner->ring);
  info->steps = need->steps;
  info->step_count = need->element_count;
  info->needs_relin = (need->parts & HX_KEYS_RELIN) != 0;
  info->needs_conj = (need->parts & HX_KEYS_CONJ) != 0;
  const uint64_t keys = need->element_count + (info->needs_relin ? 1u : 0u) + (info->needs_conj ? 1u : 0u);
  info->key_bytes = times(keys, hx_params_key_bytes(planner->compilation->params));
  return HX_STATUS_OK;
}

static hx_status_t add_material(hx_ir_op_t *op, void *argument) {
  hx_planner_t *planner = argument;
  if (op->info->id == HX_OP_MATERIAL_REF && op->results[0]->type->kind != HX_TYPE_KEY)
    planner->plan->info.material_bytes += hx_type_bytes(op->results[0]->type, planner->ring);
  return HX_STATUS_OK;
}

static void plan_ports(hx_planner_t *planner, hx_program_t *program) {
  const hx_ir_op_t *entry = hx_program_find(program, "main"), *last = hx_func_return(entry);
  const hx_ir_block_t *block = hx_func_block(entry);
  hx_plan_info_t *info = &planner->plan->info;
  for (size_t i = 0; i < block->argument_count; ++i)
    info->input_bytes += hx_type_bytes(block->arguments[i]->type, planner->ring);
  for (size_t i = 0; i < last->operand_count; ++i)
    info->output_bytes += hx_type_bytes(last->operands[i]->type, planner->ring);
  (void)hx_ir_walk(program->module, add_material, planner);
}

// Where inference ran out of depth: the value that the operation at the fault's place would give.
typedef struct hx_place_search {
  const hx_fault_t *fault;
  const hx_ir_op_t *found;
} hx_place_search_t;

static hx_status_t find_place(hx_ir_op_t *op, void *argument) {
  hx_place_search_t *search = argument;
  if (op->line == search->fault->line && op->column == search->fault->column && op->result_count > 0)
    search->found = op;
  return HX_STATUS_OK;
}

static void name_exhausted(hx_planner_t *planner, hx_program_t *program, size_t first) {
  const size_t count = hx_report_count(planner->report);
  for (size_t i = first; i < count; ++i) {
    hx_place_search_t search = {.fault = hx_report_get(planner->report, i)};
    if (search.fault->code != HX_CODE_NO_DEPTH) continue;
    (void)hx_ir_walk(program->module, find_place, &search);
    const hx_ir_value_t *value = search.found == NULL ? NULL : search.found->results[0];
    if (value == NULL || value->name.size == 0) continue;
    (void)hx_report_fail_at(planner->report, HX_CODE_NO_DEPTH, program->source, search.found->line,
                            search.found->column, "the depths of the parameters (%u) end before %%%.*s",
                            hx_ring_max_depth(planner->ring), (int)value->name.size, value->name.data);
    return;
  }
}

static hx_status_t make(hx_planner_t *planner) {
  hx_program_t *program = NULL;
  hx_plan_info_t *info = &planner->plan->info;
  info->counts_exact = true;
  if (planner->backend != NULL && planner->backend->device_count > 0)
    info->memory_bytes = planner->backend->devices[0]->info.memory_bytes;
  HX_TRY(hx_program_clone(planner->compilation->program, &program));
  const size_t before = hx_report_count(planner->report);
  const hx_pass_env_t env = {.ring = planner->ring, .report = planner->report};
  hx_status_t status = hx_pipeline_run(program, "inline{only=main},infer-state", &env);
  if (status != HX_STATUS_OK) name_exhausted(planner, program, before);
  if (status == HX_STATUS_OK) status = hx_program_refresh(program, planner->report);
  if (status == HX_STATUS_OK) status = plan_keys(planner);
  if (status == HX_STATUS_OK) status = plan_values(planner, program);
  if (status == HX_STATUS_OK) plan_ports(planner, program);
  if (status == HX_STATUS_OK) status = plan_work(planner, program);
  hx_program_release(program);
  return status;
}

hx_status_t hx_plan_create(const hx_compilation_t *compilation, const hx_backend_t *backend, hx_costs_t *costs,
                           hx_plan_t **out, hx_report_t *report) {
  if (compilation == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_plan_create: compilation or out is NULL");
  hx_plan_t *plan = hx_zalloc(1, sizeof *plan);
  if (plan == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a plan");
  hx_arena_init(&plan->arena);
  hx_planner_t planner = {.compilation = compilation,
                          .backend = backend,
                          .costs = costs,
                          .ring = hx_params_ring(compilation->params),
                          .report = report,
                          .plan = plan};
  hx_text_init(&planner.shape);
  hx_status_t status = HX_STATUS_OK;
  if (costs != NULL && backend != NULL && backend->device_count > 0)
    status = hx_costs_use(costs, backend->devices[0]->name, backend->plugins[0]->digest);
  if (status == HX_STATUS_OK) status = make(&planner);
  hx_text_deinit(&planner.shape);
  if (status == HX_STATUS_OK) {
    *out = plan;
    return HX_STATUS_OK;
  }
  hx_plan_release(plan);
  return status == HX_STATUS_OUT_OF_MEMORY ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a plan")
                                           : status;
}
