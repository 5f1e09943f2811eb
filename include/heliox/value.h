// SPDX-License-Identifier: Apache-2.0
/// @file
/// Values: ciphertexts and plaintexts. A value is a tensor of residues plus its CKKS state.
#ifndef HELIOX_VALUE_H
#define HELIOX_VALUE_H

#include "heliox/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reference-counted. State never changes after creation; several threads may read one value.
typedef struct hx_value hx_value_t;

/// Tensors and seeds are what programs of the rns dialect take and give; they carry no CKKS state. Numbers are public:
/// trip counts and conditions.
typedef enum hx_value_kind {
  HX_VALUE_CIPHERTEXT,
  HX_VALUE_PLAINTEXT,
  HX_VALUE_TENSOR,
  HX_VALUE_NUMBER
} hx_value_kind_t;

/// One more owner.
HX_API hx_value_t *hx_value_retain(const hx_value_t *value);
/// Wipes the memory of secret values. NULL is allowed.
HX_API void hx_value_release(hx_value_t *value);

/// Ciphertext, plaintext or number.
HX_API hx_value_kind_t hx_value_kind(const hx_value_t *value);
HX_API const hx_params_t *hx_value_params(const hx_value_t *value);  ///< borrowed
HX_API const uint8_t *hx_value_key_id(const hx_value_t *value);      ///< 16 bytes, zero for plaintexts
/// Its depth; 0: fresh.
HX_API uint32_t hx_value_depth(const hx_value_t *value);
/// 2, or 3 before a relinearization; plaintexts: 1.
HX_API uint32_t hx_value_components(const hx_value_t *value);
/// Numbers that it holds.
HX_API uint32_t hx_value_slots(const hx_value_t *value);
/// Primes that are there.
HX_API uint32_t hx_value_limbs(const hx_value_t *value);
/// Log2 of its exact scale.
HX_API double hx_value_scale_log2(const hx_value_t *value);
/// Values that the message had before encoding, and whether they were complex; kept through operations.
HX_API uint64_t hx_value_count(const hx_value_t *value);
/// Whether the message was complex.
HX_API bool hx_value_is_complex(const hx_value_t *value);
/// Whether it is wiped when released, and never leaves for a plugin that is not trusted with secrets.
HX_API bool hx_value_is_secret(const hx_value_t *value);
/// Of its residues.
HX_API uint64_t hx_value_bytes(const hx_value_t *value);
/// A public number for a static input. `type` is the IR's: "index", "i64", "si32", "ui8", "i1", or "f64" for the second
/// form. Refused: another type (type), a number that the type does not hold (value).
HX_API HX_MUST_USE hx_status_t hx_value_integer(const hx_params_t *params, const char *type, int64_t number,
                                                hx_value_t **out, hx_report_t *report);
/// The same of a real number: type f64.
HX_API HX_MUST_USE hx_status_t hx_value_real(const hx_params_t *params, double number, hx_value_t **out,
                                             hx_report_t *report);
/// The number of a value of kind number: an integer (u64 keep their bits), else a double; 0 for other kinds.
HX_API int64_t hx_value_get_integer(const hx_value_t *value);
/// As a double.
HX_API double hx_value_get_real(const hx_value_t *value);
/// The IR type's text: the whole state. Returns the length without NUL; writes at most size bytes.
HX_API size_t hx_value_type_text(const hx_value_t *value, char *text, size_t size);
/// True if kind, state, parameters, key id and every residue are equal. Not for secrets (not constant-time).
HX_API bool hx_value_equal(const hx_value_t *a, const hx_value_t *b);

/// How a message is packed. Zero-initialise; zeros mean the defaults.
typedef struct hx_encode_options {
  uint32_t slots;     ///< 0: N/2
  uint32_t depth;     ///< depth of the plaintext
  const char *scale;  ///< canonical text; NULL: the parameters' default
  bool secret;        ///< mark as secret (true when it is going to be encrypted)
  bool weighted;      ///< on Q and P: a weight of rotate_weighted_sum, as hx_engine_prepare_plain makes it
  /// The message repeats in its slots with this period, a power of two up to slots; at most as many values. 0: slots.
  /// 1: one number in every slot. A short period is cheaper to encode.
  uint32_t period;
  double magnitude;  ///< of a secret message, for predictions of noise alone: a public bound on |z|; 0: 1
} hx_encode_options_t;

/// Encodes real (count doubles) or complex (count pairs re, im) values into a plaintext, ntt domain.
/// Fewer values than slots are filled with zeros. Refused, naming index or value: NaN, infinity, more values than
/// slots, none, a coefficient above (Q_d - 1) / 2, a slot count that is no power of two in [1, N/2], a bad scale.
/// Follows [CKKS17] section 3; double-double above scale 2^52.
HX_API HX_MUST_USE hx_status_t hx_encode(const hx_params_t *params, const double *values, size_t count,
                                         bool complex_values, const hx_encode_options_t *options, hx_value_t **out,
                                         hx_report_t *report);

/// Encodes numbers as the coefficients themselves, each times the scale, rounded to nearest, ties to even: coefficient
/// k of the packing is values[k], so products of messages are convolutions mod X^N + 1 (of the packing). At most 2 *
/// slots values; options as in hx_encode, without a period. Refused: as there.
HX_API HX_MUST_USE hx_status_t hx_encode_coefficients(const hx_params_t *params, const double *values, size_t count,
                                                      const hx_encode_options_t *options, hx_value_t **out,
                                                      hx_report_t *report);
