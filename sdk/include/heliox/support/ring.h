// SPDX-License-Identifier: Apache-2.0
// A ring, checked and copied: what the tables of every plugin begin with.
#ifndef HELIOX_SUPPORT_RING_H
#define HELIOX_SUPPORT_RING_H

#include <stdbool.h>

#include "heliox/plugin.h"
#include "heliox/support/number.h"

#ifdef __cplusplus
extern "C" {
#endif

// What any ring of the contract stays within.
#define HXS_LOG_N_MIN 3u
// See HXS_LOG_N_MIN.
#define HXS_LOG_N_MAX 17u
// Of Q and P together.
#define HXS_PRIMES_MAX 256u

// A checked copy of a ring.
typedef struct hxs_ring {
  const char *plugin;     // short name of the plugin, for messages
  uint32_t log_n;         // N = 2^log_n
  uint32_t word;          // bits of a residue's word
  uint32_t q_count;       // primes of Q
  uint32_t p_count;       // special primes
  uint32_t digit_run;     // primes of a digit
  uint32_t group_count;   // depth groups
  uint32_t bits;          // of the largest prime
  uint8_t digest[32];     // of the ring
  hxs_modulus *moduli;    // [q_count + p_count], by prime id
  uint64_t *psi;          // [q_count + p_count]
  uint32_t *group_sizes;  // [group_count]
} hxs_ring;

// [A] Copies the ring; hxs_ring_clear frees what it holds, after a failure too. Refuses one that breaks its contract:
// sizes, primes that are no primes, not 1 mod 2N, too large for their word (2^61, 2^31) or twice there, a psi that is
// no primitive 2N-th root, a digit_run of 0, groups that do not add up to q_count. `plugin` is borrowed.
int32_t hxs_ring_init(hxs_ring *ring, const hx_ring *from, const char *plugin, hx_error *error);
// Frees what it holds.
void hxs_ring_clear(hxs_ring *ring);
// Whether a copy was made of this ring.
bool hxs_ring_fits(const hxs_ring *ring, const hx_ring *from);

static inline uint32_t hxs_ring_primes(const hxs_ring *ring) { return ring->q_count + ring->p_count; }
static inline size_t hxs_ring_row_bytes(const hxs_ring *ring) { return ((size_t)ring->word / 8) << ring->log_n; }

#ifdef __cplusplus
}
#endif

#endif
