// SPDX-License-Identifier: Apache-2.0
// What each operation of the ckks dialect makes of its operands' noise: one rule an operation, beside the transitions
// of core/ckks/transition.h. V: variance per coefficient, S: scale, P: mean |z|^2 of the message.
//
// operation                    the error of the result
// add sub add_plain sub_plain  e_a +- e_b
// neg, mul_integer             times -1, times the integer
// add_scalar                   and the constant's rounding, known exactly
// mul_scalar                   e_a times the constant, and its rounding times the message of a
// mul_plain                    e_a p, and the encoding's rounding times the message of a
// mul, square                  e_a b + e_b a + e_a e_b
// sum                          of the items: independent, or alike
// weighted_sum                 of the products of mul_plain
// relinearize, key_switch      and a key switch
// rotate, rotate_many, conjugate   sigma(e_a), and a key switch each
// rescale                      over the group, and a rounding for each prime
// rotate_sum                   of the rotations, a key product each and one division by P in all
// rotate_weighted_sum          the same of the products, one division for each group
// encode, encrypt              rounding of the encoding; fresh noise
// level_drop, to_ntt, from_ntt, decrypt, prepare_plain   nothing
// reinterpret_scale            nothing; the message is another multiple of the polynomial
#include <math.h>
#include <string.h>

#include "core/ckks/noise.h"
#include "core/ckks/noise_state.h"
#include "core/ckks/transition.h"

static double scale_of(const hx_noise_call_t *call, size_t operand) {
  return exp2(hx_scale_log2(&call->types[operand]->scale, hx_params_ring(call->params)));
}

static const hx_noise_t *noise_of(const hx_noise_call_t *call, size_t operand) { return call->operands[operand]; }

static uint64_t mix_number(uint64_t id, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return hx_noise_mix(id, bits);
}

static uint64_t mix_attribute(uint64_t id, const hx_attribute_t *value) {
  id = hx_noise_mix(hx_noise_mix(id, (uint64_t)value->kind), (uint64_t)value->integer);
  id = mix_number(id, value->number);
  for (size_t i = 0; i < value->text.size; ++i) id = hx_noise_mix(id, (unsigned char)value->text.data[i]);
  for (size_t i = 0; value->kind == HX_ATTRIBUTE_LIST && i < value->count; ++i) id = mix_attribute(id, &value->list[i]);
  return id;
}

#define UNIT ((uint64_t)3)  // of an id: the power of i

// Equal for the same operation on the same values, without their units.
static uint64_t result_id(const hx_noise_call_t *call, size_t result) {
  uint64_t id = hx_noise_mix((uint64_t)call->id, result);
  for (size_t i = 0; i < call->attrs.count; ++i) id = mix_attribute(id, &call->attrs.items[i].value);
  for (size_t i = 0; i < call->operand_count; ++i) {
    if (noise_of(call, i) != NULL) id = hx_noise_mix(id, noise_of(call, i)->id & ~UNIT);
  }
  return id & ~UNIT;
}

// Result `index` begins as operand `from`, with an id of its own and the operand's unit: for operations that commute
// with i.
static hx_noise_t *begin(const hx_noise_call_t *call, size_t index, size_t from) {
  hx_noise_t *out = &call->results[index];
  const uint64_t id = result_id(call, index);
  *out = *noise_of(call, from);
  out->id = id | (out->id & UNIT);
  return out;
}

// For operations that do not: the id tells of the operands' units.
static hx_noise_t *begin_apart(const hx_noise_call_t *call, size_t index, size_t from) {
  hx_noise_t *out = begin(call, index, from);
  uint64_t units = 1;
  for (size_t i = 0; i < call->operand_count; ++i) {
    if (noise_of(call, i) != NULL) units = hx_noise_mix(units, noise_of(call, i)->id & UNIT);
  }
  out->id = hx_noise_mix(out->id & ~UNIT, units) & ~UNIT;
  return out;
}

