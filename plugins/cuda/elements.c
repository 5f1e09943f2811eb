// SPDX-License-Identifier: Apache-2.0
// Every operation is checked as on its own, by the library's functions; all values of the region are then its inputs
// and outputs, so that a view's slot is a value. What remains is a list of operations on numbers, from which the
// kernel's source is made, and where the rows lie, which the launch's records hold.
#include "elements.h"

#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "step.h"

#define VALUES_MAX 256u  // of a region

_Static_assert(sizeof(hx_cuda_prime_t) % sizeof(uint64_t) == 0, "a record begins with a prime, words follow");
_Static_assert(HX_CUDA_REGION_PLACES_MAX == 4 * HX_CUDA_DOT_MAX, "places are the arguments' more and more_rows");

// ------------------------------------------------------------------ operations

// What an operation is on numbers, as its prepared object keeps it.
typedef struct what {
  hx_cuda_element_kind_t kind;
  bool lazy, first_only, has_constants;
  hxs_constants constants;
} what_t;

typedef int32_t accept_fn(hxs_build *build, what_t *what);

static int32_t accept_linear(hxs_build *build, what_t *what) {
  HXS_TRY(hxs_accept_linear(build, what->kind == HX_CUDA_ELEMENT_NEG ? 1 : 2, false));
  what->lazy = build->prepared->results[0].repr == HX_LAZY;
  return HX_OK;
}

static int32_t accept_plain(hxs_build *build, what_t *what) {
  what->first_only = true;
  return hxs_accept_linear(build, 2, true);
}

static int32_t accept_reduce(hxs_build *build, what_t *what) {
  (void)what;
  return hxs_accept_reduce(build);
}

static int32_t accept_product(hxs_build *build, what_t *what) {
  return hxs_accept_product(build, what->kind == HX_CUDA_ELEMENT_MUL ? 2 : 3, HX_STANDARD, false);
}

static int32_t accept_plain_product(hxs_build *build, what_t *what) {
  (void)what;
  return hxs_accept_product(build, 2, HX_STANDARD, true);
}

static int32_t accept_parts(hxs_build *build, what_t *what, uint32_t parts) {
  what->has_constants = true;
  return hxs_accept_scalar(build, parts, &what->constants);
}

static int32_t accept_scalar(hxs_build *build, what_t *what) { return accept_parts(build, what, 1); }
static int32_t accept_halves(hxs_build *build, what_t *what) { return accept_parts(build, what, 2); }

// Other components get a constant of 0.
static int32_t accept_first_scalar(hxs_build *build, what_t *what) {
  what->first_only = true;
  return accept_parts(build, what, 2);
}

static int32_t accept_integer(hxs_build *build, what_t *what) {
  what->has_constants = true;
  return hxs_accept_integer(build, &what->constants);
}

static int32_t accept_to_montgomery(hxs_build *build, what_t *what) {
  what->has_constants = true;
  return hxs_accept_montgomery(build, true, &what->constants);
}

static int32_t accept_from_montgomery(hxs_build *build, what_t *what) {
  what->has_constants = true;
  return hxs_accept_montgomery(build, false, &what->constants);
}

static int32_t accept_montgomery_product(hxs_build *build, what_t *what) {
  HXS_TRY(hxs_accept_product(build, 2, HX_MONTGOMERY, false));
  what->has_constants = true;
  return hx_cuda_montgomery_inverses(build, &what->constants);
}

static int32_t accept_sum(hxs_build *build, what_t *what) {
  uint32_t terms = 0;
  (void)what;
  HXS_TRY(hxs_accept_weighted_sum(build, &terms));
  return build->prepared->result_count == 1
             ? HX_OK
             : hxs_refuse(build, HX_UNSUPPORTED, "has %u results; a region takes sums of one group",
                          build->prepared->result_count);
}

static const struct {
  const char *op;
  hx_cuda_element_kind_t kind;
  accept_fn *accept;
} elements[] = {
#define ELEMENT(op_, kind_, accept_) {op_, HX_CUDA_ELEMENT_##kind_, accept_},
#include "elements.def"
};

#define ELEMENT_COUNT (sizeof elements / sizeof elements[0])

