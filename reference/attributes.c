// SPDX-License-Identifier: Apache-2.0
// Attributes of an operation, by the names and kinds of the catalogue.
#include <string.h>

#include "reference/call.h"

const hx_attr *hx_ref_attr(const hx_ref_call *call, const char *name) {
  for (uint32_t i = 0; i < call->op->attr_count; ++i)
    if (call->op->attrs[i].name != NULL && strcmp(call->op->attrs[i].name, name) == 0) return &call->op->attrs[i];
  return NULL;
}

// The attribute, required, of a kind and with at least one element.
static int32_t find(const hx_ref_call *call, const char *name, uint32_t kind, const hx_attr **out) {
  static const char *const kinds[] = {"?", "i64", "u64", "f64", "text"};
  const hx_attr *attr = hx_ref_attr(call, name);
  if (attr == NULL) return hx_ref_refuse(call, HX_INVALID, "attribute %s is missing", name);
  if (attr->kind != kind)
    return hx_ref_refuse(call, HX_INVALID, "attribute %s is of kind %s, must be %s", name,
                         kinds[attr->kind <= HX_ATTR_TEXT ? attr->kind : 0], kinds[kind]);
  if (attr->count == 0 || attr->data == NULL) return hx_ref_refuse(call, HX_INVALID, "attribute %s is empty", name);
  *out = attr;
  return HX_OK;
}

int32_t hx_ref_attr_i64(const hx_ref_call *call, const char *name, int64_t low, int64_t high, int64_t *out) {
  const hx_attr *attr = NULL;
  HX_REF_TRY(find(call, name, HX_ATTR_I64, &attr));
  const int64_t value = *(const int64_t *)attr->data;
  if (attr->count != 1)
    return hx_ref_refuse(call, HX_INVALID, "attribute %s has %u numbers, must have 1", name, attr->count);
  if (value < low || value > high)
    return hx_ref_refuse(call, HX_INVALID, "attribute %s is %lld, must be from %lld to %lld", name, (long long)value,
                         (long long)low, (long long)high);
  *out = value;
  return HX_OK;
}

int32_t hx_ref_attr_steps(hx_ref_call *call) {
  const hx_attr *attr = NULL;
  HX_REF_TRY(find(call, "steps", HX_ATTR_I64, &attr));
  call->steps = attr->data;
  call->step_count = attr->count;
  return HX_OK;
}

int32_t hx_ref_attr_ids(hx_ref_call *call, const char *name) {
  const hx_attr *attr = NULL;
  HX_REF_TRY(find(call, name, HX_ATTR_I64, &attr));
  const int64_t *ids = attr->data;
  const int64_t primes = (int64_t)call->ring->q_count + call->ring->p_count;
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (ids[i] < 0 || ids[i] >= primes)
      return hx_ref_refuse(call, HX_INVALID, "attribute %s names prime %lld, the ring has %lld primes", name,
                           (long long)ids[i], (long long)primes);
    if (i != 0 && ids[i] <= ids[i - 1])
      return hx_ref_refuse(call, HX_INVALID, "attribute %s has prime %lld after prime %lld, ids must ascend", name,
                           (long long)ids[i], (long long)ids[i - 1]);
    call->ids[i] = (uint32_t)ids[i];  // ascending and in range, so there are no more than the ring has
  }
  call->id_count = attr->count;
  return HX_OK;
}

int32_t hx_ref_attr_residues(hx_ref_call *call, uint32_t words, uint32_t id_count, const uint32_t *ids) {
  const hx_attr *attr = NULL;
  HX_REF_TRY(find(call, "residues", HX_ATTR_U64, &attr));
  if (attr->count != words * id_count)
    return hx_ref_refuse(call, HX_INVALID, "attribute residues has %u words, must have %u: %u a row", attr->count,
                         words * id_count, words);
  const uint64_t *residues = attr->data;
  for (uint32_t i = 0; i < attr->count; ++i) {
    const uint64_t q = prime_of(call->ring, ids[i / words])->q;
    if (residues[i] >= q)
      return hx_ref_refuse(call, HX_INVALID, "attribute residues has %llu for row %u, must be below its prime %llu",
                           (unsigned long long)residues[i], i / words, (unsigned long long)q);
  }
  call->residues = residues;
  return HX_OK;
}

int32_t hx_ref_attr_is_text(const hx_attr *attr, const char *text) {
  return attr->kind == HX_ATTR_TEXT && attr->count == strlen(text) && memcmp(attr->data, text, attr->count) == 0;
}

int32_t hx_ref_attr_rounding(hx_ref_call *call) {
  const hx_attr *attr = NULL;
  HX_REF_TRY(find(call, "rounding", HX_ATTR_TEXT, &attr));
  call->rounding = hx_ref_attr_is_text(attr, "nearest")      ? HX_REF_NEAREST
                   : hx_ref_attr_is_text(attr, "truncating") ? HX_REF_TRUNCATING
                                                             : 0;
  if (call->rounding == 0)
    return hx_ref_refuse(call, HX_INVALID, "attribute rounding is \"%.*s\", must be nearest or truncating",
                         (int)(attr->count < 32 ? attr->count : 32), (const char *)attr->data);
  return HX_OK;
}

int32_t hx_ref_attr_domain(const hx_ref_call *call, uint32_t *out) {
  *out = HX_NTT;
  if (hx_ref_attr(call, "output_domain") == NULL) return HX_OK;
  const hx_attr *attr = NULL;
  HX_REF_TRY(find(call, "output_domain", HX_ATTR_TEXT, &attr));
  if (hx_ref_attr_is_text(attr, "ntt")) return HX_OK;
  *out = HX_COEFFICIENT;
  if (hx_ref_attr_is_text(attr, "coefficient")) return HX_OK;
  return hx_ref_refuse(call, HX_INVALID, "attribute output_domain is \"%.*s\", must be ntt or coefficient",
                       (int)(attr->count < 32 ? attr->count : 32), (const char *)attr->data);
}
