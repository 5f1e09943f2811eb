// SPDX-License-Identifier: Apache-2.0
#include "step.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/arith.h"
#include "program.h"

#define ROWS_MAX (UINT32_MAX >> 11)  // of a launch

bool hx_opencl_has_real(const hxs_build *build, uint32_t id) {
  const hx_tables *tables = build->prepared->tables;
  return hx_opencl_prepared(build)->real && tables->real && tables->wide[id].bits <= HX_OPENCL_REAL_BITS;
}

const hxs_modulus *hx_opencl_modulus(const hxs_build *build, uint32_t id) { return &build->prepared->tables->wide[id]; }

// ------------------------------------------------------------------ rows

int32_t hx_opencl_rows_begin(const hxs_build *build, const hxs_view *view, uint64_t count, hx_opencl_rows_t *out) {
  if (count > ROWS_MAX) {
    return hxs_refuse(build, HX_UNSUPPORTED, "%llu rows are asked for, opencl takes at most %u at once",
                      (unsigned long long)count, ROWS_MAX);
  }
  *out = (hx_opencl_rows_t){.memory = HX_OPENCL_SCRATCH, .unit = build->ring->word / 8, .count = (uint32_t)count};
  if (view != NULL) {
    out->memory = view->side[0] == 'r' ? HX_OPENCL_OUTPUT : HX_OPENCL_INPUT;
    out->slot = view->slot;
    out->unit = view->element_bytes;
  }
  HXS_TRY(hxs_keep_or_fail(build, out->count, sizeof *out->offsets, &out->offsets));
  return hxs_keep_or_fail(build, out->count, sizeof *out->ids, &out->ids);
}

uint64_t hx_opencl_row_offset(const hxs_view *view, uint64_t item, uint32_t component, uint32_t limb) {
  return hxs_view_item_offset(view, item) + component * view->component_stride + view->limb_offsets[limb];
}

int32_t hx_opencl_rows_components(const hxs_build *build, const hxs_view *view, uint32_t first, uint32_t count,
                                  bool outermost, hx_opencl_rows_t *out) {
  HXS_TRY(hx_opencl_rows_begin(build, view, view->items * count * view->limbs, out));
  for (uint32_t i = 0; i < out->count; i++) {
    const uint32_t limb = i % view->limbs, rest = i / view->limbs;
    const uint64_t item = outermost ? rest % view->items : rest / count;
    const uint32_t component = outermost ? (uint32_t)(rest / view->items) : rest % count;
    out->offsets[i] = hx_opencl_row_offset(view, item, first + component, limb);
    out->ids[i] = view->ids != NULL ? view->ids[limb] : 0;
  }
  return HX_OK;
}

int32_t hx_opencl_rows_of(const hxs_build *build, const hxs_view *view, hx_opencl_rows_t *out) {
  return hx_opencl_rows_components(build, view, 0, view->components, false, out);
}

int32_t hx_opencl_rows_scratch(const hxs_build *build, uint64_t count, hx_opencl_rows_t *out) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hx_opencl_rows_begin(build, NULL, count, out));
  for (uint32_t i = 0; i < out->count; i++) {
    out->offsets[i] = p->scratch_bytes / out->unit + i * p->n;
  }
  p->scratch_bytes += out->count * p->n * out->unit;
  return HX_OK;
}

int32_t hx_opencl_rows_pick(const hxs_build *build, const hx_opencl_rows_t *from, uint32_t count,
                            const uint32_t *indices, hx_opencl_rows_t *out) {
  HXS_TRY(hx_opencl_rows_begin(build, NULL, count, out));
  out->memory = from->memory;
  out->slot = from->slot;
  out->unit = from->unit;
  for (uint32_t i = 0; i < count; i++) {
    out->offsets[i] = from->offsets[indices[i]];
    out->ids[i] = from->ids[indices[i]];
  }
  return HX_OK;
}

// ------------------------------------------------------------------ single steps

