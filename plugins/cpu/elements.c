// SPDX-License-Identifier: Apache-2.0
// Every operation is prepared as on its own, by the same build functions; their views then name values of the region
// instead of inputs and outputs of a call. Running is the operations' row functions on a part of a row at a time.
#include "elements.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "heliox/support/host.h"
#include "run.h"

#define VALUES_MAX 256u  // of a region
#define PART 4096u       // coefficients that go through all operations before the next ones: 32 KiB a value

typedef enum home { INPUT, OUTPUT, INNER } home_t;

typedef struct value {
  home_t home;
  uint32_t place;  // among the call's inputs or outputs, or the inner values
} value_t;

typedef struct elements {
  hx_prepared **ops;
  uint32_t op_count, value_count, inner_count;
  value_t *values;
  uint32_t lanes;
} elements_t;

static size_t part_of(const hxs_prepared *p) { return p->n < PART ? p->n : PART; }

static size_t part_bytes(const hxs_prepared *p) { return part_of(p) * (p->ring->word / 8); }

// ---- running

// The values' spans for one lane: inner ones are parts in scratch.
static void lane_spans(const hx_cpu_run_t *run, uint64_t lane, hx_span *spans) {
  const elements_t *e = run->prepared->plan;
  for (uint32_t v = 0; v < e->value_count; v++) {
    const value_t *value = &e->values[v];
    if (value->home == INNER) {
      const uint64_t at = lane * e->inner_count + value->place;
      spans[v] = run->call->scratch_device;
      spans[v].offset += at * part_bytes(run->prepared);
    } else {
      spans[v] = value->home == INPUT ? run->call->inputs[value->place] : run->call->outputs[value->place];
    }
  }
}

static void lane_body(const hx_cpu_run_t *run, uint64_t lane) {
  const hxs_prepared *p = run->prepared;
  const elements_t *e = p->plan;
  const hxs_view *shape = &e->ops[0]->base.results[0];
  const uint64_t rows = shape->items * shape->components * shape->limbs;
  const uint64_t first = rows * lane / e->lanes, end = rows * (lane + 1) / e->lanes;
  hx_span begin[VALUES_MAX], spans[VALUES_MAX];
  lane_spans(run, lane, begin);
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs), .inputs = spans, .outputs = spans};
  for (uint64_t row = first; row < end; row++) {
    for (size_t at = 0; at < p->n; at += part_of(p)) {
      for (uint32_t v = 0; v < e->value_count; v++) {
        spans[v] = begin[v];
        spans[v].offset += e->values[v].home == INNER ? 0 : at * (p->ring->word / 8);
      }
      for (uint32_t i = 0; i < e->op_count; i++) {
        hxs_prepared op = e->ops[i]->base;  // of a part's length
        op.n = part_of(p);
        const hx_cpu_run_t one = {
            .prepared = &op, .kernels = &e->ops[i]->kernels, .primes = run->primes, .call = &call};
        e->ops[i]->row(&one, row);
      }
    }
  }
}

static int32_t run_elements(hx_cpu_run_t *run) {
  const elements_t *e = run->prepared->plan;
  return hx_cpu_for(run, e->lanes, run->prepared->cost / e->lanes, lane_body);
}

// ---- preparing

void hx_cpu_elements_release(hx_prepared *prepared) {
  if (prepared->run != run_elements) {
    return;
  }
  const elements_t *e = prepared->base.plan;
  for (uint32_t i = 0; e != NULL && i < e->op_count; i++) {
    hxs_destroy(e->ops[i]);
  }
}

static int32_t no_memory(hx_error *error) {
  return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory to prepare a region of operations element by element");
}

// Where every value of the region is: none may be read before it is there.
static int32_t find_homes(const hx_region *region, elements_t *e, hx_error *error) {
  bool there[VALUES_MAX] = {false};
  for (uint32_t i = 0; i < region->input_count; i++) {
    if (region->inputs[i] >= e->value_count) {
      return hxs_fail(error, HX_INVALID, "the region's input %u is value %u of %u", i, region->inputs[i],
                      e->value_count);
    }
    e->values[region->inputs[i]] = (value_t){INPUT, i};
    there[region->inputs[i]] = true;
  }
  for (uint32_t k = 0; k < region->op_count; k++) {
    const hx_op *op = hxs_region_op(region, k);
    for (uint32_t i = 0; i < op->operand_count; i++) {
      if (op->operands[i] >= e->value_count || !there[op->operands[i]]) {
        return hxs_fail(error, HX_INVALID, "%s: operand %u is value %u, which nothing has made", op->name, i,
                        op->operands[i]);
      }
    }
    if (op->result_count != 1 || op->results[0] >= e->value_count || there[op->results[0]]) {
      return hxs_fail(error, HX_INVALID, "%s: has %u results, must be a single value that nothing else makes", op->name,
                      op->result_count);
    }
    there[op->results[0]] = true;
    e->values[op->results[0]] = (value_t){INNER, e->inner_count++};
  }
  for (uint32_t i = 0; i < region->output_count; i++) {
    const uint32_t v = region->outputs[i];
    if (v >= e->value_count || !there[v] || e->values[v].home != INNER) {
      return hxs_fail(error, HX_INVALID, "the region's output %u is value %u, which no operation makes, or twice", i,
                      v);
    }
    e->values[v] = (value_t){OUTPUT, i};
  }
  return HX_OK;
}

