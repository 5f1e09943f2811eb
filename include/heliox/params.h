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

HX_API hx_params_t *hx_params_retain(const hx_params_t *params);
HX_API void hx_params_release(hx_params_t *params);

HX_API const char *hx_params_name(const hx_params_t *params);        ///< "" if it has none
HX_API const char *hx_params_json(const hx_params_t *params);        ///< canonical text, what the digest covers
HX_API const uint8_t *hx_params_digest(const hx_params_t *params);   ///< 32 bytes
HX_API const char *hx_params_digest_hex(const hx_params_t *params);  ///< 64 digits
HX_API bool hx_params_is_insecure(const hx_params_t *params);
HX_API uint32_t hx_params_log_n(const hx_params_t *params);
HX_API uint32_t hx_params_word(const hx_params_t *params);
HX_API uint32_t hx_params_q_count(const hx_params_t *params);
HX_API uint32_t hx_params_p_count(const hx_params_t *params);
HX_API uint64_t hx_params_prime(const hx_params_t *params, uint32_t id);  ///< 0 if out of range
HX_API uint32_t hx_params_group_count(const hx_params_t *params);         ///< base group included
HX_API uint32_t hx_params_group_size(const hx_params_t *params, uint32_t group);
HX_API uint32_t hx_params_max_depth(const hx_params_t *params);
HX_API uint32_t hx_params_digits_asked(const hx_params_t *params);
HX_API uint32_t hx_params_digits(const hx_params_t *params);     ///< as they come out
HX_API const char *hx_params_scale(const hx_params_t *params);   ///< default scale, canonical text
HX_API const char *hx_params_secret(const hx_params_t *params);  ///< "ternary" or "ternary:h"
HX_API double hx_params_log2_q(const hx_params_t *params);
HX_API double hx_params_log2_p(const hx_params_t *params);
/// Largest log2(QP) for 128-bit classical security at this N; 0 beyond the table.
HX_API uint32_t hx_params_security_limit(const hx_params_t *params);
/// Bytes of one relinearization or rotation key, and of a fresh ciphertext.
HX_API uint64_t hx_params_key_bytes(const hx_params_t *params);
HX_API uint64_t hx_params_ciphertext_bytes(const hx_params_t *params);

#ifdef __cplusplus
}
#endif
#endif
