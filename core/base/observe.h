// SPDX-License-Identifier: Apache-2.0
// For tests of the library's inside: told of the code of every fault and every verdict of a gate, also where nobody
// keeps a report. NULL, and asked for nothing, in programs.
#ifndef HELIOX_CORE_BASE_OBSERVE_H
#define HELIOX_CORE_BASE_OBSERVE_H

#include "heliox/base.h"

// Set before anything else runs; called from any thread.
extern void (*hx_code_observer)(hx_code_t code);

static inline void hx_code_observe(hx_code_t code) {
  if (hx_code_observer != NULL) hx_code_observer(code);
}

#endif
