// SPDX-License-Identifier: Apache-2.0
// The registered implementations: impls.def and nothing else.
#include "elements.h"
#include "ops.h"

enum {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) ROW_##id_,
#include "impls.def"
  ROW_COUNT
};

static const hxs_impl_row rows[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) \
  {op_, signature_, build_, attributes_, others_, HXS_DOMAINS_##domains_, in_place_},
#include "impls.def"
};

static const hx_impl impls[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) \
  {HX_END_OF(hx_impl, destroy), signature_, "cpu", op_, hx_cpu_prepare, hx_cpu_execute, hxs_destroy},
#include "impls.def"
};

const hx_impl *const hx_cpu_impls[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) &impls[ROW_##id_],
#include "impls.def"
};

const hxs_plugin hx_cpu_plugin = {.name = "cpu",
                                  .rows = rows,
                                  .row_count = ROW_COUNT,
                                  .prepared_bytes = sizeof(hx_prepared),
                                  .ring_of = hx_cpu_ring_of,
                                  .begin = hx_cpu_choose_kernels,
                                  .release = hx_cpu_elements_release};
