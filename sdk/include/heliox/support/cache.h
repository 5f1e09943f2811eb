// SPDX-License-Identifier: Apache-2.0
// Compiled programs on disk. A file is named by its key, the digest of all that decides what the compiler makes, and
// holds key, length and digest of its content: what does not agree is as if absent. Files are written beside their
// place and renamed, so that other processes see whole ones; the oldest go when the directory is over its limit.
#ifndef HELIOX_SUPPORT_CACHE_H
#define HELIOX_SUPPORT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of the path of a directory.
#define HXS_CACHE_PATH_MAX 4000u
// Texts of a key.
#define HXS_CACHE_TEXTS_MAX 8u
// Bytes of one program.
#define HXS_CACHE_FILE_MAX ((uint64_t)64 << 20)
// Bytes of the directory.
#define HXS_CACHE_LIMIT ((uint64_t)256 << 20)

// Where programs are kept.
typedef struct hxs_cache {
  char directory[HXS_CACHE_PATH_MAX];  // empty: nothing is kept
  char kind[16];                       // of the programs, as files say it
  char suffix[16];                     // of the files' names
  uint64_t limit;                      // bytes of all files
} hxs_cache;

// [A] The directory of a kind (a plugin's short name, at most 15 bytes): option KIND-cache ("off": none), else
// heliox/KIND in $XDG_CACHE_HOME or ~/.cache; made where it is missing, with mode 0700. One of another owner, or that
// others may write to, is not used, and the host's log says so. Privileged processes keep nothing unless the option
// names a directory.
void hxs_cache_init(hxs_cache *cache, const char *kind, const char *suffix);

// Digest of the digests of `count` texts, as 64 hexadecimal digits.
void hxs_cache_key(const char *const *texts, uint32_t count, char out[65]);

// The content kept under a key, from malloc, a 0 behind it; NULL where there is none or it cannot be trusted: *out_why
// then says which ("absent" is no reason to speak of).
unsigned char *hxs_cache_load(const hxs_cache *cache, const char *key, size_t *out_bytes, const char **out_why);
// Keeps content; false, and nothing is left behind, where that fails.
bool hxs_cache_store(const hxs_cache *cache, const char *key, const unsigned char *content, size_t bytes);
// Removes what a key names: it was no good.
void hxs_cache_drop(const hxs_cache *cache, const char *key);

#ifdef __cplusplus
}
#endif

#endif
