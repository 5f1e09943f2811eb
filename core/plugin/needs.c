// SPDX-License-Identifier: Apache-2.0
// What a library needs from others, and whether they are here, found in their files alone.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/file.h"
#include "core/plugin/host.h"
#include "core/plugin/inspect.h"

#define SYSTEM_BYTES_MAX ((size_t)256 << 20)
#define WANTED_MAX 16384
#define PROVIDERS_MAX (HX_ELF_NEEDED_MAX + 2)

typedef struct provider {
  const char *soname;
  char *bytes;
  hx_elf_t elf;
} provider_t;

typedef struct wanted {
  const char *name;
  const char *version, *file;  // NULL: any
  bool found;
} wanted_t;

typedef struct needs {
  const hx_elf_t *elf;
  const hx_manifest_t *manifest;
  const char *directory;
  hx_gates_t *gates;
  provider_t providers[PROVIDERS_MAX];
  size_t provider_count;
  char linker[64];  // soname of the dynamic linker
  bool incomplete;  // a library could not be read: missing symbols are no evidence
} needs_t;

// name is "STEM.so" or "STEM.so.DIGITS".
static bool is_library(const char *name, const char *stem) {
  const size_t size = strlen(stem);
  if (strncmp(name, stem, size) != 0 || strncmp(name + size, ".so", 3) != 0) return false;
  const char *rest = name + size + 3;
  return *rest == '\0' || (*rest == '.' && strspn(rest + 1, "0123456789.") == strlen(rest + 1));
}

static bool is_any_library(const char *name, const char *const *stems, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (is_library(name, stems[i])) return true;
  }
  return false;
}

static bool is_system_library(const char *name) {
  static const char *const stems[] = {
      "libc",      "libm",    "libdl",  "librt",           "libpthread",      "libgcc_s",
      "libstdc++", "libgomp", "libomp", "ld-linux-x86-64", "ld-linux-aarch64"};
  return is_any_library(name, stems, HX_COUNT_OF(stems));
}

static bool is_sanitizer_library(const char *name) {
  static const char *const stems[] = {"libasan", "libubsan", "libtsan", "liblsan", "libhwasan"};
  return is_any_library(name, stems, HX_COUNT_OF(stems)) || strncmp(name, "libclang_rt.", 12) == 0;
}

static const hx_manifest_bundled_t *find_bundled(const hx_manifest_t *manifest, const char *soname) {
  for (size_t i = 0; i < manifest->bundled_count; ++i) {
    if (strcmp(manifest->bundled[i].soname, soname) == 0) return &manifest->bundled[i];
  }
  return NULL;
}

static void add_provider(needs_t *needs, const char *soname, const char *path) {
  if (needs->provider_count == PROVIDERS_MAX) return;
  provider_t *provider = &needs->providers[needs->provider_count];
  size_t size;
  const char *why;
  provider->bytes = NULL;
  const hx_status_t status = hx_file_read_path(path, SYSTEM_BYTES_MAX, &provider->bytes, &size);
  if (status != HX_STATUS_OK || hx_elf_parse(provider->bytes, size, &provider->elf, &why) != HX_STATUS_OK) {
    hx_free(provider->bytes);
    needs->gates->exhausted |= status == HX_STATUS_OUT_OF_MEMORY;
    needs->incomplete = true;
    return;
  }
  provider->soname = soname;
  ++needs->provider_count;
}

static void find_provider(needs_t *needs, const char *soname, bool required) {
  const hx_manifest_bundled_t *bundled = find_bundled(needs->manifest, soname);
  char *path = NULL;
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (bundled == NULL) {
    status = hx_system_library_find(soname, &path);
  } else if ((path = hx_path_join(needs->directory, bundled->file)) != NULL) {
    status = HX_STATUS_OK;
  }
  if (status == HX_STATUS_OK) {
    add_provider(needs, soname, path);
  } else if (status == HX_STATUS_OUT_OF_MEMORY) {
    needs->gates->exhausted = true;
  } else if (required) {
    hx_gates_fail(needs->gates, HX_GATE_ELF, HX_CODE_DEPENDENCY, soname, "not on this machine",
                  "the library needs %s, which is not on this machine", soname);
    hx_gates_hint(needs->gates, "install the package that has %s", soname);
    needs->incomplete = true;
  }
  hx_free(path);
}

