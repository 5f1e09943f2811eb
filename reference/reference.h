// SPDX-License-Identifier: Apache-2.0
// The specification of every operation in plain C: exact, constant-time in the data, written to be read.
//
// It has three users: libheliox for arithmetic on secrets, the conformance suite and the tests, which compare
// plugins with it. It is never a fallback for an operation of a program. It depends on heliox/plugin.h alone.
//
// Numbers. A prime is named by its id in the ring: Q's primes are 0..q_count-1, P's follow. A row is n = 2^log_n
// residues of one prime as 64-bit words, whatever the ring's word. Unless a line says otherwise rows hold standard
// residues, in [0, q), before and after. Rows of a value stand in ascending id order.
//
// Constant time. No branch and no address depends on a residue, a signed word or a digit. Primes, ids, shapes, scalar
// constants, Galois elements and seeds of uniform polynomials are public and may decide both.
//
// Threads. A ring is immutable after its creation: any number of threads may use it at once. There is no other state.
//
// Preconditions of the row functions (ids in range, pointers not NULL, rows of n words) are asserted, not reported:
// they cannot fail. hx_reference_execute reports.
#ifndef HELIOX_REFERENCE_REFERENCE_H
#define HELIOX_REFERENCE_REFERENCE_H

#include "heliox/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HX_REF_PRIMES_MAX 256u  // primes of a ring, Q and P together

// ------------------------------------------------------------------ ring

// Tables of one ring: for each prime the powers of psi with their Shoup quotients, 16 * n bytes, and constants.
typedef struct hx_ref_ring hx_ref_ring;

// Makes the tables; copies what it keeps of `ring`.
//   HX_INVALID        log_n outside 3..17, a word other than 64 and 32, no or too many primes, a prime not 1 mod 2n,
//                     there twice, or not below 2^61 (word 64) or 2^31 (word 32), a psi that is no primitive 2n-th
//                     root, a digit_run of 0, groups that do not add up to q_count
//   HX_OUT_OF_MEMORY  *out is NULL on every failure
// That a modulus is prime, and psi the smallest root, is the parameter set's business.
int32_t hx_ref_ring_create(const hx_ring *ring, hx_ref_ring **out, hx_error *error);
void hx_ref_ring_destroy(hx_ref_ring *ring);  // NULL is fine

uint32_t hx_ref_ring_degree(const hx_ref_ring *ring);       // n
uint32_t hx_ref_ring_word(const hx_ref_ring *ring);         // 64 or 32
uint32_t hx_ref_ring_prime_count(const hx_ref_ring *ring);  // Q's and P's
uint64_t hx_ref_ring_prime(const hx_ref_ring *ring, uint32_t prime_id);

// ------------------------------------------------------------------ single residues

uint64_t hx_ref_word_reduce(const hx_ref_ring *ring, uint32_t prime_id, uint64_t x);        // any word
uint64_t hx_ref_word_reduce_signed(const hx_ref_ring *ring, uint32_t prime_id, int64_t x);  // any signed word
uint64_t hx_ref_word_add(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a, uint64_t b);
uint64_t hx_ref_word_sub(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a, uint64_t b);
uint64_t hx_ref_word_mul(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a, uint64_t b);
// a^exponent; time depends on the exponent, which is public.
uint64_t hx_ref_word_power(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a, uint64_t exponent);
// The inverse of a nonzero residue.
uint64_t hx_ref_word_inverse(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a);
// psi^(n/2), a square root of -1: in ntt domain X^(n/2) is this on the first half of a row, its negative on the second.
uint64_t hx_ref_word_half_turn(const hx_ref_ring *ring, uint32_t prime_id);

// ------------------------------------------------------------------ rows of one prime
// `out` may be any of the inputs, exactly; it overlaps them in no other way.

// Coefficients to values, A[i] = a(psi^(2*brv(i)+1)), and back, in place.
void hx_ref_ntt_forward(const hx_ref_ring *ring, uint32_t prime_id, uint64_t *row);
void hx_ref_ntt_inverse(const hx_ref_ring *ring, uint32_t prime_id, uint64_t *row);

void hx_ref_row_add(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b, uint64_t *out);
void hx_ref_row_sub(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b, uint64_t *out);
void hx_ref_row_neg(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out);
void hx_ref_row_mul(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b, uint64_t *out);
// acc + a * b
void hx_ref_row_mul_add(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *acc, const uint64_t *a,
                        const uint64_t *b, uint64_t *out);
// One constant below q for the whole row.
void hx_ref_row_mul_scalar(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t scalar,
                           uint64_t *out);
void hx_ref_row_add_scalar(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t scalar,
                           uint64_t *out);

// Lazy residues, in [0, 2q): the same arithmetic mod 2q.
void hx_ref_row_add_lazy(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b,
                         uint64_t *out);
void hx_ref_row_sub_lazy(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b,
                         uint64_t *out);
void hx_ref_row_neg_lazy(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out);
// Any words to standard residues.
void hx_ref_row_reduce(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out);

// x * 2^w, x * 2^-w and a * b * 2^-w mod q, w the ring's word.
void hx_ref_row_to_montgomery(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out);
void hx_ref_row_from_montgomery(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out);
void hx_ref_row_mul_montgomery(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b,
                               uint64_t *out);

