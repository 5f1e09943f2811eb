// SPDX-License-Identifier: Apache-2.0
// The engine's methods: each names its operation, operands and attributes, nothing more.
#include "core/eager/methods.h"

hx_status_t hx_engine_create(const hx_params_t *params, const hx_keys_t *keys, const hx_backend_t *backend,
                             hx_engine_t **out, hx_report_t *report) {
  if (params == NULL || backend == NULL || out == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_engine_create: parameters, backend or out is NULL");
  }
  if (keys != NULL && !hx_params_same(keys->params, params)) {
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "the keys belong to parameters %.16s..., the engine to %.16s...",
                          hx_params_digest_hex(keys->params), hx_params_digest_hex(params));
  }
  hx_engine_t *engine = hx_zalloc(1, sizeof *engine);
  if (engine == NULL || hx_call_cache_init(&engine->cache) != HX_STATUS_OK) {
    hx_free(engine);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for an engine");
  }
  (void)pthread_mutex_init(&engine->rows_lock, NULL);
  engine->params = hx_params_retain(params);
  engine->keys = keys == NULL ? NULL : hx_keys_retain(keys);
  engine->backend = hx_backend_retain(backend);
  *out = engine;
  return HX_STATUS_OK;
}

const hx_params_t *hx_engine_params(const hx_engine_t *engine) { return engine->params; }
bool hx_engine_is_capturing(const hx_engine_t *engine) { return engine->capture != NULL; }

void hx_engine_release(hx_engine_t *engine) {
  if (engine == NULL || engine->capture != NULL) return;  // a capturing engine goes with its capture
  hx_call_cache_deinit(&engine->cache);
  hx_rows_deinit(&engine->rows);
  (void)pthread_mutex_destroy(&engine->rows_lock);
  hx_backend_release(engine->backend);
  hx_keys_release(engine->truth_keys);
  hx_keys_release(engine->keys);
  hx_params_release(engine->params);
  hx_free(engine);
}

static hx_status_t binary(hx_engine_t *engine, hx_op_id_t id, const hx_value_t *a, const hx_value_t *b,
                          hx_value_t **out, hx_report_t *report) {
  const hx_value_t *const operands[] = {a, b};
  const hx_engine_call_t call = {.id = id, .operands = operands, .operand_count = 2, .result_count = 1};
  return hx_engine_run(engine, &call, out, report);
}

static hx_status_t with_integer(hx_engine_t *engine, hx_op_id_t id, const hx_value_t *a, const char *name,
                                int64_t value, hx_value_t **out, hx_report_t *report) {
  const hx_named_attr_t attrs[] = {{.name = hx_str(name), .value = hx_integer_attribute(value)}};
  return hx_engine_unary(engine, id, a, attrs, 1, out, report);
}

static hx_status_t no_scale(hx_op_id_t id, hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: scale is NULL", hx_op_info(id)->name);
}

hx_status_t hx_engine_add(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out,
                          hx_report_t *report) {
  return binary(engine, HX_OP_CKKS_ADD, a, b, out, report);
}

hx_status_t hx_engine_sub(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out,
                          hx_report_t *report) {
  return binary(engine, HX_OP_CKKS_SUB, a, b, out, report);
}

hx_status_t hx_engine_neg(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) {
  return hx_engine_unary(engine, HX_OP_CKKS_NEG, a, NULL, 0, out, report);
}

hx_status_t hx_engine_add_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext, hx_value_t **out,
                                hx_report_t *report) {
  return binary(engine, HX_OP_CKKS_ADD_PLAIN, a, plaintext, out, report);
}

hx_status_t hx_engine_sub_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext, hx_value_t **out,
                                hx_report_t *report) {
  return binary(engine, HX_OP_CKKS_SUB_PLAIN, a, plaintext, out, report);
}

hx_status_t hx_engine_mul_plain(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *plaintext, hx_value_t **out,
                                hx_report_t *report) {
  return binary(engine, HX_OP_CKKS_MUL_PLAIN, a, plaintext, out, report);
}

