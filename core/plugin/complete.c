// SPDX-License-Identifier: Apache-2.0
// Fills a manifest from its library, by reading the library alone.
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plugin/file.h"
#include "core/plugin/host.h"
#include "core/plugin/inspect.h"
#include "core/plugin/note.h"

static hx_status_t read_input(const char *path, size_t most, char **out, size_t *size, hx_report_t *report) {
  const hx_status_t status = hx_file_read_path(path, most, out, size);
  if (status == HX_STATUS_OUT_OF_MEMORY)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
  if (status != HX_STATUS_OK) return hx_report_fail(report, HX_CODE_IO, "%s cannot be read: %s", path, strerror(errno));
  return HX_STATUS_OK;
}

static const char *libc_of(const hx_elf_t *elf, const char *written) {
  for (size_t i = 0; i < elf->needed_count; ++i) {
    if (strncmp(elf->needed[i], "libc.so.6", 9) == 0) return "glibc";
    if (strncmp(elf->needed[i], "libc.musl-", 10) == 0 || strcmp(elf->needed[i], "libc.so") == 0) return "musl";
  }
  return written != NULL ? written : hx_host_libc();  // it needs none
}

// Adds to an object that takes the value over; false: out of memory.
static bool set(json_t *object, const char *key, json_t *value) {
  return value != NULL && json_object_set_new(object, key, value) == 0;
}

static bool set_digest(json_t *root, const char *bytes, size_t size) {
  unsigned char hash[crypto_hash_sha256_BYTES];
  char hex[65];
  crypto_hash_sha256(hash, (const unsigned char *)bytes, size);
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  return set(root, "digest", json_pack("{s:s, s:I}", "sha256", hex, "size", (json_int_t)size));
}

static bool set_abi(json_t *root, const hx_note_t *note) {
  json_t *layouts = json_object();
  bool done = layouts != NULL;
  for (size_t i = 0; done && i < note->layout_count; ++i) {
    char key[16];
    snprintf(key, sizeof key, "%u", note->layouts[i].minor);
    done = set(layouts, key, json_string(note->layouts[i].hash));
  }
  return set(root, "abi",
             json_pack("{s:s, s:s, s:o}", "min", note->abi_min, "max", note->abi_max, "layouts", layouts)) &&
         done;
}

static bool set_target(json_t *root, const hx_elf_t *elf) {
  json_t *target = json_object_get(root, "target");
  if (target == NULL && !set(root, "target", json_object())) return false;
  target = json_object_get(root, "target");
  char version[32], number[32];
  hx_inspect_libc_min(elf, version);
  snprintf(number, sizeof number, "machine-%u", elf->machine);
  const char *arch = hx_elf_machine_name(elf->machine);
  const char *libc = libc_of(elf, json_string_value(json_object_get(target, "libc")));
  return set(target, "os", json_string("linux")) && set(target, "arch", json_string(arch != NULL ? arch : number)) &&
         set(target, "libc", json_string(libc)) && set(target, "libc_min", json_string(version));
}

static bool set_sanitizer(json_t *root, const hx_elf_t *elf) {
  char list[64];
  hx_inspect_sanitizers(elf, list);
  if (list[0] == '\0') return true;
  if (json_object_get(root, "runtime") == NULL && !set(root, "runtime", json_object())) return false;
  return set(json_object_get(root, "runtime"), "sanitizer", json_string(list));
}

// What the author left out and completion knows.
static bool set_defaults(json_t *root, const char *library) {
  const char *slash = strrchr(library, '/');
  const bool named = json_object_get(root, "library") != NULL;
  return (json_object_get(root, "manifest_version") != NULL || set(root, "manifest_version", json_integer(1))) &&
         (named || set(root, "library", json_string(slash == NULL ? library : slash + 1)));
}

static hx_status_t fill(json_t *root, const char *library, const char *bytes, size_t size, hx_report_t *report) {
  hx_gates_t gates;
  hx_gates_init(&gates);
  hx_elf_t elf;
  hx_note_t note;
  const char *why = "";
  hx_status_t status;
  // Any machine's library can be described; only this machine's is loaded.
  if (hx_elf_parse(bytes, size, &elf, &why) != HX_STATUS_OK) {
    hx_gates_fail(&gates, HX_GATE_ELF, HX_CODE_ELF_FORMAT, "an ELF shared object", why, "%s %s", library, why);
    status = hx_gates_report(&gates, library, report);
  } else if (!hx_note_read(&elf, &gates.arena, &note, &gates)) {
    status = hx_gates_report(&gates, library, report);
  } else if (!set_defaults(root, library) || !set_digest(root, bytes, size) || !set_abi(root, &note) ||
             !set_target(root, &elf) || !set_sanitizer(root, &elf)) {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", library);
  } else {
    hx_manifest_t *manifest = hx_manifest_from_tree(root);
    if (manifest != NULL) hx_note_compare(&note, &elf, manifest, &gates);
    gates.exhausted |= manifest == NULL;
    hx_manifest_release(manifest);
    status = hx_gates_report(&gates, library, report);
  }
  hx_gates_deinit(&gates);
  return status;
}

// A new file beside the old one, then renamed over it: a reader sees one or the other, whole.
static hx_status_t write_whole(const char *path, const char *text, hx_report_t *report) {
  const size_t room = strlen(path) + 16;
  char *temporary = hx_alloc(room);
  if (temporary == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
  snprintf(temporary, room, "%s.XXXXXX", path);
  const int descriptor = mkstemp(temporary);
  FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  bool done = out != NULL && fchmod(descriptor, 0644) == 0 && fputs(text, out) >= 0 && fputc('\n', out) != EOF;
  int error = errno;
  if (out != NULL) {
    if (fclose(out) != 0) {
      error = errno;
      done = false;
    }
  } else if (descriptor >= 0) {
    close(descriptor);
  }
  if (done && rename(temporary, path) != 0) {
    error = errno;
    done = false;
  }
  if (!done && descriptor >= 0) unlink(temporary);
  hx_free(temporary);
  return done ? HX_STATUS_OK : hx_report_fail(report, HX_CODE_IO, "%s cannot be written: %s", path, strerror(error));
}

hx_status_t hx_manifest_complete(const char *template_path, const char *library, const char *out_path,
                                 hx_report_t *report) {
  if (template_path == NULL || library == NULL || out_path == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_manifest_complete: a path is NULL");
  char *text = NULL, *bytes = NULL, *printed = NULL;
  size_t text_size, size;
  json_t *root = NULL;
  hx_status_t status = read_input(template_path, HX_JSON_BYTES_MAX, &text, &text_size, report);
  if (status == HX_STATUS_OK)
    status = hx_manifest_read_template((hx_str_t){text, text_size}, template_path, &root, report);
  if (status == HX_STATUS_OK) status = read_input(library, HX_LIBRARY_BYTES_MAX, &bytes, &size, report);
  if (status == HX_STATUS_OK) status = fill(root, library, bytes, size, report);
  if (status == HX_STATUS_OK) {
    printed = json_dumps(root, JSON_INDENT(2));
    status = printed == NULL ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", out_path)
                             : write_whole(out_path, printed, report);
  }
  free(printed);
  json_decref(root);
  hx_free(bytes);
  hx_free(text);
  return status;
}
