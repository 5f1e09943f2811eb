// SPDX-License-Identifier: Apache-2.0
/// @file
/// Immediate calls on values. Every method checks its operands, computes the result's state, dispatches through the
/// backend and returns a new value; operands are never changed. Any thread.
///
/// Common failures, all before arithmetic and naming operand, states and fix: other parameters (params-digest), another
/// secret (key-id), scale-mismatch, depth-mismatch, slots-mismatch, components, domain, missing-key, no-depth.
#ifndef HELIOX_ENGINE_H
#define HELIOX_ENGINE_H

#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Calls on values, one method for each operation. Any thread.
typedef struct hx_engine hx_engine_t;

/// @param keys evaluation keys; NULL: only operations without keys. Retained.
HX_API HX_MUST_USE hx_status_t hx_engine_create(const hx_params_t *params, const hx_keys_t *keys,
                                                const hx_backend_t *backend, hx_engine_t **out, hx_report_t *report);
/// Frees it; NULL is allowed. Values that it made stay.
HX_API void hx_engine_release(hx_engine_t *engine);
HX_API const hx_params_t *hx_engine_params(const hx_engine_t *engine);  ///< borrowed
/// True while a function is captured (heliox/capture.h): calls are recorded, values have no data.
HX_API bool hx_engine_is_capturing(const hx_engine_t *engine);

/// What one operation of a watched engine left. Slots are of one value without batch axes.
typedef struct hx_engine_noise {
  const char *operation;  ///< "ckks.mul"
  size_t result;          ///< which of its results, from 0
  uint32_t depth;         ///< of the result
  bool known;             ///< whether there is a prediction
  double predicted;       ///< RMS of the slots' errors
  double measured;        ///< the same, in truth
  double worst;           ///< the largest
  double sigmas;          ///< that over the predicted sigma of the worst slots: below 12
} hx_engine_noise_t;
/// Called after every operation that is watched, from the thread that called it.
typedef void (*hx_engine_noise_fn)(void *argument, const hx_engine_noise_t *noise);

/// Debug mode, with the secret at hand: after every operation the result is decrypted and compared with what it should
/// hold, computed in plain complex arithmetic from what the first operands held. Slow, and it keeps decrypted numbers
/// in memory (wiped with their values): for development alone. Batches and operations between secrets are not watched.
/// Set it while no other thread uses the engine.
/// @param keys  a set with the secret; retained
/// @param watch called from whichever thread computes; NULL ends the watch
HX_API HX_MUST_USE hx_status_t hx_engine_watch_noise(hx_engine_t *engine, const hx_keys_t *keys,
                                                     hx_engine_noise_fn watch, void *argument, hx_report_t *report);

/// How methods are declared.
#define HX_ENGINE_METHOD HX_API HX_MUST_USE hx_status_t
/// a + b: equal states.
HX_ENGINE_METHOD hx_engine_add(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out,
                               hx_report_t *report);
/// a - b: equal states.
HX_ENGINE_METHOD hx_engine_sub(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out,
                               hx_report_t *report);
/// -a.
HX_ENGINE_METHOD hx_engine_neg(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
/// a + plaintext, of equal depth, scale and slots.
HX_ENGINE_METHOD hx_engine_add_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext,
                                     hx_value_t **out, hx_report_t *report);
/// a - plaintext, of equal depth, scale and slots.
HX_ENGINE_METHOD hx_engine_sub_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext,
                                     hx_value_t **out, hx_report_t *report);
/// a times plaintext, of equal depth and slots; scales multiply.
HX_ENGINE_METHOD hx_engine_mul_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext,
                                     hx_value_t **out, hx_report_t *report);
/// a + (re + i im) in every slot, at a's scale.
HX_ENGINE_METHOD hx_engine_add_scalar(hx_engine_t *engine, const hx_value_t *a, double re, double im, hx_value_t **out,
                                      hx_report_t *report);
/// @param scale canonical text of the constant's scale
HX_ENGINE_METHOD hx_engine_mul_scalar(hx_engine_t *engine, const hx_value_t *a, double re, double im, const char *scale,
                                      hx_value_t **out, hx_report_t *report);
/// a times an integer, exactly; depth and scale stay.
HX_ENGINE_METHOD hx_engine_mul_integer(hx_engine_t *engine, const hx_value_t *a, int64_t integer, hx_value_t **out,
                                       hx_report_t *report);
/// Three components.
HX_ENGINE_METHOD hx_engine_mul(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out,
                               hx_report_t *report);
