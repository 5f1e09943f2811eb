// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/signature.h"

#include <dirent.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plugin/signature_file.h"

#define KEYS_MAX 256

// ------------------------------------------------------------------ texts

// Takes a literal from the front.
static bool take(hx_str_t *text, const char *literal) {
  const size_t size = strlen(literal);
  if (text->size < size || memcmp(text->data, literal, size) != 0) return false;
  text->data += size;
  text->size -= size;
  return true;
}

static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

// Takes lower-case digits of so many bytes and the end of the line.
static bool take_hex(hx_str_t *text, uint8_t *bytes, size_t count) {
  if (text->size < 2 * count + 1 || text->data[2 * count] != '\n') return false;
  for (size_t i = 0; i < count; ++i) {
    const int high = digit(text->data[2 * i]), low = digit(text->data[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = (uint8_t)(16 * high + low);
  }
  text->data += 2 * count + 1;
  text->size -= 2 * count + 1;
  return true;
}

static bool fail(const char **why, const char *reason) {
  *why = reason;
  return false;
}

bool hx_signature_parse(hx_str_t text, hx_signature_t *out, const char **why) {
  if (!take(&text, "heliox-signature 1\n")) return fail(why, "does not begin with the line \"heliox-signature 1\"");
  if (!take(&text, "key ") || !take_hex(&text, out->key, sizeof out->key))
    return fail(why, "has no line \"key \" with 64 hexadecimal digits after the first one");
  if (!take(&text, "signature ") || !take_hex(&text, out->bytes, sizeof out->bytes))
    return fail(why, "has no line \"signature \" with 128 hexadecimal digits at its end");
  return text.size == 0 || fail(why, "goes on after its third line");
}

bool hx_public_key_parse(hx_str_t text, uint8_t key[32], const char **why) {
  if (!take(&text, "heliox-public-key 1\n")) return fail(why, "does not begin with the line \"heliox-public-key 1\"");
  if (!take(&text, "key ") || !take_hex(&text, key, 32))
    return fail(why, "has no line \"key \" with 64 hexadecimal digits after the first one");
  return text.size == 0 || fail(why, "goes on after its second line");
}

bool hx_secret_key_parse(hx_str_t text, uint8_t seed[32], const char **why) {
  if (!take(&text, "heliox-secret-key 1\n")) return fail(why, "does not begin with the line \"heliox-secret-key 1\"");
  if (!take(&text, "seed ") || !take_hex(&text, seed, 32))
    return fail(why, "has no line \"seed \" with 64 hexadecimal digits after the first one");
  return text.size == 0 || fail(why, "goes on after its second line");
}

// ------------------------------------------------------------------ trusted keys

static hx_status_t add_key(hx_trust_t *trust, const uint8_t key[32], const char *path) {
  HX_TRY(hx_grow(&trust->keys, &trust->capacity, trust->count + 1, sizeof *trust->keys));
  hx_trusted_key_t *row = &trust->keys[trust->count];
  row->name = hx_arena_clean(&trust->arena, path);
  if (row->name == NULL) return HX_STATUS_OUT_OF_MEMORY;
  memcpy(row->key, key, sizeof row->key);
  trust->count += 1;
  return HX_STATUS_OK;
}

static hx_status_t read_key(hx_trust_t *trust, const char *path, hx_report_t *report) {
  hx_gates_t gates;
  hx_gates_init(&gates);
  hx_file_t file;
  char *text = NULL;
  size_t size = 0;
  uint8_t key[32];
  const char *why = "cannot be read";
  char warning[PATH_MAX + 300];
  hx_status_t status = HX_STATUS_OK;
  bool good = false;
  if (!hx_file_open_trusted(path, &gates, &file)) {
    why = hx_gates_first(&gates) == NULL ? "cannot be judged" : hx_gates_first(&gates)->text;
    snprintf(warning, sizeof warning, "trusted key %s is left out: %s", path, why);
  } else {
    status = hx_file_read(&file, HX_KEY_FILE_MAX, &text, &size);
    hx_file_close(&file);
    good = status == HX_STATUS_OK && hx_public_key_parse((hx_str_t){text, size}, key, &why);
    snprintf(warning, sizeof warning, "trusted key %s is left out: it %s", path, why);
  }
  hx_free(text);
  if (gates.exhausted) status = HX_STATUS_OUT_OF_MEMORY;
  hx_gates_deinit(&gates);
  if (status == HX_STATUS_OUT_OF_MEMORY) return status;
  if (good) return add_key(trust, key, path);
  hx_report_warn_once(report, HX_CODE_SIGNATURE, path, warning);
  return HX_STATUS_OK;
}

static hx_status_t read_directory(hx_trust_t *trust, const char *path, hx_report_t *report) {
  DIR *directory = opendir(path);
  if (directory == NULL) return HX_STATUS_OK;
  hx_status_t status = HX_STATUS_OK;
  for (struct dirent *item = readdir(directory); item != NULL && status == HX_STATUS_OK; item = readdir(directory)) {
    const size_t size = strlen(item->d_name);
    if (size < 5 || item->d_name[0] == '.' || strcmp(item->d_name + size - 4, ".pub") != 0) continue;
    if (trust->count == KEYS_MAX) {
      hx_report_warn_once(report, HX_CODE_SIGNATURE, path, "more than 256 trusted keys; the rest is left out");
      break;
    }
    char *file = hx_path_join(path, item->d_name);
    status = file == NULL ? HX_STATUS_OUT_OF_MEMORY : read_key(trust, file, report);
    hx_free(file);
  }
  closedir(directory);
  return status;
}

static hx_status_t read_list(hx_trust_t *trust, const char *list, hx_report_t *report) {
  char path[PATH_MAX];
  for (const char *rest = list; *rest != '\0';) {
    const size_t size = strcspn(rest, ":");
    if (size > 0 && size < sizeof path) {
      snprintf(path, sizeof path, "%.*s", (int)size, rest);
      HX_TRY(read_directory(trust, path, report));
    }
    rest += size + (rest[size] == ':');
  }
  return HX_STATUS_OK;
}

static hx_status_t read_user(hx_trust_t *trust, hx_report_t *report) {
  char path[PATH_MAX];
  const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  int size = -1;
  if (base != NULL && base[0] == '/') {
    size = snprintf(path, sizeof path, "%s/heliox/trust", base);
  } else if (home != NULL && home[0] == '/') {
    size = snprintf(path, sizeof path, "%s/.config/heliox/trust", home);
  }
  return size > 0 && (size_t)size < sizeof path ? read_directory(trust, path, report) : HX_STATUS_OK;
}

hx_status_t hx_trust_init(hx_trust_t *trust, const char *directories, bool user, hx_report_t *report) {
  *trust = (hx_trust_t){0};
  hx_arena_init(&trust->arena);
  hx_status_t status;
  if (directories != NULL) {
    status = read_list(trust, directories, report);
  } else {
    status = read_directory(trust, "/etc/heliox/trust", report);
    if (status == HX_STATUS_OK && user) status = read_user(trust, report);
  }
  if (status == HX_STATUS_OK) return status;
  hx_trust_deinit(trust);
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "trusted keys: out of memory");
}

void hx_trust_deinit(hx_trust_t *trust) {
  hx_free(trust->keys);
  hx_arena_deinit(&trust->arena);
  *trust = (hx_trust_t){0};
}

// ------------------------------------------------------------------ the check

typedef struct verdict {
  bool passed;
  char text[600], expected[80], found[80];
} verdict_t;

static void refuse(verdict_t *verdict, const char *expected, const char *found, const char *name, const char *why) {
  snprintf(verdict->text, sizeof verdict->text, "%.300s %.250s", name, why);
  snprintf(verdict->expected, sizeof verdict->expected, "%s", expected);
  snprintf(verdict->found, sizeof verdict->found, "%s", found);
}

static const hx_trusted_key_t *find_key(const hx_trust_t *trust, const uint8_t key[32]) {
  for (size_t i = 0; i < trust->count; ++i) {
    if (memcmp(trust->keys[i].key, key, 32) == 0) return &trust->keys[i];
  }
  return NULL;
}

static hx_status_t judge(const hx_candidate_t *candidate, const hx_trust_t *trust, hx_str_t text, const char *name,
                         verdict_t *verdict) {
  hx_signature_t signature;
  const char *why = "";
  char hex[65];
  bool verified;
  if (!hx_signature_parse(text, &signature, &why)) {
    refuse(verdict, "a signature", "other text", name, why);
    return HX_STATUS_OK;
  }
  sodium_bin2hex(hex, sizeof hex, signature.key, sizeof signature.key);
  const hx_trusted_key_t *key = find_key(trust, signature.key);
  if (key == NULL) {
    char expected[80];
    snprintf(expected, sizeof expected, "one of %zu trusted keys", trust->count);
    refuse(verdict, expected, hex, name, "is by a key that is not trusted here");
    return HX_STATUS_OK;
  }
  HX_TRY(hx_signature_verify(&signature, (hx_str_t){candidate->text, candidate->text_size}, &verified));
  if (!verified) {
    refuse(verdict, "a signature of these bytes", "one of other bytes", name, "does not fit the manifest");
    return HX_STATUS_OK;
  }
  verdict->passed = true;
  snprintf(verdict->text, sizeof verdict->text, "signed by %.500s", key->name);
  return HX_STATUS_OK;
}

static hx_status_t read_and_judge(const hx_candidate_t *candidate, const hx_trust_t *trust, const char *path,
                                  verdict_t *verdict) {
  const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
  struct stat facts;
  char *text = NULL;
  size_t size = 0;
  hx_gates_t gates;
  hx_file_t file;
  if (lstat(path, &facts) != 0) {
    refuse(verdict, "a signature", "none", name, "is absent: the manifest is not signed");
    return HX_STATUS_OK;
  }
  hx_gates_init(&gates);
  hx_status_t status = HX_STATUS_OK;
  if (hx_file_open(candidate->directory, name, HX_FILE_MANIFEST, &gates, &file)) {
    status = hx_file_read(&file, HX_KEY_FILE_MAX, &text, &size);
    hx_file_close(&file);
    if (status == HX_STATUS_OK) status = judge(candidate, trust, (hx_str_t){text, size}, name, verdict);
    if (status == HX_STATUS_IO) {
      refuse(verdict, "a signature", "an error", name, "cannot be read");
      status = HX_STATUS_OK;
    }
  } else if (hx_gates_first(&gates) != NULL) {
    refuse(verdict, "a safe file", hx_gates_first(&gates)->found, "signature:", hx_gates_first(&gates)->text);
  }
  if (gates.exhausted) status = HX_STATUS_OUT_OF_MEMORY;
  hx_free(text);
  hx_gates_deinit(&gates);
  return status;
}

void hx_signature_check(hx_candidate_t *candidate, hx_signatures_t policy, const hx_trust_t *trust,
                        hx_report_t *warnings) {
  hx_gates_t *gates = &candidate->gates;
  verdict_t verdict = {0};
  const char *slash = strrchr(candidate->path, '/');
  char name[NAME_MAX + 8];
  snprintf(name, sizeof name, "%s.sig", slash == NULL ? candidate->path : slash + 1);
  char *path = hx_path_join(candidate->directory, name);
  if (path == NULL || read_and_judge(candidate, trust, path, &verdict) != HX_STATUS_OK) {
    gates->exhausted = true;
  } else if (verdict.passed || policy == HX_SIGNATURES_OFF) {
    hx_gates_note(gates, HX_GATE_DIGEST, "%s%s", verdict.text, verdict.passed ? "" : " (signatures are not asked for)");
  } else if (policy == HX_SIGNATURES_WARN) {
    hx_report_warn_once(warnings, HX_CODE_SIGNATURE, candidate->path, verdict.text);
    hx_gates_note(gates, HX_GATE_DIGEST, "%s (a warning only)", verdict.text);
  } else {
    hx_gates_fail(gates, HX_GATE_DIGEST, HX_CODE_SIGNATURE, verdict.expected, verdict.found, "%s", verdict.text);
  }
  hx_free(path);
}
