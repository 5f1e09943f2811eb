// SPDX-License-Identifier: Apache-2.0
// ChaCha20 of RFC 8439. Private to reference/ and its tests.
#ifndef HELIOX_REFERENCE_CHACHA_H
#define HELIOX_REFERENCE_CHACHA_H

#include <stdint.h>

#define HX_REF_CHACHA_BLOCK 64u  // bytes

// Block `counter` of the keystream of a key and nonce. Constant-time.
void hx_ref_chacha20_block(const uint8_t key[32], uint32_t counter, const uint8_t nonce[12],
                           uint8_t out[HX_REF_CHACHA_BLOCK]);

#endif
