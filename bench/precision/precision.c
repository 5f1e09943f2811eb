// SPDX-License-Identifier: Apache-2.0
// How many bits are right: the worst slot (real inputs uniform in [-1, 1], real part) after encryption, after a product
// relinearized and rescaled, and after a rotation; the median over many keys, beside what is predicted.
//
//   heliox-bench-precision [--backend cpu] [--keys 20] [--json] PRESET...
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/heliox.h"

enum { FRESH, PRODUCT, ROTATED, ROWS };
static const char *const row_names[ROWS] = {"fresh", "multiply+relinearize+rescale", "rotate"};

typedef struct scene {
  hx_params_t *params;
  const hx_backend_t *backend;
  hx_report_t *report;
  size_t slots;
  double *values[2], *decoded, *want;
  uint64_t seed;
  int keys;
  double *worst[ROWS];  // log2, one a key
  double predicted[ROWS];
} scene_t;

static double uniform(uint64_t *seed) {
  uint64_t x = *seed += 0x9e3779b97f4a7c15u;  // SplitMix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return ldexp((double)((x ^ (x >> 31)) >> 11), -52) - 1.0;
}

static hx_status_t encrypt(scene_t *s, const hx_keys_t *keys, const double *values, hx_value_t **out) {
  hx_value_t *plain = NULL;
  hx_status_t status = hx_encode(s->params, values, s->slots, false, NULL, &plain, s->report);
  if (status == HX_STATUS_OK) status = hx_encrypt(keys, plain, false, out, s->report);
  hx_value_release(plain);
  return status;
}

static hx_status_t measure(scene_t *s, const hx_keys_t *keys, const hx_value_t *value, int key, int row) {
  hx_value_t *plain = NULL;
  hx_value_noise_t noise;
  hx_status_t status = hx_decrypt(keys, value, &plain, s->report);
  if (status == HX_STATUS_OK) status = hx_decode(plain, s->decoded, s->report);
  double worst = 0;
  for (size_t i = 0; i < s->slots && status == HX_STATUS_OK; ++i)
    worst = fmax(worst, fabs(s->decoded[2 * i] - s->want[i]));
  s->worst[row][key] = log2(worst);
  hx_value_noise(value, &noise);
  s->predicted[row] = log2(noise.slot_rms);
  hx_value_release(plain);
  return status;
}

static hx_status_t product(scene_t *s, hx_engine_t *engine, const hx_keys_t *keys, hx_value_t *const *inputs, int key) {
  hx_value_t *x = NULL, *y = NULL, *z = NULL;
  hx_status_t status = hx_engine_mul(engine, inputs[0], inputs[1], &x, s->report);
  if (status == HX_STATUS_OK) status = hx_engine_relinearize(engine, x, &y, s->report);
  if (status == HX_STATUS_OK) status = hx_engine_rescale(engine, y, &z, s->report);
  for (size_t i = 0; i < s->slots; ++i) s->want[i] = s->values[0][i] * s->values[1][i];
  if (status == HX_STATUS_OK) status = measure(s, keys, z, key, PRODUCT);
  hx_value_release(x);
  hx_value_release(y);
  hx_value_release(z);
  return status;
}

static hx_status_t rotation(scene_t *s, hx_engine_t *engine, const hx_keys_t *keys, const hx_value_t *input, int key) {
  hx_value_t *x = NULL;
  hx_status_t status = hx_engine_rotate(engine, input, 1, &x, s->report);
  for (size_t i = 0; i < s->slots; ++i) s->want[i] = s->values[0][(i + 1) % s->slots];
  if (status == HX_STATUS_OK) status = measure(s, keys, x, key, ROTATED);
  hx_value_release(x);
  return status;
}

