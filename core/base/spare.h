// SPDX-License-Identifier: Apache-2.0
// Large blocks that were freed and are kept for the next one of their size, process-wide: the system gives fresh pages
// zeroed, which takes longer than most operations that then write them. At most 32 blocks, together at most 512 MiB and
// a 32nd of the machine's memory; beyond that the oldest are freed. Any thread.
#ifndef HELIOX_CORE_BASE_SPARE_H
#define HELIOX_CORE_BASE_SPARE_H

#include <stdbool.h>
#include <stddef.h>

// A kept block of exactly `size` bytes, its contents as they were left; NULL: there is none.
void *hx_spare_take(size_t size);
// Takes over memory of malloc's kin; frees it, or older blocks, where there is no room. Secrets are wiped before.
void hx_spare_keep(void *address, size_t size);
// Bytes that are kept now.
size_t hx_spare_bytes(void);
// Frees all of them. False: there was nothing to free, or the list was busy.
bool hx_spare_clear(void);

#endif
