// SPDX-License-Identifier: Apache-2.0
// plugins lock, verify, key, sign.
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define LOCKFILE "heliox.lock"

int cli_run_plugins_lock(cli_t *cli) {
  const char *output = cli_get(cli, "output");
  hx_plugins_t *plugins = NULL;
  if (output == NULL) output = LOCKFILE;
  CLI_TRY(cli, cli_discover(cli, &plugins));
  const hx_status_t status = hx_plugins_lock(plugins, output, cli->report);
  size_t count = 0;
  for (size_t i = 0; i < hx_plugins_count(plugins); ++i) count += hx_plugins_get(plugins, i)->state == HX_PLUGIN_USABLE;
  hx_plugins_release(plugins);
  CLI_TRY(cli, status);
  if (cli->json) return cli_print_json(json_pack("{s:s, s:I}", "lockfile", output, "plugins", (json_int_t)count));
  cli_say(cli, "wrote %s: %zu plugin%s\n", output, count, count == 1 ? "" : "s");
  return CLI_DONE;
}

// Compares the plugins as they are, so that each difference is named; a locked search would only refuse.
int cli_run_plugins_verify(cli_t *cli) {
  const char *lockfile = cli->argument_count > 0 ? cli->arguments[0] : cli_get(cli, "locked");
  if (lockfile == NULL) lockfile = getenv("HELIOX_LOCK");
  if (lockfile == NULL || *lockfile == 0) lockfile = LOCKFILE;
  hx_plugins_options_t options;
  hx_plugins_t *plugins = NULL;
  CLI_TRY(cli, cli_plugins_options(cli, &options));
  options.lock = "";
  CLI_TRY(cli, hx_plugins_discover(&options, &plugins, cli->report));
  cli_warn(cli);
  const hx_status_t status = hx_plugins_verify(plugins, lockfile, cli->report);
  hx_plugins_release(plugins);
  CLI_TRY(cli, status);
  if (cli->json) return cli_print_json(json_pack("{s:b, s:s}", "ok", 1, "lockfile", lockfile));
  cli_say(cli, "the plugins are as locked in %s\n", lockfile);
  return CLI_DONE;
}

int cli_run_plugins_key(cli_t *cli) {
  const char *name = cli->arguments[0];
  const size_t room = strlen(name) + 5;
  char *secret = malloc(room), *public = malloc(room);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (secret != NULL && public != NULL) {
    snprintf(secret, room, "%s.key", name);
    snprintf(public, room, "%s.pub", name);
    status = hx_signing_key_create(secret, public, cli->report);
  }
  if (status == HX_STATUS_OK) cli_say(cli, "wrote %s (keep it secret) and %s\n", secret, public);
  free(secret);
  free(public);
  CLI_TRY(cli, status);
  return cli->json ? cli_print_json(json_pack("{s:b}", "ok", 1)) : CLI_DONE;
}

int cli_run_plugins_sign(cli_t *cli) {
  const char *key = NULL;
  CLI_TRY(cli, cli_need(cli, "key", &key));
  CLI_TRY(cli, hx_manifest_sign(cli->arguments[0], key, cli->report));
  if (cli->json) return cli_print_json(json_pack("{s:b}", "ok", 1));
  cli_say(cli, "wrote %s.sig\n", cli->arguments[0]);
  return CLI_DONE;
}
