// SPDX-License-Identifier: Apache-2.0
// encode.json: coefficients within the tolerance of the exactly rounded ones, decoded values within 2^-47 of the
// largest.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kat/kat.h"

// m - expected for every coefficient, from the residues of both: the difference is small, so one prime gives it.
static bool coefficients_close(const hx_value_t *plaintext, const json_t *expected, double tolerance,
                               double *out_worst) {
  const hx_ref_ring *ring = NULL;
  if (hx_params_reference(plaintext->params, &ring, NULL) != HX_STATUS_OK) return false;
  const size_t n = (size_t)1 << plaintext->tensor->layout.log_n;
  const uint64_t q = hx_params_prime(plaintext->params, 0);
  uint64_t *row = malloc(n * sizeof *row);
  if (row == NULL) abort();
  kat_read_row(plaintext, 0, 0, row);
  hx_ref_ntt_inverse(ring, 0, row);
  double worst = 0;
  for (size_t k = 0; k < n; ++k) {
    const uint64_t want = kat_decimal_mod(json_string_value(json_array_get(expected, k)), q);
    const uint64_t difference = row[k] >= want ? row[k] - want : row[k] + q - want;
    worst = fmax(worst, difference > q / 2 ? (double)(q - difference) : (double)difference);
  }
  free(row);
  *out_worst = worst;
  return worst <= tolerance;
}

// A plaintext with exactly the coefficients of the file.
static hx_value_t *plaintext_of(const hx_value_t *like, const json_t *coefficients) {
  const hx_ref_ring *ring = NULL;
  hx_value_t *value = NULL;
  if (hx_params_reference(like->params, &ring, NULL) != HX_STATUS_OK ||
      hx_value_create(like->params, &like->type, false, &value) != HX_STATUS_OK)
    return NULL;
  value->count = like->count;
  value->is_complex = true;
  const size_t n = (size_t)1 << like->tensor->layout.log_n;
  for (uint32_t l = 0; l < like->tensor->layout.limbs; ++l) {
    uint64_t *row = hx_tensor_row(value->tensor, 0, 0, 0, l);
    const uint64_t q = hx_params_prime(like->params, l);
    for (size_t k = 0; k < n; ++k) row[k] = kat_decimal_mod(json_string_value(json_array_get(coefficients, k)), q);
    hx_ref_ntt_forward(ring, l, row);
  }
  return value;
}

static bool decoded_close(const hx_value_t *plaintext, const json_t *item, double *out_worst, double *out_bound) {
  const size_t slots = plaintext->type.slots;
  const json_t *expected = json_object_get(item, "decoded");
  double *have = malloc(2 * slots * sizeof *have), largest = 0, worst = 0;
  if (have == NULL) abort();
  const bool good = hx_decode(plaintext, have, NULL) == HX_STATUS_OK;
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

static double largest_of(const double *values, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; ++i) largest = fmax(largest, hypot(values[2 * i], values[2 * i + 1]));
  return largest;
}

static void encode_case(kat_t *kat, size_t number, const json_t *item) {
  const json_t *prime_list = json_object_get(item, "primes"), *values = json_object_get(item, "values");
  uint64_t primes[3];
  for (size_t i = 0; i < 3; ++i) primes[i] = strtoull(json_string_value(json_array_get(prime_list, i)), NULL, 10);
  hx_params_t *params = kat_params_of(kat, kat_u32(item, "N"), 64, primes, 3, 1);
  if (params == NULL) return;
  const size_t count = json_array_size(values);
  double *z = malloc(2 * count * sizeof *z);
  if (z == NULL) abort();
  for (size_t i = 0; i < count; ++i) {
    z[2 * i] = json_number_value(json_array_get(json_array_get(values, i), 0));
    z[2 * i + 1] = json_number_value(json_array_get(json_array_get(values, i), 1));
  }
  const double scale = json_number_value(json_object_get(item, "scale_value"));
  // Within 1/2 + scale * max|z| * 2^-47 of the exact value, so within 1 + that of the rounded one; 2^-96 above scale
  // 2^52.
  const double tolerance = 1 + ldexp(scale * largest_of(z, count), scale > ldexp(1, 52) ? -96 : -47);
  hx_report_t *report = hx_report_create();
  hx_value_t *plaintext = NULL;
  const hx_encode_options_t options = {.slots = kat_u32(item, "slots"), .scale = kat_text(item, "scale")};
  double worst = 0, bound = 0;
  if (hx_encode(params, z, count, true, &options, &plaintext, report) != HX_STATUS_OK) {
    const hx_fault_t *fault = hx_report_get(report, 0);
    kat_check(kat, false, "case %zu encode (scale %s): %s", number, options.scale,
              fault == NULL ? "failed" : fault->text);
  } else {
    const bool close = coefficients_close(plaintext, json_object_get(item, "coefficients"), tolerance, &worst);
    kat_check(kat, close, "case %zu encode (N=%u, scale %s): off by %.3g, allowed %.3g", number, kat_u32(item, "N"),
              options.scale, worst, tolerance);
    hx_value_t *exact = plaintext_of(plaintext, json_object_get(item, "coefficients"));
    const bool decoded = exact != NULL && decoded_close(exact, item, &worst, &bound);
    kat_check(kat, decoded, "case %zu decode (N=%u, scale %s): off by %.3g, allowed %.3g", number, kat_u32(item, "N"),
              options.scale, worst, bound);
    hx_value_release(exact);
  }
  hx_value_release(plaintext);
  hx_report_release(report);
  free(z);
  hx_params_release(params);
}

void kat_encode(kat_t *kat, json_t *cases) {
  size_t i;
  json_t *item;
  json_array_foreach(cases, i, item) encode_case(kat, i, item);
}
