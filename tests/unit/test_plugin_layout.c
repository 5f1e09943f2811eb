// SPDX-License-Identifier: Apache-2.0
// The measured layout of the ABI against the committed description and the header's text.
#include "tests/unit/plugin_fixture.h"

#include "core/plugin/host.h"
#include "heliox/plugin_layout.h"

static hx_text_t host_layout(void) {
  hx_text_t text;
  size_t count;
  const char *const *lines = hx_host_layout_lines(HX_ABI_MINOR, &count);
  hx_text_init(&text);
  for (size_t i = 0; i < count; ++i) hx_text_puts(&text, lines[i]);
  return text;
}

static void layout_equals_the_committed_description(void **state) {
  (void)state;
  char path[512];
  size_t size;
  snprintf(path, sizeof path, "%s/sdk/abi/layout-%u.%u.txt", HELIOX_SOURCE_DIR, HX_ABI_MAJOR, HX_ABI_MINOR);
  char *committed = read_bytes(path, &size);
  hx_text_t text = host_layout();
  // After a version decision: cmake --build build/release --target heliox_layout_update
  assert_string_equal(text.data, committed);
  assert_int_equal(text.size, HX_LAYOUT_TEXT_SIZE);
  hx_text_deinit(&text);
  hx_free(committed);
}

static void layout_hash_is_that_of_the_text(void **state) {
  (void)state;
  static const uint8_t stated[32] = HX_LAYOUT_HASH;
  unsigned char hash[32];
  char hex[65];
  hx_text_t text = host_layout();
  crypto_hash_sha256(hash, (const unsigned char *)text.data, text.size);
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  assert_memory_equal(hash, stated, sizeof hash);
  assert_string_equal(hex, HX_LAYOUT_HASH_HEX);
  assert_string_equal(hx_host_layout_hash(HX_ABI_MINOR), hex);
  assert_null(hx_host_layout_hash(HX_ABI_MINOR + 1));
  hx_text_deinit(&text);
}

static bool has_line(const hx_text_t *text, const char *start, size_t size) {
  for (const char *at = text->data; *at != '\0'; at = strchr(at, '\n') + 1) {
    if (strncmp(at, start, size) == 0 && (at[size] == ' ' || at[size] == '.')) return true;
  }
  return false;
}

// Names that the header gives a number to or defines as a struct, wherever they stand.
static void layout_has_every_constant_and_struct_of_the_header(void **state) {
  (void)state;
  size_t size, constants = 0, structs = 0;
  char *header = read_bytes(HELIOX_SOURCE_DIR "/sdk/include/heliox/plugin.h", &size);
  hx_text_t text = host_layout();
  for (const char *at = strstr(header, "HX_"); at != NULL; at = strstr(at + 1, "HX_")) {
    const size_t length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    const bool enumerator = strncmp(at + length, " = ", 3) == 0;
    const bool defined =
        at - header >= 8 && strncmp(at - 8, "#define ", 8) == 0 && at[length] == ' ' && at[length + 1] != '"';
    if (!enumerator && !defined) continue;
    if (!has_line(&text, at, length)) fail_msg("sdk/abi/layout.def lacks %.*s", (int)length, at);
    ++constants;
  }
  for (const char *at = strstr(header, "\n} hx_"); at != NULL; at = strstr(at + 1, "\n} hx_")) {
    const size_t length = strcspn(at + 3, ";");
    if (!has_line(&text, at + 3, length)) fail_msg("sdk/abi/layout.def lacks %.*s", (int)length, at + 3);
    ++structs;
  }
  assert_true(constants > 30);
  assert_true(structs > 15);
  hx_text_deinit(&text);
  hx_free(header);
}

// Every line of the older text stands in the newer one, in order; the minor's own number alone may differ. The older
// line that does not, or NULL.
static const char *find_change(const char *older, const char *newer) {
  static char line[256];
  while (*older != '\0') {
    const size_t size = strcspn(older, "\n") + 1;
    const bool minor = strncmp(older, "HX_ABI_MINOR ", 13) == 0;
    while (*newer != '\0' && !minor && strncmp(newer, older, size) != 0) newer += strcspn(newer, "\n") + 1;
    if (*newer == '\0' && !minor) {
      snprintf(line, sizeof line, "%.*s", (int)(size - 1), older);
      return line;
    }
    older += size;
  }
  return NULL;
}

static void layout_changes_are_seen(void **state) {
  (void)state;
  static const char older[] = "HX_ABI_MINOR 0\na.x 0 4 4\na.y 8 8 8\n";
  assert_null(find_change(older, older));
  assert_null(find_change(older, "HX_ABI_MINOR 1\na.x 0 4 4\na.y 8 8 8\na.z 16 4 4\nb.x 0 4 4\n"));  // appended
  assert_string_equal(find_change(older, "HX_ABI_MINOR 1\na.x 0 4 4\na.w 8 8 8\na.y 16 8 8\n"), "a.y 8 8 8");  // moved
  assert_string_equal(find_change(older, "HX_ABI_MINOR 1\na.y 8 8 8\n"), "a.x 0 4 4");                         // gone
  assert_string_equal(find_change(older, "HX_ABI_MINOR 1\na.x 0 4 4\na.y 8 4 4\n"), "a.y 8 8 8");  // another type
}

static char *committed_layout(uint32_t minor) {
  char path[512];
  size_t size;
  snprintf(path, sizeof path, "%s/sdk/abi/layout-%u.%u.txt", HELIOX_SOURCE_DIR, HX_ABI_MAJOR, minor);
  return read_bytes(path, &size);
}

static void layout_only_grew_since_every_committed_minor(void **state) {
  (void)state;
  hx_text_t newest = host_layout();
  for (uint32_t minor = hx_host_minor_min(); minor <= HX_ABI_MINOR; ++minor) {
    char *older = committed_layout(minor);
    const char *change = find_change(older, newest.data);
    if (change != NULL) fail_msg("%u.%u has \"%s\", the header no longer", HX_ABI_MAJOR, minor, change);
    hx_free(older);
  }
  hx_text_deinit(&newest);
}

static void layout_of_released_minors_stays(void **state) {
  (void)state;
  char line[256], stated[65], hex[65];
  unsigned char hash[32];
  unsigned major, minor;
  FILE *file = fopen(HELIOX_SOURCE_DIR "/sdk/abi/released.txt", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) {
    if (line[0] == '#') continue;
    assert_int_equal(sscanf(line, "%u.%u %64[0-9a-f]", &major, &minor, stated), 3);
    assert_int_equal(major, HX_ABI_MAJOR);
    char *text = committed_layout(minor);
    crypto_hash_sha256(hash, (const unsigned char *)text, strlen(text));
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    assert_string_equal(hex, stated);
    hx_free(text);
  }
  fclose(file);
}

int main(void) {
  if (sodium_init() < 0) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layout_equals_the_committed_description),
      cmocka_unit_test(layout_hash_is_that_of_the_text),
      cmocka_unit_test(layout_has_every_constant_and_struct_of_the_header),
      cmocka_unit_test(layout_changes_are_seen),
      cmocka_unit_test(layout_only_grew_since_every_committed_minor),
      cmocka_unit_test(layout_of_released_minors_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
