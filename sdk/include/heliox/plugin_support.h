// SPDX-License-Identifier: Apache-2.0
// What most plugins need and none should write again; a static library that only knows heliox/plugin.h.
//
//   chain.h    chains of operations that can be prepared as one
//   error.h    failures with a sentence, checks of struct sizes
//   host.h     the host's services
//   modular.h  arithmetic of one prime, inline: for kernels on the host
//   number.h   primes, constants of reductions, orders of transforms and automorphisms
//   ring.h     a ring, checked and copied
//   view.h     operands and results, checked and copied
//   prepare.h  hx_impl: from a region to the plugin's own object; checks and attributes for build functions
//   accept.h   what each operation accepts
//   switched.h the same of those with a switching key
//   base.h     constants of conversions between bases
//   rowmap.h   operations that copy whole rows
//   query.h    the entry point
//   gate.h     queues: one caller at a time, late failures
//   sha256.h   digests of files beside the library
//   cache.h    compiled programs on disk
//   compiler_log.h  what is wrong, of what a compiler says
//
// Every name begins with hxs_ or HXS_ and is hidden in a plugin. Thread rules are those of heliox/plugin.h.
#ifndef HELIOX_PLUGIN_SUPPORT_H
#define HELIOX_PLUGIN_SUPPORT_H

#include "heliox/support/accept.h"
#include "heliox/support/base.h"
#include "heliox/support/cache.h"
#include "heliox/support/chain.h"
#include "heliox/support/compiler_log.h"
#include "heliox/support/error.h"
#include "heliox/support/gate.h"
#include "heliox/support/host.h"
#include "heliox/support/modular.h"
#include "heliox/support/number.h"
#include "heliox/support/prepare.h"
#include "heliox/support/query.h"
#include "heliox/support/ring.h"
#include "heliox/support/rowmap.h"
#include "heliox/support/sha256.h"
#include "heliox/support/switched.h"
#include "heliox/support/view.h"

#endif
