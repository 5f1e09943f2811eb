// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"

#define NAME_TRIES 16

static hx_status_t fail(hx_report_t *report, const char *what, const char *path, int error) {
  return hx_report_fail(report, HX_CODE_IO, "%s %s: %s", what, path, strerror(error));
}

// The folder of a path, with its slash, or "./".
static hx_str_t folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return hx_str("./");
  return (hx_str_t){.data = path, .size = (size_t)(slash - path) + 1};
}

// FOLDER/.heliox-RANDOM.tmp
static char *hidden_name(const char *path) {
  unsigned char random[8];
  char hex[2 * sizeof random + 1];
  randombytes_buf(random, sizeof random);
  sodium_bin2hex(hex, sizeof hex, random, sizeof random);
  hx_text_t name;
  hx_text_init(&name);
  hx_text_append(&name, folder_of(path));
  hx_text_printf(&name, ".heliox-%s.tmp", hex);
  return hx_text_take(&name);
}

// An unnamed file in the folder, or -1 where there is no such thing or it could not be named later.
static int open_unnamed(const char *path, uint32_t mode) {
  if (access("/proc/self/fd", X_OK) != 0) return -1;
  const hx_str_t folder = folder_of(path);
  hx_text_t name;
  hx_text_init(&name);
  hx_text_append(&name, folder);
  hx_text_puts(&name, ".");
  const int fd = name.failed ? -1 : open(name.data, O_TMPFILE | O_WRONLY | O_CLOEXEC, (mode_t)mode);
  hx_text_deinit(&name);
  return fd;
}

static hx_status_t open_named(hx_atomic_file_t *file, const char *path, uint32_t mode, hx_report_t *report) {
  for (int i = 0; i < NAME_TRIES; ++i) {
    char *name = hidden_name(path);
    if (name == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to write %s", path);
    file->fd = open(name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, (mode_t)mode);
    if (file->fd >= 0) {
      file->temporary = name;
      return HX_STATUS_OK;
    }
    const int error = errno;
    hx_free(name);
    if (error != EEXIST) return fail(report, "cannot write", path, error);
  }
  return fail(report, "cannot write", path, EEXIST);
}

hx_status_t hx_atomic_file_open(hx_atomic_file_t *file, const char *path, uint32_t mode, hx_report_t *report) {
  *file = (hx_atomic_file_t){.fd = -1};
  struct stat target;
  if (path == NULL || path[0] == '\0') return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "no path to write to");
  if (stat(path, &target) == 0 && !S_ISREG(target.st_mode)) {
    return hx_report_fail(report, HX_CODE_IO, "cannot write %s: it exists and is no regular file", path);
  }
  file->path = hx_strdup(path);
  if (file->path == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to write %s", path);
  file->fd = open_unnamed(path, mode);
  const hx_status_t status = file->fd >= 0 ? HX_STATUS_OK : open_named(file, path, mode, report);
  if (status != HX_STATUS_OK) {
    hx_free(file->path);
    *file = (hx_atomic_file_t){.fd = -1};
    return status;
  }
  file->open = true;
  return HX_STATUS_OK;
}

hx_status_t hx_atomic_file_write(hx_atomic_file_t *file, const void *bytes, size_t size, hx_report_t *report) {
  const unsigned char *at = bytes;
  while (size > 0) {
    const ssize_t written = write(file->fd, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(report, "cannot write", file->path, written < 0 ? errno : ENOSPC);
    at += written;
    size -= (size_t)written;
  }
  return HX_STATUS_OK;
}

hx_status_t hx_atomic_file_patch(hx_atomic_file_t *file, uint64_t offset, const void *bytes, size_t size,
                                 hx_report_t *report) {
  const unsigned char *at = bytes;
  while (size > 0) {
    const ssize_t written = pwrite(file->fd, at, size, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(report, "cannot write", file->path, written < 0 ? errno : ENOSPC);
    at += written;
    offset += (uint64_t)written;
    size -= (size_t)written;
  }
  return HX_STATUS_OK;
}

// Gives an unnamed file a name; that name must be free. 0 or errno.
static int link_unnamed(int fd, const char *name) {
  char source[40];
  snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
  return linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

// The final name, only if it is free.
static hx_status_t name_new(hx_atomic_file_t *file, hx_report_t *report) {
  int error = 0;
  if (file->temporary == NULL) {
    error = link_unnamed(file->fd, file->path);
  } else if (link(file->temporary, file->path) != 0) {
    error = errno;
  }
  if (error == EEXIST) {
    return hx_report_add(report, &(hx_fault_t){.code = HX_CODE_FILE_EXISTS,
                                               .source = file->path,
                                               .text = "the file exists and is kept",
                                               .hint = "Pass --overwrite, or choose another name."});
  }
  return error == 0 ? HX_STATUS_OK : fail(report, "cannot write", file->path, error);
}

// The final name, whether it is free or not: rename replaces in one step, so the file needs some name first.
static hx_status_t name_replacing(hx_atomic_file_t *file, hx_report_t *report) {
  if (file->temporary == NULL) {
    char *name = hidden_name(file->path);
    if (name == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to write %s", file->path);
    const int error = link_unnamed(file->fd, name);
    if (error != 0) {
      hx_free(name);
      return fail(report, "cannot write", file->path, error);
    }
    file->temporary = name;
  }
  if (rename(file->temporary, file->path) != 0) return fail(report, "cannot write", file->path, errno);
  hx_free(file->temporary);
  file->temporary = NULL;
  return HX_STATUS_OK;
}

// The name is on the disk once its folder is. File systems that cannot sync a folder are none the worse.
static void sync_folder(const char *path) {
  hx_text_t name;
  hx_text_init(&name);
  hx_text_append(&name, folder_of(path));
  const int fd = name.failed ? -1 : open(name.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
  hx_text_deinit(&name);
}

hx_status_t hx_atomic_file_commit(hx_atomic_file_t *file, bool overwrite, hx_report_t *report) {
  hx_status_t status = HX_STATUS_OK;
  if (fsync(file->fd) != 0 && errno != EINVAL) status = fail(report, "cannot write", file->path, errno);
  if (status == HX_STATUS_OK) status = overwrite ? name_replacing(file, report) : name_new(file, report);
  if (status == HX_STATUS_OK) sync_folder(file->path);
  hx_atomic_file_abandon(file);  // a hidden name that is left goes, the file under its own name stays
  return status;
}

void hx_atomic_file_abandon(hx_atomic_file_t *file) {
  if (!file->open) return;
  close(file->fd);
  if (file->temporary != NULL) unlink(file->temporary);
  hx_free(file->temporary);
  hx_free(file->path);
  *file = (hx_atomic_file_t){.fd = -1};
}
