// SPDX-License-Identifier: Apache-2.0
#include "elements_read.h"

#include <string.h>

// ------------------------------------------------------------------ the region

int32_t hx_cuda_region_too_large(const hx_cuda_reader_t *r, const char *what, uint32_t count, uint32_t most) {
  return hxs_fail(r->error, HX_UNSUPPORTED, "the region has %u %s; cuda takes regions of at most %u", count, what,
                  most);
}

static int32_t read_inputs(hx_cuda_reader_t *r) {
  const hx_region *region = r->region;
  if ((region->inputs == NULL && region->input_count > 0) || region->outputs == NULL || region->output_count == 0) {
    return hxs_fail(r->error, HX_INVALID, "the region has no list of inputs, or no outputs");
  }
  if (region->value_count > HX_CUDA_REGION_IDS_MAX) {
    return hx_cuda_region_too_large(r, "values", region->value_count, HX_CUDA_REGION_IDS_MAX);
  }
  if (region->op_count > HX_CUDA_REGION_ELEMENTS_MAX) {
    return hx_cuda_region_too_large(r, "operations", region->op_count, HX_CUDA_REGION_ELEMENTS_MAX);
  }
  for (uint32_t i = 0; i < region->input_count; i++) {
    const uint32_t v = region->inputs[i];
    if (v >= region->value_count) {
      return hxs_fail(r->error, HX_INVALID, "the region's input %u is value %u of %u", i, v, region->value_count);
    }
    r->values[v] = (hx_cuda_region_value_t){.there = true, .slot = i};
  }
  return HX_OK;
}

// The operation as on its own, with every value an input and an output.
static int32_t check_op(hx_cuda_reader_t *r, uint32_t k) {
  const hx_op *op = hxs_region_op(r->region, k);
  hxs_prepared *base = &r->whole->base;
  hx_region alone = *r->region;
  int32_t aliases[HX_CUDA_REGION_IDS_MAX];
  hx_plan plan = {
      .struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = r->region->value_count, .may_alias = aliases};
  struct {
    hxs_plugin plugin;
    hxs_impl_row row;
  } *own = hxs_keep(base, 1, sizeof *own);
  if (own == NULL) {
    return hxs_fail(r->error, HX_OUT_OF_MEMORY, "no memory to prepare a region of operations element by element");
  }
  if (!hx_cuda_element_known(op->name)) {
    return hxs_fail(r->error, HX_UNSUPPORTED, "%.64s is not element by element, so cuda takes no region with it",
                    op->name);
  }
  for (uint32_t i = 0; i < hx_cuda_plugin.row_count; i++) {
    if (strcmp(hx_cuda_plugin.rows[i].op, op->name) == 0) {
      own->row = hx_cuda_plugin.rows[i];
    }
  }
  own->row.build = hx_cuda_element_build;
  own->plugin = hx_cuda_plugin;
  own->plugin.rows = &own->row;
  own->plugin.row_count = 1;
  own->plugin.end = NULL;
  alone.struct_size = HX_END_OF(hx_region, variant);
  alone.input_count = alone.output_count = r->region->value_count;
  alone.inputs = alone.outputs = r->all;
  HXS_TRY(hxs_prepare_op(&own->plugin, r->device, &alone, op, &plan, &r->elements->ops[k], r->error));
  r->elements->op_count = k + 1;
  return HX_OK;
}

// All operations have the rows of the first, of the same primes.
static int32_t check_shape(const hx_cuda_reader_t *r, uint32_t k) {
  const hxs_view *out = &hx_cuda_region_op(r, k)->results[0], *shape = &hx_cuda_region_op(r, 0)->results[0];
  if (out->items != shape->items || out->components != shape->components || out->limbs != shape->limbs ||
      memcmp(out->ids, shape->ids, out->limbs * sizeof *out->ids) != 0) {
    return hxs_fail(r->error, HX_UNSUPPORTED,
                    "%.64s is not element by element in the shape of the operations before it, so cuda takes no region "
                    "with it",
                    hx_cuda_region_op(r, k)->name);
  }
  return HX_OK;
}

// ------------------------------------------------------------------ operands and results

