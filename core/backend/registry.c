// SPDX-License-Identifier: Apache-2.0
// The registry of a backend: rows from its plugins and its application, and the workspace of named handles.
#include <stdio.h>
#include <string.h>

#include "core/backend/backend.h"
#include "core/base/log.h"

static const char *keep(hx_backend_t *backend, const char *text) {
  return hx_arena_str(&backend->arena, hx_str(text)).data;
}

static hx_backend_t *create_empty(void) {
  hx_backend_t *backend = hx_zalloc(1, sizeof *backend);
  if (backend == NULL) return NULL;
  atomic_init(&backend->refs, 1);
  hx_arena_init(&backend->arena);
  return backend;
}

static void free_backend(hx_backend_t *backend) {
  for (size_t i = 0; i < backend->device_count; ++i) hx_device_release(backend->devices[i]);
  for (size_t i = 0; i < backend->plugin_count; ++i) hx_loaded_plugin_release(backend->plugins[i]);
  hx_free(backend->rows);
  hx_arena_deinit(&backend->arena);
  hx_free(backend);
}

hx_backend_t *hx_backend_retain(const hx_backend_t *backend) {
  hx_backend_t *owner = (hx_backend_t *)(uintptr_t)backend;  // the count alone changes
  atomic_fetch_add_explicit(&owner->refs, 1, memory_order_relaxed);
  return owner;
}

void hx_backend_release(hx_backend_t *backend) {
  if (backend == NULL || atomic_fetch_sub_explicit(&backend->refs, 1, memory_order_acq_rel) != 1) return;
  free_backend(backend);
}

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a backend");
}

// Adds a row; qualified is made from plugin and name.
static hx_status_t add_row(hx_backend_t *backend, hx_implementation_t row, hx_report_t *report) {
  hx_text_t qualified;
  hx_text_init(&qualified);
  hx_text_printf(&qualified, "%s/%s", row.plugin, row.name);
  row.qualified = qualified.failed ? NULL : keep(backend, qualified.data);
  hx_text_deinit(&qualified);
  if (row.qualified == NULL ||
      hx_grow(&backend->rows, &backend->row_capacity, backend->row_count + 1, sizeof *backend->rows) != HX_STATUS_OK) {
    return no_memory(report);
  }
  backend->rows[backend->row_count++] = row;
  return HX_STATUS_OK;
}

// The catalogue's id of a record, or HX_OP_UNKNOWN with a warning: other catalogues have other operations.
static hx_op_id_t known_operation(const hx_impl *record, const char *plugin) {
  const hx_op_id_t id = hx_op_find(hx_str(record->op));
  if (id == HX_OP_UNKNOWN) {
    if (strcmp(record->op, "fusion.region") != 0) {
      hx_log(HX_LOG_WARNING, "backend", "%s/%s implements %s, which is not in the catalogue: left out", plugin,
             record->name, record->op);
    }
  } else if (hx_op_info(id)->signature != record->signature) {
    hx_log(HX_LOG_WARNING, "backend", "%s/%s implements %s with signature %u, the catalogue has %u: left out", plugin,
           record->name, record->op, record->signature, hx_op_info(id)->signature);
    return HX_OP_UNKNOWN;
  }
  return id;
}

static hx_status_t add_plugin_rows(hx_backend_t *backend, const hx_loaded_plugin_t *plugin, hx_opened_device_t *device,
                                   hx_report_t *report) {
  for (uint32_t i = 0; i < plugin->table.impl_count; ++i) {
    const hx_impl *record = plugin->table.impls[i];
    const hx_op_id_t id = known_operation(record, plugin->record->name);
    const bool is_fusion = strcmp(record->op, "fusion.region") == 0;
    if (id == HX_OP_UNKNOWN && !is_fusion) continue;
    HX_TRY(add_row(backend,
                   (hx_implementation_t){.record = record,
                                         .op = id,
                                         .plugin = plugin->record->name,
                                         .name = record->name,
                                         .limits = hx_loaded_plugin_operation(plugin, record->op, record->name),
                                         .device = device,
                                         .handles_secrets = plugin->handles_secrets,
                                         .regions = is_fusion ? plugin->regions : NULL,
                                         .region_count = is_fusion ? plugin->region_count : 0},
                   report));
  }
  return HX_STATUS_OK;
}