// A part of its own, of an operation that commutes with i.
static void add_own(hx_noise_t *out, uint64_t id, double variance) {
  const double sigma = sqrt(variance);
  hx_noise_list_t own = {.count = 1, .parts = {{.id = id, .amplitude = sigma, .worst = sigma}}};
  hx_noise_turn(&own, (uint32_t)(out->id & UNIT));
  hx_noise_add_part(out, &own.parts[0]);
}

static int64_t integer_of(const hx_noise_call_t *call, const char *name, int64_t missing) {
  int64_t value = missing;
  return hx_attrs_get_i64(call->attrs, name, &value) ? value : missing;
}

// ------------------------------------------------------------------ linear

// Another form of the operand: the same value.
static void infer_same(const hx_noise_call_t *call) { call->results[0] = *noise_of(call, 0); }

static void infer_level_drop(const hx_noise_call_t *call) { (void)begin(call, 0, 0); }

// a - a, or a + (-a).
static bool is_opposite(const hx_noise_t *a, const hx_noise_t *b, bool subtract) {
  return a->mask == (b->mask ^ (subtract ? 0u : 2u));
}

static void infer_linear(const hx_noise_call_t *call) {
  const bool subtract = call->id == HX_OP_CKKS_SUB || call->id == HX_OP_CKKS_SUB_PLAIN;
  const hx_noise_t *a = noise_of(call, 0), *b = noise_of(call, 1);
  hx_noise_t *out = begin_apart(call, 0, 0);
  hx_noise_accumulate(out, b, subtract ? -1.0 : 1.0);
  if (call->types[1]->kind == HX_TYPE_CIPHERTEXT)
    out->transparent = (a->transparent && b->transparent) || is_opposite(a, b, subtract);
}

// The operand times i^unit, exactly: the same value up to a unit.
static void turn_value(const hx_noise_call_t *call, uint32_t unit) {
  hx_noise_t *out = &call->results[0];
  *out = *noise_of(call, 0);
  out->id = (out->id & ~UNIT) | ((out->id + unit) & UNIT);
  hx_noise_turn(&out->error, unit);
  hx_noise_turn(&out->message, unit);
}

static void infer_factor(const hx_noise_call_t *call) {
  if (call->id == HX_OP_CKKS_NEG) {
    turn_value(call, 2);
    return;
  }
  const double factor = (double)integer_of(call, "integer", 1);
  hx_noise_t *out = begin(call, 0, 0);
  hx_noise_times(&out->error, factor);
  hx_noise_times(&out->message, factor);
  out->transparent = out->transparent || factor == 0;
}

// Square of what rounding x * scale leaves: exact where the product is, else 1/4, the most.
static double rounding_square(double x, double scale) {
  if (x == 0) return 0;
  const double product = x * scale;
  if (frexp(scale, &(int){0}) != 0.5) return 0.25;  // no power of two
  if (fabs(product) >= 0x1p52) return 0;            // a whole number already
  const double rest = product - nearbyint(product);
  return rest * rest;
}

static void infer_add_scalar(const hx_noise_call_t *call) {
  double re = 0, im = 0;
  (void)hx_attrs_get_complex(call->attrs, "value", &re, &im);
  const double scale = scale_of(call, 0), n = ldexp(1.0, (int)hx_params_log_n(call->params));
  const double rest = rounding_square(re, scale) + rounding_square(im, scale);
  hx_noise_t *out = begin_apart(call, 0, 0);
  hx_noise_add_part(out, &(hx_noise_part_t){.id = mix_number(mix_number((uint64_t)call->id, re), im),
                                            .amplitude = sqrt(rest / n),
                                            .worst = sqrt(rest / (2.0 * call->types[0]->slots))});
  hx_noise_add_message(out, mix_number(mix_number((uint64_t)call->id, re), im), hypot(re, im), hypot(re, im));
}

