// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/table.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/host.h"

#define IMPLS_MAX 4096
#define NAME_BYTES_MAX 64

// One field of a table that must be there.
typedef struct field {
  const char *name;
  uint32_t offset, end;
  bool pointer;   // must not be NULL where it is there
  bool optional;  // may lie beyond the end of a shorter table, and may be NULL
} field_t;

#define POINTER(type_, field_) \
  { #type_ "." #field_, (uint32_t)offsetof(type_, field_), HX_END_OF(type_, field_), true, false }
#define OPTIONAL(type_, field_) \
  { #type_ "." #field_, (uint32_t)offsetof(type_, field_), HX_END_OF(type_, field_), true, true }
#define PLAIN(type_, field_) \
  { #type_ "." #field_, (uint32_t)offsetof(type_, field_), HX_END_OF(type_, field_), false, false }

static const field_t plugin_fields[] = {PLAIN(hx_plugin, struct_size), PLAIN(hx_plugin, abi_major),
                                        PLAIN(hx_plugin, minor_min),   PLAIN(hx_plugin, minor_max),
                                        POINTER(hx_plugin, id),        POINTER(hx_plugin, version),
                                        PLAIN(hx_plugin, layout_hash), PLAIN(hx_plugin, impl_count),
                                        PLAIN(hx_plugin, reserved),    PLAIN(hx_plugin, impls)};
static const field_t impl_fields[] = {PLAIN(hx_impl, struct_size), PLAIN(hx_impl, signature), POINTER(hx_impl, name),
                                      POINTER(hx_impl, op),        POINTER(hx_impl, prepare), POINTER(hx_impl, execute),
                                      POINTER(hx_impl, destroy)};
static const field_t device_fields[] = {
    PLAIN(hx_device_ops, struct_size),      PLAIN(hx_device_ops, reserved),         POINTER(hx_device_ops, count),
    POINTER(hx_device_ops, info),           POINTER(hx_device_ops, open),           POINTER(hx_device_ops, close),
    OPTIONAL(hx_device_ops, tables_create), OPTIONAL(hx_device_ops, tables_destroy)};
static const field_t memory_fields[] = {PLAIN(hx_memory_ops, struct_size), PLAIN(hx_memory_ops, reserved),
                                        POINTER(hx_memory_ops, alloc),     OPTIONAL(hx_memory_ops, import_host),
                                        POINTER(hx_memory_ops, address),   POINTER(hx_memory_ops, free)};
static const field_t queue_fields[] = {
    PLAIN(hx_queue_ops, struct_size), PLAIN(hx_queue_ops, reserved), POINTER(hx_queue_ops, create),
    POINTER(hx_queue_ops, destroy),   POINTER(hx_queue_ops, copy),   POINTER(hx_queue_ops, fill),
    POINTER(hx_queue_ops, record),    POINTER(hx_queue_ops, wait),   POINTER(hx_queue_ops, event_destroy),
    POINTER(hx_queue_ops, sync),      POINTER(hx_queue_ops, reset)};
static const field_t materializer_fields[] = {PLAIN(hx_materializer_ops, struct_size),
                                              PLAIN(hx_materializer_ops, reserved), POINTER(hx_materializer_ops, pack),
                                              POINTER(hx_materializer_ops, release)};
static const field_t graph_fields[] = {PLAIN(hx_graph_ops, struct_size),     PLAIN(hx_graph_ops, reserved),
                                       POINTER(hx_graph_ops, capture_begin), POINTER(hx_graph_ops, capture_end),
                                       POINTER(hx_graph_ops, launch),        POINTER(hx_graph_ops, update),
                                       POINTER(hx_graph_ops, destroy)};
static const field_t codec_fields[] = {PLAIN(hx_codec_ops, struct_size), PLAIN(hx_codec_ops, reserved),
                                       PLAIN(hx_codec_ops, exactness),   PLAIN(hx_codec_ops, tolerance_log2),
                                       POINTER(hx_codec_ops, encode),    POINTER(hx_codec_ops, decode)};
static const field_t collective_fields[] = {
    PLAIN(hx_collective_ops, struct_size),  PLAIN(hx_collective_ops, reserved),
    POINTER(hx_collective_ops, open),       POINTER(hx_collective_ops, close),
    POINTER(hx_collective_ops, rank),       POINTER(hx_collective_ops, agree),
    POINTER(hx_collective_ops, broadcast),  POINTER(hx_collective_ops, all_gather),
    POINTER(hx_collective_ops, all_reduce), POINTER(hx_collective_ops, send),
    POINTER(hx_collective_ops, receive),    OPTIONAL(hx_collective_ops, probe)};

static bool check_fields(const void *table, uint32_t size, const field_t *fields, size_t count, const char *where,
                         hx_gates_t *gates) {
  for (size_t i = 0; i < count; ++i) {
    if (size < fields[i].end && fields[i].optional) continue;
    if (size < fields[i].end) {
      char expected[32], found[32];
      snprintf(expected, sizeof expected, "%u bytes", fields[i].end);
      snprintf(found, sizeof found, "%u bytes", size);
      hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_TABLE_SHORT, expected, found, "%s ends after %s, before %s", where,
                    found, fields[i].name);
      return false;
    }
    const void *value;
    if (!fields[i].pointer || fields[i].optional) continue;
    memcpy(&value, (const char *)table + fields[i].offset, sizeof value);
    if (value != NULL) continue;
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_NULL_ENTRY, "an address", "NULL", "%s: %s is NULL", where,
                  fields[i].name);
    return false;
  }
  return true;
}

// A name in the plugin's memory: ended, short, of plain characters.
static bool check_name(const char *name, const char *where, hx_gates_t *gates) {
  const size_t size = strnlen(name, NAME_BYTES_MAX);
  bool plain = size > 0 && size < NAME_BYTES_MAX;
  for (size_t i = 0; plain && i < size; ++i) plain = name[i] > 0x20 && name[i] < 0x7f;
  if (plain) return true;
  char shown[NAME_BYTES_MAX];
  snprintf(shown, sizeof shown, "%.*s", (int)(size < NAME_BYTES_MAX ? size : NAME_BYTES_MAX - 1), name);
  hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_REGISTRATION, "a name of at most 63 printable bytes", shown,
                "%s has a name that is no name", where);
  return false;
}

