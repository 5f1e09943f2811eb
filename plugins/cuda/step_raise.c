// SPDX-License-Identifier: Apache-2.0
// Steps of kernels/switch.cuh: conversions with the first kernel of the transforms that follow, and the last kernel of
// transforms with what ends a division.
#include <string.h>

#include "step.h"

#define COLUMNS_LOG 16u                         // rows up to this have their columns done in one kernel
#define TILE 1024u                              // values of a polynomial's row that a block takes
#define GROUPS (uint32_t) HX_CUDA_RAISE_GROUPS  // targets that a block works on at a time
#define SHARED_END 49152u                       // three times 2048 values

#define STEP(step_, kernel_, blocks_)                                \
  hx_cuda_step_t *step_ = hx_cuda_step_add(build, kernel_, blocks_); \
  if (step_ == NULL) {                                               \
    return hx_cuda_build_code(build);                                \
  }

static uint32_t shared_of(uint32_t stages, uint32_t targets) {
  return stages * TILE * (uint32_t)sizeof(uint64_t) + GROUPS * HX_CUDA_RAISE_EXCHANGE * (uint32_t)sizeof(double) +
         (targets + 1) * HX_CUDA_REAL_TARGET_BYTES;
}

// A prime's bound on sums of real conversions allows for HX_CUDA_REAL_TERMS terms: the rows, a start, one to spare.
bool hx_cuda_can_raise(const hxs_build *build, const hx_cuda_raise_t *job) {
  if (build->prepared->log_n > COLUMNS_LOG || job->stages + 2 > HX_CUDA_REAL_TERMS ||
      shared_of(job->stages, job->targets) > build->prepared->device->shared_max ||
      !hx_cuda_takes_real(build, job->y->ids, job->y->count)) {
    return false;
  }
  for (uint32_t i = 0; i < job->plans * job->targets; i++) {
    const uint32_t kind = job->plan[i].kind;
    if (!hx_cuda_takes_real(build, &job->plan[i].prime, 1) ||
        (kind != HX_CUDA_TARGET_CONVERT && kind != HX_CUDA_TARGET_SKIP)) {
      return false;
    }
  }
  return true;
}

typedef struct packed {
  uint32_t most;    // targets of the fullest plan
  uint32_t *order;  // [plans][targets]: targets that are converted, then those that are not
} packed_t;

static int32_t pack(const hxs_build *build, const hx_cuda_raise_t *job, packed_t *out) {
  *out = (packed_t){0};
  HXS_TRY(hxs_keep_or_fail(build, (size_t)job->plans * job->targets, sizeof *out->order, &out->order));
  for (uint32_t p = 0; p < job->plans; p++) {
    uint32_t at = 0;
    for (uint32_t skipped = 0; skipped < 2; skipped++) {
      for (uint32_t t = 0; t < job->targets; t++) {
        if ((job->plan[p * job->targets + t].kind == HX_CUDA_TARGET_SKIP) == (skipped == 1)) {
          out->order[p * job->targets + at++] = t;
        }
      }
      if (skipped == 0 && at > out->most) {
        out->most = at;
      }
    }
  }
  return HX_OK;
}

static void put_target(const hxs_build *build, const hx_cuda_target_t *from, const uint64_t *weights, uint32_t stages,
                       hx_cuda_target_t *target, hx_cuda_weight_t *to) {
  const uint64_t q = hx_cuda_modulus_of(build, from->prime)->q;
  const double quotient = (double)from->start / (double)q;
  *target = *from;
  memcpy(&target->factor, &quotient, sizeof target->factor);
  for (uint32_t s = 0; s < stages; s++) {
    to[s] = hx_cuda_real_weight(q, weights[s]);
  }
}

// Targets that a block takes: all where that makes blocks enough for the device, else a part, some for each group.
static uint32_t part_of(const hxs_build *build, uint64_t tiles, uint32_t targets) {
  const uint64_t wanted = 2 * (uint64_t)build->prepared->device->units - build->prepared->device->units / 8;
  uint32_t parts = 1;
  while (tiles * parts < wanted && targets > parts * GROUPS) {
    parts++;
  }
  const uint32_t each = (targets + parts - 1) / parts;
  return parts == 1 ? targets : (each + GROUPS - 1) / GROUPS * GROUPS;
}

