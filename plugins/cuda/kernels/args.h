// SPDX-License-Identifier: Apache-2.0
// What the host passes to kernels. One structure serves all kernels, so that a prepared operation is a list of launches
// and running it is patching addresses. C and CUDA; fixed-width fields alone.
#ifndef HX_CUDA_KERNELS_ARGS_H
#define HX_CUDA_KERNELS_ARGS_H

#include <stdint.h>

// Places of an operation's rows: the result, then operands.
enum { HX_CUDA_OUT, HX_CUDA_A, HX_CUDA_B, HX_CUDA_C, HX_CUDA_PLACES };

// Pairs of rows that one launch of the dot kernel sums. 16 products of residues below 2^61 stay below 2^126.
#define HX_CUDA_DOT_MAX 16

typedef struct hx_cuda_args {
  uint64_t base[HX_CUDA_PLACES];       // addresses
  uint64_t rows[HX_CUDA_PLACES];       // address of uint64_t [launch rows]: offset of the row from base, in elements
  uint64_t primes;                     // address of hx_cuda_prime_t [prime ids]
  uint64_t row_prime;                  // address of uint32_t [launch rows]: prime id of the row
  uint64_t extra;                      // address of the kernel's own constants
  uint64_t more[2 * HX_CUDA_DOT_MAX];  // dot: addresses of values, then of weights; real ends: of what is added
  uint64_t more_rows[2 * HX_CUDA_DOT_MAX];  // their row tables
  uint64_t stride;                          // sum: elements from one item to the next
  uint32_t log_n;
  uint32_t op;     // HX_CUDA_DO_ of the row kernel
  uint32_t count;  // terms, stages
  uint32_t x, y, z;
  uint32_t element;  // forward transforms: results are stored at their places under X -> X^(1/element); 0: in order
} hx_cuda_args_t;

// Row table entry of a row that is not there: forward transforms then add nothing.
#define HX_CUDA_NO_ROW UINT64_MAX

// Operations of the row kernel, one row in, one row out.
enum {
  HX_CUDA_DO_COPY,
  HX_CUDA_DO_ADD,
  HX_CUDA_DO_SUB,
  HX_CUDA_DO_NEG,
  HX_CUDA_DO_REDUCE,
  HX_CUDA_DO_MUL,
  HX_CUDA_DO_MUL_ADD,    // c + a * b
  HX_CUDA_DO_SCALE,      // a times the row's constants, one for each half
  HX_CUDA_DO_OFFSET,     // a plus the row's constants, one for each half
  HX_CUDA_DO_SCALE_ADD,  // a times the row's first constant plus b
  HX_CUDA_DO_MUL_SCALE,  // a * b times the row's first constant
  HX_CUDA_DO_AFFINE      // a times the first constant plus the second
};

// Constants of a row: extra is hx_cuda_half_t [rows][2] for SCALE, OFFSET and MUL_SCALE.
typedef struct hx_cuda_factor {
  uint64_t value;     // below q
  uint64_t quotient;  // floor(value * 2^64 / q)
} hx_cuda_factor_t;

// What an inverse transform does to every value at its end: x * factor + add; `real` is the factor, centred. The factor
// has 1/N in it.
typedef struct hx_cuda_finish {
  hx_cuda_factor_t factor;
  double real;
  uint64_t add;
} hx_cuda_finish_t;

// One prime on the device. Its numbers are those of 64-bit words for both residue words; what 32-bit arithmetic needs
// is their upper half.
typedef struct hx_cuda_prime {
  uint64_t q;
  uint64_t two_q;
  uint64_t ratio;           // floor(2^64 / q)
  uint64_t barrett;         // floor(2^(L+62) / q), 2^(L-1) < q < 2^L
  uint64_t radix;           // 2^64 mod q
  uint64_t radix_quotient;  // floor(radix * 2^64 / q)
  uint64_t inverse;         // q^-1 mod 2^64
  uint32_t bits;            // L
  uint32_t tight;           // real path: values are reduced between stages
  double real_q;            // q
  double real_inverse;      // 1 / q
  uint64_t forward;         // address of hx_cuda_factor_t [n]: psi^brv(i); 0: not made
  uint64_t backward;        // psi^-brv(i)
  uint64_t real_forward;    // address of double [n], centred; 0: not made
  uint64_t real_backward;
  uint64_t word_forward;  // rings of 32-bit words: address of uint32_t pairs, see words.cuh; 0: not made
  uint64_t word_backward;
} hx_cuda_prime_t;

