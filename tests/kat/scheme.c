// SPDX-License-Identifier: Apache-2.0
// scheme-NAME.json: keys, encryption, every operation step by step, decryption.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kat/kat.h"

#define CIPHERTEXT "!ckks.ciphertext<>"
#define STEPS_MAX 256

typedef struct {
  kat_t *kat;
  const json_t *file;
  hx_params_t *params;
  hx_keys_t *keys, *other;  // of `secret`; of `other_secret`, for decryption alone
  hx_switch_t *leads;       // from the first to the second
  const hx_ref_ring *ring;
  size_t n;
  struct {
    const char *name;
    hx_value_t *value;
  } values[STEPS_MAX];
  size_t value_count;
  hx_report_t *report;
} scheme_t;

// ------------------------------------------------------------------ keys

static int8_t *small_list(const json_t *list, size_t n) {
  int8_t *out = malloc(n);
  if (out == NULL || json_array_size(list) != n) abort();
  for (size_t i = 0; i < n; ++i) out[i] = (int8_t)json_integer_value(json_array_get(list, i));
  return out;
}

// A tensor [component, limb, n] or, of a key, one digit of it, as a value for comparison.
static hx_value_t *view_of(const scheme_t *s, const hx_tensor_t *tensor, uint32_t digit, uint32_t component) {
  uint32_t ids[HX_PRIMES_MAX];
  for (uint32_t i = 0; i < tensor->layout.limbs; ++i) ids[i] = i;
  hx_value_t *value = kat_tensor(s->params, ids, tensor->layout.limbs, 1, HX_NTT, HX_STANDARD, NULL);
  for (uint32_t l = 0; l < tensor->layout.limbs; ++l) {
    memcpy(hx_tensor_row(value->tensor, 0, 0, 0, l), hx_tensor_row(tensor, 0, digit, component, l),
           s->n * hx_dtype_bytes(tensor->layout.dtype));
  }
  return value;
}

static void check_part(scheme_t *s, const char *name, const hx_tensor_t *tensor, uint32_t digit, uint32_t component,
                       const json_t *poly) {
  hx_value_t *value = view_of(s, tensor, digit, component);
  kat_check(s->kat, kat_poly_equal(value, 0, poly), "%s: digit %u component %u differs", name, digit, component);
  hx_value_release(value);
}

// s'(X) of a key, as wide integers: s^2 or a permutation of s.
static void sigma_small(const int8_t *a, size_t n, uint64_t g, int8_t *out) {
  for (size_t i = 0; i < n; ++i) {
    const size_t e = (size_t)((i * g) % (2 * n));
    if (e < n) {
      out[e] = a[i];
    } else {
      out[e - n] = (int8_t)-a[i];
    }
  }
}

static uint64_t inverse_element(uint64_t g, size_t n) {
  uint64_t x = 1;
  while (x * g % (2 * n) != 1) x += 2;
  return x;
}

static bool make_switch_key(scheme_t *s, const char *name, const json_t *item, const int64_t *source,
                            const int8_t *target, hx_switch_key_t *out) {
  const json_t *errors = json_object_get(item, "errors"), *b = json_object_get(item, "b");
  const size_t digits = json_array_size(errors);
  int8_t *flat = malloc(digits * s->n);
  if (flat == NULL) abort();
  for (size_t j = 0; j < digits; ++j) {
    int8_t *one = small_list(json_array_get(errors, j), s->n);
    memcpy(flat + j * s->n, one, s->n);
    free(one);
  }
  const bool made = kat_hex_bytes(kat_text(item, "seed"), out->seed, 32) &&
                    hx_switch_key_make(s->params, source, target, out->seed, flat, &out->tensor) == HX_STATUS_OK &&
                    out->tensor->layout.digits == digits;
  free(flat);
  if (!made) {
    kat_check(s->kat, false, "%s: the key cannot be made", name);
    return false;
  }
  for (uint32_t j = 0; j < digits; ++j) {
    check_part(s, name, out->tensor, j, 0, json_array_get(b, j));
    uint64_t first[4], *have = malloc(s->n * sizeof *have);
    if (have == NULL) abort();
    hx_ref_row_load(s->ring, out->tensor->layout.dtype, hx_tensor_row(out->tensor, 0, j, 1, 0), have);
    const bool equal = kat_row(json_string_value(json_array_get(json_object_get(item, "a_first"), j)),
                               hx_params_word(s->params), first, 4) &&
                       memcmp(first, have, sizeof first) == 0;
    kat_check(s->kat, equal, "%s: digit %u of a differs", name, j);
    free(have);
  }
  return true;
}