static hx_status_t add_plugin(hx_backend_t *backend, hx_loaded_plugin_t *plugin, uint32_t index, hx_report_t *report) {
  backend->plugins[backend->plugin_count++] = hx_loaded_plugin_retain(plugin);
  hx_opened_device_t *device = NULL;
  if (plugin->table.device != NULL) {
    HX_TRY(hx_device_open(plugin, index, &device, report));
    backend->devices[backend->device_count++] = device;
  }
  return add_plugin_rows(backend, plugin, device, report);
}

hx_status_t hx_backend_assemble(hx_loaded_plugin_t *const *plugins, const uint32_t *device_indexes, size_t count,
                                hx_backend_t **out, hx_report_t *report) {
  hx_backend_t *backend = create_empty();
  if (backend == NULL) return no_memory(report);
  hx_status_t status = HX_STATUS_OK;
  backend->plugins = hx_arena_alloc(&backend->arena, count * sizeof *backend->plugins);
  backend->devices = hx_arena_alloc(&backend->arena, count * sizeof *backend->devices);
  if (backend->plugins == NULL || backend->devices == NULL) status = no_memory(report);
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    status = add_plugin(backend, plugins[i], device_indexes[i], report);
  }
  if (status == HX_STATUS_OK && backend->device_count == 0) {
    status = hx_report_fail(report, HX_CODE_BACKEND, "none of the plugins named has a device to compute on");
  }
  if (status != HX_STATUS_OK) {
    free_backend(backend);
    return status;
  }
  *out = backend;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ extended copies

static hx_status_t copy_into(hx_backend_t *copy, const hx_backend_t *backend, size_t more_resources,
                             hx_report_t *report) {
  copy->plugins = hx_arena_alloc(&copy->arena, backend->plugin_count * sizeof *copy->plugins);
  copy->devices = hx_arena_alloc(&copy->arena, backend->device_count * sizeof *copy->devices);
  copy->resources = hx_arena_alloc(&copy->arena, (backend->resource_count + more_resources) * sizeof *copy->resources);
  if (copy->plugins == NULL || copy->devices == NULL || copy->resources == NULL) return no_memory(report);
  for (size_t i = 0; i < backend->plugin_count; ++i) {
    copy->plugins[copy->plugin_count++] = hx_loaded_plugin_retain(backend->plugins[i]);
  }
  for (size_t i = 0; i < backend->device_count; ++i) {
    copy->devices[copy->device_count++] = hx_device_retain(backend->devices[i]);
  }
  for (size_t i = 0; i < backend->resource_count; ++i) {
    const hx_named_resource_t *from = &backend->resources[i];
    hx_named_resource_t *to = &copy->resources[copy->resource_count++];
    *to = (hx_named_resource_t){.name = keep(copy, from->name), .kind = keep(copy, from->kind), .handle = from->handle};
    if (to->name == NULL || to->kind == NULL) return no_memory(report);
  }
  for (size_t i = 0; i < backend->row_count; ++i) {
    HX_TRY(add_row(copy, backend->rows[i], report));
  }
  return HX_STATUS_OK;
}

static hx_status_t check_record(const hx_backend_t *backend, const hx_impl *record, hx_op_id_t *out_id,
                                hx_report_t *report) {
  if (record->struct_size < HX_END_OF(hx_impl, destroy)) {
    return hx_report_fail(report, HX_CODE_ARGS_SIZE, "hx_impl has struct_size %u, at least %u is needed",
                          record->struct_size, HX_END_OF(hx_impl, destroy));
  }
  if (record->name == NULL || record->op == NULL || record->prepare == NULL || record->execute == NULL ||
      record->destroy == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "hx_impl needs name, op, prepare, execute and destroy; one of them is absent");
  }
  const hx_op_id_t id = hx_op_find(hx_str(record->op));
  if (id == HX_OP_UNKNOWN) {
    return hx_report_fail(report, HX_CODE_UNKNOWN_OPERATION,
                          "implementation %s is for %s, which is not in the catalogue", record->name, record->op);
  }
  if (hx_op_info(id)->signature != record->signature) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "implementation %s is for signature %u of %s, the catalogue has signature %u", record->name,
                          record->signature, record->op, hx_op_info(id)->signature);
  }
  for (size_t i = 0; i < backend->row_count; ++i) {
    if (backend->rows[i].op == id && strcmp(backend->rows[i].name, record->name) == 0) {
      return hx_report_fail(report, HX_CODE_IMPLEMENTATION_EXISTS, "%s already implements %s",
                            backend->rows[i].qualified, record->op);
    }
  }
  *out_id = id;
  return HX_STATUS_OK;
}

