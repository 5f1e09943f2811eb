// SPDX-License-Identifier: Apache-2.0
#include "core/ir/table.h"

#include <sodium.h>
#include <string.h>

#define FIRST_SLOTS 64  // a power of two

_Static_assert(sizeof((hx_names_t *)0)->key == crypto_shorthash_KEYBYTES, "the key of SipHash");

void hx_names_init(hx_names_t *table) { *table = (hx_names_t){0}; }

void hx_names_deinit(hx_names_t *table) {
  hx_free(table->names);
  hx_free(table->hashes);
  hx_free(table->slots);
  *table = (hx_names_t){0};
}

static uint32_t hash_of(const hx_names_t *table, hx_str_t name) {
  unsigned char out[crypto_shorthash_BYTES];
  crypto_shorthash(out, (const unsigned char *)name.data, name.size, table->key);
  uint32_t hash;
  memcpy(&hash, out, sizeof hash);
  return hash;
}

// The slot that holds the name, or the empty one where it would go. The table is never full.
static size_t name_slot(const hx_names_t *table, hx_str_t name, uint32_t hash) {
  size_t slot = hash & (table->slot_count - 1);
  while (table->slots[slot] != 0) {
    const uint32_t id = table->slots[slot] - 1;
    if (table->hashes[id] == hash && hx_str_equal(table->names[id], name)) break;
    slot = (slot + 1) & (table->slot_count - 1);
  }
  return slot;
}

uint32_t hx_names_find(const hx_names_t *table, hx_str_t name) {
  if (table->count == 0) return HX_NONE;
  const uint32_t entry = table->slots[name_slot(table, name, hash_of(table, name))];
  return entry == 0 ? HX_NONE : entry - 1;
}

// Keeps the table at most half full.
static hx_status_t grow_names(hx_names_t *table) {
  if (2 * (table->count + 1) <= table->slot_count) return HX_STATUS_OK;
  const size_t slot_count = table->slot_count == 0 ? FIRST_SLOTS : 2 * table->slot_count;
  uint32_t *slots = hx_zalloc(slot_count, sizeof *slots);
  if (slots == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_free(table->slots);
  table->slots = slots;
  table->slot_count = slot_count;
  for (size_t id = 0; id < table->count; ++id) {
    size_t slot = table->hashes[id] & (slot_count - 1);
    while (slots[slot] != 0) slot = (slot + 1) & (slot_count - 1);
    slots[slot] = (uint32_t)id + 1;
  }
  return HX_STATUS_OK;
}

hx_status_t hx_names_add(hx_names_t *table, hx_str_t name, uint32_t *out_id) {
  if (!table->has_key) {
    randombytes_buf(table->key, sizeof table->key);
    table->has_key = true;
  }
  if (table->count >= HX_NONE - 1) return HX_STATUS_OUT_OF_MEMORY;
  HX_TRY(grow_names(table));
  const uint32_t hash = hash_of(table, name);
  const size_t slot = name_slot(table, name, hash);
  if (table->slots[slot] == 0) {
    HX_TRY(hx_grow(&table->names, &table->name_capacity, table->count + 1, sizeof *table->names));
    HX_TRY(hx_grow(&table->hashes, &table->hash_capacity, table->count + 1, sizeof *table->hashes));
    table->names[table->count] = name;
    table->hashes[table->count] = hash;
    table->slots[slot] = (uint32_t)++table->count;
  }
  *out_id = table->slots[slot] - 1;
  return HX_STATUS_OK;
}

struct hx_pointer_slot {
  const void *key;  // NULL: empty
  uint32_t value;
};

void hx_pointers_init(hx_pointers_t *table) { *table = (hx_pointers_t){0}; }

void hx_pointers_deinit(hx_pointers_t *table) {
  hx_free(table->slots);
  *table = (hx_pointers_t){0};
}

// Addresses are not chosen by an input, so a fixed mixing is enough: odd multiplier, high half.
static size_t pointer_slot(const hx_pointers_t *table, const void *key) {
  const uint64_t mixed = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
  size_t slot = (size_t)(mixed >> 32) & (table->slot_count - 1);
  while (table->slots[slot].key != NULL && table->slots[slot].key != key) slot = (slot + 1) & (table->slot_count - 1);
  return slot;
}

uint32_t hx_pointers_get(const hx_pointers_t *table, const void *key) {
  if (table->count == 0) return HX_NONE;
  const struct hx_pointer_slot *slot = &table->slots[pointer_slot(table, key)];
  return slot->key == NULL ? HX_NONE : slot->value;
}

static hx_status_t grow_pointers(hx_pointers_t *table) {
  if (2 * (table->count + 1) <= table->slot_count) return HX_STATUS_OK;
  const hx_pointers_t old = *table;
  const size_t slot_count = old.slot_count == 0 ? FIRST_SLOTS : 2 * old.slot_count;
  struct hx_pointer_slot *slots = hx_zalloc(slot_count, sizeof *slots);
  if (slots == NULL) return HX_STATUS_OUT_OF_MEMORY;
  table->slots = slots;
  table->slot_count = slot_count;
  for (size_t i = 0; i < old.slot_count; ++i) {
    if (old.slots[i].key != NULL) slots[pointer_slot(table, old.slots[i].key)] = old.slots[i];
  }
  hx_free(old.slots);
  return HX_STATUS_OK;
}

hx_status_t hx_pointers_set(hx_pointers_t *table, const void *key, uint32_t value) {
  HX_TRY(grow_pointers(table));
  struct hx_pointer_slot *slot = &table->slots[pointer_slot(table, key)];
  if (slot->key == NULL) {
    slot->key = key;
    ++table->count;
  }
  slot->value = value;
  return HX_STATUS_OK;
}
