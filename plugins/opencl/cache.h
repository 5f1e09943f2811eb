// SPDX-License-Identifier: Apache-2.0
// Compiled programs on disk. A file is named by its key, the digest of all that decides what the compiler makes, and
// holds key, length and digest of its content: what does not agree is as if absent. Files are written beside their
// place and renamed, so that other processes see whole ones; the oldest go when the directory is over its limit.
#ifndef HX_OPENCL_CACHE_H
#define HX_OPENCL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HX_OPENCL_CACHE_PATH_MAX 4000u
#define HX_OPENCL_CACHE_TEXTS_MAX 8u                   // of a key
#define HX_OPENCL_CACHE_FILE_MAX ((uint64_t)64 << 20)  // bytes of one program
#define HX_OPENCL_CACHE_LIMIT ((uint64_t)256 << 20)    // of the directory

typedef struct hx_opencl_cache {
  char directory[HX_OPENCL_CACHE_PATH_MAX];  // empty: nothing is kept
  uint64_t limit;                            // bytes of all files
} hx_opencl_cache_t;

// [A] The directory: option opencl-cache ("off": none), else heliox/opencl in $XDG_CACHE_HOME or ~/.cache; made where
// it is missing, with mode 0700. One of another owner, or that others may write to, is not used. Privileged processes
// keep nothing unless the option names a directory.
void hx_opencl_cache_init(hx_opencl_cache_t *cache);

// Digest of the digests of `count` texts, as 64 hexadecimal digits.
void hx_opencl_cache_key(const char *const *texts, uint32_t count, char out[65]);

// The content kept under a key, from malloc; NULL where there is none or it cannot be trusted: *out_why then says which
// ("absent" is no reason to speak of).
unsigned char *hx_opencl_cache_load(const hx_opencl_cache_t *cache, const char *key, size_t *out_bytes,
                                    const char **out_why);
// Keeps content; false, and nothing is left behind, where that fails.
bool hx_opencl_cache_store(const hx_opencl_cache_t *cache, const char *key, const unsigned char *content, size_t bytes);
// Removes what a key names: it was no good.
void hx_opencl_cache_drop(const hx_opencl_cache_t *cache, const char *key);

#endif
