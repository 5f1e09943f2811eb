// SPDX-License-Identifier: Apache-2.0
// Decryption for publication: noise flooding [LMSS22]. The error of a CKKS result tells of the secret; a Gaussian much
// wider than it hides it.
//
// What is published are the 2 * slots coefficients of the packing; all others become 0. With e their error, |e|_2 <= t,
// the results with and without e are Gaussians of one width sigma with centres t apart, so their Kullback-Leibler
// divergence is at most t^2 / (2 sigma^2). [LMSS22] needs 2^-(bits + 7) of it over all published results, so
//   sigma = 8 sqrt(queries) 2^(bits / 2) t,   t = 2 sqrt(2 slots) times the predicted RMS of e
// (2: what an average-case prediction may miss).
//
// The Gaussian is sum_j 2^j e_j over sigma = 3.2 samples e_j, sigma^2 = 3.2^2 (4^terms - 1) / 3: the convolution of
// [MW17] with steps of 2, where the smoothing condition holds with epsilon below 2^-57 (exp(-2 pi^2 3.2^2 / 5)). The
// terms are as few as sigma asks for, so it is passed by less than a factor 2. Constant time in secret, error and
// noise.
#include <math.h>
#include <string.h>

#include "core/ckks/encrypt.h"
#include "core/ckks/noise.h"
#include "core/ckks/ring_host.h"
#include "core/ckks/sampling.h"

#define TERMS_LOW 50  // sum of 2^j * 19, j < 50, is below 2^55
#define TERMS_MAX 100

typedef struct flood {
  uint32_t terms;
  double sigma;
} flood_t;

static double sigma_of(uint32_t terms) { return 3.2 * sqrt((exp2(2.0 * terms) - 1.0) / 3.0); }

static hx_status_t check_options(const hx_flood_options_t *options, hx_report_t *report) {
  if (options == NULL || !(options->bits >= 1 && options->bits <= 128))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "flooding takes a statistical parameter of 1 to 128 bits, not %g; 30 or more hides the error",
                          options == NULL ? 0.0 : options->bits);
  if (!(options->error_rms >= 0 && isfinite(options->error_rms)))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "flooding: an error of RMS %g", options->error_rms);
  return HX_STATUS_OK;
}

// log2 of Q_d / 2 over what the message and the noise need: 16 sigmas.
static double room_log2(const hx_value_t *value, double sigma) {
  const hx_ring *ring = hx_params_ring(value->params);
  double modulus = -1;
  for (uint32_t id = 0; id < ring->q_count; ++id)
    if (hx_primes_has(&value->type.primes, id)) modulus += log2((double)ring->primes[id]);
  const double message = hx_value_scale_log2(value) + log2(fmax(sqrt(hx_noise_peak(&value->noise)), 1.0));
  return modulus - fmax(message + 1, log2(16 * sigma));
}

static hx_status_t choose(const hx_value_t *ciphertext, const hx_flood_options_t *options, flood_t *out,
                          hx_report_t *report) {
  double rms = options->error_rms;
  if (rms == 0 && !ciphertext->noise.known)
    return hx_report_fail(report, HX_CODE_INPUT,
                          "the noise of this ciphertext is not predicted, so that nothing says how much hides it; give "
                          "a bound on the RMS of its error's coefficients");
  if (rms == 0) rms = sqrt(hx_noise_worst_variance(&ciphertext->noise));
  const double queries = options->queries == 0 ? 1.0 : (double)options->queries;
  const double distance = 2.0 * sqrt(2.0 * ciphertext->type.slots) * rms;
  const double wanted = 8.0 * sqrt(queries) * exp2(options->bits / 2.0) * fmax(distance, 1.0);
  *out = (flood_t){.terms = 1};
  while (out->terms < TERMS_MAX && sigma_of(out->terms) < wanted) out->terms += 1;
  out->sigma = sigma_of(out->terms);
  if (out->sigma < wanted || room_log2(ciphertext, out->sigma) < 0) {
    return hx_report_fail(
        report, HX_CODE_LIMIT,
        "flooding with %g bits needs noise of sigma 2^%.1f, which Q at depth %u has no room for beside "
        "the message; publish at a shallower depth, or with fewer bits",
        options->bits, log2(wanted), ciphertext->type.depth);
  }
  return HX_STATUS_OK;
}

// sum_j 2^j e_j, terms of them, at the places k * gap of words; zeros elsewhere.
static void sample(hx_random_t *random, uint32_t terms, size_t n, size_t gap, int8_t *draws, int64_t *words) {
  memset(words, 0, n * sizeof *words);
  const size_t count = n / gap;
  for (uint32_t j = 0; j < terms; ++j) {
    hx_sample_error(random, count, draws);
    for (size_t k = 0; k < count; ++k) words[k * gap] += (int64_t)draws[k] * ((int64_t)1 << j);
  }
}

