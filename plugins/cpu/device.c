// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heliox/support/error.h"
#include "heliox/support/host.h"
#include "kernels/variants.h"
#include "tables.h"

static uint32_t device_count(hx_error *error) {
  (void)error;
  return 1;
}

// The processor's model as the system names it, cut to what fits; "cpu" where the system does not say.
static void model_name(char *out, size_t room) {
  char line[256];
  snprintf(out, room, "cpu");
  FILE *file = fopen("/proc/cpuinfo", "re");
  if (file == NULL) {
    return;
  }
  while (fgets(line, sizeof line, file) != NULL) {
    char *colon = strchr(line, ':');
    if (colon != NULL && strncmp(line, "model name", 10) == 0) {
      colon += 1 + strspn(colon + 1, " \t");
      colon[strcspn(colon, "\n")] = 0;
      if (colon[0] != 0) {
        snprintf(out, room, "%s", colon);
      }
      break;
    }
  }
  fclose(file);
}

static int32_t check_index(uint32_t index, hx_error *error) {
  return index == 0 ? HX_OK : hxs_fail(error, HX_INVALID, "device %u does not exist; cpu has one device, 0", index);
}

static int32_t device_info(uint32_t index, hx_device_info *out, hx_error *error) {
  HXS_TRY(check_index(index, error));
  if (out == NULL || out->struct_size < HX_END_OF(hx_device_info, name)) {
    return hxs_fail(error, HX_ARGS_SIZE, "hx_device_info has %u bytes, at least %u are needed",
                    out == NULL ? 0 : out->struct_size, HX_END_OF(hx_device_info, name));
  }
  hx_device_info info;
  memset(&info, 0, sizeof info);
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE), units = sysconf(_SC_NPROCESSORS_ONLN);
  info.int64_ok = 1;
  info.compute_units = units > 0 ? (uint32_t)units : 1;
  info.memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
  info.alignment = HX_CPU_ALIGNMENT;
  model_name(info.name, sizeof info.name);
#ifdef _OPENMP
  snprintf(info.driver, sizeof info.driver, "OpenMP %d", _OPENMP);
#else
  snprintf(info.driver, sizeof info.driver, "one thread");
#endif
  info.struct_size = out->struct_size < HX_END_OF(hx_device_info, peers_linked)
                         ? out->struct_size
                         : HX_END_OF(hx_device_info, peers_linked);
  memcpy(out, &info, info.struct_size);
  return HX_OK;
}

static int32_t device_open(uint32_t index, hx_device **out, hx_error *error) {
  HXS_TRY(check_index(index, error));
  const char *mask = hxs_host_option("cpu-mask");
  if (mask != NULL && strlen(mask) >= HX_CPU_MASK_MAX) {
    return hxs_fail(error, HX_INVALID, "option cpu-mask has %zu bytes, at most %u are read", strlen(mask),
                    HX_CPU_MASK_MAX - 1);
  }
  HXS_TRY(hx_cpu_mask_check(mask != NULL ? mask : "", error));
  hx_device *device = calloc(1, sizeof *device);
  if (device == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a device");
  }
  snprintf(device->mask, sizeof device->mask, "%s", mask != NULL ? mask : "");
  *out = device;
  return HX_OK;
}

static void device_close(hx_device *device) { free(device); }

const hx_device_ops hx_cpu_device_ops = {.struct_size = HX_END_OF(hx_device_ops, tables_destroy),
                                         .count = device_count,
                                         .info = device_info,
                                         .open = device_open,
                                         .close = device_close,
                                         .tables_create = hx_cpu_tables_create,
                                         .tables_destroy = hx_cpu_tables_destroy};
