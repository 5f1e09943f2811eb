// SPDX-License-Identifier: Apache-2.0
// Build steps of a plugin.
//   heliox-manifest facts MANIFEST HEADER          before compiling: what note and table repeat from the manifest
//   heliox-manifest complete MANIFEST LIBRARY OUT  after linking: what the manifest repeats from the library; the
//                                                  library gets mode 0755, the manifest 0644, whatever the umask
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/plugin/file.h"
#include "core/plugin/manifest.h"

static int complain(const char *file, const char *what) {
  fprintf(stderr, "heliox-manifest: %s: %s\n", file, what);
  return 1;
}

static int print_faults(const hx_report_t *report, const char *what) {
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    fprintf(stderr, "heliox-manifest: %s", fault->source[0] != '\0' ? fault->source : what);
    if (fault->line > 0) fprintf(stderr, ":%u:%u", fault->line, fault->column);
    fprintf(stderr, ": %s: %s", hx_code_info(fault->code)->word, fault->text);
    fprintf(stderr, fault->hint[0] != '\0' ? "; %s\n" : "\n", fault->hint);
  }
  return 1;
}

// Writes a file unless it has these bytes already, so that nothing is recompiled for an unchanged fact.
static int write_changed(const char *path, const hx_text_t *text) {
  char *have = NULL;
  size_t size = 0;
  const bool same = hx_file_read_path(path, text->size, &have, &size) == HX_STATUS_OK && size == text->size &&
                    memcmp(have, text->data, size) == 0;
  hx_free(have);
  if (same) return 0;
  FILE *out = fopen(path, "w");
  if (out == NULL) return complain(path, strerror(errno));
  const bool written = fwrite(text->data, 1, text->size, out) == text->size;
  return fclose(out) != 0 || !written ? complain(path, "cannot be written") : 0;
}

static int print_facts(const hx_manifest_t *manifest, const char *header) {
  char digest[65];
  if (hx_operations_digest(manifest->operations, manifest->operation_count, digest) != HX_STATUS_OK)
    return complain(header, "out of memory");
  hx_text_t text;
  hx_text_init(&text);
  hx_text_puts(&text, "/* Made by heliox-manifest from the plugin's manifest; do not edit. */\n");
  hx_text_printf(&text, "#define HELIOX_PLUGIN_ID \"%s\"\n#define HELIOX_PLUGIN_NAME \"%s\"\n", manifest->id,
                 manifest->name);
  hx_text_printf(&text, "#define HELIOX_PLUGIN_VERSION \"%s\"\n#define HELIOX_PLUGIN_OPERATIONS \"%s\"\n",
                 manifest->version, digest);
  const int result = text.failed ? complain(header, "out of memory") : write_changed(header, &text);
  hx_text_deinit(&text);
  return result;
}

static int write_facts(const char *path, const char *header, hx_report_t *report) {
  char *text = NULL;
  size_t size = 0;
  json_t *root = NULL;
  if (hx_file_read_path(path, HX_JSON_BYTES_MAX, &text, &size) != HX_STATUS_OK) return complain(path, strerror(errno));
  const hx_status_t status = hx_manifest_read_template((hx_str_t){text, size}, path, &root, report);
  hx_free(text);
  if (status != HX_STATUS_OK) return print_faults(report, path);
  hx_manifest_t *manifest = hx_manifest_from_tree(root);
  const int result = manifest == NULL ? complain(path, "out of memory") : print_facts(manifest, header);
  hx_manifest_release(manifest);
  json_decref(root);
  return result;
}

static int complete(const char *template_path, const char *library, const char *out, hx_report_t *report) {
  if (chmod(library, 0755) != 0) return complain(library, strerror(errno));
  if (hx_manifest_complete(template_path, library, out, report) != HX_STATUS_OK) return print_faults(report, library);
  return 0;
}

int main(int argc, char **argv) {
  hx_report_t *report = hx_report_create();
  int result = 2;
  if (sodium_init() < 0 || report == NULL) {
    result = complain("start", "out of memory");
  } else if (argc == 4 && strcmp(argv[1], "facts") == 0) {
    result = write_facts(argv[2], argv[3], report);
  } else if (argc == 5 && strcmp(argv[1], "complete") == 0) {
    result = complete(argv[2], argv[3], argv[4], report);
  } else {
    fprintf(stderr,
            "usage: heliox-manifest facts MANIFEST HEADER\n       heliox-manifest complete MANIFEST LIBRARY OUT\n");
  }
  hx_report_release(report);
  return result;
}