static void infer_mul_scalar(const hx_noise_call_t *call) {
  double re = 0, im = 0;
  hx_str_t text = {0};
  hx_scale_t factor;
  (void)hx_attrs_get_complex(call->attrs, "value", &re, &im);
  (void)hx_attrs_get_text(call->attrs, "scale", &text);
  hx_noise_t *out = &call->results[0];
  if (hx_scale_parse(text, hx_params_ring(call->params), &factor, NULL) != HX_STATUS_OK) {
    *out = (hx_noise_t){0};
    return;
  }
  const double scale = exp2(hx_scale_log2(&factor, hx_params_ring(call->params))), own = scale_of(call, 0);
  const double n = ldexp(1.0, (int)hx_params_log_n(call->params)), square = re * re + im * im;
  const double rest = rounding_square(re, scale) + rounding_square(im, scale);
  const hx_noise_t *a = noise_of(call, 0);
  if (scale == 1.0 && square == 1.0 && (re == 0 || im == 0)) {
    turn_value(call, re == 1 ? 0 : im == 1 ? 1 : re == -1 ? 2 : 3);
    return;
  }
  (void)begin(call, 0, 0);
  out->transparent = out->transparent || square == 0;
  if (im == 0) {
    hx_noise_times(&out->error, re * scale);
    hx_noise_times(&out->message, re);
  } else {
    hx_noise_shape(out, scale, square, square, mix_number(mix_number(1, re), im));
    hx_noise_set_message(out, out->id, square * hx_noise_power(a), square * hx_noise_peak(a));
  }
  hx_noise_add_part(out,
                    &(hx_noise_part_t){.id = hx_noise_mix(out->id, 4),
                                       .shape = out->id | 1,
                                       .amplitude = own * sqrt(rest * hx_noise_power(a) / n),
                                       .worst = own * sqrt(rest * hx_noise_peak(a) / (2.0 * call->types[0]->slots))});
}

static void infer_reinterpret(const hx_noise_call_t *call) {
  hx_str_t text = {0};
  hx_scale_t scale;
  (void)hx_attrs_get_text(call->attrs, "scale", &text);
  const hx_ring *ring = hx_params_ring(call->params);
  hx_noise_t *out = begin(call, 0, 0);
  if (hx_scale_parse(text, ring, &scale, NULL) != HX_STATUS_OK) {
    *out = (hx_noise_t){0};
    return;
  }
  hx_noise_times(&out->message, exp2(hx_scale_log2(&call->types[0]->scale, ring) - hx_scale_log2(&scale, ring)));
}

// ------------------------------------------------------------------ products

// to += a * b. The message is left to the caller.
static void add_product(const hx_noise_call_t *call, size_t x, size_t y, uint64_t id, hx_noise_t *to) {
  const hx_noise_t *a = noise_of(call, x), *b = noise_of(call, y);
  hx_noise_t first = *a, second = *b;
  const double dependent = hx_noise_share_parts(a, b) ? 2.0 : 1.0;
  const double n = ldexp(1.0, (int)hx_params_log_n(call->params));
  hx_noise_shape(&first, scale_of(call, y), hx_noise_power(b), hx_noise_peak(b), b->id & ~UNIT);
  hx_noise_shape(&second, scale_of(call, x), hx_noise_power(a), hx_noise_peak(a), a->id & ~UNIT);
  hx_noise_turn(&first.error, (uint32_t)(b->id & UNIT));
  hx_noise_turn(&second.error, (uint32_t)(a->id & UNIT));
  for (uint32_t i = 0; i < first.error.count; ++i) hx_noise_add_part(to, &first.error.parts[i]);
  for (uint32_t i = 0; i < second.error.count; ++i) hx_noise_add_part(to, &second.error.parts[i]);
  hx_noise_add_part(
      to, &(hx_noise_part_t){.id = hx_noise_mix(id, 5),
                             .amplitude = sqrt(dependent * n * hx_noise_variance(a) * hx_noise_variance(b)),
                             .worst = sqrt(dependent * n * hx_noise_worst_variance(a) * hx_noise_worst_variance(b))});
}

