// SPDX-License-Identifier: Apache-2.0
// One immediate call: parameters, key ids, state, keys, then arithmetic.
#include <stdio.h>
#include <string.h>

#include "core/ckks/noise_state.h"
#include "core/ckks/transition.h"
#include "core/eager/capture.h"
#include "core/eager/truth.h"
#include "core/link/executable.h"

#define NAMED_ATTRS_MAX 4  // of one engine method

static const char *operand_name(const hx_engine_call_t *call, size_t index) {
  const hx_op_info_t *info = hx_op_info(call->id);
  const char *name = "operand";
  for (size_t i = 0; i < HX_OP_OPERANDS_MAX && info->operands[i].name != NULL && i <= index; ++i)
    name = info->operands[i].name;
  return name;
}

static void print_id(const uint8_t id[16], char text[33]) {
  for (size_t i = 0; i < 16; ++i) snprintf(text + 2 * i, 3, "%02x", id[i]);
}

static bool has_id(const uint8_t id[16]) {
  static const uint8_t none[16];
  return memcmp(id, none, sizeof none) != 0;
}

hx_status_t hx_engine_check_owners(const hx_engine_t *engine, const hx_engine_call_t *call, hx_report_t *report) {
  const char *name = hx_op_info(call->id)->name;
  const uint8_t *id = engine->keys != NULL && has_id(engine->keys->id) ? engine->keys->id : NULL;
  const char *owner = "the engine's keys";
  if (call->switch_key != NULL) {  // leads from any secret, not the engine's alone
    if (!hx_params_same(call->switch_key->params, engine->params)) {
      return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                            "%s: the switching key belongs to parameters %.16s..., the engine to %.16s...", name,
                            hx_params_digest_hex(call->switch_key->params), hx_params_digest_hex(engine->params));
    }
    id = call->switch_key->from_id;
    owner = "the switching key leads from";
  }
  for (size_t i = 0; i < call->operand_count; ++i) {
    const hx_value_t *value = call->operands[i];
    if (value == NULL) {
      return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: operand %s is NULL", name, operand_name(call, i));
    }
    if (engine->capture == NULL) HX_TRY(hx_value_want_data(value, "this engine computes", report));
    if (!hx_params_same(value->params, engine->params)) {
      return hx_report_fail(
          report, HX_CODE_PARAMS_DIGEST, "%s: operand %s belongs to parameters %.16s..., the engine to %.16s...", name,
          operand_name(call, i), hx_params_digest_hex(value->params), hx_params_digest_hex(engine->params));
    }
    if (!has_id(value->key_id)) continue;
    if (id != NULL && memcmp(id, value->key_id, sizeof value->key_id) != 0) {
      char found[33], expected[33];
      print_id(value->key_id, found);
      print_id(id, expected);
      return hx_report_fail(report, HX_CODE_KEY_ID, "%s: operand %s carries key id %s, %s %s: another secret", name,
                            operand_name(call, i), found, owner, expected);
    }
    if (id == NULL) owner = operand_name(call, i);
    id = value->key_id;
  }
  return HX_STATUS_OK;
}

