/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on one row at a time: transforms and arithmetic element by element. A row is loaded before it is stored,
 * which is what makes `in_place` safe. */
#include "ops.h"

/* ------------------------------------------------------------------ ntt.forward, ntt.inverse */

static int32_t check_transform(build *b, uint32_t from, uint32_t to) {
  const tensor *a = &b->prepared->operands[0];
  b->prepared->scratch_rows = 1;
  TRY(want_like(b, a, a, from, HX_STANDARD));
  return want_like(b, &b->prepared->result, a, to, HX_STANDARD);
}

int32_t check_forward(build *b) { return check_transform(b, HX_COEFFICIENT, HX_NTT); }
int32_t check_inverse(build *b) { return check_transform(b, HX_NTT, HX_COEFFICIENT); }

void run_forward(const job *j) {
  uint64_t *row = job_row(j, 0);
  uint32_t limb;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    job_load(j, 0, limb, row);
    ntt_forward(j->prepared->tables, prime_at(j, limb), row);
    job_store(j, limb, row);
  }
}

void run_inverse(const job *j) {
  uint64_t *row = job_row(j, 0);
  uint32_t limb;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    job_load(j, 0, limb, row);
    ntt_inverse(j->prepared->tables, prime_at(j, limb), row);
    job_store(j, limb, row);
  }
}

/* ------------------------------------------------------------------ rns.add, sub, neg: standard, or lazy mod 2q */

int32_t check_linear(build *b) {
  hx_prepared *prepared = b->prepared;
  const tensor *a = &prepared->operands[0];
  uint32_t i;
  prepared->scratch_rows = 2;
  if (a->repr == HX_MONTGOMERY)
    return fail(b->error, HX_INVALID, "%s: operand 0 is montgomery, must be standard or lazy", b->op->name);
  for (i = 0; i < prepared->operand_count; ++i) TRY(want_like(b, &prepared->operands[i], a, a->domain, a->repr));
  return want_like(b, &prepared->result, a, a->domain, a->repr);
}

static uint64_t linear_modulus(const job *j, uint32_t limb) {
  const uint64_t q = prime_at(j, limb)->q;
  return j->prepared->result.repr == HX_LAZY ? 2 * q : q;
}

void run_add(const job *j) {
  uint64_t *a = job_row(j, 0), *b = job_row(j, 1);
  uint32_t limb, k;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    const uint64_t m = linear_modulus(j, limb);
    job_load(j, 0, limb, a);
    job_load(j, 1, limb, b);
    for (k = 0; k < j->prepared->tables->n; ++k) a[k] = mod_add(a[k], b[k], m);
    job_store(j, limb, a);
  }
}

void run_sub(const job *j) {
  uint64_t *a = job_row(j, 0), *b = job_row(j, 1);
  uint32_t limb, k;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    const uint64_t m = linear_modulus(j, limb);
    job_load(j, 0, limb, a);
    job_load(j, 1, limb, b);
    for (k = 0; k < j->prepared->tables->n; ++k) a[k] = mod_sub(a[k], b[k], m);
    job_store(j, limb, a);
  }
}

void run_neg(const job *j) {
  uint64_t *a = job_row(j, 0);
  uint32_t limb, k;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    const uint64_t m = linear_modulus(j, limb);
    job_load(j, 0, limb, a);
    for (k = 0; k < j->prepared->tables->n; ++k) a[k] = mod_neg(a[k], m);
    job_store(j, limb, a);
  }
}

/* ------------------------------------------------------------------ rns.mul, mul_add: a factor of one component serves
 * all components of the other */

int32_t check_product(build *b) {
  hx_prepared *prepared = b->prepared;
  const tensor *result = &prepared->result;
  const uint32_t first = prepared->operand_count - 2; /* of the factors; before it the accumulator */
  uint32_t i, most = 1;
  prepared->scratch_rows = 3;
  for (i = 0; i < prepared->operand_count; ++i) {
    const tensor *a = &prepared->operands[i];
    const uint32_t components = i >= first && a->components == 1 ? 1 : result->components;
    TRY(want(b, a, components, result->domain, HX_STANDARD, result->limbs, result->ids));
    if (i >= first && a->components > most) most = a->components;
  }
  return want(b, result, most, result->domain, HX_STANDARD, result->limbs, result->ids);
}

