// SPDX-License-Identifier: Apache-2.0
// Steps of a scheme file.
#include <stdlib.h>
#include <string.h>

#include "tests/kat/scheme.h"

static void print_type(hx_text_t *text, const hx_value_t *value) {
  if (hx_type_print(&value->type, text) != HX_STATUS_OK) abort();
}

// Runs one operation over inputs with the keys at hand.
static hx_status_t call(kat_scheme_t *s, const char *op, const char *attributes, hx_value_t *const *inputs,
                        size_t count, hx_value_t **out) {
  hx_text_t body;
  hx_text_init(&body);
  hx_text_printf(&body, "%%r0 = \"%s\"(", op);
  for (size_t i = 0; i < count; ++i) hx_text_printf(&body, "%s%%a%zu", i == 0 ? "" : ", ", i);
  hx_text_printf(&body, ") {%s} : (", attributes);
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) hx_text_puts(&body, ", ");
    print_type(&body, inputs[i]);
  }
  hx_text_puts(&body, ") -> " KAT_CIPHERTEXT);
  static const char *const result = KAT_CIPHERTEXT;
  const hx_status_t status = kat_run(s->kat, s->params, s->keys, body.data, inputs, count, &result, 1, out, s->report);
  hx_text_deinit(&body);
  return status;
}

static void scalar_attributes(hx_text_t *text, const json_t *step) {
  const json_t *w = json_object_get(step, "scalar");
  hx_text_printf(text, "value = [%.17e : f64, %.17e : f64]", json_number_value(json_array_get(w, 0)),
                 json_number_value(json_array_get(w, 1)));
}

static void list_attribute(hx_text_t *text, const char *name, const json_t *list) {
  hx_text_printf(text, "%s = [", name);
  for (size_t i = 0; i < json_array_size(list); ++i)
    hx_text_printf(text, "%s%lld", i == 0 ? "" : ", ", (long long)json_integer_value(json_array_get(list, i)));
  hx_text_puts(text, "]");
}

// The operation of a step and its attributes; NULL where it is no plain call.
static const char *call_of(const kat_scheme_t *s, const json_t *step, hx_text_t *attributes) {
  static const char *const plain[][2] = {{"add", "ckks.add"},
                                         {"sub", "ckks.sub"},
                                         {"negate", "ckks.neg"},
                                         {"add_plain", "ckks.add_plain"},
                                         {"mul_plain", "ckks.mul_plain"},
                                         {"multiply", "ckks.mul"},
                                         {"square", "ckks.square"},
                                         {"relinearize", "ckks.relinearize"},
                                         {"rescale", "ckks.rescale"},
                                         {"conjugate", "ckks.conjugate"},
                                         {"mul_integer", "ckks.mul_integer"},
                                         {"level_drop", "ckks.level_drop"},
                                         {"add_scalar", "ckks.add_scalar"},
                                         {"mul_scalar", "ckks.mul_scalar"},
                                         {"rotate", "ckks.rotate"},
                                         {"weighted_sum", "ckks.weighted_sum"}};
  const char *op = kat_text(step, "op");
  if (strcmp(op, "mul_integer") == 0) hx_text_printf(attributes, "integer = %s : i64", kat_text(step, "integer"));
  if (strcmp(op, "level_drop") == 0) hx_text_printf(attributes, "depth = %u : i64", hx_params_max_depth(s->params));
  if (strcmp(op, "rotate") == 0)
    hx_text_printf(attributes, "step = %lld : i64", (long long)json_integer_value(json_object_get(step, "step")));
  if (strcmp(op, "weighted_sum") == 0) hx_text_puts(attributes, "groups = 1 : i64");
  if (strcmp(op, "mul_scalar") == 0) hx_text_printf(attributes, "scale = \"%s\", ", kat_text(step, "scalar_scale"));
  if (strcmp(op, "add_scalar") == 0 || strcmp(op, "mul_scalar") == 0) scalar_attributes(attributes, step);
  for (size_t i = 0; i < HX_COUNT_OF(plain); ++i) {
    if (strcmp(op, plain[i][0]) == 0) return plain[i][1];
  }
  return NULL;
}

