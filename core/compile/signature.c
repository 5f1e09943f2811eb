// SPDX-License-Identifier: Apache-2.0
// Matching is on the way of every call, so it reads fields directly and allocates nothing.
#include "core/compile/signature.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;  // odd, from the golden ratio: spreads low bits upwards
  return hash ^ (hash >> 29);
}

static bool has_state(const hx_type_t *type) {
  return type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT || type->kind == HX_TYPE_TENSOR;
}

// A few words that differ between most calls; what it leaves out is compared.
static uint64_t hash_value(uint64_t hash, const hx_value_t *value, bool is_static) {
  const hx_type_t *type = &value->type;
  const hx_layout_t *layout = &value->tensor->layout;
  hash = mix(hash, (uint64_t)type->kind << 56 | (uint64_t)type->depth << 40 | (uint64_t)type->components << 32 |
                       (uint64_t)type->domain << 28 | (uint64_t)type->repr << 24 | (uint64_t)type->basis << 20 |
                       (uint64_t)value->secret << 16 | type->batch_rank);
  hash = mix(hash, (uint64_t)type->slots << 32 | layout->limbs);
  hash = mix(hash, type->scale.m[0] ^ (uint64_t)type->scale.e << 32 ^ type->scale.term_count);
  for (uint32_t axis = 0; axis < type->batch_rank; ++axis) hash = mix(hash, type->batch_shape[axis]);
  hash = mix(hash, (uint64_t)(uintptr_t)value->tensor->storage->device ^ layout->component_stride);
  return is_static ? mix(hash, (uint64_t)hx_value_word(value)) : hash;
}

uint64_t hx_signature_hash(const hx_value_t *const *values, const bool *is_static, size_t count) {
  uint64_t hash = count;
  for (size_t i = 0; i < count; ++i) hash = hash_value(hash, values[i], is_static != NULL && is_static[i]);
  return hash;
}

// Complete types: every field that the kind has is known, the others are zero.
static bool same_type(const hx_type_t *a, const hx_type_t *b) {
  if (a->kind != b->kind || a->known != b->known) return false;
  if (!has_state(a)) return hx_type_equal(a, b);
  return a->depth == b->depth && a->components == b->components && a->slots == b->slots && a->domain == b->domain &&
         a->basis == b->basis && a->repr == b->repr && a->dtype == b->dtype && a->batch_rank == b->batch_rank &&
         memcmp(a->batch_shape, b->batch_shape, a->batch_rank * sizeof a->batch_shape[0]) == 0 &&
         memcmp(a->primes.bits, b->primes.bits, sizeof a->primes.bits) == 0 && hx_scale_equal(&a->scale, &b->scale);
}

static bool fits(const hx_signature_argument_t *argument, const hx_value_t *value) {
  return argument->secret == value->secret && argument->device == value->tensor->storage->device &&
         (!argument->is_static || argument->number == hx_value_word(value)) &&
         same_type(&argument->type, &value->type) && hx_layout_equal(&argument->layout, &value->tensor->layout);
}

bool hx_signature_fits(const hx_signature_t *signature, uint64_t hash, const hx_value_t *const *values) {
  if (signature->hash != hash) return false;
  for (size_t i = 0; i < signature->count; ++i) {
    if (!fits(&signature->arguments[i], values[i])) return false;
  }
  return true;
}

hx_status_t hx_signature_create(const hx_value_t *const *values, const bool *is_static, size_t count,
                                hx_signature_t **out) {
  hx_signature_t *signature = hx_zalloc(1, sizeof *signature);
  hx_signature_argument_t *arguments = hx_zalloc(count + 1, sizeof *arguments);
  if (signature == NULL || arguments == NULL) {
    hx_free(signature);
    hx_free(arguments);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < count; ++i) {
    hx_signature_argument_t *argument = &arguments[i];
    hx_type_copy(&argument->type, &values[i]->type);
    argument->layout = values[i]->tensor->layout;
    argument->device = values[i]->tensor->storage->device;
    argument->secret = values[i]->secret;
    argument->is_static = is_static != NULL && is_static[i];
    argument->number = argument->is_static ? hx_value_word(values[i]) : 0;
  }
  *signature =
      (hx_signature_t){.hash = hx_signature_hash(values, is_static, count), .count = count, .arguments = arguments};
  hx_text_init(&signature->text);
  *out = signature;
  return HX_STATUS_OK;
}

void hx_signature_release(hx_signature_t *signature) {
  if (signature == NULL) return;
  hx_text_deinit(&signature->text);
  hx_free(signature->arguments);
  hx_free(signature);
}

static void print_argument(const hx_signature_argument_t *argument, hx_text_t *out) {
  if (!argument->is_static) {
    if (hx_type_print(&argument->type, out) != HX_STATUS_OK) hx_text_puts(out, "?");
    if (argument->secret) hx_text_puts(out, " secret");
    if (argument->device != NULL) hx_text_puts(out, " on a device");
    return;
  }
  if (argument->type.kind == HX_TYPE_F64) {
    double number;
    memcpy(&number, &argument->number, sizeof number);
    hx_text_printf(out, "%.17g", number);
    return;
  }
  hx_text_printf(out, "%lld", (long long)argument->number);
}

void hx_signature_print(const hx_signature_t *signature, hx_text_t *out) {
  hx_text_puts(out, "(");
  for (size_t i = 0; i < signature->count; ++i) {
    if (i > 0) hx_text_puts(out, ", ");
    print_argument(&signature->arguments[i], out);
  }
  hx_text_puts(out, ")");
}

size_t hx_signature_count(const hx_signature_t *signature) { return signature->count; }

const char *hx_signature_type(const hx_signature_t *signature, size_t index) {
  hx_text_t *text = &((hx_signature_t *)(uintptr_t)signature)->text;  // kept here for the caller; one thread asks
  if (index >= signature->count) return "";
  hx_text_clear(text);
  (void)hx_type_print(&signature->arguments[index].type, text);
  return text->failed || text->data == NULL ? "" : text->data;
}

bool hx_signature_number(const hx_signature_t *signature, size_t index, int64_t *out) {
  if (index >= signature->count || !signature->arguments[index].is_static) return false;
  *out = signature->arguments[index].number;
  return true;
}
