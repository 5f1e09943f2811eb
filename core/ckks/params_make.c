// SPDX-License-Identifier: Apache-2.0
// Parameter sets from wishes. The primes are chosen as those of the presets: the base from the largest primes below
// 2^bits; depth groups from the last on, each the unused one nearest to S^2 / 2^s, S the scale that a chain of
// squarings has there, so that the chain stays at 2^s; special primes the largest below 2^bits that are not in Q.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/ckks/params_spec.h"
#include "core/ckks/primes.h"
#include "core/ckks/security.h"

#define SCALE_BITS_MIN 20
#define SCALE_BITS_MAX 120
#define SEARCH_MAX 48  // first primes of a composite group that are tried

// Bits below which all kernels are fastest; above it primes are used where the scale asks for them.
static uint32_t usual_bits(uint32_t word) { return word == 32 ? 31 : 50; }
static uint32_t most_bits(uint32_t word) { return word == 32 ? 31 : 60; }

// ------------------------------------------------------------------ primes

static bool is_among(const uint64_t *primes, uint32_t count, uint64_t prime) {
  for (uint32_t i = 0; i < count; ++i) {
    if (primes[i] == prime) return true;
  }
  return false;
}

// The unused prime nearest to `target` that is 1 mod 2N, has at most `bits` bits and is not among those left out; 0:
// none within a factor 2.
static uint64_t nearest_prime(const hx_params_spec_t *spec, long double target, uint32_t bits, const uint64_t *left_out,
                              uint32_t left_count) {
  const uint64_t step = (uint64_t)1 << (spec->log_n + 1), limit = (uint64_t)1 << bits;
  if (!(target > 2.0L * (long double)step) || target >= 2.0L * (long double)limit) return 0;
  uint64_t down = (uint64_t)(target / (long double)step) * step + 1, up = down + step;
  const uint64_t lowest = (uint64_t)(target / 2);
  while (down > lowest || up < limit) {
    const bool go_up = up < limit && (down <= lowest || (long double)up - target < target - (long double)down);
    const uint64_t candidate = go_up ? up : down;
    *(go_up ? &up : &down) = go_up ? up + step : down - step;
    if (candidate >= limit || (long double)candidate > 2 * target) {
      if (go_up) up = limit;
      continue;
    }
    if (hx_prime_is(candidate) && !is_among(spec->primes, HX_PRIMES_MAX, candidate) &&
        !is_among(left_out, left_count, candidate)) {
      return candidate;
    }
  }
  return 0;
}

// Primes of one depth group: their product nearest to target, among the choices of all but the last as the nearest ones
// to the root. False: not enough primes.
static bool choose_group(hx_params_spec_t *spec, uint32_t at, uint32_t size, long double target) {
  const uint32_t bits = most_bits(spec->word) + (spec->word == 64);  // below 2^61 or 2^31
  if (size == 1) return (spec->primes[at] = nearest_prime(spec, target, bits, NULL, 0)) != 0;
  const long double root = powl(target, 1.0L / size);
  for (uint32_t i = 0; i + 2 < size; ++i) {
    if ((spec->primes[at + i] = nearest_prime(spec, root, bits, NULL, 0)) == 0) return false;
    target /= (long double)spec->primes[at + i];
  }
  uint64_t tried[SEARCH_MAX] = {0}, best[2] = {0};
  long double least = INFINITY;
  for (uint32_t k = 0; k < SEARCH_MAX; ++k) {
    const uint64_t first = nearest_prime(spec, root, bits, tried, k);
    if (first == 0) break;
    tried[k] = first;
    const uint64_t second = nearest_prime(spec, target / (long double)first, bits, &first, 1);
    if (second == 0) continue;
    const long double distance = fabsl((long double)first * (long double)second / target - 1);
    if (distance < least) {
      least = distance;
      best[0] = first;
      best[1] = second;
    }
  }
  spec->primes[at + size - 2] = best[0];
  spec->primes[at + size - 1] = best[1];
  return best[0] != 0;
}

static bool choose_base(hx_params_spec_t *spec, uint32_t bits) {
  const uint32_t most = spec->word == 32 ? 31 : 60;
  const uint32_t size = (bits + most - 1) / most;
  uint64_t bound = (uint64_t)1 << (bits + size - 1) / size;
  for (uint32_t i = 0; i < size; ++i) {
    bound = hx_prime_below(bound, spec->log_n);
    if (bound == 0) return false;
    spec->primes[i] = bound;
  }
  spec->group_sizes[0] = spec->q_count = size;
  return true;
}

