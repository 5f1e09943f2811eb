// SPDX-License-Identifier: Apache-2.0
// Checks variants of the cpu plugin's row kernels against portable code, word by word, at the ends of what their
// headers allow: zeros, all q - 1, all of the largest words that a kernel takes, random ones; with guard words around
// what is written, in place as well. The micro suite checks what it is about to measure; a test checks every size.
#ifndef HX_BENCH_HARNESS_H
#define HX_BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_MESSAGE 160

// Kernels that `variant` selects, for primes of at most `bits` bits in a ring of 2^log_n: on `primes` of them, the
// largest below 2^bits first and then the next ones. Returns false with what differs, or why it cannot be run; *out_ran
// says whether the variant exists on this machine.
bool bench_check_variant(const char *variant, uint32_t log_n, uint32_t bits, uint32_t primes, bool *out_ran,
                         char message[BENCH_MESSAGE]);

#endif
