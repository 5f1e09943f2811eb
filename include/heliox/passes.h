// SPDX-License-Identifier: Apache-2.0
/// @file
/// The registry of passes, pipelines, and the record of what passes chose.
#ifndef HELIOX_PASSES_H
#define HELIOX_PASSES_H

#include "heliox/tune.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a pass is for.
typedef enum hx_pass_role {
  HX_PASS_OPTIMISE,  ///< the same results, computed better; a second run changes nothing
  HX_PASS_MEND,      ///< adds what the program leaves out: state, keys, transforms, rescales
  HX_PASS_LOWER,     ///< another set of operations
  HX_PASS_CHECK      ///< reads only
} hx_pass_role_t;

/// What a pass promises about the results of a program.
typedef enum hx_pass_claim {
  HX_CLAIM_BITS,     ///< every result keeps its bits
  HX_CLAIM_ROUNDING  ///< other roundings; the values stay within the noise estimator's bound
} hx_pass_claim_t;

/// One row of the registry. Static, never freed.
typedef struct hx_pass_info {
  const char *name;       ///< "dve"
  const char *options;    ///< those that it takes, comma-separated: "only=missing", "mode=exact|waterline", "size=*"
  hx_pass_role_t role;    ///< what it is for
  hx_pass_claim_t claim;  ///< what it promises
  const char *doc;        ///< one sentence
} hx_pass_info_t;

/// All passes, in the order of the registry. Returns their number.
HX_API size_t hx_pass_list(const hx_pass_info_t **out_passes);
/// "optimise", "mend", "lower", "check".
HX_API const char *hx_pass_role_name(hx_pass_role_t role);
/// "bits", "rounding".
HX_API const char *hx_pass_claim_name(hx_pass_claim_t claim);
/// The text of the default pipeline. It keeps bits: it never inserts rescale or relinearization.
HX_API const char *hx_pipeline_default(void);
/// Number of passes in a pipeline's text, or a fault (pass).
HX_API HX_MUST_USE hx_status_t hx_pipeline_check(const char *pipeline, size_t *out_count, hx_report_t *report);
/// Text of entry `index` of a pipeline that passed hx_pipeline_check: "lower{only=missing}", borrowed from `pipeline`.
HX_API hx_str_t hx_pipeline_entry(const char *pipeline, size_t index);

/// One choice of a pass. Texts belong to the object that it was read from.
typedef struct hx_decision {
  const char *pass;       ///< "hoist-rotations"
  const char *operation;  ///< that it is about, "" for the program
  uint32_t line;          ///< of the operation in the source; 0: none
  uint32_t column;        ///< of the operation in the source; 0: none
  const char *chosen;     ///< what was chosen
  const char *among;      ///< what could have been chosen
  const char *why;        ///< the reason, with figures
} hx_decision_t;

/// A growing list of decisions.
typedef struct hx_decisions hx_decisions_t;
HX_API hx_decisions_t *hx_decisions_create(void);  ///< NULL: memory is exhausted
/// Frees it; NULL is allowed.
HX_API void hx_decisions_release(hx_decisions_t *decisions);
/// How many there are.
HX_API size_t hx_decisions_count(const hx_decisions_t *decisions);
/// One of them, borrowed; NULL where there is no such index.
HX_API const hx_decision_t *hx_decisions_get(const hx_decisions_t *decisions, size_t index);

/// How a pipeline is run over a compilation. Zero-initialise.
typedef struct hx_transform_options {
  const char *skip;            ///< names of passes to leave out, comma-separated
  const hx_backend_t *target;  ///< whose operations count as native for lower{only=missing}; NULL: all are
  hx_decisions_t *decisions;   ///< what is chosen is added here; NULL: not kept
  hx_costs_t *costs;           ///< measurements for select-by-cost, looked up for the target; NULL: none
  /// Called before (is_over false) and after every pass with the program as it is then.
  void (*watch)(void *argument, const char *pass, bool is_over, bool changed, const hx_program_t *program);
  void *argument;  ///< passed to watch
} hx_transform_options_t;

/// hx_compilation_transform with options; NULL options: none.
HX_API HX_MUST_USE hx_status_t hx_compilation_transform_with(hx_compilation_t *compilation, const char *pipeline,
                                                             const hx_transform_options_t *options,
                                                             hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
