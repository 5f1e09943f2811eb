// SPDX-License-Identifier: Apache-2.0
#include "step.h"

#include <stdlib.h>
#include <string.h>

#include "graph.h"

#define FIELD(name_) (offsetof(hx_cuda_args_t, name_) / sizeof(uint64_t))

// ---- rows

int32_t hx_cuda_rows_begin(const hxs_build *build, const hxs_view *view, uint32_t count, hx_cuda_rows_t *out) {
  *out = (hx_cuda_rows_t){.memory = view != NULL && view->side[0] == 'r' ? HX_CUDA_OUTPUT : HX_CUDA_INPUT,
                          .slot = view != NULL ? view->slot : 0,
                          .count = count};
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *out->offsets, &out->offsets));
  return hxs_keep_or_fail(build, count, sizeof *out->ids, &out->ids);
}

uint64_t hx_cuda_row_offset(const hxs_view *view, uint64_t item, uint32_t component, uint32_t limb) {
  return hxs_view_item_offset(view, item) + component * view->component_stride + view->limb_offsets[limb];
}

int32_t hx_cuda_rows_of(const hxs_build *build, const hxs_view *view, hx_cuda_rows_t *out) {
  const uint64_t count = view->items * view->components * view->limbs;
  if (count > UINT32_MAX >> 11) {
    return hxs_refuse(build, HX_UNSUPPORTED, "%s %u has %llu rows, cuda takes at most %u", view->side, view->index,
                      (unsigned long long)count, UINT32_MAX >> 11);
  }
  HXS_TRY(hx_cuda_rows_begin(build, view, (uint32_t)count, out));
  uint32_t at = 0;
  for (uint64_t item = 0; item < view->items; item++) {
    for (uint32_t component = 0; component < view->components; component++) {
      for (uint32_t limb = 0; limb < view->limbs; limb++, at++) {
        out->offsets[at] = hx_cuda_row_offset(view, item, component, limb);
        out->ids[at] = view->ids != NULL ? view->ids[limb] : 0;
      }
    }
  }
  return HX_OK;
}

int32_t hx_cuda_rows_scratch(const hxs_build *build, uint32_t count, hx_cuda_rows_t *out) {
  hxs_prepared *p = build->prepared;
  const uint64_t word = p->ring->word / 8;
  HXS_TRY(hx_cuda_rows_begin(build, NULL, count, out));
  out->memory = HX_CUDA_SCRATCH;
  for (uint32_t i = 0; i < count; i++) {
    out->offsets[i] = p->scratch_bytes / word + i * p->n;
  }
  p->scratch_bytes += count * p->n * word;
  return HX_OK;
}

int32_t hx_cuda_rows_pick(const hxs_build *build, const hx_cuda_rows_t *from, uint32_t count, const uint32_t *indices,
                          hx_cuda_rows_t *out) {
  HXS_TRY(hx_cuda_rows_begin(build, NULL, count, out));
  out->memory = from->memory;
  out->slot = from->slot;
  for (uint32_t i = 0; i < count; i++) {
    out->offsets[i] = from->offsets[indices[i]];
    out->ids[i] = from->ids[indices[i]];
  }
  return HX_OK;
}

// ---- constants

// Appends to the gathered constants, 16-byte aligned.
static int32_t gather(hxs_build *build, const void *data, size_t bytes, uint64_t *out_offset) {
  hx_prepared *own = hx_cuda_whole(build);
  const uint64_t at = (own->gathered_bytes + 15) / 16 * 16;
  if (at + bytes > own->gathered_room) {
    const uint64_t room = (at + bytes) * 2;
    uint8_t *larger = realloc(own->gathered, room);
    if (larger == NULL) {
      return hxs_refuse(build, HX_OUT_OF_MEMORY, "no memory for %zu bytes of constants", (size_t)room);
    }
    own->gathered = larger;
    own->gathered_room = room;
  }
  memset(own->gathered + own->gathered_bytes, 0, at - own->gathered_bytes);
  memcpy(own->gathered + at, data, bytes);
  own->gathered_bytes = at + bytes;
  *out_offset = at;
  return HX_OK;
}

