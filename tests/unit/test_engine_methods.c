// SPDX-License-Identifier: Apache-2.0
// The engine: every method against plain numbers, on a backend with whole operations; refusals before arithmetic.
#include <pthread.h>

#include "tests/unit/link_fixture.h"

typedef struct scene {
  bench_t bench;
  hx_engine_t *engine;
  double a[SLOTS], b[SLOTS], expected[SLOTS];
  hx_value_t *x, *y, *p;  // a and b encrypted, b encoded
} scene_t;

static int setup(void **state) {
  scene_t *scene = calloc(1, sizeof *scene);
  bench_t *bench = &scene->bench;
  bench_open(bench, FAKE_ALL);
  must(hx_engine_create(bench->params, bench->keys, bench->backend, &scene->engine, bench->report), bench->report);
  fill_values(scene->a, SLOTS, 11);
  fill_values(scene->b, SLOTS, 12);
  scene->x = encrypt_values(bench, bench->keys, scene->a, SLOTS);
  scene->y = encrypt_values(bench, bench->keys, scene->b, SLOTS);
  scene->p = encode_values(bench, scene->b, SLOTS, false);
  *state = scene;
  return 0;
}

static int teardown(void **state) {
  scene_t *scene = *state;
  hx_engine_release(scene->engine);
  hx_value_release(scene->x);
  hx_value_release(scene->y);
  hx_value_release(scene->p);
  bench_close(&scene->bench);
  free(scene);
  return 0;
}

// The value decrypts to scene->expected; it is released.
static void expect(scene_t *scene, hx_value_t *value) {
  double found[SLOTS];
  decrypt_values(&scene->bench, value, found);
  must_be_near(found, scene->expected, SLOTS, 1e-5);
  assert_int_equal(hx_value_count(value), SLOTS);
  assert_memory_equal(hx_value_key_id(value), hx_keys_id(scene->bench.keys), 16);
  hx_value_release(value);
}

#define MUST(call_) must(call_, scene->bench.report)
#define FOR_SLOTS(expression_) \
  for (size_t i = 0; i < SLOTS; ++i) scene->expected[i] = (expression_)

static void linear_methods_match_plain_numbers(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *out = NULL;
  MUST(hx_engine_add(scene->engine, scene->x, scene->y, &out, report));
  FOR_SLOTS(scene->a[i] + scene->b[i]);
  expect(scene, out);
  MUST(hx_engine_sub(scene->engine, scene->x, scene->y, &out, report));
  FOR_SLOTS(scene->a[i] - scene->b[i]);
  expect(scene, out);
  MUST(hx_engine_neg(scene->engine, scene->x, &out, report));
  FOR_SLOTS(-scene->a[i]);
  expect(scene, out);
  MUST(hx_engine_add_plain(scene->engine, scene->x, scene->p, &out, report));
  FOR_SLOTS(scene->a[i] + scene->b[i]);
  expect(scene, out);
  MUST(hx_engine_sub_plain(scene->engine, scene->x, scene->p, &out, report));
  FOR_SLOTS(scene->a[i] - scene->b[i]);
  expect(scene, out);
  MUST(hx_engine_mul_integer(scene->engine, scene->x, -3, &out, report));
  FOR_SLOTS(-3 * scene->a[i]);
  expect(scene, out);
}

static void products_match_plain_numbers(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *product = NULL, *two = NULL, *out = NULL;
  MUST(hx_engine_mul(scene->engine, scene->x, scene->y, &product, report));
  assert_int_equal(hx_value_components(product), 3);
  FOR_SLOTS(scene->a[i] * scene->b[i]);
  MUST(hx_engine_relinearize(scene->engine, product, &two, report));
  MUST(hx_engine_rescale(scene->engine, two, &out, report));
  assert_int_equal(hx_value_depth(out), 1);
  expect(scene, product);
  expect(scene, two);
  expect(scene, out);
  MUST(hx_engine_square(scene->engine, scene->x, &product, report));
  FOR_SLOTS(scene->a[i] * scene->a[i]);
  expect(scene, product);
  MUST(hx_engine_mul_plain(scene->engine, scene->x, scene->p, &product, report));
  FOR_SLOTS(scene->a[i] * scene->b[i]);
  expect(scene, product);
}

