// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/gate.h"

#include <stdio.h>

#include "heliox/support/error.h"

int32_t hxs_gate_hold(hxs_gate *gate, hx_error *error) {
  if (__atomic_test_and_set(&gate->busy, __ATOMIC_ACQUIRE)) {
    return hxs_fail(error, HX_BUSY, "another call is inside this queue; a queue serves one caller at a time");
  }
  return HX_OK;
}

void hxs_gate_leave(hxs_gate *gate) { __atomic_clear(&gate->busy, __ATOMIC_RELEASE); }

int32_t hxs_gate_failure(const hxs_gate *gate, hx_error *error) {
  if (gate->failed == HX_OK) {
    return HX_OK;
  }
  const int32_t code = hxs_fail(error, gate->failed, "%s; the queue takes no work until it is reset", gate->message);
  if (error != NULL && error->struct_size >= HX_END_OF(hx_error, op)) {
    error->op = gate->failed_call;
  }
  return code;
}

int32_t hxs_gate_enter(hxs_gate *gate, hx_error *error) {
  HXS_TRY(hxs_gate_hold(gate, error));
  const int32_t code = hxs_gate_failure(gate, error);
  if (code != HX_OK) {
    hxs_gate_leave(gate);
  }
  return code;
}

void hxs_gate_poison(hxs_gate *gate, int32_t code, const char *message) {
  if (gate->failed == HX_OK) {
    gate->failed = code;
    gate->failed_call = gate->calls > 0 ? gate->calls - 1 : HX_NONE;
    snprintf(gate->message, sizeof gate->message, "%s", message);
  }
}

int32_t hxs_gate_report(hxs_gate *gate, hx_error *error) {
  gate->calls = 0;
  return hxs_gate_failure(gate, error);
}

void hxs_gate_reset(hxs_gate *gate) {
  gate->failed = HX_OK;
  gate->calls = 0;
  gate->message[0] = 0;
}
