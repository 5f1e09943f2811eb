// SPDX-License-Identifier: Apache-2.0
// Steps of transforms: rows are divided by the path that their primes take; each set is one launch for rows of up to
// 2^11 points, two above, three for 2^17.
#include <string.h>

#include "step.h"

#define SMALL_LOG 11u          // rows up to this are done in one block
#define COLUMNS_LOG 16u        // rows up to this are done in two kernels
#define SHARED_COLUMNS 17408u  // 2048 values of a block and gaps
#define SHARED_ROWS 16384u

// add_step or return its failure.
#define STEP(step_, kernel_, blocks_)                                \
  hx_cuda_step_t *step_ = hx_cuda_step_add(build, kernel_, blocks_); \
  if (step_ == NULL) {                                               \
    return hx_cuda_build_code(build);                                \
  }

typedef enum path { PATH_INTEGER, PATH_REAL, PATH_WORD, PATHS } path_t;

static hx_cuda_kernel_t columns_kernel(path_t path, bool backward, uint32_t log_n) {
  static const hx_cuda_kernel_t kernels[PATHS][2][5] = {
#define SET(path_, way_)                                                                     \
  {HX_CUDA_KERNEL_##path_##_##way_##_COLUMNS_0, HX_CUDA_KERNEL_##path_##_##way_##_COLUMNS_1, \
   HX_CUDA_KERNEL_##path_##_##way_##_COLUMNS_2, HX_CUDA_KERNEL_##path_##_##way_##_COLUMNS_3, \
   HX_CUDA_KERNEL_##path_##_##way_##_COLUMNS_4}
      {SET(INTEGER, FORWARD), SET(INTEGER, BACKWARD)},
      {SET(REAL, FORWARD), SET(REAL, BACKWARD)},
      {SET(WORD, FORWARD), SET(WORD, BACKWARD)}
#undef SET
  };
  return kernels[path][backward][(log_n < COLUMNS_LOG ? log_n : COLUMNS_LOG) - 12];
}

static hx_cuda_kernel_t rows_kernel(path_t path, bool backward) {
  static const hx_cuda_kernel_t kernels[PATHS][2] = {
      {HX_CUDA_KERNEL_INTEGER_FORWARD_ROWS, HX_CUDA_KERNEL_INTEGER_BACKWARD_ROWS},
      {HX_CUDA_KERNEL_REAL_FORWARD_ROWS, HX_CUDA_KERNEL_REAL_BACKWARD_ROWS},
      {HX_CUDA_KERNEL_WORD_FORWARD_ROWS, HX_CUDA_KERNEL_WORD_BACKWARD_ROWS}};
  return kernels[path][backward];
}

// What a transform works on.
typedef struct job {
  const hx_cuda_rows_t *out, *a, *b, *c;
  const hx_cuda_rows_t *middle;  // rows for what lies between two kernels; NULL: out
  uint32_t element;
  const hx_cuda_rows_t *times, *product;  // backward: of a times those, kept in product
  bool columns_only, rows_only;
  const void *extra;  // scale or finish, one a row
  size_t extra_bytes;
  path_t path;
  bool backward;
} job_t;

static int32_t fill_ends(hxs_build *build, hx_cuda_step_t *step, const job_t *job) {
  step->args.element = job->element;
  if (job->b != NULL) {
    step->args.z = job->c != NULL ? 2 : 1;
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, job->b));
  }
  if (job->c != NULL) {
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_C, job->c));
  }
  return job->extra != NULL ? hx_cuda_step_extra(build, step, job->extra, job->extra_bytes) : HX_OK;
}

static int32_t fill_rows(hxs_build *build, hx_cuda_step_t *step, const job_t *job, const hx_cuda_rows_t *out,
                         const hx_cuda_rows_t *a) {
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, a));
  return hx_cuda_step_primes(build, step, job->out->ids, job->out->count);
}

static int32_t add_small(hxs_build *build, const job_t *job) {
  const bool word = job->path == PATH_WORD;
  STEP(step,
       job->backward ? (word ? HX_CUDA_KERNEL_WORD_SMALL_BACKWARD : HX_CUDA_KERNEL_SMALL_BACKWARD)
                     : (word ? HX_CUDA_KERNEL_WORD_SMALL_FORWARD : HX_CUDA_KERNEL_SMALL_FORWARD),
       job->out->count)
  step->shared = (uint32_t)build->prepared->n * (uint32_t)(word ? sizeof(uint32_t) : sizeof(uint64_t));
  HXS_TRY(fill_rows(build, step, job, job->out, job->a));
  return fill_ends(build, step, job);
}