static bool check_reserved(uint32_t value, const char *field, hx_gates_t *gates) {
  char found[16];
  if (value == 0) return true;
  snprintf(found, sizeof found, "%u", value);
  hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_ABI_FIELD, "0", found, "%s is %u, must be 0", field, value);
  return false;
}

// A role's table, copied with zeros after what the plugin wrote; NULL stays NULL.
#define COPY_ROLE(field_, type_, fields_)                                                                      \
  if (filled->field_ != NULL && !copy_role(filled->field_, sizeof(type_), fields_, HX_COUNT_OF(fields_),       \
                                           "hx_plugin." #field_, arena, (const void **)&out->field_, gates)) { \
    return false;                                                                                              \
  }
static bool copy_role(const void *table, size_t room, const field_t *fields, size_t count, const char *where,
                      hx_arena_t *arena, const void **out, hx_gates_t *gates) {
  uint32_t head[2];  // struct_size and reserved begin every role
  memcpy(head, table, sizeof head);
  if (!check_fields(table, head[0], fields, count, where, gates)) return false;
  char field[64];
  snprintf(field, sizeof field, "%s->reserved", where);
  if (!check_reserved(head[1], field, gates)) return false;
  void *copy = hx_arena_alloc(arena, room);
  if (copy == NULL) {
    gates->exhausted = true;
    return false;
  }
  memcpy(copy, table, head[0] < room ? head[0] : room);
  *out = copy;
  return true;
}

static bool copy_impls(const hx_plugin *filled, hx_arena_t *arena, hx_plugin *out, hx_gates_t *gates) {
  const uint32_t count = filled->impl_count;
  if (count > IMPLS_MAX) {
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_REGISTRATION, "at most 4096", "more", "hx_plugin.impl_count is %u",
                  count);
    return false;
  }
  if (count > 0 && filled->impls == NULL) {
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_NULL_ENTRY, "an address", "NULL",
                  "hx_plugin.impls is NULL with %u entries", count);
    return false;
  }
  const hx_impl **list = hx_arena_alloc(arena, ((size_t)count + 1) * sizeof *list);
  hx_impl *copies = hx_arena_alloc(arena, ((size_t)count + 1) * sizeof *copies);
  if (list == NULL || copies == NULL) {
    gates->exhausted = true;
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const hx_impl *impl = filled->impls[i];
    char where[48];
    snprintf(where, sizeof where, "hx_plugin.impls[%u]", i);
    if (impl == NULL) {
      hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_NULL_ENTRY, "an address", "NULL", "%s is NULL", where);
      return false;
    }
    if (!check_fields(impl, impl->struct_size, impl_fields, HX_COUNT_OF(impl_fields), where, gates) ||
        !check_name(impl->op, where, gates) || !check_name(impl->name, where, gates)) {
      return false;
    }
    memcpy(&copies[i], impl, impl->struct_size < sizeof *impl ? impl->struct_size : sizeof *impl);
    list[i] = &copies[i];
  }
  out->impls = list;
  return true;
}

