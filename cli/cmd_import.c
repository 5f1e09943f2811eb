// SPDX-License-Identifier: Apache-2.0
// import: programs of other compilers.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/message.h"

enum { TEXT_MAX = 16 << 20 };

static hx_status_t read_text(cli_t *cli, const char *path, char **out, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return hx_report_fail(cli->report, HX_CODE_IO, "%s: %s", path, strerror(errno));
  char *text = malloc(TEXT_MAX + 1);
  const size_t size = text == NULL ? 0 : fread(text, 1, TEXT_MAX + 1, file);
  const bool failed = ferror(file) != 0;
  fclose(file);
  if (text != NULL && !failed) {
    *out = text;
    *out_size = size;
    return HX_STATUS_OK;
  }
  free(text);
  return text == NULL ? HX_STATUS_OUT_OF_MEMORY : hx_report_fail(cli->report, HX_CODE_IO, "%s: cannot be read", path);
}

// One JSON file a constant.
static hx_status_t write_constants(cli_t *cli, const hx_import_t *import, const char *directory) {
  const hx_import_constant_t *constants = NULL;
  const size_t count = hx_import_constants(import, &constants);
  if (count > 0 && mkdir(directory, 0777) != 0 && errno != EEXIST)
    return hx_report_fail(cli->report, HX_CODE_IO, "%s: %s", directory, strerror(errno));
  for (size_t i = 0; i < count; ++i) {
    char path[4096];
    json_t *list = json_array();
    for (size_t k = 0; k < constants[i].count; ++k) json_array_append_new(list, json_real(constants[i].values[k]));
    char *text = json_dumps(list, JSON_REAL_PRECISION(17));
    json_decref(list);
    if (text == NULL) return HX_STATUS_OUT_OF_MEMORY;
    snprintf(path, sizeof path, "%s/%s.json", directory, constants[i].symbol);
    const hx_status_t status = cli_write_file(path, text, strlen(text), cli->report);
    free(text);
    if (status != HX_STATUS_OK) return status;
    cli_say(cli, "%s: %zu numbers, %s\n", constants[i].symbol, constants[i].count, path);
  }
  return HX_STATUS_OK;
}

static hx_status_t write_program(cli_t *cli, const hx_import_t *import) {
  char *text = NULL;
  const char *path = cli_get(cli, "output");
  hx_status_t status = hx_program_print(hx_import_program(import), 0, &text, cli->report);
  if (status != HX_STATUS_OK) return status;
  if (path == NULL) {
    fputs(text, stdout);
  } else {
    status = cli_write_file(path, text, strlen(text), cli->report);
  }
  hx_text_free(text);
  return status;
}

int cli_run_import(cli_t *cli) {
  char *text = NULL;
  size_t size = 0;
  hx_import_t *import = NULL;
  hx_status_t status = read_text(cli, cli->arguments[0], &text, &size);
  if (status == HX_STATUS_OK)
    status = hx_import_heir((hx_str_t){.data = text, .size = size}, cli->arguments[0], cli_get(cli, "entry"), &import,
                            cli->report);
  if (status == HX_STATUS_OK) status = write_program(cli, import);
  if (status == HX_STATUS_OK && cli_has(cli, "constants"))
    status = write_constants(cli, import, cli_get(cli, "constants"));
  hx_import_release(import);
  free(text);
  return status == HX_STATUS_OK ? CLI_DONE : cli_fail(cli, status);
}