static uint64_t *field_of(hx_cuda_args_t *args, uint32_t field) { return (uint64_t *)(void *)args + field; }

static int32_t add_patch(const hxs_build *build, hx_cuda_step_t *step, hx_cuda_patch_t patch, uint64_t value) {
  if (step->patch_count == HX_CUDA_PATCHES_MAX) {
    return hxs_refuse(build, HX_INTERNAL, "a launch has more than %u addresses", HX_CUDA_PATCHES_MAX);
  }
  *field_of(&step->args, patch.field) = value;
  step->patches[step->patch_count++] = patch;
  return HX_OK;
}

static int32_t add_constant(hxs_build *build, hx_cuda_step_t *step, size_t field, const void *data, size_t bytes) {
  uint64_t offset = 0;
  HXS_TRY(gather(build, data, bytes, &offset));
  return add_patch(build, step, (hx_cuda_patch_t){.field = (uint16_t)field, .constant = 1}, offset);
}

// ---- single steps

int32_t hx_cuda_build_code(const hxs_build *build) {
  const hx_error *error = build->error;
  return error != NULL && error->struct_size >= HX_END_OF(hx_error, code) ? error->code : HX_OUT_OF_MEMORY;
}

hx_cuda_step_t *hx_cuda_step_add(hxs_build *build, hx_cuda_kernel_t kernel, uint64_t blocks) {
  hx_prepared *p = hx_cuda_whole(build);
  if (p->step_count == p->step_room) {
    hx_cuda_step_t *larger = NULL;
    const uint32_t room = p->step_room == 0 ? 8 : 2 * p->step_room;
    if (hxs_keep_or_fail(build, room, sizeof *larger, &larger) != HX_OK) {
      return NULL;
    }
    if (p->step_count > 0) {
      memcpy(larger, p->steps, p->step_count * sizeof *larger);
    }
    p->steps = larger;
    p->step_room = room;
  }
  if (blocks == 0 || blocks > INT32_MAX) {
    hxs_refuse(build, HX_UNSUPPORTED, "a launch would have %llu blocks", (unsigned long long)blocks);
    return NULL;
  }
  hx_cuda_step_t *step = &p->steps[p->step_count++];
  *step = (hx_cuda_step_t){.kernel = kernel, .blocks = (uint32_t)blocks};
  step->args.primes = p->base.tables->memory;
  step->args.log_n = p->base.log_n;
  return step;
}

// add_step or return its failure.
#define STEP(step_, kernel_, blocks_)                                \
  hx_cuda_step_t *step_ = hx_cuda_step_add(build, kernel_, blocks_); \
  if (step_ == NULL) {                                               \
    return hx_cuda_build_code(build);                                \
  }

int32_t hx_cuda_step_rows(hxs_build *build, hx_cuda_step_t *step, uint32_t place, const hx_cuda_rows_t *rows) {
  const hx_cuda_patch_t base = {
      .field = (uint16_t)(FIELD(base) + place), .memory = (uint8_t)rows->memory, .slot = rows->slot};
  HXS_TRY(add_patch(build, step, base, 0));
  return add_constant(build, step, FIELD(rows) + place, rows->offsets, rows->count * sizeof *rows->offsets);
}

int32_t hx_cuda_step_more(hxs_build *build, hx_cuda_step_t *step, uint32_t at, const hx_cuda_rows_t *rows) {
  const hx_cuda_patch_t base = {
      .field = (uint16_t)(FIELD(more) + at), .memory = (uint8_t)rows->memory, .slot = rows->slot};
  HXS_TRY(add_patch(build, step, base, 0));
  return add_constant(build, step, FIELD(more_rows) + at, rows->offsets, rows->count * sizeof *rows->offsets);
}

