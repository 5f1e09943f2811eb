// SPDX-License-Identifier: Apache-2.0
// Steps of encoding and decoding (kernels/code.cuh).
#include <string.h>

#include "code.h"
#include "step.h"

#define PLACE_ROOTS 0u
#define PLACE_FLAG 1u

typedef struct job {
  uint32_t items, log_slots, limbs;
  bool complex_values;
  hx_cuda_code_t code;
  const hxs_view *plaintext, *values;
  hx_cuda_rows_t doubles, numbers;  // [items]
} job_t;

static int32_t read_scale(const hxs_build *build, hx_cuda_code_t *out) {
  const hx_attr *attr = hxs_attr_find(build, "scale");
  if (attr == NULL || attr->kind != HX_ATTR_F64 || attr->count != 4) {
    return hxs_refuse(build, HX_INVALID, "attribute scale must be four numbers");
  }
  memcpy(out, attr->data, sizeof *out);
  return HX_OK;
}

// The plaintext as hx_encoding says, and rows for numbers in double-double: 32 bytes a slot, n / 2 slots at most.
static int32_t begin(hxs_build *build, const hxs_view *plaintext, const hxs_view *values, job_t *job) {
  const hxs_ring *ring = build->ring;
  int64_t slots = 0, pairs = 0;
  HXS_TRY(hxs_attr_i64(build, "slots", 1, (int64_t)build->prepared->n / 2, &slots));
  HXS_TRY(hxs_attr_i64(build, "complex", 0, 1, &pairs));
  *job = (job_t){.limbs = plaintext->limbs, .complex_values = pairs != 0, .plaintext = plaintext, .values = values};
  HXS_TRY(read_scale(build, &job->code));
  HXS_TRY(hxs_expect_residues(build, plaintext));
  HXS_TRY(hxs_expect_components(build, plaintext, 1));
  HXS_TRY(hxs_expect_domain(build, plaintext, HX_NTT));
  HXS_TRY(hxs_expect_repr(build, plaintext, HX_STANDARD));
  if (plaintext->ids[plaintext->limbs - 1] >= ring->q_count) {
    return hxs_refuse(build, HX_INVALID, "the plaintext has a row of prime %u, which is no prime of Q",
                      plaintext->ids[plaintext->limbs - 1]);
  }
  while (((int64_t)1 << job->log_slots) < slots) {
    job->log_slots++;
  }
  const uint32_t each = 128 / ring->word;
  hx_cuda_rows_t room;
  job->items = (uint32_t)plaintext->items;
  HXS_TRY(hx_cuda_rows_begin(build, values, job->items, &job->doubles));
  HXS_TRY(hx_cuda_rows_scratch(build, job->items * each, &room));
  HXS_TRY(hx_cuda_rows_begin(build, NULL, job->items, &job->numbers));
  job->numbers.memory = room.memory;
  for (uint32_t i = 0; i < job->items; i++) {
    job->doubles.offsets[i] = hxs_view_item_offset(values, i);
    job->numbers.offsets[i] = room.offsets[i * each];
  }
  return HX_OK;
}

// A launch with so many threads for each of `rows` rows.
static int32_t add_step(hxs_build *build, const job_t *job, hx_cuda_kernel_t kernel, uint32_t rows, uint64_t threads,
                        hx_cuda_step_t **out) {
  uint32_t log = 0;
  while (((uint64_t)256 << log) < threads) {
    log++;
  }
  *out = hx_cuda_step_add(build, kernel, (uint64_t)rows << log);
  if (*out == NULL) {
    return hx_cuda_build_code(build);
  }
  (*out)->args.x = log;
  (*out)->args.y = job->log_slots;
  (*out)->args.z = job->complex_values ? 1 : 0;
  return HX_OK;
}

static int32_t add_levels(hxs_build *build, const job_t *job, bool backward) {
  for (uint32_t i = 0; i < job->log_slots; i++) {
    hx_cuda_step_t *step = NULL;
    HXS_TRY(add_step(build, job, HX_CUDA_KERNEL_CODE_LEVEL, job->items, (uint64_t)1 << job->log_slots >> 1, &step));
    step->args.count = backward ? job->log_slots - 1 - i : i;
    step->args.op = backward ? 1 : 0;
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &job->numbers));
  }
  return HX_OK;
}

static int32_t build_encode(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  job_t job;
  hx_cuda_step_t *step = NULL;
  hx_cuda_rows_t rows, from;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(begin(build, &p->results[0], &p->operands[0], &job));
  HXS_TRY(add_step(build, &job, HX_CUDA_KERNEL_CODE_LOAD, job.items, (uint64_t)1 << job.log_slots, &step));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &job.numbers));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &job.doubles));
  HXS_TRY(add_levels(build, &job, true));
  HXS_TRY(hx_cuda_rows_of(build, job.plaintext, &rows));
  HXS_TRY(hx_cuda_rows_begin(build, NULL, rows.count, &from));
  from.memory = job.numbers.memory;
  for (uint32_t i = 0; i < rows.count; i++) {
    from.offsets[i] = job.numbers.offsets[i / job.limbs];
  }
  HXS_TRY(add_step(build, &job, HX_CUDA_KERNEL_CODE_ROUND, rows.count, p->n, &step));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &rows));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &from));
  HXS_TRY(hx_cuda_step_primes(build, step, rows.ids, rows.count));
  HXS_TRY(hx_cuda_step_extra(build, step, &job.code, sizeof job.code));
  return hx_cuda_steps_forward(build, &rows, &rows, NULL);
}

