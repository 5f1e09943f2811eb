// SPDX-License-Identifier: Apache-2.0
// SHA-256 [FIPS180-4]: for what a plugin loads beside its library, such as kernel images. Of public data.
#ifndef HELIOX_SUPPORT_SHA256_H
#define HELIOX_SUPPORT_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// SHA-256 of some bytes.
void hxs_sha256(const void *data, size_t size, uint8_t out[32]);
// As 64 lowercase digits.
void hxs_sha256_text(const void *data, size_t size, char out[65]);

#ifdef __cplusplus
}
#endif

#endif
