// SPDX-License-Identifier: Apache-2.0
// SHA-256 [FIPS180-4], of the images before they are used. The SDK offers no digest to plugins.
#ifndef HX_CUDA_SHA256_H
#define HX_CUDA_SHA256_H

#include <stddef.h>
#include <stdint.h>

void hx_cuda_sha256(const void *data, size_t size, uint8_t out[32]);
// As 64 lowercase digits.
void hx_cuda_sha256_text(const void *data, size_t size, char out[65]);

#endif