int32_t hx_cuda_step_place(hxs_build *build, hx_cuda_step_t *step, uint32_t place, hx_cuda_memory_t memory,
                           uint32_t slot) {
  return add_patch(build, step,
                   (hx_cuda_patch_t){.field = (uint16_t)(FIELD(more) + place), .memory = (uint8_t)memory, .slot = slot},
                   0);
}

int32_t hx_cuda_step_primes(hxs_build *build, hx_cuda_step_t *step, const uint32_t *ids, uint32_t count) {
  return add_constant(build, step, FIELD(row_prime), ids, count * sizeof *ids);
}

int32_t hx_cuda_step_extra(hxs_build *build, hx_cuda_step_t *step, const void *data, size_t bytes) {
  return add_constant(build, step, FIELD(extra), data, bytes);
}

uint32_t hx_cuda_log_blocks(const hxs_build *build, uint32_t elements) {
  uint32_t log = 0;
  while (((size_t)elements << log) < build->prepared->n) {
    log++;
  }
  return log;
}

// ---- steps over rows

int32_t hx_cuda_step_pointwise(hxs_build *build, uint32_t op, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                               const hx_cuda_rows_t *b, const hx_cuda_rows_t *c, const hx_cuda_factor_t *halves,
                               bool lazy) {
  if (out->count == 0) {
    return HX_OK;
  }
  const uint32_t log = hx_cuda_log_blocks(build, HX_CUDA_ROW_BYTES * 8 / build->ring->word);
  STEP(step, HX_CUDA_KERNEL_ROWS, (uint64_t)out->count << log)
  step->args.op = op;
  step->args.x = log;
  step->args.z = lazy ? 1 : 0;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, a));
  if (b != NULL) {
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, b));
  }
  if (c != NULL) {
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_C, c));
  }
  if (halves != NULL) {
    HXS_TRY(hx_cuda_step_extra(build, step, halves, out->count * 2 * sizeof *halves));
  }
  return hx_cuda_step_primes(build, step, out->ids, out->count);
}

hx_cuda_weight_t hx_cuda_real_weight(uint64_t q, uint64_t w) {
  return (hx_cuda_weight_t){w > q / 2 ? w - q : w, hx_cuda_centred(q, w) / (double)q};
}

typedef struct conversion {
  uint32_t stages, rows;  // rows: plans * targets
  const hx_cuda_target_t *plan;
  const uint64_t *weights;
} conversion_t;

// Whether all primes have at most 50 bits and sums are short.
static bool takes_real(const hxs_build *build, const hx_cuda_rows_t *y, const conversion_t *c) {
  bool real = hx_cuda_whole(build)->real && c->stages + 2 <= HX_CUDA_REAL_TERMS;
  for (uint32_t i = 0; i < y->count && real; i++) {
    real = hx_cuda_prime_of(build, y->ids[i])->bits <= HX_CUDA_REAL_BITS;
  }
  for (uint32_t i = 0; i < c->rows && real; i++) {
    real = hx_cuda_prime_of(build, c->plan[i].prime)->bits <= HX_CUDA_REAL_BITS;
  }
  return real;
}

