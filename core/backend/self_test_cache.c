// SPDX-License-Identifier: Apache-2.0
// Self-tests that have passed. On disk each is one file, named by the hash of its key and holding the key: what does
// not equal it byte by byte counts for nothing, so a damaged cache costs one more test.
#include <errno.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/backend/self_test.h"
#include "core/plugin/file.h"
#include "core/plugin/host_table.h"
#include "core/tensor/atomic_file.h"

#define KEY_MAX (1u << 20)

typedef struct known {
  struct known *next;
  char name[65];
} known_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known_t *known_tests;

hx_status_t hx_self_test_key(const hx_opened_device_t *device, hx_text_t *out) {
  const hx_loaded_plugin_t *plugin = device->plugin;
  hx_text_printf(out, "heliox self-test 1\nhost %s\nlibrary %s\n", hx_version(), plugin->digest);
  const hx_host *host = plugin->host == NULL ? NULL : &plugin->host->table;
  const char *mask = host == NULL ? NULL : host->option(host->self, "cpu-mask");  // decides which kernels run
  hx_text_printf(out, "device %u\nname %.*s\nuuid %.*s\ndriver %.*s\ncpu-mask %s\n", device->index,
                 (int)strnlen(device->info.name, sizeof device->info.name), device->info.name,
                 (int)strnlen(device->info.uuid, sizeof device->info.uuid), device->info.uuid,
                 (int)strnlen(device->info.driver, sizeof device->info.driver), device->info.driver,
                 mask == NULL ? "" : mask);
  for (size_t i = 0; i < plugin->operation_count; ++i) {
    const hx_manifest_operation_t *row = &plugin->operations[i];
    hx_text_printf(out, "%s %u %s %x %x %u %u %u %u %d\n", row->type, row->signature, row->implementation, row->dtypes,
                   row->domains, row->log_n_min, row->log_n_max, row->prime_bits_min, row->prime_bits_max,
                   row->bit_exact);
  }
  return out->failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

static void name_of(const char *key, char name[65]) {
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(hash, (const unsigned char *)key, strlen(key));
  sodium_bin2hex(name, 65, hash, sizeof hash);
}

// $XDG_CACHE_HOME/heliox/self-test, made where `make`; false: there is none.
static bool find_directory(bool make, char path[PATH_MAX]) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  static const char below[] = "/heliox/self-test";
  int size = -1;
  if (hx_process_privileged()) return false;
  if (base != NULL && base[0] == '/') {
    size = snprintf(path, PATH_MAX, "%s%s", base, below);
  } else if (home != NULL && home[0] == '/') {
    size = snprintf(path, PATH_MAX, "%s/.cache%s", home, below);
  }
  if (size <= 0 || size >= PATH_MAX) return false;
  for (char *slash = strchr(path + 1, '/'); make && slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    const bool there = mkdir(path, 0700) == 0 || errno == EEXIST;
    *slash = '/';
    if (!there) return false;
  }
  return !make || mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool is_on_disk(const char *name, const char *key) {
  char directory[PATH_MAX];
  hx_gates_t gates;
  hx_file_t file;
  char *text = NULL;
  size_t size = 0;
  if (!find_directory(false, directory)) return false;
  char *path = hx_path_join(directory, name);
  if (path == NULL) return false;
  hx_gates_init(&gates);
  bool equal = false;
  if (hx_file_open_trusted(path, &gates, &file)) {
    equal = hx_file_read(&file, KEY_MAX, &text, &size) == HX_STATUS_OK && size == strlen(key) &&
            memcmp(text, key, size) == 0;
    hx_free(text);
    hx_file_close(&file);
  }
  hx_gates_deinit(&gates);
  hx_free(path);
  return equal;
}

static void write_to_disk(const char *name, const char *key) {
  char directory[PATH_MAX];
  hx_atomic_file_t file = {0};
  if (!find_directory(true, directory)) return;
  char *path = hx_path_join(directory, name);
  if (path == NULL) return;
  if (hx_atomic_file_open(&file, path, 0600, NULL) == HX_STATUS_OK) {
    if (hx_atomic_file_write(&file, key, strlen(key), NULL) == HX_STATUS_OK) {
      (void)hx_atomic_file_commit(&file, true, NULL);
    } else {
      hx_atomic_file_abandon(&file);
    }
  }
  hx_free(path);
}

static bool is_in_process(const char *name) {
  pthread_mutex_lock(&lock);
  const known_t *known = known_tests;
  while (known != NULL && strcmp(known->name, name) != 0) known = known->next;
  pthread_mutex_unlock(&lock);
  return known != NULL;
}

static void keep_in_process(const char *name) {
  known_t *known = is_in_process(name) ? NULL : hx_alloc(sizeof *known);
  if (known == NULL) return;
  memcpy(known->name, name, sizeof known->name);
  pthread_mutex_lock(&lock);
  known->next = known_tests;
  known_tests = known;
  pthread_mutex_unlock(&lock);
}

bool hx_self_test_is_known(const char *key) {
  char name[65];
  name_of(key, name);
  if (is_in_process(name)) return true;
  if (!is_on_disk(name, key)) return false;
  keep_in_process(name);
  return true;
}

void hx_self_test_remember(const char *key) {
  char name[65];
  name_of(key, name);
  keep_in_process(name);
  if (!is_on_disk(name, key)) write_to_disk(name, key);
}

void hx_self_test_forget(void) {
  pthread_mutex_lock(&lock);
  while (known_tests != NULL) {
    known_t *next = known_tests->next;
    hx_free(known_tests);
    known_tests = next;
  }
  pthread_mutex_unlock(&lock);
}
