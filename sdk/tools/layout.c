// SPDX-License-Identifier: Apache-2.0
// Prints the layout of the plugin ABI as this compiler sees it, or writes heliox/plugin_layout.h from it.
//   heliox-layout --text               the canonical text on stdout
//   heliox-layout --header FILE        the generated header
// Run at build time, so that a hash always tells what was compiled.
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/plugin.h"

enum { ROW_CONSTANT, ROW_FIELD, ROW_LAST };

typedef struct row {
  int kind;
  const char *owner, *name;
  size_t offset, size, align, whole;  // of a constant: its value in offset
} row_t;

#define CONSTANT(name_) {ROW_CONSTANT, NULL, #name_, (size_t)(name_), 0, 0, 0},
#define MEMBER(kind_, owner_, field_)  \
  {kind_,                              \
   #owner_,                            \
   #field_,                            \
   offsetof(owner_, field_),           \
   sizeof(((owner_ *)0)->field_),      \
   __alignof__(((owner_ *)0)->field_), \
   sizeof(owner_)},
#define FIELD(owner_, field_) MEMBER(ROW_FIELD, owner_, field_)
#define LAST(owner_, field_) MEMBER(ROW_LAST, owner_, field_)
static const row_t rows[] = {
#include "sdk/abi/layout.def"
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static size_t round_up(size_t value, size_t align) { return (value + align - 1) / align * align; }

// A field missing from layout.def leaves a hole that alignment does not explain.
static int check_rows(void) {
  size_t end = 0, widest = 1;
  for (size_t i = 0; i < ROW_COUNT; ++i) {
    const row_t *row = &rows[i];
    if (row->kind == ROW_CONSTANT) continue;
    if (row->offset != round_up(end, row->align)) {
      fprintf(stderr, "heliox-layout: sdk/abi/layout.def lacks a field of %s before %s\n", row->owner, row->name);
      return 1;
    }
    end = row->offset + row->size;
    widest = row->align > widest ? row->align : widest;
    if (row->kind != ROW_LAST) continue;
    if (row->whole != round_up(end, widest)) {
      fprintf(stderr, "heliox-layout: sdk/abi/layout.def lacks a field of %s after %s\n", row->owner, row->name);
      return 1;
    }
    end = 0;
    widest = 1;
  }
  return 0;
}

static int print_row(const row_t *row, char *line, size_t room) {
  if (row->kind == ROW_CONSTANT) return snprintf(line, room, "%s %zu\n", row->name, row->offset);
  return snprintf(line, room, "%s.%s %zu %zu %zu\n", row->owner, row->name, row->offset, row->size, row->align);
}

static void print_header(FILE *out) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  char line[256];
  size_t total = 0;
  fprintf(out,
          "/* SPDX-License-Identifier: Apache-2.0 */\n"
          "/* Made by heliox-layout from heliox/plugin.h; do not edit. */\n"
          "#ifndef HELIOX_PLUGIN_LAYOUT_H\n#define HELIOX_PLUGIN_LAYOUT_H\n\n"
          "#define HX_LAYOUT_MINOR %u\n#define HX_LAYOUT_MINOR_TEXT \"%u\"\n#define HX_LAYOUT_ABI_TEXT \"%u.%u\"\n\n"
          "/* The layout text, one call of X with a string literal for each line. */\n#define HX_LAYOUT_LINES(X)",
          HX_ABI_MINOR, HX_ABI_MINOR, HX_ABI_MAJOR, HX_ABI_MINOR);
  for (size_t i = 0; i < ROW_COUNT; ++i) {
    const size_t size = (size_t)print_row(&rows[i], line, sizeof line);
    crypto_hash_sha256_update(&state, (const unsigned char *)line, size);
    total += size;
    fprintf(out, " \\\n  X(\"%.*s\\n\")", (int)size - 1, line);
  }
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&state, hash);
  fprintf(
      out,
      "\n\n/* Bytes of the text without a NUL, of the note (\"MINOR\\n\" and the text), and the text's SHA-256. */\n");
  snprintf(line, sizeof line, "%u\n", HX_ABI_MINOR);
  fprintf(out, "#define HX_LAYOUT_TEXT_SIZE %zu\n#define HX_LAYOUT_NOTE_SIZE %zu\n", total, total + strlen(line));
  fprintf(out, "#define HX_LAYOUT_HASH_HEX \"");
  for (size_t i = 0; i < sizeof hash; ++i) fprintf(out, "%02x", hash[i]);
  fprintf(out, "\"\n#define HX_LAYOUT_HASH \\\n  {");
  for (size_t i = 0; i < sizeof hash; ++i) fprintf(out, "%s0x%02x", i == 0 ? "" : ", ", hash[i]);
  fprintf(out, "}\n\n#endif\n");
}

int main(int argc, char **argv) {
  if (sodium_init() < 0 || check_rows() != 0) return 1;
  if (argc == 2 && strcmp(argv[1], "--text") == 0) {
    char line[256];
    for (size_t i = 0; i < ROW_COUNT; ++i) {
      print_row(&rows[i], line, sizeof line);
      fputs(line, stdout);
    }
    return fflush(stdout) == 0 ? 0 : 1;
  }
  if (argc != 3 || strcmp(argv[1], "--header") != 0) {
    fprintf(stderr, "usage: heliox-layout --text | --header FILE\n");
    return 2;
  }
  FILE *out = fopen(argv[2], "w");
  if (out == NULL) {
    fprintf(stderr, "heliox-layout: %s: %s\n", argv[2], strerror(errno));
    return 1;
  }
  print_header(out);
  const int failed = ferror(out);
  if (fclose(out) != 0 || failed != 0) {
    fprintf(stderr, "heliox-layout: %s: cannot be written\n", argv[2]);
    return 1;
  }
  return 0;
}
