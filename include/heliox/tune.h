// SPDX-License-Identifier: Apache-2.0
/// @file
/// Measured costs, tuning, and the search for a pass that breaks a result.
#ifndef HELIOX_TUNE_H
#define HELIOX_TUNE_H

#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One measurement. Texts are owned by the table.
typedef struct hx_cost {
  const char *device;     ///< name of the device, as `heliox devices` lists it
  const char *digest;     ///< SHA-256 of the plugin's library
  const char *operation;  ///< "ckks.rotate"; "fusion.region" of a chain that the device prepares as one call
  const char *shape;      ///< ring, states, attributes: what decides the work
  const char
      *candidate;  ///< "whole", "lowered", "implementation NAME"; of a chain "fused", "apart"; of a program "digits N"
  double nanoseconds;  ///< least of several runs
} hx_cost_t;

/// A table of measurements. One thread at a time.
typedef struct hx_costs hx_costs_t;
HX_API hx_costs_t *hx_costs_create(void);  ///< NULL: memory is exhausted
/// Frees it; NULL is allowed.
HX_API void hx_costs_release(hx_costs_t *costs);
/// Measurements in it.
HX_API size_t hx_costs_count(const hx_costs_t *costs);
/// One of them, borrowed; NULL where there is no such index.
HX_API const hx_cost_t *hx_costs_get(const hx_costs_t *costs, size_t index);
/// Adds the rows of a JSON file; rows of one key are replaced. Limits: 16 MiB, 100,000 rows.
HX_API HX_MUST_USE hx_status_t hx_costs_load(hx_costs_t *costs, const char *path, hx_report_t *report);
/// Adds what a table's text says; `source` names it in faults.
HX_API HX_MUST_USE hx_status_t hx_costs_parse(hx_costs_t *costs, hx_str_t text, const char *source,
                                              hx_report_t *report);
/// Writes all rows, atomically, in a fixed order.
HX_API HX_MUST_USE hx_status_t hx_costs_save(const hx_costs_t *costs, const char *path, hx_report_t *report);

/// How candidates are measured. Zero-initialise.
typedef struct hx_tune_options {
  double seconds;  ///< that one candidate is run for, after a warm run; 0: 0.05
  /// Called for each measurement as it is made; may be NULL.
  void (*measured)(void *argument, const hx_cost_t *cost);
  void *argument;  ///< passed to the function before it
} hx_tune_options_t;

/// Measures, for every distinct operation of a compilation's program, its candidates on a backend's first device: the
/// whole operation, its lowered form, and each implementation where there are several; for every chain that the device
/// prepares as one region, that region and its operations one by one; for the transforms of what lowering makes each
/// implementation, where there are several. Rows that the table has already
/// for this device and plugin build are not measured again. Keys that operations need are bound already.
HX_API HX_MUST_USE hx_status_t hx_tune(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                       const hx_tune_options_t *options, hx_costs_t *costs, hx_report_t *report);

/// Measures a whole program, behind the default passes, under sets with other numbers of digits: the same Q, other
/// special primes (hx_params_with_digits). Keys are drawn, materials and inputs are random residues. Sets that are not
/// secure are left out, unless the compilation's own is insecure. Rows ("program", "digits N") that the table has
/// already are not measured again. Nothing is changed: the caller compiles for the set that was the fastest, and
/// hx_compilation_name_params makes it a constraint.
/// @retval HX_STATUS_INVALID (constraint) the program names its parameters: the number of digits is no choice
HX_API HX_MUST_USE hx_status_t hx_tune_digits(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                              const hx_tune_options_t *options, hx_costs_t *costs, uint32_t *out_digits,
                                              hx_report_t *report);

/// How results are compared by hx_bisect. Zero-initialise.
typedef struct hx_bisect_options {
  /// Decrypts results, where passes round otherwise; NULL: such passes are compared bit for bit too.
  const hx_keys_t *secret;
  double tolerance;  ///< greatest distance of two decoded values; 0: equal bits
} hx_bisect_options_t;

/// The first pass of a pipeline behind which a result is another one.
typedef struct hx_bisection {
  bool found;         ///< a pass changes a result
  size_t index;       ///< of the pass in the pipeline, from 0
  char entry[128];    ///< "late-rescale"
  char output[64];    ///< name of the output that differs
  double difference;  ///< greatest distance of two values; 0 where bits were compared
  size_t runs;        ///< programs that were linked and run
} hx_bisection_t;

/// Runs a program behind growing beginnings of a pipeline on the same inputs and finds, by halving, the first pass
/// behind which a result differs from that of the program as it is. A pass that fails is found too.
/// @param inputs [input count] in port order
HX_API HX_MUST_USE hx_status_t hx_bisect(const hx_compilation_t *compilation, const hx_backend_t *backend,
                                         const char *pipeline, const hx_value_t *const *inputs,
                                         const hx_bisect_options_t *options, hx_bisection_t *out, hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