// Ciphertext operands, then the messages as plaintexts at the first operand's depth. Messages are released by the
// caller.
static size_t gather(kat_scheme_t *s, const json_t *step, hx_value_t **inputs, size_t *out_first_message) {
  const size_t operands = json_array_size(json_object_get(step, "of"));
  size_t count = 0;
  for (; count < operands; ++count) {
    inputs[count] = kat_scheme_operand(s, step, count);
    if (inputs[count] == NULL) return 0;
  }
  *out_first_message = count;
  const json_t *messages = json_object_get(step, "messages");
  const uint32_t depth = inputs[0]->type.depth;
  if (json_object_get(step, "message") != NULL)
    inputs[count++] = kat_scheme_message(s, kat_text(step, "message"), depth);
  for (size_t i = 0; i < json_array_size(messages); ++i)
    inputs[count++] = kat_scheme_message(s, json_string_value(json_array_get(messages, i)), depth);
  return count;
}

// c2 of a product: its digits over Q and P, the key products, and what mod_down makes of them.
static void check_inside(kat_scheme_t *s, const json_t *step, const char *name, const hx_value_t *product) {
  const json_t *digits = json_object_get(step, "c2_digits");
  if (digits == NULL) return;
  const size_t count = json_array_size(digits);
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&product->type.primes, ids);
  uint64_t *data = malloc(limbs * s->n * sizeof *data);
  if (data == NULL) abort();
  for (uint32_t l = 0; l < limbs; ++l) kat_read_row(product, 2, l, data + l * s->n);
  hx_value_t *c2 = kat_tensor(s->params, ids, limbs, 1, HX_NTT, HX_STANDARD, data), *out[KAT_VALUES_MAX];
  free(data);
  hx_text_t body, type;
  hx_text_init(&body);
  hx_text_init(&type);
  print_type(&type, c2);
  hx_text_printf(&body,
                 "%%key = \"material.ref\"() {symbol = @relin} : () -> !ckks.key<kind = relin>\n"
                 "%%x = \"ntt.inverse\"(%%a0) : (%s) -> !rns.tensor<>\n",
                 type.data);
  for (size_t j = 0; j < count; ++j) {
    hx_text_printf(&body,
                   "%%u%zu = \"rns.mod_up\"(%%x) {digit = %zu : i64} : (!rns.tensor<>) -> !rns.tensor<>\n"
                   "%%r%zu = \"ntt.forward\"(%%u%zu) : (!rns.tensor<>) -> !rns.tensor<>\n",
                   j, j, j, j);
    if (j == 0) {
      hx_text_printf(&body,
                     "%%k0 = \"rns.key_product\"(%%r0, %%key) {digit = 0 : i64} : (!rns.tensor<>, !ckks.key<kind = "
                     "relin>) -> !rns.tensor<>\n");
    } else {
      hx_text_printf(&body,
                     "%%k%zu = \"rns.key_product\"(%%r%zu, %%key, %%k%zu) {digit = %zu : i64} : (!rns.tensor<>, "
                     "!ckks.key<kind = relin>, !rns.tensor<>) -> "
                     "!rns.tensor<>\n",
                     j, j, j - 1, j);
    }
  }
  // The accumulators leave through an addition of zero, so that they are a result of their own.
  hx_text_printf(&body,
                 "%%n = \"rns.neg\"(%%k%zu) : (!rns.tensor<>) -> !rns.tensor<>\n"
                 "%%r%zu = \"rns.neg\"(%%n) : (!rns.tensor<>) -> !rns.tensor<>\n"
                 "%%i = \"ntt.inverse\"(%%k%zu) : (!rns.tensor<>) -> !rns.tensor<>\n"
                 "%%d = \"rns.mod_down\"(%%i) {rounding = \"nearest\"} : (!rns.tensor<>) -> !rns.tensor<>\n"
                 "%%r%zu = \"ntt.forward\"(%%d) : (!rns.tensor<>) -> !rns.tensor<>\n",
                 count - 1, count, count - 1, count + 1);
  const char *types[KAT_VALUES_MAX];
  for (size_t i = 0; i < count + 2; ++i) types[i] = "!rns.tensor<>";
  if (kat_run(s->kat, s->params, s->keys, body.data, &c2, 1, types, count + 2, out, s->report) == HX_STATUS_OK) {
    for (size_t j = 0; j < count; ++j)
      kat_check(s->kat, kat_poly_equal(out[j], 0, json_array_get(digits, j)), "%s: digit %zu of c2 differs", name, j);
    kat_check(s->kat, kat_polys_equal(out[count], json_object_get(step, "c2_accumulators")),
              "%s: the key products of c2 differ", name);
    kat_check(s->kat, kat_polys_equal(out[count + 1], json_object_get(step, "c2_switched")),
              "%s: the switched c2 differs", name);
    for (size_t i = 0; i < count + 2; ++i) hx_value_release(out[i]);
  } else {
    kat_count_fault(s->kat, name, s->report);
  }
  hx_text_deinit(&body);
  hx_text_deinit(&type);
  hx_value_release(c2);
}

