// SPDX-License-Identifier: Apache-2.0
// Files of parameters and values beside the public calls of heliox/file.h: readers of artifacts that are open already.
#ifndef HELIOX_CORE_CKKS_FILE_H
#define HELIOX_CORE_CKKS_FILE_H

#include "core/ckks/artifact.h"
#include "core/ckks/value.h"

// Parameters of an open artifact of kind params. Without `flags`' HX_PARAMS_INSECURE insecure ones are refused.
hx_status_t hx_params_read(hx_artifact_t *artifact, uint32_t flags, hx_params_t **out, hx_report_t *report);
void hx_params_writer_init(hx_artifact_writer_t *writer, const hx_params_t *params);

#define HX_FILE_PROGRAM "program"  // the tensor of a bundle that is its program's text

// All values of an open artifact of kind ciphertext or plaintext, or the stored materials of a bundle (perhaps none;
// the caller has placed the program's text); freed by hx_values_free.
hx_status_t hx_values_read(hx_artifact_t *artifact, const hx_params_t *params, hx_named_value_t **out_values,
                           size_t *out_count, hx_report_t *report);

#endif
