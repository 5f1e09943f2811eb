// SPDX-License-Identifier: Apache-2.0
// Directories with plugins in them, for tests of the loader.
#ifndef HELIOX_TESTS_UNIT_PLUGIN_FIXTURE_H
#define HELIOX_TESTS_UNIT_PLUGIN_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// cmocka.h comes after those.
#include <cmocka.h>

#include "core/plugin/file.h"
#include "core/plugin/plugin.h"

#define HELPER static __attribute__((unused, noinline))
#define FIXTURES HELIOX_BUILD_DIR "/tests/fixtures/"
#define TEMPLATES HELIOX_SOURCE_DIR "/tests/fixtures/"

typedef struct place {
  char directory[64];
  char room[8][256];
  int next;
} place_t;

HELPER int make_place(void **state) {
  place_t *place = calloc(1, sizeof *place);
  snprintf(place->directory, sizeof place->directory, "/tmp/heliox-plugin-XXXXXX");
  if (mkdtemp(place->directory) == NULL) return -1;
  *state = place;
  return 0;
}

HELPER int remove_one(const char *path, const struct stat *facts, int type, struct FTW *walk) {
  (void)facts;
  (void)type;
  (void)walk;
  return remove(path);
}

HELPER int remove_place(void **state) {
  place_t *place = *state;
  nftw(place->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  free(place);
  return 0;
}

// directory/name in one of a few rooms used in turn.
HELPER const char *in_place(place_t *place, const char *name) {
  const int room = place->next++ % 8;
  char directory[sizeof place->directory];
  memcpy(directory, place->directory, sizeof directory);
  snprintf(place->room[room], sizeof place->room[room], "%s/%s", directory, name);
  return place->room[room];
}

HELPER void write_bytes(const char *path, const void *bytes, size_t size, mode_t mode) {
  unlink(path);
  const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, bytes, size), (ssize_t)size);
  assert_int_equal(fchmod(descriptor, mode), 0);
  close(descriptor);
}

HELPER char *read_bytes(const char *path, size_t *size) {
  char *bytes = NULL;
  assert_int_equal(hx_file_read_path(path, (size_t)1 << 26, &bytes, size), HX_STATUS_OK);
  return bytes;
}

HELPER void copy_library(place_t *place, const char *fixture, const char *as) {
  char from[512], name[128];
  size_t size;
  snprintf(from, sizeof from, "%s%s.so", FIXTURES, fixture);
  snprintf(name, sizeof name, "%s.so", as);
  char *bytes = read_bytes(from, &size);
  write_bytes(in_place(place, name), bytes, size, 0755);
  hx_free(bytes);
}

HELPER void write_json(place_t *place, const char *as, const json_t *root) {
  char name[128];
  snprintf(name, sizeof name, "%s.json", as);
  char *text = json_dumps(root, JSON_INDENT(2));
  write_bytes(in_place(place, name), text, strlen(text), 0644);
  free(text);
}

HELPER json_t *read_json(place_t *place, const char *as) {
  char name[128];
  snprintf(name, sizeof name, "%s.json", as);
  json_t *root = json_load_file(in_place(place, name), 0, NULL);
  assert_non_null(root);
  return root;
}

// The manifest that completion makes of a library in the place.
HELPER void complete_as(place_t *place, const char *as, const char *template) {
  char manifest[128], library[128], source[512];
  snprintf(source, sizeof source, "%s%s.json", TEMPLATES, template);
  snprintf(manifest, sizeof manifest, "%s.json", as);
  snprintf(library, sizeof library, "%s.so", as);
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_manifest_complete(source, in_place(place, library), in_place(place, manifest), report);
  if (status != HX_STATUS_OK) print_error("%s\n", hx_report_get(report, 0)->text);
  assert_int_equal(status, HX_STATUS_OK);
  hx_report_release(report);
}