// ---- decoding

// Scale, prime ids, digits of (Q - 1) / 2 and inverses, as code_digits_kernel takes them.
static int32_t make_radix(const hxs_build *build, const job_t *job, uint8_t **out, size_t *out_bytes) {
  const uint32_t count = job->limbs, even = (count + 1) & ~1u, *ids = job->plaintext->ids;
  const size_t ids_at = sizeof job->code, half_at = ids_at + even * sizeof *ids,
               inverse_at = half_at + even * sizeof(uint64_t);
  uint64_t *half = NULL;
  *out_bytes = inverse_at + (size_t)count * count * sizeof(hx_cuda_factor_t);
  HXS_TRY(hxs_keep_or_fail(build, 1, *out_bytes, out));
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *half, &half));
  memcpy(*out, &job->code, sizeof job->code);
  memcpy(*out + ids_at, ids, count * sizeof *ids);
  for (uint32_t s = 0; s < count; s++) {
    const hxs_modulus *m = hx_cuda_modulus_of(build, ids[s]);
    half[s] = (m->q - 1) / 2;
    for (uint32_t l = 0; l < s; l++) {
      const uint64_t inverse = hxs_inverse_mod(m, hx_cuda_modulus_of(build, ids[l])->q % m->q);
      const hx_cuda_factor_t factor = hx_cuda_factor_of(m, inverse);
      memcpy(*out + inverse_at + ((size_t)s * count + l) * sizeof factor, &factor, sizeof factor);
      const uint64_t rest = hxs_add_mod(m, half[s], hxs_neg_mod(m, half[l] % m->q));
      half[s] = hxs_mul_mod(m, rest, inverse);
    }
  }
  memcpy(*out + half_at, half, count * sizeof *half);
  return HX_OK;
}

static int32_t build_decode(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  job_t job;
  hx_cuda_step_t *step = NULL;
  hx_cuda_rows_t rows, digits;
  uint8_t *radix = NULL;
  size_t bytes = 0;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(begin(build, &p->operands[0], &p->results[0], &job));
  HXS_TRY(hx_cuda_rows_of(build, job.plaintext, &rows));
  HXS_TRY(hx_cuda_rows_scratch(build, rows.count, &digits));
  memcpy(digits.ids, rows.ids, rows.count * sizeof *rows.ids);
  HXS_TRY(hx_cuda_steps_backward(build, &digits, &rows, NULL, NULL));
  HXS_TRY(make_radix(build, &job, &radix, &bytes));
  HXS_TRY(add_step(build, &job, HX_CUDA_KERNEL_CODE_DIGITS, job.items, (uint64_t)2 << job.log_slots, &step));
  step->args.count = job.limbs;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &digits));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &job.numbers));
  HXS_TRY(hx_cuda_step_extra(build, step, radix, bytes));
  HXS_TRY(add_levels(build, &job, false));
  HXS_TRY(add_step(build, &job, HX_CUDA_KERNEL_CODE_STORE, job.items, (uint64_t)1 << job.log_slots, &step));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &job.doubles));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &job.numbers));
  return hx_cuda_step_extra(build, step, &job.code, sizeof job.code);
}

void hx_cuda_code_patch(hx_prepared *prepared, uint64_t roots, uint64_t flag) {
  for (uint32_t i = 0; i < prepared->step_count; i++) {
    hx_cuda_step_t *step = &prepared->steps[i];
    if (step->kernel == HX_CUDA_KERNEL_CODE_LEVEL || step->kernel == HX_CUDA_KERNEL_CODE_ROUND ||
        step->kernel == HX_CUDA_KERNEL_CODE_STORE) {
      step->args.more[PLACE_ROOTS] = roots;
      step->args.more[PLACE_FLAG] = flag;
    }
  }
}

static const hxs_impl_row rows[] = {
    {"codec.encode", 1, build_encode, "slots complex scale ", HX_F64, HXS_DOMAINS_NTT, false},
    {"codec.decode", 1, build_decode, "slots complex scale ", HX_F64, HXS_DOMAINS_NTT, false}};

const hxs_plugin hx_cuda_code_plugin = {.name = "cuda",
                                        .rows = rows,
                                        .row_count = sizeof rows / sizeof rows[0],
                                        .prepared_bytes = sizeof(hx_prepared),
                                        .ring_of = hx_cuda_ring_of,
                                        .begin = hx_cuda_choose_variant,
                                        .end = hx_cuda_steps_finish,
                                        .release = hx_cuda_release};
