// SPDX-License-Identifier: Apache-2.0
/// @file
/// The operation catalogue, for reading.
#ifndef HELIOX_OPS_H
#define HELIOX_OPS_H

#include "heliox/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One operation. All text is static.
typedef struct hx_op_description {
  const char *name;        ///< "ckks.add"
  uint32_t signature;      ///< version of the signature
  const char *tier;        ///< primitive, derived, whole, host, structure
  const char *effect;      ///< pure, random, mutating, collective
  const char *operands;    ///< "a: ciphertext, b: plaintext, key: key?"
  const char *results;     ///< as text
  const char *attributes;  ///< "step: i64, output_domain: domain?"
  const char *doc;         ///< one sentence
} hx_op_description_t;

/// Operations of the catalogue.
HX_API size_t hx_ops_count(void);
/// Row in catalogue order; NULL if out of range.
HX_API const hx_op_description_t *hx_ops_get(size_t index);
/// Version of the catalogue: raised when a row is added or a signature changes.
HX_API uint32_t hx_ops_version(void);

#ifdef __cplusplus
}
#endif
#endif
