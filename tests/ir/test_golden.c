// SPDX-License-Identifier: Apache-2.0
// Golden files: tests/ir/<area>/<case>.mlir. The first line says why the case exists. A line `// run: PIPELINE` names
// passes, `// params: PRESET` parameters, `// print: short` or `aliases` the form. Then the program, a line `// ---`,
// and what comes out: the text, or the faults as LINE:COLUMN: CODE: TEXT. With --update the files are rewritten.
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// CMocka wants the headers above first.
#include <cmocka.h>

#include "core/passes/passes.h"

#define FILE_MAX ((size_t)1 << 20)
#define MARK "// ---\n"

static bool update;
static size_t case_count, failure_count;

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("%s: %s", path, strerror(errno));
  char *text = calloc(1, FILE_MAX);
  assert_non_null(text);
  assert_true(fread(text, 1, FILE_MAX - 1, file) < FILE_MAX - 1);
  fclose(file);
  return text;
}

// The rest of the line `// NAME: ...` above the program; "" where there is none.
static void option(const char *text, const char *name, char *out, size_t size) {
  char key[32];
  snprintf(key, sizeof key, "// %s: ", name);
  out[0] = '\0';
  for (const char *line = text; strncmp(line, "//", 2) == 0;) {
    const char *end = strchr(line, '\n');
    if (end == NULL) return;
    if (strncmp(line, key, strlen(key)) == 0)
      snprintf(out, size, "%.*s", (int)(end - line - (ptrdiff_t)strlen(key)), line + strlen(key));
    line = end + 1;
  }
}

static void print_report(const hx_report_t *report, hx_text_t *out) {
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    hx_text_printf(out, "%u:%u: %s: %s\n", fault->line, fault->column, hx_code_info(fault->code)->word, fault->text);
  }
}

static void run_case(const char *text, hx_text_t *out) {
  char pipeline[1024], preset[64], form[64];
  option(text, "run", pipeline, sizeof pipeline);
  option(text, "params", preset, sizeof preset);
  option(text, "print", form, sizeof form);
  const uint32_t flags =
      (strstr(form, "short") != NULL ? HX_PRINT_SHORT : 0u) | (strstr(form, "aliases") != NULL ? HX_PRINT_ALIASES : 0u);
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  hx_program_t *program = NULL;
  if (preset[0] != '\0') assert_int_equal(hx_params_preset(preset, &params, report), HX_STATUS_OK);
  hx_status_t status = hx_program_parse(hx_str(text), "case", &program, report);
  const hx_pass_env_t env = {.ring = params == NULL ? NULL : hx_params_ring(params), .report = report};
  if (status == HX_STATUS_OK) status = hx_pipeline_run(program, pipeline, &env);
  if (status == HX_STATUS_OK) status = hx_ir_print(program, flags, out);
  print_report(report, out);
  hx_program_release(program);
  hx_params_release(params);
  hx_report_release(report);
}

static void check_file(const char *path) {
  char *text = read_file(path);
  char *mark = strstr(text, MARK);
  if (mark == NULL && !update) fail_msg("%s has no line // ---", path);
  char *expected = mark == NULL ? text + strlen(text) : mark + strlen(MARK);
  char *kept = strdup(expected);
  if (mark != NULL) *mark = '\0';
  hx_text_t out;
  hx_text_init(&out);
  run_case(text, &out);
  assert_false(out.failed);
  const char *found = out.data == NULL ? "" : out.data;
  ++case_count;
  if (update) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "%s%s%s", text, MARK, found);
    fclose(file);
  } else if (strcmp(found, kept) != 0) {
    fprintf(stderr, "%s: expected\n%s\nfound\n%s\n", path, kept, found);
    ++failure_count;
  }
  hx_text_deinit(&out);
  free(kept);
  free(text);
}

static int is_case(const struct dirent *entry) {
  const char *suffix = strrchr(entry->d_name, '.');
  return suffix != NULL && strcmp(suffix, ".mlir") == 0;
}

static int is_area(const struct dirent *entry) { return entry->d_name[0] != '.' && strchr(entry->d_name, '.') == NULL; }

static void golden_files_have_the_expected_text(void **state) {
  (void)state;
  static const char root[] = HELIOX_SOURCE_DIR "/tests/ir";
  struct dirent **areas;
  const int area_count = scandir(root, &areas, is_area, alphasort);
  assert_true(area_count > 0);
  for (int i = 0; i < area_count; ++i) {
    char folder[4096], path[8192];
    snprintf(folder, sizeof folder, "%s/%s", root, areas[i]->d_name);
    struct dirent **files;
    const int file_count = scandir(folder, &files, is_case, alphasort);
    for (int j = 0; j < file_count; ++j) {
      snprintf(path, sizeof path, "%s/%s", folder, files[j]->d_name);
      check_file(path);
      free(files[j]);
    }
    if (file_count >= 0) free(files);
    free(areas[i]);
  }
  free(areas);
  assert_true(case_count > 0);
  assert_int_equal(failure_count, 0);
}

int main(int argc, char **argv) {
  update = argc > 1 && strcmp(argv[1], "--update") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(golden_files_have_the_expected_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
