// SPDX-License-Identifier: Apache-2.0
// Files that code is loaded from: opened without following links, judged by what was opened, read once.
#ifndef HELIOX_CORE_PLUGIN_FILE_H
#define HELIOX_CORE_PLUGIN_FILE_H

#include "core/plugin/gates.h"

typedef struct hx_file {
  int descriptor;  // -1: not open
  uint64_t device, inode, size;
} hx_file_t;

typedef enum hx_file_kind { HX_FILE_MANIFEST, HX_FILE_LIBRARY } hx_file_kind_t;

// Whether the process got rights that its caller lacks (set-user-id, capabilities): user-controlled places are ignored.
bool hx_process_privileged(void);
// Tests: 1 or 0 answers instead of the system, -1 asks it again.
void hx_process_override_privileged(int answer);

// Judges a directory and every one above it, links resolved. World-writable ones (unless sticky and root's) fail; what
// only a group or another user may change fails where `strict` or in a privileged process, and is a warning elsewhere.
// false: failed, the gate file-safety has it.
bool hx_directory_check(const char *directory, bool strict, hx_gates_t *gates, hx_report_t *warnings);
// Opens directory/name: a regular file of root or the effective user that nobody else may write. The name of a library
// must be a plain file name. false: nothing is open, the gate file-safety says why.
bool hx_file_open(const char *directory, const char *name, hx_file_kind_t kind, hx_gates_t *gates, hx_file_t *out);
// Opens a file that decides about others (lockfile, trusted key): judged as a manifest, its directories strictly.
bool hx_file_open_trusted(const char *path, hx_gates_t *gates, hx_file_t *out);
void hx_file_close(hx_file_t *file);
// Reads at most `most` bytes from the start; *out (hx_free) has a NUL after them. More than `most`: *out_size == most
// + 1. HX_STATUS_IO, HX_STATUS_OUT_OF_MEMORY.
hx_status_t hx_file_read(const hx_file_t *file, size_t most, char **out, size_t *out_size);
// Reads a system file that is not judged, whole.
hx_status_t hx_file_read_path(const char *path, size_t most, char **out, size_t *out_size);

// directory + "/" + name, hx_free'd by the caller; NULL: out of memory.
char *hx_path_join(const char *directory, const char *name);
// Adds a warning unless the report has one with that text.
void hx_report_warn_once(hx_report_t *report, hx_code_t code, const char *source, const char *text);

#endif
