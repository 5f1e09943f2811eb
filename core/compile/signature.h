// SPDX-License-Identifier: Apache-2.0
// Signatures of calls: what of the arguments decides which specialization fits.
#ifndef HELIOX_CORE_COMPILE_SIGNATURE_H
#define HELIOX_CORE_COMPILE_SIGNATURE_H

#include "core/base/text.h"
#include "core/ckks/value.h"
#include "heliox/callable.h"

typedef struct hx_signature_argument {
  hx_type_t type;
  hx_layout_t layout;
  const void *device;  // owner of its memory; only compared
  bool secret;
  bool is_static;  // then the number counts
  int64_t number;
} hx_signature_argument_t;

struct hx_signature {
  uint64_t hash;
  size_t count;
  hx_signature_argument_t *arguments;
  hx_text_t text;  // of the last type asked for
};

// Hash of a call. is_static: [count], or NULL where none is. Allocates nothing.
uint64_t hx_signature_hash(const hx_value_t *const *values, const bool *is_static, size_t count);
// True if a call with this hash has the signature.
bool hx_signature_fits(const hx_signature_t *signature, uint64_t hash, const hx_value_t *const *values);
hx_status_t hx_signature_create(const hx_value_t *const *values, const bool *is_static, size_t count,
                                hx_signature_t **out);
void hx_signature_release(hx_signature_t *signature);
// "(TYPE, TYPE, 3)"
void hx_signature_print(const hx_signature_t *signature, hx_text_t *out);

#endif
