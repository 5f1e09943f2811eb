// SPDX-License-Identifier: Apache-2.0
// The two functions of every routine; execute.c has the table. Private to reference/.
#ifndef HELIOX_REFERENCE_ROUTINES_H
#define HELIOX_REFERENCE_ROUTINES_H

#include "reference/chain.h"

enum {  // variants of the routines that share functions
  HX_REF_ADD,
  HX_REF_SUB,
  HX_REF_NEG,
  HX_REF_MUL,
  HX_REF_MUL_ADD,
  HX_REF_TO_MONTGOMERY,
  HX_REF_FROM_MONTGOMERY,
  HX_REF_MUL_MONTGOMERY,
  HX_REF_WHOLE,  // the ckks form of a routine that rns has too
  HX_REF_CONJUGATE,
  HX_REF_ROTATE
};

#define HX_REF_ROUTINE(name_)                      \
  int32_t hx_ref_check_##name_(hx_ref_call *call); \
  void hx_ref_run_##name_(const hx_ref_call *call, uint64_t item)

// op_transform.c
HX_REF_ROUTINE(forward);
HX_REF_ROUTINE(inverse);
HX_REF_ROUTINE(to_domain);
HX_REF_ROUTINE(automorphism);
HX_REF_ROUTINE(expand_uniform);
HX_REF_ROUTINE(constant);
// op_pointwise.c
HX_REF_ROUTINE(linear);
HX_REF_ROUTINE(product);
HX_REF_ROUTINE(scalar);
HX_REF_ROUTINE(reduce);
HX_REF_ROUTINE(montgomery);
// op_sum.c
HX_REF_ROUTINE(sum);
HX_REF_ROUTINE(weighted_sum);
// op_basis.c
HX_REF_ROUTINE(center_lift);
HX_REF_ROUTINE(mod_up);
HX_REF_ROUTINE(mod_down);
HX_REF_ROUTINE(rescale);
HX_REF_ROUTINE(mixed_radix);
HX_REF_ROUTINE(extend_exact);
// op_plain.c
HX_REF_ROUTINE(prepare_plain);
// op_view.c
HX_REF_ROUTINE(select_limbs);
HX_REF_ROUTINE(concat_limbs);
HX_REF_ROUTINE(select_components);
HX_REF_ROUTINE(pack_components);
HX_REF_ROUTINE(level_drop);
HX_REF_ROUTINE(copy);
// op_ckks.c
HX_REF_ROUTINE(ckks_linear);
HX_REF_ROUTINE(ckks_plain);
HX_REF_ROUTINE(ckks_scalar);
HX_REF_ROUTINE(ckks_integer);
HX_REF_ROUTINE(ckks_multiply);
HX_REF_ROUTINE(ckks_rescale);
// op_key.c
HX_REF_ROUTINE(key_product);
HX_REF_ROUTINE(relinearize);
HX_REF_ROUTINE(key_switch);
// op_rotate.c
HX_REF_ROUTINE(rotate);
HX_REF_ROUTINE(rotate_many);
HX_REF_ROUTINE(rotate_sum);
HX_REF_ROUTINE(rotate_weighted_sum);

#endif
