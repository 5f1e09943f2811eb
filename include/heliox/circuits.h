// SPDX-License-Identifier: Apache-2.0
/// @file
/// Circuits that most programs need, polynomials and matrix-vector products, each as an engine call and as a step of a
/// program that is built by calls. Scales are exact throughout: every sum adds equal scales, and the result has the
/// scale asked for.
#ifndef HELIOX_CIRCUITS_H
#define HELIOX_CIRCUITS_H

#include "heliox/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------ programs built by calls

/// A program in the making. One thread at a time.
typedef struct hx_builder hx_builder_t;
/// A value of it; lives as long as the builder.
typedef struct hx_node hx_node_t;

/// State of an input or of a plaintext. Zero-initialise; zeros mean the defaults.
typedef struct hx_node_options {
  uint32_t slots;     ///< 0: N/2
  uint32_t depth;     ///< 0: fresh
  const char *scale;  ///< canonical text; NULL: the parameters' default
  bool weighted;      ///< plaintexts: on Q and P, for ckks.rotate_weighted_sum
} hx_node_options_t;

/// An empty program under these parameters (retained).
HX_API HX_MUST_USE hx_status_t hx_builder_create(const hx_params_t *params, hx_builder_t **out, hx_report_t *report);
/// NULL is allowed. The program that was taken from it stays.
HX_API void hx_builder_release(hx_builder_t *builder);

/// The next input of @main: a ciphertext of two components in ntt domain. `name` is its heliox.name.
HX_API HX_MUST_USE hx_status_t hx_builder_input(hx_builder_t *builder, const char *name,
                                                const hx_node_options_t *options, hx_node_t **out, hx_report_t *report);
/// A plaintext of these numbers (copied): a material whose symbol is weight0, weight1, ... in order. Fewer values than
/// slots are filled with zeros.
HX_API HX_MUST_USE hx_status_t hx_builder_plain(hx_builder_t *builder, const double *values, size_t count,
                                                bool complex_values, const hx_node_options_t *options, hx_node_t **out,
                                                hx_report_t *report);
/// Any operation of the catalogue. State is inferred and checked at once, with the messages of the engine.
/// @param operation  "ckks.rotate"; keys are left out, the pass resolve-keys adds them
/// @param attributes MLIR text: "{step = 3 : i64}"; NULL: none
/// @param results    room for result_count
HX_API HX_MUST_USE hx_status_t hx_builder_op(hx_builder_t *builder, const char *operation, hx_node_t *const *operands,
                                             size_t operand_count, const char *attributes, hx_node_t **results,
                                             size_t result_count, hx_report_t *report);
/// The next output of @main.
HX_API HX_MUST_USE hx_status_t hx_builder_output(hx_builder_t *builder, const char *name, hx_node_t *node,
                                                 hx_report_t *report);
/// Ends the program and hands it over, verified. The builder takes no more steps; hx_builder_bind stays possible.
/// Refused (operands): no output.
HX_API HX_MUST_USE hx_status_t hx_builder_finish(hx_builder_t *builder, hx_program_t **out, hx_report_t *report);
/// Encodes the builder's plaintexts and binds them to a compilation of the program, those that it still refers to.
HX_API HX_MUST_USE hx_status_t hx_builder_bind(const hx_builder_t *builder, hx_compilation_t *compilation,
                                               hx_report_t *report);

// ------------------------------------------------------------------ scales

/// Two values as two that add and sub take: one depth, one exact scale. Equal scales: the shallower one drops levels.
/// Else one is multiplied by 1 at the missing scale (at least 2^20, so that the constant is right to 2^-21) and
/// rescaled, the other drops levels; the way that ends shallowest is taken. It costs a depth where both are at one
/// depth with nearly equal scales. Refused: scale-mismatch (both scales and depths, their ratio), slots-mismatch, type
/// (no ciphertext in ntt domain).
HX_ENGINE_METHOD hx_engine_match(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out_a,
                                 hx_value_t **out_b, hx_report_t *report);
/// hx_engine_match as steps of the program.
HX_API HX_MUST_USE hx_status_t hx_builder_match(hx_builder_t *builder, hx_node_t *a, hx_node_t *b, hx_node_t **out_a,
                                                hx_node_t **out_b, hx_report_t *report);

// ------------------------------------------------------------------ polynomials

/// What coefficients multiply.
typedef enum hx_polynomial_basis {
  HX_POLYNOMIAL_POWER,     ///< sum of c_i y^i
  HX_POLYNOMIAL_CHEBYSHEV  ///< sum of c_i T_i(y), y in [-1, 1]
} hx_polynomial_basis_t;   ///< see hx_polynomial_basis

/// A polynomial in y. Zero-initialise. Arrays are borrowed for the call.
typedef struct hx_polynomial {
  const double *coefficients;   ///< [count], from the constant up; zeros at the end do not count
  size_t count;                 ///< 1 to HX_POLYNOMIAL_COUNT_MAX
  hx_polynomial_basis_t basis;  ///< of the coefficients
  /// y = (2 x - low - high) / (high - low). Both 0: y = x. Takes a depth, save where the half width is 1, 1/2, 1/4, ...
  double low;
  double high;        ///< end of the interval
  const char *scale;  ///< of the result, canonical text; NULL: that of x
} hx_polynomial_t;
/// Coefficients at most.
#define HX_POLYNOMIAL_COUNT_MAX 65536

/// What an evaluation takes.
typedef struct hx_polynomial_cost {
  uint32_t degree;     ///< of the highest coefficient that is not 0
  uint32_t depth;      ///< depths consumed: the least, ceil(log2(degree + 1)), and 1 where the interval costs one
  uint32_t products;   ///< of two ciphertexts
  uint32_t constants;  ///< multiplications by a constant
} hx_polynomial_cost_t;