// s^2 mod X^n + 1 over the integers.
static void square_small(const int8_t *a, size_t n, int64_t *out) {
  memset(out, 0, n * sizeof *out);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n && a[i] != 0; ++k) {
      if (i + k < n) {
        out[i + k] += a[i] * a[k];
      } else {
        out[i + k - n] -= a[i] * a[k];
      }
    }
  }
}

static int compare_keys(const void *a, const void *b) {
  const uint64_t x = ((const hx_switch_key_t *)a)->element, y = ((const hx_switch_key_t *)b)->element;
  return (x > y) - (x < y);
}

static void make_keys(scheme_t *s) {
  const json_t *galois = json_object_get(s->file, "galois_keys");
  hx_keys_t *keys = hx_zalloc(1, sizeof *keys);
  if (keys == NULL) abort();
  s->keys = keys;
  atomic_init(&keys->refs, 1);
  keys->params = hx_params_retain(s->params);
  memset(keys->id, 0x11, sizeof keys->id);
  keys->parts = HX_KEYS_ALL;
  int8_t *secret = small_list(json_object_get(s->file, "secret"), s->n);
  keys->secret = hx_alloc(s->n);
  if (keys->secret == NULL) abort();
  memcpy(keys->secret, secret, s->n);

  const json_t *public_key = json_object_get(s->file, "public_key");
  int8_t *error = small_list(json_object_get(public_key, "e"), s->n);
  if (!kat_hex_bytes(kat_text(public_key, "seed"), keys->public_seed, 32) ||
      hx_public_key_make(s->params, secret, keys->public_seed, error, &keys->public_key) != HX_STATUS_OK) {
    kat_check(s->kat, false, "public key: cannot be made");
  } else {
    check_part(s, "public key", keys->public_key, 0, 0, json_object_get(public_key, "b"));
    check_part(s, "public key", keys->public_key, 0, 1, json_object_get(public_key, "a"));
  }
  free(error);

  int64_t *source = malloc(s->n * sizeof *source);
  int8_t *target = malloc(s->n);
  keys->relin = hx_zalloc(1, sizeof *keys->relin);
  keys->conj = hx_zalloc(1, sizeof *keys->conj);
  keys->galois = hx_zalloc(json_array_size(galois), sizeof *keys->galois);
  if (source == NULL || target == NULL || keys->relin == NULL || keys->conj == NULL || keys->galois == NULL) abort();
  square_small(secret, s->n, source);
  keys->relin->kind = HX_KEY_RELIN;
  make_switch_key(s, "relinearization key", json_object_get(s->file, "relinearization_key"), source, secret,
                  keys->relin);
  for (size_t i = 0; i < s->n; ++i) source[i] = secret[i];
  size_t i;
  json_t *item;
  json_array_foreach(galois, i, item) {
    const uint64_t g = kat_u64(item, "element");
    const bool conjugation = json_is_null(json_object_get(item, "step"));
    hx_switch_key_t *key = conjugation ? keys->conj : &keys->galois[keys->galois_count++];
    key->kind = conjugation ? HX_KEY_CONJ : HX_KEY_GALOIS;
    key->element = g;
    sigma_small(secret, s->n, inverse_element(g, s->n), target);
    make_switch_key(s, "galois key", item, source, target, key);
  }
  qsort(keys->galois, keys->galois_count, sizeof *keys->galois, compare_keys);
  free(source);
  free(target);
  free(secret);
}

// The second secret and the switching key to it.
static void make_other(scheme_t *s) {
  static const uint8_t id[16] = {0x22};
  int8_t *target = small_list(json_object_get(s->file, "other_secret"), s->n);
  int64_t *source = malloc(s->n * sizeof *source);
  s->other = hx_keys_create(s->params, id);
  if (source == NULL || s->other == NULL || (s->other->secret = hx_alloc(s->n)) == NULL) abort();
  s->other->parts = HX_KEYS_SECRET;
  memcpy(s->other->secret, target, s->n);
  for (size_t i = 0; i < s->n; ++i) source[i] = s->keys->secret[i];
  hx_switch_key_t key = {.kind = HX_KEY_SWITCH};
  if (make_switch_key(s, "switching key", json_object_get(s->file, "switching_key"), source, target, &key)) {
    s->leads = hx_switch_create(s->params, s->keys->id, id, key.tensor, key.seed);
    if (s->leads == NULL) abort();
  }
  free(source);
  free(target);
}

