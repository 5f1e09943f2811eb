// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding by the codec of a device whose memory the host cannot address, against the library's own: what
// is promised, equal bits where that is promised, what is refused.
#include "core/ckks/encode.h"
#include "heliox/capture.h"
#include "heliox/value.h"
#include "tests/unit/link_fixture.h"

#define FAR HELIOX_BUILD_DIR "/tests/fixtures/far"

typedef struct scene {
  hx_params_t *params;
  hx_backend_t *backend;
  hx_engine_t *engine;
  hx_report_t *report;
} scene_t;

#define MUST(call_) must(call_, s.report)

// mode: none, exact, or NULL for what the fixture promises by itself: within one unit.
static scene_t open_far(const char *mode) {
  scene_t s = {.params = link_params(LINK_RING), .report = hx_report_create()};
  const hx_plugins_options_t options = {.path = FAR, .only_path = true};
  hx_plugins_t *plugins = NULL;
  if (mode != NULL) setenv("FAR_CODEC", mode, 1);
  MUST(hx_plugins_discover(&options, &plugins, s.report));
  MUST(hx_backend_create(plugins, "far", &s.backend, s.report));
  unsetenv("FAR_CODEC");
  hx_plugins_release(plugins);
  MUST(hx_engine_create(s.params, NULL, s.backend, &s.engine, s.report));
  return s;
}

static void close_far(scene_t *s) {
  hx_engine_release(s->engine);
  hx_backend_release(s->backend);
  hx_params_release(s->params);
  hx_report_release(s->report);
}

static double next_number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return ldexp((double)(int64_t)*seed, -63);
}

static void fill(double *numbers, size_t count, uint64_t seed) {
  for (size_t i = 0; i < count; ++i) numbers[i] = next_number(&seed);
}

static void codec_promise_is_told(void **state) {
  (void)state;
  static const struct {
    const char *mode;
    hx_codec_promise_t promise;
    double bound;
  } rows[] = {{NULL, HX_CODEC_WITHIN, 1}, {"exact", HX_CODEC_EXACT, 0}, {"none", HX_CODEC_NONE, 0}};
  hx_codec_t codec;
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    scene_t s = open_far(rows[i].mode);
    hx_engine_codec(s.engine, &codec);
    assert_int_equal(codec.promise, rows[i].promise);
    assert_true(codec.bound == rows[i].bound);
    close_far(&s);
  }
  hx_engine_codec(NULL, &codec);
  assert_int_equal(codec.promise, HX_CODEC_NONE);
}

// One encoding both ways.
static void compare(const scene_t *s, const double *values, size_t items, size_t count, bool complex_values,
                    const hx_encode_options_t *options) {
  hx_value_t *far = NULL, *back = NULL, *own = NULL;
  must(hx_engine_encode_device(s->engine, values, items, count, complex_values, options, HX_CODEC_EXACT, &far,
                               s->report),
       s->report);
  assert_null(far->tensor->storage->address);
  assert_ptr_equal(far->tensor->storage->device, s->backend->devices[0]);
  must(hx_value_to_host(far, &back, s->report), s->report);
  must(items == 0 ? hx_encode(s->params, values, count, complex_values, options, &own, s->report)
                  : hx_encode_batch(s->params, values, items, count, complex_values, options, &own, s->report),
       s->report);
  assert_true(hx_value_equal(back, own));
  assert_int_equal(hx_value_count(far), hx_value_count(own));
  assert_int_equal(hx_value_is_complex(far), hx_value_is_complex(own));
  assert_int_equal(hx_value_is_secret(far), hx_value_is_secret(own));
  hx_value_noise_t far_noise, own_noise;
  hx_value_noise(far, &far_noise);
  hx_value_noise(own, &own_noise);
  assert_true(far_noise.known && own_noise.known);
  assert_true(fabs(far_noise.rms - own_noise.rms) < 1e-9 && fabs(far_noise.magnitude - own_noise.magnitude) < 1e-9);
  hx_value_release(far);
  hx_value_release(back);
  hx_value_release(own);
}