/// a times itself: three components, the scale squared.
HX_ENGINE_METHOD hx_engine_square(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
/// Three components to two, by the relinearization key.
HX_ENGINE_METHOD hx_engine_relinearize(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
/// Divides by the last depth group's primes, rounded to nearest: one depth deeper.
HX_ENGINE_METHOD hx_engine_rescale(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
/// The same message at a greater depth; the scale stays.
HX_ENGINE_METHOD hx_engine_level_drop(hx_engine_t *engine, const hx_value_t *a, uint32_t depth, hx_value_t **out,
                                      hx_report_t *report);
/// The same residues read at another scale: the message changes by the ratio. `scale`: canonical text.
HX_ENGINE_METHOD hx_engine_reinterpret_scale(hx_engine_t *engine, const hx_value_t *a, const char *scale,
                                             hx_value_t **out, hx_report_t *report);
/// From coefficient to ntt domain.
HX_ENGINE_METHOD hx_engine_to_ntt(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
/// From ntt to coefficient domain.
HX_ENGINE_METHOD hx_engine_from_ntt(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
/// Slot i takes slot i + step; any integer, taken modulo the slots; 0 is a copy and needs no key.
HX_ENGINE_METHOD hx_engine_rotate(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_value_t **out,
                                  hx_report_t *report);
/// The complex conjugates of all slots, by the conjugation key.
HX_ENGINE_METHOD hx_engine_conjugate(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);

/// To another secret. The value is the first secret's; the result is the second's and has its key id. Two components.
HX_ENGINE_METHOD hx_engine_key_switch(hx_engine_t *engine, const hx_value_t *a, const hx_switch_t *key,
                                      hx_value_t **out, hx_report_t *report);
/// Times i, exactly: by X^(N/2), so that scale, depth and noise stay. (Times -i: hx_engine_mul_scalar with im -1, scale
/// "2^0".)
HX_ENGINE_METHOD hx_engine_mul_i(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);

// ------------------------------------------------------------------ sums and groups
// Arrays are borrowed for the call. outs receives new values; on failure it is untouched.

/// Sum over one batch axis, from 0; the axis vanishes. Refused (shape): no such axis.
HX_ENGINE_METHOD hx_engine_sum(hx_engine_t *engine, const hx_value_t *a, uint32_t axis, hx_value_t **out,
                               hx_report_t *report);
/// Sums of plaintext products: outs[g] is the sum over t of weights[g * count + t] times values[t]. The values share
/// their state; the products of a group share their scale. Cheaper than the products one by one: no sum leaves the
/// accumulator.
/// @param values  [count], count at least 1
/// @param weights [groups * count] plaintexts in ntt domain
/// @param outs    [groups]
HX_ENGINE_METHOD hx_engine_weighted_sum(hx_engine_t *engine, const hx_value_t *const *values, size_t count,
                                        const hx_value_t *const *weights, size_t groups, hx_value_t **outs,
                                        hx_report_t *report);
/// Several rotations of one value, decomposed once; bit for bit those of hx_engine_rotate. A step that is 0 modulo the
/// slots is a copy and needs no key.
/// @param outs [count], count at least 1
HX_ENGINE_METHOD hx_engine_rotate_many(hx_engine_t *engine, const hx_value_t *a, const int64_t *steps, size_t count,
                                       hx_value_t **outs, hx_report_t *report);
/// outs[g] is the sum over t of weights[g * count + t] times the rotation of `a` by steps[t], summed on Q and P with
/// one division by P in each group: less work and less noise than separate rotations, and other bits.
/// @param weights [groups * count] plaintexts from hx_engine_prepare_plain(HX_PLAIN_WEIGHTED)
/// @param outs    [groups]
HX_ENGINE_METHOD hx_engine_rotate_weighted_sum(hx_engine_t *engine, const hx_value_t *a, const int64_t *steps,
                                               size_t count, const hx_value_t *const *weights, size_t groups,
                                               hx_value_t **outs, hx_report_t *report);
/// The sum of the rotations of values[t] by steps[t], on Q and P with one division by P in all.
HX_ENGINE_METHOD hx_engine_rotate_sum(hx_engine_t *engine, const hx_value_t *const *values, const int64_t *steps,
                                      size_t count, hx_value_t **out, hx_report_t *report);

/// What a plaintext is prepared for.
typedef enum hx_plain_purpose { HX_PLAIN_ADD, HX_PLAIN_MUL, HX_PLAIN_WEIGHTED } hx_plain_purpose_t;
/// A plaintext as an operation wants it: ntt domain on Q at its depth; for rotate_weighted_sum on Q and P.
HX_ENGINE_METHOD hx_engine_prepare_plain(hx_engine_t *engine, const hx_value_t *plaintext, hx_plain_purpose_t purpose,
                                         hx_value_t **out, hx_report_t *report);

// ------------------------------------------------------------------ in place
// The result replaces *value, whose reference goes. Where the caller holds the only reference, and the backend's
// implementation allows it, the result takes the operand's memory and nothing is allocated; else these are the methods
// above and a release. On failure *value is what it was, save that a device that fails while it computes leaves zeros.

/// *value becomes hx_engine_add of it and b.
HX_ENGINE_METHOD hx_engine_add_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *b,
                                       hx_report_t *report);
/// *value becomes hx_engine_sub of it and b.
HX_ENGINE_METHOD hx_engine_sub_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *b,
                                       hx_report_t *report);
/// *value becomes its negative.
HX_ENGINE_METHOD hx_engine_neg_inplace(hx_engine_t *engine, hx_value_t **value, hx_report_t *report);
/// *value becomes hx_engine_add_plain of it.
HX_ENGINE_METHOD hx_engine_add_plain_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *plaintext,
                                             hx_report_t *report);
/// *value becomes hx_engine_sub_plain of it.
HX_ENGINE_METHOD hx_engine_sub_plain_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *plaintext,
                                             hx_report_t *report);
/// *value becomes hx_engine_mul_plain of it.
HX_ENGINE_METHOD hx_engine_mul_plain_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *plaintext,
                                             hx_report_t *report);
