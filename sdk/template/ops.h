/* SPDX-License-Identifier: Apache-2.0 */
/* The operations: a build function each, which checks operands and attributes and says what to run. */
#ifndef PLUGIN_OPS_H
#define PLUGIN_OPS_H

#include "plugin.h"

/* ops_element.c */
hxs_build_fn build_forward, build_inverse;
hxs_build_fn build_add, build_sub, build_neg, build_reduce;
hxs_build_fn build_mul, build_mul_add, build_mul_scalar, build_add_scalar;

/* ops_basis.c */
hxs_build_fn build_center_lift, build_mod_up, build_mod_down, build_rescale;
hxs_build_fn build_automorphism, build_expand_uniform;

#endif