// Appends to the gathered constants, 16-byte aligned.
static int32_t gather(const hxs_build *build, const void *data, size_t bytes, uint64_t *out_offset) {
  hx_prepared *p = hx_opencl_prepared(build);
  const uint64_t at = (p->gathered_bytes + 15) / 16 * 16;
  if (at + bytes > p->gathered_room) {
    const uint64_t room = (at + bytes) * 2;
    uint8_t *larger = realloc(p->gathered, room);
    if (larger == NULL) {
      return hxs_refuse(build, HX_OUT_OF_MEMORY, "no memory for %zu bytes of constants", (size_t)room);
    }
    p->gathered = larger;
    p->gathered_room = room;
  }
  memset(p->gathered + p->gathered_bytes, 0, at - p->gathered_bytes);
  memcpy(p->gathered + at, data, bytes);
  p->gathered_bytes = at + bytes;
  *out_offset = at;
  return HX_OK;
}

int32_t hx_opencl_step_add(const hxs_build *build, hx_opencl_kernel_t kernel, uint64_t groups, hx_opencl_step_t **out) {
  hx_prepared *p = hx_opencl_prepared(build);
  if (p->step_count == p->step_room) {
    hx_opencl_step_t *larger = NULL;
    const uint32_t room = p->step_room == 0 ? 8 : 2 * p->step_room;
    HXS_TRY(hxs_keep_or_fail(build, room, sizeof *larger, &larger));
    if (p->step_count > 0) {
      memcpy(larger, p->steps, p->step_count * sizeof *larger);
    }
    p->steps = larger;
    p->step_room = room;
  }
  if (groups == 0 || groups > UINT32_MAX / HX_OPENCL_GROUP_MAX) {
    return hxs_refuse(build, HX_UNSUPPORTED, "a launch would have %llu work-groups", (unsigned long long)groups);
  }
  hx_opencl_step_t *step = &p->steps[p->step_count++];
  *step = (hx_opencl_step_t){.kernel = kernel, .groups = groups, .args.log_n = p->base.log_n};
  *out = step;
  return HX_OK;
}

int32_t hx_opencl_step_rows(const hxs_build *build, hx_opencl_step_t *step, uint32_t place,
                            const hx_opencl_rows_t *rows) {
  step->places[place] = (hx_opencl_place_t){rows->memory, rows->slot, rows->unit};
  step->args.places |= 1u << place;
  return gather(build, rows->offsets, rows->count * sizeof *rows->offsets, &step->args.rows[place]);
}

int32_t hx_opencl_step_primes(const hxs_build *build, hx_opencl_step_t *step, const uint32_t *ids, uint32_t count) {
  return gather(build, ids, count * sizeof *ids, &step->args.row_prime);
}

int32_t hx_opencl_step_extra(const hxs_build *build, hx_opencl_step_t *step, const void *data, size_t bytes) {
  return gather(build, data, bytes, &step->args.extra);
}

uint32_t hx_opencl_log_groups(const hxs_build *build, uint32_t each) {
  uint32_t log = 0;
  while (((size_t)each * build->prepared->device->group << log) < build->prepared->n) {
    log++;
  }
  return log;
}

// ------------------------------------------------------------------ steps over rows

#define EACH 4u  // elements of a work-item of pointwise kernels

int32_t hx_opencl_step_pointwise(const hxs_build *build, uint32_t op, const hx_opencl_rows_t *out,
                                 const hx_opencl_rows_t *a, const hx_opencl_rows_t *b, const hx_opencl_rows_t *c,
                                 const hx_opencl_factor_t *halves, bool lazy) {
  const uint32_t log = hx_opencl_log_groups(build, EACH);
  hx_opencl_step_t *step = NULL;
  if (out->count == 0) {
    return HX_OK;
  }
  HXS_TRY(hx_opencl_step_add(build, HX_OPENCL_KERNEL_ROWS, (uint64_t)out->count << log, &step));
  step->args.op = op;
  step->args.x = log;
  step->args.z = lazy ? 1 : 0;
  const hx_opencl_rows_t *const all[] = {out, a, b, c};
  for (uint32_t place = 0; place < HX_OPENCL_PLACES; place++) {
    if (all[place] != NULL) {
      HXS_TRY(hx_opencl_step_rows(build, step, place, all[place]));
    }
  }
  if (halves != NULL) {
    HXS_TRY(hx_opencl_step_extra(build, step, halves, out->count * 2 * sizeof *halves));
  }
  return hx_opencl_step_primes(build, step, out->ids, out->count);
}

