// SPDX-License-Identifier: Apache-2.0
// Steps of transforms: rows are divided by the path that their primes take; each set is one launch for rows of up to
// 2^11 points, two above, three for 2^17.
#include <string.h>

#include "step.h"

#define SMALL_LOG 11u    // rows up to this are done in one group, on integers
#define COLUMNS_LOG 16u  // rows up to this are done in two kernels

// What a transform works on.
typedef struct job {
  const hx_opencl_rows_t *out, *a;
  const hx_opencl_rows_t *b, *c, *middle;  // of hx_opencl_end_t; middle: rows for what lies between two kernels
  uint32_t element;
  bool backward, real;
  bool columns_only;
  const void *extra;  // scale or finish of the rows; NULL: nothing follows
  size_t extra_each;  // bytes a row
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
  if (job->extra == NULL) {
    return HX_OK;
  }
  step->args.element = job->element;
  if (!job->backward) {
    step->args.z = job->c != NULL ? 2 : job->b != NULL ? 1 : 0;
  }
  if (job->b != NULL) {
    HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_B, job->b));
  }
  if (job->c != NULL) {
    HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_C, job->c));
  }
  return hx_opencl_step_extra(build, step, job->extra, job->out->count * job->extra_each);
}

static int32_t add_columns(const hxs_build *build, const job_t *job, const hx_opencl_rows_t *out,
                           const hx_opencl_rows_t *a, hx_opencl_step_t **step) {
  static const hx_opencl_kernel_t first[2][2] = {
      {HX_OPENCL_KERNEL_FORWARD_COLUMNS_0, HX_OPENCL_KERNEL_BACKWARD_COLUMNS_0},
      {HX_OPENCL_KERNEL_REAL_FORWARD_COLUMNS_0, HX_OPENCL_KERNEL_REAL_BACKWARD_COLUMNS_0}};
  const uint32_t log_n = build->prepared->log_n, halves = log_n > COLUMNS_LOG ? 1 : 0;
  const uint32_t stages = (halves ? COLUMNS_LOG : log_n) - 8;
  const hx_opencl_kernel_t kernel = (hx_opencl_kernel_t)((uint32_t)first[job->real][job->backward] + stages - 4);
  HXS_TRY(add(build, job, kernel, stages - 3 + halves, out, a, step));
  (*step)->args.y = 1 + halves;
  (*step)->args.z = halves;
  return HX_OK;
}

static int32_t add_rows(const hxs_build *build, const job_t *job, const hx_opencl_rows_t *out,
                        const hx_opencl_rows_t *a, hx_opencl_step_t **step) {
  static const hx_opencl_kernel_t kernels[2][2] = {
      {HX_OPENCL_KERNEL_FORWARD_ROWS, HX_OPENCL_KERNEL_BACKWARD_ROWS},
      {HX_OPENCL_KERNEL_REAL_FORWARD_ROWS, HX_OPENCL_KERNEL_REAL_BACKWARD_ROWS}};
  return add(build, job, kernels[job->real][job->backward], build->prepared->log_n - 11, out, a, step);
}

static int32_t add_half(const hxs_build *build, const job_t *job, const hx_opencl_rows_t *out,
                        const hx_opencl_rows_t *a, hx_opencl_step_t **step) {
  const uint32_t log = hx_opencl_log_groups(build, 2);  // a work-item takes a pair
  return add(build, job, job->backward ? HX_OPENCL_KERNEL_HALF_BACKWARD : HX_OPENCL_KERNEL_HALF_FORWARD, log, out, a,
             step);
}

// A transform whose rows all take one path.
static int32_t add_transform(const hxs_build *build, const job_t *job) {
  const uint32_t log_n = build->prepared->log_n;
  const hx_opencl_rows_t *middle = job->middle != NULL ? job->middle : job->out;
  hx_opencl_step_t *step = NULL;
  if (log_n <= SMALL_LOG) {
    HXS_TRY(add(build, job, job->backward ? HX_OPENCL_KERNEL_SMALL_BACKWARD : HX_OPENCL_KERNEL_SMALL_FORWARD, 0,
                job->out, job->a, &step));
    return fill_end(build, step, job);
  }
  if (job->backward) {
    HXS_TRY(add_rows(build, job, job->out, job->a, &step));
    HXS_TRY(add_columns(build, job, job->out, job->out, &step));
    if (log_n > COLUMNS_LOG) {
      HXS_TRY(add_half(build, job, job->out, job->out, &step));
    }
    return fill_end(build, step, job);
  }
  if (log_n > COLUMNS_LOG) {
    HXS_TRY(add_half(build, job, middle, job->a, &step));
  }
  HXS_TRY(add_columns(build, job, middle, log_n > COLUMNS_LOG ? middle : job->a, &step));
  if (job->columns_only) {
    return HX_OK;
  }
  HXS_TRY(add_rows(build, job, job->out, middle, &step));
  return fill_end(build, step, job);
}

