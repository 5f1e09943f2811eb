// SPDX-License-Identifier: Apache-2.0
// Which plugin is tested, and the host that it sees.
#include <dlfcn.h>
#include <jansson.h>

#include "kernelcheck.h"

#ifndef HELIOX_BUILD_DIR
#define HELIOX_BUILD_DIR "."
#endif

#define OPTIONS_MAX 4u
#define ROWS_MAX 128u

// ------------------------------------------------------------------ host

int32_t kc_cancel_after = -1;
static struct { const char *name, *value; } options[OPTIONS_MAX];

void kc_set_option(const char *name, const char *value) {
  uint32_t at = 0;
  while (at < OPTIONS_MAX && options[at].name != NULL && strcmp(options[at].name, name) != 0) {
    at++;
  }
  assert_true(at < OPTIONS_MAX);
  options[at].name = name;
  options[at].value = value;
}

static const char *host_option(void *self, const char *name) {
  (void)self;
  for (uint32_t i = 0; i < OPTIONS_MAX && options[i].name != NULL; i++) {
    if (strcmp(options[i].name, name) == 0) {
      return options[i].value;
    }
  }
  if (strcmp(name, "plugin-directory") == 0) {
    const char *elsewhere = getenv("HELIOX_TEST_IMAGES");  // where the tests run apart from the build
    return elsewhere != NULL ? elsewhere : HELIOX_BUILD_DIR "/lib/heliox/plugins";
  }
  return NULL;
}

static uint32_t host_threads(void *self) {
  (void)self;
  return 2;
}

static int32_t host_cancelled(void *self) {
  (void)self;
  if (kc_cancel_after < 0) {
    return 0;
  }
  return __atomic_fetch_sub(&kc_cancel_after, 1, __ATOMIC_RELAXED) <= 0;
}

const hx_host *kc_host(void) {
  static const hx_host host = {.struct_size = HX_END_OF(hx_host, run_region),
                               .abi_major = HX_ABI_MAJOR,
                               .minor_max = HX_ABI_MINOR,
                               .option = host_option,
                               .threads = host_threads,
                               .cancelled = host_cancelled};
  return &host;
}

// ------------------------------------------------------------------ a plugin by its manifest

static json_t *manifest;
static hx_plugin loaded;

static json_t *read_manifest(const char *path) {
  json_error_t where;
  json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
  if (root == NULL) {
    fail_msg("%s:%d: %s", path, where.line, where.text);
  }
  return root;
}

// The library stands beside its manifest. It stays loaded.
static void load(const char *path) {
  typedef int32_t query_fn(const hx_host *, hx_plugin *);
  char file[4096];
  manifest = read_manifest(path);
  const char *slash = strrchr(path, '/'), *library = json_string_value(json_object_get(manifest, "library"));
  const int length = slash != NULL ? (int)(slash - path) : 1;
  assert_non_null(library);
  assert_true(snprintf(file, sizeof file, "%.*s/%s", length, slash != NULL ? path : ".", library) < (int)sizeof file);
  void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  void *symbol = handle != NULL ? dlsym(handle, "heliox_plugin_query") : NULL;
  if (symbol == NULL) {
    fail_msg("%s: %s", file, dlerror());
  }
  query_fn *query = NULL;
  memcpy(&query, &symbol, sizeof query);
  loaded.struct_size = HX_END_OF(hx_plugin, shutdown);
  assert_int_equal(query(kc_host(), &loaded), HX_OK);
}

static uint32_t domains_of(const json_t *row) {
  size_t i = 0;
  json_t *name = NULL;
  uint32_t domains = 0;
  json_array_foreach(json_object_get(row, "domains"), i, name) {
    domains |= 1u << (strcmp(json_string_value(name), "ntt") == 0 ? HX_NTT : HX_COEFFICIENT);
  }
  return domains;
}

static const kc_row_t *loaded_rows(void) {
  static kc_row_t rows[ROWS_MAX + 1];
  size_t i = 0;
  json_t *row = NULL;
  assert_true(loaded.impl_count <= ROWS_MAX);
  json_array_foreach(json_object_get(manifest, "operations"), i, row) {
    const char *op = json_string_value(json_object_get(row, "type"));
    uint32_t index = 0;
    while (index < loaded.impl_count && strcmp(loaded.impls[index]->op, op) != 0) {
      index++;
    }
    if (index == loaded.impl_count || i >= ROWS_MAX) {
      fail_msg("%s is declared, but not registered", op);
    }
    rows[i] = (kc_row_t){op, index, domains_of(row), json_is_true(json_object_get(row, "in_place"))};
  }
  return rows;
}

// ------------------------------------------------------------------ the plugin under test

static const char *other(void) { return getenv("HELIOX_TEST_PLUGIN"); }

const hx_plugin *kc_plugin(void) {
  static const hx_plugin *plugin;
  if (plugin == NULL && other() != NULL) {
    load(other());
    plugin = &loaded;
  }
  return plugin = plugin != NULL ? plugin : kc_inside(kc_host());
}

const char *const *kc_variants(void) {
  static const char *const none[] = {NULL, NULL};
  return other() != NULL ? none : kc_inside_variants;
}

const kc_row_t *kc_row_of(const char *op) {
  static const kc_row_t *rows;
  if (rows == NULL) {
    kc_plugin();
    rows = other() != NULL ? loaded_rows() : kc_inside_rows();
  }
  for (const kc_row_t *row = rows; row->op != NULL; row++) {
    if (strcmp(row->op, op) == 0) {
      return row;
    }
  }
  return NULL;
}
