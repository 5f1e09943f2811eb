// SPDX-License-Identifier: Apache-2.0
// The roots of the encoding transform, correct to about 2^-103 and independent of the C library: exact reduction
// of the angle to [0, pi/4], a table of 65 angles, and Taylor series, all in double-double.
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/memory.h"
#include "core/ckks/fft_roots.h"

static const hx_dd_t quarter_pi = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};

enum { STEPS = 64 };  // angles of the table: pi/4 * i / STEPS

static struct { hx_dd_t cosine[STEPS + 1], sine[STEPS + 1]; } anchors;
static pthread_once_t anchors_once = PTHREAD_ONCE_INIT;
static _Atomic(hx_fft_level_t *) levels[HX_FFT_LOG_SLOTS_MAX];
static _Atomic(uint32_t *) positions[HX_FFT_LOG_SLOTS_MAX + 1];
static pthread_mutex_t levels_lock = PTHREAD_MUTEX_INITIALIZER;

// sine and cosine - 1 of 0 <= x <= pi/4 by their series up to x^(2 terms + 1). The last term left out is below
// (pi/4)^58 / 58! < 2^-270 for 28 terms, and 2^-120 for 8 terms and x < pi/256.
static void series(hx_dd_t x, int terms, hx_dd_t *out_cosine_less_one, hx_dd_t *out_sine) {
  const hx_dd_t square = hx_dd_mul(x, x);
  // Horner from the last term: 1 - x^2/(k (k+1)) * (1 - ...), so that each error is scaled down on its way out.
  const hx_dd_t one = {1.0, 0.0};
  hx_dd_t sine = one, cosine = one;
  for (int k = terms; k >= 1; --k) {
    const double even = 2.0 * k;
    sine = hx_dd_sub(one, hx_dd_div_double(hx_dd_mul(square, sine), even * (even + 1.0)));
    if (k > 1) cosine = hx_dd_sub(one, hx_dd_div_double(hx_dd_mul(square, cosine), even * (even - 1.0)));
  }
  *out_sine = hx_dd_mul(x, sine);
  *out_cosine_less_one = hx_dd_mul(square, (hx_dd_t){-0.5 * cosine.hi, -0.5 * cosine.lo});
}

static void make_anchors(void) {
  for (int i = 0; i <= STEPS; ++i) {
    hx_dd_t less_one;
    series(hx_dd_mul_double(quarter_pi, (double)i / STEPS), 28, &less_one, &anchors.sine[i]);
    anchors.cosine[i] = hx_dd_add((hx_dd_t){1.0, 0.0}, less_one);
  }
}

// cos and sin of pi/4 * numerator / denominator, 0 <= numerator <= denominator, a power of two.
static void first_octant(uint32_t numerator, uint32_t denominator, hx_dd_t *out_cosine, hx_dd_t *out_sine) {
  const uint32_t anchor = denominator >= STEPS ? numerator / (denominator / STEPS) : numerator * (STEPS / denominator);
  // The rest is a dyadic number below 1 / STEPS: exact.
  const double rest = (double)numerator / denominator - (double)anchor / STEPS;
  hx_dd_t less_one, sine;
  series(hx_dd_mul_double(quarter_pi, rest), 8, &less_one, &sine);
  // cos(a + d) = cos a + (cos a (cos d - 1) - sin a sin d): what is added is below 1/64, and so is its error.
  const hx_dd_t c = anchors.cosine[anchor], s = anchors.sine[anchor];
  *out_cosine = hx_dd_add(c, hx_dd_sub(hx_dd_mul(c, less_one), hx_dd_mul(s, sine)));
  *out_sine = hx_dd_add(s, hx_dd_add(hx_dd_mul(s, less_one), hx_dd_mul(c, sine)));
}

void hx_fft_root(uint32_t numerator, uint32_t log_denominator, hx_dd_t *out_cosine, hx_dd_t *out_sine) {
  (void)pthread_once(&anchors_once, make_anchors);
  const uint32_t half_turn = (uint32_t)1 << log_denominator;
  // Mirror at pi/2, then at pi/4. An odd numerator is on neither, unless the whole is pi/4 itself.
  const bool left = 2 * numerator > half_turn;
  const uint32_t right = left ? half_turn - numerator : numerator;
  const bool steep = 4 * right > half_turn;
  const uint32_t octant = steep ? half_turn / 2 - right : right;
  hx_dd_t cosine, sine;
  first_octant(octant, half_turn / 4, &cosine, &sine);
  if (steep) {
    const hx_dd_t swap = cosine;
    cosine = sine;
    sine = swap;
  }
  *out_cosine = left ? (hx_dd_t){-cosine.hi, -cosine.lo} : cosine;
  *out_sine = sine;
}

// Roots of the level with 2^log_blocks blocks.
static hx_fft_level_t *make_level(uint32_t log_blocks) {
  const uint32_t blocks = (uint32_t)1 << log_blocks;
  hx_fft_level_t *level = hx_alloc(sizeof *level + 4 * (size_t)blocks * sizeof(double));
  if (level == NULL) return NULL;
  level->re = level->numbers;
  level->im = level->re + blocks;
  level->re_low = level->im + blocks;
  level->im_low = level->re_low + blocks;
  for (uint32_t b = 0; b < blocks; b += 2) {
    hx_dd_t cosine, sine;
    hx_fft_root(1 + 4 * hx_reverse_bits(b, log_blocks), log_blocks + 2, &cosine, &sine);
    level->re[b] = cosine.hi, level->re_low[b] = cosine.lo;
    level->im[b] = sine.hi, level->im_low[b] = sine.lo;
    if (b + 1 == blocks) break;
    // The odd neighbour's reversal is larger by half the blocks, its angle by pi/2: times i.
    level->re[b + 1] = -sine.hi, level->re_low[b + 1] = -sine.lo;
    level->im[b + 1] = cosine.hi, level->im_low[b + 1] = cosine.lo;
  }
  return level;
}

const hx_fft_level_t *hx_fft_level(uint32_t log_blocks) {
  return atomic_load_explicit(&levels[log_blocks], memory_order_acquire);
}

const uint32_t *hx_fft_positions(uint32_t log_slots) {
  return atomic_load_explicit(&positions[log_slots], memory_order_acquire);
}

static hx_status_t make_positions(uint32_t log_slots) {
  if (hx_fft_positions(log_slots) != NULL) return HX_STATUS_OK;
  uint32_t *table = hx_alloc(sizeof *table << log_slots);
  if (table == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_fft_slot_positions(log_slots, table);
  atomic_store_explicit(&positions[log_slots], table, memory_order_release);
  return HX_STATUS_OK;
}

hx_status_t hx_fft_prepare(uint32_t log_slots) {
  // Lower levels are made first, and the positions last.
  if (hx_fft_positions(log_slots) != NULL) return HX_STATUS_OK;
  hx_status_t status = HX_STATUS_OK;
  (void)pthread_mutex_lock(&levels_lock);
  for (uint32_t log_blocks = 0; log_blocks < log_slots && status == HX_STATUS_OK; ++log_blocks) {
    if (hx_fft_level(log_blocks) != NULL) continue;
    hx_fft_level_t *level = make_level(log_blocks);
    if (level == NULL) status = HX_STATUS_OUT_OF_MEMORY;
    atomic_store_explicit(&levels[log_blocks], level, memory_order_release);
  }
  if (status == HX_STATUS_OK) status = make_positions(log_slots);
  (void)pthread_mutex_unlock(&levels_lock);
  return status;
}
