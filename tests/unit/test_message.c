// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "cli/message.h"

static hx_status_t parse(cli_format_t format, const char *text, size_t size, cli_message_t *out, hx_report_t *report) {
  char *copy = malloc(size + 1);
  memcpy(copy, text, size);
  copy[size] = '\0';
  const hx_status_t status = cli_message_parse(format, copy, size, "x", out, report);
  free(copy);
  return status;
}

static void csv_reads_real_and_complex_values(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t count;
    bool is_complex;
    double values[6];
  } cases[] = {
      {"1\n2.5\n-3e2\n", 3, false, {1, 2.5, -300}},
      {"1\n2\n\n", 2, false, {1, 2}},  // a blank last line is no value
      {"1\r\n2\r\n", 2, false, {1, 2}},
      {"4", 1, false, {4}},
      {"1+2i\n3\n-0.5i\n", 3, true, {1, 2, 3, 0, 0, -0.5}},
      {" 1 \n\t2-1j\n", 2, true, {1, 0, 2, -1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    cli_message_t message = {0};
    assert_int_equal(parse(CLI_FORMAT_CSV, cases[i].text, strlen(cases[i].text), &message, NULL), HX_STATUS_OK);
    assert_int_equal(message.count, cases[i].count);
    assert_int_equal(message.is_complex, cases[i].is_complex);
    assert_memory_equal(message.values, cases[i].values, message.count * (message.is_complex ? 2 : 1) * sizeof(double));
    cli_message_free(&message);
  }
}

static void csv_names_line_and_column_of_a_fault(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hx_code_t code;
    uint32_t line, column;
  } cases[] = {
      {"1\nx\n", HX_CODE_TEXT_FORMAT, 2, 1},
      {"1\n2 3\n", HX_CODE_TEXT_FORMAT, 2, 3},
      {"1+2\n", HX_CODE_TEXT_FORMAT, 1, 1},
      {"1,2\n3\n", HX_CODE_TEXT_FORMAT, 2, 1},  // vectors of a batch have one length
      {"1\n2,3\n", HX_CODE_TEXT_FORMAT, 2, 1},
      {"1,\n", HX_CODE_TEXT_FORMAT, 1, 3},
      {"1,,2\n", HX_CODE_TEXT_FORMAT, 1, 3},
      {"1,2x\n", HX_CODE_TEXT_FORMAT, 1, 4},
      {"", HX_CODE_LENGTH, 0, 0},
      {"\n\n", HX_CODE_LENGTH, 0, 0},
      {"1+\n5i\n", HX_CODE_TEXT_FORMAT, 1, 1},
      {"3i4\n", HX_CODE_TEXT_FORMAT, 1, 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    cli_message_t message = {0};
    hx_report_t *report = hx_report_create();
    assert_int_not_equal(parse(CLI_FORMAT_CSV, cases[i].text, strlen(cases[i].text), &message, report), HX_STATUS_OK);
    const hx_fault_t *fault = hx_report_get(report, 0);
    assert_int_equal(fault->code, cases[i].code);
    assert_int_equal(fault->line, cases[i].line);
    assert_int_equal(fault->column, cases[i].column);
    assert_null(message.values);
    hx_report_release(report);
  }
}

static void json_reads_numbers_and_pairs(void **state) {
  (void)state;
  cli_message_t message = {0};
  const char *text = "[1, [2, -3], 4.5]";
  assert_int_equal(parse(CLI_FORMAT_JSON, text, strlen(text), &message, NULL), HX_STATUS_OK);
  const double expected[] = {1, 0, 2, -3, 4.5, 0};
  assert_true(message.is_complex && message.count == 3);
  assert_memory_equal(message.values, expected, sizeof expected);
  cli_message_free(&message);
  static const char *const bad[] = {"{}",      "[\"1\"]", "[[1], [2, 3]]", "[[1], 2]", "[[], []]",
                                    "[[[1]]]", "[1",      "[NaN]",         "[]",       "[1e999]"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    hx_report_t *report = hx_report_create();
    assert_int_not_equal(parse(CLI_FORMAT_JSON, bad[i], strlen(bad[i]), &message, report), HX_STATUS_OK);
    assert_int_equal(hx_report_count(report), 1);
    hx_report_release(report);
  }
}

static void batches_are_read_row_by_row(void **state) {
  (void)state;
  static const struct {
    cli_format_t format;
    const char *text;
    size_t items, count;
    bool is_complex;
    double values[12];
  } cases[] = {
      {CLI_FORMAT_CSV, "1,2,3\n4, 5,6\n\n", 2, 3, false, {1, 2, 3, 4, 5, 6}},
      {CLI_FORMAT_CSV, "1,2\n", 1, 2, false, {1, 2}},
      {CLI_FORMAT_CSV, "1,2i\r\n3,4\r\n", 2, 2, true, {1, 0, 0, 2, 3, 0, 4, 0}},
      {CLI_FORMAT_JSON, "[[1, 2, 3], [4, 5, 6]]", 2, 3, false, {1, 2, 3, 4, 5, 6}},
      {CLI_FORMAT_JSON, "[[1], [2]]", 2, 1, false, {1, 2}},
      {CLI_FORMAT_JSON, "[[[1, 2], 3], [4, [5, 6]]]", 2, 2, true, {1, 2, 3, 0, 4, 0, 5, 6}},
      {CLI_FORMAT_JSON, "[[1, 2], [3, 4]]", 0, 2, true, {1, 2, 3, 4}},  // pairs: one complex vector
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    cli_message_t message = {0};
    assert_int_equal(parse(cases[i].format, cases[i].text, strlen(cases[i].text), &message, NULL), HX_STATUS_OK);
    assert_int_equal(message.items, cases[i].items);
    assert_int_equal(message.count, cases[i].count);
    assert_int_equal(message.is_complex, cases[i].is_complex);
    const size_t total = cases[i].items == 0 ? cases[i].count : cases[i].items * cases[i].count;
    assert_memory_equal(message.values, cases[i].values, total * (message.is_complex ? 2 : 1) * sizeof(double));
    cli_message_free(&message);
  }
}

static void batches_round_trip_in_every_format(void **state) {
  (void)state;
  static const char *const endings[] = {".csv", ".npy", ".json"};
  double values[12] = {1, -2.5, 3e-300, 4, 5, 0.1, 7, 8, 9, 10, -11, 12};
  for (size_t i = 0; i < 6; ++i) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/heliox-batch-%ld%s", (long)getpid(), endings[i % 3]);
    const cli_message_t written = {.values = values, .count = 3, .items = 2, .is_complex = i >= 3};
    cli_message_t read = {0};
    assert_int_equal(cli_message_write(path, &written, NULL), HX_STATUS_OK);
    assert_int_equal(cli_message_read(path, &read, NULL), HX_STATUS_OK);
    assert_int_equal(read.items, 2);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.is_complex, i >= 3);
    assert_memory_equal(read.values, values, (i >= 3 ? 12 : 6) * sizeof(double));
    cli_message_free(&read);
    unlink(path);
  }
}

