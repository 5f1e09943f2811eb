// SPDX-License-Identifier: Apache-2.0
// heliox_plugin_query asked by hosts that are older, newer, or out of reach.
#include <stdlib.h>
#include <string.h>

#include "heliox/plugin_layout.h"
#include "sdk/conformance/suite.h"

static void host_log(void *self, int32_t level, const char *area, const char *text) {
  (void)self, (void)level, (void)area, (void)text;
}

static const char *host_option(void *self, const char *name) {
  (void)self, (void)name;
  return NULL;
}

static uint32_t host_threads(void *self) {
  (void)self;
  return 1;
}

static int32_t host_parallel(void *self, uint64_t count, void (*body)(void *, uint64_t), void *argument) {
  (void)self;
  for (uint64_t i = 0; i < count; ++i) body(argument, i);
  return HX_OK;
}

static int32_t host_cancelled(void *self) {
  (void)self;
  return 0;
}

static void *host_take(void *self, uint64_t bytes) {
  (void)self;
  return malloc(bytes == 0 ? 1 : (size_t)bytes);
}

static void host_give(void *self, void *memory) {
  (void)self;
  free(memory);
}

static void host_progress(void *self, uint64_t done, uint64_t total) { (void)self, (void)done, (void)total; }

static const char *host_text(void *self, int32_t code) {
  (void)self;
  return result_word(code);
}

static int32_t host_region(void *self, hx_callable *callable, const hx_call *call, hx_error *error) {
  (void)self, (void)callable, (void)call, (void)error;
  return HX_UNSUPPORTED;
}

typedef union wide_host {
  hx_host head;
  uint8_t room[sizeof(hx_host) + 128];
} wide_host_t;

typedef union wide_plugin {
  hx_plugin head;
  uint8_t room[sizeof(hx_plugin) + 128];
} wide_plugin_t;

#define UNTOUCHED 0xc3

// What follows this host's own fields is 0xff: a plugin that reads functions that the host does not have would crash.
static void make_host(wide_host_t *host, uint32_t size, uint32_t major, uint32_t minor_min, uint32_t minor_max) {
  memset(host, 0xff, sizeof *host);
  host->head = (hx_host){.struct_size = size,
                         .abi_major = major,
                         .minor_min = minor_min,
                         .minor_max = minor_max,
                         .self = host,
                         .log = host_log,
                         .option = host_option,
                         .threads = host_threads,
                         .parallel_for = host_parallel,
                         .cancelled = host_cancelled,
                         .run_region = host_region,
                         .scratch_take = host_take,
                         .scratch_give = host_give,
                         .progress = host_progress,
                         .code_text = host_text};
  if (size < sizeof host->head) memset(host->room + size, 0xff, sizeof *host - size);
}

static int32_t ask(suite_t *suite, const wide_host_t *host, uint32_t room, wide_plugin_t *out) {
  memset(out, UNTOUCHED, sizeof *out);
  memset(out, 0, room < sizeof *out ? room : sizeof *out);
  out->head.struct_size = room;
  const int32_t code = suite->query(&host->head, &out->head);
  const uint32_t from = room < 4 ? 4 : room;
  for (uint32_t i = from; i < sizeof *out; ++i) {
    if (out->room[i] == UNTOUCHED) continue;
    case_fail(suite, "query wrote byte %u of a table that has room for %u", i, room);
    break;
  }
  if (code == HX_OK)
    case_expect(suite, out->head.struct_size <= room, "query says that it filled %u bytes of %u", out->head.struct_size,
                room);
  return code;
}

static void shut_down(const wide_plugin_t *plugin) {
  if (plugin->head.struct_size >= HX_END_OF(hx_plugin, shutdown) && plugin->head.shutdown != NULL)
    plugin->head.shutdown();
}

static const uint32_t full_host = HX_END_OF(hx_host, code_text), full_plugin = HX_END_OF(hx_plugin, collectives);
// As 1.0 had them.
static const uint32_t first_host = HX_END_OF(hx_host, run_region), first_plugin = HX_END_OF(hx_plugin, shutdown);

