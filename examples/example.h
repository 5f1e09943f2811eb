// SPDX-License-Identifier: Apache-2.0
// What the examples share: a session of parameters, keys, backend and engine, and how failures are told.
#ifndef HELIOX_EXAMPLE_H
#define HELIOX_EXAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/heliox.h"

static hx_report_t *report;

// Returns 1 from the function around it, with the first fault of the report.
#define CHECK(call_)                                                                                    \
  do {                                                                                                  \
    if ((call_) != HX_STATUS_OK) {                                                                      \
      fprintf(stderr, "%s\n", hx_report_count(report) > 0 ? hx_report_get(report, 0)->text : "failed"); \
      return 1;                                                                                         \
    }                                                                                                   \
  } while (0)

typedef struct session {
  hx_params_t *params;
  hx_keys_t *keys;
  hx_plugins_t *plugins;
  hx_backend_t *backend;
  hx_engine_t *engine;
} session_t;

// The cpu backend and an engine for keys that are there already.
static inline int session_compute(session_t *s) {
  CHECK(hx_plugins_discover(NULL, &s->plugins, report));
  CHECK(hx_backend_create(s->plugins, "cpu", &s->backend, report));
  CHECK(hx_engine_create(s->params, s->keys, s->backend, &s->engine, report));
  return 0;
}

// One process that is client and server: fresh keys of a preset.
static inline int session_open(session_t *s, const char *preset, const hx_keygen_options_t *options) {
  memset(s, 0, sizeof *s);
  CHECK(hx_params_preset(preset, &s->params, report));
  CHECK(hx_keys_generate(s->params, options, &s->keys, report));
  return session_compute(s);
}

static inline void session_close(session_t *s) {
  hx_engine_release(s->engine);
  hx_backend_release(s->backend);
  hx_plugins_release(s->plugins);
  hx_keys_release(s->keys);
  hx_params_release(s->params);
}

static inline int session_encrypt(const session_t *s, const double *numbers, size_t count, hx_value_t **out) {
  hx_value_t *plain = NULL;
  CHECK(hx_encode(s->params, numbers, count, false, &(hx_encode_options_t){.secret = true}, &plain, report));
  CHECK(hx_encrypt(s->keys, plain, false, out, report));
  hx_value_release(plain);
  return 0;
}

// The real parts of the first `count` slots.
static inline int session_decrypt(const session_t *s, const hx_value_t *value, double *out, size_t count) {
  hx_value_t *plain = NULL;
  CHECK(hx_decrypt(s->keys, value, &plain, report));
  double *slots = malloc(2 * sizeof *slots * hx_value_slots(plain));
  if (slots == NULL) return fprintf(stderr, "no memory for the slots\n"), 1;
  CHECK(hx_decode(plain, slots, report));
  for (size_t i = 0; i < count; ++i) out[i] = slots[2 * i];
  free(slots);
  hx_value_release(plain);
  return 0;
}

#endif
