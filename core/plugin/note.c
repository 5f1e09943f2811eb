// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/note.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/host.h"
#include "core/plugin/inspect.h"

#define OWNER "heliox"
#define TEXT_MAX (64 * 1024)

static bool bad(hx_gates_t *gates, const char *found, const char *text) {
  hx_gates_fail(gates, HX_GATE_NOTE, HX_CODE_NOTE, "one complete note of owner heliox", found, "the library's note %s",
                text);
  return false;
}

static bool is_number(const char *text, size_t size) {
  return size > 0 && size <= 10 && strspn(text, "0123456789") >= size && (size == 1 || text[0] != '0');
}

bool hx_abi_parse(const char *text, uint32_t *major, uint32_t *minor) {
  const char *dot = strchr(text, '.');
  if (dot == NULL || !is_number(text, (size_t)(dot - text)) || !is_number(dot + 1, strlen(dot + 1))) return false;
  const unsigned long long left = strtoull(text, NULL, 10), right = strtoull(dot + 1, NULL, 10);
  *major = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
  *minor = right > UINT32_MAX ? UINT32_MAX : (uint32_t)right;
  return true;
}

static hx_note_layout_t *layout_of(hx_note_t *note, uint32_t minor, bool create) {
  for (size_t i = 0; i < note->layout_count; ++i) {
    if (note->layouts[i].minor == minor) return &note->layouts[i];
  }
  if (!create || note->layout_count == HX_NOTE_LAYOUTS_MAX) return NULL;
  hx_note_layout_t *layout = &note->layouts[note->layout_count++];
  *layout = (hx_note_layout_t){.minor = minor};
  return layout;
}

static bool set_once(const char **field, const char *value) {
  if (*field != NULL) return false;
  *field = value;
  return true;
}

// One line key=value. Keys that this host does not know may come from a newer SDK.
static bool read_line(hx_note_t *note, char *line) {
  char *equals = strchr(line, '=');
  if (equals == NULL || equals == line) return false;
  *equals = '\0';
  const char *value = equals + 1;
  if (strcmp(line, "id") == 0) return set_once(&note->id, value);
  if (strcmp(line, "version") == 0) return set_once(&note->version, value);
  if (strcmp(line, "abi_min") == 0) return set_once(&note->abi_min, value);
  if (strcmp(line, "abi_max") == 0) return set_once(&note->abi_max, value);
  if (strcmp(line, "operations") == 0) return set_once(&note->operations, value);
  if (strncmp(line, "layout.", 7) != 0) return true;
  if (!is_number(line + 7, strlen(line + 7))) return false;
  hx_note_layout_t *layout = layout_of(note, (uint32_t)strtoul(line + 7, NULL, 10), true);
  return layout != NULL && set_once(&layout->hash, value);
}

static bool read_facts(hx_note_t *note, hx_str_t text, hx_arena_t *arena, hx_gates_t *gates) {
  if (text.size > TEXT_MAX) return bad(gates, "a long one", "is longer than 64 KiB");
  for (size_t i = 0; i < text.size; ++i) {
    const unsigned char c = (unsigned char)text.data[i];
    if ((c < 0x20 && c != '\n') || c > 0x7e) return bad(gates, "control bytes", "has bytes that are no text");
  }
  char *copy = (char *)(uintptr_t)hx_arena_str(arena, text).data;
  if (copy == NULL) {
    gates->exhausted = true;
    return false;
  }
  while (*copy != '\0') {
    char *end = strchr(copy, '\n');
    if (end == NULL) return bad(gates, "a cut line", "ends within a line");
    *end = '\0';
    if (!read_line(note, copy)) return bad(gates, copy, "has a line that is malformed or double");
    copy = end + 1;
  }
  if (note->id == NULL || note->version == NULL || note->abi_min == NULL || note->abi_max == NULL ||
      note->operations == NULL) {
    return bad(gates, "a short one", "is too short: id, version, abi_min, abi_max and operations must be there");
  }
  return true;
}

