// SPDX-License-Identifier: Apache-2.0
// Text of programs: what parses prints to a text that parses to the same text, in every form; copies, inference and
// passes of it end cleanly and leave programs.
#include <stdlib.h>
#include <string.h>

#include "core/passes/passes.h"

// The smallest ring, with a group of two primes.
static const char parameters[] =
    "{\"log_n\":3,\"word\":64,\"base\":[\"1073741441\"],\"groups\":[[\"1073741329\",\"1073740609\"],[\"1073740529\"]],"
    "\"special\":[\"1073740177\",\"1073740049\"],\"digits\":2,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^"
    "20\"}";

static const hx_ring *ring(void) {
  static hx_params_t *params;
  if (params == NULL && hx_params_parse(hx_str(parameters), "fuzz", HX_PARAMS_INSECURE, &params, NULL) != HX_STATUS_OK)
    abort();
  return hx_params_ring(params);
}

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

// A pass refuses, or leaves a program; it never breaks one.
static void check_pass(const hx_program_t *program, const char *pipeline, const hx_ring *with) {
  hx_program_t *clone = NULL;
  if (hx_program_clone(program, &clone) != HX_STATUS_OK) abort();
  const hx_pass_env_t env = {.ring = with, .report = hx_report_create()};
  const hx_status_t status = hx_pipeline_run(clone, pipeline, &env);
  if (status == HX_STATUS_INTERNAL || (status != HX_STATUS_OK && hx_report_count(env.report) == 0)) abort();
  if (status == HX_STATUS_OK) check_round_trip(clone, 0);
  hx_report_release(env.report);
  hx_program_release(clone);
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
    check_pass(program, "infer-state", NULL);
    check_pass(program, "dve,cse", NULL);
    check_pass(program, "infer-state,resolve-keys,lower,infer-state", ring());
  }
  hx_program_release(program);
  hx_report_release(report);
  return 0;
}
