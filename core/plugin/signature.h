// SPDX-License-Identifier: Apache-2.0
// Detached signatures of manifests (Ed25519) and the keys that are trusted. A manifest holds the digests of its
// libraries, so a signature of it covers them. Three small text files, read byte by byte as written here:
//   NAME.key       "heliox-secret-key 1\nseed SEED\n"           the signer's, 0600
//   NAME.pub       "heliox-public-key 1\nkey KEY\n"             in a trust directory
//   MANIFEST.sig   "heliox-signature 1\nkey KEY\nsignature SIGNATURE\n"
// KEY and SEED are 64, SIGNATURE 128 lower-case hexadecimal digits. Signed are the bytes "heliox manifest 1\n" followed
// by those of the manifest.
#ifndef HELIOX_CORE_PLUGIN_SIGNATURE_H
#define HELIOX_CORE_PLUGIN_SIGNATURE_H

#include "core/plugin/candidate.h"

#define HX_KEY_FILE_MAX 512  // bytes; a longer file is no key and no signature

typedef struct hx_signature {
  uint8_t key[32];
  uint8_t bytes[64];
} hx_signature_t;

typedef struct hx_trusted_key {
  uint8_t key[32];
  const char *name;  // of its file
} hx_trusted_key_t;

typedef struct hx_trust {
  hx_arena_t arena;
  hx_trusted_key_t *keys;
  size_t count, capacity;
} hx_trust_t;

// false: not exactly what the format says; *why is a static part of a sentence.
bool hx_signature_parse(hx_str_t text, hx_signature_t *out, const char **why);
bool hx_public_key_parse(hx_str_t text, uint8_t key[32], const char **why);

// Reads every .pub file of the directories (colon-separated), or, where NULL, of /etc/heliox/trust and, if `user`, of
// heliox/trust below $XDG_CONFIG_HOME. A directory that is absent has no keys; a key that is damaged or that somebody
// else may change is left out with a warning. HX_STATUS_OUT_OF_MEMORY leaves nothing to deinit.
hx_status_t hx_trust_init(hx_trust_t *trust, const char *directories, bool user, hx_report_t *report);
void hx_trust_deinit(hx_trust_t *trust);

// Gate digest, code signature. require: a failure; warn: a warning of the report; off: a remark of the gate alone.
void hx_signature_check(hx_candidate_t *candidate, hx_signatures_t policy, const hx_trust_t *trust,
                        hx_report_t *warnings);

#endif
