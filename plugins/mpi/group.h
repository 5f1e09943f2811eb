// SPDX-License-Identifier: Apache-2.0
// Groups: communicators of MPI with deadlines, agreement and a watch on who is still there.
#ifndef HELIOX_MPI_GROUP_H
#define HELIOX_MPI_GROUP_H

#include "heliox/plugin.h"

extern const hx_collective_ops hx_mpi_collective_ops;
// [I] Ends MPI where it was begun and every group was closed whole.
void hx_mpi_shutdown(void);

#endif
