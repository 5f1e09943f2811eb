// SPDX-License-Identifier: Apache-2.0
// Sizes that several layers share.
#ifndef HELIOX_CORE_BASE_LIMITS_H
#define HELIOX_CORE_BASE_LIMITS_H

#define HX_PRIMES_MAX 256    // primes of one parameter set, Q and P together
#define HX_BATCH_RANK_MAX 4  // batch axes of a tensor
#define HX_NAME_MAX 64       // bytes of a short name with its NUL
#define HX_RANKS_MAX 65536   // processes of one group

#endif
