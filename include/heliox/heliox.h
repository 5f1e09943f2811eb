// SPDX-License-Identifier: Apache-2.0
/// @file
/// All of the public interface. Levels: parameters, keys and values; the engine (immediate calls); programs
/// (parse, link, run); plugins and backends.
#ifndef HELIOX_HELIOX_H
#define HELIOX_HELIOX_H

#include "heliox/base.h"
#include "heliox/bundle.h"
#include "heliox/callable.h"
#include "heliox/capture.h"
#include "heliox/circuits.h"
#include "heliox/emit.h"
#include "heliox/engine.h"
#include "heliox/file.h"
#include "heliox/group.h"
#include "heliox/import.h"
#include "heliox/keys.h"
#include "heliox/ops.h"
#include "heliox/params.h"
#include "heliox/passes.h"
#include "heliox/plan.h"
#include "heliox/plugins.h"
#include "heliox/precision.h"
#include "heliox/precompiled.h"
#include "heliox/program.h"
#include "heliox/queue.h"
#include "heliox/shard.h"
#include "heliox/trace.h"
#include "heliox/tune.h"
#include "heliox/value.h"

#endif
