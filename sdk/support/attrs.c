// SPDX-License-Identifier: Apache-2.0
// Attributes of the operation being prepared, by name and kind.
#include <string.h>

#include "heliox/support/prepare.h"

const hx_attr *hxs_attr_find(const hxs_build *build, const char *name) {
  const hx_op *op = build->op;
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const hx_attr *attr = hxs_op_attr(op, i);
    if (strcmp(attr->name, name) == 0) {
      return attr;
    }
  }
  return NULL;
}

static int32_t find_kind(const hxs_build *build, const char *name, uint32_t kind, const hx_attr **out) {
  static const char *const kinds[] = {"unknown", "i64", "u64", "f64", "text"};
  const hx_attr *attr = hxs_attr_find(build, name);
  if (attr == NULL) {
    return hxs_refuse(build, HX_INVALID, "attribute %s is missing", name);
  }
  if (attr->kind != kind || attr->count == 0 || attr->data == NULL) {
    return hxs_refuse(build, HX_INVALID, "attribute %s is %u values of kind %s, must be one or more of kind %s", name,
                      attr->count, kinds[attr->kind <= HX_ATTR_TEXT ? attr->kind : 0], kinds[kind]);
  }
  *out = attr;
  return HX_OK;
}

int32_t hxs_attr_i64(const hxs_build *build, const char *name, int64_t low, int64_t high, int64_t *out) {
  const hx_attr *attr = NULL;
  HXS_TRY(find_kind(build, name, HX_ATTR_I64, &attr));
  if (attr->count != 1) {
    return hxs_refuse(build, HX_INVALID, "attribute %s has %u numbers, must have 1", name, attr->count);
  }
  int64_t value = 0;
  memcpy(&value, attr->data, sizeof value);
  if (value < low || value > high) {
    return hxs_refuse(build, HX_INVALID, "attribute %s is %lld, must be from %lld to %lld", name, (long long)value,
                      (long long)low, (long long)high);
  }
  *out = value;
  return HX_OK;
}

int32_t hxs_attr_ids(const hxs_build *build, const char *name, uint32_t *out_ids, uint32_t *out_count) {
  const hx_attr *attr = NULL;
  HXS_TRY(find_kind(build, name, HX_ATTR_I64, &attr));
  const int64_t *ids = attr->data;
  const int64_t primes = hxs_ring_primes(build->ring);
  for (uint32_t i = 0; i < attr->count; i++) {
    if (ids[i] < 0 || ids[i] >= primes) {
      return hxs_refuse(build, HX_INVALID, "attribute %s names prime %lld, the ring has primes 0 to %lld", name,
                        (long long)ids[i], (long long)primes - 1);
    }
    if (i > 0 && ids[i] <= ids[i - 1]) {
      return hxs_refuse(build, HX_INVALID, "attribute %s has prime %lld after prime %lld; ids must ascend", name,
                        (long long)ids[i], (long long)ids[i - 1]);
    }
    out_ids[i] = (uint32_t)ids[i];  // ascending and below the ring's count: at most that many
  }
  *out_count = attr->count;
  return HX_OK;
}

bool hxs_attr_is_text(const hx_attr *attr, const char *text) {
  return attr->kind == HX_ATTR_TEXT && attr->data != NULL && attr->count == strlen(text) &&
         memcmp(attr->data, text, attr->count) == 0;
}

int32_t hxs_attr_rounding(const hxs_build *build, bool *out_nearest) {
  const hx_attr *attr = NULL;
  HXS_TRY(find_kind(build, "rounding", HX_ATTR_TEXT, &attr));
  *out_nearest = hxs_attr_is_text(attr, "nearest");
  if (!*out_nearest && !hxs_attr_is_text(attr, "truncating")) {
    return hxs_refuse(build, HX_INVALID, "attribute rounding is \"%.*s\", must be nearest or truncating",
                      (int)(attr->count < 32 ? attr->count : 32), (const char *)attr->data);
  }
  return HX_OK;
}

int32_t hxs_attr_residues(const hxs_build *build, uint32_t words, const hxs_view *view, const uint64_t **out) {
  const hx_attr *attr = NULL;
  HXS_TRY(find_kind(build, "residues", HX_ATTR_U64, &attr));
  if (attr->count != words * view->limbs) {
    return hxs_refuse(build, HX_INVALID, "attribute residues has %u words, must have %u, %u for each row", attr->count,
                      words * view->limbs, words);
  }
  const uint64_t *residues = attr->data;
  for (uint32_t i = 0; i < attr->count; i++) {
    const uint64_t q = build->ring->moduli[view->ids[i / words]].q;
    if (residues[i] >= q) {
      return hxs_refuse(build, HX_INVALID, "attribute residues has %llu for row %u, must be below its prime %llu",
                        (unsigned long long)residues[i], i / words, (unsigned long long)q);
    }
  }
  *out = residues;
  return HX_OK;
}