static int32_t add_half(hxs_build *build, const job_t *job, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a) {
  const bool word = job->path == PATH_WORD;
  const uint32_t log = build->prepared->log_n - 1 - 8;
  STEP(step,
       job->backward ? (word ? HX_CUDA_KERNEL_WORD_HALF_BACKWARD : HX_CUDA_KERNEL_HALF_BACKWARD)
                     : (word ? HX_CUDA_KERNEL_WORD_HALF_FORWARD : HX_CUDA_KERNEL_HALF_FORWARD),
       (uint64_t)job->out->count << log)
  step->args.x = log;
  HXS_TRY(fill_rows(build, step, job, out, a));
  return job->backward ? fill_ends(build, step, job) : HX_OK;
}

static int32_t add_columns(hxs_build *build, const job_t *job, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a) {
  const uint32_t log_n = build->prepared->log_n, halves = log_n > COLUMNS_LOG ? 1 : 0;
  const uint32_t stages = (halves ? COLUMNS_LOG : log_n) - 8, log = stages - 3 + halves;
  STEP(step, columns_kernel(job->path, job->backward, log_n), (uint64_t)job->out->count << log)
  step->args.x = log;
  step->args.y = 1 + halves;
  step->args.z = halves;
  step->shared = stages > 4 ? SHARED_COLUMNS : 0;
  HXS_TRY(fill_rows(build, step, job, out, a));
  if (job->backward && !halves) {
    return fill_ends(build, step, job);
  }
  return HX_OK;
}

static int32_t add_rows(hxs_build *build, const job_t *job, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a) {
  const uint32_t log = build->prepared->log_n - 11;
  STEP(step, rows_kernel(job->path, job->backward), (uint64_t)job->out->count << log)
  step->args.x = log;
  step->shared = SHARED_ROWS;
  HXS_TRY(fill_rows(build, step, job, out, a));
  if (job->times != NULL) {
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_B, job->times));
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_C, job->product));
  }
  return job->backward ? HX_OK : fill_ends(build, step, job);
}

static int32_t add_transform(hxs_build *build, const job_t *job) {
  const uint32_t log_n = build->prepared->log_n;
  if (log_n <= SMALL_LOG) {
    return add_small(build, job);
  }
  const hx_cuda_rows_t *middle = job->middle != NULL ? job->middle : job->out;
  if (job->backward) {
    if (!job->columns_only) {
      HXS_TRY(add_rows(build, job, job->out, job->a));
    }
    HXS_TRY(add_columns(build, job, job->out, job->out));
    return log_n > COLUMNS_LOG ? add_half(build, job, job->out, job->out) : HX_OK;
  }
  if (job->rows_only) {
    return add_rows(build, job, job->out, job->a);
  }
  if (log_n > COLUMNS_LOG) {
    HXS_TRY(add_half(build, job, middle, job->a));
  }
  HXS_TRY(add_columns(build, job, middle, log_n > COLUMNS_LOG ? middle : job->a));
  return job->columns_only ? HX_OK : add_rows(build, job, job->out, middle);
}

static bool all_even(const hx_cuda_rows_t *rows) {
  bool even = true;
  for (uint32_t i = 0; rows != NULL && i < rows->count; i++) {
    even = even && (rows->offsets[i] % 2 == 0 || rows->offsets[i] == HX_CUDA_NO_ROW);
  }
  return even;
}

// Rows that begin at odd places do not have the cells of the path of words.
static path_t integers_of(const hxs_build *build, const job_t *job) {
  const bool even = all_even(job->out) && all_even(job->a) && all_even(job->b) && all_even(job->c);
  return hx_cuda_whole(build)->word && even ? PATH_WORD : PATH_INTEGER;
}

