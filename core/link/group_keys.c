// SPDX-License-Identifier: Apache-2.0
// Evaluation keys read once for a group, which is one machine's: its first rank reads and checks the files and hands to
// each of the others the keys that it asks for.
#include <string.h>

#include "core/ckks/keys.h"
#include "core/link/group.h"
#include "heliox/program.h"

// What a rank asks for; its Galois elements follow by themselves.
typedef struct wish {
  uint32_t parts, count;
} wish_t;

// In front of each key: whether it is there.
typedef struct notice {
  uint64_t bytes;  // 0: it is not
  uint8_t id[16], seed[32];
} notice_t;

typedef struct sharing {
  hx_group_t *group;
  const hx_params_t *params;
  hx_report_t *report;
  hx_layout_t layout;  // of every key
  uint64_t bytes;
  wish_t *wishes;        // [size]
  uint64_t *elements;    // of all ranks, one behind the other
  uint64_t *first;       // [size] of a rank's elements
  const hx_keys_t *all;  // rank 0: what was read
} sharing_t;

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for the keys of a group");
}

static hx_status_t gather(const sharing_t *s, const void *mine, void *all, const uint64_t *sizes) {
  hx_error error = hx_error_make();
  const int32_t result = s->group->plugin->table.collectives->all_gather(s->group->handle, mine, all, sizes, &error);
  return hx_group_status(s->group, result, &error, HX_CODE_RANK_MISMATCH, "ask for keys", s->report);
}

static hx_status_t give(const sharing_t *s, uint32_t to, const void *bytes, uint64_t count) {
  hx_error error = hx_error_make();
  const int32_t result = s->group->plugin->table.collectives->send(s->group->handle, to, bytes, count, &error);
  return hx_group_status(s->group, result, &error, HX_CODE_RANK_MISMATCH, "hand out keys", s->report);
}

static hx_status_t take(const sharing_t *s, void *bytes, uint64_t count) {
  hx_error error = hx_error_make();
  const int32_t result = s->group->plugin->table.collectives->receive(s->group->handle, 0, bytes, count, &error);
  return hx_group_status(s->group, result, &error, HX_CODE_RANK_MISMATCH, "take keys", s->report);
}

// ------------------------------------------------------------------ wishes

static hx_status_t gather_wishes(sharing_t *s, const hx_program_needs_t *needs) {
  const uint32_t size = s->group->size;
  const wish_t mine = {.parts = needs->parts, .count = (uint32_t)needs->element_count};
  uint64_t *sizes = hx_zalloc(size, sizeof *sizes), total = 0;
  s->wishes = hx_zalloc(size, sizeof *s->wishes);
  s->first = hx_zalloc(size, sizeof *s->first);
  if (sizes == NULL || s->wishes == NULL || s->first == NULL) {
    hx_free(sizes);
    return no_memory(s->report);
  }
  for (uint32_t r = 0; r < size; ++r) sizes[r] = sizeof mine;
  hx_status_t status = gather(s, &mine, s->wishes, sizes);
  for (uint32_t r = 0; status == HX_STATUS_OK && r < size; ++r) {
    s->first[r] = total;
    sizes[r] = (uint64_t)s->wishes[r].count * sizeof *s->elements;
    total += s->wishes[r].count;
    // There are not more Galois elements than this.
    if (s->wishes[r].count > (uint32_t)2 << s->layout.log_n)
      status = hx_report_fail(s->report, HX_CODE_LIMIT, "rank %u asks for %u rotation keys", r, s->wishes[r].count);
  }
  s->elements = status == HX_STATUS_OK ? hx_zalloc((size_t)total + 1, sizeof *s->elements) : NULL;
  if (status == HX_STATUS_OK && s->elements == NULL) status = no_memory(s->report);
  const uint64_t none = 0;  // plugins need not expect NULL, though 0 bytes of it
  const uint64_t *elements = needs->element_count == 0 ? &none : needs->elements;
  if (status == HX_STATUS_OK) status = gather(s, elements, s->elements, sizes);
  hx_free(sizes);
  return status;
}

