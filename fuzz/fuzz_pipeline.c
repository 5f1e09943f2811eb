// SPDX-License-Identifier: Apache-2.0
// Text of pipelines over a small program.
#include <stdlib.h>
#include <string.h>

#include "core/passes/passes.h"

static const char source[] =
    "\"func.func\"() ({\n^entry(%x: !ckks.ciphertext<>):\n%y = \"ckks.neg\"(%x) : (!ckks.ciphertext<>) -> "
    "!ckks.ciphertext<>\n"
    "\"func.return\"(%x) : (!ckks.ciphertext<>) -> ()\n}) {sym_name = \"main\", function_type = (!ckks.ciphertext<>) "
    "-> "
    "!ckks.ciphertext<>} : () -> ()\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  hx_program_t *program = NULL;
  if (hx_program_parse(hx_str(source), "source", &program, NULL) != HX_STATUS_OK) abort();
  const hx_pass_env_t env = {.report = hx_report_create()};
  const hx_status_t status = hx_pipeline_run(program, text, &env);
  // A refusal says why; whatever ran left a program.
  if (status != HX_STATUS_OK && hx_report_count(env.report) == 0) abort();
  if (hx_program_verify(program, NULL) != HX_STATUS_OK) abort();
  hx_report_release(env.report);
  hx_program_release(program);
  free(text);
  return 0;
}
