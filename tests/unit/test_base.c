// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "core/base/log.h"
#include "core/base/text.h"

static void codes_have_distinct_words_and_complete_rows(void **state) {
  (void)state;
  for (int i = 0; i < HX_CODE_COUNT; ++i) {
    const hx_code_info_t *info = hx_code_info((hx_code_t)i);
    assert_int_equal(info->code, i);
    assert_true(strlen(info->word) > 0 && strlen(info->meaning) > 0 && strlen(info->remedy) > 0);
    assert_ptr_equal(hx_code_find(info->word), info);  // the first row of a word is this one: words are distinct
    assert_true(i == HX_CODE_NONE || info->status != HX_STATUS_OK);
  }
  assert_null(hx_code_find("no-such-code"));
  assert_null(hx_code_find(NULL));
  assert_int_equal(hx_code_info((hx_code_t)100000)->code, HX_CODE_INTERNAL);
  assert_string_equal(hx_status_name(HX_STATUS_OUT_OF_MEMORY), "out-of-memory");
  assert_string_equal(hx_status_name((hx_status_t)999), "unknown");
  assert_string_equal(hx_gate_name(HX_GATE_FILE_SAFETY), "file-safety");
}

static void report_keeps_faults_in_order_and_escapes_control_bytes(void **state) {
  (void)state;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_report_fail(report, HX_CODE_SCALE_MISMATCH, "scales %s and %s", "2^40", "2^41"),
                   HX_STATUS_INVALID);
  assert_int_equal(hx_report_fail_at(report, HX_CODE_SYNTAX, "a.mlir", 3, 7, "bad\x1b[31m byte"), HX_STATUS_INVALID);
  assert_int_equal(hx_report_count(report), 2);
  assert_string_equal(hx_report_get(report, 0)->text, "scales 2^40 and 2^41");
  assert_string_equal(hx_report_get(report, 0)->hint, "");
  assert_string_equal(hx_report_get(report, 1)->text, "bad\\x1b[31m byte");
  assert_string_equal(hx_report_get(report, 1)->source, "a.mlir");
  assert_int_equal(hx_report_get(report, 1)->line, 3);
  assert_null(hx_report_get(report, 2));
  hx_report_clear(report);
  assert_int_equal(hx_report_count(report), 0);
  hx_report_release(report);
}

static void report_accepts_null_and_bounds_text(void **state) {
  (void)state;
  assert_int_equal(hx_report_fail(NULL, HX_CODE_IO, "x"), HX_STATUS_IO);
  hx_report_release(NULL);
  hx_report_t *report = hx_report_create();
  char *large = hx_alloc(100001);
  memset(large, 'a', 100000);
  large[100000] = '\0';
  hx_report_add(report, &(hx_fault_t){.code = HX_CODE_IO, .text = large});
  assert_true(strlen(hx_report_get(report, 0)->text) <= 4100);
  for (int i = 0; i < 20000; ++i) hx_report_fail(report, HX_CODE_IO, "again");
  assert_int_equal(hx_report_count(report), 10000);
  hx_free(large);
  hx_report_release(report);
}

static void report_survives_allocation_failures(void **state) {
  (void)state;
  for (uint64_t n = 1; n < 12; ++n) {
    hx_alloc_fail_at(n);
    hx_report_t *report = hx_report_create();
    if (report != NULL) {
      assert_int_equal(hx_report_fail(report, HX_CODE_IO, "a text"), HX_STATUS_IO);
      assert_int_equal(hx_report_fail(report, HX_CODE_IO, "a second text"), HX_STATUS_IO);
    }
    hx_report_release(report);
    hx_alloc_fail_at(0);
  }
}

static void arena_gives_zeroed_aligned_memory_of_any_size(void **state) {
  (void)state;
  hx_arena_t arena;
  hx_arena_init(&arena);
  unsigned char *small = hx_arena_alloc(&arena, 3), *large = hx_arena_alloc(&arena, 1 << 20),
                *again = hx_arena_alloc(&arena, 5);
  assert_non_null(small);
  assert_non_null(large);
  assert_int_equal((uintptr_t)small % 16, 0);
  assert_int_equal((uintptr_t)large % 16, 0);
  for (size_t i = 0; i < (1 << 20); ++i) assert_int_equal(large[i], 0);
  assert_ptr_equal(again, small + 16);  // a large object does not end the current block
  assert_null(hx_arena_alloc(&arena, SIZE_MAX));
  const hx_str_t copy = hx_arena_str(&arena, hx_str("name"));
  assert_string_equal(copy.data, "name");
  hx_alloc_fail_at(1);
  assert_null(hx_arena_alloc(&arena, 1 << 20));
  hx_alloc_fail_at(0);
  hx_arena_deinit(&arena);
}

