// SPDX-License-Identifier: Apache-2.0
// The build functions, one for each row of impls.def.
#ifndef HX_CPU_OPS_H
#define HX_CPU_OPS_H

#include "heliox/support/accept.h"
#include "prepare.h"

#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) hxs_build_fn build_;
#include "impls.def"

#endif