void kat_scheme_key_switch(kat_scheme_t *s, const json_t *step, const char *name) {
  hx_value_t *in = kat_scheme_operand(s, step, 0), *out = NULL;
  if (in == NULL || s->leads == NULL) {
    kat_skip(s->kat, "a step whose operand was skipped");
    return;
  }
  hx_text_t body;
  hx_text_init(&body);
  hx_text_puts(&body,
               "%key = \"material.ref\"() {symbol = @switch} : () -> !ckks.key<kind = switch>\n"
               "%r0 = \"ckks.key_switch\"(%a0, %key) : (");
  print_type(&body, in);
  hx_text_puts(&body, ", !ckks.key<kind = switch>) -> " KAT_CIPHERTEXT);
  static const char *const result = KAT_CIPHERTEXT;
  if (kat_run_switching(s->kat, s->params, s->keys, s->leads, body.data, &in, 1, &result, 1, &out, s->report) ==
      HX_STATUS_OK) {
    kat_check(s->kat, memcmp(out->key_id, s->other->id, 16) == 0, "%s: the result's key id is not the other's", name);
    kat_scheme_finish(s, step, name, out, s->other);
  } else {
    kat_count_fault(s->kat, name, s->report);
  }
  hx_text_deinit(&body);
}

void kat_scheme_rotate_many(kat_scheme_t *s, const json_t *step) {
  const json_t *steps = json_object_get(step, "steps"), *equals = json_object_get(step, "equals");
  const size_t count = json_array_size(steps);
  hx_value_t *in = kat_scheme_operand(s, step, 0), *out[KAT_VALUES_MAX];
  if (in == NULL || count > KAT_VALUES_MAX) {
    kat_skip(s->kat, "a step whose operand was skipped");
    return;
  }
  hx_text_t body;
  hx_text_init(&body);
  hx_text_printf(&body, "%%m:%zu = \"ckks.rotate_many\"(%%a0) {", count);
  list_attribute(&body, "steps", steps);
  hx_text_puts(&body, "} : (");
  print_type(&body, in);
  hx_text_puts(&body, ") -> (");
  const char *types[KAT_VALUES_MAX];
  for (size_t i = 0; i < count; ++i) {
    types[i] = KAT_CIPHERTEXT;
    hx_text_printf(&body, "%s" KAT_CIPHERTEXT, i == 0 ? "" : ", ");
  }
  hx_text_puts(&body, ")\n");
  // Results are named one by one; reinterpreting at the same scale is a view.
  char scale[HX_SCALE_TEXT_MAX];
  hx_scale_print(&in->type.scale, scale);
  for (size_t i = 0; i < count; ++i) {
    hx_text_printf(&body,
                   "%%r%zu = \"ckks.reinterpret_scale\"(%%m#%zu) {scale = \"%s\"} : (" KAT_CIPHERTEXT
                   ") -> " KAT_CIPHERTEXT "\n",
                   i, i, scale);
  }
  if (kat_run(s->kat, s->params, s->keys, body.data, &in, 1, types, count, out, s->report) == HX_STATUS_OK) {
    for (size_t i = 0; i < count; ++i) {
      const char *name = json_string_value(json_array_get(equals, i));
      const hx_value_t *same = kat_scheme_find(s, name);
      kat_check(s->kat, same != NULL && hx_value_equal(out[i], same), "rotate_many %zu: differs from '%s'", i, name);
      hx_value_release(out[i]);
    }
  } else {
    kat_count_fault(s->kat, "rotate_many", s->report);
  }
  hx_text_deinit(&body);
}

