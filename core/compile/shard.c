// SPDX-License-Identifier: Apache-2.0
// Compilations of one rank, and what a kind of sharding gives on many ranks.
#include "heliox/shard.h"

#include <string.h>

#include "core/compile/compilation.h"
#include "core/passes/collectives.h"
#include "core/passes/passes.h"
#include "core/passes/work.h"

#define RANKS_LOOKED_AT 64

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for the programs of ranks");
}

static const char *group_of(const hx_shard_spec_t *spec) { return spec->group == NULL ? "world" : spec->group; }

static hx_status_t check_spec(const hx_shard_spec_t *spec, const char *call, hx_report_t *report) {
  static const char *const kinds[] = {"limbs", "terms", "batch"};
  if (spec == NULL || spec->kind == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: an argument is NULL", call);
  for (size_t i = 0; i < HX_COUNT_OF(kinds); ++i) {
    if (strcmp(kinds[i], spec->kind) == 0) return HX_STATUS_OK;
  }
  return hx_report_fail(report, HX_CODE_USAGE, "there is no sharding by '%.64s': it is limbs, terms or batch",
                        spec->kind);
}

// The passes of a kind in front of `shard`: the same on every rank.
static void print_front(const hx_shard_spec_t *spec, hx_text_t *out) {
  hx_text_puts(out, "inline{only=main},infer-state");
  if (spec->pipeline != NULL && spec->pipeline[0] != '\0') hx_text_printf(out, ",%s,infer-state", spec->pipeline);
  // Rows are those of primitives. What rotations share is found before they are taken apart, transforms behind.
  if (strcmp(spec->kind, "limbs") == 0)
    hx_text_puts(out, ",dve,cse,hoist-rotations,infer-state,resolve-keys,lower,cse,reuse-transforms,dve,infer-state");
}

static void print_rank(const hx_shard_spec_t *spec, hx_text_t *out) {
  hx_text_printf(out, "shard{kind=%s,rank=%u,size=%u,group=%s},cse,dve", spec->kind, spec->rank, spec->size,
                 group_of(spec));
}

hx_status_t hx_compilation_shard(hx_compilation_t *compilation, const hx_shard_spec_t *spec,
                                 const hx_transform_options_t *options, hx_report_t *report) {
  if (compilation == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compilation_shard: an argument is NULL");
  HX_TRY(check_spec(spec, "hx_compilation_shard", report));
  hx_text_t text;
  hx_text_init(&text);
  print_front(spec, &text);
  hx_text_puts(&text, ",");
  print_rank(spec, &text);
  const hx_status_t status =
      text.failed ? no_memory(report) : hx_compilation_transform_with(compilation, text.data, options, report);
  hx_text_deinit(&text);
  return status;
}

hx_status_t hx_collectives_create(const hx_program_t *program, const hx_params_t *params, const char *group,
                                  uint32_t rank, uint32_t size, hx_collectives_t **out, hx_report_t *report) {
  if (program == NULL || out == NULL || rank >= size)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "hx_collectives_create: an argument is NULL, or there is no rank %u of %u", rank, size);
  return hx_collectives_read(program, params == NULL ? NULL : hx_params_ring(params),
                             hx_str(group == NULL ? "world" : group), rank, size, out, report);
}

// ------------------------------------------------------------------ scaling

typedef struct hx_predictor {
  const hx_compilation_t *compilation;
  const hx_ring *ring;
  const hx_program_t *front;  // the program behind the passes that all ranks run
  hx_report_t *report;
  hx_collectives_t *sequences[RANKS_LOOKED_AT];  // of the ranks that were looked at
  size_t looked;
} hx_predictor_t;

static double work_of(const hx_ir_block_t *block, const hx_ring *ring) {
  double work = 0;
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    if (op->region_count == 0 || op->info->effect == HX_EFFECT_COLLECTIVE) {
      work += hx_op_row_products(op, ring);
      continue;
    }
    double parts[2] = {0};
    bool exact = true;
    for (size_t i = 0; i < op->region_count && i < 2; ++i) parts[i] = work_of(op->regions[i]->block, ring);
    const double trips = op->info->id == HX_OP_SCF_IF ? 1 : (double)hx_op_trips(op, &exact);
    work += op->info->id == HX_OP_SCF_IF ? (parts[0] > parts[1] ? parts[0] : parts[1]) : trips * (parts[0] + parts[1]);
  }
  return work;
}

static hx_status_t run_passes(const hx_predictor_t *predictor, hx_program_t *program, const char *pipeline) {
  const hx_pass_env_t env = {.ring = predictor->ring, .report = predictor->report};
  return hx_pipeline_run(program, pipeline, &env);
}

static hx_status_t key_bytes_of(const hx_predictor_t *predictor, const hx_program_t *program, uint64_t *out) {
  hx_needs_t *needs = NULL;
  HX_TRY(hx_program_needs(program, predictor->compilation->params, &needs, predictor->report));
  const hx_program_needs_t *found = hx_needs_get(needs);
  const uint64_t keys = found->element_count + ((found->parts & HX_KEYS_RELIN) != 0 ? 1 : 0) +
                        ((found->parts & HX_KEYS_CONJ) != 0 ? 1 : 0);
  *out = keys * hx_params_key_bytes(predictor->compilation->params);
  hx_needs_release(needs);
  return HX_STATUS_OK;
}

