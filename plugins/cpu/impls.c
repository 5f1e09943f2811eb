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

const hx_cpu_impl_row_t hx_cpu_impl_rows[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) \
  {build_, attributes_, others_, DOMAINS_##domains_, in_place_},
#include "impls.def"
};

static const hx_impl impls[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) \
  {HX_END_OF(hx_impl, destroy), signature_, "cpu", op_, hx_cpu_prepare, hx_cpu_execute, hx_cpu_destroy},
#include "impls.def"
};

const hx_impl *const hx_cpu_impls[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) &impls[ROW_##id_],
#include "impls.def"
};

const uint32_t hx_cpu_impl_count = ROW_COUNT;
