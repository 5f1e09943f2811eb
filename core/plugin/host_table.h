// SPDX-License-Identifier: Apache-2.0
// The function table that a plugin is given, and what stands behind it.
#ifndef HELIOX_CORE_PLUGIN_HOST_TABLE_H
#define HELIOX_CORE_PLUGIN_HOST_TABLE_H

#include <pthread.h>

#include "core/plugin/plugin.h"

// Scratch memory that a plugin holds; its bytes follow at the next multiple of 64.
typedef struct hx_scratch {
  struct hx_scratch *next;
  uint64_t bytes;
  void *block;  // what hx_alloc gave
} hx_scratch_t;

struct hx_plugin_host {
  hx_host table;
  char area[160];   // "plugin.<id>", of its log lines
  char *directory;  // where its library lies; answers option "plugin-directory"
  atomic_bool cancelled;
  pthread_mutex_t scratch_lock;  // scratch
  hx_scratch_t *scratch;         // taken and not given back, newest first
};

// NULL: out of memory. library_path: the library's file, as found.
struct hx_plugin_host *hx_plugin_host_create(const char *id, const char *library_path);
void hx_plugin_host_release(struct hx_plugin_host *host);

// services.c: entries of the table that 1.1 added.
void *hx_host_scratch_take(void *self, uint64_t bytes);
void hx_host_scratch_give(void *self, void *memory);
void hx_host_progress(void *self, uint64_t done, uint64_t total);
const char *hx_host_code_text(void *self, int32_t code);
// Frees what the plugin kept, with a warning in the log: it has been shut down.
void hx_host_scratch_drain(struct hx_plugin_host *host);

#endif
