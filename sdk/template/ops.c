/* SPDX-License-Identifier: Apache-2.0 */
/* The list of operations, and what their checks share: reading attributes, asking for states. The semantics are those
 * of the operation catalogue (`heliox ops`); every result is exact, so that all plugins agree bit for bit. */
#include "ops.h"

#include <string.h>

/* ------------------------------------------------------------------ attributes */

const hx_attr *find_attr(const build *b, const char *name) {
  uint32_t i;
  for (i = 0; i < b->op->attr_count; ++i) {
    const hx_attr *attr =
        (const hx_attr *)((const char *)b->op->attrs + (size_t)((b->op->attrs->struct_size + 7u) & ~7u) * i);
    if (strcmp(attr->name, name) == 0) return attr;
  }
  return NULL;
}

int32_t need_attr(const build *b, const char *name, uint32_t kind, const hx_attr **out) {
  const hx_attr *attr = find_attr(b, name);
  if (attr == NULL || attr->kind != kind || attr->count == 0 || attr->data == NULL)
    return fail(b->error, HX_INVALID, "%s: attribute %s is missing, empty or of another kind", b->op->name, name);
  *out = attr;
  return HX_OK;
}

/* One number in [low, high]. */
int32_t read_number(const build *b, const char *name, int64_t low, int64_t high, int64_t *out) {
  const hx_attr *attr = NULL;
  TRY(need_attr(b, name, HX_ATTR_I64, &attr));
  *out = *(const int64_t *)attr->data;
  if (attr->count != 1 || *out < low || *out > high)
    return fail(b->error, HX_INVALID, "%s: attribute %s is %lld, must be one number from %lld to %lld", b->op->name,
                name, (long long)*out, (long long)low, (long long)high);
  return HX_OK;
}

/* Ascending prime ids. */
int32_t read_ids(const build *b, const char *name) {
  hx_prepared *prepared = b->prepared;
  const int64_t primes = (int64_t)prepared->tables->q_count + prepared->tables->p_count;
  const hx_attr *attr = NULL;
  const int64_t *ids;
  uint32_t i;
  TRY(need_attr(b, name, HX_ATTR_I64, &attr));
  ids = (const int64_t *)attr->data;
  for (i = 0; i < attr->count; ++i) {
    if (ids[i] < 0 || ids[i] >= primes || (i > 0 && ids[i] <= ids[i - 1]))
      return fail(b->error, HX_INVALID, "%s: attribute %s has prime %lld; ids ascend and the ring has %lld primes",
                  b->op->name, name, (long long)ids[i], (long long)primes);
    prepared->ids[i] = (uint32_t)ids[i]; /* ascending and in range: no more than the ring has */
  }
  prepared->id_count = attr->count;
  return HX_OK;
}

int is_text(const hx_attr *attr, const char *text) {
  return attr->kind == HX_ATTR_TEXT && attr->count == strlen(text) && memcmp(attr->data, text, attr->count) == 0;
}

int32_t read_rounding(const build *b) {
  const hx_attr *attr = NULL;
  TRY(need_attr(b, "rounding", HX_ATTR_TEXT, &attr));
  b->prepared->truncating = is_text(attr, "truncating");
  if (!b->prepared->truncating && !is_text(attr, "nearest"))
    return fail(b->error, HX_INVALID, "%s: attribute rounding must be nearest or truncating", b->op->name);
  return HX_OK;
}

/* ------------------------------------------------------------------ states */

/* A tensor of residues with exactly this state; 0 leaves components, domain or repr open. */
int32_t want(const build *b, const tensor *t, uint32_t components, uint32_t domain, uint32_t repr, uint32_t id_count,
             const uint32_t *ids) {
  const char *what = t == &b->prepared->result ? "the result" : "an operand";
  if (t->domain == 0) return fail(b->error, HX_INVALID, "%s: %s has no residues", b->op->name, what);
  if ((components != 0 && t->components != components) || (domain != 0 && t->domain != domain) ||
      (repr != 0 && t->repr != repr))
    return fail(b->error, HX_INVALID,
                "%s: %s has %u components, domain %u, representation %u; must have %u, %u, %u (0: any)", b->op->name,
                what, (unsigned)t->components, (unsigned)t->domain, (unsigned)t->repr, (unsigned)components,
                (unsigned)domain, (unsigned)repr);
  if (t->limbs != id_count || memcmp(t->ids, ids, id_count * sizeof *ids) != 0)
    return fail(b->error, HX_INVALID, "%s: %s has %u rows; must have %u, of the primes that the operation gives",
                b->op->name, what, (unsigned)t->limbs, (unsigned)id_count);
  return HX_OK;
}

int32_t want_like(const build *b, const tensor *t, const tensor *model, uint32_t domain, uint32_t repr) {
  return want(b, t, model->components, domain, repr, model->limbs, model->ids);
}

const prime *prime_at(const job *j, uint32_t limb) {
  return &j->prepared->tables->primes[j->prepared->result.ids[limb]];
}

/* ------------------------------------------------------------------ the list; the manifest declares the same */

const row_op row_ops[] = {
    {"ntt.forward", 1, "", 1, check_forward, run_forward},
    {"ntt.inverse", 1, "", 1, check_inverse, run_inverse},
    {"rns.add", 2, "", 1, check_linear, run_add},
    {"rns.sub", 2, "", 1, check_linear, run_sub},
    {"rns.neg", 1, "", 1, check_linear, run_neg},
    {"rns.mul", 2, "", 1, check_product, run_mul},
    {"rns.mul_add", 3, "", 1, check_product, run_mul_add},
    {"rns.mul_scalar", 1, "residues ", 1, check_scalar, run_mul_scalar},
    {"rns.add_scalar", 1, "residues ", 1, check_scalar, run_add_scalar},
    {"rns.reduce", 1, "", 1, check_reduce, run_reduce},
    {"rns.center_lift", 1, "ids ", 0, check_center_lift, run_center_lift},
    {"rns.mod_up", 1, "digit ", 0, check_mod_up, run_mod_up},
    {"rns.mod_down", 1, "rounding drop ", 0, check_mod_down, run_mod_down},
    {"rns.rescale", 1, "rounding count ", 0, check_rescale, run_rescale},
    {"rns.automorphism", 1, "element ", 0, check_automorphism, run_automorphism},
    {"rns.expand_uniform", 1, "index ids ", 0, check_expand_uniform, run_expand_uniform},
};
const uint32_t row_op_count = sizeof row_ops / sizeof *row_ops;