// The message of to becomes a b.
static void set_product(const hx_noise_t *a, const hx_noise_t *b, hx_noise_t *to) {
  const double peak_a = hx_noise_peak(a), peak_b = hx_noise_peak(b);
  const uint64_t x = a->id & ~UNIT, y = b->id & ~UNIT;
  hx_noise_set_message(to, hx_noise_mix(x < y ? x : y, x < y ? y : x),
                       fmin(hx_noise_power(a) * peak_b, peak_a * hx_noise_power(b)), peak_a * peak_b);
  hx_noise_turn(&to->message, (uint32_t)((a->id + b->id) & UNIT));
}

static bool is_zero(const hx_noise_t *noise) {
  return noise->transparent && noise->error.count == 0 && noise->message.count == 0;
}

static void infer_product(const hx_noise_call_t *call) {
  const size_t other = call->id == HX_OP_CKKS_SQUARE ? 0 : 1;
  const hx_noise_t *a = noise_of(call, 0), *b = noise_of(call, other);
  hx_noise_t *out = begin(call, 0, 0);
  // mul of equal operands and square are one value.
  if (((a->id ^ b->id) & ~UNIT) == 0) out->id = hx_noise_mix(hx_noise_mix(HX_OP_CKKS_SQUARE, 0), a->id & ~UNIT);
  out->id = (out->id & ~UNIT) | ((a->id + b->id) & UNIT);
  out->error.count = 0;
  out->items_alike = a->items_alike || b->items_alike;
  out->transparent = call->id == HX_OP_CKKS_MUL_PLAIN ? a->transparent
                                                      : (a->transparent && b->transparent) || is_zero(a) || is_zero(b);
  add_product(call, 0, other, out->id, out);
  set_product(a, b, out);
}

static void infer_weighted_sum(const hx_noise_call_t *call) {
  const size_t groups = (size_t)integer_of(call, "groups", 1), terms = call->operand_count / (groups + 1);
  for (size_t g = 0; g < groups && g < call->result_count; ++g) {
    hx_noise_t *out = begin_apart(call, g, 0);
    out->error.count = out->message.count = 0;
    for (size_t t = 0; t < terms; ++t) {
      const size_t weight = terms * (g + 1) + t;
      hx_noise_t term = {.known = true};
      add_product(call, t, weight, hx_noise_mix(out->id, t), &term);
      set_product(noise_of(call, t), noise_of(call, weight), &term);
      hx_noise_accumulate(out, &term, 1.0);
      out->transparent = out->transparent && noise_of(call, t)->transparent;
    }
  }
}

static void infer_sum(const hx_noise_call_t *call) {
  const int64_t axis = integer_of(call, "axis", 0);
  const hx_type_t *type = call->types[0];
  const double count = axis >= 0 && (uint64_t)axis < type->batch_rank ? (double)type->batch_shape[axis] : 1.0;
  hx_noise_t *out = begin(call, 0, 0);
  if (out->items_alike) {
    hx_noise_times(&out->error, count);
  } else {  // items are independent, and so are their sum and any one item
    const double variance = count * hx_noise_variance(out), worst = count * hx_noise_worst_variance(out);
    out->error.count = 0;
    hx_noise_add_part(
        out, &(hx_noise_part_t){.id = hx_noise_mix(out->id, 6), .amplitude = sqrt(variance), .worst = sqrt(worst)});
  }
  hx_noise_set_message(out, out->id, hx_noise_power(out) * count * count, hx_noise_peak(out) * count * count);
}

// ------------------------------------------------------------------ maintenance and slots

// What key switches and roundings leave: nothing where there is nothing to switch.
static void add_noise(hx_noise_t *out, uint64_t id, double variance) {
  if (!out->transparent) add_own(out, id, variance);
}

static void infer_switch(const hx_noise_call_t *call) {
  hx_noise_t *out = begin(call, 0, 0);
  add_noise(out, hx_noise_mix(out->id & ~UNIT, 7), hx_noise_key_switch(call->params, call->types[0]->depth));
}

