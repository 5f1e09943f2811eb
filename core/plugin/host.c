// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/host.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#include "core/plugin/elf.h"
#include "heliox/plugin_layout.h"

uint32_t hx_host_minor_min(void) { return 0; }
uint32_t hx_host_minor_max(void) { return HX_ABI_MINOR; }

const char *hx_host_os(void) { return "linux"; }

uint16_t hx_host_machine(void) {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#elif defined(__riscv)
  return EM_RISCV;
#else
  return EM_NONE;
#endif
}

const char *hx_host_arch(void) {
  const char *name = hx_elf_machine_name(hx_host_machine());
  return name != NULL ? name : "unknown";
}

const char *hx_host_libc(void) {
#ifdef __GLIBC__
  return "glibc";
#else
  return "musl";
#endif
}

const char *hx_host_libc_version(void) {
#ifdef __GLIBC__
  return gnu_get_libc_version();
#else
  return "unknown";
#endif
}

typedef struct feature {
  const char *name;
  bool present;
} feature_t;

// Processor features that a manifest may ask for; the names of GCC's target options.
#define FEATURES_MAX 24
static size_t list_features(feature_t features[FEATURES_MAX]) {
  size_t count = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
#define FEATURE(name_) features[count++] = (feature_t){name_, __builtin_cpu_supports(name_) != 0}
  FEATURE("sse4.2");
  FEATURE("sse4a");
  FEATURE("popcnt");
  FEATURE("avx");
  FEATURE("avx2");
  FEATURE("fma");
  FEATURE("bmi");
  FEATURE("bmi2");
  FEATURE("pclmul");
  FEATURE("gfni");
  FEATURE("avx512f");
  FEATURE("avx512cd");
  FEATURE("avx512dq");
  FEATURE("avx512bw");
  FEATURE("avx512vl");
  FEATURE("avx512ifma");
  FEATURE("avx512vbmi");
  FEATURE("avx5124fmaps");
#undef FEATURE
#elif defined(__aarch64__)
  const unsigned long bits = getauxval(AT_HWCAP);
  features[count++] = (feature_t){"asimd", (bits & (1ul << 1)) != 0};
  features[count++] = (feature_t){"sve", (bits & (1ul << 22)) != 0};
#else
  (void)features;
#endif
  return count;
}

static void match_features(const hx_manifest_t *manifest, hx_gates_t *gates) {
  feature_t features[FEATURES_MAX];
  const size_t count = list_features(features);
  for (size_t i = 0; i < json_array_size(manifest->isa); ++i) {
    const char *wanted = json_string_value(json_array_get(manifest->isa, i));
    size_t at = 0;
    while (at < count && strcmp(features[at].name, wanted) != 0) ++at;
    if (at == count) {
      hx_gates_fail(gates, HX_GATE_HOST_MATCH, HX_CODE_ISA, "a known processor feature", wanted,
                    "processor feature \"%s\" is not known here", wanted);
    } else if (!features[at].present) {
      hx_gates_fail(gates, HX_GATE_HOST_MATCH, HX_CODE_ISA, wanted, "absent",
                    "the plugin needs %s, which this processor lacks", wanted);
    }
  }
}

static void match_word(const char *what, const char *here, const char *found, hx_gates_t *gates) {
  if (strcmp(here, found) == 0) return;
  hx_gates_fail(gates, HX_GATE_HOST_MATCH, HX_CODE_TARGET, here, found, "%s is \"%s\", this host's is \"%s\"", what,
                found, here);
}

void hx_host_match(const hx_manifest_t *manifest, hx_gates_t *gates) {
  match_word("target.os", hx_host_os(), manifest->os, gates);
  match_word("target.arch", hx_host_arch(), manifest->arch, gates);
  match_word("target.libc", hx_host_libc(), manifest->libc, gates);
  match_features(manifest, gates);
}

#define LINE(text_) text_,
static const char *const lines_0[] = {HX_LAYOUT_LINES_0(LINE)};
static const char *const lines_1[] = {HX_LAYOUT_LINES_1(LINE)};
static const char *const lines_2[] = {HX_LAYOUT_LINES(LINE)};
#undef LINE

// One row a minor, from hx_host_minor_min on.
static const struct {
  const char *const *lines;
  size_t count;
} layouts[] = {{lines_0, HX_COUNT_OF(lines_0)}, {lines_1, HX_COUNT_OF(lines_1)}, {lines_2, HX_COUNT_OF(lines_2)}};
static_assert(HX_COUNT_OF(layouts) == HX_ABI_MINOR + 1, "the layout text of every minor");

const char *const *hx_host_layout_lines(uint32_t minor, size_t *out_count) {
  if (minor > HX_ABI_MINOR) return NULL;
  *out_count = layouts[minor].count;
  return layouts[minor].lines;
}

const char *hx_host_layout_hash(uint32_t minor) {
  static const uint8_t hashes[][32] = HX_LAYOUT_HASHES;
  static _Thread_local char hex[HX_ABI_MINOR + 1][65];
  if (minor > HX_ABI_MINOR) return NULL;
  for (size_t i = 0; i < sizeof hashes[minor]; ++i) snprintf(&hex[minor][2 * i], 3, "%02x", hashes[minor][i]);
  return hex[minor];
}
