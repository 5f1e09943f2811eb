// SPDX-License-Identifier: Apache-2.0
// Known answers: what a device computes is compared with the reference before it is used for the first time.
#ifndef HELIOX_CORE_BACKEND_SELF_TEST_H
#define HELIOX_CORE_BACKEND_SELF_TEST_H

#include "core/backend/device.h"
#include "reference/reference.h"

#define HX_SELF_TEST_PRIMES 6

typedef struct hx_self_test_result {
  uint32_t tested;   // declared rows that gave the right answer
  uint32_t skipped;  // declared rows without a known answer, or that do not take its form
  bool cached;       // an earlier run has passed; nothing was computed
} hx_self_test_result_t;

// Products at all q-1, transforms and changes of basis over the declared rows of the device's plugin, each at the top
// of its range of primes. Refused (self-test) at the first wrong residue: operation, prime, index, expected, found.
// A pass is remembered by library digest, declared rows, driver and device: in the process, and below the user's cache
// directory unless the process is privileged. `force` computes in any case. One thread at a time computes.
hx_status_t hx_device_self_test(hx_opened_device_t *device, bool force, hx_self_test_result_t *out,
                                hx_report_t *report);

// ---- between the files of the self-test

// What decides about the ring that a declared row is tested on. No padding: compared as bytes.
typedef struct hx_self_test_choice {
  uint32_t log_n, word;
  uint64_t primes[HX_SELF_TEST_PRIMES];  // 0 after the last one
} hx_self_test_choice_t;

typedef struct hx_self_test_ring {
  hx_self_test_choice_t choice;
  hx_ring ring;
  uint64_t primes[HX_SELF_TEST_PRIMES], psi[HX_SELF_TEST_PRIMES];
  uint32_t groups[HX_SELF_TEST_PRIMES];
  uint32_t ids[HX_SELF_TEST_PRIMES];  // 0, 1, 2, ...
} hx_self_test_ring_t;

// The row's largest primes and its smallest, N = 2^8 where the row takes it. false: fewer than three primes fit.
bool hx_self_test_choose(const hx_manifest_operation_t *row, uint32_t word, hx_self_test_choice_t *out);
void hx_self_test_ring(const hx_self_test_choice_t *choice, hx_self_test_ring_t *out);

// What a pass is remembered by: a text that holds everything that may change the answers.
hx_status_t hx_self_test_key(const hx_opened_device_t *device, hx_text_t *out);
bool hx_self_test_is_known(const char *key);
// Failing to write is no error: the test runs again then.
void hx_self_test_remember(const char *key);
// Tests: forgets what the process knows.
void hx_self_test_forget(void);

#endif
