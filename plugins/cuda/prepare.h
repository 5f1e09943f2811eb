// SPDX-License-Identifier: Apache-2.0
// What an operation becomes: the library's views (heliox/support/prepare.h) and a list of kernel launches.
//
// A build function (impls.def) checks its operation and adds steps (step.h), each a launch whose arguments are complete
// but for the addresses of a call's buffers. What kernels read beside rows (row tables, constants) is gathered and put
// into device memory once, at the end.
#ifndef HX_CUDA_PREPARE_H
#define HX_CUDA_PREPARE_H

#include "device.h"
#include "heliox/support/prepare.h"
#include "tables.h"

typedef struct hx_cuda_step hx_cuda_step_t;
typedef struct hx_cuda_elements hx_cuda_elements_t;

// Steps that share what the steps before all parts have made, and nothing else but that: a recorded run may do parts at
// once. They run to the next part, or to the end.
typedef struct hx_cuda_part {
  uint32_t first_step, result;  // the one result that they write
  uint64_t scratch_first,
      scratch_end;  // bytes of scratch memory that are theirs alone; before the first are all parts'
} hx_cuda_part_t;

struct hx_prepared {
  hxs_prepared base;
  bool real;       // rows of primes that have the real path take it
  bool tensor;     // conversions of such rows are made on the tensor cores
  bool word;       // rows take the path of 32-bit words
  uint32_t radix;  // of the variant
  hx_cuda_step_t *steps;
  uint32_t step_count, step_room;
  hx_cuda_part_t *parts;  // in order; NULL: the steps are one behind the other
  uint32_t part_count;
  hx_cuda_elements_t *elements;  // of a region of operations element by element; NULL: another operation
  uint64_t constants;            // device address; 0: none
  uint8_t *gathered;             // the constants so far; NULL when all is built
  uint64_t gathered_bytes, gathered_room;
};

// Rows of impls.def, and the registered implementations in the same order.
extern const hxs_plugin hx_cuda_plugin;
// in the same order, then
// those of the variants.
extern const hx_impl *const hx_cuda_impls[];

// Of hx_cuda_plugin.
const hxs_ring *hx_cuda_ring_of(const hx_device *device, const hx_tables *tables);
int32_t hx_cuda_choose_variant(hxs_build *build, const hx_region *region);
int32_t hx_cuda_steps_finish(hxs_build *build);  // puts the gathered constants on the device
void hx_cuda_release(hx_prepared *prepared);

// hx_impl, the same functions for all rows; hxs_destroy is the third.
int32_t hx_cuda_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error);
// The same with a variant pinned; see variants.def.
#define VARIANT(id_, name_, radix_, path_)                                                                    \
  int32_t hx_cuda_prepare_##id_(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, \
                                hx_error *error);
#include "variants.def"
int32_t hx_cuda_execute(hx_prepared *prepared, const hx_call *call, hx_error *error);

// ---- for build functions

// The plugin's object, of which the library's is the first member.
static inline hx_prepared *hx_cuda_whole(const hxs_build *build) { return (hx_prepared *)(void *)build->prepared; }
static inline const hx_cuda_prime_t *hx_cuda_prime_of(const hxs_build *build, uint32_t id) {
  return &build->prepared->tables->primes[id];
}
// Constants of kernels are those of 64-bit words, whatever the ring's.
static inline const hxs_modulus *hx_cuda_modulus_of(const hxs_build *build, uint32_t id) {
  return &build->prepared->tables->moduli[id];
}
// A residue in the form that conversions of the ring's words take.
static inline uint64_t hx_cuda_converting(const hxs_build *build, const hxs_modulus *m, uint64_t c) {
  return build->ring->word == 32 ? c : hxs_to_montgomery(m, c);
}

#endif
