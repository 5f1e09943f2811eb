// SPDX-License-Identifier: Apache-2.0
// Text of programs: what parses prints to a text that parses to the same text, in every form; inference and copies
// of it end cleanly.
#include <stdlib.h>
#include <string.h>

#include "core/ir/ir.h"

static char *print(const hx_program_t *program, uint32_t flags) {
  char *text = NULL;
  if (hx_program_print(program, flags, &text, NULL) != HX_STATUS_OK) abort();
  return text;
}

static void check_round_trip(const hx_program_t *program, uint32_t flags) {
  char *text = print(program, flags);
  hx_program_t *again = NULL;
  if (hx_program_parse(hx_str(text), "printed", &again, NULL) != HX_STATUS_OK) abort();
  char *back = print(again, flags);
  if ((flags & HX_PRINT_SHORT) == 0 && strcmp(text, back) != 0) abort();
  hx_text_free(text);
  hx_text_free(back);
  hx_program_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hx_program_t *program = NULL;
  hx_report_t *report = hx_report_create();
  const hx_status_t status =
      hx_program_parse((hx_str_t){.data = (const char *)data, .size = size}, "fuzz", &program, report);
  // A refusal says why.
  if (status != HX_STATUS_OK && hx_report_count(report) == 0) abort();
  if (status == HX_STATUS_OK) {
    for (uint32_t flags = 0; flags < 4; ++flags) check_round_trip(program, flags);
    hx_program_t *clone = NULL;
    if (hx_program_clone(program, &clone) != HX_STATUS_OK) abort();
    // An inferred program is still a program.
    if (hx_program_infer(clone, NULL, report) == HX_STATUS_OK && hx_program_verify(clone, report) != HX_STATUS_OK)
      abort();
    check_round_trip(clone, 0);
    hx_program_release(clone);
  }
  hx_program_release(program);
  hx_report_release(report);
  return 0;
}