static void check_libraries(needs_t *needs) {
  bool libc = false, linker = false;
  for (size_t i = 0; i < needs->elf->needed_count; ++i) {
    const char *name = needs->elf->needed[i];
    if (is_sanitizer_library(name)) {
      // Which runtime is here is the gate's other question; its file is as good as any loaded one.
      if (hx_system_library_loaded(name)) find_provider(needs, name, true);
    } else if (is_system_library(name) || find_bundled(needs->manifest, name) != NULL) {
      find_provider(needs, name, true);
      libc |= is_library(name, "libc");
      linker |= strncmp(name, "ld-linux", 8) == 0;
    } else {
      hx_gates_fail(needs->gates, HX_GATE_ELF, HX_CODE_DEPENDENCY, "system libraries and bundled ones", name,
                    "the library needs %s, which is neither a system library nor bundled", name);
      needs->incomplete = true;
    }
  }
  // Always in the process: code linked without them finds them all the same.
  if (!libc) find_provider(needs, "libc.so.6", false);
  if (!linker) {
    snprintf(needs->linker, sizeof needs->linker, "ld-linux-%s.so.%d",
             hx_host_machine() == EM_X86_64 ? "x86-64" : hx_host_arch(), hx_host_machine() == EM_X86_64 ? 2 : 1);
    find_provider(needs, needs->linker, false);
  }
}

static const provider_t *provider_of(const needs_t *needs, const char *soname) {
  for (size_t i = 0; i < needs->provider_count; ++i) {
    if (strcmp(needs->providers[i].soname, soname) == 0) return &needs->providers[i];
  }
  return NULL;
}

// Newest version of the same family ("GLIBC_") that a provider defines, for the message.
static void check_versions(needs_t *needs) {
  hx_elf_need_t need = {0};
  size_t missing = 0;
  while (hx_elf_next_need(needs->elf, &need)) {
    const provider_t *provider = provider_of(needs, need.file);
    if (provider == NULL || need.weak || provider->elf.define_at == 0 ||
        hx_elf_defines_version(&provider->elf, need.version)) {
      continue;
    }
    if (missing++ >= 8) continue;
    const bool libc = is_library(need.file, "libc") || is_library(need.file, "libm");
    char here[64] = "not that version";
    if (libc) snprintf(here, sizeof here, "%s %s", hx_host_libc(), hx_host_libc_version());
    hx_gates_fail(needs->gates, HX_GATE_ELF, HX_CODE_SYMBOL, need.version, here,
                  "the library needs version %s of %s; this machine has %s", need.version, need.file, here);
  }
  if (need.damaged) {
    hx_gates_fail(needs->gates, HX_GATE_ELF, HX_CODE_ELF_FORMAT, "version needs within the file", "damaged ones",
                  "the library's version needs are damaged");
  }
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const wanted_t *)a)->name, ((const wanted_t *)b)->name);
}

// Version and file that a symbol index is needed with.
static void find_need(const hx_elf_t *elf, uint16_t index, wanted_t *wanted) {
  hx_elf_need_t need = {0};
  while (index > 1 && hx_elf_next_need(elf, &need)) {
    if (need.index != index) continue;
    wanted->version = need.version;
    wanted->file = need.file;
    return;
  }
}

static void mark_found(const provider_t *provider, wanted_t *wanted, size_t count) {
  for (uint64_t i = 0; i < provider->elf.symbol_count; ++i) {
    hx_elf_symbol_t symbol;
    if (!hx_elf_symbol(&provider->elf, i, &symbol) || !symbol.defined || symbol.binding == STB_LOCAL) continue;
    wanted_t *match = bsearch(&(wanted_t){.name = symbol.name}, wanted, count, sizeof *wanted, by_name);
    if (match == NULL || match->found) continue;
    if (match->version == NULL || provider->elf.define_at == 0) {
      match->found = true;
      continue;
    }
    if (strcmp(match->file, provider->soname) != 0) continue;
    const char *version = hx_elf_version_name(&provider->elf, symbol.version);
    match->found = version == NULL || strcmp(version, match->version) == 0;
  }
}

