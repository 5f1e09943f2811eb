// SPDX-License-Identifier: Apache-2.0
#include "variant.h"

#include <stddef.h>
#include <string.h>

enum { PATH_INTEGER, PATH_REAL, PATH_TENSOR, PATH_WORD };

static const hx_cuda_variant_t variants[] = {
#define VARIANT(id_, name_, radix_, path_)                                                               \
  {name_, radix_, PATH_##path_ == PATH_REAL || PATH_##path_ == PATH_TENSOR, PATH_##path_ == PATH_TENSOR, \
   PATH_##path_ == PATH_WORD},
#include "variants.def"
};

static const struct {
  uint32_t arch_min, arch_max, word, log_n_min, log_n_max;
  hx_cuda_variant_id_t variant;
} choices[] = {
#define CHOICE(arch_min_, arch_max_, word_, log_n_min_, log_n_max_, id_) \
  {arch_min_, arch_max_, word_, log_n_min_, log_n_max_, HX_CUDA_VARIANT_##id_},
#include "choices.def"
};

const hx_cuda_variant_t *hx_cuda_variant_find(const char *name) {
  for (size_t i = 0; i < HX_CUDA_VARIANT_COUNT; i++) {
    if (strcmp(variants[i].name, name) == 0) {
      return &variants[i];
    }
  }
  return NULL;
}

const hx_cuda_variant_t *hx_cuda_variant_choose(uint32_t arch, uint32_t word, uint32_t log_n) {
  for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
    if (arch >= choices[i].arch_min && arch <= choices[i].arch_max && word == choices[i].word &&
        log_n >= choices[i].log_n_min && log_n <= choices[i].log_n_max) {
      return &variants[choices[i].variant];
    }
  }
  return &variants[HX_CUDA_VARIANT_INTEGER];
}

const char *hx_cuda_variant_names(void) {
  static const char names[] =
#define VARIANT(id_, name_, radix_, path_) " " name_
#include "variants.def"
      ;
  return names + 1;
}
