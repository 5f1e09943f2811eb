// SPDX-License-Identifier: Apache-2.0
/// @file
/// Parameter sets: prime chain, digits, secret distribution, security verdict, digest.
#ifndef HELIOX_PARAMS_H
#define HELIOX_PARAMS_H

#include "heliox/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Immutable, reference-counted, any thread.
typedef struct hx_params hx_params_t;

enum {
  HX_PARAMS_INSECURE = 1  ///< accept sets below 128 bits, small test rings, sparse secrets without estimate
};

/// Presets of the table in core/ckks/presets.def, in order.
HX_API size_t hx_params_preset_count(void);
/// Name and one-line purpose of a preset; NULL if out of range. Static.
HX_API const char *hx_params_preset_name(size_t index);
/// What a preset is for; NULL where there is no such index.
HX_API const char *hx_params_preset_purpose(size_t index);
/// The default preset's name.
HX_API const char *hx_params_default_name(void);

/// A preset by name.
/// @retval HX_STATUS_NOT_FOUND unknown name; the text lists all
HX_API HX_MUST_USE hx_status_t hx_params_preset(const char *name, hx_params_t **out, hx_report_t *report);

/// Parameters from their JSON text (keys as in CKKS.md, any order and blanks; at most 64 KiB).
/// Every rule is checked: primes prime, 1 mod 2N, distinct, below 2^61 (word 64) or 2^31 (word 32), N in range,
/// 2P >= product of the largest digit, log2(QP) within the 128-bit table.
/// @param flags HX_PARAMS_INSECURE admits what only the security table or the range for real use refuses
/// @retval HX_STATUS_INVALID, HX_STATUS_REFUSED with one fault a broken rule
HX_API HX_MUST_USE hx_status_t hx_params_parse(hx_str_t json, const char *source, uint32_t flags, hx_params_t **out,
                                               hx_report_t *report);

/// Same Q, new special primes for this many digits (as few of the largest below 2^bits that are not in Q as
/// 2P >= the largest digit's product asks for). Another set with its own digest.
HX_API HX_MUST_USE hx_status_t hx_params_with_digits(const hx_params_t *params, uint32_t digits, uint32_t flags,
                                                     hx_params_t **out, hx_report_t *report);

/// What a parameter set is wanted for. Zero-initialise; 0 leaves a choice to the builder.
typedef struct hx_params_wish {
  uint32_t depth;         ///< products with their rescales, one after the other
  double precision;       ///< bits right in the worst slot after them, with fresh factors of size 1; or scale_bits
  uint32_t scale_bits;    ///< s of the default scale 2^s, 20 to 120
  uint32_t log_n;         ///< 0: the smallest N that is secure
  uint32_t slots;         ///< at least; a power of two
  uint32_t word;          ///< 64 (default) or 32
  uint32_t digits;        ///< 0: as few as stay secure
  uint32_t group_primes;  ///< primes of a depth group, 1 to 4; 0: as few as the word allows
  uint32_t base_bits;     ///< of the base; 0: the scale's and 8 to 10 more where primes of usual size allow it
  uint32_t special_bits;  ///< special primes lie below 2^this; 0: as the base
  uint32_t weight;        ///< nonzero coefficients of the secret, 0: uniform ternary (sparse ones ask for the flag)
  bool no_special;        ///< no special primes: no switching keys
} hx_params_wish_t;

/// Builds a set: the smallest N with which everything stays within the 128-bit table, primes so that a chain of
/// squarings stays at the scale (within 2^-15 bits for 40-bit primes at N = 2^16; a composite group comes as near as
/// the best of 48 pairs). The presets are what it gives for their wishes. Deterministic.
/// @param flags HX_PARAMS_INSECURE: a log_n that is given is taken even where the table refuses it
/// @retval HX_STATUS_REFUSED (insecure) nothing up to N = 2^17 does; HX_STATUS_INVALID (params, slots) a wish out of
/// range
HX_API HX_MUST_USE hx_status_t hx_params_make(const hx_params_wish_t *wish, uint32_t flags, hx_params_t **out,
                                              hx_report_t *report);

/// What results can be expected to be right to, in bits of the worst slot of values of size 1: -log2 of the error.
/// Average case, by the rules that travel with values.
typedef struct hx_params_precision {
  double fresh;       ///< after encryption
  double multiplied;  ///< after one product, relinearized and rescaled
  double rotated;     ///< after one rotation; NAN without special primes
  double deepest;     ///< after products with fresh values, one a depth, down to the last
  double drift_log2;  ///< log2 of how far, in bits, a chain of squarings leaves the default scale at worst
} hx_params_precision_t;
/// Predicted bits, for messages of size 1.
HX_API void hx_params_precision(const hx_params_t *params, hx_params_precision_t *out);

/// One more owner.
HX_API hx_params_t *hx_params_retain(const hx_params_t *params);
/// One owner less; NULL is allowed.
HX_API void hx_params_release(hx_params_t *params);

HX_API const char *hx_params_name(const hx_params_t *params);        ///< "" if it has none
HX_API const char *hx_params_json(const hx_params_t *params);        ///< canonical text, what the digest covers
HX_API const uint8_t *hx_params_digest(const hx_params_t *params);   ///< 32 bytes
HX_API const char *hx_params_digest_hex(const hx_params_t *params);  ///< 64 digits
/// Below 128 bits, or another secret than the tables assume.
HX_API bool hx_params_is_insecure(const hx_params_t *params);
/// N = 2^log_n.
HX_API uint32_t hx_params_log_n(const hx_params_t *params);
/// Bits of a residue's word: 64 or 32.
HX_API uint32_t hx_params_word(const hx_params_t *params);
/// Primes of Q.
HX_API uint32_t hx_params_q_count(const hx_params_t *params);
/// Special primes P; 0: no switching keys.
HX_API uint32_t hx_params_p_count(const hx_params_t *params);
HX_API uint64_t hx_params_prime(const hx_params_t *params, uint32_t id);  ///< 0 if out of range
HX_API uint32_t hx_params_group_count(const hx_params_t *params);         ///< base group included
/// Primes of a depth group; group 0 is the base.
HX_API uint32_t hx_params_group_size(const hx_params_t *params, uint32_t group);
/// Rescales that a fresh value can take.
HX_API uint32_t hx_params_max_depth(const hx_params_t *params);
/// Digits that were asked for.
HX_API uint32_t hx_params_digits_asked(const hx_params_t *params);
HX_API uint32_t hx_params_digits(const hx_params_t *params);     ///< as they come out
HX_API const char *hx_params_scale(const hx_params_t *params);   ///< default scale, canonical text
HX_API const char *hx_params_secret(const hx_params_t *params);  ///< "ternary" or "ternary:h"
/// Of all primes of Q.
HX_API double hx_params_log2_q(const hx_params_t *params);
/// Of all special primes.
HX_API double hx_params_log2_p(const hx_params_t *params);
/// Largest log2(QP) for 128-bit classical security at this N; 0 beyond the table.
HX_API uint32_t hx_params_security_limit(const hx_params_t *params);
/// Bytes of one relinearization or rotation key, and of a fresh ciphertext.
HX_API uint64_t hx_params_key_bytes(const hx_params_t *params);
/// Of a fresh ciphertext.
HX_API uint64_t hx_params_ciphertext_bytes(const hx_params_t *params);

#ifdef __cplusplus
}
#endif
#endif
