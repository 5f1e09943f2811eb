// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_ranks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/message.h"

#define PATH_ROOM 4200
#define TIMEOUT_DEFAULT_S 60

unsigned long cli_demo_rank(const cli_t *cli) {
  const char *text = getenv("OMPI_COMM_WORLD_RANK");
  return text == NULL || !cli_has(cli, "shard") ? 0 : strtoul(text, NULL, 10);
}

bool cli_demo_meeting(const cli_t *cli, const char *base, char *out, size_t size) {
  const char *job = getenv("PMIX_NAMESPACE");
  if (job == NULL || !cli_has(cli, "shard")) return false;
  char name[64];
  size_t used = 0;
  for (const char *at = job; *at != '\0' && used + 1 < sizeof name; ++at) {
    const bool plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
    name[used++] = plain ? *at : '-';
  }
  name[used] = '\0';
  return snprintf(out, size, "%s/heliox-demo.%lu.%s", base, (unsigned long)geteuid(), name) < (int)size;
}

hx_status_t cli_demo_tell(cli_t *cli, const char *root, bool are_ready) {
  char path[PATH_ROOM];
  if (!cli_has(cli, "shard")) return HX_STATUS_OK;
  snprintf(path, sizeof path, "%s/%s", root, are_ready ? "ready" : "failed");
  return cli_write_file(path, "", 0, cli->report);
}

// Of this user, and nobody else's to write into: what stands there was put there by rank 0.
static bool is_own(const char *root) {
  struct stat facts;
  return lstat(root, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid() &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

hx_status_t cli_demo_wait(cli_t *cli, const char *root) {
  uint64_t seconds = TIMEOUT_DEFAULT_S;
  const hx_status_t status = cli_get_number(cli, "rank-timeout", 86401, TIMEOUT_DEFAULT_S, &seconds);
  if (status != HX_STATUS_OK) return status;
  char ready[PATH_ROOM], failed[PATH_ROOM];
  snprintf(ready, sizeof ready, "%s/ready", root);
  snprintf(failed, sizeof failed, "%s/failed", root);
  const double end = cli_now_ms() + 1e3 * (double)seconds;
  while (cli_now_ms() < end) {
    if (is_own(root) && access(ready, F_OK) == 0) return HX_STATUS_OK;
    if (is_own(root) && access(failed, F_OK) == 0)
      return hx_report_fail(cli->report, HX_CODE_RANK_MISSING, "rank 0 has failed before the server's step");
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  }
  return hx_report_fail(cli->report, HX_CODE_RANK_MISSING,
                        "rank 0 did not bring the server's files to %s within %llu s; all ranks have to see the same "
                        "directory (TMPDIR, --keep)",
                        root, (unsigned long long)seconds);
}