hx_status_t hx_engine_add_scalar(hx_engine_t *engine, const hx_value_t *a, double re, double im, hx_value_t **out,
                                 hx_report_t *report) {
  hx_attribute_t parts[2];
  const hx_named_attr_t attrs[] = {{.name = hx_str("value"), .value = hx_constant_attribute(re, im, parts)}};
  return hx_engine_unary(engine, HX_OP_CKKS_ADD_SCALAR, a, attrs, 1, out, report);
}

hx_status_t hx_engine_mul_scalar(hx_engine_t *engine, const hx_value_t *a, double re, double im, const char *scale,
                                 hx_value_t **out, hx_report_t *report) {
  if (scale == NULL) return no_scale(HX_OP_CKKS_MUL_SCALAR, report);
  hx_attribute_t parts[2];
  const hx_named_attr_t attrs[] = {{.name = hx_str("scale"), .value = hx_text_attribute(scale)},
                                   {.name = hx_str("value"), .value = hx_constant_attribute(re, im, parts)}};
  return hx_engine_unary(engine, HX_OP_CKKS_MUL_SCALAR, a, attrs, 2, out, report);
}

hx_status_t hx_engine_mul_integer(hx_engine_t *engine, const hx_value_t *a, int64_t factor, hx_value_t **out,
                                  hx_report_t *report) {
  return with_integer(engine, HX_OP_CKKS_MUL_INTEGER, a, "integer", factor, out, report);
}

hx_status_t hx_engine_mul(hx_engine_t *engine, const hx_value_t *a, const hx_value_t *b, hx_value_t **out,
                          hx_report_t *report) {
  return binary(engine, HX_OP_CKKS_MUL, a, b, out, report);
}

hx_status_t hx_engine_square(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) {
  return hx_engine_unary(engine, HX_OP_CKKS_SQUARE, a, NULL, 0, out, report);
}

hx_status_t hx_engine_relinearize(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) {
  return hx_engine_unary(engine, HX_OP_CKKS_RELINEARIZE, a, NULL, 0, out, report);
}

hx_status_t hx_engine_rescale(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) {
  return hx_engine_unary(engine, HX_OP_CKKS_RESCALE, a, NULL, 0, out, report);
}

hx_status_t hx_engine_level_drop(hx_engine_t *engine, const hx_value_t *a, uint32_t depth, hx_value_t **out,
                                 hx_report_t *report) {
  return with_integer(engine, HX_OP_CKKS_LEVEL_DROP, a, "depth", depth, out, report);
}

hx_status_t hx_engine_reinterpret_scale(hx_engine_t *engine, const hx_value_t *a, const char *scale, hx_value_t **out,
                                        hx_report_t *report) {
  if (scale == NULL) return no_scale(HX_OP_CKKS_REINTERPRET_SCALE, report);
  const hx_named_attr_t attrs[] = {{.name = hx_str("scale"), .value = hx_text_attribute(scale)}};
  return hx_engine_unary(engine, HX_OP_CKKS_REINTERPRET_SCALE, a, attrs, 1, out, report);
}

hx_status_t hx_engine_to_ntt(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) {
  return hx_engine_unary(engine, HX_OP_CKKS_TO_NTT, a, NULL, 0, out, report);
}

hx_status_t hx_engine_from_ntt(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) {
  return hx_engine_unary(engine, HX_OP_CKKS_FROM_NTT, a, NULL, 0, out, report);
}

hx_status_t hx_engine_rotate(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_value_t **out,
                             hx_report_t *report) {
  return with_integer(engine, HX_OP_CKKS_ROTATE, a, "step", step, out, report);
}

hx_status_t hx_engine_conjugate(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) {
  return hx_engine_unary(engine, HX_OP_CKKS_CONJUGATE, a, NULL, 0, out, report);
}

