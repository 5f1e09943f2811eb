// SPDX-License-Identifier: Apache-2.0
// Records of runs: no text makes the reader fail.
#include "heliox/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  hx_report_t *report = hx_report_create();
  hx_record_t *record = NULL;
  if (hx_record_parse((hx_str_t){.data = (const char *)bytes, .size = size}, "fuzz", &record, report) == HX_STATUS_OK)
    hx_record_release(record);
  hx_report_release(report);
  return 0;
}
