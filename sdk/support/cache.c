// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heliox/support/host.h"
#include "heliox/support/sha256.h"

#define NAME_DIGITS 40u  // of the key

// What a file begins with: kind, key, length and digest. Text, so that the layout is nobody's. The kind is padded, so
// that the length is always the same.
#define HEAD_FORMAT "heliox %-15.15s 1\n%s\n%020llu\n%s\n"
#define HEAD_BYTES ((size_t)(7 + 15 + 3 + 65 + 21 + 65))

static void write_head(const hxs_cache *cache, const char *key, const void *content, size_t bytes,
                       char out[HEAD_BYTES + 1]) {
  char digest[65];
  hxs_sha256_text(content, bytes, digest);
  snprintf(out, HEAD_BYTES + 1, HEAD_FORMAT, cache->kind, key, (unsigned long long)bytes, digest);
}

// A directory or file that only this user can write to.
static bool is_own(const struct stat *facts) { return facts->st_uid == geteuid() && (facts->st_mode & 022) == 0; }

// Makes every directory of an absolute path.
static bool make_directories(char *path) {
  for (char *at = path + 1; *at != 0; at++) {
    if (*at == '/') {
      *at = 0;
      const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
      *at = '/';
      if (!made) {
        return false;
      }
    }
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// The configured path, or an empty one.
static void choose_directory(const char *kind, char *out, size_t room) {
  char name[32];
  snprintf(name, sizeof name, "%s-cache", kind);
  const char *option = hxs_host_option(name);
  const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
  int length = 0;
  if (option != NULL) {
    length = snprintf(out, room, "%s", strcmp(option, "off") == 0 ? "" : option);
  } else if (base != NULL && base[0] == '/') {
    length = snprintf(out, room, "%s/heliox/%s", base, kind);
  } else if (home != NULL && home[0] == '/') {
    length = snprintf(out, room, "%s/.cache/heliox/%s", home, kind);
  }
  if (length < 0 || (size_t)length >= room - NAME_DIGITS - 32 || out[0] != '/') {
    out[0] = 0;
  }
}

void hxs_cache_init(hxs_cache *cache, const char *kind, const char *suffix) {
  struct stat facts;
  memset(cache, 0, sizeof *cache);
  cache->limit = HXS_CACHE_LIMIT;
  snprintf(cache->kind, sizeof cache->kind, "%s", kind);
  snprintf(cache->suffix, sizeof cache->suffix, "%s", suffix);
  choose_directory(kind, cache->directory, sizeof cache->directory);
  if (cache->directory[0] == 0) {
    return;
  }
  if (!make_directories(cache->directory) || stat(cache->directory, &facts) != 0 || !S_ISDIR(facts.st_mode) ||
      !is_own(&facts)) {
    char text[HXS_CACHE_PATH_MAX + 160];
    snprintf(text, sizeof text,
             "compiled programs are not kept: %s cannot be made, or is another user's or writable by others",
             cache->directory);
    hxs_host_log(HX_LOG_WARNING, text);
    cache->directory[0] = 0;
  }
}

void hxs_cache_key(const char *const *texts, uint32_t count, char out[65]) {
  char digests[HXS_CACHE_TEXTS_MAX * 64 + 1];
  count = count < HXS_CACHE_TEXTS_MAX ? count : HXS_CACHE_TEXTS_MAX;
  for (uint32_t i = 0; i < count; i++) {
    hxs_sha256_text(texts[i], strlen(texts[i]), digests + (size_t)64 * i);
  }
  hxs_sha256_text(digests, (size_t)64 * count, out);
}

static void path_of(const hxs_cache *cache, const char *key, char *out, size_t room) {
  snprintf(out, room, "%.*s/%.*s%s", (int)HXS_CACHE_PATH_MAX - 80, cache->directory, (int)NAME_DIGITS, key,
           cache->suffix);
}

// The whole file, one byte after it set to 0; NULL with the reason.
static char *read_file(const char *path, size_t *out_bytes, const char **out_why) {
  struct stat facts;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) {
    *out_why = errno == ENOENT ? "absent" : "it cannot be opened";
    return NULL;
  }
  char *content = NULL;
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || !is_own(&facts)) {
    *out_why = "it is no plain file, another user's, or writable by others";
  } else if ((uint64_t)facts.st_size < HEAD_BYTES || (uint64_t)facts.st_size > HXS_CACHE_FILE_MAX) {
    *out_why = "its size is not one that is written";
  } else if ((content = malloc((size_t)facts.st_size + 1)) == NULL) {
    *out_why = "no memory to read it";
  } else {
    size_t done = 0;
    ssize_t got = 1;
    while (done < (size_t)facts.st_size && got > 0) {
      got = read(file, content + done, (size_t)facts.st_size - done);
      done += got > 0 ? (size_t)got : 0;
    }
    content[done] = 0;
    *out_bytes = done;
    if (done != (size_t)facts.st_size) {
      *out_why = "it cannot be read";
      free(content);
      content = NULL;
    }
  }
  close(file);
  return content;
}