// What the table says about itself, against what the note said before the library ran.
static bool check_identity(const hx_plugin *filled, const hx_manifest_t *manifest, hx_gates_t *gates) {
  char range[64], found[96], hex[65];
  snprintf(found, sizeof found, "%u.%u-%u.%u", filled->abi_major, filled->minor_min, filled->abi_major,
           filled->minor_max);
  snprintf(range, sizeof range, "%.24s-%.24s", manifest->abi_min, manifest->abi_max);
  if (filled->abi_major == 0 || filled->abi_major == UINT32_MAX || filled->minor_max == UINT32_MAX ||
      filled->minor_max < filled->minor_min) {
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_ABI_FIELD, range, found, "hx_plugin states the ABI range %s", found);
    return false;
  }
  if (strcmp(range, found) != 0) {
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_ABI_RANGE, range, found,
                  "hx_plugin states the ABI range %s, the library's note %s", found, range);
    return false;
  }
  const uint32_t minor = filled->minor_max < hx_host_minor_max() ? filled->minor_max : hx_host_minor_max();
  const char *here = hx_host_layout_hash(minor);
  sodium_bin2hex(hex, sizeof hex, filled->layout_hash, sizeof filled->layout_hash);
  if (here == NULL || strcmp(here, hex) != 0) {
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_LAYOUT_HASH, here == NULL ? "a layout" : here, hex,
                  "hx_plugin.layout_hash is not that of version %u.%u", filled->abi_major, minor);
    return false;
  }
  if (!check_name(filled->id, "hx_plugin.id", gates) || !check_name(filled->version, "hx_plugin.version", gates))
    return false;
  if (strcmp(filled->id, manifest->id) == 0 && strcmp(filled->version, manifest->version) == 0) return true;
  hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_NOTE, manifest->id, filled->id,
                "hx_plugin says %s %s, the manifest %s %s", filled->id, filled->version, manifest->id,
                manifest->version);
  return false;
}

bool hx_table_check(const hx_plugin *filled, const hx_manifest_t *manifest, hx_arena_t *arena, hx_plugin *out,
                    hx_gates_t *gates) {
  const uint32_t size = filled->struct_size;
  if (!check_fields(filled, size, plugin_fields, HX_COUNT_OF(plugin_fields), "hx_plugin", gates) ||
      !check_reserved(filled->reserved, "hx_plugin.reserved", gates) || !check_identity(filled, manifest, gates)) {
    return false;
  }
  hx_plugin known = {0};
  memcpy(&known, filled, size < sizeof known ? size : sizeof known);
  filled = &known;  // what lies beyond the plugin's struct_size is zero from here on
  *out = known;
  COPY_ROLE(device, hx_device_ops, device_fields)
  COPY_ROLE(memory, hx_memory_ops, memory_fields)
  COPY_ROLE(queue, hx_queue_ops, queue_fields)
  COPY_ROLE(materializer, hx_materializer_ops, materializer_fields)
  COPY_ROLE(graph, hx_graph_ops, graph_fields)
  COPY_ROLE(codec, hx_codec_ops, codec_fields)
  COPY_ROLE(collectives, hx_collective_ops, collective_fields)
  const hx_device_ops *device = out->device;
  if (device != NULL && (device->tables_create == NULL) != (device->tables_destroy == NULL)) {
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_NULL_ENTRY, "both or neither", "one",
                  "hx_plugin.device has one of tables_create and tables_destroy");
    return false;
  }
  if (out->codec != NULL && out->codec->exactness != HX_BIT_EXACT && out->codec->exactness != HX_TOLERANCE) {
    char found[16];
    snprintf(found, sizeof found, "%u", out->codec->exactness);
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_ABI_FIELD, "1 or 2", found,
                  "hx_plugin.codec->exactness is %s, neither HX_BIT_EXACT nor HX_TOLERANCE", found);
    return false;
  }
  return copy_impls(filled, arena, out, gates) && hx_table_check_registration(out, manifest, gates);
}