static void exact_codec_gives_the_library_s_bits(void **state) {
  (void)state;
  scene_t s = open_far("exact");
  double numbers[2 * SLOTS];
  fill(numbers, 2 * SLOTS, 1);
  static const hx_encode_options_t deep = {.depth = 2, .scale = "2^80*q4^-1"}, sparse = {.slots = 8, .depth = 1},
                                   short_period = {.period = 4}, odd = {.scale = "3*2^30"}, secret = {.secret = true};
  compare(&s, numbers, 0, SLOTS, true, NULL);
  compare(&s, numbers, 0, SLOTS, false, NULL);
  compare(&s, numbers, 0, 100, true, NULL);  // the other slots are zero
  compare(&s, numbers, 0, SLOTS, true, &deep);
  compare(&s, numbers, 0, 5, true, &sparse);
  compare(&s, numbers, 0, 4, false, &short_period);
  compare(&s, numbers, 0, 7, true, &odd);
  compare(&s, numbers, 0, 7, true, &secret);
  compare(&s, numbers, 1, 8, false, &sparse);
  compare(&s, numbers, 3, 6, true, &sparse);
  close_far(&s);
}

static void codec_within_a_bound_is_taken_by_those_who_say_so(void **state) {
  (void)state;
  scene_t s = open_far(NULL);
  double numbers[2 * SLOTS], clear[2 * SLOTS];
  fill(numbers, 2 * SLOTS, 2);
  hx_value_t *far = NULL, *back = NULL;
  assert_int_equal(hx_engine_encode_device(s.engine, numbers, 0, SLOTS, true, NULL, HX_CODEC_EXACT, &far, s.report),
                   HX_STATUS_UNSUPPORTED);
  must_fault(s.report, HX_CODE_UNSUPPORTED, 0, "within 1 of exact ones, not equal bits");
  hx_report_clear(s.report);
  MUST(hx_engine_encode_device(s.engine, numbers, 0, SLOTS, true, NULL, HX_CODEC_WITHIN, &far, s.report));
  MUST(hx_value_to_host(far, &back, s.report));
  MUST(hx_decode(back, clear, s.report));
  const double most = 2.0 * SLOTS * 1.5 / ldexp(1, 40);
  for (size_t i = 0; i < 2 * SLOTS; ++i) assert_true(fabs(clear[i] - numbers[i]) <= most);
  hx_value_noise_t noise;
  hx_value_noise(far, &noise);
  assert_true(noise.rms >= 1.0 && noise.rms < 1.1);  // the bound, and a rounding
  hx_value_release(far);
  hx_value_release(back);
  close_far(&s);
}

static void decoding_on_the_device_is_the_library_s(void **state) {
  (void)state;
  scene_t s = open_far("exact");
  double numbers[2 * 3 * 16], own[2 * 3 * 16], far[2 * 3 * 16];
  static const hx_encode_options_t options = {.slots = 16, .depth = 1};
  fill(numbers, 2 * 3 * 16, 3);
  hx_value_t *plain = NULL, *there = NULL;
  for (size_t items = 0; items <= 3; items += 3) {
    const size_t count = 2 * 16 * (items == 0 ? 1 : items);
    MUST(items == 0 ? hx_encode(s.params, numbers, 16, true, &options, &plain, s.report)
                    : hx_encode_batch(s.params, numbers, items, 16, true, &options, &plain, s.report));
    MUST(hx_value_to_device(plain, s.backend, &there, s.report));
    MUST(hx_decode_batch(plain, own, s.report));
    MUST(hx_engine_decode_device(s.engine, there, HX_CODEC_EXACT, far, s.report));
    for (size_t i = 0; i < count; ++i) assert_true(fabs(far[i] - own[i]) <= ldexp(1, -46));
    hx_value_release(plain);
    hx_value_release(there);
  }
  close_far(&s);
}

