// SPDX-License-Identifier: Apache-2.0
#include "core/eager/truth.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "core/ckks/noise.h"
#include "core/ckks/transition.h"

typedef double complex number_t;

static hx_truth_t *new_truth(size_t slots) {
  hx_truth_t *truth = hx_zalloc(1, sizeof *truth + slots * sizeof truth->pairs[0] * 2);
  if (truth == NULL) return NULL;
  atomic_init(&truth->refs, 1);
  truth->slots = slots;
  return truth;
}

static number_t *numbers(hx_truth_t *truth) { return (number_t *)truth->pairs; }

// What a value holds: what it should, where that is known, else what it decrypts to. One reference.
static hx_truth_t *truth_of(const hx_engine_t *engine, const hx_value_t *value) {
  if (value->truth != NULL) return hx_truth_retain(value->truth);
  if (value->type.batch_rank != 0 || value->tensor == NULL || value->type.basis != HX_BASIS_Q) return NULL;
  hx_value_t *plaintext = NULL;
  if (value->type.kind == HX_TYPE_PLAINTEXT) {
    plaintext = hx_value_retain(value);
  } else if (value->type.kind != HX_TYPE_CIPHERTEXT ||
             hx_decrypt(engine->truth_keys, value, &plaintext, NULL) != HX_STATUS_OK) {
    return NULL;
  }
  hx_truth_t *truth = new_truth(value->type.slots);
  if (truth != NULL && hx_decode(plaintext, truth->pairs, NULL) != HX_STATUS_OK) {
    hx_truth_release(truth);
    truth = NULL;
  }
  hx_value_release(plaintext);
  return truth;
}

// ------------------------------------------------------------------ rules

typedef struct hx_truth_call {
  const hx_engine_call_t *call;
  hx_attrs_t attrs;
  hx_truth_t **in, **out;  // all known
  size_t slots;
} hx_truth_call_t;

static number_t constant_of(const hx_truth_call_t *c) {
  double re = 0, im = 0;
  (void)hx_attrs_get_complex(c->attrs, "value", &re, &im);
  return re + im * I;
}

// One number of the result from those of the first two operands.
static bool combine(const hx_truth_call_t *c, number_t a, number_t b, number_t *out) {
  int64_t integer = 0;
  switch (c->call->id) {
    case HX_OP_CKKS_ADD:
    case HX_OP_CKKS_ADD_PLAIN:
      *out = a + b;
      return true;
    case HX_OP_CKKS_SUB:
    case HX_OP_CKKS_SUB_PLAIN:
      *out = a - b;
      return true;
    case HX_OP_CKKS_MUL:
    case HX_OP_CKKS_MUL_PLAIN:
      *out = a * b;
      return true;
    case HX_OP_CKKS_SQUARE:
      *out = a * a;
      return true;
    case HX_OP_CKKS_NEG:
      *out = -a;
      return true;
    case HX_OP_CKKS_CONJUGATE:
      *out = conj(a);
      return true;
    case HX_OP_CKKS_ADD_SCALAR:
      *out = a + constant_of(c);
      return true;
    case HX_OP_CKKS_MUL_SCALAR:
      *out = a * constant_of(c);
      return true;
    case HX_OP_CKKS_MUL_INTEGER:
      (void)hx_attrs_get_i64(c->attrs, "integer", &integer);
      *out = a * (double)integer;
      return true;
    case HX_OP_CKKS_RELINEARIZE:
    case HX_OP_CKKS_RESCALE:
    case HX_OP_CKKS_LEVEL_DROP:
    case HX_OP_CKKS_TO_NTT:
    case HX_OP_CKKS_FROM_NTT:
    case HX_OP_CKKS_PREPARE_PLAIN:
      *out = a;
      return true;
    default:
      return false;
  }
}

static number_t rotated(const hx_truth_call_t *c, size_t operand, int64_t step, size_t slot) {
  const size_t shift = hx_rotation_reduce(step, (uint32_t)c->slots);
  return numbers(c->in[operand])[(slot + shift) & (c->slots - 1)];
}

// Rotations and groups: number `slot` of result `r`.
static bool gather(const hx_truth_call_t *c, size_t r, size_t slot, number_t *out) {
  const hx_engine_call_t *call = c->call;
  const hx_attribute_t *steps = NULL;
  size_t count = 0;
  int64_t step = 0, groups = 1;
  (void)hx_attrs_get_list(c->attrs, "steps", &steps, &count);
  (void)hx_attrs_get_i64(c->attrs, "step", &step);
  (void)hx_attrs_get_i64(c->attrs, "groups", &groups);
  *out = 0;
  switch (call->id) {
    case HX_OP_CKKS_ROTATE:
      *out = rotated(c, 0, step, slot);
      return true;
    case HX_OP_CKKS_ROTATE_MANY:
      *out = rotated(c, 0, steps[r].integer, slot);
      return true;
    case HX_OP_CKKS_ROTATE_SUM:
      for (size_t t = 0; t < count; ++t) *out += rotated(c, t, steps[t].integer, slot);
      return true;
    case HX_OP_CKKS_ROTATE_WEIGHTED_SUM:
      for (size_t t = 0; t < count; ++t)
        *out += rotated(c, 0, steps[t].integer, slot) * numbers(c->in[1 + r * count + t])[slot];
      return true;
    case HX_OP_CKKS_WEIGHTED_SUM:
      count = call->operand_count / ((size_t)groups + 1);
      for (size_t t = 0; t < count; ++t) *out += numbers(c->in[t])[slot] * numbers(c->in[count * (r + 1) + t])[slot];
      return true;
    default:
      return false;
  }
}

