// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all: written without a name (or under a hidden one where the file system knows no
// unnamed files), given their name at the end. Nothing is left of a file that is abandoned, nor, where unnamed files
// exist, when the process is killed.
#ifndef HELIOX_CORE_TENSOR_ATOMIC_FILE_H
#define HELIOX_CORE_TENSOR_ATOMIC_FILE_H

#include "heliox/base.h"

// In the caller's storage; one thread. Zero-initialised it is closed.
typedef struct hx_atomic_file {
  int fd;
  bool open;
  char *path;       // as it will be called
  char *temporary;  // hidden name beside it; NULL while the file has none
} hx_atomic_file_t;

// Starts a file for `path` with these permission bits (less the umask) from birth. Refused (io): a target that exists
// and is no regular file, a directory that cannot be written.
hx_status_t hx_atomic_file_open(hx_atomic_file_t *file, const char *path, uint32_t mode, hx_report_t *report);
// Appends.
hx_status_t hx_atomic_file_write(hx_atomic_file_t *file, const void *bytes, size_t size, hx_report_t *report);
// Replaces bytes that were written.
hx_status_t hx_atomic_file_patch(hx_atomic_file_t *file, uint64_t offset, const void *bytes, size_t size,
                                 hx_report_t *report);
// Brings the bytes to the disk and gives the file its name. Without overwrite an existing file stays (file-exists).
// The file is closed in any case.
hx_status_t hx_atomic_file_commit(hx_atomic_file_t *file, bool overwrite, hx_report_t *report);
// Closes and removes. Nothing happens on a closed file.
void hx_atomic_file_abandon(hx_atomic_file_t *file);

#endif
