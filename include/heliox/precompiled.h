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
  uint32_t kind;               ///< ciphertext, plaintext, key, tensor, number, ..
  uint32_t known;              ///< bits of the parts that are stated
  uint32_t dtype;              ///< of elements
  uint32_t basis;              ///< of the primes
  uint32_t domain;             ///< ntt or coefficient
  uint32_t repr;               ///< representation of residues
  uint32_t components;         ///< polynomials
  uint32_t depth;              ///< depth
  uint32_t slots;              ///< slots
  uint32_t batch_rank;         ///< axes of the batch
  uint64_t batch_shape[4];     ///< their lengths
  const uint32_t *primes;      ///< [prime_count] ids
  uint32_t prime_count;        ///< limbs
  uint64_t scale_m[4];         ///< odd part of the scale, little-endian
  int64_t scale_e;             ///< its power of two
  const int64_t *scale_terms;  ///< [scale_term_count][2] id, exponent
  uint32_t scale_term_count;   ///< powers of primes in the scale
  uint32_t key_kind;           ///< of a key
  uint64_t element;            ///< Galois element of a key
  uint64_t count;              ///< values of a message
  uint32_t is_complex;         ///< of a message
  uint32_t bits;               ///< of a number
  uint32_t signedness;         ///< of a number
  const char *name;            ///< of a resource
} hx_precompiled_type_t;

/// An attribute, or an element of a list (then without a name).
typedef struct hx_precompiled_attr {
  const char *name;                         ///< attribute
  uint32_t kind;                            ///< which of the next it has
  uint32_t boolean;                         ///< a truth
  int64_t integer;                          ///< an integer
  double number;                            ///< a number
  const char *text;                         ///< a text or symbol
  uint32_t type;                            ///< index of a type plus one; 0: none
  uint32_t count;                           ///< of items
  const struct hx_precompiled_attr *items;  ///< [count] of a list or dictionary
  uint32_t input_count;                     ///< of a function type's inputs
  uint32_t result_count;                    ///< of a function's type
  const uint32_t *types;                    ///< [input_count + result_count] indices
} hx_precompiled_attr_t;

struct hx_precompiled_op;
/// A region's block.
typedef struct hx_precompiled_block {
  uint32_t argument_count;              ///< arguments
  uint32_t op_count;                    ///< operations
  const uint32_t *arguments;            ///< values
  const struct hx_precompiled_op *ops;  ///< in order
} hx_precompiled_block_t;

/// An operation. Values are numbered through the whole program.
typedef struct hx_precompiled_op {
  const char *name;                       ///< of the catalogue
  uint32_t line;                          ///< in the source; 0: none
  uint32_t operand_count;                 ///< operands
  uint32_t result_count;                  ///< results
  uint32_t attr_count;                    ///< attributes
  uint32_t region_count;                  ///< regions
  const uint32_t *operands;               ///< numbers of values
  const uint32_t *results;                ///< numbers of values
  const hx_precompiled_attr_t *attrs;     ///< attributes
  const hx_precompiled_block_t *regions;  ///< of one block each
} hx_precompiled_op_t;

/// A linked program as data of C, written by `emit --as backend-c`.
typedef struct hx_precompiled {
  const char *version;                 ///< hx_version() of the library that wrote it
  const char *source;                  ///< name for faults
  const char *params_digest;           ///< 64 digits
  const hx_precompiled_type_t *types;  ///< all types; values and attributes name them by number
  const uint32_t *value_types;         ///< [value_count] indices
  const char *const *value_names;      ///< [value_count] without %; NULL: none
  uint32_t type_count;                 ///< of types
  uint32_t value_count;                ///< values
  hx_precompiled_op_t module;          ///< the program
} hx_precompiled_t;                    ///< see hx_precompiled

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
