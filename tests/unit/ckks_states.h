// SPDX-License-Identifier: Apache-2.0
// States of ciphertexts and plaintexts under ring a, for tables of calls.
#ifndef HELIOX_TESTS_CKKS_STATES_H
#define HELIOX_TESTS_CKKS_STATES_H

#define STATE(components_, depth_, scale_, primes_, domain_)                                                  \
  "<batch = [], components = " components_ ", depth = " depth_ ", scale = \"" scale_ "\", primes = [" primes_ \
  "], basis = Q, domain = " domain_ ", repr = standard, slots = 8>"
#define Q0 "0, 1, 2, 3, 4, 5"
#define Q1 "0, 1, 2, 3, 4"
#define Q2 "0, 1, 2, 3"
#define CT0 "!ckks.ciphertext" STATE("2", "0", "2^50", Q0, "ntt")
#define CT0_SQUARE "!ckks.ciphertext" STATE("2", "0", "2^100", Q0, "ntt")
#define CT0_THREE "!ckks.ciphertext" STATE("3", "0", "2^100", Q0, "ntt")
#define CT0_COEFFICIENT "!ckks.ciphertext" STATE("2", "0", "2^50", Q0, "coefficient")
#define CT1 "!ckks.ciphertext" STATE("2", "1", "2^100*q5^-1", Q1, "ntt")
#define CT5 "!ckks.ciphertext" STATE("2", "5", "2^50", "0", "ntt")
#define PT0 "!ckks.plaintext" STATE("1", "0", "2^50", Q0, "ntt")
#define PT0_LARGE "!ckks.plaintext" STATE("1", "0", "2^60", Q0, "ntt")
#define PT0_COEFFICIENT "!ckks.plaintext" STATE("1", "0", "2^50", Q0, "coefficient")
#define PT1 "!ckks.plaintext" STATE("1", "1", "2^50", Q1, "ntt")
#define PQ0                                                                                                            \
  "!ckks.plaintext<batch = [], components = 1, depth = 0, scale = \"2^50\", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis " \
  "= QP, domain "                                                                                                      \
  "= ntt, repr = standard, slots = 8>"
#define PQ0_LARGE                                                                                                      \
  "!ckks.plaintext<batch = [], components = 1, depth = 0, scale = \"2^60\", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis " \
  "= QP, domain "                                                                                                      \
  "= ntt, repr = standard, slots = 8>"
#define RELIN "!ckks.key<kind = relin>"
#define CONJ "!ckks.key<kind = conj>"
#define SWITCH "!ckks.key<kind = switch>"
#define GALOIS(element_) "!ckks.key<kind = galois, element = " element_ ">"

#endif
