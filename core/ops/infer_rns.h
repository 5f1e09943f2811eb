// SPDX-License-Identifier: Apache-2.0
// Steps that the hooks of the rns dialect share. Representation: add, sub, neg and reduce take lazy values, the three
// montgomery rows montgomery ones, views any; all else takes standard.
#ifndef HELIOX_CORE_OPS_INFER_RNS_H
#define HELIOX_CORE_OPS_INFER_RNS_H

#include "core/ops/infer.h"

// Operand `index` as a tensor of residues of the ring's word.
hx_status_t hx_rns_load(const hx_infer_t *call, size_t index, hx_state_t *out);
hx_status_t hx_rns_load_standard(const hx_infer_t *call, size_t index, hx_state_t *out);
// Joins operand `index` of an element-wise operation: all parts equal, one component or no batch is used for all.
hx_status_t hx_rns_join(const hx_infer_t *call, hx_state_t *state, size_t index);
// The state becomes result 0.
hx_status_t hx_rns_finish(hx_infer_t *call, const hx_state_t *state);
// Attribute residues: `words` constants a row, each below the row's prime.
hx_status_t hx_rns_check_residues(const hx_infer_t *call, const hx_type_t *type, size_t words);
// Removes the batch axis that attribute axis names.
hx_status_t hx_infer_drop_axis(const hx_infer_t *call, hx_type_t *type);

#endif
