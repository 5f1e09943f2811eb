// SPDX-License-Identifier: Apache-2.0
// The manifest of an executable: what was resolved, from which plugins, with which materials and memory. It holds no
// address, time or run-time id, so two links of one program give equal texts.
#include <jansson.h>
#include <string.h>

#include "core/link/executable.h"

static json_t *text_of(const char *text) { return json_string(text == NULL ? "" : text); }

static json_t *number_of(uint64_t number) { return json_integer((json_int_t)number); }

static json_t *type_text(const hx_type_t *type) {
  hx_text_t text;
  hx_text_init(&text);
  json_t *json = hx_type_print(type, &text) == HX_STATUS_OK && !text.failed ? text_of(text.data) : NULL;
  hx_text_deinit(&text);
  return json;
}

static json_t *describe_ports(const hx_port_t *ports, const hx_type_t *const *types, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; ++i) {
    json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name", text_of(ports[i].name), "role",
                                          text_of(ports[i].role), "type", type_text(types[i])));
  }
  return list;
}

static json_t *describe_plugins(const hx_executable_t *exe) {
  json_t *list = json_array();
  for (size_t i = 0; i < exe->backend->plugin_count; ++i) {
    const hx_loaded_plugin_t *plugin = exe->backend->plugins[i];
    json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", "id", text_of(plugin->record->id), "name",
                                          text_of(plugin->record->name), "version", text_of(plugin->record->version),
                                          "sha256", text_of(plugin->digest)));
  }
  return list;
}

static json_t *describe_slots(const hx_executable_t *exe, const uint32_t *slots, uint32_t count) {
  static const char *const kinds[] = {"input", "output", "material", "slab"};
  json_t *list = json_array();
  for (uint32_t i = 0; i < count; ++i) {
    const hx_slot_t *slot = &exe->slots[slots[i]];
    const hx_root_t *root = &exe->roots[hx_root_of(exe, slot->root)];
    json_t *place = json_pack("{s:o, s:o, s:o}", "value", text_of(slot->name), "memory", text_of(kinds[root->kind]),
                              "offset", number_of(slot->offset + (root->kind == HX_ROOT_SLAB ? root->offset : 0)));
    if (exe->is_spread) json_object_set_new(place, "device", text_of(exe->sites[root->site].device->name));
    if (root->kind != HX_ROOT_SLAB) json_object_set_new(place, "index", number_of(root->index));
    if (slot->secret) json_object_set_new(place, "secret", json_true());
    json_array_append_new(list, place);
  }
  return list;
}

static json_t *describe_resources(const hx_executable_t *exe, const hx_step_t *step) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < step->resource_count; ++i) {
    const hx_step_resource_t *resource = &step->resources[i];
    const char *source =
        resource->operand == HX_NONE ? resource->name : exe->slots[step->operands[resource->operand]].name;
    json_array_append_new(list, json_pack("{s:o, s:o}", "kind", text_of(resource->kind),
                                          resource->operand == HX_NONE ? "handle" : "packed_from", text_of(source)));
  }
  return list;
}

// Numbers by register; regions by the steps that they hold.
static json_t *describe_control(const hx_step_t *step, size_t index) {
  json_t *json = json_pack("{s:o, s:o, s:o}", "index", number_of(index), "operation", text_of(step->op->info->name),
                           "line", number_of(step->op->line));
  if (step->number != NULL) {
    json_object_set_new(json, "result_number", number_of(step->number->to));
    json_object_set_new(json, "operand_numbers",
                        json_pack("[o, o]", number_of(step->number->a), number_of(step->number->b)));
  }
  if (step->control == NULL) return json;
  const hx_control_code_t *code = step->control;
  json_t *regions = json_pack("[[o, o]]", number_of(index + 1), number_of(code->middle));
  if (step->kind != HX_STEP_FOR)
    json_array_append_new(regions, json_pack("[o, o]", number_of(code->middle), number_of(code->end)));
  json_object_set_new(json, "regions", regions);
  if (step->kind == HX_STEP_FOR) {
    json_object_set_new(json, "counter_number", number_of(code->counter));
    json_object_set_new(json, "bound_numbers",
                        json_pack("[o, o, o]", number_of(code->lower), number_of(code->upper), number_of(code->step)));
  } else {
    json_object_set_new(json, "condition_number", number_of(code->condition));
  }
  return json;
}