static void constants_match_plain_numbers(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *out = NULL, *real = NULL;
  MUST(hx_engine_add_scalar(scene->engine, scene->x, 0.25, 0, &out, report));
  FOR_SLOTS(scene->a[i] + 0.25);
  assert_false(hx_value_is_complex(out));
  expect(scene, out);
  MUST(hx_engine_mul_scalar(scene->engine, scene->x, -1.5, 0, "2^30", &out, report));
  FOR_SLOTS(scene->a[i] * -1.5);
  expect(scene, out);
  // i * i * x is -x; a complex constant makes the result complex for good.
  MUST(hx_engine_mul_scalar(scene->engine, scene->x, 0, 1, "2^30", &out, report));
  assert_true(hx_value_is_complex(out));
  MUST(hx_engine_mul_scalar(scene->engine, out, 0, 1, "2^30", &real, report));
  assert_true(hx_value_is_complex(real));
  FOR_SLOTS(-scene->a[i]);
  expect(scene, real);
  hx_value_release(out);
}

static void rotations_match_plain_numbers(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *out = NULL;
  static const int64_t steps[] = {1, 5, -1, SLOTS + 2, -SLOTS - 1};
  for (size_t s = 0; s < HX_COUNT_OF(steps); ++s) {
    MUST(hx_engine_rotate(scene->engine, scene->x, steps[s], &out, report));
    FOR_SLOTS(scene->a[(size_t)((int64_t)i + steps[s] + 4 * SLOTS) % SLOTS]);
    expect(scene, out);
  }
  MUST(hx_engine_conjugate(scene->engine, scene->x, &out, report));
  FOR_SLOTS(scene->a[i]);
  expect(scene, out);
}

static void rotate_by_all_slots_is_a_copy_without_key(void **state) {
  scene_t *scene = *state;
  hx_engine_t *keyless = NULL;
  hx_value_t *out = NULL;
  MUST(hx_engine_create(scene->bench.params, NULL, scene->bench.backend, &keyless, scene->bench.report));
  MUST(hx_engine_rotate(keyless, scene->x, 2 * SLOTS, &out, scene->bench.report));
  assert_true(hx_value_equal(out, scene->x));
  hx_value_release(out);
  hx_engine_release(keyless);
}

static void views_share_memory_and_feed_other_calls(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *deep = NULL, *out = NULL, *renamed = NULL;
  MUST(hx_engine_level_drop(scene->engine, scene->x, 3, &deep, report));
  assert_ptr_equal(deep->tensor->storage, scene->x->tensor->storage);
  assert_int_equal(hx_value_limbs(deep), 2);
  MUST(hx_engine_add(scene->engine, deep, deep, &out, report));
  FOR_SLOTS(2 * scene->a[i]);
  expect(scene, out);
  MUST(hx_engine_rotate(scene->engine, deep, 1, &out, report));
  FOR_SLOTS(scene->a[(i + 1) % SLOTS]);
  expect(scene, out);
  MUST(hx_engine_reinterpret_scale(scene->engine, scene->x, "2^41", &renamed, report));
  FOR_SLOTS(scene->a[i] / 2);
  expect(scene, renamed);
  hx_value_release(deep);
}

static void transforms_come_back(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *coefficients = NULL, *back = NULL;
  MUST(hx_engine_from_ntt(scene->engine, scene->x, &coefficients, report));
  FOR_SLOTS(scene->a[i]);
  MUST(hx_engine_to_ntt(scene->engine, coefficients, &back, report));
  assert_true(hx_value_equal(back, scene->x));
  expect(scene, coefficients);
  hx_value_release(back);
}

