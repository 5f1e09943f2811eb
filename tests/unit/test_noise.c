// SPDX-License-Identifier: Apache-2.0
// Predicted noise against measured noise, at every depth of two presets. All randomness is seeded. Operations run on
// reference/; what they leave is compared with exact arithmetic on the plaintext polynomials (RMS over all
// coefficients) and with arithmetic on the values (worst slot).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ckks/encode.h"
#include "core/ckks/keys.h"
#include "core/ckks/noise.h"
#include "core/ckks/ring_host.h"
#include "core/ckks/sampling.h"

static const char *const presets[] = {"n12-d1-s30", "n13-d3-s40"};

typedef struct bench {
  hx_params_t *params;
  const hx_ref_ring *ring;
  uint32_t n, depth;
  hx_random_t random;
  int8_t *secret, *draws;  // draws: [8][n]
  hx_tensor_t *public_key;
  hx_switch_key_t relin, rotation;  // rotation by one slot
  double *values[2];                // [n] pairs
  hx_value_t *plaintexts[2], *ciphertexts[2];
} bench_t;

static double next_unit(bench_t *b) { return (double)(int64_t)(hx_random_word(&b->random) >> 11) * 0x1p-52 - 1.0; }

static void make_keys(bench_t *b) {
  const uint8_t seeds[3][32] = {{1}, {2}, {3}};
  hx_sample_ternary(&b->random, b->n, b->secret);
  hx_sample_error(&b->random, b->n, b->draws);
  assert_int_equal(hx_public_key_make(b->params, b->secret, seeds[0], b->draws, &b->public_key), HX_STATUS_OK);
  hx_sample_error(&b->random, 8 * (size_t)b->n, b->draws);
  assert_int_equal(hx_relin_key_make(b->params, b->secret, seeds[1], b->draws, &b->relin.tensor), HX_STATUS_OK);
  hx_sample_error(&b->random, 8 * (size_t)b->n, b->draws);
  assert_int_equal(hx_galois_key_make(b->params, b->secret, 5, seeds[2], b->draws, &b->rotation.tensor), HX_STATUS_OK);
}

static hx_value_t *encrypt(bench_t *b, const hx_value_t *plaintext, bool symmetric) {
  const size_t n = b->n;
  hx_value_t *value = NULL;
  hx_sample_ternary(&b->random, n, b->draws);
  hx_sample_error(&b->random, 2 * n, b->draws + n);
  uint8_t seed[32];
  hx_random_bytes(&b->random, seed, sizeof seed);
  const hx_status_t status =
      symmetric ? hx_encrypt_secret_with(b->params, b->secret, plaintext, seed, 0, b->draws + n, &value)
                : hx_encrypt_public_with(b->params, b->public_key, plaintext, b->draws, b->draws + n, b->draws + 2 * n,
                                         &value);
  assert_int_equal(status, HX_STATUS_OK);
  return value;
}

static bench_t *bench_create(const char *preset) {
  bench_t *b = hx_zalloc(1, sizeof *b);
  assert_non_null(b);
  assert_int_equal(hx_params_preset(preset, &b->params, NULL), HX_STATUS_OK);
  assert_int_equal(hx_params_reference(b->params, &b->ring, NULL), HX_STATUS_OK);
  b->n = hx_ref_ring_degree(b->ring);
  const uint8_t seed[32] = {42};
  hx_random_init_seeded(&b->random, seed);
  b->secret = hx_alloc(b->n);
  b->draws = hx_alloc(8 * (size_t)b->n);
  for (size_t i = 0; i < 2; ++i) b->values[i] = hx_alloc(b->n * sizeof(double));
  assert_true(hx_params_digits(b->params) <= 8);
  make_keys(b);
  return b;
}

// Two fresh messages in the unit square at a depth.
static void bench_start(bench_t *b, uint32_t depth) {
  b->depth = depth;
  for (size_t i = 0; i < 2; ++i) {
    for (size_t k = 0; k < b->n; ++k) b->values[i][k] = next_unit(b);
    const hx_encode_options_t options = {.depth = depth};
    assert_int_equal(hx_encode(b->params, b->values[i], b->n / 2, true, &options, &b->plaintexts[i], NULL),
                     HX_STATUS_OK);
    b->ciphertexts[i] = encrypt(b, b->plaintexts[i], false);
  }
}