// "MINOR\n" and the text.
static bool read_layout(hx_note_t *note, hx_str_t text, hx_gates_t *gates) {
  const char *end = text.size > TEXT_MAX ? NULL : memchr(text.data, '\n', text.size);
  char minor[16];
  const size_t size = end == NULL ? 0 : (size_t)(end - text.data);
  if (size == 0 || size >= sizeof minor) return bad(gates, "a damaged layout", "of the layout is damaged");
  memcpy(minor, text.data, size);
  minor[size] = '\0';
  if (!is_number(minor, size)) return bad(gates, "a damaged layout", "of the layout is damaged");
  hx_note_layout_t *layout = layout_of(note, (uint32_t)strtoul(minor, NULL, 10), true);
  if (layout == NULL) return bad(gates, "many layouts", "describes more layouts than this host reads");
  if (layout->text.data != NULL) return bad(gates, "two", "describes one layout twice");
  layout->text = (hx_str_t){end + 1, text.size - size - 1};
  return true;
}

static bool check_versions(hx_note_t *note, hx_gates_t *gates) {
  uint32_t major = 0;
  const char *const texts[] = {note->abi_min, note->abi_max};
  uint32_t minors[2];
  for (int i = 0; i < 2; ++i) {
    uint32_t this_major;
    // 0 was never released; all ones is what uninitialised memory and failed calls give.
    const bool parsed = hx_abi_parse(texts[i], &this_major, &minors[i]);
    if (!parsed || this_major == 0 || this_major == UINT32_MAX || minors[i] == UINT32_MAX ||
        (i == 1 && (this_major != major || minors[1] < minors[0]))) {
      hx_gates_fail(gates, HX_GATE_NOTE, HX_CODE_ABI_FIELD, "MAJOR.MINOR of one released major, ascending", texts[i],
                    "the note's ABI range %s-%s is no range of versions", note->abi_min, note->abi_max);
      return false;
    }
    major = this_major;
  }
  note->major = major;
  note->minor_min = minors[0];
  note->minor_max = minors[1];
  return true;
}

bool hx_note_read(const hx_elf_t *elf, hx_arena_t *arena, hx_note_t *out, hx_gates_t *gates) {
  *out = (hx_note_t){0};
  hx_elf_note_t note = {0};
  hx_str_t facts = {0};
  size_t count = 0;
  while (hx_elf_next_note(elf, &note)) {
    if (note.owner.size != sizeof OWNER || memcmp(note.owner.data, OWNER, sizeof OWNER) != 0) continue;
    if (note.type == 1) {
      ++count;
      facts = note.text;
    } else if (note.type == 2 && !read_layout(out, note.text, gates)) {
      return false;
    }
  }
  if (note.damaged) return bad(gates, "a damaged one", "section is damaged");
  if (count == 0) return bad(gates, "none", "is missing");
  if (count > 1) return bad(gates, "several", "is there more than once");
  if (!read_facts(out, facts, arena, gates)) return false;
  for (size_t i = 0; i < out->layout_count; ++i) {
    if (out->layouts[i].hash == NULL || strlen(out->layouts[i].hash) != 64)
      return bad(gates, "no hash", "describes a layout without stating its hash");
  }
  return check_versions(out, gates);
}

static void compare(const char *what, const char *manifest, const char *note, hx_gates_t *gates) {
  if (strcmp(manifest, note) == 0) return;
  hx_gates_fail(gates, HX_GATE_NOTE, HX_CODE_NOTE, manifest, note,
                "%s is \"%s\" in the manifest and \"%s\" in the library's note", what, manifest, note);
}

void hx_note_compare(const hx_note_t *note, const hx_elf_t *elf, const hx_manifest_t *manifest, hx_gates_t *gates) {
  char digest[65], libc_min[32];
  compare("id", manifest->id, note->id, gates);
  compare("version", manifest->version, note->version, gates);
  compare("abi.min", manifest->abi_min, note->abi_min, gates);
  compare("abi.max", manifest->abi_max, note->abi_max, gates);
  if (hx_operations_digest(manifest->operations, manifest->operation_count, digest) != HX_STATUS_OK) {
    gates->exhausted = true;
    return;
  }
  compare("the digest of the operation list", digest, note->operations, gates);
  for (size_t i = 0; i < note->layout_count; ++i) {
    char key[16];
    snprintf(key, sizeof key, "%u", note->layouts[i].minor);
    const char *hash = json_string_value(json_object_get(manifest->layouts, key));
    compare("a layout hash", hash == NULL ? "absent" : hash, note->layouts[i].hash, gates);
  }
  if (json_object_size(manifest->layouts) != note->layout_count) {
    hx_gates_fail(gates, HX_GATE_NOTE, HX_CODE_NOTE, "equal lists of layouts", "another number",
                  "the manifest states %zu layouts, the library's note %zu", json_object_size(manifest->layouts),
                  note->layout_count);
  }
  hx_inspect_libc_min(elf, libc_min);
  if (manifest->libc_min[0] != '\0' && strcmp(manifest->libc_min, libc_min) != 0) {
    hx_gates_fail(gates, HX_GATE_HOST_MATCH, HX_CODE_TARGET, libc_min, manifest->libc_min,
                  "target.libc_min is \"%s\", the library needs \"%s\"", manifest->libc_min, libc_min);
  }
}