static void operands_with_batch_work(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_type_t type = scene->x->type;
  type.batch_rank = 1;
  type.batch_shape[0] = 2;
  hx_value_t *batch = NULL, *out = NULL;
  assert_int_equal(hx_value_create(scene->bench.params, &type, false, &batch), HX_STATUS_OK);
  const size_t bytes = (size_t)hx_value_bytes(scene->x);
  unsigned char *rows = hx_tensor_row(batch->tensor, 0, 0, 0, 0);
  memcpy(rows, hx_tensor_row(scene->x->tensor, 0, 0, 0, 0), bytes);
  memcpy(rows + bytes, hx_tensor_row(scene->y->tensor, 0, 0, 0, 0), bytes);
  memcpy(batch->key_id, scene->x->key_id, sizeof batch->key_id);
  MUST(hx_engine_mul_plain(scene->engine, batch, scene->p, &out, report));  // the plaintext serves both
  hx_value_t *one = NULL;
  MUST(hx_engine_mul_plain(scene->engine, scene->y, scene->p, &one, report));
  assert_memory_equal(hx_tensor_row(out->tensor, 1, 0, 0, 0), hx_tensor_row(one->tensor, 0, 0, 0, 0), bytes);
  hx_value_release(one);
  hx_value_release(out);
  hx_value_release(batch);
}

// ------------------------------------------------------------------ refusals

static void expect_fault(scene_t *scene, hx_status_t status, hx_code_t code, const char *piece) {
  assert_int_equal(status, hx_code_info(code)->status);
  must_fault(scene->bench.report, code, 0, piece);
  hx_report_clear(scene->bench.report);
}

static void methods_refuse_missing_keys(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *out = NULL;
  const uint32_t executes = fake.executes;
  expect_fault(scene, hx_engine_rotate(scene->engine, scene->x, 7, &out, report), HX_CODE_MISSING_KEY,
               "ckks.rotate needs the rotation key of step 7");
  expect_fault(scene, hx_engine_rotate(scene->engine, scene->x, 7, &out, report), HX_CODE_MISSING_KEY, "1, 2, 5");
  hx_engine_t *keyless = NULL;
  MUST(hx_engine_create(scene->bench.params, NULL, scene->bench.backend, &keyless, report));
  expect_fault(scene, hx_engine_conjugate(keyless, scene->x, &out, report), HX_CODE_MISSING_KEY, "made without keys");
  assert_int_equal(fake.executes, executes);
  MUST(hx_engine_add(keyless, scene->x, scene->y, &out, report));
  hx_value_release(out);
  hx_engine_release(keyless);
}

static void methods_refuse_wrong_states(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *out = NULL, *deep = NULL, *other = NULL, *three = NULL;
  MUST(hx_engine_level_drop(scene->engine, scene->x, 2, &deep, report));
  MUST(hx_engine_reinterpret_scale(scene->engine, scene->x, "2^41", &other, report));
  MUST(hx_engine_square(scene->engine, scene->x, &three, report));
  const uint32_t executes = fake.executes;
  expect_fault(scene, hx_engine_add(scene->engine, scene->x, deep, &out, report), HX_CODE_DEPTH_MISMATCH, "ckks.add");
  expect_fault(scene, hx_engine_add(scene->engine, scene->x, other, &out, report), HX_CODE_SCALE_MISMATCH, "2^41");
  expect_fault(scene, hx_engine_mul(scene->engine, three, scene->x, &out, report), HX_CODE_COMPONENTS, "ckks.mul");
  expect_fault(scene, hx_engine_relinearize(scene->engine, scene->x, &out, report), HX_CODE_COMPONENTS,
               "ckks.relinearize");
  expect_fault(scene, hx_engine_to_ntt(scene->engine, scene->x, &out, report), HX_CODE_DOMAIN, "ckks.to_ntt");
  hx_value_release(deep);
  MUST(hx_engine_level_drop(scene->engine, scene->x, 4, &deep, report));
  expect_fault(scene, hx_engine_rescale(scene->engine, deep, &out, report), HX_CODE_NO_DEPTH, "ckks.rescale");
  expect_fault(scene, hx_engine_add_scalar(scene->engine, scene->x, (double)NAN, 0, &out, report), HX_CODE_ATTRIBUTE,
               "not finite");
  assert_int_equal(fake.executes, executes);
  assert_null(out);
  hx_value_release(deep);
  hx_value_release(other);
  hx_value_release(three);
}

