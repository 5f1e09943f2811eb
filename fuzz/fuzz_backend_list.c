// SPDX-License-Identifier: Apache-2.0
// Lists of plugins: what parses stays within its bounds and is said by its entries alone.
#include <stdlib.h>
#include <string.h>

#include "core/backend/backend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *list = malloc(size + 1);
  if (list == NULL) return 0;
  if (size > 0) memcpy(list, data, size);
  list[size] = '\0';
  hx_backend_entry_t entries[HX_BACKEND_ENTRIES_MAX];
  size_t count = 0;
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_backend_parse_list(list, entries, &count, report);
  if (status == HX_STATUS_OK && (count == 0 || count > HX_BACKEND_ENTRIES_MAX)) abort();
  if (status != HX_STATUS_OK && hx_report_count(report) != 1) abort();
  for (size_t i = 0; status == HX_STATUS_OK && i < count; ++i) {
    const size_t name_size = strlen(entries[i].name);
    if (name_size == 0 || strchr(entries[i].name, ',') != NULL || strchr(entries[i].name, ':') != NULL) abort();
    if (entries[i].index > 9999) abort();
    for (size_t k = 0; k < i; ++k) {
      if (strcmp(entries[i].name, entries[k].name) == 0) abort();
    }
  }
  hx_report_release(report);
  free(list);
  return 0;
}