static bool is_sanitizer_symbol(const char *name) {
  static const char *const prefixes[] = {"__asan_",  "__hwasan_", "__tsan_",     "__msan_",
                                         "__ubsan_", "__lsan_",   "__sanitizer_"};
  for (size_t i = 0; i < HX_COUNT_OF(prefixes); ++i) {
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return true;
  }
  return false;
}

static void report_missing(needs_t *needs, const wanted_t *wanted, size_t count) {
  hx_text_t list;
  hx_text_init(&list);
  size_t missing = 0;
  for (size_t i = 0; i < count; ++i) {
    if (wanted[i].found) continue;
    if (missing++ < 8) {
      hx_text_printf(&list, "%s%s%s%s", missing > 1 ? ", " : "", wanted[i].name, wanted[i].version != NULL ? "@" : "",
                     wanted[i].version != NULL ? wanted[i].version : "");
    }
  }
  if (missing > 8) hx_text_printf(&list, " and %zu more", missing - 8);
  if (list.failed) {
    needs->gates->exhausted = true;
  } else if (missing > 0) {
    hx_gates_fail(needs->gates, HX_GATE_ELF, HX_CODE_SYMBOL, list.data, "not provided",
                  "the library needs %s, which no library that it names provides", list.data);
  }
  hx_text_deinit(&list);
}

static void check_symbols(needs_t *needs) {
  size_t count = 0, capacity = 0;
  wanted_t *wanted = NULL;
  for (uint64_t i = 0; i < needs->elf->symbol_count && count < WANTED_MAX; ++i) {
    hx_elf_symbol_t symbol;
    if (!hx_elf_symbol(needs->elf, i, &symbol) || symbol.defined || symbol.binding != STB_GLOBAL ||
        symbol.name[0] == '\0' || is_sanitizer_symbol(symbol.name)) {
      continue;
    }
    if (hx_grow(&wanted, &capacity, count + 1, sizeof *wanted) != HX_STATUS_OK) {
      needs->gates->exhausted = true;
      hx_free(wanted);
      return;
    }
    wanted[count] = (wanted_t){.name = symbol.name};
    find_need(needs->elf, symbol.version, &wanted[count++]);
  }
  if (count > 0) {
    qsort(wanted, count, sizeof *wanted, by_name);
    for (size_t i = 0; i < needs->provider_count; ++i) mark_found(&needs->providers[i], wanted, count);
    report_missing(needs, wanted, count);
  }
  hx_free(wanted);
}

// A sanitizer's runtime must be in this process already, with every function that was called: it cannot be started
// late.
static void check_sanitizers(const hx_elf_t *elf, hx_gates_t *gates) {
  char list[64];
  hx_inspect_sanitizers(elf, list);
  for (uint64_t i = 0; i < elf->symbol_count; ++i) {
    hx_elf_symbol_t symbol;
    if (!hx_elf_symbol(elf, i, &symbol) || symbol.defined || symbol.binding != STB_GLOBAL ||
        !is_sanitizer_symbol(symbol.name) || dlsym(RTLD_DEFAULT, symbol.name) != NULL) {
      continue;
    }
    hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_SANITIZER, "a plain library", list,
                  "the library was built with a sanitizer (%s) that this process does not run: %s is not here", list,
                  symbol.name);
    return;
  }
}

void hx_inspect_needs(const hx_elf_t *elf, const hx_manifest_t *manifest, const char *directory, hx_gates_t *gates) {
  needs_t *needs = hx_zalloc(1, sizeof *needs);
  if (needs == NULL) {
    gates->exhausted = true;
    return;
  }
  needs->elf = elf;
  needs->manifest = manifest;
  needs->directory = directory;
  needs->gates = gates;
  check_sanitizers(elf, gates);
  check_libraries(needs);
  check_versions(needs);
  if (!needs->incomplete) check_symbols(needs);
  for (size_t i = 0; i < needs->provider_count; ++i) hx_free(needs->providers[i].bytes);
  hx_free(needs);
}
