// SPDX-License-Identifier: Apache-2.0
// scheme-NAME.json: keys, encryption, every operation step by step, decryption.
#include <stdlib.h>
#include <string.h>

#include "tests/kat/scheme.h"

static void run_step(kat_scheme_t *s, const json_t *step) {
  const char *op = kat_text(step, "op"), *name = kat_text(step, "out");
  hx_value_t *out = NULL;
  hx_report_clear(s->report);
  if (strcmp(op, "encrypt_public") == 0 || strcmp(op, "encrypt_secret") == 0) {
    const hx_status_t status =
        op[8] == 'p' ? kat_scheme_encrypt_public(s, step, &out) : kat_scheme_encrypt_secret(s, step, &out);
    if (status == HX_STATUS_OK) {
      kat_scheme_finish(s, step, name, out, s->keys);
    } else {
      kat_check(s->kat, false, "%s: encryption failed: %s", name, hx_status_name(status));
    }
  } else if (strcmp(op, "decrypt") == 0) {
    const hx_value_t *value = kat_scheme_operand(s, step, 0);
    if (value == NULL) {
      kat_skip(s->kat, "a step whose operand was skipped");
      return;
    }
    kat_scheme_decrypts(s, "decrypt", value, s->keys, step);
  } else if (strcmp(op, "key_switch") == 0) {
    kat_scheme_key_switch(s, step, name);
  } else if (strcmp(op, "rotate_many") == 0) {
    kat_scheme_rotate_many(s, step);
  } else if (strcmp(op, "rotate_weighted_sum") == 0) {
    kat_scheme_rotate_weighted_sum(s, step, name);
  } else {
    kat_scheme_plain_step(s, step, name);
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
  static kat_scheme_t s;
  s = (kat_scheme_t){.kat = kat, .file = file, .n = kat_u32(file, "N")};
  s.params = scheme_params(kat, file);
  if (s.params == NULL) return;
  s.report = hx_report_create();
  if (hx_params_reference(s.params, &s.ring, s.report) != HX_STATUS_OK) abort();
  kat_scheme_keys(&s);
  kat_scheme_other(&s);
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
