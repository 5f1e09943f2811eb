// SPDX-License-Identifier: Apache-2.0
// Operations that copy whole rows: where each row of the result comes from.
#ifndef HELIOX_SUPPORT_ROWMAP_H
#define HELIOX_SUPPORT_ROWMAP_H

#include "heliox/support/prepare.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where a row comes from.
typedef struct hxs_source {
  uint32_t operand;    // its index
  uint32_t component;  // of the operand
  uint32_t limb;       // of the operand
} hxs_source;

// rns.select_limbs, rns.concat_limbs, rns.select_components, rns.pack_components: checks operands, result and
// attributes. *out is a source for each component and limb of result 0, limbs innermost; it lives as long as the
// prepared object.
int32_t hxs_rowmap_select_limbs(hxs_build *build, hxs_source **out);
// See hxs_rowmap_select_limbs.
int32_t hxs_rowmap_concat_limbs(hxs_build *build, hxs_source **out);
// See hxs_rowmap_select_limbs.
int32_t hxs_rowmap_select_components(hxs_build *build, hxs_source **out);
// See hxs_rowmap_select_limbs.
int32_t hxs_rowmap_pack_components(hxs_build *build, hxs_source **out);

#ifdef __cplusplus
}
#endif

#endif
