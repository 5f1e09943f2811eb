// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of MPI, which wait for every rank and know no deadline. A thread of their own does them, so
// that whoever asks waits only so long: a rank that never comes would hold up all others.
#ifndef HELIOX_MPI_START_H
#define HELIOX_MPI_START_H

#include "loader.h"

// Once a process; later calls are answered at once. HX_UNAVAILABLE: not begun on every rank within the time; then it
// may still begin later, which nobody waits for.
int32_t hx_mpi_start(const hx_mpi_shim *shim, uint32_t timeout_ms, hx_error *error);
// Ends MPI where it was begun, and waits for that, but no longer than timeout_ms: a process may end without it.
void hx_mpi_stop(uint32_t timeout_ms);

#endif
