// SPDX-License-Identifier: Apache-2.0
// One engine from many threads: the bits of the serial run, whoever comes first. Fit for a thread sanitizer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/scheme/scheme.h"

enum { THREADS = 8, RACERS = 16, ROUNDS = 25, ROTATIONS = 16, RACE_ROUNDS = 20 };

static const int64_t steps[ROTATIONS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static hx_params_t *small_set(void) { return case_set_make(10, 55, 40, 2, 56, 1, 3, "2^40"); }

// ------------------------------------------------------------------ a mix of operations

typedef struct worker {
  const scheme_t *s;
  const hx_value_t *a, *b;
  uint64_t seed;
  hx_value_t *result;
  bool failed;
} worker_t;

// A chain that the seed decides; every operation of it has keys and caches to share.
static void *work(void *argument) {
  worker_t *w = argument;
  hx_engine_t *e = w->s->engine;
  uint64_t seed = w->seed;
  hx_value_t *sum = hx_value_retain(w->a);
  for (int round = 0; round < ROUNDS && !w->failed; ++round) {
    hx_value_t *x = NULL, *y = NULL, *z = NULL;
    switch (scheme_word(&seed) % 4) {
      case 0:
        w->failed = hx_engine_rotate(e, sum, (int64_t)(1 + scheme_word(&seed) % ROTATIONS), &z, NULL) != HX_STATUS_OK;
        break;
      case 1:
        w->failed = hx_engine_conjugate(e, sum, &z, NULL) != HX_STATUS_OK;
        break;
      case 2:
        w->failed = hx_engine_add(e, sum, w->b, &z, NULL) != HX_STATUS_OK;
        break;
      default:
        w->failed = hx_engine_mul(e, sum, w->b, &x, NULL) != HX_STATUS_OK ||
                    hx_engine_relinearize(e, x, &y, NULL) != HX_STATUS_OK ||
                    hx_engine_reinterpret_scale(e, y, "2^40", &z, NULL) != HX_STATUS_OK;
    }
    hx_value_release(x);
    hx_value_release(y);
    hx_value_release(sum);
    sum = z;
  }
  w->result = sum;
  return NULL;
}

static void eight_threads_give_the_bits_of_one(void **state) {
  (void)state;
  scheme_t s;
  uint64_t seed = 1;
  scheme_open(&s, small_set(), steps, ROTATIONS);
  scheme_number_t *z = scheme_message(&seed, s.slots);
  hx_value_t *a = scheme_encrypt(&s, z, s.slots, 0, NULL), *b = scheme_encrypt(&s, z, s.slots, 0, NULL);
  worker_t workers[THREADS];
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i) {
    workers[i] = (worker_t){.s = &s, .a = a, .b = b, .seed = 100 + i};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (size_t i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (size_t i = 0; i < THREADS; ++i) {
    worker_t serial = {.s = &s, .a = a, .b = b, .seed = 100 + i};
    work(&serial);
    assert_false(workers[i].failed || serial.failed);
    assert_true(hx_value_equal(workers[i].result, serial.result));
    hx_value_release(workers[i].result);
    hx_value_release(serial.result);
  }
  hx_value_release(a);
  hx_value_release(b);
  free(z);
  scheme_close(&s);
}

// ------------------------------------------------------------------ first use

typedef struct racer {
  const scheme_t *s;
  const hx_value_t *a, *plain;
  int64_t step;
  pthread_barrier_t *start;
  hx_value_t *rotated, *encrypted;
  bool failed;
} racer_t;

static void *race(void *argument) {
  racer_t *r = argument;
  pthread_barrier_wait(r->start);
  r->failed = hx_engine_rotate(r->s->engine, r->a, r->step, &r->rotated, NULL) != HX_STATUS_OK ||
              hx_encrypt(r->s->keys, r->plain, false, &r->encrypted, NULL) != HX_STATUS_OK;
  return NULL;
}

static void race_once(const scheme_t *s, const hx_value_t *a, const hx_value_t *plain, const scheme_number_t *z) {
  racer_t racers[RACERS];
  pthread_t threads[RACERS];
  pthread_barrier_t start;
  assert_int_equal(pthread_barrier_init(&start, NULL, RACERS), 0);
  for (size_t i = 0; i < RACERS; ++i) {
    racers[i] = (racer_t){.s = s, .a = a, .plain = plain, .step = steps[i], .start = &start};
    assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
  }
  for (size_t i = 0; i < RACERS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (size_t i = 0; i < RACERS; ++i) {
    hx_value_t *serial = NULL;
    assert_false(racers[i].failed);
    SCHEME_OK(s, hx_engine_rotate(s->engine, a, steps[i], &serial, s->report));
    assert_true(hx_value_equal(racers[i].rotated, serial));
    scheme_check(s, "encryption", racers[i].encrypted, z, scheme_fresh(s));
    for (size_t k = 0; k < i; ++k) assert_false(hx_value_equal(racers[i].encrypted, racers[k].encrypted));
    hx_value_release(serial);
  }
  for (size_t i = 0; i < RACERS; ++i) {
    hx_value_release(racers[i].rotated);
    hx_value_release(racers[i].encrypted);
  }
  pthread_barrier_destroy(&start);
}

// B55: nothing is warm: parameters, keys, backend and engine are new in every round.
static void b55_first_use_from_sixteen_threads_is_right(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (int round = 0; round < RACE_ROUNDS; ++round) {
    scheme_t s;
    scheme_open(&s, small_set(), steps, ROTATIONS);
    scheme_number_t *z = scheme_message(&seed, s.slots);
    hx_value_t *a = scheme_encrypt(&s, z, s.slots, 0, NULL), *plain = scheme_encode(&s, z, s.slots, 0, NULL);
    race_once(&s, a, plain, z);
    race_once(&s, a, plain, z);
    hx_value_release(a);
    hx_value_release(plain);
    free(z);
    scheme_close(&s);
  }
}

int main(void) {
  hx_threads_set(1);  // the threads of this test are enough; OpenMP's own are another matter
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eight_threads_give_the_bits_of_one),
      cmocka_unit_test(b55_first_use_from_sixteen_threads_is_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