// The key of a number among those that a rank asks for: relin, conj, then rotations.
static bool wished(const sharing_t *s, uint32_t rank, size_t number, hx_key_kind_t *out_kind, uint64_t *out_element) {
  const wish_t *wish = &s->wishes[rank];
  *out_element = 0;
  *out_kind = HX_KEY_RELIN;
  if ((wish->parts & HX_KEYS_RELIN) != 0 && number-- == 0) return true;
  *out_kind = HX_KEY_CONJ;
  if ((wish->parts & HX_KEYS_CONJ) != 0 && number-- == 0) return true;
  *out_kind = HX_KEY_GALOIS;
  if (number >= wish->count) return false;
  *out_element = s->elements[s->first[rank] + number];
  return true;
}

// ------------------------------------------------------------------ sets

static hx_switch_key_t *place_for(hx_keys_t *keys, hx_key_kind_t kind) {
  if (kind == HX_KEY_GALOIS) return &keys->galois[keys->galois_count++];
  hx_switch_key_t **place = kind == HX_KEY_RELIN ? &keys->relin : &keys->conj;
  *place = hx_zalloc(1, sizeof **place);
  return *place;
}

static uint32_t part_of(hx_key_kind_t kind) {
  return kind == HX_KEY_RELIN ? HX_KEYS_RELIN : kind == HX_KEY_CONJ ? HX_KEYS_CONJ : HX_KEYS_GALOIS;
}

// Takes the tensor's reference.
static hx_status_t add_key(const sharing_t *s, hx_keys_t *keys, hx_key_kind_t kind, uint64_t element,
                           hx_tensor_t *tensor, const uint8_t seed[32]) {
  hx_switch_key_t *place = place_for(keys, kind);
  if (place == NULL) {
    hx_tensor_release(tensor);
    return no_memory(s->report);
  }
  *place = (hx_switch_key_t){.kind = kind, .element = element, .tensor = tensor};
  memcpy(place->seed, seed, sizeof place->seed);
  keys->parts |= part_of(kind);
  return HX_STATUS_OK;
}

static hx_status_t create_set(const sharing_t *s, const uint8_t id[16], hx_keys_t **out) {
  hx_keys_t *keys = hx_keys_create(s->params, id);
  if (keys == NULL) return no_memory(s->report);
  keys->galois = hx_zalloc((size_t)s->wishes[s->group->rank].count + 1, sizeof *keys->galois);
  if (keys->galois == NULL) {
    hx_keys_release(keys);
    return no_memory(s->report);
  }
  *out = keys;
  return HX_STATUS_OK;
}

// What rank 0 needs itself, of what it has read.
static hx_status_t keep_own(const sharing_t *s, hx_keys_t **out) {
  hx_key_kind_t kind;
  uint64_t element;
  HX_TRY(create_set(s, s->all->id, out));
  for (size_t i = 0; wished(s, 0, i, &kind, &element); ++i) {
    const hx_switch_key_t *key = hx_keys_find(s->all, kind, element);
    if (key != NULL) HX_TRY(add_key(s, *out, kind, key->element, hx_tensor_retain(key->tensor), key->seed));
  }
  return HX_STATUS_OK;
}

static hx_status_t hand_out(const sharing_t *s, uint32_t to) {
  hx_key_kind_t kind;
  uint64_t element;
  notice_t notice = {0};
  memcpy(notice.id, s->all->id, sizeof notice.id);
  HX_TRY(give(s, to, &notice, sizeof notice));
  for (size_t i = 0; wished(s, to, i, &kind, &element); ++i) {
    const hx_switch_key_t *key = hx_keys_find(s->all, kind, element);
    notice.bytes = key == NULL ? 0 : s->bytes;
    if (key != NULL) memcpy(notice.seed, key->seed, sizeof notice.seed);
    HX_TRY(give(s, to, &notice, sizeof notice));
    if (key == NULL) continue;  // linking names it
    // Keys as they are read lie dense in host memory.
    HX_TRY(give(s, to, (const unsigned char *)key->tensor->storage->address + key->tensor->offset, s->bytes));
  }
  return HX_STATUS_OK;
}

