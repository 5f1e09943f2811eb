// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program takes, before any key exists.
#ifndef HELIOX_PLAN_H
#define HELIOX_PLAN_H

#include "heliox/tune.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One value of a program. Texts are owned by the plan.
typedef struct hx_plan_value {
  const char *name;       ///< "%x", or "" where it has none
  const char *operation;  ///< that gives it
  uint32_t line, column;
  uint32_t depth, components, slots;
  const char *scale;  ///< exact
  double scale_log2;
  double sigma;  ///< predicted error of the worst slots; NaN where it is not known
} hx_plan_value_t;

/// What one device of a backend needs for a program that places its operations (heliox.device).
typedef struct hx_plan_device {
  const char *name;     ///< as the program says; "home" for the backend's first device
  uint64_t peak_bytes;  ///< of intermediates that live there at once, transferred values included
  uint64_t unshared_bytes;
} hx_plan_device_t;

typedef struct hx_plan_info {
  uint32_t depth, max_depth;
  const int64_t *steps;  ///< the exact rotation set, one step a Galois element
  size_t step_count;
  bool needs_relin, needs_conj;
  uint64_t key_bytes;  ///< all keys that the program needs
  /// Counted in one run, loops by their trips; `counts_exact` is false where a loop's trips or a branch depend on
  /// inputs: then the loop counts once and the branch as its dearer side.
  bool counts_exact;
  uint64_t key_switches, mod_ups, mod_downs;
  uint64_t transforms;      ///< limb transforms of the program lowered to primitives, shared ones once
  uint64_t operations;      ///< that are dispatched
  uint64_t peak_bytes;      ///< of intermediates that live at once
  uint64_t unshared_bytes;  ///< of all of them side by side
  uint64_t material_bytes, input_bytes, output_bytes;
  uint64_t memory_bytes;  ///< of the device; 0: not told
  double seconds;         ///< by the measured table; what is not in it counts nothing
  uint64_t measured;      ///< operations that have a row
} hx_plan_info_t;

/// A plan. Immutable; any thread.
typedef struct hx_plan hx_plan_t;
/// Infers, counts, predicts. Nothing is executed and no key is needed.
/// @param backend  whose operations count as native and whose device has to hold it; NULL: all are, no limit
/// @param costs    measurements; may be NULL
/// Refused: what runs out of depth (no-depth) or does not fit into the device's memory (limit), each naming the value.
HX_API HX_MUST_USE hx_status_t hx_plan_create(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                              hx_costs_t *costs, hx_plan_t **out, hx_report_t *report);
HX_API void hx_plan_release(hx_plan_t *plan);
HX_API const hx_plan_info_t *hx_plan_info(const hx_plan_t *plan);
/// Ciphertexts of @main in order of the program.
HX_API size_t hx_plan_values(const hx_plan_t *plan, const hx_plan_value_t **out_values);
/// Devices that operations are placed on, home first; none where the program places nothing: then all of it is home's.
HX_API size_t hx_plan_devices(const hx_plan_t *plan, const hx_plan_device_t **out_devices);
/// Outputs, in port order: names are the ports'.
HX_API size_t hx_plan_outputs(const hx_plan_t *plan, const hx_plan_value_t **out_values);

#ifdef __cplusplus
}
#endif
#endif
