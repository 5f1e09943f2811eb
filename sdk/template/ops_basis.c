/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that give rows of other primes, or move elements: lifts, changes of basis, automorphism, uniform rows. */
#include <string.h>

#include "ops.h"

/* ------------------------------------------------------------------ rns.center_lift: one row, or signed words */

int32_t check_center_lift(build *b) {
  hx_prepared *prepared = b->prepared;
  const tensor *a = &prepared->operands[0];
  prepared->scratch_rows = 2;
  if (a->limbs != 1 || (a->dtype == HX_I64 && a->log_n != prepared->tables->log_n))
    return fail(b->error, HX_INVALID, "%s: operand 0 has %u rows of 2^%u words, must have one of 2^%u", b->op->name,
                (unsigned)a->limbs, (unsigned)a->log_n, (unsigned)prepared->tables->log_n);
  if (a->dtype != HX_I64) TRY(want_like(b, a, a, HX_COEFFICIENT, HX_STANDARD));
  TRY(read_ids(b, "ids"));
  return want(b, &prepared->result, a->components, HX_COEFFICIENT, HX_STANDARD, prepared->id_count, prepared->ids);
}

void run_center_lift(const job *j) {
  const hx_prepared *prepared = j->prepared;
  const tensor *a = &prepared->operands[0];
  uint64_t *in = job_row(j, 0), *out = job_row(j, 1);
  uint32_t limb, k;
  job_load(j, 0, 0, in);
  for (limb = 0; limb < prepared->result.limbs; ++limb) {
    const uint64_t q = prime_at(j, limb)->q;
    if (a->dtype == HX_I64) {
      for (k = 0; k < prepared->tables->n; ++k) {
        int64_t word;
        memcpy(&word, &in[k], sizeof word);
        out[k] = mod_signed(word, q);
      }
    } else {
      const uint64_t from = prepared->tables->primes[a->ids[0]].q;
      for (k = 0; k < prepared->tables->n; ++k) out[k] = mod_centered(in[k], from, q);
    }
    job_store(j, limb, out);
  }
}

/* ------------------------------------------------------------------ rns.mod_up, mod_down, rescale
 * All three work on coefficients; in ntt domain the operand is transformed back first and the result forward. */

static void load_coefficients(const job *j, row_list list) {
  const tensor *a = &j->prepared->operands[0];
  uint32_t i;
  for (i = 0; i < list.count; ++i) {
    job_load(j, 0, limb_of(a, list.ids[i]), list.rows[i]);
    if (a->domain == HX_NTT) ntt_inverse(j->prepared->tables, &j->prepared->tables->primes[list.ids[i]], list.rows[i]);
  }
}

static void store_coefficients(const job *j, uint64_t *const *rows) {
  uint32_t limb;
  for (limb = 0; limb < j->prepared->result.limbs; ++limb) {
    if (j->prepared->result.domain == HX_NTT) ntt_forward(j->prepared->tables, prime_at(j, limb), rows[limb]);
    job_store(j, limb, rows[limb]);
  }
}

static row_list part(const uint32_t *ids, uint64_t *const *rows, uint32_t first, uint32_t count) {
  row_list list;
  list.count = count;
  list.ids = ids + first;
  list.rows = rows + first;
  return list;
}

static void scratch_rows(const job *j, uint64_t **rows) {
  uint32_t i;
  for (i = 0; i < j->prepared->scratch_rows; ++i) rows[i] = job_row(j, i);
}