static int32_t fill_raise(hxs_build *build, hx_cuda_step_t *step, const hx_cuda_raise_t *job, const packed_t *packed) {
  const uint32_t own = job->rest != NULL ? 1 : 0, rows = job->plans * packed->most + own;
  const size_t head = rows * sizeof(hx_cuda_target_t),
               bytes = head + (size_t)rows * job->stages * sizeof(hx_cuda_weight_t);
  hx_cuda_target_t *targets = NULL;
  uint32_t *indices = NULL;
  hx_cuda_rows_t out;
  HXS_TRY(hxs_keep_or_fail(build, 1, bytes, &targets));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)job->polynomials * packed->most, sizeof *indices, &indices));
  hx_cuda_weight_t *weights = (hx_cuda_weight_t *)(void *)((uint8_t *)targets + head);
  for (uint32_t i = 0; i < job->plans * packed->most; i++) {
    const uint32_t from =
        i / packed->most * job->targets + packed->order[i / packed->most * job->targets + i % packed->most];
    put_target(build, &job->plan[from], job->weights + (size_t)from * job->stages, job->stages, &targets[i],
               weights + (size_t)i * job->stages);
  }
  if (own) {
    put_target(build, job->rest, job->rest_weights, job->stages, &targets[rows - 1],
               weights + (size_t)(rows - 1) * job->stages);
  }
  for (uint32_t i = 0; i < job->polynomials * packed->most; i++) {
    const uint32_t polynomial = i / packed->most, plan = polynomial % job->plans;
    indices[i] = polynomial * job->targets + packed->order[plan * job->targets + i % packed->most];
  }
  HXS_TRY(hx_cuda_rows_pick(build, job->out, job->polynomials * packed->most, indices, &out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, job->y));
  return hx_cuda_step_extra(build, step, targets, bytes);
}

int32_t hx_cuda_step_raise(hxs_build *build, const hx_cuda_raise_t *job) {
  const uint32_t log_n = build->prepared->log_n, log = log_n - 10;
  const uint64_t tiles = (uint64_t)job->polynomials << log;
  packed_t packed;
  HXS_TRY(pack(build, job, &packed));
  if (packed.most == 0) {
    return HX_OK;
  }
  const uint32_t each = part_of(build, tiles, packed.most), parts = (packed.most + each - 1) / each;
  STEP(step, (hx_cuda_kernel_t)((uint32_t)HX_CUDA_KERNEL_RAISE_0 + log_n - 12), tiles * parts)
  step->shared = shared_of(job->stages, each);
  step->args.op = each;
  step->args.x = log;
  step->args.y = packed.most;
  step->args.z = job->plans;
  step->args.count = job->stages;
  step->args.element = job->rest != NULL ? 1 : 0;
  return fill_raise(build, step, job, &packed);
}

int32_t hx_cuda_step_addend(hxs_build *build, hx_cuda_step_t *step, const hx_cuda_addend_t *addend) {
  for (uint32_t i = 0; addend != NULL && i < addend->count; i++) {
    HXS_TRY(hx_cuda_step_more(build, step, i, &addend->rows[i]));
  }
  return HX_OK;
}

int32_t hx_cuda_step_end(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *middle,
                         const hx_cuda_rows_t *b, const hx_cuda_factor_t *scale, const hx_cuda_addend_t *addend,
                         uint32_t element) {
  const uint32_t log = build->prepared->log_n - 11;
  STEP(step, HX_CUDA_KERNEL_END_ROWS, (uint64_t)out->count << log)
  step->args.x = log;
  step->args.element = element;
  step->shared = SHARED_END;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, middle));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, b));
  HXS_TRY(hx_cuda_step_extra(build, step, scale, out->count * 2 * sizeof *scale));
  HXS_TRY(hx_cuda_step_addend(build, step, addend));
  return hx_cuda_step_primes(build, step, out->ids, out->count);
}
