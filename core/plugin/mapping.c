// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/mapping.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/plugin/host_table.h"
#include "core/plugin/inspect.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static hx_mapping_t *mappings;  // every library that this process may have mapped

static hx_mapping_t *find_mapping(const char *digest) {
  hx_mapping_t *mapping = mappings;
  while (mapping != NULL && strcmp(mapping->digest, digest) != 0) mapping = mapping->next;
  return mapping;
}

static bool copy_bytes(int from, int to) {
  char buffer[65536];
  off_t at = 0;
  for (;;) {
    const ssize_t got = pread(from, buffer, sizeof buffer, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    if ((uint64_t)at + (uint64_t)got > HX_LIBRARY_BYTES_MAX) return false;
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = write(to, buffer + done, (size_t)(got - done));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      done += put;
    }
    at += got;
  }
}

// A private copy in memory that nobody can change any more, or -1.
static int seal_copy(int descriptor, const char *name) {
  // Newer kernels want to be told that the memory will be executed, older ones do not know the flag.
  int copy = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  if (copy < 0 && errno == EINVAL) copy = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (copy < 0) return -1;
  if (copy_bytes(descriptor, copy) && fcntl(copy, F_ADD_SEALS, SEALS) == 0) return copy;
  close(copy);
  return -1;
}

// Whether a file's bytes can be changed by root alone, so that what was hashed stays what it was.
static bool is_steady(int descriptor) {
  struct stat facts;
  return fstat(descriptor, &facts) == 0 && facts.st_uid == 0 && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool hash_descriptor(int descriptor, char hex[65]) {
  struct stat facts;
  unsigned char hash[crypto_hash_sha256_BYTES];
  if (fstat(descriptor, &facts) != 0 || facts.st_size <= 0) return false;
  void *bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (bytes == MAP_FAILED) return false;
  crypto_hash_sha256(hash, bytes, (unsigned long long)facts.st_size);
  sodium_bin2hex(hex, 65, hash, sizeof hash);
  munmap(bytes, (size_t)facts.st_size);
  return true;
}

static bool check_digest(int descriptor, const char *name, const char *wanted, hx_gates_t *gates) {
  char found[65] = "unreadable";
  if (hash_descriptor(descriptor, found) && strcmp(found, wanted) == 0) return true;
  hx_gates_fail(gates, HX_GATE_DIGEST, HX_CODE_DIGEST, wanted, found,
                "%s changed since it was checked: sha256 %.16s..., checked were %.16s...", name, found, wanted);
  return false;
}

// A descriptor of exactly the bytes with that digest, which cannot change; -1: failed.
static int hold_bytes(const char *directory, const char *name, const char *digest, hx_gates_t *gates) {
  hx_file_t file;
  if (!hx_file_open(directory, name, HX_FILE_LIBRARY, gates, &file)) return -1;
  int held = seal_copy(file.descriptor, name);
  if (held < 0 && is_steady(file.descriptor)) {
    held = file.descriptor;
    file.descriptor = -1;
  }
  const int error = errno;
  hx_file_close(&file);
  if (held < 0) {
    hx_gates_fail(gates, HX_GATE_OPEN, HX_CODE_OPEN, "a sealed copy in memory", strerror(error),
                  "%s cannot be copied into sealed memory: %s", name, strerror(error));
    return -1;
  }
  if (check_digest(held, name, digest, gates)) return held;
  close(held);
  return -1;
}

static void name_descriptor(int descriptor, char path[64]) { snprintf(path, 64, "/proc/self/fd/%d", descriptor); }

static void *open_bytes(int descriptor, const char *name, hx_gates_t *gates) {
  char path[64];
  name_descriptor(descriptor, path);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle != NULL) return handle;
  const char *why = dlerror();
  hx_gates_fail(gates, HX_GATE_OPEN, HX_CODE_OPEN, "a library that can be mapped",
                why != NULL ? why : "no reason given", "%s cannot be opened: %s", name,
                why != NULL ? why : "no reason given");
  return NULL;
}

// Adds an opened library to the list; on failure closes it.
static hx_mapping_t *add_mapping(const char *digest, int descriptor, void *handle, hx_gates_t *gates) {
  hx_mapping_t *mapping = hx_zalloc(1, sizeof *mapping);
  if (mapping == NULL) {
    gates->exhausted = true;
    dlclose(handle);
    close(descriptor);
    return NULL;
  }
  snprintf(mapping->digest, sizeof mapping->digest, "%s", digest);
  mapping->descriptor = descriptor;
  mapping->handle = handle;
  hx_arena_init(&mapping->tables);
  mapping->next = mappings;
  mappings = mapping;
  return mapping;
}

