// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "core/base/memory.h"
#include "heliox/plugin.h"

const char *hx_status_name(hx_status_t status) {
  static const char *const names[] = {
#define STATUS(id_, name_, doc_) [HX_STATUS_##id_] = (name_),
#include "heliox/status.def"
  };
  return (unsigned)status < HX_STATUS_COUNT ? names[status] : "unknown";
}

const char *hx_gate_name(hx_gate_t gate) {
  static const char *const names[] = {
#define GATE(id_, name_) [HX_GATE_##id_] = (name_),
#include "heliox/codes.def"
  };
  return (unsigned)gate < HX_GATE_COUNT ? names[gate] : "unknown";
}

static const hx_code_info_t code_infos[] = {
#define CODE(id_, word_, status_, gate_, meaning_, remedy_) \
  [HX_CODE_##id_] = {.code = HX_CODE_##id_,                 \
                     .word = (word_),                       \
                     .status = HX_STATUS_##status_,         \
                     .gate = HX_GATE_##gate_,               \
                     .meaning = (meaning_),                 \
                     .remedy = (remedy_)},
#include "heliox/codes.def"
};

const hx_code_info_t *hx_code_info(hx_code_t code) {
  return &code_infos[(unsigned)code < HX_CODE_COUNT ? code : HX_CODE_INTERNAL];
}

const hx_code_info_t *hx_code_find(const char *word) {
  if (word == NULL) return NULL;
  for (size_t i = 0; i < HX_CODE_COUNT; ++i) {
    if (strcmp(code_infos[i].word, word) == 0) return &code_infos[i];
  }
  return NULL;
}

const char *hx_version(void) { return HELIOX_VERSION; }

const char *hx_plugin_abi(void) { return HX_ABI_TEXT; }

hx_str_t hx_str(const char *text) {
  return (hx_str_t){.data = text == NULL ? "" : text, .size = text == NULL ? 0 : strlen(text)};
}

bool hx_str_equal(hx_str_t a, hx_str_t b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