int32_t hx_opencl_step_plain(const hxs_build *build, hx_opencl_kernel_t kernel, uint32_t each,
                             const hx_opencl_rows_t *out, const hx_opencl_rows_t *a, const hx_opencl_args_t *args) {
  const uint32_t log = hx_opencl_log_groups(build, each);
  hx_opencl_step_t *step = NULL;
  HXS_TRY(hx_opencl_step_add(build, kernel, (uint64_t)out->count << log, &step));
  step->args.x = log;
  step->args.op = args->op;
  step->args.y = args->y;
  step->args.count = args->count;
  step->args.stride = args->stride;
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_OUT, out));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_A, a));
  return hx_opencl_step_primes(build, step, out->ids, out->count);
}

int32_t hx_opencl_step_tensor(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a,
                              const hx_opencl_rows_t *b) {
  const uint32_t log = hx_opencl_log_groups(build, EACH), rows = a->count / 2;
  hx_opencl_step_t *step = NULL;
  HXS_TRY(hx_opencl_step_add(build, HX_OPENCL_KERNEL_TENSOR, (uint64_t)rows << log, &step));
  step->args.x = log;
  step->args.count = rows;
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_OUT, out));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_A, a));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_B, b));
  return hx_opencl_step_primes(build, step, a->ids, rows);
}

int32_t hx_opencl_step_permute(const hxs_build *build, uint32_t domain, uint32_t element, const hx_opencl_rows_t *out,
                               const hx_opencl_rows_t *a) {
  const hx_opencl_args_t args = {.op = domain == HX_NTT ? 0 : 1,
                                 .y = domain == HX_NTT ? element : (uint32_t)hxs_odd_inverse(element)};
  return hx_opencl_step_plain(build, HX_OPENCL_KERNEL_PERMUTE, EACH, out, a, &args);
}

// ------------------------------------------------------------------ conversions

typedef struct conversion {
  uint32_t stages, rows;  // rows: plans * targets
  const hx_opencl_target_t *plan;
  const uint64_t *weights;
} conversion_t;

// Whether all primes take the real path and sums are short.
static bool takes_real(const hxs_build *build, const hx_opencl_rows_t *y, const conversion_t *c) {
  bool real = c->stages >= 1 && c->stages <= HX_OPENCL_REAL_STAGES;
  for (uint32_t i = 0; i < y->count && real; i++) {
    real = hx_opencl_has_real(build, y->ids[i]);
  }
  for (uint32_t i = 0; i < c->rows && real; i++) {
    real = hx_opencl_has_real(build, c->plan[i].prime);
  }
  return real;
}

static hx_opencl_weight_t real_weight(uint64_t q, uint64_t w) {
  return (hx_opencl_weight_t){w > q / 2 ? w - q : w, real_bits(hx_opencl_centred(q, w) / (double)q)};
}