hx_status_t hx_engine_mul_i(hx_engine_t *engine, const hx_value_t *a, hx_value_t **out, hx_report_t *report) {
  return hx_engine_mul_scalar(engine, a, 0.0, 1.0, "2^0", out, report);  // i at scale 1 is X^(N/2) itself
}

// ------------------------------------------------------------------ choice of the result's domain

static hx_status_t fail_domain(hx_op_id_t id, hx_domain_t domain, hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: domain is %d, neither HX_DOMAIN_NTT nor _COEFFICIENT",
                        hx_op_info(id)->name, (int)domain);
}

static hx_status_t unary_to(hx_engine_t *engine, hx_op_id_t id, const hx_value_t *a, hx_domain_t domain,
                            hx_value_t **out, hx_report_t *report) {
  if (domain == HX_DOMAIN_NTT) return hx_engine_unary(engine, id, a, NULL, 0, out, report);
  if (domain != HX_DOMAIN_COEFFICIENT) return fail_domain(id, domain, report);
  const hx_named_attr_t attrs[] = {{.name = hx_str("output_domain"), .value = hx_text_attribute("coefficient")}};
  return hx_engine_unary(engine, id, a, attrs, 1, out, report);
}

hx_status_t hx_engine_relinearize_to(hx_engine_t *engine, const hx_value_t *a, hx_domain_t domain, hx_value_t **out,
                                     hx_report_t *report) {
  return unary_to(engine, HX_OP_CKKS_RELINEARIZE, a, domain, out, report);
}

hx_status_t hx_engine_rescale_to(hx_engine_t *engine, const hx_value_t *a, hx_domain_t domain, hx_value_t **out,
                                 hx_report_t *report) {
  return unary_to(engine, HX_OP_CKKS_RESCALE, a, domain, out, report);
}

hx_status_t hx_engine_conjugate_to(hx_engine_t *engine, const hx_value_t *a, hx_domain_t domain, hx_value_t **out,
                                   hx_report_t *report) {
  return unary_to(engine, HX_OP_CKKS_CONJUGATE, a, domain, out, report);
}

hx_status_t hx_engine_rotate_to(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_domain_t domain,
                                hx_value_t **out, hx_report_t *report) {
  if (domain == HX_DOMAIN_NTT) return hx_engine_rotate(engine, a, step, out, report);
  if (domain != HX_DOMAIN_COEFFICIENT) return fail_domain(HX_OP_CKKS_ROTATE, domain, report);
  const hx_named_attr_t attrs[] = {{.name = hx_str("output_domain"), .value = hx_text_attribute("coefficient")},
                                   {.name = hx_str("step"), .value = hx_integer_attribute(step)}};
  return hx_engine_unary(engine, HX_OP_CKKS_ROTATE, a, attrs, 2, out, report);
}

hx_status_t hx_engine_key_switch_to(hx_engine_t *engine, const hx_value_t *a, const hx_switch_t *key,
                                    hx_domain_t domain, hx_value_t **out, hx_report_t *report) {
  const hx_op_id_t id = HX_OP_CKKS_KEY_SWITCH;
  if (key == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: the switching key is NULL", hx_op_info(id)->name);
  if (domain != HX_DOMAIN_NTT && domain != HX_DOMAIN_COEFFICIENT) return fail_domain(id, domain, report);
  const hx_value_t *const operands[] = {a};
  const hx_named_attr_t attrs[] = {{.name = hx_str("output_domain"), .value = hx_text_attribute("coefficient")}};
  const hx_engine_call_t call = {.id = id,
                                 .attrs = attrs,
                                 .attr_count = domain == HX_DOMAIN_COEFFICIENT,
                                 .operands = operands,
                                 .operand_count = 1,
                                 .result_count = 1,
                                 .switch_key = key};
  return hx_engine_run(engine, &call, out, report);
}

hx_status_t hx_engine_key_switch(hx_engine_t *engine, const hx_value_t *a, const hx_switch_t *key, hx_value_t **out,
                                 hx_report_t *report) {
  return hx_engine_key_switch_to(engine, a, key, HX_DOMAIN_NTT, out, report);
}
