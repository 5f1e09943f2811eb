// SPDX-License-Identifier: Apache-2.0
// Steps of kernels/switch.cuh: conversions with the first kernel of the transforms that follow, and the last kernel of
// transforms with what ends a division.
#include <math.h>
#include <string.h>

#include "step.h"

#define COLUMNS_LOG 16u                         // rows up to this have their columns done in one kernel
#define TILE 1024u                              // values of a polynomial's row that a block takes
#define GROUPS (uint32_t) HX_CUDA_RAISE_GROUPS  // targets that a block works on at a time
#define EIGHT 8u                                // targets of a product of matrices
#define STEPS (HX_CUDA_TENSOR_PAIRS / 32 - 1)   // of it: two rows y each
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

// The rows y, at most six, lie where the exchange is later.
static uint32_t tensor_shared_of(uint32_t targets) {
  return EIGHT * HX_CUDA_TENSOR_STRIDE * (uint32_t)sizeof(double) + HX_CUDA_REAL_TARGET_BYTES +
         (targets + EIGHT) * HX_CUDA_TENSOR_TARGET_BYTES;
}

// Whether the conversion is made on the tensor cores: the variant has it and the device the memory. Every conversion
// that can be raised keeps the bounds (kernels/raise.cuh); of one or two rows there is too little to multiply.
static bool on_tensor_cores(const hxs_build *build, uint32_t stages, uint32_t targets) {
  return hx_cuda_whole(build)->tensor && stages > 2 && tensor_shared_of(targets) <= build->prepared->device->shared_max;
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

static hx_cuda_pair_t split(uint64_t q, uint64_t w) {
  const double x = hx_cuda_centred(q, w);
  int bits = 0;
  (void)frexp((double)q, &bits);  // the length of q
  const double unit = ldexp(1, bits > 26 ? bits - 26 : 0), high = rint(x / unit) * unit;
  return (hx_cuda_pair_t){high, x - high};
}

// What a target gives to its group's products: see HX_CUDA_TENSOR_PAIRS. Rows y are 2^49 and what is split in halves.
static void put_pairs(const hxs_build *build, const hx_cuda_target_t *from, const uint64_t *weights, uint32_t stages,
                      hx_cuda_pair_t *to) {
  const hxs_modulus *m = hx_cuda_modulus_of(build, from->prime);
  const uint64_t middle = ((uint64_t)1 << 49) % m->q, half = ((uint64_t)1 << 25) % m->q;
  uint64_t start = from->start;
  for (uint32_t s = 0; s < stages; s++) {
    hx_cuda_pair_t *pair = to + s / 2 * 32 + s % 2 * 2;
    pair[0] = split(m->q, weights[s]);
    pair[1] = split(m->q, hxs_mul_mod(m, weights[s], half));
    start = hxs_add_mod(m, start, hxs_mul_mod(m, weights[s], middle));
  }
  for (uint32_t lane = 0; lane < 4; lane++) {
    to[STEPS * 32 + lane] = split(m->q, start);
  }
}

// Targets that a block takes: all where that makes `wanted` blocks, else a part, a multiple of `unit`.
static uint32_t part_of(uint64_t wanted, uint64_t tiles, uint32_t targets, uint32_t unit) {
  uint32_t parts = 1;
  while (tiles * parts < wanted && targets > parts * unit) {
    parts++;
  }
  const uint32_t each = (targets + parts - 1) / parts;
  return parts == 1 ? targets : (each + unit - 1) / unit * unit;
}

// Index in the plans of the packed target i.
static uint32_t packed_target(const hx_cuda_raise_t *job, const packed_t *packed, uint32_t i) {
  const uint32_t first = i / packed->most * job->targets;
  return first + packed->order[first + i % packed->most];
}

// The kernels' constants: pairs of the tensor cores, targets, weights. On the tensor cores weights are those of `rest`.
static int32_t fill_constants(hxs_build *build, hx_cuda_step_t *step, const hx_cuda_raise_t *job,
                              const packed_t *packed, bool tensor) {
  const uint32_t own = job->rest != NULL ? 1 : 0, converted = job->plans * packed->most, stages = job->stages;
  const uint32_t groups = (packed->most + EIGHT - 1) / EIGHT, weighted = tensor ? own : converted + own;
  const size_t pairs = tensor ? (size_t)job->plans * groups * HX_CUDA_TENSOR_PAIRS : 0;
  const size_t first = pairs * sizeof(hx_cuda_pair_t), second = first + (converted + own) * sizeof(hx_cuda_target_t);
  const size_t bytes = second + (size_t)weighted * stages * sizeof(hx_cuda_weight_t);
  uint8_t *extra = NULL;
  hx_cuda_weight_t unused[HX_CUDA_REAL_TERMS] = {{0, 0.0}};
  HXS_TRY(hxs_keep_or_fail(build, 1, bytes, &extra));
  hx_cuda_pair_t *pair = (hx_cuda_pair_t *)(void *)extra;
  hx_cuda_target_t *targets = (hx_cuda_target_t *)(void *)(extra + first);
  hx_cuda_weight_t *weights = (hx_cuda_weight_t *)(void *)(extra + second);
  for (uint32_t i = 0; i < converted; i++) {
    const uint32_t from = packed_target(job, packed, i), plan = i / packed->most, at = i % packed->most;
    const uint64_t *given = job->weights + (size_t)from * stages;
    put_target(build, &job->plan[from], given, stages, &targets[i], tensor ? unused : weights + (size_t)i * stages);
    if (tensor) {
      put_pairs(build, &job->plan[from], given, stages,
                pair + (size_t)(plan * groups + at / EIGHT) * HX_CUDA_TENSOR_PAIRS + at % EIGHT * 4);
    }
  }
  if (own) {
    put_target(build, job->rest, job->rest_weights, stages, &targets[converted],
               weights + (size_t)(weighted - 1) * stages);
  }
  return hx_cuda_step_extra(build, step, extra, bytes);
}

static int32_t fill_rows(hxs_build *build, hx_cuda_step_t *step, const hx_cuda_raise_t *job, const packed_t *packed) {
  uint32_t *indices = NULL;
  hx_cuda_rows_t out;
  HXS_TRY(hxs_keep_or_fail(build, (size_t)job->polynomials * packed->most, sizeof *indices, &indices));
  for (uint32_t i = 0; i < job->polynomials * packed->most; i++) {
    const uint32_t polynomial = i / packed->most, plan = polynomial % job->plans;
    indices[i] = polynomial * job->targets + packed->order[plan * job->targets + i % packed->most];
  }
  HXS_TRY(hx_cuda_rows_pick(build, job->out, job->polynomials * packed->most, indices, &out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &out));
  return hx_cuda_step_rows(build, step, HX_CUDA_B, job->y);
}

int32_t hx_cuda_step_raise(hxs_build *build, const hx_cuda_raise_t *job) {
  const uint32_t log_n = build->prepared->log_n, log = log_n - 10;
  const uint64_t tiles = (uint64_t)job->polynomials << log, units = build->prepared->device->units;
  packed_t packed;
  HXS_TRY(pack(build, job, &packed));
  if (packed.most == 0) {
    return HX_OK;
  }
  // A multiprocessor takes two blocks of the one form, one of the other.
  const bool tensor = on_tensor_cores(build, job->stages, packed.most);
  const uint32_t each = tensor ? part_of(units - units / 8, tiles, packed.most, EIGHT)
                               : part_of(2 * units - units / 8, tiles, packed.most, GROUPS);
  const hx_cuda_kernel_t first = tensor ? HX_CUDA_KERNEL_RAISE_TENSOR_0 : HX_CUDA_KERNEL_RAISE_0;
  STEP(step, (hx_cuda_kernel_t)((uint32_t)first + log_n - 12), tiles * ((packed.most + each - 1) / each))
  step->shared = tensor ? tensor_shared_of(each) : shared_of(job->stages, each);
  step->args.op = each;
  step->args.x = log;
  step->args.y = packed.most;
  step->args.z = job->plans;
  step->args.count = job->stages;
  step->args.element = job->rest != NULL ? 1 : 0;
  HXS_TRY(fill_rows(build, step, job, &packed));
  return fill_constants(build, step, job, &packed, tensor);
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
