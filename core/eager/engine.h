// SPDX-License-Identifier: Apache-2.0
// The engine's inside: one entry for every operation, and the cache of linked calls.
#ifndef HELIOX_CORE_EAGER_ENGINE_H
#define HELIOX_CORE_EAGER_ENGINE_H

#include "core/ckks/rows.h"
#include "core/link/link.h"
#include "heliox/engine.h"

// One call. Attributes by ascending name.
typedef struct hx_engine_call {
  hx_op_id_t id;
  const hx_named_attr_t *attrs;
  size_t attr_count;
  const hx_value_t *const *operands;  // keys are found by the engine
  size_t operand_count;
  size_t result_count;
  const hx_switch_t *switch_key;  // of ckks.key_switch, its last operand; else NULL
  // The result replaces operand 0, and takes its memory where nobody else reads that and the implementation may.
  bool in_place;
} hx_engine_call_t;

// Checks states, parameters and key ids, then runs the call through a cached executable. outs receive new values; on
// failure they are untouched.
hx_status_t hx_engine_run(hx_engine_t *engine, const hx_engine_call_t *call, hx_value_t **outs, hx_report_t *report);

// A linked call and what it was linked for.
typedef struct hx_cached_call {
  uint64_t hash, used;  // used: time of the last use, by the cache's clock
  hx_op_id_t id;
  hx_arena_t arena;  // of attrs
  hx_attrs_t attrs;
  hx_switch_t *switch_key;  // retained, or NULL
  hx_executable_t *executable;
  uint64_t bytes;  // of its intermediates
} hx_cached_call_t;

// Bounded in entries and in bytes of intermediates; the entry unused for longest goes first.
#define HX_CACHE_ENTRIES_MAX 256
#define HX_CACHE_BYTES_MAX ((uint64_t)256 << 20)

typedef struct hx_call_cache {
  pthread_mutex_t lock;
  hx_cached_call_t *entries;  // [HX_CACHE_ENTRIES_MAX]
  size_t count;
  uint64_t clock, bytes;
} hx_call_cache_t;

struct hx_engine {
  hx_params_t *params;
  hx_keys_t *keys;        // or NULL
  hx_backend_t *backend;  // NULL: a capturing engine
  hx_call_cache_t cache;
  struct hx_capture *capture;      // calls are recorded there and nothing is computed; NULL: they are computed
  hx_keys_t *truth_keys;           // with the secret: debug mode
  hx_engine_noise_fn truth_watch;  // NULL: off
  void *truth_argument;
  pthread_mutex_t rows_lock;
  bool has_rows;
  hx_rows_t rows;  // arithmetic on secrets, made when first asked for; under rows_lock until has_rows
};

// Every operand under the engine's parameters, all under one secret, the keys' where the engine has keys; recorded
// values with a capturing engine alone.
hx_status_t hx_engine_check_owners(const hx_engine_t *engine, const hx_engine_call_t *call, hx_report_t *report);

hx_status_t hx_call_cache_init(hx_call_cache_t *cache);
void hx_call_cache_deinit(hx_call_cache_t *cache);
// The executable of a call (retained), or NULL. Attributes are canonical.
hx_executable_t *hx_call_cache_find(hx_call_cache_t *cache, const hx_engine_call_t *call);
// Keeps an executable (retained) for later calls; another thread may have been faster, then nothing changes. Running
// out of memory here only means that it is not kept.
void hx_call_cache_add(hx_call_cache_t *cache, const hx_engine_call_t *call, hx_executable_t *executable);

// A program of the one operation, linked for the operands' types, strides and secrecy.
hx_status_t hx_engine_link(const hx_engine_t *engine, const hx_engine_call_t *call, const hx_type_t *result_types,
                           hx_executable_t **out, hx_report_t *report);

// A view that shares the operand's memory: level_drop, reinterpret_scale, a rotation by 0.
bool hx_engine_is_view(const hx_engine_call_t *call, const hx_type_t *result);
hx_status_t hx_engine_view(const hx_engine_t *engine, const hx_engine_call_t *call, const hx_type_t *result,
                           hx_value_t **out, hx_report_t *report);

#endif
