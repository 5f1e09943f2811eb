// SPDX-License-Identifier: Apache-2.0
// Making keys and signatures. The formats are in signature.h.
#ifndef HELIOX_CORE_PLUGIN_SIGNATURE_FILE_H
#define HELIOX_CORE_PLUGIN_SIGNATURE_FILE_H

#include "core/plugin/signature.h"

bool hx_secret_key_parse(hx_str_t text, uint8_t seed[32], const char **why);
// Whether the signature is one of this manifest by its key. HX_STATUS_OUT_OF_MEMORY.
hx_status_t hx_signature_verify(const hx_signature_t *signature, hx_str_t manifest, bool *out);

#endif