// The real kernel's constants: targets, weights, factors.
static int32_t convert_real_extra(const hxs_build *build, const conversion_t *c, uint8_t **out, size_t *out_bytes) {
  const size_t head = c->rows * sizeof *c->plan, count = (size_t)c->rows * c->stages;
  *out_bytes = head + (count + c->rows) * sizeof(hx_opencl_weight_t);
  HXS_TRY(hxs_keep_or_fail(build, 1, *out_bytes, out));
  for (uint32_t i = 0; i < c->rows; i++) {
    hx_opencl_target_t target = c->plan[i];
    const uint64_t q = hx_opencl_modulus(build, target.prime)->q;
    const hx_opencl_weight_t factor = real_weight(q, target.factor);
    target.factor = real_bits((double)target.start / (double)q);
    memcpy(*out + i * sizeof target, &target, sizeof target);
    memcpy(*out + head + (count + i) * sizeof factor, &factor, sizeof factor);
    for (uint32_t s = 0; s < c->stages; s++) {
      const size_t at = (size_t)i * c->stages + s;
      const hx_opencl_weight_t weight = real_weight(q, c->weights[at]);
      memcpy(*out + head + at * sizeof weight, &weight, sizeof weight);
    }
  }
  return HX_OK;
}

// The integer kernel's constants, in Montgomery form: targets, then weights.
static int32_t convert_extra(const hxs_build *build, const conversion_t *c, uint8_t **out, size_t *out_bytes) {
  const hx_opencl_target_t *plan = c->plan;
  const uint64_t *weights = c->weights;
  const uint32_t rows = c->rows, stages = c->stages;
  const size_t head = rows * sizeof *plan;
  *out_bytes = head + (size_t)rows * stages * sizeof(uint64_t);
  HXS_TRY(hxs_keep_or_fail(build, 1, *out_bytes, out));
  for (uint32_t i = 0; i < rows; i++) {
    hx_opencl_target_t target = plan[i];
    const hxs_modulus *m = hx_opencl_modulus(build, target.prime);
    target.start = hxs_to_montgomery(m, target.start);
    target.factor = hxs_to_montgomery(m, target.factor);
    memcpy(*out + i * sizeof target, &target, sizeof target);
    for (uint32_t s = 0; s < stages; s++) {
      const uint64_t weight = hxs_to_montgomery(m, weights[(size_t)i * stages + s]);
      memcpy(*out + head + ((size_t)i * stages + s) * sizeof weight, &weight, sizeof weight);
    }
  }
  return HX_OK;
}

static hx_opencl_kernel_t convert_kernel(uint32_t stages, bool real) {
  if (real) {
    return (hx_opencl_kernel_t)((uint32_t)HX_OPENCL_KERNEL_CONVERT_REAL_1 + stages - 1);
  }
  return stages == 1   ? HX_OPENCL_KERNEL_CONVERT_ONE
         : stages <= 8 ? HX_OPENCL_KERNEL_CONVERT_HELD
                       : HX_OPENCL_KERNEL_CONVERT;
}

// Log of the groups a row of the real conversion kernels, which take 256 coefficients each.
static uint32_t log_real_groups(const hxs_build *build) {
  return build->prepared->log_n > 8 ? build->prepared->log_n - 8 : 0;
}

int32_t hx_opencl_step_convert(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *y,
                               const hx_opencl_rows_t *x, uint32_t polynomials, uint32_t stages, uint32_t targets,
                               uint32_t plans, const hx_opencl_target_t *plan, const uint64_t *weights) {
  const conversion_t conversion = {stages, plans * targets, plan, weights};
  const bool real = takes_real(build, y, &conversion);
  const uint32_t log = real ? log_real_groups(build) : hx_opencl_log_groups(build, 1);
  uint8_t *extra = NULL;
  size_t bytes = 0;
  hx_opencl_step_t *step = NULL;
  HXS_TRY(real ? convert_real_extra(build, &conversion, &extra, &bytes)
               : convert_extra(build, &conversion, &extra, &bytes));
  // Groups enough to fill the device, targets enough in each to make good use of the y that it reads.
  const uint64_t wanted = 16u * (uint64_t)build->prepared->device->facts.units;
  uint32_t each = real && targets > HX_OPENCL_REAL_TARGETS ? HX_OPENCL_REAL_TARGETS : targets;
  while (each > 4 && ((uint64_t)polynomials << log) * ((targets + each - 1) / each) < wanted) {
    each = (each + 1) / 2;
  }
  const uint64_t groups = ((uint64_t)polynomials << log) * ((targets + each - 1) / each);
  HXS_TRY(hx_opencl_step_add(build, convert_kernel(stages, real), groups, &step));
  step->args.op = each;
  step->args.x = log;
  step->args.y = targets;
  step->args.z = plans;
  step->args.count = stages;
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_OUT, out));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_B, y));
  if (x != NULL) {
    HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_A, x));
  }
  return hx_opencl_step_extra(build, step, extra, bytes);
}

