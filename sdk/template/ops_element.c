/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on one row at a time: transforms and arithmetic element by element. A row is loaded before it is stored,
 * which is what makes `in_place` safe. */
#include "ops.h"

/* ------------------------------------------------------------------ ntt.forward, ntt.inverse */

static void run_forward(const job *j) {
  uint64_t *row = job_row(j, 0);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    job_load(j, 0, limb, row);
    ntt_forward(j->tables, job_prime(j, limb), row);
    job_store(j, limb, row);
  }
}

static void run_inverse(const job *j) {
  uint64_t *row = job_row(j, 0);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    job_load(j, 0, limb, row);
    ntt_inverse(j->tables, job_prime(j, limb), row);
    job_store(j, limb, row);
  }
}

static int32_t build_transform(hxs_build *b, uint32_t from, uint32_t to, run_fn *run) {
  HXS_TRY(hxs_accept_transform(b, from, to));
  runs(b, run, 1);
  return HX_OK;
}

int32_t build_forward(hxs_build *b) { return build_transform(b, HX_COEFFICIENT, HX_NTT, run_forward); }
int32_t build_inverse(hxs_build *b) { return build_transform(b, HX_NTT, HX_COEFFICIENT, run_inverse); }

/* ------------------------------------------------------------------ rns.add, sub, neg: standard, or lazy mod 2q */

static uint64_t linear_modulus(const job *j, uint32_t limb) {
  const uint64_t q = job_prime(j, limb)->m.q;
  return j->prepared->base.results[0].repr == HX_LAZY ? 2 * q : q;
}

static void run_add(const job *j) {
  uint64_t *a = job_row(j, 0), *b = job_row(j, 1);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    const uint64_t m = linear_modulus(j, limb);
    job_load(j, 0, limb, a);
    job_load(j, 1, limb, b);
    for (uint32_t k = 0; k < j->tables->n; ++k) a[k] = mod_add(a[k], b[k], m);
    job_store(j, limb, a);
  }
}

static void run_sub(const job *j) {
  uint64_t *a = job_row(j, 0), *b = job_row(j, 1);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    const uint64_t m = linear_modulus(j, limb);
    job_load(j, 0, limb, a);
    job_load(j, 1, limb, b);
    for (uint32_t k = 0; k < j->tables->n; ++k) a[k] = mod_sub(a[k], b[k], m);
    job_store(j, limb, a);
  }
}

static void run_neg(const job *j) {
  uint64_t *a = job_row(j, 0);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    const uint64_t m = linear_modulus(j, limb);
    job_load(j, 0, limb, a);
    for (uint32_t k = 0; k < j->tables->n; ++k) a[k] = mod_neg(a[k], m);
    job_store(j, limb, a);
  }
}

static int32_t build_linear(hxs_build *b, uint32_t operands, run_fn *run) {
  HXS_TRY(hxs_accept_linear(b, operands, false));
  runs(b, run, operands);
  return HX_OK;
}

int32_t build_add(hxs_build *b) { return build_linear(b, 2, run_add); }
int32_t build_sub(hxs_build *b) { return build_linear(b, 2, run_sub); }
int32_t build_neg(hxs_build *b) { return build_linear(b, 1, run_neg); }

/* ------------------------------------------------------------------ rns.reduce: any word to its residue */

static void run_reduce(const job *j) {
  uint64_t *a = job_row(j, 0);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    job_load(j, 0, limb, a);
    for (uint32_t k = 0; k < j->tables->n; ++k) a[k] %= job_prime(j, limb)->m.q;
    job_store(j, limb, a);
  }
}

int32_t build_reduce(hxs_build *b) {
  HXS_TRY(hxs_accept_reduce(b));
  runs(b, run_reduce, 1);
  return HX_OK;
}

/* ------------------------------------------------------------------ rns.mul, mul_add: a factor of one component serves
 * all components of the other */

static void run_mul(const job *j) {
  uint64_t *a = job_row(j, 0), *b = job_row(j, 1);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    const hxs_modulus *m = &job_prime(j, limb)->m;
    job_load(j, 0, limb, a);
    job_load(j, 1, limb, b);
    for (uint32_t k = 0; k < j->tables->n; ++k) a[k] = mod_mul_add(a[k], b[k], 0, m);
    job_store(j, limb, a);
  }
}

static void run_mul_add(const job *j) {
  uint64_t *sum = job_row(j, 0), *a = job_row(j, 1), *b = job_row(j, 2);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    const hxs_modulus *m = &job_prime(j, limb)->m;
    job_load(j, 0, limb, sum);
    job_load(j, 1, limb, a);
    job_load(j, 2, limb, b);
    for (uint32_t k = 0; k < j->tables->n; ++k) sum[k] = mod_mul_add(a[k], b[k], sum[k], m);
    job_store(j, limb, sum);
  }
}

/* The factors are the last two operands; one at least has all components. */
static int32_t build_product(hxs_build *b, uint32_t operands, run_fn *run) {
  hxs_prepared *p = b->prepared;
  hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_counts(b, operands, operands, 1, 1));
  HXS_TRY(hxs_expect_residues(b, out));
  HXS_TRY(hxs_expect_repr(b, out, HX_STANDARD));
  const uint32_t first = operands - 2;
  const bool single[2] = {p->operands[first].components == 1, p->operands[first + 1].components == 1};
  if (single[0] && single[1]) HXS_TRY(hxs_expect_components(b, out, 1));
  for (uint32_t i = 0; i < operands; ++i)
    HXS_TRY(i >= first && single[i - first] ? hxs_expect_factor(b, &p->operands[i], out)
                                            : hxs_expect_like(b, &p->operands[i], out));
  hxs_allow_alias(b, 0, 0);
  runs(b, run, operands);
  return HX_OK;
}

int32_t build_mul(hxs_build *b) { return build_product(b, 2, run_mul); }
int32_t build_mul_add(hxs_build *b) { return build_product(b, 3, run_mul_add); }

/* ------------------------------------------------------------------ rns.mul_scalar, add_scalar: one constant a row */

static void run_mul_scalar(const job *j) {
  uint64_t *a = job_row(j, 0);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    const prime *p = job_prime(j, limb);
    const hxs_factor constant = hxs_factor_of(&p->m, j->prepared->residues[limb]);
    job_load(j, 0, limb, a);
    for (uint32_t k = 0; k < j->tables->n; ++k) a[k] = mod_mul_factor(a[k], constant, p->m.q);
    job_store(j, limb, a);
  }
}

static void run_add_scalar(const job *j) {
  uint64_t *a = job_row(j, 0);
  for (uint32_t limb = 0; limb < job_limbs(j); ++limb) {
    const uint64_t q = job_prime(j, limb)->m.q, constant = j->prepared->residues[limb];
    job_load(j, 0, limb, a);
    for (uint32_t k = 0; k < j->tables->n; ++k) a[k] = mod_add(a[k], constant, q);
    job_store(j, limb, a);
  }
}

static int32_t build_scalar(hxs_build *b, run_fn *run) {
  hxs_constants constants;
  HXS_TRY(hxs_accept_scalar(b, 1, &constants));
  runs(b, run, 1)->residues = constants.residues;
  return HX_OK;
}

int32_t build_mul_scalar(hxs_build *b) { return build_scalar(b, run_mul_scalar); }
int32_t build_add_scalar(hxs_build *b) { return build_scalar(b, run_add_scalar); }
