// SPDX-License-Identifier: Apache-2.0
// Passes over a program and pipelines of them. One pass a file; its row stands in passes.def.
#ifndef HELIOX_CORE_PASSES_PASSES_H
#define HELIOX_CORE_PASSES_PASSES_H

#include "core/ckks/params.h"
#include "core/ir/ir.h"

// What a pass may know besides the program.
typedef struct hx_pass_env {
  const hx_ring *ring;  // parameters, or NULL
  // True if the target implements this operation natively. NULL: no target, everything is native.
  bool (*is_native)(void *argument, const hx_ir_op_t *op);
  void *native_argument;
  hx_str_t options;  // text between the braces of the pipeline entry
  hx_report_t *report;
} hx_pass_env_t;

typedef hx_status_t (*hx_pass_fn_t)(hx_program_t *program, hx_pass_env_t *env, bool *out_changed);

typedef struct hx_pass_info {
  const char *name;     // "dve"
  const char *options;  // those that it takes, comma-separated: "only=missing"; "" for none
  hx_pass_fn_t run;
  const char *doc;
} hx_pass_info_t;

const hx_pass_info_t *hx_pass_find(hx_str_t name);
size_t hx_pass_list(const hx_pass_info_t **out_passes);

// Runs "dve,cse,lower{only=missing}"; blanks are free, empty text does nothing. The program has passed
// hx_program_verify; it is verified after each pass. Unknown names and options are faults (pass) before anything runs.
// After another failure the program is half transformed: callers that want to go on work on a clone.
hx_status_t hx_pipeline_run(hx_program_t *program, const char *pipeline, const hx_pass_env_t *env);
// The default pipeline's text.
const char *hx_pipeline_default(void);

#define PASS(id_, name_, options_, doc_) \
  hx_status_t hx_pass_##id_(hx_program_t *program, hx_pass_env_t *env, bool *out_changed);
#include "core/passes/passes.def"

#endif
