// SPDX-License-Identifier: Apache-2.0
// The noise that travels with values against the truth: every method of the engine, batches, programs, files, and
// flooding. N = 2^12, so that the RMS over all coefficients is within a few percent of what it stands for.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ckks/keys.h"
#include "tests/scheme/scheme.h"

#define FOLDER HELIOX_BUILD_DIR "/predictions"

static const int64_t steps[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

typedef struct bed {
  scheme_t s;
  scheme_number_t *z[2], *want;
  hx_value_t *a, *b;
} bed_t;

static void open_bed(bed_t *bed) {
  uint64_t seed = 7;
  scheme_open(&bed->s, case_set_make(12, 55, 40, 3, 56, 1, 4, "2^40"), steps, HX_COUNT_OF(steps));
  for (size_t i = 0; i < 2; ++i) bed->z[i] = scheme_message(&seed, bed->s.slots);
  bed->want = scheme_numbers(bed->s.slots);
  bed->a = scheme_encrypt(&bed->s, bed->z[0], bed->s.slots, 0, NULL);
  bed->b = scheme_encrypt(&bed->s, bed->z[1], bed->s.slots, 0, NULL);
}

static void close_bed(bed_t *bed) {
  hx_value_release(bed->a);
  hx_value_release(bed->b);
  for (size_t i = 0; i < 2; ++i) free(bed->z[i]);
  free(bed->want);
  scheme_close(&bed->s);
}

// Predicted RMS within [measured / 1.05, most * measured], worst slot below 12 sigmas. Releases the value.
static void check(bed_t *bed, const char *what, hx_value_t *value, double most) {
  assert_true(value->noise.known);
  const double measured = scheme_measured_rms(&bed->s, value, bed->want);
  const double predicted = sqrt(hx_noise_variance(&value->noise));
  if (!(predicted >= measured / 1.05 && predicted <= most * measured))
    fail_msg("%s: RMS predicted 2^%.2f, measured 2^%.2f", what, log2(predicted), log2(measured));
  scheme_check(&bed->s, what, value, bed->want, hx_noise_worst_variance(&value->noise));
  hx_value_release(value);
}

#define WANT(bed_, expression_) \
  for (size_t i = 0; i < (bed_)->s.slots; ++i) (bed_)->want[i] = (expression_)

static scheme_number_t at(const bed_t *bed, size_t message, size_t slot) {
  return bed->z[message][slot % bed->s.slots];
}

static void every_ckks_operation_has_a_rule(void **state) {
  (void)state;
  for (int id = 0; id < HX_OP_COUNT; ++id) {
    const char *name = hx_op_info((hx_op_id_t)id)->name;
    const bool has = hx_noise_has_rule((hx_op_id_t)id);
    // A copy on another device has the noise of what it is a copy of.
    const bool carries =
        (strncmp(name, "ckks.", 5) == 0 && strcmp(name, "ckks.decode") != 0) || strcmp(name, "memory.transfer") == 0;
    if (has != carries) fail_msg("%s: rule %d, carries noise %d", name, has, carries);
  }
}

static void groups_and_sums_are_predicted(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_engine_t *e = bed.s.engine;
  hx_value_t *weights[2], *prepared[2], *out[2] = {NULL, NULL};
  for (size_t k = 0; k < 2; ++k) {
    prepared[k] = NULL;
    weights[k] = scheme_encode(&bed.s, bed.z[k], bed.s.slots, 0, "2^35");
    SCHEME_OK(&bed.s, hx_engine_prepare_plain(e, weights[k], HX_PLAIN_WEIGHTED, &prepared[k], bed.s.report));
  }
  const hx_value_t *const values[] = {bed.a, bed.b}, *const plain[] = {weights[0], weights[1]};
  const hx_value_t *const wide[] = {prepared[0], prepared[1]};
  SCHEME_OK(&bed.s, hx_engine_weighted_sum(e, values, 2, plain, 1, out, bed.s.report));
  WANT(&bed, at(&bed, 0, i) * at(&bed, 0, i) + at(&bed, 1, i) * at(&bed, 1, i));
  check(&bed, "weighted_sum", out[0], 2);
  SCHEME_OK(&bed.s, hx_engine_rotate_weighted_sum(e, bed.a, (const int64_t[]){1, 0}, 2, wide, 1, out, bed.s.report));
  WANT(&bed, at(&bed, 0, i + 1) * at(&bed, 0, i) + at(&bed, 0, i) * at(&bed, 1, i));
  check(&bed, "rotate_weighted_sum", out[0], 2);
  SCHEME_OK(&bed.s, hx_engine_rotate_sum(e, values, (const int64_t[]){2, 1}, 2, out, bed.s.report));
  WANT(&bed, at(&bed, 0, i + 2) + at(&bed, 1, i + 1));
  check(&bed, "rotate_sum", out[0], 2);
  SCHEME_OK(&bed.s, hx_engine_rotate_many(e, bed.a, (const int64_t[]){4, 8}, 2, out, bed.s.report));
  WANT(&bed, at(&bed, 0, i + 4));
  check(&bed, "rotate_many", out[0], 2);
  WANT(&bed, at(&bed, 0, i + 8));
  check(&bed, "rotate_many", out[1], 2);
  for (size_t k = 0; k < 2; ++k) {
    hx_value_release(weights[k]);
    hx_value_release(prepared[k]);
  }
  close_bed(&bed);
}

// Rotations and sums: the parts are independent, and the prediction does not double at each step. After k steps the
// error lies in a subring of N / 2^k coefficients, so that its RMS itself scatters: after three by 3%; after all by as
// much as two normal samples.
static void inner_sums_are_predicted(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_value_t *sum = hx_value_retain(bed.a);
  for (size_t k = 0; k < HX_COUNT_OF(steps); ++k) {
    hx_value_t *rotated = NULL, *next = NULL;
    SCHEME_OK(&bed.s, hx_engine_rotate(bed.s.engine, sum, steps[k], &rotated, bed.s.report));
    SCHEME_OK(&bed.s, hx_engine_add(bed.s.engine, sum, rotated, &next, bed.s.report));
    hx_value_release(sum);
    hx_value_release(rotated);
    sum = next;
    WANT(&bed, 0);
    for (size_t i = 0; i < bed.s.slots; ++i)
      for (size_t t = 0; t < (size_t)2 << k; ++t) bed.want[i] += at(&bed, 0, i + t);
    const double measured = scheme_measured_rms(&bed.s, sum, bed.want);
    const double predicted = sqrt(hx_noise_variance(&sum->noise)),
                 scatter = sqrt((double)((size_t)2 << k) / bed.s.slots);
    if (!(predicted >= measured / (1.05 + 3 * scatter)) || (k < 4 && predicted > 1.5 * measured))
      fail_msg("inner sum, step %zu: RMS predicted 2^%.2f, measured 2^%.2f", k, log2(predicted), log2(measured));
    scheme_check(&bed.s, "inner sum", sum, bed.want, hx_noise_worst_variance(&sum->noise));
  }
  hx_value_release(sum);
  close_bed(&bed);
}

static void batches_are_predicted(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  const hx_value_t *const different[] = {bed.a, bed.b}, *const equal[] = {bed.a, bed.a, bed.a};
  hx_value_t *batch = NULL, *sum = NULL;
  SCHEME_OK(&bed.s, hx_value_stack(different, 2, &batch, bed.s.report));
  assert_false(batch->noise.items_alike);
  SCHEME_OK(&bed.s, hx_engine_sum(bed.s.engine, batch, 0, &sum, bed.s.report));
  WANT(&bed, at(&bed, 0, i) + at(&bed, 1, i));
  check(&bed, "sum of different items", sum, 1.2);
  hx_value_release(batch);
  SCHEME_OK(&bed.s, hx_value_stack(equal, 3, &batch, bed.s.report));
  assert_true(batch->noise.items_alike);
  SCHEME_OK(&bed.s, hx_engine_sum(bed.s.engine, batch, 0, &sum, bed.s.report));
  WANT(&bed, 3 * at(&bed, 0, i));
  check(&bed, "sum of equal items", sum, 1.2);
  hx_value_release(batch);
  close_bed(&bed);
}

// Roundings commute with -1 and i, and equal operands have equal noise: these are no independent errors.
static void related_values_are_predicted(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_engine_t *e = bed.s.engine;
  hx_value_t *minus = NULL, *x = NULL, *y = NULL, *sum = NULL;
  SCHEME_OK(&bed.s, hx_engine_neg(e, bed.a, &minus, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_rotate(e, bed.a, 1, &x, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_rotate(e, minus, 1, &y, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_sub(e, x, y, &sum, bed.s.report));
  WANT(&bed, 2 * at(&bed, 0, i + 1));
  check(&bed, "rotation minus that of the negative", sum, 1.1);
  SCHEME_OK(&bed.s, hx_engine_add(e, x, y, &sum, bed.s.report));
  assert_true(sum->noise.transparent);
  assert_true(hx_noise_variance(&sum->noise) == 0 && hx_noise_peak(&sum->noise) == 0);
  hx_value_release(sum);
  hx_value_release(minus);
  hx_value_release(x);
  hx_value_release(y);
  close_bed(&bed);
}

static void programs_are_predicted_like_the_engine(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  static const char body[] =
      "%v0 = \"ckks.mul\"(%a0, %a1) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>\n"
      "%v1 = \"ckks.relinearize\"(%v0) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>\n"
      "%r0 = \"ckks.rescale\"(%v1) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>\n";
  hx_text_t typed;
  hx_text_init(&typed);
  hx_text_puts(&typed, "%v0 = \"ckks.mul\"(%a0, %a1) : (");
  hx_value_t *const inputs[] = {bed.a, bed.b};
  scheme_print_types(&typed, inputs, 2);
  hx_text_printf(&typed, ") -> !ckks.ciphertext<>\n%s", strchr(body, '\n') + 1);
  hx_program_t *program = scheme_program(&bed.s, typed.data, inputs, 2, 1);
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  hx_value_t *output = NULL, *x = NULL, *y = NULL, *z = NULL;
  SCHEME_OK(&bed.s, hx_compilation_create(program, bed.s.params, &compilation, bed.s.report));
  SCHEME_OK(&bed.s, hx_compilation_bind_keys(compilation, bed.s.keys, bed.s.report));
  SCHEME_OK(&bed.s, hx_link(compilation, bed.s.backend, NULL, &executable, bed.s.report));
  SCHEME_OK(&bed.s, hx_run(executable, (const hx_value_t *const *)inputs, &output, bed.s.report));
  assert_false(output->noise.known);
  SCHEME_OK(&bed.s, hx_compilation_note_noise(compilation, (const hx_value_t *const *)inputs, &output, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_mul(bed.s.engine, bed.a, bed.b, &x, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_relinearize(bed.s.engine, x, &y, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_rescale(bed.s.engine, y, &z, bed.s.report));
  assert_true(fabs(hx_noise_variance(&output->noise) / hx_noise_variance(&z->noise) - 1) < 1e-12);
  WANT(&bed, at(&bed, 0, i) * at(&bed, 1, i));
  check(&bed, "program", output, 2);
  hx_value_release(x);
  hx_value_release(y);
  hx_value_release(z);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  hx_program_release(program);
  hx_text_deinit(&typed);
  close_bed(&bed);
}

// A secret message is told by its declared magnitude; a message that was encrypted is never told to a file.
static void files_carry_predictions_but_no_measured_message(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  (void)mkdir(FOLDER, 0755);
  const char *path = FOLDER "/value.hx";
  hx_value_t *plain = NULL, *secret = NULL, *back = NULL;
  const hx_encode_options_t options = {.secret = true, .magnitude = 4};
  SCHEME_OK(&bed.s, hx_encode(bed.s.params, (const double *)bed.z[0], bed.s.slots, true, &options, &plain, NULL));
  SCHEME_OK(&bed.s, hx_encrypt(bed.s.keys, plain, false, &secret, bed.s.report));
  const hx_named_value_t told = {.name = "value", .value = secret}, untold = {.name = "value", .value = bed.a};
  SCHEME_OK(&bed.s, hx_values_save(&told, 1, false, path, bed.s.report));
  SCHEME_OK(&bed.s, hx_value_load(path, NULL, bed.s.params, &back, bed.s.report));
  hx_value_noise_t before, after;
  hx_value_noise(secret, &before);
  hx_value_noise(back, &after);
  assert_true(before.known && after.known && before.magnitude == 4);
  assert_true(fabs(after.magnitude / 4 - 1) < 1e-6 && fabs(after.slot_sigma / before.slot_sigma - 1) < 1e-6);
  hx_value_release(back);
  SCHEME_OK(&bed.s, hx_values_save(&untold, 1, false, path, bed.s.report));
  SCHEME_OK(&bed.s, hx_value_load(path, NULL, bed.s.params, &back, bed.s.report));
  hx_value_noise(back, &after);
  assert_false(after.known);
  hx_value_release(back);
  hx_value_release(plain);
  hx_value_release(secret);
  unlink(path);
  close_bed(&bed);
}

// ------------------------------------------------------------------ debug mode

typedef struct heard {
  size_t calls, unknown;
  double worst_ratio, least_ratio, most_sigmas;
} heard_t;

static void hear(void *argument, const hx_engine_noise_t *noise) {
  heard_t *heard = argument;
  heard->calls += 1;
  heard->unknown += !noise->known;
  const double ratio = noise->predicted / noise->measured;
  heard->least_ratio = fmin(heard->least_ratio, ratio);
  heard->worst_ratio = fmax(heard->worst_ratio, ratio);
  heard->most_sigmas = fmax(heard->most_sigmas, noise->sigmas);
}

static void a_watched_engine_tells_the_truth(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  heard_t heard = {.least_ratio = INFINITY};
  hx_engine_t *e = bed.s.engine;
  SCHEME_OK(&bed.s, hx_engine_watch_noise(e, bed.s.keys, hear, &heard, bed.s.report));
  hx_value_t *v[12] = {NULL}, *plain = scheme_encode(&bed.s, bed.z[1], bed.s.slots, 0, NULL), *wide = NULL;
  SCHEME_OK(&bed.s, hx_engine_prepare_plain(e, plain, HX_PLAIN_WEIGHTED, &wide, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_mul(e, bed.a, bed.b, &v[0], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_relinearize(e, v[0], &v[1], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_rescale(e, v[1], &v[2], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_rotate(e, v[2], 4, &v[3], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_add(e, v[2], v[3], &v[4], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_conjugate(e, v[4], &v[5], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_mul_scalar(e, v[5], 0.5, 0.25, "2^30", &v[6], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_mul_plain(e, bed.a, plain, &v[7], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_add_scalar(e, v[7], 1, 0, &v[8], bed.s.report));
  const hx_value_t *const weights[] = {wide};
  SCHEME_OK(&bed.s, hx_engine_rotate_weighted_sum(e, bed.a, (const int64_t[]){2}, 1, weights, 1, &v[9], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_neg(e, v[9], &v[10], bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_mul_integer_inplace(e, &v[10], 3, bed.s.report));
  assert_int_equal(heard.calls, 12);  // prepare_plain makes no ciphertext
  assert_int_equal(heard.unknown, 0);
  // Of a fresh operand the truth is what it decrypts to: its own error is predicted and not measured.
  if (!(heard.least_ratio > 1 / 1.05 && heard.most_sigmas < 12))
    fail_msg("predicted over measured from %.3f, %.1f sigmas", heard.least_ratio, heard.most_sigmas);
  SCHEME_OK(&bed.s, hx_engine_watch_noise(e, NULL, NULL, NULL, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_add(e, v[2], v[3], &v[11], bed.s.report));
  assert_int_equal(heard.calls, 12);
  assert_null(v[11]->truth);
  for (size_t i = 0; i < 12; ++i) hx_value_release(v[i]);
  hx_value_release(plain);
  hx_value_release(wide);
  close_bed(&bed);
}

static void watching_takes_the_secret(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_keys_t *server = NULL;
  const char *directory = FOLDER "/server";
  (void)mkdir(FOLDER, 0755);
  SCHEME_OK(&bed.s, hx_keys_save(bed.s.keys, directory, HX_KEYS_EVALUATION, true, bed.s.report));
  SCHEME_OK(&bed.s, hx_keys_load(directory, HX_KEYS_EVALUATION, &server, bed.s.report));
  assert_int_not_equal(hx_engine_watch_noise(bed.s.engine, server, hear, NULL, bed.s.report), HX_STATUS_OK);
  assert_fault(bed.s.report, HX_CODE_MISSING_KEY, WORDS("secret key"));
  hx_keys_release(server);
  close_bed(&bed);
}

// ------------------------------------------------------------------ flooding

static void flooding_has_the_width_that_it_states(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  for (uint32_t bits = 10; bits <= 40; bits += 30) {
    hx_value_t *plain = NULL, *again = NULL, *clear = NULL;
    double sigma = 0;
    const hx_flood_options_t options = {.bits = bits};
    SCHEME_OK(&bed.s, hx_decrypt_flooded(bed.s.keys, bed.a, &options, &plain, &sigma, bed.s.report));
    SCHEME_OK(&bed.s, hx_decrypt_flooded(bed.s.keys, bed.a, &options, &again, NULL, bed.s.report));
    assert_false(hx_value_equal(plain, again));  // drawn anew
    const double t = 2 * sqrt(2.0 * bed.s.slots) * sqrt(hx_noise_worst_variance(&bed.a->noise));
    const double wanted = 8 * exp2(bits / 2.0) * t;
    assert_true(sigma >= wanted && sigma < 2.01 * wanted);
    SCHEME_OK(&bed.s, hx_decrypt(bed.s.keys, bed.a, &clear, bed.s.report));
    hx_coefficients_t x, y;
    SCHEME_OK(&bed.s, hx_plaintext_coefficients(plain, &x, bed.s.report));
    SCHEME_OK(&bed.s, hx_plaintext_coefficients(clear, &y, bed.s.report));
    double square = 0, fourth = 0;
    for (size_t k = 0; k < x.count; ++k) {
      const double u = (x.negative[k] != 0 ? -1.0 : 1.0) * (double)x.magnitude[k];
      const double v = (y.negative[k] != 0 ? -1.0 : 1.0) * (double)y.magnitude[k];
      const double r = (u - v) / sigma;
      square += r * r / x.count;
      fourth += r * r * r * r / x.count;
    }
    // Of 4096 normal samples: the mean square has sigma 2.2%, the fourth moment 15%.
    assert_true(fabs(square - 1) < 0.12 && fabs(fourth - 3) < 0.8);
    hx_coefficients_deinit(&x);
    hx_coefficients_deinit(&y);
    hx_value_release(plain);
    hx_value_release(again);
    hx_value_release(clear);
  }
  close_bed(&bed);
}

static void flooding_clears_what_lies_outside_the_packing(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_value_t *sparse = scheme_encrypt(&bed.s, bed.z[0], 4, 0, NULL), *plain = NULL;
  const hx_flood_options_t options = {.bits = 20, .queries = 16};
  SCHEME_OK(&bed.s, hx_decrypt_flooded(bed.s.keys, sparse, &options, &plain, NULL, bed.s.report));
  hx_coefficients_t x;
  SCHEME_OK(&bed.s, hx_plaintext_coefficients(plain, &x, bed.s.report));
  for (size_t k = 0; k < x.count; ++k)
    if (k % (x.count / 8) != 0) assert_true(x.magnitude[k] == 0);
  hx_coefficients_deinit(&x);
  double values[8];
  SCHEME_OK(&bed.s, hx_decode(plain, values, bed.s.report));
  hx_value_noise_t noise;
  hx_value_noise(plain, &noise);
  for (size_t i = 0; i < 4; ++i)
    assert_true(cabs(values[2 * i] + values[2 * i + 1] * I - bed.z[0][i]) < 12 * noise.slot_sigma);
  hx_value_release(plain);
  hx_value_release(sparse);
  close_bed(&bed);
}

static void flooding_is_refused_without_room_or_prediction(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_value_t *deep = NULL, *plain = NULL, *unknown = NULL;
  SCHEME_OK(&bed.s, hx_engine_level_drop(bed.s.engine, bed.a, 3, &deep, bed.s.report));
  const hx_flood_options_t wide = {.bits = 100}, none = {.bits = 0}, usual = {.bits = 30};
  assert_int_equal(hx_decrypt_flooded(bed.s.keys, deep, &wide, &plain, NULL, bed.s.report), HX_STATUS_REFUSED);
  assert_fault(bed.s.report, HX_CODE_LIMIT, WORDS("100 bits", "depth 3"));
  hx_report_clear(bed.s.report);
  assert_int_equal(hx_decrypt_flooded(bed.s.keys, deep, &none, &plain, NULL, bed.s.report), HX_STATUS_INVALID);
  hx_report_clear(bed.s.report);
  SCHEME_OK(&bed.s, hx_engine_level_drop(bed.s.engine, bed.a, 0, &unknown, bed.s.report));
  unknown->noise = (hx_noise_t){0};
  assert_int_equal(hx_decrypt_flooded(bed.s.keys, unknown, &usual, &plain, NULL, bed.s.report), HX_STATUS_INVALID);
  assert_fault(bed.s.report, HX_CODE_INPUT, WORDS("not predicted"));
  hx_report_clear(bed.s.report);
  const hx_flood_options_t given = {.bits = 30, .error_rms = 20};
  SCHEME_OK(&bed.s, hx_decrypt_flooded(bed.s.keys, unknown, &given, &plain, NULL, bed.s.report));
  hx_value_release(plain);
  hx_value_release(unknown);
  hx_value_release(deep);
  close_bed(&bed);
}

int main(void) {
  hx_threads_set(1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_ckks_operation_has_a_rule),
      cmocka_unit_test(groups_and_sums_are_predicted),
      cmocka_unit_test(inner_sums_are_predicted),
      cmocka_unit_test(batches_are_predicted),
      cmocka_unit_test(related_values_are_predicted),
      cmocka_unit_test(programs_are_predicted_like_the_engine),
      cmocka_unit_test(files_carry_predictions_but_no_measured_message),
      cmocka_unit_test(a_watched_engine_tells_the_truth),
      cmocka_unit_test(watching_takes_the_secret),
      cmocka_unit_test(flooding_has_the_width_that_it_states),
      cmocka_unit_test(flooding_clears_what_lies_outside_the_packing),
      cmocka_unit_test(flooding_is_refused_without_room_or_prediction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
