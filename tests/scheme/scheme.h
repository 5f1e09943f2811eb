// SPDX-License-Identifier: Apache-2.0
// What tests of the whole scheme share: a parameter set with keys and an engine on the cpu plugin, messages from a
// seed, encryption and decryption, the worst slot against predicted noise, and programs of one or more operations.
// Include after cmocka.h. Key generation and encryption draw from the system: what is asserted of noise holds with 12
// sigmas.
#ifndef HELIOX_TESTS_SCHEME_SCHEME_H
#define HELIOX_TESTS_SCHEME_SCHEME_H

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/ckks/encode.h"
#include "core/ckks/noise.h"
#include "core/ckks/ring_host.h"
#include "core/link/link.h"
#include "heliox/engine.h"
#include "heliox/file.h"
#include "tests/unit/case_sets.h"

typedef double complex scheme_number_t;

typedef struct scheme {
  hx_params_t *params;
  hx_keys_t *keys;
  hx_plugins_t *plugins;
  hx_backend_t *backend;
  hx_engine_t *engine;
  hx_report_t *report;
  uint32_t slots;  // N/2
} scheme_t;

// Slot errors are products with the secret's slot value: 12 sigmas are passed once in 10^9 slots. Where they are
// products with its square (a rescale of three components; see core/ckks/noise.h) the same chance is at 40.
#define SCHEME_SIGMAS 12.0
#define SCHEME_SIGMAS_SQUARE 40.0

static inline void scheme_fail(const scheme_t *s, const char *what) {
  const hx_fault_t *fault = hx_report_get(s->report, 0);
  fail_msg("%s: %s: %s", what, fault == NULL ? "no fault" : hx_code_info(fault->code)->word,
           fault == NULL ? "" : fault->text);
}

#define SCHEME_OK(s_, call_)                                \
  do {                                                      \
    if ((call_) != HX_STATUS_OK) scheme_fail((s_), #call_); \
  } while (0)

// Takes the parameters. Rotations are steps of N/2 slots.
static inline void scheme_open(scheme_t *s, hx_params_t *params, const int64_t *steps, size_t step_count) {
  assert_non_null(params);
  *s =
      (scheme_t){.params = params, .report = hx_report_create(), .slots = (uint32_t)1 << (hx_params_log_n(params) - 1)};
  const hx_keygen_options_t options = {.parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = step_count};
  const hx_plugins_options_t place = {.path = HELIOX_BUILD_DIR "/lib/heliox/plugins", .only_path = true};
  SCHEME_OK(s, hx_keys_generate(params, &options, &s->keys, s->report));
  SCHEME_OK(s, hx_plugins_discover(&place, &s->plugins, s->report));
  hx_report_clear(s->report);  // warnings about directories
  SCHEME_OK(s, hx_backend_create(s->plugins, "cpu", &s->backend, s->report));
  SCHEME_OK(s, hx_engine_create(params, s->keys, s->backend, &s->engine, s->report));
}

static inline void scheme_open_preset(scheme_t *s, const char *name, const int64_t *steps, size_t step_count) {
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_preset(name, &params, NULL), HX_STATUS_OK);
  scheme_open(s, params, steps, step_count);
}

static inline void scheme_close(scheme_t *s) {
  hx_engine_release(s->engine);
  hx_backend_release(s->backend);
  hx_plugins_release(s->plugins);
  hx_keys_release(s->keys);
  hx_params_release(s->params);
  hx_report_release(s->report);
}

// ------------------------------------------------------------------ messages