/// *value becomes hx_engine_add_scalar of it.
HX_ENGINE_METHOD hx_engine_add_scalar_inplace(hx_engine_t *engine, hx_value_t **value, double re, double im,
                                              hx_report_t *report);
/// *value becomes hx_engine_mul_scalar of it.
HX_ENGINE_METHOD hx_engine_mul_scalar_inplace(hx_engine_t *engine, hx_value_t **value, double re, double im,
                                              const char *scale, hx_report_t *report);
/// *value becomes hx_engine_mul_integer of it.
HX_ENGINE_METHOD hx_engine_mul_integer_inplace(hx_engine_t *engine, hx_value_t **value, int64_t integer,
                                               hx_report_t *report);

/// A rotation composed of those that the engine's keys have, by the plan of hx_keys_rotation_plan: more work and more
/// noise than the key for it, and other bits. One key switch for each step of the plan.
HX_ENGINE_METHOD hx_engine_rotate_composed(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_value_t **out,
                                           hx_report_t *report);

// ------------------------------------------------------------------ choice of the result's domain
// The same operations with the result left in the domain named: a value that is going to be decrypted, stored or
// key-switched next saves a transform in coefficient domain. Equal to the plain form followed by hx_engine_from_ntt,
// bit for bit.

/// In which a result is wanted.
typedef enum hx_domain { HX_DOMAIN_NTT, HX_DOMAIN_COEFFICIENT } hx_domain_t;
/// hx_engine_relinearize with a result in this domain.
HX_ENGINE_METHOD hx_engine_relinearize_to(hx_engine_t *engine, const hx_value_t *a, hx_domain_t domain,
                                          hx_value_t **out, hx_report_t *report);
/// hx_engine_rescale with a result in this domain.
HX_ENGINE_METHOD hx_engine_rescale_to(hx_engine_t *engine, const hx_value_t *a, hx_domain_t domain, hx_value_t **out,
                                      hx_report_t *report);
/// hx_engine_rotate with a result in this domain.
HX_ENGINE_METHOD hx_engine_rotate_to(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_domain_t domain,
                                     hx_value_t **out, hx_report_t *report);
/// hx_engine_key_switch with a result in this domain.
HX_ENGINE_METHOD hx_engine_key_switch_to(hx_engine_t *engine, const hx_value_t *a, const hx_switch_t *key,
                                         hx_domain_t domain, hx_value_t **out, hx_report_t *report);
/// hx_engine_conjugate with a result in this domain.
HX_ENGINE_METHOD hx_engine_conjugate_to(hx_engine_t *engine, const hx_value_t *a, hx_domain_t domain, hx_value_t **out,
                                        hx_report_t *report);

// ------------------------------------------------------------------ compact plaintexts
// As hx_engine_add_plain and its kin, bit for bit; the plaintext is expanded for the call.

/// hx_engine_add_plain with a plaintext of which one period is kept.
HX_ENGINE_METHOD hx_engine_add_compact(hx_engine_t *engine, const hx_value_t *a, const hx_compact_t *plaintext,
                                       hx_value_t **out, hx_report_t *report);
/// hx_engine_sub_plain with a plaintext of which one period is kept.
HX_ENGINE_METHOD hx_engine_sub_compact(hx_engine_t *engine, const hx_value_t *a, const hx_compact_t *plaintext,
                                       hx_value_t **out, hx_report_t *report);
