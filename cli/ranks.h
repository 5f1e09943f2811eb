// SPDX-License-Identifier: Apache-2.0
// Commands that several processes run together (mpirun -n K heliox run ... --shard KIND): every rank runs the same
// command line; rank 0 speaks and writes.
#ifndef HELIOX_CLI_RANKS_H
#define HELIOX_CLI_RANKS_H

#include "cli/cli.h"

// Zero-initialise. size 0: one process alone.
typedef struct cli_ranks {
  hx_group_t *world, *node;
  uint32_t rank, size;
} cli_ranks_t;

// Whether the command line asks for several ranks: --shard, or mpi in --backend. A fault (usage) where mpirun started
// several and it does not: they would all do the same.
hx_status_t cli_ranks_wanted(cli_t *cli, bool *out);
// The list of --backend, with mpi where it is wanted and not there. Freed by free; NULL: out of memory.
char *cli_ranks_backend(const cli_t *cli, bool wanted);
// Opens the groups through the backend and gives it the group "world". From here on messages say which rank speaks;
// other ranks than 0 are quiet on standard output.
hx_status_t cli_ranks_open(cli_t *cli, cli_ranks_t *ranks, hx_backend_t **backend);
void cli_ranks_close(cli_ranks_t *ranks);
// How all ranks fare (hx_group_join); alone: the status itself.
hx_status_t cli_ranks_join(cli_t *cli, const cli_ranks_t *ranks, hx_status_t status);
// True on the rank that writes files and reports.
static inline bool cli_ranks_writes(const cli_ranks_t *ranks) { return ranks->rank == 0; }
// Keys of --keys that a program needs: read once a machine.
hx_status_t cli_ranks_load_keys(cli_t *cli, const cli_ranks_t *ranks, const char *directory, const hx_params_t *params,
                                const hx_program_t *program, hx_keys_t **out);

#endif
