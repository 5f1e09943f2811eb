// SPDX-License-Identifier: Apache-2.0
// A folder of one test's own, and what tests of files do to the files in it. Include after cmocka.h.
#ifndef HELIOX_TESTS_UNIT_FILE_FIXTURE_H
#define HELIOX_TESTS_UNIT_FILE_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"

static char fixture_folder[64];

static inline void fixture_enter(void) {
  snprintf(fixture_folder, sizeof fixture_folder, "/tmp/heliox-test-XXXXXX");
  assert_non_null(mkdtemp(fixture_folder));
}

// Removes a folder and the files in it; folders in it are removed first by the caller.
static inline void fixture_remove(const char *folder) {
  DIR *dir = opendir(folder);
  if (dir == NULL) return;
  for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    unlink(path);
  }
  closedir(dir);
  rmdir(folder);
}

// Files in a folder, hidden ones too.
static inline int fixture_count(const char *folder) {
  DIR *dir = opendir(folder);
  if (dir == NULL) return -1;
  int count = 0;
  for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) ++count;
  }
  closedir(dir);
  return count;
}

// FOLDER/NAME in one of four buffers that are used in turn.
static inline const char *fixture_path(const char *name) {
  static char paths[4][160];
  static unsigned turn;
  char *path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", fixture_folder, name);
  return path;
}

static inline unsigned char *fixture_read(const char *path, size_t *size) {
  struct stat facts;
  assert_int_equal(stat(path, &facts), 0);
  unsigned char *bytes = malloc((size_t)facts.st_size + 1);
  assert_non_null(bytes);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  *size = fread(bytes, 1, (size_t)facts.st_size, file);
  assert_int_equal(*size, facts.st_size);
  fclose(file);
  bytes[*size] = 0;
  return bytes;
}

static inline void fixture_write(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

// Sets the digest of a container anew after its bytes were changed.
static inline void fixture_seal(unsigned char *bytes, size_t size) {
  static const char key[] = "\"sha256\":\"";
  unsigned char *at = NULL;
  for (size_t i = 8; at == NULL && i + sizeof key + 64 < size; ++i) {
    if (memcmp(bytes + i, key, sizeof key - 1) == 0) at = bytes + i + sizeof key - 1;
  }
  assert_non_null(at);
  memset(at, '0', 64);
  unsigned char digest[32];
  char digits[65];
  crypto_hash_sha256(digest, bytes, size);
  sodium_bin2hex(digits, sizeof digits, digest, sizeof digest);
  memcpy(at, digits, 64);
}

// Replaces the first `from` in the file by `to` of the same length and seals it.
static inline void fixture_edit(const char *path, const char *from, const char *to) {
  size_t size;
  unsigned char *bytes = fixture_read(path, &size);
  const size_t length = strlen(from);
  assert_int_equal(length, strlen(to));
  bool found = false;
  for (size_t i = 8; !found && i + length <= size; ++i) {
    found = memcmp(bytes + i, from, length) == 0;
    if (found) memcpy(bytes + i, to, length);
  }
  if (!found) fail_msg("no %s in %s", from, path);
  fixture_seal(bytes, size);
  fixture_write(path, bytes, size);
  free(bytes);
}

// A fixed sequence of numbers.
static inline uint64_t fixture_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 20;
}

#endif