static inline uint64_t scheme_word(uint64_t *seed) {
  uint64_t x = *seed += 0x9e3779b97f4a7c15u;  // SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline double scheme_unit(uint64_t *seed) { return ldexp((double)(scheme_word(seed) >> 11), -52) - 1.0; }

static inline scheme_number_t *scheme_numbers(size_t count) {
  scheme_number_t *z = calloc(count, sizeof *z);
  assert_non_null(z);
  return z;
}

// On the unit circle: every slot has the mean power, so that a product weighs all errors alike.
static inline scheme_number_t *scheme_message(uint64_t *seed, size_t count) {
  scheme_number_t *z = scheme_numbers(count);
  for (size_t i = 0; i < count; ++i) z[i] = cexp(I * 3.14159265358979323846 * scheme_unit(seed));
  return z;
}

static inline double scheme_power(const scheme_number_t *z, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += creal(z[i]) * creal(z[i]) + cimag(z[i]) * cimag(z[i]);
  return sum / (double)count;
}

// scale NULL: the parameters' own. As many slots as values.
static inline hx_value_t *scheme_encode(const scheme_t *s, const scheme_number_t *z, uint32_t slots, uint32_t depth,
                                        const char *scale) {
  hx_value_t *plain = NULL;
  const hx_encode_options_t options = {.slots = slots, .depth = depth, .scale = scale};
  SCHEME_OK(s, hx_encode(s->params, (const double *)z, slots, true, &options, &plain, s->report));
  return plain;
}

static inline hx_value_t *scheme_encrypt(const scheme_t *s, const scheme_number_t *z, uint32_t slots, uint32_t depth,
                                         const char *scale) {
  hx_value_t *plain = scheme_encode(s, z, slots, depth, scale), *out = NULL;
  SCHEME_OK(s, hx_encrypt(s->keys, plain, false, &out, s->report));
  hx_value_release(plain);
  return out;
}

static inline double scheme_fresh(const scheme_t *s) { return hx_noise_fresh_public(s->params) + hx_noise_encode(); }

static inline double scheme_scale(const scheme_t *s, const hx_value_t *value) {
  double hi, lo;
  SCHEME_OK(s, hx_scale_value(&value->type.scale, hx_params_ring(s->params), &hi, &lo, s->report));
  return hi;
}

static inline scheme_number_t *scheme_decrypt_with(const scheme_t *s, const hx_keys_t *keys, const hx_value_t *value) {
  hx_value_t *plain = NULL;
  SCHEME_OK(s, hx_decrypt(keys, value, &plain, s->report));
  scheme_number_t *z = scheme_numbers(plain->type.slots * (size_t)hx_layout_items(&plain->tensor->layout));
  SCHEME_OK(s, hx_decode_batch(plain, (double *)z, s->report));
  hx_value_release(plain);
  return z;
}

static inline scheme_number_t *scheme_decrypt(const scheme_t *s, const hx_value_t *value) {
  return scheme_decrypt_with(s, s->keys, value);
}

static inline double scheme_worst(const scheme_number_t *have, const scheme_number_t *want, size_t count) {
  double worst = 0;
  for (size_t i = 0; i < count; ++i) worst = fmax(worst, cabs(have[i] - want[i]));
  return worst;
}

// The worst slot of all items within so many sigmas of a predicted variance per coefficient (plus what decoding itself
// may lose, 2^-47 of the largest slot, in both decodings that are compared).
static inline void scheme_check_with(const scheme_t *s, const hx_keys_t *keys, const char *what,
                                     const hx_value_t *value, const scheme_number_t *want, double variance,
                                     double sigmas) {
  scheme_number_t *have = scheme_decrypt_with(s, keys, value);
  const size_t count = value->type.slots * (size_t)hx_layout_items(&value->tensor->layout);
  double largest = 0;
  for (size_t i = 0; i < count; ++i) largest = fmax(largest, cabs(want[i]));
  const double sigma = hx_noise_slot_sigma(value->type.slots, scheme_scale(s, value), variance);
  const double worst = scheme_worst(have, want, count);
  if (!(worst <= sigmas * sigma + ldexp(largest, -46)))
    fail_msg("%s at depth %u: worst slot 2^%.2f, predicted sigma 2^%.2f: %.1f sigmas", what, value->type.depth,
             log2(worst), log2(sigma), worst / sigma);
  free(have);
}

static inline void scheme_check(const scheme_t *s, const char *what, const hx_value_t *value,
                                const scheme_number_t *want, double variance) {
  scheme_check_with(s, s->keys, what, value, want, variance, SCHEME_SIGMAS);
}

// RMS over all coefficients of what a value holds beside the message z, encoded at its scale.
static inline double scheme_measured_rms(const scheme_t *s, const hx_value_t *value, const scheme_number_t *z) {
  char scale[HX_SCALE_TEXT_MAX];
  hx_scale_print(&value->type.scale, scale);
  hx_value_t *want = scheme_encode(s, z, value->type.slots, value->type.depth, scale), *have = NULL;
  SCHEME_OK(s, hx_decrypt(s->keys, value, &have, s->report));
  const hx_ref_ring *ring = NULL;
  SCHEME_OK(s, hx_params_reference(s->params, &ring, s->report));
  uint64_t *rows = hx_ring_rows_alloc(ring, 2);
  const size_t n = hx_ref_ring_degree(ring);
  for (uint32_t l = 0; l < have->tensor->layout.limbs; ++l) {
    hx_ring_load(ring, have->tensor, 0, 0, 0, l, rows);
    hx_ring_load(ring, want->tensor, 0, 0, 0, l, rows + n);
    hx_ref_row_sub(ring, l, rows, rows + n, rows);
    hx_ring_store(ring, rows, have->tensor, 0, 0, 0, l);
  }
  hx_ring_rows_free(ring, rows, 2);
  hx_coefficients_t rest;
  SCHEME_OK(s, hx_plaintext_coefficients(have, &rest, s->report));
  double sum = 0;
  for (uint32_t k = 0; k < rest.count; ++k) {
    double size = 0;
    for (uint32_t w = rest.words; w-- > 0;) size = size * 0x1p64 + (double)rest.magnitude[(size_t)w * rest.count + k];
    sum += size * size;
  }
  hx_coefficients_deinit(&rest);
  hx_value_release(have);
  hx_value_release(want);
  return sqrt(sum / (double)n);
}

// ------------------------------------------------------------------ programs

static inline void scheme_print_type(hx_text_t *text, const hx_value_t *value) {
  assert_int_equal(hx_type_print(&value->type, text), HX_STATUS_OK);
}

// "<input types>", comma-separated.
static inline void scheme_print_types(hx_text_t *text, hx_value_t *const *inputs, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) hx_text_puts(text, ", ");
    scheme_print_type(text, inputs[i]);
  }
}

