// SPDX-License-Identifier: Apache-2.0
// The shim, opened once a process from the bytes that the plugin carries.
#ifndef HELIOX_MPI_LOADER_H
#define HELIOX_MPI_LOADER_H

#include <stddef.h>

#include "heliox/plugin.h"
#include "shim.h"

// The shim's file as it was built; 0 bytes where MPI was missing then.
extern const unsigned char hx_mpi_shim_bytes[];
extern const size_t hx_mpi_shim_size;

// [A] HX_UNAVAILABLE: the build has no shim, libmpi is not here or lacks something, or is of another flavour or major
// version than the shim was built for; the message says which, with both.
int32_t hx_mpi_shim_open(const hx_mpi_shim **out, hx_error *error);

// The parts of it, for tests.
int32_t hx_mpi_shim_load(const unsigned char *bytes, size_t size, const hx_mpi_shim **out, hx_error *error);
int32_t hx_mpi_shim_check(const hx_mpi_shim *shim, hx_error *error);

#endif
