// SPDX-License-Identifier: Apache-2.0
// Sequences of collectives as other ranks send them: the input is cut at each byte 0 into the texts of up to 8 ranks,
// which are compared. A refusal says why, and the same texts end alike.
#include <stdlib.h>
#include <string.h>

#include "heliox/shard.h"

#define RANKS_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  const char *texts[RANKS_MAX];
  size_t count = 0;
  if (text == NULL) return 0;
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  for (char *at = text; count < RANKS_MAX && at <= text + size; at += strlen(at) + 1) texts[count++] = at;
  hx_report_t *report = hx_report_create(), *again = hx_report_create();
  const hx_status_t status = hx_collectives_compare(texts, count, report);
  if (status != HX_STATUS_OK && hx_report_count(report) == 0) abort();
  if (hx_collectives_compare(texts, count, again) != status) abort();
  if (status != HX_STATUS_OK && strcmp(hx_report_get(report, 0)->text, hx_report_get(again, 0)->text) != 0) abort();
  hx_report_release(report);
  hx_report_release(again);
  free(text);
  return 0;
}
