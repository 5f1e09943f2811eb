// SPDX-License-Identifier: Apache-2.0
// Making the source of a region: text that grows, and what the paths' writers share.
#ifndef HX_CUDA_GENERATE_TEXT_H
#define HX_CUDA_GENERATE_TEXT_H

#include <stddef.h>

#include "generate.h"

#define HX_CUDA_REGION_VALUES_MAX (HX_CUDA_REGION_PLACES_MAX + HX_CUDA_REGION_ELEMENTS_MAX)

typedef struct hx_cuda_text {
  char *data;
  size_t bytes, room;
  bool failed;  // no memory
} hx_cuda_text_t;

typedef struct hx_cuda_maker {
  const hx_cuda_body_t *body;
  hx_cuda_text_t text;
  double size[HX_CUDA_REGION_VALUES_MAX];       // real path: in units of q
  uint32_t reduced[HX_CUDA_REGION_VALUES_MAX];  // real path: how often, which is a part of the name
} hx_cuda_maker_t;

void hx_cuda_put(hx_cuda_text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A constant's word, of the half of the row that an element lies in where halves have constants of their own.
void hx_cuda_put_constant(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t word);

// The line or lines that make value `value` of an operation, on integers and on doubles.
void hx_cuda_put_integer(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value);
void hx_cuda_put_real(hx_cuda_maker_t *m, const hx_cuda_element_t *e, uint32_t value);
// The name of a value on doubles as it is by now: each reduction makes another one.
void hx_cuda_put_name(hx_cuda_maker_t *m, uint32_t value);

#endif