// Residues of `from`, taken in [-(q-1)/2, (q-1)/2], to residues of `to`.
void hx_ref_row_center_lift(const hx_ref_ring *ring, uint32_t from, const uint64_t *a, uint32_t to, uint64_t *out);
// Any signed words to residues. `out` does not overlap `a`.
void hx_ref_row_center_lift_signed(const hx_ref_ring *ring, uint32_t prime_id, const int64_t *a, uint64_t *out);

// X -> X^element on coefficients, and the same map in ntt domain. element is odd, below 2n. `out` is not `a`.
void hx_ref_row_automorphism(const hx_ref_ring *ring, uint32_t prime_id, uint64_t element, const uint64_t *a,
                             uint64_t *out);
void hx_ref_row_automorphism_ntt(const hx_ref_ring *ring, uint64_t element, const uint64_t *a, uint64_t *out);

// The row of prime_id of the uniform polynomial number `index` of a seed, in ntt domain order.
void hx_ref_row_expand_uniform(const hx_ref_ring *ring, uint32_t prime_id, const uint8_t seed[32], uint32_t index,
                               uint64_t *out);

// Between memory of a dtype (HX_U64, HX_U32; HX_I64 keeps its bits) and 64-bit rows. HX_U32 takes the low halves.
void hx_ref_row_load(const hx_ref_ring *ring, uint32_t dtype, const void *memory, uint64_t *row);
void hx_ref_row_store(const hx_ref_ring *ring, uint32_t dtype, const uint64_t *row, void *memory);

// ------------------------------------------------------------------ rows of several primes, coefficient domain

// `count` rows, prime_ids ascending; rows[i] belongs to prime_ids[i]. Each function says what it reads and writes.
typedef struct {
  uint32_t count;
  const uint32_t *prime_ids;
  uint64_t *const *rows;
} hx_ref_rows;

enum { HX_REF_NEAREST = 1, HX_REF_TRUNCATING = 2 };  // rounding

// Fast conversion of `from`, product D, to the primes of `to`: sum_i y_i * (D/d_i) with y_i = x_i * (D/d_i)^-1 mod d_i,
// centred (HX_REF_NEAREST) or in [0, d_i). Reads from, writes to; no prime is in both; rows do not overlap.
void hx_ref_convert(const hx_ref_ring *ring, const hx_ref_rows *from, const hx_ref_rows *to, uint32_t rounding);
// Division by the product D of the dropped rows: kept row i becomes (x_i - c_i) * D^-1, c the conversion of the
// dropped. Reads drop, changes keep in place; no prime is in both; at least one row is dropped.
void hx_ref_mod_down(const hx_ref_ring *ring, const hx_ref_rows *keep, const hx_ref_rows *drop, uint32_t rounding);
// Drops the last `count` rows of x, one after the other, count below x->count. Changes the rows: those that remain are
// the result, the dropped ones hold what they were when dropped.
void hx_ref_rescale(const hx_ref_ring *ring, const hx_ref_rows *x, uint32_t count, uint32_t rounding);
// Garner digits in place: x = v_0 + v_1 d_0 + v_2 d_0 d_1 + ..., row i becomes v_i in [0, d_i).
void hx_ref_mixed_radix(const hx_ref_ring *ring, const hx_ref_rows *x);
// Garner digits (as hx_ref_mixed_radix leaves them) to residues of the integer that they stand for, in [0, D): one row.
void hx_ref_mixed_radix_residue(const hx_ref_ring *ring, const hx_ref_rows *digits, uint32_t to, uint64_t *out);

// ------------------------------------------------------------------ whole operations

// Runs one operation of the catalogue on host memory.
//
//   values  the region's value table; op's operand and result ids index it
//   data    per value id the address of element (0, ..., 0); strides of the descriptor apply, in elements. Entries of
//           operands and results alone are read. Results are written, each element once
//   error   filled on failure; may be NULL. error->op is HX_NONE
//
// The result of an operation with one result may be an operand exactly (same address, shape and strides); results and
// operands overlap in no other way. Operands hold residues in range of their representation: the caller has checked
// that at import. Shapes, states and attributes are checked here, as CKKS.md and the catalogue have them, before
// anything is written. Scratch memory comes from malloc, at most 6 * (rows over Q and P) + 2 rows, and is wiped before
// it is freed.
//
//   HX_INVALID        a shape, state, id or attribute that does not fit: the message has the operand and both values
//   HX_UNSUPPORTED    an operation that has no reference, or more than 8 batch axes
//   HX_OUT_OF_MEMORY  nothing is written on any failure
//
// Forms
//   rns.mul, mul_add         a factor may have one component for all of the result's
//   rns.expand_uniform       the seed is 2^5 words of HX_U8, a batch of seeds gives a batch of polynomials
//   ckks.add_scalar, mul_scalar   attribute residues, two words a row: first and second half, ntt domain
//   ckks.rotate and its kin  the slot count does not cross: a step is taken modulo n/2, so the caller has taken it
//                            modulo the slots. Keys are operands; a step of 0 takes none
//   ckks.rescale             drops the last depth group that the operand has
// ckks operands may be in either domain where CKKS.md defines them on coefficients.
int32_t hx_reference_execute(const hx_ref_ring *ring, const hx_op *op, const hx_tensor_desc *values, void *const *data,
                             hx_error *error);
// Whether hx_reference_execute knows an operation of this name.
int32_t hx_reference_has(const char *name);

#ifdef __cplusplus
}
#endif
#endif
