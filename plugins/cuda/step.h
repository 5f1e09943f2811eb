// SPDX-License-Identifier: Apache-2.0
// Steps: the launches that a prepared operation is. Build functions describe rows (where they lie, of which primes) and
// ask for steps over them.
#ifndef HX_CUDA_STEP_H
#define HX_CUDA_STEP_H

#include "prepare.h"

typedef enum hx_cuda_memory { HX_CUDA_INPUT, HX_CUDA_OUTPUT, HX_CUDA_SCRATCH } hx_cuda_memory_t;

// Rows in one buffer of the call.
typedef struct hx_cuda_rows {
  hx_cuda_memory_t memory;
  uint32_t slot;  // of the call's inputs or outputs
  uint32_t count;
  uint64_t *offsets;  // [count], in elements from the span's (or the scratch memory's) start
  uint32_t *ids;      // [count], primes; 0 where the tensor has none
} hx_cuda_rows_t;

#define HX_CUDA_PATCHES_MAX 80u

// One field of the arguments that a call completes: the address of a buffer is added to what it holds.
typedef struct hx_cuda_patch {
  uint16_t field;  // index among the arguments' 64-bit words
  uint8_t memory;
  uint8_t constant;  // done at the end of prepare
  uint32_t slot;
} hx_cuda_patch_t;

struct hx_cuda_step {
  hx_cuda_kernel_t kernel;
  void *function;  // instead of the image's kernel, with its threads a block; NULL: that one
  uint32_t blocks, shared;
  uint32_t patch_count;
  hx_cuda_patch_t patches[HX_CUDA_PATCHES_MAX];
  hx_cuda_args_t args;
};

// ---- rows; HX_OUT_OF_MEMORY

// All rows of a view: items outermost, then components, then limbs.
int32_t hx_cuda_rows_of(const hxs_build *build, const hxs_view *view, hx_cuda_rows_t *out);
// The same with components outermost: what the tensor kernel takes.
int32_t hx_cuda_rows_by_component(hxs_build *build, const hxs_view *view, hx_cuda_rows_t *out);
// Room for `count` rows of the view's buffer, to be filled in.
int32_t hx_cuda_rows_begin(const hxs_build *build, const hxs_view *view, uint32_t count, hx_cuda_rows_t *out);
// Elements from the span's start to a row of a view.
uint64_t hx_cuda_row_offset(const hxs_view *view, uint64_t item, uint32_t component, uint32_t limb);
// `count` new rows of scratch memory; primes are to be filled in.
int32_t hx_cuda_rows_scratch(const hxs_build *build, uint32_t count, hx_cuda_rows_t *out);
// `count` rows of `from`, named by their indices.
int32_t hx_cuda_rows_pick(const hxs_build *build, const hx_cuda_rows_t *from, uint32_t count, const uint32_t *indices,
                          hx_cuda_rows_t *out);

// ---- single steps

// A launch with the ring's primes and log_n filled in; NULL: no memory (reported). Valid until the next step is made.
hx_cuda_step_t *hx_cuda_step_add(hxs_build *build, hx_cuda_kernel_t kernel, uint64_t blocks);
int32_t hx_cuda_step_rows(hxs_build *build, hx_cuda_step_t *step, uint32_t place, const hx_cuda_rows_t *rows);
int32_t hx_cuda_step_more(hxs_build *build, hx_cuda_step_t *step, uint32_t at, const hx_cuda_rows_t *rows);
// The address of a buffer as it is, at `place` of the arguments' more and more_rows; the kernel has its own row tables.
int32_t hx_cuda_step_place(hxs_build *build, hx_cuda_step_t *step, uint32_t place, hx_cuda_memory_t memory,
                           uint32_t slot);
int32_t hx_cuda_step_primes(hxs_build *build, hx_cuda_step_t *step, const uint32_t *ids, uint32_t count);
int32_t hx_cuda_step_extra(hxs_build *build, hx_cuda_step_t *step, const void *data, size_t bytes);
// A weight or a start in the real form, for a prime of at most 50 bits.
hx_cuda_weight_t hx_cuda_real_weight(uint64_t q, uint64_t w);
// Log of the blocks a row of kernels that take so many elements a block.
uint32_t hx_cuda_log_blocks(const hxs_build *build, uint32_t elements);

// ---- steps over rows; primes are those of `out`

// One of HX_CUDA_DO_, row by row. b and c may be NULL. halves: constants [count][2], or NULL. lazy: modulus 2q.
int32_t hx_cuda_step_pointwise(hxs_build *build, uint32_t op, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                               const hx_cuda_rows_t *b, const hx_cuda_rows_t *c, const hx_cuda_factor_t *halves,
                               bool lazy);
// What follows a forward transform: + b * scale[row][0], and where there is a c + c * scale[row][1] (rows of c may be
// HX_CUDA_NO_ROW), stored under X -> X^(1/element). b and c may be out's rows where element is 0; else results are
// scattered, so `middle` has rows of their own for what lies between two kernels.
typedef struct hx_cuda_end {
  const hx_cuda_rows_t *b, *c, *middle;
  const hx_cuda_factor_t *scale;
  uint32_t element;
} hx_cuda_end_t;

