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
  uint32_t line;          ///< in the source; 0: none
  uint32_t column;        ///< in the source; 0: none
  uint32_t depth;         ///< its depth
  uint32_t components;    ///< 2, or 3 before a relinearization
  uint32_t slots;         ///< its slots
  const char *scale;      ///< exact
  double scale_log2;      ///< log2 of its scale
  double sigma;           ///< predicted error of the worst slots; NaN where it is not known
} hx_plan_value_t;

/// What one device of a backend needs for a program that places its operations (heliox.device).
typedef struct hx_plan_device {
  const char *name;         ///< as the program says; "home" for the backend's first device
  uint64_t peak_bytes;      ///< of intermediates that live there at once, transferred values included
  uint64_t unshared_bytes;  ///< if no two intermediates shared memory
} hx_plan_device_t;

/// What a program takes; texts and lists belong to the plan.
typedef struct hx_plan_info {
  uint32_t depth;        ///< of the deepest value
  uint32_t max_depth;    ///< that the parameters allow
  const int64_t *steps;  ///< the exact rotation set, one step a Galois element
  size_t step_count;     ///< of steps
  bool needs_relin;      ///< the relinearization key
  bool needs_conj;       ///< the conjugation key
  uint64_t key_bytes;    ///< all keys that the program needs
  /// Counted in one run, loops by their trips; `counts_exact` is false where a loop's trips or a branch depend on
  /// inputs: then the loop counts once and the branch as its dearer side.
  bool counts_exact;
  uint64_t key_switches;    ///< relinearizations, rotations, conjugations, switches
  uint64_t mod_ups;         ///< polynomials decomposed and raised to Q and P
  uint64_t mod_downs;       ///< values divided by P
  uint64_t transforms;      ///< limb transforms of the program lowered to primitives, shared ones once
  uint64_t operations;      ///< that are dispatched
  uint64_t peak_bytes;      ///< of intermediates that live at once
  uint64_t unshared_bytes;  ///< of all of them side by side
  uint64_t material_bytes;  ///< of materials
  uint64_t input_bytes;     ///< of inputs
  uint64_t output_bytes;    ///< of outputs
  uint64_t memory_bytes;    ///< of the device; 0: not told
  double seconds;           ///< by the measured table; what is not in it counts nothing
  uint64_t measured;        ///< operations that have a row
} hx_plan_info_t;           ///< see hx_plan_info

/// A plan. Immutable; any thread.
typedef struct hx_plan hx_plan_t;
/// Infers, counts, predicts. Nothing is executed and no key is needed.
/// @param backend  whose operations count as native and whose device has to hold it; NULL: all are, no limit
/// @param costs    measurements; may be NULL
/// Refused: what runs out of depth (no-depth) or does not fit into the device's memory (limit), each naming the value.
HX_API HX_MUST_USE hx_status_t hx_plan_create(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                              hx_costs_t *costs, hx_plan_t **out, hx_report_t *report);
/// Frees it; NULL is allowed.
HX_API void hx_plan_release(hx_plan_t *plan);
/// Borrowed from the plan.
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
