// SPDX-License-Identifier: Apache-2.0
// ChaCha20 against RFC 8439; uniform rows against their definition over one long keystream.
#include "reference/chacha.h"

#include "tests/kernels/test_reference.h"

static void from_hex(const char *hex, uint8_t *out, size_t bytes) {
  assert_int_equal(strlen(hex), 2 * bytes);
  for (size_t i = 0; i < bytes; ++i) {
    const char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
    out[i] = (uint8_t)strtoul(pair, NULL, 16);
  }
}

static void assert_block(const char *key_hex, uint32_t counter, const char *nonce_hex, const char *block_hex) {
  uint8_t key[32], nonce[12], wanted[64], block[64];
  from_hex(key_hex, key, 32);
  from_hex(nonce_hex, nonce, 12);
  from_hex(block_hex, wanted, 64);
  hx_ref_chacha20_block(key, counter, nonce, block);
  assert_memory_equal(block, wanted, 64);
}

#define ZERO8 "00000000"
#define ZERO32 ZERO8 ZERO8 ZERO8 ZERO8 ZERO8 ZERO8 ZERO8 ZERO8

static void block_agrees_with_rfc_8439(void **state) {
  (void)state;
  // Section 2.3.2.
  assert_block("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", 1, "000000090000004a00000000",
               "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
               "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
  // Section 2.4.2, first block.
  assert_block("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", 1, "000000000000004a00000000",
               "224f51f3401bd9e12fde276fb8631ded8c131f823d2c06e27e4fcaec9ef3cf78"
               "8a3b0aa372600a92b57974cded2b9334794cba40c63e34cdea212c4cf07d41b7");
  // Appendix A.1, vectors 1 to 5.
  assert_block(ZERO32, 0, ZERO8 ZERO8 ZERO8,
               "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
               "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
  assert_block(ZERO32, 1, ZERO8 ZERO8 ZERO8,
               "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
               "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
  assert_block("0000000000000000000000000000000000000000000000000000000000000001", 1, ZERO8 ZERO8 ZERO8,
               "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
               "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0");
  assert_block("00ff000000000000000000000000000000000000000000000000000000000000", 2, ZERO8 ZERO8 ZERO8,
               "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
               "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096");
  assert_block(ZERO32, 0, "000000000000000000000002",
               "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
               "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d");
}

// The smallest prime 1 mod 2n of so many bits: nearly half of all masked words are refused.
static uint64_t prime_above(uint32_t log_n, uint32_t bits) {
  const uint64_t step = (uint64_t)2 << log_n;
  uint64_t q = (((uint64_t)1 << (bits - 1)) / step + 1) * step + 1;
  while (!is_prime(q)) q += step;
  return q;
}

static void expand_takes_the_first_fitting_word_of_each_element(void **state) {
  (void)state;
  static const struct {
    uint32_t log_n, word, bits, prime_id, index;
  } cases[] = {
      {3, 64, 61, 0, 0}, {4, 32, 31, 2, 7}, {6, 64, 40, 1, UINT32_MAX}, {10, 32, 30, 2, 3}, {11, 64, 60, 0, 1}};
  uint64_t seed_state = 12;
  for (size_t s = 0; s < COUNT_OF(cases); ++s)
    for (int above = 0; above < 2; ++above) {
      const uint32_t log_n = cases[s].log_n, id = cases[s].prime_id, word_bytes = cases[s].word / 8;
      const uint32_t others[] = {28, 27, 26};
      test_ring t;
      ring_describe(&t, log_n, cases[s].word, others, 3, 0, 1);
      t.primes[id] = above ? prime_above(log_n, cases[s].bits) : find_prime(log_n, cases[s].bits, NULL, 0);
      t.psi[id] = find_psi(t.primes[id], log_n);
      ring_open(&t);
      const uint64_t q = t.primes[id], mask = ((uint64_t)1 << cases[s].bits) - 1;
      uint8_t seed[32], nonce[12] = {0};
      for (int i = 0; i < 32; ++i) seed[i] = (uint8_t)random_word(&seed_state);
      for (int i = 0; i < 4; ++i) {
        nonce[i] = (uint8_t)(cases[s].index >> (8 * i));
        nonce[4 + i] = (uint8_t)(id >> (8 * i));
      }
      enum { ATTEMPTS = 60 };
      const size_t bytes = (size_t)ATTEMPTS * t.n * word_bytes;
      uint8_t *stream = malloc(bytes);
      uint64_t *row = row_make(t.n);
      assert_non_null(stream);
      for (uint32_t k = 0; k < bytes / 64; ++k) hx_ref_chacha20_block(seed, k, nonce, stream + (size_t)64 * k);
      hx_ref_row_expand_uniform(t.ring, id, seed, cases[s].index, row);
      uint32_t later = 0;
      for (uint32_t c = 0; c < t.n; ++c) {
        uint64_t value = q;
        for (uint32_t a = 0; a < ATTEMPTS && value >= q; ++a) {
          value = 0;
          for (uint32_t k = 0; k < word_bytes; ++k)
            value |= (uint64_t)stream[((size_t)a * t.n + c) * word_bytes + k] << (8 * k);
          value &= mask;
          later += a != 0;
        }
        assert_true(value < q);
        assert_true(row[c] == value);
      }
      if (above) assert_true(later != 0);
      free(stream);
      free(row);
      ring_free(&t);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_agrees_with_rfc_8439),
      cmocka_unit_test(expand_takes_the_first_fitting_word_of_each_element),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