// Inner values lie in a part: every row of them at its begin.
static void flatten(const elements_t *e, hxs_view *view) {
  if (e->values[view->slot].home != INNER) {
    return;
  }
  memset(view->limb_offsets, 0, view->limbs * sizeof *view->limb_offsets);
  memset(view->batch_strides, 0, sizeof view->batch_strides);
  view->component_stride = 0;
}

// Operation k as on its own; all values of the region are its inputs and outputs, so that a view's slot is a value.
static int32_t prepare_one(hx_device *device, const hx_region *region, const uint32_t *all, uint32_t k, elements_t *e,
                           hxs_prepared *base, hx_error *error) {
  const hx_op *op = hxs_region_op(region, k);
  hx_region alone = *region;
  int32_t aliases[VALUES_MAX];
  hx_plan plan = {.struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = e->value_count, .may_alias = aliases};
  alone.struct_size = HX_END_OF(hx_region, variant);
  alone.input_count = alone.output_count = e->value_count;
  alone.inputs = alone.outputs = all;
  if (strncmp(op->name, "rns.", 4) != 0) {
    return hxs_fail(error, HX_UNSUPPORTED, "%.64s is not element by element, so cpu takes no region with it", op->name);
  }
  HXS_TRY(hxs_prepare_op(&hx_cpu_plugin, device, &alone, op, &plan, &e->ops[k], error));
  e->op_count = k + 1;
  hxs_prepared *made = &e->ops[k]->base;
  const hxs_view *out = &made->results[0], *shape = &e->ops[0]->base.results[0];
  if (e->ops[k]->row == NULL || plan.scratch_device > 0 || out->items != shape->items ||
      out->components != shape->components || out->limbs != shape->limbs) {
    return hxs_fail(error, HX_UNSUPPORTED,
                    "%.64s is not element by element in the shape of the operations before it, so cpu takes no region "
                    "with it",
                    op->name);
  }
  for (uint32_t i = 0; i < made->operand_count; i++) {
    flatten(e, &made->operands[i]);
  }
  flatten(e, &made->results[0]);
  base->cost += made->cost;
  return HX_OK;
}

// Views of the whole region, for the checks of a call: of each input and output that of an operation.
static int32_t collect_views(const elements_t *e, const hx_region *region, hxs_prepared *base, hx_error *error) {
  base->operands = hxs_keep(base, region->input_count + 1, sizeof *base->operands);
  base->results = hxs_keep(base, region->output_count, sizeof *base->results);
  if (base->operands == NULL || base->results == NULL) {
    return no_memory(error);
  }
  bool taken[VALUES_MAX] = {false};
  for (uint32_t k = 0; k < e->op_count; k++) {
    const hxs_prepared *op = &e->ops[k]->base;
    for (uint32_t i = 0; i <= op->operand_count; i++) {
      const hxs_view *view = i < op->operand_count ? &op->operands[i] : &op->results[0];
      const value_t *value = &e->values[view->slot];
      if (value->home == INNER || taken[view->slot]) {
        continue;
      }
      taken[view->slot] = true;
      hxs_view *to =
          value->home == INPUT ? &base->operands[base->operand_count++] : &base->results[base->result_count++];
      *to = *view;
      to->slot = to->index = value->place;
    }
  }
  return HX_OK;
}

static int32_t fill(hx_device *device, const hx_region *region, hx_prepared *object, hx_error *error) {
  hxs_prepared *base = &object->base;
  elements_t *e = hxs_keep(base, 1, sizeof *e);
  uint32_t *all = hxs_keep(base, region->value_count, sizeof *all);
  if (e == NULL || all == NULL) {
    return no_memory(error);
  }
  e->value_count = region->value_count;
  e->values = hxs_keep(base, e->value_count, sizeof *e->values);
  e->ops = hxs_keep(base, region->op_count, sizeof(hx_prepared *));
  if (e->values == NULL || e->ops == NULL) {
    return no_memory(error);
  }
  base->plan = e;
  object->run = run_elements;
  for (uint32_t v = 0; v < e->value_count; v++) {
    all[v] = v;
  }
  HXS_TRY(find_homes(region, e, error));
  for (uint32_t k = 0; k < region->op_count; k++) {
    HXS_TRY(prepare_one(device, region, all, k, e, base, error));
  }
  HXS_TRY(collect_views(e, region, base, error));
  const hxs_view *shape = &e->ops[0]->base.results[0];
  const uint64_t rows = shape->items * shape->components * shape->limbs;
  const uint32_t threads = hxs_host_threads();
  e->lanes = rows < threads ? (uint32_t)rows : threads;
  e->lanes = e->lanes == 0 ? 1 : e->lanes;
  base->scratch_bytes = (uint64_t)e->lanes * e->inner_count * part_bytes(base);
  return HX_OK;
}

int32_t hx_cpu_elements_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out,
                                hx_error *error) {
  if (region->value_count > VALUES_MAX) {
    return hxs_fail(error, HX_UNSUPPORTED, "the region has %u values; cpu takes regions of at most %u",
                    region->value_count, VALUES_MAX);
  }
  hx_prepared *object = NULL;
  HXS_TRY(hxs_begin(&hx_cpu_plugin, device, region, "fusion.region", &object, error));
  const int32_t code = fill(device, region, object, error);
  for (uint32_t i = 0; i < plan->alias_count; i++) {
    plan->may_alias[i] = -1;
  }
  return hxs_end(object, code, plan, out);
}