static size_t element_of(const char *op) {
  size_t i = 0;
  while (i < ELEMENT_COUNT && strcmp(elements[i].op, op) != 0) {
    i++;
  }
  return i;
}

bool hx_cuda_elements_begin(const hx_region *region) { return element_of(region->ops->name) < ELEMENT_COUNT; }

static int32_t build_element(hxs_build *build) {
  what_t *what = NULL;
  const size_t at = element_of(build->op->name);
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *what, &what));
  what->kind = elements[at].kind;
  build->prepared->plan = what;
  return elements[at].accept(build, what);
}

// ------------------------------------------------------------------ the region

// A value of the region that is read from memory, at rows of its own: operands that repeat differently are two.
typedef struct place {
  uint32_t slot;  // of the call's inputs or outputs
  const hxs_view *view;
  bool first_only;     // component 0 of it alone is read
  bool one_component;  // it has one, for all
} place_t;

typedef struct value {
  bool there, made;      // there: an input, or made by an operation so far
  uint32_t slot;         // of an input
  uint32_t number;       // of what an operation made, as the body counts: before the count of loads is known, the
                         // operation
  const hxs_view *view;  // of what an operation made
} value_t;

struct hx_cuda_elements {
  hx_prepared *ops[HX_CUDA_REGION_ELEMENTS_MAX];
  uint32_t op_count;
  hx_cuda_program_t *program;
};

typedef struct reader {
  hx_device *device;
  const hx_region *region;
  hx_error *error;
  hx_prepared *whole;
  hx_cuda_elements_t *elements;
  uint32_t *all;  // every value's id
  value_t values[VALUES_MAX];
  place_t places[HX_CUDA_REGION_PLACES_MAX];  // loads, then stores
  bool first_only[HX_CUDA_REGION_PLACES_MAX];
  hx_cuda_element_t list[HX_CUDA_REGION_ELEMENTS_MAX];
  uint32_t stores[HX_CUDA_REGION_PLACES_MAX];
  uint32_t constant_count;
  hx_cuda_body_t body;
} reader_t;

static int32_t too_large(const reader_t *r, const char *what, uint32_t count, uint32_t most) {
  return hxs_fail(r->error, HX_UNSUPPORTED, "the region has %u %s; cuda takes regions of at most %u", count, what,
                  most);
}

static int32_t read_inputs(reader_t *r) {
  const hx_region *region = r->region;
  if (region->value_count > VALUES_MAX) {
    return too_large(r, "values", region->value_count, VALUES_MAX);
  }
  if (region->op_count > HX_CUDA_REGION_ELEMENTS_MAX) {
    return too_large(r, "operations", region->op_count, HX_CUDA_REGION_ELEMENTS_MAX);
  }
  for (uint32_t i = 0; i < region->input_count; i++) {
    const uint32_t v = region->inputs[i];
    if (v >= region->value_count) {
      return hxs_fail(r->error, HX_INVALID, "the region's input %u is value %u of %u", i, v, region->value_count);
    }
    r->values[v] = (value_t){.there = true, .slot = i};
  }
  return HX_OK;
}

