// SPDX-License-Identifier: Apache-2.0
// Tables of measured costs: whatever is read is written and read again alike.
#include "core/passes/costs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hx_report_t *report = hx_report_create();
  hx_costs_t *costs = hx_costs_create();
  if (report != NULL && costs != NULL) {
    const hx_str_t text = {.data = (const char *)data, .size = size};
    if (hx_costs_parse(costs, text, "fuzz", report) == HX_STATUS_OK) {
      for (size_t i = 0; i < hx_costs_count(costs); ++i) {
        const hx_cost_t *row = hx_costs_get(costs, i);
        if (hx_costs_use(costs, row->device, row->digest) != HX_STATUS_OK) break;
        if (hx_costs_find(costs, row->operation, row->shape, row->candidate) != row->nanoseconds) __builtin_trap();
      }
    }
  }
  hx_costs_release(costs);
  hx_report_release(report);
  return 0;
}