static void infer_rescale(const hx_noise_call_t *call) {
  const hx_type_t *type = call->types[0];
  const hx_ring *ring = hx_params_ring(call->params);
  const hx_primes_t before = hx_ring_active(ring, type->depth), after = hx_ring_active(ring, type->depth + 1);
  hx_noise_t *out = begin(call, 0, 0);
  for (uint32_t id = 0; id < ring->q_count; ++id) {
    if (hx_primes_has(&before, id) && !hx_primes_has(&after, id))
      hx_noise_times(&out->error, 1.0 / (double)ring->primes[id]);
  }
  add_noise(out, hx_noise_mix(out->id & ~UNIT, 8), hx_noise_rescale(call->params, type->depth, type->components, 0.0));
  if (out->transparent && !is_zero(out)) add_own(out, hx_noise_mix(out->id & ~UNIT, 8), hx_noise_encode());
}

static void rotate_result(const hx_noise_call_t *call, size_t result, int64_t step) {
  const hx_type_t *type = call->types[0];
  const uint32_t reduced = hx_rotation_reduce(step, type->slots);
  if (reduced == 0) {
    call->results[result] = *noise_of(call, 0);  // a copy
    return;
  }
  hx_noise_t *out = &call->results[result];
  *out = *noise_of(call, 0);
  out->id = (hx_noise_mix(hx_noise_mix(HX_OP_CKKS_ROTATE, reduced), out->id & ~UNIT) & ~UNIT) | (out->id & UNIT);
  hx_noise_rotate(out, reduced, type->slots);
  add_noise(out, hx_noise_mix(out->id & ~UNIT, 9), hx_noise_key_switch(call->params, type->depth));
}

static void infer_rotate(const hx_noise_call_t *call) { rotate_result(call, 0, integer_of(call, "step", 0)); }

static void infer_rotate_many(const hx_noise_call_t *call) {
  const hx_attribute_t *steps = NULL;
  size_t count = 0;
  (void)hx_attrs_get_list(call->attrs, "steps", &steps, &count);
  for (size_t i = 0; i < count && i < call->result_count; ++i) rotate_result(call, i, steps[i].integer);
}

static void infer_conjugate(const hx_noise_call_t *call) {
  hx_noise_t *out = begin(call, 0, 0);
  hx_noise_conjugate(out);
  out->id = (out->id & ~UNIT) | ((UNIT + 1 - (out->id & UNIT)) & UNIT);  // conj(i) = -i
  add_noise(out, hx_noise_mix(out->id & ~UNIT, 10), hx_noise_key_switch(call->params, call->types[0]->depth));
}

// One term of a sum on Q and P: sigma(e_a + what the key product leaves), before it is weighed.
static void rotated_term(const hx_noise_call_t *call, size_t operand, int64_t step, hx_noise_t *out) {
  const hx_type_t *type = call->types[operand];
  const uint32_t reduced = hx_rotation_reduce(step, type->slots);
  *out = *noise_of(call, operand);
  if (reduced == 0) return;
  hx_noise_rotate(out, reduced, type->slots);
  add_noise(out, hx_noise_mix(hx_noise_mix(out->id & ~UNIT, 11), reduced),
            hx_noise_key_product(call->params, type->depth));
}

static void infer_rotate_sum(const hx_noise_call_t *call) {
  const hx_attribute_t *steps = NULL;
  size_t count = 0;
  (void)hx_attrs_get_list(call->attrs, "steps", &steps, &count);
  hx_noise_t *out = begin_apart(call, 0, 0), term;
  out->error.count = out->message.count = 0;
  for (size_t t = 0; t < count; ++t) {
    rotated_term(call, t, steps[t].integer, &term);
    hx_noise_accumulate(out, &term, 1.0);
    out->transparent = out->transparent && term.transparent;
  }
  add_noise(out, hx_noise_mix(out->id, 12), hx_noise_mod_down(call->params));
}

