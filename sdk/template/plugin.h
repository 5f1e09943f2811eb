/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this plugin share.
 *
 *   plugin.c   entry point, list of implementations
 *   device.c   device, memory and queue
 *   tables.c   what is computed once for a ring
 *   prepare.c  running what has been prepared
 *   ops*.c     the operations: what each accepts, and its loop over rows
 *   rows.c     arithmetic on rows of one prime: what a vendor replaces first
 *
 * Reading and checking regions, number theory and constants of conversions are the SDK's (heliox/plugin_support.h). */
#ifndef PLUGIN_PLUGIN_H
#define PLUGIN_PLUGIN_H

#include "heliox/plugin_support.h"
#include "modular.h"

#define ALIGNMENT 64u /* of every buffer */

/* ------------------------------------------------------------------ device.c */

struct hx_device {
  uint32_t index;
};

struct hx_buffer {
  const hx_device *device;
  unsigned char *address;
  uint64_t bytes;
  int borrowed;
};

struct hx_queue {
  hxs_gate gate; /* one caller at a time, late failures */
  const hx_device *device;
};

extern const hx_device_ops device_ops;
extern const hx_memory_ops memory_ops;
extern const hx_queue_ops queue_ops;

/* The address of `bytes` bytes at a span, after checking that its buffer has them and that words of `unit` bytes are
 * aligned there. `what` names the span in messages. */
int32_t span_address(const hx_device *device, hx_span span, uint64_t bytes, uint32_t unit, const char *what,
                     unsigned char **out, hx_error *error);

/* ------------------------------------------------------------------ tables.c */

/* Rows are computed in 64-bit words whatever the ring's word is, so these constants are of 64-bit words too. */
typedef struct {
  hxs_modulus m;
  hxs_factor n_inverse; /* 1/n */
  hxs_factor *roots;    /* [n]: psi^brv(i) */
} prime;

struct hx_tables {
  hxs_ring ring; /* first: the SDK's */
  const hx_device *device;
  uint32_t n;
  prime *primes;     /* by id */
  hxs_factor *roots; /* one block for all primes */
};

int32_t tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error);
void tables_destroy(hx_tables *tables);

/* ------------------------------------------------------------------ prepare.c */

enum { OPERANDS_MAX = 3 };

/* One batch item and one component of a call: all that the loop of an operation needs. */
typedef struct {
  const hx_prepared *prepared;
  const hx_tables *tables;
  unsigned char *operands[OPERANDS_MAX]; /* addresses of whole tensors */
  unsigned char *result;
  uint64_t *scratch;
  uint64_t item;
  uint32_t component;
} job;

typedef void run_fn(const job *j);

struct hx_prepared {
  hxs_prepared base; /* first: the SDK's */
  run_fn *run;       /* one polynomial; cannot fail */
  /* attributes and constants, as far as the operation has them */
  uint32_t number;            /* index of a uniform polynomial, Galois element */
  const uint32_t *order;      /* [n]: the element's permutation in ntt domain */
  const uint64_t *residues;   /* constants of the rows */
  const hxs_base *conversion; /* stage and targets */
};

extern const hxs_plugin plugin; /* ops.c: the operations */

int32_t prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error);
int32_t execute(hx_prepared *prepared, const hx_call *call, hx_error *error);
/* Of `plugin`. */
const hxs_ring *ring_of(const hx_device *device, const hx_tables *tables);
int32_t begin(hxs_build *b, const hx_region *region);

/* For build functions: the plugin's object, with what to run and how many scratch rows of n words it needs. */
hx_prepared *runs(hxs_build *b, run_fn *run, uint32_t scratch_rows);

/* Scratch row `index`. */
uint64_t *job_row(const job *j, uint32_t index);
/* Row of an operand as 64-bit words, whatever its own word; signed words keep their bits. */
void job_load(const job *j, uint32_t operand, uint32_t limb, uint64_t *row);
void job_store(const job *j, uint32_t limb, const uint64_t *row);
/* The first byte of the item of an operand that has no rows. */
const unsigned char *job_bytes(const job *j, uint32_t operand);
/* The result's limbs, and the prime of one. */
uint32_t job_limbs(const job *j);
const prime *job_prime(const job *j, uint32_t limb);

/* ------------------------------------------------------------------ rows.c: n words each, of one prime */

void ntt_forward(const hx_tables *tables, const prime *p, uint64_t *row);
void ntt_inverse(const hx_tables *tables, const prime *p, uint64_t *row);
/* X -> X^element on coefficients; out is not in. */
void substitute(const hx_tables *tables, const prime *p, uint64_t element, const uint64_t *in, uint64_t *out);
/* start + sum of weights[s] * rows[s]; residues of any primes. out may be one of the rows. */
void affine(const hx_tables *tables, const prime *p, const hxs_affine *map, uint64_t *const *rows, uint64_t *out);
/* The uniform row of a seed (32 bytes) for polynomial `index` and prime `id`. */
void expand_uniform(const hx_tables *tables, uint32_t id, const unsigned char *seed, uint32_t index, uint64_t *out);

#endif
