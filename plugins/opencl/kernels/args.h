// SPDX-License-Identifier: Apache-2.0
// What the host passes to kernels, in C and OpenCL C: fixed-width fields, the same layout on both sides. OpenCL has no
// device addresses that the host could put into a structure, so buffers are arguments of their own and everything here
// is an offset.
#ifndef HX_OPENCL_KERNELS_ARGS_H
#define HX_OPENCL_KERNELS_ARGS_H

#ifdef __OPENCL_VERSION__
typedef ulong uint64_t;
typedef long int64_t;
typedef uint uint32_t;
typedef uchar uint8_t;
#else
#include <stdint.h>
#endif

// Places of an operation's rows: the result, then operands. The dot kernel has four pairs of values and weights.
enum { HX_OPENCL_OUT, HX_OPENCL_A, HX_OPENCL_B, HX_OPENCL_C, HX_OPENCL_PLACES, HX_OPENCL_DOT_PLACES = 9 };
// Pairs of rows that one launch of the dot kernel sums. 4 products of residues below 2^61 stay below 2^124.
#define HX_OPENCL_DOT_MAX 4

// Argument indices of every kernel: its places, then these.
enum { HX_OPENCL_ARG_TABLES, HX_OPENCL_ARG_CONSTANTS, HX_OPENCL_ARG_ARGS, HX_OPENCL_ARGS_BESIDE };

typedef struct hx_opencl_args {
  uint64_t base[HX_OPENCL_DOT_PLACES];  // of each place's buffer: where the span begins, in elements
  uint64_t
      rows[HX_OPENCL_DOT_PLACES];  // bytes into the constants: uint64_t [launch rows], offset of the row in elements
  uint64_t row_prime;              // bytes into the constants: uint32_t [launch rows], prime id of the row
  uint64_t extra;                  // bytes into the constants: the kernel's own
  uint64_t stride;                 // sum: elements from one item to the next
  uint32_t log_n;
  uint32_t op;      // HX_OPENCL_DO_ of the row kernel
  uint32_t count;   // terms, stages
  uint32_t places;  // bit (1 << place): the place is there
  uint32_t x, y, z;
  uint32_t element;  // forward transforms: results are stored at their places under X -> X^(1/element); 0: in order
} hx_opencl_args_t;

// Row table entry of a row that is not there: forward transforms then add nothing.
#define HX_OPENCL_NO_ROW 0xffffffffffffffffu

// Operations of the row kernel, one row in, one row out.
enum {
  HX_OPENCL_DO_COPY,
  HX_OPENCL_DO_ADD,
  HX_OPENCL_DO_SUB,
  HX_OPENCL_DO_NEG,
  HX_OPENCL_DO_REDUCE,
  HX_OPENCL_DO_MUL,
  HX_OPENCL_DO_MUL_ADD,    // c + a * b
  HX_OPENCL_DO_SCALE,      // a times the row's constants, one for each half
  HX_OPENCL_DO_OFFSET,     // a plus the row's constants, one for each half
  HX_OPENCL_DO_SCALE_ADD,  // a times the row's first constant plus b
  HX_OPENCL_DO_MUL_SCALE,  // a * b times the row's first constant
  HX_OPENCL_DO_AFFINE      // a times the first constant plus the second
};

// Constants of a row: extra is hx_opencl_factor_t [rows][2].
typedef struct hx_opencl_factor {
  uint64_t value;     // below q
  uint64_t quotient;  // floor(value * 2^64 / q)
} hx_opencl_factor_t;

// What an inverse transform does to every value at its end: x * factor + add. The factor has 1/N in it.
typedef struct hx_opencl_finish {
  hx_opencl_factor_t factor;
  uint64_t add;
  uint64_t real;  // the factor centred, bits of a double
} hx_opencl_finish_t;

// The real path: primes of at most so many bits, residues as doubles. Doubles are passed as their bits, since a device
// need not have the type.
#define HX_OPENCL_REAL_BITS 50u
#define HX_OPENCL_TIGHT_BITS 46u   // above it values are reduced between the steps of a transform
#define HX_OPENCL_REAL_STAGES 6    // rows y of the real conversion kernels, at most; with a factor and a start 8 terms
#define HX_OPENCL_REAL_TARGETS 64  // of a group of theirs

// One prime on the device. Integer arithmetic is that of 64-bit words for both residue words.
typedef struct hx_opencl_prime {
  uint64_t q;
  uint64_t two_q;
  uint64_t ratio;           // floor(2^64 / q)
  uint64_t barrett;         // floor(2^(L+62) / q), 2^(L-1) < q < 2^L
  uint64_t radix;           // 2^64 mod q
  uint64_t radix_quotient;  // floor(radix * 2^64 / q)
  uint64_t inverse;         // q^-1 mod 2^64
  uint64_t bits;            // L
  uint64_t forward;         // bytes into the tables: hx_opencl_factor_t [n], psi^brv(i)
  uint64_t backward;        // psi^-brv(i)
  uint64_t real_q;          // bits of the double q
  uint64_t real_inverse;    // bits of the double 1/q
  uint64_t real_forward;    // bytes into the tables: double [n], centred; 0: the prime is too large
  uint64_t real_backward;
} hx_opencl_prime_t;

// A weight of the real conversion kernels.
typedef struct hx_opencl_weight {
  uint64_t value;     // centred, mod 2^64
  uint64_t quotient;  // bits of the double (centred value) / q
} hx_opencl_weight_t;

// A row of the conversion kernel's result, mod `prime`: start + sum over the stage of weight * y [+ factor * x].
// Numbers are in Montgomery form (times 2^64 mod q); of the real kernels start is a residue and factor the bits of the
// double start / q.
typedef struct hx_opencl_target {
  uint32_t prime;
  uint32_t kind;  // HX_OPENCL_TARGET_
  uint64_t start;
  uint64_t factor;
} hx_opencl_target_t;

enum {
  HX_OPENCL_TARGET_SKIP,     // nothing is written
  HX_OPENCL_TARGET_COPY,     // x
  HX_OPENCL_TARGET_CONVERT,  // the sum
  HX_OPENCL_TARGET_DIVIDE    // the sum and factor * x
};

#endif
