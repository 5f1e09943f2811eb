// SPDX-License-Identifier: Apache-2.0
// What a program refers to from outside: bound values, keys at the depth where they are used, constants, live handles.
#include <inttypes.h>
#include <string.h>

#include "core/link/executable.h"
#include "core/passes/prepared.h"

static hx_status_t add_material(hx_linker_t *linker, const hx_bound_material_t *material, uint32_t *out) {
  hx_executable_t *exe = linker->exe;
  const size_t count = exe->material_count;
  if (hx_grow(&exe->materials, &exe->material_capacity, count + 1, sizeof *exe->materials) != HX_STATUS_OK) {
    return HX_STATUS_OUT_OF_MEMORY;
  }
  hx_bound_material_t *kept = &exe->materials[count];
  *kept = *material;
  kept->symbol = hx_arena_str(&exe->arena, hx_str(material->symbol)).data;
  if (kept->symbol == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_tensor_retain(kept->tensor);
  kept->generation = hx_tensor_generation(kept->tensor);
  exe->material_count += 1;
  *out = (uint32_t)count;
  return HX_STATUS_OK;
}

static uint32_t find_material(const hx_linker_t *linker, const hx_tensor_t *tensor, const char *symbol, uint32_t site) {
  for (uint32_t i = 0; i < linker->exe->material_count; ++i) {
    const hx_bound_material_t *material = &linker->exe->materials[i];
    if (material->tensor == tensor && material->site == site && strcmp(material->symbol, symbol) == 0) return i;
  }
  return HX_NONE;
}

static uint32_t root_of_material(const hx_linker_t *linker, uint32_t material) {
  for (uint32_t i = 0; i < linker->exe->root_count; ++i) {
    const hx_root_t *root = &linker->exe->roots[i];
    if (root->kind == HX_ROOT_MATERIAL && root->index == material) return i;
  }
  return HX_NONE;
}

static hx_status_t ensure_root(hx_linker_t *linker, uint32_t material, uint32_t *out) {
  *out = root_of_material(linker, material);
  if (*out != HX_NONE) return HX_STATUS_OK;
  return hx_link_add_root(
      linker, (hx_root_t){.kind = HX_ROOT_MATERIAL, .index = material, .site = linker->exe->materials[material].site},
      out);
}

// ------------------------------------------------------------------ keys

// Kind and element that a symbol stands for: relin, conj, galois_<element>.
static hx_key_kind_t kind_of_symbol(hx_str_t symbol, uint64_t *out_element) {
  static const char prefix[] = "galois_";
  const size_t size = sizeof prefix - 1;
  *out_element = 0;
  if (hx_str_equal(symbol, hx_str("relin"))) return HX_KEY_RELIN;
  if (hx_str_equal(symbol, hx_str("conj"))) return HX_KEY_CONJ;
  if (symbol.size <= size || symbol.size > size + 18 || memcmp(symbol.data, prefix, size) != 0) return HX_KEY_NONE;
  for (size_t i = size; i < symbol.size; ++i) {
    if (symbol.data[i] < '0' || symbol.data[i] > '9') return HX_KEY_NONE;
    *out_element = *out_element * 10 + (uint64_t)(symbol.data[i] - '0');  // at most 18 digits
  }
  return HX_KEY_GALOIS;
}

static hx_status_t fail_missing_key(hx_linker_t *linker, const hx_ir_op_t *op, hx_str_t symbol) {
  const hx_keys_t *keys = linker->source->keys;
  if (keys == NULL) {
    hx_link_fail(linker, op, HX_CODE_MISSING_KEY, "key @%.*s is needed, and no keys are bound", (int)symbol.size,
                 symbol.data);
    return HX_STATUS_OK;
  }
  hx_text_t steps;
  hx_text_init(&steps);
  hx_keys_describe_steps(keys, 1u << (linker->ring->log_n - 1), &steps);
  hx_link_fail(linker, op, HX_CODE_MISSING_KEY,
               "key @%.*s is not in the key set; it has relinearization %s, conjugation %s, rotations %s",
               (int)symbol.size, symbol.data, keys->relin != NULL ? "yes" : "no", keys->conj != NULL ? "yes" : "no",
               steps.data == NULL || steps.size == 0 ? "none" : steps.data);
  hx_text_deinit(&steps);
  return HX_STATUS_OK;
}

// A key between secrets: any symbol, bound on its own. Its ids are checked by classes (secrets.c), not here.
static hx_status_t bind_switch(hx_linker_t *linker, const hx_ir_op_t *op, hx_str_t symbol, const char *name) {
  const hx_switch_t *key = hx_link_find_switch(linker, symbol);
  if (key == NULL) {
    hx_link_fail(linker, op, HX_CODE_MISSING_KEY, "switching key @%s is not bound", name);
    return HX_STATUS_OK;
  }
  uint32_t *material = &linker->material_of[op->results[0]->id];
  *material = find_material(linker, key->key.tensor, name, 0);
  if (*material != HX_NONE) return HX_STATUS_OK;
  const hx_bound_material_t bound = {
      .symbol = name, .tensor = key->key.tensor, .type = op->results[0]->type, .is_key = true};
  return add_material(linker, &bound, material);
}

static hx_status_t bind_key(hx_linker_t *linker, const hx_ir_op_t *op, hx_str_t symbol, const char *name) {
  const hx_type_t *type = op->results[0]->type;
  uint64_t element;
  const hx_key_kind_t kind = kind_of_symbol(symbol, &element);
  const bool is_switch = kind == HX_KEY_NONE && type->key_kind == HX_KEY_SWITCH;
  const bool fits = is_switch || (kind == type->key_kind && (kind != HX_KEY_GALOIS || element == type->element));
  if (kind == HX_KEY_NONE && !is_switch) {
    hx_link_fail(linker, op, HX_CODE_MATERIAL, "@%s is no key of a key set: those are relin, conj and galois_<element>",
                 name);
    return HX_STATUS_OK;
  }
  if (!fits) {
    hx_link_fail(linker, op, HX_CODE_MATERIAL, "@%s has the type of another key", name);
    return HX_STATUS_OK;
  }
  if (linker->options->check_only) return HX_STATUS_OK;
  if (kind == HX_KEY_NONE) return bind_switch(linker, op, symbol, name);
  const hx_switch_key_t *key = linker->source->keys == NULL ? NULL : hx_keys_find(linker->source->keys, kind, element);
  if (key == NULL) return fail_missing_key(linker, op, symbol);
  uint32_t *material = &linker->material_of[op->results[0]->id];
  *material = find_material(linker, key->tensor, name, 0);
  if (*material != HX_NONE) return HX_STATUS_OK;
  hx_bound_material_t bound = {.symbol = name, .tensor = key->tensor, .type = type, .is_key = true};
  memcpy(bound.key_id, linker->source->keys->id, sizeof bound.key_id);
  linker->exe->has_keys = true;
  return add_material(linker, &bound, material);
}

static const hx_switch_key_t *key_of(const hx_linker_t *linker, uint32_t material) {
  const hx_bound_material_t *bound = &linker->exe->materials[material];
  uint64_t element;
  const hx_key_kind_t kind = kind_of_symbol(hx_str(bound->symbol), &element);
  if (kind == HX_KEY_NONE) return &hx_link_find_switch(linker, hx_str(bound->symbol))->key;
  return hx_keys_find(linker->source->keys, kind, element);
}

// Depth whose rows a value has; max_depth + 1 where it is no depth's.
static uint32_t depth_of(const hx_type_t *type, const hx_ring *ring) {
  if (type->kind != HX_TYPE_TENSOR) return type->depth;
  hx_primes_t active = type->primes;
  for (uint32_t id = ring->q_count; id < HX_PRIMES_MAX; ++id) active.bits[id / 64] &= ~((uint64_t)1 << (id % 64));
  const uint32_t deepest = hx_ring_max_depth(ring);
  for (uint32_t depth = 0; depth <= deepest; ++depth) {
    const hx_primes_t rows = hx_ring_active(ring, depth);
    if (hx_primes_equal(&rows, &active)) return depth;
  }
  return deepest + 1;
}

// The same key on another site: references to keys stand once, whoever uses them.
static hx_status_t key_on(hx_linker_t *linker, uint32_t material, uint32_t site, uint32_t *out) {
  const hx_bound_material_t at_home = linker->exe->materials[material];
  *out = site == at_home.site ? material : find_material(linker, at_home.tensor, at_home.symbol, site);
  if (*out != HX_NONE) return HX_STATUS_OK;
  hx_bound_material_t there = at_home;
  there.site = site;
  return add_material(linker, &there, out);
}

// A key's rows at a depth as a slot; ids of Q_d and P.
static hx_status_t draft_key(hx_linker_t *linker, const hx_ir_value_t *key, uint32_t depth, uint32_t site,
                             hx_draft_t *out) {
  uint32_t material = linker->material_of[key->id];
  HX_TRY(key_on(linker, material, site, &material));
  hx_tensor_t *view;
  HX_TRY(hx_switch_key_at(key_of(linker, material), linker->ring, depth, &view));
  *out = (hx_draft_t){.slot = {.offset = view->offset,
                               .type = key->type,
                               .primes = hx_ring_active(linker->ring, depth),
                               .name = hx_link_value_name(linker, key)},
                      .layout = view->layout};
  hx_tensor_release(view);
  const hx_primes_t special = hx_ring_special(linker->ring);
  for (size_t i = 0; i < HX_COUNT_OF(special.bits); ++i) out->slot.primes.bits[i] |= special.bits[i];
  return ensure_root(linker, material, &out->slot.root);
}

hx_status_t hx_link_key_digit(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t digit, hx_draft_t *out,
                              bool *out_found) {
  const hx_ir_value_t *key = op->operands[0];
  *out_found = linker->material_of[key->id] != HX_NONE;
  if (!*out_found) return HX_STATUS_OK;  // missing: counted where it is referred to
  HX_TRY(draft_key(linker, key, 0, hx_link_site(linker, op), out));
  out->slot.offset += digit * out->layout.digit_stride * hx_dtype_bytes(out->layout.dtype);
  out->layout.digits = 0;
  out->layout.digit_stride = 0;
  return HX_STATUS_OK;
}

hx_status_t hx_link_key(hx_linker_t *linker, const hx_ir_op_t *op, const hx_ir_value_t *key, uint32_t *out_slot) {
  *out_slot = HX_NONE;
  if (linker->material_of[key->id] == HX_NONE) return HX_STATUS_OK;  // missing: counted where it is referred to
  const uint32_t depth = depth_of(op->operands[0]->type, linker->ring);
  if (depth > hx_ring_max_depth(linker->ring)) {
    hx_link_fail(linker, op, HX_CODE_PRIMES, "the rows of operand %s are those of no depth, so no key fits them",
                 hx_link_value_name(linker, op->operands[0]));
    return HX_STATUS_OK;
  }
  hx_draft_t draft;
  HX_TRY(draft_key(linker, key, depth, hx_link_site(linker, op), &draft));
  return hx_link_add_draft(linker, &draft, out_slot);
}

// ------------------------------------------------------------------ values

static const hx_binding_t *find_binding(const hx_linker_t *linker, const char *symbol) {
  for (size_t i = 0; i < linker->source->binding_count; ++i) {
    if (strcmp(linker->source->bindings[i].symbol, symbol) == 0) return &linker->source->bindings[i];
  }
  return NULL;
}

static hx_status_t add_slot_of(hx_linker_t *linker, const hx_ir_op_t *op, uint32_t material) {
  const hx_tensor_t *tensor = linker->exe->materials[material].tensor;
  hx_draft_t draft = {.slot = {.offset = tensor->offset,
                               .type = op->results[0]->type,
                               .primes = op->results[0]->type->primes,
                               .name = hx_link_value_name(linker, op->results[0])},
                      .layout = tensor->layout};
  HX_TRY(ensure_root(linker, material, &draft.slot.root));
  return hx_link_add_draft(linker, &draft, &linker->slot_of[op->results[0]->id]);
}

static bool check_binding(hx_linker_t *linker, const hx_ir_op_t *op, const hx_value_t *value, const char *name) {
  const char *part = NULL;
  const size_t before = linker->fault_count;
  hx_type_t wanted;
  hx_material_bound_type(op, &wanted);
  if (value->secret) hx_link_fail(linker, op, HX_CODE_SECRET, "material @%s is secret", name);
  if (!hx_params_same(value->params, linker->source->params)) {
    hx_link_fail(linker, op, HX_CODE_PARAMS_DIGEST,
                 "material @%s belongs to parameters %.16s..., the program to %.16s...", name,
                 hx_params_digest_hex(value->params), hx_params_digest_hex(linker->source->params));
  } else if (value->type.kind != wanted.kind) {
    hx_link_fail(linker, op, HX_CODE_MATERIAL, "material @%s is a %s", name,
                 value->type.kind == HX_TYPE_CIPHERTEXT ? "ciphertext" : "plaintext");
  } else if (!hx_type_agrees(&value->type, &wanted, &part)) {
    hx_link_fail(linker, op, HX_CODE_MATERIAL, "material @%s has another %s than its reference", name, part);
  } else if (value->type.depth > op->results[0]->type->depth) {
    hx_link_fail(linker, op, HX_CODE_MATERIAL, "material @%s is at depth %u, beyond the %u of its reference", name,
                 value->type.depth, op->results[0]->type->depth);
  }
  if (value->tensor->offset % linker->exe->alignment != 0) {
    hx_link_fail(linker, op, HX_CODE_SHAPE, "material @%s starts at byte %" PRIu64 ", %s wants a multiple of %" PRIu64,
                 name, value->tensor->offset, linker->exe->device->name, linker->exe->alignment);
  }
  return linker->fault_count == before;
}

// A material that was prepared from this value already, to this type.
static uint32_t find_prepared(const hx_linker_t *linker, const hx_value_t *value, const hx_type_t *type,
                              const char *symbol, uint32_t site) {
  for (uint32_t i = 0; i < linker->exe->material_count; ++i) {
    const hx_bound_material_t *material = &linker->exe->materials[i];
    if (material->source == value && material->type == type && material->site == site &&
        strcmp(material->symbol, symbol) == 0)
      return i;
  }
  return HX_NONE;
}

static hx_status_t bind_value(hx_linker_t *linker, const hx_ir_op_t *op, const char *name) {
  const hx_type_t *type = op->results[0]->type;
  const uint32_t site = hx_link_site(linker, op);
  if (linker->options->check_only) return HX_STATUS_OK;
  const hx_binding_t *binding = find_binding(linker, name);
  if (binding == NULL) {
    hx_link_fail(linker, op, HX_CODE_MATERIAL, "material @%s is not bound", name);
    return HX_STATUS_OK;
  }
  const hx_value_t *value = binding->value;
  if (!check_binding(linker, op, value, name)) return HX_STATUS_OK;
  hx_str_t purpose;
  const bool is_prepared = hx_material_is_prepared(op, &purpose);
  uint32_t material =
      is_prepared ? find_prepared(linker, value, type, name, site) : find_material(linker, value->tensor, name, site);
  if (material == HX_NONE) {
    hx_bound_material_t bound = {.site = site,
                                 .symbol = name,
                                 .tensor = value->tensor,
                                 .type = type,
                                 .count = value->count,
                                 .is_complex = value->is_complex};
    memcpy(bound.key_id, value->key_id, sizeof bound.key_id);
    if (is_prepared) {
      bound.tensor = NULL;
      HX_TRY(hx_link_prepare_value(linker, op, binding->value, &bound));
      if (bound.tensor == NULL) return HX_STATUS_OK;  // counted as a fault
    }
    const hx_status_t status = add_material(linker, &bound, &material);
    if (is_prepared) hx_tensor_release(bound.tensor);  // the material has its own
    if (status != HX_STATUS_OK) hx_value_release(bound.source);
    if (status != HX_STATUS_OK) return status;
  }
  return add_slot_of(linker, op, material);
}

hx_status_t hx_link_material(hx_linker_t *linker, const hx_ir_op_t *op) {
  const hx_attribute_t *symbol = hx_attrs_find(op->attrs, "symbol");  // required: verified
  const char *name = hx_arena_str(&linker->exe->arena, symbol->text).data;
  if (name == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const hx_type_t *type = op->results[0]->type;
  switch (type->kind) {
    case HX_TYPE_KEY:
      return bind_key(linker, op, symbol->text, name);
    case HX_TYPE_CIPHERTEXT:
    case HX_TYPE_PLAINTEXT:
      if (hx_type_is_complete(type)) return bind_value(linker, op, name);
      hx_link_fail(linker, op, HX_CODE_TYPE, "the type of material @%s is not complete", name);
      return HX_STATUS_OK;
    default:
      hx_link_fail(linker, op, HX_CODE_UNSUPPORTED, "material @%s is neither a ciphertext, a plaintext nor a key",
                   name);
      return HX_STATUS_OK;
  }
}

// ------------------------------------------------------------------ constants

static void fill_constant(const hx_tensor_t *tensor, const hx_attribute_t *residues, size_t count) {
  const size_t half = ((size_t)1 << tensor->layout.log_n) / 2;
  for (uint32_t l = 0; l < tensor->layout.limbs; ++l) {
    void *row = hx_tensor_row(tensor, 0, 0, 0, l);
    for (size_t i = 0; i < 2 * half; ++i) {
      const size_t word = 2 * (size_t)l + (i >= half);
      const uint64_t residue = word < count ? (uint64_t)residues[word].integer : 0;
      if (tensor->layout.dtype == HX_U32) {
        ((uint32_t *)row)[i] = (uint32_t)residue;  // below a prime of 31 bits
      } else {
        ((uint64_t *)row)[i] = residue;
      }
    }
  }
}

hx_status_t hx_link_constant(hx_linker_t *linker, const hx_ir_op_t *op) {
  const hx_type_t *type = op->results[0]->type;
  const hx_attribute_t *residues;
  size_t count;
  if (!hx_type_is_complete(type) || !hx_attrs_get_list(op->attrs, "residues", &residues, &count)) {
    hx_link_fail(linker, op, HX_CODE_TYPE, "the type of the constant is not complete");
    return HX_STATUS_OK;
  }
  hx_layout_t layout;
  if (hx_link_layout(type, linker->ring, &layout) != HX_STATUS_OK || count != 2 * (size_t)layout.limbs) {
    hx_link_fail(linker, op, HX_CODE_ATTRIBUTE, "the constant has %zu residues for %u rows, two words a row are needed",
                 count, layout.limbs);
    return HX_STATUS_OK;
  }
  if (linker->options->check_only) return HX_STATUS_OK;
  hx_tensor_t *tensor;
  HX_TRY(hx_tensor_create(&layout, false, &tensor));
  fill_constant(tensor, residues, count);
  uint32_t material;
  const hx_bound_material_t bound = {.site = hx_link_site(linker, op), .symbol = "", .tensor = tensor, .type = type};
  const hx_status_t status = add_material(linker, &bound, &material);
  hx_tensor_release(tensor);
  return status == HX_STATUS_OK ? add_slot_of(linker, op, material) : status;
}

// ------------------------------------------------------------------ handles and binding

hx_status_t hx_link_resource(hx_linker_t *linker, const hx_ir_op_t *op) {
  const hx_attribute_t *symbol = hx_attrs_find(op->attrs, "symbol");
  hx_str_t kind = {0};
  (void)hx_attrs_get_text(op->attrs, "kind", &kind);
  const hx_named_resource_t *found = hx_backend_resource(linker->exe->backend, symbol->text);
  if (found == NULL) {
    hx_link_fail(linker, op, HX_CODE_RESOURCE, "the backend has no resource named %.*s", (int)symbol->text.size,
                 symbol->text.data);
  } else if (!hx_str_equal(hx_str(found->kind), kind)) {
    hx_link_fail(linker, op, HX_CODE_RESOURCE, "resource %s is of kind %s, the program wants %.*s", found->name,
                 found->kind, (int)kind.size, kind.data);
  }
  return HX_STATUS_OK;
}

static hx_status_t bind_material(hx_linker_t *linker, hx_bound_material_t *material) {
  hx_opened_device_t *device = linker->exe->sites[material->site].device;
  hx_storage_t *storage = material->tensor->storage;
  const bool needs_copy = storage->device == NULL && !hx_device_imports(device);
  if (needs_copy && (linker->options->place_materials || material->symbol[0] == '\0')) {
    HX_TRY(hx_device_place(device, storage, &material->placed, linker->report));
    storage = material->placed->copy;
  }
  material->storage = storage;
  hx_text_t what;
  hx_text_init(&what);
  hx_text_printf(&what, "material @%s", material->symbol[0] == '\0' ? "(constant)" : material->symbol);
  const hx_status_t status =
      hx_device_buffer(device, storage, what.failed ? "a material" : what.data, &material->buffer, linker->report);
  hx_text_deinit(&what);
  return status;
}

hx_status_t hx_link_bind_materials(hx_linker_t *linker) {
  for (size_t i = 0; i < linker->exe->material_count; ++i) {
    HX_TRY(hx_link_count(linker, bind_material(linker, &linker->exe->materials[i])));
  }
  return HX_STATUS_OK;
}
