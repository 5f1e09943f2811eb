// SPDX-License-Identifier: Apache-2.0
// Build steps of a plugin.
//   heliox-manifest facts MANIFEST HEADER   before compiling: what the ELF note and the table repeat from the manifest
#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char *file, const char *what) {
  fprintf(stderr, "heliox-manifest: %s: %s\n", file, what);
  return 1;
}

// What may stand in a literal of the note: no quotes, escapes, blanks or control bytes.
static bool is_plain(const char *text) {
  if (text == NULL || *text == '\0') return false;
  for (; *text != '\0'; ++text) {
    if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-", *text) == NULL) return false;
  }
  return true;
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

// SHA-256 over the sorted lines type/signature/implementation.
static int operations_digest(const char *file, const json_t *operations, char hex[65]) {
  const size_t count = json_array_size(operations);
  char **lines = calloc(count + 1, sizeof *lines);
  if (lines == NULL) return complain(file, "out of memory");
  int result = 0;
  for (size_t i = 0; i < count && result == 0; ++i) {
    const json_t *row = json_array_get(operations, i);
    const char *type = json_string_value(json_object_get(row, "type"));
    const char *implementation = json_string_value(json_object_get(row, "implementation"));
    const json_t *signature = json_object_get(row, "signature");
    if (!is_plain(type) || !is_plain(implementation) || !json_is_integer(signature)) {
      result = complain(file, "an operation lacks type, signature or implementation");
    } else if (asprintf(&lines[i], "%s/%lld/%s\n", type, (long long)json_integer_value(signature), implementation) <
               0) {
      lines[i] = NULL;
      result = complain(file, "out of memory");
    }
  }
  if (result == 0) {
    qsort(lines, count, sizeof *lines, by_bytes);
    crypto_hash_sha256_state state;
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_init(&state);
    for (size_t i = 0; i < count; ++i)
      crypto_hash_sha256_update(&state, (const unsigned char *)lines[i], strlen(lines[i]));
    crypto_hash_sha256_final(&state, hash);
    sodium_bin2hex(hex, 65, hash, sizeof hash);
  }
  for (size_t i = 0; i < count; ++i) free(lines[i]);
  free(lines);
  return result;
}

// Writes a file unless it has these bytes already, so that nothing is recompiled for an unchanged fact.
static int write_changed(const char *path, const char *text) {
  FILE *old = fopen(path, "r");
  if (old != NULL) {
    char *have = calloc(1, strlen(text) + 2);
    const size_t size = have != NULL ? fread(have, 1, strlen(text) + 1, old) : 0;
    fclose(old);
    const bool same = have != NULL && size == strlen(text) && memcmp(have, text, size) == 0;
    free(have);
    if (same) return 0;
  }
  FILE *out = fopen(path, "w");
  if (out == NULL) return complain(path, strerror(errno));
  const bool written = fputs(text, out) >= 0;
  if (fclose(out) != 0 || !written) return complain(path, "cannot be written");
  return 0;
}

static int write_facts(const char *manifest, const char *header) {
  json_error_t error;
  json_t *root = json_load_file(manifest, JSON_REJECT_DUPLICATES, &error);
  if (root == NULL) {
    fprintf(stderr, "heliox-manifest: %s:%d:%d: %s\n", manifest, error.line, error.column, error.text);
    return 1;
  }
  const char *id = json_string_value(json_object_get(root, "id"));
  const char *name = json_string_value(json_object_get(root, "name"));
  const char *version = json_string_value(json_object_get(root, "version"));
  char hex[65] = "";
  char *text = NULL;
  int result = 0;
  if (!is_plain(id) || !is_plain(name) || !is_plain(version)) {
    result = complain(manifest, "id, name or version is missing or has other characters than letters, digits and ._+-");
  } else if (operations_digest(manifest, json_object_get(root, "operations"), hex) != 0) {
    result = 1;
  } else if (asprintf(&text,
                      "/* Made by heliox-manifest from the plugin's manifest; do not edit. */\n"
                      "#define HELIOX_PLUGIN_ID \"%s\"\n#define HELIOX_PLUGIN_NAME \"%s\"\n"
                      "#define HELIOX_PLUGIN_VERSION \"%s\"\n#define HELIOX_PLUGIN_OPERATIONS \"%s\"\n",
                      id, name, version, hex) < 0) {
    text = NULL;
    result = complain(manifest, "out of memory");
  } else {
    result = write_changed(header, text);
  }
  free(text);
  json_decref(root);
  return result;
}

int main(int argc, char **argv) {
  if (sodium_init() < 0) return complain("libsodium", "cannot be initialised");
  if (argc == 4 && strcmp(argv[1], "facts") == 0) return write_facts(argv[2], argv[3]);
  fprintf(stderr, "usage: heliox-manifest facts MANIFEST HEADER\n");
  return 2;
}