static void methods_refuse_other_secrets_and_parameters(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *out = NULL;
  hx_keys_t *strangers = link_keys(scene->bench.params);
  hx_value_t *stranger = encrypt_values(&scene->bench, strangers, scene->a, SLOTS);
  expect_fault(scene, hx_engine_add(scene->engine, scene->x, stranger, &out, report), HX_CODE_KEY_ID, "another secret");
  hx_engine_t *keyless = NULL;
  MUST(hx_engine_create(scene->bench.params, NULL, scene->bench.backend, &keyless, report));
  expect_fault(scene, hx_engine_add(keyless, scene->x, stranger, &out, report), HX_CODE_KEY_ID,
               "operand b carries key id");
  hx_engine_release(keyless);
  hx_value_release(stranger);
  hx_keys_release(strangers);

  char json[sizeof LINK_RING] = LINK_RING;
  strstr(json, "\"digits\":3")[9] = '4';
  bench_t other = scene->bench;
  other.params = link_params(json);
  other.keys = link_keys(other.params);
  hx_value_t *foreign = encrypt_values(&other, other.keys, scene->a, SLOTS);
  expect_fault(scene, hx_engine_add(scene->engine, scene->x, foreign, &out, report), HX_CODE_PARAMS_DIGEST,
               "operand b belongs to parameters");
  hx_engine_t *engine = NULL;
  expect_fault(scene, hx_engine_create(scene->bench.params, other.keys, scene->bench.backend, &engine, report),
               HX_CODE_PARAMS_DIGEST, "the keys belong to parameters");
  hx_value_release(foreign);
  hx_keys_release(other.keys);
  hx_params_release(other.params);
}

static void methods_refuse_null_arguments(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *out = NULL;
  expect_fault(scene, hx_engine_add(scene->engine, scene->x, NULL, &out, report), HX_CODE_INVALID_ARGUMENT,
               "operand b is NULL");
  expect_fault(scene, hx_engine_add(NULL, scene->x, scene->y, &out, report), HX_CODE_INVALID_ARGUMENT, "engine or out");
  expect_fault(scene, hx_engine_mul_scalar(scene->engine, scene->x, 1, 0, NULL, &out, report), HX_CODE_INVALID_ARGUMENT,
               "scale is NULL");
  expect_fault(scene, hx_engine_mul_scalar(scene->engine, scene->x, 1, 0, "forty", &out, report), HX_CODE_SYNTAX,
               "forty");
}

static void secret_operands_make_secret_results(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *out = NULL, *secret = encode_values(&scene->bench, scene->b, SLOTS, true);
  MUST(hx_engine_add_plain(scene->engine, scene->x, secret, &out, report));
  assert_true(hx_value_is_secret(out));
  hx_value_release(out);
  MUST(hx_engine_add_plain(scene->engine, scene->x, scene->p, &out, report));
  assert_false(hx_value_is_secret(out));
  hx_value_release(out);
  scene->bench.plugin->loaded.handles_secrets = false;
  hx_backend_t *careless = fake_backend(scene->bench.plugin);
  hx_engine_t *engine = NULL;
  MUST(hx_engine_create(scene->bench.params, NULL, careless, &engine, report));
  expect_fault(scene, hx_engine_add_plain(engine, scene->x, secret, &out, report), HX_CODE_CAPABILITY,
               "does not declare secrets");
  hx_engine_release(engine);
  hx_backend_release(careless);
  hx_value_release(secret);
}

// ------------------------------------------------------------------ cache and threads

static void equal_calls_are_prepared_once(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_value_t *out = NULL;
  static const int64_t steps[] = {1, 1, 1 + SLOTS, 1 - SLOTS};
  for (size_t s = 0; s < HX_COUNT_OF(steps); ++s) {
    MUST(hx_engine_rotate(scene->engine, scene->x, steps[s], &out, report));
    hx_value_release(out);
  }
  assert_int_equal(scene->engine->cache.count, 1);
  MUST(hx_engine_rotate(scene->engine, scene->x, 2, &out, report));
  hx_value_release(out);
  assert_int_equal(scene->engine->cache.count, 2);
  assert_int_equal(fake.prepared_alive, 2);
}