static hx_mapping_t *open_library(const char *directory, const char *name, const char *digest, hx_gates_t *gates) {
  hx_mapping_t *mapping = find_mapping(digest);
  if (mapping != NULL) return mapping;
  const int descriptor = hold_bytes(directory, name, digest, gates);
  if (descriptor < 0) return NULL;
  void *handle = open_bytes(descriptor, name, gates);
  if (handle == NULL) {
    close(descriptor);
    return NULL;
  }
  return add_mapping(digest, descriptor, handle, gates);
}

static bool is_elsewhere(const char *soname) {
  void *other = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (other != NULL) dlclose(other);
  return other != NULL;
}

static void drop_list(hx_mapping_t *const *list, size_t count) {
  while (count-- > 0) {  // what came last may need what came before
    --list[count]->users;
    hx_mapping_drop(list[count]);
  }
}

// Before the plugin, in order: the linker then finds them by soname. Each counts the plugin as a user.
static bool open_bundled(const hx_candidate_t *candidate, hx_gates_t *gates,
                         hx_mapping_t *list[HX_MANIFEST_BUNDLED_MAX], size_t *count) {
  const hx_manifest_t *manifest = candidate->manifest;
  for (*count = 0; *count < manifest->bundled_count && *count < HX_MANIFEST_BUNDLED_MAX; ++*count) {
    const hx_manifest_bundled_t *bundled = &manifest->bundled[*count];
    hx_mapping_t *mapping = NULL;
    if (find_mapping(bundled->sha256) == NULL && is_elsewhere(bundled->soname)) {
      hx_gates_fail(gates, HX_GATE_OPEN, HX_CODE_CONFLICT, bundled->sha256, "other bytes",
                    "the process has a library of soname %s already, with other bytes than bundled %s", bundled->soname,
                    bundled->file);
    } else {
      mapping = open_library(candidate->directory, bundled->file, bundled->sha256, gates);
    }
    if (mapping == NULL) {
      drop_list(list, *count);
      return false;
    }
    ++mapping->users;
    list[*count] = mapping;
  }
  return true;
}

static hx_mapping_t *open_with_bundled(const hx_candidate_t *candidate, hx_gates_t *gates) {
  const hx_manifest_t *manifest = candidate->manifest;
  hx_mapping_t *mapping = find_mapping(manifest->sha256), *list[HX_MANIFEST_BUNDLED_MAX];
  size_t count;
  if (mapping != NULL) return mapping;
  if (!open_bundled(candidate, gates, list, &count)) return NULL;
  mapping = open_library(candidate->directory, manifest->library, manifest->sha256, gates);
  if (mapping == NULL) {
    drop_list(list, count);
    return NULL;
  }
  memcpy(mapping->bundled, list, count * sizeof *list);
  mapping->bundled_count = count;
  return mapping;
}

hx_mapping_t *hx_mapping_open(const hx_candidate_t *candidate, hx_gates_t *gates) {
  const hx_manifest_t *manifest = candidate->manifest;
  hx_mapping_t *mapping = open_with_bundled(candidate, gates);
  if (mapping == NULL || mapping->query != NULL) return mapping;
  void *symbol = dlsym(mapping->handle, "heliox_plugin_query");
  if (mapping->host == NULL) mapping->host = hx_plugin_host_create(manifest->id, candidate->library_path);
  if (symbol == NULL || mapping->host == NULL) {
    if (symbol == NULL) {
      hx_gates_fail(gates, HX_GATE_OPEN, HX_CODE_EXPORTS, "heliox_plugin_query", "nothing",
                    "%s has no function heliox_plugin_query", manifest->library);
    } else {
      gates->exhausted = true;
    }
    hx_mapping_drop(mapping);
    return NULL;
  }
  memcpy(&mapping->query, &symbol, sizeof mapping->query);  // ISO C has no conversion from object to function pointer
  hx_log(3, "plugins", "%s is mapped from %s as /proc/self/fd/%d", manifest->id, candidate->library_path,
         mapping->descriptor);
  return mapping;
}

void hx_mapping_pin(hx_mapping_t *mapping) {
  char path[64];
  if (mapping->pinned) return;
  name_descriptor(mapping->descriptor, path);
  void *again = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
  if (again != NULL) dlclose(again);  // the flag stays with the library
  mapping->pinned = true;
  for (size_t i = 0; i < mapping->bundled_count; ++i) hx_mapping_pin(mapping->bundled[i]);
}

void hx_mapping_drop(hx_mapping_t *mapping) {
  char path[64];
  if (mapping->pinned || mapping->users > 0) return;
  name_descriptor(mapping->descriptor, path);
  dlclose(mapping->handle);
  void *still = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (still != NULL) {  // something holds it: another load must get this mapping, under this number
    mapping->handle = still;
    mapping->pinned = true;
    return;
  }
  hx_mapping_t **link = &mappings;
  while (*link != mapping) link = &(*link)->next;
  *link = mapping->next;
  close(mapping->descriptor);
  drop_list(mapping->bundled, mapping->bundled_count);
  hx_plugin_host_release(mapping->host);
  hx_arena_deinit(&mapping->tables);
  hx_free(mapping);
}
