// SPDX-License-Identifier: Apache-2.0
// Steps of transforms by plain passes (kernels/radix.cuh).
#include "step.h"

static int32_t add_pass(hxs_build *build, uint32_t stages, uint32_t from, bool backward, const hx_cuda_rows_t *out,
                        const hx_cuda_rows_t *a, hx_cuda_step_t **out_step) {
  static const hx_cuda_kernel_t kernels[2][4] = {{HX_CUDA_KERNEL_RADIX_FORWARD_1, HX_CUDA_KERNEL_RADIX_FORWARD_2,
                                                  HX_CUDA_KERNEL_RADIX_FORWARD_3, HX_CUDA_KERNEL_RADIX_FORWARD_4},
                                                 {HX_CUDA_KERNEL_RADIX_BACKWARD_1, HX_CUDA_KERNEL_RADIX_BACKWARD_2,
                                                  HX_CUDA_KERNEL_RADIX_BACKWARD_3, HX_CUDA_KERNEL_RADIX_BACKWARD_4}};
  const uint32_t log = hx_cuda_log_blocks(build, 256u << stages);
  hx_cuda_step_t *step = hx_cuda_step_add(build, kernels[backward][stages - 1], (uint64_t)out->count << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.y = from;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, a));
  *out_step = step;
  return hx_cuda_step_primes(build, step, out->ids, out->count);
}

static int32_t add_finish(hxs_build *build, hx_cuda_step_t *step, const hx_cuda_rows_t *rows) {
  hx_cuda_finish_t *finish = NULL;
  HXS_TRY(hxs_keep_or_fail(build, rows->count, sizeof *finish, &finish));
  for (uint32_t i = 0; i < rows->count; i++) {
    const hxs_modulus *m = hx_cuda_modulus_of(build, rows->ids[i]);
    finish[i].factor = hx_cuda_factor_of(m, hxs_inverse_mod(m, (uint64_t)build->prepared->n % m->q));
  }
  step->args.z = 1;
  return hx_cuda_step_extra(build, step, finish, rows->count * sizeof *finish);
}

int32_t hx_cuda_steps_radix(hxs_build *build, uint32_t radix, bool backward, const hx_cuda_rows_t *out,
                            const hx_cuda_rows_t *a) {
  const uint32_t log_n = build->prepared->log_n;
  uint32_t done = 0;
  hx_cuda_step_t *step = NULL;
  while (done < log_n) {
    const uint32_t stages = log_n - done < radix ? log_n - done : radix;
    const uint32_t from = backward ? log_n - done - stages : done;
    HXS_TRY(add_pass(build, stages, from, backward, out, done == 0 ? a : out, &step));
    done += stages;
  }
  return backward ? add_finish(build, step, out) : HX_OK;
}