// ntt.forward, then `end` (NULL: nothing). out and a are the same rows or lie apart.
int32_t hx_cuda_steps_forward(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                              const hx_cuda_end_t *end);
// Whether transforms of rows of these primes take the real path in several kernels.
bool hx_cuda_takes_real(const hxs_build *build, const uint32_t *ids, uint32_t count);
// Whether they take the path of 32-bit words in several kernels, where rows begin at even places, as scratch memory's
// do.
bool hx_cuda_takes_words(const hxs_build *build);
// ntt.forward without its last kernel, for rows that hx_cuda_takes_real, or rows of scratch memory where
// hx_cuda_takes_words: the key kernels with that pass take what is left.
int32_t hx_cuda_steps_columns(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a);
// That last kernel, in place.
int32_t hx_cuda_steps_rows(hxs_build *build, const hx_cuda_rows_t *rows);
// ntt.inverse of products: of a times b, kept in `product`. Rows that hx_cuda_takes_real.
int32_t hx_cuda_steps_backward_product(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                                       const hx_cuda_rows_t *b, const hx_cuda_rows_t *product, const uint64_t *factor,
                                       const uint64_t *add);
// The last kernel of ntt.inverse, in place, for rows that hx_cuda_takes_real.
int32_t hx_cuda_steps_backward_columns(hxs_build *build, const hx_cuda_rows_t *rows, const uint64_t *factor,
                                       const uint64_t *add);
// ntt.inverse; then times factor[row] plus add[row] (residues; NULL: 1 and 0).
int32_t hx_cuda_steps_backward(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                               const uint64_t *factor, const uint64_t *add);
// ntt.forward or ntt.inverse by passes of `radix` stages. out and a are the same rows or lie apart.
int32_t hx_cuda_steps_radix(hxs_build *build, uint32_t radix, bool backward, const hx_cuda_rows_t *out,
                            const hx_cuda_rows_t *a);
// Conversions: `polynomials` times `targets` result rows from `stages` rows y each. plans: sets of targets that
// polynomials take in turn; plan [plans][targets] with start and factor as residues, weights [plans][targets][stages],
// residues. x: the operand's row of each target, NULL where none needs one.
int32_t hx_cuda_step_convert(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *y,
                             const hx_cuda_rows_t *x, uint32_t polynomials, uint32_t stages, uint32_t targets,
                             uint32_t plans, const hx_cuda_target_t *plan, const uint64_t *weights);

// Conversions as hx_cuda_step_convert has them, then the transforms of their results without the last kernel, as one
// kernel: targets are CONVERT or SKIP. `rest` (or NULL): the last row y of each polynomial is first replaced by start +
// sum of rest_weights * y, itself among them.
typedef struct hx_cuda_raise {
  const hx_cuda_rows_t *out, *y;
  uint32_t polynomials, stages, targets, plans;
  const hx_cuda_target_t *plan;
  const uint64_t *weights;
  const hx_cuda_target_t *rest;
  const uint64_t *rest_weights;
} hx_cuda_raise_t;

bool hx_cuda_can_raise(const hxs_build *build, const hx_cuda_raise_t *job);
int32_t hx_cuda_step_raise(hxs_build *build, const hx_cuda_raise_t *job);

// What is added at the end of a division: nothing (0 rows), rows (1), or products of rows 0 and 1, and 2 and 3 (4).
// Offsets may be HX_CUDA_NO_ROW in row 0 (nothing is added) and 2 (one product).
typedef struct hx_cuda_addend {
  uint32_t count;
  hx_cuda_rows_t rows[4];
} hx_cuda_addend_t;

int32_t hx_cuda_step_addend(hxs_build *build, hx_cuda_step_t *step, const hx_cuda_addend_t *addend);
// The last kernel of ntt.forward of `middle`, plus b * scale[row][0], plus what is added * scale[row][1], stored under
// X -> X^(1/element) (0: in order; then out may be middle). Rows that hx_cuda_takes_real.
int32_t hx_cuda_step_end(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *middle,
                         const hx_cuda_rows_t *b, const hx_cuda_factor_t *scale, const hx_cuda_addend_t *addend,
                         uint32_t element);

// Division by one prime in ntt domain, nearest: polynomial i has row i of `dropped`, coefficients plus (their prime -
// 1) / 2, and rows i * targets and the next of out and b: out = (b - ntt(dropped, centred)) * factor[row], residues.
// Rows that hx_cuda_takes_real, of at most 2^16 points.
bool hx_cuda_can_drop(const hxs_build *build, const hx_cuda_rows_t *dropped, const hx_cuda_rows_t *out);
int32_t hx_cuda_steps_drop(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *dropped,
                           const hx_cuda_rows_t *b, uint32_t targets, const uint64_t *factor);

// The result's rows from those of up to three operands, in order; with first_only components beside the first are
// copied and `halves` has the first component's rows alone.
int32_t hx_cuda_step_components(hxs_build *build, uint32_t op, bool first_only, const hx_cuda_factor_t *halves,
                                bool lazy);
// (a0 b0, a0 b1 + a1 b0, a1 b1): rows with the component outermost.
int32_t hx_cuda_step_tensor(hxs_build *build, const hx_cuda_rows_t *out, const hx_cuda_rows_t *a,
                            const hx_cuda_rows_t *b);
// X -> X^element in either domain; out is not a.
int32_t hx_cuda_step_permute(hxs_build *build, uint32_t domain, uint64_t element, const hx_cuda_rows_t *out,
                             const hx_cuda_rows_t *a);
// The code of a failure that has been reported.
int32_t hx_cuda_build_code(const hxs_build *build);

// ---- for prepare

// Launches all steps on the call's queue, whose context is current.
int32_t hx_cuda_steps_run(const hx_prepared *prepared, const hx_call *call, uint64_t scratch, hx_error *error);

#endif
