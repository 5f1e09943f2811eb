// SPDX-License-Identifier: Apache-2.0
// Results of calls into plugins.
#include <string.h>

#include "core/plugin/gates.h"
#include "core/plugin/plugin.h"

static hx_code_t code_of(int32_t result) {
  switch (result) {
    case HX_UNSUPPORTED:
      return HX_CODE_UNSUPPORTED;
    case HX_OUT_OF_MEMORY:
      return HX_CODE_OUT_OF_MEMORY;
    case HX_UNAVAILABLE:
      return HX_CODE_DEVICE;
    case HX_BUSY:
      return HX_CODE_BUSY;
    case HX_CANCELLED:
      return HX_CODE_CANCELLED;
    case HX_DEVICE_LOST:
      return HX_CODE_DEVICE_LOST;
    case HX_ARGS_SIZE:
      return HX_CODE_ARGS_SIZE;
    default:
      return HX_CODE_PLUGIN_CALL;
  }
}

hx_status_t hx_plugin_status(const hx_loaded_plugin_t *plugin, int32_t result, const hx_error *error, const char *what,
                             hx_report_t *report) {
  if (result == HX_OK) return HX_STATUS_OK;
  const hx_code_t code = code_of(result);
  if (report == NULL) return hx_code_info(code)->status;
  hx_text_t text;
  hx_text_init(&text);
  hx_text_printf(&text, "%s: %s: ", plugin == NULL ? "plugin" : plugin->record->id, what);
  // The message is the plugin's: it may lack its end and hold anything.
  const size_t size = error == NULL ? 0 : strnlen(error->message, sizeof error->message);
  if (size > 0) {
    hx_text_clean(&text, (hx_str_t){error->message, size}, 1024);
  } else {
    hx_text_puts(&text, "no reason given");
  }
  if (error != NULL && error->op != HX_NONE && result != HX_OK) hx_text_printf(&text, " (operation %u)", error->op);
  if (result < 0 || result > HX_INTERNAL) {
    hx_text_printf(&text, " (unknown result %d)", result);
  } else if (result == HX_INVALID) {
    hx_text_puts(&text, " (the call breaks the contract)");
  }
  const hx_status_t status = text.failed ? HX_STATUS_OUT_OF_MEMORY : hx_report_fail(report, code, "%s", text.data);
  hx_text_deinit(&text);
  return status;
}