static void text_grows_and_stays_failed_after_exhaustion(void **state) {
  (void)state;
  hx_text_t text;
  hx_text_init(&text);
  for (int i = 0; i < 1000; ++i) hx_text_printf(&text, "%d,", i);
  assert_int_equal(text.size, 10 * 2 + 90 * 3 + 900 * 4);
  hx_text_clear(&text);
  hx_text_json(&text, hx_str("a\"b\\c\n\x01"));
  assert_string_equal(text.data, "\"a\\\"b\\\\c\\n\\u0001\"");
  char *taken = hx_text_take(&text);
  assert_string_equal(taken, "\"a\\\"b\\\\c\\n\\u0001\"");
  hx_free(taken);
  hx_alloc_fail_at(1);
  hx_text_puts(&text, "lost");
  hx_alloc_fail_at(0);
  hx_text_puts(&text, "more");
  assert_true(text.failed);
  assert_null(hx_text_take(&text));
}

static void grow_keeps_contents_and_refuses_overflow(void **state) {
  (void)state;
  uint32_t *array = NULL;
  size_t capacity = 0;
  for (uint32_t i = 0; i < 100; ++i) {
    assert_int_equal(hx_grow(&array, &capacity, i + 1, sizeof *array), HX_STATUS_OK);
    array[i] = i;
  }
  for (uint32_t i = 0; i < 100; ++i) assert_int_equal(array[i], i);
  assert_int_equal(hx_grow(&array, &capacity, SIZE_MAX, sizeof *array), HX_STATUS_OUT_OF_MEMORY);
  assert_int_equal(array[99], 99);
  hx_free(array);
}

typedef struct {
  int lines;
  char last[64];
} heard_t;

static void hear(void *argument, int level, const char *area, const char *text) {
  (void)level;
  heard_t *heard = argument;
  ++heard->lines;
  snprintf(heard->last, sizeof heard->last, "%s: %s", area, text);
}

static void log_filter_selects_by_area_and_refuses_unknown_levels(void **state) {
  (void)state;
  heard_t heard = {0};
  hx_log_set_sink(hear, &heard);
  hx_log(3, "link", "nobody asked for %s", "this");
  assert_int_equal(heard.lines, 0);
  assert_int_equal(hx_log_set_filter("error,link:debug", NULL), HX_STATUS_OK);
  hx_log(4, "link", "call %d", 7);
  assert_string_equal(heard.last, "link: call 7");
  hx_log(2, "plugin", "a warning");
  assert_int_equal(heard.lines, 1);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_log_set_filter("loud", report), HX_STATUS_INVALID);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "loud"));
  assert_int_equal(hx_log_set_filter(":debug", report), HX_STATUS_INVALID);
  hx_report_release(report);
  hx_log_set_sink(NULL, NULL);
}

static void threads_budget_can_be_set(void **state) {
  (void)state;
  hx_threads_set(3);
  assert_int_equal(hx_threads_get(), 3);
  hx_threads_set(0);
  assert_true(hx_threads_get() >= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(codes_have_distinct_words_and_complete_rows),
      cmocka_unit_test(report_keeps_faults_in_order_and_escapes_control_bytes),
      cmocka_unit_test(report_accepts_null_and_bounds_text),
      cmocka_unit_test(report_survives_allocation_failures),
      cmocka_unit_test(arena_gives_zeroed_aligned_memory_of_any_size),
      cmocka_unit_test(text_grows_and_stays_failed_after_exhaustion),
      cmocka_unit_test(grow_keeps_contents_and_refuses_overflow),
      cmocka_unit_test(log_filter_selects_by_area_and_refuses_unknown_levels),
      cmocka_unit_test(threads_budget_can_be_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
