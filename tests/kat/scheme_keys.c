// SPDX-License-Identifier: Apache-2.0
// Keys of a scheme file.
#include <stdlib.h>
#include <string.h>

#include "tests/kat/scheme.h"

int8_t *kat_scheme_small(const json_t *list, size_t n) {
  int8_t *out = malloc(n);
  if (out == NULL || json_array_size(list) != n) abort();
  for (size_t i = 0; i < n; ++i) out[i] = (int8_t)json_integer_value(json_array_get(list, i));
  return out;
}

// A tensor [component, limb, n] or, of a key, one digit of it, as a value for comparison.
static hx_value_t *view_of(const kat_scheme_t *s, const hx_tensor_t *tensor, uint32_t digit, uint32_t component) {
  uint32_t ids[HX_PRIMES_MAX];
  for (uint32_t i = 0; i < tensor->layout.limbs; ++i) ids[i] = i;
  hx_value_t *value = kat_tensor(s->params, ids, tensor->layout.limbs, 1, HX_NTT, HX_STANDARD, NULL);
  for (uint32_t l = 0; l < tensor->layout.limbs; ++l) {
    memcpy(hx_tensor_row(value->tensor, 0, 0, 0, l), hx_tensor_row(tensor, 0, digit, component, l),
           s->n * hx_dtype_bytes(tensor->layout.dtype));
  }
  return value;
}

static void check_part(kat_scheme_t *s, const char *name, const hx_tensor_t *tensor, uint32_t digit, uint32_t component,
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

static bool make_switch_key(kat_scheme_t *s, const char *name, const json_t *item, const int64_t *source,
                            const int8_t *target, hx_switch_key_t *out) {
  const json_t *errors = json_object_get(item, "errors"), *b = json_object_get(item, "b");
  const size_t digits = json_array_size(errors);
  int8_t *flat = malloc(digits * s->n);
  if (flat == NULL) abort();
  for (size_t j = 0; j < digits; ++j) {
    int8_t *one = kat_scheme_small(json_array_get(errors, j), s->n);
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

void kat_scheme_keys(kat_scheme_t *s) {
  const json_t *galois = json_object_get(s->file, "galois_keys");
  hx_keys_t *keys = hx_zalloc(1, sizeof *keys);
  if (keys == NULL) abort();
  s->keys = keys;
  atomic_init(&keys->refs, 1);
  keys->params = hx_params_retain(s->params);
  memset(keys->id, 0x11, sizeof keys->id);
  keys->parts = HX_KEYS_ALL;
  int8_t *secret = kat_scheme_small(json_object_get(s->file, "secret"), s->n);
  keys->secret = hx_alloc(s->n);
  if (keys->secret == NULL) abort();
  memcpy(keys->secret, secret, s->n);

  const json_t *public_key = json_object_get(s->file, "public_key");
  int8_t *error = kat_scheme_small(json_object_get(public_key, "e"), s->n);
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
void kat_scheme_other(kat_scheme_t *s) {
  static const uint8_t id[16] = {0x22};
  int8_t *target = kat_scheme_small(json_object_get(s->file, "other_secret"), s->n);
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
