// SPDX-License-Identifier: Apache-2.0
// The registered implementations: impls.def and nothing else.
#include "ops.h"
#include "step.h"

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
  {HX_END_OF(hx_impl, destroy), signature_, "opencl", op_, hx_opencl_prepare, hx_opencl_execute, hxs_destroy},
#include "impls.def"
};

const hx_impl *const hx_opencl_impls[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) &impls[ROW_##id_],
#include "impls.def"
};

const hxs_plugin hx_opencl_plugin = {.name = "opencl",
                                     .rows = rows,
                                     .row_count = ROW_COUNT,
                                     .prepared_bytes = sizeof(hx_prepared),
                                     .ring_of = hx_opencl_tables_ring,
                                     .begin = hx_opencl_begin,
                                     .end = hx_opencl_steps_finish,
                                     .release = hx_opencl_release};
