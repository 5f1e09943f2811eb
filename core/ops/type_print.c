// SPDX-License-Identifier: Apache-2.0
// The text form of types.
#include "core/ops/parts.h"

static const char *const dtype_words[] = {
    NULL, [HX_U64] = "u64", [HX_U32] = "u32", [HX_I64] = "i64", [HX_F64] = "f64", [HX_U8] = "u8"};
static const char *const basis_words[] = {NULL, [HX_BASIS_Q] = "Q", [HX_BASIS_P] = "P", [HX_BASIS_QP] = "QP"};
static const char *const domain_words[] = {NULL, [HX_COEFFICIENT] = "coefficient", [HX_NTT] = "ntt"};
static const char *const repr_words[] = {
    NULL, [HX_STANDARD] = "standard", [HX_LAZY] = "lazy", [HX_MONTGOMERY] = "montgomery"};

const char *const *hx_part_words(hx_part_t part, size_t *out_count) {
  switch (part) {
    case HX_PART_DTYPE:
      *out_count = HX_COUNT_OF(dtype_words);
      return dtype_words;
    case HX_PART_BASIS:
      *out_count = HX_COUNT_OF(basis_words);
      return basis_words;
    case HX_PART_DOMAIN:
      *out_count = HX_COUNT_OF(domain_words);
      return domain_words;
    case HX_PART_REPR:
      *out_count = HX_COUNT_OF(repr_words);
      return repr_words;
    default:
      *out_count = 0;
      return NULL;
  }
}

void hx_part_print(hx_part_t part, const hx_type_t *type, hx_text_t *out) {
  if (!hx_type_knows(type, part)) {
    hx_text_puts(out, "?");
    return;
  }
  if (part == HX_PART_BATCH) {
    hx_text_puts(out, "[");
    for (uint32_t i = 0; i < type->batch_rank; ++i) {
      hx_text_printf(out, "%s%llu", i == 0 ? "" : ", ", (unsigned long long)type->batch_shape[i]);
    }
    hx_text_puts(out, "]");
  } else if (part == HX_PART_PRIMES) {
    uint32_t ids[HX_PRIMES_MAX];
    const uint32_t count = hx_primes_list(&type->primes, ids);
    hx_text_puts(out, "[");
    for (uint32_t i = 0; i < count; ++i) hx_text_printf(out, "%s%u", i == 0 ? "" : ", ", ids[i]);
    hx_text_puts(out, "]");
  } else if (part == HX_PART_SCALE) {
    char text[HX_SCALE_TEXT_MAX];
    const size_t size = hx_scale_print(&type->scale, text);
    hx_text_puts(out, "\"");
    hx_text_append(out, (hx_str_t){.data = text, .size = size});
    hx_text_puts(out, "\"");
  } else {
    size_t count = 0;
    const uint32_t value = hx_type_get_word(type, part);
    const char *const *words = hx_part_words(part, &count);
    if (words == NULL) {
      hx_text_printf(out, "%u", value);
    } else {
      hx_text_puts(out, value < count && words[value] != NULL ? words[value] : "?");
    }
  }
}

static void print_parts(const hx_type_t *type, bool all, hx_text_t *out) {
  const char *separator = "";
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    if ((hx_type_parts(type->kind) & hx_part_bit(part)) == 0) continue;
    if (!all && !hx_type_knows(type, part)) continue;
    hx_text_printf(out, "%s%s = ", separator, hx_part_name(part));
    hx_part_print(part, type, out);
    separator = ", ";
  }
}

static void print_key(const hx_type_t *type, bool all, hx_text_t *out) {
  static const char *const kinds[] = {
      [HX_KEY_NONE] = "?",        [HX_KEY_RELIN] = "relin",   [HX_KEY_GALOIS] = "galois", [HX_KEY_CONJ] = "conj",
      [HX_KEY_SWITCH] = "switch", [HX_KEY_PUBLIC] = "public", [HX_KEY_SECRET] = "secret"};
  hx_text_puts(out, "!ckks.key<");
  if (all || type->key_kind != HX_KEY_NONE) hx_text_printf(out, "kind = %s", kinds[type->key_kind]);
  if (type->key_kind == HX_KEY_GALOIS) {
    if (type->element != 0) hx_text_printf(out, ", element = %llu", (unsigned long long)type->element);
    if (type->element == 0 && all) hx_text_puts(out, ", element = ?");
  }
  hx_text_puts(out, ">");
}

static void print_message(const hx_type_t *type, hx_text_t *out) {
  hx_text_puts(out, "tensor<");
  if (type->count != 0) hx_text_printf(out, "%llu", (unsigned long long)type->count);
  if (type->count == 0) hx_text_puts(out, "?");
  hx_text_puts(out, type->is_complex ? "xcomplex<f64>>" : "xf64>");
}

static void print_integer(const hx_type_t *type, hx_text_t *out) {
  const char *prefix = type->signedness == HX_SIGNED ? "s" : type->signedness == HX_UNSIGNED ? "u" : "";
  hx_text_printf(out, "%si%u", prefix, type->bits);
}

static hx_status_t print(const hx_type_t *type, bool all, hx_text_t *out) {
  switch (type->kind) {
    case HX_TYPE_CIPHERTEXT:
    case HX_TYPE_PLAINTEXT:
    case HX_TYPE_TENSOR:
      hx_text_puts(out, type->kind == HX_TYPE_CIPHERTEXT  ? "!ckks.ciphertext<"
                        : type->kind == HX_TYPE_PLAINTEXT ? "!ckks.plaintext<"
                                                          : "!rns.tensor<");
      print_parts(type, all, out);
      hx_text_puts(out, ">");
      break;
    case HX_TYPE_KEY:
      print_key(type, all, out);
      break;
    case HX_TYPE_MESSAGE:
      print_message(type, out);
      break;
    case HX_TYPE_SEED:
      hx_text_puts(out, "tensor<32xui8>");
      break;
    case HX_TYPE_INTEGER:
      print_integer(type, out);
      break;
    case HX_TYPE_INDEX:
      hx_text_puts(out, "index");
      break;
    case HX_TYPE_F64:
      hx_text_puts(out, "f64");
      break;
    case HX_TYPE_HANDLE:
      if (type->name[0] != '\0') hx_text_printf(out, "!resource.handle<kind = \"%s\">", type->name);
      if (type->name[0] == '\0') hx_text_puts(out, all ? "!resource.handle<kind = ?>" : "!resource.handle<>");
      break;
    default:
      return HX_STATUS_INVALID;
  }
  return out->failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

hx_status_t hx_type_print(const hx_type_t *type, struct hx_text *out) { return print(type, true, out); }

hx_status_t hx_type_print_short(const hx_type_t *type, struct hx_text *out) { return print(type, false, out); }