/// The coefficients of the packing, divided by the scale: out_values has room for 2 * hx_value_slots doubles.
HX_API HX_MUST_USE hx_status_t hx_decode_coefficients(const hx_value_t *plaintext, double *out_values,
                                                      hx_report_t *report);

/// Decodes a plaintext into slots pairs (re, im): out_values has room for 2 * hx_value_slots doubles.
HX_API HX_MUST_USE hx_status_t hx_decode(const hx_value_t *plaintext, double *out_values, hx_report_t *report);

// ------------------------------------------------------------------ predicted noise
// A value carries what is predicted of its error: average case, one rule an operation (core/ckks/noise_rules.c), an
// upper bound for products of dependent operands. Messages are bounded by what encoding saw, or for secret ones by the
// magnitude declared; a result is as good as that bound.

/// What is predicted of a value's error.
typedef struct hx_value_noise {
  bool known;            ///< false: the rest is 0
  double rms;            ///< of the error's coefficients, in units of the residues
  double slot_rms;       ///< of a slot's error |z' - z|
  double slot_sigma;     ///< the same for the slots that are worst; slots stay below 12 of these
  double precision;      ///< -log2(slot_sigma)
  double magnitude;      ///< bound on |z|
  double headroom_bits;  ///< log2 of (Q_d / 2) / (magnitude * scale): below 0 the message may wrap around
} hx_value_noise_t;      ///< see hx_value_noise

/// Fills it in.
HX_API void hx_value_noise(const hx_value_t *value, hx_value_noise_t *out);

// ------------------------------------------------------------------ batches
// A value may hold a batch: up to four axes before the components, numbered from 0. Every operation works on all items
// at once; operands have equal batch shapes, or one has none and serves every item. Views share memory; values never
// change.

/// Batch axes, 0 to 4. Writes their lengths (room for 4; may be NULL).
HX_API uint32_t hx_value_batch(const hx_value_t *value, uint64_t *out_shape);
/// One value with a new axis 0 of `count` items, a copy. The values agree in parameters, secret and state.
/// Refused: none or NULL (invalid-argument), different states (shape, scale-mismatch, ...: the part named), other
/// parameters (params-digest), another secret (key-id), four axes already (shape), device memory (device-mix).
HX_API HX_MUST_USE hx_status_t hx_value_stack(const hx_value_t *const *values, size_t count, hx_value_t **out,
                                              hx_report_t *report);
/// Item `index` of an axis, which vanishes; a view. Refused (shape): no such axis or item.
HX_API HX_MUST_USE hx_status_t hx_value_select(const hx_value_t *value, uint32_t axis, uint64_t index, hx_value_t **out,
                                               hx_report_t *report);
/// Items first .. first+count-1 of an axis, which stays; a view. Refused (shape): no such axis or items, or none.
HX_API HX_MUST_USE hx_status_t hx_value_slice(const hx_value_t *value, uint32_t axis, uint64_t first, uint64_t count,
                                              hx_value_t **out, hx_report_t *report);
/// All items of axis 0, views. @param outs room for its length; untouched on failure
HX_API HX_MUST_USE hx_status_t hx_value_unbind(const hx_value_t *value, hx_value_t **outs, hx_report_t *report);

/// Encodes `items` messages of `count` values each, one after the other, into a plaintext with a batch axis. Faults
/// name the item.
HX_API HX_MUST_USE hx_status_t hx_encode_batch(const hx_params_t *params, const double *values, size_t items,
                                               size_t count, bool complex_values, const hx_encode_options_t *options,
                                               hx_value_t **out, hx_report_t *report);
/// Decodes a plaintext with any batch axes, items in order: out_values has room for 2 * hx_value_slots doubles an item.
HX_API HX_MUST_USE hx_status_t hx_decode_batch(const hx_value_t *plaintext, double *out_values, hx_report_t *report);

// ------------------------------------------------------------------ compact plaintexts

/// A plaintext whose message repeats, kept as one period: N / (2 * period) times smaller. Operations expand it for
/// their own time (hx_engine_mul_compact and its kin). Reference-counted; immutable, any thread.
typedef struct hx_compact hx_compact_t;
/// Finds the shortest period that the residues have; a message that does not repeat takes as much as before. In ntt
/// domain, host memory, no batch. Refused: secret plaintexts (secret).
HX_API HX_MUST_USE hx_status_t hx_plaintext_compact(const hx_value_t *plaintext, hx_compact_t **out,
                                                    hx_report_t *report);
/// The plaintext, bit for bit.
HX_API HX_MUST_USE hx_status_t hx_compact_expand(const hx_compact_t *compact, hx_value_t **out, hx_report_t *report);
/// One more owner.
HX_API hx_compact_t *hx_compact_retain(const hx_compact_t *compact);
HX_API void hx_compact_release(hx_compact_t *compact);          ///< NULL is allowed
HX_API uint64_t hx_compact_bytes(const hx_compact_t *compact);  ///< of its residues

#ifdef __cplusplus
}
#endif
#endif