// Every format gives back what was written, to the bit.
static void files_round_trip_in_every_format(void **state) {
  (void)state;
  char directory[] = "/tmp/heliox-message.XXXXXX";
  assert_non_null(mkdtemp(directory));
  static double values[] = {0.1, -1e300, 3, 5e-324, 1.0 / 3, -0.0};
  static const char *const names[] = {"a.csv", "a.npy", "a.json"};
  for (size_t i = 0; i < 3; ++i) {
    for (int is_complex = 0; is_complex < 2; ++is_complex) {
      char path[128];
      snprintf(path, sizeof path, "%s/%s", directory, names[i]);
      const cli_message_t message = {.values = values, .count = is_complex ? 3 : 6, .is_complex = is_complex};
      cli_message_t back = {0};
      assert_int_equal(cli_message_write(path, &message, NULL), HX_STATUS_OK);
      assert_int_equal(cli_message_read(path, &back, NULL), HX_STATUS_OK);
      assert_int_equal(back.count, message.count);
      assert_int_equal(back.is_complex, is_complex);
      assert_memory_equal(back.values, values, sizeof values);
      cli_message_free(&back);
      unlink(path);
    }
  }
  assert_int_equal(rmdir(directory), 0);  // nothing else was left there
}

static void npy_with_other_layouts_is_refused(void **state) {
  (void)state;
  static const char *const headers[] = {
      "{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
      "{'descr': '<f8', 'fortran_order': True, 'shape': (1,), }",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999,), }",
      "{'descr': '<f8', 'shape': (1,), }",
  };
  for (size_t i = 0; i < sizeof headers / sizeof *headers; ++i) {
    char file[256] = "\x93NUMPY\x01\x00";
    const size_t length = strlen(headers[i]);
    file[8] = (char)length;
    file[9] = 0;
    memcpy(file + 10, headers[i], length);
    memset(file + 10 + length, 0, 8);
    cli_message_t message = {0};
    hx_report_t *report = hx_report_create();
    assert_int_equal(parse(CLI_FORMAT_NPY, file, 10 + length + 8, &message, report), HX_STATUS_INVALID);
    assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_TEXT_FORMAT);
    hx_report_release(report);
  }
  for (size_t cut = 0; cut < 12; ++cut) {
    cli_message_t message = {0};
    assert_int_equal(parse(CLI_FORMAT_NPY, "\x93NUMPY\x01\x00\x40\x00{'", cut, &message, NULL), HX_STATUS_INVALID);
  }
}

static void unknown_endings_and_missing_files_are_faults(void **state) {
  (void)state;
  cli_message_t message = {0};
  hx_report_t *report = hx_report_create();
  assert_int_equal(cli_message_read("numbers.txt", &message, report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_USAGE);
  assert_int_equal(cli_message_read("/nonexistent/numbers.csv", &message, report), HX_STATUS_IO);
  assert_int_equal(
      cli_message_write("/nonexistent/numbers.csv", &(cli_message_t){.values = (double[]){1}, .count = 1}, report),
      HX_STATUS_IO);
  hx_report_release(report);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(csv_reads_real_and_complex_values),
      cmocka_unit_test(csv_names_line_and_column_of_a_fault),
      cmocka_unit_test(json_reads_numbers_and_pairs),
      cmocka_unit_test(files_round_trip_in_every_format),
      cmocka_unit_test(batches_are_read_row_by_row),
      cmocka_unit_test(batches_round_trip_in_every_format),
      cmocka_unit_test(npy_with_other_layouts_is_refused),
      cmocka_unit_test(unknown_endings_and_missing_files_are_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