typedef struct rows {
  int64_t *low, *high;
  uint64_t *message, *noise;
} rows_t;

// Coefficients of the packing plus the noise, all others 0, in every row of one item.
static void flood_item(const hx_ref_ring *ring, hx_value_t *plaintext, uint64_t item, bool has_high, size_t gap,
                       const rows_t *rows) {
  const size_t n = hx_ref_ring_degree(ring);
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&plaintext->type.primes, ids);
  for (uint32_t l = 0; l < limbs; ++l) {
    hx_ring_load(ring, plaintext->tensor, item, 0, 0, l, rows->message);
    hx_ref_ntt_inverse(ring, ids[l], rows->message);
    for (size_t k = 0; k < n; ++k) rows->message[k] &= (uint64_t)0 - (uint64_t)(k % gap == 0);
    if (has_high) {
      hx_ref_row_center_lift_signed(ring, ids[l], rows->high, rows->noise);
      hx_ref_row_mul_scalar(ring, ids[l], rows->noise, hx_ref_word_power(ring, ids[l], 2, TERMS_LOW), rows->noise);
      hx_ref_row_add(ring, ids[l], rows->message, rows->noise, rows->message);
    }
    hx_ref_row_center_lift_signed(ring, ids[l], rows->low, rows->noise);
    hx_ref_row_add(ring, ids[l], rows->message, rows->noise, rows->message);
    hx_ref_ntt_forward(ring, ids[l], rows->message);
    hx_ring_store(ring, rows->message, plaintext->tensor, item, 0, 0, l);
  }
}

static hx_status_t flood_all(hx_value_t *plaintext, const flood_t *flood, hx_random_t *random, hx_report_t *report) {
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(plaintext->params, &ring, report));
  const size_t n = hx_ref_ring_degree(ring), gap = n / 2 / plaintext->type.slots;
  uint64_t *block = hx_ring_rows_alloc(ring, 4);
  int8_t *draws = hx_alloc(n);
  if (block == NULL || draws == NULL) {
    hx_ring_rows_free(ring, block, 4);
    hx_free(draws);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to flood a result");
  }
  const rows_t rows = {
      .low = (int64_t *)block, .high = (int64_t *)(block + n), .message = block + 2 * n, .noise = block + 3 * n};
  const uint32_t low = flood->terms < TERMS_LOW ? flood->terms : TERMS_LOW;
  const uint64_t items = hx_layout_items(&plaintext->tensor->layout);
  for (uint64_t item = 0; item < items; ++item) {
    sample(random, low, n, gap, draws, rows.low);
    sample(random, flood->terms - low, n, gap, draws, rows.high);
    flood_item(ring, plaintext, item, flood->terms > low, gap, &rows);
  }
  hx_ring_rows_free(ring, block, 4);
  hx_wipe(draws, n);
  hx_free(draws);
  hx_tensor_touch(plaintext->tensor);
  return HX_STATUS_OK;
}

// A part of its own. The worst slots see the same.
static void note_flood(hx_value_t *plaintext, double sigma) {
  const double packed = 2.0 * plaintext->type.slots / ldexp(1.0, (int)hx_params_log_n(plaintext->params));
  if (plaintext->noise.known)
    hx_noise_add_part(
        &plaintext->noise,
        &(hx_noise_part_t){.id = plaintext->tensor->storage->id, .amplitude = sigma * sqrt(packed), .worst = sigma});
}

hx_status_t hx_decrypt_flooded(const hx_keys_t *keys, const hx_value_t *ciphertext, const hx_flood_options_t *options,
                               hx_value_t **out, double *out_sigma, hx_report_t *report) {
  if (keys == NULL || ciphertext == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_decrypt_flooded: an argument is NULL");
  HX_TRY(check_options(options, report));
  flood_t flood = {0};
  hx_value_t *plaintext = NULL;
  HX_TRY(hx_decrypt(keys, ciphertext, &plaintext, report));
  hx_random_t random;
  hx_status_t status = choose(ciphertext, options, &flood, report);
  if (status == HX_STATUS_OK) status = hx_random_init(&random, report);
  if (status == HX_STATUS_OK) {
    status = flood_all(plaintext, &flood, &random, report);
    hx_random_deinit(&random);
  }
  if (status != HX_STATUS_OK) {
    hx_value_release(plaintext);
    return status;
  }
  note_flood(plaintext, flood.sigma);
  if (out_sigma != NULL) *out_sigma = flood.sigma;
  *out = plaintext;
  return HX_STATUS_OK;
}