/* Digit j of key switching owns ids j * run .. (j + 1) * run - 1 of Q, as far as the operand has them. */
int32_t check_mod_up(build *b) {
  hx_prepared *prepared = b->prepared;
  const hx_tables *tables = prepared->tables;
  const tensor *a = &prepared->operands[0];
  int64_t digit = 0;
  uint32_t i;
  TRY(want_like(b, a, a, a->domain, HX_STANDARD));
  if (a->ids[a->limbs - 1] != a->limbs - 1 || a->limbs > tables->q_count) /* ids ascend: the last one tells */
    return fail(b->error, HX_INVALID, "%s: operand 0 must be on the first primes of Q", b->op->name);
  TRY(read_number(b, "digit", 0, (a->limbs - 1) / tables->digit_run, &digit));
  prepared->number = (uint32_t)digit;
  prepared->id_count = a->limbs + tables->p_count;
  prepared->scratch_rows = prepared->id_count;
  for (i = 0; i < a->limbs; ++i) prepared->ids[i] = i;
  for (i = 0; i < tables->p_count; ++i) prepared->ids[a->limbs + i] = tables->q_count + i;
  return want(b, &prepared->result, a->components, a->domain, HX_STANDARD, prepared->id_count, prepared->ids);
}

void run_mod_up(const job *j) {
  const hx_prepared *prepared = j->prepared;
  const uint32_t active = prepared->operands[0].limbs, run = prepared->tables->digit_run;
  const uint32_t first = prepared->number * run, last = run < active - first ? first + run : active;
  uint64_t *rows[PRIMES_MAX];
  row_list own;
  scratch_rows(j, rows);
  own = part(prepared->ids, rows, first, last - first);
  load_coefficients(j, own);
  convert(prepared->tables, own, part(prepared->ids, rows, 0, first), 0);
  convert(prepared->tables, own, part(prepared->ids, rows, last, prepared->id_count - last), 0);
  store_coefficients(j, rows);
}

/* The rows to drop: P, or a list. */
static int32_t read_drop(build *b) {
  hx_prepared *prepared = b->prepared;
  const hx_attr *attr = find_attr(b, "drop");
  uint32_t i;
  if (attr != NULL && !is_text(attr, "P")) {
    TRY(read_ids(b, "drop"));
  } else {
    prepared->id_count = prepared->tables->p_count;
    for (i = 0; i < prepared->id_count; ++i) prepared->ids[i] = prepared->tables->q_count + i;
  }
  for (i = 0; i < prepared->id_count; ++i) {
    if (limb_of(&prepared->operands[0], prepared->ids[i]) == HX_NONE)
      return fail(b->error, HX_INVALID, "%s: operand 0 has no row of prime %u, which is to be dropped", b->op->name,
                  (unsigned)prepared->ids[i]);
  }
  if (prepared->id_count == 0 || prepared->id_count >= prepared->operands[0].limbs)
    return fail(b->error, HX_INVALID, "%s: %u of the operand's %u rows would be dropped", b->op->name,
                (unsigned)prepared->id_count, (unsigned)prepared->operands[0].limbs);
  return HX_OK;
}

int32_t check_mod_down(build *b) {
  hx_prepared *prepared = b->prepared;
  const tensor *a = &prepared->operands[0];
  uint32_t kept[PRIMES_MAX], count = 0, next = 0, limb;
  TRY(want_like(b, a, a, a->domain, HX_STANDARD));
  TRY(read_rounding(b));
  TRY(read_drop(b));
  for (limb = 0; limb < a->limbs; ++limb) {
    if (next < prepared->id_count && prepared->ids[next] == a->ids[limb])
      ++next;
    else
      kept[count++] = a->ids[limb];
  }
  prepared->scratch_rows = a->limbs;
  return want(b, &prepared->result, a->components, a->domain, HX_STANDARD, count, kept);
}

void run_mod_down(const job *j) {
  const hx_prepared *prepared = j->prepared;
  uint64_t *rows[PRIMES_MAX];
  row_list keep, drop;
  scratch_rows(j, rows);
  keep = part(prepared->result.ids, rows, 0, prepared->result.limbs);
  drop.count = prepared->id_count;
  drop.ids = prepared->ids;
  drop.rows = rows + keep.count;
  load_coefficients(j, keep);
  load_coefficients(j, drop);
  divide(prepared->tables, keep, drop, prepared->truncating);
  store_coefficients(j, rows);
}