hx_status_t hx_backend_with_implementation(const hx_backend_t *backend, const void *hx_impl_record, hx_backend_t **out,
                                           hx_report_t *report) {
  const hx_impl *record = hx_impl_record;
  if (backend == NULL || record == NULL || out == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_backend_with_implementation: an argument is NULL");
  }
  hx_op_id_t id = HX_OP_UNKNOWN;
  HX_TRY(check_record(backend, record, &id, report));
  hx_backend_t *copy = create_empty();
  if (copy == NULL) return no_memory(report);
  hx_status_t status = copy_into(copy, backend, 0, report);
  if (status == HX_STATUS_OK) {
    status = add_row(
        copy,
        (hx_implementation_t){
            .record = record, .op = id, .plugin = "application", .name = record->name, .device = copy->devices[0]},
        report);
  }
  if (status != HX_STATUS_OK) {
    free_backend(copy);
    return status;
  }
  *out = copy;
  return HX_STATUS_OK;
}

static hx_named_resource_t *find_resource(const hx_backend_t *backend, hx_str_t name) {
  for (size_t i = 0; i < backend->resource_count; ++i) {
    if (hx_str_equal(hx_str(backend->resources[i].name), name)) return &backend->resources[i];
  }
  return NULL;
}

static hx_status_t add_resource(hx_backend_t *backend, const hx_named_resource_t *item, bool override,
                                hx_report_t *report) {
  if (item->name == NULL || item->kind == NULL || item->handle == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "a resource needs a name, a kind and a handle");
  }
  hx_named_resource_t *place = find_resource(backend, hx_str(item->name));
  if (place != NULL && !override) {
    return hx_report_fail(report, HX_CODE_IMPLEMENTATION_EXISTS,
                          "the backend has a resource named %s already (kind %s)", item->name, place->kind);
  }
  if (place == NULL) place = &backend->resources[backend->resource_count++];
  *place = (hx_named_resource_t){
      .name = keep(backend, item->name), .kind = keep(backend, item->kind), .handle = item->handle};
  return place->name == NULL || place->kind == NULL ? no_memory(report) : HX_STATUS_OK;
}

hx_status_t hx_backend_with_resources(const hx_backend_t *backend, const hx_named_resource_t *items, size_t count,
                                      bool override, hx_backend_t **out, hx_report_t *report) {
  hx_backend_t *copy = create_empty();
  if (copy == NULL) return no_memory(report);
  hx_status_t status = copy_into(copy, backend, count, report);
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) status = add_resource(copy, &items[i], override, report);
  if (status != HX_STATUS_OK) {
    free_backend(copy);
    return status;
  }
  *out = copy;
  return HX_STATUS_OK;
}

const hx_named_resource_t *hx_backend_resource(const hx_backend_t *backend, hx_str_t name) {
  return find_resource(backend, name);
}

const hx_named_resource_t *hx_backend_resource_of_kind(const hx_backend_t *backend, const char *kind) {
  const hx_named_resource_t *found = NULL;
  for (size_t i = 0; i < backend->resource_count; ++i) {
    if (strcmp(backend->resources[i].kind, kind) != 0) continue;
    if (found != NULL) return NULL;
    found = &backend->resources[i];
  }
  return found;
}

size_t hx_backend_available(const hx_backend_t *backend, const char *operation, const char **out_names, size_t room) {
  const hx_op_id_t id = hx_op_find(hx_str(operation));
  size_t count = 0;
  for (size_t i = 0; i < backend->row_count && id != HX_OP_UNKNOWN; ++i) {
    if (backend->rows[i].op != id) continue;
    if (count < room) out_names[count] = backend->rows[i].qualified;
    count += 1;
  }
  return count;
}
