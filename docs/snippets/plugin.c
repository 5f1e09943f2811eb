// SPDX-License-Identifier: Apache-2.0
// What stands around the fragment of docs/writing-a-plugin.md.
#include "heliox/support/accept.h"
#include "heliox/support/error.h"
#include "heliox/support/prepare.h"

int32_t your_plan(hxs_build *build);
int32_t (*fragment(void))(hxs_build *);

// SNIPPET

int32_t (*fragment(void))(hxs_build *) { return build_neg; }