// The good library's manifest with library name and digest of another one: for libraries that completion refuses.
HELPER void describe_by_hand(place_t *place, const char *as) {
  char library[128], path[512], hex[65];
  unsigned char hash[32];
  size_t size;
  hx_report_t *report = hx_report_create();
  snprintf(path, sizeof path, "%s%s.json", TEMPLATES, "fixture");
  assert_int_equal(hx_manifest_complete(path, FIXTURES "good.so", in_place(place, "unused"), report), HX_STATUS_OK);
  hx_report_release(report);
  json_t *root = json_load_file(in_place(place, "unused"), 0, NULL);
  unlink(in_place(place, "unused"));
  snprintf(library, sizeof library, "%s.so", as);
  char *bytes = read_bytes(in_place(place, library), &size);
  crypto_hash_sha256(hash, (unsigned char *)bytes, size);
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  hx_free(bytes);
  json_object_set_new(root, "library", json_string(library));
  json_object_set_new(root, "digest", json_pack("{s:s, s:I}", "sha256", hex, "size", (json_int_t)size));
  json_object_del(json_object_get(root, "target"), "libc_min");
  write_json(place, as, root);
  json_decref(root);
}

HELPER void install(place_t *place, const char *fixture, const char *as) {
  copy_library(place, fixture, as);
  const bool own = strcmp(fixture, "second") == 0 || strcmp(fixture, "newer") == 0;
  complete_as(place, as, own ? fixture : "fixture");
}

HELPER hx_plugins_t *discover_in(const char *path, hx_report_t *report) {
  hx_plugins_t *plugins = NULL;
  const hx_plugins_options_t options = {.path = path, .only_path = true, .ignore_environment = true};
  assert_int_equal(hx_plugins_discover(&options, &plugins, report), HX_STATUS_OK);
  return plugins;
}

// The one manifest ends refused with that gate and code, its text and found hold the pieces; a full check says the
// same.
HELPER void assert_refused(place_t *place, const char *as, hx_gate_t gate, hx_code_t code, const char *piece) {
  char name[128];
  snprintf(name, sizeof name, "%s.json", as);
  unsetenv("HELIOX_FIXTURE_CONSTRUCTED");
  hx_plugins_t *plugins = discover_in(in_place(place, name), NULL);
  assert_int_equal(hx_plugins_count(plugins), 1);
  const hx_plugin_record_t *record = hx_plugins_get(plugins, 0);
  if (record->code != code || (piece != NULL && strstr(record->text, piece) == NULL))
    print_error("%s: %s: %s\n", as, hx_code_info(record->code)->word, record->text);
  assert_int_equal(record->state, HX_PLUGIN_REFUSED);
  assert_int_equal(record->code, code);
  assert_int_equal(record->gate, gate);
  if (piece != NULL) assert_non_null(strstr(record->text, piece));
  assert_true(record->hint[0] != '\0');
  hx_plugin_check_t *check = NULL;
  assert_int_equal(hx_plugin_check(in_place(place, name), &check, NULL), HX_STATUS_OK);
  const hx_gate_result_t *results;
  const size_t count = hx_plugin_check_results(check, &results);
  size_t first = 0;
  while (first < count && results[first].code == HX_CODE_NONE) ++first;
  assert_true(first < count);
  assert_int_equal(results[first].gate, gate);
  assert_int_equal(results[first].code, code);
  assert_string_equal(results[first].text, record->text);
  hx_plugin_check_release(check);
  hx_plugins_release(plugins);
  assert_null(getenv("HELIOX_FIXTURE_CONSTRUCTED"));  // nothing of the library has run
}

HELPER void assert_usable(place_t *place, const char *as) {
  char name[128];
  snprintf(name, sizeof name, "%s.json", as);
  hx_plugins_t *plugins = discover_in(in_place(place, name), NULL);
  assert_int_equal(hx_plugins_count(plugins), 1);
  const hx_plugin_record_t *record = hx_plugins_get(plugins, 0);
  if (record->state != HX_PLUGIN_USABLE) print_error("%s: %s\n", hx_code_info(record->code)->word, record->text);
  assert_int_equal(record->state, HX_PLUGIN_USABLE);
  hx_plugins_release(plugins);
}

#endif
