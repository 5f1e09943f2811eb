// SPDX-License-Identifier: Apache-2.0
// Values of a scheme file: messages, encryption, decryption.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kat/scheme.h"

hx_value_t *kat_scheme_find(const kat_scheme_t *s, const char *name) {
  for (size_t i = 0; i < s->value_count; ++i) {
    if (strcmp(s->values[i].name, name) == 0) return s->values[i].value;
  }
  return NULL;
}

void kat_scheme_put(kat_scheme_t *s, const char *name, hx_value_t *value) {
  if (s->value_count == KAT_STEPS_MAX) abort();
  s->values[s->value_count].name = name;
  s->values[s->value_count++].value = value;
}

hx_value_t *kat_scheme_operand(const kat_scheme_t *s, const json_t *step, size_t index) {
  const char *name = json_string_value(json_array_get(json_object_get(step, "of"), index));
  return name == NULL ? NULL : kat_scheme_find(s, name);
}

static void store_row(const kat_scheme_t *s, hx_value_t *value, uint32_t limb, const uint64_t *row) {
  hx_ref_row_store(s->ring, value->tensor->layout.dtype, row, hx_tensor_row(value->tensor, 0, 0, 0, limb));
}

// Signed decimal coefficients as a plaintext on Q at a depth.
static hx_value_t *plaintext(kat_scheme_t *s, const json_t *coefficients, const char *scale, uint32_t depth) {
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

hx_value_t *kat_scheme_message(kat_scheme_t *s, const char *name, uint32_t depth) {
  const json_t *item = json_object_get(json_object_get(s->file, "messages"), name);
  return plaintext(s, json_object_get(item, "coefficients"), kat_text(item, "scale"), depth);
}

// ------------------------------------------------------------------ decryption

static bool slots_close(const kat_scheme_t *s, const hx_value_t *plain, const json_t *expected, double *out_worst,
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

void kat_scheme_decrypts(kat_scheme_t *s, const char *name, const hx_value_t *value, const hx_keys_t *keys,
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
void kat_scheme_finish(kat_scheme_t *s, const json_t *step, const char *name, hx_value_t *value,
                       const hx_keys_t *keys) {
  char scale[HX_SCALE_TEXT_MAX];
  hx_scale_print(&value->type.scale, scale);
  kat_check(s->kat, kat_polys_equal(value, json_object_get(step, "result")), "%s: residues differ", name);
  kat_check(s->kat, strcmp(scale, kat_text(step, "scale")) == 0 && value->type.depth == kat_u32(step, "depth"),
            "%s: depth %u and scale %s, expected %u and %s", name, value->type.depth, scale, kat_u32(step, "depth"),
            kat_text(step, "scale"));
  kat_scheme_decrypts(s, name, value, keys, step);
  kat_scheme_put(s, name, value);
}

// ------------------------------------------------------------------ encryption

hx_status_t kat_scheme_encrypt_public(kat_scheme_t *s, const json_t *step, hx_value_t **out) {
  hx_value_t *m = kat_scheme_message(s, kat_text(step, "message"), kat_u32(step, "depth"));
  if (m == NULL) return HX_STATUS_INTERNAL;
  int8_t *v = kat_scheme_small(json_object_get(step, "v"), s->n),
         *e0 = kat_scheme_small(json_object_get(step, "e0"), s->n),
         *e1 = kat_scheme_small(json_object_get(step, "e1"), s->n);
  const hx_status_t status = hx_encrypt_public_with(s->params, s->keys->public_key, m, v, e0, e1, out);
  if (status == HX_STATUS_OK) memcpy((*out)->key_id, s->keys->id, sizeof(*out)->key_id);
  free(v);
  free(e0);
  free(e1);
  hx_value_release(m);
  return status;
}

hx_status_t kat_scheme_encrypt_secret(kat_scheme_t *s, const json_t *step, hx_value_t **out) {
  uint8_t seed[32];
  hx_value_t *m = kat_scheme_message(s, kat_text(step, "message"), kat_u32(step, "depth"));
  if (m == NULL || !kat_hex_bytes(kat_text(step, "seed"), seed, 32)) return HX_STATUS_INTERNAL;
  int8_t *e = kat_scheme_small(json_object_get(step, "e"), s->n);
  const hx_status_t status =
      hx_encrypt_secret_with(s->params, s->keys->secret, m, seed, kat_u32(step, "index"), e, out);
  if (status == HX_STATUS_OK) memcpy((*out)->key_id, s->keys->id, sizeof(*out)->key_id);
  free(e);
  hx_value_release(m);
  return status;
}
