// SPDX-License-Identifier: Apache-2.0
// Steps: the launches that a prepared operation is. Build functions describe rows (where they lie, of which primes) and
// ask for steps over them; what is not known when a step is made is a buffer of the call.
#ifndef HX_OPENCL_STEP_H
#define HX_OPENCL_STEP_H

#include "heliox/support/prepare.h"
#include "tables.h"

typedef enum hx_opencl_memory {
  HX_OPENCL_NONE,
  HX_OPENCL_INPUT,
  HX_OPENCL_OUTPUT,
  HX_OPENCL_SCRATCH
} hx_opencl_memory_t;

// Rows in one buffer of the call.
typedef struct hx_opencl_rows {
  hx_opencl_memory_t memory;
  uint32_t slot;  // of the call's inputs or outputs
  uint32_t unit;  // bytes of an element
  uint32_t count;
  uint64_t *offsets;  // [count], in elements from the span's (or the scratch memory's) start
  uint32_t *ids;      // [count], primes; 0 where the tensor has none
} hx_opencl_rows_t;

typedef struct hx_opencl_place {
  hx_opencl_memory_t memory;
  uint32_t slot, unit;
} hx_opencl_place_t;

typedef struct hx_opencl_step {
  hx_opencl_kernel_t kernel;
  size_t groups;
  hx_opencl_place_t places[HX_OPENCL_DOT_PLACES];
  hx_opencl_args_t args;
} hx_opencl_step_t;

struct hx_prepared {
  hxs_prepared base;
  bool real;  // primes of at most 50 bits take the real path
  hx_opencl_step_t *steps;
  uint32_t step_count, step_room;
  void *constants;    // on the device
  uint8_t *gathered;  // while the operation is built
  uint64_t gathered_bytes, gathered_room;
};

static inline hx_prepared *hx_opencl_prepared(const hxs_build *build) { return (hx_prepared *)(void *)build->prepared; }
// Numbers of a prime id for the kernels' arithmetic; whether they have doubles for it.
bool hx_opencl_has_real(const hxs_build *build, uint32_t id);
const hxs_modulus *hx_opencl_modulus(const hxs_build *build, uint32_t id);

// ---- rows; HX_OUT_OF_MEMORY

// All rows of a view: items outermost, then components, then limbs.
int32_t hx_opencl_rows_of(const hxs_build *build, const hxs_view *view, hx_opencl_rows_t *out);
// Rows of components first .. first + count - 1; `outermost`: components before items.
int32_t hx_opencl_rows_components(const hxs_build *build, const hxs_view *view, uint32_t first, uint32_t count,
                                  bool outermost, hx_opencl_rows_t *out);
// Room for `count` rows of the view's buffer, to be filled in.
int32_t hx_opencl_rows_begin(const hxs_build *build, const hxs_view *view, uint64_t count, hx_opencl_rows_t *out);
// Elements from the span's start to a row of a view.
uint64_t hx_opencl_row_offset(const hxs_view *view, uint64_t item, uint32_t component, uint32_t limb);
// `count` new rows of scratch memory; primes are to be filled in.
int32_t hx_opencl_rows_scratch(const hxs_build *build, uint64_t count, hx_opencl_rows_t *out);
// `count` rows of `from`, named by their indices.
int32_t hx_opencl_rows_pick(const hxs_build *build, const hx_opencl_rows_t *from, uint32_t count,
                            const uint32_t *indices, hx_opencl_rows_t *out);

// ---- single steps; the step is the prepared object's last

int32_t hx_opencl_step_add(const hxs_build *build, hx_opencl_kernel_t kernel, uint64_t groups, hx_opencl_step_t **out);
int32_t hx_opencl_step_rows(const hxs_build *build, hx_opencl_step_t *step, uint32_t place,
                            const hx_opencl_rows_t *rows);
int32_t hx_opencl_step_primes(const hxs_build *build, hx_opencl_step_t *step, const uint32_t *ids, uint32_t count);
int32_t hx_opencl_step_extra(const hxs_build *build, hx_opencl_step_t *step, const void *data, size_t bytes);
// Log of the groups a row of kernels whose work-items take `each` elements.
uint32_t hx_opencl_log_groups(const hxs_build *build, uint32_t each);

// ---- steps over rows; primes are those of `out`

// One of HX_OPENCL_DO_, row by row. b and c may be NULL. halves: constants [count][2], or NULL. lazy: modulus 2q.
int32_t hx_opencl_step_pointwise(const hxs_build *build, uint32_t op, const hx_opencl_rows_t *out,
                                 const hx_opencl_rows_t *a, const hx_opencl_rows_t *b, const hx_opencl_rows_t *c,
                                 const hx_opencl_factor_t *halves, bool lazy);
// Kernels that need nothing but rows, primes and the fields x (set here), op, y, count and stride of `args`.
int32_t hx_opencl_step_plain(const hxs_build *build, hx_opencl_kernel_t kernel, uint32_t each,
                             const hx_opencl_rows_t *out, const hx_opencl_rows_t *a, const hx_opencl_args_t *args);
// (a0 b0, a0 b1 + a1 b0, a1 b1): rows with the component outermost.
int32_t hx_opencl_step_tensor(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a,
                              const hx_opencl_rows_t *b);
// X -> X^element in either domain; out is not a.
int32_t hx_opencl_step_permute(const hxs_build *build, uint32_t domain, uint32_t element, const hx_opencl_rows_t *out,
                               const hx_opencl_rows_t *a);

// What follows a forward transform: + b * scale[row][0], and where there is a c + c * scale[row][1] (rows of c may be
// HX_OPENCL_NO_ROW), stored under X -> X^(1/element). b and c may be out's rows where element is 0; else results are
// scattered, so `middle` has rows of their own for what lies between two kernels.
typedef struct hx_opencl_end {
  const hx_opencl_rows_t *b, *c, *middle;
  const hx_opencl_factor_t *scale;
  uint32_t element;
} hx_opencl_end_t;

// Whether all these primes take the real path in transforms of this ring.
bool hx_opencl_takes_real(const hxs_build *build, const uint32_t *ids, uint32_t count);
// The columns of a forward transform alone, for the kernel of key products: all rows take the real path.
int32_t hx_opencl_steps_columns(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a);
// ntt.forward, then `end` (NULL: nothing). out and a are the same rows or lie apart.
int32_t hx_opencl_steps_forward(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a,
                                const hx_opencl_end_t *end);
// ntt.inverse; then times factor[row] plus add[row] (residues; NULL: 1 and 0).
int32_t hx_opencl_steps_backward(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *a,
                                 const uint64_t *factor, const uint64_t *add);
// Conversions: `polynomials` times `targets` result rows from `stages` rows y each. plans: sets of targets that
// polynomials take in turn; plan [plans][targets] with start and factor as residues, weights [plans][targets][stages],
// residues. x: the operand's row of each target, NULL where none needs one.
int32_t hx_opencl_step_convert(const hxs_build *build, const hx_opencl_rows_t *out, const hx_opencl_rows_t *y,
                               const hx_opencl_rows_t *x, uint32_t polynomials, uint32_t stages, uint32_t targets,
                               uint32_t plans, const hx_opencl_target_t *plan, const uint64_t *weights);

// ---- for prepare

// Puts the gathered constants on the device.
int32_t hx_opencl_steps_finish(hxs_build *build);
// Launches all steps on the call's queue, inside whose gate the caller is.
int32_t hx_opencl_steps_run(const hx_prepared *prepared, const hx_call *call, hx_error *error);

#endif
