// SPDX-License-Identifier: Apache-2.0
#include "cli/ranks.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/watch.h"

#define TIMEOUT_DEFAULT_S 60

static bool lists_mpi(const char *list) {
  for (const char *at = list; at != NULL && *at != '\0';) {
    const size_t size = strcspn(at, ",");
    if (size == 3 && strncmp(at, "mpi", 3) == 0) return true;
    at += size + (at[size] == ',');
  }
  return false;
}

hx_status_t cli_ranks_wanted(cli_t *cli, bool *out) {
  const char *started = getenv("OMPI_COMM_WORLD_SIZE");
  *out = cli_has(cli, "shard") || lists_mpi(cli_get(cli, "backend"));
  if (*out || started == NULL || strtoul(started, NULL, 10) < 2) return HX_STATUS_OK;
  return hx_report_fail(cli->report, HX_CODE_USAGE,
                        "mpirun started %s processes, which would all do the same: add --shard limbs, terms or batch",
                        started);
}

char *cli_ranks_backend(const cli_t *cli, bool wanted) {
  const char *list = cli_get(cli, "backend");
  if (list == NULL) list = "cpu";
  const size_t room = strlen(list) + sizeof ",mpi";
  char *text = malloc(room);
  if (text != NULL) snprintf(text, room, "%s%s", list, wanted && !lists_mpi(list) ? ",mpi" : "");
  return text;
}

// Ranks on one machine share its processors, unless somebody said how many threads each has.
static void share_threads(const cli_t *cli, const cli_ranks_t *ranks) {
  if (cli_has(cli, "threads") || getenv("HELIOX_NUM_THREADS") != NULL) return;
  const uint32_t each = hx_threads_get() / hx_group_size(ranks->node);
  hx_threads_set(each == 0 ? 1 : each);
}

hx_status_t cli_ranks_open(cli_t *cli, cli_ranks_t *ranks, hx_backend_t **backend) {
  uint64_t seconds = TIMEOUT_DEFAULT_S;
  hx_status_t status = cli_get_number(cli, "rank-timeout", 86401, TIMEOUT_DEFAULT_S, &seconds);
  if (status == HX_STATUS_OK && seconds == 0)
    status = hx_report_fail(cli->report, HX_CODE_USAGE, "--rank-timeout takes at least 1 second");
  const uint32_t timeout_ms = (uint32_t)(1000 * seconds);
  if (status == HX_STATUS_OK) status = hx_group_open(*backend, "world", timeout_ms, &ranks->world, cli->report);
  if (status != HX_STATUS_OK) return status;
  ranks->rank = hx_group_rank(ranks->world);
  ranks->size = hx_group_size(ranks->world);
  if (ranks->size > 1) cli_speak_as(cli, ranks->rank, ranks->size);
  status = hx_group_open(*backend, "node", timeout_ms, &ranks->node, cli->report);
  hx_backend_t *grouped = NULL;
  if (status == HX_STATUS_OK) status = hx_backend_with_group(*backend, "world", ranks->world, &grouped, cli->report);
  if (status != HX_STATUS_OK) return status;
  share_threads(cli, ranks);
  hx_backend_release(*backend);
  *backend = grouped;
  return HX_STATUS_OK;
}

void cli_ranks_close(cli_ranks_t *ranks) {
  hx_group_release(ranks->node);
  hx_group_release(ranks->world);
  ranks->node = ranks->world = NULL;
}

hx_status_t cli_ranks_join(cli_t *cli, const cli_ranks_t *ranks, hx_status_t status) {
  return ranks->world == NULL ? status : hx_group_join(ranks->world, status, cli->report);
}

hx_status_t cli_ranks_load_keys(cli_t *cli, const cli_ranks_t *ranks, const char *directory, const hx_params_t *params,
                                const hx_program_t *program, hx_keys_t **out) {
  hx_needs_t *needs = NULL;
  hx_status_t status = hx_program_needs(program, params, &needs, cli->report);
  status = cli_ranks_join(cli, ranks, status);  // a rank without a wish would be waited for
  if (status == HX_STATUS_OK) {
    cli_watch_t watch;
    cli_watch_begin(&watch, cli);
    const hx_load_options_t options = {
        .cancelled = cli_watch_cancelled, .progress = cli_watch_progress, .argument = &watch};
    status = hx_group_load_keys(ranks->node, directory, params, hx_needs_get(needs), &options, out, cli->report);
    const int signal_number = cli_watch_end(&watch);
    if (signal_number != 0) (void)raise(signal_number);
  }
  hx_needs_release(needs);
  return status;
}
