// SPDX-License-Identifier: Apache-2.0
// Instances: memory and queue of one run at a time, kept in a pool so that repeated runs allocate nothing.
#include <string.h>

#include "core/link/executable.h"

hx_span hx_instance_span(const hx_executable_t *exe, const hx_instance_t *instance, uint32_t slot) {
  const hx_slot_t *place = &exe->slots[slot];
  hx_span span = instance->roots[place->root];
  span.offset += place->offset;
  return span;
}

// Arrays of an instance, one block each.
static hx_status_t alloc_arrays(const hx_executable_t *exe, hx_instance_t *instance) {
  instance->sites = hx_zalloc(exe->site_count, sizeof *instance->sites);
  instance->roots = hx_zalloc(exe->root_count, sizeof *instance->roots);
  instance->calls = hx_zalloc(exe->steps.count, sizeof *instance->calls);
  instance->spans = hx_zalloc(exe->span_count, sizeof *instance->spans);
  instance->resources = hx_zalloc(exe->resource_count, sizeof *instance->resources);
  instance->forms = hx_zalloc(exe->resource_count, sizeof *instance->forms);
  instance->staging = hx_zalloc(exe->input_count, sizeof *instance->staging);
  instance->results = hx_zalloc(exe->output_count, sizeof *instance->results);
  instance->open = hx_zalloc(exe->span_count, sizeof *instance->open);
  instance->numbers = hx_zalloc(exe->number_count, sizeof *instance->numbers);
  const bool complete = instance->sites != NULL && instance->roots != NULL && instance->calls != NULL &&
                        instance->spans != NULL && instance->resources != NULL && instance->forms != NULL &&
                        instance->staging != NULL && instance->results != NULL && instance->open != NULL &&
                        instance->numbers != NULL;
  return complete ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
}

static hx_status_t alloc_site(const hx_executable_t *exe, const hx_site_t *site, hx_instance_site_t *out,
                              hx_report_t *report) {
  HX_TRY(hx_device_queue(site->device, &out->queue, report));
  const uint64_t bytes = site->slab_bytes + site->scratch_device;
  if (bytes > 0) HX_TRY(hx_device_alloc(site->device, HX_SPACE_DEVICE, bytes, exe->has_secrets, &out->slab, report));
  if (site->scratch_host > 0)
    HX_TRY(hx_device_alloc(site->device, HX_SPACE_HOST, site->scratch_host, exe->has_secrets, &out->scratch, report));
  if (site->staging_bytes == 0) return HX_STATUS_OK;
  return hx_device_alloc(site->device, HX_SPACE_PINNED, site->staging_bytes, exe->has_secrets, &out->staging, report);
}

static hx_status_t alloc_memory(hx_executable_t *exe, hx_instance_t *instance, hx_report_t *report) {
  for (uint32_t i = 0; i < exe->site_count; ++i) {
    if (exe->sites[i].is_used) HX_TRY(alloc_site(exe, &exe->sites[i], &instance->sites[i], report));
  }
  return HX_STATUS_OK;
}

static void bind_fixed_roots(const hx_executable_t *exe, hx_instance_t *instance) {
  for (uint32_t r = 0; r < exe->root_count; ++r) {
    const hx_root_t *root = &exe->roots[hx_root_of(exe, r)];
    if (root->kind == HX_ROOT_SLAB) {
      instance->roots[r] = (hx_span){.buffer = instance->sites[root->site].slab->buffer, .offset = root->offset};
    } else if (root->kind == HX_ROOT_MATERIAL) {
      instance->roots[r] = (hx_span){.buffer = exe->materials[root->index].buffer};
    }
  }
}

// Spans of intermediates and materials stay; those of inputs and outputs are set by each run.
static void prepare_span(const hx_executable_t *exe, hx_instance_t *instance, uint32_t slot, hx_span *span) {
  const hx_root_kind_t kind = exe->roots[exe->slots[slot].root].kind;
  if (kind == HX_ROOT_INPUT || kind == HX_ROOT_OUTPUT) {
    instance->open[instance->open_count++] = (hx_open_span_t){.slot = slot, .span = span};
  } else {
    *span = hx_instance_span(exe, instance, slot);
  }
}

static void prepare_calls(const hx_executable_t *exe, hx_instance_t *instance) {
  hx_span *spans = instance->spans;
  void **resources = instance->resources;
  for (size_t s = 0; s < exe->steps.count; ++s) {
    const hx_step_t *step = &exe->steps.items[s];
    hx_call *call = &instance->calls[s];
    const hx_instance_site_t *site = &instance->sites[step->site];
    *call = (hx_call){.struct_size = HX_END_OF(hx_call, outputs),
                      .queue = site->queue,
                      .resources = resources,
                      .inputs = spans,
                      .outputs = spans + step->operand_count};
    if (site->scratch != NULL) call->scratch_host.buffer = site->scratch->buffer;
    if (exe->sites[step->site].scratch_device > 0)
      call->scratch_device = (hx_span){.buffer = site->slab->buffer, .offset = exe->sites[step->site].slab_bytes};
    for (uint32_t i = 0; i < step->resource_count; ++i) {
      if (step->resources[i].operand == HX_NONE) resources[i] = step->resources[i].handle;
    }
    resources += step->resource_count;
    for (uint32_t i = 0; i < step->operand_count; ++i) prepare_span(exe, instance, step->operands[i], spans++);
    for (uint32_t i = 0; i < step->result_count; ++i) prepare_span(exe, instance, step->results[i], spans++);
  }
}

