// SPDX-License-Identifier: Apache-2.0
/// @file
/// Programs as tables: what `heliox emit --as backend-c` writes. A program of this form is linked without text and
/// without passes: it is lowered, its types are complete, and every operation names its implementation.
/// The numbers in the tables are those of one version of the library; another one refuses them.
#ifndef HELIOX_PRECOMPILED_H
#define HELIOX_PRECOMPILED_H

#include "heliox/file.h"
#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A type. Counts are 0 and pointers NULL for what the kind does not have.
typedef struct hx_precompiled_type {
  uint32_t kind, known, dtype, basis, domain, repr, components, depth, slots;
  uint32_t batch_rank;
  uint64_t batch_shape[4];
  const uint32_t *primes;  ///< [prime_count] ids
  uint32_t prime_count;
  uint64_t scale_m[4];
  int64_t scale_e;
  const int64_t *scale_terms;  ///< [scale_term_count][2] id, exponent
  uint32_t scale_term_count;
  uint32_t key_kind;
  uint64_t element, count;
  uint32_t is_complex, bits, signedness;
  const char *name;
} hx_precompiled_type_t;

/// An attribute, or an element of a list (then without a name).
typedef struct hx_precompiled_attr {
  const char *name;
  uint32_t kind;
  uint32_t boolean;
  int64_t integer;
  double number;
  const char *text;
  uint32_t type;  ///< index of a type plus one; 0: none
  uint32_t count;
  const struct hx_precompiled_attr *items;  ///< [count] of a list or dictionary
  uint32_t input_count, result_count;       ///< of a function's type
  const uint32_t *types;                    ///< [input_count + result_count] indices
} hx_precompiled_attr_t;

struct hx_precompiled_op;
/// A region's block.
typedef struct hx_precompiled_block {
  uint32_t argument_count, op_count;
  const uint32_t *arguments;  ///< values
  const struct hx_precompiled_op *ops;
} hx_precompiled_block_t;

/// An operation. Values are numbered through the whole program.
typedef struct hx_precompiled_op {
  const char *name;
  uint32_t line, operand_count, result_count, attr_count, region_count;
  const uint32_t *operands, *results;
  const hx_precompiled_attr_t *attrs;
  const hx_precompiled_block_t *regions;
} hx_precompiled_op_t;

typedef struct hx_precompiled {
  const char *version;        ///< hx_version() of the library that wrote it
  const char *source;         ///< name for faults
  const char *params_digest;  ///< 64 digits
  const hx_precompiled_type_t *types;
  const uint32_t *value_types;     ///< [value_count] indices
  const char *const *value_names;  ///< [value_count] without %; NULL: none
  uint32_t type_count, value_count;
  hx_precompiled_op_t module;
} hx_precompiled_t;

/// Links such a program. `materials` are what its symbols stand for; keys as for hx_compilation_bind_keys.
/// Refused: another version of the library (file-version), other parameters (params-digest), a backend without one of
/// the implementations (implementation), whatever hx_link refuses.
/// @param keys NULL: none
HX_API HX_MUST_USE hx_status_t hx_precompiled_link(const hx_precompiled_t *program, const hx_params_t *params,
                                                   const hx_backend_t *backend, const hx_keys_t *keys,
                                                   const hx_named_value_t *materials, size_t material_count,
                                                   hx_executable_t **out, hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