static hx_status_t one_key(scene_t *s, int key) {
  static const int64_t steps[] = {1};
  const hx_keygen_options_t options = {
      .parts = HX_KEYS_PUBLIC | HX_KEYS_RELIN | HX_KEYS_GALOIS, .rotations = steps, .rotation_count = 1};
  hx_keys_t *keys = NULL;
  hx_engine_t *engine = NULL;
  hx_value_t *inputs[2] = {NULL, NULL};
  for (size_t i = 0; i < s->slots; ++i) {
    s->values[0][i] = uniform(&s->seed);
    s->values[1][i] = uniform(&s->seed);
  }
  hx_status_t status = hx_keys_generate(s->params, &options, &keys, s->report);
  if (status == HX_STATUS_OK) status = hx_engine_create(s->params, keys, s->backend, &engine, s->report);
  for (int i = 0; i < 2 && status == HX_STATUS_OK; ++i) status = encrypt(s, keys, s->values[i], &inputs[i]);
  memcpy(s->want, s->values[0], s->slots * sizeof *s->want);
  if (status == HX_STATUS_OK) status = measure(s, keys, inputs[0], key, FRESH);
  if (status == HX_STATUS_OK) status = product(s, engine, keys, inputs, key);
  if (status == HX_STATUS_OK) status = rotation(s, engine, keys, inputs[0], key);
  for (int i = 0; i < 2; ++i) hx_value_release(inputs[i]);
  hx_engine_release(engine);
  hx_keys_release(keys);
  return status;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void print(scene_t *s, const char *preset, bool json) {
  for (int row = 0; row < ROWS; ++row) {
    qsort(s->worst[row], (size_t)s->keys, sizeof(double), by_value);
    const double *w = s->worst[row];
    const double median = 0.5 * (w[(s->keys - 1) / 2] + w[s->keys / 2]);
    if (json) {
      printf(
          "{\"preset\": \"%s\", \"row\": \"%s\", \"keys\": %d, \"median\": %.3f, \"best\": %.3f, \"worst\": %.3f, "
          "\"predicted_rms\": %.3f}\n",
          preset, row_names[row], s->keys, median, w[0], w[s->keys - 1], s->predicted[row]);
    } else {
      printf("%-12s %-30s median 2^%.2f (2^%.2f to 2^%.2f), slot RMS predicted 2^%.2f\n", preset, row_names[row],
             median, w[0], w[s->keys - 1], s->predicted[row]);
    }
  }
  fflush(stdout);
}

static hx_status_t one_set(const hx_backend_t *backend, const char *preset, int keys, bool json, hx_report_t *report) {
  scene_t s = {.backend = backend, .report = report, .keys = keys, .seed = 1};
  hx_status_t status = hx_params_preset(preset, &s.params, report);
  if (status != HX_STATUS_OK) return status;
  s.slots = (size_t)1 << (hx_params_log_n(s.params) - 1);
  s.decoded = calloc(2 * s.slots, sizeof(double));
  s.want = calloc(s.slots, sizeof(double));
  bool room = s.decoded != NULL && s.want != NULL;
  for (int i = 0; i < 2; ++i) room = (s.values[i] = calloc(s.slots, sizeof(double))) != NULL && room;
  for (int i = 0; i < ROWS; ++i) room = (s.worst[i] = calloc((size_t)keys, sizeof(double))) != NULL && room;
  if (!room) status = HX_STATUS_OUT_OF_MEMORY;
  for (int key = 0; key < keys && status == HX_STATUS_OK; ++key) status = one_key(&s, key);
  if (status == HX_STATUS_OK) print(&s, preset, json);
  free(s.decoded);
  free(s.want);
  for (int i = 0; i < 2; ++i) free(s.values[i]);
  for (int i = 0; i < ROWS; ++i) free(s.worst[i]);
  hx_params_release(s.params);
  return status;
}

int main(int argc, char **argv) {
  const char *name = "cpu";
  int keys = 20, first = 1;
  bool json = false;
  for (; first < argc && strncmp(argv[first], "--", 2) == 0; ++first) {
    if (strcmp(argv[first], "--json") == 0) {
      json = true;
    } else if (first + 1 < argc && strcmp(argv[first], "--backend") == 0) {
      name = argv[++first];
    } else if (first + 1 < argc && strcmp(argv[first], "--keys") == 0) {
      keys = atoi(argv[++first]);
    } else {
      break;
    }
  }
  if (first >= argc || keys < 1 || keys > 10000 || strncmp(argv[first], "--", 2) == 0) {
    fprintf(stderr, "usage: heliox-bench-precision [--backend cpu] [--keys 20] [--json] PRESET...\n");
    return 2;
  }
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  hx_status_t status = hx_plugins_discover(NULL, &plugins, report);
  if (status == HX_STATUS_OK) status = hx_backend_create(plugins, name, &backend, report);
  for (; first < argc && status == HX_STATUS_OK; ++first) status = one_set(backend, argv[first], keys, json, report);
  for (size_t i = 0; status != HX_STATUS_OK && i < hx_report_count(report); ++i)
    fprintf(stderr, "heliox-bench-precision: %s\n", hx_report_get(report, i)->text);
  hx_backend_release(backend);
  hx_plugins_release(plugins);
  hx_report_release(report);
  return status == HX_STATUS_OK ? 0 : 1;
}