// The operation as on its own, with every value an input and an output.
static int32_t check_op(reader_t *r, uint32_t k) {
  const hx_op *op = hxs_region_op(r->region, k);
  hxs_prepared *base = &r->whole->base;
  hx_region alone = *r->region;
  int32_t aliases[VALUES_MAX];
  hx_plan plan = {
      .struct_size = HX_END_OF(hx_plan, cost_ns), .alias_count = r->region->value_count, .may_alias = aliases};
  struct {
    hxs_plugin plugin;
    hxs_impl_row row;
  } *own = hxs_keep(base, 1, sizeof *own);
  if (own == NULL) {
    return hxs_fail(r->error, HX_OUT_OF_MEMORY, "no memory to prepare a region of operations element by element");
  }
  if (element_of(op->name) == ELEMENT_COUNT) {
    return hxs_fail(r->error, HX_UNSUPPORTED, "%.64s is not element by element, so cuda takes no region with it",
                    op->name);
  }
  for (uint32_t i = 0; i < hx_cuda_plugin.row_count; i++) {
    if (strcmp(hx_cuda_plugin.rows[i].op, op->name) == 0) {
      own->row = hx_cuda_plugin.rows[i];
    }
  }
  own->row.build = build_element;
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

static const hxs_prepared *op_of(const reader_t *r, uint32_t k) { return &r->elements->ops[k]->base; }

// All operations have the rows of the first, of the same primes.
static int32_t check_shape(const reader_t *r, uint32_t k) {
  const hxs_view *out = &op_of(r, k)->results[0], *shape = &op_of(r, 0)->results[0];
  if (out->items != shape->items || out->components != shape->components || out->limbs != shape->limbs ||
      memcmp(out->ids, shape->ids, out->limbs * sizeof *out->ids) != 0) {
    return hxs_fail(r->error, HX_UNSUPPORTED,
                    "%.64s is not element by element in the shape of the operations before it, so cuda takes no region "
                    "with it",
                    op_of(r, k)->name);
  }
  return HX_OK;
}

// ------------------------------------------------------------------ operands and results

// The same row of one value for every row of the region?
static bool reads_alike(const place_t *a, const place_t *b) {
  const hxs_view *x = a->view, *y = b->view;
  return a->slot == b->slot && a->one_component == b->one_component && x->limbs == y->limbs &&
         x->batch_rank == y->batch_rank && (x->component_stride == y->component_stride || a->one_component) &&
         memcmp(x->limb_offsets, y->limb_offsets, x->limbs * sizeof *x->limb_offsets) == 0 &&
         memcmp(x->batch_shape, y->batch_shape, x->batch_rank * sizeof *x->batch_shape) == 0 &&
         memcmp(x->batch_strides, y->batch_strides, x->batch_rank * sizeof *x->batch_strides) == 0;
}

// The number of the load; an operand that is read in the same way already is read once.
static int32_t add_load(reader_t *r, const place_t *place, uint32_t *out) {
  for (uint32_t i = 0; i < r->body.load_count; i++) {
    if (reads_alike(&r->places[i], place)) {
      r->places[i].first_only = r->places[i].first_only && place->first_only;
      *out = i;
      return HX_OK;
    }
  }
  if (r->body.load_count == HX_CUDA_REGION_PLACES_MAX) {
    return too_large(r, "operands to read", r->body.load_count + 1, HX_CUDA_REGION_PLACES_MAX);
  }
  r->places[r->body.load_count] = *place;
  *out = r->body.load_count++;
  return HX_OK;
}

// Operation numbers are told from loads by this, until the count of loads is known.
#define MADE 0x80000000u

static int32_t read_operand(reader_t *r, uint32_t k, uint32_t i, const what_t *what, uint32_t *out) {
  const hxs_prepared *op = op_of(r, k);
  const hxs_view *view = &op->operands[i], *shape = &op->results[0];
  const value_t *value = &r->values[view->slot];
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
  const place_t place = {.slot = value->slot,
                         .view = view,
                         .first_only = plain,
                         .one_component = plain || view->component_stride == 0 || shape->components == 1};
  return add_load(r, &place, out);
}

static int32_t read_op(reader_t *r, uint32_t k) {
  const hxs_prepared *op = op_of(r, k);
  const what_t *what = op->plan;
  uint32_t *operands = hxs_keep(&r->whole->base, op->operand_count, sizeof *operands);
  if (operands == NULL) {
    return hxs_fail(r->error, HX_OUT_OF_MEMORY, "no memory for %u operands of a region", op->operand_count);
  }
  if (op->operand_count > HX_CUDA_REGION_OPERANDS_MAX) {
    return too_large(r, "operands of one operation", op->operand_count, HX_CUDA_REGION_OPERANDS_MAX);
  }
  for (uint32_t i = 0; i < op->operand_count; i++) {
    HXS_TRY(read_operand(r, k, i, what, &operands[i]));
  }
  value_t *made = &r->values[op->results[0].slot];
  if (made->there) {
    return hxs_fail(r->error, HX_INVALID, "%.64s: its result is value %u, which is there already", op->name,
                    op->results[0].slot);
  }
  *made = (value_t){.there = true, .made = true, .number = k, .view = &op->results[0]};
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

static int32_t read_outputs(reader_t *r) {
  const hx_region *region = r->region;
  hx_cuda_body_t *body = &r->body;
  bool taken[VALUES_MAX] = {false};
  if (region->output_count > HX_CUDA_REGION_PLACES_MAX - body->load_count) {
    return too_large(r, "operands and results", body->load_count + region->output_count, HX_CUDA_REGION_PLACES_MAX);
  }
  for (uint32_t i = 0; i < region->output_count; i++) {
    const uint32_t v = region->outputs[i];
    if (v >= region->value_count || !r->values[v].made || taken[v]) {
      return hxs_fail(r->error, HX_INVALID, "the region's output %u is value %u, which no operation makes, or twice", i,
                      v);
    }
    taken[v] = true;
    r->stores[i] = body->load_count + r->values[v].number;
    r->places[body->load_count + i] = (place_t){.slot = i, .view = r->values[v].view};
  }
  body->store_count = region->output_count;
  return HX_OK;
}

// Numbers of what operations make follow those of the loads.
static void number_values(reader_t *r) {
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

static bool is_real_row(const reader_t *r, uint32_t limb) {
  const hxs_view *shape = &op_of(r, 0)->results[0];
  return r->body.real && r->whole->base.tables->primes[shape->ids[limb]].bits <= HX_CUDA_REAL_BITS;
}

// Products are what doubles are faster at; sums alone are bound by memory.
static void choose_paths(reader_t *r) {
  hx_cuda_body_t *body = &r->body;
  const hxs_view *shape = &op_of(r, 0)->results[0];
  uint32_t reals = 0;
  r->whole->real = r->elements->ops[0]->real;
  body->real = r->whole->real && hx_cuda_body_takes_real(body) && hx_cuda_body_has_products(body);
  for (uint32_t limb = 0; limb < shape->limbs; limb++) {
    reals += is_real_row(r, limb) ? 1 : 0;
  }
  body->real = reals > 0;
  body->integer = reals < shape->limbs;
  body->word = r->whole->base.ring->word;
  body->pairs = body->load_count + body->store_count <= 8 ? 2 : 1;
}

// ------------------------------------------------------------------ records

static uint64_t bits_of(double x) {
  uint64_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static void put_constants(const reader_t *r, const what_t *what, uint32_t component, uint32_t limb, uint64_t *to) {
  const hxs_view *shape = &op_of(r, 0)->results[0];
  const hxs_modulus *m = &r->whole->base.tables->moduli[shape->ids[limb]];
  for (uint32_t part = 0; part < what->constants.parts; part++) {
    const uint64_t residue = what->constants.residues[limb * what->constants.parts + part];
    const hx_cuda_factor_t factor = hx_cuda_factor_of(m, what->first_only && component > 0 ? 0 : residue);
    const bool real = is_real_row(r, limb);
    to[2 * part] = real ? bits_of(hx_cuda_centred(m->q, factor.value)) : factor.value;
    to[2 * part + 1] = real ? 0 : factor.quotient;
  }
}

static uint64_t offset_of(const place_t *place, uint64_t item, uint32_t component, uint32_t limb) {
  return hx_cuda_row_offset(place->view, item, place->one_component ? 0 : component, limb);
}

static void put_record(const reader_t *r, uint64_t item, uint32_t component, uint32_t limb, uint64_t *record) {
  const hxs_view *shape = &op_of(r, 0)->results[0];
  const hx_cuda_body_t *body = &r->body;
  memcpy(record, &r->whole->base.tables->primes[shape->ids[limb]], sizeof(hx_cuda_prime_t));
  record[HX_CUDA_REGION_FIRST] = component == 0 ? 1 : 0;
  for (uint32_t i = 0; i < body->load_count + body->store_count; i++) {
    const bool unread = i < body->load_count && body->first_only[i] && component > 0;
    record[HX_CUDA_REGION_OFFSETS + i] = unread ? 0 : offset_of(&r->places[i], item, component, limb);
  }
  for (uint32_t k = 0; k < body->element_count; k++) {
    const what_t *what = op_of(r, k)->plan;
    if (what->has_constants) {
      put_constants(r, what, component, limb, record + hx_cuda_body_constant(body, body->elements[k].constant));
    }
  }
}

static int32_t add_records(const reader_t *r, hxs_build *build, hx_cuda_step_t *step) {
  const hxs_view *shape = &op_of(r, 0)->results[0];
  const size_t words = hx_cuda_body_record(&r->body, r->constant_count);
  const uint64_t rows = shape->items * shape->components * shape->limbs;
  uint64_t *records = NULL, *at = NULL;
  HXS_TRY(hxs_keep_or_fail(build, rows, words * sizeof *records, &records));
  at = records;
  for (uint64_t item = 0; item < shape->items; item++) {
    for (uint32_t component = 0; component < shape->components; component++) {
      for (uint32_t limb = 0; limb < shape->limbs; limb++, at += words) {
        put_record(r, item, component, limb, at);
      }
    }
  }
  step->args.count = (uint32_t)words;
  return hx_cuda_step_extra(build, step, records, rows * words * sizeof *records);
}

// ------------------------------------------------------------------ preparing

// What the region is, but for what a compiler makes of it.
static int32_t read_region(reader_t *r) {
  hxs_prepared *base = &r->whole->base;
  r->all = hxs_keep(base, r->region->value_count, sizeof *r->all);
  if (r->all == NULL) {
    return hxs_fail(r->error, HX_OUT_OF_MEMORY, "no memory for %u values of a region", r->region->value_count);
  }
  HXS_TRY(read_inputs(r));
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

static int32_t make_source(const reader_t *r, char **out) {
  *out = hx_cuda_generate(&r->body);
  return *out != NULL ? HX_OK : hxs_fail(r->error, HX_OUT_OF_MEMORY, "no memory for the source of a region");
}

// One launch over all rows.
static int32_t add_launch(reader_t *r, hxs_build *build) {
  const hxs_view *shape = &op_of(r, 0)->results[0];
  const hx_cuda_body_t *body = &r->body;
  const uint64_t rows = shape->items * shape->components * shape->limbs;
  const uint32_t log = hx_cuda_log_blocks(build, 2 * body->pairs * HX_CUDA_REGION_THREADS);
  if (rows > UINT32_MAX >> 11) {
    return hxs_refuse(build, HX_UNSUPPORTED, "the region has %llu rows, cuda takes at most %u",
                      (unsigned long long)rows, UINT32_MAX >> 11);
  }
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_ROWS, rows << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->function = r->elements->program->function;
  step->args.x = log;
  step->args.y = HX_CUDA_REAL_BITS;
  for (uint32_t i = 0; i < body->load_count + body->store_count; i++) {
    HXS_TRY(
        hx_cuda_step_place(build, step, i, i < body->load_count ? HX_CUDA_INPUT : HX_CUDA_OUTPUT, r->places[i].slot));
  }
  return add_records(r, build, step);
}

// Views of the whole region, for the checks of a call: of each place that is read or written.
static int32_t collect_views(const reader_t *r, hxs_build *build) {
  hxs_prepared *base = &r->whole->base;
  const hx_cuda_body_t *body = &r->body;
  HXS_TRY(hxs_keep_or_fail(build, body->load_count, sizeof *base->operands, &base->operands));
  HXS_TRY(hxs_keep_or_fail(build, body->store_count, sizeof *base->results, &base->results));
  for (uint32_t i = 0; i < body->load_count + body->store_count; i++) {
    const bool load = i < body->load_count;
    hxs_view *view = load ? &base->operands[base->operand_count++] : &base->results[base->result_count++];
    *view = *r->places[i].view;
    view->side = load ? "operand" : "result";
    view->slot = view->index = r->places[i].slot;
  }
  return HX_OK;
}

// A result may lie on an operand of its layout: every thread reads all of its elements before it writes them.
static void allow_aliases(const reader_t *r, hx_plan *plan) {
  const hx_cuda_body_t *body = &r->body;
  bool taken[HX_CUDA_REGION_PLACES_MAX] = {false};
  for (uint32_t i = 0; i < body->store_count; i++) {
    const hxs_view *out = r->places[body->load_count + i].view;
    plan->may_alias[i] = -1;
    for (uint32_t k = 0; k < body->load_count && plan->may_alias[i] < 0; k++) {
      const place_t *load = &r->places[k];
      bool only = !taken[k] && hxs_view_same_layout(out, load->view);
      for (uint32_t j = 0; j < body->load_count; j++) {
        only = only && (j == k || r->places[j].slot != load->slot);
      }
      if (only) {
        plan->may_alias[i] = (int32_t)load->slot;
        taken[k] = true;
      }
    }
  }
}

// Whatever keeps NVRTC from compiling it, the operations can run one by one.
static int32_t compile(const reader_t *r) {
  char *source = NULL;
  HXS_TRY(make_source(r, &source));
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const int32_t code = hx_cuda_program_get(r->device, source, &r->elements->program, &error);
  free(source);
  if (code == HX_OK) {
    return HX_OK;
  }
  return hxs_fail(r->error, code == HX_OUT_OF_MEMORY || code == HX_DEVICE_LOST ? code : HX_UNSUPPORTED, "%s",
                  error.message);
}

static int32_t fill(reader_t *r, hx_plan *plan) {
  const hx_op whole = {.struct_size = HX_END_OF(hx_op, resources), .name = "fusion.region"};
  hxs_build build = {&r->whole->base, r->whole->base.ring, &whole, plan, r->error};
  HXS_TRY(read_region(r));
  HXS_TRY(compile(r));
  HXS_TRY(add_launch(r, &build));
  HXS_TRY(collect_views(r, &build));
  HXS_TRY(hx_cuda_steps_finish(&build));
  allow_aliases(r, plan);
  plan->scratch_host = plan->scratch_device = 0;
  if (plan->struct_size >= HX_END_OF(hx_plan, cost_ns)) {
    plan->cost_ns = 0;
  }
  return HX_OK;
}

void hx_cuda_elements_release(hx_prepared *prepared) {
  hx_cuda_elements_t *e = prepared->elements;
  if (e == NULL) {
    return;
  }
  for (uint32_t i = 0; i < e->op_count; i++) {
    hxs_destroy(e->ops[i]);
  }
  if (e->program != NULL) {
    hx_cuda_program_put(prepared->base.device, e->program);
  }
}

// An object for a region, and the reader of it (free).
static int32_t open_reader(hx_device *device, const hx_region *region, reader_t **out, hx_error *error) {
  reader_t *r = calloc(1, sizeof *r);
  hx_prepared *object = calloc(1, sizeof *object);
  if (object != NULL) {
    hxs_prepared *base = &object->base;
    base->plugin = &hx_cuda_plugin;
    base->device = device;
    base->tables = region->tables;
    base->ring = hx_cuda_ring_of(device, region->tables);
    base->name = "fusion.region";
    base->log_n = base->ring->log_n;
    base->n = (size_t)1 << base->log_n;
    object->elements = hxs_keep(base, 1, sizeof *object->elements);
  }
  if (r == NULL || object == NULL || object->elements == NULL) {
    free(r);
    hxs_destroy(object);
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory to prepare a region of operations element by element");
  }
  r->device = device;
  r->region = region;
  r->error = error;
  r->whole = object;
  r->elements = object->elements;
  *out = r;
  return HX_OK;
}

int32_t hx_cuda_elements_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out,
                                 hx_error *error) {
  reader_t *r = NULL;
  HXS_TRY(open_reader(device, region, &r, error));
  hx_prepared *object = r->whole;
  const int32_t code = fill(r, plan);
  free(r);
  if (code != HX_OK) {
    hxs_destroy(object);
    for (uint32_t i = 0; i < plan->alias_count; i++) {
      plan->may_alias[i] = -1;
    }
    return code;
  }
  *out = object;
  return HX_OK;
}

int32_t hx_cuda_elements_source(hx_device *device, const hx_region *region, char **out, hx_error *error) {
  reader_t *r = NULL;
  HXS_TRY(open_reader(device, region, &r, error));
  int32_t code = read_region(r);
  code = code == HX_OK ? make_source(r, out) : code;
  hxs_destroy(r->whole);
  free(r);
  return code;
}