void hx_instance_destroy(hx_executable_t *exe, hx_instance_t *instance) {
  hx_graph_drop(exe, instance);
  for (uint32_t i = 0; instance->sites != NULL && i < exe->site_count; ++i) {
    if (instance->sites[i].queue != NULL) exe->sites[i].device->queue.destroy(instance->sites[i].queue);
  }
  for (size_t i = 0; instance->staging != NULL && i < exe->input_count; ++i) hx_storage_release(instance->staging[i]);
  for (size_t i = 0; instance->forms != NULL && i < exe->resource_count; ++i)
    hx_packed_form_release(instance->forms[i]);
  for (uint32_t i = 0; instance->sites != NULL && i < exe->site_count; ++i) {
    hx_storage_release(instance->sites[i].slab);
    hx_storage_release(instance->sites[i].scratch);
    hx_storage_release(instance->sites[i].staging);
  }
  hx_free(instance->sites);
  hx_free(instance->roots);
  hx_free(instance->calls);
  hx_free(instance->spans);
  hx_free(instance->open);
  hx_free(instance->numbers);
  hx_free(instance->resources);
  hx_free(instance->forms);
  hx_free(instance->staging);
  hx_free(instance->results);
  hx_free(instance);
}

static hx_status_t create_instance(hx_executable_t *exe, hx_instance_t **out, hx_report_t *report) {
  hx_instance_t *instance = hx_zalloc(1, sizeof *instance);
  if (instance == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a run");
  hx_status_t status = alloc_arrays(exe, instance);
  if (status != HX_STATUS_OK) hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a run");
  if (status == HX_STATUS_OK) status = alloc_memory(exe, instance, report);
  if (status != HX_STATUS_OK) {
    hx_instance_destroy(exe, instance);
    return status;
  }
  bind_fixed_roots(exe, instance);
  prepare_calls(exe, instance);
  *out = instance;
  return HX_STATUS_OK;
}

hx_status_t hx_instance_take(hx_executable_t *exe, hx_instance_t **out, hx_report_t *report) {
  pthread_mutex_lock(&exe->lock);
  hx_instance_t *instance = exe->pool;
  if (instance != NULL) exe->pool = instance->next;
  pthread_mutex_unlock(&exe->lock);
  if (instance == NULL) return create_instance(exe, out, report);
  *out = instance;
  return HX_STATUS_OK;
}

void hx_instance_give(hx_executable_t *exe, hx_instance_t *instance) {
  pthread_mutex_lock(&exe->lock);
  instance->next = exe->pool;
  exe->pool = instance;
  pthread_mutex_unlock(&exe->lock);
}

// Under the lock: the material's packed form of today, for the step and for this instance.
static hx_status_t refresh_form(hx_executable_t *exe, hx_instance_t *instance, const hx_step_t *step,
                                hx_step_resource_t *resource, hx_packed_form_t **form, hx_report_t *report) {
  const hx_root_t *root = &exe->roots[exe->slots[step->operands[resource->operand]].root];
  const hx_bound_material_t *material = &exe->materials[root->index];
  if (!material->is_key && hx_tensor_generation(material->tensor) != resource->generation) {
    hx_step_resource_t fresh = *resource;
    HX_TRY(hx_step_pack(exe, step, &fresh, report));
    hx_packed_form_release(resource->form);
    *resource = fresh;
  }
  if (*form != resource->form) {
    hx_graph_drop(exe, instance);  // what it recorded refers to the old form
    hx_packed_form_release(*form);
    *form = hx_packed_form_retain(resource->form);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_instance_refresh(hx_executable_t *exe, hx_instance_t *instance, hx_report_t *report) {
  HX_TRY(hx_prepared_refresh(exe, report));
  if (exe->resource_count == 0) return HX_STATUS_OK;
  hx_status_t status = HX_STATUS_OK;
  size_t next = 0;
  pthread_mutex_lock(&exe->lock);
  for (size_t s = 0; s < exe->steps.count && status == HX_STATUS_OK; ++s) {
    hx_step_t *step = &exe->steps.items[s];
    for (uint32_t i = 0; i < step->resource_count && status == HX_STATUS_OK; ++i) {
      hx_step_resource_t *resource = &step->resources[i];
      const size_t place = next + i;
      if (resource->operand == HX_NONE) continue;
      status = refresh_form(exe, instance, step, resource, &instance->forms[place], report);
      if (status == HX_STATUS_OK) instance->resources[place] = instance->forms[place]->handle;
    }
    next += step->resource_count;
  }
  pthread_mutex_unlock(&exe->lock);
  return status;
}
