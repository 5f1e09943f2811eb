// SPDX-License-Identifier: Apache-2.0
// Interned types and deep copies of attributes.
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/ir/internal.h"

#define FIRST_SLOTS 32  // a power of two

struct hx_type_table {
  const hx_type_t **slots;  // NULL: empty
  size_t count, slot_count;
  uint64_t seed;  // chosen types cannot make the table slow
};

struct hx_type_table *hx_type_table_create(void) {
  struct hx_type_table *table = hx_zalloc(1, sizeof *table);
  if (table != NULL) randombytes_buf(&table->seed, sizeof table->seed);
  return table;
}

void hx_type_table_release(struct hx_type_table *table) {
  if (table == NULL) return;
  hx_free(table->slots);
  hx_free(table);
}

size_t hx_program_type_count(const hx_program_t *program) { return program->types->count; }

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

static uint64_t hash_scale(uint64_t hash, const hx_scale_t *scale) {
  for (size_t i = 0; i < HX_COUNT_OF(scale->m); ++i) hash = mix(hash, scale->m[i]);
  hash = mix(hash, (uint64_t)scale->e);
  for (uint32_t i = 0; i < scale->term_count; ++i)
    hash = mix(hash, ((uint64_t)scale->terms[i].id << 32) ^ (uint32_t)scale->terms[i].exponent);
  return hash;
}

static uint64_t hash_type(const hx_type_t *type, uint64_t seed) {
  uint64_t hash = mix(seed, ((uint64_t)type->kind << 32) | type->known);
  hash = mix(hash, ((uint64_t)type->dtype << 48) | ((uint64_t)type->basis << 32) | (type->domain << 16) | type->repr);
  hash = mix(hash, ((uint64_t)type->components << 32) | type->depth);
  hash = mix(hash, ((uint64_t)type->slots << 32) | type->bits);
  hash = mix(hash, ((uint64_t)type->key_kind << 32) | ((uint64_t)type->signedness << 8) | type->is_complex);
  hash = mix(mix(hash, type->element), type->count);
  for (uint32_t i = 0; i < type->batch_rank && i < HX_BATCH_RANK_MAX; ++i) hash = mix(hash, type->batch_shape[i]);
  for (size_t i = 0; i < HX_COUNT_OF(type->primes.bits); ++i) hash = mix(hash, type->primes.bits[i]);
  if ((type->known & HX_KNOWN_SCALE) != 0) hash = hash_scale(hash, &type->scale);
  for (size_t i = 0; i < sizeof type->name && type->name[i] != '\0'; ++i)
    hash = mix(hash, (unsigned char)type->name[i]);
  return hash;
}

static size_t type_slot(const struct hx_type_table *table, const hx_type_t *type) {
  size_t slot = (size_t)hash_type(type, table->seed) & (table->slot_count - 1);
  while (table->slots[slot] != NULL && !hx_type_equal(table->slots[slot], type))
    slot = (slot + 1) & (table->slot_count - 1);
  return slot;
}

static hx_status_t grow_types(struct hx_type_table *table) {
  if (2 * (table->count + 1) <= table->slot_count) return HX_STATUS_OK;
  const struct hx_type_table old = *table;
  const size_t slot_count = old.slot_count == 0 ? FIRST_SLOTS : 2 * old.slot_count;
  const hx_type_t **slots = hx_zalloc(slot_count, sizeof *slots);
  if (slots == NULL) return HX_STATUS_OUT_OF_MEMORY;
  table->slots = slots;
  table->slot_count = slot_count;
  for (size_t i = 0; i < old.slot_count; ++i) {
    if (old.slots[i] != NULL) slots[type_slot(table, old.slots[i])] = old.slots[i];
  }
  hx_free(old.slots);
  return HX_STATUS_OK;
}