static void bench_stop(bench_t *b) {
  for (size_t i = 0; i < 2; ++i) {
    hx_value_release(b->plaintexts[i]);
    hx_value_release(b->ciphertexts[i]);
  }
}

static void bench_release(bench_t *b) {
  hx_tensor_release(b->public_key);
  hx_tensor_release(b->relin.tensor);
  hx_tensor_release(b->rotation.tensor);
  hx_params_release(b->params);
  hx_free(b->secret);
  hx_free(b->draws);
  for (size_t i = 0; i < 2; ++i) hx_free(b->values[i]);
  hx_free(b);
}

// Descriptor of a tensor of NTT rows. ids and rows have room for all primes and live as long as the descriptor.
typedef struct described {
  hx_tensor_desc desc;
  uint32_t ids[HX_PRIMES_MAX], rows[HX_PRIMES_MAX];
} described_t;

static void describe(const hx_tensor_t *tensor, const hx_primes_t *primes, uint32_t basis, described_t *out) {
  const hx_layout_t *layout = &tensor->layout;
  hx_primes_list(primes, out->ids);
  for (uint32_t l = 0; l < layout->limbs; ++l) out->rows[l] = layout->has_rows ? layout->rows[l] : l;
  out->desc = (hx_tensor_desc){.struct_size = HX_END_OF(hx_tensor_desc, rows),
                               .dtype = layout->dtype,
                               .log_n = layout->log_n,
                               .digits = layout->digits,
                               .components = layout->components,
                               .limbs = layout->limbs,
                               .domain = HX_NTT,
                               .basis = basis,
                               .repr = HX_STANDARD,
                               .digit_stride = layout->digit_stride,
                               .component_stride = layout->component_stride,
                               .limb_stride = layout->limb_stride,
                               .prime_ids = out->ids,
                               .rows = layout->has_rows ? out->rows : NULL};
}

// Runs an operation of the catalogue on reference/. `key` may be NULL, `step` is given to rotations.
static hx_value_t *apply(bench_t *b, const char *name, const hx_value_t *x, const hx_value_t *y,
                         const hx_switch_key_t *key, uint32_t components, uint32_t depth, const hx_scale_t *scale) {
  const hx_ring *shape = hx_params_ring(b->params);
  hx_type_t type;
  hx_plaintext_type(b->params, depth, b->n / 2, scale, &type);
  type.kind = HX_TYPE_CIPHERTEXT;
  type.components = components;
  hx_value_t *out = NULL;
  assert_int_equal(hx_value_create(b->params, &type, false, &out), HX_STATUS_OK);
  described_t values[4];
  hx_tensor_desc descs[4];
  void *data[4] = {hx_tensor_row(x->tensor, 0, 0, 0, 0)};
  uint32_t count = 1;
  describe(x->tensor, &x->type.primes, HX_BASIS_Q, &values[0]);
  if (y != NULL) {
    describe(y->tensor, &y->type.primes, HX_BASIS_Q, &values[count]);
    data[count++] = hx_tensor_row(y->tensor, 0, 0, 0, 0);
  }
  hx_tensor_t *view = NULL;
  if (key != NULL) {
    assert_int_equal(hx_switch_key_at(key, shape, depth, &view), HX_STATUS_OK);
    hx_primes_t primes = hx_ring_active(shape, depth);
    for (uint32_t p = 0; p < shape->p_count; ++p) hx_primes_add(&primes, shape->q_count + p);
    describe(view, &primes, HX_BASIS_QP, &values[count]);
    data[count++] = hx_tensor_row(view, 0, 0, 0, 0);
  }
  describe(out->tensor, &out->type.primes, HX_BASIS_Q, &values[count]);
  data[count] = hx_tensor_row(out->tensor, 0, 0, 0, 0);
  for (uint32_t i = 0; i <= count; ++i) descs[i] = values[i].desc;
  const int64_t step = 1;
  const hx_attr attr = {
      .struct_size = HX_END_OF(hx_attr, data), .kind = HX_ATTR_I64, .count = 1, .name = "step", .data = &step};
  const bool rotates = strcmp(name, "ckks.rotate") == 0;
  const uint32_t operands[3] = {0, 1, 2}, results[1] = {count};
  const hx_op op = {.struct_size = HX_END_OF(hx_op, resources),
                    .signature = 1,
                    .attr_count = rotates ? 1 : 0,
                    .operand_count = count,
                    .result_count = 1,
                    .name = name,
                    .attrs = &attr,
                    .operands = operands,
                    .results = results};
  hx_error error = {.struct_size = sizeof error};
  if (hx_reference_execute(b->ring, &op, descs, data, &error) != HX_OK) fail_msg("%s: %s", name, error.message);
  hx_tensor_release(view);
  return out;
}

