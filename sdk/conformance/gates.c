// SPDX-License-Identifier: Apache-2.0
// The gates, as `plugins check` evaluates them, and the loading.
#include <stdio.h>
#include <string.h>

#include "sdk/conformance/suite.h"

static bool check_gates(suite_t *suite) {
  hx_plugin_check_t *check = NULL;
  const hx_status_t status = hx_plugin_check(suite->manifest, &check, suite->report);
  if (status != HX_STATUS_OK) {
    const hx_fault_t *fault = hx_report_get(suite->report, 0);
    case_begin(suite, "gates", "discover");
    case_fail(suite, "%s", fault == NULL ? hx_status_name(status) : fault->text);
    case_end(suite);
    return false;
  }
  const hx_gate_result_t *gates = NULL;
  const size_t count = hx_plugin_check_results(check, &gates);
  bool passed = true;
  for (size_t i = 0; i < count; ++i) {
    case_begin(suite, "gates", "%s", hx_gate_name(gates[i].gate));
    passed &=
        case_expect(suite, gates[i].code == HX_CODE_NONE, "%s: %s; expected %s, found %s; %s",
                    hx_code_info(gates[i].code)->word, gates[i].text, gates[i].expected, gates[i].found, gates[i].hint);
    case_end(suite);
  }
  hx_plugin_check_release(check);
  return passed;
}

static bool discover(suite_t *suite) {
  const hx_plugins_options_t options = {.path = suite->manifest, .only_path = true, .ignore_environment = true};
  if (hx_plugins_discover(&options, &suite->plugins, suite->report) != HX_STATUS_OK ||
      hx_plugins_count(suite->plugins) == 0)
    return case_fail(suite, "the manifest is not found: %s", suite->manifest);
  suite->index = 0;
  const hx_plugin_record_t *record = hx_plugins_get(suite->plugins, 0);
  results_t *results = suite->results;
  snprintf(results->id, sizeof results->id, "%s", record->id);
  snprintf(results->name, sizeof results->name, "%s", record->name);
  snprintf(results->version, sizeof results->version, "%s", record->version);
  return true;
}

bool run_gates(suite_t *suite) {
  if (!check_gates(suite)) return false;
  case_begin(suite, "load", "open, negotiate, table check, probe");
  const bool opened = discover(suite) && suite_open(suite);
  if (suite->loaded != NULL) {
    suite->query = hx_loaded_plugin_query(suite->loaded);
    snprintf(suite->results->digest, sizeof suite->results->digest, "%s", suite->loaded->digest);
  }
  suite->record->checks += opened ? 1 : 0;
  case_end(suite);
  return opened;
}