static int by_bytes(const void *a, const void *b) { return strcmp(a, b); }

#define ROW_BYTES 160
typedef char row_t[ROW_BYTES];

// What one sorted list has and the other lacks; names at most 8.
static size_t list_missing(const row_t *have, size_t have_count, const row_t *other, size_t other_count,
                           hx_text_t *out) {
  size_t missing = 0;
  for (size_t i = 0; i < have_count; ++i) {
    if (other_count > 0 && bsearch(have[i], other, other_count, sizeof *other, by_bytes) != NULL) continue;
    if (missing++ < 8) hx_text_printf(out, "%s%s", missing > 1 ? ", " : "", have[i]);
  }
  if (missing > 8) hx_text_printf(out, " and %zu more", missing - 8);
  if (missing == 0) hx_text_puts(out, "nothing else");
  return missing;
}

static const char *find_double(const row_t *rows, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    if (strcmp(rows[i - 1], rows[i]) == 0) return rows[i];
  }
  return NULL;
}

static bool compare_lists(const row_t *declared, size_t declared_count, const row_t *registered,
                          size_t registered_count, hx_gates_t *gates) {
  hx_text_t more, less;
  hx_text_init(&more);
  hx_text_init(&less);
  const char *twice = find_double(registered, registered_count);
  const size_t absent = list_missing(declared, declared_count, registered, registered_count, &less);
  const size_t extra = list_missing(registered, registered_count, declared, declared_count, &more);
  const bool equal = absent == 0 && extra == 0 && twice == NULL;
  if (more.failed || less.failed) {
    gates->exhausted = true;
  } else if (twice != NULL) {
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_REGISTRATION, "each once", twice, "the library registers %s twice",
                  twice);
  } else if (!equal) {
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_REGISTRATION, less.data, more.data,
                  "only the manifest declares %s; only the library registers %s", less.data, more.data);
  }
  hx_text_deinit(&more);
  hx_text_deinit(&less);
  return equal;
}

bool hx_table_check_registration(const hx_plugin *table, const hx_manifest_t *manifest, hx_gates_t *gates) {
  const size_t declared_count = manifest->operation_count, registered_count = table->impl_count;
  row_t *declared = hx_zalloc(declared_count + 1, sizeof *declared);
  row_t *registered = hx_zalloc(registered_count + 1, sizeof *registered);
  bool equal = false;
  if (declared == NULL || registered == NULL) {
    gates->exhausted = true;
  } else {
    for (size_t i = 0; i < declared_count; ++i) {
      const hx_manifest_operation_t *row = &manifest->operations[i];
      snprintf(declared[i], sizeof declared[i], "%s/%u/%s", row->type, row->signature, row->implementation);
    }
    for (size_t i = 0; i < registered_count; ++i) {
      const hx_impl *row = table->impls[i];
      snprintf(registered[i], sizeof registered[i], "%s/%u/%s", row->op, row->signature, row->name);
    }
    qsort(declared, declared_count, sizeof *declared, by_bytes);
    qsort(registered, registered_count, sizeof *registered, by_bytes);
    equal = compare_lists((const row_t *)declared, declared_count, (const row_t *)registered, registered_count, gates);
  }
  hx_free(declared);
  hx_free(registered);
  return equal;
}