// ------------------------------------------------------------------ values

static hx_value_t *find(const scheme_t *s, const char *name) {
  for (size_t i = 0; i < s->value_count; ++i) {
    if (strcmp(s->values[i].name, name) == 0) return s->values[i].value;
  }
  return NULL;
}

static void put(scheme_t *s, const char *name, hx_value_t *value) {
  if (s->value_count == STEPS_MAX) abort();
  s->values[s->value_count].name = name;
  s->values[s->value_count++].value = value;
}

static hx_value_t *operand(const scheme_t *s, const json_t *step, size_t index) {
  const char *name = json_string_value(json_array_get(json_object_get(step, "of"), index));
  return name == NULL ? NULL : find(s, name);
}

static void store_row(const scheme_t *s, hx_value_t *value, uint32_t limb, const uint64_t *row) {
  hx_ref_row_store(s->ring, value->tensor->layout.dtype, row, hx_tensor_row(value->tensor, 0, 0, 0, limb));
}

// Signed decimal coefficients as a plaintext on Q at a depth.
static hx_value_t *plaintext(scheme_t *s, const json_t *coefficients, const char *scale, uint32_t depth) {
  const hx_ring *ring = hx_params_ring(s->params);
  hx_type_t type;
  hx_type_init(&type, HX_TYPE_PLAINTEXT);
  type.known = HX_KNOWN_CIPHERTEXT;
  type.components = 1;
  type.depth = depth;
  type.basis = HX_BASIS_Q;
  type.domain = HX_NTT;
  type.repr = HX_STANDARD;
  type.slots = kat_u32(s->file, "slots");
  type.primes = hx_ring_active(ring, depth);
  hx_value_t *value = NULL;
  if (hx_scale_parse(hx_str(scale), ring, &type.scale, s->report) != HX_STATUS_OK ||
      hx_value_create(s->params, &type, false, &value) != HX_STATUS_OK)
    return NULL;
  value->count = type.slots;
  value->is_complex = true;
  uint64_t *row = malloc(s->n * sizeof *row);
  if (row == NULL) abort();
  for (uint32_t l = 0; l < value->tensor->layout.limbs; ++l) {
    for (size_t k = 0; k < s->n; ++k)
      row[k] = kat_decimal_mod(json_string_value(json_array_get(coefficients, k)), ring->primes[l]);
    hx_ref_ntt_forward(s->ring, l, row);
    store_row(s, value, l, row);
  }
  free(row);
  return value;
}

static hx_value_t *message(scheme_t *s, const char *name, uint32_t depth) {
  const json_t *item = json_object_get(json_object_get(s->file, "messages"), name);
  return plaintext(s, json_object_get(item, "coefficients"), kat_text(item, "scale"), depth);
}

// ------------------------------------------------------------------ decryption

static bool slots_close(const scheme_t *s, const hx_value_t *plain, const json_t *expected, double *out_worst,
                        double *out_bound) {
  (void)s;
  const size_t slots = plain->type.slots;
  double *have = malloc(2 * slots * sizeof *have), largest = 0, worst = 0;
  if (have == NULL) abort();
  const bool good = json_array_size(expected) == slots && hx_decode(plain, have, s->report) == HX_STATUS_OK;
  for (size_t j = 0; j < slots && good; ++j) {
    const double re = json_number_value(json_array_get(json_array_get(expected, j), 0)),
                 im = json_number_value(json_array_get(json_array_get(expected, j), 1));
    largest = fmax(largest, hypot(re, im));
    worst = fmax(worst, hypot(have[2 * j] - re, have[2 * j + 1] - im));
  }
  free(have);
  *out_worst = worst;
  *out_bound = ldexp(largest, -47);
  return good && worst <= *out_bound;
}

