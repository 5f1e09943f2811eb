// SPDX-License-Identifier: Apache-2.0
// Prints the operation catalogue or the list of gates and codes as JSON, or compares one with a file:
//   heliox-catalogue operations|codes [FILE]
// Keys stand in a fixed order, one row a line, so that a change of the tables is a small diff.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "heliox/ops.h"

static void put(hx_text_t *text, const char *key, const char *value, const char *end) {
  hx_text_printf(text, "\"%s\": ", key);
  hx_text_json(text, hx_str(value));
  hx_text_puts(text, end);
}

static void print_operations(hx_text_t *text) {
  hx_text_printf(text, "{\n  \"catalogue_version\": %u,\n  \"operations\": [\n", hx_ops_version());
  for (size_t i = 0; i < hx_ops_count(); ++i) {
    const hx_op_description_t *op = hx_ops_get(i);
    hx_text_puts(text, "    {");
    put(text, "name", op->name, ", ");
    hx_text_printf(text, "\"signature\": %u, ", op->signature);
    put(text, "tier", op->tier, ", ");
    put(text, "effect", op->effect, ", ");
    put(text, "operands", op->operands, ", ");
    put(text, "results", op->results, ", ");
    put(text, "attributes", op->attributes, ", ");
    put(text, "doc", op->doc, i + 1 < hx_ops_count() ? "},\n" : "}\n");
  }
  hx_text_puts(text, "  ]\n}\n");
}

static void print_codes(hx_text_t *text) {
  hx_text_puts(text, "{\n  \"gates\": [");
  for (int gate = HX_GATE_NONE + 1; gate < HX_GATE_COUNT; ++gate)
    hx_text_printf(text, "%s\"%s\"", gate == HX_GATE_NONE + 1 ? "" : ", ", hx_gate_name((hx_gate_t)gate));
  hx_text_puts(text, "],\n  \"codes\": [\n");
  for (int code = HX_CODE_NONE; code < HX_CODE_COUNT; ++code) {
    const hx_code_info_t *info = hx_code_info((hx_code_t)code);
    hx_text_puts(text, "    {");
    put(text, "code", info->word, ", ");
    put(text, "status", hx_status_name(info->status), ", ");
    put(text, "gate", hx_gate_name(info->gate), ", ");
    put(text, "meaning", info->meaning, ", ");
    put(text, "remedy", info->remedy, code + 1 < HX_CODE_COUNT ? "},\n" : "}\n");
  }
  hx_text_puts(text, "  ]\n}\n");
}

// Says where a file first differs. true: it does not.
static bool equals(const char *path, const hx_text_t *text) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return false;
  }
  size_t at = 0;
  unsigned line = 1;
  int c = getc(file);
  while (c != EOF && at < text->size && (unsigned char)text->data[at] == (unsigned)c) {
    line += c == '\n';
    ++at;
    c = getc(file);
  }
  const bool same = c == EOF && at == text->size && ferror(file) == 0;
  fclose(file);
  if (same) return true;
  fprintf(stderr,
          "%s differs from the tables at line %u; write it again with the build target heliox_catalogue_update\n", path,
          line);
  return false;
}

int main(int argc, char **argv) {
  const bool operations = argc > 1 && strcmp(argv[1], "operations") == 0;
  if (argc < 2 || argc > 3 || (!operations && strcmp(argv[1], "codes") != 0)) {
    fputs("usage: heliox-catalogue operations|codes [FILE]\n", stderr);
    return 2;
  }
  hx_text_t text;
  hx_text_init(&text);
  if (operations) {
    print_operations(&text);
  } else {
    print_codes(&text);
  }
  bool done = !text.failed;
  if (done && argc == 3) {
    done = equals(argv[2], &text);
  } else if (done) {
    done = fwrite(text.data, 1, text.size, stdout) == text.size && fflush(stdout) == 0;
  }
  hx_text_deinit(&text);
  return done ? 0 : 1;
}