// The job's rows whose primes take the real path, or the others; none: nothing is done.
static int32_t add_part(hxs_build *build, const job_t *job, bool real, size_t extra_each) {
  const hxs_prepared *p = build->prepared;
  uint32_t *indices = NULL, count = 0;
  uint8_t *extra = NULL;
  HXS_TRY(hxs_keep_or_fail(build, job->out->count, sizeof *indices, &indices));
  HXS_TRY(hxs_keep_or_fail(build, job->out->count, extra_each + 1, &extra));
  for (uint32_t i = 0; i < job->out->count; i++) {
    const bool takes = hx_cuda_whole(build)->real && p->log_n > SMALL_LOG &&
                       hx_cuda_prime_of(build, job->out->ids[i])->real_forward != 0;
    if (takes == real) {
      if (job->extra != NULL) {
        memcpy(extra + count * extra_each, (const uint8_t *)job->extra + i * extra_each, extra_each);
      }
      indices[count++] = i;
    }
  }
  if (count == 0) {
    return HX_OK;
  }
  hx_cuda_rows_t out, a, b, c, middle, times, product;
  job_t part = {.out = &out,
                .a = &a,
                .element = job->element,
                .columns_only = job->columns_only,
                .rows_only = job->rows_only,
                .path = real ? PATH_REAL : integers_of(build, job),
                .backward = job->backward};
  HXS_TRY(hx_cuda_rows_pick(build, job->out, count, indices, &out));
  HXS_TRY(hx_cuda_rows_pick(build, job->a, count, indices, &a));
  if (job->middle != NULL) {
    HXS_TRY(hx_cuda_rows_pick(build, job->middle, count, indices, &middle));
    part.middle = &middle;
  }
  if (job->times != NULL) {
    HXS_TRY(hx_cuda_rows_pick(build, job->times, count, indices, &times));
    HXS_TRY(hx_cuda_rows_pick(build, job->product, count, indices, &product));
    part.times = &times;
    part.product = &product;
  }
  if (job->b != NULL) {
    HXS_TRY(hx_cuda_rows_pick(build, job->b, count, indices, &b));
    part.b = &b;
  }
  if (job->c != NULL) {
    HXS_TRY(hx_cuda_rows_pick(build, job->c, count, indices, &c));
    part.c = &c;
  }
  if (job->extra != NULL) {
    part.extra = extra;
    part.extra_bytes = count * extra_each;
  }
  return add_transform(build, &part);
}

int32_t hx_cuda_steps_forward(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                              const hx_cuda_end_t *end) {
  job_t job = {.out = out, .a = a};
  if (end != NULL) {
    job.b = end->b;
    job.c = end->c;
    job.extra = end->scale;
    job.middle = end->middle;
    job.element = end->element;
  }
  HXS_TRY(add_part(build, &job, true, 2 * sizeof(hx_cuda_factor_t)));
  return add_part(build, &job, false, 2 * sizeof(hx_cuda_factor_t));
}

bool hx_cuda_takes_real(const hxs_build *build, const uint32_t *ids, uint32_t count) {
  bool real = hx_cuda_whole(build)->real && build->prepared->log_n > SMALL_LOG;
  for (uint32_t i = 0; i < count && real; i++) {
    real = hx_cuda_prime_of(build, ids[i])->real_forward != 0;
  }
  return real;
}

bool hx_cuda_takes_words(const hxs_build *build) {
  return hx_cuda_whole(build)->word && build->prepared->log_n > SMALL_LOG;
}

int32_t hx_cuda_steps_columns(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a) {
  const job_t job = {.out = out, .a = a, .columns_only = true};
  return add_part(build, &job, !hx_cuda_takes_words(build), 0);
}

int32_t hx_cuda_steps_rows(hxs_build *build, const hx_cuda_rows_t *rows) {
  const job_t job = {.out = rows, .a = rows, .rows_only = true};
  return add_part(build, &job, true, 0);
}

// The job's rows by factor and add (NULL: 1 and 0), which its last kernel sees to.
static int32_t add_backward(hxs_build *build, job_t *job, const uint64_t *factor, const uint64_t *add) {
  hx_cuda_finish_t *finish = NULL;
  HXS_TRY(hxs_keep_or_fail(build, job->out->count, sizeof *finish, &finish));
  for (uint32_t i = 0; i < job->out->count; i++) {
    const hxs_modulus *m = hx_cuda_modulus_of(build, job->out->ids[i]);
    uint64_t value = hxs_inverse_mod(m, (uint64_t)build->prepared->n % m->q);
    value = factor != NULL ? hxs_mul_mod(m, value, factor[i]) : value;
    finish[i] = (hx_cuda_finish_t){
        .factor = hx_cuda_factor_of(m, value), .real = hx_cuda_centred(m->q, value), .add = add != NULL ? add[i] : 0};
  }
  job->extra = finish;
  job->backward = true;
  HXS_TRY(add_part(build, job, true, sizeof *finish));
  return add_part(build, job, false, sizeof *finish);
}

int32_t hx_cuda_steps_backward(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                               const uint64_t *factor, const uint64_t *add) {
  job_t job = {.out = out, .a = a};
  return add_backward(build, &job, factor, add);
}

int32_t hx_cuda_steps_backward_product(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                                       const hx_cuda_rows_t *b, const hx_cuda_rows_t *product, const uint64_t *factor,
                                       const uint64_t *add) {
  job_t job = {.out = out, .a = a, .times = b, .product = product};
  return add_backward(build, &job, factor, add);
}

int32_t hx_cuda_steps_backward_columns(hxs_build *build, const hx_cuda_rows_t *rows, const uint64_t *factor,
                                       const uint64_t *add) {
  job_t job = {.out = rows, .a = rows, .columns_only = true};
  return add_backward(build, &job, factor, add);
}
