// SPDX-License-Identifier: Apache-2.0
// Presets from their table, and the choice of special primes for another number of digits.
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/ckks/params_spec.h"
#include "core/ckks/primes.h"

#define DEFAULT_PRESET "n14-d7-s40"

// k of each prime of a list; 0 ends it (2^bits + 1 is none of the primes).
typedef struct hx_preset {
  const char *name;
  uint32_t log_n, base_bits;
  int16_t base[2];
  uint32_t depth_bits;
  int16_t depth[32];
  uint32_t special_bits;
  int16_t special[8];
  uint32_t digits;
  const char *purpose;
} hx_preset_t;

#define K(...) \
  { __VA_ARGS__ }

static const hx_preset_t presets[] = {
#define PRESET(name_, log_n_, base_bits_, base_, depth_bits_, depth_, special_bits_, special_, digits_, purpose_) \
  {name_, log_n_, base_bits_, base_, depth_bits_, depth_, special_bits_, special_, digits_, purpose_},
#include "core/ckks/presets.def"
};

size_t hx_params_preset_count(void) { return HX_COUNT_OF(presets); }
const char *hx_params_preset_name(size_t index) { return index < HX_COUNT_OF(presets) ? presets[index].name : NULL; }
const char *hx_params_preset_purpose(size_t index) {
  return index < HX_COUNT_OF(presets) ? presets[index].purpose : NULL;
}
const char *hx_params_default_name(void) { return DEFAULT_PRESET; }

// Primes 2^bits + k * 2N + 1 of one list, appended; |k| * 2N < 2^32, so nothing wraps.
static uint32_t add_primes(hx_params_spec_t *spec, uint32_t at, uint32_t bits, const int16_t *k) {
  uint32_t count = 0;
  for (; k[count] != 0; ++count) {
    const int64_t step = (int64_t)k[count] * ((int64_t)1 << (spec->log_n + 1));
    spec->primes[at + count] = (uint64_t)(((int64_t)1 << bits) + step + 1);
  }
  return count;
}

// scale_text holds the scale and outlives the spec.
static void fill_spec(const hx_preset_t *preset, hx_params_spec_t *spec, char scale_text[16]) {
  *spec = (hx_params_spec_t){.log_n = preset->log_n, .word = 64, .digits = preset->digits, .source = preset->name};
  spec->group_sizes[0] = add_primes(spec, 0, preset->base_bits, preset->base);
  const uint32_t depths = add_primes(spec, spec->group_sizes[0], preset->depth_bits, preset->depth);
  for (uint32_t group = 1; group <= depths; ++group) spec->group_sizes[group] = 1;
  spec->group_count = 1 + depths;
  spec->q_count = spec->group_sizes[0] + depths;
  spec->p_count = add_primes(spec, spec->q_count, preset->special_bits, preset->special);
  snprintf(scale_text, 16, "2^%u", preset->depth_bits);
  spec->scale = hx_str(scale_text);
}

hx_status_t hx_params_preset(const char *name, hx_params_t **out, hx_report_t *report) {
  for (size_t i = 0; name != NULL && i < HX_COUNT_OF(presets); ++i) {
    if (strcmp(presets[i].name, name) != 0) continue;
    hx_params_spec_t spec;
    char scale_text[16];
    fill_spec(&presets[i], &spec, scale_text);
    return hx_params_build(&spec, 0, out, report);
  }
  hx_text_t list;
  hx_text_init(&list);
  for (size_t i = 0; i < HX_COUNT_OF(presets); ++i) hx_text_printf(&list, "%s%s", i == 0 ? "" : ", ", presets[i].name);
  hx_report_fail(report, HX_CODE_PARAMS, "there is no preset \"%.60s\"; there are %s", name == NULL ? "" : name,
                 list.data == NULL ? "none" : list.data);
  hx_text_deinit(&list);
  return HX_STATUS_NOT_FOUND;
}

const char *hx_params_preset_by_digest(const uint8_t digest[32]) {
  for (size_t i = 0; i < HX_COUNT_OF(presets); ++i) {
    hx_params_spec_t spec;
    char scale_text[16];
    uint8_t own[32];
    fill_spec(&presets[i], &spec, scale_text);
    char *json = hx_params_spec_json(&spec);
    if (json == NULL) return NULL;
    hx_params_json_digest(json, own);
    hx_free(json);
    if (memcmp(own, digest, sizeof own) == 0) return presets[i].name;
  }
  return NULL;
}

// ------------------------------------------------------------------ another number of digits

// Bits that the special primes lie below: those of P's largest prime, or of Q's where there is no P.
static uint32_t special_bits(const hx_params_spec_t *spec) {
  uint64_t largest = 0;
  const uint32_t first = spec->p_count > 0 ? spec->q_count : 0;
  for (uint32_t id = first; id < spec->q_count + spec->p_count; ++id) {
    if (spec->primes[id] > largest) largest = spec->primes[id];
  }
  return 64 - (uint32_t)__builtin_clzll(largest);
}

static bool is_in_chain(const hx_params_spec_t *spec, uint64_t prime) {
  for (uint32_t id = 0; id < spec->q_count; ++id) {
    if (spec->primes[id] == prime) return true;
  }
  return false;
}

hx_status_t hx_params_choose_special(hx_params_spec_t *spec, uint32_t bits, hx_report_t *report) {
  uint64_t bound = (uint64_t)1 << bits;
  spec->p_count = 0;
  do {
    if (spec->q_count + spec->p_count >= HX_PRIMES_MAX) {
      return hx_report_fail(
          report, HX_CODE_PARAMS,
          "%u digits need more special primes than there is room for: %d primes in all; ask for more digits",
          spec->digits, HX_PRIMES_MAX);
    }
    do {
      bound = hx_prime_below(bound, spec->log_n);
    } while (bound != 0 && is_in_chain(spec, bound));
    if (bound == 0) {
      return hx_report_fail(
          report, HX_CODE_PARAMS,
          "there are not enough primes below 2^%u that are 1 mod 2N for %u digits; ask for more digits", bits,
          spec->digits);
    }
    spec->primes[spec->q_count + spec->p_count++] = bound;
  } while (hx_params_check_special(spec, NULL) != HX_STATUS_OK);
  return HX_STATUS_OK;
}

hx_status_t hx_params_with_digits(const hx_params_t *params, uint32_t digits, uint32_t flags, hx_params_t **out,
                                  hx_report_t *report) {
  if (digits < 1 || digits > params->spec.q_count) {
    return hx_report_fail(report, HX_CODE_PARAMS, "%u digits: a chain of %u primes has between 1 and %u", digits,
                          params->spec.q_count, params->spec.q_count);
  }
  hx_params_spec_t spec = params->spec;
  spec.digits = digits;
  HX_TRY(hx_params_choose_special(&spec, special_bits(&spec), report));
  return hx_params_build(&spec, flags, out, report);
}