// Groups L .. 1: the ids of the last group come last, and it is chosen first.
static bool choose_depths(hx_params_spec_t *spec, uint32_t depth, uint32_t scale_bits, uint32_t size) {
  const uint32_t first = spec->q_count;
  long double ratio = 1;  // S / 2^s
  spec->q_count = first + depth * size;
  for (uint32_t group = depth; group > 0; --group) {
    const uint32_t at = first + (group - 1) * size;
    if (!choose_group(spec, at, size, ldexpl(ratio * ratio, (int)scale_bits))) return false;
    long double product = ldexpl(1, -(int)scale_bits);
    for (uint32_t i = 0; i < size; ++i) product *= (long double)spec->primes[at + i];
    ratio = ratio * ratio / product;
    spec->group_sizes[group] = size;
  }
  spec->group_count = depth + 1;
  return true;
}

// ------------------------------------------------------------------ sizes

// Bits of the worst slot after `depth` products with fresh values of size 1, rescaled: each adds a fresh error and a
// rounding, of one size; the worst of n slots lies at about 0.55 ln n sigmas (a slot's error is a product with the
// secret's slot value).
static double precision_of(uint32_t log_n, uint32_t depth, uint32_t scale_bits) {
  const double n = ldexp(1.0, (int)log_n), rounding = (1.0 + n * 2.0 / 3.0) / 12.0;
  const double variance = (1.0 + 2.0 * depth) * rounding;
  return scale_bits - 0.5 * log2(n * variance) - log2(0.55 * log(n / 2));
}

static uint32_t scale_for(const hx_params_wish_t *wish, uint32_t log_n) {
  if (wish->scale_bits != 0) return wish->scale_bits;
  uint32_t bits = SCALE_BITS_MIN;
  while (bits <= SCALE_BITS_MAX && precision_of(log_n, wish->depth, bits) < wish->precision) ++bits;
  return bits;
}

// One choice of everything but the special primes' number: digits, then base size.
typedef struct hx_plan {
  uint32_t log_n, scale_bits, base_bits, group, digits;
} hx_plan_t;

static bool fill(const hx_params_wish_t *wish, const hx_plan_t *plan, char scale_text[16], hx_params_spec_t *spec) {
  *spec = (hx_params_spec_t){
      .log_n = plan->log_n, .word = wish->word == 0 ? 64 : wish->word, .digits = plan->digits, .weight = wish->weight};
  snprintf(scale_text, 16, "2^%u", plan->scale_bits);
  spec->scale = hx_str(scale_text);
  if (!choose_base(spec, plan->base_bits)) return false;
  if (spec->q_count + wish->depth * plan->group >= HX_PRIMES_MAX) return false;
  return choose_depths(spec, wish->depth, plan->scale_bits, plan->group);
}

static bool fits(const hx_params_spec_t *spec) {
  hx_product_t product;
  hx_product_set_one(&product);
  for (uint32_t id = 0; id < spec->q_count + spec->p_count; ++id) hx_product_multiply(&product, spec->primes[id]);
  return hx_product_bits(&product) <= hx_security_limit(spec->log_n);
}

// Special primes for `digits`; those chosen before go.
static bool add_special(hx_params_spec_t *spec, uint32_t digits, uint32_t bits) {
  memset(spec->primes + spec->q_count, 0, (HX_PRIMES_MAX - spec->q_count) * sizeof spec->primes[0]);
  spec->digits = digits;
  spec->p_count = 0;
  return hx_params_choose_special(spec, bits, NULL) == HX_STATUS_OK;
}

// The fewest digits with which the set stays within the table; keys are smallest and key switches fastest then.
static bool choose_digits(const hx_params_wish_t *wish, hx_params_spec_t *spec, uint32_t special_bits, bool insecure) {
  if (wish->no_special) return fits(spec) || insecure;
  if (wish->digits != 0) return add_special(spec, wish->digits, special_bits) && (fits(spec) || insecure);
  for (uint32_t digits = 2; digits <= spec->q_count; ++digits) {
    if (add_special(spec, digits, special_bits) && fits(spec)) return true;
  }
  return add_special(spec, spec->q_count < 4 ? spec->q_count : 4, special_bits) && (fits(spec) || insecure);
}

// Tries one N. On success the spec is whole.
static bool try_degree(const hx_params_wish_t *wish, uint32_t log_n, bool insecure, char scale_text[16],
                       hx_params_spec_t *spec) {
  const uint32_t word = wish->word == 0 ? 64 : wish->word;
  hx_plan_t plan = {.log_n = log_n, .scale_bits = scale_for(wish, log_n), .digits = 1};
  if (plan.scale_bits > SCALE_BITS_MAX) return false;
  // Room for messages up to 2^9, where the usual size of primes leaves it; a little less before a larger N is taken.
  const uint32_t usual = usual_bits(word), most = most_bits(word);
  uint32_t wanted = plan.scale_bits + 10;
  if (plan.scale_bits < usual && wanted > usual) wanted = usual;
  if (plan.scale_bits >= usual && plan.scale_bits < most && wanted > most) wanted = most;
  const uint32_t least = wanted >= plan.scale_bits + 10 ? plan.scale_bits + 8 : wanted;
  const uint32_t groups = (plan.scale_bits + most - 1) / most;
  plan.group = wish->group_primes != 0 ? wish->group_primes : groups;
  for (uint32_t bits = wish->base_bits != 0 ? wish->base_bits : wanted;; --bits) {
    plan.base_bits = bits;
    const uint32_t special = wish->special_bits != 0 ? wish->special_bits : word == 32 ? 31 : bits < most ? bits : most;
    if (fill(wish, &plan, scale_text, spec) && choose_digits(wish, spec, special, insecure)) return true;
    if (wish->base_bits != 0 || bits <= least) return false;
  }
}

