// SPDX-License-Identifier: Apache-2.0
// Runs the built `heliox` in a directory of its own and keeps what it said.
#ifndef HELIOX_TESTS_E2E_COMMAND_H
#define HELIOX_TESTS_E2E_COMMAND_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND_OUTPUT_MAX 65536

typedef struct command {
  int exit_code;
  char output[COMMAND_OUTPUT_MAX];  // standard output, cut
  char errors[COMMAND_OUTPUT_MAX];  // standard error, cut
} command_t;

static inline void command_slurp(const char *path, char *out) {
  FILE *file = fopen(path, "rb");
  const size_t size = file == NULL ? 0 : fread(out, 1, COMMAND_OUTPUT_MAX - 1, file);
  out[size] = '\0';
  if (file != NULL) fclose(file);
}

// `line` is a shell command line; $H in it is the program. environment: "NAME=value", exported before it.
static inline void command_run(command_t *command, const char *directory, const char *environment, const char *line) {
  char whole[16384], path[4096];
  snprintf(whole, sizeof whole, "cd '%s' && H='%s/bin/heliox' && export %s && (%s) >.stdout 2>.stderr", directory,
           HELIOX_BUILD_DIR, environment, line);
  const int status = system(whole);
  command->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  snprintf(path, sizeof path, "%s/.stdout", directory);
  command_slurp(path, command->output);
  snprintf(path, sizeof path, "%s/.stderr", directory);
  command_slurp(path, command->errors);
}

// Fails the test unless the command ended so and said `part` on either stream.
static inline void command_expect(const command_t *command, int exit_code, const char *part) {
  if (command->exit_code == exit_code &&
      (strstr(command->output, part) != NULL || strstr(command->errors, part) != NULL))
    return;
  fail_msg("expected exit %d and '%s'; found exit %d and: %s%s", exit_code, part, command->exit_code, command->errors,
           command->output);
}

// Removes a directory of a test's own with what is in it; 0 when that worked.
static inline int command_remove(const char *directory) {
  char line[4200];
  snprintf(line, sizeof line, "rm -rf '%s'", directory);
  return system(line) == 0 ? 0 : 1;
}

static inline bool command_has_file(const char *directory, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return access(path, F_OK) == 0;
}

static inline void command_write(const char *directory, const char *name, const char *text) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "wb");
  if (file == NULL || fputs(text, file) == EOF || fclose(file) != 0) abort();
}

#endif
