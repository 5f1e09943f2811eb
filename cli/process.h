// SPDX-License-Identifier: Apache-2.0
#ifndef HELIOX_CLI_PROCESS_H
#define HELIOX_CLI_PROCESS_H

#include "heliox/base.h"

#define CLI_PROCESS_ARGUMENTS_MAX 32

// One finished child.
typedef struct cli_process {
  int exit_code;  // 128 + signal where it was killed
  double wall_ms;
  double peak_mib;     // largest resident size
  char output[32768];  // what it wrote to standard output, cut
} cli_process_t;

// Runs this very program with arguments (NULL-terminated, without the program's name) in a directory, and waits.
// Standard error goes to the caller's. io fault if it cannot be started.
hx_status_t cli_process_run(const char *directory, const char *const *arguments, cli_process_t *out,
                            hx_report_t *report);

#endif
