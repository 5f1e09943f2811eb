// SPDX-License-Identifier: Apache-2.0
// What the plugin asks of MPI. The shim behind it is the only code that is linked against libmpi; the plugin carries it
// as bytes and opens it when it is probed, so that a machine without MPI still loads and describes the plugin.
//
// One thread at a time calls these. No call waits but begin, world, node, subset, release and end, which are collective
// or local to MPI's own start; everything else is begun, then asked for with test.
#ifndef HELIOX_MPI_SHIM_H
#define HELIOX_MPI_SHIM_H

#include <stdint.h>

#define HX_MPI_SHIM_VERSION 1u

typedef struct hx_mpi_comm hx_mpi_comm;        // a communicator of the plugin's own
typedef struct hx_mpi_request hx_mpi_request;  // something begun

// Results: 0, or MPI's error class.
typedef struct hx_mpi_shim {
  uint32_t version;                 // HX_MPI_SHIM_VERSION
  uint32_t major, minor;            // of the library that the shim was built for
  const char *flavour;              // "Open MPI"
  void (*library)(char text[512]);  // what the library that was opened says of itself; before begin too
  int (*is_launched)(void);         // whether a launcher started this process as a rank
  int (*begin)(void);               // once a process
  void (*end)(void);
  int (*world)(hx_mpi_comm **out);
  int (*node)(hx_mpi_comm **out);                                 // the ranks that share this machine's memory
  int (*subset)(const int *ranks, int count, hx_mpi_comm **out);  // of the world, called by these alone
  void (*release)(hx_mpi_comm *);
  void (*place)(hx_mpi_comm *, int *out_rank, int *out_size);
  int (*send)(hx_mpi_comm *, const void *bytes, int count, int to, int tag, hx_mpi_request **out);
  int (*receive)(hx_mpi_comm *, void *bytes, int count, int from, int tag, hx_mpi_request **out);
  int (*broadcast)(hx_mpi_comm *, void *bytes, int count, int root, hx_mpi_request **out);
  int (*test)(hx_mpi_request *, int *out_done);  // done: the request is gone
  void (*text)(int error, char text[256]);
  int (*is_device_aware)(void);  // -1: the library cannot be asked
} hx_mpi_shim;

// The shim's one symbol.
#define HX_MPI_SHIM_SYMBOL "hx_mpi_shim_table"

#endif