// A product with a plaintext made on the device has the bits of one with a plaintext that was brought there.
static void plaintext_of_the_device_is_used_where_it_lies(void **state) {
  (void)state;
  scene_t s = open_far("exact");
  double numbers[SLOTS];
  fill(numbers, SLOTS, 4);
  hx_keys_t *keys = link_keys(s.params);
  hx_value_t *plain = NULL, *cipher = NULL, *there = NULL, *placed = NULL, *made = NULL, *products[2], *hosts[2];
  MUST(hx_encode(s.params, numbers, SLOTS, false, NULL, &plain, s.report));
  MUST(hx_encrypt(keys, plain, false, &cipher, s.report));
  MUST(hx_value_to_device(cipher, s.backend, &there, s.report));
  MUST(hx_value_to_device(plain, s.backend, &placed, s.report));
  MUST(hx_engine_encode_device(s.engine, numbers, 0, SLOTS, false, NULL, HX_CODEC_EXACT, &made, s.report));
  const hx_value_t *weights[] = {placed, made};
  for (size_t i = 0; i < 2; ++i) {
    MUST(hx_engine_mul_plain(s.engine, there, weights[i], &products[i], s.report));
    MUST(hx_value_to_host(products[i], &hosts[i], s.report));
  }
  assert_true(hx_value_equal(hosts[0], hosts[1]));
  hx_value_t *all[] = {plain, cipher, there, placed, made, products[0], products[1], hosts[0], hosts[1]};
  for (size_t i = 0; i < HX_COUNT_OF(all); ++i) hx_value_release(all[i]);
  hx_keys_release(keys);
  close_far(&s);
}

static void expect(const scene_t *s, hx_status_t status, hx_code_t code, const char *piece) {
  assert_int_not_equal(status, HX_STATUS_OK);
  must_fault(s->report, code, 0, piece);
  hx_report_clear(s->report);
}

static void encoding_refuses_what_it_cannot_promise(void **state) {
  (void)state;
  scene_t s = open_far("exact");
  double one[] = {0.5, 0.25}, bad[] = {1, 2, 3, NAN}, huge[] = {1e60, 0};
  hx_value_t *out = NULL;
  static const hx_encode_options_t weighted = {.weighted = true}, wide = {.scale = "18446744073709551629*2^3"},
                                   two = {.slots = 2}, deep = {.depth = 9}, uneven = {.period = 3};
#define ENCODE(values_, items_, count_, options_, least_) \
  hx_engine_encode_device(s.engine, values_, items_, count_, false, options_, least_, &out, s.report)
  expect(&s, ENCODE(one, 0, 2, NULL, HX_CODEC_NONE), HX_CODE_INVALID_ARGUMENT, "HX_CODEC_EXACT or HX_CODEC_WITHIN");
  expect(&s, ENCODE(NULL, 0, 2, NULL, HX_CODEC_EXACT), HX_CODE_INVALID_ARGUMENT, "an argument is NULL");
  expect(&s, hx_engine_encode_device(NULL, one, 0, 1, false, NULL, HX_CODEC_EXACT, &out, s.report),
         HX_CODE_INVALID_ARGUMENT, "the engine is NULL");
  expect(&s, ENCODE(bad, 0, 4, NULL, HX_CODEC_EXACT), HX_CODE_VALUE, "value 3 is NaN");
  expect(&s, ENCODE(bad, 2, 2, NULL, HX_CODEC_EXACT), HX_CODE_VALUE, "item 1 of the batch: value 1 is NaN");
  expect(&s, ENCODE(huge, 0, 2, NULL, HX_CODEC_EXACT), HX_CODE_VALUE, "which the device does not look for");
  expect(&s, ENCODE(bad, 0, 3, &two, HX_CODEC_EXACT), HX_CODE_LENGTH, "3 values for 2 slots");
  expect(&s, ENCODE(one, 0, 0, NULL, HX_CODEC_EXACT), HX_CODE_LENGTH, "there are no values");
  expect(&s, ENCODE(one, 0, 2, &uneven, HX_CODEC_EXACT), HX_CODE_SLOTS, "the period is 3");
  expect(&s, ENCODE(one, 0, 2, &deep, HX_CODEC_EXACT), HX_CODE_NO_DEPTH, "depth is 9");
  expect(&s, ENCODE(one, 0, 2, &weighted, HX_CODEC_EXACT), HX_CODE_UNSUPPORTED, "hx_engine_prepare_plain");
  expect(&s, ENCODE(one, 0, 2, &wide, HX_CODEC_EXACT), HX_CODE_UNSUPPORTED, "m below 2^64");
  expect(&s, ENCODE(one, SIZE_MAX / 64, 2, NULL, HX_CODEC_EXACT), HX_CODE_LIMIT, "do not fit into memory");
  s.backend->devices[0]->plugin->handles_secrets = false;
  static const hx_encode_options_t secret = {.secret = true};
  expect(&s, ENCODE(one, 0, 2, &secret, HX_CODEC_EXACT), HX_CODE_CAPABILITY, "plugin far does not declare secrets");
  s.backend->devices[0]->plugin->handles_secrets = true;
#undef ENCODE
  assert_null(out);
  close_far(&s);
  s = open_far("none");
  expect(&s, hx_engine_encode_device(s.engine, one, 0, 2, false, NULL, HX_CODEC_WITHIN, &out, s.report),
         HX_CODE_UNSUPPORTED, "far:0 has no codec");
  close_far(&s);
}