static hx_status_t infer(const hx_engine_t *engine, const hx_engine_call_t *call, hx_type_t *results,
                         hx_report_t *report) {
  const hx_type_t **types = hx_zalloc(call->operand_count + 1, sizeof *types);
  if (types == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a call");
  hx_type_t key;
  hx_type_init(&key, HX_TYPE_KEY);
  key.key_kind = HX_KEY_SWITCH;
  types[call->operand_count] = &key;
  for (size_t i = 0; i < call->operand_count; ++i) types[i] = &call->operands[i]->type;
  hx_infer_t inference = {.op = hx_op_info(call->id),
                          .attrs = {.items = call->attrs, .count = call->attr_count},
                          .operands = types,
                          .operand_count = call->operand_count + (call->switch_key != NULL),
                          .ring = hx_params_ring(engine->params),
                          .results = results,
                          .result_count = call->result_count,
                          .report = report};
  const hx_status_t status = hx_op_infer(&inference);
  hx_free((void *)types);
  return status;
}

// ------------------------------------------------------------------ keys

// "; composed it takes 2 rotations: 4, 1 (hx_engine_rotate_composed)", where that is possible.
static void describe_plan(const hx_engine_t *engine, const hx_engine_call_t *call, int64_t step, hx_text_t *out) {
  int64_t steps[8];
  size_t count = 0;
  if (call->id != HX_OP_CKKS_ROTATE || hx_keys_rotation_plan(engine->keys, call->operands[0]->type.slots, step, steps,
                                                             HX_COUNT_OF(steps), &count, NULL) != HX_STATUS_OK) {
    return;
  }
  hx_text_printf(out, "; composed it takes %zu rotations: ", count);
  for (size_t i = 0; i < count && i < HX_COUNT_OF(steps); ++i)
    hx_text_printf(out, "%s%lld", i == 0 ? "" : ", ", (long long)steps[i]);
  hx_text_printf(out, "%s (hx_engine_rotate_composed)", count > HX_COUNT_OF(steps) ? ", ..." : "");
}

static hx_status_t fail_key(const hx_engine_t *engine, const hx_engine_call_t *call, const char *which, int64_t step,
                            hx_report_t *report) {
  const char *name = hx_op_info(call->id)->name;
  if (engine->keys == NULL) {
    return hx_report_fail(report, HX_CODE_MISSING_KEY, "%s needs %s, and the engine was made without keys", name,
                          which);
  }
  hx_text_t steps;
  hx_text_init(&steps);
  hx_keys_describe_steps(engine->keys, call->operands[0]->type.slots, &steps);
  describe_plan(engine, call, step, &steps);
  const hx_status_t status =
      hx_report_fail(report, HX_CODE_MISSING_KEY, "%s needs %s, which the key set lacks; its rotations: %s", name,
                     which, steps.data == NULL || steps.size == 0 ? "none" : steps.data);
  hx_text_deinit(&steps);
  return status;
}

static hx_status_t check_step(const hx_engine_t *engine, const hx_engine_call_t *call, int64_t step,
                              hx_report_t *report) {
  const uint32_t slots = call->operands[0]->type.slots;
  const uint32_t canonical = hx_rotation_reduce(step, slots);
  if (canonical == 0) return HX_STATUS_OK;
  const uint64_t element = hx_galois_element(hx_params_log_n(engine->params), slots, canonical);
  if (engine->keys != NULL && hx_keys_find(engine->keys, HX_KEY_GALOIS, element) != NULL) return HX_STATUS_OK;
  char which[96];
  snprintf(which, sizeof which, "the rotation key of step %lld (element %llu)", (long long)step,
           (unsigned long long)element);
  return fail_key(engine, call, which, step, report);
}

static hx_status_t check_keys(const hx_engine_t *engine, const hx_engine_call_t *call, hx_report_t *report) {
  const hx_attrs_t attrs = {.items = call->attrs, .count = call->attr_count};
  const hx_keys_t *keys = engine->keys;
  int64_t step;
  switch (call->id) {
    case HX_OP_CKKS_RELINEARIZE:
      if (keys != NULL && keys->relin != NULL) return HX_STATUS_OK;
      return fail_key(engine, call, "the relinearization key", 0, report);
    case HX_OP_CKKS_CONJUGATE:
      if (keys != NULL && keys->conj != NULL) return HX_STATUS_OK;
      return fail_key(engine, call, "the conjugation key", 0, report);
    case HX_OP_CKKS_ROTATE:
      return hx_attrs_get_i64(attrs, "step", &step) ? check_step(engine, call, step, report) : HX_STATUS_OK;
    case HX_OP_CKKS_ROTATE_MANY:
    case HX_OP_CKKS_ROTATE_WEIGHTED_SUM:
    case HX_OP_CKKS_ROTATE_SUM: {
      const hx_attribute_t *steps;
      size_t count;
      if (!hx_attrs_get_list(attrs, "steps", &steps, &count)) return HX_STATUS_OK;
      for (size_t i = 0; i < count; ++i) HX_TRY(check_step(engine, call, steps[i].integer, report));
      return HX_STATUS_OK;
    }
    default:
      return HX_STATUS_OK;
  }
}

// ------------------------------------------------------------------ running

static hx_status_t find_executable(hx_engine_t *engine, const hx_engine_call_t *call, const hx_type_t *results,
                                   hx_executable_t **out, hx_report_t *report) {
  *out = hx_call_cache_find(&engine->cache, call);
  if (*out != NULL) return HX_STATUS_OK;
  HX_TRY(hx_engine_link(engine, call, results, out, report));
  hx_call_cache_add(&engine->cache, call, *out);
  return HX_STATUS_OK;
}

// Whether the result may take operand 0's memory: one call that declares it, operand and result lie alike, and nobody
// else holds the value or its memory.
static bool may_replace(const hx_executable_t *executable, const hx_engine_call_t *call) {
  if (!call->in_place || !hx_device_imports(executable->device) || !hx_executable_may_replace(executable, 0, 0))
    return false;
  const hx_value_t *operand = call->operands[0];
  const hx_tensor_t *tensor = operand->tensor;
  if (call->operand_count > 2) return false;
  if (atomic_load(&operand->refs) != 1 || atomic_load(&tensor->refs) != 1 || atomic_load(&tensor->storage->refs) != 1)
    return false;
  for (size_t i = 1; i < call->operand_count; ++i) {
    if (call->operands[i]->tensor->storage == tensor->storage) return false;
  }
  return tensor->storage->address != NULL && tensor->storage->device == NULL &&
         tensor->offset % executable->device->alignment == 0 && hx_layout_is_dense(&tensor->layout) &&
         hx_layout_equal(&tensor->layout, &executable->input_layouts[0]);
}

// The result in operand 0 itself, which takes the result's state. What is run reads the operand as it was.
static hx_status_t run_in_place(hx_executable_t *executable, const hx_engine_call_t *call, const hx_type_t *result,
                                hx_value_t **outs, hx_report_t *report) {
  hx_value_t *value = (hx_value_t *)(uintptr_t)call->operands[0];  // the caller's alone, and meant to change
  const hx_value_t before = *value;
  const hx_value_t *operands[2] = {&before, call->operand_count > 1 ? call->operands[1] : NULL};
  hx_type_copy(&value->type, result);
  hx_value_t *made = value;
  const hx_status_t status = hx_run_with(executable, operands, &made, NULL, report);
  if (status != HX_STATUS_OK) {
    hx_type_copy(&value->type, &before.type);
    return status;
  }
  outs[0] = value;
  return HX_STATUS_OK;
}

static hx_status_t run(hx_engine_t *engine, const hx_engine_call_t *call, const hx_type_t *results, hx_value_t **outs,
                       hx_report_t *report) {
  if (hx_engine_is_view(call, &results[0])) return hx_engine_view(engine, call, &results[0], outs, report);
  HX_TRY(check_keys(engine, call, report));
  hx_executable_t *executable;
  HX_TRY(find_executable(engine, call, results, &executable, report));
  hx_status_t status;
  if (may_replace(executable, call)) {
    status = run_in_place(executable, call, &results[0], outs, report);
  } else {
    hx_value_t **made = hx_zalloc(call->result_count, sizeof *made);
    status = made == NULL ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a call")
                          : hx_run_with(executable, call->operands, made, NULL, report);
    if (status == HX_STATUS_OK) memcpy(outs, made, call->result_count * sizeof *made);
    hx_free(made);
  }
  hx_executable_release(executable);
  return status;
}

// What the results will carry of predicted noise, [result_count]; NULL where there is no memory for it.
static hx_noise_t *predict_noise(const hx_engine_t *engine, const hx_engine_call_t *call) {
  const size_t operands = call->operand_count, results = call->result_count;
  const hx_type_t **types = hx_zalloc(operands, sizeof *types);
  const hx_noise_t **noises = hx_zalloc(operands, sizeof *noises);
  hx_noise_t *made = hx_zalloc(results, sizeof *made);
  if (types != NULL && noises != NULL && made != NULL) {
    for (size_t i = 0; i < operands; ++i) {
      types[i] = &call->operands[i]->type;
      noises[i] = &call->operands[i]->noise;
    }
    hx_noise_infer(&(hx_noise_call_t){.params = engine->params,
                                      .id = call->id,
                                      .attrs = {.items = call->attrs, .count = call->attr_count},
                                      .types = types,
                                      .operands = noises,
                                      .operand_count = operands,
                                      .results = made,
                                      .result_count = results});
  }
  hx_free((void *)types);
  hx_free((void *)noises);
  return made;
}

// Steps into [0, slots), so that equal rotations share one entry of the cache.
static hx_engine_call_t canonical_call(const hx_engine_call_t *call, hx_named_attr_t room[NAMED_ATTRS_MAX]) {
  hx_engine_call_t canonical = *call;
  if (call->id != HX_OP_CKKS_ROTATE || call->attr_count > NAMED_ATTRS_MAX) return canonical;
  for (size_t i = 0; i < call->attr_count; ++i) {
    room[i] = call->attrs[i];
    if (hx_str_equal(room[i].name, hx_str("step"))) {
      room[i].value.integer = hx_rotation_reduce(room[i].value.integer, call->operands[0]->type.slots);
    }
  }
  canonical.attrs = room;
  return canonical;
}

hx_status_t hx_engine_run(hx_engine_t *engine, const hx_engine_call_t *call, hx_value_t **outs, hx_report_t *report) {
  if (engine == NULL || outs == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: engine or out is NULL", hx_op_info(call->id)->name);
  }
  HX_TRY(hx_engine_check_owners(engine, call, report));
  if (engine->capture != NULL) return hx_capture_call(engine->capture, call, outs, report);
  hx_type_t *results = hx_zalloc(call->result_count, sizeof *results);
  if (results == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a call");
  hx_named_attr_t room[NAMED_ATTRS_MAX];
  hx_status_t status = infer(engine, call, results, report);
  if (status == HX_STATUS_OK) {
    const hx_engine_call_t canonical = canonical_call(call, room);
    hx_noise_t *noises = predict_noise(engine, &canonical);  // before operands may become results
    hx_truth_t **truths = hx_engine_truths(engine, &canonical);
    status = run(engine, &canonical, results, outs, report);
    for (size_t i = 0; i < call->result_count && status == HX_STATUS_OK && noises != NULL; ++i)
      outs[i]->noise = noises[i];
    hx_free(noises);
    if (status == HX_STATUS_OK) {
      hx_engine_tell_truths(engine, &canonical, outs, truths);
    } else {
      hx_engine_drop_truths(truths, call->result_count);
    }
  }
  hx_free(results);
  return status;
}