/// @param scale of x, canonical text; NULL: the parameters' default
HX_API HX_MUST_USE hx_status_t hx_polynomial_cost(const hx_params_t *params, const hx_polynomial_t *polynomial,
                                                  const char *scale, hx_polynomial_cost_t *out, hx_report_t *report);

/// Evaluates slot by slot, by Paterson and Stockmeyer's splitting [PS73] in either basis, with the number of small
/// powers that takes fewest products. Needs the relinearization key where the degree is above 1. Coefficients that are
/// 0 cost nothing, so even and odd polynomials take about half. The scale of x has to be near the product of a depth's
/// primes, as the default scale is: that of a power runs away from it twice as far with each squaring.
/// Refused: invalid-argument (no coefficients, one that is not finite, an empty interval), no-depth (naming how many it
/// takes), scale-range (a scale of the result that cannot be reached exactly).
HX_ENGINE_METHOD hx_engine_polynomial(hx_engine_t *engine, const hx_value_t *x, const hx_polynomial_t *polynomial,
                                      hx_value_t **out, hx_report_t *report);
/// hx_engine_polynomial as steps of the program.
HX_API HX_MUST_USE hx_status_t hx_builder_polynomial(hx_builder_t *builder, hx_node_t *x,
                                                     const hx_polynomial_t *polynomial, hx_node_t **out,
                                                     hx_report_t *report);

/// Chebyshev coefficients of the interpolant of `function` at the degree + 1 Chebyshev nodes of [low, high]
/// [TRE13, chapter 3]: within a small factor of the best approximation of that degree. What is below 2^-50 of the
/// largest is set to 0, so that even and odd functions keep their zeros, which cost nothing.
/// @param coefficients room for degree + 1
HX_API HX_MUST_USE hx_status_t hx_chebyshev_fit(double (*function)(double x, void *argument), void *argument,
                                                double low, double high, uint32_t degree, double *coefficients,
                                                hx_report_t *report);

// ------------------------------------------------------------------ matrices

/// A matrix prepared for products with encrypted vectors, by diagonals in baby and giant steps [HS14]. It
/// keeps its encoded diagonals for the depth and scale last used. Reference-counted, any thread.
typedef struct hx_matrix hx_matrix_t;

/// Shape and layout. Zero-initialise.
typedef struct hx_matrix_options {
  size_t rows;      ///< of the matrix: numbers of the result
  size_t columns;   ///< numbers of the vector
  bool is_complex;  ///< entries are pairs (re, im)
  uint32_t slots;   ///< of the vectors: a power of two
  /// The vector repeats in its slots with this period, a power of two from `columns` up; 0: `slots`, so the vector
  /// stands once and what follows it does not matter. A short period takes fewer diagonals.
  uint32_t period;
  uint32_t baby;  ///< baby steps; 0: what takes least work
  /// The engine keeps the diagonals as one period each and expands one at a time: far less memory where the period is
  /// short, and more work, as the steps are not merged.
  bool compact;
} hx_matrix_options_t;

/// @param entries [rows][columns], copied
/// Refused: invalid-argument (no rows or columns, an entry that is not finite), slots (a matrix larger than the slots,
/// a period that is no power of two or too small).
HX_API HX_MUST_USE hx_status_t hx_matrix_create(const hx_matrix_options_t *options, const double *entries,
                                                hx_matrix_t **out, hx_report_t *report);
/// One more owner.
HX_API hx_matrix_t *hx_matrix_retain(const hx_matrix_t *matrix);
/// One owner less; NULL is allowed.
HX_API void hx_matrix_release(hx_matrix_t *matrix);

/// Steps that need a key, ascending, each in [1, slots). Returns their count; writes at most room of them.
HX_API size_t hx_matrix_rotations(const hx_matrix_t *matrix, int64_t *out_steps, size_t room);

/// What a product takes.
typedef struct hx_matrix_cost {
  size_t diagonals;  ///< that are not 0
  uint32_t baby;     ///< baby steps: rotations of the vector
  uint32_t giant;    ///< steps, those by 0 included
  uint32_t folds;    ///< further rotations: a matrix of fewer rows than the period
  uint32_t period;   ///< of the result: the least power of two from `rows` up
} hx_matrix_cost_t;
/// What a product takes.
HX_API void hx_matrix_cost(const hx_matrix_t *matrix, hx_matrix_cost_t *out);

/// The product, one depth deeper. Slot i of the result is entry i modulo its period; entries from `rows` up are 0.
/// Diagonals that are 0 are skipped. @param scale of the result; NULL: that of x
HX_ENGINE_METHOD hx_engine_matrix_vector(hx_engine_t *engine, hx_matrix_t *matrix, const hx_value_t *x,
                                         const char *scale, hx_value_t **out, hx_report_t *report);

/// How a product is written into a program.
typedef enum hx_matrix_form {
  HX_MATRIX_PLAIN,   ///< single rotations, products and sums, which passes may merge
  HX_MATRIX_MERGED   ///< rotate_weighted_sum for the baby steps, rotate_sum for the giant ones
} hx_matrix_form_t;  ///< see hx_matrix_form
/// hx_engine_matrix_vector as steps of the program; `scale` of the diagonals, NULL: the default.
HX_API HX_MUST_USE hx_status_t hx_builder_matrix_vector(hx_builder_t *builder, const hx_matrix_t *matrix, hx_node_t *x,
                                                        const char *scale, hx_matrix_form_t form, hx_node_t **out,
                                                        hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