static void decoding_refuses_what_it_cannot_read(void **state) {
  (void)state;
  scene_t s = open_far("exact");
  double numbers[2 * SLOTS] = {0.5};
  hx_value_t *plain = NULL, *there = NULL, *other = NULL;
#define DECODE(value_, least_) hx_engine_decode_device(s.engine, value_, least_, numbers, s.report)
  MUST(hx_encode(s.params, numbers, 1, false, NULL, &plain, s.report));
  expect(&s, DECODE(plain, HX_CODEC_EXACT), HX_CODE_DEVICE_MIX, "transfer it first");
  MUST(hx_value_to_device(plain, s.backend, &there, s.report));
  expect(&s, hx_decode(there, numbers, s.report), HX_CODE_DEVICE_MIX, "hx_engine_decode_device");
  expect(&s, DECODE(there, HX_CODEC_NONE), HX_CODE_INVALID_ARGUMENT, "HX_CODEC_EXACT");
  expect(&s, DECODE(NULL, HX_CODEC_EXACT), HX_CODE_INVALID_ARGUMENT, "an argument is NULL");
  MUST(hx_engine_from_ntt(s.engine, there, &other, s.report));
  expect(&s, DECODE(other, HX_CODEC_EXACT), HX_CODE_DOMAIN, "hx_engine_to_ntt");
  hx_value_release(other);
  hx_value_release(there);
  hx_value_release(plain);
  // A coefficient whose slot passes every double: 2^-1000 is the scale.
  static const hx_encode_options_t tiny = {.scale = "2^-1000"};
  const double far_off[] = {1e305};
  MUST(hx_encode(s.params, far_off, 1, false, &tiny, &plain, s.report));
  uint64_t *row = hx_tensor_row(plain->tensor, 0, 0, 0, 0);
  for (uint32_t l = 0; l < hx_value_limbs(plain); ++l) {
    row = hx_tensor_row(plain->tensor, 0, 0, 0, l);
    for (size_t k = 0; k < 1024; ++k) row[k] = (uint64_t)1 << 35;  // the constant 2^35
  }
  hx_tensor_touch(plain->tensor);
  MUST(hx_value_to_device(plain, s.backend, &there, s.report));
  expect(&s, DECODE(there, HX_CODEC_EXACT), HX_CODE_VALUE, "too large for a double");
  hx_value_release(there);
  hx_value_release(plain);
#undef DECODE
  close_far(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(codec_promise_is_told),
      cmocka_unit_test(exact_codec_gives_the_library_s_bits),
      cmocka_unit_test(codec_within_a_bound_is_taken_by_those_who_say_so),
      cmocka_unit_test(decoding_on_the_device_is_the_library_s),
      cmocka_unit_test(plaintext_of_the_device_is_used_where_it_lies),
      cmocka_unit_test(encoding_refuses_what_it_cannot_promise),
      cmocka_unit_test(decoding_refuses_what_it_cannot_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
