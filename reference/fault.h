// SPDX-License-Identifier: Apache-2.0
// Failures and scratch memory. Private to reference/.
#ifndef HELIOX_REFERENCE_FAULT_H
#define HELIOX_REFERENCE_FAULT_H

#include "heliox/plugin.h"

// Fills *error (may be NULL) with code and text, op HX_NONE; returns code. Text is cut at the size of the message.
int32_t hx_ref_fail(hx_error *error, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Memory that may have held secrets: overwritten, and not optimised away, then freed. NULL is fine.
void hx_ref_scratch_release(void *memory, size_t bytes);

#endif