// The kernel's constants: hx_cuda_converting's form, or the real one.
static int32_t convert_extra(const hxs_build *build, const conversion_t *c, bool real, uint8_t **out,
                             size_t *out_bytes) {
  const size_t head = c->rows * sizeof *c->plan, each = real ? sizeof(hx_cuda_weight_t) : sizeof(uint64_t);
  const size_t factors = head + (size_t)c->rows * c->stages * each;
  *out_bytes = factors + (real ? c->rows * each : 0);
  HXS_TRY(hxs_keep_or_fail(build, 1, *out_bytes, out));
  for (uint32_t i = 0; i < c->rows; i++) {
    hx_cuda_target_t target = c->plan[i];
    const hxs_modulus *m = hx_cuda_modulus_of(build, target.prime);
    for (uint32_t s = 0; s < c->stages; s++) {
      const uint64_t weight = c->weights[(size_t)i * c->stages + s], form = hx_cuda_converting(build, m, weight);
      const hx_cuda_weight_t pair = hx_cuda_real_weight(m->q, weight);
      memcpy(*out + head + ((size_t)i * c->stages + s) * each, real ? (const void *)&pair : (const void *)&form, each);
    }
    if (real) {
      const hx_cuda_weight_t pair = hx_cuda_real_weight(m->q, target.factor);
      const double quotient = (double)target.start / (double)m->q;
      memcpy(*out + factors + i * each, &pair, each);
      memcpy(&target.factor, &quotient, sizeof target.factor);
    } else {
      target.start = hx_cuda_converting(build, m, target.start);
      target.factor = hx_cuda_converting(build, m, target.factor);
    }
    memcpy(*out + i * sizeof target, &target, sizeof target);
  }
  return HX_OK;
}

// A conversion's kernel, the coefficients that its blocks make, and the targets that one may take: 0: any number.
typedef struct converter {
  hx_cuda_kernel_t kernel;
  uint32_t block, targets, target_bytes;
  uint32_t least,
      filling;  // targets of a block for the sake of the y that it reads; blocks a multiprocessor that fill it
} converter_t;

static converter_t converter_of(const hxs_build *build, uint32_t stages, bool real) {
  if (real) {
    return (converter_t){(hx_cuda_kernel_t)((uint32_t)HX_CUDA_KERNEL_CONVERT_REAL_1 + stages - 1),
                         256,
                         HX_CUDA_REAL_TARGETS,
                         HX_CUDA_REAL_TARGET_BYTES,
                         4,
                         16};
  }
  if (build->ring->word == 32 && stages <= HX_CUDA_WORD_TERMS) {
    return (converter_t){stages <= 8 ? HX_CUDA_KERNEL_CONVERT_WORDS_8 : HX_CUDA_KERNEL_CONVERT_WORDS_16,
                         256 * HX_CUDA_WORD_COEFFICIENTS(stages),
                         HX_CUDA_WORD_TARGETS,
                         HX_CUDA_WORD_TARGET_BYTES,
                         4,
                         16};
  }
  return (converter_t){stages == 1   ? HX_CUDA_KERNEL_CONVERT_1
                       : stages <= 8 ? HX_CUDA_KERNEL_CONVERT_8
                                     : HX_CUDA_KERNEL_CONVERT,
                       256,
                       0,
                       0,
                       4,
                       16};
}

int32_t hx_cuda_step_convert(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *y,
                             const hx_cuda_rows_t *x, uint32_t polynomials, uint32_t stages, uint32_t targets,
                             uint32_t plans, const hx_cuda_target_t *plan, const uint64_t *weights) {
  const conversion_t conversion = {stages, plans * targets, plan, weights};
  const bool real = takes_real(build, y, &conversion);
  const converter_t converter = converter_of(build, stages, real);
  const uint32_t log = hx_cuda_log_blocks(build, converter.block);
  uint8_t *extra = NULL;
  size_t bytes = 0;
  HXS_TRY(convert_extra(build, &conversion, real, &extra, &bytes));
  // Blocks enough to fill the device, targets enough in each to make good use of the y that it reads.
  const uint64_t wanted = converter.filling * (uint64_t)build->prepared->device->units;
  uint32_t each = converter.targets > 0 && targets > converter.targets ? converter.targets : targets;
  while (each > converter.least && ((uint64_t)polynomials << log) * ((targets + each - 1) / each) < wanted) {
    each = (each + 1) / 2;
  }
  const uint64_t blocks = ((uint64_t)polynomials << log) * ((targets + each - 1) / each);
  STEP(step, converter.kernel, blocks)
  step->shared = each * converter.target_bytes;
  step->args.op = each;
  step->args.x = log;
  step->args.y = targets;
  step->args.z = plans;
  step->args.count = stages;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, y));
  if (x != NULL) {
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, x));
  }
  return hx_cuda_step_extra(build, step, extra, bytes);
}

