// SPDX-License-Identifier: Apache-2.0
#ifndef HELIOX_CORE_BASE_LOG_H
#define HELIOX_CORE_BASE_LOG_H

#include "heliox/base.h"

// Levels as in the plugin ABI. Cheap when nobody listens. Never given secrets.
void hx_log(int level, const char *area, const char *format, ...) HX_PRINTF(3, 4);
bool hx_log_enabled(int level, const char *area);

#endif