/// hx_engine_mul_plain with a plaintext of which one period is kept.
HX_ENGINE_METHOD hx_engine_mul_compact(hx_engine_t *engine, const hx_value_t *a, const hx_compact_t *plaintext,
                                       hx_value_t **out, hx_report_t *report);

// ------------------------------------------------------------------ what the owner of the data does
// The calls of heliox/value.h and heliox/keys.h with the same results, bit for bit (but for what is random): arithmetic
// on secrets runs on the engine's backend where its plugin declares to handle secrets in constant time and works on
// host memory, for each operation that it has; else on the library's own routines, as there. Several times faster on
// cpu.

/// As hx_encode.
HX_ENGINE_METHOD hx_engine_encode(hx_engine_t *engine, const double *values, size_t count, bool complex_values,
                                  const hx_encode_options_t *options, hx_value_t **out, hx_report_t *report);
/// @param out_values room for 2 * hx_value_slots doubles
HX_ENGINE_METHOD hx_engine_decode(hx_engine_t *engine, const hx_value_t *plaintext, double *out_values,
                                  hx_report_t *report);
/// @param keys with the public part, or the secret for symmetric; NULL: the engine's
HX_ENGINE_METHOD hx_engine_encrypt(hx_engine_t *engine, const hx_keys_t *keys, const hx_value_t *plaintext,
                                   bool symmetric, hx_value_t **out, hx_report_t *report);
/// @param keys with the secret; NULL: the engine's
HX_ENGINE_METHOD hx_engine_decrypt(hx_engine_t *engine, const hx_keys_t *keys, const hx_value_t *ciphertext,
                                   hx_value_t **out, hx_report_t *report);
/// A new secret and its keys under the engine's parameters; the engine's own keys stay.
HX_ENGINE_METHOD hx_engine_generate_keys(hx_engine_t *engine, const hx_keygen_options_t *options, hx_keys_t **out,
                                         hx_report_t *report);

// ------------------------------------------------------------------ encoding on the device
// A plugin may encode and decode itself (the codec role of its ABI): plaintexts are made where they are used, and
// numbers cross to the device instead of residues. Never in place of hx_engine_encode: the caller asks for it, and says
// how much of a promise it takes.

/// What a codec promises.
typedef enum hx_codec_promise {
  HX_CODEC_NONE,    ///< there is no codec
  HX_CODEC_WITHIN,  ///< each coefficient within a bound of what hx_engine_encode gives; other plugins, devices, drivers
                    ///< and library builds may give other bits, so what is computed from it is reproduced there alone
  HX_CODEC_EXACT    ///< the coefficients of hx_engine_encode, bit for bit, so all that is computed from them
} hx_codec_promise_t;  ///< see hx_codec_promise

/// What an engine's device encodes and decodes by.
typedef struct hx_codec {
  hx_codec_promise_t promise;  ///< of its results
  double bound;                ///< of HX_CODEC_WITHIN, in units of the residues; else 0
} hx_codec_t;                  ///< see hx_codec
/// What the codec of the backend's first device promises (declared by the plugin, checked by the conformance suite).
HX_API void hx_engine_codec(const hx_engine_t *engine, hx_codec_t *out);

/// Encodes on the device: the plaintext lies in its memory, and its predicted noise counts the codec's bound. Values
/// and options as in hx_encode; none for the primes of P.
/// @param items messages of `count` values, one after the other, for a batch axis; 0: one message, no batch axis
/// @param least HX_CODEC_EXACT or HX_CODEC_WITHIN: a codec that promises less is refused (unsupported), as is none
/// Refused further: secret messages on a plugin that does not declare secrets (capability), messages whose mean
/// magnitude times the scale passes a quarter of Q_d (value), scales m * 2^e with m of more than 64 bits (unsupported).
HX_ENGINE_METHOD hx_engine_encode_device(hx_engine_t *engine, const double *values, size_t items, size_t count,
                                         bool complex_values, const hx_encode_options_t *options,
                                         hx_codec_promise_t least, hx_value_t **out, hx_report_t *report);
/// Decodes a plaintext in ntt domain, wherever the device can read it, batch or not. Numbers are within 2^-47 of the
/// largest (HX_CODEC_EXACT), or within the bound over the scale beyond that; their last bits are not promised.
/// @param out_values room for 2 * hx_value_slots doubles an item
HX_ENGINE_METHOD hx_engine_decode_device(hx_engine_t *engine, const hx_value_t *plaintext, hx_codec_promise_t least,
                                         double *out_values, hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