static hx_status_t take_all(const sharing_t *s, hx_keys_t **out) {
  hx_key_kind_t kind;
  uint64_t element;
  notice_t notice;
  HX_TRY(take(s, &notice, sizeof notice));
  HX_TRY(create_set(s, notice.id, out));
  for (size_t i = 0; wished(s, s->group->rank, i, &kind, &element); ++i) {
    hx_tensor_t *tensor = NULL;
    HX_TRY(take(s, &notice, sizeof notice));
    if (notice.bytes == 0) continue;
    if (notice.bytes != s->bytes)
      return hx_report_fail(s->report, HX_CODE_RANK_MISMATCH, "a key has %llu bytes on rank 0, %llu are wanted",
                            (unsigned long long)notice.bytes, (unsigned long long)s->bytes);
    if (hx_tensor_create_unset(&s->layout, false, &tensor) != HX_STATUS_OK) return no_memory(s->report);
    const hx_status_t status = take(s, tensor->storage->address, s->bytes);
    if (status != HX_STATUS_OK) {
      hx_tensor_release(tensor);
      return status;
    }
    HX_TRY(add_key(s, *out, kind, element, tensor, notice.seed));
  }
  return HX_STATUS_OK;
}

static hx_status_t share(sharing_t *s, const hx_program_needs_t *needs, hx_keys_t **out) {
  HX_TRY(hx_group_enter(s->group, s->report));
  const char *digest = hx_params_digest_hex(s->params);
  hx_status_t status = hx_group_compare(s->group, digest, strlen(digest), HX_CODE_RANK_MISMATCH,
                                        "compare the parameters of all ranks", s->report);
  if (status == HX_STATUS_OK) status = gather_wishes(s, needs);
  if (s->group->rank > 0) {
    if (status == HX_STATUS_OK) status = take_all(s, out);
  } else {
    if (status == HX_STATUS_OK) status = keep_own(s, out);
    for (uint32_t r = 1; r < s->group->size && status == HX_STATUS_OK; ++r) status = hand_out(s, r);
  }
  hx_group_leave(s->group);
  return status;
}

static hx_layout_t layout_of(const hx_params_t *params) {
  hx_layout_t layout = {.dtype = hx_params_word(params) == 32 ? HX_U32 : HX_U64,
                        .log_n = hx_params_log_n(params),
                        .digits = hx_params_digits(params),
                        .components = 2,
                        .limbs = hx_params_q_count(params) + hx_params_p_count(params)};
  (void)hx_layout_pack(&layout);
  return layout;
}

hx_status_t hx_group_load_keys(hx_group_t *group, const char *directory, const hx_params_t *params,
                               const hx_program_needs_t *needs, const hx_load_options_t *options, hx_keys_t **out,
                               hx_report_t *report) {
  if (group == NULL || directory == NULL || params == NULL || needs == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_group_load_keys: an argument is NULL");
  sharing_t s = {.group = group, .params = params, .report = report, .layout = layout_of(params)};
  s.bytes = hx_layout_elements(&s.layout) * hx_dtype_bytes(s.layout.dtype);
  hx_keys_t *all = NULL, *keys = NULL;
  hx_status_t status = HX_STATUS_OK;
  if (group->rank == 0) status = hx_keys_load_with(directory, HX_KEYS_EVALUATION, options, &all, report);
  if (status == HX_STATUS_OK && all != NULL && !hx_params_same(hx_keys_params(all), params))
    status = hx_report_fail(report, HX_CODE_PARAMS_DIGEST, "keys of %s are of parameters %.16s..., not %.16s...",
                            directory, hx_params_digest_hex(hx_keys_params(all)), hx_params_digest_hex(params));
  s.all = all;
  status = hx_group_join(group, status, report);
  if (status == HX_STATUS_OK) status = share(&s, needs, &keys);
  hx_keys_release(all);
  hx_free(s.wishes);
  hx_free(s.first);
  hx_free(s.elements);
  if (status == HX_STATUS_OK) {
    *out = keys;
  } else {
    hx_keys_release(keys);
  }
  return status;
}
