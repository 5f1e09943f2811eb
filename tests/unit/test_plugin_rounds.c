// SPDX-License-Identifier: Apache-2.0
// A thousand refusals and a thousand rounds of load and unload leave nothing behind. Slow: label long.
#include <dirent.h>
#include <malloc.h>

#include "tests/unit/plugin_fixture.h"

#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 150  // each one takes ten times as long
#else
#define ROUNDS 1000
#endif
#define WARM_UP 50  // rounds until the allocator has what it keeps

typedef struct traces {
  long mappings, descriptors, threads, resident_kib, heap_bytes;
} traces_t;

static long count_lines(const char *path, const char *piece) {
  char line[1024];
  long count = 0;
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) count += strstr(line, piece) != NULL;
  fclose(file);
  return count;
}

static long status_value(const char *key) {
  char line[256];
  long value = -1;
  FILE *file = fopen("/proc/self/status", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, key, strlen(key)) == 0) value = strtol(line + strlen(key), NULL, 10);
  }
  fclose(file);
  return value;
}

static long count_entries(const char *path) {
  long count = 0;
  DIR *directory = opendir(path);
  assert_non_null(directory);
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}

static traces_t look(void) {
  // Libraries are mapped from sealed memory or from the descriptor of their file: both have names.
  return (traces_t){.mappings = count_lines("/proc/self/maps", ".so"),
                    .descriptors = count_entries("/proc/self/fd"),
                    .threads = status_value("Threads:"),
                    .resident_kib = status_value("VmRSS:"),
                    .heap_bytes = (long)mallinfo2().uordblks};
}

static void assert_no_growth(traces_t before, traces_t after) {
  assert_int_equal(after.mappings, before.mappings);
  assert_int_equal(after.descriptors, before.descriptors);
  assert_int_equal(after.threads, before.threads);
  print_message("%d rounds: %ld KiB resident and %ld bytes of heap after %d, %ld and %ld at the end\n", ROUNDS,
                before.resident_kib, before.heap_bytes, WARM_UP, after.resident_kib, after.heap_bytes);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps freed memory for a while and has a heap of its own
  // The allocator counts what its caches hold as used; one lost block a round is more than that.
  assert_true(after.heap_bytes < before.heap_bytes + 8 * ROUNDS);
  if (after.resident_kib > before.resident_kib + 1024)
    fail_msg("memory grew from %ld KiB to %ld KiB", before.resident_kib, after.resident_kib);
#endif
}

// Refused before anything is mapped, and by the table check after the library was.
static void refuse_once(place_t *place, int round) {
  static const char *const modes[] = {"short", "null-open", "major-2", "layout", "reserved", "extra", "fails"};
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  hx_loaded_plugin_t *loaded = NULL;
  assert_int_equal(hx_plugins_count(plugins), 2);
  hx_plugin_option_set("fixture", modes[(size_t)round % HX_COUNT_OF(modes)]);
  for (size_t i = 0; i < 2; ++i) {
    assert_int_equal(hx_plugin_load(plugins, i, &loaded, NULL), HX_STATUS_REFUSED);
    assert_int_equal(hx_plugins_get(plugins, i)->state, HX_PLUGIN_REFUSED);
  }
  hx_plugin_option_set("fixture", NULL);
  hx_plugins_release(plugins);
}

static void row_26_a_thousand_refusals_leave_nothing(void **state) {
  place_t *place = *state;
  traces_t before = {0};
  copy_library(place, "exports", "bad");
  describe_by_hand(place, "bad");
  install(place, "second", "second");
  for (int round = 0; round < ROUNDS; ++round) {
    if (round == WARM_UP) before = look();
    refuse_once(place, round);
  }
  assert_no_growth(before, look());
  assert_int_equal(before.mappings, look().mappings);
}

static void row_26_a_thousand_loads_keep_one_mapping(void **state) {
  place_t *place = *state;
  traces_t before = {0};
  install(place, "good", "good");
  for (int round = 0; round < ROUNDS; ++round) {
    if (round == WARM_UP) before = look();
    hx_plugins_t *plugins = discover_in(place->directory, NULL);
    hx_loaded_plugin_t *loaded = NULL;
    assert_int_equal(hx_plugin_load(plugins, 0, &loaded, NULL), HX_STATUS_OK);
    hx_plugins_release(plugins);
    hx_loaded_plugin_release(loaded);
  }
  assert_no_growth(before, look());
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, make_place, remove_place)

int main(void) {
  if (sodium_init() < 0) return 1;
  const struct CMUnitTest tests[] = {
      CASE(row_26_a_thousand_refusals_leave_nothing),
      CASE(row_26_a_thousand_loads_keep_one_mapping),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
