// SPDX-License-Identifier: Apache-2.0
// The demo over ranks (mpirun -n K heliox demo --shard KIND): rank 0 plays the client, every rank the server. The
// server's step is a process of its own, as ever, and that one is the rank for MPI; before it the ranks meet in a
// directory.
#ifndef HELIOX_CLI_DEMO_RANKS_H
#define HELIOX_CLI_DEMO_RANKS_H

#include "cli/cli.h"

// This process's rank by the launcher's word; 0 without one, or without --shard.
unsigned long cli_demo_rank(const cli_t *cli);
// The directory of this job's roles below `base`: equal for all ranks of one job, of no other. Without a launcher:
// false, and any directory does.
bool cli_demo_meeting(const cli_t *cli, const char *base, char *out, size_t size);
// Rank 0: the server's files are there, or never will be.
hx_status_t cli_demo_tell(cli_t *cli, const char *root, bool are_ready);
// Another rank: waits for that, as long as --rank-timeout says; the directory has to be the caller's own.
hx_status_t cli_demo_wait(cli_t *cli, const char *root);

#endif
