// SPDX-License-Identifier: Apache-2.0
// The operations of elements.def: what each accepts, and what it is on numbers.
#include <string.h>

#include "elements_read.h"
#include "ops.h"

typedef int32_t accept_fn(hxs_build *build, hx_cuda_what_t *what);

static int32_t accept_linear(hxs_build *build, hx_cuda_what_t *what) {
  HXS_TRY(hxs_accept_linear(build, what->kind == HX_CUDA_ELEMENT_NEG ? 1 : 2, false));
  what->lazy = build->prepared->results[0].repr == HX_LAZY;
  return HX_OK;
}

static int32_t accept_plain(hxs_build *build, hx_cuda_what_t *what) {
  what->first_only = true;
  return hxs_accept_linear(build, 2, true);
}

static int32_t accept_reduce(hxs_build *build, hx_cuda_what_t *what) {
  (void)what;
  return hxs_accept_reduce(build);
}

static int32_t accept_product(hxs_build *build, hx_cuda_what_t *what) {
  return hxs_accept_product(build, what->kind == HX_CUDA_ELEMENT_MUL ? 2 : 3, HX_STANDARD, false);
}

static int32_t accept_plain_product(hxs_build *build, hx_cuda_what_t *what) {
  (void)what;
  return hxs_accept_product(build, 2, HX_STANDARD, true);
}

static int32_t accept_parts(hxs_build *build, hx_cuda_what_t *what, uint32_t parts) {
  what->has_constants = true;
  return hxs_accept_scalar(build, parts, &what->constants);
}

static int32_t accept_scalar(hxs_build *build, hx_cuda_what_t *what) { return accept_parts(build, what, 1); }
static int32_t accept_halves(hxs_build *build, hx_cuda_what_t *what) { return accept_parts(build, what, 2); }

// Other components get a constant of 0.
static int32_t accept_first_scalar(hxs_build *build, hx_cuda_what_t *what) {
  what->first_only = true;
  return accept_parts(build, what, 2);
}

static int32_t accept_integer(hxs_build *build, hx_cuda_what_t *what) {
  what->has_constants = true;
  return hxs_accept_integer(build, &what->constants);
}

static int32_t accept_to_montgomery(hxs_build *build, hx_cuda_what_t *what) {
  what->has_constants = true;
  return hxs_accept_montgomery(build, true, &what->constants);
}

static int32_t accept_from_montgomery(hxs_build *build, hx_cuda_what_t *what) {
  what->has_constants = true;
  return hxs_accept_montgomery(build, false, &what->constants);
}

static int32_t accept_montgomery_product(hxs_build *build, hx_cuda_what_t *what) {
  HXS_TRY(hxs_accept_product(build, 2, HX_MONTGOMERY, false));
  what->has_constants = true;
  return hx_cuda_montgomery_inverses(build, &what->constants);
}

static int32_t accept_sum(hxs_build *build, hx_cuda_what_t *what) {
  uint32_t terms = 0;
  (void)what;
  HXS_TRY(hxs_accept_weighted_sum(build, &terms));
  return build->prepared->result_count == 1
             ? HX_OK
             : hxs_refuse(build, HX_UNSUPPORTED, "has %u results; a region takes sums of one group",
                          build->prepared->result_count);
}

static const struct {
  const char *op;
  hx_cuda_element_kind_t kind;
  accept_fn *accept;
} elements[] = {
#define ELEMENT(op_, kind_, accept_) {op_, HX_CUDA_ELEMENT_##kind_, accept_},
#include "elements.def"
};

#define ELEMENT_COUNT (sizeof elements / sizeof elements[0])

static size_t element_of(const char *op) {
  size_t i = 0;
  while (i < ELEMENT_COUNT && strcmp(elements[i].op, op) != 0) {
    i++;
  }
  return i;
}

bool hx_cuda_element_known(const char *op) { return element_of(op) < ELEMENT_COUNT; }

int32_t hx_cuda_element_build(hxs_build *build) {
  hx_cuda_what_t *what = NULL;
  const size_t at = element_of(build->op->name);
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *what, &what));
  what->kind = elements[at].kind;
  build->prepared->plan = what;
  return elements[at].accept(build, what);
}
