// SPDX-License-Identifier: Apache-2.0
// HEIR's generic form: what is read is a program that verifies, prints and parses again.
#include "heliox/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hx_report_t *report = hx_report_create();
  hx_import_t *import = NULL;
  const hx_str_t text = {.data = (const char *)data, .size = size};
  if (report != NULL && hx_import_heir(text, "fuzz", NULL, &import, report) == HX_STATUS_OK) {
    char *printed = NULL;
    hx_program_t *again = NULL;
    if (hx_program_print(hx_import_program(import), 0, &printed, report) == HX_STATUS_OK &&
        hx_program_parse(hx_str(printed), "again", &again, report) != HX_STATUS_OK) {
      __builtin_trap();
    }
    hx_program_release(again);
    hx_text_free(printed);
  } else if (report != NULL && hx_report_count(report) == 0) {
    __builtin_trap();  // refused without a word
  }
  hx_import_release(import);
  hx_report_release(report);
  return 0;
}
