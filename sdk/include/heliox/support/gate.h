// SPDX-License-Identifier: Apache-2.0
// What every queue keeps: that one caller at a time is inside, and the first failure that came late.
#ifndef HELIOX_SUPPORT_GATE_H
#define HELIOX_SUPPORT_GATE_H

#include <stdbool.h>

#include "heliox/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Who is inside a queue, and what failed late.
typedef struct hxs_gate {
  unsigned char busy;    // taken and given by __atomic_test_and_set, __atomic_clear
  int32_t failed;        // code of the first late failure; HX_OK: none
  uint32_t failed_call;  // number of the execute since the last sync, or HX_NONE
  uint32_t calls;        // executes since the last sync
  char message[240];     // of the first late failure
} hxs_gate;

// All [A]; a zeroed gate is open. After HX_OK of enter and hold, hxs_gate_leave must follow.
// HX_BUSY while another call is inside; the late failure where there is one (error->op is its call).
int32_t hxs_gate_enter(hxs_gate *gate, hx_error *error);
// The same without a look at failures: for sync and reset.
int32_t hxs_gate_hold(hxs_gate *gate, hx_error *error);
// Lets the next call in.
void hxs_gate_leave(hxs_gate *gate);

// Inside. Work that was accepted has failed, so what follows it must not run; later failures do not replace the first.
void hxs_gate_poison(hxs_gate *gate, int32_t code, const char *message);
// HX_OK, or the late failure, which stays.
int32_t hxs_gate_failure(const hxs_gate *gate, hx_error *error);
// The same for sync: calls are counted from 0 again.
int32_t hxs_gate_report(hxs_gate *gate, hx_error *error);
// Forgets the failure.
void hxs_gate_reset(hxs_gate *gate);

#ifdef __cplusplus
}
#endif

#endif