static hx_value_t *decrypt(bench_t *b, const hx_value_t *ciphertext) {
  hx_value_t *plaintext = NULL;
  assert_int_equal(hx_decrypt_with(b->params, b->secret, ciphertext, &plaintext), HX_STATUS_OK);
  return plaintext;
}

// RMS over all coefficients of factor * x - y, both plaintexts with the primes of x.
static double rms_difference(bench_t *b, const hx_value_t *x, uint64_t factor, const hx_value_t *y) {
  hx_value_t *rest = NULL;
  assert_int_equal(hx_value_create(b->params, &x->type, true, &rest), HX_STATUS_OK);
  uint64_t *rows = hx_ring_rows_alloc(b->ring, 2);
  uint64_t *u = rows, *v = rows + b->n;
  for (uint32_t l = 0; l < x->tensor->layout.limbs; ++l) {
    hx_ring_load(b->ring, x->tensor, 0, 0, 0, l, u);
    hx_ref_row_mul_scalar(b->ring, l, u, hx_ref_word_reduce(b->ring, l, factor), u);
    hx_ring_load(b->ring, y->tensor, 0, 0, 0, l, v);
    hx_ref_row_sub(b->ring, l, u, v, u);
    hx_ring_store(b->ring, u, rest->tensor, 0, 0, 0, l);
  }
  hx_ring_rows_free(b->ring, rows, 2);
  hx_coefficients_t m;
  assert_int_equal(hx_plaintext_coefficients(rest, &m, NULL), HX_STATUS_OK);
  double sum = 0.0;
  for (uint32_t k = 0; k < m.count; ++k) {
    double size = 0.0;
    for (uint32_t w = m.words; w-- > 0;) size = size * 0x1p64 + (double)m.magnitude[(size_t)w * m.count + k];
    sum += size * size;
  }
  hx_coefficients_deinit(&m);
  hx_value_release(rest);
  return sqrt(sum / b->n);
}

// Predicted within [measured / 1.05, 16 * measured].
static void check_rms(const bench_t *b, const char *what, double measured, double variance) {
  const double predicted = sqrt(variance);
  if (!(predicted >= measured / 1.05 && predicted <= 16.0 * measured))
    fail_msg("%s, N = %u, depth %u: RMS predicted %g, measured %g", what, b->n, b->depth, predicted, measured);
}

// Worst slot of a plaintext below 12 sigmas. `expected` gives slot j's value.
static void check_slots(const bench_t *b, const char *what, const hx_value_t *plaintext, const double *expected,
                        double variance) {
  double hi, lo, worst = 0.0, sum = 0.0, *found = hx_alloc(b->n * sizeof *found);
  assert_int_equal(hx_scale_value(&plaintext->type.scale, hx_params_ring(b->params), &hi, &lo, NULL), HX_STATUS_OK);
  assert_int_equal(hx_decode(plaintext, found, NULL), HX_STATUS_OK);
  for (size_t j = 0; j < b->n / 2; ++j) {
    const double error = hypot(found[2 * j] - expected[2 * j], found[2 * j + 1] - expected[2 * j + 1]);
    worst = fmax(worst, error);
    sum += error * error;
  }
  hx_free(found);
  const double sigma = hx_noise_slot_sigma(b->n / 2, hi, variance), rms = sqrt(sum / (b->n / 2.0));
  if (!(worst < 12.0 * sigma && rms < 1.25 * sigma))
    fail_msg("%s, N = %u, depth %u: worst slot error %g, slot RMS %g, predicted sigma %g", what, b->n, b->depth, worst,
             rms, sigma);
}

