/* SPDX-License-Identifier: Apache-2.0 */
/* The operations, two functions each: check reads attributes and refuses what does not fit, run computes one polynomial
 * and cannot fail. And what the checks share. */
#ifndef PLUGIN_OPS_H
#define PLUGIN_OPS_H

#include "plugin.h"

/* ops_element.c */
int32_t check_forward(build *b);
int32_t check_inverse(build *b);
int32_t check_linear(build *b);
int32_t check_product(build *b);
int32_t check_scalar(build *b);
int32_t check_reduce(build *b);
void run_forward(const job *j);
void run_inverse(const job *j);
void run_add(const job *j);
void run_sub(const job *j);
void run_neg(const job *j);
void run_mul(const job *j);
void run_mul_add(const job *j);
void run_mul_scalar(const job *j);
void run_add_scalar(const job *j);
void run_reduce(const job *j);

/* ops_basis.c */
int32_t check_center_lift(build *b);
int32_t check_mod_up(build *b);
int32_t check_mod_down(build *b);
int32_t check_rescale(build *b);
int32_t check_automorphism(build *b);
int32_t check_expand_uniform(build *b);
void run_center_lift(const job *j);
void run_mod_up(const job *j);
void run_mod_down(const job *j);
void run_rescale(const job *j);
void run_automorphism(const job *j);
void run_expand_uniform(const job *j);

/* An attribute by name, or NULL. */
const hx_attr *find_attr(const build *b, const char *name);
/* One that must be there, of a kind (HX_ATTR_), with at least one element. */
int32_t need_attr(const build *b, const char *name, uint32_t kind, const hx_attr **out);
/* One number in [low, high]. */
int32_t read_number(const build *b, const char *name, int64_t low, int64_t high, int64_t *out);
/* Ascending prime ids: into the prepared object. */
int32_t read_ids(const build *b, const char *name);
int is_text(const hx_attr *attr, const char *text);
/* Attribute rounding: into the prepared object. */
int32_t read_rounding(const build *b);

/* A tensor of residues with exactly this state; 0 leaves components, domain or repr open. */
int32_t want(const build *b, const tensor *t, uint32_t components, uint32_t domain, uint32_t repr, uint32_t id_count,
             const uint32_t *ids);
/* Components and rows as another tensor has them. */
int32_t want_like(const build *b, const tensor *t, const tensor *model, uint32_t domain, uint32_t repr);
/* The prime of a row of the result. */
const prime *prime_at(const job *j, uint32_t limb);

#endif
