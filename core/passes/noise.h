// SPDX-License-Identifier: Apache-2.0
// Predicted noise of every value of a program: the rules of core/ckks/noise_rules.c, in the order of the program.
#ifndef HELIOX_CORE_PASSES_NOISE_H
#define HELIOX_CORE_PASSES_NOISE_H

#include "core/ckks/noise_state.h"
#include "core/ir/ir.h"

// What is asked. Zero-initialise.
typedef struct hx_noise_plan {
  const hx_params_t *params;
  double magnitude;                 // bound on |z| of inputs and materials of which nothing else is known; 0: 1
  const hx_noise_t *const *inputs;  // [inputs of @main]; NULL, or a NULL entry: a fresh encryption or encoding
  // A material's noise, or NULL; may be NULL itself.
  const hx_noise_t *(*material)(void *context, hx_str_t symbol);
  // Called for every result of an operation of @main, in order, those inside regions before what the structured
  // operation gives; of a loop those of its last turn. May be NULL. The noise is the callee's for the call.
  void (*visit)(void *context, const hx_ir_op_t *op, size_t result, const hx_noise_t *noise);
  void *context;
} hx_noise_plan_t;

#define HX_NOISE_STEPS_MAX ((uint64_t)1 << 16)  // operations that one loop is followed through, turn by turn

// Walks @main of a program whose states are inferred (hx_program_infer). Control flow is followed as far as the text
// says how it goes: a constant condition takes its region, another one either (hx_noise_join, a bound on both); a loop
// over constant bounds is followed turn by turn; one with heliox.turns = N may end after any of its turns up to N, and
// its results are a bound on all of them. Every turn has roundings and key switches of its own. What comes out of loops
// of which the text does not say how often they run, or that take more than HX_NOISE_STEPS_MAX operations, of calls,
// and of operations of other dialects is not known. Numbers the program's values. At most a few hundred bytes for each
// value that is alive at once.
// @param out_outputs [outputs of @main]
hx_status_t hx_program_predict_noise(hx_program_t *program, const hx_noise_plan_t *plan, hx_noise_t *out_outputs,
                                     hx_report_t *report);

#endif
