// SPDX-License-Identifier: Apache-2.0
// What the owner of the data waits for: encode, encrypt, decrypt, decode, one rotation key; by the library's own
// routines and through a backend. Medians with minimum and maximum, of this process's processor time, so that a busy
// machine shows less.
//
//   heliox-bench-client [--backend cpu] [--samples 15] [--clock cpu|wall] [--limbs 25] [--only encode] PRESET...
//
// --limbs: plaintexts of so many rows, at the depth that has them, where the parameters have more.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heliox/heliox.h"

typedef struct scene {
  hx_params_t *params;
  hx_engine_t *engine;  // NULL: the library's own routines
  hx_keys_t *keys;
  hx_value_t *plain, *cipher, *decrypted;
  double *values, *decoded;
  size_t slots;
  hx_report_t *report;
} scene_t;

static clockid_t clock_used = CLOCK_PROCESS_CPUTIME_ID;
static int samples = 15;
static uint32_t limbs_wanted;  // 0: all
static const char *only;       // NULL: everything

static double now(void) {
  struct timespec t;
  (void)clock_gettime(clock_used, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static hx_status_t encode_into(scene_t *s, bool secret, hx_value_t **out) {
  const uint32_t all = hx_params_q_count(s->params), depths = hx_params_max_depth(s->params);
  const uint32_t depth = limbs_wanted == 0 || limbs_wanted >= all ? 0 : all - limbs_wanted;
  const hx_encode_options_t options = {.secret = secret, .depth = depth < depths ? depth : depths};
  return s->engine != NULL ? hx_engine_encode(s->engine, s->values, s->slots, false, &options, out, s->report)
                           : hx_encode(s->params, s->values, s->slots, false, &options, out, s->report);
}

static hx_status_t encode(scene_t *s) {
  hx_value_t *out = NULL;
  const hx_status_t status = encode_into(s, true, &out);
  hx_value_release(out);
  return status;
}

static hx_status_t encrypt_with(scene_t *s, bool symmetric) {
  hx_value_t *out = NULL;
  const hx_status_t status = s->engine != NULL
                                 ? hx_engine_encrypt(s->engine, s->keys, s->plain, symmetric, &out, s->report)
                                 : hx_encrypt(s->keys, s->plain, symmetric, &out, s->report);
  hx_value_release(out);
  return status;
}

static hx_status_t encrypt(scene_t *s) { return encrypt_with(s, false); }
static hx_status_t encrypt_symmetric(scene_t *s) { return encrypt_with(s, true); }

static hx_status_t decrypt(scene_t *s) {
  hx_value_t *out = NULL;
  const hx_status_t status = s->engine != NULL ? hx_engine_decrypt(s->engine, s->keys, s->cipher, &out, s->report)
                                               : hx_decrypt(s->keys, s->cipher, &out, s->report);
  hx_value_release(out);
  return status;
}

static hx_status_t decode(scene_t *s) {
  return s->engine != NULL ? hx_engine_decode(s->engine, s->decrypted, s->decoded, s->report)
                           : hx_decode(s->decrypted, s->decoded, s->report);
}

static hx_status_t both(scene_t *s) {
  hx_value_t *out = NULL;
  hx_status_t status = s->engine != NULL ? hx_engine_decrypt(s->engine, s->keys, s->cipher, &out, s->report)
                                         : hx_decrypt(s->keys, s->cipher, &out, s->report);
  if (status == HX_STATUS_OK)
    status = s->engine != NULL ? hx_engine_decode(s->engine, out, s->decoded, s->report)
                               : hx_decode(out, s->decoded, s->report);
  hx_value_release(out);
  return status;
}

static hx_status_t keygen(scene_t *s) {
  static const int64_t step = 1;
  const hx_keygen_options_t options = {.parts = HX_KEYS_GALOIS, .rotations = &step, .rotation_count = 1};
  hx_keys_t *keys = NULL;
  const hx_status_t status = s->engine != NULL ? hx_engine_generate_keys(s->engine, &options, &keys, s->report)
                                               : hx_keys_generate(s->params, &options, &keys, s->report);
  hx_keys_release(keys);
  return status;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool measure(scene_t *s, const char *name, hx_status_t (*body)(scene_t *)) {
  if (only != NULL && strcmp(only, name) != 0) return true;
  double *times = malloc((size_t)samples * sizeof *times);
  hx_status_t status = times == NULL ? HX_STATUS_OUT_OF_MEMORY : body(s);  // the first one is not counted
  for (int i = 0; i < samples && status == HX_STATUS_OK; ++i) {
    const double start = now();
    status = body(s);
    times[i] = now() - start;
  }
  if (status == HX_STATUS_OK) {
    qsort(times, (size_t)samples, sizeof *times, by_value);
    printf("  %-22s %9.3f %9.3f %9.3f\n", name, times[samples / 2], times[0], times[samples - 1]);
  } else {
    const hx_fault_t *fault = hx_report_get(s->report, 0);
    fprintf(stderr, "%s: %s: %s\n", name, hx_status_name(status), fault == NULL ? "" : fault->text);
  }
  free(times);
  return status == HX_STATUS_OK;
}

static bool prepare(scene_t *s) {
  const hx_keygen_options_t options = {.parts = HX_KEYS_PUBLIC};
  s->slots = (size_t)1 << (hx_params_log_n(s->params) - 1);
  s->values = calloc(s->slots, sizeof *s->values);
  s->decoded = calloc(2 * s->slots, sizeof *s->decoded);
  if (s->values == NULL || s->decoded == NULL) return false;
  for (size_t i = 0; i < s->slots; ++i) s->values[i] = (double)(i % 1000) / 500 - 1;
  return (s->engine != NULL ? hx_engine_generate_keys(s->engine, &options, &s->keys, s->report)
                            : hx_keys_generate(s->params, &options, &s->keys, s->report)) == HX_STATUS_OK &&
         encode_into(s, true, &s->plain) == HX_STATUS_OK &&
         hx_encrypt(s->keys, s->plain, false, &s->cipher, s->report) == HX_STATUS_OK &&
         hx_decrypt(s->keys, s->cipher, &s->decrypted, s->report) == HX_STATUS_OK;
}

static bool run(const char *preset, const hx_backend_t *backend, const char *where) {
  scene_t s = {.report = hx_report_create()};
  bool good = hx_params_preset(preset, &s.params, s.report) == HX_STATUS_OK &&
              (backend == NULL || hx_engine_create(s.params, NULL, backend, &s.engine, s.report) == HX_STATUS_OK) &&
              prepare(&s);
  if (good) {
    printf("%s, %u limbs, %s\n  %-22s %9s %9s %9s\n", preset, hx_value_limbs(s.plain), where, "milliseconds", "median",
           "minimum", "maximum");
    good = measure(&s, "encode", encode) && measure(&s, "encrypt, public key", encrypt) &&
           measure(&s, "encrypt, symmetric", encrypt_symmetric) && measure(&s, "decrypt", decrypt) &&
           measure(&s, "decode", decode) && measure(&s, "decrypt and decode", both) &&
           measure(&s, "one rotation key", keygen);
  } else {
    const hx_fault_t *fault = hx_report_get(s.report, 0);
    fprintf(stderr, "%s: %s\n", preset, fault == NULL ? "no memory" : fault->text);
  }
  hx_value_release(s.plain);
  hx_value_release(s.cipher);
  hx_value_release(s.decrypted);
  hx_keys_release(s.keys);
  hx_engine_release(s.engine);
  hx_params_release(s.params);
  hx_report_release(s.report);
  free(s.values);
  free(s.decoded);
  return good;
}

int main(int argc, char **argv) {
  const char *name = "cpu";
  int first = 1;
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    if (strcmp(argv[first], "--backend") == 0) {
      name = argv[first + 1];
    } else if (strcmp(argv[first], "--samples") == 0) {
      samples = atoi(argv[first + 1]);
    } else if (strcmp(argv[first], "--limbs") == 0) {
      limbs_wanted = (uint32_t)strtoul(argv[first + 1], NULL, 10);
    } else if (strcmp(argv[first], "--only") == 0) {
      only = argv[first + 1];
    } else if (strcmp(argv[first], "--clock") == 0) {
      clock_used = strcmp(argv[first + 1], "wall") == 0 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    } else {
      break;
    }
  }
  if (first >= argc || samples < 1) {
    fprintf(stderr, "usage: %s [--backend NAME] [--samples N] [--clock cpu|wall] [--limbs N] [--only ROW] PRESET...\n",
            argv[0]);
    return 2;
  }
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  if (hx_plugins_discover(NULL, &plugins, report) != HX_STATUS_OK ||
      hx_backend_create(plugins, name, &backend, report) != HX_STATUS_OK) {
    fprintf(stderr, "no backend %s\n", name);
    return 1;
  }
  bool good = true;
  for (int i = first; i < argc; ++i)
    good = run(argv[i], backend, name) && run(argv[i], NULL, "the library alone") && good;
  hx_backend_release(backend);
  hx_plugins_release(plugins);
  hx_report_release(report);
  return good ? 0 : 1;
}