void run_mul(const job *j) {
  uint64_t *a = job_row(j, 0), *b = job_row(j, 1);
  uint32_t limb, k;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    const uint64_t q = prime_at(j, limb)->q;
    job_load(j, 0, limb, a);
    job_load(j, 1, limb, b);
    for (k = 0; k < j->prepared->tables->n; ++k) a[k] = mod_mul(a[k], b[k], q);
    job_store(j, limb, a);
  }
}

void run_mul_add(const job *j) {
  uint64_t *sum = job_row(j, 0), *a = job_row(j, 1), *b = job_row(j, 2);
  uint32_t limb, k;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    const uint64_t q = prime_at(j, limb)->q;
    job_load(j, 0, limb, sum);
    job_load(j, 1, limb, a);
    job_load(j, 2, limb, b);
    for (k = 0; k < j->prepared->tables->n; ++k) sum[k] = mod_add(sum[k], mod_mul(a[k], b[k], q), q);
    job_store(j, limb, sum);
  }
}

/* ------------------------------------------------------------------ rns.mul_scalar, add_scalar: one constant a row */

int32_t check_scalar(build *b) {
  hx_prepared *prepared = b->prepared;
  const tensor *a = &prepared->operands[0];
  const hx_attr *attr = NULL;
  uint32_t limb;
  prepared->scratch_rows = 1;
  TRY(want_like(b, a, a, a->domain, HX_STANDARD));
  TRY(want_like(b, &prepared->result, a, a->domain, HX_STANDARD));
  TRY(need_attr(b, "residues", HX_ATTR_U64, &attr));
  if (attr->count != a->limbs)
    return fail(b->error, HX_INVALID, "%s: attribute residues has %u words for %u rows", b->op->name,
                (unsigned)attr->count, (unsigned)a->limbs);
  for (limb = 0; limb < a->limbs; ++limb) {
    prepared->residues[limb] = ((const uint64_t *)attr->data)[limb];
    if (prepared->residues[limb] >= prepared->tables->primes[a->ids[limb]].q)
      return fail(b->error, HX_INVALID, "%s: word %u of attribute residues is not below its prime", b->op->name,
                  (unsigned)limb);
  }
  return HX_OK;
}

void run_mul_scalar(const job *j) {
  uint64_t *a = job_row(j, 0);
  uint32_t limb, k;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    const uint64_t q = prime_at(j, limb)->q;
    const factor constant = factor_of(j->prepared->residues[limb], q);
    job_load(j, 0, limb, a);
    for (k = 0; k < j->prepared->tables->n; ++k) a[k] = mod_mul_factor(a[k], constant, q);
    job_store(j, limb, a);
  }
}

void run_add_scalar(const job *j) {
  uint64_t *a = job_row(j, 0);
  uint32_t limb, k;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    const uint64_t q = prime_at(j, limb)->q, constant = j->prepared->residues[limb];
    job_load(j, 0, limb, a);
    for (k = 0; k < j->prepared->tables->n; ++k) a[k] = mod_add(a[k], constant, q);
    job_store(j, limb, a);
  }
}

/* ------------------------------------------------------------------ rns.reduce: any word to its residue */

int32_t check_reduce(build *b) {
  const tensor *a = &b->prepared->operands[0];
  b->prepared->scratch_rows = 1;
  if (a->repr == HX_MONTGOMERY)
    return fail(b->error, HX_INVALID, "%s: operand 0 is montgomery, must be standard or lazy", b->op->name);
  TRY(want_like(b, a, a, a->domain, a->repr));
  return want_like(b, &b->prepared->result, a, a->domain, HX_STANDARD);
}

void run_reduce(const job *j) {
  uint64_t *a = job_row(j, 0);
  uint32_t limb, k;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    const uint64_t q = prime_at(j, limb)->q;
    job_load(j, 0, limb, a);
    for (k = 0; k < j->prepared->tables->n; ++k) a[k] %= q;
    job_store(j, limb, a);
  }
}