static void check_decryption(scheme_t *s, const char *name, const hx_value_t *value, const hx_keys_t *keys,
                             const json_t *step) {
  hx_value_t *plain = NULL;
  if (hx_decrypt(keys, value, &plain, s->report) != HX_STATUS_OK) {
    kat_count_fault(s->kat, name, s->report);
    return;
  }
  kat_check(s->kat, kat_poly_equal(plain, 0, json_object_get(step, "decrypted")),
            "%s: the decrypted polynomial differs", name);
  double worst = 0, bound = 0;
  const bool close = slots_close(s, plain, json_object_get(step, "slots"), &worst, &bound);
  kat_check(s->kat, close, "%s: slots are off by %.3g, allowed %.3g", name, worst, bound);
  const json_t *coefficients = json_object_get(step, "coefficients");
  if (coefficients != NULL) {
    char scale[HX_SCALE_TEXT_MAX];
    hx_scale_print(&value->type.scale, scale);
    hx_value_t *exact = plaintext(s, coefficients, scale, value->type.depth);
    bool equal = exact != NULL;
    uint64_t *a = malloc(s->n * sizeof *a), *b = malloc(s->n * sizeof *b);
    if (a == NULL || b == NULL) abort();
    for (uint32_t l = 0; equal && l < exact->tensor->layout.limbs; ++l) {
      kat_read_row(exact, 0, l, a);
      kat_read_row(plain, 0, l, b);
      equal = memcmp(a, b, s->n * sizeof *a) == 0;
    }
    free(a);
    free(b);
    kat_check(s->kat, equal, "%s: the centred coefficients differ", name);
    hx_value_release(exact);
  }
  hx_value_release(plain);
}

// A step's value: its bits, state and decryption.
static void finish(scheme_t *s, const json_t *step, const char *name, hx_value_t *value, const hx_keys_t *keys) {
  char scale[HX_SCALE_TEXT_MAX];
  hx_scale_print(&value->type.scale, scale);
  kat_check(s->kat, kat_polys_equal(value, json_object_get(step, "result")), "%s: residues differ", name);
  kat_check(s->kat, strcmp(scale, kat_text(step, "scale")) == 0 && value->type.depth == kat_u32(step, "depth"),
            "%s: depth %u and scale %s, expected %u and %s", name, value->type.depth, scale, kat_u32(step, "depth"),
            kat_text(step, "scale"));
  check_decryption(s, name, value, keys, step);
  put(s, name, value);
}

// ------------------------------------------------------------------ steps

static hx_status_t encrypt_public(scheme_t *s, const json_t *step, hx_value_t **out) {
  hx_value_t *m = message(s, kat_text(step, "message"), kat_u32(step, "depth"));
  if (m == NULL) return HX_STATUS_INTERNAL;
  int8_t *v = small_list(json_object_get(step, "v"), s->n), *e0 = small_list(json_object_get(step, "e0"), s->n),
         *e1 = small_list(json_object_get(step, "e1"), s->n);
  const hx_status_t status = hx_encrypt_public_with(s->params, s->keys->public_key, m, v, e0, e1, out);
  if (status == HX_STATUS_OK) memcpy((*out)->key_id, s->keys->id, sizeof(*out)->key_id);
  free(v);
  free(e0);
  free(e1);
  hx_value_release(m);
  return status;
}

static hx_status_t encrypt_secret(scheme_t *s, const json_t *step, hx_value_t **out) {
  uint8_t seed[32];
  hx_value_t *m = message(s, kat_text(step, "message"), kat_u32(step, "depth"));
  if (m == NULL || !kat_hex_bytes(kat_text(step, "seed"), seed, 32)) return HX_STATUS_INTERNAL;
  int8_t *e = small_list(json_object_get(step, "e"), s->n);
  const hx_status_t status =
      hx_encrypt_secret_with(s->params, s->keys->secret, m, seed, kat_u32(step, "index"), e, out);
  if (status == HX_STATUS_OK) memcpy((*out)->key_id, s->keys->id, sizeof(*out)->key_id);
  free(e);
  hx_value_release(m);
  return status;
}

static void print_type(hx_text_t *text, const hx_value_t *value) {
  if (hx_type_print(&value->type, text) != HX_STATUS_OK) abort();
}