const hx_type_t *hx_program_type(hx_program_t *program, const hx_type_t *type) {
  struct hx_type_table *table = program->types;
  if (grow_types(table) != HX_STATUS_OK) return NULL;
  const size_t slot = type_slot(table, type);
  if (table->slots[slot] != NULL) return table->slots[slot];
  hx_type_t *copy = hx_arena_alloc(&program->arena, sizeof *copy);
  if (copy == NULL) return NULL;
  hx_type_copy(copy, type);
  ++table->count;
  return table->slots[slot] = copy;
}

static hx_status_t copy_text(hx_program_t *program, hx_str_t *text) {
  *text = hx_arena_str(&program->arena, *text);
  return text->data == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

static hx_status_t copy_function_type(hx_program_t *program, hx_attribute_t *attribute) {
  const size_t count = attribute->input_count + attribute->result_count;
  const hx_type_t **types = hx_arena_alloc(&program->arena, count * sizeof *types);
  if (types == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < count; ++i) {
    types[i] = hx_program_type(program, attribute->types[i]);
    if (types[i] == NULL) return HX_STATUS_OUT_OF_MEMORY;
  }
  attribute->types = types;
  return HX_STATUS_OK;
}

static hx_status_t copy_list(hx_program_t *program, hx_attribute_t *attribute) {
  hx_attribute_t *list = hx_arena_alloc(&program->arena, attribute->count * sizeof *list);
  if (list == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < attribute->count; ++i) {
    list[i] = attribute->list[i];
    HX_TRY(hx_attribute_adopt(program, &list[i]));
  }
  attribute->list = list;
  return HX_STATUS_OK;
}

// Recursion: attributes nest as deep as the text that they came from, at most HX_IR_NESTING_MAX.
hx_status_t hx_attribute_adopt(hx_program_t *program, hx_attribute_t *attribute) {
  if (attribute->type != NULL) {
    attribute->type = hx_program_type(program, attribute->type);
    if (attribute->type == NULL) return HX_STATUS_OUT_OF_MEMORY;
  }
  switch (attribute->kind) {
    case HX_ATTRIBUTE_TEXT:
    case HX_ATTRIBUTE_SYMBOL:
      return copy_text(program, &attribute->text);
    case HX_ATTRIBUTE_TYPE:
      return attribute->type == NULL ? copy_function_type(program, attribute) : HX_STATUS_OK;
    case HX_ATTRIBUTE_LIST:
      return copy_list(program, attribute);
    case HX_ATTRIBUTE_DICT: {
      hx_attrs_t dict;
      HX_TRY(hx_program_attrs(program, attribute->dict, attribute->count, &dict));
      attribute->dict = dict.items;
      return HX_STATUS_OK;
    }
    case HX_ATTRIBUTE_UNIT:
    case HX_ATTRIBUTE_BOOL:
    case HX_ATTRIBUTE_INTEGER:
    case HX_ATTRIBUTE_FLOAT:
      break;
  }
  return HX_STATUS_OK;
}

static int by_name(const void *left, const void *right) {
  const hx_str_t a = ((const hx_named_attr_t *)left)->name;
  const hx_str_t b = ((const hx_named_attr_t *)right)->name;
  const size_t common = a.size < b.size ? a.size : b.size;
  const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

bool hx_attrs_sort(hx_named_attr_t *items, size_t count) {
  if (count > 1) qsort(items, count, sizeof *items, by_name);
  for (size_t i = 1; i < count; ++i) {
    if (hx_str_equal(items[i - 1].name, items[i].name)) return false;
  }
  return true;
}

hx_status_t hx_program_attrs(hx_program_t *program, const hx_named_attr_t *items, size_t count, hx_attrs_t *out) {
  hx_named_attr_t *copy = hx_arena_alloc(&program->arena, count * sizeof *copy);
  if (copy == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (count > 0) memcpy(copy, items, count * sizeof *copy);
  if (!hx_attrs_sort(copy, count)) return HX_STATUS_INVALID;
  for (size_t i = 0; i < count; ++i) {
    HX_TRY(copy_text(program, &copy[i].name));
    HX_TRY(hx_attribute_adopt(program, &copy[i].value));
  }
  *out = (hx_attrs_t){.items = copy, .count = count};
  return HX_STATUS_OK;
}
