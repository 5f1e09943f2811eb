// SPDX-License-Identifier: Apache-2.0
// Encrypts nothing: says which library it found and whether that library finds the cpu plugin beside itself.
#include <heliox/heliox.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  hx_report_t *report = hx_report_create();
  hx_plugins_t *plugins = NULL;
  const hx_plugins_options_t options = {0};
  if (report == NULL || hx_plugins_discover(&options, &plugins, report) != HX_STATUS_OK) return 1;
  int usable = 0;
  for (size_t i = 0; i < hx_plugins_count(plugins); ++i) {
    const hx_plugin_record_t *record = hx_plugins_get(plugins, i);
    if (record->state == HX_PLUGIN_USABLE && strcmp(record->name, "cpu") == 0) {
      printf("heliox %s, cpu at %s\n", hx_version(), record->manifest);
      usable = 1;
    }
  }
  hx_plugins_release(plugins);
  hx_report_release(report);
  return usable ? 0 : 1;
}
