// SPDX-License-Identifier: Apache-2.0
// Values of random residues from a seed: as good as any for exact arithmetic, worth nothing as secrets.
#ifndef HELIOX_CORE_COMPILE_RANDOM_H
#define HELIOX_CORE_COMPILE_RANDOM_H

#include "core/compile/compilation.h"

// A public value of a complete type under the compilation's parameters; a ciphertext carries the id of its keys.
// `what` names it in the fault (input).
hx_status_t hx_value_make_random(const hx_compilation_t *compilation, const hx_type_t *type, const char *what,
                                 uint64_t *state, hx_value_t **out, hx_report_t *report);

#endif