static void infer_rotate_weighted_sum(const hx_noise_call_t *call) {
  const hx_attribute_t *steps = NULL;
  size_t count = 0;
  (void)hx_attrs_get_list(call->attrs, "steps", &steps, &count);
  const hx_noise_t *a = noise_of(call, 0);
  for (size_t g = 0; g < call->result_count; ++g) {
    hx_noise_t *out = begin_apart(call, g, 0), term;
    out->error.count = out->message.count = 0;
    for (size_t t = 0; t < count; ++t) {
      const size_t at = 1 + g * count + t;
      const hx_noise_t *weight = noise_of(call, at);
      hx_noise_t rounding = *weight;
      rotated_term(call, 0, steps[t].integer, &term);
      hx_noise_shape(&term, scale_of(call, at), hx_noise_power(weight), hx_noise_peak(weight), weight->id & ~UNIT);
      hx_noise_turn(&term.error, (uint32_t)(weight->id & UNIT));
      hx_noise_shape(&rounding, scale_of(call, 0), hx_noise_power(a), hx_noise_peak(a), hx_noise_mix(a->id, t));
      for (uint32_t i = 0; i < rounding.error.count; ++i) hx_noise_add_part(&term, &rounding.error.parts[i]);
      hx_noise_set_message(&term, hx_noise_mix(hx_noise_mix(a->id, weight->id), (uint64_t)steps[t].integer),
                           fmin(hx_noise_power(a) * hx_noise_peak(weight), hx_noise_peak(a) * hx_noise_power(weight)),
                           hx_noise_peak(a) * hx_noise_peak(weight));
      hx_noise_accumulate(out, &term, 1.0);
    }
    add_noise(out, hx_noise_mix(out->id, 13), hx_noise_mod_down(call->params));
  }
}

// ------------------------------------------------------------------ edges

static void infer_encode(const hx_noise_call_t *call) {
  int64_t slots = (int64_t)1 << (hx_params_log_n(call->params) - 1);
  (void)hx_attrs_get_i64(call->attrs, "slots", &slots);
  const double square = call->magnitude * call->magnitude;
  hx_str_t text = {0};
  hx_scale_t scale;
  const hx_ring *ring = hx_params_ring(call->params);
  call->results[0] = (hx_noise_t){0};
  (void)hx_attrs_get_text(call->attrs, "scale", &text);
  if (hx_scale_parse(text, ring, &scale, NULL) != HX_STATUS_OK) return;
  hx_noise_of_encoding(call->params, (uint32_t)slots, exp2(hx_scale_log2(&scale, ring)), square, square,
                       hx_noise_mix(HX_OP_CKKS_ENCODE, call->call_id), &call->results[0]);
}

static void infer_encrypt(const hx_noise_call_t *call) {
  const bool symmetric =
      call->operand_count > 1 && call->types[1]->kind == HX_TYPE_KEY && call->types[1]->key_kind == HX_KEY_SECRET;
  const hx_noise_t plaintext = *noise_of(call, 0);
  hx_noise_of_encryption(call->params, &plaintext, symmetric, hx_noise_mix(HX_OP_CKKS_ENCRYPT, call->call_id),
                         &call->results[0]);
}

// ------------------------------------------------------------------ the table

typedef void (*hx_noise_rule_t)(const hx_noise_call_t *call);

static const hx_noise_rule_t rules[HX_OP_COUNT] = {
    [HX_OP_MEMORY_TRANSFER] = infer_same,
    [HX_OP_CKKS_ADD] = infer_linear,
    [HX_OP_CKKS_SUB] = infer_linear,
    [HX_OP_CKKS_NEG] = infer_factor,
    [HX_OP_CKKS_ADD_PLAIN] = infer_linear,
    [HX_OP_CKKS_SUB_PLAIN] = infer_linear,
    [HX_OP_CKKS_MUL_PLAIN] = infer_product,
    [HX_OP_CKKS_ADD_SCALAR] = infer_add_scalar,
    [HX_OP_CKKS_MUL_SCALAR] = infer_mul_scalar,
    [HX_OP_CKKS_MUL_INTEGER] = infer_factor,
    [HX_OP_CKKS_MUL] = infer_product,
    [HX_OP_CKKS_SQUARE] = infer_product,
    [HX_OP_CKKS_SUM] = infer_sum,
    [HX_OP_CKKS_WEIGHTED_SUM] = infer_weighted_sum,
    [HX_OP_CKKS_RELINEARIZE] = infer_switch,
    [HX_OP_CKKS_RESCALE] = infer_rescale,
    [HX_OP_CKKS_LEVEL_DROP] = infer_level_drop,
    [HX_OP_CKKS_REINTERPRET_SCALE] = infer_reinterpret,
    [HX_OP_CKKS_TO_NTT] = infer_same,
    [HX_OP_CKKS_FROM_NTT] = infer_same,
    [HX_OP_CKKS_KEY_SWITCH] = infer_switch,
    [HX_OP_CKKS_ROTATE] = infer_rotate,
    [HX_OP_CKKS_ROTATE_MANY] = infer_rotate_many,
    [HX_OP_CKKS_CONJUGATE] = infer_conjugate,
    [HX_OP_CKKS_ROTATE_WEIGHTED_SUM] = infer_rotate_weighted_sum,
    [HX_OP_CKKS_ROTATE_SUM] = infer_rotate_sum,
    [HX_OP_CKKS_ENCODE] = infer_encode,
    [HX_OP_CKKS_ENCRYPT] = infer_encrypt,
    [HX_OP_CKKS_DECRYPT] = infer_same,
    [HX_OP_CKKS_PREPARE_PLAIN] = infer_same,
};