unsigned char *hxs_cache_load(const hxs_cache *cache, const char *key, size_t *out_bytes, const char **out_why) {
  char path[HXS_CACHE_PATH_MAX], head[HEAD_BYTES + 1];
  size_t bytes = 0;
  *out_why = "absent";
  if (cache->directory[0] == 0) {
    return NULL;
  }
  path_of(cache, key, path, sizeof path);
  char *content = read_file(path, &bytes, out_why);
  if (content == NULL) {
    return NULL;
  }
  const size_t rest = bytes - HEAD_BYTES;
  write_head(cache, key, content + HEAD_BYTES, rest, head);
  if (memcmp(content, head, HEAD_BYTES) != 0) {
    *out_why = "its key, length or digest is not that of its content";
    free(content);
    return NULL;
  }
  memmove(content, content + HEAD_BYTES, rest + 1);
  utimensat(AT_FDCWD, path, NULL, 0);  // the newest is the last to go
  *out_bytes = rest;
  return (unsigned char *)content;
}

static bool write_all(int file, const void *content, size_t bytes) {
  const char *from = content;
  while (bytes > 0) {
    const ssize_t put = write(file, from, bytes);
    if (put <= 0) {
      return false;
    }
    from += put;
    bytes -= (size_t)put;
  }
  return true;
}

// Bytes of all files of the directory, and the file used longest ago other than `kept`; empty: none.
static uint64_t survey(const hxs_cache *cache, const char *kept, char *out_oldest, size_t room) {
  char path[HXS_CACHE_PATH_MAX + 256];
  struct timespec age = {0};
  struct stat facts;
  uint64_t total = 0;
  out_oldest[0] = 0;
  DIR *list = opendir(cache->directory);
  if (list == NULL) {
    return 0;
  }
  for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
    snprintf(path, sizeof path, "%s/%s", cache->directory, entry->d_name);
    if (strstr(entry->d_name, cache->suffix) == NULL || lstat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) {
      continue;
    }
    total += (uint64_t)facts.st_size;
    const bool older = out_oldest[0] == 0 || facts.st_mtim.tv_sec < age.tv_sec ||
                       (facts.st_mtim.tv_sec == age.tv_sec && facts.st_mtim.tv_nsec < age.tv_nsec);
    if (older && strcmp(path, kept) != 0) {
      snprintf(out_oldest, room, "%s", path);
      age = facts.st_mtim;
    }
  }
  closedir(list);
  return total;
}

// Other processes may do the same at the same time: a file that is gone already is as good as removed.
static void keep_limit(const hxs_cache *cache, const char *kept) {
  char oldest[HXS_CACHE_PATH_MAX + 256];
  while (survey(cache, kept, oldest, sizeof oldest) > cache->limit && oldest[0] != 0) {
    if (unlink(oldest) != 0 && errno != ENOENT) {
      return;
    }
  }
}

bool hxs_cache_store(const hxs_cache *cache, const char *key, const unsigned char *content, size_t bytes) {
  char path[HXS_CACHE_PATH_MAX], aside[HXS_CACHE_PATH_MAX + 16], head[HEAD_BYTES + 1];
  if (cache->directory[0] == 0 || bytes > HXS_CACHE_FILE_MAX - HEAD_BYTES || bytes > cache->limit) {
    return false;
  }
  path_of(cache, key, path, sizeof path);
  snprintf(aside, sizeof aside, "%s.XXXXXX", path);
  const int file = mkostemp(aside, O_CLOEXEC);  // mode 0600
  if (file < 0) {
    return false;
  }
  write_head(cache, key, content, bytes, head);
  bool kept = write_all(file, head, HEAD_BYTES) && write_all(file, content, bytes);
  kept = close(file) == 0 && kept;
  kept = kept && rename(aside, path) == 0;
  if (!kept) {
    unlink(aside);
    return false;
  }
  keep_limit(cache, path);
  return true;
}

void hxs_cache_drop(const hxs_cache *cache, const char *key) {
  char path[HXS_CACHE_PATH_MAX];
  if (cache->directory[0] != 0) {
    path_of(cache, key, path, sizeof path);
    unlink(path);
  }
}