// The same row of one value for every row of the region?
static bool reads_alike(const hx_cuda_region_place_t *a, const hx_cuda_region_place_t *b) {
  const hxs_view *x = a->view, *y = b->view;
  return a->slot == b->slot && a->one_component == b->one_component && x->limbs == y->limbs &&
         x->batch_rank == y->batch_rank && (x->component_stride == y->component_stride || a->one_component) &&
         memcmp(x->limb_offsets, y->limb_offsets, x->limbs * sizeof *x->limb_offsets) == 0 &&
         memcmp(x->batch_shape, y->batch_shape, x->batch_rank * sizeof *x->batch_shape) == 0 &&
         memcmp(x->batch_strides, y->batch_strides, x->batch_rank * sizeof *x->batch_strides) == 0;
}

// The number of the load; an operand that is read in the same way already is read once.
static int32_t add_load(hx_cuda_reader_t *r, const hx_cuda_region_place_t *place, uint32_t *out) {
  for (uint32_t i = 0; i < r->body.load_count; i++) {
    if (reads_alike(&r->places[i], place)) {
      r->places[i].first_only = r->places[i].first_only && place->first_only;
      *out = i;
      return HX_OK;
    }
  }
  if (r->body.load_count == HX_CUDA_REGION_PLACES_MAX) {
    return hx_cuda_region_too_large(r, "operands to read", r->body.load_count + 1, HX_CUDA_REGION_PLACES_MAX);
  }
  r->places[r->body.load_count] = *place;
  *out = r->body.load_count++;
  return HX_OK;
}

// Operation numbers are told from loads by this, until the count of loads is known.
#define MADE 0x80000000u

static int32_t read_operand(hx_cuda_reader_t *r, uint32_t k, uint32_t i, const hx_cuda_what_t *what, uint32_t *out) {
  const hxs_prepared *op = hx_cuda_region_op(r, k);
  const hxs_view *view = &op->operands[i], *shape = &op->results[0];
  const hx_cuda_region_value_t *value = &r->values[view->slot];
  if (!value->there) {
    return hxs_fail(r->error, HX_INVALID, "%.64s: operand %u is value %u, which nothing has made", op->name, i,
                    view->slot);
  }
  if (value->made) {
    if (!hxs_view_same_layout(view, value->view) || view->components != shape->components) {
      return hxs_fail(r->error, HX_UNSUPPORTED,
                      "%.64s: operand %u repeats a part of what the region makes, so cuda takes no region with it",
                      op->name, i);
    }
    *out = MADE | value->number;
    return HX_OK;
  }
  const bool plain = what->first_only && !what->has_constants && i == 1;
  const hx_cuda_region_place_t place = {
      .slot = value->slot,
      .view = view,
      .first_only = plain,
      .one_component = plain || view->component_stride == 0 || shape->components == 1};
  return add_load(r, &place, out);
}

static int32_t read_op(hx_cuda_reader_t *r, uint32_t k) {
  const hxs_prepared *op = hx_cuda_region_op(r, k);
  const hx_cuda_what_t *what = op->plan;
  uint32_t *operands = hxs_keep(&r->whole->base, op->operand_count, sizeof *operands);
  if (operands == NULL) {
    return hxs_fail(r->error, HX_OUT_OF_MEMORY, "no memory for %u operands of a region", op->operand_count);
  }
  if (op->operand_count > HX_CUDA_REGION_OPERANDS_MAX) {
    return hx_cuda_region_too_large(r, "operands of one operation", op->operand_count, HX_CUDA_REGION_OPERANDS_MAX);
  }
  for (uint32_t i = 0; i < op->operand_count; i++) {
    HXS_TRY(read_operand(r, k, i, what, &operands[i]));
  }
  hx_cuda_region_value_t *made = &r->values[op->results[0].slot];
  if (made->there) {
    return hxs_fail(r->error, HX_INVALID, "%.64s: its result is value %u, which is there already", op->name,
                    op->results[0].slot);
  }
  *made = (hx_cuda_region_value_t){.there = true, .made = true, .number = k, .view = &op->results[0]};
  r->list[k] = (hx_cuda_element_t){.kind = what->kind,
                                   .lazy = what->lazy,
                                   .first_only = what->first_only && !what->has_constants,
                                   .halves = what->has_constants && what->constants.parts == 2,
                                   .constant = r->constant_count,
                                   .operand_count = op->operand_count,
                                   .operands = operands};
  r->constant_count += what->has_constants ? 1 : 0;
  return HX_OK;
}

