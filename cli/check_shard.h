// SPDX-License-Identifier: Apache-2.0
// What `check` says of programs over ranks.
#ifndef HELIOX_CLI_CHECK_SHARD_H
#define HELIOX_CLI_CHECK_SHARD_H

#include "cli/cli.h"

#define CLI_SHARD_SIZES_MAX 16

// Zero-initialise. count 0: nobody asked.
typedef struct cli_shard {
  const char *kind;
  hx_scaling_t scalings[CLI_SHARD_SIZES_MAX];
  size_t count;
  hx_collectives_t *collectives;  // of rank 0 of the first number of ranks
  double gigabits;                // a second, of a rank's network; 0: not told
} cli_shard_t;

// Reads --shard, --ranks and --network and predicts on the program as it was loaded.
hx_status_t cli_shard_predict(cli_t *cli, const hx_compilation_t *compilation, cli_shard_t *shard);
void cli_shard_release(cli_shard_t *shard);
// seconds: measured for one process; 0: not known.
void cli_shard_print(const cli_t *cli, const cli_shard_t *shard, double seconds);
json_t *cli_shard_json(const cli_shard_t *shard, double seconds);

#endif
