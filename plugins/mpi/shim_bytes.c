// SPDX-License-Identifier: Apache-2.0
// The shim's file, made by the build.
#include "loader.h"

#if defined(HELIOX_MPI_SHIM)
const unsigned char hx_mpi_shim_bytes[] = {
#include "mpi_shim.inc"
};
const size_t hx_mpi_shim_size = sizeof hx_mpi_shim_bytes;
#else
const unsigned char hx_mpi_shim_bytes[1] = {0};
const size_t hx_mpi_shim_size = 0;
#endif
