// SPDX-License-Identifier: Apache-2.0
// What the two files of row arithmetic share.
#ifndef HELIOX_CORE_CKKS_ROWS_INTERNAL_H
#define HELIOX_CORE_CKKS_ROWS_INTERNAL_H

#include "core/ckks/rows.h"

typedef enum hx_row_kind {
  HX_ROW_FORWARD,
  HX_ROW_INVERSE,
  HX_ROW_ADD,
  HX_ROW_SUB,
  HX_ROW_MUL,
  HX_ROW_MUL_ADD,
  HX_ROW_MUL_SCALAR,
  HX_ROW_LIFT,
  HX_ROW_KIND_COUNT
} hx_row_kind_t;

#define HX_ROW_OPERANDS_MAX 3

// One operation: on rows of prime `id`; `from` of LIFT, `scalar` of MUL_SCALAR, else 0.
typedef struct hx_row_call {
  hx_row_kind_t kind;
  uint32_t id, from;
  uint64_t scalar;
  uint32_t operand_count;
  hx_row_t operands[HX_ROW_OPERANDS_MAX], out;
} hx_row_call_t;

struct hx_row_session {
  hx_row_session_t *next;  // idle
  hx_rows_t *rows;
  hx_storage_t *scratch;
  uint32_t count;
  hx_queue *queue;  // with a plugin
  hx_storage_t *plugin_scratch;
  bool is_pending;  // work of the queue is not waited for
  hx_status_t status;
};

// NULL in *out where the backend's first device does not work on host memory in place.
hx_status_t hx_row_plugin_create(const hx_params_t *params, const hx_backend_t *backend, struct hx_row_plugin **out,
                                 hx_report_t *report);
void hx_row_plugin_release(struct hx_row_plugin *plugin);
hx_status_t hx_row_plugin_open(struct hx_row_plugin *plugin, hx_row_session_t *session);
void hx_row_plugin_close(struct hx_row_plugin *plugin, hx_row_session_t *session);
// False where the plugin does not have this operation for secrets: reference/ does it. A failure goes to the session.
bool hx_row_plugin_run(struct hx_row_plugin *plugin, hx_row_session_t *session, const hx_row_call_t *call);
void hx_row_plugin_wait(struct hx_row_plugin *plugin, hx_row_session_t *session);

#endif
