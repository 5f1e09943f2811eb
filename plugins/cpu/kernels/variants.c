// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "heliox/support/error.h"
#include "kernels/features.h"

typedef enum family { NTT, POINTWISE, CONVERT, RAISE, PERMUTE, EXPAND, FAMILY_COUNT } family_t;

typedef struct variant {
  family_t family;
  const char *name;
  uint32_t word, bits;
  bool (*usable)(void);
  const void *kernels;
} variant_t;

static const variant_t variants[] = {
#define VARIANT(family_, name_, word_, bits_, usable_, kernels_) \
  {family_, name_, word_, bits_, hx_cpu_has_##usable_, &kernels_},
#include "kernels/variants.def"
};
static const size_t variant_count = sizeof variants / sizeof variants[0];

// Whether the comma list has the name of `length` bytes.
static bool list_has(const char *list, const char *name, size_t length) {
  while (*list != 0) {
    size_t item = strcspn(list, ",");
    if (item == length && memcmp(list, name, length) == 0) {
      return true;
    }
    list += item;
    list += *list == ',';
  }
  return false;
}

static bool exists(const char *name, size_t length) {
  for (size_t i = 0; i < variant_count; i++) {
    if (strlen(variants[i].name) == length && memcmp(variants[i].name, name, length) == 0) {
      return true;
    }
  }
  return false;
}

// "portable, avx2": every name once.
static void print_names(char *out, size_t room) {
  size_t used = 0;
  out[0] = 0;
  for (size_t i = 0; i < variant_count; i++) {
    bool seen = false;
    for (size_t k = 0; k < i && !seen; k++) {
      seen = strcmp(variants[k].name, variants[i].name) == 0;
    }
    if (!seen && used < room) {
      int written = snprintf(out + used, room - used, "%s%s", used > 0 ? ", " : "", variants[i].name);
      used += written > 0 ? (size_t)written : 0;
    }
  }
}

int32_t hx_cpu_mask_check(const char *mask, hx_error *error) {
  while (*mask != 0) {
    size_t length = strcspn(mask, ",");
    if (!exists(mask, length)) {
      char names[128];
      print_names(names, sizeof names);
      return hxs_fail(error, HX_INVALID,
                      "option cpu-mask names the variant '%.*s', which does not exist; there are: %s",
                      (int)(length < 40 ? length : 40), mask, names);
    }
    mask += length;
    mask += *mask == ',';
  }
  return HX_OK;
}

static const void *find(family_t family, const char *mask, const char *pin, uint32_t word, uint32_t bits) {
  for (size_t i = 0; i < variant_count; i++) {
    const variant_t *v = &variants[i];
    bool allowed = pin != NULL ? strcmp(pin, v->name) == 0 : mask[0] == 0 || list_has(mask, v->name, strlen(v->name));
    if (v->family == family && v->word == word && v->bits >= bits && allowed && v->usable()) {
      return v->kernels;
    }
  }
  return NULL;
}

static bool family_has(family_t family, const char *name, uint32_t word) {
  for (size_t i = 0; i < variant_count; i++) {
    if (variants[i].family == family && variants[i].word == word && strcmp(variants[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

int32_t hx_cpu_kernels_select(const char *mask, const char *pin, uint32_t word, uint32_t bits, hx_cpu_kernels_t *out,
                              hx_error *error) {
  char names[128];
  print_names(names, sizeof names);
  if (pin != NULL && !exists(pin, strlen(pin))) {
    return hxs_fail(error, HX_UNSUPPORTED, "variant '%.40s' does not exist; there are: %s", pin, names);
  }
  const void *chosen[FAMILY_COUNT];
  for (int family = 0; family < FAMILY_COUNT; family++) {
    bool has = pin == NULL || family_has((family_t)family, pin, word);
    chosen[family] = find((family_t)family, mask, has ? pin : "portable", word, bits);
    if (chosen[family] == NULL) {
      return hxs_fail(error, HX_UNSUPPORTED,
                      "no variant for primes of %u bits in %u-bit words (asked for: %s; cpu-mask: %s); there are: %s",
                      bits, word, pin != NULL ? pin : "any", mask[0] != 0 ? mask : "unset", names);
    }
  }
  out->ntt = chosen[NTT];
  out->pointwise = chosen[POINTWISE];
  out->convert = chosen[CONVERT];
  out->raise = chosen[RAISE];
  out->permute = chosen[PERMUTE];
  out->expand = chosen[EXPAND];
  return HX_OK;
}