static json_t *describe_step(const hx_executable_t *exe, size_t index) {
  const hx_step_t *step = &exe->steps.items[index];
  if (step->kind == HX_STEP_FUSED)
    return json_pack("{s:o, s:o, s:o}", "index", number_of(index), "operation", text_of("fused"), "for",
                     text_of(step->op->info->name));
  const bool is_collective = step->kind == HX_STEP_COLLECTIVE;
  if (step->kind != HX_STEP_CALL && step->kind != HX_STEP_COPY && step->kind != HX_STEP_TRANSFER && !is_collective)
    return describe_control(step, index);
  const bool is_call = step->kind == HX_STEP_CALL;
  const char *name = is_call || is_collective ? hx_step_name(step) : step->kind == HX_STEP_COPY ? "copy" : "transfer";
  json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "index", number_of(index), "operation", text_of(name), "operands",
                           describe_slots(exe, step->operands, step->operand_count), "results",
                           describe_slots(exe, step->results, step->result_count));
  json_object_set_new(json, "line", number_of(step->op->line));
  if (is_collective) {
    json_object_set_new(json, "plugin", text_of(hx_exchange_plugin(step->exchange)));
    return json;
  }
  if (!is_call) {
    json_object_set_new(json, "for", text_of(step->op->info->name));
    if (step->is_elided) json_object_set_new(json, "elided", json_true());
    return json;
  }
  json_object_set_new(json, "implementation", text_of(step->resolution.implementation->qualified));
  json_object_set_new(
      json, "signature",
      number_of(step->fused != NULL ? step->resolution.implementation->record->signature : step->op->info->signature));
  if (step->resolution.variant[0] != '\0') json_object_set_new(json, "variant", text_of(step->resolution.variant));
  if (step->resource_count > 0) json_object_set_new(json, "resources", describe_resources(exe, step));
  for (uint32_t i = 0; i < step->result_count; ++i) {
    if (step->in_place[i] < 0) continue;
    json_t *pair = json_pack("{s:o, s:o}", "result", number_of(i), "operand", number_of((uint64_t)step->in_place[i]));
    if (json_object_get(json, "in_place") == NULL) json_object_set_new(json, "in_place", json_array());
    json_array_append_new(json_object_get(json, "in_place"), pair);
  }
  return json;
}

static json_t *describe_materials(const hx_executable_t *exe) {
  json_t *list = json_array();
  for (size_t i = 0; i < exe->material_count; ++i) {
    const hx_bound_material_t *material = &exe->materials[i];
    const char *place = material->placed != NULL ? "copied to the device" : "in place";
    json_array_append_new(
        list, json_pack("{s:o, s:o, s:b, s:o, s:o, s:o}", "index", number_of(i), "symbol", text_of(material->symbol),
                        "prepared", material->source != NULL, "type", type_text(material->type), "bytes",
                        number_of(hx_layout_extent(&material->tensor->layout) *
                                  hx_dtype_bytes(material->tensor->layout.dtype)),
                        "memory", text_of(place)));
  }
  return list;
}