// Runs one operation over inputs with the keys at hand.
static hx_status_t call(scheme_t *s, const char *op, const char *attributes, hx_value_t *const *inputs, size_t count,
                        hx_value_t **out) {
  hx_text_t body;
  hx_text_init(&body);
  hx_text_printf(&body, "%%r0 = \"%s\"(", op);
  for (size_t i = 0; i < count; ++i) hx_text_printf(&body, "%s%%a%zu", i == 0 ? "" : ", ", i);
  hx_text_printf(&body, ") {%s} : (", attributes);
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) hx_text_puts(&body, ", ");
    print_type(&body, inputs[i]);
  }
  hx_text_puts(&body, ") -> " CIPHERTEXT);
  static const char *const result = CIPHERTEXT;
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
static const char *call_of(const scheme_t *s, const json_t *step, hx_text_t *attributes) {
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
static size_t gather(scheme_t *s, const json_t *step, hx_value_t **inputs, size_t *out_first_message) {
  const size_t operands = json_array_size(json_object_get(step, "of"));
  size_t count = 0;
  for (; count < operands; ++count) {
    inputs[count] = operand(s, step, count);
    if (inputs[count] == NULL) return 0;
  }
  *out_first_message = count;
  const json_t *messages = json_object_get(step, "messages");
  const uint32_t depth = inputs[0]->type.depth;
  if (json_object_get(step, "message") != NULL) inputs[count++] = message(s, kat_text(step, "message"), depth);
  for (size_t i = 0; i < json_array_size(messages); ++i)
    inputs[count++] = message(s, json_string_value(json_array_get(messages, i)), depth);
  return count;
}

// c2 of a product: its digits over Q and P, the key products, and what mod_down makes of them.
static void check_inside(scheme_t *s, const json_t *step, const char *name, const hx_value_t *product) {
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

static void key_switch(scheme_t *s, const json_t *step, const char *name) {
  hx_value_t *in = operand(s, step, 0), *out = NULL;
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
  hx_text_puts(&body, ", !ckks.key<kind = switch>) -> " CIPHERTEXT);
  static const char *const result = CIPHERTEXT;
  if (kat_run_switching(s->kat, s->params, s->keys, s->leads, body.data, &in, 1, &result, 1, &out, s->report) ==
      HX_STATUS_OK) {
    kat_check(s->kat, memcmp(out->key_id, s->other->id, 16) == 0, "%s: the result's key id is not the other's", name);
    finish(s, step, name, out, s->other);
  } else {
    kat_count_fault(s->kat, name, s->report);
  }
  hx_text_deinit(&body);
}

static void rotate_many(scheme_t *s, const json_t *step) {
  const json_t *steps = json_object_get(step, "steps"), *equals = json_object_get(step, "equals");
  const size_t count = json_array_size(steps);
  hx_value_t *in = operand(s, step, 0), *out[KAT_VALUES_MAX];
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
    types[i] = CIPHERTEXT;
    hx_text_printf(&body, "%s" CIPHERTEXT, i == 0 ? "" : ", ");
  }
  hx_text_puts(&body, ")\n");
  // Results are named one by one; reinterpreting at the same scale is a view.
  char scale[HX_SCALE_TEXT_MAX];
  hx_scale_print(&in->type.scale, scale);
  for (size_t i = 0; i < count; ++i) {
    hx_text_printf(
        &body, "%%r%zu = \"ckks.reinterpret_scale\"(%%m#%zu) {scale = \"%s\"} : (" CIPHERTEXT ") -> " CIPHERTEXT "\n",
        i, i, scale);
  }
  if (kat_run(s->kat, s->params, s->keys, body.data, &in, 1, types, count, out, s->report) == HX_STATUS_OK) {
    for (size_t i = 0; i < count; ++i) {
      const char *name = json_string_value(json_array_get(equals, i));
      const hx_value_t *same = find(s, name);
      kat_check(s->kat, same != NULL && hx_value_equal(out[i], same), "rotate_many %zu: differs from '%s'", i, name);
      hx_value_release(out[i]);
    }
  } else {
    kat_count_fault(s->kat, "rotate_many", s->report);
  }
  hx_text_deinit(&body);
}

static void rotate_weighted_sum(scheme_t *s, const json_t *step, const char *name) {
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
  hx_text_puts(&body, ") -> " CIPHERTEXT);
  static const char *const result = CIPHERTEXT;
  if (kat_run(s->kat, s->params, s->keys, body.data, inputs, count, &result, 1, &out, s->report) == HX_STATUS_OK) {
    finish(s, step, name, out, s->keys);
  } else {
    kat_count_fault(s->kat, name, s->report);
  }
  for (size_t i = first; i < count; ++i) hx_value_release(inputs[i]);
  hx_text_deinit(&body);
}

static void plain_step(scheme_t *s, const json_t *step, const char *name) {
  hx_value_t *inputs[KAT_VALUES_MAX], *out = NULL;
  size_t first = 0;
  hx_text_t attributes;
  hx_text_init(&attributes);
  const char *op = call_of(s, step, &attributes);
  if (op == NULL) {
    char reason[96];
    snprintf(reason, sizeof reason, "the step '%s' is not run yet by this runner", kat_text(step, "op"));
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
      finish(s, step, name, out, s->keys);
    } else {
      kat_count_fault(s->kat, name, s->report);
    }
    for (size_t i = first; i < count; ++i) hx_value_release(inputs[i]);
  }
  hx_text_deinit(&attributes);
}

