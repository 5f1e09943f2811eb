// SPDX-License-Identifier: Apache-2.0
// Passes over a program and pipelines of them. One pass a file; its row stands in passes.def.
#ifndef HELIOX_CORE_PASSES_PASSES_H
#define HELIOX_CORE_PASSES_PASSES_H

#include "core/ckks/params.h"
#include "core/ir/ir.h"
#include "heliox/passes.h"

// Attribute of an operation: the device of the backend that it runs on (a plugin's short name, or "plugin:index"), and
// that its results lie on. Without it: the backend's first.
#define HX_DEVICE_ATTR "heliox.device"

struct hx_costs;

// One pass of a pipeline as it begins or as it is over.
typedef struct hx_pass_event {
  const hx_pass_info_t *pass;
  hx_str_t options;
  size_t index;    // in the pipeline, from 0
  bool is_over;    // false: about to run
  bool changed;    // is_over: the program is another one now
  double seconds;  // is_over
  const hx_program_t *program;
} hx_pass_event_t;

// What a pass may know besides the program. Zero-initialise; everything is optional but the report where a fault is
// to be told.
typedef struct hx_pass_env {
  const hx_ring *ring;  // parameters, or NULL
  // True if the target implements this operation natively. NULL: no target, everything is native.
  bool (*is_native)(void *argument, const hx_ir_op_t *op);
  void *native_argument;
  // Type of the value bound to a symbol, or NULL. NULL: nothing is bound.
  const hx_type_t *(*find_material)(void *argument, hx_str_t symbol);
  void *material_argument;
  // True if the target prepares regions of this kind, and takes this operation in one. NULL: no target does.
  bool (*fuses)(void *argument, const char *kind, const hx_ir_op_t *op);
  void *fuses_argument;
  const struct hx_costs *costs;                                 // measured table, or NULL
  struct hx_decisions *decisions;                               // where choices are recorded, or NULL
  void (*watch)(void *argument, const hx_pass_event_t *event);  // before and after every pass, or NULL
  void *watch_argument;
  // Writes a picture of the program to a file, form dot, svg or html. NULL: visualize is refused.
  hx_status_t (*draw)(void *argument, const hx_program_t *program, hx_str_t form, hx_str_t path, hx_report_t *report);
  void *draw_argument;
  const char *skip;  // names of passes that are left out, comma-separated; NULL: none
  hx_str_t options;  // text between the braces of the pipeline entry
  const char *pass;  // name of the pass that runs
  hx_report_t *report;
} hx_pass_env_t;

typedef hx_status_t (*hx_pass_fn_t)(hx_program_t *program, hx_pass_env_t *env, bool *out_changed);

const hx_pass_info_t *hx_pass_find(hx_str_t name);
// Function of a pass that hx_pass_find or hx_pass_list gave.
hx_pass_fn_t hx_pass_function(const hx_pass_info_t *pass);

// Value of an option of the running pass: "missing" of only=missing, an empty text of a flag; data is NULL where the
// option is not given.
hx_str_t hx_pass_option(const hx_pass_env_t *env, const char *name);

// Runs "dve,cse,lower{only=missing}"; blanks are free, empty text does nothing. The program has passed
// hx_program_verify; it is verified after each pass that changed it. Unknown names and options are faults (pass) before
// anything runs. After another failure the program is half transformed: callers that want to go on work on a clone.
// HELIOX_DEBUG, a comma-separated list, adds: verify (state is inferred anew after each pass that may), print (the
// program before and after each pass, to the log), roundtrip (print, parse, print: equal texts), skip=PASS.
hx_status_t hx_pipeline_run(hx_program_t *program, const char *pipeline, const hx_pass_env_t *env);

// Records a choice where the caller keeps them: what was chosen for `op` (NULL: the program), among which, and why.
// Exhaustion leaves the record out; nothing depends on it.
void hx_decide(const hx_pass_env_t *env, const hx_ir_op_t *op, const char *chosen, const char *among, const char *why,
               ...) HX_PRINTF(5, 6);

#define PASS(id_, name_, role_, claim_, options_, doc_) \
  hx_status_t hx_pass_##id_(hx_program_t *program, hx_pass_env_t *env, bool *out_changed);
#include "core/passes/passes.def"

#endif
