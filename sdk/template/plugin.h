/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this plugin share.
 *
 *   plugin.c   entry point, list of implementations
 *   device.c   device, memory and queue
 *   tables.c   what is computed once for a ring
 *   prepare.c  reading a region, checking it, running it
 *   ops*.c     the operations: what each accepts, and its loop over rows
 *   rows.c     arithmetic on rows of one prime: what a vendor replaces first
 */
#ifndef PLUGIN_PLUGIN_H
#define PLUGIN_PLUGIN_H

#include "heliox/plugin.h"
#include "modular.h"

#define LOG_N_MIN 3u
#define LOG_N_MAX 17u
#define PRIMES_MAX 256u /* of one ring */
#define BATCH_RANK_MAX 8u
#define ALIGNMENT 64u /* of every buffer */

/* ------------------------------------------------------------------ errors, host */

/* Fills *error where it has room, and returns code. */
int32_t fail(hx_error *error, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#define TRY(call_)                    \
  do {                                \
    const int32_t code_ = (call_);    \
    if (code_ != HX_OK) return code_; \
  } while (0)

/* A struct from the host that ends before its last mandatory field. */
#define NEED(type_, field_, value_)                                                                             \
  do {                                                                                                          \
    if ((value_) == NULL || (value_)->struct_size < HX_END_OF(type_, field_))                                   \
      return fail(error, HX_ARGS_SIZE, #type_ " has %u bytes, at least %u are needed",                          \
                  (value_) == NULL ? 0u : (unsigned)(value_)->struct_size, (unsigned)HX_END_OF(type_, field_)); \
  } while (0)

/* Whether the host asks to stop. */
int host_cancelled(void);

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
  const hx_device *device;
  unsigned char busy; /* taken by __atomic_test_and_set */
};

extern const hx_device_ops device_ops;
extern const hx_memory_ops memory_ops;
extern const hx_queue_ops queue_ops;

/* One caller at a time: HX_BUSY to a second one. */
int32_t queue_enter(hx_queue *queue, hx_error *error);
void queue_leave(hx_queue *queue);

/* The address of `bytes` bytes at a span, after checking that its buffer has them and that words of `unit` bytes are
 * aligned there. `what` names the span in messages. */
int32_t span_address(const hx_device *device, hx_span span, uint64_t bytes, uint32_t unit, const char *what,
                     unsigned char **out, hx_error *error);

/* ------------------------------------------------------------------ tables.c */

typedef struct {
  uint64_t q;
  uint32_t bits;    /* 2^(bits-1) < q < 2^bits */
  factor n_inverse; /* 1/n */
  factor *roots;    /* [n]: psi^brv(i) */
} prime;

struct hx_tables {
  const hx_device *device;
  uint32_t log_n, n, word;
  uint32_t q_count, p_count, digit_run;
  uint8_t digest[32];
  factor *roots; /* one block for all primes */
  prime primes[PRIMES_MAX];
};

int32_t tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error);
void tables_destroy(hx_tables *tables);

/* ------------------------------------------------------------------ prepare.c */

/* A tensor as its descriptor says: a copy, since descriptors are borrowed. Offsets and strides are in elements. */
typedef struct {
  uint32_t slot; /* among the inputs or outputs of the call */
  uint32_t dtype, word_bytes;
  uint32_t log_n, digits, components, limbs, domain, repr; /* domain and repr are 0 where dtype is no residue */
  uint32_t batch_rank;
  uint64_t items; /* of the batch axes together */
  uint64_t batch_shape[BATCH_RANK_MAX], batch_strides[BATCH_RANK_MAX];
  uint64_t component_stride;
  uint64_t limb_offsets[PRIMES_MAX];
  uint32_t ids[PRIMES_MAX];
  uint64_t bytes; /* from the first element to behind the last */
} tensor;

enum { OPERANDS_MAX = 3 };

struct row_op;

struct hx_prepared {
  const hx_device *device;
  const hx_tables *tables;
  const struct row_op *op;
  uint32_t operand_count;
  tensor operands[OPERANDS_MAX];
  tensor result;
  uint32_t scratch_rows; /* of n 64-bit words */
  /* attributes, as far as the operation has them */
  uint32_t number;   /* digit, index or count */
  uint64_t element;  /* Galois element */
  int truncating;    /* rounding */
  uint32_t id_count; /* rows to drop, or of the result: ids */
  uint32_t ids[PRIMES_MAX];
  uint64_t residues[PRIMES_MAX]; /* constants of the rows */
};

/* One batch item and one component of a call: all that the loop of an operation needs. */
typedef struct {
  const hx_prepared *prepared;
  unsigned char *operands[OPERANDS_MAX]; /* addresses of whole tensors */
  unsigned char *result;
  uint64_t *scratch;
  uint64_t item;
  uint32_t component;
} job;

/* What check reads: the region's operation and the object that is made. */
typedef struct {
  hx_prepared *prepared;
  const hx_op *op;
  hx_error *error;
} build;

/* One implemented operation. */
typedef struct row_op {
  const char *name;
  uint32_t operand_count;
  const char *attributes; /* names that may be given, each followed by a blank */
  int in_place;           /* the result may take the memory of operand 0 */
  int32_t (*check)(build *b);
  void (*run)(const job *j);
} row_op;

extern const row_op row_ops[];
extern const uint32_t row_op_count;

/* The three entries of every implementation. */
int32_t prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error);
int32_t execute(hx_prepared *prepared, const hx_call *call, hx_error *error);
void destroy(hx_prepared *prepared);

/* Scratch row `index`. */
uint64_t *job_row(const job *j, uint32_t index);
/* Row of an operand as 64-bit words, whatever its own word; signed words keep their bits. An operand without batch has
 * one item for all; one of a single component has it for all. */
void job_load(const job *j, uint32_t operand, uint32_t limb, uint64_t *row);
void job_store(const job *j, uint32_t limb, const uint64_t *row);
/* The first byte of the item of an operand that has no rows. */
const unsigned char *job_bytes(const job *j, uint32_t operand);

/* The limb of a prime, or HX_NONE. */
uint32_t limb_of(const tensor *t, uint32_t id);

/* ------------------------------------------------------------------ rows.c: n words each, of one prime */

void ntt_forward(const hx_tables *tables, const prime *p, uint64_t *row);
void ntt_inverse(const hx_tables *tables, const prime *p, uint64_t *row);
/* out is not in. */
void automorphism_coefficients(const hx_tables *tables, const prime *p, uint64_t element, const uint64_t *in,
                               uint64_t *out);
void automorphism_ntt(const hx_tables *tables, uint64_t element, const uint64_t *in, uint64_t *out);
/* The uniform row of a seed (32 bytes) for polynomial `index` and prime `id`. */
void expand_uniform(const hx_tables *tables, uint32_t id, const unsigned char *seed, uint32_t index, uint64_t *out);

/* Some rows of one polynomial, coefficients. */
typedef struct {
  uint32_t count;
  const uint32_t *ids;
  uint64_t *const *rows;
} row_list;

/* Fast conversion of `from` (product D) to every row of `to`; residues are taken centred unless truncating. */
void convert(const hx_tables *tables, row_list from, row_list to, int truncating);
/* keep = (keep - conversion of drop) / D. */
void divide(const hx_tables *tables, row_list keep, row_list drop, int truncating);

#endif
