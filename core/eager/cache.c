// SPDX-License-Identifier: Apache-2.0
// Linked calls by invocation: operation, attributes, operand types, strides and secrecy.
#include <string.h>

#include "core/eager/engine.h"
#include "core/link/executable.h"

hx_status_t hx_call_cache_init(hx_call_cache_t *cache) {
  *cache = (hx_call_cache_t){.entries = hx_zalloc(HX_CACHE_ENTRIES_MAX, sizeof *cache->entries)};
  if (cache->entries == NULL) return HX_STATUS_OUT_OF_MEMORY;
  pthread_mutex_init(&cache->lock, NULL);
  return HX_STATUS_OK;
}

static void drop(hx_call_cache_t *cache, size_t index) {
  hx_cached_call_t *entry = &cache->entries[index];
  cache->bytes -= entry->bytes;
  hx_executable_release(entry->executable);
  hx_switch_release(entry->switch_key);
  hx_arena_deinit(&entry->arena);
  *entry = cache->entries[--cache->count];
}

void hx_call_cache_deinit(hx_call_cache_t *cache) {
  if (cache->entries == NULL) return;
  while (cache->count > 0) drop(cache, cache->count - 1);
  hx_free(cache->entries);
  pthread_mutex_destroy(&cache->lock);
}

// ------------------------------------------------------------------ keys of the cache

static uint64_t mix(uint64_t hash, uint64_t word) { return (hash ^ word) * 0x100000001b3u; }  // [FNV-1a], by words

static uint64_t mix_attribute(uint64_t hash, const hx_attribute_t *value) {
  uint64_t bits;
  memcpy(&bits, &value->number, sizeof bits);
  hash = mix(mix(mix(hash, (uint64_t)value->kind), (uint64_t)value->integer), bits);
  for (size_t i = 0; i < value->text.size; ++i) hash = mix(hash, (unsigned char)value->text.data[i]);
  for (size_t i = 0; value->kind == HX_ATTRIBUTE_LIST && i < value->count; ++i)
    hash = mix_attribute(hash, &value->list[i]);
  return hash;
}

// What usually differs; equality is decided by comparing everything.
static uint64_t hash_call(const hx_engine_call_t *call) {
  uint64_t hash = mix(0xcbf29ce484222325u, (uint64_t)call->id);
  for (size_t i = 0; i < call->attr_count; ++i) hash = mix_attribute(hash, &call->attrs[i].value);
  for (size_t i = 0; i < call->operand_count; ++i) {
    const hx_type_t *type = &call->operands[i]->type;
    const hx_layout_t *layout = &call->operands[i]->tensor->layout;
    hash = mix(mix(mix(hash, (uint64_t)type->kind), type->depth), type->components);
    hash = mix(mix(mix(hash, type->slots), type->domain), type->batch_rank);
    hash = mix(mix(hash, type->scale.m[0]), (uint64_t)type->scale.e);
    hash = mix(mix(hash, layout->component_stride), call->operands[i]->secret);
  }
  return hash;
}

static bool is_same_call(const hx_cached_call_t *entry, const hx_engine_call_t *call) {
  const hx_executable_t *exe = entry->executable;
  const hx_attrs_t attrs = {.items = call->attrs, .count = call->attr_count};
  if (entry->id != call->id || entry->switch_key != call->switch_key || exe->input_count != call->operand_count ||
      exe->output_count != call->result_count || !hx_attrs_equal(entry->attrs, attrs)) {
    return false;
  }
  for (size_t i = 0; i < call->operand_count; ++i) {
    const hx_value_t *value = call->operands[i];
    if (!hx_type_equal(exe->input_types[i], &value->type) || exe->secret_inputs[i] != value->secret ||
        !hx_layout_equal(&exe->input_layouts[i], &value->tensor->layout)) {
      return false;
    }
  }
  return true;
}

// Index of a call's entry, or count. Under the lock.
static size_t find_entry(const hx_call_cache_t *cache, uint64_t hash, const hx_engine_call_t *call) {
  size_t i = 0;
  while (i < cache->count && (cache->entries[i].hash != hash || !is_same_call(&cache->entries[i], call))) i += 1;
  return i;
}

hx_executable_t *hx_call_cache_find(hx_call_cache_t *cache, const hx_engine_call_t *call) {
  const uint64_t hash = hash_call(call);
  hx_executable_t *found = NULL;
  pthread_mutex_lock(&cache->lock);
  const size_t index = find_entry(cache, hash, call);
  if (index < cache->count) {
    cache->entries[index].used = ++cache->clock;
    found = hx_executable_retain(cache->entries[index].executable);
  }
  pthread_mutex_unlock(&cache->lock);
  return found;
}

static void make_room(hx_call_cache_t *cache, uint64_t bytes) {
  while (cache->count == HX_CACHE_ENTRIES_MAX || (cache->count > 0 && cache->bytes + bytes > HX_CACHE_BYTES_MAX)) {
    size_t oldest = 0;
    for (size_t i = 1; i < cache->count; ++i) {
      if (cache->entries[i].used < cache->entries[oldest].used) oldest = i;
    }
    drop(cache, oldest);
  }
}

// Attributes of the operation inside the executable live as long as it does, but passes may have replaced it: a copy.
static bool copy_attribute(hx_arena_t *arena, const hx_attribute_t *from, hx_attribute_t *to) {
  *to = *from;
  if (from->text.data != NULL) {
    to->text = hx_arena_str(arena, from->text);
    if (to->text.data == NULL) return false;
  }
  if (from->kind != HX_ATTRIBUTE_LIST) return true;
  hx_attribute_t *list = hx_arena_alloc(arena, from->count * sizeof *list);
  if (list == NULL) return false;
  to->list = list;
  for (size_t i = 0; i < from->count; ++i) {
    if (!copy_attribute(arena, &from->list[i], &list[i])) return false;
  }
  return true;
}

static bool copy_attrs(hx_cached_call_t *entry, const hx_engine_call_t *call) {
  hx_named_attr_t *items = hx_arena_alloc(&entry->arena, call->attr_count * sizeof *items);
  if (items == NULL) return false;
  for (size_t i = 0; i < call->attr_count; ++i) {
    items[i].name = hx_arena_str(&entry->arena, call->attrs[i].name);
    if (items[i].name.data == NULL || !copy_attribute(&entry->arena, &call->attrs[i].value, &items[i].value))
      return false;
  }
  entry->attrs = (hx_attrs_t){.items = items, .count = call->attr_count};
  return true;
}

void hx_call_cache_add(hx_call_cache_t *cache, const hx_engine_call_t *call, hx_executable_t *executable) {
  hx_cached_call_t entry = {.hash = hash_call(call),
                            .id = call->id,
                            .bytes = executable->slab_bytes + executable->scratch_device + executable->scratch_host +
                                     executable->staging_bytes};
  hx_arena_init(&entry.arena);
  if (!copy_attrs(&entry, call)) {
    hx_arena_deinit(&entry.arena);
    return;
  }
  pthread_mutex_lock(&cache->lock);
  const bool is_new = find_entry(cache, entry.hash, call) == cache->count;
  if (is_new) {
    make_room(cache, entry.bytes);
    entry.executable = hx_executable_retain(executable);
    entry.switch_key = call->switch_key == NULL ? NULL : hx_switch_retain(call->switch_key);
    entry.used = ++cache->clock;
    cache->bytes += entry.bytes;
    cache->entries[cache->count++] = entry;
  }
  pthread_mutex_unlock(&cache->lock);
  if (!is_new) hx_arena_deinit(&entry.arena);
}
