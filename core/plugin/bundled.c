// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/bundled.h"

#include <sodium.h>
#include <string.h>

#include "core/plugin/file.h"
#include "core/plugin/inspect.h"

static void check_bytes(const hx_manifest_bundled_t *bundled, const char *bytes, size_t size, hx_gates_t *gates) {
  unsigned char hash[crypto_hash_sha256_BYTES];
  char hex[65];
  hx_elf_t elf;
  crypto_hash_sha256(hash, (const unsigned char *)bytes, size);
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  if (strcmp(hex, bundled->sha256) != 0) {
    hx_gates_fail(gates, HX_GATE_DIGEST, HX_CODE_DIGEST, bundled->sha256, hex,
                  "bundled %s has sha256 %.16s..., the manifest describes %.16s...", bundled->file, hex,
                  bundled->sha256);
  }
  if (!hx_inspect_format(bytes, size, bundled->file, gates, &elf)) return;
  hx_inspect_policy(&elf, bundled->file, gates);
  if (elf.soname == NULL || strcmp(elf.soname, bundled->soname) != 0) {
    hx_gates_fail(gates, HX_GATE_ELF, HX_CODE_DEPENDENCY, bundled->soname, elf.soname == NULL ? "none" : elf.soname,
                  "bundled %s has soname %s, the manifest says %s", bundled->file,
                  elf.soname == NULL ? "none" : elf.soname, bundled->soname);
  }
}

void hx_bundled_check(const hx_manifest_t *manifest, const char *directory, hx_gates_t *gates) {
  for (size_t i = 0; i < manifest->bundled_count; ++i) {
    hx_file_t file;
    char *bytes = NULL;
    size_t size = 0;
    if (!hx_file_open(directory, manifest->bundled[i].file, HX_FILE_LIBRARY, gates, &file)) continue;
    const hx_status_t status = hx_file_read(&file, HX_LIBRARY_BYTES_MAX, &bytes, &size);
    hx_file_close(&file);
    if (status == HX_STATUS_OK) {
      check_bytes(&manifest->bundled[i], bytes, size, gates);
    } else if (status == HX_STATUS_IO) {
      hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "a file that can be read", "an error",
                    "bundled %s cannot be read", manifest->bundled[i].file);
    } else {
      gates->exhausted = true;
    }
    hx_free(bytes);
  }
}
