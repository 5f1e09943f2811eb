// SPDX-License-Identifier: Apache-2.0
#ifndef HELIOX_CLI_WATCH_H
#define HELIOX_CLI_WATCH_H

#include "cli/cli.h"

typedef struct cli_watch {
  bool shows;  // standard error is a terminal that wants to see it
  int last;    // percent shown, -1: nothing yet
} cli_watch_t;

// From here to the end SIGINT and SIGTERM are noted instead of ending the program; a second one ends it. One watch at a
// time.
void cli_watch_begin(cli_watch_t *watch, const cli_t *cli);
// For hx_run_options_t, with the watch as argument.
bool cli_watch_cancelled(void *argument);
void cli_watch_progress(void *argument, uint64_t done, uint64_t total);
// Clears the line; returns the signal that came, or 0. Who has cleaned up raises it again.
int cli_watch_end(cli_watch_t *watch);

// hx_keys_load with a progress bar; Ctrl-C ends the program, which holds nothing then but memory.
hx_status_t cli_load_keys(cli_t *cli, const char *directory, uint32_t parts, hx_keys_t **out);

#endif
