// SPDX-License-Identifier: Apache-2.0
// One execution of one operation: its places in memory, its attributes, its scratch rows. Private to reference/.
//
// An operation is a routine of two functions. `check` looks at shapes, states and attributes, keeps what it reads in
// the call and says how many scratch rows it needs; `run` computes one batch item and cannot fail. So a refused call
// has written nothing. `run` loads an operand's rows before it stores rows in the same place.
#ifndef HELIOX_REFERENCE_CALL_H
#define HELIOX_REFERENCE_CALL_H

#include "reference/fault.h"
#include "reference/modulus.h"

#define HX_REF_BATCH_RANK_MAX 8u

struct hx_ref_routine;

typedef struct {
  const hx_ref_ring *ring;
  const hx_op *op;
  const hx_tensor_desc *values;
  void *const *data;
  hx_error *error;
  const struct hx_ref_routine *routine;
  // kept by check for run
  uint32_t number;       // the attribute digit, count, axis, first or index
  int64_t integer;       // a signed factor
  uint64_t element;      // Galois element
  uint32_t rounding;     // HX_REF_
  uint32_t group_count;  // groups of a weighted sum
  uint32_t id_count;     // primes to drop, in or out: ids
  uint32_t ids[HX_REF_PRIMES_MAX];
  const uint64_t *residues;  // constants of the rows
  const int64_t *steps;      // rotations
  uint32_t step_count;
  uint64_t scratch_rows;
  // set between check and run
  uint64_t items;     // batch items of the results
  uint64_t *scratch;  // [scratch_rows][n], not zeroed
} hx_ref_call;

typedef struct hx_ref_routine {
  const char *name;
  int32_t (*check)(hx_ref_call *call);
  void (*run)(const hx_ref_call *call, uint64_t item);
  uint32_t operands_min, operands_max;
  uint32_t results_min, results_max;
  uint32_t variant;  // for routines that share functions
} hx_ref_routine;

// Places in memory.

// An operand or result: descriptor, address, and how messages name it.
typedef struct {
  const hx_tensor_desc *desc;
  void *memory;
  const char *side;
  uint32_t index;
} hx_ref_place;

hx_ref_place hx_ref_operand(const hx_ref_call *call, uint32_t index);
hx_ref_place hx_ref_result(const hx_ref_call *call, uint32_t index);

// Row of a place, batch item `item` (a place without batch has one for all).
void hx_ref_load(const hx_ref_call *call, hx_ref_place place, uint64_t item, uint32_t component, uint32_t limb,
                 uint64_t *row);
void hx_ref_store(const hx_ref_call *call, hx_ref_place place, uint64_t item, uint32_t component, uint32_t limb,
                  const uint64_t *row);
// Row of a switching key.
void hx_ref_load_key(const hx_ref_call *call, hx_ref_place key, uint32_t digit, uint32_t component, uint32_t prime_id,
                     uint64_t *row);
// Rows of some primes of a place as coefficients, whatever its domain; and coefficients into a place of either domain,
// all its limbs. Storing transforms `rows` where the place is in ntt domain.
void hx_ref_load_coefficients(const hx_ref_call *call, hx_ref_place place, uint64_t item, uint32_t component,
                              const hx_ref_rows *rows);
void hx_ref_store_coefficients(const hx_ref_call *call, hx_ref_place place, uint64_t item, uint32_t component,
                               uint64_t *const *rows);
// Address of batch item `item`.
void *hx_ref_item(hx_ref_place place, uint64_t item);
// The limb of a prime, or HX_NONE.
uint32_t hx_ref_limb_of(const hx_tensor_desc *desc, uint32_t prime_id);
uint32_t hx_ref_dtype_bytes(uint32_t dtype);

// count row pointers into the scratch memory, from scratch row `first` on.
void hx_ref_scratch(const hx_ref_call *call, uint64_t first, uint32_t count, uint64_t **out_rows);

// Checks. Messages name operation, place and both values.

int32_t hx_ref_refuse(const hx_ref_call *call, int32_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// What is asked of a place with residues. 0 or NULL: anything.
typedef struct {
  uint32_t components, domain, repr;
  uint32_t id_count;
  const uint32_t *ids;
} hx_ref_shape;

// A place of any dtype: address, alignment, batch axes; results must not repeat. Done for all
// places before a routine's own check.
int32_t hx_ref_check_place(const hx_ref_call *call, hx_ref_place place);
// Residues of this ring, with the shape asked for; no digit axis.
int32_t hx_ref_check_residues(const hx_ref_call *call, hx_ref_place place, const hx_ref_shape *shape);
// The results' batch: all results alike; every operand the same, or none. Sets items.
int32_t hx_ref_check_batch(hx_ref_call *call);
// A switching key without batch, ntt domain, that has `digits` digits and the rows asked for.
int32_t hx_ref_check_key(const hx_ref_call *call, hx_ref_place key, uint32_t digits, uint32_t id_count,
                         const uint32_t *ids);
// The operand's own shape, checked to be residues of this ring.
int32_t hx_ref_shape_of(const hx_ref_call *call, hx_ref_place place, hx_ref_shape *out);

// Attributes.

// NULL where absent.
const hx_attr *hx_ref_attr(const hx_ref_call *call, const char *name);
// Required, in [low, high].
int32_t hx_ref_attr_i64(const hx_ref_call *call, const char *name, int64_t low, int64_t high, int64_t *out);
// Rotation steps, any integers: call->steps.
int32_t hx_ref_attr_steps(hx_ref_call *call);
// Prime ids, ascending: into call->ids.
int32_t hx_ref_attr_ids(hx_ref_call *call, const char *name);
// `words` constants a row, each below the row's prime: call->residues.
int32_t hx_ref_attr_residues(hx_ref_call *call, uint32_t words, uint32_t id_count, const uint32_t *ids);
int32_t hx_ref_attr_rounding(hx_ref_call *call);
// "ntt" or "coefficient", ntt where absent: HX_NTT or HX_COEFFICIENT.
int32_t hx_ref_attr_domain(const hx_ref_call *call, uint32_t *out);
int32_t hx_ref_attr_is_text(const hx_attr *attr, const char *text);

#define HX_REF_TRY(expression_)               \
  do {                                        \
    const int32_t try_code_ = (expression_);  \
    if (try_code_ != HX_OK) return try_code_; \
  } while (0)

#endif
