// SPDX-License-Identifier: Apache-2.0
// plugins new: a copy of the template plugin with a name of its own.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/message.h"

#define TEMPLATE_ID "com.example.mydevice"
#define TEMPLATE_NAME "mydevice"
#define FILE_BYTES_MAX ((size_t)1 << 20)

static bool is_name(const char *name) {
  const size_t size = strlen(name);
  return size <= 32 && name[0] >= 'a' && name[0] <= 'z' &&
         strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == size;
}

// Reverse DNS: parts of letters, digits, - and _, at least two.
static bool is_id(const char *id) {
  size_t parts = 0, size = 0;
  for (const char *at = id;; at += size + 1) {
    size = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    if (size == 0) return false;
    ++parts;
    if (at[size] == '\0') return parts >= 2 && strlen(id) <= 128;
    if (at[size] != '.') return false;
  }
}

static hx_status_t io_fault(cli_t *cli, const char *path) {
  return hx_report_fail(cli->report, HX_CODE_IO, "%s: %s", path, strerror(errno));
}

// Writes text with every `from` replaced by `to`, the longer token first. `text` ends in a NUL.
static bool write_replaced(FILE *out, const char *text, const char *id, const char *name) {
  const struct { const char *from, *to; } tokens[] = {{TEMPLATE_ID, id}, {TEMPLATE_NAME, name}};
  while (*text != '\0') {
    size_t used = 0;
    for (size_t i = 0; i < 2 && used == 0; ++i) {
      if (strncmp(text, tokens[i].from, strlen(tokens[i].from)) != 0) continue;
      used = strlen(tokens[i].from);
      if (fputs(tokens[i].to, out) == EOF) return false;
    }
    if (used == 0 && fputc(*text, out) == EOF) return false;
    text += used == 0 ? 1 : used;
  }
  return true;
}

static hx_status_t copy_file(cli_t *cli, const char *from, const char *to, const char *id) {
  char *text = NULL;
  size_t size = 0;
  hx_status_t status = cli_read_file(from, FILE_BYTES_MAX, &text, &size, cli->report);
  if (status != HX_STATUS_OK) return status;
  FILE *out = fopen(to, "wx");
  if (out == NULL) {
    status = io_fault(cli, to);
  } else {
    const bool written = write_replaced(out, text, id, cli->arguments[0]);
    if (fclose(out) != 0 || !written) status = io_fault(cli, to);
  }
  free(text);
  return status;
}

static bool is_file_name(const char *name) { return name[0] != '.'; }

// The directory is made, or is there and empty.
static hx_status_t open_directory(cli_t *cli, const char *path) {
  if (mkdir(path, 0755) == 0) return HX_STATUS_OK;
  if (errno != EEXIST) return io_fault(cli, path);
  DIR *directory = opendir(path);
  if (directory == NULL) return io_fault(cli, path);
  const struct dirent *entry;
  do {
    entry = readdir(directory);
  } while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
  hx_status_t status = HX_STATUS_OK;
  if (entry != NULL) {
    status = hx_report_fail(cli->report, HX_CODE_IO, "%s: is not empty, it has '%s'; name another directory with --dir",
                            path, entry->d_name);
  }
  closedir(directory);
  return status;
}

static hx_status_t copy_template(cli_t *cli, const char *share, const char *target, const char *id) {
  struct dirent **entries = NULL;
  const int count = scandir(share, &entries, NULL, alphasort);
  if (count < 0) {
    char text[512];
    snprintf(text, sizeof text, "%.300s: the template plugin is not installed here: %s", share, strerror(errno));
    return hx_report_add(
        cli->report,
        &(hx_fault_t){
            .code = HX_CODE_IO, .text = text, .hint = "install the SDK (package heliox-dev), or Heliox as a whole"});
  }
  hx_status_t status = open_directory(cli, target);
  for (int i = 0; i < count; ++i) {
    const char *name = entries[i]->d_name;
    char from[4096], to[4096];
    if (status == HX_STATUS_OK && is_file_name(name)) {
      const int from_size = snprintf(from, sizeof from, "%s/%s", share, name);
      const int to_size = snprintf(to, sizeof to, "%s/%s", target, name);
      status = from_size < 0 || to_size < 0 || from_size >= (int)sizeof from || to_size >= (int)sizeof to
                   ? hx_report_fail(cli->report, HX_CODE_LIMIT, "%s/%s: the path is too long", target, name)
                   : copy_file(cli, from, to, id);
    }
    free(entries[i]);
  }
  free(entries);
  return status;
}

int cli_run_plugins_new(cli_t *cli) {
  const char *name = cli->arguments[0];
  const char *target = cli_has(cli, "dir") ? cli_get(cli, "dir") : name;
  char made_id[64];
  const char *id = cli_get(cli, "id");
  if (!is_name(name)) {
    return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_USAGE,
                                        "'%s' is no plugin name: up to 32 of a-z 0-9 _ - and a letter first", name));
  }
  if (id == NULL) {
    snprintf(made_id, sizeof made_id, "com.example.%s", name);
    id = made_id;
  } else if (!is_id(id)) {
    return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_USAGE,
                                        "'%s' is no plugin id: reverse DNS, as com.example.%s", id, name));
  }
  char *share = cli_share_path("template");
  if (share == NULL) return cli_fail(cli, HX_STATUS_OUT_OF_MEMORY);
  const hx_status_t status = copy_template(cli, share, target, id);
  free(share);
  if (status != HX_STATUS_OK) return cli_fail(cli, status);
  if (cli->json) return cli_print_json(json_pack("{s:s, s:s, s:s}", "name", name, "id", id, "directory", target));
  cli_say(cli, "made %s: the primitive tier, ready to build; README.md there says how\n", target);
  return CLI_DONE;
}
