// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"

static hx_status_t io_fault(hx_report_t *report, const char *path, const char *what) {
  return hx_report_fail(report, HX_CODE_IO, "%s: %s: %s", path, what, strerror(errno));
}

static bool write_all(int descriptor, const char *data, size_t size) {
  while (size > 0) {
    const ssize_t written = write(descriptor, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= (size_t)written;
  }
  return true;
}

static hx_status_t write_and_rename(const char *path, char *temporary, const void *data, size_t size,
                                    hx_report_t *report) {
  const int descriptor = mkstemp(temporary);
  if (descriptor < 0) return io_fault(report, path, "cannot be created");
  const bool written = write_all(descriptor, data, size) && fchmod(descriptor, 0644) == 0 && fsync(descriptor) == 0;
  const int failure = errno;
  if (close(descriptor) == 0 && written && rename(temporary, path) == 0) return HX_STATUS_OK;
  if (!written) errno = failure;
  const hx_status_t status = io_fault(report, path, "cannot be written");
  unlink(temporary);
  return status;
}

hx_status_t cli_write_file(const char *path, const void *data, size_t size, hx_report_t *report) {
  const size_t length = strlen(path);
  char *temporary = malloc(length + sizeof ".XXXXXX");
  if (temporary == NULL) return HX_STATUS_OUT_OF_MEMORY;
  memcpy(temporary, path, length);
  memcpy(temporary + length, ".XXXXXX", sizeof ".XXXXXX");
  // Signals wait until the temporary file is gone, so that an interrupt leaves nothing behind.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const hx_status_t status = write_and_rename(path, temporary, data, size, report);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  free(temporary);
  return status;
}

hx_status_t cli_read_file(const char *path, size_t limit, char **out_data, size_t *out_size, hx_report_t *report) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return io_fault(report, path, "cannot be opened");
  size_t capacity = 65536, size = 0;
  char *data = malloc(capacity + 1);
  hx_status_t status = data == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  while (status == HX_STATUS_OK) {
    size += fread(data + size, 1, capacity - size, file);
    if (ferror(file) != 0) {
      status = io_fault(report, path, "cannot be read");
    } else if (size > limit) {
      status = hx_report_fail(report, HX_CODE_LIMIT, "%s: larger than %zu bytes", path, limit);
    } else if (size < capacity) {
      break;
    } else {
      char *larger = realloc(data, 2 * capacity + 1);
      if (larger == NULL) {
        status = HX_STATUS_OUT_OF_MEMORY;
      } else {
        data = larger;
        capacity *= 2;
      }
    }
  }
  fclose(file);
  if (status != HX_STATUS_OK) {
    free(data);
    return status;
  }
  data[size] = '\0';
  *out_data = data;
  *out_size = size;
  return HX_STATUS_OK;
}