// ------------------------------------------------------------------ wishes

static hx_status_t check_wish(const hx_params_wish_t *wish, hx_report_t *report) {
  if (wish->word != 0 && wish->word != 64 && wish->word != 32)
    return hx_report_fail(report, HX_CODE_PARAMS, "word = %u: a residue word has 64 or 32 bits", wish->word);
  if ((wish->scale_bits == 0) == !(wish->precision > 0))
    return hx_report_fail(report, HX_CODE_PARAMS,
                          "give either the precision in bits or the scale's bits; given are precision %g, scale 2^%u",
                          wish->precision, wish->scale_bits);
  if (wish->scale_bits != 0 && (wish->scale_bits < SCALE_BITS_MIN || wish->scale_bits > SCALE_BITS_MAX))
    return hx_report_fail(report, HX_CODE_PARAMS, "a scale of 2^%u: 2^%d to 2^%d are built", wish->scale_bits,
                          SCALE_BITS_MIN, SCALE_BITS_MAX);
  if (wish->log_n != 0 && (wish->log_n < 3 || wish->log_n > HX_SECURITY_LOG_N_MAX))
    return hx_report_fail(report, HX_CODE_PARAMS, "log_n = %u: N is between 2^3 and 2^%d", wish->log_n,
                          HX_SECURITY_LOG_N_MAX);
  if (wish->group_primes > 4)
    return hx_report_fail(report, HX_CODE_PARAMS, "groups of %u primes: a depth group has 1 to 4", wish->group_primes);
  if (wish->depth >= HX_PRIMES_MAX || wish->digits > HX_PRIMES_MAX)
    return hx_report_fail(report, HX_CODE_PARAMS, "depth %u and %u digits: there are at most %d primes", wish->depth,
                          wish->digits, HX_PRIMES_MAX);
  const uint32_t bits = wish->word == 32 ? 31 : 61;
  if (wish->special_bits > bits || wish->base_bits > 2 * bits)
    return hx_report_fail(report, HX_CODE_PARAMS, "special primes of %u bits, a base of %u: a prime has at most %u",
                          wish->special_bits, wish->base_bits, bits);
  return HX_STATUS_OK;
}

hx_status_t hx_params_make(const hx_params_wish_t *wish, uint32_t flags, hx_params_t **out, hx_report_t *report) {
  if (wish == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_params_make: an argument is NULL");
  HX_TRY(check_wish(wish, report));
  const bool insecure = (flags & HX_PARAMS_INSECURE) != 0;
  uint32_t first = wish->log_n != 0 ? wish->log_n : HX_SECURITY_LOG_N_MIN;
  const uint32_t last = wish->log_n != 0 ? wish->log_n : HX_SECURITY_LOG_N_MAX;
  while (first < last && (uint64_t)1 << (first - 1) < wish->slots) ++first;
  if (wish->slots > (uint32_t)1 << (last - 1) || (wish->slots & (wish->slots - 1)) != 0)
    return hx_report_fail(report, HX_CODE_SLOTS, "%u slots: a power of two up to %u", wish->slots, 1u << (last - 1));
  hx_params_spec_t spec;
  char scale_text[16];
  // Without a degree given, the smallest that is secure; the insecure flag only admits what the caller fixed.
  for (uint32_t log_n = first; log_n <= last; ++log_n) {
    if (try_degree(wish, log_n, insecure && wish->log_n != 0, scale_text, &spec))
      return hx_params_build(&spec, flags, out, report);
  }
  char what[96];
  if (wish->scale_bits != 0) {
    snprintf(what, sizeof what, "scale 2^%u", wish->scale_bits);
  } else {
    snprintf(what, sizeof what, "%.1f bits of precision (scale 2^%u at N = 2^%u)", wish->precision,
             scale_for(wish, last), last);
  }
  return hx_report_fail(report, HX_CODE_INSECURE,
                        "no set with depth %u, %s and %u-bit words stays within the 128-bit table up to N = 2^%u "
                        "(log2(QP) < %u), or there are not enough primes; ask for less depth or precision%s",
                        wish->depth, what, wish->word == 0 ? 64 : wish->word, last, hx_security_limit(last),
                        wish->digits != 0 ? ", or for more digits" : "");
}
