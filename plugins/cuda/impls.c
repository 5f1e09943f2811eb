// SPDX-License-Identifier: Apache-2.0
// The registered implementations: impls.def, and ntt.forward and ntt.inverse for each row of variants.def.
#include "ops.h"
#include "variant.h"

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
  {HX_END_OF(hx_impl, destroy), signature_, "cuda", op_, hx_cuda_prepare, hx_cuda_execute, hxs_destroy},
#include "impls.def"
};

static const hx_impl pinned[] = {
#define VARIANT(id_, name_, radix_, path_)                                                                             \
  {HX_END_OF(hx_impl, destroy), 1, "cuda-" name_, "ntt.forward", hx_cuda_prepare_##id_, hx_cuda_execute, hxs_destroy}, \
      {HX_END_OF(hx_impl, destroy),                                                                                    \
       1,                                                                                                              \
       "cuda-" name_,                                                                                                  \
       "ntt.inverse",                                                                                                  \
       hx_cuda_prepare_##id_,                                                                                          \
       hx_cuda_execute,                                                                                                \
       hxs_destroy},
#include "variants.def"
};

const hx_impl *const hx_cuda_impls[] = {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) &impls[ROW_##id_],
#include "impls.def"
#define VARIANT(id_, name_, radix_, path_) &pinned[2 * HX_CUDA_VARIANT_##id_], &pinned[2 * HX_CUDA_VARIANT_##id_ + 1],
#include "variants.def"
};

const hxs_plugin hx_cuda_plugin = {.name = "cuda",
                                   .rows = rows,
                                   .row_count = ROW_COUNT,
                                   .prepared_bytes = sizeof(hx_prepared),
                                   .ring_of = hx_cuda_ring_of,
                                   .begin = hx_cuda_choose_variant,
                                   .end = hx_cuda_steps_finish,
                                   .release = hx_cuda_release};
