// SPDX-License-Identifier: Apache-2.0
#include "elements.h"

#include <stdlib.h>
#include <string.h>

#include "elements_read.h"
#include "step.h"

#define RECORD_BYTES_MAX ((size_t)256 << 20)

_Static_assert(sizeof(hx_cuda_prime_t) % sizeof(uint64_t) == 0, "a record begins with a prime, words follow");
_Static_assert(HX_CUDA_REGION_PLACES_MAX == 4 * HX_CUDA_DOT_MAX, "places are the arguments' more and more_rows");

bool hx_cuda_elements_begin(const hx_region *region) { return hx_cuda_element_known(region->ops->name); }

// ------------------------------------------------------------------ records

static uint64_t bits_of(double x) {
  uint64_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static void put_constants(const hx_cuda_reader_t *r, const hx_cuda_what_t *what, uint32_t component, uint32_t limb,
                          uint64_t *to) {
  const hxs_view *shape = &hx_cuda_region_op(r, 0)->results[0];
  const hxs_modulus *m = &r->whole->base.tables->moduli[shape->ids[limb]];
  for (uint32_t part = 0; part < what->constants.parts; part++) {
    const uint64_t residue = what->constants.residues[limb * what->constants.parts + part];
    const hx_cuda_factor_t factor = hx_cuda_factor_of(m, what->first_only && component > 0 ? 0 : residue);
    const bool real = hx_cuda_region_is_real(r, limb);
    to[2 * part] = real ? bits_of(hx_cuda_centred(m->q, factor.value)) : factor.value;
    to[2 * part + 1] = real ? 0 : factor.quotient;
  }
}

static uint64_t offset_of(const hx_cuda_region_place_t *place, uint64_t item, uint32_t component, uint32_t limb) {
  return hx_cuda_row_offset(place->view, item, place->one_component ? 0 : component, limb);
}

static void put_record(const hx_cuda_reader_t *r, uint64_t item, uint32_t component, uint32_t limb, uint64_t *record) {
  const hxs_view *shape = &hx_cuda_region_op(r, 0)->results[0];
  const hx_cuda_body_t *body = &r->body;
  memcpy(record, &r->whole->base.tables->primes[shape->ids[limb]], sizeof(hx_cuda_prime_t));
  record[HX_CUDA_REGION_FIRST] = component == 0 ? 1 : 0;
  for (uint32_t i = 0; i < body->load_count + body->store_count; i++) {
    const bool unread = i < body->load_count && body->first_only[i] && component > 0;
    record[HX_CUDA_REGION_OFFSETS + i] = unread ? 0 : offset_of(&r->places[i], item, component, limb);
  }
  for (uint32_t k = 0; k < body->element_count; k++) {
    const hx_cuda_what_t *what = hx_cuda_region_op(r, k)->plan;
    if (what->has_constants) {
      put_constants(r, what, component, limb, record + hx_cuda_body_constant(body, body->elements[k].constant));
    }
  }
}

static int32_t add_records(const hx_cuda_reader_t *r, hxs_build *build, hx_cuda_step_t *step) {
  const hxs_view *shape = &hx_cuda_region_op(r, 0)->results[0];
  const size_t words = hx_cuda_body_record(&r->body, r->constant_count);
  const uint64_t rows = shape->items * shape->components * shape->limbs;
  uint64_t *records = NULL, *at = NULL;
  if (rows > RECORD_BYTES_MAX / 8 / words) {
    return hxs_refuse(build, HX_UNSUPPORTED,
                      "the region has %llu rows of %zu words each; cuda takes at most %zu MiB of them",
                      (unsigned long long)rows, words, RECORD_BYTES_MAX >> 20);
  }
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

// One launch over all rows.
static int32_t add_launch(hx_cuda_reader_t *r, hxs_build *build) {
  const hxs_view *shape = &hx_cuda_region_op(r, 0)->results[0];
  const hx_cuda_body_t *body = &r->body;
  const uint64_t rows = shape->items * shape->components * shape->limbs;
  const uint32_t log = hx_cuda_log_blocks(build, 2 * body->pairs * HX_CUDA_REGION_THREADS);
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
static int32_t collect_views(const hx_cuda_reader_t *r, hxs_build *build) {
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
static void allow_aliases(const hx_cuda_reader_t *r, hx_plan *plan) {
  const hx_cuda_body_t *body = &r->body;
  bool taken[HX_CUDA_REGION_PLACES_MAX] = {false};
  for (uint32_t i = 0; i < body->store_count; i++) {
    const hxs_view *out = r->places[body->load_count + i].view;
    plan->may_alias[i] = -1;
    for (uint32_t k = 0; k < body->load_count && plan->may_alias[i] < 0; k++) {
      const hx_cuda_region_place_t *load = &r->places[k];
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
static int32_t compile(const hx_cuda_reader_t *r) {
  char *source = hx_cuda_generate(&r->body);
  if (source == NULL) {
    return hxs_fail(r->error, HX_OUT_OF_MEMORY, "no memory for the source of a region");
  }
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const int32_t code = hx_cuda_program_get(r->device, source, &r->elements->program, &error);
  free(source);
  if (code == HX_OK) {
    return HX_OK;
  }
  return hxs_fail(r->error, code == HX_OUT_OF_MEMORY || code == HX_DEVICE_LOST ? code : HX_UNSUPPORTED, "%s",
                  error.message);
}

static int32_t fill(hx_cuda_reader_t *r, hx_plan *plan) {
  const hx_op whole = {.struct_size = HX_END_OF(hx_op, resources), .name = "fusion.region"};
  hxs_build build = {&r->whole->base, r->whole->base.ring, &whole, plan, r->error};
  HXS_TRY(hx_cuda_region_read(r));
  HXS_TRY(compile(r));
  HXS_TRY(add_launch(r, &build));
  HXS_TRY(collect_views(r, &build));
  HXS_TRY(hx_cuda_steps_finish(&build));
  allow_aliases(r, plan);
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
static int32_t open_reader(hx_device *device, const hx_region *region, hx_cuda_reader_t **out, hx_error *error) {
  hx_prepared *object = NULL;
  HXS_TRY(hxs_begin(&hx_cuda_plugin, device, region, "fusion.region", &object, error));
  hx_cuda_reader_t *r = calloc(1, sizeof *r);
  object->elements = hxs_keep(&object->base, 1, sizeof *object->elements);
  if (r == NULL || object->elements == NULL) {
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
  hx_cuda_reader_t *r = NULL;
  HXS_TRY(open_reader(device, region, &r, error));
  hx_prepared *object = r->whole;
  const int32_t code = fill(r, plan);
  free(r);
  return hxs_end(object, code, plan, out);
}