static void fresh_noise_is_predicted_at_every_depth(void **state) {
  (void)state;
  for (size_t i = 0; i < HX_COUNT_OF(presets); ++i) {
    bench_t *b = bench_create(presets[i]);
    for (uint32_t depth = 0; depth <= hx_params_max_depth(b->params); ++depth) {
      bench_start(b, depth);
      for (uint32_t run = 0; run < 8; ++run) {
        const bool symmetric = run % 2 == 1;
        const double variance = symmetric ? hx_noise_fresh_secret(b->params) : hx_noise_fresh_public(b->params);
        hx_value_t *ciphertext = encrypt(b, b->plaintexts[0], symmetric), *found = decrypt(b, ciphertext);
        check_rms(b, symmetric ? "symmetric" : "public", rms_difference(b, found, 1, b->plaintexts[0]), variance);
        check_slots(b, symmetric ? "symmetric" : "public", found, b->values[0],
                    hx_noise_add(variance, hx_noise_encode()));
        hx_value_release(found);
        hx_value_release(ciphertext);
      }
      bench_stop(b);
    }
    bench_release(b);
  }
}

static void rotation_noise_is_predicted_at_every_depth(void **state) {
  (void)state;
  for (size_t i = 0; i < HX_COUNT_OF(presets); ++i) {
    bench_t *b = bench_create(presets[i]);
    double *expected = hx_alloc(b->n * sizeof *expected);
    for (uint32_t depth = 0; depth <= hx_params_max_depth(b->params); ++depth) {
      bench_start(b, depth);
      const hx_scale_t *scale = &b->plaintexts[0]->type.scale;
      hx_value_t *rotated = apply(b, "ckks.rotate", b->ciphertexts[0], NULL, &b->rotation, 2, depth, scale);
      hx_value_t *found = decrypt(b, rotated), *before = decrypt(b, b->ciphertexts[0]);
      // What the key switch added: against sigma_5 of what was decrypted before.
      uint64_t *rows = hx_ring_rows_alloc(b->ring, 2);
      for (uint32_t l = 0; l < before->tensor->layout.limbs; ++l) {
        hx_ring_load(b->ring, before->tensor, 0, 0, 0, l, rows);
        hx_ref_row_automorphism_ntt(b->ring, 5, rows, rows + b->n);
        hx_ring_store(b->ring, rows + b->n, before->tensor, 0, 0, 0, l);
      }
      hx_ring_rows_free(b->ring, rows, 2);
      const double added = hx_noise_key_switch(b->params, depth);
      check_rms(b, "key switch", rms_difference(b, found, 1, before), added);
      for (size_t k = 0; k < b->n; ++k) expected[k] = b->values[0][(k + 2) % b->n];
      check_slots(b, "rotation", found, expected,
                  hx_noise_add(hx_noise_add(hx_noise_fresh_public(b->params), added), hx_noise_encode()));
      hx_value_release(before);
      hx_value_release(found);
      hx_value_release(rotated);
      bench_stop(b);
    }
    hx_free(expected);
    bench_release(b);
  }
}

static hx_value_t *product_of_plaintexts(bench_t *b) {
  hx_value_t *product = NULL;
  assert_int_equal(hx_value_create(b->params, &b->plaintexts[0]->type, true, &product), HX_STATUS_OK);
  uint64_t *rows = hx_ring_rows_alloc(b->ring, 2);
  for (uint32_t l = 0; l < product->tensor->layout.limbs; ++l) {
    hx_ring_load(b->ring, b->plaintexts[0]->tensor, 0, 0, 0, l, rows);
    hx_ring_load(b->ring, b->plaintexts[1]->tensor, 0, 0, 0, l, rows + b->n);
    hx_ref_row_mul(b->ring, l, rows, rows + b->n, rows);
    hx_ring_store(b->ring, rows, product->tensor, 0, 0, 0, l);
  }
  hx_ring_rows_free(b->ring, rows, 2);
  return product;
}

// Mean of |z|^2 over the slots.
static double power_of(const bench_t *b, size_t message) {
  double sum = 0.0;
  for (size_t k = 0; k < b->n; ++k) sum += b->values[message][k] * b->values[message][k];
  return sum / (b->n / 2.0);
}