static void add_volume(const hx_collectives_t *collectives, hx_scaling_t *out) {
  uint64_t sent = 0, received = 0, calls = 0;
  for (size_t i = 0; i < hx_collectives_count(collectives); ++i) {
    const hx_collective_t *step = hx_collectives_get(collectives, i);
    const bool is_call =
        step->role == HX_COLLECTIVE_ALL || step->role == HX_COLLECTIVE_SEND || step->role == HX_COLLECTIVE_RECEIVE;
    calls += is_call ? step->times : 0;
    sent += step->sent * step->times;
    received += step->received * step->times;
  }
  if (sent + received > out->sent + out->received) {
    out->sent = sent;
    out->received = received;
  }
  if (calls > out->collectives) out->collectives = calls;
  out->total += received;
}

// The work of a program as it is executed: behind the default pipeline, which shares what rotations share.
static hx_status_t count_work(const hx_predictor_t *predictor, const hx_program_t *program, double *out) {
  hx_program_t *clone = NULL;
  hx_status_t status = hx_program_clone(program, &clone);
  if (status == HX_STATUS_OK) status = run_passes(predictor, clone, hx_pipeline_default());
  if (status == HX_STATUS_OK) status = run_passes(predictor, clone, "infer-state");
  if (status == HX_STATUS_OK) *out = work_of(hx_func_block(hx_program_find(clone, "main")), predictor->ring);
  hx_program_release(clone);
  return status;
}

static hx_status_t look_at(hx_predictor_t *predictor, const hx_shard_spec_t *spec, hx_scaling_t *out) {
  hx_program_t *program = NULL;
  hx_collectives_t *collectives = NULL;
  hx_text_t text;
  hx_text_init(&text);
  print_rank(spec, &text);
  hx_status_t status = text.failed ? no_memory(predictor->report) : hx_program_clone(predictor->front, &program);
  if (status == HX_STATUS_OK) status = run_passes(predictor, program, text.data);
  if (status == HX_STATUS_OK)
    status = hx_collectives_read(program, predictor->ring, hx_str(group_of(spec)), spec->rank, spec->size, &collectives,
                                 predictor->report);
  if (status == HX_STATUS_OK) {
    double work = 0;
    add_volume(collectives, out);
    predictor->sequences[predictor->looked++] = collectives;
    status = count_work(predictor, program, &work);
    if (work > out->work || spec->rank == 0) {
      out->work = work;
      out->busiest = spec->rank;
      status = key_bytes_of(predictor, program, &out->key_bytes);
    }
  }
  hx_program_release(program);
  hx_text_deinit(&text);
  return status;
}

// The ranks that were looked at meet.
static hx_status_t compare(const hx_predictor_t *predictor) {
  const char *texts[RANKS_LOOKED_AT];
  for (size_t i = 0; i < predictor->looked; ++i) texts[i] = hx_collectives_text(predictor->sequences[i]);
  return hx_collectives_compare(texts, predictor->looked, predictor->report);
}

static hx_status_t predict(hx_predictor_t *predictor, const hx_shard_spec_t *spec, hx_scaling_t *out) {
  hx_program_t *front = NULL;
  hx_text_t text;
  hx_text_init(&text);
  print_front(spec, &text);
  hx_status_t status =
      text.failed ? no_memory(predictor->report) : hx_program_clone(predictor->compilation->program, &front);
  if (status == HX_STATUS_OK) status = run_passes(predictor, front, text.data);
  hx_text_deinit(&text);
  predictor->front = front;
  double whole = 0;
  if (status == HX_STATUS_OK) status = count_work(predictor, front, &whole);
  const uint32_t size = out->size, looked = size < RANKS_LOOKED_AT ? size : RANKS_LOOKED_AT;
  hx_shard_spec_t rank = *spec;
  rank.size = size;
  for (uint32_t i = 0; i < looked && status == HX_STATUS_OK; ++i) {
    rank.rank = looked == 1 ? 0 : (uint32_t)((uint64_t)i * (size - 1) / (looked - 1));
    status = look_at(predictor, &rank, out);
  }
  if (status == HX_STATUS_OK) status = compare(predictor);
  // What all ranks take, where some of them were looked at: as those on average.
  if (looked < size) out->total = (uint64_t)((double)out->total / (double)looked * (double)size);
  out->share = whole > 0 ? out->work / whole : 1;
  hx_program_release(front);
  return status;
}

hx_status_t hx_shard_predict(const hx_compilation_t *compilation, const hx_shard_spec_t *spec, uint32_t size,
                             hx_scaling_t *out, hx_report_t *report) {
  if (compilation == NULL || out == NULL || size == 0 || size > HX_RANKS_MAX)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "hx_shard_predict: an argument is NULL, or %u ranks are not 1 to %d", size, HX_RANKS_MAX);
  HX_TRY(check_spec(spec, "hx_shard_predict", report));
  hx_predictor_t predictor = {
      .compilation = compilation, .ring = hx_params_ring(compilation->params), .report = report};
  hx_scaling_t found = {.size = size};
  const hx_status_t status = predict(&predictor, spec, &found);
  for (size_t i = 0; i < predictor.looked; ++i) hx_collectives_release(predictor.sequences[i]);
  if (status == HX_STATUS_OK) *out = found;
  return status;
}
