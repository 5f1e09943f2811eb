// SPDX-License-Identifier: Apache-2.0
// No branch and no address depends on a secret. Secrets are marked as undefined memory and the program runs itself
// under valgrind, whose memcheck then reports every conditional jump and every address made from them; each test allows
// exactly the reports that its function documents. Skipped where valgrind or its header is missing, and under
// sanitizers; with HELIOX_REQUIRE_VALGRIND set (./dev secrets) it fails there.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/ckks/encode.h"
#include "core/ckks/encode_round.h"
#include "core/ckks/keys.h"
#include "core/ckks/sampling.h"
#include "tests/unit/case_sets.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(SANITIZED) && defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#define MEMCHECK 1
#endif
#endif

#ifdef MEMCHECK
static bool is_watched(void) { return RUNNING_ON_VALGRIND != 0; }
static void hide(void *memory, size_t size) { (void)VALGRIND_MAKE_MEM_UNDEFINED(memory, size); }
static void show(void *memory, size_t size) { (void)VALGRIND_MAKE_MEM_DEFINED(memory, size); }
static size_t reports(void) { return (size_t)VALGRIND_COUNT_ERRORS; }
#else
static bool is_watched(void) { return false; }
static void hide(void *memory, size_t size) { (void)memory, (void)size; }
static void show(void *memory, size_t size) { (void)memory, (void)size; }
static size_t reports(void) { return 0; }
#endif

#define SKIP_UNLESS_WATCHED()  \
  do {                         \
    if (!is_watched()) skip(); \
  } while (0)

enum { N = 64 };
static const uint8_t seed[32] = {5};

// Everything drawn comes from a hidden key.
static void draw(int8_t secret[N], int8_t ternary[N], int8_t errors[4 * N]) {
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  hide(random.key, sizeof random.key);
  hx_sample_ternary(&random, N, secret);
  hx_sample_ternary(&random, N, ternary);
  hx_sample_error(&random, 4 * N, errors);
}

static void memcheck_sees_a_secret_branch(void **state) {
  (void)state;
  SKIP_UNLESS_WATCHED();
  const size_t before = reports();
  volatile int secret = 1, seen = 0;
  hide((void *)(uintptr_t)&secret, sizeof secret);
  if (secret != 0) seen = 1;
  assert_int_equal(reports(), before + 1);
  (void)seen;
}

static void sampling_does_not_depend_on_what_is_drawn(void **state) {
  (void)state;
  SKIP_UNLESS_WATCHED();
  const size_t before = reports();
  int8_t secret[N], ternary[N], errors[4 * N];
  draw(secret, ternary, errors);
  assert_int_equal(reports(), before);
  // Of a fixed weight: only whether two sorting keys were equal shows.
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  hide(random.key, sizeof random.key);
  assert_true(hx_sample_weight(&random, N, 16, secret));
  assert_int_equal(reports(), before + 1);
}

static void keys_do_not_depend_on_secret_and_errors(void **state) {
  (void)state;
  SKIP_UNLESS_WATCHED();
  hx_params_t *params = case_set_make(6, 60, 50, 2, 60, 1, 3, "2^40");
  int8_t secret[N], ternary[N], errors[4 * N];
  draw(secret, ternary, errors);
  const size_t before = reports();
  hx_tensor_t *keys[3] = {NULL};
  assert_int_equal(hx_public_key_make(params, secret, seed, errors, &keys[0]), HX_STATUS_OK);
  assert_int_equal(hx_relin_key_make(params, secret, seed, errors, &keys[1]), HX_STATUS_OK);
  assert_int_equal(hx_galois_key_make(params, secret, 5, seed, errors, &keys[2]), HX_STATUS_OK);
  assert_int_equal(reports(), before);
  for (size_t i = 0; i < 3; ++i) hx_tensor_release(keys[i]);
  hx_params_release(params);
}

