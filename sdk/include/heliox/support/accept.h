// SPDX-License-Identifier: Apache-2.0
// What operations accept: counts, operands, results and attributes of each, in one place for all plugins. Every
// function is for a build function; it refuses what the operation does not take, allows aliases, and gives the
// attributes as values. (Operations between bases are in base.h, copies of rows in rowmap.h.)
//
// Views may be changed: an operand without batch or of one component repeats through strides of 0.
#ifndef HELIOX_SUPPORT_ACCEPT_H
#define HELIOX_SUPPORT_ACCEPT_H

#include "heliox/support/prepare.h"

#ifdef __cplusplus
extern "C" {
#endif

// ntt.forward, ntt.inverse: one operand and one result alike but for their domains. In place.
int32_t hxs_accept_transform(const hxs_build *build, uint32_t from, uint32_t to);
// rns.add, rns.sub (two operands), rns.neg (one) and ckks'; plain: the second operand has one component, which meets
// the result's first. Standard or lazy, in Montgomery form as well. In place on operand 0.
int32_t hxs_accept_linear(const hxs_build *build, uint32_t operands, bool plain);
// rns.reduce: words of any form to standard residues. In place.
int32_t hxs_accept_reduce(const hxs_build *build);
// rns.mul (two), rns.mul_add (three), rns.mul_montgomery by `repr`; plain: the second operand has one component, for
// all. In place on operand 0.
int32_t hxs_accept_product(const hxs_build *build, uint32_t operands, uint32_t repr, bool plain);
// ckks.mul (two operands), ckks.square (one): two components to three.
int32_t hxs_accept_tensor(const hxs_build *build, uint32_t operands);
// rns.automorphism: *out_element is odd and below 2n.
int32_t hxs_accept_automorphism(const hxs_build *build, uint32_t *out_element);
// rns.expand_uniform: operand 0 is a seed.
int32_t hxs_accept_expand(const hxs_build *build, uint32_t *out_index);
// rns.center_lift of signed words (operand 0 has dtype HX_I64); of residues it is hxs_base_lift_limb.
int32_t hxs_accept_lift_words(const hxs_build *build);

// Constants of a row, `parts` for as many equal parts of it: residues[limb * parts + part], as long as the prepared
// object. In place.
typedef struct hxs_constants {
  uint32_t parts;      // of a row
  uint64_t *residues;  // by limb and part
} hxs_constants;
// rns.mul_scalar, rns.add_scalar (one part), ckks.mul_scalar, ckks.add_scalar (two): attribute residues.
int32_t hxs_accept_scalar(const hxs_build *build, uint32_t parts, hxs_constants *out);
// ckks.mul_integer: attribute integer.
int32_t hxs_accept_integer(const hxs_build *build, hxs_constants *out);
// rns.to_montgomery (into): 2^w, rns.from_montgomery: 2^-w, w the ring's word.
int32_t hxs_accept_montgomery(const hxs_build *build, bool into, hxs_constants *out);

// rns.sum, ckks.sum: the operand loses the axis; its places are `count` items, `stride` elements apart.
typedef struct hxs_sum {
  uint64_t count;   // items of the axis
  uint64_t stride;  // in elements
} hxs_sum;
// Checks operand, axis and result.
int32_t hxs_accept_sum(const hxs_build *build, hxs_sum *out);
// rns.weighted_sum, ckks.weighted_sum: operands are *out_terms values, then as many weights for each result in turn.
int32_t hxs_accept_weighted_sum(const hxs_build *build, uint32_t *out_terms);

// Operand `operand` as a switching key: two components in ntt domain, standard, no batch, at least `digits` digits, a
// row for each of `ids`. *out_limbs is the key's limb of each, as long as the prepared object.
int32_t hxs_accept_key(const hxs_build *build, uint32_t operand, uint32_t digits, uint32_t count, const uint32_t *ids,
                       uint32_t **out_limbs);
// rns.key_product: digit, key and, where there is a third operand, what is added; in place on that one.
typedef struct hxs_key_product {
  uint64_t digit_offset;  // elements from the key's start
  uint32_t *key_limbs;    // of each row of the result
} hxs_key_product;
// Checks operands and result.
int32_t hxs_accept_key_product(const hxs_build *build, hxs_key_product *out);

// Attribute output_domain, ntt where it is absent, is the domain of a result.
int32_t hxs_accept_output(const hxs_build *build, const hxs_view *out);
// The size of the depth group that the last rows of a ciphertext on the first primes of Q are; the base is none.
int32_t hxs_accept_last_group(const hxs_build *build, const hxs_view *view, uint32_t *out_count);

#ifdef __cplusplus
}
#endif

#endif