int32_t check_rescale(build *b) {
  hx_prepared *prepared = b->prepared;
  const tensor *a = &prepared->operands[0];
  int64_t count = 0;
  TRY(want_like(b, a, a, a->domain, HX_STANDARD));
  TRY(read_rounding(b));
  TRY(read_number(b, "count", 1, (int64_t)a->limbs - 1, &count));
  prepared->number = (uint32_t)count;
  prepared->scratch_rows = a->limbs;
  return want(b, &prepared->result, a->components, a->domain, HX_STANDARD, a->limbs - prepared->number, a->ids);
}

/* The last row is dropped, `count` times. */
void run_rescale(const job *j) {
  const hx_prepared *prepared = j->prepared;
  const tensor *a = &prepared->operands[0];
  uint64_t *rows[PRIMES_MAX];
  uint32_t left;
  scratch_rows(j, rows);
  load_coefficients(j, part(a->ids, rows, 0, a->limbs));
  for (left = a->limbs - 1; left + prepared->number >= a->limbs; --left)
    divide(prepared->tables, part(a->ids, rows, 0, left), part(a->ids, rows, left, 1), prepared->truncating);
  store_coefficients(j, rows);
}

/* ------------------------------------------------------------------ rns.automorphism */

int32_t check_automorphism(build *b) {
  const tensor *a = &b->prepared->operands[0];
  int64_t element = 0;
  b->prepared->scratch_rows = 2;
  TRY(want_like(b, a, a, a->domain, HX_STANDARD));
  TRY(want_like(b, &b->prepared->result, a, a->domain, HX_STANDARD));
  TRY(read_number(b, "element", 1, 2 * (int64_t)b->prepared->tables->n - 1, &element));
  if (element % 2 == 0)
    return fail(b->error, HX_INVALID, "%s: attribute element is %lld, must be odd", b->op->name, (long long)element);
  b->prepared->element = (uint64_t)element;
  return HX_OK;
}

void run_automorphism(const job *j) {
  const hx_prepared *prepared = j->prepared;
  uint64_t *in = job_row(j, 0), *out = job_row(j, 1);
  uint32_t limb;
  for (limb = 0; limb < prepared->result.limbs; ++limb) {
    job_load(j, 0, limb, in);
    if (prepared->result.domain == HX_NTT)
      automorphism_ntt(prepared->tables, prepared->element, in, out);
    else
      automorphism_coefficients(prepared->tables, prime_at(j, limb), prepared->element, in, out);
    job_store(j, limb, out);
  }
}

/* ------------------------------------------------------------------ rns.expand_uniform: a seed to a polynomial */

int32_t check_expand_uniform(build *b) {
  hx_prepared *prepared = b->prepared;
  const tensor *seed = &prepared->operands[0];
  int64_t index = 0;
  prepared->scratch_rows = 1;
  if (seed->dtype != HX_U8 || seed->log_n != 5 || seed->components != 1 || seed->limbs != 1)
    return fail(b->error, HX_INVALID, "%s: operand 0 is no seed of 32 bytes", b->op->name);
  if (seed->batch_rank == 0 && prepared->result.items != 1)
    return fail(b->error, HX_INVALID, "%s: one seed gives one polynomial, %llu are asked for", b->op->name,
                (unsigned long long)prepared->result.items);
  TRY(read_number(b, "index", 0, UINT32_MAX, &index));
  prepared->number = (uint32_t)index;
  TRY(read_ids(b, "ids"));
  return want(b, &prepared->result, 1, HX_NTT, HX_STANDARD, prepared->id_count, prepared->ids);
}

void run_expand_uniform(const job *j) {
  const hx_prepared *prepared = j->prepared;
  uint64_t *row = job_row(j, 0);
  uint32_t limb;
  for (limb = 0; limb < prepared->result.limbs; ++limb) {
    expand_uniform(prepared->tables, prepared->ids[limb], job_bytes(j, 0), prepared->number, row);
    job_store(j, limb, row);
  }
}
