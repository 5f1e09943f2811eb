// SPDX-License-Identifier: Apache-2.0
// The registered implementations: impls.def and nothing else.
#include "ops.h"

enum {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) ROW_##id_,
#include "impls.def"
  ROW_COUNT
};

#define DOMAINS_NTT (1u << HX_NTT)
#define DOMAINS_COEFFICIENT (1u << HX_COEFFICIENT)
#define DOMAINS_ANY (DOMAINS_NTT | DOMAINS_COEFFICIENT)

const hx_cuda_impl_row_t hx_cuda_impl_rows[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) \
  {build_, attributes_, others_, DOMAINS_##domains_, in_place_},
#include "impls.def"
};

static const hx_impl impls[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) \
  {HX_END_OF(hx_impl, destroy), signature_, "cuda", op_, hx_cuda_prepare, hx_cuda_execute, hx_cuda_destroy},
#include "impls.def"
};

const hx_impl *const hx_cuda_impls[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) &impls[ROW_##id_],
#include "impls.def"
};

const uint32_t hx_cuda_impl_count = ROW_COUNT;
