// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/compiler_log.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_word(const char *line, size_t length, const char *word) {
  const size_t bytes = strlen(word);
  for (size_t i = 0; i + bytes <= length; i++) {
    if (memcmp(line + i, word, bytes) == 0) {
      return true;
    }
  }
  return false;
}

// Appends a line without what stands before the last '/' of its first word.
static size_t add_line(const char *line, size_t length, char *out, size_t at, size_t room) {
  size_t begin = 0;
  for (size_t i = 0; i < length && line[i] != ' '; i++) {
    begin = line[i] == '/' ? i + 1 : begin;
  }
  const int wrote = snprintf(out + at, room - at, "%s%.*s", at > 0 ? "; " : "", (int)(length - begin), line + begin);
  return wrote < 0 ? at : at + (size_t)wrote < room ? at + (size_t)wrote : room - 1;
}

void hxs_compiler_log_shorten(const char *log, char *out, size_t room) {
  const bool errors = strstr(log, "error") != NULL;
  size_t at = 0;
  out[0] = 0;
  while (*log != 0 && at + 8 < room) {
    const size_t length = strcspn(log, "\n");
    const bool blank = strspn(log, " \t\r") >= length;
    if (!blank && (!errors || has_word(log, length, "error"))) {
      at = add_line(log, length, out, at, room);
    }
    log += length + (log[length] == '\n');
  }
}
