// SPDX-License-Identifier: Apache-2.0
// Types and scales as text: whatever parses has to print, reparse to the same type, and pass its own checks.
#include <stdlib.h>

#include "core/base/text.h"
#include "core/ops/ops.h"

static const uint64_t primes[] = {0xffffffffffffa21, 0x3fffffffffea1, 0x3fffffffffe41, 0x7fffffffffff81};
static const uint32_t groups[] = {1, 1, 1};
static const hx_ring ring = {.struct_size = sizeof(hx_ring),
                             .log_n = 4,
                             .word = 64,
                             .q_count = 3,
                             .p_count = 1,
                             .digit_run = 1,
                             .group_count = 3,
                             .primes = primes,
                             .group_sizes = groups};

static void check_type(const hx_type_t *type, const hx_ring *under,
                       hx_status_t (*print)(const hx_type_t *, hx_text_t *)) {
  hx_text_t text;
  hx_type_t again;
  hx_text_init(&text);
  if (print(type, &text) != HX_STATUS_OK) abort();
  if (hx_type_parse((hx_str_t){.data = text.data, .size = text.size}, under, &again, NULL) != HX_STATUS_OK) abort();
  if (!hx_type_equal(type, &again)) abort();
  hx_text_deinit(&text);
}

static void check_scale(hx_str_t text, const hx_ring *under) {
  hx_scale_t scale, square;
  char printed[HX_SCALE_TEXT_MAX];
  if (hx_scale_parse(text, under, &scale, NULL) != HX_STATUS_OK) return;
  // Canonical text is the only text.
  if (!hx_str_equal(text, (hx_str_t){.data = printed, .size = hx_scale_print(&scale, printed)})) abort();
  double hi = 0, lo = 0;
  (void)hx_scale_value(&scale, under, &hi, &lo, NULL);
  (void)hx_scale_multiply(&scale, &scale, &square, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const hx_str_t text = {.data = (const char *)data, .size = size};
  const hx_ring *const rings[] = {NULL, &ring};
  for (size_t i = 0; i < 2; ++i) {
    hx_type_t type;
    hx_report_t *report = hx_report_create();
    if (hx_type_parse(text, rings[i], &type, report) == HX_STATUS_OK) {
      check_type(&type, rings[i], hx_type_print);
      check_type(&type, rings[i], hx_type_print_short);
      hx_type_derive(&type, rings[i]);
      (void)hx_type_is_complete(&type);
    } else if (hx_report_count(report) != 1) {
      abort();
    }
    hx_report_release(report);
    check_scale(text, rings[i]);
  }
  return 0;
}