// A message through encoding, both encryptions, decryption and decoding.
static void message_is_hidden_from_encode_to_decode(void **state) {
  (void)state;
  SKIP_UNLESS_WATCHED();
  hx_params_t *params = case_set_make(6, 60, 50, 2, 60, 1, 3, "2^40");
  int8_t secret[N], ternary[N], errors[4 * N];
  draw(secret, ternary, errors);
  hx_tensor_t *key = NULL;
  assert_int_equal(hx_public_key_make(params, secret, seed, errors, &key), HX_STATUS_OK);
  double values[N], found[N];
  for (size_t k = 0; k < N; ++k) values[k] = 1.0 / (double)(k + 1);
  hide(values, sizeof values);
  hx_type_t type;
  hx_plaintext_type(params, 0, N / 2, hx_params_default_scale(params), &type);
  size_t before = reports();
  static const double scales[] = {0x1p60, 0x1p40};  // in double-double, in doubles
  for (size_t i = 0; i < 2; ++i) {
    hx_i128 integers[N];
    uint32_t shift = 0;
    const hx_packing_t packing = {.log_slots = 5, .scale_hi = scales[i]};
    assert_int_equal(hx_encode_integers(&packing, values, N / 2, true, integers, &shift), HX_STATUS_OK);
    show(&shift, sizeof shift);  // 0 for all but astronomic messages
    hx_value_t *plaintext = NULL, *ciphertexts[2] = {NULL}, *decrypted = NULL;
    assert_int_equal(hx_plaintext_from_integers(params, &type, integers, shift, true, &plaintext, NULL), HX_STATUS_OK);
    assert_int_equal(hx_encrypt_public_with(params, key, plaintext, ternary, errors, errors + N, &ciphertexts[0]),
                     HX_STATUS_OK);
    assert_int_equal(hx_encrypt_secret_with(params, secret, plaintext, seed, 0, errors, &ciphertexts[1]), HX_STATUS_OK);
    for (size_t c = 0; c < 2; ++c) {
      assert_int_equal(hx_decrypt_with(params, secret, ciphertexts[c], &decrypted), HX_STATUS_OK);
      assert_int_equal(reports(), before);
      // Decoding asks once whether all slots are finite doubles.
      const hx_status_t status = hx_decode(decrypted, found, NULL);
      assert_in_range(reports(), before, before + 2);
      before = reports();
      show((void *)(uintptr_t)&status, sizeof status);
      assert_int_equal(status, HX_STATUS_OK);
      hx_value_release(decrypted);
      hx_value_release(ciphertexts[c]);
    }
    hx_value_release(plaintext);
  }
  hx_tensor_release(key);
  hx_params_release(params);
}

// Decryption for publication: neither what is decrypted nor the noise steers anything.
static void flooding_does_not_depend_on_message_and_noise(void **state) {
  (void)state;
  SKIP_UNLESS_WATCHED();
  hx_params_t *params = case_set_make(6, 60, 50, 2, 60, 1, 3, "2^40");
  hx_keys_t *keys = NULL;
  const hx_keygen_options_t options = {.parts = HX_KEYS_PUBLIC};
  assert_int_equal(hx_keys_generate(params, &options, &keys, NULL), HX_STATUS_OK);
  const double values[] = {0.5, -0.25};
  hx_value_t *plaintext = NULL, *ciphertext = NULL, *flooded = NULL;
  assert_int_equal(hx_encode(params, values, 2, false, NULL, &plaintext, NULL), HX_STATUS_OK);
  assert_int_equal(hx_encrypt(keys, plaintext, false, &ciphertext, NULL), HX_STATUS_OK);
  hide(keys->secret, N);
  const size_t before = reports();
  const hx_flood_options_t flood = {.bits = 30};
  assert_int_equal(hx_decrypt_flooded(keys, ciphertext, &flood, &flooded, NULL, NULL), HX_STATUS_OK);
  assert_int_equal(reports(), before);
  hx_value_release(plaintext);
  hx_value_release(ciphertext);
  hx_value_release(flooded);
  show(keys->secret, N);
  hx_keys_release(keys);
  hx_params_release(params);
}

#ifdef MEMCHECK
// Runs this program under valgrind and returns its exit status, or -1 where that cannot be done (no valgrind, or one
// that does not understand this binary): the watched program says through a pipe that it has started.
static int run_watched(void) {
  char self[4096], end[16];
  const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
  int ends[2];
  if (size <= 0 || pipe(ends) != 0) return -1;
  self[size] = 0;
  snprintf(end, sizeof end, "%d", ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    // Reports are for the eye: the tests count them.
    (void)execlp("valgrind", "valgrind", "-q", "--leak-check=no", "--error-limit=no", self, end, (char *)NULL);
    _exit(127);
  }
  (void)close(ends[1]);
  char started = 0;
  const bool watched = child > 0 && read(ends[0], &started, 1) == 1;
  (void)close(ends[0]);
  int status = 1;
  if (child > 0 && waitpid(child, &status, 0) != child) return 1;
  if (!watched) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
#endif

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memcheck_sees_a_secret_branch),
      cmocka_unit_test(sampling_does_not_depend_on_what_is_drawn),
      cmocka_unit_test(keys_do_not_depend_on_secret_and_errors),
      cmocka_unit_test(message_is_hidden_from_encode_to_decode),
      cmocka_unit_test(flooding_does_not_depend_on_message_and_noise),
  };
#ifdef MEMCHECK
  if (is_watched() && argc > 1) {
    if (write(atoi(argv[1]), "s", 1) != 1) return 1;
  } else if (!is_watched()) {
    const int status = run_watched();
    if (status >= 0) return status;
    if (getenv("HELIOX_REQUIRE_VALGRIND") != NULL) {
      fprintf(stderr, "valgrind cannot run this program, so nothing was watched\n");
      return 1;
    }
  }
#else
  (void)argc, (void)argv;
  if (getenv("HELIOX_REQUIRE_VALGRIND") != NULL) {
    fprintf(stderr, "built without valgrind's header, so nothing can be watched\n");
    return 1;
  }
#endif
  return cmocka_run_group_tests(tests, NULL, NULL);
}