static int32_t read_outputs(hx_cuda_reader_t *r) {
  const hx_region *region = r->region;
  hx_cuda_body_t *body = &r->body;
  bool taken[HX_CUDA_REGION_IDS_MAX] = {false};
  if (region->output_count > HX_CUDA_REGION_PLACES_MAX - body->load_count) {
    return hx_cuda_region_too_large(r, "operands and results", body->load_count + region->output_count,
                                    HX_CUDA_REGION_PLACES_MAX);
  }
  for (uint32_t i = 0; i < region->output_count; i++) {
    const uint32_t v = region->outputs[i];
    if (v >= region->value_count || !r->values[v].made || taken[v]) {
      return hxs_fail(r->error, HX_INVALID, "the region's output %u is value %u, which no operation makes, or twice", i,
                      v);
    }
    taken[v] = true;
    r->stores[i] = body->load_count + r->values[v].number;
    r->places[body->load_count + i] = (hx_cuda_region_place_t){.slot = i, .view = r->values[v].view};
  }
  body->store_count = region->output_count;
  return HX_OK;
}

// Numbers of what operations make follow those of the loads.
static void number_values(hx_cuda_reader_t *r) {
  for (uint32_t k = 0; k < r->body.element_count; k++) {
    uint32_t *operands = (uint32_t *)(uintptr_t)r->list[k].operands;
    for (uint32_t i = 0; i < r->list[k].operand_count; i++) {
      operands[i] = (operands[i] & MADE) != 0 ? r->body.load_count + (operands[i] & ~MADE) : operands[i];
    }
  }
  for (uint32_t i = 0; i < r->body.load_count; i++) {
    r->first_only[i] = r->places[i].first_only;
  }
}

// ------------------------------------------------------------------ paths

bool hx_cuda_region_is_real(const hx_cuda_reader_t *r, uint32_t limb) {
  const hxs_view *shape = &hx_cuda_region_op(r, 0)->results[0];
  return r->body.real && r->whole->base.tables->primes[shape->ids[limb]].bits <= HX_CUDA_REAL_BITS;
}

// Products are what doubles are faster at; sums alone are bound by memory.
static void choose_paths(hx_cuda_reader_t *r) {
  hx_cuda_body_t *body = &r->body;
  const hxs_view *shape = &hx_cuda_region_op(r, 0)->results[0];
  uint32_t reals = 0;
  body->word = r->whole->base.ring->word;
  r->whole->real = r->elements->ops[0]->real;
  body->real = r->whole->real && hx_cuda_body_takes_real(body) && hx_cuda_body_has_products(body);
  for (uint32_t limb = 0; limb < shape->limbs; limb++) {
    reals += hx_cuda_region_is_real(r, limb) ? 1 : 0;
  }
  body->real = reals > 0;
  body->integer = reals < shape->limbs;
  body->narrow = body->integer && r->elements->ops[0]->word && hx_cuda_body_takes_narrow(body);
  body->pairs = body->load_count + body->store_count <= 8 ? 2 : 1;
}

// ------------------------------------------------------------------ all of it

int32_t hx_cuda_region_read(hx_cuda_reader_t *r) {
  hxs_prepared *base = &r->whole->base;
  HXS_TRY(read_inputs(r));
  r->all = hxs_keep(base, r->region->value_count, sizeof *r->all);
  if (r->all == NULL) {
    return hxs_fail(r->error, HX_OUT_OF_MEMORY, "no memory for %u values of a region", r->region->value_count);
  }
  for (uint32_t v = 0; v < r->region->value_count; v++) {
    r->all[v] = v;
  }
  for (uint32_t k = 0; k < r->region->op_count; k++) {
    HXS_TRY(check_op(r, k));
    HXS_TRY(check_shape(r, k));
    HXS_TRY(read_op(r, k));
  }
  r->body.element_count = r->region->op_count;
  HXS_TRY(read_outputs(r));
  number_values(r);
  r->body.first_only = r->first_only;
  r->body.elements = r->list;
  r->body.stores = r->stores;
  choose_paths(r);
  return HX_OK;
}