// ------------------------------------------------------------------ for prepare

int32_t hx_opencl_steps_finish(hxs_build *build) {
  hx_prepared *p = hx_opencl_prepared(build);
  if (p->gathered_bytes > 0) {
    HXS_TRY(hx_opencl_device_upload(p->base.device, p->gathered, p->gathered_bytes, &p->constants, build->error));
  }
  free(p->gathered);
  p->gathered = NULL;
  return HX_OK;
}

static hx_span span_of(const hx_call *call, hx_opencl_place_t place) {
  switch (place.memory) {
    case HX_OPENCL_INPUT:
      return call->inputs[place.slot];
    case HX_OPENCL_OUTPUT:
      return call->outputs[place.slot];
    case HX_OPENCL_SCRATCH:
      return call->scratch_device;
    default:
      return (hx_span){NULL, 0};
  }
}

// Arguments and launch of one step; under the device's launch lock.
static int32_t launch(const hx_prepared *prepared, const hx_opencl_step_t *step, const hx_call *call) {
  const hx_device *device = prepared->base.device;
  const hx_opencl_cl_t *cl = device->cl;
  void *kernel = prepared->base.tables->program->kernels[step->kernel];
  const uint32_t places = hx_opencl_kernel_places[step->kernel];
  hx_opencl_args_t args = step->args;
  int32_t result = 0;
  for (uint32_t i = 0; i < places && result == 0; i++) {
    const hx_span span = span_of(call, step->places[i]);
    void *memory = span.buffer != NULL ? span.buffer->memory : NULL;
    args.base[i] = span.buffer != NULL ? span.offset / step->places[i].unit : 0;
    result = cl->clSetKernelArg(kernel, i, sizeof memory, &memory);
  }
  void *const *tables = &prepared->base.tables->memory;
  result = result == 0 ? cl->clSetKernelArg(kernel, places + HX_OPENCL_ARG_TABLES, sizeof *tables, tables) : result;
  result = result == 0 ? cl->clSetKernelArg(kernel, places + HX_OPENCL_ARG_CONSTANTS, sizeof prepared->constants,
                                            &prepared->constants)
                       : result;
  result = result == 0 ? cl->clSetKernelArg(kernel, places + HX_OPENCL_ARG_ARGS, sizeof args, &args) : result;
  if (result == 0) {
    const uint32_t group = hx_opencl_kernel_groups[step->kernel];
    const size_t local = group != 0 ? group : device->group, global = step->groups * local;
    hx_opencl_order_t order;
    hx_opencl_order_begin(call->queue, &order);
    result = cl->clEnqueueNDRangeKernel(call->queue->queue, kernel, 1, NULL, &global, &local, order.count,
                                        order.count > 0 ? order.wait : NULL, order.event_at);
    if (result == 0) {
      hx_opencl_order_end(call->queue, &order);
    }
  }
  return result;
}

int32_t hx_opencl_steps_run(const hx_prepared *prepared, const hx_call *call, hx_error *error) {
  hx_device *device = prepared->base.device;
  int32_t result = 0;
  for (uint32_t i = 0; i < prepared->step_count && result == 0; i++) {
    pthread_mutex_lock(&device->launch);
    result = launch(prepared, &prepared->steps[i], call);
    pthread_mutex_unlock(&device->launch);
  }
  result = result == 0 ? device->cl->clFlush(call->queue->queue) : result;
  return result == 0 ? HX_OK : hx_opencl_device_fail(device, prepared->base.name, result, error);
}