static bool fill(const hx_truth_call_t *c) {
  for (size_t r = 0; r < c->call->result_count; ++r) {
    number_t *out = numbers(c->out[r]);
    for (size_t i = 0; i < c->slots; ++i) {
      const number_t a = numbers(c->in[0])[i], b = c->call->operand_count > 1 ? numbers(c->in[1])[i] : 0;
      if (!combine(c, a, b, &out[i]) && !gather(c, r, i, &out[i])) return false;
    }
  }
  return true;
}

// ------------------------------------------------------------------ around a call

void hx_engine_drop_truths(hx_truth_t **truths, size_t count) {
  for (size_t i = 0; truths != NULL && i < count; ++i) hx_truth_release(truths[i]);
  hx_free(truths);
}

hx_truth_t **hx_engine_truths(const hx_engine_t *engine, const hx_engine_call_t *call) {
  if (engine->truth_watch == NULL || call->operand_count == 0) return NULL;
  hx_truth_t **in = hx_zalloc(call->operand_count, sizeof *in), **out = hx_zalloc(call->result_count, sizeof *out);
  const size_t slots = call->operands[0]->type.slots;
  bool known = in != NULL && out != NULL && slots > 0;
  for (size_t i = 0; known && i < call->operand_count; ++i)
    known = (in[i] = truth_of(engine, call->operands[i])) != NULL && in[i]->slots == slots;
  for (size_t i = 0; known && i < call->result_count; ++i) known = (out[i] = new_truth(slots)) != NULL;
  known = known && fill(&(hx_truth_call_t){.call = call,
                                           .attrs = {.items = call->attrs, .count = call->attr_count},
                                           .in = in,
                                           .out = out,
                                           .slots = slots});
  hx_engine_drop_truths(in, call->operand_count);
  if (known) return out;
  hx_engine_drop_truths(out, call->result_count);
  return NULL;
}

static void measure(const hx_engine_t *engine, const hx_engine_call_t *call, size_t result, hx_value_t *value) {
  hx_value_t *plaintext = NULL;
  hx_truth_t *have = new_truth(value->truth->slots);
  hx_status_t status = have == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  if (status == HX_STATUS_OK) status = hx_decrypt(engine->truth_keys, value, &plaintext, NULL);
  if (status == HX_STATUS_OK) status = hx_decode(plaintext, have->pairs, NULL);
  if (status == HX_STATUS_OK) {
    hx_engine_noise_t told = {.operation = hx_op_info(call->id)->name, .result = result, .depth = value->type.depth};
    for (size_t i = 0; i < have->slots; ++i) {
      const double error = cabs(numbers(have)[i] - numbers(value->truth)[i]);
      told.measured += error * error / (double)have->slots;
      if (error > told.worst) told.worst = error;
    }
    told.measured = sqrt(told.measured);
    hx_value_noise_t predicted;
    hx_value_noise(value, &predicted);
    told.known = predicted.known;
    told.predicted = predicted.slot_rms;
    told.sigmas = predicted.known && predicted.slot_sigma > 0 ? told.worst / predicted.slot_sigma : 0;
    engine->truth_watch(engine->truth_argument, &told);
  }
  hx_truth_release(have);
  hx_value_release(plaintext);
}

void hx_engine_tell_truths(const hx_engine_t *engine, const hx_engine_call_t *call, hx_value_t *const *outs,
                           hx_truth_t **truths) {
  if (truths == NULL) return;
  for (size_t r = 0; r < call->result_count; ++r) {
    hx_truth_release(outs[r]->truth);
    outs[r]->truth = hx_truth_retain(truths[r]);
    if (outs[r]->type.kind == HX_TYPE_CIPHERTEXT) measure(engine, call, r, outs[r]);
  }
  hx_engine_drop_truths(truths, call->result_count);
}

hx_status_t hx_engine_watch_noise(hx_engine_t *engine, const hx_keys_t *keys, hx_engine_noise_fn watch, void *argument,
                                  hx_report_t *report) {
  if (engine == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_engine_watch_noise: the engine is NULL");
  if (watch != NULL && (keys == NULL || keys->secret == NULL))
    return hx_report_fail(report, HX_CODE_MISSING_KEY,
                          "hx_engine_watch_noise: the truth takes the secret key, which this key set does not have");
  if (watch != NULL && !hx_params_same(keys->params, engine->params))
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "hx_engine_watch_noise: the keys belong to parameters %.16s..., the engine to %.16s...",
                          hx_params_digest_hex(keys->params), hx_params_digest_hex(engine->params));
  hx_keys_release(engine->truth_keys);
  engine->truth_keys = watch == NULL ? NULL : hx_keys_retain(keys);
  engine->truth_watch = watch;
  engine->truth_argument = argument;
  return HX_STATUS_OK;
}
