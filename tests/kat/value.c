// SPDX-License-Identifier: Apache-2.0
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kat/kat.h"

hx_params_t *kat_params(kat_t *kat, const kat_chain_t *chain) {
  hx_text_t text;
  hx_text_init(&text);
  uint32_t log_n = 0;
  while ((1U << log_n) < chain->n) ++log_n;
  hx_text_printf(&text, "{\"log_n\":%u,\"word\":%u,\"base\":[", log_n, chain->word);
  size_t at = 0;
  for (uint32_t g = 0; g < chain->group_count; ++g) {
    if (g > 0) hx_text_puts(&text, g == 1 ? "],\"groups\":[[" : "],[");
    for (uint32_t k = 0; k < chain->group_sizes[g]; ++k, ++at)
      hx_text_printf(&text, "%s\"%llu\"", k == 0 ? "" : ",", (unsigned long long)chain->q[at]);
  }
  hx_text_puts(&text, chain->group_count > 1 ? "]],\"special\":[" : "],\"groups\":[],\"special\":[");
  for (uint32_t k = 0; k < chain->p_count; ++k)
    hx_text_printf(&text, "%s\"%llu\"", k == 0 ? "" : ",", (unsigned long long)chain->p[k]);
  hx_text_printf(&text, "],\"digits\":%u,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"%s\"}", chain->digits,
                 chain->scale);
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  const hx_status_t status =
      hx_params_parse((hx_str_t){.data = text.data, .size = text.size}, "vectors", HX_PARAMS_INSECURE, &params, report);
  if (status != HX_STATUS_OK) {
    const hx_fault_t *fault = hx_report_get(report, 0);
    kat_check(kat, false, "parameters of N=%u refused: %s", chain->n,
              fault == NULL ? hx_status_name(status) : fault->text);
    params = NULL;
  }
  hx_report_release(report);
  hx_text_deinit(&text);
  return params;
}

hx_params_t *kat_params_of(kat_t *kat, uint32_t n, uint32_t word, const uint64_t *primes, uint32_t count,
                           uint32_t digits) {
  uint32_t sizes[HX_PRIMES_MAX];
  for (uint32_t i = 0; i < count; ++i) sizes[i] = 1;
  return kat_params(kat, &(kat_chain_t){.n = n,
                                        .word = word,
                                        .digits = digits,
                                        .q = primes,
                                        .group_sizes = sizes,
                                        .group_count = count,
                                        .scale = "2^20"});
}

static uint32_t word_dtype(const hx_params_t *params) { return hx_params_word(params) == 32 ? HX_U32 : HX_U64; }

static void store(void *row, uint32_t dtype, const uint64_t *data, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    if (dtype == HX_U32) {
      ((uint32_t *)row)[i] = (uint32_t)data[i];
    } else {
      ((uint64_t *)row)[i] = data[i];
    }
  }
}

hx_value_t *kat_tensor(const hx_params_t *params, const uint32_t *ids, uint32_t count, uint32_t components,
                       uint32_t domain, uint32_t repr, const uint64_t *data) {
  hx_type_t type;
  hx_type_init(&type, HX_TYPE_TENSOR);
  type.known = HX_KNOWN_TENSOR;
  type.dtype = word_dtype(params);
  type.components = components;
  type.domain = domain;
  type.repr = repr;
  bool in_q = false, in_p = false;
  for (uint32_t i = 0; i < count; ++i) {
    hx_primes_add(&type.primes, ids[i]);
    in_q = in_q || ids[i] < hx_params_q_count(params);
    in_p = in_p || ids[i] >= hx_params_q_count(params);
  }
  type.basis = in_q && in_p ? HX_BASIS_QP : in_q ? HX_BASIS_Q : HX_BASIS_P;
  hx_value_t *value = NULL;
  if (hx_value_create(params, &type, false, &value) != HX_STATUS_OK) abort();
  const size_t n = (size_t)1 << hx_params_log_n(params);
  for (uint32_t c = 0; c < components && data != NULL; ++c) {
    for (uint32_t l = 0; l < count; ++l)
      store(hx_tensor_row(value->tensor, 0, 0, c, l), type.dtype, data + (c * count + l) * n, n);
  }
  return value;
}

void kat_read_row(const hx_value_t *value, uint32_t component, uint32_t limb, uint64_t *out) {
  const size_t n = (size_t)1 << value->tensor->layout.log_n;
  const void *row = hx_tensor_row(value->tensor, 0, 0, component, limb);
  for (size_t i = 0; i < n; ++i)
    out[i] = value->tensor->layout.dtype == HX_U32 ? ((const uint32_t *)row)[i] : ((const uint64_t *)row)[i];
}

// One row against whole residues, or a digest and the first four.
static bool row_equal(const hx_value_t *value, uint32_t component, uint32_t limb, const json_t *poly) {
  const uint32_t word = value->tensor->layout.dtype == HX_U32 ? 32 : 64;
  const size_t n = (size_t)1 << value->tensor->layout.log_n;
  const json_t *rows = json_object_get(poly, "rows");
  uint64_t *have = malloc(n * sizeof *have), *want = malloc(n * sizeof *want);
  if (have == NULL || want == NULL) abort();
  kat_read_row(value, component, limb, have);
  bool equal;
  if (rows != NULL) {
    equal = kat_row(json_string_value(json_array_get(rows, limb)), word, want, n) &&
            memcmp(have, want, n * sizeof *have) == 0;
  } else {
    uint8_t digest[32], expected[32];
    crypto_hash_sha256(digest, hx_tensor_row(value->tensor, 0, 0, component, limb), n * word / 8);
    equal = kat_hex_bytes(json_string_value(json_array_get(json_object_get(poly, "sha256"), limb)), expected, 32) &&
            memcmp(digest, expected, 32) == 0;
    equal = equal && kat_row(json_string_value(json_array_get(json_object_get(poly, "first"), limb)), word, want, 4) &&
            memcmp(have, want, 32) == 0;
  }
  free(have);
  free(want);
  return equal;
}

bool kat_poly_equal(const hx_value_t *value, uint32_t component, const json_t *poly) {
  const json_t *ids = json_object_get(poly, "ids");
  uint32_t have[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&value->type.primes, have);
  if (component >= value->type.components || json_array_size(ids) != count) return false;
  for (uint32_t l = 0; l < count; ++l) {
    if ((uint32_t)json_integer_value(json_array_get(ids, l)) != have[l] || !row_equal(value, component, l, poly))
      return false;
  }
  return true;
}

bool kat_polys_equal(const hx_value_t *value, const json_t *polys) {
  if (json_array_size(polys) != value->type.components) return false;
  for (uint32_t c = 0; c < value->type.components; ++c) {
    if (!kat_poly_equal(value, c, json_array_get(polys, c))) return false;
  }
  return true;
}
