// SPDX-License-Identifier: Apache-2.0
// Prints the layout of the plugin ABI as this compiler sees it, or writes heliox/plugin_layout.h from it.
//   heliox-layout --text               the canonical text on stdout
//   heliox-layout --header FILE TEXT.. the generated header; TEXT: committed text of each older minor, from 0 up
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

// ------------------------------------------------------------------ the header

#define TEXT_BYTES_MAX (64 * 1024)

typedef struct layout {
  char text[TEXT_BYTES_MAX];
  size_t size;
  unsigned char hash[crypto_hash_sha256_BYTES];
} layout_t;

static int add_line(layout_t *layout, const char *line, size_t size) {
  if (layout->size + size >= sizeof layout->text) return 1;
  memcpy(layout->text + layout->size, line, size);
  layout->size += size;
  return 0;
}

static int measure(layout_t *layout) {
  layout->size = 0;
  for (size_t i = 0; i < ROW_COUNT; ++i) {
    char line[256];
    if (add_line(layout, line, (size_t)print_row(&rows[i], line, sizeof line)) != 0) return 1;
  }
  crypto_hash_sha256(layout->hash, (const unsigned char *)layout->text, layout->size);
  return 0;
}

static int load(const char *path, layout_t *layout) {
  FILE *in = fopen(path, "r");
  if (in == NULL) {
    fprintf(stderr, "heliox-layout: %s: %s\n", path, strerror(errno));
    return 1;
  }
  layout->size = fread(layout->text, 1, sizeof layout->text, in);
  const int bad =
      ferror(in) || layout->size == 0 || layout->size == sizeof layout->text || layout->text[layout->size - 1] != '\n';
  fclose(in);
  if (bad) fprintf(stderr, "heliox-layout: %s: no layout text of complete lines\n", path);
  crypto_hash_sha256(layout->hash, (const unsigned char *)layout->text, layout->size);
  return bad;
}

static void print_lines(FILE *out, const char *macro, const layout_t *layout) {
  fprintf(out, "#define %s(X)", macro);
  for (const char *at = layout->text, *end = at + layout->size; at < end;) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    fprintf(out, " \\\n  X(\"%.*s\\n\")", (int)(stop - at), at);
    at = stop + 1;
  }
  fprintf(out, "\n\n");
}

static void print_hex(FILE *out, const layout_t *layout) {
  for (size_t i = 0; i < sizeof layout->hash; ++i) fprintf(out, "%02x", layout->hash[i]);
}

static void print_bytes(FILE *out, const layout_t *layout) {
  for (size_t i = 0; i < sizeof layout->hash; ++i) fprintf(out, "%s0x%02x", i == 0 ? "{" : ", ", layout->hash[i]);
  fprintf(out, "}");
}

static size_t note_size(const layout_t *layout, unsigned minor) {
  return layout->size + (size_t)snprintf(NULL, 0, "%u\n", minor);
}

// What the notes and the entry of a plugin say of minors before the newest.
static void print_older(FILE *out, const layout_t *layouts, unsigned newest) {
  for (unsigned m = 0; m < newest; ++m) {
    char macro[40];
    snprintf(macro, sizeof macro, "HX_LAYOUT_LINES_%u", m);
    print_lines(out, macro, &layouts[m]);
  }
  fprintf(out,
          "/* Each older minor: X(minor, bytes of its note, its lines). Their hashes, as lines of the first note. */\n"
          "#define HX_LAYOUT_EACH_OLDER(X)");
  for (unsigned m = 0; m < newest; ++m)
    fprintf(out, " \\\n  X(\"%u\", %zu, HX_LAYOUT_LINES_%u)", m, note_size(&layouts[m], m), m);
  fprintf(out, "\n#define HX_LAYOUT_OLDER_FACTS \"\"");
  for (unsigned m = 0; m < newest; ++m) {
    fprintf(out, " \\\n  \"\\n\\t.ascii \\\"layout.%u=", m);
    print_hex(out, &layouts[m]);
    fprintf(out, "\\\\n\\\"\"");
  }
  fprintf(out, "\n\n/* The hash of each minor, from HX_LAYOUT_MINOR_MIN on. */\n#define HX_LAYOUT_HASHES \\\n  {");
  for (unsigned m = 0; m <= newest; ++m) {
    fprintf(out, "%s", m == 0 ? "" : ", \\\n   ");
    print_bytes(out, &layouts[m]);
  }
  fprintf(out, "}\n");
}

static void print_header(FILE *out, const layout_t *layouts, unsigned newest) {
  const layout_t *layout = &layouts[newest];
  fprintf(out,
          "/* SPDX-License-Identifier: Apache-2.0 */\n"
          "/* Made by heliox-layout from heliox/plugin.h; do not edit. */\n"
          "#ifndef HELIOX_PLUGIN_LAYOUT_H\n#define HELIOX_PLUGIN_LAYOUT_H\n\n"
          "#define HX_LAYOUT_MINOR %u\n#define HX_LAYOUT_MINOR_TEXT \"%u\"\n#define HX_LAYOUT_ABI_TEXT \"%u.%u\"\n"
          "#define HX_LAYOUT_MINOR_MIN 0\n#define HX_LAYOUT_ABI_MIN_TEXT \"%u.0\"\n\n"
          "/* The layout text, one call of X with a string literal for each line. */\n",
          newest, newest, HX_ABI_MAJOR, newest, HX_ABI_MAJOR);
  print_lines(out, "HX_LAYOUT_LINES", layout);
  fprintf(out,
          "/* Bytes of the text without a NUL, of the note (\"MINOR\\n\" and the text), and the text's SHA-256. */\n");
  fprintf(out, "#define HX_LAYOUT_TEXT_SIZE %zu\n#define HX_LAYOUT_NOTE_SIZE %zu\n", layout->size,
          note_size(layout, newest));
  fprintf(out, "#define HX_LAYOUT_HASH_HEX \"");
  print_hex(out, layout);
  fprintf(out, "\"\n#define HX_LAYOUT_HASH \\\n  ");
  print_bytes(out, layout);
  fprintf(out, "\n\n");
  print_older(out, layouts, newest);
  fprintf(out, "\n#endif\n");
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
  if (argc != 3 + (int)HX_ABI_MINOR || strcmp(argv[1], "--header") != 0) {
    fprintf(stderr, "usage: heliox-layout --text | --header FILE TEXT-OF-EACH-OLDER-MINOR...\n");
    return 2;
  }
  static layout_t layouts[HX_ABI_MINOR + 1];
  for (unsigned m = 0; m < HX_ABI_MINOR; ++m) {
    if (load(argv[3 + m], &layouts[m]) != 0) return 1;
  }
  if (measure(&layouts[HX_ABI_MINOR]) != 0) {
    fprintf(stderr, "heliox-layout: the layout text is longer than %d bytes\n", TEXT_BYTES_MAX);
    return 1;
  }
  FILE *out = fopen(argv[2], "w");
  if (out == NULL) {
    fprintf(stderr, "heliox-layout: %s: %s\n", argv[2], strerror(errno));
    return 1;
  }
  print_header(out, layouts, HX_ABI_MINOR);
  const int failed = ferror(out);
  if (fclose(out) != 0 || failed != 0) {
    fprintf(stderr, "heliox-layout: %s: cannot be written\n", argv[2]);
    return 1;
  }
  return 0;
}