static json_t *describe_memory(const hx_executable_t *exe) {
  json_t *roots = json_array();
  for (size_t r = 0; r < exe->root_count; ++r) {
    const hx_root_t *root = &exe->roots[r];
    if (root->kind != HX_ROOT_SLAB || root->is_merged || !root->is_used) continue;
    json_array_append_new(
        roots, json_pack("{s:o, s:o, s:o, s:o}", "offset", number_of(root->offset), "bytes", number_of(root->bytes),
                         "first", number_of(root->first), "last", number_of(root->last)));
  }
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "slab_bytes", number_of(exe->slab_bytes), "bytes_without_reuse",
                   number_of(exe->unshared_bytes), "scratch_device_bytes", number_of(exe->scratch_device),
                   "scratch_host_bytes", number_of(exe->scratch_host), "slab", roots);
}

// Where several devices work: what each needs.
static json_t *describe_sites(const hx_executable_t *exe) {
  json_t *list = json_array();
  for (uint32_t i = 0; i < exe->site_count; ++i) {
    const hx_site_t *site = &exe->sites[i];
    if (!site->is_used) continue;
    json_array_append_new(
        list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", text_of(site->device->name), "description",
                        text_of(site->device->info.name), "slab_bytes", number_of(site->slab_bytes),
                        "scratch_device_bytes", number_of(site->scratch_device), "scratch_host_bytes",
                        number_of(site->scratch_host), "staging_bytes", number_of(site->staging_bytes)));
  }
  return list;
}

// Regions in program order: their operations, and who prepared them or why nobody did.
static json_t *describe_regions(const hx_executable_t *exe) {
  json_t *list = json_array();
  for (const hx_fused_t *region = exe->regions; region != NULL; region = region->next) {
    json_t *ops = json_array(), *json = json_object();
    for (uint32_t i = 0; i < region->count; ++i) json_array_append_new(ops, text_of(region->ops[i]->info->name));
    json_object_set_new(json, "operations", ops);
    json_object_set_new(json, "line", number_of(region->ops[0]->line));
    if (region->reason == NULL) {
      json_object_set_new(json, "implementation", text_of(region->implementation));
    } else {
      json_object_set_new(json, "not_fused", text_of(region->reason));
    }
    json_array_insert_new(list, 0, json);
  }
  return list;
}

static json_t *describe(const hx_executable_t *exe) {
  json_t *steps = json_array();
  for (size_t s = 0; s < exe->steps.count; ++s) json_array_append_new(steps, describe_step(exe, s));
  json_t *device =
      json_pack("{s:o, s:o}", "name", text_of(exe->device->name), "description", text_of(exe->device->info.name));
  json_t *json = json_object();
  json_object_set_new(json, "heliox", text_of(hx_version()));
  json_object_set_new(json, "params", text_of(hx_params_digest_hex(exe->params)));
  json_object_set_new(json, "pipeline", text_of(exe->pipeline));
  json_object_set_new(json, "plugins", describe_plugins(exe));
  json_object_set_new(json, "device", device);
  if (exe->is_spread) json_object_set_new(json, "devices", describe_sites(exe));
  json_object_set_new(json, "inputs", describe_ports(exe->inputs, exe->input_types, exe->input_count));
  json_object_set_new(json, "outputs", describe_ports(exe->outputs, exe->output_types, exe->output_count));
  json_object_set_new(json, "steps", steps);
  const char *obstacle = hx_graph_obstacle(exe);
  json_object_set_new(json, "recorded", json_boolean(obstacle == NULL));
  if (obstacle != NULL) json_object_set_new(json, "not_recorded", text_of(obstacle));
  if (exe->regions != NULL) json_object_set_new(json, "regions", describe_regions(exe));
  json_object_set_new(json, "materials", describe_materials(exe));
  json_object_set_new(json, "memory", describe_memory(exe));
  return json;
}

char *hx_executable_describe(const hx_executable_t *exe) {
  json_t *json = describe(exe);
  char *text = json == NULL ? NULL : json_dumps(json, JSON_SORT_KEYS | JSON_INDENT(2));
  json_decref(json);
  char *kept = text == NULL ? NULL : hx_strdup(text);
  free(text);  // jansson's own allocation
  return kept;
}
