// SPDX-License-Identifier: Apache-2.0
// Predicted noise that travels with a value: what core/ckks/noise.h says of one operation, kept apart by where it came
// from, so that sums of related values are predicted as what they are. One rule an operation (noise_rules.c), for
// values of the engine and for values of a program alike; nothing here looks at residues.
//
// Model. The error of a value is a sum of parts. A part is an error polynomial that one operation on one operand left
// (an encryption, a key switch, a rounding), times an amplitude: its RMS over all coefficients, signed, and its size at
// the slots where it is largest ("worst", not below the RMS; a message may have one large slot).
//   - Different parts are independent. A rotation or conjugation makes other parts of a value's parts: e and sigma(e)
//     meet in a few coefficients only.
//   - Equal parts add as they are, with their signs: a + a doubles, a - a cancels. Roundings and key switches commute
//     with i and -1 bit for bit, so rescale(-a) carries the very error of rescale(a).
//   - A product with a message shapes a part. Two shapes of one error are added as magnitudes, an upper bound by the
//     triangle inequality: within a factor 2 for two such terms, the square root of the number of terms for more.
//   - A product of dependent operands (common parts) takes the same bound, and 2 N V_a V_b for the product of the
//     errors. The bound passes the truth by at most 8 bits where the operands' common parts are not cancelled by a
//     subtraction.
// Messages are bounded in the same way: mean and largest |z|^2 over the slots, as parts whose magnitudes add (nothing
// is assumed independent), the lesser of mean times largest in products. Encoding measures them where the message is
// not secret; a secret one counts as what the caller declares (hx_encode_options), 1 by default, so that no prediction
// tells of a secret.
#ifndef HELIOX_CORE_CKKS_NOISE_STATE_H
#define HELIOX_CORE_CKKS_NOISE_STATE_H

#include "core/ckks/params.h"

// Of an error: RMS over all coefficients. Of a message: root of the mean |z|^2, and of the largest.
typedef struct hx_noise_part {
  uint64_t id;       // of the polynomial, its rotation included
  uint64_t shape;    // of what it was multiplied by: 0 by constants alone; bit 1: by i
  double amplitude;  // signed
  double worst;      // where slots are worst, at least |amplitude|
} hx_noise_part_t;

// The least ones are joined into one where there are more.
#define HX_NOISE_PARTS_MAX 16

typedef struct hx_noise_list {
  uint32_t count;
  hx_noise_part_t parts[HX_NOISE_PARTS_MAX];  // by ascending id
} hx_noise_list_t;

typedef struct hx_noise {
  bool known;        // false: nothing is known of the value, and the rest is 0
  bool private;      // bounds were measured on a message that has been encrypted since: never written to a file
  bool items_alike;  // a batch whose items share parts
  bool transparent;  // all components but the first are 0, as in a - a: key switches leave nothing, roundings little
  uint64_t id;       // equal for values computed alike from the same inputs, up to i^(id mod 4)
  uint64_t mask;     // the same of all components but the first, which plaintexts and constants leave alone
  hx_noise_list_t error, message;
} hx_noise_t;

// Variance per coefficient, and the one that the worst slots see.
double hx_noise_variance(const hx_noise_t *noise);
double hx_noise_worst_variance(const hx_noise_t *noise);
// Bounds on the mean and the largest |z|^2.
double hx_noise_power(const hx_noise_t *noise);
double hx_noise_peak(const hx_noise_t *noise);
// Sigma of the error of the worst slots of a ciphertext or plaintext of this type; NAN where not known.
double hx_noise_worst_sigma(const hx_noise_t *noise, const hx_type_t *type, const hx_ring *ring);

// ------------------------------------------------------------------ values that come from outside

// A plaintext just encoded: the rounding of its 2 * slots coefficients, and what double-double arithmetic loses at huge
// scales. `id` tells messages apart: equal for equal plaintexts.
void hx_noise_of_encoding(const hx_params_t *params, uint32_t slots, double scale, double power, double peak,
                          uint64_t id, hx_noise_t *out);
// Its encryption. `id` tells encryptions apart.
void hx_noise_of_encryption(const hx_params_t *params, const hx_noise_t *plaintext, bool symmetric, uint64_t id,
                            hx_noise_t *out);
// A value of which variance and message are told, as of a file: one part.
void hx_noise_of_report(double variance, double worst, double power, double peak, uint64_t id, hx_noise_t *out);

// ------------------------------------------------------------------ operations

// One operation, of the engine or of a program. Operands without noise (keys, messages) are NULL.
typedef struct hx_noise_call {
  const hx_params_t *params;
  hx_op_id_t id;
  hx_attrs_t attrs;
  const hx_type_t *const *types;      // [operand_count], complete
  const hx_noise_t *const *operands;  // [operand_count]
  size_t operand_count;
  double magnitude;     // bound on |z| of messages that the call encodes
  uint64_t call_id;     // tells encryptions and encodings of one program apart
  hx_noise_t *results;  // [result_count]
  size_t result_count;
} hx_noise_call_t;

// What the results carry. A result of an operation without a rule, or with an operand of which nothing is known, is not
// known. Allocates nothing; any thread.
void hx_noise_infer(const hx_noise_call_t *call);
// Whether an operation has a rule.
bool hx_noise_has_rule(hx_op_id_t id);

// ------------------------------------------------------------------ arithmetic of parts, for the rules

uint64_t hx_noise_mix(uint64_t id, uint64_t word);
// Adds a part to an error.
void hx_noise_add_part(hx_noise_t *noise, const hx_noise_part_t *part);
// A part of its own, white.
void hx_noise_add_white(hx_noise_t *noise, uint64_t id, double variance);
// Adds a part to a message.
void hx_noise_add_message(hx_noise_t *noise, uint64_t id, double amplitude, double worst);
// The message becomes one part with these means and largest |z|^2.
void hx_noise_set_message(hx_noise_t *noise, uint64_t id, double power, double peak);
// Every part of a list times a factor.
void hx_noise_times(hx_noise_list_t *list, double factor);
// Every part of the error times a message of this mean and largest |z|^2, at a scale; `shape` tells messages apart.
void hx_noise_shape(hx_noise_t *noise, double scale, double power, double peak, uint64_t shape);
// sigma of a rotation by step of slots (0 <= step < slots), or a conjugation.
void hx_noise_rotate(hx_noise_t *noise, uint32_t step, uint32_t slots);
void hx_noise_conjugate(hx_noise_t *noise);
// to += sign * from, error and message.
void hx_noise_accumulate(hx_noise_t *to, const hx_noise_t *from, double sign);
// Either of two values, nobody knows which: a bound on both. What both carry alike stays as it is, with its signs; of
// an error that they carry differently the larger amplitude counts, in a shape of its own, so that it never cancels
// against the same error elsewhere. `id` tells places apart where values are joined.
void hx_noise_join(hx_noise_t *to, const hx_noise_t *other, uint64_t id);
// Common parts of the errors.
// Every part of a list times i^unit.
void hx_noise_turn(hx_noise_list_t *list, uint32_t unit);
bool hx_noise_share_parts(const hx_noise_t *a, const hx_noise_t *b);

#endif