static void the_cache_is_bounded(void **state) {
  scene_t *scene = *state;
  hx_value_t *out = NULL;
  for (int64_t k = 1; k <= HX_CACHE_ENTRIES_MAX + 40; ++k) {
    MUST(hx_engine_mul_integer(scene->engine, scene->x, k, &out, scene->bench.report));
    hx_value_release(out);
  }
  assert_int_equal(scene->engine->cache.count, HX_CACHE_ENTRIES_MAX);
  assert_int_equal(fake.prepared_alive, HX_CACHE_ENTRIES_MAX);
}

static void methods_survive_every_failed_allocation(void **state) {
  scene_t *scene = *state;
  hx_report_t *report = scene->bench.report;
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  for (uint64_t n = 1; status != HX_STATUS_OK; ++n) {
    hx_engine_t *engine = NULL;
    hx_value_t *out = NULL;
    hx_report_clear(report);
    hx_alloc_fail_at(n);
    status = hx_engine_create(scene->bench.params, scene->bench.keys, scene->bench.backend, &engine, report);
    if (status == HX_STATUS_OK) status = hx_engine_rotate(engine, scene->x, 1, &out, report);
    hx_alloc_fail_at(0);
    if (status != HX_STATUS_OK && status != HX_STATUS_OUT_OF_MEMORY) fail_msg("%s", hx_status_name(status));
    if (status == HX_STATUS_OK) {
      FOR_SLOTS(scene->a[(i + 1) % SLOTS]);
      expect(scene, out);
    } else {
      assert_null(out);
    }
    hx_engine_release(engine);
  }
}

typedef struct worker {
  pthread_t thread;
  scene_t *scene;
  hx_value_t *out;
  hx_status_t status;
} worker_t;

static void *work(void *argument) {
  worker_t *worker = argument;
  scene_t *scene = worker->scene;
  hx_value_t *sum = NULL, *square = NULL;
  worker->status = hx_engine_add(scene->engine, scene->x, scene->y, &sum, NULL);
  if (worker->status == HX_STATUS_OK) worker->status = hx_engine_square(scene->engine, sum, &square, NULL);
  if (worker->status == HX_STATUS_OK) worker->status = hx_engine_relinearize(scene->engine, square, &worker->out, NULL);
  hx_value_release(sum);
  hx_value_release(square);
  return NULL;
}

static void methods_run_from_four_threads(void **state) {
  scene_t *scene = *state;
  worker_t workers[4];
  for (int i = 0; i < 4; ++i) {
    workers[i] = (worker_t){.scene = scene};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(workers[i].status, HX_STATUS_OK);
    assert_true(hx_value_equal(workers[i].out, workers[0].out));
  }
  FOR_SLOTS((scene->a[i] + scene->b[i]) * (scene->a[i] + scene->b[i]));
  for (int i = 0; i < 4; ++i) expect(scene, workers[i].out);
  assert_int_equal(scene->engine->cache.count, 3);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {CASE(linear_methods_match_plain_numbers),
                                     CASE(products_match_plain_numbers),
                                     CASE(constants_match_plain_numbers),
                                     CASE(rotations_match_plain_numbers),
                                     CASE(rotate_by_all_slots_is_a_copy_without_key),
                                     CASE(views_share_memory_and_feed_other_calls),
                                     CASE(transforms_come_back),
                                     CASE(operands_with_batch_work),
                                     CASE(methods_refuse_missing_keys),
                                     CASE(methods_refuse_wrong_states),
                                     CASE(methods_refuse_other_secrets_and_parameters),
                                     CASE(methods_refuse_null_arguments),
                                     CASE(secret_operands_make_secret_results),
                                     CASE(equal_calls_are_prepared_once),
                                     CASE(the_cache_is_bounded),
                                     CASE(methods_survive_every_failed_allocation),
                                     CASE(methods_run_from_four_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