static void run_step(scheme_t *s, const json_t *step) {
  const char *op = kat_text(step, "op"), *name = kat_text(step, "out");
  hx_value_t *out = NULL;
  hx_report_clear(s->report);
  if (strcmp(op, "encrypt_public") == 0 || strcmp(op, "encrypt_secret") == 0) {
    const hx_status_t status = op[8] == 'p' ? encrypt_public(s, step, &out) : encrypt_secret(s, step, &out);
    if (status == HX_STATUS_OK) {
      finish(s, step, name, out, s->keys);
    } else {
      kat_check(s->kat, false, "%s: encryption failed: %s", name, hx_status_name(status));
    }
  } else if (strcmp(op, "decrypt") == 0) {
    const hx_value_t *value = operand(s, step, 0);
    if (value == NULL) {
      kat_skip(s->kat, "a step whose operand was skipped");
      return;
    }
    check_decryption(s, "decrypt", value, s->keys, step);
  } else if (strcmp(op, "key_switch") == 0) {
    key_switch(s, step, name);
  } else if (strcmp(op, "rotate_many") == 0) {
    rotate_many(s, step);
  } else if (strcmp(op, "rotate_weighted_sum") == 0) {
    rotate_weighted_sum(s, step, name);
  } else {
    plain_step(s, step, name);
  }
}

static hx_params_t *scheme_params(kat_t *kat, const json_t *file) {
  uint64_t q[HX_PRIMES_MAX], p[HX_PRIMES_MAX];
  uint32_t sizes[HX_PRIMES_MAX], count = 0, group_count = 0;
  const json_t *base = json_object_get(file, "base"), *groups = json_object_get(file, "groups"),
               *special = json_object_get(file, "special");
  for (size_t i = 0; i < json_array_size(base); ++i)
    q[count++] = strtoull(json_string_value(json_array_get(base, i)), NULL, 10);
  sizes[group_count++] = count;
  for (size_t g = 0; g < json_array_size(groups); ++g) {
    const json_t *group = json_array_get(groups, g);
    for (size_t i = 0; i < json_array_size(group); ++i)
      q[count++] = strtoull(json_string_value(json_array_get(group, i)), NULL, 10);
    sizes[group_count++] = (uint32_t)json_array_size(group);
  }
  for (size_t i = 0; i < json_array_size(special); ++i)
    p[i] = strtoull(json_string_value(json_array_get(special, i)), NULL, 10);
  return kat_params(kat, &(kat_chain_t){.n = kat_u32(file, "N"),
                                        .word = kat_u32(file, "word"),
                                        .digits = kat_u32(file, "digits"),
                                        .q = q,
                                        .group_sizes = sizes,
                                        .group_count = group_count,
                                        .p = p,
                                        .p_count = (uint32_t)json_array_size(special),
                                        .scale = kat_text(file, "scale")});
}

void kat_scheme(kat_t *kat, json_t *file) {
  static scheme_t s;
  s = (scheme_t){.kat = kat, .file = file, .n = kat_u32(file, "N")};
  s.params = scheme_params(kat, file);
  if (s.params == NULL) return;
  s.report = hx_report_create();
  if (hx_params_reference(s.params, &s.ring, s.report) != HX_STATUS_OK) abort();
  make_keys(&s);
  make_other(&s);
  size_t i;
  json_t *step;
  json_array_foreach(json_object_get(file, "steps"), i, step) run_step(&s, step);
  for (size_t v = 0; v < s.value_count; ++v) hx_value_release(s.values[v].value);
  hx_switch_release(s.leads);
  hx_keys_release(s.other);
  hx_keys_release(s.keys);
  hx_report_release(s.report);
  hx_params_release(s.params);
}
