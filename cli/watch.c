// SPDX-License-Identifier: Apache-2.0
// Long work on the command line: Ctrl-C asks it to stop, a terminal sees how far it is.
#include "cli/watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static struct sigaction before_int, before_term;

static void note_signal(int number) { interrupted = number; }

// One time is enough: the second Ctrl-C ends the program as ever.
void cli_watch_begin(cli_watch_t *watch, const cli_t *cli) {
  *watch = (cli_watch_t){.shows = !cli->quiet && !cli->json && isatty(STDERR_FILENO) == 1, .last = -1};
  struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  interrupted = 0;
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
}

bool cli_watch_cancelled(void *argument) {
  (void)argument;
  return interrupted != 0;
}

void cli_watch_progress(void *argument, uint64_t done, uint64_t total) {
  enum { WIDTH = 40 };
  cli_watch_t *watch = argument;
  const int percent = total == 0 ? 0 : (int)(100.0 * (double)done / (double)total);
  if (!watch->shows || percent == watch->last) return;
  watch->last = percent;
  char bar[WIDTH + 1];
  const int filled = percent * WIDTH / 100;
  memset(bar, '#', (size_t)filled);
  memset(bar + filled, ' ', (size_t)(WIDTH - filled));
  bar[WIDTH] = '\0';
  fprintf(stderr, "\r%s%s[%s] %3d%%", strcmp(cli_speaker(), "heliox") == 0 ? "" : cli_speaker(),
          strcmp(cli_speaker(), "heliox") == 0 ? "" : " ", bar, percent);
}

int cli_watch_end(cli_watch_t *watch) {
  if (watch->shows && watch->last >= 0) fprintf(stderr, "\r%*s\r", 48, "");
  sigaction(SIGINT, &before_int, NULL);
  sigaction(SIGTERM, &before_term, NULL);
  return (int)interrupted;
}

hx_status_t cli_load_keys(cli_t *cli, const char *directory, uint32_t parts, hx_keys_t **out) {
  cli_watch_t watch;
  cli_watch_begin(&watch, cli);
  const hx_load_options_t options = {
      .cancelled = cli_watch_cancelled, .progress = cli_watch_progress, .argument = &watch};
  const hx_status_t status = hx_keys_load_with(directory, parts, &options, out, cli->report);
  const int signal_number = cli_watch_end(&watch);
  if (signal_number != 0) (void)raise(signal_number);
  return status;
}
