// SPDX-License-Identifier: Apache-2.0
// Bytes of values and of those that live at once, before anything is linked.
#ifndef HELIOX_CORE_PASSES_MEMORY_H
#define HELIOX_CORE_PASSES_MEMORY_H

#include "core/ir/ir.h"

// Dense bytes of a ciphertext, plaintext or tensor of a complete type; 0 for others, and without a ring.
uint64_t hx_type_bytes(const hx_type_t *type, const hx_ring *ring);

typedef struct hx_memory_need {
  uint64_t peak;             // of intermediates that live at once; inputs, outputs, materials and keys apart
  uint64_t unshared;         // all intermediates side by side
  const hx_ir_op_t *at;      // where the peak is; NULL: there are none
  const hx_ir_value_t *top;  // the largest value that lives there
} hx_memory_need_t;

// Liveness over @main of a program with complete types, regions included: a loop keeps what it reads from outside, and
// what its body needs at most. Views have no memory of their own. What implementations compute in place is not known
// here, so an executable may take less; gaps between values may make it take more.
hx_status_t hx_program_memory(hx_program_t *program, const hx_ring *ring, hx_memory_need_t *out);

// The same for what lies on one device (heliox.device; an empty name: home) of a program that places its operations.
hx_status_t hx_program_memory_on(hx_program_t *program, const hx_ring *ring, hx_str_t device, hx_memory_need_t *out);
// Devices that operations name, each once, in order of first use, home not among them; texts of the program. At most
// `room`; returns how many there are.
size_t hx_program_devices(hx_program_t *program, hx_str_t *out, size_t room);

#endif