static void accepts(suite_t *suite, const char *name, uint32_t host_size, uint32_t room, uint32_t minor_max) {
  wide_host_t host;
  wide_plugin_t plugin;
  case_begin(suite, "negotiation", "%s", name);
  make_host(&host, host_size, HX_ABI_MAJOR, 0, minor_max);
  const int32_t code = ask(suite, &host, room, &plugin);
  if (case_expect(suite, code == HX_OK, "query returned %s", result_word(code))) {
    case_expect(suite, plugin.head.abi_major == HX_ABI_MAJOR && plugin.head.minor_min <= minor_max,
                "the plugin speaks %u.%u to %u.%u, which this host does not", plugin.head.abi_major,
                plugin.head.minor_min, plugin.head.abi_major, plugin.head.minor_max);
    static const uint8_t hashes[][32] = HX_LAYOUT_HASHES;
    const uint32_t minor = plugin.head.minor_max < minor_max ? plugin.head.minor_max : minor_max;
    case_expect(suite, minor > HX_ABI_MINOR || memcmp(plugin.head.layout_hash, hashes[minor], 32) == 0,
                "the layout hash is not that of %u.%u, the highest minor that both speak", HX_ABI_MAJOR, minor);
    shut_down(&plugin);
  }
  case_end(suite);
}

// Refused, or answered with a range by which the host can refuse.
static void declines(suite_t *suite, const char *name, uint32_t major, uint32_t minor_min) {
  wide_host_t host;
  wide_plugin_t plugin;
  case_begin(suite, "negotiation", "%s", name);
  make_host(&host, full_host, major, minor_min, minor_min + 3);
  const int32_t code = ask(suite, &host, full_plugin, &plugin);
  const bool meets = code == HX_OK && plugin.head.abi_major == major && plugin.head.minor_max >= minor_min;
  case_expect(suite, !meets, "the plugin claims to speak %u.%u", major, minor_min);
  if (code == HX_OK) shut_down(&plugin);
  case_end(suite);
}

static void refuses(suite_t *suite, const char *name, uint32_t host_size, uint32_t room) {
  wide_host_t host;
  wide_plugin_t plugin;
  case_begin(suite, "negotiation", "%s", name);
  make_host(&host, host_size, HX_ABI_MAJOR, 0, HX_ABI_MINOR);
  const int32_t code = ask(suite, &host, room, &plugin);
  case_expect(suite, code != HX_OK, "query returned HX_OK");
  if (code == HX_OK) shut_down(&plugin);
  case_end(suite);
}

// A plugin whose range begins later says so, and the host refuses it by that.
static void first_minor(suite_t *suite) {
  static const char name[] = "a host of the first minor, 1.0";
  wide_host_t host;
  wide_plugin_t plugin;
  case_begin(suite, "negotiation", "%s, asked for its range", name);
  make_host(&host, full_host, HX_ABI_MAJOR, 0, HX_ABI_MINOR);
  const int32_t code = ask(suite, &host, full_plugin, &plugin);
  const uint32_t minor_min = plugin.head.minor_min;
  if (code == HX_OK) shut_down(&plugin);
  if (code == HX_OK && minor_min > 0) {
    case_skip(suite, "the plugin speaks %u.%u and later", HX_ABI_MAJOR, minor_min);
    case_end(suite);
    return;
  }
  case_end(suite);
  accepts(suite, name, first_host, first_plugin, 0);
}

void run_negotiation(suite_t *suite) {
  accepts(suite, "a host of this version", full_host, full_plugin, HX_ABI_MINOR);
  accepts(suite, "a newer host: longer tables, more minors", full_host + 64, full_plugin + 64, HX_ABI_MINOR + 7);
  accepts(suite, "a host that knows no optional role", full_host, HX_END_OF(hx_plugin, queue), HX_ABI_MINOR);
  first_minor(suite);
  declines(suite, "a host of the next major", HX_ABI_MAJOR + 1, 0);
  declines(suite, "a host that has dropped this minor", HX_ABI_MAJOR, HX_ABI_MINOR + 40);
  refuses(suite, "a host table that ends before its first function", 8, full_plugin);
  refuses(suite, "a plugin table with no room for its mandatory fields", full_host, 12);
  accepts(suite, "a host of this version, again", full_host, full_plugin, HX_ABI_MINOR);
}
