// SPDX-License-Identifier: Apache-2.0
// What the tests of programs share: texts to programs and back, and faults by place.
#ifndef HELIOX_TESTS_UNIT_IR_UTIL_H
#define HELIOX_TESTS_UNIT_IR_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "core/ir/ir.h"

#define CT "!ckks.ciphertext<depth = 0>"
#define TENSOR \
  "!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>"

// A module around a function @main around its body. The types are of the body's arguments and of what it returns.
#define MODULE(arguments_, inputs_, results_, body_)                             \
  "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(" arguments_ "):\n" body_ \
  "\n}) {sym_name = \"main\", function_type = (" inputs_ ") -> " results_        \
  "} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n"

static inline void print_faults(const hx_report_t *report) {
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    print_message("%s:%u:%u: %s: %s\n", fault->source, fault->line, fault->column, hx_code_info(fault->code)->word,
                  fault->text);
  }
}

static inline hx_program_t *parse_good(const char *text) {
  hx_report_t *report = hx_report_create();
  hx_program_t *program = NULL;
  const hx_status_t status = hx_program_parse(hx_str(text), "test", &program, report);
  print_faults(report);
  if (status != HX_STATUS_OK) print_message("%s\n", text);
  assert_int_equal(status, HX_STATUS_OK);
  assert_int_equal(hx_report_count(report), 0);
  hx_report_release(report);
  return program;
}

static inline char *print_good(const hx_program_t *program, uint32_t flags) {
  char *text = NULL;
  assert_int_equal(hx_program_print(program, flags, &text, NULL), HX_STATUS_OK);
  assert_non_null(text);
  return text;
}

// The parse fails with this fault somewhere in the report.
static inline void expect_fault(const char *text, hx_code_t code, uint32_t line, uint32_t column, const char *part) {
  hx_report_t *report = hx_report_create();
  hx_program_t *program = NULL;
  const hx_status_t status = hx_program_parse(hx_str(text), "test", &program, report);
  bool found = false;
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    found = found || (fault->code == code && fault->line == line && fault->column == column &&
                      strcmp(fault->source, "test") == 0 && strstr(fault->text, part) != NULL);
  }
  if (!found) {
    print_message("wanted %u:%u: %s: %s, got:\n", line, column, hx_code_info(code)->word, part);
    print_faults(report);
    print_message("for\n%s\n", text);
  }
  assert_true(found);
  assert_int_not_equal(status, HX_STATUS_OK);
  assert_null(program);
  hx_report_release(report);
}

// Path of mlir-opt, found once; the test fails, naming the package, where there is none.
static inline const char *mlir_opt(void) {
  static const char *const names[] = {"mlir-opt-14", "mlir-opt"};
  static char path[4096];
  const char *list = getenv("PATH");
  for (size_t i = 0; i < 2 && path[0] == '\0'; ++i) {
    for (const char *at = list; at != NULL && path[0] == '\0';) {
      const char *end = strchr(at, ':');
      const int size = end == NULL ? (int)strlen(at) : (int)(end - at);
      snprintf(path, sizeof path, "%.*s/%s", size, at, names[i]);
      if (access(path, X_OK) != 0) path[0] = '\0';
      at = end == NULL ? NULL : end + 1;
    }
  }
  if (path[0] == '\0') fail_msg("mlir-opt is not installed: install the package mlir-14-tools");
  return path;
}

// What mlir-opt prints of a text in generic form; the test fails where it refuses the text. Freed by the caller.
static inline char *through_mlir_opt(const char *text, const char *options) {
  char input[] = "/tmp/heliox-ir-XXXXXX";
  const int file = mkstemp(input);
  assert_true(file >= 0);
  const size_t size = strlen(text);
  assert_int_equal(write(file, text, size), (ssize_t)size);
  close(file);
  char command[8192];
  snprintf(command, sizeof command, "%s --allow-unregistered-dialect --mlir-print-op-generic %s %s 2>&1", mlir_opt(),
           options, input);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  size_t capacity = 1 << 16, used = 0;
  char *out = malloc(capacity);
  size_t count;
  while ((count = fread(out + used, 1, capacity - used - 1, pipe)) > 0) {
    used += count;
    if (capacity - used < 2) out = realloc(out, capacity *= 2);
  }
  out[used] = '\0';
  const int status = pclose(pipe);
  unlink(input);
  if (status != 0) fprintf(stderr, "%s\n%s\n", out, text);
  assert_int_equal(status, 0);
  return out;
}

#endif
