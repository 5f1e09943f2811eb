// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding beside the public calls of heliox/value.h: plaintexts from and to exact coefficients. Known
// answers and tests use these; hx_encode and hx_decode are made of them.
#ifndef HELIOX_CORE_CKKS_ENCODE_H
#define HELIOX_CORE_CKKS_ENCODE_H

#include "core/ckks/encode_round.h"
#include "core/ckks/rows.h"
#include "core/ckks/value.h"

// The type of a plaintext: ntt domain, standard, Q at a depth. `slots` and `depth` are checked by the caller.
void hx_plaintext_type(const hx_params_t *params, uint32_t depth, uint32_t slots, const hx_scale_t *scale,
                       hx_type_t *out);

// hx_encode, hx_decode with arithmetic where `rows` says.
hx_status_t hx_encode_on(const hx_rows_t *rows, const double *values, size_t count, bool complex_values,
                         const hx_encode_options_t *options, hx_value_t **out, hx_report_t *report);
hx_status_t hx_decode_on(const hx_rows_t *rows, const hx_value_t *plaintext, double *out_values, hx_report_t *report);

// The steps of hx_encode_on, for other forms of messages. What is encoded: count doubles or pairs (re, im).
typedef struct hx_encode_message {
  const double *values;
  size_t count;
  bool is_complex, secret;
} hx_encode_message_t;
// The plaintext's type for these options, checked.
hx_status_t hx_encode_type(const hx_params_t *params, const hx_encode_options_t *options, hx_type_t *out,
                           hx_report_t *report);
// The slots that `count` values fill: one period, or all.
hx_status_t hx_encode_check_period(const hx_encode_options_t *options, uint32_t slots, size_t count, uint32_t *out,
                                   hx_report_t *report);
// Whether no message whose slots have a mean magnitude of at most `mean` has a coefficient above (Q_d - 1) / 2: each is
// at most the scale times that mean.
bool hx_encode_is_small(const hx_params_t *params, const hx_type_t *type, double mean);
hx_status_t hx_encode_check_finite(const double *values, size_t count, bool is_complex, hx_report_t *report);
// Faults of an item of a batch, told as that item's.
void hx_encode_tell_item(const hx_report_t *inner, size_t item, hx_report_t *report);
// Packing of `slots` slots at the type's scale.
hx_status_t hx_encode_packing(const hx_params_t *params, const hx_type_t *type, uint32_t slots, hx_packing_t *out,
                              hx_report_t *report);
// Rounds and reduces; the coefficients stand N / (2 * interpolation->slots) apart.
hx_status_t hx_encode_rounded(const hx_rows_t *rows, const hx_type_t *type, const hx_interpolation_t *interpolation,
                              const hx_encode_message_t *message, hx_value_t **out, hx_report_t *report);

// A plaintext of this type (as hx_plaintext_type makes it) whose coefficient k * gap is integers[k] * 2^shift, k < 2 *
// slots; |integers[k]| < 2^120 and |integers[k] * 2^shift| <= (Q_d - 1) / 2 have been checked. Without branches or
// addresses that depend on the integers; `shift` is public.
hx_status_t hx_plaintext_from_integers(const hx_params_t *params, const hx_type_t *type, const hx_i128 *integers,
                                       uint32_t shift, bool secret, hx_value_t **out, hx_report_t *report);

// Exact coefficients of a plaintext, centred mod Q_d: sign and magnitude.
typedef struct hx_coefficients {
  uint32_t count;       // N
  uint32_t words;       // of each magnitude
  uint64_t *magnitude;  // [words][count], little-endian words: word w of coefficient k is [w * count + k]
  uint64_t *negative;   // [count]: all ones or 0
  uint64_t *block;      // one allocation behind both
} hx_coefficients_t;

// Coefficients of a plaintext without batch, on primes of Q, standard, in either domain. Constant time in the
// residues. Freed (and wiped) by hx_coefficients_deinit.
hx_status_t hx_plaintext_coefficients(const hx_value_t *plaintext, hx_coefficients_t *out, hx_report_t *report);
hx_status_t hx_plaintext_coefficients_on(const hx_rows_t *rows, const hx_value_t *plaintext, hx_coefficients_t *out,
                                         hx_report_t *report);

// Coefficients as signed words in scratch row 0 of a session of two, where all of them are below half the first prime
// in magnitude: by centring that row and comparing what follows for the others with what they hold. False: they are not
// (that much shows), or the session failed.
bool hx_plaintext_words(hx_row_session_t *session, const hx_value_t *plaintext);
void hx_coefficients_deinit(hx_coefficients_t *coefficients);

// What no decoding takes: a ciphertext, residues that are not standard, primes of P.
hx_status_t hx_decode_check_state(const hx_value_t *plaintext, hx_report_t *report);
// What hx_decode and hx_decode_coefficients refuse.
hx_status_t hx_decode_check(const hx_value_t *plaintext, hx_report_t *report);
// The coefficients k and k + slots of the packing, k < slots, as numbers re + i im times 2^*out_exponent, |re|, |im|
// < 1.
hx_status_t hx_decode_fold(const hx_rows_t *rows, const hx_value_t *plaintext, hx_fft_vector_t to,
                           int32_t *out_exponent, hx_report_t *report);
// Divides by the scale and multiplies by 2^exponent: to[positions[j]] to out pair j. False if one of them is no finite
// double.
bool hx_decode_unfold(hx_fft_vector_t values, size_t count, const uint32_t *positions, hx_dd_t scale, int32_t exponent,
                      double *out_values);

#endif
