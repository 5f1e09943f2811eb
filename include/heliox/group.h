// SPDX-License-Identifier: Apache-2.0
/// @file
/// Groups of processes: values shared and summed across ranks, through the plugin of a backend that has collectives.
///
/// Every function is collective: all ranks of the group make the same calls in the same order, from one thread at a
/// time. Before any payload the ranks compare what they are about to do: the call, the state of the value, its
/// parameters, the plugins of the backend. Where they differ every rank gets the same fault (rank-mismatch) and nothing
/// is sent. A rank that does not come within the group's time is named (rank-missing).
#ifndef HELIOX_GROUP_H
#define HELIOX_GROUP_H

#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Ranks that compute together. One thread at a time.
typedef struct hx_process_group hx_group_t;

/// Opens a group by name through the one plugin of the backend that has the collective role. The backend's first device
/// does the arithmetic (retained).
/// @param name       "world": all processes that were started together; "node": those of them on this machine;
///                   "ranks:0,2,3": these of them, numbered in this order, opened by these alone
/// @param timeout_ms how long a rank waits for the others in one call; 0: 60,000
/// @retval HX_STATUS_NOT_FOUND (backend) no plugin of the backend has collectives, or several have
HX_API HX_MUST_USE hx_status_t hx_group_open(const hx_backend_t *backend, const char *name, uint32_t timeout_ms,
                                             hx_group_t **out, hx_report_t *report);
/// Leaves it; NULL is allowed.
HX_API void hx_group_release(hx_group_t *group);
/// This process's number, from 0.
HX_API uint32_t hx_group_rank(const hx_group_t *group);
/// How many ranks there are.
HX_API uint32_t hx_group_size(const hx_group_t *group);

/// The sum over all ranks of a ciphertext or plaintext, modulo each prime, in the order of the ranks: the same bits on
/// every rank, for any number of them. The additions are the compute plugin's. State, key id and count must be equal on
/// all ranks.
/// @param[out] out a new value in host memory
HX_API HX_MUST_USE hx_status_t hx_group_all_reduce_add(hx_group_t *group, const hx_value_t *value, hx_value_t **out,
                                                       hx_report_t *report);
/// The value of rank `root` on every rank.
/// @param value on the root: what is sent; on the others: a value of the same state, whose contents do not matter
HX_API HX_MUST_USE hx_status_t hx_group_broadcast(hx_group_t *group, uint32_t root, const hx_value_t *value,
                                                  hx_value_t **out, hx_report_t *report);
/// Every rank's value on every rank: outs[size]. All have the same state.
HX_API HX_MUST_USE hx_status_t hx_group_all_gather(hx_group_t *group, const hx_value_t *value, hx_value_t **outs,
                                                   hx_report_t *report);
/// Returns once every rank has called it with equal bytes: agreement alone.
HX_API HX_MUST_USE hx_status_t hx_group_agree(hx_group_t *group, const void *facts, size_t bytes, hx_report_t *report);

/// How every rank fares: each brings the status of what it has just done, with its report. Where a rank has failed, all
/// others get that rank's first fault, so that nobody goes on alone. Returns `status` where it is a failure.
HX_API HX_MUST_USE hx_status_t hx_group_join(hx_group_t *group, hx_status_t status, hx_report_t *report);

/// Evaluation keys of a directory, read and checked once by rank 0 and handed to the others in memory: each rank gets
/// the keys that its program needs, and no others. Meant for the group "node", so that each machine reads them once.
/// Collective; where rank 0 cannot read them every rank gets its fault. A key that the directory lacks is absent.
/// @param params  the same on all ranks, and the keys'
/// @param options of the reading on rank 0; NULL: none
HX_API HX_MUST_USE hx_status_t hx_group_load_keys(hx_group_t *group, const char *directory, const hx_params_t *params,
                                                  const hx_program_needs_t *needs, const hx_load_options_t *options,
                                                  hx_keys_t **out, hx_report_t *report);

/// A copy of the backend whose named resources have the group, for programs with distributed operations. The group
/// outlives the copy and all that is linked with it.
/// @param name as programs refer to it: the symbol of resource.ref, kind "process-group"
/// @retval HX_STATUS_INVALID (implementation-exists) the backend has that name already
HX_API HX_MUST_USE hx_status_t hx_backend_with_group(const hx_backend_t *backend, const char *name, hx_group_t *group,
                                                     hx_backend_t **out, hx_report_t *report);

/// Payload bytes that this rank has given to and taken from the plugin since the group was opened: what
/// docs/distributed.md predicts.
typedef struct hx_group_volume {
  uint64_t sent;      ///< bytes that this rank gave
  uint64_t received;  ///< bytes that it got
  uint64_t calls;     ///< collectives that it took part in
} hx_group_volume_t;
/// What this rank has moved so far.
HX_API void hx_group_volume(const hx_group_t *group, hx_group_volume_t *out);

#ifdef __cplusplus
}
#endif
#endif
