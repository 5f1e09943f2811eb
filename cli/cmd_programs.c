// SPDX-License-Identifier: Apache-2.0
// Commands that become a program beside this one: plugins test (heliox-conformance), bench (heliox-bench-cpu).
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static bool is_file(const char *text) {
  const size_t size = strlen(text);
  return strchr(text, '/') != NULL || (size > 5 && strcmp(text + size - 5, ".json") == 0);
}

// The manifest of a plugin by name or id, usable ones first.
static hx_status_t find_manifest(cli_t *cli, const char *name, char path[PATH_MAX]) {
  hx_plugins_t *plugins = NULL;
  const hx_status_t status = hx_plugins_discover(NULL, &plugins, cli->report);
  if (status != HX_STATUS_OK) return status;
  cli_warn(cli);
  path[0] = '\0';
  for (int pass = 0; pass < 2 && path[0] == '\0'; ++pass) {
    for (size_t i = 0; i < hx_plugins_count(plugins) && path[0] == '\0'; ++i) {
      const hx_plugin_record_t *record = hx_plugins_get(plugins, i);
      if (pass == 0 && record->state != HX_PLUGIN_USABLE) continue;
      if (strcmp(record->name, name) == 0 || strcmp(record->id, name) == 0)
        snprintf(path, PATH_MAX, "%s", record->manifest);
    }
  }
  hx_plugins_release(plugins);
  if (path[0] != '\0') return HX_STATUS_OK;
  return hx_report_fail(cli->report, HX_CODE_BACKEND, "no plugin '%s'; see 'heliox plugins list'", name);
}

// A program beside this one.
static hx_status_t find_beside(cli_t *cli, const char *name, const char *origin, char path[PATH_MAX]) {
  const size_t room = strlen(name) + 2;
  const ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - room);
  if (size <= 0) return hx_report_fail(cli->report, HX_CODE_IO, "/proc/self/exe: %s", strerror(errno));
  path[size] = '\0';
  char *slash = strrchr(path, '/');
  snprintf(slash == NULL ? path : slash, room, "/%s", name);
  if (access(path, X_OK) == 0) return HX_STATUS_OK;
  return hx_report_fail(cli->report, HX_CODE_IO, "%s: %s; %s", path, strerror(errno), origin);
}

// Appends the options that are given to the arguments of a program; names: room for their long forms.
static void pass_on(cli_t *cli, const char *const *options, size_t count, char (*names)[16], char **arguments,
                    int *argument_count) {
  for (size_t i = 0; i < count; ++i) {
    if (!cli_has(cli, options[i])) continue;
    snprintf(names[i], sizeof names[i], "--%s", options[i]);
    arguments[(*argument_count)++] = names[i];
    arguments[(*argument_count)++] = (char *)(uintptr_t)cli_get(cli, options[i]);
  }
}

int cli_run_plugins_test(cli_t *cli) {
  static const char *const passed_on[] = {"tier", "only", "junit", "log-n-max", "timeout"};
  char manifest[PATH_MAX], suite[PATH_MAX], names[5][16];
  const char *name = cli->arguments[0];
  if (is_file(name)) {
    if (strlen(name) >= sizeof manifest)
      return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_LIMIT, "the path of the manifest is too long"));
    snprintf(manifest, sizeof manifest, "%s", name);
  } else {
    CLI_TRY(cli, find_manifest(cli, name, manifest));
  }
  CLI_TRY(cli, find_beside(cli, "heliox-conformance", "it comes with Heliox; install it again as a whole", suite));
  char *arguments[16] = {suite, manifest};
  int count = 2;
  pass_on(cli, passed_on, sizeof passed_on / sizeof *passed_on, names, arguments, &count);
  if (cli->json) arguments[count++] = (char *)(uintptr_t) "--json";
  if (cli->verbose > 0) arguments[count++] = (char *)(uintptr_t) "-v";
  fflush(stdout);
  execv(suite, arguments);
  return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_IO, "%s: %s", suite, strerror(errno)));
}

int cli_run_bench(cli_t *cli) {
  static const char *const passed_on[] = {"suite", "params",  "digits", "only", "samples",
                                          "clock", "compare", "plot",   "html"};
  char program[PATH_MAX], names[9][16];
  CLI_TRY(cli, find_beside(cli, "heliox-bench-cpu", "it is built with the cpu plugin", program));
  char *arguments[24] = {program};
  int count = 1;
  pass_on(cli, passed_on, sizeof passed_on / sizeof *passed_on, names, arguments, &count);
  if (cli->json) {
    arguments[count++] = (char *)(uintptr_t) "--json";
    arguments[count++] = (char *)(uintptr_t) "-";
  }
  fflush(stdout);
  execv(program, arguments);
  return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_IO, "%s: %s", program, strerror(errno)));
}