static bool takes_real(const hxs_build *build, uint32_t id) {
  return build->prepared->log_n > SMALL_LOG && hx_opencl_has_real(build, id);
}

bool hx_opencl_takes_real(const hxs_build *build, const uint32_t *ids, uint32_t count) {
  bool real = true;
  for (uint32_t i = 0; i < count && real; i++) {
    real = takes_real(build, ids[i]);
  }
  return real;
}

// Rows of `from` at the indices; NULL stays NULL.
static int32_t pick(const hxs_build *build, const hx_opencl_rows_t *from, uint32_t count, const uint32_t *indices,
                    hx_opencl_rows_t *to, const hx_opencl_rows_t **out) {
  *out = NULL;
  if (from == NULL) {
    return HX_OK;
  }
  *out = to;
  return hx_opencl_rows_pick(build, from, count, indices, to);
}

// The job's rows whose primes take the path; none: nothing is done.
static int32_t add_part(const hxs_build *build, const job_t *job, bool real) {
  hx_opencl_rows_t out, a, b, c, middle;
  uint32_t *indices = NULL, count = 0;
  uint8_t *extra = NULL;
  job_t part = *job;
  HXS_TRY(hxs_keep_or_fail(build, job->out->count, sizeof *indices, &indices));
  HXS_TRY(hxs_keep_or_fail(build, job->out->count, job->extra_each + 1, &extra));
  for (uint32_t i = 0; i < job->out->count; i++) {
    if (takes_real(build, job->out->ids[i]) == real) {
      if (job->extra != NULL) {
        memcpy(extra + count * job->extra_each, (const uint8_t *)job->extra + i * job->extra_each, job->extra_each);
      }
      indices[count++] = i;
    }
  }
  if (count == 0) {
    return HX_OK;
  }
  part.real = real;
  part.extra = job->extra != NULL ? extra : NULL;
  HXS_TRY(pick(build, job->out, count, indices, &out, &part.out));
  HXS_TRY(pick(build, job->a, count, indices, &a, &part.a));
  HXS_TRY(pick(build, job->b, count, indices, &b, &part.b));
  HXS_TRY(pick(build, job->c, count, indices, &c, &part.c));
  HXS_TRY(pick(build, job->middle, count, indices, &middle, &part.middle));
  return add_transform(build, &part);
}

int32_t hx_opencl_steps_forward(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a,
                                const hx_opencl_end_t *end) {
  job_t job = {.out = out, .a = a};
  if (end != NULL) {
    job.b = end->b;
    job.c = end->c;
    job.middle = end->middle;
    job.element = end->element;
    job.extra = end->scale;
    job.extra_each = 2 * sizeof *end->scale;
  }
  HXS_TRY(add_part(build, &job, true));
  return add_part(build, &job, false);
}

int32_t hx_opencl_steps_columns(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a) {
  const job_t job = {.out = out, .a = a, .real = true, .columns_only = true};
  return add_transform(build, &job);
}

int32_t hx_opencl_steps_backward(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a,
                                 const uint64_t *factor, const uint64_t *add_on) {
  hx_opencl_finish_t *finish = NULL;
  HXS_TRY(hxs_keep_or_fail(build, out->count, sizeof *finish, &finish));
  for (uint32_t i = 0; i < out->count; i++) {
    const hxs_modulus *m = hx_opencl_modulus(build, out->ids[i]);
    uint64_t value = hxs_inverse_mod(m, (uint64_t)build->prepared->n % m->q);
    value = factor != NULL ? hxs_mul_mod(m, value, factor[i]) : value;
    finish[i] = (hx_opencl_finish_t){.factor = hx_opencl_factor_of(m, value),
                                     .add = add_on != NULL ? add_on[i] : 0,
                                     .real = hx_opencl_real_of(m->q, value)};
  }
  const job_t job = {.out = out, .a = a, .backward = true, .extra = finish, .extra_each = sizeof *finish};
  HXS_TRY(add_part(build, &job, true));
  return add_part(build, &job, false);
}
