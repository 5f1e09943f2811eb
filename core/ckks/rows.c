// SPDX-License-Identifier: Apache-2.0
// Sessions, and rows on reference/.
#include "core/ckks/encode_kernels.h"
#include "core/ckks/rows_internal.h"

hx_status_t hx_rows_init(hx_rows_t *rows, const hx_params_t *params, const hx_backend_t *backend, hx_report_t *report) {
  *rows = (hx_rows_t){0};
  HX_TRY(hx_params_reference(params, &rows->reference, report));
  if (backend != NULL) HX_TRY(hx_row_plugin_create(params, backend, &rows->plugin, report));
  rows->params = hx_params_retain(params);
  (void)pthread_mutex_init(&rows->lock, NULL);
  return HX_STATUS_OK;
}

static void session_release(hx_row_session_t *session) {
  if (session->rows->plugin != NULL) hx_row_plugin_close(session->rows->plugin, session);
  if (session->scratch != NULL) hx_storage_release(session->scratch);
  hx_free(session);
}

void hx_rows_deinit(hx_rows_t *rows) {
  if (rows->params == NULL) return;
  while (rows->idle != NULL) {
    hx_row_session_t *next = rows->idle->next;
    session_release(rows->idle);
    rows->idle = next;
  }
  if (rows->plugin != NULL) hx_row_plugin_release(rows->plugin);
  (void)pthread_mutex_destroy(&rows->lock);
  hx_params_release(rows->params);
  *rows = (hx_rows_t){0};
}

static uint64_t row_bytes(const hx_rows_t *rows) { return (uint64_t)sizeof(uint64_t) << hx_params_log_n(rows->params); }

static hx_row_session_t *take_idle(hx_rows_t *rows) {
  (void)pthread_mutex_lock(&rows->lock);
  hx_row_session_t *session = rows->idle;
  if (session != NULL) rows->idle = session->next;
  (void)pthread_mutex_unlock(&rows->lock);
  return session;
}

hx_row_session_t *hx_rows_open(const hx_rows_t *shared, uint32_t count) {
  hx_rows_t *rows = (hx_rows_t *)(uintptr_t)shared;  // sessions change its list of idle ones alone
  hx_row_session_t *session = take_idle(rows);
  if (session == NULL) {
    session = hx_zalloc(1, sizeof *session);
    if (session == NULL) return NULL;
    session->rows = rows;
    if (rows->plugin != NULL && hx_row_plugin_open(rows->plugin, session) != HX_STATUS_OK) {
      session_release(session);
      return NULL;
    }
  }
  if (session->count < count) {
    if (session->scratch != NULL) hx_storage_release(session->scratch);
    session->scratch = hx_storage_create(count * row_bytes(rows), true);
    session->count = session->scratch == NULL ? 0 : count;
    if (session->scratch == NULL) {
      session_release(session);
      return NULL;
    }
  }
  session->status = HX_STATUS_OK;
  return session;
}

hx_status_t hx_rows_close(hx_row_session_t *session) {
  hx_row_wait(session);
  const hx_status_t status = session->status;
  if (session->scratch != NULL) hx_wipe(session->scratch->address, session->scratch->bytes);
  hx_rows_t *rows = session->rows;
  (void)pthread_mutex_lock(&rows->lock);
  session->next = rows->idle;
  rows->idle = session;
  (void)pthread_mutex_unlock(&rows->lock);
  return status;
}

const hx_rows_t *hx_row_session_rows(const hx_row_session_t *session) { return session->rows; }

hx_row_t hx_row_scratch(const hx_row_session_t *session, uint32_t index) {
  return (hx_row_t){session->scratch, index * row_bytes(session->rows)};
}

void hx_row_wait(hx_row_session_t *session) {
  if (!session->is_pending) return;
  session->is_pending = false;
  hx_row_plugin_wait(session->rows->plugin, session);
}

// ------------------------------------------------------------------ on reference/

static void compute(const hx_ref_ring *ring, const hx_row_call_t *call, const uint64_t *const *in, uint64_t *out) {
  const uint32_t id = call->id;
  switch (call->kind) {
    case HX_ROW_FORWARD:
    case HX_ROW_INVERSE:
      if (in[0] != out) hx_ref_row_load(ring, HX_U64, in[0], out);
      if (call->kind == HX_ROW_FORWARD) hx_ref_ntt_forward(ring, id, out);
      if (call->kind == HX_ROW_INVERSE) hx_ref_ntt_inverse(ring, id, out);
      break;
    case HX_ROW_ADD:
      hx_ref_row_add(ring, id, in[0], in[1], out);
      break;
    case HX_ROW_SUB:
      hx_ref_row_sub(ring, id, in[0], in[1], out);
      break;
    case HX_ROW_MUL:
      hx_ref_row_mul(ring, id, in[0], in[1], out);
      break;
    case HX_ROW_MUL_ADD:
      hx_ref_row_mul_add(ring, id, in[0], in[1], in[2], out);
      break;
    case HX_ROW_MUL_SCALAR:
      hx_ref_row_mul_scalar(ring, id, in[0], call->scalar, out);
      break;
    case HX_ROW_LIFT:
      hx_ref_row_center_lift(ring, call->from, in[0], id, out);
      break;
    case HX_ROW_KIND_COUNT:
      break;
  }
}

