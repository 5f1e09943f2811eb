// SPDX-License-Identifier: Apache-2.0
// Every host version with every plugin version, against the table of docs/versions.md. The host's range is set by the
// test, which is linked so that the library asks it (--wrap); the gates, the loader and the device's first use are the
// library's own.
#include <sys/wait.h>

#include "core/backend/backend.h"
#include "core/plugin/host.h"
#include "tests/unit/plugin_fixture.h"

#define COLUMNS (HX_ABI_MINOR + 1 + 3)

static uint32_t host_minor = HX_ABI_MINOR;

uint32_t __wrap_hx_host_minor_max(void);
uint32_t __wrap_hx_host_minor_max(void) { return host_minor; }

// The library of a column: the older minors, today's, and three from the future.
static void name_fixture(size_t column, char out[32]) {
  static const char *const later[] = {"good", "abi_reach", "abi_minor", "abi_newer"};
  if (column < HX_ABI_MINOR) {
    snprintf(out, 32, "abi_1_%zu", column);
  } else {
    snprintf(out, 32, "%s", later[column - HX_ABI_MINOR]);
  }
}

// Cells of the row "| 1.minor | ..." of the page.
static void read_row(uint32_t minor, char cells[COLUMNS][32]) {
  char line[1024], head[32];
  FILE *page = fopen(HELIOX_SOURCE_DIR "/docs/versions.md", "r");
  assert_non_null(page);
  snprintf(head, sizeof head, "| %u.%u | ", HX_ABI_MAJOR, minor);
  bool found = false;
  while (!found && fgets(line, sizeof line, page) != NULL) found = strncmp(line, head, strlen(head)) == 0;
  fclose(page);
  if (!found) fail_msg("docs/versions.md has no row of a host of %u.%u", HX_ABI_MAJOR, minor);
  char *at = line + strlen(head);
  for (size_t column = 0; column < COLUMNS; ++column) {
    char *end = strstr(at, " |");
    if (end == NULL) fail_msg("the row of host %u.%u has %zu cells of %u", HX_ABI_MAJOR, minor, column, COLUMNS);
    snprintf(cells[column], 32, "%.*s", (int)(end - at), at);
    at = end + 2 + (end[2] == ' ');
  }
  assert_string_equal(at, "\n");
}

// What became of the plugin: "runs", or the code that ended it. The known answers of a device's first use are included.
static void try_pair(place_t *place, uint32_t minor, const char *fixture, char out[32]) {
  host_minor = HX_ABI_MINOR;  // manifests are completed by the tool of today
  install(place, fixture, "good");
  host_minor = minor;
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = discover_in(place->directory, NULL);
  assert_int_equal(hx_plugins_count(plugins), 1);
  const hx_plugin_record_t *record = hx_plugins_get(plugins, 0);
  if (record->state != HX_PLUGIN_USABLE) {
    assert_int_equal(record->state, HX_PLUGIN_REFUSED);
    snprintf(out, 32, "%s", hx_code_info(record->code)->word);
    char own[16];
    snprintf(own, sizeof own, "-%u.%u", HX_ABI_MAJOR, minor);
    assert_non_null(strstr(record->expected, own));  // names what this host speaks
    assert_true(record->found[0] != '\0' && record->hint[0] != '\0');
  } else {
    hx_backend_t *backend = NULL;
    const hx_status_t status = hx_backend_create(plugins, "fixture", &backend, report);
    snprintf(out, 32, "%s", status == HX_STATUS_OK ? "runs" : hx_code_info(hx_report_get(report, 0)->code)->word);
    if (status != HX_STATUS_OK) print_error("%s: %s\n", fixture, hx_report_get(report, 0)->text);
    hx_backend_release(backend);
  }
  hx_plugins_release(plugins);
  hx_report_release(report);
}

// One host with every plugin; how many end otherwise than the page says.
static int try_row(place_t *place, uint32_t minor) {
  char cells[COLUMNS][32];
  int differing = 0;
  read_row(minor, cells);
  for (size_t column = 0; column < COLUMNS; ++column) {
    char fixture[32], found[32];
    name_fixture(column, fixture);
    try_pair(place, minor, fixture, found);
    if (strcmp(found, cells[column]) == 0) continue;
    print_error("host %u.%u, %s: the page says '%s', found '%s'\n", HX_ABI_MAJOR, minor, fixture, cells[column], found);
    ++differing;
  }
  return differing;
}

// A process is one host: what it has mapped once keeps the host's table.
static void plugin_versions_end_as_the_page_says(void **state) {
  for (uint32_t minor = 0; minor <= HX_ABI_MINOR; ++minor) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(try_row(*state, minor) == 0 ? 0 : 1);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("a host of %u.%u: see above", HX_ABI_MAJOR, minor);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(plugin_versions_end_as_the_page_says, make_place, remove_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
