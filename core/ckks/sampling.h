// SPDX-License-Identifier: Apache-2.0
// Secrets and errors. Constant time: no branch and no address depends on what is drawn.
#ifndef HELIOX_CORE_CKKS_SAMPLING_H
#define HELIOX_CORE_CKKS_SAMPLING_H

#include "core/ckks/random.h"

#define HX_ERROR_MAX 19  // 6 sigma, sigma = 3.2

// Uniform on {-1, 0, 1}: floor(3 w / 2^64) - 1 of a uniform word w. Statistical distance per coefficient below 2^-63.
void hx_sample_ternary(hx_random_t *random, size_t count, int8_t *out);

// Uniform among the vectors of {-1, 0, 1}^count with exactly `weight` nonzero entries: a random order by sorting
// random 62-bit keys through a fixed network, drawn again if two keys are equal (what the repetition shows is
// independent of the result). count is a power of two, weight <= count. False: out of memory.
bool hx_sample_weight(hx_random_t *random, size_t count, size_t weight, int8_t *out);

// Discrete Gaussian, sigma 3.2, cut at |e| <= 19: a uniform sign bit and 63 bits against the table of cumulative
// probabilities of |e|, each rounded to 2^-63. Statistical distance to the cut distribution below 2^-59 per
// coefficient.
void hx_sample_error(hx_random_t *random, size_t count, int8_t *out);

#endif
