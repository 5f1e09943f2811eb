// SPDX-License-Identifier: Apache-2.0
// Devices by name.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/backend/backend.h"
#include "core/backend/device.h"

static bool has_part(const hx_device_info *info, const char *part) {
  const size_t length = strlen(part);
  if (info->uuid[0] != '\0' && strcasecmp(info->uuid, part) == 0) return true;
  for (const char *at = info->name; strlen(at) >= length; ++at) {
    if (strncasecmp(at, part, length) == 0) return true;
  }
  return false;
}

static bool read_info(const hx_loaded_plugin_t *plugin, uint32_t index, hx_device_info *out) {
  hx_error error = hx_error_make();
  memset(out, 0, sizeof *out);
  out->struct_size = HX_END_OF(hx_device_info, driver);
  if (plugin->table.device->info(index, out, &error) != HX_OK) return false;
  out->name[sizeof out->name - 1] = out->uuid[sizeof out->uuid - 1] = '\0';  // a plugin may have forgotten it
  return true;
}

hx_status_t hx_backend_device_named(const hx_loaded_plugin_t *plugin, const char *part, uint32_t *out_index,
                                    hx_report_t *report) {
  const char *name = plugin->record->name;
  const hx_device_ops *device = plugin->table.device;
  if (device == NULL || device->struct_size < HX_END_OF(hx_device_ops, info) || device->count == NULL ||
      device->info == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "plugin %s does not name its devices: give an index", name);
  }
  hx_error error = hx_error_make();
  hx_device_info info;
  hx_text_t known;
  uint32_t found = 0;
  const uint32_t count = device->count(&error);
  hx_text_init(&known);
  for (uint32_t i = 0; i < count; ++i) {
    if (!read_info(plugin, i, &info)) continue;
    hx_text_printf(&known, "%s%s:%u %s", known.size == 0 ? "" : ", ", name, i, info.name);
    if (!has_part(&info, part)) continue;
    if (found++ == 0) *out_index = i;
  }
  const hx_status_t status =
      found == 1 ? HX_STATUS_OK
                 : hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s of %s has \"%s\" in its name; there are: %s",
                                  found == 0 ? "no device" : "more than one device", name, part,
                                  known.failed || known.size == 0 ? "none" : known.data);
  hx_text_deinit(&known);
  return status;
}