// A program over inputs %a0, %a1, ... whose body defines ciphertexts %r0, %r1, ...
static inline hx_program_t *scheme_program(const scheme_t *s, const char *body, hx_value_t *const *inputs,
                                           size_t input_count, size_t result_count) {
  hx_text_t text;
  hx_text_init(&text);
  hx_text_puts(&text, "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(");
  for (size_t i = 0; i < input_count; ++i) {
    hx_text_printf(&text, "%s%%a%zu: ", i == 0 ? "" : ", ", i);
    scheme_print_type(&text, inputs[i]);
  }
  hx_text_printf(&text, "):\n%s\n\"func.return\"(", body);
  for (size_t i = 0; i < result_count; ++i) hx_text_printf(&text, "%s%%r%zu", i == 0 ? "" : ", ", i);
  hx_text_puts(&text, ") : (");
  for (size_t i = 0; i < result_count; ++i) hx_text_printf(&text, "%s!ckks.ciphertext<>", i == 0 ? "" : ", ");
  hx_text_puts(&text, ") -> ()\n}) {sym_name = \"main\", function_type = (");
  scheme_print_types(&text, inputs, input_count);
  hx_text_puts(&text, ") -> (");
  for (size_t i = 0; i < result_count; ++i) hx_text_printf(&text, "%s!ckks.ciphertext<>", i == 0 ? "" : ", ");
  hx_text_puts(&text, ")} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n");
  assert_false(text.failed);
  hx_program_t *program = NULL;
  const hx_status_t status =
      hx_program_parse((hx_str_t){.data = text.data, .size = text.size}, "test", &program, s->report);
  if (status != HX_STATUS_OK) fprintf(stderr, "%s\n", text.data);
  SCHEME_OK(s, status);
  hx_text_deinit(&text);
  return program;
}

static inline void scheme_run(const scheme_t *s, const char *body, hx_value_t *const *inputs, size_t input_count,
                              hx_value_t **outputs, size_t result_count) {
  hx_program_t *program = scheme_program(s, body, inputs, input_count, result_count);
  hx_executable_t *executable = NULL;
  const hx_link_source_t source = {.program = program, .params = s->params, .keys = s->keys};
  const hx_link_options_t options = {.place_materials = true};
  SCHEME_OK(s, hx_link_program(&source, s->backend, &options, &executable, s->report));
  for (size_t i = 0; i < result_count; ++i) outputs[i] = NULL;
  SCHEME_OK(s, hx_run(executable, (const hx_value_t *const *)inputs, outputs, s->report));
  hx_executable_release(executable);
  hx_program_release(program);
}

#endif