// The first line that differs between the host's layout and the note's text.
static void name_difference(const hx_note_layout_t *layout, hx_gates_t *gates) {
  size_t count;
  const char *const *lines = hx_host_layout_lines(layout->minor, &count);
  unsigned char hash[crypto_hash_sha256_BYTES];
  char hex[65];
  crypto_hash_sha256(hash, (const unsigned char *)layout->text.data, layout->text.size);
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  if (layout->text.data == NULL || strcmp(hex, layout->hash) != 0) {
    hx_gates_fail(gates, HX_GATE_NEGOTIATE, HX_CODE_LAYOUT_HASH, hx_host_layout_hash(layout->minor), layout->hash,
                  "the layout hash of version %u.%u differs, and the library does not describe its layout",
                  HX_ABI_MAJOR, layout->minor);
    return;
  }
  const char *at = layout->text.data, *end = at + layout->text.size;
  for (size_t i = 0; i <= count; ++i) {
    const char *here = i < count ? lines[i] : "nothing more\n";
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    const size_t size = stop == NULL ? (size_t)(end - at) : (size_t)(stop - at);
    const size_t here_size = strlen(here) - 1;
    if (i < count && size == here_size && memcmp(at, here, size) == 0) {
      at = stop == NULL ? end : stop + 1;
      continue;
    }
    char expected[160], found[160];
    snprintf(expected, sizeof expected, "%.*s", (int)here_size, here);
    snprintf(found, sizeof found, "%.*s", (int)(size < 150 ? size : 150), size > 0 ? at : "nothing more");
    if (size == 0) snprintf(found, sizeof found, "nothing more");
    hx_gates_fail(gates, HX_GATE_NEGOTIATE, HX_CODE_LAYOUT_HASH, expected, found,
                  "the layout of version %u.%u differs, first at \"%s\": the plugin has \"%s\"", HX_ABI_MAJOR,
                  layout->minor, expected, found);
    return;
  }
}

bool hx_note_negotiate(const hx_note_t *note, hx_gates_t *gates, uint32_t *out_minor) {
  const uint32_t host_min = hx_host_minor_min(), host_max = hx_host_minor_max();
  const uint32_t top = note->minor_max < host_max ? note->minor_max : host_max;
  if (note->major != HX_ABI_MAJOR || note->minor_max < host_min || note->minor_min > host_max) {
    char here[48], found[64];
    snprintf(here, sizeof here, "%u.%u-%u.%u", HX_ABI_MAJOR, host_min, HX_ABI_MAJOR, host_max);
    snprintf(found, sizeof found, "%u.%u-%u.%u", note->major, note->minor_min, note->major, note->minor_max);
    hx_gates_fail(gates, HX_GATE_NEGOTIATE, HX_CODE_ABI_RANGE, here, found, "plugin speaks %s, this host %s", found,
                  here);
    const bool newer = note->major > HX_ABI_MAJOR || (note->major == HX_ABI_MAJOR && note->minor_min > host_max);
    if (newer) {
      hx_gates_hint(gates, "update heliox to one that speaks %u.%u, or install a plugin for %u.%u", note->major,
                    note->minor_min, HX_ABI_MAJOR, host_max);
    } else {
      hx_gates_hint(gates, "install a plugin built for %u.%u", HX_ABI_MAJOR, host_max);
    }
    return false;
  }
  const hx_note_layout_t *layout = NULL;
  for (size_t i = 0; i < note->layout_count; ++i) {
    if (note->layouts[i].minor == top) layout = &note->layouts[i];
  }
  const char *here = hx_host_layout_hash(top);
  if (layout == NULL || here == NULL) {
    hx_gates_fail(gates, HX_GATE_NEGOTIATE, HX_CODE_LAYOUT_HASH, here != NULL ? here : "a layout", "none",
                  "the library's note has no layout of version %u.%u", HX_ABI_MAJOR, top);
    return false;
  }
  if (strcmp(here, layout->hash) != 0) {
    name_difference(layout, gates);
    return false;
  }
  *out_minor = top;
  return true;
}