static void check_product(bench_t *b) {
  double hi, lo;
  const hx_scale_t *scale = &b->plaintexts[0]->type.scale;
  assert_int_equal(hx_scale_value(scale, hx_params_ring(b->params), &hi, &lo, NULL), HX_STATUS_OK);
  hx_scale_t square, after;
  assert_int_equal(hx_scale_multiply(scale, scale, &square, NULL), HX_STATUS_OK);
  const double fresh = hx_noise_fresh_public(b->params);
  const hx_noise_factor_t one = {fresh, hi, power_of(b, 0)}, other = {fresh, hi, power_of(b, 1)};
  double variance = hx_noise_multiply(b->params, one, other);
  hx_value_t *exact = product_of_plaintexts(b);

  hx_value_t *three = apply(b, "ckks.mul", b->ciphertexts[0], b->ciphertexts[1], NULL, 3, b->depth, &square);
  hx_value_t *two = apply(b, "ckks.relinearize", three, NULL, &b->relin, 2, b->depth, &square);
  hx_value_t *found_three = decrypt(b, three), *found_two = decrypt(b, two);
  check_rms(b, "product", rms_difference(b, found_three, 1, exact), variance);
  check_rms(b, "relinearization", rms_difference(b, found_two, 1, found_three),
            hx_noise_key_switch(b->params, b->depth));
  variance = hx_noise_add(variance, hx_noise_key_switch(b->params, b->depth));

  // Rescaled by the one prime of the group: q times the result is compared with the exact product.
  const uint32_t last = hx_value_limbs(two) - 1;
  hx_scale_copy(&after, &square);
  assert_int_equal(hx_scale_multiply_prime(&after, last, -1, NULL), HX_STATUS_OK);
  hx_value_t *down = apply(b, "ckks.rescale", two, NULL, NULL, 2, b->depth + 1, &after), *found = decrypt(b, down);
  const uint64_t q = hx_params_prime(b->params, last);
  variance = hx_noise_rescale(b->params, b->depth, 2, variance);
  check_rms(b, "rescale", rms_difference(b, found, q, exact) / (double)q, variance);

  double *expected = hx_alloc(b->n * sizeof *expected);
  for (size_t k = 0; k < b->n; k += 2) {
    const double *x = b->values[0] + k, *y = b->values[1] + k;
    expected[k] = x[0] * y[0] - x[1] * y[1];
    expected[k + 1] = x[0] * y[1] + x[1] * y[0];
  }
  // Against the values the roundings of both encodings count too.
  const double rounded = hx_noise_encode();
  const hx_noise_factor_t coarse = {rounded, hi, power_of(b, 0)}, other_coarse = {rounded, hi, power_of(b, 1)};
  const double encoding = hx_noise_multiply(b->params, coarse, other_coarse) / (double)q / (double)q;
  check_slots(b, "product", found, expected, hx_noise_add(variance, encoding));
  hx_free(expected);
  hx_value_t *all[] = {exact, three, two, found_three, found_two, down, found};
  for (size_t i = 0; i < HX_COUNT_OF(all); ++i) hx_value_release(all[i]);
}

static void product_noise_is_predicted_at_every_depth(void **state) {
  (void)state;
  for (size_t i = 0; i < HX_COUNT_OF(presets); ++i) {
    bench_t *b = bench_create(presets[i]);
    for (uint32_t depth = 0; depth < hx_params_max_depth(b->params); ++depth) {
      bench_start(b, depth);
      check_product(b);
      bench_stop(b);
    }
    bench_release(b);
  }
}

static void predictions_without_special_primes(void **state) {
  (void)state;
  static const char json[] =
      "{\"log_n\":4,\"word\":64,\"base\":[\"1152921504606845473\"],\"groups\":[],\"special\":[],\"digits\":1,"
      "\"secret\":"
      "\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}";
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_parse(hx_str(json), "test", HX_PARAMS_INSECURE, &params, NULL), HX_STATUS_OK);
  assert_true(isnan(hx_noise_key_switch(params, 0)));
  assert_true(fabs(hx_noise_fresh_public(params) - (1.0 + 2 * 16 * 2.0 / 3.0) * 10.24) < 1e-9);
  hx_params_release(params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fresh_noise_is_predicted_at_every_depth),
      cmocka_unit_test(rotation_noise_is_predicted_at_every_depth),
      cmocka_unit_test(product_noise_is_predicted_at_every_depth),
      cmocka_unit_test(predictions_without_special_primes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
