// SPDX-License-Identifier: Apache-2.0
// The transition table of the ckks dialect: what each operation demands of its operands' state and what state its
// results have. Engine and compiler both go through it (hx_op_infer). Every operand has standard representation and
// lies on Q; plaintexts of rotate_weighted_sum lie on Q and P. Without a ring, what depends on the chain stays unknown.
//
// operation            domain in      depth    scale                components   domain out
// add sub              equal          equal    equal                equal        same
// add_plain sub_plain  ntt            equal    equal                any          ntt
// neg mul_integer      any            -        same                 any          same
// mul_plain            ntt            equal    product              any          ntt
// mul, square          ntt            equal    product              2 to 3       ntt
// add_scalar           ntt            -        same                 any          ntt
// mul_scalar           ntt            -        times the constant's any          ntt
// sum                  any            -        same                 any          same
// weighted_sum         ntt            equal    equal products       equal        ntt
// relinearize          any            -        same                 3 to 2       output_domain
// rescale              any            +1       over the group       any          output_domain
// level_drop           any            grows    same                 any          same
// reinterpret_scale    any            -        as given             any          same
// to_ntt, from_ntt     the other      -        same                 any          named
// key_switch, rotate, rotate_many, conjugate   any, same scale, 2 components, output_domain
// rotate_weighted_sum  any; ntt       equal    product              2            ntt
// rotate_sum           equal          equal    equal                2            ntt
// encode, encrypt, decrypt, prepare_plain      any, ntt out
#ifndef HELIOX_CORE_CKKS_TRANSITION_H
#define HELIOX_CORE_CKKS_TRANSITION_H

#include "core/ops/infer.h"

// Steps that need a key: those that are not 0 modulo slots, reduced to [1, slots), each once, in order of first use.
// This is the order of key operands of rotate_many, rotate_weighted_sum and rotate_sum. slots is a power of two up to
// 2^16; out_steps (may be NULL: count only) has room for min(count, slots - 1). Returns the count.
size_t hx_rotation_steps(const hx_attribute_t *steps, size_t count, uint32_t slots, uint32_t *out_steps);
// step modulo slots, in [0, slots).
uint32_t hx_rotation_reduce(int64_t step, uint32_t slots);

// What every hook starts with: operand `index` as a ciphertext, or as a plaintext on a basis (0: Q or QP).
hx_status_t hx_ckks_load(const hx_infer_t *call, size_t index, hx_state_t *out);
hx_status_t hx_ckks_load_plain(const hx_infer_t *call, size_t index, uint32_t basis, hx_state_t *out);
// Parts that operands of one operation share.
#define HX_CKKS_ALIKE (HX_KNOWN_DEPTH | HX_KNOWN_SLOTS | HX_KNOWN_PRIMES | HX_KNOWN_DOMAIN | HX_KNOWN_BATCH)
// The state becomes a result.
void hx_ckks_finish(hx_infer_t *call, size_t result, const hx_state_t *state);
// Scale times another's; unknown if either is.
hx_status_t hx_ckks_scale_by(const hx_infer_t *call, hx_state_t *state, const hx_type_t *factor);
// Another depth: the rows follow it.
void hx_ckks_set_depth(hx_state_t *state, uint32_t depth);
// Domain of attribute output_domain, default ntt.
void hx_ckks_set_output_domain(const hx_infer_t *call, hx_state_t *state);

#endif
