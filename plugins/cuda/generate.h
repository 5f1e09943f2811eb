// SPDX-License-Identifier: Apache-2.0
// The source of a region of operations element by element, as one kernel: every operand is read once, every result
// written once, what lies between stays in registers. It says nothing of sizes, strides, primes or constants, which a
// launch's records hold: regions of the same operations share a kernel.
#ifndef HX_CUDA_GENERATE_H
#define HX_CUDA_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/args.h"

#define HX_CUDA_REGION_THREADS 256u
#define HX_CUDA_REGION_PLACES_MAX 64u    // operands read and results written: the arguments' addresses
#define HX_CUDA_REGION_ELEMENTS_MAX 64u  // operations
#define HX_CUDA_REGION_OPERANDS_MAX 1024u

// Words of a row's record: the prime (hx_cuda_prime_t), then these.
#define HX_CUDA_REGION_FIRST ((uint32_t)(sizeof(hx_cuda_prime_t) / sizeof(uint64_t)))  // 1: a row of component 0
#define HX_CUDA_REGION_OFFSETS (HX_CUDA_REGION_FIRST + 1u)  // of each place: what is read, then what is written
#define HX_CUDA_REGION_CONSTANT \
  4u  // words of a constant: value and quotient (integers) or value (reals), for each half

typedef enum hx_cuda_element_kind {
  HX_CUDA_ELEMENT_ADD,
  HX_CUDA_ELEMENT_SUB,
  HX_CUDA_ELEMENT_NEG,
  HX_CUDA_ELEMENT_REDUCE,  // any word
  HX_CUDA_ELEMENT_MUL,
  HX_CUDA_ELEMENT_MUL_ADD,    // operand 0 + operand 1 * operand 2
  HX_CUDA_ELEMENT_MUL_SCALE,  // operand 0 * operand 1 * constant
  HX_CUDA_ELEMENT_SCALE,      // operand 0 * constant
  HX_CUDA_ELEMENT_OFFSET,     // operand 0 + constant
  HX_CUDA_ELEMENT_DOT         // operands 0 to n-1 times operands n to 2n-1
} hx_cuda_element_kind_t;

// One operation on numbers. Values are numbered: those that are read, in order, then what each operation makes.
typedef struct hx_cuda_element {
  hx_cuda_element_kind_t kind;
  bool lazy;          // ADD, SUB, NEG: modulo 2q
  bool first_only;    // ADD, SUB: component 0 alone; others take operand 0 as it is
  bool halves;        // constants are two, for each half of a row
  uint32_t constant;  // index, of SCALE, OFFSET, MUL_SCALE
  uint32_t operand_count;
  const uint32_t *operands;  // [operand_count], values made before
} hx_cuda_element_t;

typedef struct hx_cuda_body {
  uint32_t word;           // 64, 32
  uint32_t pairs;          // that a thread takes, 1 to 4
  bool integer, real;      // what rows there are; real: primes of at most HX_CUDA_REAL_BITS on doubles
  bool narrow;             // integers of 32 bits; words of 32 bits alone, and nothing that is lazy
  uint32_t load_count;     // values read
  const bool *first_only;  // [load_count]: read in rows of component 0 alone, else 0
  uint32_t element_count;
  const hx_cuda_element_t *elements;
  uint32_t store_count;
  const uint32_t *stores;  // [store_count], values written
} hx_cuda_body_t;

// Whether the operations can be done on doubles: what is lazy or any word cannot.
bool hx_cuda_body_takes_real(const hx_cuda_body_t *body);
// Whether integers of 32 bits can do them, in 32-bit words: what is lazy may not fit.
bool hx_cuda_body_takes_narrow(const hx_cuda_body_t *body);
// Whether they have products, for which doubles are the faster.
bool hx_cuda_body_has_products(const hx_cuda_body_t *body);
// Words of a record.
uint32_t hx_cuda_body_record(const hx_cuda_body_t *body, uint32_t constants);
// First word of constant `index`.
uint32_t hx_cuda_body_constant(const hx_cuda_body_t *body, uint32_t index);

// The source, the caller's (free); NULL: no memory, or a body that breaks the rules above. The entry point is
// hx_region.
char *hx_cuda_generate(const hx_cuda_body_t *body);

#endif
