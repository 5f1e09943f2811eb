// SPDX-License-Identifier: Apache-2.0
// Who of a group is still there. MPI does not say it, and waits for ever; so every rank keeps one TCP connection to
// rank 0, which tells all others when one of them closes without a farewell: the kernel closes it when a process ends,
// however it ends. Where a machine vanishes, keep-alive data that nobody acknowledges ends the connection in time. A
// thread of the plugin watches, since the caller computes most of the time.
//
// The connection carries no payload. It is opened with a secret that went over MPI, so that whoever else connects is
// turned away; what an eavesdropper learns lets him end the group, no more.
#ifndef HELIOX_MPI_LIFELINE_H
#define HELIOX_MPI_LIFELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "heliox/plugin.h"

#define HX_LIFELINE_HOSTS 16

// Where rank 0 listens, and the secret: sent to all ranks by other means.
typedef struct hx_lifeline_call {
  uint8_t secret[32];
  uint16_t port;
  uint16_t family[HX_LIFELINE_HOSTS];  // AF_INET, AF_INET6; 0: no more
  uint8_t address[HX_LIFELINE_HOSTS][16];
  uint32_t scope[HX_LIFELINE_HOSTS];
} hx_lifeline_call;

typedef struct hx_lifeline hx_lifeline;

// Rank 0: listens on every address of this machine and says where. HX_UNAVAILABLE: no socket.
int32_t hx_lifeline_listen(uint32_t size, hx_lifeline **out, hx_lifeline_call *out_call, hx_error *error);
// Rank 0: takes the other ranks' connections, until `timeout_ms` have passed: HX_UNAVAILABLE names those that did not
// come. Then watches.
int32_t hx_lifeline_accept(hx_lifeline *line, uint32_t timeout_ms, hx_error *error);
// Any other rank: connects to the first address where rank 0 answers, and watches.
int32_t hx_lifeline_connect(const hx_lifeline_call *call, uint32_t rank, uint32_t size, uint32_t timeout_ms,
                            hx_lifeline **out, hx_error *error);
// [A] The first rank that has ended without a farewell, or HX_NONE.
uint32_t hx_lifeline_lost(const hx_lifeline *line);
// [A] The first rank that has said farewell, some seconds after it did: what it sent before may still be on its way.
uint32_t hx_lifeline_left(const hx_lifeline *line);
// Says farewell and frees; NULL is fine.
void hx_lifeline_close(hx_lifeline *line);

#endif
