// SPDX-License-Identifier: Apache-2.0
// Directories of keys: what their files are called, and how a secret is written.
#include "core/ckks/keyfile.h"

#include "core/base/text.h"

const hx_keyfile_part_t hx_keyfile_parts[HX_KEYFILE_PARTS] = {
    {HX_KEYS_SECRET, HX_FILE_SECRET, "secret.hx"}, {HX_KEYS_PUBLIC, HX_FILE_PUBLIC, "public.hx"},
    {HX_KEYS_RELIN, HX_FILE_RELIN, "relin.hx"},    {HX_KEYS_GALOIS, HX_FILE_GALOIS, "galois.hx"},
    {HX_KEYS_CONJ, HX_FILE_CONJ, "conj.hx"},
};

char *hx_keyfile_path(const char *directory, const char *file) {
  hx_text_t path;
  hx_text_init(&path);
  hx_text_puts(&path, directory);
  if (path.size > 0 && path.data[path.size - 1] != '/') hx_text_puts(&path, "/");
  hx_text_puts(&path, file);
  return hx_text_take(&path);
}

void hx_keyfile_pack_secret(const int8_t *secret, size_t n, uint8_t *out) {
  // The sign bit of -1 adds three: -1 + 3 = 2.
  for (size_t i = 0; i < n; ++i) out[i] = (uint8_t)(secret[i] + (3 & -(int)((uint8_t)secret[i] >> 7)));
}

bool hx_keyfile_unpack_secret(const uint8_t *bytes, size_t n, uint32_t weight, int8_t *out) {
  uint32_t bad = 0, nonzero = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t x = bytes[i];
    bad |= (2 - x) >> 31;         // x > 2 borrows
    nonzero += (x + 1) >> 1 & 1;  // 1 and 2 give 1, 0 gives 0
    out[i] = (int8_t)((int)x - (int)(3 & (0 - (x >> 1 & 1))));
  }
  return bad == 0 && (weight == 0 || nonzero == weight);
}
