// SPDX-License-Identifier: Apache-2.0
// Lockfiles: what parses has ascending ids that are found again; what does not parse has a fault.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/lock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hx_report_t *report = hx_report_create();
  hx_lock_t *lock = NULL;
  const hx_status_t status = hx_lock_parse((hx_str_t){(const char *)data, size}, "input", &lock, report);
  if ((status == HX_STATUS_OK) != (hx_report_count(report) == 0)) abort();
  for (size_t i = 0; status == HX_STATUS_OK && i < lock->count; ++i) {
    if (hx_lock_find(lock, lock->entries[i].id) != &lock->entries[i]) abort();
    if (strlen(lock->entries[i].library) != 64) abort();
  }
  if (status == HX_STATUS_OK) hx_lock_release(lock);
  hx_report_release(report);
  return 0;
}
