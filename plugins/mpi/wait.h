// SPDX-License-Identifier: Apache-2.0
// What groups are made of, and how they wait: for several requests at once, until a deadline, as long as every rank is
// there and nobody asked to stop.
#ifndef HELIOX_MPI_WAIT_H
#define HELIOX_MPI_WAIT_H

#include <stdbool.h>

#include "lifeline.h"
#include "loader.h"

struct hx_group {
  const hx_mpi_shim *shim;
  hx_mpi_comm *comm;  // NULL: a group of one that needs no MPI
  hx_lifeline *line;  // NULL: a group of one, or no connection could be made
  uint32_t rank, size, timeout_ms;
  uint64_t agreements;        // so far: equal on all ranks
  hx_mpi_request **requests;  // [size]
  bool is_broken;             // something that was begun can never end: nothing is begun any more
  int32_t broken_code;
  char broken_text[240];
  uint64_t sent, received, control, calls;  // bytes of payload and of agreement, calls
};

int64_t hx_mpi_now_ms(void);
// HX_OK, or what broke the group.
int32_t hx_mpi_whole(const hx_group *group, hx_error *error);
// Nothing of the group is used any more: the code and text of every later call. Returns the code.
int32_t hx_mpi_break(hx_group *group, hx_error *error);
// All of requests[count] that are not NULL; those that end become NULL. On failure the group is broken. HX_UNAVAILABLE:
// the deadline has passed and `is_late` was NULL, or a rank is gone. With is_late, the deadline is no failure: *is_late
// says that it passed.
int32_t hx_mpi_wait(hx_group *group, hx_mpi_request **requests, uint32_t count, int64_t deadline, const char *what,
                    bool *is_late, hx_error *error);
// Memory that something begun may still write to, for as long as the process lives.
void hx_mpi_keep(void *memory);
// A result of the shim as one of the ABI; breaks the group.
int32_t hx_mpi_fail(hx_group *group, int result, const char *what, hx_error *error);

#endif