// A row of the conversion kernel's result, mod `prime`: start + sum over the stage of weight * y [+ factor * x].
// Numbers are in Montgomery form (times 2^64 mod q) for 64-bit words, residues for 32-bit ones.
typedef struct hx_cuda_target {
  uint32_t prime;
  uint32_t kind;  // HX_CUDA_TARGET_
  uint64_t start;
  uint64_t factor;
} hx_cuda_target_t;

// The real form of a weight, for primes of at most 50 bits: w or w - q, whichever is nearer to 0, as a word that wraps
// and as the double of its quotient by q.
typedef struct hx_cuda_weight {
  uint64_t value;
  double quotient;
} hx_cuda_weight_t;

// Sums of rotations: extra is one hx_cuda_turns_t, then hx_cuda_turn_row_t [launch rows].
typedef struct hx_cuda_turns {
  uint32_t element[HX_CUDA_DOT_MAX];  // of each term; 1: no key
} hx_cuda_turns_t;

typedef struct hx_cuda_turn_row {
  uint64_t digit;         // that the row is of; UINT64_MAX: a row of P
  hx_cuda_factor_t lift;  // P
} hx_cuda_turn_row_t;

// What encoding multiplies by, and decoding: factor * power[0] * power[1], powers of 2.
typedef struct hx_cuda_code {
  double scale_hi, scale_lo;
  double power[2];
} hx_cuda_code_t;

// A row of the key kernel. `own`: the digit that the row's prime belongs to, or UINT32_MAX.
typedef struct hx_cuda_key_row {
  uint32_t own, kind;  // HX_CUDA_KEY_
  uint64_t scale;
} hx_cuda_key_row_t;

enum {
  HX_CUDA_KEY_SUM,      // residues, ntt domain
  HX_CUDA_KEY_BACK,     // what the rows of the inverse transform leave
  HX_CUDA_KEY_DIVIDED,  // the same of the sum times `scale`, plus what is added
};

// Groups of 64 threads of a block of the raise kernel, and values of the exchange of each: 1024 and gaps.
#define HX_CUDA_RAISE_GROUPS 4
#define HX_CUDA_RAISE_EXCHANGE 1088

// The raise kernel on the tensor cores: its threads, values of the exchange of each of eight targets (1024 and gaps),
// bytes of shared memory of a target.
#define HX_CUDA_TENSOR_THREADS 512
#define HX_CUDA_TENSOR_STRIDE 1092
#define HX_CUDA_TENSOR_TARGET_BYTES 16

// Of eight targets: what lane l gives to the products. Pair k of it, at k * 32 + l, is of target l / 4 and of the half
// l % 2 (0: low) of row y 2 k + l % 4 / 2: the parts W and V of the weight (raise.cuh); pair 3: of the start.
#define HX_CUDA_TENSOR_PAIRS 128
typedef struct hx_cuda_pair {
  double high, low;
} hx_cuda_pair_t;

// Chunks of 256 points of a block of the real key kernel, 16 threads each, and its shared memory: values, key words,
// twiddles. Seven blocks fit a multiprocessor of 227 KiB.
#define HX_CUDA_KEY_CHUNKS 4
#define HX_CUDA_KEY_SHARED (HX_CUDA_KEY_CHUNKS * 7168)
// The same for 32-bit words: 128 threads, each with 16 values and 32 key words, beside the exchange of 8 rows.
#define HX_CUDA_WORD_EXCHANGE 272
#define HX_CUDA_WORD_KEY_SHARED ((8 * HX_CUDA_WORD_EXCHANGE + 128 * (16 + 32)) * 4)
// The most that a block takes.
#define HX_CUDA_SHARED_MAX 98304

// Of a row that a block of the kernels of rows and tensors takes.
#define HX_CUDA_ROW_BYTES 8192u

// Conversions of 32-bit words: rows y that a thread holds, coefficients of a thread that holds so many, targets of a
// block and shared memory of one.
#define HX_CUDA_WORD_TERMS 16
#define HX_CUDA_WORD_COEFFICIENTS(most_) ((most_) <= 8 ? 4u : 2u)
#define HX_CUDA_WORD_TARGETS 64
#define HX_CUDA_WORD_TARGET_BYTES 128

// Terms of a real conversion with x and start: 6 rows y at most.
#define HX_CUDA_REAL_TERMS 8
// Targets of a block of it, and shared memory of one.
#define HX_CUDA_REAL_TARGETS 64
#define HX_CUDA_REAL_TARGET_BYTES 184

enum {
  HX_CUDA_TARGET_SKIP,     // nothing is written
  HX_CUDA_TARGET_COPY,     // x
  HX_CUDA_TARGET_CONVERT,  // the sum
  HX_CUDA_TARGET_DIVIDE    // the sum and factor * x
};

#endif
