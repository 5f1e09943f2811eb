// SPDX-License-Identifier: Apache-2.0
// Which steps of a program without control flow need which: a step needs those that write what it reads, and what they
// need. A device that runs independent steps at once must not be made to wait by memory that is used again.
#ifndef HELIOX_CORE_LINK_KIN_H
#define HELIOX_CORE_LINK_KIN_H

#include "core/link/executable.h"

#define HX_KIN_STEPS_MAX 2048u  // of a program that is looked at: memory grows with the square

typedef struct hx_kin hx_kin_t;

// For at most HX_KIN_STEPS_MAX steps, before any root is merged.
hx_status_t hx_kin_create(const hx_executable_t *exe, hx_kin_t **out);
void hx_kin_release(hx_kin_t *kin);
// Whether every step that touches `before` is needed by each that writes `after`, so that the memory of the one may be
// the other's and nothing waits longer for it.
bool hx_kin_follows(const hx_kin_t *kin, uint32_t before, uint32_t after);
// Whether a step needs all others that touch a root.
bool hx_kin_is_last(const hx_kin_t *kin, uint32_t root, uint32_t step);
// Root `from` lies in `into` from now on: computed in place of it, or at once where it would be copied.
void hx_kin_merge(hx_kin_t *kin, uint32_t into, uint32_t from, bool from_is_first);

#endif
