// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/tensor/sha256.h"

static void digest_of(const void *bytes, size_t size, size_t piece, char hex[65]) {
  hx_sha256_t hash;
  uint8_t digest[HX_SHA256_BYTES];
  hx_sha256_init(&hash);
  for (size_t at = 0; at < size; at += piece)
    hx_sha256_update(&hash, (const uint8_t *)bytes + at, size - at < piece ? size - at : piece);
  hx_sha256_final(&hash, digest);
  sodium_bin2hex(hex, 65, digest, sizeof digest);
}

// FIPS 180-4's examples.
static void sha256_gives_known_answers(void **state) {
  (void)state;
  char hex[65];
  digest_of("", 0, 1, hex);
  assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  digest_of("abc", 3, 3, hex);
  assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  digest_of(two, strlen(two), 56, hex);
  assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void sha256_equals_the_portable_one_at_every_length_and_cut(void **state) {
  (void)state;
  static uint8_t bytes[700];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (uint8_t)(i * i + 3 * i);
  static const size_t pieces[] = {1, 3, 55, 63, 64, 65, 128, 700};
  for (size_t size = 0; size <= sizeof bytes; size += size < 200 ? 1 : 37) {
    hx_sha256_t hash;
    uint8_t digest[HX_SHA256_BYTES];
    char wanted[65], found[65];
    hx_sha256_init_portable(&hash);
    hx_sha256_update(&hash, bytes, size);
    hx_sha256_final(&hash, digest);
    sodium_bin2hex(wanted, sizeof wanted, digest, sizeof digest);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i) {
      digest_of(bytes, size, pieces[i], found);
      assert_string_equal(found, wanted);
    }
  }
}

static void sha256_wipes_its_state(void **state) {
  (void)state;
  hx_sha256_t hash;
  uint8_t digest[HX_SHA256_BYTES];
  hx_sha256_init(&hash);
  hx_sha256_update(&hash, "secret", 6);
  hx_sha256_final(&hash, digest);
  for (size_t i = 0; i < sizeof hash; ++i) assert_int_equal(((const uint8_t *)&hash)[i], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sha256_gives_known_answers),
      cmocka_unit_test(sha256_equals_the_portable_one_at_every_length_and_cut),
      cmocka_unit_test(sha256_wipes_its_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