// In 32-bit words: by way of 64-bit rows.
static hx_status_t compute_narrow(const hx_ref_ring *ring, const hx_row_call_t *call) {
  const size_t n = hx_ref_ring_degree(ring);
  const size_t words = n * (call->operand_count + 1);
  uint64_t *block = hx_alloc(words * sizeof *block);
  if (block == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const uint64_t *in[HX_ROW_OPERANDS_MAX];
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    in[i] = block + i * n;
    hx_ref_row_load(ring, HX_U32, hx_row_address(call->operands[i]), block + i * n);
  }
  uint64_t *out = block + call->operand_count * n;
  compute(ring, call, in, out);
  hx_ref_row_store(ring, HX_U32, out, hx_row_address(call->out));
  hx_wipe(block, words * sizeof *block);
  hx_free(block);
  return HX_STATUS_OK;
}

static void run(hx_row_session_t *session, const hx_row_call_t *call) {
  const hx_rows_t *rows = session->rows;
  if (session->status != HX_STATUS_OK) return;
  if (rows->plugin != NULL && hx_row_plugin_run(rows->plugin, session, call)) return;
  hx_row_wait(session);
  if (session->status != HX_STATUS_OK) return;
  if (hx_params_word(rows->params) == 32) {
    session->status = compute_narrow(rows->reference, call);
    return;
  }
  const uint64_t *in[HX_ROW_OPERANDS_MAX] = {NULL};
  for (uint32_t i = 0; i < call->operand_count; ++i) in[i] = hx_row_address(call->operands[i]);
  compute(rows->reference, call, in, hx_row_address(call->out));
}

// ------------------------------------------------------------------ operations

static void unary(hx_row_session_t *session, hx_row_kind_t kind, uint32_t id, hx_row_t a, hx_row_t out) {
  run(session, &(hx_row_call_t){.kind = kind, .id = id, .operand_count = 1, .operands = {a}, .out = out});
}

static void binary(hx_row_session_t *session, hx_row_kind_t kind, uint32_t id, hx_row_t a, hx_row_t b, hx_row_t out) {
  run(session, &(hx_row_call_t){.kind = kind, .id = id, .operand_count = 2, .operands = {a, b}, .out = out});
}

void hx_row_forward(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t out) {
  unary(session, HX_ROW_FORWARD, id, a, out);
}

void hx_row_inverse(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t out) {
  unary(session, HX_ROW_INVERSE, id, a, out);
}

void hx_row_add(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t b, hx_row_t out) {
  binary(session, HX_ROW_ADD, id, a, b, out);
}

void hx_row_sub(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t b, hx_row_t out) {
  binary(session, HX_ROW_SUB, id, a, b, out);
}

void hx_row_mul(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t b, hx_row_t out) {
  binary(session, HX_ROW_MUL, id, a, b, out);
}

void hx_row_mul_add(hx_row_session_t *session, uint32_t id, hx_row_t acc, hx_row_t a, hx_row_t b, hx_row_t out) {
  run(session,
      &(hx_row_call_t){.kind = HX_ROW_MUL_ADD, .id = id, .operand_count = 3, .operands = {acc, a, b}, .out = out});
}

void hx_row_mul_scalar(hx_row_session_t *session, uint32_t id, hx_row_t a, uint64_t scalar, hx_row_t out) {
  run(session,
      &(hx_row_call_t){
          .kind = HX_ROW_MUL_SCALAR, .id = id, .scalar = scalar, .operand_count = 1, .operands = {a}, .out = out});
}

void hx_row_lift(hx_row_session_t *session, uint32_t from, hx_row_t a, uint32_t id, hx_row_t out) {
  run(session,
      &(hx_row_call_t){.kind = HX_ROW_LIFT, .id = id, .from = from, .operand_count = 1, .operands = {a}, .out = out});
}

// By the library's own vector code, which no plugin beats: words that were just made here, once over them.
void hx_row_lift_signed(hx_row_session_t *session, uint32_t id, hx_row_t a, hx_row_t out) {
  const hx_ring *ring = hx_params_ring(session->rows->params);
  const size_t n = (size_t)1 << ring->log_n;
  hx_row_wait(session);
  if (session->status != HX_STATUS_OK) return;
  if (ring->word == 32) {
    hx_encode_kernels()->reduce32(hx_row_address(a), n, ring->primes[id], hx_row_address(out));
  } else {
    hx_encode_kernels()->reduce(hx_row_address(a), n, ring->primes[id], hx_row_address(out));
  }
}

void hx_row_widen(const int8_t *small, uint32_t n, hx_row_t out) {
  int64_t *words = hx_row_address(out);
  for (uint32_t k = 0; k < n; ++k) words[k] = small[k];
}
