// SPDX-License-Identifier: Apache-2.0
// Hash tables of the IR: texts to dense ids, and pointers to numbers. Ids follow the order of insertion, so
// nothing that is printed depends on a hash. Hashes are keyed at random: chosen names cannot make them slow.
#ifndef HELIOX_CORE_IR_TABLE_H
#define HELIOX_CORE_IR_TABLE_H

#include "core/base/memory.h"
#include "heliox/plugin.h"

// Texts to ids 0, 1, 2, ... in order of insertion. The texts are borrowed and must outlive the table.
typedef struct hx_names {
  hx_str_t *names;  // [count], by id
  uint32_t *hashes;
  size_t count, name_capacity, hash_capacity;
  uint32_t *slots;  // id + 1, or 0 where empty
  size_t slot_count;
  uint8_t key[16];
  bool has_key;
} hx_names_t;

void hx_names_init(hx_names_t *table);
void hx_names_deinit(hx_names_t *table);
// Id of a text, or HX_NONE.
uint32_t hx_names_find(const hx_names_t *table, hx_str_t name);
// Id of a text, added if it is new.
hx_status_t hx_names_add(hx_names_t *table, hx_str_t name, uint32_t *out_id);

// Pointers to numbers below HX_NONE.
typedef struct hx_pointers {
  struct hx_pointer_slot *slots;
  size_t count, slot_count;
} hx_pointers_t;

void hx_pointers_init(hx_pointers_t *table);
void hx_pointers_deinit(hx_pointers_t *table);
// Number of a pointer, or HX_NONE.
uint32_t hx_pointers_get(const hx_pointers_t *table, const void *key);
// Sets or replaces the number of a pointer (not NULL).
hx_status_t hx_pointers_set(hx_pointers_t *table, const void *key, uint32_t value);

#endif
