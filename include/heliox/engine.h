// SPDX-License-Identifier: Apache-2.0
/// @file
/// Immediate calls on values. Every method checks its operands, computes the result's state, dispatches through the
/// backend and returns a new value; operands are never changed. Any thread.
///
/// Common failures, all before arithmetic and naming operand, states and fix: other parameters (params-digest), another
/// secret (key-id), scale-mismatch, depth-mismatch, slots-mismatch, components, domain, missing-key, no-depth.
#ifndef HELIOX_ENGINE_H
#define HELIOX_ENGINE_H

#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_engine hx_engine_t;

/// @param keys evaluation keys; NULL: only operations without keys. Retained.
HX_API HX_MUST_USE hx_status_t hx_engine_create(const hx_params_t *params, const hx_keys_t *keys, const hx_backend_t *backend,
                                                hx_engine_t **out, hx_report_t *report);
HX_API void hx_engine_release(hx_engine_t *engine);

#define HX_ENGINE_METHOD HX_API HX_MUST_USE hx_status_t
HX_ENGINE_METHOD hx_engine_add(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_sub(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_neg(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_add_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_sub_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_mul_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_add_scalar(hx_engine_t *engine, const hx_value_t *a, double re, double im, hx_value_t **out, hx_report_t *report);
/// @param scale canonical text of the constant's scale
HX_ENGINE_METHOD hx_engine_mul_scalar(hx_engine_t *engine, const hx_value_t *a, double re, double im, const char *scale, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_mul_integer(hx_engine_t *engine, const hx_value_t *a, int64_t integer, hx_value_t **out, hx_report_t *report);
/// Three components.
HX_ENGINE_METHOD hx_engine_mul(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_square(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_relinearize(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_rescale(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_level_drop(hx_engine_t *engine, const hx_value_t *a, uint32_t depth, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_reinterpret_scale(hx_engine_t *engine, const hx_value_t *a, const char *scale, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_to_ntt(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_from_ntt(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);
/// Slot i takes slot i + step; any integer, taken modulo the slots; 0 is a copy and needs no key.
HX_ENGINE_METHOD hx_engine_rotate(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_value_t **out, hx_report_t *report);
HX_ENGINE_METHOD hx_engine_conjugate(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
