// SPDX-License-Identifier: Apache-2.0
// What the inference hooks share: the state of a result while its operands are gathered part by part, and the faults
// that name operand, both states and the fix. Used by the hooks beside this file and by core/ckks/transition*.c.
#ifndef HELIOX_CORE_OPS_INFER_H
#define HELIOX_CORE_OPS_INFER_H

#include "core/ops/ops.h"
#include "core/ops/parts.h"

// Parts known so far, and for each the operand that it came from.
typedef struct hx_state {
  hx_type_t type;
  size_t from[HX_PART_COUNT];
} hx_state_t;

// State of operand `index` as a value of `kind`: the parts that both kinds have. What follows from known parts (and the
// ring) is filled in. An operand of kind TENSOR that is a ciphertext or plaintext has the ring's dtype.
void hx_state_load(const hx_infer_t *call, size_t index, hx_type_kind_t kind, hx_state_t *out);
// Joins the parts (HX_KNOWN_ bits) of `other` into `state`: known in both, they must be equal; known in one, they are
// taken from it. Batch: equal, or one has none. Order of comparison: depth first, then what depends on it, the scale
// last.
hx_status_t hx_state_join(const hx_infer_t *call, hx_state_t *state, const hx_state_t *other, uint32_t parts);
// Components: equal, or one has a single component, which is used for all.
hx_status_t hx_state_join_broadcast(const hx_infer_t *call, hx_state_t *state, const hx_state_t *other);
// The part has to be `value`; unknown becomes known. Parts stored as words only (not batch, scale, primes).
hx_status_t hx_state_want(const hx_infer_t *call, hx_state_t *state, hx_part_t part, uint32_t value);
// Sets the result's prime rows and, where the ring is known, the basis; forgets the basis otherwise.
void hx_state_set_rows(const hx_infer_t *call, hx_state_t *state, const hx_primes_t *primes);

// Name of an operand, "b" or "terms[2]".
const char *hx_infer_operand_name(const hx_infer_t *call, size_t index, char out_name[HX_NAME_MAX]);
// Tells the first fault of an inner report as this call's, after `what` ("attribute scale"). Returns its code's status.
hx_status_t hx_infer_retell(const hx_infer_t *call, const hx_report_t *inner, hx_code_t fallback, const char *what);
// Value of an integer attribute, or `fallback`.
int64_t hx_infer_integer(const hx_infer_t *call, const char *name, int64_t fallback);
// Set of ids in an attribute that passed its rule.
hx_primes_t hx_infer_ids(const hx_attribute_t *list);
bool hx_primes_contain(const hx_primes_t *set, const hx_primes_t *part);
// The results have to be `count`; `what` says why ("one a step").
hx_status_t hx_infer_want_results(const hx_infer_t *call, size_t count, const char *what);
// The key operand, where present and known, has to be of one of these kinds (bits 1 << HX_KEY_...).
hx_status_t hx_infer_want_key(const hx_infer_t *call, size_t index, uint32_t kinds, const char *what);
// Splits operands into T values and G * T weights: needs T >= 1. `extra` operands stand before them.
hx_status_t hx_infer_split_terms(const hx_infer_t *call, size_t groups, size_t *out_terms);

#endif
