// SPDX-License-Identifier: Apache-2.0
// What compilers that a plugin calls while it runs say.
#ifndef HELIOX_SUPPORT_COMPILER_LOG_H
#define HELIOX_SUPPORT_COMPILER_LOG_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// [A] The lines of a compiler's log that say what is wrong, at most `room` - 1 bytes: those with "error" where there
// are any, else the first ones; paths of temporary files left out.
void hxs_compiler_log_shorten(const char *log, char *out, size_t room);

#ifdef __cplusplus
}
#endif

#endif
