// SPDX-License-Identifier: Apache-2.0
/// @file
/// Programs of one rank, and what they do with the other ranks: comparison before anything runs, bytes, scaling.
#ifndef HELIOX_SHARD_H
#define HELIOX_SHARD_H

#include "heliox/group.h"
#include "heliox/passes.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How a program's work is spread over the ranks of a group.
typedef struct hx_shard_spec {
  const char *kind;   ///< "limbs" (rows of residues), "terms" (of sums), "batch" (items)
  uint32_t rank;      ///< whose program is wanted, from 0
  uint32_t size;      ///< this rank, and how many there are
  const char *group;  ///< symbol of the group in the program; NULL: "world"
  const char
      *pipeline;  ///< passes before the work is spread; NULL: none. Behind it the default pipeline is linked with
} hx_shard_spec_t;

/// The compilation's program becomes the program of one rank: calls are put in place, state is inferred, for limbs keys
/// are resolved and the program is lowered, then the pass `shard` runs. All ranks together give the results of the
/// program as it was, bit for bit, on every rank. A failure leaves the compilation as it was.
/// @param options as for hx_compilation_transform_with; NULL: none
HX_API HX_MUST_USE hx_status_t hx_compilation_shard(hx_compilation_t *compilation, const hx_shard_spec_t *spec,
                                                    const hx_transform_options_t *options, hx_report_t *report);

/// What one step of a program's sequence of collectives is.
typedef enum hx_collective_role {
  HX_COLLECTIVE_ALL,      ///< all ranks make it
  HX_COLLECTIVE_SEND,     ///< to one rank
  HX_COLLECTIVE_RECEIVE,  ///< from one rank
  HX_COLLECTIVE_ENTER,    ///< a loop or branch begins that has collectives
  HX_COLLECTIVE_NEXT,     ///< its second region
  HX_COLLECTIVE_LEAVE     ///< it ends
} hx_collective_role_t;

/// One step. Texts are owned by the sequence.
typedef struct hx_collective {
  hx_collective_role_t role;  ///< what it is for
  uint32_t peer;              ///< of send and receive
  const char *operation;      ///< "distributed.all_gather", "scf.for"
  const char *facts;          ///< what the ranks have to agree on: attributes but the rank, the type
  uint32_t line;              ///< in the source; 0: none
  uint32_t column;            ///< in the source; 0: none
  uint64_t times;             ///< how often it is executed: loops with constant bounds; others count once
  bool is_exact;              ///< times is so
  uint64_t payload;           ///< bytes of what is moved, once, all rows and items of it
  uint64_t sent;              ///< bytes that this rank gives
  uint64_t received;          ///< by this rank each time, as hx_group_volume counts them
} hx_collective_t;

/// The collectives of a rank's program in the order in which they are reached. Immutable; any thread.
typedef struct hx_collectives hx_collectives_t;
/// @param params  for bytes; NULL: bytes are 0
/// @param group   symbol of the group; NULL: "world"
/// Refused (rank-mismatch): an operation that is for another rank or another number of ranks, naming it.
HX_API HX_MUST_USE hx_status_t hx_collectives_create(const hx_program_t *program, const hx_params_t *params,
                                                     const char *group, uint32_t rank, uint32_t size,
                                                     hx_collectives_t **out, hx_report_t *report);
/// Frees it; NULL is allowed.
HX_API void hx_collectives_release(hx_collectives_t *collectives);
/// How many there are.
HX_API size_t hx_collectives_count(const hx_collectives_t *collectives);
/// In the order of the program, borrowed; NULL where there is no such index.
HX_API const hx_collective_t *hx_collectives_get(const hx_collectives_t *collectives, size_t index);
/// All steps as text, one a line; equal texts are equal sequences.
HX_API const char *hx_collectives_text(const hx_collectives_t *collectives);
/// Whether ranks with these sequences meet: every collective is reached by all of them alike, every value that is sent
/// is received, and none waits for another in a circle (a send ends when it is received). Texts are from
/// hx_collectives_text, one a rank, in the order of the ranks.
/// Refused (rank-mismatch): names the first rank that differs, the step, and both operations. The same fault comes from
/// the same texts, so it is equal on every rank.
HX_API HX_MUST_USE hx_status_t hx_collectives_compare(const char *const *texts, size_t count, hx_report_t *report);

/// Every rank of the group brings its program: their sequences of collectives are exchanged and compared as
/// hx_collectives_compare does, before anything else is sent. Collective. The same fault on every rank.
/// @param symbol of the group in the program; NULL: "world"
HX_API HX_MUST_USE hx_status_t hx_group_compare_programs(hx_group_t *group, const hx_program_t *program,
                                                         const char *symbol, hx_report_t *report);

/// What a kind of sharding gives on so many ranks, counted on the ranks' programs.
typedef struct hx_scaling {
  uint32_t size;         ///< ranks
  uint32_t busiest;      ///< the rank with the most work
  uint64_t collectives;  ///< calls of one run
  uint64_t sent;         ///< bytes given by the rank that moves the most
  uint64_t received;     ///< bytes of the rank that moves the most
  uint64_t total;        ///< bytes that all ranks take: what the network carries
  uint64_t key_bytes;    ///< keys that the busiest rank needs
  double work;           ///< multiplications of rows of the busiest rank
  double share;          ///< of the work of one process; 1 / share bounds the speedup
} hx_scaling_t;
/// Makes the programs of the ranks and counts. Ranks beyond 64 are looked at by an even choice of 64, the first and the
/// last among them; their sequences are compared (hx_collectives_compare). The compilation is left as it is.
/// @param spec kind, group and pipeline; rank and size are not read
HX_API HX_MUST_USE hx_status_t hx_shard_predict(const hx_compilation_t *compilation, const hx_shard_spec_t *spec,
                                                uint32_t size, hx_scaling_t *out, hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