void kat_scheme_rotate_weighted_sum(kat_scheme_t *s, const json_t *step, const char *name) {
  const json_t *steps = json_object_get(step, "steps");
  hx_value_t *inputs[KAT_VALUES_MAX], *out = NULL;
  size_t first = 0;
  const size_t count = gather(s, step, inputs, &first);
  if (count == 0) {
    kat_skip(s->kat, "a step whose operand was skipped");
    return;
  }
  hx_text_t body;
  hx_text_init(&body);
  for (size_t i = first; i < count; ++i) {
    hx_text_printf(&body, "%%w%zu = \"ckks.prepare_plain\"(%%a%zu) {for = \"weighted\"} : (", i, i);
    print_type(&body, inputs[i]);
    hx_text_puts(&body, ") -> !ckks.plaintext<>\n");
  }
  hx_text_puts(&body, "%r0 = \"ckks.rotate_weighted_sum\"(%a0");
  for (size_t i = first; i < count; ++i) hx_text_printf(&body, ", %%w%zu", i);
  hx_text_puts(&body, ") {");
  list_attribute(&body, "steps", steps);
  hx_text_puts(&body, "} : (");
  print_type(&body, inputs[0]);
  for (size_t i = first; i < count; ++i) hx_text_puts(&body, ", !ckks.plaintext<>");
  hx_text_puts(&body, ") -> " KAT_CIPHERTEXT);
  static const char *const result = KAT_CIPHERTEXT;
  if (kat_run(s->kat, s->params, s->keys, body.data, inputs, count, &result, 1, &out, s->report) == HX_STATUS_OK) {
    kat_scheme_finish(s, step, name, out, s->keys);
  } else {
    kat_count_fault(s->kat, name, s->report);
  }
  for (size_t i = first; i < count; ++i) hx_value_release(inputs[i]);
  hx_text_deinit(&body);
}

void kat_scheme_plain_step(kat_scheme_t *s, const json_t *step, const char *name) {
  hx_value_t *inputs[KAT_VALUES_MAX], *out = NULL;
  size_t first = 0;
  hx_text_t attributes;
  hx_text_init(&attributes);
  const char *op = call_of(s, step, &attributes);
  if (op == NULL) {
    char reason[96];
    snprintf(reason, sizeof reason, "the step '%s' is unknown to this runner", kat_text(step, "op"));
    kat_skip(s->kat, reason);
    hx_text_deinit(&attributes);
    return;
  }
  const size_t count = gather(s, step, inputs, &first);
  if (count == 0) {
    kat_skip(s->kat, "a step whose operand was skipped");
  } else {
    if (call(s, op, attributes.data == NULL ? "" : attributes.data, inputs, count, &out) == HX_STATUS_OK) {
      check_inside(s, step, name, out);
      kat_scheme_finish(s, step, name, out, s->keys);
    } else {
      kat_count_fault(s->kat, name, s->report);
    }
    for (size_t i = first; i < count; ++i) hx_value_release(inputs[i]);
  }
  hx_text_deinit(&attributes);
}
