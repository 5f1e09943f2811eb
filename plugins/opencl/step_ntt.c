// SPDX-License-Identifier: Apache-2.0
// Steps of transforms: rows of up to 2^11 points take one launch, larger ones two, those of 2^17 three.
#include "step.h"

#define SMALL_LOG 11u    // rows up to this are done in one group
#define COLUMNS_LOG 16u  // rows up to this are done in two kernels

// What a transform works on.
typedef struct job {
  const hx_opencl_rows_t *out, *a;
  const hx_opencl_end_t *end;        // forward; NULL: nothing follows
  const hx_opencl_finish_t *finish;  // backward, [rows]
} job_t;

static int32_t add(const hxs_build *build, const job_t *job, hx_opencl_kernel_t kernel, uint32_t log,
                   const hx_opencl_rows_t *out, const hx_opencl_rows_t *a, hx_opencl_step_t **step) {
  HXS_TRY(hx_opencl_step_add(build, kernel, (uint64_t)job->out->count << log, step));
  (*step)->args.x = log;
  HXS_TRY(hx_opencl_step_rows(build, *step, HX_OPENCL_OUT, out));
  HXS_TRY(hx_opencl_step_rows(build, *step, HX_OPENCL_A, a));
  return hx_opencl_step_primes(build, *step, job->out->ids, job->out->count);
}

// What the last kernel of a transform does beside.
static int32_t fill_end(const hxs_build *build, hx_opencl_step_t *step, const job_t *job) {
  const hx_opencl_end_t *end = job->end;
  const uint32_t rows = job->out->count;
  if (job->finish != NULL) {
    return hx_opencl_step_extra(build, step, job->finish, rows * sizeof *job->finish);
  }
  if (end == NULL) {
    return HX_OK;
  }
  step->args.element = end->element;
  step->args.z = end->c != NULL ? 2 : end->b != NULL ? 1 : 0;
  if (end->b != NULL) {
    HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_B, end->b));
  }
  if (end->c != NULL) {
    HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_C, end->c));
  }
  return hx_opencl_step_extra(build, step, end->scale, rows * 2 * sizeof *end->scale);
}

static int32_t add_columns(const hxs_build *build, const job_t *job, const hx_opencl_rows_t *out,
                           const hx_opencl_rows_t *a, hx_opencl_step_t **step) {
  const uint32_t log_n = build->prepared->log_n, halves = log_n > COLUMNS_LOG ? 1 : 0;
  const uint32_t stages = (halves ? COLUMNS_LOG : log_n) - 8;
  const uint32_t first = job->finish != NULL ? HX_OPENCL_KERNEL_BACKWARD_COLUMNS_0 : HX_OPENCL_KERNEL_FORWARD_COLUMNS_0;
  HXS_TRY(add(build, job, (hx_opencl_kernel_t)(first + stages - 4), stages - 3 + halves, out, a, step));
  (*step)->args.y = 1 + halves;
  (*step)->args.z = halves;
  return HX_OK;
}

static int32_t add_half(const hxs_build *build, const job_t *job, const hx_opencl_rows_t *out,
                        const hx_opencl_rows_t *a, hx_opencl_step_t **step) {
  const uint32_t log = hx_opencl_log_groups(build, 2);  // a work-item takes a pair
  return add(build, job, job->finish != NULL ? HX_OPENCL_KERNEL_HALF_BACKWARD : HX_OPENCL_KERNEL_HALF_FORWARD, log, out,
             a, step);
}

int32_t hx_opencl_steps_forward(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a,
                                const hx_opencl_end_t *end) {
  const job_t job = {.out = out, .a = a, .end = end};
  const uint32_t log_n = build->prepared->log_n;
  const hx_opencl_rows_t *middle = end != NULL && end->middle != NULL ? end->middle : out;
  hx_opencl_step_t *step = NULL;
  if (log_n <= SMALL_LOG) {
    HXS_TRY(add(build, &job, HX_OPENCL_KERNEL_SMALL_FORWARD, 0, out, a, &step));
    return fill_end(build, step, &job);
  }
  if (log_n > COLUMNS_LOG) {
    HXS_TRY(add_half(build, &job, middle, a, &step));
  }
  HXS_TRY(add_columns(build, &job, middle, log_n > COLUMNS_LOG ? middle : a, &step));
  HXS_TRY(add(build, &job, HX_OPENCL_KERNEL_FORWARD_ROWS, log_n - 11, out, middle, &step));
  return fill_end(build, step, &job);
}

int32_t hx_opencl_steps_backward(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a,
                                 const uint64_t *factor, const uint64_t *add_on) {
  hx_opencl_finish_t *finish = NULL;
  hx_opencl_step_t *step = NULL;
  const uint32_t log_n = build->prepared->log_n;
  HXS_TRY(hxs_keep_or_fail(build, out->count, sizeof *finish, &finish));
  for (uint32_t i = 0; i < out->count; i++) {
    const hxs_modulus *m = hx_opencl_modulus(build, out->ids[i]);
    const uint64_t inverse = hxs_inverse_mod(m, (uint64_t)build->prepared->n % m->q);
    finish[i].factor = hx_opencl_factor_of(m, factor != NULL ? hxs_mul_mod(m, inverse, factor[i]) : inverse);
    finish[i].add = add_on != NULL ? add_on[i] : 0;
  }
  const job_t job = {.out = out, .a = a, .finish = finish};
  if (log_n <= SMALL_LOG) {
    HXS_TRY(add(build, &job, HX_OPENCL_KERNEL_SMALL_BACKWARD, 0, out, a, &step));
    return fill_end(build, step, &job);
  }
  HXS_TRY(add(build, &job, HX_OPENCL_KERNEL_BACKWARD_ROWS, log_n - 11, out, a, &step));
  HXS_TRY(add_columns(build, &job, out, out, &step));
  if (log_n > COLUMNS_LOG) {
    HXS_TRY(add_half(build, &job, out, out, &step));
  }
  return fill_end(build, step, &job);
}
