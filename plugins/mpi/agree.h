// SPDX-License-Identifier: Apache-2.0
// Agreement: equal bytes on every rank, or one verdict for all.
#ifndef HELIOX_MPI_AGREE_H
#define HELIOX_MPI_AGREE_H

#include "heliox/plugin.h"

// hx_collective_ops.agree. Three small messages a rank: rank 0 says that it is here, each rank brings the digest of its
// facts, rank 0 gives the verdict. Ranks that do not come within the group's time are named to those that did.
int32_t hx_mpi_agree(hx_group *group, const void *facts, uint64_t bytes, hx_error *error);

#endif