// The mask of a result: of operand 0 where only the first component changes, else of what it is computed from.
static uint64_t result_mask(const hx_noise_call_t *call, size_t result) {
  const hx_noise_t *first = call->operands[0];
  const bool copied = first != NULL && call->results[result].id == first->id;
  if (first == NULL || call->id == HX_OP_CKKS_ENCRYPT) return call->results[result].id;
  if (copied || call->id == HX_OP_CKKS_ADD_PLAIN || call->id == HX_OP_CKKS_SUB_PLAIN ||
      call->id == HX_OP_CKKS_ADD_SCALAR) {
    return first->mask;
  }
  if (call->id == HX_OP_CKKS_NEG) return first->mask ^ 2u;
  uint64_t mask = hx_noise_mix((uint64_t)call->id, result);
  for (size_t i = 0; i < call->attrs.count; ++i) mask = mix_attribute(mask, &call->attrs.items[i].value);
  for (size_t i = 0; i < call->operand_count; ++i) {
    if (call->operands[i] != NULL) mask = hx_noise_mix(mask, call->operands[i]->mask & ~UNIT);
  }
  // Operations on one ciphertext commute with units; of others the units are part of what is computed from.
  const bool alone = call->operand_count == 1 || call->types[1]->kind == HX_TYPE_KEY;
  if (!alone) {
    for (size_t i = 0; i < call->operand_count; ++i) {
      if (call->operands[i] != NULL) mask = hx_noise_mix(mask, call->operands[i]->mask & UNIT);
    }
    return mask & ~UNIT;
  }
  const uint64_t unit = (call->id == HX_OP_CKKS_SQUARE ? 2 * first->mask : first->mask) & UNIT;
  return (mask & ~UNIT) | (call->id == HX_OP_CKKS_CONJUGATE ? (UNIT + 1 - unit) & UNIT : unit);
}

bool hx_noise_has_rule(hx_op_id_t id) { return (size_t)id < HX_COUNT_OF(rules) && rules[id] != NULL; }

void hx_noise_infer(const hx_noise_call_t *call) {
  bool known = hx_noise_has_rule(call->id) && call->result_count > 0;
  for (size_t i = 0; known && i < call->operand_count; ++i) {
    const bool carries = call->types[i]->kind == HX_TYPE_CIPHERTEXT || call->types[i]->kind == HX_TYPE_PLAINTEXT;
    if (carries) known = call->operands[i] != NULL && call->operands[i]->known;
  }
  if (known) {
    bool private = false;
    for (size_t i = 0; i < call->operand_count; ++i)
    private = private || (call->operands[i] != NULL && call->operands[i]->private);
    rules[call->id](call);
    for (size_t r = 0; r < call->result_count; ++r) {
      call->results[r].private = private;
      call->results[r].mask = result_mask(call, r);
    }
    return;
  }
  for (size_t r = 0; r < call->result_count; ++r) call->results[r] = (hx_noise_t){0};
}
