// SPDX-License-Identifier: Apache-2.0
// Debug mode: the truth beside what is predicted. With the secret at hand, every value that a watched engine makes
// carries the numbers it should hold, computed in plain complex arithmetic from those of its operands.
#ifndef HELIOX_CORE_EAGER_TRUTH_H
#define HELIOX_CORE_EAGER_TRUTH_H

#include "core/eager/engine.h"

// What the results of a call should hold, [result_count], before it runs; NULL where that is not known: no watch, a
// batch, an operation without a rule, no memory. Entries are one reference each.
hx_truth_t **hx_engine_truths(const hx_engine_t *engine, const hx_engine_call_t *call);
// Gives the results their truths and tells the watcher how far each is from it. Takes the list.
void hx_engine_tell_truths(const hx_engine_t *engine, const hx_engine_call_t *call, hx_value_t *const *outs,
                           hx_truth_t **truths);
void hx_engine_drop_truths(hx_truth_t **truths, size_t count);

#endif
