// SPDX-License-Identifier: Apache-2.0
// The sequence of collectives of a rank's program.
#ifndef HELIOX_CORE_PASSES_COLLECTIVES_H
#define HELIOX_CORE_PASSES_COLLECTIVES_H

#include "core/ir/ir.h"
#include "heliox/shard.h"

// Bytes that a rank gives to and takes from the others in one collective, as hx_group_volume counts them: what it gives
// counts once, however many ranks get it. Without a ring, and where the type is open: zeros.
typedef struct hx_volume {
  uint64_t payload;  // what is moved, once
  uint64_t sent, received;
} hx_volume_t;
hx_volume_t hx_collective_volume(const hx_ir_op_t *op, const hx_ring *ring, uint32_t rank, uint32_t size);

// The sequence of @main of a program without calls. ring NULL: bytes are 0.
hx_status_t hx_collectives_read(const hx_program_t *program, const hx_ring *ring, hx_str_t group, uint32_t rank,
                                uint32_t size, hx_collectives_t **out, hx_report_t *report);

#endif