// ---- for prepare

int32_t hx_cuda_steps_finish(hxs_build *build) {
  hx_prepared *p = hx_cuda_whole(build);
  if (p->gathered_bytes == 0) {
    return HX_OK;
  }
  HXS_TRY(hx_cuda_device_alloc(p->base.device, p->gathered_bytes, &p->constants, build->error));
  for (uint32_t i = 0; i < p->step_count; i++) {
    hx_cuda_step_t *step = &p->steps[i];
    uint32_t left = 0;
    for (uint32_t k = 0; k < step->patch_count; k++) {
      if (step->patches[k].constant) {
        *field_of(&step->args, step->patches[k].field) += p->constants;
      } else {
        step->patches[left++] = step->patches[k];
      }
    }
    step->patch_count = left;
  }
  const int32_t code =
      hx_cuda_device_upload(p->base.device, p->constants, p->gathered, p->gathered_bytes, build->error);
  free(p->gathered);
  p->gathered = NULL;
  return code;
}

static hx_span span_of(const hx_cuda_patch_t *patch, const hx_call *call) {
  return patch->memory == HX_CUDA_SCRATCH  ? call->scratch_device
         : patch->memory == HX_CUDA_OUTPUT ? call->outputs[patch->slot]
                                           : call->inputs[patch->slot];
}

static int32_t run_step(const hx_prepared *prepared, const hx_cuda_step_t *step, const hx_call *call, uint64_t scratch,
                        bool overlaps, hx_error *error) {
  hx_device *device = prepared->base.device;
  void *function =
      step->function != NULL ? step->function : device->functions[step->kernel][prepared->base.ring->word == 32];
  hx_cuda_args_t args = step->args;
  hx_cuda_place_t places[HX_CUDA_PATCHES_MAX];
  for (uint32_t k = 0; k < step->patch_count; k++) {
    const hx_span span = span_of(&step->patches[k], call);
    const bool is_scratch = step->patches[k].memory == HX_CUDA_SCRATCH;
    const uint64_t address = is_scratch ? scratch : span.buffer->address + span.offset;
    places[k] = (hx_cuda_place_t){span.buffer, span.offset, address, step->patches[k].field, is_scratch};
    *field_of(&args, step->patches[k].field) += places[k].address;
  }
  void *arguments[] = {&args};
  const hx_cuda_launch_t launch = {.grid = {step->blocks, 1, 1},
                                   .block = {hx_cuda_kernel_threads[step->kernel], 1, 1},
                                   .shared = step->shared,
                                   .stream = call->queue->stream,
                                   .attributes = &hx_cuda_overlap,
                                   .attribute_count = overlaps && device->arch >= 90 ? 1 : 0};
  if (call->queue->recording != NULL) {
    return hx_cuda_graph_note_launch(call->queue, &launch, function, &args, places, step->patch_count, error);
  }
  const int32_t result = device->driver->cuLaunchKernelEx(&launch, function, arguments, NULL);
  call->queue->follows_launch = result == 0;
  return result == 0 ? HX_OK : hx_cuda_device_fail(device, prepared->base.name, result, error);
}

int32_t hx_cuda_steps_run(const hx_prepared *prepared, const hx_call *call, uint64_t scratch, hx_error *error) {
  uint32_t part = 0;
  for (uint32_t i = 0; i < prepared->step_count; i++) {
    if (call->queue->recording != NULL && part < prepared->part_count && prepared->parts[part].first_step == i) {
      HXS_TRY(hx_cuda_graph_note_part(call->queue, prepared, call, part++, error));
    }
    HXS_TRY(run_step(prepared, &prepared->steps[i], call, scratch, i > 0 || call->queue->follows_launch, error));
  }
  return HX_OK;
}
