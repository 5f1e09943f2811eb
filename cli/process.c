// SPDX-License-Identifier: Apache-2.0
#include "cli/process.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

// Paths of the environment are the caller's: in another directory they must be whole. Entries are parted by `colon`.
static void keep_paths(const char *name, char colon) {
  char here[PATH_MAX], whole[4 * PATH_MAX];
  const char *at = getenv(name);
  size_t used = 0;
  if (at == NULL || getcwd(here, sizeof here) == NULL) return;
  for (;;) {
    const char *end = colon != 0 ? strchrnul(at, colon) : at + strlen(at);
    const bool relative = end > at && *at != '/';
    const int wrote = snprintf(whole + used, sizeof whole - used, "%s%s%.*s%s", relative ? here : "",
                               relative ? "/" : "", (int)(end - at), at, *end != 0 ? ":" : "");
    if (wrote < 0 || (size_t)wrote >= sizeof whole - used) return;
    used += (size_t)wrote;
    if (*end == 0) break;
    at = end + 1;
  }
  setenv(name, whole, 1);
}

static _Noreturn void become_child(const char *directory, const char *const *arguments, int output) {
  char *argv[CLI_PROCESS_ARGUMENTS_MAX + 2] = {(char *)(uintptr_t) "heliox"};
  for (size_t i = 0; i < CLI_PROCESS_ARGUMENTS_MAX && arguments[i] != NULL; ++i)
    argv[i + 1] = (char *)(uintptr_t)arguments[i];
  keep_paths("HELIOX_PLUGIN_PATH", ':');
  keep_paths("HELIOX_LOCK", 0);
  if (chdir(directory) == 0 && dup2(output, STDOUT_FILENO) >= 0) execv("/proc/self/exe", argv);
  _exit(127);
}

// Reads until the other side closes; what does not fit is dropped.
static void drain(int descriptor, char *text, size_t size) {
  size_t used = 0;
  char rest[512];
  for (;;) {
    const bool room = used + 1 < size;
    const ssize_t got = read(descriptor, room ? text + used : rest, room ? size - 1 - used : sizeof rest);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (room) used += (size_t)got;
  }
  text[used] = '\0';
}

hx_status_t cli_process_run(const char *directory, const char *const *arguments, cli_process_t *out,
                            hx_report_t *report) {
  int ends[2];
  if (pipe(ends) != 0) return hx_report_fail(report, HX_CODE_IO, "a pipe cannot be made: %s", strerror(errno));
  fflush(stdout);
  const double start = cli_now_ms();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    become_child(directory, arguments, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return hx_report_fail(report, HX_CODE_IO, "a process cannot be started: %s", strerror(errno));
  }
  drain(ends[0], out->output, sizeof out->output);
  close(ends[0]);
  int status = 0;
  struct rusage usage = {0};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  out->wall_ms = cli_now_ms() - start;
  out->peak_mib = (double)usage.ru_maxrss / 1024;
  out->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return HX_STATUS_OK;
}
