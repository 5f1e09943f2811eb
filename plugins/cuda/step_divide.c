// SPDX-License-Identifier: Apache-2.0
// Steps of kernels/divide.cuh.
#include "step.h"

#define COLUMNS_LOG 16u        // rows up to this have their columns done in one kernel
#define SHARED_COLUMNS 17408u  // 2048 values of a block and a gap after every 16
#define SHARED_ROWS 32768u     // twice 2048 values

bool hx_cuda_can_drop(const hxs_build *build, const hx_cuda_rows_t *dropped, const hx_cuda_rows_t *out) {
  return build->prepared->log_n <= COLUMNS_LOG && hx_cuda_takes_real(build, dropped->ids, dropped->count) &&
         hx_cuda_takes_real(build, out->ids, out->count);
}

// Targets that a block takes: few enough that blocks fill the device, four a multiprocessor.
static uint32_t targets_of_block(const hxs_build *build, uint64_t tiles, uint32_t targets) {
  const uint64_t parts = 4 * (uint64_t)build->prepared->device->units / tiles;
  return parts <= 1 ? targets : parts >= targets ? 1 : (uint32_t)((targets + parts - 1) / parts);
}

static int32_t add_columns(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *dropped,
                           uint32_t targets) {
  const uint32_t log_n = build->prepared->log_n, log = log_n - 11;
  const uint64_t tiles = (uint64_t)dropped->count << log;
  const uint32_t each = targets_of_block(build, tiles, targets);
  const uint64_t half_word = (hx_cuda_modulus_of(build, dropped->ids[0])->q - 1) / 2;  // q is odd
  const double half = (double)half_word;
  hx_cuda_step_t *step =
      hx_cuda_step_add(build, (hx_cuda_kernel_t)((uint32_t)HX_CUDA_KERNEL_DROP_COLUMNS_0 + log_n - 12),
                       tiles * ((targets + each - 1) / each));
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->shared = SHARED_COLUMNS;
  step->args.op = each;
  step->args.x = log;
  step->args.y = targets;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, dropped));
  HXS_TRY(hx_cuda_step_extra(build, step, &half, sizeof half));
  return hx_cuda_step_primes(build, step, out->ids, out->count);
}

int32_t hx_cuda_steps_drop(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *dropped,
                           const hx_cuda_rows_t *b, uint32_t targets, const uint64_t *factor) {
  const uint32_t log = build->prepared->log_n - 11;
  double *factors = NULL;
  HXS_TRY(hxs_keep_or_fail(build, out->count, sizeof *factors, &factors));
  for (uint32_t i = 0; i < out->count; i++) {
    factors[i] = hx_cuda_centred(hx_cuda_modulus_of(build, out->ids[i])->q, factor[i]);
  }
  HXS_TRY(add_columns(build, out, dropped, targets));
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_DROP_ROWS, (uint64_t)out->count << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->shared = SHARED_ROWS;
  step->args.x = log;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, b));
  HXS_TRY(hx_cuda_step_extra(build, step, factors, out->count * sizeof *factors));
  return hx_cuda_step_primes(build, step, out->ids, out->count);
}
