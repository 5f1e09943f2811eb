// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/log.h"

#define TEXT_MAX 4600  // a path and a sentence

static int privileged_override = -1;

bool hx_process_privileged(void) {
  return privileged_override >= 0 ? privileged_override != 0 : getauxval(AT_SECURE) != 0;
}

void hx_process_override_privileged(int answer) { privileged_override = answer; }

void hx_report_warn_once(hx_report_t *report, hx_code_t code, const char *source, const char *text) {
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    if (fault->code == code && strcmp(fault->text, text) == 0) return;
  }
  hx_log(2, "plugins", "%s", text);
  hx_report_add(report,
                &(hx_fault_t){.code = code, .source = source, .text = text, .hint = hx_code_info(code)->remedy});
}

char *hx_path_join(const char *directory, const char *name) {
  const size_t left = strlen(directory), right = strlen(name);
  const bool slash = left > 0 && directory[left - 1] == '/';
  char *path = hx_alloc(left + right + 2);
  if (path != NULL) snprintf(path, left + right + 2, "%s%s%s", directory, slash ? "" : "/", name);
  return path;
}

static bool is_trusted(uid_t owner) { return owner == 0 || owner == geteuid(); }

// One directory on the way. Sticky directories of root (/tmp) let nobody replace another's entries.
static bool check_step(const char *path, bool strict, hx_gates_t *gates, hx_report_t *warnings) {
  struct stat facts;
  char found[64], text[TEXT_MAX];
  if (lstat(path, &facts) != 0) {
    hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "a directory that can be examined",
                  strerror(errno), "directory %s cannot be examined: %s", path, strerror(errno));
    return false;
  }
  if ((facts.st_mode & S_ISVTX) != 0 && facts.st_uid == 0) return true;
  snprintf(found, sizeof found, "mode %04o, owner %u", (unsigned)facts.st_mode & 07777u, (unsigned)facts.st_uid);
  if ((facts.st_mode & S_IWOTH) != 0) {
    hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "a directory that not everybody may write",
                  found, "directory %s is writable by everybody (mode %04o)", path, (unsigned)facts.st_mode & 07777u);
    hx_gates_hint(gates, "chmod o-w %s", path);
    return false;
  }
  if ((facts.st_mode & S_IWGRP) != 0) {
    snprintf(text, sizeof text, "directory %s of plugins is writable by its group (mode %04o)", path,
             (unsigned)facts.st_mode & 07777u);
  } else if (!is_trusted(facts.st_uid)) {
    snprintf(text, sizeof text, "directory %s of plugins belongs to user %u, who is neither root nor the caller", path,
             (unsigned)facts.st_uid);
  } else {
    return true;
  }
  if (!strict && !hx_process_privileged()) {
    hx_report_warn_once(warnings, HX_CODE_FILE_PERMISSIONS, path, text);
    return true;
  }
  hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "a directory that only its owner may write",
                found, "%s", text);
  return false;
}

bool hx_directory_check(const char *directory, bool strict, hx_gates_t *gates, hx_report_t *warnings) {
  char *path = realpath(directory, NULL);
  if (path == NULL) {
    hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "a directory that can be examined",
                  strerror(errno), "directory %s cannot be examined: %s", directory, strerror(errno));
    return false;
  }
  bool passed = check_step("/", strict, gates, warnings);
  for (size_t i = 1; passed && path[0] == '/' && path[1] != '\0'; ++i) {
    if (path[i] != '/' && path[i] != '\0') continue;
    const char saved = path[i];
    path[i] = '\0';
    passed = check_step(path, strict, gates, warnings);
    path[i] = saved;
    if (saved == '\0') break;
  }
  free(path);
  return passed;
}

static const char *type_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a symbolic link";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "a regular file";
}

static bool check_facts(const char *path, const struct stat *facts, hx_gates_t *gates) {
  char found[64];
  snprintf(found, sizeof found, "mode %04o, owner %u", (unsigned)facts->st_mode & 07777u, (unsigned)facts->st_uid);
  if (!S_ISREG(facts->st_mode)) {
    hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "a regular file", type_name(facts->st_mode),
                  "%s is %s", path, type_name(facts->st_mode));
    return false;
  }
  if ((facts->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "writable by its owner alone", found,
                  "%s is writable by %s (mode %04o)", path, (facts->st_mode & S_IWOTH) != 0 ? "everybody" : "its group",
                  (unsigned)facts->st_mode & 07777u);
    hx_gates_hint(gates, "chmod go-w %s", path);
    return false;
  }
  if (!is_trusted(facts->st_uid)) {
    char expected[64];
    snprintf(expected, sizeof expected, "owner 0 or %u", (unsigned)geteuid());
    hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, expected, found,
                  "%s belongs to user %u, who is neither root nor the caller", path, (unsigned)facts->st_uid);
    return false;
  }
  return true;
}

