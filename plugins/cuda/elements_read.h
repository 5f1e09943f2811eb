// SPDX-License-Identifier: Apache-2.0
// Reading a region of operations element by element: what the files of elements.h share.
//
// Every operation is checked as on its own, by the library's functions; all values of the region are then its inputs
// and outputs, so that a view's slot is a value. What remains is a list of operations on numbers, from which the
// kernel's source is made, and where the rows lie, which the launch's records hold.
#ifndef HX_CUDA_ELEMENTS_READ_H
#define HX_CUDA_ELEMENTS_READ_H

#include "elements.h"
#include "heliox/support/accept.h"

#define HX_CUDA_REGION_IDS_MAX 256u  // values of a region

// What an operation is on numbers, as its prepared object keeps it (plan).
typedef struct hx_cuda_what {
  hx_cuda_element_kind_t kind;
  bool lazy, first_only, has_constants;
  hxs_constants constants;
} hx_cuda_what_t;

// Whether elements.def has an operation.
bool hx_cuda_element_known(const char *op);
// The build function of all of them: checks, and makes an hx_cuda_what_t.
hxs_build_fn hx_cuda_element_build;

// A value of the region that is read from memory, at rows of its own: operands that repeat differently are two.
typedef struct hx_cuda_region_place {
  uint32_t slot;  // of the call's inputs or outputs
  const hxs_view *view;
  bool first_only;     // component 0 of it alone is read
  bool one_component;  // it has one, for all
} hx_cuda_region_place_t;

typedef struct hx_cuda_region_value {
  bool there, made;      // there: an input, or made by an operation so far
  uint32_t slot;         // of an input
  uint32_t number;       // of the operation that made it
  const hxs_view *view;  // of what an operation made
} hx_cuda_region_value_t;

struct hx_cuda_elements {
  hx_prepared *ops[HX_CUDA_REGION_ELEMENTS_MAX];
  uint32_t op_count;
  hx_cuda_program_t *program;
};

typedef struct hx_cuda_reader {
  hx_device *device;
  const hx_region *region;
  hx_error *error;
  hx_prepared *whole;
  hx_cuda_elements_t *elements;
  uint32_t *all;  // every value's id
  hx_cuda_region_value_t values[HX_CUDA_REGION_IDS_MAX];
  hx_cuda_region_place_t places[HX_CUDA_REGION_PLACES_MAX];  // loads, then stores
  bool first_only[HX_CUDA_REGION_PLACES_MAX];
  hx_cuda_element_t list[HX_CUDA_REGION_ELEMENTS_MAX];
  uint32_t stores[HX_CUDA_REGION_PLACES_MAX];
  uint32_t constant_count;
  hx_cuda_body_t body;
} hx_cuda_reader_t;

// Operation k as on its own.
static inline const hxs_prepared *hx_cuda_region_op(const hx_cuda_reader_t *r, uint32_t k) {
  return &r->elements->ops[k]->base;
}
// Whether rows of a limb are computed on doubles.
bool hx_cuda_region_is_real(const hx_cuda_reader_t *r, uint32_t limb);
// HX_UNSUPPORTED, with both numbers.
int32_t hx_cuda_region_too_large(const hx_cuda_reader_t *r, const char *what, uint32_t count, uint32_t most);
// Fills in the reader from its device, region, error and whole: what the region is, but for what a compiler makes of
// it.
int32_t hx_cuda_region_read(hx_cuda_reader_t *r);

#endif
