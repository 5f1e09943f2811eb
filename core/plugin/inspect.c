// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/host.h"

bool hx_inspect_format(const void *bytes, size_t size, const char *what, hx_gates_t *gates, hx_elf_t *out) {
  const char *why = "";
  const hx_status_t status = hx_elf_parse(bytes, size, out, &why);
  const char *here = hx_host_arch();
  if (status == HX_STATUS_CORRUPT && out->machine == 0 && out->segment_count == 0) {
    hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_ELF_FORMAT, "a 64-bit ELF shared object", why, "%s %s", what, why);
    return false;
  }
  if (status == HX_STATUS_UNSUPPORTED) {
    hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_ELF_ARCH, here, why, "%s %s", what, why);
    return false;
  }
  // Of another machine's file nothing else is judged, complete or not.
  if (out->machine != hx_host_machine()) {
    char number[32];
    const char *name = hx_elf_machine_name(out->machine);
    snprintf(number, sizeof number, "machine %u", out->machine);
    hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_ELF_ARCH, here, name != NULL ? name : number,
                  "%s is for %s, this host is %s", what, name != NULL ? name : number, here);
    return false;
  }
  if (status == HX_STATUS_OK) return true;
  hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_ELF_FORMAT, "a complete ELF shared object", why, "%s %s", what, why);
  return false;
}

static void policy(hx_gates_t *gates, const char *what, const char *fault, const char *found) {
  hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_ELF_POLICY, "none", found, "%s %s", what, fault);
}

void hx_inspect_policy(const hx_elf_t *elf, const char *what, hx_gates_t *gates) {
  bool stack = false;
  for (size_t i = 0; i < elf->segment_count; ++i) {
    const Elf64_Phdr *segment = &elf->segments[i];
    if (segment->p_type == PT_GNU_STACK) {
      stack = true;
      if ((segment->p_flags & PF_X) != 0) policy(gates, what, "asks for an executable stack", "GNU_STACK with X");
    }
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0 && (segment->p_flags & PF_X) != 0)
      policy(gates, what, "has a segment that is writable and executable", "LOAD with W and X");
  }
  // Without the header the kernel's default applies, an executable stack on several machines.
  if (!stack) policy(gates, what, "does not say that its stack is not executable", "no GNU_STACK");
  if (elf->text_relocations) policy(gates, what, "has text relocations", "TEXTREL");
  if (elf->rpath != NULL) policy(gates, what, "brings its own search path (RPATH)", elf->rpath);
  if (elf->runpath != NULL) policy(gates, what, "brings its own search path (RUNPATH)", elf->runpath);
  if (elf->filter != NULL) policy(gates, what, "filters another library", elf->filter);
  if (elf->no_delete) policy(gates, what, "cannot be unloaded again (NODELETE)", "NODELETE");
}

static bool is_exported(const hx_elf_symbol_t *symbol) {
  return symbol->defined && symbol->name[0] != '\0' &&
         (symbol->binding == STB_GLOBAL || symbol->binding == STB_WEAK || symbol->binding == STB_GNU_UNIQUE) &&
         (symbol->visibility == STV_DEFAULT || symbol->visibility == STV_PROTECTED);
}

void hx_inspect_exports(const hx_elf_t *elf, hx_gates_t *gates) {
  hx_text_t others;
  hx_text_init(&others);
  bool entry = false;
  size_t count = 0;
  for (uint64_t i = 0; i < elf->symbol_count; ++i) {
    hx_elf_symbol_t symbol;
    if (!hx_elf_symbol(elf, i, &symbol)) {
      hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_ELF_FORMAT, "names within the string table", "a name outside",
                    "the library has a symbol name outside its string table");
      hx_text_deinit(&others);
      return;
    }
    if (!is_exported(&symbol)) continue;
    if (strcmp(symbol.name, "heliox_plugin_query") == 0 && symbol.type == STT_FUNC && !entry) {
      entry = true;
    } else if (count++ < 8) {
      hx_text_printf(&others, "%s%s", count > 1 ? ", " : "", symbol.name);
    }
  }
  if (count > 8) hx_text_printf(&others, " and %zu more", count - 8);
  if (others.failed) {
    gates->exhausted = true;
  } else if (!entry) {
    hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_EXPORTS, "heliox_plugin_query", count > 0 ? others.data : "nothing",
                  "the library does not export heliox_plugin_query; it exports %s",
                  count > 0 ? others.data : "nothing");
  } else if (count > 0) {
    hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_EXPORTS, "heliox_plugin_query alone", others.data,
                  "the library exports %s beside heliox_plugin_query", others.data);
  }
  hx_text_deinit(&others);
}

// Compares dotted numbers.
static int compare_versions(const char *a, const char *b) {
  for (;;) {
    char *end_a, *end_b;
    const unsigned long left = strtoul(a, &end_a, 10), right = strtoul(b, &end_b, 10);
    if (left != right) return left < right ? -1 : 1;
    if (*end_a != '.' || *end_b != '.') return (*end_a == '.') - (*end_b == '.');
    a = end_a + 1;
    b = end_b + 1;
  }
}

void hx_inspect_libc_min(const hx_elf_t *elf, char version[32]) {
  version[0] = '\0';
  hx_elf_need_t need = {0};
  while (hx_elf_next_need(elf, &need)) {
    if (strncmp(need.version, "GLIBC_", 6) != 0 || need.version[6] < '0' || need.version[6] > '9') continue;
    if (strlen(need.version + 6) < 32 && (version[0] == '\0' || compare_versions(need.version + 6, version) > 0))
      snprintf(version, 32, "%s", need.version + 6);
  }
}

void hx_inspect_sanitizers(const hx_elf_t *elf, char list[64]) {
  static const struct {
    const char *prefix, *name;
  } kinds[] = {{"__asan_", "address"}, {"__hwasan_", "hwaddress"}, {"__tsan_", "thread"},
               {"__msan_", "memory"},  {"__ubsan_", "undefined"},  {"__lsan_", "leak"}};
  list[0] = '\0';
  for (size_t kind = 0; kind < HX_COUNT_OF(kinds); ++kind) {
    for (uint64_t i = 0; i < elf->symbol_count; ++i) {
      hx_elf_symbol_t symbol;
      if (!hx_elf_symbol(elf, i, &symbol) || symbol.defined ||
          strncmp(symbol.name, kinds[kind].prefix, strlen(kinds[kind].prefix)) != 0) {
        continue;
      }
      const size_t used = strlen(list);
      snprintf(list + used, 64 - used, "%s%s", used > 0 ? "," : "", kinds[kind].name);
      break;
    }
  }
}
