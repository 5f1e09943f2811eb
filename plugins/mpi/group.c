// SPDX-License-Identifier: Apache-2.0
#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "heliox/support/error.h"
#include "heliox/support/host.h"
#include "start.h"
#include "wait.h"

#define CHUNK_BYTES ((uint64_t)1 << 30)  // of one call of MPI, which counts in int
#define SUBSET_MAX 65536
#define STOP_MS 10000  // for the ranks to end MPI together

enum { TAG_PAIR = 3, TAG_LINE = 4 };

static bool is_begun,
    is_spoilt;  // MPI was begun; a broken group was left behind, so that ending MPI would wait for ever

// ------------------------------------------------------------------ life

// "ranks:0,2,3" to a list.
static int32_t read_ranks(const char *text, int **out, int *out_count, hx_error *error) {
  int *ranks = malloc(SUBSET_MAX * sizeof *ranks);
  if (ranks == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a list of ranks");
  int count = 0;
  for (const char *at = text; count < SUBSET_MAX; ++at) {
    char *end = NULL;
    const unsigned long rank = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : SUBSET_MAX;
    bool again = rank >= SUBSET_MAX || (*end != ',' && *end != '\0');
    for (int i = 0; !again && i < count; ++i) again = ranks[i] == (int)rank;
    if (again) {
      free(ranks);
      return hxs_fail(error, HX_INVALID,
                      "group ranks:%.40s: numbers of ranks, each once, with commas between are wanted", text);
    }
    ranks[count++] = (int)rank;
    if (*end == '\0') break;
    at = end;
  }
  *out = ranks;
  *out_count = count;
  return HX_OK;
}

static int32_t open_comm(hx_group *group, const char *name, hx_error *error) {
  const hx_mpi_shim *shim = group->shim;
  int result = 0;
  if (strcmp(name, "world") == 0) {
    result = shim->world(&group->comm);
  } else if (strcmp(name, "node") == 0) {
    result = shim->node(&group->comm);
  } else if (strncmp(name, "ranks:", 6) == 0) {
    int *ranks = NULL, count = 0;
    HXS_TRY(read_ranks(name + 6, &ranks, &count, error));
    result = shim->subset(ranks, count, &group->comm);
    free(ranks);
  } else {
    return hxs_fail(error, HX_INVALID, "there is no group %.40s; there are world, node and ranks:0,1,...", name);
  }
  return hx_mpi_fail(group, result, "open a group", error);
}

// Every rank to rank 0. A machine where no connection is possible works with deadlines alone, and says so.
static int32_t open_line(hx_group *group, hx_error *error) {
  hx_lifeline_call call = {0};
  hx_error own = {.struct_size = HX_END_OF(hx_error, message)};
  int32_t code = HX_OK;
  if (group->size == 1) return HX_OK;
  if (group->rank == 0) code = hx_lifeline_listen(group->size, &group->line, &call, &own);
  hx_mpi_request *request = NULL;
  HXS_TRY(hx_mpi_fail(group, group->shim->broadcast(group->comm, &call, (int)sizeof call, 0, &request),
                      "meet the other ranks", error));
  HXS_TRY(hx_mpi_wait(group, &request, 1, hx_mpi_now_ms() + group->timeout_ms, "meet the other ranks", NULL, error));
  if (code == HX_OK && call.port == 0) return HX_OK;  // rank 0 has said why
  if (code == HX_OK)
    code = group->rank == 0
               ? hx_lifeline_accept(group->line, group->timeout_ms, &own)
               : hx_lifeline_connect(&call, group->rank, group->size, group->timeout_ms, &group->line, &own);
  if (code == HX_OK) return HX_OK;
  char text[320];
  snprintf(text, sizeof text, "rank %u: a rank that ends will be noticed by deadlines alone: %s", group->rank,
           own.message);
  hxs_host_log(HX_LOG_WARNING, text);
  hx_lifeline_close(group->line);
  group->line = NULL;
  return HX_OK;
}

static void log_devices(const hx_mpi_shim *shim) {
  const int aware = shim->is_device_aware();
  hxs_host_log(HX_LOG_INFO, aware > 0    ? "MPI is device-aware; payloads go through pinned host memory all the same"
                            : aware == 0 ? "MPI is not device-aware: payloads go through pinned host memory"
                                         : "MPI cannot be asked about devices: payloads go through pinned host memory");
}

static void group_close(hx_group *group);

static int32_t begin(hx_group *group, const char *name, hx_error *error) {
  HXS_TRY(hx_mpi_start(group->shim, group->timeout_ms, error));
  if (!is_begun) log_devices(group->shim);
  is_begun = true;
  HXS_TRY(open_comm(group, name, error));
  int rank = 0, size = 1;
  group->shim->place(group->comm, &rank, &size);
  group->rank = (uint32_t)rank;
  group->size = (uint32_t)size;
  return HX_OK;
}

static int32_t group_open(const char *name, uint32_t timeout_ms, hx_group **out, hx_error *error) {
  const hx_mpi_shim *shim = NULL;
  HXS_TRY(hx_mpi_shim_open(&shim, error));
  hx_group *group = calloc(1, sizeof *group);
  if (group == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a group");
  *group = (hx_group){.shim = shim, .size = 1, .timeout_ms = timeout_ms == 0 ? 1 : timeout_ms};
  int32_t code = HX_OK;
  if (shim->is_launched()) {
    code = begin(group, name, error);
  } else if (strcmp(name, "world") != 0 && strcmp(name, "node") != 0 && strcmp(name, "ranks:0") != 0) {
    code = hxs_fail(error, HX_INVALID, "this process was started without mpirun, so there is no group %.40s", name);
  }
  if (code == HX_OK) {
    group->requests = calloc(group->size, sizeof *group->requests);
    if (group->requests == NULL) code = hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for %u ranks", group->size);
  }
  if (code == HX_OK) code = open_line(group, error);
  if (code == HX_OK) {
    *out = group;
  } else {
    group_close(group);
  }
  return code;
}

static void group_close(hx_group *group) {
  char text[240];
  snprintf(text, sizeof text,
           "rank %u of %u: payload sent %llu bytes, received %llu bytes in %llu calls; agreement %llu bytes",
           group->rank, group->size, (unsigned long long)group->sent, (unsigned long long)group->received,
           (unsigned long long)group->calls, (unsigned long long)group->control);
  hxs_host_log(HX_LOG_INFO, text);
  hx_lifeline_close(group->line);
  if (group->is_broken) {
    is_spoilt = true;  // what was begun in it may still be written to: its communicator stays
  } else if (group->comm != NULL) {
    group->shim->release(group->comm);
  }
  free(group->requests);
  free(group);
}

static int32_t group_rank(hx_group *group, uint32_t *out_rank, uint32_t *out_size, hx_error *error) {
  (void)error;
  *out_rank = group->rank;
  *out_size = group->size;
  return HX_OK;
}

static int32_t group_probe(hx_error *error) {
  const hx_mpi_shim *shim = NULL;
  return hx_mpi_shim_open(&shim, error);
}

void hx_mpi_shutdown(void) {
  if (is_begun && !is_spoilt) hx_mpi_stop(STOP_MS);
}

// ------------------------------------------------------------------ payloads

static int64_t deadline_of(const hx_group *group) { return hx_mpi_now_ms() + group->timeout_ms; }

// One rank's bytes to all others, in pieces. Every rank is here: they have agreed on it.
static int32_t spread(hx_group *group, uint32_t root, unsigned char *bytes, uint64_t size, const char *what,
                      hx_error *error) {
  for (uint64_t done = 0; done < size;) {
    const uint64_t piece = size - done < CHUNK_BYTES ? size - done : CHUNK_BYTES;
    hx_mpi_request *request = NULL;
    HXS_TRY(hx_mpi_fail(group, group->shim->broadcast(group->comm, bytes + done, (int)piece, (int)root, &request), what,
                        error));
    HXS_TRY(hx_mpi_wait(group, &request, 1, deadline_of(group), what, NULL, error));
    done += piece;
  }
  if (group->rank == root) group->sent += size;
  if (group->rank != root) group->received += size;
  return HX_OK;
}

static int32_t broadcast(hx_group *group, uint32_t root, void *payload, uint64_t bytes, hx_error *error) {
  HXS_TRY(hx_mpi_whole(group, error));
  if (root >= group->size) return hxs_fail(error, HX_INVALID, "there is no rank %u of %u", root, group->size);
  group->calls += 1;
  return group->size == 1 ? HX_OK : spread(group, root, payload, bytes, "broadcast", error);
}

static int32_t all_gather(hx_group *group, const void *mine, void *all, const uint64_t *bytes, hx_error *error) {
  HXS_TRY(hx_mpi_whole(group, error));
  unsigned char *to = all;
  group->calls += 1;
  for (uint32_t r = 0; r < group->size; ++r) {
    if (r == group->rank && bytes[r] > 0) memcpy(to, mine, (size_t)bytes[r]);
    if (group->size > 1) HXS_TRY(spread(group, r, to, bytes[r], "all_gather", error));
    to += bytes[r];
  }
  return HX_OK;
}

static int32_t all_reduce(hx_group *group, const hx_reduction *reduction, hx_error *error) {
  HXS_NEED(hx_reduction, bytes, reduction);
  HXS_TRY(hx_mpi_whole(group, error));
  group->calls += 1;
  for (uint32_t r = 0; r < group->size; ++r) {
    if (r == group->rank) memcpy(reduction->incoming, reduction->mine, (size_t)reduction->bytes);
    if (group->size > 1) HXS_TRY(spread(group, r, reduction->incoming, reduction->bytes, "all_reduce", error));
    const int32_t code = hxs_host_run_region(reduction->combine, reduction->call, error);
    if (code != HX_OK) {
      // The other ranks wait for what this one will not bring.
      if (group->size > 1) (void)hx_mpi_break(group, error);
      return code;
    }
  }
  return HX_OK;
}

static int32_t check_peer(const hx_group *group, uint32_t peer, hx_error *error) {
  if (peer < group->size && peer != group->rank) return HX_OK;
  return hxs_fail(error, HX_INVALID, "rank %u of %u exchanges with rank %u, which is no other rank", group->rank,
                  group->size, peer);
}

// One payload to or from one rank, in pieces; what is sent is only read.
static int32_t exchange(hx_group *group, bool sends, uint32_t peer, unsigned char *payload, uint64_t bytes,
                        hx_error *error) {
  HXS_TRY(hx_mpi_whole(group, error));
  HXS_TRY(check_peer(group, peer, error));
  char what[48];
  snprintf(what, sizeof what, sends ? "send to rank %u" : "receive from rank %u", peer);
  group->calls += 1;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t piece = bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES;
    hx_mpi_request *request = NULL;
    const int result =
        sends ? group->shim->send(group->comm, payload + done, (int)piece, (int)peer, TAG_PAIR, &request)
              : group->shim->receive(group->comm, payload + done, (int)piece, (int)peer, TAG_PAIR, &request);
    HXS_TRY(hx_mpi_fail(group, result, what, error));
    HXS_TRY(hx_mpi_wait(group, &request, 1, deadline_of(group), what, NULL, error));
    done += piece;
  }
  *(sends ? &group->sent : &group->received) += bytes;
  return HX_OK;
}

static int32_t group_send(hx_group *group, uint32_t to, const void *payload, uint64_t bytes, hx_error *error) {
  return exchange(group, true, to, (unsigned char *)(uintptr_t)payload, bytes, error);
}

static int32_t group_receive(hx_group *group, uint32_t from, void *payload, uint64_t bytes, hx_error *error) {
  return exchange(group, false, from, payload, bytes, error);
}

const hx_collective_ops hx_mpi_collective_ops = {.struct_size = HX_END_OF(hx_collective_ops, probe),
                                                 .open = group_open,
                                                 .close = group_close,
                                                 .rank = group_rank,
                                                 .agree = hx_mpi_agree,
                                                 .broadcast = broadcast,
                                                 .all_gather = all_gather,
                                                 .all_reduce = all_reduce,
                                                 .send = group_send,
                                                 .receive = group_receive,
                                                 .probe = group_probe};
