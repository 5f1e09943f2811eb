// SPDX-License-Identifier: Apache-2.0
// Where the dynamic linker finds a library, without loading it.
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/plugin/elf.h"
#include "core/plugin/file.h"
#include "core/plugin/host.h"

#define CACHE_MAX (16u << 20)

typedef struct search {
  const char *soname;
  char path[PATH_MAX];
  bool found;
} search_t;

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static int look_at_loaded(struct dl_phdr_info *library, size_t size, void *argument) {
  search_t *search = argument;
  (void)size;
  if (library->dlpi_name == NULL || strcmp(base_of(library->dlpi_name), search->soname) != 0) return 0;
  snprintf(search->path, sizeof search->path, "%s", library->dlpi_name);
  search->found = true;
  return 1;
}

bool hx_system_library_loaded(const char *soname) {
  search_t search = {.soname = soname};
  dl_iterate_phdr(look_at_loaded, &search);
  return search.found;
}

// Whether a file is there and for this machine.
static bool fits(const char *path) {
  unsigned char head[20];
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return false;
  const bool read_all = read(descriptor, head, sizeof head) == (ssize_t)sizeof head;
  close(descriptor);
  return read_all && memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS64 &&
         (head[18] | head[19] << 8) == hx_host_machine();
}

static bool try_directory(search_t *search, const char *directory, size_t size) {
  const int length = snprintf(search->path, sizeof search->path, "%.*s/%s", (int)size, directory, search->soname);
  search->found = length > 0 && (size_t)length < sizeof search->path && fits(search->path);
  return search->found;
}

static bool search_list(search_t *search, const char *list) {
  while (list != NULL && *list != '\0') {
    const size_t size = strcspn(list, ":;");
    if (size > 0 && list[0] == '/' && try_directory(search, list, size)) return true;
    list += size + (list[size] != '\0');
  }
  return false;
}

// The cache of ldconfig: a header, entries of 24 bytes, strings; offsets count from the header.
static hx_status_t search_cache(search_t *search) {
  static const char magic[] = "glibc-ld.so.cache1.1";
  char *bytes = NULL;
  size_t size = 0;
  const hx_status_t status = hx_file_read_path("/etc/ld.so.cache", CACHE_MAX, &bytes, &size);
  if (status != HX_STATUS_OK) return status == HX_STATUS_OUT_OF_MEMORY ? status : HX_STATUS_OK;
  const char *head = size >= sizeof magic ? memmem(bytes, size, magic, sizeof magic - 1) : NULL;
  const size_t left = head != NULL ? size - (size_t)(head - bytes) : 0;
  uint32_t count = 0;
  if (left >= 48) memcpy(&count, head + 20, sizeof count);
  for (uint32_t i = 0; !search->found && i < count && left - 48 >= ((size_t)i + 1) * 24; ++i) {
    uint32_t name, path;
    memcpy(&name, head + 48 + (size_t)i * 24 + 4, sizeof name);
    memcpy(&path, head + 48 + (size_t)i * 24 + 8, sizeof path);
    if (name >= left || path >= left || memchr(head + name, '\0', left - name) == NULL ||
        memchr(head + path, '\0', left - path) == NULL || strcmp(head + name, search->soname) != 0) {
      continue;
    }
    snprintf(search->path, sizeof search->path, "%s", head + path);
    search->found = fits(search->path);
  }
  hx_free(bytes);
  return HX_STATUS_OK;
}

hx_status_t hx_system_library_find(const char *soname, char **out) {
  search_t search = {.soname = soname};
  if (strchr(soname, '/') != NULL || *soname == '\0') return HX_STATUS_NOT_FOUND;
  dl_iterate_phdr(look_at_loaded, &search);
  if (search.found && search.path[0] != '/') search.found = false;
  if (!search.found && !hx_process_privileged()) search_list(&search, getenv("LD_LIBRARY_PATH"));
  if (!search.found) HX_TRY(search_cache(&search));
  if (!search.found) {
    char list[512];
    snprintf(list, sizeof list, "/lib/%s-linux-gnu:/usr/lib/%s-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib",
             hx_host_arch(), hx_host_arch());
    search_list(&search, list);
  }
  if (!search.found) return HX_STATUS_NOT_FOUND;
  *out = hx_strdup(search.path);
  return *out != NULL ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
}