// A plain name in the manifest's own directory.
static bool check_name(const char *name, hx_gates_t *gates) {
  const bool plain = name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
  if (plain && strlen(name) <= 255) return true;
  hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_LIBRARY_PATH, "a file name without slash", name,
                "library is \"%s\", must be a plain file name", name);
  return false;
}

static bool fail_open(const char *path, hx_file_kind_t kind, int error, hx_gates_t *gates) {
  const bool absent = kind == HX_FILE_LIBRARY && error == ENOENT;
  hx_gates_fail(gates, HX_GATE_FILE_SAFETY, absent ? HX_CODE_LIBRARY_PATH : HX_CODE_FILE_PERMISSIONS,
                "a file that can be read", strerror(error), "%s cannot be opened: %s", path, strerror(error));
  return false;
}

static bool open_checked(const char *path, hx_file_kind_t kind, hx_gates_t *gates, hx_file_t *out) {
  struct stat before, facts;
  // Looked at first, since opening a device or FIFO may have effects; judged again by what was opened.
  if (lstat(path, &before) != 0) return fail_open(path, kind, errno, gates);
  if (S_ISLNK(before.st_mode)) {
    hx_gates_fail(gates, HX_GATE_FILE_SAFETY, kind == HX_FILE_LIBRARY ? HX_CODE_LIBRARY_PATH : HX_CODE_FILE_PERMISSIONS,
                  "a regular file", "a symbolic link", "%s is a symbolic link", path);
    return false;
  }
  if (!check_facts(path, &before, gates)) return false;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return fail_open(path, kind, errno, gates);
  if (fstat(descriptor, &facts) != 0 || !check_facts(path, &facts, gates)) {
    close(descriptor);
    return false;
  }
  *out = (hx_file_t){.descriptor = descriptor,
                     .device = (uint64_t)facts.st_dev,
                     .inode = (uint64_t)facts.st_ino,
                     .size = (uint64_t)facts.st_size};
  return true;
}

bool hx_file_open(const char *directory, const char *name, hx_file_kind_t kind, hx_gates_t *gates, hx_file_t *out) {
  *out = (hx_file_t){.descriptor = -1};
  if (kind == HX_FILE_LIBRARY && !check_name(name, gates)) return false;
  char *path = hx_path_join(directory, name);
  if (path == NULL) {
    gates->exhausted = true;
    return false;
  }
  const bool opened = open_checked(path, kind, gates, out);
  hx_free(path);
  return opened;
}

bool hx_file_open_trusted(const char *path, hx_gates_t *gates, hx_file_t *out) {
  const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
  *out = (hx_file_t){.descriptor = -1};
  char *directory = hx_strdup(slash == NULL ? "." : slash == path ? "/" : path);
  if (directory == NULL) {
    gates->exhausted = true;
    return false;
  }
  if (slash != NULL && slash != path) directory[slash - path] = '\0';
  char *resolved = realpath(directory, NULL);
  bool opened = false;
  if (resolved == NULL) {
    fail_open(path, HX_FILE_MANIFEST, errno, gates);
  } else {
    opened =
        hx_directory_check(resolved, true, gates, NULL) && hx_file_open(resolved, name, HX_FILE_MANIFEST, gates, out);
  }
  free(resolved);
  hx_free(directory);
  return opened;
}

void hx_file_close(hx_file_t *file) {
  if (file->descriptor >= 0) close(file->descriptor);
  *file = (hx_file_t){.descriptor = -1};
}

static hx_status_t read_descriptor(int descriptor, uint64_t size, size_t most, char **out, size_t *out_size) {
  const size_t room = size > most ? most + 1 : (size_t)size + 1;  // one more tells whether it has grown meanwhile
  char *bytes = hx_alloc(room + 1);
  if (bytes == NULL) return HX_STATUS_OUT_OF_MEMORY;
  size_t have = 0;
  while (have < room) {
    const ssize_t got = pread(descriptor, bytes + have, room - have, (off_t)have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      hx_free(bytes);
      return HX_STATUS_IO;
    }
    if (got == 0) break;
    have += (size_t)got;
  }
  bytes[have] = '\0';
  *out = bytes;
  *out_size = have;
  return HX_STATUS_OK;
}

hx_status_t hx_file_read(const hx_file_t *file, size_t most, char **out, size_t *out_size) {
  return read_descriptor(file->descriptor, file->size, most, out, out_size);
}

hx_status_t hx_file_read_path(const char *path, size_t most, char **out, size_t *out_size) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return HX_STATUS_IO;
  struct stat facts;
  hx_status_t status = HX_STATUS_IO;
  if (fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode))
    status = read_descriptor(descriptor, (uint64_t)facts.st_size, most, out, out_size);
  close(descriptor);
  return status;
}
