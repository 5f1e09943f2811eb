// SPDX-License-Identifier: Apache-2.0
// Arithmetic on rows of one prime, where secrets may go: on a plugin that declares `secrets`, for each operation that
// it has, else on reference/. Both are exact, so the bits do not depend on which. Encoding, encryption, decryption and
// key generation are written over this, prime by prime, so that what one prime needs stays in the cache.
//
// A row is N words in host memory, in the ring's residue word (or signed 64-bit words, where a line says so).
#ifndef HELIOX_CORE_CKKS_ROWS_H
#define HELIOX_CORE_CKKS_ROWS_H

#include <pthread.h>

#include "core/ckks/params.h"
#include "core/tensor/tensor.h"
#include "heliox/plugins.h"

// What computes for one parameter set. Any number of sessions at once.
typedef struct hx_rows {
  hx_params_t *params;  // retained
  const hx_ref_ring *reference;
  struct hx_row_plugin *plugin;  // NULL: reference/ alone
  pthread_mutex_t lock;          // of idle
  struct hx_row_session *idle;   // sessions to be used again
} hx_rows_t;

// In the caller's storage. backend: its first device is used where it works on host memory; NULL: reference/ alone.
hx_status_t hx_rows_init(hx_rows_t *rows, const hx_params_t *params, const hx_backend_t *backend, hx_report_t *report);
void hx_rows_deinit(hx_rows_t *rows);

// A place in memory: the row at `offset` bytes of a storage of host memory.
typedef struct hx_row {
  hx_storage_t *storage;
  uint64_t offset;
} hx_row_t;

static inline void *hx_row_address(hx_row_t row) { return (char *)row.storage->address + row.offset; }
// Row of a tensor.
static inline hx_row_t hx_row_of(const hx_tensor_t *tensor, uint64_t item, uint32_t digit, uint32_t component,
                                 uint32_t limb) {
  const char *address = hx_tensor_row(tensor, item, digit, component, limb);
  return (hx_row_t){tensor->storage, (uint64_t)(address - (const char *)tensor->storage->address)};
}

// Scratch rows and the state of one computation; one thread at a time. After a failure nothing more is computed, and
// hx_rows_close tells it.
typedef struct hx_row_session hx_row_session_t;
// `count` scratch rows of 64-bit words, secret, not cleared. NULL: out of memory.
hx_row_session_t *hx_rows_open(const hx_rows_t *rows, uint32_t count);
// Wipes the scratch rows. The first failure of the session.
hx_status_t hx_rows_close(hx_row_session_t *session);
const hx_rows_t *hx_row_session_rows(const hx_row_session_t *session);
hx_row_t hx_row_scratch(const hx_row_session_t *session, uint32_t index);

// out may be an operand exactly. Residues in [0, q) of prime `id`.
void hx_row_forward(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t out);
void hx_row_inverse(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t out);
void hx_row_add(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t b, hx_row_t out);
void hx_row_sub(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t b, hx_row_t out);
void hx_row_mul(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t b, hx_row_t out);
// acc + a * b
void hx_row_mul_add(hx_row_session_t *session, uint32_t id, hx_row_t acc, hx_row_t a, hx_row_t b, hx_row_t out);
// Times a public constant below q.
void hx_row_mul_scalar(hx_row_session_t *session, uint32_t id, hx_row_t a, uint64_t scalar, hx_row_t out);
// Residues of `from`, centred, mod `id`. out is not a.
void hx_row_lift(hx_row_session_t *session, uint32_t from, hx_row_t a, uint32_t id, hx_row_t out);
// Signed 64-bit words below 2^62 in magnitude, mod q. out is not a.
void hx_row_lift_signed(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t out);
// Small signed numbers to signed 64-bit words.
void hx_row_widen(const int8_t *small, uint32_t n, hx_row_t out);
// Waits until what was asked for is in memory: before the caller reads or writes rows itself.
void hx_row_wait(hx_row_session_t *session);

#endif
