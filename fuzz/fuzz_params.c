// SPDX-License-Identifier: Apache-2.0
// Parameter texts: no input may crash or hang, what is accepted must read back from its own canonical text as the same
// set, and what is refused must say why.
#include <stdlib.h>
#include <string.h>

#include "core/ckks/params.h"

static void check(hx_str_t text, uint32_t flags) {
  hx_params_t *params = NULL, *again = NULL;
  hx_report_t *report = hx_report_create();
  if (report == NULL) return;
  if (hx_params_parse(text, "fuzz", flags, &params, report) != HX_STATUS_OK) {
    if (params != NULL || hx_report_count(report) == 0) abort();
  } else {
    if ((flags & HX_PARAMS_INSECURE) == 0 && hx_params_is_insecure(params)) abort();
    if (hx_params_parse(hx_str(hx_params_json(params)), "again", flags, &again, NULL) != HX_STATUS_OK) abort();
    if (!hx_params_same(params, again) || strcmp(hx_params_json(params), hx_params_json(again)) != 0) abort();
    hx_params_release(again);
    hx_params_release(params);
  }
  hx_report_release(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const hx_str_t text = {.data = (const char *)data, .size = size};
  check(text, 0);
  check(text, HX_PARAMS_INSECURE);
  return 0;
}
